# SPDX-License-Identifier: Apache-2.0
"""Small files of every kind that the program reads, made without it."""

import gzip
import os
import struct
import zlib

# Kinds of protobuf fields, and those of ONNX that are needed here.
VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
FLOAT, INT8, INT64 = 1, 3, 7


def firmware_file():
    """The firmware, which stands next to the program."""
    return os.path.join(os.path.dirname(os.environ["GEMM64"]), "firmware.elf")


def firmware():
    with open(firmware_file(), "rb") as file:
        return file.read()


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field: an int as a varint, bytes and text with their length, a list as one after the other."""
    if isinstance(value, list):
        return b"".join(field(number, one) for one in value)
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def value_info(name, dims, element=FLOAT):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def floats(name, dims, values):
    return field(1, dims) + field(2, FLOAT) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def external(name, dims, entries):
    """A tensor whose data lie in another file; entries: location, offset, length as given."""
    listed = [field(1, key) + field(2, str(value)) for key, value in entries]
    return field(1, dims) + field(2, FLOAT) + field(8, name) + field(13, listed) + field(14, 1)


def ints_attribute(name, values):
    return field(1, name) + field(8, values) + field(20, 7)


def int_attribute(name, value):
    return field(1, name) + field(3, value) + field(20, 2)


def node(operator, inputs, outputs, attributes=()):
    return field(1, inputs) + field(2, outputs) + field(3, outputs[0]) + field(4, operator) + field(5, list(attributes))


def model(nodes, tensors, inputs, outputs):
    graph = field(1, nodes) + field(2, "hostile") + field(5, tensors) + field(11, inputs) + field(12, outputs)
    return field(1, 8) + field(2, "abuse") + field(7, graph) + field(8, field(2, 17))


def weights(random, count):
    return [random.uniform(-1, 1) for _ in range(count)]


def linear(random):
    """One Linear layer, 2x3 to 2x4."""
    return model([node("Gemm", ["x", "w", "b"], ["y"], [int_attribute("transB", 1)])],
                 [floats("w", [4, 3], weights(random, 12)), floats("b", [4], weights(random, 4))],
                 [value_info("x", [2, 3])], [value_info("y", [2, 4])])


def linear_outside(entries):
    """The same with its weights in another file, `entries` as given."""
    return model([node("MatMul", ["x", "w"], ["y"])], [external("w", [3, 4], entries)],
                 [value_info("x", [2, 3])], [value_info("y", [2, 4])])


def crash(random):
    """The lowest int64 by -1, of constants or not: a signal in ONNX Runtime."""
    def constant(name, value):
        return field(1, [1]) + field(2, INT64) + field(8, name) + field(9, struct.pack("<q", value))

    sum_of = random.choice(["lowest", "n"])
    return model([node("Cast", ["x"], ["d"], [int_attribute("to", INT64)]), node("Add", ["lowest", "d"], ["n"]),
                  node("Div", [sum_of, "minus"], ["q"]), node("Cast", ["q"], ["r"], [int_attribute("to", FLOAT)]),
                  node("Gemm", ["r", "w", "b"], ["y"], [int_attribute("transB", 1)])],
                 [constant("lowest", -2**63), constant("minus", -1),
                  floats("w", [4, 3], weights(random, 12)), floats("b", [4], weights(random, 4))],
                 [value_info("x", [2, 3])], [value_info("y", [2, 4])])


def network(random):
    """Convolution, activation, pooling and two Linear layers, of an 8x8 image."""
    return model([node("Conv", ["x", "k", "kb"], ["c"],
                       [ints_attribute("kernel_shape", [3, 3]), ints_attribute("pads", [1, 1, 1, 1])]),
                  node("Relu", ["c"], ["r"]),
                  node("MaxPool", ["r"], ["p"],
                       [ints_attribute("kernel_shape", [2, 2]), ints_attribute("strides", [2, 2])]),
                  node("Reshape", ["p", "shape"], ["f"]),
                  node("Gemm", ["f", "w", "b"], ["g"], [int_attribute("transB", 1)]),
                  node("MatMul", ["g", "m"], ["h"]),
                  node("Softmax", ["h"], ["y"])],
                 [floats("k", [2, 3, 3, 3], weights(random, 54)), floats("kb", [2], weights(random, 2)),
                  field(1, [2]) + field(2, INT64) + field(8, "shape") + field(9, struct.pack("<2q", 1, 32)),
                  floats("w", [5, 32], weights(random, 160)), floats("b", [5], weights(random, 5)),
                  floats("m", [5, 3], weights(random, 15))],
                 [value_info("x", [1, 3, 8, 8])], [value_info("y", [1, 3])])


def tensor(name, element, dims, data):
    return field(1, dims) + field(2, element) + field(8, name) + field(9, data)


def float_attribute(name, value):
    return field(1, name) + varint(2 << 3 | FOUR) + struct.pack("<f", value) + field(20, 1)


def text_attribute(name, value):
    return field(1, name) + field(4, value) + field(20, 3)


def message_attribute(name, number, kind, value):
    return field(1, name) + field(number, value) + field(20, kind)


def with_extras(data, value_infos, sparse, function):
    """A model with all that few models have."""
    more = field(13, value_infos) + field(15, sparse) + field(10, "a graph")
    fields = [field(number, value + more if number == 7 else value) for number, _, value in read_model(data)]
    return b"".join(fields) + field(4, "domain") + field(5, 1) + field(6, "a model") + field(14, field(1, "k") + field(
        2, "v")) + field(25, function) + field(8, field(1, "own") + field(2, 1)) + field(3, "1.0")


def read_model(data):
    from mutate import read_fields
    return read_fields(data)


def function_of_relu():
    """A function that the models call: own.Twice."""
    return (field(1, "Twice") + field(4, "a") + field(5, "b") + field(10, "own") + field(9, field(2, 17)) +
            field(7, node("Relu", ["a"], ["b"])))


def graph_of(operator, source, target):
    return field(1, node(operator, [source], [target])) + field(2, operator) + field(12, value_info(target, [1, 2, 4, 4]))


def call(inputs, outputs):
    return node("Twice", inputs, outputs) + field(7, "own")


def float_of_all_fields(random):
    """A float network that has attributes of most types, a subgraph and a function."""
    branches = [message_attribute("then_branch", 6, 5, graph_of("Relu", "p", "t")),
                message_attribute("else_branch", 6, 5, graph_of("Neg", "p", "e"))]
    data = model([node("Constant", [], ["one"], [message_attribute("value", 5, 4, tensor("", 9, [], b"\1"))]),
                  node("Conv", ["x", "k", "kb"], ["c"], [ints_attribute("pads", [1, 1, 1, 1]),
                                                        text_attribute("auto_pad", "NOTSET"), int_attribute("group", 1)]),
                  node("LeakyRelu", ["c"], ["p"], [float_attribute("alpha", 0.1)]),
                  node("If", ["one"], ["i"], branches), call(["i"], ["j"]),
                  node("Add", ["j", "d"], ["a"]), node("Flatten", ["a"], ["f"]), node("MatMul", ["f", "m"], ["y"])],
                 [floats("k", [2, 2, 3, 3], weights(random, 36)), floats("kb", [2], weights(random, 2)),
                  floats("m", [32, 3], weights(random, 96)), floats("d", [1], [0.5])],
                 [value_info("x", [1, 2, 4, 4])], [value_info("y", [1, 3])])
    return with_extras(data, value_info("c", [1, 2, 4, 4]), [], function_of_relu())


def sparse(random):
    """A Linear layer and a sparse tensor, which the program refuses by name."""
    values = (field(1, floats("s", [2], [0.5, 0.25])) + field(2, tensor("i", INT64, [2], struct.pack("<2q", 1, 3))) +
              field(3, [4]))
    return with_extras(linear(random), value_info("y", [2, 4]), values, function_of_relu())


def quantized_of_all_fields(random):
    """The same in QDQ form, with nodes between its groups."""
    scale, zero, int8_zero = "s", "z", "o"
    pair = lambda x, q, y: [node("QuantizeLinear", [x, scale, zero], [q]), node("DequantizeLinear", [q, scale, zero], [y])]
    data = model([*pair("x", "xq", "xd"),
                  node("DequantizeLinear", ["w", scale, int8_zero], ["wt"]),
                  node("Transpose", ["wt"], ["wd"], [ints_attribute("perm", [1, 0, 2, 3])]),
                  node("DequantizeLinear", ["b", "bs"], ["bd"]),
                  node("Conv", ["xd", "wd", "bd"], ["c"], [ints_attribute("pads", [1, 1, 1, 1])]),
                  node("Identity", ["c"], ["n"]), *pair("n", "nq", "nd"), *pair("nd", "mq", "md"),
                  node("Add", ["md", "xd"], ["a"]), *pair("a", "aq", "ad"),
                  node("ConvTranspose", ["ad", "v"], ["t"]), *pair("t", "tq", "td"),
                  node("MaxPool", ["td"], ["p"], [ints_attribute("kernel_shape", [2, 2])]), *pair("p", "pq", "pd"),
                  node("Flatten", ["pd"], ["f"]), *pair("f", "fq", "fd"),
                  node("DequantizeLinear", ["m", "ms", "mz"], ["mt"], [int_attribute("axis", 1)]),
                  node("Gemm", ["fd", "mt", "g"], ["h"]), *pair("h", "hq", "y")],
                 [floats("s", [], [0.05]), tensor("z", 2, [], b"\x80"), tensor("o", INT8, [], b"\0"),
                  tensor("w", INT8, [2, 2, 3, 3], bytes(range(36))), tensor("b", 6, [2], struct.pack("<2i", 7, -9)),
                  floats("bs", [], [0.0025]), floats("v", [2, 2, 2, 2], weights(random, 16)),
                  tensor("m", INT8, [32, 3], bytes(range(96))), floats("ms", [3], [0.01, 0.02, 0.03]),
                  tensor("mz", INT8, [3], bytes(3)), floats("g", [3], weights(random, 3))],
                 [value_info("x", [1, 2, 4, 4])], [value_info("y", [1, 3])])
    return with_extras(data, value_info("c", [1, 2, 4, 4]), [], function_of_relu())


def npy(descr, shape, data, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + b"\n" + data


def int8_matrix(random, rows, columns):
    return npy("|i1", (rows, columns), bytes(random.randrange(256) for _ in range(rows * columns)))


def float_array(random, shape):
    count = 1
    for dim in shape:
        count *= dim
    return npy("<f4", shape, struct.pack(f"<{count}f", *weights(random, count)))


def png(random, width=9, height=9):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(random.randrange(256) for _ in range(3 * width)) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg():
    """A grey image of 16x16: two codes, "no difference" and "end of block", say all of it."""
    def segment(marker, data):
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data
    code = bytes([1] + 15 * [0] + [0])
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) +
            segment(0xC0, struct.pack(">BHHBBBB", 8, 16, 16, 1, 1, 0x11, 0)) + segment(0xC4, b"\0" + code) +
            segment(0xC4, b"\x10" + code) + segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + b"\0\xff\xd9")


def idx_images(random, count=3):
    pixels = bytes(random.randrange(256) for _ in range(28 * 28)) * count
    return gzip.compress(struct.pack(">IIII", 0x803, count, 28, 28) + pixels, 1)


def pixels(random, count=3):
    """Grey images of 8x8 as a plain idx file, for network_of_grey()."""
    return struct.pack(">IIII", 0x803, count, 8, 8) + bytes(random.randrange(256) for _ in range(64 * count))


def labels(random, count=3, classes=3):
    """The same labels in one of the forms that are read."""
    values = [random.randrange(classes) for _ in range(count)]
    plain = struct.pack(">II", 0x801, count) + bytes(values)
    return random.choice([plain, gzip.compress(plain, 1), "".join(f"{value}\n" for value in values).encode(),
                          npy("|u1", (count,), bytes(values)), npy("<i8", (count,), struct.pack(f"<{count}q", *values))])


def network_of_grey(random):
    """Three classes from images of 8x8."""
    return model([node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w", "b"], ["y"], [int_attribute("transB", 1)])],
                 [floats("w", [3, 64], weights(random, 192)), floats("b", [3], weights(random, 3))],
                 [value_info("x", [1, 1, 8, 8])], [value_info("y", [1, 3])])


def replay(random):
    """What a failing `gemm` writes."""
    return {"gemm64": "0.1.0", "command": "gemm", "directory": ".",
            "options": {"device": "rtl", "array": random.choice([2, 4]), "seed": 1, "memory_latency": 100,
                        "memory_bytes_per_cycle": 0, "memory_stalls": 0.0, "precision": "int8",
                        "accumulate": "device", "batch": 1, "inject": ["weight:0,0:7@350"],
                        "sizes": [3, 5, 4], "a": "", "b": ""},
            "failure": {"product": "gemm", "index": 0, "first_clock": random.choice([0, 30, 64])}}
