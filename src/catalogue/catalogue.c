/* catalogue.c - the tests, one line each, in the order in which they run and are listed.
 *
 * To add one, add a line: tests/unit/test_catalogue.c holds its name, path.method.op.pattern
 * (with host memory its kind in place of the operation), to its fields.  TEST() takes all
 * that a test has; what it does not name is 0 of its enum, the usual: no host memory, GB/s,
 * sampled behind the gate, a driver's GPUs, copies of --size, in the --matrix of its path.
 * PEER() and HOST() word copies that only differ in who moves them, and how many at once.
 *
 * What is new besides needs: a pattern its generator in patterns.c; a method, operation or
 * memory its value in catalogue.h and its word at the end of this file; a way of moving
 * bytes its backend (backend/backend.h). */
#include "catalogue/catalogue.h"

#include <string.h>

#define TEST(name_, PATH_, METHOD_, OP_, PATTERN_, heading_, summary_, ...)          \
	{ .name = name_, .path = CS_PATH_##PATH_, .method = CS_METHOD_##METHOD_,     \
	  .op = CS_OP_##OP_, .pattern = CS_PATTERN_##PATTERN_, .heading = heading_,  \
	  .summary = summary_, __VA_ARGS__ }

/* ---- between agents ---- */

#define PEER(name_, METHOD_, OP_, PATTERN_, when, ...)                               \
	{ .name = name_, .path = CS_PATH_PEER, .method = CS_METHOD_##METHOD_,        \
	  .op = CS_OP_##OP_, .pattern = CS_PATTERN_##PATTERN_,                       \
	  .heading = SAYS_##OP_ when,                                                \
	  .summary = METHOD_##_##OP_ ": " SAYS_##OP_ when, __VA_ARGS__ }

#define SAYS_WRITE "row writes to column"
#define SAYS_READ "column reads from row"

#define CE_WRITE "copy engine of the row's GPU"
#define CE_READ "copy engine of the column's GPU"
#define SM_WRITE "kernel on the row's GPU"
#define SM_READ "kernel on the column's GPU"
#define ZEROCOPY_WRITE "zero-copy kernel on the row's GPU, 4-byte stores"
#define ZEROCOPY_READ "zero-copy kernel on the column's GPU, 4-byte loads"
#define TMA_WRITE "bulk copies on the row's GPU"
#define TMA_READ "bulk copies on the column's GPU"
#define PEERCOPY_WRITE "by cuMemcpyPeerAsync within a process"
#define STAGED_WRITE "through host memory, without peer access"
#define SAYS_HALO "a face of row's grid to where column has it"
#define COPY2D_HALO "cuMemcpy2DAsync of the row's GPU"
#define COPY3D_HALO "cuMemcpy3DPeerAsync, without contexts of both cuMemcpy3DAsync"
#define SM3D_HALO "kernel on the row's GPU"
#define PACK_HALO "packed by a kernel, copied, unpacked by another"
#define CHUNK_WRITE "kernel on the row's GPU, small blocks at a stride"
#define CHUNK_READ "kernel on the column's GPU, small blocks at a stride"
#define STRIDE_WRITE "kernel on the row's GPU, single elements at a stride"
#define STRIDE_READ "kernel on the column's GPU, single elements at a stride"
#define CPU_WRITE "host memory, CPU of the row"
#define CPU_READ "host memory, CPU of the column"

#define WHILE_WRITTEN " while column writes to row"
#define WHILE_READ " while row reads from column"
#define EACH_TO_ANOTHER ", all at once, each to another"
#define EACH_TO_NEXT ", all at once, each to the next"
#define EACH_HALF_WAY ", all at once, each to the one half-way round"
#define DISJOINT_PAIRS ", as many pairs at once as there are"
#define BY_LOT ", some pairs by lot"
#define OTHERS_TO_ONE ", all others to one at once"
#define ONE_TO_OTHERS ", one to all others at once"

/* CPU copies share caches and memory with everything else that runs: on H200 machines
 * their samples vary by 2 to 6 %, and no cell settles within 0.5 %. */
#define BY_CPU .least_precision = 0.02

#define ONE_PAIR "one pair at a time"
/* By all cores of a NUMA node. */
#define OF_TEAM \
	.memory = CS_MEM_PAGEABLE, .any_backend = 1, .alone = ONE_PAIR, BY_CPU
#define ONE_AT_A_TIME "one at a time"
#define ON_CPU .backend = CS_BACKEND_CPU
/* The test that costs of a placement are compared with. */
#define COST_TOO .matrices = CS_MATRIX_PEER | CS_MATRIX_COST

/* ---- with the host: the GPU issues ---- */

#define HOST(name_, PATH_, METHOD_, MEMORY_, PATTERN_, when, ...)                    \
	{ .name = name_, .path = CS_PATH_##PATH_, .method = CS_METHOD_##METHOD_,     \
	  .op = CS_PATH_##PATH_ == CS_PATH_H2D ? CS_OP_READ : CS_OP_WRITE,           \
	  .pattern = CS_PATTERN_##PATTERN_, .memory = CS_MEM_##MEMORY_,              \
	  .heading = SAYS_##PATH_ when,                                              \
	  .summary = METHOD_##_HOST ", " IN_##MEMORY_ ": " SAYS_##PATH_ when, __VA_ARGS__ }

#define SAYS_H2D "host memory of row to GPU of column"
#define SAYS_D2H "GPU of row to host memory of column"

#define CE_HOST "copy engine"
#define SM_HOST "kernel"
#define ZEROCOPY_HOST "zero-copy kernel, 4-byte accesses"

#define PREFETCH_HOST "cuMemPrefetchAsync"
#define DEMAND_HOST "page faults, one store a page"

#define COPY2D_HOST "cuMemcpy2DAsync of a face of a grid"
#define COPY3D_HOST "cuMemcpy3DAsync of a face of a grid"
#define SM3D_HOST "kernel that copies a face of a grid"

#define IN_PINNED "pinned host memory"
#define IN_REGISTERED "registered host memory"
#define IN_HUGE "huge host memory"
#define IN_WC "wc host memory"
#define IN_PAGEABLE "pageable host memory"
#define IN_MANAGED "managed memory"
#define IN_SYSTEM "memory of malloc"

#define ONE_BY_ONE ", one at a time"
#define AND_BACK " and back, at once"
#define BESIDE_OTHERS " while all other GPUs do the same"
#define WHILE_COMPUTING " while its GPU computes"
#define WHILE_BOTH_COMPUTE " while both compute"
#define BESIDE_ALL_BOTH_WAYS " while it and all other GPUs copy both ways"
#define ALL_GPUS ", all GPUs at once"
#define ALL_GPUS_AND_BACK " and back, all GPUs at once"

/* ---- managed memory, and that of malloc ---- */

/* How fast faults are served differs from one sample to the next. */
#define MOVED(name_, PATH_, METHOD_, MEMORY_, PATTERN_, when) \
	HOST(name_, PATH_, METHOD_, MEMORY_, PATTERN_, when, .least_precision = 0.02)
#define MOVED_PEER(name_, METHOD_, MEMORY_, PATTERN_, when, ...)                     \
	{ .name = name_, .path = CS_PATH_PEER, .method = CS_METHOD_##METHOD_,        \
	  .op = CS_OP_READ, .pattern = CS_PATTERN_##PATTERN_,                        \
	  .memory = CS_MEM_##MEMORY_, .least_precision = 0.02,                       \
	  .heading = "pages of row's GPU to column's" when,                          \
	  .summary = METHOD_##_HOST ", " IN_##MEMORY_                                \
				    ": GPU of row to GPU of column" when,            \
	  __VA_ARGS__ }
#define FAULTS(name_, PATH_, OP_, MEMORY_, whose, who)                               \
	TEST(name_, PATH_, CHASE, OP_, PAIR, "a page fault by " whose,               \
	     "latency of one page fault, " IN_##MEMORY_ ": " who,                    \
	     .memory = CS_MEM_##MEMORY_, .alone = ONE_AT_A_TIME,                     \
	     .unit = CS_UNIT_NS, .least_precision = 0.02)
#define PAGES_BACK " while pages of column's go to row's"

/* All tests of one kind of such memory. */
#define PAGES(memory_, MEMORY_, fault_, FAULT_)                                      \
	MOVED("h2d.prefetch." memory_ ".pair", H2D, PREFETCH, MEMORY_, PAIR,         \
	      ONE_BY_ONE),                                                           \
	MOVED("d2h.prefetch." memory_ ".pair", D2H, PREFETCH, MEMORY_, PAIR,         \
	      ONE_BY_ONE),                                                           \
	MOVED("h2d.prefetch." memory_ ".bidi", H2D, PREFETCH, MEMORY_, BIDI,         \
	      AND_BACK),                                                             \
	MOVED("h2d.prefetch." memory_ ".all", H2D, PREFETCH, MEMORY_, EVERY,         \
	      ALL_GPUS),                                                             \
	MOVED("d2h.prefetch." memory_ ".all", D2H, PREFETCH, MEMORY_, EVERY,         \
	      ALL_GPUS),                                                             \
	MOVED_PEER("peer.prefetch." memory_ ".pair", PREFETCH, MEMORY_, PAIR, "",    \
		   .alone = ONE_PAIR),                                               \
	MOVED_PEER("peer.prefetch." memory_ ".bidi", PREFETCH, MEMORY_, BIDI,        \
		   PAGES_BACK),                                                      \
	MOVED_PEER("peer.prefetch." memory_ ".all", PREFETCH, MEMORY_, ALL,          \
		   EACH_TO_NEXT),                                              \
	MOVED("h2d.demand." memory_ ".pair", H2D, DEMAND, MEMORY_, PAIR,             \
	      ONE_BY_ONE),                                                           \
	MOVED("d2h.demand." memory_ ".pair", D2H, DEMAND, MEMORY_, PAIR,             \
	      ONE_BY_ONE),                                                           \
	MOVED("h2d.demand." memory_ ".bidi", H2D, DEMAND, MEMORY_, BIDI, AND_BACK),  \
	MOVED("h2d.demand." memory_ ".all", H2D, DEMAND, MEMORY_, EVERY, ALL_GPUS),  \
	MOVED_PEER("peer.demand." memory_ ".pair", DEMAND, MEMORY_, PAIR, "",        \
		   .alone = ONE_PAIR),                                               \
	MOVED_PEER("peer.demand." memory_ ".bidi", DEMAND, MEMORY_, BIDI,            \
		   PAGES_BACK),                                                      \
	FAULTS("h2d.chase." fault_ ".pair", H2D, FAULT_, MEMORY_,                    \
	       "column's GPU on row's host memory", "a GPU on pages of the host"),   \
	FAULTS("d2h.chase." fault_ ".pair", D2H, FAULT_, MEMORY_,                    \
	       "column's CPUs on row's GPU", "a CPU on pages of a GPU"),             \
	FAULTS("peer.chase." fault_ ".pair", PEER, FAULT_, MEMORY_,                  \
	       "column's GPU on row's", "a GPU on pages of another")

/* ---- latency, and what a placement costs ---- */

#define IN_ORDER "2 MiB in order"
#define AT_RANDOM "--size in random order"
#define A_LOAD .unit = CS_UNIT_NS /* of a chase; of --size bytes */
#define SMALL_CHASE A_LOAD, .bytes = 2 << 20

#define ONE_GPU_AT_A_TIME "one GPU at a time"
#define ONE_GPU ", " ONE_GPU_AT_A_TIME
#define ONCE .counts = "bytes counted once"
#define ALL_THREE .counts = "bytes of all three arrays"

#define FMA(name_, OP_, type)                                                        \
	TEST(name_, LOCAL, FMA, OP_, ALONE, "a GPU's multiply-adds, " type,          \
	     "multiply-adds of a kernel on all multiprocessors, " type               \
	     ", without tensor cores",                                               \
	     .alone = ONE_GPU_AT_A_TIME, .unit = CS_UNIT_GFLOPS, .bytes = CS_FLOPS_BYTES)

/* A call of the driver, local.call.NAME.PATTERN: the CPU's time in it. */
#define CALL(name_, OP_, heading_, summary_, ...)                                    \
	TEST("local.call." name_ ".alone", LOCAL, CALL, OP_, ALONE,                  \
	     heading_ ONE_GPU, "CPU time of " summary_ ONE_GPU, .unit = CS_UNIT_US,  \
	     __VA_ARGS__)
#define PREFETCH_CALL(name_, OP_, where)                                             \
	CALL("prefetch-" name_, PREFETCH_##OP_, "CPU time to prefetch pages " where, \
	     "one cuMemPrefetchAsync " where, .how = CS_HOW_PREFETCH)

#define COST(HOW_, UNIT_, bytes_) \
	.matrices = CS_MATRIX_COST, .how = CS_HOW_##HOW_, .unit = CS_UNIT_##UNIT_, \
	.bytes = bytes_
/* One copy timed by the CPU, with no other queued: the cost to a program that waits. */
#define SINGLE(path_, PATH_, heading_, summary_, ...)                                  \
	TEST(path_ ".ce.once.pair", PATH_, CE, ONCE, PAIR, heading_, summary_,       \
	     COST(ONCE, US, 0), __VA_ARGS__)
#define CALL_TO_END ", from its call to its end as the CPU sees it"
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define HELD "while the work of all other GPUs waits, at most " TEXT(CS_HOLD_MS) " ms"

#define STREAM(name_, PATH_, METHOD_, OP_, MEMORY_, says_, ...)                      \
	TEST(name_, PATH_, METHOD_, OP_, PAIR, says_ ONE_BY_ONE, says_,              \
	     .memory = CS_MEM_##MEMORY_, __VA_ARGS__)

/* A call of base/calls.def, by one and by all at once. */
#define CALL_OF(PATH_, path_, OP_, name_, bytes_, says_, WHO_, ...)                  \
	TEST(path_ ".call." name_ ".alone", PATH_, CALL, CALL_##OP_, ALONE,          \
	     "CPU time to " says_ WHO_##_ONE, "CPU time to " says_ WHO_##_ONE,       \
	     CALL_BY(bytes_), __VA_ARGS__),                                          \
		TEST(path_ ".call." name_ ".all", PATH_, CALL, CALL_##OP_, ALL,      \
		     "CPU time to " says_ WHO_##_ALL, "CPU time to " says_ WHO_##_ALL, \
		     CALL_BY(bytes_), __VA_ARGS__),
#define CALL_BY(bytes_) .how = CS_HOW_BATCHES, .unit = CS_UNIT_NS, .bytes = bytes_
#define GPUS_ONE ", one GPU at a time"
#define GPUS_ALL ", all GPUs at once"
#define THREADS_ONE ", one thread at a time"
#define THREADS_ALL ", all threads at once"

static const struct cs_test table[] = {
	PEER("peer.ce.write.pair", CE, WRITE, PAIR, "", .alone = ONE_PAIR, COST_TOO),
	SINGLE("peer", PEER, SAYS_WRITE ", alone" CALL_TO_END,
	       "GPU to GPU, a single copy" CALL_TO_END),
	PEER("peer.ce.write.bidi", CE, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.ce.write.shift", CE, WRITE, SHIFT, EACH_TO_ANOTHER, COST_TOO),
	PEER("peer.ce.write.ring", CE, WRITE, RING, EACH_TO_NEXT),
	PEER("peer.ce.write.bisect", CE, WRITE, BISECT, EACH_HALF_WAY),
	PEER("peer.ce.write.rounds", CE, WRITE, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.ce.write.random", CE, WRITE, RANDOM, BY_LOT, .alone = ONE_AT_A_TIME),
	PEER("peer.ce.write.all-to-one", CE, WRITE, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.ce.write.one-to-all", CE, WRITE, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.ce.read.pair", CE, READ, PAIR, "", .alone = ONE_PAIR, COST_TOO),
	PEER("peer.ce.read.bidi", CE, READ, BIDI, WHILE_READ),
	PEER("peer.ce.read.shift", CE, READ, SHIFT, EACH_TO_ANOTHER, COST_TOO),
	PEER("peer.ce.read.ring", CE, READ, RING, EACH_TO_NEXT),
	PEER("peer.ce.read.bisect", CE, READ, BISECT, EACH_HALF_WAY),
	PEER("peer.ce.read.rounds", CE, READ, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.ce.read.random", CE, READ, RANDOM, BY_LOT, .alone = ONE_AT_A_TIME),
	PEER("peer.ce.read.all-to-one", CE, READ, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.ce.read.one-to-all", CE, READ, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.ce.write.loadflops", CE, WRITE, LOADFLOPS, WHILE_BOTH_COMPUTE),
	PEER("peer.ce.read.loadflops", CE, READ, LOADFLOPS, WHILE_BOTH_COMPUTE),
	PEER("peer.sm.write.pair", SM, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.sm.write.bidi", SM, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.sm.write.shift", SM, WRITE, SHIFT, EACH_TO_ANOTHER),
	PEER("peer.sm.write.ring", SM, WRITE, RING, EACH_TO_NEXT),
	PEER("peer.sm.write.bisect", SM, WRITE, BISECT, EACH_HALF_WAY),
	PEER("peer.sm.write.rounds", SM, WRITE, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.sm.write.random", SM, WRITE, RANDOM, BY_LOT, .alone = ONE_AT_A_TIME),
	PEER("peer.sm.write.all-to-one", SM, WRITE, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.sm.write.one-to-all", SM, WRITE, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.sm.read.pair", SM, READ, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.sm.read.bidi", SM, READ, BIDI, WHILE_READ),
	PEER("peer.sm.read.shift", SM, READ, SHIFT, EACH_TO_ANOTHER),
	PEER("peer.sm.read.ring", SM, READ, RING, EACH_TO_NEXT),
	PEER("peer.sm.read.bisect", SM, READ, BISECT, EACH_HALF_WAY),
	PEER("peer.sm.read.rounds", SM, READ, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.sm.read.random", SM, READ, RANDOM, BY_LOT, .alone = ONE_AT_A_TIME),
	PEER("peer.sm.read.all-to-one", SM, READ, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.sm.read.one-to-all", SM, READ, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.tma.write.pair", TMA, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.tma.write.bidi", TMA, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.tma.write.shift", TMA, WRITE, SHIFT, EACH_TO_ANOTHER),
	PEER("peer.tma.write.ring", TMA, WRITE, RING, EACH_TO_NEXT),
	PEER("peer.tma.write.bisect", TMA, WRITE, BISECT, EACH_HALF_WAY),
	PEER("peer.tma.write.rounds", TMA, WRITE, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.tma.write.random", TMA, WRITE, RANDOM, BY_LOT,
	     .alone = ONE_AT_A_TIME),
	PEER("peer.tma.write.all-to-one", TMA, WRITE, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.tma.write.one-to-all", TMA, WRITE, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.tma.read.pair", TMA, READ, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.tma.read.bidi", TMA, READ, BIDI, WHILE_READ),
	PEER("peer.tma.read.shift", TMA, READ, SHIFT, EACH_TO_ANOTHER),
	PEER("peer.tma.read.ring", TMA, READ, RING, EACH_TO_NEXT),
	PEER("peer.tma.read.bisect", TMA, READ, BISECT, EACH_HALF_WAY),
	PEER("peer.tma.read.rounds", TMA, READ, ROUNDS, DISJOINT_PAIRS),
	PEER("peer.tma.read.random", TMA, READ, RANDOM, BY_LOT, .alone = ONE_AT_A_TIME),
	PEER("peer.tma.read.all-to-one", TMA, READ, ALL_TO_ONE, OTHERS_TO_ONE),
	PEER("peer.tma.read.one-to-all", TMA, READ, ONE_TO_ALL, ONE_TO_OTHERS),
	PEER("peer.zerocopy.write.pair", ZEROCOPY, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.zerocopy.write.bidi", ZEROCOPY, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.zerocopy.read.pair", ZEROCOPY, READ, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.zerocopy.read.bidi", ZEROCOPY, READ, BIDI, WHILE_READ),
	PEER("peer.peercopy.write.pair", PEERCOPY, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.peercopy.write.bidi", PEERCOPY, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.staged.write.pair", STAGED, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.staged.write.bidi", STAGED, WRITE, BIDI, WHILE_WRITTEN),
	PEER("peer.cpu.write.pair", CPU, WRITE, PAIR, "", .alone = ONE_PAIR, COST_TOO,
	     ON_CPU),
	PEER("peer.cpu.write.bidi", CPU, WRITE, BIDI, WHILE_WRITTEN, ON_CPU),
	PEER("peer.cpu.read.pair", CPU, READ, PAIR, "", .alone = ONE_PAIR, COST_TOO,
	     ON_CPU),
	PEER("peer.cpu.read.bidi", CPU, READ, BIDI, WHILE_READ, ON_CPU),
	PEER("peer.cpu.write.shift", CPU, WRITE, SHIFT, EACH_TO_ANOTHER, COST_TOO,
	     ON_CPU),
	PEER("peer.cpu.write.ring", CPU, WRITE, RING, EACH_TO_NEXT, ON_CPU),
	PEER("peer.cpu.write.bisect", CPU, WRITE, BISECT, EACH_HALF_WAY, ON_CPU),
	PEER("peer.cpu.write.rounds", CPU, WRITE, ROUNDS, DISJOINT_PAIRS, ON_CPU),
	PEER("peer.cpu.write.random", CPU, WRITE, RANDOM, BY_LOT,
	     .alone = ONE_AT_A_TIME, ON_CPU),
	PEER("peer.cpu.read.shift", CPU, READ, SHIFT, EACH_TO_ANOTHER, COST_TOO,
	     ON_CPU),
	PEER("peer.cpu.read.ring", CPU, READ, RING, EACH_TO_NEXT, ON_CPU),
	PEER("peer.cpu.read.bisect", CPU, READ, BISECT, EACH_HALF_WAY, ON_CPU),
	PEER("peer.cpu.read.rounds", CPU, READ, ROUNDS, DISJOINT_PAIRS, ON_CPU),
	PEER("peer.cpu.read.random", CPU, READ, RANDOM, BY_LOT,
	     .alone = ONE_AT_A_TIME, ON_CPU),
	PEER("peer.cpu.write.all-to-one", CPU, WRITE, ALL_TO_ONE, OTHERS_TO_ONE,
	     ON_CPU),
	PEER("peer.cpu.read.one-to-all", CPU, READ, ONE_TO_ALL, ONE_TO_OTHERS, ON_CPU),
	PEER("peer.copy2d.halo.pair", COPY2D, HALO, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.copy3d.halo.pair", COPY3D, HALO, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.sm3d.halo.pair", SM3D, HALO, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.pack.halo.pair", PACK, HALO, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.chunk.write.pair", CHUNK, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.chunk.read.pair", CHUNK, READ, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.stride.write.pair", STRIDE, WRITE, PAIR, "", .alone = ONE_PAIR),
	PEER("peer.stride.read.pair", STRIDE, READ, PAIR, "", .alone = ONE_PAIR),
	TEST("peer.chase.stride.pair", PEER, CHASE, STRIDE, PAIR,
	     "a load by column's GPU from row's memory",
	     "latency between GPUs: " IN_ORDER, .alone = ONE_PAIR, SMALL_CHASE),
	TEST("peer.chase.random.pair", PEER, CHASE, RANDOM, PAIR,
	     "a load by column's GPU from row's memory",
	     "latency between GPUs: " AT_RANDOM, .alone = ONE_PAIR, A_LOAD),
	TEST("peer.chase.bulk.pair", PEER, CHASE, BULK, PAIR,
	     "a bulk copy of 16 bytes by column's GPU from row's memory",
	     "latency between GPUs, by bulk copies: " IN_ORDER, .alone = ONE_PAIR,
	     SMALL_CHASE),

	HOST("h2d.ce.pinned.pair", H2D, CE, PINNED, PAIR, ONE_BY_ONE),
	SINGLE("h2d", H2D, SAYS_H2D CALL_TO_END,
	       "pinned host memory to GPU, a single copy" CALL_TO_END,
	       .memory = CS_MEM_PINNED),
	HOST("d2h.ce.pinned.pair", D2H, CE, PINNED, PAIR, ONE_BY_ONE),
	SINGLE("d2h", D2H, SAYS_D2H CALL_TO_END,
	       "GPU to pinned host memory, a single copy" CALL_TO_END,
	       .memory = CS_MEM_PINNED),
	HOST("h2d.ce.pinned.bidi", H2D, CE, PINNED, BIDI, AND_BACK),
	HOST("h2d.ce.pinned.load", H2D, CE, PINNED, LOAD, BESIDE_OTHERS),
	HOST("d2h.ce.pinned.load", D2H, CE, PINNED, LOAD, BESIDE_OTHERS),
	HOST("h2d.ce.pinned.bidiload", H2D, CE, PINNED, BIDILOAD, BESIDE_ALL_BOTH_WAYS),
	HOST("d2h.ce.pinned.bidiload", D2H, CE, PINNED, BIDILOAD, BESIDE_ALL_BOTH_WAYS),
	HOST("h2d.ce.pinned.loadflops", H2D, CE, PINNED, LOADFLOPS, WHILE_COMPUTING),
	HOST("d2h.ce.pinned.loadflops", D2H, CE, PINNED, LOADFLOPS, WHILE_COMPUTING),
	HOST("h2d.ce.pinned.all", H2D, CE, PINNED, EVERY, ALL_GPUS),
	HOST("d2h.ce.pinned.all", D2H, CE, PINNED, EVERY, ALL_GPUS),
	HOST("h2d.ce.pinned.bidiall", H2D, CE, PINNED, BIDIEVERY, ALL_GPUS_AND_BACK),
	HOST("h2d.ce.registered.pair", H2D, CE, REGISTERED, PAIR, ONE_BY_ONE),
	HOST("d2h.ce.registered.pair", D2H, CE, REGISTERED, PAIR, ONE_BY_ONE),
	HOST("h2d.ce.registered.bidi", H2D, CE, REGISTERED, BIDI, AND_BACK),
	HOST("h2d.ce.huge.pair", H2D, CE, HUGE, PAIR, ONE_BY_ONE),
	HOST("d2h.ce.huge.pair", D2H, CE, HUGE, PAIR, ONE_BY_ONE),
	HOST("h2d.ce.huge.bidi", H2D, CE, HUGE, BIDI, AND_BACK),
	HOST("h2d.ce.wc.pair", H2D, CE, WC, PAIR, ONE_BY_ONE),
	HOST("d2h.ce.wc.pair", D2H, CE, WC, PAIR, ONE_BY_ONE),
	HOST("h2d.ce.pageable.pair", H2D, CE, PAGEABLE, PAIR, ONE_BY_ONE, BY_CPU),
	HOST("d2h.ce.pageable.pair", D2H, CE, PAGEABLE, PAIR, ONE_BY_ONE, BY_CPU),
	HOST("h2d.ce.pageable.bidi", H2D, CE, PAGEABLE, BIDI, AND_BACK, BY_CPU),
	HOST("h2d.sm.pinned.pair", H2D, SM, PINNED, PAIR, ONE_BY_ONE),
	HOST("d2h.sm.pinned.pair", D2H, SM, PINNED, PAIR, ONE_BY_ONE),
	HOST("h2d.sm.pinned.bidi", H2D, SM, PINNED, BIDI, AND_BACK),
	HOST("h2d.sm.pinned.load", H2D, SM, PINNED, LOAD, BESIDE_OTHERS),
	HOST("d2h.sm.pinned.load", D2H, SM, PINNED, LOAD, BESIDE_OTHERS),
	HOST("h2d.sm.pinned.bidiload", H2D, SM, PINNED, BIDILOAD, BESIDE_ALL_BOTH_WAYS),
	HOST("d2h.sm.pinned.bidiload", D2H, SM, PINNED, BIDILOAD, BESIDE_ALL_BOTH_WAYS),
	HOST("h2d.sm.pinned.all", H2D, SM, PINNED, EVERY, ALL_GPUS),
	HOST("d2h.sm.pinned.all", D2H, SM, PINNED, EVERY, ALL_GPUS),
	HOST("h2d.sm.pinned.bidiall", H2D, SM, PINNED, BIDIEVERY, ALL_GPUS_AND_BACK),
	HOST("h2d.sm.registered.pair", H2D, SM, REGISTERED, PAIR, ONE_BY_ONE),
	HOST("d2h.sm.registered.pair", D2H, SM, REGISTERED, PAIR, ONE_BY_ONE),
	HOST("h2d.sm.registered.bidi", H2D, SM, REGISTERED, BIDI, AND_BACK),
	HOST("h2d.sm.huge.pair", H2D, SM, HUGE, PAIR, ONE_BY_ONE),
	HOST("d2h.sm.huge.pair", D2H, SM, HUGE, PAIR, ONE_BY_ONE),
	HOST("h2d.sm.huge.bidi", H2D, SM, HUGE, BIDI, AND_BACK),
	HOST("h2d.sm.wc.pair", H2D, SM, WC, PAIR, ONE_BY_ONE),
	HOST("d2h.sm.wc.pair", D2H, SM, WC, PAIR, ONE_BY_ONE),
	HOST("h2d.zerocopy.pinned.pair", H2D, ZEROCOPY, PINNED, PAIR, ONE_BY_ONE),
	HOST("d2h.zerocopy.pinned.pair", D2H, ZEROCOPY, PINNED, PAIR, ONE_BY_ONE),
	HOST("h2d.zerocopy.pinned.bidi", H2D, ZEROCOPY, PINNED, BIDI, AND_BACK),
	HOST("h2d.copy2d.pinned.pair", H2D, COPY2D, PINNED, PAIR, ONE_BY_ONE),
	HOST("d2h.copy2d.pinned.pair", D2H, COPY2D, PINNED, PAIR, ONE_BY_ONE),
	HOST("h2d.copy3d.pinned.pair", H2D, COPY3D, PINNED, PAIR, ONE_BY_ONE),
	HOST("d2h.copy3d.pinned.pair", D2H, COPY3D, PINNED, PAIR, ONE_BY_ONE),
	HOST("h2d.sm3d.pinned.pair", H2D, SM3D, PINNED, PAIR, ONE_BY_ONE),
	HOST("d2h.sm3d.pinned.pair", D2H, SM3D, PINNED, PAIR, ONE_BY_ONE),
	TEST("h2d.chase.stride.pair", H2D, CHASE, STRIDE, PAIR,
	     "a load by column's GPU from row's host memory",
	     "latency of pinned host memory: " IN_ORDER, .memory = CS_MEM_PINNED,
	     .alone = ONE_AT_A_TIME, SMALL_CHASE),
	TEST("h2d.chase.random.pair", H2D, CHASE, RANDOM, PAIR,
	     "a load by column's GPU from row's host memory",
	     "latency of pinned host memory: " AT_RANDOM, .memory = CS_MEM_PINNED,
	     .alone = ONE_AT_A_TIME, A_LOAD),

	STREAM("h2d.stream.copy.pair", H2D, STREAM, COPY, PINNED,
	       "a kernel reads row's host data, copied to its GPU before"),
	STREAM("h2d.stream.zerocopy.pair", H2D, STREAM, ZEROCOPY, PINNED,
	       "a kernel of column's GPU reads row's host data in place"),
	STREAM("h2d.stream.prefetch.pair", H2D, STREAM, PREFETCH, MANAGED,
	       "a kernel reads row's managed data, prefetched to its GPU before",
	       .least_precision = 0.02),
	STREAM("h2d.stream.warp.pair", H2D, STREAM, WARP, MANAGED,
	       "a kernel of column's GPU reads row's managed data by faults, one page per warp",
	       .least_precision = 0.02),
	STREAM("h2d.stream.naive.pair", H2D, STREAM, NAIVE, MANAGED,
	       "a kernel of column's GPU reads row's managed data by scattered faults",
	       .least_precision = 0.02),
	STREAM("h2d.streamw.copy.pair", H2D, STREAMW, COPY, PINNED,
	       "a kernel overwrites row's host data, copied to its GPU before"),
	STREAM("h2d.streamw.prefetch.pair", H2D, STREAMW, PREFETCH, MANAGED,
	       "a kernel overwrites row's managed data, prefetched to its GPU before",
	       .least_precision = 0.02),
	STREAM("h2d.streamw.warp.pair", H2D, STREAMW, WARP, MANAGED,
	       "a kernel of column's GPU overwrites row's managed data by faults, one page per warp",
	       .least_precision = 0.02),
	STREAM("h2d.streamw.naive.pair", H2D, STREAMW, NAIVE, MANAGED,
	       "a kernel of column's GPU overwrites row's managed data by scattered faults",
	       .least_precision = 0.02),
	STREAM("d2h.streamw.zerocopy.pair", D2H, STREAMW, ZEROCOPY, PINNED,
	       "a kernel of row's GPU writes data to column's host memory"),

	PAGES("managed", MANAGED, "fault", FAULT),
	PAGES("system", SYSTEM, "fault-system", FAULT_SYSTEM),

	TEST("local.ce.copy.alone", LOCAL, CE, COPY, ALONE,
	     "one buffer of a GPU to another", "within a GPU, copy engine",
	     .alone = ONE_GPU_AT_A_TIME, ONCE),
	TEST("local.sm.copy.alone", LOCAL, SM, COPY, ALONE,
	     "one buffer of a GPU to another", "within a GPU, kernel",
	     .alone = ONE_GPU_AT_A_TIME, ONCE),
	TEST("local.tma.copy.alone", LOCAL, TMA, COPY, ALONE,
	     "one buffer of a GPU to another", "within a GPU, bulk copies",
	     .alone = ONE_GPU_AT_A_TIME, ONCE),
	TEST("local.sm.read.alone", LOCAL, SM, READ, ALONE,
	     "a GPU reads its own memory" ONE_GPU, "within a GPU, kernel that reads"),
	TEST("local.sm.write.alone", LOCAL, SM, WRITE, ALONE,
	     "a GPU writes its own memory" ONE_GPU, "within a GPU, kernel that writes"),
	TEST("local.sm.triad.alone", LOCAL, SM, TRIAD, ALONE,
	     "a GPU adds two arrays of its own memory to a third",
	     "within a GPU, kernel of a = b + s * c", .alone = ONE_GPU_AT_A_TIME,
	     ALL_THREE),
	TEST("local.l2.read.alone", LOCAL, L2, READ, ALONE,
	     "a GPU reads its second-level cache" ONE_GPU,
	     "within a GPU, kernel that reads what its L2 holds", .bytes = 16 << 20),
	TEST("local.shared.read.alone", LOCAL, SHARED, READ, ALONE,
	     "a GPU reads the shared memory of its multiprocessors" ONE_GPU,
	     "within a GPU, kernel that reads shared memory", .bytes = 1 << 20),
	TEST("local.chase.stride.alone", LOCAL, CHASE, STRIDE, ALONE,
	     "a load by a GPU from its own memory", "latency within a GPU: " IN_ORDER,
	     .alone = ONE_GPU_AT_A_TIME, SMALL_CHASE),
	TEST("local.chase.random.alone", LOCAL, CHASE, RANDOM, ALONE,
	     "a load by a GPU from its own memory",
	     "latency within a GPU: " AT_RANDOM, .alone = ONE_GPU_AT_A_TIME, A_LOAD),

	TEST("local.overlap.prefetch.alone", LOCAL, OVERLAP, PREFETCH, ALONE,
	     "managed tiles to a GPU by prefetch, worked on, and back" ONE_GPU,
	     "kernels beside prefetches of other tiles: serial, three streams, rotated "
	     "streams, the ideal",
	     .how = CS_HOW_OVERLAP, .unit = CS_UNIT_MS),
	TEST("local.overlap.copy.alone", LOCAL, OVERLAP, COPY, ALONE,
	     "tiles to a GPU by copies, worked on, and back" ONE_GPU,
	     "kernels beside copies of other tiles: serial, three streams, rotated "
	     "streams, the ideal",
	     .how = CS_HOW_OVERLAP, .unit = CS_UNIT_MS),
	PREFETCH_CALL("in-idle", IN_IDLE, "to the GPU, in an idle stream"),
	PREFETCH_CALL("in-busy", IN_BUSY, "to the GPU, behind other work"),
	PREFETCH_CALL("out-idle", OUT_IDLE, "to the host, in an idle stream"),
	PREFETCH_CALL("out-busy", OUT_BUSY, "to the host, behind other work"),
	FMA(CS_FLOPS_TEST, FP64, "FP64"),
	FMA("local.fma.fp32.alone", FP32, "FP32"),
	FMA("local.fma.fp16.alone", FP16, "FP16"),

	TEST("host.cpu.copy.pair", HOST, CPU, COPY, PAIR,
	     "row's NUMA node to column's, by CPU, one pair at a time",
	     "one NUMA node to another, by CPU", .memory = CS_MEM_PAGEABLE,
	     .any_backend = 1, BY_CPU),
	TEST("host.team.read.pair", HOST, TEAM, READ, PAIR,
	     "all cores of column's NUMA node read row's memory",
	     "memory of a NUMA node, read by all cores of another", OF_TEAM,
	     .counts = "bytes read"),
	TEST("host.team.write.pair", HOST, TEAM, WRITE, PAIR,
	     "all cores of row's NUMA node write column's memory",
	     "memory of a NUMA node, written by all cores of another", OF_TEAM,
	     .counts = "bytes written"),
	TEST("host.team.copy.pair", HOST, TEAM, COPY, PAIR,
	     "all cores of column's NUMA node copy row's memory to column's",
	     "one NUMA node to another, by all cores", OF_TEAM, ONCE),
	TEST("host.team.triad.pair", HOST, TEAM, TRIAD, PAIR,
	     "all cores of column's NUMA node add two arrays of row's memory to one of "
	     "column's",
	     "a = b + s * c by all cores, b and c of one NUMA node, a of another",
	     OF_TEAM, ALL_THREE),
	TEST("host.chase.random.pair", HOST, CHASE, RANDOM, PAIR,
	     "a load by a CPU of column's NUMA node from row's memory, caches flushed",
	     "latency between NUMA nodes, caches flushed: " AT_RANDOM,
	     .memory = CS_MEM_PAGEABLE, .any_backend = 1, .alone = ONE_PAIR, A_LOAD,
	     BY_CPU),
	TEST("host.fma.fp64.alone", HOST, FMA, FP64, ALONE,
	     "multiply-adds of all cores of a NUMA node, FP64",
	     "multiply-adds of all cores of a NUMA node, FP64",
	     .memory = CS_MEM_PAGEABLE, .any_backend = 1,
	     .alone = "one NUMA node at a time", .unit = CS_UNIT_GFLOPS,
	     .bytes = CS_FLOPS_BYTES, BY_CPU),
	TEST("host.driver.pinned.pair", HOST, DRIVER, COPY, PAIR,
	     "row's NUMA node, pageable, to column's, pinned, by the driver, one pair "
	     "at a time",
	     "one NUMA node to pinned memory of another, by the driver",
	     .memory = CS_MEM_PINNED, BY_CPU),

	TEST("peer.ce.write4k.pair", PEER, CE, WRITE4K, PAIR,
	     "row writes 4 KiB to column, time of a copy",
	     "GPU to GPU, device time of one copy of 4 KiB among many",
	     COST(GATED, US, 4 << 10)),
	TEST("peer.ce.enqueue.alone", PEER, CE, ENQUEUE, ALONE,
	     "CPU time to enqueue a copy of 4 KiB, one GPU at a time",
	     "CPU time of one cuMemcpyAsync, one GPU at a time",
	     COST(CALLS, US, 4 << 10)),
	TEST("peer.ce.enqueue.all", PEER, CE, ENQUEUE, ALL,
	     "CPU time to enqueue a copy of 4 KiB, all GPUs at once",
	     "CPU time of one cuMemcpyAsync while all GPUs enqueue",
	     COST(CALLS, US, 4 << 10)),
	TEST("peer.ce.burst4k.alone", PEER, CE, BURST4K, ALONE,
	     "copies of 4 KiB as fast as they go, one GPU at a time",
	     "copies per second at 4 KiB, wall clock, one GPU at a time",
	     COST(BURST, COPIES, 4 << 10)),
	TEST("peer.ce.burst4k.all", PEER, CE, BURST4K, ALL,
	     "copies of 4 KiB as fast as they go, all GPUs at once",
	     "copies per second at 4 KiB, wall clock, all GPUs at once",
	     COST(BURST, COPIES, 4 << 10)),
	TEST("peer.ce.burst64k.alone", PEER, CE, BURST64K, ALONE,
	     "copies of 64 KiB as fast as they go, one GPU at a time",
	     "copies per second at 64 KiB, wall clock, one GPU at a time",
	     COST(BURST, COPIES, 64 << 10)),
	TEST("peer.ce.burst64k.all", PEER, CE, BURST64K, ALL,
	     "copies of 64 KiB as fast as they go, all GPUs at once",
	     "copies per second at 64 KiB, wall clock, all GPUs at once",
	     COST(BURST, COPIES, 64 << 10)),
	TEST("local.sm.launch.alone", LOCAL, SM, LAUNCH, ALONE,
	     "CPU time to launch a kernel, one GPU at a time",
	     "CPU time of one cuLaunchKernel, one GPU at a time", COST(CALLS, US, 16)),
	TEST("local.sm.launch.all", LOCAL, SM, LAUNCH, ALL,
	     "CPU time to launch a kernel, all GPUs at once",
	     "CPU time of one cuLaunchKernel while all GPUs launch",
	     COST(CALLS, US, 16)),
	TEST("local.driver.free.gated", LOCAL, DRIVER, FREE, GATED,
	     "cuMemFree of 2 MiB " HELD,
	     "does freeing memory wait for the work of other GPUs?",
	     COST(STALL, MS, 2 << 20)),
	TEST("local.driver.load.gated", LOCAL, DRIVER, LOAD, GATED,
	     "cuModuleLoadData " HELD,
	     "does loading a module wait for the work of other GPUs?",
	     COST(STALL, MS, 16)),
	TEST("peer.driver.open.pair", PEER, DRIVER, OPEN, PAIR,
	     "row opens a new buffer of column, one pair at a time",
	     "opening a peer's new buffer: by CUDA IPC, or peer access within a process",
	     COST(OPEN, US, 16 << 20)),

#define CS_DRIVER_CALL(OP_, name_, bytes_, prepare_, call_, says_)                   \
	CALL_OF(LOCAL, "local", OP_, name_, bytes_, says_, GPUS, .memory = 0)
#define CS_HOST_CALL(OP_, name_, bytes_, prepare_, call_, says_)                     \
	CALL_OF(HOST_OWN, "host", OP_, name_, bytes_, says_, THREADS, .any_backend = 1)
#include "base/calls.def"
};

#define N_TESTS (sizeof(table) / sizeof(table[0]))
_Static_assert(N_TESTS <= CS_TESTS_MOST, "more tests than choices have room for");

const struct cs_test *cs_catalogue(size_t *n)
{
	*n = N_TESTS;
	return table;
}

const struct cs_test *cs_test_next(const struct cs_test *test)
{
	return !test ? table : ++test < table + N_TESTS ? test : NULL;
}

const struct cs_test *cs_test_at(size_t index)
{
	return &table[index];
}

int cs_test_index(const char *name)
{
	size_t i;

	for (i = 0; i < N_TESTS; i++)
		if (!strcmp(name, table[i].name))
			return (int)i;
	return -1;
}

unsigned cs_test_matrices(const struct cs_test *test)
{
	static const unsigned of_path[] = {
		[CS_PATH_PEER] = CS_MATRIX_PEER, [CS_PATH_LOCAL] = CS_MATRIX_LOCAL,
		[CS_PATH_H2D] = CS_MATRIX_H2D,	 [CS_PATH_D2H] = CS_MATRIX_D2H,
		[CS_PATH_HOST] = CS_MATRIX_HOST, [CS_PATH_HOST_OWN] = CS_MATRIX_HOST,
	};

	return test->matrices ? test->matrices : of_path[test->path];
}

int cs_test_is_of(const struct cs_test *test, enum cs_backend_kind backend)
{
	return test->any_backend || test->backend == backend;
}

int cs_op_is_fault(int op)
{
	return op == CS_OP_FAULT || op == CS_OP_FAULT_SYSTEM;
}

int cs_op_is_prefetch_call(int op)
{
	return op >= CS_OP_PREFETCH_IN_IDLE && op <= CS_OP_PREFETCH_OUT_BUSY;
}

int cs_method_is_managed(int method)
{
	return method == CS_METHOD_PREFETCH || method == CS_METHOD_DEMAND;
}

int cs_test_measures_link(const struct cs_test *test)
{
	return test->unit == CS_UNIT_GBS && test->op <= CS_OP_TRIAD &&
	       (test->method <= CS_METHOD_TMA || test->method == CS_METHOD_TEAM);
}

int cs_test_has_host(const struct cs_test *test)
{
	return test->path == CS_PATH_HOST ||
	       ((test->path == CS_PATH_H2D || test->path == CS_PATH_D2H) &&
		test->memory != CS_MEM_DEVICE);
}

enum cs_memory cs_test_memory(const struct cs_test *test, int is_dst)
{
	return test->path == CS_PATH_HOST && !is_dst ? CS_MEM_PAGEABLE : test->memory;
}

int cs_test_goes_in_rounds(const struct cs_test *test)
{
	return test->path == CS_PATH_PEER && test->how == CS_HOW_GATED &&
	       test->unit == CS_UNIT_GBS && test->method != CS_METHOD_CPU &&
	       test->method != CS_METHOD_STAGED &&
	       !cs_method_is_managed((int)test->method) &&
	       (test->pattern == CS_PATTERN_PAIR || test->pattern == CS_PATTERN_BIDI);
}

/* Pages that come to the host are touched there. */
static int is_touched_by_cpus(const struct cs_test *test)
{
	return test->method == CS_METHOD_DEMAND &&
	       (test->path == CS_PATH_D2H ||
		(test->path == CS_PATH_H2D && cs_test_goes_back(test)));
}

unsigned cs_test_takes(const struct cs_test *test)
{
	int by_cpu = test->path == CS_PATH_HOST || test->memory == CS_MEM_PAGEABLE;

	if (test->method == CS_METHOD_OVERLAP)
		return CS_TAKES_KERNELS;
	if (cs_method_is_stream((int)test->method))
		return CS_TAKES_ELEMENT;
	if (cs_method_is_shaped((int)test->method))
		return CS_TAKES_SHAPE |
		       (test->method == CS_METHOD_CHUNK ||
					test->method == CS_METHOD_STRIDE ?
				0 :
				CS_TAKES_ELEMENT);

	/* of the host memory between */
	if (test->method == CS_METHOD_STAGED)
		return CS_TAKES_CPU_NUMA;
	if (cs_op_is_fault((int)test->op))
		return CS_TAKES_ADVICE;
	if (cs_method_is_managed((int)test->method))
		return CS_TAKES_ADVICE | (is_touched_by_cpus(test) ?
						  CS_TAKES_THREADS | CS_TAKES_CPU_NUMA :
						  0);
	/* no cache holds what is write-combined */
	if (!cs_test_has_host(test) || test->memory == CS_MEM_WC ||
	    test->how != CS_HOW_GATED || test->unit != CS_UNIT_GBS)
		return 0;
	return CS_TAKES_CACHE |
	       (test->method == CS_METHOD_CPU ? CS_TAKES_THREADS : 0) |
	       (by_cpu ? CS_TAKES_CPU_NUMA : 0);
}

int cs_method_fits(int method, enum cs_transport via)
{
	return via == CS_TRANSPORT_AUTO ||
	       (method == CS_METHOD_STAGED) == (via == CS_TRANSPORT_STAGED);
}

int cs_test_is_within(const struct cs_test *test)
{
	return test->path == CS_PATH_LOCAL || test->path == CS_PATH_HOST_OWN;
}

uint32_t cs_test_least_agents(const struct cs_test *test)
{
	return test->path == CS_PATH_PEER || test->pattern == CS_PATTERN_GATED ? 2 : 1;
}

int cs_test_goes_back(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_BIDI ||
	       test->pattern == CS_PATTERN_BIDIEVERY;
}

int cs_test_is_list(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_ALONE || test->pattern == CS_PATTERN_ALL ||
	       test->pattern == CS_PATTERN_GATED;
}

/* ---- words ---- */

static const char *word(const char *const *words, size_t n, int index)
{
	return index >= 0 && (size_t)index < n ? words[index] : "?";
}

#define WORD(words, index) word(words, sizeof(words) / sizeof(*(words)), index)

const char *cs_path_text(int path)
{
	static const char *const words[] = { "peer", "local", "h2d",
					     "d2h",  "host",  "host" };

	return WORD(words, path);
}

int cs_method_is_divided(int method)
{
	return method == CS_METHOD_SM || method == CS_METHOD_TMA;
}

int cs_method_is_stream(int method)
{
	return method == CS_METHOD_STREAM || method == CS_METHOD_STREAMW;
}

int cs_method_is_shaped(int method)
{
	return method >= CS_METHOD_COPY2D && method <= CS_METHOD_STRIDE;
}

int cs_method_is_kernel(int method)
{
	return cs_method_is_divided(method) || method == CS_METHOD_ZEROCOPY;
}

int cs_method_is_on_chip(int method)
{
	return method == CS_METHOD_FMA || method == CS_METHOD_L2 ||
	       method == CS_METHOD_SHARED;
}

int cs_method_reports_time(int method)
{
	return method == CS_METHOD_CHASE || method == CS_METHOD_FMA;
}

const char *cs_method_text(int method)
{
	static const char *const words[] = {
		"ce",	  "cpu",     "sm",     "driver",   "peercopy",
		"staged", "tma",     "chase",  "zerocopy", "prefetch",
		"demand", "overlap", "stream", "streamw",  "fma",
		"l2",	  "shared",  "team",   "call",	   "copy2d",
		"copy3d", "sm3d",    "pack",   "chunk",	   "stride",
	};

	return WORD(words, method);
}

const char *cs_op_text(int op)
{
	static const char *const words[] = {
		"write",
		"read",
		"copy",
		"triad",
		"stride",
		"random",
		"bulk",
		"write4k",
		"enqueue",
		"once",
		"burst4k",
		"burst64k",
		"launch",
		"free",
		"load",
		"open",
		"zerocopy",
		"naive",
		"warp",
		"prefetch",
		"fp64",
		"fp32",
		"fp16",
		"prefetch-in-idle",
		"prefetch-in-busy",
		"prefetch-out-idle",
		"prefetch-out-busy",
		"fault",
		"fault-system",
		"halo",
#define CS_DRIVER_CALL(OP_, name_, ...) name_,
#define CS_HOST_CALL(OP_, name_, ...) name_,
#include "base/calls.def"
	};

	return WORD(words, op);
}

const char *cs_pattern_text(int pattern)
{
	static const char *const words[] = {
		"pair",	      "bidi",	 "shift",  "ring", "bisect",   "all-to-one",
		"one-to-all", "rounds",	 "random", "load", "bidiload", "loadflops",
		"all",	      "bidiall", "alone",  "all",  "gated",
	};

	return WORD(words, pattern);
}

const char *cs_memory_text(int memory)
{
	static const char *const words[] = { "",	   "",	      "pinned",
					     "registered", "wc",      "huge",
					     "pageable",   "managed", "system" };

	return WORD(words, memory);
}

const char *cs_unit_text(int unit)
{
	static const char *const words[] = { "GB/s",	 "us", "ms",
					     "copies/s", "ns", "GFLOP/s" };

	return WORD(words, unit);
}

int cs_unit_low_is_better(int unit)
{
	return unit == CS_UNIT_US || unit == CS_UNIT_MS || unit == CS_UNIT_NS;
}
