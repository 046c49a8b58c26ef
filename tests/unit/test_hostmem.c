#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/place.h"
#include "tap.h"

#define MIB (1u << 20)

static int first_domain(void)
{
	struct cs_topo *topo = NULL;
	int domain = -1;

	if (cs_topo_open(NULL, &topo, NULL) == 0)
		cs_topo_domains(topo, &domain, 1);
	cs_topo_close(topo);
	return domain;
}

static void proven_on_its_domain(void)
{
	const int domain = first_domain();
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "";

	if (!t_eq_int(cs_hostmem_open(4 * MIB, domain, &mem, why, &err), 0))
		return;
	if (mem.numa < 0) {
		printf("# %s\n", why);
		t_ok(why[0]);
		t_skip("this kernel does not say where pages are");
	} else {
		t_eq_int(mem.numa, domain);
		t_ok(!strcmp(mem.proof, "move_pages") ||
		     !strcmp(mem.proof, "numa_maps"));
		t_eq_str(why, "");
	}
	t_eq_int(mem.bytes, 4 * MIB);
	cs_hostmem_close(&mem);
}

static void impossible_domain_is_no_error(void)
{
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "";

	if (!t_eq_int(cs_hostmem_open(MIB, 4711, &mem, why, &err), 0))
		return;
	t_eq_int(mem.numa, -1);
	t_eq_str(mem.proof, "");
	t_ok(strstr(why, "4711") != NULL);
	memset(mem.at, 1, MIB);
	cs_hostmem_close(&mem);

	if (!t_eq_int(cs_hostmem_open(MIB, 1000, &mem, why, &err), 0))
		return;
	t_eq_int(mem.numa, -1);
	t_ok(strstr(why, "NUMA domain 1000") != NULL);
	cs_hostmem_close(&mem);
}

/* As Docker's filter does to a container without CAP_SYS_NICE. */
static int forbid_placing(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
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
static int open_in_container(int domain)
{
	struct cs_hostmem mem = { 0 };
	char why[160] = "";

	if (forbid_placing() || access("/proc/self/numa_maps", R_OK))
		return 77;
	/* by first touch the pages are on the only domain all the same */
	if (cs_hostmem_open(4 * MIB, domain, &mem, why, NULL))
		return 1;
	if (mem.numa != domain || strcmp(mem.proof, "numa_maps") || why[0])
		return 2;
	cs_hostmem_close(&mem);
	if (cs_hostmem_open(4 * MIB, domain + 1, &mem, why, NULL))
		return 3;
	return mem.numa == -1 && strstr(why, "--cap-add=SYS_NICE") ? 0 : 4;
}

static void proven_in_a_container(void)
{
	int status = -1, domain[2];
	struct cs_topo *topo = NULL;
	int n;
	pid_t pid;

	if (!t_eq_int(cs_topo_open(NULL, &topo, NULL), 0))
		return;
	n = cs_topo_domains(topo, domain, 2);
	cs_topo_close(topo);
	if (n != 1) {
		t_skip("first touch may choose among several domains");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(open_in_container(domain[0]));
	t_eq_int(waitpid(pid, &status, 0), pid);
	t_ok(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		t_skip("no seccomp, or no numa_maps");
	else
		t_eq_int(WEXITSTATUS(status), 0);
}

static void anywhere(void)
{
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "";

	/* not a whole number of pages */
	if (!t_eq_int(cs_hostmem_open(MIB + 16, -1, &mem, why, &err), 0))
		return;
	((char *)mem.at)[MIB + 15] = 1;
	cs_hostmem_close(&mem);
}

static void others_see_it(void)
{
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "", path[64], byte = 0;
	int fd;

	if (!t_eq_int(cs_hostmem_open(MIB, -1, &mem, why, &err), 0))
		return;
	((char *)mem.at)[MIB - 1] = 42;
	cs_text(path, sizeof(path), "/proc/self/fd/%d", mem.fd);
	fd = open(path, O_RDONLY);
	if (t_ok(fd >= 0)) {
		t_eq_int(pread(fd, &byte, 1, MIB - 1), 1);
		t_eq_int(byte, 42);
		close(fd);
	}
	cs_hostmem_close(&mem);
}

static void all_pages_are_there(void)
{
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "";
	struct stat st;

	if (!t_eq_int(cs_hostmem_open(MIB, -1, &mem, why, &err), 0))
		return;
	t_eq_int(fstat(mem.fd, &st), 0);
	t_eq_int(st.st_blocks * 512, MIB);
	cs_hostmem_close(&mem);
}

static void too_much(void)
{
	struct cs_hostmem mem = { .fd = 7 };
	struct cs_err err = { "" };
	char why[160] = "untouched";

	/* 64 TiB: a mapping of it succeeds, the memory does not exist */
	t_eq_int(cs_hostmem_open(1ull << 46, -1, &mem, why, &err), -1);
	t_ok(strstr(err.text, "70368744177664 bytes") != NULL);
	t_eq_int(mem.fd, 7);
	t_eq_str(why, "untouched");
	t_eq_int(cs_hostmem_open(UINT64_MAX, -1, &mem, why, &err), -1);
	t_eq_int(cs_hostmem_open(0, -1, &mem, why, &err), -1);
}

static void closes_what_is_not_open(void)
{
	struct cs_hostmem mem = { 0 };
	struct cs_err err = { "" };
	char why[160] = "";

	cs_hostmem_close(NULL);
	cs_hostmem_close(&mem);
	t_ok(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
	if (!t_eq_int(cs_hostmem_open(MIB, -1, &mem, why, &err), 0))
		return;
	cs_hostmem_close(&mem);
	cs_hostmem_close(&mem);
	t_ok(mem.at == NULL);
	t_eq_int(mem.fd, -1);
}

static const struct tap_test tests[] = {
	{ "pages asked for on a domain are proven to be there",
	  proven_on_its_domain },
	{ "a domain that cannot be bound is told, and the memory is given",
	  impossible_domain_is_no_error },
	{ "where placement calls are forbidden, numa_maps proves or the reason is told",
	  proven_in_a_container },
	{ "memory without a domain has any size", anywhere },
	{ "another opener of the descriptor sees the same bytes", others_see_it },
	{ "every page exists when the call returns", all_pages_are_there },
	{ "more than there is is an error that names the bytes", too_much },
	{ "closing twice, or what was never open, is harmless",
	  closes_what_is_not_open },
	{ NULL, NULL },
};

int main(void)
{
	return tap_main("hostmem", NULL, NULL, tests);
}
