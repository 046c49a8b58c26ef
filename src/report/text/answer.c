/* answer.c - the first sentence of a report: whose figures, what each path gives, and whether all
 * is well. */
#include "config.h"

#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "base/shape.h"
#include "base/units.h"
#include "check/link/kind.h"
#include "report/group.h"
#include "report/text/digest.h"
#include "report/text/slow_cells.h"
#include "report/view.h"

/* ---- what each path gives ---- */

/* Does it measure a link or a memory with copies large enough to compare? */
static int measures_link(const struct cs_digest *d, const struct cs_digest_line *line)
{
	return line->measured && cs_test_measures_link(line->test) &&
	       (cs_on_cpu(d->run) || line->test->path == CS_PATH_HOST ||
		line->matrix->bytes >= d->likeness.from_bytes);
}

/* The first line of a kind that measures a link; NULL. */
static const struct cs_digest_line *find(const struct cs_digest *d, enum cs_path path,
					 enum cs_pattern pattern, int back)
{
	const struct cs_digest_line *line = d->lines.data;

	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].test->path == path && line[i].test->pattern == pattern &&
		    line[i].back == back && measures_link(d, &line[i]))
			return &line[i];
	return NULL;
}

static struct cs_label figure(double x)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), x >= 99.95 ? "%.0f" : "%.1f", x);
	return label;
}

/* " (88 % of NVLink, usual)" */
static void add_share(const struct cs_digest_line *line, char *to, size_t size)
{
	long share = lround(100 * line->share);
	long low = lround(100 * line->low), high = lround(100 * line->high);
	char bytes[16];

	if (isnan(line->share))
		return;
	cs_text_add(to, size, " (%ld %% of %s", share,
		    line->test->path == CS_PATH_LOCAL ? "its peak" : line->link);
	if (share < low && !isnan(line->low))
		cs_text_add(to, size, ", below the usual %ld to %ld %%", low, high);
	else if (share <= high && !isnan(line->low))
		cs_text_add(to, size, ", usual");
	else if (line->test->path == CS_PATH_PEER &&
		 cs_is_short(line->matrix->bytes, line->median / line->share)) {
		cs_size_text(line->matrix->bytes, bytes, sizeof(bytes));
		cs_text_add(to, size, ", which copies of %s do not fill", bytes);
	}
	cs_text_add(to, size, ")");
}

static void begin(char *to, size_t size)
{
	cs_text_add(to, size, "%s", to[0] ? "; " : "");
}

static void add_peers(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_PEER, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *both = find(d, CS_PATH_PEER, CS_PATTERN_BIDI, 0);

	if (!pair && !both)
		return;
	begin(to, size);
	cs_text_add(to, size, "%s to %s ", cs_agent_word(d->run),
		    cs_agent_word(d->run));
	if (pair) {
		cs_text_add(to, size, "%s GB/s", figure(pair->median).text);
		add_share(pair, to, size);
	}
	if (both)
		cs_text_add(to, size, "%sboth ways %s", pair ? ", " : "",
			    figure(both->together).text);
}

static void add_host(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *in = find(d, CS_PATH_H2D, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *out = find(d, CS_PATH_D2H, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *there = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 0);
	const struct cs_digest_line *back = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 1);

	if (!in && !out && !there)
		return;
	begin(to, size);
	cs_text_add(to, size, "host ");
	if (in)
		cs_text_add(to, size, "%s in%s", figure(in->median).text,
			    out ? ", " : "");
	if (out)
		cs_text_add(to, size, "%s out", figure(out->median).text);
	if (in || out)
		add_share(in ? in : out, to, size);
	if (there)
		cs_text_add(to, size, "%sboth ways %s in", in || out ? ", " : "",
			    figure(there->median).text);
	if (there && back)
		cs_text_add(to, size, ", %s out", figure(back->median).text);
}

static void add_local(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *own = find(d, CS_PATH_LOCAL, CS_PATTERN_ALONE, 0);

	if (!own)
		return;
	begin(to, size);
	cs_text_add(to, size, "own memory %s", figure(own->median).text);
	add_share(own, to, size);
}

/* Of loads by CPUs. */
static const struct cs_digest_line *find_latency(const struct cs_digest *d)
{
	const struct cs_digest_line *line = d->lines.data;

	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].test->path == CS_PATH_HOST &&
		    line[i].test->method == CS_METHOD_CHASE && line[i].measured)
			return &line[i];
	return NULL;
}

static void add_numa(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_HOST, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *load = find_latency(d);

	if (!pair && !load)
		return;
	begin(to, size);
	cs_text_add(to, size, "NUMA node to NUMA node ");
	if (pair)
		cs_text_add(to, size, "%s GB/s%s", figure(pair->median).text,
			    load ? ", " : "");
	if (load && load->measured > 1)
		cs_text_add(to, size, "a load %s to %s ns", figure(load->min).text,
			    figure(load->max).text);
	else if (load)
		cs_text_add(to, size, "a load %s ns", figure(load->median).text);
}

/* The fastest copy of a face between such ends; NULL. */
static const struct cs_digest_line *find_face(const struct cs_digest *d,
					      enum cs_path path, char face)
{
	const struct cs_digest_line *line = d->lines.data, *found = NULL;
	char shape[CS_SHAPE_TEXT];

	for (size_t i = 0; i < d->lines.n; i++) {
		uint64_t of = line[i].matrix->variant.shape;

		cs_shape_text(of, shape, sizeof(shape));
		if (line[i].test->path == path && cs_shape_is_face(of) &&
		    shape[strlen(shape) - 1] == face && line[i].measured &&
		    (!found || line[i].median > found->median))
			found = &line[i];
	}
	return found;
}

/* "x 30.2 us (20 % of a flat copy)"; the z face is flat: it is one block. */
static void add_face(const struct cs_digest_line *line, char face,
		     const struct cs_digest_line *flat, const char *what, char *to,
		     size_t size)
{
	double us = (double)line->matrix->bytes / line->median / 1e3;

	cs_text_add(to, size, " %c %.*f us", face, us < 9.995 ? 2 : us < 99.95, us);
	if (flat && line != flat)
		cs_text_add(to, size, " (%.0f %%%s)",
			    100 * line->median / flat->median, what);
}

/* "faces GPU to GPU x 30.2 us (20 % of a flat copy), y 6.1 us (97 %), z 5.9 us" */
static void add_faces(const struct cs_digest *d, char *to, size_t size)
{
	static const struct {
		enum cs_path path;
		const char *name;
	} way[] = { { CS_PATH_PEER, "GPU to GPU" },
		    { CS_PATH_H2D, "host to GPU" },
		    { CS_PATH_D2H, "GPU to host" } };
	const char *what = " of a flat copy";

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct cs_digest_line *flat = find_face(d, way[i].path, 'z');
		const char *before = way[i].name;

		for (int face = 'x'; face <= 'z'; face++) {
			const struct cs_digest_line *line = find_face(d, way[i].path,
								      (char)face);

			if (!line)
				continue;
			cs_text_add(to, size, "%s%s",
				    !to[0]		  ? "faces " :
				    before == way[i].name ? "; " :
							    "",
				    before);
			add_face(line, (char)face, flat, what, to, size);
			what = flat && line != flat ? "" : what;
			before = ",";
		}
	}
}

/* "36 calls take from 0.03 us (free) to 34.78 us (vmm-alloc)", one at a time. */
static void add_calls(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *line = d->lines.data, *least = NULL, *most = NULL;
	size_t calls = 0;

	for (size_t i = 0; i < d->lines.n; i++) {
		if (line[i].test->how != CS_HOW_BATCHES || !line[i].measured ||
		    line[i].test->pattern != CS_PATTERN_ALONE)
			continue;
		calls++;
		if (!least || line[i].median < least->median)
			least = &line[i];
		if (!most || line[i].median > most->median)
			most = &line[i];
	}
	if (calls > 1)
		cs_text_add(to, size,
			    "%zu calls take from %.2f us (%s) to %.2f us (%s)", calls,
			    least->median / 1e3, cs_op_text((int)least->test->op),
			    most->median / 1e3, cs_op_text((int)most->test->op));
}

/* Where no test measures a link: faces, calls, or the first test with a figure. */
static void add_others(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *line = d->lines.data;
	char name[200];

	add_faces(d, to, size);
	if (!to[0])
		add_calls(d, to, size);
	for (size_t i = 0; i < d->lines.n && !to[0]; i++)
		if (line[i].measured) {
			cs_digest_name(&line[i], d->run, name, sizeof(name));
			cs_text(to, size, "%s %s %s", name,
				figure(line[i].median).text,
				cs_unit_text((int)line[i].test->unit));
		}
	if (!to[0])
		cs_text(to, size, "nothing was measured");
}

/* ---- the verdict ---- */

/* "1 cell 33 % below its like: 0->1", of the first test; how many in all. */
static void add_odd(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *line = d->lines.data, *first = NULL;
	size_t tests = 0, cells = 0;

	for (size_t i = 0; i < d->lines.n; i++) {
		tests += line[i].odd > 0;
		cells += line[i].odd;
		if (line[i].odd && !first)
			first = &line[i];
	}
	if (!first)
		return;
	begin(to, size);
	cs_text_add(to, size, "%s",
		    first->odd_text[0] ? first->odd_text : "cells below their like");
	if (tests > 1)
		cs_text_add(to, size, " (%zu cells of %zu tests)", cells, tests);
	cs_text_add(to, size, "%s", cs_odd_how_sure(d->run));
}

/* The first of the gravest findings, and how many are as grave; NULL without a warning
 * or worse. */
static const struct cs_finding *find_gravest(const struct cs_run *run, size_t *n)
{
	const struct cs_finding *f = run->findings.data, *gravest = NULL;

	*n = 0;
	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].severity >= CS_WARNING &&
		    (!gravest || f[i].severity > gravest->severity))
			gravest = &f[i];
	for (size_t i = 0; gravest && i < run->findings.n; i++)
		*n += f[i].severity == gravest->severity;
	return gravest;
}

/* "All alike" would be read as "all is well", so it needs a run without a warning. */
static void add_alike(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_likeness *l = &d->likeness;
	char from[16];
	size_t grave;

	if (!l->n_odd && l->n_compared && !find_gravest(d->run, &grave)) {
		begin(to, size);
		cs_text_add(to, size, "all alike within %.1f %%",
			    fmax(0.1, ceil(1000 * l->worst) / 10));
		if (l->n_unsure)
			cs_text_add(to, size, " but for %zu %s", l->n_unsure,
				    l->n_unsure == 1 ? "uncertain cell" :
						       "uncertain cells");
	}
	if (!l->n_compared && l->n_alone) {
		begin(to, size);
		cs_text_add(to, size, "too few cells of a kind to compare");
	}
	if (l->n_short) {
		cs_size_text(l->from_bytes, from, sizeof(from));
		begin(to, size);
		cs_text_add(to, size, "copies under %s are not compared", from);
	}
}

/* "2 critical: n7: GPU 3: 17 of 18 NVLinks are up" */
static void add_faults(const struct cs_run *run, char *to, size_t size)
{
	size_t n;
	const struct cs_finding *f = find_gravest(run, &n);

	begin(to, size);
	if (!f) {
		cs_text_add(to, size, "%s",
			    cs_run_coverage(run).measured ? "no errors" : "");
		return;
	}
	cs_text_add(to, size, "%zu %s%s: ", n, cs_severity_text(f->severity),
		    n > 1 && f->severity == CS_WARNING ? "s" : "");
	if (run->n_nodes > 1 && f->node >= 0)
		cs_text_add(to, size, "%s: ", run->node[f->node].facts.host);
	cs_text_add(to, size, "%s", f->text);
}

/* ---- whose ---- */

/* "8 x H200", "16 nodes of 8 x H200", "7 of 8 x H200". */
static void subject_text(const struct cs_digest *d, char *to, size_t size)
{
	static const char maker[] = "NVIDIA ";
	int nodes = d->last - d->first, same = 1, of;
	const struct cs_run_node *nd;
	const char *name;

	cs_text(to, size, "no node");
	if (nodes < 1)
		return;
	nd = &d->run->node[d->first];
	of = nd->facts.n_known_gpus;
	name = nd->facts.n_agents > 0 ? nd->agent[0].gpu.name : "GPU";
	for (int node = d->first; node < d->last; node++) {
		const struct cs_run_node *other = &d->run->node[node];

		same &= other->facts.n_agents == nd->facts.n_agents;
		for (int a = 0; a < other->facts.n_agents; a++)
			same &= !strcmp(other->agent[a].gpu.name, name);
	}
	to[0] = '\0';
	if (nodes > 1)
		cs_text(to, size, "%d nodes%s", nodes, same ? " of " : "");
	if (!same && nodes > 1)
		return;
	cs_text_add(to, size, "%d ", nd->facts.n_agents);
	if (!cs_on_cpu(d->run) && of > nd->facts.n_agents)
		cs_text_add(to, size, "of %d ", of);
	if (!same)
		cs_text_add(to, size, "GPUs");
	else
		cs_text_add(to, size, "x %s",
			    strncmp(name, maker, sizeof(maker) - 1) ?
				    name :
				    name + sizeof(maker) - 1);
}

void cs_answer_print(FILE *to, const struct cs_digest *d, const char *what)
{
	char paths[1000] = "", verdict[CS_ERR_TEXT + 600] = "", subject[160];

	subject_text(d, subject, sizeof(subject));
	add_peers(d, paths, sizeof(paths));
	add_host(d, paths, sizeof(paths));
	add_local(d, paths, sizeof(paths));
	add_numa(d, paths, sizeof(paths));
	if (!paths[0])
		add_others(d, paths, sizeof(paths));
	if (*what && d->run->n_nodes && d->run->node[d->first].facts.n_agents == 1)
		cs_text_add(paths, sizeof(paths), "; nothing between GPUs to measure");
	add_odd(d, verdict, sizeof(verdict));
	add_alike(d, verdict, sizeof(verdict));
	add_faults(d->run, verdict, sizeof(verdict));
	cs_fold(to, 0, 2, "%s%s%s: %s%s%s", what, *what ? ": " : "", subject, paths,
		verdict[0] ? "; " : "", verdict);
}
