/* settings.h - the settings of a plan by name and as text: all that shape what is
 * measured, one line of a table each.  Two plans differ in what reads differently.
 * Pure. */
#ifndef CS_PLAN_SETTINGS_H
#define CS_PLAN_SETTINGS_H

#include "base/fieldset.h"
#include "plan/plan.h"

/* How well the median of a cell is to be known: what the user asked for; else the default,
 * or what its test and variant can give at most. */
double cs_precision_of(const struct cs_settings *set, const struct cs_test *test,
		       const struct cs_variant *v);

#define CS_SETTING CS_FILTER /* characters of a value, with the 0 */

/* Those with a label shape what is measured. */
extern const struct cs_fieldset cs_settings_fields;
/* The next one from *at on, which begins as 0, that reads differently: its label, and
 * both values as users write them, "0.5 s", "" of one that an older file does not know.
 * NULL: none. */
const char *cs_settings_differ(const struct cs_settings *a,
			       const struct cs_settings *b, size_t *at,
			       char x[CS_SETTING], char y[CS_SETTING]);

#endif
