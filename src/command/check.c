/* check.c - cscope-mpi check FILE...: the runs of many nodes, judged as one. */
#include <string.h>

#include "base/arena.h"
#include "base/hostlist.h"
#include "check/verdict/check.h"
#include "command/command.h"
#include "result/merge.h"

struct fleet {
	const struct cs_options *opt;
	struct cs_readers *readers;
	struct cs_merge merge;
	const struct cs_criteria *criteria;
	struct cs_loaded base; /* owns texts of the merged run */
	struct cs_loaded next; /* a file until it is merged */
	struct cs_err first;   /* of the first file that cannot be read */
	int first_status;      /* 0: all can be read */
};

static void check(int rc, const struct cs_err *err)
{
	if (rc)
		cs_arena_give_up(err);
}

static void add_unreadable(struct fleet *fleet, int file, const struct cs_err *why)
{
	struct cs_finding f = CS_FOUND(CS_CRITICAL, -1, CS_FINDING_FILE_UNREADABLE);

	if (fleet->opt->redact)
		cs_text(f.text, sizeof(f.text), "file %d cannot be read", file + 1);
	else
		cs_text(f.text, sizeof(f.text), "%s", why->text);
	cs_finding_advise(&f);
	cs_list_push(&fleet->merge.run.findings, &f);
}

/* Add the file's name, or its number with --redact, to the findings of a journal that
 * was cut before the record of its node: nothing else names their origin. */
static void name_findings(const struct fleet *fleet, struct cs_run *run, int file)
{
	char name[160], text[CS_ERR_TEXT];

	if (run->n_nodes > 1 || (run->n_nodes && run->node[0].facts.host[0]))
		return;
	if (fleet->opt->redact)
		cs_text(name, sizeof(name), "file %d", file + 1);
	else
		cs_text(name, sizeof(name), "%s", fleet->opt->files[file]);
	CS_EACH(struct cs_finding, f, &run->findings) {
		cs_text(text, sizeof(text), "%s: %s", name, f->text);
		memcpy(f->text, text, sizeof(text));
	}
}

/* Most of the memory of a fleet's rows. */
static int shows_samples(const struct cs_options *opt)
{
	int shows = opt->view.verbose || opt->format->of_samples;

	for (int i = 0; i < opt->n_outputs; i++)
		shows |= cs_format_by_file(opt->output[i])->of_samples;
	return shows;
}

/* Add a file.  One that cannot be read is a finding, and the rest is judged. */
static void add_file(struct fleet *fleet, int file)
{
	struct cs_loaded *next = &fleet->next, was = fleet->base;
	struct cs_err err;
	int status = cs_readers_take(fleet->readers, next, &err);

	if (status) {
		if (!fleet->first_status) {
			fleet->first_status = status;
			fleet->first = err;
		}
		add_unreadable(fleet, file, &err);
		return;
	}
	cs_check_forget(&next->run, cs_criteria_any(fleet->criteria));
	name_findings(fleet, &next->run, file);
	if (!shows_samples(fleet->opt))
		cs_rows_forget_samples(&next->run.rows);
	if (cs_merge_add(&fleet->merge, &next->run)) {
		/* the merged run has its rows */
		cs_rows_release(&next->run.rows);
		fleet->base = *next;
		*next = was;
	}
	cs_loaded_release(next);
}

static void expect(struct fleet *fleet, const char *list)
{
	struct cs_vec names = { .element = CS_HOST, .is_list = 1 };
	struct cs_err err = { "" };

	check(cs_hostlist_parse(list, &names, &err), &err);
	cs_merge_expect(&fleet->merge, names.data, names.n);
}

static void judge(struct fleet *fleet)
{
	struct cs_run *run = &fleet->merge.run;
	struct cs_err err;

	/* without any measurement only the checks that need none */
	run->checks = run->plan || cs_rows_count(&run->rows) ?
			      cs_checks_all() :
			      CS_CHECK_LAUNCH | CS_CHECK_TOPOLOGY;
	run->margin = fleet->opt->margin;
	run->min_coverage = fleet->opt->min_coverage;
	cs_criteria_apply(fleet->criteria, run);
	cs_complain_of_switches(fleet->opt, run);
	check(cs_check_run(run, &err), &err);
	cs_run_sort_findings(run);
	run->exit_status = cs_run_exit(run);
}

static void gather(struct fleet *fleet)
{
	const struct cs_options *opt = fleet->opt;

	fleet->readers = cs_readers_start(opt->files, opt->n_files);
	cs_arena_check(!fleet->readers);
	for (int i = 0; i < opt->n_files; i++)
		add_file(fleet, i);
	if (!fleet->merge.parts.n)
		cs_command_end(fleet->first_status, &fleet->first);
	if (opt->nodes)
		expect(fleet, opt->nodes);
	cs_merge_end(&fleet->merge);
}

static int answer(struct fleet *fleet, FILE *to, struct cs_err *err)
{
	struct cs_run *run = &fleet->merge.run;
	int status;

	if (fleet->opt->redact)
		cs_command_redact(run);
	status = cs_command_write(fleet->opt, run, to, err);
	if (!status && run->exit_status)
		cs_run_verdict(run, err->text, sizeof(err->text));
	return status ? status : run->exit_status;
}

static void release(void *what)
{
	struct fleet *fleet = what;

	cs_readers_stop(fleet->readers);
	cs_merge_release(&fleet->merge);
	cs_loaded_release(&fleet->base);
	cs_loaded_release(&fleet->next);
}

int cs_command_check(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct fleet *fleet = cs_new(struct fleet, 1);

	fleet->opt = opt;
	cs_arena_at_end(release, fleet);
	cs_merge_init(&fleet->merge, opt->n_files);
	fleet->criteria = cs_command_criteria(opt);
	gather(fleet);
	judge(fleet);
	return answer(fleet, to, err);
}
