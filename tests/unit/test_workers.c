/* CPU workers of an agent: they wait for the gate, work and stamp; who waits for them
 * is not held up. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node/agent/workers.h"
#include "plan/choose.h"
#include "tap.h"

static struct cs_board_map board;
static struct cs_topo *topo;
static struct cs_workers workers;

int tap_set_up(void)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan_request req = {
		.n_agents = 2,
		.chosen = &chosen,
		.set = { .copy_bytes = 4096, .backend = CS_BACKEND_CPU },
	};
	struct cs_plan *plan = NULL;
	int rc = cs_tests_choose("peer.cpu.write.pair", CS_BACKEND_CPU,
				 CS_TRANSPORT_AUTO, &chosen, NULL) ||
		 cs_plan_build(&req, &plan, NULL) || cs_topo_open(NULL, &topo, NULL) ||
		 cs_board_create(plan, 2, 0, &board, NULL);

	free(plan);
	workers = (struct cs_workers){ topo, board.at, NULL };
	return rc;
}

int tap_tear_down(void)
{
	cs_workers_release(&workers);
	cs_board_release(&board);
	cs_topo_close(topo);
	return 0;
}

/* ---- what workers do ---- */

static _Atomic int done; /* jobs, in this test */
static struct cs_worked did;

void tap_before(void)
{
	done = 0;
}

struct job {
	sem_t *hold; /* NULL: it does not hang */
	int fails;
};

static int do_job(void *arg, struct cs_err *err)
{
	const struct job *job = arg;

	if (job->hold) {
		cs_call_begin("cuMemcpyAsync");
		sem_wait(job->hold);
		cs_call_end();
	}
	if (job->fails)
		return cs_err_set(err, "cuMemcpyAsync: no luck (999)");
	atomic_fetch_add(&done, 1);
	return 0;
}

static const struct job easy;
static const struct cs_work work = { do_job, &easy, sizeof(easy) };

static struct cs_worker *take(int numa)
{
	struct cs_err err = { "" };
	struct cs_worker *w = cs_worker_take(&workers, numa, -1, &err);

	t_ok(w != NULL);
	t_eq_str(err.text, "");
	return w;
}

/* Without a gate, to the end. */
static void make(struct cs_worker *w, const struct cs_work *what)
{
	cs_worker_start(w, what);
	cs_worker_await(w, &did);
}

/* ---- tests ---- */

HOLDS("a worker waits for the gate, and its stamps are behind that") {
	struct cs_worker *w = take(-1);
	uint64_t opened;

	cs_worker_arm(w, 1, &work);
	cs_worker_ready(w);
	t_eq_int(cs_worker_wait(w, 20, &did), 0);
	t_eq_int(done, 0);
	opened = cs_clock_ns();
	cs_gate_open(board.at, 1);
	cs_worker_await(w, &did);
	t_eq_int(done, 1);
	t_eq_int(did.rc, 0);
	t_ok(did.counts && did.begin_ns >= opened && did.end_ns >= did.begin_ns);
	t_ok(cs_clock_ns() >= did.end_ns);
	cs_worker_put(w);
}

HOLDS("several wait for one gate") {
	struct cs_worker *w[4];

	for (int i = 0; i < 4; i++) {
		w[i] = take(-1);
		for (int k = 0; k < i; k++)
			t_ok(w[k] != w[i]);
		cs_worker_arm(w[i], 2, &work);
	}
	for (int i = 0; i < 4; i++)
		cs_worker_ready(w[i]);
	cs_gate_open(board.at, 2);
	for (int i = 0; i < 4; i++) {
		cs_worker_await(w[i], &did);
		cs_worker_put(w[i]);
	}
	t_eq_int(done, 4);
}

HOLDS("one that is idle works again") {
	struct cs_worker *w = take(-1), *again;

	make(w, &work);
	cs_worker_put(w);
	again = take(-1);
	t_ok(again == w);
	make(again, &work);
	cs_worker_put(again);
	t_eq_int(done, 2);
}

HOLDS("a sample that was cancelled is not worked") {
	struct cs_worker *w = take(-1);

	cs_worker_arm(w, 3, &work);
	cs_worker_ready(w);
	cs_gate_void(board.at, 3);
	cs_worker_await(w, &did);
	t_eq_int(did.counts, 0);
	t_eq_int(done, 0);
	cs_worker_put(w);
}

HOLDS("one that hangs holds nobody up, and its call has a name") {
	static sem_t hold;
	const struct job job = { .hold = &hold };
	const struct cs_work hangs = { do_job, &job, sizeof(job) };
	struct cs_worker *w = take(-1);
	char call[CS_CALL_NAME];

	sem_init(&hold, 0, 0);
	cs_worker_start(w, &hangs);
	do
		cs_worker_call(w, call);
	while (!cs_worker_wait(w, 1, &did) && !strstr(call, "Async"));
	t_eq_int(cs_worker_wait(w, 1, &did), 0);
	t_eq_str(call, "cuMemcpyAsync");
	sem_post(&hold);
	cs_worker_await(w, &did);
	cs_worker_call(w, call);
	t_eq_str(call, "");
	t_eq_int(done, 1);
	cs_worker_put(w);
}

struct busy {
	_Atomic int *stop;
};

/* Calls on and on, as one does that goes on until another has ended. */
static int do_busy(void *arg, struct cs_err *err)
{
	const struct busy *busy = arg;

	(void)err;
	while (!*busy->stop) {
		cs_call_begin("cuStreamQuery");
		cs_call_end();
	}
	return 0;
}

/* Waits for `w` while another thread looks at what the caller is said to call. */
struct awaiting {
	struct cs_worker *w;
	struct cs_call_watch watch;
	char call[CS_CALL_NAME];
};

static void *await_watched(void *arg)
{
	struct awaiting *a = arg;
	struct cs_worked worked;

	a->watch.to = a->call;
	cs_call_watch(&a->watch);
	cs_worker_await(a->w, &worked);
	return NULL;
}

static int is_said(struct awaiting *a, const char *name)
{
	char call[CS_CALL_NAME];

	cs_call_read(a->call, call);
	return !strcmp(call, name);
}

HOLDS("of two, the one whose call does not return is named") {
	static sem_t hold;
	_Atomic int stop = 0;
	const struct job job = { .hold = &hold };
	const struct cs_work hangs = { do_job, &job, sizeof(job) };
	const struct cs_work goes_on = { do_busy, &(struct busy){ &stop },
					 sizeof(struct busy) };
	struct cs_worker *hung = take(-1), *busy = take(-1);
	struct awaiting waiting = { .w = busy };
	pthread_t waits;
	int said = 0, other = 0;

	sem_init(&hold, 0, 0);
	cs_worker_start(hung, &hangs);
	cs_worker_start(busy, &goes_on);
	pthread_create(&waits, NULL, await_watched, &waiting);
	for (int i = 0; i < 3000 && said < 200; i++) {
		usleep(1000);
		said += is_said(&waiting, "cuMemcpyAsync");
		other += said && !is_said(&waiting, "cuMemcpyAsync");
	}
	t_eq_int(said, 200);
	t_eq_int(other, 0);
	stop = 1;
	pthread_join(waits, NULL);
	sem_post(&hold);
	cs_worker_await(hung, &did);
	cs_worker_put(hung);
	cs_worker_put(busy);
}

HOLDS("its error is told") {
	const struct job job = { .fails = 1 };
	const struct cs_work fails = { do_job, &job, sizeof(job) };
	struct cs_worker *w = take(-1);

	make(w, &fails);
	t_eq_int(did.rc, -1);
	t_eq_str(did.err.text, "cuMemcpyAsync: no luck (999)");
	cs_worker_put(w);
}

#define FRESH_PAGES 64

static int touch_fresh(void *arg, struct cs_err *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, FRESH_PAGES * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (at == MAP_FAILED || madvise(at, FRESH_PAGES * page, MADV_NOHUGEPAGE))
		return cs_err_set(err, "no pages");
	for (size_t i = 0; i < FRESH_PAGES; i++)
		at[i * page] = 1;
	return munmap(at, FRESH_PAGES * page);
}

HOLDS("faults are those of the work") {
	const struct cs_work fresh = { touch_fresh, "", 1 };
	struct cs_worker *w = take(-1);

	make(w, &fresh);
	t_eq_str(did.err.text, "");
	t_ok(did.faults >= FRESH_PAGES && did.faults >= did.major_faults);
	make(w, &work);
	t_ok(did.faults < FRESH_PAGES && did.major_faults >= 0);
	cs_worker_put(w);
}

static int where(void *arg, struct cs_err *err)
{
	char *list;

	(void)err;
	memcpy(&list, arg, sizeof(list));
	return cs_topo_binding(topo, 0, list, 128) < 0 ? -1 : 0;
}

HOLDS("it runs on its NUMA node, and leaves the caller where that is") {
	char list[128] = "", *to = list, mine[128];
	const struct cs_work looks = { where, &to, sizeof(to) };
	struct cs_worker *w;
	int numa;

	if (cs_topo_numa(topo, &numa, 1) < 1) {
		t_skip("no NUMA node with CPUs is known here");
		return;
	}
	cs_topo_binding(topo, numa, mine, sizeof(mine));
	w = take(numa);
	if (!w)
		return;
	make(w, &looks);
	t_eq_int(did.rc, 0);
	t_eq_str(cs_worker_cpus(w), list);
	cs_topo_binding(topo, numa, list, sizeof(list));
	t_eq_str(list, mine); /* whoever took it stays where it was */
	cs_worker_put(w);
}

HOLDS("one of a core runs there alone") {
	const int cores = cs_topo_numa(topo, &(int){ 0 }, 1) ? cs_topo_cores(topo, 0) :
							       0;
	struct cs_worker *w[2];
	char all[128];

	if (cores < 2) {
		t_skip("NUMA node 0 has no two cores here");
		return;
	}
	for (int core = 0; core < 2; core++)
		w[core] = cs_worker_take(&workers, 0, core, NULL);
	t_must(w[0] && w[1] && w[0] != w[1]);
	t_ok(strcmp(cs_worker_cpus(w[0]), cs_worker_cpus(w[1])) != 0);
	cs_text(all, sizeof(all), "%s", cs_worker_cpus(w[0]));
	cs_topo_add_cpus(all, sizeof(all), cs_worker_cpus(w[1]));
	t_ok(strlen(all) > strlen(cs_worker_cpus(w[0])));
	for (int core = 0; core < 2; core++) {
		cs_worker_put(w[core]);
		t_ok(cs_worker_take(&workers, 0, core, NULL) == w[core]);
		cs_worker_put(w[core]);
	}
}

HOLDS("a NUMA node that is not there is refused") {
	struct cs_err err = { "" };

	t_ok(!cs_worker_take(&workers, 63, -1, &err));
	t_has(err.text, " 63: ");
}

/* Last: it stays so. */
HOLDS("nothing is worked once all gates are open for ever") {
	struct cs_worker *w = take(-1);

	cs_worker_arm(w, 9, &work);
	cs_worker_ready(w);
	cs_gate_release(board.at);
	cs_worker_await(w, &did);
	t_eq_int(did.counts, 0);
	t_eq_int(done, 0);
	cs_worker_put(w);
}
