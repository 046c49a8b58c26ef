/* finding.h - a finding, and the catalogue of all findings (findings.def).
 *
 * Code names a finding by its enum; only src/file/ writes and reads the text of an
 * id, and views show it.  All may call it. */
#pragma once

#include "base/err.h"
#include "base/facts.h"
#include "base/vec.h"

enum cs_severity { CS_NOTE, CS_WARNING, CS_CRITICAL };

#define FINDING(name, ...) CS_FINDING_##name,
enum cs_finding_id {
	CS_FINDING_OTHER, /* of a file that another version wrote */
#include "result/findings.def"
	CS_FINDINGS
};
#undef FINDING

/* Result of the re-measurement of a finding's figures. */
enum cs_remeasured {
	CS_REMEASURED_NONE,
	CS_REMEASURED_CONFIRMED,
	CS_REMEASURED_NOT_CONFIRMED,
	CS_REMEASURED_UNSURE, /* its figures allow no verdict */
};

#define CS_EVIDENCE 8 /* rows that a finding names at most */
#define CS_FINDING_TEXT 32 /* an id as text */
#define CS_SERIES 12	  /* points of a series at most */

/* A figure over dates, to be drawn. */
struct cs_series {
	uint32_t n;
	int32_t is_share; /* y is in percent */
	struct cs_series_point {
		int32_t day; /* since 1970 */
		double y;    /* as its text has it */
	} at[CS_SERIES];
};

/* One problem or finding, worded for a person. */
struct cs_finding {
	enum cs_finding_id id;
	char other[CS_FINDING_TEXT]; /* the id of CS_FINDING_OTHER, as the file has it */
	uint32_t severity;	     /* enum cs_severity */
	int32_t node;		     /* -1: the job */
	int32_t check;		   /* 1: a judgement, which counts under --check only;
				 * 0: something went wrong */
	int32_t drain;		   /* 1: nothing should run on the node */
	char part[8];		   /* "gpu", "link", "socket", "node"; "" none */
	char bus_id[CS_BUSID];	   /* of the GPU; "" none or several */
	char far_bus_id[CS_BUSID]; /* of a link: the GPU at its other end; "" */
	uint64_t gpus; /* of a node: agents of it that it is about, as bits; 0: not some */
	/* The same text for all nodes that have the finding, without the node's
	 * name, so that equal ones can be reported as one. */
	char text[CS_ERR_TEXT];
	char next[CS_ERR_TEXT];	     /* recommended action; "" */
	char remeasure[CS_ERR_TEXT]; /* our command that repeats just these cells; "" */
	char elsewhere[CS_ERR_TEXT]; /* does it stay with node, GPU or job? "" */
	struct cs_series series;     /* of a trend; else of no points */
	int32_t of_figures;	     /* based on figures, which were … */
	uint32_t remeasured;	     /* … again: enum cs_remeasured */
	double confidence;	     /* 0 to 1, of a judgement; 0 none */
	uint32_t n_evidence;
	uint32_t evidence[CS_EVIDENCE]; /* rows of the run, the most informative first */
};

/* A finding: CS_FOUND(CS_WARNING, node, CS_FINDING_IN_USE, .part = "node"); node -1: the
 * run. */
#define CS_FOUND(severity_, node_, id_, ...) \
	(struct cs_finding) { .severity = severity_, .node = node_, .id = id_, ##__VA_ARGS__ }

/* Parts that a finding can report; bits. */
enum cs_finding_part {
	CS_FINDING_NO_PART = 1,
	CS_FINDING_GPU = 2,
	CS_FINDING_LINK = 4,
	CS_FINDING_SOCKET = 8,
	CS_FINDING_NODE = 16,
};

/* Properties of all findings of an id; bits, see findings.def. */
enum cs_finding_flag {
	CS_FINDING_DRAINS = 1,
	CS_FINDING_OF_CRITERIA = 2,
	CS_FINDING_OF_CELLS = 4,
	CS_FINDING_OF_QUALITY = 8,
	CS_FINDING_OF_SCOPE = 16,
};

/* A line of the catalogue; findings.def describes its fields. */
struct cs_finding_line {
	const char *id;
	uint32_t severities;		      /* 1 << enum cs_severity */
	uint32_t parts;			      /* enum cs_finding_part */
	uint32_t flags;			      /* enum cs_finding_flag */
	int hint;			      /* enum cs_hint_id; -1 none */
	const char *means, *next, *elsewhere; /* "" none */
};

/* NULL of CS_FINDING_OTHER. */
const struct cs_finding_line *cs_finding_line(enum cs_finding_id id);
/* CS_FINDING_OTHER: there is none of that name. */
enum cs_finding_id cs_finding_find(const char *text);
/* Recommended action: the catalogue's text and the hint's. */
void cs_finding_next(enum cs_finding_id id, char *to, size_t size);
/* Whose fault an error of the driver is, which a text names: CUDA_ERROR_... */
enum cs_blame {
	CS_BLAME_NONE, /* it names none */
	CS_BLAME_USE, /* others hold the GPU or its memory, or its settings are at fault */
	CS_BLAME_DEVICE, /* the GPU's, or its driver's */
};
enum cs_blame cs_blame_of(const char *text);
/* Set it, and the way to find the faulty part, in a finding that has its id. */
void cs_finding_advise(struct cs_finding *finding);

/* The id as files and views have it. */
const char *cs_finding_text(const struct cs_finding *finding);
/* The id that a file has, known or not. */
void cs_finding_read(struct cs_finding *finding, const char *text);
/* By id, as texts are sorted; 0: they are of one id. */
int cs_finding_order(const struct cs_finding *a, const struct cs_finding *b);
/* Has its line that flag? */
int cs_finding_has(const struct cs_finding *finding, enum cs_finding_flag flag);
/* The word of a note that is not about the machine and is not counted: "uncertain" figures,
 * cells "left out" without an error.  NULL for any other finding. */
const char *cs_finding_aside(const struct cs_finding *finding);
/* Are severity, part and drain among those that its line allows?  True of another
 * version's. */
int cs_finding_fits(const struct cs_finding *finding);

/* Rows have moved: to[i] is the new position of the i-th, -1 none. */
void cs_findings_follow(struct cs_vec *findings, const int64_t *to);
/* Append a copy. */
int cs_finding_add(struct cs_vec *findings, const struct cs_finding *finding,
		   struct cs_err *err);

/* "2026-08-01 100.0 %, 2026-08-04 99.7 %"; in the arena. */
const char *cs_series_text(const struct cs_series *series);
/* Points of another form, and those after them, are left out. */
void cs_series_read(const char *text, struct cs_series *series);
/* "2026-08-01"; in the arena. */
const char *cs_day_text(double day);
