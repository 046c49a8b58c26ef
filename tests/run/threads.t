#!/bin/bash
# What has threads, built with ThreadSanitizer, and the driver's double too: it must report
# no race, also while an agent does not answer.  `make check-threads` builds and runs it.
# Reports go to files, so that they change no status; without a launcher, for Open MPI has
# races of its own.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
grep -q __tsan_init "$CS_PROGRAM" ||
	skip_all "built without ThreadSanitizer (make check-threads)"
fake 3
# as where a scheduler granted them: nothing may stand in for them
export SLURM_STEP_GPUS=0,1,2
quick=(-s 64K --spread 1 --cell-limit 10ms --precision 20%)

watched() { # ARGUMENT...
	local TSAN_OPTIONS="log_path=$PWD/watched exitcode=0 verbosity=1 report_thread_leaks=${leaks:-1}"
	export TSAN_OPTIONS
	run 0 "$@"
}

# What waits for a call that hangs leaves its other threads behind.
hung() { # VARIABLE=RULE ARGUMENT...
	local rule=$1 leaks=0
	shift
	export "${rule?}"
	watched "${quick[@]}" -o x.json -o x.jsonl "$@"
}

no_race() {
	grep -q "Running under ThreadSanitizer" watched.* || return
	! grep -h -A 40 "WARNING: ThreadSanitizer" watched.*
}

judge() { # NAME
	rm -f watched.* x.*
	back "$1"
}

# a library that does not answer
aside driver hung FAKE_HANG=cuInit:1 -m peer --start-limit 1s
aside library hung FAKE_NVML_HANG=nvmlInitWithFlags -m peer --budget 10s
# an agent that does not
aside opening hung FAKE_HANG=cuMemHostRegister:1 -m peer --start-limit 3s
aside state hung FAKE_NVML_HANG=nvmlDeviceGetComputeRunningProcesses_v3 -m peer \
	--budget 10s
aside arming hung FAKE_HANG=cuMemcpyAsync:100 -m peer
aside copying hung FAKE_FAULT=cuMemcpyAsync:100=0 -m peer
# one of those by which a kernel's divisions are tried; its agent goes on asking for its end
FAKE_CALLS=calls watched "${quick[@]}" -t peer.sm.write.pair
trial=$(awk '$2 == "cuStreamWaitValue32" { waits++ }
	$2 == "cuLaunchKernel" { n++; if (waits == 6) { print n; exit } }' calls)
rm watched.*
aside division hung FAKE_FAULT="cuLaunchKernel:$trial=0" -t peer.sm.write.pair
aside closing hung FAKE_HANG=cuDevicePrimaryCtxRelease:1 -m peer

# ---- all is well ----

watched "${quick[@]}" -m peer --op both --pattern pair,bidi -o o.json -o o.jsonl -o o.csv \
	-o o.html -f csv
ok "copies of GPUs, and a thread for each output" eval 'status_is 0 && no_race'
rm watched.*
watched "${quick[@]}" \
	-t peer.sm.write.pair,peer.zerocopy.write.bidi,peer.staged.write.bidi,h2d.ce.pinned.all
ok "kernels, copies through host memory" eval 'status_is 0 && no_race'
rm watched.*
watched "${quick[@]}" \
	-t peer.ce.enqueue.all,peer.driver.open.pair,local.driver.free.gated,local.call.launch16.all
ok "calls that the CPU times, of several at the same time" eval 'status_is 0 && no_race'
rm watched.*
watched "${quick[@]}" --backend cpu --gpus 3 -m peer --pattern pair,bidi
ok "copies of CPUs" eval 'status_is 0 && no_race'
rm watched.*
watched "${quick[@]}" --backend cpu --gpus 1 -t host.team.copy.pair,host.fma.fp64.alone
ok "teams of CPU threads" eval 'status_is 0 && no_race'

files=()
for ((i = 0; i < 24; i++)); do
	sed "s/\"host\":\"[^\"]*\"/\"host\":\"n$i\"/" o.json >"n$i.json"
	files+=("n$i.json")
done
rm watched.*
watched check "${files[@]}"
ok "check reads files in several threads" eval \
	'[ "$status" -le 2 ] && prints "24 nodes" && no_race'

# ---- something hangs ----

judge driver
ok "the driver hangs: its call is read while it is made" eval \
	'status_is 3 && says_once "did not answer within 1 s, in cuInit" && no_race'
judge library
ok "NVML hangs" eval 'prints "NVML did not answer" && no_race'
judge opening
ok "opening a device hangs: the facts of the GPU are read meanwhile" eval \
	'says_once "while opening the device" && prints "in cuMemHostRegister" && no_race'
judge state
ok "reading the state hangs: the facts are read meanwhile" eval \
	'says_once "while reading its state under load" && no_race'
judge arming
ok "enqueueing hangs: the other GPUs go on" eval \
	'says_once "while arming, in cuMemcpyAsync" && no_race'
judge copying
ok "a copy never ends: the sample is cancelled" eval \
	'says_once "while copying" && no_race'
judge division
ok "a division of kernels that is tried hangs: its step stays" eval \
	'says_once "while copying" && no_race'
judge closing
ok "closing hangs: the process leaves" eval 'status_is 0 && no_race'
finish
