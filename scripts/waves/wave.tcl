# SPDX-License-Identifier: Apache-2.0
# Run inside GTKWave by scripts/waves/wave.sh --pictures: saves a picture of the window and quits.
gtkwave::/File/Grab_To_File $env(GEMM64_PICTURE)
gtkwave::/File/Quit
