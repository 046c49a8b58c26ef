#include "config.h"

#include "plan/explain.h"

static const char *const moves[][2] = {
	[CS_BACKEND_CUDA] = {
		[CS_PATTERN_PAIR] =
			"One buffer (--size, 512 MiB) from the memory of the row's "
			"GPU to that of the column's, several copies in a row. "
			"Nothing else moves on the node meanwhile.",
		[CS_PATTERN_BIDI] =
			"One buffer (--size, 512 MiB) each way between two GPUs at "
			"the same time. A cell is the direction from row to "
			"column; no other pair moves anything meanwhile.",
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
	},
};

#define STAGED_ISSUER                                                          \
	"No GPU ever gets peer access (--via staged). In one process the "     \
	"source's GPU issues cuMemcpyPeerAsync, which the driver stages. In "  \
	"two, the source copies chunks of 8 MiB into pinned memory that both " \
	"share, the destination fetches them, and flags that streams write "   \
	"and wait for keep them in step; the time is the destination's."

static const char *const issuer[][2][2] = {
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
		},
		[CS_OP_READ] = {
			[CS_PATTERN_PAIR] =
				"A CPU thread bound to the destination's NUMA "
				"domain, by memcpy: the destination pulls.",
			[CS_PATTERN_BIDI] =
				"A CPU thread on each side, bound to its NUMA "
				"domain, by memcpy: each pulls its own half.",
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

void cs_test_explain(const struct cs_test *test, struct cs_explanation *out)
{
	out->moves = moves[test->backend][test->pattern];
	out->issuer = issuer[test->method][test->op][test->pattern];
	out->timed = timed[test->backend];
	out->timed_both = test->pattern == CS_PATTERN_BIDI ? both_ways : NULL;
	out->checked = checked[test->backend];
}

#define NVBANDWIDTH "nvbandwidth"
#define COMM_SCOPE "Comm|Scope"
#define P2P_TEST "p2pBandwidthLatencyTest"

/* Read in the source of nvbandwidth 0.8 and Comm|Scope 0.12; the third was run. */
static const struct cs_alias aliases[] = {
	{ "peer.ce.write.pair", NVBANDWIDTH, "device_to_device_memcpy_write_ce",
	  "The arrow of its heading points against the flow: row writes to "
	  "column there too. Three samples, times cut to whole microseconds; one "
	  "wrong byte ends the program, and no result is ever judged." },
	{ "peer.ce.write.pair", NVBANDWIDTH,
	  "multinode_device_to_device_memcpy_write_ce",
	  "The same with a process per GPU, but it needs the IMEX service even "
	  "within one node; without, it stops while allocating." },
	{ "peer.ce.write.pair", P2P_TEST,
	  "Unidirectional P2P=Enabled Bandwidth (P2P Writes)",
	  "Checks no data and does not wait until all is enqueued: 363 to 392 GB/s "
	  "on H200, where this test has 396." },
	{ "peer.ce.write.bidi", NVBANDWIDTH,
	  "device_to_device_bidirectional_memcpy_write_ce",
	  "Three matrices: Write1 is transposed against its one-way test, Write2 "
	  "is not. Total adds two rates, each over its own time: when one side ends "
	  "early, the sum is more than both had at once." },
	{ "peer.ce.write.bidi", P2P_TEST, "Bidirectional P2P=Enabled Bandwidth",
	  "Gives the sum of both ways only, and checks no data." },
	{ "peer.ce.read.pair", NVBANDWIDTH, "device_to_device_memcpy_read_ce",
	  "Its row reads from its column, so its matrix is ours transposed, and "
	  "the arrow of its heading points against the flow." },
	{ "peer.ce.read.pair", NVBANDWIDTH,
	  "multinode_device_to_device_memcpy_read_ce",
	  "Transposed likewise; it needs the IMEX service even within one node." },
	{ "peer.ce.read.pair", COMM_SCOPE, "cudaMemcpyAsync_GPUToGPUPeer",
	  "Issued by the destination, which the name does not say. The start "
	  "event fires before the copy is enqueued, so that is timed as well; the "
	  "mean of one batch, no check of the data." },
	{ "peer.ce.read.bidi", NVBANDWIDTH,
	  "device_to_device_bidirectional_memcpy_read_ce",
	  "Three matrices: Read1 is what the row reads, so it is ours transposed; "
	  "Total adds two rates, each over its own time." },
	{ "peer.ce.read.bidi", COMM_SCOPE,
	  "cudaMemcpyAsync_Duplex_GPUGPUPeer",
	  "Its second copy stays within one GPU, so it is not both ways of a "
	  "link." },
};

const struct cs_alias *cs_aliases(size_t *n)
{
	*n = sizeof(aliases) / sizeof(*aliases);
	return aliases;
}
