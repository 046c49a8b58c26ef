/* truth_floor.c - how little must a GPU or a link of a lone node lose to be reported?
 *
 * Simulated nodes of H200 (tests/fleet.h), the same in every run: by the number of GPUs, by
 * what healthy cells between GPUs differ for good, and by what samples of a cell vary.
 * Status 1 when a promise of doc/METHOD.md is not kept. */
#include <stdio.h>

#include "../fleet.h"

#define SEED 20261126
#define HEALTHY 1000
#define ALARMS 1 /* at most */
#define SICK 100
#define FOUND 95
#define TESTS "peer.ce.write.pair,h2d.ce.pinned.pair"

static const double losses[] = { 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15 };
#define LOSSES (sizeof(losses) / sizeof(*losses))

static const struct at {
	int gpus;
	double cells, samples; /* % */
	double gpu, link;      /* found from that loss on, % */
} table[] = {
	{ 8, 0.02, 0.1, 2, 2.5 }, { 8, 0.1, 0.1, 2, 2.5 }, { 8, 0.3, 0.1, 4, 3 },
	{ 8, 0.02, 0.5, 3, 3 },	  { 8, 0.02, 1, 6, 5 },	   { 4, 0.02, 0.1, 2.5, 2.5 },
	{ 4, 0.1, 0.1, 5, 3 },	  { 4, 0.02, 0.5, 10, 4 }, { 2, 0.02, 0.1, 15, 15 },
};

static int is_of_gpu(const struct cs_row *row, int gpu)
{
	return cs_row_test(row)->path == CS_PATH_PEER &&
	       (row->what.src.index == gpu || row->what.dst.index == gpu);
}

/* Both ways between that GPU and the first. */
static int is_link(const struct cs_row *row, int gpu)
{
	return is_of_gpu(row, gpu) && is_of_gpu(row, 0);
}

static struct fleet start(const struct at *at, struct fleet_machine *machine)
{
	struct fleet_noise noise = { .host = 0.003,
				     .cells = at->cells / 100,
				     .samples = at->samples / 100,
				     .machine = machine };
	struct fleet fleet;

	*machine = (struct fleet_machine){
		"NVIDIA H200", TESTS,
		at->gpus,      { 18, 18, 4, 26.562, "", 5, 16, 5, 16 },
		396,	       55,
		2085
	};
	fleet_init(&fleet, 1, noise, SEED + (uint64_t)(at - table));
	return fleet;
}

static int warned(const struct at *at)
{
	struct fleet_machine machine;
	struct fleet fleet = start(at, &machine);
	int n = 0;

	for (int i = 0; i < HEALTHY; i++) {
		fleet_draw(&fleet);
		fleet_judge(&fleet);
		n += fleet_findings(&fleet, CS_WARNING) > 0;
	}
	fleet_release(&fleet);
	return n;
}

/* The least loss that is found; 0: none of the losses. */
static double floor_of(const struct at *at, const char *part,
		       int (*is)(const struct cs_row *row, int arg))
{
	struct fleet_machine machine;
	struct fleet fleet = start(at, &machine);
	double least = 0;

	for (size_t k = 0; k < LOSSES && !least; k++) {
		int found = 0;

		for (int i = 0; i < SICK; i++) {
			fleet_draw(&fleet);
			fleet_slow(&fleet, 0, is, 1 + i % (at->gpus - 1),
				   1 - losses[k] / 100);
			fleet_judge(&fleet);
			found += fleet_found(&fleet, 0, part, "") > 0;
		}
		least = found >= FOUND ? losses[k] : 0;
	}
	fleet_release(&fleet);
	return least;
}

int main(void)
{
	int broken = 0;

	printf("A lone node: healthy runs of %d that are warned of, and the loss that is "
	       "found in %d of %d\n%4s  %7s  %9s  %6s  %6s  %6s\n",
	       HEALTHY, FOUND, SICK, "GPUs", "cells %", "samples %", "warned",
	       "GPU %", "link %");
	for (const struct at *at = table; at < table + sizeof(table) / sizeof(*table);
	     at++) {
		const int alarms = warned(at);
		const double gpu = floor_of(at, at->gpus > 2 ? "gpu" : "link",
					    is_of_gpu);
		const double link = floor_of(at, "link", is_link);
		const int kept = alarms <= ALARMS && gpu && gpu <= at->gpu && link &&
				 link <= at->link;

		printf("%4d  %7.2f  %9.1f  %6d  %6.1f  %6.1f%s\n", at->gpus, at->cells,
		       at->samples, alarms, gpu, link, kept ? "" : "  NOT KEPT");
		fflush(stdout);
		broken |= !kept;
	}
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
