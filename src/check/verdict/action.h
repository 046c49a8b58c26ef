/* action.h - what a person should do about a run: findings grouped by fault.  Pure.
 *
 * One fault is one line, however many findings and cells show it.  The findings of
 * one GPU are one line, together with those of cells that all involve this GPU.  A
 * finding that all GPUs of a node have is one line for all. */
#pragma once

#include "result/run.h"

enum cs_action_kind {
	CS_ACTION_NONE,	 /* how far the measurement can be trusted */
	CS_ACTION_WATCH, /* to be looked at when there is time */
	CS_ACTION_DRAIN, /* run nothing on the node */
	CS_ACTIONS
};

struct cs_action {
	enum cs_action_kind kind;
	int node;			  /* -1: the job */
	const struct cs_finding *finding; /* the gravest of it */
	const struct cs_finding *counters; /* error counters that grew meanwhile; NULL */
	uint64_t gpus; /* bits, of agents; 0: no GPU, or one that no agent drives */
	uint32_t findings; /* how many are of this fault */
};

/* The actions for a judged run, the gravest first, then by node: a list of struct cs_action
 * in the arena, valid as long as the findings are. */
struct cs_vec cs_actions_find(const struct cs_run *run);

/* "none", "watch", "drain" */
const char *cs_action_text(enum cs_action_kind kind);
/* Is it of several GPUs, and not of a link? */
int cs_action_is_of_several(const struct cs_action *action);
/* These: "GPU 0 (0000:1b:00.0, serial 165…), GPU 1 (…)"; "" it is not. */
const char *cs_action_gpus(const struct cs_run *run, const struct cs_action *action);
/* Its part: "GPU 3 (0000:4d:00.0, serial 165…)", "GPU 2 (…) and GPU 5 (…)",
 * "GPUs 0-7", "node". */
const char *cs_action_part(const struct cs_run *run, const struct cs_action *action);
/* The text of its finding: the fault, by how much and how surely. */
const char *cs_action_what(const struct cs_action *action);
