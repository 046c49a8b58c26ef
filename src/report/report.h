/* report.h - views: pure functions from a run to text in a stream.
 *
 * One file per view.  None measures, none knows MPI; the same run gives the same
 * bytes.  C locale, GB/s = 1e9 bytes/s. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "result/run.h"

/* Where text goes: columns, 0 for the usual 80, and whether it shows colours. */
#define CS_COLUMNS 80
struct cs_page {
	int columns, colour;
};
/* From here on this thread prints on such a page; returns what it was.  A thread begins
 * with 80 columns and no colour, as every file has. */
struct cs_page cs_page_turn(struct cs_page page);
/* The same until the scope or work of the arena ends. */
void cs_page_within(struct cs_page page);

struct cs_alias;

/* A test that was requested by another tool's command line. */
struct cs_named {
	const struct cs_alias *alias; /* NULL: there is none of that name */
	const char *text;	      /* name or index */
};

/* On standard output; in files, too. */
enum cs_aggregates { CS_AGGREGATES_NONE, CS_AGGREGATES_SHOWN, CS_AGGREGATES_ALL };

struct cs_view_options {
	int verbose;		       /* -v: every node, every sample */
	enum cs_aggregates aggregates; /* instead of samples; gbench.c */
	int topology; /* how nodes are wired in place of figures; text */
	/* of nvbandwidth.c: */
	int mean;		      /* figures are means of samples, not medians */
	const struct cs_named *asked; /* in that order; NULL: all that was measured */
	size_t n_asked;
};

struct cs_view;
struct cs_format {
	const char *name;   /* "text", "json", "nvbandwidth", ... */
	const char *suffix; /* ".txt", ".json", ".jsonl", ".csv", "" */
	void (*write)(FILE *to, const struct cs_view *view); /* by cs_format_write() */
	int of_turns;	/* each turn of a cell by itself, as it was measured */
	int of_any;	/* has a text for runs that could not test anything */
	int of_samples; /* shows each sample */
};

/* The formats; the last has name NULL. */
extern const struct cs_format cs_formats[];
const struct cs_format *cs_format_by_name(const char *name);
/* The whole run, in an arena of its own.  0, or -1 with errno: the stream failed, or
 * ENOMEM. */
int cs_format_write(const struct cs_format *format, FILE *to,
		    const struct cs_run *run, const struct cs_view_options *opt);
/* The rest after a format's name and ':', "csv:x"; the whole of it, and NULL, if that is no
 * format. */
const char *cs_output_bare(const char *name, const struct cs_format **format);
/* By that, or by the file name's ending; NULL when unknown. */
const struct cs_format *cs_format_by_file(const char *file);
/* The error of such a name: the endings that are allowed, those of some formats,
 * "text|json", or of all (NULL).  Always -1. */
int cs_format_refuse(const char *file, const char *formats, struct cs_err *err);

/* --drain-command (text/drain.c): for each node to be drained a line for a POSIX shell,
 * %n its name, %r the reason, each of them one word of the shell whatever is in it; or
 * by a scheduler's name that one's. */
int cs_drain_commands(FILE *to, const struct cs_run *run, const char *command);
/* One of these lines. */
void cs_drain_command(FILE *to, const char *command, const char *host,
		      const char *reason);
/* -1, with the cause, if a shell would not read each text of it as one word. */
int cs_drain_command_check(const char *command, struct cs_err *err);

/* --list in groups, or =all, =GLOB: every such name; -1 with the error.  --dry-run. */
int cs_report_list(FILE *to, const char *what, struct cs_err *err);
/* The cells of a plan by the names of Comm|Scope, in its order (gbench.c). */
int cs_commscope_list(FILE *to, const struct cs_plan *plan, struct cs_err *err);
/* The tests of nvbandwidth by index (nvbandwidth.c). */
int cs_nvbandwidth_list(FILE *to, const char *version, const char *commit);
int cs_report_plan(FILE *to, const struct cs_plan *plan, const char *file,
		   int verbose); /* file: of --plan, NULL */

/* --explain: a test by our name or another tool's, a hint by key, name or number, a
 * finding by its id, or "list" for all of these.  -1 with the nearest name if there is no
 * such name; a stream that failed leaves err->text alone. */
int cs_report_explain(FILE *to, const char *what, struct cs_err *err);

/* A baseline as text: each statistic and its bound (baseline.c). */
struct cs_baseline;
int cs_baseline_text(FILE *to, const struct cs_baseline *baseline, double margin);

/* Comparisons v[0..n), at least one, in a format: "text", "json" (several as an array),
 * "csv", "html" (html/page.c).  0, or -1 with errno: the stream failed, or ENOMEM. */
struct cs_versus;
int cs_versus_write(FILE *to, const char *format, const struct cs_versus *v, size_t n,
		    int verbose);

#define CS_PATH 512

/* An output file: %N %j %t %% replaced, opened at once so that an unwritable one is an
 * error before measuring; without a name in its folder, or under a temporary one if the
 * file system has no such files, fsynced and renamed when it is committed.  A .jsonl is
 * written in place, line by line, by one process at a time.  Links are followed and
 * stay. */
struct cs_output {
	char path[CS_PATH];	      /* as it was given */
	char target[CS_PATH];	      /* the name in the end: after all links */
	char temporary[CS_PATH + 32]; /* beside that */
	const struct cs_format *format;
	FILE *file;
	int fd;
	int *lost; /* the errno of the first write that failed, of a stream; 0 */
	int in_place;
	int nameless; /* until it is committed */
	int error;    /* errno of the last append, if it failed; 0 */
	off_t whole;  /* bytes of complete records; -1 in a pipe */
};
/* Open an output for a complete run: journals too appear whole. */
int cs_output_open(struct cs_output *out, const char *name, const struct cs_run *run,
		   struct cs_err *err);
/* The same, by the expanded name; `grows`: a journal is written in place. */
int cs_output_create(struct cs_output *out, const char *path, int grows,
		     struct cs_err *err);
/* The one way to open an existing file, or a journal, for writing: a descriptor, or -1
 * with errno.  A link in a sticky folder that all may write to is followed only if its
 * owner is us or the folder's owner (EACCES), whatever fs.protected_symlinks is. */
int cs_output_descriptor(const char *path, int flags);
/* A file that is written in place is this process's until the descriptor is closed: -1,
 * another writes it.  The lock is of the open file (F_OFD_SETLK), so no other
 * descriptor's end gives it up, and goes with the process, however that ends; a process
 * that is forked while it is held keeps it too, so helpers close what they inherit.  NFS
 * and most file systems of clusters keep it for all nodes; without locks (Lustre without
 * flock) 0 as if it were free. */
int cs_output_claim(int fd);
/* A journal that is there and ours, open to append: it continues after
 * `whole_bytes`.  Takes the descriptor; not on failure. */
int cs_output_continue(struct cs_output *out, const char *path, int fd,
		       size_t whole_bytes, struct cs_err *err);
/* The name alone, with %N and the others replaced; opens nothing. */
int cs_output_name(const char *name, const struct cs_run *run, char *to, size_t size,
		   struct cs_err *err);
/* A record to a journal (not in_place: does nothing), to be seen at once.  0, or -1: then
 * the file ends with the record before it, the same may be tried again, and a commit
 * before that has succeeded has the cause of the failure. */
int cs_output_append(struct cs_output *out, const char *text, size_t bytes);
/* Writes the run (not for in_place) and renames. */
int cs_output_commit(struct cs_output *out, const struct cs_run *run,
		     const struct cs_view_options *opt, struct cs_err *err);
/* The same of a file that is written completely. */
int cs_output_close(struct cs_output *out, struct cs_err *err);
/* Removes the temporary file. */
void cs_output_discard(struct cs_output *out);
