/* parts.h - the parts of a page, for page.c.  Each writes nothing if the run has nothing of
 * it. */
#pragma once

#include "check/compare/versus.h"
#include "report/html/markup.h"
#include "report/report.h"
#include "report/text/parts.h"
#include "report/view.h"

/* heat.c.  The matrices of a node that no curve replaces, by path. */
void cs_html_heat(struct cs_html *h, const struct cs_digest *digest, int node);
/* The matrices between nodes. */
void cs_html_between(struct cs_html *h, const struct cs_run *run);
/* summary.c.  The first figures, and a line a test. */
void cs_html_tiles(const struct cs_html *h, const struct cs_digest *digest);
void cs_html_summary(struct cs_html *h, const struct cs_digest *digest);
/* tables.c.  All figures of a node, in <details>. */
void cs_html_tables(struct cs_html *h, const struct cs_run *run, int node);
/* plot.c.  Sweeps over nodes [first, last). */
void cs_html_plots(struct cs_html *h, const struct cs_run *run, int first, int last);
/* timeline.c.  Schedules of tiles, tile by tile. */
void cs_html_timelines(struct cs_html *h, const struct cs_run *run);
/* roofline.c.  The operations per second that each memory and link allows a program, by
 * its intensity. */
void cs_html_roofline(struct cs_html *h, const struct cs_run *run);
/* trend.c.  The series of a finding. */
void cs_html_series(struct cs_html *h, const struct cs_finding *f);
/* wiring.c.  NUMA nodes, GPUs, cards and the links between, with their rates. */
void cs_html_wiring(struct cs_html *h, const struct cs_digest *digest, int node);
/* fleet.c.  A square a node, and a line in a table. */
void cs_html_fleet(struct cs_html *h, const struct cs_run *run);
/* fleet.c.  enum cs_severity of a node's worst finding; -1 it has none. */
int cs_html_gravest(const struct cs_run *run, int node);
/* forest.c.  A line a matrix: how much better side B is, each cell with its interval;
 * and the table of all cells; a side by the last part of its path, if the sides differ
 * in it. */
const char *cs_html_side(const struct cs_versus *versus, int side);
void cs_html_forest(struct cs_html *h, const struct cs_versus *versus);
void cs_html_versus_table(struct cs_html *h, const struct cs_versus *versus);

/* alike.c.  How far each cell is from the same cell of the other nodes of its class.  It does
 * not judge: check/fleet does. */
struct cs_alike {
	const struct cs_run *run;
	int side;   /* agents of the largest node */
	int *class; /* by node: the first node like it; -1 nothing is known of it */
	double *worst; /* cs_alike_off() */
};

/* In the arena. */
const struct cs_alike *cs_alike_new(const struct cs_run *run);

/* The worst difference of a pair of agents, over all tests, from the median of the like,
 * as a share; below 0 is worse.  0: within 1 %, or within 4 scaled MADs if nodes differ
 * more than that.  src == dst: all that an agent has with the host and within itself.
 * NAN: no figure. */
double cs_alike_off(const struct cs_alike *alike, int node, int src, int dst);
/* Has the node any figure? */
int cs_alike_measured(const struct cs_alike *alike, int node);

/* heat.c.  "396.2", as many digits as are known. */
struct cs_label cs_html_figure(double x);

/* style.c.  <style>, and the script; both by the hash that the page's policy has. */
void cs_html_policy(const struct cs_html *h);
void cs_html_style(const struct cs_html *h);
void cs_html_script(const struct cs_html *h);
