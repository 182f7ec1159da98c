# SPDX-License-Identifier: Apache-2.0
"""What is right whatever was tried, and what came of a try in one word."""

import ast
import csv
import io
import json
import os
import re
import stat
import struct

from mutate import read_fields

# How lines of libraries begin: OpenMP's, and Unicorn's where memory is short.
BY_LIBRARIES = (b"libgomp:", b"Could not allocate dynamic translator buffer")
CODES = {0: "held", 1: "did not hold", 2: "refused", 3: "output lost", 129: "ended", 127: "not begun", 130: "ended", 137: "ended",
         143: "ended"}
WHAT_DID_NOT_HOLD = (rb"FAILED|DISAGREE|nothing was verified|timed out|device|the processor stopped|"
                     rb"the firmware has not ended")
OUTCOMES = ["held", "did not hold", "refused", "output lost", "ended", "not begun", "FAILED"]
MAX_MEBIBYTES = 1024
FST_BLOCKS = set(range(9))
PROGRESS = re.compile(rb"^gemm64: .*: \d+ %, \d+ s(, \d+ s left)?$")
LEFT = re.compile(r"\.gemm64-.*\.part$")


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def whole_json(data):
    json.loads(data, parse_constant=no_constant)


def whole_npy(data):
    if data[:8] != b"\x93NUMPY\x01\0":
        raise ValueError("not npy")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode("latin1"))
    count = int(header["descr"].lstrip("<>|=bfiuc") or 1)
    for dim in header["shape"]:
        count *= dim
    if len(data) - end != count:
        raise ValueError(f"{len(data) - end} bytes of {count}")


def whole_fst(data):
    at, kinds = 0, set()
    while at < len(data):
        kind, size = data[at], struct.unpack(">Q", data[at + 1:at + 9])[0]
        if kind not in FST_BLOCKS:
            raise ValueError(f"block {kind} at {at}")
        kinds.add(kind)
        at += 1 + size
    if at != len(data) or 0 not in kinds or not kinds & {4, 6, 7}:
        raise ValueError(f"blocks {sorted(kinds)} end at {at} of {len(data)}")


def whole_onnx(data):
    fields = read_fields(data)
    if not fields or not any(number == 7 for number, _, _ in fields):
        raise ValueError("no model")


def whole_csv(data):
    if len({len(row) for row in csv.reader(io.StringIO(data.decode()))}) != 1:
        raise ValueError("rows of several lengths")


def whole_save(data):
    if not data.endswith(b"\n") or b"[dumpfile]" not in data:
        raise ValueError("no save file")


def whole_html(data):
    if not data.startswith(b"<!DOCTYPE html>") or not data.endswith(b"</html>\n"):
        raise ValueError("no page")


WHOLE = {"json": whole_json, "npy": whole_npy, "fst": whole_fst, "onnx": whole_onnx, "csv": whole_csv,
         "gtkw": whole_save, "html": whole_html}


def contents(path):
    """A regular file's bytes, through links; None where there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def lines(text):
    """The program's lines that say something: a bar of progress does not, and libraries have their own."""
    return [line for line in text.splitlines()
            if line.strip() and not PROGRESS.match(line) and not line.startswith(BY_LIBRARIES)]


def judge_outputs(trial, result, folder):
    for name, kind in trial.outputs.items():
        if name.startswith("/dev/") or name == "-":
            continue
        path = os.path.join(folder, name)
        found = contents(path)
        source = next((target for link, how, target in trial.links if link == name and how != "mode"), name)
        before = trial.files.get(source)
        if found is None or found == before:
            if before is not None and found is None:
                yield f"{name} was there and is gone"
            elif result.code == 0 and not any(link == name and how == "pipe" for link, how, _ in trial.links):
                yield f"exit 0 without {name}"
            continue
        try:
            WHOLE[kind](found)
        except (ValueError, SyntaxError, KeyError, IndexError, struct.error) as error:
            yield f"{name} is not whole: {error}"


def judge_files(trial, result, folder):
    expected = set(trial.files) | {name for name, _, _ in trial.links} | set(trial.outputs) | set(trial.extra)
    for at, folders, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(at, name), folder)
            if LEFT.search(path) and trial.kill and trial.kill[0].name == "SIGKILL":
                continue
            in_folder = any(name.endswith("/") and path.startswith(name) for name in trial.extra)
            if path not in expected and path != "filler" and not in_folder:
                yield f"{path} was left"
    for name, data in trial.files.items():
        written = {target for link, _, target in trial.links if link in trial.outputs}
        if name in trial.outputs or name in trial.extra or name in written:
            continue
        if contents(os.path.join(folder, name)) != data:
            yield f"{name} was an input and has changed"
    for name, how, target in trial.links:
        path = os.path.join(folder, name)
        if how == "symbolic" and not os.path.islink(path):
            yield f"{name} was a link and is none"
        if how == "pipe" and not stat.S_ISFIFO(os.lstat(path).st_mode):
            yield f"{name} was a pipe and is none"
        if how == "mode" and name in trial.files and stat.S_IMODE(os.stat(path).st_mode) != target:
            yield f"the mode of {name} has changed"


def judge(trial, result, folder, sanitized):
    """(outcome, problems)"""
    problems = []
    code, said = result.code, result.out + result.err
    if result.hung:
        problems.append("it hung")
    elif code < 0 and not (result.was_killed and -code == trial.kill[0]):
        problems.append(f"signal {-code} ended it")
    elif code >= 0 and code not in CODES:
        problems.append(f"exit {code}")
    elif code == 127:
        if not trial.before:
            problems.append("it could not be begun")
    elif code > 3 and not (result.was_killed and code == 128 + trial.kill[0]):
        problems.append(f"exit {code} without that signal")
    if b"Sanitizer" in said or b"runtime error:" in said:
        problems.append("the sanitizers report")
    if result.mebibytes > MAX_MEBIBYTES and not sanitized:
        problems.append(f"{result.mebibytes} MiB of memory")
    hears = "2>" not in trial.streams and "ulimit -f" not in trial.before
    if code == 2 and hears and len(lines(result.err)) != 1 and b"FAILED" not in result.out:
        problems.append(f"{len(lines(result.err))} lines on standard error for exit 2")
    if code == 1 and hears and not re.search(WHAT_DID_NOT_HOLD, said):
        problems.append("exit 1 does not say what did not hold")
    # A reader that closes the pipe, as `head`, has what it wanted: no message is due.
    if code == 3 and hears and not trial.reader and b"lost" not in result.err:
        problems.append("exit 3 does not say what is lost")
    if code == 1 and trial.trusted:
        problems.append("a right product did not hold")
    if trial.codes and code not in trial.codes and not result.was_killed:
        problems.append(f"exit {code}, not one of {sorted(trial.codes)}")
    to_stream = any(argument in ("-", "/dev/stdout", "/dev/stderr") or argument.endswith("=-")
                    for argument in trial.arguments)  # a model or an array, as it was asked for
    if not to_stream and re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", said):
        problems.append("control characters reach the terminal")
    if re.search(rb"-?nan dB|VERIFIED(.|\n)*\bnan\b", said):
        problems.append("a figure that is none")
    problems += judge_outputs(trial, result, folder)
    problems += judge_files(trial, result, folder)
    if problems:
        return "FAILED", problems
    return "ended" if code < 0 else CODES[code], []
