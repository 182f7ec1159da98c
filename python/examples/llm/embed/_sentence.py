# SPDX-License-Identifier: Apache-2.0
"""Sentences and their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gemm64 import InvalidArgument

from ..text._network import Arrays, Cost, Encoder
from ..text._tokens import Tokens


@dataclass
class Sentence:
    """A sentence, and what it took."""

    text: str
    tokens: int
    vector: NDArray[Any]  #: of length 1
    cost: Cost
    of_float: float | None = None  #: its cosine with the float network's vector

    def as_json(self) -> dict[str, Any]:
        """A sentence's entry in the report."""
        figures = {} if self.of_float is None else {"cosine_of_float": self.of_float}
        return {"text": self.text, "tokens": self.tokens, **self.cost.as_json(), **figures,
                "vector": [float(value) for value in self.vector]}


def ids_of(tokens: Tokens, text: str, context: int | None) -> list[int]:
    """The tokens of a sentence. Refuses one that has none, or more than fit."""
    ids = tokens.encode(text)
    if not ids:
        raise InvalidArgument(f"the sentence {text!r} has no token")
    if context is not None and len(ids) > context:
        raise InvalidArgument(f"a sentence has {len(ids)} tokens; the context has {context}: {text[:40]!r}...")
    return ids


def vector_of(encoder: Encoder, ids: list[int]) -> NDArray[Any]:
    """The mean of the tokens' hidden states, of length 1."""
    mean: NDArray[Any] = encoder.run(ids)[0].astype(np.float64).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length else mean


def parallel_for(all_ids: list[list[int]]) -> Arrays:
    """Sentences as one batch, the short ones filled up after their ends."""
    width = max(len(ids) for ids in all_ids)
    mask = np.array([[int(place < len(ids)) for place in range(width)] for ids in all_ids], np.int64)
    filled = np.array([ids + [0] * (width - len(ids)) for ids in all_ids], np.int64)
    places = np.tile(np.arange(width, dtype=np.int64), (len(all_ids), 1))
    return {"input_ids": filled, "attention_mask": mask, "position_ids": places,
            "token_type_ids": np.zeros_like(filled)}


def cosines(sentences: list[Sentence]) -> NDArray[Any]:
    """Of each sentence with each."""
    vectors = np.array([sentence.vector for sentence in sentences])
    near: NDArray[Any] = vectors @ vectors.T
    return near
