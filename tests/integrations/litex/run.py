#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the SoC of `make -C scripts/fpga litex`, one place at a time and in a copy, and sees whether its run says so."""

import argparse
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
PARTS = ("rtl", "sim/integrations/litex", "host/driver", "scripts")
WRAPPER, FIRMWARE = "rtl/board/gemm64_litex.py", "sim/integrations/litex/firmware/main.c"

# (name, file, what stands there, what takes its place, what the run then says)
FAULTS = [
    ("product", "rtl/gemm64_stage.v", "activation_q[3*(N+1) + c] * $signed(weight_q[c][31:24])", "activation_q[2*(N+1) + c] * $signed(weight_q[c][31:24])",
     "firmware: WRONG"),
    ("interrupt", WRAPPER, ', "o_irq_o": self.ev.done.trigger}', "}", "features.0: no interrupt within the limit"),
    ("byte lane", WRAPPER, 'name}_{forth}"] = signal', 'name}_{forth}"] = signal[1:] if master and name == "strb" else signal', "firmware: WRONG"),
    ("identifiers", WRAPPER, "id_width=2", "id_width=1", "firmware: WRONG"),
    ("cache", FIRMWARE, "flush_cpu_dcache();", "", "firmware: WRONG"),
    ("silence", FIRMWARE, "firmware: VERIFIED", "firmware: verified", "no verdict of the firmware"),
]


def main():
    parser = argparse.ArgumentParser(prog="tests/integrations/litex/run.py", description=__doc__ + " `make -C scripts/fpga litex` first; each fault then takes a minute or two.",
                                     epilog="Exit: 0 each fault was found; 1 one was not; 2 bad usage, or `make -C scripts/fpga litex` has not run.")
    parser.add_argument("--build", default="build/litex", help="that of make -C scripts/fpga litex (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time (default: the processor's cores)")
    parser.add_argument("--only", metavar="NAME", choices=[fault[0] for fault in FAULTS], help="one fault: " + ", ".join(fault[0] for fault in FAULTS))
    options = parser.parse_args()
    os.chdir(ROOT)
    venv = os.path.abspath(f"{options.build}/venv")
    if not os.path.exists(f"{venv}/bin/python"):
        print(f"tests/integrations/litex/run.py: there is no {venv}; `make -C scripts/fpga litex` makes it", file=sys.stderr)
        return 2
    missed = 0
    for name, path, old, new, words in FAULTS:
        if options.only not in (None, name):
            continue
        started = time.monotonic()
        copy = os.path.abspath(f"{options.build}/broken/{name.replace(' ', '-')}")
        shutil.rmtree(copy, ignore_errors=True)
        for part in PARTS:
            shutil.copytree(part, f"{copy}/{part}")
        with open(f"{copy}/{path}", encoding="utf-8") as file:
            text = file.read()
        assert text.count(old) >= 1, f"{path}: there is no {old}"
        with open(f"{copy}/{path}", "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        os.makedirs(f"{copy}/build")
        os.symlink(venv, f"{copy}/build/venv")
        done = subprocess.run([f"{copy}/scripts/fpga/litex.py", "--n", "4", "--cycles", "30000000", "--build", f"{copy}/build", "--jobs", str(options.jobs)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        was_found = done.returncode == 1 and words in done.stdout
        missed += not was_found
        print(f"{name}: {'found' if was_found else 'NOT FOUND'}, {time.monotonic() - started:.0f} s", flush=True)
        if not was_found:
            print(f"exit {done.returncode}, and not '{words}' in:\n{done.stdout}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
