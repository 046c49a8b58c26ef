# CS_CHECK_CUDA
# --with-cuda[=DIR]: nvcc and bin2c of CUDA 12 or newer, which compile the kernels.  By
# default ("check") the backend is built where they are; "yes" and DIR insist.  A
# release carries the kernels compiled (kernels/kernels.c): it needs nothing of NVIDIA's.
# C needs no header of CUDA anywhere: see src/backend/cuda/abi.h.
#
# Sets NVCC, BIN2C, NVCC_GENCODE, NVCC_COMPRESS, NVCC_SAYS, CUDA_INCLUDE (for the test
# that compares abi.h), HAVE_CUDA, HAVE_NVCC; cs_cuda_says for the summary and
# cs_cuda_build for the program.  Nothing is linked: the program opens the driver at run
# time.
AC_DEFUN([CS_CHECK_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
      [CUDA toolkit; yes insists, no builds without (default: use it if found
       in $CUDA_HOME, $CUDA_PATH, /usr/local/cuda or by PATH)])],
    [], [with_cuda=check])
  AC_ARG_VAR([NVCC], [CUDA compiler])
  AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
  AC_ARG_VAR([NVCC_GENCODE],
    [-gencode options, instead of all architectures from sm_60 that nvcc knows])
  AC_ARG_VAR([BIN2C], [bin2c of the CUDA toolkit])
  AC_SUBST([CUDA_INCLUDE])
  AC_SUBST([NVCC_COMPRESS])
  AC_SUBST([NVCC_SAYS])

  cs_cuda_no= cs_nvcc_no= cs_cuda_root=
  AS_IF([test "x$with_cuda" = xno], [cs_cuda_no="--without-cuda"], [
    CS_FIND_NVCC
    AS_IF([test -z "$cs_nvcc_no"], [CS_CUDA_ARCHITECTURES])
    AS_IF([test -z "$cs_nvcc_no"], [CS_TRY_NVCC])
    AS_IF([test -n "$cs_nvcc_no"], [CS_USE_SHIPPED_KERNELS])
  ])
  AS_IF([test -n "$cs_cuda_no"], [
    AC_DEFINE([CS_CUDA_SAYS], ["not built"])
    cs_cuda_build="no CUDA"
    cs_cuda_says="not built ($cs_cuda_no)"
    AS_CASE([$with_cuda],
      [no], [cs_distcheck_cuda=--without-cuda],
      [check], [cs_distcheck_cuda=--without-cuda
        cs_cuda_says="$cs_cuda_says
                To measure GPUs, take the tarball of a release, which carries the
                kernels compiled, or install nvcc of CUDA 12 or newer
                (https://developer.nvidia.com/cuda-downloads) and configure
                again, with --with-cuda=DIR if it is not found."],
      [AC_MSG_ERROR([--with-cuda=$with_cuda: $cs_cuda_no])])
  ], [
    AC_DEFINE([HAVE_CUDA], [1], [Define to 1 if the CUDA backend is built.])
    AC_DEFINE_UNQUOTED([CS_CUDA_SAYS],
      ["kernels by $NVCC_SAYS"],
      [Who compiled the kernels of this build, for --version.])
    cs_cuda_build=`AS_ECHO(["$NVCC_SAYS"]) | sed 's/^nvcc \(@<:@^ @:>@*\).*/CUDA \1/'`
    AS_IF([test -z "$cs_nvcc_no"],
      [cs_cuda_says="built ($cs_cuda_build, $NVCC)"],
      [cs_cuda_says="built ($cs_nvcc_no, so with the kernels of
                this release: $NVCC_SAYS)"])
    cs_distcheck_cuda="--with-cuda=${cs_cuda_root:-yes}"
  ])
  AC_SUBST([cs_distcheck_cuda])
  AC_SUBST([CUDA_SAYS], [`AS_ECHO(["$cs_cuda_says"]) | sed 1q`])
  AM_CONDITIONAL([HAVE_CUDA], [test -z "$cs_cuda_no"])
  AM_CONDITIONAL([HAVE_NVCC], [test -z "$cs_cuda_no$cs_nvcc_no"])
])

# NVCC, BIN2C, cs_cuda_root, CUDA_CFLAGS; or the reason in cs_nvcc_no.
AC_DEFUN([CS_FIND_NVCC], [
  AS_CASE([$with_cuda],
    [check|yes], [cs_cuda_path=
      for cs_dir in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda; do
        AS_IF([test -n "$cs_dir"],
          [AS_VAR_APPEND([cs_cuda_path], ["$cs_dir/bin$PATH_SEPARATOR"])])
      done
      AS_VAR_APPEND([cs_cuda_path], ["$PATH"])],
    [cs_cuda_path=$with_cuda/bin])
  AC_PATH_PROG([NVCC], [nvcc], [], [$cs_cuda_path])
  AS_IF([test -z "$NVCC"], [cs_nvcc_no="no nvcc"], [
    cs_cuda_bin=`AS_DIRNAME(["$NVCC"])`
    AC_PATH_PROG([BIN2C], [bin2c], [], [$cs_cuda_bin$PATH_SEPARATOR$cs_cuda_path])
    AS_IF([test -z "$BIN2C"], [cs_nvcc_no="nvcc without bin2c"])
    cs_cuda_root=`AS_DIRNAME(["$cs_cuda_bin"])`
    AS_IF([test -f "$cs_cuda_root/include/cuda.h"],
      [CUDA_INCLUDE=$cs_cuda_root/include])
  ])
])

# No nvcc that works: the kernels of the release, if this is one.
AC_DEFUN([CS_USE_SHIPPED_KERNELS], [
  AS_IF([test -f "$srcdir/kernels/kernels.c"],
    [NVCC_SAYS=`sed -n '1s/^.* nvcc \(.*\) \*.*$/nvcc \1/p' "$srcdir/kernels/kernels.c"`],
    [cs_cuda_no=$cs_nvcc_no])
])

# Machine code for the wanted architectures that this nvcc knows, and PTX of the
# newest of them for what comes later.  sm_60 and sm_70 are of CUDA up to 12; code for
# sm_86 does not run on the integrated GPUs of sm_87.
AC_DEFUN([CS_CUDA_ARCHITECTURES], [
  AC_MSG_CHECKING([for architectures that $NVCC compiles for])
  cs_nvcc_version=`$NVCC --version | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
  AS_CASE([$cs_nvcc_version], [@<:@1-9@:>@|@<:@1-9@:>@.*|1@<:@01@:>@.*],
    [cs_nvcc_no="$NVCC is of CUDA $cs_nvcc_version, older than 12"])
  AS_IF([test -z "$cs_nvcc_no$NVCC_GENCODE"], [
    cs_known=`$NVCC --list-gpu-code 2>/dev/null | tr '\n' ' '`
    cs_newest=
    for cs_arch in 60 70 75 80 86 87 89 90 100 103 120; do
      AS_CASE([" $cs_known "], [*" sm_$cs_arch "*], [
        AS_VAR_APPEND([NVCC_GENCODE],
          ["-gencode arch=compute_$cs_arch,code=sm_$cs_arch "])
        cs_newest=$cs_arch])
    done
    AS_IF([test -z "$cs_newest"],
      [cs_nvcc_no="$NVCC knows no architecture from sm_60 on"],
      [AS_VAR_APPEND([NVCC_GENCODE],
        ["-gencode arch=compute_$cs_newest,code=compute_$cs_newest"])])
  ])
  AC_MSG_RESULT([${NVCC_GENCODE:-none}])
  cs_codes=`AS_ECHO(["$NVCC_GENCODE"]) |
    sed -e 's/-gencode@<:@ =@:>@*arch=@<:@^,@:>@*,code=//g' -e 's/ *@S|@//'`
  NVCC_SAYS="nvcc $cs_nvcc_version for $cs_codes"
])

# nvcc refuses host compilers that are too new: find out now, not in make.
AC_DEFUN([CS_TRY_NVCC], [
  AC_MSG_CHECKING([whether $NVCC compiles])
  AS_ECHO(['extern "C" __global__ void k(int *p) { *p = 1; }']) > conftest.cu
  cs_nvcc="$NVCC -fatbin $NVCCFLAGS -o conftest.fatbin conftest.cu"
  NVCC_COMPRESS=--compress-mode=size
  AS_IF([$cs_nvcc $NVCC_COMPRESS >&AS_MESSAGE_LOG_FD 2>&1], [],
    [NVCC_COMPRESS=
     AS_IF([$cs_nvcc >&AS_MESSAGE_LOG_FD 2>&1], [],
       [cs_nvcc_no="$NVCC cannot compile: see config.log; it may need an older
                host compiler by NVCCFLAGS='-ccbin gcc-12'"])])
  rm -f conftest.cu conftest.fatbin
  AS_IF([test -z "$cs_nvcc_no"], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
])
