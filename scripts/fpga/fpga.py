#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what the accelerator takes of an UltraScale+ FPGA."""

import argparse
import concurrent.futures
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "asic"))
from energy_model import outputs  # noqa: E402
from synthesis.tools import Problem  # noqa: E402
from fpga_model import devices, synthesis  # noqa: E402

# Synthesized apart from the rest, in parallel: the largest.
HEAVY = ("gemm64_requantize", "gemm64_stage", "gemm64_set_ram", "gemm64_elementwise", "gemm64_depthwise")
PARTS = {"gemm64_stage": "array: stages", "gemm64_skew": "array: skews", "gemm64_requantize": "8-bit results",
         "gemm64_accumulator": "accumulator", "gemm64_accumulator_column": "accumulator", "gemm64_set_ram": "parameters, lanes' weights",
         "gemm64_ram": "scratchpad, weight buffer", "gemm64_elementwise": "element-wise unit",
         **dict.fromkeys(("gemm64_depthwise", "gemm64_depthwise_walk", "gemm64_im2col"), "lanes")}
MEMORIES = ("scratchpad, weight buffer", "accumulator", "parameters, lanes' weights")


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/fpga/fpga.py", description=__doc__ + " Yosys maps each form of a module once (synth_xilinx -family xcup); the table adds them "
        "up as often as they stand, names the smallest device of a list that holds them, and the share that they take of it.",
        epilog="Before placement: nothing is packed across modules, and no cycle is promised. Exit: 0 done, 1 Yosys failed, 2 bad usage or "
        "a missing tool, 3 a file was not written.")
    parser.add_argument("--n", type=int, nargs="+", default=[8, 16, 32, 64], choices=[2, 4, 8, 16, 32, 64], metavar="N",
                        help="rows and columns of the array (default: 8 16 32 64)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tools at a time (default: as many as there are CPUs)")
    parser.add_argument("--build", default="build/fpga", help="where scripts and logs go (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--summary", metavar="FILE", help="write rows for the sign-off there")
    options = parser.parse_args(argv)
    if options.jobs < 1:
        parser.error("--jobs: must be positive")
    return options


def total(design, found):
    """Resources of the accelerator, and of each part of it."""
    parts = {}
    for name, times in design.counts().items():
        part = parts.setdefault(PARTS.get(synthesis.kind(name), "control, readers, results"), {})
        for resource, count in devices.cost(found[name]).items():
            part[resource] = part.get(resource, 0) + times * count
    used = {resource: sum(part[resource] for part in parts.values()) for resource in next(iter(parts.values()))}
    return used, parts


def measure(options, progress):
    """{N: (resources, {part: resources}, cells of each module)}"""
    result = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        designs = dict(zip(options.n, pool.map(lambda n: synthesis.Design(n, options.build), options.n)))
        running = {}
        for n, design in sorted(designs.items(), reverse=True):  # the largest first, so that none is left to run last
            heavy = [name for name in design.texts if synthesis.kind(name) in HEAVY]
            for name in heavy:
                running[pool.submit(synthesis.cells, design, name, [other for other in heavy if other != name])] = n
            running[pool.submit(synthesis.cells, design, design.top, heavy)] = n
        found = {n: {} for n in designs}
        for future in concurrent.futures.as_completed(running):
            n = running[future]
            found[n].update(future.result())
            progress(f"N={n}: {sum(not done.done() for done, of in running.items() if of == n)} of "
                     f"{sum(of == n for of in running.values())} runs left")
    for n, design in designs.items():
        # What synthesis removes as empty takes nothing.
        result[n] = (*total(design, {name: found[n].get(name, {}) for name in design.texts}), found[n])
    return result


def amount(value):
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def report(result):
    rows = []
    for n, (used, _, _) in result.items():
        device = devices.smallest(used)
        has = devices.DEVICES.get(device)
        rows.append([f"N={n}", *(amount(used[kind]) for kind in used), device or "none",
                     *(f"{used[kind] / has[kind]:.0%}" if has else "-" for kind in devices.RESOURCES)])
    kinds = list(next(iter(result.values()))[0])
    print(outputs.table(["UltraScale+", *kinds, "fits", *(f"of its {kind}" for kind in devices.RESOURCES)], rows))
    for n, (_, parts, _) in result.items():
        print(f"\nN={n} by part\n")
        print(outputs.table(["", *kinds], [[part, *(amount(used[kind]) for kind in kinds)] for part, used in sorted(parts.items())]))
    n = max(result)
    parts = result[n][1]
    inside = {name: "block RAM" if parts[name]["block RAMs"] else "distributed RAM" if parts[name]["LUTs as memory"] else "flip-flops"
              for name in MEMORIES}
    print(f"\nMemories at N={n}: " + ", ".join(f"{name}: {what}" for name, what in inside.items()) + ".")
    macs = n * n
    print(f"A DSP a MAC: {result[n][0]['DSPs']:,} DSPs for {macs:,} MACs of the array, the rest for 8-bit results and addresses.")


def summary_rows(result):
    rows = []
    for n, (used, parts, _) in result.items():
        device = devices.smallest(used)
        share = max(used[kind] / devices.DEVICES[device][kind] for kind in devices.RESOURCES) if device else None
        rows.append((f"FPGA, N={n}", f"{used['LUTs']:,} LUTs, {used['flip-flops']:,} FFs, {used['DSPs']:,} DSPs, "
                     f"{amount(used['block RAMs'])} block RAMs" + (f"; {device}, at most {share:.0%} of a kind" if device else "; no device"),
                     "", None, ""))
    parts = result[max(result)][1]
    maps = all(parts[name]["block RAMs"] for name in MEMORIES[:2])
    rows.append(("scratchpad, weight buffer and accumulator in block RAM", "yes" if maps else "no", "yes", maps, "" if maps else "Yosys' mapping"))
    return rows


def main():
    started = time.monotonic()
    options = arguments(sys.argv[1:])
    for name in ("json", "summary", "build"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def progress(text):
        print(f"fpga: {text}, {time.monotonic() - started:.0f} s", file=sys.stderr)

    try:
        if not shutil.which("yosys"):
            raise Problem("there is no yosys; `scripts/setup/setup.sh fpga` installs Debian's yosys")
        result = measure(options, progress)
        report(result)
        if options.json:
            outputs.write_json(options.json, {"family": "UltraScale+", "sizes": [
                {"n": n, "resources": used, "parts": parts, "device": devices.smallest(used)} for n, (used, parts, _) in result.items()]})
        if options.summary:
            outputs.write_json(options.summary, outputs.summary("FPGA", "make -C scripts/fpga fpga", time.monotonic() - started, summary_rows(result)))
    except outputs.OutputLost as problem:
        print(f"fpga: {problem}", file=sys.stderr)
        return 3
    except Problem as problem:
        print(f"fpga: {problem}", file=sys.stderr)
        return 2
    except (synthesis.ToolFailure, devices.UnknownCell, OSError) as problem:
        print(f"fpga: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
