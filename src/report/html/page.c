/* page.c - a run, or a comparison, as one HTML file that opens anywhere: inline SVG, a
 * little CSS, a script that it does not need, no address, nothing loaded. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "check/verdict/check.h"
#include "report/html/parts.h"

#define NODES 4	   /* of several, those that are shown whole */
#define FINDINGS 12 /* that are not folded */

/* ---- head ---- */

static void begin(const struct cs_html *h, const char *title)
{
	cs_html_line(h, "<!DOCTYPE html>");
	cs_html(h, "<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
		   "<meta name=\"viewport\" content=\"width=device-width\"/>"
		   "<meta name=\"color-scheme\" content=\"light dark\"/>");
	cs_html_policy(h);
	cs_html_in(h, "title", "cscope-mpi: %s", title);
	cs_html_style(h);
	cs_html_line(h, "</head><body>");
}

/* The words of the page, folded. */
static void put_glossary(struct cs_html *h)
{
	static const char *const word[][2] = {
#define WORD(term, meaning) { term, meaning },
#include "report/html/glossary.def"
#undef WORD
	};

	cs_html_section(h, "Words", NULL);
	cs_html(h, "<details><summary>What the words of this page mean</summary><dl>");
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		cs_html_in(h, "dt", "%s", word[i][0]);
		cs_html_in(h, "dd", "%s", word[i][1]);
	}
	cs_html_line(h, "</dl></details>");
	cs_html_section_end(h);
}

/* The page after the header, whose list of contents is known only at the end. */
static struct cs_draft *begin_main(struct cs_html *h)
{
	struct cs_draft *draft = cs_draft_begin();

	h->to = draft->to;
	return draft;
}

static void end(struct cs_html *h, FILE *to, struct cs_draft *draft)
{
	const char *text;

	put_glossary(h);
	h->to = to;
	text = cs_draft_end(draft);
	cs_html_contents(h);
	cs_html_line(h, "<main>");
	for (const char *nl; (nl = strchr(text, '\n')); text = nl + 1) {
		cs_html(h, "%.*s", (int)(nl - text), text);
		putc('\n', to);
	}
	cs_html_line(h, "</main>");
	cs_html_script(h);
	cs_html_line(h, "</body></html>");
}

#define NOT_JUDGED -1

/* A tick, a dash or a cross, as of the status `like`, with its meaning. */
static void put_verdict(const struct cs_html *h, int like, const char *text,
			int status)
{
	static const char *const mark[] = { "M11 21l6 6 12-13", "M20 10v14M20 29v2",
					    "M13 13l14 14M27 13l-14 14" };
	int kind = like <= CS_EXIT_OK ? 0 : like == CS_EXIT_WARNING ? 1 : 2;
	enum cs_ink ink = like == NOT_JUDGED ? CS_INK_PCIE :
			  kind == 0	     ? CS_INK_GOOD :
			  kind == 1	     ? CS_INK_WARN :
					       CS_INK_BAD;

	cs_html(h, "<div class=\"verdict\"><svg viewBox=\"0 0 40 40\" width=\"40\" "
		   "height=\"40\" aria-hidden=\"true\"><circle cx=\"20\" cy=\"20\" "
		   "r=\"18\"");
	cs_svg_fill(h, ink, "");
	cs_html(h,
		"/><path d=\"%s\" fill=\"none\" stroke=\"#fff\" stroke-width=\"4\"/>"
		"</svg><div>",
		mark[kind]);
	cs_html_in(h, "b", "%s", text);
	cs_html(h, " ");
	cs_html_in(h, "span", "exit status %d", status);
	cs_html(h, "</div></div>");
}

static const char *status_word(int status)
{
	switch (status) {
	case CS_EXIT_OK:
		return "no fault found";
	case CS_EXIT_WARNING:
		return "warning";
	case CS_EXIT_CRITICAL:
		return "critical";
	case CS_EXIT_UNABLE:
		return "cannot tell";
	default:
		return "not tested";
	}
}

/* The status, or the one that the gravest finding would set under --check. */
static int gravest_status(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	int status = run->exit_status;

	for (size_t i = 0; i < run->findings.n && run->exit_status == CS_EXIT_OK; i++)
		if (f[i].severity >= CS_WARNING && status != CS_EXIT_CRITICAL)
			status = f[i].severity == CS_WARNING ? CS_EXIT_WARNING :
							       CS_EXIT_CRITICAL;
	return status;
}

static void put_notices(const struct cs_html *h, const struct cs_run *run)
{
	const char *mask = cs_mask_text(run);

	if (run->stand_in)
		cs_html_in(h, "p",
			   "NO GPU: host memory stands in; CPUs make the copies, so figures say nothing about GPU links");
	if (mask[0])
		cs_html_in(h, "p", "%s", mask);
	if (run->virtual_clock)
		cs_html_in(h, "p", "%s", CS_MEASURED_WITH_DOUBLE);
}

/* The answer, as text has it on a page that is wide enough. */
static void put_answer(const struct cs_html *h, const struct cs_digest *digest)
{
	CS_SCOPE;
	struct cs_draft *draft = cs_draft_begin();

	cs_page_within((struct cs_page){ .columns = INT_MAX });
	cs_answer_print(draft->to, digest, "");
	cs_html_in(h, "p class=\"lead\"", "%s", cs_draft_end(draft));
}

static void put_head(const struct cs_html *h, const struct cs_run *run,
		     const struct cs_digest *digest, const struct cs_run *placements)
{
	const int has_answer = digest->lines.n ||
			       (run->plan && cs_plan_has_between(run->plan));
	const struct cs_versus *versus;
	const int status = gravest_status(run);
	const char *asked = run->matrix_text ? run->matrix_text : "";
	char text[512];

	cs_run_summary(run, text, sizeof(text));
	cs_html(h, "<header><div>");
	cs_html_in(h, "p class=\"over\"", "cscope-mpi %s  %.100s%s  %s", run->version,
		   asked, strlen(asked) > 100 ? "..." : "", cs_new_start(run));
	if (run->n_nodes > 1 && !cs_run_is_other_placement(run, 1)) {
		cs_html_in(h, "h1", "%d nodes", run->n_nodes);
		cs_html_in(h, "p class=\"lead\"", "%s", cs_actions_answer(run));
	} else {
		cs_html_in(h, "h1", "%s",
			   run->n_nodes > 0 ? run->node[0].facts.host : "");
	}
	for (int k = 1;
	     placements &&
	     (versus = cs_versus_placements(placements, k, placements->margin));
	     k++)
		cs_html_in(h, "p class=\"lead\"", "%s", cs_versus_answer(versus));
	if (has_answer)
		put_answer(h, digest);
	cs_html_in(h, "p class=\"lead\"", "%s",
		   run->n_nodes > 0 ? cs_node_text(run, 0) : "no node");
	/* else it is the first finding */
	if (!has_answer || status == CS_EXIT_OK)
		cs_html_in(h, "p class=\"lead\"", "%s", text);
	put_notices(h, run);
	cs_html(h, "</div>");
	/* measured once, they are no finding, but not well either */
	if (status == CS_EXIT_OK && digest->likeness.n_slow)
		put_verdict(h, CS_EXIT_WARNING, "slow cells", run->exit_status);
	else if (status == CS_EXIT_OK && !cs_run_is_judged(run))
		put_verdict(h, NOT_JUDGED, "measured, not judged", run->exit_status);
	else
		put_verdict(h, status, status_word(status), run->exit_status);
	cs_html_line(h, "</header>");
}

/* ---- findings ---- */

static void put_finding(struct cs_html *h, const struct cs_run *run,
			const struct cs_group *g)
{
	const struct cs_finding *f = g->finding[0];
	const char *hosts = run->n_nodes > 1 ? cs_group_hosts(run, g, 512) : "";

	cs_html(h, "<li>");
	cs_html_in(h, "b", "%s",
		   cs_finding_aside(f) ? cs_finding_aside(f) :
					 cs_severity_text(f->severity));
	cs_html_in(h, "bdi", "%s%s", hosts, f->text);
	cs_html_in(h, "code class=\"id n\"", " [%s]", cs_finding_text(f));
	if (f->remeasure[0] || f->next[0])
		cs_html_in(h, "span", "next: %s%s%s", f->remeasure,
			   f->remeasure[0] && f->next[0] ? "; " : "", f->next);
	cs_html_series(h, f);
	cs_html_line(h, "</li>");
}

static void put_list(struct cs_html *h, const struct cs_run *run,
		     const struct cs_group *g, size_t n)
{
	cs_html(h, "<ul class=\"find\">");
	for (size_t i = 0; i < n; i++)
		put_finding(h, run, &g[i]);
	cs_html(h, "</ul>");
}

/* The gravest; notes after warnings, and the rest of many, folded. */
static void put_findings(struct cs_html *h, const struct cs_run *run)
{
	const struct cs_vec groups = cs_groups_make(run);
	const struct cs_group *g = groups.data;
	size_t shown = 0;

	if (!groups.n)
		return;
	while (shown < groups.n && shown < FINDINGS &&
	       (g[shown].finding[0]->severity >= CS_WARNING ||
		g[0].finding[0]->severity < CS_WARNING))
		shown++;
	cs_html_section(h, "Findings", "cscope-mpi --explain ID explains an [ID].");
	put_list(h, run, g, shown);
	if (shown < groups.n) {
		cs_html(h, "<details><summary>%zu more%s</summary>", groups.n - shown,
			g[shown].finding[0]->severity < CS_WARNING ? ", notes" : "");
		put_list(h, run, g + shown, groups.n - shown);
		cs_html(h, "</details>");
	}
	cs_html_section_end(h);
}

/* ---- texts ---- */

static void put_texts(struct cs_html *h, const struct cs_run *run)
{
	struct cs_draft *ways = cs_draft_begin(), *model = cs_draft_begin();
	struct cs_draft *summary = cs_draft_begin();
	const struct cs_view_options plain = { 0 };

	cs_ways_print(ways->to, run, 0, run->n_nodes);
	cs_html_pre(h, cs_draft_end(ways));
	if (run->plan && run->plan->set.last_bytes) {
		cs_html_section(h, "Cost of communication", NULL);
		cs_model_write(model->to, cs_view_pooled(run, &plain));
		cs_html_pre(h, cs_draft_end(model));
		cs_html_roofline(h, run);
		cs_html_section_end(h);
	}
	cs_html_section(h, "Why to believe it", NULL);
	cs_summary_print(summary->to, run, 0);
	cs_html_pre(h, cs_draft_end(summary));
	cs_html(h, "<dl><dt>command</dt>");
	cs_html(h, "<dd><code>");
	for (int i = 0; i < run->argc; i++)
		cs_html_text(h, "%s%s", i ? " " : "", run->argv[i]);
	cs_html(h, "</code></dd></dl>");
	cs_html_section_end(h);
}

/* ---- the whole ---- */

static void put_all(const struct cs_html *h, struct cs_vec texts)
{
	for (size_t i = 0; i < texts.n; i++)
		cs_html_in(h, "p", "%s", ((const char **)texts.data)[i]);
}

static void put_versus(struct cs_html *h, const struct cs_versus *v)
{
	cs_html_section(
		h,
		cs_new_text("%s against %s", cs_html_side(v, 1), cs_html_side(v, 0)),
		"How many times better it is, with the 95 % interval of every cell.");
	cs_html_in(h, "p class=\"lead\"", "%s", cs_versus_answer(v));
	put_all(h, cs_versus_caveats(v));
	put_all(h, cs_versus_remarks(v));
	cs_html_forest(h, v);
	cs_html_versus_table(h, v);
	cs_html_section_end(h);
}

static void put_node(struct cs_html *h, const struct cs_digest *digest, int node)
{
	const struct cs_run *run = digest->run;

	if (run->n_nodes > 1)
		cs_html_section(h, run->node[node].facts.host,
				run->node[node].facts.placement[0] ?
					run->node[node].facts.placement :
					NULL);
	cs_html_wiring(h, digest, node);
	if (run->n_nodes == 1) {
		cs_html_tiles(h, digest);
		cs_html_summary(h, digest);
	}
	cs_html_heat(h, digest, node);
	if (run->n_nodes > 1)
		cs_html_section_end(h);
}

/* All nodes beside each other, then those with a finding. */
static void put_nodes(struct cs_html *h, const struct cs_digest *digest)
{
	const struct cs_run *run = digest->run;
	int shown = 0;

	cs_html_fleet(h, run);
	cs_html_summary(h, digest);
	for (int i = 0; digest->lines.n && i < run->n_nodes && shown < NODES; i++) {
		if (cs_html_gravest(run, i) < CS_WARNING ||
		    run->node[i].facts.n_agents < 1)
			continue;
		put_node(h, digest, i);
		shown++;
	}
}

static void write_page(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	int several = run->n_nodes > 1;
	int sides = several && cs_run_is_other_placement(run, 1);
	const struct cs_digest *digest = cs_digest_new(run, 0,
						       sides ? 1 : run->n_nodes);
	const struct cs_versus *versus;
	struct cs_html h = { .to = to };
	struct cs_draft *draft;

	begin(&h, run->n_nodes > 0 ? run->node[0].facts.host : "no node");
	put_head(&h, run, digest, sides ? view->turns : NULL);
	draft = begin_main(&h);
	put_findings(&h, run);
	if (run->n_nodes != 1)
		cs_html_tiles(&h, digest);
	for (int k = 1; sides && (versus = cs_versus_placements(view->turns, k,
								view->turns->margin));
	     k++)
		put_versus(&h, versus);
	cs_html_between(&h, run);
	if (several && !sides)
		put_nodes(&h, digest);
	else if (run->n_nodes)
		put_node(&h, digest, 0);
	cs_html_plots(&h, run, 0, sides ? 1 : run->n_nodes);
	cs_html_timelines(&h, run);
	put_texts(&h, run);
	if (run->n_nodes == 1)
		cs_html_tables(&h, run, 0);
	end(&h, to, draft);
}

/* Texts have the width and colours of a file, not of the terminal. */
void cs_html_write(FILE *to, const struct cs_view *view)
{
	CS_SCOPE;

	cs_page_within((struct cs_page){ 0 });
	write_page(to, view);
}

/* Is every matrix the same, and that for certain? */
static int is_same(const struct cs_versus *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CS_EACH(const struct cs_versus_matrix, m, &v[i].matrices)
			if (m->sum.verdict != CS_VERDICT_SAME)
				return 0;
	return 1;
}

static void write_comparison(FILE *to, const struct cs_versus *v, size_t n)
{
	struct cs_html h = { .to = to };
	struct cs_draft *draft;
	int worst = CS_EXIT_OK;

	for (size_t i = 0; i < n; i++)
		if (cs_versus_exit(&v[i]) > worst)
			worst = cs_versus_exit(&v[i]);
	begin(&h, "comparison");
	cs_html(&h, "<header><div>");
	cs_html_in(&h, "h1", "%s against %s", n ? cs_html_side(&v[0], 1) : "",
		   n ? cs_html_side(&v[0], 0) : "");
	if (n)
		put_all(&h, cs_versus_notices(v));
	cs_html(&h, "</div>");
	/* of a run a side a difference sets no status */
	if (worst == CS_EXIT_OK && !is_same(v, n))
		put_verdict(&h, CS_EXIT_WARNING, "not certain", worst);
	else
		put_verdict(&h, worst,
			    worst == CS_EXIT_OK	     ? "the same" :
			    worst == CS_EXIT_WARNING ? "different" :
						       "not comparable",
			    worst);
	cs_html(&h, "</header>");
	draft = begin_main(&h);
	for (size_t i = 0; i < n; i++)
		put_versus(&h, &v[i]);
	end(&h, to, draft);
}

/* ---- a comparison in any format ---- */

struct comparing {
	FILE *to;
	const char *format;
	const struct cs_versus *v;
	size_t n;
	int verbose;
};

static int write_versus(void *argument)
{
	const struct comparing *c = argument;

	if (!strcmp(c->format, "json"))
		cs_versus_json(c->to, c->v, c->n);
	else if (!strcmp(c->format, "csv"))
		cs_versus_csv(c->to, c->v, c->n);
	else if (!strcmp(c->format, "html"))
		write_comparison(c->to, c->v, c->n);
	else
		cs_versus_text(c->to, c->v, c->n, c->verbose);
	return ferror(c->to) ? -1 : 0;
}

int cs_versus_write(FILE *to, const char *format, const struct cs_versus *v, size_t n,
		    int verbose)
{
	struct comparing comparing = { to, format, v, n, verbose };

	errno = ENOMEM;
	return cs_arena_run(write_versus, &comparing, NULL);
}
