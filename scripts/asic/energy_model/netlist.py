# SPDX-License-Identifier: Apache-2.0
"""Modules of the RTL as gates: synthesis by Yosys, and the netlist that comes of it."""

import json
import os
import subprocess

# A register that a clock gate serves, and SRAM: what the cells' library has no cell for.
GATED = "GATED_REGISTER"
MEMORY = "MEMORY"
TEMPLATES = f"""\
(* blackbox *) module {GATED} (input D, input E, output Q); endmodule
(* techmap_celltype = "$_DFFE_PP_" *) module gate_of_register (input C, input D, input E, output Q);
    {GATED} _TECHMAP_REPLACE_ (.D(D), .E(E), .Q(Q));
endmodule
"""
MEMORY_TEMPLATE = f"""\
(* techmap_celltype = "$mem_v2" *) module memory_of_array (RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA);
    parameter MEMID = "", INIT = 0, SIZE = 0, OFFSET = 0, ABITS = 0, WIDTH = 0, RD_PORTS = 0, RD_CLK_ENABLE = 0, RD_CLK_POLARITY = 0,
        RD_TRANSPARENCY_MASK = 0, RD_COLLISION_X_MASK = 0, RD_WIDE_CONTINUATION = 0, RD_CE_OVER_SRST = 0, RD_ARST_VALUE = 0,
        RD_SRST_VALUE = 0, RD_INIT_VALUE = 0, WR_PORTS = 0, WR_CLK_ENABLE = 0, WR_CLK_POLARITY = 0, WR_PRIORITY_MASK = 0,
        WR_WIDE_CONTINUATION = 0;
    input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
    input [RD_PORTS*ABITS-1:0] RD_ADDR;
    output [RD_PORTS*WIDTH-1:0] RD_DATA;
    input [WR_PORTS-1:0] WR_CLK;
    input [WR_PORTS*WIDTH-1:0] WR_EN, WR_DATA;
    input [WR_PORTS*ABITS-1:0] WR_ADDR;
    {MEMORY} _TECHMAP_REPLACE_ (.A({{RD_EN, RD_ADDR, WR_EN[0], WR_ADDR, WR_DATA}}), .Q(RD_DATA));
endmodule
"""
SCRIPT = """\
{reads}
hierarchy -top {module} {parameters}
proc
flatten
opt
{memories}
synth -flatten -top {module}
rename -top {module}
{gates}
dfflibmap -liberty {liberty}
abc -liberty {liberty} -constr {folder}/abc.constr -D 5000
opt_clean -purge
write_json {folder}/netlist.json
write_verilog -noattr -noexpr {folder}/netlist.v
"""


# What a file holds: logic only, arrays that are to be memories next to it, or a memory and nothing else.
LOGIC, ARRAYS, WHOLE_MEMORY = range(3)
READ = {LOGIC: "-mem2reg", ARRAYS: "-nomem2reg", WHOLE_MEMORY: "-lib"}
MEMORIES = ("gemm64_ram", "gemm64_set_ram")


class ToolFailure(Exception):
    """A tool that ended with an error."""


def run(command, log, **options):
    """Runs a tool with its output in a log file."""
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, **options).returncode
    if code:
        with open(log, encoding="utf-8", errors="replace") as again:
            raise ToolFailure(f"{command[0]} failed; the end of {log}:\n" + "".join(again.readlines()[-8:]))


def write(path, text):
    """Writes a file, with the folder that it is in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def synthesize(module, parameters, liberty, folder, gated=False, files=None):
    """Folder with netlist.json and netlist.v of a module; `gated`: its enables as clock gates, not as multiplexers."""
    write(f"{folder}/abc.constr", "set_driving_cell INVX4\nset_load 0.05\n")
    write(f"{folder}/gated.v", TEMPLATES)
    write(f"{folder}/memory.v", MEMORY_TEMPLATE)
    files = files or [(module, LOGIC)]
    reads = [f"read_verilog {READ[holds]} -Irtl rtl/{file}.v" for file, holds in files]
    has_memory = any(holds == ARRAYS for _, holds in files)
    script = SCRIPT.format(
        reads="\n".join(reads), module=module, liberty=liberty, folder=folder,
        parameters=" ".join(f"-chparam {name} {value}" for name, value in parameters.items()),
        memories=f"memory -nomap\nread_verilog -lib {folder}/memory_cell.v\ntechmap -map {folder}/memory.v" if has_memory else "",
        gates=f"dfflegalize -cell $_DFF_P_ x -cell $_DFFE_PP_ x\nread_verilog -lib {folder}/gated_cell.v\n"
              f"techmap -map {folder}/gated.v" if gated else "")
    write(f"{folder}/gated_cell.v", TEMPLATES.split("\n")[0] + "\n")
    write(f"{folder}/gated.v", "\n".join(TEMPLATES.split("\n")[1:]))
    write(f"{folder}/memory_cell.v", f"(* blackbox *) module {MEMORY} (input [255:0] A, output [127:0] Q); endmodule\n")
    write(f"{folder}/synth.ys", script)
    run(["yosys", "-q", "-s", f"{folder}/synth.ys"], f"{folder}/synth.log")
    return folder


class Instance:
    """A cell in a netlist: the nets of its inputs and outputs by pin."""

    __slots__ = ("cell", "inputs", "outputs")

    def __init__(self, cell, inputs, outputs):
        self.cell, self.inputs, self.outputs = cell, inputs, outputs


class Netlist:
    """Gates of a module. Net 0 is constant 0, net 1 constant 1."""

    def __init__(self, path, module, library):
        with open(path, encoding="utf-8") as file:
            body = json.load(file)["modules"][module]
        self.numbers = {"0": 0, "1": 1, "x": 0, "z": 0}
        self.ports = {name: (port["direction"], [self.net(bit) for bit in port["bits"]])
                      for name, port in body["ports"].items()}
        self.instances, self.memories = [], {}
        for name, cell in body["cells"].items():
            kind = cell["type"]
            pins = {pin: [self.net(bit) for bit in bits] for pin, bits in cell["connections"].items()}
            if kind == MEMORY:
                self.memories[name] = (pins["A"], pins["Q"])
            elif kind in MEMORIES:
                out = pins.pop("data_o")
                self.memories[name] = ([net for nets in pins.values() for net in nets], out)
            elif kind == GATED:
                self.instances.append(Instance(None, {"D": pins["D"][0], "E": pins["E"][0]}, {"Q": pins["Q"][0]}))
            elif kind in library.cells:
                known = library.cells[kind]
                self.instances.append(Instance(
                    known, {pin: nets[0] for pin, nets in pins.items() if pin in known.capacitance},
                    {pin: nets[0] for pin, nets in pins.items() if pin in known.functions}))
            else:
                raise ToolFailure(f"{path}: the cell {kind} is in no library")
        self.share_enables()
        self.nets = 2 + len(set(self.numbers.values()) - {0, 1})

    def net(self, bit):
        """Number of a net by Yosys' number of it."""
        return self.numbers.setdefault(str(bit), len(set(("0", "1"))) + len(self.numbers) - 4)

    def share_enables(self):
        """Lets registers that one enable serves share it, where the mapper gave it to them through buffers of their own."""
        buffers = {net: instance.inputs[function[0]] for instance in self.instances if instance.cell is not None
                   for net, function in ((net, instance.cell.functions[pin]) for pin, net in instance.outputs.items())
                   if len(function) == 1}
        for instance in self.instances:
            if instance.cell is None:
                while instance.inputs["E"] in buffers:
                    instance.inputs["E"] = buffers[instance.inputs["E"]]
        ports = {net for _, nets in self.ports.values() for net in nets} | {net for into, _ in self.memories.values() for net in into}
        while True:
            read = ports | {net for instance in self.instances for net in instance.inputs.values()}
            kept = [instance for instance in self.instances if read.intersection(instance.outputs.values())]
            if len(kept) == len(self.instances):
                break
            self.instances = kept

    def registers(self):
        return [instance for instance in self.instances if instance.cell is None or instance.cell.register]
