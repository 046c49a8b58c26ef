#!/bin/bash
# What is usual of GPUs that are known: learnt, installed, shown, and what is below it.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
results=$TESTDATA/../doc/results
installed=$TESTDATA/../doc/known

# ---- the file that is installed ----

body() { # FILE: without the version that wrote it
	sed 's/"program":{[^}]*},//' "$1"
}
# What learn makes of all files of these folders that it takes: $learnt, in all.json
learn_from() { # FOLDER...
	learnt=()
	for folder; do
		for file in "$results/$folder"/*.json; do
			run 0 learn "$file" -q
			[ "$status" != 0 ] || learnt+=("$file")
		done
	done
	run 0 learn "${learnt[@]}" -q -o all.json
	body all.json >all
}
learn_from h100x1
body "$installed/nvidia-h100.json" >was
ok "the installed files are what learn makes of the recorded results: one H100" same was all
learn_from h200x2 h200x4
body "$installed/nvidia-h200.json" >was
ok "... several H200" same was all
run 0 learn all.json "${learnt[0]}" "${learnt[0]}" -q -o again.json
ok "what was learnt counts once" same all.json again.json
if [ -n "${PYTHON:-}" ]; then
	ok "it follows its schema" "$TESTDATA/schema-check" \
		"$TESTDATA/../doc/cscope-mpi-baseline-1.schema.json" all.json
else
	skip='no Python with jsonschema' ok "it follows its schema"
fi

quick=$results/h200x2/quick.json
run 0 show "$quick"
ok "without it nothing is said" prints_not 'usual [0-9]+ to|usual for NVIDIA'
export CS_KNOWN=$installed
run 0 show "$quick" -o shown.json
ok "a report says in its first line, its table and below a matrix what is usual" eval \
	'head -1 out | grep -q "(88 % of NVLink, usual 395 to 397)" && prints "usual for NVIDIA H200: 395.68 to 396.39 \(6 machines, 10 runs\)" && prints " 395-397"'
ok_json "… JSON has it as numbers, where it is known" shown.json \
	'[m.get("usual_machines") for m in d["matrices"]][:3] == [6, None, None] and d["matrices"][0]["usual_low"] < d["matrices"][0]["usual_median"] < d["matrices"][0]["usual_high"]'
ok_schema "… in a document that follows the schema" shown.json

# ---- files that are bad ----

mkdir bad
echo '{"schema": "cscope-mpi-baseline/1"' >bad/known.json
CS_KNOWN=$PWD/bad:$installed run 0 show "$quick"
ok "a file that cannot be read is named, and the rest is used" eval \
	'status_is 0 && one_line "not read: .*/bad/known.json: not JSON" && prints "usual for NVIDIA H200"'
CS_KNOWN=$PWD/nowhere run 0 show "$quick"
ok "a folder that is not there is none" eval 'status_is 0 && [ ! -s err ]'
run 0 learn "$results/h200x4/check.json"
ok "redacted names: status 64" eval 'status_is 64 && one_line "redacted"'

# ---- a run that is below ----

fake 4
memory 34000000
some=(--no-mpi --cell-limit 20s -s 1M -t peer.ce.write.pair)
mkdir site
export CS_KNOWN=$PWD/site
for i in 1 2 3; do
	run 0 "${some[@]}" --seed $i -q -o "m$i.json"
	# machines of their own
	sed -E "s/(GPU-[0-9a-f]{6})/\\1$i/g" m$i.json >"machine$i.json"
done
run 0 learn machine[123].json -o site/double.json
ok "three machines of the test double are a class of their own" eval \
	'status_is 0 && prints "^class .test double; NVIDIA H200.: 3 nodes, 3 runs"'
run 0 "${some[@]}" --check -o well.json
ok "a healthy run: status 0, and what is usual" eval \
	'status_is 0 && prints "findings +none" && prints "NVLink, usual [0-9]+ to [0-9]+\)" && prints "3 machines"'
slow=$(for a in 0 1 2 3; do for b in 0 1 2 3; do
	[ $a = $b ] || printf '%s-%s:0.88,' $a $b
done; done)
export FAKE_SLOW=${slow%,}
run 0 "${some[@]}" --check -o slow.json
ok "all pairs 12 % slower: status 1, lower than all that are known" eval \
	'status_is 1 && one_line "warning: .*peer.ce.write.pair at 1 MiB: .* below [0-9.]+ GB/s \(lower than 3 of 3 known with test double; NVIDIA H200"'
ok_json "… a warning that drains no node" slow.json \
	'[(c["id"], c["severity"], c["drain"]) for c in d["checks"] if c["id"] == "below-known"] == [("below-known", "warning", False)]'
ok_schema "… in a document that follows the schema" slow.json
run 0 "${some[@]}"
ok "without --check it is a note: status 0" eval 'status_is 0 && prints "note .*lower than 3 of 3 known"'
unset FAKE_SLOW
run 0 check slow.json
ok "files are judged by what is known here: status 1" eval 'status_is 1 && one_line "lower than 3 of 3 known"'
CS_KNOWN=none run 0 check slow.json
ok "… and where nothing is, not at all" eval 'status_is 0'
finish
