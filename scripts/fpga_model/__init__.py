# SPDX-License-Identifier: Apache-2.0
"""Resources of the accelerator on an FPGA; scripts/fpga says how."""
