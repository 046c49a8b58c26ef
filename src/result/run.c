#include "result/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"

const struct cs_agent_facts *cs_run_agent(const struct cs_run *run,
					  const struct cs_row *row,
					  const struct cs_endpoint *end)
{
	if (row->node >= (uint32_t)run->n_nodes || cs_endpoint_is_numa(end) ||
	    end->index >= run->node[row->node].facts.n_agents)
		return NULL;
	return &run->node[row->node].agent[end->index];
}

const struct cs_gpu_record *cs_run_gpu(const struct cs_run *run, int node,
				       const char *bus_id)
{
	const struct cs_run_node *nd;

	if (!run->node || node < 0 || node >= run->n_nodes || !bus_id[0])
		return NULL;
	nd = &run->node[node];
	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (!strcmp(nd->gpu_record[i].bus_id, bus_id))
			return &nd->gpu_record[i];
	return NULL;
}

int cs_agent_at(const struct cs_run *run, int node, const char *bus_id)
{
	const struct cs_run_node *nd = &run->node[node];

	for (int a = 0; bus_id[0] && a < nd->facts.n_agents; a++)
		if (!strcmp(nd->agent[a].gpu.bus_id, bus_id))
			return a;
	return -1;
}

struct cs_by_node cs_by_node(const uint32_t *node, size_t n, int n_nodes)
{
	const size_t nodes = (size_t)n_nodes;
	struct cs_by_node by = { cs_new(uint32_t, n), cs_new(size_t, nodes + 2) };

	for (size_t i = 0; i < n; i++)
		if (node[i] < nodes)
			by.first[node[i] + 2]++;
	for (size_t i = 1; i < nodes + 2; i++)
		by.first[i] += by.first[i - 1];
	/* first[k + 1] is the position of node k's next row, in the end that of its last */
	for (size_t i = 0; i < n; i++)
		if (node[i] < nodes)
			by.at[by.first[node[i] + 1]++] = (uint32_t)i;
	return by;
}

struct cs_label cs_agent_label(const struct cs_run *run, int node, int agent)
{
	struct cs_label label = { "" };

	if (run->node && node >= 0 && node < run->n_nodes && agent >= 0 &&
	    agent < run->node[node].facts.n_agents)
		cs_text(label.text, sizeof(label.text), "%s",
			run->node[node].agent[agent].label);
	if (!label.text[0])
		cs_text(label.text, sizeof(label.text), "%d", agent);
	return label;
}

struct cs_label cs_endpoint_text(const struct cs_run *run, int node,
				 const struct cs_endpoint *end)
{
	struct cs_label label;

	if (!cs_endpoint_is_numa(end))
		return cs_agent_label(run, node, end->index);
	if (end->kind == CS_ENDPOINT_NODE)
		cs_text(label.text, sizeof(label.text), "node%u", end->index);
	else if (end->index == CS_NUMA_LOCAL)
		cs_text(label.text, sizeof(label.text), "host");
	else
		cs_text(label.text, sizeof(label.text), "numa%u", end->index);
	return label;
}

struct cs_label cs_pair_label(const struct cs_run *run, int node,
			      const struct cs_transfer *what)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), "%s->%s",
		cs_endpoint_text(run, node, &what->src).text,
		cs_endpoint_text(run, node, &what->dst).text);
	return label;
}

int cs_on_cpu(const struct cs_run *run)
{
	return strcmp(run->backend, "cpu") == 0;
}

int cs_run_is_judged(const struct cs_run *run)
{
	return (run->checks & ~(uint32_t)CS_CHECK_PLACEMENT) != 0;
}

const char *cs_agent_word(const struct cs_run *run)
{
	return cs_on_cpu(run) ? "arena" : "GPU";
}

const char *cs_agent_stem(const struct cs_run *run)
{
	return cs_on_cpu(run) ? "arena" : "gpu";
}

struct cs_label cs_agent_name(const struct cs_run *run, int node, int agent)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), "%s%s", cs_agent_stem(run),
		cs_agent_label(run, node, agent).text);
	return label;
}

/* Agents of each of the node's ranks that have any, in order of rank. */
static int agents_by_rank(const struct cs_run_node *nd, int *count)
{
	int ranks = 0, k;
	int rank[CS_MAX_AGENTS];

	for (int a = 0; a < nd->facts.n_agents; a++) {
		for (k = 0; k < ranks && rank[k] != nd->agent[a].rank; k++)
			;
		if (k == ranks) {
			rank[ranks] = nd->agent[a].rank;
			count[ranks++] = 0;
		}
		count[k]++;
	}
	return ranks;
}

void cs_division_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	const char *word = cs_agent_word(run);
	int count[CS_MAX_AGENTS], n = agents_by_rank(nd, count), k, even = 1;
	int ranks = nd->facts.n_ranks > n ? nd->facts.n_ranks : n;
	char one[40], of[40] = "";

	if (nd->facts.placement[0]) {
		cs_text(to, size, "placement %s%s%s", nd->facts.placement,
			strcmp(nd->facts.placement, "process") ? "" : " per ",
			strcmp(nd->facts.placement, "process") ? "" : word);
		return;
	}
	for (k = 1; k < n; k++)
		even &= count[k] == count[0];
	if (n == 0) {
		cs_text(to, size, "%d rank%s", ranks, ranks == 1 ? "" : "s");
		return;
	}
	if (!even) {
		cs_text(to, size, "%d ranks for %d %ss: ", ranks, nd->facts.n_agents,
			word);
		for (k = 0; k < ranks; k++)
			cs_text_add(to, size, "%s%d", k ? " + " : "",
				    k < n ? count[k] : 0);
		return;
	}
	if (count[0] == 1)
		cs_text(one, sizeof(one), "one %s", word);
	else
		cs_text(one, sizeof(one), "%d %ss", count[0], word);
	if (ranks > n)
		cs_text(of, sizeof(of), "%d with ", n);
	cs_text(to, size, "%d rank%s, %s%s%s", ranks, ranks == 1 ? "" : "s", of, one,
		ranks == 1 ? "" : " each");
}

int cs_run_is_other_placement(const struct cs_run *run, int node)
{
	const struct cs_node_facts *f = &run->node[node].facts;

	return node > 0 && f->placement[0] &&
	       !strcmp(f->host, run->node[node - 1].facts.host) &&
	       strcmp(f->placement, run->node[node - 1].facts.placement);
}

int cs_run_shows(const struct cs_run *run, int node, const struct cs_transfer *what)
{
	int from, to;

	if (!run->only[0][0])
		return 1;
	from = !strcmp(cs_endpoint_text(run, node, &what->src).text, run->only[0]);
	to = !strcmp(cs_endpoint_text(run, node, &what->dst).text,
		     run->only[run->only[1][0] ? 1 : 0]);
	return run->only[1][0] ? from && to : from || to;
}

/* ---- as files hold it ---- */

static void settle(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = cs_ten_digits(x[i]);
}

/* ---- nodes ---- */

#define WAY(type, key, member) CS_MEMBER(struct cs_way, type, key, member)
static const struct cs_field way_fields[] = {
	WAY(REAL, "open_ms", open_ms),
	CS_MEMBER_APART(struct cs_way, TEXT, "reason", reason, CS_WAY_REASON,
			.foreign = 1),
};
const struct cs_fieldset cs_way_fields = CS_FIELDSET("a peer", struct cs_way,
						     way_fields);

/* calloc: no page is touched of room that stays unused. */
static void *room(int n, size_t element, struct cs_err *err)
{
	void *made = calloc(n > 0 ? (size_t)n : 1, element);

	if (!made)
		cs_err_set(err, "no memory for a node");
	return made;
}

#define RENEW(array, n, err)                              \
	({                                                \
		void *made = room(n, sizeof(*(array)), err); \
                                                          \
		if (made) {                               \
			free(array);                      \
			(array) = made;                   \
		}                                         \
		cs_rc(!made);                             \
	})

int cs_node_make_agents(struct cs_run_node *nd, int n, struct cs_err *err)
{
	return RENEW(nd->agent, n, err);
}

int cs_node_make_gpus(struct cs_run_node *nd, int n, struct cs_err *err)
{
	return RENEW(nd->gpu_record, n, err);
}

int cs_node_make_ranks(struct cs_run_node *nd, int n, struct cs_err *err)
{
	return RENEW(nd->ranks, n, err);
}

int cs_node_make_ways(struct cs_run_node *nd, struct cs_err *err)
{
	const int n = nd->facts.n_agents > 0 ? nd->facts.n_agents : 0;

	if (RENEW(nd->ways, n * n, err))
		return -1;
	cs_kept_release(&nd->reasons);
	for (int i = 0; i < n * n; i++)
		nd->ways[i].reason = "";
	return 0;
}

void cs_node_release(struct cs_run_node *nd)
{
	free(nd->agent);
	free(nd->gpu_record);
	free(nd->ways);
	free(nd->ranks);
	cs_kept_release(&nd->reasons);
	nd->agent = NULL;
	nd->gpu_record = NULL;
	nd->ways = NULL;
	nd->ranks = NULL;
}

struct cs_run_node cs_node_take(struct cs_run_node *from)
{
	const struct cs_run_node taken = *from;

	*from = (struct cs_run_node){ .facts = taken.facts };
	return taken;
}

const struct cs_way *cs_node_way(const struct cs_run_node *nd, int agent, int peer)
{
	return &nd->ways[agent * nd->facts.n_agents + peer];
}

int cs_node_set_way(struct cs_run_node *nd, int agent, int peer,
		    const struct cs_way *way, struct cs_err *err)
{
	const char *reason = cs_kept_text(&nd->reasons, way->reason, err);

	if (!reason)
		return -1;
	nd->ways[agent * nd->facts.n_agents + peer] =
		(struct cs_way){ way->via, way->open_ms, reason };
	return 0;
}

void cs_node_each(const struct cs_run_node *nd, cs_field_fn *fn, void *to)
{
	cs_fields_each(&cs_node_fields, &nd->facts, fn, to);
	for (int i = 0; i < nd->facts.n_agents; i++) {
		cs_fields_each(&cs_agent_gpu_fields, &nd->agent[i], fn, to);
		cs_fields_each(&cs_agent_fields, &nd->agent[i], fn, to);
	}
	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		cs_fields_each(&cs_gpu_record_fields, &nd->gpu_record[i], fn, to);
	for (int i = 0; nd->ranks && i < nd->facts.n_ranks; i++)
		cs_fields_each(&cs_rank_fields, &nd->ranks[i], fn, to);
}

void cs_run_sort_findings(struct cs_run *run)
{
	struct cs_finding *f = run->findings.data;
	struct cs_finding *copy = calloc(run->findings.n + 1, sizeof(*copy));
	size_t n = 0;

	for (int check = 0; copy && check <= 1; check++)
		for (size_t i = 0; i < run->findings.n; i++)
			if (f[i].check == check)
				copy[n++] = f[i];
	if (copy && n)
		memcpy(f, copy, n * sizeof(*f));
	free(copy);
}

void cs_run_release_nodes(struct cs_run *run)
{
	for (int i = 0; run->node && i < run->n_nodes; i++)
		cs_node_release(&run->node[i]);
	free(run->node);
	run->node = NULL;
	run->n_nodes = 0;
}

static void settle_node(struct cs_run_node *nd)
{
	const int n = nd->ways && nd->facts.n_agents > 0 ? nd->facts.n_agents : 0;

	cs_node_each(nd, cs_field_settle, NULL);
	for (int i = 0; i < n * n; i++)
		settle(&nd->ways[i].open_ms, 1);
}

void cs_run_settle(struct cs_run *run)
{
	struct cs_run_timings *t = &run->timings;
	double *times[] = { &t->start, &t->open, &t->peers, &t->measure, &t->total };
	struct cs_row *row = run->rows.rows.data;

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		cs_fields_each(&cs_row_fields, &row[i], cs_field_settle, NULL);
	settle(run->rows.samples.data, run->rows.samples.n);
	cs_run_sort_findings(run);
	for (int node = 0; run->node && node < run->n_nodes; node++)
		settle_node(&run->node[node]);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		settle(times[i], 1);
}
