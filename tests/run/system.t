#!/bin/bash
# Memory as malloc gives it, which GPUs use by HMM or by ATS: its figures are the fake
# driver's truth, none stands where a page was not where it should be, and where a GPU
# cannot use such memory that is said.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
. "${TESTDATA:-tests}/run/moves.sh" || exit 1
needs_fake
fake 2
memory 0
export CS_TIMEOUT=300 # pages move one by one: long on a busy machine
here=(--no-mpi --seed 1 -s 4M --cell-limit 10s)

# ---- where there is none ----

run 0 "${here[@]}" -t '*.system.*,*.chase.fault-system.*,local.ce.copy.alone' -o n.json
ok "without HMM and ATS: skipped in one sentence, with the attribute that is missing" eval \
	'status_is 0 && prints "pageableMemoryAccess is 0: this GPU cannot use memory of malloc .neither HMM"'
ok_json "... all of them, and nothing else" n.json \
	'{r["status"] for r in d["results"] if "system" in r["test"]} == {"skipped"} and len({r["test"] for r in d["results"] if r["status"] == "skipped"}) == 18 and all(r["status"] == "ok" for r in d["results"] if "system" not in r["test"])'
run 0 -n --gpus 2 -m h2d,d2h,peer --method prefetch,demand
ok "no method brings them along: they are asked for by name, or by --suite unified" eval \
	'status_is 0 && prints demand.managed && prints_not "\.system\."'

# ---- HMM: it moves as managed memory does ----

truth='want = {
    "h2d.prefetch.system.pair": lambda a, b: gbs(2.7e-6 + B / down(b)),
    "d2h.prefetch.system.pair": lambda a, b: gbs(2.7e-6 + B / up(a)),
    "peer.prefetch.system.pair": lambda a, b: gbs(2.7e-6 + B / across(a, b)),
    "h2d.demand.system.pair": lambda a, b: gbs(5e-6 + faults + B / down(b)),
    "peer.demand.system.pair": lambda a, b: gbs(5e-6 + faults + B / across(a, b)),
    "h2d.chase.fault-system.pair": lambda a, b: 1e9 * (28e-6 + 65536 / down(b) + 5e-6 / 2),
    "peer.chase.fault-system.pair": lambda a, b: 1e9 * (28e-6 + 65536 / across(a, b) + 5e-6 / 2),
}
good = [r for r in d["results"] if r["status"] == "ok" and r["test"] in want]
'
export FAKE_PAGEABLE=1
run 0 "${here[@]}" -t '*.system.pair,*.chase.fault-system.pair' -o p.json
ok "HMM: prefetches, faults and their latency, each figure within 0.5 % of the truth" moving_pages p.json \
	'len(good) == 14 and all(abs(r["value"] / want[r["test"]](number(r["src"]), number(r["dst"])) - 1) < .005 for r in good)'
ok "... every sample checked whole, all of them moved" eval \
	'status_is 0 && prints " 0 wrong bytes" && prints_not "not-moved"'
ok_json "... and of what is on the host its node is proven" p.json \
	'all(r["dst_pages_numa"] == 0 for r in d["results"] if r["path"] == "d2h") and all(r["src_pages_numa"] == 0 for r in d["results"] if r["path"] == "h2d") and {r["memory"] for r in d["results"] if r["path"] != "peer"} == {"system"}'
ok_schema "... as the schema has it" p.json
run 0 "${here[@]}" --threads 1,2 -t 'd2h.demand.system.pair,h2d.*.system.bidi,*.system.all' -o b.json
ok_json "both ways, all GPUs at once, and CPU threads" b.json \
	'all(r["status"] == "ok" for r in d["results"]) and {r["cpu_threads"] or 1 for r in d["results"] if r["test"] == "d2h.demand.system.pair"} == {1, 2}'
run 0 --no-mpi --seed 1 --cell-limit 1s -s 4M --advise read-mostly,prefer-src -t h2d.demand.system.pair -o a.json
ok_json "advice is taken as for managed memory" a.json \
	'{(r["advice"], r["status"]) for r in d["results"] if "control" not in r["flags"]} == {("read-mostly", "ok"), ("prefer-src", "skipped")} and all("pages-stayed" in r["flags"] for r in d["results"] if r["status"] == "skipped")'

lie() { # KNOB=VALUE TEST
	export "${1?}"
	run 0 "${here[@]}" --gpus 0 --cell-limit 1s -t "$2" -o l.csv
	unset "${1%%=*}"
}
no_rate() { # REASON: and its flag
	grep -E ",rate,system,.*,failed,.*$1" l.csv | grep -q not-moved &&
		! grep -E ",system,.*,ok," l.csv
}
lie FAKE_UM_STUCK=h-0 h2d.prefetch.system.pair
ok "a prefetch that moves nothing is no rate" no_rate "after a sample 1024 of 1024 pages were still on the host"
lie FAKE_UM_STUCK=0-h d2h.prefetch.system.pair
ok "... nor to the host" no_rate "pages were not on the host"
lie FAKE_UM_REMOTE=h-0 h2d.demand.system.pair
ok "a touch that maps and does not move is no rate" no_rate "after a sample 1024 of 1024 pages were still on the host"
lie FAKE_UM_LOST=h-0:8 h2d.demand.system.pair
ok "a touch that is lost is corrupt" grep -qE ",rate,system,.*,corrupt," l.csv
lie FAKE_UM_LOST=0-h:8 d2h.demand.system.pair
ok "... as is a page that comes with another byte" grep -qE ",rate,system,.*,corrupt," l.csv

# ---- ATS: a touch needs neither fault nor move anything ----

export FAKE_PAGEABLE=2
run 0 "${here[@]}" -t 'h2d.*.system.pair,d2h.prefetch.system.pair,peer.*.system.pair,h2d.chase.fault-system.pair' -o ats.json
ok "ATS: prefetches move, and each figure is within 0.5 % of the truth" moving_pages ats.json \
	'len(good) == 6 and all(r["test"].split(".")[1] == "prefetch" and abs(r["value"] / want[r["test"]](number(r["src"]), number(r["dst"])) - 1) < .005 for r in good)'
ok_json "... what is touched stays where it is: not-moved, and no figure" ats.json \
	'all(r["status"] == "skipped" and "not-moved" in r["flags"] and "pageableMemoryAccessUsesHostPageTables" in r["reason"] for r in d["results"] if ".prefetch." not in r["test"]) and sum(".prefetch." not in r["test"] for r in d["results"]) == 6'
ok_json "... also between GPUs, where it would be over too soon to tell" ats.json \
	'[("not proven to be on GPU" in r["reason"]) for r in d["results"] if r["test"] == "peer.demand.system.pair"] == [True, True]'
lie FAKE_UM_STUCK=h-0 h2d.prefetch.system.pair
ok "... and a prefetch that moves nothing has failed there too" no_rate "after a sample 1024 of 1024 pages were still on the host"

# ---- ranks ----

export FAKE_PAGEABLE=1
run 2 --seed 1 -s 4M --cell-limit 10s -t h2d.demand.system.all,peer.demand.system.pair -o r.csv
ok "a process for each GPU: from the host each, between GPUs skipped with what to change" eval \
	'status_is 0 && [ "$(grep -cE "h2d.demand.system.all,.*,rate,.*,ok," r.csv)" = 2 ] && grep -qE "peer.demand.system.pair,.*,skipped,.*--placement thread" r.csv'
finish
