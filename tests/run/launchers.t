#!/bin/bash
# launch/: each script says the command that it runs, runs just that, and passes on
# options and status.  Launchers and program are stand-ins that say what they were given.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
launch=$TESTDATA/../launch
unset CSCOPE MPIRUN	# those of the test, not an operator's

mkdir bin
cat >bin/stand-in <<'END'
#!/bin/bash
echo "${0##*/} $*" >>calls
case ${0##*/} in
cscope-mpi) exit "${STATUS:-0}" ;;
*)	while [ $# -gt 0 ] && [ "${1##*/}" != cscope-mpi ]; do shift; done
	"$@" ;;
esac
END
chmod +x bin/stand-in
for name in srun mpirun flux cscope-mpi; do
	ln -s stand-in bin/$name
done
PATH=$work/bin:$PATH
printf 'n1\nn2\n' >hosts

start() { # SCRIPT ARGUMENT...
	local script=$1
	shift
	skip=''
	: >calls
	"$launch/$script" "$@" >out 2>err
	status=$?
}

says_and_does() { # PATTERN
	cat err calls
	grep -qE -- "^\+ $1" err && grep -qE -- "^$1" calls
}

runs_with_options() {
	grep -q '^cscope-mpi .*--suite quick --check.* -s 1M$' calls
}

each() { # SCRIPT PATTERN ARGUMENT...
	local script=$1 pattern=$2
	shift 2
	start "$script" "$@" -s 1M
	ok "$script says its command and runs it" says_and_does "$pattern"
	ok "$script passes on options" eval "status_is 0 && runs_with_options"
	STATUS=2 start "$script" "$@"
	ok "$script ends with the status of the program" status_is 2
}

each fleet-mpi.sbatch 'srun --mpi=pmix .*cscope-mpi '
each slurm-srun 'srun --mpi=pmix -N 2 --ntasks-per-node=4 ' 2 4
each mpirun-hostfile 'mpirun --hostfile hosts --map-by ppr:4:node' hosts 4
each flux-run 'flux run -N 2 --tasks-per-node=4 ' 2 4

export PBS_NODEFILE=hosts
CSCOPE_OPTIONS='-s 1M' start fleet.pbs
ok "fleet.pbs says its command and runs it" says_and_does "mpirun --hostfile hosts "
ok "fleet.pbs passes on options" eval "status_is 0 && runs_with_options"

export SLURM_JOB_ID=77 SLURM_JOB_NODELIST='n[1-2]'
mkdir cscope-fleet-77
touch cscope-fleet-77/n1.jsonl cscope-fleet-77/n2.jsonl
start fleet-files.sbatch -s 1M
ok "fleet-files.sbatch measures on each node without MPI" \
	says_and_does 'srun --ntasks-per-node=1 .*cscope-mpi --no-mpi .*%N.jsonl'
ok "fleet-files.sbatch passes on options" eval "status_is 0 && runs_with_options"
ok "and judges all files against the list of nodes" says_and_does \
	'cscope-mpi check cscope-fleet-77/n1.jsonl cscope-fleet-77/n2.jsonl --nodes .?n\[1-2\]'
STATUS=2 start fleet-files.sbatch
ok "whatever the measuring ended with, and ends with the verdict's status" \
	eval "status_is 2 && grep -q '^cscope-mpi check' calls"

for script in slurm-srun mpirun-hostfile flux-run; do
	start $script
	ok "$script without arguments says how it is used" \
		eval "status_is 64 && grep -q '^usage: ' err && is_empty calls"
done

not_run_here() {
	head -n 12 "$launch/$1" | grep -q 'NOT RUN by'
}
ok "what was never run says so: Flux" not_run_here flux-run
ok "what was never run says so: PBS" not_run_here fleet.pbs

finish
