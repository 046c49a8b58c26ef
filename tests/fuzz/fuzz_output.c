/* Names of output files: %N, %j, %t and %% replaced, in rooms of two sizes; what the
 * input begins with is also a job's id, which leads to no other folder, is no option and
 * has printable characters alone. */
#include <ctype.h>

#include "fuzz.h"
#include "report/report.h"

static void put_run(struct cs_run *run, struct cs_run_node *node, const char *job)
{
	memset(run, 0, sizeof(*run));
	cs_node_facts_init(&node->facts);
	cs_text(node->facts.host, sizeof(node->facts.host), "n001");
	cs_text(run->job_id, sizeof(run->job_id), "%s", job);
	run->started.tv_sec = 1795183391;
	run->node = node;
	run->n_nodes = 1;
}

static void name(const char *text, char *to, size_t size, const struct cs_run *run)
{
	struct cs_err err = { "" };
	const char *at;

	memset(to, 0x5a, size);
	if (cs_output_name(text, run, to, size, &err)) {
		MUST(*err.text);
		return;
	}
	MUST(memchr(to, '\0', size));
	if (!strchr(text, '%'))
		MUST(!strcmp(text, to));
	for (at = text; (at = strchr(at, '%')); at += 2)
		MUST(at[1] && strchr("Njt%", at[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cs_run_node node;
	char *text = fuzz_text(data, size), few[8], many[512];
	struct cs_run run;

	put_run(&run, &node, "81233");
	name(text, few, sizeof(few), &run);
	name(text, many, sizeof(many), &run);
	put_run(&run, &node, text);
	name("%j", many, sizeof(many), &run);
	MUST(!many[0] || isalnum((unsigned char)many[0]) || many[0] == '_');
	for (const char *at = many; *at; at++)
		MUST(*at >= ' ' && *at <= '~' && *at != '/');
	cs_format_by_file(text);
	cs_format_by_name(text);
	free(text);
	return 0;
}
