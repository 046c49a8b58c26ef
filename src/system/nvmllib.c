/* nvmllib.c - NVIDIA's management library: found, started, and one call at a time. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hints.h"
#include "system/nvml.h"

#define LOCK_NAPS 5000 /* of 1 ms */
#define NVML_INIT_NO_ATTACH 2u	/* leave the GPUs of the node asleep */

int cs_nvml_enter(struct cs_nvml *nvml)
{
	const struct timespec nap = { 0, 1000000 };

	for (int i = 0; i < LOCK_NAPS && !atomic_load(&nvml->hung); i++) {
		if (pthread_mutex_trylock(&nvml->lock) == 0)
			return NVML_OK;
		nanosleep(&nap, NULL);
	}
	atomic_store(&nvml->hung, 1);
	return NVML_TIMEOUT;
}

static const char *words(struct cs_nvml *nvml, int code)
{
	const char *text = NULL;

	if (code == NVML_NO_FUNCTION)
		return "this driver's NVML lacks the function";
	if (code == NVML_TIMEOUT)
		return "another call of NVML does not return";
	if (nvml->ErrorString && cs_nvml_enter(nvml) == NVML_OK) {
		text = nvml->ErrorString(code);
		pthread_mutex_unlock(&nvml->lock);
	}
	return text ? text : "error";
}

static void resolve(struct cs_nvml *nvml, void *library)
{
	nvml->ErrorString = (const char *(*)(int))dlsym(library, "nvmlErrorString");
#define X(name, arguments) \
	nvml->name = (int (*) arguments)dlsym(library, "nvml" #name);
	FUNCTIONS(X)
#undef X
}

int cs_nvml_refuse(struct cs_nvml *nvml, const char *what, int code,
		   struct cs_err *err)
{
	const char *hint = cs_hint_nvml(code);

	return cs_err_set(err, "%s: %s (%d)%s%s", what, words(nvml, code), code,
			  hint ? "; " : "", hint ? hint : "");
}

static int initialise(struct cs_nvml *nvml, struct cs_err *err)
{
	const char *call = "nvmlInitWithFlags";
	int code = CALL(nvml, InitWithFlags, NVML_INIT_NO_ATTACH);

	if (code != NVML_OK) {
		call = "nvmlInit_v2";
		code = CALL(nvml, Init_v2);
		nvml->attached = 1;
	}
	if (code != NVML_OK)
		return cs_nvml_refuse(nvml, call, code, err);
	nvml->up = 1;
	return 0;
}

/* The NVIDIA container runtime leaves its settings in the environment. */
static const char *why_absent(void)
{
	const char *had = getenv("NVIDIA_DRIVER_CAPABILITIES");
	int without = had && !strstr(had, "utility") && !strstr(had, "all");

	return cs_hint_brief(without ? CS_HINT_CONTAINER_UTILITY :
				       CS_HINT_NVML_ABSENT);
}

struct cs_nvml *cs_nvml_open(struct cs_err *err)
{
	const char *file = secure_getenv("CS_LIBNVML");
	struct cs_nvml *nvml = calloc(1, sizeof(*nvml));
	void *library;

	if (!nvml) {
		cs_err_set(err, "no memory for NVML");
		return NULL;
	}
	/* Never closed: threads and handlers of the library stay. */
	library = dlopen(file ? file : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		cs_err_set(err, "no NVML: %s; %s", dlerror(), why_absent());
		free(nvml);
		return NULL;
	}
	pthread_mutex_init(&nvml->lock, NULL);
	resolve(nvml, library);
	if (initialise(nvml, err)) {
		cs_nvml_close(nvml);
		return NULL;
	}
	return nvml;
}

void cs_nvml_close(struct cs_nvml *nvml)
{
	if (!nvml)
		return;
	if (nvml->up)
		CALL(nvml, Shutdown);
	pthread_mutex_destroy(&nvml->lock);
	free(nvml);
}
