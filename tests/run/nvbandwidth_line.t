#!/bin/bash
# The program started as nvbandwidth: its command lines, as programs give them that wrap
# it, its indices, its own measure, and its statuses.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 2

ln -s "$CS_PROGRAM" nvbandwidth
nvb() { # OPTION...
	run_program 0 ./nvbandwidth "$@"
}
wrapper_reads() { # WRAPPER TEXT FILE
	command -v "${PYTHON:-python3}" >/dev/null || return 0
	"${PYTHON:-python3}" "$TESTDATA/wrappers.py" "$1" "$2" >"$3"
}
ran() { # the tests of `out` that have figures
	sed -n 's/^Running \(.*\)\.$/\1/p' out | paste -sd' '
}
refused() { # OPTION...: status 1, nothing on standard output, one line
	nvb "$@"
	[ "$status" = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ]
}

# ---- lists and indices ----

nvb --list
cp out list
ok "--list has every index once, without a word on standard error" eval \
	'status_is 0 && [ ! -s err ] && [ "$(sed -nE "s/^([0-9]+), [a-z_]+:$/\1/p" list | paste -sd,)" = "$(seq -s, 0 56)" ]'
ok "indices are those of 0.8: 35 tests, then 13 of several nodes" eval \
	'grep -qx "17, device_to_host_memcpy_sm:" list && grep -qx "34, device_local_copy:" list &&
	 [ "$(sed -nE "s/^([0-9]+), multinode_.*/\1/p" list | paste -sd,)" = "$(seq -s, 35 47)" ]'
nvb -b 1 -t 5
cp out by_index
nvb -b 1 -t device_to_device_memcpy_write_ce
ok "a test by its index is the test of that name" eval \
	'status_is 0 && [ "$(ran)" = device_to_device_memcpy_write_ce ] && same by_index out'
nvb -b 1 -t 32 0 --testcase device_to_host_memcpy_ce -t32
ok "several tests, in the order in which they are given, each as often" eval \
	'[ "$(ran)" = "host_device_latency_sm host_to_device_memcpy_ce device_to_host_memcpy_ce host_device_latency_sm" ]'
nvb -b 1 --testcasePrefixes device_to_device_lat host_device one_to_all_write_c
ok "tests by prefix, in the order of the list" eval \
	'[ "$(ran)" = "one_to_all_write_ce host_device_latency_sm device_to_device_latency_sm device_to_device_latency_tma" ]'

# ---- programs that wrap it ----

# SuperBench's line
nvb --bufferSize 1 --testcase device_to_device_memcpy_write_ce no_such_test 99 \
	--skipVerification --disableAffinity --useMean --testSamples 3
cp out text
wrapper_reads superbench text super.json
ok_json "a line of SuperBench is carried out, and its figures are read" super.json \
	'list(d) == ["device_to_device_memcpy_write_ce"] and set(d["device_to_device_memcpy_write_ce"]) == {"gpu0_gpu1_bw", "gpu1_gpu0_bw", "sum"}'
ok "tests that there are not are named as it expects, and are no failure" eval \
	'status_is 0 && grep -qx "ERROR: Testcase no_such_test not found!" text && grep -qx "ERROR: Testcase index 99 out of bound!" text'
# DCGM's line
nvb -j -v -t host_to_device_memcpy_ce -t 34 -t 45 -b 1
wrapper_reads dcgm out dcgm.json
ok_json "a line of DCGM is carried out, and its document is read" dcgm.json \
	'{n: t["status"] for n, t in d.items()} == {"host_to_device_memcpy_ce": "passed", "device_local_copy": "passed", "multinode_device_to_device_broadcast_one_to_all_sm": "waived"} and len(d["host_to_device_memcpy_ce"]["matrix"][0]) == 2 and d["host_to_device_memcpy_ce"]["min"] > 1'
nvb --format json -t no_such_test
wrapper_reads dcgm out dcgm.json
ok_json "... also where there is no such test" dcgm.json 'd["no_such_test"]["status"] == "error"'

# ---- its own measure ----

figures() { # the samples of `out`, the cell, the variation
	sed -nE 's/^\tSample [0-9]+: Host -> Device 0: ([0-9.]+) GB\/s$/\1/p; s/^ 0 +([0-9.]+)$/\1/p; s/^COEFF.* ([0-9.]+)$/\1/p' out | paste -sd' '
}
export FAKE_GPUS=1 FAKE_DRIFT=0.001
nvb -b 1 -v -t 0 -i 4
ok "-i: so many samples, of which the figure is the median" eval \
	'figures | awk "NF != 6 { bad = 1 } { d = \$5 - (\$2 + \$3) / 2 } END { exit bad || d > .011 || d < -.011 }"'
ok "-v: each sample, and their deviation as a share of the mean" eval \
	'figures | awk "{ m = (\$1 + \$2 + \$3 + \$4) / 4; for (i = 1; i < 5; i++) s += (\$i - m) ^ 2; d = sqrt(s / 3) / m - \$6 } END { exit d > .0002 || d < -.0002 }" && [ "$(figures | cut -d" " -f6)" != 0.0000 ]'
export FAKE_SLOW_SAMPLES=0-2 FAKE_SLOW=h-0:0.5 FAKE_DRIFT=0
nvb -b 1 -v -t 0 -i 4
cp out median
nvb -b 1 -v -t 0 -i 4 -m
ok "-m: the figure is their mean" eval \
	'figures | awk "{ d = \$5 - (\$1 + \$2 + \$3 + \$4) / 4 } END { exit NF != 6 || d > .011 || d < -.011 }"'
unset FAKE_SLOW_SAMPLES FAKE_SLOW FAKE_DRIFT
nvb -b 1 -t 0 -i 100 --loopCount 16
ok "what has no meaning, or not that much, is said in one line" eval \
	'status_is 0 && [ "$(wc -l <err)" = 1 ] && grep -q "testSamples: 50.*loopCount" err'

# ---- statuses ----

nvb -b 1 -t 5 device_to_device_latency_sm
ok "tests for which there are too few GPUs are waived" eval \
	'status_is 0 && [ ! -s err ] && [ "$(grep -c "^Waived: .*: it needs two GPUs$" out)" = 2 ] && [ -z "$(ran)" ]'
FAKE_GPUS=0 nvb -t 0
ok "without a GPU: status 1, and no figures of host memory" eval 'status_is 1 && [ ! -s out ] && grep -q "no GPU" err'
export FAKE_GPUS=2
FAKE_CORRUPT=0-1:64 nvb -b 1 -t 5
ok "wrong data: status 1, after the other cells" eval \
	'status_is 1 && grep -q "^Error: device_to_device_memcpy_write_ce: .*wrong bytes" out && grep -qE "^ 1 +[0-9.]+ +N/A$" out && ! grep -q "(exit" err'
ok "an unknown option is refused with status 1" refused --nothing
ok "... an ambiguous beginning of one" refused --test 0
ok "... an argument that belongs to no option" refused -v 0
ok "... an option without its value" refused -b 1 -t -v
ok "... one that is given twice" refused -b 1 -b 2
ok "... a size that is no number of MiB" refused -b 1M
ok "... tests and prefixes at once" refused -t 0 -p host
ok "... a prefix of no test" refused -p hots
nvb --buff 1 -mt 0
ok "beginnings of names and letters together are taken, as there" eval 'status_is 0 && [ "$(ran)" = host_to_device_memcpy_ce ]'

# ---- under a launcher ----

memory 1000000000 # kernels go through much of it
run_program 2 ./nvbandwidth -p multinode -b 1 -i 2
ok "tests of several nodes are measured within one, by a rank for each GPU" eval \
	'status_is 0 && [ "$(ran | wc -w)" = 11 ] && [ "$(grep -c "^Waived: multinode_.*broadcast.*multicast" out)" = 2 ] && [ "$(grep -c "^nvbandwidth Version" out)" = 1 ]'
finish
