#include "base/hints.h"

#include <string.h>
#include <strings.h>

#define ONLY(...) (const char *const[]){ __VA_ARGS__, NULL }

/* The driver's numbers. */
#define CUDA(number, name_)                                                    \
	.key = "cuda-" #number, .name = name_, .of = CS_HINT_OF_CUDA,          \
	.code = { number }

#define XID(number, grade_, whose, means_, remedy_)                           \
	[CS_HINT_XID_##number] = { .key = "xid-" #number,                      \
				   .grade = CS_XID_##grade_,                   \
				   .means = whose ": " means_,                 \
				   .remedy = remedy_ },

#include "base/hints.def"

const struct cs_hint *cs_hint(enum cs_hint_id id)
{
	return &rows[id];
}

/* "Xid 79" and "xid79" are "xid-79". */
static int is_xid(const struct cs_hint *h, const char *text)
{
	return !strncasecmp(text, "xid", 3) && !strncmp(h->key, "xid-", 4) &&
	       !strcmp(text + 3 + strspn(text + 3, " -:"), h->key + 4);
}

const struct cs_hint *cs_hint_find(const char *text)
{
	int number = *text && !text[strspn(text, "0123456789")];

	for (size_t i = 0; i < CS_HINTS; i++) {
		const struct cs_hint *h = &rows[i];

		if (!strcasecmp(h->key, text) || is_xid(h, text) ||
		    (h->name && !strcasecmp(h->name, text)) ||
		    (number && !strcmp(strchr(h->key, '-') + 1, text)))
			return h;
	}
	return NULL;
}

const char *cs_hint_brief(enum cs_hint_id id)
{
	return rows[id].brief;
}

static int holds_for(const struct cs_hint *h, const char *call)
{
	if (!h->calls)
		return 1;
	for (const char *const *c = h->calls; *c; c++)
		if (!strcmp(*c, call))
			return 1;
	return 0;
}

static const char *by_code(enum cs_hint_of of, int code, const char *call)
{
	for (size_t i = 0; i < CS_HINTS && code; i++)
		if (rows[i].of == of &&
		    (rows[i].code[0] == code || rows[i].code[1] == code) &&
		    holds_for(&rows[i], call))
			return rows[i].brief;
	return NULL;
}

const char *cs_hint_cuda(int code, const char *call)
{
	return by_code(CS_HINT_OF_CUDA, code, call);
}

const char *cs_hint_nvml(int code)
{
	return by_code(CS_HINT_OF_NVML, code, "");
}
