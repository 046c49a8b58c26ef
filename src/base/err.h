/* err.h - one error text, set where the error is first known.
 *
 * Lower case, no full stop, cause first, subject in quotes, exact code, and a
 * hint if it is certain to help.  Callers add only what they alone know. */
#pragma once

#define CS_ERR_TEXT 320

struct cs_err {
	char text[CS_ERR_TEXT];
};

void cs_err_put(struct cs_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cs_err_put_before(struct cs_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The result of a function: -1 if any part failed. */
static inline int cs_rc(int failed)
{
	return failed ? -1 : 0;
}

/* Set the text.  Always -1, so that `return cs_err_set(...)` reads well, and so that
 * a compiler sees it.  `err` may be NULL.  Too long a text is cut. */
#define cs_err_set(err, ...) ({ cs_err_put(err, __VA_ARGS__); -1; })

/* Put "CONTEXT: " before the text that is there.  Always -1. */
#define cs_err_prefix(err, ...) ({ cs_err_put_before(err, __VA_ARGS__); -1; })

/* snprintf that cuts silently and always ends the string: for fixed-size text fields of
 * plain structs, in which a cut name is right and an error is not. */
void cs_text(char *to, unsigned long size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Append to the text. */
void cs_text_add(char *to, unsigned long size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
