/* list_benchmarks.c - the benchmarks of Comm|Scope that would be measured here, by their names:
 * --benchmark_list_tests.  Without MPI, and no driver is started. */
#include <stdlib.h>

#include "command/command.h"

/* GPUs that were named, else those of the bus: a bit each. */
static uint64_t gpus_of(const struct cs_options *opt, const struct cs_topo *topo)
{
	const struct cs_gpu_list *list = &opt->gpus;
	struct cs_pci_gpus pci;
	uint64_t bits = 0;

	for (int k = 0; k < list->n; k++)
		for (int i = list->item[k].first; i <= list->item[k].last; i++)
			bits |= 1ull << i;
	cs_topo_pci_gpus(topo, &pci);
	for (int i = 0; !list->n && i < pci.n; i++)
		bits |= 1ull << i;
	if (!bits)
		cs_complain("no GPU found: these are the names for one GPU");
	return bits ? bits : 1;
}

static int make_plan(const struct cs_options *opt, struct cs_plan **out,
		     struct cs_err *err)
{
	static struct cs_choices chosen;
	struct cs_plan_request req = { .set = opt->set, .chosen = &chosen };
	struct cs_topo *topo;
	uint64_t gpus;

	cs_settings_default(&req.set, CS_BACKEND_CUDA);
	if (cs_topo_open(NULL, &topo, err))
		return -1;
	cs_settings_numa(&req.set, topo);
	gpus = gpus_of(opt, topo);
	cs_topo_close(topo);
	req.n_agents = __builtin_popcountll(gpus);
	req.set.gpus = gpus & (gpus + 1) ? gpus : 0;
	chosen.n = 0;
	return cs_rc(cs_options_choose(opt, CS_BACKEND_CUDA, &chosen, err) ||
		     cs_plan_build(&req, out, err));
}

int cs_command_names(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	struct cs_plan *plan = NULL;
	int status = CS_EXIT_OK;

	if (make_plan(opt, &plan, err))
		return CS_EXIT_USAGE;
	if (cs_commscope_list(to, plan, err))
		status = CS_EXIT_CANNOT;
	else if (fflush(to)) {
		cs_err_set(err, "cannot write to standard output");
		status = CS_EXIT_CANNOT;
	}
	free(plan);
	return status;
}
