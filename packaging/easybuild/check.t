#!/bin/bash
# check.t - EasyBuild builds and installs a release, runs its tests and loads its module.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
framework=${EASYBUILD:-} framework=${framework%%:*}
[ -f "$framework/easybuild/main.py" ] ||
	skip_all "no EasyBuild: name its sources by EASYBUILD=FRAMEWORK:EASYBLOCKS"
need make sha256sum
modulecmd=$(find /usr/lib -maxdepth 2 -name modulecmd.tcl 2>/dev/null | head -n 1)
[ -n "$modulecmd" ] || skip_all "no modulecmd.tcl (Debian: environment-modules)"
here=$top/packaging/easybuild
# where EasyBuild looks for it
mkdir -p modules/libexec tmp
ln -s "$modulecmd" modules/libexec
export MODULESHOME=$work/modules TMPDIR=$work/tmp

# A name like root's is no reason to stop, here alone.
eb() {
	env PYTHONPATH="$EASYBUILD" "${PYTHON:-python3}" -m easybuild.main \
		--prefix="$work/eb" --modules-tool=EnvironmentModules --module-syntax=Tcl \
		--allow-use-as-root-and-accept-consequences --disable-mpi-tests "$@"
}
ok "make makes a release" make -C "$build" dist-gzip
tarball=$build/cscope-mpi-$version.tar.gz
mkdir -p sources
mv "$tarball" sources
sum=$(sha256sum <"sources/cscope-mpi-$version.tar.gz" | cut -d' ' -f1)
sed "s/@VERSION@/$version/; s/@SHA256@/$sum/" "$here/cscope-mpi.eb.in" >given.eb
# No toolchain of EasyBuild's is here: the system's in its place, and its libraries.
sed "s/^toolchain = .*/toolchain = SYSTEM/" given.eb >"cscope-mpi-$version.eb"
ok "EasyBuild builds, tests and installs it" eb "cscope-mpi-$version.eb" \
	--sourcepath="$work/sources" --filter-deps=hwloc,numactl,Jansson,pkgconf --parallel=2
root=eb/software/cscope-mpi/$version
ok "... with the kernels of the release" eval '"$root/bin/cscope-mpi" --version |
	grep "kernels by nvcc"'
loads() {
	MODULEPATH=$work/eb/modules/all bash -c '
		eval "$("$0" bash load cscope-mpi)" && type -P cscope-mpi' \
		"$modulecmd" | grep -x "$work/$root/bin/cscope-mpi"
}
ok "its module puts it into PATH" loads
finish
