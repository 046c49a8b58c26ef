/* Names of single cells, and the filter that takes cells by them. */
#include "tap.h"

#include "plan/choose.h"
#include "plan/instance.h"

static struct cs_instance cell(const char *test, int src, int dst, uint64_t bytes)
{
	return (struct cs_instance){ .test = (uint32_t)cs_test_index(test),
				     .src = src,
				     .dst = dst,
				     .bytes = bytes };
}

/* By the alias of that name; "" it does not mean the cell. */
static const char *scope_name(const struct cs_instance *cell, const char *family)
{
	static char name[CS_INSTANCE];
	size_t n;
	const struct cs_alias *a = cs_aliases(&n);

	for (size_t i = 0; i < n; i++)
		if (cs_alias_is_of_commscope(&a[i]) && !strcmp(a[i].name, family))
			return cs_instance_alias(cell, &a[i], family, name) ? "" :
									      name;
	return "?";
}

HOLDS("cells have names of ours") {
	struct cs_instance c = cell("h2d.ce.pinned.pair", 1, 3, 256 << 20);
	char name[CS_INSTANCE];

	cs_instance_name(&c, name);
	t_eq_str(name, "h2d.ce.pinned.pair/numa1/gpu3/256M");
	c.variant.cache = CS_CACHE_COLD;
	c.variant.threads = 4;
	c.variant.cpu_numa = 2;
	c.src = CS_NEAREST;
	cs_instance_name(&c, name);
	t_eq_str(name, "h2d.ce.pinned.pair/host/gpu3/256M/cold/threads:4/cpu:numa1");
	c = cell("peer.cpu.write.pair", 0, 1, 4096);
	cs_instance_name(&c, name);
	t_eq_str(name, "peer.cpu.write.pair/arena0/arena1/4K");
}

HOLDS("cells have names of Comm|Scope") {
	struct cs_instance c = cell("h2d.ce.registered.pair", 0, 1, 1 << 28);

	t_eq_str(scope_name(&c, "cudaMemcpyAsync_PinnedToGPU"),
		 "Comm_cudaMemcpyAsync_PinnedToGPU/0/1/log2(N):28/manual_time");
	t_eq_str(scope_name(&c, "cudaMemcpyAsync_PinnedToGPU_flush"), "");
	c.variant.cache = CS_CACHE_COLD;
	t_eq_str(scope_name(&c, "cudaMemcpyAsync_PinnedToGPU"), "");
	t_eq_str(scope_name(&c, "cudaMemcpyAsync_PinnedToGPU_flush"),
		 "Comm_cudaMemcpyAsync_PinnedToGPU_flush/0/1/log2(N):28/manual_time");
	/* the host comes first */
	c = cell("d2h.ce.registered.pair", 3, 0, 1 << 20);
	t_eq_str(scope_name(&c, "cudaMemcpyAsync_GPUToPinned"),
		 "Comm_cudaMemcpyAsync_GPUToPinned/0/3/log2(N):20/manual_time");
	c = cell("peer.ce.read.pair", 2, 1, 1 << 20);
	t_eq_str(scope_name(&c, "cudaMemcpyAsync_GPUToGPUPeer"),
		 "Comm_cudaMemcpyAsync_GPUToGPUPeer/2/1/log2(N):20/manual_time");
}

/* The only choice of a list, or the error. */
static struct cs_choice chosen_by(const char *name, struct cs_err *err)
{
	struct cs_choices chosen = { .n = 0 };

	err->text[0] = '\0';
	cs_tests_choose(name, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen, err);
	t_eq_int(chosen.n, !err->text[0]);
	return chosen.choice[0];
}

HOLDS("an instance of Comm|Scope is one cell") {
	static const char *const names[] = {
		"Comm_cudaMemcpyAsync_PinnedToGPU/2/3/28",
		"cudaMemcpyAsync_PinnedToGPU/2/3/28",
		"Comm_NUMAMemcpy_PinnedToGPU/2/3/log2(N):28/manual_time",
		"cudaMemcpyAsync_PinnedToGPU/2/3/log2(N):28/min_time:0.100/repeats:5/manual_time",
	};
	struct cs_choice c;
	struct cs_err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		c = chosen_by(names[i], &err);
		t_eq_str(err.text, "");
		t_eq_int(c.test, cs_test_index("h2d.ce.registered.pair"));
		t_eq_int(c.bytes, 1 << 28);
		t_eq_int(c.src, 3);
		t_eq_int(c.dst, 4);
		t_eq_int(c.variant.cache, CS_CACHE_ANY);
	}
	c = chosen_by("Comm_cudaMemcpyAsync_GPUToPinned_flush/0/3", &err);
	t_eq_int(c.test, cs_test_index("d2h.ce.registered.pair"));
	t_eq_int(c.bytes, 0);
	t_eq_int(c.src, 4);
	t_eq_int(c.dst, 1);
	t_eq_int(c.variant.cache, CS_CACHE_COLD);
}

/* Names of what has no size, and what each of them chooses. */
HOLDS("shapes and calls have names of Comm|Scope") {
	static const struct {
		const char *test, *family, *name, *shape;
	} of[] = {
		{ "peer.sm3d.halo.pair", "3d_kernel3D_push",
		  "Comm_3d_kernel3D_push/1/2/12/768/768/manual_time",
		  "768x768x768:3:x" },
		{ "peer.copy3d.halo.pair", "3d_cudaMemcpy3DPeerAsync_GPUToGPU",
		  "Comm_3d_cudaMemcpy3DPeerAsync_GPUToGPU/1/2/3072/2/768/manual_time",
		  "768x768x768:2:y" },
		{ "peer.pack.halo.pair", "3d_pack_cudaMemcpyPeer_unpack",
		  "Comm_3d_pack_cudaMemcpyPeer_unpack/1/2/3072/768/3/manual_time",
		  "768x768x768:3:z" },
		{ "peer.chunk.read.pair", "chunk_pull",
		  "Comm_chunk_pull/1/2/32/16/manual_time", "64/128" },
		{ "peer.stride.write.pair", "stride_push",
		  "Comm_stride_push/1/2/16/manual_time", "4/64" },
		{ "peer.sm3d.read.pair", "3d_kernel3D_pull",
		  "Comm_3d_kernel3D_pull/1/2/12/768/768/manual_time",
		  "768x768x768:3:x" },
		{ "local.copy2d.halo.alone", "3d_cudaMemcpy2DAsync_GPUToGPU",
		  "Comm_3d_cudaMemcpy2DAsync_GPUToGPU/2/2/12/768/768/manual_time",
		  "768x768x768:3:x" },
		{ "local.call.copy-h2d.alone", "cudart_cudaMemcpyAsync_PinnedToGPU",
		  "Comm_cudart_cudaMemcpyAsync_PinnedToGPU/0/2/real_time", NULL },
		{ "local.call.launch256.alone", "cudart_kernel",
		  "Comm_cudart_kernel/0/2/256/real_time/threads:1", NULL },
		{ "local.call.context-sync.alone", "cudaDeviceSynchronize",
		  "Comm_cudaDeviceSynchronize/0/2/real_time/threads:1", NULL },
		{ "local.call.copy3d.alone", "cudart_cudaMemcpy3DAsync_GPUToGPU",
		  "Comm_cudart_cudaMemcpy3DAsync_GPUToGPU/2/2/real_time/threads:1",
		  NULL },
		{ "local.call.managed-alloc.alone", "cudart_cudaMallocManaged",
		  "Comm_cudart_cudaMallocManaged/0/2/log2(N):20", NULL },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const int own = !strncmp(of[i].test, "local.", 6);
		struct cs_instance c = cell(of[i].test, own ? 2 : 1, 2, 1 << 20);
		uint64_t shape[CS_SHAPE_FACES] = { 0 };
		struct cs_choice chosen;
		char name[CS_INSTANCE] = "";
		struct cs_err err;
		size_t n;
		const struct cs_alias *a = cs_aliases(&n);

		if (of[i].shape)
			t_eq_int(cs_shape_parse(of[i].shape, shape, &err), 1);
		c.variant.shape = shape[0];
		while (n-- && cs_instance_alias(&c, &a[n], a[n].name, name))
			;
		t_eq_str(name, of[i].name);
		t_ok(!strncmp(cs_alias_bare(name), of[i].family, strlen(of[i].family)));
		chosen = chosen_by(of[i].name, &err);
		t_eq_str(err.text, "");
		t_eq_int(chosen.test, c.test);
		t_ok(chosen.variant.shape == shape[0]);
		t_ok(chosen.src == 1 + c.src && chosen.dst == 1 + c.dst);
	}
}

/* The names that Comm|Scope has for pairs of GPUs. */
HOLDS("of a GPU with itself they are of tests within a GPU") {
	static const char *const of[][2] = {
		{ "cudaMemcpyAsync_GPUToGPU/0/2/2/20", "local.ce.copy.alone" },
		{ "cudaMemcpyAsync_GPUToGPU/0/1/2/20", "peer.staged.write.pair" },
		{ "cudaMemcpyPeerAync_GPUToGPU/2/2/20", "local.ce.copy.alone" },
		{ "chunk_pull/2/2/32/16", "local.chunk.copy.alone" },
		{ "chunk_pull/2/2/32/32/manual_time", "local.sm.copy.alone" },
		{ "chunk_pull/1/2/32/32", "peer.sm.read.pair" },
		{ "stride_push/1/2/1", "peer.sm.write.pair" },
		{ "stride_push/2/2/2", "local.stride.copy.alone" },
	};
	struct cs_err err;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const struct cs_choice c = chosen_by(of[i][0], &err);

		t_eq_str(err.text, "");
		t_eq_str(cs_test_at(c.test)->name, of[i][1]);
		t_eq_int(c.dst, 3);
	}
}

HOLDS("the size of a latency of faults is their number") {
	struct cs_instance c = cell("h2d.chase.fault.pair", 0, 1,
				    10ull * CS_FAULT_STRIDE);
	struct cs_choice chosen;
	struct cs_err err;

	t_eq_str(scope_name(&c, "UM_Latency_HostToGPU"),
		 "Comm_UM_Latency_HostToGPU/0/1/log2(N):10/manual_time");
	chosen = chosen_by("UM_Latency_HostToGPU/0/1/10", &err);
	t_eq_str(err.text, "");
	t_ok(chosen.bytes == c.bytes);
}

HOLDS("... and what is none of them is refused") {
	static const char *const of[][2] = {
		{ "3d_kernel3D_push/0/1/13/768/768", "the extents of a face" },
		{ "3d_kernel3D_push/0/1/12/768", "the extents of a face" },
		{ "3d_kernel3D_push/0/1/12/3/768", "the extents of a face" },
		{ "chunk_push/0/1/32/33", "how many of them are used: fewer" },
		{ "stride_pull/0/1/0", "more than 1" },
		{ "cudaMemcpyAsync_GPUToGPUPeer/1/1", "no such copy with itself" },
		{ "cudart_kernel/0/0/8",
		  "there is cudart_kernel/NUMA/GPU/0 and the like" },
		{ "cudart_kernel/0/0",
		  "there is cudart_kernel/NUMA/GPU/0 and the like" },
		{ "stride_pull/0/1/16/20", "unknown '20'" },
	};
	struct cs_err err;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		chosen_by(of[i][0], &err);
		t_has(err.text, of[i][1]);
	}
}

HOLDS("what is no instance is refused") {
	struct cs_err err;

	chosen_by("Comm_cudaMemcpyAsync_PinnedToGPU/0", &err);
	t_eq_str(err.text, "'Comm_cudaMemcpyAsync_PinnedToGPU/0': after "
			   "'cudaMemcpyAsync_PinnedToGPU' come numbers, NUMA/GPU");
	chosen_by("cudaMemcpyAsync_GPUToGPUPeer/a/1", &err);
	t_eq_str(err.text, "'cudaMemcpyAsync_GPUToGPUPeer/a/1': after "
			   "'cudaMemcpyAsync_GPUToGPUPeer' come numbers, GPU/GPU");
	chosen_by("cudaMemcpyAsync_GPUToGPUPeer/0/64", &err);
	t_has(err.text, "come numbers");
	chosen_by("cudaMemcpyAsync_GPUToGPUPeer/0/1/99", &err);
	t_has(err.text, "'99' is no binary logarithm");
	chosen_by("cudaMemcpyAsync_GPUToGPUPeer/0/1/20/21", &err);
	t_has(err.text, "unknown '21'");
	chosen_by("cudaMemcpyAsync_GPUToGPUPeer/0/1/20/", &err);
	t_has(err.text, "unknown ''");
	chosen_by("Comm_nothing/0/1/20", &err);
	t_has(err.text, "no test matches 'Comm_nothing/0/1/20'");
}

HOLDS("either way names a cell of both") {
	struct cs_choices chosen = { .n = 0 };
	struct cs_instance c = cell("peer.ce.read.bidi", 0, 1, 1 << 20);

	t_eq_int(cs_tests_choose("cudaMemcpyAsync_Duplex_GPUGPUPeer/1/0/20,"
				 "cudaMemcpyAsync_GPUToGPUPeer/1/0/20",
				 CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen, NULL),
		 0);
	t_eq_int(chosen.n, 2);
	t_ok(cs_instance_is_of(&c, &chosen.choice[1]));
	c.src = 2;
	t_ok(!cs_instance_is_of(&c, &chosen.choice[1]));
	c = cell("peer.ce.read.pair", 0, 1, 1 << 20);
	t_ok(!cs_instance_is_of(&c, &chosen.choice[0]));
}

/* 1: the filter takes the step whose only cell this is. */
static int takes(const char *text, enum cs_filter_names names,
		 const struct cs_instance *cell)
{
	struct cs_settings set = { .filter_names = names };
	struct cs_filter filter;
	struct cs_err err = { "" };
	int taken;

	cs_text(set.filter, sizeof(set.filter), "%s", text);
	if (!t_eq_int(cs_filter_open(&filter, &set, &err), 0))
		t_eq_str(err.text, "");
	taken = cs_filter_takes(&filter, cs_filter_fits(&filter, cell));
	cs_filter_close(&filter);
	return taken;
}

HOLDS("a filter is as Google Benchmark's") {
	const struct cs_instance c = cell("h2d.ce.registered.pair", 0, 1, 1 << 28);

	t_ok(takes("", CS_NAMES_ALL, &c));
	t_ok(takes("all", CS_NAMES_ALL, &c));
	t_ok(takes("PinnedToGPU/0/(1|3)/", CS_NAMES_ALL, &c));
	t_ok(!takes("PinnedToGPU/1", CS_NAMES_ALL, &c));
	t_ok(!takes("-PinnedToGPU", CS_NAMES_ALL, &c));
	t_ok(takes("-GPUToPinned", CS_NAMES_ALL, &c));
	/* in all of the name, before 0.7 too; ERE, not globs */
	t_ok(takes("^Comm_cuda.*log2\\(N\\):28/manual_time$", CS_NAMES_ALL, &c));
	t_ok(takes("NUMAMemcpy_Pinned", CS_NAMES_ALL, &c));
	t_ok(!takes("_flush", CS_NAMES_ALL, &c));
	t_ok(takes("^h2d.*/numa0/gpu1/256M$", CS_NAMES_ALL, &c));
	t_ok(!takes("^h2d", CS_NAMES_THEIRS, &c));
	t_ok(takes("-^h2d", CS_NAMES_THEIRS, &c));
	/* what is no name of theirs is none of their cells */
	t_ok(takes(".", CS_NAMES_THEIRS, &c));
}

static const char *refusal(const char *text)
{
	static struct cs_err err;
	struct cs_settings set = { .copy_bytes = 0 };
	struct cs_filter filter;

	err.text[0] = '\0';
	cs_text(set.filter, sizeof(set.filter), "%s", text);
	if (!cs_filter_open(&filter, &set, &err))
		cs_filter_close(&filter);
	return err.text;
}

HOLDS("a filter that is none is refused") {
	t_eq_str(refusal("("),
		 "not an extended regular expression: Unmatched ( or \\(");
	t_has(refusal("-["), "not an extended regular expression");
	t_eq_str(refusal("((((a{250}){250}){250}){250})"),
		 "it repeats parts more than 1000 times");
	t_eq_str(refusal("a{1,30000}"), "it repeats parts more than 1000 times");
	t_eq_str(refusal("(a)\\1"), "back references such as '\\1' are not allowed");
	t_eq_str(refusal("\\{99999"), "");
	t_eq_str(refusal("a{1,3}"), "");
	t_eq_str(refusal("-"), "");
}
