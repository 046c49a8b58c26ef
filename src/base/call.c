#include "base/call.h"

#include <stddef.h>

#include "base/err.h"

static _Thread_local struct cs_call_watch *mine;

void cs_call_watch(struct cs_call_watch *watch)
{
	mine = watch;
}

/* Copied by hand: this is in the path of every driver call. */
void cs_call_begin(const char *name)
{
	char *to = mine ? mine->to : NULL;

	if (mine)
		__atomic_fetch_add(&mine->calls, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; to && i < CS_CALL_NAME - 1; i++) {
		__atomic_store_n(&to[i], name[i], __ATOMIC_RELAXED);
		if (!name[i])
			break;
	}
}

void cs_call_read(const char *from, char to[CS_CALL_NAME])
{
	for (size_t i = 0; i < CS_CALL_NAME; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	to[CS_CALL_NAME - 1] = '\0';
}

void cs_call_end(void)
{
	char *to = mine ? mine->to : NULL;

	if (to)
		__atomic_store_n(&to[0], '\0', __ATOMIC_RELAXED);
}

const char *cs_call_text(const char *from, char to[CS_CALL_NAME + 8])
{
	char name[CS_CALL_NAME];

	cs_call_read(from, name);
	cs_text(to, CS_CALL_NAME + 8, "%s%s", name[0] ? ", in " : "", name);
	return to;
}
