#!/bin/bash
# moves.sh - what pages that move by themselves take on the driver's double, for the tests
# of managed memory and of malloc's: they source it after lib.sh, in whose folder they are then.
# shellcheck disable=SC2034,SC2154 # $truth is the test's

# Prefetches of 4 MiB, and touches in 6 faults of 2 MiB (tests/fake/um.c): bytes a
# second by GPUs, seconds.  A test adds what it wants as `want`, and its rows as `good`.
moves='B = 4 << 20
gbs = lambda s: B / s / 1e9
down = lambda g: 48e9 * (55.3 + .1 * g) / 55.3
up = lambda g: 18e9 * (55.2 + .1 * g) / 55.2
across = lambda a, b: 148e9 * (396 + .1 * a - .03 * b) / 396
faults = 12 * 28e-6
number = lambda end: int(end[3:]) if end.startswith("gpu") else -1
'
moving_pages() { # FILE EXPRESSION over `good` and `want`
	json "$1" "(lambda d: (lambda s: (exec('''$moves$truth''', s), eval('''$2''', s))[1])({'d': d}))(d)"
}
