#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes SmolLM2 as an ONNX file of int8 that keeps keys and values, and its tokenizer.json, from a GGUF file.

The weights of every Linear layer become int8 with a scale for each output channel; activations are quantized as the
network runs (DynamicQuantizeLinear, MatMulInteger). With --bits 4 the weights of all but the last layer, which are the
words' too, become 4 bits in blocks, each with a scale and a zero point (MatMulNBits of accuracy_level 4, which multiplies
integers as well). Runs in the environment of scripts/setup/venv.sh.
Exit: 0 written, 1 the file is another than it knows, 2 bad usage.
"""
import argparse
import pathlib
import struct
import sys

import numpy
import onnx
import tokenizers
from onnx import TensorProto, helper, numpy_helper

CONTEXT = 2048  # of the 8,192 places that it was trained for
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Gguf:
    """Facts and weights of a GGUF file, version 3 (github.com/ggml-org/ggml, docs/gguf.md)."""

    NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))

    def __init__(self, path):
        self.data, self.at = path.read_bytes(), 0
        if self.data[:4] != b"GGUF" or self.read("I", 4) != 3:
            raise ValueError(f"{path} is no GGUF file of version 3")
        count, facts = self.read("Q"), self.read("Q")
        self.facts = {self.text(): self.value(self.read("I")) for _ in range(facts)}
        tensors = [(self.text(), [self.read("Q") for _ in range(self.read("I"))], self.read("I"), self.read("Q"))
                   for _ in range(count)]
        first = -(-self.at // 32) * 32
        self.tensors = {name: (sizes[::-1], kind, first + offset) for name, sizes, kind, offset in tensors}

    def read(self, kind, skip=0):
        value, = struct.unpack_from("<" + kind, self.data, self.at + skip)
        self.at += skip + struct.calcsize(kind)
        return value

    def text(self):
        size = self.read("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.read("I"), self.read("Q")
            return [self.value(inner) for _ in range(count)]
        return self.read(self.NUMBERS[kind])

    def floats(self, name):
        """A tensor's values: float32, blocks of 32 in 4 bits with scale and minimum, or in 8 with a scale."""
        sizes, kind, at = self.tensors[name]
        count = int(numpy.prod(sizes))
        if kind == 0:
            return numpy.frombuffer(self.data, "<f4", count, at).reshape(sizes)
        if kind == 3:
            block = numpy.dtype([("scale", "<f2"), ("least", "<f2"), ("steps", "u1", 16)])
            blocks = numpy.frombuffer(self.data, block, count // 32, at)
            steps = numpy.concatenate([blocks["steps"] & 15, blocks["steps"] >> 4], axis=1).astype(numpy.float32)
            values = steps * blocks["scale"][:, None].astype("f4") + blocks["least"][:, None].astype("f4")
            return values.reshape(sizes)
        if kind == 8:
            block = numpy.dtype([("scale", "<f2"), ("steps", "i1", 32)])
            blocks = numpy.frombuffer(self.data, block, count // 32, at)
            return (blocks["steps"] * blocks["scale"][:, None].astype("f4")).reshape(sizes)
        raise ValueError(f"{name} is of type {kind}; 0, 3 and 8 are known")


class Graph:
    """Nodes and weights in progress; `block`: of 4-bit weights, 0: they are int8."""

    def __init__(self, block):
        self.block = block
        self.nodes, self.weights, self.inputs, self.outputs, self.constants = [], [], [], [], {}

    def constant(self, value):
        value = numpy.asarray(value)
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self.constants:
            self.constants[key] = f"constant_{len(self.weights)}"
            self.weights.append(numpy_helper.from_array(value, self.constants[key]))
        return self.constants[key]

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, kind, *inputs, outputs=1, name=None, **attributes):
        names = [f"{name or kind}_{len(self.nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def input(self, name, kind, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, value, name, *shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, FLOAT, list(shape)))

    def quantized(self, x):
        return self.node("DynamicQuantizeLinear", x, outputs=3)

    def linear(self, x, weights, name):
        """weights: [outputs][inputs]."""
        if not self.block:
            return self.int8_linear(x, weights, name)
        steps, size, zeros = in_blocks(weights, self.block)
        return self.node("MatMulNBits", x, *map(self.constant, (steps, size, zeros)), name=name, domain="com.microsoft",
                         K=weights.shape[1], N=weights.shape[0], bits=4, block_size=self.block, accuracy_level=4)

    def int8_linear(self, x, weights, name):
        values, scale, zero = self.quantized(x)
        steps, size = in_steps(weights)
        sums = self.node("MatMulInteger", values, self.constant(numpy.ascontiguousarray(steps.T)), zero, name=name)
        scales = self.node("Mul", scale, self.constant(size))
        return self.node("Mul", self.node("Cast", sums, to=FLOAT), scales)

    def linears(self, x, all_weights, name):
        """Layers of the same activations as one, which takes fewer cycles, and cut apart again."""
        whole = self.linear(x, numpy.concatenate(all_weights), name)
        sizes = self.integers(*(len(weights) for weights in all_weights))
        return self.node("Split", whole, sizes, outputs=len(all_weights), axis=-1)

    def norm(self, x, weights, epsilon):
        squares = self.node("ReduceMean", self.node("Pow", x, self.constant(numpy.float32(2))), axes=[-1])
        root = self.node("Sqrt", self.node("Add", squares, self.constant(numpy.float32(epsilon))))
        return self.node("Mul", self.node("Div", x, root), self.constant(weights))


def in_steps(weights):
    """int8 and the size of a step, by rows."""
    size = numpy.abs(weights).max(axis=1) / 127
    return numpy.rint(weights / size[:, None]).astype(numpy.int8), size.astype(numpy.float32)


def in_blocks(weights, block):
    """4 bits, two in a byte; the size of a step; and the zero points, two in a byte: of all zero points of a block the
    one that changes its weights least, with the step that suits it."""
    rows, width = weights.shape
    values = weights.reshape(-1, block)
    low, high = values.min(axis=1), values.max(axis=1)
    best = numpy.full(len(values), numpy.inf, numpy.float32)
    steps, sizes, zeros = numpy.zeros(values.shape, numpy.uint8), numpy.ones_like(low), numpy.zeros(len(values), numpy.uint8)
    for zero in range(1, 15):
        size = numpy.maximum(numpy.maximum(high / (15 - zero), -low / zero), numpy.float32(1e-12))
        moved = numpy.clip(numpy.rint(values / size[:, None]), -zero, 15 - zero)
        squares = (moved * moved).sum(axis=1)
        size = numpy.where(squares > 0, (moved * values).sum(axis=1) / numpy.maximum(squares, 1), size)
        change = ((moved * size[:, None] - values) ** 2).sum(axis=1)
        better = change < best
        best[better], sizes[better], zeros[better] = change[better], size[better], zero
        steps[better] = (moved[better] + zero).astype(numpy.uint8)
    pairs = steps.reshape(rows, width // block, block // 2, 2)
    zeros = zeros.reshape(rows, width // block)
    zeros = numpy.pad(zeros, ((0, 0), (0, zeros.shape[1] % 2))).reshape(rows, -1, 2)
    return (pairs[..., 0] | pairs[..., 1] << 4, sizes.astype(numpy.float32), (zeros[..., 0] | zeros[..., 1] << 4).reshape(-1))


def halves(weights, heads):
    """Rows whose turned values are neighbours, as GGUF has them, become rows whose halves are turned."""
    size = weights.shape[0] // heads
    return weights.reshape(heads, size // 2, 2, -1).swapaxes(1, 2).reshape(weights.shape)


def network(gguf, block):
    """The ONNX model; `block`: as Graph has it."""
    fact = {name.removeprefix("llama."): value for name, value in gguf.facts.items()}
    width, heads, groups = fact["embedding_length"], fact["attention.head_count"], fact["attention.head_count_kv"]
    each, epsilon = width // heads, fact["attention.layer_norm_rms_epsilon"]
    g = Graph(block)
    ids = g.input("input_ids", INT64, "batch", "length")
    places = g.input("position_ids", INT64, "batch", "length")

    angles = numpy.outer(numpy.arange(CONTEXT), fact["rope.freq_base"] ** (-numpy.arange(0, each, 2) / each))
    angles = numpy.concatenate([angles, angles], axis=1)
    cos, sin = (g.node("Unsqueeze", g.node("Gather", g.constant(f(angles).astype(numpy.float32)), places),
                       g.integers(1)) for f in (numpy.cos, numpy.sin))

    def cut(x, count):
        return g.node("Transpose", g.node("Reshape", x, g.integers(0, 0, count, each)), perm=[0, 2, 1, 3])

    def turned(x):
        low, high = g.node("Split", x, outputs=2, axis=3)
        around = g.node("Concat", g.node("Neg", high), low, axis=3)
        return g.node("Add", g.node("Mul", x, cos), g.node("Mul", around, sin))

    def kept(new, name):
        past = g.input(f"past.{name}", FLOAT, "batch", groups, "past", each)
        whole = g.node("Concat", past, new, axis=2)
        g.output(whole, f"present.{name}", "batch", groups, "total", each)
        return g.node("Unsqueeze", whole, g.integers(2))

    embedding = gguf.floats("token_embd.weight")
    steps, size = in_steps(embedding)
    x = g.node("Mul", g.node("Cast", g.node("Gather", g.constant(steps), ids), to=FLOAT),
               g.node("Gather", g.constant(size[:, None]), ids))
    mask = None
    for layer in range(fact["block_count"]):
        def weights(name, layer=layer):
            return gguf.floats(f"blk.{layer}.{name}.weight")

        def linear(of, name, values, layer=layer):
            return g.linear(of, values, f"layer{layer}.{name}")

        y = g.norm(x, weights("attn_norm"), epsilon)
        q, k, v = g.linears(y, [halves(weights("attn_q"), heads), halves(weights("attn_k"), groups), weights("attn_v")],
                            f"layer{layer}.qkv")
        q, k, v = turned(cut(q, heads)), turned(cut(k, groups)), cut(v, groups)
        k, v = kept(k, f"{layer}.key"), kept(v, f"{layer}.value")
        if mask is None:
            total = g.node("Gather", g.node("Shape", k), g.constant(numpy.int64(3)))
            keys = g.node("Range", g.constant(numpy.int64(0)), total, g.constant(numpy.int64(1)))
            later = g.node("Greater", keys, g.node("Unsqueeze", places, g.integers(1, 2, 4)))
            mask = g.node("Where", later, g.constant(numpy.float32(-3.4e38)), g.constant(numpy.float32(0)))
        # Heads that share a key, after their group.
        q = g.node("Reshape", q, g.integers(0, groups, heads // groups, -1, each))
        scores = g.node("Mul", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 2, 4, 3])),
                        g.constant(numpy.float32(each ** -0.5)))
        mixed = g.node("MatMul", g.node("Softmax", g.node("Add", scores, mask), axis=-1), v)
        mixed = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 3, 1, 2, 4]), g.integers(0, -1, width))
        x = g.node("Add", x, linear(mixed, "output", weights("attn_output")))
        y = g.norm(x, weights("ffn_norm"), epsilon)
        gate, up = g.linears(y, [weights("ffn_gate"), weights("ffn_up")], f"layer{layer}.gate_up")
        deep = g.node("Mul", g.node("Mul", gate, g.node("Sigmoid", gate)), up)
        x = g.node("Add", x, linear(deep, "down", weights("ffn_down")))
    last = g.norm(x, gguf.floats("output_norm.weight"), epsilon)
    g.output(g.int8_linear(last, embedding, "words"), "logits", "batch", "length", len(embedding))
    graph = helper.make_graph(g.nodes, "smollm2", g.inputs, g.outputs, g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8,
                             producer_name="gemm64")


def tokenizer(facts):
    """The tokenizer of the GGUF file's facts."""
    words = facts["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in facts["tokenizer.ggml.merges"]]
    result = tokenizers.Tokenizer(tokenizers.models.BPE({word: i for i, word in enumerate(words)}, merges))
    result.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
        tokenizers.pre_tokenizers.Digits(individual_digits=True),
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)])
    result.decoder = tokenizers.decoders.ByteLevel()
    control = 3
    result.add_special_tokens([word for word, kind in zip(words, facts["tokenizer.ggml.token_type"], strict=True)
                               if kind == control])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf", type=pathlib.Path, help="the GGUF file")
    parser.add_argument("folder", type=pathlib.Path, help="where model.onnx and tokenizer.json go")
    parser.add_argument("--bits", type=int, choices=(4, 8), default=8, help="of weights (default 8)")
    parser.add_argument("--block", type=int, choices=(16, 32, 64, 128), default=32, metavar="N",
                        help="weights of 4 bits that share a scale: 16, 32, 64 or 128 (default 32, as in GGUF)")
    options = parser.parse_args()
    try:
        gguf = Gguf(options.gguf)
        if gguf.facts.get("general.architecture") != "llama":
            raise ValueError(f"{options.gguf} is no network of llama's architecture")
        options.folder.mkdir(parents=True, exist_ok=True)
        onnx.save(network(gguf, options.block if options.bits == 4 else 0), options.folder / "model.onnx")
        tokenizer(gguf.facts).save(str(options.folder / "tokenizer.json"))
    except (OSError, ValueError, KeyError, struct.error) as error:
        print(f"export-smollm2: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
