#!/bin/bash
# Many nodes: their files, each written without MPI, and one job, judged as one.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
needs_host_names

# The file of one node; what differs there as FAKE_... in its environment.
node() { # HOST VARIABLE=VALUE... [-- ARGUMENT...]
	local host=$1 set=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		set+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	as_host "$host" env "${set[@]}" "$CSCOPE" --no-mpi -q -s 64K --seed 1 --cell-limit 30s \
		-o "$folder/%N.jsonl" "$@" 2>>log </dev/null
}
fleet() { # FOLDER HOST...
	folder=$1
	shift
	mkdir -p "$folder"
	for host; do
		node "$host"
	done
}
check() { # ARGUMENT...
	run 0 check "$@"
}
# "id host severity drain", of judgements and errors that are no notes
found() { # FILE.json
	"${PYTHON:-python3}" -c 'import json, sys
for e in (d := json.load(open(sys.argv[1])))["checks"] + d["errors"]:
    if e["severity"] != "note":
        print(e["id"], e["node"], e["severity"], "drain" if e["drain"] else "-")' "$1" | sort
}
finds() { # FILE.json LINE...
	local file=$1
	shift
	found "$file" >got
	printf '%s\n' "$@" | sed '/^$/d' | sort | diff - got
}

fake 4
fleet alike n01 n02 n03 n04 n05
check alike/*.jsonl -o alike.json --nodes 'n[01-05]'
ok "nodes that are alike: status 0" status_is 0
ok "… nothing is reported" finds alike.json ""
ok "… all in one class" prints "all of class unknown product; NVIDIA H200$"
ok "… six lines of 80 columns at most, the last says that none is to be drained" eval \
	'[ "$(grep -c "" out)" -le 6 ] && ! grep -E "^.{81}" out && [ "$(tail -n 1 out)" = "drain: none" ]'
check alike/*.jsonl -v
ok "… with -v their names" prints "class unknown product; NVIDIA H200: 5 nodes n\\[01-05\\]"
check alike/*.jsonl -o alike.json
ok_schema "the document follows the schema" alike.json
ok_json "nodes have fingerprints, the same ones" alike.json \
	'len({str(n["fingerprint"]) for n in d["nodes"]}) == 1 and len(d["nodes"][0]["fingerprint"]["wiring"]) == 16'
check alike/n0[1-3].jsonl -o some.json
check alike/n02.jsonl alike/n03.jsonl alike/n01.jsonl -o turned.json
ok "the order of files does not show" same some.json turned.json
check alike.json -o again.json
ok "what was put together is judged again to the same bytes" same alike.json again.json

cp -r alike faults
folder=faults
node n06 FAKE_GPUS=3
node n07 FAKE_NVLINKS_DOWN=2:1
node n08 FAKE_VBIOS=1:96.00.00.00.02
node n09 FAKE_PERSISTENCE=0
check faults/*.jsonl -o faults.json
ok "nodes that differ: status 2" status_is 2
ok "… each is named, with its gravity, and nobody else" finds faults.json \
	"wiring-differs n06 critical drain" "nvlink-down n07 critical drain" \
	"firmware-differs n08 warning -" "settings-differs n09 warning -"
ok "… a missing GPU as such" prints "n06: gpus: 3, where most nodes of its class have 4 \\[wiring-differs, drain\\]"
ok "… a GPU with its bus id" eval \
	'prints "n07: GPU 2: 17 of 18 NVLinks are up" && prints "where: n07 GPU 2 0000:3c:00.0 GPU-"'
ok "… the first line says how many nodes are to be drained, and which" eval \
	'[ "$(grep -v ^VIRTUAL out | head -n 1)" = "2 of 9 nodes should be drained: n[06-07]" ]'
ok "… and first the nodes to drain, alone on a line, before what they rest on" eval \
	'[ "$(sed -n "/act on:/,/^drain/p;/^  critical/q" out | tail -n 1)" = "drain: n[06-07]" ]'
ok "… behind a line for each fault: where, what to do, which GPU" eval \
	'prints "^  n07  drain  GPU 2 \(0000:3c:00.0, serial 1650023000002\): 17 of 18 NVLinks are up$" &&
	 prints "^  n06  drain  node: gpus: 3, where" && prints "^  n08  watch  GPU 1 \(0000:2b:00.0, serial [0-9]+\): vbios" &&
	 prints "^4 faults to act on:$"'
ok_json "… in the document" faults.json \
	'[(a["node"], a["action"], a["serial"], a["remeasured"]) for a in d["actions"] if a["node"] in ("n07", "n09")] == [("n07", "drain", "1650023000002", None), ("n09", "watch", None, None)]'
ok_schema "… which follows the schema" faults.json
check faults/*.jsonl -f prom
ok "… and a series for each node and action" eval \
	'prints "^cscope_mpi_actions.Hostname=.n07.,action=.drain.. 1$" && prints "^cscope_mpi_actions.Hostname=.n01.,action=.drain.. 0$"'
check faults/*.jsonl --drain-command slurm
ok "--drain-command prints what drains them, and nothing else" eval \
	'[ "$(grep -c "" out)" = 2 ] && prints "^scontrol update NodeName=n07 State=DRAIN Reason=.cscope-mpi: GPU 2 .*17 of 18 NVLinks are up.$"'
check faults/*.jsonl --drain-command 'keep out %n, 100%%: %r'
ok "… by a template" prints "^keep out n06, 100%: .cscope-mpi: node: gpus: 3"
ok "the last word on stderr says why" one_line "critical: n07: GPU 2: 17 of 18 NVLinks are up \\(and 1 more\\) \\(exit 2\\)"

# hosts and serial numbers that a shell would run
cp -r faults hostile
"${PYTHON:-python3}" -c 'import re, sys
file = "hostile/n07.jsonl"
text = open(file).read()
for i, hostile in enumerate(sys.argv[1:]):
    text = re.sub("\"serial\":\"[^\"]*\"", lambda _: "\"serial\":\"%s\"" % hostile, text)
    open("hostile/%d.jsonl" % i, "w").write(text.replace("\"n07\"", "\"%s\"" % hostile))' \
	"';touch gone;'" '$(touch gone)' '`touch gone``'
rm hostile/n07.jsonl
check hostile/*.jsonl --drain-command 'words %n "and %%" State=%r'
quote=\'
words() { printf '%s|' "$#" "$@"; echo; }
ok "a shell reads each text of hostile files in a drain command as one word" eval \
	'(. ./out) >said && [ ! -e gone ] && [ "$(grep -c "^3|[a-zA-Z0-9_]*|and %|State=cscope-mpi: .*|$" said)" = 4 ] &&
	 grep -qF "serial $quote;touch gone;$quote)" said && grep -qF "serial \$(touch gone)" said && grep -qF "serial \`touch gone\`\`)" said'
refused() { # TEMPLATE REASON
	check faults/*.jsonl --drain-command "$1"
	status_is 64 && one_line "--drain-command .*: $2"
}
for template in "x '%r'" 'x "%n"' 'x \%r' 'x $A%n'; do
	ok "a drain command is refused that has quotes of its own round a text: $template" \
		refused "$template" "%n and %r are printed with their quotes"
done
ok "… in which a shell would replace more than a variable" eval \
	'refused "x \`y\`" "of what a shell" && refused "x \$(y) %n" "of what a shell"'
ok "… that goes on in the next line" eval \
	'refused "x %n \"" "a quote" && refused "x <<E %n" "outside of quotes" && refused "x %n \\" "a quote"'

many() { # FOLDER NODES NODE: so many nodes, of which that one is n07
	mkdir "$1"
	"${PYTHON:-python3}" -c 'import sys
folder, nodes, ill = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(nodes):
    of = "n07" if i == ill else "n01"
    text = open(f"faults/{of}.jsonl").read().replace(f"\"{of}\"", f"\"m{i:04}\"")
    with open(f"{folder}/m{i:04}.jsonl", "w") as file:
        file.write(text.replace("\"id\":\"", f"\"id\":\"{i}-", 1))' "$@"
}
for n in 16 1000; do
	many "of$n" "$n" "$((n - 2))"
	check "of$n"/*
	ok "$n nodes, one fault: one line, and who is to be drained" eval \
		'prints "^1 fault to act on:$" && [ "$(grep "^drain:" out)" = "drain: m$(printf %04d $((n - 2)))" ] &&
		 ! grep -E "^.{91}" out'
	rm "of$n"/m*"$((n - 2)).jsonl"
	check "of$n"/*
	ok "… without it six lines, the first of which says so" eval \
		'status_is 0 && [ "$(grep -c "" out)" -le 6 ] &&
		 [[ $(grep -v ^VIRTUAL out | head -n 1) == "$((n - 1)) nodes, all measured, no fault  "* ]]'
done

# ---- what a site expects ----

run 0 baseline alike/*.jsonl -o site.json
ok "a baseline says what healthy nodes are" eval 'status_is 0 && prints "what they are: "'
ok_json "… by field, with the links of all GPUs as one" site.json \
	'{("gpus", "4"), ("nvlinks", "18 of 18"), ("driver", "580.159.03")} <= {(f["field"], f["value"]) for f in d["classes"][0]["facts"]}'
check faults/*.jsonl --baseline site.json -o site-found.json
ok "… a node with 3 GPUs fails by it, and one with another VBIOS is a warning" eval \
	'finds site-found.json "not-expected n06 critical drain" "baseline-class n06 warning -" "nvlink-down n07 critical drain" \
		"not-expected n08 warning -" "not-expected n09 warning -"'
ok "… with what healthy nodes have" prints "n06: gpus: 3, where healthy nodes"
check faults/*.jsonl --baseline site.json --expect vbios=any,persistence=any -o waived.json
ok "… unless it is waived" finds waived.json "not-expected n06 critical drain" \
	"baseline-class n06 warning -" "nvlink-down n07 critical drain"
folder=alike
mkdir mixed
for host in n11 n12; do
	folder=mixed node "$host" FAKE_GPUS=2
done
check alike/*.jsonl mixed/*.jsonl -o mixed.json
ok "nodes with 4 and with 2 GPUs: nobody is drained" eval \
	'[ "$(grep "^drain:" out)" = "drain: none" ] && finds mixed.json ""'
run 0 --no-mpi -s 64K -m peer --seed 1 --cell-limit 9s --expect gpus=8,nvlinks=18,pcie=5x16 -o expect.json
ok "a run that is told of 8 GPUs fails with 4" eval \
	'status_is 2 && prints "gpus: 4, where --expect says 8"'
check expect.json
ok "… its file too, where nothing is said of what is expected" eval \
	'status_is 2 && prints "gpus: 4, where --expect says 8"'
check expect.json --expect gpus=4
ok "… and not where something else is" eval 'status_is 0 && prints_not "expect says"'
run 0 --no-mpi -s 64K -m peer --seed 1 --cell-limit 9s --expect gpus=4,nvlinks=18,pcie=5x16
ok "… and with 4 is told nothing" eval 'status_is 0 && prints_not "expect says"'
run 0 --no-mpi --expect gpus=8 --check=topology
ok "… also where nothing is measured" eval 'status_is 2 && prints "gpus: 4, where --expect says 8"'
for expect in gpu=8 gpus pcie=5 gpus= min-share=120% gpus=eight ecc=yes; do
	run 0 --no-mpi -m peer --expect "$expect"
	ok "--expect $expect is refused" eval 'status_is 64 && one_line "--expect: "'
done

cp -r alike cut
head -n 12 alike/n02.jsonl >cut/n02.jsonl
head -c 600 alike/n03.jsonl >cut/n03.jsonl
head -n 1 alike/n04.jsonl >cut/n04.jsonl
echo 'no journal' >cut/n05.jsonl
check cut/*.jsonl cut/n99.jsonl --nodes 'n[01-06]' -o cut.json
ok "files that are missing, cut or damaged: status 2" status_is 2
ok "… each is a finding, and the rest is judged" finds cut.json \
	"no-verdict n02 critical -" "file-unreadable None critical -" \
	"file-unreadable None critical -" "file-unreadable None critical -" \
	"no-verdict None critical -" \
	"node-missing n03 critical -" "node-missing n04 critical -" \
	"node-missing n05 critical -" "node-missing n06 critical -"
ok "… one line for equal ones" prints "n\\[03-06\\]: no file of it"
ok "… the journal without a node by its name" prints "cut/n04.jsonl: the journal has no verdict"
ok_schema "… the document follows the schema" cut.json
ok_json "… and has what there is of the rows" cut.json \
	'{r["node"] for r in d["results"]} == {"n01", "n02"}'
check cut/n05.jsonl
ok "no file that can be read: status 64 and one line" eval \
	'status_is 64 && one_line "n05.jsonl: line 1: not JSON" && is_empty out'
check nothere.jsonl
ok "no file at all: status 3" eval 'status_is 3 && one_line "cannot read .nothere.jsonl"'
check alike/*.jsonl --nodes 'n[01-04]' -o more.json
ok_json "a node that nobody expected is a note" more.json \
	'[(e["id"], e["node"]) for e in d["errors"]] == [("not-listed", "n05")]'
for list in 'n[1-' 'n[3-1]' '' 'a b' 'n[1-99999999]'; do
	check alike/*.jsonl --nodes "$list"
	ok "--nodes '$list' is refused: status 64, one line" eval \
		'status_is 64 && one_line "--nodes .*n\\[01-12,15\\],m3" && is_empty out'
done
check
ok "without a file: status 64" eval 'status_is 64 && one_line "check needs FILE"'

# the same host twice: by its own clock the later run counts
mkdir twice
sed 's/"started":"[^"]*"/"started":"2020-01-01T00:00:00Z"/; s/"value":[0-9.]*/"value":1.5/' \
	alike/n01.jsonl >twice/a.jsonl
cp alike/n01.jsonl twice/b.jsonl
cp alike/n0[23].jsonl twice
check twice/a.jsonl twice/b.jsonl twice/n0*.jsonl -o twice.json
check twice/n0*.jsonl twice/b.jsonl twice/a.jsonl -o eciwt.json
ok_json "of two runs of a host the later one counts, and a note says so" twice.json \
	'[(e["id"], e["node"]) for e in d["errors"]] == [("duplicate-host", "n01")] and len(d["nodes"]) == 3 and all(r["value"] != 1.5 for r in d["results"])'
ok "… whatever the order" same twice.json eciwt.json

# clocks that are years apart, and versions
mkdir clocks
for host in n01 n02 n03 n04; do
	cp "alike/$host.jsonl" clocks
done
sed -i 's/"started":"[^"]*"/"started":"1999-01-01T00:00:00Z"/; s/"ended":"[^"]*"/"ended":"2099-01-01T00:00:00Z"/' \
	clocks/n02.jsonl
check clocks/*.jsonl -o clocks.json
ok "clocks that disagree are not reported" eval 'status_is 0 && finds clocks.json ""'
sed -i 's/"version":"[^"]*"/"version":"0.0.9"/' clocks/n03.jsonl
check clocks/*.jsonl -o versions.json
ok "another version of the program is a warning" eval \
	'status_is 1 && finds versions.json "program-differs n03 warning -"'
sed -i 's/"version":"[^"]*"/"version":"0.0.9"/' clocks/n04.jsonl
check clocks/*.jsonl -o versions.json
ok "… without a majority nothing is reported" eval 'status_is 0 && finds versions.json ""'

# plans that differ: by seed, by tests, by number of GPUs
folder=plans
mkdir plans
node n01 -- --seed 2
node n02 -- --seed 3
node n03 -- --pattern pair
check plans/*.jsonl -o plans.json
ok_json "plans may differ: each node is judged by what it has" plans.json \
	'[e["id"] for e in d["errors"]] == ["plans-differ"] and {r["node"] for r in d["results"]} == {"n01", "n02", "n03"}'
ok "… status 0" status_is 0

folder=host
mkdir host
cp alike/n0[12].jsonl host
node n03 -- --backend cpu --gpus 2 --cell-limit 1ms
check host/*.jsonl -o host.json
ok "a node that measured host memory is found, and not judged" eval \
	'finds host.json "backend-differs n03 critical -"'
ok_json "… its figures are left out" host.json \
	'{r["node"] for r in d["results"]} == {"n01", "n02"}'

folder=looks
mkdir looks
for host in n01 n02 n03; do
	node "$host" -- --check=topology
done
node n04 FAKE_VBIOS=1:2 -- --check=topology
check looks/*.jsonl -o looks.json
ok "nodes that were only checked vote, too: status 1" eval \
	'status_is 1 && finds looks.json "firmware-differs n04 warning -"'

check faults/*.jsonl cut/n04.jsonl cut/n05.jsonl --redact -o redacted.json -o redacted.txt
ok "--redact takes the names away" eval '! grep -qE "n0[1-9]" redacted.json redacted.txt'
check faults/*.jsonl -q -o faults.csv -o faults.txt
ok "-o writes the formats of show, -q prints nothing" eval \
	'is_empty out && [ "$(grep -c . faults.csv)" -gt 100 ] && grep -q "drain: " faults.txt'

# the second file is available before the first
turned_about() {
	mkfifo first.jsonl second.jsonl
	("$TESTDATA/patience" 30 sh -c 'cat faults/n02.jsonl >second.jsonl; cat faults/n01.jsonl >first.jsonl') &
	CS_TIMEOUT=30 check first.jsonl second.jsonl
	wait $!
	cp out about
	check faults/n01.jsonl faults/n02.jsonl
	same out about
}
[ "$(nproc)" -gt 1 ] || skip="one CPU"
ok "files are read at the same time, and judged in their order" turned_about
taskset -c "$(taskset -pc $$ | sed 's/.*[ ,-]//')" "$CSCOPE" check faults/*.jsonl >alone 2>&1
"$CSCOPE" check faults/*.jsonl >out 2>&1
ok "... to the same bytes as on one CPU" same alone out

cp faults.txt want
run 0 show faults.json
ok "show of the document is the same text" same want out

# controls, cells beside others and re-measurements are no cells, whatever they gave
folder=repeats
mkdir repeats
for host in n01 n02; do
	node "$host" -- --check -t peer.ce.write.pair
done
node n03 FAKE_SLOW=0-1:0.5 -- --check -t peer.ce.write.pair
"${PYTHON:-python3}" -c 'import json
for host in ("n01", "n02", "n03"):
    path = f"repeats/{host}.jsonl"
    rows = [json.loads(line) for line in open(path)]
    extra = []
    for r in rows:
        if r["kind"] != "result" or r["metric"] != "rate":
            continue
        if r["src"] == "gpu2" and r["dst"] == "gpu3" and "control" not in r["flags"]:
            extra.append(dict(r, flags=r["flags"] + ["concurrent"], value=1.25))
            extra.append(dict(r, flags=r["flags"] + ["re-measured"], value=1.5))
        if "control" in r["flags"]:
            r["value"] = 1.75
    at = max(i for i, r in enumerate(rows) if r["kind"] == "result") + 1
    rows[at:at] = extra
    open(path, "w").writelines(json.dumps(r) + "\n" for r in rows)'
check -v repeats/*.jsonl
ok "what repeats a cell is not counted, and not the lowest" prints \
	"peer.ce.write.pair  36 of 36 cells, median .* lowest .* \\(n03 0->1\\)"

# one job, and the files of its nodes
# A rank each on the hosts m0, m1, ...: namespaces of users keep ranks apart.
hosts() { # FILE GPUS LINE...
	local file=$1 gpus=$2
	shift 2
	in_front "$file" "$@" "export CS_TEST_SCOPE=m\$rank FAKE_GPUS=$gpus" \
		'set -- unshare --user --map-root-user --uts sh -c '\''hostname "$0"; exec "$@"'\'' "m$rank" "$@"'
}
hosts job 2 '[ "$rank" != 2 ] || export FAKE_VBIOS=1:2' \
	'[ "$rank" != 1 ] || export FAKE_NVLINKS_DOWN=1:1'
run_program 4 ./job "$CSCOPE" --check -s 64K --seed 1 --cell-limit 30s -o job.json
ok "a job of four nodes finds what differs: status 2" eval \
	'status_is 2 && finds job.json "nvlink-down m1 critical drain" "firmware-differs m2 warning -"'
ok "… and says it as a fleet" prints "drain: m1"
# Rows have other numbers where those of the nodes stand one after the other.
findings() {
	"${PYTHON:-python3}" -c 'import json, sys
d = json.load(open(sys.argv[1]))
for c in d["checks"]:
    rows = [d["results"][i] for i in c["evidence"]]
    c["evidence"] = [(r["node"], r["test"], r["src"], r["dst"], r["value"]) for r in rows]
print(json.dumps(d["checks"], indent=1))' "$1"
}
# What is said of a job, and of the files of its nodes, into want and got.
take_apart() { # JOB.json ARGUMENT...
	local job=$1 host
	shift
	for host in m0 m1 m2 m3; do
		"$CSCOPE" show "$job:$host" -q -o "of-$host.jsonl"
	done
	findings "$job" >want
	run 0 check of-m2.jsonl of-m0.jsonl of-m3.jsonl of-m1.jsonl "$@" -o parts.json
	findings parts.json >got
}
[ -n "$skip" ] || take_apart job.json
ok "the files of its nodes give the same findings, byte for byte" same want got

# what is beyond a bound is re-measured where it is, by what rank 0 has read
mkdir -p elsewhere
hosts bounded '${GPUS-3}' '[ "$rank" = 0 ] || cd elsewhere' \
	'[ "$rank" != 1 ] || export FAKE_SLOW=${FAKE_SLOW-1-2:0.85}' \
	'[ "$rank" != 2 ] || export FAKE_SLOW=2-0:0.85 FAKE_SLOW_COPIES=5000'
some=(-s 256K -t peer.ce.write.pair --seed 1 --cell-limit 30s)
FAKE_GPUS=3 run 0 --no-mpi "${some[@]}" -q -o good.json
run 0 baseline good.json -q -o base.json
echo 'test,bound
peer.ce.write.pair,77.2 GB/s' >t.csv
bounds=(--baseline base.json --threshold t.csv)
run_program 4 ./bounded "$CSCOPE" "${some[@]}" "${bounds[@]}" --check -o bounded.json
ok "a slow cell of a node that is not rank 0's: status 2" status_is 2
ok "… re-measured on its node, by a baseline and by a threshold" finds bounded.json \
	"below-baseline m1 critical drain" "below-threshold m1 critical drain"
ok_json "… and confirmed" bounded.json \
	'{c["id"]: c["says"].endswith("; confirmed by re-measurement") for c in d["checks"] if c["node"] == "m1" and "below" in c["id"]} == {"below-baseline": True, "below-threshold": True}'
ok_json "what went away is a note that says so" bounded.json \
	'sorted((c["id"], c["severity"], c["drain"], c["says"].endswith("; not seen in re-measurement")) for c in d["checks"] if c["node"] == "m2" and "below" in c["id"]) == [("below-baseline", "note", False, True), ("below-threshold", "note", False, True)]'
ok_json "nodes within all bounds do not re-measure" bounded.json \
	'{r["node"] for r in d["results"] if "re-measured" in r["flags"]} == {"m1", "m2"}'
[ -n "$skip" ] || take_apart bounded.json "${bounds[@]}"
ok "the files of its nodes give the same findings of bounds, byte for byte" same want got
run_program 4 ./bounded "$CSCOPE" "${some[@]}" -s 64K "${bounds[@]}" -o none.json
ok "a baseline that does not fit: one line of rank 0, status 64" eval \
	'status_is 64 && one_line "baseline lacks peer.ce.write.pair at 64 KiB" && [ ! -e none.json ]'
run_program 4 ./bounded "$CSCOPE" "${some[@]}" --baseline none.json
ok "a baseline that is not there: one line of rank 0, status 64" eval \
	'status_is 64 && one_line "cannot read .none.json"'
# what a node cannot see by itself is measured again by what all of them show
hosts together 2 '[ "$rank" != 1 ] || export FAKE_SLOW=1-0:0.8' \
	'[ "$rank" != 3 ] || export FAKE_SLOW=0-1:0.8 FAKE_SLOW_COPIES=112'
run_program 5 ./together "$CSCOPE" "${some[@]}" -s 4M --check=outlier -o job.json -o job.jsonl
ok_json "what only the nodes together show is measured again: confirmed, and critical" job.json \
	'[(c["severity"], c["drain"], "confirmed by" in c["says"]) for c in d["checks"] if c["id"] == "slow-cells" and c["node"] == "m1"] == [("critical", True, True)]'
ok_json "… or a note, where it went away" job.json \
	'[(c["severity"], c["drain"], "not seen in re-measurement" in c["says"]) for c in d["checks"] if c["id"] == "slow-cells" and c["node"] == "m3"] == [("note", False, True)]'
ok_json "… by these nodes alone" job.json \
	'{r["node"] for r in d["results"] if "re-measured" in r["flags"]} == {"m1", "m3"}'
ok "… status 2" status_is 2
ok_schema "… in files that follow the schema" job.json job.jsonl
# cards of which one link is used, and short copies fill it
GPUS=2 FAKE_NAME="NVIDIA H200 NVL" FAKE_NVLINKS_DOWN=0:17,1:17 FAKE_SLOW=0-1:0.05,1-0:0.05 run_program 2 ./bounded \
	"$CSCOPE" "${some[@]}" -s 4M --min-share 95% -o share.json
ok_json "--min-share is re-measured by every node" share.json \
	'sorted((c["node"], c["drain"], "confirmed by" in c["says"]) for c in d["checks"] if c["id"] == "below-threshold") == [("m0", True, True), ("m1", True, True)]'
finish
