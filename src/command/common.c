/* common.c - functions that several commands use. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/print.h"
#include "base/units.h"
#include "base/words.h"
#include "command/command.h"
#include "file/load.h"
#include "result/redact.h"

void cs_complain(const char *text)
{
	cs_print_line(stderr, "cscope-mpi: %s", text);
}

/* ---- the work of a command ---- */

static int end_status; /* of a command that cs_command_end() ends */

void cs_command_end(int status, const struct cs_err *err)
{
	end_status = status;
	cs_arena_give_up(err);
}

void cs_command_refuse(const char *fmt, ...)
{
	struct cs_err err;
	va_list args;

	va_start(args, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, args);
	va_end(args);
	cs_command_end(CS_EXIT_USAGE, &err);
}

static void release_loaded(void *loaded)
{
	cs_loaded_release(loaded);
}

struct cs_loaded *cs_command_load(const char *file)
{
	struct cs_loaded *loaded = cs_new(struct cs_loaded, 1);
	struct cs_err err;
	int status;

	cs_arena_at_end(release_loaded, loaded);
	status = cs_loaded_read(file, loaded, &err);
	if (status)
		cs_command_end(status, &err);
	return loaded;
}

static void release_redact(void *redact)
{
	cs_redact_release(redact);
}

void cs_command_redact(struct cs_run *run)
{
	struct cs_redact *redact = cs_new(struct cs_redact, 1);
	struct cs_err err;

	cs_redact_init(redact);
	cs_arena_at_end(release_redact, redact);
	if (cs_redact_run(redact, run, &err))
		cs_arena_give_up(&err);
}

struct work {
	cs_command_fn *command;
	const struct cs_options *opt;
	FILE *to;
	struct cs_err *err;
};

static int run_command(void *argument)
{
	const struct work *w = argument;

	return w->command(w->opt, w->to, w->err);
}

int cs_command_do(cs_command_fn *command, const struct cs_options *opt, FILE *to,
		  struct cs_err *err)
{
	struct work work = { command, opt, to, err };
	int status;

	end_status = CS_EXIT_CANNOT;
	status = cs_arena_run(run_command, &work, err);
	return status < 0 ? end_status : status;
}

/* ---- the page ---- */

#define COLUMNS_LEAST 40 /* the narrowest table */
#define COLUMNS_MOST 400

/* The width by COLUMNS, or of the terminal; 0: there is no terminal. */
static int columns_of(int fd)
{
	const char *asked = getenv("COLUMNS");
	struct winsize size = { 0 };
	uint64_t n = 0;

	if ((!asked || cs_uint_parse(asked, 1, INT16_MAX, &n, NULL)) && isatty(fd) &&
	    !ioctl(fd, TIOCGWINSZ, &size))
		n = size.ws_col;
	if (!n)
		return 0;
	return n < COLUMNS_LEAST ? COLUMNS_LEAST :
	       n > COLUMNS_MOST	 ? COLUMNS_MOST :
				   (int)n;
}

/* 0 without one. */
static int parent_of(int pid)
{
	char path[32], line[256] = "", *at;
	FILE *stat;
	int parent;

	cs_text(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	at = fgets(line, sizeof(line), stat) ? strrchr(line, ')') : NULL;
	fclose(stat);
	return at && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The terminal that is a process's standard output; 0 if it is none or is not known. */
static dev_t terminal_of(int pid)
{
	char path[32];
	struct stat st;
	int fd, is;

	cs_text(path, sizeof(path), "/proc/%d/fd/1", pid);
	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return 0;
	fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	is = isatty(fd);
	close(fd);
	return is ? st.st_rdev : 0;
}

/* Launchers may give a rank a terminal of its own and pass on its output: then the
 * launcher's output counts, that of the first ancestor with another one. */
static int is_shown(int fd)
{
	dev_t terminal;
	struct stat own;

	if (fstat(fd, &own))
		return 0;
	for (int pid = getppid(); pid > 0; pid = parent_of(pid)) {
		terminal = terminal_of(pid);
		if (terminal != own.st_rdev)
			return terminal != 0;
	}
	return 0;
}

static int is_coloured(const struct cs_options *opt, int launched, int fd)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (opt->colour != CS_COLOUR_AUTO)
		return opt->colour == CS_COLOUR_ALWAYS;
	return !(no && *no) && terminal && strcmp(terminal, "dumb") != 0 &&
	       isatty(fd) && (!launched || is_shown(fd));
}

struct cs_page cs_command_page(const struct cs_options *opt, int launched, FILE *to)
{
	return (struct cs_page){ columns_of(fileno(to)),
				 is_coloured(opt, launched, fileno(to)) };
}

uint64_t cs_command_seed(void)
{
	time_t now = time(NULL);
	struct tm day;

	gmtime_r(&now, &day);
	return (uint64_t)(day.tm_year + 1900) * 10000 +
	       (uint64_t)(day.tm_mon + 1) * 100 + (uint64_t)day.tm_mday;
}

int cs_command_formats(const struct cs_options *opt, const char *formats,
		       struct cs_err *err)
{
	int at;

	if (cs_word_parse(opt->format->name, formats, &at, err))
		return cs_err_prefix(err, "--format '%s'", opt->format->name);
	for (int i = 0; i < opt->n_outputs; i++)
		if (cs_word_parse(cs_format_by_file(opt->output[i])->name, formats,
				  &at, NULL)) {
			cs_format_refuse(opt->output[i], formats, err);
			return cs_err_prefix(err, "--output '%s'", opt->output[i]);
		}
	return 0;
}

int cs_command_files(const struct cs_options *opt, const struct cs_run *run,
		     cs_command_view *write, const void *what)
{
	struct cs_page was = cs_page_turn((struct cs_page){ 0 });
	struct cs_output out;
	struct cs_err err;
	int status = 0;

	for (int i = 0; i < opt->n_outputs; i++) {
		int rc = cs_output_open(&out, opt->output[i], run, &err);

		errno = EIO;
		if (!rc && (write(out.file, out.format, what) || ferror(out.file)))
			out.error = errno;
		if (!rc && !cs_output_close(&out, &err))
			continue;
		cs_complain(err.text);
		status = CS_EXIT_CANNOT;
	}
	cs_page_turn(was);
	return status;
}

struct view {
	const struct cs_run *run;
	const struct cs_view_options *options;
};

static int write_run(FILE *to, const struct cs_format *format, const void *what)
{
	const struct view *view = what;

	return cs_format_write(format, to, view->run, view->options);
}

int cs_command_write(const struct cs_options *opt, const struct cs_run *run, FILE *to,
		     struct cs_err *err)
{
	const struct view view = { run, &opt->view };
	int status = cs_command_files(opt, run, write_run, &view);

	if (opt->drain_command) {
		if (!cs_drain_commands(to, run, opt->drain_command) && !fflush(to))
			return status;
	} else if (opt->quiet || (!write_run(to, opt->format, &view) && !fflush(to)))
		return status;
	cs_err_set(err, "cannot write the report to standard output");
	return CS_EXIT_CANNOT;
}
