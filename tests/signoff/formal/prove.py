#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves what the files of this folder state of the RTL: each is a module around one of the design's,
with assumptions and assertions, read by Yosys and decided by an SMT solver.

Lines in a file's head say how it is proved:
  // prove induction 2, cover 20; N=2 N=4,ROWS=2     steps, and the parameters of each variant
  // prove structure 0; N=2    of gemm64 itself: no path from an input to an output, no second driver, no latch, no loop
  // prove reach 40; N=2    for that many cycles after reset fails_o stays 0, and each bit of covers_o rises (decided by ABC)
  // probe x = dut.x_q [where N=2]                   wire x of the proof is this register of the design
A proof names only the ports of its `dut` that it treats in some way: `.*` at the end of the instance stands for all others, of which
each input x_i is an input of the proof, hence anything, and each output x_o (m_x_o, s_axil_x_o) its wire x.
More lines of the head:
  // cut dut.x [where N=2]  the net x of the design takes any value, and what drives it is left out
  // feed y[8] to gemm64_x.u_z.p at dut.u_x          port p of u_z in gemm64_x gets the proof's y, of 8 bits
  // unreduced where N=2    ABC does not merge equal registers first, where that takes longer than the question
  // registers zero         what has no reset begins as 0, not as anything
  // multiplication any     no multiplier is looked into: the proof holds for every function in its place
  // one by one                                      the induction of each assertion is a question of its own
  // short                                           belongs to the short set, which `make test` runs
  // break gemm64_x.v: was -> is                     with this change to the RTL the proof must fail: `prove --break`
An induction proves the assertions for all time; a bound (`prove bound 30`) for that many cycles after
reset. A cover shows that the assumptions leave room for what the proof is about; besides those that a
file has of its own, `--cover` has each assertion reached, with all that it is conditional on.
Seconds are processor time, so that a busy machine counts no more than a quiet one.
Bitwuzla, which a virtual environment holds, is the solver; where there is none, cvc5 is, which takes
a hundred times as long.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts"))
from problem import Problem  # noqa: E402

SECONDS = 900  # of a processor, for one question to the solver
GOAL = 20 * 60  # for all of it, on two processors
TRACE = False   # of what fails
COVER = False   # each assertion must be reached
BITWUZLA = "0.9.1"
HERE = os.path.dirname(os.path.abspath(__file__))
RTL = os.path.join(HERE, "..", "..", "..", "rtl")
HEAD = re.compile(r"^// prove (.*)$", re.M)
ANY = re.compile(r"^// multiplication any$", re.M)
BREAK = re.compile(r"^// break (\S+): (.*?) -> (.*)$", re.M)
ONE_BY_ONE = re.compile(r"^// one by one$", re.M)
SHORT = re.compile(r"^// short$", re.M)
CUT = re.compile(r"^// cut (\S+)(?: where (\S+))?$", re.M)
FEED = re.compile(r"^// feed (\w+)\[(\d+)\] to (\w+)\.(\w+)\.(\w+) at (\S+)$", re.M)
ZERO = re.compile(r"^// registers zero$", re.M)
UNREDUCED = re.compile(r"^// unreduced where (\S+)$", re.M)
COVERS = re.compile(r"\bassert \(")
REACHED = re.compile(r"\bReached cover statement")
ASSERTED = re.compile(r"Output\s+(\d+) (?:of miter \S+ )?was asserted in frame")
UNREACHED = re.compile(r"Unreached cover statement at \S+\.sv:(\d+)\.")
DUT = re.compile(r"^    (gemm64\w*) (?:#\((.*?)\) )?dut \(([^;]*?)\.\*\s*\);", re.M | re.S)
PARAMETER = re.compile(r"^ +parameter +(?:\[\S+\] +)?(\w+) *= *([^,/\n]+)", re.M)
PORT = re.compile(r"\b(input|output) +(?:wire|reg) +(signed +)?(\[.*?\])? *(\w+)")
COMMENT = re.compile(r"//.*")
CONNECTION = re.compile(r"\.(\w+) ?\(")
PREFIX = re.compile(r"^(m_|s_axil_)")
PROBE = re.compile(r"^// probe (\S+) = (\S+?)(?: where (\S+))?$", re.M)


def variants(text, file):
    found = HEAD.findall(text)
    if not found:
        raise Problem(f"{file}: no line '// prove ...' says how it is proved")
    for line in found:
        modes, _, parameters = line.partition(";")
        steps = dict(part.split() for part in modes.split(","))
        for variant in parameters.split() or [""]:
            yield {m: int(n) for m, n in steps.items()}, variant


def bitwuzla(build):
    """The folder of a program `bitwuzla` for yosys-smtbmc, None where it cannot be installed."""
    venv, folder = os.path.join(build, "venv"), os.path.join(build, "bin")
    python = os.path.join(venv, "bin", "python")
    wanted = f"import importlib.metadata as m; assert m.version('bitwuzla') == '{BITWUZLA}'"
    if not os.path.exists(python) or subprocess.run([python, "-c", wanted], check=False,
                                                    capture_output=True).returncode:
        for command in ([sys.executable, "-m", "venv", "--clear", venv],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                         f"bitwuzla=={BITWUZLA}"]):
            if subprocess.run(command, check=False).returncode:
                return None
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "bitwuzla")
    with open(program, "w", encoding="utf-8") as out:
        out.write(f"#!/bin/sh\nexec '{os.path.abspath(python)}' '{HERE}/solver.py'\n")
    os.chmod(program, 0o755)
    return os.path.abspath(folder)


class Run:
    """A command that has ended: its code, its output, and the processor seconds that it took."""

    def __init__(self, command, log, path=None, multiplication=""):
        clock = f"{log}.seconds"  # the solvers' own, which yosys-smtbmc does not wait for
        if os.path.exists(clock):
            os.remove(clock)
        environment = {**os.environ, "PROVE_MULTIPLICATION": multiplication, "PROVE_SECONDS": clock}
        if path:
            environment["PATH"] = path + os.pathsep + os.environ["PATH"]
        with open(log, "w", encoding="utf-8") as out:
            # pylint: disable-next=consider-using-with
            child = subprocess.Popen(["prlimit", f"--cpu={SECONDS}", *command], stdout=out, stderr=subprocess.STDOUT,
                                     env=environment)
            _, status, usage = os.wait4(child.pid, 0)
        self.code = child.returncode = os.waitstatus_to_exitcode(status)
        with open(log, encoding="utf-8") as file:
            self.output = file.read()
        self.seconds = usage.ru_utime + usage.ru_stime
        if os.path.exists(clock):
            with open(clock, encoding="utf-8") as file:
                self.seconds += sum(float(line) for line in file)
            os.remove(clock)

    def passed(self):
        return self.code == 0 and "PASSED" in self.output


def sources_of(rtl):
    """The accelerator's modules, and those of a board around it."""
    return sorted(glob.glob(os.path.join(rtl, "*.v")) + glob.glob(os.path.join(rtl, "board", "*.v")))


def broken(build, number, file, was, now):
    """A folder with the RTL but for one change."""
    folder = os.path.join(build, f"broken{number}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(RTL, folder)
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.count(was) != 1:
        raise Problem(f"'{was}' is {text.count(was)} times in {file}; a break must name one place")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.replace(was, now))
    return folder


def with_covers(text):
    """The file with a cover at each assertion, which is reached where all that the assertion is conditional on is."""
    for match in reversed(list(COVERS.finditer(text))):
        end, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = f"{text[:match.start()]}begin {text[match.start():end]}; cover (1'b1); end{text[end + 1:]}"
    return text


def overrides(text):
    """Name and value of each `.NAME(value)` in a list of parameters."""
    found = {}
    for match in CONNECTION.finditer(text or ""):
        end, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found[match[1]] = text[match.end():end - 1]
    return found


def with_ports(text, rtl):
    """The file with the ports for which `.*` stands, on the lines where they are needed: a line keeps its number."""
    instance = DUT.search(text)
    if not instance:
        return text
    with open(next(path for path in sources_of(rtl) if os.path.basename(path) == instance[1] + ".v"), encoding="utf-8") as source:
        head = COMMENT.sub("", source.read().partition("\n);")[0])
    defaults, given = dict(PARAMETER.findall(head)), overrides(instance[2])

    def in_proof(bits):
        return re.sub(r"(?<!`)\b[A-Z]\w*\b", lambda m: f"({given[m[0]]})" if m[0] in given else
                      f"({in_proof(defaults[m[0]])})" if m[0] in defaults else m[0], bits)

    named = {match[1] for match in CONNECTION.finditer(instance[3])}
    inputs, wires, connections = [], [], []
    for direction, signed, bits, port in PORT.findall(head):
        if port in named:
            continue
        wire = PREFIX.sub("", port)
        if direction == "output":
            wire = wire[:-len("_o")]
            wires.append(f"wire {signed}{in_proof(bits)} {wire};")
        elif not re.search(rf"^    input wire [^;\n]*\b{wire}\b", text, re.M):
            inputs.append(f"input wire {signed}{in_proof(bits)} {wire}")
        connections.append(f".{port} ({wire})")
    end = instance.end(3)
    text = f"{text[:end]}{', '.join(connections)}{text[end + len('.*'):]}"
    text = f"{text[:instance.start()]}{' '.join(wires)}{text[instance.start():]}"
    begin = re.search(r"^module \w+(?: #\(.*?\n\))? \(", text, re.M | re.S).end()
    rest = text[begin:].lstrip()
    separator = "" if not inputs or rest.startswith(")") else ", "
    include = '`include "gemm64_defs.vh" ' if "`" in "".join(inputs + wires) else ""
    return f"{include}{text[:begin]}{', '.join(inputs)}{separator}{text[begin:]}"


def model(file, text, top, variant, stem, rtl):
    """Writes the model of a proof for the solver; the processor seconds that it took."""
    text = with_ports(text, rtl)
    source = f"{stem}.sv"
    with open(source, "w", encoding="utf-8") as out:
        out.write(with_covers(text) if COVER else text)
    sources = sources_of(rtl)
    parts = set(variant.split(","))

    def chosen(where):
        return not where or set(where.split(",")) <= parts
    probes = [f"connect -nounset -set {name} {path}" for name, path, where in PROBE.findall(text) if chosen(where)]
    feeds, fed = [], []
    for wire, bits, module, instance, port, path in FEED.findall(text):
        feeds += [f"select *\\\\{module}", f"add -wire given_{wire} {bits}", f"connect -port {instance} {port} given_{wire}",
                  "select -clear"]
        fed.append(f"connect -nounset -set {path}.given_{wire} {wire}")
    cuts = [f"cutpoint w:{path}" for path, where in CUT.findall(text) if chosen(where)]
    parameters = " ".join(f"-chparam {p.replace('=', ' ')}" for p in variant.split(",") if p)
    small = ["opt_clean -purge", "memory_map", *(["setundef -init -zero"] if ZERO.search(text) else []),
             "opt -full", "wreduce", "opt -full", "opt_clean -purge"]
    script = [f"read_verilog -formal -I{rtl} -I{rtl}/board -defer {' '.join(sources)}",
              f"read_verilog -formal -sv -I{rtl} -I{HERE} -defer {source}",
              f"hierarchy -check -top {top} {parameters}", "proc", *feeds, "flatten", *fed, *cuts,
              *([*probes, *small] if cuts else
                ["memory_map", *probes] if "entries" in text else [*probes, "memory -nomap -nordff"]),
              "opt_clean", "async2sync",
              "setundef -undriven -anyseq", "opt -keepdc", "dffunmap",
              f"write_smt2 -wires {stem}.smt2"]
    if "fails_o" in text:
        script[-4:] = ["setundef -undriven -anyseq", "dffunmap", "techmap", "opt_expr", "opt_clean -purge", "dffunmap",
                       "aigmap", "opt_clean -purge", "setundef -zero", f"write_aiger -zinit -miter {stem}.aig"]
    with open(f"{stem}.ys", "w", encoding="utf-8") as out:
        out.write("\n".join(script) + "\n")
    yosys = Run(["yosys", "-q", "-s", f"{stem}.ys"], f"{stem}.yosys.log")
    if yosys.code != 0:
        raise Problem(f"{file}: Yosys refuses it:\n{yosys.output[-2000:]}")
    return yosys.seconds


def structure(name, count, variant, stem, rtl):
    """Yosys' answer for gemm64 as it is read. Without its registers only logic is left, in which no output may depend on an input."""
    row = Row(name, variant, "structure", count, stem)
    sources = sources_of(rtl)
    parameters = " ".join(f"-chparam {p.replace('=', ' ')}" for p in variant.split(","))
    script = [f"read_verilog -I{rtl} -I{rtl}/board -defer {' '.join(sources)}", f"hierarchy -check -top gemm64 {parameters}", "proc",
              "check -assert", "flatten", "check -assert", "delete t:$dff", "select -assert-none t:$*dff* t:$*latch* t:$sr t:$ff",
              "select -assert-any i:*", "select -assert-any o:*", "select -assert-none i:* %co* o:* %i"]
    with open(f"{stem}.ys", "w", encoding="utf-8") as out:
        out.write("\n".join(script) + "\n")
    one = Run(["yosys", "-q", "-s", f"{stem}.ys"], f"{stem}.structure.log")
    row.seconds, row.good = one.seconds, one.code == 0
    return row


def one_by_one(text):
    """The file once for each assertion: those before it are assumed, which have been shown by then; of
    those after it only that they held in the cycle before."""
    places = [match.start() for match in re.finditer(r"\bassert \(", text)]
    for one in places:
        changed = text
        for place in reversed(places):
            if place != one:
                word = "assume (" if place < one else "later = later & ("
                changed = changed[:place] + word + changed[place + len("assert ("):]
        yield changed


class Row:
    """What came of one way to prove one variant of a file."""

    def __init__(self, name, variant, mode, count, stem):
        self.name, self.variant, self.mode, self.count, self.stem = name, variant, mode, count, stem
        self.good, self.seconds, self.reached = True, 0.0, 0
        self.assertions = set()  # lines of those that this variant never reaches; another one must

    def ask(self, question, log, path, any_product):
        one = Run(question, log, path, "any" if any_product else "")
        self.seconds += one.seconds
        if self.mode != "cover":
            self.good = self.good and one.passed()
            return self.good
        with open(f"{self.stem}.sv", encoding="utf-8") as source:
            lines = source.read().splitlines()
        self.reached = len(REACHED.findall(one.output))
        missed = {int(line) for line in UNREACHED.findall(one.output)}
        self.assertions = {line for line in missed if "cover (1'b1)" in lines[line - 1]}
        self.good = self.reached > 0 and (one.passed() or (missed and missed == self.assertions))
        return self.good

    def text(self):
        result = "FAILED" if not self.good else f"{self.reached} reached" if self.mode == "cover" else "proved"
        return (f"{self.name:<18} {self.variant or '–':<24} {self.mode:<10} {self.count:>3} {result:<12}"
                f"{self.seconds:7.1f} s" + ("" if self.good else f"  {self.stem}.{self.mode}*.log"))


def prove(file, steps, variant, build, path, rtl=RTL):
    solver = ["yosys-smtbmc", *(["-s", "bitwuzla", "--noincr"] if path else ["-s", "cvc5"]), "--presat"]
    name = os.path.basename(file)[:-3]
    stem = os.path.join(build, name + ("." + re.sub(r"\W", "_", variant) if variant else ""))
    with open(file, encoding="utf-8") as source:
        text = source.read()
    if "structure" in steps:
        return [structure(name, steps["structure"], variant, stem, rtl)]
    any_product = ANY.search(text)
    seconds = model(file, text, name + "_proof", variant, stem, rtl)
    rows = []
    for mode, count in steps.items():
        row = Row(name, variant, mode, count, stem)
        row.seconds, seconds = seconds, 0.0
        rows.append(row)
        if mode == "reach":
            reach(row, text, count, f"{stem}.reach.log")
            continue
        option = {"induction": ["-i"], "cover": ["-c"], "bound": []}[mode]
        jobs = [(option, str(count))]
        if mode == "induction":
            jobs.append(([], str(count + 1)))  # the base: from reset
        if mode == "induction" and count == 1 and ONE_BY_ONE.search(text):
            jobs = jobs[1:]  # the base at once
            for number, part in enumerate(one_by_one(text)):
                one = f"{stem}.part{number}"
                row.seconds += model(file, part, name + "_proof", variant, one, rtl)
                if not row.ask([*solver, "-i", "-t", "1", f"{one}.smt2"], f"{one}.log", path, any_product):
                    break
        for extra, depth in jobs:
            question = [*extra, "-t", depth, f"{stem}.smt2"]
            if not row.good or not row.ask([*solver, *question], f"{stem}.{mode}{len(extra)}.log", path, any_product):
                if TRACE and mode != "cover":  # cvc5's, as only an incremental solver keeps what it found until it is asked for
                    Run(["yosys-smtbmc", "-s", "cvc5", "--presat", "--dump-vcd", f"{stem}.{mode}.vcd", *question],
                        f"{stem}.trace.log")
                break
    return rows


def reach(row, text, count, log):
    """ABC's answer for the cycles up to `count`: each bit of fails_o stays low and each bit of covers_o rises. Both are bits of the
    design, which ABC simplifies over time before it asks, as no solver of words does."""
    fails, covers = (int(re.search(rf"output wire \[(\d+):0\] +{name}_o", text)[1]) + 1 for name in ("fails", "covers"))
    reduced = UNREDUCED.search(text) is None or UNREDUCED.search(text)[1] not in row.variant.split(",")
    one = Run(["yosys-abc", "-c", f"read {row.stem}.aig; fold; strash; scleanup; dc2; {'scorr' if reduced else 'scleanup'}; "
               f"bmc3 -a -v -F {count + 1}"], log)
    row.seconds += one.seconds
    risen = {int(output) for output in ASSERTED.findall(one.output)}
    row.good = one.code == 0 and "No output" not in one.output and risen == set(range(fails, fails + covers))
    row.reached = len(risen - set(range(fails)))


def without_covers(steps):
    return {mode: count for mode, count in steps.items() if mode != "cover"}


def try_breaks(tasks, options, path):
    """Each change that a file names must let one of its inductions fail."""
    changes = {}
    for file, steps, variant in tasks:
        with open(file, encoding="utf-8") as source:
            for change in BREAK.findall(source.read()):
                changes.setdefault((file, change), []).append((without_covers(steps), variant))

    def try_one(number, file, change, runs):
        rtl = broken(options.build, number, *change)
        build = os.path.join(options.build, f"break{number}")
        os.makedirs(build, exist_ok=True)
        rows = []
        for steps, variant in runs:
            rows += prove(file, steps, variant, build, path, rtl)
            if not rows[-1].good:
                break
        return any(not row.good for row in rows), sum(row.seconds for row in rows)

    unnoticed, seconds = 0, 0.0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = [(file, change, pool.submit(try_one, number, file, change, runs))
                   for number, ((file, change), runs) in enumerate(changes.items())]
        for file, (where, was, now), one in pending:
            noticed, took = one.result()
            unnoticed += not noticed
            seconds += took
            print(f"{os.path.basename(file)[:-3]:<20} {'noticed ' if noticed else 'UNNOTICED'} {where}: {was} -> {now}",
                  flush=True)
    print(f"{len(changes)} mistakes, {len(changes) - unnoticed} noticed, {seconds:.0f} s of a processor")
    return [row_of("mistakes that the proofs notice", f"{len(changes) - unnoticed} of {len(changes)}", f"{len(changes)}",
                   unnoticed == 0, "" if unnoticed == 0 else "see UNNOTICED")], seconds, unnoticed == 0


def row_of(what, figure, goal, met, cause=""):
    return {"what": what, "figure": figure, "goal": goal, "met": met, "cause": cause}


def never_reached(rows):
    """File and line of each assertion that no variant reaches."""
    variants_of = {}
    for row in rows:
        if row.mode == "cover":
            variants_of.setdefault(row.name, []).append(row.assertions)
    return [(name, line) for name, lines in variants_of.items() for line in sorted(set.intersection(*lines))]


def totals(rows):
    """Sign-off's rows of a full run."""
    names = {row.name for row in rows}
    bad = sorted({row.name for row in rows if not row.good})
    seconds = sum(row.seconds for row in rows)
    bounded = [row for row in rows if row.mode in ("bound", "reach")]
    covers = [row for row in rows if row.mode in ("cover", "reach")]
    depths = ", ".join(f"{n} {c}" for n, c in sorted({(row.name, row.count) for row in bounded}))
    return [
        row_of("files that are proved", f"{len(names) - len(bad)} of {len(names)}", f"{len(names)}", not bad, " ".join(bad)),
        row_of("variants proved by induction, for all time",
               str(sum(row.good for row in rows if row.mode == "induction")), "", None),
        row_of(f"variants proved for a number of cycles: {depths or 'none'}", str(sum(row.good for row in bounded)), "", None),
        row_of("assertions and cases reached", str(sum(row.reached for row in covers)), "all",
               all(row.good for row in covers) and not never_reached(rows), ""),
        row_of("time of `make -C tests/signoff formal` on two processors", f"{seconds / 2:.0f} s", f"{GOAL} s", seconds / 2 < GOAL,
               "" if seconds / 2 < GOAL else "deep bounds"),
    ]


def write_summary(file, command, seconds, rows):
    """Whole or not at all."""
    text = json.dumps({"part": "Proofs", "command": command, "seconds": round(seconds), "rows": rows}, indent=1,
                      ensure_ascii=False)
    with open(f"{file}.new", "w", encoding="utf-8") as out:
        out.write(text + "\n")
    os.replace(f"{file}.new", file)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="files to prove, without .sv (default: all)")
    parser.add_argument("--build", default="build/formal", help="folder for models and logs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--solver", choices=("bitwuzla", "cvc5"), default="bitwuzla")
    parser.add_argument("--short", action="store_true", help="only the short set")
    parser.add_argument("--break", dest="breaks", action="store_true", help="change the RTL as the files say, each proof must fail")
    parser.add_argument("--cover", action="store_true", help="each assertion must be reached, too, with all that it is conditional on")
    parser.add_argument("--summary", metavar="FILE", help="write what came of it as JSON")
    parser.add_argument("--trace", action="store_true", help="write a waveform of what fails (cvc5, slow)")
    options = parser.parse_args()
    global TRACE, COVER
    TRACE, COVER = options.trace, options.cover
    os.makedirs(options.build, exist_ok=True)
    path = bitwuzla(options.build) if options.solver == "bitwuzla" else None
    if options.solver == "bitwuzla" and not path:
        print("prove: Bitwuzla could not be installed (python3-venv, network?); cvc5 decides instead", file=sys.stderr)
    names = options.names or sorted(f[:-3] for f in os.listdir(HERE) if f.endswith(".sv"))
    tasks = []
    for name in names:
        file = os.path.join(HERE, name + ".sv")
        with open(file, encoding="utf-8") as source:
            text = source.read()
        if not options.short or SHORT.search(text):
            tasks += [(file, steps, variant) for steps, variant in variants(text, file)]
    begin = time.monotonic()
    if options.breaks:
        results, seconds, good = try_breaks(tasks, options, path)
        command = "prove --break"
    else:
        rows = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for one in [pool.submit(prove, *task, options.build, path) for task in tasks]:
                for row in one.result():
                    rows.append(row)
                    print(row.text(), flush=True)
        seconds, good = sum(row.seconds for row in rows), all(row.good for row in rows)
        for name, line in never_reached(rows):
            good = False
            print(f"{name:<18} FAILED: its assertion in line {line} is never reached", flush=True)
        print(f"{len({row.name for row in rows})} files, {seconds:.0f} s of a processor ({seconds / 2:.0f} s on two); "
              f"{time.monotonic() - begin:.0f} s by the clock")
        results, command = totals(rows), "make -C tests/signoff formal"
    if options.summary:
        write_summary(options.summary, command, time.monotonic() - begin, results)
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"prove: {problem}", file=sys.stderr)
        sys.exit(2)
