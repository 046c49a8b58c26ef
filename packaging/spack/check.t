#!/bin/bash
# check.t - the recipe, with a double of what it takes from Spack: what it would hand to
# configure, which configure then takes; and by Spack itself, where it is in PATH.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
here=$top/packaging/spack
recipe() { # SHA256
	sed "s/@VERSION@/$version/; s/@SHA256@/$1/; s|https://example.invalid|file://$work|" \
		"$here/package.py"
}
recipe "$(printf '%064d' 0)" >package.py
python=${PYTHON:-python3}

ok "it is Python" "$python" -m py_compile package.py
mkdir -p spack
touch spack/__init__.py
cat >spack/package.py <<'END'
import os
said = []
def _say(kind):
    return lambda *a, **k: said.append((kind, a, k))
version, variant, depends_on, license = map(_say, ("version", "variant", "depends_on", "license"))
def run_after(phase): return lambda f: f
def on_package_attributes(**k): return lambda f: f
join_path = os.path.join
Executable = None
class AutotoolsPackage: pass
END
cat >args.py <<'END'
import sys, types
sys.path.insert(0, '.')
import package, spack.package
N = types.SimpleNamespace
class Spec(dict):
    def __init__(self, on): self.on = on
    def satisfies(self, what): return what == '+cuda' and self.on
p = package.CscopeMpi()
p.stage = N(path='/nowhere')
p.spec = Spec(sys.argv[1] == '+cuda')
p.spec['mpi'] = N(mpicc='mpicc')
p.spec['cuda'] = N(prefix='/opt/cuda')
unset = []
p.setup_build_environment(N(unset=unset.append))
package.make = print
if sys.argv[1] == 'check':
    p.check()
elif sys.argv[1] == 'needs':
    print(*sorted(a[0].split('@')[0] for k, a, o in spack.package.said
                  if k == 'depends_on' and 'when' not in o))
else:
    print(*p.configure_args(), *unset, sep='\n')
END
ok "without +cuda no toolkit is looked for" eval '"$python" args.py none >args &&
	diff args <(printf "%s\n" MPICC=mpicc --with-cuda=/nowhere/none CUDA_HOME CUDA_PATH NVCC)'
ok "with it Spack'\''s is taken" eval '"$python" args.py +cuda >args &&
	diff args <(printf "%s\n" MPICC=mpicc --with-cuda=/opt/cuda)'
libraries() { # those that the program is linked with, as the table of dependencies has them
	"$python" args.py needs | tr ' ' '\n' | grep -vxE 'c|pkgconfig' >wanted
	awk '$1 == "library" && $2 != "glibc" { print $2 }' "$top/packaging/dependencies" |
		sed 's/openmpi/mpi/' | sort | diff - wanted
}
ok "it depends on the libraries that the program is linked with" libraries
ok "its tests are those of the easyconfig" eval '"$python" args.py check >args &&
	sed -n "s/^testopts = .TEST/check TEST/p" "$top/packaging/easybuild/cscope-mpi.eb.in" |
		tr -d "\"'\''" | diff args -'

# ---- Spack itself: with this machine's libraries, as its packages would be many ----

external() { # PACKAGE VERSION
	printf '  %s:\n    buildable: false\n    externals: [{spec: "%s@%s", prefix: /usr}]\n' \
		"$1" "$1" "$2"
}
settings() {
	mkdir -p user repo/packages/cscope-mpi
	recipe "$(sha256sum <"cscope-mpi-$version.tar.gz" | cut -d' ' -f1)" \
		>repo/packages/cscope-mpi/package.py
	printf 'repo:\n  namespace: cscope_check\n' >repo/repo.yaml
	printf 'repos: [%s]\n' "$work/repo" >user/repos.yaml
	printf 'config: {install_tree: {root: %s}, build_stage: [%s], source_cache: %s}\n' \
		"$work/installed" "$work/stage" "$work/cache" >user/config.yaml
	{
		echo packages:
		external openmpi "$(mpirun --version | sed -n 's/.*(Open MPI) //p')"
		external hwloc "$(pkg-config --modversion hwloc)"
		external numactl "$(pkg-config --modversion numa)"
		external jansson "$(pkg-config --modversion jansson)"
		external pkgconf 1
		external gmake "$(make --version | sed -n '1s/.* //p')"
	} >user/packages.yaml
}
by_spack() { # ARGUMENT...
	env SPACK_USER_CONFIG_PATH="$work/user" SPACK_USER_CACHE_PATH="$work/cache" \
		SPACK_SYSTEM_CONFIG_PATH="$work/none" spack "$@"
}
if ! command -v spack >/dev/null; then
	skip "Spack reads it" "no spack in PATH"
	skip "... installs it, tests it" "no spack in PATH"
elif ! mpirun --version 2>/dev/null | grep -q '(Open MPI)'; then
	skip "Spack installs it, tests it" "no Open MPI here"
else
	make -C "$build" dist-gzip >/dev/null 2>&1 &&
		mv "$build/cscope-mpi-$version.tar.gz" . && settings
	ok "Spack reads it" by_spack info --no-versions cscope-mpi
	ok "... installs it, tests it" by_spack install --test=root cscope-mpi && ok \
		"... with the kernels of the release" eval 'by_spack find --paths cscope-mpi | awk "/cscope/ { print \$2 }" >at &&
			"$(cat at)/bin/cscope-mpi" --version | grep -E "^CUDA +kernels by nvcc "'
fi
finish
