#include "result/merge.h"

#include "base/arena.h"
#include "check/verdict/check.h"

#include "written.h"
#include "canned.h"

/* A run of one node with one row and, after it, a finding about that row. */
static struct canned part(const char *host, double rate, time_t started)
{
	struct canned c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	struct cs_finding f = { .node = 0, .other = "x", .n_evidence = 1 };
	struct cs_row row;

	cs_text(c.run.node[0].facts.host, CS_HOST, "%s", host);
	cs_text(c.run.id, sizeof(c.run.id), "run-%s-%ld", host, (long)started);
	c.run.started.tv_sec = started;
	row = canned_row(c.plan, 0, 0, 0);
	canned_add(&c, &row, rate);
	cs_text(f.text, sizeof(f.text), "%.0f", rate);
	cs_finding_add(&c.run.findings, &f, NULL);
	return c;
}

struct made {
	struct cs_merge merge;
	struct canned parts[8];
	int n;
};

static void begin(struct made *m, int room)
{
	m->n = 0;
	cs_merge_init(&m->merge, room);
}

static void add(struct made *m, struct canned c)
{
	m->parts[m->n] = c;
	cs_merge_add(&m->merge, &m->parts[m->n++].run);
}

static void release(struct made *m)
{
	cs_merge_release(&m->merge);
	for (int i = 0; i < m->n; i++)
		canned_release(&m->parts[i]);
}

static const struct cs_finding *finding(const struct made *m, size_t i)
{
	return (const struct cs_finding *)m->merge.run.findings.data + i;
}

/* Host, row, sample and finding of node i belong together. */
static void t_node(const struct made *m, int i, const char *host, double rate)
{
	const struct cs_run *run = &m->merge.run;
	const struct cs_row *row = cs_rows_get(&run->rows, (size_t)i);
	const struct cs_finding *f = finding(m, (size_t)i);
	char text[32];

	t_eq_str(run->node[i].facts.host, host);
	t_eq_int(row->node, i);
	t_near(row->stats.median, rate, 0.01);
	t_near(cs_rows_samples(&run->rows, (size_t)i)[0], rate, 0.1);
	cs_text(text, sizeof(text), "%.0f", rate);
	t_eq_int(f->node, i);
	t_eq_str(f->text, text);
	t_eq_int(f->evidence[0], i);
}

HOLDS("nodes are sorted by host, with rows, samples and findings") {
	struct made m;

	begin(&m, 1); /* has to grow */
	add(&m, part("n10", 10, 5));
	add(&m, part("n2", 2, 9));
	add(&m, part("n1", 1, 1));
	add(&m, part("n3", 3, 7));
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.n_nodes, 4);
	t_eq_int(m.merge.run.findings.n, 4);
	t_node(&m, 0, "n1", 1);
	t_node(&m, 1, "n2", 2);
	t_node(&m, 2, "n3", 3);
	t_node(&m, 3, "n10", 10);
	t_eq_str(m.merge.run.id, "run-n1-1");
	t_eq_int(m.merge.run.node[0].agent[1].link.nvlinks_up, 18);
	t_ok(m.merge.run.node[3].ways != NULL);
	release(&m);
}

HOLDS("reasons survive the runs that they came from") {
	char why[CS_REASON];
	struct made m;

	begin(&m, 2);
	for (int i = 0; i < 2; i++) {
		struct canned c = part(i ? "n1" : "n2", 1, 1);
		struct cs_row row;

		memset(why, 'a' + i, sizeof(why) - 1);
		why[CS_REASON - 1] = '\0';
		row = canned_row(c.plan, 0, 0, 0);
		canned_spoil(&row, CS_FAILED, why);
		canned_add(&c, &row, 1);
		add(&m, c);
		cs_rows_release(&m.parts[i].run.rows);
	}
	memset(why, 'z', sizeof(why) - 1);
	cs_merge_end(&m.merge);
	if (t_eq_int(cs_rows_count(&m.merge.run.rows), 4)) {
		const char *reason = cs_rows_get(&m.merge.run.rows, 1)->reason;

		t_ok(reason[0] == 'b' && strlen(reason) == CS_REASON - 1);
		t_eq_int(cs_rows_get(&m.merge.run.rows, 3)->reason[0], 'a');
	}
	release(&m);
}

HOLDS("of several runs of a host the last one counts") {
	struct made m;

	begin(&m, 4);
	add(&m, part("b", 20, 50));
	add(&m, part("a", 10, 3));
	add(&m, part("b", 21, 51));
	add(&m, part("b", 19, 49));
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.n_nodes, 2);
	t_eq_int(cs_rows_count(&m.merge.run.rows), 2);
	t_eq_int(m.merge.run.findings.n, 3);
	t_node(&m, 0, "a", 10);
	t_node(&m, 1, "b", 21);
	t_eq_str(cs_finding_text(finding(&m, 2)), "duplicate-host");
	t_eq_int(finding(&m, 2)->node, 1);
	release(&m);
}

HOLDS("earlier runs of a host do not stay until the last one is there") {
	struct made m;

	begin(&m, 4);
	m.merge.rows_most = 2;
	add(&m, part("b", 20, 50));
	add(&m, part("a", 10, 3));
	add(&m, part("b", 21, 51));
	t_eq_int(cs_rows_count(&m.merge.run.rows), 2);
	t_eq_int(m.merge.run.rows.samples.n, 12);
	t_eq_int(m.merge.run.n_nodes, 2);
	m.merge.rows_most = 2;
	add(&m, part("b", 19, 49));
	add(&m, part("a", 11, 4));
	t_eq_int(cs_rows_count(&m.merge.run.rows), 3);
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.findings.n, 4);
	t_node(&m, 0, "a", 11);
	t_ok(strstr(finding(&m, 1)->text, "two runs of this host"));
	t_near(cs_rows_samples(&m.merge.run.rows, 1)[0], 21, 0.1);
	t_eq_str(finding(&m, 2)->text, "21");
	t_eq_int(finding(&m, 2)->evidence[0], 1);
	t_ok(strstr(finding(&m, 3)->text, "several runs of this host"));
	t_eq_int(m.merge.history.runs.n, 5);
	t_eq_int(m.merge.run.started.tv_sec, 4);
	release(&m);
}

HOLDS("the program of most nodes is that of most last runs") {
	struct made m;

	begin(&m, 4);
	for (int i = 0; i < 5; i++) {
		struct canned c = part(i % 2 ? "a" : "b", 1, i);

		c.run.version = i < 3 ? "0.1.0" : "0.2.0";
		c.run.findings.n = 0;
		add(&m, c);
	}
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.findings.n, 2);
	t_eq_str(cs_finding_text(finding(&m, 0)), "duplicate-host");
	t_eq_str(cs_finding_text(finding(&m, 1)), "duplicate-host");
	release(&m);
}

HOLDS("hosts without a part and parts that nobody expected are found") {
	static const char expected[3][CS_HOST] = { "c", "a", "b" };
	struct made m;

	begin(&m, 1);
	add(&m, part("b", 2, 1));
	add(&m, part("d", 4, 1));
	cs_merge_expect(&m.merge, expected, 3);
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.n_nodes, 4);
	t_eq_int(m.merge.run.node[0].facts.n_agents, -1);
	t_eq_str(cs_finding_text(finding(&m, 0)), "node-missing");
	t_eq_int(finding(&m, 0)->node, 0);
	t_eq_str(finding(&m, 1)->text, "2");
	t_eq_int(finding(&m, 1)->node, 1);
	t_eq_str(cs_finding_text(finding(&m, 2)), "node-missing");
	t_eq_int(finding(&m, 2)->node, 2);
	t_eq_str(cs_finding_text(finding(&m, 4)), "not-listed");
	t_eq_int(finding(&m, 4)->node, 3);
	release(&m);
}

static int merge_two(void *made)
{
	struct made *m = made;

	begin(m, 1);
	add(m, part("b", 2, 1));
	add(m, part("a", 1, 1));
	cs_merge_expect(&m->merge, (const char[][CS_HOST]){ "a", "c" }, 2);
	cs_merge_end(&m->merge);
	return 0;
}

HOLDS("memory that is short at any request ends a merge, and all can be released") {
	unsigned requests = 0;
	int rc = -1;

	while (rc && requests < 1000) {
		struct made m = { .n = 0 };

		cs_arena_fails_at = ++requests;
		rc = cs_arena_run(merge_two, &m, NULL);
		cs_arena_fails_at = 0;
		if (!rc)
			t_eq_int(m.merge.run.n_nodes, 3);
		release(&m);
	}
	t_eq_int(rc, 0);
	t_ok(requests > 10);
}

HOLDS("the widest plan is that of the whole") {
	struct canned wide = canned(1, 4, 0, "peer.ce.write.pair", 1);
	struct made m;

	cs_text(wide.run.node[0].facts.host, CS_HOST, "z");
	begin(&m, 2);
	add(&m, part("a", 1, 1));
	add(&m, wide);
	add(&m, part("b", 1, 1));
	cs_merge_end(&m.merge);
	t_eq_int(m.merge.run.plan->n_agents, 4);
	t_eq_int(m.merge.run.findings.n, 2); /* the same tests and size */
	release(&m);
}

/* As when an operator looks at 500 nodes on a bad day. */
static size_t lines_of(const struct cs_run *run, int verbose)
{
	const char *text = written_as(run, cs_format_by_name("text"),
				      (struct cs_view_options){ .verbose = verbose });
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

HOLDS("500 nodes on a bad day fit 60 lines, and -v prints all") {
	OWNED(canned) c = canned(500, 2, 0, "peer.ce.write.pair", 1);
	size_t few, all;

	for (int i = 0; i < 500; i++) {
		struct cs_node_facts *f = &c.run.node[i].facts;

		cs_text(f->product, CS_NAME, i % 50 ? "DGX" : "model %d", i / 50);
		cs_text(f->kernel, CS_NAME, i % 7 ? "6.8" : "6.%d", i);
		if (i % 30 == 3)
			c.run.node[i].agent[i % 2].link.nvlinks_up = i % 18;
	}
	c.run.checks = CS_CHECK_TOPOLOGY;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	few = lines_of(&c.run, 0);
	all = lines_of(&c.run, 1);
	t_ok(few <= 60 && few > 40);
	t_ok(all > 300);
	c.run.findings.n = 1;
	t_ok(lines_of(&c.run, 0) < 40);
}
