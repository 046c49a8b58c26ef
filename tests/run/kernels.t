#!/bin/bash
# Kernels that copy, read, write and chase, and patterns of several transfers, on the
# driver's double: what moved the data shows in the figure.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 3
fast=(--no-mpi -s 1M --spread 1 --seed 1 --cell-limit 1m)

# On standard output, wherever lines end.
folded() { # PATTERN
	tr -s ' \n' '  ' <out | grep -qE -- "$1"
}

# Every figure of a test is what this awk expression of i, the source, and j, the
# destination, says, within 0.1 %.
all_are() { # FILE TEST EXPRESSION [METRIC]
	cells "$1" "${4:-rate}" | awk -v test="$2" '$1 == test {
		i = substr($2, length($2)); j = substr($3, length($3))
		want = '"$3"'; off = $7 / want - 1
		if ($5 != "ok" || off > 1e-3 || off < -1e-3) { print $0, "and not", want; bad = 1 }
		n++
	}
	END { print n + 0, "cells"; exit bad || !n }'
}

# ---- who copies ----

run 0 "${fast[@]}" -m peer --pattern pair --method sm,tma --op both -o p.csv -o p.json
ok "kernels and bulk copies between GPUs: every cell is measured" eval 'status_is 0 && all_ok p.csv 24'
# a launch is a hundred copies and more: what it takes by itself is not to be seen
ok "writes by a kernel have a kernel's figure, source and destination their own" \
	all_are p.csv peer.sm.write.pair '0.9375 * (396 + 0.1 * i - 0.03 * j) * 0.99'
ok "... by bulk copies theirs" \
	all_are p.csv peer.tma.write.pair '0.9453125 * (396 + 0.1 * i - 0.03 * j)'
ok "... reads are issued by the destination, and slower by what the clock says" eval \
	'all_are p.csv peer.sm.read.pair "0.9375 * (393.8 + 0.1 * i - 0.03 * j)" &&
	 ! awk -F, "/read.pair/ && \$13 != \$10" p.csv | grep -q .'
ok_json "blocks and threads of each are in the file" p.json \
	'all(r["grid_blocks"] >= 132 and r["block_threads"] >= 1 and (r["method"] == "sm") == (r["block_threads"] > 1) for r in d["results"])'
ok_json "of the geometries of a link the best one is taken: 135168 threads, or the nearest" p.json \
	'{(r["test"], r["grid_blocks"] * r["block_threads"]) for r in d["results"] if r["method"] == "sm"} == {("peer.sm.read.pair", 135168), ("peer.sm.write.pair", 67584)}'
ok_schema "... as the schema has it" p.json
figures p.csv >want
run 3 -s 1M --spread 1 --seed 1 -m peer --pattern pair --method sm,tma --op both -o r.csv
ok "a rank per GPU: the same figures" eval 'status_is 0 && figures r.csv | sed "s/\.[0-9]*$//" >got &&
	sed "s/\.[0-9]*$//" want >whole && same whole got'

run 0 "${fast[@]}" -m local -o l.csv -o l.json
ok "within a GPU: copies by engine, kernel and bulk copies, reads, writes" eval \
	'status_is 0 && all_ok l.csv 18 && prints "^ +GPU +0 +1 +2$"'
ok "... with the figures of each" eval \
	'all_are l.csv local.sm.copy.alone "0.9375 * 2085" && all_are l.csv local.tma.copy.alone "0.9453125 * 2085" &&
	 all_are l.csv local.sm.read.alone 4200 && all_are l.csv local.sm.write.alone 4000 &&
	 all_are l.csv local.sm.triad.alone "0.999 * 86 / 132 * 4092 * (1 - 0.01 * i)"'
ok_json "... by the best geometry" l.json \
	'{r["grid_blocks"] * r["block_threads"] for r in d["results"] if r["method"] == "sm" and r["op"] != "triad"} == {135168} and {r["grid_blocks"] * r["block_threads"] for r in d["results"] if r["method"] == "tma"} == {132}'
ok_json "... a triad by a thread for each 16 bytes of an array" l.json \
	'{(r["grid_blocks"], r["block_threads"]) for r in d["results"] if r["op"] == "triad"} == {(86, 256)}'
ok_schema "... as the schema has it" l.json
run 0 "${fast[@]}" -m h2d,d2h --pattern pair --method sm -o h.csv
ok "kernels from and to host memory" eval \
	'status_is 0 && all_ok h.csv 6 && all_are h.csv h2d.sm.pinned.pair "0.9375 * (55.3 + 0.1 * j) * 0.99" &&
	 all_are h.csv d2h.sm.pinned.pair "0.9375 * (55.2 + 0.1 * i) * 0.99"'
FAKE_HOST_SHARED=60 run 0 "${fast[@]}" -t h2d.sm.pinned.load,h2d.sm.pinned.bidiload -o l.json
ok_json "beside loads, where all geometries are alike, that is taken which is best alone" l.json \
	'{(r["pattern"], r["grid_blocks"] * r["block_threads"], r["value"] < 21) for r in d["results"]} == {("load", 67584, True), ("bidiload", 135168, True)}'
FAKE_CAPABILITY=8.0 run 0 "${fast[@]}" -m peer --pattern pair --method sm,tma -o c.csv
ok "no bulk copies below capability 9.0: those cells have the reason, the rest is measured" eval \
	'status_is 0 && [ "$(cells c.csv | grep -c "^peer.sm.* ok ")" = 6 ] && [ "$(cells c.csv | grep -c "^peer.tma.* skipped ")" = 6 ] &&
	 folded "TMA needs compute capability 9.0, this GPU has 8.0"'
ok_refused "a method that is none: status 64, what is allowed" "allowed are ce, cpu, sm, driver, peercopy, staged, tma, chase, zerocopy" --method warp

# ---- the data ----

FAKE_CORRUPT=0-1:64 run 0 "${fast[@]}" -m peer --pattern pair --method sm,tma -o c.csv
ok "wrong bytes of kernels are found: those cells are corrupt, and no other" eval \
	'status_is 2 && [ "$(cells c.csv | grep -c " gpu0 gpu1 .* corrupt ")" = 2 ] && [ "$(cells c.csv | grep -vc " ok ")" = 2 ]'
FAKE_CORRUPT=1-1:64 run 0 "${fast[@]}" -t local.sm.read.alone -o c.csv
ok "a read that adds up wrongly is found" eval \
	'status_is 2 && one_line "local.sm.read.alone 1->1 .*what was read adds up to" && [ "$(cells c.csv | grep -vc " ok ")" = 1 ]'
memory 0
for spread in 1 5M; do # one place, several
	FAKE_CORRUPT=1-1:64 run 0 "${fast[@]}" --spread $spread -t local.sm.triad.alone -o c.csv
	ok "a triad is compared with what its arrays give, and nothing else: --spread $spread" eval \
		'status_is 2 && [ "$(cells c.csv | grep -c " gpu1 gpu1 .* corrupt ")" = 1 ] && [ "$(cells c.csv | grep -c " ok ")" = 2 ]'
done
run 0 --no-mpi --seed 1 --gpus 0 -s 32 -t local.sm.triad.alone
ok "three arrays have 48 bytes at least" eval 'status_is 2 && one_line "a triad has at least 48 bytes, not 32"'
run 0 --no-mpi --seed 1 --gpus 0,1 -t local.l2.read.alone,local.shared.read.alone -o chip.csv -o chip.json
ok "what is on the chip has a rate of its own, whatever --size" eval \
	'status_is 0 && all_are chip.csv local.l2.read.alone "0.999 * 6600 * (1 - 0.01 * i)" &&
	 all_are chip.csv local.shared.read.alone "0.999 * 33000 * (1 - 0.01 * i)"'
ok_json "... by one block on each multiprocessor, and by sums" chip.json \
	'all((r["grid_blocks"], r["block_threads"]) == (132, 1024) and r["checked_whole"] == r["checked"] > len(r["samples"]) for r in d["results"])'
ok_schema "... as the schema has it" chip.json
FAKE_DEAD_READS=1 run 0 --no-mpi --seed 1 --gpus 0 -t local.l2.read.alone,local.shared.read.alone -o dead.json
ok_json "... and a kernel that reads nothing is found" dead.json \
	'all(r["status"] == "failed" and "adds up to 0, the pattern to 0x" in r["reason"] for r in d["results"])'

memory 12000000

# ---- zero-copy ----

run 0 "${fast[@]}" -m peer,h2d,d2h --method zerocopy --op both --pattern pair,bidi -o z.csv -o z.json
ok "zero-copy, between GPUs and with the host: every cell is measured" eval 'status_is 0 && all_ok z.csv 36'
# a launch is a hundred copies and more: what it takes by itself is not to be seen
ok "... by loads and by stores, each at its own rate" eval \
	'all_are z.csv peer.zerocopy.write.pair "0.875 * (396 + 0.1 * i - 0.03 * j)" &&
	 all_are z.csv peer.zerocopy.read.pair "0.8125 * (393.8 + 0.1 * i - 0.03 * j)" &&
	 all_are z.csv h2d.zerocopy.pinned.pair "0.8125 * (55.3 + 0.1 * j)" &&
	 all_are z.csv d2h.zerocopy.pinned.pair "0.875 * (55.2 + 0.1 * i)"'
ok "... both ways at once: each GPU its own half, and with the host one kernel" eval \
	'all_are z.csv peer.zerocopy.write.bidi "0.988 * 0.875 * (396 + 0.1 * i - 0.03 * j)" &&
	 all_are z.csv peer.zerocopy.read.bidi "0.988 * 0.8125 * (393.8 + 0.1 * i - 0.03 * j)" &&
	 cells z.csv | awk "\$1 == \"h2d.zerocopy.pinned.bidi\"" | grep -q "gpu0 numa0"'
ok_json "... that lasted equally long" z.json \
	'all(r["overlap"] > 0.98 for r in d["results"] if r["test"] == "h2d.zerocopy.pinned.bidi" and r["metric"] == "rate")'
ok_json "the geometry is as defined and in every row: 256 x 256, both ways with the host 512" z.json \
	'{(r["pattern"], r["path"] == "peer", r["grid_blocks"], r["block_threads"]) for r in d["results"] if r["metric"] == "rate"} == {("pair", True, 256, 256), ("bidi", True, 256, 256), ("pair", False, 256, 256), ("bidi", False, 512, 256)}'
ok_json "every sample is checked, and what was read as a whole: by its sum" z.json \
	'all(r["checked"] > len(r["samples"]) and (r["issuer"] != r["dst"] or r["checked_whole"] == r["checked"]) for r in d["results"] if r["metric"] == "rate")'
ok_schema "... as the schema has it" z.json
figures z.csv >want
for n in 1 2 3 6; do
	[ "$n" -le 3 ] || fake 6
	run "$n" -s 1M --spread 1 --seed 1 --cell-limit 1m --gpus 0-2 -m peer,h2d,d2h --method zerocopy --op both --pattern pair,bidi -o r.csv
	ok "... in $n ranks: the same figures" eval \
		'status_is 0 && figures r.csv | sed "s/\.[0-9]*$//" >got && sed "s/\.[0-9]*$//" want >whole && same whole got'
done
fake 3
FAKE_DEAD_READS=1 run 0 "${fast[@]}" -m peer,h2d,d2h --method zerocopy --op both --pattern pair -o c.csv
ok "a kernel that reads nothing is found, one that writes is not reported" eval \
	'status_is 2 && one_line "zerocopy.* what was read adds up to 0, the pattern to" &&
	 [ "$(cells c.csv | grep -cE "zerocopy.(read|pinned).pair .* failed ")" = 9 ] && [ "$(cells c.csv | grep -c " ok ")" = 9 ]'
cat >want <<-'END'
	d2h.zerocopy.pinned.pair gpu1 numa0 corrupt
	h2d.zerocopy.pinned.bidi gpu1 numa0 failed
	h2d.zerocopy.pinned.bidi numa0 gpu1 failed
	h2d.zerocopy.pinned.pair numa0 gpu1 failed
	peer.zerocopy.read.bidi gpu0 gpu1 failed
	peer.zerocopy.read.bidi gpu1 gpu0 failed
	peer.zerocopy.read.pair gpu0 gpu1 failed
	peer.zerocopy.write.bidi gpu0 gpu1 corrupt
	peer.zerocopy.write.pair gpu0 gpu1 corrupt
END
FAKE_CORRUPT=h-1:64,1-h:64,0-1:64 run 0 "${fast[@]}" -m peer,h2d,d2h --method zerocopy --op both --pattern pair,bidi -o c.csv
cells c.csv | grep -v " ok " | cut -d" " -f1-3,5 | sort -u >got
ok "what was read wrongly fails, what was written wrongly is corrupt, and nothing else" eval \
	'status_is 2 && same want got'
run 0 "${fast[@]}" -m h2d --pattern pair -o d.csv
ok "who asks for no method gets none of it" eval '! cells d.csv | grep zerocopy'

# ---- zero-copy by its grid, and by the order of its accesses ----

run 0 "${fast[@]}" --gpus 0 -t h2d.zerocopy.pinned.pair --set blocks=1,64,256,block-threads=64,256 -o grid.csv -o grid.json
cp out live
ok "a table of rates: blocks down, threads across, and how few are enough" eval \
	'status_is 0 && all_ok grid.csv 6 && prints "^ *blocks +x 64 +x 256$" && [ "$(grep -cE "^ *(1|64|256)( +[0-9.]+){2}$" out)" = 3 ] &&
	 folded "best: 256 blocks of 256 threads" && ! folded "95 % of that"'
ok_json "each row says its grid, and the usual one is no variant" grid.json \
	'{(r["grid_blocks"], r["block_threads"]) for r in d["results"]} == {(b, t) for b in (1, 64, 256) for t in (64, 256)} and all((r["zero_blocks"] or 256, r["zero_threads"] or 256) == (r["grid_blocks"], r["block_threads"]) for r in d["results"])'
ok_schema "... as the schema has it" grid.json
run 0 show grid.json
ok "... a file shows it as the run did" same live out
run 0 "${fast[@]}" --gpus 0 -t h2d.zerocopy.pinned.pair,d2h.zerocopy.pinned.pair --set access=coalesced,strided,random -o a.csv -o a.json
ok_json "without neighbours a transaction of 32 bytes carries 4: an eighth of the rate, and every byte is right" a.json \
	'(lambda v: all(v[p, None] / v[p, a] > 7.5 for p in ("h2d", "d2h") for a in ("strided", "random")))({(r["path"], r["access"]): r["value"] for r in d["results"]}) and all(r["status"] == "ok" and r["checked"] > 0 == r["wrong_bytes"] for r in d["results"])'
ok "... in a matrix of its own" folded "zero-copy kernel, pinned memory, one at a time, random access, GB/s"
for what in blocks=3 blocks=2K block-threads=16 access=odd tiles=3M; do
	run 0 "${fast[@]}" -t h2d.zerocopy.pinned.pair --set "$what"
	ok "no grid or order of accesses: $what" eval 'status_is 64 && one_line "--set .$what.: |--set .$what"'
done
run 0 "${fast[@]}" -t h2d.zerocopy.pinned.bidi --set blocks=1
ok "both ways at once have none" eval 'status_is 64 && one_line "none of the chosen tests is zero-copy one way"'

# ---- one buffer of the host for all GPUs ----

run 0 "${fast[@]}" -t 'h2d.*.pinned.shared' -o s.csv -o s.json
ok_json "all GPUs read one buffer at once, and all have what it holds" s.json \
	'len([r for r in d["results"] if r["metric"] == "rate" and r["status"] == "ok" and r["checked"] > 0 == r["wrong_bytes"]]) == 6'
FAKE_CORRUPT=h-1:64 run 0 "${fast[@]}" -t h2d.ce.pinned.shared -o s.csv
cells s.csv | cut -d" " -f3,5 | sort -u >got
ok "... which is checked in each" eval 'status_is 2 && [ "$(paste -sd, got)" = "gpu0 ok,gpu1 corrupt,gpu2 ok" ]'
run 3 -s 1M --seed 1 -t h2d.ce.pinned.shared -o s.csv
ok "... which have to be of one process" eval 'grep -q "skipped.*a buffer is of one process" s.csv && ! cells s.csv | grep " ok "'

# ---- latency ----

run 0 --no-mpi --seed 1 -s 64K -m h2d,peer,local --method chase --pattern pair -o t.csv -o t.json
ok "latency of loads: row is where the memory is, the column's GPU loads" eval \
	'status_is 0 && all_are t.csv peer.chase.stride.pair "830 + 2 * i" time && all_are t.csv peer.chase.random.pair "830 + 2 * i" time &&
	 prints "^ +1 +832.00 +- +832.00$"'
ok "... of bulk copies" all_are t.csv peer.chase.bulk.pair '1180 + 2 * i' time
ok "... from host memory" all_are t.csv h2d.chase.stride.pair '1200 + 2 * j' time
ok "... from the GPU's own" all_are t.csv local.chase.random.alone 280 time
ok_json "... in nanoseconds, issued by whom it takes them" t.json \
	'all(r["unit"] == "ns" and r["issuer"] == r["dst"] and r["metric"] != "total" for r in d["results"])'
ok_schema "... as the schema has it" t.json
for i in 0-1 h-0 2-2; do
	FAKE_CORRUPT=$i:64 run 0 --no-mpi --seed 1 -s 64K -m h2d,peer,local --method chase -o c.csv
	ok "a chase that ends elsewhere is found, $i" eval \
		'status_is 2 && one_line ".chase..* failed: GPU .* the chase ended at .*, the chain leads to" && cells c.csv time | grep -q " failed "'
done
run 0 --no-mpi --seed 1 -s 64K:1M:x4 -m peer --method chase --pattern pair -o s.csv
ok "a sweep is a curve over what is chased through, at random" eval \
	'status_is 0 && prints "^ +64 KiB +6/6 +830.00 +832.00 +834.00" && prints "^ +1 MiB +6/6 +830.00" &&
	 prints "^ +256 KiB +6/6 +830.00" && [ "$(cells s.csv time | grep -c " ok ")" = 30 ]'

# ---- several at once ----

run 0 "${fast[@]}" -m peer --pattern all-to-one,one-to-all -o a.csv -o a.json
ok "all to one, one to all: what goes into each GPU and out of it" eval \
	'status_is 0 && prints "^ +into +262.32 +262.27 +262.25$" && prints "^ +out of +262.25 +262.30 +262.36$"'
ok_json "... totals of the common window, the hub named" a.json \
	'sorted({r["dst"] for r in d["results"] if r["metric"] == "total" and r["pattern"] == "all-to-one"}) == ["gpu0", "gpu1", "gpu2"] == sorted({r["src"] for r in d["results"] if r["metric"] == "total" and r["pattern"] == "one-to-all"})'
fake 4
run 0 "${fast[@]}" -m peer --pattern ring,bisect,shift:3 -o g.csv
# PATTERN "SRC DST"...
has() {
	[ "$(cells g.csv | awk -v t="peer.ce.write.$1" '$1 == t { print $2 $3 }' | tr -d 'gpu\n')" = "$2" ]
}
ok "ring: each to the next, all at once" eval 'status_is 0 && has ring 01122330'
ok "bisect: each to the one half-way round" has bisect 02132031
ok "shift:3: each to the third after it" has shift 03102132
ok "... with the total of all" folded "all together, common window: min 784.26"
run 0 "${fast[@]}" -m peer --pattern random:1 -o g.csv
cells g.csv | cut -d' ' -f2,3 >first
run 0 "${fast[@]}" -m peer --pattern random:1 -o g.csv
ok "random:1: a destination for each by lot, the same with the same seed" eval \
	'status_is 0 && cells g.csv | cut -d" " -f2,3 >again && same first again && [ "$(cut -d" " -f1 again | sort -u | wc -l)" = 4 ] &&
	 [ "$(wc -l <again)" = 4 ]'
ok_refused "... and a number that is none: status 64" "after .:. comes a number from 1 on, for shift and random only" --pattern random:0

run 0 "${fast[@]}" -m peer --pattern pair,rounds -o w.csv
ok "rounds: as many pairs at once as there are, each of them once" eval \
	'status_is 0 && all_ok w.csv 24 && folded "together / alone in %, alone by peer.ce.write.pair of this run"'
ok "... which concurrency does not slow on links of their own" prints "^ +worst 100.00 %"
FAKE_PEER_SHARED=0-1:3-2 run 0 "${fast[@]}" -m peer --pattern pair,rounds -o w.csv -o w.json
sed -n '/together \/ alone/,/worst/p' out >alone
ok "pairs that share a link are found, exactly these" eval \
	'[ "$(grep -oE "[0-9]+\.[0-9][0-9]" alone | sed "\$d" | grep -vc "^100.00")" = 3 ] &&
	 grep -qE "^ +0 +- +66.88< +100.00 +100.00$" alone && grep -qE "^ +3 +100.00 +100.00 +66.89< +-$" alone &&
	 grep -qE "worst 66.88 % .0->1." alone'
run 0 show w.json
ok "... in the file as well" eval 'sed -n "/together \/ alone/,/worst/p" out >shown && same alone shown'
finish
