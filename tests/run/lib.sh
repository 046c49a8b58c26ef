#!/bin/bash
# lib.sh - what the tests of the whole program share; they source it.
#
#	fake 4			the driver's double shows 4 GPUs from here on
#	run 4 -s 1M -f csv	4 ranks; 0: no launcher.  Fills out, err, $status
#	ok "a sentence" COMMAND...
#	finish
#
# A run that cannot be made here makes the `ok`s after it skips with its reason.
# Works in an empty folder of its own, which goes at the end.
: "${CSCOPE:?is not set: run this by make check}"
# shellcheck source=tests/tap.sh
. "${TESTDATA:-tests}/tap.sh"
cd "$work" || exit 1
unset "${!FAKE_@}" "${!SLURM_@}" "${!NVIDIA_@}" CUDA_VISIBLE_DEVICES COLUMNS NO_COLOR

# This machine, without its GPUs: nothing of NVIDIA's is there.
no_gpu() {
	unset CS_TEST_TOPOLOGY
	export CS_LIBCUDA=/nowhere/libcuda.so.1 CS_LIBNVML=/nowhere/libnvidia-ml.so.1
	export CS_TEST_ROOT=$CS_NO_GPU
}
no_gpu

status=0	# of the last run
wrapper=''
# in the environment of what `begin` began: finds its ranks among all processes
mark=CS_TEST_MARK=$$.$RANDOM

shows() {
	echo "# status $status; stderr:"
	# of a process that a signal ended, with its stack
	tail -n $((${status:-0} > 128 ? 80 : 8)) err 2>/dev/null | sed 's/^/#   /'
	echo "# stdout:"
	tail -n 4 out 2>/dev/null | cut -c1-200 | sed 's/^/#   /'
}

# ---- runs ----

fake() { # GPUS
	export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
	export CS_LIBCUPTI=$CS_LIBCUDA
	export FAKE_GPUS=$1
	# tests that run at the same time have GPUs of their own
	export FAKE_MACHINE=$work/gpus
	: >"$FAKE_MACHINE"
}

# Copies of up to 4 MiB need no more of a GPU.  All copies of a sample have no places of
# their own there (doc/METHOD.md, rule 18): they follow each other to one, which stays in
# the caches.  To move, to check and to poison the 32 MiB that they would take with each
# sample was most of the tests' time, where data are not what is tested.
memory() { # BYTES; 0: as much as the double has by itself, room for all copies
	export FAKE_MEMORY=$1
	[ "$1" != 0 ] || unset FAKE_MEMORY
}
memory 12000000

# The byte counters of this machine's network devices, below the root that has nothing else.
counts_bytes() {
	mkdir -p counters/proc/net
	ln -sf /proc/net/dev counters/proc/net/dev
	export CS_TEST_ROOT=$PWD/counters
}

# The PCI bus has that many of the fake's GPUs from here on, whatever the driver shows;
# files that describe the machine are those below $work/machine.
bus() { # GPUS
	local id n=0
	mkdir -p machine/dev machine/proc machine/sys
	export CS_TEST_ROOT=$PWD/machine CS_TEST_TOPOLOGY=$PWD/bus.xml
	{
		sed '/^  <\/object>/,$d' "$TESTDATA/fixtures/topo-no-pci.xml"
		echo '<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-ff]" gp_index="900">'
		for id in 1b 2b 3c 4d 5e 6f 7a 8b; do
			[ "$n" -lt "$1" ] || break
			n=$((n + 1))
			echo "<object type=\"PCIDev\" gp_index=\"$((900 + n))\" pci_busid=\"0000:$id:00.0\" pci_type=\"0302 [10de:2335] [10de:18be] a1\" pci_link_speed=\"63.0\"/>"
		done
		echo '</object></object></topology>'
	} >bus.xml
}

needs_fake() {
	[ -n "${HAVE_CUDA:-}" ] || skip_all "built without CUDA"
}

has_launcher() {
	[ -n "${CS_LAUNCHER-mpirun}" ] &&
		command -v "${CS_LAUNCHER-mpirun}" >/dev/null
}

is_hydra() { # the launcher of MPICH
	"${CS_LAUNCHER-mpirun}" --version 2>/dev/null | grep -q HYDRA
}

# It ends all ranks with the first that is killed: nobody is left to say so.
needs_survivors() {
	if is_hydra; then
		skip=${skip:-this launcher kills all ranks with the first}
	fi
}

needs_launcher() {
	has_launcher || skip_all "no MPI launcher"
}

needs_host_names() {
	unshare --user --map-root-user --uts true 2>/dev/null ||
		skip_all "no namespace of host names available"
}

as_host() { # HOST PROGRAM ARGUMENT...
	unshare --user --map-root-user --uts sh -c 'hostname "$0"; exec "$@"' "$@"
}

run() { # RANKS ARGUMENT...
	local ranks=$1
	shift
	run_program "$ranks" "$CSCOPE" "$@"
}

run_program() { # RANKS PROGRAM ARGUMENT...
	local ranks=$1
	shift
	skip=''
	: >out
	: >err
	if [ "$ranks" = 0 ]; then
		"$TESTDATA/patience" "${CS_TIMEOUT:-60}" "$@" >out 2>err </dev/null
	elif has_launcher; then
		"$MPIRUN" "$ranks" "$@" >out 2>err </dev/null
	else
		skip="no MPI launcher"
		return
	fi
	status=$?
}

# Between nodes, whose samples may not end in their time slot on a busy machine, nor what a GPU
# has to do before the next: four times at most.
run_in_slots() { # RANKS PROGRAM ARGUMENT...
	local try
	for try in 1 2 3 4; do
		run_program "$@"
		tr -s ' \n' '  ' <out | grep -qE '(their|its) time slot|does not answer' || break
	done
}

# What waits for a deadline runs beside the rest, in a folder of its own, until `back`
# brings its files, $status and $skip.
declare -A asides
aside() { # NAME COMMAND...
	local name=$1
	shift
	mkdir "$name"
	(
		cd "$name" || exit
		"$@"
		printf 'status=%q skip=%q\n' "$status" "$skip" >after
	) &
	asides[$name]=$!
}

back() { # NAME
	wait "${asides[$1]}"
	# shellcheck source=/dev/null
	cp -r "$1"/* . && . ./after
}

# A program that carries out these lines, which know the $rank, and becomes its arguments.
# shellcheck disable=SC2016 # of the program
in_front() { # FILE LINE...
	local file=$1
	shift
	printf '%s\n' '#!/bin/bash' \
		'rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}' "$@" \
		'exec "$@"' >"$file"
	chmod +x "$file"
}

# A program that makes several nodes of this machine: ranks in turn, the same number
# on each.
on() { # FILE RANKS_OF_A_NODE GPUS...
	local file=$1 each=$2
	shift 2
	# shellcheck disable=SC2016 # of the program
	in_front "$file" "gpus=($*) node=\$((rank / $each))" \
		'export CS_TEST_SCOPE=node$node FAKE_GPUS=${gpus[node]}'
}

# $wrapper starts the ranks, if set.  A run in the background must not inherit what bash
# does with SIGINT there.  No journal of an earlier run is there for who waits for its rows.
begin() { # RANKS ARGUMENT...
	local ranks=$1 file
	shift
	for file; do
		case $file in *.jsonl) [ ! -f "$file" ] || rm "$file" ;; esac
	done
	skip=''
	: >out
	: >err
	if [ "$ranks" = 0 ]; then
		set -- ${wrapper:+"$wrapper"} "$CSCOPE" "$@"
	elif has_launcher; then
		set -- "$MPIRUN" "$ranks" ${wrapper:+"$wrapper"} "$CSCOPE" "$@"
	else
		skip="no MPI launcher"
		return
	fi
	env --default-signal=INT,QUIT "$mark" "$@" >out 2>err </dev/null &
	begun=$!
}

# Its process ids, guards among them, without the launcher's.
ranks() {
	local all
	mapfile -t all < <(pgrep -x 'cscope-(mpi|guard)')
	all=("${all[@]/#//proc/}")
	grep -lsxzF "$mark" "${all[@]/%//environ}" </dev/null | cut -d/ -f3
}

is_of_rank() { # PID NUMBER
	tr '\0' '\n' <"/proc/$1/environ" |
		grep -qE "^(OMPI_COMM_WORLD|PMIX?)_RANK=$2\$"
}

# The process of one rank, which measures; it has a guard in front of it.
rank() { # NUMBER
	local all
	mapfile -t all < <(pgrep -x cscope-mpi)
	all=("${all[@]/#//proc/}")
	mapfile -t all < <(grep -lsxzF "$mark" "${all[@]/%//environ}" </dev/null)
	grep -lsxzE "(OMPI_COMM_WORLD|PMIX?)_RANK=$1" "${all[@]}" </dev/null | cut -d/ -f3
}

# The same without a launcher.
measurer() {
	pgrep -P "$begun" -x cscope-mpi | head -n 1
}

# The launcher itself: `timeout` stands before it.
launcher() {
	pgrep -P "$begun" | head -n 1
}

# SECONDS are those of an idle machine.
until_true() { # SECONDS COMMAND...
	local began=$SECONDS limit=$1
	shift
	until "$@"; do
		[ $((SECONDS - began)) -lt "$limit" ] ||
			[ $((SECONDS - began)) -lt "$("$TESTDATA/patience" "$limit")" ] ||
			return 1
		sleep 0.05
	done
}

ended() {
	! kill -0 "$begun" 2>/dev/null
}

# Waits for what `begin` began; sets $status.
end_within() { # SECONDS
	[ -z "$skip" ] || return 0
	took=$SECONDS
	until_true "$1" ended
	in_time=$?
	took=$((SECONDS - took))
	if [ "$in_time" != 0 ]; then
		kill -TERM "$begun"
		until_true 5 ended || kill -KILL "$begun"
	fi
	wait "$begun"
	status=$?
}

was_in_time() {
	echo "took about $took s"
	[ "$in_time" = 0 ]
}

# A measuring of at least that many rows is under way.
measuring() { # JOURNAL ROWS
	[ -e "$1" ] && [ "$(grep -c '"kind":"result"' "$1")" -ge "$2" ]
}

none_left() {
	local left
	left=$(ranks)
	[ -z "$left" ] || {
		echo "still there: $left"
		return 1
	}
}

# ---- what came out ----

status_is() { # NUMBER
	[ "$status" = "$1" ]
}

# Also where ranks leave without MPI_Finalize: MPICH's launcher kills the others then,
# and has a status of its own, Killed or Hangup.  Ours is in the last line of rank 0.
job_status_is() { # NUMBER
	status_is "$1" && return
	{ status_is 9 || status_is 1; } && is_hydra &&
		[ "$(grep "^cscope-mpi: .*(exit " err | grep -c "(exit $1)\$")" = 1 ]
}

# Launchers add banners of their own: only our lines count, but not how far a run is,
# which is said on a busy machine.
lines() { # FILE
	grep '^cscope-mpi: ' "$1" | grep -cvE '^cscope-mpi: (pass [0-9]+, )?[0-9]+ of [0-9]+ steps, '
}

one_line() { # PATTERN: exactly one line of ours, like this
	[ "$(lines err)" = 1 ] && grep -qE "^cscope-mpi: .*($1)" err
}

says_once() { # PATTERN: exactly one line of ours like this, whatever else
	[ "$(grep -cE "^cscope-mpi: .*($1)" err)" = 1 ]
}

ok_refused() { # SENTENCE PATTERN ARGUMENT...: status 64, and one line like this
	local sentence=$1 pattern=$2
	shift 2
	run 0 "$@"
	ok "$sentence" eval 'status_is 64 && one_line "$pattern"'
}

# Lines that begin with so many blanks at the end of the one before, as if none was folded.
unfolded() { # [BLANKS]
	sed -E ":a;N;\$!ba;s/\n {${1:-2},}/ /g" out
}

prints() { # PATTERN: of a line, also of one that was folded
	grep -qE -- "$1" out || unfolded | grep -qE -- "$1" || unfolded 4 | grep -qE -- "$1"
}

prints_not() { # PATTERN
	! grep -E -- "$1" out
}

is_empty() { # FILE
	[ ! -s "$1" ]
}

same() { # FILE FILE, neither of them empty
	[ -s "$1" ] && diff "$1" "$2"
}

# A CSV report as "TEST SRC DST VIA STATUS COPY_BYTES VALUE", in a settled order:
# its rates, or another metric; what repeats a cell is left out.
cells() { # FILE [METRIC]
	awk -F'"' -v OFS= '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i)
			     $1 = $1; print }' "$1" | awk -F, -v metric="${2:-rate}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["metric"] == metric && $at["flags"] !~ /control|concurrent|timeline/ {
			via = $at["via"]; gsub(" ", "-", via)
			print $at["test"], $at["src"], $at["dst"], via == "" ? "-" : via,
			      $at["status"], $at["copy_bytes"], $at["value"]
		}' | sort
}

# The same without the way: what must not depend on the placement.
figures() { # FILE
	cells "$1" | awk '{ print $1, $2, $3, $7 }'
}

ways() { # FILE
	cells "$1" | awk '{ print $4 }' | sort -u | tr '\n' ' '
}

ways_are() { # FILE "WAY "...
	[ "$(ways "$1")" = "$2" ]
}

all_ok() { # FILE CELLS: that many, and each was measured
	cells "$1" | awk -v want="$2" '$5 != "ok" { bad = 1; print }
		END { print NR, "cells"; exit bad || NR != want }'
}

# What the fake's clock must give for every one-way cell: a swapped row and
# column shows.
pairs_are_exact() { # FILE
	cells "$1" | awk '$1 ~ /pair$/ {
		i = substr($2, 4); j = substr($3, 4)
		rate = 396 + 0.10 * i - 0.03 * j - ($1 ~ /read/ ? 2.2 : 0)
		want = $6 / (2700 + $6 / rate); off = $7 / want - 1
		if (off > 2e-5 || off < -2e-5) { print $0, "and not", want; bad = 1 }
		n++
	}
	END { exit bad || !n }'
}

# Is a Python expression of the document `d` (a journal: list of records) true?
json() { # FILE EXPRESSION
	"${PYTHON:-python3}" -S - "$@" <<'END'
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    if sys.argv[1].endswith(".jsonl"):
        d = [json.loads(line) for line in file]
    else:
        d = json.load(file)
value = eval("(" + sys.argv[2] + ")", {"d": d})
print(value)
sys.exit(not value)
END
}

ok_json() { # SENTENCE FILE EXPRESSION
	local was=$skip
	command -v "${PYTHON:-python3}" >/dev/null || skip="no Python"
	ok "$1" json "$2" "$3"
	skip=$was
}

ok_schema() { # SENTENCE FILE...
	local sentence=$1 was=$skip
	shift
	[ -n "${PYTHON:-}" ] || skip="no Python with jsonschema"
	ok "$sentence" "$TESTDATA/schema-check" \
		"$TESTDATA/../doc/cscope-mpi-1.schema.json" "$@"
	skip=$was
}
