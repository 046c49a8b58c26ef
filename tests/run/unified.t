#!/bin/bash
# Managed memory: its figures are the fake driver's truth, and none stands where a page
# was not where it should be, whatever a driver says or does.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
. "${TESTDATA:-tests}/run/moves.sh" || exit 1
needs_fake
fake 2
memory 0
export CS_TIMEOUT=300 # pages move one by one: long on a busy machine
fast=(--seed 1 -s 4M --cell-limit 10s)
here=(--no-mpi "${fast[@]}")

# ---- truth ----

# Seconds of 4 MiB.
truth='want = {
    "h2d.prefetch.managed.pair": lambda a, b: 2.7e-6 + B / down(b),
    "d2h.prefetch.managed.pair": lambda a, b: 2.7e-6 + B / up(a),
    "peer.prefetch.managed.pair": lambda a, b: 2.7e-6 + B / across(a, b),
    "h2d.demand.managed.pair": lambda a, b: 5e-6 + faults + B / down(b),
    "peer.demand.managed.pair": lambda a, b: 5e-6 + faults + B / across(a, b),
}
good = [r for r in d["results"] if r["status"] == "ok" and r["metric"] == "rate"]
'

pairs=h2d.prefetch.managed.pair,d2h.prefetch.managed.pair,peer.prefetch.managed.pair
pairs=$pairs,h2d.demand.managed.pair,peer.demand.managed.pair
run 0 "${here[@]}" -t "$pairs" -o p.json -o p.csv
ok "prefetches and faults of GPUs: each figure within 0.5 % of the truth" moving_pages p.json \
	'len(good) == 10 and all(abs(r["value"] / gbs(want[r["test"]](number(r["src"]), number(r["dst"]))) - 1) < .005 for r in good)'
ok "... every sample checked whole, all of them moved" eval \
	'status_is 0 && prints " 0 wrong bytes" && prints_not "not-moved"'
ok_json "... and the host end is proven on its node" p.json \
	'all(r["src_pages_numa"] == 0 for r in d["results"] if r["test"].startswith("h2d.")) and all(r["dst_pages_numa"] == 0 for r in d["results"] if r["test"].startswith("d2h."))'
ok_schema "... as the schema has it" p.json
run 0 show p.json
ok "a file shows it again" prints "^host to GPU, prefetch, managed memory"
ok_json "what the GPUs say of such memory is a fact" p.json \
	'all(a["managed_memory"] == 1 and a["concurrent_managed_access"] == 1 for a in d["nodes"][0]["gpus"])'

run 0 "${here[@]}" -t 'h2d.*.managed.bidi,peer.*.managed.bidi,*.managed.all' -o b.csv
ok "both ways at once, and all GPUs at once" eval 'status_is 0 && grep -q "^[^,]*,peer.prefetch.managed.all,.*,ok," b.csv && ! grep -E ",(failed|corrupt|timeout)," b.csv'
run 0 "${here[@]}" --threads 1,2,4 -t d2h.demand.managed.pair -o t.csv -o t.json
ok_json "CPU threads touch together: a cell for each number of them" t.json \
	'sorted((r["cpu_threads"] or 1, r["workers"]) for r in d["results"] if r["dst"] == "numa0" and r["src"] == "gpu0" and not "control" in r["flags"]) == [(1, 1), (2, 2), (4, 4)]'
ok_json "... whose page faults are counted, and nobody else's" t.json \
	'all((r["page_faults"] is not None) == (r["major_faults"] is not None) == bool(r["workers"]) and (r["page_faults"] or 0) >= (r["major_faults"] or 0) >= 0 for r in d["results"]) and any(r["page_faults"] is not None for r in d["results"])'
ok "... by threads is the curve" prints "CPU threads"
run 0 "${here[@]}" -s 4K:64K:x4 -t h2d.prefetch.managed.pair,peer.demand.managed.pair -o s.json
ok "small sizes too" status_is 0
ok_json "... where no speed tells between GPUs, that is said" s.json \
	'all("placement-not-proven" in r["flags"] for r in d["results"] if r["path"] == "peer") and all(not r["flags"] or r["flags"] == ["virtual-clock"] for r in d["results"] if r["path"] == "h2d")'

# ---- advice ----

CS_TIMEOUT=180 run 0 --no-mpi --seed 1 --cell-limit 300ms -s 16M --advise none,read-mostly,prefer-src,prefer-dst,accessed-by -t h2d.prefetch.managed.pair,h2d.demand.managed.pair,peer.demand.managed.pair,peer.prefetch.managed.pair -o a.json -o a.jsonl
ok_json "advice is a variant, a cell for each" a.json \
	'len({(r["test"], r["advice"], r["src"], r["dst"]) for r in d["results"]}) == 40 and not any(r["status"] == "failed" for r in d["results"])'
ok_json "... where pages stay, rows say so, and no other" a.json \
	'{(r["test"].split(".")[1], r["advice"]) for r in d["results"] if "pages-stayed" in r["flags"]} == {("prefetch", "read-mostly"), ("demand", "prefer-src"), ("demand", "accessed-by")} and not any("pages-stayed" in r["flags"] for r in d["results"] if r["advice"] in (None, "prefer-dst"))'
ok_json "... every one of them, none of which is not-moved" a.json \
	'all(("pages-stayed" in r["flags"]) == ((r["test"].split(".")[1], r["advice"]) in {("prefetch", "read-mostly"), ("demand", "prefer-src"), ("demand", "accessed-by")}) for r in d["results"] if "control" not in r["flags"])'
ok_json "... and where they are used from there, nothing moves: no rate" a.json \
	'{r["status"] for r in d["results"] if r["test"].split(".")[1] == "demand" and "pages-stayed" in r["flags"]} == {"skipped"} and not any(r["value"] for r in d["results"] if r["status"] == "skipped") and all(r["status"] == "ok" for r in d["results"] if "pages-stayed" not in r["flags"])'
ok_schema "... as the schema has it" a.json a.jsonl
run 0 "${here[@]}" --advise accessed-by,none -t 'h2d.demand.managed.pair,h2d.ce.pinned.pair' -o m.json
ok_json "what was advised of a cell is not said of the next" m.json \
	'[r["flags"] for r in d["results"] if not r["advice"] and "pages-stayed" in r["flags"]] == []'
run 0 "${here[@]}" --advise prefer-src -t local.ce.copy.alone
ok "advice on no managed memory: status 64" eval 'status_is 64 && one_line "--set advise: none of the chosen tests is of managed memory"'

# ---- why ----

why=h2d.prefetch.managed.pair,h2d.demand.managed.pair,d2h.demand.managed.pair,peer.prefetch.managed.pair,h2d.ce.pinned.pair
run 0 "${here[@]}" -t "$why" -o plain.json
FAKE_CUPTI_LOG=counts run 0 "${here[@]}" -t "$why" --why -o why.json -o why.csv
ok "--why takes a sample of each cell, and one more for each process, whose first CUPTI does not see" eval \
	'[ "$(wc -l <counts)" = 9 ]'
ok_json "--why counts the bytes that the driver moved, to GPUs, to the host and between GPUs" why.json \
	'(lambda c: len(c) == 8 and all((r["um_to_gpu_bytes"], r["um_to_host_bytes"], r["um_peer_bytes"]) == {"h2d": (B, 0, 0), "d2h": (0, B, 0), "peer": (0, 0, B)}[r["path"]] for B in [4 << 20] for r in c))([r for r in d["results"] if "counted" in r["flags"]])'
ok_json "... the pieces, and faults of GPUs and CPUs, of which a prefetch has none" why.json \
	'all((r["um_moves"], r["um_least_bytes"], r["um_most_bytes"], r["um_fault_groups"], r["um_faults"], r["um_cpu_faults"], r["um_fault_us"], r["um_evicted_bytes"]) == {"h2d.demand": (2, 2 << 20, 2 << 20, 2, 12, 0, 240, 0), "d2h.demand": (12, 64 << 10, 1 << 20, 0, 0, 12, 0, 0)}.get(r["test"][:10], (2, 2 << 20, 2 << 20, 0, 0, 0, 0, 0)) for r in d["results"] if "counted" in r["flags"])'
ok_json "... of managed memory alone, in one sample, checked whole" why.json \
	'all((r["um_moves"] is not None) == ("counted" in r["flags"]) and (r["um_moves"] is None or (r["memory"], r["n"], r["checked_whole"]) == ("managed", 1, 1)) for r in d["results"])'
ok_json "... after all that is timed, so that figures are those without --why" why.json \
	'(lambda of: of(d) == of(__import__("json").load(open("plain.json"))) and len(of(d)) == 8)(lambda x: {(r["test"], r["src"], r["dst"]): r["value"] for r in x["results"] if r["path"] != "d2h" and not {"control", "counted"} & set(r["flags"])})'
ok_schema "... as the schema has it" why.json
ok "... as a table, a line for each test" eval \
	'[ "$(sed -n "/^why /,/make room/p" out | grep -c "managed.pair  *[04]")" -ge 4 ] && prints "counted by CUPTI in one more sample"'
ok "... and in CSV" eval 'head -1 why.csv | grep -q ",um_to_gpu_bytes,um_to_host_bytes,"'
cp out live
run 0 show why.json
ok "... a file shows it again" cmp live out
uncounted() { # SENTENCE KNOB=VALUE TEXT: one note, and the figures
	export "${2?}"
	run 0 "${here[@]}" --gpus 0 -t h2d.prefetch.managed.pair --why -o k.json
	unset "${2%%=*}"
	export CS_LIBCUPTI=$CS_LIBCUDA
	ok_json "$1" k.json \
		"[x['severity'] for x in d['errors'] if x['id'] == 'not-counted' and '$3' in x['says']] == ['note'] and all(r['status'] == 'ok' and r['um_moves'] is None for r in d['results'])"
}
uncounted "without CUPTI: one note, and the run goes on" CS_LIBCUPTI=/nowhere/libcupti.so /nowhere/libcupti.so
uncounted "... so with a version whose records are not known" FAKE_CUPTI_VERSION=140000 "version is 140000"
uncounted "... with a driver that does not let it count" FAKE_CUPTI_REFUSE=28 "NOT_SUPPORTED (28)"
uncounted "... and where records were lost" FAKE_CUPTI_LOST=3 "lost 3 records"
uncounted "... and where the driver recorded a part of what moved" FAKE_CUPTI_FORGOTTEN=2 "smaller --size"
run 0 --explain h2d.demand.managed.pair
ok "--explain says what --why counts" prints "why  *--why counts page faults"

# ---- one fault ----

run 0 --no-mpi --seed 1 --cell-limit 1s -s 8M -t '*.chase.fault.pair' -o one.json
ok "one fault after the other, by a GPU: its time within 0.5 % of the truth" moving_pages one.json \
	'(lambda one: len(one) == 4 and all(abs(r["value"] / 1e9 / (28e-6 + 65536 / (down(number(r["dst"])) if r["path"] == "h2d" else across(number(r["src"]), number(r["dst"]))) + 5e-6 / 4) - 1) < .005 for r in one))([r for r in d["results"] if r["status"] == "ok" and r["path"] != "d2h" and r["unit"] == "ns"])'
ok_json "... by a CPU; the touched pages are proven to have come, between GPUs that is not" one.json \
	'all(r["status"] == "ok" and r["metric"] == "time" and r["checked_whole"] > 0 and ("placement-not-proven" in r["flags"]) == (r["path"] == "peer") for r in d["results"]) and sum(r["path"] == "d2h" and r["dst_pages_numa"] == 0 for r in d["results"]) == 2'
ok_schema "... as the schema has it" one.json

# ---- the call ----

blocks() {
	export FAKE_PREFETCH_BLOCKS=h-0
	run 0 "${here[@]}" --gpus 0 -t 'local.call.prefetch-in-*' -o calls.csv
}
aside blocks blocks
run 0 "${here[@]}" -t 'local.call.prefetch-*' -o c.json
ok "the call of a prefetch, both ways, in an idle and in a busy stream, and when all is there" prints "^  done .*until all pages are there"
ok_json "... a time of each, and of all bytes" c.json \
	'sorted((r["op"], r["metric"]) for r in d["results"] if r["src"] == "gpu1" and r["status"] == "ok" and r["unit"] == "us" and r["n"] == 6) == [("prefetch-%s-%s" % (w, s), m) for w in ("in", "out") for s in ("busy", "idle") for m in ("done", "time")]'
ok_json "... checked whole each time" c.json \
	'all(r["checked"] == r["checked_whole"] == 7 and r["wrong_bytes"] == 0 for r in d["results"] if r["metric"] == "time")'
ok_json "... to the host it is the work where the stream is idle, and returns before it where it is busy" c.json \
	'(lambda t: t["prefetch-out-idle", "time"] > 10 * t["prefetch-out-busy", "time"] and t["prefetch-out-busy", "time"] < .5 * t["prefetch-out-busy", "done"])({(r["op"], r["metric"]): r["value"] for r in d["results"] if r["src"] == "gpu1"})'
ok_schema "... as the schema has it" c.json
export FAKE_UM_STUCK=0-h
run 0 "${here[@]}" --gpus 0 -t 'local.call.prefetch-*' -o c.json
unset FAKE_UM_STUCK
ok_json "... without a figure where pages did not move, or could not be brought to their place" c.json \
	'len(d["results"]) == 4 and all(r["status"] == "failed" and r["flags"].count("not-moved") and "not all pages were on the host" in r["reason"] for r in d["results"])'

# ---- lies ----

lie() { # KNOB=VALUE TEST
	export "${1?}"
	run 0 "${here[@]}" --cell-limit 1s -t "$2" -o l.csv
	unset "${1%%=*}"
}
no_rate() { # SRC DST REASON: and its flag
	grep -E ",rate,managed,$1,$2,.*,failed,.*$3" l.csv | grep -q not-moved &&
		! grep -E ",rate,managed,$1,$2,.*,ok," l.csv
}
lie FAKE_UM_STUCK=h-0 h2d.prefetch.managed.pair
ok "a prefetch that moves nothing is no rate" eval 'status_is 2 && no_rate "[^,]*" gpu0 "after a sample 1024 of 1024 pages were still on the host"'
lie FAKE_UM_STUCK=h-0:0.75 h2d.prefetch.managed.pair
ok "... nor one that moves some" no_rate '[^,]*' gpu0 "256 of 1024 pages were still on the host"
lie FAKE_UM_STUCK=0-h d2h.prefetch.managed.pair
ok "... nor to the host" no_rate gpu0 '[^,]*' "pages were not on the host"
lie FAKE_UM_STUCK=0-1 peer.prefetch.managed.pair
ok "... nor between GPUs" no_rate gpu0 gpu1 "pages were not all on GPU 1"
ok "... nor if they could not be brought home" no_rate gpu1 gpu0 "before a sample pages were not all on GPU 1"
lie FAKE_UM_REMOTE=h-0 h2d.demand.managed.pair
ok "a touch that maps and does not move is no rate" no_rate '[^,]*' gpu0 "pages were still on the host"
lie FAKE_UM_REMOTE=h-0 h2d.chase.fault.pair
ok "... nor the time of a fault" eval 'grep -qE ",time,managed,[^,]*,gpu0,.*,failed,.*2 of 2 pages were still on the host.*not-moved" l.csv && ! grep -E ",time,managed,[^,]*,gpu0,.*,ok," l.csv'
lie FAKE_UM_LOST=h-0:8 h2d.demand.managed.pair
ok "a touch that is lost is corrupt" grep -qE ",rate,managed,[^,]*,gpu0,.*,corrupt," l.csv
lie FAKE_UM_LOST=h-0:512 h2d.chase.fault.pair
ok "... of a chase too" grep -qE ",time,managed,[^,]*,gpu0,.*,corrupt," l.csv
lie FAKE_UM_LOST=0-h:8 d2h.demand.managed.pair
ok "... as is a page that comes with another byte" grep -qE ",rate,managed,gpu0,[^,]*,.*,corrupt," l.csv
lie FAKE_PREFETCH_BLOCKS=h-0 h2d.prefetch.managed.pair
ok "a prefetch that blocks behind the gate is timed out, and nothing hangs" eval \
	'status_is 2 && grep -qE ",rate,managed,[^,]*,gpu0,.*,timeout," l.csv && grep -qE ",rate,managed,[^,]*,gpu1,.*,ok," l.csv'

# ---- a slow memory ----

FAKE_SLOW=0-0:0.05 run 0 --no-mpi --seed 1 -s 16M --cell-limit 1s -t "$pairs,h2d.demand.managed.pair" -o w.csv
ok "pages that the kernel says are on the only GPU they can be on have moved, however slowly it reads them" eval \
	'[ "$(grep -cE "[hd]2[hd]\.[a-z]*\.managed.pair,.*,ok," w.csv)" -ge 6 ] && ! grep -E "[hd]2[hd]\.[a-z]*\.managed.pair,.*,failed," w.csv'
ok "... between GPUs, where that is left open, a slow read is no rate" eval \
	'[ "$(grep -cE "peer.prefetch.managed.pair,.*,failed,.*GPU 0: it read them far slower.*not-moved" w.csv)" -ge 2 ]'

# ---- what links count ----

export FAKE_NVLINK_COUNTERS=$PWD/counters
run 0 "${here[@]}" -t "$pairs,d2h.demand.managed.pair" -o n.json
ok_json "links count the bytes of a sample, of its way alone: NVLink between GPUs, PCIe from and to the host" n.json \
	'len(d["results"]) == 12 and all(r["status"] == "ok" and (r["nvlink_bytes"], r["pcie_bytes"]) == ((r["copy_bytes"], 0) if r["path"] == "peer" else (0, r["copy_bytes"])) for r in d["results"])'
ok_schema "... as the schema has it" n.json
small() { # KNOB TEST: a range that is over too soon for a pass to tell
	export "$1=0-1"
	run 0 --no-mpi --seed 1 -s 64K --cell-limit 1s -t "$2" -o l.csv
	unset "$1"
}
small FAKE_UM_REMOTE peer.demand.managed.pair
ok "a touch that maps and does not move, in a time that looks right, is no rate: no link has carried it" \
	no_rate gpu0 gpu1 "should bring 64 KiB to GPU 1 its NVLinks counted 0 B"
ok "... and the other way it is one" grep -qE ",rate,managed,gpu1,gpu0,.*,ok," l.csv
small FAKE_UM_STUCK peer.prefetch.managed.pair
ok "... nor a prefetch that moves nothing" no_rate gpu0 gpu1 "its NVLinks counted 0 B"
FAKE_NVLINK_IDLE=1 run 0 "${here[@]}" -t peer.prefetch.managed.pair -o n.json
ok_json "what takes another way is not missed on NVLink" n.json \
	'all(r["status"] == "ok" and r["nvlink_bytes"] == 0 for r in d["results"])'
unset FAKE_NVLINK_COUNTERS
small FAKE_UM_REMOTE peer.demand.managed.pair
ok "without counters nobody can tell, and the row says so" eval \
	'[ "$(grep -cE ",rate,managed,gpu.,gpu.,.*,ok,.*placement-not-proven" l.csv)" = 2 ]'

# ---- what cannot be ----

skips() { # KNOB=VALUE REASON
	export "${1?}"
	run 0 "${here[@]}" -t 'h2d.prefetch.managed.pair,local.ce.copy.alone' -o k.csv
	unset "${1%%=*}"
	status_is 0 && grep -qE "managed.*,skipped,.*$2" k.csv && grep -qE "local.ce.copy.alone,.*,ok," k.csv
}
ok "without managed memory: skipped with the reason" skips FAKE_MANAGED=0 "no managed memory"
ok "without concurrent access: likewise" skips FAKE_CONCURRENT=0 "concurrentManagedAccess is 0"
export FAKE_CUDA=12.1
run 0 "${here[@]}" -t h2d.prefetch.managed.pair
unset FAKE_CUDA
ok "a driver before CUDA 12.2, which knows no NUMA nodes, suffices" eval 'status_is 0 && prints "2 of 2 cells"'
run 0 "${here[@]}" --managed-limit 2M -t h2d.prefetch.managed.pair,local.ce.copy.alone -o g.csv
ok "more than --managed-limit is skipped with the reason" grep -qE "managed.*,skipped,.*4 MiB of managed memory may come to GPU 0.*2 MiB .--set managed-limit" g.csv
memory 16777216
run 0 "${here[@]}" -s 12M -t h2d.prefetch.managed.pair -o g.csv
ok "... and more than half of what is free" grep -qE "skipped,.*half of that" g.csv
memory 0
back blocks
ok "a prefetch that waits for its stream is timed out, and no other" eval \
	'status_is 2 && grep -qE "prefetch-in-busy,.*,timeout," calls.csv && grep -qE "prefetch-in-idle,.*,ok," calls.csv'
run 0 "${here[@]}" --oversubscribe x -t h2d.prefetch.managed.pair
ok "--oversubscribe is a factor" status_is 64

for factor in 0 -1 nan 101; do
	run 0 "${here[@]}" --oversubscribe $factor -t h2d.prefetch.managed.pair
	ok "... and not $factor" eval 'status_is 64 && one_line "--oversubscribe .$factor.: allowed are 0.01 to 100"'
done
export FAKE_MEMORY=33554432
run 0 "${here[@]}" --gpus 0 -s 20M -t h2d.prefetch.managed.pair -o v.csv
ok "more than half of a GPU: skipped" grep -qE "managed.*,skipped,.*half of that" v.csv
run 0 "${here[@]}" --gpus 0 -s 20M --oversubscribe 2 -t h2d.prefetch.managed.pair -o v.csv
ok "... measured with --oversubscribe" grep -qE ",rate,managed,.*,ok," v.csv
run 0 "${here[@]}" --gpus 0 -s 40M --oversubscribe 2 -t h2d.prefetch.managed.pair -o v.csv -o v.json
ok "... what does not fit is no rate: not all of it can be there" eval \
	'status_is 2 && grep -qE ",rate,managed,.*,failed,.*not-moved" v.csv && ! grep -qE ",ok," v.csv'
unset FAKE_MEMORY
ok "... which the file says" grep -qE '"oversubscribe_percent": ?200' v.json
run 0 --list
ok "... and which no suite is: it is an option alone" eval 'status_is 0 && prints unified && ! grep -qi oversub out'

run 0 "${here[@]}" --cache cold -t h2d.prefetch.managed.pair
ok "caches of managed memory are no variant: refused in a line" eval \
	'status_is 64 && one_line "--set cache: none of the chosen tests copies from or to host memory"'

# ---- ranks ----

for ranks in 1 3; do
	run $ranks "${fast[@]}" -t h2d.prefetch.managed.all,peer.prefetch.managed.pair -o r.csv
	ok "$ranks ranks, two GPUs: from the host each" eval \
		'status_is 0 && [ "$(grep -cE "h2d.prefetch.managed.all,.*,rate,.*,ok," r.csv)" = 2 ]'
done
fake 4
run 4 "${fast[@]}" -t h2d.prefetch.managed.all,h2d.demand.managed.pair -o r.csv
ok "4 ranks, a GPU each" eval 'status_is 0 && [ "$(grep -cE "managed.*,rate,.*,ok," r.csv)" -ge 8 ]'
fake 2
run 2 "${fast[@]}" -t h2d.prefetch.managed.pair,peer.prefetch.managed.pair -o r.csv
ok "two processes: from and to the host as ever" eval '[ "$(grep -cE "h2d.prefetch.managed.pair,.*,ok," r.csv)" -ge 2 ]'
ok "... between GPUs skipped, with what to change" grep -qE "peer.prefetch.managed.pair,.*,skipped,.*--placement thread" r.csv
run 0 -n --gpus 2 --suite unified
ok "--suite unified has one way at a time, streams whose data fit, and overlap" eval \
	'status_is 0 && [ "$(grep -c "^test .*managed\.pair" out)" = 6 ] && prints_not "managed\.(bidi|all)" && [ "$(grep -c "^test .*\.streamw*\." out)" = 10 ] && prints "^test .*local.overlap" && [ "$(grep -c "^test .*local.call.prefetch-" out)" = 4 ] && [ "$(grep -c "^test .*chase\.fault\." out)" = 3 ] && [ "$(grep -c "^test .*system\.pair" out)" = 9 ]'
finish
