/* markup.h - HTML and SVG, as far as a report needs them.
 *
 * Names (of hosts, GPUs, reasons) may contain anything.  They go only through
 * cs_html_text(), which cleans (base/print.h) and escapes them.  cs_html() is for our
 * own markup and numbers.  Colours are presentation attributes, so that a page stays
 * complete if a policy strips all CSS; style.c repeats them for dark pages, by class.
 * Lengths in SVG are CSS pixels. */
#ifndef CS_REPORT_HTML_MARKUP_H
#define CS_REPORT_HTML_MARKUP_H

#include <stdio.h>

#include "report/html/inks.h"

struct cs_html {
	FILE *to;
	unsigned drawings; /* so far: each has ids of its own */
};

/* Markup of ours: constants and numbers. */
void cs_html(const struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Text of anyone, also within a quoted attribute. */
void cs_html_text(const struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "<TAG>text</TAG>" */
void cs_html_in(const struct cs_html *h, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What `print` writes, as it is laid out.  -1: no memory. */
int cs_html_pre(const struct cs_html *h, int (*print)(FILE *to, const void *arg),
		const void *arg);

/* A heading with what readers need to know below it, NULL nothing; ends by … */
void cs_html_section(const struct cs_html *h, const char *title, const char *hint);
void cs_html_section_end(const struct cs_html *h);

/* ---- drawings ---- */

struct cs_box {
	double x, y, w, h;
};

/* One with a title and a description for those who do not see it, ends by … */
void cs_svg_begin(struct cs_html *h, double w, double height, const char *title);
void cs_svg_describe(struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cs_svg_end(const struct cs_html *h);

/* class="…" fill="#…", and stroke. */
void cs_svg_fill(const struct cs_html *h, enum cs_ink ink);
void cs_svg_stroke(const struct cs_html *h, enum cs_ink ink);
void cs_svg_shade(const struct cs_html *h, const struct cs_shade *shade);

/* Where a text begins, ends, or has its middle. */
enum cs_anchor { CS_START, CS_MIDDLE, CS_END };
struct cs_pen {
	double x, y, size;
	enum cs_anchor anchor;
	enum cs_ink ink;
	int bold;
};
void cs_svg_text(const struct cs_html *h, const struct cs_pen *pen, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));
void cs_svg_rect(const struct cs_html *h, const struct cs_box *box, enum cs_ink fill,
		 enum cs_ink stroke);
/* From (x, y) to (w, h). */
void cs_svg_line(const struct cs_html *h, const struct cs_box *ends, enum cs_ink ink,
		 double width);
/* What stands for no figure: a pattern that boxes are filled with by … */
void cs_svg_hatch(const struct cs_html *h, const struct cs_box *box);
/* A box for each class of a scale, and for none. */
void cs_html_legend(struct cs_html *h, const struct cs_scale *scale, const char *none);

#endif
