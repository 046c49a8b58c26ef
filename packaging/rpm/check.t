#!/bin/bash
# check.t - the RPM, built here by rpmbuild (Debian's will do): what is in it, and what
# the spec file asks for where RHEL or SLES would read it.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need make
name=cscope-mpi-$version

make_release() {
	make -C "$build" dist && cp "$build/$name.tar.gz" .
}
ok "make dist makes the sources" make_release
"$top/packaging/rpm/prepare" "$version" >cscope-mpi.spec

# ---- the package ----

build_package() {
	mkdir -p top/SOURCES && cp "$name.tar.gz" top/SOURCES &&
		rpmbuild -bb --noclean --nodeps --define "_topdir $work/top" \
			cscope-mpi.spec &&
		mv top/RPMS/*/cscope-mpi-[0-9]*.rpm cscope-mpi.rpm
}
# Manuals may be compressed there; build ids are rpm's own.
same_files() {
	make -C "$build" install DESTDIR="$work/install" prefix=/usr >/dev/null || return 1
	(cd install && find . ! -type d | sed 's/^[.]//' | sort) >installed
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' cscope-mpi.rpm |
		awk '!/^d/ && !/[.]build-id|licenses|LICENSE/ { print $2 }' |
		sed -E 's/([.][15])[.]gz$/\1/' | sort >packed
	[ -s packed ] && diff installed packed
}
# What was built is packed again, as RHEL would.
as_rhel() {
	rpmbuild -bb --short-circuit --noclean --nodeps --define "_topdir $work/top" \
		--define "rhel 9" cscope-mpi.spec &&
		rpm -qp --requires top/RPMS/*/cscope-mpi-[0-9]*.rpm >needed &&
		grep -q '^openmpi(' needed && grep -q '^libhwloc[.]so' needed &&
		! grep '^libmpi[.]so' needed
}
if ! command -v rpmbuild >/dev/null; then
	skip "rpmbuild builds it" "no rpmbuild"
else
	ok "rpmbuild builds it" build_package && {
		ok "it has what make install installs, and the licence" same_files
		ok "... and needs the MPI that it was built with" eval \
			'rpm -qp --requires cscope-mpi.rpm | grep -E "^lib(mpi|mpich)[.]so"'
		ok "where RHEL would read it, it needs openmpi by name alone" as_rhel
		ok "a candidate is older than its version" eval \
			'[ "$(rpm -qp --qf "%{VERSION}" cscope-mpi.rpm)" = "${version/-rc/\~rc}" ]'
	}
fi

# ---- what it is built with elsewhere ----

wants() { # "MACRO VALUE" PACKAGE...: exactly these, besides the compiler's
	local where=$1
	shift
	printf '%s\n' "$@" | sort >wanted
	rpmspec -q --buildrequires --define "$where" cscope-mpi.spec |
		grep -vE '^(gcc|glibc-devel|make|pkg.*)$' | sed 's/ .*//' | sort |
		diff wanted -
}
rhel=(hwloc-devel jansson-devel numactl-devel openmpi openmpi-devel)
sles=(hwloc-devel libjansson-devel libnuma-devel openmpi4 openmpi4-devel)
# The program finds the MPI that it was built with, before any module is loaded.
rpath() { # "MACRO VALUE" FOLDER
	rpmspec -P --define "$1" cscope-mpi.spec | grep -E "LDFLAGS=.* -Wl,-rpath,[^ ]*$2\""
}
if ! command -v rpmspec >/dev/null; then
	skip "the spec names the packages of RHEL and SLES" "no rpmspec"
else
	ok "RHEL 8 is asked for its packages" wants "rhel 8" "${rhel[@]}"
	ok "RHEL 9 is asked for its packages" wants "rhel 9" "${rhel[@]}"
	ok "SLES 15 is asked for its packages" wants "suse_version 1500" "${sles[@]}"
	ok "... and its program knows where that keeps libmpi" \
		rpath "suse_version 1500" "/mpi/gcc/openmpi4/lib(64)?"
fi

# ---- an old distribution: glibc 2.31, hwloc 2.4.1 as RHEL 9 has, no autotools ----

build_there() {
	fresh_root bullseye old && cp "$name.tar.gz" old/ &&
		cp "$top/packaging/debian/tests/smoke" old/ && in_root "$work/old" sh -exc "
			apt-get -qq update
			apt-get -qq install -y --no-install-recommends gcc libc6-dev make \
				pkg-config libopenmpi-dev openmpi-bin libhwloc-dev libnuma-dev \
				libjansson-dev
			tar -xzf $name.tar.gz
			cd $name
			./configure --enable-werror
			make -j2
			PATH=\$PWD:\$PATH /smoke"
}
why=$(no_root bullseye)
if [ -n "$why" ]; then
	skip "Debian 11 builds the release, and it measures" "$why"
else
	ok "Debian 11 builds the release, and it measures" build_there
	ok "... with the CUDA backend" eval \
		'in_root "$work/old" "/$name/cscope-mpi" --version | grep -E "^CUDA +kernels by nvcc "'
fi

finish
