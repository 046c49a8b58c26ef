#!/bin/bash
# Host memory: asked for by name, or standing in where there is no GPU; never
# where there is one that cannot be used.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

quick=(-m peer -s 64K --cell-limit 50ms --precision 10%)

run 4 --backend cpu "${quick[@]}" -o four.csv
ok "four ranks measure an arena each" all_ok four.csv 24
ok "… by shared memory" ways_are four.csv "shared-memory "
ok "… status 0" status_is 0
ok "the heading says that it is host memory" \
	eval 'head -n 1 out | grep -q "^cpu backend: host memory"'
ok "every matrix says so too" \
	eval '[ "$(grep -c "^  host memory, 64 KiB a copy, by CPU" out)" = 2 ]'
ok "every sample was checked" prints '^  data .* checked .*, 0 wrong bytes'

run 0 --backend cpu "${quick[@]}" -o one.csv
ok "without a launcher one process has two arenas" all_ok one.csv 4
run 0 --backend cpu --gpus 3 "${quick[@]}" -o three.csv
ok "--gpus 3 makes three arenas" all_ok three.csv 12
run 2 --backend cpu --gpus 5 --pattern pair "${quick[@]}" -o five.csv
ok "two ranks share five arenas" all_ok five.csv 20
run 4 --backend cpu --gpus 2 "${quick[@]}" -o surplus.csv
ok "four ranks, two arenas: the others sleep, said once" \
	eval 'all_ok surplus.csv 4 && [ "$(grep -c "2 of 4 ranks have no arena" out)" = 1 ]'
run 2 --backend cpu "${quick[@]}" --op both -o both.csv
ok "--op both measures reads as well" eval \
	'all_ok both.csv 8 && cells both.csv | grep -q "^peer.cpu.read.bidi arena"'
run 2 --backend cpu "${quick[@]}" --verify off
ok "--verify off is said with the results" prints '^  data .*--set verify=off'

run 0 --backend cpu -s 64K --cell-limit 50ms --precision 10% -o bare.csv
ok "nothing given: the quick suite, as far as there is one of host memory" eval \
	'status_is 0 && all_ok bare.csv 2 && prints "^cscope-mpi .*  --suite quick" &&
	 cells bare.csv | grep -q "^peer.cpu.write.pair "'
ok "… and what is left out is said" \
	prints "left out +local, h2d, d2h of --suite quick: left out, the cpu backend does not measure"
run 0 --backend cpu -s 64K --samples 3 --matrix host -o host.csv
ok "a matrix that needs no driver has no note on calls of one" eval \
	'status_is 0 && prints_not "left out"'
run 0 --backend cpu -s 64K --samples 3 --matrix peer,h2d -o h2d.csv
ok "of several, the one that needs a driver is named" \
	prints "left out +h2d of --matrix peer,h2d: left out, the cpu backend does not measure"
run 0 --backend cpu -s 64K --samples 3 --matrix peer,h2d,cost
ok "... with the tests of calls beside it" eval \
	'tr -s " \n" " " <out | grep -q "h2d, d2h of --matrix peer,h2d,cost: left out, .*; [0-9]* tests of --matrix peer,h2d,cost are left out: the cpu backend has no driver"'

run 0 --backend cuda "${quick[@]}"
ok "a GPU wanted and none there: status 3" status_is 3
ok "… one line with the reason" one_line 'no GPU on|no usable GPU|without CUDA'
ok "… and nothing on stdout" is_empty out
run 4 --backend cuda "${quick[@]}"
ok "four ranks say it once" one_line 'no GPU on|no usable GPU|without CUDA'
ok "… status 3" status_is 3

# a grant by the scheduler is a sign of a GPU
SLURM_STEP_GPUS=0,1 run 0 "${quick[@]}"
ok "GPUs granted and no driver: status 3, host memory does not stand in" \
	eval 'status_is 3 && is_empty out'
ok "… and the sign is named" one_line "SLURM_STEP_GPUS=0,1"

run 0 "${quick[@]}" -o stand-in.json -o stand-in.csv
ok "no sign of a GPU: host memory stands in, said first of all" \
	eval 'status_is 0 && head -n 1 out | grep -q "^NO GPU: host memory stands in"'
ok "… and in every matrix" \
	eval '[ "$(grep -c "it stands in: there is NO GPU" out)" = 2 ]'
ok "… and in every row of the CSV" \
	eval '! grep -v "^node," stand-in.csv | grep -v stand-in'
ok_json "… and in the JSON" stand-in.json \
	'd["run"]["backend"] == "cpu" and d["run"]["stand_in"] is True'

run 2 "${quick[@]}" -f reason
ok "… and in the line for a scheduler" eval \
	'status_is 0 && prints "^cscope-mpi ok: NO GPU, host memory stands in: 4 of 4 cells measured$"'
run 2 --backend cpu "${quick[@]}" -f reason
ok "--backend cpu says there that no GPU was measured" \
	prints "^cscope-mpi ok: host memory, no GPU: 4 of 4 cells measured$"

if [ -z "${HAVE_CUDA:-}" ]; then
	skip="built without CUDA"
	ok "a driver that is there and does not start: status 3" true
	finish
	exit
fi
fake 4
FAKE_FAIL=cuInit:1=999 SLURM_STEP_GPUS=0 run 0 "${quick[@]}"
ok "GPUs granted and a driver that does not start: status 3, with its words" \
	eval 'status_is 3 && one_line "cuInit: CUDA_ERROR_UNKNOWN \(999\)"'
FAKE_FAIL=cuInit:1=999 run 0 "${quick[@]}"
ok "a driver that is there and does not start: status 3, no stand-in" \
	eval 'status_is 3 && one_line "cuInit: CUDA_ERROR_UNKNOWN \(999\)"'
FAKE_FAIL=cuInit:1=803 run 2 "${quick[@]}"
ok "… in two ranks: one line, with the hint" \
	eval 'status_is 3 && one_line "803.*different driver versions"'
FAKE_FAIL=cuInit:1=100 run 0 "${quick[@]}"
ok "a driver that says there is no GPU, and no sign of one: it stands in" \
	eval 'status_is 0 && head -n 1 out | grep -q "^NO GPU"'
for mask in 9 zz; do
	CUDA_VISIBLE_DEVICES=$mask run 0 "${quick[@]}" -o hidden.html
	ok "CUDA_VISIBLE_DEVICES=$mask hides all GPUs: said below the first line" eval \
		'status_is 0 && head -n 3 out | grep -q "^CUDA_VISIBLE_DEVICES=$mask is set: it hides every GPU that it does not name$"'
	ok "… the page too" grep -q "CUDA_VISIBLE_DEVICES=$mask is set" hidden.html
	CUDA_VISIBLE_DEVICES=$mask run 0 -s 64K -t peer.ce.write.pair
	ok "… and a test of GPUs cannot be measured: status 3, with the mask" eval \
		'status_is 3 && one_line "no GPU, and CUDA_VISIBLE_DEVICES=$mask is set: .peer.ce.write.pair."'
done
run 2 --backend cpu "${quick[@]}"
ok "--backend cpu beside GPUs does not call itself a stand-in" \
	eval 'status_is 0 && prints_not "NO GPU"'
finish
