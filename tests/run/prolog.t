#!/bin/bash
# In a prolog: an empty environment, half a minute, a driver that may hang; a budget
# that holds, one line, and the status that keeps jobs away or does not.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4
launch=$TESTDATA/../launch

# What the driver's double reads; all else is gone, PATH and HOME too.
nothing=(CS_LIBCUDA="$CS_LIBCUDA" CS_LIBNVML="$CS_LIBNVML" FAKE_GPUS=4
	FAKE_MEMORY="$FAKE_MEMORY" CS_TEST_ROOT="$CS_TEST_ROOT"
	HWLOC_COMPONENTS="$HWLOC_COMPONENTS")

bare() { # SCRIPT [VARIABLE=VALUE...] [-- ARGUMENT...]
	local script=$1 more=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- "$CSCOPE" 20s -s 1M --cell-limit 9s --suite quick --check
	skip=''
	took=$SECONDS
	env -i "${nothing[@]}" "${more[@]}" "$launch/$script" "$@" >out 2>err </dev/null
	status=$?
	took=$((SECONDS - took))
}

short_line() { # PATTERN: one line like this, and no other
	[ "$(wc -l <out)" = 1 ] && [ "$(wc -c <out)" -le 120 ] && prints "$1"
}

# Deadlines are generous: what is tested is that the run does not hang.
within() { # SECONDS
	echo "took about $took s"
	[ "$took" -le "$("$TESTDATA/patience" "$1")" ]
}

# ---- statuses ----

bare health-check
ok "a healthy node: status 0, one short line" \
	eval "status_is 0 && short_line '^cscope-mpi ok: 24 of 24 cells measured$'"
ok "and nothing on stderr" is_empty err

bare slurm-prolog
ok "a healthy node runs the job" \
	eval "status_is 0 && short_line '^cscope-mpi ok: '"

bare health-check FAKE_THROTTLE=1:0x8
ok "a warning: status 1" eval "status_is 1 && short_line '^cscope-mpi warning: .*; 24 of 24 cells$'"
bare slurm-prolog FAKE_THROTTLE=1:0x8
ok "with a warning the job runs, and the line says it" \
	eval "status_is 0 && short_line '^cscope-mpi warning: '"

bare health-check FAKE_CORRUPT=0-1:8
ok "wrong data: status 2" eval "status_is 2 && short_line '^cscope-mpi critical: .*; 23 of 24 cells$'"
bare slurm-prolog FAKE_CORRUPT=0-1:8
ok "wrong data keep the job away" \
	eval "status_is 1 && short_line '^cscope-mpi critical: '"

bare health-check FAKE_GPUS=0
ok "no GPU: status 3" eval "status_is 3 && short_line '^cscope-mpi cannot test: no '"
bare slurm-prolog FAKE_GPUS=0
ok "a node without its GPUs keeps the job away" \
	eval "status_is 1 && short_line '^cscope-mpi cannot test: '"

# a node without driver may have none by intent, unless something shows a GPU
bare health-check CS_LIBCUDA=/nowhere/libcuda.so.1 -- "$CSCOPE" 20s --suite quick --check \
	-o "$work/bare.prom" -o "$work/bare.json" -o "$work/bare.html"
ok "no driver and no sign of a GPU: status 75" eval "status_is 75 &&
	short_line '^cscope-mpi cannot tell: no GPU on .*, nor a sign of one: cannot load '"
ok "… in the metrics, too" grep -qx "cscope_mpi_exit_status 75" bare.prom
ok "… and on the page" grep -q "<b>cannot tell</b> <span>exit status 75" bare.html
ok_json "… and in the file" bare.json '[f["id"] for f in d["checks"] + d["errors"]] == ["no-sign"]'
"$CSCOPE" check bare.json -f reason >out 2>err
status=$?
ok "… and of the file" eval "status_is 75 && short_line '^cscope-mpi cannot tell: '"
bare slurm-prolog CS_LIBCUDA=/nowhere/libcuda.so.1
ok "… the job runs" eval "status_is 0 && short_line '^cscope-mpi cannot tell: no GPU on '"
bare slurm-prolog CS_LIBCUDA=/nowhere/libcuda.so.1 SLURM_JOB_ID=7 SLURM_JOB_GPUS=0
ok "… but not where the scheduler granted one" \
	eval "status_is 1 && short_line '^cscope-mpi cannot test: no usable GPU on .*SLURM_JOB_GPUS=0'"

# ---- as a check function of the Node Health Check ----

# What NHC gives its checks.
check_line=(check_cscope_mpi -p "$CSCOPE" -b 20 -s 1M --suite quick --check)
nhc() { # [VARIABLE=VALUE...] [-- OPTION...]
	local more=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- "${check_line[@]}"
	skip=''
	: >reason
	env "${nothing[@]}" "${more[@]}" bash -c '
		die() { shift; echo "$*" >reason; exit 1; }
		log() { echo "$*"; }
		syslog() { :; }
		. "$0"
		"$@"' "$launch/../packaging/nhc/cscope-mpi.nhc" "$@" >out 2>err </dev/null
	status=$?
}
of_nhc() { # STATUS PATTERN: it ends so, with that as reason
	echo "$status; $(cat reason)"
	status_is "$1" && grep -Eq "$2" reason && [ "$(wc -l <reason)" -le 1 ]
}
nhc TIMEOUT=30
ok "NHC: a healthy node passes within NHC's own 30 s" eval 'status_is 0 && is_empty out'
has_no_quote() { # NHC gives it to the shell between quotes
	! grep -q "[\"'\`\$\\\\]" reason
}
nhc TIMEOUT=30 FAKE_CORRUPT=0-1:8
ok "… wrong data fail it, with the program's line" of_nhc 1 "^cscope-mpi critical: .*corrupt"
nhc TIMEOUT=30 -- check_cscope_mpi -p "$CSCOPE" -s 1M --min-share 50%
ok "… without the quotes that are in it" \
	eval 'of_nhc 1 "^cscope-mpi cannot test: .* of their links peak" && has_no_quote'
nhc TIMEOUT=30 FAKE_THROTTLE=1:0x8
ok "… a warning is logged" eval 'status_is 0 && prints "^check_cscope_mpi: cscope-mpi warning"'
nhc TIMEOUT=30 -- check_cscope_mpi -p "$CSCOPE" --nonsense
ok "… as are wrong options" eval 'status_is 0 && prints "unknown option --nonsense"'
nhc TIMEOUT=6
ok "… and that NHC leaves no time to measure" eval 'status_is 0 && prints "only [0-9] s are left"'

# ---- where the check itself is at fault ----

bare health-check -- "$work/none"
ok "without a program: status 127, which is said" \
	eval "status_is 127 && short_line 'no program $work/none$'"
bare slurm-prolog -- "$work/none"
ok "that drains no node" eval "status_is 0 && short_line '^cscope-mpi not run: '"
bare health-check -- "$CSCOPE" 5s --no-such-thing
ok "what is no option: status 64, which is said" \
	eval "status_is 64 && short_line \"unknown option '--no-such-thing'\""
bare slurm-prolog -- "$CSCOPE" soon
ok "nor does what is no budget" eval "status_is 0 && short_line \"--budget 'soon'\""

# what is wrong in the command line, or in the files that it names, is no node's fault
wrong() { # WORDS OPTION...
	local words=$1
	shift
	bare slurm-prolog FAKE_CALLS="$work/calls" -- "$CSCOPE" 20s "$@"
	status_is 0 && short_line "$words" && [ ! -e "$work/calls" ]
}
echo '{}' >empty.json
for option in "--baseline $work/none.json" "--baseline $work/empty.json" \
	"--threshold $work/none.csv" "--plan $work/none.csv" \
	"--resume $work/none.jsonl" "-s 2000T" "-s 9223372036854775808" \
	"--spread 8388607T" "--gpus 999"; do
	# shellcheck disable=SC2086 # an option and its value
	ok "nor does ${option//$work\//}, and no driver is started" \
		wrong "^cscope-mpi: .*${option%% *}|cannot resume" $option
done
FAKE_CALLS=$work/calls run 2 -s 1M --baseline none.json -f reason
ok "two ranks: one line, status 64, and no driver is started" eval \
	'status_is 64 && one_line "cannot read .none.json." && is_empty out && [ ! -e calls ]'
FAKE_CALLS=$work/calls run 2 --no-mpi -s 1M --baseline none.json -f reason
ok "under a launcher --no-mpi makes a job of each rank: each says it" eval \
	'status_is 64 && [ "$(lines err)" -ge 1 ] && [ ! -e calls ]'

# nor is an output that cannot be written, which hides no fault of the node
ln -s /dev/full full.prom
unwritten() { # STATUS PATTERN SCRIPT FILE [VARIABLE=VALUE...]
	local expected=$1 pattern=$2 script=$3 file=$work/$4
	shift 4
	bare "$script" "$@" -- "$CSCOPE" 20s -s 1M --cell-limit 9s --suite quick --check -o "$file"
	status_is "$expected" && short_line "$pattern"
}
ok "a full disk: status 74, and a word of its own" unwritten 74 \
	"^cscope-mpi output lost: cannot write .$work/full.prom.: No space left on device; 24 of 24 cells$" \
	health-check full.prom
ok "… the job runs" unwritten 0 "^cscope-mpi output lost: " slurm-prolog full.prom
ok "… also with a warning" unwritten 0 "^cscope-mpi output lost: " slurm-prolog full.prom \
	FAKE_THROTTLE=1:0x8
ok "a folder that is not there: the job runs" \
	unwritten 0 "^cscope-mpi output lost: .*No such file" slurm-prolog none/x.prom
ok "… but not on a node with an NVLink down" unwritten 1 \
	"^cscope-mpi critical: .*: GPU 2: 17 of 18 NVLinks are up" slurm-prolog none/x.prom \
	FAKE_NVLINKS_DOWN=2:1
run 0 --no-mpi -s 1M --suite quick -f nagios -o none/x.prom
ok "a plugin of a monitor says that it does not know, status 3" eval \
	'status_is 3 && prints "^CSCOPE-MPI UNKNOWN: cannot write .none/x.prom.: No such file"'

# nor is a GPU that another process uses
unable() { # PATTERN VARIABLE=VALUE...
	local pattern=$1
	shift
	bare health-check "$@"
	status_is 75 && short_line "^cscope-mpi cannot tell: .*$pattern" || return
	bare slurm-prolog "$@"
	status_is 0 && short_line "^cscope-mpi cannot tell: "
}
ok "a GPU that another process holds: status 75, and the job runs" \
	unable "GPU [0-3] .*CUDA_ERROR_DEVICE_UNAVAILABLE" FAKE_FAIL=cuDevicePrimaryCtxRetain:1=46
ok "… that is taken while it is measured" unable "GPU [0-3]" FAKE_FAULT=cuMemcpyAsync:9=46
ok "… of whose memory nothing is left then" \
	unable "GPU [0-3] .*cuMemcpyAsync: CUDA_E" FAKE_FAIL=cuMemcpyAsync:9=2
ok "… whose memory another process has" \
	unable "CUDA_ERROR_OUT_OF_MEMORY" FAKE_FAIL=cuMemAlloc:1=2
ok "… that no process may use" unable "nothing could be measured: " FAKE_COMPUTE_MODE=2
ok "… all of which are used" unable "1 other process on (it|each)|process of others" FAKE_NVML_OTHERS=0:1,1:1,2:1,3:1
bare slurm-prolog FAKE_FAIL=cuDevicePrimaryCtxRetain:1=46 \
	FAKE_NVLINKS_DOWN=2:1,3:1
ok "… which hides no fault of another one" \
	eval "status_is 1 && short_line '^cscope-mpi critical: .*GPU [23]: 17 of 18 NVLinks'"
bare slurm-prolog FAKE_FAIL=cuDevicePrimaryCtxRetain:1=999
ok "a GPU that cannot be opened keeps the job away" \
	eval "status_is 1 && short_line '^cscope-mpi critical: .*GPU [0-3] .*CUDA_ERROR_UNKNOWN'"

bare slurm-prolog SLURM_JOB_GPUS=1,3
ok "of a job's GPUs these alone are measured" \
	eval "status_is 0 && short_line '^cscope-mpi ok: 8 of 8 cells measured$'"

# ---- a driver that hangs ----

hung=("$CSCOPE" 4s -s 1M --suite quick --check)
for call in cuInit:1 cuMemAlloc:1; do
	bare health-check FAKE_HANG=$call -- "${hung[@]}"
	ok "$call hangs: status 3 within the budget" eval "status_is 3 && within 10 &&
		short_line '^cscope-mpi cannot test: .*did not answer|no answer'"
done
bare slurm-prolog FAKE_HANG=cuInit:1 -- "${hung[@]}"
ok "a driver that hangs keeps the job away" \
	eval "status_is 1 && within 10 && short_line 'did not answer'"

bare health-check FAKE_HANG=cuMemcpyAsync:9 -- "$CSCOPE" 6s "${hung[@]:2}"
ok "a copy that hangs is told within the budget" \
	eval "within 10 && short_line '^cscope-mpi (critical|cannot test): .*no answer'"

bare health-check FAKE_NVML_HANG=nvmlInitWithFlags -- "$CSCOPE" 10s -s 1M --suite quick --check
ok "NVML that hangs takes no more than its part" \
	eval "status_is 1 && within 20 && short_line '[1-9][0-9]* of 24 cells$'"

bare health-check FAKE_HANG=cuDevicePrimaryCtxRelease:1 -- \
	"$CSCOPE" 8s -s 1M --suite quick --check
ok "what hangs in closing is left behind" \
	eval "status_is 0 && within 16 && short_line '[1-9][0-9]* of 24 cells measured$'"

# ---- a process that cannot be ended: stopped, it does not hear the end either ----

measuring_child() {
	child=$(measurer) && [ -n "$child" ]
}

FAKE_HANG=cuInit:1 begin 0 --no-mpi --budget 4s -f reason
until_true 5 measuring_child
kill -STOP "$child"
end_within 20
ok "a process that does not come back: status 3 in time" \
	eval "was_in_time && status_is 3"
ok "one line says that it is left behind" \
	short_line "cannot test: process $child hangs .it is stopped."
ok "so does stderr" says_once "process $child hangs .it is stopped. and is left running"

FAKE_HANG=cuDevicePrimaryCtxRelease:1 begin 0 --no-mpi --budget 6s -s 1M -f reason
until_true 5 measuring_child
until_true 10 test -s out
kill -STOP "$child"
end_within 20
ok "one that has said all counts by what it said" \
	eval "was_in_time && status_is 0 && short_line ' ok: '"

FAKE_SUBMIT_NS=5000000 begin 0 --no-mpi --budget 60s -s 1M --samples 50 -o t.jsonl --matrix peer,h2d,d2h
until_true 10 measuring t.jsonl 3
kill -TERM "$begun"
end_within 20
ok "a signal ends the measuring process too" \
	eval "was_in_time && status_is 143 && tail -n 1 t.jsonl | grep -q '\"kind\":\"verdict\"'"
ok "and none is left" none_left

"$CSCOPE" --no-mpi --budget 20s -s 1M >/dev/full 2>err
status=$?
ok "a report that cannot be written: status 74" \
	eval "status_is 74 && says_once 'cannot write the report to standard output'"

# ---- coverage: calls that take their time make cells of a third of a second ----

many=(-s 64K --seed 5 --test 'peer.ce.write.pair,h2d.ce.pinned.pair,d2h.ce.pinned.pair')
export FAKE_SUBMIT_NS=20000
run 0 --no-mpi "${many[@]}" --budget 5s --check --min-coverage 1% -o part.json -o part.jsonl
ok "a budget covers a part, and that is no fault" eval "status_is 0 || status_is 1"
ok "the text says which part" prints 'coverage +[0-9]+ of 20 cells within 5 s; --resume'
ok "and what was left out" prints 'note +[0-9]+ of 20 cells left out: the budget of 5 s was spent'
cp out text
"$CSCOPE" check part.json --min-coverage 99% -f reason >out 2>err
status=$?
ok "less than --min-coverage is no verdict: status 75" eval "status_is 75 &&
	prints '^cscope-mpi cannot tell: only [0-9]+ of 20 cells were measured within the budget'"
cp text out
ok_json "so does JSON" part.json \
	"0 < d['run']['cells_measured'] < d['run']['cells_planned'] == 20 and d['run']['budget_s'] == 5"
ok_json "what was left out is skipped with its reason" part.json \
	"{r['reason'] for r in d['results'] if r['status'] != 'ok'} == {'left out: the budget was spent'}"
ok_json "the GPUs come first, one by one from the host" part.json \
	"[(r['test'], len({q['dst'] for q in d['results'] if q['step'] < 4})) for r in d['results'] if r['step'] < 4] == [('h2d.ce.pinned.pair', 4)] * 4"
ok_json "nothing is measured before what tells more" part.json \
	"max(r['step'] for r in d['results'] if r['status'] == 'ok') < min(r['step'] for r in d['results'] if r['status'] != 'ok')"
ok_json "the verdict's summary says it" part.jsonl \
	"'%d of %d cells' % (d[-1]['cells_measured'], d[-1]['cells_planned']) in d[-1]['summary']"
ok_schema "it is as the schema has it" part.json part.jsonl

run 0 --no-mpi "${many[@]}" --resume part.jsonl -o whole.json
ok "--resume measures the rest, without a budget" status_is 0
ok_json "all cells are there" whole.json \
	"d['run']['cells_measured'] == d['run']['cells_planned'] and d['run']['resumes'] and d['run']['settings']['urgent']"
unset FAKE_SUBMIT_NS

fake 2
run 2 -s 1M --budget 20s -f reason
ok "under a launcher a budget holds as well" \
	eval "status_is 0 && prints '^cscope-mpi ok: 3 of 3 cells measured$|^cscope-mpi ok: [0-9]+ of [0-9]+ cells'"

fake 4
FAKE_FAIL_RANK=1 FAKE_HANG=cuInit:1 run 2 -s 1M --budget 6s -f reason
ok "a rank whose driver hangs is told apart from the others" eval "job_status_is 3 &&
	prints '^cscope-mpi cannot test: the budget of 6 s was spent before the first cell: the driver did not answer'"

# ---- options ----

run 0 --budget 0.5s
ok "less than a second is no budget" eval "status_is 64 && one_line 'at least 1 s'"
run 0 --budget 20s --placement process,thread
ok "a comparison of placements has none" eval "status_is 64 && one_line '--budget and several --placement exclude each other'"

finish
