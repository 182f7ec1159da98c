#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page on which the accelerator runs in a browser: the RTL by Verilator, then all by Emscripten into one
script, and that with the page's own parts into index.html. Exit: 0 made, 1 a tool failed or is missing, 2 bad usage.
"""
import argparse
import base64
import gzip
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPORT = os.path.join(ROOT, "host", "report", "page", "web")
PAGE = os.path.join(ROOT, "sim", "web", "page")
MOST = 6 << 20  # bytes, compressed
# The order of the parts: each uses those before it.
PARTS = [os.path.join(REPORT, "base.js")] + [os.path.join(PAGE, name + ".js") for name in (
    "tables", "simulation", "signals", "origins", "values", "array", "memories", "vector", "lanes", "ports", "counters", "flow", "waves", "digits", "tour", "controls", "main")]


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Steps:
    """Ninja's "[3/104] ...", as one line that is drawn again on a terminal, else a line for each tenth."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.tenth = 0

    def note(self, line):
        counted = re.match(r"\[(\d+)/(\d+)\]", line)
        if not counted:
            return
        done, whole = int(counted[1]), int(counted[2])
        text = f"web: {done} of {whole} steps built"
        if self.terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
        elif 10 * done // whole > self.tenth:
            self.tenth = 10 * done // whole
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def end(self):
        if self.terminal:
            sys.stderr.write("\r\x1b[K")


def run(log, *command):
    # Emscripten's scripts need packages of Debian's for Node, which another Node than Debian's does not find by itself.
    environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
    steps = Steps()
    with open(log, "w", encoding="utf-8") as file:
        try:
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace") as process:
                for line in process.stdout:
                    file.write(line)
                    steps.note(line)
        except FileNotFoundError:
            sys.exit(f"web: no program is called {command[0]}; scripts/setup/setup.sh web installs it")
    steps.end()
    if process.returncode != 0:
        sys.stderr.write(text(log)[-4000:])
        sys.exit(f"web: {command[0]} failed; all that it said is in {log}")


def page(script, module):
    facts = json.loads(text(os.path.join(ROOT, "rtl", "gemm64.json")))
    readers = {one["data_port"]["id"]: one["name"].lower() for one in facts["engines"] if "data_port" in one}
    data = json.dumps({"opcodes": {one["value"]: one["name"] for one in facts["commands"]["opcodes"]}, "readers": readers,
                       "digits": json.loads(text(os.path.join(PAGE, "digits.json")))}).replace("<", "\\u003c")
    style = text(os.path.join(REPORT, "page.css")) + text(os.path.join(PAGE, "page.css"))
    parts = "\n".join(text(part) for part in PARTS)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>gemm64 in a browser</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<style>{style}</style></head><body>
<noscript>This page simulates an accelerator, and needs JavaScript.</noscript>
<script type="application/json" id="data">{data}</script>
<script type="text/plain" id="wasm">{base64.b64encode(module).decode()}</script>
<script>{script}</script>
<script>"use strict";
{parts}</script>
</body></html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "web"), help="folder to write (default build/web)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--page-only", action="store_true", help="put the page together of what is compiled already")
    chosen = parser.parse_args()
    folder = os.path.abspath(chosen.build)
    wasm = os.path.join(folder, "wasm")
    os.makedirs(folder, exist_ok=True)
    if not chosen.page_only:
        if not os.path.exists(os.path.join(wasm, "build.ninja")):
            run(os.path.join(folder, "configure.log"), "emcmake", "cmake", "-S", os.path.join(ROOT, "sim", "web"),
                "-B", wasm, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
        run(os.path.join(folder, "build.log"), "cmake", "--build", wasm, "--parallel", str(chosen.jobs))
    with open(os.path.join(wasm, "gemm64.wasm"), "rb") as file:
        module = file.read()
    made = page(text(os.path.join(wasm, "gemm64.js")), module).encode()
    size = len(gzip.compress(made))
    if size > MOST:
        sys.exit(f"web: the page takes {size} bytes compressed; at most {MOST} are allowed")
    path = os.path.join(folder, "index.html")
    try:
        with open(path + ".part", "wb") as file:
            file.write(made)
        os.replace(path + ".part", path)
    except OSError as error:
        sys.exit(f"web: {path} was not written: {error.strerror}")
    print(f"Written: {os.path.relpath(path)}, {len(made) / 2**20:.1f} MiB, {size / 2**20:.1f} MiB compressed. Open it in a browser.")


if __name__ == "__main__":
    main()
