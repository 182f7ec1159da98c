// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/analysis/svg.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Half a page of A4 wide enough for two bars and a name beside each other, in points.
constexpr double kWidth = 760;
constexpr double kLeft = 70;
constexpr double kRight = kWidth - 30;
constexpr double kRooflineTop = 112;
constexpr double kRooflineBottom = 432;
constexpr double kBarsTop = 522;
constexpr double kRow = 13;
const char* const kGrid = "#d0d0d0";

struct Kind {
  const char* bound;
  Marker marker;
  const char* fill;
};

constexpr Kind kKinds[] = {{"MACs", Marker::kCircle, "#0b3d66"},
                           {"weights", Marker::kTriangle, "#e08a1e"},
                           {"activations", Marker::kSquare, "#7fb3d9"},
                           {"results", Marker::kDiamond, "#ffffff"},
                           {"memory", Marker::kTriangle, "#8a6a2f"}};

/// A logarithmic axis over whole powers of two.
struct Axis {
  double low, high;   // exponents of 2
  double begin, end;  // in points
  double at(double value) const {
    return begin + (std::log2(value) - low) / (high - low) * (end - begin);
  }
};

std::string power_text(double exponent) {
  return exponent < 0 ? fmt::format("1/{:.0f}", std::exp2(-exponent))
                      : grouped(static_cast<std::uint64_t>(std::exp2(exponent)));
}

double achieved(const LayerAnalysis& layer) {
  return static_cast<double>(layer.macs) / static_cast<double>(*layer.array->cycles);
}

const Kind& kind_of(const LayerAnalysis& layer) {
  const std::string bound = layer.array->bound();
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&bound](const Kind& kind) { return bound == kind.bound; });
}

void draw_grid(Svg& svg, const Axis& x, const Axis& y) {
  for (double e = x.low; e <= x.high; ++e) {
    svg.line(x.at(std::exp2(e)), y.begin, x.at(std::exp2(e)), y.end, kGrid, 0.6);
    svg.text(x.at(std::exp2(e)), y.begin + 15, power_text(e), 10, Anchor::kMiddle);
  }
  for (double e = y.low; e <= y.high; ++e) {
    svg.line(x.begin, y.at(std::exp2(e)), x.end, y.at(std::exp2(e)), kGrid, 0.6);
    svg.text(x.begin - 6, y.at(std::exp2(e)) + 3.5, power_text(e), 10, Anchor::kEnd);
  }
  svg.line(x.begin, y.begin, x.end, y.begin);
  svg.line(x.begin, y.begin, x.begin, y.end);
  svg.text((x.begin + x.end) / 2, y.begin + 33, "MACs per byte of the busiest port", 11,
           Anchor::kMiddle);
  svg.text(x.begin - 46, (y.begin + y.end) / 2, "MACs per cycle", 11, Anchor::kMiddle, -90);
}

/// Numbers beside the layers with the most cycles, and their names where a roofline leaves room:
/// below the roof on the right.
void draw_names(Svg& svg, std::vector<const LayerAnalysis*> points, const Axis& x, const Axis& y) {
  constexpr std::size_t kMaxNames = 8;
  constexpr double kSize = 9.5;
  constexpr double kLine = 13;
  std::stable_sort(points.begin(), points.end(), [](const auto* a, const auto* b) {
    return *a->array->cycles > *b->array->cycles;
  });
  points.resize(std::min(points.size(), kMaxNames));
  const double height = kLine * static_cast<double>(points.size() + 1) + 8;
  const double top = y.begin - 14 - height;
  const double left = x.end - 300;
  svg.rect(left, top, 290, height, "#fff", "#888");
  svg.text(left + 8, top + kLine, "layers with the most cycles", kSize, Anchor::kStart, 0, true);
  svg.text(left + 282, top + kLine, "clocks", kSize, Anchor::kEnd, 0, true);

  // Points that lie on each other share a label, below the roof and to the right.
  struct Label {
    double x, y;
    std::string numbers;
  };
  std::vector<Label> labels;
  double line = top + kLine;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LayerAnalysis& layer = *points[i];
    const std::string number = std::to_string(i + 1);
    line += kLine;
    svg.text(left + 8, line, number, kSize, Anchor::kStart, 0, true);
    svg.text(left + 20, line, short_name(layer.name, 40), kSize);
    svg.text(left + 282, line, short_count(static_cast<double>(*layer.array->cycles)), kSize,
             Anchor::kEnd);
    const double at = x.at(layer.array->intensity);
    const double height_at = y.at(achieved(layer));
    const auto shared = std::find_if(labels.begin(), labels.end(), [&](const Label& label) {
      return std::abs(label.x - at) < 14 && std::abs(label.y - height_at) < 10;
    });
    if (shared == labels.end()) {
      labels.push_back({at, height_at, number});
    } else {
      shared->numbers += " " + number;
    }
  }
  for (const Label& label : labels) {
    svg.text(label.x + 6, label.y + 14, label.numbers, kSize, Anchor::kStart, 0, true);
  }
}

void draw_roofline(Svg& svg, const Analysis& analysis, const std::vector<std::size_t>& layers) {
  std::vector<const LayerAnalysis*> points;
  for (const std::size_t i : layers) {
    const LayerAnalysis& layer = analysis.layers[i];
    if (layer.array && layer.array->cycles) points.push_back(&layer);
  }
  const double peak = static_cast<double>(analysis.geometry.macs_per_clock());
  const double width = analysis.geometry.n;  // bytes per cycle of each port
  const std::string heading =
      fmt::format("Roofline of the {0}x{0} array, int8, {1} bytes per cycle on each port",
                  analysis.geometry.n, analysis.geometry.n);
  svg.text(kLeft - 40, kRooflineTop - 38, heading, 13, Anchor::kStart, 0, true);
  if (points.empty()) {
    svg.text(kLeft, kRooflineTop + 20, "No layer of this network can run on the array.");
    return;
  }
  Axis x{std::log2(peak / width) - 1, std::log2(peak / width) + 1, kLeft, kRight};
  Axis y{std::log2(peak) - 4, std::log2(peak), kRooflineBottom, kRooflineTop};
  for (const LayerAnalysis* layer : points) {
    x.low = std::min(x.low, std::floor(std::log2(layer->array->intensity / 1.3)));
    x.high = std::max(x.high, std::ceil(std::log2(layer->array->intensity * 1.3)));
    y.low = std::min(y.low, std::floor(std::log2(achieved(*layer) / 1.5)));
  }
  draw_grid(svg, x, y);
  const double low = std::exp2(x.low);
  const double start = std::max(low, std::exp2(y.low) / width);
  svg.line(x.at(start), y.at(start * width), x.at(peak / width), y.at(peak), "#000", 1.8);
  svg.line(x.at(peak / width), y.at(peak), x.end, y.at(peak), "#000", 1.8);
  double at = kRight;
  for (auto kind = std::rbegin(kKinds); kind != std::rend(kKinds); ++kind) {
    at -= text_width(kind->bound, 10.5) + 28;
    svg.marker(kind->marker, at, kRooflineTop - 22, 4.5, kind->fill);
    svg.text(at + 9, kRooflineTop - 18, kind->bound, 10.5);
  }
  svg.text(at - 12, kRooflineTop - 18, "bound by", 10.5, Anchor::kEnd);
  for (const LayerAnalysis* layer : points) {
    const Kind& kind = kind_of(*layer);
    svg.marker(kind.marker, x.at(layer->array->intensity), y.at(achieved(*layer)), 4.5, kind.fill,
               fmt::format("{}: {:.1f} MACs per cycle", layer->name, achieved(*layer)));
  }
  draw_names(svg, points, x, y);
}

/// Two columns of bars beside the layers' names. Returns the lower end.
double draw_bars(Svg& svg, const Analysis& analysis, const std::vector<std::size_t>& layers) {
  constexpr double kNames = 250;  // room for them, up to kLeft + kNames
  constexpr double kBar = 150;
  constexpr double kFirst = kLeft - 40 + kNames;
  constexpr double kSecond = kFirst + kBar + 75;
  svg.text(kLeft - 40, kBarsTop - 26, "MACs and traffic without on-chip buffer, by layer", 13,
           Anchor::kStart, 0, true);
  svg.text(kFirst, kBarsTop - 8, "MACs", 11);
  svg.text(kSecond, kBarsTop - 8, "bytes read (dark) and written (light)", 11);
  double max_macs = 1;
  double max_bytes = 1;
  std::vector<const LayerAnalysis*> rows;
  for (const std::size_t i : layers) {
    const LayerAnalysis& layer = analysis.layers[i];
    const auto traffic = static_cast<double>(layer.read_bytes + layer.written_bytes);
    if (layer.macs == 0 && traffic == 0) continue;
    max_macs = std::max(max_macs, static_cast<double>(layer.macs));
    max_bytes = std::max(max_bytes, traffic);
    rows.push_back(&layer);
  }
  double top = kBarsTop;
  for (const LayerAnalysis* layer : rows) {
    const std::string name = short_name(layer->name, 46);
    svg.text(kFirst - 6, top + 9.5, name, 9, Anchor::kEnd);
    const double macs = kBar * static_cast<double>(layer->macs) / max_macs;
    const double read = kBar * static_cast<double>(layer->read_bytes) / max_bytes;
    const double written = kBar * static_cast<double>(layer->written_bytes) / max_bytes;
    if (layer->macs != 0) {
      svg.rect(kFirst, top + 2, std::max(macs, 0.5), kRow - 4, "#0b3d66");
      svg.text(kFirst + macs + 4, top + 9.5, short_count(static_cast<double>(layer->macs)), 9);
    }
    svg.rect(kSecond, top + 2, read, kRow - 4, "#0b3d66");
    svg.rect(kSecond + read, top + 2, written, kRow - 4, "#bcd4e8", "#0b3d66");
    svg.text(kSecond + read + written + 4, top + 9.5,
             short_count(static_cast<double>(layer->read_bytes + layer->written_bytes)), 9);
    top += kRow;
  }
  svg.line(kFirst, kBarsTop, kFirst, top);
  svg.line(kSecond, kBarsTop, kSecond, top);
  return top;
}

}  // namespace

std::string plot_svg(const Analysis& analysis, const std::vector<std::size_t>& layers) {
  Svg svg;
  svg.text(kLeft - 40, 26, short_name(analysis.model, 80), 15, Anchor::kStart, 0, true);
  std::string inputs;
  for (const auto& [name, type] : analysis.inputs) {
    inputs += fmt::format("{}{}: {}", inputs.empty() ? "" : ", ", name, type);
  }
  if (inputs.size() > 90) inputs = fmt::format("{} inputs", analysis.inputs.size());
  const AnalysisTotals& totals = analysis.totals;
  svg.text(kLeft - 40, 42,
           fmt::format("{}; {} parameters, {} MACs, {} cycles", inputs,
                       short_count(static_cast<double>(totals.parameters)),
                       short_count(static_cast<double>(totals.macs)),
                       short_count(static_cast<double>(totals.cycles))),
           10.5);
  draw_roofline(svg, analysis, layers);
  const double bottom = draw_bars(svg, analysis, layers);
  return svg.document(kWidth, bottom + 24, "gemm64 analyze " + analysis.model);
}

}  // namespace gemm64
