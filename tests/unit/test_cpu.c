#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "tap.h"

#define BYTES (256u << 10)
#define HALF (BYTES / 2)
#define KEY 0x1234567890abcdefull

/* Two agents of this process with an arena each: the first half is the source,
 * the second the destination.  Board and arenas are shared with forked children. */
static const struct cs_backend *const cpu = &cs_backend_cpu;
static struct cs_dev *dev[2];
static struct cs_export arena[2];
static uint32_t *board; /* [0] the gate, [16] a stamp's word */

static void *memory(int *fd)
{
	void *at;

	*fd = memfd_create("test", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, BYTES))
		return NULL;
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

int tap_set_up(void)
{
	int fd, version = 4711;

	board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (board == MAP_FAILED || cpu->start(&version, NULL) || version)
		return -1;
	for (int i = 0; i < 2; i++) {
		void *host = memory(&fd);

		if (!host || cpu->open(0, 2, &dev[i], NULL) ||
		    cpu->board(dev[i], board, 4096, NULL) ||
		    cpu->arena(dev[i], BYTES, host, fd, &arena[i], NULL))
			return -1;
	}
	return 0;
}

int tap_tear_down(void)
{
	cpu->close(dev[0]);
	cpu->close(dev[1]);
	cpu->close(NULL);
	return 0;
}

/* Source of agent 0 filled, destination of agent 1 poisoned, the gate shut. */
static struct cs_copy prepare(void)
{
	board[0] = 0;
	board[16] = 0;
	cpu->fill(dev[0], arena[0].address, HALF, KEY, NULL);
	cpu->poison(dev[1], arena[1].address + HALF, HALF, NULL);
	return (struct cs_copy){ .dst = arena[1].address + HALF,
				 .src = arena[0].address,
				 .bytes = HALF,
				 .copies = 3 };
}

static struct cs_check arrived(void)
{
	struct cs_check check;

	cpu->check(dev[1], arena[1].address + HALF, &CS_EXPECTED(KEY, HALF), 0,
		   &check, NULL);
	return check;
}

static void open_gate(uint32_t value)
{
	__atomic_store_n(board, value, __ATOMIC_RELEASE);
}

HOLDS("bytes arrive and the time is more than nothing") {
	const struct cs_copy desc = prepare();
	double ns = -1;

	t_eq_int(cpu->arm(dev[0], 0, board, 1, &desc, NULL), 0);
	open_gate(1);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 1);
	t_ok(ns > 0);
	t_eq_int(arrived().wrong_words, 0);
}

HOLDS("a shut gate holds the copies back, and poll says not yet") {
	const struct cs_copy desc = prepare();
	double ns = -1;

	t_eq_int(cpu->arm(dev[0], 0, board, 1, &desc, NULL), 0);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 0);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 0);
	t_near(ns, -1, 0);
	t_eq_int(arrived().poison_words, HALF / 8);
	open_gate(1);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 1);
	t_eq_int(arrived().wrong_words, 0);
}

HOLDS("the cancelling value opens every gate") {
	struct cs_copy desc = prepare();
	double ns = -1;

	desc.copies = 0;
	t_eq_int(cpu->arm(dev[0], 0, board, 7, &desc, NULL), 0);
	open_gate(7 + (1u << 30));
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 1);
	t_eq_int(arrived().poison_words, HALF / 8);
}

HOLDS("the gate compares cyclically") {
	const struct cs_copy desc = prepare();
	double ns = -1;

	open_gate(UINT32_MAX);
	t_eq_int(cpu->arm(dev[0], 0, board, 1, &desc, NULL), 0);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 0);
	open_gate(2);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 1);
}

HOLDS("polling after the end repeats the time and copies nothing") {
	const struct cs_copy desc = prepare();
	double first = -1, again = -2;

	t_eq_int(cpu->arm(dev[0], 1, board, 1, &desc, NULL), 0);
	open_gate(1);
	t_eq_int(cpu->poll(dev[0], 1, &first, NULL), 1);
	cpu->poison(dev[1], arena[1].address + HALF, HALF, NULL);
	t_eq_int(cpu->poll(dev[0], 1, &again, NULL), 1);
	t_near(again, first, 0);
	t_eq_int(arrived().poison_words, HALF / 8);
}

HOLDS("lanes wait for their own number") {
	const struct cs_copy desc = prepare();
	double ns = -1;

	t_eq_int(cpu->arm(dev[0], 0, board, 2, &desc, NULL), 0);
	t_eq_int(cpu->arm_stamp(dev[0], 1, board, 1, &board[16], NULL), 0);
	open_gate(1);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 0);
	t_eq_int(cpu->poll(dev[0], 1, &ns, NULL), 1);
	t_eq_int(board[16], 1);
	t_eq_int(arrived().poison_words, HALF / 8);
	open_gate(2);
	t_eq_int(cpu->poll(dev[0], 0, &ns, NULL), 1);
}

HOLDS("a stamp is written when the gate opens, not before") {
	double ns = -1;

	prepare();
	t_eq_int(cpu->arm_stamp(dev[1], 0, board, 5, &board[16], NULL), 0);
	t_eq_int(cpu->poll(dev[1], 0, &ns, NULL), 0);
	t_eq_int(board[16], 0);
	open_gate(5);
	t_eq_int(cpu->poll(dev[1], 0, &ns, NULL), 1);
	t_eq_int(board[16], 5);
	t_near(ns, 0, 0);
}

HOLDS("a lane that is not open is an error") {
	const struct cs_copy desc = prepare();
	struct cs_err err = { "" };
	double ns;

	t_eq_int(cpu->arm(dev[0], 2, board, 1, &desc, &err), -1);
	t_has(err.text, "lane 2");
	t_eq_int(cpu->poll(dev[0], -1, &ns, &err), -1);
}

HOLDS("an arena of the same process is reached by its own address") {
	struct cs_mapping map = { 0 };

	t_eq_int(cpu->import(dev[0], &arena[1], &map, NULL), 0);
	t_eq_int(map.via, CS_VIA_SHM);
	t_ok(map.address == arena[1].address);
	t_eq_int(map.bytes, BYTES);
	cpu->unimport(dev[0], &map);
	/* still the owner's */
	cpu->poison(dev[1], arena[1].address, 16, NULL);
}

/* In a forked child: an agent of its own pulls from arena 0 and pushes to arena
 * 1 through mappings.  The exit status names the step that failed. */
static int child(void)
{
	struct cs_dev *mine;
	struct cs_mapping from, to;
	struct cs_copy desc;
	double ns = -1;
	int rc;

	if (cpu->open(0, 1, &mine, NULL))
		return 1;
	if (cpu->import(mine, &arena[0], &from, NULL) ||
	    cpu->import(mine, &arena[1], &to, NULL))
		return 2;
	/* the addresses of the parent are valid here too: it must not be them */
	if (to.via != CS_VIA_SHM || to.address == arena[1].address)
		return 3;
	desc = (struct cs_copy){ .dst = to.address + HALF,
				 .src = from.address,
				 .bytes = HALF,
				 .copies = 2 };
	if (cpu->arm(mine, 0, board, 1, &desc, NULL))
		return 4;
	if (cpu->poll(mine, 0, &ns, NULL))
		return 5;
	__atomic_store_n(&board[16], 1, __ATOMIC_RELEASE);
	while (!(rc = cpu->poll(mine, 0, &ns, NULL)))
		;
	if (rc != 1 || !(ns > 0))
		return 6;
	cpu->unimport(mine, &to);
	cpu->close(mine);
	return 0;
}

HOLDS("a child maps both arenas, waits for the gate and copies") {
	int status = -1;
	pid_t pid;

	prepare();
	pid = fork();
	if (pid == 0) {
		alarm(30);
		_exit(child());
	}
	while (!__atomic_load_n(&board[16], __ATOMIC_ACQUIRE) &&
	       waitpid(pid, &status, WNOHANG) == 0)
		sched_yield();
	t_eq_int(arrived().poison_words, HALF / 8);
	open_gate(1);
	waitpid(pid, &status, 0);
	t_ok(WIFEXITED(status));
	t_eq_int(WEXITSTATUS(status), 0);
	t_eq_int(arrived().wrong_words, 0);
}

HOLDS("an arena in another PID namespace is refused with a hint") {
	struct cs_export foreign = arena[1];
	struct cs_mapping map = { .via = 77 };
	struct cs_err err = { "" };

	foreign.pid_ns++;
	t_eq_int(cpu->import(dev[0], &foreign, &map, &err), -1);
	t_has(err.text, "PID namespace");
	t_eq_int(map.via, 77);
}

HOLDS("an arena whose process is gone is refused by name") {
	struct cs_export gone = arena[1];
	struct cs_mapping map = { .via = 77 };
	struct cs_err err = { "" };

	gone.pid = 0x7fffffff;
	t_eq_int(cpu->import(dev[0], &gone, &map, &err), -1);
	t_has(err.text, "/proc/2147483647/fd/");
	t_eq_int(map.via, 77);
}

/* In a child, so that the parent's memory is a peer's. */
static int import_too_much(void)
{
	struct cs_export larger = arena[1];
	struct cs_mapping map;
	struct cs_err err = { "" };

	larger.bytes += 4096;
	return cpu->import(dev[0], &larger, &map, &err) == -1 &&
			       strstr(err.text, "less than") ?
		       0 :
		       1;
}

HOLDS("an arena shorter than published is refused") {
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(import_too_much());
	t_eq_int(waitpid(pid, &status, 0), pid);
	t_eq_int(status, 0);
}

HOLDS("check can leave poison behind") {
	struct cs_check check;

	prepare();
	cpu->check(dev[0], arena[0].address, &CS_EXPECTED(KEY, HALF), 1, &check, NULL);
	t_eq_int(check.wrong_words, 0);
	cpu->check(dev[0], arena[0].address, &CS_EXPECTED(KEY, HALF), 0, &check, NULL);
	t_eq_int(check.poison_words, HALF / 8);
}

HOLDS("probe finds no devices") {
	struct cs_gpu_facts gpu;
	int n = 4711;

	t_eq_int(cpu->probe(&gpu, 1, &n, NULL), 0);
	t_eq_int(n, 0);
	t_eq_int(cpu->broken(dev[0]), 0);
}
