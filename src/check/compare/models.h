/* models.h - alpha and beta of the sweeps that both sides have. */
#ifndef CS_CHECK_COMPARE_MODELS_H
#define CS_CHECK_COMPARE_MODELS_H

#include "check/compare/found.h"

/* Append a struct cs_versus_model for each. */
void cs_versus_models(const struct cs_versus_side *a, const struct cs_versus_side *b,
		      struct cs_vec *out);

/* Do two values differ by more than their intervals explain? */
int cs_versus_differ(const struct cs_fit_value *a, const struct cs_fit_value *b);

#endif
