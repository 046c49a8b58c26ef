#!/bin/bash
# Machines with one GPU, alone and as nodes of a job with others: what there is is
# measured, and what there is not is said.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 1
small=(-s 64K --spread 64K --cell-limit 60s --seed 5)

# Rates and latencies: the file as "TEST SRC DST", or with figures.
all_of() { # FILE
	{ cells "$1" && cells "$1" time; } | sort
}
ends() { # FILE
	all_of "$1" | cut -d' ' -f1-3
}
alike() { # FILE FILE: the same cells with the same figures
	all_of "$1" >left
	all_of "$2" >right
	same left right
}
has() { # FILE CELLS: that many, and each was measured
	all_of "$1" | awk -v want="$2" '$5 != "ok" { bad = 1; print }
		END { print NR, "cells"; exit bad || NR != want }'
}

first_line() { # PATTERN
	head -n 1 out | grep -qE -- "$1"
}

# ---- one GPU ----

cat >lone <<-'END'
	d2h.ce.pinned.pair gpu0 numa0
	h2d.ce.pinned.bidi gpu0 numa0
	h2d.ce.pinned.bidi numa0 gpu0
	h2d.ce.pinned.pair numa0 gpu0
	h2d.chase.stride.pair numa0 gpu0
	local.ce.copy.alone gpu0 gpu0
	local.chase.random.alone gpu0 gpu0
	local.sm.read.alone gpu0 gpu0
	local.sm.write.alone gpu0 gpu0
END
run 0 -m peer "${small[@]}" -o one.csv -o one.json -o one.jsonl
cp out one.out
ok "--matrix peer of one GPU: status 0, and its first line says that there is nothing between GPUs" \
	eval 'status_is 0 && is_empty err && first_line "^ONE GPU: 1 x H200: [0-9.]+ GB/s host to GPU" && prints "nothing between GPUs to measure"'
ok "… host to GPU and back, its own memory, latency" eval \
	'has one.csv 9 && ends one.csv >got && same lone got'
ok "… no matrix of pairs is printed, and they are said to be left out" eval \
	'prints_not "^peer" && prints "left out +peer.ce.write.pair and 1 more are left out: they measure between two GPUs"'
ok "… a matrix of one cell has no spread" prints_not 'spread'
ok_json "… what was measured in place of pairs is named" one.json \
	'd["run"]["tests"] == [] and len(d["run"]["one_gpu_tests"]) == 8 and [c["id"] for c in d["checks"] + d["errors"]] == ["one-gpu"]'
ok_schema "… document and journal follow the schema" one.json one.jsonl
shown() { # FILE
	env -i CS_LIBCUDA=/nowhere "$CSCOPE" show "$1" >seen 2>err && same one.out seen
}
ok "show gives the bytes of the run" eval 'shown one.json && shown one.jsonl'
ok "show --topology, and of a cell, is as of any run" eval \
	'for how in --topology "--cell 0,0"; do
		run 0 show one.json $how; status_is 0 && first_line "^VIRTUAL" || exit 1
	done; [ "$(grep -c "^  GPU 0 " out)" = 4 ]'
run 1 -m peer "${small[@]}" -o rank.csv
ok "one rank under a launcher measures the same" eval \
	'status_is 0 && first_line "^ONE GPU" && alike one.csv rank.csv'
run 0 -m d2d --op both --pattern ring --method sm "${small[@]}" -o axes.csv
ok "… whatever shape a matrix was to have" eval \
	'status_is 0 && ends axes.csv >got && same lone got'
run 0 -m peer,local --method chase "${small[@]}" -o chase.csv
ok "where a GPU alone has something of what was asked, that is measured" eval \
	'status_is 0 && first_line "^ONE GPU" &&
	 [ "$(ends chase.csv | cut -d" " -f1 | tr "\n" " ")" = "local.chase.random.alone local.chase.stride.alone " ]'
grep -vE '"test":"(local|d2h)|"kind":"verdict"' one.jsonl >cut.jsonl
run 0 -m peer "${small[@]}" --resume cut.jsonl -o whole.csv
ok "--resume goes on with it" eval 'status_is 0 && has whole.csv 9'
run 0 -m peer -s 4K:64K:x4 --spread 64K --cell-limit 60s --seed 5 -o sweep.csv
ok "a sweep has curves of it" eval \
	'status_is 0 && [ "$(grep -c "^ *64 KiB  *1/1 " out)" = 8 ] && has sweep.csv 25'

run 0 "${small[@]}" -o quick.csv
ok "nothing asked for: from and to the host, and the GPU's own memory" eval \
	'status_is 0 && first_line "^ONE GPU" && all_ok quick.csv 3 &&
	 cells quick.csv | grep -q "^local.ce.copy.alone gpu0 gpu0"'
memory 0
FAKE_PAGEABLE=1 run 0 --suite all -s 256K --spread 256K --seed 5 -f result
memory 12000000
ok "--suite all: every test that one GPU has, each with its cell" eval \
	'status_is 0 && [ "$(grep -c "^result " out)" -gt 40 ] && prints_not " 0/" &&
	 prints_not "^result (peer|local.driver)"'
run 0 --suite all -s 64K --dry-run --gpus 1
ok "… as --dry-run says" eval 'status_is 0 && prints_not "^test +(peer|local.driver)" &&
	 prints "the plan for 1 agent on each node"'
run 0 -m peer --dry-run --gpus 1
ok "--dry-run of --matrix peer for one GPU" eval \
	'status_is 0 && [ "$(grep -c "^test " out)" = 8 ] && prints "^plan +10 steps"'

run 0 "${small[@]}" -t peer.ce.write.pair
ok "a test by its name that cannot be: status 3, in one line" eval \
	'status_is 3 && is_empty out && one_line "peer.ce.write.pair: needs two GPUs, and there is 1"'
run 0 "${small[@]}" -t 'peer.*'
ok "… several" eval 'status_is 3 && one_line "peer.ce.write.pair and [0-9]+ more: need two GPUs"'
run 0 "${small[@]}" --via ipc
ok "… a way between GPUs" eval 'status_is 3 && one_line "need two GPUs"'
run 0 "${small[@]}" --placement process,thread
ok "… placements to compare" eval 'status_is 3 && one_line "all are the same on nodes with 1 GPU"'
run 0 "${small[@]}" -t peer.ce.write.pair,h2d.ce.pinned.pair
ok "beside others it is left out, which is said" eval \
	'status_is 0 && first_line "^VIRTUAL" && prints "left out +peer.ce.write.pair is left out"'
names=device_to_device_memcpy_write_ce,host_to_device_memcpy_ce
run 0 "${small[@]}" -t $names -f nvbandwidth
ok "nvbandwidth's names: waived, with the reason" eval \
	'status_is 0 && prints "^Waived: device_to_device_memcpy_write_ce: it needs two GPUs$" &&
	 prints "^Running host_to_device_memcpy_ce.$"'
run 0 "${small[@]}" -t $names -f nvbandwidth-json
cp out names.json
ok_json "… in JSON too" names.json \
	'[(t["name"], t["status"]) for t in d["nvbandwidth"]["testcases"]] == [("device_to_device_memcpy_write_ce", "Waived"), ("host_to_device_memcpy_ce", "Passed")]'

# ---- a GPU that is there, and not for us ----

bus 1
CUDA_VISIBLE_DEVICES='' run 0 -m peer
ok "a mask hides the only GPU: status 3, host memory does not stand in" eval \
	'status_is 3 && is_empty out && one_line "no usable GPU on .*CUDA_VISIBLE_DEVICES"'
FAKE_GPUS=0 run 0
ok "a card, and a driver that shows no device: status 3" eval \
	'status_is 3 && is_empty out && one_line "no usable GPU on .*PCI device 0000:1b:00.0"'
no_gpu
fake 1

# ---- judged ----

run 0 -m peer "${small[@]}" --check -f reason
ok "--check: healthy" eval 'status_is 0 && prints "^cscope-mpi ok: 9 of 9 cells measured$"'
run 0 baseline one.json -o base.json -q
run 0 -m peer "${small[@]}" --baseline base.json -f reason
ok "a baseline of such runs holds" eval 'status_is 0 && prints " ok: 9 of 9 cells"'
FAKE_SLOW=0-0:0.7 run 0 -m peer "${small[@]}" --baseline base.json -f reason
ok "… and finds a GPU whose memory is slow" eval \
	'status_is 2 && prints "critical: .*local.sm.read.alone.* below"'
run 0 compare one.json one.jsonl
ok "compare finds the same" status_is 0

# ---- with nodes of other sizes ----

fake 4
run 0 -m peer "${small[@]}" -q -o four.csv -o four.jsonl
on mixed 1 4 1 4 1
run_program 4 ./mixed "$CSCOPE" -m peer "${small[@]}" -o m.csv -o m.json -o m.jsonl
cp out one.out
ok "one GPU beside four: status 0, each node measures what it would by itself" eval \
	'status_is 0 && has m.csv 66'
of_node() { # INDEX
	awk -F'"' -v OFS= '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i)
			     $1 = $1; print }' m.csv | awk -F, -v n="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
		$at["node_index"] == n' >part.csv
}
ok "… those with four pairs alone" eval \
	'of_node 0 && alike four.csv part.csv && of_node 2 && alike four.csv part.csv'
ok "… those with one what a GPU has" eval \
	'of_node 1 && alike one.csv part.csv && of_node 3 && alike one.csv part.csv'
ok "… no first line about one GPU, and the matrices are of the nodes that have them" eval \
	'first_line "^VIRTUAL" && [ "$(grep -c "each cell the median of 2 nodes" out)" = 11 ]'
ok "… nothing is missed: cells, lines and waivers" eval \
	'[ "$skip" ] || { run 0 show m.json -f result && prints_not " 0/" &&
	 [ "$(grep -c "^result " out)" = 22 ] && run 0 show m.json -f nvbandwidth &&
	 prints_not "^Waived: (host|device_local)"; }'
ok_json "… planned and measured agree" m.json \
	'd["run"]["cells_measured"] == d["run"]["cells_planned"] == 66 and d["run"]["n_agents"] == 4'
ok_schema "… document and journal follow the schema" m.json m.jsonl
ok "show gives the bytes of the run of mixed nodes" eval 'shown m.json && shown m.jsonl'
grep -vE '"test":"local|"kind":"verdict"' m.jsonl >cut.jsonl
run_program 4 ./mixed "$CSCOPE" -m peer "${small[@]}" --resume cut.jsonl -o again.csv
ok "--resume measures what is missing" eval 'status_is 0 && has again.csv 66'
run_program 4 ./mixed "$CSCOPE" "${small[@]}" -o q.csv
ok "--suite quick: from and to the host, and memory, of all nodes" eval \
	'status_is 0 && all_ok q.csv 54'
run_program 4 ./mixed "$CSCOPE" "${small[@]}" -t peer.ce.write.pair -o t.csv
ok "a test by its name is of those that have it" eval 'status_is 0 && all_ok t.csv 24'
run_program 4 ./mixed "$CSCOPE" -m peer "${small[@]}" --gpus 0-3
ok "--gpus that a node has not: status 3, it is named" eval \
	'status_is 3 && one_line "on .*: there is no GPU 3: GPUs here: 1"'
run_program 4 ./mixed "$CSCOPE" -m peer "${small[@]}" --gpus 0 -o g.csv
ok "--gpus 0: of each node one, as of machines with one" eval \
	'status_is 0 && has g.csv 36 && first_line "^ONE GPU"'
run_program 4 ./mixed "$CSCOPE" "${small[@]}" --placement process,thread -o p.json
ok_json "placements are compared beside nodes on which they are the same" p.json \
	'all(r["status"] == "ok" for r in d["results"]) and {(r["node_index"], r["placement"]) for r in d["results"]} == {(i, ("process", "thread")[i % 2]) for i in range(8)}'
on lonely 1 1 1
run_program 2 ./lonely "$CSCOPE" "${small[@]}" --placement process,thread
ok "… but not where all nodes are such: status 3" eval \
	'status_is 3 && one_line "all are the same on nodes with 1 GPU"'
run_program 4 ./mixed "$CSCOPE" -m peer "${small[@]}" --check -o c.json
ok "--check reports no node for having one" status_is 0
ok_json "… they are a class by themselves" c.json \
	'not [c for c in d["checks"] if c["severity"] != "note" or c["drain"] or c["id"] in ("wiring-differs", "class-of-one", "no-majority")]'

# files of independent nodes
named() { # NAME FILE
	sed "s/\"host\":\"[^\"]*\"/\"host\":\"$1\"/; s/\"node\":\"[^\"]*\"/\"node\":\"$1\"/" "$2" >"$1.jsonl"
}
for n in 1 2 3; do
	named n$n four.jsonl
	named w$n one.jsonl
done
run 0 check n?.jsonl w?.jsonl -o f.json
ok "check of files of both: nothing is reported, no plan is missed" eval \
	'status_is 0 && prints_not "same tests and sizes|^ONE" && prints "6 nodes, all measured"'
ok_json "… by class" f.json \
	'not [c for c in d["checks"] if c["severity"] != "note" or c["id"] == "wiring-differs"]'
finish
