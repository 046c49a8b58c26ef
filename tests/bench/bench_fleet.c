/* bench_fleet.c - all that `cscope-mpi check` does with the rows of a fleet, once they
 * are read: put together, judged by every check and against a baseline, told; in
 * seconds of one CPU, and how much memory at most.
 *
 *	bench_fleet [NODES [GPUS]]		rows made here, as files have them;
 *						1000, 3000 and 10000 nodes of 8
 *	bench_fleet -j FOLDER [NODES [GPUS]]	the same as journals, written and read
 *						back; also to be timed with
 *						cscope-mpi check FOLDER/n00000.jsonl ...
 *
 * Four matrices a node; one node in 500 has an NVLink down, one in 300 another
 * kernel, one in 1000 a GPU that is slow. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "check/bounds/baseline.h"
#include "check/verdict/check.h"
#include "file/load.h"
#include "plan/choose.h"
#include "report/report.h"
#include "result/merge.h"

#define TESTS "peer.ce.write.pair,peer.ce.write.bidi,peer.ce.read.pair,peer.ce.read.bidi"

/* Of the CPU: other work on the machine does not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_fleet: %s\n", what);
	exit(1);
}

static void make_gpu(struct cs_run_node *nd, int node, int i, int gpus)
{
	struct cs_agent_facts *a = &nd->agent[i];
	struct cs_gpu_record *s = &nd->gpu_record[i];

	cs_agent_facts_init(a);
	cs_gpu_record_init(s);
	a->index = i;
	a->rank = a->local_rank = 0;
	a->bound = 1;
	a->numa = i >= gpus / 2;
	cs_text(a->label, sizeof(a->label), "%d", i);
	cs_text(a->numa_source, sizeof(a->numa_source), "hwloc");
	cs_text(a->gpu.name, sizeof(a->gpu.name), "NVIDIA H200");
	cs_text(a->gpu.bus_id, sizeof(a->gpu.bus_id), "0000:%02x:00.0", 16 + i);
	cs_text(a->gpu.uuid, sizeof(a->gpu.uuid), "GPU-%08x-%d", node, i);
	a->link = (struct cs_link_facts){ 18, 18, 4, 26.562, "", 5, 16, 5, 16 };
	if (node % 500 == 7 && i == 3)
		a->link.nvlinks_up = 17;
	memcpy(s->bus_id, a->gpu.bus_id, sizeof(s->bus_id));
	memcpy(s->uuid, a->gpu.uuid, sizeof(s->uuid));
	memcpy(s->name, a->gpu.name, sizeof(s->name));
	s->on_bus = 1;
	s->nvml = 0;
	s->ranks = 1;
	s->persistence = 1;
}

static void make_node(struct cs_run_node *nd, int node, int gpus)
{
	struct cs_node_facts *f = &nd->facts;

	cs_node_facts_init(f);
	cs_text(f->host, sizeof(f->host), "n%05d", node);
	cs_text(f->product, sizeof(f->product), "DGXH200");
	cs_text(f->kernel, sizeof(f->kernel), node % 300 == 9 ? "6.5.0" : "6.8.0");
	cs_text(f->driver, sizeof(f->driver), "580.159.03");
	f->n_cpus = 192;
	f->n_numa = 2;
	f->n_ranks = 1;
	f->n_agents = f->n_known_gpus = gpus;
	if (cs_node_make_agents(nd, gpus, NULL) || cs_node_make_gpus(nd, gpus, NULL))
		die("no memory");
	for (int i = 0; i < gpus; i++)
		make_gpu(nd, node, i, gpus);
	if (cs_node_make_ways(nd, NULL) || cs_node_make_ranks(nd, 1, NULL))
		die("no memory");
	nd->ranks->n_gpus = gpus;
	nd->ranks->sees = ((uint64_t)1 << gpus) - 1;
	nd->ranks->nofile = nd->ranks->memlock_bytes = INT64_MAX;
	nd->ranks->n_cpus = 192;
	cs_text(nd->ranks->cpus, sizeof(nd->ranks->cpus), "0-191");
	for (int i = 0; i < gpus; i++)
		for (int k = 0; k < gpus; k++)
			if (i != k)
				nd->ways[i * gpus + k].via = CS_VIA_PEER;
}

/* Healthy but for GPU 5 of one node in 1000. */
static double rate_of(int node, const struct cs_transfer *what, struct cs_rng *rng)
{
	int slow = node % 1000 == 17 && (what->src.index == 5 || what->dst.index == 5);

	return (slow ? 0.9 : 1) * 396.3 *
	       (1 + 0.001 * ((double)cs_rng_below(rng, 1000) / 1000 - 0.5));
}

static void make_rows(struct cs_run *run, int node, struct cs_rng *rng)
{
	const struct cs_plan *plan = run->plan;
	struct cs_err err;

	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		for (uint32_t k = 0; k < step->count; k++) {
			double x[8];
			struct cs_row row = {
				.step = s,
				.test = cs_plan_matrix_at(plan, step->matrix)->test,
				.what = *cs_plan_transfer(plan, step, k),
				.via = CS_VIA_PEER,
				.concurrent = (uint8_t)(step->count - 1),
				.flags = step->flags & CS_STEP_CONTROL ?
						 CS_ROW_CONTROL :
						 0,
				.copies = 4,
				.checked = 9,
				.n_samples = 8,
				.overlap = step->count > 1 ? 0.99 : NAN,
				.seconds = 0.01,
			};

			for (int i = 0; i < 8; i++)
				x[i] = rate_of(node, &row.what, rng);
			cs_stats_of(x, 8, &row.stats);
			if (cs_rows_add(&run->rows, &row, x, &err))
				die(err.text);
		}
	}
}

/* One node's run, as a file of it would hold it. */
static void make_run(struct cs_run *run, const struct cs_plan *plan, int node,
		     int gpus)
{
	static char *argv[] = { (char *)"cscope-mpi", NULL };
	struct cs_rng rng;

	rng.state = (uint64_t)node + 1;
	*run = (struct cs_run){
		.version = PACKAGE_VERSION,
		.commit = "",
		.build = "",
		.argc = 1,
		.argv = argv,
		.backend = "cuda",
		.matrix_text = "--matrix peer",
		.launcher = "none",
		.n_ranks = 1,
		.n_nodes = 1,
		.plan = plan,
		.complete = 1,
		.margin = 0.01,
		.started.tv_sec = 1795183391,
		.timings = { NAN, NAN, NAN, NAN, NAN },
	};
	cs_text(run->id, sizeof(run->id), "run-%d", node);
	run->node = calloc(1, sizeof(*run->node));
	if (!run->node)
		die("no memory");
	cs_rows_init(&run->rows);
	run->findings = (struct cs_vec)CS_VEC(struct cs_finding);
	make_node(run->node, node, gpus);
	make_rows(run, node, &rng);
}

static void release_run(struct cs_run *run)
{
	cs_run_release_nodes(run);
	cs_rows_release(&run->rows);
	cs_vec_release(&run->findings);
}

static struct cs_plan *make_plan(int gpus)
{
	struct cs_plan_request request = { .n_agents = gpus };
	struct cs_plan *plan = NULL;
	struct cs_err err;
	struct cs_choices chosen = { .n = 0 };

	request.chosen = &chosen;
	request.set = (struct cs_settings){
		.copy_bytes = 512u << 20,
		.seed = 1,
		.precision = 0.005,
		.cell_limit_s = 2,
		.start_limit_s = 30,
		.backend = CS_BACKEND_CUDA,
	};
	if (cs_tests_choose(TESTS, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen, &err) ||
	    cs_plan_build(&request, &plan, &err))
		die(err.text);
	return plan;
}

static size_t write_journal(const char *path, const struct cs_run *run)
{
	const struct cs_view_options matrix = { 0 };
	FILE *to = fopen(path, "w");
	long size = -1;

	if (to && !cs_format_write(cs_format_by_name("jsonl"), to, run, &matrix))
		size = ftell(to);
	if (size < 0 || fclose(to))
		die(path);
	return (size_t)size;
}

static size_t read_journal(const char *path)
{
	struct cs_loaded loaded;
	struct cs_err err;
	size_t rows;

	if (cs_loaded_read(path, &loaded, &err))
		die(err.text);
	rows = cs_rows_count(&loaded.run.rows);
	cs_loaded_release(&loaded);
	return rows;
}

static void journals(const char *folder, const struct cs_plan *plan, int nodes,
		     int gpus)
{
	double began, written = 0, read = 0;
	size_t bytes = 0, rows = 0;
	struct cs_run run;
	char path[512];

	mkdir(folder, 0777);
	puts("nodes     rows  MB/all  write/s  us/row  read/s  us/row");
	for (int i = 0; i < nodes; i++) {
		make_run(&run, plan, i, gpus);
		cs_text(path, sizeof(path), "%s/n%05d.jsonl", folder, i);
		began = now();
		bytes += write_journal(path, &run);
		written += now() - began;
		release_run(&run);
		began = now();
		rows += read_journal(path);
		read += now() - began;
	}
	printf("%5d  %7zu  %6.1f  %7.2f  %6.1f  %6.2f  %6.1f\n", nodes, rows,
	       (double)bytes / 1e6, written, 1e6 * written / (double)rows, read,
	       1e6 * read / (double)rows);
}

static void put_together(struct cs_merge *merge, const struct cs_plan *plan,
			 int first, int nodes, int gpus, double *took)
{
	struct cs_run run;
	double began;

	cs_merge_init(merge, nodes);
	for (int i = 0; i < nodes; i++) {
		make_run(&run, plan, first + i, gpus);
		began = now();
		cs_merge_add(merge, &run);
		*took += now() - began;
		release_run(&run);
	}
	began = now();
	cs_merge_end(merge);
	*took += now() - began;
}

/* From nodes that are all well. */
static void learn(struct cs_baseline *baseline, const struct cs_plan *plan, int gpus)
{
	const struct cs_run *run;
	struct cs_merge merge;
	struct cs_err err;
	double took = 0;
	size_t which;

	put_together(&merge, plan, 100, 16, gpus, &took);
	run = &merge.run;
	if (cs_baseline_learn(&run, 1, baseline, &which, &err))
		die(err.text);
	cs_merge_release(&merge);
}

struct fleet {
	const struct cs_plan *plan;
	int nodes, gpus;
};

/* In the work of an arena. */
static int judge(void *of)
{
	const struct fleet *fleet = of;
	const struct cs_view_options matrix = { 0 };
	FILE *to = fopen("/dev/null", "w");
	double merged = 0, began, judged, told;
	struct cs_baseline baseline;
	struct cs_merge merge;
	struct cs_err err;

	cs_baseline_init(&baseline);
	learn(&baseline, fleet->plan, fleet->gpus);
	put_together(&merge, fleet->plan, 0, fleet->nodes, fleet->gpus, &merged);
	merge.run.checks = cs_checks_all();
	merge.run.baseline = &baseline;
	began = now();
	if (cs_check_run(&merge.run, &err))
		die(err.text);
	cs_run_sort_findings(&merge.run);
	merge.run.exit_status = cs_run_exit(&merge.run);
	judged = now() - began;
	began = now();
	if (!to || cs_format_write(cs_format_by_name("text"), to, &merge.run, &matrix))
		die("cannot print");
	told = now() - began;
	printf("%5d  %7zu  %12.2f  %6.2f  %4.2f  %5.2f  %4.0f  %8zu\n", fleet->nodes,
	       cs_rows_count(&merge.run.rows), merged, judged, told,
	       merged + judged + told, peak_mib(), merge.run.findings.n);
	fclose(to);
	cs_merge_release(&merge);
	cs_baseline_release(&baseline);
	return 0;
}

/* In a process of its own: the memory of each is its own. */
static void judge_apart(const struct cs_plan *plan, int nodes, int gpus)
{
	struct fleet fleet = { plan, nodes, gpus };
	pid_t pid = fork();
	int status = 1;

	if (!pid)
		exit(cs_arena_run(judge, &fleet, NULL) != 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("no measurement");
}

int main(int argc, char **argv)
{
	static const int usual[] = { 1000, 3000, 10000 };
	const char *folder = argc > 2 && !strcmp(argv[1], "-j") ? argv[2] : NULL;
	int first = folder ? 3 : 1;
	int nodes = argc > first ? atoi(argv[first]) : 0;
	int gpus = argc > first + 1 ? atoi(argv[first + 1]) : 8;
	struct cs_plan *plan;

	if (nodes < (argc > first) || gpus < 1 || gpus >= CS_MAX_AGENTS)
		die("usage: bench_fleet [-j FOLDER] [NODES [GPUS]]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	plan = make_plan(gpus);
	if (folder) {
		journals(folder, plan, nodes ? nodes : 1000, gpus);
	} else {
		puts("nodes     rows  put-together  judged  told  all/s   MiB  findings");
		for (size_t i = 0; i < 3; i++)
			if (!nodes || !i)
				judge_apart(plan, nodes ? nodes : usual[i], gpus);
	}
	free(plan);
	return 0;
}
