#!/bin/bash
# The names that Comm|Scope 0.12 lists on one NUMA node of 16 CPUs with one GPU and with
# two: all are listed here too, but for those of the table in doc/COMMSCOPE.md.
# shellcheck source=/dev/null disable=SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
export LC_ALL=C CS_TEST_TOPOLOGY=$TESTDATA/fixtures/topo-one-numa.xml

ln -s "$CS_PROGRAM" comm_scope
theirs() { # GPUS: their names, which the fixture has with braces
	while read -r line; do
		line=${line//[()]/\\&}
		eval "printf '%s\n' $line"
	done <"$TESTDATA/fixtures/commscope-$1.names" | sort -u
}
# The expressions of the table of what is not there, one a line.
sed -n '/^| instances | why |/,/^$/s/^| `\(.*\)` | .* |$/\1/p' "$TESTDATA/../doc/COMMSCOPE.md" |
	sed 's/\\|/|/g' >reasons
[ -s reasons ] || skip_all "without doc/COMMSCOPE.md"

cuda=
for n in 1 2; do
	cuda="$cuda --cuda $((n - 1))"
	# shellcheck disable=SC2086 # options
	./comm_scope --benchmark_list_tests $cuda | sort -u >"ours.$n"
	theirs "$n" >"theirs.$n"
	comm -13 "ours.$n" "theirs.$n" >"missing.$n"
	ok "of the $(wc -l <"theirs.$n") names for $n GPUs most are listed" eval \
		'[ $(($(wc -l <"missing.$n") * 5)) -lt $(wc -l <"theirs.$n") ]'
	grep -vEf reasons "missing.$n" | sed 's/^/# not listed, and no reason: /' | head -n 20
	ok "... and a reason is given for each of the others" eval '! grep -qvEf reasons "missing.$n"'
done
cat missing.1 missing.2 >missing
while read -r reason; do
	grep -qE "$reason" missing || echo "$reason"
done <reasons >idle
ok "no reason is given for what is listed" eval 'sed "s/^/# /" idle && [ ! -s idle ]'
finish
