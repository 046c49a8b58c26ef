#!/bin/bash
# --duration: the plan again and again, each pass kept, and a fault of one pass found.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2
soak=(--test peer.ce.write.pair -s 1M --samples 6 --seed 1)

# A machine may be slow: passes are counted in the journal, then the run is told to end.
until_pass() { # NUMBER RANKS OPTION...
	local pass=$1 ranks=$2
	shift 2
	rm -f k.*
	begin "$ranks" "${soak[@]}" --duration 1h -o k.jsonl -o k.json "$@"
	[ -n "$skip" ] || until_true 60 grep -qs "\"turn\":$pass," k.jsonl || echo "# no such pass"
}

interrupt() {
	[ -n "$skip" ] || kill -TERM "$(measurer)"
	end_within 20
}

# ---- a run that ends by itself ----

# Two passes have no trend; a busy machine has no more in a second.
for seconds in 1 4 16; do
	run 0 "${soak[@]}" --duration ${seconds}s --check -o s.json -o s.jsonl -o s.csv
	prints '[+]0.00 %' >/dev/null && break
done
ok "a soak without a fault: status 0" status_is 0
ok "… its first sentence tells worst, trend and errors" eval \
	'prints "^[0-9]+ passe?s? in .*below its cell.s median, .* in pass [0-9]+ of [0-9]+, [0-9:]{8}; .*no trend; no errors"'
ok "… a table has a line of each test" prints '^peer.ce.write.pair +196.08 +-0.0 % +[01]->[01] +[0-9]+  [+]0.00 %'
ok_json "… each pass of each cell is in the document, and in the journal" s.json \
	'(lambda rows: rows and all(sorted(r["turn"] for r in rows if (r["src"], r["dst"]) == p) ==
		list(range(1, max(r["turn"] for r in rows) + 1)) for p in (("gpu0", "gpu1"), ("gpu1", "gpu0"))))(
		[r for r in d["results"] if r["turn"]])'
ok "… and in the table of values" eval \
	'[ "$(grep -c , s.csv)" -gt 2 ] && [ "$(grep -c "\"turn\"" s.jsonl)" -ge 2 ]'
ok_schema "… the files follow the schema" s.json s.jsonl
cp out live
run 0 show s.jsonl
ok "its journal shows the same" same out live
run 0 show s.json
ok "… and its document too" same out live
run 0 check s.json
ok "check of it finds nothing" status_is 0

# ---- faults of one pass ----

memory 0
FAKE_SLOW=0-1:0.5 FAKE_SLOW_SAMPLES=80-100 until_pass 12 0
interrupt
ok "SIGTERM ends a soak with its status" status_is 143
ok "… and its passes are reported" prints '^[0-9]+ passes in .* in pass 7 of [0-9]+'
ok_json "… and written" k.json 'd["run"]["exit"] == 143 and max(r["turn"] or 0 for r in d["results"]) >= 12'
run 0 check k.json
ok "a pair that is slow in one pass is found and dated" prints \
	'warning  peer.ce.write.pair 0->1: 33 % below its other passes in pass 7 of [0-9]+, [0-9:]{8}'
ok "… once" eval '[ "$(grep -c "warning  .*other passes" out)" = 1 ]'
cp out document
run 0 check k.jsonl
ok "… in the journal too" same out document

FAKE_CORRUPT=0-1:5 FAKE_CORRUPT_COPY=300 until_pass 8 0
interrupt
run 0 check k.json
ok "data that is corrupt in one pass is found and dated" prints \
	'critical peer.ce.write.pair 0->1 corrupt in pass 4 of [0-9]+, [0-9:]{8}: 1 wrong byte'
ok "… and counts as an error of the passes" prints '1 cell failed'

FAKE_NVML_FROM=4 FAKE_XID=1:79 FAKE_NVLINK_GROW=0:3x12 until_pass 6 0
interrupt
ok_json "an Xid and a counter that grows are dated" k.json \
	'sorted(e["says"].split(", until")[0] for e in d["errors"] if e["id"] == "counted-in-pass") ==
	 ["GPU 0 (0000:1b:00.0): 12 NVLink errors in pass 3", "GPU 1 (0000:2b:00.0): Xid 79 in pass 3"]'
FAKE_XID=1:79 FAKE_NVML_FROM=2 run 0 "${soak[@]}" --duration 1s --check
ok "an Xid of an early pass is not forgotten by later readings" prints 'critical GPU 1 .*Xid 79 during the run'

# ---- ends ----

FAKE_HANG=cuMemcpyAsync:300 run 0 "${soak[@]}" --duration 1h --budget 8s -o h.json
ok "a GPU that hangs ends a soak within its budget, with what was measured" eval \
	'status_is 2 && one_line "no answer within" && prints "passes in"'
ok_json "… which is written" h.json 'any(r["turn"] == 1 and r["status"] == "ok" for r in d["results"])'
run 0 "${soak[@]}" --duration 1h --budget 3s
ok "a budget ends a soak in time, with status 0" eval 'status_is 0 && prints "passe?s? in"'
for signal in KILL STOP; do
	until_pass 3 2 --budget 30s
	[ -n "$skip" ] || kill -s $signal "$(rank 1)"
	end_within 60
	needs_survivors
	ok "a rank gets SIG$signal: the status is not 0, and the passes are kept" eval \
		'! status_is 0 && grep -q "\"turn\":3," k.jsonl && [ -s k.json ]'
	skip=''
	ok "… no process is left" until_true 10 none_left
done

# ---- several nodes ----

on two 2 2 2
wrapper=$PWD/two
run_program 4 "$wrapper" "$CSCOPE" "${soak[@]}" --duration 2s --check -o n.json
ok "two nodes soak at the same time" eval 'status_is 0 && prints "passe?s? in"'
ok_json "… each with passes of its own" n.json \
	'{r["node_index"] for r in d["results"] if r["turn"]} == {0, 1}'

# ---- what excludes it ----

ok_refused "several placements have turns of their own" "--placement" "${soak[@]}" --duration 1m --placement process,thread
ok_refused "a soak is not gone on with" "--resume" "${soak[@]}" --duration 1m --resume s.jsonl
ok_refused "what measures nothing has no passes" "--duration" --duration 1m --check=launch
run 0 "${soak[@]}" --gpus 2 --duration 1h --dry-run
ok "--dry-run shows one pass" eval 'status_is 0 && prints "2 steps"'
finish
