/* sampler.h - how many copies a sample has, and when a cell has enough samples.
 *
 * Pure: it is given times and answers what to do next.  Rules of doc/METHOD.md:
 *  - Copies per sample: the fewest that take CS_SAMPLE_NS (twice that if three or more
 *    share the links and the memory of the host), at most 16 (512 below 1
 *    MiB and for loads; staged: the chunks that a stream holds; kernels: no limit,
 *    they repeat by themselves; a chase: one round).  The transfers of a step get
 *    the numbers with which they end together (equal numbers if one agent issues
 *    several in the same direction).  Loads get enough to last 15 % longer; but a
 *    load that the same kernel makes as a measured transfer gets the same number as
 *    that.
 *  - Sample 0 is the first touch, with one copy if a copy engine makes copies of 64
 *    MiB or more and no load runs.  Samples count from the first two successive ones
 *    that differ by less than the precision, these two included.
 *  - The end is tested at n = 6, 8, 10, 12, 15, 20, 30 and 50, and when the limit of
 *    the cell is reached: the 95 % interval of every median must be within the
 *    precision, from 10 on but for the last test within 3/4 of it.  Tests at 6 and 8
 *    do not count if the first two samples that were compared differed by more.
 *    With turn_samples of the plan, the cell ends after that many; if it is one, the
 *    first sample after the first touch counts. */
#pragma once

#include <stdint.h>

#include "plan/plan.h"

#define CS_SAMPLE_NS 3e6
#define CS_OVERLAP_MIN 0.9

enum cs_sampler_answer {
	CS_SAMPLE_MORE,
	CS_SAMPLE_ENOUGH,
	CS_SAMPLE_LIMIT, /* the limit is reached, or there is no hope: not converged */
};

struct cs_sampler {
	double precision, limit_s, sample_ns;
	double six_s;	/* the limit of the first six samples */
	uint32_t block; /* a fixed number of counted samples; 0: none */
	uint32_t n_transfers;
	uint64_t bytes[CS_STEP_MAX];
	uint8_t load[CS_STEP_MAX]; /* it is a load, not measured */
	/* for a load: 1 + the index of the measured transfer that the same kernel
	 * makes, with the same size and the same number of copies; 0: none */
	uint8_t twin[CS_STEP_MAX];
	int in_turn;		    /* one agent issues several in the same direction:
					 * its engine may make them one after the other */
	int goes_on;		    /* the first to end continues, untimed */
	uint8_t chase[CS_STEP_MAX]; /* its figure is the time of one load,
				 * or operation */
	uint32_t cap[CS_STEP_MAX];  /* the maximum of copies in a sample */
	uint32_t copies[CS_STEP_MAX];  /* of the next sample */
	uint32_t guessed[CS_STEP_MAX]; /* of the sample after a short touch; 0 none */
	double first_ns[CS_STEP_MAX];  /* sample 0, all its copies */
	uint32_t first_copies[CS_STEP_MAX];
	uint32_t n;	    /* counted samples */
	uint32_t discarded; /* before them */
	uint32_t resized, restarted;
	int given_up;	/* it cannot be known within the precision */
	int comparable; /* the last sample may count together with the next */
	int restless;	/* two successive ones were not alike, before counting */
	double reach; /* the intervals reach at least so far, as a share of the median */
	double last_gbs[CS_STEP_MAX], last_overlap; /* last sample; 0 none */
	/* counted samples; for a chase bytes / time of one load */
	double gbs[CS_STEP_MAX][CS_SAMPLES_MAX];
	double overlap[CS_SAMPLES_MAX]; /* shortest / longest */
};

/* The results of an earlier cell of the matrix: GB/s of a measured transfer, and of
 * loads that read and that write; 0 unknown. */
struct cs_guess {
	double gbs, load_gbs[2];
};

void cs_sampler_init(struct cs_sampler *s, const struct cs_plan *plan,
		     const struct cs_step *step, struct cs_guess guess);
/* Limit the copies of transfer k in a sample; call it before the first sample. */
void cs_sampler_limit(struct cs_sampler *s, uint32_t k, uint32_t most);
/* The guess for the next cell of the matrix, from the last sample. */
void cs_sampler_guess(const struct cs_sampler *s, const struct cs_plan *plan,
		      const struct cs_step *step, struct cs_guess *guess);
/* Add the sample just taken: ns[k] of its transfers, load_ns[k] of a chase's loads
 * (NULL: no chase); `elapsed_s`: the time of the cell so far. */
enum cs_sampler_answer cs_sampler_feed(struct cs_sampler *s, const double *ns,
				       const double *load_ns, double elapsed_s);
/* Nanoseconds that the next sample is expected to take; 0 unknown. */
double cs_sampler_expected_ns(const struct cs_sampler *s);
