/* wiring.c - how a node is wired: NUMA nodes, GPUs below theirs, and links as wide as they
 * are fast, labelled with the measured rates; of a link that is partly down the live part,
 * thin and red, on the whole.  Below it the pairs that are slow. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#include "check/link/expect.h"

#define WIDE 134 /* a GPU with the gap after it */
#define GPU 120
#define NUMA_Y 8
#define NUMA_H 66
#define GPU_Y 132
#define GPU_H 68
#define FABRIC_Y 262
#define FABRIC_H 30
#define SLOW_H 24 /* of a slow pair, below all */
#define SLOW_MOST 8

struct wiring {
	const struct cs_run *run;
	const struct cs_run_node *nd;
	int node, n;
	int at[CS_MAX_AGENTS];	  /* agents from left to right */
	int place[CS_MAX_AGENTS]; /* of an agent */
	int switched;		  /* NVLinks lead to a switch, or to an unknown end */
	int known;		  /* … it is a switch */
	int wired;		  /* … or to other GPUs */
	struct cs_vec slow;	  /* struct slow, the slowest first */
};

/* Cells from one agent to another, -1 the host, that are slower than the others. */
struct slow {
	int src, dst;
	double off; /* log of the ratio to them, of the slowest */
};

static double left_of(const struct wiring *w, int agent)
{
	return 8 + (double)WIDE * w->place[agent];
}

static double middle_of(const struct wiring *w, int agent)
{
	return left_of(w, agent) + GPU / 2.0;
}

static const struct cs_nvlink_ends *ends_of(const struct wiring *w, int agent)
{
	const struct cs_gpu_record *gpu = cs_run_gpu(w->run, w->node,
						     w->nd->agent[agent].gpu.bus_id);

	return gpu ? &gpu->board.nvlink : NULL;
}

CS_ORDERING(by_off, struct slow, CS_ORDER(a->off, b->off), CS_ORDER(a->src, b->src),
	    CS_ORDER(a->dst, b->dst))

static void find_slow(struct wiring *w, const struct cs_likeness *likeness)
{
	CS_EACH_ROW(row, cs_run_rows(w->run, w->node, CS_ROWS_CELLS)) {
		const struct slow one = {
			cs_endpoint_agent(&row->what.src),
			cs_endpoint_agent(&row->what.dst),
			likeness->off[row - cs_rows_get(&w->run->rows, 0)]
		};
		struct slow *s = w->slow.data;
		size_t k = 0;

		if (!likeness->slow[row - cs_rows_get(&w->run->rows, 0)] ||
		    (one.src < 0 && one.dst < 0))
			continue;
		while (k < w->slow.n && (s[k].src != one.src || s[k].dst != one.dst))
			k++;
		if (k == w->slow.n)
			cs_list_push(&w->slow, &one);
		else
			s[k].off = fmin(s[k].off, one.off);
	}
	cs_vec_sort(&w->slow, by_off);
}

static void wiring_init(struct wiring *w, const struct cs_digest *digest, int node)
{
	const struct cs_run *run = digest->run;

	*w = (struct wiring){ .run = run,
			      .nd = &run->node[node],
			      .node = node,
			      .n = run->node[node].facts.n_agents,
			      .slow = CS_LIST(struct slow) };
	find_slow(w, &digest->likeness);
	for (int i = 0; i < w->n; i++) {
		const struct cs_nvlink_ends *ends = ends_of(w, i);
		int k = i;

		/* by NUMA node, else as they are numbered */
		while (k && w->nd->agent[w->at[k - 1]].numa > w->nd->agent[i].numa) {
			w->at[k] = w->at[k - 1];
			k--;
		}
		w->at[k] = i;
		w->known |= ends && ends->to_switch > 0;
		w->wired |= ends && ends->n_gpus > 0;
		w->switched |= w->nd->agent[i].link.nvlinks_up > 0;
	}
	w->switched = w->known || (w->switched && !w->wired);
	for (int i = 0; i < w->n; i++)
		w->place[w->at[i]] = i;
}

/* Is a row a copy by a copy engine over a path, alone? */
static int is_plain(const struct cs_row *row, enum cs_path path)
{
	const struct cs_test *test = cs_row_test(row);

	return row->status == CS_OK && cs_is_bandwidth(row) && test->path == path &&
	       test->method == CS_METHOD_CE && test->pattern == CS_PATTERN_PAIR &&
	       (path == CS_PATH_PEER ? test->op == CS_OP_WRITE :
				       test->memory == CS_MEM_PINNED);
}

/* The median of such copies from or to an agent, of the largest size; NAN: not
 * measured. */
static double gave(const struct wiring *w, enum cs_path path, int agent, int is_src)
{
	struct cs_vec rates = CS_LIST(double);
	uint64_t bytes = 0;
	CS_SCOPE;

	CS_EACH_ROW(row, cs_run_rows(w->run, w->node, CS_ROWS_CELLS)) {
		const struct cs_endpoint *end = is_src ? &row->what.src :
							 &row->what.dst;

		if (!is_plain(row, path) || row->what.bytes < bytes ||
		    cs_endpoint_is_numa(end) || end->index != agent)
			continue;
		if (row->what.bytes > bytes)
			rates.n = 0;
		bytes = row->what.bytes;
		cs_list_push(&rates, &row->stats.median);
	}
	return rates.n ? cs_median(rates.data, rates.n) : NAN;
}

/* ---- drawing ---- */

static double width_of(double gbs)
{
	return gbs > 0 ? fmax(0.66 * sqrt(gbs), 1.5) : 1.5;
}

/* A link of `gbs` of which `share` is live: 1 all of it. */
static void put_link(const struct cs_html *h, struct cs_box ends, double gbs,
		     double share, enum cs_ink ink)
{
	double width = width_of(gbs);

	if (!(share < 1)) {
		cs_svg_line(h, &ends, ink, width);
		return;
	}
	cs_svg_line(h, &ends, CS_INK_TRACK, width);
	if (share > 0)
		cs_svg_line(h, &ends, CS_INK_BAD, fmax(width * share / 2, 1.5));
}

static struct cs_pen pen_at(double x, double y, enum cs_anchor anchor)
{
	return (struct cs_pen){ x, y, 11.5, anchor, CS_INK_MUTE, 0 };
}

/* "NICs mlx5_0, mlx5_1 and 6 more", in `room` characters if one name fits. */
static const char *cards_text(const struct wiring *w, int numa, size_t room)
{
	const char *text = NULL;
	int n = 0, shown = 0;

	for (int i = 0; i < cs_node_cards(&w->nd->facts); i++) {
		const char *more;

		if (w->nd->facts.nic[i].numa != numa)
			continue;
		more = cs_join(text, ", ", "%s%s", text ? "" : "NICs ",
			       w->nd->facts.nic[i].name);
		if (n++ == shown && (!text || strlen(more) + 12 <= room)) {
			text = more;
			shown++;
		}
	}
	return !text	  ? "" :
	       n == shown ? text :
			    cs_new_text("%s and %d more", text, n - shown);
}

/* One NUMA node above its agents, of which the first is the given one. */
static void put_numa(struct cs_html *h, const struct wiring *w, int first, int n)
{
	int numa = w->nd->agent[w->at[first]].numa;
	struct cs_box box = { 8 + (double)WIDE * first, NUMA_Y,
			      (double)WIDE * n - (WIDE - GPU), NUMA_H };
	struct cs_pen pen = { box.x + 12, NUMA_Y + 22, 13, CS_START, CS_INK, 1 };

	cs_svg_rect(h, &box, CS_INK_BOX, CS_INK_AXIS);
	if (numa >= 0)
		cs_svg_text(h, &pen, "NUMA %d", numa);
	else
		cs_svg_text(h, &pen, "Host");
	pen = pen_at(box.x + 12, NUMA_Y + 40, CS_START);
	if (cs_numa_cpus(&w->nd->facts, numa)[0])
		cs_svg_text(h, &pen, "CPUs %s", cs_numa_cpus(&w->nd->facts, numa));
	pen.y += 16;
	cs_svg_text(h, &pen, "%s", cards_text(w, numa, (size_t)(box.w / 6.2)));
}

static void put_numas(struct cs_html *h, const struct wiring *w)
{
	for (int i = 0, k; i < w->n; i = k) {
		for (k = i + 1; k < w->n && w->nd->agent[w->at[k]].numa ==
						    w->nd->agent[w->at[i]].numa;
		     k++)
			;
		put_numa(h, w, i, k - i);
	}
}

/* "55.4 in", "55.3 out" below "PCIe 5 x16". */
static void put_pcie(struct cs_html *h, const struct wiring *w, int agent)
{
	const struct cs_link_facts *link = &w->nd->agent[agent].link;
	double x = middle_of(w, agent) - 34, in, out;
	struct cs_pen pen = pen_at(x + 10, NUMA_Y + NUMA_H + 18, CS_START);
	int is_whole = link->pcie_gen >= link->pcie_gen_max &&
		       link->pcie_width >= link->pcie_width_max;

	put_link(h, (struct cs_box){ x, NUMA_Y + NUMA_H, x, GPU_Y },
		 cs_host_peak_gbs(&w->nd->agent[agent]), is_whole ? 1 : 0.5,
		 CS_INK_PCIE);
	if (!is_whole)
		pen.ink = CS_INK_BAD;
	if (link->pcie_gen > 0)
		cs_svg_text(h, &pen, "PCIe %d x%d", link->pcie_gen, link->pcie_width);
	else if (!link->pcie_gen)
		cs_svg_text(h, &pen, "C2C");
	pen.ink = CS_INK;
	in = gave(w, CS_PATH_H2D, agent, 0);
	out = gave(w, CS_PATH_D2H, agent, 1);
	pen.y += 15;
	if (!isnan(in))
		cs_svg_text(h, &pen, "%.1f in", in);
	pen.y += 15;
	if (!isnan(out))
		cs_svg_text(h, &pen, "%.1f out", out);
}

static int64_t errors_of(const struct cs_agent_facts *a)
{
	const struct cs_conditions *b = &a->before, *e = &a->after;

	if (!b->known || !e->known)
		return -1;
	return (e->nvlink_errors - b->nvlink_errors) +
	       (e->pcie_replays - b->pcie_replays) +
	       (e->ecc_corrected - b->ecc_corrected) +
	       (e->ecc_uncorrected - b->ecc_uncorrected);
}

static void put_agent(struct cs_html *h, const struct wiring *w, int agent)
{
	const struct cs_agent_facts *a = &w->nd->agent[agent];
	struct cs_box box = { left_of(w, agent), GPU_Y, GPU, GPU_H };
	struct cs_pen pen = { box.x + 10, GPU_Y + 21, 14, CS_START, CS_INK, 1 };
	int64_t errors = errors_of(a);

	cs_svg_rect(h, &box, CS_INK_BOX,
		    cs_on_cpu(w->run) ? CS_INK_AXIS : CS_INK_NVLINK);
	cs_svg_text(h, &pen, "%s %s", cs_agent_word(w->run),
		    cs_agent_label(w->run, w->node, agent).text);
	pen = pen_at(box.x + GPU - 10, GPU_Y + 21, CS_END);
	cs_svg_text(h, &pen, "rank %d", a->rank);
	pen = pen_at(box.x + 10, GPU_Y + 40, CS_START);
	cs_svg_text(h, &pen, "%s", a->gpu.bus_id);
	pen.y += 16;
	if (a->after.known && a->after.temperature_c >= 0)
		cs_svg_text(h, &pen, "%d C, %.0f W", a->after.temperature_c,
			    a->after.power_w);
	pen = pen_at(box.x + GPU - 10, GPU_Y + 56, CS_END);
	pen.ink = errors > 0 ? CS_INK_BAD : CS_INK_GOOD;
	if (errors > 0)
		cs_svg_text(h, &pen, "%lld errors", (long long)errors);
}

/* ---- NVLink ---- */

static void put_to_switch(struct cs_html *h, const struct wiring *w, int agent)
{
	const struct cs_link_facts *link = &w->nd->agent[agent].link;
	double x = middle_of(w, agent) - 34, each = gave(w, CS_PATH_PEER, agent, 1);
	struct cs_pen pen = pen_at(x + 14, GPU_Y + GPU_H + 24, CS_START);
	enum cs_ink ink = link->nvlinks_up < link->nvlinks_max ? CS_INK_BAD :
								 CS_INK_NVLINK;

	if (link->nvlinks_up < 0 || link->nvlinks_max < 1)
		return;
	put_link(h, (struct cs_box){ x, GPU_Y + GPU_H, x, FABRIC_Y },
		 cs_nvlink_peak_gbs(link) * link->nvlinks_max /
			 (link->nvlinks_up ? link->nvlinks_up : 1),
		 (double)link->nvlinks_up / link->nvlinks_max, ink);
	if (ink == CS_INK_BAD)
		pen.ink = ink;
	cs_svg_text(h, &pen, "NV%d of %d", link->nvlinks_up, link->nvlinks_max);
	pen.y += 16;
	pen.ink = CS_INK;
	if (!isnan(each))
		cs_svg_text(h, &pen, "%.1f out", each);
}

static void put_fabric(struct cs_html *h, const struct wiring *w)
{
	struct cs_box box = { 8, FABRIC_Y, (double)WIDE * w->n - (WIDE - GPU),
			      FABRIC_H };
	struct cs_pen pen = { box.x + box.w / 2, FABRIC_Y + 20, 13,
			      CS_MIDDLE,	 CS_INK,	0 };

	for (int i = 0; i < w->n; i++)
		put_to_switch(h, w, i);
	cs_svg_rect(h, &box, CS_INK_BOX, CS_INK_NVLINK);
	cs_svg_text(h, &pen, w->known ? "NVSwitch" : "NVLink");
}

/* Arcs below the GPUs, each once. */
static void put_arcs(struct cs_html *h, const struct wiring *w)
{
	for (int i = 0; i < w->n; i++) {
		const struct cs_nvlink_ends *ends = ends_of(w, i);

		for (int k = 0; ends && k < ends->n_gpus; k++) {
			int to = cs_agent_at(w->run, w->node, ends->gpu[k].bus_id);
			double a = middle_of(w, i), b, deep;

			if (to <= i)
				continue;
			b = middle_of(w, to);
			deep = GPU_Y + GPU_H + 20 + fabs(b - a) / 9;
			cs_html(h,
				"<path d=\"M%g %dQ%g %g %g %d\" fill=\"none\" "
				"stroke-width=\"%.3g\"",
				a, GPU_Y + GPU_H, (a + b) / 2,
				2 * deep - GPU_Y - GPU_H, b, GPU_Y + GPU_H,
				width_of(25.0 * ends->gpu[k].links));
			cs_svg_stroke(h, CS_INK_NVLINK, "/>");
			cs_svg_text(h,
				    &(struct cs_pen){ (a + b) / 2, deep - 4, 11,
						      CS_MIDDLE, CS_INK_MUTE, 0 },
				    "NV%d", ends->gpu[k].links);
		}
	}
}

/* ---- slow parts ---- */

static const char *end_text(const struct wiring *w, int agent)
{
	return agent < 0 ?
		       "host" :
		       cs_new_text("%s", cs_agent_label(w->run, w->node, agent).text);
}

/* From below one GPU to below the other, an arrow; the host's is below its GPU. */
static void put_slow(struct cs_html *h, const struct wiring *w, const struct slow *s,
		     double y)
{
	double from = middle_of(w, s->src < 0 ? s->dst : s->src);
	double to = middle_of(w, s->dst < 0 ? s->src : s->dst);
	double left = to < from ? 5 : -5;
	struct cs_pen pen = { fmin(from, to) + 10, y - 5, 11.5, CS_START,
			      CS_INK_BAD,	   1 };

	cs_html(h, "<path d=\"M%g %gv8\" fill=\"none\" stroke-width=\"2\"", from,
		y - 4);
	cs_svg_stroke(h, CS_INK_BAD, "/>");
	if (from != to) {
		cs_html(h,
			"<path d=\"M%g %gH%gm%g -4L%g %gl%g 4\" fill=\"none\" "
			"stroke-width=\"2\"",
			from, y, to, left, to, y, left);
		cs_svg_stroke(h, CS_INK_BAD, "/>");
	}
	if (s->src == s->dst)
		cs_svg_text(h, &pen, "%s itself: %.0f %% slower", end_text(w, s->src),
			    -100 * expm1(s->off));
	else
		cs_svg_text(h, &pen, "%s->%s: %.0f %% slower", end_text(w, s->src),
			    end_text(w, s->dst), -100 * expm1(s->off));
}

static size_t slow_lines(const struct wiring *w)
{
	return w->slow.n > SLOW_MOST ? SLOW_MOST + 1 : w->slow.n;
}

static void put_slow_ones(struct cs_html *h, const struct wiring *w, double y)
{
	const struct slow *s = w->slow.data;
	struct cs_pen pen = { 8,	  y + SLOW_H * (SLOW_MOST + 0.6),
			      11.5,	  CS_START,
			      CS_INK_BAD, 1 };

	for (size_t i = 0; i < w->slow.n && i < SLOW_MOST; i++)
		put_slow(h, w, &s[i], y + SLOW_H * ((double)i + 0.8));
	if (w->slow.n > SLOW_MOST)
		cs_svg_text(h, &pen, "and %zu more pairs", w->slow.n - SLOW_MOST);
}

/* ---- the whole ---- */

static void put_wired(struct cs_html *h, const struct wiring *w)
{
	put_numas(h, w);
	for (int i = 0; i < w->n; i++) {
		if (!cs_on_cpu(w->run))
			put_pcie(h, w, i);
		put_agent(h, w, i);
	}
	if (w->switched)
		put_fabric(h, w);
	else if (w->wired)
		put_arcs(h, w);
}

void cs_html_wiring(struct cs_html *h, const struct cs_digest *digest, int node)
{
	const struct cs_run *run = digest->run;
	struct wiring w;
	double deep;

	if (run->node[node].facts.n_agents < 1)
		return;
	wiring_init(&w, digest, node);
	deep = w.switched ? FABRIC_Y + FABRIC_H + 8 :
	       w.wired	  ? GPU_Y + GPU_H + 40 + w.n * WIDE / 9.0 :
			    GPU_Y + GPU_H + 8;
	cs_html_section(
		h, "How it is wired, and what it gives",
		w.slow.n ?
			"The width of a line is the rate of the link; thin and red: part of it is down. Figures are measured, GB/s. Red lines below are pairs that are slower than the others." :
			"The width of a line is the rate of the link; thin and red: part of it is down. Figures are measured, GB/s.");
	cs_html_wide(h, "How the node is wired");
	cs_svg_begin(h, (double)WIDE * w.n + 2,
		     deep + SLOW_H * (double)slow_lines(&w), "How the node is wired");
	cs_svg_describe(h, "%d %ss below their NUMA nodes%s; %zu pairs are slow", w.n,
			cs_agent_word(run),
			w.known ? ", joined by NVSwitch" :
			w.wired ? ", joined by NVLink" :
				  "",
			w.slow.n);
	put_wired(h, &w);
	put_slow_ones(h, &w, deep);
	cs_svg_end(h);
	cs_html(h, "</div>");
	cs_html_section_end(h);
}
