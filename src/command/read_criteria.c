/* read_criteria.c - the files that cells are judged by. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/bounds/known.h"
#include "check/fleet/expected.h"
#include "command/command.h"
#include "file/baseline.h"
#include "file/input.h"

static int load(const char *name, double budget_s, char **text, struct cs_err *err)
{
	FILE *from = cs_input_open(name, cs_input_wait_s(budget_s), err);
	int rc;

	if (!from)
		return cs_err_prefix(err, "cannot read '%.200s'", name);
	rc = cs_table_load(from, text, err);
	fclose(from);
	return rc ? cs_err_prefix(err, "%.200s", name) : 0;
}

int cs_baseline_read(const char *name, double budget_s, struct cs_baseline *to,
		     struct cs_err *err)
{
	char *text = NULL;
	int rc = load(name, budget_s, &text, err) ||
		 cs_baseline_parse(name, text, to, err);

	free(text);
	return rc ? -1 : 0;
}

/* Read each baseline of a list FILE[,...]. */
static int read_baselines(struct cs_criteria *c, const struct cs_options *opt,
			  struct cs_err *err)
{
	char *copy = strdup(opt->baseline), *rest = copy, *name;
	int rc = copy ? 0 : cs_err_set(err, "no memory");

	while (!rc && (name = strsep(&rest, ",")))
		rc = cs_baseline_read(name, opt->budget_s, &c->baseline, err);
	free(copy);
	return rc ? cs_err_prefix(err, "--baseline") : 0;
}

static int read_thresholds(struct cs_criteria *c, const struct cs_options *opt,
			   struct cs_err *err)
{
	char *text = NULL;
	int rc = load(opt->threshold, opt->budget_s, &text, err) ||
		 cs_thresholds_read(&c->thresholds, text, opt->threshold, err);

	free(text);
	return rc ? cs_err_prefix(err, "--threshold") : 0;
}

static int read_switches(struct cs_criteria *c, const struct cs_options *opt,
			 struct cs_err *err)
{
	char *text = NULL;
	int rc = load(opt->switches, opt->budget_s, &text, err) ||
		 cs_leaves_read(&c->leaves, text, opt->switches, err);

	free(text);
	return rc ? cs_err_prefix(err, "--switches") : 0;
}

/* *share: that of --min-share, unless it has one of its own. */
static int read_expect(struct cs_criteria *c, const struct cs_options *opt,
		       double *share, struct cs_err *err)
{
	int rc = cs_expected_parse(opt->expect, &c->expected, share, err);

	if (!rc && opt->check_only && *share > 0)
		rc = cs_err_set(err, "'min-share': --check=%s measures nothing",
				opt->check_only);
	return rc ? cs_err_prefix(err, "--expect") : 0;
}

static int read_all(struct cs_criteria *c, const struct cs_options *opt,
		    struct cs_err *err)
{
	double share = opt->min_share;

	if ((opt->baseline && read_baselines(c, opt, err)) ||
	    (opt->threshold && read_thresholds(c, opt, err)) ||
	    (opt->expect && read_expect(c, opt, &share, err)) ||
	    (opt->switches && read_switches(c, opt, err)))
		return -1;
	if (opt->redact) /* a name of the site */
		cs_text(c->thresholds.name, sizeof(c->thresholds.name), "line");
	return share > 0 ? cs_thresholds_share(&c->thresholds, share, err) : 0;
}

void cs_complain_of_switches(const struct cs_options *opt, const struct cs_run *run)
{
	char text[CS_ERR_TEXT];

	if (!opt->switches || !run->node ||
	    CS_ANY(i, run->n_nodes, run->node[i].facts.leaf[0]))
		return;
	cs_text(text, sizeof(text), "--switches: no node of the run is in '%.200s'",
		opt->switches);
	cs_complain(text);
}

/* ---- known figures of hardware ---- */

/* The folders in $CS_KNOWN, between which are colons; an empty one is the installed. */
#define KNOWN_NONE "none"

static void learn_folder(struct cs_learning *learning, const char *folder)
{
	struct dirent **file = NULL;
	struct cs_baseline known;
	struct cs_err err;
	int n = scandir(folder, &file, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = cs_new_text("%s/%s", folder, file[i]->d_name);
		const char *end = strrchr(name, '.');

		free(file[i]);
		if (!end || strcmp(end, ".json") != 0)
			continue;
		cs_baseline_init(&known);
		/* never a reason not to measure */
		if (cs_baseline_read(name, 0, &known, &err))
			cs_complain(cs_new_text("not read: %s", err.text));
		else
			cs_learning_add(learning, &known);
		cs_baseline_release(&known);
	}
	free(file);
}

static int read_known(void *baseline)
{
	const char *asked = secure_getenv("CS_KNOWN");
	char *folders = cs_new_text("%s", asked ? asked : ""), *folder;
	struct cs_learning learning;

	cs_learning_begin(&learning, baseline);
	while ((folder = strsep(&folders, ":")))
		if (strcmp(folder, KNOWN_NONE) != 0)
			learn_folder(&learning, folder[0] ? folder : CS_KNOWN_DIR);
	cs_learning_end(&learning);
	return 0;
}

int cs_criteria_read(struct cs_criteria *c, const struct cs_options *opt,
		     struct cs_err *err)
{
	if (cs_arena_run(read_known, &c->known, err))
		return CS_EXIT_CANNOT;
	errno = 0;
	return !read_all(c, opt, err) ? 0 :
	       errno == ENOMEM	      ? CS_EXIT_CANNOT :
					CS_EXIT_USAGE;
}

static void release(void *criteria)
{
	cs_criteria_release(criteria);
}

const struct cs_criteria *cs_command_criteria(const struct cs_options *opt)
{
	struct cs_criteria *c = cs_new(struct cs_criteria, 1);
	struct cs_err err;
	int status;

	cs_criteria_init(c);
	cs_arena_at_end(release, c);
	status = cs_criteria_read(c, opt, &err);
	if (status)
		cs_command_end(status, &err);
	return c;
}
