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
#define MULTICAST                                                               \
	"it needs an NVLink multicast object, and this program makes none"

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
	NOTED("device_to_device_bidirectional_memcpy_write_ce",
	      "peer.ce.write.bidi", BOTH, COLUMN_TO_ROW, BOTH_WAYS("CE", "GPU"),
	      BOTH_WRITE),
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
	NOTED("device_to_device_bidirectional_memcpy_write_sm",
	      "peer.sm.write.bidi", BOTH, COLUMN_TO_ROW, BOTH_WAYS("SM", "GPU"),
	      BOTH_WRITE),
	NVB("all_to_host_memcpy_sm", "d2h.sm.pinned.load", HOST, COLUMN_TO_ROW,
	    TO_ROW("SM", "CPU"), HOST_LOAD),
	NOTED("all_to_host_bidirectional_memcpy_sm", "d2h.sm.pinned.bidiload",
	      HOST, COLUMN_TO_ROW, BOTH_WAYS("SM", "CPU"), HOST_BIDILOAD_SM),
	NVB("host_to_all_memcpy_sm", "h2d.sm.pinned.load", HOST, ROW_TO_COLUMN,
	    TO_COLUMN("SM", "CPU"), HOST_LOAD),
	NOTED("host_to_all_bidirectional_memcpy_sm", "h2d.sm.pinned.bidiload",
	      HOST, ROW_TO_COLUMN, BOTH_WAYS("SM", "CPU"), HOST_BIDILOAD_SM),
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
	NOTED("device_to_device_bidirectional_memcpy_write_tma",
	      "peer.tma.write.bidi", BOTH, COLUMN_TO_ROW, BOTH_WAYS("TMA", "GPU"),
	      BOTH_WRITE),
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
	MULTI("device_to_device_bidirectional_memcpy_read_ce",
	      "peer.ce.read.bidi", BOTH, COLUMN_TO_ROW, BOTH_WAYS("CE", "GPU"),
	      BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_write_ce",
	      "peer.ce.write.bidi", BOTH, ROW_TO_COLUMN, BOTH_WAYS("CE", "GPU"),
	      BETWEEN_NODES_WRITE1),
	MULTI("device_to_device_memcpy_read_sm", "peer.sm.read.pair", PAIRS,
	      COLUMN_TO_ROW, TO_COLUMN("SM", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_memcpy_write_sm", "peer.sm.write.pair", PAIRS,
	      ROW_TO_COLUMN, TO_ROW("SM", "GPU"), BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_read_sm",
	      "peer.sm.read.bidi", BOTH, COLUMN_TO_ROW, BOTH_WAYS("SM", "GPU"),
	      BETWEEN_NODES),
	MULTI("device_to_device_bidirectional_memcpy_write_sm",
	      "peer.sm.write.bidi", BOTH, ROW_TO_COLUMN, BOTH_WAYS("SM", "GPU"),
	      BETWEEN_NODES_WRITE1),
	MULTI("device_to_device_all_to_one_write_sm", "peer.sm.write.all-to-one",
	      HUB, ROW_TO_COLUMN, "memcpy SM All Gpus -> GPU(column) total",
	      BETWEEN_NODES),
	MULTI("device_to_device_all_from_one_read_sm", "peer.sm.read.one-to-all",
	      HUB, COLUMN_TO_ROW, "memcpy SM All Gpus <- GPU(column) total",
	      BETWEEN_NODES),
	REFUSED("device_to_device_broadcast_one_to_all_sm", MULTICAST),
	REFUSED("device_to_device_broadcast_all_to_all_sm", MULTICAST),
	MULTI("bisect_write_ce", "peer.ce.write.bisect", BISECT, ROW_TO_COLUMN,
	      "memcpy CE bisect GPU(row)", OPPOSITE),

	{ .test = "peer.ce.write.pair", .tool = P2P_TEST,
	  .name = "Unidirectional P2P=Enabled Bandwidth (P2P Writes)",
	  .differs = "Checks no data and does not wait until all is enqueued: 363 "
		     "to 392 GB/s on H200, where this test has 396." },
	{ .test = "peer.ce.write.bidi", .tool = P2P_TEST,
	  .name = "Bidirectional P2P=Enabled Bandwidth",
	  .differs = "Gives the sum of both ways only, and checks no data." },
	{ .test = "peer.ce.read.pair", .tool = COMM_SCOPE,
	  .name = "cudaMemcpyAsync_GPUToGPUPeer",
	  .differs = "Issued by the destination, which the name does not say. The "
		     "start event fires before the copy is enqueued, so that is "
		     "timed as well; the mean of one batch, no check of the "
		     "data." },
	{ .test = "peer.ce.read.bidi", .tool = COMM_SCOPE,
	  .name = "cudaMemcpyAsync_Duplex_GPUGPUPeer",
	  .differs = "Its second copy stays within one GPU, so it is not both ways "
		     "of a link." },
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

int cs_alias_is_taken(const struct cs_alias *alias)
{
	return !strcmp(alias->tool, NVBANDWIDTH);
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
	return cs_alias_is_taken(alias) && !fnmatch(item, alias->name, 0) &&
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
		if (aliases[i].test)
			return NULL;
		why = aliases[i].differs;
	}
	return why;
}

void cs_alias_note(const char *list, const char *test, char *to, size_t size)
{
	to[0] = '\0';
	for (size_t i = 0; i < N_ALIASES; i++) {
		const struct cs_alias *alias = &aliases[i];

		if (!alias->noted || !alias->test || strcmp(alias->test, test) ||
		    !cs_alias_asked(alias, list))
			continue;
		cs_text_add(to, size, "%s%s of %s: %s", to[0] ? " " : "",
			    alias->name, alias->tool, alias->differs);
	}
}

/* ---- suites ---- */

static const struct {
	const char *name, *tests;
} suites[] = {
	/* until there is a test of the topology */
	{ "quick", "peer.ce.write.pair,peer.cpu.write.pair,h2d.ce.pinned.pair,"
		   "d2h.ce.pinned.pair,local.ce.copy.alone" },
	{ "nvbandwidth", "host_to_*,device_to_*,device_local_*,all_to_*,"
			 "one_to_all_*,host_device_latency_*" },
	{ "all", "*" },
};

#define N_SUITES (sizeof(suites) / sizeof(*suites))

const char *cs_suite(const char *name)
{
	for (size_t i = 0; i < N_SUITES; i++)
		if (!strcmp(suites[i].name, name))
			return suites[i].tests;
	return NULL;
}

const char *cs_suite_name(size_t i)
{
	return i < N_SUITES ? suites[i].name : NULL;
}
