# SPDX-License-Identifier: Apache-2.0
"""The command python -m llm.generate."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gemm64 import InvalidArgument

from ..text._command import EXIT_CODES, add_how, add_tokenizer, exit_code, networks, number, read_text, save, whole
from ..text._network import Cost, Encoder
from ..text._tokens import Tokens
from ._choice import Choice
from ._decoder import Decoder
from ._show import Show
from ._write import Text, Writer

_NOTES = f"""\
One FILE is a decoder, two are an encoder and its decoder. Their inputs are known by the names that
exporters give them: input_ids, attention_mask, position_ids, encoder_hidden_states,
encoder_attention_mask, and past... with outputs present... for keys and values that are kept.

{EXIT_CODES}"""

_from_zero = number(float, lambda value: 0 <= value < float("inf"), "a number of at least 0")
_share = number(float, lambda value: 0 < value <= 1, "a number above 0 and at most 1")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m llm.generate", allow_abbrev=False, epilog=_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Writes text by a language model on the accelerator, and prints the cycles of each token.")
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path,
                        help="ONNX files: a decoder, or an encoder and its decoder")
    add_tokenizer(parser)
    what = parser.add_argument_group("what is written")
    what.add_argument("--prompt", action="append", default=[], metavar="TEXT", help="may be given again")
    what.add_argument("--prompts", metavar="FILE", type=Path,
                      help="a file of prompts, parted by empty lines")
    what.add_argument("--max-tokens", type=whole, default=32, metavar="N",
                      help="at most this number of tokens for each prompt (default 32)")
    what.add_argument("--temperature", type=_from_zero, default=0.0, metavar="X",
                      help="0: the likeliest token (default); else one by chance, the more the larger")
    what.add_argument("--top-k", type=whole, default=0, metavar="N", help="by chance among the N likeliest")
    what.add_argument("--top-p", type=_share, default=1.0, metavar="X",
                      help="by chance among the likeliest that have this share together")
    what.add_argument("--seed", type=int, default=1, metavar="N", help="of the chance (default 1)")
    what.add_argument("--context", type=whole, metavar="N",
                      help="refuses a prompt of more tokens; without an encoder, text ends there")
    what.add_argument("--start-token", metavar="TOKEN", help="what a decoder after an encoder begins with")
    what.add_argument("--end-token", metavar="TOKEN", help="what ends a text")
    how = add_how(parser)
    how.add_argument("--at-once", type=whole, metavar="N",
                     help="a decoder that keeps keys reads N tokens of the prompt a run (default: all); "
                     "what quantizes as it runs then has ranges of only these")
    return parser


def _prompts(options: argparse.Namespace) -> list[str]:
    prompts: list[str] = list(options.prompt)
    if options.prompts is not None:
        parts = read_text("--prompts", options.prompts).split("\n\n")
        prompts += [" ".join(part.split()) for part in parts if part.strip()]
    if not prompts:
        raise InvalidArgument("there is no prompt: --prompt TEXT or --prompts FILE gives one")
    return prompts


def _write(options: argparse.Namespace) -> Cost:
    if len(options.files) > 2:
        raise InvalidArgument(f"{len(options.files)} files are given; one is a decoder, two are an encoder and its "
                              "decoder")
    prompts = _prompts(options)
    tokens = Tokens(options.tokenizer or options.files[0].with_name("tokenizer.json"))
    files = networks(options.files, options)
    encoder = Encoder(files[0]) if len(files) == 2 else None
    choice = Choice(options.temperature, options.top_k, options.top_p, options.seed)
    writer = Writer(encoder, Decoder(files[-1], encoder is not None), tokens, choice, most=options.max_tokens,
                    context=options.context, at_once=options.at_once, start=options.start_token, end=options.end_token)
    for prompt in prompts:
        writer.prepare(prompt)  # so that a bad one is reported before hours of good ones
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
    save(options.json, total, {
        "texts": [text.as_json() for text in texts],
        "total": {"tokens": sum(len(text.steps) for text in texts), **total.as_json()}})
    return total


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    options = _parser().parse_args(arguments)
    return exit_code("llm.generate", lambda: _write(options))
