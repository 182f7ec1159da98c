# SPDX-License-Identifier: Apache-2.0
"""python -m gemm64.generate."""

import sys

from gemm64.generate._cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
