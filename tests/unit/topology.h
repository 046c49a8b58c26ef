/* topology.h - machines of tests/fixtures, and this one. */
#ifndef CS_TESTS_TOPOLOGY_H
#define CS_TESTS_TOPOLOGY_H

#include "system/system.h"
#include "tap.h"

static inline void close_topology(void *topo)
{
	cs_topo_close(topo);
}

/* Closed after the test; NULL: this machine. */
static inline struct cs_topo *topology(const char *name)
{
	const char *folder = getenv("TESTDATA");
	struct cs_topo *topo = NULL;
	struct cs_err err = { "" };
	char path[512];

	cs_text(path, sizeof(path), "%s/fixtures/%s", folder ? folder : "tests",
		name ? name : "");
	if (cs_topo_open(name ? path : NULL, &topo, &err))
		printf("# %s\n", err.text);
	t_must(topo != NULL);
	t_at_end(close_topology, topo);
	return topo;
}

#endif
