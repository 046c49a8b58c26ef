/* truth_sampler.c - does a cell keep what it promises, whatever the noise?
 *
 * The sampler is fed with times whose median is known; 10,000 cells of each kind.
 * One table by shape and size of the noise, one by correlation, and one of matrices
 * whose cells together show what each of them cannot.  Status 1 when a promise of
 * doc/METHOD.md is not kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../noise.h"
#include "../unit/canned.h"
#include "check/verdict/check.h"
#include "node/coordinator/sampler.h"
#include "plan/choose.h"
#include "result/stats.h"

#define CELLS 10000
#define MATRICES 400
#define GPUS 8
#define PRECISION 0.005
#define LIMIT_S 0.25  /* the default */
#define HOST_NS 0.5e6 /* a sample costs besides */

/* What is promised, in shares of cells, or of those that converged. */
#define COVERED 0.94
#define CONVERGED_COVERED 0.945
#define COVERED_PHI 0.92
#define CONVERGED_COVERED_PHI 0.93
#define PHI 0.5
#define PHI_NOTED 0.9
#define NOTED 0.95
#define FAR 0.01
#define FAR_FEW 0.03
/* Fewer converged cells than this share show nothing. */
#define CONVERGED_LEAST 0.05
#define CONVERGED_FEW 0.12
/* Of a quiet cell, first touch included. */
#define QUIET_SD 0.001
#define QUIET_SAMPLES (7 * 1.15)

static const double sds[] = { 0.0005, 0.001, 0.002, 0.004, 0.005, 0.006, 0.008,
			      0.01,   0.012, 0.014, 0.016, 0.018, 0.02,	 0.03 };
#define SDS (sizeof(sds) / sizeof(*sds))

/* A copy of 512 MiB: a cell has room for 40 samples by NVLink, for 24 by PCIe. */
static const struct link {
	const char *name;
	double copy_ns;
} links[] = { { "NVLink", 1.358e6 }, { "PCIe", 9.76e6 } };
#define LINKS (sizeof(links) / sizeof(*links))

struct seen {
	int covered, converged, converged_covered, far;
	double samples;
};

static int broken;

static struct cs_plan *plan_of(void)
{
	struct cs_plan_request req = {
		.n_agents = 2,
		.set = { .copy_bytes = 512u << 20,
			 .precision = PRECISION,
			 .cell_limit_s = LIMIT_S,
			 .start_limit_s = 30,
			 .backend = CS_BACKEND_CUDA },
	};
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan *plan = NULL;
	struct cs_err err;

	req.chosen = &chosen;
	if (cs_tests_choose("peer.ce.write.pair", CS_BACKEND_CUDA, CS_TRANSPORT_AUTO,
			    &chosen, &err) ||
	    cs_plan_build(&req, &plan, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	return plan;
}

static enum cs_sampler_answer sample(const struct cs_plan *plan,
				     const struct link *link, struct noise *noise,
				     struct cs_sampler *s, int *taken)
{
	enum cs_sampler_answer answer = CS_SAMPLE_MORE;
	double elapsed_s = 0;

	cs_sampler_init(s, plan, cs_plan_step(plan, 0),
			(struct cs_guess){ .gbs = (512u << 20) / link->copy_ns });
	for (*taken = 0; answer == CS_SAMPLE_MORE; ++*taken) {
		double ns = s->copies[0] * link->copy_ns * (1 + noise_next(noise));

		elapsed_s += 1e-9 * (ns + HOST_NS);
		answer = cs_sampler_feed(s, &ns, NULL, elapsed_s);
	}
	return answer;
}

static struct cs_stats stats_of(const struct cs_sampler *s)
{
	struct cs_stats stats;

	cs_stats_of(s->gbs[0], s->n, &stats);
	if (s->reach > 0)
		cs_stats_reach(&stats, s->reach);
	return stats;
}

static void run_cell(const struct cs_plan *plan, const struct link *link,
		     struct noise *noise, struct seen *seen)
{
	enum cs_sampler_answer answer;
	struct cs_stats stats;
	struct cs_sampler s;
	int covered, taken;
	double truth, off;

	answer = sample(plan, link, noise, &s, &taken);
	truth = (double)s.bytes[0] / link->copy_ns;
	stats = stats_of(&s);
	covered = stats.ci_low <= truth && truth <= stats.ci_high;
	off = fabs(stats.median / truth - 1);
	seen->samples += taken;
	seen->covered += covered;
	if (answer == CS_SAMPLE_ENOUGH) {
		seen->converged++;
		seen->converged_covered += covered;
		seen->far += off > PRECISION;
	}
}

static struct seen run_cells(const struct cs_plan *plan, const struct link *link,
			     enum noise_shape shape, double sd, double phi)
{
	struct seen seen = { 0 };

	for (int i = 0; i < CELLS; i++) {
		struct noise noise = { .shape = shape, .sd = sd, .phi = phi };

		noise_init(&noise, ((uint64_t)shape << 32 | (uint64_t)i) * 1000003 +
					   (uint64_t)(1e5 * sd + 1e3 * phi));
		run_cell(plan, link, &noise, &seen);
	}
	return seen;
}

static double share(int n, int of)
{
	return (double)n / of;
}

/* Of the cells that converged; NAN where they are few. */
static double of_converged(const struct seen *seen, int n)
{
	return seen->converged < CONVERGED_LEAST * CELLS ? NAN :
							   share(n, seen->converged);
}

static void promise(int kept, const char *what, const char *shape, double sd)
{
	if (kept)
		return;
	printf("NOT KEPT: %s, %s %.2f %%\n", what, shape, 100 * sd);
	broken = 1;
}

/* "97.1" per cent, or a dash. */
static const char *percent(double x, char *text, size_t size)
{
	if (isnan(x))
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.1f", 100 * x);
	return text;
}

static void row_of_shape(const struct cs_plan *plan, const struct link *link,
			 enum noise_shape shape, double sd)
{
	const char *name = noise_name[shape];
	struct seen seen = run_cells(plan, link, shape, sd, 0);
	double covered = of_converged(&seen, seen.converged_covered);
	double far = of_converged(&seen, seen.far);
	double samples = seen.samples / CELLS;
	char of_those[16], off[16];

	printf("%-12s %6.2f  %8.1f %10.1f %9s %8s %8.1f\n", name, 100 * sd,
	       100 * share(seen.covered, CELLS), 100 * share(seen.converged, CELLS),
	       percent(covered, of_those, sizeof(of_those)),
	       percent(far, off, sizeof(off)), samples);
	promise(share(seen.covered, CELLS) >= COVERED, "covered", name, sd);
	promise(!(covered < CONVERGED_COVERED), "covered if converged", name, sd);
	promise(!(far > (seen.converged < CONVERGED_FEW * CELLS ? FAR_FEW : FAR)),
		"far off", name, sd);
	promise(sd > QUIET_SD || samples <= QUIET_SAMPLES, "samples of a quiet cell",
		name, sd);
}

static void table_of_shapes(const struct cs_plan *plan, const struct link *link)
{
	printf("Independent samples by %s, %d cells of %g s each, in %%\n"
	       "%-12s %6s  %8s %10s %9s %8s %8s\n",
	       link->name, CELLS, plan->set.cell_limit_s, "noise", "sd", "covered",
	       "converged", "of those", "far off", "samples");
	for (int shape = 0; shape < NOISE_SHAPES; shape++)
		for (size_t i = 0; i < SDS; i++)
			row_of_shape(plan, link, shape, sds[i]);
	printf("\n");
}

/* Of all sizes of one shape. */
struct worst {
	double covered, converged, near;
};

static struct worst worst_of(const struct cs_plan *plan, const struct link *link,
			     enum noise_shape shape, double phi)
{
	struct worst worst = { 1, 1, 1 };

	for (size_t i = 0; i < SDS; i++) {
		struct seen seen = run_cells(plan, link, shape, sds[i], phi);

		worst.covered = fmin(worst.covered, share(seen.covered, CELLS));
		worst.converged = fmin(worst.converged,
				       of_converged(&seen, seen.converged_covered));
		worst.near = fmin(worst.near, 1 - of_converged(&seen, seen.far));
	}
	return worst;
}

static void table_of_dependence(const struct cs_plan *plan, const struct link *link)
{
	static const double phis[] = { 0.13, 0.3, 0.5, 0.7, 0.9 };

	printf("AR(1) by %s, the worst of all these sd: covered, covered if converged, "
	       "near if converged, in %%\n%-12s",
	       link->name, "noise");
	for (size_t p = 0; p < sizeof(phis) / sizeof(*phis); p++)
		printf("   phi %-12.2f", phis[p]);
	printf("\n");
	for (int shape = 0; shape < NOISE_SHAPES; shape++) {
		printf("%-12s", noise_name[shape]);
		for (size_t p = 0; p < sizeof(phis) / sizeof(*phis); p++) {
			struct worst worst = worst_of(plan, link, shape, phis[p]);

			printf("   %4.1f %4.1f %4.1f ", 100 * worst.covered,
			       100 * worst.converged, 100 * worst.near);
			fflush(stdout);
			if (shape == NOISE_GAUSS && phis[p] <= PHI)
				broken |= worst.covered < COVERED_PHI ||
					  worst.converged < CONVERGED_COVERED_PHI;
		}
		printf("\n");
	}
	printf("\n");
}

/* Are all cells of a matrix said to hang together? */
static int is_noted(const struct cs_plan *plan, double sd, double phi, uint64_t seed)
{
	struct canned c;
	struct cs_rows rows;
	struct cs_sampler s;
	size_t n, i;
	int taken;

	c = canned(1, GPUS, 0, "peer.ce.write.pair", 1);
	cs_rows_init(&rows);
	n = cs_rows_count(&c.run.rows);
	for (i = 0; i < n; i++) {
		struct cs_row row = *cs_rows_get(&c.run.rows, i);
		struct noise noise = { .sd = sd, .phi = phi };

		noise_init(&noise, seed * 1000 + i);
		sample(plan, &links[0], &noise, &s, &taken);
		row.n_samples = s.n;
		row.stats = stats_of(&s);
		cs_rows_add(&rows, &row, s.gbs[0], NULL);
	}
	cs_rows_release(&c.run.rows);
	c.run.rows = rows;
	cs_check_run(&c.run, NULL);
	for (i = 0; i < c.run.findings.n; i++)
		if (((struct cs_finding *)c.run.findings.data)[i].id ==
		    CS_FINDING_SAMPLES_DEPEND)
			break;
	taken = i < c.run.findings.n;
	canned_release(&c);
	return taken;
}

static void table_of_matrices(const struct cs_plan *plan)
{
	static const double phis[] = { 0, 0.13, 0.3, 0.5, 0.7, 0.9 };
	static const double some[] = { 0.001, 0.003, 0.008 };

	printf("Gaussian AR(1), %d matrices of %d GPUs: noted as correlated by "
	       "more than is assumed, in %%\n%-12s",
	       MATRICES, GPUS, "sd");
	for (size_t p = 0; p < sizeof(phis) / sizeof(*phis); p++)
		printf("  phi %-4.2f", phis[p]);
	printf("\n");
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		printf("%-12.2f", 100 * some[i]);
		for (size_t p = 0; p < sizeof(phis) / sizeof(*phis); p++) {
			int noted = 0;

			for (uint64_t m = 0; m < MATRICES; m++)
				noted += is_noted(plan, some[i], phis[p], m);
			printf("  %8.1f", 100 * share(noted, MATRICES));
			fflush(stdout);
			promise(phis[p] > 0 || !noted, "not noted", "gauss", some[i]);
			promise(phis[p] < PHI_NOTED || noted >= NOTED * MATRICES,
				"noted", "gauss", some[i]);
		}
		printf("\n");
	}
}

int main(void)
{
	struct cs_plan *plan = plan_of();

	for (size_t i = 0; i < LINKS; i++)
		table_of_shapes(plan, &links[i]);
	for (size_t i = 0; i < LINKS; i++)
		table_of_dependence(plan, &links[i]);
	table_of_matrices(plan);
	free(plan);
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
