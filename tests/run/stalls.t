#!/bin/bash
# Outputs that take no data, ranks that stop or come late: the program ends by its
# budget or by a signal all the same, says what held it up, and what was measured is
# written.
# shellcheck source=/dev/null disable=SC2016,SC2030,SC2031,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

# more rows than a pipe takes, soon
many=(--backend cpu --no-mpi --gpus 12 -m peer --pattern pair -s 4K
	--cell-limit 1ms --precision 10%)
# more cells than any of these budgets has time for
long=(--backend cpu -m peer --op both -s 4K:1M:x2 --cell-limit 200ms
	--precision 0.001%)

readers=''

# A pipe that is open for reading and never read.
stalled() { # NAME
	mkfifo "$1"
	tail -f /dev/null <"$1" >/dev/null 2>&1 &
	readers+=" $!"
}

# Each has a mark of its own; bounds are for a busy machine.
begin_as() { # NAME RANKS ARGUMENT...
	mark=$mark.$1
	shift
	begin "$@"
}

# What became of it, for after `back`.
done_within() { # SECONDS
	local file
	end_within "$1"
	[ "$in_time" != 0 ] || : >in_time
	# shellcheck disable=SC2086 # several
	[ -z "$readers" ] || kill $readers
	until_true 10 none_left >left || :
	for file in err out f.jsonl; do
		[ ! -p "$file" ] || { rm "$file" && : >"$file"; }
	done
}

# `back`, with nothing there of the one before.
judge() { # NAME
	rm -f in_time gone left stopped before ./*.json ./*.jsonl
	back "$1"
}

has_verdict() { # JOURNAL
	[ -e "$1" ] && tail -n 1 "$1" | grep -q '"kind":"verdict"'
}

has_row() { # JOURNAL TEST
	[ -e "$1" ] && grep -qF "\"test\":\"$2\"" "$1"
}

# ---- without MPI ----

stdout_by_budget() {
	stalled out
	begin_as 11 0 "${many[@]}" --budget 10s -f json -o done.jsonl -o done.json
	done_within 40
}

# The guard leaves in time, but slowly.
slow_to_leave() {
	stalled out
	in_front slowly 'export LD_PRELOAD=$SLOWEXIT ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS'
	wrapper=./slowly
	begin_as 30 0 "${many[@]}" --budget 10s -f json -o done.json
	done_within 40
}

stdout_by_signal() {
	stalled out
	begin_as 12 0 "${many[@]}" -f json -o done.json
	until_true 60 test -e done.json
	kill -TERM "$begun"
	done_within 20
}

both_by_signal() {
	stalled out
	rm -f err
	ln -s out err
	begin_as 13 0 "${many[@]}" -f json -o done.json
	until_true 60 test -e done.json
	kill -INT "$begun"
	done_within 20
}

no_reader_by_signal() {
	mkfifo f.jsonl
	begin_as 14 0 "${long[@]}" --no-mpi --gpus 8 -o f.jsonl -o k.jsonl -o k.json
	until_true 60 has_row k.jsonl peer.cpu.write.pair
	kill -TERM "$begun"
	done_within 20
}

no_reader_by_budget() {
	mkfifo f.jsonl
	begin_as 15 0 "${many[@]}" --budget 15s -o f.jsonl -o k.jsonl -o k.json
	done_within 40
}

late_reader() {
	mkfifo f.jsonl
	begin_as 16 0 "${many[@]}" -o f.jsonl -o k.jsonl -f result
	until_true 60 has_verdict k.jsonl
	cat f.jsonl >got.jsonl
	done_within 20
}

full_pipe_by_signal() {
	stalled f.jsonl
	begin_as 17 0 "${many[@]}" -o f.jsonl -o k.jsonl -o k.json
	until_true 60 has_verdict k.jsonl
	kill -INT "$begun"
	done_within 20
}

# The process that measures cannot write: it is stopped.
halted_by_budget() {
	begin_as 28 0 "${long[@]}" --no-mpi --budget 10s -o k.json -o k.jsonl -o k.html -f reason
	until_true 30 measuring k.jsonl 1 && kill -STOP "$(measurer)" && : >halted
	done_within 40
}

# A warning, and an output that takes no data.
warned_by_budget() {
	mkfifo f.json
	FAKE_THROTTLE=1:0x40 FAKE_GPUS=2 begin_as 29 0 --no-mpi -m peer -s 64K --check --budget 15s \
		-o f.json -o k.json -o k.html
	done_within 40
	rm -f f.json
}

# A file system that does not answer.
hung_by_budget() {
	run_program 0 "$FORBID" +fsync "$CSCOPE" "${many[@]}" --budget 10s -o k.json \
		-o k.jsonl -f result
}

hung_by_signal() {
	in_front hangs 'set -- "$FORBID" +fsync "$@"'
	wrapper=./hangs
	begin_as 19 0 "${many[@]}" -o k.json -f result
	until_true 60 test -s out
	kill -TERM "$begun"
	done_within 20
}

# Commands that read a pipe without a writer; each one's status and error.
no_writer() {
	local verb
	mkfifo p.jsonl
	for verb in show check baseline 'compare p.jsonl'; do
		# shellcheck disable=SC2086 # one has an argument
		{ "$TESTDATA/patience" 60 "$CSCOPE" $verb p.jsonl 2>"${verb%% *}.err" >/dev/null
			echo "$?" >>"${verb%% *}.err"; } &
	done
	wait
}

no_plan_by_budget() {
	mkfifo p.jsonl
	run_program 0 "$CSCOPE" --backend cpu --no-mpi --plan p.jsonl --budget 4s
}

no_journal_by_budget() {
	mkfifo p.jsonl
	run_program 0 "$CSCOPE" --backend cpu --no-mpi --resume p.jsonl --budget 4s
}

# ---- ranks of a job ----

# The processes of some ranks, guards too.
all_of() { # NUMBER...
	local pid n
	for pid in $(ranks); do
		for n; do
			is_of_rank "$pid" "$n" && echo "$pid"
		done
	done 2>/dev/null
}

guard_of() { # NUMBER
	local pid
	pid=$(rank "$1")
	ps -o ppid= -p "$pid"
}

# None but these is there.
none_but() { # PID...
	local pid left=''
	for pid in $(ranks); do
		case " $* " in
		*" $pid "*) ;;
		*) left+=" $pid" ;;
		esac
	done
	[ -z "$left" ]
}

# In the middle of a run, which waits for copies that do not end, are stopped the
# launcher, which would end the others, and whatever STOPPED prints.  The others have
# to end by themselves.
stops() { # NUMBER RANKS STOPPED...
	local number=$1 ranks=$2 victims
	shift 2
	if [ -z "${HAVE_CUDA:-}" ]; then
		skip="built without CUDA"
		return
	fi
	export FAKE_HANG=cuMemcpyAsync:200
	begin_as "$number" "$ranks" -m peer -s 1M --budget 15s -o k.jsonl -o k.json \
		-f reason
	[ -z "$skip" ] || return
	# shellcheck disable=SC2086 # several
	if ! { until_true 30 measuring k.jsonl 1 && kill -STOP "$(launcher)" &&
		victims=$("$@" | tr '\n' ' ') && kill -STOP $victims; }; then
		done_within 40
		skip="this machine is too busy to stop it in time"
		return
	fi
	grep -c '"kind":"result"' k.jsonl >before
	# shellcheck disable=SC2086
	until_true 40 none_but $victims && : >gone
	# by its mark: another process may have the number of one that is gone
	ranks >stopped
	# shellcheck disable=SC2046
	kill -KILL $(ranks) 2>/dev/null
	kill -CONT "$(launcher)"
	done_within 40
}

# Only the guard is stopped, not the launcher; before, its watcher is killed.
guard_stopped() { # NUMBER RANKS
	local guard watcher
	begin_as "$1" "$2" "${long[@]}" --budget 15s -q -o k.jsonl
	[ -z "$skip" ] || return
	if until_true 30 measuring k.jsonl 1 &&
		guard=$([ "$2" = 0 ] && echo "$begun" || guard_of 0 | tr -d ' ') &&
		watcher=$(pgrep -P "$guard" -x cscope-guard) && kill -KILL "$watcher" &&
		until_true 5 grep -q "is replaced" err && kill -STOP "$guard"; then
		done_within 40
	else
		done_within 40
		skip="this machine is too busy to stop it in time"
	fi
}

comes_late() {
	in_front sleeps '[ "$rank" = 0 ] || sleep 60'
	wrapper=./sleeps
	begin_as 21 2 "${long[@]}" --budget 10s -f reason
	done_within 40
}

full_pipe() {
	stalled f.jsonl
	begin_as 22 2 "${long[@]}" --budget 15s -o f.jsonl -o k.jsonl -o k.json -f reason
	done_within 40
}

on_two() {
	on two 2 2 2
	wrapper=./two
	stops "$@"
}

kept() {
	echo "$(cat before) rows when it was stopped"
	[ "$(grep -c '"kind":"result"' k.jsonl)" -ge "$(cat before)" ]
}

# ---- all at once: they wait ----

aside budget stdout_by_budget
aside slow-to-leave slow_to_leave
aside signal stdout_by_signal
aside both both_by_signal
aside nobody no_reader_by_signal
aside nobodys-budget no_reader_by_budget
aside late late_reader
aside full full_pipe_by_signal
aside halts halted_by_budget
aside hung hung_by_budget
aside hung-signal hung_by_signal
aside no-writer no_writer
aside no-plan no_plan_by_budget
aside no-journal no_journal_by_budget
aside late-rank comes_late
aside slow full_pipe
fake 2
aside warned warned_by_budget
aside measures stops 23 2 rank 0
aside guards stops 24 2 guard_of 0
aside guard guard_stopped 18 0
aside guard-of-rank guard_stopped 20 2
aside alone stops 25 2 all_of 0
aside other on_two 26 4 all_of 2 3
aside root on_two 27 4 all_of 0 1

# ---- outputs ----

whole='d["run"]["status"] == "complete" and d["run"]["exit"] in (0, 1)'
partial='d[-1]["kind"] == "verdict" and d[-1]["status"] == "partial"'

judge budget
ok "standard output is not read: a budget ends the program" test -e in_time
ok "… with status 74, and says that the report was not taken" eval 'status_is 74 &&
	says_once "cannot write the report to standard output: it takes no data"'
ok_json "… the files are written" done.json 'd["run"]["cells_measured"] > 0'
ok "… nothing of it is left" is_empty left

judge slow-to-leave
ok "… also if the guard takes seconds to leave" eval 'status_is 74 &&
	says_once "cannot write the report to standard output: it takes no data"'

judge signal
ok "standard output is not read: SIGTERM ends the program" test -e in_time
ok "… with status 143, and says so" eval 'status_is 143 &&
	says_once "cannot write the report to standard output: it takes no data"'
ok_json "… the files are written" done.json "$whole"
ok "… nothing of it is left" is_empty left

judge both
ok "nor is standard error, the same pipe: SIGINT ends it, status 130" \
	eval 'test -e in_time && status_is 130 && is_empty left'

judge nobody
ok "an output is a pipe without a reader: SIGTERM ends the program" \
	test -e in_time
ok "… with status 143, and names the pipe" eval 'status_is 143 &&
	says_once "cannot write .f.jsonl.: no process reads the pipe"'
ok_json "… rows and verdict are in the other outputs" k.jsonl \
	"$partial"' and d[-1]["summary"] == "interrupted by SIGTERM"'
ok_json "… the document too" k.json 'd["run"]["status"] == "partial"'
ok "… and what was measured is printed" prints '^peer.cpu.write.pair'
ok "… nothing of it is left" is_empty left

judge nobodys-budget
ok "… with a budget it ends by that, status 74" \
	eval 'test -e in_time && status_is 74 && is_empty left'
ok "… and names the pipe" says_once "cannot write .f.jsonl.: no process reads the pipe"
ok_json "… all that was measured is written" k.json 'd["run"]["cells_measured"] > 0'
ok "… and printed" prints '^peer.cpu.write.pair'

judge late
ok "a reader that comes late gets all: status 0" \
	eval 'test -e in_time && status_is 0 && is_empty left'
ok "… the same as another journal" same got.jsonl k.jsonl

judge full
ok "a reader that takes no more: SIGINT ends the program, status 130" \
	eval 'test -e in_time && status_is 130 && is_empty left'
ok "… which names the pipe" says_once "cannot write .f.jsonl.: it takes no data"
ok_json "… and the other outputs have all" k.json "$whole"

judge halts
[ -e halted ] || skip="this machine is too busy to stop it in time"
ok "the process that writes is stopped: a budget ends the program, status 3" \
	eval 'test -e in_time && status_is 3 && is_empty left'
ok "… which names each file that was asked for" says_once \
	"cannot write .k.json., .k.jsonl., .k.html.: the process that writes is left behind"
ok "… of which none is there but the journal" eval \
	'[ ! -e k.json ] && [ ! -e k.html ] && grep -q "\"kind\":\"result\"" k.jsonl'

judge warned
[ -n "${HAVE_CUDA:-}" ] || skip="built without CUDA"
ok "a warning, and an output that takes no data: status 74 tells of the output" eval \
	'test -e in_time && status_is 74 && says_once "cannot write .f.json.: no process reads the pipe"'
ok_json "… and the others are written" k.json 'd["run"]["status"] == "complete" and d["run"]["exit"] == 1'
ok "… the page too" grep -q "</html>" k.html

judge hung
grep -q "forbid: seccomp" err && skip="no filter of system calls can be set here"
ok "a file system does not answer: a budget ends the program, status 74" \
	status_is 74
ok "… each file that waits for it is named" eval '
	says_once "cannot write .k.json.: it takes no data" &&
	says_once "cannot write .k.jsonl.: it takes no data"'
ok_json "… the journal has what was written until then" k.jsonl \
	'd[0]["kind"] == "run" and d[-1]["kind"] == "verdict"'
ok "… and the report is printed" prints '^result peer.cpu.write.pair'

judge hung-signal
grep -q "forbid: seccomp" err && skip="no filter of system calls can be set here"
ok "… SIGTERM ends it too, status 143" \
	eval 'test -e in_time && status_is 143 && is_empty left'
ok "… and names the file" says_once "cannot write .k.json.: it takes no data"

# ---- inputs ----

unwritten="cannot read 'p.jsonl': no process writes to this pipe"
judge no-writer
for verb in show check baseline compare; do
	ok "$verb of a pipe that no process writes to ends, names it, status 3" eval '
		[ "$(grep -c . $verb.err)" = 2 ] && grep -q "$unwritten" $verb.err &&
		[ "$(tail -n 1 $verb.err)" = 3 ]'
done
rm p.jsonl
judge no-plan
ok "… a plan too, within the budget" eval 'status_is 64 &&
	says_once "p.jsonl.: no process writes to this pipe"'
rm p.jsonl
judge no-journal
ok "a pipe is no journal to go on with" eval 'status_is 64 &&
	says_once "cannot resume .p.jsonl.: it is a pipe, not a journal"'
rm p.jsonl

# ---- ranks ----

judge measures
ok "rank 0 is stopped: by the budget all have ended, its guard too" test -e gone
ok "… and it, for its guard has ended it" is_empty stopped
ok "… the rows are kept" kept
ok "… nothing of it is left" is_empty left

judge guards
ok "its guard is stopped: by the budget all have ended, that too" \
	eval 'test -e gone && is_empty stopped'
ok_json "… and the journal has its verdict" k.jsonl 'd[-1]["kind"] == "verdict"'
ok "… nothing of it is left" is_empty left

judge guard
ok "the process that ends a stopped guard is killed: said once" \
	says_once "the process that ends a stopped guard was lost, and is replaced"
ok "a guard is stopped: with a budget it is continued, to end with the status of the run" \
	eval 'test -e in_time && status_is 0 && is_empty left'
judge guard-of-rank
ok "… also that of a rank, so that its launcher has no process to mourn" \
	eval 'test -e in_time && status_is 0 && is_empty left && ! grep -q "signal 9" err'

judge late-rank
ok "a rank comes late: the others end by the budget, status 3" \
	eval 'test -e in_time && job_status_is 3 && is_empty left'
ok "… saying where they waited" eval '
	says_once "process [0-9]* hangs in MPI_Init .waits for all ranks. and is left running" &&
	prints "^cscope-mpi cannot test: process [0-9]* hangs in MPI_Init"'

judge slow
ok "an output takes no data: all ranks end by the budget" test -e in_time
was=$skip
needs_survivors
ok "… with status 74, and name it" eval 'status_is 74 &&
	says_once "cannot write .f.jsonl.: it takes no data"'
skip=$was
ok_json "… the other outputs have what was measured" k.json \
	'd["run"]["status"] == "complete" and len(d["results"]) > 0'
ok_json "… the journal too" k.jsonl 'd[-1]["kind"] == "verdict"'
ok "… and it is printed" prints '^cscope-mpi .* cells'
ok "… nothing of it is left" is_empty left


judge alone
ok "all processes of rank 0 are stopped: by the budget the others have ended" \
	test -e gone
ok "… the rows are kept" kept
ok "… nothing of it is left" is_empty left

judge other
ok "a node is stopped as a whole: by the budget the other has ended" \
	test -e gone
ok "… the rows are kept" kept
ok_json "… and the document is written" k.json 'len(d["results"]) > 0'
ok "… nothing of it is left" is_empty left

judge root
ok "rank 0's node is stopped as a whole: by the budget the other has ended" \
	test -e gone
ok "… the rows are kept" kept
ok "… nothing of it is left" is_empty left
finish
