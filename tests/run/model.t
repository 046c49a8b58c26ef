#!/bin/bash
# What moving bytes costs: alpha and beta of sweeps, against those of the driver's double.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 3
fast=(--no-mpi --seed 1 --cell-limit 1m)

# Each cell's alpha and 1/beta within 1 %, and within their intervals or as good as; a
# swapped row and column would show.
truth='all(abs(m["alpha_us"] / 2.7 - 1) < 0.01 and abs(m["gbs"] / rate - 1) < 1e-4 and abs(m["half_bytes"] / (2700 * rate) - 1) < 0.01
	for m in d["model"] if m["test"] == "peer.ce.write.pair"
	for rate in [396 + 0.10 * int(m["src"][3:]) - 0.03 * int(m["dst"][3:])])'

run 0 "${fast[@]}" -m peer,h2d --pattern pair -s 4K:16M:x4 -f model -o m.json -o m.jsonl
cp out live
ok "a line for each sweep: alpha and 1/beta of the double" eval \
	'status_is 0 && prints "^peer.ce.write.pair +6/6 +2.70.-0.00 +396.1.-0.0 +1.02 MiB  .0.0 % at " &&
	 prints "^h2d.ce.pinned.pair +3/3 +2.70.-0.00 +55.4.-0.0 +146 KiB"'
ok_json "... each cell has its own in JSON" m.json "$truth"' and len(d["model"]) == 9'
ok_schema "... as the schema has it" m.json
for file in m.json m.jsonl; do
	run 0 show $file -f model
	ok "a file shows what the run did: $file" same live out
done
run 0 show m.json -f model -v
ok "-v: a matrix of each number" eval \
	'[ "$(grep -c "from.to" out)" = 10 ] && prints "^  alpha, us$" && prints "^        0       -  395.97  395.94$" &&
	 prints "^  n1/2, KiB$" && prints "^  furthest off the line, %$"'
run 0 show m.json -f model-csv
ok "model-csv: a line for each cell, with the keys of JSON" eval \
	'[ "$(wc -l <out)" = 10 ] && prints "^test,node,node_index,src,dst,.*,alpha_us,alpha_us_low,alpha_us_high,gbs," &&
	 prints "^peer.ce.write.pair,.*,gpu2,gpu0,.*,2\.7"'
run 0 "${fast[@]}" -m peer --pattern pair -s 16M:16M -f model
ok "one size is no sweep" eval 'prints "^peer.ce.write.pair +0/6 +no line: 4 sizes at least"'
run 0 "${fast[@]}" -m peer --pattern pair -s 1M -f model -o one.json
ok "a run of one size says what to ask for" eval 'status_is 0 && prints "^no sweep in this run: .*--size 4K:1G:x4"'
ok_json "... and has no model" one.json 'd["model"] == []'
FAKE_NOISE=0.02 run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x2 --precision 5% -o n.json
ok_json "with noise the truth is in most intervals, which are as wide" n.json \
	'sum(m["alpha_us_low"] <= 2.7 <= m["alpha_us_high"] for m in d["model"]) >= 4 and
	 all(0.001 < m["alpha_us_high"] - m["alpha_us_low"] < 0.5 for m in d["model"])'
FAKE_CORRUPT=0-1:300000 run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x2 -f model
ok "sizes without a figure are none of the line's" eval 'prints "^peer.ce.write.pair +6/6 +2.70.-0.00"'
run 2 --seed 1 --placement process,thread -m peer --pattern pair -s 4K:4M:x4 -f model
ok "placements: a cell of each" eval 'prints "^peer.ce.write.pair +12/12 +2.70"'

# ---- two machines ----

for i in 1 2; do # the second is 10 % slower
	awk -v f=$i 'BEGIN { for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++) printf "%.1f%s", 440 - 40 * f, j < 2 ? " " : "\n" }' >"rates$i"
	FAKE_NOISE=0.002 FAKE_MATRIX=$PWD/rates$i run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x2 -q -o "v$i.json"
done
run 0 compare v1.json v2.json -o v.json
ok "compare: 1/beta differs, alpha does not" eval \
	'prints "^    alpha, us .* within the intervals$" && prints "^    1/beta, GB/s .*  -10...? %  differs$"'
ok_json "... in JSON too" v.json \
	'[(m["test"], m["alpha_us"]["differs"], m["gbs"]["differs"]) for m in d["model"]] == [("peer.ce.write.pair", False, True)]'
ok_schema "... as the schema has it" v.json
run 0 compare one.json one.json -o w.json
ok "without a sweep on both sides there is nothing of it" eval 'status_is 0 && prints_not alpha'
finish
