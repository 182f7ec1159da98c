#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which folder includes which against the table in host/README.md.

A row of the table is a layer, a folder of it, what it holds, and the folders that it may include, in
backticks. A folder may know only rows above its own, and the rows of a layer stand together, so that
neither folders nor layers form a cycle. host/util is for all folders and includes none. Run it from
the project's root; the build does, before it compiles anything (host/layers.cmake).
Exit: 0 all hold, 1 an include or the table breaks a rule.
"""
import argparse
import os
import re
import sys

TABLE = "host/README.md"
ROOTS = ("host", "python", "sim")
ROW = re.compile(r"^\| ([a-z]+) \| \[([a-z/]+)\]\([^)]*\) \|.*\|([^|]*)\|$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:host|python|sim|tests)/[^"]+)"')
# What only the simulation may include.
SIMULATOR = re.compile(r'^\s*#\s*include\s+[<"](V?verilated|Vgemm64|systemc|tlm|unicorn)')


def read_table():
    """The folders in the table's order, each with its layer and the folders that it may know; and what is wrong."""
    rows, layers, errors = {}, [], []
    for number, line in enumerate(open(TABLE, encoding="utf-8"), 1):
        match = ROW.match(line)
        if not match:
            continue
        layer, folder, knows = match.group(1), match.group(2), re.findall(r"`([a-z/]+)`", match.group(3))
        for other in knows:
            if other not in rows:
                errors.append(f"{TABLE}:{number}: {folder} may not know {other}, which is not above it")
        if layer in layers[:-1]:
            errors.append(f"{TABLE}:{number}: the row of {folder} must stand with the others of the layer '{layer}'")
        elif layer not in layers:
            layers.append(layer)
        rows[folder] = (layer, knows)
    if not rows:
        errors.append(f"{TABLE}: no table of layers and folders is in it")
    return rows, errors


def folder_of(path):
    """host/graph/onnx/model.hpp -> graph/onnx; host/util/error.hpp -> util; sim/integrations/systemc/bus.hpp -> sim."""
    parts = path.split("/")
    return parts[0] if parts[0] in ("python", "sim") else "/".join(parts[1:-1])


def named(folder, rows):
    return f"{folder} (layer '{rows[folder][0]}')" if folder in rows else f"host/{folder}, which has no row,"


def check_file(path, rows):
    folder = folder_of(path)
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if folder != "sim" and SIMULATOR.match(line):
            yield f"{path}:{number}: only sim/ includes the simulator's headers"
        match = INCLUDE.match(line)
        if not match:
            continue
        header, other = match.group(1), folder_of(match.group(1))
        if header.startswith("tests/"):
            yield f"{path}:{number}: includes a test, {header}"
        elif other in ("util", folder):
            continue
        elif other not in rows[folder][1]:
            yield (f"{path}:{number}: {named(folder, rows)} may not include {header} of {named(other, rows)}; "
                   f"it may know {', '.join(rows[folder][1]) or 'no other folder'} (the table in {TABLE})")


def source_files(folders):
    """The sources below the roots; all folders that were looked into are added to `folders`."""
    for root in ROOTS:
        for directory, below, names in os.walk(root):
            below.sort()
            folders.append(directory)
            for name in sorted(names):
                if name.endswith((".hpp", ".cpp", ".h", ".c")):
                    yield os.path.join(directory, name)


def write_stamp(stamp, inputs):
    """Says to the build that all holds, and by which files and folders."""
    names = " ".join(os.path.abspath(name).replace(" ", "\\ ") for name in inputs)
    with open(stamp + ".d", "w", encoding="utf-8") as file:
        file.write(f"{os.path.abspath(stamp)}: {names}\n".replace("$", "$$"))
    with open(stamp, "w", encoding="utf-8"):
        pass


def main():
    parser = argparse.ArgumentParser(prog="scripts/ci/check-includes.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stamp", metavar="FILE", help="write FILE where all hold, and FILE.d, what that depends on")
    options = parser.parse_args()
    rows, errors = read_table()
    inputs = [TABLE]
    for path in source_files(inputs):
        inputs.append(path)
        if folder_of(path) not in rows:
            errors.append(f"{path}: its folder has no row in {TABLE}")
        else:
            errors += check_file(path, rows)
    print("\n".join(errors), end="\n" if errors else "")
    if options.stamp and not errors:
        write_stamp(options.stamp, inputs)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
