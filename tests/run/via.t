#!/bin/bash
# The transports to a peer's buffer: each one forced, what it refuses, and CUDA IPC
# giving way to descriptors by itself.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
needs_launcher
fake 4
fast=(-s 1M --pattern pair --seed 1)

# That many cells are as this PATTERN of status and way.
count_is() { # FILE NUMBER PATTERN
	local n
	n=$(cells "$1" | grep -cE -- "$3")
	echo "$n cells are '$3'"
	[ "$n" = "$2" ]
}

# On standard output, wherever lines end.
folded() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# GB/s of one way through host memory, in chunks of at most 8 MiB that follow one
# another into GPU j: what the clock of the double must give.
ring_is_exact() { # FILE
	cells "$1" | awk '$1 ~ /^peer.staged/ && $4 == "staged" {
		chunk = $6 < 8388608 ? $6 : 8388608
		want = chunk / (2700 + chunk / (55.3 + 0.1 * substr($3, 4)))
		off = $7 / want - 1
		if (off > 2e-5 || off < -2e-5) { print $0, "and not", want; bad = 1 }
		n++
	}
	END { exit bad || !n }'
}

run 0 "${fast[@]}" -o want.csv
figures want.csv >want

# ---- direct, ipc, fd ----

run 0 "${fast[@]}" --via direct -o d0.csv
figures d0.csv >got
ok "--via direct, one process: as by itself" eval \
	'status_is 0 && ways_are d0.csv "direct " && same want got'
run 2 "${fast[@]}" --via direct -o d2.csv
ok "--via direct, two processes: only the pairs within one" eval \
	'status_is 0 && count_is d2.csv 4 " direct ok " && count_is d2.csv 8 " skipped "'
ok "… and what would measure the others" \
	folded "8 cells .* skipped: --via direct: the GPUs are in two"
run 4 "${fast[@]}" --via direct
ok "--via direct, a rank per GPU: status 3, and why in one line" eval \
	'status_is 3 && one_line "--via direct: the GPUs are in two processes: --placement thread, or one rank"'

run 2 "${fast[@]}" --via ipc -o i2.csv
ok "--via ipc, two processes: only the pairs between them" eval \
	'status_is 0 && count_is i2.csv 8 " CUDA-IPC ok " && count_is i2.csv 4 " skipped "'
ok "… and why not the others" \
	folded "4 cells .* skipped: --via ipc: CUDA IPC does not work"
run 0 "${fast[@]}" --via ipc
ok "--via ipc, one process: status 3, and why in one line" eval \
	'status_is 3 && one_line "--via ipc: CUDA IPC does not work within one process"'

for ranks in 0 2 4; do
	run $ranks "${fast[@]}" --via fd -o f.csv -o f.json
	figures f.csv >got
	ok "--via fd: all pairs by descriptor, with the same figures ($ranks ranks)" \
		eval 'status_is 0 && ways_are f.csv "descriptor " && same want got'
done
ok "… as the head line says" eval 'grep -q -- "--matrix peer --via fd  1 MiB" out'
ok_json "… and every pair, and the settings" f.json \
	'{p["via"] for p in d["nodes"][0]["peers"]} == {"descriptor"} and d["run"]["settings"]["via"] == "fd"'
ok_schema "… as the schema has it" f.json
FAKE_NO_VMM=1 run 2 "${fast[@]}" --via fd -o f.csv
ok "--via fd where there are no descriptors: status 3, and why" eval \
	'status_is 3 && one_line "no descriptor: the driver has no memory that a file descriptor hands over"'
FAKE_NO_PEER=0-3 run 2 "${fast[@]}" --via fd -o f.csv
ok "--via fd without peer access: that cell is skipped with the driver's words" \
	eval 'status_is 0 && count_is f.csv 1 "gpu0 gpu3 - skipped" &&
		folded "skipped: cuMemSetAccess: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"'

# ---- by itself where CUDA IPC is refused ----

for knob in FAKE_IPC_REFUSE=1 FAKE_NO_IPC=1; do
	export "${knob?}"
	run 2 "${fast[@]}" -o a.csv -o a.json
	unset "${knob%%=*}"
	figures a.csv >got
	ok "$knob: descriptors by themselves, and the same figures" eval \
		'status_is 0 && same want got &&
		 count_is a.csv 4 " direct ok " && count_is a.csv 8 " descriptor ok "'
	ok_json "… why not by CUDA IPC is in the file" a.json \
		'all("cuIpc" in p["reason"] for p in d["nodes"][0]["peers"] if p["via"] == "descriptor")'
done
export FAKE_FAIL=cuIpcOpenMemHandle:1 FAKE_FAIL_RANK=2
run 4 "${fast[@]}" -o a.csv
figures a.csv >got
ok "one way of twelve refused: by descriptor what goes to that buffer, no more" \
	eval 'status_is 0 && same want got && count_is a.csv 3 "gpu0 descriptor ok" &&
		count_is a.csv 9 " CUDA-IPC ok "'
export FAKE_FAIL=cuIpcOpenMemHandle:1,cuMemImportFromShareableHandle:1
run 4 "${fast[@]}" -o a.csv -o a.json
ok "… refused as well: that cell alone is skipped" eval \
	'status_is 0 && count_is a.csv 1 "gpu2 gpu0 - skipped" && count_is a.csv 11 " ok "'
ok_json "… with both refusals" a.json \
	'[("cuIpcOpenMemHandle" in r["reason"] and "by descriptor: cuMem" in r["reason"]) for r in d["results"] if r["status"] == "skipped"][0]'
unset FAKE_FAIL_RANK
# of every rank: its third opening, and then every import; a refused way more than
# before is worse than none gained
export FAKE_FAIL=cuIpcOpenMemHandle:3
for k in 1 2 3; do
	FAKE_FAIL=$FAKE_FAIL,cuMemImportFromShareableHandle:$k
done
run 4 "${fast[@]}" -o a.csv
unset FAKE_FAIL
figures a.csv >got
ok "if that turned out worse, all is as it was" eval \
	'status_is 0 && same want got && ways_are a.csv "CUDA-IPC "'
FAKE_CALLS=$PWD/calls run 4 "${fast[@]}"
ok "where CUDA IPC works nothing is made for descriptors" eval \
	'[ -s calls ] && ! grep -E "cuMemCreate|cuMemAddressReserve" calls'
rm calls
in_front instance 'export CUDA_VISIBLE_DEVICES=$rank'
FAKE_CALLS=$PWD/calls FAKE_MIG=2 run_program 2 ./instance "$CSCOPE" "${fast[@]}"
ok "… nor for instances of MIG, which no way joins" eval \
	'[ -s calls ] && folded "skipped: MIG instances" && ! grep cuMemCreate calls'
rm calls

# ---- cuMemcpyPeerAsync ----

run 0 "${fast[@]}" -t "peer.ce.write.pair,peer.peercopy.write.*" -o p.csv
grep peercopy <(figures p.csv) | sed 's/peercopy/ce/' >got
ok "cuMemcpyPeerAsync is a side beside the pointers, as fast on this clock" eval \
	'status_is 0 && all_ok p.csv 36 && grep pair got >some && same want some'
run 2 "${fast[@]}" -t peer.peercopy.write.pair -o p.csv
ok "… for pairs of one process; the others are skipped, and why" eval \
	'status_is 0 && count_is p.csv 4 " direct ok " && count_is p.csv 8 " skipped " &&
	 folded "8 cells .* skipped: cuMemcpyPeerAsync needs pointers of one process: --placement"'

run 0 "${fast[@]}" -t peer.peercopy.write.pair --via fd
ok "… none of them by descriptors" eval \
	'status_is 3 && one_line "needs pointers of one process: not with --via fd"'

# ---- staged ----

FAKE_CALLS=$PWD/calls run 0 -s 1M --seed 1 --via staged -o s0.csv -o s0.json
ok "--via staged, one process: by the driver" eval \
	'status_is 0 && all_ok s0.csv 24 && ways_are s0.csv "staged-by-driver "'
ok "… and peer access is never enabled" eval \
	'grep -q cuMemcpyPeerAsync calls && ! grep -q cuCtxEnablePeerAccess calls'
ok "… no share of a link is claimed" prints_not "of the live link"
rm calls
FAKE_STAGED_GBS=20 run 0 "${fast[@]}" --via staged -o slow.csv
ok "… at the rate of the driver" eval \
	'cells slow.csv | awk "{ bad += \$7 > 20 || \$7 < 18 } END { exit bad || NR != 12 }"'

FAKE_NVML_INIT=999 FAKE_MEMORY=2147483648 FAKE_STAGED_PIECE=264000 run 0 --gpus 0,1 -s 264M --seed 1 --samples 1 -t peer.staged.write.pair -o deep.csv
ok "… also what a stream does not hold behind a closed gate" eval \
	'status_is 0 && all_ok deep.csv 2 && ways_are deep.csv "staged-by-driver "'

FAKE_CALLS=$PWD/calls run 4 "${fast[@]}" --cell-limit 9s --via staged -o s4.csv -o s4.json
ok "--via staged, a rank per GPU: by both processes" eval \
	'status_is 0 && all_ok s4.csv 12 && ways_are s4.csv "staged "'
ok "… timed where the bytes arrive" ring_is_exact s4.csv
ok "… and nobody's memory is opened" eval \
	'! grep -E "cuCtxEnablePeerAccess|cuIpcOpenMemHandle|cuMemImport" calls'
ok_json "… every sample is checked" s4.json \
	'all(r["checked"] >= 6 for r in d["results"])'
ok_schema "… as the schema has it" s4.json
rm calls
run 2 "${fast[@]}" --via staged -o s2.csv
ok "--via staged, two ranks for four GPUs: each pair in its way" eval \
	'status_is 0 && count_is s2.csv 8 " staged ok " &&
	 count_is s2.csv 4 " staged-by-driver ok "'
fake 2
memory 64000000
run 2 -s 20M --seed 1 --via staged -o big.csv
ok "a copy of many chunks, the last one short, both ways at once" eval \
	'status_is 0 && all_ok big.csv 4'
FAKE_NO_MEMOPS=1 run 2 -s 20M --seed 1 --pattern bidi --via staged -o k.csv
ok "without stream memory operations kernels keep the chunks in step" eval \
	'status_is 0 && all_ok k.csv 2 && ways_are k.csv "staged "'

for offset in 4096 -1; do
	FAKE_CORRUPT=h-1:$offset run 2 "${fast[@]}" --via staged -o c.csv
	ok "a ring that brings wrong bytes, $offset: that cell is corrupt" eval \
		'status_is 2 && one_line "0->1.* corrupt: " && count_is c.csv 1 "gpu0 gpu1 .* corrupt " &&
		 count_is c.csv 1 "gpu1 gpu0 staged ok "'
done

# one of two, whose part of a sample fails: the other is not held; setting up launches
# each kernel once, and some 502 times more
launches=$((503 + $(grep -cE '^[A-Z_]*KERNEL.*cs_k_' "$TESTDATA/../kernels/kernels.cu")))
for rule in cuMemcpyAsync:6 cuStreamWriteValue32:20 cuStreamWaitValue32:24 \
	cuEventRecord:9 cuLaunchKernel:$launches; do
	echo "# $rule"
	FAKE_FAIL=$rule FAKE_FAIL_RANK=1 run 2 -s 28M --seed 1 --via staged -o e.csv
	ok "a call of one side fails: that cell fails, soon, and the rest is measured" \
		eval 'status_is 2 && says_once "${rule%:*}: CUDA_ERROR_UNKNOWN" &&
			[ "$(cells e.csv | grep -c " failed ")" -le 2 ] &&
			[ "$(cells e.csv | grep -c " ok ")" -ge 2 ]'
done
FAKE_HANG=cuMemcpyAsync:40 FAKE_FAIL_RANK=1 run 2 -s 1M --seed 1 --via staged
ok "one side hangs: it alone is given up, in time" eval \
	'job_status_is 2 && says_once "GPU 1 \(rank 1\): no answer within [0-9.]* s while arming, in cuMemcpyAsync"'
memory 12000000

# ---- staged beside the rest: peer access is taken back ----

fake 4
cells s0.csv | cut -d" " -f1-5,7 >staged0
cells s4.csv | cut -d" " -f1-5,7 >staged4
for ranks in 0 2 4; do
	rm -f calls
	FAKE_CALLS=$PWD/calls run $ranks "${fast[@]}" -t peer.ce.write.pair,peer.staged.write.pair,peer.sm.read.pair \
		--spread 1 -o b.csv -o b.json
	figures b.csv | grep "^peer.ce" >got
	ok "staged copies in one run with others, $ranks ranks: these are as ever" eval \
		'status_is 0 && same want got && all_ok b.csv 36'
	[ $ranks = 2 ] ||
		ok "... and what is staged is as in a run of its own" eval \
			'cells b.csv | grep "^peer.staged" | cut -d" " -f1-5,7 >got && grep write.pair staged$ranks >alone && same alone got'
	ok_json "... behind all others, which are in no order" b.json \
		'(lambda r: [x["test"] == "peer.staged.write.pair" for x in r] == [False] * (len(r) - 12) + [True] * 12)(sorted((x for x in d["results"]), key=lambda x: x["t_start_s"]))'
	ok_json "... the facts keep the usual ways" b.json \
		'not {p["via"] for p in d["nodes"][0]["peers"]} & {"staged", "staged by driver"} and len(d["nodes"][0]["peers"]) == 12'
	ok_schema "... as the schema has it" b.json
done
ok "within a process peer access is taken back, once for each pair" eval \
	'FAKE_CALLS=$PWD/one run 0 "${fast[@]}" -t peer.ce.write.pair,peer.staged.write.pair &&
	 [ "$(grep -c "cuCtxDisablePeerAccess" one)" -ge 12 ]'
cat >mixed.csv <<-'END'
	#cscope-mpi plan 1
	step,test,src,dst,size,role
	a,peer.ce.write.pair,gpu0,gpu1,1M,
	b,peer.staged.write.pair,gpu0,gpu1,1M,
	c,peer.ce.write.pair,gpu1,gpu2,1M,
	d,peer.staged.write.pair,gpu1,gpu0,1M,
	e,peer.peercopy.write.pair,gpu0,gpu1,1M,
END
run 0 --seed 1 --plan mixed.csv -o m.csv
ok "in steps of a file peer access goes and comes as these need it" eval \
	'status_is 0 && count_is m.csv 3 " direct ok 1048576 196" && count_is m.csv 2 " staged-by-driver ok 1048576 34"'
FAKE_FAIL=cuCtxDisablePeerAccess:20 run 0 "${fast[@]}" -t peer.ce.write.pair,peer.staged.write.pair -o e.csv
ok "where it cannot be taken back, that way is refused, and the rest is measured" eval \
	'status_is 0 && count_is e.csv 12 "^peer.ce.* ok " && count_is e.csv 11 "^peer.staged.* ok " &&
	 folded "skipped: cuCtxDisablePeerAccess: CUDA_ERROR_UNKNOWN"'
for knob in FAKE_NO_IPC=1 FAKE_IPC_REFUSE=1; do
	export "${knob?}"
	run 2 "${fast[@]}" -t peer.ce.write.pair,peer.staged.write.pair,peer.peercopy.write.pair -o b.csv
	unset "${knob%%=*}"
	figures b.csv | grep "^peer.ce" >got
	ok "$knob: buffers made for descriptors are given up for it" eval \
		'status_is 0 && same want got && count_is b.csv 8 "^peer.staged.* staged ok " && count_is b.csv 4 "^peer.staged.* staged-by-driver ok .* 34"'
done
FAKE_NOISE=0.001 run 2 "${fast[@]}" -t peer.ce.write.pair,peer.staged.write.pair --placement process,thread -o p.csv
ok "placements that take turns: each stages in its own way" eval \
	'status_is 0 && count_is p.csv 96 "^peer.staged.* staged-by-driver ok " && count_is p.csv 96 "^peer.staged.* staged ok " &&
	 count_is p.csv 96 "^peer.ce.* direct ok " && count_is p.csv 96 "^peer.ce.* CUDA-IPC ok "'

# ---- by NUMA node of what they are staged through ----

cat >rings.csv <<-'END'
	step,test,src,dst,size,cpu_numa
	a,peer.staged.write.pair,gpu0,gpu1,20M,
	b,peer.staged.write.pair,gpu0,gpu1,20M,0
	c,peer.staged.write.pair,gpu2,gpu1,1M,0
	d,peer.staged.write.pair,gpu1,gpu0,20M,0
END
memory 0
run 4 -s 1M --seed 1 --cell-limit 9s --plan rings.csv -o n.json -o n.csv
ok_json "a ring on each NUMA node that is named, proven, every byte checked" n.json \
	'[(r["status"], r["via"], r["cpu_numa"], r["ring_pages_numa"], r["workers"], r["checked"] == r["checked_whole"] > 5) for r in sorted(d["results"], key=lambda r: r["step"]) if r["metric"] == "rate"] == [("ok", "staged", n, 0, None, True) for n in (None, 0, 0, 0)] or {f for r in d["results"] for f in r["flags"]} >= {"placement-not-proven"}'
ok_schema "... as the schema has it" n.json
memory 12000000
run 0 "${fast[@]}" -t peer.staged.write.pair --cpu-numa 0 -o n.json
ok_json "in one process a CPU of the node makes the driver's call" n.json \
	'all((r["status"], r["via"], r["cpu_numa"], r["ring_pages_numa"], r["workers"], r["cpus_numa"]) == ("ok", "staged by driver", 0, None, 1, 0) and r["cpus"] for r in d["results"])'
run 4 "${fast[@]}" -t peer.staged.write.pair --cpu-numa 0
ok "... the report says where a ring lies" folded \
	"staged through memory of NUMA node 0, proven by (move_pages|numa_maps)|is not proven for"
run 2 "${fast[@]}" -t peer.staged.write.pair --cpu-numa 0,63 -o n.csv
ok "a NUMA node that is not there is skipped with the reason" eval \
	'status_is 0 && [ "$(cells n.csv | grep -c " ok ")" = 12 ] && [ "$(cells n.csv | grep -c " skipped ")" = 12 ] &&
	 folded "NUMA node 63 has no memory that this process may use"'

# ---- a rank dies in the middle of it ----

for victim in 0 1; do
	echo "# rank $victim"
	export FAKE_NOISE=0.05
	rm -f k.jsonl
	begin 2 -s 16M --via staged --precision 0.001% --cell-limit 3s -o k.jsonl
	until_true 20 measuring k.jsonl 1 || echo "# did not start"
	kill -KILL "$(rank $victim)"
	end_within 10
	unset FAKE_NOISE
	ok "a rank of a staged pair is killed: over within 10 s" was_in_time
	ok "… and no process is left" none_left
done

# ---- what is asked for ----

ok_refused "a transport that is none: status 64, what is allowed" "--via .pidgeon.: allowed are auto, direct, ipc, fd, staged" -s 1M --via pidgeon
ok_refused "--via is of GPUs: not with the cpu backend" "--via and --backend cpu exclude each other" --via ipc --backend cpu
run 0 -t peer.staged.write.pair --via ipc
ok "staged tests go by no way that is asked for" eval \
	'status_is 64 && one_line "peer.staged.write.pair. is not measured with .--via ipc."'
ok_refused "… and others cannot be measured with it" "peer.ce.write.pair. is not measured with .--via staged." -t peer.ce.write.pair --via staged
ok_refused "who issues what both issue cannot be asked" "--via staged and --op read exclude each other" --op read --via staged
run 2 "${fast[@]}" --via fd -o r.jsonl
sed -i '/"kind":"verdict"/d; $d' r.jsonl
run 2 "${fast[@]}" --resume r.jsonl
ok "a journal of another transport is not gone on with" eval \
	'status_is 3 && one_line "another plan: via is"'
run 2 "${fast[@]}" --via fd --resume r.jsonl
ok "… but of the same" eval 'status_is 0'
finish
