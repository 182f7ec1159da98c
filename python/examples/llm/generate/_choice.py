# SPDX-License-Identifier: Apache-2.0
"""Which token comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Choice:
    """The likeliest token where temperature is 0, else one by chance: the same for the same seed."""

    temperature: float = 0.0
    top_k: int = 0  #: of this number of likeliest; 0: of all
    top_p: float = 1.0  #: of the fewest likeliest that have this share together
    seed: int = 1
    _random: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def next(self, logits: NDArray[Any]) -> int:
        """Of equal logits the first."""
        if self.temperature == 0:
            return int(np.argmax(logits))
        order = np.argsort(-logits.astype(np.float64), kind="stable")
        if self.top_k:
            order = order[:self.top_k]
        scaled = logits[order].astype(np.float64) / self.temperature
        shares = np.exp(scaled - scaled[0])
        sums = np.cumsum(shares / shares.sum())
        kept = int(np.searchsorted(sums, self.top_p)) + 1
        sums = sums[:kept]
        drawn = self._random.random() * sums[-1]
        return int(order[min(int(np.searchsorted(sums, drawn, side="right")), len(sums) - 1)])
