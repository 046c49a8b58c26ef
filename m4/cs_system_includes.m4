# CS_SYSTEM_INCLUDES(VARIABLE)
# Turn -I into -isystem, so that our warning flags judge our headers only.
# /usr/include is left out: named by -isystem it would move in the search order.
AC_DEFUN([CS_SYSTEM_INCLUDES], [
  $1=`AS_ECHO([" $$1 "]) |
    sed -e 's/ -I */ -isystem /g' -e 's/ -isystem \/usr\/include\/* / /g' \
        -e 's/^ *//' -e 's/ *@S|@//'`
])
