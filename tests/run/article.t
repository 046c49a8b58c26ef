#!/bin/bash
# Kernels beside the data that they need: tiles that move while kernels work on others,
# on the driver's double.  The CPU's clock is real here: figures are held to their
# order, never to digits.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 0
fake 2
fast=(--no-mpi --seed 1)
metrics='{"time", "kernels-alone", "moves-alone", "serial", "three-streams", "stream-per-tile", "ideal"}'
folded() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# ---- tiles ----

tiles=(-t local.overlap.copy.alone -s 1M)
run 0 "${fast[@]}" "${tiles[@]}" -o o.json -o o.jsonl -o o.csv
cp out live
ok "tiles there, worked on, and back" status_is 0
ok_schema "... in documents that the schema describes" o.json o.jsonl
ok_json "1, 2, 4 … 32 kernels a tile, each as seven figures" o.json \
	'sorted({(r["kernels"] or 1, r["dst"], r["metric"]) for r in d["results"]}) == sorted((k, g, m) for k in (1, 2, 4, 8, 16, 32) for g in ("gpu0", "gpu1") for m in '"$metrics"') and {(r["unit"], r["n"], r["copies"], r["discarded"]) for r in d["results"] if "timeline" not in r["flags"]} == {("ms", 6, 1, 1)}'
ok_json "the ideal is the longer of kernels and moves alone" o.json \
	'all(i["samples"][s] == max(k["samples"][s], m["samples"][s]) for i in d["results"] if i["metric"] == "ideal" for k in d["results"] for m in d["results"] if (k["metric"], m["metric"]) == ("kernels-alone", "moves-alone") and k["step"] == m["step"] == i["step"] for s in range(6))'
ok_json "of each round data are checked, of the first all" o.json \
	'{(r["dst"], r["checked"], r["checked_whole"], r["checked_part"], r["wrong_bytes"]) for r in d["results"] if "timeline" not in r["flags"]} == {("gpu0", 8, 1, 7, 0), ("gpu1", 7, 1, 6, 0)}'
ok "a table by kernels a tile, a line each, with what is gained and how far off the ideal is" eval \
	'folded "one GPU at a time, ms, by kernels a tile .local.overlap.copy.alone. kernels cells kernels moves serial streams tiles rotated ideal off %" && [ "$(grep -cE "^ +(1|2|4|8|16|32) +2/2( +[0-9.]+){7} +-?[0-9.]+$" out)" = 6 ]'
ok "... and which is best" folded 'best on this machine: (one stream|three streams|a stream for each tile|rotated streams) with [0-9, ]*[0-9]'
run 0 show o.jsonl
ok "a file shows what the run did" same live out
run 0 "${fast[@]}" "${tiles[@]}" --kernels 1,32 -o two.csv -o two.json
cp out live
ok "some of them alone" eval 'status_is 0 && [ "$(grep -cE "^ +(1|32) +2/2 " out)" = 2 ] && prints_not "^ +4 +2/2"'
run 0 show two.json
ok "... in the plan of the file as well: no other number of kernels" same live out
run 0 "${fast[@]}" "${tiles[@]}" --kernels 8 -f result
ok "one: its figure says of what" eval '[ "$(wc -l <out)" = 1 ] && prints "^result local.overlap.copy.alone .* ms 2/2 cells .*kernels=8$"'
run 0 "${fast[@]}" -t local.overlap.copy.alone -s 4112 --kernels 2 -o small.json
ok_json "data of less than 16 pages: fewer tiles" small.json \
	'all((r["status"], r["checked"]) == ("ok", 0 if "timeline" in r["flags"] else 8 - (r["dst"] != "gpu0")) for r in d["results"])'
run 0 "${fast[@]}" "${tiles[@]}" --kernels 2 --verify off -o off.json
ok_json "unchecked is said" off.json \
	'all("not-verified" in r["flags"] and r["checked"] == 0 for r in d["results"])'
run 2 --seed 1 "${tiles[@]}" --kernels 2 -o ranks.csv
ok "a process for each GPU: the same cells" eval 'status_is 0 && [ "$(for metric in time serial ideal; do cells ranks.csv $metric; done | grep -c " ok ")" = 6 ]'
run 0 "${fast[@]}" -t local.overlap.copy.alone -s 1M --set kernels=2,tiles=64K,256K -o of.json
ok "tiles of a size, each in a table of its own" eval \
	'status_is 0 && folded "tiles of 64 KiB, ms, by kernels a tile" && folded "tiles of 256 KiB, ms, by kernels a tile"'
ok_json "... which the rows say, and all data come back" of.json \
	'{(r["tile_bytes"], r["status"], r["checked"], r["wrong_bytes"]) for r in d["results"]} == {(n << 10, "ok", c, 0) for n in (64, 256) for c in (0, 7, 8)}'
run 0 "${fast[@]}" -t local.overlap.copy.alone -s 1M --set kernels=2,tiles=4K -o many.csv
ok "more tiles than there is room for: skipped" grep -qE "skipped,.*more than 128 tiles" many.csv
step='step,test,src,dst,size,kernels'
printf '%s\na,local.overlap.copy.alone,gpu0,gpu0,1M,4\n' "$step" >plan.csv
run 0 "${fast[@]}" --plan plan.csv -o plan.json
ok_json "a step of a plan file" plan.json '{r["kernels"] for r in d["results"]} == {4}'

# ---- managed tiles ----

managed=(--gpus 0 -t local.overlap.prefetch.alone -s 4M)
run 0 "${fast[@]}" "${managed[@]}" --kernels 1,4 -o p.json
ok_json "managed tiles by prefetch: seven figures, each with what came back checked" p.json \
	'{(r["kernels"] or 1, r["metric"], r["status"], r["wrong_bytes"], r["checked"]) for r in d["results"] if "timeline" not in r["flags"]} == {(k, m, "ok", 0, 8) for k in (1, 4) for m in '"$metrics"'}'
ok_schema "... in documents that the schema describes" p.json
system=("${fast[@]}" --gpus 0 -t local.overlap.system.alone -s 4M --kernels 4)
run 0 "${system[@]}" -o none.json
ok_json "tiles of malloc's memory are skipped where no GPU uses it" none.json \
	'[(r["status"], "pageableMemoryAccess" in r["reason"]) for r in d["results"]] == [("skipped", True)]'
ok "... without a table of dashes" eval 'prints "^  not measured" && prints_not "^kernels  cells"'
FAKE_PAGEABLE=1 run 0 "${system[@]}" -o s.json
ok_json "... and else have seven figures, as managed ones" s.json \
	'{(r["metric"], r["status"], r["wrong_bytes"], r["checked"]) for r in d["results"] if "timeline" not in r["flags"]} == {(m, "ok", 0, 8) for m in '"$metrics"'}'
for what in FAKE_UM_STUCK=h-0 FAKE_UM_STUCK=0-h FAKE_LOST_WORK=3; do
	export "${what?}"
	run 0 "${fast[@]}" "${managed[@]}" --kernels 2 -o lie.json
	unset "${what%%=*}"
	ok_json "a prefetch that moves nothing, and a kernel that is lost, are no time: $what" lie.json \
		'len(d["results"]) == 1 and d["results"][0]["status"] in ("failed", "corrupt")'
done

# ---- data of the host that a kernel reads or writes ----

streams='h2d.stream.copy.pair,h2d.stream.zerocopy.pair,h2d.streamw.copy.pair,d2h.streamw.zerocopy.pair'
run 0 "${fast[@]}" -s 4M -t "$streams" --element 4,8,16 -o s.json -o s.csv
cp out live
ok "data come to a kernel by a copy, or it reads and writes them where they are" eval \
	'status_is 0 && all_ok s.csv 24'
ok_schema "... in documents that the schema describes" s.json
ok_json "in elements of 4, 8 and 16 bytes, one transfer a sample, every byte compared" s.json \
	'{(r["element_bytes"] or 4) for r in d["results"]} == {4, 8, 16} and all(r["copies"] == 1 and r["wrong_bytes"] == 0 and r["checked"] > 6 and (r["checked"] == r["checked_whole"] or r["path"] == "d2h") for r in d["results"])'
ok "each way beside the explicit copy of the same run" eval \
	'folded "a kernel that reads them, 4 MiB: GB/s, and share of what the explicit copy gives in this run" &&
	 prints "^ +copy +51.03  100.0 % +51.03  100.0 % +51.03  100.0 %$" && prints "^ +zerocopy +49.73   97.4 % "'
ok "... of writing too, and which is best" eval \
	'folded "a kernel that writes them, 4 MiB" && [ "$(grep -c "^  best on this machine: copy with 4 bytes, copy with 8 bytes, copy with 16 bytes$" out)" = 2 ]'
ok "a curve over elements" [ "$(grep -c 'GB/s, by element$' out)" -ge 2 ]
run 0 show s.json
ok "a file shows what the run did" same live out
run 0 "${fast[@]}" -s 4M -t h2d.stream.copy.pair
ok "one way alone is compared with nothing" prints_not "best on this machine"
um='h2d.stream.*[!0].pair,h2d.streamw.*' # not of more than fits
# its clock is virtual, and six samples are enough, however long they take
run 0 "${fast[@]}" --gpus 0 --cell-limit 1m -s 4M -t "$um" -o um.json
cp out live
ok "managed data by faults and by prefetch, each place proven" status_is 0
ok_schema "... in documents that the schema describes" um.json
ok_json "every byte compared, pages on the host before" um.json \
	'len(d["results"]) >= 9 and all(r["status"] == "ok" and r["wrong_bytes"] == 0 and r["checked"] == r["checked_whole"] > 5 for r in d["results"])'
ok_json "copy, zerocopy, prefetch, warp, naive: in that order" um.json \
	'(lambda v: v["copy"] > v["zerocopy"] > v["prefetch"] > v["warp"] > v["naive"])({r["op"]: r["value"] for r in d["results"] if r["method"] == "stream"})'
ok_json "... of writing too" um.json \
	'(lambda v: v["copy"] > v["prefetch"] > v["warp"] > v["naive"])({r["op"]: r["value"] for r in d["results"] if r["method"] == "streamw"})'
ok "all stand in one table" eval '[ "$(grep -cE "^ +(prefetch|warp|naive) +[0-9.]+ +[0-9.]+ %$" out)" = 6 ]'
for what in FAKE_UM_REMOTE=h-0 FAKE_UM_STUCK=h-0; do
	export "${what?}"
	run 0 "${fast[@]}" --gpus 0 -s 2M -t h2d.stream.naive.pair,h2d.stream.prefetch.pair,h2d.streamw.naive.pair -o lie.json
	unset "${what%%=*}"
	cp lie.json "lie-${what%%=*}.json"
done
ok_json "a touch that maps and does not move is no rate" lie-FAKE_UM_REMOTE.json \
	'all(r["status"] != "ok" and "not-moved" in r["flags"] for r in d["results"] if r["op"] == "naive")'
ok_json "a prefetch that moves nothing leaves it to faults: no rate either" lie-FAKE_UM_STUCK.json \
	'all(r["status"] == "failed" and "prefetch did not move" in r["reason"] for r in d["results"] if r["op"] == "prefetch")'
FAKE_MANAGED=0 run 0 "${fast[@]}" --gpus 0 -s 2M -t "$um" -o none.json
ok_json "without managed memory: skipped, with the reason" none.json \
	'all((r["status"] == "skipped" and "managed memory" in r["reason"]) == (r["memory"] == "managed") for r in d["results"])'
run 0 "${fast[@]}" -m h2d -s 1M -o m.csv
ok "a matrix of the host has them by --method alone" eval '! grep -q stream m.csv'
run 0 "${fast[@]}" --gpus 0 --cell-limit 1m -m h2d --method stream,streamw --pattern pair -s 1M -o m.csv
grep -v "stream.*1[15]0.pair" m.csv >n.csv
ok "... stream and streamw" eval 'status_is 0 && all_ok n.csv 9'

# ---- what must be found ----

FAKE_DEAD_READS=1 run 0 "${fast[@]}" -s 1M -t "$streams" -o dead.json
ok_json "a kernel that reads nothing fails, one that writes is not reported" dead.json \
	'all((r["status"] == "failed") == (r["method"] == "stream") for r in d["results"])'
for what in h-1 1-h; do
	FAKE_CORRUPT=$what:17 run 0 "${fast[@]}" --gpus 1 -s 1M -t "$streams" -o wrong.json
	cp wrong.json wrong-$what.json
done
ok_json "what was read wrongly, or copied wrongly before it was read, fails" wrong-h-1.json \
	'{r["test"] for r in d["results"] if r["status"] != "ok"} == {"h2d.stream.copy.pair", "h2d.stream.zerocopy.pair"}'
ok_json "what was written wrongly to the host is corrupt" wrong-1-h.json \
	'{r["test"] for r in d["results"] if r["status"] == "corrupt"} == {"d2h.streamw.zerocopy.pair"}'
ok_refused "elements of 5 bytes: status 64" "--element .5.: allowed are 4, 8, 16" "${fast[@]}" --element 5 -t h2d.stream.copy.pair

for what in FAKE_CORRUPT=h-1:17 FAKE_CORRUPT=1-h:17 FAKE_CORRUPT=h-1:-1 FAKE_LOST_WORK=3; do
	export "${what?}"
	run 0 "${fast[@]}" --gpus 1 "${tiles[@]}" --kernels 2 -o wrong.json
	unset "${what%%=*}"
	ok_json "data that went astray have no figure: $what" wrong.json \
		'[(r["status"], r["metric"]) for r in d["results"]] == [("corrupt", "time")]'
	ok "... status 2" status_is 2
done
ok_refused "three kernels: status 64" "--kernels .3.: allowed are 1, 2, 4, 8, 16, 32" "${fast[@]}" --kernels 3 "${tiles[@]}"
run 0 "${fast[@]}" --kernels 4 -t peer.ce.write.pair
ok "kernels of no chosen test: status 64" eval \
	'status_is 64 && one_line "--set kernels: none of the chosen tests is one of local.overlap"'

finish
