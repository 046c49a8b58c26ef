/* compare.c - cscope-mpi compare A [B]: are they the same? */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/criteria.h"
#include "file/load.h"
#include "report/text/versus.h"
#include "result/cut.h"

#define FILES_MOST 256

/* A file is read once, however often it is named. */
struct files {
	struct cs_criteria criteria; /* --baseline */
	char *name[FILES_MOST];
	struct cs_loaded *loaded[FILES_MOST];
	int n;
};

struct side {
	const char *name;
	struct cs_vec items; /* struct cs_versus_item */
};

static const struct cs_run *read_once(struct files *files, const char *name,
				      int *status, struct cs_err *err)
{
	struct cs_loaded *loaded;

	for (int i = 0; i < files->n; i++)
		if (!strcmp(files->name[i], name))
			return &files->loaded[i]->run;
	*status = CS_EXIT_USAGE;
	if (files->n == FILES_MOST) {
		cs_err_set(err, "at most %d files", FILES_MOST);
		return NULL;
	}
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded) {
		cs_err_set(err, "no memory");
		return NULL;
	}
	*status = cs_loaded_read(name, loaded, err);
	if (*status) {
		free(loaded);
		return NULL;
	}
	files->name[files->n] = strdup(name);
	files->loaded[files->n] = loaded;
	cs_criteria_apply(&files->criteria, &loaded->run);
	return &files->loaded[files->n++]->run;
}

static void release(struct files *files)
{
	for (int i = 0; i < files->n; i++) {
		cs_loaded_release(files->loaded[i]);
		free(files->loaded[i]);
		free(files->name[i]);
	}
	cs_criteria_release(&files->criteria);
}

/* ---- A and B ---- */

static int has_placements(const struct cs_run *run)
{
	for (int i = 0; i < run->n_nodes; i++)
		if (cs_run_is_other_placement(run, i))
			return 1;
	return 0;
}

/* Add the nodes of that name; "": every node. */
static int add_nodes(struct side *side, const struct cs_run *run, const char *file,
		     const char *what, struct cs_err *err)
{
	size_t before = side->items.n;

	if (!*what && has_placements(run))
		return cs_err_set(err,
				  "'%s' holds several placements: choose one, as in %s:%s",
				  file, file, run->node[0].facts.placement);
	for (int i = 0; i < run->n_nodes; i++) {
		const struct cs_versus_item item = { run, i };

		if (*what && !cs_run_is_named(run, i, what))
			continue;
		if (cs_vec_push(&side->items, &item, err))
			return -1;
	}
	if (side->items.n > before)
		return 0;
	if (*what)
		cs_run_node_named(run, what, err);
	else
		cs_err_set(err, "it has no node");
	return cs_err_prefix(err, "%s", file);
}

/* FILE, FILE:NODE or FILE:PLACEMENT; a file's name may contain ':'. */
static int add_operand(struct files *files, struct side *side, char *word,
		       struct cs_err *err)
{
	char *colon = access(word, F_OK) ? strrchr(word, ':') : NULL;
	const struct cs_run *run;
	int status;

	if (colon)
		*colon = '\0';
	run = read_once(files, word, &status, err);
	if (!run)
		return status;
	return add_nodes(side, run, word, colon ? colon + 1 : "", err) ?
		       CS_EXIT_USAGE :
		       0;
}

static int read_side(struct files *files, struct side *side, const char *operand,
		     struct cs_err *err)
{
	char *copy = strdup(operand), *word, *rest = copy;
	int one = access(operand, F_OK) == 0, status = 0;

	side->name = operand;
	if (!copy) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	while (!status && (word = one ? rest : strsep(&rest, ","))) {
		status = add_operand(files, side, word, err);
		if (one)
			break;
	}
	free(copy);
	return status;
}

/* ---- views ---- */

struct view {
	const struct cs_vec *made;
	int verbose;
};

static int write_all(FILE *to, const struct cs_format *format, const void *what)
{
	const struct view *view = what;

	return cs_versus_write(to, format->name, view->made->data, view->made->n,
			       view->verbose);
}

/* Different if one comparison is; else not comparable if one is not. */
static int status_of(const struct cs_vec *made, struct cs_err *why)
{
	const struct cs_versus *v = made->data;
	int status = CS_EXIT_OK;

	for (size_t i = 0; i < made->n; i++) {
		int one = cs_versus_exit(&v[i]);

		if (one == CS_EXIT_WARNING)
			return one;
		if (one == CS_EXIT_OK || status)
			continue;
		status = one;
		cs_err_set(why, "not comparable: %s",
			   v[i].alone.n ?
				   ((const struct cs_err *)v[i].alone.data)->text :
				   "there is no cell with a figure on both sides");
	}
	return status;
}

static int show(const struct cs_options *opt, FILE *to, const struct cs_run *run,
		const struct cs_vec *made, struct cs_err *err)
{
	struct cs_err why = { "" };
	const struct view view = { made, opt->verbose };
	int status = status_of(made, &why), lost;

	lost = cs_command_files(opt, run, write_all, &view);
	if (!opt->quiet && (write_all(to, opt->format, &view) || fflush(to))) {
		cs_err_set(err, "cannot write the report to standard output");
		return CS_EXIT_CANNOT;
	}
	if (lost)
		return lost;
	if (status == CS_EXIT_CANNOT)
		*err = why;
	return status;
}

/* ---- comparing ---- */

static int compare_sides(const struct cs_options *opt, struct files *files,
			 struct cs_vec *made, struct cs_err *err)
{
	struct side side[2] = { { "", CS_VEC(struct cs_versus_item) },
				{ "", CS_VEC(struct cs_versus_item) } };
	struct cs_versus *versus;
	int status = read_side(files, &side[0], opt->file, err);

	if (!status)
		status = read_side(files, &side[1], opt->other, err);
	if (!status) {
		const struct cs_versus_side a = { side[0].name, side[0].items.data,
						  side[0].items.n };
		const struct cs_versus_side b = { side[1].name, side[1].items.data,
						  side[1].items.n };

		versus = cs_vec_add(made, 1, err);
		if (!versus || cs_versus(&a, &b, opt->margin, versus, err))
			status = CS_EXIT_CANNOT;
	}
	cs_vec_release(&side[0].items);
	cs_vec_release(&side[1].items);
	return status;
}

/* Compare the placements of one file, each with the first. */
static int compare_placements(const struct cs_options *opt, struct files *files,
			      struct cs_vec *made, struct cs_err *err)
{
	int status, none = 0;
	const struct cs_run *run = read_once(files, opt->file, &status, err);

	if (!run)
		return status;
	while (!none) {
		struct cs_versus *versus = cs_vec_add(made, 1, err);

		if (!versus)
			return CS_EXIT_CANNOT;
		none = cs_versus_placements(run, (int)made->n, opt->margin, versus,
					    err);
	}
	if (none < 0)
		return CS_EXIT_CANNOT;
	made->n--;
	if (made->n)
		return 0;
	cs_err_set(err,
		   "'%s' has one placement: name a second file to compare it with",
		   opt->file);
	return CS_EXIT_USAGE;
}

int cs_command_compare(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_vec made = CS_VEC(struct cs_versus);
	struct cs_versus *v;
	struct files files = { .n = 0 };
	int status;

	if (cs_command_formats(opt, "text|json|csv|html", err))
		return CS_EXIT_USAGE;
	cs_criteria_init(&files.criteria);
	status = cs_criteria_read(&files.criteria, opt, err);
	if (!status)
		status = opt->other ? compare_sides(opt, &files, &made, err) :
				      compare_placements(opt, &files, &made, err);
	if (!status)
		status = show(opt, to, &files.loaded[0]->run, &made, err);
	v = made.data;
	for (size_t i = 0; i < made.n; i++)
		cs_versus_release(&v[i]);
	cs_vec_release(&made);
	release(&files);
	return status;
}
