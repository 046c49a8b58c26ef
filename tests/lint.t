#!/bin/bash
# Linters: shell scripts by shellcheck, C by cppcheck and clang-tidy, its layout by
# clang-format.
build=$PWD
cd "${srcdir:-.}" || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

# Run a tool if it is there; its findings are the test's comment.
check() { # SENTENCE COMMAND...
	local sentence=$1
	shift
	command=("$@")
	if command -v "$1" >/dev/null; then
		ok "$sentence" finds_nothing
	else
		skip "$sentence" "no $1"
	fi
}

# Without arguments, which `ok` would print: hundreds of files.  clang-tidy counts after each
# file, and would push its findings out of the lines that are shown.
finds_nothing() {
	"${command[@]}" 2>&1 | sed '/^[0-9].* generated\.$/d; /^Error while processing /d'
	return "${PIPESTATUS[0]}"
}

mapfile -t scripts < <(find quickstart .ci launch packaging tests -type f -print0 |
	xargs -0 grep -lE '^#(!.*\<(ba)?sh\>| shellcheck shell=)' | grep -vE '^tests/(run|packages)/|/check[.]t$')
check "shellcheck finds nothing in ${#scripts[@]} scripts" \
	shellcheck -x "${scripts[@]}"

# They hand code to lib.sh in quotes, and share its variables.
check "shellcheck finds nothing in tests/run and the checks of packaging" \
	shellcheck -x --exclude=SC2016,SC2034,SC2154 tests/run/*.t tests/run/lib.sh tests/run/moves.sh \
	packaging/*/check.t tests/packages/lib.sh

# Style and "unused" are left to reviewers: only what is wrong anywhere.  By two processes
# it takes a third less time in all; what they note in a folder is compared at the end.
mkdir "$work/cppcheck"
check "cppcheck finds nothing in the sources" \
	cppcheck --quiet -j2 --cppcheck-build-dir="$work/cppcheck" \
	--error-exitcode=1 --inline-suppr --std=c11 \
	--enable=warning,performance,portability --suppress=missingInclude \
	--suppress=unmatchedSuppression --suppressions-list=tests/cppcheck.suppress \
	--library=posix --library=gnu --library=tests/cppcheck.cfg \
	-D_GNU_SOURCE -DHAVE_CUDA=1 -Isrc src

# .clang-format is written for this version: others lay out some lines in another way.
# In a release nvcc has written one of them.
mapfile -t sources < <(find doc kernels packaging src tests \( -name '*.[ch]' -o -name '*.cu' \) \
	! -path kernels/kernels.c)
check "clang-format 19 would change nothing in ${#sources[@]} files" \
	clang-format-19 --dry-run --Werror "${sources[@]}"

# Not what stands in for, or wraps, a library with names of its own.
mapfile -t compiled < <(find src tests -name '*.c' ! -path 'tests/fake/*' \
	! -name libkill.c ! -name tap.c)
mapfile -t flags < <(sed -n 's/^\(HWLOC\|JANSSON\|MPI\|NUMA\)_CFLAGS = //p' \
	"$build/Makefile" | xargs -n 1)
check "clang-tidy finds nothing in ${#compiled[@]} files" \
	clang-tidy --quiet "${compiled[@]}" -- -std=gnu11 -D_GNU_SOURCE \
	'-DCS_COMMIT=""' -I"$build" -Isrc -Itests "${flags[@]}"
finish
