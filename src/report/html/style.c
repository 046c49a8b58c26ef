/* style.c - the CSS of a page: layout, dark mode and print.  Without it the page is
 * complete, and plain. */
#include "report/html/parts.h"

static const char layout[] =
#include "report/html/style.def"
	;

static const char print_page[] =
	"@media print{body{max-width:none;padding:0;font-size:11pt}"
	"figure,.tiles,table{break-inside:avoid}}";

static void variables(const struct cs_html *h, int page)
{
	static const struct {
		const char *name;
		uint32_t colour[CS_THEMES];
	} v[] = { { "bg", { 0xffffff, 0x10171d } },
		  { "fg", { 0x17232e, 0xe7edf2 } },
		  { "mut", { 0x556470, 0x93a4b2 } },
		  { "line", { 0xdfe6eb, 0x26333d } },
		  { "card", { 0xf7f9fb, 0x161f27 } } };

	cs_html(h, ":root{");
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		cs_html(h, "--%s:#%06x;", v[i].name, v[i].colour[page]);
	cs_html(h, "}");
}

static void shades(const struct cs_html *h, const struct cs_scale *scale)
{
	for (int i = 0; i < scale->n; i++)
		cs_html(h, ".%s{fill:#%06x}.%si{fill:#%06x}", scale->shade[i].name,
			scale->shade[i].fill[CS_THEME_DARK], scale->shade[i].name,
			scale->shade[i].ink[CS_THEME_DARK]);
}

void cs_html_style(const struct cs_html *h)
{
	variables(h, CS_THEME_LIGHT);
	cs_html(h, "%s", layout);
	cs_html(h, "@media(prefers-color-scheme:dark){");
	variables(h, CS_THEME_DARK);
	shades(h, &cs_scale_share);
	shades(h, &cs_scale_difference);
	for (int i = 0; i < CS_INKS; i++)
		cs_html(h, ".%s{fill:#%06x}.%s-s{stroke:#%06x}", cs_inks[i].name,
			cs_inks[i].colour[CS_THEME_DARK], cs_inks[i].name,
			cs_inks[i].colour[CS_THEME_DARK]);
	cs_html(h, "}%s", print_page);
}
