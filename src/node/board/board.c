#include "node/board/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node/board/process.h"
#include "system/system.h"

uint64_t cs_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double cs_clock_s(void)
{
	return (double)cs_clock_ns() * 1e-9;
}

/* Not FUTEX_PRIVATE: the words are shared between processes. */
static void futex_wait(_Atomic uint32_t *word, uint32_t seen, int slice_ms)
{
	struct timespec t = { slice_ms / 1000, slice_ms % 1000 * 1000000L };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Spin for up to spin_ns; 1 when the word has changed. */
static int spin(_Atomic uint32_t *word, uint32_t seen, uint32_t spin_ns, int yields)
{
	uint64_t end = cs_clock_ns() + spin_ns;

	do {
		for (int i = 0; i < 16; i++) {
			if (atomic_load_explicit(word, memory_order_acquire) != seen)
				return 1;
			relax();
		}
		if (yields)
			sched_yield();
	} while (cs_clock_ns() < end);
	return 0;
}

static uint64_t page_up(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

int cs_board_create(const struct cs_plan *plan, int n_agents, uint32_t spin_ns,
		    struct cs_board_map *map, struct cs_err *err)
{
	uint64_t slots_at = (sizeof(struct cs_board) + CS_LINE - 1) / CS_LINE *
			    CS_LINE;
	uint64_t plan_at = slots_at + (uint64_t)n_agents * sizeof(struct cs_slot);
	uint64_t bytes = page_up(plan_at + plan->total_bytes);
	int fd = memfd_create("cscope-mpi board", MFD_CLOEXEC);
	struct cs_board *at = MAP_FAILED;

	if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes)) {
		cs_err_set(err, "cannot make a shared segment of %lu bytes: %s",
			   (unsigned long)bytes, strerror(errno));
		goto fail;
	}
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		cs_err_set(err, "cannot map a shared segment of %lu bytes: %s",
			   (unsigned long)bytes, strerror(errno));
		goto fail;
	}
	at->n_agents = (uint32_t)n_agents;
	at->spin_ns = spin_ns;
	at->total_bytes = bytes;
	at->slots_at = slots_at;
	at->plan_at = plan_at;
	at->coordinator = getpid();
	memcpy((char *)at + plan_at, plan, plan->total_bytes);
	for (int i = 0; i < n_agents; i++)
		cs_agent_facts_init(&cs_board_slot(at, i)->facts);
	at->magic = CS_BOARD_MAGIC;
	*map = (struct cs_board_map){ at, bytes, fd };
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}

int cs_board_attach(int64_t pid, int fd, struct cs_board_map *map, struct cs_err *err)
{
	char path[64];
	struct stat st;
	struct cs_board *at;
	int own;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)pid, fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	if (own < 0 || fstat(own, &st)) {
		cs_err_set(err,
			   "cannot open the shared segment of process %ld: %s; ranks of a node need /proc, one user and one PID namespace",
			   (long)pid, strerror(errno));
		goto fail;
	}
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, own,
		  0);
	if (at == MAP_FAILED) {
		cs_err_set(err, "cannot map the shared segment: %s", strerror(errno));
		goto fail;
	}
	if (at->magic != CS_BOARD_MAGIC || at->total_bytes != (uint64_t)st.st_size) {
		munmap(at, (size_t)st.st_size);
		cs_err_set(err,
			   "the shared segment of process %ld is of another program version",
			   (long)pid);
		goto fail;
	}
	*map = (struct cs_board_map){ at, (uint64_t)st.st_size, own };
	return 0;
fail:
	if (own >= 0)
		close(own);
	return -1;
}

void cs_board_release(struct cs_board_map *map)
{
	if (!map->at)
		return;
	cs_hostmem_count_in(NULL);
	munmap(map->at, map->bytes);
	close(map->fd);
	*map = (struct cs_board_map){ NULL, 0, -1 };
}

struct cs_slot *cs_board_slot(struct cs_board *board, int agent)
{
	return (struct cs_slot *)((char *)board + board->slots_at) + agent;
}

uint64_t cs_board_gpu_numa(struct cs_board *board)
{
	uint64_t numas = 0;

	for (uint32_t i = 0; i < board->n_agents; i++) {
		int numa = cs_board_slot(board, (int)i)->facts.gpu.own_numa;

		if (numa >= 0 && numa < (int)CS_NUMA_MOST)
			numas |= UINT64_C(1) << numa;
	}
	return numas;
}

const struct cs_plan *cs_board_plan(const struct cs_board *board)
{
	return (const struct cs_plan *)((const char *)board + board->plan_at);
}

void cs_gate_open(struct cs_board *board, uint32_t seq)
{
	atomic_store_explicit(&board->gate, seq, memory_order_release);
	futex_wake(&board->gate);
}

void cs_gate_void(struct cs_board *board, uint32_t seq)
{
	atomic_store(&board->void_seq, seq);
	cs_gate_open(board, seq);
}

static void ring_store(struct cs_ring_words *ring, uint32_t chunks)
{
	atomic_store(&ring->filled.word, chunks);
	atomic_store(&ring->emptied.word, chunks);
}

void cs_ring_release(struct cs_board *board, int agent, uint32_t seq)
{
	ring_store(&board->ring[agent], (seq + 1) * CS_CHUNKS_MAX);
}

static void net_store(struct cs_board *board, int agent, uint32_t chunks)
{
	for (int way = 0; way < CS_NET_WAYS; way++)
		ring_store(&board->net[agent][way], chunks);
}

void cs_net_release(struct cs_board *board, int agent, uint32_t seq)
{
	net_store(board, agent, (seq + 1) * CS_CHUNKS_MAX);
}

void cs_gate_release(struct cs_board *board)
{
	uint32_t gate = atomic_load(&board->gate);

	if (atomic_exchange(&board->released, 1))
		return;
	for (uint32_t i = 0; i < board->n_agents; i++) {
		ring_store(&board->ring[i], gate * CS_CHUNKS_MAX + CS_GATE_ALL);
		net_store(board, (int)i, gate * CS_CHUNKS_MAX + CS_GATE_ALL);
	}
	cs_gate_open(board, gate + CS_GATE_ALL);
}

void cs_gate_await(struct cs_board *board, uint32_t seq)
{
	while ((int32_t)(atomic_load_explicit(&board->gate, memory_order_acquire) -
			 seq) < 0)
		if (!board->spin_ns)
			sched_yield();
}

/* To wake up costs more than this. */
#define GATE_SPIN_NS 20000u
#define GATE_SLICE_MS 10

int cs_gate_wait(struct cs_board *board, uint32_t seq, int yields)
{
	uint32_t spin_ns = board->spin_ns > GATE_SPIN_NS ? board->spin_ns :
							   GATE_SPIN_NS;
	uint32_t seen;

	while ((int32_t)((seen = atomic_load(&board->gate)) - seq) < 0)
		if (!spin(&board->gate, seen, spin_ns, yields))
			futex_wait(&board->gate, seen, GATE_SLICE_MS);
	return atomic_load(&board->void_seq) != seq && !atomic_load(&board->released);
}

void cs_board_wait_command(struct cs_board *board, struct cs_slot *slot,
			   uint32_t seen, int slice_ms)
{
	if (!spin(&slot->command, seen, board->spin_ns, 0))
		futex_wait(&slot->command, seen, slice_ms);
}

void cs_board_replied(struct cs_board *board)
{
	atomic_fetch_add(&board->replies, 1);
	if (atomic_load(&board->waiting))
		futex_wake(&board->replies);
}

uint32_t cs_board_command(struct cs_board *board, int agent)
{
	struct cs_slot *slot = cs_board_slot(board, agent);
	uint32_t number = atomic_fetch_add(&slot->command, 1) + 1;

	futex_wake(&slot->command);
	return number;
}

void cs_board_wait_reply(struct cs_board *board, uint32_t seen, int slice_ms,
			 int spins)
{
	if (spins && spin(&board->replies, seen, board->spin_ns, 0))
		return;
	atomic_store(&board->waiting, 1);
	futex_wait(&board->replies, seen, slice_ms);
	atomic_store(&board->waiting, 0);
}

int cs_board_lacks_helper(struct cs_board *board, int agent)
{
	int64_t helper = atomic_load(&cs_board_slot(board, agent)->helper);
	struct cs_process process;
	int gone;

	if (!helper)
		return 0;
	cs_process_open(helper, &process);
	gone = cs_process_gone(&process);
	cs_process_close(&process);
	return gone;
}

void cs_board_call(struct cs_board *board, int placement)
{
	atomic_fetch_or(&board->called, 1u << placement);
	futex_wake(&board->end);
}

int cs_board_is_called(struct cs_board *board, int placement)
{
	return (atomic_load(&board->called) >> placement & 1) != 0;
}

void cs_board_end(struct cs_board *board, uint32_t how)
{
	atomic_store(&board->end, how);
	futex_wake(&board->end);
}

uint32_t cs_board_wait_end(struct cs_board *board, int slice_ms)
{
	if (!atomic_load(&board->end))
		futex_wait(&board->end, CS_STOP_NOT, slice_ms);
	return atomic_load(&board->end);
}
