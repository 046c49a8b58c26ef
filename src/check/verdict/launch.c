/* launch.c - GPUs that are not where they should be, and the cost of the way a job was
 * started. */
#include "check/verdict/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hints.h"

#include "check/verdict/check.h"

#define NVML_LOST 15	/* NVML_ERROR_GPU_IS_LOST */
#define NOFILE_FEW 1024 /* the usual soft limit; a driver process holds hundreds */
#define MIB (1024 * 1024)

/* ---- one judgement ---- */

struct scope {
	struct cs_run *run;
	int node;
	const struct cs_run_node *nd;
};

/* One more judgement of this node; the same with advice. */
#define FOUND(scope, severity, id) \
	CS_FOUND(severity, (scope)->node, id, .part = "node")
#define describe(scope, severity, id, ...) \
	cs_judge((scope)->run, FOUND(scope, severity, id), __VA_ARGS__)
#define advise(scope, severity, id, ...) \
	cs_judge((scope)->run, cs_advised(FOUND(scope, severity, id)), __VA_ARGS__)

/* ---- GPUs on the bus, of NVML, of CUDA, of the scheduler ---- */

static int known_to_cuda(const struct cs_run_node *nd)
{
	return CS_COUNT(i, nd->facts.n_known_gpus, nd->gpu_record[i].ranks > 0);
}

static int some_mig(const struct cs_run_node *nd)
{
	return CS_ANY(i, nd->facts.n_known_gpus, nd->gpu_record[i].mig == 1);
}

/* Does a mask hide the GPU from CUDA in all ranks that see any? */
static int all_masked(const struct cs_run_node *nd)
{
	for (int r = 0; nd->ranks && r < nd->facts.n_ranks; r++)
		if (nd->ranks[r].n_gpus && !nd->ranks[r].masked)
			return 0;
	return nd->ranks != NULL;
}

/* The probable reason that CUDA does not show this GPU, with its assumption; NULL:
 * none. */
static const char *explanation(const struct cs_run_node *nd,
			       const struct cs_gpu_record *s)
{
	const struct cs_node_facts *f = &nd->facts;

	if (s->nvml == NVML_LOST)
		return NULL;
	if (s->module[0] && strcmp(s->module, "nvidia"))
		return cs_new_text("held by the kernel driver %s, as for a virtual machine",
				   s->module);
	if (s->nvml == 0 && all_masked(nd))
		return "CUDA_VISIBLE_DEVICES leaves it out";
	if (s->mig == 1 || (s->nvml == 0 && some_mig(nd)))
		return "under MIG, CUDA shows a process one instance and no whole GPU";
	if (f->grant[0] && f->n_granted == known_to_cuda(nd))
		return cs_new_text("the scheduler granted others (%s)", f->grant);
	if (s->refused == EPERM || s->refused == EACCES)
		return "its device file may not be opened here: a device cgroup or permissions";
	if (f->container[0] && s->nvml && f->n_device_files > 0 &&
	    f->n_device_files ==
		    CS_COUNT(i, nd->facts.n_known_gpus, nd->gpu_record[i].nvml == 0))
		return cs_new_text("assumed not to be passed into this container (%s, %d of "
				   "/dev/nvidia0, 1, ...)",
				   f->container, f->n_device_files);
	if (!strncmp(f->container, "NVIDIA_VISIBLE_DEVICES=", 23) && s->nvml)
		return cs_new_text("assumed not to be passed into this container (%s)",
				   f->container);
	return NULL;
}

static void describe_lost(const struct scope *scope, const struct cs_gpu_record *s)
{
	struct cs_finding f = FOUND(scope, CS_CRITICAL, CS_FINDING_GPU_LOST);
	const char *hint = cs_hint_nvml(s->nvml);

	f.drain = 1;
	cs_text(f.part, sizeof(f.part), "gpu");
	cs_text(f.bus_id, sizeof(f.bus_id), "%s", s->bus_id);
	cs_finding_advise(&f);
	if (s->nvml == 0)
		cs_judge(scope->run, f,
			 "GPU %s: NVML knows it but CUDA does not show it, and no "
			 "mask or grant explains that",
			 s->bus_id);
	else if (s->nvml < 0)
		cs_judge(scope->run, f,
			 "GPU %s is on the PCI bus but CUDA does not show it, and NVML is absent",
			 s->bus_id);
	else
		cs_judge(scope->run, f,
			 "GPU %s is on the PCI bus but neither NVML nor the driver "
			 "knows it: %.95s%s%s",
			 s->bus_id,
			 hint ? hint : cs_new_text("NVML error %d", s->nvml),
			 s->module[0] ? "; kernel driver " : "", s->module);
}

/* GPUs without a place on the bus. */
static void describe_off_bus(const struct scope *scope)
{
	const char *list = scope->nd->facts.gpus_lost;
	struct cs_finding f = FOUND(scope, CS_CRITICAL, CS_FINDING_GPU_LOST);

	f.drain = 1;
	cs_finding_advise(&f);
	if (list[0])
		cs_judge(scope->run, f,
			 "NVML counts GPU%s %s but has lost %s, and the PCI bus does not show "
			 "%s: %s",
			 strchr(list, ',') ? "s" : "", list,
			 strchr(list, ',') ? "them" : "it",
			 strchr(list, ',') ? "them" : "it", cs_hint_nvml(NVML_LOST));
}

/* GPUs with one and the same explanation are one note, at the first of them. */
static void describe_hidden(const struct scope *scope, int first, const char *why)
{
	const struct cs_run_node *nd = scope->nd;
	const char *list = "";
	int n = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];
		const char *other = s->ranks > 0 ? NULL : explanation(nd, s);

		if (!other || strcmp(other, why))
			continue;
		if (i < first)
			return;
		list = cs_join(list, ", ", "%s", s->bus_id);
		n++;
	}
	describe(scope, CS_NOTE, CS_FINDING_GPU_HIDDEN, "%s not used (%s): %s",
		 cs_count_text((size_t)n, "GPU"), list, why);
}

static void find_lost(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	int shown = known_to_cuda(nd), lost = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];
		const char *why;

		/* a driver that shows none at all has reported why */
		if (s->ranks > 0 || (!shown && s->nvml != NVML_LOST))
			continue;
		why = explanation(nd, s);
		if (why)
			describe_hidden(scope, i, why);
		else
			describe_lost(scope, s);
		lost += !why;
	}
	describe_off_bus(scope);
	if (!lost && !nd->facts.gpus_lost[0] && shown &&
	    nd->facts.n_granted > shown && !all_masked(nd) && !some_mig(nd))
		describe(scope, CS_CRITICAL, CS_FINDING_GPU_LOST,
			 "the scheduler granted %d GPUs (%s), CUDA shows %d",
			 nd->facts.n_granted, nd->facts.grant, shown);
}

/* ---- ranks ---- */

/* Ranks without an agent sleep: no GPU is left for them, or they see none. */
static void find_idle(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	const char *why = "";
	int idle = 0;

	for (int r = 0; r < nd->facts.n_ranks; r++) {
		const struct cs_rank_facts *rank = &nd->ranks[r];

		if (CS_ANY(a, nd->facts.n_agents, nd->agent[a].rank == rank->rank))
			continue;
		idle++;
		if (rank->driver[0])
			why = rank->driver;
	}
	if (!idle || nd->facts.n_agents < 1)
		return;
	describe(scope, CS_NOTE, CS_FINDING_IDLE_RANKS,
		 "%d of %d ranks have no %s and sleep%s%s", idle, nd->facts.n_ranks,
		 strcmp(scope->run->backend, "cpu") ? "GPU" : "arena",
		 *why ? ": " : "", why);
}

static int count_refused(const struct cs_run_node *nd, int *all, const char **reason)
{
	int n = nd->facts.n_agents, refused = 0;

	*all = 0;
	for (int i = 0; nd->ways && i < n; i++)
		for (int k = 0; k < n; k++) {
			const struct cs_way *p = cs_node_way(nd, i, k);

			*all += p->via != CS_VIA_NONE;
			/* of MIG instances there is no other */
			if (p->via != CS_VIA_FAILED ||
			    cs_is_mig(nd->agent[i].gpu.uuid) ||
			    cs_is_mig(nd->agent[k].gpu.uuid))
				continue;
			if (!refused++)
				*reason = p->reason;
		}
	return refused;
}

/* Cards without NVLink may have no way to each other, as they are built.  1: also if it is
 * not known. */
static int has_nvlink(const struct cs_run_node *nd)
{
	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_nvlink_ends *ends = &nd->gpu_record[i].board.nvlink;

		if (ends->to_switch || ends->to_other || ends->n_gpus)
			return 1;
	}
	return !nd->facts.n_known_gpus;
}

static void find_refused(const struct scope *scope)
{
	const char *reason = "";
	int all, refused = count_refused(scope->nd, &all, &reason);

	if (!refused || (refused == all && !has_nvlink(scope->nd)))
		return;
	describe(scope, CS_WARNING, CS_FINDING_PEER_REFUSED,
		 "%d of %d transports between GPUs are refused: "
		 "%s",
		 refused, all, reason);
}

static void find_one_gpu(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	const char *reason;
	int all, refused = count_refused(nd, &all, &reason);

	for (int r = 0; r < nd->facts.n_ranks; r++)
		if (nd->ranks[r].n_gpus != 1)
			return;
	if (known_to_cuda(nd) < 2 || nd->facts.n_ranks < 2 || some_mig(nd))
		return;
	if (refused == all && !has_nvlink(nd))
		refused = all = 0;
	advise(scope, refused ? CS_WARNING : CS_NOTE, CS_FINDING_LAUNCHER_ONE_GPU,
	       "each rank sees one GPU only%s",
	       !all    ? "" :
	       refused ? ", and not all can open the others' memory" :
			 "; they can still open each other's memory");
}

/* Does a rank with one CPU drive several GPUs?  For one, and for messages between nodes
 * alone, a CPU is enough. */
static int is_one_core_for_many(const struct scope *scope)
{
	const struct cs_plan *plan = scope->run->plan;
	const struct cs_run_node *nd = scope->nd;
	int driven[CS_MAX_AGENTS] = { 0 };

	if (plan && !plan->n_steps && cs_plan_has_between(plan))
		return 0;
	for (int a = 0; a < nd->facts.n_agents; a++)
		for (int r = 0; r < nd->facts.n_ranks && r < CS_MAX_AGENTS; r++)
			if (nd->ranks[r].n_cpus == 1 &&
			    nd->ranks[r].rank == nd->agent[a].rank && ++driven[r] > 1)
				return 1;
	return 0;
}

static void find_one_core(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	int n = 0;

	for (int r = 0; r < nd->facts.n_ranks; r++)
		n += nd->ranks[r].n_cpus == 1;
	if (!n || nd->facts.n_cpus < 2)
		return;
	advise(scope, is_one_core_for_many(scope) ? CS_WARNING : CS_NOTE,
	       CS_FINDING_LAUNCHER_ONE_CORE,
	       "%d of %d ranks may run on one CPU only, of the node's %d", n,
	       nd->facts.n_ranks, nd->facts.n_cpus);
}

/* The least soft limit of a kind among the ranks. */
static int64_t least(const struct cs_run_node *nd, int nofile)
{
	int64_t low = INT64_MAX;

	for (int r = 0; r < nd->facts.n_ranks; r++) {
		int64_t limit = nofile ? nd->ranks[r].nofile :
					 nd->ranks[r].memlock_bytes;

		if (limit >= 0 && limit < low)
			low = limit;
	}
	return low;
}

static void find_limits(const struct scope *scope)
{
	int64_t locked = least(scope->nd, 0), files = least(scope->nd, 1);

	/* no measurement needs it: reported only if nothing is measured */
	if (locked < INT64_MAX && cs_only_checked(scope->run))
		advise(scope, CS_NOTE, CS_FINDING_MEMLOCK,
		       "at most %" PRId64
		       " KiB of memory may be locked: enough for CUDA, but not "
		       "for network libraries that register memory",
		       locked / 1024);
	if (files >= NOFILE_FEW)
		return;
	advise(scope, CS_WARNING, CS_FINDING_NOFILE,
	       "a rank may open only %" PRId64
	       " files; the driver alone may need hundreds",
	       files);
}

/* ---- the node ---- */

static void find_shm(const struct scope *scope)
{
	const struct cs_node_facts *f = &scope->nd->facts;

	if (f->n_ranks < 2 || f->shm_bytes < 0 || f->shm_bytes > 64 * MIB)
		return;
	advise(scope, CS_WARNING, CS_FINDING_DEV_SHM,
	       "/dev/shm holds %" PRId64 " MiB, %" PRId64 " free, for %d ranks",
	       f->shm_bytes / MIB, f->shm_free_bytes / MIB, f->n_ranks);
}

static void find_cgroup(const struct scope *scope)
{
	const struct cs_node_facts *f = &scope->nd->facts;

	/* a thread per GPU and one per rank */
	if (!(f->cgroup_cpus < f->n_agents + 1))
		return;
	advise(scope, CS_WARNING, CS_FINDING_CGROUP_CPUS,
	       "the cgroup grants the time of %.1f CPUs to threads that drive %d "
	       "GPUs",
	       f->cgroup_cpus, f->n_agents);
}

static void find_nvml(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	enum cs_finding_id id = CS_FINDING_NVML_ABSENT;

	if (!nd->facts.nvml_note[0] || !strcmp(scope->run->backend, "cpu"))
		return;
	for (int r = 0; r < nd->facts.n_ranks; r++) {
		const char *at = strstr(nd->ranks[r].environment,
					"NVIDIA_DRIVER_CAPABILITIES=");
		char value[64];

		if (!at)
			continue;
		cs_text(value, sizeof(value), "%.*s", (int)strcspn(at, " "), at);
		if (!strstr(value, "utility") && !strstr(value, "all"))
			id = CS_FINDING_CONTAINER_UTILITY;
	}
	advise(scope, CS_WARNING, id, "%s", nd->facts.nvml_note);
}

/* GPUs of which a field of struct cs_gpu_record has a value: "0, 1"; NULL none. */
#define GPUS_WITH(nd, field, value)                                              \
	({                                                                       \
		const char *list_ = NULL;                                        \
		for (int i_ = 0; i_ < (nd)->facts.n_known_gpus; i_++)            \
			if ((nd)->gpu_record[i_].field == (value))               \
				list_ = cs_new_longer(                           \
					list_, "%s%d", list_ ? ", " : "", i_);   \
		list_;                                                           \
	})

static void find_modes(const struct scope *scope)
{
	const char *list;

	if ((list = GPUS_WITH(scope->nd, compute_mode, 3)))
		advise(scope, CS_NOTE, CS_FINDING_EXCLUSIVE_PROCESS,
		       "compute mode EXCLUSIVE_PROCESS on GPU %s: one process at a time",
		       list);
	if ((list = GPUS_WITH(scope->nd, compute_mode, 2)))
		advise(scope, CS_WARNING, CS_FINDING_COMPUTE_MODE,
		       "compute mode PROHIBITED on GPU %s: no process may use it",
		       list);
	if ((list = GPUS_WITH(scope->nd, mig, 1)))
		advise(scope, CS_WARNING, CS_FINDING_IPC_MIG,
		       "MIG divides GPU %s: %s", list, cs_hint_brief(CS_HINT_IPC_MIG));
	if ((list = GPUS_WITH(scope->nd, persistence, 0)))
		advise(scope, CS_NOTE, CS_FINDING_PERSISTENCE,
		       "persistence mode is off on GPU %s: the driver releases an unused "
		       "GPU, and each start takes seconds longer",
		       list);
}

static void find_mps(const struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;

	for (int a = 0; a < nd->facts.n_agents; a++)
		if (nd->agent[a].gpu.mps == 1) {
			advise(scope, CS_WARNING, CS_FINDING_MPS,
			       "the ranks are clients of MPS: other processes may "
			       "share their GPUs");
			return;
		}
}

void cs_check_launch(struct cs_run *run, int node)
{
	static void (*const all[])(const struct scope *) = {

		find_refused, find_one_gpu, find_one_core, find_limits, find_shm,
		find_cgroup,  find_nvml,    find_modes,	   find_mps,
	};
	struct scope scope = { run, node, &run->node[node] };

	find_lost(&scope);
	if (scope.nd->ranks)
		find_idle(&scope);
	if (!(run->checks & CS_CHECK_LAUNCH) || !scope.nd->ranks)
		return;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i](&scope);
}
