/* view.h - what the views share: words for things, folded lines, and the cells
 * of one test on one node.  Nobody outside report/ includes it. */
#ifndef CS_REPORT_VIEW_H
#define CS_REPORT_VIEW_H

#include <stdio.h>

#include "result/run.h"

/* Longest line of the text views. */
#define CS_COLUMNS 90
#define CS_MEASURED_WITH_DOUBLE \
	"VIRTUAL CLOCK: times come from a test double of the driver"

/* One end of a transfer: "gpu3", "arena3", "numa1". */
struct cs_label cs_end_label(const struct cs_run *run, const struct cs_row *row,
			     const struct cs_end *end);
/* An agent as an end, "gpu2", "arena0": this word, and its label. */
const char *cs_agent_stem(const struct cs_run *run);
struct cs_label cs_agent_name(const struct cs_run *run, int node, int agent);
/* RFC 3339, UTC, whole seconds; "" when not set. */
void cs_time_text(const struct timespec *t, char *to, size_t size);
/* How the GPUs of a node are divided: "8 ranks, one GPU each". */
void cs_division_text(const struct cs_run *run, int node, char *to, size_t size);
/* Is it a transfer's bytes per second? */
int cs_is_bandwidth(const struct cs_row *row);
/* Digits behind the point of a test's figures. */
int cs_decimals(const struct cs_test *test);
/* Where a row's cell went: "NV18", "PCIe 5 x16"; "" where nothing proves it.
 * More than half of all links of a GPU in use to one peer means that all of them
 * lead there: on boards without a switch they are divided among the peers. */
void cs_link_text(const struct cs_run *run, const struct cs_row *row, char *to,
		  size_t size);
/* "n[0101-0112],x3": the hosts of nodes[0..n). */
void cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, char *to,
		   size_t size);

/* One line, folded at blanks to CS_COLUMNS: `first` blanks before it, `rest`
 * before what is folded.  What is not printable ASCII becomes '?'. */
void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct cs_view_options;

/* A view that shows the turns of a cell as one (result/pool.h): `write` gets the run so
 * put together, and as it was.  -1 with errno. */
int cs_write_pooled(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt,
		    int (*write)(FILE *to, const struct cs_run *pooled,
				 const struct cs_run *run,
				 const struct cs_view_options *opt));

/* The cells of one test at one size on one node, in the orientation of every
 * matrix; of a run whose turns were put together (result/pool.h). */
struct cs_grid {
	const struct cs_run *run;
	const struct cs_test *test;
	uint64_t bytes;		/* of a copy */
	int back;		/* the other direction of what goes both ways
				 * between host and GPUs */
	int node, n_rows, n_cols;
	struct cs_end *row_end, *col_end;
	const struct cs_row **row; /* [src * n_cols + dst]; NULL without a row */
	char *planned;		/* by the plan, for this node */
	double *value;		/* median; NAN unless measured */
	char *mark;		/* ' ', '!' a finding, '*' not the best way */
	size_t n_planned, n_measured;
	/* of the measured ones; cells as indices, NAN and 0 without any */
	double min, median, max;
	size_t min_at, max_at;
	/* TOTAL rows of steps with several transfers; of all-to-one and one-to-all
	 * by hub, NAN elsewhere */
	double *total;
	size_t n_total;
	double total_min, total_median, total_max, overlap;
};

/* How many matrices a run has on each node: one for each view, two where host and
 * GPUs copy both ways; none before there is a plan, and none where a file asked for
 * steps of its own. */
uint32_t cs_grids(const struct cs_run *run);
int cs_grid_init(struct cs_grid *grid, const struct cs_run *run, int node,
		 uint32_t index);
/* What its cells are, in words. */
const char *cs_grid_title(const struct cs_grid *grid);
/* The transfer of a cell, as far as its ends. */
struct cs_transfer cs_grid_transfer(const struct cs_grid *grid, size_t cell);
/* The cell of a transfer; -1 none. */
int cs_grid_cell(const struct cs_grid *grid, const struct cs_transfer *what);
size_t cs_grid_cells(const struct cs_grid *grid);
void cs_grid_release(struct cs_grid *grid);
/* "2->3", of a cell by its index; "2" where each agent has one cell. */
struct cs_label cs_cell_label(const struct cs_grid *grid, size_t cell);

#endif
