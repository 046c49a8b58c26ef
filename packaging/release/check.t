#!/bin/bash
# check.t - what `make release` makes: all that git has, the same bytes wherever it is
# made, checksums and a bill of materials.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need make sha256sum xz
name=cscope-mpi-$version

release() { # BUILD FOLDER
	mkdir "$2"
	make -C "$1" release && mv "$1/$name".* "$2"
}
ok "make release makes it" release "$build" first

# Not what only serves those who have git; what a link names goes in its place.
git_has() {
	git -C "$top" ls-files -s |
		awk '$1 != 120000 && $4 !~ "(^|/)[.]git" { print $4 }' | sort
}
tar -tzf "first/$name.tar.gz" | sed 's|^[^/]*/||' | grep -v '/$' | sort >there
if [ -e "$top/.git" ]; then
	comm -23 <(git_has) there >missing
	ok "it has all that git has" is_empty missing
else
	skip "it has all that git has" "no git here to compare with"
fi

# What is generated is made anew there, kernels too where nvcc is.
again() (
	tar -xJf "first/$name.tar.xz" && cd "$name" || return 1
	rm -f doc/*.[15] configure
	[ -z "${NVCC:-}" ] || rm -f kernels/kernels.c
	autoreconf -i && find . -exec touch -hd "@$(stat -c %Y configure.ac)" {} + &&
		mkdir ../elsewhere && cd ../elsewhere && "../$name/configure" -q
)
same() { # FILE...
	local file
	for file; do
		cmp "first/$file" "second/$file" && continue
		diff <(tar -tvf "first/$file") <(tar -tvf "second/$file")
		tar -xf "first/$file" -C first && tar -xf "second/$file" -C second &&
			diff -r "first/$name" "second/$name"
		return 1
	done
}
umask 077
ok "it builds a release itself, in another folder" again
ok "... with make release" release "$work/elsewhere" second
ok "... which has the same bytes" \
	same "$name".{tar.gz,tar.xz,sha256,spdx.json}

ok "its checksums are right" eval '(cd first && sha256sum -c "$name.sha256")'
ok "the bill of materials names it and its checksum" jq -e --arg version "$version" \
	--arg sum "$(sha256sum <"first/$name.tar.gz" | cut -d' ' -f1)" '
	.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and
	([.packages[] | select(.name == "cscope-mpi")][0] |
		.versionInfo == $version and .checksums[0].checksumValue == $sum)' \
	"first/$name.spdx.json"
ok "... what it is linked with, and relates only parts that it lists" jq -e '
	([.packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) as $parts |
	([.relationships[] | select(.relationshipType == "DEPENDS_ON")] | length) >= 4 and
	all(.relationships[]; [.spdxElementId, .relatedSpdxElement] - $parts == [])' \
	"first/$name.spdx.json"

linked() { # every library that the program names has a line of the table
	local library
	objdump -p "$CS_PROGRAM" | awk '$1 == "NEEDED" { print $2 }' |
		while read -r library; do
			case $library in
			libc.* | libm.* | libpthread.* | libdl.* | ld-linux*) echo glibc ;;
			libmpi*) echo openmpi ;;
			libnuma.*) echo numactl ;;
			*) library=${library%%.*} && echo "${library#lib}" ;;
			esac
		done | sort -u >libraries
	awk '$1 == "library" { print $2 }' "$top/packaging/dependencies" | sort |
		diff - libraries
}
ok "the table of dependencies has the libraries that the program is linked with" linked

wants=$(sed -n 's/.*\[hwloc >= \([0-9.]*\)\].*/\1/p' "$top/configure.ac")
ok "... and configure's oldest hwloc" \
	grep -qE "^library +hwloc +$wants " "$top/packaging/dependencies"
ok "the version is that of CITATION.cff and of the changes" eval \
	'grep -qxF "version: $version" "$top/CITATION.cff" &&
	 grep -m 1 "^## " "$top/CHANGELOG.md" | grep -qF "## $version ("'

finish
