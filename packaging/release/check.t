#!/bin/bash
# check.t - what `make dist` makes: all that git has.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need git make
[ -e "$top/.git" ] || skip_all "no git here to compare with"

dist() { # FOLDER
	mkdir "$1"
	make -C "$build" dist && mv "$build"/cscope-mpi-*.tar.?z* "$1"
}
ok "make dist makes a tarball" dist first

# Not what only serves those who have git; what a link names goes in its place.
git -C "$top" ls-files -s | awk '$1 != 120000 && $4 !~ "(^|/)[.]git" { print $4 }' |
	sort >wanted
tar -tzf first/*.tar.gz | sed 's|^[^/]*/||' | grep -v '/$' | sort >there
comm -23 wanted there >missing
ok "it has all that git has" is_empty missing

finish
