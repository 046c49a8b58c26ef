#!/usr/bin/env python3
"""torture.py PART... - what must hold whatever the driver does, and whoever dies.

The driver is the double in tests/fake/; which functions there are to fail, and how
often each is called, is learnt from a good run.  Parts, each with its share of TAP:

    fail        every function fails at its first and last call; in full at 40 of
                its calls, and with one rank of two at every call
    hang        every function never returns
    data        wrong, late, stray and unwritten data, errors that break the
                context, a GPU that is lost
    death       a rank dies inside a call or while its peer is in one: exporter
                and importer
    kill        a signal at a random moment, two nodes

CS_TORTURE=full takes all of it, with 2 ranks too; else a share that ends soon.
CS_SEED (of all runs, too) and CS_MOMENTS are of `kill`; CS_ONLY=REGEX takes the tests so named.  The
environment is that of `make check`.
"""
import concurrent.futures
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from validator import Validator

FULL = os.environ.get("CS_TORTURE") == "full"
ONLY = os.environ.get("CS_ONLY", "")
CSCOPE = os.environ["CSCOPE"]
PROGRAM = os.environ["CS_PROGRAM"]
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")     # as tests/seeded.c
FAKE = os.environ["FAKE"]
HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCHER = os.environ.get("CS_LAUNCHER", "mpirun")
HAS_LAUNCHER = bool(LAUNCHER) and shutil.which(LAUNCHER) is not None
# MPICH's ends all ranks with the first that is killed: nobody is left to say so
SURVIVORS = not HAS_LAUNCHER or b"HYDRA" not in subprocess.run(
    [LAUNCHER, "--version"], stdout=subprocess.PIPE, check=False).stdout
# what a long run says now and then
PROGRESS = re.compile(r"cscope-mpi: \d+ of \d+ steps, \d+ rows, \d+ s(, .*)?$")
RANK = re.compile(r"(?:OMPI_COMM_WORLD|PMIX?)_RANK=(\d+)$")

# Undone, or tried without need: nobody could act on the error.
HARMLESS = {
    "cuCtxSetCurrent", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxSetFlags", "cuEventDestroy", "cuIpcCloseMemHandle",
    "cuMemAddressFree", "cuMemFree", "cuMemFreeHost", "cuMemHostUnregister",
    "cuMemRelease", "cuMemUnmap", "cuModuleUnload", "cuStreamDestroy",
    "cuStreamWaitValue32", "cuStreamWriteValue32",
}
# On the way to a peer: cells are skipped, and say why.
WAY = {
    "cuCtxDisablePeerAccess", "cuCtxEnablePeerAccess", "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDevicePrimaryCtxRetain", "cuIpcGetMemHandle", "cuIpcOpenMemHandle",
    "cuMemAddressReserve", "cuMemCreate", "cuMemExportToShareableHandle",
    "cuMemGetAllocationGranularity", "cuMemHostGetDevicePointer",
    "cuMemHostRegister", "cuMemImportFromShareableHandle", "cuMemMap",
    "cuMemSetAccess",
}
# Where they fail descriptors take their place, and why is in the document.
REPLACED = {"cuIpcGetMemHandle", "cuIpcOpenMemHandle"}
# A rank that finds no driver sleeps, and its node's others measure.
START = {
    "cuDeviceGet", "cuDeviceGetCount", "cuDeviceGetName", "cuDeviceGetPCIBusId",
    "cuDeviceGetUuid", "cuDeviceTotalMem", "cuDriverGetVersion",
    "cuGetProcAddress", "cuInit",
}
POLLS = {"cuEventQuery", "cuStreamQuery"}


def optional_entries():
    """How many functions a driver may lack: they are looked up last."""
    path = os.path.join(HERE, "..", "src", "backend", "cuda", "driver.h")
    with open(path, encoding="utf-8") as file:
        block = file.read().partition("#define CS_DRIVER_OPTIONAL")[2].partition("\n\n")[0]
    return len(re.findall(r"^\s*X\(", block, re.MULTILINE))


OURS = {"a.json", "a.jsonl", "a.csv", "out", "err", "calls", "tmp", "as-nodes"}
# in front of each rank: that many of them are a node
AS_NODES = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}
CS_TEST_SCOPE=node$((rank / %d)) exec "$@"
"""
# what MPI libraries leave there when killed is not ours
MPI_SEGMENTS = re.compile(r"vader_segment|sm_segment|psm|ucx|mpich|osc_rdma")


def shm_names():
    """Names in /dev/shm that only this program could have made."""
    try:
        return {n for n in os.listdir("/dev/shm") if not MPI_SEGMENTS.search(n)}
    except OSError:
        return set()


def validator():
    """Of the project's schema."""
    path = os.path.join(HERE, "..", "doc", "cscope-mpi-1.schema.json")
    with open(path, encoding="ascii") as file:
        return Validator(json.load(file))


SCHEMA = validator()


def has_nameless(folder):
    """Can a file be written there without a name?"""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE))
    except OSError:
        return False
    return True


def patience(seconds):
    """That time on a machine as busy as this one."""
    out = subprocess.run([os.path.join(HERE, "patience"), str(seconds)],
                         check=True, capture_output=True)
    return float(out.stdout)


class Run:
    """One run of the program in a folder of its own, and what it left."""

    def __init__(self, ranks, gpus=2, options=(), limit=30, ranks_of_node=0, **knobs):
        self.ranks, self.limit, self.took = ranks, limit, 0.0
        self.folder = tempfile.mkdtemp(prefix="torture-")
        os.mkdir(self.path("tmp"))
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("FAKE_", "SLURM_", "CUDA_VISIBLE"))}
        self.marker = f"CS_TORTURE_RUN={self.folder}"
        # too little for a place for each copy: moving and checking those takes most
        # of a run
        env["FAKE_MEMORY"] = "34000000"
        env.update(
            CS_LIBCUDA=f"{FAKE}/libcuda.so.1", FAKE_GPUS=str(gpus),
            CS_LIBNVML=f"{FAKE}/libnvidia-ml.so.1", CS_TIMEOUT=str(limit),
            # as where a scheduler granted them: nothing may stand in
            SLURM_STEP_GPUS=",".join(map(str, range(gpus))),
            FAKE_CALLS=self.path("calls"), TMPDIR=self.path("tmp"),
            CS_TORTURE_RUN=self.folder, **{k: str(v) for k, v in knobs.items()})
        what = () if "-t" in options else ("-m", "peer")
        command = [CSCOPE, *what, "-s", "64K", "-o", "a.json", "-o", "a.jsonl",
                   "-o", "a.csv", *options]
        if ranks_of_node:
            with open(self.path("as-nodes"), "w", encoding="ascii") as file:
                file.write(AS_NODES % ranks_of_node)
            command = ["sh", self.path("as-nodes"), *command]
        if ranks:
            command = [os.path.join(HERE, "mpi-run"), str(ranks), *command]
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            self.began = time.monotonic()
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, start_new_session=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def processes(self):
        """(pid, rank) of each process of the run, launchers' too (rank -1)."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", encoding="utf-8",
                          errors="replace") as file:
                    env = file.read().split("\0")
                name = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if self.marker not in env:
                continue
            ranks = [int(m[1]) for m in map(RANK.match, env) if m]
            ours = os.path.realpath(name) == os.path.realpath(PROGRAM)
            found.append((int(pid), (ranks or [0])[0] if ours else -1))
        return found

    def ended(self):
        return self.process.poll() is not None

    def until(self, condition, limit=15):
        """False when it did not become true in time or the run ended before."""
        end = time.monotonic() + limit
        while not condition():
            if self.ended() or (time.monotonic() > end and
                                time.monotonic() > end - limit + patience(limit)):
                return False
            time.sleep(0.002)
        return True

    def wait(self):
        """Ends the run.  What is wrong with how it ended: a list of sentences."""
        wrong = []
        try:
            self.process.wait(patience(self.limit) - (time.monotonic() - self.began))
        except subprocess.TimeoutExpired:
            # Open MPI 4.1 may never end when a rank dies in MPI_Init
            if any(rank >= 0 for _, rank in self.processes()):
                wrong.append(f"not over within {self.limit} s")
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.took = time.monotonic() - self.began
        # a launcher's helpers may need a moment
        end = time.monotonic() + (0 if wrong else patience(3))
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        for pid, rank in self.processes():
            wrong.append(f"process {pid} is left (rank {rank})")
            os.kill(pid, signal.SIGKILL)
        self.status = self.process.wait()
        return wrong

    def calls_bytes(self):
        """A measure of how far the run is."""
        try:
            return os.path.getsize(self.path("calls"))
        except OSError:
            return 0

    def calls(self, rank):
        """The functions that a rank called, in order."""
        lines = [line.split() for line in self.text("calls").splitlines()]
        return [p[1] for p in lines if len(p) == 2 and int(p[0]) == rank]

    def lines(self):
        return [line for line in self.text("err").splitlines()
                if line.startswith("cscope-mpi: ") and not PROGRESS.match(line)]

    def document(self):
        try:
            return json.loads(self.text("a.json"))
        except ValueError:
            return None

    def journal(self):
        """Its records; a line that was cut is None."""
        records = []
        for line in self.text("a.jsonl").splitlines():
            try:
                records.append(json.loads(line))
            except ValueError:
                records.append(None)
        return records

    def rates(self):
        return [r for r in (self.document() or {"results": []})["results"]
                if r["metric"] == "rate"]

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def wrong_files(run, may_be_cut=False):
    """Whatever happened: files are whole, valid and agree; nothing else is there."""
    wrong = [f"left behind: {name}"
             for name in sorted(set(os.listdir(run.folder)) - OURS)
             # killed where no file can be without a name
             if not (may_be_cut and not has_nameless(run.folder))]
    wrong += [f"left in TMPDIR: {name}" for name in os.listdir(run.path("tmp"))
              if not name.startswith(("ompi.", "prte.", "pmix"))]
    document, journal = run.document(), run.journal()
    if run.text("a.json") and document is None:
        wrong.append("the document is no JSON")
    if may_be_cut and journal and journal[-1] is None:
        journal.pop()
    if None in journal:
        wrong.append(f"line {journal.index(None) + 1} of the journal is no JSON")
    for value in [document, *journal]:
        fault = value and next(SCHEMA.iter_errors(value), None)
        if fault:
            wrong.append(f"schema: {fault.message[:200]}")
    if document and journal:
        kept = [{k: v for k, v in r.items() if k != "kind"} for r in journal
                if r and r["kind"] == "result"]
        if kept != document["results"]:
            wrong.append("document and journal have different rows")
    return wrong


class Good:
    """A good run: what there is to fail, and how many rows come of it."""

    def __init__(self, ranks, **knobs):
        run = Run(ranks, **knobs)
        self.options = knobs.get("options", ())
        self.wrong = run.wait() + wrong_files(run)
        if run.status > 1:
            self.wrong.append(f"status {run.status}: {run.text('err')[-300:]}")
        self.calls = run.calls(max(ranks - 1, 0))
        self.calls_bytes = run.calls_bytes()
        self.rows, self.status = len(run.rates()), run.status
        self.functions = sorted(set(self.calls))
        run.remove()

    def positions(self, function, every):
        """First and last call; in full every one, or 40 with the second, as where
        calls poll: the last ones are a guess there."""
        n = self.calls.count(function)
        if function == "cuGetProcAddress":
            n -= optional_entries()
        if not FULL:
            return sorted({1, n})
        step = 1 if every and function not in POLLS else (n + 39) // 40
        return sorted({1, min(2, n), n, *range(1, n + 1, step)})


def names_it(run, words):
    """Exactly one line of ours, which has the words."""
    lines = run.lines()
    if len(lines) == 1 and re.search(words, lines[0]):
        return []
    return [f"wanted one line with '{words}', got {lines}"]


def wrong_outcome(run, good, function, fired):
    """Is the status right for a function that failed, and is it said?"""
    rows = run.rates()
    skipped = [r for r in rows if r["status"] == "skipped"]
    failed = [r for r in rows if r["status"] == "failed"]
    # a look-up names what it looked for
    what = f"{function}: CUDA_ERROR_UNKNOWN" if \
        function != "cuGetProcAddress" else "the CUDA driver has no cu"
    wrong = []
    if run.status not in (0, 2, 3):
        return [f"status {run.status}"]
    if run.status == 0:
        said = what in run.text("a.json")
        wrong = [f"on stderr: {line}" for line in run.lines()]
        if failed or any(function not in r["reason"] for r in skipped):
            wrong.append("cells are missing without this reason")
        unused = function == "cuIpcGetMemHandle" and not run.ranks
        if fired and not (function in HARMLESS or unused or (skipped and function in WAY) or
                          (said and run.ranks and function in START | REPLACED)):
            wrong.append("status 0, as if nothing had failed")
    else:
        where = r".*GPU \d+.*rank \d+" if run.status == 2 else ""
        wrong = names_it(run, f"(?=.*{what}){where}")
        if run.status == 3 and any(r["status"] == "ok" for r in rows):
            wrong.append("status 3 with rows")
        if not fired:
            wrong.append(f"status {run.status} though nothing failed")
    document = run.document()
    if run.status != 3 and not document:
        wrong.append("no document")
    elif run.status != 3 and (len(rows) != good.rows or
                              document["run"]["status"] != "complete"):
        wrong.append(f"{len(rows)} of {good.rows} rows")
    return wrong


def describe(run):
    """For the comment of a test that fails."""
    return [f"  status {run.status} after {run.took:.1f} s",
            *(f"  {line}" for line in run.text("err").splitlines()[-6:])]


def with_run(run, judge):
    """Waits, judges, cleans up."""
    try:
        wrong = run.wait() + judge(run)
        return wrong + (describe(run) if wrong else [])
    finally:
        run.remove()


# ---- parts: each a list of (sentence, function returning what is wrong) ----

# 16 copies a sample: so few that each can fail once
FEW = ("-s", "1M")


def fail_once(good, ranks, everywhere, function, k):
    rank = max(ranks - 1, 0)
    knobs = {} if everywhere else {"FAKE_FAIL_RANK": rank}
    run = Run(ranks, options=good.options, FAKE_FAIL=f"{function}:{k}", **knobs)

    def judge(run):
        fired = any(run.calls(r).count(function) >= k
                    for r in (range(max(ranks, 1)) if everywhere else (rank,)))
        wrong = wrong_files(run) + wrong_outcome(run, good, function, fired)
        return [f"call {k}: {w}" for w in wrong]
    return with_run(run, judge)


# by other ways than usual, what they alone call, or do otherwise
MANAGED = ("-t", "h2d.prefetch.managed.pair,h2d.demand.managed.pair",
           "--advise", "prefer-dst")
WAYS = {"auto": (), "fd": (), "managed": (),
        "staged": ("cuEventRecord", "cuMemcpyAsync", "cuMemHostRegister",
                   "cuStreamWaitValue32", "cuStreamWriteValue32")}


def options_of(way):
    return MANAGED if way == "managed" else ("--via", way)


def good_runs():
    """(way, good run, the functions that are worth failing in it)"""
    usual = {}
    for ranks in (0, 2) if FULL and HAS_LAUNCHER else (0,):
        for way, again in WAYS.items():
            good = Good(ranks, options=(*FEW, *options_of(way)))
            good.ranks = ranks
            known = usual.setdefault(ranks, set(good.functions))
            yield way, good, [f for f in good.functions if way == "auto" or
                              f not in known or (ranks and f in again)]


def fail_tests():
    for way, good, functions in good_runs():
        ranks = good.ranks
        yield f"a good run of {ranks or 1}, {' '.join(options_of(way))}", lambda g=good: g.wrong
        for function in functions:
            for everywhere in (False, True) if ranks else (True,):
                at = good.positions(function, ranks and not everywhere)

                def test(f=function, a=at, e=everywhere, r=ranks, g=good):
                    return [w for k in a for w in fail_once(g, r, e, f, k)]
                yield (f"{function} fails at {len(at)} of its calls, {at[0]} to {at[-1]}: "
                       + ("one process" if not ranks else
                          "both ranks" if everywhere else "one rank of two")
                       + (f", {' '.join(options_of(way))}" if way != "auto" else "")), test


def hang_once(function, ranks, way="auto"):
    run = Run(ranks, options=("--start-limit", "1s", *options_of(way)), limit=130,
              FAKE_HANG=f"{function}:1", FAKE_FAIL_RANK=max(ranks - 1, 0))

    def judge(run):
        wrong = wrong_files(run)
        if run.status == 0 and function in HARMLESS - {"cuCtxSetCurrent"}:
            return wrong
        if run.status == 0 and ranks and function in START:
            return wrong + ([] if "did not answer" in run.text("out")
                            else ["status 0, and the hang is not said"])
        if run.status not in (2, 3):
            wrong.append(f"status {run.status}")
        return wrong + names_it(run, "did not answer within|no answer within")
    return with_run(run, judge)


def hang_tests():
    some = ("cuInit", "cuDeviceGetUuid", "cuDevicePrimaryCtxRetain",
            "cuModuleLoadData", "cuMemcpyAsync")
    for ranks in (0, 2) if FULL and HAS_LAUNCHER else (0,):
        for function in Good(ranks).functions if FULL else some:
            yield (f"{function} never returns, {ranks or 1} rank(s): over in time",
                   lambda f=function, r=ranks: hang_once(f, r))
    if not FULL:
        yield ("cuMemPrefetchAsync never returns: over in time",
               lambda: hang_once("cuMemPrefetchAsync", 0, "managed"))
    for way, good, functions in good_runs() if FULL else ():
        for function in functions if way != "auto" else ():
            yield (f"{function} never returns, {good.ranks or 1} rank(s), "
                   f"{' '.join(options_of(way))}: over in time",
                   lambda f=function, r=good.ranks, w=way: hang_once(f, r, w))


def is_of_pair(row, _first):
    return (row["src"], row["dst"]) == ("gpu1", "gpu2")


def is_of_changed_source(row, first):
    """Copies arrive there from the first of the pair on: what left before is sound."""
    return is_of_pair(row, first) or (row["src"] == "gpu2" and row["step"] >= first)


def data_once(status, words, ranks, is_broken, **knobs):
    """`is_broken`: of a row and the first step of the pair, must it be without a figure,
    which no other is; None: any."""
    run = Run(ranks, gpus=3, limit=60, FAKE_MEMORY=10**9, **knobs)

    def judge(run):
        wrong = wrong_files(run)
        rows = run.rates()
        first = min((r["step"] for r in rows if is_of_pair(r, 0)), default=0)
        if run.status != status:
            wrong.append(f"status {run.status}, wanted {status}")
        if status:
            wrong += names_it(run, words)
        for r in rows if is_broken else ():
            if (r["status"] != "ok") != is_broken(r, first):
                wrong.append(f"step {r['step']} of which {first} is the first of the pair: "
                             f"{r['test']} {r['src']}->{r['dst']} is {r['status']}")
        return wrong
    return with_run(run, judge)


def data_tests():
    for ranks in (0, 2) if FULL and HAS_LAUNCHER else (0,):
        who = f", {ranks or 1} rank(s)"
        for offset in (0, 8, 4096, 65535, -1) if FULL else (65535, -1):
            words = "never written" if offset < 0 else \
                f"wrong bytes, the first at {offset}"
            yield (f"wrong bytes at {offset}: that pair alone is corrupt" + who,
                   lambda r=ranks, o=offset, w=words: data_once(
                       2, w, r, is_of_pair, FAKE_CORRUPT=f"1-2:{o}"))
        yield ("copies into another GPU's buffer: that pair alone is corrupt" + who,
               lambda r=ranks: data_once(2, "never written", r, is_of_pair,
                                         FAKE_ASTRAY="1-2:0"))
        # the arena's granule: from the destination into the source
        yield ("copies into the owner's source: what leaves it from then on is corrupt, "
               "and why" + who,
               lambda r=ranks: data_once(
                   2, "GPU 2: 6[0-9]{4} bytes of its source buffer changed", r,
                   is_of_changed_source, FAKE_ASTRAY=f"1-2:-{2 << 20}"))
        yield ("a slow pair has a figure like any" + who,
               lambda r=ranks: data_once(0, "", r, lambda row, first: False,
                                         FAKE_SLOW="1-2:0.9"))
        # 46, 999: the GPU is lost
        sticky = (46, 214, 220, 226, 700, 702, 710, *range(714, 720), 999) \
            if FULL else (700, 999)
        for code in sticky:
            for call in ("cuMemcpyAsync:150", "cuLaunchKernel:30"):
                yield (f"{call} breaks the context with {code}" + who,
                       lambda r=ranks, c=call, n=code: data_once(
                           2, r"GPU \d.*rank \d.*" + rf"\({n}\)", r, None,
                           FAKE_FAULT=f"{c}={n}", FAKE_FAIL_RANK=max(r - 1, 0)))
        if FULL:
            yield ("a copy that never ends is given up" + who,
                   lambda r=ranks: data_once(
                       2, "no answer within", r, None,
                       FAKE_FAULT="cuMemcpyAsync:150=0"))


def death_once(function, inside, victim, call, doing="", knob="HANG",
               number=signal.SIGKILL, options=()):
    """The victim dies when rank `inside` is in that call, for ever; after it, if
    the knob is FAULT: then the copy itself does not end."""
    rule = f"{function}:{call}" + ("=0" if knob == "FAULT" else "")
    run = Run(2, gpus=2, options=options, FAKE_FAIL_RANK=inside,
              **{f"FAKE_{knob}": rule})
    there = run.until(lambda: run.calls(inside).count(function) >= call)
    if knob == "FAULT":
        time.sleep(0.5)     # to the gate, and through it
    for pid in [p for p, r in run.processes() if r == victim and there]:
        with contextlib.suppress(ProcessLookupError):   # it was ending
            os.kill(pid, number)
    killed = time.monotonic()

    def judge(run):
        wrong = wrong_files(run, may_be_cut=victim == 0)
        if not there:
            wrong.append("never came there")
        # one that is stopped is given up when its time is over
        if run.began + run.took - killed > patience(
                12 if number == signal.SIGKILL else 25):
            wrong.append(f"ended {run.began + run.took - killed:.0f} s later")
        end = (run.journal() or [None])[-1]
        closing = function.startswith(("cuIpcClose", "cuMemFree"))
        if run.status == 0 and not closing:
            wrong.append("status 0")
        # before there is a board the launcher alone knows
        said = "rank 1|interrupted by SIG" if doing in ("starting", "opening") else "rank 1"
        if victim and SURVIVORS and end and not closing and (
                end["kind"] != "verdict" or not re.search(said, end["summary"])):
            wrong.append(f"no verdict that names the rank: {end}")
        if len(run.lines()) > 1:
            wrong.append(f"more than one line: {run.lines()}")
        return wrong
    return with_run(run, judge)


def death_tests():
    if not HAS_LAUNCHER:
        return
    # function, call; what the run is at
    phases = [("cuInit", 1, "starting"), ("cuDevicePrimaryCtxRetain", 1, "opening"),
              ("cuModuleLoadData", 1, "opening"), ("cuMemHostRegister", 1, "opening"),
              ("cuMemAlloc", 1, "allocating"), ("cuIpcGetMemHandle", 1, "exporting"),
              ("cuIpcOpenMemHandle", 1, "importing"),
              ("cuStreamWaitValue32", 4, "arming"), ("cuMemcpyAsync", 1, "arming"),
              ("cuMemcpyAsync", 700, "arming"),
              ("cuEventElapsedTime", 5, "taking the time"),
              ("cuLaunchKernel", 520, "checking"),
              ("cuIpcCloseMemHandle", 1, "closing"), ("cuMemFree", 1, "closing")]
    if not FULL:
        phases = [("cuIpcOpenMemHandle", 1, "importing"), ("cuMemcpyAsync", 700, "arming")]
    for function, call, doing in phases:
        for inside in (0, 1):
            for victim in (0, 1) if FULL else (inside,):
                whose = "its own" if victim == inside else "the other's"
                yield (f"rank {victim} is killed, {doing}: {whose} call {call} of {function}",
                       lambda f=function, i=inside, v=victim, c=call, d=doing:
                       death_once(f, i, v, c, d))
    # the first call makes the range, later ones are armed or bring it home
    for call in (1, 8, 9) if FULL else (8,):
        yield (f"rank 1 is killed in call {call} of cuMemPrefetchAsync",
               lambda c=call: death_once("cuMemPrefetchAsync", 1, 1, c, options=MANAGED))
    if not FULL:
        return
    for inside in (0, 1):
        for victim in (0, 1):
            who = "source" if victim == inside else "destination"
            yield (f"rank {victim} is killed while a copy runs, its {who}",
                   lambda i=inside, v=victim:
                   death_once("cuMemcpyAsync", i, v, 700, knob="FAULT"))
            for function, call in (("cuMemHostRegister", 2), ("cuMemcpyAsync", 300),
                                   ("cuStreamWriteValue32", 300)):
                yield (f"rank {victim} is killed, staging: call {call} of {function} "
                       f"by rank {inside}",
                       lambda f=function, i=inside, v=victim, c=call:
                       death_once(f, i, v, c, options=("--via", "staged")))
    yield ("a rank is stopped for good: given up in time",
           lambda: death_once("cuMemcpyAsync", 1, 1, 700, number=signal.SIGSTOP))


# for `kill`: two nodes, seconds (in full), since a moment cannot be met exactly
LONG = {"ranks": 4, "gpus": 4 if FULL else 2, "options": ("--precision", "0.05%"),
        "limit": 60, "ranks_of_node": 2, "FAKE_NOISE": "0.05"}
ROLES = {0: "rank 0", 1: "an agent of the first node", 2: "the second node's coordinator",
         3: "an agent of the second node", "all": "all ranks"}


# after a death each further process that ends shortens the time that Open MPI leaves
# the others
MANY = dict(LONG, ranks=8, gpus=4, ranks_of_node=4)
# the same with two placements: each rank has a helper, and that has hosts
PLACED = dict(LONG, ranks=2, ranks_of_node=2,
              options=("--placement", "process,thread"))
PLACED_ROLES = {"helper": "a helper", "host": "a process of a placement"}


def parent(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def made(run, kind):
    """A helper, whose parent is a rank of ours, which has a guard, or a host, whose
    parent is a helper."""
    ours = {}
    for pid, rank in run.processes():
        try:
            if rank >= 0:
                ours[pid] = parent(pid)
        except OSError:
            pass

    def depth(pid):
        return 1 + depth(ours[pid]) if ours[pid] in ours else 0
    return [p for p in ours if depth(p) == (2 if kind == "helper" else 3)][:1]


def kill_once(moment, good, how):
    number, target, at, late = moment
    run = Run(**how)
    if at < 0:
        run.until(lambda: time.monotonic() - run.began > late)
    else:
        run.until(lambda: run.calls_bytes() >= at * good.calls_bytes)
    hit = made(run, target) if target in PLACED_ROLES else \
        [p for p, r in run.processes() if r >= 0 and target in (r, "all")]
    stop = number == signal.SIGSTOP
    for sent in (number, signal.SIGCONT) if stop else (number,):
        for pid in hit:
            try:
                os.kill(pid, sent)
            except ProcessLookupError:
                pass
        if stop and sent == number:
            time.sleep(late)

    def judge(run):
        killed_root = number == signal.SIGKILL and target in (0, "all")
        wrong = wrong_files(run, may_be_cut=killed_root)
        journal, document = run.journal(), run.document()
        if stop and (run.status != good.status or
                     len(run.rates()) != good.rows):
            wrong.append("a pause changed the outcome")
        if run.status == good.status and (not document or
                                document["run"]["status"] != "complete"):
            wrong.append("a good status without a complete document")
        killed_all = number == signal.SIGKILL and not SURVIVORS
        if journal and not killed_root and not killed_all and (
                not journal[-1] or journal[-1]["kind"] != "verdict"):
            wrong.append("the journal has no verdict")
        # while closing nobody collects them any more: each node says its own
        nodes = how["ranks"] // how["ranks_of_node"]
        closing = all("while closing" in line for line in run.lines())
        if len(run.lines()) > (nodes if closing else 1):
            wrong.append(f"more than one line: {run.lines()}")
        return wrong
    return with_run(run, judge)


def kill_tests():
    if not HAS_LAUNCHER:
        return
    dice = random.Random(int(os.environ.get("CS_SEED", "1")))
    n = int(os.environ.get("CS_MOMENTS", "200" if FULL else "6"))
    good = Good(**LONG)
    kinds = [(s, t) for t in ROLES for s in
             (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)]
    # 7 is prime to 20: a short run has a bit of all
    for i in range(n):
        number, target = kinds[i * 7 % len(kinds)]
        at, late = dice.uniform(-0.15, 1.0), dice.uniform(0.02, 0.4)
        when = f"{late:.2f} s after the start" if at < 0 else \
            f"at {at * 100:.1f} % of the calls"
        yield (f"{number.name} to {ROLES[target]} {when}",
               lambda m=(number, target, at, late): kill_once(m, good, LONG))
    for target, who in ((4, ROLES[2]), (1, ROLES[1])):
        yield (f"SIGKILL to {who}, of four ranks a node, soon",
               lambda m=(signal.SIGKILL, target, 0.3, 0): kill_once(m, good, MANY))
    placed = Good(**PLACED)
    kinds = [(s, t) for s in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
             for t in PLACED_ROLES]
    for i in range(max(n // 5, 2)):
        number, target = kinds[i % len(kinds)]
        at, late = dice.uniform(0.1, 1.0), dice.uniform(0.02, 0.4)
        yield (f"{number.name} to {PLACED_ROLES[target]} at {at * 100:.1f} % of the calls",
               lambda m=(number, target, at, late): kill_once(m, placed, PLACED))


PARTS = {"fail": fail_tests, "hang": hang_tests, "data": data_tests,
         "death": death_tests, "kill": kill_tests}


def main():
    names = sys.argv[1:]
    if not names or set(names) - set(PARTS):
        sys.exit(__doc__)
    before, number, bad = shm_names(), 0, 0
    # a hang costs time, not CPUs
    workers = (os.cpu_count() or 1) * (4 if names == ["hang"] else 1)
    tests = [t for name in names for t in PARTS[name]() if re.search(ONLY, t[0])]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for sentence, done in [(s, pool.submit(t)) for s, t in tests]:
            wrong = done.result()
            number += 1
            bad += bool(wrong)
            print("not ok" if wrong else "ok", number, "-", sentence, flush=True)
            for line in wrong:
                print("#", line, flush=True)
    left = sorted(shm_names() - before)
    print("not ok" if left else "ok", number + 1, "- nothing new is in /dev/shm")
    print("".join(f"# {name}\n" for name in left) + f"1..{number + 1}")
    return 0 if not (bad or left) else 1


if __name__ == "__main__":
    sys.exit(main())
