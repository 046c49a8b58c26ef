#!/bin/bash
# check.t - the recipe, with a double of what it takes from Spack: what it would hand to
# configure, which configure then takes.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
here=$top/packaging/spack
sed "s/@VERSION@/$version/; s/@SHA256@/$(printf '%064d' 0)/" "$here/package.py" >package.py
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
if sys.argv[1] == 'needs':
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
if command -v spack >/dev/null; then
	mkdir -p repo/packages/cscope-mpi
	cp package.py repo/packages/cscope-mpi
	printf 'repo:\n  namespace: cscope_check\n' >repo/repo.yaml
	ok "Spack reads it" spack -C "$work" info --no-versions "$work/repo/packages/cscope-mpi"
else
	skip "Spack reads it" "no spack in PATH"
fi
finish
