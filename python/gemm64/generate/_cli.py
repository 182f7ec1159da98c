# SPDX-License-Identifier: Apache-2.0
"""The command python -m gemm64.generate."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._device import Device
from .._errors import DeviceError, InvalidArgument, OutputError, VerificationError
from .._session import InferenceSession
from ._choice import Choice
from ._network import Cost, Decoder, Encoder, Network
from ._oracle import OnnxRuntime
from ._show import Show
from ._tokens import Tokens
from ._write import Text, Writer

_NOTES = """\
One FILE is a decoder, two are an encoder and its decoder. Their inputs are known by the names that
exporters give them: input_ids, attention_mask, position_ids, encoder_hidden_states,
encoder_attention_mask, and past... with outputs present... for keys and values that are kept.

Exit: 0 all written and as it must be, 1 a value, a clock or a byte is not, 2 bad usage or input,
3 an output was lost."""


def _number(kind: type, right: Callable[[Any], bool], wish: str) -> Callable[[str], Any]:
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


_whole = _number(int, lambda value: value >= 1, "a whole number of at least 1")
_from_zero = _number(float, lambda value: 0 <= value < float("inf"), "a number of at least 0")
_share = _number(float, lambda value: 0 < value <= 1, "a number above 0 and at most 1")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gemm64.generate", allow_abbrev=False, epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Writes text by a language model on the accelerator, and tells the clocks of each token.")
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path,
                        help="ONNX files: a decoder, or an encoder and its decoder")
    parser.add_argument("--tokenizer", metavar="FILE", type=Path,
                        help="a tokenizer.json (default: the one beside the first file)")
    what = parser.add_argument_group("what is written")
    what.add_argument("--prompt", action="append", default=[], metavar="TEXT", help="may be given again")
    what.add_argument("--prompts", metavar="FILE", type=Path,
                      help="a file of prompts, parted by empty lines")
    what.add_argument("--max-tokens", type=_whole, default=32, metavar="N",
                      help="at most so many tokens for each prompt (default 32)")
    what.add_argument("--temperature", type=_from_zero, default=0.0, metavar="X",
                      help="0: the likeliest token (default); else one by chance, the more the larger")
    what.add_argument("--top-k", type=_whole, default=0, metavar="N", help="by chance among the N likeliest")
    what.add_argument("--top-p", type=_share, default=1.0, metavar="X",
                      help="by chance among the likeliest that have this share together")
    what.add_argument("--seed", type=int, default=1, metavar="N", help="of the chance (default 1)")
    what.add_argument("--context", type=_whole, metavar="N",
                      help="refuses a prompt of more tokens; without an encoder, text ends there")
    what.add_argument("--start-token", metavar="TOKEN", help="what a decoder behind an encoder begins with")
    what.add_argument("--end-token", metavar="TOKEN", help="what ends a text")
    how = parser.add_argument_group("how it runs")
    how.add_argument("--at-once", type=_whole, metavar="N",
                     help="a decoder that keeps keys reads N tokens of the prompt a run (default: all); "
                     "what quantizes as it runs then has ranges of these alone")
    how.add_argument("--device", choices=("rtl", "tlm", "reference"), default="rtl", help="(default rtl)")
    how.add_argument("--array", type=int, default=64, metavar="N", help="rows and columns (default 64)")
    how.add_argument("--memory-latency", type=int, default=100, metavar="N", help="in clocks (default 100)")
    how.add_argument("--check", choices=("layers", "outputs", "none"), default="layers",
                     help="which values are checked (default layers)")
    how.add_argument("--compare", action="store_true",
                     help="compares every output of every run with ONNX Runtime's, byte by byte")
    parser.add_argument("--json", metavar="FILE", type=Path, help="writes texts and figures to this file")
    return parser


def _prompts(options: argparse.Namespace) -> list[str]:
    prompts: list[str] = list(options.prompt)
    if options.prompts is not None:
        try:
            parts = options.prompts.read_text(encoding="utf-8").split("\n\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"--prompts {options.prompts}: {error}") from None
        prompts += [" ".join(part.split()) for part in parts if part.strip()]
    if not prompts:
        raise InvalidArgument("there is no prompt: --prompt TEXT or --prompts FILE gives one")
    return prompts


def _networks(options: argparse.Namespace) -> list[Network]:
    device = Device(options.device, options.array, options.memory_latency)
    networks = []
    for path in options.files:
        session = InferenceSession(path, device=device, check=options.check)
        networks.append(Network(path, session, OnnxRuntime(path) if options.compare else None))
    return networks


def _write(options: argparse.Namespace) -> tuple[list[Text], Cost]:
    if len(options.files) > 2:
        raise InvalidArgument(f"{len(options.files)} files are given; one is a decoder, two are an encoder and its "
                              "decoder")
    prompts = _prompts(options)
    tokens = Tokens(options.tokenizer or options.files[0].with_name("tokenizer.json"))
    networks = _networks(options)
    encoder = Encoder(networks[0]) if len(networks) == 2 else None
    choice = Choice(options.temperature, options.top_k, options.top_p, options.seed)
    writer = Writer(encoder, Decoder(networks[-1], encoder is not None), tokens, choice, most=options.max_tokens,
                    context=options.context, at_once=options.at_once, start=options.start_token, end=options.end_token)
    for prompt in prompts:
        writer.prepare(prompt)  # so that a bad one is told before hours of good ones
    show = Show([writer.runs(prompt) for prompt in prompts])
    texts: list[Text] = []
    total = Cost()
    for prompt in prompts:
        show.begin(prompt)
        for text in writer.write(prompt):
            show.step(text)
        show.end(text)
        texts.append(text)
        total.add(text.cost)
    show.verdict(texts, total, options.check)
    return texts, total


def _save(path: Path, texts: list[Text], total: Cost) -> None:
    report = {"verified": total.differing == 0, "texts": [text.as_json() for text in texts],
              "total": {"tokens": sum(len(text.steps) for text in texts), **total.as_json()}}
    try:
        path.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"--json {path}: {error.strerror}") from None


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    options = _parser().parse_args(arguments)
    warnings.simplefilter("ignore")  # shares are in the table
    try:
        texts, total = _write(options)
        if options.json is not None:
            _save(options.json, texts, total)
        return 0 if total.differing == 0 else 1
    except VerificationError as error:
        code, what = 1, str(error)
    except OutputError as error:
        code, what = 3, str(error)
    except (InvalidArgument, DeviceError, NotImplementedError, OSError) as error:
        code, what = 2, str(error)
    except KeyboardInterrupt:
        code, what = 130, "interrupted"
    bar_end = "\n" if sys.stderr.isatty() else ""
    print(f"{bar_end}gemm64.generate: {' '.join(what.split())}", file=sys.stderr)
    return code
