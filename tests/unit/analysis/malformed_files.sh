#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# malformed_files PROGRAM FOLDER: `PROGRAM analyze FILE` must refuse each file that FOLDER's
# expected.txt names, with one line that contains what stands there, nothing on standard output and
# exit code 2, within a second or so and 1 GiB of memory.
set -u
program=$1
folder=$2
failed=0
count=0
while IFS= read -r line; do
  file=${line%%: *}
  expected=${line#*: }
  output=$( (ulimit -v 1500000; timeout 10 "$program" analyze "$folder/$file" 2>&1) )
  code=$?
  if [[ $code != 2 || $output != "gemm64: "* || $output == *$'\n'* || $output != *"$expected"* ]]; then
    echo "$file: exit code $code, output: $output; expected code 2 and '$expected'"
    failed=1
  fi
  count=$((count + 1))
done <"$folder/expected.txt"
[[ $count -gt 70 ]] || { echo "only $count files in $folder/expected.txt"; failed=1; }
exit $failed
