#include "report/html/markup.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/print.h"

const struct cs_ink_line cs_inks[CS_INKS] = {
	[CS_INK] = { "ink", { 0x17232e, 0xe7edf2 } },
	[CS_INK_MUTE] = { "mut", { 0x556470, 0x93a4b2 } },
	[CS_INK_GRID] = { "gr", { 0xe3e9ee, 0x26333d } },
	[CS_INK_AXIS] = { "ax", { 0x9aa8b3, 0x4a5b68 } },
	[CS_INK_PAPER] = { "pap", { 0xffffff, 0x10171d } },
	[CS_INK_BOX] = { "box", { 0xf7f9fb, 0x161f27 } },
	[CS_INK_TRACK] = { "trk", { 0xe3e9ee, 0x26333d } },
	[CS_INK_USUAL] = { "use", { 0xcfe3f3, 0x27435a } },
	[CS_INK_MEASURED] = { "msr", { 0x1f5f99, 0x7db8ec } },
	[CS_INK_NVLINK] = { "nvl", { 0x3f8f5f, 0x5fb583 } },
	[CS_INK_PCIE] = { "pci", { 0x6d8ba3, 0x7b97ad } },
	[CS_INK_GOOD] = { "ok", { 0x1f7a4d, 0x6fcf97 } },
	[CS_INK_WARN] = { "wrn", { 0x8a5a00, 0xf0c674 } },
	[CS_INK_BAD] = { "bad", { 0x8f1d14, 0xff8f6b } },
	[CS_INK_CURVE] = { "c0", { 0x1f5f99, 0x7db8ec } },
	[CS_INK_CURVE + 1] = { "c1", { 0x9a5608, 0xe8a85a } },
	[CS_INK_CURVE + 2] = { "c2", { 0x5b3f8c, 0xb79be6 } },
	[CS_INK_CURVE + 3] = { "c3", { 0x1f7a4d, 0x6fcf97 } },
	[CS_INK_CURVE + 4] = { "c4", { 0xa0306a, 0xf08fc0 } },
	[CS_INK_CURVE + 5] = { "c5", { 0x4a5560, 0xb5c2cc } },
};

/* ---- text ---- */

static void put_raw(FILE *to, const char *text)
{
	cs_print(to, "%s", text);
}

static void put_escaped(FILE *to, const char *text)
{
	static const char *const instead[] = { "&amp;", "&lt;", "&gt;", "&quot;",
					       "&#39;" };

	cs_print_as(to, text, "&<>\"'", instead);
}

/* The end of a line does not cut an arrow, as in "3->6". */
static void put_text(FILE *to, const char *text)
{
	for (const char *arrow; (arrow = strstr(text, "->")); text = arrow + 2) {
		put_escaped(to, cs_new_text("%.*s", (int)(arrow - text), text));
		put_raw(to, "<span class=\"n\">-&gt;</span>");
	}
	put_escaped(to, text);
}

static void __attribute__((format(printf, 3, 0)))
put(const struct cs_html *h, void (*as)(FILE *to, const char *text), const char *fmt,
    va_list args)
{
	CS_SCOPE;

	as(h->to, cs_new_vtext(fmt, args));
}

void cs_html(const struct cs_html *h, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(h, put_raw, fmt, args);
	va_end(args);
}

void cs_html_line(const struct cs_html *h, const char *markup)
{
	put_raw(h->to, markup);
	putc('\n', h->to);
}

void cs_html_text(const struct cs_html *h, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(h, put_escaped, fmt, args);
	va_end(args);
}

void cs_html_in(const struct cs_html *h, const char *tag, const char *fmt, ...)
{
	va_list args;

	cs_html(h, "<%s>", tag);
	va_start(args, fmt);
	put(h, strcmp(tag, "title") ? put_text : put_escaped, fmt, args);
	va_end(args);
	cs_html(h, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void cs_html_pre(const struct cs_html *h, const char *text)
{
	char *rest = cs_new_text("%s", text), *line;

	if (!*text)
		return;
	cs_html(h, "<pre>");
	while ((line = strsep(&rest, "\n")) && (rest || line[0])) {
		cs_html_text(h, "%s", line);
		putc('\n', h->to);
	}
	cs_html_line(h, "</pre>");
}

void cs_html_section(struct cs_html *h, const char *title, const char *hint)
{
	if (!h->depth++ && h->n_sections < CS_CONTENTS) {
		cs_text(h->section[h->n_sections], sizeof(h->section[0]), "%s", title);
		cs_html(h, "<section id=\"s%d\">", h->n_sections++);
	} else {
		cs_html(h, "<section>");
	}
	cs_html_in(h, "h2", "%s", title);
	if (hint)
		cs_html_in(h, "p class=\"hint\"", "%s", hint);
	putc('\n', h->to);
}

void cs_html_section_end(struct cs_html *h)
{
	h->depth--;
	cs_html_line(h, "</section>");
}

void cs_html_contents(const struct cs_html *h)
{
	cs_html(h, "<nav aria-label=\"Contents\"><ul>");
	for (int i = 0; i < h->n_sections; i++) {
		cs_html(h, "<li><a href=\"#s%d\">", i);
		cs_html_text(h, "%s", h->section[i]);
		cs_html(h, "</a></li>");
	}
	cs_html_line(h, "</ul></nav>");
}

void cs_html_wide(const struct cs_html *h, const char *name)
{
	cs_html(h, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
	cs_html_text(h, "%s", name);
	cs_html(h, "\">");
}

/* ---- drawings ---- */

void cs_svg_begin(struct cs_html *h, double w, double height, const char *title)
{
	unsigned n = ++h->drawings;

	cs_html(h,
		"<svg viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\" "
		"aria-labelledby=\"t%u e%u\" font-family=\"system-ui,sans-serif\">"
		"<title id=\"t%u\">",
		w, height, w, height, n, n, n);
	cs_html_text(h, "%s", title);
	cs_html(h, "</title>");
}

void cs_svg_describe(struct cs_html *h, const char *fmt, ...)
{
	va_list args;

	cs_html(h, "<desc id=\"e%u\">", h->drawings);
	va_start(args, fmt);
	put(h, put_escaped, fmt, args);
	va_end(args);
	cs_html(h, "</desc>");
}

void cs_svg_end(const struct cs_html *h)
{
	cs_html_line(h, "</svg>");
}

void cs_svg_fill(const struct cs_html *h, enum cs_ink ink, const char *end)
{
	cs_html(h, " class=\"%s\" fill=\"#%06x\"%s", cs_inks[ink].name,
		cs_inks[ink].colour[CS_THEME_LIGHT], end);
}

void cs_svg_stroke(const struct cs_html *h, enum cs_ink ink, const char *end)
{
	cs_html(h, " class=\"%s-s\" stroke=\"#%06x\"%s", cs_inks[ink].name,
		cs_inks[ink].colour[CS_THEME_LIGHT], end);
}

void cs_svg_add_box(const struct cs_html *h, int n, struct cs_box box)
{
	cs_html(h, "%sM%g %gh%gv%gh-%gz", n ? "" : "<path d=\"", box.x, box.y, box.w,
		box.h, box.w);
}

void cs_svg_end_boxes(const struct cs_html *h, const struct cs_shade *shade)
{
	cs_html(h, "\" class=\"%s\" fill=\"#%06x\"/>", shade->name,
		shade->fill[CS_THEME_LIGHT]);
}

int cs_html_strokes(const struct cs_scale *scale, int shade)
{
	/* the first that is worse than ordinary */
	int first = scale == &cs_scale_difference ? 2 : 1;

	return shade < first ? 0 : shade - first + 1;
}

void cs_svg_add_strokes(const struct cs_html *h, int n, struct cs_box box, int strokes)
{
	for (int i = 0; i < strokes; i++)
		cs_html(h, "%sM%g %gv-5", n++ ? "" : "<path d=\"", box.x + 3 + 3 * i,
			box.y + box.h - 1);
}

void cs_svg_text(const struct cs_html *h, const struct cs_pen *pen, const char *fmt,
		 ...)
{
	static const char *const anchor[] = { "", " text-anchor=\"middle\"",
					      " text-anchor=\"end\"" };
	va_list args;

	cs_html(h, "<text x=\"%.4g\" y=\"%.4g\" font-size=\"%g\"%s%s", pen->x, pen->y,
		pen->size, anchor[pen->anchor],
		pen->bold ? " font-weight=\"600\"" : "");
	cs_svg_fill(h, pen->ink, ">");
	va_start(args, fmt);
	put(h, put_escaped, fmt, args);
	va_end(args);
	cs_html(h, "</text>");
}

void cs_svg_rect(const struct cs_html *h, const struct cs_box *box, enum cs_ink fill,
		 enum cs_ink stroke)
{
	cs_html(h,
		"<rect x=\"%.4g\" y=\"%.4g\" width=\"%.4g\" height=\"%.4g\" rx=\"%g\"",
		box->x, box->y, box->w, box->h, box->h > 20 ? 8.0 : 3.0);
	cs_html(h, " class=\"%s %s-s\" fill=\"#%06x\" stroke=\"#%06x\"/>",
		cs_inks[fill].name, cs_inks[stroke].name,
		cs_inks[fill].colour[CS_THEME_LIGHT],
		cs_inks[stroke].colour[CS_THEME_LIGHT]);
}

void cs_svg_line(const struct cs_html *h, const struct cs_box *ends, enum cs_ink ink,
		 double width)
{
	cs_html(h,
		"<path d=\"M%.4g %.4gL%.4g %.4g\" fill=\"none\" stroke-width=\"%.3g\"",
		ends->x, ends->y, ends->w, ends->h, width);
	cs_svg_stroke(h, ink, "/>");
}

/* Lines across: a pattern would need an id that is the page's. */
void cs_svg_hatch(const struct cs_html *h, const struct cs_box *box)
{
	cs_svg_rect(h, box, CS_INK_BOX, CS_INK_GRID);
	cs_html(h, "<path d=\"");
	for (double at = 6; at < box->w + box->h; at += 6)
		cs_html(h, "M%.4g %.4gL%.4g %.4g",
			box->x + (at < box->w ? at : box->w),
			box->y + (at < box->w ? 0 : at - box->w),
			box->x + (at < box->h ? 0 : at - box->h),
			box->y + (at < box->h ? at : box->h));
	cs_html(h, "\"");
	cs_svg_stroke(h, CS_INK_AXIS, "/>");
}

static void put_key(const struct cs_html *h, const struct cs_shade *shade, int strokes)
{
	const struct cs_box box = { 0, 1, 18, 14 };

	cs_html(h, "<span><svg viewBox=\"0 0 18 16\" width=\"18\" height=\"16\" "
		   "aria-hidden=\"true\">");
	if (!shade) {
		cs_svg_hatch(h, &box);
	} else {
		cs_svg_add_box(h, 0, box);
		cs_svg_end_boxes(h, shade);
	}
	if (strokes) {
		cs_svg_add_strokes(h, 0, box, strokes);
		cs_html(h, "\" stroke=\"#%06x\" class=\"%ss\"/>",
			shade->ink[CS_THEME_LIGHT], shade->name);
	}
	cs_html(h, "</svg> ");
}

void cs_html_legend(struct cs_html *h, const struct cs_scale *scale, const char *none)
{
	cs_html(h, "<div class=\"legend\">");
	for (int i = 0; i < scale->n; i++) {
		put_key(h, &scale->shade[i], cs_html_strokes(scale, i));
		cs_html_text(h, "%s", scale->shade[i].label);
		cs_html(h, "</span> ");
	}
	put_key(h, NULL, 0);
	cs_html_text(h, "%s", none);
	cs_html_line(h, "</span></div>");
}
