# shellcheck shell=bash
# tap.sh - what shell tests share: a folder of their own, $work, which goes at the end, and
# results by the Test Anything Protocol; they source it.
#
#	ok "a sentence" COMMAND...	77: it is skipped
#	skip "a sentence" WHY
#	skip_all WHY
#	finish
#
# What the command says is shown where it fails, and behind it what `shows` shows, which
# may be defined anew.  Where $skip says why, all is skipped.
set -u
work=$(mktemp -d) || exit 1
# A background process that is killed before its exec runs the trap, too: not for it.
remove_work() {
	if [ "${BASHPID:-$$}" = "$$" ]; then rm -rf "$work"; fi
}
trap remove_work EXIT
n_tests=0
skip=''

shows() { :; }

skip_all() { # WHY
	echo "1..0 # SKIP $1"
	exit 0
}

skip() { # SENTENCE WHY
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

ok() { # SENTENCE COMMAND...
	local sentence=$1 status_of=0
	shift
	if [ -n "$skip" ]; then
		skip "$sentence" "$skip"
		return
	fi
	"$@" >"$work/says" 2>&1 || status_of=$?
	case $status_of in
	77) skip "$sentence" "there is no such tool" ;;
	0)
		n_tests=$((n_tests + 1))
		echo "ok $n_tests - $sentence"
		;;
	*)
		n_tests=$((n_tests + 1))
		echo "not ok $n_tests - $sentence"
		printf '# false: %.300s\n' "$*"
		tail -n 40 "$work/says" | sed 's/^/# /'
		shows
		false
		;;
	esac
}

finish() {
	echo "1..$n_tests"
}
