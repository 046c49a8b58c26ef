#!/bin/bash
# Names of nvbandwidth, and its formats as programs read them that wrap it.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake

# What a wrapper finds, in FILE.
wrapper_reads() { # WRAPPER TEXT FILE
	command -v "${PYTHON:-python3}" >/dev/null || return 0
	"${PYTHON:-python3}" "$TESTDATA/wrappers.py" "$1" "$2" >"$3"
}

# Python: the figure of a test from one GPU to another, as our own document has it.
v='(lambda test, a, b, metric="rate": next(r["value"] for r in d["results"] if (r["test"], r["metric"]) == (test, metric) and (r["src"], r["dst"]) == (f"gpu{a}", f"gpu{b}") and "control" not in r["flags"]))'
# ... and what a wrapper found.
w='(lambda file: __import__("json").load(open(file)))'
pairs='[(i, j) for i in range(4) for j in range(4) if i != j]'

run_suite() { # NAME
	FAKE_MEMORY=4294967296 run 0 --no-mpi --gpus 0,1 --seed 1 -s 1M --spread 1M --suite "$1" \
		-o s.json -f nvbandwidth
}

fake 4
# no two cells are alike, nor a cell and its reverse
printf '%s\n' '99 201 202 203' '210 99 212 213' '220 221 99 223' '230 231 232 99' >rates
export FAKE_MATRIX=$PWD/rates
names=device_to_device_memcpy_write_ce,device_to_device_memcpy_read_ce
both=device_to_device_bidirectional_memcpy_write_ce,device_to_device_bidirectional_memcpy_read_ce

run 4 --seed 1 -s 4M -t "$names,$both" -o a.json -o a.csv -o a.txt -o a.jsonl -f nvbandwidth
cp out text
ok "--test takes names of nvbandwidth" eval \
	'status_is 0 && grep -q "^peer.ce.read.pair " a.txt && grep -q "^peer.ce.write.bidi " a.txt'
ok "the header is that of 0.8: versions, host, devices" eval \
	'head -n 1 text | grep -q "^nvbandwidth Version: v0\.8" && sed -n 2p text | grep -q "^Built from Git version: " &&
	 grep -qx "CUDA Runtime Version: 13000" text && grep -qx "Driver Version: 580.159.03" text &&
	 [ "$(grep -cE "^Device [0-3]: NVIDIA H200 \(0000[0-9a-f]{4}:[0-9a-f]{2}:00\)$" text)" = 4 ]'
ok "tests come in the order in which they were asked for" eval \
	'[ "$(sed -n "s/^Running \(.*\)\.$/\1/p" text | paste -sd,)" = "$names,$both" ]'
sed -n '/^Running device_to_device_memcpy_write_ce/,/^SUM/p' text >block
ok "a matrix has the layout of 0.8" eval \
	'[ "$(sed -n 2,3p block)" = "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1         2         3" ] && [ "$(wc -l <block)" = 9 ] && [ -z "$(sed -n 8p block)" ] &&
	 sed -n 4,7p block | awk "length(\$0) != 42 || \$(\$1 + 2) != \"N/A\" || NF != 5 { bad = 1 } END { exit bad }" &&
	 sed -n 4p block | grep -qE "^ 0       N/A( +[0-9]+\.[0-9]{2}){3}$"'
ok_json "the sum is that of all cells" a.json \
	'abs(sum('"$v"'("peer.ce.write.pair", i, j) for i, j in '"$pairs"') - float(next(x for x in open("text") if x.startswith("SUM device_to_device_memcpy_write_ce ")).split()[2])) < .01'
ok_json "the figures can tell a cell from its reverse" a.json \
	'all(abs('"$v"'("peer.ce.write.pair", i, j) - '"$v"'("peer.ce.write.pair", j, i)) > .5 for i, j in '"$pairs"')'

wrapper_reads superbench text super.json
ok_json "by regular expressions: writes are row to column" a.json \
	'all(abs('"$w"'("super.json")["device_to_device_memcpy_write_ce"][f"gpu{i}_gpu{j}_bw"] - '"$v"'("peer.ce.write.pair", i, j)) < .006 for i, j in '"$pairs"')'
ok_json "... reads are column to row" a.json \
	'all(abs('"$w"'("super.json")["device_to_device_memcpy_read_ce"][f"gpu{i}_gpu{j}_bw"] - '"$v"'("peer.ce.read.pair", j, i)) < .006 for i, j in '"$pairs"')'
ok_json "... and the sum is found" a.json \
	'abs('"$w"'("super.json")["device_to_device_memcpy_read_ce"]["sum"] - sum('"$v"'("peer.ce.read.pair", i, j) for i, j in '"$pairs"')) < .01'

run 0 show a.json -f nvbandwidth
ok "a file is shown in the same bytes" same text out
run 0 show a.jsonl -f nvbandwidth
ok "... a journal too" same text out

wrapper_reads nhc text nhc.json
ok_json "by lines and fields: what is no row is never taken for one" a.json \
	'all(sorted('"$w"'("nhc.json")[t]) == sorted(f"{i},{j}" for i, j in '"$pairs"') for t in "'"$names"'".split(","))'
ok_json "... writes are row to column, reads column to row" a.json \
	'all(abs('"$w"'("nhc.json")["device_to_device_memcpy_write_ce"][f"{i},{j}"] - '"$v"'("peer.ce.write.pair", i, j)) < .006 and abs('"$w"'("nhc.json")["device_to_device_memcpy_read_ce"][f"{i},{j}"] - '"$v"'("peer.ce.read.pair", j, i)) < .006 for i, j in '"$pairs"')'

run 0 show a.json -f nvbandwidth-json
cp out nvb.json
wrapper_reads monitor nvb.json mon.json
ok_json "JSON is one document, of its own keys" nvb.json \
	'set(d) == {"nvbandwidth"} and d["nvbandwidth"]["version"].startswith("v0.10") and len(d["nvbandwidth"]["GPU Device list"]) == 4 and d["nvbandwidth"]["CUDA Runtime Version"] == 13000'
ok_json "... cells are strings of six digits, and N/A" nvb.json \
	'all(c == "N/A" or __import__("re").fullmatch(r"[0-9.]{4,7}", c) for t in d["nvbandwidth"]["testcases"] for r in t["bandwidth_matrix"] for c in r)'
ok_json "by JSON: the least cell is found where it is" a.json \
	'all(("%d,%d" % min('"$pairs"', key=lambda p: '"$v"'(t, *p[::o]))) == '"$w"'("mon.json")[n]["at"] for n, t, o in (("device_to_device_memcpy_write_ce", "peer.ce.write.pair", 1), ("device_to_device_memcpy_read_ce", "peer.ce.read.pair", -1)))'
ok_json "each matrix of both ways is an entry of its own" nvb.json \
	'[t["name"] for t in d["nvbandwidth"]["testcases"][2:5]] == ["device_to_device_bidirectional_memcpy_write_ce_" + x for x in ("write1", "write2", "total")] and all(len(t["bandwidth_matrix"]) == 4 for t in d["nvbandwidth"]["testcases"])'
ok_json "... the first is column to row, the second row to column" a.json \
	'all(abs('"$w"'("mon.json")[f"device_to_device_bidirectional_memcpy_{op}_ce_{op}{k}"][f"{i},{j}"] - '"$v"'(f"peer.ce.{op}.bidi", *((j, i) if k == 1 else (i, j)))) < .01 for op in ("write", "read") for k in (1, 2) for i, j in '"$pairs"')'
ok_json "... and the total is that of the common window, both sides alike" a.json \
	'all(abs('"$w"'("mon.json")["device_to_device_bidirectional_memcpy_write_ce_total"][c] - r["value"]) < .01 for r in d["results"] if (r["test"], r["metric"]) == ("peer.ce.write.bidi", "total") for i, j in ((int(r["src"][3]), int(r["dst"][3])),) for c in (f"{i},{j}", f"{j},{i}"))'
run 0 show a.json -f nvbandwidth-json -v
cp out nvb.json
ok_json "-v: least, most and mean of what was measured" nvb.json \
	'all(t["min"] > 0 and t["min"] < t["average"] < t["max"] and abs(t["average"] - t["sum"] / 12) < 1e-6 for t in d["nvbandwidth"]["testcases"])'

# ---- notes ----

note='Write1 is transposed against its one-way test'
ok "a name that misleads has one note under its table" eval \
	'[ "$(tr -s " \n" "  " <a.txt | grep -o "note: " | wc -l)" = 1 ] && tr -s " \n" "  " <a.txt | grep -q "$note"'
ok "... in front of all tests in nvbandwidth's text" eval \
	'sed "/^Running/,\$d" text | tr -s " \n" "  " | grep -q "^.*NOTE: device_to_device_bidirectional_memcpy_write_ce: .*$note"'
ok_json "... with each of its results, and with no other" a.json \
	'all((r["note"] is not None and "'"$note"'" in r["note"]) == (r["test"] == "peer.ce.write.bidi") for r in d["results"])'
ok "... in the CSV too" eval 'grep -q "$note" a.csv'
ok_schema "documents with notes follow the schema" a.json a.jsonl
run 0 --no-mpi --gpus 0,1 --seed 1 -s 1M --placement thread,process -t device_to_device_bidirectional_memcpy_write_ce -o p.json
ok "... and a comparison of placements has it" eval \
	'status_is 0 && tr -s " \n" "  " <out | grep -q "note: device_to_device_bi.*$note"'
run 0 show p.json -f nvbandwidth
ok "... whose placements follow each other" eval \
	'[ "$(grep -c "^Running " out)" = 2 ] && [ "$(grep -c "^nvbandwidth Version" out)" = 2 ]'
run 0 show a.json
ok "a file shows the same note" same a.txt out
run 2 --seed 1 -s 1M -t peer.ce.write.bidi -o b.json
ok "by our own name there is none" eval '! grep -q "note:" out'
run 0 show b.json -f nvbandwidth
ok "... and the formats have it under nvbandwidth's all the same" eval \
	'grep -q "^Running device_to_device_bidirectional_memcpy_write_ce" out && grep -q "^NOTE: device_to_device_bi" out'

run 2 --seed 1 -s 1M -t 'multinode_device_to_device_memcpy_*_ce,peer.ce.write.pair' -o m.json
ok "multinode tests are measured within the node, and say so" eval \
	'status_is 0 && tr -s " \n" "  " <out | grep -q "multinode_device_to_device_memcpy_write_ce of nvbandwidth: .*cells between nodes are skipped"'
run 0 show m.json -f nvbandwidth
ok "... and are told by those names" eval \
	'[ "$(sed -n "s/^Running \(.*\)\.$/\1/p" out | paste -sd,)" = multinode_device_to_device_memcpy_read_ce,multinode_device_to_device_memcpy_write_ce ]'

# ---- what is not measured ----

FAKE_NO_PEER=0-1 FAKE_NO_IPC=1 FAKE_NO_VMM=1 run 0 --no-mpi --gpus 0,1 --seed 1 -s 1M --via direct \
	-t device_to_device_memcpy_write_ce,device_to_device_memcpy_read_ce -o w.json -f nvbandwidth
cp out waived
ok "a cell that is skipped is N/A" eval \
	'grep -qE "^ 0 +N/A +N/A$" waived && grep -qE "^ 1 +[0-9.]+ +N/A$" waived && grep -q "^SUM" waived'
FAKE_NO_PEER=0-1,1-0 FAKE_NO_IPC=1 FAKE_NO_VMM=1 run 0 --no-mpi --gpus 0,1 --seed 1 -s 1M --via direct \
	-t device_to_device_memcpy_write_ce -o w.json -f nvbandwidth
ok "a test without a cell is waived, by name and with the reason" eval \
	'grep -qE "^Waived: device_to_device_memcpy_write_ce: .{10}" out && ! grep -q "^Running" out'
run 0 show w.json -f nvbandwidth-json
cp out w.nvb
ok_json "... in JSON too, without a matrix" w.nvb \
	'[(t["name"], t["status"], len(t["error"]) > 9) for t in d["nvbandwidth"]["testcases"]] == [("device_to_device_memcpy_write_ce", "Waived", True)] and "bandwidth_matrix" not in d["nvbandwidth"]["testcases"][0]'
FAKE_CORRUPT=0-1:64 run 0 --no-mpi --gpus 0,1 --seed 1 -s 1M -t device_to_device_memcpy_write_ce \
	-o e.json -f nvbandwidth
cp out corrupt
wrapper_reads nhc corrupt nhc.json
ok "wrong bytes are an error, and no figure" eval \
	'status_is 2 && grep -q "^Error: device_to_device_memcpy_write_ce: " corrupt && grep -qE "^ 0 +N/A +N/A$" corrupt'
ok_json "... and no row" e.json 'list('"$w"'("nhc.json")["device_to_device_memcpy_write_ce"]) == ["1,0"]'
run 0 show e.json -f nvbandwidth-json
cp out e.nvb
ok_json "... with the status Error" e.nvb \
	'[t["status"] for t in d["nvbandwidth"]["testcases"]] == ["Error"]'

FAKE_CORRUPT=0-1:64 run 0 --no-mpi --gpus 0,1,2 --seed 1 -s 1M -f nvbandwidth-json \
	-t device_to_device_bidirectional_memcpy_write_ce
cp out both.nvb
ok_json "... of both ways: no total where one of them has none, and the others whole" both.nvb \
	'[(t["status"], sum(c != "N/A" for r in t["bandwidth_matrix"] for c in r)) for t in d["nvbandwidth"]["testcases"]] == [("Error", 5), ("Error", 5), ("Error", 4)]'

run 0 -t multinode_device_to_device_broadcast_one_to_all_sm
ok "what needs multicast is refused with a sentence" eval \
	'status_is 64 && grep -q "is not measured: it needs an NVLink multicast object" err'
run 0 -t device_to_device_memcpy_wirte_ce
ok "a mistyped name gets the nearest" eval \
	'status_is 64 && grep -q "did you mean .device_to_device_memcpy_write_ce." err'
run 0 --backend cpu --no-mpi --gpus 2 -t device_to_device_memcpy_write_ce
ok "host memory does not stand in for a test of nvbandwidth" eval \
	'status_is 3 && grep -q "measured by the cuda backend only" err'
run 2 --backend cpu -s 64K --cell-limit 20ms --precision 50% -f nvbandwidth
ok "what has no name in nvbandwidth is said" eval \
	'status_is 0 && grep -q "^NOTE: nothing that was measured has a name" out'
run 0 -f nvbandwith
ok "a mistyped format gets those that there are" eval \
	'status_is 64 && grep -q "result, .*, nvbandwidth, nvbandwidth-json, " err'

# ---- lists ----

run 0 --list=all
ok "--list has nvbandwidth's names with ours" eval \
	'grep -qE "^ +device_to_device_memcpy_write_ce +peer.ce.write.pair$" out'
cp out list
run 0 --suite some
ok "an unknown suite gets those that there are" eval \
	'status_is 64 && grep -q "allowed are quick, nvbandwidth, commscope, unified, calls, model, levels, matmul, halo, all" err'
run 0 --suite all -t peer.ce.write.pair
ok "--suite and --test exclude each other" eval \
	'status_is 64 && grep -q -e "--test and --suite exclude each other" err'
run 0 --suite all -m peer
ok "... and --matrix" eval 'status_is 64 && grep -q -e "--matrix and --suite exclude" err'
run 0 --suite all --dry-run --gpus 2
ok "--suite all is every test of the backend, but those of more than fits" eval \
	'[ "$(awk "/^test /{print \$2}" out | sort -u | wc -l)" = "$(grep "^. [a-z0-9.-]* *cuda" list | grep -cv "1[15]0\.pair")" ]'
run 0 --suite all --dry-run --gpus 2 -o all.csv
has_size() { # TEST SIZE: all cells of the test have it, and there are some
	[ "$(awk -F, -v test="$1" '$2 == test {print $5}' all.csv | sort -u)" = "$2" ]
}
ok "... what shows no link at the size of its own suite: what faults, or allocates, is not of 512 MiB" eval \
	'has_size h2d.ce.pinned.pair 128M && has_size peer.ce.write.bidi 512M && has_size local.overlap.copy.alone 32M &&
	 has_size h2d.demand.managed.pair 32M && has_size local.call.register.all 16M && has_size peer.chase.stride.pair 2M'
run 0 --suite all --filter '^host\.call\.malloc\.alone' -f csv -o all.json
cp out live
run 0 show all.json -f csv
ok "... which its file has, too" eval 'status_is 0 && cmp out live && grep -q ",16777216," out'
run 0 --suite all -s 1M --dry-run --gpus 2 -o all.csv
ok "... unless --size says it" eval \
	'has_size h2d.ce.pinned.pair 1M && has_size local.overlap.copy.alone 1M && has_size local.call.register.all 1M'
run 0 --dry-run --gpus 2 -m peer,h2d
ok "copies from the host are of 128 MiB, which a plan says, as less of its memory has to be locked" eval \
	'tr -s " \n" " " <out >line && grep -q "pinned memory, one at a time, 128 MiB, 2 steps" line && grep -q "size 512 MiB a copy" line'
run 0 --dry-run --gpus 2 -m peer,h2d -s 256M
ok "... unless --size says it" eval 'grep -q "size      256 MiB a copy" out && ! grep -q "128 MiB" out'
run_suite quick
ok "--suite quick: the links of a node" eval \
	'status_is 0 && [ "$(sed -n "s/^Running \(.*\)\.$/\1/p" out | paste -sd,)" = host_to_device_memcpy_ce,device_to_host_memcpy_ce,device_to_device_memcpy_write_ce,device_local_copy ]'
run_suite nvbandwidth
ok "--suite nvbandwidth: 44 tests, each measured or waived" eval \
	'[ "$(grep -cE "^(Running|Waived:) " out)" = 44 ] && ! grep -q "^Error" out'
# one row, a column for each GPU: NAME, OURS, the end that is the column, metric
one_row='(
	("host_to_device_memcpy_ce", "h2d.ce.pinned.pair", "dst", "rate"),
	("device_to_host_memcpy_ce", "d2h.ce.pinned.pair", "src", "rate"),
	("host_to_device_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi", "dst", "rate"),
	("device_to_host_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi", "src", "rate"),
	("all_to_one_write_ce", "peer.ce.write.all-to-one", "dst", "total"),
	("all_to_one_read_ce", "peer.ce.read.one-to-all", "src", "total"),
	("one_to_all_write_ce", "peer.ce.write.one-to-all", "src", "total"),
	("one_to_all_read_ce", "peer.ce.read.all-to-one", "dst", "total"))'
FAKE_SLOW=h-1:0.5,2-h:0.7 run 0 --no-mpi --seed 1 -s 1M -o h.json -t \
	'host_to_device_*memcpy_ce,device_to_host_*memcpy_ce,all_to_one_*_ce,one_to_all_*_ce'
"$CSCOPE" show h.json -f nvbandwidth-json >h.nvb
wrapper_reads monitor h.nvb mon.json
ok_json "what has one row has a column for each GPU, and that GPU's figure in it" h.json \
	'all(abs('"$w"'("mon.json")[n][f"0,{c}"] - r["value"]) < 1e-5 * r["value"] and len('"$w"'("mon.json")[n]) == 5 for n, t, e, m in '"$one_row"' for c in range(4) for r in d["results"] if (r["test"], r["metric"]) == (t, m) and r[e] == f"gpu{c}" and "control" not in r["flags"])'

finish
