#!/bin/bash
# Healthy machines of six kinds, by the driver's double with noise: nothing is found, with
# --check and without, whatever the seed.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
command -v "${PYTHON:-python3}" >/dev/null || skip_all "no Python"
fake 8
export FAKE_SAMPLE_NOISE=gauss:0.001

matrix() { # GPUS GB/s
	local i k
	for ((i = 0; i < $1; i++)); do
		for ((k = 0; k < $1; k++)); do
			printf '%s ' "$2"
		done
		echo
	done
}

# One value for each GPU; FAKE_SLOW of the ways between host and GPUs.
each() { # GPUS VALUE
	local i list=''
	for ((i = 0; i < $1; i++)); do
		list+="${list:+,}$i:$2"
	done
	echo "$list"
}

host() { # GPUS FACTOR
	local i list=''
	for ((i = 0; i < $1; i++)); do
		list+="${list:+,}h-$i:$2,$i-h:$2"
	done
	echo "$list"
}

# What can be bound is this machine's, and so are its CPUs.
is_found() { # EXPECTED
	json h.json 'print(*(f["id"] + " " + f["severity"] for f in d["checks"] + d["errors"]
			     if f["id"] != "not-bound"), sep=";", file=open("found", "w")) or True'
	echo "expected: $1; found: $(cat found)"
	grep -o '"says": "[^"]*"' h.json
	[ "$(cat found)" = "${1/#none/}" ]
}

healthy() { # SENTENCE EXPECTED VARIABLE=VALUE...
	local sentence=$1 expected=$2 knob mode seed
	shift 2
	for knob; do
		export "${knob?}"
	done
	for seed in 1 2 3; do
		for mode in --check ''; do
			# a larger copy is judged by what its links give, too
			FAKE_SEED=$seed run 0 $mode -s $((seed == 1 ? 4 : 1))M --seed $seed --cell-limit 20s \
				-o h.json -o h.txt
			ok "$sentence, seed $seed $mode" eval 'status_is 0 && is_found "$expected"'
		done
	done
	unset "${@%%=*}"
}

matrix 8 376 >h100
matrix 4 277 >a100
matrix 4 770 >gb200
matrix 2 26 >l40s
healthy "8 x H200" none FAKE_GPUS=8
healthy "8 x H100" none FAKE_GPUS=8 "FAKE_NAME=NVIDIA H100 80GB HBM3" FAKE_MATRIX=h100
healthy "4 x A100" none FAKE_GPUS=4 "FAKE_NAME=NVIDIA A100-SXM4-80GB" FAKE_MATRIX=a100 \
	FAKE_NVLINKS=12 FAKE_NVLINK_VERSION=3 FAKE_CAPABILITY=8.0 FAKE_PCIE="$(each 4 4x16)" \
	FAKE_SLOT="$(each 4 4)" FAKE_PCIE_OWN="$(each 4 4)" FAKE_SLOW="$(host 4 0.47)"
ok "... its links are 12 of version 3, its peak 300 GB/s" json h.json \
	'[(g["nvlinks_up"], g["nvlink_version"], g["nvlink_peak_gb_per_s"]) for n in d["nodes"] for g in n["gpus"]] ==
	 [(12, 3, 300)] * 4'
healthy "2 cards of PCIe" none FAKE_GPUS=2 FAKE_NVLINKS=0 "FAKE_NAME=NVIDIA L40S" \
	FAKE_FABRIC="$(each 2 0)" FAKE_CAPABILITY=8.9 FAKE_MATRIX=l40s
# PCIe beside C2C is at its least there, which nobody need mind
healthy "1 x GH200" "one-gpu note" FAKE_GPUS=1 "FAKE_NAME=NVIDIA GH200 480GB" FAKE_C2C=10 \
	FAKE_PCIE=0:1x1 FAKE_SLOT=0:1 FAKE_PAGEABLE=2 FAKE_NVLINKS_DOWN=0:18 FAKE_SLOW="$(host 1 6.7)"
ok "... its share is that of C2C" grep -qE "^h2d.ce.pinned.pair .* % C2C" h.txt
ok "... and no share of PCIe is given" eval \
	'grep -q "C2C" h.txt && ! grep -q "of PCIe" h.txt && json h.json "d[\"nodes\"][0][\"gpus\"][0][\"pcie_gen\"] == 0"'
healthy "4 x GB200" none FAKE_GPUS=4 "FAKE_NAME=NVIDIA GB200" FAKE_C2C=10 FAKE_MATRIX=gb200 \
	FAKE_NVLINK_VERSION=5 FAKE_CAPABILITY=10.0 FAKE_PCIE="$(each 4 1x1)" FAKE_SLOT="$(each 4 1)" \
	FAKE_PAGEABLE=2 FAKE_SLOW="$(host 4 3.7)"
export FAKE_GPUS=1 "FAKE_NAME=NVIDIA GH200 480GB" FAKE_C2C=10 FAKE_NVLINKS_DOWN=0:18 \
	FAKE_SLOW=h-0:2,0-h:6.7 FAKE_SEED=1
run 0 --check -s 4M --seed 1 --cell-limit 20s -t h2d.ce.pinned.pair,d2h.ce.pinned.pair -o h.json
ok "C2C that is slow one way: a warning names that, by what C2C usually gives" eval \
	'[ "$status" = 1 ] && is_found "below-expected warning"'
finish
