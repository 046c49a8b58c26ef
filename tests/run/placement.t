#!/bin/bash
# --placement: the GPUs divided among processes in another way than the ranks are,
# and several such ways compared in one job.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

cpu=(--backend cpu -m peer --gpus 4 -s 64K --cell-limit 20ms --precision 10% --seed 1)

run 0 "${cpu[@]}" --placement process,thread -o p.json -o p.jsonl
ok "arenas of host memory in one process and in four" status_is 0
ok "… which placement to use is said before the figures of each" eval \
	'[ "$(grep -nm 1 "^A process, B thread:" out | cut -d: -f1)" -lt "$(grep -nm 1 "^process: " out | cut -d: -f1)" ]'
ok_schema "… the files follow the schema" p.json p.jsonl
ok_json "… a node for each placement" p.json \
	'[(n["placement"], len({a["pid"] for a in d["agents"]
				if a["node_index"] == n["node_index"]}))
	  for n in d["nodes"]] == [("process", 4), ("thread", 1)]'
ok_json "… eight turns of each in every cell, by turns" p.json \
	'sorted((r["test"], r["node_index"], r["src"], r["dst"], r["turn"])
		for r in d["results"] if r["metric"] == "rate") ==
	 sorted((r["test"], n, r["src"], r["dst"], b) for r in d["results"]
		if r["metric"] == "rate" and r["turn"] == 1 and r["node_index"] == 0
		for n in (0, 1) for b in range(1, 9))'
ok_json "… and every cell has a verdict" p.json \
	'[(c["a"], c["b"], [len(m["cells"]) for m in c["matrices"]])
	  for c in d["comparisons"]] == [("process", "thread", [12, 12, 6])]'
cp out live
run 0 show p.jsonl
ok "its journal shows the same" cmp -s out live
run 0 show p.json --cell 0,1
ok "a cell is shown once for each placement, with its turns together" eval \
	'[ "$(grep -c "^  value" out)" = 4 ] && prints ", thread  0->1  CPU worker to" &&
	 prints "^  samples +[4-8]: "'
run 0 show p.json -f result
ok "result lines tell the placement" eval \
	'[ "$(grep -c "placement=process$" out) $(grep -c "placement=thread$" out)" = "2 2" ]'
run 0 show p.json:thread
ok "FILE:PLACEMENT shows one" eval 'prints "; placement thread" &&
	prints_not "placement process" && prints "2 of 2 cells|12 of 12 cells"'
run 0 compare p.json
ok "… and compare reads both out of one file" prints 'A process, B thread'
run 0 compare p.json:process p.json:thread
ok "… or by name" prints 'A p.json:process, B p.json:thread'
ok_refused "… but has to be told which" "choose one" compare p.json p.json

run 0 "${cpu[@]}" --placement 2 -f csv
ok "two to a process" eval 'status_is 0 && grep -q "2 per process" out'
for list in '' 'process,' three 0 -1 process,process 65 1,process process,thread,2,3,4; do
	run 0 "${cpu[@]}" --placement "$list"
	ok "--placement '$list': status 64, one line" eval 'status_is 64 &&
		one_line "placement"'
done
ok_refused "the same placement twice is refused" "twice" "${cpu[@]}" --placement process,1
run 0 "${cpu[@]}" --gpus 2 --placement thread,2
ok "… also where it takes the node to see it" eval 'status_is 3 &&
	one_line "are the same on 2 GPUs"'
ok_refused "a comparison is not gone on with" "resume" "${cpu[@]}" --placement process,thread --resume p.jsonl

if [ -z "${HAVE_CUDA:-}" ]; then
	finish
	exit
fi

# ---- the driver's double: exact figures under every launch ----

fake 4
few=(-s 1M --seed 1)
equal() { # MATRICES
	status_is 0 && [ "$(grep -c 'same within 1 %: 12 of 12 cells' out)" = "$1" ]
}
run 0 "${few[@]}" --placement process,thread
ok "without a launcher: both are the same" equal 2
run 0 "${few[@]}" --placement process,thread -f nagios
ok "… and each of their 24 cells counts once, whatever its turns" \
	prints 'OK: .*: 48 of 48 cells measured'
FAKE_NVML_MEMORY=0:600,1:600,2:600,3:600 run 0 "${few[@]}" --placement process,thread
ok "… each says what it holds meanwhile" eval '[ "$(grep -cE \
	"holds 5.. MiB of each GPU and [0-9]+ MiB of host memory in [14] process" out)" = 2 ]'
ok "… as four processes over CUDA IPC and as one" eval 'run 0 "${few[@]}" \
	--placement process,thread -v && prints "3 x NV18 by CUDA IPC|3 by CUDA IPC" &&
	prints "3 direct"'
if has_launcher; then
	for n in 1 2 4; do
		run $n "${few[@]}" --placement process,thread,2
		ok "three placements under $n ranks" equal 4
	done
	in_front own 'export CUDA_VISIBLE_DEVICES=$rank'
	run_program 4 ./own "$CSCOPE" "${few[@]}" --placement process,thread
	ok "ranks that see one GPU each: one process for all sees them all" equal 2
fi
if has_launcher; then
	printf '#!/bin/bash\nexport FAKE_CGROUP=%s\nexec "$@"\n' \
		'${OMPI_COMM_WORLD_LOCAL_RANK:-${PMI_RANK:-0}}' >own
	fake 2
	run_program 2 ./own "$CSCOPE" "${few[@]}" --placement process,thread -o c.json
	ok "a cgroup that hides a GPU from the one process: the other placement is measured" \
		status_is 0
	ok_json "… and it is skipped, with the reason and the flag" c.json \
		'{(r["placement"], r["status"]) for r in d["results"]} ==
			{("process", "ok"), ("thread", "skipped")} and
		 {r["reason"] for r in d["results"] if r["reason"]} ==
			{"a process made for this placement does not see it: ask the launcher for --gpu-bind=none"}'
	fake 4
fi
# ---- what drifts meanwhile ----

drifts=(-m peer --pattern pair -s 4M --seed 1 --placement 'process,thread')
FAKE_DRIFT=0.002 run 0 "${drifts[@]}"
ok "a drift of 0.2 % a sample, of a third in all, hides no likeness" eval 'status_is 0 &&
	prints "same within 1 %: 12 of 12 cells"'
if has_launcher; then
	in_front behind '[ "$rank" = 0 ] || export FAKE_SLOW=1-0:0.97,1-2:0.97,1-3:0.97'
	FAKE_DRIFT=0.002 run_program 4 ./behind "$CSCOPE" "${drifts[@]}" -o drift.json
	ok_json "… nor a placement in which one GPU is 2 % slower" drift.json \
		'sorted(c["cell"] for m in d["comparisons"][0]["matrices"]
			for c in m["cells"] if c["verdict"] == "faster") ==
			["1->0", "1->2", "1->3"] and
		 d["comparisons"][0]["matrices"][0]["same"] == 9'
fi
FAKE_COMPUTE_MODE=3 run 0 "${few[@]}" --placement process,thread
ok "GPUs that take one process: handed from one placement to the other" equal 2
FAKE_COMPUTE_MODE=3 run 0 "${few[@]}" --placement process,thread -f csv
ok "… and looked at before and after" eval \
	'[ "$(grep -c ",ok," out)" = 480 ]'
# as another test does that has GPUs of the double at the same time
held='import fcntl, subprocess, sys
library = open(sys.argv[1], "r+b")
fcntl.lockf(library, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[2:]))'
FAKE_COMPUTE_MODE=3 run_program 0 "${PYTHON:-python3}" -c "$held" "$CS_LIBCUDA" "$CSCOPE" "${few[@]}" \
	--placement process,thread
ok "… also while another job has such GPUs" equal 2

# submitting costs a process 1 ms a call, one after the other: found by the whole run
FAKE_SUBMIT_NS=1000000 run 0 --test peer.ce.enqueue.all "${few[@]}" \
	--placement process,thread --check=placement -o s.json
ok "a known cost of submission is found: status 1" status_is 1
ok_json "… as a judgement" s.json \
	'[(f["id"], "is slower in" in f["says"]) for f in d["checks"]] == [
		("placement-differs", True)]'
ok_json "… of threads that wait for each other, four times as long" s.json \
	'all(2.5 < m["b"] / m["a"] < 5 for m in d["comparisons"][0]["matrices"])'
FAKE_SUBMIT_NS=1000000 run 0 --test peer.ce.enqueue.all "${few[@]}" --gpus 0,1 \
	--placement process,thread
ok "… which is not the exit status unless it is asked for" status_is 0
FAKE_OPEN_US=3000 FAKE_MEMORY=100000000 run 0 --test peer.driver.open.pair "${few[@]}" --gpus 0,1 \
	--placement process,thread -o o.json
ok_json "a known cost of opening is found" o.json \
	'{m["metric"]: m["verdict"] for m in d["comparisons"][0]["matrices"]}["time"] == "faster"'

# a slow link is slow in both
FAKE_SLOW=0-1:0.9 run 0 "${few[@]}" --placement process,thread
ok "a slow link is no difference between placements" equal 2

# ---- one of the processes dies ----

slow=(-s 2M --op both -o k.jsonl)
start() {
	rm -f k.jsonl
	begin 0 "${slow[@]}" --placement process,thread
	until_true 20 measuring k.jsonl 12
}
helper() {
	pgrep -P "$(measurer)" -x cscope-mpi | head -1
}
host() { # a process that a helper has made
	pgrep -P "$(helper)" -x cscope-mpi | tail -1
}
keeps() { # DESCRIPTOR...
	local has
	has=$(cd "/proc/$(helper)/fd" && echo *)
	echo "the helper has $has"
	[ "$has" = "$*" ]
}
exec 29</dev/null
start
exec 29<&-
ok "a helper keeps none of the files that the program was started with" keeps 0 1 2 3
kill -KILL "$(host)"
end_within 60
ok "a process of one placement dies: status 2, with its GPU" eval 'status_is 2 &&
	says_once "critical: .*GPU [0-3] .rank 0.: its process died"'
ok_json "… the other placement is measured whole" k.jsonl \
	'len({(r["test"], r["src"], r["dst"], r["turn"]) for r in d
	      if r["kind"] == "result" and r["node_index"] == 1 and
		 r["metric"] == "rate" and r["status"] == "ok"}) == 8 * 48'
ok "… no process is left" until_true 3 none_left
whole() { # NODE ...: and every placement that is not named is measured whole
	json k.jsonl '{n: len({(r["test"], r["src"], r["dst"], r["turn"])
			for r in d if r["kind"] == "result" and
			r["node_index"] == n and r["metric"] == "rate" and
			r["status"] == "ok"}) for n in ('"$*"',)} ==
		      {n: 8 * 48 for n in ('"$*"',)}'
}
# The run ends as it does when a rank is lost, and says which process died.
names() { # PID [NODE ...]: placements that are whole all the same
	local pid=$1
	shift
	end_within 60
	was_in_time && job_status_is 2 && says_once "critical: .*died" &&
		json k.jsonl 'd[-1]["status"] == "partial" and d[-1]["exit"] == 2 and
			any(f["id"] == "rank-lost" and "process '"$pid"'" in f["says"]
			    for f in d if f["kind"] == "error")' &&
		{ [ $# = 0 ] || whole "$@"; } && until_true 3 none_left
}
start
victim=$(helper)
kill -KILL "$victim"
ok "the helper that made them dies: the same, and the helper is named" \
	names "$victim" 1
ok "… as what the processes died with" \
	says_once "critical: .*its process died with its helper .process $victim.;"
for of in helper host; do
	rm -f k.jsonl
	start
	kill -HUP "$("$of")"
	end_within 20
	ok "SIGHUP to a $of ends the run as one to a rank does: status 129" \
		eval 'was_in_time && status_is 129 && until_true 3 none_left'
	ok_json "… and the journal says so" k.jsonl 'd[-1]["summary"] == "interrupted by SIGHUP"'
done
rm -f k.jsonl
begin 0 "${slow[@]}" --placement process,thread
until_true 20 eval '[ -n "$(helper)" ]'
victim=$(helper)
kill -KILL "$victim"
ok "… also before it has made any" names "$victim" 1
# the newest process is of the second placement: its turns stand still
rm -f k.jsonl
begin 0 "${slow[@]}" --placement process,2
until_true 20 measuring k.jsonl 12
other=$(pgrep -n -P "$(helper)" -x cscope-mpi)
victim=$(pgrep -o -P "$(helper)" -x cscope-mpi)
kill -STOP "$other"
kill -KILL "$victim"
ok "a process dies while another placement has its turn: said at once" \
	until_true 4 grep -q '"kind":"error"' k.jsonl
kill -CONT "$other"
ok "… and the other placement is measured whole" names "$victim" 1
export FAKE_COMPUTE_MODE=3
start
victim=$(host)
kill -KILL "$victim"
unset FAKE_COMPUTE_MODE
ok "GPUs that take one process: the others of its placement leave them" \
	names "$victim" 1
if has_launcher; then
	rm -f k.jsonl
	begin 4 "${slow[@]}" --placement process,thread
	until_true 20 measuring k.jsonl 12
	mapfile -t pids < <(rank '[0-3]')
	victim='' # a child of a rank, with a child
	for pid in "${pids[@]}"; do
		for child in $(pgrep -P "$pid" -x cscope-mpi); do
			pgrep -P "$child" -x cscope-mpi >/dev/null && victim=$child
		done
	done
	kill -KILL "${victim:-none}"
	ok "of four ranks one makes a process: it alone has a helper" \
		eval 'echo "${pids[@]}"; [ ${#pids[@]} = 6 ]'
	ok "… which is named when it dies" names "$victim" 0
fi
in_front old_kernel 'set -- "$FORBID" pidfd_open "$@"'
if "$FORBID" pidfd_open true 2>/dev/null; then
	wrapper=./old_kernel start
	victim=$(host)
	kill -KILL "$victim"
else
	skip="no filter of system calls can be set here"
fi
ok "without pidfd, as before Linux 5.3: missed by its number" names "$victim" 1
skip=''
start
kill -KILL "$(host)"
until_true 5 grep -q '"kind":"error"' k.jsonl
kill -TERM "$begun"
end_within 5
ok "SIGTERM after one placement was lost ends the other too" eval \
	'was_in_time && status_is 143'
ok "… no process is left" until_true 3 none_left
start
kill -KILL "$begun"
end_within 10
ok "the program is killed: its processes go with it" until_true 3 none_left
export FAKE_HANG=cuDevicePrimaryCtxRelease:1
begin 0 -s 64K --gpus 0,1 -m peer --placement process,thread -o late.json
until_true 20 test -e late.json
pkill -KILL -x cscope-mpi -P "$(pgrep -P "$(measurer)" -x cscope-mpi | head -1)"
end_within 30
unset FAKE_HANG
ok "processes die while they close: said once, all is written" eval 'status_is 2 &&
	one_line "critical: .*its process died.* while closing; all results are"'
ok "… no process is left" until_true 3 none_left
start
kill -TERM "$begun"
end_within 10
ok "SIGTERM: status 143, verdict written" eval 'status_is 143 &&
	grep -q "\"kind\":\"verdict\"" k.jsonl'
ok "… no process is left" until_true 3 none_left
finish
