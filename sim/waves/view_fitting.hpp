// SPDX-License-Identifier: Apache-2.0
// Fits the traces of a view, made for the array of 64x64, to the signals of another waveform.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gemm64 {

// Two of GTKWave's flags of a trace, which follow an @ in hexadecimal.
constexpr unsigned long kGroupBegin = 1UL << 23;
constexpr unsigned long kGroupEnd = 1UL << 24;

/// Names signals of a waveform by their names in a view.
class ViewFitting {
 public:
  /// `signals` as fst_signals() gives them; `n`, rows and columns of the array, is read off them.
  explicit ViewFitting(std::map<std::string, std::string> signals);

  /// The signal that the view calls `name`, such as "a.b_q[65][7:0]", or one of its bits, such as
  /// "(504)a.b[511:0]", as the waveform calls it; nothing where it has none.
  std::optional<std::string> signal(const std::string& name) const;

  /// The lines of a view with signals named as in the waveform. Traces without their signals go,
  /// and so do groups in which nothing is left. Lines that are no traces stay.
  std::vector<std::string> fit(const std::vector<std::string>& view) const;

 private:
  std::map<std::string, std::string> signals_;
  int n_ = 0;
};

}  // namespace gemm64
