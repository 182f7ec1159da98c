# SPDX-License-Identifier: Apache-2.0
"""The commands of python -m gemm64.cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence

from .. import _gemm64
from .._errors import DeviceError, InvalidArgument, OutputError
from ._dask import cores
from ._estimate import run_estimate
from ._run import run, say
from ._stop import Stop, Stopped
from ._sweep import SweepWork
from ._work import NetworkWork, Work

_SAMPLE = 8  # units at most that an estimate runs

_RUN = """\
All other options are those of `gemm64 run` (gemm64 run --help): --model FILE.onnx is required;
--input, --labels, --names, --calibrate, --batch, --device, --json, --report, --output and the like
mean what they mean there, and the report is the same to the last byte, wall times apart.

A unit is one pass of images through the network: with --batch 1 each image is one, with --batch 8
eight are. Without --batch up to 256 images make one pass, which one worker runs."""


_ESTIMATE = """\
All other options are those of `gemm64 run`; --input takes images like those that are to run, of which
some are measured. Without --batch each image is a unit."""


def _whole(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _list_of_whole(text: str) -> list[int]:
    return [_whole(part) for part in text.split(",")]


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _add_cluster(command: argparse.ArgumentParser) -> None:
    command.add_argument("--scheduler", metavar="ADDRESS",
                         help="a scheduler of Dask that runs already, as tcp://host:8786 (default: "
                         "a cluster of its own on this machine)")
    command.add_argument("--workers", type=_whole, metavar="N",
                         help="worker processes of the cluster on this machine (default: one a core)")
    command.add_argument("--checkpoint", metavar="DIR",
                         help="keeps finished units in this folder; the same command goes on from "
                         "there")
    command.add_argument("--dashboard", metavar="ADDRESS", nargs="?", const=":8787",
                         help="shows Dask's dashboard of the cluster on this machine (default "
                         "address :8787); it needs bokeh")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gemm64.cluster", allow_abbrev=False,
        description="Networks and sweeps on many processes and machines, by Dask.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    network = commands.add_parser(
        "run", help="runs a network, as gemm64 run does", allow_abbrev=False, epilog=_RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    _add_cluster(network)
    sweep = commands.add_parser(
        "sweep", help="runs a sweep, as gemm64 sweep does, a row a unit", allow_abbrev=False,
        description="gemm64 sweep --help describes FILE. ONNX files that it names must "
        "be there for all workers, under the same names.")
    sweep.add_argument("file", metavar="FILE", help="the sweep")
    sweep.add_argument("--csv", metavar="FILE", help="writes a row for each point")
    sweep.add_argument("--json", metavar="FILE", help="writes the rows for programs")
    sweep.add_argument("--plot", metavar="FILE",
                       help="writes charts of cycles, utilization and bytes (HTML)")
    _add_cluster(sweep)
    guess = commands.add_parser(
        "estimate", help="measures here, and estimates what clusters of some sizes need",
        allow_abbrev=False, epilog=_ESTIMATE, formatter_class=argparse.RawDescriptionHelpFormatter)
    guess.add_argument("--images", type=_whole, default=50000, metavar="N",
                       help="that are to run (default 50000)")
    guess.add_argument("--cores", type=_list_of_whole, default=[16, 256, 4096], metavar="N,N,...",
                       help="of the clusters (default 16,256,4096)")
    guess.add_argument("--link", type=_positive, default=1.25e9, metavar="BYTES",
                       help="that the client's link carries in a second (default 1.25e9)")
    guess.add_argument("--json", metavar="FILE", help="writes all figures to this file")
    return parser


def _batch(others: list[str]) -> int:
    """The images of a unit; the option is added where it is not there."""
    for i, word in enumerate(others):
        if word.startswith("--batch"):
            value = word.partition("=")[2] or (others[i + 1] if i + 1 < len(others) else "")
            return int(value) if value.isdecimal() else 1  # the program refuses what is no number
    others += ["--batch", "1"]
    return 1


def _estimate(known: argparse.Namespace, others: list[str], stop: Stop) -> int:
    batch = _batch(others)
    if any(word.startswith("--input") for word in others):
        others += ["--images", str(_SAMPLE * batch)]
    return run_estimate(NetworkWork(others), known.images, known.cores, known.link, known.json, stop)


def _network(others: list[str]) -> NetworkWork:
    work = NetworkWork(others)
    if work.count() == 1 and work.units.images() > 1:
        say(f"all {work.units.images()} images are one pass, which one worker runs; --batch N makes "
            "a unit of each N")
    return work


def _dispatch(known: argparse.Namespace, others: list[str], stop: Stop) -> int:
    if known.command == "estimate":
        return _estimate(known, others, stop)
    if known.scheduler is not None and (known.workers or known.dashboard):
        raise InvalidArgument(
            "--workers and --dashboard are of a cluster on this machine; leave them out, or "
            "--scheduler"
        )
    work: Work
    if known.command == "sweep":
        if others:
            raise InvalidArgument(f"sweep has no option {others[0]} (see --help)")
        work = SweepWork(known.file, known.csv, known.json, known.plot)
    else:
        work = _network(others)
    stop.check()
    return run(work, scheduler=known.scheduler, workers=known.workers or cores(),
               checkpoint=known.checkpoint, dashboard=known.dashboard, stop=stop)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code: 0 all that was checked held, 1 it did not, 2 bad usage
    or input, 3 an output was lost, 130 and 143 where SIGINT and SIGTERM ended it.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    known, others = _parser().parse_known_args(given)
    with Stop() as stop:
        try:
            return _dispatch(known, others, stop)
        except InvalidArgument as error:
            say(str(error))
            return 2
        except OutputError as error:
            say(str(error))
            return 3
        except DeviceError as error:
            say(str(error))
            return 1
        except Stopped as stopped:
            say(f"ended by {stopped}")
            return stopped.exit_code
