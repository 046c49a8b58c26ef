/* cscope-mpi show FILE, in every format. */
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const commands[][14] = {
		{ "show", "FILE" },
		{ "show", "FILE", "-v", "--redact" },
		{ "show", "FILE", "--topology" },
		{ "show", "FILE", "--gpu", "1" },
		{ "show", "FILE", "--cell", "0,1" },
		{ "show", "FILE", "-f", "csv" },
		{ "show", "FILE", "-f", "result" },
		{ "show", "FILE", "-f", "prom" },
		{ "show", "FILE", "-f", "nagios" },
		{ "show", "FILE", "-f", "junit" },
		{ "show", "FILE", "-f", "reason" },
		{ "show", "FILE", "-f", "json" },
		{ "show", "FILE", "-f", "jsonl" },
		{ "show", "FILE", "-f", "model", "-v" },
		{ "show", "FILE", "-f", "nvbandwidth", "-v" },
		{ "show", "FILE", "-f", "nvbandwidth-json" },
		{ "show", "FILE", "-f", "html" },
		{ NULL },
	};

	fuzz_commands(data, size, commands);
	return 0;
}
