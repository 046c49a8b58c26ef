#include "fuzz.h"
#include "plan/file.h"

/* Whatever is read as a plan is one, and is read back from what it is written as. */
static void plan_goes_round(const char *text, struct cs_plan_request *req)
{
	struct cs_plan *plan = NULL, *again = NULL;
	struct cs_err err = { "" };
	char *written;

	if (cs_plan_file_read(text, "f", req, &plan, &err)) {
		MUST(!plan && *err.text);
		return;
	}
	MUST(!cs_plan_validate(plan, plan->total_bytes, &err));
	written = cs_plan_file_text(plan);
	MUST(written);
	MUST(!cs_plan_file_read(written, "f", req, &again, &err));
	MUST(again->id == plan->id && again->total_bytes == plan->total_bytes);
	/* what is right for some machine is right before it is known */
	MUST(!cs_plan_file_check(text, "f", req, &err));
	free(written);
	free(again);
	free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cs_plan_request req = {
		.n_agents = 4,
		.set = { .copy_bytes = 64 << 20,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .numa_nodes = 3 },
	};
	char *text = fuzz_text(data, size);

	plan_goes_round(text, &req);
	req.set.backend = CS_BACKEND_CPU;
	plan_goes_round(text, &req);
	free(text);
	return 0;
}
