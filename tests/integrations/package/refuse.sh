#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# refuse SOURCE MAKEFILE: installing a package that was not configured, or not built, must fail and say why.
set -euo pipefail
source=$1 makefile=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# refused WORDS OPTION...: configured with these options, it is refused in these words.
refused() {
  local words=$1
  shift
  cmake -S "$source/none" -B "$place/build" --fresh "$@" >"$place/log"
  if cmake --install "$place/build" --component package --prefix "$place/to" >"$place/log" 2>&1; then
    echo "installed nothing, and said it went well ($*)"
    exit 1
  fi
  tr -s ' \n' ' ' <"$place/log" | grep "$words.* make -C sim package" >/dev/null || { cat "$place/log"; exit 1; }
}
refused "configured without the SystemC platform"
refused "libgemm64.a is missing" -DBUILT="$place/libgemm64.a"

# The command that it names exists. (grep -q would leave before make has written all, which then fails.)
make -n -f "$makefile" package SETUP=true | grep -- "--component package" >/dev/null
