#!/bin/bash
# Host memory and GPUs, on the driver's double: whose figure it is, where the memory
# lies, concurrency, and what cannot be measured.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 3
fast=(-s 1M --pattern pair --seed 1 --cell-limit 9s)

# What the double's clock must give for each cell that a GPU and the host have to
# themselves; the host's NUMA node is so far from the GPU's.
host_is_exact() { # FILE [DISTANCE]
	cells "$1" | awk -v d="${2:-0}" '$1 ~ /^(h2d|d2h).ce.*pair$/ {
		in_ = $1 ~ /^h2d/
		if (!(in_ ? $2 ~ /^numa/ && $3 ~ /^gpu/ : $2 ~ /^gpu/ && $3 ~ /^numa/)) { print $0; bad = 1 }
		rate = 55.2 + 0.1 * substr($2, 4) - 5 * d
		if (in_)
			rate = 55.3 + 0.1 * substr($3, 4) - 3 * d + ($1 ~ /wc/ ? 0.2 : 0)
		want = $6 / (2700 + $6 / rate); off = $7 / want - 1
		if (off > 2e-5 || off < -2e-5) { print $0, "and not", want; bad = 1 }
		n++
	}
	END { exit bad || !n }'
}

# On standard output, wherever lines end.
folded() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# Mean of the figures of a test.
mean() { # FILE TEST
	cells "$1" | awk -v test="$2" '$1 == test { sum += $7; n++ } END { printf "%.3f\n", sum / n }'
}

less() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { print a, b; exit !(a + 0 < b + 0) }'
}

# ---- whose figure ----

run 0 --no-mpi "${fast[@]}" -m h2d,d2h -o 1.csv -o 1.json -o 1.jsonl
cp out live
ok "host to GPUs and back: every cell is measured" eval 'status_is 0 && all_ok 1.csv 6'
ok "every figure is its own direction's and GPU's" host_is_exact 1.csv
ok "row is the source: host memory of h2d, GPUs of d2h" eval \
	'prints "^ +host +48.41 +48.48 +48.56$" && prints "^ +0 +48.33$" && prints "^ +2 +48.48$"'
ok_json "... in JSON as well" 1.json \
	'[(m["rows"], m["columns"]) for m in d["matrices"]] == [(["host"], ["gpu0", "gpu1", "gpu2"]), (["gpu0", "gpu1", "gpu2"], ["host"])]'
ok_json "a result has the NUMA node, the kind of memory, the unit and the issuer" 1.json \
	'all({r["src"], r["dst"]} == {"numa0", r["issuer"]} and r["memory"] == "pinned" and r["unit"] == "GB/s" and r["numa"] == 0 for r in d["results"])'
ok_schema "... as the schema has it" 1.json 1.jsonl
ok "where the memory lies is proven, and by whom is said" folded \
	"host memory is on the NUMA node of each GPU, proven by (one NUMA node|move_pages|numa_maps)"
run 0 show 1.json
ok "a file shows what the run did" same live out
run 0 show 1.jsonl
ok "... a journal too" same live out

figures 1.csv >want
run 2 "${fast[@]}" -m h2d,d2h -o 2.csv
figures 2.csv >got
ok "two ranks: the figures of one process" eval 'status_is 0 && same want got'
run 0 --no-mpi "${fast[@]}" -m h2d,d2h --placement process,thread -o p.csv
ok "processes and threads in turns: both have them" eval \
	'status_is 0 && figures p.csv | sort -u >got && same want got && all_ok p.csv 96'
FAKE_HOST_NUMA=7 run 0 --no-mpi --gpus 0 "${fast[@]}" -m h2d -o far.csv
ok "memory that is far away has the figure of its distance" host_is_exact far.csv 7
FAKE_CALLS=$PWD/calls run 0 --no-mpi "${fast[@]}" -m h2d,d2h
FAKE_CALLS=$PWD/none run 0 --no-mpi "${fast[@]}" -m local
ok "host memory is made once: one source, one destination, for all GPUs" eval \
	'[ "$(grep -c " cuMemHostAlloc$" calls)" = "$(grep -c " cuMemHostAlloc$" none)" ] &&
	 [ $(($(grep -c " cuMemHostRegister$" calls) - $(grep -c " cuMemHostRegister$" none))) = 2 ]'
# MiB of host memory that RANKS (0: one process) pin for both GPUs in buffers of 1 MiB and more,
# for which few samples are enough
pinned() { # RANKS TESTS
	rm -f pins
	FAKE_CALLS=$PWD/pins run "$1" --seed 1 --gpus 0,1 -s 66M --samples 2 --cell-limit 1m -t "$2"
	awk '$2 == "pins" && $3 >= 1048576 { sum += $3 } END { print sum / 1048576 }' pins
}
was=$FAKE_MEMORY
memory 0
ways=h2d.ce.pinned.bidi,h2d.ce.pinned.bidiload,d2h.ce.pinned.load
ok "GPUs of a process take the same host memory in turn; loads have 64 MiB each" \
	eval '[ "$(pinned 0 $ways)" = "$((2 * 66 + 2 * 64))" ]'
ok "... but for what all of them move at once" \
	eval '[ "$(pinned 0 h2d.ce.pinned.all)" = "$((2 * 66))" ]'
ok "a rank has one source and one destination" \
	eval '[ "$(pinned 2 $ways)" = "$((2 * 2 * 66))" ]'
memory "$was"

sed -i '/"kind":"verdict"/d; $d' 1.jsonl
n=$(grep -c '"kind":"result"' 1.jsonl)
run 0 --no-mpi "${fast[@]}" -m h2d,d2h --resume 1.jsonl -o resumed.csv
figures resumed.csv >got
ok "a run that ended early is gone on with" eval 'status_is 0 && [ "$n" -gt 0 ] && same want got'

# ---- NUMA nodes ----

run 0 --no-mpi "${fast[@]}" -m h2d,d2h --numa all -o all.csv
ok "--numa all: rows are NUMA nodes" eval 'status_is 0 && prints "^ +numa0 +48.41 +48.48 +48.56$"'
run 0 --no-mpi "${fast[@]}" -m h2d,d2h --numa 0,63 -o n.csv -o n.json
ok "a NUMA node that is not there is skipped with the reason, the rest measured" eval \
	'status_is 0 && [ "$(cells n.csv | grep -c " skipped ")" = 6 ] &&
	 [ "$(cells n.csv | grep -v numa63 | grep -c " ok ")" = 6 ] &&
	 folded "skipped: NUMA node 63 has no memory that this process may use: there is some on 0"'
ok_json "... and unknown in the matrix, not 0" n.json \
	'd["matrices"][0]["rows"] == ["numa0", "numa63"] and d["matrices"][0]["values"][1] == [None] * 3'
ok_refused "--numa wants NUMA nodes: status 64, what is allowed" "--numa .1-.: allowed are local, all, or NUMA nodes as 0,2-3" --numa 1-
run 0 --no-mpi -s 1M -m host --seed 1 -o h.csv -o h.json
ok "--matrix host: NUMA node to NUMA node by a CPU" eval \
	'status_is 0 && cells h.csv | grep -q "^host.cpu.copy.pair numa0 numa0 .* ok " && prints "^ +numa0 "'
ok_schema "... as the schema has it" h.json
ok_json "latency between NUMA nodes: each load is of memory that was flushed" h.json \
	'[(r["src"], r["dst"], r["unit"], r["status"], r["workers"], r["cpus_numa"], r["value"] > 0, bool(r["flush"])) for r in d["results"] if r["test"] == "host.chase.random.pair"] == [("numa0", "numa0", "ns", "ok", 1, 0, True, True)]'
ok "… it stands in the first line, beside the bandwidth" eval \
	'head -n 3 out | grep -qE "NUMA node to NUMA node [0-9.]+ GB/s, a load [0-9.]+ ns"'
CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-two-numa.xml run 0 -n --gpus 2 --seed 1 -m host -s 1M
ok "… of each NUMA node to each" prints "^test  *host.chase.random.pair .* 4 steps$"

# ---- both ways, concurrency ----

run 0 --no-mpi -s 1M --seed 1 -m h2d --pattern bidi -o b.csv -o b.json
ok "both ways at once: a matrix for each way" eval \
	'status_is 0 && all_ok b.csv 6 && prints "^ +host +44.12 " && prints "^ +0 +44.05$"'
ok "... the total of the common window, and the overlap" folded \
	"both ways, common window: min 88.09 median 88.23 max 88.37; overlap >= 99.8 %"
ok_json "a total is all bytes over the time until the last has ended" b.json \
	'all(abs(t["samples"][i] / (sum(b) / max(x / r["samples"][i] for x, r in zip(b, rs))) - 1) < 1e-8 for t in d["results"] if t["metric"] == "total" for rs in [[r for r in d["results"] if r["step"] == t["step"] and r["metric"] == "rate"]] for b in [[r["copies"] * r["copy_bytes"] for r in rs]] for i in range(len(t["samples"])))'
ok_json "... each total once" b.json \
	'len([r for r in d["results"] if r["metric"] == "total" and "control" not in r["flags"]]) == 3'
run 0 -m d2h --no-mpi -t d2h.ce.pinned.bidi
ok "there is no d2h.*.bidi: it is the way back of h2d's" eval 'status_is 64 && lines err | grep -qx 1'

FAKE_HOST_SHARED=60 run 0 --no-mpi -s 1M --seed 1 -m h2d,d2h \
	--pattern pair,load,bidiload,all,bidiall -o l.csv
ok "under load, all at once, all both ways: everything is measured" eval \
	'status_is 0 && ! cells l.csv | grep -v " ok " && folded "while all others do the same"'
for way in h2d d2h; do
	ok "concurrency on a shared link shows: $way under load is slower than alone" less \
		"$(mean l.csv $way.ce.pinned.load)" "$(mean l.csv $way.ce.pinned.pair | awk '{ print $1 / 2 }')"
	ok "... $way with load both ways as well" less \
		"$(mean l.csv $way.ce.pinned.bidiload)" "$(mean l.csv $way.ce.pinned.pair | awk '{ print $1 / 2 }')"
done
ok "... and all of them have together what the link has" folded \
	"all together, common window: min 57.06 median 57.06 max 57.06"
ok "the load has no row of its own: a figure for each GPU" eval \
	'[ "$(cells l.csv | grep -c "^h2d.ce.pinned.load ")" = 3 ] && [ "$(cells l.csv | grep -c "^d2h.ce.pinned.load ")" = 3 ]'

# ---- kinds of memory ----

FAKE_STRICT=1 run 0 --no-mpi "${fast[@]}" -m h2d,d2h --host-memory pinned,registered,wc -o m.csv
ok "host memory is unregistered before it is given back" status_is 0
ok "each kind of host memory, write-combined in both directions" eval \
	'status_is 0 && all_ok m.csv 18 && [ "$(cells m.csv | grep -c "^[hd]2[hd].ce.wc.pair ")" = 6 ]'
ok "... with its own figures" host_is_exact m.csv
run 0 --no-mpi "${fast[@]}" -m h2d --host-memory huge -o huge.csv
if cells huge.csv | grep -q ' skipped '; then
	skip="no huge pages here"
fi
ok "huge pages: measured where there are some" eval 'all_ok huge.csv 3 && host_is_exact huge.csv'
# as after `echo never >/sys/kernel/mm/transparent_hugepage/enabled`
cat >no_huge <<'END'
import ctypes, os, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
END
command -v "${PYTHON:-python3}" >/dev/null && run_program 0 "${PYTHON:-python3}" no_huge "$CSCOPE" \
	--no-mpi "${fast[@]}" -m h2d --host-memory pinned,huge -o huge.csv
if ! command -v "${PYTHON:-python3}" >/dev/null; then
	skip="no Python"
elif cat /sys/kernel/mm/hugepages/*/free_hugepages 2>/dev/null | grep -qv '^0$'; then
	skip="pages are set aside here"
fi
ok "no huge pages: skipped with the reason and the remedy, the rest is measured" eval \
	'status_is 0 && [ "$(cells huge.csv | grep -c "^h2d.ce.huge.* skipped ")" = 3 ] &&
	 [ "$(cells huge.csv | grep -c "^h2d.ce.pinned.* ok ")" = 3 ] && folded "no huge pages: 1 of 2 MiB wanted, .* vm.nr_hugepages=N"'
skip=''
ok_refused "a kind that is none: status 64, what is allowed" "allowed are pinned, registered, wc, huge" --host-memory swap

# ---- the data ----

memory 0
FAKE_CORRUPT=1-h:70000 run 0 --no-mpi -s 8M --seed 1 --cell-limit 9s -t d2h.ce.wc.pair,d2h.sm.wc.pair -o c.csv
ok "wrong bytes in write-combined memory are found" eval \
	'status_is 2 && [ "$(cells c.csv | grep -c "^d2h.*.wc.pair gpu1 .* corrupt ")" = 2 ] && [ "$(cells c.csv | grep -c " ok ")" = 4 ]'

for offset in 4096 1048568 -1; do
	FAKE_CORRUPT=h-0:$offset run 0 --no-mpi "${fast[@]}" -m h2d,d2h -o c.csv
	ok "wrong bytes into a GPU are found, $offset: that cell is corrupt, and no other" eval \
		'status_is 2 && one_line "h2d.ce.pinned.pair host->0 corrupt: " &&
		 [ "$(cells c.csv | grep -vc " ok ")" = 1 ]'
	FAKE_CORRUPT=0-h:$offset run 0 --no-mpi "${fast[@]}" -m h2d,d2h -o c.csv
	ok "... into host memory as well" eval \
		'status_is 2 && one_line "d2h.ce.pinned.pair 0->host corrupt: " &&
		 [ "$(cells c.csv | grep -vc " ok ")" = 1 ]'
done
ok "... and that nothing was written is said" folded "never written"

# ---- memory that is not page-locked ----

pageable=(-s 1M --seed 1 -t 'h2d.ce.pageable.*,d2h.ce.pageable.*')
# Out of GPU i 15 x (1 + 0.01 i), into it 6.8 x that.
pageable_is_exact() { # FILE
	cells "$1" | awk '$1 ~ /ce.pageable/ {
		rate = $2 ~ /^gpu/ ? 15 * (1 + 0.01 * substr($2, 4)) : 6.8 * (1 + 0.01 * substr($3, 4))
		want = $6 / (2700 + $6 / rate); off = $7 / want - 1
		if (off > 2e-5 || off < -2e-5) { print $0, "and not", want; bad = 1 }
		n++
	}
	END { exit bad || !n }'
}
run 0 --no-mpi "${pageable[@]}" -o pg.csv
ok "pageable memory, alone and both ways: every cell is measured" eval \
	'status_is 0 && [ "$(cells pg.csv | grep -c " ok ")" -ge 12 ] && [ "$(cells pg.csv | grep -vc " ok ")" = 0 ]'
grep -v ',total,' pg.csv >pg.rates
ok "... each with the rate of its direction and GPU" pageable_is_exact pg.rates
run 0 --no-mpi --seed 1 -s 1M -t h2d.ce.pageable.bidi --cache any,cold -o both.json
ok_json "... both ways, the faster goes on until the other has ended: they overlap" both.json \
	'len(d["results"]) == 18 and all(r["overlap"] > 0.99 and "low-overlap" not in r["flags"] for r in d["results"])'
ok_json "... and have together what each has" both.json \
	'all(abs(t["value"] - sum(r["value"] for r in d["results"] if r["metric"] == "rate" and r["step"] == t["step"])) < 1e-3 for t in d["results"] if t["metric"] == "total")'
run 3 "${pageable[@]}" -o pg3.csv
grep -v ',total,' pg3.csv >pg.rates
ok "... by a rank for each GPU too" eval 'status_is 0 && pageable_is_exact pg.rates'
run 0 --no-mpi --seed 1 -s 1M -m h2d --pattern pair --host-memory pageable -o pg.csv
ok "... asked for as a kind of memory" eval 'status_is 0 && all_ok pg.csv 3'
FAKE_CORRUPT=h-1:4096 run 0 --no-mpi "${pageable[@]}" -o c.csv
ok "... checked as all is" eval 'status_is 2 && one_line "h2d.ce.pageable.(pair|bidi) host->1.* corrupt: "'
run 0 --no-mpi --seed 1 -s 1M -t host.driver.pinned.pair -o drv.csv
ok "the driver copies from pageable to pinned memory between NUMA nodes" eval \
	'status_is 0 && [ "$(cells drv.csv | grep -c " ok ")" -ge 1 ] && [ "$(cells drv.csv | grep -vc " ok ")" = 0 ]'
FAKE_HANG=cuMemcpyAsync:30 run 0 --no-mpi "${pageable[@]}"
ok "a worker hangs in its call: the GPU is named, and the call" eval \
	'status_is 2 && says_once "no answer within [0-9.]* s while copying, in cuMemcpyAsync"'

# ---- who works, and in what caches ----

run 0 --no-mpi --seed 1 -s 1M -t host.cpu.copy.pair,h2d.ce.pageable.pair -o side.json
ok "pages that are not huge have no line" prints_not "pageable memory 0 %"
ok_json "what CPUs carry says on which, bound to which NUMA node, and where its pages lie" side.json \
	'all(r["workers"] == 1 and r["cpus"] and r["cpus_numa"] is not None and r["flush"] is None and (r["src_pages_numa"] == 0 or "placement-not-proven" in r["flags"]) for r in d["results"])'
ok_json "... and how much of pageable memory is in huge pages" side.json \
	'all(r["huge_percent"] is None or 0 <= r["huge_percent"] <= 100 for r in d["results"])'
ok "... in text too" folded "carried by 1 CPU worker on CPUs [0-9]"
run 0 --no-mpi --seed 1 -s 1M -t h2d.ce.registered.pair --cache cold -o cold.json
ok_json "cold: how it was flushed, and what proves it, else a flag" cold.json \
	'all(r["flush"] and r["copies"] == 1 and r["workers"] is None and (r["flush_cold_ns"] >= 1.5 * r["flush_warm_ns"]) == ("not-flushed" not in r["flags"]) for r in d["results"])'
ok "... in text too" folded "caches flushed by [a-z ]+: a load takes [0-9.]+ ns then, [0-9.]+ from the caches"
cp out live
run 0 show cold.json
ok "a file shows it" same live out

# ---- what does not fit ----

FAKE_MEMORY=4000000 run 0 --no-mpi --seed 1 --pattern pair -m h2d -s 64K:4M:x4 -v -o big.csv
ok "a size beyond the GPU's memory: those cells are skipped with the reason" eval \
	'status_is 0 && [ "$(cells big.csv | grep -c " skipped 4194304 ")" = 3 ] &&
	 [ "$(cells big.csv | grep -c " skipped ")" = 3 ] && folded "skipped: GPU [0-2].*: the buffers need .* of the GPU"'
ok "... and the smaller ones are measured" eval '[ "$(cells big.csv | grep -c " ok ")" = 9 ]'

printf '%s\n' step,test,src,dst,size a,peer.ce.write.pair,gpu0,gpu1,64M b,h2d.ce.pinned.pair,host,gpu2,64K >wants.csv
FAKE_MEMORY=4000000 run 0 --no-mpi --plan wants.csv -o big.csv
ok "GPUs on which nothing fits: their cells are skipped with the reason" eval \
	'status_is 0 && cells big.csv | grep -q " skipped 67108864 " && folded "skipped: GPU 0.*: the buffers need [0-9]+ MiB, .* are free: choose a smaller --size"'
ok "... that of another GPU is measured, and no peer was refused" eval \
	'prints "^3 x H200: 1 cell measured, by the steps below" && cells big.csv | grep -q " ok 65536 " && prints_not "refused|no buffer|agent-failed"'

FAKE_MEMORY=40000000 run 0 --no-mpi --seed 1 --gpus 0 -s 1M -m local,cost -o local.csv
ok "kernels whose small copies cover more than the GPU's memory: skipped with the reason" eval \
	'status_is 0 && cells local.csv | grep -c " skipped " | grep -qx 5 && folded "skipped: GPU 0: the buffers need .* of the GPU"'
ok "... and all else is measured" eval 'cells local.csv | grep -q " ok " && ! cells local.csv | grep -qvE " (ok|skipped) "'

run 0 --backend cpu --gpus 2 -m host -s 1M
ok "an arena that needs no memory has none whose place is to be proven" eval \
	'prints "^ +1 .* none " && prints_not "not proven"'

# the third: two GPUs have their buffers, and one wants what displaces its cache
FAKE_FAIL=cuMemAlloc:3=2 run 0 --no-mpi --seed 1 --gpus 0,1 -s 1M -t h2d.ce.registered.pair --cache any,cold -o small.json
ok_json "no memory to displace a GPU's cache: that cell is skipped with the reason, the others are measured" small.json \
	'sorted((r.get("cache") or "any", r["status"]) for r in d["results"] if "control" not in r["flags"]) == [("any", "ok"), ("any", "ok"), ("cold", "ok"), ("cold", "skipped")] and [r["reason"].split("GPU")[0] for r in d["results"] if r["status"] == "skipped"] == ["its cache cannot be made cold: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2); the "]'

# ---- memory whose place nobody proves ----

"$FORBID" mbind true 2>/dev/null || skip="no filter of system calls can be set here"
filters=$skip
run_program 0 "$FORBID" mbind,move_pages,set_mempolicy,get_mempolicy "$CSCOPE" \
	--no-mpi "${fast[@]}" -m h2d --host-memory registered -o f.csv
skip=${filters:-$skip}
ok "memory may not be placed: it is measured, and its place proven another way or not at all" eval \
	'status_is 0 && all_ok f.csv 3 && host_is_exact f.csv && { folded "proven by (numa_maps|one NUMA node)" ||
	 [ "$(grep -c placement-not-proven f.csv)" -ge 3 ]; }'
finish
