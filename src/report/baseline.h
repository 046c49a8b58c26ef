/* baseline.h - a baseline as text: each statistic and the bound that follows from
 * it. */
#ifndef CS_REPORT_BASELINE_H
#define CS_REPORT_BASELINE_H

#include <stdio.h>

#include "check/bounds/baseline.h"

/* 0, or -1 with errno when the stream failed. */
int cs_baseline_text(FILE *to, const struct cs_baseline *baseline, double margin);

#endif
