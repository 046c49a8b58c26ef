/* baseline.c - cscope-mpi baseline FILE... -o BASE.json: results of healthy nodes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "check/bounds/baseline.h"
#include "command/command.h"
#include "file/baseline.h"
#include "file/load.h"

struct files {
	struct cs_loaded *loaded;
	const struct cs_run **run;
	int n;
};

static int read_files(struct files *files, const struct cs_options *opt,
		      struct cs_err *err)
{
	int status = 0;

	files->loaded = calloc((size_t)opt->n_files, sizeof(*files->loaded));
	files->run = calloc((size_t)opt->n_files, sizeof(*files->run));
	if (!files->loaded || !files->run) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	for (int i = 0; i < opt->n_files && !status; i++) {
		status = cs_loaded_read(opt->files[i], &files->loaded[i], err);
		files->run[i] = &files->loaded[i].run;
		files->n += !status;
	}
	return status;
}

static void release(struct files *files)
{
	for (int i = 0; i < files->n; i++)
		cs_loaded_release(&files->loaded[i]);
	free(files->loaded);
	free(files->run);
}

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

int cs_command_baseline(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct files files = { .n = 0 };
	struct cs_baseline baseline;
	size_t which;
	int status;

	if (cs_command_formats(opt, "text|json", err))
		return CS_EXIT_USAGE;
	status = read_files(&files, opt, err);
	if (!status &&
	    cs_baseline_learn(files.run, (size_t)files.n, &baseline, &which, err)) {
		if (which < (size_t)files.n)
			cs_err_prefix(err, "%.200s", opt->files[which]);
		status = CS_EXIT_USAGE;
	} else if (!status) {
		status = write_all(opt, to, &baseline, err);
		cs_baseline_release(&baseline);
	}
	release(&files);
	return status;
}
