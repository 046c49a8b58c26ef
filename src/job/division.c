#include "job/division.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

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

int cs_placement_list_parse(const char *list, struct cs_placement_list *out,
			    struct cs_err *err)
{
	struct cs_placement_list got = { 0 };
	char copy[64], *item, *rest = copy;

	if (strlen(list) >= sizeof(copy))
		return cs_err_set(err, "at most %d placements", CS_PLACEMENTS_MAX);
	cs_text(copy, sizeof(copy), "%s", list);
	while ((item = strsep(&rest, ","))) {
		if (got.n == CS_PLACEMENTS_MAX)
			return cs_err_set(err, "at most %d placements",
					  CS_PLACEMENTS_MAX);
		if (parse_one(item, &got.per_process[got.n], err))
			return -1;
		for (int i = 0; i < got.n; i++)
			if (got.per_process[i] == got.per_process[got.n])
				return cs_err_set(err, "%s is given twice", item);
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
static void divide(struct cs_placement *p, int each, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (i % each == 0) {
			p->maker[p->n_processes] = owner[i];
			p->first[p->n_processes++] = i;
		}
	p->first[p->n_processes] = n;
}

/* As the ranks are: a process for every run of one owner. */
static void as_launched(struct cs_placement *p, const int *owner, int n)
{
	for (int i = 0; i < n; i++)
		if (!i || owner[i] != owner[i - 1]) {
			p->maker[p->n_processes] = owner[i];
			p->first[p->n_processes++] = i;
		}
	p->first[p->n_processes] = n;
	p->native = 1;
}

/* Do the ranks divide the agents in this way, each rank one process? */
static int is_native(const struct cs_placement *p, const int *owner)
{
	for (int k = 0; k < p->n_processes; k++) {
		for (int i = p->first[k]; i < p->first[k + 1]; i++)
			if (owner[i] != p->maker[k])
				return 0;
		for (int i = 0; i < k; i++)
			if (p->maker[i] == p->maker[k])
				return 0;
	}
	return 1;
}

int cs_placement_divide(const struct cs_placement_list *wanted, const int *owner,
			int n, struct cs_placement p[CS_PLACEMENTS_MAX],
			struct cs_err *err)
{
	memset(p, 0, CS_PLACEMENTS_MAX * sizeof(*p));
	if (!wanted->n) {
		as_launched(&p[0], owner, n);
		return 1;
	}
	for (int k = 0; k < wanted->n; k++) {
		int each = wanted->per_process[k];

		if (each == CS_PER_NODE || each > n)
			each = n > 0 ? n : 1;
		name_of(wanted->per_process[k], p[k].name);
		divide(&p[k], each, owner, n);
		p[k].native = is_native(&p[k], owner) && (n > 1 || !k);
		for (int i = 0; i < k && n > 1; i++)
			if (p[i].n_processes == p[k].n_processes &&
			    !memcmp(p[i].first, p[k].first, sizeof(p[k].first)))
				return cs_err_set(
					err,
					"--placement: '%s' and '%s' are the same on %d GPUs",
					p[i].name, p[k].name, n);
	}
	return wanted->n;
}
