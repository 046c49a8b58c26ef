#include "job/job.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hints.h"
#include "base/print.h"
#include "base/units.h"
#include "job/between.h"
#include "job/state.h"

#define TEAM_LIMIT_S 60.0    /* beyond the driver's own limit */
#define LOOK_BYTES (1u << 20) /* a buffer to be opened by others, never copied */
#define TURN_SAMPLES 1 /* of a turn, if placements are compared */
#define END_LIMIT_S 20.0 /* for all ranks to close; hung drivers are abandoned */
#define SHM_OF_A_RANK (4u << 20) /* Open MPI 4.1; UCX 1.13 */

int cs_job_is_root(const struct cs_job *job)
{
	return job->comm.rank == 0;
}

/* A coordinator that waits for others sends signs of life. */
int cs_job_waits(struct cs_job *job)
{
	if (job->collects)
		cs_collect_alive(&job->collect);
	return cs_job_signal(job);
}

/* ---- the driver and MPI ---- */

static int meanwhile(void *ctx)
{
	return cs_job_waits(ctx);
}

static int check_launcher(struct cs_job *job, struct cs_err *err)
{
	const struct cs_launcher *l = &job->launcher;

	if (l->tasks <= job->comm.size || job->args->mpi == 0)
		return 0;
	/* to MPI each task is rank 0; the launcher's rank 0 reports */
	if (l->rank > 0)
		job->comm.rank = l->rank;
	return cs_err_set(err, "%s started %d tasks but MPI connects %d: %s", l->name,
			  l->tasks, job->comm.size,
			  cs_hint_brief(strcmp(l->name, "srun") ?
						CS_HINT_LAUNCHER_MPI :
						CS_HINT_LAUNCHER_PMIX));
}

/* Warn before MPI_Init: without room MPI libraries end the process. */
static void warn_of_small_shm(const struct cs_launcher *l)
{
	uint64_t left = cs_shm_left();
	char size[24];

	if (l->rank > 0 || left >= 2 * SHM_OF_A_RANK)
		return;
	cs_size_text(left, size, sizeof(size));
	cs_print_line(stderr,
		      "cscope-mpi: /dev/shm has %s left, of which MPI takes some 4 MiB for each rank: %s",
		      size, cs_hint_brief(CS_HINT_DEV_SHM));
}

static void turn_off_gtl(const struct cs_launcher *l)
{
	char library[512];

	cs_comm_library(library, sizeof(library));
	if (cs_launcher_turn_off_gtl(library) && l->rank <= 0)
		cs_print_line(
			stderr,
			"cscope-mpi: MPICH_GPU_SUPPORT_ENABLED is 0 for this run: with 1, MPI_Init aborts without Cray's GTL library, and no message here is in a GPU's memory; link your own programs with a module craype-accel-* loaded");
}

static int refuse(const struct cs_job *job, struct cs_err *err)
{
	const struct cs_err *why = job->args->refusal;

	return why ? cs_err_set(err, "%s", why->text) : 0;
}

/* MPI starts first and alone: MPI libraries set environment variables while they
 * start, and a getenv of the driver in another thread then crashes (seen with Open
 * MPI 4.1 under srun). */
static int start_all(struct cs_job *job, struct cs_err *err)
{
	int use_mpi = job->args->mpi >= 0 ? job->args->mpi : job->launcher.present;

	job->comm.version = job->run->version;
	job->comm.commit = job->run->commit;
	job->comm.limit_s = TEAM_LIMIT_S + job->args->set.start_limit_s;
	job->comm.end_s = job->args->budget.close_s;
	job->comm.interrupted = meanwhile;
	job->comm.ctx = job;
	/* MPI_Init may abort without the launcher's data; check_launcher() reports
	 * it */
	if (!job->launcher.wired && job->args->mpi < 0)
		use_mpi = 0;
	if (use_mpi) {
		warn_of_small_shm(&job->launcher);
		turn_off_gtl(&job->launcher);
	}
	if (cs_comm_start(&job->comm, use_mpi, err) || check_launcher(job, err) ||
	    cs_comm_agree(&job->comm, refuse(job, err), err))
		return -1;
	job->discovery.args = job->args;
	job->discovery.comm = &job->comm;
	return cs_discovery_begin(&job->discovery, err);
}

/* ---- plan and board ---- */

static int build_plan(struct cs_job *job, int n_agents, struct cs_err *err)
{
	struct cs_plan_request req = { .n_agents = n_agents,
				       .vary = job->args->vary,
				       .set = job->args->set };
	struct cs_choices chosen;

	cs_settings_default(&req.set, job->discovery.backend == &cs_backend_cpu ?
					      CS_BACKEND_CPU :
					      CS_BACKEND_CUDA);
	if (job->args->check_only)
		req.set.copy_bytes = LOOK_BYTES;
	cs_settings_numa(&req.set, job->discovery.topo);
	req.set.placements = (uint32_t)job->placements.n;
	if (job->placements.n > 1)
		req.set.turn_samples = TURN_SAMPLES;
	if (job->args->plan)
		return job->args->plan(job->args->ctx, &req, &job->plan, err);
	chosen.n = 0;
	req.chosen = &chosen;
	if (job->args->choose(job->args->ctx, (enum cs_backend_kind)req.set.backend,
			      job->lone && !job->args->check_only, &chosen, err))
		return -1;
	req.set.numa |= cs_choices_numa(&chosen);
	if (req.set.filter[0] || cs_choices_name_cells(&chosen))
		req.set.gpus = cs_discovery_numbers(&job->discovery);
	return cs_plan_build(&req, &job->plan, err);
}

/* Rank 0: set the backend, for the head of the report. */
static void name_backend(struct cs_job *job)
{
	const struct cs_backend *backend = job->discovery.backend;

	job->run->backend = backend ? backend->name : "";
	job->run->stand_in = job->discovery.stand_in;
	job->run->virtual_clock = backend && backend->clock_is_virtual;
}

/* Rank 0 builds the plan for the largest node and sends it to all ranks. */
static int share_plan(struct cs_job *job, int most, struct cs_err *err)
{
	uint64_t bytes = 0;
	int rc = 0;

	if (job->comm.rank == 0) {
		rc = build_plan(job, most, err) ?
			   -1 :
			   cs_between_check(job, job->plan, err);
		bytes = rc ? 0 : job->plan->total_bytes;
		if (!job->args->check_only)
			job->run->plan = job->plan;
		name_backend(job);
		if (!rc && job->args->resume)
			rc = job->args->resume(job->args->ctx, err);
		if (rc > 0)
			job->resumed = CS_RESUMED_ALL;
		else if (!rc && job->run->resumes[0])
			job->resumed = CS_RESUMED_SOME;
		rc = rc < 0 ? rc : 0;
	}
	if (cs_comm_agree(&job->comm, rc, err) ||
	    cs_comm_broadcast(&job->comm, CS_COMM_JOB, 0, &bytes, sizeof(bytes), err))
		return -1;
	if (job->comm.rank != 0) {
		job->plan = malloc(bytes);
		if (!job->plan)
			return cs_err_set(err, "no memory");
	}
	if (cs_comm_broadcast(&job->comm, CS_COMM_JOB, 0, job->plan, bytes, err))
		return -1;
	return cs_comm_agree(&job->comm, cs_plan_validate(job->plan, bytes, err), err);
}

/* Make room on other ranks for as many elements of each part as rank 0 has. */
static int make_room(const struct cs_job *job, struct cs_vec *const *part,
		     const uint64_t *n, struct cs_err *err)
{
	for (int i = 0; i < CS_CRITERIA_PARTS; i++) {
		if (n[i] > INT_MAX / part[i]->element)
			return cs_err_set(
				err,
				"baselines of %.1f GB are more than MPI sends at once",
				1e-9 * (double)n[i] * (double)part[i]->element);
		if (job->comm.rank == 0)
			continue;
		part[i]->n = 0;
		if (n[i] && !cs_vec_add(part[i], n[i], err))
			return -1;
	}
	return 0;
}

/* Send the criteria to all nodes: each chooses by them which cells to re-measure. */
static int share_criteria(struct cs_job *job, struct cs_err *err)
{
	struct cs_vec *part[CS_CRITERIA_PARTS];
	uint64_t n[CS_CRITERIA_PARTS];
	int rc;

	if (job->comm.n_nodes == 1 || job->placements.n > 1 ||
	    job->resumed == CS_RESUMED_ALL || job->args->check_only)
		return 0;
	cs_criteria_parts(job->args->criteria, part);
	for (int i = 0; i < CS_CRITERIA_PARTS; i++)
		n[i] = part[i]->n;
	if (cs_comm_broadcast(&job->comm, CS_COMM_JOB, 0, n, sizeof(n), err))
		return -1;
	rc = cs_comm_agree(&job->comm, make_room(job, part, n, err), err);
	for (int i = 0; i < CS_CRITERIA_PARTS && !rc; i++)
		if (n[i])
			rc = cs_comm_broadcast(&job->comm, CS_COMM_JOB, 0,
					       part[i]->data, n[i] * part[i]->element,
					       err);
	return cs_comm_agree(&job->comm, rc, err);
}

/* Find the steps that are left, then open the outputs: no file is touched before all
 * ranks agree that this job may continue the journal. */
static int get_ready(struct cs_job *job, struct cs_err *err)
{
	int rc = 0;

	if (cs_resumed_share(&job->comm, &job->discovery,
			     job->placements.at[0].placement.name, job->plan,
			     job->run, &job->resumed, &job->done, err))
		return -1;
	if (job->comm.rank == 0)
		rc = job->args->ready(job->args->ctx, err);
	if (cs_comm_agree(&job->comm, rc, err))
		return -1;
	if (!job->args->check_only && job->resumed != CS_RESUMED_ALL &&
	    cs_comm_agree(&job->comm, cs_between_open(job, err), err))
		return -1;
	return share_criteria(job, err);
}

/* Waits spin through a whole sample if every waiting thread has a CPU to itself: a
 * sleeping CPU takes up to half a millisecond to wake (seen on H200 in a virtual
 * machine). Idle agents sleep all the same. */
static uint32_t spin_ns(const struct cs_job *job)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) < 2)
		return 0;
	return cpus >= 2L * job->discovery.n_agents + job->comm.local_size ? 10000000 :
									     0;
}

static int share_board(struct cs_job *job, struct cs_err *err)
{
	if (cs_placements_share_boards(&job->placements, &job->comm, &job->discovery,
				       job->plan, spin_ns(job), err))
		return -1;
	if (!job->coordinates)
		cs_process_open(job->placements.at[0].board.at->coordinator,
				&job->coordinator);
	return 0;
}

/* ---- waiting for the others ---- */

/* Ranks that coordinate nothing sleep until the board announces the end, but no
 * longer than the budget.  On a signal they give rank 0 time to save.  If their
 * coordinator died, they open the gate, and the launcher's signal will follow. */
static int sleep_until_end(struct cs_job *job)
{
	double leave_at = INFINITY;
	int orphan = 0;

	for (;;) {
		uint32_t end = cs_board_wait_end(job->placements.at[0].board.at, 50);

		if (end)
			return end == CS_STOP_GOOD ? 0 : -1;
		cs_helper_reap(job->placements.helper);
		cs_placements_make_hosts(&job->placements, &job->discovery);
		if (!orphan && cs_process_gone(&job->coordinator)) {
			orphan = 1;
			leave_at = fmin(leave_at, cs_clock_s() + TERM_S + GRACE_S);
			cs_placements_open_gates(&job->placements);
		}
		if (cs_job_is_spent(job)) {
			cs_placements_open_gates(&job->placements);
			cs_job_leave_after_root(job, CS_EXIT_CRITICAL);
		}
		if (cs_job_signal(job) && isinf(leave_at))
			leave_at = cs_clock_s() + GRACE_S;
		if (cs_clock_s() < leave_at)
			continue;
		if (!job->signal)
			_exit(CS_EXIT_CRITICAL);
		cs_job_leave(job);
	}
}

/* Rank 0 waits for the end of all nodes, other coordinators for rank 0's message. */
static int wait_nodes(struct cs_job *job)
{
	struct timespec nap = { 0, 1000000 };
	int state;

	for (;;) {
		cs_job_watch(job);
		state = job->comm.rank == 0 ? cs_collect_state(&job->collect) :
					      job->collect.end;
		if (state != CS_NODE_RUNS)
			return state;
		nanosleep(&nap, NULL);
	}
}

/* Set the node's facts for each of its placements. */
static int init_sides(struct cs_job *job, struct cs_err *err)
{
	int ranks = job->comm.local_size;

	for (int k = 0; k < job->collect.placements; k++) {
		struct cs_run_node *node = &job->placements.at[k].node;
		char name[CS_PLACEMENT];

		cs_text(name, sizeof(name), "%s", node->facts.placement);
		node->facts = job->facts;
		cs_text(node->facts.placement, CS_PLACEMENT, "%s", name);
		if (cs_node_make_agents(node, CS_MAX_AGENTS, err) ||
		    cs_node_make_gpus(node, CS_MAX_AGENTS, err) ||
		    cs_node_make_ranks(node, ranks, err))
			return -1;
	}
	return 0;
}

static int init_collect(struct cs_job *job, struct cs_err *err)
{
	struct cs_collect *c = &job->collect;
	size_t n = (size_t)job->comm.n_nodes;
	size_t all = n * (size_t)c->placements;

	c->comm = &job->comm;
	c->run = job->run;
	c->hooks = &job->args->collect;
	c->remeasure = (struct cs_vec)CS_VEC(uint32_t);
	c->rank_of_node = calloc(n, sizeof(*c->rank_of_node));
	c->heard_s = calloc(n, sizeof(*c->heard_s));
	c->ended = calloc(n, 1);
	job->run->node = calloc(all, sizeof(*job->run->node));
	if (!c->rank_of_node || !c->heard_s || !c->ended || !job->run->node)
		return cs_err_set(err, "no memory");
	for (size_t i = 0; i < n; i++)
		c->rank_of_node[i] = cs_comm_lowest_rank(&job->comm, (int)i);
	for (size_t i = 0; i < all; i++)
		cs_node_facts_init(&job->run->node[i].facts);
	job->collects = job->coordinates;
	return init_sides(job, err);
}

/* Start agents; share plan and board.  A run without samples has nothing to open
 * unless some node has two agents. */
static int prepare(struct cs_job *job, struct cs_err *err)
{
	long is[2] = { job->discovery.n_agents, job->discovery.n_agents == 1 };
	int rc = 0, most;

	if (cs_comm_max(&job->comm, is, 2, err))
		return -1;
	most = (int)is[0];
	job->lone = is[1] != 0;
	if (job->args->check_only && most < 2) {
		job->boardless = 1;
		return 0;
	}
	/* nodes with one GPU take part beside larger nodes */
	if (most == 1 && job->placements.n > 1)
		return cs_err_set(err,
				  "--placement: all are the same on nodes with 1 GPU");
	if (job->placements.native >= 0)
		rc = cs_discovery_start(&job->discovery, err);
	if (cs_comm_agree(&job->comm, rc, err) || share_plan(job, most, err) ||
	    get_ready(job, err) || share_board(job, err))
		return -1;
	job->opened = 1;
	return 0;
}

/* Nothing is opened and nothing measured: send only the node's facts to rank 0.  `why`:
 * the reason why nothing can be opened; "": no node has two GPUs. */
static int send_facts(struct cs_job *job, const struct cs_err *why, struct cs_err *err)
{
	struct cs_run_node *node = &job->placements.at[0].node;
	int rc = 0;

	if (job->comm.rank == 0) {
		name_backend(job);
		rc = job->args->ready(job->args->ctx, err);
	}
	job->boardless = 1;
	if (cs_comm_agree(&job->comm, rc, err))
		return -1;
	if (job->comm.rank == 0 && why->text[0]) {
		struct cs_finding f = CS_FOUND(CS_CRITICAL, -1,
					       CS_FINDING_CANNOT_TEST);

		cs_text(f.text, sizeof(f.text), "%s", why->text);
		cs_finding_add(&job->run->findings, &f, err);
	}
	if (!job->coordinates)
		return 0;
	cs_discovery_facts(&job->discovery, node);
	node->facts.n_agents = 0;
	cs_collect_node(&job->collect, cs_collect_index(&job->collect, 0), node);
	cs_collect_done(&job->collect, CS_NODE_COMPLETE);
	return 0;
}

/* Report a driver that took the whole budget, before agents seem to hang. */
static int in_time(struct cs_job *job, struct cs_err *err)
{
	const char *why = cs_discovery_complaint(&job->discovery);
	int rc = 0;

	if (!(job->args->budget.seconds > 0))
		return 0;
	if (cs_clock_s() > job->args->budget.start_s)
		rc = cs_err_set(err,
				"the budget of %g s was spent before the first cell%s%s",
				job->args->budget.seconds, *why ? ": " : "", why);
	return cs_comm_agree(&job->comm, rc, err);
}

static int measure(struct cs_job *job, struct cs_err *err)
{
	struct cs_node_facts *facts = &job->facts;
	struct cs_err why = { "" };
	int state;

	if (cs_placements_start_helper(&job->placements, &job->args->placements, err) ||
	    start_all(job, err))
		return CS_EXIT_CANNOT;
	cs_node_facts_init(facts);
	cs_topo_node(job->discovery.topo, facts);
	cs_limits_node(job->discovery.root, facts);
	cs_topo_cards(job->discovery.topo, job->discovery.root, facts);
	cs_text(job->discovery.host, CS_HOST, "%s", facts->host);
	if (cs_discovery_meet(&job->discovery, &why) &&
	    (!job->args->check_only || !job->discovery.records ||
	     job->discovery.no_sign)) {
		*err = why;
		return job->discovery.no_sign ? CS_EXIT_UNABLE : CS_EXIT_CANNOT;
	}
	if (in_time(job, err))
		return CS_EXIT_CANNOT;
	job->coordinates = job->comm.local_rank == 0;
	if (job->coordinates)
		cs_starter_cards(job->discovery.starter, job->discovery.root, facts);
	job->run->n_ranks = job->comm.size;
	/* without agents there is nothing to divide */
	job->collect.placements = job->args->placements.n && !why.text[0] ?
					  job->args->placements.n :
					  1;
	job->run->n_nodes = job->comm.n_nodes * job->collect.placements;
	if (!why.text[0] &&
	    cs_comm_agree(&job->comm,
			  cs_placements_find(&job->placements, &job->args->placements,
					     &job->discovery, err),
			  err))
		return CS_EXIT_CANNOT;
	if (cs_comm_agree(&job->comm, init_collect(job, err), err) ||
	    (!why.text[0] && prepare(job, err)))
		return CS_EXIT_CANNOT;
	if (!job->opened && send_facts(job, &why, err))
		return CS_EXIT_CANNOT;
	if (!job->coordinates)
		return CS_EXIT_OK;
	if (job->opened)
		cs_job_run_plan(job);
	if (job->comm.rank != 0)
		return CS_EXIT_OK;
	state = wait_nodes(job);
	cs_collect_report_lost(&job->collect, -1);
	job->run->complete = state == CS_NODE_COMPLETE;
	return job->run->complete ? CS_EXIT_OK : CS_EXIT_CRITICAL;
}

int cs_job_measure(const struct cs_job_args *args, int signal_fd, struct cs_run *run,
		   struct cs_job **out, struct cs_err *err)
{
	struct cs_job *job = calloc(1, sizeof(*job));
	int status;

	if (!job) {
		cs_err_set(err, "no memory");
		return CS_EXIT_CANNOT;
	}
	job->args = args;
	job->run = run;
	job->signal_fd = signal_fd;
	job->coordinator.fd = -1;
	cs_rows_init(&job->own_rows);
	job->began_s = cs_clock_s();
	cs_launcher_detect(&job->launcher);
	cs_text(run->launcher, sizeof(run->launcher), "%s", job->launcher.name);
	cs_text(run->job_id, sizeof(run->job_id), "%s", job->launcher.job_id);
	*out = job;
	status = measure(job, err);
	if (job->signal)
		cs_job_leave_on_signal(job);
	return status;
}

/* ---- the end ---- */

/* -1: a library call hangs and still uses its memory. */
static int free_job(struct cs_job *job)
{
	if (cs_discovery_release(&job->discovery))
		return -1;
	cs_placements_release(&job->placements);
	free(job->plan);
	free(job->done);
	free(job->collect.rank_of_node);
	free(job->collect.heard_s);
	free(job->collect.ended);
	cs_vec_release(&job->collect.remeasure);
	cs_process_close(&job->coordinator);
	cs_rows_release(&job->own_rows);
	free(job);
	return 0;
}

/* Leave: all ranks agreed that nothing can be measured.  Agents may hang, so they
 * are not joined. */
static void leave_before_start(struct cs_job *job, int status)
{
	job->comm.loads = cs_discovery_loads(&job->discovery);
	cs_comm_leave(&job->comm, &status);
	cs_job_leave_after_root(job, status);
}

/* Returns the number of agents that died or hang while closing with another fault than
 * *first, the first such fault. */
static int faults_closing(const struct cs_coordinator *co, enum cs_agent_state state,
			  const char **first)
{
	int n = 0;

	for (int i = 0; i < co->n; i++) {
		if (co->state[i] != state)
			continue;
		if (!*first)
			*first = co->fault[i];
		n += strcmp(co->fault[i], *first) != 0;
	}
	return n;
}

/* Close the agents. The results are out, but agents that die now are reported, in one
 * line, because a process may have several. An agent that only hangs in the driver is
 * abandoned, which is reported unless a budget gave it less time. */
static int dismiss(struct cs_job *job)
{
	const char *died = NULL, *hangs = NULL;
	char more[32] = "";
	int others = 0;

	for (int k = 0; k < job->placements.n; k++) {
		cs_coordinator_dismiss(&job->placements.at[k].co);
		others += faults_closing(&job->placements.at[k].co, CS_AGENT_LOST,
					 &died);
		faults_closing(&job->placements.at[k].co, CS_AGENT_BROKEN, &hangs);
	}
	if (others)
		cs_text(more, sizeof(more), " (and %d more)", others);
	if (died)
		cs_print_line(stderr,
			      "cscope-mpi: critical: %s%s while closing; all results are written (exit %d)",
			      died, more, CS_EXIT_CRITICAL);
	else if (hangs && !(job->args->budget.seconds > 0))
		cs_print_line(stderr,
			      "cscope-mpi: warning: %s; all results are written",
			      hangs);
	return died != NULL;
}

static int wait_for_root(struct cs_job *job)
{
	int state = wait_nodes(job);

	if (state == CS_NODE_SILENT && cs_job_is_spent(job))
		cs_print_line(
			stderr,
			"cscope-mpi: no message from rank 0 until the budget was over");
	else if (state == CS_NODE_SILENT)
		cs_print_line(stderr, "cscope-mpi: no message from rank 0 for %.0f s",
			      ROOT_SILENCE_S);
	return state;
}

/* End before the supervisor does. */
static double end_limit(const struct cs_job *job)
{
	const struct cs_budget *budget = &job->args->budget;

	return cs_within(END_LIMIT_S, budget->end_s + budget->grace_s / 4);
}

/* Leave without ranks that are missing at the end. */
static void leave_without(struct cs_job *job, const struct cs_err *err)
{
	if (job->comm.rank == 0)
		cs_print_line(stderr,
			      "cscope-mpi: critical: while closing: %s; all results are written (exit %d)",
			      err->text, CS_EXIT_CRITICAL);
	cs_job_leave_after_root(job, CS_EXIT_CRITICAL);
}

void cs_job_end(struct cs_job *job, int status, int in_use)
{
	int state = CS_NODE_EARLY, hung;
	struct cs_err err = { "" };

	if (job->signal)
		cs_job_leave(job);
	if (!job->opened && !job->boardless)
		leave_before_start(job, status);
	if (job->comm.rank == 0) {
		state = cs_collect_state(&job->collect);
		cs_collect_end(&job->collect, state);
	} else if (job->coordinates) {
		state = wait_for_root(job);
		if (state != CS_NODE_COMPLETE)
			status = CS_EXIT_CRITICAL;
	}
	job->collects = 0;
	if (job->boardless) {
		if (job->coordinates && state != CS_NODE_COMPLETE)
			cs_job_leave_after_root(job, CS_EXIT_CRITICAL);
		/* no rank ends before rank 0 has reported */
		if (cs_comm_agree(&job->comm, 0, &err))
			cs_job_leave_after_root(job, status);
	} else if (job->coordinates) {
		int good = state == CS_NODE_COMPLETE && !job->lost;

		if (good && dismiss(job)) {
			good = 0;
			status = CS_EXIT_CRITICAL;
		}
		cs_placements_open_gates(&job->placements);
		cs_placements_end(&job->placements,
				  good ? CS_STOP_GOOD : CS_STOP_QUIT);
		if (!good)
			cs_job_leave_after_root(job, status);
	} else if (sleep_until_end(job)) {
		cs_job_leave_after_root(job, CS_EXIT_CRITICAL);
	}
	hung = cs_discovery_dismiss(&job->discovery);
	job->comm.loads = cs_discovery_loads(&job->discovery);
	if (cs_comm_end(&job->comm, end_limit(job), &err))
		leave_without(job, &err);
	/* an agent, or a thread of the caller, still uses the memory */
	if (hung || in_use || free_job(job))
		_exit(status);
}
