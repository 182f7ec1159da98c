# SPDX-License-Identifier: Apache-2.0
"""Sentences as vectors, by language models on the accelerator: `python -m llm.embed --help`."""
