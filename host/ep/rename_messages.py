#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives the messages that protoc made of onnx.proto another file name and another package in what
they tell libprotobuf of themselves, each of the same length. C++ names stay.
Usage: rename_messages.py FROM.pb.cc TO.pb.cc. Exit: 0 written, 1 the file has none of these names.
"""
import os
import re
import sys

NAMES = {"host/graph/proto/onnx.proto": "host/graph/ep_pb/onnx.proto", "gemm64.onnx": "gemm64.onep"}


def main():
    source, target = sys.argv[1:]
    text = open(source, encoding="utf-8").read()
    # A long literal is written in pieces, which may end in the middle of a name.
    text = re.sub(r'(?<!\\)"\n\s*"', "", text)
    for name, new in NAMES.items():
        assert len(name) == len(new)
        if name not in text:
            sys.exit(f"rename_messages.py: {source} does not name {name}")
        text = text.replace(f'"{name}"', f'"{new}"') if name.endswith(".proto") else text
        text = text.replace(name, new)
    text = text.replace('#include "host/graph/ep_pb/', '#include "host/graph/proto/')
    os.makedirs(os.path.dirname(target), exist_ok=True)
    open(target, "w", encoding="utf-8").write(text)


main()
