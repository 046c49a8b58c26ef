#!/usr/bin/env python3
"""What Chromium drew; exit status 1 where it is not as it should be.

    look.py drawn PICTURE.png light|dark    the page's ground, and enough that is drawn
    look.py quiet NETLOG.json               nothing but the file was asked for
    look.py paper FILE.pdf                  it has pages
    look.py read FILE.json                  read.js found nothing that is hard to read
"""
import json
import struct
import sys
import zlib


def pixels(name):
    """Rows of (r, g, b) of an 8-bit PNG without interlace (RFC 2083)."""
    data = open(name, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    deep = 4 if colour == 6 else 3
    raw, line, before = zlib.decompress(packed), width * deep, bytearray(width * deep)
    for y in range(height):
        kind = raw[y * (line + 1)]
        row = bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for i in range(line):
            a = row[i - deep] if i >= deep else 0
            b = before[i]
            c = before[i - deep] if i >= deep else 0
            if kind == 1:
                row[i] = row[i] + a & 255
            elif kind == 2:
                row[i] = row[i] + b & 255
            elif kind == 3:
                row[i] = row[i] + (a + b) // 2 & 255
            elif kind == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))
                row[i] = row[i] + near[2] & 255
        before = row
        yield [tuple(row[i:i + 3]) for i in range(0, line, deep * 4)]


def drawn(name, ground):
    count = {}
    for row in pixels(name):
        for pixel in row:
            count[pixel] = count.get(pixel, 0) + 1
    most = max(count, key=count.get)
    is_light = sum(most) > 600
    rest = 1 - count[most] / sum(count.values())
    fills = {(0xdc, 0xeb, 0xf7), (0xed, 0xf2, 0xf6), (0x1c, 0x32, 0x43), (0x1f, 0x5f, 0x99),
             (0x7d, 0xb8, 0xec)}
    return is_light == (ground == "light") and rest > 0.04 and any(f in count for f in fills)


def quiet(name):
    events = json.load(open(name))["events"]
    asked = {e["params"]["url"] for e in events if "url" in e.get("params", {})}
    return not [u for u in asked if not u.startswith(("file:", "about:", "chrome:"))]


def paper(name):
    data = open(name, "rb").read()
    return data.startswith(b"%PDF") and b"/Page" in data and len(data) > 10000


def read(name):
    found = json.load(open(name))
    hard = found["faint"] + found["clipped"] + found["wide"]
    print("#", found["texts"], "texts, least contrast", round(found["least"], 2), *hard[:9])
    return found["texts"] > 100 and not hard


sys.exit(0 if {"drawn": drawn, "quiet": quiet, "paper": paper, "read": read}[sys.argv[1]](*sys.argv[2:]) else 1)
