# SPDX-License-Identifier: Apache-2.0
"""Sums of numbers and products (Yosys' $macc) as gates: partial products, and a tree of adders that adds them in a netlist's order.

Any order gives the sum: of the bits of one weight three or two at a time are replaced by their own sum and carry. But no solver proves
two trees of different order alike, so three bits are taken where the netlist has a net like their exclusive or."""

import itertools

from .models import CONSTANTS

XOR3, MAJORITY = "{A} ^ {B} ^ {C}", "({A} & {B}) | ({A} & {C}) | ({B} & {C})"
SUMS, CARRIES, PRODUCTS = "$_XOR_", "$_OR_", "$_AND_"  # what drives an adder's sum and carry, and a partial product, in such a netlist
XOR, AND, NOT = "{A} ^ {B}", "{A} & {B}", "~{A}"


class Sum:
    """A $macc: what it adds, as (signed, subtracted, bits, bits or none, to be multiplied), and the nets of the result."""

    def __init__(self, cell):
        config = [bit == "1" for bit in reversed(cell["parameters"]["CONFIG"])]

        def number(size):
            bits, config[:size] = config[:size], []
            return sum(bit << i for i, bit in enumerate(bits))
        pins = cell["connections"]
        nets, size = list(pins["A"]), number(4)
        self.outputs, self.terms = pins["Y"], []
        while nets:
            signed, subtracted, *widths = number(1), number(1), number(size), number(size)
            self.terms.append((signed, subtracted, nets[:widths[0]], nets[widths[0]:sum(widths)]))
            nets = nets[sum(widths):]
        self.terms += [(0, 0, [net], []) for net in pins.get("B", [])]

    def inputs(self):
        return [net for _, _, a, b in self.terms for net in a + b]

    def build(self, builder):
        """The result's nets, made of a Builder's gates."""
        width = len(self.outputs)
        columns, constant = [[] for _ in range(width)], 0
        for at, net in self._bits(builder, width):
            if at < width and net in CONSTANTS:
                constant += int(CONSTANTS[net]) << at
            elif at < width:
                columns[at].append(net)
        for at, column in enumerate(columns):
            column += ["1"] * (constant >> at & 1)
        for at in range(width):
            _reduce(builder, columns, at)
        return _add(builder, columns)

    def _bits(self, builder, width):
        """(weight, net) of all that is added, from numbers of that width on."""
        for subtracted, at, word in self._words(builder, width):
            for i, net in enumerate(word[:width - at], at):
                yield i, builder.gate(NOT, A=net) if subtracted else net
            yield at, str(subtracted)  # -a is ~a + 1

    def _words(self, builder, width):
        """(subtracted, weight of its first bit, bits) of numbers and of a product's rows."""
        zeros = ["0"] * width
        for signed, subtracted, a, b in self.terms:
            if signed and b:
                a, b = max(((a, b), (b, a)), key=lambda pair: self._rows_known(builder, *pair))
            extended = a + [a[-1] if signed else "0"] * width
            if not b:
                yield subtracted, 0, extended
            for i, bit in enumerate(b):
                if signed and i == len(b) - 1:  # the sign has a negative weight
                    yield subtracted, i, [builder.gate(AND, A=builder.gate(NOT, A=net), B=bit) for net in extended]
                    yield subtracted, i, [bit] + zeros
                else:
                    yield subtracted, i, [builder.gate(AND, A=net, B=bit) for net in extended]

    @staticmethod
    def _rows_known(builder, a, b):
        return sum(builder.known(~builder.value(net) & builder.value(b[-1]), PRODUCTS) for net in a)


def _reduce(builder, columns, at):
    """Leaves two bits in a column at most; carries go to the next."""
    column = columns[at]
    carries = columns[at + 1] if at + 1 < len(columns) else []
    while True:
        nets = _alike(builder, column, at + 1 == len(columns)) or (column[:3] if len(column) > 2 else None)
        if not nets:
            return
        for net in nets:
            column.remove(net)
        column.append(builder.gate(XOR if len(nets) == 2 else XOR3, **dict(zip("ABC", nets))))
        carries.append(builder.gate(AND if len(nets) == 2 else MAJORITY, **dict(zip("ABC", nets))))


def _alike(builder, column, last):
    """Three of these nets, or two, that the netlist adds by themselves, too; None. The carry of the last column is not in it."""
    values = {net: builder.value(net) for net in column}
    for size in (3, 2):
        for nets in itertools.combinations(column, size):
            x, y, z = (*(values[net] for net in nets), 0)[:3]
            if builder.known(x ^ y ^ z, SUMS) and (last or builder.known((x & y) | (x & z) | (y & z), CARRIES)):
                return nets
    return None


def _add(builder, columns):
    carry, total = "0", []
    for column in columns:
        pins = dict(zip("ABC", [*column, "0", "0"][:2] + [carry]))
        total.append(builder.gate(XOR3, **pins))
        carry = builder.gate(MAJORITY, **pins)
    return total
