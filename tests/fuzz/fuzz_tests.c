#include "config.h"

#include "fuzz.h"
#include "plan/catalogue.h"

/* Marks are added for tests of that backend alone, or for none. */
static void tests_are_chosen(const char *list, enum cs_backend_kind backend,
			     char marked)
{
	struct cs_err err = { "" };
	size_t n, i, chosen_n = 0;
	const struct cs_test *table = cs_catalogue(&n);
	char *chosen = malloc(n);

	MUST(chosen);
	memset(chosen, marked, n);
	if (cs_tests_choose(list, backend, CS_WAY_AUTO, chosen, &err)) {
		MUST(*err.text);
		for (i = 0; i < n; i++)
			MUST(chosen[i] == marked);
	} else {
		for (i = 0; i < n; i++) {
			MUST(chosen[i] == marked ||
			     (chosen[i] == 1 &&
			      cs_test_is_of(&table[i], backend)));
			chosen_n += chosen[i] == 1;
		}
		MUST(chosen_n);
	}
	free(chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	int index = cs_test_index(text);
	size_t n;
	const struct cs_test *table = cs_catalogue(&n);

	MUST(index == -1 ||
	     ((size_t)index < n && !strcmp(table[index].name, text)));
	for (char marked = 0; marked <= 1; marked++) {
		tests_are_chosen(text, CS_BACKEND_CUDA, marked);
		tests_are_chosen(text, CS_BACKEND_CPU, marked);
	}
	free(text);
	return 0;
}
