#!/bin/bash
# Text of others goes out clean, whatever prints it.  What the formats make of a file is
# told by tests/unit/print.t.
# shellcheck source=tests/run/lib.sh
. "${TESTDATA:-tests}/run/lib.sh"

dirty=$'a\033[31mb\nforged: 1\r\t\x7f\xc2\x9b'
results=$TESTDATA/../doc/results/h200x4

is_clean() { # FILE
	grep -q 'a?\[31mb forged' "$1" &&
		! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1"
}

# A second line would be a forged one.
is_one_clean_line() { # FILE
	is_clean "$1" && [ "$(wc -l <"$1")" = 1 ]
}

says_it_clean() { # SENTENCE ARGUMENT...
	local sentence=$1
	shift
	run 0 "$@"
	ok "$sentence is told in one clean line" is_one_clean_line err
}

says_it_clean 'a test that is not there' --test "$dirty"
says_it_clean 'a size that is none' --backend cpu -s "$dirty"
says_it_clean 'an option that is not there' --backend cpu "--$dirty"
says_it_clean 'an operand' "$dirty"
says_it_clean 'a plan that is not there' --backend cpu --plan "$dirty.csv"
says_it_clean 'a file to show that is not there' show "$dirty"
says_it_clean 'a file to compare that is not there' compare "$dirty" x.json
says_it_clean 'a topic' --explain "$dirty"

printf 'step,test,src,dst,size,role\n1,\033]0;a\033[31mb forged: 1,gpu0,gpu1,1M,measure\n' >odd.csv
says_it_clean 'a test of a plan file' --dry-run --gpus 2 --plan odd.csv

sed 's/"schema":"[^"]*"/"schema":"a\\u001b[31mb\\nforged: 1"/' \
	"$results/quick.json" >schema.json
says_it_clean 'a schema of others' show schema.json

cp "$results/quick.json" "$dirty.json"
run 0 compare "$dirty.json" "$results/check-peer.json"
ok 'the name of a file that is compared is printed clean' is_clean out
run 0 compare "$dirty.json" "$results/check-peer.json" -f csv
ok '... in CSV too' is_clean out
run 0 compare "$dirty.json" "$results/check-peer.json" -f json
ok_json '... and kept in JSON' out 'd["a"].startswith("a\x1b[31mb\nforged: 1\r\t\x7f\x9b")'

head -c 3000 "$results/quick.json" >"$dirty-cut.json"
for format in text csv result nagios reason prom junit nvbandwidth; do
	run 0 check "$results/quick.json" "$dirty-cut.json" -f $format
	case $format in
	text | nagios | reason | junit)
		ok "a file that cannot be read is named clean in -f $format" is_clean out
		;;
	esac
	ok "... and in the last line" is_one_clean_line err
done

finish
