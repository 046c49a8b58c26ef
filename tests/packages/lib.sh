# shellcheck shell=bash
# lib.sh - what the checks of packaging/ share; they source it.
#
#	. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
#	need shellcheck jq	else all is skipped, with the tool's name
#	ok "a sentence" COMMAND...
#	skip "a sentence" WHY
#	finish
#
# $top: the sources; $build: where they were built; $version: theirs.  It works in an
# empty folder of its own, which goes at the end.  `at_end COMMAND` runs before that.
set -u
top=$(cd "$TESTDATA/.." && pwd) || exit 1
build=$PWD
version=$(sed -n "s/^VERSION = //p" Makefile)
work=$(mktemp -d) || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs this
n_tests=0
at_end=()

at_end() { # COMMAND
	at_end=("$1" "${at_end[@]}")
}

leave() {
	local command
	cd / || return
	for command in "${at_end[@]}"; do
		eval "$command"
	done
	rm -rf "$work"
}
trap leave EXIT
cd "$work" || exit 1

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}

need() { # TOOL...
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip_all "no $tool"
	done
}

skip() { # SENTENCE WHY
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

# What the command says is shown where it fails.
ok() { # SENTENCE COMMAND...
	local sentence=$1
	shift
	n_tests=$((n_tests + 1))
	if "$@" >says 2>&1; then
		echo "ok $n_tests - $sentence"
	else
		echo "not ok $n_tests - $sentence"
		echo "# false: $*"
		tail -n 40 says | sed 's/^/# /'
		false
	fi
}

is_empty() { # FILE
	cat "$1"
	[ -f "$1" ] && [ ! -s "$1" ]
}

finish() {
	echo "1..$n_tests"
}
