#!/bin/bash
# What is checked of the copies of a sample: each of them where it has a place of its own.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2
memory 0
one=(--no-mpi --seed 1 --cell-limit 1m)
says() { # WORDS: across the lines that long text is folded into
	tr -s " \n" " " <out | grep -qF -- "$1"
}

# ---- one way into a GPU: every copy ----

# the first sample is one copy, those behind it 512
for copy in 1 2 300 513 514 800 1025; do
	FAKE_CORRUPT=0-1:4095 FAKE_CORRUPT_COPY=$copy run 0 "${one[@]}" -s 4K -t peer.ce.write.pair -o c.json
	nth=$(((copy - 2) % 512 + 1))
	[ $copy = 1 ] && of='' || of=" of copy $nth"
	ok "a wrong byte in any one copy of a sample is found, and which copy it was ($copy)" eval \
		'status_is 2 && one_line "peer.ce.write.pair 0->1 corrupt: 1 wrong byte, the first at 4095$of: expected [0-9a-f]{16}, found"'
done
ok_json "... wrong bytes are counted, not words" c.json \
	'[r["wrong_bytes"] for r in d["results"] if r["status"] == "corrupt"] == [1]'
ok_schema "... as the schema has it" c.json
FAKE_CORRUPT=0-1:-1 FAKE_CORRUPT_COPY=300 run 0 "${one[@]}" -s 4K -t peer.ce.write.pair
ok "a copy that never arrived is found among 512" eval \
	'status_is 2 && one_line "corrupt: 40[0-9]{2} wrong bytes, the first at 0 of copy 299: .*; never written"'
FAKE_CORRUPT=1-0:17 FAKE_CORRUPT_COPY=9 run 2 "${one[@]:1}" -s 4M -t peer.ce.read.pair
ok "... of large copies and between processes as well" eval \
	'status_is 2 && says_once "1->0 corrupt: 1 wrong byte, the first at 17 of copy [0-9]+: "'
FAKE_CORRUPT=h-1:17 FAKE_CORRUPT_COPY=9 run 0 "${one[@]}" -s 1M -t h2d.ce.pinned.pair
ok "... and from the host" eval \
	'status_is 2 && one_line "host->1 corrupt: 1 wrong byte, the first at 17 of copy [89]: "'
ok "... which is no fault of a source that the GPU does not have" eval '! grep -q "source buffer" out'
run 0 "${one[@]}" -s 64K -t peer.ce.write.pair,h2d.ce.pinned.pair -o w.json
ok "the data line says of which samples every copy was checked" says \
	"timed transfers checked by the destination's owner, 0 wrong bytes: every copy of each"
ok_json "... and so does each row" w.json \
	'all(r["checked"] == r["checked_whole"] == r["n"] + r["discarded"] and r["checked_part"] == 0 for r in d["results"])'
run 0 show w.json --cell 0,1
ok "... and a cell" says "data 7 samples checked, 0 wrong bytes: every copy of each"
fake 3
FAKE_CORRUPT=2-0:17 FAKE_CORRUPT_COPY=40 run 0 "${one[@]}" -s 16K -t peer.ce.write.all-to-one
ok "several into one GPU divide its buffer" eval \
	'status_is 2 && one_line "2->0 corrupt: 1 wrong byte, the first at 17 of copy (39|40): "'
fake 2

# ---- elsewhere: the last one, and all of a first sample ----

both=(-s 4K -t peer.ce.write.bidi)
run 0 "${one[@]}" "${both[@]}" -o b.json
ok "both ways at once: the last copy, and every copy of what does not count" eval \
	'status_is 0 && says "14 timed transfers checked" && says "every copy of 2, the last copy of 12"'
FAKE_CORRUPT=0-1:0 FAKE_CORRUPT_COPY=1024 run 0 "${one[@]}" "${both[@]}"
ok "... a copy that others followed to its place is not checked, as the line says" status_is 0
FAKE_CORRUPT=0-1:0 FAKE_CORRUPT_COPY=1025 run 0 "${one[@]}" "${both[@]}"
ok "... the last one is" status_is 2
run 0 "${one[@]}" -s 4K -t d2h.ce.pinned.pair
ok "into host memory: the last copy, whole where it is small" says "every copy of 1, the last copy of 13"
run 0 "${one[@]}" -s 8M -t d2h.ce.pinned.pair --gpus 0 -o h.json
ok "... else a part of it, and all after the last sample" eval \
	'says "a part of the last copy of" && status_is 0'
ok_json "... as each row says" h.json \
	'all(r["checked_part"] == r["checked"] - 1 for r in d["results"])'
FAKE_MEMORY=5000000 run 0 "${one[@]}" -s 64K -t peer.ce.write.pair
ok "where there is no memory for all copies: measured, the last one checked" eval \
	'status_is 0 && says "every copy of 1, the last copy of 13"'
run 0 "${one[@]}" -s 64K -t peer.ce.write.pair --verify last
ok "--verify last: all copies of the last sample" says "2 timed transfers checked by the destination's owner, 0 wrong bytes: every copy of each"
fake 3
FAKE_ASTRAY=1-2:-$((2 << 20)) run 0 "${one[@]}" -m peer -s 64K -o source.json
ok_json "copies into a source: that it changed is a finding" source.json \
	'[(e["severity"], e["says"][:6]) for e in d["errors"] if e["id"] == "source-changed"] == [("critical", "GPU 2:")]'
finish
