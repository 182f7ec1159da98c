# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends whatever simulates, and leaves a device that works."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import signal, threading, os, time
    import gemm64, numpy as np
    device = gemm64.Device("rtl", array=8)
    a = np.ones(({rows}, 900), np.int8)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        {work}
    except KeyboardInterrupt:
        print("interrupted at", device.clocks)
    print(int(device.matmul(a[:1], a[:1])[0, 0]))
"""


@pytest.mark.parametrize("work", ["device.step(10**12)", "device.wait_interrupt(10**12)",
                                  "device.matmul(a, a)"])
def test_a_simulation_ends(work):
    program = textwrap.dedent(PROGRAM).format(work=work, rows=1000)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            timeout=300, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("interrupted at") and lines[1] == "900", result.stdout


def test_a_script_ends_as_python_scripts_do():
    program = "import gemm64; print('begun', flush=True); gemm64.Device('rtl', array=8).step(10**12)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in complaint
