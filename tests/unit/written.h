/* written.h - a run as a format writes it. */
#ifndef CS_TESTS_WRITTEN_H
#define CS_TESTS_WRITTEN_H

#include "report/report.h"
#include "tap.h"

/* Freed after the test. */
static inline char *written_as(const struct cs_run *run,
			       const struct cs_format *format,
			       struct cs_view_options opt)
{
	t_eq_int(cs_format_write(format, t_stream(), run, &opt), 0);
	return t_text();
}

#endif
