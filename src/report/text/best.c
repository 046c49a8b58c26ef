/* best.c - by which way data come from one end to another the fastest, by size: of a sweep
 * that has several. */
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#define SIZES 64
#define WAYS 32
/* A way is better if it is this much faster; runs differ by less. */
#define FASTER 1.01

struct way {
	char label[32]; /* "ce.pinned" */
	uint32_t test;
	double gbs[SIZES]; /* by size, NAN none */
};

struct direction {
	enum cs_path path;
	uint64_t size[SIZES]; /* ascending */
	int n_sizes, n_ways;
	struct way way[WAYS];
};

const char *cs_bytes_text(double bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int i = 0;

	for (; bytes >= 999.5 && i < 4; i++)
		bytes /= 1024;
	return isnan(bytes) ? "-" : cs_new_text("%.3g %s", bytes, unit[i]);
}

/* ---- gathered ---- */

/* One transfer at a time, of data from one end to the other. */
static int is_way(const struct cs_grid *head, enum cs_path path)
{
	const struct cs_test *test = head->test;

	return test->path == path && test->pattern == CS_PATTERN_PAIR &&
	       test->how == CS_HOW_GATED && test->unit == CS_UNIT_GBS &&
	       !cs_method_is_stream((int)test->method) &&
	       cs_variant_is_usual(&head->matrix->variant);
}

/* The index of a size, in its order; -1: there is no room. */
static int place_of(struct direction *d, uint64_t bytes)
{
	int i = 0;

	while (i < d->n_sizes && d->size[i] < bytes)
		i++;
	if (i < d->n_sizes && d->size[i] == bytes)
		return i;
	if (d->n_sizes == SIZES)
		return -1;
	memmove(&d->size[i + 1], &d->size[i], (d->n_sizes - i) * sizeof(d->size[0]));
	for (int w = 0; w < d->n_ways; w++) {
		double *gbs = d->way[w].gbs;

		memmove(&gbs[i + 1], &gbs[i], (d->n_sizes - i) * sizeof(*gbs));
		gbs[i] = NAN;
	}
	d->size[i] = bytes;
	d->n_sizes++;
	return i;
}

static struct way *way_of(struct direction *d, const struct cs_grid *head)
{
	struct way *way = d->way;

	while (way < d->way + d->n_ways && way->test != head->matrix->test)
		way++;
	if (way < d->way + d->n_ways)
		return way;
	if (d->n_ways == WAYS)
		return NULL;
	d->n_ways++;
	way->test = head->matrix->test;
	/* its name without the direction and the pattern */
	cs_text(way->label, sizeof(way->label), "%s.%s",
		cs_method_text((int)head->test->method),
		head->test->memory != CS_MEM_DEVICE &&
				head->test->path != CS_PATH_PEER ?
			cs_memory_text((int)head->test->memory) :
			cs_op_text((int)head->test->op));
	for (int i = 0; i < SIZES; i++)
		way->gbs[i] = NAN;
	return way;
}

static void gather(struct direction *d, const struct cs_run *run, const int nodes[2])
{
	for (uint32_t v = 0; v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);
		double gbs = is_way(&head, d->path) && !head.back ?
				     cs_cells_median(run, nodes, v) :
				     NAN;
		struct way *way = isnan(gbs) ? NULL : way_of(d, &head);
		int i = way ? place_of(d, head.bytes) : -1;

		if (i >= 0)
			way->gbs[i] = gbs;
	}
}

/* ---- printed ---- */

/* The fastest at a size; the one before stays unless that is clearly faster. */
static int best_at(const struct direction *d, int size, int before)
{
	int best = before >= 0 && !isnan(d->way[before].gbs[size]) ? before : -1;

	for (int w = 0; w < d->n_ways; w++)
		if (!isnan(d->way[w].gbs[size]) &&
		    (best < 0 ||
		     d->way[w].gbs[size] >
			     d->way[best].gbs[size] * (best == before ? FASTER : 1)))
			best = w;
	return best;
}

/* The size between two measured ones at which both are equally fast, by linear
 * interpolation of the logarithms; if that fails, the size from which one is faster. */
static double break_even(const struct direction *d, int size, int from, int to)
{
	double a = log(d->way[from].gbs[size - 1] / d->way[to].gbs[size - 1]);
	double b = log(d->way[from].gbs[size] / d->way[to].gbs[size]);
	double lower = log((double)d->size[size - 1]);
	double upper = log((double)d->size[size]);

	if (!(a > 0 && b < 0))
		return (double)d->size[size];
	return exp(lower + (upper - lower) * a / (a - b));
}

static void print_direction(FILE *to, const struct direction *d, const char *title)
{
	int best = best_at(d, 0, -1), next;
	const char *text = d->way[best].label;

	for (int i = 1; i < d->n_sizes; i++, best = next) {
		next = best_at(d, i, best);
		if (next == best)
			continue;
		text = cs_new_longer(text, ", from %s on %s",
				     cs_bytes_text(break_even(d, i, best, next)),
				     d->way[next].label);
	}
	cs_fold(to, 2, 4, "%s %s (of %d ways)", title, text, d->n_ways);
}

void cs_best_print(FILE *to, const struct cs_run *run, int first, int last)
{
	static const struct {
		enum cs_path path;
		const char *title;
	} directions[] = {
		{ CS_PATH_H2D, "host to GPU:" },
		{ CS_PATH_D2H, "GPU to host:" },
		{ CS_PATH_PEER, "GPU to GPU: " },
	};
	const int nodes[2] = { first, last };
	int headed = 0;

	if (!run->plan || !run->plan->set.last_bytes)
		return;
	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions); i++) {
		struct direction d = { .path = directions[i].path };

		gather(&d, run, nodes);
		if (d.n_ways < 2 || d.n_sizes < 2)
			continue;
		if (!headed++) {
			putc('\n', to);
			cs_fold(to, 0, 2,
				"fastest method by size, medians of all cells");
		}
		print_direction(to, &d, directions[i].title);
	}
}
