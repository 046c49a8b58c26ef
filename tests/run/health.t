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

fault "a GPU of another model" 1 "wiring-differs gpu 3 warning" \
	"FAKE_MODEL=3:NVIDIA A100" FAKE_CLOCK_MAX=3:1410 FAKE_POWER_LIMIT=3:400
ok "… with both values" grep -qF "model of GPU 3: NVIDIA A100, where most GPUs of the node have NVIDIA H200" h.json
fault "another VBIOS on one GPU" 1 "firmware-differs gpu 1 warning" FAKE_VBIOS=1:96.00.B1.00.02
fault "ECC off on one GPU" 1 "settings-differs gpu 0 warning" FAKE_ECC=0:0
fault "another power limit on one GPU" 1 "settings-differs gpu 2 warning" FAKE_POWER_LIMIT=2:500
fault "lower clocks on one GPU" 1 "settings-differs gpu 2 warning" FAKE_CLOCK_MAX=2:1410
fault "one GPU that is not registered with the fabric" 1 "software-differs gpu 3 warning" FAKE_FABRIC=3:1
fault "the serial of two GPUs" 1 "wiring-differs node - warning" FAKE_SERIAL=1:a,3:a
fault "half of the GPUs have another VBIOS" 1 "no-majority - - warning" FAKE_VBIOS=0:b,1:b
fault "two GPUs, each with a VBIOS of its own" 0 "no-majority - - note" FAKE_GPUS=2 FAKE_VBIOS=0:b

FAKE_ECC=0:0 run 0 --test h2d.ce.pinned.pair --check -s 64K --seed 1 --expect ecc=any --cell-limit 20s
ok "what --expect allows to be anything is not compared" status_is 0

cat table
finish
