#include "config.h"

#include "plan/explain.h"

static const char *const moves[][3] = {
	[CS_BACKEND_CUDA] = {
		[CS_PATTERN_PAIR] =
			"One buffer (--size, 512 MiB) from the memory of the row's "
			"GPU to that of the column's, several copies in a row. "
			"Nothing else moves on the node meanwhile.",
		[CS_PATTERN_BIDI] =
			"One buffer (--size, 512 MiB) each way between two GPUs at "
			"the same time. A cell is the direction from row to "
			"column; no other pair moves anything meanwhile.",
		[CS_PATTERN_SHIFT] =
			"One buffer (--size, 512 MiB) from every GPU to another at "
			"the same time: GPU i to i + k, for each k in turn. Each "
			"GPU sends one and gets one.",
	},
	[CS_BACKEND_CPU] = {
		[CS_PATTERN_PAIR] =
			"One buffer (--size, 64 MiB) of host memory from the row's "
			"arena to the column's, in shared pages on the NUMA domain "
			"of each. Nothing else moves meanwhile.",
		[CS_PATTERN_BIDI] =
			"One buffer (--size, 64 MiB) of host memory each way "
			"between two arenas at the same time. A cell is the "
			"direction from row to column.",
		[CS_PATTERN_SHIFT] =
			"One buffer (--size, 64 MiB) of host memory from every "
			"arena to another at the same time: arena i to i + k, for "
			"each k in turn.",
	},
};

#define STAGED_ISSUER                                                          \
	"No GPU ever gets peer access (--via staged). In one process the "     \
	"source's GPU issues cuMemcpyPeerAsync, which the driver stages. In "  \
	"two, the source copies chunks of 8 MiB into pinned memory that both " \
	"share, the destination fetches them, and flags that streams write "   \
	"and wait for keep them in step; the time is the destination's."

static const char *const issuer[][2][3] = {
	[CS_METHOD_CE] = {
		[CS_OP_WRITE] = {
			[CS_PATTERN_PAIR] =
				"A copy engine of the source's GPU, by "
				"cuMemcpyAsync in the process that owns it: the "
				"source pushes.",
			[CS_PATTERN_BIDI] =
				"Each GPU pushes its own half, in the process that "
				"owns it. One GPU that pushes and pulls at once "
				"would share one copy engine on NVSwitch machines "
				"(H200: 198 + 396 GB/s instead of 391 + 391).",
			[CS_PATTERN_SHIFT] =
				"Each GPU pushes its own, by cuMemcpyAsync in the "
				"process that owns it.",
		},
		[CS_OP_READ] = {
			[CS_PATTERN_PAIR] =
				"A copy engine of the destination's GPU, by "
				"cuMemcpyAsync in the process that owns it: the "
				"destination pulls.",
			[CS_PATTERN_BIDI] =
				"Each GPU pulls its own half, in the process that "
				"owns it. One GPU that pushes and pulls at once "
				"would share one copy engine on NVSwitch machines.",
			[CS_PATTERN_SHIFT] =
				"Each GPU pulls its own, by cuMemcpyAsync in the "
				"process that owns it.",
		},
	},
	[CS_METHOD_PEERCOPY] = {
		[CS_OP_WRITE] = {
			[CS_PATTERN_PAIR] =
				"A copy engine of the source's GPU, by "
				"cuMemcpyPeerAsync, which is told both contexts and "
				"so needs both GPUs in one process: other pairs are "
				"skipped.",
			[CS_PATTERN_BIDI] =
				"Each GPU pushes its own half, by cuMemcpyPeerAsync, "
				"which is told both contexts and so needs both GPUs "
				"in one process: other pairs are skipped.",
		},
	},
	[CS_METHOD_STAGED] = {
		[CS_OP_WRITE] = {
			[CS_PATTERN_PAIR] = STAGED_ISSUER,
			[CS_PATTERN_BIDI] = STAGED_ISSUER,
		},
	},
	[CS_METHOD_CPU] = {
		[CS_OP_WRITE] = {
			[CS_PATTERN_PAIR] =
				"A CPU thread bound to the source's NUMA domain, by "
				"memcpy: the source pushes.",
			[CS_PATTERN_BIDI] =
				"A CPU thread on each side, bound to its NUMA "
				"domain, by memcpy: each pushes its own half.",
			[CS_PATTERN_SHIFT] =
				"A CPU thread for each arena, bound to its NUMA "
				"domain, by memcpy: each pushes its own.",
		},
		[CS_OP_READ] = {
			[CS_PATTERN_PAIR] =
				"A CPU thread bound to the destination's NUMA "
				"domain, by memcpy: the destination pulls.",
			[CS_PATTERN_BIDI] =
				"A CPU thread on each side, bound to its NUMA "
				"domain, by memcpy: each pulls its own half.",
			[CS_PATTERN_SHIFT] =
				"A CPU thread for each arena, bound to its NUMA "
				"domain, by memcpy: each pulls its own.",
		},
	},
};

static const char *const timed[] = {
	[CS_BACKEND_CUDA] =
		"By CUDA events around the copies, on the stream of the GPU that "
		"issues them. All is enqueued behind a closed gate, which one "
		"store in shared memory opens, so no enqueueing is timed. A cell "
		"is the median of at least six samples of 5 ms and ends when half "
		"its 95 % interval is within --precision. The first touch is "
		"apart.",
	[CS_BACKEND_CPU] =
		"By the kernel's monotonic clock around the copies, in the thread "
		"that makes them, after a gate in shared memory has opened. A cell "
		"is the median of at least six samples of 5 ms and ends when half "
		"its 95 % interval is within --precision. The first touch is "
		"apart.",
};

static const char *const both_ways =
	"Both directions over the window that they have in common are given "
	"beside, with how much they overlapped.";

static const char *const all_at_once =
	"The sum over the window that all have in common is given beside, with how "
	"much they overlapped, and, where the run has the pairs alone, the share of "
	"that which is left together.";

static const char *const checked[] = {
	[CS_BACKEND_CUDA] =
		"Before each sample the destination's GPU poisons the buffer; "
		"afterwards it compares every byte with the source's pattern, in "
		"the process that owns it and not over the link that wrote it "
		"(--verify).",
	[CS_BACKEND_CPU] =
		"Before each sample the destination's thread poisons the buffer; "
		"afterwards it compares every byte with the source's pattern "
		"(--verify).",
};

#define ENQUEUED                                                              \
	"The agent of the copying GPU, in the thread that drives it, bound to "  \
	"the GPU's NUMA domain; the copies go to the next GPU."
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
#define NOTHING_MOVES "Nothing moves between GPUs, so there is nothing to check."

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
	[CS_OP_LAUNCH] = {
		"Nothing: a kernel of one thread that writes one word; the figure is "
		"the CPU's time in cuLaunchKernel, not the kernel's.",
		"The agent of the GPU, in the thread that drives it, bound to the "
		"GPU's NUMA domain.",
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
};

void cs_test_explain(const struct cs_test *test, struct cs_explanation *out)
{
	if (test->op > CS_OP_READ) {
		*out = by_op[test->op];
		return;
	}
	out->moves = moves[test->backend][test->pattern];
	out->issuer = issuer[test->method][test->op][test->pattern];
	out->timed = timed[test->backend];
	out->timed_both = test->pattern == CS_PATTERN_BIDI ? both_ways :
			  test->pattern == CS_PATTERN_SHIFT ? all_at_once : NULL;
	out->checked = checked[test->backend];
}
