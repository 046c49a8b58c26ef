#!/bin/bash
# torture.t [PART...] - the driver fails, hangs and lies, ranks are killed: the
# parts of tests/torture.py, all unless named.  `make check-torture` and `make
# check-kill` take each in full.
# shellcheck source=/dev/null
. "$(dirname "$0")/lib.sh"
needs_fake
command -v "${PYTHON:-python3}" >/dev/null || skip_all "no Python"
[ $# -gt 0 ] || set -- fail hang data death kill
TMPDIR=$work "${PYTHON:-python3}" "$TESTDATA/torture.py" "$@"
