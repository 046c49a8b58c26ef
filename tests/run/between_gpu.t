#!/bin/bash
# The memory of a GPU of one node to that of another: the driver's double, two or three nodes
# of this machine.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
needs_launcher
fake 1
memory 0

# $bad is set on node 1 alone; $aware is how the MPI takes GPU memory (tests/fake/aware.c)
in_front each 'export CS_TEST_SCOPE=node$((rank / ${EACH:-1}))' \
	'[ -z "$aware" ] || export LD_PRELOAD=$FAKE/libmpi-aware.so AWARE=$aware ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:handle_segv=0' \
	'[ "$CS_TEST_SCOPE" != node1 ] || [ -z "$bad" ] || export "$bad"'

# With this seed the nodes other than node 1 are met first.
nodes() { # NAME RANKS BAD ARGUMENT...
	local name=$1 ranks=$2 run=run_in_slots
	[[ $3 != *HANG* && $3 != *FAIL* && $3 != *LATE* ]] || run=run_program # it may keep a slot from its end
	export bad=$3
	shift 3
	$run "$ranks" "$work/each" "$CSCOPE" --seed "${seed:-5}" -o "$name.json" "$@"
	unset bad
}

# "SRC DST STATUS REASON" of each result
results() { # FILE
	"${PYTHON:-python3}" -S - "$1" <<'END'
import json, sys
for r in json.load(open(sys.argv[1], encoding="ascii"))["results"]:
    print(r["src"], r["dst"], r["status"], r["reason"] or "")
END
}

# What waits for a deadline
hang() {
	export aware=hang
	nodes hangs 2 '' -t net.mpi.device.pair
	unset aware
}
aside hanging hang

# A node stops while a message of it is on its way into a GPU's memory, until its slot and
# the phase are over.
late() {
	export aware=works
	nodes late 2 AWARE_HANG=2 -t net.mpi.device.pair
	unset aware
}
aside late late
# The same, on its way through host memory: its partner has sent and waits for it.
later() {
	export aware=works
	nodes later 2 AWARE_HANG_HOST=2 -t net.mpi.staged.pair,net.mpi.device.pair
	unset aware
}
aside later later
# A message that cannot be cancelled, while others are still to come.  Four times at most: on
# a busy machine nodes may be late for a slot, too.
kept() {
	local try
	export aware=works AWARE_KEEPS=1 seed=1
	for try in 1 2 3 4; do
		nodes kept 3 AWARE_LATE=2 -t net.mpi.device.pair,net.mpi.staged.pair
		! results kept.json | is_left || break
	done
	unset aware AWARE_KEEPS seed
}
is_left() { # of `results`: both kinds of node 0 for the node that it meets later
	grep -c "^node0 node2 skipped a message of an earlier time slot may still use the GPU.s memory" | grep -qx 2
}
aside kept kept

nodes two 2 '' -t 'nethost.mpi.*.pair,nethost.mpi.*.bidi,net.mpi.staged.pair,net.mpi.staged.bidi'
ok "two nodes: status 0" status_is 0
ok_json "… GPU memory goes each way, one way and both ways, through host memory" two.json \
	'sorted((r["test"], r["src"], r["dst"], r["status"], r["via"], r["memory"]) for r in d["results"] if r["path"] == "net") == [("net.mpi.staged." + t, "node%d" % n, "node%d" % (1 - n), "ok", "staged", "device") for t in ("bidi", "pair") for n in (0, 1)]'
ok_json "… every sample and every byte of it compared, by the receiving GPU" two.json \
	'all(r["checked"] == r["checked_whole"] and r["checked"] - r["n"] - r["discarded"] in (0, 1) and "not-verified" not in r["flags"] for r in d["results"])'
ok_json "… a window is whole chunks of 2 MiB" two.json \
	'{r["copy_bytes"] for r in d["results"] if r["path"] == "net"} == {2 << 20}'
ok "… the text names the memory, and what a message costs is of host memory" eval \
	'prints "^Between nodes, host memory and the first GPU.s: node0 " && prints "staged both ways [0-9.]+ GB/s" && prints "a message between nodes: alpha"'
cp out live
run 0 show two.json
ok "show prints the bytes of the run" same live out
ok_schema "the document follows the schema" two.json

nodes patterns 3 '' -t net.mpi.staged.shift,net.mpi.staged.bisect
ok_json "three nodes: a GPU sends to one node and receives from another, and half to half" patterns.json \
	'sorted((r["test"][15:], r["src"][4:] + r["dst"][4:], r["status"]) for r in d["results"] if r["checked"] - r["n"] - r["discarded"] in (0, 1)) == [("bisect", w, "ok") for w in ("01", "10")] + [("shift", a + b, "ok") for a in "012" for b in "012" if a != b]'

export FAKE_GPUS=2 EACH=2
nodes processes 4 '' -t net.mpi.staged.rails
ok_json "rails, two processes a node, a GPU each: GPU i sends to GPU i, which has its bytes and no other's" processes.json \
	'sorted((r["rail"], r["src"], r["status"], r["checked"] == r["n"] + r["discarded"]) for r in d["results"]) == [(rail, node, "ok", True) for rail in (0, 1) for node in ("node0", "node1")]'
ok "… a node a row, a rail a column" prints "^ +node1 +[0-9.]+ +[0-9.]+$"
export EACH=1
nodes fewer 2 FAKE_GPUS=1 -t net.mpi.staged.rails
ok "a node with fewer GPUs: their rails are skipped with the reason, the others measured" eval \
	'status_is 0 && results fewer.json | grep -cE "^node[01] node[01] ok" | grep -qx 2 && results fewer.json | grep -qE "^node1 node0 skipped this node has no GPU 1" && results fewer.json | grep -qE "^node0 node1 skipped node1 .* takes no part"'
export FAKE_GPUS=1

nodes corrupt 2 FAKE_CORRUPT=0-h:4096 -t net.mpi.staged.pair
ok "a bit that the sender's GPU loses is found by the receiver's, and is the sender's" eval \
	'job_status_is 2 && results corrupt.json | grep -qE "^node1 node0 corrupt .*the first at 4096" && results corrupt.json | grep -q "^node0 node1 ok"'
run 0 check corrupt.json
ok "… which drains neither node" eval 'status_is 2 && prints "^drain: none"'

# others' cells are there, and node 1's have the reason
costs_its_own() { # FILE STATUS REASON
	results "$1" | grep -cE '^node[02] node[02] ok' | grep -qx 2 &&
		results "$1" | grep -qE "^node1 node[02] $2 .*$3" &&
		! results "$1" | grep -E '^node1 .* ok|^node[02] node1 ok'
}
nodes full 3 FAKE_MEMORY=3000000 -t net.mpi.staged.pair
ok "a GPU without room: its node's cells are skipped with the reason, status 0" eval \
	'status_is 0 && costs_its_own full.json skipped "GPU 0 .*the buffers need"'
ok "… and the other nodes do not wait for it, but say where the reason is" eval \
	'results full.json | grep -qE "^node[02] node1 skipped node1 .* takes no part: its own result has the reason"'

nodes hung 3 FAKE_HANG=cuMemcpyAsync:4 -t net.mpi.staged.pair
ok "a driver that hangs costs its own node's cells, and the call is named" eval \
	'job_status_is 2 && costs_its_own hung.json failed "GPU 0 does not answer, in cuMemcpyAsync"'
ok_json "… it is found as broken" hung.json \
	'"agent-broken" in [e["id"] for e in d["errors"]]'

nodes failed 2 FAKE_FAIL=cuMemcpyAsync:4 -t net.mpi.staged.pair
ok "a copy that fails is the reason of its cell" eval \
	'job_status_is 2 && results failed.json | grep -qE "^node1 node0 failed .*cuMemcpyAsync"'

nodes none 2 FAKE_FAIL=cuDevicePrimaryCtxRetain:1 -t net.mpi.staged.pair
ok "one GPU that works: nothing is measured, its cells are skipped" eval \
	'results none.json | grep -qE "^node0 node1 skipped no other node has a GPU that works"'

export aware=works FAKE_GPUS=2
nodes device 2 '' -t 'net.mpi.device.*,net.mpi.rdma.*'
ok_json "an MPI that takes GPU memory, whatever it says: MPI gets both kinds of buffers, and every byte is compared" device.json \
	'sorted((r["test"], r["src"], r["status"], r["via"], r["checked"] - r["n"] - r["discarded"] in (0, 1)) for r in d["results"]) == [("net.mpi." + t, "node%d" % n, "ok", "MPI", True) for t in ("device.bidi", "device.bisect", "device.pair", "device.rails", "device.shift", "rdma.bidi", "rdma.pair") for n in (0, 1) for rail in ((0, 1) if "rails" in t else (0,))]'
export FAKE_GPUS=1

unset aware
nodes crash 2 '' -m net
ok "one that dies of it: these cells are skipped with the reason, status 0" eval \
	'status_is 0 && results crash.json | grep -c "skipped the MPI does not take GPU memory (a trial \(died of signal\|ended with status\) [0-9]*; .*); use net.mpi.staged" | grep -qx 8'
ok_json "… staged ones are measured" crash.json \
	'[r["status"] for r in d["results"] if "staged" in r["test"]] == ["ok"] * 4'
# UCX warns of messages that nobody took when an MPI ends
ok "… nothing of its death is printed" eval "! grep -v ' UCX  WARN ' err"
export aware=wrong
nodes wrong 2 '' -t net.mpi.device.pair
ok "one that sends other bytes is not used" eval \
	'results wrong.json | grep -c "skipped .*a message to itself had wrong bytes" | grep -qx 2'
unset aware
FAKE_GPUS=2 run_in_slots 2 taskset -c 0 "$work/each" "$CSCOPE" -t nethost.mpi.pinned.pair --check -o one.json
[ "$(nproc)" -gt 1 ] || skip="one CPU only"
ok_json "a CPU a node is enough for messages between nodes: no warning of it" one.json \
	'[c["severity"] for c in d["checks"] if c["id"] == "launcher-one-core"] == ["note"] * 2'
skip=''
back late
ok "a message that comes after all is over finds the memory that it was sent to" eval \
	'job_status_is 2 && results late.json | grep -qE "^node1 node0 (timeout|failed|skipped) "'
back later
ok "a node that stops in a time slot is not taken for a fault of its partner's GPU" eval \
	'job_status_is 2 && results later.json | grep -q "^node1 node0 timeout " && ! results later.json | grep "GPU 0 does not answer"'
run 0 check later.json
ok "… and neither is drained for what happened between two" eval \
	'status_is 2 && prints "^drain: none"'
back kept
ok "memory that MPI may still write to is not used again, in whichever way" eval \
	'results kept.json | is_left'
back hanging
ok "one that never returns is not used, nor waited for" eval \
	'results hangs.json | grep -c "skipped .*a trial did not return within" | grep -qx 2'

run 0 -m net
ok "one node: one line says why nothing is measured, status 3" eval \
	'status_is 3 && one_line "net measures between nodes, and there is only one" && is_empty out'
finish
