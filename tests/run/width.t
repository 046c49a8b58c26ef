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
	ok "… the cost of communication" \
		fits $columns "$results"/h200x2/{model,once,um-sweep}.json "$results"/h200x4/sweep.json -- -f model
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
run 0 --list
ok "--list has all tests in at most 75 lines" eval \
	'[ "$(wc -l <out)" -le 75 ] && grep -q "^[0-9]* tests, " out'
run 0 --help
ok "--help fits two pages of 50 lines" [ "$(wc -l <out)" -le 100 ]
ok "a line that is too long is seen" eval '[ -n "$(too_long 10 --list)" ]'

# ---- everything at once ----

# A cell of each test tells as much as all: a line is a method's, whatever its cells.
if [ -n "${HAVE_CUDA:-}" ]; then
	fake 8
	memory 1000000000
	run 0 --no-mpi --seed 1 --suite all -s 16K --spread 16K --samples 2 -o all.json --filter \
		'/(gpu0/gpu1|host/gpu0|gpu0/host|(numa0|local)/gpu0|gpu0/(numa0|local|gpu0)|numa0/numa0)'
	ok "--suite all on 8 GPUs: at most 160 lines, an answer first" eval \
		'[ "$(wc -l <out)" -le 160 ] && prints "^medians of 3[0-9]{2} tests" && head -n 2 out | grep -q "^8 x H200: [A-Za-z]"'
	ok "… with the figure of each test that was measured" eval \
		'prints "^peer.ce  write: pair " && prints "^h2d.chase, ns  stride: pair " && prints "^local.call, ns, alone/all  launch0 [0-9.]+/[0-9.]+"'
	ok "… no table of what agents cost, which -v has" eval \
		'prints_not preempted && { run 0 show all.json -v && prints "preempted"; }'
	ok "… on pages of 80 and 120 columns" eval 'fits 80 all.json && fits 120 all.json'
fi
finish
