#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define FIRST_ROOM 16

/* Doubling keeps the cost of n additions proportional to n. */
static int grow(struct cs_vec *vec, size_t need)
{
	size_t room = vec->room ? vec->room : FIRST_ROOM, bytes;
	void *data;

	while (room < need)
		if (__builtin_mul_overflow(room, 2, &room))
			return -1;
	if (__builtin_mul_overflow(room, vec->element, &bytes))
		return -1;
	data = vec->is_list ? cs_arena_resize(vec->data, bytes) :
			      realloc(vec->data, bytes);
	if (!data)
		return -1;
	vec->data = data;
	vec->room = room;
	return 0;
}

void *cs_vec_add(struct cs_vec *vec, size_t count, struct cs_err *err)
{
	size_t need;
	char *added;

	if (__builtin_add_overflow(vec->n, count, &need) ||
	    ((need > vec->room || !vec->data) && grow(vec, need))) {
		cs_err_set(err, "no memory for %zu more elements of %zu bytes", count,
			   vec->element);
		return NULL;
	}
	added = (char *)vec->data + vec->n * vec->element;
	vec->n = need;
	return added;
}

int cs_vec_push(struct cs_vec *vec, const void *element, struct cs_err *err)
{
	void *to = cs_vec_add(vec, 1, err);

	if (!to)
		return -1;
	memcpy(to, element, vec->element);
	return 0;
}

void cs_vec_sort(struct cs_vec *vec, int (*compare)(const void *, const void *))
{
	if (vec->n)
		qsort(vec->data, vec->n, vec->element, compare);
}

void cs_vec_release(struct cs_vec *vec)
{
	if (!vec)
		return;
	if (!vec->is_list)
		free(vec->data);
	vec->data = NULL;
	vec->n = vec->room = 0;
}

void *cs_list_add(struct cs_vec *list, size_t count)
{
	struct cs_err err;
	void *added = cs_vec_add(list, count, &err);

	if (!added)
		cs_arena_give_up(&err);
	return added;
}

void cs_list_push(struct cs_vec *list, const void *element)
{
	memcpy(cs_list_add(list, 1), element, list->element);
}
