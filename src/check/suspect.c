#include "config.h"

#include "check/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cs_suspect_row(struct cs_suspect *suspect, uint32_t at)
{
	suspect->cells++;
	if (suspect->n_evidence < CS_EVIDENCE)
		suspect->evidence[suspect->n_evidence++] = at;
}

int cs_suspect_add(struct cs_vec *suspects, const struct cs_suspect *suspect,
		   struct cs_err *err)
{
	return cs_vec_push(suspects, suspect, err);
}

static int by_place(const struct cs_suspect *a, const struct cs_suspect *b)
{
	const int64_t x[] = { a->node, a->family, a->part, a->a, a->b };
	const int64_t y[] = { b->node, b->family, b->part, b->a, b->b };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Of one place the worst first; what is equal in all that as its rows stand. */
static int by_place_and_drop(const void *x, const void *y)
{
	const struct cs_suspect *a = x, *b = y;
	int d = by_place(a, b);

	if (d)
		return d;
	if (a->drop < b->drop || a->drop > b->drop)
		return a->drop > b->drop ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause > b->cause ? -1 : 1;
	return a->evidence[0] < b->evidence[0] ? -1 :
	       a->evidence[0] > b->evidence[0];
}

/* Of two that are of one place the worse one tells the figures, the more telling cause
 * stays, and evidence is of both. */
static void join(struct cs_suspect *worse, const struct cs_suspect *other)
{
	if (other->cause > worse->cause) {
		worse->cause = other->cause;
		worse->is = other->is;
		worse->of = other->of;
		worse->usual = other->usual;
	}
	worse->half_duplex |= other->half_duplex;
	worse->cells += other->cells;
	worse->tests += other->test != worse->test || !worse->tests ?
				other->tests : 0;
	worse->sends |= other->sends;
	worse->receives |= other->receives;
	worse->sure = fmax(worse->sure, other->sure);
	for (uint32_t i = 0; i < other->n_evidence &&
			     worse->n_evidence < CS_EVIDENCE; i++)
		worse->evidence[worse->n_evidence++] = other->evidence[i];
}

/* What is below the usual share says less than anything else of the same cells. */
static int says_less(const struct cs_suspect *s, const struct cs_suspect *first,
		     const struct cs_suspect *end)
{
	if (s->cause != CS_CAUSE_BELOW)
		return 0;
	for (; first < end; first++)
		if (first->node == s->node && first->family == s->family &&
		    first->cause != CS_CAUSE_BELOW)
			return 1;
	return 0;
}

void cs_suspects_settle(struct cs_vec *suspects)
{
	struct cs_suspect *s = suspects->data;
	size_t n = 0, i, k;

	if (suspects->n)
		qsort(s, suspects->n, sizeof(*s), by_place_and_drop);
	for (i = 0; i < suspects->n; i++) {
		if (n && !by_place(&s[n - 1], &s[i]))
			join(&s[n - 1], &s[i]);
		else
			s[n++] = s[i];
	}
	suspects->n = n;
	for (i = n = 0; i < suspects->n; i = k) {
		size_t kept = n;

		for (k = i; k < suspects->n && s[k].node == s[i].node; k++)
			;
		for (size_t m = i; m < k; m++) {
			/* those before it on the node stand at `kept` already */
			if (says_less(&s[m], s + kept, s + n) ||
			    says_less(&s[m], s + m, s + k))
				continue;
			s[n++] = s[m];
		}
	}
	suspects->n = n;
}
