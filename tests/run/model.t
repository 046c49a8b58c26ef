#!/bin/bash
# What moving bytes costs: alpha and beta of sweeps, against those of the driver's double.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 34000000
export CS_TIMEOUT=300
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
	'status_is 0 && prints "^peer.ce.write.pair +6/6 +2.70.-0.00 +396.1.-0.0 +1.02 MiB +.0.0 %, " &&
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
ok "a run of one size says what to ask for" eval 'status_is 0 && tr -s " \n" " " <out | grep -q "no sweep in this run: .* as from --suite model"'
run 0 show one.json -f model-csv
ok "... in CSV too, below the names of the columns" eval \
	'status_is 0 && [ "$(wc -l <out)" = 2 ] && prints "^test,node,.*,alpha_us," && prints "^# no sweep in this run: "'
ok_json "... and has no model" one.json 'd["model"] == []'
FAKE_NOISE=0.02 run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x2 --precision 5% -o n.json
ok_json "with noise the truth is in most intervals, which are as wide" n.json \
	'sum(m["alpha_us_low"] <= 2.7 <= m["alpha_us_high"] for m in d["model"]) >= 4 and
	 all(0.001 < m["alpha_us_high"] - m["alpha_us_low"] < 0.5 for m in d["model"])'
FAKE_CORRUPT=0-1:300000 run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x4 -f model
ok "sizes without a figure are none of the line's" eval 'prints "^peer.ce.write.pair +6/6 +2.70.-0.00"'
run 2 --seed 1 --placement process,thread -m peer --pattern pair -s 4K:4M:x4 -f model
ok "placements: a cell of each" eval 'prints "^peer.ce.write.pair +12/12 +2.70"'

# ---- the best way ----

run 0 show m.json
ok "where there is one way there is no best" prints_not "best way"
run 0 "${fast[@]}" --gpus 0 -t h2d.ce.pinned.pair,h2d.sm.pinned.pair -s 256K:4M:x4 --spread 4M -o ways.json
ok "the best way by size, with the size from which on it is another" eval \
	'status_is 0 && prints "^  host to GPU: sm.pinned, from [0-9.]+ [KM]iB on ce.pinned .of 2 ways.$"'
ok_json "... where both are equally fast, by their figures around it" ways.json \
	'(lambda v, cut: any(v["sm", s] > v["ce", s] and v["sm", 4 * s] < v["ce", 4 * s] and s <= cut <= 4 * s
		for s in (2 ** 18, 2 ** 20)))(
		{(r["method"], r["copy_bytes"]): r["value"] for r in d["results"]},
		(lambda w: float(w[0]) * {"KiB": 2 ** 10, "MiB": 2 ** 20}[w[1]])(
			[l for l in open("out") if "host to GPU:" in l][0].split("from ")[1].split()))'
cp out live
run 0 show ways.json -f model
ok "... -f model says the same" eval \
	'[ "$(grep "host to GPU:" out)" = "$(grep "host to GPU:" live)" ]'

# ---- gamma ----

run 0 "${fast[@]}" -t 'local.fma.*' -o g.csv -o g.json -o g.prom
ok "multiply-adds: what each GPU of the double does" eval 'status_is 0 && cells g.csv | awk '"'"'
	{ want = substr($1, 13, 2) == "64" ? 33000 : substr($1, 13, 2) == "32" ? 66000 : 132000
	  off = $7 / (want * (1 - 0.01 * substr($2, 4))) - 1; n++
	  if ($2 != $3 || off > 0.002 || off < -0.002) { print; bad = 1 } }
	END { exit bad || n != 9 }'"'"
ok_json "... in GFLOP/s, with one block on each multiprocessor" g.json \
	'{(r["unit"], r["grid_blocks"], r["block_threads"]) for r in d["results"]} == {("GFLOP/s", 132, 1024)}'
ok_schema "... as the schema has it" g.json
ok "... and as operations for a monitor" grep -q '^cscope_mpi_operations_per_second{.*local.fma.fp64' g.prom
FAKE_DEAD_READS=1 run 0 "${fast[@]}" -t local.fma.fp32.alone -o dead.json
ok_json "a kernel that computes nothing is found" dead.json \
	'all(r["status"] == "failed" and "those of the host to 0x" in r["reason"] for r in d["results"])'
run 0 "${fast[@]}" --gpus 0 -m h2d --pattern pair -s 4K:16M:x4 -f model
ok "without gamma it says how to get it" eval 'status_is 0 && prints "^no gamma in this run: .*local.fma.fp64.alone"'
run 0 --no-mpi --seed 1 --gpus 0,1 --suite model -s 4K:4M:x4 --spread 2M -f model -o suite.json
ok "--suite model: gamma, its share of the peak, and loads in flops" eval 'status_is 0 &&
	prints "^FP64 by multiply-adds: 32[0-9]{3} GFLOP/s a GPU, at least 9[67]\.[0-9] % of units x highest clock$" &&
	prints "^peer.ce.write.pair +66[0-9] +59[0-9]{2} +8.[89]e\+07$" && prints "^local.sm.read.alone +6[0-9] "'
ok "... each GPU, with what its memories bring" eval \
	'prints "^gpu1 NVIDIA H200 +326[0-9]{2} +9[67]\.[0-9] % +40[0-9]{2} +6[45] +65[0-9]{2} +40 +326[0-9]{2} +8\.0$" && prints "at least 9[78]\.[0-9] % of 128 bytes a clock$"'
ok_json "... within 1 %" suite.json \
	''"$truth"' and
	 all(abs(m["flops_per_load"] * m["gbs"] / 8 / 32802 - 1) < 0.001 for m in d["model"] if not m["test"].startswith("host."))'
cp out model
run 0 show suite.json
ok "... a cache has no share of the memory's peak" eval \
	'prints "^local.sm.triad.alone .* % memory$" && ! grep -E "^local.(l2|shared).* memory$" out'
ok "... and the largest size of a sweep stands for a memory, the best one for a link" eval \
	'prints "^local.sm.read.alone 4 MiB .* memory$" && prints "^host.team.read.pair 4 MiB " &&
	 [ "$(grep -c "the largest of 6" out)" = 3 ] && [ "$(grep -c "the best of 6" out)" = 7 ]'
ok_json "... with the intensity for 90 %, and alpha in flops where it is above 0" suite.json \
	'all(abs(m["intensity_90"] / m["flops_per_load"] - 9) < 1e-6 and (m["alpha_flops"] is None) == (m["alpha_us"] <= 0)
	     and (m["alpha_us"] <= 0 or abs(m["alpha_flops"] / m["alpha_us"] / m["gbs"] / m["flops_per_load"] * 8e-3 - 1) < 1e-6)
	     for m in d["model"] if not m["test"].startswith("host.") or m["flops_per_load"])'
ok "... beside what data sheets say of other GPUs" eval \
	'tr -s " \n" " " <model | grep -q "by data sheets: V100 65, A100 49, H100 100, B200 60, MI250X 116, MI300A 63"'
ok_schema "... as the schema has it" suite.json
run 0 show suite.json --model 2.7e12,3G -o work.json
ok "--model: a program's operations and words, and how many a word" prints '^2.7e\+12 operations and 3e\+09 words of 8 bytes: 900 a word$'
ok_json "... by each memory of a GPU, each link and the cores: arithmetic, alpha + beta of the words, their sum and the longer" work.json \
	'(lambda w: abs(w["intensity"] / 900 - 1) < 1e-3 and
	 [x["where"] for x in w["ways"]] == ["shared memory", "L2", "memory", "peer.ce.write.pair", "peer.sm.write.pair", "h2d.ce.pinned.pair", "d2h.ce.pinned.pair", "memory"] and
	 [x["computes"] for x in w["ways"]] == 7 * ["gpu"] + ["numa"] and
	 all(abs(x["compute_s"] * x["gflops"] / 2.7e3 - 1) < 1e-6 and
	     abs(x["move_s"] / (24 / x["gbs"] + 1e-6 * max(x["alpha_us"] or 0, 0)) - 1) < 1e-6 and
	     abs((x["compute_s"] + x["move_s"]) / x["sum_s"] - 1) < 1e-8 and x["longer_s"] == max(x["compute_s"], x["move_s"]) and
	     x["bound"] == ("movement" if 2.7e12 / 3e9 < x["balance"] else "arithmetic") and
	     abs(x["balance"] * x["gbs"] / 8 / x["gflops"] - 1) < 1e-6 and x["link"] == ("pair" in x["where"]) for x in w["ways"]) and
	 abs(w["ways"][3]["alpha_us"] / 2.7 - 1) < 0.01)(d["workload"])'
ok_schema "... as the schema has it" work.json
run 0 show suite.json --model 8e15,1 -o work.json
ok_json "... much arithmetic is bound by it everywhere" work.json '{x["bound"] for x in d["workload"]["ways"]} == {"arithmetic"}'
run 0 show one.json --model 1,1
ok "... without flop/s there is no time, and it says what to measure" eval \
	'status_is 0 && tr -s " \n" " " <out | grep -q "no time: that needs the rates .* --suite model"'
run 0 --no-mpi --seed 1 --gpus 0,1 -s 1M -t peer.ce.write.pair,local.fma.fp64.alone --model 1G,1K -o work.json
ok_json "... of a run as it ends: without a sweep a link has no alpha" work.json \
	'[(x["where"], x["alpha_us"]) for x in d["workload"]["ways"]] == [("peer.ce.write.pair", None)]'
run 0 --no-mpi --gpus 0,1 --suite model --dry-run
ok "... of nine sizes unless others are asked for" eval \
	'status_is 0 && [ "$(grep -c "^test .*local.sm.read.alone" out)" = 9 ] && prints "local.fma.fp16.alone"'

run 0 --no-mpi --seed 1 --gpus 0 -s 1M -t 'host.team.*,host.fma.*' --cell-limit 1s -o team.json
ok "all cores of a NUMA node: flop/s, and its memory" eval 'status_is 0 && prints "^ +NUMA +numa0$"'
ok_json "... each has a figure, by as many workers as there are cores, checked" team.json \
	'len({r["test"] for r in d["results"]}) == 5 and all(r["status"] == "ok" and r["checked"] > 0 for r in d["results"]) and len({r["workers"] for r in d["results"]}) == 1'
ok_json "... and says which bytes its rate counts" team.json \
	'{r["op"]: r["counts"] for r in d["results"]} == {"read": "bytes read", "write": "bytes written",
	  "copy": "bytes counted once", "triad": "bytes of all three arrays", "fp64": None}'
ok_schema "... as the schema has it" team.json

# ---- memories from the fastest on ----

levels=(--no-mpi --seed 1 --cell-limit 1m --spread 2M)
memory 200000000
FAKE_CAPABILITY=7.0 FAKE_L2=4194304 FAKE_GPUS=2 run 0 "${levels[@]}" -s 64K:32M:x1.5 \
	-t 'local.chase.random.alone,local.l2.*,local.shared.*,local.fma.fp64.alone,h2d.ce.pinned.pair' -o levels.json -o levels.html
ok "a cache that a chase sees is found beside what the vendor says, with the rate and latency of each level" eval \
	'status_is 0 && prints "^L2  +4 MiB  3\.[0-9]+ MiB to 4\.[0-9]+ MiB +6 MiB +65[56][0-9] +200\.0$" && prints "^registers +- +- +256 KiB +132 +39[0-9]{4} +-$" &&
	 prints "^shared, L1 +- +- +128 KiB +132 +32[78][0-9]{2} +-$" && prints "^memory +- +- +191 MiB +- +280\.0$"'
ok_json "... in JSON with its interval, and memory as what the largest sizes are in" levels.json \
	'[(l["level"], l["found_bytes"] and l["found_bytes_low"] < 2 ** 22 < l["found_bytes_high"] and round(l["found_bytes"] / 2 ** 22, 1), l["load_ns"] and round(l["load_ns"])) for l in d["levels"]] ==
	 [("registers", None, None), ("shared, L1", None, None), ("L2", 1.0, 200), ("memory", None, 280)]'
ok_schema "... as the schema has it" levels.json
ok "... drawn as a roof for each memory and link" eval \
	'[ "$(grep -c "GPU: 4 roofs below 32[0-9]* GFLOP/s" levels.html)" = 1 ] && grep -q "h2d.ce.pinned.pair.*GB/s, balance" levels.html'
cp out live
run 0 show levels.json
ok "... of a file the same" same live out
run 0 show levels.json --model 1G,1G -o work.json
ok_json "... and are what --model has" work.json '[w["where"] for w in d["workload"]["ways"]] == ["registers", "shared, L1", "L2", "h2d.ce.pinned.pair"]'
FAKE_CAPABILITY=7.0 FAKE_GPUS=1 run 0 "${levels[@]}" -s 64K:16M:x2 -t local.chase.random.alone -o flat.json
ok_json "where loads take the same at all sizes no cache is found" flat.json 'all(l["found_bytes"] is None for l in d["levels"]) and len(d["levels"]) == 4'
memory 34000000
run 0 --no-mpi --seed 1 --backend cpu -s 4K:512K:x2 -t host.chase.warm.pair --samples 6 -o warm.json
ok_json "caches of cores: the sizes are those of the kernel, and each sample goes on where the last one ended" warm.json \
	'[l["level"] for l in d["levels"]] == ["L1", "L2", "L3", "memory"] and [l["vendor_bytes"] for l in d["levels"]][:3] == [d["nodes"][0]["l%d_bytes" % i] for i in (1, 2, 3)] and
	 all(r["status"] == "ok" and len(r["samples"]) == 6 for r in d["results"])'
ok_schema "... as the schema has it" warm.json

# ---- a product of matrices against the bound ----

run 0 --no-mpi --seed 1 --gpus 0,1 --suite matmul -s 1M --cell-limit 1s -o product.json
ok "products of matrices: words over the least, intensity, rate and what movement allows, by blocks" eval 'status_is 0 &&
	prints "^none +shared, L1 +93.7 +1.9 +151[0-9] +62[0-9]{2} +15[0-9]{2} +95 %$" && prints "^64 x 64 +shared, L1 +3.2 +56.9 +192[0-9]{2} +27[0-9]{2} +32[78][0-9]{2} +59 %$" &&
	prints "^192 x 192 +L[23] +[0-9.]+ +153.6 " && tr -s " \n" " " <out | grep -q "GPU: blocked by 112, 90 flops a word, 22[0-9]* GFLOP/s, 69 % of what movement and arithmetic allow; without blocks 2, 15.0 times slower CPU: blocked by "'
ok_json "... within 1 % of the double, whose operations and words follow each other" product.json \
	'all(abs(p["gflops"] * (1 / 32835 + 8 / p["flops_per_word"] / 6567) - 1) < 0.01 and abs(p["gbs"] * p["flops_per_word"] / p["gflops"] / 8 - 1) < 1e-6 and
	     p["words"] > p["least_words"] for p in d["products"] if p["computes"] == "gpu") and
	 [(p["computes"], p["block"], p["rows"]) for p in d["products"]] == [("gpu", b, n) for b, n in ((0, 256), (8, 256), (16, 256), (32, 256), (64, 256), (96, 192), (112, 224))] + [("numa", b, 384) for b in (0, 8, 16, 32, 64, 96, 192)]'
ok_schema "... as the schema has it" product.json
run 0 show product.json -f model
ok "... -f model says the same" prints "^64 x 64 +shared, L1 +3.2 +56.9 +192[0-9]{2} "
FAKE_DEAD_READS=1 run 0 --no-mpi --seed 1 --gpus 0 -t local.matmul.naive.alone,local.matmul.block112.alone -s 1M -o wrong.json
ok_json "a product that no kernel made is found" wrong.json \
	'[(r["status"], "the product of the matrices is wrong" in r["reason"]) for r in d["results"]] == [("failed", True)] * 2'
run 0 --no-mpi --seed 1 --gpus 0 -t local.matmul.block96.alone -s 4K -o small.json
ok_json "matrices of less than a block are skipped" small.json \
	'[(r["status"], r["reason"]) for r in d["results"]] == [("skipped", "4096 bytes are less than two matrices of one block")]'

FAKE_CAPABILITY=7.5 run 0 --no-mpi --seed 1 --gpus 0 -t local.matmul.block32.alone,local.matmul.block64.alone -s 1M -o old.json
ok_json "... and blocks for which a GPU has no shared memory" old.json \
	'[(r["status"], r["reason"]) for r in d["results"]] == [("ok", None), ("skipped", "two blocks of 64 x 64 are 65 KiB, shared memory of a block of threads is 64 KiB")]'

# ---- a link while its GPUs compute ----

flops=(--no-mpi --seed 1 --cell-limit 1m -s 4M -t '*.ce.*.pair,*.loadflops' --gpus '0,1' --host-memory pinned)
for takes in 0 20; do
	FAKE_COMPUTE_TAKES=$takes run 0 "${flops[@]}" -o b.csv -o b.json
	ok "beside multiply-adds a link keeps what they leave: $takes % less" eval 'status_is 0 && cells b.csv | awk -v keeps='"$((100 - takes))"' '"'"'
		{ split($1, part, "."); of = part[1] part[3] $2 $3 }
		$1 ~ /ce\.(write|read|pinned)\.pair/ { alone[of] = 4194304e-3 / $7 - 2.7 }
		$1 ~ /loadflops/ { beside[of] = 4194304e-3 / $7 - 2.7; n++; if ($5 != "ok") bad = 1 }
		END { for (of in beside) { off = alone[of] / beside[of] * 100 / keeps - 1; if (off > 1e-3 || off < -1e-3) { print of, off; bad = 1 } }
		      exit bad || n != 8 }'"'"
done
ok_json "... which last as long as the copies, and are no kernel of theirs" b.json \
	'all(r["overlap"] > 0.9 and "grid_blocks" not in r or r["grid_blocks"] is None and r["concurrent"] == (2 if r["path"] == "peer" else 1) for r in d["results"] if r["pattern"] == "loadflops")'
ok_schema "... as the schema has it" b.json
run 0 --no-mpi --seed 1 --gpus 2 -s 4M -t peer.ce.write.loadflops --dry-run -o plan.csv
run 0 --no-mpi --seed 1 --gpus 2 -s 4M --plan plan.csv --dry-run -o again.csv
ok "a plan file has them as load" eval 'status_is 0 && same plan.csv again.csv && [ "$(grep -c "local.fma.fp64.alone,gpu.,gpu.,16,load" plan.csv)" = 4 ]'

# ---- two machines ----

for i in 1 2; do # the second is 10 % slower
	awk -v f=$i 'BEGIN { for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++) printf "%.1f%s", 440 - 40 * f, j < 2 ? " " : "\n" }' >"rates$i"
	FAKE_NOISE=0.002 FAKE_MATRIX=$PWD/rates$i run 0 "${fast[@]}" -m peer --pattern pair -s 4K:16M:x4 -q -o "v$i.json"
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
