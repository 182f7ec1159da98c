// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "host/analysis/svg.hpp"
#include "host/sweep/front.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

// In points, as plots of an analysis.
constexpr double kWidth = 860;
constexpr double kLeft = 30;
constexpr double kNames = 250;
constexpr double kBar = 130;
constexpr double kGap = 65;  // after a bar, for its value
constexpr double kTop = 96;
constexpr std::size_t kMostNamed = 300;

constexpr double kLinesHeight = 260;
constexpr std::size_t kMostLines = 18;  // of which each has its name

constexpr const char* kLineColours[] = {"#0b3d66", "#e08a1e", "#00857a", "#c02a6a", "#7b5bb0",
                                        "#6a7a00", "#8c4a3a", "#7fb3d9", "#6b7280"};
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

/// The largest clocks and bytes of a network, to which its bars are drawn.
struct Scale {
  double clocks = 1, bytes = 1;
};

class Drawing {
 public:
  explicit Drawing(const std::vector<SweepRow>& rows)
      : rows_(rows),
        varied_(varied_keys(rows)),
        keys_(varied_),
        front_(pareto_front(rows)),
        named_(rows.size() <= kMostNamed) {
    const auto is_heading = [](const std::string& key) {
      return key == "network" || key == "batch";
    };
    keys_.erase(std::remove_if(keys_.begin(), keys_.end(), is_heading), keys_.end());
    for (const SweepRow& row : rows) {
      Scale& scale = scales_[text_of(row["network"])];
      scale.clocks = std::max(scale.clocks, figure(row, "cycles"));
      scale.bytes = std::max(scale.bytes, figure(row, "bytes"));
    }
  }

  std::string draw(const std::string& title);

 private:
  void heading(const SweepRow& row);
  void bars(const SweepRow& row);
  void lines();
  double x(int column) const { return kLeft + kNames + column * (kBar + kGap); }

  const std::vector<SweepRow>& rows_;
  const std::vector<std::string> varied_;
  std::vector<std::string> keys_;  // those of a design
  const std::vector<bool> front_;
  const bool named_;
  std::map<std::string, Scale> scales_;
  Svg svg_;
  double top_ = kTop;
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
  const double height = named_ ? 13 : 3;
  const double bar = named_ ? height - 4 : height - 1;
  const double y = top_ + (height - bar) / 2;
  const double baseline = top_ + 9.5;
  const Scale& scale = scales_[text_of(row["network"])];
  const auto value = [&](int column, double length, const std::string& text) {
    if (named_) svg_.text(x(column) + length + 4, baseline, text, 9);
  };
  if (named_) {
    std::vector<std::string> parts;
    for (const std::string& key : keys_) parts.push_back(text_of(row[key]));
    svg_.text(x(0) - 6, baseline,
              parts.empty() ? fmt::format("point {}", row["point"].dump())
                            : fmt::format("{}", fmt::join(parts, " · ")),
              9, Anchor::kEnd);
  }
  top_ += height;
  if (row["cycles"].is_null()) {
    svg_.text(x(0) + 4, baseline, row["error"].is_null() ? "nothing on the device" : "FAILED", 9);
    return;
  }
  const double clocks = kBar * figure(row, "cycles") / scale.clocks;
  svg_.rect(x(0), y, std::max(clocks, 0.5), bar, kDark);
  value(0, clocks, short_count(figure(row, "cycles")) + (has_failed(row) ? " NOT VERIFIED" : ""));
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
  svg_.rect(at, y, kBar * rest / scale.bytes, bar, kRest, named_ ? kDark : "none");
  value(2, at - x(2) + kBar * rest / scale.bytes, short_count(figure(row, "bytes")));
}

/// The numbers that differ most: the axis of the lines; empty where there is none.
std::string axis_of(const std::vector<SweepRow>& rows, const std::vector<std::string>& varied) {
  std::string axis;
  std::size_t most = 1;
  for (const std::string& key : varied) {
    std::set<double> values;
    for (const SweepRow& row : rows)
      values.insert(row[key].is_number() ? row[key].get<double>() : 0);
    if (*values.begin() <= 0 || values.size() <= most) continue;  // 0 bytes a clock: a port's width
    most = values.size();
    axis = key;
  }
  return axis;
}

/// A logarithmic scale.
struct LogScale {
  double low, high, begin, end;
  double at(double value) const {
    return high <= low ? (begin + end) / 2
                       : begin + std::log(value / low) / std::log(high / low) * (end - begin);
  }
};

/// Clocks over the axis that has most values, a line for each combination of the others.
void Drawing::lines() {
  const std::string axis = axis_of(rows_, varied_);
  if (axis.empty()) return;
  std::map<std::string, std::map<double, std::size_t>> lines;  // rows by the axis, by name
  double low = 0, high = 0;
  std::set<double> values;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const SweepRow& row = rows_[i];
    if (row["cycles"].is_null()) continue;
    std::vector<std::string> parts;
    for (const std::string& key : varied_) {
      if (key == axis) continue;
      parts.push_back(key == "network" ? short_path(text_of(row[key]))
                                       : fmt::format("{} {}", key, text_of(row[key])));
    }
    const double value = row[axis].get<double>(), clocks = figure(row, "cycles");
    lines[fmt::format("{}", fmt::join(parts, ", "))][value] = i;
    values.insert(value);
    low = low == 0 ? clocks : std::min(low, clocks);
    high = std::max(high, clocks);
  }
  if (values.size() < 2) return;
  const LogScale x{*values.begin(), *values.rbegin(), kLeft + 50, kWidth - 330};
  const double begin = top_ + 60, end = begin + kLinesHeight;
  const LogScale y{low, high, end, begin};
  svg_.text(kLeft, top_ + 34, fmt::format("Clocks over {}", axis), 13, Anchor::kStart, 0, true);
  svg_.marker(Marker::kDiamond, x.end - 120, top_ + 30, 4.5, kDark);
  svg_.text(x.end - 110, top_ + 34, "on the Pareto front", 9);
  svg_.line(x.begin, end, x.end, end);
  svg_.line(x.begin, begin, x.begin, end);
  for (const double value : values) {
    svg_.line(x.at(value), end, x.at(value), end + 4);
    svg_.text(x.at(value), end + 15, fmt::format("{:g}", value), 9, Anchor::kMiddle);
  }
  for (const double clocks : {low, std::sqrt(low * high), high}) {
    svg_.text(x.begin - 6, y.at(clocks) + 3.5, short_count(clocks), 9, Anchor::kEnd);
  }
  std::size_t drawn = 0;
  for (const auto& [name, points] : lines) {
    if (drawn == kMostLines) break;
    const char* colour = kLineColours[drawn % std::size(kLineColours)];
    const SweepRow* before = nullptr;
    for (const auto& [value, i] : points) {
      const double at = x.at(value), clocks = y.at(figure(rows_[i], "cycles"));
      if (before != nullptr) {
        svg_.line(x.at((*before)[axis].get<double>()), y.at(figure(*before, "cycles")), at, clocks,
                  colour, 1.4);
      }
      svg_.marker(front_[i] ? Marker::kDiamond : Marker::kCircle, at, clocks, front_[i] ? 4.5 : 2.5,
                  colour);
      before = &rows_[i];
    }
    const double row = begin + 14 * static_cast<double>(drawn++);
    svg_.rect(x.end + 20, row - 7, 8, 8, colour);
    svg_.text(x.end + 32, row, short_name(name.empty() ? "all points" : name, 52), 9);
  }
  if (lines.size() > kMostLines) {
    svg_.text(x.end + 32, begin + 14 * static_cast<double>(kMostLines),
              fmt::format("and {} more, not drawn", lines.size() - kMostLines), 9);
  }
  top_ = end + 20;
}

std::string Drawing::draw(const std::string& title) {
  svg_.text(kLeft, 26, short_name(short_path(title), 80), 15, Anchor::kStart, 0, true);
  svg_.text(kLeft, 44,
            fmt::format("{}; clocks and bytes are to the scale of each network",
                        counted(rows_.size(), "point")),
            10.5);
  svg_.text(kLeft, kTop - 30, fmt::format("{}", fmt::join(keys_, " · ")), 9, Anchor::kStart, 0,
            true);
  svg_.text(x(0), kTop - 8, "clocks", 11);
  svg_.text(x(1), kTop - 8, "utilization (light: of the roofline)", 11);
  svg_.text(x(2), kTop - 8, "bytes", 11);
  double at = x(2) - 70;
  for (const auto& [name, colour] :
       {std::pair("weights", kDark), std::pair("activations", "#7fb3d9"),
        std::pair("results", "#e08a1e"), std::pair("rest", kRest)}) {
    svg_.rect(at, kTop - 38, 8, 8, colour, kDark);
    svg_.text(at + 11, kTop - 30, name, 9);
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
  for (const int column : {0, 1, 2}) svg_.line(x(column), kTop, x(column), top_);
  lines();
  return svg_.document(kWidth, top_ + 24, "gemm64 sweep " + title);
}

}  // namespace

std::string plot_svg(const std::vector<SweepRow>& rows, const std::string& title) {
  return Drawing(rows).draw(title);
}

}  // namespace gemm64
