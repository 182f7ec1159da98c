# SPDX-License-Identifier: Apache-2.0
"""The host's operators agree with ONNX Runtime for random attributes, shapes and values."""

import os
import random
import unittest

import numpy
import onnx
from onnx import TensorProto, helper

import fused_operators
from harness import ProgramTest, infer

CASES = int(os.environ.get("GEMM64_CASES", "4"))  # of each operator
SEED = int(os.environ.get("GEMM64_SEED", "1"))
OPSET = 20
RELATIVE, ABSOLUTE = 2e-5, 2e-6  # what other orders of sums and other libraries change


class Draw:
    """One node: its inputs, and what is drawn of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        self.inputs = []      # arrays, given when the network runs
        self.fixed = {}       # index of an input: it is a constant of the file

    def size(self, least=1, most=7):
        return self.random.randint(least, most)

    def shape(self, least=1, most=4):
        return [self.size() for _ in range(self.random.randint(least, most))]

    def floats(self, shape, low=-3, high=3):
        return self.numpy.uniform(low, high, shape).astype(numpy.float32)

    def x(self, shape, low=-3, high=3):
        self.inputs.append(self.floats(shape, low, high))
        return self.inputs[-1]

    def constant(self, array):
        self.fixed[len(self.inputs)] = True
        self.inputs.append(numpy.asarray(array))

    def broadcast(self, shape):
        """A shape that `shape` and it broadcast from."""
        other = [size if self.random.random() < 0.6 else 1 for size in shape]
        return other[self.random.randint(0, len(other) - 1):] if self.random.random() < 0.4 else other

    def some(self, **attributes):
        """Each of these attributes, or its default."""
        return {name: value for name, value in attributes.items() if self.random.random() < 0.7}


def unary(low=-3, high=3, **attributes):
    def draw(d):
        d.x(d.shape(), low, high)
        return d.some(**{name: round(d.random.uniform(*bounds), 3) for name, bounds in attributes.items()})
    return draw


def binary(low=-3, high=3, second=None):
    def draw(d):
        shape = d.shape()
        arrays = [d.floats(shape, low, high), d.floats(d.broadcast(shape), *(second or (low, high)))]
        if second is None:
            d.random.shuffle(arrays)
        d.inputs += arrays
        return {}
    return draw


def several(d):
    shape = d.shape()
    for _ in range(d.size(1, 4)):
        d.x(d.broadcast(shape))
    return {}


def compare(d):
    shape = d.shape()
    d.inputs += [d.numpy.integers(-2, 3, shape).astype(numpy.float32),
                 d.numpy.integers(-2, 3, d.broadcast(shape)).astype(numpy.float32)]
    return {}


def where(d):
    shape = d.shape()
    d.inputs += [d.numpy.random(d.broadcast(shape)) < 0.5, d.floats(shape), d.floats(d.broadcast(shape))]
    return {}


def mod(d):
    shape = d.shape()
    if d.random.random() < 0.5:
        d.inputs += [d.numpy.integers(-20, 21, shape), d.numpy.integers(1, 9, d.broadcast(shape))]
        return d.some(fmod=d.size(0, 1))
    d.inputs += [d.floats(shape, -9, 9), d.floats(d.broadcast(shape), 1, 4)]
    return {"fmod": 1}


def power(d):
    d.inputs += [d.floats([3, 4], 0.1, 3), d.floats(d.broadcast([3, 4]), -3, 3)]
    return {}


def prelu(d):
    shape = d.shape(2, 4)
    d.x(shape)
    slope = [shape[1]] + [1] * (len(shape) - 2)
    d.constant(d.floats(d.random.choice([slope, [1]])))
    return {}


def axes_of(d, rank):
    axes = d.random.sample(range(rank), d.random.randint(1, rank))
    return [axis - rank if d.random.random() < 0.4 else axis for axis in axes]


def reduce(low=-3, high=3):
    def draw(d):
        shape = d.shape()
        d.x(shape, low, high)
        attributes = d.some(keepdims=d.size(0, 1))
        if d.random.random() < 0.8:
            d.constant(numpy.array(axes_of(d, len(shape)), numpy.int64))
        elif d.random.random() < 0.5:
            attributes["noop_with_empty_axes"] = 1
        return attributes
    return draw


def arg(d):
    shape = d.shape()
    d.inputs.append(d.numpy.integers(-2, 3, shape).astype(numpy.float32))  # with equals
    axis = d.random.randrange(len(shape))
    return d.some(axis=d.random.choice([axis, axis - len(shape)]), keepdims=d.size(0, 1),
                  select_last_index=d.size(0, 1))


def softmax(d):
    shape = d.shape()
    d.x(shape, -9, 9)
    axis = d.random.randrange(len(shape))
    return d.some(axis=d.random.choice([axis, axis - len(shape)]))


def layer_normalization(d):
    shape = d.shape(2, 4)
    axis = d.random.randrange(len(shape))
    d.x(shape)
    d.constant(d.floats(shape[axis:]))
    if d.random.random() < 0.7:
        d.constant(d.floats(shape[axis:]))
    return {"axis": d.random.choice([axis, axis - len(shape)]), **d.some(epsilon=1e-3)}


def instance_normalization(d):
    shape = d.shape(3, 4)
    d.x(shape)
    d.constant(d.floats([shape[1]]))
    d.constant(d.floats([shape[1]]))
    return {"epsilon": d.random.choice([1e-5, 1e-2])}


def batch_normalization(d):
    shape = d.shape(2, 4)
    d.x(shape)
    for low in (-1, -1, -1, 0.2):
        d.constant(d.floats([shape[1]], low, 2))
    return d.some(epsilon=1e-3)


def lrn(d):
    d.x(d.shape(4, 4))
    return {"size": d.random.choice([1, 3, 5]), **d.some(alpha=0.01, beta=0.5, bias=2.0)}


def resize(d):
    shape = [d.size(1, 2), d.size(1, 3), d.size(2, 6), d.size(2, 6)]
    d.x(shape)
    mode = d.random.choice(["nearest", "linear"])
    attributes = {"mode": mode, "coordinate_transformation_mode": d.random.choice(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])}
    if mode == "nearest":
        attributes["nearest_mode"] = d.random.choice(
            ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    d.constant(numpy.zeros(0, numpy.float32))  # the region of interest
    # Corners of a size that is no whole number: ONNX's reference reckons with 2.4 of 4 x 0.6 (its test
    # resize_downsample_scales_linear_align_corners), ONNX Runtime with 2.
    scaled = d.random.random() < 0.5
    if scaled and attributes["coordinate_transformation_mode"] != "align_corners":
        d.constant(numpy.array([1, 1, *d.random.choices([0.5, 1, 1.5, 2, 2.7, 3], k=2)], numpy.float32))
    else:
        d.constant(numpy.zeros(0, numpy.float32))
        d.constant(numpy.array(shape[:2] + [d.size(1, 9), d.size(1, 9)], numpy.int64))
    return attributes


def window(d, rank):
    kernel = [d.size(1, 3) for _ in range(rank)]
    attributes = {"kernel_shape": kernel}
    attributes.update(d.some(strides=[d.size(1, 3) for _ in range(rank)]))
    if d.random.random() < 0.25:
        attributes["auto_pad"] = d.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        # Where a stride passes the kernel, SAME asks for less than no padding. ONNX Runtime refuses some of those
        # ("padding values must be non-negative"); here it is none, as in the frameworks.
        if attributes["auto_pad"] != "VALID" and "strides" in attributes:
            attributes["strides"] = [min(pair) for pair in zip(attributes["strides"], kernel)]
    elif d.random.random() < 0.6:
        attributes["pads"] = [d.random.randint(0, size - 1) for size in kernel * 2]
    return kernel, attributes


def pool(average):
    def draw(d):
        rank = d.random.choice([1, 2, 2, 3])
        _, attributes = window(d, rank)
        d.x([d.size(1, 2), d.size(1, 3)] + [d.size(5, 9) for _ in range(rank)])
        attributes.update(d.some(ceil_mode=d.size(0, 1)))
        if average:
            attributes.update(d.some(count_include_pad=d.size(0, 1)))
        return attributes
    return draw


def conv(d):
    rank, groups = d.random.choice([1, 2, 2, 3]), d.random.choice([1, 1, 2, 3])
    kernel, attributes = window(d, rank)
    if "auto_pad" not in attributes:
        attributes.update(d.some(dilations=[d.size(1, 2) for _ in range(rank)]))
    inputs, outputs = groups * d.size(1, 3), groups * d.size(1, 3)
    d.x([d.size(1, 2), inputs] + [d.size(6, 9) for _ in range(rank)])
    d.constant(d.floats([outputs, inputs // groups] + kernel))
    if d.random.random() < 0.6:
        d.constant(d.floats([outputs]))
    return {"group": groups, **attributes}


def conv_transpose(d):
    rank, groups = d.random.choice([1, 2, 2]), d.random.choice([1, 1, 2])
    kernel = [d.size(1, 4) for _ in range(rank)]
    strides = [d.size(1, 3) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": strides, "group": groups}
    attributes.update(d.some(dilations=[d.size(1, 2) for _ in range(rank)]))
    dilations = attributes.get("dilations", [1] * rank)
    if d.random.random() < 0.5:
        attributes["pads"] = [d.random.randint(0, (size - 1) // 2) for size in kernel * 2]
    if d.random.random() < 0.4:
        attributes["output_padding"] = [
            d.random.randint(0, max(stride, dilation) - 1) for stride, dilation in zip(strides, dilations)]
    inputs, outputs = groups * d.size(1, 3), d.size(1, 3)
    d.x([d.size(1, 2), inputs] + [d.size(3, 6) for _ in range(rank)])
    d.constant(d.floats([inputs, outputs] + kernel))
    if d.random.random() < 0.6:
        d.constant(d.floats([outputs * groups]))
    return attributes


def expand(d):
    shape = d.shape()
    d.x(d.broadcast(shape))
    d.constant(numpy.array(shape if d.random.random() < 0.7 else d.broadcast(shape), numpy.int64))
    return {}


def tile(d):
    shape = d.shape()
    d.x(shape)
    d.constant(numpy.array([d.size(1, 3) for _ in shape], numpy.int64))
    return {}


def depth_to_space(d):
    block = d.size(1, 3)
    d.x([d.size(1, 2), block * block * d.size(1, 3), d.size(), d.size()])
    return {"blocksize": block, **d.some(mode=d.random.choice(["DCR", "CRD"]))}


def space_to_depth(d):
    block = d.size(1, 3)
    d.x([d.size(1, 2), d.size(), block * d.size(1, 3), block * d.size(1, 3)])
    return {"blocksize": block}


def pad(d):
    shape = d.shape(1, 4)
    d.x([size + 2 for size in shape])
    mode = d.random.choice(["constant", "constant", "reflect", "edge"])
    least = -1 if mode == "constant" else 0
    d.constant(numpy.array([d.random.randint(least, 2) for _ in shape * 2], numpy.int64))
    if mode == "constant" and d.random.random() < 0.5:
        d.constant(numpy.float32(1.5))
    return {"mode": mode}


def cut(d):
    shape = d.shape()
    d.x(shape)
    axes = axes_of(d, len(shape))
    number = lambda: [d.random.choice([d.random.randint(-9, 9), -2**62, 2**62]) for _ in axes]
    for values in (number(), number(), axes, [d.random.choice([-3, -2, -1, 1, 2, 3]) for _ in axes]):
        d.constant(numpy.array(values, numpy.int64))
    return {}


def gather(d):
    shape = d.shape()
    axis = d.random.randrange(len(shape))
    d.x(shape)
    d.constant(d.numpy.integers(-shape[axis], shape[axis], d.shape(0, 2)).astype(numpy.int64))
    return {"axis": d.random.choice([axis, axis - len(shape)])}


def transpose(d):
    shape = d.shape()
    d.x(shape)
    return d.some(perm=d.random.sample(range(len(shape)), len(shape)))


def concat(d):
    shape = d.shape()
    axis = d.random.randrange(len(shape))
    for _ in range(d.size(1, 3)):
        d.x([d.size() if i == axis else size for i, size in enumerate(shape)])
    return {"axis": d.random.choice([axis, axis - len(shape)])}


def flatten(d):
    shape = d.shape()
    d.x(shape)
    return d.some(axis=d.random.randint(-len(shape), len(shape)))


def clip(d):
    d.x(d.shape())
    d.constant(numpy.float32(-1.25))
    if d.random.random() < 0.5:
        d.constant(numpy.float32(0.5))
    return {}


def cast(d):
    d.x(d.shape(), 0, 90)
    return {"to": d.random.choice([TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL,
                                   TensorProto.DOUBLE, TensorProto.FLOAT16])}


def matmul(d):
    front = d.shape(0, 2) if d.random.random() < 0.8 else []
    m, k, n = d.size(), d.size(), d.size()
    d.x(front + [m, k])
    d.x((d.broadcast(front) if front else []) + [k, n])
    return {}


def gemm(d):
    m, k, n = d.size(), d.size(), d.size()
    attributes = d.some(transA=d.size(0, 1), transB=d.size(0, 1), alpha=0.5, beta=2.0)
    d.x([k, m] if attributes.get("transA") else [m, k])
    d.x([n, k] if attributes.get("transB") else [k, n])
    if d.random.random() < 0.7:
        d.x(d.broadcast([m, n]))
    return attributes


def indices(d, low, high, shape):
    return d.numpy.integers(low, high, shape).astype(numpy.int64)


def axis_of(d, shape):
    axis = d.random.randrange(len(shape))
    return axis, d.random.choice([axis, axis - len(shape)])


def gather_elements(d):
    shape = d.shape()
    axis, named = axis_of(d, shape)
    d.x(shape)
    taken = [d.size(1, size) if i != axis else d.size() for i, size in enumerate(shape)]
    d.inputs.append(indices(d, -shape[axis], shape[axis], taken))
    return {"axis": named}


def gather_nd(d):
    shape = d.shape(2, 4)
    batch = d.random.randint(0, len(shape) - 1)
    depth = d.random.randint(1, len(shape) - batch)
    d.x(shape)
    rows = shape[:batch] + d.shape(1, 2)
    d.inputs.append(numpy.stack([indices(d, -size, size, rows) for size in shape[batch:batch + depth]], -1))
    return {"batch_dims": batch}


def scatter_elements(d):
    shape = d.shape()
    axis, named = axis_of(d, shape)
    d.x(shape)
    # Each place at most once, so that the order does not matter.
    taken = [d.size(1, size) for size in shape]
    d.inputs.append(numpy.argsort(d.numpy.random(taken), axis).astype(numpy.int64))
    d.x(taken)
    return {"axis": named, **d.some(reduction=d.random.choice(["none", "add", "mul", "max", "min"]))}


def scatter_nd(d):
    shape = d.shape(2, 4)
    d.x(shape)
    rows = d.random.sample(range(shape[0]), d.size(1, shape[0]))
    d.inputs.append(numpy.array(rows, numpy.int64)[:, None])
    d.x([len(rows)] + shape[1:])
    return d.some(reduction=d.random.choice(["none", "add", "mul", "max", "min"]))


def compress(d):
    shape = d.shape()
    axis, named = axis_of(d, shape)
    d.x(shape)
    d.inputs.append(d.numpy.random(shape[axis]) < 0.5)
    return {"axis": named}


def top_k(d):
    shape = d.shape()
    axis, named = axis_of(d, shape)
    d.x(shape)
    d.constant(numpy.array([d.size(1, shape[axis])], numpy.int64))
    return {"axis": named, **d.some(largest=d.size(0, 1))}


def cumulate(d):
    shape = d.shape()
    d.x(shape)
    d.constant(numpy.int64(axis_of(d, shape)[1]))
    return d.some(reverse=d.size(0, 1), exclusive=d.size(0, 1))


def one_hot(d):
    shape, depth = d.shape(1, 3), d.size(2, 6)
    d.inputs.append(indices(d, -depth, depth, shape))
    d.constant(numpy.array([depth], numpy.int64))
    d.constant(numpy.array([-1.5, 2], numpy.float32))
    return d.some(axis=d.random.randint(-len(shape) - 1, len(shape)))


def non_zero(d):
    d.inputs.append(d.numpy.integers(-1, 2, d.shape()).astype(numpy.float32))
    return {}


def trilu(d):
    d.x(d.shape(2, 4))
    if d.random.random() < 0.7:
        d.constant(numpy.int64(d.random.randint(-8, 8)))
    return d.some(upper=d.size(0, 1))


def reverse_sequence(d):
    shape, batch_first = d.shape(2, 4), d.size(0, 1)
    d.x(shape)
    d.inputs.append(indices(d, 1, shape[batch_first] + 1, [shape[1 - batch_first]]))
    return {"batch_axis": 1 - batch_first, "time_axis": batch_first}


def bits(names=()):
    def draw(d):
        shape = d.shape()
        most = 33 if names else 256
        d.inputs += [d.numpy.integers(0, 2**32, shape).astype(numpy.uint32),
                     d.numpy.integers(0, min(most, 32), d.broadcast(shape)).astype(numpy.uint32)]
        return {"direction": d.random.choice(names)} if names else {}
    return draw


def bitwise_not(d):
    d.inputs.append(d.numpy.integers(-2**31, 2**31, d.shape()).astype(numpy.int32))
    return {}


def einsum(d):
    equation, shapes = d.random.choice([
        ("ij,jk->ik", ([3, 4], [4, 5])), ("bij,bkj->bik", ([2, 3, 4], [2, 5, 4])), ("ii->i", ([4, 4],)),
        ("...ij->...ji", ([2, 3, 4],)), ("ij,ij->", ([3, 4], [3, 4])), ("bhqd,bhkd->bhqk", ([2, 2, 3, 4], [2, 2, 5, 4])),
        ("i,j", ([3], [4])), ("ijk->j", ([2, 3, 4],))])
    for shape in shapes:
        d.x(shape)
    return {"equation": equation}


def lp_pool(d):
    rank = d.random.choice([1, 2])
    _, attributes = window(d, rank)
    d.x([d.size(1, 2), d.size(1, 3)] + [d.size(5, 9) for _ in range(rank)])
    return {**attributes, "p": d.size(1, 3)}


def arg_axis(**choices):
    def draw(d):
        shape = d.shape()
        d.x(shape)
        return {"axis": axis_of(d, shape)[1], **{name: d.random.choice(values) for name, values in choices.items()}}
    return draw


def recurrent(gates, **extra):
    def draw(d):
        direction = d.random.choice(["forward", "reverse", "bidirectional"])
        directions = 1 + (direction == "bidirectional")
        length, batch, width, hidden = d.size(), d.size(1, 3), d.size(), d.size(1, 4)
        d.x([length, batch, width])
        d.constant(d.floats([directions, gates * hidden, width], -1, 1))
        d.constant(d.floats([directions, gates * hidden, hidden], -1, 1))
        d.constant(d.floats([directions, 2 * gates * hidden], -1, 1))
        if d.random.random() < 0.5:
            d.constant(d.numpy.integers(1, length + 1, [batch]).astype(numpy.int32))
            d.x([directions, batch, hidden])
        return {"hidden_size": hidden, "direction": direction, **d.some(**extra)}
    return draw


def grid_sample(d):
    axes = d.random.choice([2, 2, 3])
    d.x([2, d.size(1, 3)] + [d.size(1, 6) for _ in range(axes)])
    d.x([2] + [d.size(1, 4) for _ in range(axes)] + [axes], -1.5, 1.5)
    modes = ["linear", "nearest"] + (["cubic"] if axes == 2 else [])
    return {"mode": d.random.choice(modes), "padding_mode": d.random.choice(["zeros", "border", "reflection"]),
            "align_corners": d.size(0, 1) if min(d.inputs[0].shape[2:]) > 1 else 0}


def affine_grid(d):
    axes = d.random.choice([2, 3])
    d.x([2, axes, axes + 1])
    d.constant(numpy.array([2, 3] + [d.size(2, 5) for _ in range(axes)], numpy.int64))
    return {"align_corners": d.size(0, 1)}


def roi_align(d):
    height, width, count = d.size(3, 9), d.size(3, 9), d.size(1, 4)
    d.x([2, d.size(1, 3), height, width])
    corners = numpy.sort(d.floats([count, 2, 2], -1, 1) + 1, axis=1) * numpy.float32([width, height])
    d.inputs.append(corners.reshape(count, 4).astype(numpy.float32))
    d.inputs.append(d.numpy.integers(0, 2, [count]).astype(numpy.int64))
    # ONNX Runtime takes the largest of the four weighted corners, and ONNX's reference too.
    return {"output_height": d.size(1, 4), "output_width": d.size(1, 4), "sampling_ratio": d.size(0, 3),
            "mode": d.random.choice(["avg", "max"]), "spatial_scale": d.random.choice([0.5, 1.0]),
            "coordinate_transformation_mode": d.random.choice(["half_pixel", "output_half_pixel"])}


def non_max_suppression(d):
    batch, classes, count = d.size(1, 2), d.size(1, 3), d.size(1, 30)
    first = d.floats([batch, count, 2], 0, 1)
    d.inputs.append(numpy.concatenate([first, first + d.floats([batch, count, 2], -0.2, 0.5)], -1))
    d.inputs.append(d.floats([batch, classes, count], 0, 1).round(1))
    d.constant(numpy.array(d.size(0, 9), numpy.int64))
    d.constant(numpy.array(d.random.choice([0.1, 0.4, 0.7]), numpy.float32))
    if d.random.random() < 0.6:
        d.constant(numpy.array(0.3, numpy.float32))
    return {"center_point_box": d.size(0, 1)}


def unique(d):
    shape = d.shape(1, 3)
    d.inputs.append(d.numpy.integers(0, 3, shape).astype(d.random.choice([numpy.float32, numpy.int64])))
    return {**d.some(axis=d.random.randrange(len(shape))), "sorted": d.size(0, 1)}


def dft(d):
    onesided, inverse = d.size(0, 1), d.size(0, 1)
    parts = 1 if onesided and not inverse else 2
    length = d.size(2, 12)
    d.x([2, length, d.size(1, 3), parts])
    if onesided and inverse:
        return {"onesided": 0, "inverse": 1}  # ONNX Runtime knows none
    if d.random.random() < 0.5:
        d.constant(numpy.array(d.size(2, 12), numpy.int64))
    else:
        d.constant(numpy.zeros(0, numpy.float32))
    d.constant(numpy.array(d.random.choice([1, -2]), numpy.int64))
    return {"onesided": onesided, "inverse": inverse}


def stft(d):
    onesided = d.size(0, 1)
    d.x([2, d.size(20, 40), 1 if onesided else d.random.choice([1, 2])])
    length = d.size(2, 12)
    d.constant(numpy.array(d.size(1, 5), numpy.int64))
    d.constant(d.floats([length]))
    d.constant(numpy.array(length, numpy.int64))
    return {"onesided": onesided}


def col2im(d):
    axes = d.random.choice([1, 2, 2, 3])
    block, strides = [d.size(1, 3) for _ in range(axes)], [d.size(1, 2) for _ in range(axes)]
    image, pads = [d.size(4, 7) for _ in range(axes)], [d.size(0, 1) for _ in range(2 * axes)]
    counts = [(image[i] + pads[i] + pads[axes + i] - block[i]) // strides[i] + 1 for i in range(axes)]
    d.x([2, int(numpy.prod(block)) * d.size(1, 2), int(numpy.prod(counts))])
    d.constant(numpy.array(image, numpy.int64))
    d.constant(numpy.array(block, numpy.int64))
    return {"strides": strides, "pads": pads}


def max_unpool(d):
    shape = [2, d.size(1, 2), d.size(1, 4), d.size(1, 4)]
    d.x(shape)
    places = numpy.arange(int(numpy.prod(shape[:2])) * 4 * shape[2] * shape[3])
    d.inputs.append(d.numpy.permutation(places)[:int(numpy.prod(shape))].reshape(shape).astype(numpy.int64))
    return {"kernel_shape": [2, 2], "strides": [2, 2]}


def center_crop_pad(d):
    shape = d.shape(1, 4)
    d.x(shape)
    axes = sorted(d.random.sample(range(len(shape)), d.random.randint(1, len(shape))))
    d.constant(numpy.array([d.size() for _ in axes], numpy.int64))
    return {"axes": axes}


def time_window(d):
    d.constant(numpy.array(d.size(2, 20), numpy.int64))
    return d.some(periodic=d.size(0, 1))


OPERATORS = {
    **{name: unary() for name in (
        "Abs Atan Asinh Ceil Cos Cosh Erf Exp Floor Gelu HardSwish Identity Mish Neg Relu Round Sigmoid Sign Sin "
        "Sinh Softplus Softsign Tan Tanh").split()},
    "Acos": unary(-1, 1), "Asin": unary(-1, 1), "Atanh": unary(-0.9, 0.9), "Acosh": unary(1, 9),
    "Log": unary(0.1, 9), "Sqrt": unary(0, 9), "Reciprocal": unary(0.5, 3),
    "Celu": unary(alpha=(0.5, 2)), "Elu": unary(alpha=(0.5, 2)), "LeakyRelu": unary(alpha=(0.01, 0.5)),
    "ThresholdedRelu": unary(alpha=(0.1, 2)), "HardSigmoid": unary(alpha=(0.1, 0.4), beta=(0.2, 0.8)),
    "Selu": unary(alpha=(1, 2), gamma=(0.5, 2)), "Shrink": unary(bias=(0, 0.5), lambd=(0.2, 1)),
    "Add": binary(), "Sub": binary(), "Mul": binary(), "Div": binary(second=(0.5, 3)), "Pow": power, "Mod": mod,
    "Max": several, "Min": several, "Mean": several, "Sum": several, "PRelu": prelu, "Where": where,
    "Equal": compare, "Less": compare, "Greater": compare, "LessOrEqual": compare, "GreaterOrEqual": compare,
    "ReduceL1": reduce(), "ReduceL2": reduce(), "ReduceLogSum": reduce(0.1, 3), "ReduceLogSumExp": reduce(),
    "ReduceMax": reduce(), "ReduceMean": reduce(), "ReduceMin": reduce(), "ReduceProd": reduce(),
    "ReduceSum": reduce(), "ReduceSumSquare": reduce(), "ArgMax": arg, "ArgMin": arg,
    "Softmax": softmax, "LogSoftmax": softmax, "LayerNormalization": layer_normalization,
    "InstanceNormalization": instance_normalization, "BatchNormalization": batch_normalization, "LRN": lrn,
    "Resize": resize, "AveragePool": pool(True), "MaxPool": pool(False), "Conv": conv,
    "ConvTranspose": conv_transpose, "Expand": expand, "Tile": tile, "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth, "Pad": pad, "Slice": cut, "Gather": gather, "Transpose": transpose,
    "GatherElements": gather_elements, "GatherND": gather_nd, "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd, "Compress": compress, "TopK": top_k, "CumSum": cumulate, "OneHot": one_hot,
    "NonZero": non_zero, "Trilu": trilu, "ReverseSequence": reverse_sequence, "BitShift": bits(["LEFT", "RIGHT"]),
    "BitwiseAnd": bits(), "BitwiseOr": bits(), "BitwiseXor": bits(), "BitwiseNot": bitwise_not, "Einsum": einsum,
    "Hardmax": softmax, "LpNormalization": arg_axis(p=[1, 2]), "LpPool": lp_pool,
    "GlobalLpPool": lambda d: d.x([2, 3, d.size(), d.size()]) is None or {"p": d.size(1, 3)},
    "RNN": recurrent(1), "GRU": recurrent(3, linear_before_reset=1), "LSTM": recurrent(4, input_forget=1),
    "Concat": concat, "Flatten": flatten, "Clip": clip, "Cast": cast, "MatMul": matmul, "Gemm": gemm,
    "GridSample": grid_sample, "AffineGrid": affine_grid, "RoiAlign": roi_align, "Unique": unique,
    "NonMaxSuppression": non_max_suppression, "DFT": dft, "STFT": stft, "Col2Im": col2im, "MaxUnpool": max_unpool,
    "CenterCropPad": center_crop_pad, "HannWindow": time_window, "HammingWindow": time_window,
    "BlackmanWindow": time_window,
    **{f"com.microsoft.{name}": draw for name, draw in fused_operators.OPERATORS.items()},
}


# The first is compared.
OUTPUTS = {"TopK": 2, "com.microsoft.EmbedLayerNormalization": 2, "com.microsoft.GroupQueryAttention": 3}


def model_of(name, number):
    """The case `number` of an operator as a network of its own, and its inputs; None where ONNX or
    ONNX Runtime refuses what was drawn."""
    d = Draw(f"{SEED} {name} {number}")
    attributes = OPERATORS[name](d)
    graph = onnx.GraphProto(name="graph")
    domain, _, kind = name.rpartition(".")
    node = helper.make_node(kind, [f"x{i}" if array.size or array.ndim != 1 or array.dtype != numpy.float32 else ""
                                   for i, array in enumerate(d.inputs)], ["y", "more", "most"][:OUTPUTS.get(name, 1)],
                            domain=domain, **attributes)
    feeds = {}
    for i, array in enumerate(d.inputs):
        if node.input[i] == "":
            continue
        if i in d.fixed:
            graph.initializer.append(onnx.numpy_helper.from_array(array, f"x{i}"))
        else:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            graph.input.append(helper.make_tensor_value_info(f"x{i}", kind, array.shape))
            feeds[f"x{i}"] = array
    graph.node.append(node)
    graph.output.append(onnx.ValueInfoProto(name="y"))
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    inferred = onnx.shape_inference.infer_shapes(model)
    kind = inferred.graph.output[0].type.tensor_type.elem_type
    # What ONNX has no definition of gives floats.
    model.graph.output[0].type.tensor_type.elem_type = kind or TensorProto.FLOAT
    return model, feeds, d


class Operators(ProgramTest):
    def test_bits(self):
        """What follows such a node may be quantized, so that its last bits count."""
        x = numpy.linspace(-7, 7, 65536, dtype=numpy.float32)
        numpy.save(self.folder / "x.npy", x)
        for name, attributes in (("HardSigmoid", {}), ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}),
                                 ("HardSigmoid", {"alpha": 0.3, "beta": 0.7}), ("HardSwish", {})):
            node = helper.make_node(name, ["x"], ["y"], **attributes)
            graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
            onnx.save(model, self.folder / "m.onnx")
            (self.folder / "y.npy").unlink(missing_ok=True)
            self.succeed("run", "--model", "m.onnx", "--input", "x.npy", "--output", "y.npy", "--allow-host-only")
            wanted = infer(model.SerializeToString(), {"x": x})[0]
            self.assertEqual(numpy.load(self.folder / "y.npy").tobytes(), wanted.tobytes(), f"{name} {attributes}")

    def check(self, name, number):
        model, feeds, _ = model_of(name, number)
        onnx.save(model, self.folder / "m.onnx")
        try:
            expected = infer(str(self.folder / "m.onnx"), feeds, optimize=False)[0]
        except Exception:  # what was drawn is more than ONNX Runtime knows  # pylint: disable=broad-except
            return None
        command = ["run", "--model", "m.onnx", "--device", "reference", "--precision", "float32",
                   "--allow-host-only", "--output", "y.npy"]
        for feed, array in feeds.items():
            numpy.save(self.folder / f"{feed}.npy", array)
            command += ["--input", f"{feed}={feed}.npy"]
        (self.folder / "y.npy").unlink(missing_ok=True)
        code, _, complaint = self.run_program(*command)
        what = f"{name} number {number} (seed {SEED}): {helper.printable_node(model.graph.node[0])}"
        if code != 0:
            return f"{what}: {complaint.strip()}"
        found = numpy.load(self.folder / "y.npy")
        if found.shape != expected.shape or found.dtype != expected.dtype:
            return f"{what}: {found.dtype} {found.shape}, expected {expected.dtype} {expected.shape}"
        if expected.dtype.kind != "f":
            return None if numpy.array_equal(found, expected) else f"{what}: integers differ"
        absolute = ABSOLUTE + RELATIVE * float(numpy.abs(expected).max(initial=0))
        if not numpy.allclose(found, expected, rtol=RELATIVE, atol=absolute, equal_nan=True):
            worst = float(numpy.abs(found.astype(float) - expected).max())
            return f"{what}: differs by {worst:.2e}, {absolute:.2e} is allowed"
        return None

    def test_random_cases(self):
        wanted = os.environ.get("GEMM64_OPERATORS", "").split() or list(OPERATORS)
        failures, compared = [], {}
        for name in wanted:
            compared[name] = 0
            for number in range(CASES):
                if (self.folder / "y.npy").exists():
                    (self.folder / "y.npy").unlink()
                failure = self.check(name, number)
                if failure:
                    failures.append(failure)
                compared[name] += (self.folder / "y.npy").exists()
        print(f"{len(compared)} operators, {sum(compared.values())} cases: " +
              ", ".join(f"{name} {count}" for name, count in compared.items()), flush=True)
        for failure in failures:
            print(failure, flush=True)
        self.assertEqual(len(failures), 0)
        for name, count in compared.items():
            self.assertGreaterEqual(count, CASES // 3, f"{name}: too few cases were compared")


if __name__ == "__main__":
    unittest.main(verbosity=2)
