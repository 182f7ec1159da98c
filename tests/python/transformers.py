# SPDX-License-Identifier: Apache-2.0
"""Seeded transformers as exporters write them: of each kind a small network with its inputs.

`make(kind, ...)` gives a model; `feeds(kind, ...)` arrays for it. Sizes of a batch and of a sequence
are left open in the file unless `fixed` gives them.
"""
import dataclasses

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS = ("bert", "vit", "gpt2", "llama", "t5", "whisper", "svtr")
WIDTH, HEADS, DEEP, LAYERS, WORDS, LONGEST = 288, 4, 576, 2, 97, 520
HEAD = WIDTH // HEADS
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


@dataclasses.dataclass
class Sizes:
    batch: int
    length: int
    past: int = 0


class Writer:
    """Nodes and weights of a graph in progress."""

    def __init__(self, seed, primitives):
        self.random = numpy.random.default_rng(seed)
        self.primitives = primitives  # normalizations and Gelu as single operations
        self.nodes, self.weights, self.inputs, self.outputs, self.names = [], [], [], [], {}

    def name(self, wish):
        self.names[wish] = self.names.get(wish, 0) + 1
        return f"{wish}_{self.names[wish]}"

    def constant(self, value, wish="c"):
        name = self.name(wish)
        self.weights.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def floats(self, *shape, scale=0.08, around=0.0):
        values = self.random.standard_normal(shape) * scale + around
        return self.constant(values.astype(numpy.float32), "w")

    def number(self, value):
        return self.constant(numpy.float32(value))

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, kind, *inputs, outputs=1, **attributes):
        names = [self.name(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def input(self, name, kind, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, value, name, *shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, FLOAT, list(shape)))

    def linear(self, x, n, k, bias=True):
        y = self.node("MatMul", x, self.floats(n, k))
        return self.node("Add", y, self.floats(k)) if bias else y

    def layer_norm(self, x, width=WIDTH):
        scale, bias = self.floats(width, around=1.0), self.floats(width)
        if not self.primitives:
            return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)
        distance = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        squares = self.node("ReduceMean", self.node("Pow", distance, self.number(2)), axes=[-1])
        root = self.node("Sqrt", self.node("Add", squares, self.number(1e-5)))
        return self.node("Add", self.node("Mul", self.node("Div", distance, root), scale), bias)

    def rms_norm(self, x, width=WIDTH):
        squares = self.node("ReduceMean", self.node("Pow", x, self.number(2)), axes=[-1])
        root = self.node("Sqrt", self.node("Add", squares, self.number(1e-6)))
        inverse = self.node("Div", self.number(1), root)
        return self.node("Mul", self.floats(width, around=1.0), self.node("Mul", x, inverse))

    def gelu(self, x):
        inner = self.node("Erf", self.node("Div", x, self.number(numpy.sqrt(2))))
        more = self.node("Mul", x, self.node("Add", inner, self.number(1)))
        return self.node("Mul", more, self.number(0.5))

    def fast_gelu(self, x):
        cube = self.node("Mul", self.node("Pow", x, self.number(3)), self.number(0.044715))
        inner = self.node("Mul", self.node("Add", x, cube), self.number(numpy.sqrt(2 / numpy.pi)))
        more = self.node("Add", self.node("Tanh", inner), self.number(1))
        return self.node("Mul", self.node("Mul", x, self.number(0.5)), more)

    def heads(self, x, perm=(0, 2, 1, 3), count=HEADS, head=HEAD):
        parts = self.node("Reshape", x, self.integers(0, 0, count, head))
        return self.node("Transpose", parts, perm=list(perm))

    def merged(self, x, width=WIDTH):
        together = self.node("Transpose", x, perm=[0, 2, 1, 3])
        return self.node("Reshape", together, self.integers(0, 0, width))

    def attend(self, q, k, v, mask=None, scale=True):
        """softmax(q k / sqrt(d) + mask) v; k is transposed."""
        scores = self.node("MatMul", q, k)
        if scale:
            scores = self.node("Div", scores, self.number(numpy.sqrt(HEAD)))
        if mask:
            scores = self.node("Add", scores, mask)
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), v)

    def model(self):
        graph = helper.make_graph(self.nodes, "transformer", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def length_of(w, x, axis=1):
    return w.node("Unsqueeze", w.node("Gather", w.node("Shape", x), w.constant(numpy.int64(axis))), w.integers(0))


def additive_mask(w, mask):
    """0 where the mask is 1, else the least float."""
    wide = w.node("Cast", w.node("Unsqueeze", w.node("Unsqueeze", mask, w.integers(1)), w.integers(2)), to=FLOAT)
    return w.node("Mul", w.node("Sub", w.number(1), wide), w.number(-3.4e38))


def self_attention(w, x, mask=None, scale=True, bias=True):
    q, k, v = (w.linear(x, WIDTH, WIDTH, bias) for _ in range(3))
    mixed = w.attend(w.heads(q), w.heads(k, (0, 2, 3, 1)), w.heads(v), mask, scale)
    return w.linear(w.merged(mixed), WIDTH, WIDTH, bias)


def bert(w, dims):
    ids = w.input("input_ids", INT64, *dims)
    mask = additive_mask(w, w.input("attention_mask", INT64, *dims))
    places = w.node("Gather", w.floats(LONGEST, WIDTH, scale=0.5), w.input("position_ids", INT64, *dims))
    x = w.layer_norm(w.node("Add", w.node("Gather", w.floats(WORDS, WIDTH, scale=0.5), ids), places))
    for _ in range(LAYERS):
        x = w.layer_norm(w.node("Add", self_attention(w, x, mask), x))
        deep = w.linear(w.gelu(w.linear(x, WIDTH, DEEP)), DEEP, WIDTH)
        x = w.layer_norm(w.node("Add", deep, x))
    w.output(x, "last_hidden_state", *dims, WIDTH)


def vit(w, dims):
    """Of a strip of patches, as many as `length`; normalizations come first."""
    batch, length = dims
    columns = 16 * length if isinstance(length, int) else "columns"
    image = w.input("pixel_values", FLOAT, batch, 3, 16, columns)
    patches = w.node("Conv", image, w.floats(WIDTH, 3, 16, 16), w.floats(WIDTH), kernel_shape=[16, 16],
                     strides=[16, 16])
    x = w.node("Transpose", w.node("Reshape", patches, w.integers(0, WIDTH, -1)), perm=[0, 2, 1])
    first = w.node("Expand", w.floats(1, 1, WIDTH),
                   w.node("Concat", length_of(w, image, 0), w.integers(1, WIDTH), axis=0))
    x = w.node("Concat", first, x, axis=1)
    x = w.node("Add", x, w.node("Slice", w.floats(1, LONGEST, WIDTH), w.integers(0), length_of(w, x),
                                w.integers(1)))
    for _ in range(LAYERS):
        all_three = w.linear(w.layer_norm(x), WIDTH, 3 * WIDTH)
        parts = w.node("Transpose", w.node("Reshape", all_three, w.integers(0, -1, 3, HEADS, HEAD)),
                       perm=[2, 0, 3, 1, 4])
        q, k, v = (w.node("Gather", parts, w.constant(numpy.int64(i)), axis=0) for i in range(3))
        scaled = w.node("Mul", w.node("MatMul", q, w.node("Transpose", k, perm=[0, 1, 3, 2])),
                        w.number(HEAD ** -0.5))
        mixed = w.node("MatMul", w.node("Softmax", scaled, axis=-1), v)
        x = w.node("Add", x, w.linear(w.merged(mixed), WIDTH, WIDTH))
        x = w.node("Add", x, w.linear(w.gelu(w.linear(w.layer_norm(x), WIDTH, DEEP)), DEEP, WIDTH))
    head = w.node("Gather", w.layer_norm(x), w.constant(numpy.int64(0)), axis=1)
    w.output(w.linear(head, WIDTH, 10), "logits", batch, 10)


def causal_mask(w, ids, k):
    """Of the last rows of a triangle, as many as there are new words."""
    triangle = w.constant(numpy.triu(numpy.full((1, 1, LONGEST, LONGEST), -3.4e38, numpy.float32), 1))
    total, new = length_of(w, k, 2), length_of(w, ids)
    rows = w.node("Slice", triangle, w.node("Sub", total, new), total, w.integers(2))
    return w.node("Slice", rows, w.integers(0), total, w.integers(3))


def with_past(w, dims, layer, k, v, count=HEADS):
    batch = dims[0]
    past = [w.input(f"past.{layer}.{what}", FLOAT, batch, count, "past", HEAD) for what in ("key", "value")]
    k, v = w.node("Concat", past[0], k, axis=2), w.node("Concat", past[1], v, axis=2)
    w.output(k, f"present.{layer}.key", batch, count, "total", HEAD)
    w.output(v, f"present.{layer}.value", batch, count, "total", HEAD)
    return k, v


def flat_gemm(w, x, n, k):
    """As GPT-2's Conv1D is exported."""
    shape = w.node("Concat", length_of(w, x, 0), length_of(w, x, 1), w.integers(k), axis=0)
    rows = w.node("Reshape", x, w.integers(-1, n))
    return w.node("Reshape", w.node("Gemm", rows, w.floats(n, k), w.floats(k)), shape)


def gpt2(w, dims):
    ids = w.input("input_ids", INT64, *dims)
    places = w.node("Gather", w.floats(LONGEST, WIDTH, scale=0.5), w.input("position_ids", INT64, *dims))
    x = w.node("Add", w.node("Gather", w.floats(WORDS, WIDTH, scale=0.5), ids), places)
    for layer in range(LAYERS):
        parts = w.node("Split", flat_gemm(w, w.layer_norm(x), WIDTH, 3 * WIDTH), outputs=3, axis=2)
        k, v = with_past(w, dims, layer, w.heads(parts[1]), w.heads(parts[2]))
        turned = w.node("Transpose", k, perm=[0, 1, 3, 2])
        mixed = w.attend(w.heads(parts[0]), turned, v, causal_mask(w, ids, k))
        x = w.node("Add", flat_gemm(w, w.merged(mixed), WIDTH, WIDTH), x)
        deep = flat_gemm(w, w.fast_gelu(flat_gemm(w, w.layer_norm(x), WIDTH, DEEP)), DEEP, WIDTH)
        x = w.node("Add", x, deep)
    w.output(w.linear(w.layer_norm(x), WIDTH, WORDS, bias=False), "logits", *dims, WORDS)


def llama(w, dims):
    """Rotary places, two heads of keys for four of queries, gated layers, no biases."""
    groups = HEADS // 2
    ids = w.input("input_ids", INT64, *dims)
    places = w.input("position_ids", INT64, *dims)
    angles = numpy.outer(numpy.arange(LONGEST), 1e4 ** (-numpy.arange(0, HEAD, 2) / HEAD))
    angles = numpy.concatenate([angles, angles], axis=1)
    cos, sin = (w.node("Unsqueeze", w.node("Gather", w.constant(f(angles).astype(numpy.float32)), places),
                       w.integers(1)) for f in (numpy.cos, numpy.sin))

    def turned(x):
        low = w.node("Slice", x, w.integers(0), w.integers(HEAD // 2), w.integers(3))
        high = w.node("Slice", x, w.integers(HEAD // 2), w.integers(HEAD), w.integers(3))
        around = w.node("Concat", w.node("Neg", high), low, axis=3)
        return w.node("Add", w.node("Mul", x, cos), w.node("Mul", around, sin))

    def repeated(x):
        shape = w.node("Concat", length_of(w, x, 0), w.integers(groups, 2), length_of(w, x, 2),
                       w.integers(HEAD), axis=0)
        wide = w.node("Expand", w.node("Unsqueeze", x, w.integers(2)), shape)
        flat = w.node("Concat", length_of(w, x, 0), w.integers(HEADS), length_of(w, x, 2),
                      w.integers(HEAD), axis=0)
        return w.node("Reshape", wide, flat)

    x = w.node("Gather", w.floats(WORDS, WIDTH, scale=0.5), ids)
    for layer in range(LAYERS):
        y = w.rms_norm(x)
        q = turned(w.heads(w.linear(y, WIDTH, WIDTH, bias=False)))
        k, v = (w.heads(w.linear(y, WIDTH, groups * HEAD, bias=False), count=groups) for _ in range(2))
        k, v = with_past(w, dims, layer, turned(k), v, groups)
        mixed = w.attend(q, w.node("Transpose", repeated(k), perm=[0, 1, 3, 2]), repeated(v),
                         causal_mask(w, ids, k))
        x = w.node("Add", x, w.linear(w.merged(mixed), WIDTH, WIDTH, bias=False))
        y = w.rms_norm(x)
        gate = w.linear(y, WIDTH, DEEP, bias=False)
        gate = w.node("Mul", gate, w.node("Sigmoid", gate))
        deep = w.node("Mul", gate, w.linear(y, WIDTH, DEEP, bias=False))
        x = w.node("Add", x, w.linear(deep, DEEP, WIDTH, bias=False))
    w.output(w.linear(w.rms_norm(x), WIDTH, WORDS, bias=False), "logits", *dims, WORDS)


def t5(w, dims):
    """An encoder block: no biases, gated Gelu, scores that nothing scales."""
    ids = w.input("input_ids", INT64, *dims)
    mask = additive_mask(w, w.input("attention_mask", INT64, *dims))
    x = w.node("Gather", w.floats(WORDS, WIDTH, scale=0.5), ids)
    for _ in range(LAYERS):
        x = w.node("Add", x, self_attention(w, w.rms_norm(x), mask, scale=False, bias=False))
        y = w.rms_norm(x)
        gate = w.fast_gelu(w.linear(y, WIDTH, DEEP, bias=False))
        deep = w.node("Mul", gate, w.linear(y, WIDTH, DEEP, bias=False))
        x = w.node("Add", x, w.linear(deep, DEEP, WIDTH, bias=False))
    w.output(w.rms_norm(x), "last_hidden_state", *dims, WIDTH)


def whisper(w, dims):
    """A decoder that attends to what an encoder gave; queries are scaled before they are cut into heads."""
    ids = w.input("input_ids", INT64, *dims)
    heard = w.input("encoder_hidden_states", FLOAT, dims[0], "frames", WIDTH)
    places = w.node("Gather", w.floats(LONGEST, WIDTH, scale=0.5), w.input("position_ids", INT64, *dims))
    x = w.node("Add", w.node("Gather", w.floats(WORDS, WIDTH, scale=0.5), ids), places)
    for layer in range(LAYERS):
        y = w.layer_norm(x)
        q = w.heads(w.node("Mul", w.linear(y, WIDTH, WIDTH), w.number(HEAD ** -0.5)))
        k, v = w.heads(w.linear(y, WIDTH, WIDTH, bias=False)), w.heads(w.linear(y, WIDTH, WIDTH))
        k, v = with_past(w, dims, layer, k, v)
        mixed = w.attend(q, w.node("Transpose", k, perm=[0, 1, 3, 2]), v, causal_mask(w, ids, k), scale=False)
        x = w.node("Add", x, w.linear(w.merged(mixed), WIDTH, WIDTH))
        q = w.heads(w.node("Mul", w.linear(w.layer_norm(x), WIDTH, WIDTH), w.number(HEAD ** -0.5)))
        k, v = w.heads(w.linear(heard, WIDTH, WIDTH, bias=False)), w.heads(w.linear(heard, WIDTH, WIDTH))
        mixed = w.attend(q, w.node("Transpose", k, perm=[0, 1, 3, 2]), v, scale=False)
        x = w.node("Add", x, w.linear(w.merged(mixed), WIDTH, WIDTH))
        x = w.node("Add", x, w.linear(w.gelu(w.linear(w.layer_norm(x), WIDTH, DEEP)), DEEP, WIDTH))
    w.output(w.linear(w.layer_norm(x), WIDTH, WORDS, bias=False), "logits", *dims, WORDS)


def svtr(w, dims):
    """As PP-OCR reads lines: Swish, queries scaled before they are multiplied."""
    batch, length = dims
    x = w.input("features", FLOAT, batch, length, WIDTH)
    for _ in range(LAYERS):
        all_three = w.linear(w.layer_norm(x), WIDTH, 3 * WIDTH)
        parts = w.node("Transpose", w.node("Reshape", all_three, w.integers(0, -1, 3, HEADS, HEAD)),
                       perm=[2, 0, 3, 1, 4])
        q, k, v = (w.node("Squeeze", w.node("Slice", parts, w.integers(i), w.integers(i + 1), w.integers(0)),
                          w.integers(0)) for i in range(3))
        q = w.node("Mul", q, w.number(HEAD ** -0.5))
        mixed = w.attend(q, w.node("Transpose", k, perm=[0, 1, 3, 2]), v, scale=False)
        x = w.node("Add", x, w.linear(w.merged(mixed), WIDTH, WIDTH))
        deep = w.linear(w.layer_norm(x), WIDTH, DEEP)
        deep = w.node("Mul", deep, w.node("Sigmoid", deep))
        x = w.node("Add", x, w.linear(deep, DEEP, WIDTH))
    w.output(w.node("Softmax", w.linear(w.layer_norm(x), WIDTH, WORDS), axis=-1), "characters", *dims, WORDS)


def make(kind, fixed=None, primitives=False, seed=0):
    """The model; `fixed` are Sizes that its file states."""
    writer = Writer(seed, primitives)
    dims = (fixed.batch, fixed.length) if fixed else ("batch", "length")
    globals()[kind](writer, dims)
    return writer.model()


def feeds(kind, sizes, seed=1):
    """Inputs by name; sizes.past words came before where the network keeps keys."""
    random = numpy.random.default_rng(seed)
    batch, length, past = sizes.batch, sizes.length, sizes.past

    def floats(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    if kind == "vit":
        return {"pixel_values": floats(batch, 3, 16, 16 * length)}
    if kind == "svtr":
        return {"features": floats(batch, length, WIDTH)}
    given = {"input_ids": random.integers(0, WORDS, (batch, length))}
    if kind in ("bert", "t5"):
        mask = numpy.ones((batch, length), numpy.int64)
        mask[:, length - length // 4:] = 0
        given["attention_mask"] = mask
    if kind == "whisper":
        given["encoder_hidden_states"] = floats(batch, 40, WIDTH)
    if kind in ("bert", "gpt2", "llama", "whisper"):
        first = past if kind != "bert" else 0
        given["position_ids"] = numpy.tile(numpy.arange(first, first + length), (batch, 1))
    if kind in ("gpt2", "llama", "whisper"):
        heads = HEADS // 2 if kind == "llama" else HEADS
        for layer in range(LAYERS):
            for what in ("key", "value"):
                given[f"past.{layer}.{what}"] = floats(batch, heads, past, HEAD)
    return given


def share_of_integers(report, model):
    """The device's share of the MACs that a quantized file does not compute in float, as dynamic ones do attention."""
    graph = onnx.load_from_string(model).graph
    quantized = {output for node in graph.node if node.op_type == "DequantizeLinear" for output in node.output}
    floats = {node.name for node in graph.node if node.op_type == "MatMul" and not quantized & set(node.input)}
    all_but = sum(layer["macs"] for layer in report["layers"] if layer["on"] == "device" or layer["name"] not in floats)
    return report["total"]["macs"] / all_but


def of_4_bits(model, block=32):
    """The model with MatMulNBits, whose activations are quantized as it runs, for each MatMul with constant weights."""
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "MatMul" or node.input[1] not in weights:
            continue
        k, n = weights[node.input[1]].shape
        blocks = -(-k // block)
        values = numpy.zeros((n, blocks * block), numpy.float32)
        values[:, :k] = weights[node.input[1]].T
        values = values.reshape(n, blocks, block)
        low, high = numpy.minimum(values.min(axis=2), 0), numpy.maximum(values.max(axis=2), 0)
        size = ((high - low) / 15).astype(numpy.float32)
        zero = numpy.rint(-low / size).astype(numpy.uint8)
        steps = numpy.clip(numpy.rint(values / size[..., None]) + zero[..., None], 0, 15).astype(numpy.uint8)
        pairs = numpy.pad(zero, ((0, 0), (0, blocks % 2))).reshape(n, -1, 2)
        constants = (steps[..., ::2] | steps[..., 1::2] << 4, size.reshape(-1), (pairs[..., 0] | pairs[..., 1] << 4).reshape(-1))
        names = [f"{node.name}_{what}" for what in ("steps", "size", "zero")]
        model.graph.initializer.extend(numpy_helper.from_array(*pair) for pair in zip(constants, names))
        node.CopyFrom(helper.make_node("MatMulNBits", [node.input[0], *names], list(node.output), name=node.name,
                                       domain="com.microsoft", K=k, N=n, bits=4, block_size=block, accuracy_level=4))
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model
