/* timeline.c - work on tiles: when each of them came to the GPU, was worked on and went back,
 * in the quickest schedule and in one stream. */
#include "report/html/parts.h"

#include <math.h>

#define WIDTH 720.0
#define LEFT 56.0
#define RIGHT 12.0
#define LANE 20.0
#define PANEL (CS_TILE_WORKS * LANE + 34) /* the lanes of a schedule below its name */
#define ROWS_MOST 1024	      /* a run has a few of each cell of one GPU */

/* One execution of a schedule. */
struct timeline {
	const struct cs_row *row;
	const double *ms; /* CS_TILE_TIMES for each tile */
	uint32_t tiles;
	double measured; /* ms: the schedule's figure */
};

static int is_of_one_cell(const struct cs_row *a, const struct cs_row *b)
{
	return a->node == b->node && a->step == b->step;
}

static struct cs_vec timelines_of(const struct cs_run *run)
{
	struct cs_vec list = CS_LIST(struct timeline);

	for (size_t i = 0; i < cs_rows_count(&run->rows) && list.n < ROWS_MOST; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i), *figure;
		struct timeline t = { .row = row };

		t.ms = cs_rows_timeline(&run->rows, i, &t.tiles);
		if (!t.ms)
			continue;
		figure = cs_figure_next(run, row, NULL, CS_ROWS_MEASURED);
		t.measured = figure ? figure->stats.median : NAN;
		if (t.measured > 0)
			cs_list_push(&list, &t);
	}
	return list;
}

/* The schedule that saves most of what one stream takes, of all numbers of kernels, and that
 * stream: shown[0] and [1].  0: there is none. */
static int choose(const struct cs_vec *all, uint32_t test,
		  const struct timeline *shown[2])
{
	double least = INFINITY;

	CS_EACH(const struct timeline, serial, all) {
		if (serial->row->test != test ||
		    serial->row->metric != CS_METRIC_SERIAL)
			continue;
		CS_EACH(const struct timeline, t, all)
			if (t != serial && is_of_one_cell(t->row, serial->row) &&
			    t->measured / serial->measured < least) {
				least = t->measured / serial->measured;
				shown[0] = t;
				shown[1] = serial;
			}
	}
	return least < INFINITY;
}

static double end_of(const struct timeline *t)
{
	double end = 0;

	for (uint32_t i = 0; i < t->tiles * CS_TILE_TIMES; i++)
		end = fmax(end, t->ms[i]);
	return end;
}

/* ---- the drawing ---- */

static void put_lane(struct cs_html *h, const struct timeline *t, uint32_t work,
		     double y, double scale)
{
	cs_svg_text(h,
		    &(struct cs_pen){ LEFT - 8, y + 14, 11, CS_END, CS_INK_MUTE, 0 },
		    "%s", cs_tile_work_text(work));
	for (uint32_t i = 0; i < t->tiles; i++) {
		const double *ms = &t->ms[i * CS_TILE_TIMES + 2 * work];

		cs_svg_add_box(h, (int)i,
			       (struct cs_box){
				       LEFT + scale * ms[0], y + 2,
				       fmax(scale * (ms[1] - ms[0]) - 0.6, 0.6),
				       LANE - 4 });
	}
	cs_html(h, "\"");
	cs_svg_fill(h, (enum cs_ink)(CS_INK_CURVE + work), "/>");
}

static void put_panel(struct cs_html *h, const struct timeline *t, double y,
		      double end)
{
	cs_svg_text(h, &(struct cs_pen){ LEFT, y + 14, 12, CS_START, CS_INK, 1 },
		    "%s, measured %.4g ms", cs_schedule_text(t->row->metric),
		    t->measured);
	for (uint32_t work = 0; work < CS_TILE_WORKS; work++)
		put_lane(h, t, work, y + 20 + LANE * work,
			 (WIDTH - LEFT - RIGHT) / end);
}

static void put_axis(struct cs_html *h, double y, double end)
{
	struct cs_pen pen = { 0, y + 14, 11, CS_MIDDLE, CS_INK_MUTE, 0 };

	for (int i = 0; i <= 4; i++) {
		pen.x = LEFT + (WIDTH - LEFT - RIGHT) * i / 4;
		pen.anchor = i == 4 ? CS_END : CS_MIDDLE;
		cs_svg_line(h, &(struct cs_box){ pen.x, 0, pen.x, y }, CS_INK_GRID, 1);
		cs_svg_text(h, &pen, "%.3g%s", end * i / 4, i == 4 ? " ms" : "");
	}
}

/* The same as numbers. */
static void put_table(struct cs_html *h, const struct timeline *t)
{
	cs_html_wide(h, "Times of tiles");
	cs_html(h, "<table>");
	cs_html_in(h, "caption", "%s, ms", cs_schedule_text(t->row->metric));
	cs_html(h, "<tr><th scope=\"col\">tile</th>");
	for (uint32_t work = 0; work < CS_TILE_WORKS; work++)
		cs_html_in(h, "th scope=\"col\"", "%s", cs_tile_work_text(work));
	cs_html(h, "</tr>");
	for (uint32_t i = 0; i < t->tiles; i++) {
		cs_html(h, "<tr><th scope=\"row\">%u</th>", i);
		for (const double *ms = &t->ms[i * CS_TILE_TIMES],
				  *last = ms + CS_TILE_TIMES;
		     ms < last; ms += 2)
			cs_html(h, "<td>%.4f to %.4f</td>", ms[0], ms[1]);
		cs_html(h, "</tr>");
	}
	cs_html_line(h, "</table></div>");
}

static void put_pair(struct cs_html *h, const struct cs_run *run,
		     const struct timeline *shown[2])
{
	const struct cs_row *row = shown[0]->row;
	const double end = fmax(end_of(shown[0]), end_of(shown[1]));
	const char *what =
		cs_new_text("%s, %s, %s", cs_row_title(run, row).text,
			    cs_new_size(row->what.bytes),
			    cs_pair_label(run, (int)row->node, &row->what).text);

	if (!(end > 0))
		return;
	cs_html(h, "<figure>");
	cs_html_wide(h, "Tiles over time");
	cs_svg_begin(h, WIDTH, 2 * PANEL + 20, "Tiles over time");
	cs_svg_describe(h, "%s: %u tiles; %s until %.4g ms, %s until %.4g ms", what,
			shown[0]->tiles, cs_schedule_text(row->metric),
			end_of(shown[0]), cs_schedule_text(CS_METRIC_SERIAL),
			end_of(shown[1]));
	put_axis(h, 2 * PANEL, end);
	for (int i = 0; i < 2; i++)
		put_panel(h, shown[i], PANEL * i, end);
	cs_svg_end(h);
	cs_html(h, "</div><p class=\"fig\">");
	cs_html_text(h,
		     "%s: each tile's way in, kernels and way out, in the schedule that "
		     "saves most and in one stream. By events of one more execution, which "
		     "is not measured",
		     what);
	cs_html(h, "</p><details><summary>Times of tiles</summary>");
	for (int i = 0; i < 2; i++)
		put_table(h, shown[i]);
	cs_html_line(h, "</details></figure>");
}

void cs_html_timelines(struct cs_html *h, const struct cs_run *run)
{
	const struct cs_vec all = timelines_of(run);
	const struct timeline *shown[2];
	size_t n_tests;

	if (!all.n)
		return;
	cs_catalogue(&n_tests);
	cs_html_section(h, "Overlap", NULL);
	for (uint32_t test = 0; test < n_tests; test++)
		if (choose(&all, test, shown))
			put_pair(h, run, shown);
	cs_html_section_end(h);
}
