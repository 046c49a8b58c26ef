#!/bin/bash
# What src/backend/cuda/abi.h and driver.h say of the driver's interface is what NVIDIA's
# cuda.h says, where there is one: values, sizes, layouts, and what functions take.

top=${srcdir:-.}
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
dir=$work

if [ ! -f "${CUDA_INCLUDE:-}/cudaTypedefs.h" ]; then
	skip_all "there is no cuda.h with cudaTypedefs.h here to compare with"
fi
compile() {
	# shellcheck disable=SC2086 # a compiler may have options
	${CC:-cc} -std=gnu11 -Wno-unused -I"$1" -I"$top/src" -isystem "$CUDA_INCLUDE" "${@:2}"
}

# Lines of C that print each constant, size and offset of a header like abi.h.
facts() { # ABI.h
	compile "$dir" -E -dM "$1" | sed -nE 's/^#define (CU_[A-Z_]+) .*/value(\1);/p'
	compile "$dir" -E -P "$1" | grep -oE '\bCU(DA)?_[A-Z0-9_]+ = ' | sed 's/\(.*\) = /value(\1);/'
	awk '
	/^typedef struct [{]$/ { n = 0; depth = 1; next }
	depth && /^\tstruct [{]$/ { depth = 2; next }
	depth == 2 && /^\t[}]/ { depth = 1 }
	depth == 1 && /^\t/ {
		gsub(/\[[0-9]*\]|[;*}]/, "")
		k = split($0, word, /[ \t,]+/)
		first = $0 ~ /^\t(const|unsigned) [a-z]+ ./ ? 4 : 3
		if (k == 2) # the end of an inner struct
			first = 2
		if ($0 ~ /^\tunsigned [a-z]+[A-Z]/)
			first = 3
		for (i = first; i <= k; i++)
			member[++n] = word[i]
	}
	depth && /^[}] / {
		sub(";", "", $2)
		for (i = 1; i <= n; i++)
			printf "member(%s, %s);\n", $2, member[i]
		depth = 0
	}
	/^(typedef .*[ *]|[}] )CU[A-Za-z0-9_]+;$/ {
		gsub(/[;*]/, "", $NF)
		printf "size(%s);\n", $NF
	}' "$1"
}

# What they print: $1 facts, then how to compile.
print_facts() {
	local from=$1

	shift
	{
		cat <<'END'
#include <stddef.h>
#include <stdio.h>
#define value(x) printf("%s %lld\n", #x, (long long)(x))
#define size(x) printf("sizeof %s %zu\n", #x, sizeof(x))
#define member(x, y) printf("%s.%s at %zu of %zu\n", #x, #y, \
	offsetof(x, y), sizeof(((x *)0)->y))
int main(void)
{
END
		cat "$from"
		echo '}'
	} >"$dir/print.c"
	compile "$dir" "$@" -o "$dir/print" "$dir/print.c" && "$dir/print"
}

# A header of before CUDA 12.8 knows fewer names.
old=
printf '#include <cuda.h>\n#if CUDA_VERSION < 12080\n#error\n#endif\n' |
	compile "$dir" -fsyntax-only -x c - 2>/dev/null || old=1

leave_out() { # FILE HEADER PATTERN: lines whose name, as PATTERN finds it, an old header lacks
	local line

	if [ -z "$old" ]; then
		cat "$1"
		return
	fi
	while read -r line; do
		if grep -qw "$(sed -E "$3" <<<"$line")" "$2"; then
			echo "$line"
		fi
	done <"$1"
}

same_facts() { # ABI.h
	facts "$1" >"$dir/all"
	leave_out "$dir/all" "$CUDA_INCLUDE/cuda.h" 's/.*[( ]([A-Za-z0-9_]+)\);/\1/' >"$dir/facts"
	[ "$(wc -l <"$dir/facts")" -gt 200 ] || return 1
	print_facts "$dir/facts" -include "$1" >"$dir/ours" &&
		print_facts "$dir/facts" -include cuda.h >"$dir/theirs" &&
		diff "$dir/ours" "$dir/theirs"
}

# With the types of cuda.h in the place of ours.
same_functions() { # FOLDER of backend/cuda/driver.h
	{
		echo '#include "backend/cuda/driver.h"'
		echo '#define CALL(name, version, takes) CALL name version takes'
		echo '#define OPTIONAL(member, name, version, takes) CALL name version takes'
		echo 'CS_DRIVER_CALLS(CALL) CS_DRIVER_OPTIONAL(OPTIONAL)'
	} >"$dir/list.c"
	compile "$1" -E -P "$dir/list.c" | tr '\n' ' ' | sed 's/CALL /\n&/g' |
		sed -nE 's/^CALL ([A-Za-z0-9]+) ([0-9]+) (.*[)]) *$/same(\1_v\2, \3);/p' >"$dir/all"
	leave_out "$dir/all" "$CUDA_INCLUDE/cudaTypedefs.h" 's/same\(([^,]*),.*/PFN_\1/' \
		>"$dir/functions"
	[ "$(wc -l <"$dir/functions")" -gt 60 ] || return 1
	{
		cat <<'END'
#include <cuda.h>
#include <cudaTypedefs.h>
#define CS_BACKEND_CUDA_ABI_H
#include "backend/cuda/driver.h"
#define same(name, takes) _Static_assert(__builtin_types_compatible_p( \
	CUresult (*) takes, PFN_##name), #name)
END
		cat "$dir/functions"
		echo '_Static_assert(__builtin_types_compatible_p(cs_driver_find_fn,'
		echo '	PFN_cuGetProcAddress_v12000), "the one that finds");'
	} >"$dir/functions.c"
	compile "$1" -fsyntax-only "$dir/functions.c"
}

finds() { # WHAT COMMAND...: does it fail, and name that?
	! "${@:2}" >"$dir/found" 2>&1 && grep -qw "$1" "$dir/found"
}

plant() { # FILE SED
	mkdir -p "$dir/backend/cuda"
	cp "$top"/src/backend/cuda/{abi,driver}.h "$dir/backend/cuda"
	sed -i "$2" "$dir/backend/cuda/$1"
	! cmp -s "$dir/backend/cuda/$1" "$top/src/backend/cuda/$1" ||
		echo "# nothing was planted by $2"
}

ok "values, sizes and layouts of abi.h are those of cuda.h" \
	same_facts "$top/src/backend/cuda/abi.h"
ok "what functions take in driver.h is what cudaTypedefs.h says" \
	same_functions "$top/src"

plant abi.h 's/CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1/CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 2/'
ok "a wrong value would be found" \
	finds CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR same_facts "$dir/backend/cuda/abi.h"
plant abi.h 's/X(CUDA_ERROR_NOT_READY, 600)/X(CUDA_ERROR_NOT_READY, 601)/'
ok "... of a result too" finds CUDA_ERROR_NOT_READY same_facts "$dir/backend/cuda/abi.h"
plant abi.h 's/CUDA_ERROR_NOT_READY/CUDA_ERROR_NOT_REDY/'
ok "... and a name that cuda.h has not" \
	finds CUDA_ERROR_NOT_REDY same_facts "$dir/backend/cuda/abi.h"
plant abi.h '/reserved0;/d'
ok "... and a member that is missing" \
	finds CUDA_MEMCPY3D same_facts "$dir/backend/cuda/abi.h"
plant driver.h 's/(CUdeviceptr at, size_t bytes, CUstream stream))$/(CUdeviceptr at, int bytes, CUstream stream))/
	s/CUdeviceptr dst, CUdeviceptr src, size_t bytes,/CUdeviceptr dst, CUdeviceptr src, int bytes,/'
ok "... and a function that takes something else" \
	finds cuMemcpyAsync_v4000 same_functions "$dir"
plant driver.h 's/X(cuEventQuery, 2000/X(cuEventQuery, 2010/'
ok "... and one of a version that there is not" \
	finds cuEventQuery_v2010 same_functions "$dir"
finish
