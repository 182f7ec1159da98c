# SPDX-License-Identifier: Apache-2.0
"""What the standard cells do, as Debian's Verilog models of them say."""

import re

from . import cells

REGISTER = "DFFPOSX1"
CONSTANTS = {"0": "0", "1": "1", "x": "0"}  # nets that are none, and what they are taken for
# The models' primitives without a state, as Verilog's operators, which are Python's as well.
PRIMITIVES = {"and": "({})", "or": "({})", "xor": "({})", "not": "~({})", "buf": "({})"}
BETWEEN = {"and": " & ", "or": " | ", "xor": " ^ ", "not": "", "buf": ""}
# Yosys' own gates, which hold what it has read before it is mapped.
_SIMPLE = {"$_BUF_": "{A}", "$_NOT_": "~{A}", "$_AND_": "({A} & {B})", "$_NAND_": "~({A} & {B})", "$_OR_": "({A} | {B})", "$_NOR_": "~({A} | {B})",
           "$_XOR_": "({A} ^ {B})", "$_XNOR_": "~({A} ^ {B})", "$_ANDNOT_": "({A} & ~{B})", "$_ORNOT_": "({A} | ~{B})",
           "$_MUX_": "((~{S} & {A}) | ({S} & {B}))"}
SIMPLE = {kind: {"Y": function} for kind, function in _SIMPLE.items()}
# What a broken cell is instead: one of the same pins.
MISTAKES = {"AND2X1": "OR2X1", "AND2X2": "OR2X2", "OR2X1": "AND2X1", "OR2X2": "AND2X2", "NAND2X1": "NOR2X1", "NOR2X1": "NAND2X1",
            "NAND3X1": "NOR3X1", "NOR3X1": "NAND3X1", "AOI21X1": "OAI21X1", "OAI21X1": "AOI21X1", "AOI22X1": "OAI22X1", "OAI22X1": "AOI22X1",
            "XOR2X1": "XNOR2X1", "XNOR2X1": "XOR2X1", "INVX1": "BUFX2", "INVX2": "BUFX2", "INVX4": "BUFX4", "INVX8": "BUFX4",
            "BUFX2": "INVX2", "BUFX4": "INVX4"}


def expressions():
    """What each cell without a state gives, {cell: {output: expression of "{input}"}}, of the models in Verilog."""
    with open(cells.OSU018_MODELS, encoding="latin-1") as file:
        text = re.sub(r"\bspecify\b.*?\bendspecify\b", "", file.read(), flags=re.S)
    found = {}
    for name, body in re.findall(r"^module (\w+) .*?;(.*?)^endmodule", text, re.M | re.S):
        nets = {net: f"{{{net}}}" for net in re.findall(r"^input +(\w+) *;", body, re.M)}
        for kind, pins in re.findall(r"^ +(\w+) +\(([^()]+)\);", body, re.M):
            out, *inner = [pin.strip() for pin in pins.split(",")]
            if kind == "udp_mux2":  # its choice is the last one
                nets[out] = "(({2} & {1}) | (~{2} & {0}))".format(*(nets[pin] for pin in inner))
            elif kind in PRIMITIVES and all(pin in nets for pin in inner):
                nets[out] = PRIMITIVES[kind].format(BETWEEN[kind].join(nets[pin] for pin in inner))
        outputs = re.findall(r"^output +(\w+) *;", body, re.M)
        if outputs and all(pin in nets for pin in outputs):
            found[name] = {pin: nets[pin] for pin in outputs}
    return found
