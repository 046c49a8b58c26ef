#!/usr/bin/env python3
"""Reads what `-f nvbandwidth` and `-f nvbandwidth-json` print as programs do that wrap
nvbandwidth, and prints the figures as JSON: {"TEST": {"ROW,COLUMN": value}}.

    wrappers.py superbench TEXT   a machine of states, driven by regular expressions
    wrappers.py nhc TEXT          lines between two "Running", cut into fields
    wrappers.py monitor JSON      the least cell of each test that has passed
    wrappers.py dcgm JSON         a document between lines of others, of strict types
"""
import json
import re
import sys


def superbench(text):
    """Metrics by heading, row and column; a sum ends a test."""
    found, name, kind, columns, ends = {}, None, None, None, None
    for line in map(str.strip, text.splitlines()):
        begun = re.match(r"Running\s+(.+)$", line)
        total = re.match(r"SUM (\S+) (\d+\.\d+)", line)
        if begun:
            name, columns = begun.group(1).lower()[:-1], None
            found[name] = {}
        elif name and re.match(r"(memcpy|memory latency)", line):
            kind = "bw" if "bandwidth" in line else "lat"
            ends = [line[line.find(x) - 3:line.find(x)].lower()
                    for x in ("(row)", "(column)")]
        elif name and kind and re.match(r"\d", line):
            fields = line.split()
            if columns is None:
                columns = fields
                continue
            for column, value in zip(columns, fields[1:]):
                if value != "N/A":
                    key = f"{ends[0]}{fields[0]}_{ends[1]}{column}_{kind}"
                    found[name][key] = float(value)
        elif name and total:
            found[name]["sum"] = float(total.group(2))
            name = kind = columns = None
    return found


def nhc(text):
    """All lines of a test that do not name memcpy are rows, but for the first."""
    found, rows, name = {}, [], None
    for line in filter(None, text.splitlines()):
        if line.startswith("Running"):
            name = line[len("Running"):].replace(".", "").strip()
            rows = found.setdefault(name, [])
        elif name and "memcpy" not in line:
            rows.append(line)
    return {name: {f"{r},{c}": float(x)
                   for r, row in enumerate(rows[1:])
                   for c, x in enumerate(row.split()[1:]) if "N/A" not in x}
            for name, rows in found.items()}


def monitor(text):
    """The document is all there is; cells are strings."""
    found = {}
    for case in json.loads(text)["nvbandwidth"]["testcases"]:
        cells = {}
        for r, row in enumerate(case.get("bandwidth_matrix", [])):
            for c, cell in enumerate(row):
                if not isinstance(cell, str):
                    raise TypeError(f"{case['name']}: {cell!r} is no string")
                if re.fullmatch(r"[0-9.e+]+", cell):
                    cells[f"{r},{c}"] = float(cell)
        if case["status"] != "Passed" or not cells:
            found[case["name"]] = {"status": case["status"]}
        else:
            least = min(cells, key=cells.get)
            found[case["name"]] = {"at": least, **cells}
    return found


def dcgm(text):
    """What is not of the type that is expected makes all of it invalid."""
    lines = text.splitlines()
    end = len(lines) - lines[::-1].index("}")
    head = json.loads("\n".join(lines[lines.index("{"):end]))["nvbandwidth"]
    types = {"CUDA Runtime Version": int, "Driver Version": str, "git_version": str,
             "testcases": list}
    assert all(isinstance(head[key], kind) for key, kind in types.items())
    found = {}
    for case in head["testcases"]:
        status = case["status"].lower()
        assert status in ("error", "waived", "not found", "passed"), status
        matrix = [[float("nan") if cell == "N/A" else float(cell) for cell in row]
                  for row in case.get("bandwidth_matrix", [])]
        assert all(matrix) and ("bandwidth_matrix" not in case or matrix)
        figures = {key: float(case[key]) for key in ("sum", "min", "max", "average")
                   if key in case}
        found[case["name"]] = {"status": status, "matrix": matrix, **figures}
    return found


if __name__ == "__main__":
    with open(sys.argv[2], encoding="ascii") as file:
        read = {"superbench": superbench, "nhc": nhc, "monitor": monitor,
                "dcgm": dcgm}
        json.dump(read[sys.argv[1]](file.read()), sys.stdout)
