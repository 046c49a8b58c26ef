#include "config.h"

#include "plan/alias.h"

#include <fnmatch.h>
#include <string.h>

#include "plan/catalogue.h"

#define NVBANDWIDTH "nvbandwidth"
#define COMM_SCOPE "Comm|Scope"
#define P2P_TEST "p2pBandwidthLatencyTest"

/* A test of one node of nvbandwidth. */
#define NVB(name_, test_, layout_, flow_, heading_, differs_)                   \
	{ .test = test_, .tool = NVBANDWIDTH, .name = name_,                    \
	  .differs = differs_, .layout = CS_LAYOUT_##layout_,                   \
	  .flow = CS_##flow_, .heading = heading_ }
/* The same, not to be taken for what that tool prints under the name. */
#define NOTED(name_, test_, layout_, flow_, heading_, differs_)                 \
	{ .test = test_, .tool = NVBANDWIDTH, .name = name_,                    \
	  .differs = differs_, .noted = 1, .layout = CS_LAYOUT_##layout_,       \
	  .flow = CS_##flow_, .heading = heading_ }
/* By rank, over NVLink between nodes. */
#define MULTI(name_, test_, layout_, flow_, heading_, differs_)                 \
	{ .test = test_, .tool = NVBANDWIDTH, .name = "multinode_" name_,       \
	  .differs = differs_, .noted = 1, .layout = CS_LAYOUT_##layout_,       \
	  .flow = CS_##flow_, .heading = heading_, .multinode = 1 }
#define REFUSED(name_, why_)                                                    \
	{ .tool = NVBANDWIDTH, .name = "multinode_" name_, .differs = why_,     \
	  .noted = 1, .multinode = 1 }

/* A benchmark of Comm|Scope: its name, that of the version which its authors
 * published (NULL: the same), our test, the arguments of its instances and the
 * binary logarithms of their sizes. */
#define SCOPE_BY(name_, before_, test_, args_, first_, last_, clock_, ...)      \
	{ .test = test_, .tool = COMM_SCOPE, .name = name_, .before = before_,  \
	  .args = CS_ARGS_##args_, .first = first_, .last = last_,              \
	  .clock = clock_, __VA_ARGS__ }
#define SCOPE(name_, before_, test_, args_, first_, last_, ...)                 \
	SCOPE_BY(name_, before_, test_, args_, first_, last_, "manual_time",    \
		 __VA_ARGS__)
/* The same, and with its caches flushed. */
#define SCOPE_FLUSH(name_, before_, test_, args_, first_, last_, differs_)      \
	SCOPE(name_, before_, test_, args_, first_, last_,                      \
	      .differs = differs_),                                             \
	SCOPE(name_ "_flush", before_ "_flush", test_, args_, first_, last_,    \
	      .variant.cache = CS_CACHE_COLD, .noted = 1, .differs = FLUSHED)

/* What has no size: shapes, and calls. */
#define SCOPE_TAIL(name_, test_, args_, tail_, clock_, ...)                     \
	SCOPE_BY(name_, NULL, test_, args_, 0, 63, clock_,                      \
		 .tail = CS_TAIL_##tail_, __VA_ARGS__)
#define SCOPE_SHAPE(name_, test_, args_, tail_, ...) \
	SCOPE_TAIL(name_, test_, args_, tail_, "manual_time", __VA_ARGS__)
#define SCOPE_LAUNCH(bytes_)                                                    \
	SCOPE_TAIL("cudart_kernel", "local.call.launch" bytes_ ".alone",        \
		   NUMA_GPU, WORD, ONE_THREAD, .word = bytes_,                  \
		   .differs = BY_DRIVER)
#define ONE_THREAD "real_time/threads:1"

/* Headings of 0.8; those of what 0.10 added are made like them. */
#define TO_COLUMN(engine, row) "memcpy " engine " " row "(row) -> GPU(column)"
#define TO_ROW(engine, row) "memcpy " engine " " row "(row) <- GPU(column)"
#define BOTH_WAYS(engine, row) "memcpy " engine " " row "(row) <-> GPU(column)"

/* ---- what differs ---- */

#define HOST_ONE_WAY                                                            \
	"As here; three samples, times cut to whole microseconds."
#define HOST_BIDI                                                               \
	"Reports one direction of both, and its buffers for the other are "     \
	"twice as large; here both directions are measured in one step."
#define HOST_BIDI_SM                                                            \
	"Here the named direction of two kernels at once; " NVBANDWIDTH         \
	" 0.8 runs the same test under both names: one kernel's bytes of both " \
	"ways, halved."
#define HOST_LOAD                                                               \
	"The measured GPU alone is reported, while all others move as much "    \
	"the same way; there their buffers are twice as large."
#define HOST_BIDILOAD                                                           \
	"One direction of one GPU is reported, while everything else moves "    \
	"both ways; up to 15.5 GiB of page-locked memory for 8 GPUs."
#define HOST_BIDILOAD_SM                                                        \
	"Here the named direction of two kernels on each GPU; " NVBANDWIDTH     \
	" 0.8 halves the bytes of one kernel that moves both ways."
#define ROW_WRITES                                                              \
	"The arrow of its heading points against the flow: row writes to "      \
	"column there too. Three samples, times cut to whole microseconds; one " \
	"wrong byte ends the program, and no result is ever judged."
#define ROW_READS                                                               \
	"Its row reads from its column, so its matrix is ours transposed, and " \
	"the arrow of its heading points against the flow."
#define BOTH_READ                                                               \
	"Three matrices: Read1 is what the row reads, so it is ours transposed; " \
	"Total adds two rates, each over its own time."
#define BOTH_WRITE                                                              \
	"Three matrices: Write1 is transposed against its one-way test, Write2 " \
	"is not. Total adds two rates, each over its own time: when one side ends " \
	"early, the sum is more than both had at once."
#define TO_HUB                                                                  \
	"The total into the column's GPU; the arrow of its heading points "     \
	"against the flow."
#define FROM_HUB                                                                \
	"The total out of the column's GPU; the arrow of its heading points "   \
	"against the flow."
#define HUB_IS_SOURCE                                                           \
	"Its name has it backwards: the others read from the column's GPU, so " \
	"this is the total that leaves it."
#define HUB_READS                                                               \
	"Its name has it backwards: the column's GPU reads from all others, so " \
	"this is the total that it gets."
#define HUB_IS_SOURCE_SM                                                        \
	"Here all others read from the column's GPU, as all_to_one_read_ce "    \
	"does; " NVBANDWIDTH " 0.8 lets that GPU write: its one_to_all_write_sm " \
	"again."
#define HUB_READS_SM                                                            \
	"Here the column's GPU reads from all others, as one_to_all_read_ce "   \
	"does; " NVBANDWIDTH " 0.8 lets the others write: its all_to_one_write_sm " \
	"again."
#define CHASE_HOST                                                              \
	"The same order and size; one pass without a warm-up, of which every "  \
	"kernel begins anew, so that a part of the 2 MiB is touched."
#define CHASE_PEER                                                              \
	"Its row chases through its column's memory, so its matrix is ours "    \
	"transposed. One pass without a warm-up, always from the first node."
#define LOCAL                                                                   \
	"Bytes are counted once, as here: memory moves twice as many."
#define LOCAL_ONE_WAY "As here; in version 0.10."
#define TMA_WRITES                                                              \
	"In version 0.10, by bulk asynchronous copies; row writes to column."
#define BETWEEN_NODES                                                           \
	"Here cells within a node, without the IMEX service that " NVBANDWIDTH  \
	" needs even there; cells between nodes are skipped: between nodes is "  \
	"not measured."
#define BETWEEN_NODES_WRITE1                                                    \
	BETWEEN_NODES " Write1 is row to column there, unlike on a single node."
#define OPPOSITE                                                                \
	BETWEEN_NODES " A row is the copy that its label says; there it is "     \
	"the reverse."
#define ONE_2D                                                                  \
	"One call for all planes here; there one for each plane."
#define BY_SHAPE                                                                \
	"The same bytes by a kernel of ours, in its own division; there 4 bytes " \
	"a thread. Within one GPU is not measured."
#define BY_DRIVER                                                               \
	"A call of the driver; there of the run-time library, which calls it."
#define BY_NODE                                                                 \
	"The thread that calls is the one of a GPU, on the NUMA node next to it."
#define MULTICAST                                                               \
	"it needs an NVLink multicast object, and this program makes none"

/* What Comm|Scope has in common. */
#define IDLE                                                                    \
	"Its start event fires before the copy is enqueued, so that is timed " \
	"as well; the mean of one batch, no check of the data."
#define FLUSHED                                                                 \
	"on x86 it flushes the line that holds its pointer, on aarch64 "        \
	"nothing: its caches are warm."
#define PAGEABLE                                                                \
	"The CPU has written the source before each copy there, and what the " \
	"driver stages is timed beside it. " IDLE
#define REGISTERED                                                              \
	"Memory of the same kind; it is freed there before it is "             \
	"unregistered. " IDLE
#define DUPLEX_PAGEABLE                                                         \
	"One thread makes both copies there, so that they wait for each other, " \
	"and it is bound to no NUMA node; here a worker each."
#define DUPLEX_REGISTERED                                                       \
	"The longest time from any start to any stop there; its two starts are " \
	"not one."
#define ZEROCOPY                                                                \
	"The same 256 blocks of 256 threads and 4 bytes a thread; what is read " \
	"is summed here, and the sum is checked."
#define ZEROCOPY_READS_NOTHING                                                  \
	"Here both read, and the sums are checked; the reads of Comm|Scope are " \
	"of no use to its kernel, and compilers leave them out."
#define MANAGED_GPU                                                             \
	"A touch a page there; nothing says whether pages moved."
#define CPU_TIME                                                                \
	"Here by the clock; Comm|Scope divides by the CPU time of the calling " \
	"thread."
#define NOT_JOINED                                                              \
	"Here both ways end within the time; there its stop event does not "   \
	"wait for the way in, and the bytes of both are counted."

/* Read in the source of nvbandwidth 0.8 (of 0.10: its notes and logs) and Comm|Scope
 * 0.12; the third was run. */
static const struct cs_alias aliases[] = {
	NVB("host_to_device_memcpy_ce", "h2d.ce.pinned.pair", HOST, ROW_TO_COLUMN,
	    TO_COLUMN("CE", "CPU"), HOST_ONE_WAY),
	NVB("device_to_host_memcpy_ce", "d2h.ce.pinned.pair", HOST, COLUMN_TO_ROW,
	    TO_ROW("CE", "CPU"), HOST_ONE_WAY),
	NVB("host_to_device_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi", HOST,
	    ROW_TO_COLUMN, BOTH_WAYS("CE", "CPU"), HOST_BIDI),
	NVB("device_to_host_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi", HOST,
	    COLUMN_TO_ROW, BOTH_WAYS("CE", "CPU"), HOST_BIDI),
	NVB("device_to_device_memcpy_read_ce", "peer.ce.read.pair", PAIRS,
	    COLUMN_TO_ROW, TO_COLUMN("CE", "GPU"), ROW_READS),
	NVB("device_to_device_memcpy_write_ce", "peer.ce.write.pair", PAIRS,
	    ROW_TO_COLUMN, TO_ROW("CE", "GPU"), ROW_WRITES),
	NVB("device_to_device_bidirectional_memcpy_read_ce", "peer.ce.read.bidi",
	    BOTH, COLUMN_TO_ROW, BOTH_WAYS("CE", "GPU"), BOTH_READ),
	NOTED("device_to_device_bidirectional_memcpy_write_ce", "peer.ce.write.bidi",
	      BOTH, COLUMN_TO_ROW, BOTH_WAYS("CE", "GPU"), BOTH_WRITE),
	NVB("all_to_host_memcpy_ce", "d2h.ce.pinned.load", HOST, COLUMN_TO_ROW,
	    TO_ROW("CE", "CPU"), HOST_LOAD),
	NVB("all_to_host_bidirectional_memcpy_ce", "d2h.ce.pinned.bidiload", HOST,
	    COLUMN_TO_ROW, BOTH_WAYS("CE", "CPU"), HOST_BIDILOAD),
	NVB("host_to_all_memcpy_ce", "h2d.ce.pinned.load", HOST, ROW_TO_COLUMN,
	    TO_COLUMN("CE", "CPU"), HOST_LOAD),
	NVB("host_to_all_bidirectional_memcpy_ce", "h2d.ce.pinned.bidiload", HOST,
	    ROW_TO_COLUMN, BOTH_WAYS("CE", "CPU"), HOST_BIDILOAD),
	NVB("all_to_one_write_ce", "peer.ce.write.all-to-one", HUB, ROW_TO_COLUMN,
	    TO_ROW("CE", "GPU"), TO_HUB),
	NVB("all_to_one_read_ce", "peer.ce.read.one-to-all", HUB, COLUMN_TO_ROW,
	    TO_COLUMN("CE", "GPU"), HUB_IS_SOURCE),
	NVB("one_to_all_write_ce", "peer.ce.write.one-to-all", HUB, COLUMN_TO_ROW,
	    TO_COLUMN("CE", "GPU"), FROM_HUB),
	NVB("one_to_all_read_ce", "peer.ce.read.all-to-one", HUB, ROW_TO_COLUMN,
	    TO_ROW("CE", "GPU"), HUB_READS),
	NVB("host_to_device_memcpy_sm", "h2d.sm.pinned.pair", HOST, ROW_TO_COLUMN,
	    TO_COLUMN("SM", "CPU"), HOST_ONE_WAY),
	NVB("device_to_host_memcpy_sm", "d2h.sm.pinned.pair", HOST, COLUMN_TO_ROW,
	    TO_ROW("SM", "CPU"), HOST_ONE_WAY),
	NOTED("host_to_device_bidirectional_memcpy_sm", "h2d.sm.pinned.bidi", HOST,
	      ROW_TO_COLUMN, BOTH_WAYS("SM", "CPU"), HOST_BIDI_SM),
	NOTED("device_to_host_bidirectional_memcpy_sm", "h2d.sm.pinned.bidi", HOST,
	      COLUMN_TO_ROW, BOTH_WAYS("SM", "CPU"), HOST_BIDI_SM),
	NVB("device_to_device_memcpy_read_sm", "peer.sm.read.pair", PAIRS,
	    COLUMN_TO_ROW, TO_COLUMN("SM", "GPU"), ROW_READS),
	NVB("device_to_device_memcpy_write_sm", "peer.sm.write.pair", PAIRS,
	    ROW_TO_COLUMN, TO_ROW("SM", "GPU"), ROW_WRITES),
	NVB("device_to_device_bidirectional_memcpy_read_sm", "peer.sm.read.bidi",
	    BOTH, COLUMN_TO_ROW, BOTH_WAYS("SM", "GPU"), BOTH_READ),
	NOTED("device_to_device_bidirectional_memcpy_write_sm", "peer.sm.write.bidi",
	      BOTH, COLUMN_TO_ROW, BOTH_WAYS("SM", "GPU"), BOTH_WRITE),
	NVB("all_to_host_memcpy_sm", "d2h.sm.pinned.load", HOST, COLUMN_TO_ROW,
	    TO_ROW("SM", "CPU"), HOST_LOAD),
	NOTED("all_to_host_bidirectional_memcpy_sm", "d2h.sm.pinned.bidiload", HOST,
	      COLUMN_TO_ROW, BOTH_WAYS("SM", "CPU"), HOST_BIDILOAD_SM),
	NVB("host_to_all_memcpy_sm", "h2d.sm.pinned.load", HOST, ROW_TO_COLUMN,
	    TO_COLUMN("SM", "CPU"), HOST_LOAD),
	NOTED("host_to_all_bidirectional_memcpy_sm", "h2d.sm.pinned.bidiload", HOST,
	      ROW_TO_COLUMN, BOTH_WAYS("SM", "CPU"), HOST_BIDILOAD_SM),
	NVB("all_to_one_write_sm", "peer.sm.write.all-to-one", HUB, ROW_TO_COLUMN,
	    TO_ROW("SM", "GPU"), TO_HUB),
	NOTED("all_to_one_read_sm", "peer.sm.read.one-to-all", HUB, COLUMN_TO_ROW,
	      TO_COLUMN("SM", "GPU"), HUB_IS_SOURCE_SM),
	NVB("one_to_all_write_sm", "peer.sm.write.one-to-all", HUB, COLUMN_TO_ROW,
	    TO_COLUMN("SM", "GPU"), FROM_HUB),
	NOTED("one_to_all_read_sm", "peer.sm.read.all-to-one", HUB, ROW_TO_COLUMN,
	      TO_ROW("SM", "GPU"), HUB_READS_SM),
	NVB("host_device_latency_sm", "h2d.chase.stride.pair", HOST, ROW_TO_COLUMN,
	    "memory latency SM CPU(row) <-> GPU(column)", CHASE_HOST),
	NVB("device_to_device_latency_sm", "peer.chase.stride.pair", PAIRS,
	    COLUMN_TO_ROW, "Device to Device Latency SM GPU(row) <-> GPU(column)",
	    CHASE_PEER),
	NVB("device_to_device_memcpy_read_tma", "peer.tma.read.pair", PAIRS,
	    COLUMN_TO_ROW, TO_COLUMN("TMA", "GPU"), ROW_READS),
	NVB("device_to_device_memcpy_write_tma", "peer.tma.write.pair", PAIRS,
	    ROW_TO_COLUMN, TO_ROW("TMA", "GPU"), TMA_WRITES),
	NVB("device_to_device_bidirectional_memcpy_read_tma", "peer.tma.read.bidi",
	    BOTH, COLUMN_TO_ROW, BOTH_WAYS("TMA", "GPU"), BOTH_READ),
	NOTED("device_to_device_bidirectional_memcpy_write_tma", "peer.tma.write.bidi",
	      BOTH, COLUMN_TO_ROW, BOTH_WAYS("TMA", "GPU"), BOTH_WRITE),
	NVB("device_local_copy", "local.ce.copy.alone", LOCAL, ROW_TO_COLUMN,
	    "memcpy local GPU(column)", LOCAL),
	NVB("device_local_copy_sm", "local.sm.copy.alone", LOCAL, ROW_TO_COLUMN,
	    "memcpy local SM GPU(column)", LOCAL),
	NVB("device_local_read_sm", "local.sm.read.alone", LOCAL, ROW_TO_COLUMN,
	    "local read SM GPU(column)", LOCAL_ONE_WAY),
	NVB("device_local_write_sm", "local.sm.write.alone", LOCAL, ROW_TO_COLUMN,
	    "local write SM GPU(column)", LOCAL_ONE_WAY),
	NVB("device_to_device_latency_tma", "peer.chase.bulk.pair", PAIRS,
	    COLUMN_TO_ROW, "Device to Device Latency TMA GPU(row) <-> GPU(column)",
	    CHASE_PEER),
	NVB("device_local_copy_tma", "local.tma.copy.alone", LOCAL, ROW_TO_COLUMN,
	    "memcpy local TMA GPU(column)", LOCAL),

	MULTI("device_to_device_memcpy_read_ce", "peer.ce.read.pair", PAIRS,
	      COLUMN_TO_ROW, TO_COLUMN("CE", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_memcpy_write_ce", "peer.ce.write.pair", PAIRS,
	      ROW_TO_COLUMN, TO_ROW("CE", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_read_ce", "peer.ce.read.bidi",
	      BOTH, COLUMN_TO_ROW, BOTH_WAYS("CE", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_write_ce", "peer.ce.write.bidi",
	      BOTH, ROW_TO_COLUMN, BOTH_WAYS("CE", "GPU"), BETWEEN_NODES_WRITE1),
	MULTI("device_to_device_memcpy_read_sm", "peer.sm.read.pair", PAIRS,
	      COLUMN_TO_ROW, TO_COLUMN("SM", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_memcpy_write_sm", "peer.sm.write.pair", PAIRS,
	      ROW_TO_COLUMN, TO_ROW("SM", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_read_sm", "peer.sm.read.bidi",
	      BOTH, COLUMN_TO_ROW, BOTH_WAYS("SM", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_write_sm", "peer.sm.write.bidi",
	      BOTH, ROW_TO_COLUMN, BOTH_WAYS("SM", "GPU"), BETWEEN_NODES_WRITE1),
	MULTI("device_to_device_all_to_one_write_sm", "peer.sm.write.all-to-one", HUB,
	      ROW_TO_COLUMN, "memcpy SM All Gpus -> GPU(column) total", BETWEEN_NODES),
	MULTI("device_to_device_all_from_one_read_sm", "peer.sm.read.one-to-all", HUB,
	      COLUMN_TO_ROW, "memcpy SM All Gpus <- GPU(column) total", BETWEEN_NODES),
	REFUSED("device_to_device_broadcast_one_to_all_sm", MULTICAST),
	REFUSED("device_to_device_broadcast_all_to_all_sm", MULTICAST),
	MULTI("bisect_write_ce", "peer.ce.write.bisect", BISECT, ROW_TO_COLUMN,
	      "memcpy CE bisect GPU(row)", OPPOSITE),

	{ .test = "peer.ce.write.pair",
	  .tool = P2P_TEST,
	  .name = "Unidirectional P2P=Enabled Bandwidth (P2P Writes)",
	  .differs = "Checks no data and does not wait until all is enqueued: 363 "
		     "to 392 GB/s on H200, where this test has 396." },
	{ .test = "peer.ce.write.bidi",
	  .tool = P2P_TEST,
	  .name = "Bidirectional P2P=Enabled Bandwidth",
	  .differs = "Gives the sum of both ways only, and checks no data." },

	/* the 27 that were published, with 7 that flush, in that order */
	SCOPE_FLUSH("cudaMemcpyAsync_HostToGPU", "NUMAMemcpy_HostToGPU",
		    "h2d.ce.pageable.pair", NUMA_GPU, 8, 32, PAGEABLE),
	SCOPE_FLUSH("cudaMemcpyAsync_GPUToHost", "NUMAMemcpy_GPUToHost",
		    "d2h.ce.pageable.pair", NUMA_GPU, 8, 32, PAGEABLE),
	SCOPE_FLUSH("cudaMemcpyAsync_PinnedToGPU", "NUMAMemcpy_PinnedToGPU",
		    "h2d.ce.registered.pair", NUMA_GPU, 8, 32, REGISTERED),
	SCOPE_FLUSH("cudaMemcpyAsync_GPUToPinned", "NUMAMemcpy_GPUToPinned",
		    "d2h.ce.registered.pair", NUMA_GPU, 8, 32, REGISTERED),
	SCOPE_FLUSH("cudaMemcpyAsync_HostToPinned", "NUMAMemcpy_HostToPinned",
		    "host.driver.pinned.pair", NUMA_NUMA, 8, 32, REGISTERED),
	SCOPE("cudaMemcpyAsync_GPUToGPU", "NUMAMemcpy_GPUToGPU",
	      "peer.staged.write.pair", NUMA_GPU_GPU, 8, 32, .noted = 1,
	      .differs = "Without a NUMA node in the name one cell stands for all, "
			 "named 0: the driver chooses where it stages. Peer access is taken back before "
			 "it, as there. " IDLE),
	SCOPE("cudaMemcpyAsync_GPUToGPUPeer", "Memcpy_GPUToGPUPeer",
	      "peer.ce.read.pair", GPU_GPU, 8, 32,
	      .differs =
		      "Issued by the destination, which the name does not say. " IDLE),
	SCOPE_FLUSH("cudaMemcpyAsync_Duplex_Host", "Duplex_NUMAMemcpy_Host",
		    "h2d.ce.pageable.bidi", NUMA_GPU, 8, 33, DUPLEX_PAGEABLE),
	SCOPE_FLUSH("cudaMemcpyAsync_Duplex_Pinned", "Duplex_NUMAMemcpy_Pinned",
		    "h2d.ce.registered.bidi", NUMA_GPU, 8, 33, DUPLEX_REGISTERED),
	SCOPE("cudaMemcpyAsync_Duplex_GPUGPUPeer", "Duplex_Memcpy_GPUGPUPeer",
	      "peer.ce.read.bidi", GPU_GPU, 8, 30, .every = 2, .noted = 1,
	      .differs = "Here both ways of a pair; the second copy of Comm|Scope "
			 "stays within one GPU."),
	SCOPE("ZeroCopy_HostToGPU", "ZeroCopy_HostToGPU_Read",
	      "h2d.zerocopy.pinned.pair", NUMA_GPU, 10, 33, .differs = ZEROCOPY),
	SCOPE("ZeroCopy_GPUToHost", "ZeroCopy_HostToGPU_Write",
	      "d2h.zerocopy.pinned.pair", NUMA_GPU, 10, 33, .differs = ZEROCOPY),
	SCOPE("ZeroCopy_GPUToGPU_Read", NULL, "peer.zerocopy.read.pair", GPU_GPU, 10,
	      33, .differs = ZEROCOPY),
	SCOPE("ZeroCopy_GPUToGPU_Write", NULL, "peer.zerocopy.write.pair", GPU_GPU,
	      10, 33, .differs = ZEROCOPY),
	SCOPE("ZeroCopy_Duplex_GPUGPU_Read", NULL, "peer.zerocopy.read.bidi", GPU_GPU,
	      10, 33, .noted = 1, .differs = ZEROCOPY_READS_NOTHING),
	SCOPE("ZeroCopy_Duplex_GPUGPU_Write", NULL, "peer.zerocopy.write.bidi",
	      GPU_GPU, 10, 33, .differs = ZEROCOPY),
	SCOPE("UM_Demand_HostToGPU", "UM_Coherence_HostToGPU",
	      "h2d.demand.managed.pair", NUMA_GPU, 12, 30, .differs = MANAGED_GPU),
	SCOPE_BY("UM_Demand_GPUToHost", "UM_Coherence_GPUToHost",
		 "d2h.demand.managed.pair", NUMA_GPU, 12, 30, NULL, .noted = 1,
		 .differs = CPU_TIME),
	SCOPE_BY("UM_Demand_GPUToHostMt", "UM_Coherence_GPUToHostMt",
		 "d2h.demand.managed.pair", NUMA_GPU_THREADS, 12, 30,
		 "min_time:0.100/manual_time",
		 .differs = "The same threads; the longest from any start to any end."),
	SCOPE("UM_Demand_GPUToGPU", "UM_Coherence_GPUToGPU",
	      "peer.demand.managed.pair", GPU_GPU, 12, 30, .differs = MANAGED_GPU),
	SCOPE_BY("Demand_Duplex_HostGPU", "Coherence_Duplex_HostGPU",
		 "h2d.demand.managed.bidi", NUMA_GPU, 12, 33, NULL, .noted = 1,
		 .differs = CPU_TIME),
	SCOPE("Demand_Duplex_GPUGPU", "Coherence_Duplex_GPUGPU",
	      "peer.demand.managed.bidi", GPU_GPU, 12, 33, .differs = MANAGED_GPU),
	SCOPE("UM_Prefetch_HostToGPU", NULL, "h2d.prefetch.managed.pair", NUMA_GPU,
	      10, 30, .differs = MANAGED_GPU),
	SCOPE("UM_Prefetch_GPUToHost", NULL, "d2h.prefetch.managed.pair", NUMA_GPU,
	      10, 30, .differs = MANAGED_GPU),
	SCOPE("UM_Prefetch_GPUToGPU", NULL, "peer.prefetch.managed.pair", GPU_GPU, 10,
	      30, .differs = MANAGED_GPU),
	SCOPE("Prefetch_Duplex_HostGPU", NULL, "h2d.prefetch.managed.bidi", NUMA_GPU,
	      12, 33, .noted = 1, .differs = NOT_JOINED),
	SCOPE("Prefetch_Duplex_GPUGPU", NULL, "peer.prefetch.managed.bidi", GPU_GPU,
	      12, 33, .differs = MANAGED_GPU),

	/* more of it that is measured here */
	SCOPE("cudaMemcpyAsync_WCToGPU", "NUMAMemcpy_WCToGPU", "h2d.ce.wc.pair",
	      NUMA_GPU, 8, 32,
	      .differs = "The CPU never writes the source there. " IDLE),
	SCOPE("cudaMemcpyAsync_GPUToWC", "NUMAMemcpy_GPUToWC", "d2h.ce.wc.pair",
	      NUMA_GPU, 8, 32, .differs = IDLE),
	SCOPE("cudaMemcpyPeerAync_GPUToGPU", "cudaMemcpyPeerAsync_GPUToGPU",
	      "peer.staged.write.pair", GPU_GPU, 8, 33,
	      .differs =
		      "It is spelt so. Peer access is taken back before it, as here."),
	SCOPE("cudaMemcpyPeerAsync_GPUToGPUPeer", NULL, "peer.peercopy.write.pair",
	      GPU_GPU, 8, 33, .differs = IDLE),
	SCOPE("cudaMemcpyPeerAsync_Duplex_GPUGPU", NULL, "peer.staged.write.bidi",
	      GPU_GPU, 8, 27,
	      .differs = "Peer access is taken back before it, as here."),
	SCOPE("cudaMemcpyPeerAsync_Duplex_GPUGPUPeer", NULL,
	      "peer.peercopy.write.bidi", GPU_GPU, 8, 27,
	      .differs = "Both wait behind a kernel there, as here behind a gate."),
	SCOPE("ZeroCopy_HostToGPU_flush", NULL, "h2d.zerocopy.pinned.pair", NUMA_GPU,
	      10, 33, .variant.cache = CS_CACHE_COLD, .noted = 1, .differs = FLUSHED),
	SCOPE("ZeroCopy_Duplex_HostGPU", NULL, "h2d.zerocopy.pinned.bidi", NUMA_GPU,
	      10, 33,
	      .differs = "Half the blocks of one kernel read there, and half write."),

	/* copies that are not one block */
	SCOPE_SHAPE("3d_cudaMemcpy2DAsync_GPUToGPU", "peer.copy2d.halo.pair", GPU_GPU,
		    BOX, .differs = ONE_2D),
	SCOPE_SHAPE("3d_cudaMemcpy2DAsync_PinnedToGPU", "h2d.copy2d.pinned.pair",
		    NUMA_GPU, BOX, .noted = 1,
		    .differs = "It is a 2D copy here; Comm|Scope copies in 3D."),
	SCOPE_SHAPE("3d_cudaMemcpy2DAsync_GPUToPinned", "d2h.copy2d.pinned.pair",
		    NUMA_GPU, BOX, .differs = ONE_2D),
	SCOPE_SHAPE("3d_cudaMemcpy3DPeerAsync_GPUToGPU", "peer.copy3d.halo.pair",
		    GPU_GPU, BOX, .differs = IDLE),
	SCOPE_SHAPE("3d_cudaMemcpy3DAsync_PinnedToGPU", "h2d.copy3d.pinned.pair",
		    NUMA_GPU, BOX, .differs = IDLE),
	SCOPE_SHAPE("3d_cudaMemcpy3DAsync_GPUToPinned", "d2h.copy3d.pinned.pair",
		    NUMA_GPU, BOX, .differs = IDLE),
	SCOPE_SHAPE("3d_kernel3D_push", "peer.sm3d.halo.pair", GPU_GPU, BOX,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("3d_kernel3D_PinnedToGPU", "h2d.sm3d.pinned.pair", NUMA_GPU, BOX,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("3d_kernel3D_GPUToPinned", "d2h.sm3d.pinned.pair", NUMA_GPU, BOX,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("3d_pack_cudaMemcpyPeer_unpack", "peer.pack.halo.pair", GPU_GPU,
		    BOX, .differs = IDLE),
	SCOPE_SHAPE("chunk_pull", "peer.chunk.read.pair", GPU_GPU, CHUNK,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("chunk_push", "peer.chunk.write.pair", GPU_GPU, CHUNK,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("stride_pull", "peer.stride.read.pair", GPU_GPU, STRIDE,
		    .differs = BY_SHAPE),
	SCOPE_SHAPE("stride_push", "peer.stride.write.pair", GPU_GPU, STRIDE,
		    .differs = BY_SHAPE),

	/* calls */
	SCOPE_LAUNCH("0"),
	SCOPE_LAUNCH("256"),
	SCOPE_LAUNCH("1024"),
	SCOPE_LAUNCH("4096"),
	SCOPE_BY("cudart_cudaMallocManaged", NULL, "local.call.managed-alloc.alone",
		 NUMA_GPU, 12, 33, NULL, .differs = BY_DRIVER),
	SCOPE_TAIL("cudart_cudaGraphInstantiate_kernel",
		   "local.call.graph-instantiate.alone", NUMA_GPU, WORD, NULL,
		   .word = "1", .differs = BY_DRIVER),
	SCOPE_TAIL("cudart_cudaGraphLaunch_kernel", "local.call.graph-launch.alone",
		   NUMA_GPU, WORD, NULL, .word = "1", .differs = BY_DRIVER),
	SCOPE_TAIL("cudart_cudaMemcpy3DAsync_GPUToGPU", "local.call.copy3d.alone",
		   GPU_GPU, NONE, ONE_THREAD, .noted = 1,
		   .differs = "Here a box of 64 KiB; there 8 x 8 x 8 bytes, without a "
			      "direction. " BY_DRIVER),
	SCOPE_TAIL("cudaDeviceSynchronize", "local.call.context-sync.alone", NUMA_GPU,
		   NONE, ONE_THREAD, .differs = BY_DRIVER),
	SCOPE_BY("libc_malloc", NULL, "host.call.malloc.alone", NUMA, 12, 30, NULL,
		 .differs = BY_NODE),
	SCOPE_BY("libc_malloc_memset", NULL, "host.call.malloc-touch.alone", NUMA, 12,
		 30, "manual_time", .differs = BY_NODE),
};

#define N_ALIASES (sizeof(aliases) / sizeof(*aliases))

const struct cs_alias *cs_aliases(size_t *n)
{
	*n = N_ALIASES;
	return aliases;
}

int cs_alias_test(const struct cs_alias *alias)
{
	return alias->test ? cs_test_index(alias->test) : -1;
}

int cs_alias_is_of_nvbandwidth(const struct cs_alias *alias)
{
	return !strcmp(alias->tool, NVBANDWIDTH);
}

int cs_alias_is_of_commscope(const struct cs_alias *alias)
{
	return !strcmp(alias->tool, COMM_SCOPE);
}

int cs_alias_is_taken(const struct cs_alias *alias)
{
	return cs_alias_is_of_nvbandwidth(alias) || cs_alias_is_of_commscope(alias);
}

/* Elements that are used of each so many; nobody copies chunks that are full. */
static uint64_t chunk(size_t i)
{
	static const uint16_t sizes[] = { 32, 64, 128, 256 };
	static const uint8_t of_32[] = { 31, 24, 16, 9, 8, 7, 4, 2, 1 };
	static const uint8_t of_more[] = { 32, 16, 8, 4, 2, 1 };
	const size_t n = sizeof(of_32), more = sizeof(of_more);
	const size_t size = i < n ? 0 : 1 + (i - n) / more;

	if (size >= sizeof(sizes) / sizeof(*sizes))
		return 0;
	return cs_shape_pieces(CS_SCOPE_ELEMENT *
				       (size ? of_more[(i - n) % more] : of_32[i]),
			       CS_SCOPE_ELEMENT * sizes[size]);
}

uint64_t cs_alias_shape(const struct cs_alias *alias, size_t i)
{
	const uint32_t side = CS_SCOPE_SIDE;

	switch (alias->tail) {
	case CS_TAIL_BOX:
		return i < 6 ? cs_shape_face(side, side, side, i < 3 ? 3 : 2,
					     CS_FACE_X + (int)i % 3) :
			       0;
	case CS_TAIL_CHUNK:
		return chunk(i);
	case CS_TAIL_STRIDE:
		return i < 8 ? cs_shape_pieces(CS_SCOPE_ELEMENT,
					       CS_SCOPE_ELEMENT << (i + 1)) :
			       0;
	default:
		return 0;
	}
}

const char *cs_alias_bare(const char *name)
{
	const size_t n = sizeof(CS_SCOPE_PREFIX) - 1;

	return strncmp(name, CS_SCOPE_PREFIX, n) ? name : name + n;
}

const char *cs_list_item(const char *list, char *item, size_t size)
{
	size_t length = strcspn(list, ",");

	cs_text(item, size, "%.*s", (int)(length < size ? length : size), list);
	return list[length] ? list + length + 1 : NULL;
}

static int is_ours(const char *item)
{
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (!fnmatch(item, test[i].name, 0))
			return 1;
	return 0;
}

int cs_alias_fits(const struct cs_alias *alias, const char *item)
{
	const char *bare = cs_alias_bare(item);

	if (!cs_alias_is_taken(alias))
		return 0;
	if (cs_alias_is_of_commscope(alias))
		item = bare;
	return (!fnmatch(item, alias->name, 0) ||
		(alias->before && !fnmatch(item, alias->before, 0))) &&
	       !is_ours(item);
}

int cs_alias_asked(const struct cs_alias *alias, const char *list)
{
	char item[CS_ITEM];

	while (list) {
		list = cs_list_item(list, item, sizeof(item));
		if (cs_alias_fits(alias, item))
			return 1;
	}
	return 0;
}

const char *cs_alias_refusal(const char *item)
{
	const char *why = NULL;

	for (size_t i = 0; i < N_ALIASES; i++) {
		if (!cs_alias_fits(&aliases[i], item))
			continue;
		if (cs_alias_test(&aliases[i]) >= 0)
			return NULL;
		why = aliases[i].test ? "this version has no such test" :
					aliases[i].differs;
	}
	return why;
}

void cs_alias_note(const char *list, const char *test,
		   const struct cs_variant *variant, char *to, size_t size)
{
	to[0] = '\0';
	for (size_t i = 0; i < N_ALIASES; i++) {
		const struct cs_alias *alias = &aliases[i];

		if (!alias->noted || !alias->test || strcmp(alias->test, test) ||
		    alias->variant.cache != variant->cache ||
		    !cs_alias_asked(alias, list))
			continue;
		cs_text_add(to, size, "%s%s of %s: %s", to[0] ? " " : "", alias->name,
			    alias->tool, alias->differs);
	}
}

/* ---- suites ---- */

static const struct cs_suite suites[] = {
	/* until there is a test of the topology */
	{ .name = "quick",
	  .tests = "peer.ce.write.pair,peer.cpu.write.pair,h2d.ce.pinned.pair,"
		   "d2h.ce.pinned.pair,local.ce.copy.alone" },
	{ .name = "nvbandwidth",
	  .tests = "host_to_*,device_to_*,device_local_*,all_to_*,"
		   "one_to_all_*,host_device_latency_*" },
	{ .name = "commscope",
	  .tests =
		  "Comm_cudaMemcpyAsync_HostToGPU,Comm_cudaMemcpyAsync_HostToGPU_flush,"
		  "Comm_cudaMemcpyAsync_GPUToHost,Comm_cudaMemcpyAsync_GPUToHost_flush,"
		  "Comm_cudaMemcpyAsync_PinnedToGPU,Comm_cudaMemcpyAsync_PinnedToGPU_flush,"
		  "Comm_cudaMemcpyAsync_GPUToPinned,Comm_cudaMemcpyAsync_GPUToPinned_flush,"
		  "Comm_cudaMemcpyAsync_HostToPinned,"
		  "Comm_cudaMemcpyAsync_HostToPinned_flush,Comm_cudaMemcpyAsync_GPUToGPU,"
		  "Comm_cudaMemcpyAsync_GPUToGPUPeer,Comm_cudaMemcpyAsync_Duplex_Host,"
		  "Comm_cudaMemcpyAsync_Duplex_Host_flush,"
		  "Comm_cudaMemcpyAsync_Duplex_Pinned,"
		  "Comm_cudaMemcpyAsync_Duplex_Pinned_flush,"
		  "Comm_cudaMemcpyAsync_Duplex_GPUGPUPeer,Comm_ZeroCopy_HostToGPU,"
		  "Comm_ZeroCopy_GPUToHost,Comm_ZeroCopy_GPUToGPU_Read,"
		  "Comm_ZeroCopy_GPUToGPU_Write,Comm_ZeroCopy_Duplex_GPUGPU_Read,"
		  "Comm_ZeroCopy_Duplex_GPUGPU_Write,Comm_UM_Demand_HostToGPU,"
		  "Comm_UM_Demand_GPUToHost,Comm_UM_Demand_GPUToHostMt,"
		  "Comm_UM_Demand_GPUToGPU,Comm_Demand_Duplex_HostGPU,"
		  "Comm_Demand_Duplex_GPUGPU,Comm_UM_Prefetch_HostToGPU,"
		  "Comm_UM_Prefetch_GPUToHost,Comm_UM_Prefetch_GPUToGPU,"
		  "Comm_Prefetch_Duplex_HostGPU,Comm_Prefetch_Duplex_GPUGPU",
	  .every_numa = 1 },
	/* of a size that takes seconds */
	{ .name = "unified",
	  .tests = "*.managed.*,*.system.*,*.stream.*,*.streamw.*,"
		   "local.overlap.*,local.call.prefetch-*,*.chase.fault*",
	  .copy_bytes = 64u << 20,
	  .kernels = 1u | 1u << 3 | 1u << 31 },
	/* what one call costs, and how that grows with what it allocates */
	{ .name = "calls",
	  .tests = "local.call.*,host.call.*,peer.driver.open.pair",
	  .copy_bytes = 4u << 10,
	  .last_bytes = 16u << 20,
	  .growth = 64 },
	/* alpha, beta and gamma */
	{ .name = "model",
	  .tests = "*.ce.once.pair,peer.ce.write.pair,peer.sm.write.pair,peer.cpu.write.pair,"
		   "h2d.ce.pinned.pair,d2h.ce.pinned.pair,local.sm.read.alone,"
		   "local.sm.triad.alone,local.l2.*,local.shared.*,*.fma.*,host.team.read.*",
	  .copy_bytes = 4u << 10,
	  .last_bytes = 256u << 20,
	  .growth = 4 },
	{ .name = "halo",
	  .tests = "peer.*.halo.pair,*.copy2d.pinned.pair,*.copy3d.pinned.pair,"
		   "*.sm3d.pinned.pair,peer.chunk.*,peer.stride.*" },
	{ .name = "all", .tests = "*" },
};

#define N_SUITES (sizeof(suites) / sizeof(*suites))

const struct cs_suite *cs_suite_named(const char *name)
{
	for (size_t i = 0; i < N_SUITES; i++)
		if (!strcmp(suites[i].name, name))
			return &suites[i];
	return NULL;
}

const char *cs_suite(const char *name)
{
	const struct cs_suite *suite = cs_suite_named(name);

	return suite ? suite->tests : NULL;
}

const char *cs_suite_name(size_t i)
{
	return i < N_SUITES ? suites[i].name : NULL;
}
