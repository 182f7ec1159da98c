# SPDX-License-Identifier: Apache-2.0
"""How a user's typed program uses the module; checked, never run."""

import gemm64
import numpy as np
from numpy.typing import NDArray

device = gemm64.Device("rtl", array=4, memory_latency=7)
a: NDArray[np.int8] = np.zeros((2, 3), np.int8)
sums: NDArray[np.int32] = device.matmul(a, a.T)
sums = device.matmul(a, a, transposed=True)
device.registers["RING_TAIL"] = device.registers["RING_HEAD"]
data: NDArray[np.uint8] = device.read(0, 64)
elapsed: int = device.counters["total.clocks"] + device.clocks + int(device.signal("irq_o"))
with device.trace("wave.fst", (0, 10)) as trace:
    device.step()
with gemm64.Device("tlm", array=4) as other:
    other.matmul(a, a.T)
try:
    device.matmul(a, a.T)
except gemm64.VerificationError as error:
    where: tuple[dict[str, int] | None, int | None, str | None] = error.element, error.clock, error.waveform
if device.report is not None:
    device.report.to_pandas().to_csv("layers.csv")

session = gemm64.InferenceSession("net.onnx", device=device)
outputs = session.run(None, {session.get_inputs()[0].name: np.zeros((1, 3), np.float32)})
producer: str = session.get_modelmeta().producer_name
shape: tuple[int, ...] = outputs[0].shape
utilization: float = session.report["total"]["utilization"]
cycles: int = gemm64.predict(1, 2, 3)["cycles"]
points: int = len(gemm64.sweep_points('{"networks": "1x2x3"}'))
row: dict[str, object] = gemm64.sweep_row('{"networks": "1x2x3"}', 0)
