#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/document.h"
#include "report/report.h"

#include "canned.h"

static char folder[] = "/tmp/cscope-output-XXXXXX";
static struct canned run;
static struct cs_output out;
static struct cs_err err;
static const struct cs_view_options plain;

int tap_set_up(void)
{
	run = canned(1, 2, 0, "peer.ce.write.pair", 1);
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int empty_folder(void)
{
	return system("find . -mindepth 1 -delete");
}

void tap_before(void)
{
	tap_must(!empty_folder()); /* which is no assertion of the test */
}

int tap_tear_down(void)
{
	canned_release(&run);
	return empty_folder() || chdir("/") || rmdir(folder) ? -1 : 0;
}

static int count_files(void)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

static long size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? -1 : (long)st.st_size;
}

HOLDS("%N, %j, %t and %% in a name are replaced") {
	t_must(!cs_output_open(&out, "%N-%j-%t-%%.json", &run.run, &err));
	t_eq_str(out.path, "n001-81233-20261120T140311Z-%.json");
	t_eq_str(out.format->name, "json");
	cs_output_discard(&out);
}

/* What stands for %N and %j comes from files and launchers. */
HOLDS("a host's or a job's name leads to no other folder and is no option") {
	static const char *const job[][2] = {
		{ "../x", "_._x.csv" },	      { "..", "_..csv" },
		{ "a/b", "a_b.csv" },	      { "12[3].pbs", "12[3].pbs.csv" },
		{ "a\nb\033c", "a_b_c.csv" }, { "-rf", "_rf.csv" },
		{ "~x y", "_x y.csv" },	      { "\xe2\x80\xaex", "___x.csv" },
	};
	char was[sizeof(run.run.job_id)], name[64];

	memcpy(was, run.run.job_id, sizeof(was));
	for (size_t i = 0; i < sizeof(job) / sizeof(job[0]); i++) {
		cs_text(run.run.job_id, sizeof(run.run.job_id), "%s", job[i][0]);
		t_eq_int(cs_output_name("%j.csv", &run.run, name, sizeof(name), &err),
			 0);
		t_eq_str(name, job[i][1]);
	}
	memcpy(run.run.job_id, was, sizeof(was));
}

HOLDS("a job without an id is called none") {
	char job[sizeof(run.run.job_id)];

	memcpy(job, run.run.job_id, sizeof(job));
	run.run.job_id[0] = '\0';
	if (t_eq_int(cs_output_open(&out, "%j.csv", &run.run, &err), 0)) {
		t_eq_str(out.path, "none.csv");
		cs_output_discard(&out);
	}
	memcpy(run.run.job_id, job, sizeof(job));
}

HOLDS("%N is this host before the nodes are known") {
	struct cs_run early = run.run;
	char host[256] = "";

	early.n_nodes = 0;
	early.node = NULL;
	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	t_must(!cs_output_open(&out, "%N.txt", &early, &err));
	t_ok(strncmp(out.path, host, strlen(host)) == 0);
	t_eq_str(out.path + strlen(host), ".txt");
	cs_output_discard(&out);
}

HOLDS("an unknown letter behind % is refused and nothing touched") {
	out = (struct cs_output){ .path = "untouched" };

	t_eq_int(cs_output_open(&out, "a%x.json", &run.run, &err), -1);
	t_eq_str(err.text, "'%x' in an output's name: allowed are %N, %j, %t and %%");
	t_eq_int(cs_output_open(&out, "a.json%", &run.run, &err), -1);
	t_eq_str(out.path, "untouched");
}

HOLDS("an ending that is no format is refused") {
	t_eq_int(cs_output_open(&out, "a.htm", &run.run, &err), -1);
	t_eq_str(err.text,
		 "cannot tell what to write to 'a.htm': its name must end "
		 "in .txt, .html, .json, .jsonl, .csv, .prom, .xml or .trace.json");
	t_eq_int(cs_output_open(&out, "d.json/.json", &run.run, &err), -1);
	t_eq_int(cs_output_open(&out, "", &run.run, &err), -1);
}

HOLDS("a name that is too long is refused") {
	char name[2000];

	memset(name, 'x', sizeof(name));
	cs_text(name + sizeof(name) - 6, 6, ".json");
	t_eq_int(cs_output_open(&out, name, &run.run, &err), -1);
	t_has(err.text, "longer than");
}

HOLDS("what cannot be written is said at once, with its cause") {
	t_eq_int(cs_output_open(&out, "x/y.json", &run.run, &err), -1);
	t_eq_str(err.text, "cannot write 'x/y.json': No such file or directory");
	t_eq_int(cs_output_open(&out, "x/y.jsonl", &run.run, &err), -1);
	t_eq_str(err.text, "cannot write 'x/y.jsonl': No such file or directory");
	mkdir("d.json", 0777);
	t_eq_int(cs_output_open(&out, "d.json", &run.run, &err), -1);
	t_eq_str(err.text, "cannot write 'd.json': Is a directory");
	rmdir("d.json");
	t_eq_int(count_files(), 0);
}

/* A name that has room for itself alone. */
HOLDS("a name of 255 bytes is written, a longer one refused at once") {
	char name[257];

	memset(name, 'x', sizeof(name));
	cs_text(name + 250, 6, ".json");
	if (t_eq_int(cs_output_open(&out, name, &run.run, &err), 0))
		t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
	t_ok(size_of(name) > 0);
	unlink(name);
	memset(name, 'x', sizeof(name));
	cs_text(name + 251, 6, ".json");
	t_eq_int(cs_output_open(&out, name, &run.run, &err), -1);
	t_has(err.text, "': File name too long");
	t_eq_int(count_files(), 0);
}

/* In a process of its own, as somebody else: 0 well, 1 wrong, 2 cannot tell. */
static int replace_others(void)
{
	if (seteuid(65534))
		return 2;
	if (cs_output_open(&out, "sticky/a.json", &run.run, &err) != -1 ||
	    strcmp(err.text, "cannot write 'sticky/a.json': Operation not permitted"))
		return 1;
	if (cs_output_open(&out, "sticky/b.json", &run.run, &err) != -1 ||
	    strcmp(err.text, "cannot write 'sticky/b.json': Permission denied"))
		return 1;
	if (cs_output_create(&out, "sticky/c.jsonl", 1, &err) != -1 ||
	    strcmp(err.text, "cannot write 'sticky/c.jsonl': Permission denied"))
		return 1;
	if (cs_output_descriptor("sticky/c.jsonl", O_APPEND) != -1 || errno != EACCES)
		return 1;
	if (cs_output_open(&out, "sticky/d.json", &run.run, &err) != -1 ||
	    strcmp(err.text, "cannot write 'sticky/d.json': Permission denied"))
		return 1;
	if (cs_output_create(&out, "sticky/e.jsonl", 1, &err))
		return 1;
	cs_output_discard(&out);
	return 0;
}

static int in_child(int (*of)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(of());
	t_eq_int(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

HOLDS("in a sticky folder others' files are not replaced, nor their links followed") {
	int got;

	if (geteuid()) {
		t_skip("only root makes files of somebody else");
		return;
	}
	chmod(".", 0755);
	mkdir("sticky", 0777);
	t_eq_int(chmod("sticky", 01777) || chown("sticky", 1, 1), 0);
	put_file("sticky/a.json", "old");
	put_file("theirs.jsonl", "old");
	t_eq_int(chmod("theirs.jsonl", 0666) || symlink("nowhere", "sticky/b.json") ||
			 symlink("../theirs.jsonl", "sticky/c.jsonl") ||
			 symlink("/dev/null", "sticky/d.json") ||
			 symlink("../theirs.jsonl", "sticky/e.jsonl") ||
			 lchown("sticky/e.jsonl", 1, 1),
		 0);
	got = in_child(replace_others);
	if (got == 2)
		t_skip("no other user to be");
	else
		t_eq_int(got, 0);
	t_eq_int(size_of("sticky/a.json"), 3);
}

static int is_link(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && S_ISLNK(st.st_mode);
}

static void write_through(const char *name)
{
	if (!t_eq_int(cs_output_open(&out, name, &run.run, &err), 0))
		return;
	t_eq_str(out.path, name);
	t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
	t_ok(is_link(name));
}

HOLDS("links are followed and stay, also to what is not there yet") {
	mkdir("d", 0777);
	put_file("d/old.json", "old");
	t_eq_int(symlink("d/old.json", "a.json") || symlink("../a.json", "d/b.json") ||
			 symlink("d/new.json", "c.json") ||
			 symlink("x.json", "x.json"),
		 0);
	write_through("d/b.json");
	t_ok(is_link("a.json"));
	t_ok(size_of("d/old.json") > 3);
	write_through("c.json");
	t_ok(size_of("d/new.json") > 3);
	t_eq_int(cs_output_open(&out, "x.json", &run.run, &err), -1);
	t_eq_str(err.text, "cannot write 'x.json': Too many levels of symbolic links");
	t_eq_int(count_files(), 4);
}

HOLDS("discarding removes the temporary file and keeps the old one") {
	put_file("a.json", "old");
	if (t_eq_int(cs_output_open(&out, "a.json", &run.run, &err), 0)) {
		t_eq_int(count_files(), out.nameless ? 1 : 2);
		cs_output_discard(&out);
		cs_output_discard(&out);
	}
	t_eq_int(count_files(), 1);
	t_eq_int(size_of("a.json"), 3);
	cs_output_discard(NULL);
}

HOLDS("committing replaces the old file at once, with the user's umask") {
	struct stat st;
	mode_t mask = umask(027);

	put_file("a.csv", "old");
	if (t_eq_int(cs_output_open(&out, "a.csv", &run.run, &err), 0)) {
		t_eq_int(size_of("a.csv"), 3);
		t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
		cs_output_discard(&out);
	}
	t_eq_int(count_files(), 1);
	t_ok(size_of("a.csv") > 100);
	t_ok(!stat("a.csv", &st) && (st.st_mode & 0777) == 0640);
	umask(mask);
}

/* A process that dies now leaves nothing beside the old file. */
HOLDS("until it is committed a file has no name") {
	int fd = open(".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0) {
		t_skip("this file system has no files without a name");
		return;
	}
	close(fd);
	if (t_eq_int(cs_output_open(&out, "a.json", &run.run, &err), 0)) {
		t_eq_int(count_files(), 0);
		t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
	}
	t_eq_int(count_files(), 1);
	t_ok(size_of("a.json") > 0);
}

/* From here on openat() refuses files without a name, as on NFS. */
static int refuse_nameless(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_TMPFILE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_TMPFILE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a process of its own: 0 well, 1 wrong, 2 cannot tell. */
static int write_named(void)
{
	if (refuse_nameless())
		return 2;
	if (cs_output_open(&out, "a.json", &run.run, &err) || count_files() != 1 ||
	    size_of("a.json") != -1)
		return 1;
	if (cs_output_commit(&out, &run.run, &plain, &err))
		return 1;
	return count_files() != 1 || size_of("a.json") <= 0;
}

HOLDS("where files without a name are refused it has a temporary one") {
	int got = in_child(write_named);

	if (got == 2)
		t_skip("no seccomp here");
	else
		t_eq_int(got, 0);
}

HOLDS("a temporary name that is taken is left alone") {
	char name[64];

	cs_text(name, sizeof(name), "a.txt.%ld-0", (long)getpid());
	put_file(name, "of another");
	if (t_eq_int(cs_output_open(&out, "a.txt", &run.run, &err), 0))
		t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
	t_eq_int(size_of(name), 10);
}

HOLDS("a full disk is an error of the commit, and a device is not replaced") {
	if (access("/dev/full", W_OK) || symlink("/dev/full", "full.json")) {
		t_skip("there is no /dev/full");
		return;
	}
	if (t_eq_int(cs_output_open(&out, "full.json", &run.run, &err), 0)) {
		t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), -1);
		t_eq_str(err.text,
			 "cannot write 'full.json': No space left on device");
	}
	t_eq_int(access("/dev/full", W_OK), 0);
	unlink("full.json");
	t_eq_int(count_files(), 0);
}

HOLDS("why a write failed is told, whatever errno is when the page ends") {
	if (access("/dev/full", W_OK) || symlink("/dev/full", "full.json")) {
		t_skip("there is no /dev/full");
		return;
	}
	if (t_eq_int(cs_output_open(&out, "full.json", &run.run, &err), 0)) {
		fputs("begun", out.file);
		t_ok(fflush(out.file));
		errno = 0;
		t_eq_int(cs_output_close(&out, &err), -1);
		t_eq_str(err.text,
			 "cannot write 'full.json': No space left on device");
	}
	unlink("full.json");
}

HOLDS("a journal is written in place") {
	put_file("a.jsonl", "old");
	t_must(!cs_output_create(&out, "a.jsonl", 1, &err));
	t_ok(out.in_place);
	t_eq_int(size_of("a.jsonl"), 0);
	cs_jsonl_run(out.file, &run.run);
	fflush(out.file);
	t_ok(size_of("a.jsonl") > 100);
	t_eq_int(count_files(), 1);
	t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), 0);
}

/* The limit on a file's size stands for a disk that is full. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static int append_run(struct cs_output *to)
{
	const char *text;

	t_eq_int(cs_jsonl_run(t_stream(), &run.run), 0);
	text = t_text();
	return cs_output_append(to, text, strlen(text));
}

HOLDS("a journal that cannot grow ends with its last whole record, and goes on when "
      "it can") {
	long one;

	t_must(!cs_output_create(&out, "a.jsonl", 1, &err));
	t_eq_int(append_run(&out), 0);
	one = size_of("a.jsonl");
	t_ok(one > 100);
	limit_files((rlim_t)one + 10);
	t_eq_int(append_run(&out), -1);
	t_eq_int(size_of("a.jsonl"), one);
	limit_files(RLIM_INFINITY);
	t_eq_int(append_run(&out), 0);
	t_eq_int(size_of("a.jsonl"), 2 * one);
	limit_files((rlim_t)(2 * one) + 10);
	t_eq_int(append_run(&out), -1);
	limit_files(RLIM_INFINITY);
	t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), -1);
	t_eq_str(err.text, "cannot write 'a.jsonl': File too large");
	t_eq_int(size_of("a.jsonl"), 2 * one);
}

HOLDS("a journal has one writer, and is left alone by the second") {
	struct cs_output first, second;
	long before;
	int fd;

	t_must(!cs_output_create(&first, "a.jsonl", 1, &err));
	append_run(&first);
	before = size_of("a.jsonl");
	t_eq_int(cs_output_create(&second, "a.jsonl", 1, &err), -1);
	t_eq_str(err.text, "cannot write 'a.jsonl': it is being written already; "
			   "%N, %j or %t in its name tell runs apart");
	t_eq_int(size_of("a.jsonl"), before);
	/* which does not end with another descriptor of the file */
	close(open("a.jsonl", O_RDONLY));
	fd = open("a.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	t_eq_int(cs_output_claim(fd), -1);
	t_eq_int(cs_output_commit(&first, &run.run, &plain, &err), 0);
	t_eq_int(cs_output_claim(fd), 0);
	close(fd);
}

HOLDS("a journal that was removed meanwhile is an error") {
	t_must(!cs_output_create(&out, "a.jsonl", 1, &err));
	append_run(&out);
	unlink("a.jsonl");
	t_eq_int(cs_output_commit(&out, &run.run, &plain, &err), -1);
	t_eq_str(err.text, "cannot write 'a.jsonl': No such file or directory");
}
