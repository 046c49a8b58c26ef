/* explain.h - what a test of the catalogue means, in sentences.
 *
 * The sentences are written by axis (path, method, op, pattern), so that a new line
 * of the catalogue that recombines existing values is already explained. */
#ifndef CS_CATALOGUE_EXPLAIN_H
#define CS_CATALOGUE_EXPLAIN_H

#include "catalogue/catalogue.h"

struct cs_explanation {
	const char *moves;
	const char *issuer; /* who issues it */
	const char *timed;
	const char *timed_both; /* addition for several at once; NULL */
	const char *checked;
};

/* No field but timed_both is NULL for a test of the catalogue. */
void cs_test_explain(const struct cs_test *test, struct cs_explanation *out);
/* What else moves on the node; NULL: the explanation already says it. */
const char *cs_test_meanwhile(const struct cs_test *test);

#endif
