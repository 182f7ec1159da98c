# SPDX-License-Identifier: Apache-2.0
"""Texts, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .._errors import InvalidArgument
from ._choice import Choice
from ._network import Cost, Decoder, Encoder
from ._tokens import Tokens


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
    encoder: Cost | None = None
    steps: list[Step] = field(default_factory=list)
    text: str = ""
    ended: bool = False  #: by a token that says so, else by the number of tokens

    @property
    def cost(self) -> Cost:
        """Of all its runs."""
        total = Cost()
        for cost in [*([self.encoder] if self.encoder else []), *(step.cost for step in self.steps)]:
            total.add(cost)
        return total

    def as_json(self) -> dict[str, Any]:
        """A text's entry in the report."""
        return {
            "prompt": self.prompt, "prompt_tokens": self.prompt_tokens, "text": self.text,
            "ended": self.ended,
            "encoder": self.encoder.as_json() if self.encoder else None,
            "tokens": [step.as_json() for step in self.steps], "total": self.cost.as_json(),
        }


class Writer:
    """Networks, their tokens, and how the next one is chosen.

    context: how many tokens of a prompt and, without an encoder, of the text behind it fit; None
        where there is no limit.
    """

    def __init__(self, encoder: Encoder | None, decoder: Decoder, tokens: Tokens, choice: Choice, *,
                 most: int, context: int | None = None, start: str | None = None,
                 end: str | None = None) -> None:
        self._encoder, self._decoder, self._tokens, self._choice = encoder, decoder, tokens, choice
        self._most, self._context = most, context
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

    def write(self, prompt: str) -> Iterator[Text]:
        """The text so far, after the encoder and after each token."""
        ids = self.prepare(prompt)
        text = Text(prompt, len(ids))
        hidden = None
        if self._encoder is not None and self._start is not None:
            hidden = self._encoder.run(ids)
            text.encoder = self._encoder.network.cost
            ids = [self._start]
            yield text
        self._decoder.begin(hidden)
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
