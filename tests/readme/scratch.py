# SPDX-License-Identifier: Apache-2.0
"""The folder in which documents' commands run: the build, and stand-ins for what a reader brings."""

import gzip
import shutil
import struct
import zlib

LINKS = ("tests", "docs", "host", "python", "rtl", "scripts", "sim", "waves")


def png(width, height, seed):
    """A picture in colours."""
    rows = b"".join(
        b"\0" + bytes((x * 7 + y * 5 * seed + 80 * channel) % 256 for x in range(width) for channel in range(3))
        for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def idx(magic, sizes, values):
    return gzip.compress(struct.pack(f">I{len(sizes)}I", magic, *sizes) + bytes(values))


def furnish(folder, root, build):
    """Fills the folder."""
    (folder / "build").symlink_to(build)
    for name in LINKS:
        (folder / name).symlink_to(root / name)
    # The program takes a picture for what its bytes say, whatever its name.
    (folder / "photos").mkdir()
    for seed in range(1, 4):
        for ending in ("png", "jpg"):
            (folder / "photos" / f"{seed}.{ending}").write_bytes(png(32, 28, seed))
    for name in ("photo.png", "photo.jpg"):
        (folder / name).write_bytes(png(32, 28, 1))
    (folder / "nets").mkdir()
    for name in ("net.onnx", "nets/resnet50.onnx"):
        shutil.copy(root / "tests/data/fashion_cnn.onnx", folder / name)
    images = [(x * y) % 256 for _ in range(4) for x in range(28) for y in range(28)]
    (folder / "test-images.gz").write_bytes(idx(2051, (4, 28, 28), images))
    (folder / "test-labels.gz").write_bytes(idx(2049, (4,), range(4)))
    (folder / "classes.txt").write_text("".join(f"class {i}\n" for i in range(10)))
    (folder / "bin").mkdir()
    viewer = folder / "bin" / "gtkwave"  # where there is no display
    viewer.write_text('#!/bin/sh\ntest -s "$1"\n')
    viewer.chmod(0o755)
