/* The table of measurements and how tests are chosen from it. */
#include "plan/choose.h"
#include "tap.h"

HOLDS("names are made of their axes") {
	size_t n;
	const struct cs_test *t = cs_catalogue(&n);

	t_ok(n > 0 && n <= CS_TESTS_MOST);
	for (size_t i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.%s.%s.%s", cs_path_text(t[i].path),
			 cs_method_text(t[i].method),
			 t[i].memory != CS_MEM_DEVICE &&
					 t[i].method != CS_METHOD_CHASE &&
					 t[i].op != CS_OP_ONCE &&
					 t[i].op != CS_OP_PINGPONG &&
					 !cs_method_is_stream((int)t[i].method) &&
					 !(t[i].path == CS_PATH_HOST &&
					   t[i].memory == CS_MEM_PAGEABLE) ?
				 cs_memory_text(t[i].memory) :
				 cs_op_text(t[i].op),
			 cs_pattern_text(t[i].pattern));
		t_eq_str(t[i].name, name);
		t_eq_int(cs_test_index(name), (int)i);
		t_eq_int(cs_test_is_of(&t[i], CS_BACKEND_CPU),
			 t[i].method == CS_METHOD_CPU || t[i].any_backend ||
				 t[i].path == CS_PATH_HOST_OWN);
	}
}

/* "GPU to GPU, copy engine, read, one pair at a time" */
static const char *human_name(const struct cs_test *test)
{
	static char text[2][256];
	static int which;
	char *to = text[which ^= 1];

	snprintf(to, sizeof(text[0]), "%s%s%s", test->title, test->alone ? ", " : "",
		 test->alone ? test->alone : "");
	return to;
}

HOLDS("a test has a human name: its own, of at most 70 characters, without its id") {
	CS_EACH_TEST(test) {
		t_ok(test->title[0] && strlen(human_name(test)) <= 70);
		t_ok(!strstr(human_name(test), test->name));
		for (const struct cs_test *o = test; (o = cs_test_next(o));)
			t_ok(strcmp(human_name(test), human_name(o)) != 0);
	}
	t_eq_str(human_name(cs_test_at(cs_test_index("peer.ce.read.pair"))),
		 "GPU to GPU, copy engine, read, one pair at a time");
	t_eq_str(human_name(cs_test_at(cs_test_index("h2d.ce.pinned.bidiall"))),
		 "host to GPU, copy engine, pinned memory, both ways, all GPUs at once");
}

HOLDS("an unknown name has no index") {
	t_eq_int(cs_test_index(""), -1);
	t_eq_int(cs_test_index("peer.ce.write"), -1);
	t_eq_int(cs_test_index("peer.ce.write.pair "), -1);
}

/* The chosen names with a space after each. */
static const char *names_of(const struct cs_choices *chosen)
{
	static char answer[8192];
	size_t n;
	const struct cs_test *t = cs_catalogue(&n);

	answer[0] = '\0';
	for (size_t i = 0; i < chosen->n; i++)
		strcat(strcat(answer, t[chosen->choice[i].test].name), " ");
	return answer;
}

static int has(const struct cs_choices *chosen, const char *name)
{
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->choice[i].test == (size_t)cs_test_index(name))
			return 1;
	return 0;
}

/* Those of a list, or the error text. */
static const char *chosen_via(const char *list, enum cs_backend_kind backend,
			      enum cs_transport via)
{
	static char answer[8192];
	struct cs_choices chosen = { .n = 0 };
	struct cs_err err;

	if (cs_tests_choose(list, backend, via, &chosen, &err))
		return strcpy(answer, err.text);
	return names_of(&chosen);
}

static const char *chosen_by(const char *list, enum cs_backend_kind backend)
{
	return chosen_via(list, backend, CS_TRANSPORT_AUTO);
}

static const struct cs_axes pairs = { CS_MATRIX_PEER, 1u << CS_OP_WRITE,
				      1u << CS_PATTERN_PAIR, 0, 0 };

HOLDS("staging has runs of its own") {
	struct cs_choices chosen = { .n = 0 };

	t_eq_str(chosen_via("*", CS_BACKEND_CUDA, CS_TRANSPORT_STAGED),
		 "peer.staged.write.pair peer.staged.write.bidi ");
	t_eq_str(chosen_via("peer.staged.*,peer.ce.read.pair", CS_BACKEND_CUDA,
			    CS_TRANSPORT_STAGED),
		 "'peer.ce.read.pair' is not measured with '--via staged': only "
		 "tests 'peer.staged.*' are");
	t_eq_str(chosen_via("peer.staged.*", CS_BACKEND_CUDA, CS_TRANSPORT_FD),
		 "'peer.staged.*' is not measured with '--via fd': what is staged "
		 "goes by no such way");
	t_eq_str(chosen_via("peer.staged.*", CS_BACKEND_CUDA, CS_TRANSPORT_AUTO),
		 "peer.staged.write.pair peer.staged.write.bidi ");
	cs_tests_matrix(&pairs, CS_BACKEND_CUDA, CS_TRANSPORT_STAGED, &chosen);
	t_eq_int(has(&chosen, "peer.staged.write.pair"), 1);
	t_eq_int(has(&chosen, "peer.ce.write.pair"), 0);
}

HOLDS("names choose tests") {
	t_eq_str(chosen_by("peer.ce.write.pair", CS_BACKEND_CUDA),
		 "peer.ce.write.pair ");
	t_eq_str(chosen_by("peer.ce.read.bidi,peer.ce.write.pair", CS_BACKEND_CUDA),
		 "peer.ce.write.pair peer.ce.read.bidi ");
	t_eq_str(chosen_by("peer.cpu.read.pair,peer.cpu.read.pair", CS_BACKEND_CPU),
		 "peer.cpu.read.pair ");
}

HOLDS("globs choose tests of the backend") {
	t_eq_str(chosen_by("*", CS_BACKEND_CPU),
		 "peer.cpu.write.pair peer.cpu.write.bidi peer.cpu.read.pair "
		 "peer.cpu.read.bidi peer.cpu.write.shift peer.cpu.write.ring "
		 "peer.cpu.write.bisect peer.cpu.write.rounds peer.cpu.write.random "
		 "peer.cpu.read.shift peer.cpu.read.ring peer.cpu.read.bisect "
		 "peer.cpu.read.rounds peer.cpu.read.random "
		 "peer.cpu.write.all-to-one peer.cpu.read.one-to-all "
		 "host.cpu.copy.pair host.team.read.pair host.team.write.pair "
		 "host.team.copy.pair host.team.triad.pair host.chase.random.pair "
		 "host.chase.warm.pair "
		 "host.fma.fp64.alone host.matmul.naive.alone "
		 "host.matmul.block8.alone host.matmul.block16.alone "
		 "host.matmul.block32.alone host.matmul.block64.alone "
		 "host.matmul.block96.alone host.matmul.block192.alone "
		 "host.call.malloc.alone host.call.malloc.all "
		 "host.call.malloc-touch.alone host.call.malloc-touch.all "
		 "host.call.free.alone host.call.free.all "
		 "nethost.mpi.pinned.pair nethost.mpi.pinned.bidi "
		 "nethost.mpi.pinned.shift nethost.mpi.pinned.bisect "
		 "nethost.mpi.pinned.incast nethost.mpi.pinned.rails "
		 "nethost.mpi.pingpong.pair ");
	t_eq_str(chosen_by("peer.ce.[rw]*[ed].pair", CS_BACKEND_CUDA),
		 "peer.ce.write.pair peer.ce.read.pair ");
	t_eq_str(chosen_by("peer.c?.read.[bp]*i[rd]*", CS_BACKEND_CUDA),
		 "peer.ce.read.pair peer.ce.read.bidi ");
	t_eq_str(chosen_by("peer.pe*.bidi,*.ce.write.*i[rd]*", CS_BACKEND_CUDA),
		 "peer.ce.write.pair peer.ce.write.bidi peer.peercopy.write.bidi ");
}

HOLDS("a mistyped name gets the nearest one") {
	t_eq_str(chosen_by("peer.ce.wirte.pair", CS_BACKEND_CUDA),
		 "no test matches 'peer.ce.wirte.pair' (see --list); "
		 "did you mean 'peer.ce.write.pair'?");
	t_eq_str(chosen_by("peer.ce.write.pair,peer.ce.rea.bidi", CS_BACKEND_CUDA),
		 "no test matches 'peer.ce.rea.bidi' (see --list); "
		 "did you mean 'peer.ce.read.bidi'?");
	t_eq_str(chosen_by("peer.cp.write.pair", CS_BACKEND_CPU),
		 "no test matches 'peer.cp.write.pair' (see --list); "
		 "did you mean 'peer.cpu.write.pair'?");
}

HOLDS("what is far from every name gets none") {
	t_eq_str(chosen_by("latency", CS_BACKEND_CUDA),
		 "no test matches 'latency' (see --list)");
	t_eq_str(chosen_by("", CS_BACKEND_CUDA), "no test matches '' (see --list)");
	t_eq_str(chosen_by("peer.ce.write.pair,", CS_BACKEND_CUDA),
		 "no test matches '' (see --list)");
	t_eq_str(chosen_by("h2p.*", CS_BACKEND_CUDA),
		 "no test matches 'h2p.*' (see --list)");
}

HOLDS("a test of the other backend is said to be one") {
	t_eq_str(chosen_by("peer.ce.write.pair", CS_BACKEND_CPU),
		 "'peer.ce.write.pair' is measured by the cuda backend only: "
		 "ask for it with '--backend cuda'");
	t_eq_str(chosen_by("peer.cpu.*", CS_BACKEND_CUDA),
		 "'peer.cpu.*' is measured by the cpu backend only: "
		 "ask for it with '--backend cpu'");
}

HOLDS("an endless name is refused") {
	char name[5000];
	struct cs_choices chosen = { .n = 0 };
	struct cs_err err;

	memset(name, '*', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	t_eq_int(cs_tests_choose(name, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen,
				 &err),
		 -1);
	memset(name, 'p', sizeof(name) - 1);
	t_eq_int(cs_tests_choose(name, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen,
				 &err),
		 -1);
	t_eq_int(strncmp(err.text, "no test matches 'ppp", 20), 0);
}

HOLDS("a list that is refused adds nothing") {
	struct cs_choices chosen = { .n = 0 };

	t_eq_int(cs_tests_choose("peer.ce.*,nothing", CS_BACKEND_CUDA,
				 CS_TRANSPORT_AUTO, &chosen, NULL),
		 -1);
	t_eq_int(chosen.n, 0);
}

HOLDS("choices add up") {
	struct cs_choices chosen = { .n = 0 };

	cs_tests_choose("peer.ce.read.bidi", CS_BACKEND_CUDA, CS_TRANSPORT_AUTO,
			&chosen, NULL);
	cs_tests_matrix(&pairs, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen);
	t_eq_int(has(&chosen, "peer.ce.read.bidi"), 1);
	t_eq_int(has(&chosen, "peer.ce.write.pair"), 1);
	t_eq_int(has(&chosen, "peer.ce.read.pair"), 0);
}

HOLDS("axes choose tests") {
	struct cs_choices chosen = { .n = 0 };

	cs_tests_matrix(&(struct cs_axes){ CS_MATRIX_PEER,
					   1u << CS_OP_READ | 1u << CS_OP_WRITE,
					   1u << CS_PATTERN_BIDI, 0, 0 },
			CS_BACKEND_CPU, CS_TRANSPORT_AUTO, &chosen);
	t_eq_int(chosen.n, 2);
	t_eq_int(has(&chosen, "peer.cpu.write.bidi"), 1);
	t_eq_int(has(&chosen, "peer.cpu.read.bidi"), 1);
}

/* What cs_tests_matrix() adds, as chosen_by(). */
static const char *matrix(unsigned matrices, unsigned ops,
			  enum cs_backend_kind backend)
{
	struct cs_choices chosen = { .n = 0 };

	cs_tests_matrix(&(struct cs_axes){ matrices, ops, 1u << CS_PATTERN_PAIR, 0, 0 },
			backend, CS_TRANSPORT_AUTO, &chosen);
	return names_of(&chosen);
}

HOLDS("a matrix of costs has what they are compared with") {
	const unsigned write = 1u << CS_OP_WRITE, read = 1u << CS_OP_READ;

	t_eq_str(matrix(CS_MATRIX_COST, write, CS_BACKEND_CUDA),
		 "peer.ce.write.pair peer.ce.once.pair peer.ce.write.shift "
		 "h2d.ce.once.pair d2h.ce.once.pair peer.ce.write4k.pair "
		 "peer.ce.enqueue.alone peer.ce.enqueue.all peer.ce.burst4k.alone "
		 "peer.ce.burst4k.all peer.ce.burst64k.alone peer.ce.burst64k.all "
		 "local.sm.launch.alone local.sm.launch.all local.driver.free.gated "
		 "local.driver.load.gated peer.driver.open.pair ");
	t_eq_str(matrix(CS_MATRIX_COST, read, CS_BACKEND_CPU),
		 "peer.cpu.read.pair peer.cpu.read.shift ");
	t_eq_str(matrix(CS_MATRIX_PEER, write, CS_BACKEND_CUDA),
		 "peer.ce.write.pair ");
	t_eq_int(cs_costs_missing(CS_MATRIX_COST, CS_BACKEND_CPU), 15);
	t_eq_int(cs_costs_missing(CS_MATRIX_COST, CS_BACKEND_CUDA), 0);
	t_eq_int(cs_costs_missing(CS_MATRIX_HOST, CS_BACKEND_CPU), 0);
}

/* Chosen by --matrix of these axes, as chosen_by(). */
static const char *by_axes(struct cs_axes axes)
{
	struct cs_choices chosen = { .n = 0 };

	cs_tests_matrix(&axes, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen);
	return names_of(&chosen);
}

HOLDS("the host has methods and kinds of memory") {
	const unsigned both = CS_MATRIX_H2D | CS_MATRIX_D2H;
	const unsigned pair = 1u << CS_PATTERN_PAIR;

	t_eq_str(by_axes((struct cs_axes){ both, 1, pair, 0, 0 }),
		 "h2d.ce.pinned.pair d2h.ce.pinned.pair ");
	t_eq_str(by_axes((struct cs_axes){ both, 1, pair, 1u << CS_METHOD_SM,
					   1u << CS_MEM_HUGE | 1u << CS_MEM_WC }),
		 "h2d.sm.huge.pair d2h.sm.huge.pair h2d.sm.wc.pair d2h.sm.wc.pair ");
	t_eq_str(by_axes((struct cs_axes){ both, 1, 1u << CS_PATTERN_BIDI | pair,
					   1u << CS_METHOD_ZEROCOPY, 0 }),
		 "h2d.zerocopy.pinned.pair d2h.zerocopy.pinned.pair "
		 "h2d.zerocopy.pinned.bidi ");
	t_eq_str(by_axes((struct cs_axes){ CS_MATRIX_H2D, 1, pair,
					   1u << CS_METHOD_CHASE, 0 }),
		 "h2d.chase.stride.pair h2d.chase.random.pair ");
	t_eq_str(by_axes((struct cs_axes){ CS_MATRIX_LOCAL, 1, pair, 0, 0 }),
		 "local.ce.copy.alone local.sm.copy.alone local.tma.copy.alone "
		 "local.sm.read.alone local.sm.write.alone local.sm.triad.alone ");
	t_eq_str(by_axes((struct cs_axes){ CS_MATRIX_LOCAL, 1, pair,
					   1u << CS_METHOD_L2 | 1u << CS_METHOD_SHARED,
					   0 }),
		 "local.l2.read.alone local.shared.read.alone ");
	t_eq_str(by_axes((struct cs_axes){ CS_MATRIX_HOST, 1, pair, 0, 0 }),
		 "host.cpu.copy.pair host.chase.random.pair ");
}

HOLDS("units say which way is better") {
	size_t n;
	const struct cs_test *t = cs_catalogue(&n);

	t_eq_str(cs_unit_text(CS_UNIT_GBS), "GB/s");
	t_eq_str(cs_unit_text(CS_UNIT_COPIES), "copies/s");
	t_eq_int(cs_unit_low_is_better(CS_UNIT_GBS), 0);
	t_eq_int(cs_unit_low_is_better(CS_UNIT_COPIES), 0);
	t_eq_int(cs_unit_low_is_better(CS_UNIT_US), 1);
	t_eq_int(cs_unit_low_is_better(CS_UNIT_MS), 1);
	t_eq_int(cs_unit_low_is_better(CS_UNIT_NS), 1);
	for (size_t i = 0; i < n; i++) {
		t_ok(t[i].bytes % 16 == 0);
		t_ok(cs_test_matrices(&t[i]) != 0);
		if (t[i].op <= CS_OP_READ)
			t_ok(t[i].unit == CS_UNIT_GBS &&
			     !t[i].bytes == !cs_method_is_on_chip((int)t[i].method));
	}
}

HOLDS("unknown axes have no name") {
	t_eq_str(cs_unit_text(99), "?");
	t_eq_str(cs_path_text(99), "?");
	t_eq_str(cs_method_text(99), "?");
	t_eq_str(cs_op_text(-1), "?");
	t_eq_str(cs_pattern_text(99), "?");
}
