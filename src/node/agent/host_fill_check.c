#include "node/agent/host_fill_check.h"

#include <pthread.h>

#include "base/cpus.h"

/* More hardly make it faster: they wait for memory. */
#define PARTS_MAX 16
/* Worth a thread, and whole pages of 2 MiB. */
#define PART_LEAST ((uint64_t)4 << 20)
/* A check of some is over so much sooner. */
#define SOME_LESS 4

enum what { FILL, POISON, CHECK, SOME, TOUCHED, WORDS, FLUSH };

struct part {
	enum what what;
	char *at;
	uint64_t bytes, key;
	uint64_t page, mark;		/* TOUCHED */
	const struct cs_expected *left; /* WORDS, … */
	void *whole;			/* … all of it, … */
	int poison;			/* and leave the pattern `left` */
	void (*flush)(const void *at, uint64_t bytes);
	struct cs_some some; /* SOME */
	struct cs_check found;
	pthread_t thread;
	int apart; /* it has a thread */
};

static void *pass(void *arg)
{
	struct part *part = arg;

	if (part->what == FILL)
		cs_fill_host(part->at, part->bytes, part->key);
	else if (part->what == POISON)
		cs_poison_host(part->at, part->bytes);
	else if (part->what == WORDS)
		cs_check_host_words(part->whole, part->left,
				    (uint64_t)(part->at - (char *)part->whole) / 8,
				    part->bytes / 8, part->poison, &part->found);
	else if (part->what == FLUSH)
		part->flush(part->at, part->bytes);
	else if (part->what == SOME)
		cs_check_host_some(part->at, part->bytes, part->key, &part->some,
				   &part->found);
	else if (part->what == TOUCHED)
		cs_check_touched(part->at, part->bytes,
				 &(struct cs_touched){ part->key, part->page,
						       part->mark },
				 &part->found);
	else
		cs_check_host(part->at, part->bytes, part->key, 0, &part->found);
	return NULL;
}

static int parts_for(uint64_t bytes)
{
	int most = cs_cpus(PARTS_MAX);

	if ((uint64_t)most > bytes / PART_LEAST)
		most = (int)(bytes / PART_LEAST);
	return most < 1 ? 1 : most;
}

/* The pattern of a part begins where its first word lies in the whole: a key is what
 * the first word's place is added to. */
static int divide(enum what what, void *p, uint64_t bytes, uint64_t key,
		  struct part *part)
{
	int n = parts_for(what == SOME ? bytes / SOME_LESS : bytes);
	uint64_t each = bytes / (uint64_t)n / PART_LEAST * PART_LEAST, at;

	for (int i = 0; i < n; i++) {
		at = (uint64_t)i * each;
		part[i] = (struct part){
			.what = what,
			.at = (char *)p + at,
			.bytes = i + 1 < n ? each : bytes - at,
			.key = key + cs_fill_step(at / sizeof(uint64_t)),
		};
	}
	return n;
}

static void run(struct part *part, int n)
{
	for (int i = 1; i < n; i++)
		part[i].apart = !pthread_create(&part[i].thread, NULL, pass, &part[i]);
	for (int i = 0; i < n; i++)
		if (!part[i].apart)
			pass(&part[i]);
	for (int i = 1; i < n; i++)
		if (part[i].apart)
			pthread_join(part[i].thread, NULL);
}

void cs_fill_host_parallel(void *p, uint64_t bytes, uint64_t key)
{
	struct part part[PARTS_MAX];

	run(part, divide(FILL, p, bytes, key, part));
}

void cs_poison_host_parallel(void *p, uint64_t bytes)
{
	struct part part[PARTS_MAX];

	run(part, divide(POISON, p, bytes, 0, part));
}

void cs_flush_host_parallel(const void *p, uint64_t bytes,
			    void (*flush)(const void *at, uint64_t bytes))
{
	struct part part[PARTS_MAX];
	/* a flush changes nothing */
	int n = divide(FLUSH, (void *)(uintptr_t)p, bytes, 0, part);

	for (int i = 0; i < n; i++)
		part[i].flush = flush;
	run(part, n);
}

static void add_up(const void *p, const struct part *part, int n, struct cs_check *out)
{
	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (int i = 0; i < n; i++)
		cs_check_add(out, &part[i].found,
			     (uint64_t)(part[i].at - (const char *)p) /
				     sizeof(uint64_t));
}

void cs_check_host_parallel(void *p, uint64_t bytes, uint64_t key,
			    struct cs_check *out)
{
	struct part part[PARTS_MAX];
	int n = divide(CHECK, p, bytes, key, part);

	run(part, n);
	add_up(p, part, n, out);
}

void cs_check_host_some_parallel(void *p, uint64_t bytes, uint64_t key,
				 const struct cs_some *some, struct cs_check *out)
{
	struct part part[PARTS_MAX];
	int n = divide(SOME, p, bytes, key, part);

	for (int i = 0; i < n; i++)
		part[i].some = (struct cs_some){ some->seed + (uint64_t)i,
						 some->poison };
	run(part, n);
	add_up(p, part, n, out);
}

/* Each part counts words from the begin of the whole. */
void cs_check_host_words_parallel(void *p, const struct cs_expected *left, int poison,
				  struct cs_check *out)
{
	struct part part[PARTS_MAX];
	int n = divide(WORDS, p, left->bytes, left->key, part);

	for (int i = 0; i < n; i++) {
		part[i].left = left;
		part[i].whole = p;
		part[i].poison = poison;
	}
	run(part, n);
	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (int i = 0; i < n; i++)
		cs_check_add(out, &part[i].found, 0);
}

void cs_check_touched_parallel(void *p, uint64_t bytes,
			       const struct cs_touched *pattern, struct cs_check *out)
{
	struct part part[PARTS_MAX];
	int n = divide(TOUCHED, p, bytes, pattern->key, part);

	for (int i = 0; i < n; i++) {
		part[i].page = pattern->page;
		part[i].mark = pattern->mark;
	}
	run(part, n);
	add_up(p, part, n, out);
}
