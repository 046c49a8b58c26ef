#!/bin/bash
# The commands of README and of documents: each is one that the program takes.  What would
# measure says what it would do (--dry-run), what reads files reads them.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake

top=$TESTDATA/..
results=$top/doc/results
fake 8
mkdir -p runs doc site/known
cp -r "$top/doc/plans" doc/
ln -s "$(cd "$results" && pwd)" doc/results
cp "$results/h200x4/np4.json" run.json
cp run.json before.json
cp run.json after.json
cp run.json healthy1.json
for file in a1 a2 a3 b1 b2 b3 n1 model; do cp run.json "$file.json"; done
for file in a b c; do cp "$results/h200x4/place-np4.json" "$file.json"; done
cp "$top/doc/thresholds/published.csv" acceptance.csv
cp run.json runs/n001.jsonl
cp run.json runs/n001.json
small=(-m peer -s 64K --samples 3)

# Command lines of FILE, without their comments, lines that go on as one.
commands() { # FILE
	sed -e ':on' -e '/\\$/N; s/\\\n *//; t on' "$1" |
		sed -n 's/^    \(.*cscope-mpi\( .*\)\{0,1\}\)$/\1/p; s/^    \(comm_scope .*\)$/\1/p; s/^    \(nvbandwidth .*\)$/\1/p' |
		sed 's/  *#.*//'
}

# Those within its sentences.
spans() { # FILE
	grep -oE '`(mpirun -np [0-9]+ )?cscope-mpi[^`]*`' "$1" | tr -d '`'
}

# What stands behind the name of the program, as the shell takes it apart.
try() { # COMMAND LINE
	local line=${1//\/site\//site\/}
	case $line in
	*--suite*' -o '*) line=${line%% -o *} ;; # what it would measure
	esac
	eval "set -- ${line#*cscope-mpi}"
	case $line in
	nvbandwidth*) # its own tests measure
		ln -sf "$CS_PROGRAM" nvbandwidth
		eval "$TESTDATA/patience 60 ./$line -l" >out 2>err
		;;
	comm_scope*)
		ln -sf "$CS_PROGRAM" comm_scope
		eval "$TESTDATA/patience 60 ./$line --benchmark_list_tests=true" >out 2>err
		;;
	*' show '* | *' compare '* | *' baseline '* | *' learn '* | *' check '* | *--list* | *--explain*)
		"$TESTDATA/patience" 60 "$CSCOPE" "$@" >out 2>err
		;;
	*' -o '* | *--resume*) # a journal to go on with is that of the command before
		"$TESTDATA/patience" 60 "$CSCOPE" --no-mpi "${small[@]}" "$@" >out 2>err
		;;
	*--check=topology* | *--check=launch*)
		"$TESTDATA/patience" 60 "$CSCOPE" --no-mpi "$@" >out 2>err
		;;
	*--dry-run*) # with all that it needs
		"$TESTDATA/patience" 60 "$CSCOPE" --no-mpi "$@" >out 2>err
		;;
	*)
		"$TESTDATA/patience" 60 "$CSCOPE" --no-mpi --dry-run --gpus 8 "$@" >out 2>err
		;;
	esac
	status=$?
	# findings of a machine that is none are not what is asked
	[ "$status" -le 2 ]
}

n_commands=0
documents=(README.md doc/{COMMANDS,COMMSCOPE,COST,INTEGRATIONS,NVBANDWIDTH,PLACEMENT,PLANS,READING}.md
	doc/{THRESHOLDS,UNIFIED}.md)
for file in "${documents[@]}"; do
	while read -r line; do
		n_commands=$((n_commands + 1))
		ok "$file: ${line#*cscope-mpi}" try "$line"
	done < <(commands "$top/$file" | grep -v '^cscope-mpi [0-9]')
done
for file in "${documents[@]}"; do
	while read -r line; do
		ok "$file: ${line#*cscope-mpi}" try "$line"
	done < <(spans "$top/$file" | grep -E -- ' --| (show|compare) .*json' | grep -v 'FILE')
done
ok "they are all of them" [ "$n_commands" -gt 40 ]
ok "one that is none would be found" eval '! try "cscope-mpi --matrix pear"'
finish
