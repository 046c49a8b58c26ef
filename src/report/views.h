/* views.h - the table of formats in format.c knows the views by these. */
#ifndef CS_REPORT_VIEWS_H
#define CS_REPORT_VIEWS_H

#include "report/report.h"

int cs_text_write(FILE *to, const struct cs_run *run,
		  const struct cs_view_options *opt);
int cs_csv_write(FILE *to, const struct cs_run *run,
		 const struct cs_view_options *opt);
int cs_result_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt);
int cs_reason_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt);
int cs_model_write(FILE *to, const struct cs_run *run,
		   const struct cs_view_options *opt);
int cs_model_csv_write(FILE *to, const struct cs_run *run,
		       const struct cs_view_options *opt);
int cs_prom_write(FILE *to, const struct cs_run *run,
		  const struct cs_view_options *opt);
int cs_nagios_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt);
int cs_junit_write(FILE *to, const struct cs_run *run,
		   const struct cs_view_options *opt);
int cs_html_write(FILE *to, const struct cs_run *run,
		  const struct cs_view_options *opt);
int cs_picture_write(FILE *to, const struct cs_run *run,
		     const struct cs_view_options *opt);
int cs_trace_write(FILE *to, const struct cs_run *run,
		   const struct cs_view_options *opt);
int cs_nvbandwidth_write(FILE *to, const struct cs_run *run,
			 const struct cs_view_options *opt);
int cs_nvbandwidth_json_write(FILE *to, const struct cs_run *run,
			      const struct cs_view_options *opt);
int cs_commscope_write(FILE *to, const struct cs_run *run,
		       const struct cs_view_options *opt);
int cs_commscope_json_write(FILE *to, const struct cs_run *run,
			    const struct cs_view_options *opt);
int cs_commscope_csv_write(FILE *to, const struct cs_run *run,
			   const struct cs_view_options *opt);

#endif
