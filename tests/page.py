#!/usr/bin/env python3
"""Reads an HTML report as a browser and a reader would; what is wrong goes to standard
error, and the exit status is 1.

    page.py whole FILE             well formed; nothing loaded, no address; one style and
                                   one script, which the page's policy has the hashes of;
                                   ids are there once, links lead to them; colours are
                                   attributes
    page.py figures FILE JSON      each figure of the document's matrices is in a table
    page.py cells FILE JSON        each cell of a comparison is in a table
    page.py text FILE WORD...      words of others are there as text, not as markup
    page.py hostile IN OUT TEXT    the document IN with TEXT for every name of others
    page.py count FILE             how many squares of nodes, rings and struck-out ones
    page.py slow FILE              the texts of the picture of a node
    page.py tiles FILE             the test of each tile
    page.py unfolded FILE          the tests of the matrices that are seen at once
    page.py parts FILE             the widths of the squares of nodes
"""
import base64
import hashlib
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

TAGS = set("""a b bdi body caption circle code dd desc details div dl dt figcaption figure g h1 h2 h3
 head header html li main meta nav p path pre rect script section small span style summary
 svg table tbody td text th thead title tr ul""".split())
ATTRIBUTES = set("""aria-hidden aria-label aria-labelledby charset class content cx cy d
 data-at data-cells data-link data-unit fill href http-equiv
 fill-opacity font-family font-size font-weight height id lang name r role rx scope stroke
 stroke-dasharray stroke-opacity stroke-width tabindex text-anchor viewBox width x y""".split())


def load(name):
    return ElementTree.parse(name).getroot()


def whole(name):
    page = load(name)
    ids = [e.get("id") for e in page.iter() if e.get("id")]
    for element in page.iter():
        if element.tag not in TAGS:
            yield f"<{element.tag}>: no element of ours"
        for key, value in element.attrib.items():
            if key not in ATTRIBUTES or "//" in value:
                yield f"<{element.tag} {key}={value}>: no attribute of ours"
        if element.tag in ("rect", "circle", "text") and not (
                element.get("fill") or element.get("stroke")):
            parent = [g for g in page.iter("g") if element in list(g)]
            if not parent:
                yield f"<{element.tag}>: its colour is not an attribute"
        if element.tag == "svg" and element.get("role") == "img":
            if element.find("title") is None or element.find("desc") is None:
                yield "a drawing without title and description"
    if len(ids) != len(set(ids)):
        yield "an id is there twice"
    policy = [m.get("content") for m in page.iter("meta")
              if m.get("http-equiv") == "Content-Security-Policy"]
    if len(policy) != 1 or not policy[0].startswith("default-src 'none'; "):
        yield "no policy that forbids everything else"
    for kind in "style", "script":
        texts = [e.text for e in page.iter(kind)]
        sums = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts]
        if len(sums) != 1 or f"{kind}-src 'sha256-{sums[0]}'" not in policy[0]:
            yield f"the policy has not the hash of <{kind}>: {sums}"
    for link in page.iter("a"):
        if link.get("href", "")[:1] != "#" or link.get("href")[1:] not in ids:
            yield f"a link to {link.get('href')}, which is not in the page"
    if not list(page.iter("a")):
        yield "no contents list"
    style = page.find("head/style").text
    if re.search(r"url\(|@import|expression|//", style):
        yield "the style loads something"
    words = "".join(page.itertext())
    if "in the tables" in words and "All figures as tables" not in words:
        yield "it speaks of tables that it has not"


def tables(page):
    for table in page.iter("table"):
        if table.find("caption") is None:
            continue
        yield table.find("caption").text, ["".join(c.itertext()) for c in table.iter() if c.tag in ("td", "th")]


def figures(name, document):
    cells = {}
    for caption, texts in tables(load(name)):
        cells.setdefault(caption.rsplit("(", 1)[1].rstrip(")"), []).extend(texts)
    n = 0
    for matrix in json.load(open(document))["matrices"]:
        digits = 0 if matrix["unit"] in ("copies/s", "GFLOP/s") else 2
        for row in matrix["values"]:
            for value in row:
                if value is None:
                    continue
                n += 1
                wanted = f"{value:.{digits}f}"
                if wanted not in cells.get(matrix["test"], []):
                    yield f"{matrix['test']}: {wanted} is in no table"
                else:
                    cells[matrix["test"]].remove(wanted)
    if not n:
        yield "the document has no figure"


def percent(share):
    text = f"{100 * share:+.2f} %"
    return "+0.00 %" if text == "-0.00 %" else text


def compared(name, document):
    texts = [t for _, row in tables(load(name)) for t in row]
    n = 0
    if "-0.0 %" in texts or "-0.00 %" in texts:
        yield "a difference of nothing has a sign"
    for matrix in json.load(open(document))["matrices"]:
        for cell in matrix["cells"]:
            n += 1
            if cell["difference"] is None:
                continue
            wanted = percent(cell["difference"])
            if wanted not in texts:
                yield f"{matrix['test']}: {wanted} is in no table"
    if not n:
        yield "the document has no cell"


def text_of(name, *words):
    shown = "".join(load(name).itertext())
    for word in words:
        if word not in shown:
            yield f"'{word}' is not there as text"


HOSTILE = ("host", "name", "reason", "text", "next", "cpu", "kernel", "driver", "product",
           "note", "nvml_note", "argv", "cpus", "command", "matrix")


def poison(value, text, key=""):
    if isinstance(value, dict):
        return {k: poison(v, text, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v, text, key) for v in value]
    return text if isinstance(value, str) and key in HOSTILE else value


def hostile(name, out, text):
    document = json.load(open(name))
    for part in ("nodes", "agents", "errors"):
        document[part] = poison(document[part], text)
    document["run"]["argv"] = ["cscope-mpi", text]
    host = document["nodes"][0].get("host", text)
    for part in ("results", "matrices"):
        for entry in document[part]:
            entry["node"] = host
    json.dump(document, open(out, "w"))
    return ()


def count(name):
    page = load(name)
    drawing = [s for s in page.iter("svg")
               if s.find("title") is not None and s.find("title").text == "Nodes beside each other"]
    shades = {e.get("class"): e.get("d").count("M") for e in drawing[0].iter("path")
              if e.get("class", "").startswith("d")}
    rings = len([e for e in drawing[0].iter("rect") if e.find("title") is not None])
    print("nodes", shades.get("d5", 0), "rings", rings,
          "odd", sum(v for k, v in shades.items() if k != "d5"))
    return ()


def matrix_rings(name):
    """Of each matrix its rings: around cells slower than the others, around cells with a remark."""
    for s in load(name).iter("svg"):
        if s.find("title") is not None and s.find("title").text == "How the node is wired":
            continue
        rings = [e for e in s.iter("path") if e.get("fill") == "none" and e.get("stroke-width") == "2"]
        for e in rings:
            print(s.find("title").text, "remark" if e.get("stroke-dasharray") else "odd", e.get("d").count("M"))
    return ()


def slow(name):
    """The texts of the picture of the node."""
    for s in load(name).iter("svg"):
        if s.find("title") is not None and s.find("title").text == "How the node is wired":
            print("\n".join(t.text or "" for t in s.iter("text")))
    return ()


def tiles(name):
    """The test of each tile."""
    for d in load(name).iter("div"):
        if d.get("class") == "tile":
            print(list(d)[-1].text.split()[0])
    return ()


def unfolded(name):
    """The tests of the matrices that are seen at once."""
    page = load(name)
    folded = {s for d in page.iter("details") for s in d.iter("svg")}
    for f in page.iter("figure"):
        for s in f.iter("svg"):
            if s not in folded:
                print(s.find("title").text)
    return ()


def parts(name):
    """The widths of the squares of nodes, each once."""
    for s in load(name).iter("svg"):
        if s.find("title") is not None and s.find("title").text == "Nodes beside each other":
            boxes = [e.get("d") for e in s.iter("path") if e.get("class") == "d5"][0]
            print(" ".join(sorted(set(re.findall(r"h([0-9.]+)v", boxes)))))
    return ()


def main():
    do = {"whole": whole, "figures": figures, "cells": compared, "text": text_of,
          "hostile": hostile, "count": count,
          "rings": matrix_rings, "slow": slow, "tiles": tiles, "unfolded": unfolded, "parts": parts}[sys.argv[1]]
    faults = list(do(*sys.argv[2:]))
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
