# SPDX-License-Identifier: Apache-2.0
"""A whole design: its cells by module, its memories, and its longest paths by module, those between blocks included."""

import collections
import os
from dataclasses import dataclass, field

from . import block, macro, mapping, timing, tools
from .netlist import Netlist

# The requantizer's columns share nothing but a few bits of control. It is mapped with four, and as often as it takes.
PART_COLUMNS = 4
SPLIT = "gemm64_requantize"


@dataclass
class Block:
    """A block mapped and timed separately."""
    netlist: Netlist
    macro: macro.Macro
    paths: list


@dataclass
class Chip:
    """What is known of a design."""
    top: str
    parameters: dict
    cells: dict                                   # module: (cells, square micrometres)
    memories: list                                # (how many, netlist.Memory)
    blocks: dict = field(default_factory=dict)    # block: how many
    paths: dict = field(default_factory=dict)     # module: its longest timing.Path, those that end in it


class Design:
    """A design in the making: mapped first, then its blocks, which may serve several designs, then timed."""

    def __init__(self, top, parameters, cells, build):
        self.top, self.parameters, self.liberty = top, parameters, cells
        self.folder = mapping.synthesize(top, parameters, cells, build)
        self.netlist = Netlist(os.path.join(self.folder, "netlist.json"), top, cells)

    def wanted(self):
        """Its blocks, as (kind, parameters)."""
        found = {}
        for cell in self.netlist.cells:
            if cell.block is not None:
                found[cell.kind] = dict(sorted(cell.block.items()))
        if SPLIT in found:
            found[SPLIT] = {"N": PART_COLUMNS}
        return sorted(found.items())

    def finish(self, blocks):
        """The Chip, from its blocks by kind."""
        if SPLIT in blocks:
            self.netlist.split(SPLIT, blocks[SPLIT].netlist)
        self.netlist.fill_in({kind: made.netlist for kind, made in blocks.items()})
        self.netlist.spread()
        count = collections.Counter(cell.kind for cell in self.netlist.cells if cell.kind in blocks)
        chip = Chip(self.top, self.parameters, area(self.netlist), [(1, memory) for memory in self.netlist.memories], count)
        for kind, times in count.items():
            for module, (cells, square) in area(blocks[kind].netlist).items():
                before = chip.cells.get(module, (0, 0))
                chip.cells[module] = (before[0] + times * cells, before[1] + times * square)
            chip.memories += [(times, memory) for memory in blocks[kind].netlist.memories]
        chip.paths = self._paths(blocks)
        return chip

    def _paths(self, blocks):
        models = {memory.kind: macro.of_memory(memory) for memory in self.netlist.memories}
        models.update({kind: made.macro for kind, made in blocks.items()})
        analysis = timing.Analysis(self.netlist, list(models.values()), self.liberty, self.folder)
        ends = collections.defaultdict(list)
        for number, cell in enumerate(self.netlist.cells):
            if not cell.name:
                continue
            for pin, bits in cell.pins.items():
                names = [f"c{number}/{pin}"] if len(bits) == 1 else [f"c{number}/{pin}[{i}]" for i in range(len(bits))]
                if pin not in cell.output and pin not in ("clk_i", "CLK"):
                    ends[cell.kind if cell.block is not None else cell.owner] += names
        for module, pins in sorted(ends.items()):
            analysis.ask(module, target="[get_pins {" + " ".join(pins) + "}]", count=timing.SEARCHED)
        analysis.ask("outputs", target="[all_outputs]", count=timing.SEARCHED)
        found = analysis.run()
        for module, pins in ends.items():
            if not found[module] and not all(map(self.netlist.constant, pins)):
                raise tools.ToolFailure(f"sta: {self.top}: no path into {module} can be timed")
        found[self.top] = found.get(self.top, []) + found.pop("outputs")
        for kind, made in blocks.items():
            found[kind] += made.paths
        if not any(found.values()):
            raise tools.ToolFailure(f"sta: {self.top}: it has no path")
        return {module: sorted(paths, key=lambda path: -path.ns)[:timing.WORST] for module, paths in found.items() if paths}


def area(netlist):
    """Cells and square micrometres by module."""
    result = {}
    for cell in netlist.cells:
        if cell.kind in netlist.liberty.area:
            before = result.get(cell.owner, (0, 0))
            result[cell.owner] = (before[0] + 1, before[1] + netlist.liberty.area[cell.kind])
    return result


def make_block(kind, parameters, cells, build):
    """A Block, from its RTL."""
    folder = mapping.synthesize(kind, parameters, cells, build)
    netlist = Netlist(os.path.join(folder, "netlist.json"), kind, cells)
    models = {memory.kind: macro.of_memory(memory) for memory in netlist.memories}
    return Block(netlist, *block.characterise(netlist, list(models.values()), cells, folder))
