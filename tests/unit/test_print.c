#include <jansson.h>

#include "base/print.h"
#include "base/vec.h"
#include "file/load.h"
#include "report/report.h"

#include "tap.h"

/* ---- one text ---- */

static void is_cleaned(const char *text, const char *want)
{
	char to[64];

	cs_text(to, sizeof(to), "%s", text);
	cs_clean(to);
	t_eq_str(to, want);
}

HOLDS("what a terminal or a reader of lines would obey is replaced") {
	is_cleaned("a\033[31mred\a\b", "a?[31mred??");
	is_cleaned("one\ntwo\r\n\tthree", "one two   three");
	is_cleaned("\x7f \xc2\x9b"
		   "2J",
		   "? ??2J");
	is_cleaned("\xe2\x80\xae"
		   "gpj\xe2\x80\xa8\xe2\x81\xa6",
		   "???gpj??????");
}

HOLDS("what is no UTF-8 is replaced") {
	is_cleaned("a\xff\x9b", "a??");
	is_cleaned("cut \xc3", "cut ?");
	is_cleaned("cut \xe2\x82", "cut ??");
	is_cleaned("\xc0\x8a \xe0\x80\x8a \xf0\x80\x80\x8a", "?? ??? ????");
	is_cleaned("\xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbf\xbf", "??? ???? ???");
}

HOLDS("other text stays as it is") {
	is_cleaned("", "");
	is_cleaned("GPU 3 ~ 51 %", "GPU 3 ~ 51 %");
	is_cleaned("Gr\xc3\xb6\xc3\x9f"
		   "e \xe2\x82\xac \xf0\x9f\x98\x80",
		   "Gr\xc3\xb6\xc3\x9f"
		   "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

/* ---- printed ---- */

HOLDS("no value ends a line, however long it is") {
	static const char *const as[] = { "&amp;", "_" };
	char *text, longer[3000];
	FILE *to = t_stream();

	memset(longer, '\n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	cs_print(to, "%s-", "a\nb");
	cs_print_line(to, "%d %s", 7, "\n");
	cs_print_as(to, "a&b\n\033", "& ", as);
	cs_print_line(to, "%s", longer);
	text = t_text();
	t_ok(!strncmp(text, "a b-7  \na&amp;b_?   ", 20));
	t_eq_int(strlen(text), 8 + 9 + sizeof(longer));
}

/* ---- every text of a file, in every format ---- */

#define DIRTY "=1\033[31m\n,\"f\t\x7f\xc2\x9b" "2J"

/* Where a text stands, whichever element of an array: "nodes[].host". */
struct place {
	char name[120];
};

static void note_place(struct cs_vec *places, const char *name)
{
	const struct place *known = places->data;
	struct place *new;

	for (size_t i = 0; i < places->n; i++)
		if (!strcmp(known[i].name, name))
			return;
	new = cs_vec_add(places, 1, NULL);
	if (t_ok(new != NULL))
		cs_text(new->name, sizeof(new->name), "%s", name);
}

static void each_text(json_t *value, const char *at, struct cs_vec *places,
		      const char *only, const char *instead)
{
	char name[120];
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value) && places)
		note_place(places, at);
	else if (json_is_string(value) && !strcmp(at, only))
		json_string_set_nocheck(value, instead);
	json_object_foreach(value, key, item) {
		cs_text(name, sizeof(name), "%s.%s", at, key);
		each_text(item, name, places, only, instead);
	}
	cs_text(name, sizeof(name), "%s[]", at);
	json_array_foreach(value, i, item)
		each_text(item, name, places, only, instead);
}

/* -1: no run with this text at that place is read. */
static int with_text(const json_t *file, const char *place, const char *text,
		     struct cs_loaded *out)
{
	json_t *copy = json_deep_copy(file);
	char *dump;
	int rc;

	each_text(copy, "", NULL, place, text);
	dump = json_dumps(copy, 0);
	rc = cs_loaded_parse("f", dump, strlen(dump), out, NULL);
	free(dump);
	json_decref(copy);
	return rc;
}

static char *shown(const struct cs_run *run, const struct cs_format *format, int how)
{
	struct cs_view_options opt = { .verbose = how == 1, .topology = how == 2 };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_format_write(format, to, run, &opt), 0);
	fclose(to);
	return text;
}

/* A line may begin with a tab of ours, as nvbandwidth's samples do. */
static int has_control(const char *text)
{
	for (const char *all = text; *text; text++)
		if ((unsigned char)*text == 0x7f ||
		    (*text > 0 && *text < ' ' && *text != '\n' &&
		     (*text != '\t' || text == all || text[-1] != '\n')) ||
		    ((unsigned char)*text == 0xc2 && (unsigned char)text[1] < 0xa0))
			return 1;
	return 0;
}

/* JSON has an escape for every character. */
static int escapes(const struct cs_format *f)
{
	return strstr(f->name, "json") || strstr(f->suffix, "json");
}

/* What a dirty text gives is what the same text gives that was clean in the file. */
static void is_shown_clean(const struct cs_run *dirty, const struct cs_run *clean,
			   const char *place)
{
	for (const struct cs_format *f = cs_formats; f->name; f++)
		for (int how = 0; how < 3 && !escapes(f); how++) {
			char *a = shown(dirty, f, how), *b = shown(clean, f, how);

			if (!t_ok(!has_control(a)) || !t_ok(!strcmp(a, b)))
				printf("# %s in -f %s\n", place, f->name);
			free(a);
			free(b);
		}
}

/* Returns at how many places the file may have any text. */
static int shows_clean(const char *name)
{
	struct cs_vec places = CS_VEC(struct place);
	const char *data = getenv("TESTDATA");
	struct cs_loaded dirty, clean;
	const struct place *place;
	char file[1024], text[] = DIRTY;
	json_t *all;
	int n = 0;

	cs_text(file, sizeof(file), "%s/../doc/results/%s", data ? data : "tests",
		name);
	all = json_load_file(file, 0, NULL);
	if (!t_ok(all != NULL))
		return 0;
	cs_clean(text);
	each_text(all, "", &places, "", "");
	place = places.data;
	for (size_t i = 0; i < places.n; i++) {
		if (with_text(all, place[i].name, DIRTY, &dirty))
			continue;
		if (t_eq_int(with_text(all, place[i].name, text, &clean), 0)) {
			is_shown_clean(&dirty.run, &clean.run, place[i].name);
			cs_loaded_release(&clean);
		}
		cs_loaded_release(&dirty);
		n++;
	}
	cs_vec_release(&places);
	json_decref(all);
	return n;
}

HOLDS("no control character of a measured run's file leaves in any format") {
	t_ok(shows_clean("h200x4/quick.json") > 40);
}

HOLDS("no control character of a judged run's file leaves in any format") {
	t_ok(shows_clean("h200x4/launch.json") > 30);
	t_ok(shows_clean("h200x4/topology.json") > 40);
}

HOLDS("JSON keeps control characters, as escapes") {
	const char *data = getenv("TESTDATA");
	struct cs_loaded loaded;
	char file[1024], *text;
	json_t *all, *back;

	cs_text(file, sizeof(file), "%s/../doc/results/h200x4/quick.json",
		data ? data : "tests");
	all = json_load_file(file, 0, NULL);
	if (!t_ok(all != NULL) ||
	    !t_eq_int(with_text(all, ".nodes[].host", DIRTY, &loaded), 0))
		return;
	text = shown(&loaded.run, cs_format_by_name("json"), 0);
	back = json_loads(text, 0, NULL);
	t_eq_str(json_string_value(json_object_get(
			 json_array_get(json_object_get(back, "nodes"), 0), "host")),
		 DIRTY);
	json_decref(back);
	free(text);
	cs_loaded_release(&loaded);
	json_decref(all);
}
