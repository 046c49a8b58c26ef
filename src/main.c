#include "config.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "check/check.h"
#include "job/job.h"
#include "job/signals.h"
#include "job/team.h"
#include "node/board.h"
#include "options.h"
#include "place/place.h"
#include "report/report.h"

/* Progress: silence at first, then now and then. */
#define PROGRESS_AFTER_S 5.0
#define PROGRESS_EVERY_S 10.0
#define PROGRESS_BAR_S 0.2

struct program {
	struct cs_options opt;
	struct cs_run run;
	struct cs_output output[CS_OUTPUTS_MAX];
	int n_outputs;
	FILE *out;		/* the product: what was descriptor 1 */
	double began_s, shown_s;
	uint32_t done, all;
	int ended;		/* the verdict stands */
	int bar;		/* a bar stands on the terminal's last line */
	size_t findings_told;	/* in the journals */
};

/* MPI libraries and UCX print to stdout: put descriptor 1 aside for the report,
 * and let all that others print go to stderr. */
static FILE *keep_stdout(void)
{
	int fd = fcntl(1, F_DUPFD_CLOEXEC, 3);

	fflush(stdout);
	if (fd < 0 || dup2(2, 1) < 0)
		return stdout;
	return fdopen(fd, "w");
}

static void complain(const char *what, const char *text)
{
	fprintf(stderr, "cscope-mpi: %s%s\n", what, text);
}

/* ---- progress ---- */

static void clear_bar(struct program *p)
{
	if (p->bar)
		fputs("\r\033[K", stderr);
	p->bar = 0;
}

static void show_state(void *ctx)
{
	struct program *p = ctx;
	double now = cs_clock_s() - p->began_s;

	clear_bar(p);
	fprintf(stderr, "cscope-mpi: %u of %u steps, %zu rows, %.0f s\n", p->done,
		p->all, cs_rows_count(&p->run.rows), now);
}

static void show_bar(struct program *p, double now)
{
	double left = p->done ? now / p->done * (p->all - p->done) : 0;
	int full = p->all ? (int)(30 * p->done / p->all) : 0;

	fprintf(stderr, "\r[%.*s%*s] %u/%u steps  %.1f/s  %.0f s left\033[K",
		full, "##############################", 30 - full, "", p->done,
		p->all, p->done / now, left);
	fflush(stderr);
	p->bar = 1;
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct program *p = ctx;
	double now = cs_clock_s() - p->began_s;
	int tty = isatty(2);

	p->done = done;
	p->all = all;
	if (p->opt.quiet || now < PROGRESS_AFTER_S ||
	    now - p->shown_s < (tty ? PROGRESS_BAR_S : PROGRESS_EVERY_S))
		return;
	p->shown_s = now;
	if (tty)
		show_bar(p, now);
	else
		show_state(p);
}

/* ---- journals grow as the run does ---- */

static void each_journal(struct program *p,
			 int (*write)(FILE *, const struct cs_run *, size_t),
			 size_t index)
{
	for (int i = 0; i < p->n_outputs; i++)
		if (p->output[i].in_place && p->output[i].file) {
			write(p->output[i].file, &p->run, index);
			fflush(p->output[i].file);
		}
}

static int journal_run(FILE *to, const struct cs_run *run, size_t index)
{
	(void)index;
	return cs_jsonl_run(to, run);
}

static int journal_node(FILE *to, const struct cs_run *run, size_t node)
{
	return cs_jsonl_node(to, run, (int)node);
}

static int journal_verdict(FILE *to, const struct cs_run *run, size_t index)
{
	(void)index;
	return cs_jsonl_verdict(to, run);
}

static int on_ready(void *ctx, struct cs_err *err)
{
	struct program *p = ctx;

	int rc = 0;

	for (int i = 0; i < p->opt.n_outputs && !rc; i++) {
		rc = cs_output_open(&p->output[i], p->opt.output[i], &p->run, err);
		p->n_outputs += !rc;
	}
	each_journal(p, journal_run, 0);
	return rc;
}

static void on_node(void *ctx, int node)
{
	each_journal(ctx, journal_node, (size_t)node);
}

static void on_row(void *ctx, size_t row)
{
	each_journal(ctx, cs_jsonl_row, row);
}

static void on_finding(void *ctx, size_t finding)
{
	struct program *p = ctx;

	each_journal(p, cs_jsonl_finding, finding);
	p->findings_told = finding + 1;
}

/* ---- the end of a run ---- */

static const char *severity_word(int exit_status)
{
	return exit_status == CS_EXIT_CRITICAL ? "critical: " :
	       exit_status == CS_EXIT_WARNING ? "warning: " : "";
}

/* The last word on stderr: why the status is not 0. */
static void say_verdict(const struct cs_run *run)
{
	char summary[CS_ERR_TEXT + CS_HOST];

	if (run->exit_status == CS_EXIT_OK)
		return;
	cs_run_summary(run, summary, sizeof(summary));
	fprintf(stderr, "cscope-mpi: %s%s (exit %d)\n",
		severity_word(run->exit_status), summary, run->exit_status);
}

/* The product.  -1 when it could not be written, which has been said. */
static int print_report(struct program *p)
{
	struct cs_view_options view = { p->opt.verbose };

	if (p->opt.quiet || (!p->opt.format->write(p->out, &p->run, &view) &&
			     !fflush(p->out)))
		return 0;
	complain("", "cannot write the report to standard output");
	return -1;
}

/* The same for files. */
static int finish_files(struct program *p)
{
	struct cs_view_options view = { p->opt.verbose };
	struct cs_err err;
	int rc = 0;

	for (size_t i = p->findings_told; i < p->run.findings.n; i++)
		each_journal(p, cs_jsonl_finding, i);
	each_journal(p, journal_verdict, 0);
	for (int i = 0; i < p->n_outputs; i++)
		if (cs_output_commit(&p->output[i], &p->run, &view, &err)) {
			complain("", err.text);
			rc = -1;
		}
	return rc;
}

static void end_run(struct program *p)
{
	p->ended = 1;
	clock_gettime(CLOCK_REALTIME, &p->run.ended);
	p->run.timings.total = cs_clock_s() - p->began_s;
	clear_bar(p);
}

static void add_finding(struct cs_run *run, enum cs_severity severity,
			const char *id, const char *text)
{
	struct cs_finding f = { .severity = severity, .node = -1 };
	struct cs_err err;

	cs_text(f.id, sizeof(f.id), "%s", id);
	cs_text(f.text, sizeof(f.text), "%s", text);
	cs_finding_add(&run->findings, &f, &err);
}

static void on_interrupted(void *ctx, int number)
{
	struct program *p = ctx;
	char text[80];

	if (p->ended) /* while closing: all is written */
		return;
	cs_text(text, sizeof(text), "interrupted by SIG%s", sigabbrev_np(number));
	end_run(p);
	add_finding(&p->run, CS_CRITICAL, "interrupted", text);
	p->run.exit_status = 128 + number;
	finish_files(p);
	print_report(p);
	say_verdict(&p->run);
}

static int choose(void *ctx, enum cs_backend_kind backend, char *chosen,
		  struct cs_err *err)
{
	struct program *p = ctx;

	return cs_options_choose(&p->opt, backend, chosen, err);
}

static int conclude(struct program *p, int status, const struct cs_err *why)
{
	struct cs_err err = { "" };
	int rc;

	end_run(p);
	if (status == CS_EXIT_CANNOT) {
		p->run.exit_status = status;
		add_finding(&p->run, CS_CRITICAL, CS_CANNOT_TEST, why->text);
		finish_files(p);
		say_verdict(&p->run);
		return status;
	}
	cs_check_run(&p->run, &err);
	p->run.exit_status = cs_run_exit(&p->run);
	rc = finish_files(p) | print_report(p);
	say_verdict(&p->run);
	return rc && p->run.exit_status == CS_EXIT_OK ? CS_EXIT_CANNOT :
							p->run.exit_status;
}

static void init_run(struct program *p, int argc, char **argv)
{
	char host[CS_HOST] = "";

	clock_gettime(CLOCK_REALTIME, &p->run.started);
	gethostname(host, sizeof(host) - 1);
	cs_rows_init(&p->run.rows);
	p->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	p->run.version = PACKAGE_VERSION;
	p->run.commit = CS_COMMIT;
	p->run.build = CS_BUILD;
	p->run.backend = "";
	p->run.argc = argc;
	p->run.argv = argv;
	p->run.matrix_text = p->opt.matrix_text;
	p->run.checks = p->opt.checks;
	cs_text(p->run.id, sizeof(p->run.id), "%lx-%.12s-%x",
		(unsigned long)p->run.started.tv_sec, host, (unsigned)getpid());
}

static void release_run(struct cs_run *run)
{
	for (int i = 0; i < run->n_nodes && run->node; i++)
		free(run->node[i].peers);
	for (int i = 0; i < run->n_nodes && run->node; i++)
		free(run->node[i].ranks);
	free(run->node);
	cs_rows_release(&run->rows);
	cs_vec_release(&run->findings);
}

static int measure(struct program *p, int signal_fd, int argc, char **argv)
{
	struct cs_job_args args = {
		.backend = p->opt.backend, .mpi = p->opt.mpi, .bind = p->opt.bind,
		.checks = p->opt.checks, .look_only = p->opt.look_only,
		.gpus = p->opt.gpus, .set = p->opt.set, .choose = choose,
		.ready = on_ready, .collect = { p, on_node, on_row, on_finding },
		.progress = on_progress, .show = show_state,
		.interrupted = on_interrupted, .ctx = p,
	};
	struct cs_err err = { "" };
	struct cs_job *job = NULL;
	int status;

	init_run(p, argc, argv);
	status = cs_job_measure(&args, signal_fd, &p->run, &job, &err);
	if (!job || cs_job_is_root(job))
		status = conclude(p, status, &err);
	if (job)
		cs_job_end(job, status);
	release_run(&p->run);
	return status;
}

/* ---- answers that need neither MPI nor a GPU ---- */

static int dry_run(struct program *p, struct cs_err *err)
{
	struct cs_plan_request req = { .set = p->opt.set };
	enum cs_backend_kind backend = p->opt.backend == CS_WANT_CPU ?
				       CS_BACKEND_CPU : CS_BACKEND_CUDA;
	struct cs_plan *plan = NULL;
	char *chosen;
	size_t n;
	int rc = -1;

	cs_catalogue(&n);
	chosen = calloc(n, 1);
	if (!chosen)
		return cs_err_set(err, "no memory");
	cs_settings_default(&req.set, backend);
	req.n_agents = cs_gpu_list_count(&p->opt.gpus);
	req.chosen = chosen;
	if (!req.n_agents)
		cs_err_set(err, "--dry-run needs --gpus COUNT, e.g. --gpus 8");
	else if (!cs_options_choose(&p->opt, backend, chosen, err) &&
		 !cs_plan_build(&req, &plan, err))
		rc = cs_report_plan(p->out, plan, p->opt.verbose);
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
	fprintf(to, "cscope-mpi %s%s%s\n", PACKAGE_VERSION,
		*CS_COMMIT ? " commit " : "", CS_COMMIT);
	fprintf(to, "compiler  %s\n", CS_COMPILER);
	fprintf(to, "CUDA      %s\n", CS_CUDA_SAYS);
	fprintf(to, "MPI       %s\n", mpi);
	fprintf(to, "hwloc     %s\n", hwloc);
	fprintf(to, "jansson   %s\n", cs_json_library());
	fprintf(to, "libc      glibc %s\n", gnu_get_libc_version());
	return ferror(to) ? -1 : 0;
}

static int answer(struct program *p, struct cs_err *err)
{
	switch (p->opt.action) {
	case CS_ACTION_HELP:
		return cs_options_help(p->out);
	case CS_ACTION_LIST:
		return cs_report_list(p->out);
	case CS_ACTION_EXPLAIN:
		return cs_report_explain(p->out, p->opt.explain, err);
	case CS_ACTION_VERSION:
		return print_version(p->out);
	default:
		return dry_run(p, err);
	}
}

/* 20261120: runs of one day can be compared cell by cell. */
static uint64_t seed_of_today(void)
{
	time_t now = time(NULL);
	struct tm day;

	gmtime_r(&now, &day);
	return (uint64_t)(day.tm_year + 1900) * 10000 +
	       (uint64_t)(day.tm_mon + 1) * 100 + (uint64_t)day.tm_mday;
}

int main(int argc, char **argv)
{
	static struct program p;
	struct cs_launcher launcher;
	struct cs_err err = { "" };
	int signal_fd;

	p.began_s = cs_clock_s();
	p.out = keep_stdout();
	cs_launcher_detect(&launcher);
	if (cs_options_parse(argc, argv, &p.opt, &err)) {
		if (launcher.rank <= 0)
			complain("", err.text);
		return CS_EXIT_USAGE;
	}
	if (!p.opt.set.seed)
		p.opt.set.seed = seed_of_today();
	if (p.opt.action != CS_ACTION_MEASURE) {
		if (launcher.rank > 0)
			return CS_EXIT_OK;
		if (!answer(&p, &err) && !fflush(p.out))
			return CS_EXIT_OK;
		complain("", err.text[0] ? err.text :
					   "cannot write to standard output");
		return err.text[0] ? CS_EXIT_USAGE : CS_EXIT_CANNOT;
	}
	/* before the first thread; the user's own value stays */
	setenv("CUDA_MODULE_LOADING", "EAGER", 0);
	signal_fd = cs_signals_open();
	return measure(&p, signal_fd, argc, argv);
}
