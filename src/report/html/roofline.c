/* roofline.c - the most operations per second of a program by its intensity: a roof for
 * each memory and link, below that of arithmetic. */
#include "report/html/parts.h"

#include <math.h>

#include "check/model/rates.h"

#define WIDTH 520.0
#define HEIGHT 260.0
#define LEFT 56.0
#define RIGHT 16.0
#define TOP 14.0
#define LINE 17.0
#define INKS 6

/* Logarithmic: operations a word from 1/16 on, GFLOP/s over five powers of ten. */
#define LEAST (1.0 / 16)
#define MOST 65536.0
#define DECADES 5

struct roof {
	const char *name;
	double gbs;
};

struct roofs {
	double gflops;
	struct roof roof[16];
	int n;
};

static double x_of(double intensity)
{
	return LEFT +
	       (WIDTH - LEFT - RIGHT) * log(intensity / LEAST) / log(MOST / LEAST);
}

static double y_of(const struct roofs *r, double gflops)
{
	double at = 1 + log10(gflops / r->gflops) / DECADES;

	return TOP + HEIGHT * (1 - 0.95 * fmin(fmax(at, 0), 1));
}

static void add(struct roofs *r, const char *name, double gbs)
{
	if (r->n < (int)(sizeof(r->roof) / sizeof(*r->roof)) && gbs > 0)
		r->roof[r->n++] = (struct roof){ name, gbs };
}

static struct roofs roofs_of(const struct cs_vec *ways, int is_numa)
{
	struct roofs r = { .gflops = NAN };

	CS_EACH(const struct cs_workload_way, way, ways)
		if (way->is_numa == is_numa) {
			r.gflops = way->gflops;
			add(&r, way->where, way->gbs);
		}
	return r;
}

static void put_axes(struct cs_html *h, const struct roofs *r)
{
	struct cs_pen pen = { 0, TOP + HEIGHT + 17, 11, CS_MIDDLE, CS_INK_MUTE, 0 };

	for (double x = LEAST; x <= MOST; x *= 16) {
		pen.x = x_of(x);
		cs_svg_line(h, &(struct cs_box){ pen.x, TOP, pen.x, TOP + HEIGHT },
			    CS_INK_GRID, 1);
		cs_svg_text(h, &pen, "%g", x);
	}
	pen.x = LEFT - 8;
	pen.anchor = CS_END;
	for (double y = pow(10, floor(log10(r->gflops)));
	     y > r->gflops * pow(10, -DECADES); y /= 10) {
		pen.y = y_of(r, y) + 4;
		cs_svg_line(h,
			    &(struct cs_box){ LEFT, pen.y - 4, WIDTH - RIGHT,
					      pen.y - 4 },
			    CS_INK_GRID, 1);
		cs_svg_text(h, &pen, "%g", y);
	}
}

/* Up to its balance, then along arithmetic; both ends within the drawing. */
static void put_roof(struct cs_html *h, const struct roofs *r, int i)
{
	const struct roof *roof = &r->roof[i];
	const double balance = cs_flops_per_load(r->gflops, roof->gbs);
	const double from = fmax(LEAST, balance * pow(10, -DECADES));
	const enum cs_ink ink = (enum cs_ink)(CS_INK_CURVE + i % INKS);
	const double y = TOP + HEIGHT + 36 + LINE * i;

	cs_html(h, "<path d=\"M%.4g %.4g", x_of(from),
		y_of(r, r->gflops * fmin(1, from / balance)));
	if (balance > from && balance < MOST)
		cs_html(h, "L%.4g %.4g", x_of(balance), y_of(r, r->gflops));
	cs_html(h, "L%.4g %.4g\" fill=\"none\" stroke-width=\"2.2\"", x_of(MOST),
		y_of(r, r->gflops * fmin(1, MOST / balance)));
	cs_svg_stroke(h, ink, "/>");
	cs_svg_line(h, &(struct cs_box){ LEFT, y, LEFT + 12, y }, ink, 3);
	cs_svg_text(h, &(struct cs_pen){ LEFT + 18, y + 4, 12, CS_START, ink, 1 },
		    "%s", roof->name);
	cs_svg_text(h, &(struct cs_pen){ WIDTH - RIGHT, y + 4, 12, CS_END, CS_INK, 0 },
		    "%.4g GB/s, balance %.3g", roof->gbs, balance);
}

static void put_roofs(struct cs_html *h, const struct roofs *r, const char *what)
{
	if (!r->n || !(r->gflops > 0))
		return;
	cs_html(h, "<figure>");
	cs_svg_begin(h, WIDTH, TOP + HEIGHT + 36 + LINE * r->n, "Roofline");
	cs_svg_describe(h, "%s: %d roofs below %.0f GFLOP/s", what, r->n, r->gflops);
	put_axes(h, r);
	for (int i = 0; i < r->n; i++)
		put_roof(h, r, i);
	cs_svg_end(h);
	cs_html(h, "<p class=\"fig\">");
	cs_html_text(h,
		     "%s: GFLOP/s at most by operations a word of 8 bytes, a roof for each "
		     "memory and link",
		     what);
	cs_html_line(h, "</p></figure>");
}

void cs_html_roofline(struct cs_html *h, const struct cs_run *run)
{
	const struct cs_vec ways = cs_workload_ways(run);
	const struct roofs gpu = roofs_of(&ways, 0), cores = roofs_of(&ways, 1);

	if (isnan(gpu.gflops) && isnan(cores.gflops))
		return;
	cs_html(h, "<div class=\"row\">");
	put_roofs(h, &gpu, "GPU");
	put_roofs(h, &cores, "NUMA node");
	cs_html_line(h, "</div>");
}
