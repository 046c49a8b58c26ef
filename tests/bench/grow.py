#!/usr/bin/env python3
"""Time of 4n over time of n, for each command that reads a file, where the file grows in
one way: code that takes the square of its work has a ratio of 16, other code of 4.

grow.py PROGRAM [N]

N (5000) and 4 N are:
    sizes      of copies between two GPUs, a row each
    findings   of one node
    nodes      with eight rows each
    failures   of one cell, each for a reason of its own
    repeats    of one cell: beside others, as controls, measured again
    steps      in which one cell was measured
GROW_WAYS=sizes,nodes and GROW_COMMANDS='show -f prom,check' choose some.  A command that
takes more than a minute of CPU time is ended.
"""

import os
import shutil
import sys
import tempfile

import rows
from rows import Journal, Seed, fill, line

LIMIT_S = 60


def journal(seed, body, nodes=1):
    made = Journal(seed)
    return (made.head(nodes) + "".join(fill(made.node, i, i)
                                       for i in range(nodes))
            + "".join(body) + made.end(nodes))


def rows_like(seed, n, **change):
    """n times the first row; a function gives the value of a key for each."""
    row = {**seed.whole["results"][0], "node": "n000000", "node_index": 0}
    for i in range(n):
        yield line("result", {**row, **{k: v(i) for k, v in change.items()}})


def sizes(seed, n):
    rows.SWEPT = 2
    swept = seed.sweep(1024)
    swept.whole["results"][0].update(src="gpu0", dst="gpu1")
    return journal(swept, rows_like(swept, n,
                                    copy_bytes=lambda i: 4096 + 16 * i))


def findings(seed, n):
    one = {**seed.whole["checks"][0], "node": "n000000", "node_index": 0,
           "evidence": []}
    return journal(seed, (line("check", {**one, "text": f"finding {i}"})
                          for i in range(n)))


def nodes(seed, n):
    made = Journal(seed)
    eight = "\n".join(made.rows.split("\n")[:8]) + "\n"
    return journal(seed, (fill(eight, i, i) for i in range(n)), n)


def failures(seed, n):
    return journal(seed, rows_like(seed, n, status=lambda i: "failed",
                                   value=lambda i: None,
                                   reason=lambda i: f"call {i} failed"))


def repeats(seed, n):
    kinds = ["concurrent"], ["control"], ["re-measured"], []
    return journal(seed, rows_like(seed, n, flags=lambda i: kinds[i % 4]))


def steps(seed, n):
    return journal(seed, rows_like(seed, n, step=lambda i: i))


def commands(folder):
    yield "check", ["check"], []
    yield "baseline", ["baseline"], ["-q", "-o", f"{folder}/base.json"]
    yield "show", ["show"], []
    yield "show -v", ["show"], ["-v"]
    yield "show --gpu", ["show"], ["--gpu", "0"]
    for form in rows.FORMATS:
        yield f"show -f {form}", ["show"], ["-f", form]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    top = os.path.join(os.path.dirname(__file__), "../..")
    seed = Seed(program, os.path.join(top, rows.REAL))
    ways = {f.__name__: f for f in
            (sizes, findings, nodes, failures, repeats, steps)}
    wanted = os.environ.get("GROW_COMMANDS")
    folder = tempfile.mkdtemp(prefix="grow-")
    print("4n as       command             CPU s of n  of 4n  ratio")
    try:
        for way in os.environ.get("GROW_WAYS", ",".join(ways)).split(","):
            files = [f"{folder}/{way}.jsonl", f"{folder}/{way}4.jsonl"]
            for file, count in zip(files, (n, 4 * n)):
                with open(file, "w", encoding="utf-8") as f:
                    f.write(ways[way](seed, count))
            for name, before, behind in commands(folder):
                if wanted and name not in wanted.split(","):
                    continue
                took = [rows.measure(program, [*before, f, *behind],
                                     LIMIT_S)[1] for f in files]
                print(f"{way:11} {name:20}{took[0]:10.2f} {took[1]:6.2f} "
                      f"{took[1] / max(took[0], 0.01):6.1f}", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
