#include "config.h"

#include "job/placement.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggestion.h"

static int parse_one(const char *word, int *per_process, struct cs_err *err)
{
	struct cs_suggestion near = { .typed = word };
	char *end;
	long n;

	if (!strcmp(word, "process"))
		n = 1;
	else if (!strcmp(word, "thread"))
		n = CS_PER_NODE;
	else {
		n = strtol(word, &end, 10);
		if (*word < '1' || *word > '9' || *end || n > CS_MAX_AGENTS) {
			cs_suggest(&near, "process");
			cs_suggest(&near, "thread");
			cs_err_set(err,
				   "allowed are process, thread, and GPUs per process from 1 to %d",
				   CS_MAX_AGENTS);
			return cs_suggestion_add(&near, err);
		}
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
		return cs_err_set(err, "at most %d placements", CS_SIDES_MAX);
	cs_text(copy, sizeof(copy), "%s", list);
	while ((item = strsep(&rest, ","))) {
		if (got.n == CS_SIDES_MAX)
			return cs_err_set(err, "at most %d placements", CS_SIDES_MAX);
		if (parse_one(item, &got.per_process[got.n], err))
			return -1;
		for (int i = 0; i < got.n; i++)
			if (got.per_process[i] == got.per_process[got.n])
				return cs_err_set(err, "%s is there twice", item);
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
static void divide(struct cs_placement *side, int each, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (i % each == 0) {
			side->maker[side->n_processes] = owner[i];
			side->first[side->n_processes++] = i;
		}
	side->first[side->n_processes] = n;
}

/* As the ranks are: a process for every run of one owner. */
static void as_launched(struct cs_placement *side, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (!i || owner[i] != owner[i - 1]) {
			side->maker[side->n_processes] = owner[i];
			side->first[side->n_processes++] = i;
		}
	side->first[side->n_processes] = n;
	side->native = 1;
}

/* Do the ranks divide the agents in this way, each rank one process? */
static int is_native(const struct cs_placement *side, const int *owner)
{
	for (int p = 0; p < side->n_processes; p++) {
		for (int i = side->first[p]; i < side->first[p + 1]; i++)
			if (owner[i] != side->maker[p])
				return 0;
		for (int q = 0; q < p; q++)
			if (side->maker[q] == side->maker[p])
				return 0;
	}
	return 1;
}

int cs_sides_of(const struct cs_placements *wanted, const int *owner, int n,
		struct cs_placement side[CS_SIDES_MAX], struct cs_err *err)
{
	memset(side, 0, CS_SIDES_MAX * sizeof(*side));
	if (!wanted->n) {
		as_launched(&side[0], owner, n);
		return 1;
	}
	for (int k = 0; k < wanted->n; k++) {
		int each = wanted->per_process[k];

		if (each == CS_PER_NODE || each > n)
			each = n > 0 ? n : 1;
		name_of(wanted->per_process[k], side[k].name);
		divide(&side[k], each, owner, n);
		side[k].native = is_native(&side[k], owner) && (n > 1 || !k);
		for (int i = 0; i < k && n > 1; i++)
			if (side[i].n_processes == side[k].n_processes &&
			    !memcmp(side[i].first, side[k].first,
				    sizeof(side[k].first)))
				return cs_err_set(
					err,
					"--placement: '%s' and '%s' are the same on %d GPUs",
					side[i].name, side[k].name, n);
	}
	return wanted->n;
}
