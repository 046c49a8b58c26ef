#!/bin/bash
# What findings say: which GPU, once for what all of them share, and nothing unsaid.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake

pairs=(-t peer.ce.write.pair -s 1M --seed 1 --cell-limit 30s)
flat() { # PATTERN: whatever lines it is folded into
	tr -s ' \n' ' ' <out | grep -qE -- "$1"
}

# ---- a throttled GPU is named, and no other one has its flag ----

fake 8
FAKE_THROTTLE=3:0x8 run 0 "${pairs[@]}" --check -o one.json
ok_json "of pairs that ran at the same time those of the throttled GPU are flagged" one.json \
	'{(r["src"], r["dst"]) for r in d["results"] if "throttled" in r["flags"]} ==
	 {("gpu3", f"gpu{k}") for k in range(8) if k != 3} |
	 {(f"gpu{k}", "gpu3") for k in range(8) if k != 3} and
	 any(r["concurrent"] >= 3 for r in d["results"])'
ok_json "… rows have the state of their own GPUs, and say which of both it was" one.json \
	'all((r["throttle_src"], r["throttle_dst"]) ==
	     tuple("0000000000000008" if r[end] == "gpu3" else None for end in ("src", "dst")) and
	     (r["sm_mhz"] is not None) == ("gpu3" in (r["src"], r["dst"]))
	     for r in d["results"])'
named='GPU 3 \(0000:4d:00.0\) throttled by hardware slowdown: peer.ce.write.pair 0->3, 1->3, 2->3 and 11 more cells measured meanwhile'
ok "… and the finding names the GPU: status 1" eval 'status_is 1 && flat "$named"'
ok_json "… also in its fields" one.json \
	'[(c["part"], c["bus_id"]) for c in d["checks"] if c["id"] == "throttled"] == [("gpu", "0000:4d:00.0")]'
ok_schema "… the document follows the schema" one.json
run 0 show one.json -v
ok "… with -v" flat "$named"
run 0 show one.json -f nagios
ok "… for nagios" prints "^CSCOPE-MPI WARNING: .*$named"
run 0 show one.json -f reason
ok "… for a scheduler" prints 'warning: .*GPU 3 \(0000:4d:00.0\) throttled by hardware slowdown'
FAKE_THROTTLE=3:0x8,5:0x40 run 0 "${pairs[@]}" --check -o two.json
ok_json "two throttled GPUs are two findings" two.json \
	'[c["bus_id"] for c in d["checks"] if c["id"] == "throttled"] == ["0000:4d:00.0", "0000:6f:00.0"]'

# ---- what all GPUs of a node share is one finding ----

all() { # VALUE: "0:VALUE,1:VALUE,..."
	printf "%s:$1," 0 1 2 3 4 5 6 7 | sed 's/,$//'
}
FAKE_THROTTLE=$(all 0x4) run 0 "${pairs[@]}" --check
ok "all GPUs throttled: one finding" eval \
	'flat "findings 1 warning" && flat "all 8 GPUs throttled by power cap: peer.ce.write.pair 0->1, 0->2, 0->3 and 53 more cells"'
FAKE_NVML_OTHERS=$(all 1) run 0 "${pairs[@]}" --check
ok "others on all GPUs: one finding" eval \
	'flat "findings 1 warning" && flat "all 8 GPUs: 1 other process on each; peer.ce.write.pair 0->1, 0->2, 0->3 and 53 more cells"'
FAKE_PCIE=$(all 5x8) FAKE_SLOW=$(all 0.5 | sed "s/[0-9]*:/h-&/g") run 0 -m h2d --pattern pair -s 4M --seed 1 --cell-limit 30s --check -o pcie.json
ok "all GPUs on half of their lanes: one finding" eval 'flat "findings 1 warning" &&
	flat "warning all 8 GPUs: PCIe runs at generation 5 x8 under load, of 5 x16"'
ok_json "… which is the node's" pcie.json \
	'[(c["part"], c["bus_id"]) for c in d["checks"] if c["id"] == "pcie-below"] == [("node", None)]'
FAKE_SLOW=$(printf 'h-%d:0.4%d,' 0 4 1 5 2 5 3 5 4 5 5 4 6 5 7 5 | sed 's/,$//') \
	run 0 -m h2d --pattern pair -s 4M --seed 1 --cell-limit 30s --check
ok "all host links below what they give: one finding, with the range" eval \
	'flat "findings 1 warning" && flat "all 8 GPUs: copies from host memory are 4[0-9] to 4[0-9] % below the usual range of their live links"'
FAKE_FAIL=$(printf 'cuDevicePrimaryCtxRetain:%d,' 1 2 3 4 5 6 7 8 | sed 's/,$//') \
	run 0 "${pairs[@]}"
ok "a call that fails for all GPUs: one finding" eval 'status_is 2 && flat "findings 1 critical" &&
	says_once "all 8 GPUs \(rank 0\): cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN"'
ok "… which is also the one reason of their cells" flat \
	'! 56 cells \(0->1, .* more\) failed: all 8 GPUs \(rank 0\): cuDevicePrimaryCtxRetain'
fake 2
FAKE_HANG=cuDevicePrimaryCtxRetain:1 run 2 "${pairs[@]}" --start-limit 3s
ok "a driver that hangs in all ranks: one finding" eval \
	'job_status_is 2 && says_once "both GPUs \(ranks 0, 1\): no answer within 3 s while opening the device \(--set start-limit\), in cuDevicePrimaryCtxRetain; processes [0-9]+, [0-9]+ "'
FAKE_NVLINK_COUNTERS=$PWD/counters FAKE_NVLINK_IDLE=1 run 0 "${pairs[@]}" --check
ok "no byte of any GPU over NVLink: one finding" eval 'flat "findings 1 warning" &&
	flat "both GPUs: NVLinks counted 0 % of what was sent and 0 %"'

# ---- a cell is told once, whoever finds it slow ----

fake 4
slow=(--no-mpi -s 4M --seed 1 --cell-limit 30s -t 'peer.ce.write.pair,peer.ce.read.pair')
run 0 "${slow[@]}" -q -o good.json
run 0 baseline good.json -q -o base.json
FAKE_SLOW=0-1:0.6,2-0:0.5,2-1:0.5,2-3:0.5 run 0 "${slow[@]}" --check --baseline base.json -o slow.json
ok_json "with a baseline a slow cell is told where its cause is" slow.json \
	'[(c["id"], c["part"], c["bus_id"]) for c in d["checks"] if c["severity"] != "note"] ==
	 [("slow-cells", "gpu", "0000:3c:00.0"), ("slow-cells", "link", "0000:1b:00.0")]'
ok "… with its bound" eval 'status_is 2 &&
	flat "copies from it to other GPUs are 44 % slower .*; 2->[0-3] has 17[0-9.]+ GB/s, below 31[0-9.]+ GB/s \(baseline [^)]*\), and 5 more cells are too" &&
	flat "copies from 0 to 1 are 35 % slower .*; 0->1 has 20[0-9.]+ GB/s, below 31[0-9.]+ GB/s \(baseline [^)]*\), and 1 more cell is too"'
run 0 check slow.json --baseline base.json -o again.json
ok_json "… also from its file" again.json \
	'[c["id"] for c in d["checks"] if c["severity"] != "note"] == ["slow-cells", "slow-cells"]'
FAKE_SLOW=0-1:0.97 run 0 "${slow[@]}" --check --baseline base.json -o little.json
ok_json "what the baseline alone finds is told of it" little.json \
	'{c["id"] for c in d["checks"] if c["severity"] != "note"} == {"below-baseline"}'
echo 'test,bound,severity
peer.ce.write.pair,312 GB/s,critical' >t.csv
FAKE_SLOW=0-1:0.6 run 0 "${slow[@]}" -o once.json
run 0 check once.json --threshold t.csv -o once.json
ok_json "a warning does not speak for a bound whose breach is critical" once.json \
	'[(c["id"], c["severity"]) for c in d["checks"] if c["severity"] != "note"] ==
	 [("slow-cells", "warning"), ("below-threshold", "critical")]'

# ---- next: is a command that can be given as it stands ----

FAKE_SLOW=0-1:0.6 run 0 "${slow[@]}" --check -o link.json
command_of() { # what stands behind the first `next: `, as one line
	flat 'next: cscope-mpi [^;]*; look for Xid' &&
		tr -s ' \n' ' ' <out | sed 's/.*next: cscope-mpi \([^;]*\);.*/\1/'
}
again() {
	read -ra repeat <<<"$(command_of)" && echo "${repeat[@]}" &&
		FAKE_SLOW=0-1:0.6 run 0 "${repeat[@]}" --no-mpi --seed 1 --cell-limit 30s
}
ok "next: of a slow link is a command" command_of
ok "… which finds it again" eval 'again && status_is 2 &&
	flat "GPU 0 and GPU 1: copies from 0 to 1 are 3[0-9] % slower"'
run 0 show link.json -f csv
ok "no finding speaks of cells that are not there" eval \
	'! grep -q "cells below" out link.json'

# ---- notes are no reason ----

export FAKE_PERSISTENCE=0
run 0 "${pairs[@]}" --check -f nagios
ok "a plugin's line of a node with a note alone says what was measured" \
	prints '^CSCOPE-MPI OK: 4 GPUs, GPU to GPU at least [0-9]+ GB/s: 12 of 12 cells measured, 1 note \|'
run 0 -t peer.ce.write.bidi -s 1M --seed 1 --check -f nagios
ok "… and where both ways were busy" prints \
	'^CSCOPE-MPI OK: 4 GPUs, GPU to GPU at least [0-9]+ GB/s while both ways are busy: 12 of 12 '
copies() { # OF.jsonl N PYTHON: files n000 to n0NN of it, each changed by Python
	"${PYTHON:-python3}" -c 'import sys
source, n, change = sys.argv[1:]
for i in range(int(n)):
    text = open(source).read().replace("\"host\":\"n01\"", f"\"host\":\"n{i:03}\"").replace("\"node\":\"n01\"", f"\"node\":\"n{i:03}\"")
    text = text.replace("\"id\":\"", f"\"id\":\"{i}-", 1)
    exec(change)
    open(f"many/n{i:03}.jsonl", "w").write(text)' "$@"
}
if unshare --user --map-root-user --uts true 2>/dev/null; then
	as_host n01 "$CSCOPE" --no-mpi -q "${pairs[@]}" --check -o n01.jsonl 2>/dev/null
	mkdir many
	copies n01.jsonl 40 ''
	run 0 check many/*.jsonl -f nagios
else
	skip="no namespace of host names available"
fi
ok "of 40 nodes with the same note there is one line of it" eval \
	'prints "^CSCOPE-MPI OK: 160 GPUs, GPU to GPU at least [0-9]+ GB/s: 480 of 480 cells measured, 40 notes \|" &&
	 [ "$(grep -c "^note: n\[000-039\]: persistence mode is off" out)" = 1 ] && [ "$(grep -c "^note:" out)" = 1 ]'

# ---- 60 lines, and a word for what has no room ----

if [ -z "$skip" ]; then
	copies n01.jsonl 120 'text = text.replace("96.00.A5.00.01", f"v{i}") if i > 64 else text'
	run 0 check many/*.jsonl
fi
unset FAKE_PERSISTENCE
counted() { # all that the counts speak of is printed or counted as left out
	"${PYTHON:-python3}" -c 'import re
lines = open("out").read()
def numbers(line):
    return [int(n) for n in re.search(r"(\d+) critical, (\d+) warnings?, (\d+) notes?", line).groups()]
last = " ".join(re.search(r"^  \.\.\. [^(]*\(-v prints all\)", lines, re.M).group().split())
of, left = numbers(re.search("findings: .*", lines).group()), numbers(last)
shown = [sum(len(range(int(a), int(b or a) + 1)) for a, b in re.findall(r"(\d+)(?:-(\d+))?", hosts))
         for hosts in re.findall(r"^  (?:critical|warning|note) +n\[?([0-9,-]+)\]?: ", lines, re.M)]
print(of, left, shown, last)
assert sum(of) == sum(left) + sum(shown) and left != [0, 0, 0]
assert last.endswith("(-v prints all)") and " in short; left out: " in last'
}
ok "a report has 60 lines at most" eval '[ "$(wc -l <out)" -le 60 ]'
ok "… and their last line says how many findings have no room, and how to see them" counted
[ -n "$skip" ] || run 0 check many/*.jsonl -v
ok "… with -v there is all of each" eval \
	'[ "$(grep -c "^  warning" out)" = 55 ] && [ "$(grep -c "^ *next: " out)" = 56 ] && prints_not "left out"'

# ---- noise: no fault of the machine, and no cloak for one ----

noisy=(--no-mpi -t peer.ce.write.pair -s 1M --seed 1 --check)
fake 8
export FAKE_SAMPLE_NOISE=gauss:0.03 FAKE_SEED=1
run 0 "${noisy[@]}"
ok "samples that vary by 3 %: no warning" eval \
	'status_is 0 && prints_not warning && flat "uncertain +peer.ce.write.pair .*: unstable, up to \+-[0-9]+ %"'
FAKE_SLOW=2-5:0.5 run 0 "${noisy[@]}"
ok "… and a pair that is slow is named" eval \
	'status_is 2 && flat "critical GPU 2 and GPU 5: copies from 2 to 5 are [23][0-9] % slower"'
unset FAKE_SAMPLE_NOISE FAKE_SEED

# ---- tables of what never began ----

FAKE_HANG=cuDevicePrimaryCtxRetain:1 run 0 -m cost --start-limit 1s --seed 1
ok "tests that never began have one line, and no table" eval \
	'flat "[0-9]+ tests not started, the run ended early: peer.ce.write.pair, .*peer.driver.open.pair" &&
	 prints_not "from.to|median +-"'
finish
