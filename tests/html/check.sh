#!/bin/bash
# Pages as Chromium draws them: light, dark, on a phone, under a policy that forbids scripts,
# styles and data images, and on paper; with its script, and of 10,000 nodes.  A page that asks the
# network for anything fails, and one that is hard to read.  For `make check-html`; needs Debian's chromium-headless-shell.  Pictures stay in the folder given.
set -u

program=${1:?the program}
results=${2:?a folder of results}
to=${3:?a folder for pictures}
chromium=${CHROMIUM:-chromium-headless-shell}
here=$(cd "$(dirname "$0")" && pwd)
policy='<meta http-equiv="Content-Security-Policy" content="default-src '"'none'"'"/>'
fails=0
n=0

if ! command -v "$chromium" >/dev/null; then
	echo "no $chromium: nothing was checked" >&2
	exit 77
fi
mkdir -p "$to"

draw() { # PAGE PICTURE OPTION...
	local page=$1 picture=$2
	shift 2
	timeout 60 "$chromium" --no-sandbox --hide-scrollbars --window-size=1160,1800 \
		--log-net-log="$to/net.json" "$@" ${picture:+--screenshot="$picture"} \
		"file://$page" >/dev/null 2>&1
}

says() { # SENTENCE COMMAND...
	local sentence=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $sentence"
	else
		echo "not ok $n - $sentence"
		fails=$((fails + 1))
	fi
}

# shellcheck disable=SC2317 # by says()
look() { "${PYTHON:-python3}" "$here/look.py" "$@"; }
# Has the script of PAGE made its box for cells?
# shellcheck disable=SC2317
runs() { timeout 60 "$chromium" --no-sandbox --dump-dom "file://$1" 2>/dev/null | grep -q '<div id="tip"'; }
# shellcheck disable=SC2317
runs_not() { ! runs "$1"; }
# What read.js says of PAGE, with options of Chromium; its window is as high as the page.
# shellcheck disable=SC2317
reads() {
	local page=$1
	shift
	{ sed 's|<meta http-equiv[^>]*>||; s|</body></html>||' "$page"; echo '<script>//<![CDATA['; cat "$here/read.js"
		echo '//]]></script></body></html>'; } >"$to/read.html"
	timeout 100 "$chromium" --no-sandbox --hide-scrollbars --window-size=1160,90000 "$@" \
		--dump-dom "file://$(realpath "$to")/read.html" 2>/dev/null |
		grep -oE '\{"texts":.*\}' | tee "$to/read.json" | look read /dev/stdin
}
# shellcheck disable=SC2317
is_found() { ! look quiet "$1"; }

for name in h200x4/np4-both h200x4/sweep h200x4/suite-np4 h200x2/unified-np2 \
	../../tests/fixtures/answer/slow-link; do
	page=$(realpath "$to")/$(basename "$name").html
	"$program" show "$results/$name.json" -q -o "$page" || exit 1
	sed "s|<head>|<head>$policy|" "$page" >"${page%.html}.strict.html"
	draw "$page" "${page%.html}.light.png"
	says "$name: asks the network for nothing" look quiet "$to/net.json"
	says "... light: pale page, drawings on it" look drawn "${page%.html}.light.png" light
	draw "$page" "${page%.html}.dark.png" --blink-settings=preferredColorScheme=0
	says "... dark" look drawn "${page%.html}.dark.png" dark
	draw "$page" "${page%.html}.phone.png" --window-size=390,1800
	says "... on a phone" look drawn "${page%.html}.phone.png" light
	says "... light: contrast is WCAG AA, no label is cut" reads "$page"
	says "... dark too" reads "$page" --blink-settings=preferredColorScheme=0
	says "... nothing leaves the screen of a phone" reads "$page" --window-size=390,90000
	says "... its script runs under the page's own policy" runs "$page"
	says "... and not where a policy forbids it" runs_not "${page%.html}.strict.html"
	draw "${page%.html}.strict.html" "${page%.html}.strict.png" --window-size=1160,5000
	says "... whole where a policy strips all CSS" look drawn "${page%.html}.strict.png" light
	draw "$page" "" --print-to-pdf="${page%.html}.pdf"
	says "... on paper" look paper "${page%.html}.pdf"
done
mkdir -p "$to/fleet"
"${PYTHON:-python3}" -c 'import sys
text = open(sys.argv[1]).read()
for i in range(10000):
    with open(f"{sys.argv[2]}/n{i}.json", "w") as file:
        file.write(text.replace("\"vm\"", f"\"n{i}\""))' "$results/h200x4/np4.json" "$to/fleet"
"$program" check "$to"/fleet/*.json -q -o "$to/fleet.html" || exit 1
draw "$(realpath "$to")/fleet.html" "$to/fleet.png"
says "10,000 nodes: drawn" look drawn "$to/fleet.png" light
says "... in less than 5 MB" [ "$(stat -c %s "$to/fleet.html")" -lt 5000000 ]
rm -r "$to/fleet"
sed 's|<meta http-equiv[^>]*>||; s|</body>|<img src="http://127.0.0.1:9/x.png"/>&|' "$page" >"$to/planted.html"
draw "$(realpath "$to")/planted.html" "$to/planted.png"
says "a page that asks for a picture is found" is_found "$to/net.json"
echo "1..$n"
exit $((fails > 0))
