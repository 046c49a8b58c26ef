/* compare.c - cscope-mpi compare A [B]: are they the same? */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "command/command.h"
#include "check/compare/versus.h"
#include "result/cut.h"

#define FILES_MOST 256

/* A file is read once, however often it is named. */
struct files {
	const struct cs_criteria *criteria; /* --baseline */
	const char *name[FILES_MOST];
	struct cs_run *run[FILES_MOST];
	int n;
};

static const struct cs_run *read_once(struct files *files, const char *name)
{
	struct cs_run *run;

	for (int i = 0; i < files->n; i++)
		if (!strcmp(files->name[i], name))
			return files->run[i];
	if (files->n == FILES_MOST)
		cs_command_refuse("at most %d files", FILES_MOST);
	run = &cs_command_load(name)->run;
	cs_criteria_apply(files->criteria, run);
	files->name[files->n] = cs_new_text("%s", name);
	files->run[files->n++] = run;
	return run;
}

/* ---- A and B ---- */

/* Add the nodes of that name; "": every node. */
static void add_nodes(struct cs_vec *items, const struct cs_run *run,
		      const char *file, const char *what)
{
	size_t before = items->n;
	struct cs_err err;

	if (!*what && CS_ANY(i, run->n_nodes, cs_run_is_other_placement(run, i)))
		cs_command_refuse("'%s' holds several placements: choose one, as in %s:%s",
				  file, file, run->node[0].facts.placement);
	for (int i = 0; i < run->n_nodes; i++)
		if (!*what || cs_run_is_named(run, i, what))
			cs_list_push(items, &(struct cs_versus_item){ run, i });
	if (items->n > before)
		return;
	if (*what)
		cs_run_node_named(run, what, &err);
	else
		cs_err_set(&err, "it has no node: its run ended before any answered");
	cs_command_refuse("%s: %s", file, err.text);
}

/* FILE, FILE:NODE or FILE:PLACEMENT; a file's name may contain ':'. */
static void add_operand(struct files *files, struct cs_vec *items, char *word)
{
	char *colon = access(word, F_OK) ? strrchr(word, ':') : NULL;

	if (colon)
		*colon = '\0';
	add_nodes(items, read_once(files, word), word, colon ? colon + 1 : "");
}

static struct cs_versus_side read_side(struct files *files, const char *operand)
{
	struct cs_vec items = CS_LIST(struct cs_versus_item);
	char *rest = cs_new_text("%s", operand), *word;

	if (!access(operand, F_OK))
		add_operand(files, &items, rest);
	else
		while ((word = strsep(&rest, ",")))
			add_operand(files, &items, word);
	return (struct cs_versus_side){ operand, items.data, items.n };
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
	int status = CS_EXIT_OK;

	CS_EACH(const struct cs_versus, v, made) {
		int one = cs_versus_exit(v);

		if (one == CS_EXIT_WARNING)
			return one;
		if (one == CS_EXIT_OK || status)
			continue;
		status = one;
		cs_err_set(why, "not comparable: %s",
			   v->alone.n ?
				   *(const char *const *)v->alone.data :
				   "there is no cell with a figure on both sides");
	}
	return status;
}

static int show(const struct cs_options *opt, FILE *to, const struct cs_run *run,
		const struct cs_vec *made, struct cs_err *err)
{
	struct cs_err why = { "" };
	const struct view view = { made, opt->view.verbose };
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

static struct cs_vec compare_sides(const struct cs_options *opt, struct files *files)
{
	const struct cs_versus_side a = read_side(files, opt->file);
	const struct cs_versus_side b = read_side(files, opt->other);
	struct cs_vec made = CS_LIST(struct cs_versus);

	cs_list_push(&made, cs_versus_new(&a, &b, opt->margin));
	return made;
}

/* Compare the placements of one file, each with the first. */
static struct cs_vec compare_placements(const struct cs_options *opt,
					struct files *files)
{
	const struct cs_run *run = read_once(files, opt->file);
	struct cs_vec made = CS_LIST(struct cs_versus);
	const struct cs_versus *one;

	while ((one = cs_versus_placements(run, (int)made.n + 1, opt->margin)))
		cs_list_push(&made, one);
	if (!made.n)
		cs_command_refuse("'%s' has one placement: name a second file to "
				  "compare it with",
				  opt->file);
	return made;
}

int cs_command_compare(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct files *files = cs_new(struct files, 1);
	struct cs_vec made;

	if (cs_command_formats(opt, "text|json|csv|html", err))
		return CS_EXIT_USAGE;
	files->criteria = cs_command_criteria(opt);
	made = opt->other ? compare_sides(opt, files) : compare_placements(opt, files);
	return show(opt, to, files->run[0], &made, err);
}
