#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cs_err_put(struct cs_err *err, const char *fmt, ...)
{
	struct cs_err made; /* an argument may point into err->text */
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(made.text, sizeof(made.text), fmt, args);
	va_end(args);
	strcpy(err->text, made.text);
}

void cs_err_put_before(struct cs_err *err, const char *fmt, ...)
{
	struct cs_err context;
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(context.text, sizeof(context.text), fmt, args);
	va_end(args);
	cs_err_put(err, "%s: %s", context.text, err->text);
}

void cs_text(char *to, unsigned long size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(to, size, fmt, args);
	va_end(args);
}

void cs_text_add(char *to, unsigned long size, const char *fmt, ...)
{
	size_t used = strlen(to);
	va_list args;

	va_start(args, fmt);
	vsnprintf(to + used, size - used, fmt, args);
	va_end(args);
}
