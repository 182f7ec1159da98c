# SPDX-License-Identifier: Apache-2.0
"""Files made hostile: bytes that change, and, in protobuf and JSON, values that do."""

import copy
import struct

from samples import BYTES, EIGHT, FOUR, VARINT, varint

NUMBERS = [0, 1, 2, 3, 7, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 1000003, (1 << 31) - 1, 1 << 31,
           (1 << 32) - 1, 1 << 32, (1 << 62), (1 << 63) - 1, -1, -2, -(1 << 31), -(1 << 63)]
TEXTS = ["", " ", "x", "../x", "/etc/passwd", "/dev/zero", "a\nb", "\x1b[2J", "%s%n", "\u00e4\u20ac", "." * 300,
         "nan", "1e999", "-", "--help", "inf"]


def change_bytes(random, data):
    """A few bytes, a piece taken out, doubled, cut off or overwritten."""
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        at = random.randrange(len(data) + 1)
        size = random.choice([1, 1, 2, 4, 8, 32])
        way = random.randrange(7)
        if way == 0 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif way == 1 and at < len(data):
            data[at] = random.choice([0, 0x7F, 0x80, 0xFF, random.randrange(256)])
        elif way == 2:
            del data[at:]
        elif way == 3:
            del data[at:at + size]
        elif way == 4:
            data[at:at] = data[at:at + size]
        elif way == 5:
            data[at:at] = random.randbytes(size)
        elif way == 6:
            value = random.choice(NUMBERS) & (1 << 64) - 1
            data[at:at + 8] = struct.pack(random.choice("<>") + "Q", value)
    return bytes(data)


def read_fields(data):
    """[number, kind, value] of each field; None where these bytes are no message."""
    fields, at = [], 0

    def read_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    try:
        while at < len(data):
            key = read_varint()
            number, kind = key >> 3, key & 7
            if number == 0 or number > 100:
                return None
            if kind == VARINT:
                fields.append([number, kind, read_varint()])
                continue
            size = {EIGHT: 8, FOUR: 4}.get(kind) or (read_varint() if kind == BYTES else None)
            if size is None or at + size > len(data):
                return None
            fields.append([number, kind, data[at:at + size]])
            at += size
    except IndexError:
        return None
    return fields


def write_fields(fields):
    out = b""
    for number, kind, value in fields:
        out += varint(number << 3 | kind)
        if kind == VARINT:
            out += varint(value)
        else:
            out += (varint(len(value)) if kind == BYTES else b"") + value
    return out


def change_fields(random, data, depth=0):
    """One value somewhere in a protobuf message, all lengths around it right."""
    fields = read_fields(data)
    if not fields:
        return change_bytes(random, data) if data else random.randbytes(random.randrange(9))
    at = random.randrange(len(fields))
    number, kind, value = fields[at]
    way = random.randrange(12)
    if way == 0:
        del fields[at]
    elif way == 1:
        fields.insert(at, list(fields[at]))
    elif way == 2:
        other = random.randrange(len(fields))
        fields[at][0], fields[other][0] = fields[other][0], fields[at][0]
    elif kind == VARINT:
        fields[at][2] = random.choice(NUMBERS + [value + 1, value - 1, value * 2])
    elif kind == BYTES and read_fields(value) and depth < 8:
        fields[at][2] = change_fields(random, value, depth + 1)
    elif kind == BYTES:
        fields[at][2] = random.choice([change_bytes(random, value), random.choice(TEXTS).encode(), value * 2, b""])
    else:
        fields[at][2] = struct.pack("<d", random.choice([0, -1, float("nan"), 1e300]))[-len(value):]
    return write_fields(fields)


def change_json(random, value):
    """One value somewhere in a JSON tree."""
    value = copy.deepcopy(value)
    at = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = random.choice(keys)
        if isinstance(at[key], (dict, list)) and at[key] and random.random() < 0.85:
            at = at[key]
            continue
        way = random.randrange(5)
        if way == 0:
            del at[key]
        elif way == 1 and isinstance(at[key], int):
            at[key] = random.choice(NUMBERS[:22] + NUMBERS)
        else:
            at[key] = random.choice([None, True, {}, [], [[]], 0.5, -1.5, 1e308, random.choice(NUMBERS),
                                     random.choice(TEXTS)])
        return value
