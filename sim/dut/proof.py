# SPDX-License-Identifier: Apache-2.0
"""Decides with Bitwuzla whether the assertion of proof.v holds in each cycle: proof.py MODEL.smt2 CYCLES SECONDS [VCD]

MODEL.smt2 is what Yosys writes of one flattened module. Its registers are followed cycle by cycle as terms of the operands, so
that control, which does not depend on them, is evaluated, and the solver sees only sums. Prints a line "cycle N" for each cycle that is
shown, and ends with "proven", "timeout", or "failed N" and the values of the nets that tell what failed.
"""

import re
import sys
import time

import bitwuzla

SHOWN = ("operand_weights", "operand_activations", "operand_sums", "result", "expected_row", "result_row", "extra", "value",
         "last", "missing")
FUNCTION = re.compile(r"^\(declare-fun (\|[^|]*)\| \(\|[^|]*\|\) (.*?)\)(?: ;.*)?$", re.M)
WIRE = re.compile(r"^; yosys-smt2-wire (\S+) (\d+)", re.M)


class Model:
    """A transition system in the terms of one cycle and the next."""

    def __init__(self, text):
        self.module = re.findall(r"^; yosys-smt2-module (\S+)", text, re.M)[-1]
        self.wires = [(name, int(bits)) for name, bits in WIRE.findall(text)]
        registers = [name for name, _ in FUNCTION.findall(text)]
        text = re.sub(r"\(set-logic \w+\)|\(set-option[^)]*\)|\(declare-sort.*", "", text)
        text = FUNCTION.sub(r"(declare-const \1| \2)(declare-const \1'| \2)", text)
        text = re.sub(r"\(\(state \|[^|]*\|\)(?: \(next_state \|[^|]*\|\))?\)", "()", text)
        text = re.sub(r"\((\|[^|]*\|) state\)", r"\1", text)
        text = re.sub(r"\((\|[^|]*)\| next_state\)", r"\1'|", text)
        self.terms = bitwuzla.TermManager()
        self.parser = bitwuzla.Parser(self.terms, bitwuzla.Options())
        self.parser.parse(text, True, False)
        self.now = [self.parser.parse_term(f"{name}|") for name in registers]
        self.next = [self.parser.parse_term(f"{name}'|") for name in registers]
        self.initial, self.assertion, self.assumption, transition = (
            self.parser.parse_term(f"|{self.module}_{part}|") for part in "iaut")
        successor = self.equalities(transition)
        self.registers = [(one, successor[after]) for one, after in zip(self.now, self.next) if after in successor]
        self.simplifier = bitwuzla.Bitwuzla(self.terms, bitwuzla.Options())
        self.states = [self.first()]

    def equalities(self, conjunction):
        """What each register is said to be equal to."""
        found, pending, known = {}, [conjunction], set(self.now) | set(self.next)
        while pending:
            term = pending.pop()
            if term.kind() == bitwuzla.Kind.AND:
                pending += term.children()
            elif term.kind() == bitwuzla.Kind.EQUAL:
                one, other = term.children()
                # Of a transition, the second one is the register's next value.
                register, value = (other, one) if other in known and other not in found else (one, other)
                found[register] = value
        return found

    def first(self):
        begins = self.equalities(self.initial)
        return {one: begins.get(one) or self.terms.mk_const(one.sort(), f"{i}@0") for i, one in enumerate(self.now)}

    def state(self, cycle):
        """Each register and input in terms of the operands: what depends on none of them is a number."""
        while len(self.states) <= cycle:
            number, before = len(self.states), self.states[-1]
            after = {one: self.terms.mk_const(one.sort(), f"{i}@{number}") for i, one in enumerate(self.now)}
            values = self.terms.substitute_terms([value for _, value in self.registers], before)
            after.update((one, self.simplifier.simplify_term(value)) for (one, _), value in zip(self.registers, values))
            self.states.append(after)
        return self.states[cycle]

    def at(self, term, cycle):
        return self.simplifier.simplify_term(self.terms.substitute_term(term, self.state(cycle)))

    def net(self, name):
        return self.parser.parse_term(f"|{self.module}_n {name}|")


def bits_of(value):
    """Of a solver's value, as binary digits."""
    text = value.value(2)
    return str(int(text)) if isinstance(text, bool) else text


def write_vcd(path, model, solver, failed):
    """All nets from the first cycle to the one that failed; a cycle is 2 ns, as in the other waveforms."""
    names = [(name, bits, model.net(name)) for name, bits in model.wires if not name.startswith("$")]
    with open(path, "w", encoding="utf-8") as out:
        out.write("$timescale 1ns $end\n$scope module gemm64_dut_proof $end\n")
        for number, (name, bits, _) in enumerate(names):
            *scopes, leaf = re.sub(r"\[(\d+)\]\.", r"(\1).", name).split(".")
            out.write("".join(f"$scope module {scope} $end\n" for scope in scopes))
            out.write(f"$var wire {bits} n{number} {leaf} $end\n" + "$upscope $end\n" * len(scopes))
        out.write("$upscope $end\n$enddefinitions $end\n")
        for cycle in range(failed + 1):
            out.write(f"#{2 * cycle}\n")
            for number, (name, bits, term) in enumerate(names):
                value = "0" if name.endswith("aclk") else bits_of(solver.get_value(model.at(term, cycle)))
                out.write(f"b{value} n{number}\n" if bits > 1 else f"{value}n{number}\n")
            out.write(f"#{2 * cycle + 1}\n" + "".join(f"1n{number}\n" for number, (name, bits, _) in enumerate(names)
                                                      if name.endswith("aclk")))
        out.write(f"#{2 * failed + 2}\n")


def main(path, cycles, seconds, vcd=None):
    with open(path, encoding="utf-8") as file:
        model = Model(file.read())
    end = time.monotonic() + seconds
    always, facts = model.terms.mk_true(), []
    for cycle in range(cycles):
        facts.append(model.at(model.assumption, cycle))
        holds = model.at(model.assertion, cycle)
        if holds == always:
            print(f"cycle {cycle}", flush=True)
            continue
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(1000 * (end - time.monotonic()))))
        solver = bitwuzla.Bitwuzla(model.terms, options)
        for fact in facts:
            solver.assert_formula(fact)
        solver.assert_formula(model.terms.mk_term(bitwuzla.Kind.NOT, [holds]))
        answer = solver.check_sat()
        if answer == bitwuzla.Result.SAT:
            print(f"failed {cycle}")
            for name in SHOWN:
                if name in dict(model.wires):
                    print(name, bits_of(solver.get_value(model.at(model.net(name), cycle))))
            if vcd:
                write_vcd(vcd, model, solver, cycle)
            return
        if answer != bitwuzla.Result.UNSAT:
            print("timeout")
            return
        print(f"cycle {cycle}", flush=True)
    print("proven")


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
