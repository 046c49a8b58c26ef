#include "fuzz.h"
#include "plan/choose.h"

/* What is added is of that backend, in order and each once. */
static void tests_are_chosen(const char *list, enum cs_backend_kind backend, int all)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_err err = { "" };
	size_t n, before;
	const struct cs_test *table = cs_catalogue(&n);

	for (size_t i = 0; all && i < n; i += 3)
		if (cs_test_is_of(&table[i], backend))
			MUST(!cs_choices_add(&chosen,
					     &(struct cs_choice){ .test = (uint16_t)i },
					     &err));
	before = chosen.n;
	if (cs_tests_choose(list, backend, CS_TRANSPORT_AUTO, &chosen, &err)) {
		MUST(*err.text);
		MUST(chosen.n == before);
		return;
	}
	MUST(chosen.n && chosen.n >= before);
	for (size_t i = 0; i < chosen.n; i++) {
		const struct cs_choice *choice = &chosen.choice[i];

		MUST(choice->test < n && cs_test_is_of(&table[choice->test], backend));
		MUST(!i || choice[-1].test <= choice->test);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	int index = cs_test_index(text);
	size_t n;
	const struct cs_test *table = cs_catalogue(&n);

	MUST(index == -1 || ((size_t)index < n && !strcmp(table[index].name, text)));
	for (int all = 0; all <= 1; all++) {
		tests_are_chosen(text, CS_BACKEND_CUDA, all);
		tests_are_chosen(text, CS_BACKEND_CPU, all);
	}
	free(text);
	return 0;
}
