#include "backend/cuda/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/call.h"

#define BUFFER (1u << 20)
/* A flush does not wait for buffers that were full before it. */
#define DELIVERED_S 5

static struct {
#define FIELD(name, takes) int(*name) takes;
	CS_CUPTI_CALLS(FIELD)
#undef FIELD
} cupti;

static const struct {
	const char *name;
	size_t at;
} calls[] = {
#define CALL(call, takes) { #call, offsetof(typeof(cupti), call) },
	CS_CUPTI_CALLS(CALL)
#undef CALL
};

/* A range that is counted. */
struct counted {
	struct counted *next;
	uint64_t at, bytes;
	struct cs_um_counts counts;
};

/* CUPTI delivers records within our calls and in threads of its own: the ranges have a
 * lock that no call of CUPTI is made under. */
static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER,
		       counting = PTHREAD_MUTEX_INITIALIZER;
static struct counted *ranges;
static void *library;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int n_lent; /* buffers that CUPTI has not given back */
static uint32_t users;
static size_t dropped; /* so far */

/* ---- records ---- */

static void request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER);
	*bytes = *buffer ? BUFFER : 0;
	*records = 0;
	pthread_mutex_lock(&counting);
	n_lent += *buffer != NULL;
	pthread_mutex_unlock(&counting);
}

static void add_bytes(struct cs_um_counts *c, int64_t *to, int64_t bytes)
{
	*to += bytes;
	c->least_bytes = c->moves && c->least_bytes < bytes ? c->least_bytes : bytes;
	c->most_bytes = c->most_bytes > bytes ? c->most_bytes : bytes;
	c->moves++;
}

static void add(struct cs_um_counts *c, const struct cs_cupti_record *r)
{
	const int64_t value = (int64_t)r->value;

	switch (r->counter) {
	case CS_CUPTI_TO_GPU:
		add_bytes(c, &c->to_gpu_bytes, value);
		break;
	case CS_CUPTI_TO_HOST:
		add_bytes(c, &c->to_host_bytes, value);
		c->evicted_bytes += r->flags == CS_CUPTI_EVICTION ? value : 0;
		break;
	case CS_CUPTI_PEER:
		add_bytes(c, &c->peer_bytes, value);
		break;
	case CS_CUPTI_CPU_FAULT:
		c->cpu_faults++;
		break;
	case CS_CUPTI_GPU_FAULTS:
		c->fault_groups++;
		c->faults += value;
		c->fault_us += 1e-3 * (double)(r->end - r->start);
		break;
	default: /* thrashing, throttling, maps */
		break;
	}
}

static void take(const struct cs_cupti_record *r)
{
	struct counted *of = ranges;

	while (of && !(r->address >= of->at && r->address - of->at < of->bytes))
		of = of->next;
	if (of && r->kind == CS_CUPTI_UM_COUNTER)
		add(&of->counts, r);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer,
		     size_t bytes, size_t valid)
{
	void *record = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	pthread_mutex_lock(&counting);
	while (valid && !cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		take(record);
	n_lent -= buffer != NULL;
	pthread_cond_broadcast(&delivered);
	pthread_mutex_unlock(&counting);
	free(buffer);
}

/* ---- the library ---- */

static int result(int code, const char *call, struct cs_err *err)
{
	const char *text = NULL;

	if (!code)
		return 0;
	if (cupti.cuptiGetResultString(code, &text) || !text)
		text = "unknown error";
	return cs_err_set(err, "%s: %s (%d)", call, text, code);
}

#define CUPTI(err, call, ...)                                                  \
	({                                                                     \
		int result_;                                                   \
		cs_call_begin(#call);                                          \
		result_ = cupti.call(__VA_ARGS__);                             \
		cs_call_end();                                                 \
		result(result_, #call, err);                                   \
	})

/* The library of CS_LIBCUPTI, else of the loader's path, else of a CUDA toolkit. */
static void *open_library(void)
{
	static const char *const in[] = { "", "/extras/CUPTI/lib64/", "/lib64/" };
	const char *home = secure_getenv("CUDA_HOME"),
		   *name = secure_getenv("CS_LIBCUPTI");
	void *found = NULL;
	char path[512];

	if (name && *name)
		return dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!home || !*home)
		home = "/usr/local/cuda";
	for (size_t i = 0; !found && i < sizeof(in) / sizeof(*in); i++)
		for (int major = 13; !found && major >= 12; major--) {
			cs_text(path, sizeof(path), "%s%slibcupti.so.%d",
				i ? home : "", in[i], major);
			found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		}
	return found;
}

static int find_calls(void *in, struct cs_err *err)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		void *entry = dlsym(in, calls[i].name);

		if (!entry)
			return cs_err_set(err, "libcupti has no %s", calls[i].name);
		memcpy((char *)&cupti + calls[i].at, &entry, sizeof(entry));
	}
	return 0;
}

static int load(struct cs_err *err)
{
	uint32_t version = 0;
	void *opened;

	if (library)
		return 0;
	cs_call_begin("dlopen");
	opened = open_library();
	cs_call_end();
	if (!opened)
		return cs_err_set(err,
				  "libcupti.so.13 or .12 cannot be loaded, nor found in "
				  "CUDA_HOME: %s",
				  dlerror());
	if (find_calls(opened, err) || CUPTI(err, cuptiGetVersion, &version))
		return -1;
	if (version < CS_CUPTI_OLDEST || version > CS_CUPTI_NEWEST)
		return cs_err_set(err,
				  "CUPTI's version is %u: its records are known from "
				  "version %u (CUDA 8.0) to CUDA 13",
				  version, CS_CUPTI_OLDEST);
	if (CUPTI(err, cuptiActivityRegisterCallbacks, request, complete))
		return -1;
	library = opened;
	return 0;
}

static int start(struct cs_err *err)
{
	static const uint32_t counters[] = { CS_CUPTI_TO_GPU, CS_CUPTI_TO_HOST,
					     CS_CUPTI_CPU_FAULT, CS_CUPTI_GPU_FAULTS,
					     CS_CUPTI_PEER };
	enum { N = sizeof(counters) / sizeof(*counters) };
	struct cs_cupti_config config[N];

	for (int i = 0; i < N; i++)
		config[i] = (struct cs_cupti_config){ CS_CUPTI_ALL_DEVICES,
						      counters[i], 0, 1 };
	return cs_rc(CUPTI(err, cuptiActivityConfigureUnifiedMemoryCounter, config, N) ||
		     CUPTI(err, cuptiActivityEnable, CS_CUPTI_UM_COUNTER));
}

static int flush(struct cs_err *err)
{
	int rc = CUPTI(err, cuptiActivityFlushAll, CS_CUPTI_FORCED), late = 0;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += DELIVERED_S;
	pthread_mutex_lock(&counting);
	while (!rc && n_lent > 0 && !late)
		late = pthread_cond_timedwait(&delivered, &counting, &end);
	pthread_mutex_unlock(&counting);
	return late ? cs_err_set(err,
				 "CUPTI has not delivered all records within %d s",
				 DELIVERED_S) :
		      rc;
}

/* ---- what is counted ---- */

int cs_cupti_count(uint64_t at, uint64_t bytes, struct cs_err *err)
{
	struct counted *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return cs_err_set(err, "no memory");
	new->at = at;
	new->bytes = bytes;
	pthread_mutex_lock(&calling);
	rc = load(err) || (!users && start(err)) || flush(err);
	users += !rc;
	pthread_mutex_unlock(&calling);
	if (rc) {
		free(new);
		return -1;
	}
	pthread_mutex_lock(&counting);
	new->next = ranges;
	ranges = new;
	pthread_mutex_unlock(&counting);
	return 0;
}

static int stop(struct cs_err *err)
{
	size_t all = dropped;
	int rc = flush(err);

	if (!--users)
		rc |= CUPTI(err, cuptiActivityDisable, CS_CUPTI_UM_COUNTER) ||
		      flush(err);
	rc |= CUPTI(err, cuptiActivityGetNumDroppedRecords, NULL, 0, &all);
	if (!rc && all > dropped)
		rc = cs_err_set(err, "CUPTI has lost %zu records", all - dropped);
	dropped = all;
	return cs_rc(rc);
}

int cs_cupti_counted(uint64_t at, struct cs_um_counts *out, struct cs_err *err)
{
	struct counted **of = &ranges, *old;
	int rc;

	pthread_mutex_lock(&calling);
	rc = stop(err);
	pthread_mutex_unlock(&calling);
	pthread_mutex_lock(&counting);
	while ((*of)->at != at)
		of = &(*of)->next;
	old = *of;
	*of = old->next;
	pthread_mutex_unlock(&counting);
	if (!rc)
		*out = old->counts;
	free(old);
	return rc;
}
