# SPDX-License-Identifier: Apache-2.0
"""host/graph/proto/onnx.proto describes the file format as the onnx package does, as far as it goes."""

import pathlib
import re
import unittest

import onnx

PROTO = pathlib.Path(__file__).resolve().parents[2] / "host" / "graph" / "proto" / "onnx.proto"


def messages(text):
    """Fields of our messages: (message, field) -> (number, repeated)."""
    fields, values, path = {}, {}, []
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if opened := re.match(r"(message|enum|oneof) (\w+) \{", line):
            path.append((opened[1], opened[2]))
        elif line == "}":
            path.pop()
        elif field := re.match(r"(optional |repeated |)([\w.]+) (\w+) = (\d+)", line):
            message = ".".join(name for kind, name in path if kind == "message")
            fields[message, field[3]] = (int(field[4]), field[1] == "repeated ", field[2])
        elif value := re.match(r"(\w+) = (\d+);", line):
            values[path[-1][1], value[1]] = int(value[2])
    return fields, values


class Format(unittest.TestCase):
    def test_fields_are_those_of_the_package(self):
        fields, values = messages(PROTO.read_text())
        self.assertGreater(len(fields), 70)
        for (message, name), (number, repeated, kind) in fields.items():
            descriptor = onnx.ModelProto.DESCRIPTOR.file.message_types_by_name[message.split(".")[0]]
            for part in message.split(".")[1:]:
                descriptor = descriptor.nested_types_by_name[part]
            field = descriptor.fields_by_name[name]
            with self.subTest(message=message, field=name):
                self.assertEqual(field.number, number)
                self.assertEqual(field.is_repeated, repeated)
                types = {field.TYPE_MESSAGE: "message_type", field.TYPE_ENUM: "enum_type"}
                if field.type in types:
                    self.assertEqual(getattr(field, types[field.type]).name, kind)
                else:
                    self.assertEqual(field.type, getattr(field, f"TYPE_{kind.upper()}"))
        for (enum, name), number in values.items():
            found = {"DataType": onnx.TensorProto.DataType, "DataLocation": onnx.TensorProto.DataLocation,
                     "AttributeType": onnx.AttributeProto.AttributeType}[enum]
            with self.subTest(enum=enum, value=name):
                self.assertEqual(found.Value(name), number)
