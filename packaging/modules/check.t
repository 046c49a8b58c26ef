#!/bin/bash
# check.t - the module file as `make install` leaves it, loaded and unloaded by Environment
# Modules and by Lmod.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need make
root=$work/root
ok "make install puts it below share/cscope-mpi/modules" \
	make -C "$build" install-exec install-data prefix="$root"
folder=$root/share/cscope-mpi/modules
ok "... filled in" eval '[ -s "$folder/cscope-mpi/$version" ] &&
	! grep -n "@" "$folder/cscope-mpi/$version"'

# Of a shell that has no modules yet: what COMMAND sees behind it.
loads() { # MODULECMD [ARGUMENT...]: the command that prints what a shell is to do
	env -i PATH=/usr/bin:/bin MANPATH=/usr/share/man HOME="$work" MODULEPATH="$folder" \
		bash -c '
		module() { local todo; todo=$("${cmd[@]}" "$@") || return; eval "$todo"; }
		cmd=("$@") before=$PATH
		module load cscope-mpi || exit
		type -P cscope-mpi
		echo "$CSCOPE_MPI_ROOT $MANPATH"
		cscope-mpi --version | head -n 1
		module unload cscope-mpi || exit
		[ "$PATH" = "$before" ] && [ -z "${CSCOPE_MPI_ROOT:-}" ] && echo as before
	' sh "$@" >out 2>err
	cat out err
	grep -qx "$root/bin/cscope-mpi" out && grep -q "^$root .*$root/share/man" out &&
		grep -q "^cscope-mpi $version" out && grep -qx 'as before' out
}
helps() { # MODULECMD...
	MODULEPATH=$folder "$@" help cscope-mpi >says_help 2>&1
	cat says_help
	grep -q 'measures how fast data moves' says_help
}

first() { # FILE...: the first that is there
	local file
	for file; do
		[ ! -e "$file" ] || { echo "$file" && return; }
	done
}
modules=$(first /usr/lib/*/modulecmd.tcl /usr/lib64/modulecmd.tcl \
	/usr/share/Modules/libexec/modulecmd.tcl)
if [ -n "$modules" ]; then
	ok "Environment Modules load and unload it" loads "$modules" bash
	ok "... and print its help" helps "$modules" bash
else
	skip "Environment Modules load and unload it" "no modulecmd.tcl (Debian: environment-modules)"
fi
lmod=${LMOD:-$(first /usr/share/lmod/*/libexec/lmod)}
if [ -n "$lmod" ]; then
	ok "Lmod loads and unloads it" loads "$lmod" bash
	ok "... and prints its help" helps "$lmod" bash
else
	skip "Lmod loads and unloads it" "no Lmod (Debian: lmod; or LMOD=FILE)"
fi
ok "make uninstall takes it away" eval 'make -C "$build" uninstall prefix="$root" &&
	[ -z "$(find "$root" -type f -o -type l)" ]'
finish
