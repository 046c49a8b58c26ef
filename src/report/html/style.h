/* style.h - what CSS adds to a page. */
#ifndef CS_REPORT_HTML_STYLE_H
#define CS_REPORT_HTML_STYLE_H

#include "report/html/markup.h"

/* What stands between <style> and </style>. */
void cs_html_style(const struct cs_html *h);

#endif
