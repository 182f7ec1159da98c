# SPDX-License-Identifier: Apache-2.0
"""Liberty models of what stands in a netlist as a box: memories, and blocks that were timed separately."""

from dataclasses import dataclass, field

HEAD = """\
library(macros) {
  delay_model : table_lookup;
  time_unit : "1ns";
  voltage_unit : "1V";
  current_unit : "1uA";
  capacitive_load_unit (1, pf);
  pulling_resistance_unit : "1kohm";
  input_threshold_pct_rise : 50;
  input_threshold_pct_fall : 50;
  output_threshold_pct_rise : 50;
  output_threshold_pct_fall : 50;
  slew_lower_threshold_pct_rise : 20;
  slew_lower_threshold_pct_fall : 20;
  slew_upper_threshold_pct_rise : 80;
  slew_upper_threshold_pct_fall : 80;
"""
SLEW_NS = 0.2  # of what leaves a box
MEMORY_PF = 0.02  # of a memory's input
# A memory is timed as if flip-flops of the cells' kind stood at its ports: no generator of SRAM goes with the cells.
MEMORY_SETUP_NS = 0.3
MEMORY_DELAY_NS = 0.3


@dataclass
class Macro:
    """A box: its ports, and how long signals take to its registers, from them and through it, in nanoseconds."""
    kind: str
    ports: dict                                      # name: (direction, bits)
    setup: dict = field(default_factory=dict)        # input: from its arrival to the clock
    delay: dict = field(default_factory=dict)        # output: after the clock
    through: dict = field(default_factory=dict)      # (input, output)
    capacitance: dict = field(default_factory=dict)  # input: picofarads of a bit


def of_memory(memory):
    """The Macro of a netlist.Memory."""
    inputs = [port for port in memory.ports if port != "data_o"]
    ports = {port: ("output" if port == "data_o" else "input", bits) for port, bits in memory.ports.items()}
    return Macro(memory.kind, {"clk_i": ("input", 1), **ports}, {port: MEMORY_SETUP_NS for port in inputs},
                 {"data_o": MEMORY_DELAY_NS}, {}, {port: MEMORY_PF for port in inputs})


def _table(ns):
    return f'(scalar) {{ values ("{ns:.4f}"); }}'


def _constraint(ns):
    return ('timing() { related_pin : "clk_i"; timing_type : setup_rising; '
            f"rise_constraint{_table(ns)} fall_constraint{_table(ns)} }}\n")


def _arc(pin, ns, kind):
    return (f'timing() {{ related_pin : "{pin}"; {kind} cell_rise{_table(ns)} cell_fall{_table(ns)} '
            f"rise_transition{_table(SLEW_NS)} fall_transition{_table(SLEW_NS)} }}\n")


def _bits(port, bits):
    return [port] if bits == 1 else [f"{port}[{index}]" for index in range(bits)]


def _cell(macro):
    out = [f"  cell({macro.kind}) {{ area : 0; interface_timing : true;\n"]
    for port, (direction, bits) in macro.ports.items():
        facts = [f"direction : {direction};"]
        if direction == "input":
            facts.append(f"capacitance : {macro.capacitance.get(port, 0):.4f};")
        if port == "clk_i":
            facts.append("clock : true;")
        if port in macro.setup:
            facts.append(_constraint(macro.setup[port]))
        if port in macro.delay:
            facts.append(_arc("clk_i", macro.delay[port], "timing_type : rising_edge;"))
        for (source, target), ns in macro.through.items():
            if target == port:
                facts += [_arc(pin, ns, "timing_sense : non_unate;") for pin in _bits(source, macro.ports[source][1])]
        group = f"pin({port}) {{" if bits == 1 else f"bus({port}) {{ bus_type : bus{bits};"
        out.append(f"    {group} {' '.join(facts)} }}\n")
    return "".join(out) + "  }\n"


def liberty(macros):
    """Text of a Liberty file."""
    widths = sorted({bits for macro in macros for _, bits in macro.ports.values() if bits > 1})
    types = "".join(f"  type(bus{bits}) {{ base_type : array; data_type : bit; bit_width : {bits}; "
                    f"bit_from : {bits - 1}; bit_to : 0; downto : true; }}\n" for bits in widths)
    return HEAD + types + "".join(_cell(macro) for macro in macros) + "}\n"
