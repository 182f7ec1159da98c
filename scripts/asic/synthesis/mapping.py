# SPDX-License-Identifier: Apache-2.0
"""Maps a module of rtl/ to standard cells with Yosys and ABC: one flat netlist, with blocks and memories left in it as boxes."""

import hashlib
import os
import re
from dataclasses import dataclass

from . import tools

# Mapped and timed separately, and boxes in the accelerator: there are many of them, or they are so large that one netlist of all would take more
# than 20 GB at N = 64.
MANY = ("gemm64_stage", "gemm64_accumulator_column", "gemm64_requantize")
BLOCKS = (*MANY, "gemm64_elementwise")
# Whose arrays are SRAM, which stays out of the netlist. Everywhere else an array is registers.
MEMORIES = ("gemm64_ram", "gemm64_set_ram", "gemm64_accumulator_column", "gemm64_written")
# Each flip-flop, memory and box is marked with its module before the hierarchy is dissolved.
SCRIPT = """\
{reads}
hierarchy -top {top} {parameters}
synth -noshare -top {top} -run begin:fine
{gates}
dfflibmap -liberty {liberty}
{owners}
flatten
opt_clean
abc -liberty {liberty} -constr {constraints} -script {recipe}
opt_clean
write_json {netlist}
"""
DRIVER = "INVX4"      # taken to drive what comes from registers, blocks and ports; without one ABC neither buffers nor sizes
OUTPUT_LOAD_PF = 0.05
CARRIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "adders.v")


@dataclass(frozen=True)
class Recipe:
    """How Yosys makes gates of adders, and what ABC does: mapping, trees of buffers in front of more than ten gates, sizes.

    ABC's usual steps before it (fraig, scorr, dc2, dch) make ripples of fast carries: paths half as long again, in ten times the
    time."""
    gates: str
    cover: tuple   # ABC's commands that choose cells
    sizes: tuple   # and those that choose their sizes

    def abc(self):
        """ABC's script."""
        return "\n".join(("strash", *self.cover, "topo", "buffer -c -p -N 10", *self.sizes)) + "\n"


# A block stands in the chip many times, so it gets the carries with fewest gates. `map` makes the stage's path, which sets the
# clock, as short as it gets.
BLOCK = Recipe("techmap", ("map -B 0.9 -D 4500",), ("upsize -D 4500", "dnsize -D 4500"))
# All else stands there once: its carries may be large, and no gate is made smaller afterwards. ABC takes a path that ends at a
# block for as short as it is outside, so that what is a quarter shorter than the longest is sized, too. `&nf` makes paths through
# a product 6 % shorter than `map` does, with fewer gates.
REST = Recipe("techmap -map +/techmap.v -map {carries}", ("&get -n", "&nf", "&put"), ("upsize -W 25 -D 3500",))


def sources(top):
    """Files of a module and of all in it, without those in blocks; names stand after those that they begin with."""
    found, wanted = set(), [top]
    while wanted:
        name = wanted.pop()
        if name not in found and os.path.exists(f"rtl/{name}.v"):
            found.add(name)
            if name == top or name not in BLOCKS:
                with open(f"rtl/{name}.v", encoding="utf-8") as file:
                    wanted += re.findall(r"^ +(gemm64_\w+) +(?:#\(|u_)", file.read(), re.M)
    return sorted(found)


def recipe_of(top):
    """The recipe of a module."""
    return BLOCK if top in MANY else REST


def reads(top):
    """Yosys' commands that read a module and all in it, blocks as boxes."""
    names = sources(top)
    return [f"read_verilog -Irtl -lib rtl/{name}.v" for name in names if is_box(name, top)] + \
        [f"read_verilog -Irtl {'-nomem2reg' if name in MEMORIES else '-mem2reg'} rtl/{name}.v" for name in names if not is_box(name, top)]


def is_box(name, top):
    return name in BLOCKS and name != top


def settings(parameters):
    """A module's parameters, as `hierarchy` takes them."""
    return " ".join(f"-chparam {key} {value}" for key, value in parameters.items())


def script(top, parameters, cells, folder):
    """Yosys' script for a module."""
    owners = []
    for name in sources(top):
        if not is_box(name, top):
            forms = name if name == top else f"*{name}*"
            owners.append(f'setattr -set owner "{name}" {forms}/t:DFF* {forms}/t:$mem_v2 {forms}/t:gemm64_*')
    return SCRIPT.format(
        reads="\n".join(reads(top)), top=top, liberty=cells.liberty, owners="\n".join(owners),
        gates=recipe_of(top).gates.format(carries=os.path.relpath(CARRIES)), parameters=settings(parameters),
        constraints=os.path.join(folder, "abc.constr"), recipe=os.path.join(folder, "recipe.abc"),
        netlist=os.path.join(folder, "netlist.json"))


def name_of(top, parameters):
    """A module with its parameters, as folders are called."""
    return "_".join([top] + [f"{key.lower()}{value}" for key, value in parameters.items()])


def synthesize(top, parameters, cells, build):
    """Folder with the netlist.json of a module; kept from an earlier run where RTL and recipe are the same."""
    folder = os.path.join(build, name_of(top, parameters))
    recipe = recipe_of(top).abc()
    constraints = f"set_driving_cell {DRIVER}\nset_load {1000 * OUTPUT_LOAD_PF:.0f}\n"
    text = script(top, parameters, cells, folder)
    digest = hashlib.sha256((text + recipe + constraints).encode())
    used = ["rtl/gemm64_defs.vh"] + [f"rtl/{name}.v" for name in sources(top)]
    for path in used + [CARRIES] * (recipe_of(top) is REST):
        with open(path, "rb") as file:
            digest.update(file.read())
    mark = os.path.join(folder, "made-from")
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == digest.hexdigest():
                return folder
        os.remove(mark)
    tools.write(os.path.join(folder, "abc.constr"), constraints)
    tools.write(os.path.join(folder, "recipe.abc"), recipe)
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, "synth.ys"), text)],
              os.path.join(folder, "synth.log"))
    tools.write(mark, digest.hexdigest())
    return folder
