#!/bin/bash
# check.t - what the tab key makes of lines in each shell.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
here=$top/packaging/completion
made=$build/packaging/completion
[ -e "$made/cscope-mpi" ] || made=$here
mkdir bin folder
touch folder/run.json
ln -s "$CS_PROGRAM" bin/cscope-mpi
export PATH=$work/bin:$PATH

# What is typed, and what the command is given then.
cat >lines <<'END'
cscope-mpi --dry-r | --dry-run
cscope-mpi --op=wr | --op=write
cscope-mpi --op wr | --op write
cscope-mpi -m h2d,loc | -m h2d,local
cscope-mpi --check=topo | --check=topology
cscope-mpi -t local.fma.fp6 | -t local.fma.fp64.alone
cscope-mpi compa | compare
cscope-mpi show --topo | show --topology
cscope-mpi show -f nag | show -f nagios
cscope-mpi --plan folder/ru | --plan folder/run.json
cscope-mpi show folder/ru | show folder/run.json
cscope-mpi --method pac | --method pack
cscope-mpi --set cell-l | --set cell-limit=
cscope-mpi --set=seed=2,verif | --set=seed=2,verify=
END
sed 's/.* | //' lines >want
mapfile -t typed < <(sed 's/ | .*//' lines)

types() { # SHELL FILE
	"${PYTHON:-python3}" "$here/tab.py" "$1" "$2" "${typed[@]}" >got.raw || cat got.raw
	sed 's/ *$//' got.raw >got
	diff want got
}
tried() { # SHELL FILE
	if ! command -v "$1" >/dev/null; then
		skip "$1 completes what is typed" "no $1"
		return
	fi
	ok "$1 finds no mistake in it" "$1" -n "$2"
	ok "$1 completes what is typed" types "$1" "$2"
}
tried bash "$made/cscope-mpi"
tried zsh "$made/_cscope-mpi"

# fish says itself what it would offer.
fish_types() {
	local line bad=0
	export HOME=$work
	while IFS='|' read -r line wanted; do
		line=${line% }
		fish --no-config -c "source '$made/cscope-mpi.fish'
			complete -C '$line'" 2>>fish.log | cut -f1 >offers
		wanted=${wanted##* }
		wanted=${wanted/#*,/}
		grep -qE "(^|[=,])$wanted\$" offers && [ "$(wc -l <offers)" = 1 ] && continue
		echo "$line: $(tr '\n' ' ' <offers)"
		bad=1
	done <lines
	cat fish.log
	return $bad
}
if command -v fish >/dev/null; then
	ok "fish finds no mistake in it" fish --no-execute "$made/cscope-mpi.fish"
	ok "fish completes what is typed" fish_types
else
	skip "fish completes what is typed" "no fish"
fi

# No option of the manual page is left out, and none is more.
all_options() {
	local command help
	for command in '' show compare baseline learn check; do
		help=--help
		[ -n "$command" ] || help+="=all"
		"$CS_PROGRAM" ${command:+"$command"} "$help" |
			grep -oE '^ +(-.,? )? *--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u >"want.$command"
		bash -c '. "$0"; _cscope_mpi_table "" "$1"; printf "%s\n" ${options//=/}' \
			"$made/cscope-mpi" "$command" | sort -u | diff "want.$command" - || return 1
	done
}
ok "each command has all of its options" all_options
finish
