/* waive.c - the command line of nvbandwidth if nothing can be measured, its list, and
 * its statuses. */
#include "config.h"

#include <unistd.h>

#include "command/command.h"

int cs_command_waive(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_run_node node = { .facts.host = "" };
	struct cs_run run = { .version = PACKAGE_VERSION,
			      .commit = CS_COMMIT,
			      .build = CS_BUILD,
			      .backend = "cuda",
			      .findings = CS_VEC(struct cs_finding),
			      .n_nodes = 1,
			      .node = &node };
	int rc;

	cs_rows_init(&run.rows);
	gethostname(node.facts.host, sizeof(node.facts.host) - 1);
	rc = cs_format_write(opt->format, to, &run, &opt->view) || fflush(to);
	cs_rows_release(&run.rows);
	if (!rc)
		return CS_EXIT_OK;
	cs_err_set(err, "cannot write the report to standard output");
	return CS_EXIT_CANNOT;
}

/* As nvbandwidth has them: 1 is every failure, and a test that is waived or unknown is
 * none.  The supervisor maps what the measuring process has mapped. */
int cs_command_status(const struct cs_options *opt, int status)
{
	return opt->of_nvbandwidth && status < 128 ? status != CS_EXIT_OK : status;
}
