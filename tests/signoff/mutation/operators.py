# SPDX-License-Identifier: Apache-2.0
"""Reads the statements of a Verilog module of rtl/ and says what small mistakes its expressions could hold.

A mutant is one of them, with a number; where that number is `mutant`, the module computes the mistake.
Constants, declarations, indices, checks and outputs of instances stay as they are.
"""

import re

TOKEN = re.compile(r"""\s+|//[^\n]*|`(?:ifdef|ifndef|else|endif|include|default_nettype)\b[^\n]*
    |(?P<word>`?[A-Za-z_$][\w$]*|\d+'s?[bdh][0-9a-fA-FxzXZ_]+|\d+|"[^"]*"
    |<<<|>>>|<<|>>|<=|>=|==|!=|&&|\|\||\+:|-:|\*\*|[-+*/%<>!~&|^?:(){}\[\],;=@\#.])""", re.X)
BINARY = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
          "<<": 8, ">>": 8, "<<<": 8, ">>>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
# Registers of several bits, and names with a sign
RANGE = re.compile(r"\breg +\[([^:\]]+):([^\]]+)\] +([a-z][\w, ]*)")
SIGNED = re.compile(r"\bsigned +(?:\[[^\]]+\] *)?(\w+)")
# What may stand in an operator's place; `l` and `r`: one operand alone
INSTEAD = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
           "+": ["-", "l"], "-": ["+", "l"], "&": ["|", "l", "r"], "|": ["&", "l", "r"],
           "&&": ["||", "l", "r"], "||": ["&&", "l", "r"], "^": ["|"], "*": ["+"], "<<": [">>", "l"], ">>": ["<<", "l"]}


# What is told of a module's rest
STATE = re.compile(r"(idle|quiet|busy|empty|pending)(_|$)")


class Node:
    """Source from `begin` to `end`, its parts, the texts that may stand in its place, those of them that leave out one term,
    which of these are all to be tried (`sure`), and those that leave out a register's upper bit."""

    def __init__(self, begin, end, parts=(), instead=(), drops=()):
        self.begin, self.end, self.parts, self.instead = begin, end, list(parts), list(instead)
        self.drops, self.sure, self.narrow, self.operator = list(drops), [], [], ""

    def all(self):
        yield self
        for part in self.parts:
            yield from part.all()


class Module:
    """`text` of a file; `roots` are the expressions that may be mutated."""

    def __init__(self, text):
        self.text = text
        self.tokens = []  # (word, begin, end)
        checks = False
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"cannot read {text[at:at + 30]!r}")
            if text.startswith("`ifdef GEMM64_CHECKS", at):
                checks = True
            if match["word"] and not checks:
                self.tokens.append((match["word"], match.start(), match.end()))
            if text.startswith("`endif", at):
                checks = False
            at = match.end()
        self.at = 0
        self.roots = []
        self.ranges = {name: (high, low) for high, low, names in RANGE.findall(text) for name in re.findall(r"\w+", names)}
        self.signed = set(SIGNED.findall(text))
        self.module()

    def value(self, name, node):
        """`node` is what `name` becomes: each term may be left out of what says whether the module rests, and a register of several bits
        may lack the upper one."""
        self.roots.append(node)
        if STATE.search(name):
            self.terms(node)
        source = self.text[node.begin:node.end]
        words = set(re.findall(r"(?<![\w'`$.])[a-z]\w*", source))
        # No constant, and no word that is extended with zeros; an AND would take the sign from what has one. What has 32 bits and more
        # counts further than a test does.
        if (name in self.ranges and words and not re.match(r"(3[1-9]|[4-9]\d|\d{3,})$", self.ranges[name][0])
                and not re.match(r"\{\d+'d0", source) and "$signed" not in source and not self.signed & (words | {name})):
            high, low = self.ranges[name]
            node.narrow.append(f"({source}) & {{1'b0, {{({high}) - ({low}){{1'b1}}}}}}")

    @staticmethod
    def terms(node):
        for part in node.all():
            part.sure += part.drops

    # What stands next
    def word(self, ahead=0):
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted=None):
        word, begin, end = self.tokens[self.at]
        if wanted and word != wanted:
            raise ValueError(f"{wanted!r} expected, found {word!r}: {self.text[begin - 60:end + 40]!r}")
        self.at += 1
        return begin, end

    def skip_to(self, *words):
        depth = 0
        while depth or self.word() not in words:
            depth += (self.word() in "([{") - (self.word() in ")]}")
            self.at += 1

    def words_to(self, wanted):
        return next(ahead for ahead in range(len(self.tokens)) if self.word(ahead) == wanted)

    def skip_brackets(self):
        depth = 0
        while True:
            depth += (self.word() in "([{") - (self.word() in ")]}")
            self.at += 1
            if not depth:
                return self.tokens[self.at - 1][2]

    # The module's items
    def module(self):
        while self.word() != "module":
            self.at += 1
        self.skip_to(";")
        self.header_end = self.take(";")[1]
        while self.word() != "endmodule":
            self.item()

    def item(self):
        word = self.word()
        if word in ("localparam", "parameter", "genvar", "integer", "reg"):
            self.skip_to(";")
            self.take()
        elif word == "wire":
            self.take()
            while self.word() in ("[", "signed"):
                if self.word() == "[":
                    self.skip_brackets()
                else:
                    self.take()
            while self.word() != ";":
                name = self.word()
                self.take()
                if self.word() == "[":
                    self.skip_brackets()
                if self.word() == "=":
                    self.take()
                    self.value(name, self.expression())
                if self.word() == ",":
                    self.take()
            self.take(";")
        elif word == "assign":
            self.take()
            name = self.target("=")
            self.value(name, self.expression())
            self.take(";")
        elif word == "always":
            self.take()
            self.take("@")
            if self.word() == "*":
                self.take()
            else:
                self.skip_brackets()
            self.statement()
        elif word == "(":  # an attribute
            self.skip_brackets()
        elif word == "function" and ("integer" in (self.word(1), self.word(self.words_to(";") + 2))):  # of parameters
            self.skip_to("endfunction")
            self.take()
        elif word == "function":
            self.skip_to(";")
            self.take()
            while self.word() in ("input", "reg", "integer"):
                self.skip_to(";")
                self.take()
            self.statement()
            self.take("endfunction")
        elif word in ("generate", "endgenerate", "end"):
            self.take()
        elif word == "begin":
            self.take()
            if self.word() == ":":
                self.at += 2
        elif word in ("for", "if"):  # of a generate
            self.take()
            self.skip_brackets()
        elif word == "else":
            self.take()
        else:
            self.instance()

    def instance(self):
        self.take()
        if self.word() == "#":
            self.take()
            self.skip_brackets()
        self.take()
        self.take("(")
        while self.word() != ")":
            self.take(".")
            name = self.word()
            self.take()
            self.take("(")
            if name.endswith("_i") and self.word() != ")":
                self.roots.append(self.expression())
                self.take(")")
            else:
                self.at -= 1
                self.skip_brackets()
            if self.word() == ",":
                self.take()
        self.take(")")
        self.take(";")

    def statement(self):
        word = self.word()
        if word == ";":
            self.take()
        elif word == "begin":
            self.take()
            if self.word() == ":":
                self.at += 2
            while self.word() in ("reg", "integer"):
                self.skip_to(";")
                self.take()
            while self.word() != "end":
                self.statement()
            self.take()
        elif word == "if":
            self.take()
            self.take("(")
            node = self.expression()
            self.terms(node)
            source = self.text[node.begin:node.end]
            if source != "!rst_ni" and "CLOCK_ENABLES" not in source:
                node = Node(node.begin, node.end, [node], ["1'b0", "1'b1"])
            self.roots.append(node)
            self.take(")")
            self.statement()
            if self.word() == "else":
                self.take()
                self.statement()
        elif word == "case":
            self.take()
            self.skip_brackets()
            while self.word() != "endcase":
                self.skip_to(":")
                self.take()
                self.statement()
            self.take()
        elif word == "for":
            self.take()
            self.skip_brackets()
            self.statement()
        else:
            name = self.target("=", "<=")
            self.value(name, self.expression())
            self.take(";")

    def target(self, *operators):
        """What is assigned to, where all of it is; takes the operator, too."""
        name = self.word()
        whole = self.word(1) in operators
        self.skip_to(*operators)
        self.take()
        return name if whole else ""

    # Expressions
    def expression(self):
        condition = self.binary(1)
        if self.word() != "?":
            return condition
        self.terms(condition)
        source = self.text[condition.begin:condition.end]
        condition = Node(condition.begin, condition.end, [condition], [f"!({source})"])
        self.take()
        yes = self.expression()
        self.take(":")
        no = self.expression()
        return Node(condition.begin, no.end, [condition, yes, no])

    def binary(self, least):
        left = self.unary()
        while BINARY.get(self.word(), 0) >= least:
            operator = self.word()
            begin, end = self.take()
            right = self.binary(BINARY[operator] + 1)
            a, b = self.text[left.begin:left.end], self.text[right.begin:right.end]
            if re.match(r"[A-Z_]+$", a) or re.match(r"[A-Z_]+ (==|!=) \d", a):  # a choice of parameters
                instead, drops = [], []
            else:
                drops = []
                if operator in ("&", "|", "&&", "||"):
                    drops = [a] if left.operator == operator else [a, b]
                instead = [{"l": a, "r": b}.get(i, f"{self.text[left.begin:begin]}{i}{self.text[end:right.end]}")
                           for i in INSTEAD.get(operator, [])]
            left = Node(left.begin, right.end, [left, right], instead, drops)
            left.operator = operator
        return left

    def unary(self):
        if self.word() in ("~", "!", "-", "&", "|", "^"):
            operator = self.word()
            begin, _ = self.take()
            operand = self.unary()
            instead = [self.text[operand.begin:operand.end]] if operator in "~!-" else []
            return Node(begin, operand.end, [operand], instead)
        return self.primary()

    def primary(self):
        word = self.word()
        if word == "(":
            begin, _ = self.take()
            inside = self.expression()
            node = Node(begin, self.take(")")[1], [inside])
        elif word == "{":
            begin, _ = self.take()
            parts = []
            first = self.at
            node = self.expression()
            if self.word() == "{":  # repetition: the count is a constant
                self.at = first
                self.skip_to("{")
                self.take()
                parts.append(self.list_of("}"))
                node = Node(begin, self.take("}")[1], [p for part in parts for p in part])
            else:
                parts.append(node)
                if self.word() == ",":
                    self.take()
                    parts += self.list_of("}")
                else:
                    self.take("}")
                node = Node(begin, self.tokens[self.at - 1][2], parts)
        elif re.match(r"\d+'", word):
            begin, end = self.take()
            node = Node(begin, end, [], self.other_constants(word))
        else:
            begin, end = self.take()
            node = Node(begin, end)
            if self.word() == "(":  # a function
                self.take()
                node = Node(begin, end, self.list_of(")"))
                node.end = self.tokens[self.at - 1][2]
            while self.word() in ("[", "."):  # of a vector, or a name in a generated block
                if self.word() == "[":
                    node.end = self.skip_brackets()
                else:
                    self.take()
                    node.end = self.take()[1]
        return node

    def list_of(self, closing):
        parts = []
        while True:
            parts.append(self.expression())
            if self.word() == ",":
                self.take()
            else:
                self.take(closing)
                return parts

    @staticmethod
    def other_constants(word):
        width, base, digits = re.match(r"(\d+)'(s?[bdh])([0-9a-fA-F_]+)$", word).groups()
        value = int(digits.replace("_", ""), {"b": 2, "d": 10, "h": 16}[base[-1]])
        limit = 1 << int(width)
        signed = "s" if base[0] == "s" else ""
        if not signed and value == 0 and int(width) > 1:
            return [f"{width}'d1"]
        return [f"{width}'{signed}d{other}" for other in {(value + 1) % limit, (value - 1) % limit} - {value}]
