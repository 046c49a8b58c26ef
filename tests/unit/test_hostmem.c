#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/internal.h"
#include "root.h"
#include "topology.h"

#define MIB (1u << 20)

static struct cs_hostmem mem;
static struct cs_err err;
static char why[160]; /* a NUMA node is not proven */

static void close_memory(void *memory)
{
	cs_hostmem_close(memory);
}

/* Open `mem`, until the test ends. */
static void open_memory(uint64_t bytes, int node)
{
	why[0] = '\0';
	t_must(!cs_hostmem_open(bytes, node, &mem, why, &err));
	t_at_end(close_memory, &mem);
}

/* For an opening that fails. */
static void leave_untouched(void)
{
	mem = (struct cs_hostmem){ .fd = 7 };
	cs_text(why, sizeof(why), "untouched");
}

static int first_numa(void)
{
	int node = -1;

	cs_topo_numa(topology(NULL), &node, 1);
	return node;
}

HOLDS("pages asked for on a NUMA node are proven to be there") {
	const int node = first_numa();

	open_memory(4 * MIB, node);
	if (mem.numa < 0) {
		printf("# %s\n", why);
		t_ok(why[0]);
		t_skip("this kernel does not say where pages are");
	} else {
		t_eq_int(mem.numa, node);
		t_ok(!strcmp(mem.proof, "move_pages") ||
		     !strcmp(mem.proof, "numa_maps"));
		t_eq_str(why, "");
	}
	t_eq_int(mem.bytes, 4 * MIB);
}

HOLDS("parts of one memory have a NUMA node each, and are proven each") {
	const int node = first_numa(), numa[] = { node, 4711, -1 };
	int proven[3] = { 9, 9, 9 };

	why[0] = '\0';
	t_must(!cs_hostmem_open_parts(MIB, numa, 3, &mem, proven, why, &err));
	t_eq_int(mem.bytes, 3 * MIB);
	t_eq_int(mem.numa, proven[0]);
	t_eq_int(proven[1], -1);
	t_ok(why[0]); /* of the second */
	if (proven[0] < 0)
		t_skip("this kernel does not say where pages are");
	else
		t_eq_int(proven[0], node);
	memset(mem.at, 1, mem.bytes);
	cs_hostmem_close(&mem);
}

HOLDS("a NUMA node that cannot be bound is told, and the memory is given") {
	open_memory(MIB, 4711);
	t_eq_int(mem.numa, -1);
	t_eq_str(mem.proof, "");
	t_has(why, "4711");
	memset(mem.at, 1, MIB);
	cs_hostmem_close(&mem);

	open_memory(MIB, 1000);
	t_eq_int(mem.numa, -1);
	t_has(why, "NUMA node 1000");
	cs_hostmem_close(&mem);
}

/* As Docker's filter does to a container without CAP_SYS_NICE. */
static int forbid_placing(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a child: 0 as expected, 77 nothing to test here, else what was wrong. */
static int open_in_container(int node)
{
	if (forbid_placing() || access("/proc/self/numa_maps", R_OK))
		return 77;
	why[0] = '\0';
	/* by first touch the pages are on the only NUMA node all the same */
	if (cs_hostmem_open(4 * MIB, node, &mem, why, NULL))
		return 1;
	if (mem.numa != node || strcmp(mem.proof, "numa_maps") || why[0])
		return 2;
	cs_hostmem_close(&mem);
	if (cs_hostmem_open(4 * MIB, node + 1, &mem, why, NULL))
		return 3;
	return mem.numa == -1 && strstr(why, "--cap-add=SYS_NICE") ? 0 : 4;
}

HOLDS("where placement calls are forbidden, numa_maps proves or the reason is told") {
	int status = -1, node[2];
	pid_t pid;

	if (cs_topo_numa(topology(NULL), node, 2) != 1) {
		t_skip("first touch may choose among several NUMA nodes");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(open_in_container(node[0]));
	t_eq_int(waitpid(pid, &status, 0), pid);
	t_ok(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		t_skip("no seccomp, or no numa_maps");
	else
		t_eq_int(WEXITSTATUS(status), 0);
}

HOLDS("memory without a NUMA node has any size") {
	/* not a whole number of pages */
	open_memory(MIB + 16, -1);
	((char *)mem.at)[MIB + 15] = 1;
}

HOLDS("another opener of the descriptor sees the same bytes") {
	char path[64], byte = 0;
	int fd;

	open_memory(MIB, -1);
	((char *)mem.at)[MIB - 1] = 42;
	cs_text(path, sizeof(path), "/proc/self/fd/%d", mem.fd);
	fd = open(path, O_RDONLY);
	if (t_ok(fd >= 0)) {
		t_eq_int(pread(fd, &byte, 1, MIB - 1), 1);
		t_eq_int(byte, 42);
		close(fd);
	}
}

HOLDS("every page exists when the call returns") {
	struct stat st;

	open_memory(MIB, -1);
	t_eq_int(fstat(mem.fd, &st), 0);
	t_eq_int(st.st_blocks * 512, MIB);
}

HOLDS("more than there is is an error that names the bytes") {
	leave_untouched();
	/* 64 TiB: a mapping of it succeeds, the memory does not exist */
	t_eq_int(cs_hostmem_open(1ull << 46, -1, &mem, why, &err), -1);
	t_has(err.text, "70368744177664 bytes");
	t_eq_int(mem.fd, 7);
	t_eq_str(why, "untouched");
	t_eq_int(cs_hostmem_open(UINT64_MAX, -1, &mem, why, &err), -1);
	t_eq_int(cs_hostmem_open(0, -1, &mem, why, &err), -1);
}

/* ---- several at once ---- */

#define ASKERS 4
#define WANTED 100

static _Atomic uint64_t claimed, filled, limit;

/* As the kernel counts: what is filled is gone. */
static uint64_t left_of_limit(void *ctx)
{
	(void)ctx;
	return limit > filled ? limit - filled : 0;
}

/* Gets its memory in two parts, and keeps it. */
static void *ask(void *given)
{
	if (cs_claim(&claimed, WANTED, left_of_limit, NULL))
		return NULL;
	filled += WANTED / 2;
	sched_yield();
	filled += WANTED / 2;
	claimed -= WANTED;
	*(int *)given = 1;
	return NULL;
}

static int given_of(uint64_t most)
{
	pthread_t thread[ASKERS];
	int given[ASKERS] = { 0 }, sum = 0;

	limit = most;
	claimed = filled = 0;
	for (int i = 0; i < ASKERS; i++)
		pthread_create(&thread[i], NULL, ask, &given[i]);
	for (int i = 0; i < ASKERS; i++) {
		pthread_join(thread[i], NULL);
		sum += given[i];
	}
	t_ok(filled <= most);
	return sum;
}

HOLDS("of several who ask at once that many are given as there is room for") {
	for (int times = 0; times < 50; times++) {
		t_eq_int(given_of(ASKERS * WANTED), ASKERS);
		t_eq_int(given_of(ASKERS * WANTED - 1), ASKERS - 1);
		t_eq_int(given_of(WANTED), 1);
		t_eq_int(given_of(WANTED - 1), 0);
	}
	t_eq_int(claimed, 0);
	t_eq_int(cs_claim(&claimed, UINT64_MAX, left_of_limit, NULL), -1);
}

HOLDS("closing twice, or what was never open, is harmless") {
	mem = (struct cs_hostmem){ 0 };
	cs_hostmem_close(NULL);
	cs_hostmem_close(&mem);
	t_ok(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
	open_memory(MIB, -1);
	cs_hostmem_close(&mem);
	cs_hostmem_close(&mem);
	t_ok(mem.at == NULL);
	t_eq_int(mem.fd, -1);
}

/* ---- memory of this process alone ---- */

HOLDS("memory of this process alone is proven too") {
	const int node = first_numa();
	struct cs_hostmem both[2] = { { 0 }, { 0 } };

	why[0] = '\0';
	/* two, whose mappings the kernel may join; not a whole number of pages */
	for (int i = 0; i < 2; i++) {
		if (!t_eq_int(cs_hostmem_map(MIB + 16, node, 0, &both[i], why, &err),
			      0))
			return;
		t_ok(both[i].numa == node ? !why[0] : why[0] != 0);
		t_eq_int(both[i].fd, -1);
		((char *)both[i].at)[MIB + 15] = 1;
	}
	cs_hostmem_close(&both[0]);
	cs_hostmem_close(&both[1]);
	t_ok(both[1].at == NULL);
}

HOLDS("... and every page of it exists, also of so much that threads share the touch") {
	const uint64_t bytes = 100 * MIB + 16, page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pages = (bytes + page - 1) / page;
	unsigned char *present = t_free_later(malloc(pages));
	struct cs_hostmem much = { 0 };
	uint64_t there = 0;

	why[0] = '\0';
	if (!t_eq_int(cs_hostmem_map(bytes, -1, 0, &much, why, &err), 0))
		return;
	t_eq_int(mincore(much.at, much.mapped, present), 0);
	for (uint64_t i = 0; i < pages; i++)
		there += present[i] & 1;
	t_eq_int(there, pages);
	cs_hostmem_close(&much);
}

HOLDS("huge pages are had on their boundary, or the error says why not") {
	leave_untouched();
	if (cs_hostmem_map(5 * MIB, -1, 1, &mem, why, &err)) {
		printf("# %s\n", err.text);
		t_has(err.text, "no huge pages: 3 of 2 MiB");
		t_eq_int(mem.fd, 7);
		t_eq_str(why, "untouched");
		return;
	}
	t_eq_int((uintptr_t)mem.at % (2 * MIB), 0);
	t_eq_int(mem.bytes, 5 * MIB);
	t_eq_int(mem.mapped, 6 * MIB);
	cs_hostmem_close(&mem);
}

HOLDS("more than there is is an error of any pages") {
	leave_untouched();
	for (int huge = 0; huge <= 1; huge++) {
		t_eq_int(cs_hostmem_map(1ull << 46, -1, huge, &mem, why, &err), -1);
		t_has(err.text, "70368744177664 bytes");
	}
	t_eq_int(cs_hostmem_map(0, -1, 0, &mem, why, &err), -1);
	t_eq_int(cs_hostmem_map(UINT64_MAX, -1, 1, &mem, why, &err), -1);
	t_eq_int(mem.fd, 7);
	t_eq_str(why, "untouched");
}

/* ---- NUMA nodes and policies ---- */

HOLDS("a NUMA node without memory is told from one with") {
	t_eq_int(cs_hostmem_numa(-1, &err), 0);
	t_eq_int(cs_hostmem_numa(first_numa(), &err), 0);
	t_eq_int(cs_hostmem_numa(1000, &err), -1);
	t_has(err.text, "NUMA node 1000 has no memory");
	t_eq_int(cs_hostmem_numa(100000, &err), -1);
}

static int policy_mode(void)
{
	int mode = -1;

	return syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) ? -1 : mode;
}

HOLDS("a policy binds the thread until it is restored") {
	const int usual = policy_mode();
	struct cs_policy before;

	why[0] = '\0';
	if (cs_policy_bind(first_numa(), &before, why)) {
		printf("# %s\n", why);
		t_ok(why[0]);
		t_skip("policies are forbidden here");
		return;
	}
	t_ok(policy_mode() != usual);
	cs_policy_restore(&before);
	t_eq_int(policy_mode(), usual);
	t_eq_int(cs_policy_bind(1000, &before, why), -1);
	t_has(why, "NUMA node 1000");
	cs_policy_restore(&before);
	t_eq_int(policy_mode(), usual);
}

/* Pages that were never touched stand for those that the kernel does not show. */
HOLDS("of a driver's pages that nobody shows the policy is told, or nothing") {
	void *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0); /* joined with none */

	t_must(at != MAP_FAILED);
	mem = (struct cs_hostmem){ .at = at, .bytes = MIB, .fd = -1, .numa = -1 };
	why[0] = '\0';
	cs_hostmem_prove_driver(&mem, 1000, 1, why);
	t_eq_int(mem.numa, -1);
	t_eq_str(mem.proof, "policy");
	t_has(why, "bound when it was allocated");
	mem.proof[0] = why[0] = 0;
	cs_hostmem_prove_driver(&mem, 1000, 0, why);
	t_eq_int(mem.numa, -1);
	t_eq_str(mem.proof, "");
	t_ok(why[0]);
	memset(at, 1, MIB);
	why[0] = 0;
	cs_hostmem_prove_driver(&mem, -1, 0, why);
	t_ok(mem.numa >= 0 ? mem.proof[0] && !why[0] : why[0]);
	munmap(at, MIB);
}

/* Half of the pages are there.  Where GPUs' memory is a NUMA node, what lies on it is on
 * no host. */
HOLDS("of a range the pages on the host are counted, not those on a NUMA node that "
      "is a GPU's memory") {
	char *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct cs_resident seen;

	t_must(at != MAP_FAILED);
	madvise(at, MIB, MADV_NOHUGEPAGE);
	memset(at, 1, MIB / 2);
	if (cs_resident(at, MIB, 0, &seen) || strcmp(seen.by, "move_pages") != 0) {
		t_skip("this kernel does not say where pages are");
	} else {
		t_eq_int(seen.pages, MIB / page);
		t_eq_int(seen.here, MIB / 2 / page);
		t_ok(seen.numa >= 0);
		t_eq_int(cs_resident(at, MIB, UINT64_C(1) << seen.numa, &seen), 0);
		t_eq_int(seen.here, 0);
		t_eq_int(seen.numa, CS_RESIDENT_NONE);
		t_eq_int(cs_resident(at, MIB, UINT64_C(1) << 63, &seen), 0);
		t_eq_int(seen.here, MIB / 2 / page);
	}
	munmap(at, MIB);
}

/* ---- files below a root of our own ---- */

#define NODE "/sys/devices/system/node/"

HOLDS("a NUMA node has left what is free and what files give back") {
	make_root();
	t_ok(cs_numa_left(root, 0) == UINT64_MAX);
	put_file("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 700 kB\n");
	put_file(NODE "has_memory", "0-1\n");
	put_file(NODE "node0/meminfo",
		 "Node 0 MemTotal: 600 kB\n"
		 "Node 0 MemFree: 400 kB\nNode 0 Active: 90 kB\n"
		 "Node 0 Active(file): 30 kB\nNode 0 Inactive(file): 20 kB\n"
		 "Node 0 SReclaimable: 5 kB\n");
	/* NUMA nodes that show less than the machine has */
	put_file(NODE "node1/meminfo", "Node 1 MemTotal: 100 kB\n"
				       "Node 1 MemFree: 3 kB\n");
	t_ok(cs_numa_left(root, 1) == UINT64_MAX);
	put_file(NODE "node1/meminfo", "Node 1 MemTotal: 400 kB\n"
				       "Node 1 MemFree: 3 kB\n");
	t_eq_int(cs_numa_left(root, 0), 455 << 10);
	t_eq_int(cs_numa_left(root, 1), 3 << 10);
	t_ok(cs_numa_left(root, -1) == UINT64_MAX);
}

HOLDS("a cgroup leaves what its limit does, files not counted") {
	make_root();
	t_ok(cs_cgroup_left(root) == UINT64_MAX);
	put_file("/proc/self/cgroup", "0::/job/step\n");
	put_file("/sys/fs/cgroup/job/step/memory.max", "max\n");
	t_ok(cs_cgroup_left(root) == UINT64_MAX);
	/* 1000 may be had, 900 are, of which files are given back: 20 + 30 */
	put_file("/sys/fs/cgroup/job/memory.max", "1000\n");
	put_file("/sys/fs/cgroup/job/memory.current", "900\n");
	put_file("/sys/fs/cgroup/job/memory.stat",
		 "anon 1\nfile 500\ninactive_file 20\nactive_file 30\n");
	t_eq_int(cs_cgroup_left(root), 150);
	/* the tightest counts; more in use than allowed is nothing left */
	put_file("/sys/fs/cgroup/job/step/memory.max", "5000\n");
	put_file("/sys/fs/cgroup/job/step/memory.current", "4900\n");
	t_eq_int(cs_cgroup_left(root), 100);
	put_file("/sys/fs/cgroup/job/step/memory.current", "5001\n");
	t_eq_int(cs_cgroup_left(root), 0);
	/* version 1 */
	put_file("/proc/self/cgroup", "4:memory:/old\n");
	put_file("/sys/fs/cgroup/memory/old/memory.limit_in_bytes",
		 "9223372036854771712\n");
	t_ok(cs_cgroup_left(root) == UINT64_MAX);
	put_file("/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "300\n");
	put_file("/sys/fs/cgroup/memory/old/memory.usage_in_bytes", "100\n");
	t_eq_int(cs_cgroup_left(root), 200);
}
