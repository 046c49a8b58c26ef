#!/bin/bash
# check.t - the test by ReFrame itself: on the cpu backend, on the driver's double, and
# with a reference that is not kept.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
reframe=${REFRAME:-$(command -v reframe)}
[ -n "$reframe" ] || skip_all "no reframe in PATH: name it by REFRAME=FILE"
here=$top/packaging/reframe
export TMPDIR=$work FAKE_GPUS=2 FAKE_MEMORY=12000000

cat >settings.py <<'END'
site_configuration = {
    'systems': [{'name': 'here', 'hostnames': ['.*'], 'partitions': [{
        'name': 'default', 'scheduler': 'local', 'launcher': 'local',
        'environs': ['builtin']}]}],
    'environments': [{'name': 'builtin'}],
    'general': [{'remote_detect': False, 'resolve_module_conflicts': False}],
}
END
cat >kept.py <<END
import sys
sys.path.insert(0, '$here')
import reframe as rfm
from cscope_mpi import cscope_mpi_links

class with_reference(cscope_mpi_links):
    tests = 'peer.ce.write.pair'
    size = '1M'

@rfm.simple_test
class kept(with_reference):
    reference = {'*': {'peer_ce_write_pair_min': (196, -0.05, None, 'GB/s')}}

@rfm.simple_test
class missed(with_reference):
    reference = {'*': {'peer_ce_write_pair_min': (390, -0.05, None, 'GB/s')}}
END
runs() { # FILE OPTION...
	"$reframe" -C settings.py --prefix "$work" --dont-restage -c "$1" -r \
		--performance-report -S executable="$CSCOPE" "${@:2}" >out 2>&1
	echo "status $?" >>out
	cat out
}
passes() { # PATTERN FILE OPTION...
	runs "${@:2}"
	grep -q 'PASSED' out && grep -qx 'status 0' out && grep -Eq "$1" out
}
fails() { # PATTERN FILE OPTION...
	runs "${@:2}"
	grep -q 'FAILED' out && ! grep -qx 'status 0' out && grep -Eq "$1" out
}
ok "ReFrame finds the test" eval '"$reframe" -C settings.py -c "$here/cscope_mpi.py" -l |
	grep "cscope_mpi_links"'
ok "it runs on the cpu backend, and each figure is a variable" \
	passes 'host_.*_pair_min|peer_cpu_.*_min' "$here/cscope_mpi.py" \
	-S cscope_mpi_links.backend=cpu -S cscope_mpi_links.size=1M
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1
ok "... and between GPUs" passes 'peer_ce_write_pair_min.*196' "$here/cscope_mpi.py" \
	-S cscope_mpi_links.size=1M
ok "wrong data fail it" eval \
	'FAKE_CORRUPT=0-1:8 fails . "$here/cscope_mpi.py" -S cscope_mpi_links.size=1M'
ok "a reference that is kept passes" passes . kept.py -n '^kept'
ok "... and one that is not fails" fails 'peer_ce_write_pair_min' kept.py -n '^missed'
finish
