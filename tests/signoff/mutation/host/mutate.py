# SPDX-License-Identifier: Apache-2.0
"""Writes the host's sources with mutants inside: a process selects one by number, 0 is the source as it is.

Mutants are drawn from all that places.py finds by what they are, so that most stay where other lines change. What the
compiler refuses is no mutant.
"""

import hashlib
import json
import os
import re
import shlex

import places

HERE = os.path.dirname(os.path.abspath(__file__))
# How many from each folder whose unit tests are quick
FOLDERS = {"tiling": 75, "cycles": 75, "driver": 35, "numerics": 35, "compile": 40, "device": 30, "runtime": 5}
PROLOGUE = b'#include "tests/signoff/mutation/host/mutant.h"\n#line 1\n'


def identities(source, file):
    """Each mutant with what it is, wherever its line moves."""
    seen = {}
    for mutant in source.found:
        after = " ".join(source.text[max(0, mutant.begin - 60):mutant.begin].decode(errors="ignore").split())
        was = " ".join(source.text[mutant.begin:mutant.end].decode().split())
        name = f"{file}: {after} [{was} -> {' '.join(mutant.other.decode().split()) or 'nothing'}]"
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} #{seen[name]}"), mutant


def render(text, begin, end, mutants):
    """The source from `begin` to `end` with mutants inside; what encloses comes first in `mutants`."""
    out, at = b"", begin
    while mutants:
        first = mutants[0][1]
        same = [m for m in mutants if (m[1].begin, m[1].end) == (first.begin, first.end)]
        inside = [m for m in mutants if m not in same and m[1].begin < first.end]
        inner = render(text, first.begin, first.end, inside)
        for number, mutant in same:
            if mutant.statement:
                inner = b"if (!GEMM64_IS(%d)) { %s }" % (number, inner)
            else:
                # An optional operand of a condition would make both values optionals, which are true whatever they hold.
                of_condition = text[first.begin:first.begin + 1] == b"!" or mutant.operator[:2] in ("&&", "||")
                other = b"!!(" + mutant.other + b")" if of_condition else mutant.other
                inner = b"(GEMM64_IS(%d) ? (%s) : (%s))" % (number, other, inner)
        out += text[at:first.begin] + inner
        at = first.end
        mutants = [m for m in mutants if m[1].begin >= first.end]
    return out + text[at:end]


def ordered(numbered):
    return sorted(numbered, key=lambda m: (m[1].begin, -m[1].end, m[0]))


def refused(source, numbered):
    """The numbers of mutants that do not compile together with the rest."""
    text = render(source.text, 0, len(source.text), ordered(numbered))
    places_of = [(m.start(), int(m[1])) for m in re.finditer(rb"GEMM64_IS\((\d+)\)", text)]
    bad = set()
    for where in source.errors(text):
        before = [number for offset, number in places_of if where is not None and offset <= where]
        if not before:
            return {number for number, _ in numbered}  # cannot tell which
        bad.add(before[-1])
    return bad


def drawn(source, found, count, seed):
    """`count` of the mutants of a file, drawn by the seed, that compile."""
    rest = sorted(found, key=lambda m: hashlib.sha256((seed + m[0]).encode()).digest())
    good = []
    while rest and len(good) < count:
        # A quarter more than is needed, since some are refused
        more = (count - len(good)) * 5 // 4 + 2
        trial, rest = good + rest[:more], rest[more:]
        while trial:
            bad = refused(source, [(i, m) for i, (_, m) in enumerate(trial)])
            if not bad:
                break
            if len(bad) == len(trial) > 1:  # one by one
                bad = {i for i, (_, m) in enumerate(trial) if refused(source, [(0, m)])}
            trial = [m for i, m in enumerate(trial) if i not in bad]
        good = trial
    return good[:count]


def arguments_of(command):
    """How a file is read, without the words that libclang needs not know."""
    words, kept, i = shlex.split(command), [], 0
    while i < len(words):
        if words[i] in ("-I", "-isystem"):
            kept += words[i:i + 2]
            i += 1
        elif re.match(r"-(I|D|std=|march=|ffreestanding)", words[i]):
            kept.append(words[i])
        i += 1
    return kept + ["-w", "-ferror-limit=0", "-include", os.path.join(HERE, "mutant.h")]


def write(path, data):
    """Leaves a file that is the same untouched."""
    try:
        with open(path, "rb") as old:
            if old.read() == data:
                return
    except FileNotFoundError:
        pass
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def sources(root):
    """What is written by hand: the check that a generated file is the generator's finds any change of it."""
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(root, "host", folder))):
            if name.endswith((".cpp", ".c")):
                with open(os.path.join(root, "host", folder, name), encoding="utf-8") as file:
                    if not any(line.startswith("// Generated by") for line in file.readlines()[:3]):
                        yield folder, f"host/{folder}/{name}"


def of_file(job):
    """The mutants of one file, drawn, and the names of all it could hold; kept in a file, since headers take long to read."""
    path, file, arguments, count, seed, kept = job
    with open(path, "rb") as source:
        text = source.read()
    with open(places.__file__, "rb") as tool:
        key = hashlib.sha256(text + tool.read() + f"{file} {seed}".encode()).hexdigest()
    kept = os.path.join(kept, key + ".json")
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as known:
            wanted, chosen, names = json.load(known)
        if wanted >= count:
            return [(name, places.Mutant(b, e, o.encode(), *rest)) for name, (b, e, o, *rest) in chosen[:count]], names, text
    source = places.Source(path, arguments)
    found = list(identities(source, file))
    chosen, names = drawn(source, found, count, seed), [name for name, _ in found]
    plain = [(name, (m.begin, m.end, m.other.decode(), m.statement, m.operator)) for name, m in chosen]
    write(kept, json.dumps([count, plain, names]).encode())
    return chosen, names, text


def mutate(root, commands, build, pool, count, seed):
    """Writes the mutated sources to BUILD/source; returns the mutants, each as a dictionary, of `count` a folder, and the names of all
    that are possible. `commands`: how each source is compiled."""
    files = list(sources(root))
    sizes = {item: os.path.getsize(os.path.join(root, item[1])) for item in files}

    def job(item):
        whole = sum(size for other, size in sizes.items() if other[0] == item[0])
        wanted = max(1, round(count[item[0]] * sizes[item] / whole))
        return os.path.join(root, item[1]), item[1], arguments_of(commands[item[1]]), wanted, seed, \
            os.path.join(build, "drawn")

    mutants, names = [], []
    for (folder, file), (chosen, found, text) in zip(files, pool.map(of_file, map(job, files))):
        if found and not chosen:
            raise SystemExit(f"host-mutants: {file} compiles with none of its {len(found)} mutants")
        numbered, names = [], names + found
        for name, mutant in sorted(chosen, key=lambda m: m[1]):
            numbered.append((len(mutants) + 1, mutant))
            mutants.append({"number": len(mutants) + 1, "folder": folder, "file": file, "mutant": name,
                            "line": text.count(b"\n", 0, mutant.begin) + 1, "operator": mutant.operator,
                            "was": " ".join(text[mutant.begin:mutant.end].decode().split()),
                            "is": " ".join(mutant.other.decode().split()) or "nothing"})
        write(os.path.join(build, "source", file), PROLOGUE + render(text, 0, len(text), ordered(numbered)))
    return mutants, names
