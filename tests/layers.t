#!/bin/sh
# The layers of src/: who may include whom, and who may read clocks, print and
# exit.  Each rule is also shown to bite: a planted violation must be found.
set -eu

src=${srcdir:-.}/src
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Print "FILE:LINE: what is wrong" for the C files below $1.
violations() {
	(cd "$1" && find . -name '*.[ch]' | sed 's|^\./||' | LC_ALL=C sort |
		xargs awk "$rules")
}

# shellcheck disable=SC2016 # awk's dollars
rules='
BEGIN {
	# an arrow may only point down
	may["base"] = ""
	may["backend"] = "base"
	may["place"] = "base"
	may["plan"] = "base"
	may["result"] = "plan base"
	may["node"] = "result plan place backend base"
	may["job"] = "node result plan place backend base"
	may["check"] = "result plan base"
	may["file"] = "check result plan base"
	may["report"] = "file check result plan base"
	may["options"] = "job report file check result plan base"

	# headers of libraries: a pattern, and the places that may see it
	header["^mpi(-ext)?[.]h$"] = "job/"
	header["^cuda.*[.]h$"] = "backend/cuda/"
	header["^hwloc([.]h|/.*)$"] = "place/"
	header["^numa(if)?[.]h$"] = "place/"
	header["^nvml[.]h$"] = "place/"
	header["^jansson[.]h$"] = "(file|report)/"

	# names: a pattern, and the places that may use it
	name["clock_gettime|clock_nanosleep|gettimeofday|timespec_get|clock|time"] = \
		"^(node/|backend/|job/|main[.]c)"
	name["printf|vprintf|puts|putchar|perror"] = "^(report/|main[.]c)"
	# text of others goes out clean: by base/print.h
	name["fprintf|vfprintf|dprintf|fputc"] = \
		"^(base/print[.]c|options/help[.]c|plan/file[.]c|file/)"
	name["exit|quick_exit"] = "^main[.]c"
	name["_exit|_Exit"] = "^(job/|main[.]c)"
}

FNR == 1 {
	comment = 0
	folder = FILENAME ~ "/" ? FILENAME : ""
	sub("/.*", "", folder)
}

function wrong(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }

function has_word(list, word) { return index(" " list " ", " " word " ") }

function check_own(file,    to) {
	to = file
	if (!sub("/.*", "", to) || folder == "" || to == folder)
		;
	else if (!(folder in may))
		wrong("folder " folder " has no place among the layers")
	else if (!has_word(may[folder], to))
		wrong(folder " must not include " file)
	if (file ~ "^backend/cuda/" && FILENAME !~ "^backend/cuda/")
		wrong(file " is private to backend/cuda")
}

function check_header(file,    h) {
	for (h in header)
		if (file ~ h && FILENAME !~ "^" header[h])
			wrong(file " is for " header[h] " only")
}

# The line without comments and without what stands in quotes.
function code(line,    out, c, two) {
	out = ""
	while (line != "") {
		two = substr(line, 1, 2)
		c = substr(line, 1, 1)
		if (comment) {
			if (two == "*/") comment = 0
			line = substr(line, two == "*/" ? 3 : 2)
		} else if (two == "/*") {
			comment = 1
			line = substr(line, 3)
		} else if (two == "//") {
			break
		} else if (c == "\"" && match(line, /^"([^"\\]|\\.)*"/)) {
			out = out "\"\""
			line = substr(line, RLENGTH + 1)
		} else if (two == "'\''" && match(line, /^'\''([^'\''\\]|\\.)*'\''/)) {
			line = substr(line, RLENGTH + 1)
		} else {
			out = out c
			line = substr(line, 2)
		}
	}
	return out
}

function check_names(line,    n) {
	for (n in name)
		if (line ~ "(^|[^A-Za-z0-9_.>])(" n ")[ \t]*[(]" &&
		    FILENAME !~ name[n])
			wrong("uses one of " n)
	if (line ~ "(^|[^A-Za-z0-9_])fputs[ \t]*[(][^\"]" &&
	    FILENAME !~ "^(base/print[.]c|options/help[.]c|file/)")
		wrong("fputs of what is no literal: by base/print.h")
	if (line ~ "(^|[^A-Za-z0-9_])stdout([^A-Za-z0-9_]|$)" &&
	    FILENAME !~ "^(report/|main[.]c)")
		wrong("uses stdout")
}

!comment && /^[ \t]*#[ \t]*include[ \t]*["<]/ {
	file = $0
	sub("^[^\"<]*[\"<]", "", file)
	sub("[\">].*", "", file)
	if ($0 ~ "\"")
		check_own(file)
	check_header(file)
}

{ check_names(code($0)) }
'

n=0
report() { # GOOD NAME
	n=$((n + 1))
	if [ "$1" = 1 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# A violation alone, below harmless text.
plant() { # FILE LINE NAME
	rm -rf "$dir/src"
	mkdir -p "$dir/src/$(dirname "$1")"
	printf '%s\n' '/* printf( exit( stdout */' "$2" >"$dir/src/$1"
	found=$(violations "$dir/src")
	report "$(case $found in "$1:2: "*) echo 1 ;; *) echo 0 ;; esac)" "finds $3"
}

allow() { # FILE LINE NAME
	rm -rf "$dir/src"
	mkdir -p "$dir/src/$(dirname "$1")"
	printf '%s\n' "$2" >"$dir/src/$1"
	found=$(violations "$dir/src")
	report "$([ -z "$found" ] && echo 1 || echo 0)" "allows $3"
}

echo "1..30"

found=$(violations "$src")
[ -z "$found" ] || echo "$found" | sed 's/^/# src\//'
report "$([ -z "$found" ] && echo 1 || echo 0)" "the sources keep their layers"

plant node/x.c '#include <mpi.h>' 'MPI outside job/'
plant backend/x.c '#include <cuda.h>' 'CUDA outside backend/cuda/'
plant node/x.c '# include <cudaTypedefs.h>' 'CUDA typedefs outside backend/cuda/'
plant job/x.c '#include <hwloc.h>' 'hwloc outside place/'
plant job/x.c '#include <hwloc/linux.h>' 'a part of hwloc outside place/'
plant base/x.c '#include <numaif.h>' 'libnuma outside place/'
plant result/x.c '#include <jansson.h>' 'jansson outside file/ and report/'
plant base/x.h '#include "plan/plan.h"' 'base/ looking up'
plant plan/x.c '#include "result/row.h"' 'plan/ looking up'
plant report/x.c '#include "node/board.h"' 'report/ looking into node/'
plant node/x.c '#include "backend/cuda/driver.h"' 'a private header of a backend'
plant file/x.c '#include "report/view.h"' 'file/ looking up'
plant options/x.c '#include "node/board.h"' 'options/ looking into node/'
plant extra/x.c '#include "base/err.h"' 'a folder that is no layer'
plant plan/x.c 'int f(void) { return clock_gettime(1, 0); }' 'a clock read in plan/'
plant node/x.c '	printf("x");' 'printf outside report/'
plant job/x.c '	fprintf(stdout, "x");' 'stdout outside report/'
plant report/x.c '	fprintf(to, "%s", host);' 'text of others printed as it is'
plant report/x.c '	fputs(host, to);' 'the same by fputs'
plant job/x.c '	exit(1);' 'exit outside main.c'
plant node/x.c '	_exit(1);' '_exit outside job/ and main.c'

allow main.c '	exit(printf("x"));' 'main.c to print and exit'
allow job/x.c '	_exit(3); fputs("exit(1)", stderr);' 'job/ to leave by _exit'
allow backend/cuda/x.c '#include "backend/cuda/driver.h"' 'a backend its own header'
allow place/x.c '#include <hwloc.h>' 'place/ to use hwloc'
allow file/x.c '#include <jansson.h>' 'file/ to use jansson'
allow base/print.c '	fprintf(to, "%s", all);' 'one place to print'
allow report/x.c '	fputs("", stdout); // exit(1)' 'report/ to use stdout'
allow base/x.c '	snprintf(to, n, "x"); p->time(0); cs_exit(1);' 'names that only look alike'
