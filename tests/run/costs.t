#!/bin/bash
# What a division of GPUs among processes costs: calls of the driver, timed by the
# CPU, on the driver's double.  Its clock is virtual but calls take real time: what
# differs here differs by factors, and no figure is asserted.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 0
fake 2

# The median over the rows of one test and metric, as awk has it.
median() { # CSV TEST METRIC
	sed 's/"[^"]*"//g' "$1" | awk -F, -v test="$2" -v metric="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["test"] == test && $at["metric"] == metric { print $at["value"] }
	' | sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# Is the first more than FACTOR times the second?
times() { # NUMBER FACTOR NUMBER
	echo "$1 against $2 x $3"
	[ -n "$1" ] && [ -n "$3" ] &&
		awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN { exit !(a > f * b) }'
}

# ---- submission, stalls, opening: a process for both GPUs, then one for each ----

costs='peer.ce.enqueue.*,local.sm.launch.*,local.driver.*,peer.driver.open.pair'
export FAKE_SUBMIT_NS=1000000 FAKE_OPEN_US=5000 FAKE_STALLS=process
run 1 --seed 1 -t "$costs" -o shared.csv -o shared.json
ok "costs in one process for both GPUs" status_is 0
ok_schema "… in documents that the schema describes" shared.json
same_process=$skip
run 2 --seed 1 -t "$costs" -o own.csv -o own.json
ok "… and in a process for each" status_is 0
skip=${skip:-$same_process}

# Twice as long, where both threads run at once; on a busy machine they do not always.
shared=$(median shared.csv peer.ce.enqueue.all time)
own=$(median own.csv peer.ce.enqueue.all time)
ok "threads of one process wait for each other to enqueue" times "$shared" 1.2 "$own"
ok "… to launch as well" times "$(median shared.csv local.sm.launch.all time)" 1.2 \
	"$(median own.csv local.sm.launch.all time)"
ok "… and alone they do not" times \
	"$shared" 1.2 "$(median shared.csv peer.ce.enqueue.alone time)"
ok "where a free waits for the work of the whole process, that is found" \
	times "$(median shared.csv local.driver.free.gated time)" 1 19
ok "… and a load of a module" \
	times "$(median shared.csv local.driver.load.gated time)" 1 19
ok "… a process of its own does not" \
	times 10 1 "$(median own.csv local.driver.free.gated time)"
ok "a peer's new buffer is opened by CUDA IPC between processes" times \
	"$(median own.csv peer.driver.open.pair time)" 1 5000
ok "… within one there is nothing to open" times \
	5000 1 "$(median shared.csv peer.driver.open.pair time)"
ok "… but the first way of all" times \
	"$(median shared.csv peer.driver.open.pair first-open)" 1 5000
unset FAKE_SUBMIT_NS FAKE_OPEN_US FAKE_STALLS
run 1 --seed 1 -t 'local.driver.*' -o contexts.csv
ok "where it waits for its own context only, it is not" \
	times 10 1 "$(median contexts.csv local.driver.free.gated time)"

ok_json "a row has the unit of its test" own.json \
	'{(r["test"].split(".")[2], r["metric"], r["unit"]) for r in d["results"]} == {
		("enqueue", "time", "us"), ("launch", "time", "us"),
		("free", "time", "ms"), ("load", "time", "ms"),
		*[("open", m, "us") for m in ("time", "first-open", "export",
		  "first-copy", "next-copy", "close", "reopen")]}'
ok_json "… as its matrix has" own.json \
	'[m["unit"] for m in d["matrices"]] == ["us"] * 4 + ["ms"] * 2 + ["us"]'
ok_json "512 single calls are its samples, and their 99th percentile is there" own.json \
	'{(r["n"], len(r["samples"]), r["p99"] >= r["value"]) for r in d["results"]
	  if r["pattern"] in ("alone", "all")} == {(512, 512, True)}'
ok_json "a copy of its own size says so" own.json \
	'{r["copy_bytes"] for r in d["results"] if r["op"] == "enqueue"} == {4096}'

# ---- what the text says ----

run 0 --seed 1 -s 1M --matrix peer,cost --op both -o all.json -o all.txt -o all.jsonl
ok "all there is, in one run" status_is 0
ok "… the median and the 99th percentile of calls" eval \
	'prints "^      GPU +0 +1$" && prints "^   median  " && prints "^      p99  " &&
	 prints "^  GPU  driver  context .* preempted "'
ok "… together against alone, by the pairs of the same run" eval \
	'prints "^  together / alone in %, alone by peer.ce.write.pair" &&
	 prints "^  together / alone in %, alone by peer.ce.read.pair" &&
	 prints "^  worst 99.40 % \(.->.\)  median 99.40 %"'
ok "… 4 KiB take 2.71 us behind the gate" prints "^ +0 +-    2.71$"
ok "… the parts of opening, and what the link moves meanwhile" eval \
	'prints "^  first-open " && prints "^  break-even .*the pair alone moves"'
ok "… every byte that was copied was checked" prints "checked .* 0 wrong bytes"
ok_json "… also those of the calls" all.json \
	'all(r["checked"] > 0 for r in d["results"]
	     if r["op"] in ("enqueue", "burst4k", "burst64k", "write4k"))'
ok "… and no figure of a call is compared with --precision" prints_not "unstable"
ok_json "each agent says what it took" all.json \
	'all(abs(a["first_byte_s"] - sum(a[k] for k in ("start_s", "open_s", "arena_s", "peers_s",
	     "first_sample_s"))) < 1e-6 and a["cpu_s"] >= 0 and a["switches_voluntary"] >= 0 and
	     a["process_cpu_s"] >= a["cpu_s"] and a["host_bytes"] > 0 and a["used_bytes"] >= 0
	     for a in d["agents"])'
ok_json "… GPU memory that NVML does not tell is unknown" all.json \
	'[a["context_bytes"] for a in d["agents"]] == [None, None]'
for file in all.json all.jsonl; do
	run_program 0 "$CSCOPE" show "$file"
	ok "$file gives the same report" same all.txt out
done
head -n 30 all.jsonl >cut.jsonl
run 0 --seed 1 -s 1M --matrix peer,cost --op both --resume cut.jsonl
ok "a run that was cut goes on" status_is 0
cells_of() { # CSV: which figures there are
	sed 's/"[^"]*"//g' "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["step"], $at["test"], $at["metric"], $at["src"], $at["dst"],
		        $at["status"] }' | sort
}
"$CSCOPE" show -q -o all.csv all.json
"$CSCOPE" show -q -o cut.csv cut.jsonl
cells_of all.csv >want
cells_of cut.csv >got
ok "… and has each figure once" same want got

export FAKE_NVML_MEMORY=0:600,1:700
run 0 --seed 1 -s 8M --pattern pair -o memory.json
ok_json "… and besides the buffer where it does" memory.json \
	'([a["context_bytes"] for a in d["agents"]] ==
	  [b * 10**6 - (8 + 16 * 8) * 2**20 for b in (600, 700)])'
ok "a report that asks for no costs is as short as ever" prints_not "preempted"
FAKE_MEMORY=20000000 run 0 --seed 1 -s 8M --pattern pair -o memory.json
ok_json "… which is smaller where there is less memory" memory.json \
	'([a["context_bytes"] for a in d["agents"]] ==
	  [b * 10**6 - 16 * 2**20 for b in (600, 700)])'
unset FAKE_NVML_MEMORY

fake 4
run 0 --seed 1 -s 1M --pattern pair,shift -o shift.json
ok_json "a shift is every cell of the matrix, N at a time" shift.json \
	'(sorted((r["src"], r["dst"], r["concurrent"]) for r in d["results"]
		if r["test"] == "peer.ce.write.shift" and r["metric"] == "rate") ==
	  sorted(("gpu%d" % i, "gpu%d" % k, 3) for i in range(4) for k in range(4) if i != k))'
ok_json "… with the node's total for each distance" shift.json \
	'len([1 for r in d["results"] if r["metric"] == "total"]) == 3'
FAKE_SLOW=1-3:0.5 run 0 --seed 1 -s 1M --pattern shift
ok "… and no share of what was not measured alone" prints_not "together / alone"

# ---- what cannot be ----

FAKE_CORRUPT=0-1:64 run 0 --seed 1 --gpus 0,1 \
	-t 'peer.ce.enqueue.alone,peer.driver.open.pair' -o bad.json
ok "a wrong byte of a timed call is found" status_is 2
ok_json "… in the cell that it is of" bad.json \
	'({(r["test"], r["src"], r["dst"]) for r in d["results"] if r["status"] == "corrupt"} ==
	  {("peer.ce.enqueue.alone", "gpu0", "gpu1"), ("peer.driver.open.pair", "gpu0", "gpu1")})'
FAKE_FAIL=cuModuleLoadData:4=1 run 0 --seed 1 --gpus 0,1,2 -t 'local.driver.load.gated'
ok "a call that fails costs its cell" eval \
	'status_is 2 && prints "cuModuleLoadData: CUDA_ERROR_INVALID_VALUE"'
unset FAKE_FAIL
FAKE_IPC_REFUSE=1 run 2 --seed 1 --gpus 0,1 -t 'peer.driver.open.pair'
ok "where CUDA IPC is refused its cost is not timed, and the way is named" \
	eval 'tr -s " \n" " " <out | grep -q "skipped: what CUDA IPC .* another way: descriptor"'

run 0 --backend cpu --gpus 2 -s 1M --matrix cost -o cpu.json
ok "the cpu backend has copies, and one reason for all the rest" eval \
	'status_is 0 && prints "[0-9]+ tests of --matrix cost are left out: the cpu backend"'
ok_json "… as a note" cpu.json \
	'[(e["id"], e["severity"]) for e in d["errors"]] == [("not-on-cpu", "note")]'
ok_json "… the copies are those of the CPU" cpu.json \
	'{r["test"] for r in d["results"]} == {"peer.cpu.write.pair", "peer.cpu.write.shift"}'
run 0 --backend cpu -t peer.ce.enqueue.all
ok "… a call by name is refused" eval \
	'status_is 3 && says_once "measured by the cuda backend only"'
finish
