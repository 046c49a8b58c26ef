/* verdict.c - a run in one word: its exit status, and why, in one line. */
#include "check/verdict/check.h"

#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "check/cells/anomaly.h"
#include "check/verdict/internal.h"

/* Was so much left out for the budget that a verdict would rest on too little? */
static int is_too_little(const struct cs_run *run, const struct cs_coverage *c)
{
	double wanted = run->min_coverage * (double)(c->measured + c->left_out);

	return run->checks && c->left_out &&
	       ((double)c->measured < wanted || c->unseen);
}

/* Are so many figures uncertain that a verdict would rest on too little? */
static int is_too_uncertain(struct cs_run *run)
{
	size_t n = 0, uncertain = 0;

	if (!(run->checks & (CS_CHECK_OUTLIER | CS_CHECK_LINK)))
		return 0;
	for (int node = 0; run->node && node < run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
			if (!cs_can_be_judged(run, row))
				continue;
			n++;
			uncertain += cs_is_unsure(row) != 0;
		}
	}
	if (!((double)(n - uncertain) < run->min_coverage * (double)n))
		return 0;
	run->n_comparable = n;
	run->n_uncertain = uncertain;
	return 1;
}

int cs_run_exit(struct cs_run *run)
{
	size_t n = cs_rows_count(&run->rows), i, measured = 0;
	struct cs_coverage c;
	int cannot = 0, warned = 0, used = 0, unavailable = 0, no_sign = 0;

	run->n_uncertain = 0;
	CS_EACH(const struct cs_finding, f, &run->findings) {
		if (f->check && !run->checks)
			continue;
		if (f->id == CS_FINDING_CANNOT_TEST)
			cannot = 1;
		else if (f->severity == CS_CRITICAL)
			return CS_EXIT_CRITICAL;
		no_sign |= f->id == CS_FINDING_NO_SIGN;
		used |= f->id == CS_FINDING_IN_USE;
		unavailable |= f->id == CS_FINDING_GPU_UNAVAILABLE;
		warned |= f->check && f->severity == CS_WARNING;
	}
	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->status >= CS_FAILED && !cs_row_is_refused(row))
			return CS_EXIT_CRITICAL;
		measured += row->status == CS_OK;
	}
	measured |= cs_only_checked(run);
	c = cs_run_coverage(run);
	if (cannot || (!run->complete && !no_sign) ||
	    (!measured && !used && !unavailable && !no_sign && !c.left_out))
		return CS_EXIT_CANNOT;
	if (unavailable || no_sign || !measured || is_too_little(run, &c) ||
	    is_too_uncertain(run))
		return CS_EXIT_UNABLE;
	return warned ? CS_EXIT_WARNING : CS_EXIT_OK;
}

/* Judgements do only under --check. */
static int changes_status(const struct cs_run *run, const struct cs_finding *f)
{
	return !f->check || run->checks;
}

/* The gravest finding of at least `least`, with its host and how many more; `all`: also if
 * it does not change the status. */
static int worst_text(const struct cs_run *run, uint32_t least, int all, char *to,
		      size_t size)
{
	const struct cs_finding *f = run->findings.data, *worst = NULL;
	char more[40] = "", host[CS_HOST + 2] = "";
	size_t like = 0;

	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].severity >= least && (all || changes_status(run, &f[i])) &&
		    (!worst || f[i].severity > worst->severity))
			worst = &f[i];
	if (!worst)
		return 0;
	for (size_t i = 0; i < run->findings.n; i++)
		like += f[i].severity == worst->severity &&
			(all || changes_status(run, &f[i]));
	if (like > 1)
		cs_text(more, sizeof(more), " (and %zu more)", like - 1);
	if (run->node && worst->node >= 0 && worst->node < run->n_nodes)
		cs_text(host, sizeof(host), "%s: ", run->node[worst->node].facts.host);
	cs_text(to, size, "%s%s%s", host, worst->text, more);
	return 1;
}

/* ", no findings", ", 3 notes": notes need no action, so they are only counted; those that
 * are not about the machine are not. */
static void notes_text(const struct cs_run *run, char *to, size_t size)
{
	size_t n = 0;

	CS_EACH(const struct cs_finding, f, &run->findings)
		n += f->severity == CS_NOTE && !cs_finding_aside(f);
	if (n)
		cs_text(to, size, ", %zu note%s", n, n == 1 ? "" : "s");
	else
		cs_text(to, size, ", no findings");
}

/* The most important fact: a finding that is at least as grave, or that all is well.
 * 1 when it does not include how many cells were measured. */
static int first_text(const struct cs_run *run, const struct cs_coverage *c,
		      uint32_t least, char *to, size_t size)
{
	size_t n = cs_rows_count(&run->rows), i;
	const char *reason = "";
	char notes[40] = "";

	if (run->unwritten) {
		cs_text(to, size, "%s", run->unwritten);
		return 1;
	}
	for (i = 0; i < n && !reason[0]; i++)
		reason = cs_rows_get(&run->rows, i)->reason;
	if (worst_text(run, CS_CRITICAL, 0, to, size))
		return 1;
	if (!n && run->exit_status == CS_EXIT_UNABLE &&
	    worst_text(run, CS_WARNING, 0, to, size))
		return 1;
	if (!c->measured && !cs_only_checked(run)) {
		cs_text(to, size, "nothing could be measured%s%s",
			reason[0] ? ": " : "", reason);
		return 1;
	}
	if (is_too_little(run, c)) {
		cs_text(to, size,
			"only %zu of %zu cells were measured within the budget",
			c->measured, c->measured + c->left_out);
		if (c->unseen)
			cs_text_add(to, size, ", and none of %zu GPU%s", c->unseen,
				    c->unseen == 1 ? "" : "s");
		return 0;
	}
	if (run->n_uncertain) {
		cs_text(to, size,
			"%zu of %zu cells are too uncertain to be judged; a longer "
			"--set cell-limit gives them more samples",
			run->n_uncertain, run->n_comparable);
		return 1;
	}
	if (worst_text(run, least, 1, to, size))
		return 1;
	if (!c->left_out && least < CS_CRITICAL)
		notes_text(run, notes, sizeof(notes));
	if (cs_only_checked(run))
		cs_text(to, size, "%s", notes[0] ? notes + 2 : "no findings");
	else
		cs_text(to, size, "%s%zu of %zu cells measured%s",
			run->stand_in  ? "NO GPU, host memory stands in: " :
			cs_on_cpu(run) ? "host memory, no GPU: " :
					 "",
			c->measured, c->left_out ? c->planned : c->cells, notes);
	return 0;
}

/* "; 40 of 56 cells"; "" of a run without a budget or a plan. */
static void coverage_text(const struct cs_run *run, const struct cs_coverage *c,
			  char *to, size_t size)
{
	to[0] = '\0';
	if (run->budget_s > 0 && c->planned)
		cs_text(to, size, "; %zu of %zu cells", c->measured, c->planned);
}

/* Cells that were left out are included in any case. */
void cs_run_summary(const struct cs_run *run, char *to, size_t size)
{
	struct cs_coverage c = cs_run_coverage(run);
	size_t used;

	if (!first_text(run, &c, CS_WARNING, to, size))
		return;
	used = strlen(to);
	coverage_text(run, &c, to + used, size - used);
}

/* Replace characters that a shell reads in double quotes, or that end a line. */
static void make_harmless(char *text)
{
	cs_clean(text);
	for (; *text; text++)
		if (strchr("\"\\$`", *text))
			*text = '\'';
}

/* "; 0000:2b:00.0": a bus id in what is cut off; "" none. */
static const char *cut_place(const char *cut)
{
	unsigned n;

	for (const char *at = strchr(cut, ';'); at; at = strchr(at + 1, ';'))
		if (sscanf(at, "; %4x:%2x:%2x.%1x", &n, &n, &n, &n) == 4)
			return cs_new_text("%.14s", at);
	return "";
}

void cs_run_reason(const struct cs_run *run, char to[CS_REASON_LINE])
{
	static const char *const word[] = {
		[CS_EXIT_OK] = "ok",
		[CS_EXIT_WARNING] = "warning",
		[CS_EXIT_CRITICAL] = "critical",
		[CS_EXIT_CANNOT] = "cannot test",
	};
	struct cs_coverage c = cs_run_coverage(run);
	char text[CS_ERR_TEXT + CS_HOST], coverage[64] = "", head[32];
	const char *place = "";
	size_t room;

	cs_text(head, sizeof(head), "cscope-mpi %s: ",
		run->exit_status <= CS_EXIT_CANNOT ? word[run->exit_status] :
		run->exit_status == CS_EXIT_OUTPUT ? "output lost" :
		run->exit_status == CS_EXIT_UNABLE ? "cannot tell" :
						     "ended early");
	/* findings that did not change the status are no reason for it */
	if (first_text(run, &c,
		       run->exit_status == CS_EXIT_OK ? CS_CRITICAL + 1 : CS_WARNING,
		       text, sizeof(text)))
		coverage_text(run, &c, coverage, sizeof(coverage));
	make_harmless(text);
	room = CS_REASON_LINE - 1 - strlen(head) - strlen(coverage);
	if (strlen(text) > room) {
		place = cut_place(text + room - 3);
		room -= strlen(place);
		memcpy(text + room - 3, "...", 4);
	}
	cs_text(to, CS_REASON_LINE, "%s%s%s%s", head, text, place, coverage);
}

void cs_run_verdict(const struct cs_run *run, char *to, size_t size)
{
	char summary[CS_ERR_TEXT + CS_HOST];

	cs_run_summary(run, summary, sizeof(summary));
	cs_text(to, size, "%s%s (exit %d)",
		run->exit_status == CS_EXIT_CRITICAL ? "critical: " :
		run->exit_status == CS_EXIT_WARNING  ? "warning: " :
						       "",
		summary, run->exit_status);
}
