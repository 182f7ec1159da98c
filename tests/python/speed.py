# SPDX-License-Identifier: Apache-2.0
"""Simulated cycles a second on AlexNet's Linear layers: the module's and the program's, one after the other.

    PYTHONPATH=build/python build/venv/bin/python tests/python/speed.py build/gemm64 [PAIRS]
"""

import json
import statistics
import subprocess
import sys

import gemm64
import numpy as np

LAYERS = [(64, 9216, 4096), (64, 4096, 4096), (64, 4096, 1000)]


def of_module():
    random = np.random.default_rng(1)
    device = gemm64.Device("rtl")
    cycles = seconds = 0
    for m, k, n in LAYERS:
        a = random.integers(-128, 128, (m, k), dtype=np.int8)
        w = random.integers(-128, 128, (n, k), dtype=np.int8)
        device.matmul(a, w, transposed=True)
        cycles += device.report["total"]["cycles"]
        seconds += device.report["simulation"]["seconds"]
    return cycles / seconds


def of_program(program):
    cycles = seconds = 0
    for layer in LAYERS:
        command = [program, "gemm", *map(str, layer), "--json", "-"]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        cycles += report["total"]["cycles"]
        seconds += report["simulation"]["seconds"]
    return cycles / seconds


def main():
    program, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ratios = []
    for _ in range(pairs):
        program_speed, module_speed = of_program(program), of_module()
        ratios.append(module_speed / program_speed)
        print(f"program {program_speed / 1e6:.3f} M cycles/s, module {module_speed / 1e6:.3f}: "
              f"{ratios[-1]:.3f}", flush=True)
    print(f"median of {pairs} pairs: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
