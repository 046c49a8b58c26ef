#include "catalogue/catalogue.h"

#include "catalogue/explain.def"

const char *cs_test_meanwhile(const struct cs_test *test)
{
	if (cs_test_is_of_allocation(test))
		return allocation_meanwhile;
	if (cs_test_is_between(test))
		return between_meanwhile;
	if (cs_test_goes_in_rounds_within(test))
		return "No other GPU works, unless --set schedule lets all GPUs do so "
		       "at the same time: auto does where that saves four cells "
		       "of a test or more, if one GPU alone shows that the others "
		       "change its figure by at most 0.5 %. The heading of the "
		       "matrix and each result tell which it was.";
	if (test->method == CS_METHOD_CHASE || test->path == CS_PATH_HOST ||
	    test->op == CS_OP_TRIAD || cs_method_is_on_chip((int)test->method) ||
	    (test->op >= CS_OP_WRITE4K && test->op != CS_OP_HALO) ||
	    cs_method_is_stream((int)test->method) || test->how == CS_HOW_OVERLAP)
		return NULL;
	if (cs_test_goes_in_rounds(test))
		return "No other pair copies, unless --set schedule lets pairs "
		       "without a common GPU run at the same time: auto does so "
		       "from 16 pairs of a test on, if three rounds have shown "
		       "that no figure changes by more than 0.5 %. The heading "
		       "of the matrix and each result tell which it was.";
	switch (test->pattern) {
	case CS_PATTERN_PAIR:
	case CS_PATTERN_BIDI:
	case CS_PATTERN_RANDOM:
	case CS_PATTERN_ALONE:
		return ALONE_MEANWHILE;
	default:
		return NULL;
	}
}

static const char *timed_together(const struct cs_test *test)
{
	switch (test->pattern) {
	case CS_PATTERN_BIDI:
	case CS_PATTERN_BIDIEVERY:
		return test->memory == CS_MEM_PAGEABLE ? both_go_on : both_ways;
	case CS_PATTERN_SHIFT:
	case CS_PATTERN_RING:
	case CS_PATTERN_BISECT:
	case CS_PATTERN_ALL_TO_ONE:
	case CS_PATTERN_ONE_TO_ALL:
	case CS_PATTERN_ROUNDS:
	case CS_PATTERN_EVERY:
	case CS_PATTERN_SHARED:
		return all_at_once;
	default:
		return NULL;
	}
}

static void explain_shaped(const struct cs_test *test, struct cs_explanation *out)
{
	const int blocks = test->method == CS_METHOD_CHUNK ||
			   test->method == CS_METHOD_STRIDE;

	out->moves =
		!blocks ? TO_HIGH_SIDE OF_BYTES :
		test->method == CS_METHOD_CHUNK ?
			  OF_EACH
			", to the same places of another: 64/128 is 64 out of "
			"128. " OF_BYTES :
			  "One element out of every so many bytes (--set shape) of a "
			  "buffer of --size, to the same places of another: 4/64 "
			  "is 4 out of 64. " OF_BYTES;
	out->issuer =
		shaped_issuer[test->method - CS_METHOD_COPY2D]
			     [test->op == CS_OP_READ && test->path == CS_PATH_PEER];
	out->timed = test->method == CS_METHOD_PACK ?
			     "By CUDA events of the GPU that unpacks, from the gate "
			     "to the end of the last: all three steps, and the "
			     "synchronisation. The time of each step (pack_us, "
			     "transfer_us, unpack_us) is by events of the GPU that "
			     "does it, around the steps of a sample's last copy." :
			     timed[test->backend];
	out->timed_both = timed_together(test);
	out->checked = ITS_SHAPE_CHECKED;
}

static const struct cs_explanation *stream_of(const struct cs_test *test)
{
	int writes = test->method == CS_METHOD_STREAMW;

	if (test->memory == CS_MEM_MANAGED)
		return &by_pages[test->op - CS_OP_NAIVE];
	return test->op == CS_OP_COPY ? writes ? &produced_copies : &consumed_copies :
	       writes		      ? &produced_in_place :
					&consumed_in_place;
}

static void explain_between(const struct cs_test *test, struct cs_explanation *out)
{
	const int both = test->pattern == CS_PATTERN_BIDI ||
			 test->pattern == CS_PATTERN_SHIFT;

	if (test->path == CS_PATH_NET)
		*out = test->op == CS_OP_STAGED ? both ? staged_both : staged_one :
		       both			? device_both :
						  device_one;
	else
		*out = test->op == CS_OP_PINGPONG ? between_pingpong :
		       both			  ? between_both :
						    between_one;
	if (test->pattern == CS_PATTERN_INCAST) {
		out->timed = incast_timed;
		out->timed_both = incast_figure;
	}
	if (test->pattern == CS_PATTERN_BISECT)
		out->timed_both = bisect_figure;
	if (between_moves[test->pattern])
		out->moves = between_moves[test->pattern];
}

void cs_test_explain(const struct cs_test *test, struct cs_explanation *out)
{
	int host = cs_test_has_host(test);

	if (cs_test_is_between(test)) {
		explain_between(test, out);
		return;
	}
	if (test->how == CS_HOW_BATCHES) {
		*out = test->path == CS_PATH_LOCAL ? call_of_driver : call_of_host;
		return;
	}
	if (cs_method_is_stream((int)test->method)) {
		*out = *stream_of(test);
		return;
	}
	if (cs_method_is_shaped((int)test->method)) {
		explain_shaped(test, out);
		return;
	}
	if (test->method == CS_METHOD_OVERLAP) {
		*out = overlap_of_copies;
		if (test->op != CS_OP_COPY) {
			out->moves = test->op == CS_OP_PREFETCH ? overlap_of_pages :
								  overlap_of_malloc;
			out->checked = overlap_proven;
		}
		return;
	}
	if (test->method == CS_METHOD_MATMUL) {
		*out = test->path == CS_PATH_HOST ? product_by_cpu : product;
		return;
	}
	if (test->method == CS_METHOD_L2 || test->method == CS_METHOD_SHARED) {
		*out = on_chip[test->method - CS_METHOD_L2];
		return;
	}
	if (test->path == CS_PATH_HOST &&
	    (test->method == CS_METHOD_TEAM || test->method == CS_METHOD_FMA)) {
		*out = test->method == CS_METHOD_FMA ? numa_nodes_compute :
		       test->op == CS_OP_READ	     ? numa_nodes_read :
		       test->op == CS_OP_WRITE	     ? numa_nodes_write :
		       test->op == CS_OP_TRIAD	     ? numa_nodes_triad :
						       numa_nodes_copy;
		return;
	}
	if (test->op == CS_OP_TRIAD) {
		*out = triad;
		return;
	}
	if (test->method == CS_METHOD_CHASE || test->path == CS_PATH_HOST ||
	    test->op >= CS_OP_WRITE4K) {
		*out = test->method == CS_METHOD_CHASE ?
			       (test->op == CS_OP_WARM	   ? numa_nodes_chase_warm :
				test->path == CS_PATH_HOST ? numa_nodes_chase :
							     chases[test->op]) :
		       test->method == CS_METHOD_DRIVER && test->path == CS_PATH_HOST ?
			       numa_nodes_by_driver :
		       test->path == CS_PATH_HOST ? numa_nodes :
						    by_op[test->op];
		return;
	}
	if (cs_method_is_managed((int)test->method)) {
		*out = test->method == CS_METHOD_PREFETCH ? prefetch : demand;
		if (test->memory == CS_MEM_SYSTEM)
			out->moves = test->method == CS_METHOD_PREFETCH ?
					     OF_RANGE(OF_MALLOC) ", once in a sample." :
					     OF_RANGE(OF_MALLOC) TOUCHED_ONCE;
		out->timed_both = timed_together(test);
		return;
	}
	out->moves = moves[test->pattern];
	out->issuer = host ? host_issuer[test->method] :
			     issuer[test->method][test->op == CS_OP_READ];
	out->timed = timed[test->backend];
	if (test->memory == CS_MEM_PAGEABLE) {
		out->issuer = pageable_issuer;
		out->timed = pageable_timed;
	}
	out->timed_both = timed_together(test);
	out->checked = host ? checked_host[test->method] : checked[test->method];
}
