#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks everything that needs no build. Runs all checks, one line each; exits 1 where any failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
shopt -s nullglob

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  echo "Usage: scripts/ci/lint.sh (or make lint, which installs the tools first)"
  echo "Checks the RTL with Verilator, the layout of C++, the generated files, and the house rules."
  echo "VERILATOR names another Verilator than the one in PATH."
  exit 0
fi

failed=0
# check NAME COMMAND...: one line, and what the command said only where it failed.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "lint: $name: ok"
  else
    echo "lint: $name: FAILED"
    sed 's/^/    /' <<<"$output"
    failed=1
  fi
}

verilator_lint() {
  "${VERILATOR:-verilator}" --lint-only -Wall --default-language 1364-2005 --unroll-count 256 -Irtl \
    --top-module gemm64 "-GN=$1" "-GSELF_CHECK=$2" rtl/*.vlt rtl/*.v
}

# gemm64_ulx3s, above it, has a cell of the device, which Yosys knows and Verilator does not.
board_lint() {
  "${VERILATOR:-verilator}" --lint-only -Wall --default-language 1364-2005 --unroll-count 256 -Irtl -Irtl/board \
    --top-module gemm64_board "-GN=$1" rtl/*.vlt rtl/board/*.vlt rtl/*.v rtl/board/gemm64_{board,bridge,memory,uart_rx,uart_tx}.v
}

cpp_files() { find host python sim tests -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c'; }

cpp_layout() {
  local output
  if output=$(cpp_files | xargs -r clang-format --dry-run --Werror 2>&1); then return 0; fi
  echo "fix with clang-format -i:"
  # The files' names; what is no complaint about layout is shown as it is.
  grep -E '^[^ ].*: (error|warning): |^[^ :]+: ' <<<"$output" |
    sed -E 's/:[0-9]+:[0-9]+: error: code should be clang-formatted.*//' | sort -u
  return 1
}

# Every source file begins with the licence, below the interpreter's line where it has one.
licence() {
  local files file bad=0
  files=$(
    find rtl sim host tests waves scripts python docs -type f \( -name '*.v' -o -name '*.vh' -o -name '*.sv' \
      -o -name '*.vlt' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.py' -o -name '*.js' -o -name '*.tcl' \
      -o -name '*.ys' -o -name '*.cmake' -o -name CMakeLists.txt \) 2>/dev/null
    find scripts .ci -type f ! -name '*.*'
    printf '%s\n' Makefile CMakeLists.txt pyproject.toml
  )
  while read -r file; do
    head -n 2 "$file" | grep -qE '^(//|#) SPDX-License-Identifier: Apache-2\.0( AND MIT)?$' ||
      { echo "$file: its first line must be '// SPDX-License-Identifier: Apache-2.0' (or #; AND MIT where part of it has that licence)"; bad=1; }
  done <<<"$files"
  return $bad
}

# Verilog files: no implicit nets inside, and one module, called like the file.
verilog_files() {
  local file name code modules bad=0
  for file in rtl/*.v rtl/board/*.v; do
    name=$(basename "$file" .v)
    # The code without comments and blank lines.
    code=$(sed -E 's://.*::; s/[[:space:]]+$//; /^$/d' "$file")
    [[ $(head -n 1 <<<"$code") == '`default_nettype none' ]] ||
      { echo "$file: must begin with \`default_nettype none"; bad=1; }
    [[ $(tail -n 1 <<<"$code") == '`default_nettype wire' ]] ||
      { echo "$file: must end with \`default_nettype wire"; bad=1; }
    modules=$(sed -nE 's/^[[:space:]]*module[[:space:]]+([A-Za-z0-9_]+).*/\1/p' <<<"$code")
    [[ $modules == "$name" ]] ||
      { echo "$file: must hold one module, $name; holds: ${modules//$'\n'/ }"; bad=1; }
    [[ $name == gemm64 || $name == gemm64_* ]] ||
      { echo "$file: the name must begin with gemm64_"; bad=1; }
  done
  return $bad
}

# Editors, linters and duplicate finders know a script by its suffix.
suffixes() {
  local found
  found=$(git ls-files -s | awk '$1 == 100755 {print $4}' | grep -vE '[.](py|sh)$|^[.]ci/run$|^tests/signoff/mutation/') || return 0
  echo "$found: needs the suffix .py or .sh"
  return 1
}

# The container has Debian 12, and its packages from scripts/setup/setup.sh, in groups that it knows.
container() {
  local file=.devcontainer/Dockerfile groups status=0 bad=0
  python3 - <<'END' || bad=1
import json, pathlib, re, sys

folder = pathlib.Path(".devcontainer")
build = json.loads((folder / "devcontainer.json").read_text())["build"]
file, context = folder / build["dockerfile"], folder / build["context"]
text = re.sub(r"\\\n", " ", file.read_text())
known = {"FROM", "ARG", "COPY", "RUN", "USER", "WORKDIR", "ENV"}
problems = []
for line in filter(None, map(str.strip, re.sub(r"(?m)^#.*", "", text).splitlines())):
    word, _, rest = line.partition(" ")
    if word not in known:
        problems.append(f"{word}: no instruction of this file; use {', '.join(sorted(known))}")
    if word == "COPY" and not (context / rest.split()[0]).exists():
        problems.append(f"COPY {rest}: {rest.split()[0]} does not exist")
    for installed in re.findall(r"apt-get install ([^&|;]*)", rest):
        names = [name for name in installed.split() if not name.startswith("-")]
        if set(names) - {"git", "make"}:
            problems.append(f"apt-get install {' '.join(names)}: git and make only; scripts/setup/setup.sh has the others")
if not re.search(r"(?m)^FROM debian:12", text):
    problems.append("FROM: the system that the project is tested on is debian:12")
if "gemm64-setup ${GROUPS}" not in text:
    problems.append("RUN: scripts/setup/setup.sh installs the packages")
print("\n".join(f"{file}: {problem}" for problem in problems))
sys.exit(bool(problems))
END
  groups=$(sed -n 's/^ARG GROUPS="\(.*\)"$/\1/p' "$file")
  # shellcheck disable=SC2086
  scripts/setup/setup.sh --check $groups >/dev/null 2>&1 || status=$?
  [[ -n $groups && $status -ne 2 ]] || { echo "$file: ARG GROUPS=\"$groups\": scripts/setup/setup.sh has no such group"; bad=1; }
  return $bad
}

check "verilator, N=64" verilator_lint 64 0
check "verilator, N=4, with checks" verilator_lint 4 2
check "verilator, N=2" verilator_lint 2 0
check "verilator, board" board_lint 4
check "layout of C++" cpp_layout
check "generated files" scripts/codegen/generate.py --check
check "includes" scripts/ci/check-includes.py
check "licence lines" licence
check "Verilog files" verilog_files
check "suffixes of scripts" suffixes
check "container" container
check "prose" scripts/ci/prose.py
exit $failed
