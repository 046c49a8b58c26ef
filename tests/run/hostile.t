#!/bin/bash
# Machines that are full, closed, limited and walled off: what was measured is
# kept as far as they allow, one line says what is missing, and so does the status.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

cpu=(--backend cpu -m peer -s 64K --cell-limit 50ms --precision 10% --seed 1)
# seconds, so that something can happen to it meanwhile
slow=(--backend cpu -m peer -s 64K --cell-limit 400ms --precision 0.001%)

# ---- namespaces: as root, or as the root of a user namespace ----

mounts=''	# "unshare ..." for mounts of one's own
for way in "unshare -m" "unshare -Urm"; do
	$way mount -t tmpfs none "$work" 2>/dev/null && mounts=$way && break
done
pids=''		# the same for processes
for way in "unshare -fp --kill-child" "unshare -Urfp --mount-proc --kill-child"; do
	$way true 2>/dev/null && pids=$way && break
done
filters=''	# may system calls be forbidden?
"$FORBID" mbind true 2>/dev/null || filters="no filter of system calls can be set here"

# Runs with something else mounted there for this run alone; $before is in front
# of the program, $at_end is done before the mount goes.
# shellcheck disable=SC2086 # words
within() { # "OPTIONS" FOLDER RANKS ARGUMENT...
	local mount="mount -t tmpfs $1 none $2" ranks=$3
	shift 3
	if [ -z "$mounts" ]; then
		skip="no mount namespace can be made here"
		return
	fi
	printf '#!/bin/bash\n%s || exit 99\n"$@"; status=$?\n%s\nexit $status\n' \
		"$mount" "${at_end:-}" >within
	chmod +x within
	if [ "$ranks" = 0 ]; then
		run_program 0 $mounts ./within ${before:-} "$CSCOPE" "$@"
	else
		run_program 0 $mounts ./within "$MPIRUN" "$ranks" "$CSCOPE" "$@"
		has_launcher || skip="no MPI launcher"
	fi
}

# ---- a disk that is full ----

mkdir full kept
rm -f b.csv
at_end='cp full/* kept' within "-o size=8k" full 0 "${cpu[@]}" \
	--gpus 4 -q -o full/a.jsonl -o full/c.json -o b.csv
ok "a full disk: status 74" status_is 74
ok "… the journal is said at once, and in the end each file that could not be written" eval \
	'[ "$(lines err)" = 3 ] && grep -m1 cannot err | grep -q \
		"full/a.jsonl.: No space left on device; it is tried again with each result" &&
	 says_once "cannot write .full/a.jsonl.: No space left on device$" &&
	 says_once "cannot write .full/c.json.: No space left on device"'
ok_json "… the journal ends with a whole record" kept/a.jsonl \
	'd[0]["kind"] == "run" and len(d) > 1 and d[-1]["kind"] != "verdict"'
ok "… no half document is left" eval '[ "$(ls kept)" = a.jsonl ]'
ok "… and the output on another disk has all" all_ok b.csv 24
# what fills the disk goes as soon as the journal has been found unwritable
printf '#!/bin/bash\nhead -c 60k /dev/zero >full/filling\nexec "$@"\n' >filled
cat >freed <<'END'
#!/bin/bash
: >err.now
"$@" 2> >(tee err.now >&2) &
until grep -q "a.jsonl.: No space" err.now || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
rm full/filling
wait $!
END
chmod +x filled freed
before='./filled ./freed' at_end='cp full/* kept' within "-o size=64k" full 0 \
	"${slow[@]}" --gpus 3 -q -o full/a.jsonl
ok "a disk that has room again: the journal is said once, status 0" eval \
	'status_is 0 && one_line "full/a.jsonl.: No space left on device; it is tried again"'
ok_json "… and has every row up to the verdict" kept/a.jsonl \
	'len([r for r in d if r["kind"] == "result"]) >= 12 and d[-1]["kind"] == "verdict"'
within "-o ro" full 0 "${cpu[@]}" --gpus 4 -o full/a.jsonl -o b.csv
ok "a file system that is read-only: said at once, in one line" eval \
	'status_is 74 && all_ok b.csv 24 &&
	 one_line "cannot write .full/a.jsonl.: Read-only file system"'

# ---- a folder that vanishes during the run ----

vanishing() { # COMMAND...
	rm -rf gone away b.csv
	mkdir gone
	begin 0 "${slow[@]}" --gpus 3 -o gone/a.jsonl -o gone/c.json -o b.csv
	until_true 20 measuring gone/a.jsonl 2
	"$@"
	end_within 20
}

vanishing mv gone away
ok "the folder of the outputs is renamed: status 74, one line" eval \
	'status_is 74 && one_line "cannot write .gone/c.json.: No such file or directory"'
ok_json "… the journal in it goes on to the verdict" away/a.jsonl \
	'd[-1]["kind"] == "verdict"'
ok "… as does the output elsewhere" all_ok b.csv 12
vanishing rm -r gone
ok "the folder of the outputs is removed: status 74, said of each" eval \
	'status_is 74 && [ "$(lines err)" = 2 ] &&
	 says_once "cannot write .gone/a.jsonl." && says_once "cannot write .gone/c.json."'
ok "… and the output elsewhere has all" all_ok b.csv 12

# ---- a file that is mounted by itself, as into a container ----

skip=''
: >elsewhere.json
in_front bound 'mount --bind elsewhere.json one.json || exit 99'
: >one.json
[ -n "$mounts" ] || skip="no mount namespace can be made here"
# shellcheck disable=SC2086 # words
[ -n "$skip" ] || run_program 0 $mounts ./bound "$CSCOPE" "${cpu[@]}" -q -o one.json
ok_json "a file that is mounted by itself is written, for it cannot be replaced" \
	elsewhere.json 'd["run"]["status"] == "complete"'

# ---- standard output and error ----

skip=''
patience=$("$TESTDATA/patience" 60) # a shell cannot read it without descriptors
program() { # with the redirections of the caller
	rm -f b.json
	timeout -k 5 "$patience" "$CSCOPE" "${cpu[@]}" -o b.json
	status=$?
}
is_whole='d["run"]["status"] == "complete" and len(d["results"]) >= 5'

: >out
program >&- 2>err
ok "standard output is closed: status 74, one line" \
	eval 'status_is 74 && one_line "cannot write the report to standard output"'
ok_json "… and the files are whole" b.json "$is_whole"
program <&- >&- 2>&-
ok "all three are closed: status 74" status_is 74
ok_json "… and nothing but the document is in its file" b.json "$is_whole"
program >out 2>&-
ok "standard error is closed: status 0 and the report" \
	eval 'status_is 0 && prints "^peer.cpu.write.pair"'
[ -e /dev/full ] || skip="no /dev/full"
[ -n "$skip" ] || program >out 2>/dev/full
ok "… or full" eval 'status_is 0 && prints "^peer.cpu.write.pair"'
skip=''
program 2>err | true
ok_json "a pipe that nobody reads kills nothing: the files are whole" \
	b.json "$is_whole"
"$CSCOPE" --help 2>err >&-
status=$?
ok "--help to a closed standard output: status 3" \
	eval 'status_is 3 && one_line "cannot write to standard output"'

# ---- limits of one process ----

limited() { # OPTION_OF_ULIMIT VALUE ARGUMENT...
	local limit=$1 value=$2
	shift 2
	rm -f b.csv
	skip=''
	# 3 and 4 are make's
	(exec 3>&- 4>&- && ulimit "$limit" "$value" &&
		exec timeout -k 5 "$patience" "$CSCOPE" "$@" -o b.csv) >out 2>err </dev/null
	status=$?
}

# one of each stays open; besides, all may read of /proc at the same time
for n in 48 64; do
	limited -n $n "${cpu[@]}" --gpus 16 --pattern pair --cell-limit 1ms
	ok "$n open files are enough for 16 arenas" all_ok b.csv 240
done
limited -n 6 "${cpu[@]}" --gpus 4
ok "6 are not: one line says so" \
	eval '! status_is 0 && one_line "Too many open files"'
# What ends either measures all or says in one line what was missing.
ends_well() {
	# an output that could not be opened either is named besides
	[ "$status" = 74 ] || sed -i "/cannot write 'b.csv': Too many open files$/d" err
	if [ "$status" = 0 ]; then all_ok b.csv 4; else one_line "$1"; fi
}
few_files() {
	for n in {4..12}; do
		CS_TIMEOUT=10 limited -n "$n" "${cpu[@]}"
		ends_well "Too many open files|cannot (open|make|write) " ||
			{ echo "$n open files: status $status"; return 1; }
	done
}
ok "however few there are, it measures all or says why, and ends" few_files
for n in 0 64; do
	limited -l $n "${cpu[@]}"
	ok "$n KiB may be locked: all is measured" all_ok b.csv 4
done
limited -f 8 "${cpu[@]}"
ok "files may not grow: an error and no signal" \
	eval 'status_is 3 && one_line "File too large"'
limited -v 400000 "${cpu[@]}" -s 64M --gpus 4
(ulimit -v 400000 && "$CSCOPE" --help >/dev/null 2>&1) ||
	skip="the program alone needs more, as with a sanitizer"
ok "no address space for the arenas: status 2, one line" eval \
	'status_is 2 && one_line "(arena [0-3]|all 4 arenas) .rank 0.: cannot map .*: Cannot allocate memory"'
ok "… and every cell is there, with its reason" \
	eval '[ "$(cells b.csv | wc -l)" = 24 ]'
if [ -n "${HAVE_CUDA:-}" ]; then
	(
		fake 3
		limited -n 32 -m peer -s 64K
		exit $status
	)
	ok "32 open files are enough for 3 GPUs of the driver's double" \
		all_ok b.csv 12
fi

# ---- system calls that a container or an old kernel does not have ----

forbidden() { # CALL,... RANKS ARGUMENT...
	local calls=$1 ranks=$2
	shift 2
	run_program "$ranks" "$FORBID" "$calls" "$CSCOPE" "$@"
	skip=${filters:-$skip}
}
placing=mbind,move_pages,set_mempolicy,get_mempolicy

forbidden $placing 0 "${cpu[@]}" -o b.csv -o b.json
ok "memory may not be placed: all is measured" all_ok b.csv 4
ok_json "… and where it is, is proven another way or not at all" b.json \
	'all(a["pages_proof"] in ("numa_maps", None) for a in d["agents"])'
forbidden sched_setaffinity 0 "${cpu[@]}" -o b.csv
ok "threads may not be bound: all is measured" all_ok b.csv 4
forbidden memfd_create 0 "${cpu[@]}"
ok "no memfd: status 3, one line" eval 'status_is 3 && is_empty out &&
	one_line "cannot make a shared segment of .*: Operation not permitted"'

forbidden pidfd_open 4 "${cpu[@]}" -o b.csv
ok "no pidfd, as before Linux 5.3: four ranks measure all" all_ok b.csv 24
in_front old_kernel 'set -- "$FORBID" pidfd_open "$@"'
wrapper=./old_kernel
begin 4 "${slow[@]}" -o k.jsonl
wrapper=''
skip=${filters:-$skip}
if [ -z "$skip" ]; then
	until_true 20 measuring k.jsonl 3
	kill -KILL "$(rank 2)"
fi
end_within 10
ok "… and a rank that is killed is missed within 10 s" was_in_time
needs_survivors
ok_json "… by name" k.jsonl \
	'"(rank 2): its process died" in d[-1]["summary"] and d[-1]["exit"] == 2'
skip=${filters:-}
ok "… and nothing of it is left" until_true 3 none_left
skip=''

# Each call that the guard makes.  What is passed on is a pipe.
without_call() { # CALL
	rm -f b.csv
	{
		timeout -k 5 20 "$FORBID" "$1" "$CSCOPE" "${cpu[@]}" -o b.csv \
			2>err </dev/null
		echo $? >status
	} | cat >out
	status=$(<status)
}
without_calls() {
	for call in pipe2 fcntl signalfd4 clone poll wait4 waitid kill prctl setitimer \
		dup2 rt_sigaction rt_sigprocmask clock_nanosleep; do
		without_call "$call"
		# a sanitizer that needs it ends before the program begins
		! grep -q 'Sanitizer: CHECK failed' err || continue
		# the outputs that a killed process leaves are named besides
		sed -i '/the process that writes is left behind/d' err
		ends_well "Operation not permitted" ||
			{ echo "without $call: status $status"; return 1; }
	done
}
skip=$filters
ok "the guard lacks a call, each in turn: the program ends, with all or one line" \
	without_calls
in_front no_signalfd 'set -- "$FORBID" signalfd4 "$@"'
wrapper=./no_signalfd
begin 0 "${slow[@]}" -o k.jsonl
wrapper=''
skip=$filters
if [ -z "$skip" ]; then
	until_true 20 measuring k.jsonl 1
	kill -TERM "$begun"
fi
end_within 10
ok "… without signalfd SIGTERM ends it" eval 'was_in_time && status_is 143'
in_front ignores_children 'trap "" CHLD'
CS_TIMEOUT=20 run_program 0 ./ignores_children "$CSCOPE" "${cpu[@]}" -o b.csv
ok "started with SIGCHLD ignored: it measures all and ends" all_ok b.csv 4

# ---- no /proc ----


within "" /proc 0 "${cpu[@]}" -o b.csv
ok "no /proc: one process measures all" all_ok b.csv 4
before="$FORBID $placing" within "" /proc 0 "${cpu[@]}"
skip=${filters:-$skip}
grep -q LeakSanitizer err && skip="a sanitizer needs /proc"
ok "… and where memory is, is 'not proven'" \
	eval 'status_is 0 && prints "not proven"'
CS_TIMEOUT=30 within "" /proc 2 "${cpu[@]}"
grep -q 'UCX  ERROR failed to get boot id' err && skip="this MPI needs /proc"
grep -q LeakSanitizer err && skip="a sanitizer needs /proc"
ok "… two ranks cannot share memory: status 3, with what they need" eval 'status_is 3 &&
	says_once "cannot open the shared segment .* need /proc, one user and one PID namespace"'

# ---- ranks of one machine that are walled off from each other ----

# Containers of their own share none of what MPI libraries put into shared memory.
walled() { # COMMAND: in front of each rank
	in_front walled "exec $1 \"\$@\""
	rm -f b.json
	OMPI_MCA_btl=self,tcp PMIX_MCA_gds=hash CS_TIMEOUT=30 run_program 2 \
		./walled "$CSCOPE" "${cpu[@]}" -o b.json
	[ -e b.json ] || skip=${skip:-this MPI does not connect them}
}
divided='[e["severity"] for e in d["errors"] if e["id"] == "machine-divided"] == ["warning"]'

walled "${pids:-true}"
[ -n "$pids" ] || skip="no PID namespace can be made here"
ok "ranks in PID namespaces of their own: each measures for itself" status_is 0
ok_json "… which is said, once" b.json "$divided"
ok "… with the remedy" eval \
	'tr -s " \n" "  " <out | grep -q "several PID namespaces: run the containers with --pid=host"'
walled '$([ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] ||
	echo setpriv --reuid 65534 --clear-groups)'
ok_json "ranks of several users: said as well" b.json "$divided"

# ---- /dev/shm ----

within "-o size=64k" /dev/shm 2 "${cpu[@]}" -o b.csv
ok "/dev/shm of 64 KiB: said before MPI starts, with the remedy" \
	says_once "/dev/shm has 64 KiB left, .* docker run --shm-size=1g or --ipc=host"
[ -e b.csv ] || skip=${skip:-this MPI does not start with so little}
ok "… and we need none of it" all_ok b.csv 4
within "-o size=64k" /dev/shm 0 "${cpu[@]}" -o b.csv
ok "… which without MPI is not worth a word" \
	eval 'all_ok b.csv 4 && [ "$(lines err)" = 0 ]'

# ---- NVML in a container ----

if [ -n "${HAVE_CUDA:-}" ]; then
	nvml() { # CAPABILITIES
		(
			fake 2
			NVIDIA_DRIVER_CAPABILITIES=$1 CS_LIBNVML=/nowhere \
				run 0 -m peer -s 64K
			exit $status
		)
		status=$?
		tr -s ' \n' '  ' <out >flat
	}
	skip=''
	nvml compute
	ok "a container without 'utility': measured, and what to add is said" eval \
		'status_is 0 && grep -q "add .utility. to this container.s NVIDIA_DRIVER_CAP" flat'
	nvml compute,utility
	ok "… but not where it has it" eval 'status_is 0 && ! grep -q "add .utility" flat'
fi

# ---- a cgroup that leaves little memory ----

group='' limit=''
for at in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	[ -z "$group" ] || break
	mkdir "$at/cscope$$" 2>/dev/null || continue
	for limit in "$at/cscope$$/memory.limit_in_bytes" "$at/cscope$$/memory.max"; do
		[ -w "$limit" ] && echo 200000000 2>/dev/null >"$limit" &&
			group=$at/cscope$$ && break
	done
	[ -n "$group" ] || rmdir "$at/cscope$$"
done
# shellcheck disable=SC2016 # of the other shell
run_program 0 sh -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" \
	"$CSCOPE" --no-mpi --backend cpu --gpus 4 -m peer -s 64M --seed 1
[ -n "$group" ] || skip="no cgroup can be limited here"
ok "four arenas in a cgroup that has room for one: nothing is killed, and the limit is named" \
	eval 'status_is 2 && one_line "not enough host memory.*128 MiB wanted.* to the cgroup of this job"'
skip=''
[ -z "$group" ] || rmdir "$group"

# ---- an environment that says nothing, or something strange ----

run_program 0 env -u HOME -u TMPDIR PATH= "$CSCOPE" "${cpu[@]}" -o b.csv
ok "no HOME, no TMPDIR, an empty PATH" all_ok b.csv 4
# decimal comma, if a locale with one can be made
mkdir locale
localedef -i de_DE -f UTF-8 locale/de_DE.UTF-8 2>/dev/null
run_program 0 env LOCPATH="$work/locale" LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 \
	"$CSCOPE" "${cpu[@]}" -o b.csv -o b.json
ok "a locale with a decimal comma changes no figure" all_ok b.csv 4
ok_json "… nor the form of a number" b.json \
	'all(isinstance(r["value"], float) for r in d["results"])'
finish
