# SPDX-License-Identifier: Apache-2.0
"""The exception of the scripts whose message their user gets without a traceback."""


class Problem(Exception):
    """The user must change an input or install a tool."""
