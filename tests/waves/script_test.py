# SPDX-License-Identifier: Apache-2.0
"""scripts/waves/wave.sh as a person meets it: with a display and without, and when asked for nonsense."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import save_file
from harness import GEMM64, ROOT, VIEWS, WAVES

SCRIPT = os.path.join(ROOT, "scripts", "waves", "wave.sh")


class Wave(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        os.symlink(GEMM64, os.path.join(self.folder, "gemm64"))
        # In place of GTKWave, so that the tests see how it is called.
        self.called = os.path.join(self.folder, "called")
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        fake = os.path.join(tools, "gtkwave")
        with open(fake, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" > {self.called}\n')
        os.chmod(fake, 0o755)
        self.environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"]}
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(display, None)

    def wave(self, *arguments, **environment):
        return subprocess.run([SCRIPT, "--build", self.folder, *arguments], capture_output=True,
                              text=True, check=False, env={**self.environment, **environment})

    def path(self, name):
        return os.path.join(self.folder, "wave", name)

    def test_without_a_display_says_where_the_waveform_lies(self):
        outcome = self.wave()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn(f"gtkwave {self.path('wave.fst')} {self.path('wave.gtkw')}\n", outcome.stdout)
        self.assertTrue(os.path.getsize(self.path("wave.fst")) > 100_000)
        self.assertFalse(os.path.exists(self.called), "GTKWave is not needed here")

    def test_with_a_display_opens_gtkwave(self):
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            outcome = self.wave("axi", **{display: ":0"})
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            with open(self.called, encoding="utf-8") as file:
                self.assertEqual(file.read(),
                                 f"{self.path('wave.fst')} {self.path('wave.gtkw')}\n")
            os.remove(self.called)

    def test_shows_the_view_that_was_asked_for(self):
        for view in VIEWS:
            self.assertEqual(self.wave(view).returncode, 0)
            with open(self.path("wave.gtkw"), encoding="utf-8") as file:
                self.assertIn(f"From {view}.gtkw", file.readline())

    def test_refuses_what_it_does_not_know(self):
        for arguments, reason in ((["nothing"], ", ".join(VIEWS)),
                                  (["--check", "nothing"], ", ".join(VIEWS)), (["axi", "array"], "one view"),
                                  (["--what"], "--help"), (["--keep"], "name"),
                                  (["--pictures", "axi"], "all of them")):
            outcome = self.wave(*arguments)
            self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), arguments)
            self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
            self.assertIn(reason, outcome.stderr)
            self.assertFalse(os.path.exists(self.path("wave.fst")))

    def test_checks_a_view_without_a_run(self):
        outcome = self.wave("--check", "array")
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        self.assertFalse(os.path.exists(self.path("wave.fst")))

    def test_keeps_what_gtkwave_saved_without_its_machine(self):
        """On a copy of scripts/ and waves/, so that the project's own views stay as they are."""
        copy = os.path.join(self.folder, "copy")
        for name in ("scripts", "waves"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(copy, name))
        self.assertEqual(self.wave("array").returncode, 0)
        # As GTKWave saves it: its own head, numbered filters, and one trace that the user deleted.
        with open(self.path("wave.gtkw"), encoding="utf-8") as file:
            saved = file.read()
        saved = "[*] GTKWave\n" + re.sub(r"^\[\*\].*\n", "", saved, flags=re.M)
        saved = saved.replace("^1 ", "^3 ").replace("+{row read} gemm64.gemm64.row[6:0]\n", "")
        with open(self.path("wave.gtkw"), "w", encoding="utf-8") as file:
            file.write(saved)
        kept = subprocess.run([os.path.join(copy, "scripts", "waves", "wave.sh"), "--build", self.folder,
                               "--keep", "array"], capture_output=True, text=True, check=False)
        self.assertEqual(kept.returncode, 0, kept.stderr)
        before = save_file.read(os.path.join(WAVES, "array.gtkw"))
        after = save_file.read(os.path.join(copy, "waves", "array.gtkw"))
        self.assertEqual([item for item in before if item.label != "row read"], after)
        with open(os.path.join(copy, "waves", "array.gtkw"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("[*] start: ", text)
        self.assertNotIn(" /", text)
