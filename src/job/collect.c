#include "job/collect.h"

#include <stdlib.h>
#include <string.h>

#include "node/board/board.h"
#include "result/passes.h"

#define ALIVE_S 1.0
#define ROOT_ALIVE_S 5.0 /* one message for each node */
#define DEAF_S 1.0 /* a rank that has not polled for longer was not listening */

static int post(struct cs_collect *c, enum cs_tag tag, const void *data, size_t bytes)
{
	struct cs_err err;

	c->said_s = cs_clock_s();
	return cs_comm_send(c->comm, 0, tag, data, bytes, &err);
}

/* Count a record that was lost for lack of memory. */
static void lose(struct cs_collect *c, int lost)
{
	c->n_lost += lost != 0;
}

/* ---- rank 0: into the run ---- */

/* A node's facts, followed by its agents, known GPUs, ranks, and ways between agents
 * (struct cs_peer_facts). */
struct node_message {
	struct cs_node_facts facts;
	int64_t index;
};

/* A row and its apart fields, followed by its samples and its reason. */
struct row_message {
	struct cs_row row;
	struct cs_cpu_side side;
	struct cs_row_apart apart;
};

static size_t bytes_of(int32_t n, size_t one)
{
	return n > 0 ? (size_t)n * one : 0;
}

static size_t agents_bytes(const struct cs_node_facts *f)
{
	return bytes_of(f->n_agents, sizeof(struct cs_agent_facts));
}

static size_t inventory_bytes(const struct cs_node_facts *f)
{
	return bytes_of(f->n_known_gpus, sizeof(struct cs_gpu_record));
}

static size_t ways_bytes(const struct cs_node_facts *f)
{
	return bytes_of(f->n_agents * f->n_agents, sizeof(struct cs_peer_facts));
}

static size_t ranks_bytes(const struct cs_node_facts *f)
{
	return bytes_of(f->n_ranks, sizeof(struct cs_rank_facts));
}

static size_t node_bytes(const struct cs_node_facts *f)
{
	return sizeof(struct node_message) + agents_bytes(f) + inventory_bytes(f) +
	       ways_bytes(f) + ranks_bytes(f);
}

static const char *take_part(void *to, const char *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return from + bytes;
}

static void take_ways(struct cs_collect *c, struct cs_run_node *to, const char *from)
{
	const int n = to->facts.n_agents;
	struct cs_peer_facts peer;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			from = take_part(&peer, from, sizeof(peer));
			lose(c,
			     cs_node_set_way(to, i, k,
					     &(struct cs_way){ peer.via, peer.open_ms,
							       peer.reason },
					     NULL));
		}
}

static void take_node(struct cs_collect *c, const struct node_message *m)
{
	struct cs_run_node *to = &c->run->node[m->index];
	const char *from = (const char *)(m + 1);
	struct cs_run_node made = { .facts = m->facts };

	if (cs_node_make_agents(&made, m->facts.n_agents, NULL) ||
	    cs_node_make_gpus(&made, m->facts.n_known_gpus, NULL) ||
	    cs_node_make_ranks(&made, m->facts.n_ranks, NULL) ||
	    cs_node_make_ways(&made, NULL)) {
		cs_node_release(&made);
		lose(c, 1); /* the facts before stay */
		return;
	}
	from = take_part(made.agent, from, agents_bytes(&m->facts));
	from = take_part(made.gpu_record, from, inventory_bytes(&m->facts));
	from = take_part(made.ranks, from, ranks_bytes(&m->facts));
	take_ways(c, &made, from);
	cs_node_release(to);
	*to = made;
	c->hooks->node(c->hooks->ctx, (int)m->index);
}

static void take_row(struct cs_collect *c, const struct cs_row *row,
		     const double *samples)
{
	struct cs_err err;

	if (cs_rows_add(&c->run->rows, row, samples, &err)) {
		lose(c, 1);
		return;
	}
	c->hooks->row(c->hooks->ctx, cs_rows_count(&c->run->rows) - 1);
	lose(c, cs_passes_thin(c->run, CS_PASS_ROWS_MOST, &err));
}

static void take_finding(struct cs_collect *c, const struct cs_finding *finding)
{
	struct cs_err err;

	if (cs_finding_add(&c->run->findings, finding, &err))
		lose(c, 1);
	else
		c->hooks->finding(c->hooks->ctx, c->run->findings.n - 1);
}

/* ---- a node coordinator ---- */

int cs_collect_index(const struct cs_collect *c, int placement)
{
	return c->comm->node * c->placements + placement;
}

static char *put_part(char *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return to + bytes;
}

/* The ways between the node's agents; all zero if it has none. */
static void put_ways(char *to, const struct cs_run_node *node)
{
	const int n = node->facts.n_agents;

	for (int i = 0; node->ways && i < n; i++)
		for (int k = 0; k < n; k++) {
			const struct cs_way *way = cs_node_way(node, i, k);
			struct cs_peer_facts peer = { .via = way->via,
						      .open_ms = way->open_ms };

			cs_text(peer.reason, sizeof(peer.reason), "%s", way->reason);
			to = put_part(to, &peer, sizeof(peer));
		}
}

void cs_collect_node(struct cs_collect *c, int index, const struct cs_run_node *node)
{
	const struct cs_node_facts *f = &node->facts;
	size_t bytes = node_bytes(f);
	struct node_message *message = calloc(1, bytes);
	char *to;

	if (!message) {
		lose(c, 1);
		return;
	}
	message->facts = *f;
	message->index = index;
	to = put_part((char *)(message + 1), node->agent, agents_bytes(f));
	to = put_part(to, node->gpu_record, inventory_bytes(f));
	to = put_part(to, node->ranks, ranks_bytes(f));
	put_ways(to, node);
	if (c->comm->rank == 0)
		take_node(c, message);
	else
		lose(c, post(c, CS_TAG_NODE, message, bytes));
	free(message);
}

void cs_collect_row(struct cs_collect *c, const struct cs_row *row,
		    const double *samples)
{
	const char *reason = row->reason ? row->reason : "";
	size_t sampled = row->n_samples * sizeof(*samples);
	size_t bytes = sizeof(struct row_message) + sampled + strlen(reason) + 1;
	struct row_message *message;
	char *to;

	if (c->comm->rank == 0) {
		take_row(c, row, samples);
		return;
	}
	message = malloc(bytes);
	if (!message) {
		lose(c, 1);
		return;
	}
	message->row = *row;
	message->side = row->side ? *row->side : cs_cpu_side_unknown;
	message->apart = row->apart ? *row->apart : cs_row_apart_unknown;
	to = (char *)(message + 1);
	if (sampled)
		to = put_part(to, samples, sampled);
	put_part(to, reason, strlen(reason) + 1);
	lose(c, post(c, CS_TAG_ROW, message, bytes));
	free(message);
}

void cs_collect_add(struct cs_collect *c, int index, const struct cs_finding *finding)
{
	struct cs_finding f = *finding;

	f.node = index;
	if (f.part[0])
		cs_finding_advise(&f);
	if (c->comm->rank == 0)
		take_finding(c, &f);
	else
		lose(c, post(c, CS_TAG_FINDING, &f, sizeof(f)));
}

void cs_collect_finding(struct cs_collect *c, int index, enum cs_severity severity,
			enum cs_finding_id id, const char *text)
{
	struct cs_finding finding = { .id = id, .severity = severity };

	cs_text(finding.text, sizeof(finding.text), "%s", text);
	cs_collect_add(c, index, &finding);
}

/* Rank 0 waits for this message, so it is sent again until it has left. */
static void send_done(struct cs_collect *c)
{
	if (c->how && !post(c, CS_TAG_DONE, &c->how, sizeof(c->how)))
		c->how = CS_NODE_RUNS;
}

void cs_collect_report_lost(struct cs_collect *c, int index)
{
	char text[120];

	if (!c->n_lost)
		return;
	cs_text(text, sizeof(text),
		"%zu results, facts or findings are lost: rank %d had no memory for them",
		c->n_lost, c->comm->rank);
	cs_collect_finding(c, index, CS_CRITICAL, CS_FINDING_NO_MEMORY, text);
}

void cs_collect_done(struct cs_collect *c, int how)
{
	if (c->comm->rank == 0) {
		c->ended[c->comm->node] = (char)how;
		return;
	}
	cs_collect_report_lost(c, cs_collect_index(c, 0));
	c->how = c->n_lost ? CS_NODE_EARLY : how;
	send_done(c);
}

void cs_collect_measured(struct cs_collect *c)
{
	if (c->comm->rank == 0) {
		c->ended[c->comm->node] = CS_NODE_MEASURED;
		return;
	}
	c->how = CS_NODE_MEASURED;
	send_done(c);
}

int cs_collect_all_measured(const struct cs_collect *c)
{
	return CS_ALL(i, c->comm->n_nodes, c->ended[i] != CS_NODE_RUNS);
}

static void take_steps(struct cs_collect *c, const uint32_t *step, size_t n)
{
	struct cs_err err;
	uint32_t *to = n ? cs_vec_add(&c->remeasure, n, &err) : NULL;

	lose(c, n && !to);
	if (to)
		memcpy(to, step, n * sizeof(*step));
	c->remeasure_came = 1;
}

/* Send one node its steps. */
static void send_remeasure(struct cs_collect *c, int node,
			   const struct cs_remeasure *remeasure, size_t n)
{
	uint32_t *step = calloc(n + 1, sizeof(*step));
	struct cs_err err;

	lose(c, !step);
	for (size_t i = 0; step && i < n; i++)
		step[i] = remeasure[i].step;
	if (node == c->comm->node)
		take_steps(c, step, step ? n : 0);
	else if (c->ended[node] != CS_NODE_SILENT)
		lose(c, cs_comm_send(c->comm, c->rank_of_node[node], CS_TAG_REMEASURE,
				     step ? (const void *)step : "",
				     step ? n * sizeof(*step) : 0, &err));
	free(step);
}

void cs_collect_remeasure(struct cs_collect *c, const struct cs_remeasure *remeasure,
			  size_t n)
{
	for (size_t node = 0, i = 0, k; node < (size_t)c->comm->n_nodes;
	     node++, i = k) {
		for (k = i;
		     k < n && remeasure[k].node / (uint32_t)c->placements == node; k++)
			;
		send_remeasure(c, (int)node, n ? remeasure + i : NULL, k - i);
	}
	c->said_s = cs_clock_s();
}

/* Rank 0: send a message to the coordinators of all other nodes. */
static void send_to_nodes(struct cs_collect *c, enum cs_tag tag, const void *data,
			  size_t bytes)
{
	struct cs_err err;

	for (int i = 0; i < c->comm->n_nodes; i++)
		if (i != c->comm->node &&
		    (tag == CS_TAG_END || c->ended[i] != CS_NODE_SILENT))
			cs_comm_send(c->comm, c->rank_of_node[i], tag, data, bytes,
				     &err);
	c->said_s = cs_clock_s();
}

void cs_collect_alive(struct cs_collect *c)
{
	if (cs_clock_s() - c->said_s < (c->comm->rank ? ALIVE_S : ROOT_ALIVE_S))
		return;
	if (c->comm->rank == 0) {
		send_to_nodes(c, CS_TAG_ALIVE, "", 0);
		return;
	}
	post(c, CS_TAG_ALIVE, "", 0);
	send_done(c);
}

void cs_collect_end(struct cs_collect *c, int how)
{
	if (how == CS_NODE_SILENT) /* to other nodes that means: rank 0 is silent */
		how = CS_NODE_EARLY;
	send_to_nodes(c, CS_TAG_END, &how, sizeof(how));
	cs_comm_flush(c->comm, 1);
}

/* Silence counts only while this rank listens. */
static void count_silence(struct cs_collect *c)
{
	double now = cs_clock_s(), deaf = now - c->listened_s;

	for (int i = 0; i < c->comm->n_nodes; i++)
		if (!(c->heard_s[i] > 0))
			c->heard_s[i] = now;
		else if (deaf > DEAF_S)
			c->heard_s[i] += deaf;
	c->listened_s = now;
}

int cs_collect_listen(struct cs_collect *c, double limit_s)
{
	int from, tag;
	struct cs_err err;
	size_t bytes;
	void *data;

	count_silence(c);
	while (cs_comm_receive(c->comm, &from, &tag, &data, &bytes, &err) == 1) {
		c->heard_s[0] = cs_clock_s();
		if (tag == CS_TAG_END && bytes == sizeof(int))
			c->end = *(const int *)data;
		else if (tag == CS_TAG_REMEASURE)
			take_steps(c, data, bytes / sizeof(uint32_t));
		free(data);
	}
	if (!c->end && cs_clock_s() - c->heard_s[0] > limit_s)
		c->end = CS_NODE_SILENT;
	return c->end;
}

/* ---- rank 0: messages that arrived ---- */

/* The node that a rank coordinates; -1: none. */
static int node_of(const struct cs_collect *c, int rank)
{
	int node = c->comm->place[rank].node;

	return c->rank_of_node[node] == rank ? node : -1;
}

/* Is node `index` of the run a placement of this node? */
static int is_of(const struct cs_collect *c, int node, int64_t index)
{
	return index >= (int64_t)node * c->placements &&
	       index < (int64_t)(node + 1) * c->placements;
}

static size_t row_bytes(const struct row_message *m)
{
	return sizeof(*m) + m->row.n_samples * sizeof(double);
}

static void take_row_message(struct cs_collect *c, const struct row_message *m)
{
	struct cs_row row = m->row;

	row.side = &m->side;
	row.apart = &m->apart;
	row.reason = (const char *)m + row_bytes(m);
	take_row(c, &row, (const void *)(m + 1));
}

static void take_message(struct cs_collect *c, int node, int tag, const void *data,
			 size_t bytes)
{
	const struct node_message *m = data;
	const struct row_message *row = data;

	c->heard_s[node] = cs_clock_s();
	if (tag == CS_TAG_NODE && bytes >= sizeof(*m) &&
	    m->facts.n_agents <= CS_MAX_AGENTS &&
	    m->facts.n_known_gpus <= CS_MAX_AGENTS &&
	    bytes == node_bytes(&m->facts) && is_of(c, node, m->index))
		take_node(c, m);
	else if (tag == CS_TAG_ROW && bytes > sizeof(*row) && bytes > row_bytes(row) &&
		 !((const char *)data)[bytes - 1] && is_of(c, node, row->row.node))
		take_row_message(c, row);
	else if (tag == CS_TAG_FINDING && bytes == sizeof(struct cs_finding))
		take_finding(c, data);
	else if (tag == CS_TAG_DONE && bytes == sizeof(int) &&
		 c->ended[node] != CS_NODE_SILENT)
		c->ended[node] = (char)*(const int *)data;
}

static int is_under_way(const struct cs_collect *c, int node)
{
	return c->ended[node] == CS_NODE_RUNS || c->ended[node] == CS_NODE_MEASURED;
}

/* Give up a node; set its host name if its facts have not arrived. */
static void give_up(struct cs_collect *c, int node, const char *why)
{
	struct cs_finding lost = { .severity = CS_CRITICAL,
				   .drain = 1,
				   .node = node * c->placements,
				   .id = CS_FINDING_NODE_LOST,
				   .part = "node" };

	const char *left = "its earlier results are kept";

	for (int i = node * c->placements; i < (node + 1) * c->placements; i++) {
		struct cs_run_node *nd = &c->run->node[i];

		if (nd->facts.host[0])
			continue;
		cs_text(nd->facts.host, CS_HOST, "%s",
			c->comm->place[c->rank_of_node[node]].host);
		c->hooks->node(c->hooks->ctx, i);
		left = "it sent no result";
	}
	if (c->ended[node])
		left = "it had sent all its results";
	cs_finding_advise(&lost);
	cs_text(lost.text, sizeof(lost.text), "%s; %s", why, left);
	c->ended[node] = CS_NODE_SILENT;
	take_finding(c, &lost);
}

void cs_collect_drain(struct cs_collect *c, double limit_s, int now)
{
	char silent[80];
	int from, tag, node;
	struct cs_err err;
	size_t bytes;
	double at;
	void *data;

	count_silence(c);
	while (cs_comm_receive(c->comm, &from, &tag, &data, &bytes, &err) == 1) {
		node = node_of(c, from);
		if (node >= 0)
			take_message(c, node, tag, data, bytes);
		free(data);
	}
	at = cs_clock_s(); /* once: there may be thousands of them */
	cs_text(silent, sizeof(silent), "no message from the node for %.0f s",
		limit_s);
	for (node = 0; node < c->comm->n_nodes; node++) {
		if (node == c->comm->node || c->ended[node] == CS_NODE_SILENT)
			continue;
		if (at - c->heard_s[node] > limit_s)
			give_up(c, node, silent);
		else if (now && is_under_way(c, node))
			give_up(c, node, "the node was not ready within the budget");
	}
}

int cs_collect_state(const struct cs_collect *c)
{
	int worst = c->n_lost ? CS_NODE_EARLY : CS_NODE_COMPLETE;

	for (int i = 0; i < c->comm->n_nodes; i++) {
		if (is_under_way(c, i))
			return CS_NODE_RUNS;
		if (c->ended[i] > worst)
			worst = c->ended[i];
	}
	return worst;
}

int cs_collect_others_run(const struct cs_collect *c)
{
	return CS_ANY(i, c->comm->n_nodes, i != c->comm->node && is_under_way(c, i));
}
