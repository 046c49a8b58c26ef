#!/bin/bash
# check.t - the plugin on the driver's double: statuses, and one line of 80 characters.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need jq
here=$top/packaging/node-problem-detector
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_GPUS=2 FAKE_MEMORY=12000000

gives() { # STATUS PATTERN [VARIABLE=VALUE...] [-- OPTION...]
	local status=$1 pattern=$2 more=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- -b 30 -p "$CSCOPE" -s 1M --suite quick --check
	env "${more[@]}" "$here/cscope-npd" "$@" >out 2>err </dev/null
	echo "status $?" >ended
	cat ended out err
	grep -qx "status $status" ended && [ "$(wc -l <out)" = 1 ] &&
		grep -Eq "$pattern" out && is_empty err && [ "$(wc -c <out)" -le 81 ]
}
ok "a healthy node: status 0" gives 0 '^cscope-mpi ok'
ok "a warning: status 0 too, and it is said" gives 0 '^cscope-mpi warning: ' FAKE_THROTTLE=1:0x8
ok "wrong data: status 1, in 80 characters" gives 1 '^cscope-mpi critical: ' FAKE_CORRUPT=0-1:8
ok "nothing could be tested: status 2" gives 2 '^cscope-mpi cannot test: ' FAKE_GPUS=0 \
	-- -b 30 -p "$CSCOPE" --backend cuda -s 1M --check
ok "a wrong option: status 2" gives 2 'unknown option' -- -p "$CSCOPE" --nonsense
ok "no program: status 2" gives 2 . -- -p "$work/none"
ok "the configuration is JSON whose rules name its condition" jq -e '
	.plugin == "custom" and (.conditions[0].type == .rules[0].condition) and
	.pluginConfig.max_output_length == 80' "$here/cscope-mpi.json"
enough() { # its timeout is longer than its budget
	[ "$(jq -r '.rules[0].args | .[index("-b") + 1]' "$here/cscope-mpi.json")" -lt \
		"$(jq -r '.rules[0].timeout | rtrimstr("s")' "$here/cscope-mpi.json")" ]
}
ok "... and whose timeout is longer than its budget" enough
finish
