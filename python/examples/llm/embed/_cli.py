# SPDX-License-Identifier: Apache-2.0
"""The command python -m llm.embed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gemm64 import Device, InferenceSession, InvalidArgument, quantize

from ..text._command import EXIT_CODES, add_how, add_tokenizer, exit_code, networks, read_text, save, whole
from ..text._network import Cost, Encoder, Network, with_cause
from ..text._tokens import Tokens
from ._sentence import Sentence, ids_of, parallel_for, vector_of
from ._show import Show

_NOTES = f"""\
A sentence's vector is the mean of its tokens' hidden states, of length 1.

{EXIT_CODES}"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m llm.embed", allow_abbrev=False, epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes vectors of sentences by a language model on the accelerator, and prints how near they are "
                    "to each other and the cycles of each.")
    parser.add_argument("file", metavar="FILE", type=Path, help="an encoder's ONNX file")
    add_tokenizer(parser)
    what = parser.add_argument_group("what becomes vectors")
    what.add_argument("--sentence", action="append", default=[], metavar="TEXT", help="may be given again")
    what.add_argument("--sentences", metavar="FILE", type=Path, help="a file of sentences, a line each")
    what.add_argument("--context", type=whole, metavar="N", help="refuses a sentence of more tokens")
    first = parser.add_argument_group("a float network")
    first.add_argument("--calibrate", metavar="FILE", type=Path,
                       help="quantizes the products of FILE first, by these sentences, a line each; "
                       "vectors are then compared with the float network's, too")
    first.add_argument("--quantized", metavar="FILE", type=Path, help="where the quantized network goes")
    add_how(parser)
    return parser


def _lines(option: str, path: Path) -> list[str]:
    return [line for line in (part.strip() for part in read_text(option, path).splitlines()) if line]


def _quantize(options: argparse.Namespace, tokens: Tokens) -> Encoder:
    """Writes the quantized network; returns the float one, on the host."""
    float_network = Network(options.file, InferenceSession(
        options.file, device=Device("reference"), precision="float32", check="none"))
    encoder = Encoder(float_network)
    lines = _lines("--calibrate", options.calibrate)
    if not lines:
        raise InvalidArgument(f"--calibrate {options.calibrate}: there is no sentence")
    all_ids = [ids_of(tokens, line, options.context) for line in lines]
    batch = parallel_for(all_ids)
    try:
        quantize(options.file, options.quantized, {name: batch[name] for name in float_network.inputs},
                 op_types_to_quantize=["MatMul", "Gemm"])
    except InvalidArgument as error:
        raise with_cause(error, all_ids) from None
    return encoder


def _embed(options: argparse.Namespace) -> Cost:
    texts: list[str] = list(options.sentence)
    if options.sentences is not None:
        texts += _lines("--sentences", options.sentences)
    if not texts:
        raise InvalidArgument("there is no sentence: --sentence TEXT or --sentences FILE gives one")
    if (options.calibrate is None) != (options.quantized is None):
        raise InvalidArgument("--calibrate and --quantized belong together")
    tokens = Tokens(options.tokenizer or options.file.with_name("tokenizer.json"))
    all_ids = [ids_of(tokens, text, options.context) for text in texts]
    of_float = _quantize(options, tokens) if options.calibrate is not None else None
    encoder = Encoder(networks([options.quantized or options.file], options)[0])
    show = Show(len(texts), of_float is not None)
    sentences: list[Sentence] = []
    total = Cost()
    for text, ids in zip(texts, all_ids):
        vector = vector_of(encoder, ids)
        cost = encoder.network.cost
        near = None if of_float is None else float(vector @ vector_of(of_float, ids))
        sentences.append(Sentence(text, len(ids), vector, cost, near))
        total.add(cost)
        show.sentence(sentences[-1])
    show.verdict(sentences, total, options.check)
    save(options.json, total, {"sentences": [sentence.as_json() for sentence in sentences], "total": total.as_json()})
    return total


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    options = _parser().parse_args(arguments)
    return exit_code("llm.embed", lambda: _embed(options))
