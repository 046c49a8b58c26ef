/* truth_files.h - what truth_baseline.c and truth_line.c share: baselines are learnt of
 * files of healthy runs, further runs are judged by them, and tables say how many of these
 * are alarmed, by noise and number of files.  How runs are drawn, and what an alarm is, is
 * theirs. */
#ifndef CS_TESTS_TRUTH_FILES_H
#define CS_TESTS_TRUTH_FILES_H

#include "../noise.h"
#include "../unit/canned.h"

/* How healthy runs differ: standard deviations, as shares. */
struct truth_world {
	const char *name;
	double node, run, figure;
	double busy;	 /* share of figures that others slow down */
	int one_node;	 /* all files are of one, and so is what is judged */
	double position; /* what is its own in every run */
	double design; /* host links of the second half of GPUs are that much slower */
	double bend;   /* how far off the line links are half-way */
	enum noise_shape shape; /* of figures */
};

struct truth_fault {
	const char *name;
	int world;
	double rate;  /* lost, as a share */
	double alpha; /* more, as a share */
	int host;     /* GPU 1's host link; else all from and to it */
};

struct truth {
	const char *alarmed; /* "alarmed": the word of the first table */
	int gpus;
	int baselines, fresh; /* of each kind and number of files; judged by each */
	double promised, promised_busy; /* shares alarmed, at most */
	const int *files; /* how many are learnt from; 0 behind the last */
	const struct truth_world *world; /* without a name: behind the last */
	const struct truth_fault *fault;

	void (*init)(struct canned *c);
	/* Draws the one node of a world that has one. */
	void (*begin)(const struct truth_world *w, uint64_t seed);
	/* Draws a healthy run. */
	void (*fill)(const struct truth_world *w, struct canned *c);
	/* Draws a run, with a fault unless NULL, and judges it; with a fault: is it
	 * alarmed because of it? */
	int (*is_alarmed)(const struct truth_world *w,
			  const struct truth_fault *fault, struct canned *c);
};

/* Prints both tables: 0, or 1 when a promise of doc/METHOD.md is not kept. */
int truth_files(const struct truth *truth);
/* Ends the program when our own code failed. */
void truth_must(int rc, const struct cs_err *err);

#endif
