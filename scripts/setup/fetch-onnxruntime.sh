#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches ONNX Runtime's library, which runs the nodes of a network that the device does not.
# Exit: 0 it is there, 1 it could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup/fetch-onnxruntime.sh [FOLDER]

Puts libonnxruntime.so of the Python package that scripts/setup/onnxruntime-packages.txt pins, by version and checksum, into
FOLDER (default build/onnxruntime), with its license. If it is there already, this takes no time. `make sim` calls it.
GEMM64_ONNXRUNTIME names another library to the program; then nothing is fetched.

  PYTHON=python3.12  another interpreter than /usr/bin/python3, for pip only
END
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) echo "fetch-onnxruntime: no option is called '$1'; see scripts/setup/fetch-onnxruntime.sh --help" >&2; exit 2 ;;
esac
[[ $# -le 1 ]] || { usage >&2; exit 2; }
[[ -z ${GEMM64_ONNXRUNTIME:-} ]] || exit 0

root=$(cd "$(dirname "$0")/../.." && pwd)
packages=$root/scripts/setup/onnxruntime-packages.txt
folder=${1:-$root/build/onnxruntime}
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || python=python3
stamp=$folder/packages.txt

give_up() {
  cat >&2 <<END
fetch-onnxruntime: $1
fetch-onnxruntime: it needs the network, or a package index that pip is configured for, and Debian's python3-venv
fetch-onnxruntime: (scripts/setup/setup.sh build). GEMM64_ONNXRUNTIME=FILE names a library of your own.
END
  exit 1
}

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"  # two tests may ask at once
flock 9
if cmp -s "$packages" "$stamp" && compgen -G "$folder/libonnxruntime.so*" >/dev/null; then exit 0; fi

echo "fetch-onnxruntime: fetching ${folder#"$PWD/"}/libonnxruntime.so"
temporary=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$temporary"' EXIT
"$python" -m venv "$temporary/venv" || give_up "$python cannot make a virtual environment"
"$temporary/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --only-binary=:all: --python-version 3.12 --dest "$temporary" --requirement "$packages" ||
  give_up "pip could not fetch what ${packages#"$root/"} lists"
"$python" - "$temporary" <<'END' || give_up "the package has no libonnxruntime.so"
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
(folder / "ready").mkdir()
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    for name in wheel.namelist():
        file = pathlib.PurePosixPath(name)
        if file.name in ("LICENSE", "ThirdPartyNotices.txt") or file.name.startswith("libonnxruntime.so"):
            (folder / "ready" / file.name).write_bytes(wheel.read(name))
sys.exit(not list((folder / "ready").glob("libonnxruntime.so*")))
END
cp "$packages" "$temporary/ready/packages.txt"
rm -rf "$folder"
mv "$temporary/ready" "$folder"
