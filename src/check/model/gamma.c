#include "check/model/rates.h"

#include <math.h>

#include "base/arena.h"
#include "base/fma.h"
#include "result/cells.h"

double cs_gamma_gflops(const struct cs_run *run, int node)
{
	const uint32_t test = (uint32_t)cs_test_index(CS_FLOPS_TEST);
	const int nodes[] = { node < 0 ? 0 : node,
			      node < 0 ? run->n_nodes : node + 1 };

	return cs_figures_median(run, nodes, cs_test_at(test), CS_METRIC_RATE, 0,
				 NULL);
}

double cs_flops_per_load(double gflops, double gbs)
{
	return gflops / gbs * CS_WORD_BYTES;
}

double cs_intensity(double flops_per_load, double efficiency)
{
	return flops_per_load * efficiency / (1 - efficiency);
}

double cs_alpha_flops(double gflops, double alpha_us)
{
	return alpha_us > 0 ? 1e3 * alpha_us * gflops : NAN;
}

/* Multiply-adds that a multiprocessor begins in a clock, by compute capability (CUDA C++
 * Programming Guide, throughput of arithmetic instructions). */
static const struct units {
	int major, minor;
	int begun[CS_FMAS];
} units[] = {
	{ 7, 0, { 32, 64, 128 } },   { 7, 5, { 2, 64, 128 } },
	{ 8, 0, { 32, 64, 256 } },   { 8, 6, { 2, 128, 128 } },
	{ 8, 9, { 2, 128, 128 } },   { 9, 0, { 64, 128, 256 } },
	{ 10, 0, { 64, 128, 256 } },
};

/* 10^9 clocks a second, of all multiprocessors that a row's kernel ran on; NAN. */
static double clocks_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_gpu_facts *gpu =
		&run->node[row->node].agent[row->what.issuer].gpu;
	const struct cs_gpu_record *record = cs_run_gpu(run, (int)row->node,
							gpu->bus_id);

	return record && record->board.sm_mhz_max > 0 ?
		       1e-3 * row->apart->grid_blocks * record->board.sm_mhz_max :
		       NAN;
}

double cs_fma_peak_gflops(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_gpu_facts *gpu =
		&run->node[row->node].agent[row->what.issuer].gpu;
	unsigned type = cs_row_test(row)->op - CS_OP_FP64;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].major == gpu->cc_major && units[i].minor == gpu->cc_minor)
			return CS_FMA_FLOPS * units[i].begun[type] *
			       clocks_of(run, row);
	return NAN;
}

/* Per multiprocessor, since capability 5.0 (the same table). */
#define SHARED_BYTES_A_CLOCK 128

double cs_shared_peak_gbs(const struct cs_run *run, const struct cs_row *row)
{
	return SHARED_BYTES_A_CLOCK * clocks_of(run, row);
}
