/* print.h - all output of text to terminals and line formats goes through here.
 *
 * Texts from files, plans, options, hosts and drivers may contain anything.  They are
 * stored unchanged, because JSON can escape every character.  All other output uses
 * these functions, so that a line stays one line and nothing moves a cursor. */
#pragma once

#include <stdio.h>

/* In place, byte by byte: a line's end or a tab becomes a blank; every other control
 * character, characters that turn the direction of text, and bytes that are no UTF-8
 * become '?'. */
void cs_clean(char *text);

/* printf of clean text. A '\n' of the format is cleaned like any other: cs_print_line
 * ends lines. */
void cs_print(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, and the line ends. */
void cs_print_line(FILE *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* How a terminal shows the text after it: parameters of SGR, "1;31"; "0" is as usual. */
void cs_print_sgr(FILE *to, const char *parameters);

/* Clean text with as[i] in place of each special[i]. */
void cs_print_as(FILE *to, const char *text, const char *special,
		 const char *const *as);
