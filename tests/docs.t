#!/bin/bash
# shellcheck disable=SC2013,SC2016 # words without blanks; backquotes are meant
# What the documents name exists: options, tests, files.
#
# An option counts as ours when a span of code is the option itself or begins
# with cscope-mpi; in a block of code, what follows cscope-mpi on the line.
set -u
: "${CSCOPE:?is not set: run this by make check}"
top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$CSCOPE" --help >"$work/help" || exit 1
n=0

ok() { # SENTENCE FILE: it is empty
	n=$((n + 1))
	if [ -s "$2" ]; then
		echo "not ok $n - $1"
		sed 's/^/# /' "$2"
	else
		echo "ok $n - $1"
	fi
}

documents() {
	(cd "$top" && ls README.md doc/*.md)
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
		grep -oE '(^|[ ([])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u
}

# Lone options of launchers and containers that the documents explain.
theirs='--gpu-bind --pid'

unknown_options() { # FILE...
	local file option
	for file in "$@"; do
		for option in $(options "$file"); do
			case " $theirs " in *" $option "*) continue ;; esac
			grep -qE -- "(^|[ ,])$option([ ,|]|\$)" "$work/help" ||
				echo "$file: $option is not in --help"
		done
	done
}

missing_tests() { # FILE...
	local file path
	for file in "$@"; do
		for path in $(grep -oE '\btests/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$file" |
			sort -u); do
			[ -e "$top/$path" ] || echo "$file: $path is not there"
		done
	done
}

missing_links() { # FILE...
	local file link
	for file in "$@"; do
		for link in $(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//'); do
			case $link in *://* | '#'* | mailto:*) continue ;; esac
			[ -e "$(dirname "$file")/${link%%#*}" ] ||
				echo "$file: $link leads nowhere"
		done
	done
}

mapfile -t docs < <(documents)
cd "$top" || exit 1
unknown_options "${docs[@]}" >"$work/options"
missing_tests "${docs[@]}" >"$work/tests"
missing_links "${docs[@]}" >"$work/links"
ok "every option that the documents name is in --help" "$work/options"
ok "every test that the documents name is there" "$work/tests"
ok "every relative link leads to a file" "$work/links"

# the rules bite
{
	echo 'Use `cscope-mpi --no-such` or `--nor-this`, not `mpirun --theirs`.'
	echo '    mpirun --other -np 2 cscope-mpi --bad-too'
	echo 'See `tests/none.t` and [this](no/where.md).'
} >"$work/planted.md"
unknown_options "$work/planted.md" | wc -l | grep -vx 3 >"$work/count"
ok "planted options are found, those of a launcher are not ours" "$work/count"
{
	missing_tests "$work/planted.md"
	missing_links "$work/planted.md"
} | wc -l | grep -vx 2 >"$work/count"
ok "a planted path and a planted link are found" "$work/count"
echo "1..$n"
