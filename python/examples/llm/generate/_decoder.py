# SPDX-License-Identifier: Apache-2.0
"""Decoders: what they ask for at each token, and what they give."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gemm64 import NodeArg

from ..text._network import Arrays, Network

_PAST = re.compile(r"^past(_key_values)?(?=[._])")


def _present_name(past: str) -> str:
    return _PAST.sub("present", past)


class Decoder:
    """Token numbers in, logits of the next token out; keys and values are kept where the file has
    inputs for them (past..., with outputs present...), else all is computed again."""

    def __init__(self, network: Network, attends: bool) -> None:
        self.network = network
        self._logits = network.only_output(3, "logits")
        self._ids = "decoder_input_ids" if "decoder_input_ids" in network.inputs else "input_ids"
        self._past = {name: _present_name(name) for name in network.inputs if _PAST.match(name)}
        of_encoder = {"encoder_hidden_states", "encoder_attention_mask"}
        known = {self._ids, "attention_mask", "position_ids", *self._past, *(of_encoder if attends else ())}
        for name in network.inputs:
            if name in of_encoder and not attends:
                raise network.refuse(f"its input {name!r} comes from an encoder: give its file first")
            if name not in known:
                raise network.refuse(f"nothing is known for its input {name!r}")
        if self._ids not in network.inputs:
            raise network.refuse(f"no input is called 'input_ids'; the inputs are {list(network.inputs)}")
        for past, present in self._past.items():
            if present not in network.outputs:
                raise network.refuse(f"its input {past!r} has no output {present!r}")
        network.require_open_length(self._ids)
        self._kept: Arrays = {}
        self._hidden: NDArray[Any] | None = None
        self._seen = 0  # tokens whose keys are kept

    @property
    def vocabulary(self) -> int | None:
        """How many tokens there are; None where the file does not say."""
        size = self.network.outputs[self._logits].shape[-1]
        return size if isinstance(size, int) else None

    def begin(self, hidden: NDArray[Any] | None) -> None:
        """A new text, after a prompt's hidden states."""
        self._hidden, self._seen = hidden, 0
        self._kept = {name: _nothing(self.network.inputs[name]) for name in self._past}

    @property
    def keeps(self) -> bool:
        """Are keys and values kept, so that a text can be read in parts?"""
        return bool(self._past)

    def run(self, ids: list[int]) -> NDArray[Any]:
        """The logits after the last of all tokens of the text so far, [vocabulary]."""
        new = np.array([ids[self._seen:]], np.int64)
        places = np.arange(self._seen, len(ids), dtype=np.int64)[None]
        feed: Arrays = {self._ids: new, "attention_mask": np.ones((1, len(ids)), np.int64),
                        "position_ids": places, **self._kept}
        if self._hidden is not None:
            feed["encoder_hidden_states"] = self._hidden
            feed["encoder_attention_mask"] = np.ones(self._hidden.shape[:2], np.int64)
        outputs = self.network.run({name: feed[name] for name in self.network.inputs})
        if self._past:
            self._kept = {past: outputs[present] for past, present in self._past.items()}
            self._seen = len(ids)
        logits: NDArray[Any] = outputs[self._logits][0, -1]
        return logits


def _nothing(value: NodeArg) -> NDArray[Any]:
    """Keys or values of no token: the batch is one, other open sizes are none."""
    shape = [size if isinstance(size, int) else int(axis == 0) for axis, size in enumerate(value.shape)]
    return np.zeros(shape, np.float16 if value.type == "tensor(float16)" else np.float32)
