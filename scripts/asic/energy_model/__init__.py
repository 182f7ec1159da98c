# SPDX-License-Identifier: Apache-2.0
"""Energy of the accelerator from simulated gates; scripts/asic/energy.py says how."""
