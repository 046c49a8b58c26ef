/* cupti.c - the part of CUPTI that counts managed memory, in the same library as the fake
 * driver: CS_LIBCUPTI names it.  Records are kept until they are asked for; those
 * before it is enabled a second time are lost, as its thread begins late (H100, CUDA 13.0).
 * Faults take 1.7 times as long while it counts.
 *
 *	FAKE_CUPTI_VERSION=N: its version; 130001
 *	FAKE_CUPTI_REFUSE=CODE: what it answers to who wants counters of managed
 *		memory; 0
 *	FAKE_CUPTI_FORGOTTEN=N: every N-th record is lost, and it does not say so; 0
 *	FAKE_CUPTI_LOST=N: records that it says it has dropped, each time; 0
 *	FAKE_CUPTI_LOG=FILE: a line for each time that it is enabled */
#include "fake.h"

#include <pthread.h>

#include "backend/cuda/cupti.h"

#define MOST (1u << 16)
#define HAS_MASK 26u /* from this version on a mask of devices follows the record */
#define INVALID 1    /* CUPTI_ERROR_INVALID_PARAMETER */

#define DECLARED(name, takes) int name takes;
CS_CUPTI_CALLS(DECLARED)

struct record {
	struct cs_cupti_record is;
	uint64_t devices[5];
};

/* A CPU's touch records in a handler of signals, which must not allocate. */
static struct record kept[MOST];
static size_t n_kept, n_recorded, forgotten, dropped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cs_cupti_request_fn *request;
static cs_cupti_complete_fn *complete;
static uint32_t wanted; /* counters, as bits */
static _Atomic int is_on, n_enabled;

static uint32_t version(void)
{
	const char *is = getenv("FAKE_CUPTI_VERSION");

	return is ? (uint32_t)strtoul(is, NULL, 10) : 130001;
}

static size_t record_bytes(void)
{
	return version() < HAS_MASK ? sizeof(struct cs_cupti_record) :
				      sizeof(struct record);
}

int fake_cupti_is_on(void)
{
	return is_on;
}

void fake_cupti_record(uint32_t counter, uint64_t address, uint64_t value, double ns,
		       uint32_t why)
{
	if (!is_on || !(wanted >> counter & 1))
		return;
	pthread_mutex_lock(&lock);
	n_recorded++;
	if (forgotten && !(n_recorded % forgotten))
		; /* the driver's queue was full */
	else if (n_kept < MOST)
		kept[n_kept++].is = (struct cs_cupti_record){
			.kind = CS_CUPTI_UM_COUNTER,
			.counter = counter,
			.value = value,
			.end = (uint64_t)ns,
			.address = address,
			.process = (uint32_t)getpid(),
			.flags = why,
		};
	else
		dropped++;
	pthread_mutex_unlock(&lock);
}

int cuptiGetVersion(uint32_t *is)
{
	*is = version();
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == 28 ? "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED" :
			       "CUPTI_ERROR_INVALID_PARAMETER";
	return 0;
}

int cuptiActivityRegisterCallbacks(cs_cupti_request_fn *ask,
				   cs_cupti_complete_fn *give)
{
	request = ask;
	complete = give;
	return 0;
}

int cuptiActivityConfigureUnifiedMemoryCounter(struct cs_cupti_config *config,
					       uint32_t n)
{
	const char *refused = getenv("FAKE_CUPTI_REFUSE");

	if (refused)
		return (int)strtol(refused, NULL, 10);
	forgotten = getenv("FAKE_CUPTI_FORGOTTEN") ?
			    strtoul(getenv("FAKE_CUPTI_FORGOTTEN"), NULL, 10) :
			    0;
	wanted = 0;
	for (uint32_t i = 0; i < n; i++)
		wanted |= config[i].enable ? 1u << config[i].counter : 0;
	return 0;
}

int cuptiActivityEnable(int kind)
{
	FILE *log = getenv("FAKE_CUPTI_LOG") ? fopen(getenv("FAKE_CUPTI_LOG"), "a") :
					       NULL;

	if (kind != CS_CUPTI_UM_COUNTER || !request)
		return INVALID;
	if (log) {
		fputs("enabled\n", log);
		fclose(log);
	}
	is_on = 1;
	n_enabled++;
	return 0;
}

int cuptiActivityDisable(int kind)
{
	is_on = 0;
	return kind == CS_CUPTI_UM_COUNTER ? 0 : INVALID;
}

/* Deliver all that is kept, a buffer after the other. */
int cuptiActivityFlushAll(uint32_t flag)
{
	const size_t each = record_bytes();
	size_t done = 0;

	(void)flag;
	pthread_mutex_lock(&lock);
	n_kept = n_enabled > 1 ? n_kept : 0;
	while (done < n_kept) {
		size_t bytes = 0, most = 0, n = 0;
		uint8_t *buffer = NULL;

		request(&buffer, &bytes, &most);
		for (; done < n_kept && (n + 1) * each <= bytes; n++)
			memcpy(buffer + n * each, &kept[done++], each);
		complete(NULL, 0, buffer, bytes, n * each);
	}
	n_kept = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + record_bytes() : buffer;

	if (next >= buffer + bytes)
		return CS_CUPTI_DONE;
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *n)
{
	const char *lost = getenv("FAKE_CUPTI_LOST");

	(void)context;
	(void)stream;
	*n = dropped + (lost ? strtoul(lost, NULL, 10) : 0) * (size_t)n_enabled;
	return 0;
}
