# SPDX-License-Identifier: Apache-2.0
"""How much faster two workers of a cluster are than one, start-up apart.

    PYTHONPATH=build/python build/venv/bin/python tests/python/cluster_speed.py --model q.onnx \\
        --input images/ --images 200 --batch 1 [--workers 1,2] [other options of gemm64 run]

Each number of workers runs all units on workers that are there and have the network; the clock runs
from the first unit to the last result. The reports must be equal.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import time

from gemm64.cluster import _dask
from gemm64.cluster._run import Runner
from gemm64.cluster._stop import Stop
from gemm64.cluster._work import NetworkWork

WALL_TIMES = re.compile(r'("(?:seconds|reference_seconds|cycles_per_second|macs_per_second)": *)[^,}\s]+')


class First(NetworkWork):
    """The first units only, so that all workers have the network."""

    def __init__(self, arguments, units):
        super().__init__(arguments)
        self._units = units

    def count(self):
        return min(self._units, super().count())


def measure(options, workers, stop):
    """Seconds, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        work = NetworkWork([*options, "--json", str(report)])
        with _dask.connect(None, workers, None) as client:
            warm = First(list(work.arguments[:-2]), 3 * workers)
            warm.arguments = work.arguments  # sessions are known by them
            Runner(client, warm, None, stop).run()
            runner = Runner(client, work, None, stop)
            begin = time.perf_counter()
            runner.run()
            seconds = time.perf_counter() - begin
        assert not runner.complaints, runner.complaints
        sys.stdout.flush()
        code = work.finish()
        assert code == 0, code
        return seconds, WALL_TIMES.sub("", report.read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", default="1,2")
    known, options = parser.parse_known_args()
    numbers = [int(text) for text in known.workers.split(",")]
    with Stop() as stop:
        results = [measure(options, number, stop) for number in numbers]
    for number, (seconds, report) in zip(numbers, results):
        same = "the same report" if report == results[0][1] else "ANOTHER REPORT"
        print(f"{number} workers: {seconds:.1f} s, {results[0][0] / seconds:.2f} times as fast as "
              f"{numbers[0]}; {same}")
    return 0 if all(report == results[0][1] for _, report in results) else 1


if __name__ == "__main__":
    sys.exit(main())
