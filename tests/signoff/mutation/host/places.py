# SPDX-License-Identifier: Apache-2.0
"""Reads a C or C++ source through libclang and says what small mistakes its statements could hold.

A Mutant replaces the source from `begin` to `end` by another text: an expression by one with another operator, operand,
constant or order of arguments, or by its negation; a statement by nothing. Offsets are bytes. Left alone are constant
expressions, declarations, what is thrown and its message, and macros.
"""

import collections
import re

from clang.cindex import CursorKind, Index, TranslationUnit

Mutant = collections.namedtuple("Mutant", "begin end other statement operator")

# What may stand in an operator's place; `l` and `r`: one operand alone
INSTEAD = {
    b"==": (b"!=",), b"!=": (b"==",), b"<": (b"<=", b">="), b"<=": (b"<", b">"), b">": (b">=", b"<="), b">=": (b">", b"<"),
    b"+": (b"-", b"l"), b"-": (b"+", b"l"), b"*": (b"+", b"l"), b"/": (b"*", b"l"), b"%": (b"/", b"l"),
    b"&&": (b"||", b"l", b"r"), b"||": (b"&&", b"l", b"r"), b"&": (b"|", b"l"), b"|": (b"&", b"l"), b"^": (b"|",),
    b"<<": (b">>",), b">>": (b"<<",),
}
ASSIGNING = {b"+=": b"-=", b"-=": b"+=", b"*=": b"+=", b"/=": b"*=", b"|=": b"&=", b"&=": b"|=", b"^=": b"|=",
             b"<<=": b">>=", b">>=": b"<<="}
CONSTANT = (CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.CASE_STMT, CursorKind.CXX_THROW_EXPR,
            CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF, CursorKind.ASM_STMT, CursorKind.TYPE_ALIAS_DECL)
BRANCHES = (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.CONDITIONAL_OPERATOR)
REMOVABLE = (CursorKind.CALL_EXPR, CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
             CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT)
# Calls that only say how much is to come
HINTS = re.compile(rb"\b(reserve|shrink_to_fit)\(")


class Source:
    """The mutants of one file: `found`, sorted."""

    def __init__(self, path, arguments):
        with open(path, "rb") as file:
            self.text = file.read()
        self.path, self.found = path, set()
        self.unit = parse(path, arguments)
        wrong = [d for d in self.unit.diagnostics if d.severity >= 3]
        if wrong:
            raise RuntimeError(f"{path}: {wrong[0]}")
        for cursor in self.unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == path:
                self.visit(cursor)
        self.found = sorted(self.found)

    def errors(self, text):
        """Where the compiler refuses `text` in this file's place: offsets, None where it is elsewhere."""
        self.unit.reparse([(self.path, text.decode())])
        for diagnostic in self.unit.diagnostics:
            if diagnostic.severity >= 3:
                yield next((d.location.offset for d in (diagnostic, *diagnostic.children)
                            if d.location.file and d.location.file.name == self.path), None)

    def at(self, cursor):
        """Where an expression begins and ends, None where a macro wrote it."""
        extent = cursor.extent
        if not extent.start.file or extent.start.file.name != self.path or extent.end.offset <= extent.start.offset:
            return None
        return extent.start.offset, extent.end.offset

    def source(self, cursor):
        return self.text[slice(*self.at(cursor))]

    def add(self, cursor, other, statement=False, what=""):
        begin, end = self.at(cursor)
        if statement:  # with its semicolon
            match = re.compile(rb"\s*;").match(self.text, end)
            if not match:
                return
            end = match.end()
        if other != self.text[begin:end]:
            self.found.add(Mutant(begin, end, other, statement, what))

    def visit(self, cursor):
        kind = cursor.kind
        if kind in CONSTANT or self.at(cursor) is None:
            return
        parts = list(cursor.get_children())
        if kind == CursorKind.VAR_DECL and re.search(rb"\b(constexpr|static_assert)\b", self.head(cursor, parts)):
            return
        if kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE):
            if b"constexpr" in self.head(cursor, [p for p in parts if p.kind == CursorKind.COMPOUND_STMT]):
                return
            if not cursor.is_definition():
                return
            parts = [p for p in parts if p.kind == CursorKind.COMPOUND_STMT]
        if kind == CursorKind.IF_STMT and re.match(rb"if\s+constexpr\b", self.source(cursor)):
            for part in parts[1:]:
                self.visit(part)
            return
        self.operators(cursor, kind, parts)
        if kind in BRANCHES:
            self.branch(parts)
        if kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR):
            self.literal(cursor, kind)
        if kind == CursorKind.COMPOUND_STMT:
            for part in parts:
                if part.kind in REMOVABLE and self.at(part) and not HINTS.search(self.source(part)):
                    self.add(part, b"", statement=True, what="statement")
                if part.kind == CursorKind.RETURN_STMT and re.match(rb"return\s*$", self.source(part)):
                    self.add(part, b"", statement=True, what="return")
                if part.kind == CursorKind.IF_STMT:
                    self.early(part)
        for part in parts:
            self.visit(part)

    def head(self, cursor, parts):
        begin, end = self.at(cursor)
        places = [self.at(p)[0] for p in parts if self.at(p)]
        return self.text[max(0, begin - 10):min(places + [end])]

    def early(self, cursor):
        """An `if` that leaves: without it."""
        parts = list(cursor.get_children())
        if len(parts) == 2 and parts[1].kind in (CursorKind.RETURN_STMT, CursorKind.CONTINUE_STMT, CursorKind.BREAK_STMT):
            self.condition(parts[0], b"false", "early exit")

    def branch(self, parts):
        first = next((p for p in parts if p.kind.is_expression()), None)
        if first is not None and self.at(first):
            self.condition(first, b"!(" + self.source(first) + b")", "condition")

    def condition(self, cursor, other, what):
        if cursor.kind.is_expression() and self.at(cursor):
            self.add(cursor, other, what=what)

    def operators(self, cursor, kind, parts):
        operands = [p for p in parts if p.kind.is_expression() and self.at(p)]
        if kind == CursorKind.CALL_EXPR and len(operands) == 3:  # an operator that somebody wrote
            operands.sort(key=lambda p: self.at(p))
            left, right = operands[0], operands[2]
        elif kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR) and len(operands) == 2:
            left, right = operands
        else:
            left = None
        if left is not None and self.at(left)[1] <= self.at(right)[0]:
            operator = self.text[self.at(left)[1]:self.at(right)[0]].strip()
            a, b = self.source(left), self.source(right)
            for other in INSTEAD.get(operator, ()):
                text = {b"l": a, b"r": b}.get(other, self.between(left, right, other))
                if not (other == b"l" and self.void_left(operator, a)):
                    self.add(cursor, text, what=f"{operator.decode()} {other.decode()}")
            if operator in ASSIGNING:
                self.add(cursor, self.between(left, right, ASSIGNING[operator]), what=operator.decode())
        if kind == CursorKind.UNARY_OPERATOR and len(operands) == 1:
            if self.source(cursor)[:1] in b"!-~" and self.source(cursor)[:2] != b"--":
                self.add(cursor, self.source(operands[0]), what="unary")
        if kind == CursorKind.CALL_EXPR:
            self.swap(cursor)

    @staticmethod
    def void_left(operator, left):
        """`out << x` prints: its left operand is no value."""
        return operator == b"<<" and not re.match(rb"[\w.:{}()\s]*\d", left)

    def between(self, left, right, operator):
        (begin, middle), (rest, end) = self.at(left), self.at(right)
        spaces = re.match(rb"(\s*)\S+(\s*)", self.text[middle:rest])
        return self.text[begin:middle] + spaces[1] + operator + spaces[2] + self.text[rest:end]

    def swap(self, cursor):
        """Two arguments side by side that have one type."""
        arguments = [a for a in cursor.get_arguments() if a is not None and self.at(a)]
        begin, end = self.at(cursor)
        for first, second in zip(arguments, arguments[1:]):
            (a, b), (c, d) = self.at(first), self.at(second)
            if begin < a < b <= c < d <= end and self.text[b:c].strip() == b"," and \
                    first.type.get_canonical().spelling.replace("const ", "") == \
                    second.type.get_canonical().spelling.replace("const ", ""):
                if re.search(rb"\b(min|max|gcd|lcm|smaller)\b[^(]*\($", self.text[begin:a]):
                    continue  # the order does not matter
                self.add(cursor, self.text[begin:a] + self.text[c:d] + self.text[b:c] + self.text[a:b] + self.text[d:end],
                         what="arguments")

    def literal(self, cursor, kind):
        text = self.source(cursor)
        if kind == CursorKind.CXX_BOOL_LITERAL_EXPR:
            self.add(cursor, {b"true": b"false", b"false": b"true"}.get(text, text), what="constant")
        elif kind == CursorKind.FLOATING_LITERAL:
            self.add(cursor, b"(" + text + b" + 1)", what="constant")
        else:
            match = re.fullmatch(rb"(0[xX][0-9a-fA-F']+|[\d']+)([uUlL]*)", text)
            if match:
                value = int(match[1].replace(b"'", b""), 0)
                for other in {value + 1, max(value - 1, 0)} - {value}:
                    self.add(cursor, str(other).encode() + match[2], what="constant")


def parse(path, arguments):
    """The file, with its headers kept for a second look at another text."""
    options = TranslationUnit.PARSE_PRECOMPILED_PREAMBLE | 0x100  # kept from the first time on
    return TranslationUnit.from_source(path, args=arguments, options=options, index=Index.create())
