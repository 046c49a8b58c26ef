#include "file/loaded.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "catalogue/catalogue.h"

/* ---- JSON of records ---- */

static _Thread_local int reading;

/* One by one, pieces took half of the time of reading. */
static void *take(size_t bytes)
{
	return reading ? cs_arena_take(bytes, 1) : malloc(bytes);
}

static void give_back(void *piece)
{
	if (!reading)
		free(piece);
}

/* jansson must have them, and the seed of its hashes, before there are threads. */
void cs_loaded_begin(void)
{
	static int begun;

	if (begun)
		return;
	begun = 1;
	json_object_seed(0);
	json_set_alloc_funcs(take, give_back);
}

void cs_loaded_reading(int reads)
{
	cs_loaded_begin();
	reading = reads;
}

const json_t *cs_loaded_keep(struct cs_loaded *to, const json_t *record)
{
	const int was = reading;
	json_t *copy;
	int rc;

	reading = 0;
	if (!to->texts)
		to->texts = json_array();
	copy = json_deep_copy(record);
	rc = json_array_append_new(to->texts, copy);
	reading = was;
	cs_arena_check(rc);
	return copy;
}

/* ---- the run ---- */

/* Is it one of the names, "peer.a, peer.b"? */
static int is_named(const char *names, const char *name)
{
	const size_t length = strlen(name);

	for (; *names; names += strcspn(names, ","), names += strspn(names, ", "))
		if (!strncmp(names, name, length) && strchr(",", names[length]))
			return 1;
	return 0;
}

int cs_loaded_test(struct cs_loaded *to, const char *name)
{
	const int test = cs_test_index(name);

	if (test < 0 && !is_named(to->unknown, name))
		cs_text_add(to->unknown, sizeof(to->unknown), "%s%.60s",
			    to->unknown[0] ? ", " : "", name);
	return test;
}

int cs_loaded_nodes(struct cs_loaded *to, int n, struct cs_err *err)
{
	if (to->run.node && n == to->run.n_nodes)
		return 0; /* of a journal that is continued */
	if (cs_rows_count(&to->run.rows))
		return cs_err_set(err, "a run on %d nodes continues one on %d", n,
				  to->run.n_nodes);
	cs_run_release_nodes(&to->run);
	free(to->agents_seen);
	to->run.node = calloc((size_t)n + 1, sizeof(*to->run.node));
	to->agents_seen = calloc((size_t)n + 1, sizeof(*to->agents_seen));
	if (!to->run.node || !to->agents_seen)
		return cs_err_set(err, "no memory for %d nodes", n);
	for (int i = 0; i < n; i++)
		cs_node_facts_init(&to->run.node[i].facts);
	to->run.n_nodes = n;
	return 0;
}

void cs_loaded_release(struct cs_loaded *loaded)
{
	if (!loaded)
		return;
	cs_run_release_nodes(&loaded->run);
	free(loaded->agents_seen);
	free((void *)(uintptr_t)loaded->run.plan);
	free(loaded->argv);
	free(loaded->chosen);
	cs_rows_release(&loaded->run.rows);
	cs_rows_release(&loaded->run.all);
	cs_vec_release(&loaded->run.findings);
	json_decref(loaded->texts);
	memset(loaded, 0, sizeof(*loaded));
}
