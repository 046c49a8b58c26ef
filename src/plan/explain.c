#include "config.h"

#include "plan/explain.h"

#define ALONE_MEANWHILE "Nothing else moves on the node."
/* By pattern: between agents; else between the host and GPUs, or within one. */
static const char *const moves[CS_PATTERNS] = {
	[CS_PATTERN_PAIR] =
		"One buffer (--size) from the memory of the row to that of the "
		"column, several copies in a row.",
	[CS_PATTERN_BIDI] = "One buffer (--size) each way between row and column at the "
			    "same time. A cell is the direction from row to column.",
	[CS_PATTERN_SHIFT] =
		"One buffer (--size) from every GPU (or arena) to another at "
		"the same time: i to i + k, for each k in turn (--pattern "
		"shift:K for one). Each sends one and gets one.",
	[CS_PATTERN_RING] = "One buffer (--size) from every GPU (or arena) to the next, "
			    "all at the same time. Each sends one and gets one.",
	[CS_PATTERN_BISECT] =
		"One buffer (--size) from every GPU (or arena) to the one "
		"half-way round, i to i + N/2, all at the same time: traffic "
		"across the middle of the node.",
	[CS_PATTERN_ALL_TO_ONE] =
		"One buffer (--size) from every other GPU (or arena) to that "
		"of the column at the same time, each to its own place. The "
		"total, from the gate to the last end, is printed below each "
		"column.",
	[CS_PATTERN_ONE_TO_ALL] =
		"One buffer (--size) from that of the row to every other GPU "
		"(or arena) at the same time, all from the same source. The "
		"total, from the gate to the last end, is printed below, by "
		"GPU.",
	[CS_PATTERN_ROUNDS] =
		"Like pair, but with as many disjoint pairs at the same time "
		"as possible, in one direction; every ordered pair has its "
		"round. If the run also has the pairs alone, this is the "
		"interference matrix: the share that each pair keeps while "
		"others run.",
	[CS_PATTERN_RANDOM] =
		"Like pair, but from each GPU (or arena) to only some others, "
		"drawn by --seed (--pattern random:K; default 2): linear in "
		"the number of GPUs.",
	[CS_PATTERN_LOAD] =
		"One buffer (--size) between the host memory and the one GPU "
		"that is measured, while every other GPU copies in the same "
		"direction between its own NUMA node and itself, in buffers of "
		"at most 64 MiB, for half as long again.",
	[CS_PATTERN_BIDILOAD] =
		"One buffer (--size) between the host memory and the one GPU "
		"that is measured, while the other direction of that GPU and "
		"both directions of every other GPU are busy, in buffers of at "
		"most 64 MiB, for half as long again.",
	[CS_PATTERN_LOADFLOPS] =
		"Like pair, one at a time, while the GPUs of the cell compute: "
		"the kernel of FP64 multiply-adds of local.fma.fp64.alone runs "
		"on all their multiprocessors, from the start of the copies "
		"until after their end. The loss compared with pair is the "
		"effect of arithmetic on the link: power, clock, memory.",
	[CS_PATTERN_EVERY] =
		"One buffer (--size) between host memory and every GPU at the "
		"same time, each with a buffer of its own.",
	[CS_PATTERN_BIDIEVERY] =
		"One buffer (--size) each way between host memory and every "
		"GPU at the same time, each with buffers of its own.",
	[CS_PATTERN_ALONE] =
		"One buffer (--size) of a GPU, from one part of its memory to "
		"another; for read and write only one side is memory. Bytes "
		"are counted once: the memory traffic of a copy is twice that.",
};

const char *cs_test_meanwhile(const struct cs_test *test)
{
	if (test->method == CS_METHOD_CHASE || test->path == CS_PATH_HOST ||
	    test->op == CS_OP_TRIAD || cs_method_is_on_chip((int)test->method) ||
	    (test->op >= CS_OP_WRITE4K && test->op != CS_OP_HALO) ||
	    cs_method_is_stream((int)test->method) || test->how == CS_HOW_OVERLAP)
		return NULL;
	if (cs_test_goes_in_rounds(test))
		return "No other pair copies, unless --schedule lets pairs "
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

#define STAGED_ISSUER                                                          \
	"No GPU has peer access: with --via staged in the whole run, else it is " \
	"disabled after all other tests. In one process the source's " \
	"GPU issues cuMemcpyPeerAsync, which the driver stages through its own " \
	"memory; with --cpu-numa, a CPU of that node makes the call. In two " \
	"processes, the source copies chunks of 8 MiB into shared pinned memory " \
	"on the destination's NUMA node or the one of --cpu-numa, and the " \
	"destination fetches them; flags that streams write and wait for " \
	"synchronise the two. The time is the destination's."
#define KERNEL                                                                 \
	" All copies of a sample are one launch; several divisions into blocks " \
	"and threads are tried at the first cell of a matrix, and the fastest is " \
	"used and recorded. Smaller copies use different places in 256 MiB, " \
	"within a GPU in 1 GiB, to avoid cache hits."
#define ZERO_COPY                                                              \
	" Always 256 blocks of 256 threads, accesses of 4 bytes, consecutive " \
	"threads on consecutive words, as in Comm|Scope; all copies of a sample " \
	"are one launch. Smaller copies use different places in 256 MiB, to " \
	"avoid cache hits."
#define ENGINE_SHARED                                                          \
	" With two directions each GPU issues its own half: one GPU that pushes and " \
	"pulls at once would share one copy engine on NVSwitch machines (H200: " \
	"198 + 396 GB/s instead of 391 + 391)."

/* By method: a write, a read. */
static const char *const issuer[CS_METHODS][2] = {
	[CS_METHOD_CE] = {
		"A copy engine of the source's GPU, by cuMemcpyAsync in the process "
		"that owns it: the source pushes." ENGINE_SHARED,
		"A copy engine of the destination's GPU, by cuMemcpyAsync in the "
		"process that owns it: the destination pulls." ENGINE_SHARED,
	},
	[CS_METHOD_SM] = {
		"A kernel on the source's GPU, with accesses of 16 bytes: the source "
		"stores." KERNEL,
		"A kernel on the destination's GPU, with accesses of 16 bytes: the "
		"destination loads." KERNEL,
	},
	[CS_METHOD_TMA] = {
		"A kernel on the source's GPU, by bulk asynchronous copies through "
		"shared memory (compute capability 9.0 and above): the source "
		"stores." KERNEL,
		"A kernel on the destination's GPU, by bulk asynchronous copies "
		"through shared memory (compute capability 9.0 and above): the "
		"destination loads." KERNEL,
	},
	[CS_METHOD_ZEROCOPY] = {
		"A kernel on the source's GPU that stores a pattern to the "
		"destination, and reads nothing." ZERO_COPY,
		"A kernel on the destination's GPU that loads the source and adds it "
		"up, and stores nothing." ZERO_COPY,
	},
	[CS_METHOD_PEERCOPY] = {
		"A copy engine of the source's GPU, by cuMemcpyPeerAsync, which "
		"takes both contexts and so needs both GPUs in one process: "
		"other pairs are skipped.", NULL
	},
	[CS_METHOD_STAGED] = { STAGED_ISSUER, NULL },
	[CS_METHOD_CPU] = {
		"A CPU thread bound to the source's NUMA node, by memcpy: the "
		"source pushes.",
		"A CPU thread bound to the destination's NUMA node, by memcpy: "
		"the destination pulls.",
	},
};

static const char *const host_issuer[CS_METHODS] = {
	[CS_METHOD_CE] = "A copy engine of the GPU, by cuMemcpyAsync in the process "
			 "that owns it. The host memory is bound to its NUMA node "
			 "(--numa), and the kernel confirms its location.",
	[CS_METHOD_SM] =
		"A kernel on the GPU, with accesses of 16 bytes straight to host "
		"memory, "
		"which is bound to its NUMA node (--numa)." KERNEL,
	[CS_METHOD_ZEROCOPY] =
		"A kernel on the GPU: in, it loads host memory and adds it up, "
		"and stores "
		"nothing; out, it stores a pattern to host memory, and reads "
		"nothing; both "
		"ways at once are one launch of 512 blocks, in which even ones "
		"load and odd "
		"ones store. The memory is bound to its NUMA node (--numa)." ZERO_COPY,
};

/* The driver's own copy between the two is what takes the time. */
static const char *const pageable_issuer =
	"The driver, by cuMemcpyAsync: its CPU code copies memory that is not "
	"page-locked through its own buffers, and blocks the calling thread. "
	"That thread is a CPU worker bound to the NUMA node of the GPU, one "
	"for each direction. The host memory is bound to its NUMA node "
	"(--numa), and the kernel confirms its location.";

static const char *const pageable_timed =
	"By CUDA events around the copies, in a stream of the worker, which "
	"starts when one store in shared memory has opened the gate; the "
	"figure includes the CPU's work. A cell is the median of at least six "
	"samples of 5 ms and ends when its 95 % interval is within "
	"--precision. The first touch is not counted.";

static const char *const timed[] = {
	[CS_BACKEND_CUDA] =
		"By CUDA events around the copies, on the stream of the GPU "
		"that issues them. Everything is enqueued behind a closed "
		"gate, which one store in shared memory opens, so enqueueing "
		"is not timed. A cell is the median of at least six samples of "
		"5 ms and ends when its 95 % interval is within --precision. "
		"The first touch is not counted.",
	[CS_BACKEND_CPU] =
		"By the kernel's monotonic clock around the copies, in the "
		"thread that makes them, after a gate in shared memory has "
		"opened. A cell is the median of at least six samples of 5 ms "
		"and ends when its 95 % interval is within --precision. The "
		"first touch is not counted.",
};

static const char *const both_ways =
	"The total of both directions, from the gate to the end of the later "
	"one, and their overlap are given too.";

static const char *const both_go_on =
	"The direction that ends first continues to copy, untimed, until the "
	"other has ended: each is timed while the other copies. Their sum is "
	"given too.";

static const char *const all_at_once =
	"The total of all bytes, from the gate to the last end, and the "
	"overlap are given too; if the run also has the pairs alone, so is the "
	"share of their rate that is left.";

/* What is compared of a sample of several copies, into the memory of a GPU. */
#define OF_EACH_ENGINE                                                            \
	"Copies of a sample that are 512 MiB or less together, into a GPU that " \
	"sends nothing at the same time, have a place each, and all are " \
	"compared. Other copies overwrite each other in one place: the last copy " \
	"of each sample is compared, and, if they fit, all of a cell's first " \
	"sample, which does not count (--verify)."
#define OF_EACH_KERNEL                                                            \
	"Copies use as many places as --spread has room for, and the last copy " \
	"into each place is compared (--verify)."
#define OF_EACH_CPU                                                               \
	"Copies of a sample overwrite each other in one place: the last one is " \
	"compared (--verify)."

static const char *const checked_host[] = {
	[CS_METHOD_CE] =
		"The GPU compares every byte that arrives on it. " OF_EACH_ENGINE
		" The CPU poisons host memory and compares what arrives: the "
		"last copy of a sample, of more than 4 MiB one block of 4 KiB "
		"out of 64, and everything after the last sample.",
	[CS_METHOD_SM] =
		"The GPU compares every byte that arrives on it. " OF_EACH_KERNEL
		" The CPU poisons host memory and compares what arrives: of "
		"more than 4 MiB one block of 4 KiB out of 64, and everything "
		"after the last sample.",
	[CS_METHOD_ZEROCOPY] =
		"The sum of what is read is compared with that of the pattern, "
		"which another kernel computes without reading: a kernel that "
		"reads nothing, or not all, fails the cell. The CPU poisons "
		"host memory and compares what arrives: of more than 4 MiB one "
		"block of 4 KiB out of 64, and everything after the last "
		"sample.",
};

#define BY_ITS_GPU                                                                \
	"Before each sample the destination's GPU poisons the buffer; afterwards it "    \
	"compares every byte with the source's pattern, in the process that owns " \
	"it and not over the link that wrote it. "

static const char *const checked[CS_METHODS] = {
	[CS_METHOD_CE] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_PEERCOPY] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_STAGED] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_SM] = BY_ITS_GPU OF_EACH_KERNEL,
	[CS_METHOD_TMA] = BY_ITS_GPU OF_EACH_KERNEL,
	[CS_METHOD_ZEROCOPY] =
		"The destination's GPU poisons the destination before a write "
		"and compares every byte afterwards. " OF_EACH_KERNEL
		" The sum of what is read is compared with that of the "
		"pattern, which another kernel computes without reading: a "
		"kernel that reads nothing, or not all, fails the cell.",
	[CS_METHOD_CPU] =
		"Before each sample the destination's thread poisons the buffer; "
		"afterwards it compares every byte with the source's pattern. " OF_EACH_CPU,
};

#define ENQUEUED                                                              \
	"The agent of the copying GPU, in the thread that drives it, bound to "  \
	"the GPU's NUMA node; the copies go to the next GPU."
#define BY_CALL                                                               \
	"By CLOCK_MONOTONIC_RAW around each call, minus the reading of the " \
	"clock: 8 batches of 64 calls, the queue emptied between them, so " \
	"that no call waits for room. All agents of a batch begin at one word "  \
	"in shared memory that their CPUs poll. A first batch is not counted."
#define BY_BURST                                                              \
	"By CLOCK_MONOTONIC_RAW from the first call to the end of the last of "  \
	"512 copies; eight times after one that is not counted."
#define ARRIVED                                                               \
	"At the end the destination's owner compares every byte with the " \
	"source's pattern (--verify)."
#define MULTIPLIED(type)                                                      \
	"Nothing: each thread follows eight sequences x = x * x + c of " type    \
	", by fused multiply-adds and without tensor cores. A step counts as "  \
	"two operations."
#define ON_ALL                                                                \
	"A kernel of one block of 1,024 threads on every multiprocessor of the " \
	"GPU, launched by the process that owns it."
#define FMA_TIMED                                                             \
	"By CUDA events around the kernel, behind the gate, as the rates are. "  \
	"A cell is the median of at least six samples of 5 ms."
#define FMA_CHECKED                                                           \
	"The host computes the same sequences; the results of all threads must " \
	"be equal to its own, bit by bit. The sequences are chaotic: one step " \
	"too few gives another result."
#define PREFETCHED(where, stream)                                                \
	{                                                                        \
		"Managed memory of --size, by one cuMemPrefetchAsync to " where  \
		"; the figure is how long the call blocks the CPU that makes it." \
		" done is when everything has arrived.",                                   \
		"The agent of the GPU, in the thread that drives it, bound to "  \
		"the GPU's NUMA node.",                                          \
		"By CLOCK_MONOTONIC_RAW around the call, minus the reading of " \
		"the clock; six times after one that is not counted. " \
		stream,                                                          \
		NULL,                                                            \
		"Before each call all pages are at the other place, and after it " \
		"where they were sent, as the kernel and a pass of the GPU " \
		"prove, with every byte unchanged (--verify). Otherwise the cell " \
		"is not-moved, without a figure.", \
	}
#define IDLE_STREAM "Its stream is idle, and done counts from the call."
#define BUSY_STREAM                                                              \
	"Its stream waits for a word that is written when the call has returned; " \
	"done counts from there. A call that waits for its stream is cancelled " \
	"after 5 s."
#define NOTHING_MOVES "Nothing moves between GPUs, so there is nothing to check."

#define ON_CHIP_CHECKED                                                       \
	"The sum of everything read must be that of the pattern, times the " \
	"number of reads, which another kernel computes without reading."
static const struct cs_explanation triad = {
	"Three arrays of a third of --size each (up to 32 bytes are left over) "
	"in the "
	"memory of a GPU: a = b + 3 * c in FP64, by fused multiply-adds. The "
	"bytes of all three count, as in BabelStream's triad. " ALONE_MEANWHILE,
	"A kernel on the GPU, with accesses of 16 bytes." KERNEL,
	FMA_TIMED,
	NULL,
	"Before each sample the GPU poisons a; afterwards it compares every "
	"word with the result for b and c, which are numbers made of the "
	"pattern's words (--verify).",
};

static const struct cs_explanation on_chip[] = {
	[0] = {
		"Only loads of 16 bytes, bypassing the first level of cache, "
		"from a buffer that fits the GPU's second-level cache: a power "
		"of 2 of at most 16 MiB and a third of it, read repeatedly.",
		ON_ALL, FMA_TIMED, NULL, ON_CHIP_CHECKED,
	},
	[CS_METHOD_SHARED - CS_METHOD_L2] = {
		"Only loads of 16 bytes from 32 KiB of shared memory on every "
		"multiprocessor, repeatedly; the figure is the total of all "
		"multiprocessors.",
		ON_ALL, FMA_TIMED, NULL, ON_CHIP_CHECKED,
	},
};

/* What has nothing of the axes but its op. */
static const struct cs_explanation by_op[] = {
	[CS_OP_WRITE4K] = {
		"4 KiB from the memory of the row's GPU to that of the "
		"column's, 512 times in a row: the time of one copy in a full "
		"queue. Nothing else moves on the node meanwhile.",
		"A copy engine of the source's GPU, by cuMemcpyAsync in the "
		"process that owns it: the source pushes.",
		"By CUDA events around the copies, behind the gate, as the "
		"rates are; the time is that of all copies divided by their "
		"number.",
		NULL, "As with peer.ce.write.pair.",
	},
	[CS_OP_ENQUEUE] = {
		"One copy of 4 KiB to the next GPU for each call; the figure "
		"is the CPU's time in cuMemcpyAsync, not the copy's.",
		ENQUEUED, BY_CALL, NULL, ARRIVED,
	},
	[CS_OP_ONCE] = {
		"One copy (--size) at a time: queued copies hide the time "
		"before the first byte and after the last.",
		"A copy engine of the source's GPU, or of the only GPU for "
		"copies with the host, by cuMemcpyAsync in the process that "
		"owns it.",
		"By CLOCK_MONOTONIC_RAW from the call of cuMemcpyAsync to the "
		"return of cuStreamSynchronize: 8 batches of as many copies as "
		"take 2 ms, 64 at most; a first batch is not counted.",
		NULL, ARRIVED,
	},
	[CS_OP_LAUNCH] = {
		"Nothing: a kernel of one thread that writes one word; the "
		"figure is the CPU's time in cuLaunchKernel, not the kernel's.",
		"The agent of the GPU, in the thread that drives it, bound to "
		"the GPU's NUMA node.",
		BY_CALL, NULL, NOTHING_MOVES,
	},
	[CS_OP_BURST4K] = {
		"512 copies of 4 KiB to the next GPU, enqueued without a pause.",
		ENQUEUED, BY_BURST, NULL, ARRIVED,
	},
	[CS_OP_BURST64K] = {
		"512 copies of 64 KiB to the next GPU, enqueued without a pause.",
		ENQUEUED, BY_BURST, NULL, ARRIVED,
	},
	[CS_OP_FREE] = {
		"Nothing. While a stream of every other GPU waits at the "
		"closed gate, one agent frees 2 MiB of its own GPU. cuMemFree "
		"waits for the work of the whole process (H200, driver 580): "
		"in a process with one GPU the call returns at once, in one "
		"that drives other GPUs too when the gate has opened.",
		"The agent of the GPU.",
		"By CLOCK_MONOTONIC_RAW around the call; six times after one "
		"that is not counted. The gate opens when the call has "
		"returned, and after 20 ms in any case: a figure of 20 ms is "
		"the whole wait.",
		NULL, NOTHING_MOVES,
	},
	[CS_OP_LOAD] = {
		"Nothing. Like local.driver.free.gated, but the agent loads "
		"this program's kernels once more.",
		"The agent of the GPU.",
		"By CLOCK_MONOTONIC_RAW around cuModuleLoadData, as "
		"local.driver.free.gated.",
		NULL, NOTHING_MOVES,
	},
	[CS_OP_OPEN] = {
		"Access to a buffer of 16 MiB that the column's GPU has just "
		"allocated: its owner exports it, the row's agent opens it, "
		"writes to it twice, closes it and opens it again. Between "
		"processes this is CUDA IPC; within one process there is only "
		"peer access, which is enabled already.",
		"The row's agent; the column's allocates, exports and frees.",
		"By CLOCK_MONOTONIC_RAW around each call, six times after one "
		"that is not counted; the second copy by CUDA events. "
		"first-open is the first opening of the pair in this run, "
		"which happens only once.",
		NULL,
		"Before it is freed, its owner compares every byte of the "
		"buffer with the source's pattern (--verify).",
	},
	[CS_OP_PREFETCH_IN_IDLE] = PREFETCHED("the GPU", IDLE_STREAM),
	[CS_OP_PREFETCH_IN_BUSY] = PREFETCHED("the GPU", BUSY_STREAM),
	[CS_OP_PREFETCH_OUT_IDLE] = PREFETCHED("the host", IDLE_STREAM),
	[CS_OP_PREFETCH_OUT_BUSY] = PREFETCHED("the host", BUSY_STREAM),
	[CS_OP_FP64] = { MULTIPLIED("FP64"), ON_ALL, FMA_TIMED, NULL, FMA_CHECKED },
	[CS_OP_FP32] = { MULTIPLIED("FP32"), ON_ALL, FMA_TIMED, NULL, FMA_CHECKED },
	[CS_OP_FP16] = { MULTIPLIED("FP16, two in a register"), ON_ALL, FMA_TIMED, NULL,
			 FMA_CHECKED },
};

#define IN_BATCHES                                                               \
	"By CLOCK_MONOTONIC_RAW around a batch of up to 64 calls, as many as " \
	"take 2 ms and need at most 64 MiB together, at least one; the figure is " \
	"the time of one, minus the reading of the clock. Eight batches count, " \
	"after two that choose the number of calls. Objects that calls need are " \
	"made before a batch, and what they leave is released after it, both " \
	"untimed; all agents of a batch begin at one word in shared memory."
static const struct cs_explanation call_of_driver = {
	"Nothing that counts: the figure is the CPU's time in the call, not "
	"the time of the GPU's work.",
	"The agent of the GPU, in the thread that drives it, bound to the "
	"GPU's NUMA node.",
	IN_BATCHES,
	NULL,
	"A call that returns an error fails the cell; one that the driver does "
	"not have skips it.",
};
static const struct cs_explanation call_of_host = {
	"Nothing: the figure is the CPU's time in the call of the C library.",
	"The thread of an agent, bound to its NUMA node.",
	IN_BATCHES,
	NULL,
	"A call that fails has no figure.",
};

#define CHASED                                                                 \
	"One thread at a time, on every multiprocessor in turn, by the GPU of " \
	"the column (in a local test its own): each load begins when the one " \
	"before it has returned."
#define CHASE_TIMED                                                            \
	"By the GPU's own clock inside the kernel, behind the gate as the rates "  \
	"are; the mean over all loads of a sample, after some that are not counted."
#define CHASE_CHECKED                                                          \
	"The end of a chase is known beforehand: one wrong value on the way and " \
	"it ends elsewhere, which fails the cell."

#define OF_MALLOC                                                                 \
	"memory from malloc, which GPUs may use by HMM or ATS (pageableMemoryAccess)"
#define FAULT_IN(memory_)                                                         \
	"One access of 8 bytes after the other to " memory_ " of --size, 2 MiB " \
		"apart, with all pages at the row: each is a page fault, and the " \
		"next begins when it has been served. Other pages that the " \
		"driver moves with a page do not help the next fault."
#define FAULT_PROVEN                                                              \
	"One thread of the column's GPU, by exchanges; for pages to the host one " \
	"CPU thread, by stores.", \
	"By CUDA events around the kernel, behind the gate as the rates are, or " \
	"by the " \
	"CPU's clock; divided by the number of faults.",                                  \
	NULL,                                                                             \
	"Before each sample all pages are at the row, after it the touched ones " \
	"are at the column, according to the kernel; between GPUs this is not " \
	"proven, because so few pages move. " \
	"All bytes are compared (--verify)."
static const struct cs_explanation chases[] = {
	[CS_OP_STRIDE] = {
		"Only loads of 8 bytes, one after the other, through 2 MiB in "
		"order, 128 bytes apart: nvbandwidth's order and size.",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
	[CS_OP_RANDOM] = {
		"Only loads of 8 bytes, one after the other, through --size "
		"bytes, 128 bytes apart, in one cycle through all of them in "
		"an order by --seed: no prefetching, and no hits beyond the "
		"size of a cache.",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
	[CS_OP_FAULT] = { FAULT_IN("managed memory"), FAULT_PROVEN },
	[CS_OP_FAULT_SYSTEM] = { FAULT_IN(OF_MALLOC), FAULT_PROVEN },
	[CS_OP_BULK] = {
		"Only bulk asynchronous copies of 16 bytes, one after the "
		"other, through 2 MiB in order, 128 bytes apart (compute "
		"capability 9.0 and above).",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
};

static const struct cs_explanation numa_nodes = {
	"One buffer (--size) of host memory from the row's NUMA node to the "
	"column's; the diagonal is within one.",
	"One CPU worker, bound to the column's NUMA node, by memcpy.",
	"By the kernel's monotonic clock around the copies, in the thread that "
	"makes them, after a gate in shared memory has opened.",
	NULL,
	"As with h2d tests: a part after every sample, everything after the last.",
};

static const struct cs_explanation numa_nodes_chase = {
	"Only loads of 8 bytes, one after the other, through --size bytes of "
	"the row's NUMA node, 128 bytes apart, in an order by --seed, in huge "
	"pages if the kernel provides them. Caches are flushed before each "
	"sample, and no line is loaded twice. Intel MLC's latency matrix "
	"measures the same.",
	"One CPU worker, bound to the column's NUMA node: each load begins "
	"when the one before it has returned.",
	"By the kernel's monotonic clock around at most 32768 loads, after a "
	"gate in shared memory has opened; the mean of a sample.",
	NULL,
	"The end of a chase is known beforehand: one wrong value on the way "
	"and it ends elsewhere, which fails the cell.",
};

#define BY_ALL_CORES(numa)                                                        \
	"A CPU worker for each core of " numa " NUMA node, at most 256, bound to it."
#define CORES_TIMED                                                               \
	"By the kernel's monotonic clock, from the begin of the first worker to " \
	"the end of the last one, after a gate in shared memory has opened."
static const struct cs_explanation numa_nodes_read = {
	"One buffer (--size) of the row's NUMA node, which workers read, a "
	"part each, in words of 8 bytes.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	"The sum of everything read must be that of the pattern (--verify).",
};

#define AS_WITH_H2D                                                               \
	"As with h2d tests: a part after every sample, everything after the last."
static const struct cs_explanation numa_nodes_write = {
	"One buffer (--size) of the column's NUMA node, a part for each "
	"worker, by ordinary stores of 16 bytes: each line is read before it "
	"is written, which is not counted.",
	BY_ALL_CORES("the row's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_copy = {
	"One buffer (--size) of the row's NUMA node to the column's, a part "
	"for each worker, by memcpy. STREAM's copy counts its bytes twice.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_triad = {
	"a = b + 3 * c in FP64, three arrays that share --size, b and c of the "
	"row's NUMA node, a of the column's, a part of each for each worker, "
	"by ordinary stores. STREAM's triad counts the same bytes.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_compute = {
	MULTIPLIED("FP64") " Vectors are the widest that the CPU has: AVX-512 or "
			   "AVX2 with "
			   "FMA, NEON; else one by one.",
	BY_ALL_CORES("the"),
	CORES_TIMED,
	NULL,
	"A plain loop computes the same sequences; the results of all workers "
	"must be equal to its own, bit by bit.",
};

static const struct cs_explanation numa_nodes_by_driver = {
	"One buffer (--size) of pageable host memory of the row's NUMA node to "
	"pinned memory of the column's; the diagonal is within one.",
	"The driver, by cuMemcpyAsync, called by a CPU worker that is bound to "
	"the column's NUMA node.",
	"By the kernel's monotonic clock, in the worker, from its first call "
	"to the end of the last copy, after a gate in shared memory has opened.",
	NULL,
	"As with h2d tests: a part after every sample, everything after the last.",
};

#define OF_PAGES                                                                  \
	"Before each sample a prefetch brings the pages back. After each sample " \
	"their location is checked: the kernel says of each page whether it is " \
	"in host memory, and the speed of a pass by the GPU shows whether all of " \
	"them are in its own memory. If pages of a sample were not where they " \
	"should be, the cell is not-moved, without a figure. Then every byte is " \
	"compared, also in untouched pages (--verify)."
#define OF_RANGE(memory_)                                                         \
	"Pages of one range of " memory_ " (--size) for each cell, from the " \
		"memory of the " \
	"row to that of the column"
#define TOUCHED_ONCE                                                              \
	", once in a sample: one store of 8 bytes in each page, and what the " \
	"driver moves with it. The figure counts all bytes of the range."

static const struct cs_explanation prefetch = {
	OF_RANGE("managed memory") ", once in a sample.",
	"The driver, by cuMemPrefetchAsync in a stream of the GPU (between "
	"GPUs that of the column), in the process that allocated the range, "
	"which must drive both GPUs. Pages to the host go to its NUMA node "
	"(--numa), if the driver supports that.",
	"By CUDA events around the prefetch, on that stream. It is enqueued "
	"behind a closed gate, which one store in shared memory opens. A cell "
	"is the median of at least six samples and ends when its 95 % interval "
	"is within 2 %, or --precision.",
	NULL,
	OF_PAGES,
};

static const struct cs_explanation demand = {
	OF_RANGE("managed memory") TOUCHED_ONCE,
	"Touches are by a kernel on the GPU of the column, 256 blocks of 256 "
	"threads, one page per warp, as in Comm|Scope; for pages to the host, "
	"by CPU workers (--threads) on the NUMA node of the GPU (--cpu-numa).",
	"A GPU kernel is timed by CUDA events, behind a closed gate, which one "
	"store in shared memory opens; workers by the system's monotonic "
	"clock, from the begin of the first to the end of the last. A cell is "
	"the median of at least six samples and ends when its 95 % interval is "
	"within 2 %, or --precision.",
	NULL,
	OF_PAGES,
};

static const struct cs_explanation overlap_of_copies = {
	"Data of --size in 16 tiles, from pinned host memory to the GPU, where "
	"some kernels (--kernels) work on each tile, and back to other host "
	"memory: in one stream; in three streams (in, kernels, out), which the "
	"CPU joins after each tile; and in three rotating streams: an idle "
	"stream requests the next tile, and a tile goes back after its "
	"kernels, in their stream.",
	"The agent of the GPU, in the thread that drives it, bound to the "
	"GPU's NUMA node.",
	"By CLOCK_MONOTONIC_RAW from the first call to the end of the last "
	"stream; six times after one that is not counted. The figure is the "
	"time of the rotating streams. The times of kernels alone, transfers "
	"alone, one stream and three streams are given too, and the ideal, "
	"which is the longer of kernels alone and transfers alone.",
	NULL,
	"A kernel turns the pattern of one key into that of the next, so the "
	"data that comes back must have the pattern of the last key: a kernel "
	"or a tile that is lost, late or repeated is found. On the host every "
	"byte of the first round is compared, and in other rounds one block of "
	"4 KiB out of 64, which is then poisoned; in the GPU every byte is "
	"compared (--verify).",
};

#define STREAM_TIMED                                                              \
	"By CUDA events around the transfer and the kernel, on one stream of the " \
	"GPU, enqueued behind a closed gate; the rate counts the bytes of the " \
	"data. A sample has one transfer, because data that is already there " \
	"needs none. A cell is " \
	"the median of at least six samples and ends when its 95 % interval is " \
	"within --precision."
#define STREAM_BY                                                                 \
	"A kernel that fills the GPU, in elements of 4, 8 or 16 bytes " \
	"(--element), each " \
	"once: "
#define IN_ROW "neighbouring threads take neighbouring elements, which lie "
#define STREAM_READ                                                               \
	"The sum of what the kernel read is compared with that of the pattern, " \
	"which another kernel computes without reading: every byte, in every " \
	"sample."

static const struct cs_explanation consumed_copies = {
	"Data of --size in pinned host memory of the row, copied to the GPU of "
	"the column, where a kernel reads it.",
	STREAM_BY IN_ROW "in the memory of the GPU.",
	STREAM_TIMED,
	NULL,
	STREAM_READ,
};
static const struct cs_explanation consumed_in_place = {
	"Data of --size in pinned host memory of the row, which a kernel of "
	"the column's GPU reads in place.",
	STREAM_BY IN_ROW "in host memory.",
	STREAM_TIMED,
	NULL,
	STREAM_READ,
};
static const struct cs_explanation produced_copies = {
	"Data of --size in pinned host memory of the row, copied to the GPU of "
	"the column, where a kernel overwrites it: the cost for a program that "
	"transfers data which it does not read.",
	STREAM_BY IN_ROW "in the memory of the GPU.",
	STREAM_TIMED,
	NULL,
	"The GPU compares every byte that the kernel wrote, which has another "
	"pattern than the source (--verify).",
};
static const struct cs_explanation produced_in_place = {
	"Data of --size, which a kernel of the row's GPU writes to pinned host "
	"memory of the column.",
	STREAM_BY IN_ROW "in host memory.",
	STREAM_TIMED,
	NULL,
	"The CPU poisons host memory and compares what arrives: of more than 4 "
	"MiB one block of 4 KiB out of 64, and everything after the last "
	"sample.",
};

static const char *const overlap_of_pages =
	"Managed data of --size in 16 tiles, like local.overlap.copy.alone, by "
	"cuMemPrefetchAsync to the GPU and back to the host memory next to it: "
	"the same pages.";
static const char *const overlap_proven =
	"A kernel turns the pattern of one key into that of the next, so the "
	"data that comes back must have the pattern of the last key "
	"(--verify). Before and after each schedule all pages are on the host, "
	"according to the kernel; before the first round a prefetch is proven "
	"to bring them to the GPU. Otherwise the cell is not-moved, without a "
	"figure.";

#define MANAGED_OF \
	"Data of --size in managed memory, whose pages are brought to the host " \
	"memory of the row before each sample, and proven to be there"
#define BY_FAULTS \
	"; a kernel of the column's GPU works on them, and its faults move them."
#define MANAGED_CHECKED \
	"The sum of what was read is compared with that of the pattern, every "  \
	"byte; what is written has another pattern in each sample. " OF_PAGES
static const struct cs_explanation by_pages[] = {
	[0] = {
		MANAGED_OF BY_FAULTS,
		STREAM_BY "all threads go through them side by side, so that "
			"faults are scattered and many are for one page.", STREAM_TIMED, NULL, MANAGED_CHECKED,
	},
	[CS_OP_WARP - CS_OP_NAIVE] = {
		MANAGED_OF BY_FAULTS,
		STREAM_BY "each warp takes 64 KiB at a time, so that few faults "
			"are for one page.", STREAM_TIMED, NULL, MANAGED_CHECKED,
	},
	[CS_OP_PREFETCH - CS_OP_NAIVE] = {
		MANAGED_OF "; cuMemPrefetchAsync, and after it a kernel of the "
			"column's GPU that works on them.",
		STREAM_BY IN_ROW "in the memory of the GPU.", STREAM_TIMED, NULL,
		MANAGED_CHECKED,
	},
};

#define TO_HIGH_SIDE                                                                  \
	"A face of a grid of elements (--shape, --element): from the low side of the "     \
	"grid of the row to the high side of that of the column, as in programs " \
	"with halos. 512x512x512:2:x is the two elements with the lowest x of " \
	"each row. "
#define OF_EACH \
	"A small block out of every so many bytes (--shape) of a buffer of --size"
#define OF_BYTES "The rate counts only these bytes. "
#define PLANES_ALIKE "Rows at a constant distance count as one plane. "
#define ITS_SHAPE_CHECKED                                                             \
	"Before each sample the destination's owner poisons the whole buffer; " \
	"afterwards " \
	"it compares every byte inside of the shape with the source's pattern, " \
	"and every " \
	"byte outside with the poison: a write outside of the shape fails the " \
	"cell. In host memory everything is compared after the last sample, and " \
	"4 MiB of it after each other sample."

static const char *const shaped_issuer[][2] = {
	{ "A copy engine, by one cuMemcpy2DAsync of the sending GPU, or of the "
	  "only one for host memory. " PLANES_ALIKE },
	{ "A copy engine, by cuMemcpy3DPeerAsync of the sending GPU; by "
	  "cuMemcpy3DAsync if the other end is in another process, or host "
	  "memory." },
	{ "A kernel of the sending GPU, or of the only one for host memory. "
	  "Neighbouring threads take neighbouring elements, 16 bytes each, "
	  "or 8 or 4 in short rows." },
	{ "A kernel of the row's GPU packs it, cuMemcpyAsync copies it to the "
	  "column's GPU, where another kernel unpacks it, one after the "
	  "other. Streams wait for words in host memory, which tell each "
	  "GPU that the other is done." },
	{ "A kernel of the row's GPU, neighbouring threads take neighbouring "
	  "elements.",
	  "A kernel of the column's GPU, neighbouring threads take neighbouring "
	  "elements." },
	{ "A kernel of the row's GPU, one element per thread.",
	  "A kernel of the column's GPU, one element per thread." },
};

static void explain_shaped(const struct cs_test *test, struct cs_explanation *out)
{
	const int blocks = test->method == CS_METHOD_CHUNK ||
			   test->method == CS_METHOD_STRIDE;

	out->moves = !blocks ?
			     TO_HIGH_SIDE OF_BYTES :
		     test->method == CS_METHOD_CHUNK ?
			     OF_EACH
			     ", to the same places of another: 64/128 is 64 out of "
			     "128. " OF_BYTES :
			     "One element out of every so many bytes (--shape) of a "
			     "buffer of --size, to the same places of another: 4/64 "
			     "is 4 out of 64. " OF_BYTES;
	out->issuer = shaped_issuer[test->method - CS_METHOD_COPY2D]
				   [test->op == CS_OP_READ && blocks];
	out->timed = test->method == CS_METHOD_PACK ?
			     "By CUDA events of the GPU that unpacks, from the gate "
			     "to the end of the last: all three steps, and the "
			     "synchronisation. The time of each step (pack_us, "
			     "transfer_us, unpack_us) is by events of the GPU that "
			     "does it, around the steps of a sample's last copy." :
			     timed[test->backend];
	out->timed_both = NULL;
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
		return all_at_once;
	default:
		return NULL;
	}
}

void cs_test_explain(const struct cs_test *test, struct cs_explanation *out)
{
	int host = cs_test_has_host(test);

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
		if (test->op == CS_OP_PREFETCH) {
			out->moves = overlap_of_pages;
			out->checked = overlap_proven;
		}
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
			       (test->path == CS_PATH_HOST ? numa_nodes_chase :
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
