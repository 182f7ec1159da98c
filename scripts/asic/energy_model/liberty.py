# SPDX-License-Identifier: Apache-2.0
"""Cells of a Liberty file: functions, loads, delays and energies."""

import bisect
import re


class LibertyError(Exception):
    """A file that holds no cells as they are needed here."""


class Table:
    """A value over the load of a cell's output (pF) and the transition time of its input (ns)."""

    def __init__(self, template, group):
        rows = [[float(x) for x in re.split(r"[,\s]+", row.strip()) if x] for row in group.values("values")]
        self.axes = [[float(x) for x in re.split(r"[,\s]+", text.strip()) if x]
                     for text in group.values("index_1") + group.values("index_2")]
        # Which variable comes first is the template's to say.
        self.load_first = "capacitance" in template.attribute("variable_1", "") if template else True
        self.rows = rows
        self.one = len(self.axes) == 1

    def at(self, load, slew):
        if self.one:
            return interpolate(self.axes[0], self.rows[0], load if self.load_first else slew)
        first, second = (load, slew) if self.load_first else (slew, load)
        i, part = place(self.axes[0], first)
        low = interpolate(self.axes[1], self.rows[i], second)
        return low + part * (interpolate(self.axes[1], self.rows[i + 1], second) - low)


def place(axis, value):
    """Index of the interval that holds a value, or is next to it, and how far into it the value is."""
    i = min(max(bisect.bisect_right(axis, value) - 1, 0), len(axis) - 2)
    return i, (value - axis[i]) / (axis[i + 1] - axis[i])


def interpolate(axis, values, value):
    i, part = place(axis, value)
    return values[i] + part * (values[i + 1] - values[i])


class Group:
    """A group of a Liberty file: name(arguments) { attributes and groups }"""

    def __init__(self, name, arguments):
        self.name, self.arguments, self.attributes, self.groups = name, arguments, {}, []

    def attribute(self, name, default=None):
        return self.attributes.get(name, [default])[0]

    def values(self, name):
        return self.attributes.get(name, [])

    def all(self, name):
        return [group for group in self.groups if group.name == name]


TOKEN = re.compile(r'"[^"]*"|[{}();:,]|[^\s{}();:,"]+')


def parse(text):
    """The file's outermost group."""
    tokens = TOKEN.findall(re.sub(r"\\\n", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)))
    root = Group("", [])
    stack = [root]
    i = 0
    while i < len(tokens):
        name = tokens[i]
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        if name == "}":
            stack.pop()
            i += 1
        elif following == ":":
            end = tokens.index(";", i)
            stack[-1].attributes[name] = [" ".join(tokens[i + 2:end]).strip('"')]
            i = end + 1
        elif following == "(":
            end = tokens.index(")", i)
            arguments = [token.strip('"') for token in tokens[i + 2:end] if token != ","]
            i = end + 1
            if i < len(tokens) and tokens[i] == "{":
                stack[-1].groups.append(Group(name, arguments))
                stack.append(stack[-1].groups[-1])
                i += 1
            else:
                stack[-1].attributes.setdefault(name, []).extend(arguments)
        else:
            i += 1
    return root.groups[0] if root.groups else root


def postfix(function, pins):
    """A Liberty function as steps: names of pins, and the operators ! & | ^ after what they act upon."""
    tokens = re.findall(r"\w+|[!'()&*|+^]", function)
    steps = []

    def factor(i):
        if tokens[i] == "!":
            i = factor(i + 1)
            steps.append("!")
        elif tokens[i] == "(":
            i = either(i + 1) + 1
        else:
            if tokens[i] not in pins:
                raise LibertyError(f"the function {function} names {tokens[i]}, which is no input")
            steps.append(tokens[i])
            i += 1
        while i < len(tokens) and tokens[i] == "'":
            steps.append("!")
            i += 1
        return i

    def chain(i, inner, operator, signs):
        i = inner(i)
        while i < len(tokens) and tokens[i] not in ")" and (tokens[i] in signs or (signs == "&*" and tokens[i] not in "|+^")):
            i = inner(i + (tokens[i] in signs))
            steps.append(operator)
        return i

    def different(i):
        return chain(i, factor, "^", "^")

    def both(i):
        return chain(i, different, "&", "&*")

    def either(i):
        return chain(i, both, "|", "|+")

    either(0)
    return steps


class Cell:
    """A standard cell."""

    def __init__(self, group, templates):
        self.name = group.arguments[0]
        self.area = float(group.attribute("area", 0))
        self.leakage_nw = float(group.attribute("cell_leakage_power", 0))
        self.register = bool(group.all("ff"))
        self.capacitance, self.functions = {}, {}
        self.delays = {}   # (output, input): tables of delays, then of transition times
        self.energies = []  # (pin, related pin or None, table of a rise, table of a fall)
        self.clock = None
        pins = group.all("pin")
        for pin in pins:
            if pin.attribute("direction") == "input":
                self.capacitance[pin.arguments[0]] = float(pin.attribute("capacitance", 0))
                if pin.attribute("clock") == "true":
                    self.clock = pin.arguments[0]

        def table(inner):
            return Table(templates.get(inner.arguments[0]), inner)

        for pin in pins:
            name = pin.arguments[0]
            if pin.attribute("direction") == "output":
                function = pin.attribute("function", "")
                self.functions[name] = [] if self.register or group.all("latch") or not function or \
                    pin.attribute("three_state") else postfix(function, self.capacitance)
            for timing in pin.all("timing"):
                if "cell_rise" in [inner.name for inner in timing.groups]:
                    self.delays[name, timing.attribute("related_pin")] = [
                        [table(inner) for kind in kinds for inner in timing.all(kind)]
                        for kinds in (("cell_rise", "cell_fall"), ("rise_transition", "fall_transition"))]
            for energy in pin.all("internal_power"):
                edges = [[table(inner) for inner in energy.all(kind)] for kind in ("rise_power", "fall_power")]
                if all(edges):
                    self.energies.append((name, energy.attribute("related_pin"), edges[0][0], edges[1][0]))


class Library:
    """All cells of a file. Energies are in pJ: the unit of loads times volts squared."""

    def __init__(self, path):
        with open(path, encoding="latin-1") as file:
            root = parse(file.read())
        if root.name != "library":
            raise LibertyError(f"{path}: holds no library")
        units = root.values("capacitive_load_unit")
        if [unit.lower() for unit in units] != ["1", "pf"] or root.attribute("time_unit") != "1ns":
            raise LibertyError(f"{path}: its units must be 1 pF and 1 ns")
        templates = {group.arguments[0]: group for group in root.groups if "template" in group.name}
        self.volts = float(root.attribute("nom_voltage"))
        self.cells = {cell.name: cell for cell in (Cell(group, templates) for group in root.all("cell"))}
