# SPDX-License-Identifier: Apache-2.0
"""A library of a few cells whose tables are easy to compute with."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts", "asic"))

FUNCTIONS = {"BUFX2": ("A", "A"), "INVX1": ("!A", "A"), "AND2X2": ("(A B)", "AB"), "NAND2X1": ("!(A B)", "AB"), "XOR2X1": ("A^B", "AB"),
             "AOI21X1": ("!((A B)+C)", "ABC")}
LOAD_PF = 0.01      # of each input, and of a clock pin
INSIDE_PJ = 0.2     # of a change inside a gate; a rise takes 0.3, a fall 0.1
VOLTS = 2.0


def value(kind, numbers, one=False):
    index = 'index_1 ("0.1, 0.3");' if one else 'index_1 ("0.01, 0.03"); index_2 ("0.1, 0.3");'
    rows = ", ".join(f'"{row}"' for row in numbers)
    return f"{kind}({'one' if one else 'two'}) {{ {index} values ({rows}); }}"


def pin(name, body):
    return f"pin({name}) {{ {body} }}\n"


def output(name, function, inputs):
    text = f'direction : output; function : "{function}";'
    for related in inputs:
        delays = " ".join(value(kind, ["0.05, 0.05", "0.07, 0.07"]) for kind in
                          ("cell_rise", "cell_fall", "rise_transition", "fall_transition"))
        text += f'timing() {{ related_pin : "{related}"; {delays} }}'
        text += f'internal_power() {{ related_pin : "{related}"; ' + value("rise_power", ["0.3, 0.3", "0.3, 0.3"]) + \
            value("fall_power", ["0.1, 0.1", "0.1, 0.1"]) + "}"
    return pin(name, text)


def source(name, extra=""):
    return pin(name, f"direction : input; capacitance : {LOAD_PF}; {extra}")


def liberty():
    """The library's text."""
    cells = ""
    for name, (function, inputs) in FUNCTIONS.items():
        cells += f"cell ({name}) {{ area : 1; cell_leakage_power : 1; " + "".join(map(source, inputs)) + output("Y", function, inputs) + "}\n"
    clock = "internal_power() {" + value("rise_power", ["0.05, 0.05"], True) + value("fall_power", ["0.15, 0.15"], True) + "}"
    for name, kind in (("DFFPOSX1", "ff"), ("LATCH", "latch")):
        cells += f"cell ({name}) {{ area : 1; cell_leakage_power : 1; {kind} (IQ, IQN) {{ }}" + source("D") + \
            source("CLK", "clock : true; " + clock) + output("Q", "IQ", ["CLK"]) + "}\n"
    return f"""/* cells */ library(test) {{ time_unit : "1ns"; capacitive_load_unit (1,pf); nom_voltage : {VOLTS};
lu_table_template(two) {{ variable_1 : total_output_net_capacitance; variable_2 : input_net_transition; }}
lu_table_template(one) {{ variable_1 : input_transition_time; }}
{cells} }}
"""


class Gates:
    """A netlist, built cell by cell."""

    def __init__(self, library):
        self.liberty, self.instances, self.memories, self.ports, self.nets = library, [], {}, {}, 2

    def new(self):
        self.nets += 1
        return self.nets - 1

    def gate(self, cell, *nets):
        from energy_model.netlist import Instance
        out = self.new()
        self.instances.append(Instance(self.liberty.cells[cell], dict(zip("ABC", nets)), {"Y": out}))
        return out

    def register(self, data, enable=None, out=None):
        from energy_model.netlist import Instance
        out = self.new() if out is None else out
        inputs = {"D": data} if enable is None else {"D": data, "E": enable}
        self.instances.append(Instance(self.liberty.cells["DFFPOSX1"] if enable is None else None, inputs, {"Q": out}))
        return out

    def registers(self):
        return [instance for instance in self.instances if instance.cell is None or instance.cell.register]
