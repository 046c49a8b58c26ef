#!/bin/bash
# Whole-program output against files.
#
# NAME.cmd is a shell fragment: it finds $CSCOPE, $MPIRUN, $FAKE and $TESTDATA in
# its environment and an empty folder to work in; a line "# needs cuda" or
# "# needs mpirun" skips it where there is none.  What it prints on both streams
# and its status, passed through filter.sed, must equal NAME.out.
# CS_UPDATE_GOLDEN=1 writes NAME.out instead; CS_GOLDEN=NAME runs one case.
#
# The case results: each text of doc/results beside a JSON is what show prints of that.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CSCOPE MPIRUN FAKE TESTDATA
unset COLUMNS NO_COLOR # the reader's
: "${CSCOPE:?is not set: run this by make check TESTS=tests/golden/run.t}"

# What differs from machine to machine.
filter() {
	local host
	host=$(uname -n)
	sed -e "s/\b${host//./\\.}\b/HOST/g" -e "s/\b${host%%.*}\b/HOST/g" \
		-e "s|$FAKE|FAKE|g" -e "s|$TESTDATA|TESTDATA|g" -e "s|$CSCOPE|CSCOPE|g" \
		-f "$here/filter.sed"
}

# Why the case cannot run here; nothing when it can.
missing() { # CMD
	if grep -q '^# needs cuda' "$1" && [ -z "${HAVE_CUDA:-}" ]; then
		echo "no CUDA backend"
	elif grep -q '^# needs mpirun' "$1" && [ -z "${CS_LAUNCHER:-}" ]; then
		echo "no MPI launcher"
	fi
}

run_case() { # NAME
	mkdir "$work/$1"
	(cd "$work/$1" && "$here/../patience" 120 bash "$here/$1.cmd" 2>&1 </dev/null
		echo "exit status $?") | filter >"$work/$1.got"
}

# The format says the name; a race and a comparison are no output of show.
results() {
	local text name how
	for text in "$TESTDATA"/../doc/results/*/*.txt; do
		how=text
		name=$(basename "$text" .txt)
		case $name in
		race | costs-runs) continue ;;
		model) how=model ;;
		*.nvbandwidth) how=nvbandwidth ;;
		esac
		name=${text%/*}/${name%.nvbandwidth}.json
		[ -e "$name" ] || continue
		"$CSCOPE" show "$name" -f $how >"$work/shown" 2>&1 </dev/null
		[ -z "${CS_UPDATE_GOLDEN:-}" ] || cp "$work/shown" "$text"
		diff -u "$text" "$work/shown" || return
	done
}

names=()
for cmd in "$here"/${CS_GOLDEN:-*}.cmd; do
	[ -e "$cmd" ] && names+=("$(basename "$cmd" .cmd)")
done
echo "1..$((${#names[@]} + 1))"
n=1
if [ "${CS_GOLDEN:-results}" != results ]; then
	echo "ok 1 - results # SKIP not asked for"
elif results >"$work/says" 2>&1; then
	echo "ok 1 - results"
else
	sed 's/^/# /' "$work/says"
	echo "not ok 1 - results"
fi
for name in "${names[@]}"; do
	n=$((n + 1))
	why=$(missing "$here/$name.cmd")
	if [ -n "$why" ]; then
		echo "ok $n - $name # SKIP $why"
		continue
	fi
	run_case "$name"
	if [ -n "${CS_UPDATE_GOLDEN:-}" ]; then
		cp "$work/$name.got" "$here/$name.out"
	fi
	if diff -u "$here/$name.out" "$work/$name.got" >"$work/says" 2>&1; then
		echo "ok $n - $name"
	else
		sed 's/^/# /' "$work/says"
		echo "not ok $n - $name"
	fi
done
