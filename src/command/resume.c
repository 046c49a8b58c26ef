#include "command/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/load.h"
#include "plan/settings.h"
#include "result/cells.h"

static int is_journal(const struct cs_loaded *then, struct cs_err *err)
{
	if (!then->is_journal)
		return cs_err_set(err, "it is a document, not a journal");
	if (then->run.redacted)
		return cs_err_set(err, "it was written with --redact");
	if (!then->run.plan)
		return cs_err_set(err,
				  "it ended before there was a plan: run without --resume");
	return 0;
}

static int take_journal(struct cs_loaded *then, const char *file, struct cs_err *err)
{
	int status = cs_loaded_read(file, then, err);

	/* a missing file is a mistake in the command line */
	if (status) {
		cs_err_prefix(err, "cannot resume");
		return access(file, F_OK) ? CS_EXIT_USAGE : status;
	}
	if (!is_journal(then, err))
		return 0;
	cs_loaded_release(then);
	cs_err_prefix(err, "cannot resume '%.200s'", file);
	return CS_EXIT_USAGE;
}

/* Claim the journal before it is read: another run that still writes it would
 * continue after the part that was read. */
static int open_journal(struct cs_resume *resume, const char *file, struct cs_err *err)
{
	int fd = cs_output_descriptor(file, O_APPEND | O_NONBLOCK), error = errno;
	struct stat st;
	int status;

	memset(resume, 0, sizeof(*resume));
	if (!stat(file, &st) && S_ISFIFO(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		cs_err_set(err, "cannot resume '%.200s': it is a pipe, not a journal",
			   file);
		return CS_EXIT_USAGE;
	}
	if (fd >= 0 && cs_output_claim(fd)) {
		cs_err_set(err, "cannot resume: '%.200s' is still being written",
			   file);
		close(fd);
		return CS_EXIT_CANNOT;
	}
	status = take_journal(&resume->then, file, err);
	if (!status && fd < 0) {
		cs_loaded_release(&resume->then);
		cs_err_set(err, "cannot resume: cannot write '%.200s': %s", file,
			   strerror(error));
		return CS_EXIT_CANNOT;
	}
	if (status && fd >= 0)
		close(fd);
	if (status)
		return status;
	resume->file = file;
	resume->fd = fd;
	return 0;
}

/* Take seed and order from the journal: another day's date, or a budget that it did
 * not have, would make another plan. */
int cs_resume_open(struct cs_resume *resume, struct cs_options *opt,
		   struct cs_err *err)
{
	const struct cs_plan *then;
	int status = open_journal(resume, opt->resume, err);

	if (status)
		return status;
	then = resume->then.run.plan;
	opt->set.urgent = then->set.urgent;
	if (!opt->seeded)
		opt->set.seed = then->set.seed;
	opt->seeded = 1;
	return 0;
}

int cs_resume_continue(struct cs_resume *resume, struct cs_output *out,
		       struct cs_err *err)
{
	int rc = cs_output_continue(out, resume->file, resume->fd,
				    resume->then.whole_bytes, err);

	if (!rc)
		resume->fd = -1;
	return rc;
}

void cs_resume_release(struct cs_resume *resume)
{
	if (!resume->file)
		return;
	cs_loaded_release(&resume->then);
	if (resume->fd >= 0)
		close(resume->fd);
	resume->file = NULL;
}

static int other(struct cs_err *err, const char *what)
{
	return cs_err_set(err, "it has another plan: %s", what);
}

/* Compare the settings by name, then all else that makes a plan. */
static int compare_plans(const struct cs_plan *now, const struct cs_plan *then,
			 const char *version, struct cs_err *err)
{
	char x[CS_SETTING], y[CS_SETTING];
	size_t at = 0;
	const char *name = cs_settings_differ(&now->set, &then->set, &at, x, y);
	int same = now->n_matrices == then->n_matrices;

	if (name)
		return cs_err_set(err,
				  "it has another plan: %s is '%s', in the journal '%s'",
				  name, x, y);
	for (uint32_t v = 0; same && v < now->n_matrices; v++)
		same = !cs_plan_matrices_compare(cs_plan_matrix_at(now, v),
						 cs_plan_matrix_at(then, v));
	if (!same)
		return other(err, "other tests, or variants of them");
	if (now->n_agents != then->n_agents)
		return other(err, "another number of GPUs or arenas");
	if (now->id != then->id)
		return cs_err_set(err,
				  "it has another plan: version %s made it "
				  "with other steps or limits",
				  version);
	return 0;
}

static int may_go_on(const struct cs_resume *resume, const struct cs_run *run,
		     struct cs_err *err)
{
	const struct cs_run *then = &resume->then.run;

	if (compare_plans(run->plan, then->plan, then->version, err))
		return -1;
	if (then->stand_in != run->stand_in ||
	    then->virtual_clock != run->virtual_clock)
		return other(err, "GPUs, their double and host memory do not mix");
	if (then->n_nodes != run->n_nodes)
		return cs_err_set(err, "it is of %d nodes, this run of %d",
				  then->n_nodes, run->n_nodes);
	return 0;
}

/* Does it have a verdict and every row, and is every row ok? */
static int is_complete(const struct cs_loaded *then, struct cs_err *err)
{
	size_t n = cs_rows_count(&then->run.rows), i;
	char *keep = calloc(n + 1, 1);
	int complete = then->has_verdict && then->run.complete;

	if (!keep || cs_run_mark_whole(&then->run, keep, err))
		complete = keep ? -1 : cs_err_set(err, "no memory");
	for (i = 0; complete > 0 && i < n; i++)
		complete = keep[i];
	free(keep);
	return complete;
}

int cs_resume_take(struct cs_resume *resume, struct cs_run *run, struct cs_err *err)
{
	struct cs_run *then = &resume->then.run;

	if (may_go_on(resume, run, err))
		return cs_err_prefix(err, "cannot resume '%s'", resume->file);
	resume->complete = is_complete(&resume->then, err);
	if (resume->complete)
		return resume->complete;
	if (cs_run_keep_whole(then, err))
		return -1;
	cs_text(run->resumes, sizeof(run->resumes), "%s", then->id);
	run->rows = then->rows;
	cs_rows_init(&then->rows);
	for (int node = 0; node < run->n_nodes; node++) {
		cs_node_release(&run->node[node]);
		run->node[node] = cs_node_take(&then->node[node]);
	}
	return 0;
}
