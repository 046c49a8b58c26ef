#!/bin/bash
# storage.t - each call that stores an output fails in turn: write, fsync, close, openat,
# linkat, rename, with EIO, ENOSPC, EROFS.  Whatever fails: a file is whole or as it was,
# status 0 is a file that is there, an error has its file and its cause, and the other
# output and standard output have all.  No fsync that fails is ignored; without linkat the
# file is copied.  A part of that; with CS_STORAGE=full all of it.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

: "${STORAGE:?is not set: run this by make check}"
mkdir disk
"$STORAGE" write 0 0 0 disk count true 2>/dev/null ||
	skip_all "no filter of system calls can be set here"
run 0 --backend cpu -m peer --gpus 2 -s 64K --samples 6 --no-mpi --seed 1 -q -o run.json
# six of them, as a baseline wants
for i in 1 2 3 4 5 6; do cp run.json "run$i.json"; done
declare -A text=([EIO]='Input/output error' [ENOSPC]='No space left on device'
	[EROFS]='Read-only file system')
full=${CS_STORAGE:-}
front=() # of the program

# What is said of $file, by which errors: "" nothing.
blames() {
	grep -E "^cscope-mpi: (cannot resume: )?cannot write '$file': ${text[$error]}" err
}

wrong() { # WHY
	echo "$call $n to $last: $error: $1; status $status" && cat err
	return 1
}

# The one call of the command that fails.
try() { # COMMAND...
	local before=none
	rm -rf disk other.csv other.json
	mkdir disk
	if [ -n "$old" ]; then
		echo old >"$file"
		before=old
	fi
	timeout -k 5 60 "$STORAGE" "$call" "$error" "$n" "$last" disk count \
		"${front[@]}" "$CS_PROGRAM" "$@" -o "$file" -o "$other" >printed 2>err </dev/null
	status=$?
	[ "$error" != 0 ] || return 0
	same printed.good printed || wrong "standard output lacks something" || return
	same other.good "$other" || wrong "the other output lacks something" || return
	case $status in
	"$good")
		same file.good "$file" || wrong "not whole" || return
		# the folder, which is closed last, was only read, as was a file before
		[ "$call:$old" != close: ] || [ "$n" = "$calls" ] ||
			wrong "not noticed" || return
		;;
	3)
		blames >/dev/null || wrong "not blamed" || return
		[ ! -e "$file" ] || same file.good "$file" >/dev/null ||
			[ "$(cat "$file")" = "$before" ] || wrong "half a file" || return
		;;
	*) wrong "another status" || return ;;
	esac
	[ "$(find disk -type f | grep -cvxF "$file")" = 0 ] || wrong "a leftover" || return
	tried=$((tried + 1)) statuses+=" $status"
}

# Each of these calls, or the first and the last two; alone, and with all that follow.
each_call() { # COMMAND...
	local n=0 last=0 error=0 call calls ns statuses
	for call in write fsync close openat linkat rename; do
		statuses=''
		n=0 last=0 error=0 try "$@"
		calls=$(cat count)
		mapfile -t ns < <(seq "$calls")
		[ -n "$full" ] || [ "$calls" -le 3 ] || ns=(1 $((calls - 1)) "$calls")
		for n in "${ns[@]}"; do
			for error in EIO ENOSPC EROFS; do
				last=$n try "$@" || return
				# where a second way is left
				[ -z "$full" ] && [ "$call" != openat ] ||
					last=1000000 try "$@" || return
			done
		done
		is_noticed || wrong "statuses of $call:$statuses" || return
	done
	[ "$tried" -ge 12 ]
}

is_noticed() {
	case $call in
	linkat) [[ $statuses != *' 3'* ]] ;;
	fsync) [[ $statuses == *' 3'* && $statuses != *" $good"* ]] ;;
	*) [[ $statuses == *' 3'* ]] ;;
	esac
}

# Both with and without a file of that name before.
stored() { # FILE OTHER COMMAND...
	local file=$1 other=$2 old='' tried=0 good
	shift 2
	n=0 last=0 error=0 call=fsync try "$@"
	good=$status
	cp printed printed.good && cp "$other" other.good && cp "$file" file.good || return
	each_call "$@" || return
	[ -z "$full" ] || old=1 each_call "$@"
}

for kind in txt html json jsonl csv prom xml trace.json; do
	ok "show -o x.$kind: each call that stores it fails in turn" \
		stored "disk/x.$kind" other.csv show run.json
done
ok "check -o x.json: the same" stored disk/x.json other.csv check run.json
ok "compare -o x.html: the same" stored disk/x.html other.csv compare run1.json run2.json
ok "baseline -o x.json: the same" \
	stored disk/x.json other.txt baseline run[1-6].json
ok "--dry-run -o x.csv: the same" stored disk/x.csv other.csv --dry-run --gpus 2
front=("$FORBID" linkat)
ok "where a file without a name is given none it is copied: the same" \
	stored disk/x.json other.csv show run.json
front=()

# ---- of a run that measures ----

measuring=(--backend cpu -m peer --gpus 2 -s 64K --samples 6 --no-mpi --seed 1 -q)
results() { # FILE
	grep -c '"kind":"result"' "$1"
}

# Once: it is written all the same.  From there on: the journal ends with a whole record.
try_journal() { # COMMAND...
	timeout -k 5 60 "$STORAGE" "$call" "$error" "$n" "$last" disk count \
		"$CS_PROGRAM" "${measuring[@]}" "$@" -o other.csv >out 2>err </dev/null
	status=$?
	# a long record is two writes: of these there may be one less
	[ "$error" != 0 ] && [ "$(cat count)" -ge "$n" ] || return 0
	[ "$(wc -l <other.csv)" = "$rows" ] || [ "$call" = openat ] ||
		wrong "the other output lacks something" || return
	# what was only read may be closed as it likes
	[ "$call:$1" = close:--resume ] || [ "$(blames | grep -c .)" -ge 1 ] ||
		wrong "not blamed" || return
	case $status in
	0)
		[[ $call = close || $call:$last = write:$n ]] &&
			[ "$(results "$file")" -ge $((rows - 1)) ] &&
			tail -n 1 "$file" | grep -q '"kind":"verdict"' ||
			wrong "not written" || return
		;;
	3 | 74) # cannot resume, or cannot write
		[ "$1:$status" != -o:3 ] || wrong "the status of a node" || return
		[ "$call:$last" != "write:$n" ] ||
			wrong "not written when it could be" || return
		[ ! -s "$file" ] ||
			[ "$(tail -c 2 "$file" | od -An -c | tr -d ' ')" = '}\n' ] ||
			wrong "a record is cut" || return
		;;
	*) wrong "another status" || return ;;
	esac
	tried=$((tried + 1))
}

journal() { # COMMAND...
	local call n last error calls ns rows tried=0 file=disk/j.jsonl
	local errors="${full:+EIO EROFS} ENOSPC"
	for call in write fsync close openat; do
		rm -f disk/*
		[ "$1" = -o ] || head -n 3 whole.jsonl >"$file"
		n=0 last=0 error=0 try_journal "$@"
		rows=$(wc -l <other.csv) calls=$(cat count)
		mapfile -t ns < <(seq "$calls")
		[ -n "$full" ] || [ "$calls" -le 2 ] || ns=(1 2 "$calls")
		for n in "${ns[@]}"; do
			for error in $errors; do
				for last in "$n" 1000000; do
					rm -f disk/*
					[ "$1" = -o ] || head -n 3 whole.jsonl >"$file"
					try_journal "$@" || return
				done
			done
		done
	done
	[ "$tried" -ge 8 ]
}
ok "a journal: what could not be written is, when it can be, or it ends with a whole record" \
	journal -o disk/j.jsonl
run 0 "${measuring[@]}" -o whole.jsonl
ok "a journal that is resumed: the same" journal --resume disk/j.jsonl
finish
