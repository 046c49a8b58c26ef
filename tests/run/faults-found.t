#!/bin/bash
# A table of faults, as the driver's double can show them, and what --check makes of
# each: it is found where it is, a re-measurement confirms it, and nothing else is reported.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4
export CS_TIMEOUT=120
peer=peer.ce.write.pair
host=h2d.ce.pinned.pair,d2h.ce.pinned.pair
all=$peer,$host,local.ce.copy.alone

# FAKE_SLOW of all that a GPU sends to and gets from the others.
gpu() { # GPU FACTOR
	local i list=''
	for ((i = 0; i < FAKE_GPUS; i++)); do
		[ "$i" = "$1" ] || list+="${list:+,}$1-$i:$2,$i-$1:$2"
	done
	echo "$list"
}

# All pairs, as FAKE_NO_PEER or, with a factor, FAKE_SLOW take them.
pairs() { # [:FACTOR]
	local i k list=''
	for i in 0 1 2 3; do
		for k in 0 1 2 3; do
			[ "$i" = "$k" ] || list+="${list:+,}$i-$k${1:-}"
		done
	done
	echo "$list"
}

# Findings of the check as "ID PART GPU[-GPU] SEVERITY LOOK", one a line.
findings() {
	"${PYTHON:-python3}" -S - f.json <<'END'
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    d = json.load(file)
label = {g["bus_id"]: g["label"] for n in d["nodes"] for g in n["gpus"]}
for f in d["checks"] + d["errors"]:
    ends = [label[f[k]] for k in ("bus_id", "far_bus_id") if f.get(k)]
    look = ("confirmed" if "confirmed by re-measurement" in f["says"] else
            "not-again" if "not seen in re-measurement" in f["says"] else
            "once" if "not re-measured" in f["says"] else "-")
    print(f["id"], f.get("part") or "-", "-".join(ends) or "-", f["severity"], look)
END
}

is_found() { # EXPECTED
	findings >found || return
	echo "expected: $1; found:"
	cat found
	[ "$(paste -sd';' found)" = "${1/#none/}" ]
}

# Tests, the fault's variables, what is expected: all findings there are, or "none".
fault() { # SENTENCE TESTS EXPECTED VARIABLE=VALUE...
	local sentence=$1 tests=$2 expected=$3 knob
	shift 3
	rm -f f.json found
	for knob; do
		export "${knob?}"
	done
	run 0 --test "$tests" --check=outlier,link -s "${size:-2M}" --seed 1 \
		--cell-limit 20s -o f.json
	unset "${@%%=*}"
	ok "$sentence" is_found "$expected"
	printf '# %-42s %s\n' "$sentence" "$(paste -sd';' found 2>/dev/null)"
}

command -v "${PYTHON:-python3}" >/dev/null || skip_all "no Python"

fault "nothing" $all none FAKE_SLOW=
ok "a healthy node ends with 0" status_is 0
fault "an NVLink is down" $all "nvlink-down gpu 2 critical confirmed" \
	FAKE_NVLINKS_DOWN=2:1 FAKE_SLOW="$(gpu 2 0.944)"
ok "... with 2" status_is 2
fault "an NVLink is down and nothing uses it" $host "nvlink-down gpu 2 critical -" \
	FAKE_NVLINKS_DOWN=2:1
fault "an NVLink of each GPU is down" $peer "nvlink-down node - critical -" \
	FAKE_NVLINKS_DOWN=0:1,1:1,2:1,3:1
ok "... with 2" status_is 2
fault "all NVLinks of all GPUs are down" $peer "nvlink-down node - critical -" \
	FAKE_NVLINKS_DOWN=0:18,1:18,2:18,3:18
fault "cards without the bridges that they could have" $peer none \
	FAKE_NVLINKS_DOWN=0:18,1:18,2:18,3:18 FAKE_NAME="NVIDIA H200 NVL"
fault "a bridge between cards that takes a part of their NVLinks" $peer none \
	FAKE_NVLINKS_DOWN=0:6,1:6,2:6,3:6 FAKE_NAME="NVIDIA H100 PCIe"
fault "as slow as with an NVLink less" $all "slow-cells gpu 1 critical confirmed" \
	FAKE_SLOW="$(gpu 1 0.944)"
fault "a slow GPU" $all "slow-cells gpu 3 critical confirmed" \
	FAKE_SLOW="$(gpu 3 0.6)"
fault "a GPU that sends slowly" $peer "slow-cells gpu 3 critical confirmed" \
	FAKE_SLOW=3-0:0.7,3-1:0.7,3-2:0.7
fault "a slow link" $all "slow-cells link 1-2 critical confirmed" \
	FAKE_SLOW=1-2:0.7,2-1:0.7
fault "a link that is slow one way" $peer "slow-cells link 1-2 critical confirmed" \
	FAKE_SLOW=2-1:0.5
FAKE_GPUS=6
fault "a slow GPU and a slow link" $peer \
	"slow-cells gpu 0 critical confirmed;slow-cells link 2-3 critical confirmed;pairs-remeasured - - note -" \
	FAKE_SLOW="$(gpu 0 0.7),2-3:0.6,3-2:0.6"
fault "half of the GPUs are slow" $peer "slow-cells node - critical confirmed" \
	FAKE_SLOW="$(for a in 0 1 2; do gpu $a 0.6; done | paste -sd,)"
ok "... with the numbers of both halves" grep -qF "GPUs 0-2: copies from and to other GPUs are" f.json
fault "half of the GPUs send 10 % slower" $peer \
	"slow-cells node - critical confirmed;pairs-remeasured - - note -" \
	FAKE_SLOW="$(for a in 0 1 2; do for b in 0 1 2 3 4 5; do [ $a = $b ] || echo "$a-$b:0.9"; done; done | paste -sd,)"
ok "... the first line has the rates of both, and no cell is said to be between" eval \
	'"$CSCOPE" show f.json | head -6 | tr -s " \n" " " | grep -qE "3 of 6 GPUs send at 24[0-9], the others at 26[0-9] GB/s"'
ok_json "... its action has bus ids, serials and UUIDs" f.json \
	'[g["serial"] for g in d["actions"][0]["gpus"]] == ["1650023000000", "1650023000001", "1650023000002"] and
	 d["actions"][0]["part"] == "GPUs 0-2" and d["actions"][0]["action"] == "drain" and
	 all(g["bus_id"] and g["uuid"] for g in d["actions"][0]["gpus"])'
ok_schema "... as the schema says" f.json
run_program 2 "$CSCOPE" check f.json -f json
ok "... so does that of the file" grep -qF '"gpus":["0000:1b:00.0"' out
FAKE_GPUS=4
fault "PCIe at half its width" $all "pcie-below gpu 3 critical confirmed" \
	FAKE_PCIE=3:5x8 FAKE_SLOW=h-3:0.5,3-h:0.5
fault "PCIe two generations down" $all "pcie-below gpu 0 critical confirmed" \
	FAKE_PCIE=0:3x16 FAKE_SLOW=h-0:0.25,0-h:0.25
fault "PCIe that was read at generation 1, while copies were faster" $all none \
	FAKE_PCIE=3:1x16
fault "slow to and from the host" $all "slow-cells gpu 1 critical confirmed" \
	FAKE_SLOW=h-1:0.8,1-h:0.8
fault "slow memory" $all "slow-memory gpu 2 critical confirmed" FAKE_SLOW=2-2:0.6
fault "slow to the host alone" $all "slow-cells gpu 1 critical confirmed" FAKE_SLOW=1-h:0.6
ok "... which way" grep -qF "GPU 1: copies to host memory are" f.json
skipped="cell-skipped - - note -"
fault "no peer access between two GPUs" $all "p2p-refused link 0-1 warning -;$skipped" \
	FAKE_NO_PEER=0-1,1-0
fault "no peer access to and from a GPU" $all "p2p-refused gpu 3 warning -;$skipped" \
	FAKE_NO_PEER=3-0,0-3,3-1,1-3,3-2,2-3
fault "no peer access to a GPU" $peer "p2p-refused gpu 3 warning -;$skipped" \
	FAKE_NO_PEER=0-3,1-3,2-3
fault "no peer access at all" $all "p2p-refused node - warning -;$skipped" \
	FAKE_NO_PEER="$(pairs)"
fault "no peer access on cards without NVLink" $peer "p2p-refused node - note -;$skipped" \
	FAKE_NO_PEER="$(pairs)" FAKE_NVLINKS=0
FAKE_NO_PEER="$(pairs)" FAKE_NVLINKS=0 run 0 --test $all --check -s 2M --seed 1 --cell-limit 20s
ok "... with 0" status_is 0

# ---- wrong data: one finding a part, whatever the bytes of its cells are ----

fault "wrong data into a GPU" $all "cell-corrupt gpu 1 critical -" \
	FAKE_CORRUPT=0-1:8,2-1:8,3-1:8,h-1:8
ok "... with its name, cells and bytes" grep -qE \
	"\"GPU 1 \(0000:2b:00.0\): peer.ce.write.pair 0->1, 2->1, 3->1 and 1 more cell corrupt: 7 wrong bytes" f.json
ok_json "... and one drain, with serial and UUID" f.json \
	'[(a["action"], a["bus_id"], a["serial"], a["uuid"]) for a in d["actions"]] == [("drain", "0000:2b:00.0", "1650023000001", "GPU-00000000-0000-0000-0000-000000000001")]'
fault "... into and out of it" $all "cell-corrupt gpu 1 critical -" \
	FAKE_CORRUPT=0-1:8,2-1:8,3-1:8,h-1:8,1-0:8,1-2:8,1-3:8,1-h:8
fault "... into two GPUs" $peer "cell-corrupt gpu 1 critical -;cell-corrupt gpu 2 critical -" \
	FAKE_CORRUPT=0-1:8,2-1:8,3-1:8,0-2:8,1-2:8,3-2:8
fault "... between two GPUs, both ways" $peer "cell-corrupt link 0-1 critical -" \
	FAKE_CORRUPT=0-1:8,1-0:8
fault "... from the host into all" $host "cell-corrupt - - critical -" \
	FAKE_CORRUPT=h-0:8,h-1:8,h-2:8,h-3:8
size=4M
fault "peer access at the speed of the host" $peer "p2p-detour node - warning confirmed" \
	FAKE_SLOW="$(pairs :0.09)"
fault "a pair at the speed of the host" $peer "slow-cells link 0-1 critical confirmed" \
	FAKE_SLOW=0-1:0.09,1-0:0.09
fault "a GPU at the speed of the host" $peer "slow-cells gpu 2 critical confirmed" \
	FAKE_SLOW="$(gpu 2 0.09)"
fault "the memory of all is slow" local.ce.copy.alone "below-expected node - warning confirmed" \
	FAKE_SLOW=0-0:0.5,1-1:0.5,2-2:0.5,3-3:0.5
fault "all pairs are slow by 10 %" $peer "below-expected node - warning confirmed" \
	FAKE_SLOW="$(pairs :0.88)"
fault "all below what links to a switch give" $peer "below-expected node - warning confirmed" \
	FAKE_SLOW="$(pairs :0.6)"
fault "all below what links to three others give" $peer "below-expected node - warning confirmed" \
	FAKE_SLOW="$(pairs :0.2)" FAKE_NVLINK_REMOTE=0:1x6+2x6+3x6,1:0x6+2x6+3x6,2:0x6+1x6+3x6,3:0x6+1x6+2x6
fault "what links to three others give" $peer none \
	FAKE_SLOW="$(pairs :0.36)" FAKE_NVLINK_REMOTE=0:1x6+2x6+3x6,1:0x6+2x6+3x6,2:0x6+1x6+3x6,3:0x6+1x6+2x6
fault "all below, and a link that is slower still" $peer \
	"slow-cells link 1-2 critical confirmed;below-expected node - warning confirmed" \
	FAKE_SLOW="$(pairs :0.7),1-2:0.4,2-1:0.4"
fault "slow from the host, and not any more" h2d.ce.pinned.pair "slow-cells gpu 1 note not-again" \
	FAKE_SLOW=h-1:0.7 FAKE_SLOW_COPIES=112
ok "... with 0" status_is 0
size=2M

# ---- without --check ----

FAKE_NVLINKS_DOWN=2:1 run 0 --test $peer -s 4M --seed 1 -o f.json -o f.html
ok "without --check an NVLink that is down is in the first line, with status 0" eval \
	'status_is 0 && prints "^[0-9] x H200: 1 critical: GPU 2: 17 of 18 NVLinks are up" && prints_not "all alike|no errors"'
run_program 0 "$CSCOPE" show f.json
ok "... shown from a file" eval \
	'status_is 0 && prints ": 1 critical: GPU 2: 17 of 18" && prints_not "all alike|no errors"'
run_program 0 "$CSCOPE" show f.json -f nagios
ok "... in one line" eval 'status_is 0 && prints "GPU 2: 17 of 18 NVLinks are up \|"'
run_program 0 "$CSCOPE" check f.json
ok "... judged by check with 2" status_is 2
ok "... a finding ends with its id, in text and page" eval \
	'unfolded | grep -q "critical GPU 2: 17 of 18 NVLinks are up.* \[nvlink-down\]" && grep -qF "<code class=\"id n\"> [nvlink-down]" f.html'
# "COUNT WIDTH COLOUR" of the lines between GPUs and the switch, the thinnest first.
drawn() {
	grep -oE 'L[0-9]+ 262"[^>]* class="[a-z-]+"' f.html |
		sed -E 's/.*width="([0-9.]+)" class="([a-z-]+)"/\1 \2/' | sort -n | uniq -c | tr -s ' '
}
ok "... the page has no tick, and draws that link red and thinner" eval \
	'[ "$(drawn | paste -sd,)" = " 1 6.61 bad-s, 3 14 nvl-s, 1 14 trk-s" ] && grep -q "NV17 of 18" f.html &&
	grep -q "<b>critical</b> <span>exit status 0" f.html && ! grep -qE "all alike|no errors" f.html'
FAKE_PCIE=2:4x16 FAKE_SLOW=h-2:0.5 run 0 --test h2d.ce.pinned.pair -s 4M --seed 1
ok "... PCIe below what card and slot can do" eval \
	'status_is 0 && prints "1 critical: GPU 2: PCIe runs at generation 4" && prints_not "all alike|no errors"'
FAKE_THROTTLE=1:0x40 run 0 --test $peer -s 4M --seed 1
ok "... a warning takes the place of all alike" eval \
	'status_is 0 && prints "; [0-9] warnings?: [a-zA-Z]" && prints_not "all alike|no errors"'

run 0 --test $peer -s 4M --seed 1
ok "... a node without a fault is not called healthy" prints "alike within .* %; no errors; not judged without --check$"
run 0 --test $peer -s 4M --seed 1 --check -o f.json -o f.html
ok "with --check the verdict comes first" eval \
	'status_is 0 && prints "^4 x H200: no fault found; GPU to GPU .* alike within" && grep -q "<b>no fault found</b>" f.html'
run_program 0 "$CSCOPE" show f.json --cell 0,1
ok "... repetitions of a cell have their times" eval '[ "$(grep -c " s (control)" out)" -gt 1 ] &&
	[ -z "$(grep -oE "again at .*control" out | sort | uniq -d)" ]'
run_program 0 "$CSCOPE" show f.json
ok "... a file of this version is shown as it was judged" prints_not "judged this run"
sed -E 's/"version":"[^"]+"/"version":"0.0.1"/' f.json >old.json
run_program 0 "$CSCOPE" show old.json
ok "... the verdict of another version is said to be that" prints "version 0.0.1 judged this run; .cscope-mpi check FILE"
run_program 0 "$CSCOPE" check old.json
ok "... which check gives anew" prints_not "judged this run"

# ---- the re-measurement ----

run 0 --test $peer --check=outlier -s 2M --cell-limit 9s --seed 1 -o f.jsonl -o f.csv -o f.json
ok_json "nothing suspicious: no cell is re-measured" f.jsonl \
	'not any("re-measured" in r.get("flags", []) for r in d)'
export FAKE_SLOW=1-2:0.7,2-1:0.7
run 0 --test $peer --check=outlier -s 2M --cell-limit 9s --seed 1 -o f.jsonl -o f.json -o f.csv -f csv
ok_json "suspicious cells are repeated, and others beside them" f.jsonl \
	'len({r["src"] + r["dst"] for r in d if "re-measured" in r.get("flags", [])}
	 - {"gpu1gpu2", "gpu2gpu1"}) in (2, 3, 4, 5)'
ok_schema "their rows fit the schema" f.json
run_program 0 "$CSCOPE" show f.json
cp out shown
run_program 0 "$CSCOPE" show f.jsonl
ok "a view of the file says the same" same shown out
finish
