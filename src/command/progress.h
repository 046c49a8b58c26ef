/* progress.h - the progress of a run on standard error: a bar on a terminal, else an
 * occasional line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cs_progress {
	double began_s, shown_s;
	uint32_t done, all; /* steps */
	int quiet, tty;
	int bar; /* the terminal's last line has one */
};

void cs_progress_init(struct cs_progress *progress, double began_s, int quiet);
/* Report that `done` of `all` steps are done, with so many rows. */
void cs_progress_step(struct cs_progress *progress, uint32_t done, uint32_t all,
		      size_t rows);
/* Print the line, at once. */
void cs_progress_show(struct cs_progress *progress, size_t rows);
/* Call it before anything else is printed on standard error. */
void cs_progress_clear(struct cs_progress *progress);
