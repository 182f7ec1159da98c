#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Python virtual environment: that of ONNX Runtime and the Python module's tests, or another one.
# Exit: 0 it is there, 1 it could not be made, 2 bad usage.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup/venv.sh [FOLDER [REQUIREMENTS]]

Makes a virtual environment in FOLDER (default build/venv) with the packages of REQUIREMENTS
(default scripts/setup/requirements.txt). Where it is there already, it takes no time; where the packages
have changed, it is made again. `make test` calls it.

  PYTHON=python3.12  another interpreter than /usr/bin/python3
END
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) echo "venv: no option is called '$1'; see scripts/setup/venv.sh --help" >&2; exit 2 ;;
esac
[[ $# -le 2 ]] || { usage >&2; exit 2; }

root=$(cd "$(dirname "$0")/../.." && pwd)
requirements=${2:-$root/scripts/setup/requirements.txt}
folder=${1:-$root/build/venv}
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || python=python3
stamp=$folder/installed-requirements.txt

give_up() {
  cat >&2 <<END

venv: $1
venv: WHAT NEEDS ITS PACKAGES DOES NOT RUN without it: comparisons with ONNX Runtime, the Python module's
venv: build and tests, make tidy. It needs the network, or a package index that pip is configured for, and Debian's
venv: python3-venv (scripts/setup/setup.sh test).
END
  exit 1
}

# Two tests may ask at once.
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9

# Each package has a module of its name, with _ for -, or that of "# import NAME"; stubs are for type checkers only.
modules=$(sed -E 's/^[^#]+# import //; s/#.*//; s/[=<>~ ].*//; s/.*-stubs$//; s/-/_/g' "$requirements" | paste -sd ' ')
find_modules='import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))'
# shellcheck disable=SC2086
if cmp -s "$requirements" "$stamp" && "$folder/bin/python" -c "$find_modules" $modules 2>/dev/null; then
  exit 0
fi
echo "venv: making $folder"
"$python" -m venv --clear "$folder" || give_up "$python cannot make a virtual environment"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements" ||
  give_up "pip could not install the packages of ${requirements#"$root/"}"
for module in $modules; do
  "$folder/bin/python" -c "import $module" || give_up "$module is installed but does not load"
done
cp "$requirements" "$stamp"
