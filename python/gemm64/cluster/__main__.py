# SPDX-License-Identifier: Apache-2.0
"""python -m gemm64.cluster."""

import sys

from gemm64.cluster._cli import main

if __name__ == "__main__":  # Dask's worker processes import this file too
    sys.exit(main(sys.argv[1:]))
