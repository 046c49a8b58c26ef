#include "config.h"

#include "command/command.h"

#include <gnu/libc-version.h>

#include "base/print.h"
#include "file/document.h"

/* Map a print result to an exit status, with `err`. */
static int printed(int rc, FILE *to, struct cs_err *err)
{
	if (!rc && !fflush(to))
		return CS_EXIT_OK;
	if (err->text[0])
		return CS_EXIT_USAGE;
	cs_err_set(err, "cannot write to standard output");
	return CS_EXIT_CANNOT;
}

static int help(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	return printed(cs_options_help(to, opt->command, opt->help), to, err);
}

static int list(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	if (opt->their_sizes)
		return cs_command_names(opt, to, err);
	return printed(opt->of_nvbandwidth ?
			       cs_nvbandwidth_list(to, PACKAGE_VERSION, CS_COMMIT) :
			       cs_report_list(to, opt->list, err),
		       to, err);
}

static int explain(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	return printed(cs_report_explain(to, opt->explain, err), to, err);
}

static cs_command_fn *const command[] = {
	[CS_ACTION_HELP] = help,
	[CS_ACTION_VERSION] = cs_command_version,
	[CS_ACTION_LIST] = list,
	[CS_ACTION_DRY_RUN] = cs_command_dry_run,
	[CS_ACTION_EXPLAIN] = explain,
	[CS_ACTION_SHOW] = cs_command_show,
	[CS_ACTION_COMPARE] = cs_command_compare,
	[CS_ACTION_CHECK] = cs_command_check,
	[CS_ACTION_BASELINE] = cs_command_baseline,
	[CS_ACTION_LEARN] = cs_command_learn,
	[CS_ACTION_WAIVE] = cs_command_waive,
};

int cs_command_run(const struct cs_call *call)
{
	struct cs_err err = { "" };
	int status;

	cs_page_turn(cs_command_page(call->opt, call->launcher.present, call->to));
	if (call->opt->action == CS_ACTION_MEASURE)
		return cs_command_measure(call);
	/* only the first rank of a job answers */
	if (call->launcher.rank > 0)
		return CS_EXIT_OK;
	status = cs_command_do(command[call->opt->action], call->opt, call->to, &err);
	if (err.text[0])
		cs_complain(err.text);
	return status;
}

/* ---- --version ---- */

/* All that a ticket needs and that can be known without MPI or a GPU. */
int cs_command_version(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	char mpi[512], hwloc[64];

	(void)opt;
	cs_comm_library(mpi, sizeof(mpi));
	cs_topo_library(hwloc, sizeof(hwloc));
	cs_print_line(to, "cscope-mpi %s%s%s", PACKAGE_VERSION,
		      *CS_COMMIT ? " commit " : "", CS_COMMIT);
	cs_print_line(to, "compiler  %s", CS_COMPILER);
	cs_print_line(to, "CUDA      %s", CS_CUDA_SAYS);
	cs_print_line(to, "MPI       %s", mpi);
	cs_print_line(to, "hwloc     %s", hwloc);
	cs_print_line(to, "jansson   %s", cs_json_library());
	cs_print_line(to, "libc      glibc %s", gnu_get_libc_version());
	return printed(ferror(to), to, err);
}
