#!/bin/bash
# --check=topology: how a node is wired and set, told without measuring anything; the
# same drawing from its files.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 5

# The fixture with the fake's GPUs: below one host bridge a switch with GPU 0, a card,
# and another switch with GPU 1; GPU 2 beside them; GPU 3 below another host bridge
# of the NUMA node, GPU 4 in the other.
mkdir -p machine/dev machine/proc machine/sys/class/iommu/dmar0
echo "ro iommu=pt" >machine/proc/cmdline
sed 's/0000:13:00.0/0000:1b:00.0/; s/0000:17:00.0/0000:2b:00.0/
	s/0000:19:00.0/0000:3c:00.0/; s/0000:31:00.0/0000:4d:00.0/
	s/0000:91:00.0/0000:5e:00.0/' \
	"$TESTDATA/fixtures/topo-switches.xml" >bus.xml
export CS_TEST_ROOT=$PWD/machine CS_TEST_TOPOLOGY=$PWD/bus.xml

look() { # RANKS ARGUMENT...
	local ranks=$1
	shift
	rm -f t.json t.jsonl
	run "$ranks" --check=topology -o t.json -o t.jsonl "$@"
}

# A row of the drawing, its blanks made one.
row() { # GPU WORDS
	tr -s ' ' <out | grep -qxF -- " GPU$1 $2"
}

flat() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# ---- the drawing ----

FAKE_NVLINKS=0 look 0
ok "without NVLinks: path classes to GPUs and cards, NUMA node and cpus" eval \
	'status_is 0 && row 0 "X PXB PHB NODE SYS PIX NODE NODE SYS 0 0-3" &&
	row 1 "PXB X PHB NODE SYS PXB NODE NODE SYS 0 0-3" &&
	row 3 "NODE NODE NODE X SYS NODE PHB PHB SYS 0 0-3" &&
	row 4 "SYS SYS SYS SYS X SYS SYS SYS PHB 1 4-7"'
ok "… with the words that appear explained" eval \
	'flat "PIX at most one PCIe switch" && flat "SYS from one NUMA" && prints_not "NV#|not known"'
ok "… the cards with NUMA node and name" eval \
	'prints "NIC0 +0000:14:00.0 +0  mlx5_0, InfiniBand" && prints "NIC3 +0000:92:00.0 +1  eth0"'
ok "… and distances between NUMA nodes" prints "^ +0  0-3; 10 21"
ok "… no figure is printed" prints_not "GB/s"
ok_json "nothing was measured, no plan is told" t.json \
	'd["results"] == [] and d["run"]["plan_id"] is None and d["run"]["checks"] == ["topology"] and d["run"]["status"] == "complete"'
ok_schema "document and journal follow the schema" t.json t.jsonl
look 0
ok "NVLinks to switches: as many as both ends have" \
	row 0 "X NV18 NV18 NV18 NV18 PIX NODE NODE SYS 0 0-3"
ok "… explained" flat "NV# number of NVLinks"
cp out live
drawing() { # FILE
	sed -n '/GPU0 GPU1/,/^ *4 .*GPU-/p' "$1"
}
for file in t.json t.jsonl; do
	env -i CS_LIBCUDA=/nowhere CS_LIBNVML=/nowhere PATH= \
		"$CSCOPE" show "$file" --topology >shown 2>err
	status=$?
	ok "show $file --topology draws the same" eval \
		'status_is 0 && drawing live >a && drawing shown >b && [ -s a ] && cmp a b'
done
FAKE_NVLINKS_DOWN=1:3 look 0
ok "a link that is down is missing at both ends" eval \
	'row 0 "X NV15 NV18 NV18 NV18 PIX NODE NODE SYS 0 0-3" &&
	row 1 "NV15 X NV15 NV15 NV15 PXB NODE NODE SYS 0 0-3" &&
	flat "nvlinks 18 of 18 \(GPU 0,2-4\), 15 of 18 \(GPU 1\)"'
FAKE_NVLINK_REMOTE=0:1x12+2x6,1:0x12,2:0x6,3:4x18,4:3x18 look 0
ok "GPUs that are wired directly" eval \
	'row 0 "X NV12 NV6 NODE SYS PIX NODE NODE SYS 0 0-3" &&
	row 3 "NODE NODE NODE X NV18 NODE PHB PHB SYS 0 0-3" &&
	flat "12 to gpu1, 6 to gpu2 \(GPU 0\)"'
ok_json "… by bus id in the document" t.json \
	'd["nodes"][0]["known_gpus"][0]["board"]["nvlinks_to_gpus"] == [{"bus_id": "0000:2b:00.0", "links": 12}, {"bus_id": "0000:3c:00.0", "links": 6}]'

# ---- boards and settings ----

FAKE_VBIOS=3:96.00.B1.00.02 FAKE_ECC=0:0 FAKE_POWER_LIMIT=2:500 \
	FAKE_FABRIC=4:1 look 0
ok "a GPU that differs is named with its value" eval \
	'flat "vbios 96.00.A5.00.01 \(GPU 0-2,4\), 96.00.B1.00.02 \(GPU 3\)" &&
	flat "ecc off \(GPU 0\), on \(GPU 1-4\)" &&
	flat "power-limit 700 W \(GPU 0-1,3-4\), 500 W \(GPU 2\)" &&
	flat "fabric done \(GPU 0-3\), not begun \(GPU 4\)"'
ok "… what all have is told once" flat "inforom G520.0280.00.04; part"
ok "… and the node's own settings" flat "iommu on iommu=pt"
ok_json "boards are in the document" t.json \
	'[(b["serial"], b["module_id"], b["vbios"], b["ecc"], b["power_limit_w"], b["fabric_state"]) for b in (d["nodes"][0]["known_gpus"][i]["board"] for i in (2, 3))] == [("1650023000002", 3, "96.00.A5.00.01", 1, 500.0, 3), ("1650023000003", 4, "96.00.B1.00.02", 1, 700.0, 3)]'
FAKE_NVML_LACKS=nvmlDeviceGetSerial,nvmlDeviceGetEccMode,nvmlDeviceGetNvLinkRemoteDeviceType \
	look 0
ok_json "what the driver does not tell is null" t.json \
	'all(b["serial"] is None and b["ecc"] is None and b["nvlinks_to_switch"] is None and b["nvlinks_to_gpus"] is None for b in (g["board"] for g in d["nodes"][0]["known_gpus"]))'
ok "… and the path over the bus is drawn" \
	row 0 "X PXB PHB NODE SYS PIX NODE NODE SYS 0 0-3"
CS_LIBNVML=/nowhere look 0
ok "without NVML the bus is drawn all the same" eval \
	'status_is 0 && row 0 "X PXB PHB NODE SYS PIX NODE NODE SYS 0 0-3" && prints "0000:1b:00.0 +[?] +[?]"'
look 0 --redact
ok "--redact: no serial in any output" eval \
	'! grep -l 1650023 out t.json t.jsonl && prints "serial1 +GPU-1$"'

# ---- with ranks, with others, and what cannot be ----

needs() { has_launcher || skip="no MPI launcher"; }
needs
look 3
ok "several ranks tell the same" eval \
	'status_is 0 && drawing live >a && drawing out >b && cmp a b'
skip=''
run 0 --check=topology,launch
ok "with launch it is told behind it" eval \
	'status_is 0 && flat "may run on cpus.*GPU0 GPU1"'
run 0 --no-mpi --check=topology,placement --matrix peer --cell-limit 9s \
	-s 64K -o m.json
ok "with what measures it is judged only" eval \
	'status_is 0 && prints "GB/s" && prints_not "GPU0 GPU1"'
"$CSCOPE" show m.json --topology >out
ok "… and the facts are in the document" \
	row 0 "X NV18 NV18 NV18 NV18 PIX NODE NODE SYS 0 0-3"
grep -v '0000:\(2b\|3c\|4d\|5e\):00.0' bus.xml >one.xml
CS_TEST_TOPOLOGY=$PWD/one.xml FAKE_GPUS=1 look 0
ok "one GPU" eval 'status_is 0 && row 0 "X PIX NODE NODE SYS 0 0-3"'
CS_LIBCUDA=/nowhere CS_LIBNVML=/nowhere look 0
ok "no driver: status 3, and the bus is drawn" eval \
	'status_is 3 && flat "no usable GPU" && row 0 "X PXB PHB NODE SYS PIX NODE NODE SYS 0 0-3"'
ok "it measures nothing: not with --matrix" eval \
	'run 0 --check=topology --matrix peer; status_is 64 && one_line "--check=topology measures nothing"'
ok "show --topology is text, of whole nodes" eval \
	'run 0 show t.json --topology -f json; status_is 64 && one_line "exclude each other" &&
	run 0 show t.json --topology --cell 0,1; status_is 64 && one_line "--cell"'
finish
