# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share."""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def random():
    return np.random.default_rng(15)


@pytest.fixture
def int8(random):
    def make(*shape):
        return random.integers(-128, 128, shape, dtype=np.int8)

    return make


@pytest.fixture(scope="session")
def linear_network(tmp_path_factory):
    """A float network of two Linear layers, 12 to 10 to 6, for any number of rows."""
    generator = np.random.default_rng(7)

    def weights(name, *shape):
        values = generator.standard_normal(shape).astype(np.float32)
        return numpy_helper.from_array(values, name)

    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"], name="first", transB=1),
            helper.make_node("Relu", ["hidden"], ["positive"]),
            helper.make_node("Gemm", ["positive", "w2", "b2"], ["y"], name="second", transB=1),
        ],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 6]),
         helper.make_tensor_value_info("positive", TensorProto.FLOAT, ["rows", 10])],
        [weights("w1", 10, 12), weights("b1", 10), weights("w2", 6, 10), weights("b2", 6)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path_factory.mktemp("networks") / "linear.onnx"
    onnx.save(model, path)
    return path
