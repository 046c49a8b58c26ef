#include "report/scale.h"

#include <math.h>

#define INK 0x17232e   /* of a light page */
#define PALE 0xe7edf2  /* of a dark one … */
#define NIGHT 0x10171d /* … on its bright colours */
#define QUIET 0.01

static const struct cs_shade of_share[] = {
	{ 0.80, "q5", "80 % and more", { 0xdcebf7, 0x1c3243 }, { INK, PALE }, "" },
	{ 0.70, "q4", "70 to 80 %", { 0xfbdcb4, 0x5a4630 }, { INK, PALE }, "33" },
	{ 0.50, "q3", "50 to 70 %", { 0xf9bb7f, 0xb57a45 }, { INK, NIGHT }, "1;33" },
	{ 0.25, "q2", "25 to 50 %", { 0xea6a42, 0xf0936a }, { INK, NIGHT }, "31" },
	{ -INFINITY,
	  "q1",
	  "below 25 %",
	  { 0x8f1d14, 0xffc6b2 },
	  { 0xffffff, NIGHT },
	  "1;31" },
};

static const struct cs_shade of_difference[] = {
	{ QUIET,
	  "d6",
	  "faster by more than 1 %",
	  { 0xb5d3ec, 0x2f5f88 },
	  { INK, PALE },
	  "36" },
	{ -QUIET, "d5", "within 1 %", { 0xedf2f6, 0x1c3243 }, { INK, PALE }, "" },
	{ -0.03, "d4", "1 to 3 % slower", { 0xfbdcb4, 0x5a4630 }, { INK, PALE }, "33" },
	{ -0.08, "d3", "3 to 8 %", { 0xf7b07b, 0xb57a45 }, { INK, NIGHT }, "1;33" },
	{ -0.25, "d2", "8 to 25 %", { 0xea6a42, 0xf0936a }, { INK, NIGHT }, "31" },
	{ -INFINITY,
	  "d1",
	  "more than 25 %",
	  { 0x8f1d14, 0xffc6b2 },
	  { 0xffffff, NIGHT },
	  "1;31" },
};

#define SCALE(table) { table, (int)(sizeof(table) / sizeof((table)[0])) }
const struct cs_scale cs_scale_share = SCALE(of_share);
const struct cs_scale cs_scale_difference = SCALE(of_difference);

static const struct cs_shade *shade_at(const struct cs_scale *scale, double x)
{
	int i = 0;

	while (i < scale->n - 1 && !(x >= scale->shade[i].least))
		i++;
	return &scale->shade[i];
}

double cs_difference(const struct cs_test *test, double value, double like)
{
	double ratio = value / like;

	return cs_unit_low_is_better((int)test->unit) ? 1 / ratio - 1 : ratio - 1;
}

const struct cs_shade *cs_shade_of_share(double share)
{
	return shade_at(&cs_scale_share, share);
}

const struct cs_shade *cs_shade_of_difference(double difference)
{
	return shade_at(&cs_scale_difference,
			fabs(difference) <= QUIET ? 0 : difference);
}
