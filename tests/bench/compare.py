"""What tests/bench/race reads out of its runs.

compare.py cells OURS.json [NVBANDWIDTH.txt]
compare.py start WALLS OURS.json...
compare.py harness TITLE OURS.json
compare.py peak FILE COMMAND...     run it; append its peak memory to FILE
compare.py memory OURS EMPTY        files of `peak`
"""

import json
import resource
import subprocess
import sys
from statistics import mean, median

# Our test, our metric, nvbandwidth's matrices, whether its row is the
# destination.  Its headings do not say so, its source does:
#   write_ce   row copies to column        read_ce   row copies from column
#   …bidirectional: Write1 and Read1 go from column to row, Write2 and Read2
#   from row to column at the same time; its total is the sum of the two rates,
#   ours is the bytes of both ways by their common window.
CE = "device_to_device_memcpy_"
BIDI = "device_to_device_bidirectional_memcpy_"
PAIRS = [
    ("peer.ce.write.pair", "rate", [(CE + "write_ce", False)]),
    ("peer.ce.read.pair", "rate", [(CE + "read_ce", True)]),
    ("peer.ce.write.bidi", "rate", [(BIDI + "write_ce_write1", True),
                                    (BIDI + "write_ce_write2", False)]),
    ("peer.ce.read.bidi", "rate", [(BIDI + "read_ce_read1", True),
                                   (BIDI + "read_ce_read2", False)]),
    ("peer.ce.write.bidi", "total", [(BIDI + "write_ce_total", True),
                                     (BIDI + "write_ce_total", False)]),
    ("peer.ce.read.bidi", "total", [(BIDI + "read_ce_total", True),
                                    (BIDI + "read_ce_total", False)]),
]


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def rows(run, test=None, metric=None):
    """Good rows, those that repeat a cell apart."""
    return [r for r in run["results"]
            if r["status"] == "ok" and "control" not in r["flags"]
            and test in (None, r["test"]) and metric in (None, r["metric"])]


def number(end):
    return int(end.removeprefix("gpu"))


def ours(run, test, metric):
    """{(source, destination): GB/s}"""
    return {(number(r["src"]), number(r["dst"])): r["value"]
            for r in rows(run, test, metric)}


def nvbandwidth(path):
    """{name: {(row, column): GB/s}} of its text; its "SUM" line names a matrix."""
    matrices, cells = {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) == 3 and words[0] == "SUM":
                matrices[words[1]] = cells
                cells = {}
            elif len(words) > 2 and all(w.isdigit() for w in words):
                cells = {}  # the line of the columns' numbers
            elif len(words) > 2 and words[0].isdigit():
                cells.update({(int(words[0]), c): float(w)
                              for c, w in enumerate(words[1:]) if w != "N/A"})
    return matrices


def theirs(matrices, sources):
    """{(source, destination): [GB/s of each matrix]}"""
    found = {}
    for name, transposed in sources:
        for (row, column), value in matrices.get(name, {}).items():
            way = (column, row) if transposed else (row, column)
            found.setdefault(way, []).append(value)
    return found


def spread(values):
    return 100 * (max(values) - min(values)) / median(values)


def compare(mine, other):
    """Columns of the two tools' figures for the same cells."""
    values = [mean(v) for v in other.values()]
    ratios = {way: mine[way] / mean(other[way]) for way in mine if way in other}
    if not ratios:
        return "   not measured by nvbandwidth"
    worst = min(ratios, key=ratios.get)
    return (f" {median(values):8.2f} {spread(values):7.2f}"
            f"  {ratios[worst]:8.4f} {median(ratios.values()):8.4f}"
            f"   {worst[0]}->{worst[1]} of {len(ratios)}")


def cells(path, peer=None):
    run = load(path)
    matrices = nvbandwidth(peer) if peer else {}
    bad = sum(r["status"] != "ok" for r in run["results"])
    print("GB/s                      ours  spread%", end="")
    print("   theirs spread%  min ratio  median   worst" if peer else "")
    for test, metric, sources in PAIRS:
        mine = ours(run, test, metric)
        if not mine:
            print(f"{test}: no cell measured")
            bad += 1
            continue
        print(f"{test:18s} {metric:5s} {median(mine.values()):7.2f}"
              f" {spread(mine.values()):7.2f}", end="")
        print(compare(mine, theirs(matrices, sources)) if peer else "")
    if bad:
        sys.exit(f"compare.py: {bad} of {len(run['results'])} rows are not ok")


def start(walls, *paths):
    with open(walls, encoding="utf-8") as f:
        lines = [line.split() for line in f]
    wall = {name: median(float(s) for n, s in lines if n == name)
            for name in ("empty", "ours")}
    times = [load(path)["run"]["timings_s"] for path in paths]
    part = {name: median(t[name] for t in times) for name in times[0]}
    print(f"medians of {len(times)} runs, s")
    print(f"ours         {wall['ours']:7.3f}   of it "
          + ", ".join(f"{name} {part[name]:.3f}" for name in part))
    print(f"bench_start  {wall['empty']:7.3f}")
    more = wall["ours"] - wall["empty"]
    print(f"difference   {more:7.3f}   without measuring "
          f"{more - part['measure']:.3f}")


def device_s(row):
    """Seconds that the timed copies took, the uncounted as long as the median."""
    nbytes = row["copy_bytes"] * row["copies"]
    speeds = row["samples"] + row["discarded"] * [row["value"]]
    return sum(nbytes / (1e9 * gbs) for gbs in speeds)


def harness(title, path):
    run = load(path)
    cost, device = [], []
    for row in rows(run, metric="rate"):
        if row["pattern"] == "pair":
            n = row["n"] + row["discarded"]
            device.append(1e6 * device_s(row) / n)
            cost.append(1e6 * row["cell_s"] / n - device[-1])
    print(f"{title}: {median(cost):.1f} us a sample (min {min(cost):.1f}, "
          f"max {max(cost):.1f}) besides {median(device):.1f} us measured, "
          f"{len(cost)} cells"
          + ("; VIRTUAL CLOCK" if run["run"]["virtual_clock"] else ""))


def peak(path, *command):
    status = subprocess.run(command, check=False).returncode
    kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(path, "a", encoding="utf-8") as f:
        f.write(f"{kib}\n")
    sys.exit(status)


def memory(*paths):
    mib = []
    for name, path in zip(("ours", "bench_start"), paths):
        with open(path, encoding="utf-8") as f:
            sizes = [int(line) / 1024 for line in f]
        mib.append(median(sizes))
        print(f"{name:12s} {mib[-1]:8.1f} MiB median of {len(sizes)} ranks, "
              f"most {max(sizes):.1f}")
    print(f"difference   {mib[0] - mib[1]:8.1f} MiB")


if __name__ == "__main__":
    commands = {f.__name__: f for f in (cells, start, harness, peak, memory)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
