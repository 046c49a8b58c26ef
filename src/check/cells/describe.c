/* describe.c - a fault as a finding for people. */
#include "check/cells/anomaly.h"

#include <string.h>

#define REPEAT_GPUS 3 /* a GPU or a link, and the GPUs to compare it with */
#define LONGER 10 /* times the cell-limit, for cells that did not settle */
#define LITTLE_OF_MEMORY 0.1 /* slower: healthy memories of one model may be 4 % apart */

/* How certain a figure is that was measured once, without and with a fleet; of a confirmed
 * one; of one that was not confirmed. */
#define SURE_ONCE 0.5
#define SURE_IN_FLEET 0.6
#define SURE_REMEASURE 0.95
#define SURE_NOT_REMEASURE 0.1
#define SURE_FACT 0.9

static const struct {
	enum cs_finding_id id;
	int is_fact;	  /* known without a figure */
	int is_hardware;  /* else how it is used */
	const char *next; /* if it differs from the catalogue's */
} table[] = {
	[CS_CAUSE_BELOW] = { CS_FINDING_BELOW_EXPECTED, 0, 0, NULL },
	[CS_CAUSE_SLOW] = { CS_FINDING_SLOW_CELLS, 0, 1, NULL },
	[CS_CAUSE_MEMORY] = { CS_FINDING_SLOW_MEMORY, 0, 1, NULL },
	[CS_CAUSE_THROTTLED] = { CS_FINDING_SLOW_THROTTLED, 0, 0, NULL },
	[CS_CAUSE_IN_USE] = { CS_FINDING_SLOW_IN_USE, 0, 0, NULL },
	[CS_CAUSE_AFFINITY] = { CS_FINDING_WRONG_AFFINITY, 0, 0, NULL },
	[CS_CAUSE_NUMA] = { CS_FINDING_WRONG_AFFINITY, 0, 0,
			    "compare with nvidia-smi topo -m and the BIOS setting "
			    "of NUMA per PCI root" },
	[CS_CAUSE_DETOUR] = { CS_FINDING_P2P_DETOUR, 0, 0, NULL },
	[CS_CAUSE_REDIRECT] = { CS_FINDING_P2P_REDIRECTED, 0, 0, NULL },
	[CS_CAUSE_STAGED] = { CS_FINDING_P2P_STAGED, 1, 0, NULL },
	[CS_CAUSE_REFUSED] = { CS_FINDING_P2P_REFUSED, 1, 0, NULL },
	[CS_CAUSE_PCIE] = { CS_FINDING_PCIE_BELOW, 1, 1, NULL },
	[CS_CAUSE_LANES] = { CS_FINDING_NVLINK_DOWN, 1, 1, NULL },
};

static int64_t ecc_errors(const struct cs_conditions *c)
{
	return !c->known || c->ecc_corrected < 0 || c->ecc_uncorrected < 0 ?
		       0 :
		       c->ecc_corrected + c->ecc_uncorrected;
}

/* Has that GPU counted more ECC errors than another of its node?  Since the driver was
 * loaded a few that were corrected are usual. */
static int has_ecc_errors(const struct cs_run *run, const struct cs_anomaly *s)
{
	const struct cs_run_node *nd = &run->node[s->node];
	int64_t least = INT64_MAX, own = 0;

	for (int a = 0; a < nd->facts.n_agents; a++) {
		int64_t n = ecc_errors(&nd->agent[a].after);

		if (s->a < 0 || s->a == a)
			own = n > own ? n : own;
		if (s->a != a && n < least)
			least = n;
	}
	return own > (least == INT64_MAX ? 0 : least);
}

static enum cs_severity gravest(const struct cs_run *run, const struct cs_anomaly *s)
{
	if ((s->cause == CS_CAUSE_STAGED || s->cause == CS_CAUSE_REFUSED) &&
	    !CS_ANY(a, run->node[s->node].facts.n_agents,
		    run->node[s->node].agent[a].link.nvlinks_up > 0))
		return CS_NOTE; /* many cards have no other way */
	if (table[s->cause].is_fact && table[s->cause].is_hardware)
		return s->usual && s->remeasured != CS_REMEASURED_CONFIRMED ?
			       CS_WARNING :
			       CS_CRITICAL;
	if (s->remeasured == CS_REMEASURED_NOT_CONFIRMED && !table[s->cause].is_fact)
		return CS_NOTE;
	if (s->cause == CS_CAUSE_MEMORY && s->drop < LITTLE_OF_MEMORY &&
	    !has_ecc_errors(run, s))
		return CS_WARNING;
	return s->remeasured == CS_REMEASURED_CONFIRMED && table[s->cause].is_hardware ?
		       CS_CRITICAL :
		       CS_WARNING;
}

enum cs_severity cs_anomaly_severity(const struct cs_run *run,
				     const struct cs_anomaly *s)
{
	enum cs_severity severity = gravest(run, s);
	enum cs_severity most = s->most == CS_WEIGHT_NOTE    ? CS_NOTE :
				s->most == CS_WEIGHT_WARNING ? CS_WARNING :
							       CS_CRITICAL;

	return severity < most ? severity : most;
}

static double confidence_of(const struct cs_anomaly *s)
{
	if (s->remeasured == CS_REMEASURED_CONFIRMED)
		return SURE_REMEASURE;
	if (table[s->cause].is_fact)
		return SURE_FACT;
	if (s->remeasured == CS_REMEASURED_NOT_CONFIRMED)
		return SURE_NOT_REMEASURE;
	return s->nodes > 1 ? SURE_IN_FLEET : SURE_ONCE;
}

/* "3,0,1": a GPU, or both of a link, and others to compare them with. */
static const char *gpus_text(const struct cs_run *run, const struct cs_anomaly *s)
{
	int n = run->node[s->node].facts.n_agents, named = 1 + (s->b >= 0);
	const char *text = cs_new_text("%s", cs_agent_label(run, s->node, s->a).text);

	if (s->b >= 0)
		text = cs_join(text, ",", "%s",
			       cs_agent_label(run, s->node, s->b).text);
	for (int a = 0; a < n && named < REPEAT_GPUS; a++)
		if (a != s->a && a != s->b) {
			text = cs_join(text, ",", "%s",
				       cs_agent_label(run, s->node, a).text);
			named++;
		}
	return text;
}

/* " --set cache=cold --set threads=4 --set cpu-numa=1" */
static const char *variant_options(const struct cs_variant *v)
{
	char shape[CS_SHAPE_TEXT];
	const char *text = "";

	if (v->access)
		text = cs_new_longer(text, " --set access=%s",
				     cs_access_words[v->access]);
	if (v->blocks)
		text = cs_new_longer(text, " --set blocks=%u", v->blocks);
	if (v->block_threads)
		text = cs_new_longer(text, " --set block-threads=%u",
				     v->block_threads);
	if (v->tile)
		text = cs_new_longer(text, " --set tiles=%u", v->tile);

	if (v->cache)
		text = cs_new_longer(text, " --set cache=%s",
				     cs_cache_words[v->cache]);
	if (v->element)
		text = cs_new_longer(text, " --set element=%u", v->element);
	if (v->kernels)
		text = cs_new_longer(text, " --set kernels=%u", v->kernels);
	if (v->shape) {
		cs_shape_text(v->shape, shape, sizeof(shape));
		text = cs_new_longer(text, " --set shape=%s", shape);
	}
	if (v->threads)
		text = cs_new_longer(text, " --set threads=%u", v->threads);
	if (v->cpu_numa)
		text = cs_new_longer(text, " --set cpu-numa=%u", v->cpu_numa - 1u);
	return text;
}

const char *cs_row_size_option(const struct cs_row *row)
{
	const struct cs_variant *v = &row->what.variant;
	const unsigned long bytes = v->shape ?
					    cs_variant_box(v, row->what.bytes).span :
					    row->what.bytes;
	const int shift = bytes % (1 << 20) == 0 ? 20 :
			  bytes % (1 << 10) == 0 ? 10 :
						   0;

	return cs_row_test(row)->bytes ? variant_options(v) :
					 cs_new_text(" -s %lu%s%s", bytes >> shift,
						     shift == 20 ? "M" :
						     shift	 ? "K" :
								   "",
						     variant_options(v));
}

/* One test of each family, if their options are the same. */
static const char *tests_option(const struct cs_run *run, const struct cs_fault *fault)
{
	const struct cs_row *first = NULL;
	const char *tests = "";

	for (int i = 0; i < fault->n; i++) {
		const struct cs_row *row =
			fault->of[i].n_evidence ?
				cs_rows_get(&run->rows, fault->of[i].evidence[0]) :
				NULL;

		if (!row || (first && strcmp(cs_row_size_option(first),
					     cs_row_size_option(row))))
			continue;
		tests = cs_join(tests, ",", "%s", cs_row_test(row)->name);
		first = first ? first : row;
	}
	return first ? cs_new_text(" --test %s", tests) :
		       cs_new_text(" --matrix %s",
				   fault->of[0].family == CS_FAMILY_PEER ? "peer" :
									   "h2d");
}

static const char *repeat_command(const struct cs_run *run,
				  const struct cs_fault *fault)
{
	const struct cs_anomaly *s = fault->of;
	const struct cs_endpoint *host;
	const struct cs_row *row;
	const char *text = cs_new_text("cscope-mpi --check=outlier,link%s",
				       tests_option(run, fault));

	if (s->part == CS_PART_GPU || s->part == CS_PART_LINK)
		text = cs_new_longer(text, " --gpus %s", gpus_text(run, s));
	if (!s->n_evidence)
		return text;
	row = cs_rows_get(&run->rows, s->evidence[0]);
	host = cs_endpoint_is_numa(&row->what.src) ? &row->what.src : &row->what.dst;
	text = cs_new_longer(text, "%s", cs_row_size_option(row));
	if (cs_endpoint_is_numa(host) && host->index != CS_NUMA_LOCAL)
		text = cs_new_longer(text, " --numa %u", host->index);
	if (run->plan && run->plan->set.via != CS_TRANSPORT_AUTO)
		text = cs_new_longer(text, " --via %s",
				     cs_transport_words[run->plan->set.via]);
	return text;
}

/* Advice by cause and part. */
static void advise(const struct cs_anomaly *s, struct cs_finding *f)
{
	cs_finding_advise(f);
	if (table[s->cause].next)
		cs_text(f->next, sizeof(f->next), "%s", table[s->cause].next);
	if (table[s->cause].is_hardware && s->part == CS_PART_GPU)
		cs_text(f->elsewhere, sizeof(f->elsewhere),
			"swap the GPU with another of its model: a fault that "
			"moves with it is in the GPU, one that stays is in slot, "
			"board or cable");
	if (table[s->cause].is_hardware && s->part == CS_PART_LINK)
		cs_text(f->elsewhere, sizeof(f->elsewhere),
			"run the same pair on another node: if it is slow there "
			"too, the cause is the model's wiring; if not, the link or "
			"one of the two GPUs");
}

/* The part of one node. */
static void set_part(const struct cs_run *run, const struct cs_anomaly *s,
		     struct cs_finding *f)
{
	f->node = s->node;
	if (s->part <= CS_PART_LINK)
		cs_finding_locate(run, f, s->a, s->part == CS_PART_LINK ? s->b : -1);
	else
		cs_text(f->part, sizeof(f->part), "%s",
			s->part == CS_PART_SOCKET ? "socket" : "node");
	if (cs_is_party(s))
		f->gpus = s->gpus;
	advise(s, f);
}

void cs_fault_describe(struct cs_run *run, const struct cs_fault *fault)
{
	const struct cs_anomaly *s = fault->of;
	struct cs_finding f = CS_FOUND(cs_anomaly_severity(run, s), -1,
				       table[s->cause].id, .of_figures = s->drop > 0,
				       .remeasured = s->remeasured,
				       .confidence = confidence_of(s),
				       .n_evidence = fault->n_evidence);

	f.drain = f.severity == CS_CRITICAL;
	if (fault->nodes) {
		f.id = CS_FINDING_SLOW_ALIKE;
		cs_text(f.part, sizeof(f.part), "node");
		cs_finding_advise(&f);
	} else {
		set_part(run, s, &f);
	}
	cs_text(f.remeasure, sizeof(f.remeasure), "%s", repeat_command(run, fault));
	memcpy(f.evidence, fault->evidence, sizeof(f.evidence));
	cs_judge(run, f, "%s", cs_fault_text(run, fault));
}

/* ---- cells that cannot be judged ---- */

/* Cells of one node that cannot be judged. */
struct unsure {
	uint32_t n, of, evidence[CS_EVIDENCE];
};

static void describe_unsure(struct cs_run *run, int node, const struct unsure *u)
{
	struct cs_finding f = CS_FOUND(CS_NOTE, node, CS_FINDING_NOT_JUDGED,
				       .part = "node");
	const struct cs_row *row = cs_rows_get(&run->rows, u->evidence[0]);

	f.n_evidence = u->n < CS_EVIDENCE ? u->n : CS_EVIDENCE;
	memcpy(f.evidence, u->evidence, sizeof(f.evidence));
	if (run->plan)
		cs_text(f.remeasure, sizeof(f.remeasure),
			"cscope-mpi --check=outlier,link --test %s%s --set cell-limit=%gs",
			cs_row_test(row)->name, cs_row_size_option(row),
			LONGER * run->plan->set.cell_limit_s);
	cs_finding_advise(&f);
	cs_judge(run, f,
		 "%u of %u cells could not be judged: too little overlap, or "
		 "fewer than 6 samples",
		 u->n, u->of);
}

void cs_unsure_describe(struct cs_run *run, const struct cs_judged_cells *cells)
{
	struct unsure *unsure = cs_new(struct unsure, (size_t)run->n_nodes);

	for (size_t i = 0; i < cells->n; i++) {
		struct unsure *u = &unsure[cells->judged[i].node];

		u->of++;
		if (!cells->judged[i].unsure)
			continue;
		if (u->n < CS_EVIDENCE)
			u->evidence[u->n] = cells->judged[i].at;
		u->n++;
	}
	for (int i = 0; i < run->n_nodes; i++)
		if (unsure[i].n)
			describe_unsure(run, i, &unsure[i]);
}
