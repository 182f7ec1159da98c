# SPDX-License-Identifier: Apache-2.0
"""What is refused, in one line each: by name what is not translated, and files that are none."""
import io
import random
import subprocess
import time
import unittest
import zipfile

import torch
from torch import nn

from harness import PROGRAM, TorchScriptTest


class Unknown(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cumsum(x, 0) + torch.cumsum(x, 1)
        return torch.fft.fft(torch.cumsum(y, 0)).real


class DependsOnValues(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            x = x * 2
        return x


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.size(0) != 3:
            raise ValueError("three rows are wanted")
        return x * 2


class StaleView(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        view = y.view(-1)
        y.relu_()
        return view * 3


class Endless(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = 0
        while x.size(0) > 0:
            n += 1
        return x * n


class Random(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(2, 2)


class Saves(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.save(torch.ones(2), "written.bin")
        return x * 2


class TakesList(nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n


class Refusals(TorchScriptTest):
    def refused(self, network, reason, shape="x=2x2"):
        file = self.save(network, "net.pt", "scripted")
        line = self.refusal("analyze", file, "--input-shape", shape)
        self.assertIn("net.pt: ", line)
        self.assertIn(reason, line)

    def test_operators_without_a_translation_are_counted(self):
        self.refused(Unknown(), "not supported: aten::cumsum (3), aten::fft_fft (1)")

    def test_values_that_decide(self):
        self.refused(DependsOnValues(), "aten::")

    def test_exceptions_are_quoted(self):
        self.refused(Raises(), "three rows are wanted")
        self.analyze("net.pt", "--input-shape", "x=3x2")

    def test_views_of_what_was_changed(self):
        self.refused(StaleView(), "a view of a tensor that was changed in place")

    def test_loops_without_an_end(self):
        self.refused(Endless(), "loop without an end")

    def test_random_numbers(self):
        self.refused(Random(), "aten::rand")

    def test_nothing_is_written(self):
        try:
            self.save(Saves(), "net.pt", "scripted")
        except Exception as error:  # some versions cannot script it
            self.skipTest(f"torch.save is no TorchScript here: {error}")
        self.refusal("analyze", "net.pt", "--input-shape", "x=2x2")
        self.assertFalse((self.folder / "written.bin").exists())

    def test_inputs_that_are_no_tensors(self):
        self.refused(TakesList(), "its input 'n' is of type int")

    def test_windows_of_different_sizes(self):
        self.refused(nn.AdaptiveAvgPool2d(4), "adaptive_avg_pool2d", "input=1x2x6x6")

    def test_statistics_of_the_batch(self):
        self.refused(nn.BatchNorm2d(3, track_running_stats=False), "batch_norm: it takes means and variances from the batch",
                     "input=1x3x4x4")

    def test_shapes_that_do_not_fit(self):
        self.refused(nn.Linear(4, 4), "does not fit weights of 4x4", "input=2x5")
        self.refused(nn.Conv2d(4, 4, 3), "does not fit weights of 4x4x3x3", "input=1x3x9x9")
        self.refused(nn.Conv2d(4, 4, 3), "smaller than its window", "input=1x4x2x2")

    def test_missing_shapes_are_asked_for(self):
        file = self.save(nn.Conv2d(3, 4, 3), "net.pt", "scripted")
        self.assertIn("--input-shape input=1x3x224x224", self.refusal("analyze", file))
        file = self.save(nn.Linear(7, 4), "net.pt", "scripted")
        self.assertIn("--input-shape input=1x7,", self.refusal("run", "--model", file,
                                                              "--device", "tlm"))
        self.assertIn("has no input 'z'; its inputs are: input",
                      self.refusal("analyze", file, "--input-shape", "z=1x7"))
        self.assertIn("has no input 'z'; its inputs are: input",
                      self.refusal("analyze", file, "--input-shape", "input=1x7",
                                   "--input-shape", "z=1"))

    def test_patterns_without_a_match(self):
        file = self.save(nn.Linear(7, 4), "net.pt", "scripted")
        self.assertIn("--modules zz*: no module's name matches",
                      self.refusal("analyze", file, "--input-shape", "input=1x7",
                                   "--modules", "zz*"))


class HostileFiles(TorchScriptTest):
    def setUp(self):
        super().setUp()
        self.save(nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 5)), "good.pt",
                  "scripted")
        self.good = (self.folder / "good.pt").read_bytes()

    def judge(self, contents, reason=""):
        (self.folder / "bad.pt").write_bytes(contents)
        line = self.refusal("analyze", "bad.pt", "--input-shape", "input=1x3x8x8")
        self.assertIn("bad.pt: ", line)
        self.assertIn(reason, line)

    def test_a_state_dict(self):
        for new_format, reason in ((True, "it holds no program"), (False, "a Python pickle")):
            file = io.BytesIO()
            torch.save(nn.Linear(3, 3).state_dict(), file,
                       _use_new_zipfile_serialization=new_format)
            self.judge(file.getvalue(), reason)

    def test_a_pickled_module(self):
        file = io.BytesIO()
        torch.save(nn.Linear(3, 3), file)
        self.judge(file.getvalue(), "it holds no program")

    def test_archives_of_other_things(self):
        for names in ([], ["a.txt"], ["bad/data.pkl"], ["bad/constants.pkl", "bad/data.pkl"],
                      ["bad/constants.pkl", "bad/data.pkl", "bad/version"]):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w") as archive:
                for name in names:
                    archive.writestr(name, b"1\n")
            with self.subTest(names=names):
                self.judge(file.getvalue())

    def test_files_that_are_cut_off(self):
        for size in (0, 1, 4, 30, 100, len(self.good) // 2, len(self.good) - 30,
                     len(self.good) - 1):
            with self.subTest(size=size):
                self.judge(self.good[:size])

    def test_a_program_that_is_none(self):
        with zipfile.ZipFile(io.BytesIO(self.good)) as archive:
            entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
        for bad in (b"", b"def", b"class Sequential(Module):\n  x : Nothing\n", b"\0" * 100,
                    b"import os\n", b"(" * 100_000):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w") as archive:
                for name, contents in entries:
                    archive.writestr(name, bad if name.endswith(".py") else contents)
            with self.subTest(bad=bad[:20]):
                self.judge(file.getvalue())

    def test_damaged_bytes(self):
        """Each ends as it should: read after all, or refused in one line."""
        seed = time.time_ns() % 2**32
        draw = random.Random(seed)
        endings = {0: 0, 2: 0}
        for _ in range(40):
            bad = bytearray(self.good)
            for _ in range(draw.choice((1, 4, 16))):
                bad[draw.randrange(len(bad))] = draw.randrange(256)
            (self.folder / "bad.pt").write_bytes(bad)
            outcome = subprocess.run([PROGRAM, "analyze", "bad.pt", "--input-shape", "input=1x3x8x8"],
                                     cwd=self.folder, capture_output=True, text=True, timeout=100)
            self.assertIn(outcome.returncode, endings, f"seed {seed}: {outcome.stderr}")
            endings[outcome.returncode] += 1
            if outcome.returncode == 2:
                self.assertEqual(outcome.stderr.count("\n"), 1, f"seed {seed}: {outcome.stderr}")
        self.assertGreater(endings[2], 0)


if __name__ == "__main__":
    unittest.main()
