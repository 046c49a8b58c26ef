#!/bin/bash
# Copies that are not one block: faces of a grid, chunks and strides, on the driver's
# double, whose rates depend on how long a row is.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
memory 0
fake 2
fast=(--no-mpi -s 256K --seed 1 --cell-limit 1m)
grid=(--shape 64x32x16:2)

# ---- what is measured ----

run 0 "${fast[@]}" --suite halo -o h.json -o h.jsonl -o h.csv
cp out live
ok "a suite of all: each of its default shapes" eval 'status_is 0 && all_ok h.csv 84'
ok_schema "... in documents that the schema describes" h.json
ok "its first line is about faces, in us and as a share of a flat copy, not about a link" eval \
	'unfolded | grep -E "^2 x H200: faces GPU to GPU x [0-9.]+ us \([0-9]+ % of a flat copy\), .*; host to GPU x " &&
	 ! unfolded | grep "^2 x H200.* of NVLink"'
ok_json "faces are of the largest cube that --size holds, bytes are theirs" h.json \
	'{(r["shape"], r["copy_bytes"]) for r in d["results"] if "halo" in r["test"]} == {("40x40x40:2:" + f, 12800) for f in "xyz"}'
ok_json "chunks and strides go through --size" h.json \
	'{(r["shape"], r["copy_bytes"]) for r in d["results"] if r["method"] in ("chunk", "stride")} == {("64/128", 131072), ("512/1024", 131072), ("4096/8192", 131072), ("4/8", 131072), ("4/32", 32768), ("4/256", 4096)}'
ok_json "what lies inside and outside is checked after every sample" h.json \
	'all(r["checked"] > 5 and r["wrong_bytes"] == 0 for r in d["results"])'
run 0 show h.json
ok "a file shows what the run did" same live out
run 0 "${fast[@]}" --suite halo --resume h.jsonl -o again.csv
ok "a journal is resumed: nothing is left to measure" eval 'status_is 0 && figures h.csv >want && figures again.csv >got && same want got'
run 0 -n --gpus 2 --suite halo -s 256K --seed 1 -o plan.csv
run 0 --no-mpi --plan plan.csv --seed 1 --cell-limit 1m -o p.csv
ok "a plan file has a column of shapes, and gives the same cells" eval \
	'status_is 0 && grep -q "^step,.*,shape," plan.csv && all_ok p.csv 84'
run 2 -s 256K --seed 1 --cell-limit 1m --suite halo -o r.csv
ok "a rank per GPU: all of them too, packed by one and unpacked by the other" eval \
	'status_is 0 && all_ok r.csv 84'

# ---- rates, of the bytes that were asked for ----

# Nanoseconds of many copies, each `takes` bytes long, with an engine's start.
cat >rates.py <<'END'
import json, sys
start = 2700.0
def ns(r):
    """Of one copy, with its part of what is first on a path."""
    x, y, z, h = 64, 32, 16, 2
    face = r["shape"][-1]
    i, j = int(r["src"][-1]), int(r["dst"][-1])
    peer = 396 + 0.1 * i - 0.03 * j
    rate = peer if r["path"] == "peer" else 55.3 + 0.1 * j if r["path"] == "h2d" else 55.2 + 0.1 * i
    width, rows = {"x": (4 * h, y * z), "y": (4 * h * x, z), "z": (4 * h * x * y, 1)}[face]
    long, tall, planes = {"x": (4 * h, y, z), "y": (4 * x, h, z), "z": (4 * x, y, h)}[face]
    if r["method"] == "copy2d":
        return start + (rows * (width + 48) + 4 * 48) / rate
    if r["method"] == "copy3d":
        return start + planes * (tall * (long + 48) + 4 * 48) / rate
    sectors = (width + 31) // 32 * 32 * rows
    return start / r["copies"] + sectors / (0.9375 * rate)
bad = n = 0
for r in json.load(open(sys.argv[1]))["results"]:
    if r["method"] not in ("copy2d", "copy3d", "sm3d") or \
            r["test"].startswith("local.") or ".read." in r["test"]:
        continue
    want = r["copy_bytes"] / ns(r)
    n += 1
    if abs(r["value"] / want - 1) > 1e-3:
        bad += 1
        print(r["test"], r["src"], r["dst"], r["shape"], r["value"], "and not", want)
print(n, "cells")
sys.exit(bad or n < 54)
END
run 0 "${fast[@]}" -t '*.copy2d.*,*.copy3d.*,*.sm3d.*' "${grid[@]}" -o g.json
ok "one 2D copy, one 3D copy, a kernel: each has the rate of its rows" eval \
	'status_is 0 && "${PYTHON:-python3}" rates.py g.json'
cat >stages.py <<'END'
import json, sys
start = 2.7
bad = n = 0
for r in json.load(open(sys.argv[1]))["results"]:
    i, j, face = int(r["src"][-1]), int(r["dst"][-1]), r["shape"][-1]
    sectors = {"x": 32 * 16 * 32, "y": 512 * 16, "z": 4 * 2 * 64 * 32}[face]
    kernel = [start + 1e-3 * sectors / (0.9375 * 2085 * slow) for slow in (1, 0.5)]
    want = {"pack_us": kernel[i], "unpack_us": kernel[j],
            "transfer_us": start + 1e-3 * r["copy_bytes"] / (396 + 0.1 * i - 0.03 * j)}
    n += 1
    for key in want:
        if r["method"] != "pack" and r[key] is None:
            continue
        if r["method"] != "pack" or abs(r[key] / want[key] - 1) > 1e-4:
            bad += 1
            print(r["test"], r["src"], r["shape"], key, r[key], "and not", want[key])
print(n, "cells")
sys.exit(bad or n < 8)
END
FAKE_SLOW=1-1:0.5 run 0 "${fast[@]}" -t peer.pack.halo.pair,peer.sm3d.halo.pair "${grid[@]}" -o s.json -o s.csv
ok "packed: what packing, the transfer and unpacking take, each on its GPU" eval \
	'status_is 0 && "${PYTHON:-python3}" stages.py s.json && grep -q ",pack_us,transfer_us,unpack_us," s.csv &&
	 prints "^  stages of a copy: packing [0-9.]+ us, the transfer [0-9.]+ us, unpacking [0-9.]+ us"'
ok_schema "... as the schema has it" s.json
run 2 "${fast[@]:1}" -t peer.pack.halo.pair "${grid[@]}" -o s.json
ok_json "... of two processes too" s.json \
	'all(2.7 < r[key] < 2.8 for r in d["results"] for key in ("pack_us", "transfer_us", "unpack_us"))'
run 0 "${fast[@]}" -t peer.copy2d.halo.pair --shape 64x64x64:2:x --element 4,8,16 -o e.json
ok_json "elements of 8 and 16 bytes make other rows" e.json \
	'{(r["element_bytes"] or 4, r["copy_bytes"]) for r in d["results"]} == {(e, 2 * 64 * 64 * e) for e in (4, 8, 16)}'
run 0 "${fast[@]}" -t peer.chunk.read.pair,peer.stride.write.pair --shape 4/64,48/64 -o s.json
ok_json "a stride takes pieces of one element, a chunk any" s.json \
	'{(r["method"], r["shape"]) for r in d["results"]} == {("chunk", "4/64"), ("chunk", "48/64"), ("stride", "4/64")}'

# ---- what must be found ----

# The face of a 16x16x16 grid of highest y: 14 rows of 64 bytes of a plane come before it.
one=("${fast[@]}" --shape 16x16x16:2:y --gpus "0,1")
all='peer.copy2d.halo.pair,peer.copy3d.halo.pair,peer.sm3d.halo.pair,peer.pack.halo.pair'
# What is outside nobody writes again: one copy alone, or a byte would be turned twice.
for test in copy2d copy3d sm3d; do
	FAKE_CORRUPT=0-1:17 run 0 "${one[@]}" -t peer.$test.halo.pair -o peer.$test.halo.pair-17.json
	FAKE_CORRUPT_COPY=5 FAKE_CORRUPT=0-1:300 run 0 "${one[@]}" -t peer.$test.halo.pair -o peer.$test.halo.pair-300.json
	ok_json "$test: a byte inside of the shape that is another" peer.$test.halo.pair-17.json \
		'all((r["status"] == "corrupt") == (r["src"] == "gpu0") and "beside" not in (r["reason"] or "") for r in d["results"])'
	ok_json "$test: a byte outside of it, which nobody should have written" peer.$test.halo.pair-300.json \
		'all((r["status"] == "corrupt") == (r["src"] == "gpu0") == ("written beside its shape" in (r["reason"] or "")) for r in d["results"])'
done
FAKE_ASTRAY=0-1:-64 run 0 "${one[@]}" -t "$all" -o astray.json
ok_json "a face that lands a row too early" astray.json \
	'{r["method"] for r in d["results"] if r["status"] == "corrupt"} == {"copy2d", "copy3d", "sm3d", "pack"}'
FAKE_CORRUPT=0-1:-1 run 0 "${one[@]}" -t "$all,peer.chunk.write.pair,peer.stride.read.pair" -o none.json
ok_json "a copy that writes nothing" none.json \
	'all("never written" in r["reason"] for r in d["results"] if r["src"] == "gpu0" and r["method"] != "pack") and {r["status"] for r in d["results"] if r["src"] == "gpu0"} == {"corrupt"}'
FAKE_CORRUPT=1-h:17 run 0 "${one[@]}" -t d2h.copy2d.pinned.pair -o d17.json
FAKE_CORRUPT_COPY=5 FAKE_CORRUPT=1-h:300 run 0 "${one[@]}" -t d2h.copy2d.pinned.pair -o d300.json
ok_json "in host memory: inside" d17.json \
	'{(r["src"], r["status"]) for r in d["results"]} == {("gpu0", "ok"), ("gpu1", "corrupt")}'
ok_json "... and outside" d300.json \
	'{("written beside" in (r["reason"] or "")) == (r["src"] == "gpu1") for r in d["results"]} == {True}'

# ---- where there is no room, and what is refused ----

run 0 "${fast[@]}" --gpus 0 -t local.copy2d.halo.alone,local.copy3d.halo.alone -o own.json
ok_json "faces within a GPU have buffers if no other test asks for any" own.json '{r["status"] for r in d["results"]} == {"ok"}'

FAKE_MEMORY=8388608 run 0 "${fast[@]}" -t peer.ce.write.pair,peer.copy2d.halo.pair --shape 128x128x128:2:x -o room.json
ok_json "a grid that has no room is skipped, what is smaller is not" room.json \
	'{(r["method"], r["status"]) for r in d["results"]} == {("ce", "ok"), ("copy2d", "skipped")}'
run 0 "${fast[@]}" -t peer.ce.write.pair --shape 4/64
ok "--shape without a test that has such: status 64" eval \
	'status_is 64 && one_line "--set shape: none of the chosen tests has such a one"'
ok_refused "a shape that is none: status 64" "is no shape" "${fast[@]}" -t peer.copy2d.halo.pair --shape 6x8x8:1
printf 'step,test,src,dst,shape,size\na,peer.copy2d.halo.pair,gpu0,gpu1,16x16x16:2:x,1M\n' >bad.csv
ok_refused "a plan file whose size is not that of the shape: status 64" "copies of that shape have 2048 bytes" --no-mpi --plan bad.csv
run 0 "${fast[@]}" -m peer -o m.csv
ok "a matrix has them by --method alone" eval 'status_is 0 && ! grep -q "halo\|chunk" m.csv'
run 0 "${fast[@]}" -m peer --pattern pair --method copy2d,chunk -o m.csv
ok "... copy2d and chunk" eval 'status_is 0 && all_ok m.csv 12'

finish
