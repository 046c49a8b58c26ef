#include "config.h"

#include "check/check.h"
#include "report/views.h"

int cs_reason_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt)
{
	char line[CS_REASON_LINE];

	(void)opt; /* one line is one line */
	cs_run_reason(run, line);
	return fprintf(to, "%s\n", line) < 0 || ferror(to) ? -1 : 0;
}
