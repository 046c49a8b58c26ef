/* page.h - what holds of any page (report/html): well formed, nothing loaded, no words
 * of others as markup. */
#ifndef CS_TESTS_PAGE_H
#define CS_TESTS_PAGE_H

#include <ctype.h>
#include <string.h>

#include "fuzz.h"

#define PAGE_DEEPEST 40

static inline int page_begins(const char *at, const char *with)
{
	return !strncmp(at, with, strlen(with));
}

/* An "&" is one of five entities. */
static inline void page_entity(const char *at)
{
	MUST(page_begins(at, "&lt;") || page_begins(at, "&gt;") ||
	     page_begins(at, "&amp;") || page_begins(at, "&quot;") ||
	     page_begins(at, "&#39;"));
}

/* Behind the name of a tag: attributes with values in quotes, up to its ">". */
static inline const char *page_attributes(const char *at)
{
	while (*at != '>' && *at != '/') {
		MUST(*at == ' ');
		at += strspn(at, " ");
		MUST(strncasecmp(at, "on", 2) && !page_begins(at, "src") &&
		     !page_begins(at, "style"));
		MUST(!page_begins(at, "href") || page_begins(at, "href=\"#s"));
		at += strspn(at, "abcdefghijklmnopqrstuvwxyzBCX0123456789-:");
		MUST(page_begins(at, "=\""));
		for (at += 2; *at != '"'; at++) {
			MUST(*at && *at != '<');
			if (*at == '&')
				page_entity(at);
		}
		at++;
	}
	return at;
}

/* Tags nest; what is not a tag has neither "<" nor a bare "&". */
static inline void page_is_whole(const char *at)
{
	char open[PAGE_DEEPEST][16];
	int n = 0, scripts = 0;

	MUST(page_begins(at, "<!DOCTYPE html>\n"));
	for (at += strlen("<!DOCTYPE html>\n"); *at; at++) {
		size_t length;
		int closes;

		if (*at == '&')
			page_entity(at);
		if (*at != '<')
			continue;
		closes = at[1] == '/';
		at += 1 + closes;
		length = strspn(at, "abcdefghijklmnopqrstuvwxyz123");
		MUST(length && length < sizeof(open[0]));
		if (closes) {
			MUST(n && strlen(open[--n]) == length &&
			     !strncmp(open[n], at, length) && at[length] == '>');
			at += length;
			continue;
		}
		MUST(n < PAGE_DEEPEST);
		memcpy(open[n], at, length);
		open[n][length] = '\0';
		MUST(strcmp(open[n], "img") && strcmp(open[n], "iframe") &&
		     strcmp(open[n], "link"));
		/* ours, once */
		if (!strcmp(open[n], "script"))
			MUST(!scripts++ && page_begins(at, "script>'use strict';"));
		n++;
		at = page_attributes(at + length);
		if (*at == '/') {
			MUST(*++at == '>');
			n--;
		}
	}
	MUST(!n);
}

#endif
