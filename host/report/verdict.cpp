// SPDX-License-Identifier: Apache-2.0
#include "host/report/verdict.hpp"

#include <fmt/format.h>

#include "host/escaped.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

std::string faults(const RunReport& report) {
  std::string text;
  for (const LayerReport& layer : report.layers) {
    if (layer.mismatches.count != 0) {
      text += fmt::format(
          "{}: {} differ{}; the first at row {}, column {}: expected {}, found {}\n", layer.name,
          counted(layer.mismatches.count, "value"), layer.mismatches.count == 1 ? "s" : "",
          layer.mismatches.first_row, layer.mismatches.first_column, layer.mismatches.expected,
          layer.mismatches.found);
    }
    // Not the other way round: no bound allows NaN.
    if (layer.error_bound != 0 && !(layer.max_abs_error <= layer.error_bound)) {
      text += fmt::format("{}: error {:.3g} is larger than {:.3g} allows\n", layer.name,
                          layer.max_abs_error, layer.error_bound);
    }
    for (std::size_t i = 0; i < layer.counters.size(); ++i) {
      if (!report.is_checked(i) || layer.counters[i] == layer.predicted[i]) continue;
      text +=
          fmt::format("{}: counter {}.{} is {}, predicted {}\n", layer.name, kCounters[i].engine,
                      kCounters[i].cause, layer.counters[i], layer.predicted[i]);
    }
  }
  const LayerReport total = report.total();
  for (std::size_t i = 0; i < total.counters.size(); ++i) {
    if (report.is_checked(i) || !report.is_checked_in_all(i)) continue;
    if (total.counters[i] == total.predicted[i]) continue;
    text += fmt::format("total: counter {}.{} is {}, predicted {}\n", kCounters[i].engine,
                        kCounters[i].cause, total.counters[i], total.predicted[i]);
  }
  if (report.outputs.mismatches != 0) {
    text += fmt::format(
        "{} of {} of the network's outputs differ{} from a run on the host, the first in '{}'\n",
        grouped(report.outputs.mismatches), counted(report.outputs.values, "value"),
        report.outputs.mismatches == 1 ? "s" : "", escaped(report.outputs.first));
  }
  for (const std::string& line : report.impossible()) text += line + "\n";
  for (const std::string& problem : report.problems) text += problem + "\n";
  if (report.failure) text += "\n" + describe(*report.failure) + "\n";
  return text;
}

/// What the device found wrong in itself, and the driver in its registers.
std::string found_text(const RunReport& report) {
  std::string text;
  for (const LayerReport& layer : report.layers) {
    for (const LayerFault& fault : layer.faults) {
      if (fault.error == LayerFault::kRegister) {
        text += fmt::format(
            "1 fault found by the driver in {}, register {}; run again from clock {}.\n",
            layer.name, fault.memory, grouped(fault.clock));
        continue;
      }
      const std::string place =
          fault.memory.empty() ? fmt::format("tile {}, row {}", to_string(fault.tile), fault.place)
                               : fmt::format("{}, word {}", fault.memory, fault.place);
      text += fmt::format("1 fault found by the device in {}, {} ({}); run again from clock {}.\n",
                          layer.name, place, fault.error, grouped(fault.clock));
    }
  }
  return text;
}

/// Says of layers in another arithmetic than the file's what theirs is.
std::string quantized_text(const RunReport& report) {
  const std::uint64_t layers = report.layers_of(Arithmetic::kQuantizedOnTheWay);
  if (layers == 0) return "";
  return fmt::format(
      "Quantized on the way, as --precision int8 asks: {} of float32. {} reference is gemm64's own "
      "int8 arithmetic, not the file's float32.\n",
      counted(layers, "layer"), layers == 1 ? "Its" : "Their");
}

/// What values were compared with what, where all of it held.
std::string compared_text(const RunReport& report) {
  if (report.check == CheckLevel::kNone) {
    return "NOT CHECKED: no value was compared (--check none)";
  }
  if (report.check == CheckLevel::kOutputs) {
    return fmt::format(
        "VERIFIED: {} of the network's outputs equal{} a run on the host; layers were not compared",
        report.outputs.values == 1 ? "the 1 value"
                                   : "all " + counted(report.outputs.values, "value"),
        report.outputs.values == 1 ? "s" : "");
  }
  std::uint64_t results = 0;
  bool sums = true;
  for (const LayerReport& layer : report.layers) {
    results += layer.shape.m * layer.shape.n;
    sums = sums && !layer.results.takes_parameters();
  }
  return fmt::format("VERIFIED: {} equal{} the reference{}",
                     counted(results, sums ? "sum" : "result"), results == 1 ? "s" : "",
                     report.host ? " on the inputs that the device had" : "");
}

}  // namespace

std::string verdict(const RunReport& report) {
  const bool none = report.check == CheckLevel::kNone;
  if (report.host_only && none) {
    return "NOT CHECKED: the host computed all, and nothing was compared (--check none).\n";
  }
  if (report.layers.empty() && report.problems.empty()) {
    return "No layer of the network ran on the device, so nothing was verified.\n";
  }
  if (!report.held()) {
    return found_text(report) + faults(report) +
           (none ? "FAILED; no value was compared (--check none)\n" : "FAILED\n");
  }
  if (report.host_only) {
    return fmt::format("VERIFIED: {} as close to the product in double as float32 allows.\n",
                       counted(report.layers.size(), "Linear layer"));
  }
  std::string text = compared_text(report);
  if (report.predictable()) {
    text +=
        fmt::format("; all {} counters of clocks and bytes equal their prediction in every layer",
                    kCounters.size());
  } else if (report.timed()) {
    text += fmt::format(
        "; all bytes over the ports equal their prediction; clocks are predicted for {} and were "
        "not checked",
        report.memory.is_modelled ? "a memory without stalls" : "another memory than the board's");
  }
  return text + ".\n" + found_text(report) + quantized_text(report);
}

}  // namespace gemm64
