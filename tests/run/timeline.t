#!/bin/bash
# When single tiles were moved and worked on: by events of one more execution of each
# schedule, in files, in the page and in the trace.  The fake driver's copies and kernels
# have known times, and begin when the CPU has seen the end of what it awaited.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2
memory 0
export FAKE_PAGEABLE=1
page() { "${PYTHON:-python3}" "$TESTDATA/page.py" "$@" 2>err; }

# tiles NAME FILE EXPRESSION of ms, by test and schedule: ms[…][k][0..5] are begin and end of
# tile k's way in, of its kernels, of its way out; of rows; of `by`, the timelines of a metric.
tiles() {
	ok_json "$1" "$2" "(lambda ms, rows: (lambda by: $3)(lambda m: [t for (_, metric), t in ms.items() if metric == m]))(*(lambda rows: ({(r[\"test\"], r[\"metric\"]): [r[\"samples\"][i:i + 6] for i in range(0, len(r[\"samples\"]), 6)] for r in rows}, rows))([r for r in d[\"results\"] if \"timeline\" in r[\"flags\"]]))"
}
run 0 --no-mpi -s 1M --set kernels=4 -t 'local.overlap.*' -q -o tl.json -o tl.jsonl
tiles "each schedule of each test has a timeline, of the first GPU, of 16 tiles" tl.json \
	'sorted(ms) == sorted((t, m) for t in {r["test"] for r in d["results"]} for m in ("time", "serial", "three-streams", "stream-per-tile")) and len({t for t, _ in ms}) == 3 and {r["src"] for r in rows} == {"gpu0"} and {len(t) for t in ms.values()} == {16}'
tiles "... from one more execution: figures have as many samples as ever, of both GPUs" tl.json \
	'{r["n"] for r in rows} == {1} and {(r["n"], len(r["samples"])) for r in d["results"] if "timeline" not in r["flags"]} == {(6, 6)} and {r["src"] for r in d["results"]} == {"gpu0", "gpu1"}'
tiles "one stream has no overlap: each tile is back before the next one comes" tl.json \
	'all(a <= b for t in by("serial") for tile in t for a, b in zip(tile, tile[1:])) and all(a[5] <= b[0] for t in by("serial") for a, b in zip(t, t[1:]))'
tiles "three streams, and those that rotate: a tile comes and another goes while kernels run" tl.json \
	'all(a[2] <= b[0] < a[3] and a[4] < b[3] for m in ("three-streams", "time") for t in by(m) for a, b in zip(t, t[1:]))'
tiles "... which ends before one stream does" tl.json \
	'all(max(max(ms[t, m])) < max(max(ms[t, "serial"])) for t, m in ms if m != "serial")'
tiles "what is done of one kind is never done twice at a time" tl.json \
	'all(a[k] <= a[k + 1] <= b[k + 1] and a[k + 1] <= b[k] for t in ms.values() for a, b in zip(t, t[1:]) for k in (0, 2, 4))'
ok_schema "... as the schema has it" tl.json tl.jsonl
run 0 show tl.jsonl -q -o again.json
tiles "a journal keeps them" again.json \
	'ms == (lambda o: {(r["test"], r["metric"]): [r["samples"][i:i + 6] for i in range(0, 96, 6)] for r in o["results"] if "timeline" in r["flags"]})(__import__("json").load(open("tl.json")))'

# ---- in the trace ----

run 0 show tl.json -q -o tl.trace.json
ok_json "the trace has a track for each of in, kernels and out, a slice for each tile" tl.trace.json \
	'(lambda name: {n: sum(e["ph"] == "X" and e["tid"] == t for e in d["traceEvents"]) for t, n in name.items() if "tiles" in n} == {"GPU 0: tiles, in": 192, "GPU 0: tiles, kernels": 192, "GPU 0: tiles, out": 192})({e["tid"]: e["args"]["name"] for e in d["traceEvents"] if e["name"] == "thread_name"})'
ok_json "... within its schedule, which is within its cell" tl.trace.json \
	'(lambda x: all(any(o["ts"] - 1 <= e["ts"] and e["ts"] + e["dur"] <= o["ts"] + o["dur"] + 1 for o in x if o["cat"] in ("schedule", e["name"].split(",")[0]) and o["cat"] != e["cat"]) for e in x if e["tid"] >= 2000 or e["cat"] == "schedule"))([e for e in d["traceEvents"] if e["ph"] == "X"])'

# ---- in the page ----

run 0 show tl.json -q -o tl.html
ok "the page draws the quickest schedule of each test beside one stream" eval \
	'page whole tl.html && [ "$(grep -o "<title id=\"t[0-9]*\">Tiles over time" tl.html | wc -l)" = 3 ] && page text tl.html "one stream, ms"'
ok "... whose times are in tables, too" eval \
	'[ "$(grep -o "<td>[0-9.]* to [0-9.]*</td>" tl.html | wc -l)" = $((3 * 2 * 16 * 3)) ]'

# ---- in text ----

run 0 show tl.json -v
ok "-v shows no times of tiles as samples" prints_not "again:.* 0.00 0.00"

# ---- as many tiles as can be ----

run 0 --no-mpi --gpus 0 -s 1M --set kernels=1,tiles=8K -t local.overlap.copy.alone -q -o most.json
tiles "128 tiles have as many times" most.json \
	'{len(t) for t in ms.values()} == {128}'
sed 's/"samples":\[0\.[0-9]*,/"samples":[null,/; s/"samples":\[0,/"samples":[null,/' most.json >odd.json
run 0 show odd.json -f html
ok "a time that is missing is not drawn" eval 'status_is 0 && prints_not "Tiles over time"'
finish
