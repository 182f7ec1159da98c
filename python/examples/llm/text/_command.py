# SPDX-License-Identifier: Apache-2.0
"""Options and exit codes that the commands on text share."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemm64 import Device, DeviceError, InferenceSession, InvalidArgument, OutputError, VerificationError
from ._network import Cost, Network
from ._oracle import OnnxRuntime

EXIT_CODES = """\
Exit: 0 all written and as it must be, 1 a value, a cycle or a byte is not, 2 bad usage or input,
3 an output was lost."""


def number(kind: type, right: Callable[[Any], bool], wish: str) -> Callable[[str], Any]:
    """A reader of an option's value, which must be as `wish` says."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not right(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {wish}")
        return value

    return read


whole = number(int, lambda value: value >= 1, "a whole number of at least 1")


def add_tokenizer(parser: argparse.ArgumentParser) -> None:
    """--tokenizer."""
    parser.add_argument("--tokenizer", metavar="FILE", type=Path,
                        help="a tokenizer.json (default: the one next to the first file)")


def add_how(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """How networks run, and --json."""
    how = parser.add_argument_group("how it runs")
    how.add_argument("--device", choices=("rtl", "tlm", "reference"), default="rtl", help="(default rtl)")
    how.add_argument("--array", type=int, default=64, metavar="N", help="rows and columns (default 64)")
    how.add_argument("--memory-latency", type=int, default=100, metavar="N", help="in cycles (default 100)")
    how.add_argument("--precision", choices=("file", "int8"), default="file",
                     help="Linear layers of float32, and of 4-bit weights in blocks: as the file has them (default), "
                     "on the host, or int8 on the device")
    how.add_argument("--check", choices=("layers", "outputs", "none"), default="layers",
                     help="which values are checked (default layers)")
    how.add_argument("--compare", action="store_true",
                     help="compares every output of every run with ONNX Runtime's, byte by byte")
    parser.add_argument("--json", metavar="FILE", type=Path, help="writes texts and figures to this file")
    return how


def read_text(option: str, path: Path) -> str:
    """A file that an option names."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{option} {path}: {error}") from None


def networks(paths: list[Path], options: argparse.Namespace) -> list[Network]:
    """The files on a device, as the options of add_how say."""
    device = Device(options.device, options.array, options.memory_latency)
    return [Network(path, InferenceSession(path, device=device, check=options.check, precision=options.precision),
                    OnnxRuntime(path) if options.compare else None) for path in paths]


def save(path: Path | None, total: Cost, report: dict[str, Any]) -> None:
    """--json."""
    if path is None:
        return
    report = {"verified": total.differing == 0, **report}
    try:
        path.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"--json {path}: {error.strerror}") from None


def exit_code(name: str, work: Callable[[], Cost]) -> int:
    """Of a command's work; errors get one line."""
    warnings.simplefilter("ignore")  # shares are in the table
    try:
        return 0 if work().differing == 0 else 1
    except VerificationError as error:
        code, what = 1, str(error)
    except OutputError as error:
        code, what = 3, str(error)
    except (InvalidArgument, DeviceError, NotImplementedError, OSError) as error:
        code, what = 2, str(error)
    except KeyboardInterrupt:
        code, what = 130, "interrupted"
    bar_end = "\n" if sys.stderr.isatty() else ""
    print(f"{bar_end}{name}: {' '.join(what.split())}", file=sys.stderr)
    return code
