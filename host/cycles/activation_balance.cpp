// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/activation_balance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/cycles/program_check.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64::cycles {

void ActivationBalance::add(std::vector<Turn>& turns, bool window, const Share& words,
                            std::uint64_t pixels) {
  if (turns.empty() || turns.back().window != window) turns.push_back({window, {}, {}});
  turns.back().words.push_back(words);
  turns.back().pixels.push_back({words.command, pixels});
}

void ActivationBalance::load(const LoadActivationsCommand& load, std::size_t index) {
  const std::uint64_t words = product({load.rows, load.count, load.passes, load.blocks});
  add(loaded_, is_window(load), {index, words}, load.place == 0 ? load.rows : 0);
}

void ActivationBalance::take(const MatmulCommand& matmul, std::size_t index, std::uint64_t words) {
  if (is_window(matmul) && words == 0 && matmul.freed_pixels == 0) return;  // only of the border
  add(taken_, is_window(matmul), {index, words}, matmul.freed_pixels);
}

/// Pixels are loaded when the words after them have come, at the latest; a block that claims these
/// may free them.
void ActivationBalance::check_pixels(const std::vector<Command>& program, const Turn& loaded,
                                     const Turn& taken) {
  std::uint64_t claimed = 0, freed = 0, words = 0, pixels = 0;
  std::size_t load = 0;
  for (std::size_t i = 0; i < taken.words.size(); ++i) {
    claimed += taken.words[i].amount;
    freed += taken.pixels[i].amount;
    for (; words < claimed; ++load) {
      words += loaded.words[load].amount;
      pixels += loaded.pixels[load].amount;
    }
    if (freed <= pixels) continue;
    refuse(program, taken.words[i].command,
           fmt::format("the MATMULs up to here free {} pixels; of those that they claim, {} were "
                       "loaded with PLACE = 0",
                       freed, pixels));
  }
  if (freed == sum(loaded.pixels)) return;
  refuse(program, first_beyond(loaded.pixels, freed),
         fmt::format("no MATMUL frees all of its pixels: {} of {} that are loaded", freed,
                     sum(loaded.pixels)));
}

void ActivationBalance::check(const std::vector<Command>& program) const {
  const Turn none{};
  for (std::size_t i = 0; i < std::max(loaded_.size(), taken_.size()); ++i) {
    const Turn& loaded = i < loaded_.size() ? loaded_[i] : none;
    const Turn& taken = i < taken_.size() ? taken_[i] : none;
    const bool both = !loaded.words.empty() && !taken.words.empty();
    if (both && loaded.window != taken.window) {
      refuse(program, taken.words[0].command,
             fmt::format("it takes activations of a {}, but those that come next, by {}, are of a "
                         "{}",
                         taken.window ? "window" : "product",
                         describe(program, loaded.words[0].command),
                         loaded.window ? "window" : "product"));
    }
    const bool window = loaded.window || taken.window;
    check_words(program, window ? "pixels" : "activations", "MATMULs", loaded.words, taken.words);
    if (window) check_pixels(program, loaded, taken);
  }
}

}  // namespace gemm64::cycles
