# SPDX-License-Identifier: Apache-2.0
"""Language models as ONNX files: what they ask for at each token, and what they give."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._errors import InvalidArgument
from .._report import Report
from .._session import InferenceSession, NodeArg

Arrays = dict[str, NDArray[Any]]


class Oracle(Protocol):
    """Who runs the same file elsewhere."""

    def compare(self, feed: Arrays, outputs: Arrays) -> int: ...


@dataclass
class Cost:
    """What runs took on the device."""

    cycles: int = 0
    predicted_cycles: int = 0
    macs: int = 0  #: on the device
    all_macs: float = 0.0
    values: int = 0  #: that were compared with another runtime's
    differing: int = 0

    def add(self, other: Cost) -> None:
        """Sums them up."""
        self.cycles += other.cycles
        self.predicted_cycles += other.predicted_cycles
        self.macs += other.macs
        self.all_macs += other.all_macs
        self.values += other.values
        self.differing += other.differing

    @property
    def device_share(self) -> float:
        """Of all multiplications that the files' products need."""
        return self.macs / self.all_macs if self.all_macs else 0.0

    def as_json(self) -> dict[str, int | float]:
        """Under the names of `gemm64 run --json`."""
        figures: dict[str, int | float] = {
            "cycles": self.cycles, "predicted_cycles": self.predicted_cycles, "macs": self.macs,
            "device_share": self.device_share,
        }
        if self.values:
            figures |= {"compared_values": self.values, "differing_values": self.differing}
        return figures


def _cost(report: Report) -> Cost:
    total = report["total"]
    share = total.get("device_share", 0.0)
    return Cost(total.get("cycles", 0), total.get("predicted_cycles", 0), total["macs"],
                total["macs"] / share if share else 0.0)


class Network:
    """A file on a device, and what another runtime says of it, if it is asked."""

    def __init__(self, path: Path, session: InferenceSession, oracle: Oracle | None = None) -> None:
        self.path = path
        self.inputs = {value.name: value for value in session.get_inputs()}
        self.outputs = {value.name: value for value in session.get_outputs()}
        self._session, self._oracle = session, oracle
        self.cost = Cost()  # of the last run

    def run(self, feed: Arrays) -> Arrays:
        """All outputs by name."""
        outputs = dict(zip(self.outputs, self._session.run(None, feed)))
        self.cost = _cost(self._session.report)
        if self._oracle is not None:
            self.cost.differing = self._oracle.compare(feed, outputs)
            self.cost.values = sum(array.size for array in outputs.values())
        return outputs

    def refuse(self, why: str) -> InvalidArgument:
        """An error that names the file."""
        return InvalidArgument(f"{self.path}: {why}")

    def require_open_length(self, name: str) -> None:
        """Texts have any length."""
        size = self.inputs[name].shape[-1] if name in self.inputs else None
        if isinstance(size, int):
            raise self.refuse(f"its input {name!r} is {size} tokens long and no other number; texts need "
                              "one that the file leaves open")

    def only_output(self, rank: int, wish: str) -> str:
        """The output of that name, else the one of that rank."""
        if wish in self.outputs:
            return wish
        found = [name for name, value in self.outputs.items() if len(value.shape) == rank]
        if len(found) != 1:
            raise self.refuse(f"no output is called {wish!r}; the outputs are {list(self.outputs)}")
        return found[0]


_PAST = re.compile(r"^past(_key_values)?(?=[._])")


def _present_name(past: str) -> str:
    return _PAST.sub("present", past)


class Encoder:
    """Token numbers in, hidden states out."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._output = network.only_output(3, "last_hidden_state")
        for name in network.inputs:
            if name not in ("input_ids", "attention_mask", "token_type_ids"):
                raise network.refuse(f"nothing is known for its input {name!r}; an encoder's file comes before "
                                     "its decoder's")
        network.require_open_length("input_ids")

    def run(self, ids: list[int]) -> NDArray[Any]:
        """The hidden states of a prompt, [1, length, width]."""
        given = np.array([ids], np.int64)
        known = {"input_ids": given, "attention_mask": np.ones_like(given),
                 "token_type_ids": np.zeros_like(given)}
        return self.network.run({name: known[name] for name in self.network.inputs})[self._output]


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
        """The logits behind the last of all tokens of the text so far, [vocabulary]."""
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
