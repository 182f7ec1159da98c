# SPDX-License-Identifier: Apache-2.0
"""The gemm64 accelerator from Python: its Verilated RTL, its predictions, and networks on it.

    import gemm64
    session = gemm64.InferenceSession("net.onnx", device="rtl")   # ONNX Runtime's names
    outputs = session.run(None, {"x": images})
    session.report.to_pandas()                                    # cycles and bytes by layer

    device = gemm64.Device("rtl", array=64, memory_latency=100)
    sums = device.matmul(a, b)                                    # a @ b, of int8: int32 [M, N]

    gemm64.predict(64, 9216, 4096)["cycles"]                      # the same, without simulating

    onnxruntime.register_execution_provider_library("gemm64", gemm64.get_library_path())
"""

from ._device import Device, Registers, Signal, Trace
from ._errors import (
    DeviceError,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    OutputError,
    UnsupportedOperator,
    VerificationError,
)
from ._gemm64 import VERSION as __version__
from ._provider import get_ep_name, get_library_path, last_report
from ._report import Report
from ._session import InferenceSession, ModelMetadata, NodeArg
from ._sweep import sweep_points, sweep_row
from ._tools import analyze, predict, quantize

__all__ = [
    "Device",
    "DeviceError",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelMetadata",
    "NoSuchFile",
    "NodeArg",
    "OutputError",
    "Registers",
    "Report",
    "Signal",
    "Trace",
    "UnsupportedOperator",
    "VerificationError",
    "__version__",
    "analyze",
    "get_ep_name",
    "get_library_path",
    "last_report",
    "predict",
    "quantize",
    "sweep_points",
    "sweep_row",
]
