#!/bin/bash
# Several nodes in one job: CS_TEST_SCOPE makes them of one machine.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
needs_launcher

# who has measured waits for the others, to hear what is measured again
long=(--backend cpu -m peer --op both -s 32M --cell-limit 3s
	--precision 0.001% --check=outlier)

# A host that is gone says nothing more.  Stopped: launchers end a job with the first
# rank that dies.
lose() { # RANK...
	local r
	for r; do
		kill -STOP "$(rank "$r")" || return
	done
}

# In a folder of its own, for it writes on while others are tested.
begin_long() { # NAME
	mkdir "$1"
	cd "$1" || exit
	wrapper=../two
	begin 4 "${long[@]}" -o "$1.json" -o "$1.jsonl"
	[ -n "$skip" ] || until_true 30 measuring "$1.jsonl" 1
	cd ..
}

# the others count a minute; meanwhile the rest is tested
fake 4
on two 2 2 2
begin_long headless
ok "rank 0's node disappears in the middle of the job" lose 0 1
headless=$begun others="$(rank 2) $(rank 3)"
mark=${mark}1

# what waited for the rest would never hear a signal
CS_TIMEOUT=30 run_program 2 "${FORBID%/*}/halfway" "$PWD/asked"
ok "rank 0 goes on while a message comes, and takes messages in their order" status_is 0

run 0 -m peer -s 1M --gpus 0,1 -o alone.csv
figures alone.csv >want

run_program 4 ./two "$CSCOPE" -m peer --cell-limit 9s -s 1M -o two.json -o two.jsonl -o two.csv
ok "four ranks on two nodes: status 0" status_is 0
ok_json "both nodes are in the document" two.json \
	'd["run"]["n_nodes"] == 2 and [n["n_agents"] for n in d["nodes"]] == [2, 2]'
ok_json "… each with its matrices" two.json \
	'sorted(m["test"] for m in d["matrices"]) == ["peer.ce.write.bidi"] * 2 + ["peer.ce.write.pair"] * 2'
ok_json "… and agents that are ranks 0, 1 and 2, 3" two.json \
	'[(a["index"], a["rank"], a["local_rank"]) for a in d["agents"]] == [(0, 0, 0), (1, 1, 1), (0, 2, 0), (1, 3, 1)]'
ok_schema "document and journal follow the schema" two.json two.jsonl
figures two.csv | sort -u >got
ok "the figures are those of one node" same want got
ok "… and each node has all" all_ok two.csv 8
ok "the text says that the nodes are alike" prints "2 of 2 nodes alike"
run_program 4 ./two "$CSCOPE" -m peer -s 1M -v
ok "-v prints each" eval '[ "$(grep -c "from.to " out)" = 6 ]'
run_program 4 ./two "$CSCOPE" -m peer -s 1M -f result
ok "-f result has a line for each test and node" eval \
	'[ "$(grep -c "^result " out)" = 4 ]'

on unlike 1 3 2
run_program 2 ./unlike "$CSCOPE" -m peer --cell-limit 9s -s 1M -o unlike.csv -o unlike.json
ok "three GPUs and two: each node measures what it has" all_ok unlike.csv 16
ok_json "… none of it missing" unlike.json \
	'all(v is not None for m in d["matrices"] for i, row in enumerate(m["values"]) for j, v in enumerate(row) if i != j)'
ok_json "… and the node with fewer is found" unlike.json \
	'[(e["id"], e["severity"]) for e in d["checks"]] == [("fewer-gpus", "note")]'

on blind 2 2 0
run_program 4 ./blind "$CSCOPE" -m peer --cell-limit 9s -s 64K --seed 5 -o blind.csv -o blind.json -o blind.jsonl
ok "a node without a GPU: the others are measured, status 0" eval \
	'status_is 0 && all_ok blind.csv 4 && prints "^[^ ]+  no GPU"'
ok_json "… it is named as critical, with the reason, and host memory does not stand in" blind.json \
	'[(c["id"], c["severity"], c["node_index"], "CUDA_ERROR_NO_DEVICE" in c["says"]) for c in d["checks"]] == [("no-gpu", "critical", 1, True)] and d["run"]["stand_in"] is False and [n["n_agents"] for n in d["nodes"]] == [2, 0]'
ok_schema "… document and journal follow the schema" blind.json blind.jsonl
cp out live
run 0 show blind.jsonl
ok "… and show gives the bytes of the run" same live out
grep -v '"test":"peer.ce.write.bidi"' blind.jsonl | grep -v '"kind":"verdict"' >rest.jsonl
run_program 4 ./blind "$CSCOPE" -m peer --cell-limit 9s -s 64K --seed 5 --resume rest.jsonl -o rest.csv
ok "… --resume measures what is missing" eval 'status_is 0 && all_ok rest.csv 4'
run_program 4 ./blind "$CSCOPE" -m peer --cell-limit 9s -s 64K --check -f reason
ok "under --check: status 2, the node is named" eval \
	'status_is 2 && prints "critical: [^ ]+: no usable GPU: nothing was measured there"'
run_program 4 ./blind "$CSCOPE" -s 64K --gpus 0,1 --placement process,thread -q -o p.json
ok_json "a comparison of placements is made where there are GPUs" p.json \
	'{r["node_index"] for r in d["results"]} == {0, 1} and all(r["status"] == "ok" for r in d["results"])'
on first 2 0 2
run_program 4 ./first "$CSCOPE" -m peer --cell-limit 9s -s 64K -o first.csv
ok "rank 0's node may be the one without" eval 'status_is 0 && all_ok first.csv 4'
on none 2 0 0
SLURM_STEP_GPUS=0,1 run_program 4 ./none "$CSCOPE" -m peer -s 64K
ok "no node has a usable GPU: status 3, one line, nothing on stdout" eval \
	'status_is 3 && one_line "no usable GPU on" && is_empty out'

# a cell of the second node is wrong: rank 2 issues it
FAKE_FAIL_RANK=2 FAKE_FAIL=cuMemcpyAsync:3 \
	run_program 4 ./two "$CSCOPE" -m peer --cell-limit 9s -s 64K -o fault.csv -o fault.json
ok "a call that fails on the second node: status 2, its cell alone" eval \
	'status_is 2 && [ "$(cells fault.csv | grep -c " ok ")" -ge 6 ] &&
	 [ "$(cells fault.csv | grep -c " failed ")" -ge 1 ]'
ok "… said in one line with the call" one_line "cuMemcpyAsync"
ok_json "… and the cell's row brings its reason to rank 0" fault.json \
	'{(r["node_index"], "cuMemcpyAsync" in (r["reason"] or "")) for r in d["results"] if r["status"] == "failed"} == {(1, True)}'

run_program 4 ./two "$CSCOPE" --backend cpu -m peer -s 64K --cell-limit 50ms -o cpu.csv
ok "host memory on two nodes" all_ok cpu.csv 8
run_program 4 ./two "$CSCOPE" -t h2d.ce.pageable.pair --cell-limit 9s -s 64K -o host.json
ok_json "rank 0 has the CPUs' part of both nodes' rows" host.json \
	'{(r["node_index"], r["workers"]) for r in d["results"] if r["metric"] == "rate"} == {(0, 1), (1, 1)}'

begin_long lost
ok "a node disappears in the middle of the job" lose 2 3
cd lost || exit
end_within 45
ok "… which ends with status 2, in time" eval 'was_in_time && job_status_is 2'
# on a busy machine it may have measured all by then
ok "… in one line that names the node" says_once \
	"no message from the node for 10 s; (its earlier results are kept|it had sent all its results)"
ok_json "… found as critical: a node to be drained" lost.json \
	'[(e["severity"], e["node_index"], e["part"], e["drain"]) for e in d["errors"] if e["id"] == "node-lost"] == [("critical", 1, "node", True)]'
ok_json "… and the others' plan is complete" lost.json \
	'all(v is not None for m in d["matrices"] if m["node_index"] == 0 for i, row in enumerate(m["values"]) for j, v in enumerate(row) if i != j)'
ok_schema "… in files that follow the schema" lost.json lost.jsonl
cd ..

gone() { # PID...
	! kill -0 "$@" 2>/dev/null
}

# shellcheck disable=SC2086 # several
ok "without a word from rank 0 the others end by themselves" \
	until_true 90 gone $others
begun=$headless
end_within 20
ok "… and so does the job" was_in_time

load_is() { # LOAD RUNNING LIMIT
	echo "$1 0.00 0.00 $2/99 1" >load
	[ "$(CS_LOADAVG=load "$TESTDATA/patience" 20)" = "$3" ]
}

ok "an idle machine has the limits that tests name, a busy one more" eval \
	'load_is 0.00 0 20 && load_is $(($(nproc) * 3)) 1 80 && load_is 0.00 $(($(nproc) * 3)) 80'
finish
