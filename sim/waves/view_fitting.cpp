// SPDX-License-Identifier: Apache-2.0
#include "sim/waves/view_fitting.hpp"

#include <cstdlib>
#include <sstream>
#include <utility>

namespace gemm64 {
namespace {

constexpr int kViewN = 64;  // the array that views are made for

/// The left index of a range: 7 of "[7:0]", 0 of "".
int left_index(const std::string& range) { return range.empty() ? 0 : std::atoi(&range[1]); }

/// A stage keeps its rows one after the other in activation_q, each N + 1 long.
std::string fit_activation(const std::string& name, int n) {
  static const std::string kArray = ".activation_q[";
  const std::size_t at = name.rfind(kArray);
  if (at == std::string::npos) return name;
  const int index = std::atoi(&name[at + kArray.size()]);
  const int row = index / (kViewN + 1);
  const int column = index % (kViewN + 1);
  if (column > n) return "";
  return name.substr(0, at) + kArray + std::to_string(row * (n + 1) + column) + "]";
}

}  // namespace

ViewFitting::ViewFitting(std::map<std::string, std::string> signals)
    : signals_(std::move(signals)) {
  const auto activation = signals_.find("gemm64.gemm64.activation");
  n_ = activation == signals_.end() ? kViewN : (left_index(activation->second) + 1) / 8;
}

std::optional<std::string> ViewFitting::signal(const std::string& name) const {
  // (bit, counted from the left)name[left:right]
  const bool is_bit = name[0] == '(';
  const std::size_t start = is_bit ? name.find(')') + 1 : 0;
  const std::size_t bracket = name.rfind('[');
  const bool ranged = bracket != std::string::npos && name.find(':', bracket) != std::string::npos;
  const std::string range = ranged ? name.substr(bracket) : "";
  const std::string base =
      fit_activation(name.substr(start, name.size() - start - range.size()), n_);
  const auto found = signals_.find(base);
  if (found == signals_.end()) return std::nullopt;
  if (!is_bit) return base + found->second;
  const int bit = left_index(range) - std::atoi(&name[1]);
  const int left = left_index(found->second);
  if (bit > left) return std::nullopt;
  return "(" + std::to_string(left - bit) + ")" + base + found->second;
}

std::vector<std::string> ViewFitting::fit(const std::vector<std::string>& view) const {
  std::vector<std::string> fitted;
  std::vector<std::string> pending;  // lines that belong to the next trace: colour and filter
  std::vector<std::pair<std::size_t, bool>> groups;  // where each begins, and whether it has traces
  std::string flags_line;
  unsigned long flags = 0;
  const auto keep = [&](const std::string& line) {
    fitted.insert(fitted.end(), pending.begin(), pending.end());
    fitted.push_back(line);
    pending.clear();
  };
  for (const std::string& line : view) {
    if (line.empty()) continue;
    const char kind = line[0];
    if (kind == '@') {
      flags = std::strtoul(&line[1], nullptr, 16);
      flags_line = line;
      fitted.push_back(line);
    } else if (kind == '^' || line.rfind("[color]", 0) == 0) {
      pending.push_back(line);
    } else if (kind == '-') {
      if (flags & kGroupBegin) groups.emplace_back(fitted.size(), false);
      keep(line);
      if ((flags & kGroupEnd) && !groups.empty()) {
        const auto [begin, used] = groups.back();
        groups.pop_back();
        if (used && !groups.empty()) groups.back().second = true;
        if (!used) {
          fitted.resize(begin);
          fitted.push_back(flags_line);  // in force until the next one
        }
      }
    } else if (kind == '[' || kind == '*') {
      keep(line);
    } else {
      // +{label} signal, #{label} bit bit bit, or a signal only.
      std::string head;
      std::string rest = line;
      if ((kind == '+' || kind == '#') && line[1] == '{') {
        const std::size_t end = line.find("} ");
        if (end == std::string::npos) continue;
        head = line.substr(0, end + 1);
        rest = line.substr(end + 2);
      }
      std::istringstream names(rest);
      std::string text = head;
      bool whole = true;
      for (std::string name; names >> name;) {
        const std::optional<std::string> fit = signal(name);
        whole = whole && fit.has_value();
        if (fit) text += (text.empty() ? "" : " ") + *fit;
      }
      if (whole) {
        keep(text);
        if (!groups.empty()) groups.back().second = true;
      }
      pending.clear();
    }
  }
  return fitted;
}

}  // namespace gemm64
