# CS_CHECK_NUMA
# libnuma: NUMA_CFLAGS, NUMA_LIBS.  Old releases have no numa.pc.
AC_DEFUN([CS_CHECK_NUMA], [
  PKG_CHECK_MODULES([NUMA], [numa], [], [
    AC_CHECK_HEADER([numa.h], [],
      [AC_MSG_ERROR([libnuma not found (Debian: libnuma-dev)])])
    AC_CHECK_LIB([numa], [numa_available], [NUMA_LIBS=-lnuma],
      [AC_MSG_ERROR([libnuma not found (Debian: libnuma-dev)])])
    AC_SUBST([NUMA_CFLAGS])
    AC_SUBST([NUMA_LIBS])
  ])
])
