/* markup.h - HTML and SVG, as far as a report needs them.
 *
 * Names (of hosts, GPUs, reasons) may contain anything.  They go only through
 * cs_html_text(), which cleans (base/print.h) and escapes them.  cs_html() is for our
 * own markup and numbers.  Colours are presentation attributes, so that a page stays
 * complete if a policy strips all CSS; style.c repeats them for dark pages, by class.
 * Lengths in SVG are CSS pixels. */
#pragma once

#include <stdio.h>

#include "report/scale.h"

/* Light in an attribute, dark by class. */
enum cs_ink {
	CS_INK,	     /* of texts */
	CS_INK_MUTE, /* of their explanations */
	CS_INK_GRID,
	CS_INK_AXIS,
	CS_INK_PAPER, /* fills */
	CS_INK_BOX,
	CS_INK_TRACK,
	CS_INK_USUAL,
	CS_INK_MEASURED,
	CS_INK_NVLINK,
	CS_INK_PCIE,
	CS_INK_GOOD,
	CS_INK_WARN,
	CS_INK_BAD,
	CS_INK_CURVE, /* and the next 5 */
	CS_INKS = CS_INK_CURVE + 6
};
struct cs_ink_line {
	const char *name; /* class */
	uint32_t colour[CS_THEMES];
};
extern const struct cs_ink_line cs_inks[CS_INKS];

#define CS_CONTENTS 40 /* sections in the contents list, at most */
struct cs_html {
	FILE *to;
	unsigned drawings; /* so far: each has ids of its own */
	int depth;	   /* of sections */
	int n_sections;	   /* of depth 0: for the contents list */
	char section[CS_CONTENTS][48];
};

/* Markup of ours: constants and numbers. */
void cs_html(const struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A constant, and the line ends. */
void cs_html_line(const struct cs_html *h, const char *markup);
/* Text of anyone, also within a quoted attribute. */
void cs_html_text(const struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "<TAG>text</TAG>" */
void cs_html_in(const struct cs_html *h, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A text as it is laid out, line by line; nothing of "". */
void cs_html_pre(const struct cs_html *h, const char *text);

/* A heading with a hint for readers below it, NULL none; ends by … */
void cs_html_section(struct cs_html *h, const char *title, const char *hint);
void cs_html_section_end(struct cs_html *h);
/* The sections so far, as links. */
void cs_html_contents(const struct cs_html *h);
/* Where a wide drawing or table scrolls, also by keyboard. */
void cs_html_wide(const struct cs_html *h, const char *name);

/* ---- drawings ---- */

struct cs_box {
	double x, y, w, h;
};

/* One with a title and a description for readers who do not see it, ends by … */
void cs_svg_begin(struct cs_html *h, double w, double height, const char *title);
void cs_svg_describe(struct cs_html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void cs_svg_end(const struct cs_html *h);

/* class="…" fill="#…", and stroke; then `end`, which may end the element. */
void cs_svg_fill(const struct cs_html *h, enum cs_ink ink, const char *end);
void cs_svg_stroke(const struct cs_html *h, enum cs_ink ink, const char *end);

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
/* A path of many boxes: the n-th, from 0 on; its end, which is needed if there are any. */
void cs_svg_add_box(const struct cs_html *h, int n, struct cs_box box);
void cs_svg_end_boxes(const struct cs_html *h, const struct cs_shade *shade);
/* Strokes at the foot of a box, more for a worse shade: for readers who do not see colours.
 * To be called between <path d="…" and its end. */
void cs_svg_add_strokes(const struct cs_html *h, int n, struct cs_box box,
			int strokes);
/* The number of them of a shade; 0: ordinary. */
int cs_html_strokes(const struct cs_scale *scale, int shade);
/* From (x, y) to (w, h). */
void cs_svg_line(const struct cs_html *h, const struct cs_box *ends, enum cs_ink ink,
		 double width);
/* A box without a figure: a pattern. */
void cs_svg_hatch(const struct cs_html *h, const struct cs_box *box);
/* A box for each class of a scale, and for none. */
void cs_html_legend(struct cs_html *h, const struct cs_scale *scale, const char *none);
