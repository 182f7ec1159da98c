# SPDX-License-Identifier: Apache-2.0
"""Networks and sweeps on many machines, by Dask: `python -m gemm64.cluster --help`.

    python -m gemm64.cluster run --model q.onnx --input images/ --batch 1 --checkpoint kept/
    python -m gemm64.cluster sweep designs.txt --csv rows.csv
    python -m gemm64.cluster estimate --model q.onnx --input images/ --images 50000 --cores 16,256

The report of a run is that of `gemm64 run` with the same options, wall times apart.
"""

from ._cli import main

__all__ = ["main"]
