# SPDX-License-Identifier: Apache-2.0
"""What the simulator of scripts/asic/stuck.py finds of a few gates, by hand."""

import os
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "asic")

# q is a and b, a cycle later; net 6 is q or a, which is not read.
NETLIST = """\
nets 7
input 2
input 3
register 5 4
gate 4 2 2 3 0 1 -2
gate 6 2 5 2 0 1 -3
watch 5
"""
STIMULUS = [(0, 1, 1), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0, 0, 1)]  # a, b, is q looked at?
FAULTS = {"stem 2 0": 2, "stem 2 1": -1, "pin 0 1 1": 3, "stem 5 1": 0, "load 0 0": 2, "load 0 1": 3, "stem 6 0": -1, "pin 1 0 1": -1}


class Stuck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.temporary.name, "stuck")
        subprocess.run(["clang++", "-std=c++17", "-O1", "-march=native", "-o", cls.program, os.path.join(SCRIPTS, "stuck.cpp")], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_faults(self, faults, *how):
        paths = [os.path.join(self.temporary.name, name) for name in ("netlist", "stimulus", "values")]
        with open(paths[0], "w", encoding="utf-8") as out:
            out.write(NETLIST + "\n".join(faults) + "\n")
        with open(paths[1], "wb") as out:
            out.write(bytes(bit for clock in STIMULUS for bit in clock))
        done = subprocess.run([self.program, paths[0], *(how or paths[1:])], capture_output=True, text=True, check=True)
        return list(map(int, done.stdout.split())), paths[2]

    def test_tells_the_first_clock_in_which_a_fault_is_seen(self):
        seen, values = self.run_faults(FAULTS)
        self.assertEqual(dict(zip(FAULTS, seen)), FAULTS)
        with open(values, "rb") as file:
            self.assertEqual(list(file.read()), [0, 0, 1, 0, 1])

    def test_takes_more_faults_than_a_pass_has_copies(self):
        faults = list(FAULTS) * 200
        seen, _ = self.run_faults(faults)
        wrong = [(fault, clock) for fault, clock in zip(faults, seen, strict=True) if FAULTS[fault] != clock]
        self.assertEqual(wrong[:5], [])

    def test_sees_in_random_states_what_registers_load(self):
        seen, _ = self.run_faults(["load 0 0", "stem 6 0"], "random 50")
        self.assertGreaterEqual(seen[0], 0)
        self.assertEqual(seen[1], -1)
