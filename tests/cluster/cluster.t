#!/bin/bash
# Several hosts and a real Slurm on this machine: `make check-cluster`.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/cluster.sh"
cluster_begin "$0" "$@"
. "$TESTDATA/run/lib.sh"
unset TMPDIR CS_CLUSTER
needs_fake

export FAKE_GPUS=2 PMIX_MCA_psec=native OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
task=$TESTDATA/cluster/task
launch=$shared/source/launch
rsh=(--mca plm rsh --mca plm_rsh_agent "$TESTDATA/cluster/rsh")
# a launcher that waits for the tasks of lost hosts, which ends none of the others
lasting=(srun --mpi=pmix --no-kill -K0)
long=(--backend cpu -m peer -s 32M --cell-limit 3s --precision 0.001%)

# Several at a time, each with files of its own.
declare -A pid_of
start() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$name.out" 2>"$name.err" </dev/null &
	pid_of[$name]=$!
}

end_of() { # NAME SECONDS
	begun=${pid_of[$1]}
	end_within "$2"
	cp "$1.out" out
	cp "$1.err" err
}

host_lost() { # HOST...
	local host
	for host; do
		drop "$host" || return
	done
}

# Of this host's processes none is left, of what was started there.
none_on() { # HOST...
	local host
	for host; do
		! on_host "$host" pgrep -a 'cscope-(mpi|guard)' || return
	done
}

hosts_are() { # FILE HOST...
	local file=$1
	shift
	json "$file" "sorted(n['host'] for n in d['nodes']) == '$*'.split()"
}

ok "twelve hosts on this machine" make_hosts 12
ok "Slurm over them" start_slurm 12
all_idle 12 || {
	echo "Bail out! no cluster to test on"
	exit 1
}

# ---- what takes long: hosts that are lost ----

# its driver hangs, so that there is no plan yet
start early env CS_HOST_ENV=cs8:FAKE_HANG=cuInit:1 \
	"${lasting[@]}" -w 'cs[7-8]' -n 4 --ntasks-per-node=2 \
	"$task" "$CSCOPE" --start-limit 10s -m peer -s 1M -o early.json
is_up() {
	on_host cs8 pgrep cscope-mpi >/dev/null
}
until_true 20 is_up
sleep 3 # nothing shows that MPI has started
ok "a host is lost before there is a plan" host_lost cs8

start root "${lasting[@]}" -w 'cs[5-6]' -n 4 --ntasks-per-node=2 \
	"$task" "$CSCOPE" "${long[@]}" -o root.json -o root.jsonl
until_true 30 measuring root.jsonl 1
ok "rank 0's host is lost in the middle of a job" host_lost cs5

# its driver hangs when all is measured
start late env CS_HOST_ENV=cs10:FAKE_HANG=cuMemFree:1 \
	"${lasting[@]}" -w 'cs[9-10]' -n 4 --ntasks-per-node=2 \
	"$task" "$CSCOPE" -m peer -s 1M -o late.json
until_true 30 test -e late.json
ok "a host is lost when all is measured" host_lost cs10

# its device hangs, so that nothing is known of it but its name
start mute env CS_HOST_ENV=cs12:FAKE_HANG=cuMemAlloc:1 \
	"${lasting[@]}" -w 'cs[11-12]' -n 4 --ntasks-per-node=2 \
	"$task" "$CSCOPE" -m peer -s 1M -o mute.json -o mute.jsonl -o mute.csv
# cs11 is open, so that all have agreed on the plan
until_true 30 grep -qs '"kind":"node"' mute.jsonl
ok "a host is lost while it opens its GPUs" host_lost cs12

# ---- one job over all hosts ----

four=(-w 'cs[1-4]' -N 4)
run_program 0 srun --mpi=pmix "${four[@]}" --ntasks-per-node=2 \
	"$task" "$CSCOPE" -m peer -s 1M -o srun.json -o srun.jsonl
ok "srun --mpi=pmix over four hosts: status 0" status_is 0
ok "… each a node with its name" hosts_are srun.json cs1 cs2 cs3 cs4
ok_json "… the job's number and launcher are known" srun.json \
	'd["run"]["launcher"] == "srun" and d["run"]["job_id"].isdigit()'
ok "… and all are alike" prints "4 of 4 nodes alike.*cs\[1-4\]"
ok_schema "… in files that follow the schema" srun.json srun.jsonl

cat >job.sh <<-SCRIPT
	#!/bin/bash
	mpirun -N 2 --oversubscribe $task $CSCOPE -m peer -s 1M -o batch.json
SCRIPT
run_program 0 sbatch -W "${four[@]}" --ntasks-per-node=2 -o batch.out job.sh
ok "mpirun inside sbatch: status 0" status_is 0
ok "… on all its hosts" hosts_are batch.json cs1 cs2 cs3 cs4

run_program 0 mpirun "${rsh[@]}" --host cs1:2,cs2:2,cs3:2 -N 2 \
	"$task" "$CSCOPE" -m peer -s 1M -o plain.json
ok "mpirun with a list of hosts and no Slurm: status 0" status_is 0
ok "… on all of them" hosts_are plain.json cs1 cs2 cs3

run_program 0 srun --mpi=pmix "${four[@]}" --ntasks-per-node=2 --gpus-per-task=1 \
	"$task" "$CSCOPE" -m peer -s 1M -o masked.json -o masked.csv
ok "one GPU per task, which Slurm masks: status 0" status_is 0
ok_json "… each node has both, one of each rank" masked.json \
	'[(a["index"], a["local_rank"]) for a in d["agents"]] == [(0, 0), (1, 1)] * 4'
ok "… and every pair was measured" all_ok masked.csv 16

run_program 0 srun --mpi=none -w cs1 -n 2 "$task" "$CSCOPE" -m peer -s 1M
ok "srun without PMIx: said with the remedy" says_once \
	"srun started 2 tasks but MPI connects 1: use 'srun --mpi=pmix'"
ok "… status 3, nothing on stdout" eval 'status_is 3 && is_empty out'

cat >program <<-SCRIPT
	#!/bin/sh
	exec $task $CSCOPE "\$@"
SCRIPT
chmod +x program
CSCOPE=$PWD/program run_program 0 sbatch -W "${four[@]}" --ntasks-per-node=2 \
	--gpus-per-node=2 "$launch/fleet-mpi.sbatch" -s 1M
ok "launch/fleet-mpi.sbatch: status 0" status_is 0
mv cscope-fleet-*.out out
ok "… has judged all hosts" prints "^4 nodes, all measured, no fault"
CSCOPE=$PWD/program run_program 0 "$launch/slurm-srun" 4 2 -s 1M
ok "launch/slurm-srun: status 0" status_is 0
ok "… has judged all hosts" prints "^4 nodes, all measured, no fault"

# ---- files of independent nodes, judged together ----

run_program 0 srun --mpi=none "${four[@]}" --ntasks-per-node=1 \
	"$task" "$CSCOPE" --no-mpi --seed 1 -m peer -s 1M -q -o "$PWD/%N.jsonl"
ok "each host writes a file, without MPI: status 0" status_is 0
ok_schema "… named after it, which follows the schema" cs{1,2,3,4}.jsonl
run_program 0 "$CSCOPE" check cs{1,2,3,4}.jsonl --nodes 'cs[1-4]'
ok "… and check finds them alike: status 0" status_is 0
run_program 0 "$CSCOPE" check cs{1,2,3}.jsonl --nodes 'cs[1-4]'
ok "… but misses the file of a host" eval 'status_is 2 && says_once "cs4"'
CSCOPE=$PWD/program CS_HOST_ENV=cs3:FAKE_NVLINKS_DOWN=1:1 run_program 0 sbatch -W \
	"${four[@]}" --gpus-per-node=2 "$launch/fleet-files.sbatch" -s 1M
cat cscope-fleet-*.out >out
ok "launch/fleet-files.sbatch with a link that is down on one host: status 2" \
	status_is 2
ok "… which is named, and no other" eval \
	'prints "^  critical cs3: " && ! prints "^  (critical|warning) [^:]*(cs[124]|cs\[)"'

# ---- the program in a prolog, which has no environment but Slurm's ----

prolog() { # WHAT THE DRIVER'S DOUBLE DOES
	cat >new-prolog <<-SCRIPT
		#!/bin/sh
		env >$PWD/prolog.env
		export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_GPUS=2 $1
		exec $launch/slurm-prolog $CSCOPE 25s -s 1M --suite quick --check >$PWD/prolog.out
	SCRIPT
	chmod +x new-prolog
	mv new-prolog "$shared/slurm/prolog"
}

is_drained() { # HOST
	sinfo -h -n "$1" -o %T | grep -q drain
}

prolog ''
run_program 0 srun -w cs4 --gpus-per-node=2 uname -n
ok "launch/slurm-prolog has no PATH, and Slurm's word of the GPUs" eval \
	'! grep -q ^PATH= prolog.env && grep -qx SLURM_JOB_GPUS=0,1 prolog.env'
ok "… and lets a job onto a healthy host" eval 'status_is 0 && prints "^cs4$"'
prolog FAKE_CORRUPT=0-1:5
CS_TIMEOUT=20 run_program 0 srun -w cs4 --gpus-per-node=2 uname -n
ok "… but not onto one that corrupts data" eval '! status_is 0 && is_empty out'
ok "… for a reason of one line" eval \
	'[ "$(wc -l <prolog.out)" = 1 ] && grep -q cs4 prolog.out'
ok "… and Slurm drains the host" until_true 10 is_drained cs4
prolog ''

# ---- hosts that are lost while others measure ----

start lost "${lasting[@]}" -w 'cs[1-3]' -n 6 --ntasks-per-node=2 \
	"$task" "$CSCOPE" "${long[@]}" -o lost.json -o lost.jsonl
until_true 30 measuring lost.jsonl 1
ok "a host is lost in the middle of a job" host_lost cs3
end_of lost 60
ok "… which ends with status 2, in time" \
	eval 'was_in_time && status_is 2'
ok "… in one line that names the host" says_once \
	"cs3: no message from the node for 10 s; its earlier results are kept"
ok_json "… found as critical: to be drained" lost.json \
	'[(e["severity"], e["node"], e["part"], e["drain"]) for e in d["errors"] if e["id"] == "node-lost"] == [("critical", "cs3", "node", True)]'
ok_json "… and the others' plan is complete" lost.json \
	'all(v is not None for m in d["matrices"] if m["node_index"] < 2 for i, row in enumerate(m["values"]) for j, v in enumerate(row) if i != j)'
ok_schema "… in files that follow the schema" lost.json lost.jsonl

# mpirun ends the job with its daemon
start plain mpirun "${rsh[@]}" --host cs1:2,cs2:2 -N 2 \
	"$task" "$CSCOPE" "${long[@]}" -o plain.jsonl
until_true 30 measuring plain.jsonl 1
ok "a host is lost under mpirun" host_lost cs2
end_of plain 60
ok "… which ends the job" was_in_time
ok "… and the journal keeps its rows" measuring plain.jsonl 1

# ---- those from before ----

end_of mute 60
ok "one that was lost while it opened its GPUs: status 2, in time" \
	eval 'was_in_time && status_is 2'
ok "… named all the same" says_once \
	"cs12: no message from the node for 10 s; it sent no result"
ok "… in text" prints "^cs12  nothing known"
ok_json "… and in the document, and nothing else is reported of it" mute.json \
	'[n["host"] for n in d["nodes"]] == ["cs11", "cs12"] and [e["node"] for e in d["errors"] + d["checks"]] == ["cs12"]'
ok "… and the other's plan is complete" all_ok mute.csv 4
ok_schema "… in files that follow the schema" mute.json mute.jsonl
run_program 0 "$CSCOPE" show mute.jsonl
ok "… and its journal shows what the run showed" same mute.out out

end_of late 60
ok "one that was lost when all was measured: status 2, in time" \
	eval 'was_in_time && status_is 2'
ok "… in one line that names the host" says_once \
	"while closing: .* on 'cs10'; all results are written"
ok_json "… and the document is whole" late.json \
	'd["run"]["status"] == "complete" and len(d["results"]) == 10'

end_of root 90
ok "without rank 0 the others end by themselves" was_in_time
ok "… none of them is left" none_on cs6
ok "… and its journal keeps the rows" measuring root.jsonl 1
end_of early 120
ok "without a host and a plan the others end by themselves, status 3" \
	eval 'was_in_time && status_is 3'
ok "… none of them is left" none_on cs7
ok "… in one line that names the host" says_once "on 'cs8'"
finish
