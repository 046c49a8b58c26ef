#include <errno.h>
#include <string.h>

#include "base/words.h"
#include "file/document.h"
#include "report/view.h"

/* Files contain everything; options of views do not change them. */
void cs_document_view(FILE *to, const struct cs_view *view)
{
	cs_json_write(to, view->run);
}

void cs_journal_view(FILE *to, const struct cs_view *view)
{
	cs_jsonl_write(to, view->run);
}

const struct cs_format cs_formats[] = {
	{ .name = "text", .suffix = ".txt", .write = cs_text_write },
#define FORMAT(as, view, about, ...) \
	{ .name = as, .suffix = "", .write = view, ##__VA_ARGS__ },
#define FORMAT_FILE(as, ending, view, about, ...) \
	{ .name = as, .suffix = ending, .write = view, ##__VA_ARGS__ },
#include "report/formats.def"
	{ .name = NULL },
};

struct writing {
	const struct cs_format *format;
	FILE *to;
	const struct cs_run *run;
	const struct cs_view_options *opt;
};

static int write_view(void *argument)
{
	const struct writing *w = argument;
	const struct cs_view turns = { w->run, w->run, w->opt };

	w->format->write(w->to, w->format->of_turns ? &turns :
						      cs_view_pooled(w->run, w->opt));
	return 0;
}

int cs_format_write(const struct cs_format *format, FILE *to,
		    const struct cs_run *run, const struct cs_view_options *opt)
{
	struct writing writing = { format, to, run, opt };

	errno = ENOMEM;
	return cs_arena_run(write_view, &writing, NULL) || ferror(to) ? -1 : 0;
}

const struct cs_format *cs_format_by_name(const char *name)
{
	const struct cs_format *f;

	for (f = cs_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* The longest ending that fits: ".trace.json" before ".json". */
static const struct cs_format *format_by_ending(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const struct cs_format *found = NULL;
	size_t n = strlen(base), most = 0;

	for (const struct cs_format *f = cs_formats; f->name; f++) {
		size_t suffix = strlen(f->suffix);

		/* ".json" is a hidden file without an ending */
		if (suffix > most && suffix < n &&
		    strcmp(base + n - suffix, f->suffix) == 0) {
			found = f;
			most = suffix;
		}
	}
	return found;
}

const char *cs_output_bare(const char *name, const struct cs_format **format)
{
	size_t n = strcspn(name, ":/");

	*format = NULL;
	if (name[n] != ':')
		return name;
	for (const struct cs_format *f = cs_formats; f->name; f++)
		if (strlen(f->name) == n && !strncmp(f->name, name, n))
			*format = f;
	return *format ? name + n + 1 : name;
}

const struct cs_format *cs_format_by_file(const char *file)
{
	const struct cs_format *named;

	file = cs_output_bare(file, &named);
	return named ? named : format_by_ending(file);
}

int cs_format_refuse(const char *file, const char *formats, struct cs_err *err)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *dot = strrchr(base, '.');
	struct cs_suggestion near = { .typed = dot ? dot : "" };
	char all[120] = "";
	int at;

	for (const struct cs_format *f = cs_formats; f->name; f++) {
		if (!f->suffix[0] ||
		    (formats && cs_word_parse(f->name, formats, &at, NULL)))
			continue;
		cs_text_add(all, sizeof(all), "%s%s", all[0] ? ", " : "", f->suffix);
		cs_suggest(&near, f->suffix);
	}
	if (!*base || dot == base)
		return cs_err_set(
			err,
			"a file has a name before its ending; allowed endings are %s",
			all);
	cs_err_set(err, "allowed endings are %s", all);
	return cs_suggestion_add(&near, err);
}
