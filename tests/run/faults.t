#!/bin/bash
# Calls of the driver that fail, hang or copy wrong: the run ends in time, one line
# names the call, what was measured is kept.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 3
# as where a scheduler granted them: nothing may stand in for them
export SLURM_STEP_GPUS=0,1,2
export CS_TIMEOUT=30

one=0		# rank that fails, of one process and of two
two=1

# In the last of RANKS ranks the rule breaks a call.  Out of 9 cells one process
# or its last GPU is in some; those that do not need it must be measured.
broken() { # RANKS VARIABLE=RULE OPTION...
	local ranks=$1 rule=$2 last=$one
	shift 2
	[ "$ranks" = 2 ] && last=$two
	rm -f f.*
	if [ "$ranks" = 2 ] && ! has_launcher; then
		skip="no MPI launcher"
		return
	fi
	export FAKE_FAIL_RANK=$last "${rule?}"
	run "$ranks" -m peer -s 64K -o f.json -o f.jsonl -o f.csv "$@"
	unset FAKE_FAIL_RANK "${rule%%=*}"
}

measured() { # CELLS: at least that many
	local n
	n=$(cells f.csv | grep -c ' ok ')
	echo "$n cells measured"
	[ "$n" -ge "$1" ]
}

valid() {
	local file
	for file in f.json f.jsonl; do
		[ ! -e $file ] || "${PYTHON:-python3}" -c "
import json
import sys
for part in ([open('$file').read()] if '$file' == 'f.json' else open('$file')):
    json.loads(part)" || return
	done
}

# The verdict's line, and the right status.
ends() { # STATUS WORDS CELLS
	job_status_is "$1" && says_once "$2" && measured "$3" && valid
}

aside enqueueing broken 2 FAKE_HANG=cuMemcpyAsync:200
aside endless broken 2 FAKE_FAULT=cuMemcpyAsync:200=0
aside closing broken 2 FAKE_HANG=cuDevicePrimaryCtxRelease:1

# A kernel that never ends: of those that fill the buffer, and of those that keep the GPU
# busy while its state is read, which are the first between two events.
endless_kernel() { # LAUNCH
	FAKE_GPUS=1 SLURM_STEP_GPUS=0 FAKE_FAULT=cuLaunchKernel:$1=0 \
		run 0 -t h2d.ce.pinned.pair -s 64K --budget 8s
}
FAKE_GPUS=1 SLURM_STEP_GPUS=0 FAKE_CALLS=calls run 0 -t h2d.ce.pinned.pair -s 64K
load=$(awk '$2 == "cuLaunchKernel" { n++; if (before == "cuEventRecord") { print n; exit } }
	{ before = $2 }' calls)
aside filling endless_kernel $((load - 1))
aside loading endless_kernel "$load"

# ---- before the plan: no device ----

for call in cuInit cuDeviceGetCount cuDeviceGetUuid; do
	broken 0 FAKE_FAIL=$call:1
	ok "$call fails: status 3, one line names it" \
		eval "status_is 3 && one_line '$call: CUDA_ERROR_UNKNOWN' && is_empty out"
done
broken 2 FAKE_FAIL=cuInit:1
ok "cuInit fails in one rank of two: the other measures, and it is said" eval \
	'status_is 0 && measured 9 && prints "1 of 2 ranks have no GPU.*cuInit"'

# Outputs of an earlier run would pass for this one's.
replaced() { # status 3 and a time in each
	status_is 3 && ! grep -l healthy old.* && grep -q '^cscope_mpi_exit_status 3$' old.prom &&
		grep -q '^cscope_mpi_timestamp_seconds [1-9]' old.prom &&
		grep -q 'failures="1"' old.xml && grep -q "exit status 3" old.html &&
		grep -q "cuInit\|no usable GPU" old.txt
}
old=()
for ending in json jsonl csv prom xml html txt; do
	old+=(-o "old.$ending")
done
for rule in FAKE_FAIL=cuInit:1=802 FAKE_HANG=cuInit:1 CS_LIBCUDA=/nowhere/libcuda.so.1; do
	for ending in json jsonl csv prom xml html txt; do
		echo healthy >"old.$ending"
	done
	env "$rule" "$CSCOPE" --no-mpi --check --start-limit 1s --redact -q "${old[@]}" >out 2>err
	status=$?
	ok "${rule%%/*} leaves no output of an earlier run" replaced
	ok_schema "… and these fit the schema" old.json old.jsonl
	ok_json "… with the status, and no name" old.json \
		'd["run"]["exit"] == 3 and d["run"]["redacted"] and d["run"]["ended"] and d["errors"]'
done

# ---- an error with a sure hint: in the one line, at every stage ----

# NUMBER, a part of its hint
while read -r code words; do
	broken 0 FAKE_FAIL=cuInit:1="$code"
	ok "cuInit gives $code: status 3, one line with the hint" eval \
		'status_is 3 && one_line "cuInit: CUDA_ERROR_[A-Z_]+ \($code\); .*$words" &&
		 is_empty out'
done <<END
34 take its folder lib64/stubs out of LD_LIBRARY_PATH
46 see nvidia-smi -q -d COMPUTE
100 see CUDA_VISIBLE_DEVICES
304 the operating system refused the driver
802 is nvidia-fabricmanager running
803 of different driver versions
804 take the cuda-compat library out of LD_LIBRARY_PATH
999 see NVRM and Xid in dmesg
END
broken 0 FAKE_FAIL=cuDevicePrimaryCtxRetain:1=46
ok "a GPU that is taken: status 75, with the hint" \
	ends 75 "CUDA_ERROR_DEVICE_UNAVAILABLE \(46\); another process holds the GPU" 4
is_left() { # what is to be done is not to drain a node
	echo 'd["run"]["exit"] == 75 and [(a["action"], a["id"]) for a in d["actions"]] == [("watch", "gpu-unavailable")] and not any(c["drain"] for c in d["errors"])'
}
ok_json "… its cells are skipped, and nothing is drained" f.json "$(is_left)"
broken 0 FAKE_FAIL=cuMemAlloc:1=2
ok "no memory on a GPU: status 75, with the hint" \
	ends 75 "CUDA_ERROR_OUT_OF_MEMORY \(2\); the GPU has no memory left" 4
ok_json "… and nothing is drained" f.json "$(is_left)"
broken 0 FAKE_FAULT=cuMemcpyAsync:200=214
ok "an ECC error: status 2, with the hint" \
	ends 2 "CUDA_ERROR_ECC_UNCORRECTABLE \(214\); the GPU's memory lost data" 0
# what is to be done: of every row of the double, the GPU's bus id, serial and UUID
is_drained='[(a["action"], a["bus_id"][:5], a["serial"][:6], a["uuid"][:4]) for a in d["actions"] if a["id"] not in ("cell-failed",)][0] == ("drain", "0000:", "165002", "GPU-")'
ok_json "… the node is to be drained, for that GPU" f.json "$is_drained"
for code in 220 719; do
	broken 0 FAKE_FAULT=cuMemcpyAsync:200=$code
	ok_json "… as for $code" f.json "$is_drained"
done
broken 0 FAKE_FAIL=cuStreamCreate:1
ok_json "… and for a GPU that cannot be opened" f.json "$is_drained"
broken 0 FAKE_FAIL=cuCtxEnablePeerAccess:1=711
ok "too many peers: that pair is skipped, with the hint" eval \
	'status_is 0 && measured 9 && prints "TOO_MANY_PEERS.*711.*takes no more"'
for rule in "15 see Xid 79 in dmesg" "18 of different driver versions"; do
	FAKE_NVML_INIT=${rule%% *} broken 0 FAKE_NOISE=0
	ok "NVML gives ${rule%% *}: all is measured, the hint is in the table" eval \
		'status_is 0 && measured 12 &&
		 tr -s " \n" "  " <out | grep -qF "${rule#* }"'
done
CS_LIBNVML=/nowhere broken 0 FAKE_NOISE=0
ok "no NVML: all is measured, and what a container needs is said" eval \
	'status_is 0 && measured 12 &&
	 tr -s " \n" "  " <out | grep -qF NVIDIA_DRIVER_CAPABILITIES=compute,utility'

# ---- an agent that cannot start: its cells fail, the others are measured ----

for call in cuDevicePrimaryCtxRetain cuCtxSetCurrent cuModuleLoadData \
	cuStreamCreate cuEventCreate cuMemHostRegister cuMemGetInfo cuMemAlloc \
	cuLaunchKernel; do
	broken 0 FAKE_FAIL=$call:1
	ok "$call fails for one GPU: status 2, the other two are measured" \
		ends 2 "$call: CUDA_ERROR_UNKNOWN" 4
done
for call in cuDevicePrimaryCtxRetain cuMemAlloc; do
	broken 2 FAKE_FAIL=$call:1=2
	ok "$call has no memory in one rank of two: status 75" \
		ends 75 "$call: CUDA_ERROR_OUT_OF_MEMORY" 4
done

# ---- a way to a peer: its cells are skipped ----

for call in cuDeviceCanAccessPeer cuCtxEnablePeerAccess; do
	broken 0 FAKE_FAIL=$call:1
	ok "$call fails for one pair: skipped, status 0" eval \
		"status_is 0 && measured 9 && valid && prints 'skipped: .*$call'"
done
# ranks 0 and 1 have GPUs 0, 1 and 2
export FAKE_NO_VMM=1
broken 2 FAKE_FAIL=cuIpcGetMemHandle:1
ok "cuIpcGetMemHandle fails: cells by CUDA IPC are skipped, status 0" eval \
	'status_is 0 && measured 4 && valid && prints "skipped:.*cuIpcGetMemHandle"'
# the second round asks again
broken 2 FAKE_FAIL=cuIpcOpenMemHandle:1,cuIpcOpenMemHandle:3
ok "cuIpcOpenMemHandle fails twice for one pair: skipped, status 0" eval \
	'status_is 0 && measured 9 && valid && prints "skipped:.*cuIpcOpenMemHandle"'
unset FAKE_NO_VMM

# ---- in a cell: the cell fails, the run goes on ----

for rule in cuMemcpyAsync:1 cuMemcpyAsync:70 cuEventRecord:12 cuEventQuery:4 \
	cuStreamWaitValue32:9; do
	broken 0 FAKE_FAIL=$rule
	ok "call $rule fails: that cell fails, status 2, the rest is measured" \
		ends 2 "${rule%:*}: CUDA_ERROR_UNKNOWN" 10
done
broken 2 FAKE_FAIL=cuMemcpyAsync:5
ok "cuMemcpyAsync fails in one rank of two: that cell fails" \
	ends 2 "cuMemcpyAsync: CUDA_ERROR_UNKNOWN" 10
ok_json "… a failed cell has a reason and no figure" f.json \
	'all(r["value"] is None and "cuMemcpyAsync" in r["reason"] for r in d["results"] if r["status"] == "failed")'
ok_json "… and the run is complete" f.json \
	'd["run"]["status"] == "complete" and d["run"]["exit"] == 2'
ok_schema "… in documents that follow the schema" f.json f.jsonl

# ---- sticky errors and hangs end the measuring ----

for ranks in 0 2; do
	broken $ranks FAKE_FAULT=cuMemcpyAsync:200=700
	ok "a copy that breaks its context ends the measuring: status 2 ($ranks ranks)" \
		ends 2 "CUDA_ERROR_ILLEGAL_ADDRESS" 0
	ok_json "… partial, with the verdict last" f.jsonl \
		'd[-1]["kind"] == "verdict" and d[-1]["status"] == "partial" and d[-1]["exit"] == 2'
done

broken 0 FAKE_HANG=cuInit:1 --start-limit 1s
ok "cuInit hangs: over at --start-limit, status 3, one line" eval \
	'status_is 3 && one_line "driver did not answer within 1 s"'
broken 2 FAKE_HANG=cuInit:1 --start-limit 1s
ok "cuInit hangs in one rank of two: the other measures, and it is said" eval \
	'status_is 0 && measured 9 && prints "did not answer within 1 s"'
unset SLURM_STEP_GPUS # no sign of a GPU but the driver
for call in dlopen cuGetProcAddress; do
	for ranks in 0 1; do
		broken $ranks FAKE_HANG=$call:1 --start-limit 1s
		ok "$call of the driver hangs: no host memory stands in, status 3 ($ranks ranks)" \
			eval 'job_status_is 3 &&
			one_line "driver did not answer within 1 s, in $call" && is_empty out'
	done
done
export SLURM_STEP_GPUS=0,1,2
broken 2 FAKE_HANG=dlopen:1 --start-limit 1s
ok "the driver's load hangs in one rank of two: the job ends without MPI_Finalize" \
	ends 2 "the driver.s library did not load in time" 9
ok "… and all is measured by the other" prints "did not answer within 1 s, in dlopen"
for ranks in 0 2; do
	broken $ranks FAKE_HANG=cuDevicePrimaryCtxRetain:1 --start-limit 1s
	ok "making a context hangs: status 2, one line names the GPU ($ranks ranks)" \
		ends 2 "GPU [0-2] \(rank [01]\): no answer within 1 s while opening the device \(--set start-limit\)" 0
done
back enqueueing
ok "enqueueing hangs: the cell is given up, status 2, one line" \
	ends 2 "GPU [0-2] \(rank 1\): no answer within [0-9.]* s while arming" 0
back endless
ok "a copy never ends: the cell is given up, status 2, one line" \
	ends 2 "GPU [0-2] \(rank [01]\): no answer within [0-9.]* s while copying" 0
ok_json "… what was measured before is there" f.json \
	'd["run"]["status"] == "partial" and len(d["results"]) > 0'
back filling
ok "filling a buffer never ends: that is what it is said to do" says_once \
	"while allocating and filling buffers, in cuStreamQuery \(waits for kernels\)"
back loading
ok "a load never ends: it is not said to read the state alone" says_once \
	"while reading its state under load, in cuStreamQuery \(waits for kernels\)"
back closing
ok "closing hangs: the verdict stands, and the job ends" \
	eval 'status_is 0 && measured 9 && valid'
ok "… and the call is named" says_once \
	"warning: .*no answer within 10 s while closing.*, in cuDevicePrimaryCtxRelease; all results are written"

# ---- wrong data ----

for ranks in 0 2; do
	FAKE_CORRUPT=1-2:4096 broken $ranks FAKE_NOISE=0
	ok "wrong bytes from 1 to 2: status 2, one line with the place ($ranks ranks)" \
		ends 2 "1->2.* corrupt: .*the first at 4096[: ]" 7
	ok "… that cell alone is corrupt, in both matrices" eval \
		'[ "$(cells f.csv | grep " corrupt " | cut -d" " -f1-3)" = "peer.ce.write.bidi gpu1 gpu2
peer.ce.write.pair gpu1 gpu2" ]'
done
ok_json "… and has no figure" f.json \
	'all(r["value"] is None and r["wrong_bytes"] > 0 for r in d["results"] if r["status"] == "corrupt" and r["metric"] == "rate")'
FAKE_CORRUPT=1-2:4096 broken 0 FAKE_NOISE=0 --verify off
ok "--verify off does not see it, and says that it did not look" \
	eval 'status_is 0 && prints "data .*--set verify=off"'
FAKE_THROTTLE=1:0x40 broken 2 FAKE_NOISE=0
ok "a throttled GPU is a warning beside its figures" eval \
	'status_is 0 && measured 12 && prints "throttled"'
finish
