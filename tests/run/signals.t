#!/bin/bash
# A job that is interrupted or loses a process: it ends soon, what was measured is
# kept, nothing of it is left.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

# host memory, and that many cells that take their whole limit that none of these runs
# ends by itself
long=(--backend cpu -m peer -s 4K:1M:x2 --cell-limit 200ms --precision 0.001% --seed 1)

start() { # RANKS OPTION...
	local ranks=$1
	shift
	rm -f k.*
	begin "$ranks" "${long[@]}" -o k.jsonl -o k.json "$@"
	[ -n "$skip" ] || until_true 20 measuring k.jsonl 3 || echo "# did not start"
}

signal() { # SIGNAL PID
	[ -n "$skip" ] || kill -s "$1" "$2"
}

kept() {
	[ "$(grep -c '"kind":"result"' k.jsonl)" -ge 3 ]
}

verdict='d[0]["kind"] == "run" and d[-1]["kind"] == "verdict" and d[-1]["status"] == "partial"'

# ---- a rank is killed ----

needs_launcher
start 4
signal KILL "$(rank 2)"
end_within 10
ok "a rank is killed: over within 10 s" was_in_time
ok "… the status is not 0" eval '! status_is 0'
ok "… the rows are kept" kept
needs_survivors
ok "… one line says which rank" \
	says_once 'critical: .*arena 2 \(rank 2\): its process died'
ok_json "… the journal ends with the verdict, status 2" k.jsonl \
	"$verdict"' and d[-1]["exit"] == 2 and "rank 2" in d[-1]["summary"]'
ok_json "… and the document has the same" k.json \
	'd["run"]["status"] == "partial" and d["run"]["exit"] == 2 and len(d["results"]) >= 3'
ok_schema "… both follow the schema" k.json k.jsonl
skip=''
ok "… no process is left" until_true 3 none_left

start 4
signal KILL "$(rank 0)"
end_within 10
ok "rank 0 is killed: over within 10 s" was_in_time
ok "… the rows are kept" kept
ok_json "… each line of the journal is whole" k.jsonl 'd[0]["kind"] == "run"'
ok "… no process is left" until_true 3 none_left

# ---- signals ----

for signal in TERM INT; do
	start 4
	signal $signal "$(launcher)"
	end_within 10
	ok "SIG$signal to the launcher: over within 10 s" was_in_time
	ok_json "… the journal ends with the verdict" k.jsonl "$verdict"
	ok_json "… the document is partial" k.json \
		'd["run"]["status"] == "partial" and len(d["results"]) >= 3'
	ok "… one line says so" says_once 'interrupted by SIG'
	ok "… no process is left" until_true 3 none_left

	start 4
	signal $signal "$(rank 0)"
	end_within 10
	ok "SIG$signal to rank 0: over within 10 s" was_in_time
	needs_survivors
	ok "… its status is the job's" \
		status_is $((128 + $(kill -l $signal)))
	skip=''
	ok_json "… verdict and rows are written" k.jsonl \
		"$verdict"' and d[-1]["summary"] == "interrupted by SIG'$signal'"'
	ok "… no process is left" until_true 3 none_left
done

start 4
signal TERM "$(rank 3)"
end_within 10
ok "SIGTERM to one rank ends the job within 10 s" was_in_time
needs_survivors
ok_json "… with a verdict" k.jsonl "$verdict"
skip=''
ok "… no process is left" until_true 3 none_left

start 0 --gpus 4
signal TERM "$begun"
end_within 5
ok "SIGTERM without a launcher: status 143" eval 'was_in_time && status_is 143'
ok_json "… verdict and rows are written" k.jsonl "$verdict"
ok_schema "… which follow the schema" k.json k.jsonl
ok "… and what was measured is printed" prints '^peer.cpu.write.pair'
ok_json "… with the time that measuring took" k.jsonl 'd[-1]["timings_s"]["measure"] > 0'

start 0 --gpus 4
signal HUP "$begun"
end_within 5
ok "SIGHUP too: status 129" eval 'was_in_time && status_is 129'
ok_json "… by its name" k.jsonl 'd[-1]["summary"] == "interrupted by SIGHUP"'

start 0 --gpus 4
signal USR1 "$begun"
until_true 5 grep -qE 'cscope-mpi: [0-9]+ of [0-9]+ steps' err
ok "SIGUSR1 prints how far it is" says_once '[0-9]+ of [0-9]+ steps, [0-9]+ rows'
signal TERM "$begun"
end_within 5
ok "… and the run goes on until it is told to end" status_is 143

# ---- several nodes ----

in_front nodes 'export CS_TEST_SCOPE=node$((rank / 2))'
rm -f k.*
wrapper=./nodes
# two arenas a node are few cells: longer ones
start 4 --op both --cell-limit 2s
wrapper=''
signal KILL "$(rank 3)"
end_within 10
ok "a rank of the second node is killed: over within 10 s" was_in_time
ok "… the rows of both are kept" kept
needs_survivors
ok_json "… and there is a verdict" k.jsonl "$verdict"
skip=''
ok "… no process is left" until_true 3 none_left

# ---- at a closed gate of the driver ----

if [ -n "${HAVE_CUDA:-}" ]; then
	fake 4
	long=(-m peer -s 64K --seed 20261121)
	export FAKE_FAIL_RANK=1 FAKE_HANG=cuMemcpyAsync:300
	start 4
	signal KILL "$(rank 1)"
	end_within 10
	unset FAKE_FAIL_RANK FAKE_HANG
	ok "a rank is killed while others wait at the gate: over within 10 s" \
		was_in_time
	needs_survivors
	ok_json "… with a verdict that names it" k.jsonl \
		"$verdict"' and "GPU 1 (rank 1)" in d[-1]["summary"]'
	skip=''
	ok "… no process is left" until_true 3 none_left
fi
finish
