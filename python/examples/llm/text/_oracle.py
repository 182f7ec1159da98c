# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime next to the device: the same file, the same inputs, every byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gemm64 import InvalidArgument
from ._network import Arrays


class OnnxRuntime:
    """At its default level, on one thread."""

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise InvalidArgument(
                "--compare needs the package onnxruntime: pip install onnxruntime") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # Otherwise sums of uint8 with int8 products saturate without VNNI. ONNX Runtime rejects the option for int8
        # activations, whose sums do not saturate, and for int8 constants that several nodes read.
        options.add_session_config_entry("session.x64quantprecision", "1")
        self._session: Any
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"])
        except Exception:
            options.add_session_config_entry("session.x64quantprecision", "0")
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"])

    def compare(self, feed: Arrays, outputs: Arrays) -> int:
        """How many values of the outputs differ in any bit."""
        differing = 0
        for name, wanted in zip(outputs, self._session.run(list(outputs), feed)):
            have = outputs[name]
            if have.shape != wanted.shape or have.dtype != wanted.dtype:
                differing += have.size
                continue
            # As bytes, so that equal bits that are no number are equal.
            pairs = (np.frombuffer(np.ascontiguousarray(each).tobytes(), np.uint8)
                     .reshape(-1, each.dtype.itemsize) for each in (have, wanted))
            one, other = pairs
            differing += int((one != other).any(axis=1).sum())
        return differing
