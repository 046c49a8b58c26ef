/* prom.c - metrics for node_exporter's textfile collector: base units, labels as
 * dcgm-exporter has them. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/link/kind.h"
#include "check/verdict/action.h"
#include "plan/file.h"
#include "report/export/parts.h"

/* ---- samples ---- */

static void put_head(FILE *to, const char *name, const char *help)
{
	cs_print_line(to, "# HELP cscope_mpi_%s %s", name, help);
	cs_print_line(to, "# TYPE cscope_mpi_%s gauge", name);
}

/* `,name="value"`, of the first without the comma; nothing for an empty value. */
static void put_label(FILE *to, int *n, const char *name, const char *value)
{
	static const char *const escaped[] = { "\\\\", "\\\"" };

	if (!value[0])
		return;
	cs_print(to, "%s%s=\"", (*n)++ ? "," : "{", name);
	cs_print_as(to, value, "\\\"", escaped);
	putc('"', to);
}

static void put_variant(FILE *to, int *n, const struct cs_variant *variant)
{
	char value[CS_VARIANT_VALUE];
	const char *key;

	for (size_t i = 0; cs_variant_nth_text(variant, i, &key, value); i++)
		put_label(to, n, key, value);
}

static void put_value(FILE *to, int n_labels, double value)
{
	cs_print_line(to, "%s %.10g", n_labels ? "}" : "", value);
}

static void put_alone(FILE *to, const char *name, const char *help, double value)
{
	if (!isfinite(value))
		return;
	put_head(to, name, help);
	cs_print(to, "cscope_mpi_%s", name);
	put_value(to, 0, value);
}

/* NVML's: "00000000:1B:00.0" of "0000:1b:00.0". */
static const char *bus_id_text(const char *bus_id)
{
	size_t domain = strcspn(bus_id, ":");
	char *text;

	if (!bus_id[domain])
		return "";
	text = cs_new_text("%.*s%s", domain < 8 ? (int)(8 - domain) : 0, "00000000",
			   bus_id);
	for (char *at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return text;
}

/* ---- figures ---- */

/* A kind of figure: a family of metrics. */
struct family {
	const char *name, *help;
	int says_which;				   /* label "figure" */
	double (*value)(const struct cs_row *row); /* NAN: of another family */
};

static double bandwidth(const struct cs_row *row)
{
	return cs_is_bandwidth(row) ? row->stats.median * 1e9 : NAN;
}

static double total_bandwidth(const struct cs_row *row)
{
	return row->metric == CS_METRIC_TOTAL && cs_row_test(row)->unit == CS_UNIT_GBS ?
		       row->stats.median * 1e9 :
		       NAN;
}

static double duration(const struct cs_row *row)
{
	switch (cs_row_test(row)->unit) {
	case CS_UNIT_NS:
		return row->stats.median / 1e9;
	case CS_UNIT_US:
		return row->stats.median / 1e6;
	case CS_UNIT_MS:
		return row->stats.median / 1e3;
	default:
		return NAN;
	}
}

static double copies(const struct cs_row *row)
{
	return cs_row_test(row)->unit == CS_UNIT_COPIES ? row->stats.median : NAN;
}

static double operations(const struct cs_row *row)
{
	return cs_row_test(row)->unit == CS_UNIT_GFLOPS ? row->stats.median * 1e9 :
							  NAN;
}

static double nic_share(const struct cs_row *row)
{
	return row->apart->nic_share[0];
}

static const struct family families[] = {
	{ "bandwidth_bytes_per_second", "Median rate of the transfers of a cell.", 0,
	  bandwidth },
	{ "total_bandwidth_bytes_per_second",
	  "Median of all bytes of a step over the "
	  "time until the last transfer has ended; src and dst are its first transfer.",
	  0, total_bandwidth },
	{ "duration_seconds", "Median time of a call or a latency.", 1, duration },
	{ "copies_per_second", "Median rate of small copies.", 1, copies },
	{ "operations_per_second", "Median rate of floating-point operations.", 1,
	  operations },
	{ "nic_counted_ratio",
	  "Share of the bytes sent to another node that the network devices of the sender counted.",
	  0, nic_share },
};

static void put_figure(FILE *to, const struct cs_run *run, const struct cs_row *row,
		       const struct family *family)
{
	const struct cs_run_node *nd = &run->node[row->node];
	const struct cs_agent_facts *issuer = row->what.issuer < CS_MAX_AGENTS ?
						    &nd->agent[row->what.issuer] :
						    NULL;
	char step[CS_STEP_NAME] = "";
	int n = 0;
	CS_SCOPE;

	if (run->plan_file && run->plan && row->step < run->plan->n_steps)
		cs_step_name(run->plan, cs_plan_step(run->plan, row->step), step,
			     sizeof(step));
	cs_print(to, "cscope_mpi_%s", family->name);
	put_label(to, &n, "Hostname", nd->facts.host);
	put_label(to, &n, "test", cs_row_test(row)->name);
	put_label(to, &n, "size", cs_new_text("%" PRIu64, row->what.bytes));
	put_variant(to, &n, &row->what.variant);
	if (family->says_which)
		put_label(to, &n, "figure",
			  cs_metric_text(cs_row_test(row), row->metric));
	put_label(to, &n, "step", step);
	put_label(to, &n, "src", cs_endpoint_label(run, row, &row->what.src).text);
	put_label(to, &n, "dst", cs_endpoint_label(run, row, &row->what.dst).text);
	if (issuer && !cs_on_cpu(run)) {
		put_label(to, &n, "gpu",
			  cs_agent_label(run, (int)row->node, row->what.issuer).text);
		put_label(to, &n, "UUID", issuer->gpu.uuid);
		put_label(to, &n, "pci_bus_id", bus_id_text(issuer->gpu.bus_id));
	}
	/* parts of several would make another series of each run */
	if (family->value == nic_share && !strchr(row->apart->nic[0], ','))
		put_label(to, &n, "nic", row->apart->nic[0]);
	put_label(to, &n, "placement", nd->facts.placement);
	put_value(to, n, family->value(row));
}

static int put_node(FILE *to, const struct cs_run *run, int node,
		    const struct family *family, int begun)
{
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		if (row->status != CS_OK || !isfinite(family->value(row)))
			continue;
		if (!begun++)
			put_head(to, family->name, family->help);
		put_figure(to, run, row, family);
	}
	return begun;
}

static void put_family(FILE *to, const struct cs_run *run, const struct family *family)
{
	int begun = 0;

	for (int node = 0; node < run->n_nodes; node++)
		begun = put_node(to, run, node, family, begun);
}

/* ---- cells and findings ---- */

static void put_cells(FILE *to, const struct cs_run *run)
{
	const struct cs_vec tallies = cs_tallies(run);

	if (tallies.n)
		put_head(to, "cells", "Cells by what became of them.");
	CS_EACH(const struct cs_tally, tally, &tallies) {
		const struct {
			const char *status;
			size_t n;
		} kind[] = { { "ok", tally->ok },
			     { "skipped", tally->skipped },
			     { "failed", tally->bad } };
		const struct cs_node_facts *node = &run->node[tally->node].facts;

		for (size_t k = 0; k < sizeof(kind) / sizeof(kind[0]); k++) {
			int n = 0;

			fputs("cscope_mpi_cells", to);
			put_label(to, &n, "Hostname", node->host);
			put_label(to, &n, "test", tally->test->name);
			put_label(to, &n, "size",
				  cs_new_text("%" PRIu64, tally->of.bytes));
			put_variant(to, &n, &tally->of.variant);
			put_label(to, &n, "status", kind[k].status);
			put_label(to, &n, "placement", node->placement);
			put_value(to, n, (double)kind[k].n);
		}
	}
}

/* Equal ones, by node, severity and id, are one sample. */
CS_ORDERING_AT(by_kind, struct cs_finding, CS_ORDER(a->node, b->node),
	       CS_ORDER(b->severity, a->severity), cs_finding_order(a, b))

static void put_findings(FILE *to, const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = run->findings.n, end;
	const struct cs_finding **all = cs_new(const struct cs_finding *, n);

	for (size_t i = 0; i < n; i++)
		all[i] = &f[i];
	qsort(all, n, sizeof(*all), by_kind);
	if (n)
		put_head(to, "findings",
			 "Findings by severity and id; without a "
			 "host those of the job.");
	for (size_t i = 0; i < n; i = end) {
		int labels = 0;

		for (end = i + 1; end < n && !by_kind(&all[i], &all[end]); end++)
			;
		fputs("cscope_mpi_findings", to);
		if (all[i]->node >= 0 && all[i]->node < run->n_nodes) {
			put_label(to, &labels, "Hostname",
				  run->node[all[i]->node].facts.host);
			put_label(to, &labels, "placement",
				  run->node[all[i]->node].facts.placement);
		}
		put_label(to, &labels, "severity", cs_severity_text(all[i]->severity));
		put_label(to, &labels, "id", cs_finding_text(all[i]));
		put_value(to, labels, (double)(end - i));
	}
}

/* The number of faults of each node by action: a series for both, also of 0, so that an
 * alert ends when the fault does. */
static void put_actions(FILE *to, const struct cs_run *run)
{
	const struct cs_vec actions = cs_actions_find(run);
	uint32_t *n = cs_new(uint32_t, (size_t)run->n_nodes *CS_ACTIONS);

	CS_EACH(const struct cs_action, a, &actions)
		if (a->node >= 0)
			n[a->node * CS_ACTIONS + (int)a->kind]++;
	put_head(to, "actions", "Faults by what is to be done on the node.");
	for (int node = 0; node < run->n_nodes; node++)
		for (int k = CS_ACTION_WATCH; k < CS_ACTIONS; k++) {
			int labels = 0;

			fputs("cscope_mpi_actions", to);
			put_label(to, &labels, "Hostname", run->node[node].facts.host);
			put_label(to, &labels, "placement",
				  run->node[node].facts.placement);
			put_label(to, &labels, "action",
				  cs_action_text((enum cs_action_kind)k));
			put_value(to, labels, n[node * CS_ACTIONS + k]);
		}
}

static void put_run(FILE *to, const struct cs_run *run)
{
	int n = 0;

	put_head(to, "build_info", "Program and backend that measured; 1.");
	fputs("cscope_mpi_build_info", to);
	put_label(to, &n, "version", run->version ? run->version : "");
	put_label(to, &n, "commit", run->commit ? run->commit : "");
	put_label(to, &n, "backend", run->backend ? run->backend : "");
	put_label(to, &n, "stand_in", run->stand_in ? "1" : "");
	put_label(to, &n, "virtual_clock", run->virtual_clock ? "1" : "");
	put_label(to, &n, "job_id", run->job_id);
	put_value(to, n, 1);
	put_alone(to, "exit_status",
		  "Exit status: 0 measured, 1 a warning, 2 "
		  "critical, 3 could not test, 75 cannot tell.",
		  run->exit_status);
	put_alone(to, "complete", "Was every step of the plan carried out?",
		  run->complete);
	put_alone(to, "timestamp_seconds", "When the run ended, Unix time.",
		  run->ended.tv_sec ? (double)run->ended.tv_sec : NAN);
	put_alone(to, "run_duration_seconds", "From exec to the report.",
		  run->timings.total);
}

void cs_prom_write(FILE *to, const struct cs_view *view)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		put_family(to, view->run, &families[i]);
	put_cells(to, view->run);
	put_findings(to, view->turns);
	put_actions(to, view->turns);
	put_run(to, view->turns);
}
