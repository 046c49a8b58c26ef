#!/bin/bash
# Cells against what healthy runs gave, and against bounds that somebody chose.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4
memory 34000000
one=(--no-mpi --cell-limit 20s) # a busy machine must not end a cell early
some=("${one[@]}" -s 256K -t 'peer.ce.write.pair,h2d.ce.pinned.pair')

# ---- learning ----

for i in 1 2 3; do
	run 0 "${some[@]}" --seed $i -q -o "h$i.json" -o "h$i.jsonl"
done
run 0 baseline h1.json h2.jsonl h3.json -o base.json
ok "learnt from three runs of a node" eval \
	'status_is 0 && prints "^class .test double; .*4 x NVIDIA H200.: 1 node, 3 runs"'
ok "… and says at once that one node tells little" eval \
	'[[ $(sed -n 2p out) == "  few nodes: "* ]]'
if [ -n "${PYTHON:-}" ]; then
	ok "the baseline follows its schema" "$TESTDATA/schema-check" \
		"$TESTDATA/../doc/cscope-mpi-baseline-1.schema.json" base.json
else
	skip='no Python with jsonschema' ok "the baseline follows its schema"
fi
ok_json "figures by test, size and kind of link; of one node nothing between nodes" base.json \
	'[(n["test"], n["copy_bytes"], n["link_kind"], n["cells"], n["nodes"], n["runs"], n["spread_nodes"]) for n in d["classes"][0]["statistics"]] == [("peer.ce.write.pair", 262144, "NVLink", 36, 1, 3, None), ("h2d.ce.pinned.pair", 262144, "host near", 12, 1, 3, None)]'
cp base.json first.json
run 0 baseline h1.json h2.jsonl h3.json h1.jsonl h1.json -q -o base.json
ok "a run that is named again counts once" same first.json base.json
head -n 12 h1.jsonl >cut.jsonl
run 0 baseline cut.jsonl -f json
ok "what a killed run measured is learnt" eval 'status_is 0 && prints "\"runs\":1"'
FAKE_THROTTLE=1:8 run 0 "${some[@]}" -q -o hot.json
run 0 baseline "$TESTDATA/../doc/results/h200x2/halo-np1.json"
ok "a spread of nothing has no sign" eval 'status_is 0 && prints "node 0.00 %" && prints_not "-0.00"'
ok "of one node and one run, the spread of others is not spoken of" prints_not 'spread between|(nodes|runs) -'
run 0 baseline hot.json h1.json -q -o half.json
ok_json "what was throttled is not" half.json \
	'{n["test"]: n["cells"] for n in d["classes"][0]["statistics"]} == {"peer.ce.write.pair": 18, "h2d.ce.pinned.pair": 7}'

# ---- judging by a baseline ----

run 0 "${some[@]}" --baseline base.json -o good.json
ok "a healthy run: status 0, no findings" eval 'status_is 0 && prints "findings +none"'
ok_json "… under the check that judges" good.json 'd["run"]["checks"] == ["baseline"]'
slow=1-0:0.85,1-2:0.85,1-3:0.85
FAKE_SLOW=$slow run 0 "${some[@]}" --baseline base.json -o slow.json
ok "a slow GPU is found: status 2, cell, figure, bound, and what set it" eval \
	'status_is 2 && one_line "critical: [^ ]+: peer.ce.write.pair at 256 KiB: 1->[023] has [0-9.]+ GB/s, below [0-9.]+ GB/s \(baseline [0-9.]+ GB/s of 1 node in 3 runs, 1.6 %\); also"'
ok_json "… and is named, with its rows as evidence" slow.json \
	'[(c["id"], c["part"], c["bus_id"], c["drain"], sorted(d["results"][i]["dst"] for i in c["evidence"]), {d["results"][i]["src"] for i in c["evidence"]}) for c in d["checks"]] == [("below-baseline", "gpu", "0000:2b:00.0", True, ["gpu0", "gpu2", "gpu3"], {"gpu1"})]'
ok_json "… after three re-measurements at two of its cells each" slow.json \
	'all("; confirmed by re-measurement" in c["says"] for c in d["checks"]) and len([r for r in d["results"] if "re-measured" in r["flags"]]) == 6'
ok_schema "… in a document that follows the schema" slow.json
FAKE_SLOW=$slow FAKE_SLOW_COPIES=5000 run 0 "${some[@]}" --baseline base.json -o gone.json
ok "what the re-measurement does not see is a note: status 0" status_is 0
ok_json "… that says so" gone.json \
	'[(c["id"], c["severity"], c["drain"], c["says"].endswith("; not seen in re-measurement")) for c in d["checks"]] == [("below-baseline", "note", False, True)]'
FAKE_SLOW=2-3:0.85 run 0 "${some[@]}" --baseline base.json -q -o link.json
ok_json "one slow cell is a link with two ends" link.json \
	'[(c["part"], c["bus_id"], c["far_bus_id"]) for c in d["checks"]] == [("link", "0000:3c:00.0", "0000:4d:00.0")]'
FAKE_SLOW=1-0:1.5 run 0 "${some[@]}" --baseline base.json -q
ok "what is faster than the baseline is no finding" status_is 0
FAKE_SLOW=$slow run 0 "${some[@]}" --baseline base.json --margin 10% -q
ok "--margin widens the bound" status_is 0
FAKE_SLOW=$slow FAKE_THROTTLE=1:8 run 0 "${some[@]}" --baseline base.json -q
ok "a cell that was throttled is a warning" status_is 1
FAKE_SLOW=$slow run 4 --cell-limit 20s -s 256K -t peer.ce.write.pair --baseline base.json -q
ok "four ranks: one line, status 2" eval 'status_is 2 && says_once "below [0-9.]+ GB/s .baseline"'
FAKE_SLOW=$slow run 0 "${some[@]}" --baseline base.json --placement process,thread \
	-q -o turns.json
ok "placements that take turns are not re-measured: status 1" eval \
	'status_is 1 && one_line "warning: .*; not re-measured"'
ok_json "… evidence is rows of the file" turns.json \
	'(lambda found: len(found) == 2 and all(d["results"][i]["src"] == "gpu1" for c in found for i in c["evidence"]))([c for c in d["checks"] if c["id"] == "below-baseline"])'

# ---- what a baseline does not know ----

FAKE_NAME="NVIDIA A100" run 0 "${some[@]}" --baseline base.json -q
ok "another class: status 3, both named" eval \
	'status_is 3 && one_line "no baseline of class .*4 x NVIDIA A100.: there is .*4 x NVIDIA H200"'
FAKE_GPUS=3 run 0 "${some[@]}" --baseline base.json -q -o fewer.json
ok_json "one GPU less than healthy nodes of the kind have: critical" fewer.json \
	'[(c["severity"], c["drain"], c["says"]) for c in d["checks"] if c["id"] == "not-expected"] == [("critical", True, "gpus: 3, where healthy nodes (1) have 4")]'
run 0 "${some[@]}" -s 64K --baseline base.json -q -o never.json
ok "another size: status 64, named, nothing measured" eval \
	'status_is 64 && one_line "baseline lacks peer.ce.write.pair at 64 KiB: it has that test at 256 KiB" && [ ! -e never.json ]'
run 0 "${one[@]}" -s 256K -t peer.sm.write.pair --baseline base.json -q
ok "another method: status 64, named" eval \
	'status_is 64 && one_line "baseline lacks peer.sm.write.pair at 256 KiB: it has no such test"'
run 4 -s 64K -t peer.ce.write.pair --baseline base.json -q
ok "… four ranks refuse with one line" eval \
	'status_is 64 && one_line "baseline lacks peer.ce.write.pair at 64 KiB"'
run 0 "${one[@]}" -s 256K -t 'peer.ce.write.pair,peer.ce.read.pair' --baseline base.json
ok "what is not in it is told, the rest is judged" eval \
	'status_is 0 && tr -s " \n" " " <out | grep -q "12 cells (NVLink) not judged: the baseline lacks peer.ce.read.pair"'
FAKE_GPUS=3 run 0 "${some[@]}" -q -o three.json
run 0 baseline three.json -q -o base3.json
FAKE_GPUS=3 FAKE_SLOW=1-0:0.85 run 0 "${some[@]}" --baseline base.json,base3.json -q
ok "several files: each class by its own" status_is 2
ok_refused "a class in two files: status 64" "is in an earlier file too" "${some[@]}" --baseline base.json,first.json -q
run 0 baseline h1.json three.json -f json
ok "runs of several classes make several" eval '[ "$(grep -o "\"class\":" out | wc -l)" = 2 ]'

# ---- files of a fleet ----

FAKE_SLOW=$slow run 0 "${some[@]}" -q -o plain.json
run 0 check h1.json --baseline base.json
ok "check FILE --baseline: a healthy run" eval '[ "$status" -lt 2 ] && prints_not baseline'
run 0 check plain.json --baseline base.json -q -o checked.json
ok "… a slow GPU, measured once: status 1, for no node is drained on one measurement" eval \
	'status_is 1 && one_line "warning: .*below [0-9.]+ GB/s .baseline.*; not re-measured"'
ok_json "… with the command that measures again" checked.json \
	'[(c["part"], c["bus_id"], c["severity"], c["drain"], c["remeasure"]) for c in d["checks"] if c["id"] == "below-baseline"] == [("gpu", "0000:2b:00.0", "warning", False, "cscope-mpi --test peer.ce.write.pair -s 256K")]'
echo 'test,bound
peer.ce.write.pair,77.2 GB/s' >look.csv
run 0 check plain.json --threshold look.csv -q -o checked.json
ok "… below a threshold, measured once: status 2, as its file says" eval \
	'status_is 2 && one_line "critical: .*\(look.csv:2\).*; not re-measured"'
ok_json "… and the node stays" checked.json \
	'[(c["severity"], c["drain"]) for c in d["checks"] if c["id"] == "below-threshold"] == [("critical", False)]'
run 0 check slow.json --threshold look.csv -q -o checked.json
ok_json "… seen twice it does not" checked.json \
	'[(c["severity"], c["drain"], "confirmed by re-measurement" in c["says"]) for c in d["checks"] if c["id"] == "below-threshold"] == [("critical", True, True)]'
run 0 check slow.json --baseline base.json -q -o checked.json
ok_json "… and of the run that measured twice the same finding" checked.json \
	'[c for c in d["checks"] if c["id"] == "below-baseline"] == [c for c in __import__("json").load(open("slow.json"))["checks"] if c["id"] == "below-baseline"]'
ok_refused "… thresholds that are not there: status 64" "none.csv" check plain.json --min-share 99% --threshold none.csv
run 0 check h1.json --baseline base3.json -q
ok "… another class: status 3" eval 'status_is 3 && one_line "no baseline of class"'
run 0 baseline three.json -q -o base3.json
FAKE_GPUS=3 run 0 "${one[@]}" -s 64K -t peer.ce.write.pair -q -o small.json
run 0 check small.json --baseline base3.json -q
ok "… another size: status 3, named" eval 'status_is 3 && one_line "baseline lacks peer.ce.write.pair at 64 KiB: it has that test at 256 KiB"'

# ---- lines of sweeps ----

sweep=("${one[@]}" -s 4K:1M:x4 --gpus '0,1' -t peer.ce.write.pair)
run 0 "${sweep[@]}" --seed 1 -q -o sweep.json
run 0 baseline sweep.json -q -o lines.json
ok_json "of a sweep alpha and 1/beta are learnt, with their intervals" lines.json \
	'[(n["test"], n["alpha_us"]["low"] <= n["alpha_us"]["value"] <= n["alpha_us"]["high"], 2 < n["alpha_us"]["value"] < 4, 380 < n["gbs"]["value"] < 400, n["nodes"], n["runs"]) for n in d["classes"][0]["lines"]] == [("peer.ce.write.pair", True, True, True, 1, 1)]'
run 0 "${sweep[@]}" --seed 2 --baseline lines.json
ok "the same machine is on its line: status 0, no findings" eval 'status_is 0 && prints "findings +none"'
if [ -n "${PYTHON:-}" ]; then
	"$PYTHON" - <<-'END'
		import json
		d = json.load(open("lines.json"))
		for line in d["classes"][0]["lines"]:
		    for x in line["alpha_us"]: line["alpha_us"][x] *= 0.5
		    for x in line["gbs"]: line["gbs"][x] *= 1.5
		json.dump(d, open("better.json", "w"))
	END
	run 0 "${sweep[@]}" --seed 2 --baseline better.json -o worse.json
	ok "an alpha above, and a rate below, what the baseline and its interval allow: status 1, both figures" eval \
		'status_is 1 && prints "peer.ce.write.pair by size: alpha [0-9.]+ us, above [0-9.]+ us .baseline [0-9.]+ us., 1/beta [0-9.]+ GB/s, below [0-9.]+ GB/s .baseline [0-9.]+ GB/s., of 1 node in 1 run"'
	ok_json "... one finding, of the sweep" worse.json \
		'[(c["id"], c["severity"], c["drain"]) for c in d["checks"]] == [("line-beyond-baseline", "warning", False)]'
	ok "the baseline with lines follows its schema" "$TESTDATA/schema-check" \
		"$TESTDATA/../doc/cscope-mpi-baseline-1.schema.json" better.json
fi

# ---- files that are none, or hostile ----

refuses() { # PATTERN WHAT-TO-PUT-INTO-THE-BASELINE
	printf '%s' "$2" >bad.json
	run 0 "${some[@]}" --baseline bad.json -q
	status_is 64 && one_line "--baseline: bad.json.*($1)"
}
norm='{"test":"peer.ce.write.pair","metric":"rate","unit":"GB/s","copy_bytes":262144,"link_kind":"NVLink","median":90,"spread_within":0,"spread_nodes":null,"spread_runs":null,"nodes":1,"runs":1,"cells":1}'
of() { # NORM
	printf '{"schema":"cscope-mpi-baseline/1","classes":[{"class":"x","nodes":1,"runs":1,"statistics":[%s]}]}' "$1"
}
ok "no JSON is refused" refuses 'not JSON' '{"schema":'
ok "… an array" refuses 'an object is expected' '[]'
ok "… another schema" refuses "'schema' is 'x/1'; allowed is cscope-mpi-baseline/1" '{"schema":"x/1"}'
ok "… a later version" refuses "'schema' is 'cscope-mpi-baseline/2'" '{"schema":"cscope-mpi-baseline/2"}'
ok "… a run" refuses 'this is a run' "$(cat h1.json)"
ok "… no classes" refuses 'no class' '{"schema":"cscope-mpi-baseline/1","classes":[]}'
ok "… a class without a name" refuses "'class'" '{"schema":"cscope-mpi-baseline/1","classes":[{"statistics":[]}]}'
ok "… classes that are none" refuses 'a class' '{"schema":"cscope-mpi-baseline/1","classes":[7]}'
ok "… a median of 0" refuses "statistic 0: .*'median' is " "$(of "${norm/90/0}")"
ok "… a median of null" refuses "'median'" "$(of "${norm/90/null}")"
ok "… a negative spread" refuses "'spread_within'" "$(of "${norm/within\":0/within\":-1}")"
ok "… another unit" refuses "'unit' is 'us'; allowed is GB/s" "$(of "${norm/GB\/s/us}")"
ok "… another metric" refuses "'metric'" "$(of "${norm/rate/speed}")"
ok "… a line outside its interval" refuses "'alpha_us' is .*a value between low and high" \
	'{"schema":"cscope-mpi-baseline/1","classes":[{"class":"x","nodes":1,"runs":1,"lines":[{"test":"peer.ce.write.pair","alpha_us":{"value":2,"low":3,"high":4},"gbs":{"value":2,"low":1,"high":3},"nodes":1,"runs":1}],"statistics":[]}]}'
ok "… a key twice" refuses 'not JSON.*duplicate' "$(of "${norm/\"runs\":1/\"nodes\":1}")"
ok "… control characters in one line" refuses "allowed is" \
	'{"schema":"a\nb\u001b[31m/1"}'
ok "… a NUL byte" eval 'printf "{\0}" >bad.json; run 0 "${some[@]}" --baseline bad.json -q
	status_is 64 && one_line "a byte of it is 0"'
ok "deeply nested" eval 'head -c 100000 /dev/zero | tr "\0" "[" >bad.json
	run 0 "${some[@]}" --baseline bad.json -q; status_is 64 && one_line "not JSON"'
printf '%s' "$(of "${norm/peer.ce.write.pair/peer.later.test.pair},$norm")" >later.json
run 0 "${some[@]}" --baseline later.json -q
ok "a test of a later version is passed over" eval 'status_is 3 && one_line "no baseline of class"'
ok_refused "no such file: status 64" "cannot read .none.json" "${some[@]}" --baseline none.json -q
run 0 baseline none.json
ok "nothing to learn from: no such file, status 3" eval 'status_is 3 && one_line "none.json"'
ok_refused "… a baseline: status 64" "base.json" baseline h1.json base.json
run 0 show h1.json --redact -q -o masked.json
ok_refused "… without names of hosts: status 64" "masked.json: its names are redacted" baseline masked.json
run 0 --dry-run --gpus 2 -t peer.ce.write.pair -q -o p.csv
FAKE_GPUS=2 run 0 --no-mpi -s 64K --plan p.csv -q -o planned.json
ok_refused "… of a plan file: status 64" "planned.json: it was measured by --plan" baseline planned.json
ok_refused "… no file: status 64" "baseline needs FILE" baseline
ok_refused "… no form of it: status 64" "allowed endings are .txt, .json" baseline h1.json -o base.csv
ok_refused "--plan and --baseline exclude each other" "exclude each other" --no-mpi --plan p.csv --baseline base.json
ok_refused "--check=baseline alone has nothing to judge by" "needs --baseline, --threshold, --min-share or --expect" --no-mpi --check=baseline

# ---- thresholds ----

bounds() { # LINE...
	printf '%s\n' 'test,class,size,bound,severity' '# of a site' "$@" >t.csv
}
bounds 'peer.ce.*.pair,,,1 GB/s,' '*,*H200*,256K,1 GB/s,warning'
run 0 "${some[@]}" --threshold t.csv -q
ok "within all bounds: status 0" status_is 0
bounds 'peer.ce.*.pair,,,1 GB/s,critical' 'peer.ce.write.pair,*4 x NVIDIA H200,,300 GB/s,warning'
run 0 "${some[@]}" --threshold t.csv -q -o w.json
ok "below a bound of severity warning: status 1, test, figure, bound, file and line" eval \
	'status_is 1 && one_line "warning: [^ ]+: peer.ce.write.pair at 256 KiB: [0-9]->[0-9] has [0-9.]+ GB/s, below 300.00 GB/s \(t.csv:4\); also"'
bounds 'peer.*.pair,,,300 GB/s,warning' 'peer.ce.*,,,200 GB/s,critical' 'peer.ce.write.*,,,250 GB/s,note'
run 0 "${some[@]}" --threshold t.csv -q -o c.json
ok "of several lines the gravest counts" eval 'status_is 2 && one_line "t.csv:4\)"'
ok_json "… once for each cell" c.json '[c["severity"] for c in d["checks"]] == ["critical"]'
bounds 'peer.ce.*,*H100*,,300 GB/s,' 'h2d.*,,1G,300 GB/s,'
run 0 "${some[@]}" --threshold t.csv -q
ok "no line applies: status 3" eval 'status_is 3 && one_line "no threshold applies"'
bounds '*,*,,9000 ns,' '*,*,,1 GB/s,'
run 0 "${one[@]}" -s 64K -t 'peer.chase.stride.pair,peer.ce.write.pair' --threshold t.csv -q
ok "a unit chooses the tests that have it" status_is 0
bounds 'peer.chase.stride.pair,,,800 ns,warning'
run 0 "${one[@]}" -s 64K -t 'peer.chase.stride.pair' --threshold t.csv -q
ok "a latency is bounded from above" eval 'status_is 1 && one_line "has [0-9.]+ ns, above 800.00 ns"'
bounds 'peer.ce.write.pair,,,90%,'
run 0 "${one[@]}" -s 4M -t peer.ce.write.pair --threshold t.csv -q
ok "copies too short for their link have no share: status 3, which would do is said" eval \
	'status_is 3 && one_line "copies of 4 MiB are too short to be judged by a share of their link.s peak: copies of 64 MiB fill it"'
FAKE_NAME="NVIDIA H200 NVL" FAKE_NVLINKS_DOWN=0:17,1:17,2:17,3:17 run 0 "${one[@]}" -s 4M -t peer.ce.write.pair \
	--threshold t.csv -q
ok "a share is of the links that are live" status_is 0
bounds 'h2d.*,,,95%,warning'
run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --threshold t.csv -q
ok "… of PCIe to the host" eval 'status_is 1 && one_line "below 59.[0-9]+ GB/s \(95 % of the live link.s peak, t.csv:3\)"'
run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --min-share 80% -q
ok "--min-share: enough" status_is 0
run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --min-share 95% -q
ok "--min-share: too little is critical" eval 'status_is 2 && one_line "\(--min-share, 95 % of the live link.s peak\)"'
FAKE_PCIE=0:5x8,1:5x8,2:5x8,3:5x8 FAKE_SLOW=h-0:0.5,h-1:0.5,h-2:0.5,h-3:0.5 \
	run 0 "${one[@]}" -s 1M --seed 1 -t h2d.ce.pinned.pair --expect pcie=5x16 -q
ok "a width that is not as expected is critical, also where a warning says that all have it" eval \
	'status_is 2 && one_line "pcie-width .*--expect says x16"'
run 0 "${one[@]}" -s 1M --seed 1 -t h2d.ce.pinned.pair -q -o short.json
run 0 baseline short.json -q -o short-base.json
run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --expect min-share=80% -q
ok "--expect min-share is the same: enough" status_is 0
run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --min-share 10% --expect min-share=95% -q
ok "… too little, and what is expected wins" eval 'status_is 2 && one_line "\(--min-share, 95 % of the live link.s peak\)"'
ok_refused "… of what is measured" "--expect: .min-share.: --check=topology measures nothing" "${one[@]}" --expect min-share=50% --check=topology
run 0 "${one[@]}" -s 1M --seed 1 -t h2d.ce.pinned.pair --min-share 85% --baseline short-base.json -q -o both.json
ok "... beside a baseline that judges them that is a note: status 0" status_is 0
ok_json "... which says so" both.json \
	'[(c["id"], c["severity"]) for c in d["checks"] if "threshold" in c["id"]] == [("threshold-unused", "note")]'
FAKE_SLOW=h-0:0.8 run 0 "${one[@]}" -s 1M --seed 1 -t h2d.ce.pinned.pair --min-share 85% --baseline short-base.json -q
ok "... and a cell below that baseline is found: status 2" eval 'status_is 2 && one_line "below"'
CS_LIBNVML=/nowhere run 0 "${one[@]}" -s 16M -t h2d.ce.pinned.pair --min-share 80% -q -o no.json
ok "no NVML, no peak: nothing is judged in silence" eval 'status_is 3 && one_line "that peak is unknown"'
ok_json "… which is a finding" no.json \
	'any(c["id"] == "threshold-unknown" for c in d["checks"])'
run 0 check no.json -q -o no-again.json
ok_json "… and stays one when its file is judged by nothing else" no-again.json \
	'any(c["id"] == "threshold-unknown" for c in d["checks"])'
run 0 check no.json --expect gpus=any -q -o no-other.json
ok_json "… not when it is judged by other criteria" no-other.json \
	'not any(c["id"] == "threshold-unknown" for c in d["checks"])'

refused() { # PATTERN LINE...
	local pattern=$1
	shift
	printf '%s\n' "$@" >t.csv
	run 0 "${some[@]}" --threshold t.csv -q
	status_is 64 && one_line "--threshold: t.csv.*($pattern)"
}
ok "a column that is none is refused" refused ":1: there is no column 'tests'" 'tests,bound' 'a,1'
ok "… a column that is missing" refused ":1: column bound is missing" 'test,class' 'a,1'
ok "… a test that is none" refused ":3: column test: .*'peer.xx'" test,bound '' 'peer.xx,1'
scope=Comm_cudaMemcpyAsync_PinnedToGPU_flush
ok "… a single cell, for all others would be bounded too" refused ":2: column test: '$scope/0/1/18' is a single cell" test,bound "$scope/0/1/18,1"
ok "… other caches than its name says" refused ":2: column cache: 'any': '$scope' has another" test,cache,bound "$scope,any,1"
ok "… an empty bound" refused ':2: column bound: it is empty' test,bound 'peer.*,'
ok "… no number" refused ":2: column bound: 'fast'" test,bound 'peer.ce.*,fast'
ok "… infinity" refused ":2: column bound: 'inf'" test,bound 'peer.ce.*,inf'
ok "… a negative one" refused ":2: column bound: '-3'" test,bound 'peer.ce.*,-3'
ok "… hexadecimal" refused ":2: column bound: '0x10'" test,bound 'peer.ce.*,0x10'
ok "… another unit" refused "no test of 'peer.ce.write.p.' has that unit" test,bound 'peer.ce.write.p*,3 us'
ok "… a unit that is none" refused ":2: column bound: '3 MB/s'" test,bound 'peer.ce.*,3 MB/s'
ok "… tests of several units" refused 'have several units' test,bound 'peer.*,3'
ok "… more than all of a link" refused ':2: column bound: .*share' test,bound 'peer.ce.*,101%'
ok "… a share of no link" refused 'crosses a link' test,bound 'local.*,90%'
ok "… a severity that is none" refused ":2: column severity: 'bad': allowed are note, warning, critical" test,bound,severity 'peer.ce.write.pair,1,bad'
ok "… a size that is none" refused ':2: column size' test,bound,size 'peer.ce.*,1,big'
ok "… a value too many" refused 'in none of the 2 columns' test,bound 'peer.ce.*,1,2'
ok "… nothing in it" refused 'no threshold in it' test,bound '# none'
ok "… an empty file" refused 'no threshold in it' ''
ok "… colours for the terminal" refused ":2: column test: " test,bound $'\e[31mpeer,1'
ok_refused "no such file: status 64" "cannot read .none.csv" "${some[@]}" --threshold none.csv -q
ok_refused "a share above 100 %: status 64" "min-share" "${some[@]}" --min-share 120% -q
run 0 "${some[@]}" --threshold "$TESTDATA/../doc/thresholds/published.csv" -q
ok "the example is a file of thresholds, and catches what is slow" eval \
	'status_is 2 && says_once "published.csv:[0-9]+"'
finish
