// SPDX-License-Identifier: Apache-2.0
#include "host/report/network_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "host/escaped.hpp"
#include "host/report/classification_text.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kNamesShown = 4;  // of layers with the same reason

}  // namespace

std::string host_text(const RunReport& report) {
  if (!report.host) return "";
  std::string text = fmt::format("{} on the host, {:.2f} s.\n", counted(report.host->nodes, "node"),
                                 report.host->seconds);
  if (!report.why_in_turn.empty()) {
    text += fmt::format("The {} ran one after the other: {}.\n", counted(report.batch, "image"),
                        escaped(report.why_in_turn));
  } else if (report.images_at_once != 0) {
    text += fmt::format("The {} ran {} at once.\n", counted(report.batch, "image"),
                        grouped(report.images_at_once));
  }
  const std::uint64_t all = report.all_macs();
  if (report.host_only || all == 0) return text;
  for (const LayerReport& layer : report.layers) {
    if (layer.why_sums.empty()) continue;
    text += fmt::format("int32 results of {}: {}.\n", escaped(layer.name), layer.why_sums);
  }
  text += fmt::format("MACs on the device: {}.\n", share(report.device_macs(), all));
  struct Group {
    std::uint64_t layers = 0, macs = 0;
    std::vector<std::string> names;
  };
  std::map<std::string, Group> groups;  // by reason
  for (const HostLayer& layer : report.host_layers) {
    Group& group = groups[layer.reason];
    ++group.layers;
    group.macs += layer.macs;
    if (group.names.size() < kNamesShown) group.names.push_back(layer.name);
  }
  for (const auto& [reason, group] : groups) {
    const char* more = group.layers > group.names.size() ? ", ..." : "";
    text += fmt::format("On the host: {}, {} MACs ({}{}): {}.\n", counted(group.layers, "layer"),
                        grouped(group.macs), fmt::join(group.names, ", "), more, reason);
  }
  return text;
}

std::string quality_text(const RunReport& report) {
  std::string text;
  if (!report.scales.empty()) text += "Scales of activations: " + report.scales + ".\n";
  if (report.classification) {
    text += classification_text(*report.classification,
                                !report.host_only && report.precision == Precision::kInt8);
  }
  if (!report.quality) return text;
  const NetworkQuality& quality = *report.quality;
  text += fmt::format("Same top-1 class as in float32: {}; signal to noise {:.1f} dB",
                      share(quality.top1_equal, quality.images), quality.signal_to_noise_db);
  if (std::isfinite(quality.centred_signal_to_noise_db)) {
    text += fmt::format(" ({:.1f} dB without each output's mean over the batch)",
                        quality.centred_signal_to_noise_db);
  }
  return text + ".\n";
}

}  // namespace gemm64
