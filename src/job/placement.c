#include "config.h"

#include "job/placement.h"

#include <stdlib.h>
#include <string.h>

static int parse_one(const char *word, int *per_process, struct cs_err *err)
{
	char *end;
	long n;

	if (!strcmp(word, "process"))
		n = 1;
	else if (!strcmp(word, "thread"))
		n = CS_PER_NODE;
	else {
		n = strtol(word, &end, 10);
		if (*word < '1' || *word > '9' || *end || n > CS_MAX_AGENTS)
			return cs_err_set(err,
					  "allowed are process, thread, and GPUs per process from 1 to %d",
					  CS_MAX_AGENTS);
	}
	*per_process = (int)n;
	return 0;
}

int cs_placements_parse(const char *list, struct cs_placements *out,
			struct cs_err *err)
{
	struct cs_placements got = { 0 };
	char copy[64], *item, *rest = copy;

	if (strlen(list) >= sizeof(copy))
		return cs_err_set(err, "at most %d placements", CS_ARMS_MAX);
	cs_text(copy, sizeof(copy), "%s", list);
	while ((item = strsep(&rest, ","))) {
		if (got.n == CS_ARMS_MAX)
			return cs_err_set(err, "at most %d placements",
					  CS_ARMS_MAX);
		if (parse_one(item, &got.per_process[got.n], err))
			return -1;
		for (int i = 0; i < got.n; i++)
			if (got.per_process[i] == got.per_process[got.n])
				return cs_err_set(err, "%s is there twice",
						  item);
		got.n++;
	}
	*out = got;
	return 0;
}

static void name_of(int per_process, char name[CS_PLACEMENT])
{
	if (per_process == CS_PER_NODE)
		cs_text(name, CS_PLACEMENT, "thread");
	else if (per_process == 1)
		cs_text(name, CS_PLACEMENT, "process");
	else
		cs_text(name, CS_PLACEMENT, "%d per process", per_process);
}

/* Contiguous runs of agents, `each` to a process. */
static void divide(struct cs_placement *arm, int each, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (i % each == 0) {
			arm->maker[arm->n_processes] = owner[i];
			arm->first[arm->n_processes++] = i;
		}
	arm->first[arm->n_processes] = n;
}

/* As the ranks are: a process for every run of one owner. */
static void as_launched(struct cs_placement *arm, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (!i || owner[i] != owner[i - 1]) {
			arm->maker[arm->n_processes] = owner[i];
			arm->first[arm->n_processes++] = i;
		}
	arm->first[arm->n_processes] = n;
	arm->native = 1;
}

/* Do the ranks divide the agents in this way, each rank one process? */
static int is_native(const struct cs_placement *arm, const int *owner)
{
	for (int p = 0; p < arm->n_processes; p++) {
		for (int i = arm->first[p]; i < arm->first[p + 1]; i++)
			if (owner[i] != arm->maker[p])
				return 0;
		for (int q = 0; q < p; q++)
			if (arm->maker[q] == arm->maker[p])
				return 0;
	}
	return 1;
}

int cs_arms_of(const struct cs_placements *wanted, const int *owner, int n,
	       struct cs_placement arm[CS_ARMS_MAX], struct cs_err *err)
{
	memset(arm, 0, CS_ARMS_MAX * sizeof(*arm));
	if (!wanted->n) {
		as_launched(&arm[0], owner, n);
		return 1;
	}
	for (int k = 0; k < wanted->n; k++) {
		int each = wanted->per_process[k];

		if (each == CS_PER_NODE || each > n)
			each = n > 0 ? n : 1;
		name_of(wanted->per_process[k], arm[k].name);
		divide(&arm[k], each, owner, n);
		arm[k].native = is_native(&arm[k], owner) && (n > 1 || !k);
		for (int i = 0; i < k && n > 1; i++)
			if (arm[i].n_processes == arm[k].n_processes &&
			    !memcmp(arm[i].first, arm[k].first,
				    sizeof(arm[k].first)))
				return cs_err_set(err,
						  "--placement: '%s' and '%s' are the same on %d GPUs",
						  arm[i].name, arm[k].name, n);
	}
	return wanted->n;
}
