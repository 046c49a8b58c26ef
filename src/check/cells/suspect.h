/* suspect.h - what the files that judge cells share: a cell's place among others, and
 * what is held against a part of a node until it is worded.  Beside them bounds/bound.c
 * alone includes it, to tell where a suspect is told already what it finds. */
#ifndef CS_CHECK_SUSPECT_H
#define CS_CHECK_SUSPECT_H

#include "base/vec.h"
#include "result/cells.h"
#include "result/judge.h"

/* Healthy figures differ by less, as logarithms: nobody is held to more. */
#define CS_OFF_FLOOR 0.01

enum cs_part { CS_PART_GPU, CS_PART_LINK, CS_PART_SOCKET, CS_PART_NODE };

/* What may have one cause: cells of one family. */
enum cs_family { CS_FAMILY_PEER, CS_FAMILY_HOST, CS_FAMILY_LOCAL };

/* Why, the more telling the later: of two the greater one stays. */
enum cs_cause {
	CS_CAUSE_BELOW,		/* of what its live links usually give */
	CS_CAUSE_SLOW,		/* against its like, and nothing says why */
	CS_CAUSE_MEMORY,	/* its own memory is slow, all else is not */
	CS_CAUSE_THROTTLED, CS_CAUSE_IN_USE, /* measured meanwhile */
	CS_CAUSE_AFFINITY,	/* its thread is not next to it */
	CS_CAUSE_DOMAIN,	/* nor is the host memory that is said to be */
	CS_CAUSE_DETOUR,	/* said to be direct, as slow as through the host */
	CS_CAUSE_REDIRECT,	/* … by PCIe: ACS or IOMMU send it up and down */
	CS_CAUSE_STAGED,	/* through host memory, and known to be */
	CS_CAUSE_REFUSED,	/* no way was to be had */
	CS_CAUSE_PCIE,		/* below what card and slot can do */
	CS_CAUSE_LANES,		/* fewer NVLinks are up than of its like */
};

/* How grave it may become. */
enum cs_weight {
	CS_WEIGHT_ANY,
	CS_WEIGHT_WARNING,	/* too little to keep a node out, or held against few */
	CS_WEIGHT_NOTE,
};

/* A second look at it. */
enum cs_look {
	CS_LOOK_NONE, CS_LOOK_CONFIRMED, CS_LOOK_NOT_AGAIN,
	CS_LOOK_UNSURE,		/* its figures do not tell */
};

struct cs_suspect {
	int node;
	uint32_t part, family, cause;
	int a, b;		/* agents; of a socket, domains; -1 none */
	int sends, receives;	/* of a GPU: slow in that direction */
	double drop;		/* 0.056: so much slower; 0 not measured */
	double drop_least;	/* of several GPUs: the one that is least so; else 0 */
	double sure;		/* the drop in spreads */
	int nodes;		/* behind the figure it is held against; 0: cells of its
				 * own node */
	uint32_t test, tests;	/* the worst, and how many */
	uint32_t cells, look;
	int is, of;		/* links that are up, and of its like; domains */
	enum cs_weight most;
	int half_duplex;	/* both ways together are no faster than one */
	int usual;		/* the same of all its like */
	uint32_t n_evidence, evidence[CS_EVIDENCE];
	double off[CS_EVIDENCE]; /* of each, as a logarithm; NAN: as the whole */
	/* once it is told: its finding; its cells that are beyond a bound as well, and
	 * the first of them in words */
	size_t finding, also;
	char also_text[160];
};

/* Cells of a run that can be judged, in order: class, test, size, node, cell. */
struct cs_spot {
	uint64_t group[3];	/* class, test, company; bytes; variant */
	uint32_t cell, node, at; /* at: its row */
	double y;		/* log of its figure, the greater the better */
	double off;		/* y less what is usual; NAN not known */
	double noise;		/* that y may be off by */
	int unsure;		/* not to be judged: off stays unknown */
};

struct cs_spots {
	const struct cs_run *run;
	struct cs_spot *spot;	/* malloc'ed */
	size_t n;
	/* by node: the first of its class (class.h); malloc'ed */
	int *class;
};

/* spots.c */
int cs_spots_make(const struct cs_run *run, struct cs_spots *out,
		  struct cs_err *err);
void cs_spots_release(struct cs_spots *spots);
/* The same cell in another test, or the same one, with so much company; NULL. */
const struct cs_spot *cs_spots_like(const struct cs_spots *spots,
				    const struct cs_row *row, uint32_t test,
				    int company);
/* Behind the last spot of the same group and node. */
size_t cs_spots_node_end(const struct cs_spots *spots, size_t from);
/* … of the same group. */
size_t cs_spots_group_end(const struct cs_spots *spots, size_t from);
/* How much a row differs from the first look at its cell: log of the ratio; NAN. */
double cs_spots_change(const struct cs_spots *spots, const struct cs_row *again);
enum cs_family cs_family_of(const struct cs_row *row);

/* noise.c: a figure that does not tell enough to accuse anybody: its transfers did not
 * overlap, or its interval is wide and stayed so. */
int cs_is_unsure(const struct cs_row *row);
/* As a logarithm: half of the interval of its median or of the spread of its samples
 * (5th to 95th percentile), whichever is more. */
double cs_noise_of(const struct cs_row *row);
/* Slower than what both sides' noise could make of equal ones? */
int cs_is_beyond_noise(double off, double own, double others);

/* outlier.c: suspects among the cells, into a vec of struct cs_suspect. */
int cs_outliers_find(struct cs_spots *spots, struct cs_vec *suspects,
		     struct cs_err *err);
/* whole.c: nodes and sockets, by their medians; of cells that no suspect which is there,
 * settled, explains. */
int cs_wholes_find(const struct cs_spots *spots, struct cs_vec *suspects,
		   struct cs_err *err);
/* signs.c: what facts and known patterns say, and causes of what is there. */
int cs_signs_find(const struct cs_spots *spots, struct cs_vec *suspects,
		  struct cs_err *err);
void cs_signs_explain(const struct cs_run *run, struct cs_vec *suspects);
/* below.c: of cells of which no suspect that is there, settled, says anything. */
int cs_below_find(const struct cs_spots *spots, struct cs_vec *suspects,
		  struct cs_err *err);
/* again.c: what came of a second look. */
int cs_again_judge(const struct cs_spots *spots, struct cs_vec *suspects,
		   struct cs_err *err);
/* cells.c: is there anything to judge, and all that is suspicious. */
int cs_cells_are_judged(const struct cs_run *run);
int cs_suspects_find(struct cs_run *run, struct cs_spots *spots,
		     struct cs_vec *suspects, struct cs_err *err);
/* word.c: " -s 256M", as it was asked for; "" of a test that has its own size. */
struct cs_phrase cs_view_options(const struct cs_row *row);
/* What came of a second look, behind what was found; a suspect as a finding. */
const char *cs_look_text(enum cs_look look);
int cs_suspect_tell(struct cs_run *run, struct cs_suspect *suspect,
		    struct cs_err *err);
/* How many cells of each node could not be judged, as notes. */
int cs_unsure_tell(struct cs_run *run, const struct cs_spots *spots,
		   struct cs_err *err);

/* suspect.c: is that cell one of those that it is about? */
int cs_suspect_bears(const struct cs_run *run, const struct cs_suspect *suspect,
		     const struct cs_row *row);
/* Is one of n about what the row is of: the same part and family? */
int cs_suspects_bear_on(const struct cs_suspect *suspect, size_t n,
			const struct cs_row *row);
/* Behind those of the node of the i-th. */
size_t cs_suspects_node_end(const struct cs_vec *suspects, size_t i);
/* Append it. */
int cs_suspect_add(struct cs_vec *suspects, const struct cs_suspect *suspect,
		   struct cs_err *err);
/* The first of those that are settled whose node is not before this one. */
size_t cs_suspects_first(const struct cs_vec *suspects, int node);
/* One of each part and family, in order of nodes. */
void cs_suspects_settle(struct cs_vec *suspects);
/* What all GPUs of a node share, of one cause and in one state, as one of the node. */
void cs_suspects_unite(const struct cs_run *run, struct cs_vec *suspects);
/* Name one more row, and how slow it is; what has no room is left out. */
void cs_suspect_row(struct cs_suspect *suspect, uint32_t at, double off);

#endif
