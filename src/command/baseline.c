/* baseline.c - cscope-mpi baseline FILE... -o BASE.json: results of healthy nodes; cscope-mpi
 * learn FILE... -o KNOWN.json: results of machines that are known. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "check/bounds/known.h"
#include "command/command.h"
#include "file/baseline.h"
#include "file/load.h"

struct view {
	const struct cs_baseline *baseline;
	double margin;
};

static int write_one(FILE *to, const struct cs_format *format, const void *what)
{
	const struct view *view = what;

	return strcmp(format->name, "json") ?
		       cs_baseline_text(to, view->baseline, view->margin) :
		       cs_baseline_json(to, view->baseline, PACKAGE_VERSION);
}

static int write_all(const struct cs_options *opt, FILE *to,
		     const struct cs_baseline *b, struct cs_err *err)
{
	const struct cs_run none = { .n_nodes = 0 };
	const struct view view = { b, opt->margin };
	int status = cs_command_files(opt, &none, write_one, &view);

	if (opt->quiet || (!write_one(to, opt->format, &view) && !fflush(to)))
		return status;
	cs_err_set(err, "cannot write the report to standard output");
	return CS_EXIT_CANNOT;
}

static void release_baseline(void *baseline)
{
	cs_baseline_release(baseline);
}

int cs_command_baseline(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	const struct cs_run **run = cs_new(const struct cs_run *,
					   (size_t)opt->n_files);
	struct cs_baseline *baseline = cs_new(struct cs_baseline, 1);
	size_t which;

	if (cs_command_formats(opt, "text|json", err))
		return CS_EXIT_USAGE;
	for (int i = 0; i < opt->n_files; i++)
		run[i] = &cs_command_load(opt->files[i])->run;
	cs_arena_at_end(release_baseline, baseline);
	errno = 0;
	if (cs_baseline_learn(run, (size_t)opt->n_files, baseline, &which, err)) {
		if (which < (size_t)opt->n_files)
			cs_err_prefix(err, "%.200s", opt->files[which]);
		return errno == ENOMEM ? CS_EXIT_CANNOT : CS_EXIT_USAGE;
	}
	return write_all(opt, to, baseline, err);
}

/* ---- learn ---- */

/* A file is of runs, or one that was learnt before. */
static void learn_file(struct cs_learning *learning, const char *file)
{
	struct cs_loaded loaded;
	struct cs_baseline known;
	struct cs_err err, other;
	int status = cs_loaded_read(file, &loaded, &err), rc;

	if (!status) {
		rc = cs_learning_run(learning, &loaded.run, &err);
		cs_loaded_release(&loaded);
		if (rc)
			cs_command_refuse("%s: %s", file, err.text);
		return;
	}
	cs_baseline_init(&known);
	if (status != CS_EXIT_USAGE || cs_baseline_read(file, 0, &known, &other))
		cs_command_end(status, &err);
	cs_learning_add(learning, &known);
	cs_baseline_release(&known);
}

int cs_command_learn(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_baseline *known = cs_new(struct cs_baseline, 1);
	struct cs_learning learning;

	if (cs_command_formats(opt, "text|json", err))
		return CS_EXIT_USAGE;
	cs_baseline_init(known);
	cs_arena_at_end(release_baseline, known);
	cs_learning_begin(&learning, known);
	for (int i = 0; i < opt->n_files; i++)
		learn_file(&learning, opt->files[i]);
	cs_learning_end(&learning);
	if (!known->stats.n) {
		cs_err_set(err, "no cell to learn from: of large copies within "
				"a GPU or over NVLink none was measured well");
		return CS_EXIT_USAGE;
	}
	return write_all(opt, to, known, err);
}
