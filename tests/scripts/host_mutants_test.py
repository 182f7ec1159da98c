# SPDX-License-Identifier: Apache-2.0
"""What `tests/signoff/mutation/host/run` says of a build, with stand-ins for the test programs; never that all is well where nothing was tried."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOST = os.path.join(ROOT, "tests", "signoff", "mutation", "host")
PROGRAMS = ("gemm64_driver_test", "gemm64_matmul_test", "gemm64_host_test", "gemm64_runtime_test",
            "gemm64_ep_test", "gemm64_analysis_test", "gemm64_rewrite_test", "gemm64_sweep_test", "gemm64_network_test",
            "gemm64_campaign_test", "gemm64_system_test", "gemm64_cli_test")
# A program of one test, which comes by the places of both mutants and notices the first one.
PROGRAM = """\
#!/bin/bash
passed=1
if [[ "$GEMM64_HOST_MUTANT" == 1 ]]; then passed=0; fi
if [[ -n "$GEMM64_REACHED" && "$GTEST_SHARD_INDEX" == 0 ]]; then echo "Some.Test 1000 $passed 1 2" >"$GEMM64_REACHED"; fi
if [[ $passed == 0 ]]; then echo "[  FAILED  ] Some.Test (1 ms)"; exit 1; fi
"""


def mutant(number):
    return {"number": number, "folder": "tiling", "file": "host/tiling/a.cpp", "mutant": f"mutant {number}", "line": number, "operator": "==",
            "was": "a == b", "is": "a != b"}


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        for name in (*PROGRAMS, "gemm64"):
            self.program(name, PROGRAM)
        self.mutants([mutant(1)])

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def mutants(self, mutants):
        with open(os.path.join(self.folder, "mutants.json"), "w", encoding="utf-8") as file:
            json.dump({"names": [m["mutant"] for m in mutants], "mutants": mutants}, file)

    def run_mutants(self, *arguments):
        done = subprocess.run([os.path.join(HOST, "run"), "--built", "--build", self.folder, "--of", self.folder, "--jobs", "1", *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_what_a_test_notices_is_killed(self):
        code, text = self.run_mutants()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"host/tiling +1 +1 +0 +0 +100\.0 %")

    def test_a_survivor_without_a_reason_is_told(self):
        self.mutants([mutant(1), mutant(2)])
        for arguments in ((), ("--draw", "2")):
            code, text = self.run_mutants(*arguments)
            self.assertEqual(code, 1, text)
            self.assertRegex(text, r"2 host/tiling/a\.cpp:2  a == b  ->  a != b\n +unexplained, 12 tests come by")

    def test_what_no_program_of_tests_notices_meets_tests_in_python(self):
        self.mutants([mutant(1), mutant(2)])
        lines = ""
        for name in ("onnxruntime.some", "onnxruntime.some_all", "other.some"):
            fails = 2 if name.endswith("all") else 0
            lines += (f'add_test({name} bash -c "[[ $GEMM64 == {self.folder}/gemm64 && $GEMM64_HOST_MUTANT != {fails} ]]")\n'
                      f'set_tests_properties({name} PROPERTIES ENVIRONMENT "GEMM64=other" WORKING_DIRECTORY "{self.folder}")\n')
        with open(os.path.join(self.folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            file.write(lines.replace("$", "\\$"))
        code, text = self.run_mutants("--json", os.path.join(self.folder, "found.json"))
        self.assertEqual(code, 0, text)
        with open(os.path.join(self.folder, "found.json"), encoding="utf-8") as file:
            self.assertIn("onnxruntime.some_all", file.read())
        self.assertEqual(self.run_mutants("--fast", "--again")[0], 1)

    def test_what_one_test_makes_another_may_notice(self):
        self.mutants([mutant(1), mutant(2)])
        notices = "#!/bin/bash\n" + """\
if [[ -n "$GEMM64_REACHED" ]]; then printf 'First.Test 1000 1 2\\nOther.Test 1000 1 1\\n' >"$GEMM64_REACHED"; fi
if [[ "$GEMM64_HOST_MUTANT" != 0 && "$GTEST_FILTER" == *Other* ]]; then echo "[  FAILED  ] Other.Test (1 ms)"; exit 1; fi
"""
        self.program("gemm64_host_test", notices)
        code, text = self.run_mutants("--only", "2")
        self.assertEqual(code, 0, text)

    def test_sources_that_fail_without_a_mistake_are_an_error(self):
        fails = PROGRAM.replace("passed=1", "passed=0")
        ends = "#!/bin/bash\n" + 'echo "Some.Test 1000 1 1 2" >"$GEMM64_REACHED"; kill -SEGV $$\n'
        for text, why in ((fails, "fails on the sources as they are: Some.Test"),
                          (ends, "fails on the sources as they are: it ends with -11"),
                          ("#!/bin/bash\n", "has run no test")):
            self.program("gemm64_host_test", text)
            for arguments in ((), ("--draw", "1")):
                code, printed = self.run_mutants(*arguments)
                self.assertEqual(code, 1, printed)
                self.assertRegex(printed, f"host-mutants: gemm64_host_test {why}")

    def test_no_mutants_at_all_are_an_error(self):
        self.mutants([])
        for arguments in ((), ("--draw", "60")):
            code, text = self.run_mutants(*arguments)
            self.assertEqual(code, 1, text)
            self.assertIn("there are no mutants to try", text)


class Source:
    """Stands for a source of which the compiler takes what `refuses` says."""

    refuses = False

    def __init__(self, path, _):
        with open(path, "rb") as file:
            self.text = file.read()
        at = self.text.index(b"!a")
        self.found = [Mutant(at, at + 2, b"a", False, "unary")]

    def errors(self, text):
        return [text.index(b"GEMM64_IS")] if self.refuses else []


class Mutant(tuple):
    """As the one of places.py, which needs libclang."""

    def __new__(cls, *fields):
        return super().__new__(cls, fields)

    begin, end, other, statement, operator = (property(lambda self, i=i: self[i]) for i in range(5))


class Mutate(unittest.TestCase):
    def setUp(self):
        stand_in = types.ModuleType("places")
        stand_in.Source, stand_in.Mutant, stand_in.__file__ = Source, Mutant, __file__
        sys.modules["places"] = stand_in
        self.addCleanup(sys.modules.pop, "places")
        spec = importlib.util.spec_from_file_location("mutate", os.path.join(HOST, "mutate.py"))
        self.mutate = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.mutate)
        self.mutate.FOLDERS = {"tiling": 1}
        self.root = self.enterContext(tempfile.TemporaryDirectory())
        os.makedirs(os.path.join(self.root, "host", "tiling"))
        self.path = os.path.join("host", "tiling", "a.cpp")
        with open(os.path.join(self.root, self.path), "w", encoding="utf-8") as file:
            file.write("bool f(bool a) { return !a; }\n")

    def write(self):
        return self.mutate.mutate(self.root, {self.path: "clang++ -c a.cpp"}, self.root, types.SimpleNamespace(map=map), {"tiling": 1}, "")

    def test_both_sides_of_a_mutant_have_one_type(self):
        mutants, names = self.write()
        self.assertEqual([m["mutant"] for m in mutants], names)
        with open(os.path.join(self.root, "source", self.path), encoding="utf-8") as file:
            self.assertIn("return (GEMM64_IS(1) ? (!!(a)) : (!a));", file.read())

    def test_so_have_those_of_an_optional_in_a_condition(self):
        text = b"x = a && b;"
        self.assertEqual(self.mutate.render(text, 0, len(text), [(1, Mutant(4, 10, b"a", False, "&& l"))]),
                         b"x = (GEMM64_IS(1) ? (!!(a)) : (a && b));")

    def test_a_source_that_compiles_with_no_mutant_is_an_error(self):
        Source.refuses = True
        self.addCleanup(setattr, Source, "refuses", False)
        with self.assertRaisesRegex(SystemExit, "host/tiling/a.cpp compiles with none of its 1 mutants"):
            self.write()


class Relink(unittest.TestCase):
    """A mutated source gets into a program of a build by the object and the library that hold it."""

    def setUp(self):
        sys.path.insert(0, HOST)
        self.addCleanup(sys.path.remove, HOST)
        self.relink = importlib.import_module("relink")
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_unity_file_includes_the_mutated_source_and_the_others(self):
        unity = self.file("build/host/CMakeFiles/a.dir/Unity/unity_0_cxx.cxx", '#include "/p/host/a/a.cpp"\n#include "/p/host/a/b.cpp"\n')
        mutated = self.file("out/host/a/b.cpp", "")
        made = self.relink.Object("host/CMakeFiles/a.dir/Unity/unity_0_cxx.cxx.o", "", unity, ["host/a/a.cpp", "host/a/b.cpp"])
        with open(self.relink.source_of(made, os.path.join(self.folder, "out")), encoding="utf-8") as file:
            self.assertEqual(file.read(), f'#include "/p/host/a/a.cpp"\n#include "{mutated}"\n')

    def test_an_object_without_mutants_is_not_compiled(self):
        made = self.relink.Object("host/CMakeFiles/a.dir/a.cpp.o", "", "/p/host/a/a.cpp", ["host/a/a.cpp"])
        self.assertIsNone(self.relink.source_of(made, self.folder))

    def test_the_command_has_another_file_and_output_and_writes_no_dependencies(self):
        words = self.relink.compiled("cc -I/p -MD -MT a.o -MF a.o.d -o a.o -c a.cpp", "b.cpp", "b.o")
        self.assertEqual(words, ["cc", "-I/p", "-o", "b.o", "-c", "b.cpp", "-O1", "-w", "-D_GLIBCXX_ASSERTIONS"])
