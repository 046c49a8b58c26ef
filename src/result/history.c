#include "result/history.h"

#include <math.h>

#include "result/cells.h"

void cs_history_release(struct cs_history *h)
{
	cs_vec_release(&h->runs);
	cs_vec_release(&h->figures);
	cs_vec_release(&h->counts);
}

static uint64_t add(uint64_t hash, uint64_t x)
{
	hash = (hash ^ x) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = add(hash, (unsigned char)*text);
	return add(hash, 0);
}

uint64_t cs_hardware_number(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	uint64_t hash = add_text(add_text(1, nd->facts.host), nd->facts.placement);

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_gpu_facts *gpu = &nd->agent[a].gpu;
		const struct cs_gpu_record *known = cs_run_gpu(run, node, gpu->bus_id);

		hash = add_text(hash, gpu->uuid[0] ? gpu->uuid : gpu->bus_id);
		hash = add_text(hash, known ? known->board.serial : "");
	}
	return hash;
}

uint32_t cs_cell_number(const struct cs_row *row)
{
	const struct cs_transfer *what = &row->what;
	uint64_t hash = add(add(1, row->test), what->bytes);

	hash = add(hash, cs_variant_number(&what->variant));
	hash = add(hash, (uint64_t)what->src.kind << 16 | what->src.index);
	return (uint32_t)add(hash, (uint64_t)what->dst.kind << 16 | what->dst.index);
}

static struct cs_past_counts counts_of(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	const struct cs_gpu_record *known = cs_run_gpu(run, node, a->gpu.bus_id);
	struct cs_past_counts counts;

	for (int c = 0; c < CS_COUNTERS; c++)
		counts.of[c] = a->after.known ? cs_counter_of(&a->after, c) : -1;
	counts.of[CS_COUNTERS] = known && known->board.rows_corrected >= 0 ?
					 known->board.rows_corrected +
						 known->board.rows_uncorrected :
					 -1;
	return counts;
}

void cs_history_add(struct cs_history *h, const struct cs_run *run, int node,
		    time_t began)
{
	const struct cs_node_facts *facts = &run->node[node].facts;
	struct cs_past past = { .hardware = cs_hardware_number(run, node),
				.began_s = began,
				.day = floor((double)began / 86400),
				.figure = h->figures.n,
				.counts = h->counts.n };

	cs_text(past.driver, sizeof(past.driver), "%s", facts->driver);
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
		const struct cs_past_figure figure = { cs_cell_number(row),
						       (float)row->stats.median };

		if (cs_is_bandwidth(row) && row->status == CS_OK &&
		    !(row->flags & (CS_ROW_THROTTLED | CS_ROW_IN_USE)))
			cs_list_push(&h->figures, &figure);
	}
	past.n_figures = h->figures.n - past.figure;
	for (int a = 0; a < facts->n_agents; a++) {
		const struct cs_past_counts counts = counts_of(run, node, a);

		cs_list_push(&h->counts, &counts);
	}
	cs_list_push(&h->runs, &past);
}
