#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "report/report.h"

#define TRIES 100 /* names for the temporary file: leftovers of a reused pid */
#define STEM 100  /* bytes of its name that are the file's */
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000 /* Linux 5.8 */
#endif
#define LINKS 40  /* as many as the kernel follows */

/* ---- the name ---- */

static int host_name(const struct cs_run *run, char *to, size_t size)
{
	if (run->n_nodes > 0 && run->node && run->node[0].facts.host[0]) {
		cs_text(to, size, "%s", run->node[0].facts.host);
		return 0;
	}
	if (gethostname(to, size))
		return -1;
	to[size - 1] = '\0';
	to[strcspn(to, ".")] = '\0';
	return 0;
}

/* A host's or a job's name, of a file or a launcher, is part of one name: it leads to
 * no other folder, is no option of a command, and reads as it is.  So it is printable
 * ASCII, and begins with a letter, a digit or '_'. */
static int tame(char *part)
{
	for (char *at = part; *at; at++)
		if (*at == '/' || *at < ' ' || *at > '~' ||
		    (at == part && !isalnum((unsigned char)*at)))
			*at = '_';
	return 0;
}

/* Replace the letter after '%'; -1: it is unknown. */
static int field(char letter, const struct cs_run *run, char *to, size_t size)
{
	struct tm utc;

	switch (letter) {
	case 'N':
		return host_name(run, to, size) ? -1 : tame(to);
	case 'j':
		cs_text(to, size, "%s", run->job_id[0] ? run->job_id : "none");
		return tame(to);
	case 't':
		if (!gmtime_r(&run->started.tv_sec, &utc))
			return -1;
		return strftime(to, size, "%Y%m%dT%H%M%SZ", &utc) ? 0 : -1;
	case '%':
		cs_text(to, size, "%%");
		return 0;
	default:
		return -1;
	}
}

int cs_output_name(const char *name, const struct cs_run *run, char *to, size_t size,
		   struct cs_err *err)
{
	size_t used = 0, n;
	char part[128];

	for (; *name; name++) {
		part[0] = *name;
		part[1] = '\0';
		if (*name == '%' && field(*++name, run, part, sizeof(part)))
			return cs_err_set(err,
					  "'%%%.1s' in an output's name: "
					  "allowed are %%N, %%j, %%t and %%%%",
					  name);
		n = strlen(part);
		if (used + n >= size)
			return cs_err_set(err,
					  "the output's name is longer than %zu characters",
					  size - 1);
		memcpy(to + used, part, n);
		used += n;
	}
	to[used] = '\0';
	return 0;
}

/* ---- the file ---- */

static int cannot_write(const struct cs_output *out, int error, struct cs_err *err)
{
	return cs_err_set(err, "cannot write '%.200s': %s", out->path,
			  strerror(error));
}

/* The folder of a file; the caller's to free. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* How /proc names a descriptor, for linkat(). */
static void descriptor_name(int fd, char *to, size_t size)
{
	cs_text(to, size, "/proc/self/fd/%d", fd);
}

/* A file without a name in the folder of the path goes with its process, however
 * that ends.  -1 if the file system has none (NFS, Lustre), or if it could
 * not be given a name later. */
static int open_nameless(const char *path)
{
	char *folder = folder_of(path), name[40];
	int fd = -1;

	if (folder)
		fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	free(folder);
	if (fd < 0)
		return -1;
	descriptor_name(fd, name, sizeof(name));
	if (access(name, F_OK) == 0)
		return fd;
	close(fd);
	return -1;
}

static int open_named(const char *path, const char *from)
{
	(void)from;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int link_nameless(const char *path, const char *from)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* How much of the path a temporary name begins with: no file system that has room
 * for the name lacks it for that. */
static int temporary_stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t name = slash ? (size_t)(slash + 1 - path) : 0;
	size_t n = strlen(path + name);

	if (n > STEM)
		for (n = STEM; n && (path[name + n] & 0xc0) == 0x80; n--)
			; /* not within a character */
	return (int)(name + n);
}

/* Makes the temporary file by the first name beside the target that is free; what
 * `make` returned, -1 with errno. */
static int make_temporary(struct cs_output *out,
			  int (*make)(const char *path, const char *from),
			  const char *from)
{
	int i, made = -1, stem = temporary_stem(out->target);

	for (i = 0; made < 0 && i < TRIES; i++) {
		cs_text(out->temporary, sizeof(out->temporary), "%.*s.%ld-%d", stem,
			out->target, (long)getpid(), i);
		made = make(out->temporary, from);
		if (made < 0 && errno != EEXIST)
			break;
	}
	if (made < 0)
		out->temporary[0] = '\0';
	return made;
}

static int open_temporary(struct cs_output *out)
{
	int fd = open_nameless(out->target);

	out->nameless = fd >= 0;
	return fd >= 0 ? fd : make_temporary(out, open_named, NULL);
}

/* A pipe or a device cannot be replaced by a file, nor can a file that is a mount point,
 * as in a container: it is written directly. */
static int is_special(const char *path)
{
	struct statx more;
	struct stat st;

	if (stat(path, &st))
		return 0;
	return !S_ISREG(st.st_mode) || (!statx(AT_FDCWD, path, 0, 0, &more) &&
					(more.stx_attributes & STATX_ATTR_MOUNT_ROOT));
}

/* In a sticky folder that all may write to, a link is followed only if its owner is us
 * or the folder's owner, as the kernel does if fs.protected_symlinks is set. */
static int may_follow(const char *path, uid_t owner)
{
	char *folder = folder_of(path);
	struct stat st;
	int rc = folder ? stat(folder, &st) : -1;

	free(folder);
	return !rc && (owner == geteuid() || owner == st.st_uid ||
		       !(st.st_mode & S_ISVTX) || !(st.st_mode & S_IWOTH));
}

/* Replace the last name of the path by the target of the link that is open as `fd`. */
static int follow(int fd, char *path, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
	char text[CS_PATH];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));

	if (n < 0)
		return -1;
	if (n && text[0] == '/')
		folder = 0;
	if (folder + (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(path + folder, text, (size_t)n);
	path[folder + (size_t)n] = '\0';
	return 0;
}

/* A pipe or a socket at a link of /proc, such as /dev/stdout: its text is no path. */
static int leads_to_no_path(int fd, const char *path)
{
	struct statfs fs;
	struct stat st;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC &&
	       !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* target[CS_PATH]: the end of the path after all links; it may not exist yet.  Returns
 * O_NOFOLLOW, with which it is opened: a link that comes later is none of those.  0: the
 * kernel must follow a link of /proc.  -1 with errno. */
static int find_target(const char *path, char *target)
{
	if (strlen(path) >= CS_PATH) {
		errno = ENAMETOOLONG;
		return -1;
	}
	cs_text(target, CS_PATH, "%s", path);
	for (int links = 0; links < LINKS; links++) {
		int fd = open(target, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
		struct stat st;

		if (fd < 0)
			return errno == ENOENT ? O_NOFOLLOW : -1;
		rc = fstat(fd, &st) ? -1 : O_NOFOLLOW;
		if (rc < 0 || !S_ISLNK(st.st_mode) || leads_to_no_path(fd, target)) {
			close(fd);
			return rc < 0 || !S_ISLNK(st.st_mode) ? rc : 0;
		}
		errno = EACCES;
		rc = may_follow(target, st.st_uid) ? follow(fd, target, CS_PATH) : -1;
		close(fd);
		if (rc)
			return -1;
	}
	errno = ELOOP;
	return -1;
}

int cs_output_descriptor(const char *path, int flags)
{
	char target[CS_PATH];
	int nofollow = find_target(path, target);

	if (nofollow < 0)
		return -1;
	return open(target, O_WRONLY | O_CLOEXEC | nofollow | flags, 0666);
}

/* A rename over an existing file may be refused (others' files in a sticky folder,
 * immutable ones), which open() does not check.  rmdir() of a file that is no folder asks
 * the kernel the same question, and does nothing. */
static int may_replace(const char *target)
{
	struct stat st;

	if (lstat(target, &st))
		return errno == ENOENT ? 0 : -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	return rmdir(target) && errno == ENOTDIR ? 0 : -1;
}

int cs_output_claim(int fd)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	return cs_rc(fcntl(fd, F_OFD_SETLK, &all) &&
		     (errno == EAGAIN || errno == EACCES));
}

static int is_taken(const struct cs_output *out, struct cs_err *err)
{
	return cs_err_set(err,
			  "cannot write '%.200s': it is being written already; "
			  "%%N, %%j or %%t in its name tell runs apart",
			  out->path);
}

/* Truncate after locking.  -1 with *err. */
static int open_journal(const struct cs_output *out, struct cs_err *err)
{
	int fd = cs_output_descriptor(out->path, O_CREAT);

	if (fd < 0)
		return cannot_write(out, errno, err);
	if (cs_output_claim(fd))
		is_taken(out, err);
	else if (ftruncate(fd, 0) && errno != EINVAL) /* a pipe */
		cannot_write(out, errno, err);
	else
		return fd;
	close(fd);
	return -1;
}

/* Is it a journal that another process writes? */
static int is_growing(const struct cs_output *out)
{
	int fd = -1, grows;

	if (!strcmp(out->format->name, "jsonl"))
		fd = open(out->target, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	grows = fd >= 0 && cs_output_claim(fd);
	if (fd >= 0)
		close(fd);
	return grows;
}

/* The same of a file that is to appear in the end. */
static int open_whole(struct cs_output *out, struct cs_err *err)
{
	int fd = -1;

	if (find_target(out->path, out->target) < 0)
		return cannot_write(out, errno, err);
	if (is_special(out->target))
		fd = cs_output_descriptor(out->path, O_TRUNC);
	else if (is_growing(out))
		return is_taken(out, err);
	else if (!may_replace(out->target))
		fd = open_temporary(out);
	return fd < 0 ? cannot_write(out, errno, err) : fd;
}

/* A stream that keeps why it failed: the page goes on to be written, and its calls, as
 * sscanf(), leave another errno. */
struct stream {
	int fd, error;
};

static ssize_t write_stream(void *cookie, const char *bytes, size_t n)
{
	struct stream *s = cookie;
	ssize_t done;
	size_t left = n;

	while (left) {
		done = write(s->fd, bytes + (n - left), left);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			s->error = s->error ? s->error : errno;
			break;
		}
		left -= (size_t)done;
	}
	return (ssize_t)(n - left);
}

static int close_stream(void *cookie)
{
	struct stream *s = cookie;
	int fd = s->fd;

	free(s);
	return close(fd);
}

static FILE *open_stream(int fd, int **error)
{
	struct stream *s = malloc(sizeof(*s));
	FILE *file;

	if (!s)
		return NULL;
	*s = (struct stream){ .fd = fd };
	file = fopencookie(s, "w",
			   (cookie_io_functions_t){ .write = write_stream,
						    .close = close_stream });
	if (file)
		*error = &s->error;
	else
		free(s);
	return file;
}

int cs_output_create(struct cs_output *out, const char *path, int grows,
		     struct cs_err *err)
{
	struct cs_output made = { .file = NULL };
	const struct cs_format *named;
	int fd, error;

	made.format = cs_format_by_file(path);
	cs_text(made.path, sizeof(made.path), "%s", cs_output_bare(path, &named));
	if (!made.format)
		return cs_err_set(err,
				  "cannot tell what to write to '%.200s': its "
				  "name must end in .txt, .html, .json, .jsonl, "
				  ".csv, .prom, .xml or .trace.json",
				  made.path);
	made.in_place = grows && strcmp(made.format->name, "jsonl") == 0;
	fd = made.in_place ? open_journal(&made, err) : open_whole(&made, err);
	if (fd < 0)
		return -1;
	made.fd = fd;
	made.file = made.in_place ? fdopen(fd, "w") : open_stream(fd, &made.lost);
	if (!made.file) {
		error = errno;
		close(fd);
		if (made.temporary[0])
			unlink(made.temporary);
		return cannot_write(&made, error, err);
	}
	*out = made;
	return 0;
}

int cs_output_open(struct cs_output *out, const char *name, const struct cs_run *run,
		   struct cs_err *err)
{
	char path[CS_PATH];

	if (cs_output_name(name, run, path, sizeof(path), err))
		return -1;
	return cs_output_create(out, path, 0, err);
}

/* Truncate after the last whole record. */
static int go_back(struct cs_output *out)
{
	return out->whole >= 0 && !ftruncate(out->fd, out->whole) &&
			       !fseeko(out->file, out->whole, SEEK_SET) ?
		       0 :
		       -1;
}

int cs_output_append(struct cs_output *out, const char *text, size_t bytes)
{
	if (!out->in_place || !out->file)
		return 0;
	if (out->error && go_back(out))
		return -1;
	errno = EIO; /* for a stream that failed without a word */
	if (fwrite(text, 1, bytes, out->file) == bytes && !fflush(out->file)) {
		out->whole = ftello(out->file);
		out->error = 0;
		return 0;
	}
	out->error = errno;
	/* or closing would try again */
	__fpurge(out->file);
	clearerr(out->file);
	go_back(out);
	return -1;
}

/* A file that was removed while it was written is lost. */
static int is_removed(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink)
		return 0;
	errno = ENOENT;
	return 1;
}

int cs_output_continue(struct cs_output *out, const char *path, int fd,
		       size_t whole_bytes, struct cs_err *err)
{
	struct cs_output made = { .in_place = 1, .whole = (off_t)whole_bytes };

	cs_text(made.path, sizeof(made.path), "%s", path);
	made.format = cs_format_by_name("jsonl");
	made.fd = fd;
	if (!ftruncate(fd, (off_t)whole_bytes))
		made.file = fdopen(fd, "a");
	if (!made.file)
		return cannot_write(&made, errno, err);
	*out = made;
	return 0;
}

/* The name is safe only when the directory is on the disk too.  File systems
 * that cannot do this for a directory return EINVAL. */
static int sync_directory(const char *path)
{
	char *folder = folder_of(path);
	int fd, rc;

	if (!folder)
		return -1;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0) /* writable but not readable: nothing more can be done */
		return 0;
	rc = fsync(fd) && errno != EINVAL ? -1 : 0;
	close(fd);
	return rc;
}

/* To the disk; pipes and devices have none. */
static int flush(const struct cs_output *out)
{
	struct stat st;

	if (fflush(out->file) || ferror(out->file))
		return -1;
	if (!fsync(out->fd))
		return 0;
	return (errno == EINVAL || errno == EROFS) && !fstat(out->fd, &st) &&
			       !S_ISREG(st.st_mode) ?
		       0 :
		       -1;
}

/* Some file systems make files without a name but give them none later: then a
 * temporary file takes its contents. */
static int copy_nameless(struct cs_output *out)
{
	int to = make_temporary(out, open_named, NULL), rc;
	ssize_t n = 1;
	off_t at = 0;

	if (to < 0)
		return -1;
	while (n > 0)
		n = sendfile(to, out->fd, &at, 1 << 20);
	rc = n < 0 || fsync(to) ? errno : 0;
	if (close(to) && !rc)
		rc = errno;
	errno = rc;
	return rc ? -1 : 0;
}

/* Gives a file without a name its temporary one: linkat() cannot replace. */
static int name_file(struct cs_output *out)
{
	char name[40];

	if (!out->nameless)
		return 0;
	descriptor_name(out->fd, name, sizeof(name));
	return make_temporary(out, link_nameless, name) ? copy_nameless(out) : 0;
}

int cs_output_commit(struct cs_output *out, const struct cs_run *run,
		     const struct cs_view_options *opt, struct cs_err *err)
{
	struct cs_page was = cs_page_turn((struct cs_page){ 0 });

	errno = EIO;
	if (!out->error && !out->in_place &&
	    (cs_format_write(out->format, out->file, run, opt) || ferror(out->file)))
		out->error = errno;
	cs_page_turn(was);
	return cs_output_close(out, err);
}

int cs_output_close(struct cs_output *out, struct cs_err *err)
{
	int error = out->error;

	errno = EIO;
	if (!error &&
	    (flush(out) || name_file(out) || (out->in_place && is_removed(out->fd))))
		error = errno;
	if (out->lost && *out->lost)
		error = *out->lost;
	if (fclose(out->file) && !error)
		error = errno;
	out->file = NULL;
	if (!error && out->temporary[0]) {
		if (rename(out->temporary, out->target)) {
			error = errno;
		} else {
			out->temporary[0] = '\0';
			if (sync_directory(out->target))
				error = errno;
		}
	}
	if (!error)
		return 0;
	cannot_write(out, error, err);
	cs_output_discard(out);
	return -1;
}

void cs_output_discard(struct cs_output *out)
{
	if (!out)
		return;
	if (out->file)
		fclose(out->file);
	out->file = NULL;
	if (out->temporary[0])
		unlink(out->temporary);
	out->temporary[0] = '\0';
}
