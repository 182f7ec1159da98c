# SPDX-License-Identifier: Apache-2.0
"""A netlist of Yosys: standard cells, memories and blocks, with the module that each belongs to."""

import json
import re
from dataclasses import dataclass

from . import mapping, tools

# Ports of a memory, after those of Yosys' $mem_v2; constant ones (its resets) and cycles are left out.
MEMORY_PORTS = {"RD_EN": "read_i", "RD_ADDR": "read_address_i", "RD_DATA": "data_o",
                "WR_EN": "write_i", "WR_ADDR": "write_address_i", "WR_DATA": "write_data_i"}
FANOUT = 8  # boxes that a buffer drives
BUFFER = "BUFX4"


@dataclass
class Memory:
    """An SRAM: where it is, its size, its ports as (name, bits), and how many bits of a word are written at a time."""
    where: str
    words: int
    width: int
    ports: dict
    lane: int

    @property
    def kind(self):
        return f"sram_{self.words}x{self.width}_{self.lane}"


@dataclass
class Cell:
    """A standard cell, a memory or a block."""
    kind: str
    pins: dict     # lists of nets, which are numbers, or of constants
    owner: str     # module that it stands in; of a gate that of the register, memory, block or port that it leads to
    name: str      # of a register that of its output; none of a gate
    output: list   # pins that are outputs
    block: dict    # parameters of a block, else None


class Netlist:
    """One module, flat."""

    def __init__(self, path, top, library):
        with open(path, encoding="utf-8") as file:
            module = json.load(file)["modules"][top]
        self.top = top
        self.liberty = library
        self.ports = {name: (port["direction"], port["bits"]) for name, port in module["ports"].items()}
        names = _registers(module["netnames"])
        self.memories = []
        self.cells = [self._cell(name, cell, names) for name, cell in module["cells"].items()]
        self.driver = {net: cell for cell in self.cells for pin in cell.output for net in cell.pins[pin]}
        self._drop_idle_gates()
        self._own_gates()

    def _cell(self, name, cell, names):
        kind, pins = cell["type"], cell["connections"]
        owner = cell["attributes"].get("owner", "")
        if kind == "$mem_v2":
            return self._memory(name, owner, cell)
        if kind in self.liberty.area:
            outputs = self.liberty.outputs[kind]
            # What is marked with a module is a register, all else a gate.
            return Cell(kind, pins, owner, names.get(pins[outputs[0]][0], name) if owner else "", outputs, None)
        if kind.startswith("$"):
            raise tools.ToolFailure(f"{self.top}: the library has no cell for {name}, a {kind} (a latch, or a reset without a cycle)")
        outputs = [pin for pin, direction in cell["port_directions"].items() if direction == "output"]
        parameters = {key: int(value, 2) for key, value in cell["parameters"].items()}
        return Cell(kind, pins, owner, name, outputs, parameters)

    def _memory(self, name, owner, cell):
        parameters, pins = cell["parameters"], cell["connections"]
        if "0" in parameters["RD_CLK_ENABLE"]:
            raise tools.ToolFailure(f"{self.top}: {name} is read without a cycle, which no SRAM can be")
        named = {MEMORY_PORTS[pin]: bits for pin, bits in pins.items() if pin in MEMORY_PORTS}
        # Yosys has an enable for each bit, those of a lane with one meaning; the RTL defines how many lanes there are.
        lane = len(named["write_i"]) // int(cell["attributes"].get("lanes", "1"), 2)
        named["write_i"] = named["write_i"][::lane]
        memory = Memory(name, int(parameters["SIZE"], 2), int(parameters["WIDTH"], 2),
                        {port: len(bits) for port, bits in named.items()}, lane)
        self.memories.append(memory)
        named["clk_i"] = pins["RD_CLK"][:1]
        return Cell(memory.kind, named, owner, name, ["data_o"], None)

    def _drop_idle_gates(self):
        """Removes gates that drove nothing but the enables that a memory does not have."""
        count = -1
        while count != len(self.cells):
            count = len(self.cells)
            used = {net for cell in self.cells for pin, bits in cell.pins.items() if pin not in cell.output for net in bits}
            used.update(net for _, bits in self.ports.values() for net in bits)
            self.cells = [cell for cell in self.cells if cell.name or any(net in used for pin in cell.output
                                                                          for net in cell.pins[pin])]

    def _own_gates(self):
        """A gate belongs to what it leads to first; where that are several, to the first by name."""
        level = sorted((cell for cell in self.cells if cell.owner), key=lambda cell: cell.owner)
        ports = [Cell("", {"": bits}, self.top, name, [], None) for name, (_, bits) in self.ports.items()]
        level += ports
        while level:
            found = []
            for cell in level:
                for pin, nets in cell.pins.items():
                    for net in nets if pin not in cell.output else []:
                        gate = self.driver.get(net)
                        if gate and not gate.owner:
                            gate.owner = cell.owner
                            found.append(gate)
            level = found

    def split(self, kind, part):
        """Replaces each block of a kind by several of `part`'s width in parallel; what all give alike comes from the first."""
        cells = []
        for cell in self.cells:
            if cell.kind != kind:
                cells.append(cell)
                continue
            width = {port: len(bits) for port, (_, bits) in part.ports.items()}
            for index in range(max(len(bits) // width[port] for port, bits in cell.pins.items())):
                pins = {}
                for port, bits in cell.pins.items():
                    if len(bits) > width[port]:
                        pins[port] = bits[width[port] * index:width[port] * (index + 1)]
                    elif index == 0 or port not in cell.output:
                        pins[port] = bits
                cells.append(Cell(kind, pins, cell.owner, f"{cell.name}[{index}]", [pin for pin in cell.output if pin in pins],
                                  cell.block))
        self.cells = cells

    def fill_in(self, parts):
        """Puts what blocks give as constants in the place of the nets that they drive; parts: their netlists by kind."""
        known = {}
        for cell in self.cells:
            for pin in cell.output if cell.kind in parts else []:
                known.update((net, bit) for net, bit in zip(cell.pins[pin], parts[cell.kind].ports[pin][1])
                             if isinstance(bit, str))
        for cell in self.cells:
            for pin in cell.pins:
                if pin not in cell.output:
                    cell.pins[pin] = [known.get(net, net) for net in cell.pins[pin]]
        self.ports = {name: (way, [known.get(net, net) for net in bits]) for name, (way, bits) in self.ports.items()}

    def spread(self):
        """Puts trees of buffers between a net and the many boxes that it drives, of which ABC has seen one load."""
        sinks = {}
        for cell in self.cells:
            if cell.name and cell.kind not in self.liberty.area:
                for pin, nets in cell.pins.items():
                    if pin not in cell.output and pin != "clk_i":
                        for index, net in enumerate(nets):
                            if isinstance(net, int):
                                sinks.setdefault(net, []).append((cell, pin, index))
        new = 1 + max((net for cell in self.cells for nets in cell.pins.values() for net in nets if isinstance(net, int)), default=0)
        for net, places in sinks.items():
            while len(places) > FANOUT:
                buffers = []
                for first in range(0, len(places), FANOUT):
                    for cell, pin, index in places[first:first + FANOUT]:
                        cell.pins[pin] = cell.pins[pin][:index] + [new] + cell.pins[pin][index + 1:]
                    gate = Cell(BUFFER, {"A": [net], "Y": [new]}, places[first][0].owner, "", ["Y"], None)
                    self.driver[new] = gate
                    buffers.append((gate, "A", 0))
                    self.cells.append(gate)
                    new += 1
                places = buffers

    def verilog(self, path):
        """Writes plain Verilog: cells c0, c1, …, nets n0, n1, …, each bit of a port a port of its own."""
        nets, ports = {}, []
        for direction in ("input", "output"):
            for name, (way, bits) in self.ports.items():
                for index, net in enumerate(bits):
                    # A constant output has no path, and a second output of one net has that of the first.
                    if way == direction and isinstance(net, int) and net not in nets:
                        nets[net] = f"{name}__{index}"
                        ports.append((way, nets[net]))
        body = []
        for number, cell in enumerate(self.cells):
            pins = []
            for pin, bits in cell.pins.items():
                joined = [nets.setdefault(net, f"n{net}") if isinstance(net, int) else "1'b" + net.replace("x", "0")
                          for net in reversed(bits)]
                pins.append(f".{pin}({joined[0] if len(joined) == 1 else '{' + ', '.join(joined) + '}'})")
            body.append(f"  {cell.kind} c{number} ({', '.join(pins)});\n")
        inner = set(nets.values()) - {name for _, name in ports}
        head = [f"module {self.top}({', '.join(name for _, name in ports)});\n"]
        head += [f"  {way} {name};\n" for way, name in ports] + [f"  wire {name};\n" for name in sorted(inner)]
        return tools.write(path, "".join(head + body) + "endmodule\n")

    def sources(self, nets):
        """Where the signals of nets come from through gates: names of input ports, and "" for registers, memories and blocks."""
        found, seen, nets = set(), set(), list(nets)
        inputs = {net: name for name, (way, bits) in self.ports.items() if way == "input" for net in bits}
        while nets:
            net = nets.pop()
            gate = self.driver.get(net)
            if net in inputs:
                found.add(inputs[net])
            elif gate and gate.name:
                found.add("")
            elif gate and net not in seen:
                seen.add(net)
                nets += [inner for pin, bits in gate.pins.items() if pin not in gate.output for inner in bits]
        return found

    def constant(self, pin):
        """Whether a pin, in OpenSTA's words, is one of a cell that nothing can change."""
        match = re.fullmatch(r"c(\d+)/(\w+)(?:\[(\d+)\])?", pin)
        if not match:
            return False
        bits = self.cells[int(match.group(1))].pins[match.group(2)]
        return not self.sources([bits[int(match.group(3) or 0)]])

    def pin_name(self, pin):
        """A register's, block's or port's own name for what OpenSTA calls c12/D or port__3."""
        match = re.fullmatch(r"c(\d+)(?:/(\w+).*)?", pin)
        if not match:
            return re.sub(r"__\d+$", "", pin)
        cell = self.cells[int(match.group(1))]
        if cell.kind in self.liberty.area:
            return cell.name or f"a gate of {cell.owner}"
        return f"{cell.name}.{match.group(2)}"


def _registers(netnames):
    """The name of each net that a register may drive: of all its names one with _q, as the house has it, and the deepest."""
    best = {}
    for name, net in netnames.items():
        if net.get("hide_name", 0) or name.endswith("_i"):
            continue
        rank = (bool(re.search(r"_q(\[\d+\])*$", name)), name.count("."))
        for index, bit in enumerate(net["bits"]):
            if bit not in best or rank > best[bit][0]:
                best[bit] = (rank, f"{name}[{index}]" if len(net["bits"]) > 1 else name)
    return {bit: name for bit, (_, name) in best.items()}
