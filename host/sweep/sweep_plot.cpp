// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "host/analysis/svg.hpp"
#include "host/sweep/scatter.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// In points, as plots of an analysis.
constexpr double kWidth = 860;
constexpr double kLeft = 30;
constexpr double kNames = 250;
constexpr double kBar = 130;
constexpr double kGap = 65;  // after a bar, for its value
// More designs are points of the scatter only.
constexpr std::size_t kMostBars = 60;

constexpr const char* kDark = "#0b3d66";
constexpr const char* kLight = "#bcd4e8";

constexpr std::pair<const char*, const char*> kPorts[] = {
    {"bytes.weights", kDark}, {"bytes.activations", "#7fb3d9"}, {"bytes.results", "#e08a1e"}};
constexpr const char* kRest = "#ffffff";  // commands and parameters

double figure(const SweepRow& row, const char* name) {
  return row[name].is_null() ? 0 : row[name].get<double>();
}

/// The last two parts of a path: "…/nets/resnet50.onnx".
std::string short_path(const std::string& path) {
  const std::size_t last = path.rfind('/');
  const std::size_t before =
      last == std::string::npos || last == 0 ? std::string::npos : path.rfind('/', last - 1);
  return before == std::string::npos || before == 0 ? path : "…" + path.substr(before);
}

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The largest cycles and bytes of a network, to which its bars are drawn.
struct Scale {
  double cycles = 1, bytes = 1;
};

class Drawing {
 public:
  explicit Drawing(const std::vector<SweepRow>& rows) : rows_(rows), keys_(varied_keys(rows)) {
    const auto is_heading = [](const std::string& key) {
      return key == "network" || key == "batch";
    };
    keys_.erase(std::remove_if(keys_.begin(), keys_.end(), is_heading), keys_.end());
    for (const SweepRow& row : rows) {
      Scale& scale = scales_[text_of(row["network"])];
      scale.cycles = std::max(scale.cycles, figure(row, "cycles"));
      scale.bytes = std::max(scale.bytes, figure(row, "bytes"));
    }
  }

  std::string draw(const std::string& title, const std::vector<std::string>& objectives);

 private:
  void heading(const SweepRow& row);
  void bars(const SweepRow& row);
  void all_bars();
  double x(int column) const { return kLeft + kNames + column * (kBar + kGap); }

  const std::vector<SweepRow>& rows_;
  std::vector<std::string> keys_;  // those of a design, that differ
  std::map<std::string, Scale> scales_;
  Svg svg_;
  double top_ = 44;
};

void Drawing::heading(const SweepRow& row) {
  top_ += 8;
  svg_.text(kLeft, top_ + 10,
            fmt::format("{}, batch {}", short_name(short_path(text_of(row["network"])), 60),
                        row["batch"].dump()),
            10.5, Anchor::kStart, 0, true);
  top_ += 16;
}

void Drawing::bars(const SweepRow& row) {
  constexpr double height = 13, bar = height - 4;
  const double y = top_ + (height - bar) / 2;
  const double baseline = top_ + 9.5;
  const Scale& scale = scales_[text_of(row["network"])];
  const auto value = [&](int column, double length, const std::string& text) {
    svg_.text(x(column) + length + 4, baseline, text, 9);
  };
  std::vector<std::string> parts;
  for (const std::string& key : keys_) parts.push_back(text_of(row[key]));
  svg_.text(x(0) - 6, baseline,
            parts.empty() ? fmt::format("point {}", row["point"].dump())
                          : fmt::format("{}", fmt::join(parts, " · ")),
            9, Anchor::kEnd);
  top_ += height;
  if (row["cycles"].is_null()) {
    svg_.text(x(0) + 4, baseline, row["error"].is_null() ? "nothing on the device" : "FAILED", 9);
    return;
  }
  const double cycles = kBar * figure(row, "cycles") / scale.cycles;
  svg_.rect(x(0), y, std::max(cycles, 0.5), bar, kDark);
  value(0, cycles, short_count(figure(row, "cycles")) + (has_failed(row) ? " NOT VERIFIED" : ""));
  const double roof = kBar * std::min(figure(row, "roofline_utilization"), 1.0);
  svg_.rect(x(1), y, roof, bar, kLight);
  svg_.rect(x(1), y, kBar * figure(row, "utilization"), bar, kDark);
  value(1, roof, percent(figure(row, "utilization")));
  double at = x(2), rest = figure(row, "bytes");
  for (const auto& [port, colour] : kPorts) {
    const double length = kBar * figure(row, port) / scale.bytes;
    svg_.rect(at, y, length, bar, colour);
    at += length;
    rest -= figure(row, port);
  }
  svg_.rect(at, y, kBar * rest / scale.bytes, bar, kRest, kDark);
  value(2, at - x(2) + kBar * rest / scale.bytes, short_count(figure(row, "bytes")));
}

void Drawing::all_bars() {
  const double top = top_ += 68;
  svg_.text(kLeft, top - 44, "cycles and bytes are to the scale of each network", 10.5);
  svg_.text(kLeft, top - 30, fmt::format("{}", fmt::join(keys_, " · ")), 9, Anchor::kStart, 0,
            true);
  svg_.text(x(0), top - 8, "cycles", 11);
  svg_.text(x(1), top - 8, "utilization (light: of the roofline)", 11);
  svg_.text(x(2), top - 8, "bytes", 11);
  double at = x(2) - 70;
  for (const auto& [name, colour] :
       {std::pair("weights", kDark), std::pair("activations", "#7fb3d9"),
        std::pair("results", "#e08a1e"), std::pair("rest", kRest)}) {
    svg_.rect(at, top - 38, 8, 8, colour, kDark);
    svg_.text(at + 11, top - 30, name, 9);
    at += 17 + text_width(name, 9);
  }
  const SweepRow* before = nullptr;
  for (const SweepRow& row : rows_) {
    if (before == nullptr || (*before)["network"] != row["network"] ||
        (*before)["batch"] != row["batch"]) {
      heading(row);
    }
    bars(row);
    before = &row;
  }
  for (const int column : {0, 1, 2}) svg_.line(x(column), top, x(column), top_);
}

std::string Drawing::draw(const std::string& title, const std::vector<std::string>& objectives) {
  svg_.text(kLeft, 26, short_name(short_path(title), 80), 15, Anchor::kStart, 0, true);
  svg_.text(kLeft, 42, counted(rows_.size(), "point"), 10.5);
  if (!rows_.empty()) {
    top_ = draw_scatter(svg_, rows_, objectives, kLeft, top_, kWidth - 2 * kLeft);
    if (rows_.size() <= kMostBars) all_bars();
  }
  return svg_.document(kWidth, top_ + 24, "gemm64 sweep " + title);
}

}  // namespace

std::string plot_svg(const std::vector<SweepRow>& rows, const std::string& title,
                     const std::vector<std::string>& objectives) {
  return Drawing(rows).draw(title, objectives);
}

}  // namespace gemm64
