#include "base/arena.h"
#include "check/verdict/check.h"
#include "check/link/expect.h"

#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define BIDI "peer.ce.write.bidi"

static const struct cs_finding *finding(const struct canned *c, const char *id)
{
	const struct cs_finding *f = c->run.findings.data;

	for (size_t i = 0; i < c->run.findings.n; i++)
		if (f[i].id == cs_finding_find(id))
			return &f[i];
	return NULL;
}

/* The check has exactly these findings. */
static void checked(struct canned *c, const char *want)
{
	t_eq_int(cs_check_run(&c->run, NULL), 0);
	t_found(c, want);
}

/* ---- peaks ---- */

HOLDS("an NVLink peak is live links times the usable rate of their version") {
	const struct {
		int up, version;
		double peak;
	} known[] = { { 18, 4, 450 }, { 17, 4, 425 }, { 12, 3, 300 },
		      { 6, 2, 150 },  { 18, 5, 900 }, { 4, 1, 80 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct cs_link_facts link = { .nvlinks_up = known[i].up,
					      .nvlink_version = known[i].version };

		t_near(cs_nvlink_peak_gbs(&link), known[i].peak, 1e-9);
	}
}

HOLDS("… or the rate at which they run, where that is lower") {
	struct cs_link_facts link = { .nvlinks_up = 4,
				      .nvlink_version = 3,
				      .nvlink_raw_gbs = 14.0625 };

	t_near(cs_nvlink_peak_gbs(&link), 56.25, 1e-9);
	link.nvlink_raw_gbs = 25.781;
	t_near(cs_nvlink_peak_gbs(&link), 100, 1e-9);
}

HOLDS("an NVLink peak is unknown when links or version are, 0 without links") {
	struct cs_link_facts link = { .nvlinks_up = -1, .nvlink_version = 4 };

	t_ok(isnan(cs_nvlink_peak_gbs(&link)));
	link.nvlinks_up = 18;
	link.nvlink_version = -1;
	t_ok(isnan(cs_nvlink_peak_gbs(&link)));
	link.nvlink_version = 99;
	t_ok(isnan(cs_nvlink_peak_gbs(&link)));
	link.nvlinks_up = 0;
	t_near(cs_nvlink_peak_gbs(&link), 0, 0);
}

HOLDS("a PCIe peak is after coding, and unknown for unknown generations") {
	t_near(cs_pcie_peak_gbs(5, 16), 63.0, 0.05);
	t_near(cs_pcie_peak_gbs(4, 16), 31.5, 0.05);
	t_near(cs_pcie_peak_gbs(3, 8), 7.88, 0.01);
	t_near(cs_pcie_peak_gbs(6, 16), 121, 0.1);
	t_ok(isnan(cs_pcie_peak_gbs(-1, 16)));
	t_ok(isnan(cs_pcie_peak_gbs(5, -1)));
	t_ok(isnan(cs_pcie_peak_gbs(40, 16)));
}

/* ---- findings ---- */

HOLDS("a clean run has no finding") {
	OWNED(canned) c = canned(1, 8, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	char summary[400];

	checked(&c, "");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "112 of 112 cells measured, no findings");
}

HOLDS("cells with the same reason are one finding with a count") {
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);

	for (int dst = 1; dst < 8; dst++)
		canned_spoil(canned_cell(&c, 0, PAIR, 0, dst), CS_FAILED,
			     "cuMemcpyAsync: CUDA_ERROR_INVALID_VALUE (1)");
	canned_spoil(canned_cell(&c, 0, PAIR, 5, 1), CS_FAILED, "another");
	cs_check_run(&c.run, NULL);
	t_found(&c,
		"critical! cell-failed n001 gpu 0000:1b:00.0: peer.ce.write.pair "
		"0->1, 0->2, 0->3 and 4 more cells failed: cuMemcpyAsync: "
		"CUDA_ERROR_INVALID_VALUE (1)\n"
		"critical cell-failed n001: peer.ce.write.pair 5->1 failed: another");
}

HOLDS("a corrupt cell is critical and leads the summary") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	char summary[400];

	canned_spoil(canned_cell(&c, 0, PAIR, 2, 3), CS_CORRUPT, "8 words wrong");
	cs_check_run(&c.run, NULL);
	t_found(&c,
		"critical! cell-corrupt n001 link 0000:1d:00.0: peer.ce.write.pair 2->3 "
		"corrupt: 8 words wrong");
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "n001: peer.ce.write.pair 2->3 corrupt: 8 words wrong");
}

HOLDS("a cell that timed out is critical") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	canned_spoil(canned_cell(&c, 0, PAIR, 2, 3), CS_TIMEOUT, "not ended in 5 s");
	cs_check_run(&c.run, NULL);
	t_found(&c,
		"critical! cell-timeout n001 link 0000:1d:00.0: peer.ce.write.pair 2->3 timed "
		"out: not ended in 5 s");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_CRITICAL);
}

HOLDS("GPUs are called by their labels, not by their numbers in the plan") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char summary[400];

	for (int a = 0; a < 2; a++)
		cs_text(c.run.node[0].agent[a].label, 12, "%d", 2 + a);
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_FAILED, "it broke");
	canned_cell(&c, 0, PAIR, 1, 0)->flags |= CS_ROW_THROTTLED;
	c.run.node[0].agent[1].after.pcie_replays += 1;
	c.run.node[0].agent[0].bound = 0;
	cs_text(c.run.node[0].agent[0].note, 160, "no room");
	checked(&c, "critical cell-failed n001: peer.ce.write.pair 2->3 failed: "
		    "it broke\n"
		    "warning throttled n001: peer.ce.write.pair 3->2: measured "
		    "while a GPU was throttled\n"
		    "note not-bound n001: GPU 2 not bound to a NUMA node: no room\n"
		    "warning error-counters n001 gpu 0000:1c:00.0: GPU 3 "
		    "(0000:1c:00.0): 1 PCIe replays during the run");
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "n001: peer.ce.write.pair 2->3 failed: it broke");
}

HOLDS("a link that is down is critical without --check, and changes no status") {
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);
	const struct cs_finding *f;
	char summary[400], line[CS_REASON_LINE];

	c.run.node[0].agent[3].link.nvlinks_up--;
	checked(&c, "critical! nvlink-down n001 gpu 0000:1e:00.0: GPU 3: 17 of "
		    "18 NVLinks are up");
	f = finding(&c, "nvlink-down");
	t_eq_int(f->check, 1);
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "n001: GPU 3: 17 of 18 NVLinks are up");
	cs_run_reason(&c.run, line);
	t_eq_str(line, "cscope-mpi ok: 56 of 56 cells measured");
}

HOLDS("all skipped cells of a node are one note") {
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);

	for (int dst = 7; dst > 1; dst--)
		canned_spoil(canned_cell(&c, 0, PAIR, 1, dst), CS_SKIPPED, "no way");
	checked(&c, "note cell-skipped n001: peer.ce.write.pair 1->2, 1->3, 1->4 "
		    "and 3 more cells skipped: no way");
	c.run.findings.n = 0;
	canned_spoil(canned_cell(&c, 0, PAIR, 1, 5), CS_SKIPPED, "no other way");
	checked(&c, "note cell-skipped n001: peer.ce.write.pair 1->2, 1->3, 1->4 "
		    "and 3 more cells skipped: no way; others for other reasons");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
}

HOLDS("the finding of a failed agent stands for its cells") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_finding *f;
	char summary[400];

	canned_spoil(canned_cell(&c, 0, PAIR, 2, 3), CS_FAILED,
		     "GPU 2 (rank 2): its process died");
	f = cs_vec_add(&c.run.findings, 1, NULL);
	*f = (struct cs_finding){ .severity = CS_CRITICAL };
	cs_text(f->text, sizeof(f->text),
		"GPU 2 (rank 2): its process died; process 77");
	checked(&c, "critical  n001: GPU 2 (rank 2): its process died; process 77");
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_FAILED, "it broke");
	checked(&c, "critical  n001: GPU 2 (rank 2): its process died; process 77\n"
		    "critical cell-failed n001: peer.ce.write.pair 0->1 failed: "
		    "it broke");
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "n001: GPU 2 (rank 2): its process died; process 77 (and 1 "
			  "more)");
}

static void throttle(struct canned *c, int src, int dst, int end)
{
	struct cs_row *row = canned_cell(c, 0, PAIR, src, dst);

	row->flags |= CS_ROW_THROTTLED;
	canned_apart(row)->throttle |= 0x8;
	canned_apart(row)->throttle_at[end] |= 0x8;
}

HOLDS("a throttled GPU is named by its cells") {
	const struct cs_finding *f;
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	throttle(&c, 0, 3, 1);
	throttle(&c, 3, 1, 0);
	checked(&c, "warning throttled n001 gpu 0000:1e:00.0: GPU 3 "
		    "(0000:1e:00.0) throttled by hardware slowdown: "
		    "peer.ce.write.pair 0->3, 3->1 measured meanwhile");
	f = finding(&c, "throttled");
	t_ok(f && f->next[0]);
}

HOLDS("what all GPUs of a node share is told once") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	for (int i = 0; i < 4; i++) {
		throttle(&c, i, (i + 1) % 4, 0);
		c.run.node[0].agent[i].before.others = 1;
	}
	checked(&c, "warning throttled n001 node: all 4 GPUs throttled by "
		    "hardware slowdown: peer.ce.write.pair 0->1, 1->2, 2->3 and "
		    "1 more cell measured meanwhile\n"
		    "warning in-use n001 node: all 4 GPUs: 1 other process on each");
}

HOLDS("when nothing was measured the summary says why") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	struct cs_row *row;
	char summary[400];

	row = c.run.rows.rows.data;
	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		canned_spoil(&row[i], CS_SKIPPED, "no way");
	cs_check_run(&c.run, NULL);
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "nothing could be measured: no way");
	c.run.rows.rows.n = 0;
	canned_index(&c);
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "nothing could be measured");
}

HOLDS("how certain figures are is a note at most, and of cells within 5 % nothing") {
	OWNED(canned) c = canned(1, 4, 0, PAIR ",h2d.ce.pinned.pair", 1);
	struct cs_row *unstable = canned_cell(&c, 0, "h2d.ce.pinned.pair",
					      CS_NUMA_LOCAL, 2);
	struct cs_row *steadier = canned_cell(&c, 0, PAIR, 0, 1);

	unstable->flags |= CS_ROW_NOT_CONVERGED;
	unstable->stats.ci_low = 0.9 * unstable->stats.median;
	steadier->flags |= CS_ROW_NOT_CONVERGED;
	steadier->stats.ci_low = 0.96 * steadier->stats.median;
	c.run.checks = CS_CHECK_TOPOLOGY;
	checked(&c, "note not-converged n001: h2d.ce.pinned.pair host->2: "
		    "unstable, up to +-10 %");
	c.run.findings.n = 0;
	unstable->stats.ci_high = 3 * unstable->stats.median;
	checked(&c, "note not-converged n001: h2d.ce.pinned.pair host->2: "
		    "unstable, some by more than 100 %");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
}

HOLDS("cells in use or throttled are warnings and do not change the status") {
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.[pb]*i[rd]*", 1);

	canned_cell(&c, 0, PAIR, 0, 3)->flags |= CS_ROW_THROTTLED;
	canned_cell(&c, 0, PAIR, 1, 3)->flags |= CS_ROW_IN_USE;
	canned_cell(&c, 0, BIDI, 1, 3)->flags |= CS_ROW_LOW_OVERLAP;
	canned_cell(&c, 0, BIDI, 1, 3)->overlap = 0.712;
	checked(&c, "warning throttled n001: peer.ce.write.pair 0->3: measured "
		    "while a GPU was throttled\n"
		    "warning in-use n001: peer.ce.write.pair 1->3: measured "
		    "while others used a GPU\n"
		    "note low-overlap n001: peer.ce.write.bidi 1->3: overlap "
		    "only 71.2 %");
	/* findings change the status under a check only */
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
}

HOLDS("error counters that grew and foreign processes are warnings") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.node[0].agent[2].after.nvlink_errors += 12;
	c.run.node[0].agent[3].after.others = 2;
	checked(&c, "warning in-use n001 gpu 0000:1e:00.0: GPU 3 (0000:1e:00.0): "
		    "2 other processes on it, which started during the run; "
		    "peer.ce.write.pair 0->3, 1->3, 2->3 and 3 more cells "
		    "measured beside them\n"
		    "warning error-counters n001 gpu 0000:1d:00.0: GPU 2 "
		    "(0000:1d:00.0): 12 NVLink errors during the run");
}

/* Skipped or measured all the same: of a used GPU there is one finding. */
HOLDS("a GPU that others use is one finding, with what it did to cells") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.node[0].agent[1].before.others = 1;
	c.run.node[0].agent[3].before.others = 2;
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_SKIPPED,
		     "GPU 1 is in use by 1 process of others");
	canned_spoil(canned_cell(&c, 0, PAIR, 2, 3), CS_SKIPPED,
		     "GPU 3 is in use by 2 processes of others");
	canned_cell(&c, 0, PAIR, 3, 2)->flags |= CS_ROW_IN_USE;
	canned_cell(&c, 0, PAIR, 1, 2)->flags |= CS_ROW_IN_USE;
	checked(&c, "warning in-use n001 gpu 0000:1c:00.0: GPU 1 (0000:1c:00.0): "
		    "1 other process on it; peer.ce.write.pair 0->1 skipped; "
		    "peer.ce.write.pair 1->2 measured beside it\n"
		    "warning in-use n001 gpu 0000:1e:00.0: GPU 3 (0000:1e:00.0): "
		    "2 other processes on it; peer.ce.write.pair 2->3 "
		    "skipped; peer.ce.write.pair 3->2 measured beside them");
}

HOLDS("counters that are not known say nothing") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.node[0].agent[1].before.nvlink_errors = -1;
	c.run.node[0].agent[2].before.known = 0;
	c.run.node[0].agent[2].after.pcie_replays = 99;
	checked(&c, "");
}

HOLDS("a control cell that moved by more than 0.5 % is a note") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row *row;

	t_near(cs_control_drift(&c.run, 0), 0, 1e-12);
	row = c.run.rows.rows.data;
	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		if (row[i].flags & CS_ROW_CONTROL) {
			row[i].stats.median *= 0.98;
			row[i].stats.ci_low *= 0.98;
			row[i].stats.ci_high *= 0.98;
		}
	t_near(cs_control_drift(&c.run, 0), 0.02, 1e-9);
	checked(&c, "note drift n001: the control cell changed by 2.00 % "
		    "during the run");
}

HOLDS("a control cell that moved by no more than its samples vary did not drift") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row *row = c.run.rows.rows.data;

	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		if (row[i].flags & CS_ROW_CONTROL) {
			row[i].stats.median *= 0.98;
			row[i].stats.ci_low *= 0.95;
		}
	t_near(cs_control_drift(&c.run, 0), 0.02, 1e-9);
	checked(&c, "");
}

/* Every cell's samples go up and then down, by that much in all. */
static struct canned hang_together(int gpus, double share)
{
	struct canned c = canned(1, gpus, 0, PAIR, 1);
	struct cs_rows rows;

	cs_rows_init(&rows);
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++) {
		struct cs_row row = *cs_rows_get(&c.run.rows, i);
		double x[10];

		row.n_samples = 10;
		for (int k = 0; k < 10; k++)
			x[k] = 390 * (1 + share * (k < 5 ? k : 9 - k) / 4);
		cs_stats_of(x, 10, &row.stats);
		cs_rows_add(&rows, &row, x, NULL);
	}
	cs_rows_release(&c.run.rows);
	c.run.rows = rows;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	return c;
}

HOLDS("samples that depend on each other by more than is assumed are a note") {
	OWNED(canned) c = hang_together(4, 0.005);

	t_found(&c, "note samples-depend n001: successive samples are correlated "
		    "by more than 0.5: peer.ce.write.pair (1.0); 95 % intervals "
		    "are too narrow there");
	canned_release(&c);
	c = hang_together(2, 0.005); /* too few to be sure */
	t_eq_int(c.run.findings.n, 0);
	canned_release(&c);
	c = hang_together(4, 0.0001); /* too little to matter */
	t_eq_int(c.run.findings.n, 0);
}

HOLDS("without a control cell the drift is unknown") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);

	t_ok(isnan(cs_control_drift(&c.run, 0)));
}

HOLDS("a binding that was impossible is one note, one not asked for none") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.node[0].agent[1].bound = 0;
	c.run.node[0].agent[3].bound = 0;
	checked(&c, "");
	cs_text(c.run.node[0].agent[1].note, 160, "allowed cpus are 0-15");
	cs_text(c.run.node[0].agent[3].note, 160, "allowed cpus are 0-15");
	checked(&c, "note not-bound n001: GPU 1 and others not bound to a NUMA "
		    "node: allowed cpus are 0-15");
}

HOLDS("a node with fewer GPUs than the others has a note") {
	OWNED(canned) c = canned(3, 4, 0, PAIR, 0);

	c.run.node[1].facts.n_agents = 3;
	canned_measure(&c);
	checked(&c, "note fewer-gpus n002: 3 GPUs, other nodes have 4");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_OK);
}

HOLDS("… but not one that fell silent before it could say") {
	OWNED(canned) c = canned(3, 4, 0, PAIR, 0);

	canned_measure(&c);
	c.run.node[1].facts.n_agents = -1;
	t_eq_int(cs_run_coverage(&c.run).planned, 2 * 4 * 3);
	checked(&c, "");
}

/* ---- GPUs that are not shown ---- */

static struct cs_gpu_record *unseen(struct canned *c, int nvml)
{
	struct cs_run_node *nd = &c->run.node[0];
	struct cs_gpu_record *s = &nd->gpu_record[3];

	nd->facts.n_known_gpus = 4;
	for (int i = 0; i < 4; i++) {
		cs_gpu_record_init(&nd->gpu_record[i]);
		cs_text(nd->gpu_record[i].bus_id, CS_BUSID, "0000:%02x:00.0",
			0x1b + i);
		nd->gpu_record[i].on_bus = 1;
		nd->gpu_record[i].nvml = i < 3 ? 0 : nvml;
		nd->gpu_record[i].ranks = i < 3;
	}
	return s;
}

/* What a node says of a fourth GPU that NVML answers so, after `set`. */
static uint32_t severity_with(int nvml, void (*set)(struct cs_run_node *))
{
	const struct cs_finding *f;
	OWNED(canned) c = canned(1, 3, 0, PAIR, 0);
	uint32_t severity;

	unseen(&c, nvml);
	if (set)
		set(&c.run.node[0]);
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	f = finding(&c, "gpu-lost");
	severity = f ? f->severity : finding(&c, "gpu-hidden") ? CS_NOTE : 99;
	if (f)
		t_eq_str(f->bus_id, "0000:1e:00.0");
	return severity;
}

static void by_vfio(struct cs_run_node *nd)
{
	cs_text(nd->gpu_record[3].module, sizeof(nd->gpu_record[3].module),
		"vfio-pci");
}

static void by_grant(struct cs_run_node *nd)
{
	cs_text(nd->facts.grant, sizeof(nd->facts.grant), "SLURM_STEP_GPUS=0-2");
	nd->facts.n_granted = 3;
}

static void by_other_grant(struct cs_run_node *nd)
{
	by_grant(nd);
	nd->facts.n_granted = 4;
}

static void by_device_file(struct cs_run_node *nd)
{
	nd->gpu_record[3].refused = 1; /* EPERM */
}

static void by_container(struct cs_run_node *nd)
{
	cs_text(nd->facts.container, sizeof(nd->facts.container), "/.dockerenv");
	nd->facts.n_device_files = 3;
}

static void by_container_of_all(struct cs_run_node *nd)
{
	by_container(nd);
	nd->facts.n_device_files = 4;
}

static void by_mig(struct cs_run_node *nd)
{
	nd->gpu_record[3].mig = 1;
}

HOLDS("a GPU that nothing explains to be missing is critical") {
	t_eq_int(severity_with(6, NULL), CS_CRITICAL);
	t_eq_int(severity_with(0, NULL), CS_CRITICAL);
	t_eq_int(severity_with(-1, NULL), CS_CRITICAL);
	t_eq_int(severity_with(6, by_other_grant), CS_CRITICAL);
	t_eq_int(severity_with(6, by_container_of_all), CS_CRITICAL);
}

HOLDS("a virtual machine, a grant, a device file, a container, MIG explain it") {
	t_eq_int(severity_with(6, by_vfio), CS_NOTE);
	t_eq_int(severity_with(6, by_grant), CS_NOTE);
	t_eq_int(severity_with(6, by_device_file), CS_NOTE);
	t_eq_int(severity_with(6, by_container), CS_NOTE);
	t_eq_int(severity_with(0, by_mig), CS_NOTE);
}

/* 15: the GPU is lost. */
HOLDS("nothing explains a GPU that NVML calls lost") {
	t_eq_int(severity_with(15, by_vfio), CS_CRITICAL);
	t_eq_int(severity_with(15, by_grant), CS_CRITICAL);
	t_eq_int(severity_with(15, by_container), CS_CRITICAL);
}

/* ---- how the job was started ---- */

HOLDS("--check=launch says what modes and MPS cost, and who sleeps") {
	struct cs_run_node *nd;
	OWNED(canned) c = canned(1, 3, 0, PAIR, 1);

	nd = &c.run.node[0];
	unseen(&c, 0)->ranks = 1;
	nd->ranks = calloc(4, sizeof(*nd->ranks));
	nd->facts.n_ranks = 4;
	for (int r = 0; r < 4; r++)
		nd->ranks[r].rank = r;
	for (int a = 0; a < 3; a++)
		nd->agent[a].rank = a;
	nd->gpu_record[1].compute_mode = 2;
	nd->agent[2].gpu.mps = 1;
	c.run.checks = CS_CHECK_LAUNCH;
	checked(&c,
		"note idle-ranks n001 node: 1 of 4 ranks have no GPU and sleep\n"
		"warning nofile n001 node: a rank may open only 0 files; the driver alone may need hundreds\n"
		"warning compute-mode n001 node: compute mode PROHIBITED on GPU "
		"1: no process may use it\n"
		"warning mps n001 node: the ranks are clients of MPS: other "
		"processes may share their GPUs");
}

/* ---- the path ---- */

HOLDS("bytes that took another path than NVLink are a warning") {
	struct cs_agent_facts *a;
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.complete = 1;
	a = &c.run.node[0].agent[2];
	a->sent_bytes = a->received_bytes = 1 << 30;
	a->before.nvlink_sent_kib = a->before.nvlink_received_kib = 100;
	a->after.nvlink_sent_kib = 100 + (1 << 20);
	a->after.nvlink_received_kib = 100 + (1 << 19);
	checked(&c, "warning not-nvlink n001 gpu 0000:1d:00.0: GPU 2 "
		    "(0000:1d:00.0): NVLinks counted 100 % of what was sent and "
		    "50 % of what was received: the rest took another path");
}

HOLDS("NVLink's counters are compared with the bytes of the samples") {
	struct cs_agent_facts a;
	double sent, received;

	canned_gpu(&a, 0, 2);
	t_eq_int(cs_path_shares(&a, &sent, &received), -1);
	a.sent_bytes = a.received_bytes = 1 << 30;
	t_eq_int(cs_path_shares(&a, &sent, &received), -1);
	a.before.nvlink_sent_kib = a.before.nvlink_received_kib = 100;
	a.after.nvlink_sent_kib = 100 + (1 << 20);
	a.after.nvlink_received_kib = 100 + (1 << 19);
	t_eq_int(cs_path_shares(&a, &sent, &received), 0);
	t_near(sent, 1, 1e-12);
	t_near(received, 0.5, 1e-12);
	a.sent_bytes = 1 << 20; /* too little to tell */
	t_eq_int(cs_path_shares(&a, &sent, &received), -1);
}

/* ---- exit status ---- */

static int exit_under(uint32_t checks, int severity)
{
	struct cs_finding f = { .severity = (uint32_t)severity, .check = 1 };
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);

	c.run.complete = 1;
	c.run.checks = checks;
	cs_finding_add(&c.run.findings, &f, NULL);
	return cs_run_exit(&c.run);
}

HOLDS("judgements change the exit status under --check only") {
	t_eq_int(exit_under(0, CS_CRITICAL), CS_EXIT_OK);
	t_eq_int(exit_under(CS_CHECK_LAUNCH, CS_NOTE), CS_EXIT_OK);
	t_eq_int(exit_under(CS_CHECK_LAUNCH, CS_WARNING), CS_EXIT_WARNING);
	t_eq_int(exit_under(CS_CHECK_LAUNCH, CS_CRITICAL), CS_EXIT_CRITICAL);
}

HOLDS("--check takes the kinds there are, and names them") {
	struct cs_err err = { "" };
	uint32_t checks = 99;

	t_eq_int(cs_checks_parse("launch", &checks, &err), 0);
	t_eq_int(checks, CS_CHECK_LAUNCH);
	t_eq_str(cs_check_name(CS_CHECK_LAUNCH), "launch");
	t_eq_int(cs_checks_parse("", &checks, &err), -1);
	t_eq_int(cs_checks_parse("launch,", &checks, &err), -1);
	t_eq_int(cs_checks_parse("launc", &checks, &err), -1);
	t_eq_str(err.text, "did you mean 'launch'? allowed are launch, placement, "
			   "topology, outlier, link, baseline");
	t_eq_int(cs_checks_parse("placement,launch", &checks, &err), 0);
	t_eq_int(checks, CS_CHECK_LAUNCH | CS_CHECK_PLACEMENT);
	t_ok(!cs_checks_measure_nothing(checks));
	t_ok(cs_checks_measure_nothing(CS_CHECK_LAUNCH | CS_CHECK_TOPOLOGY));
}

static int exit_with(int status, int all)
{
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row *row;

	row = c.run.rows.rows.data;
	for (size_t i = 0; i < (all ? c.run.rows.rows.n : 1); i++)
		canned_spoil(&row[i], status, "why");
	return cs_run_exit(&c.run);
}

HOLDS("the exit status follows from the worst cell") {
	t_eq_int(exit_with(CS_OK, 0), CS_EXIT_OK);
	t_eq_int(exit_with(CS_SKIPPED, 0), CS_EXIT_OK);
	t_eq_int(exit_with(CS_SKIPPED, 1), CS_EXIT_CANNOT);
	t_eq_int(exit_with(CS_FAILED, 0), CS_EXIT_CRITICAL);
	t_eq_int(exit_with(CS_TIMEOUT, 0), CS_EXIT_CRITICAL);
	t_eq_int(exit_with(CS_CORRUPT, 0), CS_EXIT_CRITICAL);
	t_eq_int(exit_with(CS_FAILED, 1), CS_EXIT_CRITICAL);
}

HOLDS("only a critical finding changes the exit status") {
	struct cs_finding *f;

	for (int s = CS_NOTE; s <= CS_CRITICAL; s++) {
		OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

		f = cs_vec_add(&c.run.findings, 1, NULL);
		memset(f, 0, sizeof(*f));
		f->severity = (uint32_t)s;
		t_eq_int(cs_run_exit(&c.run),
			 s == CS_CRITICAL ? CS_EXIT_CRITICAL : CS_EXIT_OK);
	}
}

HOLDS("nothing measured, or a plan not carried out, is status 3") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 0);

	t_eq_int(cs_run_exit(&c.run), CS_EXIT_CANNOT);
	canned_measure(&c);
	c.run.complete = 0;
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_CANNOT);
}

HOLDS("a run is judged whole, or memory is short and nothing is left behind") {
	OWNED(canned) c = canned(6, 4, 0, PAIR, 1);
	struct cs_row *row = c.run.rows.rows.data;
	struct cs_err err = { "" };
	unsigned at = 0;
	int rc = -1;

	c.run.checks = cs_checks_all();
	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		if (row[i].node == 1)
			row[i].stats.median *= 0.7;
	row[0].status = CS_FAILED;
	while (rc) {
		err.text[0] = '\0';
		c.run.findings.n = 0;
		cs_arena_fails_at = ++at;
		rc = cs_check_run(&c.run, &err);
		t_ok(!rc || strstr(err.text, "no memory"));
	}
	cs_arena_fails_at = 0;
	t_ok(at > 20);
	t_ok(finding(&c, "cell-failed") && finding(&c, "slow-cells"));
}
