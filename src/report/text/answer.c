/* answer.c - the first sentence of a report: whose figures, what each path gives, and whether all
 * is well. */
#include "config.h"

#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "base/shape.h"
#include "check/link/kind.h"
#include "report/view.h"
#include "report/text/digest.h"
#include "report/text/slow_cells.h"

/* ---- what each path gives ---- */

/* Does it measure a link or a memory with copies large enough to compare? */
static int measures_link(const struct cs_digest *d, const struct cs_digest_line *line)
{
	return line->measured && cs_test_measures_link(line->test) &&
	       (cs_on_cpu(d->run) || line->test->path == CS_PATH_HOST ||
		line->matrix->bytes >= d->likeness.from_bytes);
}

/* The first line of a kind that measures a link; NULL. */
static const struct cs_digest_line *find(const struct cs_digest *d, enum cs_path path,
					 enum cs_pattern pattern, int back)
{
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->test->path == path && line->test->pattern == pattern &&
		    line->back == back && measures_link(d, line))
			return line;
	return NULL;
}

static struct cs_label figure(double x)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), x >= 99.95 ? "%.0f" : "%.1f", x);
	return label;
}

/* A sentence of clauses, in the arena. */
struct sentence {
	const char *text;
};

#define add(to, ...) ((to)->text = cs_new_longer((to)->text, __VA_ARGS__))

static void begin(struct sentence *to)
{
	if (to->text[0])
		add(to, "; ");
}

/* " (88 % of NVLink, usual)" */
static void add_share(const struct cs_digest_line *line, struct sentence *to)
{
	long share = lround(100 * line->share);
	long low = lround(100 * line->low), high = lround(100 * line->high);

	if (isnan(line->share))
		return;
	add(to, " (%ld %% of %s", share,
	    line->test->path == CS_PATH_LOCAL ? "its peak" : line->link);
	if (share < low && !isnan(line->low))
		add(to, ", below the usual %ld to %ld %%", low, high);
	else if (share <= high && !isnan(line->low))
		add(to, ", usual");
	else if (line->test->path == CS_PATH_PEER &&
		 cs_is_short(line->matrix->bytes, line->median / line->share)) {
		add(to, ", which copies of %s do not fill",
		    cs_new_size(line->matrix->bytes));
	}
	add(to, ")");
}

static void add_peers(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_PEER, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *both = find(d, CS_PATH_PEER, CS_PATTERN_BIDI, 0);

	if (!pair && !both)
		return;
	begin(to);
	add(to, "%s to %s ", cs_agent_word(d->run), cs_agent_word(d->run));
	if (pair) {
		add(to, "%s GB/s", figure(pair->median).text);
		add_share(pair, to);
	}
	if (both)
		add(to, "%sboth ways %s", pair ? ", " : "",
		    figure(both->together).text);
}

static void add_host(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *in = find(d, CS_PATH_H2D, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *out = find(d, CS_PATH_D2H, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *there = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 0);
	const struct cs_digest_line *back = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 1);

	if (!in && !out && !there)
		return;
	begin(to);
	add(to, "host ");
	if (in)
		add(to, "%s in%s", figure(in->median).text, out ? ", " : "");
	if (out)
		add(to, "%s out", figure(out->median).text);
	if (in || out)
		add_share(in ? in : out, to);
	if (there)
		add(to, "%sboth ways %s in", in || out ? ", " : "",
		    figure(there->median).text);
	if (there && back)
		add(to, ", %s out", figure(back->median).text);
}

static void add_local(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *own = find(d, CS_PATH_LOCAL, CS_PATTERN_ALONE, 0);

	if (!own)
		return;
	begin(to);
	add(to, "own memory %s", figure(own->median).text);
	add_share(own, to);
}

/* Of loads by CPUs. */
static const struct cs_digest_line *find_latency(const struct cs_digest *d)
{
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->test->path == CS_PATH_HOST &&
		    line->test->method == CS_METHOD_CHASE && line->measured)
			return line;
	return NULL;
}

static void add_numa(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_HOST, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *load = find_latency(d);

	if (!pair && !load)
		return;
	begin(to);
	add(to, "NUMA node to NUMA node ");
	if (pair)
		add(to, "%s GB/s%s", figure(pair->median).text, load ? ", " : "");
	if (load && load->measured > 1)
		add(to, "a load %s to %s ns", figure(load->min).text,
		    figure(load->max).text);
	else if (load)
		add(to, "a load %s ns", figure(load->median).text);
}

/* The fastest copy of a face between such ends; NULL. */
static const struct cs_digest_line *find_face(const struct cs_digest *d,
					      enum cs_path path, char face)
{
	const struct cs_digest_line *line = d->lines.data, *found = NULL;
	char shape[CS_SHAPE_TEXT];

	for (size_t i = 0; i < d->lines.n; i++) {
		uint64_t of = line[i].matrix->variant.shape;

		cs_shape_text(of, shape, sizeof(shape));
		if (line[i].test->path == path && cs_shape_is_face(of) &&
		    shape[strlen(shape) - 1] == face && line[i].measured &&
		    (!found || line[i].median > found->median))
			found = &line[i];
	}
	return found;
}

/* "x 30.2 us (20 % of a flat copy)"; the z face is flat: it is one block. */
static void add_face(const struct cs_digest_line *line, char face,
		     const struct cs_digest_line *flat, const char *what,
		     struct sentence *to)
{
	double us = (double)line->matrix->bytes / line->median / 1e3;

	add(to, " %c %.*f us", face, us < 9.995 ? 2 : us < 99.95, us);
	if (flat && line != flat)
		add(to, " (%.0f %%%s)", 100 * line->median / flat->median, what);
}

/* "faces GPU to GPU x 30.2 us (20 % of a flat copy), y 6.1 us (97 %), z 5.9 us" */
static void add_faces(const struct cs_digest *d, struct sentence *to)
{
	static const struct {
		enum cs_path path;
		const char *name;
	} way[] = { { CS_PATH_PEER, "GPU to GPU" },
		    { CS_PATH_H2D, "host to GPU" },
		    { CS_PATH_D2H, "GPU to host" } };
	const char *what = " of a flat copy";

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct cs_digest_line *flat = find_face(d, way[i].path, 'z');
		const char *before = way[i].name;

		for (int face = 'x'; face <= 'z'; face++) {
			const struct cs_digest_line *line = find_face(d, way[i].path,
								      (char)face);

			if (!line)
				continue;
			add(to, "%s%s",
			    !to->text[0]	  ? "faces " :
			    before == way[i].name ? "; " :
						    "",
			    before);
			add_face(line, (char)face, flat, what, to);
			what = flat && line != flat ? "" : what;
			before = ",";
		}
	}
}

/* "36 calls take from 0.03 us (free) to 34.78 us (vmm-alloc)", one at a time. */
static void add_calls(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *line = d->lines.data, *least = NULL, *most = NULL;
	size_t calls = 0;

	for (size_t i = 0; i < d->lines.n; i++) {
		if (line[i].test->how != CS_HOW_BATCHES || !line[i].measured ||
		    line[i].test->pattern != CS_PATTERN_ALONE)
			continue;
		calls++;
		if (!least || line[i].median < least->median)
			least = &line[i];
		if (!most || line[i].median > most->median)
			most = &line[i];
	}
	if (calls > 1)
		add(to, "%zu calls take from %.2f us (%s) to %.2f us (%s)", calls,
		    least->median / 1e3, cs_op_text((int)least->test->op),
		    most->median / 1e3, cs_op_text((int)most->test->op));
}

/* If no test measures a link: faces, calls, or the first test with a figure. */
static void add_others(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *line = d->lines.data;

	add_faces(d, to);
	if (!to->text[0])
		add_calls(d, to);
	for (size_t i = 0; i < d->lines.n && !to->text[0]; i++)
		if (line[i].measured)
			add(to, "%s %s %s", cs_digest_name(&line[i], d->run),
			    figure(line[i].median).text,
			    cs_unit_text((int)line[i].test->unit));
	if (!to->text[0])
		add(to, "nothing was measured");
}

/* ---- the verdict ---- */

/* "1 cell 33 % below its like: 0->1", of the first test; how many in all. */
static void add_odd(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_digest_line *line = d->lines.data, *first = NULL;
	size_t tests = 0, cells = 0;

	for (size_t i = 0; i < d->lines.n; i++) {
		tests += line[i].odd > 0;
		cells += line[i].odd;
		if (line[i].odd && !first)
			first = &line[i];
	}
	if (!first)
		return;
	begin(to);
	add(to, "%s", first->odd_text[0] ? first->odd_text : "cells below their like");
	if (tests > 1)
		add(to, " (%zu cells of %zu tests)", cells, tests);
	add(to, "%s", cs_odd_how_sure(d->run));
}

/* The first of the gravest findings, and how many are as grave; NULL without a warning
 * or worse. */
static const struct cs_finding *find_gravest(const struct cs_run *run, size_t *n)
{
	const struct cs_finding *f = run->findings.data, *gravest = NULL;

	*n = 0;
	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].severity >= CS_WARNING &&
		    (!gravest || f[i].severity > gravest->severity))
			gravest = &f[i];
	for (size_t i = 0; gravest && i < run->findings.n; i++)
		*n += f[i].severity == gravest->severity;
	return gravest;
}

/* "All alike" would be read as "all is well", so it needs a run without a warning. */
static void add_alike(const struct cs_digest *d, struct sentence *to)
{
	const struct cs_likeness *l = &d->likeness;
	size_t grave;

	if (!l->n_odd && l->n_compared && !find_gravest(d->run, &grave)) {
		begin(to);
		add(to, "all alike within %.1f %%",
		    fmax(0.1, ceil(1000 * l->worst) / 10));
		if (l->n_unsure)
			add(to, " but for %zu %s", l->n_unsure,
			    l->n_unsure == 1 ? "uncertain cell" : "uncertain cells");
	}
	if (!l->n_compared && l->n_alone) {
		begin(to);
		add(to, "too few cells of a kind to compare");
	}
	if (l->n_short) {
		begin(to);
		add(to, "copies under %s are not compared",
		    cs_new_size(l->from_bytes));
	}
}

/* "2 critical: n7: GPU 3: 17 of 18 NVLinks are up" */
static void add_faults(const struct cs_run *run, struct sentence *to)
{
	size_t n;
	const struct cs_finding *f = find_gravest(run, &n);

	begin(to);
	if (!f) {
		add(to, "%s", cs_run_coverage(run).measured ? "no errors" : "");
		return;
	}
	add(to, "%zu %s%s: ", n, cs_severity_text(f->severity),
	    n > 1 && f->severity == CS_WARNING ? "s" : "");
	if (run->n_nodes > 1 && f->node >= 0)
		add(to, "%s: ", run->node[f->node].facts.host);
	add(to, "%s", f->text);
}

/* ---- whose ---- */

/* "8 x H200", "16 nodes of 8 x H200", "7 of 8 x H200". */
static const char *subject_text(const struct cs_digest *d)
{
	static const char maker[] = "NVIDIA ";
	int nodes = d->last - d->first, same = 1, of;
	const struct cs_run_node *nd;
	const char *name, *text = NULL;

	if (nodes < 1)
		return "no node";
	nd = &d->run->node[d->first];
	of = nd->facts.n_known_gpus;
	name = nd->facts.n_agents > 0 ? nd->agent[0].gpu.name : "GPU";
	for (int node = d->first; node < d->last; node++) {
		const struct cs_run_node *other = &d->run->node[node];

		same &= other->facts.n_agents == nd->facts.n_agents;
		for (int a = 0; a < other->facts.n_agents; a++)
			same &= !strcmp(other->agent[a].gpu.name, name);
	}
	if (nodes > 1 && !same)
		return cs_new_text("%d nodes", nodes);
	if (nodes > 1)
		text = cs_new_text("%d nodes of ", nodes);
	text = cs_new_longer(text, "%d ", nd->facts.n_agents);
	if (!cs_on_cpu(d->run) && of > nd->facts.n_agents)
		text = cs_new_longer(text, "of %d ", of);
	if (!same)
		return cs_new_longer(text, "GPUs");
	if (!strncmp(name, maker, sizeof(maker) - 1))
		name += sizeof(maker) - 1;
	return cs_new_longer(text, "x %s", name);
}

void cs_answer_print(FILE *to, const struct cs_digest *d, const char *what)
{
	struct sentence paths = { "" }, verdict = { "" };

	add_peers(d, &paths);
	add_host(d, &paths);
	add_local(d, &paths);
	add_numa(d, &paths);
	if (!paths.text[0])
		add_others(d, &paths);
	if (*what && d->run->n_nodes && d->run->node[d->first].facts.n_agents == 1)
		add(&paths, "; nothing between GPUs to measure");
	add_odd(d, &verdict);
	add_alike(d, &verdict);
	add_faults(d->run, &verdict);
	cs_fold(to, 0, 2, "%s%s%s: %s%s%s", what, *what ? ": " : "", subject_text(d),
		paths.text, verdict.text[0] ? "; " : "", verdict.text);
}
