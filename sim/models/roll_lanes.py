# SPDX-License-Identifier: Apache-2.0
"""Rolls what Verilator writes once for each of 64 lanes into loops over them, which the compiler vectorizes.

Verilator unrolls loops of the RTL, for (c = 0; c < N; c = c + 1), into statements that differ only in constant indexes, and
keeps their variables in memory. A run of such statements becomes
    GEMM64_LANES (std::size_t lane = 0; lane < 64; ++lane) { ... }
of sim/models/lanes.hpp if
  each statement, an assignment or an if with assignments, occurs once for each lane, and its indexes advance by a constant;
  lanes have no value in common: each variable without an index is set before it is used in the same lane, and each
    element that is set belongs to one lane;
  all values are still computed from the same: the last assignment before each use is the same as in the run.
Variables without an index are local to the loop, and stored after it only if other statements use them. Statements that share
none of them get a loop of their own, so that the width of one does not decide how many lanes of the other fit a vector.
Bytes of wide words, which Verilator masks and shifts, count as elements.
"""
import collections
import re

LANES = 64
NUMBER = r"(?:0x[0-9a-f]+|\d+)U"
VARIABLE = re.compile(rf"vlSelf->(\w+(?:\.bytes)?)(?:\[({NUMBER})\])?(\[)?")
ASSIGNMENT = re.compile(rf"vlSelf->(\w+(?:\.bytes)?)(?:\[({NUMBER})\])?=([^=].*)")
HOLE = re.compile(rf"\[({NUMBER})\]")
FUNCTION = re.compile(r"VL_[A-Z]+_[IQ]{2,3}|[ISCQ]Data|VL_UNLIKELY")  # of values, without effects
DECLARATION = re.compile(r"^ *([CSIQ]Data|VlWide<\d+>)/\*\d+:0\*/ (\w+);", re.MULTILINE)
TABLE = re.compile(r"^ *VlUnpacked<VlWide<(\d+)>/\*\d+:0\*/, \d+> (\w+);", re.MULTILINE)
LONGEST = 5000  # characters of an assignment
BYTE = r"\(0xffU&"
# What Verilator writes for a byte of a wide word, all other bits of which are masked later.
LOW_BYTE = re.compile(rf"{BYTE}\((?:vlSelf->(\w+)\[({NUMBER})\]|\(\(vlSelf->(\w+)\[({NUMBER})\]<<(0x18U|0x10U|8U)\)"
                      rf"\|\(vlSelf->\3\[\4\]>>(8U|0x10U|0x18U)\)\))(?=\^)")

# A statement: its place; its text without white space; what is used before it is set, what is set, and what may be set.
Statement = collections.namedtuple("Statement", "begin end text reads writes maybe")


class Block:
    """What braces enclose, or the file. parts: (begin, end) of statements, and blocks."""

    def __init__(self, begin, body):
        self.begin, self.body, self.end, self.parts = begin, body, None, []


def parse(source):
    """Returns the source as a block, or none if its braces do not match."""
    blocks, begin = [Block(0, 0)], 0
    for match in re.finditer("[;{}]", source):
        if match.group() == ";":
            blocks[-1].parts.append((begin, match.end()))
        elif match.group() == "{":
            block = Block(begin, match.end())
            blocks[-1].parts.append(block)
            blocks.append(block)
        elif len(blocks) == 1:
            return None
        else:
            blocks.pop().end = match.end()
        begin = match.end()
    return blocks[0] if len(blocks) == 1 else None


def number(text):
    return int(text.rstrip("U"), 0)


def constant(value):
    return f"{value}U" if value < 10 else f"0x{value:x}U"


class Roller:
    """types: of each variable of the model without an index. tables: of each array of wide words, the words of 32 bits in one."""

    def __init__(self, types, tables):
        self.types, self.tables = types, tables
        self.loops = []  # of each: begin, end, its text as a function of the variables to store
        self.copies = {}  # of each copy of a table's word: the table, its index, and how many statements were read before it

    # Statements

    def bytes_read(self, text):
        """The text with bytes of wide words as elements."""
        def element(match):
            name = match.group(1) or match.group(3) or match.group(6)
            if not self.types.get(name, "").startswith("VlWide"):
                return match.group()
            word = number(match.group(2) or match.group(4) or match.group(7))
            byte = 3 if match.group(6) else {None: 0, "8U": 1, "0x10U": 2}[match.group(5)]
            return f"(IData)(vlSelf->{name}.bytes[{constant(4 * word + byte)}])"
        def low_byte(match):
            name, word = match.group(1) or match.group(3), number(match.group(2) or match.group(4))
            byte = number(match.group(6) or "0U")
            if not self.types.get(name, "").startswith("VlWide") or (match.group(5) and number(match.group(5)) + byte != 32):
                return match.group()
            return f"(0xffU&((IData)(vlSelf->{name}.bytes[{constant(4 * word + byte // 8)}])"
        text = LOW_BYTE.sub(low_byte, text)
        return re.sub(rf"\(0xffU&vlSelf->(\w+)\[({NUMBER})\]\)|\(0xffU&\(vlSelf->(\w+)\[({NUMBER})\]>>(8U|0x10U)\)\)"
                      rf"|\(vlSelf->(\w+)\[({NUMBER})\]>>0x18U\)", element, text)

    def bytes_written(self, text):
        """The text, of an assignment to a byte of a wide word, with the byte as an element."""
        match = re.fullmatch(rf"vlSelf->(\w+)\[({NUMBER})\]=\(\((0x[0-9a-f]+)U&vlSelf->\1\[\2\]\)\|(\(.*\))\);", text)
        if not match or not self.types.get(match.group(1), "").startswith("VlWide"):
            return text
        name, word, value = match.group(1), number(match.group(2)), match.group(4)
        byte = {0xffffff00: 0, 0xffff00ff: 1, 0xff00ffff: 2, 0x00ffffff: 3}.get(int(match.group(3), 0))
        left, operator, right = operands(value)
        if byte is None or operator is None:
            return text
        if (left, operator) == (f"0x{0xff << 8 * byte:x}U", "&"):
            value = right
        elif byte != 3:
            return text
        value = shifted_back(value, 8 * byte)
        return text if value is None else f"vlSelf->{name}.bytes[{constant(4 * word + byte)}]={value};"

    def assignment(self, begin, end, text):
        """Returns the statement, or none if it is no assignment whose effects are known."""
        text = self.bytes_read(self.bytes_written(text))
        match = ASSIGNMENT.fullmatch(text)
        if not match or re.search(r"[^=!<>]=(?!=)|\+\+|--", match.group(3)):
            return None
        reads = self.uses(match.group(3))
        return None if reads is None else Statement(begin, end, text, reads, {(match.group(1), match.group(2))}, set())

    def uses(self, text):
        """The variables, or none if there is anything else. Those without a constant index, or with two, are all of an array."""
        if set(re.findall(r"\b[A-Za-z_]\w*", VARIABLE.sub("", text))) - set(FUNCTION.findall(text)):
            return None
        return {(match.group(1), "all" if match.group(3) else match.group(2)) for match in VARIABLE.finditer(text)}

    def branch(self, source, block):
        if not block.parts or any(isinstance(part, Block) for part in block.parts):
            return None
        statements = [self.assignment(*part, compact(source[part[0]:part[1]])) for part in block.parts]
        if None in statements:
            return None
        reads, writes = set(), set()
        for statement in statements:
            reads |= statement.reads - writes
            writes |= statement.writes
        return reads, writes, "".join(statement.text for statement in statements)

    def condition(self, source, block, other):
        """Returns an if with its else, or none."""
        condition = re.fullmatch(r"if\((.*)\)\{", compact(source[block.begin:block.body]))
        reads = self.uses(condition.group(1)) if condition else None
        branches = [self.branch(source, part) for part in (block, other) if part] if reads is not None else [None]
        if None in branches:
            return None
        writes = branches[0][1] & branches[1][1] if other else set()
        maybe = set().union(*(branch[1] for branch in branches)) - writes
        text = f"if({condition.group(1)}){{{'}else{'.join(branch[2] for branch in branches)}}}"
        return Statement(block.begin, (other or block).end, text, reads.union(*(branch[0] for branch in branches)), writes, maybe)

    # Runs

    def roll(self, source):
        """Returns the places of loops in the source, and their texts as functions of the variables to store."""
        root = parse(source)
        self.loops = []
        if root:
            self.roll_block(source, root)
        return self.loops

    def roll_block(self, source, block):
        """Finds runs in a block, and in those in it that are no statement of a run."""
        statements = self.statements(source, block)
        shapes = [statement and HOLE.sub("[]", statement.text) for statement, _ in statements]
        counts = collections.Counter(shapes)
        run, moved, rolled, seen = [], [], set(), collections.Counter()
        for at, shape in enumerate(shapes):
            statement, blocks = statements[at]
            if shape is None or counts[shape] < LANES:
                if run and statement and blocks and all(independent(statement, statements[i][0]) for i in run):
                    moved.append(at)  # to before the run
                else:
                    run, moved, seen = [], [], collections.Counter()
                continue
            run.append(at)
            seen[shape] += 1
            if all(count == LANES for count in seen.values()):
                loop = self.loop([statements[i][0] for i in run], [shapes[i] for i in run])
                if loop:
                    rolled.update(run + moved)
                    before = [self.moved(source, statements[i][0], statements[i][1]) for i in moved]
                    self.loops.append((statements[run[0]][0].begin, statements[run[-1]][0].end,
                                       lambda stored, parts=(*before, loop): "".join(part(stored) for part in parts)))
            if seen[shape] > LANES or all(count == LANES for count in seen.values()):
                run, moved, seen = [], [], collections.Counter()
        for at, (_, blocks) in enumerate(statements):
            if at not in rolled:
                for inner in blocks:
                    self.roll_block(source, inner)

    def statements(self, source, block):
        """Returns what the block consists of: statements, or none where their effects are not known, and the blocks in each."""
        parts, statements, at = block.parts, [], 0
        while at < len(parts):
            part, other = parts[at], None
            at += 1
            if isinstance(part, Block):
                following = parts[at] if at < len(parts) else None
                if isinstance(following, Block) and compact(source[following.begin:following.body]) == "else{":
                    other = following
                    at += 1
                statements.append((self.condition(source, part, other), [part, other] if other else [part]))
                continue
            text = compact(source[part[0]:part[1]]) if part[1] - part[0] < LONGEST else ""
            copied = self.copy(source, parts, at - 1, text, len(statements))
            if copied:
                at += copied - 1  # the next statement's place begins after the one before
                continue
            statements.append((self.assignment(*part, self.looked_up(text, statements)), []))
        return statements

    def copy(self, source, parts, at, text, before):
        """Returns the number of statements that copy a word of a table to a variable which one lookup uses, or 0."""
        first = re.fullmatch(r"(__Vtemp_\w+)\[0U\]=vlSelf->(\w+)\[(.*)\]\[0U\];", text)
        if not first:
            return 0
        copy, table, index = first.groups()
        count = self.tables.get(table, 0)
        run = [compact(source[part[0]:part[1]]) for part in parts[at:at + count] if not isinstance(part, Block)]
        expected = [f"{copy}[{constant(word)}]=vlSelf->{table}[{index}][{constant(word)}];" for word in range(count)]
        if not count or run != expected or source.count(f"{copy}[") != count + 2:
            return 0
        self.copies[copy] = table, index, count, before
        return count

    def looked_up(self, text, statements):
        """The text with a byte of a table in place of one of a copy of its word, if nothing that both depend on was set since."""
        found = re.search(r"(__Vtemp_\w+)\[\(0x[0-9a-f]+U&\((.*?)>>2U\)\)\]>>", text)
        if not found or found.group(1) not in self.copies:
            return text
        copy, at = found.groups()
        table, index, words, before = self.copies[copy]
        low = f"(0x18U&({at}<<3U))"
        byte = (f"(((0U=={low})?0U:({copy}[(((IData)(7U)+({constant(32 * words - 8)}&({at}<<3U)))>>5U)]<<((IData)(0x20U)-{low})))"
                f"|({copy}[({constant(words - 1)}&({at}>>2U))]>>{low}))")
        uses, since = self.uses(f"{index}{at}"), [statement for statement, _ in statements[before:]]
        masked = re.fullmatch(rf"(.*=\(0xffU&\(.*\?){re.escape(byte)}(:.*\)\);)", text)
        if not masked or uses is None or None in since or names(uses | {(table, None)}) & names(
                key for statement in since for key in statement.writes | statement.maybe):
            return text
        return f"{masked.group(1)}(IData)(vlSelf->{table}.bytes[({constant(4 * words)}*{index}+({constant(4 * words - 1)}&{at}))]){masked.group(2)}"

    def moved(self, source, statement, blocks):
        """The text of an if, with loops in it, as a function of the variables to store."""
        outside, self.loops = self.loops, []
        for block in blocks:
            self.roll_block(source, block)
        inside, self.loops = sorted(self.loops, key=lambda loop: loop[0]), outside
        return lambda stored: with_loops(source, inside, stored, statement.begin, statement.end)

    def loop(self, run, shapes):
        """Returns the text of the loops as a function of the variables to store, or none."""
        lanes = collections.defaultdict(list)
        for i, shape in enumerate(shapes):
            lanes[shape].append(i)
        lane_of = {i: lane for places in lanes.values() for lane, i in enumerate(places)}
        texts = {shape: self.text_of([run[i].text for i in places]) for shape, places in lanes.items()}
        if None in texts.values() or not separate(run, lane_of):
            return None
        local = {name for statement in run for name, index in statement.writes | statement.maybe if index is None}
        if any(self.types.get(name) not in ("CData", "SData", "IData", "QData") for name in local):
            return None
        groups = connect(run, lanes, local)
        if not same_values(run, [places[lane] for group in groups for lane in range(LANES) for places in (lanes[shape] for shape in group)]):
            groups = [list(lanes)]
            if not same_values(run, [lanes[shape][lane] for lane in range(LANES) for shape in lanes]):
                return None
        return lambda stored: "".join(self.write([texts[shape] for shape in group], local, stored) for group in groups)

    @staticmethod
    def text_of(texts):
        """The text of a statement with indexes as functions of the lane, or none."""
        columns = list(zip(*(map(number, HOLE.findall(text)) for text in texts)))
        for values in columns:
            step = values[1] - values[0]
            if any(value != values[0] + step * lane for lane, value in enumerate(values)):
                return None
        indexes = iter(columns)

        def index(_):
            values = next(indexes)
            first, step = values[0], values[1] - values[0]
            moved = "lane" if step == 1 else f"{step} * lane"
            return f"[{constant(first)}]" if step == 0 else f"[{first} + {moved}]" if first else f"[{moved}]"
        return HOLE.sub(index, texts[0])

    def write(self, texts, local, stored):
        text = "\n".join(texts)
        used = {match.group(1): match.group(0) for match in VARIABLE.finditer(text)}
        plain = [name for name, whole in used.items() if whole == f"vlSelf->{name}"]
        temporaries = [name for name in plain if name in local]
        lines = [f"const auto {name} = vlSelf->{name};" for name in plain if name not in local]
        lines += [f"{self.types[name]} {name};" for name in temporaries if name in stored]
        lines += ["GEMM64_LANES (std::size_t lane = 0; lane < 64; ++lane) {"]
        lines += [f"    {self.types[name]} {name};" for name in temporaries if name not in stored]
        text = re.sub(r"vlSelf->(\w+)\.bytes", r"gemm64::bytes_of(vlSelf->\1)", text)
        for name in plain:
            text = re.sub(rf"vlSelf->{name}\b(?!\[)", name, text)
        lines += [f"    {line}" for line in text.splitlines()] + ["}"]
        lines += [f"vlSelf->{name} = {name};" for name in temporaries if name in stored]
        return "".join(f"\n    {line}" for line in ["{"] + lines + ["}"])


def compact(text):
    return re.sub(r"\s+", "", re.sub(r"//[^\n]*\n", "", text))


def names(keys):
    return {name.split(".")[0] for name, _ in keys}


def independent(statement, other):
    """Is the order of both without effect?"""
    sets = [(names(one.writes | one.maybe), names(one.reads | one.writes | one.maybe)) for one in (statement, other)]
    return not (sets[0][0] & sets[1][1] or sets[1][0] & sets[0][1])


def with_loops(source, loops, stored, begin, end):
    """The source from begin to end with the loops in place of what they replace."""
    pieces = []
    for start, after, loop in loops:
        pieces += [source[begin:start], loop(stored)]
        begin = after
    return "".join(pieces + [source[begin:end]])


def operands(text):
    """Returns the left side, the operator and the right side of an expression in parentheses; of another one, nothing for each."""
    depth, found = 0, []
    for at, character in enumerate(text.replace("->", "..")):
        depth += (character == "(") - (character == ")")
        if depth == 0 and at + 1 < len(text):
            return None, None, None
        if depth == 1 and at > 0 and character in "<>&|^?:=!+-*/%~,":
            found.append(at)
    operator = re.match(r"<<|[&|^]", text[found[0]:]) if found else None
    if not operator or len(found) != len(operator.group()):  # nothing but one of these
        return None, None, None
    return text[1:found[0]], operator.group(), text[found[0] + len(operator.group()):-1]


def shifted_back(text, bits):
    """Returns an expression whose bits from 0 on are those of the text from `bits` on, or none."""
    left, operator, right = operands(text)
    if bits == 0:
        return text
    if operator == "<<" and re.fullmatch(NUMBER, right) and number(right) >= bits:
        return left if number(right) == bits else f"({left}<<{constant(number(right) - bits)})"
    if operator in ("&", "|", "^"):
        sides = shifted_back(left, bits), shifted_back(right, bits)
        return None if None in sides else f"({sides[0]}{operator}{sides[1]})"
    return None


def separate(run, lane_of):
    """Does each element that is set belong to one lane? Else, and with indexes that are not known, lanes could depend on each other."""
    written = names(key for statement in run for key in statement.writes | statement.maybe)
    owner, forms = {}, {}
    for i, statement in enumerate(run):
        for name, index in statement.reads | statement.writes | statement.maybe:
            if name.split(".")[0] not in written:
                continue
            form = (name, index is None)
            if index == "all" or forms.setdefault(name.split(".")[0], form) != form:
                return False
            if index is not None and owner.setdefault((name, index), lane_of[i]) != lane_of[i]:
                return False
    return same_values(run, range(len(run)), lane_of)


def same_values(run, order, lane_of=None):
    """In this order, is each variable that is used of the same assignment as in the order of the run, and are the last ones the
    same? lane_of: instead, is each variable without an index that is used, and set by the run, of the lane's own?"""
    def values(places):
        last, seen = {}, {}
        for i in places:
            statement = run[i]
            seen[i] = {key: last.get(key) for key in statement.reads | statement.maybe}
            for key in statement.writes | statement.maybe:
                last[key] = i
        return seen, last
    expected, last = values(range(len(run)))
    if lane_of is not None:
        local = {key for key in last if key[1] is None}
        return all(key not in local or (of is not None and lane_of[of] == lane_of[i])
                   for i, seen in expected.items() for key, of in seen.items())
    return values(order) == (expected, last)


def connect(run, lanes, local):
    """Returns the shapes in groups that have no variable of the loop in common."""
    groups = []
    for shape, places in lanes.items():
        statement = run[places[0]]
        names = {name for name, _ in statement.reads | statement.writes | statement.maybe if name in local}
        joined = [group for group in groups if group[1] & names]
        groups = [group for group in groups if not group[1] & names]
        groups.append(([s for group in joined for s in group[0]] + [shape], names.union(*(group[1] for group in joined))))
    order = list(lanes)
    return sorted((sorted(shapes, key=order.index) for shapes, _ in groups), key=lambda shapes: order.index(shapes[0]))


def roll(texts, header):
    """Returns the texts with loops, and the number of loops. header: Verilator's, which declares the variables."""
    types = {match.group(2): match.group(1) for match in DECLARATION.finditer(header)}
    roller = Roller(types, {match.group(2): int(match.group(1)) for match in TABLE.finditer(header)})
    found = [sorted(roller.roll(text), key=lambda loop: loop[0]) for text in texts]
    rest, inside = [], []
    for text, loops in zip(texts, found):
        begin = 0
        for start, end, loop in loops:
            rest.append(text[begin:start])
            inside.append(loop(()))
            begin = end
        rest.append(text[begin:])
    # A loop reads those of another's variables that are not its own from the model.
    used = set(re.findall(r"vlSelf->(\w+)", "".join(rest + inside)))
    return [with_loops(text, loops, used, 0, len(text)) for text, loops in zip(texts, found)], sum(map(len, found))
