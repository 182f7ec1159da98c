# SPDX-License-Identifier: Apache-2.0
"""python -m llm.generate."""

import sys

from llm.generate._cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
