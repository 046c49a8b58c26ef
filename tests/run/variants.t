#!/bin/bash
# Variants of a cell: caches, CPU threads, the NUMA node whose CPUs work.  Each is a
# matrix of its own, in every file and every judgement.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2
fast=(--no-mpi --seed 1 -s 1M --cell-limit 1m)
folded() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}
both=h2d.ce.registered.pair,h2d.ce.wc.pair
host=host.cpu.copy.pair

# ---- what is measured ----

run 0 "${fast[@]}" --cache any,cold,warm -t "$both" -o v.csv -o v.json -o v.jsonl
cp out live
ok "a cell for each variant, a test without any once" eval 'status_is 0 && all_ok v.csv 8'
ok_json "each row says what it is of, and nobody takes one for another's repetition" v.json \
	'sorted((r["test"], str(r["cache"]), r["dst"]) for r in d["results"] if "control" not in r["flags"]) == sorted((t, c, g) for g in ("gpu0", "gpu1") for t, c in (("h2d.ce.registered.pair", "None"), ("h2d.ce.registered.pair", "cold"), ("h2d.ce.registered.pair", "warm"), ("h2d.ce.wc.pair", "None")))'
ok_json "a matrix for each variant" v.json \
	'[(m["test"], m["cache"]) for m in d["matrices"]] == [("h2d.ce.registered.pair", None), ("h2d.ce.registered.pair", "cold"), ("h2d.ce.registered.pair", "warm"), ("h2d.ce.wc.pair", None)] and all(None not in m["values"][0] for m in d["matrices"])'
ok "... whose heading says so in words" eval \
	'folded "one at a time, cold caches, GB/s" && folded "one at a time, warm caches, GB/s" &&
	 [ "$(grep -c "^host to GPU, copy engine, registered" out)" = 3 ]'
ok_schema "... as the schema has it" v.json v.jsonl
for file in v.json v.jsonl; do
	run 0 show $file
	ok "a file shows what the run did: $file" same live out
done
run 0 show v.json --compact -o compact.json
run 0 show compact.json
ok "... a compact one too" same live out
run 0 show v.json --cell host,1
ok "one cell: each variant of it" eval \
	'folded "host to GPU, copy engine, registered memory, one at a time, cold caches .h2d.ce.registered.pair." &&
	 prints "host->1 1 MiB, cold caches  *48.48  .0.00 %$" && prints "host->1 h2d.ce.registered.pair, warm caches "'
run 0 "${fast[@]}" --threads 1,2,4 --cpu-numa local,0 -t $host
ok "a list of NUMA nodes is numbers, or a word: status 64" eval \
	'status_is 64 && one_line "--cpu-numa .local,0.: allowed are local, all, or NUMA nodes as 0,2-3"'
run 0 "${fast[@]}" --threads 1,2,4 --cpu-numa 0 -t $host -o t.csv -o t.json
ok_json "CPU threads, and whose CPUs: in each row" t.json \
	'sorted(r["cpu_threads"] or 1 for r in d["results"]) == [1, 2, 4] and {r["cpu_numa"] for r in d["results"]} == {0}'
ok "several numbers of threads are a curve" eval \
	'folded "CPUs of NUMA node 0, GB/s, by CPU threads" && prints "^ +1 +1/1 " && prints "^ +2 +1/1 " && prints "^ +4 +1/1 " && prints_not "from.to"'
run 0 "${fast[@]}" --threads 1,2 --cache any,cold -s 64K:256K:x4 -t $host -f result
ok "sizes and threads: each size and variant a curve over threads, in result lines all said" eval \
	'[ "$(wc -l <out)" = 8 ] && prints " copy 65536 B cache=cold cpu_threads=2$"'
run 0 "${fast[@]}" --threads 1,2 --cache any,cold -s 64K:256K:x4 -t $host
ok "... in text" eval '[ "$(grep -c "^ *CPU threads  *cells" out)" = 4 ] && folded "host.cpu.copy.pair 256 KiB" && prints_not "by size"'
run 0 "${fast[@]}" --cache warm,cold -s 64K:1M:x4 -t h2d.ce.pinned.pair
ok "a sweep in variants: a curve for each" eval \
	'[ "$(grep -c "^ *a copy  *cells" out)" = 2 ] && folded "cold caches, GB/s, by size" && folded "warm caches, GB/s, by size"'

# ---- what cannot be ----

run 0 "${fast[@]}" --cache cold -t peer.ce.write.pair
ok "caches of no chosen test: one line, status 64" eval \
	'status_is 64 && one_line "--set cache: none of the chosen tests copies from or to host memory"'
ok_refused "threads of none" "--set threads: none of the chosen tests is copied by CPUs" "${fast[@]}" --threads 2
ok_refused "CPUs that do nothing" "--set cpu-numa: CPUs work on none of the chosen tests" "${fast[@]}" --cpu-numa 0 -t h2d.ce.pinned.pair
run 0 "${fast[@]}" --cpu-numa 0 --cache warm -t h2d.ce.pinned.pair -o w.csv
ok "... but warm a buffer" eval 'status_is 0 && all_ok w.csv 2'
run 0 "${fast[@]}" --cpu-numa 63 -t $host -o 63.csv
ok "a NUMA node without CPUs, or none: skipped with the reason" eval \
	'cells 63.csv | grep -q " skipped " && folded "skipped: .*63"'
ok_refused "more threads than there may be: status 64" "--threads .65.: .* from 1 to 64" "${fast[@]}" --threads 65 -t $host
ok_refused "a state that caches do not have: status 64" "--cache .tepid.: .*any, cold, warm" "${fast[@]}" --cache tepid
printf 'step,test,src,dst\na,host.cpu.copy.pair,numa0,numa0\n' >plan.csv
ok_refused "a plan file has columns for them: status 64" "--set cache and --plan exclude each other" "${fast[@]}" --cache cold --plan plan.csv

run 0 --explain $host
ok "--explain says which variants a test has" folded \
	"variants Caches cold or warm .--set cache., CPU threads .--set threads., the NUMA node whose CPUs work .--set cpu-numa."
run 0 --explain h2d.ce.wc.pair
ok "... and nothing of one without any" prints_not "variants"

# ---- plan files ----

run 0 -n --gpus 2 --seed 1 -s 1M --cache any,cold -t "$both" -o p.csv
grep '^plan ' out >want
run 0 -n --gpus 2 --seed 1 -s 1M --plan p.csv
grep '^plan ' out >got
ok "a plan of variants as a file is the same plan" eval 'same want got && grep -q "^step,test,src,dst,size,cache,role$" p.csv'
printf 'step,test,src,dst,cache,cpu_threads,cpu_numa\na,host.cpu.copy.pair,numa0,numa0,cold,2,0\n' >plan.csv
run 0 "${fast[@]}" --plan plan.csv -o p.json
ok_json "a line names its variant" p.json \
	'[(r["cache"], r["cpu_threads"], r["cpu_numa"]) for r in d["results"]] == [("cold", 2, 0)]'
ok "... and the line of the report" folded "1 MiB, cold caches, 2 CPU threads, CPUs of NUMA node 0"
printf 'step,test,src,dst,cache\na,h2d.ce.wc.pair,host,gpu0,cold\n' >plan.csv
run 0 "${fast[@]}" --plan plan.csv
ok "one that changes nothing is refused: line and column" eval \
	'status_is 64 && one_line "plan.csv:2: column cache: .cold. changes nothing of .h2d.ce.wc.pair."'

# ---- going on ----

figures v.csv >want
sed -i '/"kind":"verdict"/d; $d' v.jsonl
cp v.jsonl other.jsonl
run 0 "${fast[@]}" --cache any,cold,warm -t "$both" --resume v.jsonl -o r.csv -o r.json
figures r.csv >got
ok "a run of variants that ended early is gone on with" eval 'status_is 0 && same want got && all_ok r.csv 8'
run 0 "${fast[@]}" --cache any,cold -t "$both" --resume other.jsonl
ok "a journal of other variants is of another plan: status 64" eval \
	'status_is 3 && one_line "it has another plan: other tests, or variants of them"'

# ---- judging ----

run 0 "${fast[@]}" --cache cold -t h2d.ce.registered.pair -o cold.json
run 0 "${fast[@]}" --cache warm -t h2d.ce.registered.pair -o warm.json
run 0 "${fast[@]}" -t h2d.ce.registered.pair -o any.json
run 0 compare cold.json warm.json
ok "cold is not compared with warm" eval \
	'status_is 3 && folded "not compared: h2d.ce.registered.pair: copies of 1 MiB, cold caches in cold.json, of 1 MiB, warm caches in warm.json"'
run 0 compare v.json v.json
ok "each variant is compared with itself" eval \
	'status_is 0 && prints "^    GB/s, 1 MiB, cold caches( |$)" && prints "^    GB/s, 1 MiB, warm caches( |$)" && [ "$(grep -c "^    same within 1 %: 2 of 2 cells$" out)" = 4 ]'
run 0 compare v.json v.json -f csv
ok "... also as CSV" eval '[ "$(grep -c ",cold," out)" = 2 ] && [ "$(grep -c ",warm," out)" = 2 ]'
run 0 baseline cold.json -o base.json
ok "a baseline is of a variant" eval 'prints "h2d.ce.registered.pair 1 MiB, cold caches, host near"'
run 0 "${fast[@]}" --cache warm -t h2d.ce.registered.pair --baseline base.json
ok "... and has nothing of another: status 64" eval \
	'status_is 64 && one_line "the baseline lacks h2d.ce.registered.pair at 1 MiB, warm caches: it has that test at 1 MiB, cold caches"'
run 0 "${fast[@]}" --cache cold -t h2d.ce.registered.pair --baseline base.json
ok "... of its own it judges" eval 'status_is 0 && prints "findings +none"'
printf 'test,cache,bound\nh2d.ce.registered.pair,cold,900 GB/s\nh2d.ce.registered.pair,any,1 GB/s\n' >bounds.csv
run 0 check v.json --threshold bounds.csv
ok "a threshold is of the variant that it names" eval \
	'status_is 2 && folded "h2d.ce.registered.pair at 1 MiB, cold caches: host->0 has 48.41 GB/s, below 900.00 GB/s .bounds.csv:2.; also host->1" &&
	 prints_not "warm caches:" && folded "-s 1M --set cache=cold"'
printf 'test,bound\nComm_cudaMemcpyAsync_PinnedToGPU_flush,900 GB/s\n' >bounds.csv
run 0 check v.json --threshold bounds.csv
ok "... as a name says it" eval \
	'folded "1 MiB, cold caches: host->0 has 48.41 GB/s, below 900.00 GB/s" && [ "$(tr -s " \\n" "  " <out | grep -o "below 900.00" | wc -l)" = 2 ]'
printf 'test,cpu_threads,bound\nhost.cpu.copy.pair,0,1 GB/s\n' >bounds.csv
ok_refused "... one that is none: line and column" "bounds.csv:2: column cpu_threads: " check v.json --threshold bounds.csv
sed "s/\"$(uname -n)\"/\"elsewhere\"/g" warm.json >there.json
run 0 check cold.json there.json -v
ok "nodes of other variants did not measure the same, and each has a line" eval \
	'folded "nodes did not all measure the same tests and sizes" &&
	 folded "h2d.ce.registered.pair, cold caches 2 of 2 cells" && folded "h2d.ce.registered.pair, warm caches 2 of 2 cells"'

# ---- monitors ----

run 0 show v.json -f prom
ok "monitors: a label for what is not the usual, no series twice" eval \
	'prints "test=\"h2d.ce.registered.pair\",size=\"1048576\",cache=\"cold\"," &&
	 [ -z "$(sed "s/ [^ ]*$//" out | grep -v "^#" | sort | uniq -d)" ]'
run 0 show v.json -f junit
ok "... a test case for each" eval 'prints "name=.h2d.ce.registered.pair 1 MiB, cold caches." && [ "$(grep -c "<testcase" out)" -ge 4 ]'
run 0 show v.json -f nagios
ok "... a figure for each" eval 'prints "vm:h2d.ce.registered.pair:1048576:cache-cold:median|:h2d.ce.registered.pair:1048576:cache-cold:median"'
run 0 "${fast[@]}" --cache any,cold -t h2d.ce.pinned.pair -o n.json
run 0 show n.json -f nvbandwidth
ok "nvbandwidth's tables hold the usual alone" prints "^SUM host_to_device_memcpy_ce 96.89$"
run 0 "${fast[@]}" --cache cold -t h2d.ce.pinned.pair -o n.json
run 0 show n.json -f nvbandwidth
ok "... and nothing else" prints "^Waived: host_to_device_memcpy_ce: no cell of it is there$"

# ---- who worked, and where ----

run 0 "${fast[@]}" --cache any,cold -t h2d.ce.pageable.pair -o who.json
ok_json "each row says who carried it, where its pages lay, and how they were flushed" who.json \
	'all((r["workers"], r["cpus_numa"], r["src_pages_numa"], r["dst_pages_numa"]) == (1, 0, 0, None) and r["cpus"] and (r["flush"] is None) == (r["cache"] is None) and (r["flush_cold_ns"] is None) == (r["cache"] is None) for r in d["results"])'
ok "... in the text as well" eval \
	'folded "carried by 1 CPU worker on CPUs [0-9]" && folded "caches flushed by [a-z]+: a load takes [0-9.]+ ns then, [0-9.]+ from the caches"'
ok_schema "... as the schema has it" who.json
run 0 "${fast[@]}" -t h2d.ce.pinned.pair -o who.json
ok_json "what no CPU carries has no workers" who.json \
	'all(r["workers"] is None and r["cpus_numa"] is None and r["flush"] is None for r in d["results"])'

# ---- NUMA nodes by GPUs ----

export CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-eight-numa.xml
FAKE_GPUS=8 run 0 "${fast[@]}" --numa all -t h2d.ce.pinned.pair -o numa.json
ok_json "eight NUMA nodes by eight GPUs: a row each, and what is not of this machine is unknown" numa.json \
	'd["matrices"][0]["rows"] == [f"numa{i}" for i in range(8)] and d["matrices"][0]["columns"] == [f"gpu{i}" for i in range(8)] and None not in d["matrices"][0]["values"][0] and d["matrices"][0]["values"][7] == [None] * 8 and [a["numa"] for a in d["agents"]] == list(range(8))'
run 0 -n --gpus 8 --seed 1 --numa all --cpu-numa all -t h2d.ce.pageable.pair,h2d.ce.pinned.pair
ok "... and eight whose CPUs work: of what CPUs carry alone" eval \
	'[ "$(unfolded | grep -c "^test  *h2d.ce.pageable.pair .* CPUs of NUMA node [0-7], 128 MiB, 64 steps$")" = 8 ] && [ "$(unfolded | grep -c "^test  *h2d.ce.pinned.pair .* 64 steps$")" = 1 ]'
export CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-two-numa.xml
run 0 -n --gpus 2 --seed 1 --numa all -t h2d.ce.pinned.pair,host.cpu.copy.pair
ok "two NUMA nodes, and the memory of a GPU, which is none" eval \
	'prints "^test  *h2d.ce.pinned.pair .* 4 steps$" && prints "^test  *host.cpu.copy.pair .* 4 steps$"'
export CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-memory-node.xml
run 0 -n --gpus 2 --seed 1 --numa all -t h2d.ce.pinned.pair
ok "memory without CPUs: a node for buffers" prints "^test  *h2d.ce.pinned.pair .* 6 steps$"
run 0 "${fast[@]}" --cpu-numa 2 -t h2d.ce.pageable.pair -o none.csv
ok "... that works on nothing: skipped with the reason" eval \
	'[ "$(cells none.csv | grep -c " skipped ")" = 2 ] && folded "skipped: NUMA node 2 has memory and no CPUs: --set cpu-numa says whose work"'
unset CS_TEST_TOPOLOGY
finish
