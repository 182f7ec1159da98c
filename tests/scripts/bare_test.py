# SPDX-License-Identifier: Apache-2.0
"""What scripts/ci/bare.sh says where it cannot make a bare Debian, and that .ci/run then works in place."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["bash", "awk", "cat", "cut", "df", "dirname", "env", "grep", "mktemp", "rm", "sed", "sh", "tail", "tee"]


class Bare(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gemm64-bare-test-")))
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or "/bin/false")
        self.stand_in("id", 'case $1 in -u) echo "${USER_ID:-0}" ;; *) echo somebody ;; esac')
        self.stand_in("apt-get", "exit 1")

    def stand_in(self, name: str, script: str) -> None:
        """A tool of this name that does what the script says."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def call(self, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": str(self.bin), "HOME": "/root", "TMPDIR": str(self.folder), **variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def bare(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return self.call(str(ROOT / "scripts/ci/bare.sh"), *arguments, **variables)

    def test_needs_a_command(self) -> None:
        self.assertEqual(self.bare().returncode, 2)
        refused = self.bare("--folders", "x", "true")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("no option is called '--folders'", refused.stderr)

    def test_says_that_it_needs_root(self) -> None:
        said = self.bare("true", USER_ID="1000")
        self.assertEqual(said.returncode, 125)
        self.assertIn("only root can, and this is somebody", said.stderr)

    def test_names_the_missing_tool(self) -> None:
        said = self.bare("true")
        self.assertEqual(said.returncode, 125)
        self.assertIn("debootstrap is missing", said.stderr)

    def test_says_that_it_may_not_mount(self) -> None:
        for tool in ["debootstrap", "chroot"]:
            self.stand_in(tool, "exit 0")
        self.stand_in("unshare", "exit 1")
        said = self.bare("--check")
        self.assertEqual(said.returncode, 125)
        self.assertIn("may not mount", said.stderr)

    def test_says_how_much_room_is_missing(self) -> None:
        for tool in ["debootstrap", "chroot", "unshare"]:
            self.stand_in(tool, "exit 0")
        self.stand_in("df", "echo Avail; echo 3000000")
        said = self.bare("--check")
        self.assertEqual(said.returncode, 125)
        self.assertIn("has 3 GB left, and 12 are needed", said.stderr)

    def checkout(self) -> pathlib.Path:
        """Where .ci/run finds a scripts/ci/bare.sh that fails on request, and a make that writes down what is asked of it."""
        checkout = self.folder / "checkout"
        (checkout / ".ci").mkdir(parents=True)
        (checkout / "scripts/ci").mkdir(parents=True)
        (checkout / "scripts/setup").mkdir()
        (checkout / "build").mkdir()
        shutil.copy(ROOT / ".ci/run", checkout / ".ci/run")
        bare = checkout / "scripts/ci/bare.sh"
        bare.write_text('#!/bin/bash\nexit "$BARE"\n')
        bare.chmod(0o755)
        setup = checkout / "scripts/setup/setup.sh"
        setup.write_text('#!/bin/bash\necho "no package $*" && [[ $FAILS != setup ]]\n')
        setup.chmod(0o755)
        (checkout / "scripts/setup/venv.sh").symlink_to("/bin/true")
        part = checkout / "scripts/ci/part.py"
        part.write_text('#!/bin/bash\nprintf "%b" "$COMMANDS"; [[ $FAILS != part ]]\n')
        part.chmod(0o755)
        summary = "100% tests passed, 0 tests failed out of 7\n\nLabel Time Summary:\nhost = 1 sec*proc\n\nTotal Test time (real) = 2 sec"
        self.stand_in("make", f'echo "made: $*"; [[ $1 != test ]] || echo "{summary}"; [[ " $* " != *" $FAILS "* ]]')
        return checkout

    def test_ci_works_in_place_without_a_bare_debian(self) -> None:
        run = str(self.checkout() / ".ci/run")
        commands = r"-C sim web-check\n-C scripts/asic wires\n"
        said = self.call(run, BARE="125", FAILS="", COMMANDS=commands)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("in place instead", said.stdout)
        self.assertEqual(
            [line for line in said.stdout.splitlines() if line.startswith("made:")],
            [
                "made: sim",
                "made: build",
                "made: test",
                "made: regression PARTS=12",
                "made: -C sim web-check",
                "made: -C scripts/asic wires",
                "made: lint",
            ],
        )
        self.assertEqual(said.stdout.splitlines()[-1], "Total Test time (real) = 2 sec")
        self.assertEqual(said.stdout.splitlines()[-6], "100% tests passed, 0 tests failed out of 7")
        for step in ["test", "lint", "setup", "part", "web-check", "scripts/asic"]:
            self.assertNotEqual(self.call(run, BARE="125", FAILS=step, COMMANDS=commands).returncode, 0)
        self.assertIn("no package build test\n", self.call(run, BARE="125", FAILS="setup").stdout)

    def test_ci_refuses_what_a_compiler_warns_of(self) -> None:
        run = str(self.checkout() / ".ci/run")
        for line, code in [
            ("/x/host/a.cpp:1:2: warning: unused 'b' [-Wunused]", 1),
            ("/x/build/host/a.cpp:1:2: warning: unused 'b' [-Wunused]", 0),
            ("%Warning-WIDTH: c.v:1:2", 0),
        ]:
            self.stand_in("make", f'echo "{line}"')
            said = self.call(run, BARE="125", FAILS="", COMMANDS="")
            self.assertEqual(said.returncode, code, said.stdout)
            self.assertEqual("the compiler warns" in said.stdout, code == 1)

    def test_ci_takes_the_bare_debians_word(self) -> None:
        run = str(self.checkout() / ".ci/run")
        for code in [0, 1, 2]:
            said = self.call(run, BARE=str(code), FAILS="", COMMANDS="")
            self.assertEqual(said.returncode, code)
            self.assertEqual([line for line in said.stdout.splitlines() if line.startswith("made:")], ["made: lint"])
