/* views.h - the functions of all views, for the table of formats in format.c. */
#ifndef CS_REPORT_VIEWS_H
#define CS_REPORT_VIEWS_H

#include "report/report.h"
#include "report/view.h"

int cs_text_write(FILE *to, const struct cs_view *view);
int cs_csv_write(FILE *to, const struct cs_view *view);
int cs_result_write(FILE *to, const struct cs_view *view);
int cs_reason_write(FILE *to, const struct cs_view *view);
int cs_model_write(FILE *to, const struct cs_view *view);
int cs_model_csv_write(FILE *to, const struct cs_view *view);
int cs_prom_write(FILE *to, const struct cs_view *view);
int cs_nagios_write(FILE *to, const struct cs_view *view);
int cs_junit_write(FILE *to, const struct cs_view *view);
int cs_html_write(FILE *to, const struct cs_view *view);
int cs_trace_write(FILE *to, const struct cs_view *view);
int cs_nvbandwidth_write(FILE *to, const struct cs_view *view);
int cs_nvbandwidth_json_write(FILE *to, const struct cs_view *view);
int cs_commscope_write(FILE *to, const struct cs_view *view);
int cs_commscope_json_write(FILE *to, const struct cs_view *view);
int cs_commscope_csv_write(FILE *to, const struct cs_view *view);

#endif
