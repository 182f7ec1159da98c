# SPDX-License-Identifier: Apache-2.0
"""Registers of the modules whose gates are not simulated."""

import glob
import json

from . import netlist as netlists

SIMULATED = ("gemm64_array", "gemm64_accumulator")
SRAM = ("gemm64_ram", "gemm64_set_ram")
SCRIPT = """\
read_verilog -Irtl {sources}
hierarchy -top gemm64
rename -top gemm64
proc
opt_expr
opt_clean
opt_dff
memory_collect
opt_clean
write_json {path}
"""


def kind(name):
    """File of rtl/ that a module with parameters comes from."""
    return next((part for part in reversed(name.split("\\")) if part.startswith("gemm64")), name)


def number(text):
    return int(text, 2) if set(text) <= {"0", "1"} else int(text)


def registers(folder):
    """{module: [registers that load in every cycle, registers with an enable]} of the accelerator as it stands."""
    path = f"{folder}/rest.json"
    netlists.write(f"{folder}/rest.ys", SCRIPT.format(sources=" ".join(sorted(glob.glob("rtl/*.v"))), path=path))
    netlists.run(["yosys", "-q", "-s", f"{folder}/rest.ys"], f"{folder}/rest.log")
    with open(path, encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    found = {}

    def walk(name):
        mine = found.setdefault(kind(name), [0, 0])
        for cell in modules[name]["cells"].values():
            inner = cell["type"]
            if inner in modules:
                if kind(inner) not in SIMULATED + SRAM:
                    walk(inner)
            elif inner.startswith("$mem"):
                mine[1] += number(cell["parameters"]["SIZE"]) * number(cell["parameters"]["WIDTH"])
            elif "dff" in inner or "dlatch" in inner:
                mine["EN" in cell["connections"]] += len(cell["connections"]["Q"])

    walk("gemm64")
    return {name: counts for name, counts in found.items() if any(counts)}
