#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one small product and shows its waveform in GTKWave.
# Exit: 0 shown, or said where it is; 1 a tool is missing or failed; 2 bad usage.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

# Two tiles of K, so that sums are added on chip, and two of N, so that both banks are used. A memory
# that answers soon keeps all of it on one screen; with this seed the values are easy to tell apart.
PRODUCT=(gemm 64 128 128 --seed 3 --memory-latency 20)
# For the view of the lanes: 64 channels of 6x8 pixels, 3x3.
DEPTHWISE=(run --model "$root/tests/data/depthwise.onnx" --batch 1 --seed 3 --memory-latency 20)

usage() {
  cat <<'END'
Usage: scripts/waves/wave.sh [--build DIR] [VIEW]
       scripts/waves/wave.sh [--build DIR] --pictures
       scripts/waves/wave.sh [--build DIR] --keep VIEW

Runs a product of 64x128x128 (four tiles) on the 64x64 array, or for the view of the lanes a
depthwise convolution, writes its waveform to BUILD/wave/wave.fst with a save file, and opens
GTKWave with it; without a display it says where they lie. make wave VIEW=... builds the program
and calls it.

  VIEW        overview (default), array, commands, axi, accumulator or lanes
  --check     instead only says, by its exit code, whether there is such a view
  --build     where the program was built (default: build)
  --pictures  instead writes waves/pictures/VIEW.png of each view, on a virtual screen (Xvfb)
  --keep      instead takes BUILD/wave/wave.gtkw, as GTKWave saved it, for waves/VIEW.gtkw
  --help      this text
END
}

die() { echo "wave: $2" >&2; exit "$1"; }
need() { command -v "$1" >/dev/null || die 1 "$1 is missing: install it, or run scripts/setup/setup.sh $2"; }
trap '[[ -z ${picture_error:-} ]] || rm -f "$picture_error"' EXIT

known=()
for file in "$root"/waves/*.gtkw; do known+=("$(basename "$file" .gtkw)"); done

build=build
[[ $PWD == "$root" ]] || build=$root/build
does=show
view=
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || die 2 "--build needs a folder"; build=$2; shift ;;
    --pictures) does=pictures ;;
    --keep) does=keep ;;
    --check) does=true ;;
    -*) die 2 "no option is called '$1'; see scripts/waves/wave.sh --help" ;;
    *) [[ -z $view ]] || die 2 "one view at a time, not '$view' and '$1'"; view=$1 ;;
  esac
  shift
done
[[ $does != keep || -n $view ]] || die 2 "--keep needs the view's name"
[[ $does != pictures || -z $view ]] || die 2 "--pictures takes no view; it makes all of them"
: "${view:=overview}"
found=no
for name in "${known[@]}"; do [[ $name != "$view" ]] || found=yes; done
[[ $found == yes ]] || die 2 "no view is called '$view'; use one of $(sed 's/ /, /g' <<<"${known[*]}")"

folder=$build/wave
fst=$folder/wave.fst
save=$folder/wave.gtkw

# run VIEW: writes $fst and $save.
run() {
  [[ -f $build/gemm64 && -x $build/gemm64 ]] || die 2 "$build/gemm64 is not there: build it first (make), or say --build DIR"
  mkdir -p "$folder"
  local work=("${PRODUCT[@]}")
  [[ $1 != lanes ]] || work=("${DEPTHWISE[@]}")
  "$build/gemm64" "${work[@]}" --trace "$fst" --view "$1" >"$folder/wave.log" || {
    cat "$folder/wave.log" >&2
    die 1 "the run failed; its waveform is in $fst"
  }
}

show() {
  run "$view"
  local command=(gtkwave "$fst" "$save")
  if [[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    echo "wave: no display here; the waveform is $fst, the view '$view' $save. To see them:"
    echo "  ${command[*]}"
    return
  fi
  need gtkwave wave
  echo "wave: ${command[*]}"
  "${command[@]}"
}

# picture NAME FST SAVE ROWS: as many rows of the view, 21 pixels each, below menu and time.
picture() {
  local height=$((150 + 21 * $4))
  sed -i -E "s/^\[size\] .*/[size] 1400 $height/" "$3"
  picture_error=$(mktemp)
  GEMM64_PICTURE=$root/waves/pictures/$1.png GDK_BACKEND=x11 timeout 60 \
    xvfb-run -a -s "-screen 0 1600x$((height + 100))x24" \
    gtkwave -S "$root/scripts/waves/wave.tcl" "$2" "$3" >"$picture_error" 2>&1 || {
      cat "$picture_error" >&2
      die 1 "GTKWave failed on the picture '$1'"
    }
  rm -f "$picture_error"
  echo "wave: wrote waves/pictures/$1.png"
}

pictures() {
  need gtkwave wave
  need xvfb-run test
  mkdir -p "$root/waves/pictures"
  local name
  for name in "${known[@]}"; do
    run "$name"
    picture "$name" "$fst" "$save" "$(grep -cE '^[-+#]' "$save")"
  done
  # A weight that went wrong, as a failed run shows it.
  local failure=$folder/failure
  "$build/gemm64" "${PRODUCT[@]}" --inject weight:3,17:7@250 --trace-mismatch "$failure.fst" \
    >"$folder/wave.log" || [[ $? -eq 1 ]] || { cat "$folder/wave.log" >&2; die 1 "no failure to show"; }
  picture failure "$failure.fst" "$failure.gtkw" 21
}

# The view's head, which says what it is and what it shows first, above the traces that GTKWave wrote.
keep() {
  [[ -f $save ]] || die 2 "$save is not there: make wave VIEW=$view, change it, and save it in GTKWave"
  grep -q '^@' "$save" || die 2 "$save holds no traces"
  local file=$root/waves/$view.gtkw
  {
    sed '/^@/,$d' "$file"
    sed -n '/^@/,$p' "$save" | sed -E 's!^(\^[0-9]+ ).*/waves/filters/!\1waves/filters/!'
  } >"$file.new"
  mv "$file.new" "$file"
  echo "wave: wrote waves/$view.gtkw; look at it with git diff"
}

$does
