# SPDX-License-Identifier: Apache-2.0
"""Well-known networks with seeded weights, quantized by ONNX Runtime in both forms, have its very
bytes in every tensor. Those that take long run where GEMM64_LARGE is set."""

import os
import pathlib
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat, QuantType, shape_inference

from harness import saturates
from quantized import QuantizedTest, Reader

DATA = pathlib.Path(__file__).parent.parent / "data"
LARGE = "GEMM64_LARGE" in os.environ


def with_weights(model, random):
    """Draws the weights that the file lacks, so that values neither vanish nor explode."""
    normalization = {}
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            normalization.update(zip(node.input[1:5], ("scale", "bias", "mean", "variance")))
    for tensor in model.graph.initializer:
        if tensor.raw_data or tensor.float_data or tensor.int64_data or tensor.int32_data:
            continue
        shape = list(tensor.dims)
        role = normalization.get(tensor.name)
        if role in ("scale", "variance"):
            values = random.uniform(0.5, 1.5, shape)
        elif len(shape) > 1:
            values = random.standard_normal(shape) * (2 / numpy.prod(shape[1:]))**0.5
        else:
            values = 0.1 * random.standard_normal(shape)
        tensor.CopyFrom(numpy_helper.from_array(values.astype(numpy.float32), tensor.name))


def known(name, size):
    """The graph of tests/data for an image of `size`, with weights."""
    model = onnx.load(DATA / f"{name}.onnx", load_external_data=False)
    with_weights(model, numpy.random.default_rng(5))
    image = model.graph.input[0]
    shape = [1, 3, size, size]
    image.CopyFrom(helper.make_tensor_value_info(image.name, TensorProto.FLOAT, shape))
    for value in list(model.graph.output):
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model


def resnet18():
    """As torchvision has it, the normalizations in the convolutions."""
    from quantized_networks_test import Builder
    net = Builder([1, 3, 64, 64], 6)
    x = net.pool("MaxPool", net.conv("x", 64, 7, 2), 3, 2, 1)
    for filters in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if block == 0 and filters != 64 else 1
            y = net.conv(net.conv(x, filters, 3, stride), filters, 3, activation="")
            if stride == 2:
                x = net.conv(x, filters, 1, 2, activation="")
            x = net.node("Relu", [net.join("Add", y, x)], filters)
    return net.model(net.head(x, classes=1000))


class KnownNetworks(QuantizedTest):
    def check(self, model, forms=(QuantFormat.QDQ, QuantFormat.QOperator)):
        path = self.folder / "float.onnx"
        onnx.save(model, self.folder / "raw.onnx")
        shape_inference.quant_pre_process(self.folder / "raw.onnx", path, skip_symbolic_shape=True)
        image = onnx.load(path).graph.input[0]
        shape = [dim.dim_value for dim in image.type.tensor_type.shape.dim]
        random = numpy.random.default_rng(12)
        batches = [random.standard_normal(shape).astype(numpy.float32) for _ in range(3)]
        activations = QuantType.QInt8 if saturates() else QuantType.QUInt8
        for form in forms:
            with self.subTest(form=form):
                target = self.folder / "q.onnx"
                quantization.quantize_static(
                    path, target, Reader(image.name, batches[:2]), quant_format=form,
                    per_channel=True, activation_type=activations, weight_type=QuantType.QInt8)
                is_qdq = form == QuantFormat.QDQ
                count = self.compare(target, image.name, batches[2],
                                     self.quantized_values if is_qdq else self.all_values,
                                     {"session.qdqisint8allowed": "1"} if is_qdq else None)
                # What an output keeps from being fused is not looked at.
                report = self.run_on_rtl(target, batches[2], 64)
                print(f"{count} tensors equal, {report['total']['cycles']:,} cycles")

    def test_mobilenet_v2(self):
        self.check(known("mobilenet_v2", 64))

    def test_resnet18(self):
        self.check(resnet18())

    def test_yolo_head(self):
        self.check(known("yolo_head", 64))

    @unittest.skipUnless(LARGE, "takes a minute: set GEMM64_LARGE=1")
    def test_mobilenet_v3_large(self):
        self.check(known("mobilenet_v3_large", 96))

    def test_googlenet(self):
        self.check(known("googlenet", 64))

    @unittest.skipUnless(LARGE, "takes a minute: set GEMM64_LARGE=1")
    def test_resnet50(self):
        self.check(known("resnet50", 64))

    @unittest.skipUnless(LARGE, "takes a minute: set GEMM64_LARGE=1")
    def test_alexnet(self):
        self.check(known("alexnet", 224))

    @unittest.skipUnless(LARGE, "takes minutes: set GEMM64_LARGE=1")
    def test_vgg16(self):
        self.check(known("vgg16", 224))

    @unittest.skipUnless(LARGE, "takes a minute: set GEMM64_LARGE=1")
    def test_at_full_size(self):
        for name in ("mobilenet_v2", "googlenet"):
            with self.subTest(name=name):
                self.check(known(name, 224))
