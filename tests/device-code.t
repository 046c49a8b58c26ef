#!/bin/bash
# What the compiler made of the zero-copy kernels: that they load and store what they say,
# 4 bytes at a time, and that a kernel that reads for nobody would be found.

top=${srcdir:-.}
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
dir=$work

shows() {
	sed 's/^/# /' "$dir/code" 2>/dev/null
}

if [ -z "${NVCC:-}" ]; then
	skip_all "there is no nvcc here, which would compile the kernels"
fi

# Of kernel $2 in the file $1, what it does to memory and where it waits: "load 4",
# "store 4", "barrier"; loops are "loop" to "again".
code() {
	awk -v kernel="$2" '
	index($0, "entry " kernel "(") { on = 1 }
	on && /^}/ { exit }
	!on { next }
	/^\$L_/ { label = $1; sub(":", "", label); seen[label] = 1; print "label" }
	/bra/ { to = $NF; sub(";", "", to); print to in seen ? "again" : "on" }
	/ld\.global/ { match($0, /\.[usbf][0-9]+/); print "load", substr($0, RSTART + 2, RLENGTH - 2) / 8 }
	/st\.global/ { match($0, /\.[usbf][0-9]+/); print "store", substr($0, RSTART + 2, RLENGTH - 2) / 8 }
	/bar\.sync|barrier/ { print "barrier" }' "$1" >"$dir/code"
	[ -s "$dir/code" ]
}

# Between a label and the way back to it.
loops() { # PATTERN: is there a loop in which lines are these, and nothing else?
	awk -v want="$1" '
	$1 == "label" { body = ""; next }
	$1 == "again" { if (body == want) found = 1; next }
	$1 != "on" { body = body $0 ";" }
	END { exit !found }' "$dir/code"
}

reads() { # FILE KERNEL
	code "$1" "$2" && loops "load 4;load 4;load 4;load 4;load 4;load 4;load 4;load 4;" &&
		! grep -qxE 'load (8|16)' "$dir/code"
}

writes() { # FILE KERNEL
	code "$1" "$2" && loops "store 4;"
}

ptx() { # KERNELS.cu OUTPUT
	"$NVCC" -ptx -arch=compute_90 -I"$top/src" -o "$2" "$1"
}

ptx "$top/kernels/kernels.cu" "$dir/ours" || exit 1
ok "zero-copy reads load 4 bytes, eight times a turn" reads "$dir/ours" cs_k_zread
ok "... and so they do while they write" reads "$dir/ours" cs_k_zboth
ok "zero-copy writes store 4 bytes, and wait for nobody in between" \
	writes "$dir/ours" cs_k_zwrite
ok "... also while they read" writes "$dir/ours" cs_k_zboth

# Plain loads and no sum.
sed 's/v\[k\] = __ldcg(p + at\[k\]);/v[k] = p[at[k]];/; s/sum += part_of_sum(v\[k\], at\[k\]);/(void)v[k];/
	s/sum += part_of_sum(__ldcg(p + at\[0\]), at\[0\]);/;/' \
	"$top/kernels/kernels.cu" >"$dir/dead.cu"
ptx "$dir/dead.cu" "$dir/dead" || exit 1
is_dead() { # FILE KERNEL
	! reads "$1" "$2" && ! grep -q '^load' "$dir/code"
}
ok "a kernel whose words nobody needs is found to read nothing" \
	is_dead "$dir/dead" cs_k_zread

# No compiler here makes code for all of them: CUDA 13 has none for what is older than 7.5.
source_for() { # __CUDA_ARCH__
	"${CC:-cc}" -E -P -x c++ -D__CUDA_ARCH__="$1" -I"$top/src" "$top/kernels/kernels.cu" >"$dir/code"
}
# shellcheck disable=SC2034 # of conditions that ok() evaluates
later='nanosleep|ld\.relaxed'
# shellcheck disable=SC2016
ok "code for 7.0 waits and loads by what came with it" eval 'source_for 700 && grep -qE "$later" "$dir/code"'
# shellcheck disable=SC2016
ok "... that for 6.0 does not" eval 'source_for 600 && [ -s "$dir/code" ] && ! grep -E "$later|mbarrier|cp\.async" "$dir/code"'
finish
