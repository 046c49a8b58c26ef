/* launch.c - GPUs that are not where they should be, and what the way a job was
 * started costs it. */
#include "config.h"

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
	struct cs_err *err;
};

static struct cs_finding of_node(const struct scope *scope, enum cs_severity severity,
				 enum cs_finding_id id)
{
	return (struct cs_finding){
		.id = id, .severity = severity, .node = scope->node, .part = "node"
	};
}

/* One more judgement of this node. */
static int describe(struct scope *scope, enum cs_severity severity,
		    enum cs_finding_id id, const char *text)
{
	return cs_judge(scope->run, of_node(scope, severity, id), text, scope->err);
}

/* The same with what to do. */
static int advise(struct scope *scope, enum cs_severity severity,
		  enum cs_finding_id id, const char *text)
{
	struct cs_finding f = of_node(scope, severity, id);

	cs_finding_advise(&f);
	return cs_judge(scope->run, f, text, scope->err);
}

/* ---- GPUs on the bus, of NVML, of CUDA, of the scheduler ---- */

static int known_to_nvml(const struct cs_run_node *nd)
{
	int n = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		n += nd->gpu_record[i].nvml == 0;
	return n;
}

static int known_to_cuda(const struct cs_run_node *nd)
{
	int n = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		n += nd->gpu_record[i].ranks > 0;
	return n;
}

static int some_mig(const struct cs_run_node *nd)
{
	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (nd->gpu_record[i].mig == 1)
			return 1;
	return 0;
}

/* Does a mask stand between CUDA and the GPU in all ranks that see any? */
static int all_masked(const struct cs_run_node *nd)
{
	for (int r = 0; nd->ranks && r < nd->facts.n_ranks; r++)
		if (nd->ranks[r].n_gpus && !nd->ranks[r].masked)
			return 0;
	return nd->ranks != NULL;
}

/* Why CUDA may well not show this GPU, with what is assumed; 0 when nothing
 * explains it. */
static int explained(const struct cs_run_node *nd, const struct cs_gpu_record *s,
		     char *why, size_t size)
{
	const struct cs_node_facts *f = &nd->facts;

	if (s->nvml == NVML_LOST)
		return 0;
	if (s->module[0] && strcmp(s->module, "nvidia"))
		cs_text(why, size,
			"held by the kernel driver %s, as for a virtual machine",
			s->module);
	else if (s->nvml == 0 && all_masked(nd))
		cs_text(why, size, "CUDA_VISIBLE_DEVICES leaves it out");
	else if (s->mig == 1 || (s->nvml == 0 && some_mig(nd)))
		cs_text(why, size,
			"under MIG, CUDA shows a process one instance and no whole "
			"GPU");
	else if (f->grant[0] && f->n_granted == known_to_cuda(nd))
		cs_text(why, size, "the scheduler granted others (%s)", f->grant);
	else if (s->refused == EPERM || s->refused == EACCES)
		cs_text(why, size,
			"its device file may not be opened here: a device cgroup "
			"or permissions");
	else if (f->container[0] && s->nvml && f->n_device_files > 0 &&
		 f->n_device_files == known_to_nvml(nd))
		cs_text(why, size,
			"assumed not to be passed into this container (%s, %d of "
			"/dev/nvidia0, 1, ...)",
			f->container, f->n_device_files);
	else if (!strncmp(f->container, "NVIDIA_VISIBLE_DEVICES=", 23) && s->nvml)
		cs_text(why, size,
			"assumed not to be passed into this container "
			"(%s)",
			f->container);
	else
		return 0;
	return 1;
}

static int describe_lost(struct scope *scope, const struct cs_gpu_record *s)
{
	struct cs_finding f = { .severity = CS_CRITICAL,
				.node = scope->node,
				.drain = 1,
				.id = CS_FINDING_GPU_LOST,
				.part = "gpu" };
	char text[CS_ERR_TEXT], nvml[96];
	const char *hint = cs_hint_nvml(s->nvml);

	cs_text(nvml, sizeof(nvml), "NVML error %d", s->nvml);
	if (hint)
		cs_text(nvml, sizeof(nvml), "%s", hint);
	if (s->nvml == 0)
		cs_text(text, sizeof(text),
			"GPU %s: NVML knows it but CUDA does not show it, and no "
			"mask or grant explains that",
			s->bus_id);
	else if (s->nvml < 0)
		cs_text(text, sizeof(text),
			"GPU %s is on the PCI bus but CUDA does not show it, and "
			"there is no NVML to ask",
			s->bus_id);
	else
		cs_text(text, sizeof(text),
			"GPU %s is on the PCI bus but neither NVML nor the driver "
			"knows it: %s%s%s",
			s->bus_id, nvml, s->module[0] ? "; kernel driver " : "",
			s->module);
	cs_text(f.bus_id, sizeof(f.bus_id), "%s", s->bus_id);
	cs_finding_advise(&f);
	return cs_judge(scope->run, f, text, scope->err);
}

/* GPUs with one and the same explanation are one note, at the first of them. */
static int describe_hidden(struct scope *scope, int first, const char *why)
{
	const struct cs_run_node *nd = scope->nd;
	char other[CS_ERR_TEXT], list[160] = "", text[CS_ERR_TEXT];
	int n = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];

		if (s->ranks > 0 || !explained(nd, s, other, sizeof(other)) ||
		    strcmp(other, why))
			continue;
		if (i < first)
			return 0;
		cs_text_add(list, sizeof(list), "%s%s", list[0] ? ", " : "",
			    s->bus_id);
		n++;
	}
	cs_text(text, sizeof(text), "%d GPU%s not used (%s): %s", n,
		n == 1 ? "" : "s", list, why);
	return describe(scope, CS_NOTE, CS_FINDING_GPU_HIDDEN, text);
}

static int find_lost(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	char why[CS_ERR_TEXT];
	int shown = known_to_cuda(nd), lost = 0, rc = 0;

	for (int i = 0; i < nd->facts.n_known_gpus && !rc; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];

		/* a driver that shows none at all has said why */
		if (s->ranks > 0 || (!shown && s->nvml != NVML_LOST))
			continue;
		if (explained(nd, s, why, sizeof(why))) {
			rc = describe_hidden(scope, i, why);
		} else {
			rc = describe_lost(scope, s);
			lost++;
		}
	}
	if (rc || lost || !shown || nd->facts.n_granted <= shown || all_masked(nd) ||
	    some_mig(nd))
		return rc;
	cs_text(why, sizeof(why), "the scheduler granted %d GPUs (%s), CUDA shows %d",
		nd->facts.n_granted, nd->facts.grant, shown);
	return describe(scope, CS_CRITICAL, CS_FINDING_GPU_LOST, why);
}

/* ---- ranks ---- */

static int drives(const struct cs_run_node *nd, int rank)
{
	int n = 0;

	for (int a = 0; a < nd->facts.n_agents; a++)
		n += nd->agent[a].rank == rank;
	return n;
}

/* Ranks without an agent sleep, for want of GPUs or of sight of one. */
static int find_idle(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	const char *why = "";
	char text[CS_ERR_TEXT];
	int idle = 0;

	for (int r = 0; r < nd->facts.n_ranks; r++) {
		const struct cs_rank_facts *rank = &nd->ranks[r];

		if (drives(nd, rank->rank))
			continue;
		idle++;
		if (rank->driver[0])
			why = rank->driver;
	}
	if (!idle || nd->facts.n_agents < 1)
		return 0;
	cs_text(text, sizeof(text), "%d of %d ranks have no %s and sleep%s%s", idle,
		nd->facts.n_ranks,
		strcmp(scope->run->backend, "cpu") ? "GPU" : "arena",
		*why ? ": " : "", why);
	return describe(scope, CS_NOTE, CS_FINDING_IDLE_RANKS, text);
}

static int count_refused(const struct cs_run_node *nd, int *all, const char **reason)
{
	int n = nd->facts.n_agents, refused = 0;

	*all = 0;
	for (int i = 0; nd->peers && i < n; i++)
		for (int k = 0; k < n; k++) {
			const struct cs_peer_facts *p = cs_node_peer(nd, i, k);

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

static int find_refused(struct scope *scope)
{
	const char *reason = "";
	char text[CS_ERR_TEXT];
	int all, refused = count_refused(scope->nd, &all, &reason);

	if (!refused)
		return 0;
	cs_text(text, sizeof(text),
		"%d of %d transports between GPUs are refused: "
		"%s",
		refused, all, reason);
	return describe(scope, CS_WARNING, CS_FINDING_PEER_REFUSED, text);
}

static int find_one_gpu(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	const char *reason;
	char text[CS_ERR_TEXT];
	int all, refused = count_refused(nd, &all, &reason);

	for (int r = 0; r < nd->facts.n_ranks; r++)
		if (nd->ranks[r].n_gpus != 1)
			return 0;
	if (known_to_cuda(nd) < 2 || nd->facts.n_ranks < 2 || some_mig(nd))
		return 0;
	cs_text(text, sizeof(text), "each rank sees one GPU only%s",
		!all	? "" :
		refused ? ", and not all can open the others' memory" :
			  "; they can still open each other's memory");
	return advise(scope, refused ? CS_WARNING : CS_NOTE,
		      CS_FINDING_LAUNCHER_ONE_GPU, text);
}

static int find_one_core(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	char text[CS_ERR_TEXT];
	int n = 0;

	for (int r = 0; r < nd->facts.n_ranks; r++)
		n += nd->ranks[r].n_cpus == 1;
	if (!n || nd->facts.n_cpus < 2)
		return 0;
	cs_text(text, sizeof(text),
		"%d of %d ranks may run on one CPU only, of the node's %d", n,
		nd->facts.n_ranks, nd->facts.n_cpus);
	return advise(scope, CS_WARNING, CS_FINDING_LAUNCHER_ONE_CORE, text);
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

static int find_limits(struct scope *scope)
{
	int64_t locked = least(scope->nd, 0), files = least(scope->nd, 1);
	char text[CS_ERR_TEXT];

	/* nothing that is measured needs it: said where the launch alone is asked for */
	if (locked < INT64_MAX && cs_only_checked(scope->run)) {
		cs_text(text, sizeof(text),
			"at most %" PRId64
			" KiB of memory may be locked: enough for CUDA, but not "
			"for network libraries that register memory",
			locked / 1024);
		if (advise(scope, CS_NOTE, CS_FINDING_MEMLOCK, text))
			return -1;
	}
	if (files >= NOFILE_FEW)
		return 0;
	cs_text(text, sizeof(text),
		"a rank may open %" PRId64
		" files only; the driver alone may need hundreds",
		files);
	return advise(scope, CS_WARNING, CS_FINDING_NOFILE, text);
}

/* ---- the node ---- */

static int find_shm(struct scope *scope)
{
	const struct cs_node_facts *f = &scope->nd->facts;
	char text[CS_ERR_TEXT];

	if (f->n_ranks < 2 || f->shm_bytes < 0 || f->shm_bytes > 64 * MIB)
		return 0;
	cs_text(text, sizeof(text),
		"/dev/shm holds %" PRId64 " MiB, %" PRId64 " free, for %d ranks",
		f->shm_bytes / MIB, f->shm_free_bytes / MIB, f->n_ranks);
	return advise(scope, CS_WARNING, CS_FINDING_DEV_SHM, text);
}

static int find_cgroup(struct scope *scope)
{
	const struct cs_node_facts *f = &scope->nd->facts;
	char text[CS_ERR_TEXT];

	/* a thread per GPU and one per rank */
	if (!(f->cgroup_cpus < f->n_agents + 1))
		return 0;
	cs_text(text, sizeof(text),
		"the cgroup grants the time of %.1f CPUs to threads that drive %d "
		"GPUs",
		f->cgroup_cpus, f->n_agents);
	return advise(scope, CS_WARNING, CS_FINDING_CGROUP_CPUS, text);
}

static int find_nvml(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;

	if (!nd->facts.nvml_note[0] || !strcmp(scope->run->backend, "cpu"))
		return 0;
	for (int r = 0; r < nd->facts.n_ranks; r++) {
		const char *at = strstr(nd->ranks[r].environment,
					"NVIDIA_DRIVER_CAPABILITIES=");
		char value[64];

		if (!at)
			continue;
		cs_text(value, sizeof(value), "%.*s", (int)strcspn(at, " "), at);
		if (!strstr(value, "utility") && !strstr(value, "all"))
			return advise(scope, CS_WARNING, CS_FINDING_CONTAINER_UTILITY,
				      nd->facts.nvml_note);
	}
	return advise(scope, CS_WARNING, CS_FINDING_NVML_ABSENT, nd->facts.nvml_note);
}

/* The GPUs of which a field of struct cs_gpu_record has a value: "0, 1". */
#define GPUS_WITH(nd, field, value, list)                                     \
	({                                                                    \
		int n_ = 0;                                                   \
		(list)[0] = '\0';                                             \
		for (int i_ = 0; i_ < (nd)->facts.n_known_gpus; i_++) {           \
			if ((nd)->gpu_record[i_].field != (value))                 \
				continue;                                     \
			cs_text_add(list, sizeof(list), "%s%d",               \
				    n_++ ? ", " : "", i_);                    \
		}                                                             \
		n_;                                                           \
	})

static int find_modes(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;
	char list[120], text[CS_ERR_TEXT];

	if (GPUS_WITH(nd, compute_mode, 3, list)) {
		cs_text(text, sizeof(text),
			"compute mode EXCLUSIVE_PROCESS on GPU %s: one process at "
			"a time",
			list);
		if (advise(scope, CS_NOTE, CS_FINDING_EXCLUSIVE_PROCESS, text))
			return -1;
	}
	if (GPUS_WITH(nd, compute_mode, 2, list)) {
		cs_text(text, sizeof(text),
			"compute mode PROHIBITED on GPU %s: no process may use it",
			list);
		if (advise(scope, CS_WARNING, CS_FINDING_COMPUTE_MODE, text))
			return -1;
	}
	if (GPUS_WITH(nd, mig, 1, list)) {
		cs_text(text, sizeof(text), "MIG divides GPU %s: %s", list,
			cs_hint_brief(CS_HINT_IPC_MIG));
		if (advise(scope, CS_WARNING, CS_FINDING_IPC_MIG, text))
			return -1;
	}
	if (!GPUS_WITH(nd, persistence, 0, list))
		return 0;
	cs_text(text, sizeof(text),
		"persistence mode is off on GPU %s: the driver releases an unused "
		"GPU, and each start takes seconds longer",
		list);
	return advise(scope, CS_NOTE, CS_FINDING_PERSISTENCE, text);
}

static int find_mps(struct scope *scope)
{
	const struct cs_run_node *nd = scope->nd;

	for (int a = 0; a < nd->facts.n_agents; a++)
		if (nd->agent[a].gpu.mps == 1)
			return advise(scope, CS_WARNING, CS_FINDING_MPS,
				      "the ranks are clients of MPS: other processes may "
				      "share their GPUs");
	return 0;
}

int cs_check_launch(struct cs_run *run, int node, struct cs_err *err)
{
	static int (*const all[])(struct scope *) = {
		find_refused, find_one_gpu, find_one_core, find_limits, find_shm,
		find_cgroup,  find_nvml,    find_modes,	   find_mps,
	};
	struct scope scope = { run, node, &run->node[node], err };

	if (find_lost(&scope) || (scope.nd->ranks && find_idle(&scope)))
		return -1;
	if (!(run->checks & CS_CHECK_LAUNCH) || !scope.nd->ranks)
		return 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i](&scope))
			return -1;
	return 0;
}
