#include "config.h"

#include "judging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/baseline.h"

/* FILE[,...]; a name with ',' may be a file's all the same. */
static int read_baselines(struct cs_judging *j, const char *list, struct cs_err *err)
{
	char *copy = strdup(list), *rest = copy, *name;
	int status = 0;

	if (!copy) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	while (!status && (name = strsep(&rest, ",")))
		status = cs_baseline_read(name, &j->baseline, err);
	free(copy);
	if (status)
		cs_err_prefix(err, "--baseline");
	return status;
}

static int read_thresholds(struct cs_judging *j, const char *name,
			   struct cs_err *err)
{
	FILE *from = fopen(name, "re");
	char *text = NULL;
	int rc;

	if (!from) {
		cs_err_set(err, "--threshold: cannot read '%.200s': %s", name,
			   strerror(errno));
		return CS_EXIT_CANNOT;
	}
	rc = cs_table_load(from, &text, err);
	fclose(from);
	if (rc)
		cs_err_prefix(err, "%.200s", name);
	else
		rc = cs_thresholds_read(&j->thresholds, text, name, err);
	free(text);
	if (!rc)
		return 0;
	for (char *c = err->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?'; /* it quotes the file */
	cs_err_prefix(err, "--threshold");
	return CS_EXIT_USAGE;
}

int cs_judging_open(struct cs_judging *j, const struct cs_options *opt,
		    struct cs_err *err)
{
	int status = 0;

	cs_baseline_init(&j->baseline);
	cs_thresholds_init(&j->thresholds);
	if (opt->baseline)
		status = read_baselines(j, opt->baseline, err);
	if (!status && opt->threshold)
		status = read_thresholds(j, opt->threshold, err);
	if (opt->redact) /* a name of the site */
		cs_text(j->thresholds.name, sizeof(j->thresholds.name), "line");
	if (!status && opt->min_share > 0 &&
	    cs_thresholds_share(&j->thresholds, opt->min_share, err))
		status = CS_EXIT_CANNOT;
	return status;
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
}
