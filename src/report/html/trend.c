/* trend.c - the figure of a finding over date, as its series has it. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define POINTS 32
#define LEFT 56.0 /* of the plot, in a drawing of 420 by 110 */
#define WIDTH 340.0
#define TOP 10.0
#define HEIGHT 76.0

struct point {
	char date[16];
	double t, y;
};

/* The points of "2026-08-01 100.0 %, 2026-08-04 99.7 %": how many. */
static int read_points(const char *at, struct point *p)
{
	struct tm day;
	int n = 0;

	while (n < POINTS && sscanf(at, "%15s %lf", p[n].date, &p[n].y) == 2 &&
	       isfinite(p[n].y)) {
		day = (struct tm){ 0 };
		if (!strptime(p[n].date, "%Y-%m-%d", &day))
			return 0;
		p[n++].t = (double)timegm(&day);
		at += strcspn(at, ",");
		at += strspn(at, ", ");
	}
	return n;
}

void cs_html_series(struct cs_html *h, const struct cs_finding *f)
{
	const char *unit = strchr(f->series, '%') ? " %" : "";
	struct cs_pen pen = { LEFT, TOP + HEIGHT + 16, 11, CS_START, CS_INK_MUTE, 0 };
	struct point p[POINTS];
	int n = read_points(f->series, p);
	double low = INFINITY, high = -INFINITY;

	for (int i = 0; i < n; i++) {
		low = fmin(low, p[i].y);
		high = fmax(high, p[i].y);
	}
	if (n < 2 || !(high > low) || !(p[n - 1].t > p[0].t))
		return;
	cs_svg_begin(h, 420, 110, "Over time");
	cs_svg_describe(h, "%s", f->series);
	cs_svg_rect(h, &(struct cs_box){ LEFT, TOP, WIDTH, HEIGHT }, CS_INK_BOX,
		    CS_INK_GRID);
	cs_svg_text(h, &pen, "%s", p[0].date);
	pen.anchor = CS_END;
	pen.x = LEFT + WIDTH;
	cs_svg_text(h, &pen, "%s", p[n - 1].date);
	pen.x = LEFT - 6;
	pen.y = TOP + HEIGHT;
	cs_svg_text(h, &pen, "%g%s", low, unit);
	pen.y = TOP + 8;
	cs_svg_text(h, &pen, "%g%s", high, unit);
	for (int i = 0; i < n; i++)
		cs_html(h, "%s%.4g %.4g", i ? "L" : "<path d=\"M",
			LEFT + WIDTH * (p[i].t - p[0].t) / (p[n - 1].t - p[0].t),
			TOP + HEIGHT * (high - p[i].y) / (high - low));
	cs_html(h, "\" fill=\"none\" stroke-width=\"2.2\"");
	cs_svg_stroke(h, CS_INK_WARN, "/>");
	cs_svg_end(h);
}
