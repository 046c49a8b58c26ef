#include "config.h"

#include "file/load.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "file/document.h"
#include "file/input.h"
#include "file/journal.h"
#include "file/reader.h"
#include "result/cells.h"

/* Add the finding that a run was killed, or continues in another journal. */
static int add_no_verdict(struct cs_loaded *to, struct cs_err *err)
{
	struct cs_finding *f = cs_vec_add(&to->run.findings, 1, err);

	if (!f)
		return -1;
	*f = (struct cs_finding){ .id = CS_FINDING_NO_VERDICT,
				  .severity = CS_CRITICAL,
				  .node = -1 };
	cs_text(f->text, sizeof(f->text),
		"the journal has no verdict: the run was killed, or goes on");
	to->run.exit_status = CS_EXIT_CRITICAL;
	return 0;
}

/* ---- of bytes ---- */

/* A journal is more than one object, or has the kind first that ours have. */
static int read_objects(struct cs_reader *r)
{
	int rc;

	if (!cs_reader_next_is(r, '{'))
		return cs_reader_syntax(r, "an object is expected");
	rc = cs_reader_begins(r, "{\"kind\"") ? 1 : cs_json_read(r);
	if (rc <= 0)
		return rc;
	r->to->is_journal = 1;
	cs_reader_seek(r, 0, 1, CS_READ_ALL);
	return cs_jsonl_read(r);
}

/* jansson wants its hashes seeded before there are threads. */
void cs_loaded_by_threads(void)
{
	json_object_seed(0);
}

static int read_run(struct cs_reader *r, struct cs_loaded *out)
{
	struct cs_loaded *made = r->to;

	memset(made, 0, sizeof(*made));
	cs_rows_init(&made->run.rows);
	made->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	made->run.backend = "";
	made->run.timings = (struct cs_run_timings){ NAN, NAN, NAN, NAN, NAN };
	if (read_objects(r) || (!made->has_verdict && add_no_verdict(made, r->err)) ||
	    cs_run_index(&made->run, r->err)) {
		cs_loaded_release(made);
		return -1;
	}
	*out = *made;
	return 0;
}

int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err)
{
	struct cs_loaded made;
	struct cs_reader r = { .to = &made, .name = name, .err = err };

	cs_reader_of_text(&r, text, size);
	return read_run(&r, out);
}

/* ---- of a file ---- */

int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err)
{
	int is_stdin = strcmp(file, "-") == 0, rc = -1;
	struct cs_loaded made;
	struct cs_reader r = { .to = &made,
			       .err = err,
			       .name = is_stdin ? "standard input" : file };
	FILE *from = is_stdin ? stdin : cs_input_open(file, CS_INPUT_WAIT_S, err);

	if (!from) {
		cs_err_prefix(err, "cannot read '%.200s'", file);
		return CS_EXIT_CANNOT;
	}
	if (!cs_reader_of_file(&r, from))
		rc = read_run(&r, out);
	if (!is_stdin)
		fclose(from);
	cs_reader_release(&r);
	if (!r.error)
		return rc ? CS_EXIT_USAGE : 0;
	if (!rc)
		cs_loaded_release(out);
	cs_reader_failed(&r);
	return CS_EXIT_CANNOT;
}
