# SPDX-License-Identifier: Apache-2.0
"""Writes a file of figures whole or not at all."""

import json
import os
import sys


def write(program, path, value):
    """Ends `program` with 3 where the file cannot be written."""
    try:
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
            file.write("\n")
        os.replace(f"{path}.part", path)
    except OSError as error:
        print(f"{program}: {path} could not be written: {error.strerror}", file=sys.stderr)
        sys.exit(3)
