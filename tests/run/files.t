#!/bin/bash
# Files read back: show gives the bytes of the live run, --resume measures what is
# missing, --redact names nobody.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"

shown() { # FILE ARGUMENT...
	env -i CS_LIBCUDA=/nowhere CS_LIBNVML=/nowhere PATH= \
		"$CSCOPE" show "$@" >seen 2>err
}

# Every format of FILE is what live.* has.
gives_the_same() { # FILE
	local format
	for format in text json jsonl csv result; do
		if ! shown "$1" -f $format || ! same live.$format seen; then
			echo "$1 as $format"
			cat err
			return 1
		fi
	done
}

refused_show() { # WORDS ARGUMENT...: one line, status 64
	local words=$1
	shift
	"$CSCOPE" show "$@" >out 2>err </dev/null
	if [ $? != 64 ] || [ -s out ] || [ "$(wc -l <err)" != 1 ] ||
		! grep -qF -- "$words" err; then
		echo "show $*:"
		cat err out
		return 1
	fi
}

# One run that writes live.* and its journal.
live() { # RANKS ARGUMENT...
	rm -f live.*
	run "$@" -o live.json -o j.jsonl -o live.csv -o live.txt
	[ -n "$skip" ] || mv live.txt live.text
	cp out live.out
}

round_trips() { # WHAT
	ok "$1: show of the document gives the text, table and document of the run" \
		eval 'same live.text live.out &&
		      for f in text json csv; do
			shown live.json -f $f && same live.$f seen || exit; done'
	ok "… and show of the journal, to a letter" eval \
		'for f in text json csv; do
			shown j.jsonl -f $f && same live.$f seen || exit; done'
	ok "… and both give the same lines and records" eval \
		'shown j.jsonl -f jsonl && cp seen live.jsonl &&
		 shown j.jsonl -f result && cp seen live.result &&
		 gives_the_same live.json && gives_the_same j.jsonl'
	cp live.jsonl again.jsonl
	ok "… also from the records that show has written" \
		gives_the_same again.jsonl
	ok_schema "… which follow the schema" live.json j.jsonl again.jsonl
}

# ---- show ----

cpu=(--backend cpu -m peer -s 64K --cell-limit 20ms --precision 10% --seed 1)
live 0 "${cpu[@]}" --gpus 3 --op both
round_trips "host memory"
live 4 "${cpu[@]}"
round_trips "host memory of four ranks"

in_front two 'export CS_TEST_SCOPE=node$((rank / 2))'
rm -f live.* j.jsonl
run_program 4 ./two "$CSCOPE" "${cpu[@]}" -o live.json -o j.jsonl -o live.csv \
	-o live.txt
[ -n "$skip" ] || mv live.txt live.text
cp out live.out
round_trips "two nodes with one name"
ok "FILE:NODE picks a node by its number" eval \
	'shown live.json:1 -f result && [ "$(wc -l <seen)" = 2 ] &&
	 shown live.json:1 && grep -q "  2 x host memory" seen'
ok "… which must be there" refused_show "no node '2'" live.json:2

if [ -n "${HAVE_CUDA:-}" ]; then
	fake 4
	live 4 -m peer -s 1M --op both --seed 1
	round_trips "GPUs by CUDA IPC"
	export FAKE_NO_PEER=0-1 FAKE_NVLINKS_DOWN=2:2 FAKE_THROTTLE=1:8 \
		FAKE_NVML_OTHERS=3:1 FAKE_CORRUPT=2-3:-1
	live 0 -m peer -s 1M --seed 1
	unset "${!FAKE_@}"
	fake 4
	round_trips "skipped, throttled, used and corrupt cells"
	shown live.json --cell 1,2
	ok "--cell shows one cell in each test, with its figures" eval \
		'[ "$(grep -c "^[^ ]*  1->2  GPU to GPU" seen)" = 2 ] &&
		 grep -q "^  value  .* GB/s, 95 % interval" seen &&
		 grep -q "^  flags      throttled" seen'
	ok "… its samples as a histogram" \
		grep -qE '^ +[0-9.]+ to [0-9.]+ +[0-9]+  #+$' seen
	ok "… the conditions of its ends" eval \
		'grep -qE "^  GPU 1 .* before [0-9]+ C" seen &&
		 grep -qE "^  GPU 2 .* after [0-9]+ C" seen ||
		 { tr "\n" " " <seen | grep -qE "GPU 2 +0000.*after [0-9]+ C"; }'
	ok "… and the cells beside it" eval \
		'grep -qE "^    2->1 the other way .*%" seen &&
		 grep -qE "^    1->2 peer.ce.write.bidi .*%" seen &&
		 grep -qE "^    (median of )?[0-9]+ other cells? from 1 .*%" seen'
	ok "… a cell without a figure has its reason" eval \
		'shown live.json --cell 0,1 && grep -q "^  skipped " seen'
	ok "… in a table it is the only one" eval \
		'shown live.json --cell 1,2 -f csv && cells seen >got &&
		 [ "$(cut -d" " -f2,3 got | sort -u)" = "gpu1 gpu2" ]'
	ok "--gpu keeps what comes from it and goes to it" eval \
		'shown live.json --gpu 2 -f csv && cells seen >got && [ -s got ] &&
		 ! grep -v gpu2 got &&
		 shown live.json --gpu 2 -f result &&
		 grep -q "pair .* 6/6 cells\|pair .* 5/6 cells" seen'
	ok "a GPU that is not there is refused" \
		refused_show "no GPU, arena or host memory '9'" --gpu 9 live.json
	ok "... and host memory that no copy went through" refused_show \
		"no GPU, arena or host memory 'host' in the report" live.json --cell host,1
	ok "... what is neither as well" refused_show \
		"allowed are a source and a destination as the report names them" \
		live.json --cell hosts,1

	live 0 --no-mpi -t h2d.ce.pinned.pair,h2d.ce.pinned.bidi -s 1M --seed 1 --cell-limit 20s
	ok "a cell from the host is named as the report names it" eval \
		'shown live.json --cell host,1 &&
		 [ "$(grep -c "^[^ ]*  host->1  host to GPU, copy" seen)" = 2 ] &&
		 grep -qE "^    1->host the other way .*%" seen &&
		 grep -qE "^    (median of )?[0-9]+ other cells from host .*%" seen'
	ok "... and one to the host, with what its figure is" eval \
		'shown live.json --cell 1,host && grep -q "^[^ ]*  1->host  " seen &&
		 tr -s " \n" " " <seen | grep -q "GPU to host, copy engine, pinned memory, both ways" &&
		 ! grep "other cells\? from host" seen'
	ok "result lines of the two directions are told apart" eval \
		'shown live.json -f result &&
		 [ "$(grep -c "^result h2d.ce.pinned.bidi " seen)" = 2 ] &&
		 grep -q "^result h2d.ce.pinned.bidi .* 4/4 cells virtual-clock$" seen &&
		 grep -q "^result h2d.ce.pinned.bidi .* 4/4 cells way-back virtual-clock$" seen'
	live 0 --no-mpi -m h2d --numa all --pattern pair -s 1M --seed 1 --cell-limit 20s
	ok "... of a NUMA node as well" eval \
		'shown live.json --cell numa0,2 && grep -q "^[^ ]*  numa0->2  " seen'
fi

shown live.json -q -o copy.jsonl -o copy.txt -o copy.json
ok "-o writes files, -q nothing else" eval \
	'is_empty seen && same copy.json live.json && same copy.txt live.text'
ok "… a journal among them" eval \
	'shown copy.jsonl && same live.text seen'
"$CSCOPE" show - <live.json >seen 2>err
ok "a file may be standard input" same live.text seen

hostile() {
	local deep
	deep=$(printf '[%.0s' $(seq 100000))
	echo '{"schema":"cscope-mpi/2","program":{},"run":{}}' >bad.json
	refused_show "line 1: schema 'cscope-mpi/2'; this version reads" bad.json ||
		return
	echo 'no' >bad.json
	refused_show "bad.json: line 1: not JSON" bad.json || return
	: >bad.json
	refused_show "bad.json" bad.json || return
	echo "{\"schema\":\"cscope-mpi/1\",\"x\":$deep}" >bad.json
	refused_show "nested too deeply" bad.json || return
	sed 's/"n_agents":[0-9]*/"n_agents":65/' live.json >bad.json
	refused_show "'n_agents' is 65; allowed is a whole number from" bad.json ||
		return
	sed 's/"copies":[0-9]*/"copies":1e999/' live.json >bad.json
	refused_show "real number overflow" bad.json || return
	sed 's/"copies":[0-9]*/"copies":NaN/' live.json >bad.json
	refused_show "not JSON" bad.json || return
	sed 's/"copies":[0-9]*/"copies":1,"copies":2/' live.json >bad.json
	refused_show "duplicate object key" bad.json || return
	printf '{"schema":"cscope-mpi/1","program":{"version":"\xff"},"run":{}}' \
		>bad.json
	refused_show "unable to decode byte 0xff" bad.json || return
	sed '3s/"kind":"[a-z]*"/"kind":3/' j.jsonl >bad.jsonl
	refused_show "line 3: no 'kind'" bad.jsonl || return
	{
		head -n 2 j.jsonl
		head -c 20000000 /dev/zero | tr '\0' '1'
		echo
	} >bad.jsonl
	refused_show "line 3: a record of more than 16777216 bytes" bad.jsonl ||
		return
	{
		head -n 2 j.jsonl
		printf '{"kind":"later","x":['
		yes '{},' | head -n 1048576 | tr -d '\n'
		echo '{}]}'
	} >bad.jsonl
	refused_show "line 3: a record of more than 1048576 arrays and objects" \
		bad.jsonl || return
	{
		head -n 2 j.jsonl
		yes '{"kind":"error","node":null,"says":"x"}' | head -n 131073
	} >bad.jsonl
	refused_show "line 131075: more than 131072 checks and errors" bad.jsonl
	rm -f bad.jsonl
}
ok "hostile files are refused in one line with place and what is allowed" hostile
truncate -s 4294967297 long.json
ok "one of more than 4 GiB: status 3, and why" eval \
	'"$CSCOPE" show long.json 2>err; [ $? = 3 ] &&
	 one_line "cannot read .long.json.: more than 4 GiB"'
rm -f long.json
ok "a file that is not there: status 3" eval \
	'"$CSCOPE" show nothing.json 2>err; [ $? = 3 ] &&
	 one_line "cannot read .nothing.json.: No such file"'
ok "… and its neighbour with a name like it" eval \
	': >likely.json; "$CSCOPE" show ./likly.json 2>err; [ $? = 3 ] &&
	 one_line "No such file or directory; did you mean .likely.json."'
ok "… as is a folder" eval \
	'mkdir -p d.json; "$CSCOPE" show d.json 2>err; [ $? = 3 ] && one_line "d.json"'
ok "keys that are not known are ignored" eval \
	'sed "s/\"status\":\"ok\"/\"new\":[1,{\"x\":null}],&/" live.json >new.json &&
	 shown new.json && same live.text seen'

# ---- --resume ----

long=(--backend cpu -m peer -s 64K --cell-limit 400ms --precision 0.001%)
results() { # FILE
	grep '"kind":"result"' "$1"
}

# Rows that are kept are the same bytes, and no step is measured twice.
kept_rows_stay() {
	local line
	results killed.jsonl | head -n "$kept" | while read -r line; do
		grep -qxF -e "$line" k.jsonl || {
			echo "lost: $line"
			exit 1
		}
	done
}

rm -f k.*
begin 4 "${long[@]}" -o k.jsonl
[ -n "$skip" ] || until_true 20 measuring k.jsonl 5
was=$skip
"$CSCOPE" "${long[@]}" --gpus 4 --resume k.jsonl >/dev/null 2>second
of_second=$?
skip=$was
[ -n "$skip" ] || kill -KILL "$(rank 0)"
end_within 10
until_true 5 none_left
[ -n "$skip" ] || printf '{"kind":"result","no' >>k.jsonl
cp k.jsonl killed.jsonl 2>/dev/null
kept=$(results killed.jsonl 2>/dev/null | grep -c '"status":"ok"')
ok "a journal that is being written is not resumed: status 3, in one line" eval \
	'[ $of_second = 3 ] && [ "$(wc -l <second)" = 1 ] &&
	 grep -q "cannot resume: .k.jsonl. is still being written" second'
ok "the journal of a killed run can be shown" eval \
	'shown k.jsonl && tr -s "\n " "  " <seen >flat &&
	 grep -q "the journal has no verdict: the run was killed" flat &&
	 grep -q "not measured: the run ended before" flat'
run 4 "${long[@]}" --size 128K --resume k.jsonl
ok "a journal of another plan is refused in one line, and left alone" eval \
	'status_is 3 && one_line "cannot resume .k.jsonl.: .* plan: size is .128 KiB., in the journal .64 KiB." &&
	 same killed.jsonl k.jsonl'
sed "s/\"host\":\"[^\"]*\"/\"host\":\"elsewhere\"/" killed.jsonl >o.jsonl
cp o.jsonl other.jsonl
run 4 "${long[@]}" --resume o.jsonl
ok "… as is one of another node" eval \
	'status_is 3 && one_line "is .elsewhere. in the journal" &&
	 same other.jsonl o.jsonl'
run 2 "${long[@]}" --gpus 4 --resume o.jsonl
ok "… and one of other ranks" eval 'status_is 3 && one_line "cannot resume"'
run 4 "${long[@]}" --resume k.jsonl -o k.jsonl -o whole.jsonl -o whole.json \
	-o whole.csv
cp out live.text
ok "--resume goes on with it: status 0, every cell is there" eval \
	'status_is 0 && all_ok whole.csv 24'
ok "… rows that were kept are the same bytes" kept_rows_stay
again=$(grep -n '"kind":"run"' k.jsonl 2>/dev/null | sed -n '2s/:.*//p')
ok_json "… only what was missing was measured" k.jsonl \
	'(lambda a, b: len(set(r["step"] for r in b)) >= 1 and all(sum(r["step"] == s for r in a) < (3 if c else 1) for s, c in set((r["step"], r["concurrent"]) for r in b)))([r for r in d[:'"${again:-1}"'] if r["kind"] == "result"], [r for r in d['"${again:-1}"':] if r["kind"] == "result"])'
ok_json "… no step stands twice in the result" whole.json \
	'len(set((r["step"], r["src"], r["metric"]) for r in d["results"])) == len(d["results"]) == 32'
ok_json "… the journal says whose work it goes on with" k.jsonl \
	'[r["resumes"] for r in d if r["kind"] == "run"] == [None, d[0]["id"]] and d[-1]["kind"] == "verdict" and d[-1]["status"] == "complete"'
ok_schema "… and all follow the schema" k.jsonl whole.jsonl whole.json
ok "show of the journal gives the bytes of the resumed run" eval \
	'for f in k.jsonl whole.jsonl whole.json; do
		shown $f && same live.text seen || exit; done'
cp k.jsonl before.jsonl 2>/dev/null
run 4 "${long[@]}" --resume k.jsonl -o again.json
ok "a journal that is complete is rendered: status 0, and says so" eval \
	'status_is 0 && says_once "complete: nothing was measured" &&
	 same live.text out && same whole.json again.json &&
	 same before.jsonl k.jsonl'
head -n 4 before.jsonl >eight.jsonl 2>/dev/null
for i in 1 2 3 4 5 6 7 8; do
	set -- "$@" -o "eight$i.csv"
done
run 4 "${long[@]}" --resume eight.jsonl -q "$@"
ok "--resume beside eight outputs: each is written" eval \
	'status_is 0 && all_ok eight1.csv 24 && for i in 2 3 4 5 6 7 8; do
		same eight1.csv eight$i.csv || exit; done'
ok_json "… and the journal goes on to the verdict" eight.jsonl \
	'd[-1]["kind"] == "verdict" and d[-1]["status"] == "complete"'
skip=''
ok "a journal that is not there: status 64, in one line" eval \
	'run 0 "${long[@]}" --resume none.jsonl; status_is 64 &&
	 one_line "cannot resume: cannot read .none.jsonl."'
mkdir -m 1777 sticky
cp eight.jsonl theirs.jsonl 2>/dev/null
ln -s ../theirs.jsonl sticky/k.jsonl
chown 1:1 sticky 2>/dev/null && chown -h 2:2 sticky/k.jsonl 2>/dev/null ||
	skip=${skip:-only root makes links of somebody else}
run 4 "${long[@]}" --resume sticky/k.jsonl -q
ok "nor is one resumed by a link that another user laid in a sticky folder" eval \
	'! status_is 0 && one_line "sticky/k.jsonl" && same theirs.jsonl eight.jsonl'
skip=''

# without the last three results of the second node
run_program 4 ./two "$CSCOPE" "${cpu[@]}" -o n.jsonl
[ -n "$skip" ] || grep -v '"kind":"\(error\|verdict\)"' n.jsonl | tac |
	awk '/"kind":"result"/ && /"node_index":1/ && n < 3 { n++; next } 1' |
	tac >m.jsonl
cp m.jsonl cut.jsonl 2>/dev/null
run_program 4 ./two "$CSCOPE" "${cpu[@]}" --resume m.jsonl -o m.csv -o m.json
ok "of two nodes one has steps left: they alone are measured" eval \
	'status_is 0 && all_ok m.csv 8 &&
	 tail -n +$(($(wc -l <cut.jsonl) + 1)) m.jsonl | grep "\"kind\":\"result\"" >new &&
	 ! grep "\"node_index\":0" new && [ "$(wc -l <new)" -ge 3 ]'
run_program 4 "$CSCOPE" "${cpu[@]}" --resume m.jsonl
ok "… and a job of one node is refused" eval \
	'status_is 3 && one_line "cannot resume"'

if [ -n "${HAVE_CUDA:-}" ]; then
	fake 3
	FAKE_CORRUPT=0-1:-1 run 0 -m peer -s 64K --seed 1 -o f.jsonl
	ok "a run with a corrupt cell" eval 'status_is 2'
	before=$(results f.jsonl | wc -l)
	run 0 -m peer -s 64K --seed 1 --resume f.jsonl -o f.csv
	ok "… is resumed: the cell is measured again, and is ok" eval \
		'status_is 0 && all_ok f.csv 12'
	ok "… alone, but for the other ways of its step" eval \
		'[ $(($(results f.jsonl | wc -l) - before)) -le 6 ]'
	FAKE_GPUS=3 run 0 -m peer --gpus 0,2 -s 64K --seed 1 -o g.jsonl
	head -n 4 g.jsonl >h.jsonl
	run 0 -m peer --gpus 0,1 -s 64K --seed 1 --resume h.jsonl
	ok "a journal of other GPUs is refused" eval \
		'status_is 3 && one_line "agent 1 is .GPU-.*in the journal .GPU-"'
fi

# ---- --compact ----

live 0 "${cpu[@]}" --gpus 3
for format in json jsonl; do
	shown live.json --compact -f $format
	cp seen small.$format
done
ok_json "show --compact: results without what follows, and without null" small.json \
	'not any({"unit", "path"} & set(r) or None in r.values() for r in d["results"])'
ok "… which give the same, as a document and as a journal" eval \
	'for f in json jsonl; do
		shown small.$f -f json && same live.json seen || exit; done'
ok_schema "… and follows the schema" small.json small.jsonl

# ---- --redact ----

# The names that files of a run have.
secrets() { # FILE
	"${PYTHON:-python3}" - "$1" <<'END'
import json
import os
import sys

doc = json.load(open(sys.argv[1]))
for node in doc["nodes"]:
    print(node["host"])
for agent in doc["agents"]:
    if agent["uuid"]:
        print(agent["uuid"])
print(doc["run"]["job_id"])
print(os.getcwd())
print(os.uname().nodename)
END
}

names_nobody() { # FILE...
	local name
	[ -s names ] || return
	while read -r name; do
		if grep -HowF -e "$name" "$@"; then
			return 1
		fi
	done <names
}

export SLURM_JOB_ID=job81233
if [ -n "${HAVE_CUDA:-}" ]; then
	fake 3
	some=(-m peer -s 64K --seed 1)
	export FAKE_FAIL=cuMemcpyAsync:30 CS_LIBNVML=$PWD/nowhere.so
else
	some=("${cpu[@]}" --gpus 3)
fi
skip=''
command -v "${PYTHON:-python3}" >/dev/null || skip="no Python"
was=$skip
run 0 "${some[@]}" --no-mpi -o "$PWD/plain.json" -o plain.jsonl
secrets plain.json >names
ok "names are in the files of a run" eval \
	'for f in plain.json plain.jsonl; do grep -qwFf names $f || exit; done'
run 0 "${some[@]}" --no-mpi --redact -o "$PWD/r.json" -o r.jsonl -o r.csv -o r.txt
cp out r.out
ok "--redact: they are in no output of it" \
	names_nobody r.json r.jsonl r.csv r.txt r.out err
ok_json "… which have others in their place" r.json \
	'd["run"]["redacted"] and d["nodes"][0]["host"] == "node1" and d["run"]["job_id"] == "job1" and all(a["uuid"] in (None, "GPU-%d" % (i + 1)) for i, a in enumerate(d["agents"])) and "FILE.json" in d["run"]["argv"]'
ok_json "… and keep bus ids" r.json \
	'[a["bus_id"] for a in d["agents"]] == [a["bus_id"] for a in __import__("json").load(open("plain.json"))["agents"]]'
ok_schema "… and follow the schema" r.json r.jsonl
ok "show of them gives the same bytes" eval \
	'shown r.json && same r.out seen && shown r.jsonl && same r.out seen'
for format in text json jsonl csv result; do
	shown plain.json --redact -f $format
	cp seen shown.$format
done
ok "show --redact: they are in no format" names_nobody shown.*
unset "${!FAKE_@}" SLURM_JOB_ID
ok_refused "a redacted journal is not resumed" "written with --redact" "${some[@]}" --resume r.jsonl
ok "--resume and --redact exclude each other" eval \
	'run 0 --resume a.jsonl --redact; status_is 64 && one_line "exclude each other"'
finish
