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

# The record of CUPTI's counters and what we say of it, where its header is.
same_records() { # FOLDER of backend/cuda/cupti.h
	cat >"$dir/records.c" <<'END'
#include <cuda.h>
#include <cupti.h>
#define CS_BACKEND_CUDA_ABI_H
#include "backend/cuda/cupti.h"
#define OF CUpti_ActivityUnifiedMemoryCounter3
#define same(ours, theirs) _Static_assert((ours) == (theirs), #ours)
#define member(ours, theirs) \
	same(offsetof(struct cs_cupti_record, ours), offsetof(OF, theirs)); \
	same(sizeof(((struct cs_cupti_record *)0)->ours), sizeof(((OF *)0)->theirs))
member(kind, kind);
member(counter, counterKind);
member(value, value);
member(start, start);
member(end, end);
member(address, address);
member(src, srcId);
member(dst, dstId);
member(flags, flags);
same(sizeof(struct cs_cupti_record), offsetof(OF, processors));
same(sizeof(struct cs_cupti_config), sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
same(offsetof(struct cs_cupti_config, counter), offsetof(CUpti_ActivityUnifiedMemoryCounterConfig, kind));
same(offsetof(struct cs_cupti_config, enable), offsetof(CUpti_ActivityUnifiedMemoryCounterConfig, enable));
#define COUNTER(x) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_##x
same(CS_CUPTI_TO_GPU, COUNTER(KIND_BYTES_TRANSFER_HTOD));
same(CS_CUPTI_TO_HOST, COUNTER(KIND_BYTES_TRANSFER_DTOH));
same(CS_CUPTI_CPU_FAULT, COUNTER(KIND_CPU_PAGE_FAULT_COUNT));
same(CS_CUPTI_GPU_FAULTS, COUNTER(KIND_GPU_PAGE_FAULT));
same(CS_CUPTI_PEER, COUNTER(KIND_BYTES_TRANSFER_DTOD));
same(CS_CUPTI_ALL_DEVICES, COUNTER(SCOPE_PROCESS_ALL_DEVICES));
same(CS_CUPTI_UM_COUNTER, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
same(CS_CUPTI_EVICTION, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION);
same(CS_CUPTI_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
same(CS_CUPTI_DONE, CUPTI_ERROR_MAX_LIMIT_REACHED);
END
	compile "$1" -fsyntax-only "$dir/records.c"
}

finds() { # WHAT COMMAND...: does it fail, and name that?
	! "${@:2}" >"$dir/found" 2>&1 && grep -qw "$1" "$dir/found"
}

plant() { # FILE SED
	mkdir -p "$dir/backend/cuda"
	cp "$top"/src/backend/cuda/{abi,driver,cupti}.h "$dir/backend/cuda"
	sed -i "$2" "$dir/backend/cuda/$1"
	! cmp -s "$dir/backend/cuda/$1" "$top/src/backend/cuda/$1" ||
		echo "# nothing was planted by $2"
}

ok "values, sizes and layouts of abi.h are those of cuda.h" \
	same_facts "$top/src/backend/cuda/abi.h"
ok "what functions take in driver.h is what cudaTypedefs.h says" \
	same_functions "$top/src"

if [ -n "$old" ] || [ ! -f "$CUDA_INCLUDE/cupti.h" ]; then
	skip="there is no cupti.h of CUDA 12.8 or later"
fi
ok "records and numbers of cupti.h are those of CUPTI's headers" same_records "$top/src"
plant cupti.h 's/uint32_t src, dst, stream, process;/uint32_t src, dst, process;/'
ok "... and a member that is missing would be found" finds flags same_records "$dir"
skip=

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
