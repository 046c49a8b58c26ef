/* Plans as text: what is written is read back as the same plan, and what cannot be is
 * refused by line and column. */
#include "base/table.h"
#include "plan/file.h"
#include "planned.h"

#define HEAD "step,test,src,dst,size,role\n"

static struct cs_plan_request request(int n_agents, enum cs_backend_kind backend)
{
	return (struct cs_plan_request){
		.n_agents = n_agents,
		.set = { .copy_bytes = 512u << 20,
			 .seed = 7,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .random = 2,
			 .backend = (uint32_t)backend,
			 .numa_nodes = 3 },
	};
}

static struct cs_plan *read_as(const char *text, const struct cs_plan_request *req)
{
	struct cs_plan *plan = NULL;
	struct cs_err err = { "" };

	cs_plan_file_read(text, "plan.csv", req, &plan, &err);
	t_eq_str(err.text, "");
	t_must(plan);
	return t_free_later(plan);
}

static struct cs_plan *read_4(const char *text)
{
	struct cs_plan_request req = request(4, CS_BACKEND_CUDA);

	return read_as(text, &req);
}

#define LOADS_1 "a,peer.ce.write.pair,gpu0,gpu2,,load\n"
#define LOADS_3 LOADS_1 LOADS_1 LOADS_1

static void goes_round(struct cs_plan_request req, const char *tests)
{
	struct cs_plan *plan = planned(req, tests), *again;
	char *text = plan ? cs_plan_file_text(plan) : NULL;

	if (!t_ok(text))
		return;
	again = read_as(text, &req);
	t_ok(again->id == plan->id && !memcmp(plan, again, plan->total_bytes));
	free(text);
}

HOLDS("every test of the catalogue is written and read back as the same plan") {
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (cs_method_fits((int)test[i].method, CS_TRANSPORT_AUTO) &&
		    !cs_test_is_between(&test[i])) /* has no steps */
			goes_round(request(5, test[i].backend), test[i].name);
}

HOLDS("all tests of a backend together too, with NUMA nodes and a sweep") {
	struct cs_plan_request req = request(4, CS_BACKEND_CUDA);

	goes_round(req, "peer.*,h2d.*,d2h.*,local.*,host.*");
	goes_round(request(4, CS_BACKEND_CPU), "peer.*,host.*");
	req.set.numa = 3;
	req.set.copy_bytes = 1 << 20;
	req.set.last_bytes = 1 << 30;
	req.set.growth = 4;
	goes_round(req, "h2d.ce.*,d2h.ce.*,host.*,peer.ce.*.all-to-one");
	goes_round(request(8, CS_BACKEND_CUDA), "peer.ce.*");
}

HOLDS("lines of a step run together, columns stand in any order") {
	struct cs_plan *plan = read_4("# a comment, with a comma\r\n"
				      "\n"
				      "dst,src,test,step\r\n"
				      "gpu1,gpu0,peer.ce.write.pair,a\r\n"
				      " gpu2 ,gpu1, peer.ce.write.pair,a,,\r\n"
				      ",,,\n"
				      "gpu3,gpu2,peer.ce.read.pair,b");
	const struct cs_transfer *t;

	t_eq_int(plan->n_steps, 2);
	t_eq_int(cs_plan_step(plan, 0)->count, 2);
	t_eq_str(cs_plan_step(plan, 1)->name, "b");
	t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 1);
	t_eq_int(t->src.index, 1);
	t_eq_int(t->dst.index, 2);
	t_eq_int(t->issuer, 1);
	t_eq_int(t->bytes, 512u << 20);
	t_eq_int(cs_plan_transfer(plan, cs_plan_step(plan, 1), 0)->issuer, 3);
}

HOLDS("op takes the test of the other side") {
	struct cs_plan *plan = read_4("step,test,src,dst,op\n"
				      "a,peer.ce.write.pair,gpu0,gpu1,read\n");

	t_eq_str(cs_plan_test(plan, cs_plan_step(plan, 0))->name, "peer.ce.read.pair");
	t_eq_int(cs_plan_transfer(plan, cs_plan_step(plan, 0), 0)->issuer, 1);
}

HOLDS("what is measured comes first, loads have matrices of their own") {
	struct cs_plan *plan = read_4(HEAD
				      "a,h2d.ce.pinned.pair,host,gpu1,,load\n"
				      "a,d2h.ce.pinned.pair,gpu0,host,,load\n"
				      "a,peer.chase.stride.pair,gpu0,gpu1,,measure\n");
	const struct cs_transfer *t;
	uint32_t steps = 0;

	t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
	t_eq_int(t[0].method, CS_METHOD_CHASE);
	t_eq_int(t[0].issuer, 1);
	t_ok(cs_transfer_is_load(&t[1]) && cs_transfer_is_load(&t[2]));
	t_eq_int(t[1].issuer, 1);
	t_eq_int(t[1].bytes, CS_LOAD_BYTES);
	t_eq_int(plan->n_matrices, 3);
	for (uint32_t v = 0; v < plan->n_matrices; v++)
		steps += cs_plan_matrix_at(plan, v)->steps;
	t_eq_int(steps, 1);
}

HOLDS("buffers of several sizes do not meet") {
	struct cs_plan *plan = read_4(HEAD "a,peer.ce.write.pair,gpu1,gpu0,512M,\n"
					   "a,peer.ce.write.pair,gpu2,gpu0,4K,\n"
					   "a,peer.ce.write.pair,gpu3,gpu0,64M,load\n"
					   "a,h2d.ce.pinned.pair,host,gpu0,64M,\n");
	const struct cs_transfer *t;
	struct cs_arena_layout arena;

	t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < i; k++)
			t_ok(cs_transfer_dst_at(plan, &t[i]) >=
				     cs_transfer_dst_at(plan, &t[k]) + t[k].bytes ||
			     cs_transfer_dst_at(plan, &t[k]) >=
				     cs_transfer_dst_at(plan, &t[i]) + t[i].bytes);
	cs_plan_arena(plan, 0, (int)plan->n_agents, UINT64_MAX, &arena);
	t_ok(arena.dst_bytes <= (uint64_t)1 << 30);
}

HOLDS("host buffers of a step are told apart") {
	struct cs_plan *plan = read_4(HEAD "a,h2d.ce.pinned.pair,host,gpu0,64M,\n"
					   "a,h2d.sm.pinned.pair,host,gpu0,64M,\n"
					   "a,h2d.ce.pinned.pair,numa1,gpu0,64M,\n"
					   "a,d2h.ce.pinned.pair,gpu1,host,64M,\n"
					   "a,h2d.ce.pinned.pair,host,gpu1,64M,\n");
	const struct cs_transfer *t;

	t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
	t_eq_int(t[0].src_slot, 0);
	t_eq_int(t[1].src_slot, 1);
	t_eq_int(t[2].src_slot, 2);
	t_eq_int(t[3].dst_slot, 0);
	t_eq_int(t[4].src_slot, 3);
}

HOLDS("a control is no measurement") {
	struct cs_plan *plan = read_4(HEAD
				      "a,peer.ce.write.pair,gpu0,gpu1,,\n"
				      "b,peer.ce.write.pair,gpu0,gpu1,,control\n");

	t_eq_int(cs_plan_step(plan, 0)->flags, 0);
	t_eq_int(cs_plan_step(plan, 1)->flags, CS_STEP_CONTROL);
	t_eq_int(cs_plan_matrix_at(plan, 0)->steps, 1);
}

HOLDS("a number in its place is no name") {
	struct cs_plan *plan = read_4(HEAD "0,peer.ce.write.pair,gpu0,gpu1,,\n"
					   "2,peer.ce.write.pair,gpu1,gpu0,,\n");
	char name[CS_STEP_NAME];

	t_eq_str(cs_plan_step(plan, 0)->name, "");
	t_eq_str(cs_plan_step(plan, 1)->name, "2");
	cs_step_name(plan, cs_plan_step(plan, 0), name, sizeof(name));
	t_eq_str(name, "0");
}

static void is_refused(const char *text, const struct cs_plan_request *req,
		       const char *why)
{
	struct cs_plan *plan = NULL;
	struct cs_err err = { "" };

	t_eq_int(cs_plan_file_read(text, "plan.csv", req, &plan, &err), -1);
	t_has(err.text, why);
	t_ok(!plan);
}

HOLDS("what cannot be is refused with line and column") {
	static const struct {
		const char *lines, *why;
	} bad[] = {
		{ "a,peer.ce.write.pair,gpu0,gpu9,,\n",
		  "plan.csv:2: column dst: 'gpu9' is not there: this plan has 4 GPUs" },
		{ "a,peer.ce.wrote.pair,gpu0,gpu1,,\n",
		  "plan.csv:2: column test: no test matches 'peer.ce.wrote.pair' (see --list); "
		  "did you mean 'peer.ce.write.pair'?" },
		{ "a,peer.ce.*,gpu0,gpu1,,\n",
		  "column test: 'peer.ce.*': one test a line" },
		{ "a,peer.cpu.write.pair,gpu0,gpu1,,\n",
		  "measured by the cpu backend only" },
		{ "a,peer.staged.write.pair,gpu0,gpu1,,\na,peer.ce.write.pair,gpu1,gpu2,,\n",
		  "plan.csv:3: column test: 'peer.ce.write.pair' beside line 2 of its step: "
		  "the one has peer access, the other must not" },
		{ "a,peer.ce.write.pair,cpu0,gpu1,,\n",
		  "column src: 'cpu0': allowed are gpu0 to gpu3, numa0 and so on, host" },
		{ "a,peer.ce.write.pair,gpu,gpu1,,\n", "column src: 'gpu': allowed" },
		{ "a,peer.ce.write.pair,gpu99999999999999999999,gpu1,,\n",
		  "is not there" },
		{ "a,h2d.ce.pinned.pair,numa64,gpu1,,\n", "NUMA nodes are below 64" },
		{ "a,peer.ce.write.pair,host,gpu1,,\n",
		  "no end of 'peer.ce.write.pair' is" },
		{ "a,peer.ce.write.pair,gpu1,gpu1,,\n", "are not the same" },
		{ "a,local.ce.copy.alone,gpu0,gpu1,,\n", "are the same" },
		{ "a,h2d.ce.pinned.pair,gpu0,gpu1,,\n", "one end is a GPU and one is" },
		{ "a,h2d.ce.pinned.pair,gpu0,host,,\n",
		  "column src: 'h2d.ce.pinned.pair': its "
		  "source must be host memory" },
		{ "a,host.cpu.copy.pair,host,numa0,,\n",
		  "column src: of 'host.cpu.copy.pair'" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,17,\n",
		  "column size: '17': a size is a "
		  "multiple of 16 bytes" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,1x,\n",
		  "column size: '1x' is not a size" },
		{ "a,peer.ce.write4k.pair,gpu0,gpu1,8K,\n",
		  "have 4096 bytes, its own" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,lod\n",
		  "column role: 'lod': did you mean 'load'? allowed are" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,load\n",
		  "column role: all of step 'a' is "
		  "load" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,\na,peer.chase.stride.pair,gpu0,gpu1,,load\n",
		  "plan.csv:3: column role: 'peer.chase.stride.pair' cannot be a load" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,\na,peer.chase.stride.pair,gpu0,gpu1,,\n",
		  "plan.csv:3: column test: 'peer.chase.stride.pair' is in ns, line 2 of its "
		  "step in GB/s" },
		{ "a,peer.chase.stride.pair,gpu0,gpu1,,\na,peer.chase.random.pair,gpu0,gpu2,,\n",
		  "column src: line 2 of its step chases in the same memory" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,\na,peer.ce.write.pair,gpu0,gpu1,,\n",
		  "column dst: line 2 of its step measures the same" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,\na,peer.ce.write.pair,gpu1,gpu0,,control\n",
		  "column role: a step is measured, or a control, not both" },
		{ "a,host.cpu.copy.pair,numa0,numa1,,\na,peer.ce.write.pair,gpu0,gpu1,,\n",
		  "'host.cpu.copy.pair' must be alone in its step" },
		{ "a,peer.ce.enqueue.alone,gpu0,gpu1,,\na,peer.ce.write.pair,gpu0,gpu1,,\n",
		  "'peer.ce.enqueue.alone' is not measured beside another test" },
		{ "a,peer.ce.enqueue.all,gpu0,gpu1,,\n", "by all agents" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,\nb,peer.ce.write.pair,gpu1,gpu0,,\n"
		  "a,peer.ce.write.pair,gpu0,gpu2,,\n",
		  "plan.csv:4: column step: 'a' is also the step of line 2" },
		{ "a,peer.ce.write.pair,gpu0,gpu1\n" LOADS_3 LOADS_3 LOADS_3 LOADS_3
			  LOADS_3,
		  "plan.csv:17: column step: gpu0 issues more than 15 transfers of step "
		  "'a'" },
		{ "a,peer.ce.write.pair,gpu0,gpu1,,,x\n",
		  "'x' is in none of the 6 columns" },
		{ "a,peer.ce.write.pair,gpu0\n", "column dst: it is empty" },
		{ "a b,peer.ce.write.pair,gpu0,gpu1,,\n",
		  "column step: 'a b': a step's name" },
		{ "a23456789012345678901234567890123,peer.ce.write.pair,gpu0,gpu1,,\n",
		  "at most 31 characters" },
		{ "", "plan.csv: no line has a transfer" },
	};
	const struct cs_plan_request req = request(4, CS_BACKEND_CUDA);
	char text[1024];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cs_text(text, sizeof(text), "%s%s", HEAD, bad[i].lines);
		is_refused(text, &req, bad[i].why);
	}
}

#define ROUNDS "step,test,src,dst,round,size\na,peer.ce.write.pair,gpu0,gpu1,1,\n"

HOLDS("steps of a round have no GPU in common") {
	const struct cs_plan_request req = request(4, CS_BACKEND_CUDA);
	struct cs_plan *plan = read_as(ROUNDS "b,peer.ce.write.pair,gpu2,gpu3,1,\n"
					      "c,peer.ce.write.pair,gpu2,gpu3,,1M\n",
				       &req);

	t_ok(cs_plan_round(plan, 0) == 2 && cs_plan_round(plan, 2) == 1);
	is_refused(ROUNDS "b,peer.ce.write.pair,gpu2,gpu1,1,\n", &req,
		   "plan.csv:3: column round: step 'b' cannot run beside the others of "
		   "round 1");
	is_refused(ROUNDS "b,peer.ce.write.pair,gpu2,gpu3,1,1M\n", &req,
		   "plan.csv:3: column round: step 'b' cannot run");
	is_refused(ROUNDS "b,h2d.ce.pinned.pair,host,gpu3,1,\n", &req,
		   "plan.csv:3: column round: step 'b' cannot run");
	is_refused(ROUNDS "a,peer.ce.write.pair,gpu1,gpu0,2,\n", &req,
		   "plan.csv:3: column round: step 'a' is of round 1 by its first line");
	is_refused(ROUNDS "b,peer.ce.write.pair,gpu2,gpu3,one,\n", &req,
		   "plan.csv:3: column round: 'one': steps that may run");
}

HOLDS("columns are checked") {
	const struct cs_plan_request req = request(4, CS_BACKEND_CUDA);

	is_refused("step,tst,src,dst\n", &req,
		   "plan.csv:1: there is no column 'tst': allowed are step, test");
	is_refused("step,tst,src,dst\n", &req, "; did you mean 'test'?");
	is_refused("# c\nstep,test,src\n", &req, "plan.csv:2: column dst is missing");
	is_refused("step,test,src,dst,src\n", &req, "column src is named twice");
	is_refused("", &req, "plan.csv: no line names the columns");
	is_refused("step,test,src,dst,op\na,peer.ce.write.pair,gpu0,gpu1,both\n",
		   &req, "plan.csv:2: column op: 'both': allowed are write, read");
	is_refused("step,test,src,dst,op\na,peer.ce.write.pair,gpu0,gpu1,raed\n",
		   &req, "column op: 'raed': did you mean 'read'? allowed are");
	is_refused("step,test,src,dst,op\na,h2d.ce.pinned.pair,host,gpu1,write\n",
		   &req, "column op: between host and GPU the GPU issues");
}

HOLDS("a step has at most 128 transfers") {
	const struct cs_plan_request req = request(64, CS_BACKEND_CUDA);
	FILE *to = t_stream();

	fputs("step,test,src,dst\n", to);
	for (int i = 0; i <= CS_STEP_MAX; i++)
		fprintf(to, "a,peer.ce.write.pair,gpu%d,gpu%d\n", i % 64,
			(i + 1 + i / 64) % 64);
	is_refused(t_text(), &req,
		   "plan.csv:130: column step: more than 128 transfers in step 'a'");
}

HOLDS("agents may not be known yet") {
	const struct cs_plan_request req = request(0, CS_BACKEND_CUDA);
	struct cs_err err = { "" };

	t_eq_int(cs_plan_file_check(HEAD "a,peer.ce.write.pair,gpu0,gpu63,,\n",
				    "plan.csv", &req, &err),
		 0);
	t_eq_int(cs_plan_file_check(HEAD "a,peer.ce.write.pair,gpu0,gpu64,,\n",
				    "plan.csv", &req, &err),
		 -1);
	t_eq_str(err.text, "plan.csv:2: column dst: 'gpu64' is not there: no plan has "
			   "more than 64 GPUs");
}

HOLDS("a file is text") {
	static char nul[] = "step\0";
	FILE *from = fmemopen(nul, sizeof(nul), "r");
	char *text = NULL;
	struct cs_err err = { "" };

	t_must(from);
	t_eq_int(cs_table_load(from, &text, &err), -1);
	t_eq_str(err.text, "it is not text: a byte of it is 0");
	fclose(from);
}
