#!/bin/bash
# What calls cost, timed in batches, on the driver's double: it keeps the time of the CPU for
# its own calls, by FAKE_CALL_NS, so figures are exact.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 0
fake 2

# ---- every call has the cost of what it calls ----

export FAKE_CALLS=calls.txt
export FAKE_CALL_NS=cuLaunchKernel:2100,cuEventCreate:1300,cuEventRecord:1700,cuEventQuery:400,\
cuEventSynchronize:600,cuEventDestroy:900,cuStreamCreate:31000,cuStreamSynchronize:1500,\
cuStreamDestroy:27000,cuCtxSynchronize:3200,cuGraphInstantiateWithFlags:9000,cuGraphLaunch:2500,\
cuGraphExecDestroy:4100,cuMemsetD8Async:1900,cuMemcpy2DAsync:2300,cuMemcpy3DAsync:2400,\
cuMemAlloc:20000+4000,cuMemFree:18000,cuMemHostAlloc:90000+250000,cuMemFreeHost:70000,\
cuMemAllocManaged:12000+100,cuMemAllocAsync:3300,cuMemFreeAsync:2200,cuMemAddressReserve:5000,\
cuMemCreate:40000+8000,cuMemMap:6000,cuMemSetAccess:50000,cuMemRelease:700,cuMemUnmap:45000,\
cuMemAddressFree:5500,cuMemHostRegister:60000+120000,cuMemHostUnregister:33000,\
cuIpcGetMemHandle:1100,cuMemcpyAsync:1700,cuMemcpy3DPeerAsync:2600
run 0 --seed 1 --gpus 0 -s 4M -t 'local.call.[a-oq-z]*.alone' -o one.json -o one.csv
ok "all calls of the driver are timed" status_is 0
ok "… and the first line names the fastest and the slowest" eval \
	'unfolded | grep -E "^1 of 2 x H200: [0-9]+ calls take from 0.40 us \(event-query\) to 1090.00 us \(host-alloc\);"'
ok_schema "… in documents that the schema describes" one.json
ok "… which the report puts into a line each" eval \
	'prints "^calls  CPU time of one in ns" && prints "^  local.call.graph-launch +2500.0 +- +-$" &&
	 prints "^  local.call.host-alloc +4 MiB +1090000 +- +-$"'
ok_json "… each at what the double takes for it" one.json \
	'{r["op"]: round(r["value"], 1) for r in d["results"]} == {
		**{"launch%d" % n: 2100 for n in (0, 16, 256, 1024, 4096)},
		"event-create": 1300, "event-record": 1700, "event-query": 400,
		"event-sync": 600, "event-destroy": 900, "stream-create": 31000,
		"stream-sync": 1500, "stream-destroy": 27000, "context-sync": 3200,
		"graph-instantiate": 9000, "graph-launch": 2500, "graph-destroy": 4100,
		"memset": 1900, "copy2d": 2300, "copy3d": 2400, "ipc-get": 1100,
		"copy3d-peer": 2600, "copy-h2d": 1700, "copy-d2h": 1700,
		"alloc": 36000, "free": 18000, "host-alloc": 1090000, "host-free": 70000,
		"managed-alloc": 12400, "managed-free": 18000, "async-alloc": 3300,
		"async-free": 2200, "vmm-alloc": 5000 + 72000 + 6000 + 50000 + 700,
		"vmm-free": 50500, "register": 540000, "unregister": 33000 }'
ok_json "… by eight batches of as many as take 2 ms, have 64 MiB, and are no more than 64" \
	one.json '{r["op"]: (r["n"], r["copies"]) for r in d["results"]
		   if r["op"] in ("launch0", "alloc", "host-alloc", "stream-create")} == {
		"launch0": (8, 64), "alloc": (8, 16), "host-alloc": (8, 1),
		"stream-create": (8, 64) }'
ok_json "… in nanoseconds, the size with those that have one" one.json \
	'{r["unit"] for r in d["results"]} == {"ns"} and
	 {r["copy_bytes"] for r in d["results"] if r["op"] in ("alloc", "register")} == {4 << 20}'
count() { grep -c " $1\$" calls.txt; }
balanced() { # MAKES GIVES
	echo "$1 $(count "$1"), $2 $(count "$2")"
	[ "$(count "$1")" -gt 0 ] && [ "$(count "$1")" = "$(count "$2")" ]
}
ok "… and nothing is left: events" balanced cuEventCreate cuEventDestroy
ok "… streams" balanced cuStreamCreate cuStreamDestroy
ok "… instances of graphs" balanced cuGraphInstantiateWithFlags cuGraphExecDestroy
ok "… graphs" balanced cuGraphCreate cuGraphDestroy
ok "… pinned memory" balanced cuMemHostAlloc cuMemFreeHost
ok "… memory of a stream" balanced cuMemAllocAsync cuMemFreeAsync
ok "… registered memory" balanced cuMemHostRegister cuMemHostUnregister
ok "… mapped memory" balanced cuMemMap cuMemUnmap
ok "… device and managed memory" eval \
	'[ $(($(count cuMemAlloc) + $(count cuMemAllocManaged))) = "$(count cuMemFree)" ]'
unset FAKE_CALLS

# ---- a single copy, from its call to its end ----

unset FAKE_CALL_NS
FAKE_CALL_NS=cuMemcpyAsync:2300,cuStreamSynchronize:4000 run 0 --seed 1 \
	-t '*.ce.once.pair,peer.ce.write.pair' -s 4K:4M:x4 --cell-limit 9s -f model -o once.json
ok "single copies: a sweep of its own for each way" eval \
	'status_is 0 && [ "$(grep -c "^[2dehpr]*.ce.once.pair +2/2 +9.00.-0.00" -E out)" = 3 ] &&
	 prints "^  \*.once.pair: a single copy, from its call to its end as the CPU sees"'
ok_json "... alpha is that of the queue, the call and the waiting" once.json \
	'all(abs(m["alpha_us"] / (2.7 if "write" in m["test"] else 9.0) - 1) < 0.01
	     for m in d["model"]) and len(d["model"]) == 8'
ok_json "... the time of each copy, whose bytes were compared" once.json \
	'{(r["unit"], r["metric"], r["checked"] > 0) for r in d["results"] if r["op"] == "once"} ==
	 {("us", "time", True)}'
ok_schema "... as the schema has it" once.json
FAKE_CORRUPT=0-1:64,h-0:64,1-h:64 run 0 --seed 1 -t '*.ce.once.pair' -s 64K -o bad.json
ok_json "a wrong byte of a single copy is found, whichever way it goes" bad.json \
	'{(r["path"], r["src"], r["dst"]) for r in d["results"] if r["status"] == "corrupt"} ==
	 {("peer", "gpu0", "gpu1"), ("h2d", "numa0", "gpu0"), ("d2h", "gpu1", "numa0")}'
FAKE_LACKS=cuStreamSynchronize run 0 --seed 1 -t 'peer.ce.once.pair' -s 64K -o lacks.json
ok_json "... and is skipped where the driver cannot wait for it" lacks.json \
	'{r["reason"] for r in d["results"]} == {"the CUDA driver has no cuStreamSynchronize"}'
export FAKE_CALL_NS=cuEventCreate:1300,cuMemAlloc:20000+4000

# ---- all at once, sizes, the C library ----

few='local.call.event-create.*,local.call.alloc.*,host.call.*'
run 0 --seed 1 -s 64K:4M:x64 -t "$few" -o threads.json
ok "threads of one process call at once" status_is 0
run 2 --seed 1 -s 64K:4M:x64 -t "$few" -o processes.json
ok "… and processes" status_is 0
for file in threads.json processes.json; do
	ok_json "$file has each GPU's figure, alone and beside the other, at each size" $file \
		'{(r["test"], r["copy_bytes"], r["src"]): (round(r["value"]), r["concurrent"])
		  for r in d["results"] if r["op"] in ("event-create", "alloc")} == {
		 ("local.call.%s.%s" % (op, how), size, "gpu%d" % g): (ns, how == "all")
		 for how in ("alone", "all") for g in (0, 1) for op, size, ns in (
			("event-create", 16, 1300), ("alloc", 65536, 20250),
			("alloc", 4 << 20, 36000))}'
	ok "… in the report too" eval \
		'"$CSCOPE" show $file >out && prints "^  local.call.alloc +64 KiB +20250.0 +20250.0 +1.0$"'
	ok_json "… and malloc, which takes real time" $file \
		'{(r["test"], r["copy_bytes"]) for r in d["results"]
		  if r["path"] == "host" and r["value"] > 0} == {
		 ("host.call.%s.%s" % (op, how), size) for how in ("alone", "all")
		 for op in ("malloc", "malloc-touch", "free") for size in (65536, 4 << 20)}'
done
run 0 --seed 1 --backend cpu --gpus 2 -s 64K -t 'host.call.*' -o cpu.json
ok "the C library needs no GPU" status_is 0

run 0 --seed 1 --gpus 0,1 -s 4K --samples 20 -o twenty.json \
	-t 'local.call.event-create.*,local.call.alloc.alone,host.call.malloc.alone,peer.ce.once.pair,peer.driver.open.pair'
ok_json "--samples 20: so many batches of each, and so many rounds of what is opened" twenty.json \
	'{(r["test"].split(".")[2], r["n"]) for r in d["results"] if r["metric"] != "first-open"} == {
		("event-create", 20), ("alloc", 20), ("malloc", 20), ("once", 512), ("open", 20)}'
# ---- what a driver has not, and what fails ----

FAKE_LACKS=cuGraphLaunch,cuMemAllocAsync run 0 --seed 1 --gpus 0 -s 4K -o lacks.json \
	-t 'local.call.graph-*.alone,local.call.async-*.alone,local.call.event-sync.alone'
ok "a driver without a call is measured without it" status_is 0
ok_json "… which its rows say" lacks.json \
	'{r["op"]: r["status"] + ": " + (r["reason"] or "") for r in d["results"]} == {
		"event-sync": "ok: ", "graph-instantiate": "ok: ", "graph-destroy": "ok: ",
		"graph-launch": "skipped: the CUDA driver has no cuGraphLaunch",
		"async-alloc": "skipped: the CUDA driver has no cuMemAllocAsync",
		"async-free": "skipped: the CUDA driver has no cuMemAllocAsync" }'
ok "… and the report" prints "^  local.call.graph-launch.alone: the CUDA driver has no cuGraphLaunch"
FAKE_MANAGED=0 run 0 --seed 1 --gpus 0 -s 4K -t 'local.call.managed-*.alone' -o no.json
ok_json "… and a GPU without managed memory" no.json \
	'{r["status"] for r in d["results"]} == {"skipped"}'
FAKE_FAIL=cuStreamSynchronize:3=1 run 0 --seed 1 --gpus 0 -o failed.json \
	-t 'local.call.stream-sync.alone,local.call.event-sync.alone'
ok "a call that fails is no figure" status_is 2
ok_json "… and the next test goes on" failed.json \
	'{r["op"]: r["status"] for r in d["results"]} == {"stream-sync": "failed", "event-sync": "ok"}'
finish
