#include "config.h"

#include "command/criteria.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "check/fleet/expected.h"
#include "file/baseline.h"
#include "file/input.h"

static int load(const struct cs_options *opt, const char *name, char **text,
		struct cs_err *err)
{
	FILE *from = cs_input_open(name, cs_input_wait_s(opt->budget_s), err);
	int rc;

	if (!from)
		return cs_err_prefix(err, "cannot read '%.200s'", name);
	rc = cs_table_load(from, text, err);
	fclose(from);
	return rc ? cs_err_prefix(err, "%.200s", name) : 0;
}

static int read_baseline(struct cs_criteria *c, const struct cs_options *opt,
			 const char *name, struct cs_err *err)
{
	char *text = NULL;
	int rc = load(opt, name, &text, err) ||
		 cs_baseline_parse(name, text, &c->baseline, err);

	free(text);
	return rc ? cs_err_prefix(err, "--baseline") : 0;
}

/* Of a list FILE[,...] each. */
static int read_baselines(struct cs_criteria *c, const struct cs_options *opt,
			  struct cs_err *err)
{
	char *copy = strdup(opt->baseline), *rest = copy, *name;
	int rc = copy ? 0 : cs_err_set(err, "no memory");

	while (!rc && (name = strsep(&rest, ",")))
		rc = read_baseline(c, opt, name, err);
	free(copy);
	return rc;
}

static int read_thresholds(struct cs_criteria *c, const struct cs_options *opt,
			   struct cs_err *err)
{
	char *text = NULL;
	int rc = load(opt, opt->threshold, &text, err) ||
		 cs_thresholds_read(&c->thresholds, text, opt->threshold, err);

	free(text);
	return rc ? cs_err_prefix(err, "--threshold") : 0;
}

/* *share: that of --min-share, unless it has one of its own. */
static int read_expect(struct cs_criteria *c, const struct cs_options *opt,
		       double *share, struct cs_err *err)
{
	int rc = cs_expected_parse(opt->expect, &c->expected, share, err);

	if (!rc && opt->looks && *share > 0)
		rc = cs_err_set(err, "'min-share': --check=%s measures nothing",
				opt->looks);
	return rc ? cs_err_prefix(err, "--expect") : 0;
}

int cs_criteria_read(struct cs_criteria *c, const struct cs_options *opt,
		     struct cs_err *err)
{
	double share = opt->min_share;

	if ((opt->baseline && read_baselines(c, opt, err)) ||
	    (opt->threshold && read_thresholds(c, opt, err)))
		return CS_EXIT_USAGE;
	if (opt->expect && read_expect(c, opt, &share, err))
		return CS_EXIT_USAGE;
	if (opt->redact) /* a name of the site */
		cs_text(c->thresholds.name, sizeof(c->thresholds.name), "line");
	return share > 0 && cs_thresholds_share(&c->thresholds, share, err) ?
		       CS_EXIT_USAGE :
		       0;
}
