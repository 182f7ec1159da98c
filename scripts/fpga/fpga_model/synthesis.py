# SPDX-License-Identifier: Apache-2.0
"""Synthesis for UltraScale+ by Yosys: each form of a module once, however often it stands in the accelerator."""

import glob
import os
import re
import subprocess


class ToolFailure(Exception):
    """A tool that ended with an error."""


def run(script, base):
    """Runs a script of Yosys' commands; its log is next to it."""
    with open(f"{base}.ys", "w", encoding="utf-8") as file:
        file.write(script)
    with open(f"{base}.log", "w", encoding="utf-8") as log:
        code = subprocess.run(["yosys", "-q", "-s", f"{base}.ys"], stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if code:
        with open(f"{base}.log", encoding="utf-8", errors="replace") as log:
            raise ToolFailure(f"yosys failed; the end of {base}.log:\n" + "".join(log.readlines()[-8:]))


def kind(name):
    """File of rtl/ that a module comes from."""
    return next((part for part in reversed(name.split("\\")) if re.fullmatch(r"gemm64\w*", part)), name)


class Design:
    """The accelerator at one N: text and instances of each module, by Yosys' name."""

    def __init__(self, n, folder, module="gemm64"):
        self.n, self.folder = n, os.path.join(folder, f"n{n}")
        os.makedirs(self.folder, exist_ok=True)
        self.path = os.path.join(self.folder, "elaborated.il")
        run(f"read_verilog -Irtl {' '.join(sorted(glob.glob('rtl/*.v')))}\nchparam -set N {n} {module}\nhierarchy -top {module}\n"
            f"rename -top {module}_top\nsetattr -mod -unset src\nsetattr -unset src\nwrite_rtlil {self.path}\n", os.path.join(self.folder, "elaborate"))
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        self.texts = {found.group(1): found.group(0) for found in re.finditer(r"^module (\S+)\n.*?^end$", text, re.M | re.S)}
        self.top = f"\\{module}_top"
        self.instances = {name: [cell for cell in re.findall(r"^  cell (\S+) ", body, re.M) if cell in self.texts]
                          for name, body in self.texts.items()}

    def counts(self):
        """How often each module stands in the accelerator."""
        counts = {}

        def walk(name, times):
            counts[name] = counts.get(name, 0) + times
            for inner in self.instances[name]:
                walk(inner, times)

        walk(self.top, 1)
        return counts


def cells(design, top, boxes):
    """{module: {type of cell: count}} of a module and those in it, each without what is in it, but for those that are left out."""
    plain = f"{kind(top)}_{list(design.texts).index(top)}"
    base = os.path.join(design.folder, plain)
    run(f"read_rtlil {design.path}\n" + (f"blackbox {' '.join(boxes)}\n" if boxes else "") +
        f"rename {top} \\{plain}\nsynth_xilinx -family xcup -top {plain} -noiopad -noclkbuf\ntee -q -o {base}.stat stat\n", base)
    with open(f"{base}.stat", encoding="utf-8") as file:
        sections = re.split(r"^=== (.*) ===$", file.read(), flags=re.M)
    result = {}
    for name, text in zip(sections[1::2], sections[2::2]):
        name = name if name.startswith("$") else "\\" + name
        if name == f"\\{plain}":
            name = top
        if "Number of cells:" in text and name in design.texts:
            found = re.findall(r"^\s{5,}(\S+)\s+(\d+)$", text.split("Number of cells:")[1], re.M)
            result[name] = {cell: int(count) for cell, count in found if "gemm64" not in cell}
    if top not in result:
        raise ToolFailure(f"{base}.stat does not count {top}")
    return result
