# SPDX-License-Identifier: Apache-2.0
"""The report of a run."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

from ._errors import VerificationError


def warn(report: Mapping[str, Any], stacklevel: int = 3) -> None:
    """Has the warnings of a report told as Python's, at the caller's line."""
    for text in report.get("warnings", []):
        warnings.warn(text, stacklevel=stacklevel)


class Report(dict[str, Any]):
    """What `gemm64 run --json` writes, as a dictionary.

    `report["layers"]` has an entry for each layer, with clocks (`cycles`), bytes over each port
    (`bytes`), what was predicted of both, and all counters; `report["total"]` their sums;
    `report["verified"]` says whether everything that was checked held.
    """

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that this text holds."""
        return cls(json.loads(text))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each layer, indexed by name; a column for each figure.

        Figures inside others are joined by a dot: `bytes.weights`, `counters.compute.compute`.
        A layer on the host has no clocks, and NaN there. Needs pandas.
        """
        import pandas

        return pandas.json_normalize(self["layers"]).set_index("name")

    def require_verified(self) -> None:
        """Raises VerificationError where a layer ran and something of it did not hold."""
        layers = [layer for layer in self["layers"] if layer["on"] == "device"]
        if self["verified"] or not layers:
            return
        outputs = self.get("outputs", {})
        wrong = [
            f"{outputs['mismatches']:,} of {outputs['values']:,} values of the outputs differ"
            for outputs in [outputs]
            if outputs.get("mismatches")
        ] + [
            f"{layer['name']}: {layer['mismatches']:,} values differ"
            for layer in layers
            if layer["mismatches"]
        ]
        wrong = wrong or ["a clock, a byte or an error is not as predicted"]
        raise VerificationError("; ".join(wrong) + ". The report tells more.")
