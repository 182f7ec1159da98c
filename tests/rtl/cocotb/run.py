#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the cocotb agent in Icarus Verilog, or those of your own.

Needs the packages of scripts/ci/verification-requirements.txt and Debian's iverilog.
Exit: 0 all pass, 1 one fails, 2 bad usage.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

from cocotb_tools.runner import get_runner

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def main():
    parser = argparse.ArgumentParser(prog="tests/rtl/cocotb/run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--array", type=int, default=2, metavar="N")
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the top module")
    parser.add_argument("--test", nargs="+", default=["test_gemm64", "test_uvm"], metavar="MODULE")
    parser.add_argument("--filter", default="", metavar="REGEX", help="tests by name")
    parser.add_argument("--source", nargs="*", type=pathlib.Path, default=[], metavar="FILE", help="Verilog in addition to that of rtl/")
    parser.add_argument("--top", default="gemm64_bench", help="a module with the ports of gemm64_bench")
    parser.add_argument("--generator", type=pathlib.Path, metavar="PROGRAM", help="gemm64_random_programs, to run what it writes")
    parser.add_argument("--seed", type=int, default=1, help="the first program's")
    parser.add_argument("--count", type=int, default=4, help="programs")
    parser.add_argument("--longest", type=int, default=1500, metavar="CYCLES", help="of a program")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "cocotb")
    options = parser.parse_args()

    build = options.build.resolve()
    environment = {"GEMM64_ROOT": str(ROOT), "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    if options.generator:
        programs = build / "programs"
        shutil.rmtree(programs, ignore_errors=True)
        programs.mkdir(parents=True)
        subprocess.run([options.generator.resolve(), "--array", str(options.array), "--seed", str(options.seed), "--count", str(options.count),
                        "--longest", str(options.longest), programs], check=True)
        environment["GEMM64_PROGRAMS"] = str(programs)

    runner = get_runner("icarus")
    runner.build(sources=[HERE / "gemm64_bench.v", *sorted((ROOT / "rtl").glob("*.v")), *options.source], hdl_toplevel=options.top, build_dir=build,
                 includes=[ROOT / "rtl"], build_args=["-g2005", "-DGEMM64_CHECKS"], timescale=("1ns", "1ps"), always=True,
                 parameters={"N": options.array, **dict(word.split("=", 1) for word in options.parameter)})
    failed = 0
    for module in options.test:
        results = runner.test(hdl_toplevel=options.top, test_module=module, build_dir=build, test_dir=build, extra_env=environment,
                              test_filter=options.filter or None, results_xml=str(build / f"{module}.xml"))
        cases = list(xml.etree.ElementTree.parse(results).getroot().iter("testcase"))
        failed += sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
        failed += not cases
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
