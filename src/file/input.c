#include "file/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"

#define STEP_MS 20

double cs_input_wait_s(double budget_s)
{
	return budget_s > 0 ? fmin(CS_INPUT_WAIT_S, budget_s / 2) : CS_INPUT_WAIT_S;
}

/* Does a process write to the pipe, or has one done so?  A byte read is put back. */
static int has_writer(FILE *pipe)
{
	struct pollfd ended = { .fd = fileno(pipe) };
	int c = getc(pipe), writes = c != EOF || ferror(pipe);

	clearerr(pipe);
	if (c != EOF)
		ungetc(c, pipe);
	return writes || (poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP));
}

/* poll() does not return when a writer opens the pipe, only when there are bytes. */
static int wait_for_writer(FILE *pipe, double wait_s)
{
	struct pollfd bytes = { .fd = fileno(pipe), .events = POLLIN };

	for (double left_ms = 1e3 * wait_s; !has_writer(pipe); left_ms -= STEP_MS) {
		if (left_ms <= 0)
			return -1;
		poll(&bytes, 1, STEP_MS);
	}
	/* from here on it is waited for */
	return fcntl(fileno(pipe), F_SETFL, 0);
}

/* Add the name in the same folder that was meant. */
static void suggest(const char *name, struct cs_err *err)
{
	const char *slash = strrchr(name, '/');
	struct cs_suggestion near = { .typed = slash ? slash + 1 : name };
	char folder[PATH_MAX] = ".";
	DIR *dir;

	if (slash)
		cs_text(folder, sizeof(folder), "%.*s", (int)(slash - name) + 1, name);
	dir = opendir(folder);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir));)
		cs_suggest(&near, entry->d_name);
	closedir(dir);
	cs_suggestion_add(&near, err);
}

FILE *cs_input_open(const char *name, double wait_s, struct cs_err *err)
{
	struct stat st;
	int is_pipe = !stat(name, &st) && S_ISFIFO(st.st_mode);
	int fd = open(name, O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");

	if (!from) {
		int is_missing = errno == ENOENT;

		cs_err_set(err, "%s", strerror(errno));
		if (is_missing)
			suggest(name, err);
		if (fd >= 0)
			close(fd);
	} else if (is_pipe && wait_for_writer(from, wait_s)) {
		cs_err_set(err,
			   "no process writes to this pipe (waited for %.3g s); "
			   "give a file, or a pipe that has a writer",
			   wait_s);
		fclose(from);
		from = NULL;
	}
	return from;
}
