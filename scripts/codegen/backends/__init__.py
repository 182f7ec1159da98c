# SPDX-License-Identifier: Apache-2.0
"""What the generator writes: a module per language."""
