# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends whatever simulates, and leaves a device that works."""

import os
import signal
import subprocess
import sys
import textwrap

import gemm64
import pytest

PROGRAM = """
    import signal, threading, os, time
    import gemm64, numpy as np
    device = gemm64.Device("rtl", array=8)
    a = np.ones((1000, 900), np.int8)
    {before}
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        {work}
    except KeyboardInterrupt:
        print("interrupted at", device.cycles)
    print(int(device.matmul(a[:1], a[:1].T)[0, 0]))
"""


NETWORK = (
    "from onnx import helper as h, numpy_helper as n; f = a.astype(np.float32); session = "
    "gemm64.InferenceSession(h.make_model(h.make_graph([h.make_node('Gemm', ['x', 'w'], ['y'], "
    "transB=1)], 'g', [h.make_tensor_value_info('x', 1, f.shape)], [h.make_tensor_value_info('y', "
    "1, (1000, 1000))], [n.from_array(f, 'w')]), opset_imports=[h.make_opsetid('', 17)], "
    "ir_version=8).SerializeToString(), device=device)")


@pytest.mark.parametrize("before, work", [
    ("", "device.step(10**12)"), ("", "device.wait_interrupt(10**12)"), ("", "device.matmul(a, a.T)"),
    (NETWORK, "session.run(None, {'x': f})"),
], ids=["step", "wait", "matmul", "network"])
def test_a_simulation_ends(before, work):
    program = textwrap.dedent(PROGRAM).format(work=work, before=before)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            timeout=120, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("interrupted at") and lines[1] == "900", result.stdout
    assert int(lines[0].split()[-1]) < gemm64.predict(1000, 900, 1000, array=8)["cycles"]


def test_a_script_ends_as_python_scripts_do():
    program = "import gemm64; print('begun', flush=True); gemm64.Device('rtl', array=8).step(10**12)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in complaint
