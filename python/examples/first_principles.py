# SPDX-License-Identifier: Apache-2.0
"""Convolution, Linear, ReLU and pooling from first principles, in float32, and a network made of them.

Usage: first_principles.py NETWORK.onnx [IMAGE.npy]

Prints by layer its product (M×K×N), its MACs, and its largest difference from ONNX Runtime. A convolution is the product
of its windows, a row each, and its weights, as the accelerator computes it. Exits with 1 if a layer differs by more than
rounding does."""

import sys

import numpy
import onnx
import onnxruntime

TOLERANCE = 1e-5  # of the largest value: sums of float32 in another order


def product(a, b):
    """C[m][n], the sum of A[m][k] B[k][n] over k: what a row of MACs does, one k after the other."""
    c = numpy.zeros((a.shape[0], b.shape[1]), numpy.float32)
    for k in range(a.shape[1]):
        for m in range(a.shape[0]):
            c[m] += a[m, k] * b[k]
    return c


def padded(x, pads, value):
    """pads: top, left, bottom, right."""
    top, left, bottom, right = pads
    images, channels, rows, columns = x.shape
    y = numpy.full((images, channels, top + rows + bottom, left + columns + right), value, numpy.float32)
    y[:, :, top:top + rows, left:left + columns] = x
    return y


def windows(x, kernel, strides, pads, padding=0.0):
    """The windows of a map [image][channel][row][column]: [image][channel][row][column][tap]."""
    x = padded(x, pads, padding)
    rows = (x.shape[2] - kernel[0]) // strides[0] + 1
    columns = (x.shape[3] - kernel[1]) // strides[1] + 1
    taps = numpy.zeros((*x.shape[:2], rows, columns, kernel[0] * kernel[1]), numpy.float32)
    for row in range(rows):
        for column in range(columns):
            top, left = row * strides[0], column * strides[1]
            window = x[:, :, top:top + kernel[0], left:left + kernel[1]]
            taps[:, :, row, column] = window.reshape(*x.shape[:2], -1)
    return taps


def convolution(x, weights, bias, strides=(1, 1), pads=(0, 0, 0, 0)):
    """weights: [output channel][channel][row][column]."""
    taps = windows(x, weights.shape[2:], strides, pads)
    images, channels, rows, columns, count = taps.shape
    a = taps.transpose(0, 2, 3, 1, 4).reshape(images * rows * columns, channels * count)
    c = linear(a, weights.reshape(len(weights), -1), bias)
    return c.reshape(images, rows, columns, -1).transpose(0, 3, 1, 2)


def linear(x, weights, bias):
    """weights: [output][input], as PyTorch stores them."""
    return product(x, weights.T) + bias


def relu(x):
    return numpy.where(x > 0, x, numpy.float32(0))


def max_pool(x, kernel, strides, pads=(0, 0, 0, 0)):
    return windows(x, kernel, strides, pads, -numpy.inf).max(axis=-1)


def layer(node, values):
    """A node's output, and the sizes M, K, N of its product or None."""
    settings = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    x, *others = (values[name] for name in node.input)
    if node.op_type == "Conv" and settings.get("group", 1) == 1 and set(settings.get("dilations", [1])) == {1}:
        weights = others[0]
        bias = others[1] if len(others) > 1 else numpy.zeros(len(weights), numpy.float32)
        y = convolution(x, weights, bias, settings.get("strides", (1, 1)), settings.get("pads", (0, 0, 0, 0)))
        return y, (y.size // len(weights), weights[0].size, len(weights))
    if node.op_type == "Gemm" and settings.get("transB") == 1:
        y = linear(x, *others)
        return y, (len(x), x.shape[1], y.shape[1])
    if node.op_type == "Relu":
        return relu(x), None
    if node.op_type == "MaxPool":
        return max_pool(x, settings["kernel_shape"], settings["strides"], settings.get("pads", (0, 0, 0, 0))), None
    if node.op_type == "Flatten":
        return x.reshape(len(x), -1), None
    raise ValueError(f"{node.op_type} is none of Conv, Gemm, Relu, MaxPool, Flatten in their simple forms")


def layers(model, x):
    """Each node of a network: the node, its output, the sizes of its product, and ONNX Runtime's output."""
    every = onnx.ModelProto()
    every.CopyFrom(model)
    del every.graph.output[:]
    every.graph.output.extend(onnx.ValueInfoProto(name=node.output[0]) for node in model.graph.node)
    session = onnxruntime.InferenceSession(every.SerializeToString(), providers=["CPUExecutionProvider"])
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values[model.graph.input[0].name] = x
    for node, expected in zip(model.graph.node, session.run(None, {model.graph.input[0].name: x})):
        values[node.output[0]], sizes = layer(node, values)
        yield node, values[node.output[0]], sizes, expected


def main(file, image=None):
    x = numpy.random.default_rng(1).random((1, 1, 28, 28), numpy.float32) if image is None else numpy.load(image)
    worst = 0.0
    for node, found, sizes, expected in layers(onnx.load(file), x):
        difference = abs(found - expected).max() / abs(expected).max()
        worst = max(worst, difference)
        macs = f"{sizes[0]}x{sizes[1]}x{sizes[2]}, {numpy.prod(sizes):,} MACs" if sizes else "no product"
        print(f"{node.op_type:8} {'x'.join(map(str, found.shape)):12} {macs:32} {difference:.1e}")
    return 0 if worst < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
