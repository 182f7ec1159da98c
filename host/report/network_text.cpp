// SPDX-License-Identifier: Apache-2.0
#include "host/report/network_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "host/report/classification_text.hpp"
#include "host/util/escaped.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kNamesShown = 4;  // of layers with the same reason

/// Layers of which the same is said.
struct Group {
  std::uint64_t layers = 0, macs = 0;
  std::vector<std::string> names;  // the first ones

  void add(const std::string& name) {
    if (++layers <= kNamesShown) names.push_back(name);
  }
  std::string listed() const {
    return fmt::format("{}{}", fmt::join(names, ", "), layers > names.size() ? ", ..." : "");
  }
};

/// Layers that gave sums, a line for each reason.
std::string sums_text(const RunReport& report) {
  std::map<std::string, Group> groups;
  for (const LayerReport& layer : report.layers) {
    if (!layer.why_sums.empty()) groups[layer.why_sums].add(escaped(layer.name));
  }
  std::string text;
  for (const auto& [reason, group] : groups) {
    text += group.layers == 1 ? fmt::format("int32 results of {}: {}.\n", group.listed(), reason)
                              : fmt::format("int32 results of {} ({}), of each: {}.\n",
                                            counted(group.layers, "layer"), group.listed(), reason);
  }
  return text;
}

/// Bytes over the data port.
std::uint64_t data_bytes(const LayerReport& layer) {
  return layer.counters[counter::kBytesActivations] + layer.counters[counter::kBytesCommands] +
         layer.counters[counter::kBytesParameters] + layer.counters[counter::kBytesOperands];
}

/// "12 Relu, 1 Softmax": the most frequent first.
std::string operators_text(const std::map<std::string, std::uint64_t>& operators) {
  std::vector<std::pair<std::uint64_t, std::string>> kinds;
  for (const auto& [name, nodes] : operators) kinds.emplace_back(nodes, name);
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string text;
  for (const auto& [nodes, name] : kinds) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes, escaped(name));
  }
  return text;
}

/// How cycles are divided among the layers of a program, or why they are not.
std::string overlap_text(const RunReport& report) {
  std::string undivided;
  bool shared = false;
  for (const LayerReport& program : report.programs()) {
    std::uint64_t layers = 0;
    bool overlapped = false;
    for (const LayerReport& layer : report.layers) {
      if (!report.one_program && (layer.program == 0 || layer.program != program.program)) continue;
      ++layers;
      overlapped = overlapped || layer.overlapped;
    }
    shared = shared || layers > 1;
    if (!overlapped) continue;
    undivided += fmt::format("{}{} in program {}", undivided.empty() ? "" : ", ",
                             grouped(program.counters[counter::kTotalClocks]),
                             std::max<std::size_t>(program.program, 1));
  }
  if (!undivided.empty()) {
    return fmt::format(
        "Layers of a program overlap, and what was counted is not what was predicted, so that the "
        "cycles of each are not known: {}.\n",
        undivided);
  }
  if (!shared) return "";
  return "Layers of a program overlap: the cycles of each are those from its first tile to the "
         "next layer's.\n";
}

/// What the host did for layers of programs, and what their weights cost.
std::string programs_text(const RunReport& report) {
  std::size_t programs = 0;
  std::uint64_t packed = 0, packed_layers = 0, vector_nodes = 0, model_bytes = 0, loaded = 0;
  for (const LayerReport& layer : report.layers) {
    programs = std::max(programs, layer.program);
    packed += layer.packed_bytes;
    packed_layers += layer.packed ? 1 : 0;
    vector_nodes += layer.vector_nodes.size();
    if (layer.program == 0 || layer.products != 0) continue;
    model_bytes += layer.shape.k * layer.shape.n;
    loaded += layer.counters[counter::kBytesWeights];
  }
  if (programs == 0) return "";
  std::string text = fmt::format("{} on the device.\n", counted(programs, "program"));
  if (vector_nodes != 0) {
    text += fmt::format("{} in its element-wise unit, as layers wrote their results.\n",
                        counted(vector_nodes, "node"));
  }
  if (packed_layers != 0) {
    text += fmt::format("im2col on the host: {} of {}.\n", bytes(packed),
                        counted(packed_layers, "layer"));
  }
  if (!report.timed()) return text;
  const LayerReport total = report.total();
  if (model_bytes != 0) {
    text += fmt::format(
        "Weight traffic: {} for {} of the model, {:.2f}x (each output block loads its weights).\n",
        bytes(loaded), bytes(model_bytes),
        static_cast<double>(loaded) / static_cast<double>(model_bytes));
  }
  const std::uint64_t all = total.counters[counter::kBytesWeights] + data_bytes(total) +
                            total.counters[counter::kBytesResults];
  text +=
      "Cycles are those of one accelerator; --jobs only simulates programs in parallel. Simulated "
      "cycles per second are those of one simulation.\n";
  const std::uint64_t cycles = all / report.geometry.n;
  text += fmt::format(
      "A single memory of {} bytes per cycle for all ports would need {} ({:.2f}x).\n",
      report.geometry.n, counted(cycles, "cycle"),
      static_cast<double>(cycles) / static_cast<double>(total.counters[counter::kTotalClocks]));
  return text;
}

/// ", before programs 2 and 4 to 9", of ascending numbers.
std::string programs_after(const std::set<std::size_t>& programs) {
  std::vector<std::string> runs;
  for (auto first = programs.begin(); first != programs.end();) {
    auto last = first;
    for (auto next = std::next(last); next != programs.end() && *next == *last + 1; ++next) {
      last = next;
    }
    runs.push_back(*first == *last ? std::to_string(*first)
                                   : fmt::format("{} to {}", *first, *last));
    first = std::next(last);
  }
  if (runs.empty()) return "";
  return fmt::format(", before program{} {}", programs.size() == 1 ? "" : "s",
                     fmt::join(runs, ", "));
}

/// What is known of the host's part and of programs, in sentences.
std::string all_text(const RunReport& report) {
  const std::string kinds = operators_text(report.host->operators);
  const std::string& runtime = report.host->runtime;
  std::string text = fmt::format("{} {}{}, {:.2f} s", counted(report.host->nodes, "node"),
                                 runtime.empty() ? "on the host" : "in " + runtime,
                                 kinds.empty() ? "" : " (" + kinds + ")", report.host->seconds);
  if (report.host->reference_seconds >= 0.005) {  // else it is shown as 0.00
    text += fmt::format("; {:.2f} s waiting for reference results", report.host->reference_seconds);
  }
  text += ".\n" + programs_text(report) + between_text(report.host->between);
  if (report.timed()) {
    text += waits_text(report.host->between, report.geometry.n,
                       report.total().counters[counter::kTotalClocks]);
    text += overlap_text(report);
  }
  if (!report.why_in_turn.empty()) {
    text += fmt::format("The {} ran one after the other: {}.\n", counted(report.batch, "image"),
                        escaped(report.why_in_turn));
  } else if (report.images_at_once != 0) {
    text += fmt::format(
        "The {} ran {}.\n", counted(report.batch, "image"),
        report.images_at_once == 1 ? "one at a time" : grouped(report.images_at_once) + " at once");
  }
  const std::uint64_t all = report.all_macs();
  if (report.host_only || all == 0) return text;
  return text + sums_text(report) +
         fmt::format("MACs on the device: {}.\n", share(report.device_macs(), all));
}

/// Layers with MACs that ran on the host, a line for each reason.
std::string kept_text(const RunReport& report) {
  std::map<std::string, Group> groups;
  for (const HostLayer& layer : report.host_layers) {
    Group& group = groups[layer.reason];
    group.add(layer.name);
    group.macs += layer.macs;
  }
  std::string text;
  for (const auto& [reason, group] : groups) {
    text += fmt::format("On the host: {}, {} MACs ({}): {}.\n", counted(group.layers, "layer"),
                        grouped(group.macs), group.listed(), reason);
  }
  const bool is_float = std::any_of(groups.begin(), groups.end(), [](const auto& group) {
    return group.first.find("only where their values are of 8 bits") != std::string::npos;
  });
  if (!is_float) return text;
  const std::string file = escaped(report.model);
  return text + fmt::format(
                    "Next: quantize it: gemm64 quantize {} --calibrate IMAGES -o q.onnx, then "
                    "gemm64 run q.onnx\n",
                    file);
}

}  // namespace

std::string share_warning(std::uint64_t device_macs, std::uint64_t all_macs) {
  if (device_macs >= all_macs - device_macs) return "";
  return fmt::format(
      "only {} of the network's MACs are on the device; cycles and bytes are of these "
      "layers only",
      share(device_macs, all_macs));
}

std::string between_text(const std::vector<HostLayer>& nodes) {
  std::map<std::string, Group> groups;
  std::map<std::string, std::map<std::string, std::uint64_t>> operators;
  std::map<std::string, std::set<std::size_t>> programs;
  // Reasons with numbers of their own are printed only if one node has them.
  std::map<std::string, std::set<std::string>> reasons;
  const auto kind_of = [](const HostLayer& node) {
    return node.reason.substr(0, node.reason.find(": "));
  };
  for (const HostLayer& node : nodes) reasons[kind_of(node)].insert(node.reason);
  for (const HostLayer& node : nodes) {
    const std::string reason = reasons[kind_of(node)].size() == 1 ? node.reason : kind_of(node);
    groups[reason].add(escaped(node.name));
    ++operators[reason][node.op_type];
    programs[reason].insert(node.programs.begin(), node.programs.end());
  }
  std::string text;
  for (const auto& [reason, group] : groups) {
    // Of many, names tell less than how many of each kind there are.
    text += fmt::format(
        "Between programs, on the host: {} ({}){}: {}.\n", counted(group.layers, "node"),
        group.layers > kNamesShown ? operators_text(operators[reason]) : group.listed(),
        programs_after(programs[reason]), escaped(reason));
  }
  return text;
}

std::string waits_text(const std::vector<HostLayer>& nodes, std::uint32_t n, std::uint64_t cycles) {
  const std::vector<HostWait> waits = waits_for(nodes, n);
  std::uint64_t all = cycles;
  for (const HostWait& wait : waits) all += wait.cycles;
  if (all == cycles) return "";
  const auto part = [all](std::uint64_t some) {
    return percent(static_cast<double>(some) / static_cast<double>(all));
  };
  std::string text;
  for (const HostWait& wait : waits) {
    if (100 * wait.cycles < all) break;
    text += fmt::format("{}{} for {} ({})", text.empty() ? "; " : ", ", grouped(wait.cycles),
                        escaped(wait.op_type), part(wait.cycles));
  }
  return fmt::format(
      "With {} lanes for these nodes, a value each a cycle, the chip would wait at least {} ({} of "
      "all){}.\n",
      n, counted(all - cycles, "cycle"), part(all - cycles), text);
}

std::string warnings_text(const RunReport& report) {
  std::string text;
  for (const std::string& warning : report.warnings) text += "Warning: " + escaped(warning) + ".\n";
  if (report.host_only || report.layers.empty()) return text;
  std::uint64_t kept = 0;  // by the user, on the host
  for (const HostLayer& layer : report.host_layers) {
    if (layer.reason.rfind("with --", 0) == 0) kept += layer.macs;
  }
  const std::string warning = share_warning(report.device_macs(), report.all_macs() - kept);
  return warning.empty() ? text : text + "Warning: " + warning + ".\n";
}

std::string host_text(const RunReport& report, bool explain) {
  std::string text = warnings_text(report);
  if (!report.host) return text;
  const std::uint64_t all = report.all_macs();
  const std::string where =
      report.host->runtime.empty() ? "on the host" : "in " + report.host->runtime;
  if (explain) {
    text += all_text(report);
  } else {
    std::uint64_t programs = 0;
    for (const LayerReport& layer : report.layers) {
      programs = std::max<std::uint64_t>(programs, layer.program);
    }
    if (!report.host_only && all != 0) {
      const double part = static_cast<double>(report.device_macs()) / static_cast<double>(all);
      text += fmt::format("On the device: {} of the MACs", percent(part));
      if (programs != 0) text += ", " + counted(programs, "program");
      text += "; ";
    }
    text += fmt::format("{} {}, {:.2f} s.\n", counted(report.host->nodes, "node"), where,
                        report.host->seconds);
    if (!report.host->between.empty()) {
      text += fmt::format("Between programs, on the host: {} (--explain says which and why).\n",
                          counted(report.host->between.size(), "node"));
    }
  }
  if (report.host_only || all == 0) return text;
  return text + kept_text(report);
}

std::string quality_text(const RunReport& report, bool explain) {
  std::string text;
  if (explain && !report.scales.empty()) text += "Scales of activations: " + report.scales + ".\n";
  if (report.classification) {
    text += classification_text(*report.classification, !report.in_float32());
  }
  if (!report.quality) return text;
  const NetworkQuality& quality = *report.quality;
  text += fmt::format("Same top-1 class as in float32: {}; SQNR {:.1f} dB",
                      share(quality.top1_equal, quality.images), quality.signal_to_noise_db);
  if (std::isfinite(quality.centred_signal_to_noise_db)) {
    text += fmt::format(" ({:.1f} dB after removing the mean of each output)",
                        quality.centred_signal_to_noise_db);
  }
  return text + ".\n";
}

}  // namespace gemm64
