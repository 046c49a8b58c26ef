#!/bin/bash
# A sweep over sizes: the same cells at each of them, on the driver's double.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2
fast=(--no-mpi --seed 1 --pattern pair --cell-limit 1m)
sizes='[4096, 16384, 65536, 262144, 1048576]'

run 0 "${fast[@]}" -s 4K:1M:x4 -o s.csv -o s.json -o s.jsonl
cp out live
ok "every cell at every size" eval 'status_is 0 && all_ok s.csv 10'
ok "... with the figure of that size" pairs_are_exact s.csv
ok "the text is a curve: rate, and time of a copy" eval \
	'prints "^ +4 KiB +2/2 +1.51 +1.51 +1.51 +2.71$" && prints "^ +1 MiB +2/2 +196.06 +196.08 +196.10 +5.35$" &&
	 prints "half of the highest median .196.08. is reached at 1 MiB" && prints_not "from.to"'
ok_json "JSON has a matrix for each size" s.json \
	'[m["copy_bytes"] for m in d["matrices"]] == '"$sizes"' and all(m["values"][0][1] for m in d["matrices"])'
ok_json "... and the settings" s.json \
	'(d["run"]["settings"]["copy_bytes"], d["run"]["settings"]["last_copy_bytes"], d["run"]["settings"]["growth"]) == (4096, 1048576, 4)'
ok_json "... and each result its size" s.json \
	'sorted({r["copy_bytes"] for r in d["results"]}) == '"$sizes"
ok_schema "... as the schema has it" s.json s.jsonl
for file in s.json s.jsonl; do
	run 0 show $file
	ok "a file shows what the run did: $file" same live out
done
run 0 "${fast[@]}" -s 4K:1M:x16 --op read -o read.csv
ok "small copies that a process reads from another of its GPUs fit their queue" \
	eval 'status_is 0 && all_ok read.csv 6'
run 0 "${fast[@]}" -s 4K:1M:x4 -v -o v.json
ok "-v prints the matrix of each size besides" eval \
	'[ "$(grep -c "from.to" out)" = 5 ] && prints "one pair at a time, 64 KiB, GB/s .peer.ce.write.pair."'
cp out live
run 0 show v.json -v
ok "... from the file too" same live out
run 0 "${fast[@]}" -s 4K:1M:x4 -f result
ok "lines for scripts carry the size" eval \
	'[ "$(wc -l <out)" = 5 ] && prints "^result peer.ce.write.pair .* 2/2 cells virtual-clock copy 16384 B$"'
run 2 --seed 1 --pattern pair -s 4K:1M:x4 -o two.csv
figures two.csv >got
figures s.csv >want
ok "two ranks: the figures of one process" eval 'status_is 0 && same want got'
run 0 "${fast[@]}" -s 4K:100K:x3 -o odd.csv
ok "the last size is a limit: a factor that does not meet it ends below" eval \
	'status_is 0 && [ "$(cells odd.csv | cut -d" " -f6 | sort -nu | tr "\n" " ")" = "4096 12288 36864 " ]'
run 0 "${fast[@]}" -s 4K:16K -o two.csv
ok "without a factor it is 2" eval '[ "$(cells two.csv | cut -d" " -f6 | sort -nu | tr "\n" " ")" = "4096 8192 16384 " ]'
run 0 --no-mpi --seed 1 -m h2d,d2h,local --pattern pair -s 64K:1M:x4 --spread 1 -o p.csv -o p.json
ok "sweeps of host paths and within a GPU" eval \
	'status_is 0 && all_ok p.csv 48 && [ "$(grep -c "GB/s, by size\|by size$" out)" -ge 4 ]'
ok_schema "... as the schema has it" p.json
ok_json "all cells of a test and a size have one geometry" p.json \
	'all(len({(q["grid_blocks"], q["block_threads"]) for q in d["results"] if (q["test"], q["copy_bytes"]) == (r["test"], r["copy_bytes"])}) == 1 for r in d["results"])'
ok_json "one method at every size" p.json \
	'all(r["method"] == r["test"].split(".")[1] for r in d["results"]) and {r["grid_blocks"] * r["block_threads"] for r in d["results"] if r["method"] == "sm" and r["op"] != "triad"} == {135168}'
FAKE_CORRUPT=0-1:300000 run 0 "${fast[@]}" -s 4K:1M:x16 -o c.csv
ok "bytes that are wrong in large copies only cost the large ones" eval \
	'status_is 2 && [ "$(cells c.csv | grep -vc " ok ")" = 1 ] && cells c.csv | grep -q "gpu0 gpu1 .* corrupt 1048576 " &&
	 prints "^ +1 MiB +1/2 .* ! 1$"'
sed -i '/"kind":"verdict"/d; $d' s.jsonl
run 0 "${fast[@]}" -s 4K:1M:x4 --resume s.jsonl -o again.csv
figures again.csv >got
ok "a sweep that ended early is gone on with" eval 'status_is 0 && same want got'

# ---- what is no sweep ----

for size in 1M:4K 4K:1M:2 4K:1M:x1 4K:1M:x 4K: 4K:1M:x2:x3 :4K 4K:1M:xnan 17:1M:x2 4K:1M:x-2 0:1M; do
	run 0 -s $size
	ok "$size is refused with one line" eval 'status_is 64 && one_line "--size .$size.: " && is_empty out'
done
# ---- a fixed count of samples ----

for n in 1 9; do
	run 0 --no-mpi --seed 1 -s 64K -t peer.ce.write.pair,h2d.ce.pinned.pair --samples $n -o n.json
	ok_json "--samples $n: every cell has as many" n.json \
		'{r["n"] for r in d["results"]} == {'$n'}'
done
FAKE_NOISE=0.2 run 0 --no-mpi --seed 1 -s 64K -t peer.ce.write.pair --samples 5 --precision 0.1% -o n.json
ok_json "… also where it takes more to be sure" n.json '{r["n"] for r in d["results"]} == {5}'
for n in 0 51 x; do
	run 0 --no-mpi --samples $n
	ok "--samples $n is refused" eval 'status_is 64 && one_line "--samples"'
done
ok_refused "… and so it is beside turns of placements" "turns have a count" --no-mpi --samples 5 --placement process,thread

# ---- dips ----

dips='[f["says"].split(":")[0] for f in d["checks"] if f["id"] == "dip"]'
run 0 "${fast[@]}" -s 64K:4M:x4 -o d.json
ok_json "rates that grow with the size have no dip" d.json "$dips == []"
FAKE_SLOW=0-1:0.3,1-0:0.3 FAKE_SLOW_BYTES=4194304 run 0 "${fast[@]}" -s 64K:4M:x4 -o d.json
ok_json "a size that is slower than a smaller one is a finding" d.json "$dips == ['peer.ce.write.pair']"
ok "... a note, with both sizes" eval 'status_is 0 && prints "4 MiB are slower than 1 MiB, by 4[0-9] %" && prints "2 of 2 cells"'
FAKE_SLOW=0-1:0.5,1-0:0.5 FAKE_SLOW_BYTES=4194304 run 0 "${fast[@]}" -s 64K:4M:x4 -o d.json
ok_json "... but not one that is about as fast" d.json "$dips == []"
fake 3
FAKE_SLOW=0-1:0.3 FAKE_SLOW_BYTES=4194304 run 0 "${fast[@]}" -s 64K:4M:x4 -o d.json
ok_json "... nor that of one pair: it is slower than the others" d.json "$dips == []"
results=$TESTDATA/../doc/results
run 0 check "$results"/h200x2/{cache,model,once,ways,ways-peer}.json "$results/h200x4/sweep.json"
ok "... and on real machines there is none" eval '[ "$(grep -c . out)" -gt 9 ] && prints_not "are slower than [0-9]"'
finish
