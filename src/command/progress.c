#include "command/progress.h"

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

void cs_progress_show(struct cs_progress *p, size_t rows)
{
	cs_progress_clear(p);
	cs_print_line(stderr, "cscope-mpi: %u of %u steps, %zu rows, %.0f s", p->done,
		      p->all, rows, cs_clock_s() - p->began_s);
}

static void show_bar(struct cs_progress *p, double now)
{
	double left = p->done ? now / p->done * (p->all - p->done) : 0;
	int full = p->all ? (int)(30 * p->done / p->all) : 0;

	fputs("\r", stderr);
	cs_print(stderr, "[%.*s%*s] %u/%u steps  %.1f/s  %.0f s left", full,
		 "##############################", 30 - full, "", p->done, p->all,
		 p->done / now, left);
	fputs("\033[K", stderr);
	fflush(stderr);
	p->bar = 1;
}

void cs_progress_step(struct cs_progress *p, uint32_t done, uint32_t all, size_t rows)
{
	double now = cs_clock_s() - p->began_s;

	p->done = done;
	p->all = all;
	if (p->quiet || now < AFTER_S ||
	    now - p->shown_s < (p->tty ? BAR_EVERY_S : EVERY_S))
		return;
	p->shown_s = now;
	if (p->tty)
		show_bar(p, now);
	else
		cs_progress_show(p, rows);
}
