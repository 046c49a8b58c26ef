#!/bin/bash
# A table of faults of a node alone, as the driver's double can show them: what --check
# makes of each on one GPU and on all alike, and that healthy machines have no finding.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
command -v "${PYTHON:-python3}" >/dev/null || skip_all "no Python"
fake 4

# Findings as "ID PART GPU[-GPU] SEVERITY[!]", one a line; ! drains.
findings() {
	"${PYTHON:-python3}" -S - h.json <<'END'
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    d = json.load(file)
label = {g["bus_id"]: g["label"] for n in d["nodes"] for g in n["gpus"]}
for f in d["checks"] + d["errors"]:
    ends = [label.get(f[k], f[k]) for k in ("bus_id", "far_bus_id") if f.get(k)]
    print(f["id"], f.get("part") or "-", "-".join(ends) or "-",
          f["severity"] + ("!" if f.get("drain") else ""))
END
}

# What can be bound is this machine's, and so are its CPUs.
is_found() { # EXPECTED
	findings | grep -v '^not-bound ' >found
	echo "expected: $1; found:"
	cat found
	grep -o '"says": "[^"]*"' h.json
	[ "$(paste -sd';' found)" = "${1/#none/}" ]
}

# The fault's variables, and all findings that are expected, or "none".
fault() { # SENTENCE STATUS EXPECTED VARIABLE=VALUE...
	local sentence=$1 expected_status=$2 expected=$3 knob
	shift 3
	rm -f h.json found
	for knob; do
		export "${knob?}"
	done
	run 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 \
		--cell-limit 20s -o h.json
	unset "${@%%=*}"
	export FAKE_GPUS=4
	ok "$sentence" eval 'status_is $expected_status && is_found "$expected"'
	printf '# %-42s %s %s\n' "$sentence" "$status" "$(paste -sd';' found)" >>table
}

# The same value for each GPU, as variables take it.
all() { # VALUE
	echo "0:$1,1:$1,2:$1,3:$1"
}

both() { # SENTENCE STATUS ID SEVERITY VARIABLE VALUE
	fault "$1" "$2" "$3 gpu 1 $4" "$5=1:$6"
	fault "… on all GPUs alike" "$2" "$3 node - $4" "$5=$(all "$6")"
}

# ---- healthy ----

fault "a healthy node" 0 none FAKE_SEED=0
fault "a healthy node of eight GPUs" 0 none FAKE_GPUS=8
fault "cards of PCIe without NVLink" 0 none FAKE_GPUS=2 FAKE_NVLINKS=0 \
	"FAKE_NAME=NVIDIA L40S" FAKE_FABRIC=0:0,1:0
fault "cards of two models, two of each" 0 none \
	"FAKE_MODEL=2:NVIDIA L4,3:NVIDIA L4" FAKE_VBIOS=2:other,3:other
fault "boards of several GPUs, which share a serial" 0 none FAKE_SERIAL=0:a,1:a,2:b,3:b
fault "one model under two part numbers" 0 none FAKE_PART=2:965-2G520-0041-000
fault "modules are numbered otherwise" 0 none FAKE_MODULE=0:7,1:5

# ---- GPUs that differ from the others of their node ----

fault "a GPU of another model" 1 "power-limited gpu 3 note;wiring-differs gpu 3 warning" \
	"FAKE_MODEL=3:NVIDIA A100" FAKE_CLOCK_MAX=3:1410 FAKE_POWER_LIMIT=3:400
ok "… with both values" grep -qF "model of GPU 3: NVIDIA A100, where most GPUs of the node have NVIDIA H200" h.json
fault "another VBIOS on one GPU" 1 "firmware-differs gpu 1 warning" FAKE_VBIOS=1:96.00.B1.00.02
fault "ECC off on one GPU" 1 "ecc-off gpu 0 note;settings-differs gpu 0 warning" FAKE_ECC=0:0
fault "another clock set for applications on one GPU" 1 "clocks-limited gpu 2 note;settings-differs gpu 2 warning" \
	FAKE_CLOCK_APP=2:1410
fault "another power limit on one GPU" 1 "power-limited gpu 2 note;settings-differs gpu 2 warning" \
	FAKE_POWER_LIMIT=2:500
fault "another InfoROM on one GPU" 1 "firmware-differs gpu 1 warning" FAKE_INFOROM=1:G520.0201.00.05
fault "lower clocks on one GPU" 1 "settings-differs gpu 2 warning" FAKE_CLOCK_MAX=2:1410
fault "one GPU that is not registered with the fabric" 1 "software-differs gpu 3 warning" FAKE_FABRIC=3:1
fault "the serial of two GPUs" 1 "wiring-differs node - warning" FAKE_SERIAL=1:a,3:a
fault "half of the GPUs have another VBIOS" 1 "no-majority - - warning" FAKE_VBIOS=0:b,1:b
fault "two GPUs, each with a VBIOS of its own" 0 "no-majority - - note" FAKE_GPUS=2 FAKE_VBIOS=0:b

FAKE_ECC=0:0 run 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 --expect ecc=any --cell-limit 20s
ok "what --expect allows to be anything is not compared" status_is 0

FAKE_POWER_LIMIT="0:500,1:500,2:500,3:500" FAKE_ECC=0:0,1:0,2:0,3:0 run 0 --test h2d.ce.pinned.pair --check -s 64K \
	--seed 1 --expect ecc=off,power-limit=500 --cell-limit 20s
ok "a setting that --expect gives all GPUs is none that the driver's default judges" status_is 0

# ---- set alike on all GPUs, and not as the driver does by default ----

fault "ECC off on all GPUs" 1 "ecc-off node - warning" FAKE_ECC="$(all 0)"
ok "… which says so" grep -qF "all 4 GPUs: ECC is off; its default is on" h.json
fault "… and on after a reset" 1 "ecc-off node - warning" FAKE_ECC="$(all 0)" FAKE_ECC_PENDING="$(all 1)"
fault "… of cards that have it off by default" 0 none FAKE_ECC="$(all 0)" FAKE_ECC_DEFAULT="$(all 0)"
fault "… whose driver does not know its default" 0 none FAKE_ECC="$(all 0)" FAKE_NVML_LACKS=nvmlDeviceGetDefaultEccMode
fault "ECC that will be off after a reset" 1 "ecc-off node - warning" FAKE_ECC_PENDING="$(all 0)"
fault "ECC off on one of two GPUs, where neither is most" 1 "ecc-off gpu 1 warning;no-majority - - note" \
	FAKE_GPUS=2 FAKE_ECC=1:0
fault "all power limits below the default" 1 "power-limited node - warning" FAKE_POWER_LIMIT="$(all 500)"
fault "the clocks of all GPUs set low" 1 "clocks-limited node - warning" FAKE_CLOCK_APP="$(all 1410)"
ok_schema "… and in the file" h.json
both "clocks that are locked below what is set" 1 clocks-limited warning FAKE_CLOCK_NOW 1410
ok "… with both" grep -qF "all 4 GPUs: clock of 1410 MHz under load, set to 1980 MHz, and nothing throttles it" h.json
fault "… that a power cap explains" 1 "throttled gpu 1 warning" FAKE_CLOCK_NOW=1:1410 FAKE_THROTTLE=1:0x4

# ---- what a GPU says of itself: one GPU, then all alike ----

both "uncorrected ECC errors since the driver was loaded" 2 memory-errors 'critical!' FAKE_ECC_UNCORRECTED 2
both "more errors in SRAM than the driver allows" 2 memory-errors 'critical!' FAKE_SRAM 0+1
fault "an uncorrected error in SRAM" 2 "memory-errors gpu 1 critical!" FAKE_ECC_UNCORRECTED=1:2 FAKE_SRAM=1:1+0
fault "… during the run" 2 "memory-errors gpu 1 critical!" FAKE_ECC_GROW=1:2 FAKE_SRAM=1:1+0
ok "… where it was" grep -qF "2 uncorrected ECC errors since the driver was loaded, 2 of them during the run, 1 of them in SRAM" h.json
ok_schema "… and in the file" h.json
both "a remap that waits for a reset" 2 row-remap 'critical!' FAKE_ROWS 0+0+1+0
both "a remap that failed" 2 row-remap 'critical!' FAKE_ROWS 0+0+0+1
both "a page whose retirement waits for a reset" 2 row-remap 'critical!' FAKE_PAGES 1
both "a channel of its memory whose repair waits for a reset" 2 row-remap 'critical!' FAKE_REPAIR 1
both "multiprocessors whose repair waits for a reset" 2 row-remap 'critical!' FAKE_REPAIR 2
both "uncorrected errors and a remapped row in the past" 0 memory-history note FAKE_ECC_EVER 386
both "a remapped row" 0 memory-history note FAKE_ROWS 0+1+0+0
fault "a few corrected errors" 0 none FAKE_ECC_CORRECTED=1:8
both "many corrected errors" 0 memory-history note FAKE_ECC_CORRECTED 1200
both "errors of an NVLink before the run" 0 nvlink-errors note FAKE_NVLINK_ERRORS 3x12
ok "… with its number, its far end and how many" grep -qF "NVLink 3 to a switch: 12 errors before the run" h.json
both "an NVLink that is slower than the others" 1 nvlink-differs warning FAKE_NVLINK_MBS 3x20000
ok "… with its number and both rates" grep -qF \
	"NVLink 3 is of version 4 at 20 GB/s; its others are of version 4 at 26.562 GB/s" h.json
ok_schema "… and in the file" h.json
both "an NVLink of another version" 1 nvlink-differs warning FAKE_NVLINK_CODE 3x4
fault "… that is down" 2 "nvlink-down gpu 1 critical!" FAKE_NVLINK_MBS=1:17x20000 FAKE_NVLINKS_DOWN=1:1
fault "all NVLinks of one GPU slower than those of their version" 1 "nvlink-differs gpu 1 note;wiring-differs gpu 1 warning" \
	FAKE_NVLINK_MBS=1:x20000
fault "… of all GPUs" 1 "nvlink-differs node - warning" FAKE_NVLINK_MBS="$(all x20000)"
ok "… with their rate and what it should be" grep -qF \
	"all 4 GPUs: its NVLinks run at 20 GB/s, those of version 4 at 25 GB/s or more" h.json
fault "… of a card whose links are for bridges" 0 none "FAKE_NAME=NVIDIA RTX A6000" FAKE_NVLINKS=4 FAKE_NVLINK_VERSION=3 \
	FAKE_FABRIC="$(all 0)" FAKE_NVLINK_MBS="$(all x14062)" FAKE_GPUS=2
fault "all NVLinks of one GPU of another version" 1 "wiring-differs gpu 1 warning" FAKE_NVLINK_CODE=1:x4
both "errors of an NVLink during the run" 2 nvlink-errors 'critical!' FAKE_NVLINK_GROW 3x2
fault "… of a link to another GPU" 2 "nvlink-errors link 0-1 critical!" FAKE_NVLINK_GROW=0:3x2 \
	FAKE_NVLINK_REMOTE=0:1x6+2x6+3x6,1:0x6+2x6+3x6,2:0x6+1x6+3x6,3:0x6+1x6+2x6
fault "errors of an NVLink of version 5 before the run" 0 "nvlink-errors gpu 1 note" FAKE_NVLINK_VERSION=5 \
	FAKE_NVLINK_ERRORS=1:3x12 "FAKE_NAME=NVIDIA B200"
fault "… and during it" 1 "nvlink-errors gpu 1 warning" FAKE_NVLINK_VERSION=5 FAKE_NVLINK_GROW=1:3x2 "FAKE_NAME=NVIDIA B200"
both "a reset that the driver asks for" 2 recovery-asked 'critical!' FAKE_RECOVERY 1
both "a reboot that the driver asks for" 2 recovery-asked 'critical!' FAKE_RECOVERY 2
both "an Xid of the hardware during the run" 2 xid 'critical!' FAKE_XID 79
both "an Xid of an application" 1 xid warning FAKE_XID 31
fault "an Xid of a GPU whose thread breaks" 2 "xid gpu 0 critical!;agent-broken gpu 0 critical!" \
	FAKE_GPUS=1 FAKE_FAULT=cuMemcpyAsync:9=214 FAKE_XID=0:48
ok_schema "… and in the file" h.json
both "as hot as its own limit" 1 too-hot warning FAKE_TEMPERATURE 94
fault "hot, and below its limit" 0 none FAKE_TEMPERATURE="$(all 80)"
fault "slots of a lower generation" 0 "pcie-slot node - note" FAKE_SLOT="$(all 4)" FAKE_PCIE="$(all 4x16)"
fault "… one of them" 1 "pcie-slot gpu 1 note;wiring-differs gpu 1 warning" FAKE_SLOT=1:4 FAKE_PCIE=1:4x16
both "PCIe errors during the run" 1 error-counters warning FAKE_PCIE_ERRORS 4
both "a fabric whose routes are unhealthy" 1 fabric-unhealthy warning FAKE_FABRIC_HEALTH 0x19a
both "a fabric configured wrongly" 1 fabric-unhealthy warning FAKE_FABRIC_HEALTH 0x5aa
fault "no GPU is registered with the fabric" 1 "fabric-unhealthy node - warning" FAKE_FABRIC="$(all 1)"
fault "GPUs in different cliques" 1 "fabric-cliques node - warning" FAKE_CLIQUE=2:7
fault "a GPU in another cluster" 1 "fabric-cliques node - warning" FAKE_CLUSTER=2:7
ok "… with its UUID" grep -qF "clique 1 of cluster 00000000-0000-0000-0000-000000000007: GPUs 2" h.json
fault "a GPU in no clique" 0 none FAKE_CLIQUE=2:32766
fault "a driver that knows none of it" 0 none \
	FAKE_NVML_LACKS=nvmlDeviceGetRepairStatus,nvmlDeviceGetSramEccErrorStatus,nvmlDeviceGetDefaultEccMode,nvmlDeviceGetDefaultApplicationsClock,nvmlDeviceGetRemappedRows,nvmlDeviceGetRetiredPagesPendingStatus,nvmlDeviceGetTemperatureThreshold,nvmlDeviceGetGpuMaxPcieLinkGeneration,nvmlEventSetCreate,nvmlDeviceGetFieldValues,nvmlDeviceGetGpuFabricInfoV

# ---- GPUs that are not there ----

fault "a lost GPU that the bus does not show" 2 "gpu-lost node - critical!" FAKE_LOST=2
ok "… with its number" grep -qF "NVML counts GPU 2 but has lost it, and the PCI bus does not show it: the GPU fell off the bus" h.json
ok_schema "… and in the file" h.json
fault "… two of them, the last one among them" 2 "gpu-lost node - critical!" FAKE_LOST=0,3
ok "… with their numbers" grep -qF "NVML counts GPUs 0, 3 but has lost them" h.json
bus 4
fault "a lost GPU that the bus shows" 2 "gpu-lost gpu 0000:3c:00.0 critical!" FAKE_LOST=2
sed -i '/0000:1b:00.0/d' bus.xml
fault "… and one that it does not" 2 "gpu-lost gpu 0000:3c:00.0 critical!;gpu-lost node - critical!" FAKE_LOST=0,2
ok "… that one with its number" grep -qF "NVML counts GPU 0 but has lost it" h.json
no_gpu
fake 4

# ---- the host and its cards ----

# Eight GPUs, each with a card below its switch.
"${PYTHON:-python3}" - "$TESTDATA/fixtures/topo-no-pci.xml" >cards.xml <<-'END'
	import sys
	number = 1000
	def of(kind, inside="", **words):
	    global number
	    number += 1
	    words = " ".join(f'{k}="{v}"' for k, v in words.items())
	    return f'<object type="{kind}" gp_index="{number}" {words}>{inside}</object>'
	def bridge(kind, depth, first, last, inside, **words):
	    return of("Bridge", inside, bridge_type=kind, depth=depth,
	              bridge_pci=f"0000:[{first:02x}-{last:02x}]", **words)
	def port(bus, slot, base, device):
	    return bridge("1-1", 2, bus, bus, device, pci_busid=f"0000:{base + 1:02x}:{slot:02x}.0",
	                  pci_type="0604 [1000:c030] [1000:1004] 00", pci_link_speed="63.0")
	def branch(i, bus):
	    nic = of("OSDev", name=f"mlx5_{i}", osdev_type=3) + of("OSDev", name=f"ib{i}", osdev_type=2)
	    gpu = of("PCIDev", pci_busid=f"0000:{bus:02x}:00.0", pci_type="0302 [10de:2335] [10de:18be] a1", pci_link_speed="63.0")
	    card = of("PCIDev", nic, pci_busid=f"0000:{bus + 1:02x}:00.0", pci_type="0207 [15b3:1021] [15b3:0041] 00", pci_link_speed="63.0")
	    base = bus - 2
	    return bridge("0-1", 0, base, base + 4,
	                  bridge("1-1", 1, base + 1, base + 4,
	                         port(bus, 0, base, gpu) + port(bus + 1, 1, base, card),
	                         pci_busid=f"0000:{base:02x}:01.0", pci_type="0604 [1000:c030] [1000:1004] 00", pci_link_speed="63.0"))
	lines = open(sys.argv[1]).read().split("\n  </object>")
	buses = [0x1b, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x7a, 0x8b]
	print(lines[0] + "".join(branch(i, b) for i, b in enumerate(buses)) + "\n  </object>" + "\n  </object>".join(lines[1:]))
END
mkdir -p machine/dev machine/proc
export CS_TEST_ROOT=$PWD/machine CS_TEST_TOPOLOGY=$PWD/cards.xml
card() { # CARD RATE STATE
	mkdir -p "machine/sys/class/infiniband/mlx5_$1/ports/1"
	echo "$2 Gb/sec (4X NDR)" >"machine/sys/class/infiniband/mlx5_$1/ports/1/rate"
	echo "$3" >"machine/sys/class/infiniband/mlx5_$1/ports/1/state"
}
buses=(1c 2c 3d 4e 5f 70 7b 8c)
pcie() { # CARD GT/s WIDTH
	local at=machine/sys/bus/pci/devices/0000:${buses[$1]}:00.0
	mkdir -p "$at"
	echo "$2 GT/s PCIe" >"$at/current_link_speed"
	echo "$3" >"$at/current_link_width"
	echo "32.0 GT/s PCIe" >"$at/max_link_speed"
	echo 16 >"$at/max_link_width"
	# payload 256, read request 4096; or other bytes of the register, the upper one first
	{
		head -c 52 /dev/zero
		printf '\x40'
		head -c 11 /dev/zero
		printf '\x10'
		head -c 7 /dev/zero
		printf '%b%b' "\x${5:-20}" "\x${4:-50}"
		head -c 182 /dev/zero
	} >"$at/config"
}
setting() { # CARD MTU FIRMWARE
	mkdir -p "machine/sys/class/net/ib$1"
	echo "$2" >"machine/sys/class/net/ib$1/mtu"
	echo "$3" >"machine/sys/class/infiniband/mlx5_$1/fw_ver"
}
gid() { # CARD KIND
	mkdir -p "machine/sys/class/infiniband/mlx5_$1/ports/1/gid_attrs/types"
	echo "$2" >"machine/sys/class/infiniband/mlx5_$1/ports/1/gid_attrs/types/0"
}
counters() { # CARD SYMBOLS DOWNED
	local at=machine/sys/class/infiniband/mlx5_$1/ports/1/counters
	mkdir -p "$at"
	echo "$2" >"$at/symbol_error"
	echo "$3" >"$at/link_downed"
}
aer() { # FOLDER CORRECTABLE FATAL
	printf 'RxErr 0\nBadTLP %d\nTOTAL_ERR_COR %d\n' "$2" "$2" >"$1/aer_dev_correctable"
	printf 'Undefined 0\nTOTAL_ERR_NONFATAL 0\n' >"$1/aer_dev_nonfatal"
	printf 'DLP %d\nTOTAL_ERR_FATAL %d\n' "$3" "$3" >"$1/aer_dev_fatal"
}
cards() { # RATE STATE
	for i in 0 1 2 3 4 5 6 7; do
		card $i "$1" "$2"
	done
}
cards 400 "4: ACTIVE"
fault "eight cards that are alike" 0 none FAKE_GPUS=8
card 5 40 "1: DOWN"
fault "a card that is down" 1 "nic-below node - warning" FAKE_GPUS=8
ok "… with its name and the GPU next to it" grep -qF "mlx5_5 (0000:70:00.0), next to GPU 5, is down, while 7 of 8 cards like it are up" h.json
card 5 200 "4: ACTIVE"
fault "a card at half its rate" 1 "nic-below node - warning" FAKE_GPUS=8
cards 40 "1: DOWN"
fault "no card is in use" 0 none FAKE_GPUS=8
cards 400 "4: ACTIVE"
for i in 0 1 2 3 4 5 6 7; do
	pcie $i 32.0 16
	setting $i 4092 28.39.1002
	counters $i 3 2
	gid $i "RoCE v2"
done
fault "eight cards that are alike in all" 0 none FAKE_GPUS=8
ok_json "… and all is in the file" h.json \
	'[tuple(n["nics"][5][k] for k in ("name", "net", "port", "gbits", "lanes", "mtu", "firmware", "pcie_gen", "pcie_width",
	  "pcie_gen_max", "pcie_width_max", "max_payload_bytes", "max_read_request_bytes")) + (n["nics"][5]["before"]["symbol_errors"],
	  n["nics"][5]["after"]["link_downed"]) for n in d["nodes"]] ==
	 [("mlx5_5", "ib5", 1, 400, 4, 4092, "28.39.1002", 5, 16, 5, 16, 256, 4096, 3, 2)]'
ok_schema "… as the schema says" h.json
# what a port supports is asked of the kernel, which the double has not: it is put into the file
with() { # FIELD VALUE FIRST-CARD
	"${PYTHON:-python3}" - "$@" <<-'END'
		import json, sys
		d = json.load(open("h.json", encoding="ascii"))
		for n in d["nodes"]:
		    for card in n["nics"][int(sys.argv[3]):6]:
		        card.update({sys.argv[1]: int(sys.argv[2]), "link_layer": "InfiniBand"})
		json.dump(d, open("with.json", "w", encoding="ascii"))
	END
}
with gbits_max 400 4
run 0 check with.json
ok "ports that run as fast as they can" status_is 0
with gbits_max 800 4
run 0 check with.json
ok "ports below what they support are one warning" eval 'status_is 1 && says_once \
	"ports run below what they support: mlx5_4 at 400 of 800 Gb/s, mlx5_5 at 400 of 800 Gb/s"'
run 0 baseline with.json -o usual.json
run 0 check --baseline usual.json with.json
ok "… but not where a baseline has them so" eval 'status_is 0 && ! prints "ports run below"'
with lanes 1 5
run 0 check with.json
ok "a port of InfiniBand on one lane is a warning" eval 'status_is 1 && says_once \
	"mlx5_5 .0000:70:00.0., next to GPU 5, runs on 1 of its lanes, at 400 Gb/s"'
pcie 5 32.0 8
fault "a card at half its PCIe width" 1 "nic-below node - warning" FAKE_GPUS=8
ok "… with its name, the GPU next to it and what is possible" grep -qF \
	"mlx5_5 (0000:70:00.0), next to GPU 5, runs its PCIe link at generation 5 x8; card and slot have generation 5 x16" h.json
pcie 5 16.0 16
fault "a card one PCIe generation down" 1 "nic-below node - warning" FAKE_GPUS=8
pcie 5 32.0 16 20
fault "a card with a smaller MaxReadRequest" 0 "nic-below node - note" FAKE_GPUS=8
pcie 5 32.0 16 50 00
fault "a card with a smaller MaxPayload" 0 "nic-below node - note" FAKE_GPUS=8
ok "… with both" grep -qF "next to GPU 5, has MaxPayload 128, most cards like it 256" h.json
pcie 5 32.0 16
gid 5 "IB/RoCE v1"
fault "a card whose newest address is RoCE v1" 0 "nic-below node - note" FAKE_GPUS=8
ok "… with both" grep -qF "next to GPU 5, has GID kind RoCE v1, most cards like it RoCE v2" h.json
gid 5 "RoCE v2"
setting 5 2044 28.39.1002
fault "a card with a smaller MTU" 1 "nic-below node - warning" FAKE_GPUS=8
setting 5 4092 28.33.0800
fault "a card with another firmware" 1 "firmware-differs node - warning" FAKE_GPUS=8
setting 5 4092 28.39.1002
rm -f h.json h.jsonl
at=machine/sys/bus/pci/devices/0000:5f:00.0
aer "$at" 7 0
FAKE_GPUS=8 FAKE_SUBMIT_NS=20000 begin 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 --samples 20 --cell-limit 20s -o h.json -o h.jsonl
until_true 20 measuring h.jsonl 1
counters 5 5 3
counters 6 4 2
aer "$at" 11 0
end_within 60
ok "errors of cards during the run: a link that went down and PCIe errors are warnings, a symbol error a note" eval 'status_is 1 &&
	[ "$(findings | grep -cx "nic-errors node - warning")" = 2 ] && findings | grep -qx "nic-errors node - note"'
ok "… with number, card and GPU" grep -qF \
	"mlx5_5 (0000:70:00.0), next to GPU 5, during the run: its link went down 1 time, 2 symbol errors" h.json
ok "… of PCIe, too" grep -qF \
	"mlx5_4 (0000:5f:00.0), next to GPU 4, during the run: 4 PCIe errors of it and the bridges above it" h.json
rm -r machine/sys
counts() { # CORRECTED UNCORRECTED
	mkdir -p machine/sys/devices/system/edac/mc/mc{0,1}
	echo 0 | tee machine/sys/devices/system/edac/mc/mc{0,1}/{ce,ue}_count >/dev/null
	echo "$1" >machine/sys/devices/system/edac/mc/mc1/ce_count
	echo "$2" >machine/sys/devices/system/edac/mc/mc1/ue_count
}
counts 3 0
mkdir -p machine/sys/devices/system/cpu/cpu0/cpufreq
governor=machine/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
echo performance >$governor
fault "a host with a few corrected errors" 0 none FAKE_GPUS=8
counts 0 1
fault "an uncorrected error of host memory" 1 "host-memory node - warning" FAKE_GPUS=8
counts 5000 0
echo powersave >$governor
fault "many corrected ones, and clocks that follow the load" 0 \
	"governor node - note;host-memory node - note" FAKE_GPUS=8
rm -r machine/sys/devices/system/edac
echo performance >$governor
for i in 0 1 2 3; do
	mkdir -p machine/sys/devices/system/edac/mc/mc$i
	echo 65536 >machine/sys/devices/system/edac/mc/mc$i/size_mb
done
mkdir machine/sys/devices/system/edac/mc/mc4 machine/dev/nvidia-caps-imex-channels
echo 0 >machine/sys/devices/system/edac/mc/mc4/size_mb
: >machine/dev/nvidia-caps-imex-channels/channel0
printf 'SwapTotal: 0 kB\nSwapFree: 0 kB\nHugetlb: 4194304 kB\n' >machine/proc/meminfo
fault "memory controllers that are alike, one of them without memory" 0 none FAKE_GPUS=8
ok_json "… these, huge pages, swap and IMEX channels are in the file" h.json \
	'[d["nodes"][0][k] for k in ("memory_controllers", "hugetlb_bytes", "swap_bytes", "imex_channels")] ==
	 ["4 of 65536 MiB", 4 << 30, 0, 1]'
ok_schema "… as the schema says" h.json
echo 32768 >machine/sys/devices/system/edac/mc/mc2/size_mb
fault "a memory module that is missing" 0 "host-memory node - note" FAKE_GPUS=8
ok "… with the controller" grep -qF "memory controllers of different size: 3 of 65536 MiB, mc2 of 32768 MiB" h.json
rm -r machine/sys machine/dev/nvidia-caps-imex-channels machine/proc/meminfo
# SMBIOS: a slot and its module, and two names after it
module() { # NUMBER MIB NAME
	local at=machine/sys/firmware/dmi/entries/17-$1
	mkdir -p "$at"
	{
		printf '\x11\x28\0\0\0\0\0\0\0\0\0\0%b\0\0\1\2\x22' \
			"$([ "$2" -ge 32767 ] && printf '\\xff\\x7f' || printf '\\x%02x\\x%02x' $(($2 % 256)) $(($2 / 256)))"
		printf '\0\0\0\0\0\0\0\0\0%b\0\0\0\0\0\0\0\0' "$(printf '\\0\\x%02x\\x%02x\\0' $(($2 / 256 % 256)) $(($2 / 65536)))"
		printf '%s\0BANK 0\0\0' "$3"
	} >"$at/raw"
}
for i in 0 1 2 3 4 5 6 7; do
	module $i $((i % 2 ? 0 : 65536)) "P0_DIMM_A$i"
done
fault "every other slot without a memory module" 0 none FAKE_GPUS=8
ok_json "… is in the file" h.json 'd["nodes"][0]["memory_modules"] == "4 of 65536 MiB" and d["nodes"][0]["memory_slots_empty"] == 4'
for i in 1 3 5; do
	module $i 65536 "P0_DIMM_A$i"
done
fault "one slot of eight without its module" 0 "host-memory node - note" FAKE_GPUS=8
ok "… which says so" grep -qF "1 of 8 slots for memory modules are empty: a module may be missing or broken" h.json
module 3 16384 P0_DIMM_A3
fault "a smaller module" 0 "host-memory node - note" FAKE_GPUS=8
ok "… with its slot" grep -qF "memory modules of different size: 6 of 65536 MiB, P0_DIMM_A3 of 16384 MiB: one may be missing" h.json
rm -r machine/sys

# ---- the kernel's log ----

# Records as the kernel gives them: priority, number, time in us, flags; text.
kernel_log() { # "PRIORITY TEXT"...
	local n=0 record
	mkdir -p machine/dev
	for record; do
		n=$((n + 1))
		echo "${record%% *},$n,$((n * 1000)),-;${record#* }"
		echo " SUBSYSTEM=pci"
	done >machine/dev/kmsg
}
kernel_log "6 nvidia: loading" \
	"3 NVRM: Xid (PCI:0000:2b:00): 48, pid=12, name=python3, DBE" \
	"3 NVRM: Xid (PCI:0000:2b:00): 63, pid='<unknown>'" \
	"3 NVRM: Xid (PCI:0000:2b:00): 48, pid=14"
fault "Xids of the hardware before the run" 0 "xid gpu 1 note" FAKE_GPUS=8
ok "… each once, with its meaning" grep -qF \
	"GPU 1 (0000:2b:00.0): Xid 48, Xid 63 before the run, in the kernel's log: Hardware: The GPU had an ECC error" h.json
ok_schema "… and in the file" h.json
kernel_log "3 NVRM: Xid (PCI:0000:2b:00): 31, pid=12, Ch 00000001" \
	"3 NVRM: Xid (PCI:0000:2b:00): 43, pid=12" "3 NVRM: Xid (PCI:0000:2b:00): 45, pid=12"
fault "Xids of programs before the run" 0 none FAKE_GPUS=8
kernel_log "14 NVRM: Xid (PCI:0000:2b:00): 79, pid=12"
fault "an Xid that a user wrote there" 0 none FAKE_GPUS=8
kernel_log "3 NVRM: Xid (PCI:0000:99:00): 79, pid=12" "3 NVRM: Xid (PCI:" "junk"
fault "an Xid of no GPU that is there, and junk" 0 none FAKE_GPUS=8
rm machine/dev/kmsg
mkfifo machine/dev/kmsg
fault "a log that nobody writes" 0 none FAKE_GPUS=8
rm machine/dev/kmsg

# ---- PCIe bridges above a GPU ----

pci=machine/sys/devices/pci0000:29/0000:29:01.0/0000:2a:00.0/0000:2b:00.0
mkdir -p $pci machine/sys/bus/pci/devices
ln -s ../../../devices/pci0000:29/0000:29:01.0/0000:2a:00.0/0000:2b:00.0 machine/sys/bus/pci/devices/0000:2b:00.0
aer "$pci" 0 0
aer "${pci%/*}" 7 0
aer "${pci%/*/*}" 2 1
fault "errors of bridges before the run" 0 none FAKE_GPUS=8
ok_json "… they are in the file" h.json \
	'[(g["before"]["bridge_errors"], g["before"]["pcie_errors"]) for n in d["nodes"] for g in n["gpus"]][:2] == [(None, 0), (10, 0)]'
fault "… and of the GPU itself, for a driver that does not count them" 0 none FAKE_GPUS=8 FAKE_NVML_LACKS=nvmlDeviceGetFieldValues
ok_json "… they are in the file" h.json \
	'[g["before"]["pcie_errors"] for n in d["nodes"] for g in n["gpus"]][:2] == [None, 0]'
rm -f h.json h.jsonl
FAKE_GPUS=8 FAKE_SUBMIT_NS=20000 begin 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 --samples 20 --cell-limit 20s -o h.json -o h.jsonl
until_true 20 measuring h.jsonl 1
aer "${pci%/*}" 12 0
end_within 60
ok "errors of a bridge during the run are a warning of its GPU" eval 'status_is 1 &&
	findings | grep -qx "error-counters gpu 1 warning"'
ok "… which says so" grep -qF "GPU 1 (0000:2b:00.0): 5 PCIe errors of the bridges above it during the run" h.json
rm -r machine/sys

# a hundred days, in which that many corrected errors are few
echo "8640000.00 1.00" >machine/proc/uptime
fault "many corrected errors, few of them a day" 0 none FAKE_GPUS=8 FAKE_ECC_CORRECTED=1:1200
fault "many corrected errors, many of them a day" 0 "memory-history gpu 1 note" FAKE_GPUS=8 FAKE_ECC_CORRECTED=1:12000
ok_json "… and how long that is is in the file" h.json 'd["nodes"][0]["uptime_s"] == 8640000'
rm machine/proc/uptime
sed "/os_index=\"1\"/s/local_memory=\"[0-9]*\"/local_memory=\"0\"/" cards.xml >empty.xml
fault "a NUMA node without memory" 0 "host-memory node - note" FAKE_GPUS=8 CS_TEST_TOPOLOGY="$PWD/empty.xml"
ok "… which says so" grep -qF "1 NUMA node has no memory" h.json
export CS_TEST_TOPOLOGY=$PWD/cards.xml
printf 'SwapTotal: 8388608 kB\nSwapFree: 4194304 kB\n' >machine/proc/meminfo
fault "memory that is swapped out" 0 "host-memory node - note" FAKE_GPUS=8

cat table
finish
