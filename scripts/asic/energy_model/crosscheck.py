# SPDX-License-Identifier: Apache-2.0
"""The same netlist weighed by OpenSTA, with every net changing equally often.

OpenSTA of 2019 cannot take a count for each net, so it checks loads, transition times, tables and sums. It adds a table's energies of a
rise and of a fall for each change, and weighs each input's table with the probability that the other inputs let its changes pass, where
the cell's function shows that at its outermost operator, and with a half elsewhere: its rule for internal power is applied here, too.
"""

import re

from . import electrical as electricals
from . import netlist as netlists

ACTIVITY = 0.2  # changes of a net a cycle
PERIOD_NS = 10.0
SCRIPT = """\
read_liberty {liberty}
read_verilog {netlist}
link_design {module}
create_clock -name clock -period {period} [get_ports clk_i]
set_input_transition {slew} [all_inputs]
set_power_activity -global -activity {activity} -duty 0.5
report_power -digits 6
"""


def tree(steps):
    """A function as nested tuples, from its steps."""
    stack = []
    for step in steps:
        if step == "!":
            stack.append(("!", stack.pop()))
        elif step in "&|^":
            right = stack.pop()
            stack.append((step, stack.pop(), right))
        else:
            stack.append(step)
    return stack[0]


def probability(node):
    """That a function is 1 where each input is 1 half of the time."""
    if isinstance(node, str):
        return 0.5
    if node[0] == "!":
        return 1 - probability(node[1])
    left, right = probability(node[1]), probability(node[2])
    return {"&": left * right, "|": 1 - (1 - left) * (1 - right), "^": left * (1 - right) + right * (1 - left)}[node[0]]


def passes(node, pin):
    """How probably an input's change passes, as far as OpenSTA looks; None: it does not look so far."""
    if isinstance(node, str):
        return 1.0 if node == pin else None
    if node[0] == "!":
        return passes(node[1], pin)
    for mine, other in ((node[1], node[2]), (node[2], node[1])):
        if mine in (pin, ("!", pin)):
            return probability(other) if node[0] == "&" else 1 - probability(other)
    return None


def own(netlist, library):
    """(internal, switching, leakage) in watts."""
    model = electricals.Electrical(netlist, library, clock_slew=0.0)
    rate = ACTIVITY / (PERIOD_NS * 1e-9)
    internal = switching = leakage = 0.0
    for instance in netlist.instances:
        cell = instance.cell
        leakage += cell.leakage_nw * 1e-9
        for net in instance.outputs.values():
            switching += model.switching[net] * 1e-12 * rate
        for pin, related, rise, fall in cell.energies:
            source = related or pin
            clock = source == cell.clock
            slew = 0.0 if clock else model.slew[instance.inputs[source]]
            output = pin in instance.outputs
            weight = passes(tree(cell.functions[pin]), related) if output and cell.functions[pin] else None
            weight = 1.0 if clock else 0.5 if weight is None else weight
            load = model.load[instance.outputs[pin]] if output else 0.0
            internal += (rise.at(load, slew) + fall.at(load, slew)) * weight * 1e-12 * (2 / (PERIOD_NS * 1e-9) if pin == cell.clock else rate)
    return internal, switching, leakage


def opensta(folder, module, liberty):
    """The same by OpenSTA."""
    script = SCRIPT.format(liberty=liberty, netlist=f"{folder}/netlist.v", module=module, period=PERIOD_NS,
                           slew=electricals.INPUT_SLEW_NS, activity=ACTIVITY)
    netlists.write(f"{folder}/power.tcl", script)
    netlists.run(["sta", "-no_splash", "-exit", f"{folder}/power.tcl"], f"{folder}/power.log")
    with open(f"{folder}/power.log", encoding="utf-8") as file:
        found = re.search(r"^Total\s+(\S+)\s+(\S+)\s+(\S+)", file.read(), re.M)
    if not found:
        raise netlists.ToolFailure(f"{folder}/power.log holds no power")
    return tuple(float(text) for text in found.groups())
