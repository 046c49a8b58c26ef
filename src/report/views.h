/* views.h - the views, each the function of a line of formats.def. */
#ifndef CS_REPORT_VIEWS_H
#define CS_REPORT_VIEWS_H

#include "report/report.h"
#include "report/view.h"

typedef void cs_view_fn(FILE *to, const struct cs_view *view);

cs_view_fn cs_text_write;
#define FORMAT(name, write, about, ...) cs_view_fn write;
#define FORMAT_FILE(name, ending, write, about, ...) cs_view_fn write;
#include "report/formats.def"
#undef FORMAT
#undef FORMAT_FILE

#endif
