# CS_CHECK_MPI
# An MPI of at least 3.1: MPI_CFLAGS, MPI_LIBS, and cs_mpi_says for the summary.
#
# CC is never mpicc: only src/job may see MPI's flags.  The first that links wins:
#   MPI_CFLAGS and MPI_LIBS from the user; $CC as it is (Cray's wrapper); $MPICC,
#   else mpicc in PATH, asked for its flags, so that program and mpirun come
#   from the same MPI where a module was loaded; pkg-config's ompi-c or mpich.
AC_DEFUN([CS_CHECK_MPI], [
  AC_ARG_VAR([MPICC], [MPI compiler wrapper, asked for its flags only])
  AC_ARG_VAR([MPI_CFLAGS], [C compiler flags for MPI, overriding the search])
  AC_ARG_VAR([MPI_LIBS], [linker flags for MPI, overriding the search])
  # AC_PATH_PROGS would overrule a name without a folder, as mpicc.mpich
  AS_IF([test -z "$MPICC"], [AC_PATH_PROGS([MPICC], [mpicc mpiicc])],
    [AC_MSG_CHECKING([for $MPICC])
     AS_IF([$MPICC -show >&AS_MESSAGE_LOG_FD 2>&1], [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([MPICC='$MPICC' does not answer to -show])])])

  cs_mpi_says=
  AS_IF([test -n "$MPI_CFLAGS$MPI_LIBS"],
    [CS_TRY_MPI([MPI_CFLAGS and MPI_LIBS])],
    [CS_TRY_MPI([$CC])])
  AS_IF([test -z "$cs_mpi_says" && test -n "$MPICC"], [
    CS_ASK_MPICC
    CS_TRY_MPI([$MPICC])
  ])
  m4_foreach([cs_module], [ompi-c, mpich], [
    AS_IF([test -z "$cs_mpi_says" && $PKG_CONFIG --exists cs_module], [
      MPI_CFLAGS=`$PKG_CONFIG --cflags cs_module`
      MPI_LIBS=`$PKG_CONFIG --libs cs_module`
      CS_TRY_MPI([pkg-config cs_module])
    ])
  ])
  AS_IF([test -z "$cs_mpi_says"], [AC_MSG_ERROR(
    [no MPI 3.1 found: install one (Debian: libopenmpi-dev openmpi-bin), load its
module, or set MPICC, or MPI_CFLAGS and MPI_LIBS])])
])

# Open MPI prints flags by --showme:*; MPICH and its kin print the command by
# -show, of which we keep what finds headers and libraries.
AC_DEFUN([CS_ASK_MPICC], [
  AS_IF([MPI_CFLAGS=`$MPICC --showme:compile 2>/dev/null`], [
    MPI_LIBS=`$MPICC --showme:link 2>/dev/null`
  ], [
    MPI_CFLAGS= MPI_LIBS=
    for cs_word in `$MPICC -show 2>/dev/null`; do
      AS_CASE([$cs_word],
        [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $cs_word"],
        [-L*|-l*|-Wl,*|*.a|*.so], [MPI_LIBS="$MPI_LIBS $cs_word"],
        [-pthread], [MPI_CFLAGS="$MPI_CFLAGS $cs_word"
                     MPI_LIBS="$MPI_LIBS $cs_word"])
    done
  ])
])

# CS_TRY_MPI(SOURCE): sets cs_mpi_says if MPI_CFLAGS and MPI_LIBS link.
AC_DEFUN([CS_TRY_MPI], [
  AC_MSG_CHECKING([for MPI by $1])
  cs_save_CFLAGS=$CFLAGS cs_save_LIBS=$LIBS
  CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#if MPI_VERSION < 3 || MPI_VERSION == 3 && MPI_SUBVERSION < 1
#error "older than MPI 3.1"
#endif
]], [[MPI_Init(0, 0);]])], [
    CS_NAME_MPI
    cs_mpi_says="$cs_mpi_name by $1"
    AC_MSG_RESULT([$cs_mpi_name])
  ], [AC_MSG_RESULT([no])])
  CFLAGS=$cs_save_CFLAGS LIBS=$cs_save_LIBS
])

# The implementation's own name, read from its header.  In quotes, which go: MPICH is
# a macro in its own.
AC_DEFUN([CS_NAME_MPI], [
  AC_LANG_CONFTEST([AC_LANG_SOURCE([[
#include <mpi.h>
#if defined OPEN_MPI
cs_name: "Open MPI" OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
#elif defined I_MPI_VERSION
cs_name: "Intel MPI" I_MPI_VERSION
#elif defined MVAPICH2_VERSION
cs_name: "MVAPICH" MVAPICH2_VERSION
#elif defined MPICH_VERSION
cs_name: "MPICH" MPICH_VERSION
#else
cs_name: "MPI" MPI_VERSION MPI_SUBVERSION
#endif
]])])
  cs_mpi_name=`$CC -E -P $CPPFLAGS $MPI_CFLAGS conftest.$ac_ext 2>/dev/null |
    sed -n -e 's/"//g' -e 's/\(@<:@0-9@:>@\) \(@<:@0-9@:>@\)/\1.\2/g' \
      -e 's/\(@<:@0-9@:>@\) \(@<:@0-9@:>@\)/\1.\2/g' -e 's/^cs_name: //p'`
  rm -f conftest.$ac_ext
])
