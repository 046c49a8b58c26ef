/* settings.h - the settings of a plan by name and as text.  Each setting that affects
 * the measurement is one line of a table.  Two plans differ in the settings whose
 * texts differ.  Pure. */
#pragma once

#include "base/fieldset.h"
#include "plan/plan.h"

/* The precision that the median of a cell must reach: the user's; else the default,
 * or the coarser one of its test, variant and size. */
double cs_precision_of(const struct cs_settings *set,
		       const struct cs_plan_matrix *matrix);

#define CS_SETTING CS_FILTER /* characters of a value, with the 0 */

/* Settings with a label affect the measurement. */
extern const struct cs_fieldset cs_settings_fields;
/* The label of the next setting from *at on (first 0) that differs, with both values
 * as users write them: "0.5 s"; "" for a setting that an older file does not have.
 * NULL: none. */
const char *cs_settings_differ(const struct cs_settings *a,
			       const struct cs_settings *b, size_t *at,
			       char x[CS_SETTING], char y[CS_SETTING]);
