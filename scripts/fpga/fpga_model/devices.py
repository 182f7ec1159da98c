# SPDX-License-Identifier: Apache-2.0
"""UltraScale+ devices, as AMD's product selection guide lists them, and what Yosys' cells take of them."""

RESOURCES = ("LUTs", "flip-flops", "DSPs", "block RAMs")

# From the smallest. Block RAMs are of 36 Kbit.
DEVICES = {
    "XCAU25P": dict(zip(RESOURCES, (141_120, 282_240, 1_200, 300))),
    "XCKU5P": dict(zip(RESOURCES, (216_960, 433_920, 1_824, 480))),
    "XCKU15P": dict(zip(RESOURCES, (522_720, 1_045_440, 1_968, 984))),
    "XCVU9P": dict(zip(RESOURCES, (1_182_240, 2_364_480, 6_840, 2_160))),
    "XCVU13P": dict(zip(RESOURCES, (1_728_000, 3_456_000, 12_288, 2_688))),
}

# Cells of distributed memory and shift registers: LUTs that each takes.
DISTRIBUTED = {"RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4,
               "RAM512X1S": 8, "RAM32M": 4, "RAM32M16": 8, "RAM64M": 4, "RAM64M8": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8,
               "SRL16E": 1, "SRLC32E": 1}
FREE = {"CARRY8", "CARRY4", "MUXF7", "MUXF8", "MUXF9", "VCC", "GND", "BUFG", "BUF"}  # they are part of LUTs that are counted, or take none


class UnknownCell(Exception):
    """A cell whose cost is in no table."""


def cost(cells):
    """Resources of that many cells of each type."""
    used = {"LUTs": 0, "LUTs as memory": 0, "flip-flops": 0, "DSPs": 0, "block RAMs": 0.0}
    for kind, count in cells.items():
        if kind in DISTRIBUTED:
            used["LUTs as memory"] += count * DISTRIBUTED[kind]
            used["LUTs"] += count * DISTRIBUTED[kind]
        elif kind == "INV" or (kind.startswith("LUT") and kind[3:].isdigit()):
            used["LUTs"] += count
        elif kind.startswith("FD"):
            used["flip-flops"] += count
        elif kind.startswith("DSP48"):
            used["DSPs"] += count
        elif kind.startswith("RAMB36"):
            used["block RAMs"] += count
        elif kind.startswith("RAMB18"):
            used["block RAMs"] += count / 2
        elif kind not in FREE:
            raise UnknownCell(f"what a {kind} takes of a device is not known; scripts/fpga/fpga_model/devices.py lists the cells")
    return used


def smallest(used):
    """The smallest device of the list that holds these resources, or None."""
    return next((name for name, has in DEVICES.items() if all(used[kind] <= has[kind] for kind in RESOURCES)), None)
