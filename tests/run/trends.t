#!/bin/bash
# check of files of many dates: what nodes lose from date to date is found, dated and drawn.
# shellcheck source=/dev/null disable=SC2016,SC2034,SC2154 # ok() evaluates conditions
. "$(dirname "$0")/lib.sh"
needs_fake
fake 4

run 0 --no-mpi -q --test peer.ce.write.pair -s 64K --seed 1 --cell-limit 30s -o once.json
ok "a run that stands for all dates" status_is 0

# dates DATES LOSS HOST SUFFIX: results/DATE/HOST.SUFFIX, of which GPU 2 loses so much a date
cat >dates.py <<'END'
import datetime, json, os, sys
dates, loss, host = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
run = json.load(open("once.json"))
was = run["nodes"][0]["host"]
for i in range(dates):
    d = json.loads(json.dumps(run).replace(json.dumps(was), json.dumps(host)))
    at = datetime.datetime(2026, 8, 1, 3) + datetime.timedelta(days=i)
    d["run"]["started"] = d["run"]["ended"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    d["run"]["id"] = host + str(i)
    for r in d["results"]:
        if r["value"] is not None and "gpu2" in (r["src"], r["dst"]):
            for key in ("value", "ci_low", "ci_high", "min", "max", "mean", "p5", "p95", "p99"):
                if r[key] is not None:
                    r[key] *= 1 - loss * i
    folder = "results/" + at.strftime("%Y-%m-%d")
    os.makedirs(folder, exist_ok=True)
    json.dump(d, open("%s/%s.json" % (folder, host), "w"))
END

"${PYTHON:-python3}" dates.py 14 0 a
run 0 check results/2026-*/a.json
ok "a node that stays as it is: no finding" eval 'status_is 0 && prints "several runs of this host were given"'
"${PYTHON:-python3}" dates.py 14 0.003 b
run 0 check results/2026-*/b.json -o b.json -o b.html
ok "a GPU that loses 0.3 % a day: status 1" status_is 1
ok "… its finding has slope and dates" prints \
	'warning +peer.ce.write.pair of GPU 2 .0000:3c:00.0. loses 0.3 % a day .0.3 to 0.3., 3.9 % in all; 2026-08-01 to 2026-08-14, 14 dates'
ok "… the text has the figure over time" prints 'over time: 2026-08-01 100.0 %, 2026-08-02 99.7 %'
ok "… to the last date" prints '2026-08-14 96.1 %'
ok "… and the page draws it" eval 'grep -q "Over time</title>" b.html && grep -q ">2026-08-14</text>" b.html'
ok_schema "… the document follows the schema" b.json
cp out live
run 0 show b.json
ok "… and shows the same" eval 'prints "over time: 2026-08-01 100.0 %" && prints "loses 0.3 % a day"'
run 0 show -f html b.json
ok "… as a page too" same out b.html
mapfile -t last_first < <(printf "%s\n" results/2026-*/b.json | tac)
run 0 check "${last_first[@]}"
ok "the order of files does not matter" same out live
run 0 check results/2026-*/*.json
ok "two nodes: that of the finding is named" eval 'prints "warning  b: peer.ce.write.pair of GPU 2" && prints "over time: "'
rm results/2026-08-0[3579]/b.json results/2026-08-14/a.json
run 0 check results/2026-*/*.json
ok "… without some dates there are too few for a line" eval 'status_is 0'
finish
