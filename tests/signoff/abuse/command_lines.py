# SPDX-License-Identifier: Apache-2.0
"""Command lines drawn from what the program's own --help says."""

import functools
import json
import os
import re
import subprocess

import samples
from trial import Trial

COMMANDS = ["run", "gemm", "replay", "info", "analyze", "tile", "make-linear", "make-model", "cosim"]
# Values of a type. Right ones keep the work small; a wrong one must be refused at once.
HOSTILE = ["", " ", "0", "-1", "010", "1e3", "0x10", "3.5", "nan", "inf", "-inf", "1e-320", "99999999999999999999", "--",
           "-", "--json", "x" * 5000, "a\nb", "\x1b[31m", "%n", "\u00e4", "/", ".", "..", "/dev/zero", "/dev/null",
           "2147483649", "4294967296", "*", "a=b", "=", "1x2", "dir", "m.onnx", "a.npy", "f.json"]
RIGHT = {
    "--array": ["2", "4", "8"], "--seed": ["0", "1", "4294967295"], "--memory-latency": ["1", "7", "100", "900"],
    "--memory-bytes-per-cycle": ["0", "1", "3", "64"], "--memory-stalls": ["0", "0.1", "0.5"], "--batch": ["1", "2"],
    "--device": ["rtl", "reference"], "--json": ["r.json"], "--output": ["o.npy"], "--trace": ["w.fst"],
    "--timeline": ["t.json"], "--trace-mismatch": ["miss.fst"], "--csv": ["t.csv"], "--plot": ["p.html"],
    "--report": ["p.html"], "--design": ["weight_tiles=4", "accumulator_rows=64,tensor_words=100", "parameter_sets=16"],
    "--view": ["overview", "array", "commands", "axi", "accumulator", "lanes"], "--trace-window": ["0:9", "300:400"],
    "--trace-tile": ["0,0,0", "gemm:0,0,0"], "--a": ["a.npy"], "--b": ["b.npy"], "--model": ["m.onnx"],
    "--input": ["x.npy", "x=x.npy", "x.png"], "--block": ["1", "2", "64"], "--top": ["0", "3"],
    "--sort-by": ["macs", "name"], "--input-shape": ["x=1x3x8x8"], "--data": ["dir"], "-o": ["o.onnx"],
    "--dump-activations": ["*=acts"], "--layers": ["1", "2", "5"], "--elf": ["fw.elf"],
    "--max-instructions": ["1", "1000", "10000000000"],
    "--inject": ["weight:0,0:7@350", "activation:1,0:3@360", "partial-sum:0,1:9@370", "accumulator:0,1,1:3@380",
                 "hang:data@60", "hang:results@300", "hang:weights@200", "weight:9,9:1@3", "weight:0,0:8@3"],
}
# Firmware runs whole layers: on the RTL, or on a small array, for too long.
RIGHT_FOR_FIRMWARE = {"--array": ["64"]}
FORMATS = {"r.json": "json", "o.npy": "npy", "w.fst": "fst", "t.json": "json", "t.csv": "csv", "p.html": "html",
           "o.onnx": "onnx"}
VIEWS = (".gtkw", ".surf.ron", ".sucl", ".json")  # of a waveform
WRITTEN = ["--json", "--output", "--trace", "--timeline", "--csv", "--plot", "--report", "-o", "--trace-mismatch"]
POSITIONALS = {"run": [[]], "gemm": [["3", "5", "4"], ["1", "1", "1"], ["6", "2", "3"], []], "replay": [["f.json"]],
               "info": [[]], "analyze": [["m.onnx"]], "tile": [["m.onnx"]], "make-linear": [["3", "5", "4"]],
               "make-model": [["lenet"]], "cosim": [["3", "5", "4"], ["1", "1", "1"], ["6", "9", "3"], []],
               "firmware": [[]]}


@functools.lru_cache(None)
def options_of(command):
    """[(name, takes a value, its type)] by the help of `command`."""
    text = subprocess.run([os.environ["GEMM64"], command, "--help"], capture_output=True, text=True, check=True).stdout
    found = []
    for names, kind in re.findall(r"^  (-\S+)(?: (\S+))?", text, re.M):
        if "--help" not in names:
            found.append((names.split(",")[0] if names.startswith("-o") else names.split(",")[-1], kind))
    if not found:
        raise RuntimeError(f"{command} --help lists no option")
    return found


def has_platform():
    """Was the program built with the platform, so that it can run firmware?"""
    text = subprocess.run([os.environ["GEMM64"], "--help"], capture_output=True, text=True, check=True).stdout
    return "firmware" in text and os.path.exists(samples.firmware_file())


@functools.lru_cache(None)
def commands():
    # Half as often as the others, since it takes half a second.
    return 2 * COMMANDS + (["firmware"] if has_platform() else [])


def draw_value(random, name, command):
    right = RIGHT_FOR_FIRMWARE.get(name) if command == "firmware" else None
    right = right or RIGHT.get(name)
    if right is None:
        right = {"--memory": ["independent", "shared", "exclusive"], "--precision": ["int8", "float32"],
                 "--accumulate": ["device", "host"]}.get(name, ["1"])
    return (random.choice(right), True) if random.random() < 0.8 else (random.choice(HOSTILE), False)


def draw_command(random):
    command = random.choice(commands())
    arguments, outputs, written, right = [command], {}, [], True
    arguments += random.choice(POSITIONALS[command])
    if random.random() < 0.08 and len(arguments) > 1:
        arguments[random.randrange(1, len(arguments))] = random.choice(HOSTILE)
        right = False
    drawn = random.sample(options_of(command), min(len(options_of(command)), random.randint(0, 6)))
    names = [name for name, _ in drawn]
    if command == "firmware":
        drawn = [pair for pair in drawn if pair[0] not in ("--device", "--batch")]
    for name in {"run": ["--model", "--array"], "cosim": ["--array"], "gemm": ["--array"], "tile": ["-o"], "make-linear": ["-o"],
                 "make-model": ["-o"]}.get(command, []):
        if name not in names and random.random() < 0.9:
            drawn.append((name, "TEXT"))
    if command == "run" and "--model" not in [name for name, _ in drawn]:
        drawn.append(("--model", "TEXT"))
    if command == "firmware":
        device = random.choice(["tlm"] * 8 + ["reference"] + HOSTILE)
        batch = random.choice(["1"] * 20 + HOSTILE)
        arguments += ["--batch=" + batch, "--device=" + device]
        right = right and device == "tlm" and batch == "1"
    for name, kind in drawn:
        if not kind:
            arguments.append(name)
            continue
        value, is_right = draw_value(random, name, command)
        right = right and is_right
        arguments += [f"{name}={value}"] if name.startswith("--") and random.random() < 0.2 else [name, value]
        if name in WRITTEN and value in FORMATS:
            # A tensor is written as .npy, whatever its file is called.
            outputs[value] = "npy" if name == "-o" and command in ("run", "gemm") else FORMATS[value]
        elif name in WRITTEN:
            stem = re.sub(r"(?<=[^/.])\.[^./]*$", "", value)
            written += [os.path.normpath(value)] + [stem + ending for ending in VIEWS]
    files = {"m.onnx": samples.network(random), "a.npy": samples.int8_matrix(random, 3, 5),
             "b.npy": samples.int8_matrix(random, 5, 4), "x.npy": samples.float_array(random, (1, 3, 8, 8)),
             "x.png": samples.png(random), "f.json": json.dumps(samples.replay(random)).encode()}
    if command == "firmware":
        files["fw.elf"] = samples.firmware()
    links = [("dir", "folder", ""), ("acts", "folder", "")]
    if command == "replay":
        outputs.pop("w.fst", None)
    if right and not outputs and random.random() < 0.1:
        arguments.append(random.choice(HOSTILE))
    return Trial("command lines", arguments, files, links=links, outputs=outputs,
                 extra=[stem + ending for stem in ("failure", "miss", "w", "f") for ending in (".fst", *VIEWS)] + ["acts/"] + written)
