/* check.c - cscope-mpi check FILE...: the runs of many nodes, judged as one. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "check/verdict/check.h"
#include "command/command.h"
#include "command/criteria.h"
#include "command/readers.h"
#include "result/merge.h"
#include "result/redact.h"

struct fleet {
	const struct cs_options *opt;
	struct cs_readers *readers;
	struct cs_merge merge;
	struct cs_criteria criteria;
	struct cs_loaded base; /* owns texts of the merged run */
	struct cs_err first;   /* of the first file that cannot be read */
	int first_status;      /* 0: all can be read */
};

/* The name of a file in a finding; its number with --redact. */
static void file_text(const struct fleet *fleet, int file, char *to, size_t size)
{
	if (fleet->opt->redact)
		cs_text(to, size, "file %d", file + 1);
	else
		cs_text(to, size, "%s", fleet->opt->files[file]);
}

static int say_unreadable(struct fleet *fleet, int file, const struct cs_err *why,
			  struct cs_err *err)
{
	struct cs_finding f = { .severity = CS_CRITICAL,
				.node = -1,
				.id = CS_FINDING_FILE_UNREADABLE };

	if (fleet->opt->redact)
		cs_text(f.text, sizeof(f.text), "file %d cannot be read", file + 1);
	else
		cs_text(f.text, sizeof(f.text), "%s", why->text);
	cs_finding_advise(&f);
	return cs_finding_add(&fleet->merge.run.findings, &f, err);
}

/* Add the file's name to the findings of a journal that was cut before the record of
 * its node: nothing else names their origin. */
static void name_findings(const struct fleet *fleet, struct cs_run *run, int file)
{
	struct cs_finding *f = run->findings.data;
	char text[CS_ERR_TEXT], name[160];

	if (run->n_nodes > 1 || (run->n_nodes && run->node[0].facts.host[0]))
		return;
	file_text(fleet, file, name, sizeof(name));
	for (size_t i = 0; i < run->findings.n; i++) {
		cs_text(text, sizeof(text), "%s: %s", name, f[i].text);
		memcpy(f[i].text, text, sizeof(text));
	}
}

/* Add a file.  One that cannot be read is a finding, and the rest is judged. */
static int add_file(struct fleet *fleet, int file, struct cs_err *err)
{
	struct cs_loaded loaded;
	struct cs_err why;
	int status = cs_readers_take(fleet->readers, &loaded, &why), base;

	if (status) {
		if (!fleet->first_status) {
			fleet->first_status = status;
			fleet->first = why;
		}
		return say_unreadable(fleet, file, &why, err);
	}
	cs_check_forget(&loaded.run, cs_criteria_any(&fleet->criteria));
	name_findings(fleet, &loaded.run, file);
	base = cs_merge_add(&fleet->merge, &loaded.run, err);
	if (base == 1) {
		cs_loaded_release(&fleet->base);
		fleet->base = loaded;
		/* the merged run has its rows */
		cs_rows_release(&fleet->base.run.rows);
	} else {
		cs_loaded_release(&loaded);
	}
	return base < 0 ? -1 : 0;
}

static int expect(struct fleet *fleet, const char *list, struct cs_err *err)
{
	struct cs_vec names = { .element = CS_HOST };
	int rc = cs_hostlist_parse(list, &names, err) ||
		 cs_merge_expect(&fleet->merge, names.data, names.n, err);

	cs_vec_release(&names);
	return rc ? -1 : 0;
}

/* Without any measurement, only the checks that need none. */
static uint32_t checks_of(const struct cs_run *run)
{
	return run->plan || cs_rows_count(&run->rows) ?
		       cs_checks_all() :
		       CS_CHECK_LAUNCH | CS_CHECK_TOPOLOGY;
}

static int judge(struct fleet *fleet, struct cs_err *err)
{
	struct cs_run *run = &fleet->merge.run;

	run->checks = checks_of(run);
	run->margin = fleet->opt->margin;
	cs_criteria_apply(&fleet->criteria, run);
	if (cs_check_run(run, err))
		return -1;
	cs_run_sort_findings(run);
	run->exit_status = cs_run_exit(run);
	return 0;
}

/* 0, or the status of the error. */
static int gather(struct fleet *fleet, struct cs_err *err)
{
	const struct cs_options *opt = fleet->opt;

	fleet->readers = cs_readers_start(opt->files, opt->n_files);
	if (!fleet->readers) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	for (int i = 0; i < opt->n_files; i++)
		if (add_file(fleet, i, err))
			return CS_EXIT_CANNOT;
	if (!fleet->merge.parts.n) {
		*err = fleet->first;
		return fleet->first_status;
	}
	if ((opt->nodes && expect(fleet, opt->nodes, err)) ||
	    cs_merge_end(&fleet->merge, err))
		return CS_EXIT_CANNOT;
	return judge(fleet, err) ? CS_EXIT_CANNOT : 0;
}

static int answer(struct fleet *fleet, FILE *to, struct cs_err *err)
{
	const struct cs_options *opt = fleet->opt;
	struct cs_run *run = &fleet->merge.run;
	struct cs_redact redact;
	int status;

	cs_redact_init(&redact);
	if (opt->redact && cs_redact_run(&redact, run, err))
		status = CS_EXIT_CANNOT;
	else
		status = cs_command_write(opt, run, to, err);
	if (!status) {
		status = run->exit_status;
		if (status)
			cs_run_verdict(run, err->text, sizeof(err->text));
	}
	cs_redact_release(&redact);
	return status;
}

int cs_command_check(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct fleet fleet = { .opt = opt };
	int status;

	if (cs_merge_init(&fleet.merge, opt->n_files, err))
		return CS_EXIT_CANNOT;
	cs_criteria_init(&fleet.criteria);
	status = cs_criteria_read(&fleet.criteria, opt, err);
	if (!status)
		status = gather(&fleet, err);
	if (!status)
		status = answer(&fleet, to, err);
	cs_readers_stop(fleet.readers);
	cs_criteria_release(&fleet.criteria);
	cs_merge_release(&fleet.merge);
	cs_loaded_release(&fleet.base);
	return status;
}
