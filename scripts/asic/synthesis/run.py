# SPDX-License-Identifier: Apache-2.0
"""Makes several designs, as many steps at a time as there are CPUs, and says how far it is."""

import concurrent.futures
import os
import sys
import time

from . import chip


class Progress:
    """A line that is written over on a terminal; elsewhere a line a step."""

    def __init__(self):
        self.started = time.monotonic()

    def tell(self, text):
        line = f"synth: {time.monotonic() - self.started:4.0f} s  {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def _name(job):
    return " ".join([job[0]] + [f"{key}={value}" for key, value in job[1].items()])


def all_of(wanted, cells, build):
    """Chips of (module, parameters), in their order; each block is made once. The largest come first."""
    progress = Progress()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def every(jobs, step, what):
            """Results of a step by job, each job's name printed when it is done."""
            running = {pool.submit(step, job): job for job in jobs}
            for count, done in enumerate(concurrent.futures.as_completed(running), 1):
                if done.exception():
                    pool.shutdown(cancel_futures=True)
                done.result()
                progress.tell(f"{what} {count} of {len(running)}: {_name(running[done])}")
            return {_name(job): done.result() for done, job in running.items()}

        jobs = sorted(wanted, key=lambda job: -job[1].get("N", 0))
        designs = every(jobs, lambda job: chip.Design(*job, cells, build), "mapped")
        needed = {_name(job): job for job in jobs for job in designs[_name(job)].wanted()}
        needed = sorted(needed.values(), key=lambda job: -job[1].get("N", 0))
        blocks = every(needed, lambda job: chip.make_block(*job, cells, build), "block")
        chips = every(jobs, lambda job: designs[_name(job)].finish(
            {kind: blocks[_name((kind, parameters))] for kind, parameters in designs[_name(job)].wanted()}), "timed")
    progress.end()
    return [chips[_name(job)] for job in wanted]
