# SPDX-License-Identifier: Apache-2.0
"""python -m llm.embed."""

import sys

from llm.embed._cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
