#!/usr/bin/env python3
"""What a million rows cost: files are made of a real one by giving its node again and
again, and each command that reads files is timed with them.

rows.py PROGRAM [ROWS [FOLDER]]

ROWS (1000000) are those of the node of a real file, four GPUs and 342 rows.  As they are
given to a command:
    files       a journal for each node
    document    all nodes in one document
    journal     all nodes in one journal
    one node    a journal of one node that has all of the rows
    one sweep   a journal of one node with 64 GPUs: pairs at as many sizes as needed
    all ill     a journal for each node: each row has failed, for a reason of its own, and
                no node is like another
Files lie in FOLDER (a new one, that goes), 1.3 GB at a time.  ROWS_GIVEN=files,document
and ROWS_COMMANDS=check,show choose some; a machine of two CPUs is `taskset -c 0,1`.
"""

import copy
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

REAL = "doc/results/h200x4/suite-np4.json"
LIMIT_S, LIMIT_MIB = 30, 1024
FORMATS = ("html json jsonl csv result prom nagios junit trace model model-csv reason "
           "nvbandwidth nvbandwidth-json commscope commscope-json "
           "commscope-csv").split()
SWEEP, SWEPT = "peer.ce.write.pair", 64


def line(kind, record):
    return json.dumps({"kind": kind, **record}) + "\n"


class Seed:
    """A document of one node, as text with holes for the node's name and number."""

    def __init__(self, program, path):
        whole = subprocess.run([program, "show", path, "-f", "json"], check=True,
                               capture_output=True).stdout
        self.whole = json.loads(whole)
        self.rows = len(self.whole["results"])

    def run(self, nodes):
        run = copy.deepcopy(self.whole["run"])
        run["n_nodes"] = nodes
        run["n_ranks"] = nodes * run["n_ranks"]
        return run

    def sweep(self, sizes):
        """Of 64 GPUs, that many sizes of one test, each the next multiple of 16."""
        made = copy.copy(self)
        made.whole = {**self.whole, "run": copy.deepcopy(self.whole["run"])}
        run = made.whole["run"]
        run.update(n_agents=SWEPT, tests=[SWEEP], one_gpu_tests=[], plan_id=None)
        run["settings"].update(copy_bytes=4096, growth=1.0000001,
                               last_copy_bytes=4096 + 16 * (sizes - 1))
        made.whole["nodes"] = [{**self.whole["nodes"][0], "n_agents": SWEPT,
                                "gpus": [], "known_gpus": [], "peers": [],
                                "ranks": []}]
        made.whole["agents"] = [
            {**self.whole["agents"][0], "label": str(i), "bus_id": None}
            for i in range(SWEPT)]
        row = next(r for r in self.whole["results"] if r["test"] == SWEEP)
        made.whole["results"] = [
            {**row, "src": f"gpu{i}", "dst": f"gpu{k}", "issuer": f"gpu{i}",
             "src_bus_id": None, "dst_bus_id": None, "copy_bytes": "@S"}
            for i in range(SWEPT) for k in range(SWEPT) if i != k]
        made.whole["checks"] = []
        return made

    def records(self, key, ill=False):
        """Of one node: a text of each record, in which @N is its number."""
        made = []
        for i, record in enumerate(copy.deepcopy(self.whole[key])):
            if "host" in record:
                record["host"] = "n@N"
            else:
                record["node"] = "n@N"
            record["node_index"] = "@I"
            if "evidence" in record:
                record["evidence"] = []
            if ill and key == "results":
                record.update(status="failed", value=None,
                              reason=f"call {i} of node @N failed")
            if ill and key == "nodes":
                record.update(kernel="6.8.@N", bios="@N")
            made.append(record)
        return made

    def text(self, records):
        return ",\n".join(json.dumps(r) for r in records).replace('"@I"', "@I")


def fill(text, node, index):
    return text.replace("@N", f"{node:06}").replace("@I", str(index))


class Journal:
    """Lines of one node, with holes."""

    def __init__(self, seed, ill=False):
        agents = seed.records("agents")
        node = seed.records("nodes", ill)[0]
        self.seed = seed
        self.node = line("node", {**node, "agents": agents})
        self.rows = "".join(line("result", r)
                            for r in seed.records("results", ill))
        self.found = "".join(line("check", r) for r in seed.records("checks"))
        for part in ("node", "rows", "found"):
            setattr(self, part, getattr(self, part).replace('"@I"', "@I"))

    def head(self, nodes):
        whole = self.seed.whole
        run = self.seed.run(nodes)
        return line("run", {"schema": whole["schema"],
                            "program": whole["program"], **run})

    def end(self, nodes):
        run = self.seed.run(nodes)
        return line("verdict", {k: run[k] for k in
                                ("ended", "status", "exit", "timings_s")})


def write_files(folder, seed, nodes, ill=False):
    journal = Journal(seed, ill)
    for n in range(nodes):
        with open(f"{folder}/n{n:06}.jsonl", "w", encoding="utf-8") as f:
            f.write(journal.head(1))
            f.write(fill(journal.node + journal.rows + journal.found, n, 0))
            f.write(journal.end(1))
    return [f"{folder}/n{n:06}.jsonl" for n in range(nodes)]


def write_journal(folder, seed, nodes):
    journal = Journal(seed)
    with open(f"{folder}/all.jsonl", "w", encoding="utf-8") as f:
        f.write(journal.head(nodes))
        for part in (journal.node, journal.rows, journal.found):
            for n in range(nodes):
                f.write(fill(part, n, n))
        f.write(journal.end(nodes))
    return [f"{folder}/all.jsonl"]


def write_one_node(folder, seed, nodes):
    journal = Journal(seed)
    with open(f"{folder}/one.jsonl", "w", encoding="utf-8") as f:
        f.write(journal.head(1))
        f.write(fill(journal.node, 0, 0))
        for _ in range(nodes):
            f.write(fill(journal.rows, 0, 0))
        f.write(journal.end(1))
    return [f"{folder}/one.jsonl"]


def write_sweep(folder, seed, nodes):
    cells = SWEPT * (SWEPT - 1)
    sizes = min(1024, max(2, nodes * seed.rows // cells))
    seed = seed.sweep(sizes)
    journal = Journal(seed)
    with open(f"{folder}/sweep.jsonl", "w", encoding="utf-8") as f:
        f.write(journal.head(1))
        f.write(fill(journal.node, 0, 0))
        for size in range(sizes):
            f.write(fill(journal.rows, 0, 0)
                    .replace('"@S"', str(4096 + 16 * size)))
        f.write(journal.end(1))
    return [f"{folder}/sweep.jsonl"]


def write_document(folder, seed, nodes):
    whole = seed.whole
    with open(f"{folder}/all.json", "w", encoding="utf-8") as f:
        f.write("{" + f'"schema":{json.dumps(whole["schema"])},\n'
                f'"program":{json.dumps(whole["program"])},\n'
                f'"run":{json.dumps(seed.run(nodes))}')
        for key in ("nodes", "agents", "results", "checks"):
            text = seed.text(seed.records(key))
            f.write(f',\n"{key}":[')
            for n in range(nodes):
                f.write((",\n" if n else "\n") + fill(text, n, n))
            f.write("]")
        f.write(',\n"errors":[]}\n')
    return [f"{folder}/all.json"]


def measure(program, arguments, cpu_s=600):
    """Seconds of the wall and of CPUs, MiB at most, and the status."""
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        os.execv(program, [program, *arguments])
    _, status, used = os.wait4(pid, 0)
    return (time.monotonic() - began, used.ru_utime + used.ru_stime,
            used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))


def commands(files, made):
    yield "check", ["check", *files]
    yield "check -f junit", ["check", *files, "-f", "junit"]
    yield "check -o all.json", ["check", *files, "-q", "-o", f"{made}.json"]
    if len(files) > 1:
        yield "baseline", ["baseline", *files, "-q", "-o", f"{made}.base.json"]
    else:
        yield "show", ["show", *files]
        yield "show -v", ["show", *files, "-v"]
        for form in FORMATS:
            yield f"show -f {form}", ["show", *files, "-f", form]
        yield "compare", ["compare", *files, *files]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    top = os.path.join(os.path.dirname(__file__), "../..")
    seed = Seed(program, os.path.join(top, REAL))
    nodes = -(-rows // seed.rows)
    shapes = {
        "files": write_files,
        "document": write_document,
        "journal": write_journal,
        "one node": write_one_node,
        "one sweep": write_sweep,
        "all ill": lambda *a: write_files(*a, ill=True),
    }
    given = os.environ.get("ROWS_GIVEN", ",".join(shapes)).split(",")
    wanted = os.environ.get("ROWS_COMMANDS")
    print(f"{nodes} nodes, {nodes * seed.rows} rows; promised for check and "
          f"show: {LIMIT_S} s, {LIMIT_MIB} MiB")
    print("given as   command             status  seconds    CPU s    MiB")
    for shape in given:
        folder = tempfile.mkdtemp(prefix="rows-", dir=sys.argv[3]
                                  if len(sys.argv) > 3 else None)
        try:
            files = shapes[shape](folder, seed, nodes)
            for name, arguments in commands(files, f"{folder}/made"):
                if wanted and name not in wanted.split(","):
                    continue
                wall, cpu, mib, status = measure(program, arguments)
                print(f"{shape:10} {name:20}{status:5} {wall:8.1f} "
                      f"{cpu:8.1f} {mib:6.0f}", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
