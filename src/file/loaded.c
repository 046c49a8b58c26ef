#include "file/loaded.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int cs_loaded_nodes(struct cs_loaded *to, int n, struct cs_err *err)
{
	int i;

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
	for (i = 0; i < n; i++)
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
