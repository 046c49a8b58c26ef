#include "file/load.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "file/document.h"
#include "file/input.h"
#include "file/reader.h"
#include "result/cells.h"
#include "result/passes.h"

#define RECORD_USUAL ((size_t)1 << 19) /* as JSON values: a node with 8 GPUs */

/* Add the finding that a run was killed, or continues in another journal. */
static void add_no_verdict(struct cs_loaded *to)
{
	struct cs_finding f = { .id = CS_FINDING_NO_VERDICT,
				.severity = CS_CRITICAL,
				.node = -1,
				.text = "the journal has no verdict: the run was "
					"killed, or goes on" };

	cs_list_push(&to->run.findings, &f);
	to->run.exit_status = CS_EXIT_CRITICAL;
}

static void add_unknown(struct cs_loaded *to)
{
	struct cs_finding f = { .id = CS_FINDING_UNKNOWN_TEST,
				.severity = CS_NOTE,
				.node = -1 };

	cs_text(f.text, sizeof(f.text), "tests of another version are left out: %s",
		to->unknown);
	cs_list_push(&to->run.findings, &f);
}

/* ---- of bytes ---- */

/* A journal is more than one object, or has the kind first that ours have. */
static void read_objects(struct cs_reader *r)
{
	if (!cs_reader_next_is(r, '{'))
		cs_reader_syntax(r, "an object is expected");
	if (!cs_reader_begins(r, "{\"kind\"") && cs_json_read(r))
		return;
	r->to->is_journal = 1;
	cs_reader_seek(r, 0, 1, CS_READ_ALL);
	cs_jsonl_read(r);
}

static int read_run(void *reader)
{
	struct cs_reader *r = reader;

	cs_arena_reserve(RECORD_USUAL);
	read_objects(r);
	if (!r->to->has_verdict)
		add_no_verdict(r->to);
	if (r->to->unknown[0])
		add_unknown(r->to);
	cs_arena_check(cs_passes_end(&r->to->run, NULL));
	cs_arena_check(cs_run_index(&r->to->run, NULL));
	return 0;
}

/* Load an open reader into *out, and release the reader. */
static int load(struct cs_reader *r, struct cs_loaded *out, struct cs_err *err)
{
	struct cs_loaded *made = r->to;
	int rc;

	memset(made, 0, sizeof(*made));
	cs_rows_init(&made->run.rows);
	made->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	made->run.backend = "";
	made->run.timings = (struct cs_run_timings){ NAN, NAN, NAN, NAN, NAN };
	cs_loaded_reading(1);
	rc = cs_arena_run(read_run, r, err);
	cs_loaded_reading(0);
	if (r->error)
		rc = -1;
	else if (rc && r->wrong != CS_KEEP_NOTHING)
		cs_err_prefix(err, "%s: line %zu", r->name,
			      cs_reader_line(r, r->wrong));
	if (rc)
		cs_loaded_release(made);
	else
		*out = *made;
	cs_reader_release(r);
	return rc;
}

int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err)
{
	struct cs_loaded made;
	struct cs_reader r = { .to = &made, .name = name };

	cs_reader_of_text(&r, text, size);
	return load(&r, out, err);
}

/* ---- of a file ---- */

int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err)
{
	int is_stdin = strcmp(file, "-") == 0, rc;
	struct cs_loaded made;
	struct cs_reader r = { .to = &made,
			       .name = is_stdin ? "standard input" : file };
	FILE *from = is_stdin ? stdin : cs_input_open(file, CS_INPUT_WAIT_S, err);

	if (!from) {
		cs_err_prefix(err, "cannot read '%.200s'", file);
		return CS_EXIT_CANNOT;
	}
	errno = 0;
	rc = cs_reader_of_file(&r, from) || load(&r, out, err);
	rc = !rc ? 0 : r.error || errno == ENOMEM ? CS_EXIT_CANNOT : CS_EXIT_USAGE;
	if (r.error)
		cs_reader_failed(&r, err);
	if (!is_stdin)
		fclose(from);
	cs_reader_release(&r);
	return rc;
}
