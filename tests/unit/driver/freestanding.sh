#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# freestanding NM LIBRARY: fails where the driver in C calls anything but itself and the two functions
# that compilers copy and clear structures with, or keeps data.
set -euo pipefail
calls=$("$1" -u "$2" | awk '$1 == "U" && $2 !~ /^(memset|memcpy|gemm64_[a-z_]+)$/ { print $2 }')
data=$("$1" "$2" | awk 'NF == 3 && $2 ~ /^[bBdDC]$/ { print $3 }')
[[ -z $calls ]] || { echo "it calls $calls"; exit 1; }
[[ -z $data ]] || { echo "it keeps data: $data"; exit 1; }
"$1" "$2" | grep ' T gemm64_submit$' >/dev/null || { echo "no driver in $2"; exit 1; }
