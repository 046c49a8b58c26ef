/* wiring.c - how a node is wired: NUMA nodes, GPUs below theirs, and links as wide as
 * their live part is fast, labelled with the measured rates; red if part is down. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "check/link/expect.h"
#include "report/view.h"

#define WIDE 134 /* a GPU with the gap after it */
#define GPU 120
#define NUMA_Y 8
#define NUMA_H 66
#define GPU_Y 132
#define GPU_H 68
#define FABRIC_Y 262
#define FABRIC_H 30

struct wiring {
	const struct cs_run *run;
	const struct cs_run_node *nd;
	int node, n;
	int at[CS_MAX_AGENTS];	  /* agents from left to right */
	int place[CS_MAX_AGENTS]; /* of an agent */
	int switched;		  /* NVLinks lead to a switch, or to an unknown end */
	int known;		  /* … it is a switch */
	int wired;		  /* … or to other GPUs */
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

static void wiring_init(struct wiring *w, const struct cs_run *run, int node)
{
	*w = (struct wiring){ .run = run,
			      .nd = &run->node[node],
			      .node = node,
			      .n = run->node[node].facts.n_agents };
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

static struct cs_pen pen_at(double x, double y, enum cs_anchor anchor)
{
	return (struct cs_pen){ x, y, 11.5, anchor, CS_INK_MUTE, 0 };
}

static const char *cards_text(const struct wiring *w, int numa)
{
	const char *text = NULL;

	for (int i = 0; i < cs_node_cards(&w->nd->facts); i++)
		if (w->nd->facts.nic[i].numa == numa)
			text = cs_join(text, ", ", "%s%s", text ? "" : "NICs ",
				       w->nd->facts.nic[i].name);
	return text ? text : "";
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
	cs_svg_text(h, &pen, "%.*s", (int)(box.w / 6.2), cards_text(w, numa));
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

/* "55.4 in, 55.3 out" below "PCIe 5 x16". */
static void put_pcie(struct cs_html *h, const struct wiring *w, int agent)
{
	const struct cs_link_facts *link = &w->nd->agent[agent].link;
	double x = middle_of(w, agent) - 34, in, out;
	struct cs_pen pen = pen_at(x + 10, NUMA_Y + NUMA_H + 22, CS_START);

	cs_svg_line(h, &(struct cs_box){ x, NUMA_Y + NUMA_H, x, GPU_Y },
		    link->pcie_gen < link->pcie_gen_max ||
				    link->pcie_width < link->pcie_width_max ?
			    CS_INK_BAD :
			    CS_INK_PCIE,
		    width_of(cs_host_peak_gbs(&w->nd->agent[agent])));
	if (link->pcie_gen > 0)
		cs_svg_text(h, &pen, "PCIe %d x%d", link->pcie_gen, link->pcie_width);
	else if (!link->pcie_gen)
		cs_svg_text(h, &pen, "C2C");
	pen.y += 16;
	pen.ink = CS_INK;
	in = gave(w, CS_PATH_H2D, agent, 0);
	out = gave(w, CS_PATH_D2H, agent, 1);
	if (!isnan(in))
		cs_svg_text(h, &pen, "%.1f in%s", in, isnan(out) ? "" : ",");
	pen.x += isnan(in) ? 0 : 46;
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
	if (link->nvlinks_up)
		cs_svg_line(h, &(struct cs_box){ x, GPU_Y + GPU_H, x, FABRIC_Y }, ink,
			    width_of(cs_nvlink_peak_gbs(link)));
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

void cs_html_wiring(struct cs_html *h, const struct cs_run *run, int node)
{
	struct wiring w;
	int deep;

	if (run->node[node].facts.n_agents < 1)
		return;
	wiring_init(&w, run, node);
	deep = w.switched ? FABRIC_Y + FABRIC_H + 8 :
	       w.wired	  ? GPU_Y + GPU_H + 40 + w.n * WIDE / 9 :
			    GPU_Y + GPU_H + 8;
	cs_html_section(
		h, "How it is wired, and what it gives",
		"The width of a line is the rate of the link now; red: part of it is down. Figures are measured, GB/s.");
	cs_html(h, "<div class=\"wide\">");
	cs_svg_begin(h, (double)WIDE * w.n + 2, deep, "How the node is wired");
	cs_svg_describe(h, "%d %ss below their NUMA nodes%s", w.n, cs_agent_word(run),
			w.known ? ", joined by NVSwitch" :
			w.wired ? ", joined by NVLink" :
				  "");
	put_numas(h, &w);
	for (int i = 0; i < w.n; i++) {
		if (!cs_on_cpu(run))
			put_pcie(h, &w, i);
		put_agent(h, &w, i);
	}
	if (w.switched)
		put_fabric(h, &w);
	else if (w.wired)
		put_arcs(h, &w);
	cs_svg_end(h);
	cs_html(h, "</div>");
	cs_html_section_end(h);
}
