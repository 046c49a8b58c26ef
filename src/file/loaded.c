#include "config.h"

#include "file/loaded.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/internal.h"
#include "file/reader.h"

#define FILE_MOST ((size_t)1 << 30)

/* ---- what is read ---- */

static void free_nodes(struct cs_loaded *to)
{
	int i;

	for (i = 0; i < to->run.n_nodes && to->run.node; i++) {
		free(to->run.node[i].peers);
		free(to->run.node[i].ranks);
	}
	free(to->run.node);
	free(to->agents_seen);
	to->run.node = NULL;
	to->agents_seen = NULL;
	to->run.n_nodes = 0;
}

int cs_loaded_nodes(struct cs_loaded *to, int n, struct cs_err *err)
{
	int i;

	if (to->run.node && n == to->run.n_nodes)
		return 0; /* of a journal that is continued */
	if (cs_rows_count(&to->run.rows))
		return cs_err_set(err, "a run on %d nodes continues one on %d", n,
				  to->run.n_nodes);
	free_nodes(to);
	to->run.node = calloc((size_t)n + 1, sizeof(*to->run.node));
	to->agents_seen = calloc((size_t)n + 1, sizeof(*to->agents_seen));
	if (!to->run.node || !to->agents_seen)
		return cs_err_set(err, "no memory for %d nodes", n);
	for (i = 0; i < n; i++)
		cs_node_facts_init(&to->run.node[i].facts);
	to->run.n_nodes = n;
	return 0;
}

void cs_loaded_release(struct cs_loaded *loaded)
{
	if (!loaded)
		return;
	free_nodes(loaded);
	free((void *)(uintptr_t)loaded->run.plan);
	free(loaded->argv);
	cs_rows_release(&loaded->run.rows);
	cs_rows_release(&loaded->run.all);
	cs_vec_release(&loaded->run.findings);
	json_decref(loaded->texts);
	memset(loaded, 0, sizeof(*loaded));
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

/* ---- of bytes ---- */

/* A journal is more than one object, or has the kind first that ours have. */
static int is_journal(struct cs_reader *r, int *journal)
{
	struct cs_reader in = *r;
	struct cs_err err;

	if (!cs_reader_next_is(&in, '{')) {
		*r = in;
		return cs_reader_syntax(r, "an object is expected");
	}
	in.err = &err; /* a journal's last line may be cut */
	*journal = strncmp(in.at + 1, "\"kind\"", 6) == 0;
	if (!*journal && !cs_reader_skip_value(&in)) {
		*journal = cs_reader_next_is(&in, '{');
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
	struct cs_reader r = { &made, name, text, text + size, text, err };
	int rc;

	memset(&made, 0, sizeof(made));
	cs_rows_init(&made.run.rows);
	made.run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	made.run.backend = "";
	made.run.timings = (struct cs_run_timings){ NAN, NAN, NAN, NAN, NAN };
	rc = is_journal(&r, &made.is_journal);
	if (!rc)
		rc = made.is_journal ? cs_jsonl_read(&r) : cs_json_read(&r);
	if (!rc && !made.has_verdict)
		rc = add_no_verdict(&made, err);
	if (rc) {
		cs_loaded_release(&made);
		return -1;
	}
	*out = made;
	return 0;
}

/* ---- of a file ---- */

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
