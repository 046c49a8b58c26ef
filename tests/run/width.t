#!/bin/bash
# No line of a report is wider than the page: every file of doc/results, and what else is
# shown of it, on narrow pages and on wide ones.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

results=$TESTDATA/../doc/results

# Lines that are too long, with the command.
too_long() { # COLUMNS ARGUMENT...
	local columns=$1
	shift
	COLUMNS=$columns "$CS_PROGRAM" "$@" 2>/dev/null |
		awk -v most="$columns" -v of="$*" 'length > most { print of ": " $0 }'
}

fits() { # COLUMNS FILE... [-- ARGUMENT...]
	local columns=$1 file files=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	for file in "${files[@]}"; do
		too_long "$columns" show "$file" "$@"
	done >long
	[ ${#files[@]} -gt 0 ] && [ ! -s long ] && return
	head -n 5 long
	return 1
}

for columns in 80 120; do
	ok "$columns columns: every file of doc/results" \
		fits $columns "$results"/h200x[24]/*.json "$results"/h200x[24]/*.jsonl
	ok "… the cost of communication, a picture" eval '
		fits $columns "$results"/h200x2/{model,once,um-sweep}.json "$results"/h200x4/sweep.json -- -f model &&
		fits $columns "$results"/h200x4/{sweep,suite-np4}.json "$TESTDATA"/fixtures/answer/*.json -- -f picture'
	ok "… with every sample, one cell, the wiring" eval '
		fits $columns "$results"/h200x2/calls-np1.json "$results"/h200x4/{np4,launch}.json -- -v &&
		fits $columns "$results"/h200x2/unified-np1.json "$results"/h200x4/loaded-latency.json -- --cell 0,1 &&
		fits $columns "$results"/h200x[24]/*.json -- --topology'
	too_long $columns compare "$results"/h200x4/np4.json "$results"/h200x4/np1.json -v >long
	ok "… a comparison" eval '[ ! -s long ] || ! cat long'
	too_long $columns check "$results"/h200x4/{np4,check}.json >long
	ok "… a check" eval '[ ! -s long ] || ! cat long'
done
too_long 80 --list=all >long
too_long 80 --help=all >>long
too_long 80 --explain h2d.ce.pinned.pair >>long
ok "80 columns: lists, help and explanations" eval '[ ! -s long ] || ! head -n 5 long'
ok "a line that is too long is seen" eval '[ -n "$(too_long 10 --list)" ]'
finish
