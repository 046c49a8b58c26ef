/* show.c - cscope-mpi show FILE[:NODE]: a run that a file holds, in any format. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "file/load.h"
#include "result/cut.h"
#include "result/redact.h"

static int cut_node(struct cs_run *run, const char *name, struct cs_err *err)
{
	int node = cs_run_node_named(run, name, err);

	if (node < 0)
		return CS_EXIT_USAGE;
	return cs_run_cut_node(run, node, err) ? CS_EXIT_CANNOT : 0;
}

/* A name with ':' in it may be a file's all the same. */
static int load(const char *name, struct cs_loaded *loaded, struct cs_err *err)
{
	const char *colon = strrchr(name, ':');
	char *file;
	int status;

	if (!colon || access(name, F_OK) == 0)
		return cs_loaded_read(name, loaded, err);
	file = strndup(name, (size_t)(colon - name));
	if (!file) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	status = cs_loaded_read(file, loaded, err);
	if (!status) {
		status = cut_node(&loaded->run, colon + 1, err);
		if (status) {
			cs_err_prefix(err, "%s", file);
			cs_loaded_release(loaded);
		}
	}
	free(file);
	return status;
}

static int cut(const struct cs_options *opt, struct cs_run *run, struct cs_err *err)
{
	run->compact = opt->compact;
	memcpy(run->only, opt->only, sizeof(run->only));
	if (run->only[0][0] && cs_run_cut_cells(run, err))
		return cs_err_prefix(err, "%s", opt->file);
	return 0;
}

int cs_command_show(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_redact redact;
	struct cs_loaded loaded;
	int status = load(opt->file, &loaded, err);

	if (status)
		return status;
	cs_redact_init(&redact);
	if (opt->redact && cs_redact_run(&redact, &loaded.run, err))
		status = CS_EXIT_CANNOT;
	else if (cut(opt, &loaded.run, err))
		status = CS_EXIT_USAGE;
	else
		status = cs_command_write(opt, &loaded.run, to, err);
	cs_redact_release(&redact);
	cs_loaded_release(&loaded);
	return status;
}
