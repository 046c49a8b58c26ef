/* measure.c - a run that measures: its inputs, its outputs and its end. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/print.h"
#include "base/units.h"
#include "check/verdict/check.h"
#include "command/command.h"
#include "command/progress.h"
#include "command/writers.h"
#include "file/document.h"
#include "job/supervisor.h"
#include "job/job.h"
#include "job/signals.h"
#include "plan/file.h"
#include "result/cells.h"
#include "result/passes.h"
#include "result/redact.h"

/* Limits for outputs: to be opened, as most file systems can in time, and to take
 * all data before a line names the one that is waited for. */
#define OPEN_S 5.0
#define OPEN_SHARE 0.1 /* of a budget */
#define NOTICE_S 10.0

struct program {
	struct cs_options *opt;
	struct cs_run run;
	struct cs_writer *writer[CS_OUTPUTS_MAX + 1]; /* ... and the resumed journal */
	int n_writers;
	int opened;		     /* ... or tried to be */
	char unwritten[CS_ERR_TEXT]; /* the first output that failed, and why; "" */
	int in_use;		     /* blocked writers still use the run */
	struct cs_job *job;
	FILE *out; /* for the report; it was descriptor 1 */
	struct cs_progress progress;
	int ended;	      /* the verdict is final */
	size_t findings_told; /* in the journals */
	char *plan_text;      /* of --plan, on rank 0 */
	char *plan_file;      /* the plan that was made of it, as text */
	struct cs_choices chosen;
	int refused;	    /* the status, if the inputs cannot be used */
	struct cs_err says; /* why */
	struct cs_resume resume;
	struct cs_criteria criteria;
	struct cs_redact redact;
	char host[CS_HOST];
	struct cs_budget budget;
	struct cs_supervisor supervisor;
};

/* ---- journals grow as the run does ---- */

static void each_journal(struct program *p,
			 int (*write)(FILE *, const struct cs_run *, size_t),
			 size_t index)
{
	cs_writers_append(p->writer, p->n_writers, write, &p->run, index);
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

/* Write the nodes and rows of the resumed run. */
static int journal_resumed(FILE *to, const struct cs_run *run, size_t index)
{
	int rc = 0;

	(void)index;
	for (int node = 0; node < run->n_nodes; node++)
		rc |= cs_jsonl_node(to, run, node);
	for (size_t row = 0; row < cs_rows_count(&run->rows); row++)
		rc |= cs_jsonl_row(to, run, row);
	return rc;
}

/* Is it the journal that is resumed? */
static int is_resumed(const struct program *p, const char *name)
{
	char path[CS_PATH];
	struct stat a, b;

	return p->opt->resume &&
	       !cs_output_name(name, &p->run, path, sizeof(path), NULL) &&
	       !stat(path, &a) && !stat(p->opt->resume, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int on_resume(void *ctx, struct cs_err *err)
{
	struct program *p = ctx;

	return p->opt->resume ? cs_resume_take(&p->resume, &p->run, err) : 0;
}

/* Refuse a baseline that cannot judge this plan. */
static int refuse_criteria(struct program *p, struct cs_err *err)
{
	if (!p->run.baseline || !p->run.plan ||
	    !cs_baseline_fits(p->run.baseline, p->run.plan, &p->says))
		return 0;
	cs_err_prefix(&p->says, "--baseline");
	p->refused = CS_EXIT_USAGE;
	return cs_err_set(err, "%s", p->says.text);
}

static void add_finding(struct cs_run *run, enum cs_severity severity,
			enum cs_finding_id id, const char *text)
{
	struct cs_finding f = CS_FOUND(severity, -1, id);
	struct cs_err err;

	cs_text(f.text, sizeof(f.text), "%s", text);
	cs_finding_add(&run->findings, &f, &err);
}

/* Has a signal come during a wait for outputs?  The supervisor leaves time for them. */
static int is_told_to_end(void *ctx)
{
	struct program *p = ctx;
	int signal = p->job ? cs_job_waits(p->job) : 0;

	if (signal)
		cs_supervisor_signal_seen(&p->supervisor);
	return signal;
}

#define RESUMED CS_OUTPUTS_MAX /* the number of the journal that is resumed */
_Static_assert(RESUMED < CS_SUPERVISOR_FILES, "the supervisor knows each output");

/* Open the output of that number. */
static int open_writer(struct program *p, int number, struct cs_err *err)
{
	const char *name = number == RESUMED ? NULL : p->opt->output[number];
	double limit = p->opt->budget_s > 0 ? p->opt->budget_s * OPEN_SHARE : OPEN_S;
	struct cs_patience patience = { cs_clock_s() + fmin(limit, OPEN_S),
					is_told_to_end, p };
	struct cs_writer *w = cs_writer_open(name, &p->run, &p->resume,
					     cs_supervisor_file(&p->supervisor, number),
					     &patience, err);

	if (!w)
		return -1;
	p->writer[p->n_writers++] = w;
	return 0;
}

#define LONG_S 10 /* a run that lasts longer is announced */

static void announce(const struct program *p)
{
	double seconds = cs_plan_estimate_s(p->run.plan, CS_EXPECTED_GBS);
	char text[CS_ERR_TEXT];

	if (!p->opt->their_sizes || seconds < LONG_S)
		return;
	cs_text(text, sizeof(text),
		"%" PRIu32 " steps, about %.0f s: --benchmark_filter takes fewer",
		p->run.plan->n_steps, seconds);
	cs_complain(text);
}

static void note_unwritten(struct program *p, const char *why)
{
	if (!p->unwritten[0])
		cs_text(p->unwritten, sizeof(p->unwritten), "%s", why);
}

static void report_unwritten(struct program *p, const char *why)
{
	note_unwritten(p, why);
	cs_complain(why);
}

/* Open the outputs, each journal with its first record.  One that cannot be opened is
 * no reason not to measure. */
static int open_outputs(struct program *p, struct cs_err *err)
{
	struct cs_err why;

	p->opened = 1;
	for (int i = 0; i < p->opt->n_outputs; i++)
		if (!is_resumed(p, p->opt->output[i]) && open_writer(p, i, &why))
			report_unwritten(p, why.text);
	if (p->resume.complete)
		return 0;
	/* file names keep the site's names, contents do not */
	if (p->opt->redact && cs_redact_start(&p->redact, &p->run, p->host, err))
		return -1;
	each_journal(p, journal_run, 0);
	return 0;
}

/* Open the journal that is resumed, which has its rows already. */
static int open_resumed(struct program *p, struct cs_err *err)
{
	const int others = p->n_writers;

	if (p->opt->resume && open_writer(p, RESUMED, err))
		return -1;
	cs_writers_append(p->writer + others, p->n_writers - others, journal_run,
			  &p->run, 0);
	if (p->run.resumes[0])
		cs_writers_append(p->writer, others, journal_resumed, &p->run, 0);
	return 0;
}

static int on_ready(void *ctx, struct cs_err *err)
{
	struct program *p = ctx;
	char text[CS_ERR_TEXT];
	enum cs_finding_id id;

	if (refuse_criteria(p, err))
		return -1;
	id = p->run.plan && !p->resume.complete ?
		     cs_left_out_plan(p->opt, p->run.plan, text, sizeof(text)) :
		     CS_FINDING_OTHER;
	if (id)
		add_finding(&p->run, CS_NOTE, id, text);
	if (p->run.plan && p->run.n_nodes < 2 && cs_plan_has_between(p->run.plan)) {
		cs_text(text, sizeof(text),
			"%s is left out: it measures between nodes, and there is only one",
			cs_plan_between_word(p->run.plan));
		add_finding(&p->run, CS_NOTE, CS_FINDING_NOT_POSSIBLE, text);
	}
	if (open_outputs(p, err))
		return -1;
	if (p->resume.complete)
		return 0;
	if (p->run.plan)
		announce(p);
	return open_resumed(p, err);
}

/* Without memory for the placeholders, end before anything is written. */
static void end_unredacted(int rc, const struct cs_err *err)
{
	if (!rc)
		return;
	cs_complain(err->text);
	_exit(CS_EXIT_CANNOT);
}

static void on_node(void *ctx, int node)
{
	struct program *p = ctx;
	struct cs_err err;

	cs_leaves_apply(&p->criteria.leaves, &p->run.node[node].facts);
	if (p->opt->redact)
		end_unredacted(cs_redact_node(&p->redact, &p->run, node, &err), &err);
	each_journal(p, journal_node, (size_t)node);
}

static void on_row(void *ctx, size_t row)
{
	struct program *p = ctx;
	struct cs_err err;

	if (p->opt->redact)
		end_unredacted(cs_redact_row(&p->redact, &p->run.rows, row, &err),
			       &err);
	each_journal(p, cs_jsonl_row, row);
}

/* With --redact findings are written at the end: one may name a node that is not
 * known yet. */
static void on_finding(void *ctx, size_t finding)
{
	struct program *p = ctx;

	if (p->opt->redact)
		return;
	each_journal(p, cs_jsonl_finding, finding);
	p->findings_told = finding + 1;
}

/* ---- the end of a run ---- */

/* Its status: an output that could not be written is no fault of the node. */
static int status_of(const struct program *p)
{
	int status = p->unwritten[0] && p->run.exit_status <= CS_EXIT_WARNING ?
			     CS_EXIT_OUTPUT :
			     p->run.exit_status;

	/* plugins of monitors have no further status */
	return status >= CS_EXIT_OUTPUT && status <= CS_EXIT_UNABLE &&
			       !strcmp(p->opt->format->name, "nagios") ?
		       CS_EXIT_CANNOT :
		       status;
}

/* The last line on stderr: why the status is not 0. */
static void print_verdict(const struct program *p)
{
	char verdict[CS_ERR_TEXT + CS_HOST + 32];
	struct cs_run shown = p->run;

	if (p->run.exit_status == CS_EXIT_OK)
		return;
	shown.exit_status = status_of(p);
	if (p->opt->of_nvbandwidth) /* its status is another */
		cs_run_summary(&shown, verdict, sizeof(verdict));
	else
		cs_run_verdict(&shown, verdict, sizeof(verdict));
	cs_complain(verdict);
}

static void print_lost(const char *why)
{
	cs_print_line(stderr,
		      "cscope-mpi: cannot write the report to standard output%s%s",
		      *why ? ": " : "", why);
}

static void print_report(struct program *p)
{
	struct cs_run shown = p->run;

	if (p->opt->format->of_any && status_of(p) != p->run.exit_status) {
		shown.exit_status = status_of(p);
		shown.unwritten = p->unwritten;
	}
	if (p->opt->quiet ||
	    (!cs_format_write(p->opt->format, p->out, &shown, &p->opt->view) &&
	     !fflush(p->out)))
		return;
	print_lost("");
	note_unwritten(p, "cannot write the report to standard output");
}

static void commit_files(struct program *p, const struct cs_run *run)
{
	struct cs_view_options view = p->opt->view;

	view.aggregates = view.aggregates == CS_AGGREGATES_ALL;
	for (int i = 0; i < p->n_writers; i++)
		cs_writer_commit(p->writer[i], run, &view);
}

/* Finish the files.  From here on the run does not change. */
static void finish_files(struct program *p)
{
	if (p->opt->redact)
		cs_redact_findings(&p->redact, &p->run);
	for (size_t i = p->findings_told; i < p->run.findings.n; i++)
		each_journal(p, cs_jsonl_finding, i);
	each_journal(p, journal_verdict, 0);
	commit_files(p, &p->run);
}

/* Wait until the files are written, no longer than a budget or a signal allows. */
static void await_files(struct program *p)
{
	struct cs_patience patience = {
		fmin(p->budget.files_s, cs_clock_s() + NOTICE_S), is_told_to_end, p
	};
	struct cs_writer *slow;
	struct cs_err err;

	slow = cs_writers_wait(p->writer, p->n_writers, &patience);
	if (slow && cs_clock_s() < p->budget.files_s && !is_told_to_end(p)) {
		cs_print_line(stderr,
			      "cscope-mpi: waiting for '%s', which takes no data",
			      cs_writer_path(slow));
		patience.end_s = p->budget.files_s;
		slow = cs_writers_wait(p->writer, p->n_writers, &patience);
	}
	p->in_use = slow != NULL;
	for (int i = 0; i < p->n_writers; i++)
		if (cs_writer_close(p->writer[i], &err))
			report_unwritten(p, err.text);
	p->n_writers = 0;
}

static void end_run(struct program *p)
{
	struct cs_err err; /* without an index nothing is counted */

	p->ended = 1;
	clock_gettime(CLOCK_REALTIME, &p->run.ended);
	p->run.timings.total = cs_clock_s() - p->progress.began_s;
	cs_passes_end(&p->run, &err);
	cs_run_settle(&p->run);
	cs_run_index(&p->run, &err);
	cs_progress_clear(&p->progress);
}

static void on_interrupted(void *ctx, int number)
{
	struct program *p = ctx;
	char text[80];

	cs_supervisor_signal_seen(&p->supervisor);
	if (p->ended) /* while closing: all is written */
		return;
	cs_text(text, sizeof(text), "interrupted by %s", cs_signal_name(number));
	end_run(p);
	add_finding(&p->run, CS_CRITICAL, CS_FINDING_INTERRUPTED, text);
	p->run.exit_status = 128 + number;
	finish_files(p);
	print_report(p);
	print_verdict(p); /* at once: a launcher may wait for a second, no more */
	await_files(p);
}

static int choose(void *ctx, enum cs_backend_kind backend, int lone,
		  struct cs_choices *chosen, struct cs_err *err)
{
	struct program *p = ctx;
	const char *mask = getenv("CUDA_VISIBLE_DEVICES");
	char text[CS_ERR_TEXT];

	cs_left_out_backend(p->opt, backend, text, sizeof(text));
	if (text[0])
		add_finding(&p->run, CS_NOTE, CS_FINDING_NOT_ON_CPU, text);
	if (backend == CS_BACKEND_CUDA)
		cs_left_out_names(p->opt, backend, text, sizeof(text));
	else
		text[0] = '\0';
	if (text[0])
		add_finding(&p->run, CS_NOTE, CS_FINDING_NOT_POSSIBLE, text);
	if (text[0] && p->opt->their_sizes)
		cs_complain(text);
	if (cs_options_choose(p->opt, backend, chosen, err))
		return backend == CS_BACKEND_CUDA || p->opt->backend ? -1 :
		       mask ? cs_err_prefix(err,
					    "no GPU, and CUDA_VISIBLE_DEVICES=%s is set",
					    mask) :
			      cs_err_prefix(err, "no GPU");
	if (lone)
		cs_options_choose_lone(p->opt, backend, chosen);
	if (cs_choices_name_cells(chosen) || cs_choices_have_sizes(chosen)) {
		p->chosen = *chosen;
		p->run.chosen = &p->chosen;
	}
	return 0;
}

static void open_plan(struct program *p)
{
	if (cs_planfile_open(p->opt, &p->plan_text, &p->says))
		p->refused = CS_EXIT_USAGE;
}

static int plan_of_file(void *ctx, const struct cs_plan_request *req,
			struct cs_plan **out, struct cs_err *err)
{
	struct program *p = ctx;

	if (!p->plan_text && !p->refused)
		open_plan(p);
	if (!p->refused &&
	    cs_plan_file_read(p->plan_text, p->opt->plan, req, out, &p->says))
		p->refused = CS_EXIT_USAGE;
	if (p->refused)
		return cs_err_set(err, "%s", p->says.text);
	p->run.plan_file = p->plan_file = cs_plan_file_text(*out);
	return p->plan_file ? 0 : cs_err_set(err, "no memory");
}

static int refuse(struct program *p)
{
	cs_progress_clear(&p->progress);
	cs_complain(p->says.text);
	return p->refused;
}

/* Report, files, verdict; returns the status. A view of one line waits for the files,
 * because it names those that could not be written. */
static int deliver(struct program *p, int prints)
{
	if (p->opt->format->of_any)
		await_files(p);
	if (prints || p->opt->format->of_any)
		print_report(p);
	if (!p->opt->format->of_any)
		await_files(p);
	print_verdict(p);
	return status_of(p);
}

/* The journal is complete: write the outputs of its run. */
static int show_complete(struct program *p)
{
	const struct cs_run live = p->run;
	int status;

	p->ended = 1;
	cs_progress_clear(&p->progress);
	cs_print_line(stderr, "cscope-mpi: '%s' is complete: nothing was measured",
		      p->opt->resume);
	p->run = p->resume.then.run;
	commit_files(p, &p->resume.then.run);
	status = deliver(p, 1);
	p->run = live;
	return status;
}

/* The outputs record it too: otherwise those of an earlier run would be taken for
 * this one's. */
static int conclude_untested(struct program *p, int status, const struct cs_err *why)
{
	struct cs_err err;

	p->run.exit_status = status;
	if (!p->run.node) /* lost before their facts were known */
		p->run.n_nodes = 0;
	if (status == CS_EXIT_CANNOT)
		add_finding(&p->run, CS_CRITICAL, CS_FINDING_CANNOT_TEST, why->text);
	else
		add_finding(&p->run, CS_WARNING, CS_FINDING_NO_SIGN, why->text);
	if (!p->opened && open_outputs(p, &err))
		cs_complain(err.text);
	finish_files(p);
	return deliver(p, 0);
}

static int conclude(struct program *p, int status, const struct cs_err *why)
{
	struct cs_err err = { "" };

	if (p->resume.complete && status == CS_EXIT_OK)
		return show_complete(p);
	end_run(p);
	/* nvbandwidth's tests for which there are too few GPUs: no plan has a step */
	if (status == CS_EXIT_CANNOT && p->opt->of_nvbandwidth && p->run.backend[0] &&
	    !p->run.plan)
		return cs_command_waive(p->opt, p->out, &err);
	if (status == CS_EXIT_CANNOT || status == CS_EXIT_UNABLE)
		return conclude_untested(p, status, why);
	cs_complain_of_switches(p->opt, &p->run);
	cs_check_run(&p->run, &err);
	cs_run_sort_findings(&p->run);
	p->run.exit_status = cs_run_exit(&p->run);
	finish_files(p);
	return deliver(p, 1);
}

static void init_run(struct program *p)
{
	clock_gettime(CLOCK_REALTIME, &p->run.started);
	gethostname(p->host, sizeof(p->host) - 1);
	cs_redact_init(&p->redact);
	cs_rows_init(&p->run.rows);
	p->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	p->run.version = PACKAGE_VERSION;
	p->run.commit = CS_COMMIT;
	p->run.build = CS_BUILD;
	p->run.backend = "";
	p->run.matrix_text = p->opt->matrix_text;
	p->run.asked = p->opt->tests;
	p->run.checks = p->opt->checks;
	p->run.budget_s = p->opt->budget_s;
	p->run.of_passes = p->opt->duration_s > 0;
	cs_criteria_apply(&p->criteria, &p->run);
	p->run.margin = cs_ten_digits(p->opt->margin);
	p->run.workload = p->opt->workload;
	p->run.min_coverage = p->opt->min_coverage;
	cs_text(p->run.id, sizeof(p->run.id), "%lx-%.12s-%x",
		(unsigned long)p->run.started.tv_sec, p->host, (unsigned)getpid());
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct program *p = ctx;

	p->progress.duration_s = p->opt->duration_s;
	/* steps that a resumed journal has take no time, and predict none */
	p->progress.plan = p->opt->resume ? NULL : p->run.plan;
	cs_progress_step(&p->progress, done, all, cs_rows_count(&p->run.rows),
			 cs_clock_s());
}

static void show_state(void *ctx)
{
	struct program *p = ctx;

	cs_progress_show(&p->progress, cs_rows_count(&p->run.rows));
}

static int measure(struct program *p, int signal_fd)
{
	struct cs_job_args args = {
		.backend = p->opt->backend,
		.mpi = p->opt->mpi,
		.bind = p->opt->bind,
		.checks = p->opt->checks,
		.why = p->opt->why,
		.check_only = p->opt->check_only != NULL,
		.gpus = p->opt->gpus,
		.placements = p->opt->placements,
		.set = p->opt->set,
		.vary = p->opt->vary,
		.choose = choose,
		.budget = p->budget,
		.duration_s = p->opt->duration_s,
		.plan = p->opt->plan ? plan_of_file : NULL,
		.resume = on_resume,
		.ready = on_ready,
		.refusal = p->refused ? &p->says : NULL,
		.criteria = &p->criteria,
		.collect = { p, on_node, on_row, on_finding },
		.progress = on_progress,
		.show = show_state,
		.interrupted = on_interrupted,
		.ctx = p,
	};
	struct cs_err err = { "" };
	int status;

	init_run(p);
	status = cs_job_measure(&args, signal_fd, &p->run, &p->job, &err);
	if (!p->job || cs_job_is_root(p->job)) {
		status = p->refused ? refuse(p) : conclude(p, status, &err);
		cs_supervisor_set_status(&p->supervisor, status);
	}
	if (p->job)
		cs_job_end(p->job, status, p->in_use);
	free(p->plan_text);
	free(p->plan_file);
	cs_resume_release(&p->resume);
	cs_redact_release(&p->redact);
	cs_criteria_release(&p->criteria);
	cs_run_release_nodes(&p->run);
	cs_rows_release(&p->run.rows);
	cs_vec_release(&p->run.findings);
	return status;
}

/* ---- in the supervisor ---- */

static void on_lost(void *ctx)
{
	struct program *p = ctx;

	print_lost(p->supervisor.lost);
}

static void add_incomplete(const struct program *p, int number, const char *name,
			   char *to, size_t size)
{
	const _Atomic int *complete = cs_supervisor_file(&p->supervisor, number);

	if (name && complete && !*complete)
		cs_text_add(to, size, "%s'%.200s'", to[0] ? ", " : "", name);
}

/* Name the outputs that the blocked process has not completed in one line. */
static void print_incomplete(const struct program *p)
{
	char names[CS_ERR_TEXT] = "", text[CS_ERR_TEXT + 80];

	for (int i = 0; i < p->opt->n_outputs; i++)
		if (!is_resumed(p, p->opt->output[i]))
			add_incomplete(p, i, p->opt->output[i], names, sizeof(names));
	add_incomplete(p, RESUMED, p->opt->resume, names, sizeof(names));
	if (!names[0])
		return;
	cs_text(text, sizeof(text),
		"cannot write %s: the process that writes is left behind", names);
	cs_complain(text);
}

/* After a signal one line is enough. */
static void on_hang(void *ctx)
{
	struct program *p = ctx;

	print_incomplete(p);
	if (p->run.exit_status > 128) {
		cs_complain(p->says.text);
		return;
	}
	p->opened = 1;	    /* the abandoned process may be writing them */
	p->opt->redact = 0; /* the report has no names */
	init_run(p);
	conclude(p, CS_EXIT_CANNOT, &p->says);
}

/* Returns 1 with the status in the supervisor, 0 in the process that has to measure.  Of
 * a job's supervisors only rank 0's prints, and it exits first. */
static int supervise(struct program *p, int mpi, int speaks, int *status)
{
	double end_s;

	cs_budget_init(&p->budget, p->opt->budget_s,
		       p->progress.began_s - cs_process_age_s(p->opt->budget_s / 2),
		       mpi);
	end_s = p->budget.end_s + p->budget.grace_s * (speaks ? 0.5 : 1);
	fflush(p->out);
	p->supervisor.report = cs_complain;
	switch (cs_supervisor_start(&p->supervisor, fileno(p->out), end_s, status,
				    &p->says)) {
	case CS_SUPERVISOR_MEASURE:
		return 0;
	case CS_SUPERVISOR_HANGS:
		p->run.exit_status = *status;
		if (speaks)
			cs_supervisor_report(fileno(p->out), on_hang, p);
		return 1;
	case CS_SUPERVISOR_ENDED:
		break;
	}
	if (p->supervisor.lost && speaks)
		cs_supervisor_report(2, on_lost, p);
	if (p->supervisor.lost && *status <= CS_EXIT_WARNING)
		*status = CS_EXIT_OUTPUT;
	return 1;
}

/* Open the files that options name, before MPI and before any driver starts.  Errors
 * in them are reported when all ranks can end together. */
static void open_files(struct program *p)
{
	if (p->opt->resume)
		p->refused = cs_resume_open(&p->resume, p->opt, &p->says);
	if (!p->refused)
		p->refused = cs_criteria_read(&p->criteria, p->opt, &p->says);
	if (!p->refused && p->opt->plan)
		open_plan(p);
}

int cs_command_measure(const struct cs_call *call)
{
	static struct program p;
	const struct cs_launcher *launcher = &call->launcher;
	int signal_fd, status;
	/* by --no-mpi each process is a job of its own */
	int mpi = call->opt->mpi >= 0 ? call->opt->mpi : launcher->present;
	int speaks = !mpi || launcher->rank <= 0;

	p.opt = call->opt;
	p.out = call->to;
	p.run.argc = call->argc;
	p.run.argv = call->argv;
	cs_progress_init(&p.progress, call->began_s, p.opt->quiet);
	cs_criteria_init(&p.criteria);
	if (supervise(&p, mpi, speaks, &status))
		return status;
	if (speaks)
		open_files(&p);
	if (p.refused && !mpi)
		return refuse(&p);
	if (!p.opt->seeded)
		p.opt->set.seed = cs_command_seed();
	/* before the first thread; the user's own value stays */
	setenv("CUDA_MODULE_LOADING", "EAGER", 0);
	signal_fd = cs_signals_open(0);
	return measure(&p, signal_fd);
}
