#include "config.h"

#include "base/print.h"
#include "check/verdict/check.h"
#include "report/views.h"

void cs_reason_write(FILE *to, const struct cs_view *view)
{
	char line[CS_REASON_LINE];

	cs_run_reason(view->run, line);
	cs_print_line(to, "%s", line);
}
