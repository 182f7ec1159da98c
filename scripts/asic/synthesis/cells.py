# SPDX-License-Identifier: Apache-2.0
"""Standard cells, as their Liberty file has them."""

import re

_FOLDER = "/usr/share/qflow/tech/osu018"  # of Debian's qflow-tech-osu018: 180 nm, six layers of metal
OSU018 = f"{_FOLDER}/osu018_stdcells.lib"  # typical corner
OSU018_MODELS = f"{_FOLDER}/osu018_stdcells.v"


class Cells:
    """Areas and pins of the cells of a Liberty file."""

    def __init__(self, liberty):
        self.liberty = liberty
        self.area = {}         # square micrometres, by cell
        self.outputs = {}      # by cell
        self.capacitance = {}  # picofarads, by (cell, input pin)
        with open(liberty, encoding="latin-1") as file:
            text = file.read()
        for body in re.split(r"\bcell\s*\(", text)[1:]:
            cell = re.match(r'\s*"?(\w+)', body).group(1)
            self.area[cell] = float(re.search(r"\barea\s*:\s*([0-9.]+)", body).group(1))
            self.outputs[cell] = []
            for pin in re.split(r"\bpin\s*\(", body)[1:]:
                name = re.match(r'\s*"?(\w+)', pin).group(1)
                if re.search(r"\bdirection\s*:\s*\"?output", pin):
                    self.outputs[cell].append(name)
                else:
                    self.capacitance[cell, name] = float(re.search(r"\bcapacitance\s*:\s*([0-9.]+)", pin).group(1))
