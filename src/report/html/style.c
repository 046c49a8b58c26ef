/* style.c - the CSS of a page: layout, dark mode and print; and its script.  Without either
 * the page is complete, and plain. */
#include "report/html/parts.h"

static const char layout[] =
#include "report/html/style.def"
	;

static const char script[] =
#include "report/html/script.def"
	;

/* SHA-256 of the text of <style> and <script>: `tests/page.py whole` prints the new ones. */
#define STYLE_HASH "zfyPy/GqjcsxGxByoh9CqzmW7aVotXaJ0HLGnkrxnNg="
#define SCRIPT_HASH "xqlRCeO1NLOXhGgaUUo0PgH5jDnJa3ivNcN94So34CQ="

static const char print_page[] =
	"@media print{body{display:block;max-width:none;padding:0;font-size:11pt}"
	"nav,#tip,.filter{display:none}.wide,.scroll{max-height:none;overflow:visible}"
	".sort{font-size:8pt}.sort td,.sort th{white-space:normal;padding:2px 5px}"
	"figure,.tile,tr,.legend,.hint,.wide svg,.find li,pre{break-inside:avoid}"
	"h2,h3,.hint,.legend,figcaption,caption,summary{break-after:avoid}"
	"p,li,dd{orphans:3;widows:3}}";

static void variables(const struct cs_html *h, int page)
{
	static const struct {
		const char *name;
		uint32_t colour[CS_THEMES];
	} v[] = { { "bg", { 0xffffff, 0x10171d } },
		  { "fg", { 0x17232e, 0xe7edf2 } },
		  { "mut", { 0x556470, 0x93a4b2 } },
		  { "line", { 0xdfe6eb, 0x26333d } },
		  { "card", { 0xf7f9fb, 0x161f27 } },
		  { "odd", { 0xfdf0dc, 0x3a2e20 } },
		  { "link", { 0x1f5f99, 0x7db8ec } } };

	cs_html(h, ":root{");
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		cs_html(h, "--%s:#%06x;", v[i].name, v[i].colour[page]);
	cs_html(h, "}");
}

static void shades(const struct cs_html *h, const struct cs_scale *scale)
{
	for (int i = 0; i < scale->n; i++)
		cs_html(h, ".%s{fill:#%06x}.%si{fill:#%06x}.%ss{stroke:#%06x}",
			scale->shade[i].name, scale->shade[i].fill[CS_THEME_DARK],
			scale->shade[i].name, scale->shade[i].ink[CS_THEME_DARK],
			scale->shade[i].name, scale->shade[i].ink[CS_THEME_DARK]);
}

void cs_html_policy(const struct cs_html *h)
{
	cs_html(h, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		   "'none'; style-src 'sha256-" STYLE_HASH "'; script-src "
		   "'sha256-" SCRIPT_HASH "'\"/>");
}

void cs_html_script(const struct cs_html *h)
{
	cs_html(h, "<script>%s</script>", script);
}

void cs_html_style(const struct cs_html *h)
{
	cs_html(h, "<style>");
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
	cs_html(h, "}%s</style>", print_page);
}
