/* why.c - what the driver did to managed memory, as CUPTI counted it in a sample that is not
 * timed (--why): a line for each test. */
#include <math.h>

#include "report/text/parts.h"

enum column {
	TO_GPU,
	TO_HOST,
	PIECES,
	LEAST,
	MEAN,
	MOST,
	GROUPS,
	PER_PAGE,
	FAULT_MS,
	CPU_FAULTS,
	EVICTED,
	COLUMNS
};

static void take(const struct cs_um_counts *c, double page_bytes, double x[COLUMNS])
{
	const int64_t to_gpu = c->to_gpu_bytes + c->peer_bytes;

	x[TO_GPU] = (double)to_gpu;
	x[TO_HOST] = (double)c->to_host_bytes;
	x[PIECES] = (double)c->moves;
	x[LEAST] = (double)c->least_bytes;
	x[MEAN] = c->moves ? (double)(to_gpu + c->to_host_bytes) / (double)c->moves :
			     0;
	x[MOST] = (double)c->most_bytes;
	x[GROUPS] = (double)c->fault_groups;
	x[PER_PAGE] = to_gpu ? (double)c->faults / ((double)to_gpu / page_bytes) : 0;
	x[FAULT_MS] = 1e-3 * c->fault_us;
	x[CPU_FAULTS] = (double)c->cpu_faults;
	x[EVICTED] = (double)c->evicted_bytes;
}

/* The medians over the cells of a line; 0: none is counted. */
static int medians(const struct cs_digest *d, const struct cs_digest_line *line,
		   double median[COLUMNS])
{
	struct cs_vec all[COLUMNS];
	double x[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		all[c] = (struct cs_vec)CS_LIST(double);
	for (int node = d->first; node < d->last; node++)
		CS_EACH_ROW(row, cs_matrix_rows(d->run, node, line->matrix)) {
			if (row->side->um.moves < 0)
				continue;
			take(&row->side->um,
			     (double)d->run->node[node].facts.page_bytes, x);
			for (int c = 0; c < COLUMNS; c++)
				cs_list_push(&all[c], &x[c]);
		}
	for (int c = 0; c < COLUMNS && all[c].n; c++)
		median[c] = cs_median(all[c].data, all[c].n);
	return all[0].n > 0;
}

static void add_line(struct cs_columns *t, const char *name, const double x[COLUMNS])
{
	cs_columns_add(t, "%s", name);
	for (int c = 0; c < COLUMNS; c++)
		if (c == PER_PAGE || c == FAULT_MS)
			cs_columns_number(t, 3, x[c], "");
		else if (c == PIECES || c == GROUPS || c == CPU_FAULTS || !(x[c] > 0))
			cs_columns_number(t, 0, x[c], "");
		else
			cs_columns_add(t, "%s", cs_bytes_text(x[c]));
	cs_columns_end_line(t);
}

void cs_why_print(FILE *to, const struct cs_digest *d)
{
	struct cs_columns t = { 0 };
	double x[COLUMNS];
	int n = 0;

	cs_columns_heads(&t, "<why,to GPU,to host,pieces,least,mean,most,fault groups,"
			     "faults/page,ms,CPU faults,evicted\n");
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (!line->back && medians(d, line, x)) {
			add_line(&t, cs_digest_name(line, d->run), x);
			n++;
		}
	if (!n)
		return;
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"counted by CUPTI in one more sample, which is not timed; medians over cells. "
		"Bytes that came to GPUs and to the host, in pieces; groups of page faults of "
		"GPUs, faults for each page that came, ms in groups; evicted: to the host, to "
		"make room");
	putc('\n', to);
}
