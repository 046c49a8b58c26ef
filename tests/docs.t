#!/bin/bash
# shellcheck disable=SC2013,SC2016 # words without blanks; backquotes are meant
# What the documents name exists: options, tests with their sentences, files,
# and the output that they quote.
#
# An option counts as ours when a span of code is the option itself or begins
# with cscope-mpi; in a block of code, what follows cscope-mpi on the line.
set -u
: "${CSCOPE:?is not set: run this by make check}"
top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
"$CSCOPE" --help=all >"$work/help" || exit 1
{ "$CSCOPE" --set list && echo list=; } >"$work/keys" || exit 1
"$CSCOPE" show --help >>"$work/help" || exit 1
"$CSCOPE" baseline --help >>"$work/help" || exit 1
"$CSCOPE" learn --help >>"$work/help" || exit 1
"$CSCOPE" check --help >>"$work/help" || exit 1
ln -s "$CS_PROGRAM" "$work/comm_scope"
"$work/comm_scope" --help >>"$work/help" || exit 1
ln -s "$CS_PROGRAM" "$work/nvbandwidth"
"$work/nvbandwidth" --help >>"$work/help" || exit 1

is_empty() { # FILE
	! grep '' "$1"
}

readme_is_short() {
	[ "$(wc -l <"$top/README.md")" -le 110 ]
}

documents() {
	(cd "$top" && ls README.md CHANGELOG.md doc/*.md doc/results/README.md)
}

# Commands of ours and lone options in FILE, one a line.
commands() { # FILE
	grep -oE '`[^`]+`' "$1" | tr -d '`' | grep -E '^--[a-z]|cscope-mpi '
	grep -E '^    ([^ ].*)?cscope-mpi ' "$1"
	grep -E '^ {9}cscope-mpi ' "$1"
}

# Options that belong to the program; $1 as above.
options() { # FILE
	commands "$1" | sed 's/^.*cscope-mpi / /; s/#.*//' |
		grep -oE '(^|[ ([])--[a-z][a-zA-Z_-]*' | grep -oE -- '--[a-zA-Z_-]+' | sort -u
}

# Lone options of launchers and containers that the documents explain.
theirs='--gpu-bind --pid --no-kill --kill-on-bad-exit'

unknown_options() { # FILE...
	local file option
	for file in "$@"; do
		for option in $(options "$file"); do
			case " $theirs " in *" $option "*) continue ;; esac
			grep -qE -- "(^|[ ,])$option([ ,|=[]|\$)" "$work/help" ||
				echo "$file: $option is not in --help"
		done
	done
}

unknown_keys() { # FILE...
	local file key
	for file in "$@"; do
		for key in $(grep -oE -- '--set [a-z-]+' "$file" | cut -d' ' -f2 | sort -u); do
			grep -q "^ *$key=" "$work/keys" || echo "$file: $key is no key of --set"
		done
	done
}

missing_tests() { # FILE...
	local file path
	for file in "$@"; do
		for path in $(grep -oE '(^|[^/A-Za-z])tests/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$file" |
			grep -oE 'tests/.*' | sort -u); do
			[ -e "$top/$path" ] || echo "$file: $path is not there"
		done
	done
}

# Anchors of a document's headings, as GitHub makes them.
anchors() { # FILE
	sed -nE 's/^#+ //p' "$1" | LC_ALL=C tr 'A-Z ' 'a-z-' | LC_ALL=C tr -cd 'a-z0-9_\n-'
}

leads_somewhere() { # FOLDER LINK
	[ -e "$1${2%%#*}" ] || return
	case $2 in *'#'*) anchors "$1${2%%#*}" | grep -qxF -e "${2#*#}" ;; esac
}

missing_links() { # FILE...
	local file link
	for file in "$@"; do
		for link in $(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//'); do
			case $link in *://* | mailto:*) continue ;; '#'*) link=${file##*/}$link ;; esac
			leads_somewhere "$(dirname "$file")/" "$link" ||
				echo "$file: $link leads nowhere"
		done
	done
}

# Sources in DIR whose first comment begins with the name of another file.
misnamed() { # DIR
	local file
	find "$1" -name '*.[ch]' -o -name '*.def' | while read -r file; do
		sed -n '1,8s|^/\* \([a-z_0-9]*\.[a-z]*\) - .*|\1|p' "$file" | head -n 1 |
			grep -vxF "${file##*/}" | sed "s|^|$file is called |"
	done
}

# Functions and files of src that FILE names, `name()` and `folder/name.c`, in vain.
missing_code() { # FILE
	local name
	for name in $(grep -oE '`[a-z_0-9]+\(\)`' "$1" | tr -d '`()' | sort -u); do
		grep -rqE --include='*.c' "(^|[ *])$name\(" "$top/src" ||
			echo "$1: no function is called $name()"
	done
	for name in $(grep -oE '`[a-z_]+/[a-z_/]*[a-z_]+\.(c|h|def)`' "$1" | tr -d '`' | sort -u); do
		[ -e "$top/src/$name" ] || echo "$1: src/$name is not there"
	done
}

# What is wrong with files of runs in DIR; what compare wrote is no run.
results() { # DIR
	local file
	find "$1" -type f -size +300000c -printf '%p: %s bytes, at most 300000\n'
	find "$1" -name '*.json*' | while read -r file; do
		head -n 1 "$file" | grep -q '"cscope-mpi-compare/' ||
			"$CSCOPE" show "$file" -q 2>&1
	done
}

# Exit statuses of README that --help or the manual page lacks.
untold_statuses() { # README
	local status
	sed -n '/^## Exit status/,/^## Files/s/^| \([0-9]*\)[ N+]* |.*/\1/p' "$1" |
		while read -r status; do
			flat "$work/help" | grep -qE "(Exit status:|;) $status " ||
				echo "--help has no status $status"
			grep -qE "^\.[BIR]+ \"?$status\b" doc/cscope-mpi.1.in ||
				echo "cscope-mpi(1) has no status $status"
		done
}

# Folders of sources and tests without a README, and files that one names in vain.
folders() { # DIR
	local dir file
	find "$1" -name '*.[cht]' -printf '%h\n' | sort -u | while read -r dir; do
		[ -e "$dir/README.md" ] || { echo "$dir has no README.md"; continue; }
		grep '^- ' "$dir/README.md" | grep -oE '`[a-z]+\.(c|h|def)`' | tr -d '`' |
			while read -r file; do
				[ -e "$dir/$file" ] || [ -e "${dir%/*}/$file" ] ||
					echo "$dir/README.md: $file is not there"
			done
	done
}

# Under a line that ends in `cscope-mpi show FILE`: stands what that prints.
missing_output() { # DOCUMENT
	local file block
	grep -oE '`cscope-mpi show [^` ]+`:$' "$1" | cut -d' ' -f3 | tr -d '`:' |
		while read -r file; do
			block=$(awk -v file="\`cscope-mpi show $file\`:" '
				within && !/^(    |$)/ { exit }
				within && NF { sub(/^    /, ""); print }
				substr($0, length($0) - length(file) + 1) == file { within = 1 }' "$1")
			[[ -n $block && $(cd "$top" && "$CSCOPE" show "$file" | grep .) == *"$block"* ]] ||
				echo "$1: show $file prints something else"
		done
}

# Times that documents give for --cell-limit, and do not have its default.
false_limits() { # FILE...
	local default
	default=$(grep -A3 'cell-limit=TIME' "$work/keys" | grep -oE 'default [0-9]+ms' |
		grep -oE '[0-9]+')
	grep -oHE '[0-9]+ ms \(`cell-limit`|`cell-limit` \([0-9]+ ms\)' "$@" |
		grep -vE "[^0-9]${default:-none} ms"
}

# ---- rules of METHOD ----

# Running text: line breaks and runs of blanks are one blank.
flat() { # FILE...
	cat -- "$@" | tr '\n\t' '  ' | tr -s ' '
}

# A string that is cut in two is one.
strings() { # FILE...
	flat "$@" | sed 's/" *"//g; s/\\"/"/g'
}

# Sentences of tests/rules that their test does not have.
missing_sentences() { # RULES
	local rule path sentence
	grep -v '^#' "$1" | while read -r rule path sentence; do
		strings "$path" >"$work/test"
		grep -qF -e "$sentence" "$work/test" ||
			echo "rule $rule: $path has no $sentence"
	done
}

rules_without_test() { # METHOD RULES
	local rule
	for rule in $(grep -oE '^\*\*[0-9]+[a-z0-9]*\.' "$1" | tr -d '*.'); do
		grep -q "^$rule tests/" "$2" || echo "$1: no test holds rule $rule"
	done
}

# References to a rule in FILE..., "rule 8a", "METHOD 11", "[METHOD](METHOD.md), 6a",
# or a range or pair of them, that METHOD does not number.
dangling_rules() { # METHOD FILE...
	local rules number='[0-9]+([a-z][0-9]*)?\b'
	rules=$(grep -oE '^\*\*[0-9]+[a-z0-9]*\.' "$1" | tr -d '*.')
	shift
	grep -rHoE --include='*.[cht]' --include='*.def' --include='*.cu' --include='*.sh' \
		--include='*.md' --exclude=docs.t "(\b[Rr]ules?|\bMETHOD(\]\([^)]*\))?,?) $number((,| to| and) $number)*" \
		"$@" | while IFS=: read -r file reference; do
		for rule in $(grep -oE "\b$number" <<<"${reference/(*)/}"); do
			grep -qxF -e "$rule" <<<"$rules" || echo "$file: METHOD has no rule $rule"
		done
	done
}

# ---- quotations of READING ----

# One short run with a fault in it.
show() { # [NAME=VALUE]... -- ARGUMENT...
	local set=()
	while [ "$1" != -- ]; do
		set+=("$1")
		shift
	done
	shift
	env CS_LIBCUDA="$FAKE/libcuda.so.1" CS_LIBNVML="$FAKE/libnvidia-ml.so.1" \
		FAKE_MEMORY=12000000 "${set[@]}" "$TESTDATA/patience" 60 "$CSCOPE" --no-mpi "$@" 2>&1 </dev/null
}

show_faults() {
	show FAKE_GPUS=3 FAKE_NVLINKS_DOWN=2:2 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_NVLINKS_DOWN=0:18,1:18 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_PCIE=1:4x8 -- -m peer -s 64K
	show FAKE_GPUS=3 FAKE_THROTTLE=1:8 FAKE_SLOW=0-1:0.5 -- -m peer -s 1M
	show FAKE_GPUS=2 FAKE_THROTTLE=1:4 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_NVML_OTHERS=0:1 -- -m peer -s 64K
	show FAKE_GPUS=3 FAKE_NO_PEER=0-1 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_CORRUPT=0-1:-1 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_NOISE=0.5 -- -m peer -s 64K --precision 0.1% --cell-limit 1ms
	show FAKE_GPUS=2 CS_LIBNVML=/nowhere -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_FAIL=cuInit:1=802 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_FAIL=cuInit:1=100 SLURM_JOB_GPUS=0,1 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_COMPUTE_MODE=2 -- -m peer -s 64K
	show FAKE_GPUS=2 FAKE_HANG=cuDevicePrimaryCtxRetain:1 -- \
		-m peer -s 64K --start-limit 1s
	show FAKE_GPUS=2 -- -m peer -s 8G
	show FAKE_GPUS=1 -- -m peer -s 64K
	show FAKE_GPUS=1 -- -t peer.ce.write.pair
}

# Two sides with much between them.
show_sides() {
	show FAKE_GPUS=3 FAKE_NVLINKS_DOWN=2:2 -- -m peer -s 64K --placement process -q \
		-o "$work/a.json"
	show FAKE_GPUS=3 FAKE_CORRUPT=0-1:-1 -- -m peer -s 64K -q -o "$work/b.json"
	"$CSCOPE" compare "$work/a.json" "$work/b.json" 2>&1
}

# What the program prints, as running text; what the double cannot bring about
# is in the strings of the sources and of the tests that expect it.
printed() {
	{
		show_faults
		show_sides
		cat tests/golden/*.out doc/results/*/*.txt
	} >"$work/runs"
	flat "$work/runs"
	find src \( -name '*.c' -o -name '*.def' \) -exec cat {} + >"$work/sources"
	strings "$work/sources" tests/unit/test_check.c tests/run/*.t
}

# Code in first columns is output; an ellipsis stands for any of it.
unprinted() { # FILE
	local quotation part
	grep '^| ' "$1" | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`' |
		tr -s ' ' | while read -r quotation; do
		while read -r part; do
			[ -z "$part" ] || grep -qF -e "$part" "$work/printed" ||
				echo "$1: nothing prints '$part'"
		done <<<"${quotation//…/$'\n'}"
	done
}

# ---- the tutorial ----

# Is what FILE says that COMMAND prints in its output: the parts between ellipses, in that order?
prints() { # FILE COMMAND EXPECTED
	local part rest
	rest=$(flat "$work/said")
	while read -r part; do
		if [[ -n $part && $rest != *"$part"* ]]; then
			echo "$1: '$2' does not print '$part'"
			return
		fi
		rest=${rest#*"$part"}
	done < <(flat - <<<"$3…" | sed 's/…/\n/g')
}

# Runs the commands of FILE, each after "    $ ", in one shell and a folder as build/; the
# lines that follow are its output.
untrue_session() ( # FILE
	local line command='' expected='' status=0 lines
	mapfile -t lines <"$1"
	mkdir -p "$work/session/tests"
	cd "$work/session" || exit
	: >"$work/said"
	ln -sfn "$FAKE" tests/fake
	# cells end by their samples, not by the load of this machine
	cat >cscope-mpi <<-EOF
		#!/bin/sh
		case \$* in *'-m '*) set -- "\$@" --cell-limit 1m ;; esac
		exec $TESTDATA/patience 60 $CSCOPE "\$@"
	EOF
	chmod +x cscope-mpi
	export FAKE_MACHINE=$work/session/cscope-mpi FAKE_MEMORY=12000000
	for line in "${lines[@]}"; do
		case $line in
		'    $ '*)
			prints "$1" "$command" "$expected"
			command=${line#*$ } expected=''
			(exit "$status")
			eval "$command" >"$work/said" 2>&1 </dev/null
			status=$?
			[ "$status" -le 2 ] || echo "$1: '$command' ends with status $status"
			;;
		'    '*) expected+=${line#    }$'\n' ;;
		esac
	done
	prints "$1" "$command" "$expected"
)

# ---- the glossary ----

glossary_of_readme() { # FILE
	sed -nE '/^## Words$/,$s/^- \*\*(.*)\*\*: (.*)/\1: \2/p' "$1"
}

glossary_of_page() {
	sed -nE 's/^WORD\("(.*)", "(.*)"\)$/\1: \2/p' src/report/html/glossary.def
}

mapfile -t docs < <(documents)
cd "$top" || exit 1
unknown_options "${docs[@]}" >"$work/options"
unknown_keys "${docs[@]}" >>"$work/options"
missing_tests "${docs[@]}" >"$work/tests"
missing_links "${docs[@]}" CONTRIBUTING.md >"$work/links"
ok "README.md has at most 110 lines" readme_is_short
ok "every option that the documents name is in --help" is_empty "$work/options"
ok "every test that the documents name is there" is_empty "$work/tests"
ok "every relative link leads to a file, and to a heading of it" is_empty "$work/links"
missing_sentences tests/rules >"$work/sentences"
rules_without_test doc/METHOD.md tests/rules >"$work/rules"
ok "every sentence that holds a rule is in its test" is_empty "$work/sentences"
ok "every rule of METHOD is held by a test" is_empty "$work/rules"
dangling_rules doc/METHOD.md src tests doc README.md CONTRIBUTING.md CHANGELOG.md >"$work/dangling"
ok "every rule that is referred to is in METHOD" is_empty "$work/dangling"
grep -nE '[[:blank:]]$' "${docs[@]}" CONTRIBUTING.md >"$work/blanks"
ok "no line of a document ends in blanks" is_empty "$work/blanks"
grep -rnE --include='*.md' '^(<<<<<<<|=======|>>>>>>>)( |$)' README.md CONTRIBUTING.md CHANGELOG.md doc src tests >"$work/markers"
ok "no document has both sides of a merge" is_empty "$work/markers"
false_limits "${docs[@]}" >"$work/limits"
ok "the default of cell-limit is the program's" is_empty "$work/limits"
untold_statuses README.md >"$work/statuses"
ok "every exit status of README is in --help and the manual page" is_empty "$work/statuses"
folders src >"$work/folders"
folders tests >>"$work/folders"
ok "every folder of src and tests says what is in it" is_empty "$work/folders"
results "$top/doc/results" >"$work/results"
ok "results are small files which the program reads" is_empty "$work/results"
{
	misnamed src
	misnamed tests
} >"$work/names"
ok "a source that begins with a name begins with its own" is_empty "$work/names"
missing_code doc/ARCHITECTURE.md >"$work/code"
ok "every function and file that ARCHITECTURE names is there" is_empty "$work/code"
for doc in "${docs[@]}"; do
	missing_output "$doc"
done >"$work/output"
ok "what a document says that show prints of a file is printed" is_empty "$work/output"
if [ -n "${HAVE_CUDA:-}" ]; then
	printed >"$work/printed"
	unprinted doc/READING.md >"$work/unprinted"
	ok "what READING quotes is printed" is_empty "$work/unprinted"
	untrue_session "$top/doc/TUTORIAL.md" >"$work/untrue"
	ok "every command of TUTORIAL runs and prints what it says" is_empty "$work/untrue"
	printf '    $ %s\n' './cscope-mpi --no-such' 'echo $?' 'echo one two' >"$work/session.md"
	printf '    %s\n' 'one…one' >>"$work/session.md"
	untrue_session "$work/session.md" | wc -l | grep -vx 2 >"$work/count"
	ok "a planted command and output of a tutorial are found" is_empty "$work/count"
else
	skip "what READING quotes is printed" "built without CUDA"
	skip "every command of TUTORIAL runs and prints what it says" "built without CUDA"
	skip "a planted command and output of a tutorial are found" "built without CUDA"
fi
glossary_of_readme README.md >"$work/words"
glossary_of_page | diff "$work/words" - >"$work/glossary"
ok "the words of README are those of a page" is_empty "$work/glossary"
wc -l <"$work/words" | grep -vE '^([89]|1[0-2])$' >"$work/count"
ok "they are at most 12" is_empty "$work/count"

# the rules bite
{
	echo 'Use `cscope-mpi --no-such` or `--nor-this`, `--set nor-key`, not `mpirun --theirs`.'
	echo '    mpirun --other -np 2 cscope-mpi --bad-too'
	echo 'See `tests/none.t`, [this](no/where.md) and [that](#no-such-heading).'
	echo '**2. A rule**'
	echo '| `never … printed` | by | us |'
} >"$work/planted.md"
{
	unknown_options "$work/planted.md"
	unknown_keys "$work/planted.md"
} | wc -l | grep -vx 4 >"$work/count"
ok "planted options and keys are found, those of a launcher are not ours" is_empty "$work/count"
{
	missing_tests "$work/planted.md"
	missing_links "$work/planted.md"
} | wc -l | grep -vx 3 >"$work/count"
ok "a planted path, link and anchor are found" is_empty "$work/count"
echo 'after 500 ms (`cell-limit`)' >"$work/limit.md"
false_limits "$work/limit.md" | wc -l | grep -vx 1 >"$work/count"
ok "a planted default is found" is_empty "$work/count"
printf '## Exit status\n| 99 | never |\n## Files\n' >"$work/statuses.md"
untold_statuses "$work/statuses.md" | wc -l | grep -vx 2 >"$work/count"
ok "a planted status is found" is_empty "$work/count"
echo '`no_such_function()` in `job/none.c`' >"$work/code.md"
missing_code "$work/code.md" | wc -l | grep -vx 2 >"$work/count"
ok "a planted function and file are found" is_empty "$work/count"
echo 'As rule 1 says, [METHOD](METHOD.md) 9z and METHOD 98 do not.' >"$work/refers.md"
echo '**1. A rule**' >"$work/numbered"
dangling_rules "$work/numbered" "$work/refers.md" | wc -l | grep -vx 2 >"$work/count"
ok "a planted reference to no rule is found, one to a rule is not" is_empty "$work/count"
mkdir "$work/names.d"
echo '/* other.c - what it is. */' >"$work/names.d/one.c"
misnamed "$work/names.d" | wc -l | grep -vx 1 >"$work/count"
ok "a planted name of another file is found" is_empty "$work/count"
mkdir "$work/planted" "$work/bare"
touch "$work/planted/a.c" "$work/bare/b.c"
echo '- `a.c`, `gone.c`: two' >"$work/planted/README.md"
{ folders "$work/planted"; folders "$work/bare"; } | wc -l | grep -vx 2 >"$work/count"
ok "a planted folder without a README and a file that is not there are found" is_empty "$work/count"
rm -r "$work/planted"
mkdir "$work/planted"
head -c 300001 /dev/zero >"$work/planted/large.txt"
echo '{"schema":"cscope-mpi/1"}' >"$work/planted/part.json"
results "$work/planted" | wc -l | grep -vx 2 >"$work/count"
ok "a planted large file and a planted part of one are found" is_empty "$work/count"
printf '%s\n\n' 'It is `cscope-mpi show doc/results/h200x2/suite-np2.json`:' '    no such line' >"$work/shown.md"
missing_output "$work/shown.md" | wc -l | grep -vx 1 >"$work/count"
ok "a planted output is found" is_empty "$work/count"
echo '1 tests/lint.t "no such sentence"' >"$work/planted.rules"
{
	missing_sentences "$work/planted.rules"
	rules_without_test "$work/planted.md" "$work/planted.rules"
	: >"$work/printed"
	unprinted "$work/planted.md"
} | wc -l | grep -vx 4 >"$work/count"
ok "a planted sentence, rule and quotation are found" is_empty "$work/count"
finish
