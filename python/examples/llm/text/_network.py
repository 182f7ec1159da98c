# SPDX-License-Identifier: Apache-2.0
"""ONNX files of language models on a device: what they ask for and give, and what a run takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gemm64 import InferenceSession, InvalidArgument, Report

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


def with_cause(error: InvalidArgument, texts: list[list[int]]) -> InvalidArgument:
    """The error of a network that was given these tokens, with what is likely wrong about them."""
    if " index " not in str(error) and " indices " not in f" {error}":
        return error
    longest, largest = max(map(len, texts)), max(map(max, texts))
    return InvalidArgument(f"{error}; the text has {longest} tokens, the largest is {largest}: has the network "
                           "that many entries, and is it this network's tokenizer?")


class Encoder:
    """Token numbers in, hidden states out."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._output = network.only_output(3, "last_hidden_state")
        for name in network.inputs:
            if name not in ("input_ids", "attention_mask", "position_ids", "token_type_ids"):
                raise network.refuse(f"nothing is known for its input {name!r}; an encoder's file comes before "
                                     "its decoder's")
        network.require_open_length("input_ids")

    def run(self, ids: list[int]) -> NDArray[Any]:
        """The hidden states of a prompt, [1, length, width]."""
        given = np.array([ids], np.int64)
        known = {"input_ids": given, "attention_mask": np.ones_like(given),
                 "position_ids": np.arange(len(ids), dtype=np.int64)[None], "token_type_ids": np.zeros_like(given)}
        try:
            return self.network.run({name: known[name] for name in self.network.inputs})[self._output]
        except InvalidArgument as error:
            raise with_cause(error, [ids]) from None
