#!/bin/sh
# The layers of src/: who may include whom, and who may read clocks, print and
# exit; and that nothing needs more than glibc 2.28.  Each rule is also shown to
# bite: a planted violation must be found.
set -eu

top=${srcdir:-.}
src=$top/src
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
dir=$work

# Print "FILE:LINE: what is wrong" for the C files below $1; with $2 0 only what
# glibc lacks.
violations() {
	(cd "$1" && find . -name '*.[ch]' | sed 's|^\./||' | LC_ALL=C sort |
		xargs awk -v layers="${2:-1}" "$rules")
}

# shellcheck disable=SC2016 # awk's dollars
rules='
BEGIN {
	# an arrow may only point down
	may["base"] = ""
	may["backend"] = "base"
	may["system"] = "base"
	may["catalogue"] = "base"
	may["plan"] = "catalogue base"
	may["result"] = "plan catalogue base"
	may["node/board"] = "result plan catalogue system backend base"
	may["node/agent"] = "node/board result plan catalogue system backend base"
	may["node/coordinator"] = may["node/agent"]
	may["job"] = "check node result plan catalogue system backend base"
	may["check/link"] = "result plan catalogue base"
	may["check/fleet"] = "result plan catalogue base"
	may["check/between"] = "check/link result plan catalogue base"
	may["check/model"] = "result plan catalogue base"
	may["check/cells"] = "check/fleet check/link result plan catalogue base"
	may["check/bounds"] = "check/cells check/fleet check/link check/model result plan catalogue base"
	may["check/compare"] = "check/bounds check/fleet check/model result plan catalogue base"
	may["check/verdict"] = "check result plan catalogue base"
	may["file"] = "check result plan catalogue base"
	may["report"] = "file check result plan catalogue base"
	may["report/export"] = "report file check result plan catalogue base"
	may["report/text"] = "report/export report file check result plan catalogue base"
	may["report/html"] = "report/text report file check result plan catalogue base"
	may["options"] = "job report file check result plan catalogue base"
	may["command"] = "options report report/text file check job node result plan catalogue system backend base"

	# headers of libraries: a pattern, and the places that may see it
	header["^mpi(-ext)?[.]h$"] = "job/"
	header["^cuda.*[.]h$"] = "nowhere" # backend/cuda/abi.h is ours
	header["^hwloc([.]h|/.*)$"] = "system/"
	header["^numa(if)?[.]h$"] = "system/"
	header["^nvml[.]h$"] = "system/"
	header["^jansson[.]h$"] = "(file|report)/"

	# names: a pattern, and the places that may use it
	name["clock_gettime|clock_nanosleep|gettimeofday|timespec_get|clock|time"] = \
		"^(node/|backend/|job/|command/|main[.]c)"
	name["printf|vprintf|puts|putchar|perror"] = "^(report/|main[.]c)"
	# text of others goes out clean: by base/print.h
	name["fprintf|vfprintf|dprintf|fputc"] = \
		"^(base/print[.]c|options/help[.]c|plan/file_write[.]c|file/)"
	name["exit|quick_exit"] = "^main[.]c"
	name["_exit|_Exit"] = "^(job/|command/)"

	# what came after glibc 2.28, by release: RHEL 8 and SLES 15 have no more
	since["2.29"] = "getcpu|posix_spawn_file_actions_addf?chdir_np"
	since["2.30"] = "getdents64|gettid|tgkill|twalk_r|sem_clockwait|" \
		"pthread_(cond_clockwait|mutex_clocklock|rwlock_clock(rd|wr)lock)"
	since["2.31"] = "pthread_clockjoin_np"
	since["2.32"] = "sig(abbrev|descr)_np|strerror(name|desc)_np|" \
		"pthread_attr_[gs]etsigmask_np"
	since["2.33"] = "mallinfo2"
	since["2.34"] = "closefrom|close_range|execveat|timespec_getres|_Fork|" \
		"posix_spawn_file_actions_addclosefrom_np"
	since["2.35"] = "epoll_pwait2|posix_spawn_file_actions_addtcsetpgrp_np|" \
		"f(max|min)imum(_mag)?(_num)?[fl]?"
	since["2.36"] = "arc4random(_buf|_uniform)?|pidfd_(open|getfd|send_signal)|" \
		"process_m(advise|release)|fs(open|mount|config|pick)|" \
		"move_mount|open_tree|mount_setattr"
	since["2.38"] = "(str|wcs)l(cpy|cat)"
	since["2.39"] = "pidfd_(spawnp?|getpid)|posix_spawnattr_[gs]etcgroup_np|" \
		"stdc_[a-z_]+"
	since["2.41"] = "sched_[gs]etattr"
	newer_calls = "pidfd_[a-z_]+|io_uring_[a-z]+|clone3|close_range|openat2|" \
		"faccessat2|fchmodat2|epoll_pwait2|process_m(advise|release)|" \
		"futex_(waitv|wake|wait|requeue)|landlock_[a-z_]+|memfd_secret|" \
		"cachestat|set_mempolicy_home_node|fs(open|mount|config|pick)|" \
		"move_mount|open_tree|mount_setattr"
}

FNR == 1 {
	comment = 0
	folder = layer(FILENAME)
}

# The folder of a file that is a layer: that of a part where it has parts, else the
# outermost; "" of none.
function layer(file,    part) {
	part = file
	if (!sub("/[^/]*$", "", part))
		return ""
	if (!(part in may))
		sub("/.*", "", part)
	return part
}

# A layer or, where it has nothing but parts, each of them.
function allows(list, to) {
	return has_word(list, to) ||
		(sub("/.*", "", to) && !(to in may) && has_word(list, to))
}

function wrong(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }

function has_word(list, word) { return index(" " list " ", " " word " ") }

function check_own(file,    to) {
	to = layer(file)
	if (to == "" || folder == "" || to == folder)
		;
	else if (!(folder in may))
		wrong("folder " folder " has no place among the layers")
	else if (!allows(may[folder], to))
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

function check_libc(line,    release, word) {
	for (release in since)
		if (match(line, "(^|[^A-Za-z0-9_.>])(" since[release] ")[ \t]*[(]")) {
			word = substr(line, RSTART, RLENGTH)
			gsub("[^A-Za-z0-9_]", "", word)
			wrong(word " needs glibc " release)
		}
	if (line ~ "(^|[^A-Za-z0-9_])(SYS|__NR)_(" newer_calls ")([^A-Za-z0-9_]|$)" &&
	    FILENAME !~ "^node/board/process[.][ch]$")
		wrong("glibc 2.28 has no number of this system call")
	if (line ~ "#[ \t]*include[ \t]*<sys/(pidfd|rseq|single_threaded)[.]h>")
		wrong("glibc 2.28 has no such header")
}

layers && !comment && /^[ \t]*#[ \t]*include[ \t]*["<]/ {
	file = $0
	sub("^[^\"<]*[\"<]", "", file)
	sub("[\">].*", "", file)
	if ($0 ~ "\"")
		check_own(file)
	check_header(file)
}

{
	line = code($0)
	if (layers)
		check_names(line)
	check_libc(line)
}
'

# The lists of the build below $1, their files by whole paths.
lists() {
	(cd "$1" && find . -mindepth 2 -maxdepth 3 -name local.mk) | sed 's|^\./||' |
		while read -r list; do
			folder=${list%/*}
			sed "s|%D%|$folder|g; s|%C%|$(echo "$folder" | tr / _)|g" "$1/$list"
		done
}

# Print each source that needs the CUDA backend and is built where there is none: its
# program, or the line that names it, must stand below `if HAVE_CUDA`.
needs_cuda() {
	{
		(cd "$1" && grep -rlE '#[ \t]*include[ \t]*"(backend/cuda/|fake[.]h)' \
			src tests --include='*.c')
		lists "$1"
	} | awk "$cuda_rules"
}

# shellcheck disable=SC2016 # awk's dollars
cuda_rules='
/^(src|tests)[/][^ \t]*[.]c$/ { needs[$0]; next }

{ line = line $0 }

sub(/\\$/, " ", line) { next }

line ~ /^if / { below[++depth] = line }
line ~ /^else/ { below[depth] = "" }
line ~ /^endif/ { depth-- }

{
	guarded = 0
	for (i = 1; i <= depth; i++)
		guarded = guarded || below[i] == "if HAVE_CUDA"
	n = split(line, word, "[ \t]+")
	line = ""
	owner = word[1] ~ /_SOURCES$/ ? word[1] : ""
	for (i = 2; i <= n && !guarded; i++) {
		if (owner != "" && word[i] in needs)
			of[owner] = word[i]
		if (owner == "" && word[i] ~ /^(src|tests)[/]/) {
			gsub(/[^A-Za-z0-9]/, "_", word[i])
			built[word[i] "_SOURCES"]
		}
	}
}

END { for (owner in of) if (owner in built) print of[owner] }
'

# Of the listing of `nm -A` print the objects that use each other in a circle: what is
# left when those that use none of the rest, or that none uses, are taken away again and
# again.
# shellcheck disable=SC2016 # awk's dollars
circles() {
	awk '
	{
		sub(/^[^:]*[.]a:/, "")
		n = split($0, part, /:| +/)
		if (part[n - 1] == "U")
			needs[part[1], part[n]]
		else if (part[n - 1] ~ /[TDBRC]/)
			home[part[n]] = part[1]
		object[part[1]]
	}
	END {
		for (need in needs) {
			split(need, part, SUBSEP)
			if (part[2] in home && home[part[2]] != part[1])
				edge[part[1], home[part[2]]]
		}
		do {
			gone = 0
			for (o in object) {
				out = into = 0
				for (e in edge) {
					split(e, end, SUBSEP)
					out += end[1] == o
					into += end[2] == o
				}
				if (out && into)
					continue
				for (e in edge) {
					split(e, end, SUBSEP)
					if (end[1] == o || end[2] == o)
						delete edge[e]
				}
				delete object[o]
				gone = 1
			}
		} while (gone)
		for (o in object)
			print o
	}'
}

# Print the files below $1 that include each other in a circle, a .c and its .h as one; with
# $2 1 the folders.
in_circles() {
	(cd "$1" && find . -name '*.[ch]' | sed 's|^\./||' |
		xargs awk -v folders="${2:-0}" "$include_rules") |
		sort -u | { tsort >/dev/null || :; } 2>&1
}

# shellcheck disable=SC2016 # awk's dollars
include_rules='
/^[ \t]*#[ \t]*include[ \t]*"[^"]*[.]h"/ {
	from = FILENAME
	to = $0
	sub(/^[^"]*"/, "", to)
	sub(/[.]h".*/, "", to)
	sub(/[.][ch]$/, "", from)
	if (to !~ "/" && from ~ "/") {
		beside = from
		sub("[^/]*$", "", beside)
		to = beside to
	}
	if (folders && (from !~ "/" || !sub("/[^/]*$", "", from) || !sub("/[^/]*$", "", to)))
		next
	if (from != to)
		print from, to
}
'

report() { # GOOD NAME
	ok "$2" [ "$1" = 1 ] || :
}

# COMMAND finds nothing.
none() { # NAME COMMAND...
	name=$1
	shift
	found=$("$@")
	[ -z "$found" ] || echo "$found" | sed 's/^/# /'
	report "$([ -z "$found" ] && echo 1 || echo 0)" "$name"
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

none "the sources keep their layers" violations "$src"

none "the tests need no newer glibc than 2.28" violations "$top/tests" 0

for folder in src/libcs_*.a; do
	[ -e "$folder" ] && nm -A "$folder" | circles
done >"$dir/circles"
nm -A src/main.o src/*-main.o src/command/*.o 2>/dev/null | circles >>"$dir/circles"
sed 's/^/# in a circle: /' "$dir/circles"
report "$([ -s "$dir/circles" ] && echo 0 || echo 1)" "no files of a folder need each other in a circle"
found=$(printf '%s\n' 'x.a:a.o:0 T f' 'x.a:a.o:  U g' 'x.a:b.o:0 T g' 'x.a:b.o:  U h' \
	'x.a:c.o:0 T h' 'x.a:c.o:  U f' 'x.a:d.o:  U f' 'x.a:e.o:0 T e' 'x.a:a.o: U e' |
	circles | sort | tr -d '\n')
report "$([ "$found" = a.ob.oc.o ] && echo 1 || echo 0)" "finds a circle of three"

none "no files include each other in a circle" in_circles "$src"
none "no folders include each other in a circle" in_circles "$src" 1
mkdir -p "$dir/src/check/a" "$dir/src/check/b"
echo '#include "check/b/x.h"' >"$dir/src/check/a/x.c"
echo '#include "check/b/y.h"' >"$dir/src/check/b/x.c"
report "$([ -z "$(in_circles "$dir/src")" ] && echo 1 || echo 0)" "allows files in a row"
echo '#include "check/a/x.h"' >"$dir/src/check/b/x.h"
report "$([ -n "$(in_circles "$dir/src" 1)" ] && echo 1 || echo 0)" "finds a circle of two folders"
report "$([ -n "$(in_circles "$dir/src")" ] && echo 1 || echo 0)" "... of two files in them"
rm "$dir/src/check/a/x.c"
echo '# include "x.h"' >"$dir/src/check/b/y.c"
report "$([ -n "$(in_circles "$dir/src")" ] && echo 1 || echo 0)" "... of a .c and the .h of another"

none "what needs the CUDA backend is built only where it is" needs_cuda "$top"
mkdir -p "$dir/src" "$dir/tests/bench"
echo '#include "backend/cuda/driver.h"' | tee "$dir/tests/bench/x.c" >"$dir/tests/bench/y.c"
cat >"$dir/tests/local.mk" <<'END'
check_PROGRAMS += \
	%D%/bench/z \
	%D%/bench/x.so
if HAVE_CUDA
check_PROGRAMS += %D%/bench/y
endif
%C%_bench_x_so_SOURCES = %D%/bench/x.c
%C%_bench_y_SOURCES = %D%/bench/y.c
END
found=$(needs_cuda "$dir")
report "$([ "$found" = tests/bench/x.c ] && echo 1 || echo 0)" "finds it where it is not"

# Print the sources below $1 that no list of the build has: a release lacks them.
unlisted() {
	lists "$1" >"$dir/lists"
	(cd "$1" && find src tests -name '*.[ch]' -o -name '*.def') |
		while read -r file; do
			grep -qE "[[:blank:]]$file( |\$)" "$dir/lists" || echo "$file"
		done
}

none "every source is in the lists of the build" unlisted "$top"
mkdir -p "$dir/list/src" "$dir/list/tests/bench"
touch "$dir/list/src/x.h" "$dir/list/tests/bench/y.c" "$dir/list/tests/bench/z.c"
echo 'a = %D%/y.h' >"$dir/list/src/local.mk"
echo 'a = %D%/z.c' >"$dir/list/tests/bench/local.mk"
found=$(unlisted "$dir/list" | sort | tr '\n' ' ')
report "$([ "$found" = 'src/x.h tests/bench/y.c ' ] && echo 1 || echo 0)" \
	"finds those that are not"
rm -r "$dir/list"

plant node/x.c '#include <mpi.h>' 'MPI outside job/'
plant backend/cuda/x.c '#include <cuda.h>' "NVIDIA's header"
plant node/x.c '# include <cudaTypedefs.h>' "NVIDIA's other header"
plant job/x.c '#include <hwloc.h>' 'hwloc outside system/'
plant job/x.c '#include <hwloc/linux.h>' 'a part of hwloc outside system/'
plant base/x.c '#include <numaif.h>' 'libnuma outside system/'
plant result/x.c '#include <jansson.h>' 'jansson outside file/ and report/'
plant base/x.h '#include "plan/plan.h"' 'base/ looking up'
plant plan/x.c '#include "result/row.h"' 'plan/ looking up'
plant report/x.c '#include "node/board/board.h"' 'report/ looking into node/'
plant node/x.c '#include "backend/cuda/driver.h"' 'a private header of a backend'
plant file/x.c '#include "report/view.h"' 'file/ looking up'
plant check/cells/x.c '#include "check/verdict/check.h"' 'a part of check/ looking up'
plant check/x.c '#include "base/err.h"' 'a file of check/ in none of its parts'
plant options/x.c '#include "node/board/board.h"' 'options/ looking into node/'
plant node/coordinator/x.c '#include "node/agent/memory.h"' 'the coordinator looking into an agent'
plant node/agent/x.c '#include "node/coordinator/cell.h"' 'an agent looking into its coordinator'
plant report/export/x.c '#include "report/text/parts.h"' 'a format for programs looking into the text report'
plant report/x.c '#include "report/html/parts.h"' 'what all views share looking into one'
plant extra/x.c '#include "base/err.h"' 'a folder that is no layer'
plant plan/x.c 'int f(void) { return clock_gettime(1, 0); }' 'a clock read in plan/'
plant node/x.c '	printf("x");' 'printf outside report/'
plant job/x.c '	fprintf(stdout, "x");' 'stdout outside report/'
plant report/x.c '	fprintf(to, "%s", host);' 'text of others printed as it is'
plant report/x.c '	fputs(host, to);' 'the same by fputs'
plant job/x.c '	exit(1);' 'exit outside main.c'
plant node/x.c '	_exit(1);' '_exit outside job/ and command/'

plant job/x.c '	closefrom(4);' 'a function of glibc 2.34'
plant report/x.c '	n = strlcpy (to, from, size);' 'a function of glibc 2.38'
plant job/x.c '	syscall(SYS_close_range, 4, 9, 0);' 'a system call of Linux 5.9'
plant base/x.c '#include <sys/pidfd.h>' 'a header of glibc 2.36'

allow node/board/process.h '#define SYS_pidfd_open 434' 'the one place of a newer system call'
allow job/x.c '	close_from(4); p->gettid(); x = SYS_futex;' 'what only looks like a newer glibc'
allow main.c '	exit(printf("x"));' 'main.c to print and exit'
allow report/x.c '#include "check/verdict/check.h"' 'what may use check/ all of its parts'
allow job/x.c '	_exit(3); fputs("exit(1)", stderr);' 'job/ to leave by _exit'
allow backend/cuda/x.c '#include "backend/cuda/driver.h"' 'a backend its own header'
allow system/x.c '#include <hwloc.h>' 'system/ to use hwloc'
allow file/x.c '#include <jansson.h>' 'file/ to use jansson'
allow base/print.c '	fprintf(to, "%s", all);' 'one place to print'
allow report/x.c '	fputs("", stdout); // exit(1)' 'report/ to use stdout'
allow base/x.c '	snprintf(to, n, "x"); p->time(0); cs_exit(1);' 'names that only look alike'

finish
