#include "base/print.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- clean ---- */

/* How many bytes the character at `at` has, by its first one; 0: it begins none. */
static size_t length_of(unsigned char first)
{
	return first < 0x80 ? 1 :
	       first < 0xc2 ? 0 :
	       first < 0xe0 ? 2 :
	       first < 0xf0 ? 3 :
	       first < 0xf5 ? 4 :
			      0;
}

/* C0 and C1; line and paragraph separators; overrides and isolates of direction;
 * characters that no text may hold. */
static int is_obeyed(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || (c >= 0xd800 && c < 0xe000) ||
	       c == 0xfffe || c == 0xffff;
}

/* The bytes of the character at `at` when it may be printed; else 0. */
static size_t printable(const unsigned char *at)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = length_of(at[0]);
	uint32_t c = n > 1 ? at[0] & (0x7fu >> n) : at[0];

	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[i] & 0x3f);
	}
	return n && c >= least[n] && c < 0x110000 && !is_obeyed(c) ? n : 0;
}

static char stand_in(char c)
{
	return strchr("\n\t\r", c) ? ' ' : '?';
}

void cs_clean(char *text)
{
	size_t n;

	for (char *at = text; *at; at += n) {
		n = printable((const unsigned char *)at);
		if (!n) {
			*at = stand_in(*at);
			n = 1;
		}
	}
}

/* ---- print ---- */

/* Without memory for a long one its beginning.  With its end it is one write, also to
 * stderr: ranks share that. */
static void __attribute__((format(printf, 3, 0))) print(FILE *to, const char *end,
							const char *fmt, va_list args)
{
	char text[1024], *all = text;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(text, sizeof(text), fmt, args);
	if (n >= (int)sizeof(text) && vasprintf(&all, fmt, again) < 0)
		all = text;
	va_end(again);
	cs_clean(all);
	fprintf(to, "%s%s", all, end);
	if (all != text)
		free(all);
}

void cs_print(FILE *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(to, "", fmt, args);
	va_end(args);
}

void cs_print_line(FILE *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(to, "\n", fmt, args);
	va_end(args);
}

void cs_print_as(FILE *to, const char *text, const char *special,
		 const char *const *as)
{
	size_t n;

	for (const char *at = text; *at; at += n) {
		char c = *at;
		const char *is;

		n = printable((const unsigned char *)at);
		if (!n)
			c = stand_in(c);
		is = strchr(special, c);
		if (is)
			fputs(as[is - special], to);
		else if (n)
			fwrite(at, 1, n, to);
		else
			putc(c, to);
		n += !n;
	}
}

void cs_print_sgr(FILE *to, const char *parameters)
{
	fprintf(to, "\033[%.*sm", (int)strspn(parameters, "0123456789;"), parameters);
}
