#!/bin/bash
# check.t - the check function inside NHC itself, of the sources in the folder NHC.
# tests/run/prolog.t tries it by itself.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
[ -x "${NHC:-}/nhc" ] || skip_all "no NHC: name a folder of its sources by NHC=DIR"
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_GPUS=2 FAKE_MEMORY=12000000
mkdir -p conf scripts
cp "$NHC"/scripts/*.nhc "$top/packaging/nhc/cscope-mpi.nhc" scripts

nhc() { # STATUS PATTERN [VARIABLE=VALUE...]
	local status=$1 pattern=$2
	shift 2
	echo "* || check_cscope_mpi -p $CSCOPE -b 20 -s 1M --suite quick --check" >conf/nhc.conf
	env "$@" "$NHC/nhc" -D "$work/conf" -c "$work/conf/nhc.conf" -l "$work/log" \
		INCDIR="$work/scripts" HELPERDIR="$NHC/helpers" MARK_OFFLINE=0 DETACHED_MODE=0 \
		>out 2>err
	echo "status $?" >ended
	cat ended out err log
	grep -qx "status $status" ended && cat ended out log | grep -Eq "$pattern"
}
touch log
ok "NHC passes a healthy node" nhc 0 '^status 0'
ok "... and fails one with wrong data, with the program's line" \
	nhc 1 'cscope-mpi critical: .*corrupt' FAKE_CORRUPT=0-1:8
ok "... and leaves one with a warning in use" nhc 0 'cscope-mpi warning' FAKE_THROTTLE=1:0x8
finish
