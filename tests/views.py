#!/usr/bin/env python3
"""Reads views as the programs do that they are for; what is wrong goes to standard
error, and the exit status is 1.

    views.py prom FILE      by the rules of promtool check metrics
    views.py nagios FILE    by the grammar of monitoring plugins
    views.py junit FILE     as XML, in the form of JUnit's Ant task
    views.py reframe FILE OUT     the patterns of a ReFrame test, on OUT
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL},?)*)\}})? (\S+)( -?\d+)?$")
UNITS = {"bits": "bytes", "ms": "seconds", "us": "seconds", "ns": "seconds",
         "milliseconds": "seconds", "minutes": "seconds", "kilobytes": "bytes",
         "megabytes": "bytes", "gigabytes": "bytes", "gb": "bytes", "percent": "ratio"}


def lint(name, kind, told):
    """What promtool has to say of the name and help of a metric."""
    if not told:
        yield f"{name}: no help text"
    if kind != "counter" and name.endswith("_total"):
        yield f"{name}: only counters end in _total"
    if kind == "counter" and not name.endswith("_total"):
        yield f"{name}: counters end in _total"
    if kind not in ("gauge", "counter", "untyped"):
        yield f"{name}: type {kind}"
    if kind in name.split("_"):
        yield f"{name}: its type is in its name"
    if ":" in name:
        yield f"{name}: colons are for rules"
    if re.search(r"[a-z][A-Z]", name):
        yield f"{name}: camelCase"
    if re.search(r"_(bucket|sum|count)$", name):
        yield f"{name}: a suffix of histograms and summaries"
    for word in name.split("_"):
        if word in UNITS:
            yield f"{name}: {UNITS[word]} is the base unit, not {word}"


def labels_of(text):
    return [(m.group(1), m.group(2)) for m in re.finditer(LABEL, text or "")]


def sample_faults(line, match, kinds, ended, seen):
    name, labels = match.group(1), labels_of(match.group(2))
    rest = re.sub(LABEL, "", match.group(2) or "").replace(",", "")
    if rest:
        yield f"what is between labels: {line}"
    if name not in kinds:
        yield f"{name}: a sample before its TYPE"
    if name in ended:
        yield f"{name}: its samples do not stand together"
    if len({key for key, _ in labels}) < len(labels):
        yield f"a label twice: {line}"
    for key, _ in labels:
        if re.search(r"[a-z][A-Z]", key):
            yield f"{name}: label {key} is in camelCase"
        if key.startswith("__"):
            yield f"{name}: label {key} is reserved"
    series = (name, tuple(sorted(labels)))
    if series in seen:
        yield f"the same series twice: {line}"
    seen.add(series)
    if match.group(6):
        yield f"a time stamp, which node_exporter refuses: {line}"
    try:
        float(match.group(5))
    except ValueError:
        yield f"no number: {line}"


def prom(text):
    kinds, told, seen, ended, last = {}, {}, set(), set(), None
    if not text.endswith("\n"):
        yield "the last line has no end"
    for line in text.splitlines():
        comment = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line)
        match = SAMPLE.match(line)
        if comment:
            where = told if comment.group(1) == "HELP" else kinds
            if comment.group(2) in where:
                yield f"{comment.group(2)}: a second {comment.group(1)}"
            where[comment.group(2)] = comment.group(3)
            name = comment.group(2)
        elif match:
            yield from sample_faults(line, match, kinds, ended, seen)
            name = match.group(1)
        else:
            yield f"neither comment nor sample: {line}"
            continue
        if last and name != last:
            ended.add(last)
        last = name
    if not seen:
        yield "no sample"
    for name, kind in kinds.items():
        yield from lint(name, kind, told.get(name))
        if not any(name == series[0] for series in seen):
            yield f"{name}: no sample"


def nagios(text):
    lines = text.splitlines()
    match = re.match(r"\S.*? (OK|WARNING|CRITICAL|UNKNOWN): ([^|]+) \|(.*)$", lines[0])
    if not match:
        yield f"no status, summary and figures: {lines[0]}"
        return
    figures = match.group(3)
    one = r"'([^'=|]+)'=(-?[0-9.]+)(s|us|ms|%|B|KB|MB|TB|c)?((?:;[-0-9.:~@]*){0,4})"
    left = re.sub(r"(^| )" + one + r"(?= |$)", "", figures)
    if left.strip():
        yield f"no figure: {left.strip()}"
    names = [m.group(1) for m in re.finditer(one, figures)]
    if len(names) < 2 or len(set(names)) < len(names):
        yield f"{len(names)} figures, {len(set(names))} names"
    for line in lines[1:]:
        if "|" in line:
            yield f"a bar in the long text: {line}"


def junit(text):
    root = ElementTree.fromstring(text)
    if root.tag != "testsuites":
        yield f"the root is {root.tag}"
    for suite in [root] + list(root):
        cases = list(suite.iter("testcase"))
        for key, tag in (("failures", "failure"), ("skipped", "skipped"),
                         ("errors", "error")):
            n = sum(case.find(tag) is not None for case in cases)
            if int(suite.get(key)) != n:
                yield f"{suite.get('name')}: {key} {suite.get(key)}, there are {n}"
        if int(suite.get("tests")) != len(cases) or not cases:
            yield f"{suite.get('name')}: tests {suite.get('tests')}"
        float(suite.get("time"))
    for suite in root:
        names = [case.get("name") for case in suite]
        if len(set(names)) < len(names):
            yield f"{suite.get('name')}: two cases of one name"
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")):
            yield f"timestamp {suite.get('timestamp')}"
        for case in suite:
            if not case.get("classname") or float(case.get("time")) < 0:
                yield f"{case.get('name')}: no class or time"
            for child in case:
                if not (child.text if child.tag == "system-out" else child.get("message")):
                    yield f"{case.get('name')}: {child.tag} without a message"


def reframe(text, out):
    patterns = re.findall(r"r'(\^result [^']+)'", text)
    if len(patterns) != 2:
        yield f"{len(patterns)} patterns"
    for pattern in patterns:
        found = re.findall(pattern, out, re.MULTILINE)
        if not found:
            yield f"nothing is like {pattern}"
        figures = [x for row in found if isinstance(row, tuple) for x in row[1:4]]
        if "min" in pattern and not (figures and all(float(x) > 0 for x in figures)):
            yield f"no numbers: {found}"


def main():
    texts = []
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            texts.append(file.read())
    views = {"prom": prom, "nagios": nagios, "junit": junit, "reframe": reframe}
    faults = list(views[sys.argv[1]](*texts))
    for fault in faults:
        print(f"views.py: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
