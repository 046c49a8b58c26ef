#!/usr/bin/env python3
"""Make a run of many nodes from one of two: network.py IN OUT NODES [KEY=VALUE ...]

slow=3, by=0.6: that node sends and receives at that share; ways=s, r or sr; leaves=4: of so
many nodes each, named leaf0, ...; uplinks=1: that leaf sends and receives to others at that
share; again=0: no second looks; again=fast: nothing is slow in them; nic=400: mlx5_0 of so many
Gb/s carries all, or nic=0: of an unknown rate; far=3: that node has a second one, of NUMA node 7 or numa=,
which carries all, and its process is bound to NUMA node 0
(cpus=0-15: to none); rails=2: of GPU or NUMA nodes, and only the last of a slow node is slow; rails=+2: pairs, too,
which are slow as that rail; host=NAME: what the nodes' names begin with."""
import json
import random
import sys

GBS = 47.5


def main():
    source, target, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    opt = dict(a.split("=") for a in sys.argv[4:])
    by = float(opt.get("by", 1))
    slow, uplinks, far = (int(opt.get(k, -1)) for k in ("slow", "uplinks", "far"))
    rails = int(opt.get("rails", 0))
    pairs_too = [None] if opt.get("rails", "")[:1] == "+" else []
    leaves, ways = int(opt.get("leaves", 0)), opt.get("ways", "sr")
    draw = random.Random(1)
    d = json.load(open(source))
    node, row = d["nodes"][0], d["results"][0]

    def leaf(i):
        return i // leaves if leaves else 0

    def rate(a, b, alone, healthy):
        gbs = GBS * draw.gauss(1, 0.005)
        if healthy or (row["rail"] is not None and row["rail"] < rails - 1):
            return gbs
        if (a == slow and "s" in ways) or (b == slow and "r" in ways):
            gbs *= by
        if not alone and leaf(a) != leaf(b) and uplinks in (leaf(a), leaf(b)):
            gbs *= by
        return gbs

    def add(a, b, step, alone=False, again=False):
        x = [rate(a, b, alone, again and opt.get("again") == "fast") for _ in range(6)]
        x = [sum(x) / 6 * draw.gauss(1, 0.001) for _ in x]
        s = sorted(x)
        mid = (s[2] + s[3]) / 2
        d["results"].append(dict(
            row, copies=512, node=node["host"] + str(a), node_index=a,
            src=f"node{a}", dst=f"node{b}", issuer=f"node{a}", step=step, value=mid,
            ci_low=s[0], ci_high=s[5], n=6,
            min=s[0], max=s[5], mean=sum(x) / 6, p5=s[0], p95=s[5], p99=s[5], samples=x,
            concurrent=0 if alone else n // 2 - 1, flags=["re-measured"] if again else [],
            **{end: "mlx5_1" for end, of in (("nic_src", a), ("nic_dst", b)) if of == far}))

    def add_all(pairs, wheel):
        for a, b, r in pairs:
            add(a, b, r)
        if opt.get("again") == "0":
            return
        quiet = [i for i in range(n) if i != slow]
        alone = list(zip(quiet[::2], quiet[1::2]))[:2]
        alone += [(slow, k) for k in quiet[:3] if slow >= 0]
        for a, b in alone:
            add(a, b, wheel, True, True)
            add(b, a, wheel, True, True)
        for a, b, r in pairs:
            if r == 0 and leaves:
                add(a, b, r, False, True)

    if rails:
        d["run"]["settings"]["numa_nodes_mask"] = "%016x" % ((1 << rails) - 1)
        d["run"].update(tests=["nethost.mpi.pinned.pair"] * len(pairs_too)
                        + [dict(test="nethost.mpi.pinned.rails", rail=i) for i in range(rails)],
                        choices=None)
    if "host" in opt:
        node["host"] = opt["host"]
        d["run"]["id"] = opt["host"] + d["run"]["id"]
    if "nic" in opt:
        node.update(n_nics=1, nics=[dict(name="mlx5_0", bus_id="0000:1a:00.0",
                                         rdma=1, state="active",
                                         gbits=int(opt["nic"]) or None)])
        row.update(nic_src="mlx5_0", nic_src_share=0.999, nic_dst="mlx5_0",
                   nic_dst_share=1.02)
    d["nodes"] = [dict(node, host=node["host"] + str(i), node_index=i,
                       leaf=f"leaf{leaf(i)}" if leaves else None) for i in range(n)]
    d["agents"] = [dict(a, node=node["host"] + str(i), node_index=i)
                   for i in range(n) for a in d["agents"] if a["node_index"] == 0]
    if far >= 0:
        other = dict(node["nics"][0], name="mlx5_1", bus_id="0000:9a:00.0",
                     numa=int(opt.get("numa", 7)))
        d["nodes"][far].update(
            n_nics=2, nics=[dict(node["nics"][0], numa=0), other],
            numa_nodes=[dict(numa=0, cpus="0-7"), dict(numa=7, cpus="8-15")],
            ranks=[dict(node["ranks"][0], cpus=opt.get("cpus", "0-7"))])
    d["results"] = []
    d["matrices"] = d["comparisons"] = d["actions"] = d["checks"] = d["errors"] = []
    wheel = n + n % 2 - 1
    pairs = []
    for r in range(wheel):
        for i in range(n):
            k = r if i == wheel else wheel if i == r else (2 * r + wheel - i) % wheel
            if k < n:
                pairs.append((i, k, r))
    for row["rail"] in pairs_too + list(range(rails)) if rails else (None,):
        pattern = "pair" if row["rail"] is None else "rails"
        row.update(test="nethost.mpi.pinned." + pattern, pattern=pattern)
        add_all(pairs, wheel)
    d["run"].update(n_nodes=n, n_ranks=n, cells_measured=len(pairs),
                    cells_planned=len(pairs), checks=[])
    json.dump(d, open(target, "w"))


main()
