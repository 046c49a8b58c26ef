#!/bin/bash
# Views for other programs, as these read them.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 3
top=$TESTDATA/..

ok_view() { # SENTENCE KIND FILE...
	local sentence=$1 was=$skip
	shift
	command -v "${PYTHON:-python3}" >/dev/null || skip="no Python"
	ok "$sentence" "${PYTHON:-python3}" "$TESTDATA/views.py" "$@"
	skip=$was
}

ok_promtool() { # FILE
	local was=$skip
	command -v promtool >/dev/null || skip="no promtool"
	ok "… promtool has nothing to say" eval "promtool check metrics <$1"
	skip=$was
}

# The fault that a checker must find in a file that is else right.
finds() { # KIND FILE SED-SCRIPT
	sed "$3" "$2" >planted
	! cmp -s "$2" planted && ! "$TESTDATA/views.py" "$1" planted 2>/dev/null
}

# ---- Prometheus ----

some=(--no-mpi -s 64K --seed 7 --cell-limit 20s) # however busy the machine is
run 0 "${some[@]}" -t "peer.ce.write.*i*,*2*.ce.pinned.pair,peer.chase.stride.pair" -o a.prom -o a.xml -o a.json
ok "measured" status_is 0
ok_view "-o a.prom follows the rules of promtool" prom a.prom
ok_promtool a.prom
ok "no temporary file is left" eval '[ "$(echo a.*)" = "a.json a.prom a.xml" ]'
ok "rates are bytes per second, labels those of dcgm-exporter" grep -qE \
	'^cscope_mpi_bandwidth_bytes_per_second\{Hostname="[^"]+",test="peer.ce.write.pair",size="65536",src="gpu0",dst="gpu1",gpu="0",UUID="GPU-[^"]+",pci_bus_id="00000000:1B:00.0"\} [0-9.e+]+$' a.prom
ok "times are seconds" grep -qE \
	'^cscope_mpi_duration_seconds\{.*test="peer.chase[^"]*",.*figure="time",.*\} [0-9.]+e-0[67]$' a.prom
ok "exit status, time and program are there" eval '
	grep -qx "cscope_mpi_exit_status 0" a.prom &&
	grep -qE "^cscope_mpi_timestamp_seconds [0-9]{10}$" a.prom &&
	grep -qE "^cscope_mpi_build_info\{.*virtual_clock=\"1\"\} 1$" a.prom'
run 0 show a.json -f prom
ok "show gives the same bytes" same a.prom out
ok_json "each figure of the document is there once" a.json \
	'len([r for r in d["results"] if r["status"] == "ok" and "control" not in r["flags"]]) == len([l for l in open("a.prom") if "src=" in l])'
run 2 "${some[@]}" -m peer,cost -q -o cost.prom
ok_view "calls and their parts follow the rules" prom cost.prom
run 3 "${some[@]}" --placement process,thread -q -o two.prom -o two.xml
ok_view "two placements on one host are told apart" prom two.prom
run 0 "${some[@]}" -q -s 64K:1M:x4 -f prom -o sweep.prom
ok_view "sizes of a sweep are told apart" prom sweep.prom
run 0 --no-mpi --backend cpu --gpus 2 -s 64K --cell-limit 5ms -q -o cpu.prom
ok_view "the cpu backend has no GPU labels" prom cpu.prom
ok "… says so" eval '! grep "gpu=\|UUID" cpu.prom && grep -q "backend=\"cpu\"" cpu.prom'
FAKE_CORRUPT=0-1:-1 FAKE_THROTTLE=2:8 run 0 "${some[@]}" --check -o bad.prom -o bad.xml -f nagios
cp out bad.nagios
ok_view "what failed is there as cells and findings" prom bad.prom
ok "… by id and severity" eval '
	grep -qE "^cscope_mpi_findings\{Hostname=\"[^\"]+\",severity=\"critical\",id=\"cell-corrupt\"\} [1-9]" bad.prom &&
	grep -qE "^cscope_mpi_cells\{.*test=\"peer.ce.write.pair\".*status=\"failed\"\} 1$" bad.prom &&
	grep -qx "cscope_mpi_exit_status 2" bad.prom'
ok "the checker finds a unit that is no base unit" finds prom a.prom \
	's/bandwidth_bytes_per_second/bandwidth_gb_per_ms/'
ok "… a series that is there twice" finds prom a.prom '/exit_status 0/p'
ok "… a sample that is apart from its family" finds prom a.prom \
	'1,/gpu1/{/src="gpu0",dst="gpu1"/{h;d}};$G'
ok "… an unescaped quote" finds prom a.prom 's/src="gpu0"/src="g"pu0"/'
ok "… a metric without help" finds prom a.prom '/# HELP cscope_mpi_cells/d'

# ---- Nagios ----

run 0 show a.json -f nagios
ok "nagios: OK with figures" eval 'status_is 0 && prints "^CSCOPE-MPI OK: [0-9]+ GPUs, GPU to GPU at least [0-9]+ GB/s(, host to GPU at least [0-9]+ GB/s)?(, GPU to host at least [0-9]+ GB/s)?: [0-9]+ of [0-9]+ cells measured, no findings \|"'
cp out a.nagios
ok_view "… by the grammar of plugins" nagios a.nagios
ok "rates are bytes per second, times seconds" eval '
	prints "peer.ce.write.pair:65536:min.=[0-9]{9,12};;;0" &&
	prints "peer.chase[^ ]*:max.=0\.[0-9]{9}s;;;0"'
# In and out at once: the two ways differ there, and no format has one figure for both.
both=$TESTDATA/../doc/results/h200x4/suite-np4.json
run 0 show "$both" -f nagios
ok "what goes in and out has figures of each way: nagios" eval '
	prints "h2d.ce.pinned.bidi:536870912:in-min.=48[0-9]{9};" &&
	prints "h2d.ce.pinned.bidi:536870912:out-min.=51[0-9]{9};" &&
	prints "h2d.ce.pinned.pair:536870912:min.=" && prints_not "in-median.=[^ ]* .[^ ]*pair:[0-9]+:out"'
run 0 show "$both" -f result
ok "… result" eval 'prints "^result h2d.ce.pinned.bidi [^ ]+ min 48.*cells$" &&
	prints "^result h2d.ce.pinned.bidi [^ ]+ min 51.*cells way-back$"'
run 0 show "$both" -f prom
ok "… prom" eval 'prints "bandwidth_[^ ]*\"h2d.ce.pinned.bidi\".*src=\"numa0\",dst=\"gpu0\"" &&
	prints "bandwidth_[^ ]*\"h2d.ce.pinned.bidi\".*src=\"gpu0\",dst=\"numa0\""'
run 0 show "$both" -f csv
ok "… csv" eval 'prints ",h2d.ce.pinned.bidi,.*,rate,pinned,numa0,gpu0," &&
	prints ",h2d.ce.pinned.bidi,.*,rate,pinned,gpu0,numa0,"'
ok_view "a critical run by the same grammar" nagios bad.nagios
ok "… names what is wrong, worst first" eval '
	[ "$(head -c 20 bad.nagios)" = "CSCOPE-MPI CRITICAL:" ] &&
	sed -n 2p bad.nagios | grep -q "^critical: .*corrupt"'
run 0 --no-mpi --min-share 50% -f nagios -s 64K -q
ok "nothing could be judged: status 3" status_is 3
run 0 --no-mpi --min-share 50% -f nagios -s 64K
ok "… is UNKNOWN" prints '^CSCOPE-MPI UNKNOWN: copies of 64 KiB are too short to be judged'
ok "the checker finds a bar too many" finds nagios bad.nagios '2s/$/ |/'

# ---- JUnit ----

ok_view "-o a.xml is JUnit" junit a.xml
ok "no case of a healthy run has failed" grep -q 'failures="0" errors="0" skipped="0"' a.xml
ok_view "two placements have cases of their own" junit two.xml
ok_view "a run with faults is JUnit" junit bad.xml
ok "… the test with the corrupt cell has failed" eval '
	grep -A1 "name=\"peer.ce.write.pair 64 KiB\"" bad.xml | grep -q "<failure message=\"1 of 6 cells failed: "'
ok "… what was throttled has not: a warning is output of a case that passed" eval '
	grep -A1 "name=\"throttled\"" bad.xml | grep -q "<system-out>GPU . (.*) throttled by "'
FAKE_GPUS=2 FAKE_NO_PEER=0-1,1-0 run 0 "${some[@]}" --via direct -q -o none.xml
ok_view "what was skipped is JUnit" junit none.xml
ok "… with its reason" grep -q '<skipped message="[^"]' none.xml
FAKE_NAME='A&B <"one">' run 0 "${some[@]}" --check --baseline none.json -q
printf '{"schema":"cscope-mpi-baseline/1","program":{"name":"cscope-mpi","version":"0"},"classes":[{"class":"<x> & \\"y\\"","nodes":1,"runs":1,"statistics":[{"test":"peer.ce.write.pair","metric":"rate","unit":"GB/s","copy_bytes":65536,"link_kind":"NVLink","median":9,"spread_within":0,"spread_nodes":null,"spread_runs":null,"nodes":1,"runs":1,"cells":1}]}]}' >other.json
FAKE_NAME='A&B <"one">' run 0 "${some[@]}" --baseline other.json -q -o odd.xml -o odd.prom
ok_view "names with what XML reserves are escaped" junit odd.xml
ok "… and are there" grep -q 'A&amp;B &lt;&quot;one&quot;&gt;' odd.xml
ok_view "… in labels too" prom odd.prom
ok "the checker finds a count that is wrong" finds junit a.xml \
	's/failures="0"/failures="1"/'

# ---- doc/INTEGRATIONS.md and packaging/ ----

run 0 show a.json -f result
cp out a.result
ok_view "the patterns for ReFrame find the figures" reframe \
	"$top/packaging/reframe/cscope_mpi.py" a.result
sed -n "/^    jq -c '/,/' run.json\$/p" "$top/doc/INTEGRATIONS.md" >for-superbench
cp a.json run.json
if command -v jq >/dev/null; then
	bash for-superbench >summary.json 2>err
else
	skip="no jq"
fi
ok_json "the expression for SuperBench makes one flat object" summary.json \
	'd["node"] and len(d) > 20 and all(isinstance(v, (int, float)) for k, v in d.items() if k != "node") and "cscope-mpi/peer.ce.write.pair_gpu0_to_gpu1_65536" in d'
finish
