#!/bin/bash
# quickstart.t - what `./quickstart check` says of tests, by a tree of its own whose
# makefile has some that pass, fail, skip and crash.
# shellcheck disable=SC2016,SC2034 # ok() evaluates conditions
: "${TESTDATA:?is not set: run this by make check}"
top=$(cd "$TESTDATA/.." && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$TESTDATA/tap.sh"
cd "$work" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs this

shows() {
	sed 's/^/# /' out err 2>/dev/null
}

# ---- a tree that is built already, on a machine where nothing is missing ----

mkdir -p bin build/tests m4 packaging src
touch configure.ac Makefile.am src/local.mk
touch -d '1 minute ago' configure.ac Makefile.am src/local.mk m4
touch Makefile.in configure
cp "$top/quickstart" .
cp "$top/packaging/dependencies" packaging
for tool in promtool dpkg-query; do
	printf '#!/bin/sh\necho installed\n' >bin/$tool
done
printf "#!/bin/sh\necho \"'--enable-werror'\"\n" >build/config.status
chmod +x bin/* build/config.status
echo '#define HAVE_CUDA 1' >build/config.h
cat >build/Makefile <<END
TESTS = \$(patsubst %.sh,%.t,\$(wildcard tests/*.sh))
all:
check-clang:
check: \$(TESTS:.t=.trs)
	! grep -lE ': (FAIL|ERROR)' \$^ /dev/null
%.trs: %.sh
	sh $top/build-aux/tap-driver.sh --test-name \$*.t --log-file \$*.log --trs-file \$@ \\
		--color-tests no --enable-hard-errors yes --expect-failure no -- sh \$*.sh
broken: \$(TESTS:.t=.trs) ; test -z '\$(TESTS)'
END

run_check() {
	PATH=$work/bin:$PATH ./quickstart check >out 2>err
	status=$?
}

program() { # NAME LINE...
	printf '%s\n' "${@:2}" >"build/tests/$1.sh"
}

last_line_is() { # TEXT
	[ "$(tail -n 1 out)" = "$1" ]
}

has() { # FILE LINE
	grep -qxF -- "$2" "$1"
}

program a 'echo "ok 1 - one"; echo "ok 2 - two # SKIP no moon"; echo 1..2'
program b 'echo "ok 1 - three"; echo 1..1'
run_check
ok "all is well: the last line counts, status 0" eval \
	'last_line_is "2 passed, 0 failed, 1 skipped" && [ $status = 0 ]'
ok "what was skipped is named" has out 'skipped: tests/a.t 2 - two # SKIP no moon'
ok "the beginning says how much there is, and how long it takes" \
	grep -qE '^quickstart: running the tests: 2 programs, about [0-9]+ minutes on 2 idle' err

program c 'echo "ok 1 - four"; echo "not ok 2 - five"; echo "# because"; echo 1..2; exit 1'
program d 'echo 1..7; echo "ok 1 - six"; kill -ABRT $$'
run_check
ok "an assertion and its program's status are one failure, and so is a crash" eval \
	'last_line_is "4 passed, 2 failed, 1 skipped" && [ $status = 1 ]'
ok "what failed is named, with the file to read" has out \
	'failed: tests/c.t 2 - five (all of it in build/tests/c.log)'
ok "… also what crashed" has out \
	'failed: tests/d.t - too few tests run (expected 7, got 1) (all of it in build/tests/d.log)'
ok "… and what it said itself stands above" has out '# because'

rm build/tests/[cd].*
program c 'echo "ok 1 - four"; echo 1..1; exit 3'
run_check
ok "a program that passes all and ends badly is a failure" eval \
	'last_line_is "3 passed, 1 failed, 1 skipped" &&
	 has out "failed: tests/c.t - exited with status 3 (all of it in build/tests/c.log)"'

rm build/tests/c.*
program c 'echo "ok 1 - four"; echo 1..1'
sed -i 's/^check: /&broken /' build/Makefile
run_check
ok "so is a make that fails where no test did" eval '[ $status = 1 ] &&
	has out "failed: make check: status 2; see build/quickstart.log" &&
	last_line_is "3 passed, 1 failed, 1 skipped"'

# ---- progress ----

rm build/tests/c.*
sed -i 's/^check: broken /check: /' build/Makefile
program z "for i in \$(seq 300); do
	grep -q '2 of 3 test programs, 2 tests passed, 0 failed' $work/terminal && break
	sleep 0.1
done; echo 'ok 1 - last'; echo 1..1"
if command -v script >/dev/null; then
	PATH=$work/bin:$PATH script -qefc './quickstart check' terminal >/dev/null 2>&1 </dev/null
	ok "a terminal shows how far it is, on one line" \
		grep -q $'\rquickstart: 2 of 3 test programs, 2 tests passed, 0 failed' terminal
else
	skip "a terminal shows how far it is, on one line" "no script(1)"
fi

# ---- a machine without a GPU ----

# Starts one process in place of all ranks.
cat >bin/mpirun <<'END'
#!/bin/bash
[ "$1" != --version ] || { echo 'mpirun (Open MPI) 4.1.4'; exit; }
echo "$*" >args
while [ "$1" != build/cscope-mpi ]; do
	shift
done
shift
exec "$CSCOPE" "$@" --no-mpi -s 1M
END
printf '#!/bin/sh\nexit 1\n' >bin/nvidia-smi
printf '#!/bin/sh\necho 8\n' >bin/nproc
chmod +x bin/*
mkdir -p sys/devices/system/node/node{0,1,2,3}
if [ -d /proc/driver/nvidia/gpus ]; then
	for sentence in ranks bounds warnings latency lines; do
		skip "without a GPU: $sentence" "this machine has one"
	done
else
	for try in 1 2 3 4; do # on a busy machine 10 s may be too few
		SYSFS=$work/sys PATH=$work/bin:$PATH CS_LIBCUDA=/nowhere/libcuda.so.1 \
			CS_LIBNVML=/nowhere/libnvidia-ml.so.1 CS_TEST_ROOT=${CS_NO_GPU:-} \
			./quickstart >out 2>err
		status=$?
		grep -q "the budget was spent" out || break
	done
	ok "without a GPU: a rank for each NUMA node" grep -q -- '-np 4 build/cscope-mpi' args
	ok "… at most 10 s, and a fixed count, which crowding does not make longer" \
		grep -q -- '--matrix host --samples [0-9]* --budget 10s' args
	ok "… nothing warns of what crowding does: unsettled figures, drift, overlap" eval \
		'[ $status = 0 ] && [ -s out ] && ! grep -E "unstable|control cell|overlap" out'
	ok "… bandwidth and latency of NUMA nodes stand in the answer" grep -qE \
		'NUMA node to NUMA node [0-9.]+ GB/s, a load [0-9.]+' out
	ok "… three lines end it: what was built, a report to look at, what to run" eval '
		tail -n 5 err | tr -s "\n " " " | grep -q "is built and works; nothing about GPU links was measured here.* a report of real GPUs: .*cscope-mpi show .* on a node with GPUs: "'
fi
finish
