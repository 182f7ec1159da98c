#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the tutorials and the course name: a network, photos of its kind, and the names of its classes.

All are of Fashion-MNIST, whose images scripts/setup/setup.sh installs: net.onnx (tests/data/fashion_cnn.onnx), photos/, photo.png,
classes.txt, test-images.gz and test-labels.gz. Exit: 0 written, 1 a file is missing or cannot be written, 2 bad usage.
"""
import argparse
import gzip
import os
import shutil
import struct
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = "/usr/share/datasets/fashion-mnist"
CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
OF_EACH_CLASS = 3  # photos
TEST_IMAGES = 100


def read_idx(path, axes, count):
    """The first items of an idx file, as bytes each, and their sizes."""
    with gzip.open(path) as file:
        head = struct.unpack(f">I{axes}I", file.read(4 + 4 * axes))
        sizes = head[2:]
        item = 1
        for size in sizes:
            item *= size
        return [file.read(item) for _ in range(min(count, head[1]))], sizes


def idx(magic, sizes, items):
    """An idx file, the same bytes whenever it is made."""
    return gzip.compress(struct.pack(f">I{1 + len(sizes)}I", magic, len(items), *sizes) + b"".join(items), mtime=0)


def png(pixels, width, height):
    """A grey picture."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[y * width:(y + 1) * width] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def samples(data):
    """Names and contents of the files."""
    images, (height, width) = read_idx(os.path.join(data, "t10k-images-idx3-ubyte.gz"), 3, 10 * TEST_IMAGES)
    labels, _ = read_idx(os.path.join(data, "t10k-labels-idx1-ubyte.gz"), 1, len(images))
    files = {}
    for number, name in enumerate(CLASSES):
        of_class = [image for image, label in zip(images, labels) if label[0] == number]
        for i, image in enumerate(of_class[:OF_EACH_CLASS], 1):
            files[f"photos/{name.lower().replace('/', '-').replace(' ', '-')}-{i}.png"] = png(image, width, height)
    files["photo.png"] = files["photos/ankle-boot-1.png"]
    files["classes.txt"] = "".join(name + "\n" for name in CLASSES).encode()
    files["test-images.gz"] = idx(2051, (height, width), images[:TEST_IMAGES])
    files["test-labels.gz"] = idx(2049, (), labels[:TEST_IMAGES])
    return files


def main():
    parser = argparse.ArgumentParser(prog="scripts/codegen/samples.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=".", help="where to write (default: the working directory)")
    parser.add_argument("--data", default=DATA, help=f"folder of Fashion-MNIST (default: {DATA})")
    options = parser.parse_args()
    try:
        files = samples(options.data)
    except OSError as error:
        sys.exit(f"samples: {error.filename}: {error.strerror}; scripts/setup/setup.sh build installs Fashion-MNIST")
    try:
        os.makedirs(os.path.join(options.folder, "photos"), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, "tests", "data", "fashion_cnn.onnx"), os.path.join(options.folder, "net.onnx"))
        for name, contents in files.items():
            with open(os.path.join(options.folder, name), "wb") as file:
                file.write(contents)
    except OSError as error:
        sys.exit(f"samples: {error.filename}: {error.strerror}")
    print(f"Written: net.onnx, photo.png, classes.txt, test-images.gz, test-labels.gz and photos/ ({len(CLASSES) * OF_EACH_CLASS} of them)")


if __name__ == "__main__":
    main()
