#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches ONNX Runtime for Java. Exit: 0 it is there, 1 it could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/models/java-onnxruntime.sh [FOLDER]

Fetches ONNX Runtime's Java package with Maven to FOLDER/onnxruntime.jar (default build/java), and compares it with the
checksum below. Where it is there already, it takes no time. A test of `make test` calls it.
END
}

version=1.29.0
checksum=5933bbc0c6c4d89afc04bf7c11011de23a947509c1352e5bf5936e62a84e4d10

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) echo "java-onnxruntime: no option is called '$1'; see scripts/models/java-onnxruntime.sh --help" >&2; exit 2 ;;
esac
[[ $# -le 1 ]] || { usage >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/build/java}
jar=$folder/onnxruntime.jar

is_right() { sha256sum --check --status <<<"$checksum  $1"; }

if [[ -f $jar ]] && is_right "$jar"; then exit 0; fi
mkdir -p "$folder"
echo "java-onnxruntime: fetching version $version"
mvn --quiet --batch-mode dependency:copy "-Dartifact=com.microsoft.onnxruntime:onnxruntime:$version" \
  "-DoutputDirectory=$folder" -Dmdep.stripVersion=true ||
  { echo "java-onnxruntime: Maven could not fetch it; it needs the network, or a mirror in Maven's settings, and Debian's" >&2
    echo "java-onnxruntime: maven (scripts/setup/setup.sh test)" >&2
    exit 1; }
is_right "$jar" || { rm -f "$jar"; echo "java-onnxruntime: its checksum is another one" >&2; exit 1; }
