# cscope-mpi, for Spack (README.md).
from spack.package import *

try:  # Spack 1 has what builds by configure among its packages
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class CscopeMpi(AutotoolsPackage):
    """Bandwidth and latency between the GPUs of each node, host memory and the GPUs' own
    memory, as an MPI job sees them; data of every sample are checked."""

    homepage = "https://example.invalid/cscope-mpi"
    url = "https://example.invalid/cscope-mpi-@VERSION@.tar.gz"

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@")

    variant("cuda", default=False, description="Compile the kernels anew, by Spack's nvcc")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hwloc@2.2:")
    depends_on("numactl")
    depends_on("jansson")
    depends_on("cuda@12:", when="+cuda", type="build")

    def configure_args(self):
        spec = self.spec
        args = ["MPICC={0}".format(spec["mpi"].mpicc)]
        if spec.satisfies("+cuda"):
            args.append("--with-cuda={0}".format(spec["cuda"].prefix))
        else:
            # a release carries its kernels compiled: no toolkit is looked for
            args.append("--with-cuda={0}".format(join_path(self.stage.path, "none")))
        return args

    def setup_build_environment(self, env):
        for name in ("CUDA_HOME", "CUDA_PATH", "NVCC"):
            if not self.spec.satisfies("+cuda"):
                env.unset(name)

    def check(self):
        # not all of the tests, which take a quarter of an hour
        make("check", "TESTS=tests/unit/plan.t tests/unit/cuda.t tests/run/cpu.t")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def measures_host_memory(self):
        program = Executable(self.prefix.bin.join("cscope-mpi"))
        program("--backend", "cpu", "--no-mpi", "-s", "1M", "--samples", "2", "-q")
