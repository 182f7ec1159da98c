#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries to make the program crash, hang, or lose or destroy a file; README.md next to this says how."""

import argparse
import collections
import ctypes
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import absent
import kinds
from judge import OUTCOMES, judge
from trial import Result, fill, keep, prepare, run

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x00020000, 0x4000, 1 << 18
DISK = 256 << 10
options = small_disk = why_no_disk = None


def mount_small_disk(folder):
    """A disk of DISK bytes that no other process sees; why not, where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    steps = [lambda: libc.unshare(CLONE_NEWNS), lambda: libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None),
             lambda: libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, f"size={DISK}".encode())]
    for step in steps:
        if step() != 0:
            return os.strerror(ctypes.get_errno())
    return ""


def begin(given):
    """Of each process that tries."""
    global options, small_disk, why_no_disk
    options = given
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["GEMM64"] = options.program
    small_disk = tempfile.mkdtemp(dir=options.scratch)
    why_no_disk = mount_small_disk(small_disk)


def draw(number):
    source = random.Random(f"{options.seed} {number}")
    if options.absent is not None:
        return absent.numbered(number, source)
    drawers = [kind for kind, _ in kinds.KINDS]
    drawer = source.choices(drawers, [often for _, often in kinds.KINDS])[0]
    if drawer is kinds.limits:
        return kinds.limits(source, not options.sanitized)
    return drawer(source)


def attempt(number):
    trial = draw(number)
    if options.only_kind and options.only_kind not in trial.kind:
        return number, trial.kind, None, [], 0
    if trial.free is not None and why_no_disk:
        return number, trial.kind, "skipped", [why_no_disk], 0
    root = small_disk if trial.free is not None else options.scratch
    folder = os.path.join(root, f"try{number}")
    logs = os.path.join(options.scratch, f"log{number}")
    os.makedirs(logs)
    prepare(trial, folder)
    if trial.free is not None:
        fill(folder, trial.free)
    result = run(trial, folder, logs, options.program, options.limit)
    outcome, problems = judge(trial, result, folder, options.sanitized)
    if outcome == "FAILED":
        keep(trial, result, problems, folder, os.path.join(options.folder, f"failed-{number}"))
    shutil.rmtree(folder)
    shutil.rmtree(logs)
    return number, trial.kind, outcome, problems, result.mebibytes


def finished(pool, numbers, stop):
    """What comes of each try; whatever goes wrong, `stop` is set before the pool ends."""
    try:
        yield from pool.imap_unordered(attempt, numbers)
    finally:
        stop.set()


def print_table(counts):
    width = max([len(kind) for kind in counts] + [5])
    columns = OUTCOMES + (["skipped"] if any(count["skipped"] for count in counts.values()) else [])
    print(" " * width + "".join(f"{column:>14}" for column in ["tries"] + columns))
    print("-" * (width + 14 * (len(columns) + 1)))
    total = collections.Counter()
    for kind in sorted(counts):
        print(f"{kind:<{width}}{sum(counts[kind].values()):>14,}" +
              "".join(f"{counts[kind][column]:>14,}" for column in columns))
        total += counts[kind]
    print("-" * (width + 14 * (len(columns) + 1)))
    print(f"{'total':<{width}}{sum(total.values()):>14,}" + "".join(f"{total[column]:>14,}" for column in columns))
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=0, help="0: as many as --seconds allow")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first try, to see one again")
    parser.add_argument("--kind", dest="only_kind", default="", help="only kinds with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time after which a try has hung")
    parser.add_argument("--sanitized", action="store_true", help="the program is built with the sanitizers")
    parser.add_argument("--folder", default="build/abuse", help="where tries that failed are kept")
    parser.add_argument("--json", help="writes the counts to this file")
    parser.add_argument("--absent", type=int, metavar="PAIRS",
                        help="instead: ONNX files without each of their fields, then without N pairs of fields")
    given = parser.parse_args()
    if given.absent is not None and not given.tries:
        given.tries = absent.count() + given.absent
    if not given.tries and not given.seconds:
        given.tries = 2000
    given.program = os.path.abspath(given.program)
    given.folder = os.path.abspath(given.folder)
    os.makedirs(given.folder, exist_ok=True)
    given.scratch = tempfile.mkdtemp(prefix="tries-", dir=given.folder)
    os.environ["GEMM64"] = given.program
    print(f"seed {given.seed}", flush=True)
    counts, begun, most, why = collections.defaultdict(collections.Counter), time.time(), 0, set()

    def numbers():
        number = given.first
        while (not given.tries or number < given.first + given.tries) and \
                (not given.seconds or time.time() - begun < given.seconds):
            yield number
            number += 1
    slots = multiprocessing.Semaphore(given.jobs * 8)  # imap would take all numbers at once

    stop = threading.Event()

    def paced():
        for number in numbers():
            while not slots.acquire(timeout=0.2):
                if stop.is_set():  # else the pool would wait for this for ever
                    return
            yield number
    try:
        with multiprocessing.Pool(given.jobs, begin, [given]) as pool:
            for number, kind, outcome, problems, mebibytes in finished(pool, paced(), stop):
                slots.release()
                if outcome is None:
                    continue
                counts[kind][outcome] += 1
                most = max(most, mebibytes)
                if outcome == "skipped":
                    why.update(problems)
                if outcome == "FAILED":
                    print(f"FAILED, try {number} ({kind}): {'; '.join(problems)[:300]}\n"
                          f"  {os.path.relpath(given.folder)}/failed-{number}/again: " +
                          open(f"{given.folder}/failed-{number}/again").read().strip()[:300], flush=True)
    finally:
        shutil.rmtree(given.scratch, ignore_errors=True)
    total = print_table(counts)
    for reason in sorted(why):
        print(f"SKIPPED: tries on a full disk: no mount of its own: {reason}")
    print(f"{time.time() - begun:.0f} s; at most {most} MiB of memory")
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"seed": given.seed, "seconds": round(time.time() - begun), "mebibytes": most,
                       "kinds": {kind: dict(count) for kind, count in counts.items()}}, file, indent=2)
            file.write("\n")
    if not sum(total.values()):
        print("no try was made", file=sys.stderr)
        return 1
    return 1 if total["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
