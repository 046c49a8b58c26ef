#!/bin/bash
# Pairs of GPUs at the same time: only where a node has shown that it changes nothing.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 8
fast=(--no-mpi --seed 1 -m peer -s 256K --cell-limit 60s)
company='r for r in d["results"] if r["metric"] == "rate" and "concurrent" in r["flags"]'

says() { # WORDS: across the lines that long text is folded into
	tr -s " \n" " " <out | grep -qF -- "$1"
}

run 0 "${fast[@]}" --schedule serial -o serial.csv
ok "serial: the heading says one pair at a time" says "GPU to GPU, copy engine, write, one pair at a time, GB/s (peer.ce.write.pair"
figures serial.csv >alone
ok "serial: every pair alone" eval 'status_is 0 && all_ok serial.csv 112 && prints_not "while other pairs"'
run 0 "${fast[@]}" -o auto.csv -o auto.json -o auto.jsonl -v
cp out live
figures auto.csv >got
ok "8 GPUs: three rounds of each test alone and concurrently, the others concurrently" eval \
	'status_is 0 && prints "44 cells measured while other pairs ran; 12 both alone and so" &&
	 prints "32 cells measured while other pairs ran; 24 both alone and so"'
ok "... the headings say that some pairs ran at the same time" eval \
	'says "copy engine, write, some pairs at the same time, GB/s" &&
	 says "write, both ways, some pairs at the same time, GB/s" && ! says "one pair at a time"'
ok_json "... and so do titles in JSON" auto.json \
	'all(m["title"].endswith(", some pairs at the same time") for m in d["matrices"])'
ok "... the calibration as a table with -v" eval \
	'[ "$(grep -cE "^ +[0-9]->[0-9]: [0-9.]+ alone, [0-9.]+ concurrent with [37], 100.00 %$" out)" = 36 ]'
ok "... and the figures are those of each pair alone" same alone got
ok_json "JSON marks what is only compared with a cell" auto.json \
	'len(['"$company"']) == 36 and {r["concurrent"] for r in d["results"]} == {0, 1, 3, 7}'
ok_schema "... as the schema has it" auto.json auto.jsonl
run 0 show auto.jsonl -v
ok "the journal shows what the run did" same live out
run 0 show auto.json --cell 2,3
ok "a cell says whether others ran beside it" eval \
	'says "2->3 GPU to GPU, copy engine, write, while other pairs ran (peer.ce.write.pair) value"'
run 0 --dry-run --gpus 8 -m peer
ok "a plan says that pairs may run at the same time" says \
	"copy engine, write, some pairs at the same time if that changes nothing, 56 steps"
run 0 --dry-run --gpus 8 -m peer --schedule serial
ok "... or that none do" says "copy engine, write, one pair at a time, 56 steps"
run 0 --explain peer.ce.write.pair
ok "--explain says what else may move" eval \
	'! says "at a time" && says "unless --set schedule lets pairs without a common GPU run at the same time"'

FAKE_PEER_SHARED=4-7:3-5 run 0 "${fast[@]}" -o shared.csv -o shared.json
figures shared.csv >got
ok "pairs that share a link are found, named, and measured alone" eval \
	'status_is 0 && says="$(tr -s " \n" " " <out)" &&
	 [[ $says == *"peer.ce.write.pair: 3->5 has "*" % of its rate while 4->7 and others run: pairs are measured one at a time"* ]]'
ok_json "... as notes" shared.json \
	'{(e["id"], e["severity"]) for e in d["errors"]} == {("pairs-interfere", "note"), ("pairs-remeasured", "note")}'
ok "... with the figures of each pair alone" same alone got
# not in a round that is carried out both ways by this seed
FAKE_PEER_SHARED=0-1:5-3 run 0 "${fast[@]}" -o later.csv
figures later.csv >got
ok "so are pairs that meet in a later round" eval 'same alone got && says "% of its rate while"'

# the slow pair is in such a round, those that share a link are in none
export FAKE_SLOW=4-7:0.94 FAKE_PEER_SHARED=0-1:5-3:0.95
run 0 "${fast[@]}" --schedule serial -o serial.csv
figures serial.csv | awk '{ $4 = sprintf("%.4f", $4) } 1' >want
run 0 "${fast[@]}" -v -o slow.csv
figures slow.csv | awk '{ $4 = sprintf("%.4f", $4) } 1' >got
ok "a slow pair does not vouch for others: what is slower than most alone is measured alone" eval \
	'status_is 0 && same want got'
ok "... how many is said" says \
	"peer.ce.write.pair: 2 cells were slower while other pairs ran than most are alone: measured alone too"
ok "... and that it was the concurrent pairs" grep -qE "note +peer.ce.write.pair: (0->1|5->3) has 9[0-9.]+ % of" out
export FAKE_SLOW=6-2:0.94
unset FAKE_PEER_SHARED
run 0 "${fast[@]}" -o slow.csv
ok "a pair that is slow by itself is no effect of concurrency" eval \
	'status_is 0 && says "1 cell was slower while other pairs ran than most are alone" && ! says "pairs are measured one at a time"'
unset FAKE_SLOW

run 8 --seed 1 -m peer -s 256K --cell-limit 60s -o ranks.csv
figures ranks.csv >got
ok "eight ranks: the figures of one process" eval 'status_is 0 && same alone got'

fake 4
run 0 "${fast[@]}" -o few.csv
ok "4 GPUs: too few pairs for it to be worth while" eval 'status_is 0 && prints_not "while other pairs"'
figures few.csv >want
run 0 "${fast[@]}" --schedule parallel -o parallel.csv
figures parallel.csv >got
ok "parallel: also with few pairs" eval \
	'status_is 0 && prints "6 cells measured while other pairs ran; 6 both alone and so" && same want got'
FAKE_PEER_SHARED=0-1:2-3 run 0 "${fast[@]}" --schedule parallel -o parallel.csv
ok "... and where it does harm, which is said" eval \
	'status_is 0 && says="$(tr -s " \n" " " <out)" &&
	 [[ $says == *"run"*": measured concurrently anyway, as requested"* ]]'

fake 8
run 0 "${fast[@]}" -o whole.jsonl
head -n 40 whole.jsonl >cut.jsonl
run 0 "${fast[@]}" --resume cut.jsonl -o rest.csv
figures rest.csv >got
ok "a run that goes on with a journal has every cell once" eval 'status_is 0 && same alone got'
run 0 --dry-run --gpus 8 --seed 1 -m peer -o plan.csv
grep -oE 'id [0-9a-f]{16}' out >want
run 0 --dry-run --gpus 8 --seed 1 --plan plan.csv
grep -oE 'id [0-9a-f]{16}' out >got
ok "a plan file has the rounds" eval 'grep -q "role,round$" plan.csv && same want got'
# ---- within GPUs ----

within=(--no-mpi --seed 1 -s 64K:1M:x4 --spread 1M --cell-limit 60s -t "local.sm.read.alone,local.ce.copy.alone,local.fma.fp64.alone")
counting() { # FILE: test, size, GPU and figure of each cell that counts
	"${PYTHON:-python3}" -c 'import json, sys
for r in json.load(open(sys.argv[1]))["results"]:
    if not {"control", "concurrent"} & set(r["flags"]):
        print(r["test"], r["copy_bytes"], r["src"], "%.3g" % (r["value"] or 0))' "$1" | sort
}
run 0 "${within[@]}" --schedule serial -o w.json
counting w.json >alone
ok_json "within GPUs, serial: one at a time, each once" w.json \
	'len([r for r in d["results"] if "control" not in r["flags"]]) == 56 and not any(r["concurrent"] for r in d["results"])'
run 0 "${within[@]}" -o w.json
counting w.json >got
ok "... together: the figures of each alone" eval 'status_is 0 && same alone got && prints "findings   none"'
ok_json "... how many at once is in each result; alone are only controls, and GPUs that are slower by their make" w.json \
	'(lambda rows: 4 <= sum(not r["concurrent"] for r in rows) <= 6 and all(r["concurrent"] in (0, 7) and bool(r["concurrent"]) != ("control" in r["flags"]) for r in rows))([r for r in d["results"] if r["test"] != "local.fma.fp64.alone"])'
ok "... the headings say that GPUs ran at the same time" says "within a GPU, kernel that reads, GPUs at the same time, GB/s"
run 0 show w.json --cell 2,2
ok "... and so does a cell" says "while other GPUs ran"
run 0 --explain local.sm.triad.alone
ok "... and --explain" says "unless --set schedule lets all GPUs do so"
FAKE_PEER_SHARED=2-2:5-5:0.9 run 0 "${within[@]}" -o w.json
grep sm.read alone >want
counting w.json | grep sm.read >got
ok "GPUs that slow each other down within themselves are found, named, and measured alone" eval \
	'status_is 0 && same want got && says "local.sm.read.alone: GPU 2 has 90.0 % of its rate while GPU 0 and others run: GPUs are measured one at a time"'
ok_json "... at all further sizes of that test" w.json \
	'len({r["copy_bytes"] for r in d["results"] if r["test"] == "local.sm.read.alone" and r["concurrent"]}) == 1'
export FAKE_SLOW=2-2:0.6
run 0 "${within[@]}" --schedule serial -o w.json
counting w.json >want
run 0 "${within[@]}" -o w.json
counting w.json >got
ok "a GPU whose own memory is slow is measured alone too, and slows no other" eval \
	'status_is 0 && same want got && prints "findings   none"'
unset FAKE_SLOW
ok_json "... it alone" w.json \
	'{r["src"] for r in d["results"] if r["test"] == "local.sm.read.alone" and "concurrent" in r["flags"]} == {"gpu2"}'
FAKE_CORRUPT=4-4:8 run 0 "${within[@]}" -o w.json
ok_json "wrong data of one GPU is its own" w.json \
	'{r["src"] for r in d["results"] if r["status"] != "ok"} == {"gpu4"}'
export FAKE_FAIL_RANK=3
FAKE_FAULT=cuMemcpyAsync:20=0 run 8 --seed 1 -s 256K --spread 1M -t local.ce.copy.alone,local.sm.read.alone -o w.json
unset FAKE_FAIL_RANK
ok "a GPU that hangs while all run is named, and only its own cell failed" eval \
	'job_status_is 2 && says "GPU 3 (rank 3): no answer within" && says "7 cells (0, 1, 2, 4, 5, 6 and 1 more) not measured"'
ok_json "... in the file" w.json \
	'[r["src"] for r in d["results"] if r["status"] != "ok"] == ["gpu3"]'
run 0 --dry-run --gpus 2 -t local.sm.read.alone -s 64K
ok "two GPUs and one size: nothing is saved" says "within a GPU, kernel that reads, one GPU at a time"
ok_refused "another word is refused" "allowed are auto, serial, parallel" --schedule sometimes
finish
