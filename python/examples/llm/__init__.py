# SPDX-License-Identifier: Apache-2.0
"""Language models on the accelerator: text by `python -m llm.generate`, vectors by `python -m llm.embed`."""
