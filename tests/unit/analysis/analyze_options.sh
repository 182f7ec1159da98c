#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze_options PROGRAM MODELS: the options of `PROGRAM analyze`, as a person types them.
set -u
program=$1
models=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# good OPTIONS...: exit 0.
good() {
  "$program" analyze "$@" >"$folder/out" 2>"$folder/error" ||
    { echo "analyze $*: exit code $?: $(cat "$folder/error")"; failed=1; }
}
# contains FILE TEXT
contains() { grep -qF -- "$2" "$folder/$1" || { echo "$1 does not contain '$2'"; failed=1; }; }
# bad TEXT OPTIONS...: exit 2 and one line with that text.
bad() {
  local text=$1 output code
  shift
  output=$("$program" analyze "$@" 2>&1)
  code=$?
  [[ $code == 2 && $output == *"$text"* && $output != *$'\n'* ]] ||
    { echo "analyze $*: exit code $code, expected 2 and '$text', got: $output"; failed=1; }
}

good "$models/alexnet.onnx" --json "$folder/a.json" --csv "$folder/a.csv" --plot "$folder/a.html"
contains out "714,188,480"
contains a.json '"macs": 714188480'
contains a.csv "/classifier/classifier.1/Gemm,Gemm"
contains a.html '"read_bytes":695296'
good "$models/alexnet.onnx" --batch 64
contains out "45,708,062,720"
good "$models/vgg16.onnx" --input-shape input=2x3x224x224 --sort-by macs --top 1
contains out "30,940,528,640"
contains out "1 of 38 nodes shown"
good "$models/resnet50.onnx" --memory-latency 400

bad "--sort-by colour" "$models/alexnet.onnx" --sort-by colour
bad "no input 'y'" "$models/alexnet.onnx" --input-shape y=1x3x224x224
bad "give NAME=AxBxC" "$models/alexnet.onnx" --input-shape input
bad "give NAME=AxBxC" "$models/alexnet.onnx" --input-shape input=1x0
bad "give NAME=AxBxC" "$models/alexnet.onnx" --input-shape input=1x3x
bad "given twice" "$models/alexnet.onnx" --input-shape input=1x3x9x9 --input-shape input=1x3x8x8
bad "has 4 dimensions" "$models/alexnet.onnx" --input-shape input=1x3
bad "Dimension mismatch" "$models/alexnet.onnx" --input-shape input=1x3x2x2
bad "batch" "$models/alexnet.onnx" --batch 0
bad "no such file" "$models/nothing.onnx"
bad "as a.html" "$models/alexnet.onnx" --plot a.svg
bad "cannot be written" "$models/alexnet.onnx" --json /nonexistent/a.json
exit $failed
