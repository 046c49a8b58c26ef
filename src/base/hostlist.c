#include "base/hostlist.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 9 /* of a number that counts */

/* ---- from text ---- */

struct parser {
	const char *list, *at; /* at: of the term that is read, for errors */
	struct cs_vec *names;
	size_t first; /* names that were there before */
	struct cs_err *err;
};

static int refuse(const struct parser *p, const char *what)
{
	return cs_err_set(p->err,
			  "'%.120s': %s at '%.32s'; a list of hosts is as n[01-12,15],m3",
			  p->list, what, p->at);
}

static int is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.", c));
}

static int add_name(struct parser *p, const char *name)
{
	size_t length = strcspn(name, ".");
	char *to;

	if (!length || length >= CS_HOST)
		return refuse(p, length ? "too long a name" : "no name");
	if (p->names->n - p->first >= CS_HOSTS_MOST)
		return refuse(p, "too many hosts");
	to = cs_vec_add(p->names, 1, p->err);
	if (!to)
		return -1;
	memset(to, 0, CS_HOST);
	memcpy(to, name, length);
	return 0;
}

static int expand(struct parser *p, const char *made, const char *rest);

/* Append each number of "01-12" at `at` to `made`, then expand the rest after `]`. */
static int expand_range(struct parser *p, const char *made, const char *at,
			size_t length, const char *rest)
{
	size_t digits = strspn(at, "0123456789");
	char *end, name[CS_HOST];
	long from, to;

	from = to = strtol(at, &end, 10);
	if (digits && digits < length && *end == '-') {
		if (strspn(end + 1, "0123456789") != length - digits - 1 ||
		    length - digits - 1 > DIGITS_MOST)
			return refuse(p, "no range");
		to = strtol(end + 1, &end, 10);
	}
	if (!digits || digits > DIGITS_MOST || end != at + length)
		return refuse(p, "no number");
	if (to < from)
		return refuse(p, "a range that ends before it begins");
	if (to - from >= CS_HOSTS_MOST)
		return refuse(p, "too many hosts");
	for (long i = from; i <= to; i++) {
		if (strlen(made) + 10 >= sizeof(name))
			return refuse(p, "too long a name");
		cs_text(name, sizeof(name), "%s%0*ld", made, (int)digits, i);
		if (expand(p, name, rest))
			return -1;
	}
	return 0;
}

/* Expand `rest` of a term, whose beginning is `made`. */
static int expand(struct parser *p, const char *made, const char *rest)
{
	size_t plain = strcspn(rest, "["), used = strlen(made), length;
	char name[CS_HOST];
	const char *close;

	if (used + plain >= sizeof(name))
		return refuse(p, "too long a name");
	cs_text(name, sizeof(name), "%s%.*s", made, (int)plain, rest);
	rest += plain;
	if (!*rest)
		return add_name(p, name);
	close = strchr(rest, ']');
	for (rest++;; rest += length + 1) {
		length = strcspn(rest, ",]");
		if (expand_range(p, name, rest, length, close + 1))
			return -1;
		if (rest + length == close)
			return 0;
	}
}

/* The length of the term at p->at: up to a comma outside of brackets; 0 refused. */
static size_t term_length(const struct parser *p)
{
	const char *c;
	int inside = 0;

	for (c = p->at; *c && (inside || *c != ','); c++) {
		if ((*c == '[' && inside) || (*c == ']' && !inside))
			break;
		inside = *c == '[' || (inside && *c != ']');
		if (!strchr("[],", *c) && !is_of_name(*c))
			break;
	}
	if (*c && (*c != ',' || inside)) {
		refuse(p, "a character that is of no list");
		return 0;
	}
	if (c == p->at || inside) {
		refuse(p, inside ? "a bracket that nothing closes" : "no name");
		return 0;
	}
	return (size_t)(c - p->at);
}

CS_ORDERING_AT(by_place, char, strcmp(a, b), CS_ORDER(a, b))

/* Leaves the first of each name. */
static int drop_doubles(struct parser *p)
{
	size_t n = p->names->n - p->first, left = 0;
	char(*name)[CS_HOST] = (char(*)[CS_HOST])p->names->data + p->first;
	const char **at = calloc(n + 1, sizeof(*at));

	if (!at)
		return cs_err_set(p->err, "no memory");
	for (size_t i = 0; i < n; i++)
		at[i] = name[i];
	qsort(at, n, sizeof(*at), by_place);
	for (size_t i = n; i-- > 1;)
		if (!strcmp(at[i], at[i - 1]))
			name[(at[i] - name[0]) / CS_HOST][0] = '\0';
	for (size_t i = 0; i < n; i++)
		if (name[i][0])
			memmove(name[left++], name[i], CS_HOST);
	p->names->n = p->first + left;
	free(at);
	return 0;
}

int cs_hostlist_parse(const char *list, struct cs_vec *names, struct cs_err *err)
{
	struct parser p = { list, list, names, names->n, err };
	char term[1024];
	size_t length;

	for (;;) {
		length = term_length(&p);
		if (!length)
			return -1;
		if (length >= sizeof(term))
			return refuse(&p, "too long a term");
		cs_text(term, sizeof(term), "%.*s", (int)length, p.at);
		if (expand(&p, "", term))
			return -1;
		p.at += length;
		if (!*p.at)
			return drop_doubles(&p);
		p.at++;
	}
}

/* ---- to text ---- */

/* A name as letters and the number at its end: "n0101" is "n", 101 in 4 digits;
 * without one, or with one too long to count with, digits is 0. */
struct host {
	const char *name;
	size_t stem;
	int digits;
	long number;
};

static void split(const char *name, struct host *out)
{
	size_t n = strlen(name), at = n;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	out->name = name;
	out->stem = n - at > DIGITS_MOST ? n : at;
	out->digits = (int)(n - out->stem);
	out->number = out->digits ? strtol(name + out->stem, NULL, 10) : 0;
}

static int compare(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = strncmp(x->name, y->name, x->stem < y->stem ? x->stem : y->stem);

	if (order || x->stem != y->stem)
		return order ? order : x->stem < y->stem ? -1 : 1;
	if (x->digits != y->digits)
		return x->digits < y->digits ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int cs_host_compare(const void *a, const void *b)
{
	struct host x, y;

	split(a, &x);
	split(b, &y);
	return compare(&x, &y);
}

static int same_series(const struct host *a, const struct host *b)
{
	return a->stem == b->stem && a->digits == b->digits && a->digits &&
	       strncmp(a->name, b->name, a->stem) == 0;
}

/* One range of a series, "01-04" or "07": how many of host[0..n) it takes. */
static size_t range_text(char *to, size_t size, const struct host *host, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n && same_series(&host[i], &host[i + 1]) &&
		    host[i + 1].number <= host[i].number + 1;
	     i++)
		;
	cs_text(to, size, i ? "%s-%s" : "%s", host[0].name + host[0].stem,
		host[i].name + host[i].stem);
	return i + 1;
}

#define MORE 24 /* room for "],... 12345 more" */

/* host[0..n), sorted and each once. */
static void put_series(const struct host *host, size_t n, char *to, size_t size)
{
	char text[CS_HOST + 32], range[32];
	size_t took, used = 0;
	int open = 0;

	for (size_t i = 0; i < n; i += took) {
		int alone = i + 1 == n || !same_series(&host[i], &host[i + 1]);

		if (open) {
			took = range_text(range, sizeof(range), &host[i], n - i);
			cs_text(text, sizeof(text), ",%s", range);
		} else if (alone) {
			took = 1;
			cs_text(text, sizeof(text), "%s%s", i ? "," : "",
				host[i].name);
		} else {
			took = range_text(range, sizeof(range), &host[i], n - i);
			cs_text(text, sizeof(text), "%s%.*s[%s", i ? "," : "",
				(int)host[i].stem, host[i].name, range);
			open = 1;
		}
		if (used + strlen(text) + MORE >= size) {
			cs_text(to + used, size - used, "%s%s... %zu more",
				open && used && !strchr(text, '[') ? "]" : "",
				used ? "," : "", n - i);
			return;
		}
		cs_text(to + used, size - used, "%s", text);
		used += strlen(text);
		if (open &&
		    (i + took == n || !same_series(&host[i], &host[i + took]))) {
			to[used++] = ']';
			to[used] = '\0';
			open = 0;
		}
	}
}

void cs_hostlist_fold(const char *const *names, size_t n, char *to, size_t size)
{
	struct host *host = calloc(n + 1, sizeof(*host));
	size_t left = 0;

	to[0] = '\0';
	for (size_t i = 0; host && i < n; i++)
		split(names[i], &host[i]);
	if (host)
		qsort(host, n, sizeof(*host), compare);
	for (size_t i = 0; host && i < n; i++)
		if (!left || strcmp(host[left - 1].name, host[i].name))
			host[left++] = host[i];
	if (host)
		put_series(host, left, to, size);
	free(host);
}
