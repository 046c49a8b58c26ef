#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/hints.h"
#include "tap.h"

static void every_row_is_complete(void)
{
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		if (!t_ok(h->key && h->means && h->remedy)) {
			printf("# row %d\n", id);
			continue;
		}
		t_ok(strchr(h->key, '-') != NULL);
		t_ok(strlen(h->means) > 20 && strlen(h->remedy) > 20);
		t_eq_str(strrchr(h->means, '.'), ".");
		t_eq_str(strrchr(h->remedy, '.'), ".");
	}
}

static void keys_are_found_and_unique(void)
{
	for (int id = 0; id < CS_HINTS; id++) {
		t_ok(cs_hint_find(cs_hint(id)->key) == cs_hint(id));
		if (cs_hint(id)->name)
			t_ok(cs_hint_find(cs_hint(id)->name) == cs_hint(id));
	}
}

static void keys_hold_their_numbers(void)
{
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);
		char key[24];

		if (!h->name)
			continue;
		snprintf(key, sizeof(key), "%s-%d",
			 h->of == CS_HINT_OF_CUDA ? "cuda" : "nvml", h->code[0]);
		t_eq_str(h->key, key);
	}
}

static void case_does_not_matter(void)
{
	t_ok(cs_hint_find("CUDA-802") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("cuda_error_system_not_ready") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("Dev-Shm") == cs_hint(CS_HINT_DEV_SHM));
}

static void numbers_stand_for_codes(void)
{
	t_ok(cs_hint_find("802") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("2") == cs_hint(CS_HINT_CUDA_2));
	t_ok(cs_hint_find("18") == cs_hint(CS_HINT_NVML_18));
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		if (h->name)
			t_ok(cs_hint_find(strchr(h->key, '-') + 1) == h);
	}
}

static void nothing_else_is_found(void)
{
	t_ok(cs_hint_find("") == NULL);
	t_ok(cs_hint_find("0") == NULL);
	t_ok(cs_hint_find("80") == NULL);
	t_ok(cs_hint_find("8020") == NULL);
	t_ok(cs_hint_find("-802") == NULL);
	t_ok(cs_hint_find("99999999999999999999") == NULL);
	t_ok(cs_hint_find("cuda-802 ") == NULL);
	t_ok(cs_hint_find("absent") == NULL);
}

static void some_codes_depend_on_the_call(void)
{
	t_eq_str(cs_hint_cuda(1, "cuIpcOpenMemHandle"),
		 cs_hint_brief(CS_HINT_IPC_CGROUP));
	t_eq_str(cs_hint_cuda(101, "cuIpcOpenMemHandle"),
		 cs_hint_brief(CS_HINT_IPC_CGROUP));
	t_eq_str(cs_hint_cuda(1, "cuMemcpyAsync"), NULL);
	t_eq_str(cs_hint_cuda(2, "cuDevicePrimaryCtxRetain"),
		 cs_hint_brief(CS_HINT_CUDA_2));
	t_eq_str(cs_hint_cuda(2, "cuMemHostRegister"), NULL);
	t_eq_str(cs_hint_cuda(802, "whatever"), cs_hint_brief(CS_HINT_CUDA_802));
}

static void numbers_of_one_library_are_not_the_others(void)
{
	t_eq_str(cs_hint_nvml(802), NULL);
	t_eq_str(cs_hint_cuda(18, "cuInit"), NULL);
	t_eq_str(cs_hint_nvml(18), cs_hint_brief(CS_HINT_NVML_18));
	/* success, and rows that have no number */
	t_eq_str(cs_hint_cuda(0, "cuInit"), NULL);
	t_eq_str(cs_hint_nvml(0), NULL);
}

/* A reason has 160 bytes: room for a call and a long name before it. */
static void briefs_fit_behind_an_error(void)
{
	for (int id = 0; id < CS_HINTS; id++) {
		const char *brief = cs_hint_brief(id);

		if (!brief)
			continue;
		t_ok(brief[strlen(brief) - 1] != '.');
		if (cs_hint(id)->of != CS_HINT_OF_MACHINE)
			t_ok(strlen(brief) <= 100);
	}
}

static void briefs_that_are_quoted_exist(void)
{
	t_ok(cs_hint_brief(CS_HINT_IPC_NAMESPACE) != NULL);
	t_ok(cs_hint_brief(CS_HINT_IPC_MIG) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_ONE_GPU) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_ONE_CORE) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_PMIX) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_MPI) != NULL);
	t_ok(cs_hint_brief(CS_HINT_NVML_ABSENT) != NULL);
	for (int id = 0; id < CS_HINTS; id++)
		if (cs_hint(id)->of != CS_HINT_OF_MACHINE)
			t_ok(cs_hint_brief(id) != NULL);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "every row has a key, a meaning and a remedy",
		  every_row_is_complete },
		{ "every row is found by its key and its name, and no other",
		  keys_are_found_and_unique },
		{ "a key holds the number of its library", keys_hold_their_numbers },
		{ "case does not matter", case_does_not_matter },
		{ "a number alone stands for its code", numbers_stand_for_codes },
		{ "nothing else is found", nothing_else_is_found },
		{ "some codes have a hint for some calls only",
		  some_codes_depend_on_the_call },
		{ "numbers of one library are not those of the other",
		  numbers_of_one_library_are_not_the_others },
		{ "a brief fits behind an error", briefs_fit_behind_an_error },
		{ "what error lines quote is there", briefs_that_are_quoted_exist },
		{ NULL, NULL },
	};

	return tap_main("hints", NULL, NULL, tests);
}
