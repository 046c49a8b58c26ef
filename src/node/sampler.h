/* sampler.h - how many copies a sample takes, and when a cell has enough.
 *
 * Pure: fed with times, it answers what to do next.  Rules of doc/METHOD.md:
 *  - copies per sample: the fewest that take CS_SAMPLE_NS, at most 16 (512 below
 *    1 MiB and of loads; staged: as many chunks as a stream takes; kernels: no limit, they
 *    repeat by themselves; a chase: one round); transfers of a step get as many as
 *    make them end together (as many each where one agent issues several the same
 *    way), loads as many as outlast them by 15 %, but that which the same kernel
 *    makes as what is measured as many as that;
 *  - sample 0 is the first touch, of one copy where a copy engine makes copies of
 *    64 MiB or more and no load runs beside; samples count from the first two
 *    successive ones that differ by less than the precision, those two included;
 *  - the end is tested at n = 6, 8, 10, 12, 15, 20, 30 and 50, and when the limit of
 *    the cell is reached: the 95 % interval of every median reaches no further from
 *    it than the precision; or the cell ends after the plan's block_samples, of which
 *    a single one counts right behind the first touch. */
#ifndef CS_NODE_SAMPLER_H
#define CS_NODE_SAMPLER_H

#include <stdint.h>

#include "plan/plan.h"

#define CS_SAMPLE_NS 5e6
#define CS_OVERLAP_MIN 0.9

enum cs_sampler_answer {
	CS_SAMPLE_MORE,
	CS_SAMPLE_ENOUGH,
	CS_SAMPLE_LIMIT, /* all there are, or hopeless: not converged */
};

struct cs_sampler {
	double precision, limit_s;
	uint32_t block; /* counted samples that suffice; 0: no such */
	uint32_t n_transfers;
	uint64_t bytes[CS_STEP_MAX];
	uint8_t load[CS_STEP_MAX]; /* is beside what is measured */
	/* of a load: 1 + the measured transfer that the same kernel makes, of the same
	 * size, and that therefore it has as many copies as; 0 there is none */
	uint8_t twin[CS_STEP_MAX];
	int in_turn;		       /* one agent issues several the same way: its
					 * engine may make them one after the other */
	int goes_on;		       /* who ends first goes on, untimed */
	uint8_t chase[CS_STEP_MAX];    /* its figure is the time of one load,
				 * or operation */
	uint32_t cap[CS_STEP_MAX];     /* most copies of a sample */
	uint32_t copies[CS_STEP_MAX];  /* of the next sample */
	uint32_t guessed[CS_STEP_MAX]; /* of that behind a short touch; 0 none */
	double first_ns[CS_STEP_MAX];  /* sample 0, all its copies */
	uint32_t first_copies[CS_STEP_MAX];
	uint32_t n;	    /* counted samples */
	uint32_t discarded; /* before them */
	uint32_t resized, restarted;
	int comparable; /* the last sample may count with the next */
	double last_gbs[CS_STEP_MAX], last_overlap; /* last sample; 0 none */
	/* counted samples; of a chase bytes / time of one load */
	double gbs[CS_STEP_MAX][CS_SAMPLES_MAX];
	double overlap[CS_SAMPLES_MAX]; /* shortest / longest */
};

/* What an earlier cell of the matrix had: GB/s of a measured transfer, and of loads
 * that read and that write; 0 unknown. */
struct cs_guess {
	double gbs, load_gbs[2];
};

void cs_sampler_init(struct cs_sampler *s, const struct cs_plan *plan,
		     const struct cs_step *step, struct cs_guess guess);
/* No sample has more copies of transfer k than `most`; before the first. */
void cs_sampler_limit(struct cs_sampler *s, uint32_t k, uint32_t most);
/* Of the last sample, for the next cell of the matrix. */
void cs_sampler_guess(const struct cs_sampler *s, const struct cs_plan *plan,
		      const struct cs_step *step, struct cs_guess *guess);
/* ns[k] of the transfers of the sample just taken, load_ns[k] of a chase's loads
 * (NULL: there is none); `elapsed_s` of the cell. */
enum cs_sampler_answer cs_sampler_feed(struct cs_sampler *s, const double *ns,
				       const double *load_ns, double elapsed_s);
/* Nanoseconds that the next sample is expected to take; 0 unknown. */
double cs_sampler_expected_ns(const struct cs_sampler *s);

#endif
