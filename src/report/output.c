#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"

#define TRIES 100 /* names for the temporary file: leftovers of a reused pid */

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

/* What stands for the letter after '%'; -1 for an unknown one. */
static int field(char letter, const struct cs_run *run, char *to, size_t size)
{
	struct tm utc;

	switch (letter) {
	case 'N':
		return host_name(run, to, size);
	case 'j':
		cs_text(to, size, "%s", run->job_id[0] ? run->job_id : "none");
		return 0;
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

int cs_output_name(const char *name, const struct cs_run *run, char *to,
		   size_t size, struct cs_err *err)
{
	size_t used = 0, n;
	char part[128];

	for (; *name; name++) {
		part[0] = *name;
		part[1] = '\0';
		if (*name == '%' && field(*++name, run, part, sizeof(part)))
			return cs_err_set(err, "'%%%.1s' in an output's name: "
					  "allowed are %%N, %%j, %%t and %%%%",
					  name);
		n = strlen(part);
		if (used + n >= size)
			return cs_err_set(err, "the output's name is longer than "
					  "%zu characters", size - 1);
		memcpy(to + used, part, n);
		used += n;
	}
	to[used] = '\0';
	return 0;
}

/* ---- the file ---- */

static int cannot_write(const struct cs_output *out, int error,
			struct cs_err *err)
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
 * that ends.  -1 where the file system has none (NFS, Lustre), or where it could
 * not be given a name later. */
static int open_nameless(const char *path)
{
	char *folder = folder_of(path), name[40];
	int fd = -1;

	if (folder)
		fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
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

/* Makes the temporary file by the first name beside the path that is free; what
 * `make` returned, -1 with errno. */
static int make_temporary(struct cs_output *out,
			  int (*make)(const char *path, const char *from),
			  const char *from)
{
	int i, made = -1;

	for (i = 0; made < 0 && i < TRIES; i++) {
		cs_text(out->temporary, sizeof(out->temporary), "%s.%ld-%d",
			out->path, (long)getpid(), i);
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
	int fd = open_nameless(out->path);

	out->nameless = fd >= 0;
	return fd >= 0 ? fd : make_temporary(out, open_named, NULL);
}

/* A pipe or a device cannot be replaced by a file: it is written directly. */
static int is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

int cs_output_open(struct cs_output *out, const char *name,
		   const struct cs_run *run, struct cs_err *err)
{
	struct cs_output made = { .file = NULL };
	int fd, error;

	if (cs_output_name(name, run, made.path, sizeof(made.path), err))
		return -1;
	made.format = cs_format_by_file(made.path);
	if (!made.format)
		return cs_err_set(err, "cannot tell what to write to '%.200s': its "
				  "name must end in .txt, .json, .jsonl, .csv, .prom or .xml",
				  made.path);
	made.in_place = strcmp(made.format->name, "jsonl") == 0;
	if (made.in_place || is_special(made.path))
		fd = open(made.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			  0666);
	else
		fd = open_temporary(&made);
	if (fd < 0)
		return cannot_write(&made, errno, err);
	made.file = fdopen(fd, "w");
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

void cs_output_append(struct cs_output *out,
		      int (*write)(FILE *, const struct cs_run *, size_t),
		      const struct cs_run *run, size_t index)
{
	if (!out->in_place || !out->file || out->error)
		return;
	errno = EIO; /* for a stream that failed without a word */
	if (!write(out->file, run, index) && !fflush(out->file)) {
		out->whole = ftello(out->file);
		return;
	}
	out->error = errno;
	/* or closing would try again, where there is room by then */
	__fpurge(out->file);
	if (out->whole >= 0 && ftruncate(fileno(out->file), out->whole))
		out->whole = -1; /* the last line stays cut */
}

/* A file that was removed while it was written is lost. */
static int is_removed(FILE *file)
{
	struct stat st;

	if (fstat(fileno(file), &st) || !S_ISREG(st.st_mode) || st.st_nlink)
		return 0;
	errno = ENOENT;
	return 1;
}

int cs_output_continue(struct cs_output *out, const char *path,
		       size_t whole_bytes, struct cs_err *err)
{
	struct cs_output made = { .in_place = 1, .whole = (off_t)whole_bytes };
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), error;

	cs_text(made.path, sizeof(made.path), "%s", path);
	made.format = cs_format_by_name("jsonl");
	if (fd < 0)
		return cannot_write(&made, errno, err);
	if (!ftruncate(fd, (off_t)whole_bytes))
		made.file = fdopen(fd, "a");
	if (!made.file) {
		error = errno;
		close(fd);
		return cannot_write(&made, error, err);
	}
	*out = made;
	return 0;
}

/* The name is safe only when the directory is on the disk too.  File systems
 * that cannot do this for a directory say EINVAL. */
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
static int flush(FILE *file)
{
	if (fflush(file) || ferror(file))
		return -1;
	if (fsync(fileno(file)) && errno != EINVAL && errno != EROFS)
		return -1;
	return 0;
}

/* Gives a file without a name its temporary one: linkat() cannot replace. */
static int name_file(struct cs_output *out)
{
	char name[40];

	if (!out->nameless)
		return 0;
	descriptor_name(fileno(out->file), name, sizeof(name));
	return make_temporary(out, link_nameless, name);
}

int cs_output_commit(struct cs_output *out, const struct cs_run *run,
		     const struct cs_view_options *opt, struct cs_err *err)
{
	errno = EIO;
	if (!out->error && !out->in_place &&
	    out->format->write(out->file, run, opt))
		out->error = errno;
	return cs_output_close(out, err);
}

int cs_output_close(struct cs_output *out, struct cs_err *err)
{
	int error = out->error;

	errno = EIO;
	if (!error &&
	    (flush(out->file) || name_file(out) || is_removed(out->file)))
		error = errno;
	if (fclose(out->file) && !error)
		error = errno;
	out->file = NULL;
	if (!error && out->temporary[0]) {
		if (rename(out->temporary, out->path)) {
			error = errno;
		} else {
			out->temporary[0] = '\0';
			if (sync_directory(out->path))
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
