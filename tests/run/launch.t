#!/bin/bash
# --check=launch: what each rank sees and what to change; GPUs that bus, NVML, CUDA
# and scheduler count differently; what --check makes of findings.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 34000000
fake 4
bus 4

# The text without its line breaks: findings are folded.
flat() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# A finding of this kind and severity is among the checks.
finds() { # SENTENCE ID SEVERITY
	ok_json "$1" l.json \
		"any(c['id'] == '$2' and c['severity'] == '$3' and (c['next'] or c['severity'] == 'note' or '$2' in ('peer-refused', 'in-use', 'gpu-lost')) for c in d['checks'])"
}

finds_no() { # SENTENCE ID
	ok_json "$1" l.json "all(c['id'] != '$2' for c in d['checks'])"
}

look() { # RANKS [WRAPPER]
	local ranks=$1
	shift
	rm -f l.json l.jsonl
	run_program "$ranks" "$@" "$CSCOPE" --check=launch -o l.json -o l.jsonl
}

# What hangs is waited for beside the rest: "what hangs is left behind".
hangs() { # RANKS ARGUMENT...
	fake 2
	bus 2
	CS_TIMEOUT=60 run "$@"
}
FAKE_NVML_HANG=nvmlInitWithFlags aside starting hangs 2 -m peer -s 64K --start-limit 1s
FAKE_NVML_HANG=nvmlDeviceGetCount_v2 \
	aside counting hangs 0 -m peer -s 64K --start-limit 1s -o h.csv
FAKE_NVML_HANG=nvmlDeviceGetNvLinkErrorCounter aside errors hangs 2 -m peer -s 64K --budget 25s -o h.csv

# ---- nothing to change ----

in_front easy 'ulimit -S -l unlimited 2>/dev/null'
look 0 ./easy
ok "no launcher: status 0 and nothing to change but what the machine is" \
	eval 'status_is 0 && prints "no launcher, 1 rank" && prints "^ +0  0-3 "'
ok "… every way between GPUs was opened" flat "12 of 12 transports opened: 12 direct"
ok "… no figure is printed" prints_not "GB/s"
ok "… in at most 90 columns" eval '! grep -E "^.{91}" out'
ok_json "… nothing was measured, no plan is told" l.json \
	'd["results"] == [] and d["matrices"] == [] and d["run"]["plan_id"] is None and d["run"]["checks"] == ["launch"] and d["run"]["status"] == "complete"'
ok_json "… the four GPUs are known to bus, NVML and CUDA" l.json \
	'[(g["bus_id"], g["on_pci_bus"], g["nvml"], g["ranks"]) for g in d["nodes"][0]["known_gpus"]] == [("0000:%s:00.0" % b, True, 0, 1) for b in ("1b", "2b", "3c", "4d")]'
ok_schema "… document and journal follow the schema" l.json l.jsonl
look 4
ok "four ranks: each sees all, the ways are CUDA IPC" \
	eval 'flat "12 of 12 transports opened: 12 by CUDA IPC" && prints "mpirun|mpiexec|srun"'
ok_json "… with the pid, cpus and limits of each" l.json \
	'[(r["rank"], r["sees"], r["pid"] > 0, r["n_cpus"] > 0) for r in d["nodes"][0]["ranks"]] == [(i, [0, 1, 2, 3], True, True) for i in range(4)]'
ok_json "… and the journal ends in its verdict" l.jsonl \
	'd[0]["kind"] == "run" and d[-1]["kind"] == "verdict"'

# ---- how ranks were started ----

in_front isolated 'export CUDA_VISIBLE_DEVICES=$rank'
look 4 ./isolated
finds "one GPU for each rank: noted" launcher-one-gpu note
ok "… with what each is given" prints "CUDA_VISIBLE_DEVICES=3"
FAKE_IPC_REFUSE=1 FAKE_NO_VMM=1 look 4 ./isolated
ok "… a warning, status 1, where CUDA IPC is refused" \
	eval 'status_is 1 && says_once "warning: .*exit 1"'
finds "… with the launcher's remedy" launcher-one-gpu warning
finds "… and the refusal" peer-refused warning
look 2 taskset -c 0
[ "$(nproc)" -gt 1 ] || skip="one CPU only"
finds "one core for a rank with several GPUs: a warning" launcher-one-core warning
FAKE_GPUS=2 look 2 taskset -c 0
finds "… for each rank with one GPU: a note" launcher-one-core note
skip=''
in_front small 'ulimit -S -l 64; ulimit -S -n 256'
look 2 ./small
finds "little memory to lock is noted" memlock note
finds "few files to open is a warning" nofile warning
(
	ulimit -S -l 64
	run 0 --test peer.ce.write.pair -s 64K --check -o l.json
)
ok_json "… memory to lock is not judged where cells are" l.json \
	'not any(c["id"] == "memlock" for c in d["checks"]) and d["results"] and "launch" in d["run"]["checks"]'
FAKE_COMPUTE_MODE=3 look 2
finds "EXCLUSIVE_PROCESS is noted" exclusive-process note
FAKE_PERSISTENCE=0 look 0
finds "persistence mode off is noted" persistence note
ok "… and printed" flat "persistence off"
FAKE_NVML_OTHERS=2:3 look 0
finds "a GPU in use is a warning" in-use warning
ok "… status 1" status_is 1
CS_LIBNVML=/nowhere look 0
finds "no NVML is a warning" nvml-absent warning
CS_LIBNVML=/nowhere NVIDIA_DRIVER_CAPABILITIES=compute,video look 0
finds "… in a container without 'utility' it is that" container-utility warning
CUDA_LAUNCH_BLOCKING=1 look 0
ok "CUDA_LAUNCH_BLOCKING: cannot test, status 3, all is printed" \
	eval 'status_is 3 && prints "CUDA_LAUNCH_BLOCKING=1" && flat "unset it"'
in_front twice 'export CUDA_VISIBLE_DEVICES=0'
look 2 ./twice
ok "two ranks given the same GPU: status 3, with both ranks" \
	eval 'status_is 3 && flat "ranks 0 and 1 were both given GPU 0000:1b:00.0"'
CS_LIBCUDA=/nowhere SLURM_STEP_GPUS=0 look 2
ok "no driver: status 3, and what there is is printed" \
	eval 'status_is 3 && flat "no usable GPU" && prints "^ +0-1  none"'
FAKE_GPUS=1 bus 1
FAKE_GPUS=1 look 2
ok "one GPU: nothing to open, and that is said" \
	eval 'status_is 0 && flat "none tried: this needs two GPUs"'

# ---- what confines a node ----

bus 4
mkdir -p machine/proc/self machine/sys/fs/cgroup/a/b
echo "0::/a/b" >machine/proc/self/cgroup
echo "150000 100000" >machine/sys/fs/cgroup/a/cpu.max
echo "max 100000" >machine/sys/fs/cgroup/a/b/cpu.max
echo "1073741824" >machine/sys/fs/cgroup/a/b/memory.max
look 0
finds "too little time for the threads is a warning" cgroup-cpus warning
ok_json "… the tightest limit on the way up counts" l.json \
	'd["nodes"][0]["limits"]["cgroup_cpus"] == 1.5 and d["nodes"][0]["limits"]["cgroup_memory_bytes"] == 2**30'
rm -r machine/proc machine/sys
mkdir -p machine/dev/shm
cat >confined <<-END
	#!/bin/sh
	exec unshare -rm sh -c 'mount -t tmpfs -o size=1m none machine/dev/shm &&
		exec "$MPIRUN" "\$@"' sh "\$@"
END
chmod +x confined
if unshare -rm mount -t tmpfs -o size=1m none machine/dev/shm 2>/dev/null; then
	MPIRUN=./confined look 2
else
	skip="no mount namespace"
fi
finds "a /dev/shm of 1 MiB is a warning" dev-shm warning
skip=''

# ---- lost, hidden and granted GPUs ----

FAKE_LOST=2 look 0
ok "a lost GPU: status 2, named by its bus id" eval \
	'status_is 2 && says_once "critical: .*GPU 0000:3c:00.0 is on the PCI bus but neither NVML nor the driver knows it"'
ok "… with what NVML says of it" flat "see Xid 79 in dmesg"
ok_json "… the node is to be drained" l.json \
	'[(c["id"], c["bus_id"], c["drain"]) for c in d["checks"] if c["severity"] == "critical"] == [("gpu-lost", "0000:3c:00.0", True)]'
FAKE_LOST=2 run 0 -m peer -s 64K -o l.json
ok "… found without --check as well, on one node; status 0" \
	eval 'status_is 0 && flat "critical GPU 0000:3c:00.0 is on the PCI bus"'
FAKE_LOST=2 run 0 -m peer -s 64K --cell-limit 9s --check
ok "… under --check: measured, status 2" \
	eval 'status_is 2 && prints "GB/s" && flat "6 of 6 cells"'
fake 3
look 0
ok "neither NVML nor CUDA count it: critical with the last bus id" \
	eval 'status_is 2 && flat "GPU 0000:4d:00.0 is on the PCI bus but neither"'
CS_LIBNVML=/nowhere look 0
ok "… without NVML too" eval 'status_is 2 && flat "NVML is absent"'
NVIDIA_VISIBLE_DEVICES=0,1,2 look 0
ok "a container that was given three: a note, with what is assumed" eval \
	'[ "$status" -lt 2 ] && flat "assumed not to be passed into this container \(NVIDIA_VISIBLE_DEVICES=0,1,2\)"'
touch machine/.dockerenv machine/dev/nvidia{0,1,2,ctl}
look 0
ok "… also by three device files" eval \
	'[ "$status" -lt 2 ] && flat "\(/.dockerenv, 3 of /dev/nvidia0"'
touch machine/dev/nvidia3
look 0
ok "… but not by four" status_is 2
rm -r machine; bus 4
SLURM_STEP_GPUS=0-2 look 0
ok "a scheduler granted three: a note" eval \
	'[ "$status" -lt 2 ] && flat "the scheduler granted others \(SLURM_STEP_GPUS=0-2\)"'
mkdir -p machine/sys/bus/pci/devices/0000:4d:00.0 machine/drivers/vfio-pci
ln -s ../../../../drivers/vfio-pci machine/sys/bus/pci/devices/0000:4d:00.0/driver
look 0
ok "a GPU of a virtual machine: a note" eval \
	'[ "$status" -lt 2 ] && flat "held by the kernel driver vfio-pci"'
rm -r machine; bus 4
fake 4
CUDA_VISIBLE_DEVICES=0,2 look 0
ok "a mask leaves two out: a note with their bus ids" eval \
	'[ "$status" -lt 2 ] && flat "2 GPUs not used \(0000:2b:00.0, 0000:4d:00.0\): CUDA_VISIBLE_DEVICES"'
bus 0
SLURM_STEP_GPUS=0-7 look 0
ok "eight granted, four shown: critical" \
	eval 'status_is 2 && flat "granted 8 GPUs \(SLURM_STEP_GPUS=0-7\), CUDA shows 4"'
bus 4

# ---- several nodes ----

in_front two 'export CS_TEST_SCOPE=$((rank / 2)) FAKE_LOST=$((rank / 2 * 3))'
look 4 ./two
ok_json "two nodes, each with a lost GPU of its own" l.json \
	'[n["n_ranks"] for n in d["nodes"]] == [2, 2] and sorted(c["bus_id"] for c in d["checks"] if c["id"] == "gpu-lost") == ["0000:1b:00.0", "0000:4d:00.0"]'
in_front half 'export CS_TEST_SCOPE=$((rank / 2))' \
	'[ "$rank" -lt 2 ] || export CS_LIBCUDA=/nowhere FAKE_GPUS=0; [ "$rank" -lt 2 ] || unset CS_TEST_TOPOLOGY'
look 4 ./half
ok "one node without a driver: status 2, both are printed, it is named" eval \
	'status_is 2 && [ "$(grep -c "rank  sees GPU" out)" = 2 ] &&
	 flat "critical [^ ]+: no usable GPU: nothing was measured there"'

# ---- MIG ----

fake 2
bus 2
export FAKE_MIG=2
in_front instances \
	'export CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-000$(printf %x $((15 - rank % 2)))-00000000000$((rank / 2))'
run_program 4 ./instances "$CSCOPE" -s 64K --pattern pair -o mig.json
ok "MIG: nothing can be measured, status 3, one reason" \
	eval 'status_is 3 && one_line "MIG instances have neither peer access nor CUDA IPC"'
ok "… one line for the whole matrix" eval \
	'[ "$(tr -s " \n" "  " <out | grep -o "MIG instances have neither" | wc -l)" = 3 ] && prints "12 cells"'
ok_json "… instances are UUIDs with labels of GPU and instance" mig.json \
	'sorted((a["label"], a["uuid"][:27]) for a in d["agents"]) == [("%d:%d" % (g, i), "MIG-00000000-0000-0000-%04x" % (15 - i)) for g in (0, 1) for i in (0, 1)] and all(a["index"] is None for a in d["agents"])'
ok_schema "… by the schema" mig.json
look 4 ./instances
finds "--check=launch says what MIG costs" ipc-mig warning
finds_no "… and blames no launcher for it" launcher-one-gpu
unset FAKE_MIG

# ---- GPUs in use, and the path ----

fake 3
bus 3
FAKE_NVML_OTHERS=1:2 run 0 -m peer -s 64K --cell-limit 9s -o u.csv --check
ok "--check skips the cells of a GPU in use: status 1, with the count" eval \
	'status_is 1 && [ "$(cells u.csv | grep -c " skipped ")" = 8 ] &&
	 [ "$(cells u.csv | grep -c " ok ")" = 4 ] &&
	 flat "GPU 1 is in use by 2 processes of others"'
FAKE_NVML_OTHERS=1:2 run 0 -m peer -s 64K -o u.csv
ok "… without it they are measured and flagged" eval \
	'status_is 0 && all_ok u.csv 12 && [ "$(grep -c in-use u.csv)" -ge 8 ]'
FAKE_NVML_LATER=1:1 run 0 -m peer -s 64K -o u.csv
ok "others who came during the run are said, their GPU's cells flagged" eval \
	'flat "GPU 1 .*: 1 other process on it, which started during the run" &&
	 [ "$(grep -c in-use u.csv)" -ge 8 ]'
FAKE_THROTTLE=1:0x40 run 0 -m peer -s 64K -o t.json
ok_json "a throttled cell has clock, temperature and power of its GPUs, others none" t.json \
	'all((r["sm_mhz"], r["temperature_c"] or 0, r["power_w"] or 0) >= (1980, 42, 121) if "gpu1" in (r["src"], r["dst"]) else r["sm_mhz"] is None or "not-converged" in r["flags"] for r in d["results"])'
fake 2
bus 2
FAKE_NVLINK_COUNTERS=$PWD/counters run 2 -m peer -s 4M -o p.json
ok "NVLink's byte counters prove the path" flat "NVLinks counted 100.0 to 100.0 %"
ok_json "… the bytes of both readings are there" p.json \
	'all(g["after"]["nvlink_sent_bytes"] - g["before"]["nvlink_sent_bytes"] == g["sent_bytes"] > 0 for g in d["nodes"][0]["gpus"])'
FAKE_NVLINK_COUNTERS=$PWD/counters run 0 -t 'peer.prefetch.managed.pair,peer.demand.managed.bidi' -s 16M
ok "… of managed memory too, and of its way home" flat "NVLinks counted 100.0 to 100.0 %"
FAKE_NVLINK_COUNTERS=$PWD/counters run 2 -t 'peer.ce.once.pair,peer.ce.burst64k.*,peer.ce.enqueue.alone,peer.driver.open.pair' -s 16M
ok "… and of copies that the CPU times" flat "NVLinks counted 100.0 to 100.0 % of the bytes of 2 of 2 GPUs time"
FAKE_NVLINK_COUNTERS=$PWD/counters FAKE_NVLINK_IDLE=1 run 0 -m peer -s 4M --cell-limit 9s --check
ok "bytes that took another way are a warning" eval \
	'status_is 1 && flat "both GPUs: NVLinks counted 0 % of what was sent"'
run 0 -m peer -s 4M -v
ok "no counters: not proven, which -v says" \
	eval 'status_is 0 && flat "path not proven"'

# ---- what hangs is left behind ----

export CS_TIMEOUT=40
back starting
ok "NVML hangs while it starts: all is measured, the call is named" eval \
	'status_is 0 && flat "NVML did not answer within 1 s, in nvmlInitWithFlags"'
back counting
ok "… while it counts: all is measured" eval \
	'status_is 0 && all_ok h.csv 4 && flat "in nvmlDeviceGetCount_v2"'
back errors
ok "… while it counts errors of links, in a thread: all is measured, the call is named" eval \
	'job_status_is 3 && all_ok h.csv 4 && says_once "while reading its state, in nvmlDeviceGetNvLinkErrorCounter"'
FAKE_NVML_HANG=nvmlShutdown run 2 -m peer -s 64K -o h.csv
ok "… while it closes: nobody waits for it" eval 'status_is 0 && all_ok h.csv 4'
FAKE_HANG=cuInit:1 SLURM_STEP_GPUS=0,1 run 2 --start-limit 1s
ok "the driver hangs: status 3, with call and process" eval \
	'status_is 3 && one_line "the driver did not answer within 1 s, in cuInit \(process [0-9]+\); --set start-limit gives it more time"'
FAKE_HANG=cuDevicePrimaryCtxRetain:1 FAKE_FAIL_RANK=1 run 2 --start-limit 1s
ok "a context hangs: status 2, with call, bus id and process" eval \
	'job_status_is 2 && says_once "GPU 1 \(rank 1\): no answer within 1 s while opening the device \(--set start-limit\), in cuDevicePrimaryCtxRetain; 0000:2b:00.0, process [0-9]+"'

# ---- the option ----

ok_refused "an unknown kind: status 64, with those there are" "check .lunch.: did you mean .launch.. allowed are launch" --check=lunch
ok_refused "--check=launch takes no matrix" "measures nothing" --check=launch --matrix peer
no_gpu
run 0 --check -s 64K
ok "nothing stands in under --check" eval 'status_is 75 && one_line "no.* GPU on"'
finish
