/* settings.h - the settings of a plan by name and as text: all that shape what is
 * measured, one line of a table each.  Two plans differ in what reads differently.
 * Pure. */
#ifndef CS_PLAN_SETTINGS_H
#define CS_PLAN_SETTINGS_H

#include "plan/plan.h"

#define CS_SETTING CS_FILTER /* characters of a value, with the 0 */

/* "cell limit"; NULL behind the last. */
const char *cs_setting_name(size_t i);
/* "0.5 s", as users write it; "" of one that an older file does not know. */
void cs_setting_text(const struct cs_settings *set, size_t i, char to[CS_SETTING]);

#endif
