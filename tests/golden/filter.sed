# What golden output may not depend on; the host's name is filtered by run.t.
s/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\(\.[0-9]*\)\{0,1\}Z/DATE/g
s/cscope-mpi [0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\(-rc[0-9][0-9]*\)\{0,1\}\( ([^)]*)\)\{0,1\}/cscope-mpi VERSION/g
s/^Built from Git version: .*/Built from Git version: COMMIT/; s/\("git_version": "\)[^"]*/\1COMMIT/
s/\<commit [0-9a-f]\{7,40\}+\{0,1\}/commit COMMIT/g
s/\<pid [0-9][0-9]*/pid PID/g
# progress, where a sanitizer or other work makes it slow
/^cscope-mpi: [0-9]* of [0-9]* steps, [0-9]* rows, [0-9]* s\(, .*\)\{0,1\}$/d
# wall-clock times: the virtual clock keeps bandwidths only
/^  time /s/[0-9][0-9]*\.[0-9][0-9]*/N/g
# the machine's own: its NUMA nodes, and what hwloc could bind to
s/, [0-9][0-9]* NUMA nodes\{0,1\}/, N NUMA nodes/
/^ *GPU  bus id /s/   */  /g
/^ *[0-9][0-9]*  [0-9a-f]\{4\}:[0-9a-f][0-9a-f]:/{
	s/   */  /g
	s/^\(  [0-9][0-9]*  [^ ]*  [0-9][0-9]*\)  [^ ]*  [^ ]*  /\1  NUMA  CPUS  /
}
s/^\(  GPU is nvidia-smi's index; \).*/\1BINDING/
# how long opening a peer took
/^  first use/,/^  state/{
	/^  state/!d
}
# a long host name folds the line that begins with it
/^HOST  /{
	N
	s/\n  \([^ ]\)/ \1/
	P
	D
}
