#include "config.h"

#include "command/judging.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "file/baseline.h"

enum kind { BASELINE, THRESHOLD };

static const char *const option[] = { "--baseline", "--threshold" };

/* What is done with one file, or its text. */
typedef int one_fn(struct cs_judging *j, enum kind kind, const char *name,
		   struct cs_err *err);

void cs_judging_init(struct cs_judging *j)
{
	cs_baseline_init(&j->baseline);
	cs_thresholds_init(&j->thresholds);
	j->texts = (struct cs_vec)CS_VEC(char);
	j->taken = 0;
}

/* Every file that options name, in order; of a list FILE[,...] each. */
static int each(struct cs_judging *j, const struct cs_options *opt, one_fn *one,
		struct cs_err *err)
{
	char *copy = strdup(opt->baseline ? opt->baseline : ""), *rest = copy, *name;
	int status = 0;

	if (!copy) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	while (opt->baseline && !status && (name = strsep(&rest, ",")))
		status = one(j, BASELINE, name, err);
	free(copy);
	if (!status && opt->threshold)
		status = one(j, THRESHOLD, opt->threshold, err);
	return status;
}

static int read_one(struct cs_judging *j, enum kind kind, const char *name,
		    struct cs_err *err)
{
	FILE *from = fopen(name, "re");
	char *text = NULL, *to;
	int rc;

	if (!from) {
		cs_err_set(err, "%s: cannot read '%.200s': %s", option[kind], name,
			   strerror(errno));
		return CS_EXIT_USAGE;
	}
	rc = cs_table_load(from, &text, err);
	fclose(from);
	if (rc) {
		cs_err_prefix(err, "%s: %.200s", option[kind], name);
		return CS_EXIT_USAGE;
	}
	to = cs_vec_add(&j->texts, strlen(text) + 1, err);
	if (to)
		strcpy(to, text);
	free(text);
	return to ? 0 : CS_EXIT_CANNOT;
}

static int take_one(struct cs_judging *j, enum kind kind, const char *name,
		    struct cs_err *err)
{
	const char *text = (const char *)j->texts.data + j->taken;
	const char *end = j->taken < j->texts.n ?
		memchr(text, '\0', j->texts.n - j->taken) : NULL;
	int rc;

	if (!end) {
		cs_err_set(err, "%s: rank 0 has not read '%.200s'", option[kind], name);
		return CS_EXIT_CANNOT;
	}
	j->taken += (size_t)(end - text) + 1;
	rc = kind == BASELINE ? cs_baseline_parse(name, text, &j->baseline, err) :
		cs_thresholds_read(&j->thresholds, text, name, err);
	if (!rc)
		return 0;
	cs_err_prefix(err, "%s", option[kind]);
	return CS_EXIT_USAGE;
}

int cs_judging_take(struct cs_judging *j, const struct cs_options *opt,
		    struct cs_err *err)
{
	int status;

	cs_baseline_release(&j->baseline);
	cs_thresholds_release(&j->thresholds);
	j->taken = 0;
	status = each(j, opt, take_one, err);
	if (opt->redact) /* a name of the site */
		cs_text(j->thresholds.name, sizeof(j->thresholds.name), "line");
	if (!status && opt->min_share > 0 &&
	    cs_thresholds_share(&j->thresholds, opt->min_share, err))
		status = CS_EXIT_CANNOT;
	return status;
}

int cs_judging_open(struct cs_judging *j, const struct cs_options *opt,
		    struct cs_err *err)
{
	int status = each(j, opt, read_one, err);

	return status ? status : cs_judging_take(j, opt, err);
}

void cs_judging_apply(const struct cs_judging *j, struct cs_run *run)
{
	run->baseline = j->baseline.classes.n ? &j->baseline : NULL;
	run->thresholds = j->thresholds.lines.n ? &j->thresholds : NULL;
}

int cs_judging_fits(const struct cs_judging *j, const struct cs_plan *plan,
		    struct cs_err *err)
{
	if (!j->baseline.classes.n || !plan)
		return 0;
	return cs_baseline_fits(&j->baseline, plan, err) ?
		       cs_err_prefix(err, "--baseline") : 0;
}

void cs_judging_release(struct cs_judging *j)
{
	cs_baseline_release(&j->baseline);
	cs_thresholds_release(&j->thresholds);
	cs_vec_release(&j->texts);
}
