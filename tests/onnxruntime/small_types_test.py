# SPDX-License-Identifier: Apache-2.0
"""Whole networks in QDQ form whose values have 16 bits, or whose weights have 4, by tensor, by channel and by block, give
ONNX Runtime's bytes. Scales are powers of two and values are few, so that every sum is exact, in whatever order."""

import random

import numpy
from onnx import TensorProto, helper

from harness import Graph, ProgramTest, infer, make_model

ACTIVATIONS = {"int16": TensorProto.INT16, "uint16": TensorProto.UINT16, "int8": TensorProto.INT8,
               "uint8": TensorProto.UINT8}
WEIGHTS = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8,
           "int16": TensorProto.INT16, "uint16": TensorProto.UINT16}


class Network(Graph):
    """x, [2, 16 or 32], through layers, each between a pair on its input and one on its results."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(seed)
        self.how = []
        self.size = self.random.choice([16, 32])
        self.x = self.numpy.integers(-40, 40, [2, self.size]).astype(numpy.float32) / 8
        value = self.pair("x")
        for _ in range(self.random.randint(1, 3)):
            value = self.pair(self.layer(value))
        self.model = make_model(self.nodes, [("x", self.x)], [(value, TensorProto.FLOAT, [2, self.size])], opset=21,
                                ir_version=10)
        self.model.graph.initializer.extend(self.constants)

    def typed(self, values, kind):
        """A constant of a type that NumPy may not have."""
        name, array = f"c{len(self.constants)}", numpy.asarray(values)
        self.constants.append(helper.make_tensor(name, kind, array.shape, array.flatten().tolist()))
        return name

    def scale(self, *shape):
        return self.constant((2.0 ** -self.numpy.integers(2, 4, shape)).astype(numpy.float32))

    def pair(self, value):
        name = self.random.choice(list(ACTIVATIONS))
        zero = {"int16": 3, "uint16": 30000, "int8": -5, "uint8": 128}[name]
        more = [self.scale(), self.typed(zero, ACTIVATIONS[name])]
        self.how.append(name)
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, *more), *more)

    def weights(self, shape, axis_in):
        """Dequantized weights; `axis_in` is summed along, the other one makes channels."""
        name, form = self.random.choice(list(WEIGHTS)), self.random.choice(["tensor", "channel", "block"])
        low, high = (0, 8) if name.startswith("u") else (-4, 4)
        values = self.typed(self.numpy.integers(low, high, shape), WEIGHTS[name])
        attributes, of_scales = {}, []
        if form == "channel":
            attributes, of_scales = {"axis": 1 - axis_in}, [shape[1 - axis_in]]
        if form == "block":
            block = self.random.choice([4, 8, 16])
            attributes, of_scales = {"axis": axis_in, "block_size": block}, list(shape)
            of_scales[axis_in] //= block
        inputs = [values, self.scale(*of_scales)]
        if self.random.random() < 0.6:
            zeros = self.numpy.integers(low, high, of_scales) if of_scales else numpy.int64(1)
            inputs.append(self.typed(zeros, WEIGHTS[name]))
        self.how.append(f"{name} by {form}")
        return self.node("DequantizeLinear", *inputs, **attributes)

    def layer(self, value):
        columns = self.random.choice([16, 32])
        if self.random.random() < 0.5:
            y = self.node("MatMul", value, self.weights((self.size, columns), 0))
            y = self.node("Add", y, self.constant(self.numpy.integers(-9, 9, columns).astype(numpy.float32) / 4))
        else:
            y = self.node("Gemm", value, self.weights((columns, self.size), 1), transB=1)
        self.size = columns
        # So that the next pair's types hold it.
        y = self.node("Mul", y, self.constant(numpy.float32(2**-5)))
        return self.node("Relu", y) if self.random.random() < 0.5 else y


class SmallTypes(ProgramTest):
    def test_random_networks(self):
        compared = 0
        for seed in range(40):
            network = Network(seed)
            # Else it quantizes the activations of what it joins to a MatMulNBits, which the file does not say.
            config = {"session.qdq_matmulnbits_accuracy_level": "1"}
            try:
                infer(network.model.SerializeToString(), {"x": network.x}, config=config)
            except Exception:  # of some types it has no kernel  # pylint: disable=broad-except
                continue
            self.run_case(network.model, {"x": network.x}, "--allow-host-only", "--array", 4, what=f"{seed}: {network.how}",
                          config=config)
            compared += 1
        self.assertGreater(compared, 25)
