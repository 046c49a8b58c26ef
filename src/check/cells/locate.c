#include "check/cells/internal.h"

#include <math.h>

#include "base/statistics.h"

#define SWEEPS 4 /* more move nothing in matrices with a few bad places */

double cs_upper_median(double *x, size_t n)
{
	cs_sort(x, n);
	return n ? x[n / 2] : NAN;
}

double cs_scaled_mad(double *x, size_t n)
{
	double middle;

	if (!n)
		return 0;
	middle = cs_median(x, n);
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - middle);
	return CS_MAD_TO_SD * cs_median(x, n);
}

/* Move the median of each row into its effect; of each column likewise. */
static void sweep(struct cs_effects *effects, int by_row)
{
	int n = by_row ? effects->rows : effects->cols,
	    m = by_row ? effects->cols : effects->rows;
	double *effect = by_row ? effects->row : effects->col;
	double x[CS_EFFECTS_MOST], middle;

	for (int i = 0; i < n; i++) {
		size_t count = 0;

		for (int k = 0; k < m; k++) {
			double value = by_row ? effects->cell[i][k] :
						effects->cell[k][i];

			if (!isnan(value))
				x[count++] = value;
		}
		(by_row ? effects->in_row : effects->in_col)[i] = (int)count;
		middle = cs_upper_median(x, count);
		effect[i] += middle;
		for (int k = 0; k < m && count; k++)
			*(by_row ? &effects->cell[i][k] :
				   &effects->cell[k][i]) -= middle;
	}
}

/* Move the median of all effects into the whole. */
static void gather(struct cs_effects *effects, double *effect, int n)
{
	double x[CS_EFFECTS_MOST], middle;
	size_t count = 0;

	for (int i = 0; i < n; i++)
		if (!isnan(effect[i]))
			x[count++] = effect[i];
	if (!count)
		return;
	middle = cs_upper_median(x, count);
	effects->whole += middle;
	for (int i = 0; i < n; i++)
		effect[i] -= middle;
}

void cs_effects_polish(struct cs_effects *effects)
{
	effects->whole = 0;
	for (int i = 0; i < CS_EFFECTS_MOST; i++)
		effects->row[i] = effects->col[i] = 0;
	for (int s = 0; s < SWEEPS; s++) {
		sweep(effects, 1);
		gather(effects, effects->row, effects->rows);
		sweep(effects, 0);
		gather(effects, effects->col, effects->cols);
	}
}
