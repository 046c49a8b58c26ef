#!/bin/bash
# check.t - the alert rules and every expression of the dashboard, by promtool and by a
# Prometheus that scrapes what the program prints.  A picture of its page of alerts is left
# in the folder CS_PICTURES, if that is set and chromium-headless-shell is there.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need promtool jq
here=$top/packaging/monitoring
export CS_LIBCUDA=$FAKE/libcuda.so.1 CS_LIBNVML=$FAKE/libnvidia-ml.so.1 FAKE_GPUS=4 FAKE_MEMORY=12000000

ok "promtool takes the alert rules" promtool check rules "$here/alerts.yml"
ok "each alert comes when it should, and ends" promtool test rules "$here/alerts-test.yml"
untested() { # no alert without a test
	comm -13 <(sed -n 's/.*alertname: //p' "$here/alerts-test.yml" | sort -u) \
		<(sed -n 's/.*- alert: //p' "$here/alerts.yml" | sort) >left_out
	is_empty left_out
}
ok "... every one" untested
finds() { # SED: is an alert with that mistake found?
	mkdir -p planted
	cp "$here"/*.yml planted
	sed -i "$1" planted/alerts.yml
	! cmp -s planted/alerts.yml "$here/alerts.yml" && ! promtool test rules planted/alerts-test.yml
}
ok "a comparison the wrong way round would be found" finds 's/cscope_mpi_complete == 0/cscope_mpi_complete != 0/'

# ---- the dashboard ----

jq -r '.panels[].targets[].expr' "$here/dashboard.json" |
	sed 's/\$Hostname/.*/g; s/="\$test"/=~".*"/g' >expressions
has_expressions() {
	[ "$(wc -l <expressions)" -ge 12 ] && ! grep '\$' expressions
}
ok "the dashboard is JSON with expressions" has_expressions
jq -Rn '{groups: [{name: "dashboard", rules: [inputs | {record: "cs:x", expr: .}] |
	to_entries | map(.value.record += "\(.key)" | .value)}]}' expressions >rules.json
ok "promtool takes each of them" promtool check rules rules.json
ok "no two panels have one id, and none lies upon another" jq -e '
	([.panels[].id] | length == (unique | length)) and
	([.panels[].gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y]] |
		length == (unique | length))' "$here/dashboard.json"

# Of two nodes, one with wrong data.
measure() { # FILE NAME [VARIABLE=VALUE]...
	env "${@:3}" "$CSCOPE" --no-mpi -s 1M --samples 3 --budget 60s \
		-t quick,peer.ce.write.bisect,peer.chase.random.pair,local.fma.fp64.alone,peer.ce.burst64k.alone -q -o "$1.prom" >"$1.out" 2>&1
	sed -i "s/Hostname=\"[^\"]*\"/Hostname=\"$2\"/" "$1.prom"
	[ -s "$1.prom" ] || cat "$1.out"
}
measure one n1
measure two n2 FAKE_CORRUPT=0-1:8
ok "the program measures two nodes for it" eval '[ -s one.prom ] && [ -s two.prom ]'
metrics() {
	grep -ohE 'cscope_mpi_[a-z_]+' "$@" | sort -u
}
printed() { # every metric that is asked for is one that the program has
	metrics "$top/src/report/export/prom.c" /dev/null >known
	sed -nE 's/.*(put_head\(to, |put_alone\(to, |\{ )"([a-z_]+)".*/cscope_mpi_\2/p' \
		"$top/src/report/export/prom.c" >>known
	sort -u known -o known
	metrics "$here/alerts.yml" "$here/dashboard.json" | comm -23 - known >unknown
	is_empty unknown
}
ok "rules and dashboard ask for metrics that the program prints" printed

if ! command -v prometheus >/dev/null || ! command -v curl >/dev/null; then
	skip "a Prometheus that scrapes this answers every expression" "no prometheus, or no curl"
	finish
	exit
fi
port=$((20000 + $$ % 20000))
cp "$here/alerts.yml" .
cat >prometheus.yml <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ alerts.yml ]
scrape_configs:
  - job_name: textfile
    static_configs: [ { targets: [ "127.0.0.1:$port" ], labels: { instance: n1, __metrics_path__: /one.prom } },
                      { targets: [ "127.0.0.1:$port" ], labels: { instance: n2, __metrics_path__: /two.prom } } ]
END
"${PYTHON:-python3}" -c '
import http.server, sys
class H(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path): return "text/plain; version=0.0.4"
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()' "$port" 2>server.log &
at_end "kill $! 2>/dev/null"
prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
	--web.listen-address="127.0.0.1:$((port + 1))" >prometheus.log 2>&1 &
at_end "kill $! 2>/dev/null; wait $! 2>/dev/null"
url=http://127.0.0.1:$((port + 1))
query() { # EXPRESSION: how many series
	curl -sG "$url/api/v1/query" --data-urlencode "query=$1" | jq '.data.result | length'
}
alerts() {
	curl -s "$url/api/v1/alerts" | jq -r '.data.alerts[] | select(.state == "firing") |
		"\(.labels.alertname) \(.labels.Hostname)"' | sort -u
}
scraped() {
	for _ in $(seq 60); do
		[ "$(query 'count(cscope_mpi_complete)')" = 1 ] && alerts | grep -q Drain && return
		sleep 1
	done
	tail -5 prometheus.log
	return 1
}
ok "a Prometheus scrapes both" scraped
answers() {
	local expression n bad=0
	while read -r expression; do
		n=$(query "$expression")
		[ "${n:-0}" -gt 0 ] || { echo "nothing for: $expression"; bad=1; }
	done <expressions
	return $bad
}
ok "... and has an answer to every expression of the dashboard" answers
drains() {
	alerts
	alerts | grep -qx 'CscopeDrainNode n2' && ! alerts | grep -q 'n1$'
}
ok "... and an alert for the node with wrong data, none for the other" drains

if [ -n "${CS_PICTURES:-}" ] && command -v chromium-headless-shell >/dev/null; then
	picture() {
		sleep 20
		chromium-headless-shell --no-sandbox --hide-scrollbars --window-size=900,690 \
			--virtual-time-budget=8000 --screenshot="$CS_PICTURES/alerts.png" \
			"$url/classic/alerts"
		[ -s "$CS_PICTURES/alerts.png" ]
	}
	ok "a picture of its alerts" picture
fi
finish
