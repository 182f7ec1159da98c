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
from ._html import table


def _flat(layer: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Figures inside others, their names joined by a dot."""
    figures: dict[str, Any] = {}
    for name, value in layer.items():
        if isinstance(value, dict):
            figures.update(_flat(value, f"{prefix}{name}."))
        else:
            figures[prefix + name] = value
    return figures


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _figure(value: float | None) -> str:
    """A count, or a share; empty where there is none."""
    if value is None:
        return ""
    return f"{value:,}" if _is_integer(value) else f"{100 * value:.2f} %"


def warn(report: Mapping[str, Any], stacklevel: int = 3) -> None:
    """Issues the warnings of a report as Python's, at the caller's line."""
    for text in report.get("warnings", []):
        warnings.warn(text, stacklevel=stacklevel)


class Report(dict[str, Any]):
    """What `gemm64 run --json` writes, as a dictionary.

    `report["layers"]` has an entry for each layer, with cycles (`cycles`), bytes over each port
    (`bytes`), what was predicted of both, and all counters; `report["total"]` their sums;
    `report["verified"]` says whether everything that was checked held. A session's layers are in
    the network's order.
    """

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that this text holds."""
        return cls(json.loads(text))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each layer, indexed by name, in the network's order; a column for each figure.

        Figures inside others are joined by a dot: `bytes.weights`, `counters.compute.compute`.
        Counts are integers. A layer on the host has no cycles: its row has <NA> there, and NaN for
        what is no integer. Needs pandas.
        """
        import pandas

        rows = [_flat(layer) for layer in self["layers"]]
        names = dict.fromkeys(name for row in rows for name in row)
        columns: dict[str, pandas.Series[Any]] = {}
        for name in names:
            values = [row.get(name) for row in rows]
            known = [value for value in values if value is not None]
            whole = all(map(_is_integer, known))
            kind = "int64" if whole and len(known) == len(values) else "Int64" if whole else None
            columns[name] = pandas.Series(values, dtype=kind)
        return pandas.DataFrame(columns).set_index("name")

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and cycles and bytes by layer."""
        if "layers" not in self or "total" not in self:
            return table(["gemm64.Report", ""], [[str(key), str(self[key])] for key in self])
        total = {"name": "total", "on": "device", **self["total"]}
        rows = []
        for layer in [*self["layers"], total]:
            moved = layer.get("bytes")
            rows.append([
                layer["name"],
                layer["on"],
                *(_figure(layer.get(name)) for name in ("macs", "cycles", "predicted_cycles")),
                _figure(sum(moved.values()) if moved else None),
                _figure(layer.get("utilization")),
            ])
        verdict = "verified" if self["verified"] else "NOT VERIFIED"
        array = f"{self['array']}x{self['array']}"
        what = f"{self['model']} on {self['device']}, array {array}, batch {self['batch']}: {verdict}"
        head = ["layer", "on", "MACs", "clocks", "predicted", "bytes", "utilization"]
        return table([what], []) + table(head, rows)

    def require_verified(self) -> None:
        """Raises VerificationError where a layer ran and something of it did not hold."""
        layers = [layer for layer in self["layers"] if layer["on"] == "device"]
        if not self["verified"] and layers:
            raise VerificationError(self)
