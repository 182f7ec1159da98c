#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the charting libraries that pages embed. Exit: 0 they are there, 1 they could not be fetched, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup/charts.sh [--test] [FOLDER]

Fetches D3 and Observable Plot with npm, compares them with the checksums below, and writes both with their licences to
FOLDER/charts.js (default build/page). Where it is there already, it takes no time. `make report` and `make test` call it.

  --test  also fetches axe-core, which checks pages for accessibility, to FOLDER/axe.js
END
}

# Output, package, version, the file that is taken, SHA-512 of the package.
libraries='
charts.js d3 7.9.0 dist/d3.min.js 7b5538ea354ffb0ec8badf09b7cae2d58b0f3af169838ea4f8af13a426f43fece30a48e43e757b5b37c3273307cb52e703ec23e692d3d708cef74d602d778484
charts.js @observablehq/plot 0.6.17 dist/plot.umd.min.js fea6973ffee67383144b4b3870f3c50120d18edb16a7ce7f4db7ec722a83814d47c188b16d26dbcad36e2270fc01c4d80b7c5ac400a0557d3a6a075f432f56fa
axe.js axe-core 4.10.2 axe.min.js 444de6750ecfdc54527bb7aa096a1e43f67d417aed9e24a3a75c148ede67442dd6229cf9ad20af7baa377ec676682a49b6b663499823c170284cee64e2d108d3
'

test=no
folder=
for argument in "$@"; do
  case $argument in
    --test) test=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "charts: no option is called '$argument'; see scripts/setup/charts.sh --help" >&2; exit 2 ;;
    *) [[ -z $folder ]] || { usage >&2; exit 2; }; folder=$argument ;;
  esac
done
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${folder:-$root/build/page}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

give_up() {
  echo "charts: $1" >&2
  echo "charts: pages (--report) need it; all else works without" >&2
  exit 1
}

# Two may ask at once.
exec 9>"$folder/charts.lock"
flock 9

outputs="charts.js"
[[ $test == no ]] || outputs+=" axe.js"
for output in $outputs; do
  wanted=$(grep "^$output " <<<"$libraries")
  # What an output was made of stands next to it; CMake leaves an empty file where there is none.
  [[ ! -s $folder/$output ]] || ! cmp -s "$folder/$output.from" <(echo "$wanted") || continue
  command -v npm >/dev/null || give_up "npm is missing; scripts/setup/setup.sh report installs it"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  : >"$work/$output"
  while read -r _ name version file checksum; do
    echo "charts: fetching $name $version"
    package=$(cd "$work" && npm pack --silent "$name@$version" 2>"$work/log") ||
      give_up "npm cannot fetch $name $version: $(grep -v '^npm warn' "$work/log" | head -n 1)"
    [[ $(sha512sum <"$work/$package") == "$checksum  -" ]] ||
      give_up "$name $version is not the package that this script knows (SHA-512 of $package differs)"
    tar -xzf "$work/$package" -C "$work" "package/$file" package/LICENSE
    { echo "/*!"; sed 's/\*\///g' "$work/package/LICENSE"; echo "*/"; cat "$work/package/$file"; echo; } >>"$work/$output"
    rm -rf "$work/package"
  done <<<"$wanted"
  ! grep -qiE '</script|<!--' "$work/$output" || give_up "$output would end the script that embeds it"
  rm -f "$folder/$output.from"
  mv "$work/$output" "$folder/$output"
  echo "$wanted" >"$folder/$output.from"
  rm -rf "$work"
done
