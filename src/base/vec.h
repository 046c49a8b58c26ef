/* vec.h - one growing array of equal elements; the only container here.  It owns its
 * memory, or it is a list, whose memory is the arena's (base/arena.h). */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct cs_vec {
	void *data;
	size_t n, room, element; /* counts of elements; bytes of one */
	int is_list;		 /* its memory is the arena's */
};

#define CS_VEC(type) { NULL, 0, 0, sizeof(type), 0 }
#define CS_LIST(type) { NULL, 0, 0, sizeof(type), 1 }

/* Room for `count` more, not initialised, at the end; NULL with `err` when
 * memory is short.  Pointers into the array are void afterwards. */
void *cs_vec_add(struct cs_vec *vec, size_t count, struct cs_err *err);
/* A copy of one element at the end; 0, or -1 with `err`. */
int cs_vec_push(struct cs_vec *vec, const void *element, struct cs_err *err);
/* For each element of an array that does not grow meanwhile:
 *	CS_EACH(const struct cs_finding, f, &run->findings)
 *		use(f); */
#define CS_EACH(type, it, vec)                                                       \
	for (__typeof__(type) *it = (vec)->data, *it##_end = it ? it + (vec)->n : it; \
	     it != it##_end; it++)

/* Keep the elements for which a condition is true, in their order:
 *	CS_KEEP(struct cs_finding, f, &run->findings, f->node >= 0); */
#define CS_KEEP(type, it, vec, ...) \
	({ \
		type *to_ = (vec)->data; \
		CS_EACH(type, it, vec) \
			if (__VA_ARGS__) \
				*to_++ = *it; \
		(vec)->n = (size_t)(to_ - (type *)(vec)->data); \
	})

/* Is the condition true of an i from 0 to n - 1, of all, of how many? */
#define CS_ANY(i, n, ...) \
	({ \
		int any_ = 0; \
		for (__typeof__((n) + 0) i = 0; !any_ && i < (n); i++) \
			any_ = !!(__VA_ARGS__); \
		any_; \
	})
#define CS_ALL(i, n, ...) !CS_ANY(i, n, !(__VA_ARGS__))
#define CS_COUNT(i, n, ...) \
	({ \
		int count_ = 0; \
		for (__typeof__((n) + 0) i = 0; i < (n); i++) \
			count_ += !!(__VA_ARGS__); \
		count_; \
	})

/* The first i from 0 to n for which the condition is true: it is of all after that. */
#define CS_FIRST(i, n, ...) \
	({ \
		__typeof__((n) + 0) low_ = 0, high_ = (n); \
		while (low_ < high_) { \
			const __typeof__(low_) i = low_ + (high_ - low_) / 2; \
			if (__VA_ARGS__) \
				high_ = i; \
			else \
				low_ = i + 1; \
		} \
		low_; \
	})

/* For each group i..k of neighbours, of n: those for which the condition holds of the
 * k-th and the i-th:
 *	CS_EACH_GROUP(i, k, n, x[k].node == x[i].node)
 *		use(x + i, k - i); */
#define CS_EACH_GROUP(i, k, n, ...)                                                  \
	for (__typeof__((n) + 0) i = 0, k;                                           \
	     i < (n) && ({                                                           \
		     for (k = i + 1; k < (n) && (__VA_ARGS__); k++)                  \
			     ;                                                       \
		     1;                                                              \
	     });                                                                     \
	     i = k)

/* For the functions that qsort calls: the order of two values, and that by several keys,
 * the first of which that is not 0. */
#define CS_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
#define CS_KEYS(...) CS_KEYS_N(__VA_ARGS__, CS_KEYS6, CS_KEYS5, CS_KEYS4, CS_KEYS3, CS_KEYS2, CS_KEYS1)(__VA_ARGS__)
#define CS_KEYS_N(a, b, c, d, e, f, name, ...) name
#define CS_KEYS1(a) (a)
#define CS_KEYS2(a, b) ((a) ?: (b))
#define CS_KEYS3(a, ...) ((a) ?: CS_KEYS2(__VA_ARGS__))
#define CS_KEYS4(a, ...) ((a) ?: CS_KEYS3(__VA_ARGS__))
#define CS_KEYS5(a, ...) ((a) ?: CS_KEYS4(__VA_ARGS__))
#define CS_KEYS6(a, ...) ((a) ?: CS_KEYS5(__VA_ARGS__))

/* Such a function, by keys of two elements a and b of a type; of elements that point to a
 * and b:
 *	CS_ORDERING(by_host, struct node, strcmp(a->host, b->host), CS_ORDER(a->at, b->at)) */
#define CS_ORDERING(name, type, ...) \
	static int name(const void *a_, const void *b_) \
	{ \
		const type *a = a_, *b = b_; \
		return CS_KEYS(__VA_ARGS__); \
	}
#define CS_ORDERING_AT(name, type, ...) \
	static int name(const void *a_, const void *b_) \
	{ \
		const type *a = *(const type *const *)a_; \
		const type *b = *(const type *const *)b_; \
		return CS_KEYS(__VA_ARGS__); \
	}

/* By qsort, which may not be handed the NULL of an array that is empty. */
void cs_vec_sort(struct cs_vec *vec, int (*compare)(const void *, const void *));
void cs_vec_release(struct cs_vec *vec);

/* The same without a way to fail, in the work of an arena: for a list, which nothing
 * releases, or for an array that outlives the work. */
void *cs_list_add(struct cs_vec *list, size_t count);
void cs_list_push(struct cs_vec *list, const void *element);
