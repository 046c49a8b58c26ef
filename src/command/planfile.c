#include "command/planfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "file/input.h"
#include "plan/file.h"

static int check(const struct cs_options *opt, const char *text,
		 enum cs_backend_kind backend, struct cs_err *err)
{
	struct cs_plan_request req = { .set = opt->set };

	cs_settings_default(&req.set, backend);
	return cs_plan_file_check(text, opt->plan, &req, err);
}

/* Names of either backend will do until the backend is known. */
static int check_any(const struct cs_options *opt, const char *text,
		     struct cs_err *err)
{
	int cpu = opt->backend == CS_WANT_CPU;

	if (!check(opt, text, cpu ? CS_BACKEND_CPU : CS_BACKEND_CUDA, err))
		return 0;
	return opt->backend == CS_WANT_AUTO && !check(opt, text, CS_BACKEND_CPU, NULL) ?
		       0 :
		       -1;
}

int cs_planfile_open(const struct cs_options *opt, char **text, struct cs_err *err)
{
	FILE *from = cs_input_open(opt->plan, cs_input_wait_s(opt->budget_s), err);
	int rc = from ? cs_table_load(from, text, err) : -1;

	if (from)
		fclose(from);
	if (rc)
		return cs_err_prefix(err, "--plan '%s'", opt->plan);
	if (!check_any(opt, *text, err))
		return 0;
	free(*text);
	*text = NULL;
	return -1;
}
