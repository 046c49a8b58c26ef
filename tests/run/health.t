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
	"${PYTHON:-python3}" - h.json <<'END'
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    d = json.load(file)
label = {g["bus_id"]: g["label"] for n in d["nodes"] for g in n["gpus"]}
for f in d["checks"] + d["errors"]:
    ends = [label[f[k]] for k in ("bus_id", "far_bus_id") if f.get(k)]
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
	run 0 --test h2d.ce.pinned.pair,peer.ce.write.pair --check -s 64K --seed 1 \
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
fault "ECC off on one GPU" 1 "settings-differs gpu 0 warning" FAKE_ECC=0:0
fault "another power limit on one GPU" 1 "power-limited gpu 2 note;settings-differs gpu 2 warning" \
	FAKE_POWER_LIMIT=2:500
fault "lower clocks on one GPU" 1 "settings-differs gpu 2 warning" FAKE_CLOCK_MAX=2:1410
fault "one GPU that is not registered with the fabric" 1 "software-differs gpu 3 warning" FAKE_FABRIC=3:1
fault "the serial of two GPUs" 1 "wiring-differs node - warning" FAKE_SERIAL=1:a,3:a
fault "half of the GPUs have another VBIOS" 1 "no-majority - - warning" FAKE_VBIOS=0:b,1:b
fault "two GPUs, each with a VBIOS of its own" 0 "no-majority - - note" FAKE_GPUS=2 FAKE_VBIOS=0:b

FAKE_ECC=0:0 run 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 --expect ecc=any --cell-limit 20s
ok "what --expect allows to be anything is not compared" status_is 0

# ---- what a GPU says of itself: one GPU, then all alike ----

both() { # SENTENCE STATUS ID SEVERITY VARIABLE VALUE
	fault "$1" "$2" "$3 gpu 1 $4" "$5=1:$6"
	fault "… on all GPUs alike" "$2" "$3 node - $4" "$5=$(all "$6")"
}

both "uncorrected ECC errors since the driver was loaded" 2 memory-errors 'critical!' FAKE_ECC_UNCORRECTED 2
both "a remap that waits for a reset" 2 row-remap 'critical!' FAKE_ROWS 0+0+1+0
both "a remap that failed" 2 row-remap 'critical!' FAKE_ROWS 0+0+0+1
both "a page whose retirement waits for a reset" 2 row-remap 'critical!' FAKE_PAGES 1
both "uncorrected errors and a remapped row in the past" 0 memory-history note FAKE_ECC_EVER 386
both "a remapped row" 0 memory-history note FAKE_ROWS 0+1+0+0
fault "a few corrected errors" 0 none FAKE_ECC_CORRECTED=1:8
both "many corrected errors" 0 memory-history note FAKE_ECC_CORRECTED 1200
both "errors of an NVLink before the run" 0 nvlink-errors note FAKE_NVLINK_ERRORS 3x12
ok "… with its number, its far end and how many" grep -qF "NVLink 3 to a switch: 12 errors before the run" h.json
both "errors of an NVLink during the run" 2 nvlink-errors 'critical!' FAKE_NVLINK_GROW 3x2
fault "… of a link to another GPU" 2 "nvlink-errors link 0-1 critical!" FAKE_NVLINK_GROW=0:3x2 \
	FAKE_NVLINK_REMOTE=0:1x6+2x6+3x6,1:0x6+2x6+3x6,2:0x6+1x6+3x6,3:0x6+1x6+2x6
both "a reset that the driver asks for" 2 recovery-asked 'critical!' FAKE_RECOVERY 1
both "a reboot that the driver asks for" 2 recovery-asked 'critical!' FAKE_RECOVERY 2
both "an Xid of the hardware during the run" 2 xid 'critical!' FAKE_XID 79
both "an Xid of an application" 1 xid warning FAKE_XID 31
both "as hot as its own limit" 1 too-hot warning FAKE_TEMPERATURE 94
fault "hot, and below its limit" 0 none FAKE_TEMPERATURE="$(all 80)"
fault "all power limits below the default" 0 "power-limited node - note" FAKE_POWER_LIMIT="$(all 500)"
fault "slots of a lower generation" 0 "pcie-slot node - note" FAKE_SLOT="$(all 4)" FAKE_PCIE="$(all 4x16)"
fault "… one of them" 1 "pcie-slot gpu 1 note;wiring-differs gpu 1 warning" FAKE_SLOT=1:4 FAKE_PCIE=1:4x16
both "PCIe errors during the run" 1 error-counters warning FAKE_PCIE_ERRORS 4
both "a fabric whose routes are unhealthy" 1 fabric-unhealthy warning FAKE_FABRIC_HEALTH 0x19a
both "a fabric configured wrongly" 1 fabric-unhealthy warning FAKE_FABRIC_HEALTH 0x5aa
fault "no GPU is registered with the fabric" 1 "fabric-unhealthy node - warning" FAKE_FABRIC="$(all 1)"
fault "GPUs in different cliques" 1 "fabric-cliques node - warning" FAKE_CLIQUE=2:7
fault "a GPU in no clique" 0 none FAKE_CLIQUE=2:32766
fault "a driver that knows none of it" 0 none \
	FAKE_NVML_LACKS=nvmlDeviceGetRemappedRows,nvmlDeviceGetRetiredPagesPendingStatus,nvmlDeviceGetTemperatureThreshold,nvmlDeviceGetGpuMaxPcieLinkGeneration,nvmlEventSetCreate,nvmlDeviceGetFieldValues,nvmlDeviceGetGpuFabricInfoV

cat table
finish
