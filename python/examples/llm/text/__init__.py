# SPDX-License-Identifier: Apache-2.0
"""What the commands that work on text share: networks, tokens, options, and what is printed."""
