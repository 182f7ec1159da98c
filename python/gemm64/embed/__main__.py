# SPDX-License-Identifier: Apache-2.0
"""python -m gemm64.embed."""

import sys

from gemm64.embed._cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
