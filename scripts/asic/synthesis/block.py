# SPDX-License-Identifier: Apache-2.0
"""A block timed separately: the model that stands for it in the netlist around it, and the paths inside it."""

from . import timing, tools
from .macro import Macro


def _wanted(netlist):
    """Pairs (input, output) of ports to be timed; "" stands for the block's registers."""
    ports = {name: (way, bits) for name, (way, bits) in netlist.ports.items() if name != "clk_i"}
    pairs = []
    for name, (way, bits) in ports.items():
        if way == "output":
            pairs += [(source, name) for source in sorted(netlist.sources(bits)) if source != "clk_i"]
    ends = [net for cell in netlist.cells if cell.name for pin, bits in cell.pins.items() if pin not in cell.output
            for net in bits]
    return pairs + [(source, "") for source in sorted(netlist.sources(ends)) if source != "clk_i"]


def characterise(netlist, macros, cells, folder):
    """(Macro, paths between its registers) of a block; raises ToolFailure where one of its ports cannot be timed."""
    ends = {"": ("[all_registers -clock_pins]", "[all_registers -data_pins]")}
    analysis = timing.Analysis(netlist, macros, cells, folder, outside=(0, 0))
    pairs = _wanted(netlist)
    for source, target in pairs:
        analysis.ask(f"{source}>{target}", ends[""][0] if not source else f"[get_ports {source}__*]",
                     ends[""][1] if not target else f"[get_ports {target}__*]",
                     1 if source or target else timing.SEARCHED)
    found = analysis.run()

    ports = {name: (way, len(bits)) for name, (way, bits) in netlist.ports.items()}
    macro = Macro(netlist.top, ports, capacitance=_capacitance(netlist, macros, cells))
    inner = []
    for source, target in pairs:
        paths = found[f"{source}>{target}"]
        if not paths:
            raise tools.ToolFailure(f"sta: {netlist.top}: no path from {source or 'its registers'} to "
                                    f"{target or 'its registers'} can be timed")
        if source and target:
            macro.through[source, target] = paths[0].ns
        elif source:
            macro.setup[source] = paths[0].ns
        elif target:
            macro.delay[target] = paths[0].ns
        else:
            inner = paths
    return macro, inner


def _capacitance(netlist, macros, cells):
    """The largest load of each input's bits."""
    load = {}
    loads = {**cells.capacitance, **{(box.kind, port): value for box in macros for port, value in box.capacitance.items()}}
    for cell in netlist.cells:
        for pin, nets in cell.pins.items():
            for net in nets:
                load[net] = load.get(net, 0) + loads.get((cell.kind, pin), 0)
    return {name: max(load.get(net, 0) for net in bits) for name, (way, bits) in netlist.ports.items() if way == "input"}
