#!/bin/bash
# What the environment says of the launcher, against what MPI connects.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

quick=(--backend cpu -m peer -s 64K --cell-limit 50ms --precision 10%)
# a task of srun with the MPI plugin "none": MPI of size 1 in each
srun=(env -u PMIX_RANK SLURM_JOB_ID=77 SLURM_JOBID=77 SLURM_STEP_ID=0
	SLURM_STEPID=0 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=8 SLURM_LOCALID=0)

run_program 0 "${srun[@]}" SLURM_PROCID=0 "$CSCOPE" "${quick[@]}"
ok "eight tasks that MPI does not connect: said with the remedy" one_line \
	"srun started 8 tasks but MPI connects 1: use 'srun --mpi=pmix'"
ok "… status 3, nothing on stdout" eval 'status_is 3 && is_empty out'
run_program 0 "${srun[@]}" SLURM_PROCID=3 "$CSCOPE" "${quick[@]}"
ok "… and the other tasks say nothing" \
	eval 'status_is 3 && is_empty out && [ "$(lines err)" = 0 ]'
run_program 0 "${srun[@]}" SLURM_PROCID=3 "$CSCOPE" --size 12q
ok "a bad option in task 3 is left to task 0 to say" \
	eval 'status_is 64 && is_empty err && is_empty out'
run_program 0 "${srun[@]}" SLURM_PROCID=3 "$CSCOPE" --no-mpi "${quick[@]}"
ok "--no-mpi: each task is a job of its own" \
	eval 'status_is 0 && prints "2 x host memory"'
run_program 0 "${srun[@]}" SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 \
	"$CSCOPE" "${quick[@]}" -o step.json
ok "one task of srun needs no MPI" status_is 0
ok_json "… and the job is named in the JSON" step.json \
	'd["run"]["launcher"] == "srun" and d["run"]["job_id"] == "77"'

run_program 0 env SLURM_JOB_ID=78 "$CSCOPE" "${quick[@]}" -o batch.json
ok_json "a batch script's shell is no launcher" batch.json \
	'd["run"]["launcher"] == "none" and d["run"]["job_id"] == "78"'
run_program 0 env -i "$CSCOPE" "${quick[@]}"
ok "it measures with an empty environment" \
	eval 'status_is 0 && prints "2 x host memory"'
run 2 "${quick[@]}" -o two.json
ok_json "mpirun is seen, and its ranks" two.json \
	'd["run"]["launcher"] != "none" and d["run"]["n_ranks"] == 2'

# ---- colours, where a launcher gives rank 0 a terminal of its own ----

coloured() {
	grep -q "$(printf '\033')\\[" out
}
on_terminal() { # COMMAND...: its output is a terminal, from which `out` is read
	env -u NO_COLOR TERM=xterm "${PYTHON:-python3}" -c 'import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
with open("out", "wb") as out:
    try:
        while data := os.read(terminal, 65536):
            out.write(data)
    except OSError:  # nobody has it open
        pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$@" 2>err
	status=$?
}
printf '#!/bin/bash\n[ -t 1 ] && : >given\nexec "$@"\n' >terminals
chmod +x terminals
page=(show "$TESTDATA/../doc/results/h200x4/check.json" -v)
TERM=xterm run_program 1 ./terminals "$CSCOPE" "${page[@]}"
[ -e given ] || skip=${skip:-this launcher gives no terminal}
ok "mpirun > file: no colours, though rank 0 has a terminal of its launcher" \
	eval 'status_is 0 && prints "GPU" && ! coloured'
TERM=xterm run_program 1 "$CSCOPE" "${page[@]}" --color always
ok "… unless --color asks for them" eval 'status_is 0 && coloured'
if [ -e given ]; then
	on_terminal "$MPIRUN" 1 "$CSCOPE" "${page[@]}"
else
	skip="this launcher gives no terminal"
fi
ok "mpirun on a terminal: colours" eval 'status_is 0 && coloured'
skip=''
on_terminal "$CSCOPE" "${page[@]}"
ok "… as without a launcher" eval 'status_is 0 && coloured'

# ---- ranks of several versions ----

# the same program but for its version's number
"${PYTHON:-python3}" - "$CS_PROGRAM" "$("$CS_PROGRAM" --version | sed -n '1s/^cscope-mpi \([^ ]*\).*/\1/p')" <<'END'
import os
import sys

program = open(sys.argv[1], "rb").read()
# its end alone: a longer text that ends in it may hold it
was = sys.argv[2].encode() + b"\0"
assert was in program
with open("other", "wb") as file:
    file.write(program.replace(was, b"9" * (len(was) - 1) + b"\0"))
os.chmod("other", 0o755)
END
cat >mixed <<-'END'
	#!/bin/bash
	rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}
	program=$1
	shift
	case " $OTHERS " in *" $rank "*) program=./other ;; esac
	exec "$program" "$@"
END
chmod +x mixed
for others in 3 "1 2" 0; do
	OTHERS=$others run_program 4 ./mixed "$CS_PROGRAM" --seed 1 "${quick[@]}"
	command -v "${PYTHON:-python3}" >/dev/null || skip="no Python"
	ok "another version in rank $others of 4: status 3" status_is 3
	ok "… which one line says, with both" eval 'is_empty out &&
		one_line "rank 0 runs cscope-mpi [0-9.]+.*, rank [1-3] on .* runs cscope-mpi [0-9.]+"'
done

skip=''
run 2 --no-mpi "${quick[@]}" --pattern pair
ok "--no-mpi under mpirun: two jobs, each of one rank" eval \
	'status_is 0 && [ "$(grep -c "1 rank, 2 arenas" out)" = 2 ]'
finish
