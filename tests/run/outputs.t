#!/bin/bash
# What is written where, in which form, and what is said when it cannot be.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

# the double's figures where there is one, else host memory
if [ -n "${HAVE_CUDA:-}" ]; then
	fake 4
	some=(-m peer -s 64K)
else
	some=(--backend cpu -m peer -s 64K --cell-limit 50ms --precision 10%)
fi

run 4 "${some[@]}" -o a.json -o a.jsonl -o a.csv -o a.txt
ok "several -o in one run" eval \
	'status_is 0 && for f in json jsonl csv txt; do [ -s a.$f ] || exit 1; done'
ok_schema "document and journal follow the schema" a.json a.jsonl
ok "the text file has the bytes of standard output" same a.txt out
ok "text is ASCII, 90 columns at most" \
	eval '! LC_ALL=C grep -nP "[^\x20-\x7e]|^.{91}" a.txt'
ok_json "the journal begins with the run and ends with the verdict" a.jsonl \
	'd[0]["kind"] == "run" and d[-1]["kind"] == "verdict" and d[-1]["exit"] == 0'
ok_json "… and has every result of the document, unchanged" a.jsonl \
	'[{k: v for k, v in r.items() if k != "kind"} for r in d if r["kind"] == "result"] == __import__("json").load(open("a.json"))["results"]'
ok_json "the CSV has the same figures" a.json \
	'[r["value"] for r in d["results"]] == [float(r["value"]) for r in __import__("csv").DictReader(open("a.csv"))]'
ok_json "… and the same columns, but for the samples" a.json \
	'[k for k in d["results"][0] if k != "samples"] == next(__import__("csv").reader(open("a.csv")))'
ok_json "matrices are the results: row is the source" a.json \
	'all(m["values"][i][j] == r["value"] for m in d["matrices"] for r in d["results"] if r["test"] == m["test"] and r["metric"] == "rate" and "control" not in r["flags"] for i in [m["rows"].index(r["src"])] for j in [m["columns"].index(r["dst"])])'
ok_json "the document says how it ended" a.json \
	'd["run"]["status"] == "complete" and d["run"]["exit"] == 0 and d["run"]["n_ranks"] == 4'
ok "no temporary file is left" eval '[ "$(echo a.*)" = "a.csv a.json a.jsonl a.txt" ]'

# ---- standard output ----

# launchers of Open MPI can say which rank a line is from
OMPI_MCA_orte_tag_output=1 PRTE_MCA_prte_tag_output=1 run 4 "${some[@]}"
grep -q '^\[.*<stdout>' out || skip="this launcher does not tag output"
ok "only rank 0 prints, and nothing but the report" eval \
	'sed "s/^[^>]*>[: ]*//" out | grep -c "^cscope-mpi .*--matrix peer" | grep -qx 1 &&
	 ! grep "<stdout>" out | grep -v "^\[[0-9]*,0\]"'
OMPI_MCA_mpi_show_mca_params=enviro run 4 "${some[@]}" -f json
cp out json.json
ok_json "-f json: standard output is one document, whatever MPI prints" \
	json.json 'd["schema"] == "cscope-mpi/1"'
run 4 "${some[@]}" -f jsonl
cp out out.jsonl
ok_schema "-f jsonl: standard output is a journal" out.jsonl
run 2 "${some[@]}" -f csv
ok "-f csv: a line of names, then lines of as many fields" eval \
	'head -n 1 out | grep -q "^node,test," && sed "s/\"[^\"]*\"//g" out |
	 awk -F, "NR == 1 { n = NF } NF != n { exit 1 }"'
run 2 "${some[@]}" -f result
ok "-f result: a line for each test" eval \
	'[ "$(grep -cE "^result peer\.[a-z.]+ [^ ]+ min [0-9.]+ median [0-9.]+ max [0-9.]+ GB/s [0-9]+/[0-9]+ cells" out)" = 2 ] &&
	 [ "$(wc -l <out)" = 2 ]'
run 2 "${some[@]}" -q -o quiet.json
ok "-q: nothing on standard output, one's files are written" eval \
	'is_empty out && [ -s quiet.json ]'
ok "… and nothing of ours on standard error" eval '[ "$(lines err)" = 0 ]'
run 2 "${some[@]}" -v
ok "-v says more" eval 'status_is 0 && [ "$(wc -l <out)" -ge "$(wc -l <a.txt)" ]'

# ---- names ----

SLURM_JOB_ID=81233 run 0 "${some[@]}" --no-mpi -o '%N_%j_%t_%%.json'
host=$(uname -n)
ok "%N, %j, %t and %% in a name" eval \
	'ls | grep -qE "^${host%%.*}_81233_[0-9]{8}T[0-9]{6}Z_%\.json$"'
run 0 "${some[@]}" -o '%j.json'
ok "%j without a job is none" eval '[ -s none.json ]'
echo old >replaced.json
ln replaced.json link.json
run 0 "${some[@]}" -o replaced.json
ok "a file is replaced, not written over" eval \
	'grep -qx old link.json && grep -q cscope-mpi/1 replaced.json'

mkdir inner && cd inner || exit
SLURM_JOB_ID=../x run 0 "${some[@]}" --no-mpi -q -o '%j.json'
ok "a job's id leads to no other folder" eval \
	'status_is 0 && [ -s _._x.json ] && [ ! -e ../x.json ]'
cd ..
rm link.json
ln -s replaced.json link.json
run 0 "${some[@]}" -q -o link.json
ok "a link is followed and stays" eval \
	'status_is 0 && [ -L link.json ] && ! grep -qx old replaced.json'

# ---- one journal ----

# cells enough to be stopped in the middle on a busy machine too
alone=(--backend cpu -m peer --gpus 4 -s 1M --seed 1 --cell-limit 400ms
	--precision 0.001% --no-mpi -q -o one.jsonl)
begin 0 "${alone[@]}"
until_true 20 measuring one.jsonl 1
pkill -STOP -P "$begun" # the process that measures
cp one.jsonl then.jsonl
for i in 1 2 3; do
	"$CSCOPE" "${alone[@]}" 2>>refused
	echo "exit $?" >>refused
done
ok "three more processes write to a journal: status 74, in one line each" eval \
	'[ "$(grep -c "cannot write .one.jsonl.: it is being written already" refused)" = 3 ] &&
	 [ "$(grep -c "^exit 74" refused) $(wc -l <refused)" = "3 6" ]'
ok "… and leave it alone" same then.jsonl one.jsonl
pkill -CONT -P "$begun"
end_within 20
ok_json "… which goes on to its verdict" one.jsonl \
	'd[-1]["kind"] == "verdict" and d[-1]["status"] == "complete"'

# ---- what cannot be written ----

CS_TIMEOUT=20 run 4 "${some[@]}" --cell-limit 60s -o good.jsonl -o nowhere/x.json
ok "an output that cannot be written: status 74" status_is 74
ok "… said in one line" \
	one_line "cannot write 'nowhere/x.json': No such file or directory"
ok "… and all is measured" eval \
	'prints "^peer" && grep -q "\"kind\":\"result\"" good.jsonl'
ok_schema "… the journal that could be opened is whole" good.jsonl
ok_json "… with the status of what was measured" good.jsonl \
	'd[-1]["exit"] == 0 and d[-1]["status"] == "complete"'
mkdir folder.json
run 0 "${some[@]}" -o folder.json
ok "a folder of that name: status 74, in one line" eval \
	'status_is 74 && one_line "folder.json"'
skip=''
printf -v name '%0251d.json' 1
run 0 "${some[@]}" --cell-limit 60s -o good.jsonl -o "$name"
ok "a name that is too long: status 74, in one line" eval \
	'status_is 74 && one_line "File name too long" && prints "^peer"'
: >fixed.json
chattr +i fixed.json 2>/dev/null || skip="no immutable files here"
run 0 "${some[@]}" --cell-limit 60s -o good.jsonl -o fixed.json
chattr -i fixed.json 2>/dev/null
ok "a file that may not be replaced: the same" eval \
	'status_is 74 && one_line "fixed.json.: Operation not permitted" && prints "^peer"'
skip=''
if [ -e /dev/full ]; then
	"$CSCOPE" "${some[@]}" --no-mpi >/dev/full 2>err
	status=$?
	: >out
else
	skip="no /dev/full"
fi
ok "standard output that is full is not status 0" eval \
	'! status_is 0 && says_once "cannot write the report"'
finish
