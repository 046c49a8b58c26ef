#include "config.h"

#include "base/print.h"
#include "check/verdict/check.h"
#include "report/views.h"

int cs_reason_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt)
{
	char line[CS_REASON_LINE];

	(void)opt; /* one line is one line */
	cs_run_reason(run, line);
	cs_print_line(to, "%s", line);
	return ferror(to) ? -1 : 0;
}
