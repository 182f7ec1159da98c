# SPDX-License-Identifier: Apache-2.0
"""Transformers of seven kinds give every bit that ONNX Runtime gives at its default level: as float
files on the host, and quantized in four forms."""

import importlib.util
import pathlib

import gemm64
import numpy as np
import onnx
import onnxruntime
import pytest
import transformers
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_dynamic, quantize_static)
from transformers import KINDS, Sizes

spec = importlib.util.spec_from_file_location(
    "harness", pathlib.Path(__file__).resolve().parents[1] / "onnxruntime/harness.py")
harness = importlib.util.module_from_spec(spec)
spec.loader.exec_module(harness)
pytestmark = pytest.mark.skipif(harness.saturates(),
                                reason="ONNX Runtime's sums saturate on this processor")

SIZES = (Sizes(1, 1, 5), Sizes(1, 16, 0), Sizes(3, 33, 2))


def expected(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return [output.name for output in session.get_outputs()], session.run(None, feeds)


def compare(model, feeds, precision):
    """Every output's every byte."""
    names, wanted = expected(model, feeds)
    session = gemm64.InferenceSession(model, device="reference", precision=precision)
    for name, want, have in zip(names, wanted, session.run(None, feeds), strict=True):
        assert np.isfinite(want).all(), name
        assert (want.shape, want.dtype) == (have.shape, have.dtype), name
        differ = int((want.view(np.uint32) != have.view(np.uint32)).sum())
        assert differ == 0, f"{differ} of {want.size} values of {name} differ"
    return session.report


@pytest.mark.parametrize("primitives", [False, True], ids=["operators", "primitives"])
@pytest.mark.parametrize("kind", KINDS)
def test_float_file_of_any_size(kind, primitives):
    model = transformers.make(kind, primitives=primitives).SerializeToString()
    for sizes in SIZES:
        compare(model, transformers.feeds(kind, sizes), "float32")


@pytest.mark.parametrize("kind", KINDS)
def test_float_file_that_states_its_sizes(kind):
    for sizes in SIZES:
        model = transformers.make(kind, sizes).SerializeToString()
        compare(model, transformers.feeds(kind, sizes), "float32")


class Inputs(CalibrationDataReader):
    def __init__(self, kind):
        self.left = [transformers.feeds(kind, Sizes(2, 16, 4), seed) for seed in (5, 6)]

    def get_next(self):
        return self.left.pop() if self.left else None


@pytest.mark.parametrize("form", ["dynamic", "every product", "qdq", "qoperator"])
@pytest.mark.parametrize("kind", KINDS)
def test_quantized_file(kind, form, tmp_path):
    onnx.save(transformers.make(kind), tmp_path / "float.onnx")
    names = tmp_path / "float.onnx", tmp_path / "quantized.onnx"
    if form in ("dynamic", "every product"):
        quantize_dynamic(*names, weight_type=QuantType.QInt8,
                         extra_options={"MatMulConstBOnly": form == "dynamic"})
    else:
        quantize_static(*names, Inputs(kind),
                        quant_format=QuantFormat.QDQ if form == "qdq" else QuantFormat.QOperator,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    model = names[1].read_bytes()
    for sizes in (*SIZES[::2], Sizes(8, 33, 3)):
        report = compare(model, transformers.feeds(kind, sizes), "file")
        # Files that are quantized dynamically compute attention in float.
        assert report["total"]["device_share"] > (0.94 if form == "dynamic" else 0.99)
        assert transformers.share_of_integers(report, model) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gpt2"])  # which has only Gemm
def test_file_of_4_bits_in_blocks(kind):
    for block in (32, 64):
        model = transformers.of_4_bits(transformers.make(kind), block).SerializeToString()
        for sizes in SIZES:
            report = compare(model, transformers.feeds(kind, sizes), "file")
            layers = {layer["operator"]: layer for layer in report["layers"]}
            assert "--precision int8 takes them to the device" in layers["MatMulNBits"]["reason"]
