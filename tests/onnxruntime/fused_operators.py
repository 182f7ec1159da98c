# SPDX-License-Identifier: Apache-2.0
"""Random nodes of ONNX Runtime's own operators, for operators_test.py."""

import numpy


def gelu(bias):
    def draw(d):
        shape = d.shape()
        d.x(shape)
        if bias == "always" or (bias and d.random.random() < 0.7):
            d.constant(d.floats(shape[-1:]))
        return {}
    return draw


def fused_matmul(d):
    front = d.shape(1, 2)
    m, k, n = d.size(), d.size(), d.size()
    attributes = d.some(alpha=0.5, transA=d.size(0, 1), transB=d.size(0, 1))
    batches = d.size(0, 1)
    if d.random.random() < 0.5:
        attributes.update(transBatchA=batches, transBatchB=d.size(0, 1))
    for name, rows, columns in (("A", m, k), ("B", k, n)):
        inner = [columns, rows] if attributes.get(f"trans{name}") else [rows, columns]
        shape = front + inner
        if attributes.get(f"transBatch{name}"):
            shape = [inner[0], *front, inner[1]]
        d.x(shape)
    return attributes


def skip_norm(beta):
    def draw(d):
        rows, width = d.shape(2, 2), d.size(2, 7)
        d.x(rows + [width])
        d.x(rows + [width])
        d.constant(d.floats([width]))
        if beta and d.random.random() < 0.8:
            d.constant(d.floats([width]))
            if d.random.random() < 0.5:
                d.constant(d.floats([width]))
        elif not beta and d.random.random() < 0.5:
            d.constant(d.floats([width]))
        return {"epsilon": d.random.choice([1e-5, 1e-3])}
    return draw


def embed_norm(d):
    batch, length, width = d.size(1, 3), d.size(), d.size(2, 7)
    d.inputs += [d.numpy.integers(0, 9, [batch, length]).astype(numpy.int32),
                 d.numpy.integers(0, 2, [batch, length]).astype(numpy.int32)]
    for rows in (9, length + 2, 2):
        d.constant(d.floats([rows, width]))
    d.constant(d.floats([width]))
    d.constant(d.floats([width]))
    return {"epsilon": 1e-5}


def matmul_n_bits(d):
    bits, block = d.random.choice([2, 4, 4, 8]), d.random.choice([16, 32, 64, 128, 256])
    k, n = block * d.size(1, 3) - d.random.choice([0, 0, 6]), d.size(1, 9)
    blocks = -(-k // block)
    d.x(d.shape(1, 2) + [k])
    d.constant(d.numpy.integers(0, 256, [n, blocks, block * bits // 8]).astype(numpy.uint8))
    d.constant(d.floats([n * blocks], 0.05, 1))
    if d.random.random() < 0.5:
        d.constant(d.numpy.integers(0, 256, [n * ((blocks * bits + 7) // 8)]).astype(numpy.uint8))
    # At level 4 the kernel quantizes the activations.
    return {"K": k, "N": n, "bits": bits, "block_size": block, **d.some(accuracy_level=4)}


def mask(d, batch, queries, keys):
    kind = d.random.choice(["none", "ends", "keys", "pairs"])
    if kind == "ends":
        d.inputs.append(d.numpy.integers(1, keys + 1, [batch]).astype(numpy.int32))
    elif kind == "keys":
        d.inputs.append(d.numpy.integers(0, 2, [batch, keys]).astype(numpy.int32))
    elif kind == "pairs":
        d.inputs.append(d.numpy.integers(0, 2, [batch, queries, keys]).astype(numpy.int32))


def attention(d):
    batch, length, heads, size, width = d.size(1, 2), d.size(), d.size(1, 3), 2 * d.size(1, 3), d.size()
    d.x([batch, length, width])
    d.constant(d.floats([width, 3 * heads * size], -1, 1))
    d.constant(d.floats([3 * heads * size], -1, 1))
    mask(d, batch, length, length)
    return {"num_heads": heads, **d.some(unidirectional=d.size(0, 1), scale=0.3)}


def quantized_attention(d):
    batch, length, heads, size, width = d.size(1, 2), d.size(), d.size(1, 3), 2 * d.size(1, 3), d.size()
    columns = 3 * heads * size
    d.inputs.append(d.numpy.integers(0, 256, [batch, length, width]).astype(numpy.uint8))
    d.constant(d.numpy.integers(-63, 64, [width, columns]).astype(numpy.int8))
    d.constant(d.floats([columns], -1, 1))
    d.constant(numpy.array(0.02, numpy.float32))
    per_column = d.random.random() < 0.5
    d.constant(d.floats([columns], 0.005, 0.02) if per_column else numpy.array(0.01, numpy.float32))
    d.inputs.append(d.numpy.integers(1, length + 1, [batch]).astype(numpy.int32))
    d.constant(numpy.array(d.random.randint(0, 255), numpy.uint8))
    d.constant(numpy.zeros(columns, numpy.int8) if per_column else numpy.array(0, numpy.int8))
    return {"num_heads": heads, **d.some(unidirectional=d.size(0, 1))}


def multi_head_attention(d):
    batch, queries, keys = d.size(1, 2), d.size(), d.size()
    heads, size, value_size = d.size(1, 3), d.size(), d.size()
    d.x([batch, queries, heads * size])
    d.x([batch, keys, heads * size])
    d.x([batch, keys, heads * value_size])
    if d.random.random() < 0.6:
        d.constant(d.floats([heads * (2 * size + value_size)]))
        if d.random.random() < 0.6:
            d.inputs.append(d.numpy.integers(0, 2, [batch, keys]).astype(numpy.int32))
            d.x([d.random.choice([1, batch]), d.random.choice([1, heads]), queries, keys])
    return {"num_heads": heads, **d.some(scale=0.4)}


def angles(d, places, half):
    angle = d.floats([places, half])
    d.constant(numpy.cos(angle))
    d.constant(numpy.sin(angle))


def rotary_embedding(d):
    batch, length, heads, size = d.size(1, 2), d.size(), d.size(1, 3), 2 * d.size(1, 4)
    d.x([batch, length, heads * size])
    if d.random.random() < 0.5:
        d.inputs.append(d.numpy.integers(0, 9, [1]).astype(numpy.int64))
    else:
        d.inputs.append(d.numpy.integers(0, 16, [batch, length]).astype(numpy.int64))
    angles(d, 16, size // 2)
    return d.some(interleaved=d.size(0, 1))


def group_query_attention(d):
    batch, shared, groups, size = d.size(1, 2), d.size(1, 2), d.size(1, 3), 16
    past = d.random.choice([0, 0, 3, 5])
    length = 1 if past else d.size()
    d.x([batch, length, shared * groups * size])
    d.x([batch, length, shared * size])
    d.x([batch, length, shared * size])
    for _ in range(2):
        d.x([batch, shared, past, size])
    d.inputs.append(numpy.full([batch], past + length - 1, numpy.int32))
    d.constant(numpy.array(past + length, numpy.int32))
    attributes = {"num_heads": shared * groups, "kv_num_heads": shared}
    attributes.update(d.some(scale=0.3, local_window_size=d.size(1, 4), softcap=2.0))
    if d.random.random() < 0.5:
        angles(d, 16, size // 2)
        attributes.update(do_rotary=1, rotary_interleaved=d.size(0, 1))
    return attributes


def unary(**attributes):
    def draw(d):
        d.x(d.shape())
        return d.some(**attributes)
    return draw


OPERATORS = {
    "BiasGelu": gelu("always"), "FastGelu": gelu("sometimes"), "Gelu": gelu(None), "QuickGelu": unary(alpha=1.3),
    "FusedMatMul": fused_matmul, "MatMulNBits": matmul_n_bits,
    "SkipLayerNormalization": skip_norm(True), "SkipSimplifiedLayerNormalization": skip_norm(False),
    "EmbedLayerNormalization": embed_norm, "Attention": attention, "QAttention": quantized_attention,
    "MultiHeadAttention": multi_head_attention, "GroupQueryAttention": group_query_attention,
    "RotaryEmbedding": rotary_embedding,
}
