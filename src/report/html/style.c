/* style.c - the CSS of a page: layout, dark mode and print.  Without it the page is
 * complete, and plain. */
#include "report/html/parts.h"

static const char layout[] =
	"*{box-sizing:border-box}"
	"body{margin:0 auto;max-width:1160px;padding:32px 40px 60px;background:var(--bg);"
	"color:var(--fg);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\","
	"sans-serif}"
	"header{display:flex;justify-content:space-between;gap:32px;align-items:flex-start;"
	"border-bottom:1px solid var(--line);padding-bottom:20px}"
	"h1{margin:2px 0 8px;font-size:30px;line-height:1.15}"
	".lead{margin:0;max-width:52em}.over,.hint,.k,.s,.fig,dt,caption{color:var(--mut)}"
	".over{margin:0;font-size:13px}"
	".verdict{display:flex;gap:14px;align-items:center;padding:14px 20px;border:1px solid "
	"var(--line);border-radius:14px;background:var(--card)}"
	".verdict b{display:block;font-size:20px;line-height:1.1}.verdict span{font-size:13px;"
	"white-space:nowrap}"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:14px;"
	"margin:22px 0 6px}"
	".tile{border:1px solid var(--line);border-radius:12px;padding:12px 14px;"
	"background:var(--card)}.tile>*{display:block}.tile svg{width:100%;height:14px}"
	".k,.s{font-size:13px}.v{font-size:25px;font-weight:650;"
	"font-variant-numeric:tabular-nums}.v small{font-size:13px;font-weight:500;"
	"margin-left:4px}"
	"section{margin-top:36px}h2{font-size:20px;margin:0 0 2px}"
	"h3{font-size:15px;margin:18px 0 2px}.hint{margin:0 0 12px;font-size:13.5px;"
	"max-width:62em}"
	"svg{max-width:100%;height:auto}text,td{font-variant-numeric:tabular-nums}"
	".row{display:flex;flex-wrap:wrap;gap:18px 26px}figure{margin:0}.few{max-width:314px}.many{max-width:524px}"
	"figcaption b{display:block;font-size:15px}figcaption span,.fig{font-size:12.5px}"
	".fig{margin:2px 0 0;max-width:36em}.legend{margin:4px 0 12px}"
	".find{list-style:none;margin:10px 0 0;padding:0;display:grid;gap:7px;font-size:14px}"
	".find b{margin-right:.5em}.find span{display:block;color:var(--mut);font-size:13px}"
	"pre{background:var(--card);border:1px solid var(--line);border-radius:10px;"
	"padding:12px 14px;overflow:auto;font-size:12.5px;line-height:1.4}"
	"dl{display:grid;grid-template-columns:100px 1fr;gap:5px 14px;margin:8px 0;"
	"font-size:14px}dd{margin:0;overflow-wrap:anywhere}"
	"table{border-collapse:collapse;font-size:13px;margin:12px 0}"
	"td,th{border:1px solid var(--line);padding:3px 10px;text-align:right}"
	"caption{text-align:left;padding:4px 0}.wide{overflow-x:auto}"
	"@media(max-width:700px){body{padding:16px}header{flex-direction:column}}";

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
