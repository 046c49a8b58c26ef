#include "config.h"

#include "command/criteria.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "check/fleet/expected.h"
#include "file/baseline.h"

static int load(const char *name, char **text, struct cs_err *err)
{
	FILE *from = fopen(name, "re");
	int rc;

	if (!from)
		return cs_err_set(err, "cannot read '%.200s': %s", name,
				  strerror(errno));
	rc = cs_table_load(from, text, err);
	fclose(from);
	return rc ? cs_err_prefix(err, "%.200s", name) : 0;
}

static int read_baseline(struct cs_criteria *c, const char *name, struct cs_err *err)
{
	char *text = NULL;
	int rc = load(name, &text, err) ||
		 cs_baseline_parse(name, text, &c->baseline, err);

	free(text);
	return rc ? cs_err_prefix(err, "--baseline") : 0;
}

/* Of a list FILE[,...] each. */
static int read_baselines(struct cs_criteria *c, const char *list, struct cs_err *err)
{
	char *copy = strdup(list), *rest = copy, *name;
	int rc = copy ? 0 : cs_err_set(err, "no memory");

	while (!rc && (name = strsep(&rest, ",")))
		rc = read_baseline(c, name, err);
	free(copy);
	return rc;
}

static int read_thresholds(struct cs_criteria *c, const char *name, struct cs_err *err)
{
	char *text = NULL;
	int rc = load(name, &text, err) ||
		 cs_thresholds_read(&c->thresholds, text, name, err);

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

	if ((opt->baseline && read_baselines(c, opt->baseline, err)) ||
	    (opt->threshold && read_thresholds(c, opt->threshold, err)))
		return CS_EXIT_USAGE;
	if (opt->expect && read_expect(c, opt, &share, err))
		return CS_EXIT_USAGE;
	if (opt->redact) /* a name of the site */
		cs_text(c->thresholds.name, sizeof(c->thresholds.name), "line");
	return share > 0 && cs_thresholds_share(&c->thresholds, share, err) ?
		       CS_EXIT_USAGE :
		       0;
}
