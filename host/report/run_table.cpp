// SPDX-License-Identifier: Apache-2.0
#include "host/report/run_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "host/report/json.hpp"
#include "host/report/table.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kNamesShown = 4;  // of layers with the same reason

std::string shape_text(const GemmShape& shape) {
  return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
}

std::vector<std::string> cells(const RunReport& report, const LayerReport& layer, bool is_total) {
  const bool timed = report.timed();
  const auto clocks = [timed](std::uint64_t count) { return timed ? grouped(count) : "-"; };
  return {layer.name,
          is_total ? "" : shape_text(layer.shape),
          is_total ? "" : shape_text(layer.padded),
          grouped(layer.tiles),
          clocks(layer.counters[counter::kTotalClocks]),
          grouped(layer.predicted[counter::kTotalClocks]),
          grouped(layer.published.double_buffered),
          grouped(layer.published.single_buffered),
          grouped(layer.published.scale_sim_ws),
          grouped(layer.published.scale_sim_os),
          bytes(layer.counters[counter::kBytesWeights]),
          bytes(layer.counters[counter::kBytesActivations]),
          bytes(layer.counters[counter::kBytesResults]),
          bytes(layer.counters[counter::kBytesCommands]),
          timed ? percent(layer.utilization) : "-",
          timed ? percent(layer.roofline_utilization) : "-",
          grouped(layer.mismatches.count),
          layer.seconds > 0 && timed
              ? fmt::format("{:.2f} M/s",
                            static_cast<double>(layer.simulated_clocks) / layer.seconds / 1e6)
              : "-"};
}

/// What it costs that the host adds the partial sums, side by side.
std::string price_table(const RunReport& report, std::size_t width) {
  const LayerReport total = report.total();
  if (!total.on_device || !report.timed()) return "";
  Table table;
  table.add_column("partial sums added", Align::kLeft);
  table.add_column("on the device:\nclocks");
  table.add_column("on the host:\nclocks");
  table.add_column("ratio");
  table.add_column("on the device:\nresults");
  table.add_column("on the host:\nresults");
  table.add_column("ratio");
  const auto row = [&table](const LayerReport& layer) {
    const auto ratio = [](std::uint64_t a, std::uint64_t b) {
      return fmt::format("{:.2f}", static_cast<double>(a) / static_cast<double>(b));
    };
    const Counters& device = *layer.on_device;
    const std::uint64_t clocks = layer.counters[counter::kTotalClocks];
    const std::uint64_t results = layer.counters[counter::kBytesResults];
    table.add_row({layer.name, grouped(device[counter::kTotalClocks]), grouped(clocks),
                   ratio(clocks, device[counter::kTotalClocks]),
                   bytes(device[counter::kBytesResults]), bytes(results),
                   ratio(results, device[counter::kBytesResults])});
  };
  for (const LayerReport& layer : report.layers) row(layer);
  if (report.layers.size() > 1) {
    table.add_rule();
    row(total);
  }
  return table.render(width) + "\n";
}

std::string quality_text(const RunReport& report) {
  if (!report.quality) return "";
  const NetworkQuality& quality = *report.quality;
  std::string text = fmt::format(
      "Against the float32 network: the same top-1 class for {} images, signal to noise {:.1f} dB",
      share(quality.top1_equal, quality.images), quality.signal_to_noise_db);
  if (std::isfinite(quality.centred_signal_to_noise_db)) {
    text += fmt::format(" ({:.1f} dB without each output's mean over the batch)",
                        quality.centred_signal_to_noise_db);
  }
  return text + ".\n";
}

std::string count_of(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

/// How much of a network ran where, and why not all of it on the device.
std::string host_text(const RunReport& report) {
  if (!report.host) return "";
  std::string text = fmt::format("{} on the host, {:.2f} s.\n",
                                 count_of(report.host->nodes, "node"), report.host->seconds);
  const std::uint64_t all = report.all_macs();
  if (report.host_only || all == 0) return text;
  text += fmt::format("On the device: {} MACs.\n", share(report.device_macs(), all));
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
    text += fmt::format("On the host: {}, {} MACs ({}{}): {}.\n", count_of(group.layers, "layer"),
                        grouped(group.macs), fmt::join(group.names, ", "), more, reason);
  }
  return text;
}

std::string faults(const RunReport& report) {
  std::string text;
  for (const LayerReport& layer : report.layers) {
    if (layer.mismatches.count != 0) {
      text += fmt::format(
          "{}: {} values differ; the first at row {}, column {}: expected {}, found {}\n",
          layer.name, grouped(layer.mismatches.count), layer.mismatches.first_row,
          layer.mismatches.first_column, layer.mismatches.expected, layer.mismatches.found);
    }
    // Not the other way round: no bound allows NaN.
    if (layer.error_bound != 0 && !(layer.max_abs_error <= layer.error_bound)) {
      text += fmt::format("{}: error {:.3g} is larger than {:.3g} allows\n", layer.name,
                          layer.max_abs_error, layer.error_bound);
    }
    for (std::size_t i = 0; report.predictable() && i < layer.counters.size(); ++i) {
      if (layer.counters[i] == layer.predicted[i]) continue;
      text +=
          fmt::format("{}: counter {}.{} is {}, predicted {}\n", layer.name, kCounters[i].engine,
                      kCounters[i].cause, layer.counters[i], layer.predicted[i]);
    }
  }
  for (const std::string& problem : report.problems) text += problem + "\n";
  if (report.failure) text += "\n" + describe(*report.failure) + "\n";
  return text;
}

std::string verdict(const RunReport& report) {
  if (report.layers.empty() && report.problems.empty()) {
    return "No layer of the network ran on the device, so nothing was verified.\n";
  }
  if (!report.verified()) return faults(report) + "FAILED\n";
  std::uint64_t sums = 0;
  for (const LayerReport& layer : report.layers) sums += layer.shape.m * layer.shape.n;
  std::string text = fmt::format("VERIFIED: {} sums equal the reference", grouped(sums));
  if (report.predictable()) {
    text +=
        fmt::format("; all {} counters of clocks and bytes equal their prediction in every layer",
                    kCounters.size());
  } else if (report.timed()) {
    text += "; predictions are for an unthrottled memory and were not checked";
  }
  return text + ".\n";
}

/// The float path by itself: no device, no clocks.
std::string host_table(const RunReport& report, std::size_t width) {
  Table table;
  table.add_column("layer", Align::kLeft);
  table.add_column("MxKxN");
  table.add_column("MACs");
  table.add_column("largest error\nagainst double");
  table.add_column("allowed");
  for (const LayerReport& layer : report.layers) {
    table.add_row({layer.name, shape_text(layer.shape), grouped(layer.shape.macs()),
                   fmt::format("{:.3g}", layer.max_abs_error),
                   fmt::format("{:.3g}", layer.error_bound)});
  }
  std::string text =
      fmt::format("{} on the host in float32, batch {}\n\n", report.model, report.batch);
  if (!report.layers.empty()) text += table.render(width) + "\n";
  text += host_text(report);
  if (!report.verified()) return text + verdict(report);
  return text + fmt::format(
                    "VERIFIED: {} Linear layer{} as near to the product in double as float32 "
                    "allows.\n",
                    report.layers.size(), report.layers.size() == 1 ? "" : "s");
}

}  // namespace

std::string run_table(const RunReport& report, std::size_t width) {
  if (report.host_only) return host_table(report, width);
  Table table;
  table.add_column("layer", Align::kLeft);
  table.add_column("MxKxN");
  table.add_column("padded");
  table.add_column("tiles");
  table.add_column("clocks");
  table.add_column("predicted");
  table.add_column("double-\nbuffered WS");
  table.add_column("single-\nbuffered WS");
  table.add_column("SCALE-Sim\nWS");
  table.add_column("SCALE-Sim\nOS");
  table.add_column("weights");
  table.add_column("activations");
  table.add_column("results");
  table.add_column("commands");
  table.add_column("utilization");
  table.add_column("of its\nroofline");
  table.add_column("mis-\nmatches");
  table.add_column("simulated\nclocks");
  for (const LayerReport& layer : report.layers) table.add_row(cells(report, layer, false));
  if (report.layers.size() > 1) {
    table.add_rule();
    table.add_row(cells(report, report.total(), true));
  }

  std::string text = fmt::format(
      "{} on device '{}', array {}x{}, {}, partial sums added on the {}, batch {}, memory latency "
      "{} "
      "clocks\n\n",
      report.model, report.device, report.geometry.n, report.geometry.n, name(report.precision),
      name(report.accumulate), report.batch, report.memory.latency);
  if (!report.layers.empty()) text += table.render(width) + "\n" + price_table(report, width);
  if (report.precision == Precision::kFloat32) {
    text +=
        fmt::format("float32 from four slices of 7 bits: largest error {:.3g} against double.\n",
                    report.total().max_abs_error);
  }
  return text + host_text(report) + quality_text(report) + verdict(report);
}

std::string engine_table(const RunReport& report, std::size_t width) {
  const LayerReport total = report.total();
  const std::uint64_t clocks = total.counters[counter::kTotalClocks];
  Table table;
  table.add_column("engine", Align::kLeft);
  table.add_column("cause", Align::kLeft);
  table.add_column("clocks");
  table.add_column("share");
  table.add_column("meaning", Align::kLeft);
  std::string engine;
  for (std::size_t i = 0; i < total.counters.size() && clocks != 0; ++i) {
    const std::string of = kCounters[i].engine;
    if (of == "total" || of == "bytes") continue;
    if (!engine.empty() && of != engine) table.add_rule();
    table.add_row({of == engine ? "" : of, kCounters[i].cause, grouped(total.counters[i]),
                   percent(static_cast<double>(total.counters[i]) / static_cast<double>(clocks)),
                   kCounters[i].purpose});
    engine = of;
  }
  return table.render(width);
}

}  // namespace gemm64
