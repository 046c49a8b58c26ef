/* answer.c - the first sentence of a report: of which machine, the rate of each path,
 * and whether all is well. */
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "check/link/kind.h"

/* ---- the rate of each path ---- */

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
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->test->path == path && line->test->pattern == pattern &&
		    line->back == back && measures_link(d, line))
			return line;
	return NULL;
}

static const char *figure(double x)
{
	return cs_new_text(x >= 99.95 ? "%.0f" : "%.1f", x);
}

/* GPUs of the one node that are slow alike in this test; NULL. */
static const struct cs_slow_half *half_of(const struct cs_digest *d,
					  const struct cs_digest_line *line)
{
	const struct cs_slow_half *half = &d->likeness.half[line->test->path];

	return d->last - d->first == 1 && half->test == line->test &&
			       half->bytes == line->matrix->bytes ?
		       half :
		       NULL;
}

/* " (88 % of NVLink, usual 395 to 397)", of machines that are known; else by the link's
 * share: " (88 % of NVLink, usual)" */
static const char *share_text(const struct cs_digest *d,
			      const struct cs_digest_line *line)
{
	long share = lround(100 * line->share);
	long low = lround(100 * line->low), high = lround(100 * line->high);
	const char *usual = "", *known = cs_digest_known(line, " to ");

	if (half_of(d, line))
		return "";
	if (isnan(line->share))
		return *known ? cs_new_text(" (usual %s)", known) : "";
	if (*known)
		usual = cs_new_text(", usual %s", known);
	else if (share < low && !isnan(line->low))
		usual = cs_new_text(", below the usual %ld to %ld %%", low, high);
	else if (share <= high && !isnan(line->low))
		usual = ", usual";
	else if (line->test->path == CS_PATH_PEER &&
		 cs_is_short(line->matrix->bytes, line->median / line->share))
		usual = cs_new_text(", which copies of %s do not fill",
				    cs_new_size(line->matrix->bytes));
	return cs_new_text(" (%ld %% of %s%s)", share,
			   line->test->path == CS_PATH_LOCAL ? "its peak" : line->link,
			   usual);
}

/* The median of the first node's cells.  Where some GPUs are slow alike no cell is near
 * it: "4 of 8 GPUs send at 335, the others at 372". */
static const char *median_text(const struct cs_digest *d,
			       const struct cs_digest_line *line)
{
	const struct cs_slow_half *half = half_of(d, line);

	if (!half)
		return figure(line->median);
	return cs_new_text("%d of %d GPUs %s at %s, the others at %s",
			   __builtin_popcountll(half->gpus),
			   d->run->node[half->node].facts.n_agents,
			   half->sends && half->receives ? "copy" :
			   half->sends			 ? "send" :
							   "receive",
			   figure(half->gbs), figure(half->others_gbs));
}

static const char *peers_text(const struct cs_digest *d)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_PEER, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *both = find(d, CS_PATH_PEER, CS_PATTERN_BIDI, 0);
	const char *text = "", *word = cs_agent_word(d->run);

	if (pair)
		text = cs_new_text("%s GB/s%s", median_text(d, pair),
				   share_text(d, pair));
	if (both)
		text = cs_join(text, ", ", "both ways %s each", figure(both->median));
	return cs_after(cs_new_text("%s to %s ", word, word), text);
}

static const char *host_text(const struct cs_digest *d)
{
	const struct cs_digest_line *in = find(d, CS_PATH_H2D, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *out = find(d, CS_PATH_D2H, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *there = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 0);
	const struct cs_digest_line *back = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 1);
	const char *text = "";

	if (in)
		text = cs_new_text("%s in", median_text(d, in));
	if (out)
		text = cs_join(text, ", ", "%s out", median_text(d, out));
	if (in || out)
		text = cs_new_longer(text, "%s", share_text(d, in ? in : out));
	if (there)
		text = cs_join(text, ", ", "both ways %s in", figure(there->median));
	if (there && back)
		text = cs_join(text, ", ", "%s out", figure(back->median));
	return cs_after("host ", text);
}

static const char *local_text(const struct cs_digest *d)
{
	const struct cs_digest_line *own = find(d, CS_PATH_LOCAL, CS_PATTERN_ALONE, 0);

	return own ? cs_new_text("own memory %s%s", median_text(d, own),
				 share_text(d, own)) :
		     "";
}

/* The line of a latency of CPUs. */
static const struct cs_digest_line *find_latency(const struct cs_digest *d)
{
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->test->path == CS_PATH_HOST &&
		    line->test->method == CS_METHOD_CHASE && line->measured)
			return line;
	return NULL;
}

static const char *numa_text(const struct cs_digest *d)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_HOST, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *load = find_latency(d);
	const char *text = "";

	if (pair)
		text = cs_new_text("%s GB/s", figure(pair->median));
	if (load && load->measured > 1)
		text = cs_join(text, ", ", "a load %s to %s ns", figure(load->min),
			       figure(load->max));
	else if (load)
		text = cs_join(text, ", ", "a load %s ns", figure(load->median));
	return cs_after("NUMA node to NUMA node ", text);
}

/* The fastest copy of a face between such ends; NULL. */
static const struct cs_digest_line *find_face(const struct cs_digest *d,
					      enum cs_path path, char face)
{
	const struct cs_digest_line *found = NULL;
	char shape[CS_SHAPE_TEXT];

	CS_EACH(const struct cs_digest_line, line, &d->lines) {
		uint64_t of = line->matrix->variant.shape;

		cs_shape_text(of, shape, sizeof(shape));
		if (line->test->path == path && cs_shape_is_face(of) &&
		    shape[strlen(shape) - 1] == face && line->measured &&
		    (!found || line->median > found->median))
			found = line;
	}
	return found;
}

/* "x 30.2 us (20 % of a flat copy)"; the z face is flat: it is one block. */
static const char *face_text(const struct cs_digest_line *line, char face,
			     const struct cs_digest_line *flat, const char *what)
{
	double us = (double)line->matrix->bytes / line->median / 1e3;
	const char *text = cs_new_text("%c %.*f us", face,
				       us < 9.995 ? 2 : us < 99.95, us);

	return !flat || line == flat ?
		       text :
		       cs_new_longer(text, " (%.0f %%%s)",
				     100 * line->median / flat->median, what);
}

/* "faces GPU to GPU x 30.2 us (20 % of a flat copy), y 6.1 us (97 %), z 5.9 us" */
static const char *faces_text(const struct cs_digest *d)
{
	static const struct {
		enum cs_path path;
		const char *name;
	} way[] = { { CS_PATH_PEER, "GPU to GPU " },
		    { CS_PATH_H2D, "host to GPU " },
		    { CS_PATH_D2H, "GPU to host " } };
	const char *what = " of a flat copy", *text = "";

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct cs_digest_line *flat = find_face(d, way[i].path, 'z');
		const char *faces = "";

		for (int face = 'x'; face <= 'z'; face++) {
			const struct cs_digest_line *line = find_face(d, way[i].path,
								      (char)face);

			if (!line)
				continue;
			faces = cs_join(faces, ", ", "%s",
					face_text(line, (char)face, flat, what));
			what = flat && line != flat ? "" : what;
		}
		if (faces[0])
			text = cs_join(text, "; ", "%s%s", way[i].name, faces);
	}
	return cs_after("faces ", text);
}

/* "36 calls take from 0.03 us (free) to 34.78 us (vmm-alloc)", one at a time. */
static const char *calls_text(const struct cs_digest *d)
{
	const struct cs_digest_line *least = NULL, *most = NULL;
	size_t calls = 0;

	CS_EACH(const struct cs_digest_line, line, &d->lines) {
		if (line->test->how != CS_HOW_BATCHES || !line->measured ||
		    line->test->pattern != CS_PATTERN_ALONE)
			continue;
		calls++;
		if (!least || line->median < least->median)
			least = line;
		if (!most || line->median > most->median)
			most = line;
	}
	return calls < 2 ?
		       "" :
		       cs_new_text("%zu calls take from %.2f us (%s) to %.2f us (%s)",
				   calls, least->median / 1e3,
				   cs_op_text((int)least->test->op),
				   most->median / 1e3,
				   cs_op_text((int)most->test->op));
}

/* If no test measures a link: faces, calls, or the first test with a figure, by its title
 * in place of its id. */
static const char *others_text(const struct cs_digest *d)
{
	const size_t cells = cs_run_coverage(d->run).measured;
	const char *text = faces_text(d);

	if (!text[0])
		text = calls_text(d);
	if (text[0])
		return text;
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->measured)
			return cs_new_text("%s %s %s%s", figure(line->median),
					   cs_unit_text((int)line->test->unit),
					   cs_test_title(line->test, line->back, NULL)
						   .text,
					   cs_digest_name(line, d->run) +
						   strlen(line->test->name));
	/* a plan file has steps, not tests */
	return cells ? cs_new_text("%s measured, by the steps below",
				   cs_count_text(cells, "cell")) :
		       "nothing was measured";
}

/* ---- the verdict ---- */

/* "1 cell 33 % slower than the others: 0->1", of the first test; how many there are. */
static const char *slow_text(const struct cs_digest *d)
{
	const struct cs_digest_line *first = NULL;
	size_t tests = 0, cells = 0;
	const char *all = "";

	CS_EACH(const struct cs_digest_line, line, &d->lines) {
		tests += line->slow > 0;
		cells += line->slow;
		if (line->slow && !first)
			first = line;
	}
	if (!first)
		return "";
	if (tests > 1)
		all = cs_new_text(" (%zu such cells in %zu tests)", cells, tests);
	return cs_new_text("%s%s%s",
			   first->slow_text[0] ? first->slow_text :
						 "cells slower than the others",
			   all, cs_slow_cells_how_sure(d->run));
}

/* The first of the gravest findings, and how many are as grave; NULL without a warning
 * or worse. */
static const struct cs_finding *find_gravest(const struct cs_run *run, size_t *n)
{
	const struct cs_finding *gravest = NULL;

	*n = 0;
	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->severity >= CS_WARNING &&
		    (!gravest || f->severity > gravest->severity))
			gravest = f;
	CS_EACH(const struct cs_finding, f, &run->findings)
		*n += gravest && f->severity == gravest->severity;
	return gravest;
}

/* "All alike" would be read as "all is well", so it needs a run without a warning. */
static const char *alike_text(const struct cs_digest *d)
{
	const struct cs_likeness *l = &d->likeness;
	const char *text = "";
	size_t grave;

	if (!l->n_slow && l->n_compared && !find_gravest(d->run, &grave)) {
		const double worst = fmax(0.1, ceil(1000 * l->worst) / 10);

		if (l->n_unsure)
			text = cs_new_text("%zu of %zu cells too uncertain to compare, "
					   "the others %s %.1f %%",
					   l->n_unsure, l->n_unsure + l->n_compared,
					   l->is_apart ? "differ by up to" :
							 "alike within",
					   worst);
		else
			text = cs_new_text(l->is_apart ?
						   "cells differ by up to %.1f %%" :
						   "all alike within %.1f %%",
					   worst);
	}
	if (!l->n_compared && l->n_unsure)
		text = cs_new_text("%s too uncertain to compare",
				   cs_count_text(l->n_unsure, "cell"));
	else if (!l->n_compared && l->n_alone)
		text = "too few cells of a kind to compare";
	if (l->n_short)
		text = cs_join(text, "; ", "copies under %s are not compared",
			       cs_new_size(l->from_bytes));
	return text;
}

static const char *missing_text(const struct cs_run *run)
{
	const struct cs_coverage c = cs_run_coverage(run);

	return c.measured && c.measured < c.cells ?
		       cs_new_text("%zu of %zu cells not measured",
				   c.cells - c.measured, c.cells) :
		       "";
}

/* "2 critical: n7: GPU 3: 17 of 18 NVLinks are up"; without a fault, what that means. */
static const char *faults_text(const struct cs_digest *d)
{
	const struct cs_run *run = d->run;
	size_t n;
	const struct cs_finding *f = find_gravest(run, &n);

	if (!f && !cs_run_coverage(run).measured)
		return "";
	/* of slow cells it was said what --check does */
	if (!f && !cs_run_is_judged(run))
		return d->likeness.n_slow ? "no errors" :
					    "no errors; not judged without --check";
	if (!f)
		return run->exit_status == CS_EXIT_UNABLE ?
			       "cannot tell whether there is a fault" :
			       "no fault found";
	return cs_new_text("%zu %s%s: %s%s", n, cs_severity_text(f->severity),
			   n > 1 && f->severity == CS_WARNING ? "s" : "",
			   run->n_nodes > 1 && f->node >= 0 ?
				   cs_new_text("%s: ", run->node[f->node].facts.host) :
				   "",
			   f->text);
}

/* ---- whose ---- */

/* "8 x H200", "16 nodes of 8 x H200", "7 of 8 x H200". */
static const char *subject_text(const struct cs_digest *d)
{
	static const char maker[] = "NVIDIA ";
	int nodes = d->last - d->first, same = 1, of, is_part;
	const struct cs_run_node *nd;
	const char *name, *text = NULL;

	if (nodes < 1)
		return "no node";
	nd = &d->run->node[d->first];
	of = nd->facts.n_known_gpus;
	name = nd->facts.n_agents > 0 ? nd->agent[0].gpu.name : "GPU";
	for (int node = d->first; node < d->last; node++) {
		const struct cs_run_node *other = &d->run->node[node];

		same &= other->facts.n_agents == nd->facts.n_agents;
		for (int a = 0; a < other->facts.n_agents; a++)
			same &= !strcmp(other->agent[a].gpu.name, name);
	}
	if (nodes > 1 && !same)
		return cs_new_text("%d nodes", nodes);
	is_part = !cs_on_cpu(d->run) && of > nd->facts.n_agents;
	if (nodes > 1)
		text = cs_new_text("%d nodes%s ", nodes, is_part ? ", each" : " of");
	text = cs_new_longer(text, "%d ", nd->facts.n_agents);
	if (is_part)
		text = cs_new_longer(text, "of %d ", of);
	if (!same)
		return cs_new_longer(text, "GPUs");
	if (!strncmp(name, maker, sizeof(maker) - 1))
		name += sizeof(maker) - 1;
	return cs_new_longer(text, "x %s", name);
}

/* Join the clauses that are not "". */
static const char *join_clauses(const char *const *clause, size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n; i++)
		if (clause[i][0])
			text = cs_join(text, "; ", "%s", clause[i]);
	return text;
}

/* A verdict, and what is critical, come before the figures. */
void cs_answer_print(FILE *to, const struct cs_digest *d, const char *what)
{
	const char *const path[] = { peers_text(d), host_text(d), local_text(d),
				     numa_text(d), cs_between_text(d->run) };
	const char *paths = join_clauses(path, 5), *faults = faults_text(d);
	size_t n;
	const struct cs_finding *gravest = find_gravest(d->run, &n);
	const int judged = cs_run_is_judged(d->run);
	const int is_first = judged || (gravest && gravest->severity == CS_CRITICAL);

	if (!paths[0])
		paths = others_text(d);
	if (*what && d->run->n_nodes && d->run->node[d->first].facts.n_agents == 1)
		paths = cs_new_text("%s; nothing between GPUs to measure", paths);
	/* a judged run has a finding of each slow cell */
	cs_fold(to, 0, 2, "%s%s%s: %s", what, *what ? ": " : "", subject_text(d),
		join_clauses((const char *const[]){ is_first ? faults : "", paths,
						    judged && gravest ? "" :
									slow_text(d),
						    alike_text(d), missing_text(d->run),
						    is_first ? "" : faults },
			     6));
}
