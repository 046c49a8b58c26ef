#include "command/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/print.h"
#include "node/board/board.h"

/* Silence at first, then now and then. */
#define AFTER_S 5.0
#define EVERY_S 10.0
#define BAR_EVERY_S 0.2

void cs_progress_init(struct cs_progress *p, double began_s, int quiet)
{
	*p = (struct cs_progress){ .began_s = began_s,
				   .quiet = quiet,
				   .tty = isatty(2) };
}

void cs_progress_clear(struct cs_progress *p)
{
	if (p->bar)
		fputs("\r\033[K", stderr);
	p->bar = 0;
}

/* Are the steps of the plan counted?  With placements it is turns. */
static int counts_steps(const struct cs_progress *p)
{
	return p->plan && p->plan->n_steps == p->all;
}

static double mean(const struct cs_pace *pace)
{
	return pace->seconds / pace->steps;
}

/* How much longer it takes than a copy over a link (H200). */
static double weight_of(const struct cs_plan *plan, const struct cs_step *step)
{
	const struct cs_test *test = cs_plan_test(plan, step);

	if (test->how == CS_HOW_OVERLAP)
		return test->op == CS_OP_COPY ? 3 : 8;
	if (test->how == CS_HOW_BATCHES)
		return 0.6;
	if (cs_transfer_is_managed(cs_plan_transfer(plan, step, 0)))
		return 4;
	if (test->path == CS_PATH_HOST || test->least_precision >= 0.05)
		return 5;
	return step->count > 1 && cs_test_crosses_host_link(test) ? 3.5 : 1.2;
}

/* Add a pace to another. */
static void add_pace(struct cs_pace *to, const struct cs_pace *more)
{
	to->seconds += more->seconds;
	to->weight += more->weight;
	to->steps += more->steps;
}

double cs_progress_left(const struct cs_progress *p)
{
	struct cs_pace of_test[CS_TESTS_MOST] = { { 0 } };
	double left = 0;

	if (!counts_steps(p) || !p->took_all.steps)
		return NAN;
	for (uint32_t v = 0; v < p->plan->n_matrices; v++)
		add_pace(&of_test[cs_plan_matrix_at(p->plan, v)->test], &p->took[v]);
	for (uint32_t s = p->done; s < p->all; s++) {
		const struct cs_step *step = cs_plan_step(p->plan, s);
		const struct cs_pace *own = &p->took[step->matrix];
		const struct cs_pace *test =
			&of_test[cs_plan_matrix_at(p->plan, step->matrix)->test];

		left += own->steps  ? mean(own) :
			test->steps ? mean(test) :
				      weight_of(p->plan, step) * p->took_all.seconds /
					      p->took_all.weight;
	}
	return left;
}

static void note_pace(struct cs_progress *p, uint32_t done, double now_s)
{
	double each = (now_s - p->step_s) / (done - p->done);

	for (uint32_t s = p->done; s < done; s++) {
		const struct cs_step *step = cs_plan_step(p->plan, s);
		const struct cs_pace one = { each, weight_of(p->plan, step), 1 };

		add_pace(&p->took[step->matrix], &one);
		add_pace(&p->took_all, &one);
	}
}

/* ", about 30 s left: h2d.ce.pinned.pair", which is measured now; or nothing. */
static void say_left(const struct cs_progress *p, char *text, size_t size)
{
	double left = p->duration_s > 0 ? fmax(p->end_s - p->step_s, 0) :
					  cs_progress_left(p);

	text[0] = '\0';
	if (isfinite(left) && p->done < p->all)
		cs_text(text, size, ", about %.0f s left: %s", left,
			cs_plan_test(p->plan, cs_plan_step(p->plan, p->done))->name);
}

static void say_pass(const struct cs_progress *p, char *text, size_t size)
{
	text[0] = '\0';
	if (p->pass)
		cs_text(text, size, "pass %u, ", p->pass);
}

void cs_progress_show(struct cs_progress *p, size_t rows)
{
	char left[160], pass[24];

	cs_progress_clear(p);
	say_left(p, left, sizeof(left));
	say_pass(p, pass, sizeof(pass));
	cs_print_line(stderr, "cscope-mpi: %s%u of %u steps, %zu rows, %.0f s%s",
		      pass, p->done, p->all, rows, cs_clock_s() - p->began_s, left);
}

static void show_bar(struct cs_progress *p)
{
	int full = p->all ? (int)(30 * p->done / p->all) : 0;
	char left[160], pass[24];

	say_left(p, left, sizeof(left));
	say_pass(p, pass, sizeof(pass));
	fputs("\r", stderr);
	cs_print(stderr, "[%.*s%*s] %s%u/%u steps%s", full,
		 "##############################", 30 - full, "", pass, p->done,
		 p->all, left);
	fputs("\033[K", stderr);
	fflush(stderr);
	p->bar = 1;
}

void cs_progress_step(struct cs_progress *p, uint32_t done, uint32_t all, size_t rows,
		      double now_s)
{
	double since = now_s - p->began_s;

	p->all = all;
	if (p->duration_s > 0 && done <= p->done && ++p->pass == 1)
		p->end_s = now_s + p->duration_s;
	if (counts_steps(p) && done > p->done)
		note_pace(p, done, now_s);
	p->done = done;
	p->step_s = now_s;
	if (p->quiet || since < AFTER_S ||
	    since - p->shown_s < (p->tty ? BAR_EVERY_S : EVERY_S))
		return;
	p->shown_s = since;
	if (p->tty)
		show_bar(p);
	else
		cs_progress_show(p, rows);
}
