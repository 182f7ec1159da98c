// SPDX-License-Identifier: Apache-2.0
// Makes the files with which GTKWave and Surfer show one waveform, from a view in waves/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gemm64 {

/// A named marker of GTKWave.
struct WaveMarker {
  char letter;  // 'A' to 'Z'
  std::uint64_t clock;
  std::string name;
};

/// Some bits of a signal, as a signed decimal.
struct WaveTrace {
  std::string label;
  std::string signal;  // its full name without its range
  int low = 0;         // the lowest bit shown
  int bits = 0;
};

struct SaveFileOptions {
  /// Where to look for the view's moment: the first cycle from this one on in which the signal is 1
  /// that the view names in its line "[*] start: SIGNAL", or this cycle where none comes. The
  /// view's own start is counted from there.
  std::optional<std::uint64_t> first_clock;
  std::optional<std::uint64_t> left_clock;  // the clock at the left edge, whatever the view says
  std::string title;                        // of the traces
  std::vector<WaveTrace> traces;        // above the view's; those not in the waveform are left out
  std::vector<WaveMarker> markers;      // the one called A becomes the primary marker too
  std::optional<std::uint64_t> cycles;  // in the window; the view's if empty
};

/// Views are in this folder from now on; a package brings its own.
void set_waves_folder(const std::string& folder);

/// The file of a view, such as "array". Throws UsageError, which names those that exist, if
/// there is none of that name.
std::string view_file(const std::string& view);

/// The files for Surfer next to a save file.
std::string surfer_state_of(const std::string& save_file);
std::string surfer_commands_of(const std::string& save_file);

/// Writes to `save_file`, and to those for Surfer, the view in `view_file`, fitted to the waveform
/// in `fst_file`: the views are made for N = 64, and for a smaller array ranges are narrowed, and
/// lanes, signals and groups that do not exist left out. Throws UsageError if a file cannot be
/// read, or not be written, and leaves nothing half-written.
void write_save_file(const std::string& view_file, const std::string& fst_file,
                     const std::string& save_file, const SaveFileOptions& options = {});

}  // namespace gemm64
