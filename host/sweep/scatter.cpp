// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/scatter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "host/sweep/front.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// In points.
constexpr double kPlotHeight = 250;
constexpr double kAxis = 46;     // left of a plot, for its numbers
constexpr double kBetween = 30;  // panels
constexpr double kLine = 13;     // of text
constexpr std::size_t kMostPanels = 12, kMostListed = 8, kMostColors = 6;

constexpr const char* kColors[kMostColors] = {"#0b3d66", "#e08a1e", "#00857a",
                                              "#c02a6a", "#7b5bb0", "#6a7a00"};
constexpr const char* kFailed = "#d00000";

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct Point {
  double x, y;
  const SweepRow* row;
  bool front;
};

/// An axis, logarithmic if its values are positive and far apart.
struct Axis {
  double low, high, begin, end;

  bool is_log() const { return low > 0 && high / low > 4; }
  double at(double value) const {
    if (high <= low) return (begin + end) / 2;
    const double part =
        is_log() ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin + part * (end - begin);
  }
  /// A few round numbers from `low` to `high`.
  std::vector<double> ticks() const {
    constexpr std::size_t kMost = 7;
    if (high <= low) return {low};
    std::vector<double> ticks;
    if (!is_log()) {
      constexpr int kParts = 4;
      for (int i = 0; i <= kParts; ++i) ticks.push_back(low + (high - low) * i / kParts);
      return ticks;
    }
    for (const std::vector<double>& steps : {std::vector<double>{1, 2, 5}, {1}}) {
      ticks.clear();
      for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
        for (const double step : steps) {
          if (power * step >= low && power * step <= high) ticks.push_back(power * step);
        }
      }
      if (ticks.size() <= kMost) break;
    }
    return ticks.size() < 2 ? std::vector<double>{low, high} : ticks;
  }
};

class Scatter {
 public:
  Scatter(Svg& svg, const std::vector<SweepRow>& rows, std::vector<std::string> objectives)
      : svg_(svg), rows_(rows), varied_(varied_keys(rows)), objectives_(std::move(objectives)) {
    objectives_.resize(std::min<std::size_t>(objectives_.size(), 2));
    if (objectives_.empty()) objectives_.emplace_back("cycles");
    for (const char* size :
         {"array", "scratchpad_words", "accumulator_rows", "memory_bytes_per_cycle"}) {
      if (objectives_.size() == 1 && varies(size)) objectives_.emplace_back(size);
    }
    const auto is_design = [](const std::string& key) {
      return key != "network" && key != "batch";
    };
    for (const std::string& key : varied_) {
      if (!is_design(key)) continue;
      design_.push_back(key);
      if (color_key_.empty() && !is_objective(key) && values_of(key).size() <= kMostColors) {
        color_key_ = key;
      }
    }
    if (color_key_.empty()) return;
    for (const std::string& value : values_of(color_key_)) {
      colors_.emplace(value, kColors[colors_.size()]);
    }
  }

  bool is_empty() const { return objectives_.size() < 2 || design_.empty(); }
  double draw(double left, double top, double width);

 private:
  bool varies(const std::string& key) const {
    return std::find(varied_.begin(), varied_.end(), key) != varied_.end();
  }
  bool is_objective(const std::string& key) const {
    return std::find(objectives_.begin(), objectives_.end(), key) != objectives_.end();
  }
  std::set<std::string> values_of(const std::string& key) const {
    std::set<std::string> values;
    for (const SweepRow& row : rows_) values.insert(text_of(row[key]));
    return values;
  }
  const char* color_of(const SweepRow& row) const {
    if (has_failed(row)) return kFailed;
    return color_key_.empty() ? kColors[0] : colors_.at(text_of(row[color_key_]));
  }
  std::string design_text(const SweepRow& row) const;
  std::vector<Point> points(const std::vector<SweepRow>& rows) const;
  void legend(double left, double top);
  double panel(const std::vector<Point>& points, const std::string& heading, double left,
               double top, double width);
  double list(const std::vector<Point>& front, double left, double top);

  Svg& svg_;
  const std::vector<SweepRow>& rows_;
  const std::vector<std::string> varied_;
  std::vector<std::string> objectives_;  // vertical, horizontal
  std::vector<std::string> design_;      // keys that differ
  std::string color_key_;
  std::map<std::string, const char*> colors_;
};

std::string Scatter::design_text(const SweepRow& row) const {
  std::vector<std::string> parts;
  for (const std::string& key : design_) {
    parts.push_back(fmt::format("{} {}", key, text_of(row[key])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<Point> Scatter::points(const std::vector<SweepRow>& rows) const {
  const std::vector<bool> front = pareto_front(rows, objectives_);
  std::vector<Point> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]["cycles"].is_null()) continue;
    points.push_back({objective_value(rows[i], objectives_[1]),
                      objective_value(rows[i], objectives_[0]), &rows[i], front[i]});
  }
  return points;
}

void Scatter::legend(double left, double top) {
  svg_.text(left, top, fmt::format("{} against {}", objectives_[0], objectives_[1]), 13,
            Anchor::kStart, 0, true);
  double at = left + 20 + text_width(objectives_[0] + " against " + objectives_[1], 13);
  const auto entry = [&](Marker marker, const char* fill, const std::string& text) {
    svg_.marker(marker, at, top - 4, 4, fill);
    svg_.text(at + 8, top, text, 9);
    at += 24 + text_width(text, 9);
  };
  for (const auto& [value, color] : colors_) {
    entry(Marker::kCircle, color, fmt::format("{} {}", color_key_, value));
  }
  entry(Marker::kDiamond, "#ffffff", "on the Pareto front of both");
  if (std::any_of(rows_.begin(), rows_.end(), has_failed)) {
    entry(Marker::kSquare, kFailed, "NOT VERIFIED");
  }
}

double Scatter::panel(const std::vector<Point>& points, const std::string& heading, double left,
                      double top, double width) {
  svg_.text(left, top + 10, short_name(heading, 60), 10.5, Anchor::kStart, 0, true);
  double low_x = points.front().x, high_x = low_x, low_y = points.front().y, high_y = low_y;
  for (const Point& point : points) {
    low_x = std::min(low_x, point.x);
    high_x = std::max(high_x, point.x);
    low_y = std::min(low_y, point.y);
    high_y = std::max(high_y, point.y);
  }
  constexpr double kInside = 8;  // from the frame to the outermost points
  const double begin = top + 24, end = begin + kPlotHeight;
  const Axis x{low_x, high_x, left + kAxis + kInside, left + width - kInside};
  const Axis y{low_y, high_y, end - kInside, begin + kInside};
  svg_.line(left + kAxis, end, left + width, end);
  svg_.line(left + kAxis, begin, left + kAxis, end);
  std::set<double> distinct;
  for (const Point& point : points) distinct.insert(point.x);
  constexpr std::size_t kMostTicks = 8;
  const std::vector<double> ticks = distinct.size() <= kMostTicks
                                        ? std::vector<double>(distinct.begin(), distinct.end())
                                        : x.ticks();
  double free = 0;  // right of the last number
  for (const double tick : ticks) {
    svg_.line(x.at(tick), end, x.at(tick), end + 4);
    const std::string text = short_count(tick);
    if (x.at(tick) - text_width(text, 9) / 2 < free) continue;
    free = x.at(tick) + text_width(text, 9) / 2 + 4;
    svg_.text(x.at(tick), end + 15, text, 9, Anchor::kMiddle);
  }
  for (const double tick : y.ticks()) {
    svg_.line(left + kAxis, y.at(tick), left + width, y.at(tick), "#e4e4e4", 0.6);
    svg_.text(left + kAxis - 6, y.at(tick) + 3.5, short_count(tick), 9, Anchor::kEnd);
  }
  svg_.text(left + width, end + 28, objectives_[1], 9, Anchor::kEnd);
  svg_.text(left + kAxis + 4, begin + 2, objectives_[0], 9);
  for (const Point& point : points) {
    const bool failed = has_failed(*point.row);
    svg_.marker(failed ? Marker::kSquare : Marker::kCircle, x.at(point.x), y.at(point.y),
                failed ? 4 : 2.2, color_of(*point.row), design_text(*point.row));
  }
  std::vector<Point> front;
  std::copy_if(points.begin(), points.end(), std::back_inserter(front),
               [](const Point& point) { return point.front; });
  std::stable_sort(front.begin(), front.end(),
                   [](const Point& a, const Point& b) { return a.x < b.x; });
  for (std::size_t i = 1; i < front.size(); ++i) {  // a step: a dearer design may be used for less
    svg_.line(x.at(front[i - 1].x), y.at(front[i - 1].y), x.at(front[i].x), y.at(front[i - 1].y),
              "#000", 0.8);
    svg_.line(x.at(front[i].x), y.at(front[i - 1].y), x.at(front[i].x), y.at(front[i].y), "#000",
              0.8);
  }
  for (const Point& point : front) {
    svg_.marker(Marker::kDiamond, x.at(point.x), y.at(point.y), 4.5, color_of(*point.row),
                design_text(*point.row));
  }
  return list(front, left, end + 44);
}

/// The designs on the front, with a line for those that are alike in both objectives.
double Scatter::list(const std::vector<Point>& front, double left, double top) {
  std::map<std::pair<double, double>, std::vector<const Point*>> alike;
  for (const Point& point : front) alike[{point.x, point.y}].push_back(&point);
  std::size_t listed = 0;
  for (const auto& [at, points] : alike) {
    if (listed++ == kMostListed) {
      svg_.text(left, top, fmt::format("and {} more", alike.size() - kMostListed), 9);
      return top + kLine;
    }
    const std::string more =
        points.size() == 1 ? "" : fmt::format(" (and {} alike)", points.size() - 1);
    svg_.text(
        left, top,
        fmt::format("{}: {}{}", short_count(at.second), design_text(*points.front()->row), more),
        9);
    top += kLine;
  }
  return top;
}

double Scatter::draw(double left, double top, double width) {
  std::map<std::pair<std::string, std::string>, std::vector<SweepRow>> groups;
  std::vector<std::pair<std::string, std::string>> order;
  for (const SweepRow& row : rows_) {
    const std::pair key{text_of(row["network"]), row["batch"].dump()};
    if (groups.count(key) == 0) order.push_back(key);
    groups[key].push_back(row);
  }
  legend(left, top + 16);
  double row_top = top + 34, bottom = row_top;
  std::size_t drawn = 0;
  const double panel_width = order.size() == 1 ? width : (width - kBetween) / 2;
  for (const auto& key : order) {
    const std::vector<Point> shown = points(groups[key]);
    if (shown.empty()) continue;
    if (drawn == kMostPanels) {
      svg_.text(left, bottom, "Not all networks and batches are drawn; --where chooses some.", 9);
      return bottom + kLine;
    }
    const bool right = drawn % 2 == 1;
    if (drawn != 0 && !right) row_top = bottom + 10;
    const double end = panel(shown, fmt::format("{}, batch {}", key.first, key.second),
                             left + (right ? panel_width + kBetween : 0), row_top, panel_width);
    bottom = right ? std::max(bottom, end) : end;
    ++drawn;
  }
  return bottom;
}

}  // namespace

double draw_scatter(Svg& svg, const std::vector<SweepRow>& rows,
                    const std::vector<std::string>& objectives, double left, double top,
                    double width) {
  Scatter scatter(svg, rows, objectives);
  return scatter.is_empty() ? top : scatter.draw(left, top, width);
}

}  // namespace gemm64
