#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the scores that `gemm64 run` wrote with ONNX Runtime's, byte for byte.

Runs in the environment of scripts/setup/venv.sh. What the network sees of the images is printed by gemm64 as
well: an identity network writes it.
Exit: 0 equal, 1 not, 2 bad usage.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper


def seen_by_network(gemm64, shape, arguments, folder):
    """The network's input as gemm64 makes it of images."""
    dims = ["batch", *shape[1:]]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    onnx.save(model, folder / "identity.onnx")
    subprocess.run([gemm64, "run", "--model", folder / "identity.onnx", "--device", "reference", "--output",
                    folder / "x.npy", "--allow-host-only", *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    return numpy.load(folder / "x.npy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gemm64", help="the program")
    parser.add_argument("model", help="the quantized network")
    parser.add_argument("scores", help="the network's output as gemm64 wrote it, a .npy file")
    parser.add_argument("arguments", nargs="+", help="options of `gemm64 run` that name the images (after --)")
    options = parser.parse_args()

    session_options = onnxruntime.SessionOptions()
    session_options.intra_op_num_threads = 2
    session_options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI, sums saturate else
    session = onnxruntime.InferenceSession(options.model, session_options, providers=["CPUExecutionProvider"])
    taken = session.get_inputs()[0]
    with tempfile.TemporaryDirectory() as folder:
        images = seen_by_network(options.gemm64, taken.shape, options.arguments, pathlib.Path(folder))
    at_once = taken.shape[0] if isinstance(taken.shape[0], int) else 100
    expected = numpy.concatenate([session.run(None, {taken.name: images[at:at + at_once]})[0]
                                  for at in range(0, len(images), at_once)])
    found = numpy.load(options.scores)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        print(f"ONNX Runtime gives {expected.dtype} {expected.shape}, gemm64 {found.dtype} {found.shape}")
        return 1
    rows = len(images)
    equal = (found.reshape(rows, -1).view(numpy.uint8) == expected.reshape(rows, -1).view(numpy.uint8)).all(1)
    print(f"ONNX Runtime: {equal.sum():,} of {rows:,} images have the same bytes in every class.")
    return 0 if equal.all() else 1


if __name__ == "__main__":
    sys.exit(main())
