#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# try BUILD SOURCE COMPILER: installs the package of BUILD, builds the projects of SOURCE against it,
# and runs what came of them.
set -euo pipefail
build=$1 source=$2 compiler=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --component package --prefix "$place/installed" >"$place/install.log"

cmake -S "$source/smallest" -B "$place/smallest" -DCMAKE_PREFIX_PATH="$place/installed" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
cmake --build "$place/smallest"
"$place/smallest/smallest_rtl"
"$place/smallest/smallest_tlm"
if "$place/smallest/smallest_tlm" without-debug >"$place/refused" 2>&1; then
  echo "a memory that TlmAccelerator cannot look into is taken"
  exit 1
fi
cat "$place/refused"
grep -q "memory at 0x.* neither get_direct_mem_ptr (DMI) nor transport_dbg" "$place/refused"

mkdir -p "$place/source"
cp -r "$source/plain" "$source/smallest" "$place/source"
cp "$place"/installed/share/gemm64/driver/*.[ch] "$place/source/plain"
awk '/^```c$/ { block = ""; inside = 1; next }
     /^```$/ { if (inside && block ~ /include "gemm64_matmul.h"/) printf "%s", block; inside = 0 }
     inside { block = block $0 "\n" }' "$place/installed/share/gemm64/driver/PORTING.md" >"$place/source/plain/example.c"
cmake -S "$place/source/plain" -B "$place/plain" -DCMAKE_PREFIX_PATH="$place/installed" \
  -DCMAKE_BUILD_TYPE=Release
cmake --build "$place/plain"
"$place/plain/plain"
