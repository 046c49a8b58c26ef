/* cscope-mpi check, baseline and compare of a file. */
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const commands[][14] = {
		{ "check", "FILE" },
		{ "check", "FILE", "-v", "--min-share", "85%" },
		{ "check", "FILE", "FILE", "-f", "json", "--nodes", "n[1-2]" },
		{ "check", "FILE", "-f", "nagios", "--redact" },
		{ "check", "FILE", "-f", "junit" },
		{ "check", "FILE", "FILE", "-f", "html" },
		{ "baseline", "FILE", "-f", "json" },
		{ "compare", "FILE", "FILE", "-v" },
		{ "compare", "FILE", "FILE", "-f", "csv" },
		{ "compare", "FILE", "FILE", "-f", "html" },
		{ "compare", "FILE" },
		{ NULL },
	};

	fuzz_commands(data, size, commands);
	return 0;
}
