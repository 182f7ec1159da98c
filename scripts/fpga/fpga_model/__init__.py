# SPDX-License-Identifier: Apache-2.0
"""Resources of the accelerator on an FPGA; scripts/fpga/fpga.py says how."""
