#!/bin/bash
# The command line: refused in one line, answered without MPI or GPU.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

refused() { # WORDS OPTION...: one line with these words
	local words=$1
	shift
	run 0 "$@"
	if [ "$status" != 64 ] || [ -s out ] || [ "$(wc -l <err)" != 1 ] ||
		! grep -qF -- "$words" err; then
		echo "status $status for $*:"
		cat err out
		return 1
	fi
}

bad_values() {
	refused "--size '12q'" --size 12q &&
		refused "--size '0'" -s 0 &&
		refused "--size '17'" -s 17 &&
		refused "--size '-1M'" -s -1M &&
		refused "--size '99999999999999999999'" -s 99999999999999999999 &&
		refused "--size '2000T': a size is a multiple of 16 bytes, and at most 1024T" -s 2000T &&
		refused "--size '9223372036854775808'" -s 9223372036854775808 &&
		refused "--size '4K:2000T'" -s 4K:2000T &&
		refused "more than the 2048 matrices" -s 16:1G:x1.01 &&
		refused "--spread '8388607T': allowed are 1 to 1024T" --spread 8388607T &&
		refused "--spread '0'" --spread 0 &&
		refused "--gpus '999': '999' names no GPU: write an index (0 to 63)" --backend cpu --gpus 999 &&
		refused "--gpus '0-64'" --gpus 0-64 &&
		refused "cannot read 'none.json'" --baseline none.json -f reason &&
		refused "cannot read 'none.csv'" --threshold none.csv -f reason &&
		refused "cannot read 'none.jsonl'" --resume none.jsonl -f reason &&
		refused "--plan 'none.csv'" --plan none.csv -f reason &&
		refused "--matrix 'foo': allowed are peer" --matrix foo &&
		refused "--test 'peer.nothing'" --test peer.nothing &&
		refused "--gpus 'x'" --gpus x &&
		refused "--op 'x': allowed are write, read, both" --op x &&
		refused "--pattern 'x': allowed are pair, bidi" --pattern x &&
		refused "--backend 'x': allowed are auto, cuda, cpu" --backend x &&
		refused "--bind 'x': allowed are auto, inherit, none" --bind x &&
		refused "--precision '-1'" --precision -1 &&
		refused "--cell-limit '5x'" --cell-limit 5x &&
		refused "--start-limit '0'" --start-limit 0 &&
		refused "--seed '1e3'" --seed 1e3 &&
		refused "--verify 'x': allowed are all, last, off" --verify x &&
		refused "--format 'x': allowed are text" -f x &&
		refused "--output 'x.foo': allowed endings are .txt" -o x.foo &&
		refused "--output 'a%q.json'" -o a%q.json
}

bad_words() {
	refused "'--bogus'" --bogus &&
		refused "'-Z'" -Z &&
		refused "'extra'" extra &&
		refused "'--siz'" --siz 1M &&
		refused "'-o' needs a value" -o &&
		refused "exclude each other" --matrix peer --test 'peer.*.pair' &&
		refused "--gpus COUNT" --dry-run &&
		refused "did you mean 'cuda-802'?" --explain cuda-8022 &&
		refused "'--explain list' shows all" --explain weather &&
		refused "'--explain' needs a value" --explain
}

ok "a bad value: one line with option, value and what is allowed, status 64" \
	bad_values
ok "an unknown, abbreviated or missing word is refused in one line" bad_words

# README, "Exit status"
cannot() { # STATUS WORDS OPTION...
	local wanted=$1 words=$2
	shift 2
	run 0 "$@"
	[ "$status" = "$wanted" ] && grep -qF -- "$words" err
}
echo 'no run' >none.txt
ok "a file of results that cannot be read is status 3, one that is none 64" eval \
	'cannot 3 "cannot read" show nowhere.json && cannot 3 "cannot read" check nowhere.json &&
		cannot 64 "not JSON" show none.txt'
ok "compare takes the formats that its --help names" eval \
	'run 0 compare --help && prints "of standard output: text, json, csv, html" &&
		refused "allowed are text, json, csv, html" compare a.json -f prom &&
		refused "allowed endings are .txt, .json, .csv, .html" compare a.json -o a.prom'
ok "… and --check the kinds" eval \
	'run 0 --help && prints "placement, baseline, launch, topology"'

run 4 --size 12q
ok "four ranks refuse a bad option with one line in all" one_line "--size '12q'"
ok "… and print nothing" is_empty out
ok "… and give the job status 64" status_is 64

# nothing to find: no launcher, no driver, no library of one
answers() { # OPTION...
	env -i CS_LIBCUDA=/nowhere CS_LIBNVML=/nowhere PATH= "$CSCOPE" "$@" \
		>out 2>err || return
	[ -s out ] && [ ! -s err ]
}

for option in --help --list --version; do
	ok "$option is answered with an empty PATH and no driver" answers $option
done
for what in list 802 719 xid79 nvml-18 peer.ce.read.bidi; do
	ok "--explain $what is answered with an empty PATH and no driver" \
		answers --explain $what
done
all_explained() {
	local key n=0
	answers --explain list || return
	sed -n 's/^  \([a-z]*-[a-z0-9-]*\) .*/\1/p' out >keys
	while read -r key; do
		answers --explain "$key" || return
		prints "^$key( |\$)" && prints "^  means  " &&
			prints "^  what to do  " || return
		n=$((n + 1))
	done <keys
	echo "$n explained"
	[ $n -ge 27 ]
}
ok "all that --explain list names is explained" all_explained
ok "--set list shows each key, which is no option of --help=all" eval \
	'answers --set list && sed -nE "s/^ +([a-z-]+)=.*/\1/p" out >keys && [ "$(wc -l <keys)" -ge 19 ] &&
		answers --help=all && ! grep -E "^ +--($(paste -sd"|" keys)) " out && prints "--set KEY=VALUE"'
ok "--help=all has at most 45 options" eval \
	'[ "$(grep -cE "^  (-.,|   ) --[a-z]" out)" -le 45 ]'
ok "a plan by --set is that of the option" eval \
	'answers -n --gpus 4 --seed 5 --samples 7 && mv out first &&
	 answers -n --gpus 4 --set seed=5,samples=7 && same first out'
ok "--help names the exit statuses" eval 'answers --help=all && prints "64 usage"'
ok "what --help lists fits a terminal" \
	eval 'answers --help && ! grep -E "^.{91}" out && [ "$(wc -l <out)" -le 40 ]'

steps_are_right() {
	local n want
	for n in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		answers --dry-run -m peer --gpus $n || return
		# each ordered pair alone, each pair both ways, and from three
		# GPUs on each matrix' first cell once more at the end
		want=$((n * (n - 1) + n * (n - 1) / 2 + (n > 2 ? 2 : 0)))
		prints "^plan +$want steps" || {
			echo "$n GPUs, wanted $want steps:"
			cat out
			return 1
		}
	done
}
ok "--dry-run shows the steps for 2 to 16 GPUs" steps_are_right
ok "--dry-run of nothing else is that of --suite quick" eval \
	'answers --dry-run --gpus 8 --seed 5 && prints "^plan +82 steps" && mv out first &&
	 answers --dry-run --gpus 8 --seed 5 --suite quick && same first out'
ok "--dry-run says memory and time" eval \
	'answers -n --gpus 8 && prints "^memory +1 GiB" && prints "^time +about"'
ok "--dry-run takes the same plan for the same seed" eval \
	'answers -n --gpus 4 --seed 5; mv out first; answers -n --gpus 4 --seed 5;
	 same first out'
ok "0 is a seed like any other" eval \
	'answers -n --gpus 4 --seed 0 && prints "shuffled by seed 0$" && mv out first
	 answers -n --gpus 4 --seed 0 && same first out'
ok "a plan that is too large is refused before it is made" eval \
	'run 0 -n --gpus 64 -m h2d --pattern bidiload --numa 0-62 -s 16:1G:x1.05
	 status_is 64 && one_line "would be larger than 256 MiB: ask for fewer"'

# ---- without a seed: the program itself ----

yesterday=$(date -u +%Y%m%d) # should it be midnight soon
plans_today() {
	CSCOPE=$CS_PROGRAM answers -n --gpus 4 || return
	mv out first
	answers -n --gpus 4 --seed "$yesterday" && same first out ||
		answers -n --gpus 4 --seed "$(date -u +%Y%m%d)" && same first out
}
ok "--dry-run without --seed plans what a run of today would carry out" plans_today
CSCOPE=$CS_PROGRAM run 0 --backend cpu -m peer --gpus 2 -s 64K --cell-limit 1ms -q -o day.json
ok_json "a run without --seed has that of today" day.json \
	"d['run']['seed'] in ($yesterday, $(date -u +%Y%m%d))"

run 4 --version
ok "--version under a launcher is said once" \
	eval '[ "$(grep -c "^cscope-mpi " out)" = 1 ] && status_is 0'
finish
