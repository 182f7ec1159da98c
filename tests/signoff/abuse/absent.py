# SPDX-License-Identifier: Apache-2.0
"""ONNX files of which a field of some message is absent, or two are: all fields that host/graph/proto/onnx.proto has."""

import os
import re

import samples
from mutate import read_fields, write_fields
from samples import BYTES
from trial import Trial

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../host/graph/proto/onnx.proto")
FIELD = re.compile(r"^\s*(?:optional |repeated )?([A-Za-z0-9]+) ([a-z_0-9]+) = (\d+)")
COMMANDS = [
    (["run", "--model", "m.onnx", "--input", "x.npy", "--array", "2", "--allow-host-only"], {}),
    (["run", "--model", "m.onnx", "--device", "reference", "--array", "4", "--allow-host-only", "--output", "o/"], {}),
    (["quantize", "m.onnx", "--calibrate", "x.npy", "-o", "o.onnx"], {"o.onnx": "onnx"}),
    (["compile", "m.onnx", "--array", "4", "-o", "o.g64"], {}),
    (["analyze", "m.onnx", "--json", "r.json"], {"r.json": "json"}),
    (["tile", "m.onnx", "--block", "2", "-o", "o.onnx"], {"o.onnx": "onnx"})]


def read_schema():
    """The message that each field of each message holds, None for others: {message: {number: message or None}}."""
    schema, open_messages = {}, []
    with open(PROTO) as file:
        for line in file:
            words = line.split()
            if words[:1] in (["message"], ["enum"], ["oneof"]):
                open_messages.append(words[1] if words[0] == "message" else None)
                if words[0] == "message":
                    schema[words[1]] = {}
            elif words[:1] == ["}"]:
                open_messages.pop()
            elif open_messages and (found := FIELD.match(line)):
                owner = next(name for name in reversed(open_messages) if name)
                schema[owner][int(found[3])] = found[1]
    return {name: {number: kind if kind in schema else None for number, kind in fields.items()}
            for name, fields in schema.items()}


SCHEMA = read_schema()


def places(data, message="ModelProto", path=()):
    """Each field that is there, as the way to it: indices of messages, and its number at the end."""
    fields = read_fields(data)
    for number in dict.fromkeys(number for number, _, _ in fields):
        yield (*path, number)
    for at, (number, kind, value) in enumerate(fields):
        inner = SCHEMA[message].get(number)
        if inner and kind == BYTES:
            yield from places(value, inner, (*path, at))


def without(data, place):
    """The message without a field; as it is where a part of the way is gone."""
    fields = read_fields(data)
    if len(place) == 1:
        return write_fields([field for field in fields if field[0] != place[0]])
    if place[0] < len(fields):
        fields[place[0]][2] = without(fields[place[0]][2], place[1:])
    return write_fields(fields)


def trial_of(data, gone, command):
    for place in sorted(gone, key=len, reverse=True):  # what is inside first: indices stay right
        data = without(data, place)
    arguments, outputs = COMMANDS[command]
    extra = ["failure.fst", "failure.gtkw", "failure.surf.ron", "failure.sucl", "failure.json", "o/", "o.g64"]
    return Trial("absent fields", arguments, {"m.onnx": data, "x.npy": samples.float_array(FIXED, (1, 2, 4, 4))},
                 outputs=outputs, extra=extra)


class Fixed:
    """In place of random numbers."""

    @staticmethod
    def uniform(low, high):
        return low + (high - low) * 0.7


FIXED = Fixed()
SAMPLES = [samples.float_of_all_fields, samples.quantized_of_all_fields]


def singles():
    """Each field of each sample: [(model, place)]."""
    return [(data, place) for sample in SAMPLES for data in [sample(FIXED)] for place in places(data)]


def numbered(number, random):
    """Trial `number`: each field by itself for the first command, then for the next one; at last two drawn ones."""
    every = singles()
    if number < len(every) * len(COMMANDS):
        data, place = every[number % len(every)]
        return trial_of(data, [place], number // len(every))
    return drawn(random, 2)


def count():
    """How many trials have one field absent."""
    return len(COMMANDS) * len(singles())


def drawn(random, fields=None):
    """One field or two of any sample."""
    data = random.choice(SAMPLES + [samples.sparse, samples.linear])(random)
    gone = random.sample(list(places(data)), fields or random.choice([1, 2]))
    return trial_of(data, gone, random.randrange(len(COMMANDS)))
