#!/bin/bash
# GPUs on the driver's double, whose clock is virtual: figures are exact and must
# not depend on how GPUs are divided among ranks.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4

# WRAPPER LIST...: a script that shows rank i only the i-th of these GPUs
masks() { # FILE GPU...
	local file=$1
	shift
	in_front "$file" "gpus=($*)" 'export CUDA_VISIBLE_DEVICES=${gpus[rank]}'
}

# ---- placements ----

run 0 -m peer -s 1M --cell-limit 9s -o 1.csv -o 1.json
ok "one process drives four GPUs" all_ok 1.csv 24
ok "… directly" ways_are 1.csv "direct "
ok "every one-way figure is its own source's and destination's" \
	pairs_are_exact 1.csv
figures 1.csv >want
value() { # SRC DST
	awk -v s="gpu$1" -v d="gpu$2" \
		'$1 ~ /write.pair$/ && $2 == s && $3 == d { printf "%.2f\n", $4 }' want
}
ok "row is the source: 0 to 3 has 196.05, 3 to 0 has 196.15" \
	eval '[ "$(value 0 3) $(value 3 0)" = "196.05 196.15" ]'
ok "… also in the printed matrix" eval \
	'prints "^ +0 +-  196.06  196.06  196.05$" && prints "^ +3  196.15  196.14  196.13 +-$"'
ok_json "… and in the JSON" 1.json \
	'[round(v, 2) for v in d["matrices"][0]["values"][3][:3]] == [196.15, 196.14, 196.13]'
ok "a figure of a virtual clock is never shown without saying so" eval \
	'head -n 1 out | grep -q "^VIRTUAL CLOCK" &&
	 ! grep -v "^node," 1.csv | grep -v virtual-clock'

run 4 -m peer -s 1M --cell-limit 9s -o 4.csv -o 4.json
figures 4.csv >got
ok "four ranks on four GPUs: the same figures" same want got
ok "… by CUDA IPC" ways_are 4.csv "CUDA-IPC "
ok_json "… said for every pair of the node" 4.json \
	'[p["via"] for p in d["nodes"][0]["peers"]] == ["CUDA IPC"] * 12'
ok_json "… and for every result" 4.json \
	'{r["via"] for r in d["results"]} == {"CUDA IPC"}'
run 2 -m peer -s 1M --cell-limit 9s -o 2.csv
figures 2.csv >got
ok "two ranks on four GPUs: the same figures" same want got
ok "… directly within a process, by CUDA IPC between them" \
	ways_are 2.csv "CUDA-IPC direct "

masks isolated 0 1 2 3
run_program 4 ./isolated "$CSCOPE" -m peer -s 1M --cell-limit 9s -o isolated.csv
figures isolated.csv >got
ok "four ranks that see one GPU each: the same figures" same want got
ok "… by CUDA IPC" ways_are isolated.csv "CUDA-IPC "
masks turned 3 2 1 0
run_program 4 ./turned "$CSCOPE" -m peer -s 1M --cell-limit 9s -o turned.csv
figures turned.csv >got
ok "… also when ranks have them the other way round" same want got
masks shared 0 1 2 0
run_program 4 ./shared "$CSCOPE" -m peer -s 1M
ok "two ranks given the same GPU: status 3" status_is 3
ok "… naming both ranks and the GPU" \
	one_line "ranks 0 and 3 were both given GPU 0000:1b:00.0"
ok "… and nothing on stdout" is_empty out

run 6 -s 64K --pattern pair -o 6.csv
ok "surplus ranks sleep" all_ok 6.csv 12
ok "… which is said once" \
	eval '[ "$(grep -c "2 of 6 ranks have no GPU and sleep" out)" = 1 ]'

fake 8
run 3 -s 64K --pattern pair -o 3.csv
ok "three ranks on eight GPUs measure all 56 pairs" all_ok 3.csv 56
ok "… divided 3 + 3 + 2" prints "3 ranks for 8 GPUs: 3 \+ 3 \+ 2"
figures 3.csv >got
run 0 -s 64K --pattern pair -o 8.csv
figures 8.csv >want8
ok "… with the figures of one process" same want8 got
ok "… which are exact" pairs_are_exact 8.csv

# ---- what is asked for ----

fake 4
run 0 -s 1M --gpus 3,0 --pattern pair -o index.csv -o index.json
ok "--gpus by index: two GPUs" all_ok index.csv 2
ok "… with the names they have on the whole node" eval \
	'grep -E "pair gpu(0 gpu3|3 gpu0) " want >some; figures index.csv >got; same some got'
ok "… also in the table" prints "^ +3  0000:4d:00.0"
ok_json "… and in the matrix" index.json \
	'd["matrices"][0]["rows"] == ["gpu0", "gpu3"]'
run 2 -s 1M --gpus 3D:00.0,1-2 --pattern pair
ok "a bus id that is not there: status 3, named" \
	eval 'status_is 3 && one_line "3d:00.0"'
run 2 -s 1M --gpus 1b:00.0,00000000:4D:00.0 --pattern pair -o bus.csv
figures bus.csv >got
ok "--gpus by bus id, short and long" same some got
run 0 -s 1M --pattern pair -o uuid.csv \
	--gpus GPU-00000000-0000-0000-0000-000000000003,GPU-00000000-0000-0000-0000-000000000000
figures uuid.csv >got
ok "--gpus by UUID" same some got
run 0 --gpus 4
ok "a GPU that is not there: status 3, how many there are" \
	eval 'status_is 3 && one_line "no GPU 4.*4"'
run 2 -t peer.ce.write.bidi --gpus 1
ok "one GPU has no peers: status 3, one line" \
	eval 'status_is 3 && one_line "peer.ce.write.bidi: needs two GPUs"'

run 2 -s 1M --op read -o read.csv
ok "--op read measures reads only" eval \
	'all_ok read.csv 24 && ! cells read.csv | grep -q write'
ok "… which are slower by what the clock says" pairs_are_exact read.csv
ok "… and issued by the destination" eval \
	'awk -F, "/pair/ && \$9 == \$13" read.csv | is_empty /dev/stdin'
run 2 -s 64K --pattern bidi -o bidi.csv
ok "--pattern bidi measures both ways only" eval \
	'all_ok bidi.csv 12 && ! cells bidi.csv | grep -q pair'
run 2 -s 64K --test "peer.ce.*.pair" -o test.csv
ok "--test takes a pattern of names" eval \
	'all_ok test.csv 24 && ! cells test.csv | grep -q bidi'
run 0 -m peer -s 64K --verify off -o off.csv
ok "--verify off is said in every row" eval \
	'! grep -v "^node," off.csv | grep -v not-verified'

order() { # SEED
	run 2 -m peer -s 64K --seed "$1" -f csv
	cut -d, -f2,9,10,18 out
}
order 11 >a
order 11 >b
order 12 >c
ok "the same seed, the same order of cells" same a b
ok "another seed, another order" eval '! same a c >/dev/null'
ok "… of the same cells" eval \
	'cut -d, -f1-3 a | sort -u >x; cut -d, -f1-3 c | sort -u >y; same x y'

# ---- nothing said of what to measure ----

run 0 --no-mpi -s 1M --cell-limit 9s --seed 1 -o bare.csv
ok "nothing given is --suite quick" eval \
	'status_is 0 && prints "^cscope-mpi .*  --suite quick  1 MiB x " &&
	 all_ok bare.csv 24 && prints "^  findings +none"'
ok "… writes between GPUs, from and to the host, and within each" eval \
	'[ "$(cut -d" " -f1 <(cells bare.csv) | uniq -c | tr -s " \n" " ")" = \
	   " 4 d2h.ce.pinned.pair 4 h2d.ce.pinned.pair 4 local.ce.copy.alone 12 peer.ce.write.pair " ]'
run 4 -s 1M --seed 1 -o ranks.csv
figures bare.csv >suite
figures ranks.csv >got
ok "… of four ranks the same" same suite got
run 0 --no-mpi --gpus 2 -s 1M --seed 1 -o one.csv -o one.jsonl
ok "… one GPU: what is there is measured, the rest said" eval \
	'status_is 0 && all_ok one.csv 3 && prints \
	 "left out +peer.ce.write.pair is left out: it measures between two GPUs"'
run 0 --no-mpi --gpus 0,1 -s 1M --cell-limit 9s --seed 1 --check
ok "… under --check too" eval 'status_is 0 && prints "^cscope-mpi .*  --suite quick"'
grep -vE "\"(test\":\"d2h|kind\":\"verdict)" one.jsonl >cut.jsonl
run 0 --no-mpi --gpus 2 -s 1M --seed 1 --resume cut.jsonl
ok "… and said once where it is gone on with" eval \
	'[ "$(grep -c "is left out" out)" = 1 ]'

# ---- paths that are not there ----

FAKE_IPC_REFUSE=1 FAKE_NO_VMM=1 run 2 -s 64K --pattern pair -o refuse.csv -o refuse.json
ok "CUDA IPC refused between processes: status 0, the rest is measured" eval \
	'status_is 0 && [ "$(cells refuse.csv | grep -c " ok ")" = 4 ]'
ok "… 8 cells skipped, with the driver's words and the hint, said once" eval \
	'[ "$(cells refuse.csv | grep -c " skipped ")" = 8 ] &&
	 [ "$(unfolded 4 | grep -c "^  - 8 cells .* skipped: cuIpcOpenMemHandle")" = 1 ] &&
	 prints "gpu-bind=none"'
ok_json "… and unknown in the matrix, not 0" refuse.json \
	'd["matrices"][0]["values"][0][2] is None and 0 not in d["matrices"][0]["values"][0]'
FAKE_IPC_REFUSE=1 FAKE_NO_VMM=1 run 4 -s 64K --pattern pair
ok "nothing could be measured: status 3" status_is 3
ok "… and why, in one line" one_line cuIpcOpenMemHandle
FAKE_NO_PEER=0-1 run 0 -s 64K --pattern pair -o nopeer.csv
ok "one direction without peer access: that cell alone is skipped" eval \
	'status_is 0 && cells nopeer.csv | grep " skipped " | grep -q "gpu0 gpu1" &&
	 [ "$(cells nopeer.csv | grep -c " ok ")" = 11 ]'
FAKE_NO_MEMOPS=1 run 2 -s 1M --pattern pair -o nomemops.csv
figures nomemops.csv >got
grep pair want >pairs
ok "no memory operations: the gate is a kernel, the figures the same" \
	same pairs got
FAKE_NOISE=0.1 run 0 -s 64K --pattern pair --cell-limit 30ms --precision 0.01%
ok "a cell that does not converge is flagged, and the status is 0" eval \
	'status_is 0 && prints "unstable"'
run 0 -s 64K --pattern pair -f csv
mv out quiet.csv
for seed in 1 2 3 4 5; do
	FAKE_SAMPLE_NOISE=gauss:0.004:0.5 FAKE_SEED=$seed run 0 -s 64K --pattern pair \
		--cell-limit 1m --seed $seed -f csv
	cat out >>noisy.csv
done
# cells of noisy.csv whose interval holds the figure of quiet.csv, and all
held() {
	sed 's/"[^"]*"//g' quiet.csv noisy.csv | awk -F, '
		$1 == "node" { files++; for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["flags"] ~ /control/ { next }
		{ cell = $at["src"] " " $at["dst"] }
		files == 1 { truth[cell] = $at["value"]; next }
		{ all++; held += truth[cell] >= $at["ci_low"] &&
				 truth[cell] <= $at["ci_high"] }
		END { print held, all }'
}
ok "in noise of 0.4 %, correlated by 0.5, intervals hold what a quiet link gives" \
	eval 'status_is 0 && held | tee /dev/stderr | grep -qE "^(5[4-9]|60) 60$"'
FAKE_NVML_INIT=999 run 2 -s 64K --pattern pair -o nonvml.csv
ok "without NVML the figures are there and the link is unknown" eval \
	'status_is 0 && all_ok nonvml.csv 12 && prints "\?"'

# ---- both ways between the host and a GPU ----

FAKE_CALLS=$PWD/calls run 0 --gpus 0 -s 64K --spread 1 --cell-limit 1m -t h2d.sm.pinned.bidi -o host.csv
ok "kernels move both ways, each in its own time" eval \
	'all_ok host.csv 2 && [ "$(cells host.csv | awk "{ printf \"%.0f \", \$7 }")" = "47 47 " ]'
ok "... as one: the GPU has one stream for both, and one for all else" eval \
	'[ "$(grep -c cuStreamCreate calls)" = 2 ]'
FAKE_CALLS=$PWD/loaded run 0 --gpus 0,1 -s 64K --spread 1 --cell-limit 1m -t h2d.sm.pinned.bidiload -o load.csv
ok "... under load too, which moves both ways as one" eval \
	'all_ok load.csv 2 && [ "$(grep -c cuStreamCreate loaded)" = 4 ]'

# ---- two GPUs: patterns that are the same transfers ----

alike=peer.ce.write.pair,peer.ce.write.one-to-all,peer.ce.write.all-to-one
run 0 --no-mpi --gpus 0,1 -s 1M --seed 1 --cell-limit 9s -t $alike,peer.ce.write.bidi,peer.ce.write.ring \
	-o s.json -o s.jsonl -o s.csv
shared='[r for r in d["results"] if "shared" in r["flags"]]'
ok_json "what several patterns ask for is measured once, and each has its rows" s.json \
	'len('"$shared"') == 2 + 2 + 3 and all(len({r["test"] for r in d["results"] if r["test"] in t}) == len(t) for t in [{"peer.ce.write.bidi", "peer.ce.write.ring"}])'
ok_json "... with the samples of one, from the same moment, and no time of their own" s.json \
	'all(any(q["samples"] == r["samples"] and q["t_start_s"] == r["t_start_s"] and (q["src"], q["dst"]) == (r["src"], r["dst"]) and q["cell_s"] > 0 and "shared" not in q["flags"] for q in d["results"] if q["test"] != r["test"]) and r["cell_s"] == 0 for r in '"$shared"')'
ok_schema "... as the schema has it" s.json
ok_json "... and what was checked counts once" s.json \
	'" data       " + str(sum(r["checked"] for r in d["results"] if "shared" not in r["flags"])) + " timed transfers" in open("out").read()'
run 0 --no-mpi --gpus 0,1,2 -s 1M --seed 1 --cell-limit 9s -t $alike -o three.json
ok_json "of three GPUs each pattern is measured" three.json '"shared" not in str([r["flags"] for r in d["results"]])'
FAKE_CORRUPT=0-1:1 run 0 --no-mpi --gpus 0,1 -s 1M --seed 1 --cell-limit 9s -t $alike -o wrong.json
ok_json "wrong data of one is no other's: each is measured" wrong.json \
	'len([r for r in d["results"] if r["dst"] == "gpu1" and r["status"] == "corrupt" and "shared" not in r["flags"] and "control" not in r["flags"]]) == 3'
printf '%s\n' test,bound 'peer.ce.write.pair,1000 GB/s' 'peer.ce.write.one-to-all,1000 GB/s' >bound.csv
run 0 --no-mpi --gpus 0,1 -s 1M --seed 1 --cell-limit 9s -t $alike --threshold bound.csv -o again.json
ok_json "what is suspicious is re-measured, shared or not" again.json \
	'all({"re-measured", "shared"} & set(r["flags"]) != {"re-measured", "shared"} for r in d["results"]) and any("re-measured" in r["flags"] for r in d["results"] for q in d["results"] if "shared" in q["flags"] and (q["test"], q["src"], q["dst"]) == (r["test"], r["src"], r["dst"]))'
sed -i '/"kind":"verdict"/d' s.jsonl
grep -v '"shared"' s.jsonl >cut.jsonl
run 0 --no-mpi --gpus 0,1 -s 1M --seed 1 --cell-limit 9s -t $alike,peer.ce.write.bidi,peer.ce.write.ring --resume cut.jsonl -o r.json
ok_json "a run that ended before such rows measures them" r.json \
	'len(d["results"]) == len({(r["test"], r["src"], r["dst"], r["metric"], str(r["flags"]), r["t_start_s"]) for r in d["results"]}) and d["run"]["cells_measured"] == d["run"]["cells_planned"]'
finish
