/* The growing array. */
#include "base/vec.h"
#include "tap.h"

HOLDS("elements stay in order while the array grows") {
	OWNED(cs_vec) vec = CS_VEC(uint32_t);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t *added = cs_vec_add(&vec, 1, NULL);

		if (!t_ok(added != NULL))
			return;
		*added = i;
	}
	t_eq_int(vec.n, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		wrong += ((uint32_t *)vec.data)[i] != i;
	t_eq_int(wrong, 0);
}

HOLDS("many elements are added at once") {
	OWNED(cs_vec) vec = CS_VEC(double);
	double *first = cs_vec_add(&vec, 3, NULL);
	double *second;

	t_ok(first == vec.data);
	second = cs_vec_add(&vec, 500, NULL);
	t_ok(second == (double *)vec.data + 3);
	t_eq_int(vec.n, 503);
}

HOLDS("adding none is no error") {
	OWNED(cs_vec) vec = CS_VEC(double);

	t_ok(cs_vec_add(&vec, 0, NULL) != NULL);
	t_eq_int(vec.n, 0);
}

HOLDS("more than there is memory for is refused and changes nothing") {
	OWNED(cs_vec) vec = CS_VEC(uint64_t);
	struct cs_err err = { "" };
	uint64_t *first = cs_vec_add(&vec, 1, &err);

	*first = 42;
	t_ok(cs_vec_add(&vec, SIZE_MAX, &err) == NULL);
	t_ok(cs_vec_add(&vec, SIZE_MAX - 1, &err) == NULL);
	t_ok(cs_vec_add(&vec, SIZE_MAX / 8, &err) == NULL);
	t_eq_str(err.text,
		 "no memory for 2305843009213693951 more elements of 8 bytes");
	t_eq_int(vec.n, 1);
	t_eq_int(*(uint64_t *)vec.data, 42);
}

HOLDS("a copy of an element is added") {
	OWNED(cs_vec) vec = CS_VEC(uint64_t);
	struct cs_err err;

	for (uint64_t i = 0; i < 40; i++)
		t_eq_int(cs_vec_push(&vec, &i, &err), 0);
	t_eq_int(vec.n, 40);
	t_eq_int(((uint64_t *)vec.data)[39], 39);
	vec.n = SIZE_MAX;
	t_eq_int(cs_vec_push(&vec, &err, &err), -1);
	vec.n = 40;
}

static int by_value(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* The sanitizer of undefined behaviour sees what qsort is handed. */
HOLDS("an array is sorted, also one that is empty") {
	OWNED(cs_vec) vec = CS_VEC(uint32_t);
	uint32_t wrong = 0;

	cs_vec_sort(&vec, by_value);
	t_eq_int(vec.n, 0);
	for (uint32_t i = 0; i < 100; i++)
		t_eq_int(cs_vec_push(&vec, &(uint32_t){ i * 7 % 100 }, NULL), 0);
	cs_vec_sort(&vec, by_value);
	for (uint32_t i = 0; i < 100; i++)
		wrong += ((uint32_t *)vec.data)[i] != i;
	t_eq_int(wrong, 0);
}

HOLDS("a released array starts again") {
	struct cs_vec vec = CS_VEC(char);

	cs_vec_release(NULL);
	cs_vec_release(&vec);
	t_ok(cs_vec_add(&vec, 1, NULL) != NULL);
	cs_vec_release(&vec);
	cs_vec_release(&vec);
	t_eq_int(vec.n, 0);
	t_ok(cs_vec_add(&vec, 1, NULL) != NULL);
	t_eq_int(vec.n, 1);
	cs_vec_release(&vec);
}
