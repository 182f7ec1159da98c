#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a group of tasks needs and that this machine lacks.
# Exit: 0 all there, 1 something is missing and was not installed, 2 bad usage or no Debian.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup/setup.sh [--check] [GROUP...]

Installs the Debian packages that the groups need and this machine lacks. Where nothing is missing
it says nothing and takes no time; make calls it for you.

  build   what `make sim` needs (default)
  test    tests and benchmarks, in addition to build
  lint    `make lint`
  tidy    `make -C scripts/ci tidy`
  synth   `make -C scripts/asic synth`: synthesis and timing (`test` holds it too)
  formal  `make -C tests/signoff formal`: proofs
  wires   `make -C scripts/asic wires`
  energy  `make -C scripts/asic energy`, in addition to build
  fpga    `make -C scripts/fpga fpga`
  bitstream  `make -C scripts/fpga bitstream`
  litex   `make -C scripts/fpga litex`
  mutants `make -C tests/signoff host-mutants`, in addition to test
  wave    the waveform viewer
  debug   the sanitizers of `cmake --preset debug`, and `make -C tests/signoff fuzz`
  python  `pip install .` and `make python`: the Python module, in addition to build (`test` holds it too)
  models  torch and torchvision, for `make -C scripts/models imagenet`, `scripts/models/export-models.py` and `scripts/models/train-fashion.py`
  torchscript  LibTorch, for `make -C scripts/models torchscript`: the plug-in that reads TorchScript files
  platform  the SystemC platform, its processor and its firmware (`test` holds them too)
  docs    the documents as pages: `make docs`
  report  npm, for `make report`, which fetches the charts of pages (`test` holds it too)
  web     emscripten, for `make web`
  all     all of these

  --check  only report; exit 1 when something is missing
  --help   this text

On other systems install the same software by hand and pass SETUP=true to make.
END
}

# package  why it is needed
packages_of() {
  case $1 in
    build) cat <<'END'
verilator              compiles the RTL
clang                  compiles the model fast
cmake                  builds
ninja-build            builds
make                   builds
pkg-config             finds libraries
python3                generates the register headers
python3-venv           fetches ONNX Runtime, by pip
libeigen3-dev          checks the results
libcli11-dev           reads the command line
libfmt-dev             prints
nlohmann-json3-dev     writes reports
zlib1g-dev             reads images, writes traces
libtomlplusplus-dev    reads descriptions of users' arrays
libstb-dev             reads PNG and JPEG images
libprotobuf-dev        reads and writes models
protobuf-compiler      compiles their format
dataset-fashion-mnist  images
END
      ;;
    test) cat <<'END'
libgtest-dev           test framework
libgmock-dev           test framework
libbenchmark-dev       benchmarks
iverilog               the second simulator
python3-venv           holds ONNX Runtime, which models are compared with, and ONNX's own tests
g++                    builds the textbook array that make bench compares with
gtkwave                shows the views that are tested, and reads waveforms without this project
xvfb                   is the screen that it shows them on
xauth                  lets it onto that screen
chromium               shows the report's page
chromium-driver        controls it
python3-selenium       talks to both
default-jdk-headless   runs a program in Java that uses ONNX Runtime
maven                  fetches ONNX Runtime's package for it
END
      ;;
    python) cat <<'END'
python3-venv           holds nanobind and NumPy
python3-dev            holds Python's headers
END
      ;;
    lint) cat <<'END'
verilator              checks the RTL
clang-format           checks the layout of C++
python3                checks the register headers
END
      ;;
    tidy) echo "python3-venv           holds clang-tidy" ;;
    formal) cat <<'END'
yosys                  reads the RTL
cvc5                   decides where there is no Bitwuzla
python3                runs both
python3-venv           holds Bitwuzla, which decides a hundred times as fast
END
      ;;
    synth) cat <<'END'
yosys                  synthesizes
opensta                analyses timing
qflow-tech-osu018      the cells
END
      ;;
    energy) cat <<'END'
yosys                  synthesizes
opensta                weighs power, too
qflow-tech-osu018      the cells
gtkwave                reads waveforms
END
      ;;
    wires) cat <<'END'
yosys                  synthesizes
opensta                analyses timing
qflow-tech-osu018      the cells, and the technology's layers
qflow                  places and routes, by
graywolf               which places, and
qrouter                which routes
END
      ;;
    fpga) echo "yosys                  synthesizes" ;;
    bitstream) cat <<'END'
yosys                  synthesizes
python3-venv           holds nextpnr and ecppack
END
      ;;
    litex) cat <<'END'
verilator                     compiles the SoC
make                          runs LiteX's steps
g++                           compiles the simulator
zlib1g-dev                    is part of it
libevent-dev                  is its loop
libjson-c-dev                 reads its settings
python3-venv                  holds LiteX
gcc-riscv64-unknown-elf       compiles the firmware
picolibc-riscv64-unknown-elf  is the firmware's C library
END
      ;;
    docs) echo "python3-venv           holds MkDocs" ;;
    mutants) echo "python3-clang          reads the C++ that make -C tests/signoff host-mutants changes" ;;
    wave) echo "gtkwave                shows waveforms" ;;
    debug)
      # The sanitizers' package is named after clang's version.
      local clang_version
      clang_version=$(dpkg-query -W -f '${Version}' clang 2>/dev/null | sed -E 's/^[0-9]+://; s/\..*//')
      echo "libclang-rt-${clang_version:-14}-dev  sanitizers and the fuzzer"
      ;;
    platform) cat <<'END'
libsystemc-dev                the platform's bus, memory and time
libunicorn-dev                the platform's processor
gcc-riscv64-unknown-elf       compiles its firmware
picolibc-riscv64-unknown-elf  is the firmware's C library
END
      ;;
    torchscript) echo "libtorch-dev           reads TorchScript files" ;;
    report)
      # Any npm will do; Debian's cannot be installed with another one.
      command -v npm >/dev/null || echo "npm                    fetches the charts of pages"
      ;;
    web)
      echo "emscripten             compiles the accelerator for browsers"
      ;;
    models) cat <<'END'
python3-torch          holds the networks' operators
python3-torchvision    holds the networks
END
      ;;
    *)
      echo "setup: no group is called '$1'; use one of build, test, lint, tidy, synth, wires, energy, fpga, bitstream, litex, formal, mutants, wave, debug, models, platform, python, report, torchscript, docs, web, all" >&2
      return 2
      ;;
  esac
}

check=no
groups=()
for argument in "$@"; do
  case $argument in
    --check) check=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "setup: no option is called '$argument'; see scripts/setup/setup.sh --help" >&2; exit 2 ;;
    all) groups+=(build test lint tidy synth wires energy fpga bitstream litex formal mutants wave debug models platform python report torchscript docs web) ;;
    test) groups+=(test platform formal synth python report) ;;
    *) groups+=("$argument") ;;
  esac
done

declare -A why=()
names=()
for group in "${groups[@]:-build}"; do
  table=$(packages_of "$group") || exit 2
  while read -r name reason; do
    [[ -n $name && -z ${why[$name]:-} ]] || continue
    names+=("$name")
    why[$name]=$reason
  done <<<"$table"
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is not a Debian-like system (no apt-get), so nothing can be installed from here." >&2
  echo "setup: install what these Debian packages hold, then pass SETUP=true to make: ${names[*]}" >&2
  exit 2
fi

[[ ${#names[@]} -gt 0 ]] || exit 0

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null |
  sed -n 's/ installed$//p') || true
missing=()
for name in "${names[@]}"; do
  grep -qxF -- "$name" <<<"$installed" || missing+=("$name")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

list=
for name in "${missing[@]}"; do list+="${list:+, }$name (${why[$name]})"; done
echo "setup: missing Debian packages: $list"
[[ $check == no ]] || exit 1

command=(apt-get install -y --no-install-recommends "${missing[@]}")
as_root=(env DEBIAN_FRONTEND=noninteractive)
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: only root may install them, and there is no sudo; as root, run:" >&2
    echo "  apt-get update && ${command[*]}" >&2
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi

# A machine that has just started may still be updating itself: wait for its lock.
apt() { "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"; }
install() {
  apt install -y -q --no-install-recommends "${missing[@]}"
}
have_lists() { compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null; }

[[ ${as_root[0]} == sudo ]] && how=" with sudo" || how=
echo "setup: installing them$how"
updated=no
if ! have_lists && apt update -q; then updated=yes; fi
if install; then exit 0; fi
# The lists may be older than what the mirror still holds.
if [[ $updated == no ]] && apt update -q && install; then exit 0; fi

echo "setup: the installation failed (see above). Is the network or the package mirror out of reach," >&2
echo "setup: or was the password refused? Once that is fixed, run make again, or as root:" >&2
echo "  apt-get update && ${command[*]}" >&2
exit 1
