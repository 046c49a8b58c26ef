/* row.h - one measured number with everything that belongs to it.
 *
 * Rows are plain data: node coordinators send them to rank 0, they are written to
 * the journal at once, and all outputs are functions of them.  A cell without a row
 * is "not measured", never 0. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/fieldset.h"
#include "base/fill.h"
#include "base/kept.h"
#include "base/shape.h"
#include "base/vec.h"
#include "plan/plan.h"
#include "result/stats.h"

enum cs_status { CS_OK, CS_SKIPPED, CS_FAILED, CS_CORRUPT, CS_TIMEOUT };

/* RATE: one transfer's figure, a rate or a time as its test has it.  TOTAL: all bytes
 * of a step from the gate to the last end.  The rest are parts of an OPEN, then of an
 * OVERLAP, a PREFETCH. */
enum cs_metric {
	CS_METRIC_RATE,
	CS_METRIC_TOTAL,
	CS_METRIC_FIRST_OPEN, /* the pair's first way at all */
	CS_METRIC_EXPORT,     /* by the owner */
	CS_METRIC_FIRST_COPY, /* into a new buffer, to its end, by the CPU */
	CS_METRIC_NEXT_COPY,  /* the next one, by marks on the stream */
	CS_METRIC_CLOSE,
	CS_METRIC_REOPEN,  /* after the close */
	CS_METRIC_KERNELS, /* of tiles: alone, … */
	CS_METRIC_MOVES,
	CS_METRIC_SERIAL,  /* … in one stream, */
	CS_METRIC_STREAMS, /* … in three, one for each kind of work, */
	CS_METRIC_IDEAL,   /* … the longer of kernels and moves alone */
	CS_METRIC_DONE,	   /* of a prefetch: until its stream has ended */
	CS_METRIC_TILES,   /* of tiles: a stream for each */
	CS_METRICS
};

#define CS_ROW_NOT_CONVERGED 1u	/* --cell-limit came first */
#define CS_ROW_LOW_OVERLAP 2u	/* less than 90 % of the longest transfer */
#define CS_ROW_THROTTLED 4u
#define CS_ROW_IN_USE 8u	/* others on the GPU */
#define CS_ROW_OUTLIERS 16u	/* a sample more than 5 scaled MADs away */
#define CS_ROW_CONTROL 32u	/* repeats an earlier cell */
#define CS_ROW_NOT_VERIFIED 64u	/* --verify off */
#define CS_ROW_NOT_PROVEN 128u	/* the location of its host memory */
#define CS_ROW_CONCURRENT 256u	/* repeats a cell while others run, to be compared with it */
#define CS_ROW_REMEASURED 512u	/* a re-measurement at a cell that was suspicious, or at one
				 * beside it */
#define CS_ROW_NOT_FLUSHED 1024u	/* cold was requested: caches were flushed, but that is not proven */
#define CS_ROW_NOT_MOVED 2048u	/* managed memory: its pages were not at the expected end; it has no figure */
#define CS_ROW_STAYED 4096u	/* managed memory: as it was advised its pages stayed at the
				 * source, were copied or used there */
#define CS_ROW_SHARED 8192u	/* another pattern's samples: the same transfers, measured
				 * once */
#define CS_ROW_COUNTED 16384u	/* a further sample while the driver counts what it does, which makes it slow */
#define CS_ROW_TIMELINE 32768u /* one more execution of a schedule; its samples are the times of its tiles */
#define CS_ROW_FLAGS 16 /* how many there are */

/* Flags of rows that repeat a cell, and are no further turn of it. */
#define CS_ROW_REPEATS \
	(CS_ROW_CONTROL | CS_ROW_CONCURRENT | CS_ROW_REMEASURED | CS_ROW_COUNTED | \
	 CS_ROW_TIMELINE)

/* A tile is moved to the GPU, worked on by kernels, and moved back. */
#define CS_TILE_WORKS 3
/* Begin and end of each of these, in a row with CS_ROW_TIMELINE: ms since the first call. */
#define CS_TILE_TIMES (2 * CS_TILE_WORKS)

/* Flags of figures that are not the link's own. */
#define CS_ROW_BAD                                                        \
	(CS_ROW_NOT_CONVERGED | CS_ROW_LOW_OVERLAP | CS_ROW_THROTTLED |   \
	 CS_ROW_IN_USE)

/* A step of the plan that a node is to carry out once more. */
struct cs_remeasure {
	uint32_t node, step;
};

#define CS_REASON 240 /* bytes of a reason at most */
#define CS_ROW_NIC 64 /* of the names of network devices */
#define CS_LEFT_OUT "left out: the budget was spent" /* the reason of a cell */

/* Fields of a row that are equal, or unknown, in most rows: kept once for all that have the
 * same bytes, so none may be padding. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
struct cs_row_apart {
	double stage_us[CS_STAGES]; /* of packed copies, of one copy; else NAN */
	uint64_t throttle;	    /* bits seen around the cell, of its own GPUs … */
	uint64_t throttle_at[2]; /* … by the one at src and at dst; 0 also unknown */
	/* after a flagged cell, of its own GPUs: slowest, hottest, thirstiest; else
	 * unknown */
	int32_t sm_mhz, temperature_c;
	double power_w;
	uint64_t wrong_bytes; /* in all that was checked */
	uint32_t grid_blocks,
		block_threads; /* of the kernel that copied; 0: none did */
	uint32_t turns; /* merged in this row (pool.h), or its last pass; 0: it is itself one */
	uint32_t pad;
	/* between nodes, at src and at dst: "mlx5_0", the devices that carried the messages,
	 * and the share of their bytes, in all samples, that was counted; "" and NAN
	 * unknown */
	char nic[2][CS_ROW_NIC];
	double nic_share[2];
};
#pragma GCC diagnostic pop
extern const struct cs_row_apart cs_row_apart_unknown;

struct cs_row {
	uint32_t node;		 /* of the run, in world-rank order */
	uint32_t step;		 /* of the plan */
	uint32_t test;		 /* position in the catalogue */
	uint8_t metric, status;	 /* enum cs_metric, enum cs_status */
	uint8_t via, concurrent; /* enum cs_via; other transfers at the same time */
	uint32_t flags;		 /* CS_ROW_… */
	uint32_t copies;	 /* per sample, of the counted samples */
	struct cs_transfer what; /* TOTAL: the step's first transfer */
	struct cs_stats stats;	 /* in the test's unit; GB/s = 1e9 bytes/s */
	double first_ms;	 /* slower than the median: sample 0, per sample */
	double overlap;		 /* least of the counted samples; NAN when alone */
	double t_start_s;	 /* CLOCK_MONOTONIC_RAW since the node's start */
	double seconds;		 /* wall time of the cell, set-up included */
	uint32_t checked;	 /* samples of this transfer checked */
	uint32_t checked_whole;	 /* of these, every byte of every copy; */
	uint32_t checked_part;	 /* a part of the last copy; else all of that */
	uint32_t discarded;	 /* samples before the counted ones */
	uint32_t n_samples;
	uint32_t turn; /* of the cell: 0, or more if sides take turns, or its pass */
	/* Most rows have none, or those of others.  In struct cs_rows they are kept with
	 * it; else they are the maker's, and may be NULL. */
	const char *reason;		/* anything but ok has one; else "" */
	const struct cs_cpu_side *side; /* unknown of a TOTAL, and without a measurement */
	const struct cs_row_apart *apart;
};

/* Its fields in files, and the rules by which turns are merged. */
extern const struct cs_fieldset cs_row_fields;

struct cs_cells;

/* Rows and, in a second array, their samples (in order of time). */
struct cs_rows {
	struct cs_vec rows;	/* struct cs_row */
	struct cs_vec at;	/* size_t: first sample of each row */
	struct cs_vec samples;	/* double */
	struct cs_kept kept;	/* apart fields of the rows */
	struct cs_cells *cells; /* the index (cells.h), one block; NULL: not made */
};

void cs_rows_init(struct cs_rows *rows);
void cs_rows_release(struct cs_rows *rows);
/* Append a copy of the row and its row->n_samples samples. */
int cs_rows_add(struct cs_rows *rows, const struct cs_row *row, const double *samples,
		struct cs_err *err);
/* Replace the i-th row by a copy of this, of the same cell, with as many samples. */
int cs_rows_set(struct cs_rows *rows, size_t i, const struct cs_row *row,
		struct cs_err *err);
/* The correlation of successive samples of the i-th row, which the first files do not
 * have; NAN if it is unknown. */
double cs_rows_lag1(const struct cs_rows *rows, size_t i);
/* Forget the samples of cells that have one turn: their figures stay.  Samples of turns
 * are still to be pooled. */
void cs_rows_forget_samples(struct cs_rows *rows);
/* Leave out the rows whose keep[i] is 0. */
void cs_rows_filter(struct cs_rows *rows, const char *keep);
/* Remove the index of rows that changed. */
void cs_rows_unindex(struct cs_rows *rows);
size_t cs_rows_count(const struct cs_rows *rows);
const struct cs_row *cs_rows_get(const struct cs_rows *rows, size_t i);
const struct cs_row *cs_rows_end(const struct cs_rows *rows); /* after the last */
const double *cs_rows_samples(const struct cs_rows *rows, size_t i);

/* The times that a row with CS_ROW_TIMELINE has, CS_TILE_TIMES of each of *tiles; NULL: the
 * i-th row has none. */
const double *cs_rows_timeline(const struct cs_rows *rows, size_t i, uint32_t *tiles);

/* The line of the catalogue. */
const struct cs_test *cs_row_test(const struct cs_row *row);
/* The agents at its ends, as bits. */
uint64_t cs_row_agents(const struct cs_row *row);
/* The first n agents, as bits. */
uint64_t cs_agent_bits(int n);
/* The reason of a corrupt cell: "3 wrong bytes, the first at 16 of copy 2: expected …";
 * copy 0: left out. */
void cs_check_text(const struct cs_check *check, uint32_t copy, char *to, size_t size);
/* CS_ROW_OUTLIERS, if one of its samples is that far from the median; 0. */
uint32_t cs_row_outliers(const struct cs_row *row, const double *samples);
/* Is it a transfer's bytes per second? */
int cs_is_bandwidth(const struct cs_row *row);

const char *cs_status_text(int status); /* "ok", "skipped", … */
/* The way of working on tiles that a metric is of: "three streams". */
const char *cs_schedule_text(int metric);
/* One of the CS_TILE_WORKS, in their order: "in", "kernels", "out". */
const char *cs_tile_work_text(uint32_t work);
/* "rate", "total", …; of a test whose figures are times "time" for a rate. */
const char *cs_metric_text(const struct cs_test *test, int metric);
/* "peer.ce.write.pair", and if it is no rate "local.ce.open.pair export"; in the arena. */
const char *cs_figure_name(const struct cs_test *test, int metric);
/* The metric of that name; -1 there is none. */
int cs_metric_index(const char *name);
/* The reason of a cell that was skipped since others used one of its GPUs. */
void cs_in_use_text(const char *label, int others, char *to, size_t size);
/* The names of the set flags, in order of bit: how many. */
int cs_row_flag_names(uint32_t flags, const char *names[CS_ROW_FLAGS]);
/* The flag of that name; 0 when there is none. */
uint32_t cs_row_flag(const char *name);
