#include "command/writers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "node/agent/usage.h"

#define STILL_S 1.0 /* a thread's longest time without CPU use */

enum state { OPENING, OPEN, DONE };

struct cs_writer {
	struct cs_output out; /* the thread's alone */
	char path[CS_PATH];
	struct cs_resume *resume; /* the journal that is resumed; NULL */
	int grows;		  /* with the run; else it appears whole */
	const struct cs_run *run;
	struct cs_view_options view;
	int journal, last;
	int reported; /* that a record failed */
	int failed;   /* err: why */
	struct cs_err err;
	_Atomic int *complete; /* to be set; NULL */
	enum state state;
	int pipe;	    /* that may have no reader yet */
	struct cs_vec text; /* char: to be appended */
	struct cs_vec left; /* text that could not be written; the thread's alone */
	double used_s, moved_s; /* CPU time, and when it last grew */
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_t thread;
};

static void fail_for_memory(struct cs_writer *w)
{
	if (!w->failed)
		w->failed = cs_err_set(&w->err, "cannot write '%.200s': no memory",
				       w->path);
}

/* ---- the thread ---- */

static int is_pipe(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

static int open_output(struct cs_writer *w, struct cs_err *err)
{
	int pipe = is_pipe(w->path);

	pthread_mutex_lock(&w->lock);
	w->pipe = pipe;
	pthread_mutex_unlock(&w->lock);
	if (w->resume)
		return cs_resume_continue(w->resume, &w->out, err);
	return cs_output_create(&w->out, w->path, w->grows, err);
}

static void report_failed(struct cs_writer *w)
{
	char text[CS_ERR_TEXT];

	if (w->reported++)
		return;
	cs_text(text, sizeof(text),
		"cannot write '%.200s': %s; it is tried again with each result",
		w->path, strerror(w->out.error));
	cs_complain(text);
}

static void append_left(struct cs_writer *w)
{
	const char *from = w->left.data, *at = from, *end = at ? at + w->left.n : at;
	int rc = 0;

	while (at < end && !rc) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t n = line ? (size_t)(line + 1 - at) : (size_t)(end - at);

		rc = cs_output_append(&w->out, at, n);
		at += rc ? 0 : n;
	}
	if (rc)
		report_failed(w);
	w->left.n = (size_t)(end - at);
	if (w->left.n && at > from)
		memmove(w->left.data, at, w->left.n);
}

static void append(struct cs_writer *w)
{
	struct cs_vec text = w->text;
	struct cs_err err;
	char *to;

	w->text = (struct cs_vec)CS_VEC(char);
	pthread_mutex_unlock(&w->lock);
	to = cs_vec_add(&w->left, text.n, &err);
	if (to) {
		memcpy(to, text.data, text.n);
		append_left(w);
	}
	cs_vec_release(&text);
	pthread_mutex_lock(&w->lock);
	if (!to)
		fail_for_memory(w);
}

static int commit(struct cs_writer *w, struct cs_err *err)
{
	int rc;

	pthread_mutex_unlock(&w->lock);
	append_left(w);
	rc = cs_output_commit(&w->out, w->run, &w->view, err);
	pthread_mutex_lock(&w->lock);
	return rc;
}

/* The first failure is reported. */
static void end(struct cs_writer *w, int rc, const struct cs_err *err)
{
	if (rc && !w->failed) {
		w->failed = 1;
		w->err = *err;
	}
	if (!w->failed && w->complete)
		atomic_store(w->complete, 1);
	w->state = DONE;
}

static void *write_output(void *arg)
{
	struct cs_writer *w = arg;
	struct cs_err err = { "" };
	int rc = open_output(w, &err);

	pthread_mutex_lock(&w->lock);
	if (rc)
		end(w, rc, &err);
	else
		w->state = OPEN;
	while (w->state == OPEN)
		if (w->text.n)
			append(w);
		else if (w->last)
			end(w, commit(w, &err), &err);
		else
			pthread_cond_wait(&w->asked, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- the others ---- */

static enum state state_of(struct cs_writer *w, int *pipe)
{
	enum state state;

	pthread_mutex_lock(&w->lock);
	state = w->state;
	if (pipe)
		*pipe = w->pipe;
	pthread_mutex_unlock(&w->lock);
	return state;
}

static void nap(void)
{
	struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

static void free_writer(struct cs_writer *w)
{
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->asked);
	cs_vec_release(&w->text);
	cs_vec_release(&w->left);
	free(w);
}

static int name_it(struct cs_writer *w, const char *name, const struct cs_run *run,
		   struct cs_err *err)
{
	const struct cs_format *format;

	if (w->resume)
		cs_text(w->path, sizeof(w->path), "%s", w->resume->file);
	else if (cs_output_name(name, run, w->path, sizeof(w->path), err))
		return -1;
	format = cs_format_by_file(w->path);
	w->journal = w->resume ||
		     (w->grows && format && !strcmp(format->name, "jsonl"));
	return 0;
}

struct cs_writer *cs_writer_open(const char *name, const struct cs_run *run,
				 struct cs_resume *resume, _Atomic int *complete,
				 const struct cs_patience *patience,
				 struct cs_err *err)
{
	struct cs_writer *w = calloc(1, sizeof(*w));
	int pipe = 0;

	if (!w) {
		cs_err_set(err, "no memory");
		return NULL;
	}
	w->complete = complete;
	w->resume = name ? NULL : resume;
	w->grows = !resume->complete;
	w->left = (struct cs_vec)CS_VEC(char);
	w->text = (struct cs_vec)CS_VEC(char);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->asked, NULL);
	if (name_it(w, name, run, err)) {
		free_writer(w);
		return NULL;
	}
	if (pthread_create(&w->thread, NULL, write_output, w)) {
		cs_err_set(err, "cannot make a thread to write '%.200s'", w->path);
		free_writer(w);
		return NULL;
	}
	while (state_of(w, &pipe) == OPENING && !pipe &&
	       cs_clock_s() < patience->end_s && !patience->stop(patience->ctx))
		nap();
	if (state_of(w, NULL) != DONE)
		return w;
	cs_writer_close(w, err);
	return NULL;
}

/* Pass text on to the thread; NULL: there was no memory for it. */
static void hand_over(struct cs_writer *w, const char *text, size_t bytes)
{
	struct cs_err err;
	char *to;

	pthread_mutex_lock(&w->lock);
	to = text && !w->failed ? cs_vec_add(&w->text, bytes, &err) : NULL;
	if (to)
		memcpy(to, text, bytes);
	else
		fail_for_memory(w);
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
}

void cs_writers_append(struct cs_writer **w, int n,
		       int (*write)(FILE *to, const struct cs_run *run, size_t index),
		       const struct cs_run *run, size_t index)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = NULL;
	int rc = -1;

	for (int i = 0; i < n && !to; i++)
		if (w[i]->journal)
			to = open_memstream(&text, &bytes);
	if (to)
		rc = write(to, run, index);
	if (to && fclose(to))
		rc = -1;
	for (int i = 0; i < n; i++)
		if (w[i]->journal)
			hand_over(w[i], rc ? NULL : text, bytes);
	free(text);
}

void cs_writer_commit(struct cs_writer *w, const struct cs_run *run,
		      const struct cs_view_options *view)
{
	pthread_mutex_lock(&w->lock);
	w->run = run;
	w->view = *view;
	w->last = 1;
	pthread_cond_signal(&w->asked);
	pthread_mutex_unlock(&w->lock);
}

/* Does the thread still use CPU time?  A blocked one does not. */
static int gets_on(struct cs_writer *w)
{
	double used_s = cs_usage_of_thread(w->thread), now = cs_clock_s();

	if (used_s > w->used_s || !(w->moved_s > 0))
		w->moved_s = now;
	w->used_s = used_s;
	return now - w->moved_s < STILL_S;
}

struct cs_writer *cs_writers_wait(struct cs_writer **w, int n,
				  const struct cs_patience *patience)
{
	int stopped = 0;

	for (;; nap()) {
		struct cs_writer *first = NULL;
		int moving = 0;

		stopped |= patience->stop(patience->ctx);
		for (int i = 0; i < n; i++)
			if (state_of(w[i], NULL) != DONE) {
				first = first ? first : w[i];
				moving |= !stopped || gets_on(w[i]);
			}
		if (!first || !moving || cs_clock_s() >= patience->end_s)
			return first;
	}
}

const char *cs_writer_path(const struct cs_writer *w)
{
	return w->path;
}

int cs_writer_close(struct cs_writer *w, struct cs_err *err)
{
	int pipe, failed;
	enum state state = state_of(w, &pipe);

	if (w->complete) /* the caller reports an incomplete one */
		atomic_store(w->complete, 1);
	if (state != DONE)
		return cs_err_set(err, "cannot write '%.200s': %s", w->path,
				  pipe && state == OPENING ?
					  "no process reads the pipe" :
					  "it takes no data");
	pthread_join(w->thread, NULL);
	failed = w->failed;
	if (failed)
		cs_err_set(err, "%s", w->err.text);
	free_writer(w);
	return failed ? -1 : 0;
}
