/* load.c - the bytes of a document or a journal, cut into records. */
#include "config.h"

#include "report/loaded.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/take.h"

#define FILE_MOST ((size_t)1 << 30)
#define RECORD_MOST ((size_t)16 << 20)	/* as JSON values, 20 times as much */
#define DEPTH_MOST 64

/* What is being read: a position in the text, for records and errors. */
struct reader {
	struct cs_loaded *to;
	const char *name, *text, *end, *at;
	struct cs_err *err;
};

static size_t line_of(const struct reader *r, const char *at)
{
	size_t line = 1;
	const char *c = r->text;

	while ((c = memchr(c, '\n', (size_t)(at - c)))) {
		line++;
		c++;
	}
	return line;
}

/* Puts file and line before the error, in printable ASCII: it quotes the file. */
static int refuse(struct reader *r, const char *at)
{
	char *c;

	for (c = r->err->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return cs_err_prefix(r->err, "%s: line %zu", r->name, line_of(r, at));
}

static int refuse_syntax(struct reader *r, const char *what)
{
	cs_err_set(r->err, "not JSON: %s", what);
	return refuse(r, r->at);
}

/* The bytes of one value as JSON; NULL when they are none. */
static json_t *decode(struct reader *r, const char *from, const char *to)
{
	json_error_t error;
	json_t *value;

	if ((size_t)(to - from) > RECORD_MOST) {
		cs_err_set(r->err, "a record of %zu bytes; at most %zu are read",
			   (size_t)(to - from), RECORD_MOST);
		refuse(r, from);
		return NULL;
	}
	value = json_loadb(from, (size_t)(to - from),
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (value)
		return value;
	cs_err_set(r->err, "not JSON: %.120s", error.text);
	refuse(r, error.position > 0 && error.position <= to - from ?
			  from + error.position - 1 : from);
	return NULL;
}

/* ---- where values begin and end ---- */

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

static int next_is(struct reader *r, char c)
{
	skip_blanks(r);
	return r->at < r->end && *r->at == c;
}

static int skip_string(struct reader *r)
{
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++)
		if (*r->at == '\\')
			r->at++;
	if (r->at >= r->end)
		return -1;
	r->at++;
	return 0;
}

/* Behind the value that begins here.  Brackets are counted, not matched: whoever
 * wants the value decodes it. */
static int skip_value(struct reader *r)
{
	int depth = 0;

	do {
		skip_blanks(r);
		if (r->at >= r->end)
			return refuse_syntax(r, "it ends within a value");
		if (*r->at == '"') {
			if (skip_string(r))
				return refuse_syntax(r, "it ends within a string");
			continue;
		}
		if (strchr("{[", *r->at) && *r->at && ++depth > DEPTH_MOST)
			return refuse_syntax(r, "nested too deeply");
		if (strchr("}]", *r->at) && *r->at && --depth < 0)
			return refuse_syntax(r, "a bracket that nothing opened");
		if (strchr("{}[]:,", *r->at) && *r->at) {
			r->at++;
			continue;
		}
		while (r->at < r->end && (!strchr("{}[]:,\" \t\r\n", *r->at) ||
					  !*r->at))
			r->at++;
	} while (depth > 0);
	return 0;
}

/* ---- a document ---- */

enum member { SCHEMA, PROGRAM, RUN, NODES, AGENTS, RESULTS, CHECKS, ERRORS, MEMBERS };

static const char *const member_name[MEMBERS] = {
	[SCHEMA] = "schema", [PROGRAM] = "program", [RUN] = "run",
	[NODES] = "nodes", [AGENTS] = "agents", [RESULTS] = "results",
	[CHECKS] = "checks", [ERRORS] = "errors",
};

struct extent {
	const char *from, *to;
};

/* `"key": value`; the extent goes to the member of that name, if we know it. */
static int scan_member(struct reader *r, struct extent *members)
{
	const char *from;
	json_t *key;
	int i;

	if (!next_is(r, '"'))
		return refuse_syntax(r, "a key is expected");
	from = r->at;
	if (skip_string(r))
		return refuse_syntax(r, "it ends within a string");
	key = decode(r, from, r->at);
	if (!key)
		return -1;
	for (i = 0; i < MEMBERS; i++)
		if (strcmp(json_string_value(key), member_name[i]) == 0)
			break;
	json_decref(key);
	if (!next_is(r, ':'))
		return refuse_syntax(r, "':' is expected behind a key");
	r->at++;
	skip_blanks(r);
	from = r->at;
	if (skip_value(r))
		return -1;
	if (i == MEMBERS)
		return 0;
	if (members[i].from) {
		cs_err_set(r->err, "'%s' stands there twice", member_name[i]);
		return refuse(r, from);
	}
	members[i] = (struct extent){ from, r->at };
	return 0;
}

/* A document's members, in whatever order. */
static int scan_document(struct reader *r, struct extent *members)
{
	r->at++; /* its '{' */
	while (!next_is(r, '}')) {
		if (scan_member(r, members))
			return -1;
		if (next_is(r, ','))
			r->at++;
		else if (!next_is(r, '}'))
			return refuse_syntax(r, "',' or '}' is expected");
	}
	r->at++;
	skip_blanks(r);
	return r->at == r->end ? 0 : refuse_syntax(r, "more behind the document");
}

typedef int take_fn(struct cs_loaded *to, json_t *record, struct cs_err *err);

static int take_at(struct reader *r, const char *from, take_fn *take)
{
	json_t *record = decode(r, from, r->at);
	int rc;

	if (!record)
		return -1;
	rc = take(r->to, record, r->err);
	json_decref(record);
	return rc ? refuse(r, from) : 0;
}

static int take_one(struct reader *r, const struct extent *extent, take_fn *take)
{
	r->at = extent->to;
	return take_at(r, extent->from, take);
}

/* Each element of an array, one at a time in memory. */
static int take_each(struct reader *r, const struct extent *extent,
		     take_fn *take)
{
	struct reader in = *r;
	const char *from;

	if (!extent->from)
		return 0;
	in.at = extent->from;
	in.end = extent->to;
	if (!next_is(&in, '['))
		return refuse_syntax(&in, "an array is expected");
	for (in.at++; !next_is(&in, ']');) {
		skip_blanks(&in);
		from = in.at;
		if (skip_value(&in) || take_at(&in, from, take))
			return -1;
		if (next_is(&in, ','))
			in.at++;
		else if (!next_is(&in, ']'))
			return refuse_syntax(&in, "',' or ']' is expected");
	}
	return ++in.at == in.end ? 0 :
				   refuse_syntax(&in, "more behind an array");
}

/* In a document all that is known of the run is one record. */
static int take_whole_run(struct cs_loaded *to, json_t *record,
			  struct cs_err *err)
{
	return cs_take_run(to, record, err) || cs_take_end(to, record, err) ?
		       -1 : 0;
}

static int read_document(struct reader *r)
{
	struct extent member[MEMBERS] = { { NULL, NULL } };
	int i;

	if (scan_document(r, member))
		return -1;
	for (i = SCHEMA; i <= RUN; i++)
		if (!member[i].from)
			return cs_err_set(r->err, "%s: no '%s': this is no "
					  "document of cscope-mpi", r->name,
					  member_name[i]);
	/* ways and results name agents by their labels: agents come first */
	if (take_one(r, &member[SCHEMA], cs_take_schema) ||
	    take_one(r, &member[PROGRAM], cs_take_program) ||
	    take_one(r, &member[RUN], take_whole_run) ||
	    take_each(r, &member[NODES], cs_take_node) ||
	    take_each(r, &member[AGENTS], cs_take_agent) ||
	    take_each(r, &member[NODES], cs_take_peers) ||
	    take_each(r, &member[RESULTS], cs_take_row))
		return -1;
	return take_each(r, &member[ERRORS], cs_take_error) ||
			       take_each(r, &member[CHECKS], cs_take_check) ?
		       -1 : 0;
}

/* ---- a journal ---- */

/* A later run record continues: what was sound before it stays. */
static int take_run_line(struct cs_loaded *to, json_t *record,
			 struct cs_err *err)
{
	const struct cs_plan *before = to->run.plan;
	uint64_t id = before ? before->id : 0;
	json_t *program = json_object_get(record, "program");

	if (cs_take_schema(to, json_object_get(record, "schema"), err))
		return -1;
	if (before && cs_run_keep_whole(&to->run, err))
		return -1;
	to->has_verdict = 0;
	if (!json_is_object(program))
		return cs_err_set(err, "a run without 'program'");
	if (cs_take_program(to, program, err) || cs_take_run(to, record, err))
		return -1;
	if (id && (!to->run.plan || to->run.plan->id != id))
		return cs_err_set(err, "a run of another plan within one journal");
	return 0;
}

static int take_node_line(struct cs_loaded *to, json_t *record,
			  struct cs_err *err)
{
	json_t *agents = json_object_get(record, "agents"), *agent;
	size_t i;

	if (cs_take_node(to, record, err))
		return -1;
	json_array_foreach(agents, i, agent)
		if (cs_take_agent(to, agent, err))
			return -1;
	return cs_take_peers(to, record, err);
}

static const struct {
	const char *kind;
	take_fn *take;
} kinds[] = {
	{ "run", take_run_line },    { "node", take_node_line },
	{ "result", cs_take_row },   { "error", cs_take_error },
	{ "check", cs_take_check },  { "verdict", cs_take_end },
};

static int take_line(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	const char *kind = json_string_value(json_object_get(record, "kind"));
	size_t i;

	if (!kind)
		return cs_err_set(err, "no 'kind': this is no line of a journal");
	if (!to->run.version && strcmp(kind, "run") != 0)
		return cs_err_set(err, "a journal begins with a line of kind "
				  "'run', not '%.40s'", kind);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			return kinds[i].take(to, record, err);
	return 0; /* of a later version */
}

/* A line without its end was cut when the run was killed. */
static int read_journal(struct reader *r)
{
	const char *from, *newline;

	for (from = r->text; from < r->end; from = newline + 1) {
		newline = memchr(from, '\n', (size_t)(r->end - from));
		if (!newline)
			break;
		r->at = newline;
		if (newline > from && take_at(r, from, take_line))
			return -1;
		r->to->whole_bytes = (size_t)(newline + 1 - r->text);
	}
	if (!r->to->run.version)
		return cs_err_set(r->err, "%s: no whole line", r->name);
	return 0;
}

/* A run that was killed, or that goes on elsewhere. */
static int add_no_verdict(struct cs_loaded *to, struct cs_err *err)
{
	struct cs_finding *f = cs_vec_add(&to->run.findings, 1, err);

	if (!f)
		return -1;
	*f = (struct cs_finding){ .severity = CS_CRITICAL, .node = -1 };
	cs_text(f->id, sizeof(f->id), "no-verdict");
	cs_text(f->text, sizeof(f->text), "the journal has no verdict: the run "
		"was killed, or goes on");
	to->run.exit_status = CS_EXIT_CRITICAL;
	return 0;
}

/* ---- either ---- */

/* A journal is more than one object, or has the kind first that ours have. */
static int is_journal(struct reader *r, int *journal)
{
	struct reader in = *r;
	struct cs_err err;

	if (!next_is(&in, '{')) {
		*r = in;
		return refuse_syntax(r, "an object is expected");
	}
	in.err = &err; /* a journal's last line may be cut */
	*journal = strncmp(in.at + 1, "\"kind\"", 6) == 0;
	if (!*journal && !skip_value(&in)) {
		*journal = next_is(&in, '{');
	}
	return 0;
}

/* jansson wants its hashes seeded before there are threads. */
void cs_loaded_by_threads(void)
{
	json_object_seed(0);
}

int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err)
{
	struct cs_loaded made;
	struct reader r = { &made, name, text, text + size, text, err };
	int rc;

	memset(&made, 0, sizeof(made));
	cs_rows_init(&made.run.rows);
	made.run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	made.run.backend = "";
	made.run.timings = (struct cs_run_timings){ NAN, NAN, NAN, NAN, NAN };
	rc = is_journal(&r, &made.is_journal);
	if (!rc)
		rc = made.is_journal ? read_journal(&r) : read_document(&r);
	if (!rc && !made.has_verdict)
		rc = add_no_verdict(&made, err);
	if (rc) {
		cs_loaded_release(&made);
		return -1;
	}
	*out = made;
	return 0;
}

/* The whole stream, one NUL behind it; NULL with errno. */
static char *read_all(FILE *from, size_t *size)
{
	size_t room = 1 << 16, n = 0, got;
	char *text = malloc(room + 1), *more;

	while (text) {
		got = fread(text + n, 1, room - n, from);
		n += got;
		if (!got)
			break;
		if (n < room)
			continue;
		room *= 2;
		if (n >= FILE_MOST)
			errno = EFBIG;
		more = n < FILE_MOST ? realloc(text, room + 1) : NULL;
		if (!more)
			free(text);
		text = more;
	}
	if (text && ferror(from)) {
		free(text);
		return NULL;
	}
	if (text)
		text[n] = '\0';
	*size = n;
	return text;
}

int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err)
{
	int is_stdin = strcmp(file, "-") == 0, error, rc;
	FILE *from = is_stdin ? stdin : fopen(file, "re");
	const char *name = is_stdin ? "standard input" : file;
	size_t size = 0;
	char *text = from ? read_all(from, &size) : NULL;

	error = errno;
	if (from && !is_stdin)
		fclose(from);
	if (!text) {
		cs_err_set(err, "cannot read '%.200s': %s", name,
			   strerror(error));
		return CS_EXIT_CANNOT;
	}
	rc = cs_loaded_parse(name, text, size, out, err);
	free(text);
	return rc ? CS_EXIT_USAGE : 0;
}
