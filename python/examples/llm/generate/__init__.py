# SPDX-License-Identifier: Apache-2.0
"""Text from language models on the accelerator: `python -m llm.generate --help`."""
