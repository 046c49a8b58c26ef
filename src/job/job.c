#include "config.h"

#include "job/job.h"

#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "job/assign.h"
#include "job/signals.h"
#include "job/team.h"
#include "node/coordinator.h"

#define TEAM_LIMIT_S 60.0	/* beyond the driver's own limit */
#define SILENCE_LIMIT_S 60.0	/* a node without a word is given up */
#define JOIN_LIMIT_S 2.0
#define GRACE_S 0.8		/* mpirun kills about 1 s after its SIGTERM */

/* What a rank tells the other ranks of its node. */
struct card {
	struct cs_rank_view view;
	int local_rank;
	int64_t pid;
	int version;		/* CUDA of the driver; 0 unknown */
	double start_s;
	struct cs_err driver;	/* why there is no device; "" */
	char sign[120];		/* that there is a GPU on this node; "" */
};

/* What attaches a process to its node's board. */
struct board_key {
	int64_t pid;
	int32_t fd, failed;
};

struct cs_job {
	const struct cs_job_args *args;
	struct cs_run *run;
	struct cs_team team;
	struct cs_launcher launcher;
	struct cs_starter *starter;
	struct cs_topo *topo;
	const struct cs_backend *backend;
	int stand_in;
	struct card *cards;	/* local_size */
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];	/* of the node, bus-id order */
	char chosen[CS_MAX_AGENTS];
	int owner[CS_MAX_AGENTS];		/* local rank; -1 not used */
	int n_gpus, n_agents;			/* all; chosen */
	struct cs_agent *agent[CS_MAX_AGENTS];	/* of this process */
	int n_mine;
	struct cs_plan *plan;
	struct cs_board_map board;
	struct cs_coordinator_hooks hooks;
	struct cs_coordinator co;
	struct cs_collect collect;
	struct cs_run_node facts;		/* of this node */
	int coordinates, opened, lost;
	int signal_fd, signal, coordinator_fd;
	double began_s;
};

void cs_settings_default(struct cs_settings *set, enum cs_backend_kind backend)
{
	int cpu = backend == CS_BACKEND_CPU;

	set->backend = backend;
	if (!set->copy_bytes)
		set->copy_bytes = cpu ? 64u << 20 : 512u << 20;
	/* CPU copies share caches and memory with everything else that runs */
	if (!(set->precision > 0))
		set->precision = cpu ? 0.02 : 0.005;
	if (!(set->cell_limit_s > 0))
		set->cell_limit_s = cpu ? 0.25 : 2.0;
}

int cs_job_is_root(const struct cs_job *job)
{
	return job->team.rank == 0;
}

/* ---- signals ---- */

/* A signal to end?  Remembers it. */
static int signalled(void *ctx)
{
	struct cs_job *job = ctx;
	int got = cs_signals_next(job->signal_fd);

	if (got == SIGUSR1 && job->team.rank == 0)
		job->args->show(job->args->ctx);
	else if (got && got != SIGUSR1)
		job->signal = got;
	return job->signal;
}

static void leave(struct cs_job *job)
{
	if (job->board.at) {
		cs_gate_release(job->board.at);
		cs_board_end(job->board.at, CS_END_QUIT);
	}
	_exit(128 + job->signal);
}

/* Rank 0 first saves what there is, then lets go; the others give it time. */
static void leave_on_signal(struct cs_job *job)
{
	struct timespec grace = { 0, (long)(GRACE_S * 1e9) };

	if (!job->signal)
		return;
	if (job->team.rank == 0)
		job->args->interrupted(job->args->ctx, job->signal);
	else if (job->coordinates)
		nanosleep(&grace, NULL);
	leave(job);
}

/* ---- the driver and MPI ---- */

static int check_launcher(struct cs_job *job, struct cs_err *err)
{
	const struct cs_launcher *l = &job->launcher;

	if (l->tasks <= job->team.size || job->args->mpi == 0)
		return 0;
	/* to MPI each is rank 0: the launcher's number tells who speaks */
	if (l->rank > 0)
		job->team.rank = l->rank;
	return cs_err_set(err,
		"%s started %d tasks but MPI connects %d: use '%s', or '--no-mpi' for independent processes",
		l->name, l->tasks, job->team.size,
		strcmp(l->name, "srun") ? "the launcher of the MPI library this program was built with" :
					  "srun --mpi=pmix");
}

static int start_all(struct cs_job *job, struct cs_err *err)
{
	int wants_gpu = job->args->backend != CS_WANT_CPU;
	int use_mpi = job->args->mpi >= 0 ? job->args->mpi :
					    job->launcher.present;

	/* first: it sets environment variables, and that allows no other thread */
	if (cs_topo_open(NULL, &job->topo, err) ||
	    cs_starter_begin(wants_gpu ? cs_backend_cuda : NULL, wants_gpu,
			     &job->starter, err))
		return -1;
	job->team.limit_s = TEAM_LIMIT_S + job->args->set.start_limit_s;
	job->team.interrupted = signalled;
	job->team.ctx = job;
	if (cs_team_start(&job->team, use_mpi, err))
		return -1;
	return check_launcher(job, err);
}

/* ---- who is here, and what does each see ---- */

static void fill_card(struct cs_job *job, struct card *card)
{
	const char *mask = getenv("CUDA_VISIBLE_DEVICES");

	memset(card, 0, sizeof(*card));
	card->local_rank = job->team.local_rank;
	card->pid = getpid();
	card->view.rank = job->team.rank;
	card->view.masked = mask && *mask;
	cs_gpu_sign(job->topo, card->sign, sizeof(card->sign));
	if (job->args->backend == CS_WANT_CPU)
		return;
	if (!cs_backend_cuda)
		cs_err_set(&card->driver,
			   "this program was built without CUDA");
	else
		cs_starter_devices(job->starter, job->args->set.start_limit_s,
				   card->view.gpu, CS_MAX_AGENTS, &card->view.n,
				   &card->version, &card->start_s, &card->driver);
	/* a driver that fails in any other way is a sign as well */
	if (card->driver.text[0] && cs_backend_cuda &&
	    !cs_backend_cuda->absent && !card->sign[0])
		cs_text(card->sign, sizeof(card->sign), "there is a driver");
}

static const struct card *first_card(const struct cs_job *job,
				     int (*is)(const struct card *))
{
	for (int r = 0; r < job->team.local_size; r++)
		if (is(&job->cards[r]))
			return &job->cards[r];
	return NULL;
}

static int sees_gpu(const struct card *card)
{
	return card->view.n > 0;
}

static int has_sign(const struct card *card)
{
	return card->sign[0] != '\0';
}

static int has_reason(const struct card *card)
{
	return card->driver.text[0] != '\0';
}

/* One backend for the whole job.  A GPU that is there and unusable is an error,
 * never replaced by host memory. */
static int choose_backend(struct cs_job *job, struct cs_err *err)
{
	const struct card *gpu = first_card(job, sees_gpu);
	const struct card *sign = first_card(job, has_sign);
	const struct card *why = first_card(job, has_reason);
	enum cs_want want = job->args->backend;
	long any[3] = { gpu != NULL, !gpu && sign, !gpu };
	int rc = 0;

	if (want == CS_WANT_CPU) {
		job->backend = &cs_backend_cpu;
		return 0;
	}
	if (cs_team_max(&job->team, any, 3, err))
		return -1;
	if (!gpu && sign)
		rc = cs_err_set(err, "no usable GPU on '%s' (%s): %s",
				job->facts.facts.host, sign->sign,
				why ? why->driver.text :
				      "the driver shows no device");
	else if (!gpu && (any[0] || want == CS_WANT_CUDA))
		rc = cs_err_set(err, "no GPU on '%s'%s%s", job->facts.facts.host,
				why ? ": " : "", why ? why->driver.text : "");
	if (cs_team_agree(&job->team, rc, err))
		return -1;
	job->backend = any[0] ? cs_backend_cuda : &cs_backend_cpu;
	job->stand_in = !any[0];
	return 0;
}

/* Arenas are made, not found: as many as ranks, at least two, or as asked. */
static int make_arenas(struct cs_job *job)
{
	int asked = cs_gpu_list_count(&job->args->gpus);
	int n = asked ? asked : job->team.local_size;

	if (!asked && n < 2)
		n = 2;
	if (n > CS_MAX_AGENTS)
		n = CS_MAX_AGENTS;
	for (int g = 0; g < n; g++) {
		cs_gpu_facts_init(&job->gpu[g]);
		cs_text(job->gpu[g].name, CS_NAME, "host memory");
		job->chosen[g] = 1;
		job->owner[g] = g * (job->team.local_size < n ?
					     job->team.local_size : n) / n;
	}
	job->n_gpus = n;
	return 0;
}

static int find_gpus(struct cs_job *job, struct cs_err *err)
{
	struct cs_rank_view *view;
	int rc;

	if (job->backend == &cs_backend_cpu)
		return make_arenas(job);
	view = calloc((size_t)job->team.local_size, sizeof(*view));
	if (!view)
		return cs_err_set(err, "no memory");
	for (int r = 0; r < job->team.local_size; r++)
		view[r] = job->cards[r].view;
	job->n_gpus = cs_gpus_union(view, job->team.local_size, job->gpu);
	rc = cs_gpu_list_select(&job->args->gpus, job->gpu, job->n_gpus,
				job->chosen, err);
	if (!rc)
		rc = cs_gpus_assign(view, job->team.local_size, job->gpu,
				    job->chosen, job->n_gpus, job->owner, err);
	free(view);
	return rc;
}

static int meet(struct cs_job *job, struct cs_err *err)
{
	struct card *mine = calloc(1, sizeof(*mine));
	int rc = -1;

	if (cs_team_split(&job->team, err))
		goto out;
	job->coordinates = job->team.local_rank == 0;
	job->cards = calloc((size_t)job->team.local_size, sizeof(*job->cards));
	if (!mine || !job->cards) {
		cs_err_set(err, "no memory");
		goto out;
	}
	fill_card(job, mine);
	if (cs_team_share(&job->team, mine, sizeof(*mine), job->cards, err) ||
	    choose_backend(job, err))
		goto out;
	rc = cs_team_agree(&job->team, find_gpus(job, err), err);
out:
	free(mine);
	return rc;
}

/* ---- agents ---- */

static void agent_facts(struct cs_job *job, int g, int index,
			struct cs_agent_facts *f)
{
	int domains[CS_MAX_AGENTS], n_domains;

	cs_agent_facts_init(f);
	f->gpu = job->gpu[g];
	f->index = index;
	cs_text(f->label, sizeof(f->label), "%d", g);
	f->rank = job->team.rank;
	f->local_rank = job->team.local_rank;
	f->pid = getpid();
	f->start_s = job->cards[job->team.local_rank].start_s;
	if (job->backend == &cs_backend_cpu) {
		n_domains = cs_topo_domains(job->topo, domains, CS_MAX_AGENTS);
		f->numa = n_domains ? domains[index % n_domains] : -1;
		cs_text(f->numa_source, sizeof(f->numa_source), "in turn");
		return;
	}
	f->gpu.ordinal = cs_view_ordinal(
		&job->cards[job->team.local_rank].view, f->gpu.uuid);
	f->numa = cs_topo_gpu_domain(job->topo, f->gpu.bus_id, f->gpu.host_numa,
				     f->numa_source);
}

/* They open their devices at once, while the job goes on agreeing. */
static int start_agents(struct cs_job *job, struct cs_err *err)
{
	struct cs_agent_args args = {
		.backend = job->backend,
		.topo = job->topo,
		.starter = job->backend == &cs_backend_cpu ? NULL : job->starter,
		.bind = job->args->bind,
	};

	job->n_agents = 0;
	for (int g = 0; g < job->n_gpus; g++) {
		int index = job->n_agents;

		if (!job->chosen[g] || job->owner[g] < 0)
			continue;
		job->n_agents++;
		if (job->owner[g] != job->team.local_rank)
			continue;
		agent_facts(job, g, index, &args.facts);
		if (cs_agent_start(&args, &job->agent[job->n_mine], err))
			return -1;
		job->n_mine++;
	}
	return 0;
}

/* ---- plan and board ---- */

static int build_plan(struct cs_job *job, int n_agents, struct cs_err *err)
{
	struct cs_plan_request req = { .n_agents = n_agents,
				       .set = job->args->set };
	size_t n_tests;
	char *chosen;
	int rc = -1;

	cs_catalogue(&n_tests);
	chosen = calloc(n_tests, 1);
	if (!chosen)
		return cs_err_set(err, "no memory");
	cs_settings_default(&req.set, job->backend == &cs_backend_cpu ?
					      CS_BACKEND_CPU : CS_BACKEND_CUDA);
	req.chosen = chosen;
	if (!job->args->choose(job->args->ctx,
			       (enum cs_backend_kind)req.set.backend, chosen,
			       err))
		rc = cs_plan_build(&req, &job->plan, err);
	free(chosen);
	return rc;
}

/* Rank 0 builds it for the largest node and sends it to all. */
static int share_plan(struct cs_job *job, struct cs_err *err)
{
	long most = job->n_agents;
	uint64_t bytes = 0;
	int rc = 0;

	if (cs_team_max(&job->team, &most, 1, err))
		return -1;
	if (job->team.rank == 0) {
		rc = build_plan(job, (int)most, err);
		job->run->plan = job->plan;
		job->run->backend = job->backend->name;
		job->run->stand_in = job->stand_in;
		job->run->virtual_clock = job->backend->clock_is_virtual;
		bytes = rc ? 0 : job->plan->total_bytes;
		if (!rc)
			rc = job->args->ready(job->args->ctx, err);
	}
	if (cs_team_agree(&job->team, rc, err) ||
	    cs_team_spread(&job->team, CS_TEAM_JOB, 0, &bytes, sizeof(bytes),
			   err))
		return -1;
	if (job->team.rank != 0) {
		job->plan = malloc(bytes);
		if (!job->plan)
			return cs_err_set(err, "no memory");
	}
	if (cs_team_spread(&job->team, CS_TEAM_JOB, 0, job->plan, bytes, err))
		return -1;
	return cs_team_agree(&job->team, cs_plan_validate(job->plan, bytes, err),
			     err);
}

/* A sleeping CPU takes up to half a millisecond to wake (seen on H200 in a virtual
 * machine), so waits spin through a whole sample, where every waiting thread has a
 * CPU to itself; idle agents sleep all the same. */
static uint32_t spin_ns(const struct cs_job *job)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed) &&
	    CPU_COUNT(&allowed) < 2)
		return 0;
	return cpus >= 2L * job->n_agents + job->team.local_size ? 10000000 : 0;
}

static int share_board(struct cs_job *job, struct cs_err *err)
{
	struct board_key key = { 0, -1, 0 };
	int rc = 0;

	if (job->coordinates) {
		rc = cs_board_create(job->plan, job->n_agents, spin_ns(job),
				     &job->board, err);
		key = (struct board_key){ getpid(), job->board.fd, rc };
	}
	if (cs_team_spread(&job->team, CS_TEAM_NODE, 0, &key, sizeof(key), err))
		return -1;
	if (!job->coordinates && !key.failed)
		rc = cs_board_attach(key.pid, key.fd, &job->board, err);
	if (!rc)
		for (int i = 0; i < job->n_mine; i++)
			cs_agent_attach(job->agent[i], job->board.at);
	if (!job->coordinates)
		job->coordinator_fd =
			(int)syscall(SYS_pidfd_open, (pid_t)key.pid, 0);
	return cs_team_agree(&job->team, rc, err);
}

/* ---- a node coordinator's work ---- */

static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct cs_job *job = ctx;

	cs_collect_row(&job->collect, row, samples);
}

static void on_finding(void *ctx, enum cs_severity severity, const char *id,
		       const char *text)
{
	struct cs_job *job = ctx;

	cs_collect_finding(&job->collect, severity, id, text);
}

static int on_watch(void *ctx)
{
	struct cs_job *job = ctx;

	if (signalled(job))
		leave_on_signal(job);
	if (job->team.rank == 0)
		cs_collect_drain(&job->collect, SILENCE_LIMIT_S);
	else
		cs_collect_alive(&job->collect);
	return 0;
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct cs_job *job = ctx;

	if (job->team.rank == 0)
		job->args->progress(job->args->ctx, done, all);
}

/* Ranks beyond the GPUs sleep, and ranks whose driver shows none: said once. */
static void note_idle_ranks(struct cs_job *job)
{
	const char *why = "";
	int idle = 0;
	char text[CS_ERR_TEXT];

	for (int r = 0; r < job->team.local_size; r++) {
		int owns = 0;

		for (int g = 0; g < job->n_gpus; g++)
			owns |= job->chosen[g] && job->owner[g] == r;
		idle += !owns;
		if (!owns && job->backend != &cs_backend_cpu &&
		    job->cards[r].driver.text[0])
			why = job->cards[r].driver.text;
	}
	if (!idle)
		return;
	cs_text(text, sizeof(text), "%d of %d ranks have no %s and sleep%s%s",
		idle, job->team.local_size,
		job->backend == &cs_backend_cpu ? "arena" : "GPU",
		*why ? ": " : "", why);
	on_finding(job, CS_NOTE, "idle-ranks", text);
}

static void node_facts(struct cs_job *job)
{
	struct cs_node_facts *f = &job->facts.facts;
	struct cs_err err = { "" };
	struct cs_nvml *nvml;
	int version = 0;

	f->n_ranks = job->team.local_size;
	f->n_agents = job->n_agents;
	for (int r = 0; r < job->team.local_size; r++)
		if (job->cards[r].version > version)
			version = job->cards[r].version;
	if (version)
		cs_text(f->cuda, sizeof(f->cuda), "%d.%d", version / 1000,
			version % 1000 / 10);
	if (job->backend == &cs_backend_cpu)
		return;
	nvml = cs_starter_nvml(job->starter, 1, &err);
	if (nvml)
		cs_nvml_driver(nvml, f->driver, f->cuda);
	else
		cs_text(f->nvml_note, sizeof(f->nvml_note), "%s", err.text);
}

static void send_node(struct cs_job *job)
{
	cs_coordinator_facts(&job->co, &job->facts);
	cs_collect_node(&job->collect, &job->facts);
}

static void coordinate(struct cs_job *job)
{
	struct cs_run_timings *t = &job->run->timings;
	double at = cs_clock_s();
	int complete;

	job->hooks = (struct cs_coordinator_hooks){ job, on_row, on_finding,
						    on_watch, on_progress };
	cs_coordinator_init(&job->co, job->board.at, (uint32_t)job->team.node,
			    &job->hooks);
	t->start = at - job->began_s;
	cs_coordinator_open(&job->co);
	t->open = cs_clock_s() - at;
	at = cs_clock_s();
	node_facts(job);
	note_idle_ranks(job);
	cs_coordinator_setup(&job->co);
	t->peers = cs_clock_s() - at;
	/* a virtual clock knows no skew between processes */
	if (!job->backend->clock_is_virtual)
		cs_coordinator_skew(&job->co, &job->facts.facts);
	send_node(job);
	at = cs_clock_s();
	complete = cs_coordinator_run(&job->co);
	t->measure = cs_clock_s() - at;
	if (complete)
		cs_coordinator_finish(&job->co);
	send_node(job);
	job->lost = job->co.lost;
	cs_collect_done(&job->collect,
			complete ? CS_NODE_COMPLETE : CS_NODE_EARLY);
}

/* ---- waiting for the others ---- */

static int pid_gone(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return pidfd >= 0 && poll(&p, 1, 0) == 1;
}

/* Ranks that coordinate nothing sleep until their coordinator says the end.  On
 * a signal they give it time to save; if it died, they let the gate go. */
static int sleep_until_end(struct cs_job *job)
{
	double leave_at = INFINITY;

	for (;;) {
		uint32_t end = cs_board_wait_end(job->board.at, 50);

		if (end)
			return end == CS_END_GOOD ? 0 : -1;
		if (pid_gone(job->coordinator_fd)) {
			cs_gate_release(job->board.at);
			_exit(CS_EXIT_CRITICAL);
		}
		if (signalled(job) && isinf(leave_at))
			leave_at = cs_clock_s() + GRACE_S;
		if (cs_clock_s() > leave_at)
			leave(job);
	}
}

/* Rank 0: all nodes' rows; the others' coordinators: rank 0's word. */
static int wait_nodes(struct cs_job *job)
{
	struct timespec nap = { 0, 1000000 };
	int from, tag, state;
	struct cs_err err;
	size_t bytes;
	void *data;

	if (job->team.rank == 0) {
		while ((state = cs_collect_state(&job->collect)) == CS_NODE_RUNS) {
			on_watch(job);
			nanosleep(&nap, NULL);
		}
		return state;
	}
	for (;;) {
		if (signalled(job))
			leave_on_signal(job);
		if (cs_team_next(&job->team, &from, &tag, &data, &bytes, &err) ==
		    1) {
			state = bytes == sizeof(int) ? *(int *)data :
						       CS_NODE_EARLY;
			free(data);
			return state;
		}
		nanosleep(&nap, NULL);
	}
}

static int init_collect(struct cs_job *job, struct cs_err *err)
{
	struct cs_collect *c = &job->collect;
	size_t n = (size_t)job->team.n_nodes;
	long *rank = calloc(n, sizeof(*rank));
	int rc = -1;

	c->team = &job->team;
	c->run = job->run;
	c->hooks = &job->args->collect;
	c->rank_of_node = calloc(n, sizeof(*c->rank_of_node));
	c->heard_s = calloc(n, sizeof(*c->heard_s));
	c->ended = calloc(n, 1);
	job->facts.peers = calloc((size_t)CS_MAX_AGENTS * CS_MAX_AGENTS,
				  sizeof(*job->facts.peers));
	job->run->node = calloc(n, sizeof(*job->run->node));
	if (!rank || !c->rank_of_node || !c->heard_s || !c->ended ||
	    !job->facts.peers || !job->run->node) {
		cs_err_set(err, "no memory");
		goto out;
	}
	rank[job->team.node] = job->team.coordinator;
	if (cs_team_max(&job->team, rank, (int)n, err))
		goto out;
	for (size_t i = 0; i < n; i++) {
		c->rank_of_node[i] = (int)rank[i];
		c->heard_s[i] = cs_clock_s();
		cs_node_facts_init(&job->run->node[i].facts);
	}
	rc = 0;
out:
	free(rank);
	return rc;
}

static int measure(struct cs_job *job, struct cs_err *err)
{
	int state;

	if (start_all(job, err))
		return CS_EXIT_CANNOT;
	cs_node_facts_init(&job->facts.facts);
	cs_topo_node(job->topo, &job->facts.facts);
	if (meet(job, err))
		return CS_EXIT_CANNOT;
	job->run->n_ranks = job->team.size;
	job->run->n_nodes = job->team.n_nodes;
	if (cs_team_agree(&job->team, init_collect(job, err), err) ||
	    cs_team_agree(&job->team, start_agents(job, err), err) ||
	    share_plan(job, err) || share_board(job, err))
		return CS_EXIT_CANNOT;
	job->opened = 1;
	if (!job->coordinates)
		return CS_EXIT_OK;
	coordinate(job);
	if (job->team.rank != 0)
		return CS_EXIT_OK;
	state = wait_nodes(job);
	job->run->complete = state == CS_NODE_COMPLETE;
	return job->run->complete ? CS_EXIT_OK : CS_EXIT_CRITICAL;
}

int cs_job_measure(const struct cs_job_args *args, int signal_fd,
		   struct cs_run *run, struct cs_job **out, struct cs_err *err)
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
	job->coordinator_fd = -1;
	job->began_s = cs_clock_s();
	cs_launcher_detect(&job->launcher);
	cs_text(run->launcher, sizeof(run->launcher), "%s", job->launcher.name);
	cs_text(run->job_id, sizeof(run->job_id), "%s", job->launcher.job_id);
	*out = job;
	status = measure(job, err);
	if (job->signal)
		leave_on_signal(job);
	return status;
}

/* ---- the end ---- */

/* Give back what this process holds; -1 when an agent hangs. */
static int close_agents(struct cs_job *job)
{
	int rc = 0;

	for (int i = 0; i < job->n_mine; i++)
		rc |= cs_agent_join(job->agent[i], JOIN_LIMIT_S);
	return rc;
}

static void free_job(struct cs_job *job)
{
	cs_coordinator_close(&job->co);
	cs_board_release(&job->board);
	cs_topo_close(job->topo);
	cs_starter_end(job->starter);
	free(job->cards);
	free(job->plan);
	free(job->facts.peers);
	free(job->collect.rank_of_node);
	free(job->collect.heard_s);
	free(job->collect.ended);
	if (job->coordinator_fd >= 0)
		close(job->coordinator_fd);
	free(job);
}

/* A launcher ends the job at the first bad status and takes it for the job's: it
 * shall be rank 0's, after rank 0 has said why. */
static void leave_after_root(struct cs_job *job, int status)
{
	struct timespec grace = { 0, (long)(GRACE_S * 1e9) };

	if (job->team.rank != 0)
		nanosleep(&grace, NULL);
	_exit(status);
}

void cs_job_end(struct cs_job *job, int status)
{
	int state = CS_NODE_EARLY, hung;
	struct cs_err err;

	if (!job->opened)
		leave_after_root(job, status); /* agents may hang: not joined */
	if (job->team.rank == 0) {
		state = cs_collect_state(&job->collect);
		for (int i = 0; i < job->team.n_nodes; i++)
			if (i != job->team.node)
				cs_team_post(&job->team,
					     job->collect.rank_of_node[i],
					     CS_TAG_END, &state, sizeof(state),
					     &err);
		cs_team_flush(&job->team, 1);
	} else if (job->coordinates) {
		state = wait_nodes(job);
	}
	if (job->coordinates) {
		int good = state == CS_NODE_COMPLETE && !job->lost;

		if (good)
			cs_coordinator_dismiss(&job->co);
		else
			cs_gate_release(job->board.at);
		cs_board_end(job->board.at, good ? CS_END_GOOD : CS_END_QUIT);
		if (!good)
			leave_after_root(job, status);
	} else if (sleep_until_end(job)) {
		leave_after_root(job, CS_EXIT_CRITICAL);
	}
	hung = close_agents(job);
	cs_team_end(&job->team);
	if (hung)
		_exit(status); /* the agent still uses what would be freed */
	free_job(job);
}
