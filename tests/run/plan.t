#!/bin/bash
# Plan files: written by --dry-run, carried out by --plan, and shown again.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

plans=$TESTDATA/../doc/plans

refused() { # WORDS OPTION...: one line with these words
	local words=$1
	shift
	run 0 "$@"
	[ "$status" = 64 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] &&
		grep -qF -- "$words" err && return
	echo "status $status for $*"
	cat err out
	return 1
}

goes_round() { # "ARGUMENT... that choose tests" ARGUMENT...: what both have
	local tests
	read -ra tests <<<"$1"
	shift
	run 0 --dry-run --gpus 4 --seed 5 "$@" "${tests[@]}" -o first.csv
	status_is 0 || return
	grep '^plan ' out >first.id
	run 0 --dry-run --gpus 4 --seed 5 "$@" --plan first.csv -o second.csv
	status_is 0 && grep '^plan ' out >second.id && same first.id second.id &&
		same first.csv second.csv
}

ok "a built-in plan is written and read back as the same plan" \
	goes_round "--matrix peer,h2d,d2h,local"
ok "… also of costs, of NUMA nodes and of a sweep" eval \
	'goes_round "--matrix peer,cost,host --pattern pair,shift,random" &&
	goes_round "--matrix h2d --pattern load,bidiload,all" --numa all --size 1M:1G:x4'
ok "… and of the cpu backend" goes_round "--matrix peer,host" --backend cpu

all_examples() {
	local file
	for file in "$plans"/*.csv; do
		run 0 --dry-run --gpus 4 --plan "$file"
		status_is 0 && prints '^order     as in' || return
	done
}
ok "every example is a plan" all_examples

sed 's/gpu3/gpu9/' "$plans/ring.csv" >bad.csv
ok "a GPU that is not there: line and column, status 64" refused \
	"bad.csv:5: column dst: 'gpu9' is not there: this plan has 4 GPUs" \
	--dry-run --gpus 4 --plan bad.csv
sed 's/gpu3/gpu99/' "$plans/ring.csv" >bad.csv
ok "… before anything is started, where no machine could have it" refused \
	"bad.csv:5: column dst: 'gpu99' is not there: no plan has more than 64 GPUs" \
	--plan bad.csv
ok "a file that is not there" refused "--plan 'no.csv': No such file" --plan no.csv
ok "--plan and what it takes the place of exclude each other" eval \
	'refused "--plan and --test exclude each other" --plan x.csv --test "peer.*.pair" &&
	refused "--plan and --matrix exclude each other" --plan x.csv --matrix peer &&
	refused "--plan and --check=launch exclude" --plan x.csv --check=launch'
mixed() { # LIST TEST...: the tests of the plan
	local list=$1
	shift
	run 0 --no-mpi --dry-run --gpus 2 --backend cuda -t "$list"
	sed -n 's/^test  *\([^ ]*\).*/\1/p' out | sort -u >got
	status_is 0 && printf '%s\n' "$@" | sort >want && same got want
}
h2d="h2d.ce.pinned.pair h2d.ce.pinned.bidi"
quick="peer.ce.write.pair d2h.ce.pinned.pair local.ce.copy.alone"
# shellcheck disable=SC2086 # lists
ok "one -t takes kinds, names, globs, and what other tools call a test" eval \
	'mixed "h2d,peer.sm.read.pair" $h2d peer.sm.read.pair &&
	mixed "local.sm.[rw]*.alone,h2d" $h2d local.sm.read.alone local.sm.write.alone &&
	mixed device_to_device_memcpy_read_ce,h2d $h2d peer.ce.read.pair &&
	mixed Comm_cudaMemcpyAsync_PinnedToGPU,h2d $h2d h2d.ce.registered.pair'
ok "… and suites beside all of these" eval \
	'mixed quick,h2d $quick $h2d && mixed "peer.sm.read.*r,quick" peer.sm.read.pair $quick h2d.ce.pinned.pair'
ok "… what is none of these is named alone" refused "--test 'nonsense': no test matches" \
	--dry-run --gpus 2 -t h2d,nonsense
ok "--plan and --suite exclude each other" refused \
	"--plan and --suite exclude each other" --plan none.csv --suite quick
ok "--dry-run writes plans to .csv alone" refused \
	"--dry-run writes a plan, to a .csv" --dry-run --gpus 4 -o plan.json

cat >cpu.csv <<'END'
step,test,src,dst,size,role
one,peer.cpu.write.pair,arena0,arena1,64K,
two,peer.cpu.write.pair,arena0,arena1,64K,
two,peer.cpu.write.pair,arena1,arena2,64K,
two,peer.cpu.read.pair,arena2,arena0,64K,load
END
quick=(--cell-limit 50ms --precision 10% --seed 1)
run 3 --backend cpu --gpus 3 --plan cpu.csv "${quick[@]}" -o cpu.csv.csv -o cpu.json
ok "three ranks carry out a plan on the cpu backend" all_ok cpu.csv.csv 3
ok "… each transfer is a line with its step and what ran beside it" eval \
	'prints "^  one +arena0->arena1 +peer.cpu.write.pair +64 KiB +[0-9.]+ GB/s.* 0$" &&
	prints "^  two +arena0->arena1 .* 2, 1 of them load$" &&
	prints "^ +arena1->arena2 " && prints "^ +total " && prints_not "arena2->arena0"'

if [ -z "${HAVE_CUDA:-}" ]; then # all that follows is of GPUs
	finish
	exit
fi
fake 2
cat >memory.csv <<'END'
step,test,src,dst,size,role
one,h2d.ce.pinned.pair,host,gpu0,64K,
two,h2d.ce.huge.pair,host,gpu0,64K,
both,h2d.ce.huge.pair,host,gpu0,64K,
both,h2d.ce.pinned.pair,host,gpu0,64K,
END
run 0 --plan memory.csv --seed 1 -o memory.jsonl
# rates that tell them apart
sed '/huge.*"step_name":"two"/s/"value":[0-9.]*/"value":12.0/
	/huge.*"step_name":"both"/s/"value":[0-9.]*/"value":13.0/
	/pinned.*"step_name":"both"/s/"value":[0-9.]*/"value":14.0/' memory.jsonl >told.jsonl
run 0 show told.jsonl
ok "transfers that differ in their memory alone have each its own figure" eval \
	'prints "^  two .* h2d.ce.huge.pair +64 KiB +12.00 GB/s" &&
	prints "^  both .* h2d.ce.huge.pair .* 13.00 GB/s" &&
	prints "^ +numa0->gpu0 +h2d.ce.pinned.pair .* 14.00 GB/s"'
fake 4
memory 34000000
cp "$plans/ring.csv" ring.csv
run 0 --plan ring.csv -s 4M --seed 1 -o ring.json -o ring.jsonl -o rows.csv
cp out live
ok "a ring is measured, one way, the other, and both" eval \
	'status_is 0 && all_ok rows.csv 16 && [ "$(grep -c "^ *total" out)" = 3 ]'
ok "steps have their names in JSON and CSV" eval \
	'grep -q "\"step_name\":\"left\"" ring.json && head -n 1 rows.csv | grep -q step_name'
ok_schema "both follow the schema" ring.json ring.jsonl
run 0 show ring.json
ok "show prints the same bytes" same live out
run 0 show ring.jsonl
ok "… of the journal too" same live out
run 0 show ring.json -o again.json -q
ok "… and writes the same document" same ring.json again.json
run 0 show ring.json -f result
ok "result lines name the step" eval \
	'[ "$(wc -l <out)" = 19 ] && prints "^result peer.ce.write.pair [^ ]+ step left gpu0->gpu3 median [0-9.]+ GB/s virtual-clock$" && prints "step both total median "'
run 0 show ring.json --redact -o redacted.json
ok "the name of the file is redacted" eval \
	'status_is 0 && ! grep -q "ring\.csv" redacted.json out && prints "plan FILE.csv"'
run 0 compare ring.json again.json
ok "compare takes cells of different steps apart" eval \
	'status_is 0 && ! grep -q "not compared" out'
run 0 compare -v ring.json again.json
ok "… and names them by their step" prints " left 0->3 "
run 0 --plan ring.csv -s 4M --seed 1 --resume ring.jsonl
ok "--resume knows the plan again" eval \
	'status_is 0 && says_once "is complete: nothing was measured"'
sed 's/^left/other/' ring.csv >named.csv
run 0 --plan named.csv -s 4M --seed 1 --resume ring.jsonl
ok "… and another one" says_once "cannot resume .* it has another plan"

# the double fills memory slowly
sed 's/,256M,/,8M,/; s/,64M,/,2M,/' "$plans/host-and-peer.csv" >both.csv
run 4 --plan both.csv -s 1M --seed 1 -o both.json -o both-rows.csv
ok "four ranks measure host and peer at once, and beside loads" eval \
	'all_ok both-rows.csv 5 && prints "^  under-load +gpu0->gpu1 .* 4, load$"'
cp out live
run 0 show both.json
ok "show prints the same bytes of four ranks" same live out
sed 's/gpu1/gpu7/' both.csv >bad.csv
run 4 --plan bad.csv
ok "four ranks say once what is not there, status 64" eval \
	'status_is 64 && says_once "bad.csv:[0-9]+: column dst: .gpu7. is not there: this plan has 4 GPUs"'
# the second node has a GPU less than the plan names
on two 2 4 3
run_program 4 ./two "$CSCOPE" --plan ring.csv -s 1M --seed 1 -o two.csv
ok "a node with fewer GPUs than the plan says that no step is for it" eval \
	'all_ok two.csv 16 && prints "^  every step of the plan needs more than the 3 GPUs of this node"'
printf 'step,test,src,dst,size\na,peer.ce.write.pair,gpu0,gpu1,1T\nb,peer.ce.write.pair,gpu0,gpu1,1M\n' >large.csv
run 0 --plan large.csv --seed 1
ok "a size beyond memory is skipped with the reason, the rest measured" eval \
	'prints "^  a .* skipped +0$" && prints "^  b .* GB/s" && prints "left out .*skipped: "'

finish
