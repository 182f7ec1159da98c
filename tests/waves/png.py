# SPDX-License-Identifier: Apache-2.0
"""Decodes PNG pictures of 8 bits a channel, as GTKWave saves them."""

import struct
import zlib


def read(path, rows):
    """Width, height, and the pixels of the first rows as a list of rows of tuples."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG file"
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    assert (depth, interlace) == (8, 0) and colour in (2, 6), f"{path}: another kind of PNG"
    step = 3 if colour == 2 else 4
    return width, height, unfilter(zlib.decompress(packed), width, min(rows, height), step)


def unfilter(data, width, height, step):
    stride, rows = width * step, []
    before = bytearray(stride)
    for y in range(height):
        kind, line = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:][:stride])
        for x in range(stride):
            left = line[x - step] if x >= step else 0
            up = before[x]
            if kind == 1:
                line[x] = line[x] + left & 255
            elif kind == 2:
                line[x] = line[x] + up & 255
            elif kind == 3:
                line[x] = line[x] + (left + up) // 2 & 255
            elif kind == 4:
                corner = before[x - step] if x >= step else 0
                guess = left + up - corner
                distances = abs(guess - left), abs(guess - up), abs(guess - corner)
                line[x] = line[x] + (left, up, corner)[distances.index(min(distances))] & 255
        rows.append([tuple(line[x:x + step]) for x in range(0, stride, step)])
        before = line
    return rows
