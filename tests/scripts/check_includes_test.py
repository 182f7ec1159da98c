# SPDX-License-Identifier: Apache-2.0
"""`scripts/ci/check-includes.py` refuses what the table of layers does not allow, and says where."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = """\
| layer | folder | holds | may know |
|---|---|---|---|
| base | [util](util/README.md) | for all; and [more](x) | |
| base | [numerics](numerics/README.md) | arrays | |
| kernels | [kernels](kernels/README.md) | operators | `numerics` |
| graph | [graph/onnx](graph/onnx/README.md) | graphs | `numerics`, `kernels` |
| sim | [sim](../sim/README.md) | the RTL | |
"""


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.root = self.enterContext(tempfile.TemporaryDirectory())
        for name in ("python", "sim"):
            os.makedirs(os.path.join(self.root, name))
        self.write("host/README.md", TABLE)
        self.write("host/util/error.hpp", "")
        self.write("host/numerics/npy.hpp", '#include "host/util/error.hpp"\n')
        self.write("host/graph/onnx/model.hpp", '#include "host/kernels/tensor.hpp"\n')
        self.write("host/kernels/tensor.hpp", '// tensors\n#include <vector>\n#include "host/numerics/npy.hpp"\n')

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *arguments):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "ci", "check-includes.py"), *arguments],
                              cwd=self.root, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def refused(self, *parts):
        code, output = self.check("--stamp", os.path.join(self.root, "stamp"))
        self.assertEqual(code, 1)
        self.assertEqual(len(output.splitlines()), 1, output)
        for part in parts:
            self.assertIn(part, output)
        self.assertFalse(os.path.exists(os.path.join(self.root, "stamp")))

    def test_accepts_what_the_table_allows(self):
        self.assertEqual(self.check(), (0, ""))

    def test_refuses_an_include_upwards_and_says_what_is_allowed(self):
        self.write("host/kernels/gemm.cpp", '\n#include "host/graph/onnx/model.hpp"\n')
        self.refused("host/kernels/gemm.cpp:2:", "host/graph/onnx/model.hpp", "layer 'graph'", "may know numerics")

    def test_refuses_a_folder_below_that_the_row_does_not_name(self):
        self.write("sim/memory/memory.cpp", '#include "host/numerics/npy.hpp"\n')
        self.refused("sim/memory/memory.cpp:1:", "host/numerics/npy.hpp", "may know no other folder")

    def test_refuses_a_folder_in_a_header_for_all(self):
        self.write("host/util/text.hpp", '#include "host/numerics/npy.hpp"\n')
        self.refused("host/util/text.hpp:1:", "host/numerics/npy.hpp")

    def test_refuses_a_test_and_the_simulator(self):
        self.write("host/util/a.cpp", '#include "tests/folder.hpp"\n')
        self.refused("host/util/a.cpp:1:", "tests/folder.hpp")
        self.write("host/util/a.cpp", "#include <verilated.h>\n")
        self.refused("host/util/a.cpp:1:", "sim/")

    def test_refuses_a_folder_without_a_row(self):
        self.write("host/new/a.cpp", "")
        self.refused("host/new/a.cpp", "row")

    def test_refuses_a_row_that_knows_one_below_it_or_stands_apart_from_its_layer(self):
        self.write("host/README.md", TABLE.replace("operators | `numerics`", "operators | `numerics`, `graph/onnx`"))
        self.refused("host/README.md:5:", "graph/onnx")
        self.write("host/README.md", TABLE + "| base | [text](text/README.md) | text | |\n")
        self.refused("host/README.md:8:", "base")

    def test_refuses_a_readme_without_the_table(self):
        self.write("host/README.md", "# host\n")
        self.assertEqual(self.check()[0], 1)

    def test_tells_the_build_all_that_it_read(self):
        stamp = os.path.join(self.root, "a b")
        self.assertEqual(self.check("--stamp", stamp), (0, ""))
        self.assertTrue(os.path.exists(stamp))
        with open(stamp + ".d", encoding="utf-8") as file:
            listed = file.read()
        for name in ("host/README.md", "host/kernels", "host/kernels/tensor.hpp", "sim"):
            self.assertRegex(listed, f" \\S*/{name}[ \n]")
