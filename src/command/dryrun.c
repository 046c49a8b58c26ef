/* dryrun.c - --dry-run: the plan of a run, without MPI or a GPU. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/print.h"
#include "command/command.h"
#include "command/resume.h"
#include "file/input.h"
#include "plan/file.h"

static int read_plan(const struct cs_options *opt, const struct cs_plan_request *req,
		     struct cs_plan **out, struct cs_err *err)
{
	char *text = NULL;
	int rc = cs_planfile_open(opt, &text, err) ||
		 cs_plan_file_read(text, opt->plan, req, out, err);

	free(text);
	return rc ? -1 : 0;
}

/* For --plan. */
static int write_plan(FILE *to, const struct cs_format *format, const void *what)
{
	const struct cs_plan *plan = what;

	(void)format;
	cs_print_line(to,
		      "# cscope-mpi %s: a plan for %" PRIu32 " %ss, id %016" PRIx64,
		      PACKAGE_VERSION, plan->n_agents,
		      plan->set.backend == CS_BACKEND_CPU ? "arena" : "GPU", plan->id);
	cs_plan_file_write(to, plan);
	return ferror(to) ? -1 : 0;
}

static int make_plan(const struct cs_options *opt, struct cs_plan **out,
		     struct cs_err *err)
{
	struct cs_choices chosen;
	struct cs_plan_request req = { .set = opt->set,
				       .vary = opt->vary,
				       .chosen = &chosen };
	enum cs_backend_kind backend = opt->backend == CS_WANT_CPU ? CS_BACKEND_CPU :
								     CS_BACKEND_CUDA;
	struct cs_topo *topo;

	cs_settings_default(&req.set, backend);
	if (cs_topo_open(secure_getenv("CS_TEST_TOPOLOGY"), &topo, err))
		return -1;
	cs_settings_numa(&req.set, topo);
	cs_topo_close(topo);
	req.n_agents = cs_gpu_list_count(&opt->gpus);
	if (!req.n_agents)
		return cs_err_set(err, "--dry-run needs --gpus COUNT, e.g. --gpus 8");
	if (opt->plan)
		return read_plan(opt, &req, out, err);
	chosen.n = 0;
	if (cs_options_choose(opt, backend, &chosen, err))
		return -1;
	req.set.numa |= cs_choices_numa(&chosen);
	if (req.set.filter[0] || cs_choices_name_cells(&chosen))
		req.set.gpus = cs_gpu_list_numbers(&opt->gpus);
	if (req.n_agents == 1)
		cs_options_choose_lone(opt, backend, &chosen);
	return cs_plan_build(&req, out, err);
}

static int show_plan(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	const struct cs_run none = { .n_nodes = 0 };
	struct cs_plan *plan = NULL;
	int status;

	if (make_plan(opt, &plan, err))
		return CS_EXIT_USAGE;
	status = cs_command_files(opt, &none, write_plan, plan);
	if (!opt->quiet &&
	    (cs_report_plan(to, plan, opt->plan, opt->view.verbose) || fflush(to))) {
		cs_err_set(err, "cannot write to standard output");
		status = CS_EXIT_CANNOT;
	}
	free(plan);
	return status;
}

int cs_command_dry_run(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_options mine = *opt;
	struct cs_resume resume = { .file = NULL };
	int status = opt->resume ? cs_resume_open(&resume, &mine, err) : 0;

	if (status)
		return status;
	if (!mine.seeded)
		mine.set.seed = cs_command_seed();
	status = show_plan(&mine, to, err);
	cs_resume_release(&resume);
	return status;
}

/* ---- the file that --plan names ---- */

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
