#!/bin/bash
# The report as one HTML file: whole, of nothing but text and drawings, with every figure.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

results=$TESTDATA/../doc/results
page() { "${PYTHON:-python3}" "$TESTDATA/page.py" "$@" 2>err; }

# ---- of files: four H200s, two ----

for name in h200x4/np4-both h200x4/sweep h200x4/suite-np4 h200x4/topology \
	h200x2/unified-np2 h200x2/model; do
	run 0 show "$results/$name.json" -f html
	cp out page.html
	ok "$name: a whole page, that loads nothing" eval 'status_is 0 && page whole page.html'
	[ "$name" = h200x4/topology ] ||
		ok "… every figure of the document is in its tables" \
			page figures page.html "$results/$name.json"
done
run 0 show "$results/h200x4/np4-both.json" -q -o both.html
run 0 show "$results/h200x4/np4-both.json" -f html
ok "-o run.html has the bytes of -f html" same both.html out
ok "the head has host, GPUs and verdict" page text both.html vm "4 x NVIDIA H200" "measured, not judged" \
	"exit status 0" "48 of 48 cells measured"
run 0 show "$results/h200x4/np4-both.json" --redact -f html
cp out redacted.html
ok "--redact holds" eval 'page whole redacted.html && grep -q "<h1>vm</h1>" both.html &&
	! grep -qw vm redacted.html'

COLUMNS=200 run 0 show "$results/h200x4/np4-both.json" --color always -f html
ok "a wide terminal with colours gets the same bytes" same both.html out

# ---- names of others ----

for text in '</title><script>alert(1)</script>' '"><img src=x onerror=alert(1)>' \
	"'&amp;&#60;b>" $'a\x1b[31m\xe2\x80\xae b'; do
	page hostile "$results/h200x4/np4-both.json" hostile.json "$text"
	run 0 show hostile.json -f html
	cp out hostile.html
	ok "a name cannot leave its place: $(printf %q "$text")" eval \
		'status_is 0 && page whole hostile.html && ! grep -aq $'"'\x1b'"' hostile.html'
done
page hostile "$results/h200x4/np4-both.json" hostile.json '<b>"&'
run 0 show hostile.json -f html
cp out hostile.html
ok "… and is read as it is" page text hostile.html '<b>"&'

# ---- comparisons ----

run 0 compare "$results/h200x4/np4-both.json" "$results/h200x4/np4-isolated.json" -f html
cp out versus.html
run 0 compare "$results/h200x4/np4-both.json" "$results/h200x4/np4-isolated.json" -f json
cp out versus.json
ok "compare -f html: a whole page with every cell" eval \
	'page whole versus.html && page cells versus.html versus.json'
run 0 compare "$results/h200x4/np4-both.json" "$results/h200x4/np4-isolated.json" -q -o v.html
ok "compare -o v.html: the same bytes" same v.html versus.html
ok "… whose matrices have their names" page text versus.html "GPU to GPU, copy engine, write, one pair at a time"
ok "… of a drawing not much wider than a phone" grep -q '<svg[^>]*viewBox="0 0 5[0-9][0-9] ' v.html

# ---- fleets ----

fleet=()
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
	sed "s/\"host\": *\"vm\"/\"host\": \"n$i\"/; s/\"node\": *\"vm\"/\"node\": \"n$i\"/" \
		"$results/h200x4/np4.json" >"n$i.json"
	fleet+=("n$i.json")
done
"${PYTHON:-python3}" - <<-'END'
	import json
	d = json.load(open("n07.json"))
	for r in d["results"]:
	    if r["src"] == "gpu2" and r["value"]:
	        for k in ("value", "ci_low", "ci_high", "min", "max", "mean", "p5", "p95"):
	            r[k] = r.get(k) and 0.9 * r[k]
	        r["samples"] = [0.9 * x for x in r.get("samples", [])]
	json.dump(d, open("n07.json", "w"))
END
run 0 check "${fleet[@]}" -f html
cp out fleet.html
ok "check of 12 files: a page" page whole fleet.html
page count fleet.html >squares
ok "… a square a node, a ring around the slow one, its three cells coloured" eval \
	'grep -qx "nodes 12 rings 1 odd [36]" squares'
ok "… whose name and finding are there" page text fleet.html n07
ok "… whose head begins with who is to be drained" \
	grep -q '<h1>12 nodes</h1><p class="lead">none of 12 nodes must be drained<' fleet.html

# ---- what is odd ----

# Of each matrix how many cells have a ring in the page: those that text marks.
for name in healthy slow-link slow-gpu; do
	run 0 show "$TESTDATA/fixtures/answer/$name.json" -f html
	cp out marked.html
	page rings marked.html | grep odd >ringed
	[ "$name" = healthy ] || ok "$name: its head does not say ok" eval \
		'page text marked.html "slow cells" && ! grep -qE "<b>(no fault found|measured, not judged)</b>" marked.html'
	run 0 show "$TESTDATA/fixtures/answer/$name.json" -v
	awk 'match($0, /\([a-z0-9]+\.[^,)]*/) { test = substr($0, RSTART + 1, RLENGTH - 1) } /^ +< [0-9]+ cells? / { print test, "odd", $2 }' out >marks
	ok "$name: rings are around the cells that text marks" eval \
		'cmp ringed marks && { [ $name = healthy ] || [ -s marks ]; }'
done
page slow marked.html >texts
ok "the picture of the node has the pairs of the slow GPU" grep -qE '(^|[ >-])[0-9]+->[0-9]+: [0-9]+ % slower' texts
ok "… and the table of all tests their remark" page text marked.html "slower than the others"

# ---- figures along two axes, and a machine on which nothing fits ----

run 0 show "$results/h200x2/zero-grid.json" -f html
cp out grid.html
ok "rates by the grid of a kernel are a table" page text grid.html \
	"best: 16 blocks of 512 threads; 95 % of that with 16 blocks of 128 threads"
ok "… what is uncertain is not called a finding" eval \
	'page text grid.html "uncertainh2d.zerocopy.pinned.pair" && ! page text grid.html "noteh2d.zerocopy"'
"${PYTHON:-python3}" - "$results/h200x2/unified-np1.json" <<-'END'
	import json, sys
	d = json.load(open(sys.argv[1]))
	for r in d["results"]:
	    if r["test"].startswith(("h2d.", "local.overlap.")):
	        r.update(status="skipped", value=None, reason="no room for it")
	json.dump(d, open("none.json", "w"))
END
run 0 show none.json
ok "the answer counts the cells that were not measured" prints \
	'^2 x H200: .*; [0-9]+ of [0-9]+ cells not measured'
sed 's/"flags": *\[[^]]*\]/"flags":["low-overlap"]/' "$results/h200x4/np4.json" >unsure.json
run 0 show unsure.json
ok "… and those of which none is certain enough to compare" prints \
	'^4 x H200: .*; 26 cells too uncertain to compare; no errors; not judged without --check$'
run 0 show none.json
ok "… and names few of their tests" prints \
	'^not measured, as above: h2d[^:]* and [0-9]+ more$'
run 0 show none.json -f html
cp out none.html
page unfolded none.html >open
ok "… and no table of schedules" eval '! grep -q "kernels, moves: alone" none.html'
ok "… of which the page draws no matrix" eval '! grep -q "^h2d" open'

ok "the picture of the node comes first, then tiles and the table of tests" eval \
	'tr -d "\n" <both.html | grep -q "How it is wired.*class=\"tiles\".*All tests</h2>"'
ok "… without a column that is empty" eval \
	'grep -q ">usual</th>" both.html && ! grep -q ">usual</th>" grid.html'

# ---- contents, folds ----

run 0 show "$results/h200x4/suite-np4.json" -f html
cp out suite.html
ok "of many matrices those with nothing odd are folded" eval \
	'page text suite.html "without a slow or missing cell" &&
	 ! page text both.html "without a slow or missing cell"'
"${PYTHON:-python3}" - "$results/h200x4/suite-np4.json" <<-'END'
	import json, sys
	d = json.load(open(sys.argv[1]))
	odd = lambda r: (r["src"], r["dst"]) == ("gpu0", "gpu1") or \
	    (r["test"], r["src"], r["dst"]) == ("peer.sm.read.pair", "gpu2", "gpu3")
	for r in d["results"]:
	    if r["value"] and r["test"].startswith("peer.") and odd(r):
	        for k in ("value", "ci_low", "ci_high", "min", "max", "mean", "p5", "p95"):
	            r[k] = r.get(k) and 0.7 * r[k]
	        r["samples"] = [0.7 * x for x in r.get("samples", [])]
	json.dump(d, open("twice.json", "w"))
END
run 0 show twice.json -f html
cp out twice.html
page unfolded twice.html >open
ok "… those with cells that are odd in one before as well; one with another odd cell is seen" eval \
	'[ "$(tr "\n" " " <open)" = "peer.ce.write.pair peer.sm.read.pair " ] &&
	 page text twice.html "6 matrices not measured, or odd at the same places as one above"'
ok "the first tiles are of different methods" eval 'page tiles suite.html >tiles &&
	[ "$(cut -d. -f1,2 tiles | sort | uniq -d | wc -l)" = 0 ] && [ "$(wc -l <tiles)" -gt 3 ]'

sed 's/"host": *"[^"]*"/"host": "n13"/; s/"node": *"[^"]*"/"node": "n13"/' \
	"$results/h200x2/model.json" >n13.json
run 0 check "${fleet[@]}" n13.json -f html
cp out fewer.html
page parts fewer.html >widths
ok "a node with half of the GPUs has a part of a square, not all of it" grep -qx "24 48" widths

# ---- a time line ----

run 0 show "$results/h200x4/np4-both.json" -q -o run.trace.json
ok_json "run.trace.json: a cell is an event on the line of its GPU" run.trace.json \
	'sum(e["ph"] == "X" for e in d["traceEvents"]) >= 48 and {e["args"]["name"] for e in d["traceEvents"] if e["name"] == "thread_name"} == {"GPU 0", "GPU 1", "GPU 2", "GPU 3", "run"} and all(e["dur"] > 0 and e["tid"] < 4 for e in d["traceEvents"] if e["ph"] == "X" and e["cat"] != "run")'
ok_json "… and the phases of the run follow each other, the cells within measuring" run.trace.json \
	'(lambda p, c: [e["name"] for e in p] == ["start: MPI, driver", "contexts, kernels", "buffers, mappings", "measuring", "findings, report"] and all(abs(a["ts"] + a["dur"] - b["ts"]) <= 2 for a, b in zip(p, p[1:])) and all(p[3]["ts"] - 1e5 <= e["ts"] <= p[3]["ts"] + p[3]["dur"] for e in c))([e for e in d["traceEvents"] if e["ph"] == "X" and e["cat"] == "run"], [e for e in d["traceEvents"] if e["ph"] == "X" and e["cat"] != "run"])'

# ---- live ----

if [ -n "${HAVE_CUDA:-}" ]; then
	fake 8
	run 0 --no-mpi --seed 1 -t 'peer.ce.*,h2d.ce.pinned.*,d2h.ce.pinned.*' --samples 3 -s 64K \
		-q -o live.html -o live.json
	run 0 show live.json -f html
	ok "what a run writes has the bytes of show" same live.html out
	ok "… a node of 8 GPUs in less than 250 kB, of more than 30 matrices" eval \
		'[ "$(wc -c <live.html)" -lt 250000 ] && [ "$(grep -o "<figure" live.html | wc -l)" -gt 30 ]'
	ok "… with every figure" eval 'page whole live.html && page figures live.html live.json'
	fake 2
	run 0 --no-mpi --seed 1 --placement process,thread -m peer -s 64K -q -o place.html
	ok "placements: how many times better one is" eval \
		'page whole place.html && page text place.html "thread against process"'
	ok "… which the head says" grep -q \
		'</h1><p class="lead">no difference beyond 1 %: either placement will do' place.html
else
	run 0 --no-mpi --backend cpu --seed 1 -m peer -s 64K --cell-limit 50ms -q -o live.html -o live.json
	run 0 show live.json -f html
	ok "what a run writes has the bytes of show" same live.html out
	ok "… a whole page with every figure" eval \
		'page whole live.html && page figures live.html live.json'
fi
finish
