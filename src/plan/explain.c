#include "config.h"

#include "plan/explain.h"

#define ALONE_MEANWHILE "Nothing else moves on the node."
/* By pattern: between agents; else between the host and GPUs, or within one. */
static const char *const moves[CS_PATTERNS] = {
	[CS_PATTERN_PAIR] =
		"One buffer (--size) from the memory of the row to that of the column, "
		"several copies in a row.",
	[CS_PATTERN_BIDI] =
		"One buffer (--size) each way between row and column at the same "
		"time. A cell is the direction from row to column.",
	[CS_PATTERN_SHIFT] =
		"One buffer (--size) from every GPU (or arena) to another at the same "
		"time: i to i + k, for each k in turn (--pattern shift:K for one). Each "
		"sends one and gets one.",
	[CS_PATTERN_RING] =
		"One buffer (--size) from every GPU (or arena) to the next, all at the "
		"same time. Each sends one and gets one.",
	[CS_PATTERN_BISECT] =
		"One buffer (--size) from every GPU (or arena) to the one half-way "
		"round, i to i + N/2, all at the same time: what crosses the middle of "
		"the node.",
	[CS_PATTERN_ALL_TO_ONE] =
		"One buffer (--size) from every other GPU (or arena) to that of the "
		"column at the same time, each to a place of its own. The total, "
		"from the gate to the last end, stands below each column.",
	[CS_PATTERN_ONE_TO_ALL] =
		"One buffer (--size) from that of the row to every other GPU (or arena) "
		"at the same time, all from the same source. The total, from the gate "
		"to the last end, stands below, by GPU.",
	[CS_PATTERN_ROUNDS] =
		"As pair, but as many pairs at the same time as there are with no GPU "
		"(or arena) in two of them, one way only; every ordered pair has its "
		"round. Where the run has the pairs alone too, this is the "
		"interference matrix: what each pair keeps when others run.",
	[CS_PATTERN_RANDOM] =
		"As pair, but each GPU (or arena) only to some others, drawn by --seed "
		"(--pattern random:K; 2 unless said): linear in the number of GPUs.",
	[CS_PATTERN_LOAD] =
		"One buffer (--size) between the host memory and the one GPU that is "
		"measured, while every other GPU moves the same way between its own "
		"NUMA node and itself, in buffers of at most 64 MiB, half as long again.",
	[CS_PATTERN_BIDILOAD] =
		"One buffer (--size) between the host memory and the one GPU that is "
		"measured, while the other direction of that GPU and both of every "
		"other one are busy, in buffers of at most 64 MiB, half as long again.",
	[CS_PATTERN_LOADFLOPS] =
		"As pair, one at a time, while the GPUs of the cell compute: a kernel of FP64 "
		"multiply-adds, that of local.fma.fp64.alone, on all their multiprocessors, "
		"which begins with the copies and ends after them. What is lost beside "
		"pair is what arithmetic takes from the link: power, clock, memory.",
	[CS_PATTERN_EVERY] =
		"One buffer (--size) between host memory and every GPU at the same time, "
		"each with a buffer of its own.",
	[CS_PATTERN_BIDIEVERY] =
		"One buffer (--size) each way between host memory and every GPU at the "
		"same time, each with buffers of its own.",
	[CS_PATTERN_ALONE] =
		"One buffer (--size) of a GPU, from one part of its memory to another; "
		"of read and write only one side is memory. Bytes are counted once: "
		"a copy is twice that in memory traffic.",
};

const char *cs_test_meanwhile(const struct cs_test *test)
{
	if (test->method == CS_METHOD_CHASE || test->path == CS_PATH_HOST ||
	    test->op == CS_OP_TRIAD || cs_method_is_on_chip((int)test->method) ||
	    (test->op >= CS_OP_WRITE4K && test->op != CS_OP_HALO) ||
	    cs_method_is_stream((int)test->method) || test->how == CS_HOW_OVERLAP)
		return NULL;
	if (cs_test_goes_in_rounds(test))
		return "No other pair moves anything, unless --schedule has pairs with "
		       "no GPU in common run at the same time: auto from 16 pairs of a "
		       "test on, where three rounds have shown that no figure changes by "
		       "more than 0.5 %. The heading of the matrix and each result say "
		       "which it was.";
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
	"No GPU has peer access: in the whole run with --via staged, else it is "  \
	"taken back when all other tests are done. In one process the source's "   \
	"GPU issues cuMemcpyPeerAsync, which the driver stages through memory of "   \
	"its own; where --cpu-numa names a node, a CPU of it makes the "               \
	"call. In two, the source copies chunks of 8 MiB into pinned memory that "     \
	"both share, on the destination's NUMA node or on the one that is named, "    \
	"the destination fetches them, and flags that streams write and wait for "    \
	"keep them in step; the time is the destination's."
#define KERNEL                                                                 \
	" All copies of a sample are one launch; the division into blocks and " \
	"threads is tried at the first cell of a matrix, the fastest is kept and " \
	"recorded. Copies below 256 MiB go through as many places as make that, "  \
	"so that no cache answers."
#define ZERO_COPY                                                              \
	" Always 256 blocks of 256 threads, accesses of 4 bytes, consecutive "   \
	"threads on consecutive words, as Comm|Scope has it; all copies of a "   \
	"sample are one launch. Copies below 256 MiB go through as many places " \
	"as make that, so that no cache answers."
#define ENGINE_SHARED                                                          \
	" Of two directions each GPU issues its own half: one GPU that pushes and " \
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
		"A copy engine of the source's GPU, by cuMemcpyPeerAsync, which is "
		"told both contexts and so needs both GPUs in one process: other pairs "
		"are skipped.", NULL
	},
	[CS_METHOD_STAGED] = { STAGED_ISSUER, NULL },
	[CS_METHOD_CPU] = {
		"A CPU thread bound to the source's NUMA node, by memcpy: the source "
		"pushes.",
		"A CPU thread bound to the destination's NUMA node, by memcpy: the "
		"destination pulls.",
	},
};

static const char *const host_issuer[CS_METHODS] = {
	[CS_METHOD_CE] =
		"A copy engine of the GPU, by cuMemcpyAsync in the process that owns "
		"it. The host memory is bound to its NUMA node (--numa), and the "
		"kernel is asked where it lies.",
	[CS_METHOD_SM] =
		"A kernel on the GPU, with accesses of 16 bytes straight to host memory, "
		"which is bound to its NUMA node (--numa)." KERNEL,
	[CS_METHOD_ZEROCOPY] =
		"A kernel on the GPU: in, it loads host memory and adds it up, and stores "
		"nothing; out, it stores a pattern to host memory, and reads nothing; both "
		"ways at once are one launch of 512 blocks, in which even ones load and odd "
		"ones store. The memory is bound to its NUMA node (--numa)." ZERO_COPY,
};

/* The driver's own copy between the two is what takes the time. */
static const char *const pageable_issuer =
	"The driver, by cuMemcpyAsync: its CPU code copies memory that is not page-locked "
	"through buffers of its own, and holds up the thread that asks. That is a CPU worker "
	"bound to the NUMA node of the GPU, one for each direction. The host memory is "
	"bound to its NUMA node (--numa), and the kernel is asked where it lies.";

static const char *const pageable_timed =
	"By CUDA events around the copies, in a stream of the worker's: it asks when one "
	"store in shared memory has opened the gate, so the CPU's work is in the figure. A "
	"cell is the median of at least six samples of 5 ms and ends when its 95 % interval "
	"reaches no further from it than --precision. The first touch is apart.";

static const char *const timed[] = {
	[CS_BACKEND_CUDA] =
		"By CUDA events around the copies, on the stream of the GPU that "
		"issues them. All is enqueued behind a closed gate, which one "
		"store in shared memory opens, so no enqueueing is timed. A cell "
		"is the median of at least six samples of 5 ms and ends when "
		"its 95 % interval reaches no further from it than --precision. "
		"The first touch is apart.",
	[CS_BACKEND_CPU] =
		"By the kernel's monotonic clock around the copies, in the thread "
		"that makes them, after a gate in shared memory has opened. A cell "
		"is the median of at least six samples of 5 ms and ends when "
		"its 95 % interval reaches no further from it than --precision. "
		"The first touch is apart.",
};

static const char *const both_ways =
	"Both directions together, from the gate to the end of the later one, are given "
	"beside, with how much they overlapped.";

static const char *const both_go_on =
	"The direction that ends first goes on copying, untimed, until the other has ended: "
	"each is timed while the other copies. Their sum is given beside.";

static const char *const all_at_once =
	"All bytes together, from the gate to the last end, are given beside, with how "
	"much they overlapped, and, where the run has the pairs alone, the share of "
	"that which is left together.";

/* What is compared of a sample of several copies, into the memory of a GPU. */
#define OF_EACH_ENGINE                                                            \
	"Copies of a sample that are 512 MiB or less together, into a GPU that sends "     \
	"nothing meanwhile, have a place each, and all are compared. Others follow each "  \
	"other to one place: the last copy of each sample is compared, and, where they "   \
	"fit, all of a cell's first sample, which does not count (--verify)."
#define OF_EACH_KERNEL                                                            \
	"Copies go through as many places as --spread has room for, and what came last " \
	"to each is compared (--verify)."
#define OF_EACH_CPU                                                               \
	"Copies of a sample follow each other to one place: the last one is compared "   \
	"(--verify)."

static const char *const checked_host[] = {
	[CS_METHOD_CE] =
		"What arrives on a GPU is compared by it, every byte. " OF_EACH_ENGINE
		" What arrives in host memory is poisoned and compared by the CPU: the "
		"last copy of a sample, of more than 4 MiB one block of 4 KiB of each 64, "
		"and all of it after the last sample.",
	[CS_METHOD_SM] =
		"What arrives on a GPU is compared by it, every byte. " OF_EACH_KERNEL
		" What arrives in host memory is poisoned and compared by the CPU: of more "
		"than 4 MiB one block of 4 KiB of each 64, and all of it after the last "
		"sample.",
	[CS_METHOD_ZEROCOPY] =
		"What is read is compared with what the pattern adds up to, which another "
		"kernel works out without reading: a kernel that reads nothing, or not all, "
		"fails the cell. What arrives in host memory is poisoned and compared by the "
		"CPU: of more than 4 MiB one block of 4 KiB of each 64, and all of it after "
		"the last sample.",
};

#define BY_ITS_GPU                                                                \
	"Before each sample the destination's GPU poisons the buffer; afterwards it "    \
	"compares what is there with the source's pattern, every byte, in the process "  \
	"that owns it and not over the link that wrote it. "

static const char *const checked[CS_METHODS] = {
	[CS_METHOD_CE] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_PEERCOPY] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_STAGED] = BY_ITS_GPU OF_EACH_ENGINE,
	[CS_METHOD_SM] = BY_ITS_GPU OF_EACH_KERNEL,
	[CS_METHOD_TMA] = BY_ITS_GPU OF_EACH_KERNEL,
	[CS_METHOD_ZEROCOPY] =
		"What is written is poisoned before by the destination's GPU and compared "
		"by it afterwards, every byte. " OF_EACH_KERNEL
		" What is read is compared "
		"with what the pattern adds up to, which another kernel works out without "
		"reading: a kernel that reads nothing, or not all, fails the cell.",
	[CS_METHOD_CPU] =
		"Before each sample the destination's thread poisons the buffer; "
		"afterwards it compares every byte with the source's pattern. " OF_EACH_CPU,
};

#define ENQUEUED                                                              \
	"The agent of the copying GPU, in the thread that drives it, bound to "  \
	"the GPU's NUMA node; the copies go to the next GPU."
#define BY_CALL                                                               \
	"By CLOCK_MONOTONIC_RAW around each call, the reading of the clock "     \
	"taken off: 8 batches of 64 calls, the queue emptied between them, so "  \
	"that no call waits for room. All agents of a batch begin at one word "  \
	"in shared memory that their CPUs poll. A first batch is not counted."
#define BY_BURST                                                              \
	"By CLOCK_MONOTONIC_RAW from the first call to the end of the last of "  \
	"512 copies; eight times after one that is not counted."
#define ARRIVED                                                               \
	"When all is over the destination's owner compares every byte with the " \
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
	"be equal to its own, bit by bit. The sequences are chaotic: a step "    \
	"too few ends elsewhere."
#define PREFETCHED(where, stream)                                                \
	{                                                                        \
		"Managed memory of --size, by one cuMemPrefetchAsync to " where  \
		"; the figure is how long the call blocks the CPU that makes it." \
		" done is when all is there.",                                   \
		"The agent of the GPU, in the thread that drives it, bound to "  \
		"the GPU's NUMA node.",                                          \
		"By CLOCK_MONOTONIC_RAW around the call, the reading of the "    \
		"clock taken off; six times after one that is not counted. "     \
		stream,                                                          \
		NULL,                                                            \
		"Before each call all pages are at the other place, behind it "  \
		"where they were sent, as the kernel and a pass of the GPU "     \
		"prove, with every byte as it was (--verify). Else the cell is " \
		"not-moved, without a figure.",                                  \
	}
#define IDLE_STREAM "Its stream is idle, and done is counted from the call on."
#define BUSY_STREAM                                                              \
	"Its stream waits for a word that comes when the call has returned: done is " \
	"counted from there. A call that waits for its stream is cancelled after 5 s."
#define NOTHING_MOVES "Nothing moves between GPUs, so there is nothing to check."

#define ON_CHIP_CHECKED                                                       \
	"All that was read must add up to what the pattern does, so often as "   \
	"it was read, which another kernel works out without reading."
static const struct cs_explanation triad = {
	"Three arrays of a third of --size each (up to 32 bytes are left over) in the "
	"memory of a GPU: a = b + 3 * c in FP64, by fused multiply-adds. The bytes of all "
	"three count, as BabelStream's triad has it. " ALONE_MEANWHILE,
	"A kernel on the GPU, with accesses of 16 bytes." KERNEL,
	FMA_TIMED,
	NULL,
	"Before each sample the GPU poisons where a lies; afterwards it compares every word "
	"with what b and c, which are numbers made of the pattern's words, give "
	"(--verify).",
};

static const struct cs_explanation on_chip[] = {
	[0] = {
		"Nothing but loads of 16 bytes, past the first level of cache, of a buffer "
		"that the GPU's second-level cache holds with room to spare: a power of 2 "
		"of at most 16 MiB and a third of it, read again and again.",
		ON_ALL, FMA_TIMED, NULL, ON_CHIP_CHECKED,
	},
	[CS_METHOD_SHARED - CS_METHOD_L2] = {
		"Nothing but loads of 16 bytes from 32 KiB of shared memory on every "
		"multiprocessor, again and again; the figure is of all of them together.",
		ON_ALL, FMA_TIMED, NULL, ON_CHIP_CHECKED,
	},
};

/* What has nothing of the axes but its op. */
static const struct cs_explanation by_op[] = {
	[CS_OP_WRITE4K] = {
		"4 KiB from the memory of the row's GPU to that of the column's, 512 "
		"times in a row: the time of one copy when the next is always there. "
		"Nothing else moves on the node meanwhile.",
		"A copy engine of the source's GPU, by cuMemcpyAsync in the process "
		"that owns it: the source pushes.",
		"By CUDA events around the copies, behind the gate, as the rates "
		"are; the time is that of all copies divided by their number.",
		NULL, "As with peer.ce.write.pair.",
	},
	[CS_OP_ENQUEUE] = {
		"One copy of 4 KiB to the next GPU for each call; the figure is the "
		"CPU's time in cuMemcpyAsync, not the copy's.",
		ENQUEUED, BY_CALL, NULL, ARRIVED,
	},
	[CS_OP_ONCE] = {
		"One copy (--size), and nothing behind it: copies that stand in a queue "
		"hide what each of them takes before its first byte and behind its last.",
		"A copy engine of the source's GPU, with the host that of the GPU, by "
		"cuMemcpyAsync in the process that owns it.",
		"By CLOCK_MONOTONIC_RAW from the call of cuMemcpyAsync to the return of "
		"cuStreamSynchronize: 8 batches of as many copies as take 2 ms, 64 at most; a "
		"first batch is not counted.",
		NULL, ARRIVED,
	},
	[CS_OP_LAUNCH] = {
		"Nothing: a kernel of one thread that writes one word; the figure is "
		"the CPU's time in cuLaunchKernel, not the kernel's.",
		"The agent of the GPU, in the thread that drives it, bound to the "
		"GPU's NUMA node.",
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
		"Nothing. While a stream of every other GPU waits at the closed "
		"gate, one agent frees 2 MiB of its own GPU. cuMemFree waits for "
		"the work of the whole process (H200, driver 580): a process of its "
		"own returns at once, one that drives other GPUs too when the gate "
		"has opened.",
		"The agent of the GPU.",
		"By CLOCK_MONOTONIC_RAW around the call; six times after one that "
		"is not counted. The gate opens when the call has returned, and "
		"after 20 ms in any case: a figure of 20 ms is the whole wait.",
		NULL, NOTHING_MOVES,
	},
	[CS_OP_LOAD] = {
		"Nothing. As local.driver.free.gated, with the kernels of this "
		"program loaded once more.",
		"The agent of the GPU.",
		"By CLOCK_MONOTONIC_RAW around cuModuleLoadData, as "
		"local.driver.free.gated.",
		NULL, NOTHING_MOVES,
	},
	[CS_OP_OPEN] = {
		"The way to a buffer of 16 MiB that the column's GPU has just "
		"allocated: exported by its owner, opened by the row's agent, "
		"written to twice, closed, opened again. Between processes that is "
		"CUDA IPC; within one there is nothing but peer access, which is "
		"there already.",
		"The row's agent; the column's allocates, exports and frees.",
		"By CLOCK_MONOTONIC_RAW around each call, six times after one that "
		"is not counted; the second copy by CUDA events. first-open is the "
		"first way of the pair in this run, which is there but once.",
		NULL,
		"Before it is freed, its owner compares every byte of the buffer "
		"with the source's pattern (--verify).",
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
	"By CLOCK_MONOTONIC_RAW around a batch of up to 64 calls, as many as take 2 ms " \
	"and have 64 MiB at once, at least one; the figure is the time of one, the "     \
	"reading of the clock taken off. Eight batches after two that choose how many. " \
	"What calls need is there before a batch, what they leave is given back behind " \
	"it, both untimed; all agents of a batch begin at one word in shared memory."
static const struct cs_explanation call_of_driver = {
	"Nothing that counts: the figure is the CPU's time in the call, not that of what it "
	"has the GPU do.",
	"The agent of the GPU, in the thread that drives it, bound to the GPU's NUMA node.",
	IN_BATCHES,
	NULL,
	"A call that returns an error fails the cell; one that the driver does not have "
	"skips it.",
};
static const struct cs_explanation call_of_host = {
	"Nothing: the figure is the CPU's time in the call of the C library.",
	"The thread of an agent, bound to its NUMA node.",
	IN_BATCHES,
	NULL,
	"A call that fails has no figure.",
};

#define CHASED                                                                 \
	"One thread at a time, on every multiprocessor in turn, by the GPU of the "  \
	"column (of a local test its own): no load begins before the one before it " \
	"has answered."
#define CHASE_TIMED                                                            \
	"By the GPU's own clock inside the kernel, behind the gate as the rates "  \
	"are; the mean over all loads of a sample, after some that are not counted."
#define CHASE_CHECKED                                                          \
	"Where a chase ends is known beforehand: one wrong answer on the way and " \
	"it ends elsewhere, which fails the cell."

#define OF_MALLOC                                                                 \
	"memory as malloc gives it, which GPUs may use by HMM or ATS "                    \
	"(pageableMemoryAccess)"
#define FAULT_IN(memory_)                                                         \
	"One access of 8 bytes after the other to " memory_ " of --size, 2 MiB apart, all "   \
	"of whose pages are at the row: each is a page fault, and the next begins when it "   \
	"has been served. What else the driver brings along with a page does not help the "   \
	"next."
#define FAULT_PROVEN                                                              \
	"One thread of the column's GPU, by exchanges; pages that come to the host one CPU "  \
	"thread, by stores.",                                                             \
	"By CUDA events around the kernel, behind the gate as the rates are, or by the "      \
	"CPU's clock; divided by the number of faults.",                                  \
	NULL,                                                                             \
	"Before each sample all pages are at the row, behind it those touched at the "        \
	"column, as the kernel says; between GPUs so few pages move that it is not proven. "  \
	"All bytes are compared (--verify)."
static const struct cs_explanation chases[] = {
	[CS_OP_STRIDE] = {
		"Nothing but one load of 8 bytes after the other, through 2 MiB in "
		"order, 128 bytes apart: nvbandwidth's order and size.",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
	[CS_OP_RANDOM] = {
		"Nothing but one load of 8 bytes after the other, through --size bytes, "
		"128 bytes apart, in one cycle through all of them in an order by "
		"--seed: no prefetch, and beyond a cache's size no hit.",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
	[CS_OP_FAULT] = { FAULT_IN("managed memory"), FAULT_PROVEN },
	[CS_OP_FAULT_SYSTEM] = { FAULT_IN(OF_MALLOC), FAULT_PROVEN },
	[CS_OP_BULK] = {
		"Nothing but one bulk asynchronous copy of 16 bytes after the other, "
		"through 2 MiB in order, 128 bytes apart (compute capability 9.0 and "
		"above).",
		CHASED, CHASE_TIMED, NULL, CHASE_CHECKED,
	},
};

static const struct cs_explanation numa_nodes = {
	"One buffer (--size) of host memory from the row's NUMA node to the "
	"column's; the diagonal is within one.",
	"One CPU worker, bound to the column's NUMA node, by memcpy.",
	"By the kernel's monotonic clock around the copies, in the thread that makes "
	"them, after a gate in shared memory has opened.",
	NULL,
	"As with h2d tests: in part after every sample, whole after the last.",
};

static const struct cs_explanation numa_nodes_chase = {
	"Nothing but one load of 8 bytes after the other, through --size bytes of the row's "
	"NUMA node, 128 bytes apart, in an order by --seed, in huge pages where the kernel "
	"gives some. Caches are flushed before each sample, and none loads a line twice.",
	"One CPU worker, bound to the column's NUMA node: no load begins before the one "
	"before it has answered.",
	"By the kernel's monotonic clock around at most 32768 loads, after a gate in shared "
	"memory has opened; the mean of a sample.",
	NULL,
	"Where a chase ends is known beforehand: one wrong answer on the way and it ends "
	"elsewhere, which fails the cell.",
};

#define BY_ALL_CORES(numa)                                                        \
	"A CPU worker for each core of " numa " NUMA node, at most 256, bound to it."
#define CORES_TIMED                                                               \
	"By the kernel's monotonic clock, from where the first worker began to where "   \
	"the last one ended, after a gate in shared memory has opened."
static const struct cs_explanation numa_nodes_read = {
	"One buffer (--size) of the row's NUMA node, which workers read, a part each, in "
	"words of 8 bytes.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	"All that they read must add up to what the pattern does (--verify).",
};

#define AS_WITH_H2D                                                               \
	"As with h2d tests: in part after every sample, whole after the last."
static const struct cs_explanation numa_nodes_write = {
	"One buffer (--size) of the column's NUMA node, a part for each worker, by ordinary "
	"stores of 16 bytes: each line is read before it is written, which is not counted.",
	BY_ALL_CORES("the row's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_copy = {
	"One buffer (--size) of the row's NUMA node to the column's, a part for each "
	"worker, by memcpy. STREAM's copy counts its bytes twice.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_triad = {
	"a = b + 3 * c in FP64, three arrays that share --size, b and c of the row's NUMA "
	"node, a of the column's, a part of each for each worker, by ordinary stores. "
	"STREAM's triad counts the same bytes.",
	BY_ALL_CORES("the column's"),
	CORES_TIMED,
	NULL,
	AS_WITH_H2D,
};

static const struct cs_explanation numa_nodes_compute = {
	MULTIPLIED("FP64") " Vectors are the widest that the CPU has: AVX-512 or AVX2 with "
			   "FMA, NEON; else one by one.",
	BY_ALL_CORES("the"),
	CORES_TIMED,
	NULL,
	"A plain loop computes the same sequences; the results of all workers must be equal "
	"to its own, bit by bit.",
};

static const struct cs_explanation numa_nodes_by_driver = {
	"One buffer (--size) of pageable host memory of the row's NUMA node to pinned "
	"memory of the column's; the diagonal is within one.",
	"The driver, by cuMemcpyAsync, which a CPU worker calls that is bound to the "
	"column's NUMA node.",
	"By the kernel's monotonic clock, in the worker, from its first call to the end of "
	"the last copy, after a gate in shared memory has opened.",
	NULL,
	"As with h2d tests: in part after every sample, whole after the last.",
};

#define OF_PAGES                                                                  \
	"Before each sample the pages are brought back by a prefetch, whose end is "      \
	"waited for, and behind it they are looked for: the kernel says of each page "    \
	"whether it is in host memory, and a pass of the GPU tells by its speed whether " \
	"all of them are its own. A sample whose pages were not where they should be "    \
	"makes the cell not-moved, without a figure. Then every byte is compared, also "  \
	"of pages that nobody touched (--verify)."
#define OF_RANGE(memory_)                                                         \
	"Pages of one range of " memory_ " (--size) for each cell, from the memory of the " \
	"row to that of the column"
#define TOUCHED_ONCE                                                              \
	", once in a sample: one store of 8 bytes in each page, and what the driver moves " \
	"with it. The figure is of all bytes of the range."

static const struct cs_explanation prefetch = {
	OF_RANGE("managed memory") ", once in a sample.",
	"The driver, by cuMemPrefetchAsync in a stream of the GPU, of two GPUs of the "
	"column's, in the process that made the range: between GPUs both are in it. What "
	"comes to the host goes to its NUMA node (--numa), where the driver can say so.",
	"By CUDA events around the prefetch, on that stream. It is enqueued behind a closed "
	"gate, which one store in shared memory opens. A cell is the median of at least six "
	"samples and ends when its 95 % interval reaches no further from it than 2 %, or "
	"--precision.",
	NULL,
	OF_PAGES,
};

static const struct cs_explanation demand = {
	OF_RANGE("managed memory") TOUCHED_ONCE,
	"Who touches: a kernel on the GPU of the column, 256 blocks of 256 threads, a page "
	"a warp, as Comm|Scope has it; of what comes to the host CPU workers (--threads) on "
	"the NUMA node of the GPU (--cpu-numa).",
	"Of a kernel by CUDA events, behind a closed gate, which one store in shared memory "
	"opens; of workers by the kernel's monotonic clock, from the first one's begin to "
	"the last one's end. A cell is the median of at least six samples and ends when its "
	"95 % interval reaches no further from it than 2 %, or --precision.",
	NULL,
	OF_PAGES,
};

static const struct cs_explanation overlap_of_copies = {
	"Data of --size in 16 tiles, from pinned host memory to the GPU, where some kernels "
	"(--kernels) work on each tile, and back to other host memory. In one stream; in "
	"three, one there, one for kernels, one back, which the CPU joins after each tile; "
	"and in three that change places: the next tile is asked for in a stream that is "
	"idle, and a tile goes back behind its kernels, in their stream.",
	"The agent of the GPU, in the thread that drives it, bound to the GPU's NUMA node.",
	"By CLOCK_MONOTONIC_RAW from the first call to the end of the last stream; six times "
	"after one that is not counted. The figure is the time of the streams that change "
	"places; kernels alone, moves alone, one stream and three streams are given beside, "
	"and the ideal, which is the longer of kernels and moves alone.",
	NULL,
	"A kernel makes the pattern of one key that of the next, so what comes back must be "
	"the pattern of the last key: a kernel or a tile that was lost, late or came twice "
	"shows. Compared are, on the host, every byte of the first round, and of others one "
	"block of 4 KiB of each 64, which is poisoned then; and in the GPU every byte "
	"(--verify).",
};

#define STREAM_TIMED                                                              \
	"By CUDA events around all of it, what brings the data and the kernel, on one "   \
	"stream of the GPU, enqueued behind a closed gate; the rate is that of the bytes " \
	"of the data. A sample is one: what was there already would be no news. A cell is " \
	"the median of at least six samples and ends when its 95 % interval reaches no "  \
	"further from it than --precision."
#define STREAM_BY                                                                 \
	"A kernel that fills the GPU, in elements of 4, 8 or 16 bytes (--element), each " \
	"once: "
#define IN_ROW "neighbouring threads take neighbouring elements, which lie "
#define STREAM_READ                                                               \
	"What the kernel read is compared with what the pattern adds up to, which "     \
	"another kernel works out without reading: every byte, in every sample."

static const struct cs_explanation consumed_copies = {
	"Data of --size in pinned host memory of the row, copied to the GPU of the column, "
	"where a kernel reads them.",
	STREAM_BY IN_ROW "in the memory of the GPU.",
	STREAM_TIMED,
	NULL,
	STREAM_READ,
};
static const struct cs_explanation consumed_in_place = {
	"Data of --size in pinned host memory of the row, which a kernel of the column's "
	"GPU reads where they are.",
	STREAM_BY IN_ROW "in host memory.",
	STREAM_TIMED,
	NULL,
	STREAM_READ,
};
static const struct cs_explanation produced_copies = {
	"Data of --size in pinned host memory of the row, copied to the GPU of the column, "
	"where a kernel writes over them: what a program pays that brings what it will not "
	"read.",
	STREAM_BY IN_ROW "in the memory of the GPU.",
	STREAM_TIMED,
	NULL,
	"What the kernel wrote, which is another pattern than that of the source, is "
	"compared by the GPU, every byte (--verify).",
};
static const struct cs_explanation produced_in_place = {
	"Data of --size, which a kernel of the row's GPU writes to pinned host memory of "
	"the column.",
	STREAM_BY IN_ROW "in host memory.",
	STREAM_TIMED,
	NULL,
	"What arrives in host memory is poisoned and compared by the CPU: of more than 4 MiB "
	"one block of 4 KiB of each 64, and all of it after the last sample.",
};

static const char *const overlap_of_pages =
	"Managed data of --size in 16 tiles, as local.overlap.copy.alone, by cuMemPrefetchAsync "
	"to the GPU and back to the host memory next to it: the same pages.";
static const char *const overlap_proven =
	"A kernel makes the pattern of one key that of the next, so what comes back must be "
	"the pattern of the last key (--verify). Before each schedule and behind it all pages "
	"are on the host, as the kernel says; that a prefetch brings them to the GPU is proven "
	"before the first round. Else the cell is not-moved, without a figure.";

#define MANAGED_OF "Data of --size in managed memory, whose pages are brought to the host memory " \
	"of the row before each sample, and proven to be there"
#define BY_FAULTS "; a kernel of the column's GPU works on them, and its faults bring them."
#define MANAGED_CHECKED "What was read is compared with what the pattern adds up to, every "     \
	"byte; what was written is another pattern for each sample. " OF_PAGES
static const struct cs_explanation by_pages[] = {
	[0] = {
		MANAGED_OF BY_FAULTS,
		STREAM_BY "all threads go through them side by side, so that faults are all "
		"over and many are of one page.", STREAM_TIMED, NULL, MANAGED_CHECKED,
	},
	[CS_OP_WARP - CS_OP_NAIVE] = {
		MANAGED_OF BY_FAULTS,
		STREAM_BY "each warp takes 64 KiB at a time, so that few faults are of one "
		"page.", STREAM_TIMED, NULL, MANAGED_CHECKED,
	},
	[CS_OP_PREFETCH - CS_OP_NAIVE] = {
		MANAGED_OF "; cuMemPrefetchAsync, and behind it a kernel of the column's GPU "
		"that works on them.",
		STREAM_BY IN_ROW "in the memory of the GPU.", STREAM_TIMED, NULL,
		MANAGED_CHECKED,
	},
};

#define TO_HIGH_SIDE                                                                  \
	"A face of a grid of elements (--shape, --element): from the low side of the "     \
	"grid of the row to the high side of that of the column, as programs keep halos. " \
	"512x512x512:2:x are the two elements of lowest x of each row. "
#define OF_EACH "A small block of each so many bytes (--shape) of a buffer of --size"
#define OF_BYTES "The rate is that of the bytes of it alone. "
#define PLANES_ALIKE "Rows that lie at one distance are taken as one plane. "
#define ITS_SHAPE_CHECKED                                                             \
	"Before each sample the destination's owner poisons the whole buffer; afterwards " \
	"it compares every byte inside of the shape with the source's pattern, and every " \
	"byte outside with the poison: what was written beside it fails the cell. In host " \
	"memory all after the last sample, and 4 MiB of it after each other."

static const char *const shaped_issuer[][2] = {
	{ "A copy engine, by one cuMemcpy2DAsync of the GPU that sends; with host memory of "
	  "the only one. " PLANES_ALIKE },
	{ "A copy engine, by cuMemcpy3DPeerAsync of the GPU that sends; where the other is of "
	  "another process, or host memory, cuMemcpy3DAsync." },
	{ "A kernel of the GPU that sends; with host memory of the only one. Neighbouring "
	  "threads take neighbours, 16 bytes each, 8 or 4 where rows have no more." },
	{ "A kernel of the row's GPU packs it, cuMemcpyAsync copies that to the column's, "
	  "where another kernel unpacks it, one after the other: words in host memory, for "
	  "which streams wait, tell each GPU that the other is done." },
	{ "A kernel of the row's GPU, neighbouring threads take neighbours.",
	  "A kernel of the column's GPU, neighbouring threads take neighbours." },
	{ "A kernel of the row's GPU, an element a thread.",
	  "A kernel of the column's GPU, an element a thread." },
};

static void explain_shaped(const struct cs_test *test, struct cs_explanation *out)
{
	const int blocks = test->method == CS_METHOD_CHUNK ||
			   test->method == CS_METHOD_STRIDE;

	out->moves =
		!blocks ?
			TO_HIGH_SIDE OF_BYTES :
		test->method == CS_METHOD_CHUNK ?
			OF_EACH ", to the same places of another: 64/128 are 64 of "
				"each 128. " OF_BYTES :
			"One element of each so many bytes (--shape) of a buffer of "
			"--size, to the same places of another: 4/64 are 4 of each 64. " OF_BYTES;
	out->issuer = shaped_issuer[test->method - CS_METHOD_COPY2D]
				   [test->op == CS_OP_READ && blocks];
	out->timed =
		test->method == CS_METHOD_PACK ?
			"By CUDA events of the GPU that unpacks, from the gate to the "
			"end of the last: all three steps, and the handing over. What "
			"each step takes (pack_us, transfer_us, unpack_us) is by events "
			"of the GPU that does it, around those of the last copy of a "
			"sample." :
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
