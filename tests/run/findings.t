#!/bin/bash
# What findings say: which GPU, once for what all of them share, and nothing unsaid.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake

pairs=(-t peer.ce.write.pair -s 1M --seed 1 --cell-limit 30s)
flat() { # PATTERN: whatever lines it is folded into
	tr -s ' \n' ' ' <out | grep -qE -- "$1"
}

# ---- a throttled GPU is named, and no other one has its flag ----

fake 8
FAKE_THROTTLE=3:0x8 run 0 "${pairs[@]}" --check -o one.json
ok_json "of pairs that ran at the same time those of the throttled GPU are flagged" one.json \
	'{(r["src"], r["dst"]) for r in d["results"] if "throttled" in r["flags"]} ==
	 {("gpu3", f"gpu{k}") for k in range(8) if k != 3} |
	 {(f"gpu{k}", "gpu3") for k in range(8) if k != 3} and
	 any(r["company"] >= 3 for r in d["results"])'
ok_json "… rows have the state of their own GPUs, and say which of both it was" one.json \
	'all((r["throttle_src"], r["throttle_dst"]) ==
	     tuple("0000000000000008" if r[end] == "gpu3" else None for end in ("src", "dst")) and
	     (r["sm_mhz"] is not None) == ("gpu3" in (r["src"], r["dst"]))
	     for r in d["results"])'
named='GPU 3 \(0000:4d:00.0\) throttled by hardware slowdown: peer.ce.write.pair 0->3, 1->3, 2->3 and 11 more cells measured meanwhile'
ok "… and the finding names the GPU: status 1" eval 'status_is 1 && flat "$named"'
ok_json "… also in its fields" one.json \
	'[(c["part"], c["bus_id"]) for c in d["checks"] if c["id"] == "throttled"] == [("gpu", "0000:4d:00.0")]'
ok_schema "… the document follows the schema" one.json
run 0 show one.json -v
ok "… with -v" flat "$named"
run 0 show one.json -f nagios
ok "… for nagios" prints "^CSCOPE-MPI WARNING: .*$named"
run 0 show one.json -f reason
ok "… for a scheduler" prints 'warning: .*GPU 3 \(0000:4d:00.0\) throttled by hardware slowdown'
FAKE_THROTTLE=3:0x8,5:0x40 run 0 "${pairs[@]}" --check -o two.json
ok_json "two throttled GPUs are two findings" two.json \
	'[c["bus_id"] for c in d["checks"] if c["id"] == "throttled"] == ["0000:4d:00.0", "0000:6f:00.0"]'

# ---- what all GPUs of a node share is one finding ----

all() { # VALUE: "0:VALUE,1:VALUE,..."
	printf "%s:$1," 0 1 2 3 4 5 6 7 | sed 's/,$//'
}
FAKE_THROTTLE=$(all 0x4) run 0 "${pairs[@]}" --check
ok "all GPUs throttled: one finding" eval \
	'flat "findings 1 warning" && flat "all 8 GPUs throttled by power cap: peer.ce.write.pair 0->1, 0->2, 0->3 and 53 more cells"'
FAKE_NVML_OTHERS=$(all 1) run 0 "${pairs[@]}" --check
ok "others on all GPUs: one finding" eval \
	'flat "findings 1 warning" && flat "all 8 GPUs: 1 process of others on each; peer.ce.write.pair 0->1, 0->2, 0->3 and 53 more cells"'
finish
