#include "check/link/expect.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* Usable GB/s of one link in one direction by NVLink version (NVIDIA's data
 * sheets: P100 160 GB/s over 4 links both ways, V100 300 over 6, A100 600 over
 * 12, H100 900 over 18, B200 1800 over 18). */
static const double link_gbs[] = { NAN, 20, 25, 25, 25, 50 };

double cs_nvlink_version_gbs(int version)
{
	const int known = sizeof(link_gbs) / sizeof(link_gbs[0]);

	return version < 1 || version >= known ? NAN : link_gbs[version];
}

/* Links of cards with bridges are slower than others of their version: RTX A6000 14. */
double cs_nvlink_peak_gbs(const struct cs_link_facts *link)
{
	const double usual = cs_nvlink_version_gbs(link->nvlink_version);

	if (link->nvlinks_up < 0)
		return NAN;
	if (link->nvlinks_up == 0)
		return 0;
	return link->nvlinks_up *
	       (link->nvlink_raw_gbs > 0 && link->nvlink_raw_gbs < usual ?
			link->nvlink_raw_gbs :
			usual);
}

/* Boards on which each link of a GPU is wired (NVIDIA's data sheets), and how many GPUs
 * a whole one has without a switch: a virtual machine with fewer lacks links that lead
 * to the others.  Cards have links for bridges, which may be absent. */
static const struct board {
	const char *name; /* of its GPUs */
	int links, gpus;
} boards[] = {
	{ "*V100-SXM*", 6, 8 },	       { "*A100-SXM*", 12, 4 },
	{ "NVIDIA H100*HBM3", 18, 4 }, { "NVIDIA H200", 18, 4 },
	{ "NVIDIA B200", 18, 8 },
};

int cs_nvlinks_wired(const struct cs_run_node *nd, int a)
{
	const struct cs_agent_facts *agent = &nd->agent[a];
	const struct cs_link_facts *link = &agent->link;
	const struct board *b = boards, *end = b + sizeof(boards) / sizeof(*b);
	int gpus = 0, to_switch = 0, masked = 0;

	while (b < end && fnmatch(b->name, agent->gpu.name, 0))
		b++;
	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *gpu = &nd->gpu_record[i];

		gpus += !strcmp(gpu->name, agent->gpu.name);
		to_switch |= gpu->board.nvlink.to_switch > 0;
		/* links of such GPUs are turned off */
		masked |= !strcmp(gpu->bus_id, agent->gpu.bus_id) &&
			  (gpu->mig == 1 || gpu->board.confidential == 1);
	}
	if (b == end || masked || link->nvlinks_max < 1 ||
	    !(to_switch || gpus >= b->gpus || (gpus > 1 && !link->nvlinks_up)))
		return 0;
	return link->nvlinks_max > b->links ? link->nvlinks_max : b->links;
}

double cs_pcie_peak_gbs(int gen, int width)
{
	/* One lane: GT/s x coding / 8.  8b/10b, from generation 3 128b/130b,
	 * in generation 6 FLITs of 256 bytes, 14 of them CRC and ECC. */
	static const double lane[] = {
		NAN,
		2.5 * 8 / 10 / 8,
		5.0 * 8 / 10 / 8,
		8.0 * 128 / 130 / 8,
		16.0 * 128 / 130 / 8,
		32.0 * 128 / 130 / 8,
		64.0 * 242 / 256 / 8,
	};

	if (gen < 1 || gen >= (int)(sizeof(lane) / sizeof(lane[0])) || width < 1)
		return NAN;
	return width * lane[gen];
}

double cs_link_pcie_gbs(const struct cs_link_facts *link)
{
	return cs_pcie_peak_gbs(link->pcie_gen, link->pcie_width);
}

/* NVLink-C2C between host and GPU, one way (NVIDIA's data sheets: a Grace CPU has 900
 * GB/s both ways, in GB200 and GB300 for two GPUs). */
static const struct {
	const char *name; /* of its GPUs */
	double gbs;
} c2c[] = { { "*GH200*", 450 }, { "*GB200*", 225 }, { "*GB300*", 225 } };

double cs_host_peak_gbs(const struct cs_agent_facts *agent)
{
	for (size_t i = 0; !agent->link.pcie_gen && i < sizeof(c2c) / sizeof(*c2c);
	     i++)
		if (!fnmatch(c2c[i].name, agent->gpu.name, 0))
			return c2c[i].gbs;
	return cs_link_pcie_gbs(&agent->link);
}

const struct cs_link_facts *cs_lesser_link(const struct cs_link_facts *a,
					   const struct cs_link_facts *b)
{
	double pa = cs_nvlink_peak_gbs(a), pb = cs_nvlink_peak_gbs(b);

	if (isnan(pa) || isnan(pb))
		return isnan(pa) ? a : b;
	if (pa <= 0 && pb <= 0)
		return cs_link_pcie_gbs(b) < cs_link_pcie_gbs(a) ? b : a;
	return pb < pa ? b : a;
}

/* Usual share of the peak for a copy engine, as fractions; -1 unknown class. */
static int usual_share(const struct cs_link_facts *link, double *low, double *high)
{
	switch (link->nvlinks_up > 0 ? link->nvlink_version : -1) {
	case 3: /* A100 writes, of 300: 276 and 279 (SuperBench logs,
		 * nvbandwidth's README) */
		*low = 0.92;
		*high = 0.93;
		return 0;
	case 4: /* of 450: H100 371 to 380 (nccl issue 1264); H200 396
		 * (nvbandwidth 0.8 and ours) */
		*low = 0.83;
		*high = 0.89;
		return 0;
	default: /* no measurement that we can name */
		return -1;
	}
}

/* Pinned memory next to the GPU: generation 3 12.2 to 12.9 of 15.8 (gearshifft,
 * CSCS), 4 26.0 to 26.3 of 31.5 (SuperBench, nvbandwidth's README), 5 53.9 to 57
 * of 63 (nvbandwidth, ours). */
#define PCIE_LEAST 0.77
#define PCIE_MOST 0.91
/* C2C: GH200 297 out of it (Schieffer et al., 2024) and 346 into it, GB200 194 to 201,
 * GB300 194 to 212 (nvbandwidth). */
#define C2C_LEAST 0.65
#define C2C_MOST 0.95

/* Before the first byte of a copy (H200: 2.7), which shows in small ones: of yet
 * smaller ones it is most of the figure. */
#define FIRST_BYTE_US 3
#define EXPECTED_FROM ((uint64_t)4 << 20)
/* That many GPUs at most are wired to each other without a switch. */
#define DIRECT_MOST 5

int cs_gpu_of(const struct cs_row *row)
{
	return cs_endpoint_is_numa(&row->what.src) ? row->what.dst.index :
						     row->what.src.index;
}

int cs_is_near(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_endpoint *host = cs_endpoint_is_numa(&row->what.src) ?
					       &row->what.src :
					       &row->what.dst;

	return host->index == CS_NUMA_LOCAL ||
	       host->index == run->node[row->node].agent[cs_gpu_of(row)].numa;
}

int cs_own_concurrent(const struct cs_run *run, const struct cs_row *row)
{
	enum cs_pattern pattern = cs_row_test(row)->pattern;
	const struct cs_step *step = run->plan && row->step < run->plan->n_steps ?
					     cs_plan_step(run->plan, row->step) :
					     NULL;

	/* the steps of a file of another version may be in another order */
	if (step && cs_plan_matrix_at(run->plan, step->matrix)->test == row->test)
		return (int)step->count - 1;
	return pattern == CS_PATTERN_PAIR || pattern == CS_PATTERN_ALONE ? 0 :
	       pattern == CS_PATTERN_BIDI				 ? 1 :
					    row->concurrent;
}

int cs_on_nvlink(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;

	return agent[row->what.src.index].link.nvlinks_up > 0 &&
	       agent[row->what.dst.index].link.nvlinks_up > 0;
}

/* Without a switch the links of a GPU are divided among the others.  If no counter
 * shows which it is, the measured figure decides. */
static double divide(const struct cs_run *run, const struct cs_row *row,
		     const struct cs_link_facts *link, double peak)
{
	int others = run->node[row->node].facts.n_agents - 1;

	if (others < 2 || others >= DIRECT_MOST || link->nvlinks_max % others)
		return peak;
	return row->stats.median < peak / sqrt(others) ? peak / others : peak;
}

static const char *bus_id_of(const struct cs_run *run, const struct cs_row *row,
			     const struct cs_endpoint *end)
{
	return run->node[row->node].agent[end->index].gpu.bus_id;
}

/* The share of a GPU's live links that lead to the other end of a cell: all of them if
 * there is a switch.  NAN: unknown. */
static double share_between(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_gpu_record *gpu =
		cs_run_gpu(run, (int)row->node, bus_id_of(run, row, &row->what.src));
	const char *to = bus_id_of(run, row, &row->what.dst);
	const struct cs_nvlink_ends *ends = gpu ? &gpu->board.nvlink : NULL;
	int all = run->node[row->node].agent[row->what.src.index].link.nvlinks_up;

	if (!ends || ends->to_switch < 0)
		return NAN;
	if (ends->to_switch > 0)
		return 1;
	for (int i = 0; i < ends->n_gpus; i++)
		if (!strcmp(ends->gpu[i].bus_id, to))
			return (double)ends->gpu[i].links / all;
	return ends->to_other > 0 ? NAN : 0;
}

int cs_is_on_switch(const struct cs_run *run, int node, const char *bus_id)
{
	const struct cs_gpu_record *gpu = cs_run_gpu(run, node, bus_id);

	return gpu && gpu->board.nvlink.to_switch > 0;
}

/* On a switch the GPUs of a model are closer to each other than those of a generation:
 * H200 388 to 398 of 450 (nvbandwidth 0.8 and ours). */
#define LEAST_OF_H200 0.87

static int is_h200(const struct cs_agent_facts *agent)
{
	return !strcmp(agent->gpu.name, "NVIDIA H200");
}

static int expect_nvlink(const struct cs_run *run, const struct cs_row *row,
			 double *low, double *high)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	const struct cs_link_facts *a = &agent[row->what.src.index].link;
	const struct cs_link_facts *b = &agent[row->what.dst.index].link;
	double peak = cs_nvlink_peak_gbs(cs_lesser_link(a, b)), share;

	if (!cs_on_nvlink(run, row) || !isfinite(peak) || usual_share(a, low, high))
		return -1;
	share = share_between(run, row);
	if (share == 0)
		return -1; /* not wired to each other: through others, or the host */
	peak = isnan(share) ? divide(run, row, a, peak) :
			      fmin(peak, share * cs_nvlink_peak_gbs(a));
	if (share == 1 && is_h200(&agent[row->what.src.index]) &&
	    is_h200(&agent[row->what.dst.index]))
		*low = LEAST_OF_H200;
	*low *= peak;
	*high *= peak;
	return 0;
}

static double with_first_byte(double gbs, uint64_t bytes)
{
	double ns = (double)bytes / gbs + 1e3 * FIRST_BYTE_US;

	return (double)bytes / ns;
}

static int expect(const struct cs_run *run, const struct cs_row *row, double *low,
		  double *high)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_agent_facts *agent;
	double peak;

	if (test->unit != CS_UNIT_GBS || test->method != CS_METHOD_CE ||
	    test->backend != CS_BACKEND_CUDA || cs_own_concurrent(run, row) ||
	    row->what.bytes < EXPECTED_FROM)
		return -1;
	if (test->path == CS_PATH_PEER && !cs_via_crosses(row->via))
		return -1;
	if (test->path == CS_PATH_PEER)
		return expect_nvlink(run, row, low, high);
	if ((test->path != CS_PATH_H2D && test->path != CS_PATH_D2H) ||
	    test->memory == CS_MEM_PAGEABLE || !cs_is_near(run, row))
		return -1;
	agent = &run->node[row->node].agent[cs_gpu_of(row)];
	peak = cs_host_peak_gbs(agent);
	if (!isfinite(peak))
		return -1;
	*low = (agent->link.pcie_gen ? PCIE_LEAST : C2C_LEAST) * peak;
	*high = (agent->link.pcie_gen ? PCIE_MOST : C2C_MOST) * peak;
	return 0;
}

int cs_expected_gbs(const struct cs_run *run, const struct cs_row *row, double *low,
		    double *high)
{
	if (expect(run, row, low, high))
		return -1;
	*low = with_first_byte(*low, row->what.bytes);
	*high = with_first_byte(*high, row->what.bytes);
	return 0;
}

/* A copy within a GPU reads and writes: of the peak H200 87 %, A100 75 to 85, cards with
 * GDDR6 from 72 on.  Others have not been measured. */
#define MEMORY_LEAST 0.55

double cs_local_least_gbs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_gpu_facts *gpu =
		&run->node[row->node].agent[cs_gpu_of(row)].gpu;
	const struct cs_gpu_record *r = cs_run_gpu(run, (int)row->node, gpu->bus_id);

	if (test->path != CS_PATH_LOCAL || test->op != CS_OP_COPY ||
	    test->unit != CS_UNIT_GBS || test->method != CS_METHOD_CE ||
	    cs_own_concurrent(run, row) || row->what.bytes < EXPECTED_FROM ||
	    gpu->cc_major < 8 || gpu->cc_major > 9 || cs_is_mig(gpu->uuid) || !r ||
	    r->board.mem_mhz_max < 1 || gpu->memory_bus_bits < 1)
		return NAN;
	/* two transfers a clock, two bytes moved for each that is copied */
	return with_first_byte(MEMORY_LEAST * r->board.mem_mhz_max / 1e3 *
				       gpu->memory_bus_bits / 8,
			       row->what.bytes);
}
