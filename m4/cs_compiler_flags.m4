# CS_TRY_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE if a program links with it
# and the compiler has nothing to say.
AC_DEFUN([CS_TRY_FLAG], [
  AC_MSG_CHECKING([whether $CC accepts $2])
  cs_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <string.h>]], [[char s[8]; memset(s, 0, 8); return s[0];]])],
    [AC_MSG_RESULT([yes])
     AS_VAR_APPEND([$1], [" $2"])],
    [AC_MSG_RESULT([no])])
  CFLAGS=$cs_save_CFLAGS
])

# CS_COMPILER_FLAGS
# WARN_CFLAGS, HARD_CPPFLAGS, HARD_CFLAGS, HARD_LDFLAGS, SAN_FLAGS, FAKE_SAN_FLAGS.
AC_DEFUN([CS_COMPILER_FLAGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make every warning an error])])
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize=LIST],
      [build with sanitizers, e.g. address,undefined])],
    [], [enable_sanitize=no])

  m4_foreach_w([cs_flag],
    [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla],
    [CS_TRY_FLAG([WARN_CFLAGS], cs_flag)])
  AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([WARN_CFLAGS], [" -Werror"])])

  m4_foreach_w([cs_flag],
    [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
    [CS_TRY_FLAG([HARD_CFLAGS], cs_flag)])
  m4_foreach([cs_flag], [[-Wl,-z,relro], [-Wl,-z,now]],
    [CS_TRY_FLAG([HARD_LDFLAGS], m4_quote(cs_flag))])

  cs_sanitize=
  AS_CASE([$enable_sanitize],
    [no], [# refused without optimisation, and where the compiler sets it anyway
           CS_TRY_FLAG([HARD_CPPFLAGS], [-D_FORTIFY_SOURCE=2])],
    [yes], [cs_sanitize=address,undefined],
    [cs_sanitize=$enable_sanitize])
  AS_IF([test -n "$cs_sanitize"], [
    CS_TRY_FLAG([SAN_FLAGS], [-fsanitize=$cs_sanitize])
    AS_IF([test -z "$SAN_FLAGS"],
      [AC_MSG_ERROR([$CC does not link with -fsanitize=$cs_sanitize])])
    AS_VAR_APPEND([SAN_FLAGS], [" -fno-omit-frame-pointer"])
    # else undefined behaviour is a line in a log of a test that passes
    CS_TRY_FLAG([SAN_FLAGS], [-fno-sanitize-recover=all])
  ])
  # the driver's double: a race with it is seen only if both sides are watched; other
  # sanitizers end at the bad addresses that it hands to the kernel by intent
  AS_IF([test "x$cs_sanitize" = xthread], [FAKE_SAN_FLAGS=$SAN_FLAGS])

  AC_SUBST([WARN_CFLAGS])
  AC_SUBST([HARD_CPPFLAGS])
  AC_SUBST([HARD_CFLAGS])
  AC_SUBST([HARD_LDFLAGS])
  AC_SUBST([SAN_FLAGS])
  AC_SUBST([FAKE_SAN_FLAGS])
])
