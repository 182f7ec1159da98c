# SPDX-License-Identifier: Apache-2.0
"""Texts, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gemm64 import InvalidArgument

from ..text._network import Cost, Encoder
from ..text._tokens import Tokens
from ._choice import Choice
from ._decoder import Decoder


@dataclass
class Step:
    """A token, and the decoder's run that gave it."""

    token: int
    piece: str
    cost: Cost

    def as_json(self) -> dict[str, Any]:
        """A token's entry in the report."""
        return {"token": self.token, "piece": self.piece, **self.cost.as_json()}


@dataclass
class Text:
    """What was written for a prompt so far."""

    prompt: str
    prompt_tokens: int
    reading: Cost | None = None  #: of the prompt: the encoder's run, or a decoder's where it reads in parts
    steps: list[Step] = field(default_factory=list)
    text: str = ""
    ended: bool = False  #: by a token that says so, else by the number of tokens

    @property
    def cost(self) -> Cost:
        """Of all its runs."""
        total = Cost()
        for cost in [*([self.reading] if self.reading else []), *(step.cost for step in self.steps)]:
            total.add(cost)
        return total

    def as_json(self) -> dict[str, Any]:
        """A text's entry in the report."""
        return {
            "prompt": self.prompt, "prompt_tokens": self.prompt_tokens, "text": self.text,
            "ended": self.ended,
            "reading": self.reading.as_json() if self.reading else None,
            "tokens": [step.as_json() for step in self.steps], "total": self.cost.as_json(),
        }


class Writer:
    """Networks, their tokens, and how the next one is chosen.

    context: how many tokens of a prompt and, without an encoder, of the text after it fit; None
        where there is no limit. at_once: how many tokens of a prompt a decoder that keeps keys takes
        in a run; None: all.
    """

    def __init__(self, encoder: Encoder | None, decoder: Decoder, tokens: Tokens, choice: Choice, *,
                 most: int, context: int | None = None, at_once: int | None = None,
                 start: str | None = None, end: str | None = None) -> None:
        self._encoder, self._decoder, self._tokens, self._choice = encoder, decoder, tokens, choice
        self._most, self._context, self._at_once = most, context, at_once
        if at_once is not None and (encoder is not None or not decoder.keeps):
            raise InvalidArgument("--at-once is only for a decoder that keeps keys and values")
        self._start = tokens.start(start) if encoder else None
        self._ends = tokens.ends(end)
        known = decoder.vocabulary
        if known is not None and tokens.largest >= known:
            raise InvalidArgument(f"{tokens.path} has tokens up to {tokens.largest}, {decoder.network.path} knows "
                                  f"{known}: is it this network's tokenizer?")

    def prepare(self, prompt: str) -> list[int]:
        """The tokens of a prompt. Refuses one that is empty or does not fit."""
        ids = self._tokens.encode(prompt)
        if not ids:
            raise InvalidArgument(f"the prompt {prompt!r} has no token")
        if self._context is not None and len(ids) > self._context:
            raise InvalidArgument(f"the prompt has {len(ids)} tokens; the context has {self._context}: "
                                  f"{prompt[:40]!r}...")
        return ids

    def runs(self, prompt: str) -> int:
        """How many a prompt takes at most."""
        reading = 1 if self._encoder is not None else 0
        if self._at_once is not None:
            reading = -(-len(self.prepare(prompt)) // self._at_once) - 1
        return reading + self._most

    def write(self, prompt: str) -> Iterator[Text]:
        """The text so far, after each run."""
        ids = self.prepare(prompt)
        text = Text(prompt, len(ids))
        hidden = None
        if self._encoder is not None and self._start is not None:
            hidden = self._encoder.run(ids)
            text.reading = self._encoder.network.cost
            ids = [self._start]
            yield text
        self._decoder.begin(hidden)
        for end in range(self._at_once or len(ids), len(ids), self._at_once or 1):
            self._decoder.run(ids[:end])
            text.reading = text.reading or Cost()
            text.reading.add(self._decoder.network.cost)
            yield text
        written: list[int] = []
        for _ in range(self._most):
            if hidden is None and self._context is not None and len(ids) >= self._context:
                break
            token = self._choice.next(self._decoder.run(ids))
            text.steps.append(Step(token, self._tokens.piece(token), self._decoder.network.cost))
            text.ended = token in self._ends
            if not text.ended:
                ids.append(token)
                written.append(token)
                text.text = self._tokens.decode(written)
            yield text
            if text.ended:
                break
