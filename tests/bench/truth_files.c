#include "truth_files.h"

#include "check/bounds/baseline.h"

#define FILES_MOST 100
/* What is promised, in shares of runs with a fault. */
#define FOUND 0.99
/* Files: one says nothing of what nodes and runs differ by. */
#define ALARMED_FROM 3
#define FOUND_FROM 10

static struct canned file[FILES_MOST], fresh;
static int broken;

void truth_must(int rc, const struct cs_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static void learn(const struct truth *t, const struct truth_world *w, int n,
		  struct cs_baseline *b)
{
	const struct cs_run *run[FILES_MOST];
	struct cs_err err;
	size_t which;

	for (int i = 0; i < n; i++) {
		struct cs_node_facts *facts = &file[i].run.node[0].facts;

		t->fill(w, &file[i]);
		cs_text(facts->host, sizeof(facts->host), "n%d", w->one_node ? 0 : i);
		run[i] = &file[i].run;
	}
	truth_must(cs_baseline_learn(run, (size_t)n, b, &which, &err), &err);
}

/* The share of fresh runs that are alarmed. */
static double share_alarmed(const struct truth *t, const struct truth_world *w, int n,
			    const struct truth_fault *fault)
{
	int alarmed = 0;

	for (int k = 0; k < t->baselines; k++) {
		struct cs_baseline b;

		t->begin(w, ((uint64_t)(w - t->world) << 32 | (uint64_t)k) * 1000003 +
				    (uint64_t)n + (fault ? 77 : 0));
		learn(t, w, n, &b);
		fresh.run.baseline = &b;
		for (int i = 0; i < t->fresh; i++)
			alarmed += t->is_alarmed(w, fault, &fresh);
		cs_baseline_release(&b);
	}
	return (double)alarmed / (t->baselines * t->fresh);
}

static void row_of(const struct truth *t, const struct truth_world *w,
		   const struct truth_fault *fault)
{
	const double most = w->busy > 0 ? t->promised_busy : t->promised;

	printf("%-34s", fault ? fault->name : w->name);
	for (const int *n = t->files; *n; n++) {
		double share = share_alarmed(t, w, *n, fault);
		int kept = fault ? *n < FOUND_FROM || share >= FOUND :
				   *n < ALARMED_FROM || share <= most;

		printf("  %6.2f%s", 100 * share, kept ? " " : "!");
		fflush(stdout);
		broken |= !kept;
	}
	printf("\n");
}

static void head(const struct truth *t, const char *what)
{
	printf("%-34s", what);
	for (const int *n = t->files; *n; n++)
		printf("  %6d ", *n);
	printf("\n");
}

int truth_files(const struct truth *t)
{
	t->init(&fresh);
	fresh.run.margin = 0.01;
	for (int i = 0; i < FILES_MOST; i++) {
		t->init(&file[i]);
		cs_text(file[i].run.id, sizeof(file[i].run.id), "run-%d", i);
	}
	printf("Of %d healthy runs of %d GPUs each, %s, in %%\n",
	       t->baselines * t->fresh, t->gpus, t->alarmed);
	head(t, "noise \\ files learnt from");
	for (const struct truth_world *w = t->world; w->name; w++)
		row_of(t, w, NULL);
	printf("\nOf as many runs with a fault, found, in %%\n");
	head(t, "fault \\ files learnt from");
	for (const struct truth_fault *f = t->fault; f->name; f++)
		row_of(t, &t->world[f->world], f);
	canned_release(&fresh);
	for (int i = 0; i < FILES_MOST; i++)
		canned_release(&file[i]);
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
