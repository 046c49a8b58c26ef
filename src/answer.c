#include "config.h"

#include "answer.h"

#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/print.h"
#include "file/document.h"
#include "job/team.h"
#include "place/place.h"
#include "plan/file.h"
#include "planfile.h"

static int read_plan(const struct cs_options *opt,
		     const struct cs_plan_request *req, struct cs_plan **out,
		     struct cs_err *err)
{
	char *text = NULL;
	int rc = cs_planfile_open(opt, &text, err) ||
		 cs_plan_file_read(text, opt->plan, req, out, err);

	free(text);
	return rc ? -1 : 0;
}

/* For --plan. */
static int write_plans(const struct cs_options *opt, const struct cs_plan *plan,
		       struct cs_err *err)
{
	const struct cs_run none = { .n_nodes = 0 };
	struct cs_output out;

	for (int i = 0; i < opt->n_outputs; i++) {
		if (cs_output_open(&out, opt->output[i], &none, err))
			return -1;
		cs_print_line(out.file, "# cscope-mpi %s: a plan for %" PRIu32
			      " %ss, id %016" PRIx64, PACKAGE_VERSION, plan->n_agents,
			      plan->set.backend == CS_BACKEND_CPU ? "arena" : "GPU",
			      plan->id);
		cs_plan_file_write(out.file, plan);
		if (cs_output_close(&out, err))
			return -1;
	}
	return 0;
}

static int dry_run(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_plan_request req = { .set = opt->set };
	enum cs_backend_kind backend = opt->backend == CS_WANT_CPU ?
				       CS_BACKEND_CPU : CS_BACKEND_CUDA;
	struct cs_plan *plan = NULL;
	struct cs_topo *topo;
	char *chosen;
	size_t n;
	int rc = -1;

	cs_catalogue(&n);
	chosen = calloc(n, 1);
	if (!chosen)
		return cs_err_set(err, "no memory");
	cs_settings_default(&req.set, backend);
	if (cs_topo_open(NULL, &topo, err)) {
		free(chosen);
		return -1;
	}
	cs_settings_domains(&req.set, topo);
	cs_topo_close(topo);
	req.n_agents = cs_gpu_list_count(&opt->gpus);
	req.chosen = chosen;
	if (!req.n_agents)
		cs_err_set(err, "--dry-run needs --gpus COUNT, e.g. --gpus 8");
	else if (opt->plan)
		rc = read_plan(opt, &req, &plan, err);
	else if (!cs_options_choose(opt, backend, chosen, err)) {
		if (req.n_agents == 1)
			cs_options_choose_lone(opt, backend, chosen);
		rc = cs_plan_build(&req, &plan, err);
	}
	if (!rc)
		rc = write_plans(opt, plan, err) ||
		     (!opt->quiet &&
		      cs_report_plan(to, plan, opt->plan, opt->verbose)) ? -1 : 0;
	free(plan);
	free(chosen);
	return rc;
}

/* All that a ticket needs and that can be known without MPI or a GPU. */
static int print_version(FILE *to)
{
	char mpi[512], hwloc[64];

	cs_team_library(mpi, sizeof(mpi));
	cs_topo_library(hwloc, sizeof(hwloc));
	cs_print_line(to, "cscope-mpi %s%s%s", PACKAGE_VERSION,
		*CS_COMMIT ? " commit " : "", CS_COMMIT);
	cs_print_line(to, "compiler  %s", CS_COMPILER);
	cs_print_line(to, "CUDA      %s", CS_CUDA_SAYS);
	cs_print_line(to, "MPI       %s", mpi);
	cs_print_line(to, "hwloc     %s", hwloc);
	cs_print_line(to, "jansson   %s", cs_json_library());
	cs_print_line(to, "libc      glibc %s", gnu_get_libc_version());
	return ferror(to) ? -1 : 0;
}

static int answer(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	switch (opt->action) {
	case CS_ACTION_HELP:
		return cs_options_help(to, opt->command);
	case CS_ACTION_LIST:
		return cs_report_list(to);
	case CS_ACTION_EXPLAIN:
		return cs_report_explain(to, opt->explain, err);
	case CS_ACTION_VERSION:
		return print_version(to);
	default:
		return dry_run(opt, to, err);
	}
}

int cs_answer(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	if (opt->action == CS_ACTION_SHOW)
		return cs_show(opt, to, err);
	if (opt->action == CS_ACTION_COMPARE)
		return cs_compare_files(opt, to, err);
	if (opt->action == CS_ACTION_BASELINE)
		return cs_baseline_files(opt, to, err);
	if (opt->action == CS_ACTION_CHECK)
		return cs_check_files(opt, to, err);
	if (!answer(opt, to, err) && !fflush(to))
		return CS_EXIT_OK;
	if (err->text[0])
		return CS_EXIT_USAGE;
	cs_err_set(err, "cannot write to standard output");
	return CS_EXIT_CANNOT;
}
