# SPDX-License-Identifier: Apache-2.0
"""The rules of a command's fields ("bounds" in rtl/gemm64.json): read, and written as C++ and Verilog.

  [signed|float|magnitude] LEFT RELATION RIGHT [with COND, COND] [without COND, COND]

LEFT and RIGHT are numbers, fields, flags (0 or 1), sizes of the accelerator, and their sums, differences and products.
RELATION: >=, <=, <, =, `of` (one of 3|5|7), `multiple` (a float32 that is a multiple of 2**-31).
COND: FLAG, FIELD (not 0), FIELD=NUMBER, FORMAT=NAME; A|B means either. A rule applies if all of `with` and none of `without` hold.
`signed`: fields are two's complement; `float`: the field is a float32; `magnitude`: its sign does not matter."""

import ast
import re
import struct

SIZES = ("N", "ACCUMULATOR_ROWS", "SCRATCHPAD_WORDS")  # of an accelerator
RULE = re.compile(r"(?:(?P<kind>signed|float|magnitude) )?(?P<left>.+?) (?P<relation>>=|<=|<|=|of|multiple) (?P<right>.+?)"
                  r"(?: with (?P<given>.+?))?(?: without (?P<unless>.+))?")
RELATIONS = {">=": "at least ", "<=": "at most ", "<": "below ", "=": "", "of": "one of ", "multiple": "a multiple of "}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
WIDE = 64  # bits of the arithmetic of rules with differences and products in Verilog


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


class Rule:
    """One rule of an opcode. Raises ValueError with the reason if it is none."""

    def __init__(self, text, opcode, fields, flags, formats):
        match = RULE.fullmatch(text) if isinstance(text, str) else None
        if not match:
            raise ValueError(f"the bound {text!r} is not of the form \"ROWS <= 128 with WINDOW\"")
        self.text, self.kind, self.relation = text, match["kind"], match["relation"]
        self.left_text, self.right_text = match["left"], match["right"]
        self.given, self.unless = ([one.split("|") for one in (match[part] or "").split(", ") if one] for part in ("given", "unless"))
        self.fields, self.flags, self.formats, self.opcode = fields, flags, formats, opcode
        given_flags = [name for names in self.given for name in names if name in flags]
        self.used = opcode["uses"] + [use for flag in given_flags for use in opcode["with"].get(flag, [])]
        self.left = self.parse(self.left_text)
        self.right = None  # a number of its own kind
        if self.relation == "of":
            self.numbers = [int(number) for number in self.right_text.split("|")]
        elif self.relation == "multiple" or self.kind in ("float", "magnitude"):
            base, _, power = self.right_text.partition("**")
            if base != "2":
                raise ValueError(f"the bound {text!r} of a float32 does not end with a power of 2")
            self.exponent = int(power)
        else:
            self.right = self.parse(self.right_text)
        self.sides = [side for side in (self.left, self.right) if side is not None]
        nodes = [node for side in self.sides for node in ast.walk(side)]
        self.all_names = [node.id for node in nodes if isinstance(node, ast.Name)]
        self.names = [name for name in self.all_names if name in fields]
        if all(name in SIZES for name in self.all_names):
            raise ValueError(f"the bound {text!r} names no field")
        # In the cycle of the dispatch; the others follow two cycles later.
        self.at_once = not given_flags and all(fields[name]["word"] < 8 for name in self.names)
        self.sums = any(isinstance(node, ast.Add) for node in nodes)
        self.simple = not any(isinstance(node, (ast.Mult, ast.Sub)) for node in nodes)

    def parse(self, text):
        tree = ast.parse(text, mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in (*self.used, *self.flags, *SIZES):
                raise ValueError(f"the bound {self.text!r}: {node.id} is neither a field that it uses there, a flag nor one of {', '.join(SIZES)}")
            if not isinstance(node, (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, *OPERATORS, ast.USub, ast.Load)):
                raise ValueError(f"the bound {self.text!r} has more than sums, differences and products")
        return tree

    def conditions(self, write):
        """(texts of a condition, must one of them hold?), each text written by write(name, number or None)."""
        for conditions, holds in ((self.given, True), (self.unless, False)):
            for either in conditions:
                parts = []
                for one in either:
                    name, equal, value = one.partition("=")
                    if name not in self.flags and name not in self.fields:
                        raise ValueError(f"the bound {self.text!r}: {name} is neither a flag nor a field")
                    parts.append(write(name, (self.formats[value] if value in self.formats else int(value)) if equal else None))
                yield parts, holds

    def written(self, node, leaf):
        """An expression whose names and numbers leaf() writes."""
        if isinstance(node, ast.UnaryOp):
            return f"-{self.written(node.operand, leaf)}"
        if not isinstance(node, ast.BinOp):
            return leaf(node)
        sides = [self.written(side, leaf) for side in (node.left, node.right)]
        if isinstance(node.op, ast.Mult):
            sides = [f"({side})" if " + " in side or " - " in side else side for side in sides]
        return f"{sides[0]} {OPERATORS[type(node.op)]} {sides[1]}"

    # ------------------------------------------------------------------------------------------ C++

    def cpp_leaf(self, node):
        if isinstance(node, ast.Constant):
            return str(node.value)
        name = node.id.lower()
        if node.id in self.flags:
            return f"has(c, {self.flags[node.id]})"
        if node.id in SIZES:
            return f"wide(g.{name})"
        if self.kind == "magnitude":
            return f"wide(c.{name} & 0x7fffffff)"
        return f"signed_value(c.{name}, {self.fields[node.id]['width']})" if self.kind == "signed" else f"wide(c.{name})"

    def cpp(self):
        """The initializers of a CommandRule."""
        def condition(name, value):
            if name in self.flags:
                return f"has(c, {self.flags[name]}) != 0"
            return f"c.{name.lower()} != 0" if value is None else f"c.{name.lower()} == {value}"
        terms = []
        for parts, holds in self.conditions(condition):
            either = " || ".join(parts)
            terms.append(either if holds and len(parts) == 1 else f"({either})" if holds else f"!({either})")
        when = " and ".join(f"{word} {' or '.join(either).replace('=', ' = ')}"
                            for word, conditions in (("with", self.given), ("without", self.unless)) for either in conditions)
        if self.relation == "multiple":
            right, holds = "0", f"is_multiple(left, {self.exponent})"
        elif self.relation == "of":
            right, holds = "0", " || ".join(f"left == {number}" for number in self.numbers)
        else:
            right = str(float_bits(2.0 ** self.exponent)) if self.right is None else self.written(self.right, self.cpp_leaf)
            holds = {">=": "at_least", "<=": "at_most", "<": "below", "=": "equals"}[self.relation]
        limit = RELATIONS[self.relation] + self.right_text.replace("**", "^").replace("|", ", ")
        if self.relation in ("multiple", "of"):
            holds = f"[](std::int64_t left, std::int64_t) {{ return {holds}; }}"
        sides = f"{{{' && '.join(terms) or 'true'}, {self.written(self.left, self.cpp_leaf)}, {right}}}"
        names = ["const Command& c" if re.search(r"\bc[.,]", sides) else "const Command&",
                 "const Geometry& g" if "g." in sides else "const Geometry&"]
        return [f"Opcode::{self.opcode['cpp']}", str(self.at_once).lower(), f'"{self.left_text}"', f'"{when}{" " if when else ""}"',
                f'"{limit}"', str(self.right is not None and bool(re.search("[A-Z]", self.right_text))).lower(),
                str(self.kind in ("float", "magnitude") or self.relation == "multiple").lower(),
                f"&Command::{self.names[0].lower()}" if self.names else "nullptr", holds,
                f"[]({', '.join(names)}) -> RuleSides {{ return {sides}; }}"]

    # -------------------------------------------------------------------------------------- Verilog

    def bits_of(self, name):
        return 1 if name in self.flags else 32 if name in SIZES else self.fields[name]["width"]

    def verilog(self, place, bits, known=()):
        """`known`: flags that the command has. The rule with the field, flag or size `name` as place(name), and bits of a field as
        bits(name, first, last)."""
        def condition(name, value):
            if name in known:
                return None
            return place(name) if value is None and self.bits_of(name) == 1 else f"{place(name)} == {self.bits_of(name)}'d{value or 0}"
        terms = []
        for parts, holds in self.conditions(condition):
            either = " | ".join(part for part in parts if part)
            if None not in parts:
                terms.append(either if not holds else f"~({either})" if len(parts) > 1 or "=" in either else f"~{either}")
        if self.relation == "multiple":
            exponent, mantissa = bits(self.left.id, 30, 23), bits(self.left.id, 22, 0)
            whole = self.exponent + 127 + 23  # the exponent from which the last bit is a whole step
            return " | ".join([*terms, f"({bits(self.left.id, 30, 0)} == 31'd0 | {exponent} >= 8'd{whole} | "
                               f"({{1'b1, {mantissa}}} & ((24'd1 << (8'd{whole} - {exponent})) - 24'd1)) == 24'd0)"])
        width = WIDE if not self.simple else max(self.bits_of(name) for name in self.all_names) + self.sums
        signed = self.kind == "signed"

        def leaf(node):
            if isinstance(node, ast.Constant):
                return f"{width}'{'s' if signed else ''}d{node.value}"
            if self.kind == "magnitude":
                return f"{{1'b0, {bits(node.id, 30, 0)}}}"
            if self.bits_of(node.id) == width:
                return f"$signed({place(node.id)})" if signed else place(node.id)
            return f"{{{width - self.bits_of(node.id)}'d0, {place(node.id)}}}"
        left = self.written(self.left, leaf)
        if self.relation == "of":
            return " | ".join([*terms, *(f"{left} == {width}'d{number}" for number in self.numbers)])
        right = f"32'h{float_bits(2.0 ** self.exponent):08x}" if self.right is None else self.written(self.right, leaf)
        return " | ".join([*terms, f"{left} {'==' if self.relation == '=' else self.relation} {right}"])
