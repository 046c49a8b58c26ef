/* scale.h - the two scales by which figures are coloured, the same in every report:
 * how much of its link a figure is, and how far it is from its like.
 *
 * They are fixed.  One that follows the figures makes 0.05 % look like a fault.  Quiet is
 * pale and trouble dark, on a dark page the reverse.  tests/unit/test_scale.c holds the
 * colours to 4.5 : 1 of ink on fill (WCAG 2.1, AA), to their order in grey, and apart for
 * readers who do not see all colours. */
#pragma once

#include <stdint.h>

#include "catalogue/catalogue.h"

enum cs_theme { CS_THEME_LIGHT, CS_THEME_DARK, CS_THEMES };

struct cs_shade {
	double least;		  /* it begins here */
	const char *name;	  /* class of HTML: "q5" */
	const char *label;	  /* "80 % and more" */
	uint32_t fill[CS_THEMES]; /* 0xrrggbb */
	uint32_t ink[CS_THEMES];
	const char *sgr; /* of a terminal's text: "1;31"; "" as it is */
};

/* The best first; the last holds all below. */
struct cs_scale {
	const struct cs_shade *shade;
	int n;
};
extern const struct cs_scale cs_scale_share, cs_scale_difference;

/* How much better a figure of a test is than its like: 0.1 is 10 %, of a rate that is
 * higher, of a time that is shorter. */
double cs_difference(const struct cs_test *test, double value, double like);
/* The shade of a share of the live link's peak, at most 1. */
const struct cs_shade *cs_shade_of_share(double share);
/* The shade of a difference from comparable cells: -0.08 is 8 % worse, within 1 % none. */
const struct cs_shade *cs_shade_of_difference(double difference);
