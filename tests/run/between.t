#!/bin/bash
# Messages between nodes: CS_TEST_SCOPE makes several of one machine, so that MPI carries
# them through shared memory.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_launcher

in_front each 'export CS_TEST_SCOPE=node$rank'

# others' cells must be there, whatever the lost node's are
only_its_own() { # FILE NODE
	json "$1" 'all(r["status"] == "ok" for r in d["results"] if "node'"$2"'" not in (r["src"], r["dst"])) and
		len([r for r in d["results"] if "node'"$2"'" not in (r["src"], r["dst"])]) == 6'
}

# With this seed node 2 is met first, and the pair without it last.
lossy=(--backend cpu -m nethost --seed 5)

# A host that is gone says nothing more: the launcher ends a job with the first rank that dies.
stop_one() { # NAME
	wrapper=./each
	begin 3 "${lossy[@]}" -o "$1.json" -o "$1.jsonl"
	wrapper=''
	[ -n "$skip" ] || until_true 30 measuring "$1.jsonl" 1
	kill -STOP "$(rank 2)"
	end_within 45
	job_status_is 2 && was_in_time
}

# With this option Open MPI lets the others live.
kill_one() { # NAME
	local pid
	: >out
	env "$mark" "$MPIRUN" 3 --enable-recovery ./each "$CSCOPE" "${lossy[@]}" \
		-o "$1.json" -o "$1.jsonl" >out 2>err </dev/null &
	begun=$!
	until_true 30 measuring "$1.jsonl" 1
	for pid in $(ranks); do
		! is_of_rank "$pid" 2 || kill -KILL "$pid"
	done
	end_within 45
	was_in_time
}

# Six times at most: on a busy machine the others may be late for a slot, too.
lose() { # COMMAND NAME
	for try in 1 2 3 4 5 6; do
		rm -f "$2.json" "$2.jsonl"
		"$@" || return
		! only_its_own "$2.json" 2 >/dev/null || break
	done
}

run_in_slots 2 ./each "$CSCOPE" --backend cpu -m nethost -o two.json -o two.jsonl -o two.csv
ok "two nodes: status 0" status_is 0
ok_json "… each sends to the other, one way and both ways, and plays ping-pong" two.json \
	'sorted((r["test"], r["node_index"], r["status"]) for r in d["results"]) == [("nethost.mpi." + t, n, "ok") for t in ("pingpong.pair", "pinned.bidi", "pinned.pair") for n in (0, 1)]'
ok_json "… from its own node to the other, by MPI, beside no other pair" two.json \
	'all(r["src"] == "node%d" % r["node_index"] and r["dst"] == "node%d" % (1 - r["node_index"]) and r["via"] == "MPI" for r in d["results"])'
ok_json "… every sample and every byte of it compared" two.json \
	'all(r["checked"] == r["checked_whole"] >= r["n"] and "not-verified" not in r["flags"] and "stand-in" not in r["flags"] for r in d["results"])'
ok_json "… every planned cell is measured" two.json \
	'd["run"]["cells_measured"] == d["run"]["cells_planned"] == 6'
ok "the text has a matrix of nodes, and says that all pairs ran at the same time" eval \
	'prints "from.to +node0 +node1" && prints "^Between nodes, host memory: node0 "'
ok "… nothing stands in for a GPU" eval '! prints "NO GPU"'
message() { # what `out` says a message costs
	tr -s ' \n' '  ' <out | grep -oE "a message between nodes: alpha [0-9.]+ us .*, 1/beta [0-9.]+ GB/s .*, n1/2 [0-9.]+ [KM]?i?B"
}
message >costs
ok "… and alpha, beta and n1/2 of a message" [ -s costs ]
ok_schema "document and journal follow the schema" two.json two.jsonl
cp out live
run 0 show two.json
ok "show prints the bytes of the run" same live out
run 0 show two.json -f model
message >shown
ok "… -f model what a message costs" same costs shown
run 0 show two.jsonl
ok "… of its journal, too" same live out
run 0 show two.json -f csv
ok "… and CSV" same two.csv out
run 0 show two.json -f html
ok "… the page begins with the answer, and draws no node of which it has no figure" eval \
	'grep -q "<h1>2 nodes</h1>.*<p class=\"lead\">2 nodes of .*: between nodes [^<]*a message [0-9.]* us" out && ! grep -q "How it is wired" out'
run 0 check two.json
ok "check reads it: nothing is wrong" eval 'status_is 0 && prints "nethost.mpi.pinned.pair"'
sed 's/"dst":"node1"/"dst":"node7"/' two.jsonl >seven.jsonl
run 0 show seven.jsonl
ok "a file with a node that it does not have is refused" one_line "one of the nodes, as node0"

run_in_slots 3 ./each "$CSCOPE" --backend cpu -m nethost --pattern shift,bisect,incast -o all.json -o all.csv -o all.prom
ok "three nodes at the same time: status 0" status_is 0
ways() { # TEST: who sent to whom beside how many others
	printf 'sorted((r["src"][4:] + r["dst"][4:], r["concurrent"]) for r in d["results"] if r["test"] == "nethost.mpi.pinned.%s" and r["status"] == "ok")' "$1"
}
ok_json "… shift: each sends to each other, beside two others" all.json \
	"$(ways shift)"' == [(a + b, 2) for a in "012" for b in "012" if a != b]'
ok_json "… bisect: the first half to the second and back, without the odd node" all.json \
	"$(ways bisect)"' == [("01", 0), ("10", 0)]'
ok_json "… incast: to each all others, at the same time" all.json \
	"$(ways incast)"' == [(a + b, 1) for a in "012" for b in "012" if a != b]'
ok_json "… each of these has the rate of its receiver, by whose clock it is" all.json \
	'all(len({tuple(r["samples"]) for r in d["results"] if r["test"].endswith("incast") and r["dst"] == to}) == 1 for to in ("node0", "node1", "node2"))'
ok_json "… every sample and every byte of it compared, every planned cell measured" all.json \
	'all(r["checked"] >= r["n"] for r in d["results"]) and d["run"]["cells_measured"] == d["run"]["cells_planned"] == 14'
ok "the text has their matrices, the sums of a bisection, and what a receiver gets" eval \
	'tr -s " \n" "  " <out >one && grep -q "sum from the first half to the second [0-9.]*, back [0-9.]* " one && grep -q "a cell is what its column receives from all that send to it" one'
ok_schema "the document follows the schema" all.json
cp out live
run 0 show all.json
ok "show prints the bytes of the run" same live out
run 0 show all.json -f csv
ok "… and CSV" same all.csv out
ok "metrics have them" eval '[ "$(grep -c "incast.*src=\"node[0-2]\",dst=" all.prom)" -ge 6 ]'
run 0 show all.json -f html
ok "… and the page" grep -q "nethost.mpi.pinned.incast" out
run 0 check all.json
ok "nothing of them is judged" eval 'status_is 0 && prints_not "-slow"'
run 0 check all.json --min-share 50%
ok "… by the port's rate neither" eval 'status_is 3 && one_line "no threshold applies"'
printf 'test,bound\nnethost.mpi.pinned.incast,1000 GB/s\n' >incast.csv
run 0 check all.json --threshold incast.csv
ok "… but by a bound of the user" eval 'status_is 2 && prints "below 1000"'
run 0 baseline all.json -o none.json
ok "a baseline learns nothing of them, and says why" eval 'status_is 64 && one_line "depend on which nodes a job has, so a baseline has none; measure --pattern pair"'
run_in_slots 2 ./each "$CSCOPE" --backend cpu -m nethost --pattern shift:1,incast,rails -o one.json
ok_json "shift:1 is one round" one.json \
	'sorted(r["test"][19:] for r in d["results"] if r["status"] == "ok" and r["rail"] is None) == ["incast"] * 2 + ["shift"] * 2'
ok_json "rails: each sends to the other from memory of each NUMA node" one.json \
	'sorted((r["rail"], r["src"]) for r in d["results"] if r["rail"] is not None and r["status"] == "ok" and r["checked"] >= r["n"]) == [(rail, node) for rail in range(64) if int(d["run"]["settings"]["numa_nodes_mask"], 16) >> rail & 1 for node in ("node0", "node1")]'
ok "… a node a row, a rail a column" prints "^ +node0( +[0-9.]+)+$"
cp out live
run 0 show one.json
ok "… which show prints, too" same live out

# Runs of many nodes, made of one of two.
run_in_slots 2 ./each "$CSCOPE" --backend cpu -t nethost.mpi.pinned.pair -o pair.json
ok "two nodes are measured one way" status_is 0
network() { # SENTENCE FINDINGS NODES KEY=VALUE...: "id node severity remeasured drain;..." or none
	local sentence=$1 findings=$2
	shift 2
	rm -f made.json
	"${PYTHON:-python3}" -S "$TESTDATA/network.py" pair.json made.json "$@" 2>err || cat err
	run 0 check made.json -f json
	ok_json "$sentence" out \
		'"; ".join(" ".join(map(str, (c["id"], c["node_index"], c["severity"], c["remeasured"], c["drain"]))) for c in d["checks"] if c["id"] in ("nic-slow", "leaf-slow", "path-slow")) or "none") == "'"$findings"'" or print(d["checks"]'
}
network "16 healthy nodes: no finding" none 16 leaves=4
cp made.json healthy.json
network "a node that is slow alone, too, is critical and drained" \
	"nic-slow 3 critical confirmed True" 16 slow=3 by=0.61 leaves=4 nic=400
ok "… by the name of the card that counters show" grep -q '"mlx5_0 sends and receives 39 %' out
network "… of five nodes, too" \
	"nic-slow 1 critical confirmed True" 5 slow=1 by=0.5
network "… of four it is a warning" "nic-slow 1 warning confirmed False" 4 slow=1 by=0.5
network "… as is a loss of 7 %" "nic-slow 3 warning confirmed False" 16 slow=3 by=0.93
network "a node that only sends slowly is found" \
	"nic-slow 3 critical confirmed True" 16 slow=3 by=0.61 ways=s
ok "… with its rate, that of the others, and the interval" grep -qE \
	'sends 39 % slower than the other 15 nodes. \(2[89]\.[0-9] of 47\.[0-9] GB/s, 2[89]\.[0-9] to 29\.[0-9]\); alone' out
cp made.json sends.json
"${PYTHON:-python3}" -S "$TESTDATA/network.py" pair.json before.json 8 host=a
run 0 check sends.json before.json -f json
ok_json "... also beside the file of another job, whose nodes come before" out \
	'[(c["id"], c["node"], c["drain"]) for c in d["checks"] if c["id"] == "nic-slow"] == [("nic-slow", next(n["host"] for n in d["nodes"] if n["host"].endswith("3") and n["host"] != "a3"), True)]'
network "a card that is far from the memory accuses nobody" none 8 nic=400 far=3
ok_json "… and is a note of its node alone, once" out \
	'[(c["node_index"], c["severity"], c["says"]) for c in d["checks"] if c["id"] == "nic-far"] == [(3, "note", "mlx5_1 on NUMA node 7 carries the messages; mlx5_0 on NUMA node 0, as their memory, is as fast")]'
no_note() { # SENTENCE KEY=VALUE...: of the card
	network "$1" none 8 nic=400 far=3 "${@:2}"
	ok "… nor a note" prints_not nic-far
}
no_note "the memory of a process that is bound to no NUMA node may be anywhere: nobody is accused" cpus=0-15
no_note "one card for all rails, beside one of them: nobody is accused" rails=2 numa=1
network "what is not slow alone is a note" "nic-slow 3 note not-seen False" 16 slow=3 by=0.61 again=fast
network "… as is what was not measured again" "nic-slow 3 note no False" 16 slow=3 by=0.61 again=0
network "uplinks of a leaf are a warning, and no node is accused" \
	"leaf-slow None warning confirmed False" 16 leaves=4 uplinks=2 by=0.7
ok "… which names the leaf" grep -qF "uplinks of leaf leaf2 are 30 % slower than those of the other 3 leaves" out
"${PYTHON:-python3}" -S "$TESTDATA/network.py" pair.json port.json 2 slow=1 by=0.8 ways=s nic=400
run 0 check port.json --min-share 90%
ok "--min-share is of the port's rate, and no node is drained for a pair" eval \
	'status_is 2 && prints "node1->node0 has 3[78].* GB/s, below 45.00 GB/s" && prints "^drain: none"'
run 0 check port.json --min-share 70%
ok "… which may be less" prints_not "below 3"
run 0 baseline healthy.json -o base.json
run 0 check port.json --baseline base.json
ok "a baseline judges two nodes, too" eval 'prints "node1->node0 has 3[78].* GB/s, below 4" && prints "^drain: none"'
cat >switches.conf <<'END'
# four leaves of four
SwitchName=near Nodes=HOST[0-3] LinkSpeed=400
switchname=far nodes=HOST[4-7]
SwitchName=odd \
	Nodes=HOST[8-11]
SwitchName=last Nodes=HOST[12-15] # done
SwitchName=spine Switches=near,far,odd,last
END
sed -i "s/HOST/$(uname -n | cut -d. -f1)/" switches.conf
unswitched() { # of the same run
	sed 's/"leaf": "leaf[0-9]"/"leaf": null/g' made.json >plain.json
}
unswitched
run 0 check plain.json
ok "without leaves no uplinks are judged" prints_not uplinks
run 0 check plain.json --switches switches.conf -o switched.json
ok "--switches has the leaf of each node, in the form of topology.conf" prints "uplinks of leaf odd are 30 % slower"
ok_json "… which results keep" switched.json '{n["leaf"] for n in d["nodes"]} == {"near", "far", "odd", "last"}'
run 0 check plain.json --switches switches.conf --redact -o redacted.json
ok "… but for --redact" eval '! grep -qE "near|\"odd|leaf odd" redacted.json out && prints "uplinks of leaf leaf3 are 30 %"'
refused_switches() { # SENTENCE MESSAGE TEXT
	printf '%b' "$3" >bad.conf
	run 0 check plain.json --switches bad.conf
	ok "$1" eval "status_is 64 && one_line '$2'"
}
refused_switches "a key that topology.conf does not have is refused by its line" "bad.conf:2: .Colour" "SwitchName=a Nodes=n1\\nColour=red\\n"
refused_switches "… a switch without nodes or switches, too" "either Nodes= or Switches=" "SwitchName=a\\n"
refused_switches "… a list of nodes that does not end" "bad.conf:1: .n\\[1" "SwitchName=a Nodes=n[1-2\\n"
refused_switches "… a node at two switches" "node .n2. is at two switches" "SwitchName=a Nodes=n[1-2]\\nSwitchName=b Nodes=n2\\n"
refused_switches "… an empty file" "no line has SwitchName= and Nodes=" ""
printf 'SwitchName=a Nodes=another\n' >other.conf
run 0 check plain.json --switches other.conf
ok "a file of other nodes is complained about" grep -q "no node of the run is in .other.conf" err
"${PYTHON:-python3}" -S "$TESTDATA/network.py" pair.json healthy.json 16 rails=2
run 0 check healthy.json
ok "rails of healthy nodes: no finding" eval 'status_is 0 && prints_not "-slow"'
network "a node that is slow on one rail is named once" "nic-slow 3 critical confirmed True" 16 rails=2 slow=3 by=0.61
ok "… with that rail" grep -q '"its network on rail 1 sends and receives 39 %' out
network "… also if pairs are slow, too" "nic-slow 3 critical confirmed True" 16 rails=+2 slow=3 by=0.61
ok "… with the rail that it is of" grep -q '"its network on rail 1 sends and receives 39 %' out
network "of two nodes none is accused" none 2 slow=1 by=0.5

show_made() { # FORMAT NODES KEY=VALUE...
	local format=$1
	shift
	rm -f made.json
	"${PYTHON:-python3}" -S "$TESTDATA/network.py" pair.json made.json "$@" 2>err || cat err
	COLUMNS=100 run 0 show made.json -f "$format"
}
joined() { # PATTERN: in the output as one line
	tr -s ' \n' '  ' <out | grep -qE "$1"
}
show_made text 40 leaves=8 slow=3 by=0.61 nic=400
ok "the first line has the rate per NIC and its share of the port's" \
	joined 'between nodes 47\.[0-9]+ GB/s per NIC \(95 % of 400 Gb/s\)'
ok "… of more than 16 nodes the text has classes of nodes" \
	joined 'nodes by their median cell, against all: within 1 % 39; more than 25 % 1 \([^ ]*3\)'
ok "… and a character a cell, the slow node's in its row and column" eval \
	'[ "$(grep -cE "^ +node[0-9]+ .{3}#" out)" = 39 ] && grep -qE "^ +node3 ### #+$" out && prints "rows are in order of leaves"'
ok "… the NICs, and that others use them" \
	joined 'bytes counted: at the source by mlx5_0 \(1560 cells, 99.9 %\), at the destination by mlx5_0 \(1560 cells, 102.0 %\); above 101 %: traffic of others'
ok "… as has the matrix" joined 'median 47\.[0-9]+, 95 % of the port, best'
show_made html 40 nic=400
ok "… and the page" grep -qE '</b> GB/s median, 95 % of the port' out
show_made text 70 leaves=7 nic=0
ok "of more nodes than characters fit a row is a leaf" joined 'node63 .*a row is a leaf'
ok "… of a NIC whose rate is not known there is no share" joined 'between nodes 47\.[0-9]+ GB/s per NIC; '
show_made text 70
ok "… without leaves it is several nodes" joined 'node68 .*a row is 2 nodes from that one on'
ok "… and without a NIC the rate is the pair's" joined 'between nodes 47\.[0-9]+ GB/s; '
show_made html 70 leaves=7
ok "the page has the matrix, and quantiles of all cells" eval \
	'grep -q "<h2[^>]*>Between nodes" out && grep -q "quantiles: 0 % 4.*100 % 4.*a row is a leaf" out'
show_made prom 17 nic=400
ok "metrics have the share that NICs counted" grep -qE \
	'^cscope_mpi_nic_counted_ratio\{Hostname="[^"]*",test="nethost.mpi.pinned.pair",.*src="node0",dst="node1",.*nic="mlx5_0"[^{}]*\} 0.999$' out
ok "… and every line is a metric or a comment" eval \
	'! grep -vE "^(# (HELP|TYPE) cscope_mpi_|cscope_mpi_[a-z_]+(\{([A-Za-z_]+=\"[^\"]*\",?)+\})? [0-9.e+-]+$)" out'

# Sending takes so long for each message that a busy machine makes little of it, and ten times
# as long of node 2, or five times between nodes 1 and 2.  With this seed node 0 has no partner
# in the last round, in which those two meet: it waits for their rows.  Eight times at most:
# on a busy machine intervals may be too wide.  A path that looked slow, too, is looked at
# more than twice.
shaped='export CS_TEST_SCOPE=node$rank LD_PRELOAD=$SLOWNET ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS SLOWNET_US=20000'
in_front slowly "$shaped" '[ "$rank" != 2 ] || SLOWNET_US=200000' \
	'export SLURM_TOPOLOGY_ADDR=spine.leaf$rank.$(uname -n); [ "$rank" != 2 ] || SLURM_TOPOLOGY_ADDR=spine.leaf2.another'
in_front apart "$shaped" 'SLOWNET_US=10000; [ "$rank" = 0 ] || export SLOWNET_TO=$((3 - rank)):50000'
slow_of() { # FILE
	json "$1" '[(c["id"], c["node_index"], c["severity"], c["remeasured"], " sends " in c["says"]) for c in d["checks"] if c["id"] == "nic-slow"] == [("nic-slow", 2, "warning", "confirmed", True)]'
}
far_of() { # FILE
	json "$1" '[(c["id"], c["node_index"] in (1, 2), c["severity"], c["remeasured"], " both ways," in c["says"]) for c in d["checks"] if "-slow" in c["id"]] == [("path-slow", True, "warning", "confirmed", True)]'
}
until_found() { # WRAPPER FILE FOUND
	local try
	for try in 1 2 3 4 5 6 7 8; do
		run_program 3 "./$1" "$CSCOPE" --backend cpu --seed 1 -t nethost.mpi.pinned.pair --check=outlier -o "$2"
		[ -z "$skip" ] || break
		! { job_status_is 1 && "$3" "$2"; } >/dev/null 2>&1 || break
	done
}
until_found slowly slow.json slow_of
ok "a node that sends slowly is found by the run, which looks at it again" eval \
	'job_status_is 1 && slow_of slow.json'
ok_json "… with each of the others, and at these two, twice because there are few" slow.json \
	'all([(q["src"], q["dst"]) for q in d["results"] if "re-measured" in q["flags"]].count((r["src"], r["dst"])) >= 2 for r in d["results"]) or print([(r["src"], r["dst"], r["status"], r["flags"]) for r in d["results"]])'
ok_schema "… as the schema says" slow.json
ok_json "each node has the leaf that Slurm says, unless Slurm speaks of another node" slow.json \
	'[n["leaf"] for n in d["nodes"]] == ["leaf0", "leaf1", None]'
run 0 check slow.json -f json
ok "… and check says the same of its file" slow_of out
until_found apart far.json far_of
ok "a path that is slow in the last round is found, and looked at again" eval \
	'job_status_is 1 && far_of far.json'

in_front waits "$shaped" 'SLOWNET_US=0; [ "$rank" = 0 ] || export SLOWNET_MEMORY_S=4'
run_in_slots 2 ./waits "$CSCOPE" --backend cpu -t nethost.mpi.pinned.pair -o waits.json
ok_json "a node whose memory takes long is waited for: no slot is missed" waits.json \
	'[r["status"] for r in d["results"]] == ["ok"] * 2'

printf 'test,bound\nnethost.mpi.pinned.pair,1000 GB/s\n' >bound.csv
met='sorted((r["src"], "re-measured" in r["flags"]) for r in d["results"]) == sorted([("node%d" % i, again) for i in (0, 1) for again in (False, True, True, True)])'
# a busy machine has too few samples for a status of 2 or to confirm it, or is late for one
for try in 1 2 3 4; do
	run_in_slots 2 ./each "$CSCOPE" --backend cpu -t nethost.mpi.pinned.pair --threshold bound.csv -o bound.json
	grep -q '"remeasured": *"inconclusive"' bound.json || ! json bound.json "$met" >/dev/null || break
done
ok "two nodes beyond a bound: the status says so" eval 'job_status_is 2 || job_status_is 1'
ok_json "… and they meet again, three times, both ways" bound.json "$met"
ok_json "… which confirms it, and drains no node" bound.json \
	'[(c["node_index"], c["remeasured"], c["drain"]) for c in d["checks"] if c["id"] == "below-threshold"] == [(i, "confirmed", False) for i in (0, 1)]'

counts_bytes
# Open MPI carries them by TCP here, in any other test by shared memory.  On a busy machine
# counters may come late, so six times at most.
for try in 1 2 3 4 5 6; do
	OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo \
		run_in_slots 3 ./each "$CSCOPE" --backend cpu -m nethost --rounds 1 --seed 3 -o one.json
	grep -q '"unit":"GB/s".*"nic_src_share":null' one.json || break
done
no_gpu
ok_json "--rounds 1: of three nodes one pair meets" one.json \
	'len({frozenset((r["src"], r["dst"])) for r in d["results"]}) == 1 and len(d["results"]) == 6 == d["run"]["cells_planned"]'
if "${CS_LAUNCHER-mpirun}" --version 2>&1 | grep -q 'Open MPI'; then
	# others may use it, too
	ok_json "… over TCP a row names the device that carried it, and all bytes were counted at both ends" one.json \
		'[(r["nic_src"], r["nic_dst"], r["nic_src_share"] > 0.99, r["nic_dst_share"] > 0.99) for r in d["results"] if r["unit"] == "GB/s"] == [("lo (loopback)", "lo (loopback)", True, True)] * 4'
	ok "… and so does the text" prints "bytes counted: at the source by lo .loopback. .2 cells"
fi
ok_json "… of ping-pongs nothing is counted" one.json \
	'[(r["nic_src"], r["nic_src_share"]) for r in d["results"] if r["unit"] == "us"] == [(None, None)] * 2'
run_in_slots 2 ./each "$CSCOPE" --backend cpu -t nethost.mpi.pingpong.pair --verify off -o off.json
ok_json "--verify off: nothing is compared, and that is said" off.json \
	'[(r["checked"], "not-verified" in r["flags"]) for r in d["results"]] == [(0, True)] * 2'

run 0 --backend cpu -m nethost
ok "one node: one line says why nothing is measured, status 3" eval \
	'status_is 3 && one_line "nethost measures between nodes, and there is only one: start ranks on several" && is_empty out'
run 0 --backend cpu -m nethost,peer -s 64K --cell-limit 50ms
ok "… with other tests these are measured, and a note names the rest" eval \
	'status_is 0 && prints "nethost is left out: it measures between nodes"'
run 0 -m nethost --rounds 0
ok "no rounds are refused" eval 'status_is 64 && one_line "auto, all, or a number from 1 on"'

if "${CS_LAUNCHER-mpirun}" --version 2>&1 | grep -q '(Open MPI) 4'; then
	ok "a killed host: the job ends in time" lose kill_one killed
	ok "… and it alone has cells that failed" only_its_own killed.json 2
fi

ok "a stopped host: the job ends in time, with status 2" lose stop_one stopped
ok "… it alone has cells that failed" only_its_own stopped.json 2
ok_json "… whose rows name it and its slot, once; then it is left alone" stopped.json \
	'{r["status"] for r in d["results"] if r["dst"] == "node2"} <= {"ok", "failed", "timeout", "skipped"} and any("node2" in (r["reason"] or "") for r in d["results"])'
ok_json "… and it is found as lost" stopped.json \
	'[(e["id"], e["node_index"]) for e in d["errors"] if e["id"] == "node-lost"] == [("node-lost", 2)]'
finish
