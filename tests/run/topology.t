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
	'prints "NIC0 +0000:14:00.0 +0 +[?] +[?] +[?] +mlx5_0, InfiniBand +[?]" && prints "NIC3 +0000:92:00.0 +1 +[?] +[?] +[?] +eth0 +[?]"'
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

# ---- what follows ----

card() { # CLASS/DEVICE BUS_ID RATE STATE WIDTH
	local at=machine/sys/class/infiniband/$1/ports/1 bus=machine/sys/bus/pci/devices/$2
	mkdir -p "$at" "$bus"
	echo "$3 Gb/sec (4X NDR)" >"$at/rate"
	echo "$4" >"$at/state"
	echo "32.0 GT/s PCIe" >"$bus/current_link_speed"
	echo "$5" >"$bus/current_link_width"
}
has() { # LINE
	grep -qxF -- "$1" out
}
look 0
ok "NUMA nodes with unlike numbers of GPUs: a line a rank for Open MPI" eval \
	'has "srun --ntasks-per-node=5 --cpu-bind=map_ldom:0,0,0,0,1" && has "mpirun --rankfile FILE" &&
	has "rank 3=+n0 slot=0-3" && has "rank 4=+n0 slot=4-7"'
ok "… the nearest card of each GPU" eval \
	'tr -s " " <out | grep -qx " 1 0 0-3 PXB mlx5_0" && has "export NCCL_IB_HCA==mlx5_0"'
card mlx5_0 0000:14:00.0 400 "4: ACTIVE" 8
look 0
ok "rate, state and PCIe link of a card" prints "^ +NIC0 +0000:14:00.0 +0 +400 +active +5 x8 +mlx5_0, InfiniBand +[?]"
ok_json "… in the document" t.json \
	'[d["nodes"][0]["nics"][i][k] for i in (0, 3) for k in ("rdma", "gbits", "state", "pcie_gen", "pcie_width")] == [1, 400, "active", 5, 8, 0, None, None, None, None]'
ok_schema "… as the schema has it" t.json
card mlx5_0 0000:14:00.0 40 "1: DOWN" 16
look 0
ok "a card that is down is in no list" eval \
	'prints "^ +NIC0 .* 40 +down " && prints_not "NCCL_IB_HCA" && prints_not "UCX_NET" &&
	tr -s " " <out | grep -qx " 4 1 4-7 PHB eth0"'

# Eight GPUs, each with a card below its switch, four a NUMA node.
"${PYTHON:-python3}" - bus.xml eight.xml <<-'END'
	import re, sys
	text = open(sys.argv[1]).read()
	text = re.sub(r' *<object type="Bridge" gp_index="\d+" bridge_type="0-1".*?\n      </object>\n', "", text, flags=re.S)
	number = 1000
	def bridge(kind, depth, of, first, last, inside):
	    global number
	    number += 1
	    pci = f' pci_busid="0000:{of}" pci_type="0604 [1000:c030] [1000:1004] 00" pci_link_speed="63.015"' if of else ""
	    return (f'<object type="Bridge" gp_index="{number}" bridge_type="{kind}" depth="{depth}" '
	            f'bridge_pci="0000:[{first:02x}-{last:02x}]"{pci}>{inside}</object>')
	def device(bus, kind, inside=""):
	    global number
	    number += 1
	    return (f'<object type="PCIDev" gp_index="{number}" pci_busid="0000:{bus:02x}:00.0" '
	            f'pci_type="{kind}" pci_link_speed="63.015">{inside}</object>')
	def branch(i, bus):
	    base = bus - 2
	    nic = f'<object type="OSDev" gp_index="{2000 + i}" name="mlx5_{i}" osdev_type="3"/>'
	    ports = (bridge("1-1", 2, f"{base + 1:02x}:00.0", bus, bus, device(bus, "0302 [10de:2335] [10de:18be] a1")) +
	             bridge("1-1", 2, f"{base + 1:02x}:01.0", bus + 1, bus + 1, device(bus + 1, "0207 [15b3:1021] [15b3:0041] 00", nic)))
	    return bridge("0-1", 0, "", base, base + 4, bridge("1-1", 1, f"{base:02x}:01.0", base + 1, base + 4, ports))
	buses = [0x1b, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x7a, 0x8b]
	parts = text.split("\n    </object>\n")
	assert len(parts) == 3
	for k in range(2):
	    parts[k] += "".join(branch(i, buses[i]) for i in range(4 * k, 4 * k + 4))
	open(sys.argv[2], "w").write("\n    </object>\n".join(parts))
END
fake 8
for i in 0 1 2 3 4 5 6 7; do
	bus=(1c 2c 3d 4e 5f 70 7b 8c)
	card mlx5_$i "0000:${bus[i]}:00.0" 400 "4: ACTIVE" 16
done
COLUMNS=80 CS_TEST_TOPOLOGY=$PWD/eight.xml look 0
ok "8 GPUs and 8 cards: each has its own, at the least distance" eval \
	'[ "$(tr -s " " <out | grep -cE "^ [0-7] [01] (0-3|4-7) PIX mlx5_[0-7]$")" = 8 ] &&
	tr -s " " <out | grep -qx " 6 1 4-7 PIX mlx5_6"'
ok "… bindings of Slurm and Open MPI, the order of GPUs" eval \
	'has "export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7" &&
	has "srun --ntasks-per-node=8 --cpu-bind=map_ldom:0,0,0,0,1,1,1,1" &&
	has "mpirun --map-by ppr:4:numa --bind-to numa"'
ok "… lists of devices; what is pasted is whole where the page is narrow" eval \
	'bash -c "$(grep -A1 "^export [NU]C" out | grep -v "^-")
	echo \$NCCL_IB_HCA \$UCX_NET_DEVICES" >pasted &&
	grep -qxF "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1" pasted'
ok "… no line is wider than the page" eval '! awk "length > 80" out | grep .'
FAKE_NVLINKS=0 CS_TEST_TOPOLOGY=$PWD/eight.xml run 0 --no-mpi --seed 1 -s 64K \
	-t peer.ce.write.pair --cell-limit 9s
ok "what pairs give by the path between them, where there are several" \
	flat "by path: SYS 32 cells, [0-9.]+ to [0-9.]+, median [0-9.]+; NODE 24 cells, "
CS_TEST_TOPOLOGY=$PWD/eight.xml run 0 --no-mpi --seed 1 -s 64K -t peer.ce.write.pair --cell-limit 9s
ok "… and nothing where all are of one class" prints_not "by path:"
CS_TEST_TOPOLOGY=$PWD/eight.xml look 0 --redact
ok "… with names redacted too" eval 'has "mpirun --map-by ppr:4:numa --bind-to numa" && ! grep 1650023 out t.json'
fake 5
CS_LIBNVML=/nowhere FAKE_NUMA=-1,-1,-1,-1,-1 CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-no-pci.xml look 0
ok "no bus to be seen: no binding, and no device" eval \
	'prints "^ +no binding: the NUMA node of a GPU is not known$" && prints_not "srun|NCCL_IB|UCX_NET" &&
	[ "$(tr -s " " <out | grep -cx " [0-4] ? ? ? none")" = 5 ]'
sed 's/0000:06:00.0/0000:1b:00.0/' "$TESTDATA/fixtures/topo-unknown-locality.xml" >unknown.xml
FAKE_GPUS=1 FAKE_NUMA=-1 CS_LIBNVML=/nowhere CS_TEST_TOPOLOGY=$PWD/unknown.xml look 0
ok "unknown locality: the same" eval 'status_is 0 && prints "no binding: the NUMA node" && prints_not "srun"'
rm -r machine/sys/class/infiniband machine/sys/bus

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
FAKE_INTEGRATED=1 look 0
ok_json "that a GPU's memory is the host's is in the document" t.json \
	'{g["integrated"] for g in d["nodes"][0]["gpus"]} == {1}'
finish
