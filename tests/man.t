#!/bin/bash
# The manual pages say what the program has: options, keys, and valid roff.
: "${CSCOPE:?is not set: run this by make check}"
: "${MANDIR:?is not set: run this by make check}"
top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 1
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

# A page is built here, or came with the release.
page() { # NAME
	local dir
	for dir in "$MANDIR" "$top/doc"; do
		if [ -e "$dir/$1" ]; then
			echo "$dir/$1"
			return
		fi
	done
}

same() { # FILE FILE, neither of them empty
	[ -s "$1" ] && diff "$1" "$2"
}

# Options as --help has them, "-o --output", and as the page has them.
all() { # [COMMAND]
	[ $# -gt 0 ] && echo --help || echo --help=all
}
options_of_help() { # [COMMAND]
	"$CSCOPE" "$@" "$(all "$@")" | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\1 \2/p' |
		sed 's/,//; s/^ *//' | sort
}
options_of_page() { # FILE SECTION NEXT-SECTION
	sed -n "/^\\.S[HS] $2\$/,/^\\.S[HS] $3/p" "$1" | sed 's/\\f.//g; s/\\-/-/g' |
		sed -nE 's/^(-., )?(--[a-z-]+).*/\1\2/p' | sed 's/,//' | sort
}

# Those of comm_scope: several to a line, "--benchmark_out=FILE", behind .B and .BI.
options_of_their_help() {
	ln -sf "$CS_PROGRAM" "$work/comm_scope" && "$work/comm_scope" --help |
		grep -oE '^  --[a-z_]+|, --[a-z_]+' | tr -d ', ' | sort
}
options_of_their_page() {
	sed -n '/^\.SH OPTIONS/,/^\.SH ENVIRONMENT/p' "$theirs" | sed 's/\\-/-/g' |
		sed -nE 's/^\.BI? (--[a-z_]+).*/\1/p' | sort
}

# Those of nvbandwidth, with both names: "-b, --bufferSize".
options_of_nvbandwidth() {
	ln -sf "$CS_PROGRAM" "$work/nvbandwidth" && "$work/nvbandwidth" --help |
		grep -oE '^  -., --[a-zA-Z]+' | tr -d ' ' | sort
}
options_of_nvbandwidth_page() {
	sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$nvbandwidth" | sed 's/\\-/-/g' |
		sed -nE 's/^\.BI?R? (-.) ", " (--[a-zA-Z]+).*/\1,\2/p' | sort
}

# Keys as the sources put them into records of runs, as a run writes them, and as
# formats(5) has them: bold, behind .TP or in a sentence.
keys_of_sources() {
	find "$top/src/file" -name '*.c' ! -name baseline.c -exec sed -nE \
		's/.*\b(cs_encode_json[a-z_]*|put_if|member)\(.*, "([a-z0-9_]+)",.*/\2/p' {} +
	sed -nE 's/^\t[A-Z]+\([A-Z]+, "([a-z0-9_]+)",.*/\1/p' "$top"/src/*/*.c
	grep -ohE '\\"[a-z_]+\\":\[' "$top"/src/file/*.c | tr -cd 'a-z_\n'
	echo kind
}
keys_of_run() {
	"$CSCOPE" --backend cpu -m peer --no-mpi --gpus 2 -s 64K --cell-limit 1ms -q \
		-o "$work/run.json" -o "$work/run.jsonl" 2>"$work/err" ||
		cat "$work/err" >&2
	grep -ohE '"[a-z0-9_]+":' "$work/run.json" "$work/run.jsonl" | tr -d '":'
}
keys_of_page() { # FILE
	sed -n '/^\.SH JSON/,/^\.SH CSV/p' "$1" | sed -nE '
		s/^\.B ([a-z0-9_]+)$/\1/p
		/^\.BR /{
			s/^\.BR //
			s/"[^"]*"|\(.*/\n/g
			p
		}' | grep -oE '[a-z0-9_]+'
}

not_in_page() { # FILE: of the words of standard input
	keys_of_page "$1" | sort -u >"$work/page"
	sort -u | comm -23 - "$work/page" >"$work/missing"
	cat "$work/missing"
	[ -s "$work/page" ] && [ ! -s "$work/missing" ]
}
all_keys_documented() {
	keys_of_sources >"$work/keys" && keys_of_run >>"$work/keys" &&
		[ "$(sort -u "$work/keys" | wc -l)" -gt 100 ] &&
		not_in_page "$formats" <"$work/keys"
}
all_documented_exist() {
	local key rc=0
	for key in $(keys_of_page "$formats" | sort -u); do
		grep -qF "\"$key\"" "$top"/src/file/*.c "$top"/doc/*.schema.json ||
			grep -qF "\\\"$key\\\"" "$top"/src/file/*.c || {
			echo "$key is written nowhere"
			rc=1
		}
	done
	return $rc
}
all_keys_in_schema() {
	local key rc=0
	for key in $(keys_of_sources | sort -u); do
		grep -qF "\"$key\"" "$top"/doc/*.schema.json || {
			echo "$key is not in the schema"
			rc=1
		}
	done
	return $rc
}

# A key that the schema describes and the page does not name, on the page.
key_of_schema_added() {
	cat >"$work/schema" <<-'EOF'
	  {
	    "$defs": {
	      "result": {
	        "properties": {
	          "kept": {
	            "description": "Named by the page.",
	            "type": "string"
	          },
	          "plain": { "type": "string" },
	          "added": { "description": "A \"new\" one, --all of it.", "type": "string" }
	        }
	      },
	      "other": {
	        "properties": { "far": { "description": "Of another record." } }
	      }
	    }
	  }
	EOF
	printf '.SS results\n.TP\n.BR kept ", " b\nText.\n%s\n' '@KEYS result of x@' >"$work/in"
	printf '%s\n' '.SS results' .TP '.BR kept ", " b' Text. .TP '.BR added " of x"' \
		'A "new" one, \-\-all of it.' >"$work/expected"
	awk -f "$top/doc/keys.awk" "$work/schema" "$work/in" >"$work/added"
	same "$work/expected" "$work/added"
}
unknown_key_found() {
	! echo no_such_key | not_in_page "$formats"
}

# The heading says of which release the page is, and nothing of the template is left.
names_release() { # FILE
	local release
	release=$("$CSCOPE" --version | sed -nE '1s/^cscope-mpi ([^ ]+).*/\1/p')
	echo "release '$release'"
	head -n 2 "$1" | grep '^\.TH ' | grep -F "\"cscope-mpi $release\"" &&
		! grep -nE '@[A-Za-z_]+@' "$1"
}

# A page passes when the tool says nothing.
silent() { # TOOL COMMAND...
	local said
	if ! command -v "$1" >/dev/null; then
		return 77
	fi
	shift
	said=$("$@" "$manual" "$formats" "$theirs" "$nvbandwidth" 2>&1 >/dev/null)
	echo "$said"
	[ -z "$said" ]
}
lint() {
	mandoc -Tlint -W warning "$@" >&2
}

manual=$(page cscope-mpi.1)
formats=$(page cscope-mpi-formats.5)
theirs=$(page comm_scope.1)
nvbandwidth=$(page nvbandwidth.1)
options_of_help >"$work/help"
options_of_page "$manual" OPTIONS COMMANDS >"$work/options"
ok "the page has the options of --help, no more and no fewer" \
	same "$work/help" "$work/options"
options_of_help show >"$work/help"
options_of_page "$manual" show compare >"$work/options"
ok "… and those of show" same "$work/help" "$work/options"
options_of_help compare >"$work/help"
options_of_page "$manual" compare baseline >"$work/options"
ok "… and those of compare" same "$work/help" "$work/options"
options_of_help baseline >"$work/help"
options_of_page "$manual" baseline learn >"$work/options"
ok "… and those of baseline" same "$work/help" "$work/options"
options_of_help learn >"$work/help"
options_of_page "$manual" learn check >"$work/options"
ok "… and those of learn" same "$work/help" "$work/options"
options_of_help check >"$work/help"
options_of_page "$manual" check EXIT >"$work/options"
ok "… and those of check" same "$work/help" "$work/options"
options_of_their_help >"$work/help"
options_of_their_page >"$work/options"
ok "the page of comm_scope has the options of its --help" \
	same "$work/help" "$work/options"
options_of_nvbandwidth >"$work/help"
options_of_nvbandwidth_page >"$work/options"
ok "… that of nvbandwidth too" same "$work/help" "$work/options"
ok "every key that a run writes is in formats(5)" all_keys_documented
ok "every key that formats(5) names is written" all_documented_exist
ok "every key that the sources write is in the schema" all_keys_in_schema
ok "the schema is one" "$top/tests/schema-check" "$top/doc/cscope-mpi-1.schema.json"
[ -n "${PYTHON:-}" ] || skip="no Python with jsonschema"
ok "… and what reads it quickly says of runs, and of broken ones, what jsonschema does" \
	"${PYTHON:-}" "$top/tests/validator.py" "$top/doc/cscope-mpi-1.schema.json" \
	"$top/doc/results/h200x2/unified-np1.json" "$top/doc/results/h200x4/killed.jsonl"
skip=''
ok "a key without a line would be found" unknown_key_found
ok "a key that the schema describes needs no line on the page" key_of_schema_added
ok "the page names the release that it is of" names_release "$manual"
ok "… formats(5) as well" names_release "$formats"
ok "… comm_scope(1) too" names_release "$theirs"
ok "… and nvbandwidth(1)" names_release "$nvbandwidth"
ok "groff has nothing to say of the pages" \
	silent groff groff -man -ww -Tutf8 -z
ok "mandoc has nothing to say of the pages" silent mandoc lint
finish
