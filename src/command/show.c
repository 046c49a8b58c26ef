/* show.c - cscope-mpi show FILE[:NODE]: a run that a file holds, in any format. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "command/command.h"
#include "result/cut.h"

/* A name with ':' in it may be a file's all the same. */
static struct cs_run *load(const char *name)
{
	const char *colon = access(name, F_OK) ? strrchr(name, ':') : NULL;
	const char *file = colon ? cs_new_text("%.*s", (int)(colon - name), name) :
				   name;
	struct cs_run *run = &cs_command_load(file)->run;
	struct cs_err err;
	int node;

	if (!colon)
		return run;
	node = cs_run_node_named(run, colon + 1, &err);
	if (node < 0)
		cs_command_refuse("%s: %s", file, err.text);
	if (cs_run_cut_node(run, node, &err))
		cs_arena_give_up(&err);
	return run;
}

static void cut(const struct cs_options *opt, struct cs_run *run)
{
	struct cs_err err;

	run->compact = opt->compact;
	run->workload = opt->workload;
	memcpy(run->only, opt->only, sizeof(run->only));
	if (run->only[0][0] && cs_run_cut_cells(run, &err))
		cs_command_refuse("%s: %s", opt->file, err.text);
}

int cs_command_show(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_run *run = load(opt->file);

	run->is_repeated = cs_run_is_judged(run) &&
			   strcmp(run->version, PACKAGE_VERSION) != 0;
	cs_criteria_apply(cs_command_criteria(opt), run);
	if (opt->redact)
		cs_command_redact(run);
	cut(opt, run);
	return cs_command_write(opt, run, to, err);
}
