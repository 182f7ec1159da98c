# SPDX-License-Identifier: Apache-2.0
"""Runs test_array.py on the Verilog files of a directory in Icarus: run.py DIRECTORY [SIZE]."""

import pathlib
import sys

from cocotb_tools.runner import get_runner

folder = pathlib.Path(sys.argv[1])
size = sys.argv[2] if len(sys.argv) > 2 else "4"
runner = get_runner("icarus")
build = folder / "sim_build"
runner.build(sources=sorted(folder.glob("*.v")), hdl_toplevel="wrapper", parameters={"N": int(size)}, build_dir=build,
             timescale=("1ns", "1ps"),
             always=True)
results = runner.test(hdl_toplevel="wrapper", test_module="test_array", build_dir=build,
                      test_dir=pathlib.Path(__file__).parent, extra_env={"ARRAY_SIZE": size}, results_xml=str((build / "results.xml").resolve()))
sys.exit("<failure" in pathlib.Path(results).read_text(encoding="utf-8"))
