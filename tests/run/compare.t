#!/bin/bash
# cscope-mpi compare: which figures of two runs differ, and how sure that is.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
[ -n "${HAVE_CUDA:-}" ] || skip_all "built without CUDA"

fake 4
few=(-m peer -s 1M --seed 1 -q)
no_pair() { # FILE STATUS WORD REASON: 0->1 has no figure in it
	run 0 compare a.json "$1.json"
	status_is 3 && [ "$(lines err)" = 1 ] &&
		prints 'same within 1 %: 11 of 12 cells' &&
		prints "not compared: .*write.pair [^ ]* 0->1: $2 in $1.json"
}
run 0 "${few[@]}" -o a.json -o a.jsonl
FAKE_NOISE=0.001 run 0 "${few[@]}" -o again.json
FAKE_SLOW=0-1:0.9 run 0 "${few[@]}" -o slow.json
FAKE_CORRUPT=0-1:-1 run 0 "${few[@]}" -o corrupt.json
FAKE_NO_PEER=0-1 run 0 "${few[@]}" -o skipped.json
FAKE_NVLINKS_DOWN=2:2 run 0 "${few[@]}" -o down.json
run 0 "${few[@]}" --placement process,thread,2 -o placed.json
run 0 -m peer -s 2M --seed 1 -q -o large.json
run 0 --op read "${few[@]}" -o reads.json
run 0 "${few[@]}" --gpus 0,1,2 -o three.json
run 0 --backend cpu --gpus 4 "${few[@]}" -o cpu.json
runs=()
for i in 1 2 3 4 5 6; do # of one machine, 0.2 % from sample to sample
	FAKE_SAMPLE_NOISE=gauss:0.002 FAKE_SEED=$i run 0 "${few[@]}" -o "r$i.json"
	runs+=("r$i.json")
done
run 0 baseline "${runs[@]}" -q -o base.json
run 0 baseline a.json -q -o once.json
spread() { # SEED: rates that differ by 1.5 % from run to run, copies of 4 MiB
	awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++) {
			x = -6; for (k = 0; k < 12; k++) x += rand()
			printf "%.3f%s", i == j ? 2000 : 396 * (1 + 0.02 * x), j < 3 ? " " : "\n"
		} }'
}
for i in 1 2; do
	spread $i >"rates$i"
	FAKE_MATRIX=$PWD/rates$i run 0 -m peer -s 4M --seed 1 -q -o "spread$i.json"
done
pairs() { # FILE VERDICT: how many cells
	grep -c "write.pair,rate.*,$2,[^a-z]*$" "$1" # behind it the variant, of the usual nothing
}

# ---- runs in turns, or side after side ----

for i in 1 2 3 4 5 6; do
	"${PYTHON:-python3}" -c 'import json, sys
d = json.load(open(sys.argv[1]))
d["run"]["started"] = "2026-11-24T10:0%s:00Z" % sys.argv[3]
json.dump(d, open(sys.argv[2], "w"))' "r$i.json" "d$i.json" $i
done
apart='all runs of one side started before those of the other'
run 0 compare d1.json,d3.json,d5.json d2.json,d4.json,d6.json
ok "runs of both sides in turns: nothing is said" eval '! prints "$apart"'
run 0 compare d1.json,d2.json,d3.json d4.json,d5.json,d6.json -f json -o apart.html
cp out apart.json
run 0 compare d1.json,d2.json,d3.json d4.json,d5.json,d6.json
ok "side after side: text, page and document say so" eval \
	'prints "$apart" && grep -q "$apart" apart.html && grep -q "\"apart\":true" apart.json'

# ---- verdicts ----

run 0 compare a.json a.json
ok "a run against itself: status 0" status_is 0
ok "… every cell is the same" prints 'same within 1 %: 12 of 12 cells'
ok "… and it says that runs may differ by more than is known" \
	prints 'each side is one run'
run 0 compare a.json a.jsonl
ok "a document against its journal" status_is 0
run 0 compare a.json again.json
ok "noise of 0.1 %: status 0" status_is 0

run 0 compare spread1.json spread2.json
ok "what differs by 1.5 % from run to run: of one run a side no verdict, status 0" eval \
	'status_is 0 && prints "differs in these two runs, [0-9]+ of 12: worst" &&
	 prints_not "^ +(faster|slower) in"'
run 0 compare a.json slow.json
ok "a link of 0.9 of its speed: it differs in these two runs" eval 'status_is 0 &&
	prints "differs in these two runs, 1 of 12: worst"'
run 0 compare a.json slow.json --baseline base.json
ok "… where a baseline knows how runs differ it is slower: status 1" eval 'status_is 1 &&
	prints "is taken from the baseline" && prints_not "these two runs"'
ok "… names the cell, the difference and its interval" \
	prints 'slower in 1 of 12: worst [^ ]* 0->1 -5\.[0-9]* % \(-[0-9.]* to -[0-9.]*\)'
run 0 compare a.json slow.json --baseline once.json
ok "… a baseline of one run does not know it" eval 'status_is 0 &&
	prints "differs in these two runs"'
run 0 compare slow.json a.json --baseline base.json -f csv
ok "the other way round it is faster" eval '[ "$(pairs out faster)" = 1 ]'
ok "… and one line a cell" eval '[ "$(grep -c ",rate," out)" = 24 ]'
run 0 compare a.json slow.json --margin 20% --baseline base.json
ok "within --margin it is the same: status 0" status_is 0
IFS=, eval 'all="${runs[*]}"'
run 0 compare "$all" slow.json
ok "several runs on one side tell how those of the other differ: status 1" eval \
	'status_is 1 && prints "are assumed to differ as those of the other side do" &&
	 prints "slower in 1 of 12"'
run 0 compare r1.json,r2.json,r3.json r4.json,r5.json,r6.json
ok "… three runs on each side of the same are the same" eval 'status_is 0 &&
	prints "same within 1 %: 12 of 12 cells"'
run 0 compare r1.json,r2.json,r3.json slow.json -f json -q -o c.json
ok_json "several files on a side are that many blocks of it" c.json \
	'all(c["blocks_a"] == 3 and c["blocks_b"] == 1 for m in d["matrices"] for c in m["cells"])'
ok_json "… the document has sides, margin and verdicts" c.json \
	'(d["schema"], d["a"], d["margin"], d["matrices"][0]["verdict"],
	  d["matrices"][0]["same"]) == ("cscope-mpi-compare/1", "r1.json,r2.json,r3.json",
					0.01, "slower", 11)'

# ---- the answer, and the caveats ----

export COLUMNS=1000 # a sentence a line
answers() { # PATTERN: of the first line behind the notice
	sed -n 2p out | grep -qE "^$1\$"
}
run 0 compare a.json a.json
ok "the answer comes first: no difference" answers 'no difference beyond 1 %: 30 of 30 cells'
run 0 compare a.json slow.json
ok "… two runs alone: what to repeat" answers \
	'these two runs differ by 5\.2 %: B was faster in 0, slower in 3 of 30 cells; repeat with three or more runs a side, in turns'
ok "… each matrix has its name" prints '^  GPU to GPU, copy engine, write, one pair at a time \(peer\.ce\.write\.pair\)$'
run 0 compare a.json slow.json -q -o slow.html
ok "… a page does not call that the same" eval \
	'grep -q "<b>not certain</b>" slow.html && ! grep -q "<b>the same</b>" slow.html'
run 0 compare a.json slow.json --baseline base.json
ok "… slower: by how much, in how many cells" answers 'B is slower by 5\.2 %: 3 of 30 cells; 0 faster'
run 0 compare slow.json a.json --baseline base.json
ok "… faster" answers 'B is faster by 5\.5 %: 3 of 30 cells; 0 slower'
FAKE_SLOW=1-2:0.9 run 0 "${few[@]}" -o other.json
run 0 compare slow.json other.json --baseline base.json
ok "… both" answers 'mixed: B is faster by 5\.5 %: 3 of 30 cells; slower by 5\.2 %: 3'
run 0 compare placed.json
ok "… of placements: which to use" eval \
	'[ "$(grep -c "^no difference beyond 1 %: either placement will do" out)" = 2 ]'
run 0 -m peer -s 64K --seed 1 --placement process,thread
ok "… of a run too" prints '^no difference beyond 1 %: either placement will do'

run 0 compare a.json skipped.json -o caveats.html
sed -i 's,<span class="n">\([^<]*\)</span>,\1,g' caveats.html # what no line's end cuts
grep -E '^  (each side|not compared)' out | sed -E "s/^ *//;s/</\\&lt;/g;s/>/\\&gt;/g;s/'/\\&#39;/g" >caveats
has_caveats() {
	local line
	while read -r line; do
		grep -qF -e "<p>$line</p>" caveats.html || {
			echo "missing: $line"
			return 1
		}
	done <caveats
}
ok "a page has each caveat of the text, and its answer" eval \
	'[ "$(wc -l <caveats)" = 5 ] && grep -q "VIRTUAL CLOCK" caveats.html && grep -q "no difference beyond 1 %: 26 of 26 cells; 3 not compared" caveats.html &&
	has_caveats'
unset COLUMNS

# ---- what is paired, and what is not ----

run 0 compare a.json large.json
ok "copies of another size are not compared: status 3" status_is 3
ok "… which the first line says" prints \
	'^nothing could be compared: peer.ce.write.pair: copies of 1 MiB in a.json'
ok "… with both sizes" \
	prints 'peer.ce.write.pair: copies of 1 MiB in a.json, of 2 MiB in large.json'
run 0 compare a.json reads.json
ok "nor is another operation" eval 'status_is 3 &&
	prints "peer.ce.write.pair in a.json, peer.ce.read.pair in reads.json: another op"'
run 0 compare a.json cpu.json
ok "nor a copy by CPU" eval 'status_is 3 && one_line "another method"'
run 0 compare a.json three.json
ok "cells without a partner are named, the others compared" eval 'status_is 0 &&
	prints "same within 1 %: 6 of 6 cells" &&
	prints "write.pair [^ ]* 0->3, 1->3, 2->3, 3->0, 3->1, 3->2: only in a.json"'
ok "… and what is not the same stands above" \
	prints "GPUs: a.json is '4', three.json is '3'"

ok "a cell that was corrupt on one side: not the same, status 3" no_pair corrupt corrupt
ok "nor one that was skipped" no_pair skipped skipped
run 0 compare a.json down.json
ok "links that are down on one side are said, with their GPU" eval 'status_is 0 &&
	prints "NVLinks up .[^ ]* GPU 2.: a.json is .18., down.json is .16."'

sed 's/"host":"[^"]*"/"host":"other"/; s/"node":"[^"]*"/"node":"other"/' slow.json >moved.json
run 0 compare a.json moved.json
ok "no node on both sides: paired by position, and said" eval 'status_is 0 &&
	prints "no node is on both sides" && prints " 0->1 "'
# the same GPUs in another order
sed 's/0000:1b:00.0/XX/g; s/0000:4d:00.0/0000:1b:00.0/g; s/XX/0000:4d:00.0/g' slow.json >turned.json
run 0 compare a.json turned.json -f csv
ok "a node on both sides: paired by bus id" eval '[ "$(pairs out differs)" = 1 ] &&
	grep -q "write.pair,rate.*,3->1,.*,differs,*$" out'

if has_launcher; then
	in_front two 'export CS_TEST_SCOPE=node$((rank / 2))'
	run_program 4 ./two "$CSCOPE" "${few[@]}" -o nodes.json
fi
run 0 compare nodes.json nodes.json
has_launcher || skip="no MPI launcher"
ok "two nodes of one name are each compared with its own" eval 'status_is 0 &&
	prints "same within 1 %: 24 of 24 cells" && prints "each side is one run"'
run 0 compare nodes.json:0 nodes.json:1
has_launcher || skip="no MPI launcher"
ok "FILE:NODE takes a number" eval 'status_is 0 && prints "12 of 12 cells"'
run 0 compare nodes.json:0 nodes.json:2
has_launcher || skip="no MPI launcher"
ok "… of a node that is there" eval 'status_is 64 && one_line "no node .2."'

# ---- what runs together ----

many=(-m peer --pattern all-to-one --op read -s 1M -q)
run 0 "${many[@]}" --seed 1 -o m1.json
FAKE_SAMPLE_NOISE=gauss:0.001 run 0 "${many[@]}" --seed 2 -o m2.json
run 0 compare m1.json m2.json -f csv
ok "of transfers that one engine makes in turn the totals are compared, and they alone" \
	eval 'status_is 0 && [ "$(grep -c ",total,.*,all->[0-3],.*,same,*$" out)" = 4 ] &&
		! grep -q ",rate," out'
run 0 compare a.json again.json -f csv
ok "both ways have a total besides" eval \
	'[ "$(grep -c "bidi,total,.*<->" out) $(grep -c "bidi,rate,.*->" out)" = "6 12" ]'

# ---- several comparisons, other outputs ----

run 0 compare placed.json
ok "one file of three placements: each against the first" eval 'status_is 0 &&
	prints "A process, B thread" && prints "A process, B 2 per process" &&
	[ "$(grep -c "12 of 12 cells" out)" = 4 ]'
run 0 compare placed.json -q -o all.json -o all.csv -o all.txt
ok "… in every format" eval '[ "$(wc -l <all.csv)" = 61 ] &&
	[ "$(grep -c "12 of 12 cells" all.txt)" = 4 ]'
ok_json "… as an array" all.json '[c["b"] for c in d] == ["thread", "2 per process"]'
ok_schema "the documents follow the schema" c.json all.json
run 0 compare a.json,a.jsonl slow.json
ok "a run that is named twice counts once" eval 'status_is 0 &&
	prints "named twice" && prints "each side is one run"'
ok "a test double's clock is said" prints '^VIRTUAL CLOCK'
name=$'a\xff\e[31m.json'
cp a.json "$name"
run 0 compare "$name" a.json
ok "a name that cannot be printed is not" eval 'status_is 0 && ! grep -q "$(printf "\e")" out'
run 0 compare "$name" a.json -q -o odd.json
ok_json "… nor does it spoil the document" odd.json 'd["b"] == "a.json"'
run 0 compare a.json slow.json -o c.jsonl
ok "no journal of a comparison, as a file" eval 'status_is 64 &&
	one_line "c.jsonl.*allowed endings" && [ ! -e c.jsonl ]'

# ---- bad input ----

run 0 compare a.json
ok "one file of one placement: status 64" eval 'status_is 64 &&
	one_line "has one placement"'
run 0 compare a.json none.json
ok "no such file: status 3" eval 'status_is 3 && one_line "none.json"'
run 0 compare a.json:nowhere slow.json
ok "no such node: status 64" eval 'status_is 64 &&
	one_line "a.json: no node .nowhere.: allowed are"'
echo '{"schema":"cscope-mpi/1"}' >bad.json
ok_refused "a file that is not ours: status 64, with its name" "bad.json" compare a.json bad.json
ok_refused "a bad margin: status 64" "margin" compare a.json slow.json --margin x
run 0 compare a.json slow.json third.json
ok "three sides: status 64" status_is 64
ok_refused "no journal of a comparison" "text, json, csv" compare a.json slow.json -f jsonl
finish
