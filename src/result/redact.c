#include "result/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_MOST 4096 /* of one argument */

struct name {
	char from[CS_HOST], to[24];
};

void cs_redact_init(struct cs_redact *redact)
{
	memset(redact, 0, sizeof(*redact));
	redact->names = (struct cs_vec)CS_VEC(struct name);
}

void cs_redact_release(struct cs_redact *redact)
{
	for (int i = 0; i < redact->argc; i++)
		free(redact->argv[i]);
	free(redact->argv);
	cs_vec_release(&redact->names);
	cs_redact_init(redact);
}

/* ---- names ---- */

static const struct name *find(const struct cs_redact *redact, const char *from)
{
	CS_EACH(const struct name, name, &redact->names)
		if (strcmp(name->from, from) == 0)
			return name;
	return NULL;
}

static int learn(struct cs_redact *redact, const char *from, const char *to,
		 struct cs_err *err)
{
	struct name *name;

	if (!from[0] || find(redact, from))
		return 0;
	name = cs_vec_add(&redact->names, 1, err);
	if (!name)
		return -1;
	cs_text(name->from, sizeof(name->from), "%s", from);
	cs_text(name->to, sizeof(name->to), "%s", to);
	return 0;
}

/* ---- names in texts ---- */

static int in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The domain that may follow a host. */
static size_t domain_length(const char *at)
{
	size_t n = 0;

	while (at[n] == '.' && isalnum((unsigned char)at[n + 1]))
		for (n++; in_word(at[n]); n++)
			;
	return n;
}

/* "GPU-5ab…", whole or its beginning: returns its length and the replacement. */
static size_t match_uuid(const struct cs_redact *redact, const char *at,
			 const char **to)
{
	size_t n;

	if (strncasecmp(at, "GPU-", 4) && strncasecmp(at, "MIG-", 4))
		return 0;
	n = 4 + strspn(at + 4, "0123456789abcdefABCDEF-");
	if (n == 4 || in_word(at[n]))
		return 0;
	*to = "GPU-x";
	CS_EACH(const struct name, name, &redact->names)
		if (strncasecmp(name->from, at, n) == 0)
			*to = name->to;
	return n;
}

/* Is it a path that every Linux has? */
static int is_system_path(const char *at)
{
	static const char *const roots[] = { "/dev/", "/proc/",	 "/sys/", "/usr/",
					     "/lib/", "/lib64/", "/etc/" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (strncmp(at, roots[i], strlen(roots[i])) == 0)
			return 1;
	return 0;
}

static int is_output(const char *text, size_t n)
{
	static const char *const endings[] = { ".txt", ".json", ".jsonl", ".csv" };
	size_t length;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		length = strlen(endings[i]);
		if (n > length && !strncmp(text + n - length, endings[i], length))
			return 1;
	}
	return 0;
}

/* A path: from '/' on, or all between quotes. */
static size_t match_path(const char *text, const char *at, const char **to)
{
	char before = at > text ? at[-1] : ' ';
	size_t n = before == '\'' ? strcspn(at, "'") : strcspn(at, " \t\n'\",;)");

	*to = "PATH";
	if (is_system_path(at) || in_word(before) || before == '/' || before == '.')
		return 0;
	if (*at == '/')
		return n > 1 ? n : 0;
	return before == '\'' && at[n] == '\'' &&
			       (memchr(at, '/', n) || is_output(at, n)) ?
		       n :
		       0;
}

static size_t match_name(const struct cs_redact *redact, const char *at,
			 const char **to)
{
	size_t n;

	CS_EACH(const struct name, name, &redact->names) {
		n = strlen(name->from);
		if (strncmp(at, name->from, n) || in_word(at[n]))
			continue;
		*to = name->to;
		return n + domain_length(at + n);
	}
	return 0;
}

/* Match a host that is not in the run's nodes: errors name it as "on 'n017'". */
static size_t match_host(const char *text, const char *at, const char **to)
{
	size_t n = strcspn(at, "'");

	if (at - text < 4 || strncmp(at - 4, "on '", 4) || !at[n] || !n ||
	    n != strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789-._"))
		return 0;
	*to = "node";
	return n;
}

static void redact_text(const struct cs_redact *redact, char *text, size_t size)
{
	char made[TEXT_MOST], *at;
	const char *to;
	size_t n, used = 0;

	made[0] = '\0';
	for (at = text; *at && used + 32 < sizeof(made); at += n) {
		n = 0;
		if (at == text || !in_word(at[-1])) {
			n = match_name(redact, at, &to);
			if (!n)
				n = match_uuid(redact, at, &to);
			if (!n)
				n = match_path(text, at, &to);
			if (!n)
				n = match_host(text, at, &to);
		}
		if (n) {
			cs_text(made + used, sizeof(made) - used, "%s", to);
			used += strlen(to);
		} else {
			made[used++] = *at;
			made[used] = '\0';
			n = 1;
		}
	}
	cs_text(text, size, "%s", made);
}

static void redact_field(void *redact, const struct cs_field *field, const void *of)
{
	if (field->foreign)
		redact_text(redact, cs_field_in(field, of), field->size);
}

/* ---- the run ---- */

/* "-o=/home/a/x.json" becomes "-o=FILE.json": outputs may have any name. */
static char *redact_argument(const struct cs_redact *redact, const char *argument)
{
	char text[TEXT_MOST];
	const char *dot = strrchr(argument, '.');
	size_t option = strncmp(argument, "--", 2) ? 0 : strcspn(argument, "=");

	option += argument[option] == '=' && option;
	if (is_output(argument, strlen(argument)))
		cs_text(text, sizeof(text), "%.*sFILE%s", (int)option, argument, dot);
	else if (strchr(argument + option, '/'))
		cs_text(text, sizeof(text), "%.*sFILE", (int)option, argument);
	else
		cs_text(text, sizeof(text), "%s", argument);
	redact_text(redact, text, sizeof(text));
	return strdup(text);
}

static int redact_argv(struct cs_redact *redact, struct cs_run *run,
		       struct cs_err *err)
{
	int i;

	redact->argv = calloc((size_t)run->argc + 1, sizeof(*redact->argv));
	for (i = 0; redact->argv && i < run->argc; i++) {
		redact->argv[i] = i ? redact_argument(redact, run->argv[i]) :
				      strdup("cscope-mpi");
		if (!redact->argv[i])
			break;
		redact->argc++;
	}
	if (!redact->argv || i < run->argc)
		return cs_err_set(err, "no memory");
	run->argv = redact->argv;
	return 0;
}

/* "TIME-HOST-PID": the host may be cut. */
static void redact_id(char *id, size_t size)
{
	const char *last = strrchr(id, '-');
	char made[64];

	if (!last)
		return;
	cs_text(made, sizeof(made), "%.*s-node1%s", (int)strcspn(id, "-"), id, last);
	cs_text(id, size, "%s", made);
}

int cs_redact_start(struct cs_redact *redact, struct cs_run *run, const char *host,
		    struct cs_err *err)
{
	if (learn(redact, host, "node1", err) ||
	    learn(redact, run->job_id, "job1", err) || redact_argv(redact, run, err))
		return -1;
	if (run->job_id[0])
		cs_text(run->job_id, sizeof(run->job_id), "job1");
	redact_id(run->id, sizeof(run->id));
	redact_id(run->resumes, sizeof(run->resumes));
	if (run->plan_file) /* whose name is in it */
		run->matrix_text = "--plan FILE.csv";
	run->redacted = 1;
	return 0;
}

/* Replace a name by `kind` and the number of it, which *n is of the last one. */
static int number_name(struct cs_redact *redact, char *name, size_t size,
		       const char *kind, int *n, struct cs_err *err)
{
	char to[24];

	if (!name[0])
		return 0;
	if (!find(redact, name)) {
		cs_text(to, sizeof(to), "%s%d", kind, ++*n);
		if (learn(redact, name, to, err))
			return -1;
	}
	cs_text(name, size, "%s", find(redact, name)->to);
	return 0;
}

static int number_gpu(struct cs_redact *redact, char uuid[CS_UUID], struct cs_err *err)
{
	return number_name(redact, uuid, CS_UUID,
			   strncmp(uuid, "MIG", 3) ? "GPU-" : "MIG-", &redact->n_gpus,
			   err);
}

static int redact_ways(struct cs_redact *redact, struct cs_run_node *nd,
		       struct cs_err *err)
{
	for (int i = 0; nd->ways && i < nd->facts.n_agents; i++)
		for (int k = 0; k < nd->facts.n_agents; k++) {
			struct cs_way way = *cs_node_way(nd, i, k);
			char reason[CS_WAY_REASON];

			cs_text(reason, sizeof(reason), "%s", way.reason);
			way.reason = reason;
			cs_fields_each(&cs_way_fields, &way, redact_field, redact);
			if (cs_node_set_way(nd, i, k, &way, err))
				return -1;
		}
	return 0;
}

int cs_redact_node(struct cs_redact *redact, struct cs_run *run, int node,
		   struct cs_err *err)
{
	struct cs_run_node *nd = &run->node[node];
	char host[24];

	cs_text(host, sizeof(host), "node%d", node + 1);
	if (learn(redact, nd->facts.host, host, err))
		return -1;
	if (nd->facts.host[0])
		cs_text(nd->facts.host, sizeof(nd->facts.host), "%s", host);
	if (number_name(redact, nd->facts.leaf, CS_HOST, "leaf", &redact->n_leaves,
			err))
		return -1;
	for (int a = 0; a < nd->facts.n_agents; a++)
		if (number_gpu(redact, nd->agent[a].gpu.uuid, err))
			return -1;
	for (int a = 0; a < nd->facts.n_known_gpus; a++)
		if (number_gpu(redact, nd->gpu_record[a].uuid, err) ||
		    number_name(redact, nd->gpu_record[a].board.serial,
				sizeof(nd->gpu_record[a].board.serial), "serial",
				&redact->n_boards, err))
			return -1;
	cs_node_each(nd, redact_field, redact);
	memset(nd->trait_hash, 0, sizeof(nd->trait_hash));
	return redact_ways(redact, nd, err);
}

int cs_redact_row(const struct cs_redact *redact, struct cs_rows *rows, size_t i,
		  struct cs_err *err)
{
	struct cs_row row = *cs_rows_get(rows, i);
	char reason[CS_REASON];

	cs_text(reason, sizeof(reason), "%s", row.reason);
	row.reason = reason;
	cs_fields_each(&cs_row_fields, &row, redact_field, (void *)(uintptr_t)redact);
	return cs_rows_set(rows, i, &row, err);
}

void cs_redact_findings(const struct cs_redact *redact, struct cs_run *run)
{
	CS_EACH(struct cs_finding, f, &run->findings) {
		redact_text(redact, f->text, sizeof(f->text));
		redact_text(redact, f->next, sizeof(f->next));
		redact_text(redact, f->remeasure, sizeof(f->remeasure));
		redact_text(redact, f->elsewhere, sizeof(f->elsewhere));
	}
}

int cs_redact_run(struct cs_redact *redact, struct cs_run *run, struct cs_err *err)
{
	if (run->redacted)
		return 0;
	for (int node = 0; node < run->n_nodes; node++)
		if (cs_redact_node(redact, run, node, err))
			return -1;
	if (cs_redact_start(redact, run, "", err))
		return -1;
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		if (cs_redact_row(redact, &run->rows, i, err))
			return -1;
	cs_redact_findings(redact, run);
	return 0;
}
