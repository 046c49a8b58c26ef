/* Memory that ends with the work. */
#include "base/arena.h"
#include "base/vec.h"
#include "tap.h"

/* Small pieces, large ones, and one that grows between them. */
static int take_many(void *argument)
{
	uint64_t *all = NULL, *sum = argument;
	size_t bytes = 0;

	for (size_t i = 1; i < 2000; i++) {
		size_t n = i % 100 == 0 ? 10000 : i % 17;
		char *taken = cs_new(char, n);

		for (size_t k = 0; k < n; k++)
			bytes += !taken[k];
		memset(taken, 0xff, n);
		all = cs_arena_resize(all, i * sizeof(*all));
		all[i - 1] = i;
	}
	*sum = 0;
	for (size_t i = 1; i < 2000; i++)
		*sum += all[i - 1] == i;
	*sum += bytes;
	return 7;
}

HOLDS("pieces come zeroed and apart, and grow in place or move") {
	size_t bytes = 0;
	uint64_t sum;

	for (size_t i = 1; i < 2000; i++)
		bytes += i % 100 == 0 ? 10000 : i % 17;
	t_eq_int(cs_arena_run(take_many, &sum, NULL), 7);
	t_eq_int(sum, 1999 + bytes);
}

static int take_too_much(void *argument)
{
	int *steps = argument;

	++*steps;
	cs_new(uint64_t, SIZE_MAX / 4);
	++*steps;
	return 0;
}

static int grow_too_much(void *argument)
{
	struct cs_vec list = CS_LIST(uint64_t);
	int *steps = argument;

	cs_list_push(&list, &(uint64_t){ 5 });
	++*steps;
	cs_list_add(&list, SIZE_MAX / 4);
	++*steps;
	return 0;
}

HOLDS("a shortage of memory ends the work, with an error") {
	int steps = 0;
	struct cs_err err;

	t_eq_int(cs_arena_run(take_too_much, &steps, &err), -1);
	t_eq_int(steps, 1);
	t_has(err.text, "no memory");
	t_eq_int(cs_arena_run(grow_too_much, &steps, &err), -1);
	t_eq_int(steps, 2);
	t_has(err.text, "no memory");
}

static int take_inside(void *argument)
{
	char *mine = cs_new_text("%s-%d", "n", 12);
	int steps = 0;

	*(int *)argument = cs_arena_run(take_too_much, &steps, NULL);
	t_eq_str(mine, "n-12");
	t_eq_str(cs_new_text("%0100d", 0) + 99, "0");
	return 0;
}

HOLDS("and that of an inner work ends the inner one alone") {
	int inner = 0;

	t_eq_int(cs_arena_run(take_inside, &inner, NULL), 0);
	t_eq_int(inner, -1);
}

static int fill_list(void *argument)
{
	struct cs_vec list = CS_LIST(int);

	for (int i = 0; i < 100000; i++)
		cs_list_push(&list, &i);
	*(int *)argument = ((int *)list.data)[99999];
	cs_vec_release(&list);
	t_eq_int(list.n, 0);
	return 0;
}

static void count_end(void *what)
{
	++*(int *)what;
}

static int take_in_scopes(void *argument)
{
	struct cs_vec list = CS_LIST(int);
	int *ended = argument;
	const char *kept;

	cs_list_push(&list, &(int){ -1 });
	kept = cs_new_text("kept");
	cs_arena_at_end(count_end, &ended[0]);
	for (int i = 0; i < 1000; i++) {
		CS_SCOPE;
		cs_arena_at_end(count_end, &ended[1]);
		cs_new(char, 5000);
		cs_new(char, 100000);
		cs_list_push(&list, &i);
	}
	t_eq_int(ended[1], 1000);
	t_eq_int(ended[0], 0);
	t_eq_str(kept, "kept");
	t_eq_str(cs_new_longer(cs_new_longer(NULL, "%d", 1), "%s", "-2"), "1-2");
	t_eq_int(((int *)list.data)[1000], 999);
	cs_arena_fails_at = 2;
	cs_new(char, 1);
	cs_new(char, 1);
	ended[2]++;
	return 0;
}

HOLDS("a scope ends what was taken in it, and the work the rest, also without memory") {
	int ended[3] = { 0 };

	t_eq_int(cs_arena_run(take_in_scopes, ended, NULL), -1);
	t_eq_int(ended[0], 1);
	t_eq_int(ended[2], 0);
	t_eq_int(cs_arena_fails_at, 0);
}

static int take_of_reserve(void *unused)
{
	char *before = NULL;

	(void)unused;
	cs_arena_reserve(1 << 18);
	for (int i = 0; i < 2; i++) {
		CS_SCOPE;

		for (int k = 0; k < 60; k++) {
			char *piece = cs_new(char, 4096);

			t_ok(!k || (piece > before && piece - before < 4200));
			before = piece;
		}
	}
	return 0;
}

HOLDS("scopes share the room that was reserved before them") {
	t_eq_int(cs_arena_run(take_of_reserve, NULL, NULL), 0);
}

HOLDS("a list grows in the arena, and need not be released") {
	int last = 0;

	t_eq_int(cs_arena_run(fill_list, &last, NULL), 0);
	t_eq_int(last, 99999);
}
