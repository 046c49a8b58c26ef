#!/bin/bash
# check.t - the Debian package, of this tree's release: built, looked at by lintian,
# installed, run and removed, each time in a fresh root of the distribution.
# CS_SUITES=noble chooses.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need make tar
name=cscope-mpi-$version
release=$work/$name.tar.gz

make_release() {
	make -C "$build" dist && cp "$build/$name.tar.gz" "$release"
}
ok "make dist makes the sources" make_release

prepare() { # ROOT
	mkdir "$1/made" && cp "$top/packaging/debian/prepare" "$release" "$1/made" &&
		in_root "$1" sh -ec "
			cd made
			./prepare '$name.tar.gz' $(stat -c %Y "$top/CHANGELOG.md")"
}
build_package() { # ROOT
	in_root "$1" sh -exc "
		apt-get -qq update
		apt-get -qq install -y --no-install-recommends build-essential fakeroot \
			lintian
		cd /made/$name
		apt-get -qq build-dep -y --no-install-recommends ./
		dpkg-buildpackage -us -uc"
}
install_package() { # ROOT
	in_root "$1" sh -exc "
		apt-get -qq update
		apt-get -qq install -y --no-install-recommends /cscope-mpi_*.deb openmpi-bin"
}
remove_package() { # ROOT
	in_root "$1" sh -exc "
		dpkg -L cscope-mpi >/files
		apt-get -qq purge -y cscope-mpi
		while read -r file; do
			if [ ! -d \"\$file\" ]; then test ! -e \"\$file\"; fi
		done </files
		test ! -e /usr/share/cscope-mpi
		test ! -e /usr/share/doc/cscope-mpi"
}

of() { # SUITE
	local suite=$1 why root=$work/$1
	why=$(no_root "$suite")
	if [ -n "$why" ]; then
		skip "$suite: built, installed, run and removed" "$why"
		return
	fi
	ok "$suite: a fresh root" fresh_root "$suite" "$root-build" || return
	ok "$suite: the release becomes a source package" prepare "$root-build"
	ok "$suite: it is built with what its control file names" \
		build_package "$root-build" || return
	ok "$suite: its lintian has no error" in_root "$root-build" sh -c \
		'lintian --allow-root --fail-on error /made/*.changes'
	cat says >&2

	fresh_root "$suite" "$root" && cp "$root-build"/made/cscope-mpi_*.deb "$root"
	cp "$top/packaging/debian/tests/smoke" "$root"
	ok "$suite: it installs" install_package "$root" || return
	ok "$suite: ... and measures, alone and as two ranks" in_root "$root" /smoke
	ok "$suite: ... with the CUDA backend, though no toolkit was there" eval \
		'in_root "$root" cscope-mpi --version | grep -E "^CUDA +kernels by nvcc "'
	ok "$suite: ... as the health check that it brings" in_root "$root" \
		/usr/share/cscope-mpi/launch/health-check '' 20s --backend cpu -s 1M
	ok "$suite: ... shows the results that it brings" in_root "$root" \
		cscope-mpi show /usr/share/doc/cscope-mpi/results/h200x4/np4.json
	ok "$suite: ... and has its manuals" in_root "$root" sh -c \
		'test -s /usr/share/man/man1/cscope-mpi.1.gz &&
		 test -s /usr/share/man/man5/cscope-mpi-formats.5.gz'
	ok "$suite: nothing is left of it when it is removed" remove_package "$root"
	rm -rf "$root" "$root-build"
}
for suite in ${CS_SUITES:-bookworm noble}; do
	of "$suite"
done

finish
