/* trend.c - the figure of a finding over date, as its series has it. */
#include "report/html/parts.h"

#include <math.h>

#define LEFT 56.0 /* of the plot, in a drawing of 420 by 110 */
#define WIDTH 340.0
#define TOP 10.0
#define HEIGHT 76.0

void cs_html_series(struct cs_html *h, const struct cs_finding *f)
{
	const struct cs_series_point *p = f->series.at;
	const char *unit = f->series.is_share ? " %" : "";
	struct cs_pen pen = { LEFT, TOP + HEIGHT + 16, 11, CS_START, CS_INK_MUTE, 0 };
	const int n = (int)f->series.n;
	double low = INFINITY, high = -INFINITY;

	for (int i = 0; i < n; i++) {
		low = fmin(low, p[i].y);
		high = fmax(high, p[i].y);
	}
	if (n < 2 || !(high > low) || !(p[n - 1].day > p[0].day))
		return;
	cs_svg_begin(h, 420, 110, "Over time");
	cs_svg_describe(h, "%s", cs_series_text(&f->series));
	cs_svg_rect(h, &(struct cs_box){ LEFT, TOP, WIDTH, HEIGHT }, CS_INK_BOX,
		    CS_INK_GRID);
	cs_svg_text(h, &pen, "%s", cs_day_text(p[0].day));
	pen.anchor = CS_END;
	pen.x = LEFT + WIDTH;
	cs_svg_text(h, &pen, "%s", cs_day_text(p[n - 1].day));
	pen.x = LEFT - 6;
	pen.y = TOP + HEIGHT;
	cs_svg_text(h, &pen, "%g%s", low, unit);
	pen.y = TOP + 8;
	cs_svg_text(h, &pen, "%g%s", high, unit);
	for (int i = 0; i < n; i++)
		cs_html(h, "%s%.4g %.4g", i ? "L" : "<path d=\"M",
			LEFT + WIDTH * (p[i].day - p[0].day) /
					(p[n - 1].day - p[0].day),
			TOP + HEIGHT * (high - p[i].y) / (high - low));
	cs_html(h, "\" fill=\"none\" stroke-width=\"2.2\"");
	cs_svg_stroke(h, CS_INK_WARN, "/>");
	cs_svg_end(h);
}
