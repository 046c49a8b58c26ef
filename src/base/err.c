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
	int room;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(context.text, sizeof(context.text), fmt, args);
	va_end(args);
	/* a context that is too long is cut, not the cause */
	room = (int)(sizeof(err->text) - strlen(err->text) - sizeof("...: "));
	if (room < 40)
		room = 40;
	cs_err_put(err, "%.*s%s: %s", room, context.text,
		   (int)strlen(context.text) > room ? "..." : "", err->text);
}

static void copy(char *to, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	memmove(to, text, n);
	to[n] = '\0';
}

/* Most texts are copied, and printf takes ten times as long. */
void cs_text(char *to, unsigned long size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (size && !strcmp(fmt, "%s"))
		copy(to, size, va_arg(args, const char *));
	else
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
