#!/bin/bash
# A table of faults that show as a difference between nodes, as the driver's double and
# the PCI tree can show them, and what `cscope-mpi check` makes of the nodes' files:
# each is found with its layer, its part and its gravity on the one node that has it,
# and nothing else is reported.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
needs_host_names
command -v "${PYTHON:-python3}" >/dev/null || skip_all "no Python"
fake 3
export FAKE_MODEL='2:NVIDIA H100 NVL'

# The fixture with the fake's GPUs: GPU 0 beside a card below one switch, GPU 1 beside
# another card below the next host bridge, GPU 2 in the other NUMA node; a third card there.
at() { # SLOT BUS: sed's words for a GPU in a slot
	printf 's|^ *<object.*busid="0000:%s".*|<object type="PCIDev" gp_index="9%s" %s %s/>|;' \
		"$1" "$((16#$2))" "pci_busid=\"0000:$2:00.0\" pci_link_speed=\"63.0\"" \
		'pci_type="0302 [10de:2335] [10de:18be] a1"'
}
machine() { # FILE SLOT_OF_GPU_1 SLOT_OF_GPU_2 [SED]
	sed "$(at 13:00.0 1b) $(at "$2" 2b) $(at "$3" 3c) ${4:-}" \
		"$TESTDATA/fixtures/topo-switches.xml" |
		sed '/0000:\(17:00.0\|19:00.0\|31:00.0\|32:00.1\|91:00.0\)/d' >"$1"
}
machine usual.xml 32:00.1 91:00.0
machine without.xml 32:00.1 91:00.0 '/0000:3c:00.0/d'
machine cardless.xml 32:00.1 91:00.0 '/busid="0000:14:00.0"/,/<\/object>/d'
machine further.xml 31:00.0 91:00.0
machine moved.xml 32:00.1 31:00.0
machine nearer.xml 32:00.1 91:00.0 '/^  <distances2/,$s/10 21 22 10/10 12 12 10/'
# nodes interleaved by the BIOS: both sockets in one NUMA node
machine interleaved.xml 32:00.1 91:00.0 '/NUMANode" os_index="[01]"/d;/<distances2/,/<\/distances2>/d;/DMIBIOSDate/a\
<object type="NUMANode" os_index="0" cpuset="0x000000ff" complete_cpuset="0x000000ff" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="2147483648"/>'
# what else describes the machine
mkdir -p files/dev files/proc files/sys/class/iommu/dmar0 good
cp -r files translates
echo "ro iommu=pt" >files/proc/cmdline
echo "ro" >translates/proc/cmdline
export CS_TEST_ROOT=$PWD/files CS_TEST_TOPOLOGY=$PWD/usual.xml

# The file of one node; what differs there as NAME=VALUE in its environment.
node() { # HOST FILE VARIABLE=VALUE... [-- ARGUMENT...]
	local host=$1 file=$2 set=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		set+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	as_host "$host" env "${set[@]}" ${prefix:+$prefix} "$CSCOPE" --no-mpi -q -s 1M \
		--seed 1 --cell-limit 10s -o "$file" \
		"${@:---test=peer.ce.write.pair,h2d.ce.pinned.pair}" 2>>log </dev/null
}

# What is said of the second that is not said of the first, "ID PART GPU SEVERITY"; of
# another node than the odd one, or of none, with its name.
news() { # WITHOUT.json WITH.json
	"${PYTHON:-python3}" - "$@" <<'END'
import json
import sys


def findings(name):
    with open(name, encoding="ascii") as file:
        d = json.load(file)
    label = {(n["host"], g["bus_id"]): g["label"]
             for n in d["nodes"] for g in n["gpus"]}
    for f in d["checks"] + d["errors"]:
        ends = [label.get((f["node"], f[k]), f[k])
                for k in ("bus_id", "far_bus_id") if f.get(k)]
        yield (f["node"], f["says"]), [
            f["id"], f.get("part") or "-", "-".join(ends) or "-", f["severity"]
        ] + ([str(f["node"])] if f["node"] != "odd" else [])


usual = dict(findings(sys.argv[1]))
for key, words in findings(sys.argv[2]):
    if key not in usual:
        print(*words)
END
}

as_expected() { # EXPECTED
	echo "expected: $1; found:"
	cat found
	[ "$(paste -sd';' found)" = "${1/#none/}" ]
}

differs() { # SENTENCE EXPECTED VARIABLE=VALUE... [-- ARGUMENT...]
	local sentence=$1 expected=$2
	shift 2
	rm -f odd.jsonl
	node odd odd.jsonl "$@"
	run 0 check odd.jsonl good/*.jsonl -o with.json
	# what can be bound is this machine's, not that of the description
	news usual.json with.json | grep -v "^not-bound " | uniq >found
	ok "$sentence" as_expected "$expected"
	while read -r words; do
		printf '# %-40s %s\n' "$sentence" "$words"
		sentence=''
	done <found >>table
}

for host in n1 n2 n3 n4; do
	node "$host" "good/$host.jsonl"
done
node odd same.jsonl
run 0 check same.jsonl good/*.jsonl -o usual.json
ok "nodes that are alike: status 0" status_is 0
samples() { # FILE...
	cat "$@" | tr '{' '\n' | grep -c '"samples": *\[[0-9]'
}
ok "the file that check writes has all their samples" \
	[ "$(samples same.jsonl good/*.jsonl)" = "$(samples usual.json)" ]

gpus() { # ID SEVERITY GPU...
	local id=$1 severity=$2 gpu list=''
	shift 2
	for gpu; do
		list+="${list:+;}$id gpu $gpu $severity"
	done
	echo "$list"
}
wiring() { # GPU...
	gpus wiring-differs critical "$@"
}
hidden="launch-differs node - note;unknown-here node - note"

# ---- wiring ----
differs "a GPU is missing, and its slot empty" "wiring-differs node - critical" \
	FAKE_GPUS=2 CS_TEST_TOPOLOGY="$PWD/without.xml"
differs "a GPU has fallen off the bus" "gpu-lost gpu 0000:3c:00.0 critical" \
	FAKE_LOST=2
differs "a GPU of another model" "$(wiring 2)" \
	"FAKE_MODEL=2:NVIDIA A100"
differs "two models in each other's place" "$(wiring 1 2)" \
	"FAKE_MODEL=1:${FAKE_MODEL#*:}"
differs "two GPUs on each other's socket" "$(wiring 1 0)" FAKE_MODULE=0:2,1:1
differs "an NVLink is down" "nvlink-down gpu 2 critical" FAKE_NVLINKS_DOWN=2:1
differs "NVLinks that lead elsewhere" "$(wiring 1 0)" FAKE_NVLINK_REMOTE=0:1x18,1:0x18
differs "PCIe at half its width" "pcie-below gpu 1 critical" FAKE_PCIE=1:5x8 \
	FAKE_SLOW=h-1:0.5,1-h:0.5
differs "PCIe a generation down" "pcie-below gpu 1 critical" FAKE_PCIE=1:4x16 \
	FAKE_SLOW=h-1:0.5,1-h:0.5
differs "a network card is missing" "wiring-differs node - critical" \
	CS_TEST_TOPOLOGY="$PWD/cardless.xml"
differs "a GPU further from its card" "$(wiring 1)" CS_TEST_TOPOLOGY="$PWD/further.xml"
differs "a GPU in the other NUMA node" "$(wiring 2)" CS_TEST_TOPOLOGY="$PWD/moved.xml"
differs "another number of NUMA nodes" "wiring-differs node - critical" \
	CS_TEST_TOPOLOGY="$PWD/interleaved.xml"
numa="numa-nodes: 1, where most nodes of its class have 2"
ok_json "... by its name, with both values" with.json \
	"any(f['node'] == 'odd' and f['says'] == '$numa' for f in d['checks'])"
differs "other distances of NUMA nodes" "wiring-differs node - critical" \
	CS_TEST_TOPOLOGY="$PWD/nearer.xml"

# ---- firmware, software ----
differs "another VBIOS" "firmware-differs gpu 1 warning" FAKE_VBIOS=1:96.00.A5.00.02
differs "another driver" "software-differs node - warning" FAKE_DRIVER=570.86.15
differs "not registered with the fabric" "software-differs gpu 0 warning" FAKE_FABRIC=0:1

# ---- settings ----
differs "ECC is off" "ecc-off gpu 1 note;settings-differs gpu 1 warning" FAKE_ECC=1:0
differs "confidential computing is on" "settings-differs node - warning" \
	FAKE_CONFIDENTIAL=1
differs "MIG is on" "gpu-hidden node - note;ipc-mig node - warning;settings-differs node - warning;$hidden;not-possible - - note" \
	FAKE_MIG=2
differs "a lower power limit" "power-limited gpu 2 note;settings-differs gpu 2 warning" \
	FAKE_POWER_LIMIT=2:500
differs "persistence mode is off" \
	"persistence node - note;settings-differs node - warning" FAKE_PERSISTENCE=0
differs "exclusive compute mode" \
	"exclusive-process node - note;settings-differs node - warning" FAKE_COMPUTE_MODE=3
differs "an IOMMU that translates" "settings-differs node - warning" \
	CS_TEST_ROOT="$PWD/translates"
differs "no peer access" \
	"peer-refused node - warning;p2p-refused node - warning;cell-skipped - - note" \
	FAKE_NO_PEER=0-1,0-2,1-0,1-2,2-0,2-1

# ---- launch, and what passes ----
prefix="taskset -c $(taskset -pc $$ | sed 's/.*[ ,-]//')"
differs "a process on one CPU" \
	"launcher-one-core node - warning;launch-differs node - note"
prefix=''
differs "a mask of GPUs" "gpu-hidden node - note;$hidden" CUDA_VISIBLE_DEVICES=0,1
differs "a GPU in use by others" "in-use gpu 1 warning" \
	FAKE_NVML_OTHERS=1:1
differs "a GPU that is throttled" "slow-throttled gpu 1 warning" \
	FAKE_THROTTLE=1:0x40 FAKE_SLOW=1-0:0.7,1-2:0.7

cat table
finish
