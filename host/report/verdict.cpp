// SPDX-License-Identifier: Apache-2.0
#include "host/report/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "host/util/escaped.hpp"
#include "host/util/text.hpp"

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
            "1 fault found by the driver in {}, register {}; run again from cycle {}.\n",
            layer.name, fault.memory, grouped(fault.clock));
        continue;
      }
      const std::string place =
          fault.memory.empty() ? fmt::format("tile {}, row {}", to_string(fault.tile), fault.place)
                               : fmt::format("{}, word {}", fault.memory, fault.place);
      text += fmt::format("1 fault found by the device in {}, {} ({}); run again from cycle {}.\n",
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

/// Results that were compared, or else those that stayed on the chip.
std::uint64_t results_of(const RunReport& report, bool on_chip = false) {
  std::uint64_t results = 0;
  for (const LayerReport& layer : report.layers) {
    if (layer.on_chip == on_chip) results += layer.shape.m * layer.shape.n;
  }
  return results;
}

/// Counts results that could not be compared; empty if there are none.
std::string on_chip_text(const RunReport& report) {
  const std::uint64_t results = results_of(report, true);
  if (results == 0) return "";
  return fmt::format(", {} on the chip compared only through these", grouped(results));
}

/// "12 results".
std::string results_text(const RunReport& report, std::uint64_t count) {
  const bool sums =
      std::none_of(report.layers.begin(), report.layers.end(),
                   [](const LayerReport& layer) { return layer.results.takes_parameters(); });
  return counted(count, sums ? "sum" : "result");
}

/// What values were compared with what, where all of it held.
std::string compared_text(const RunReport& report) {
  if (report.check == CheckLevel::kNone) return "No value was compared (--check none)";
  if (report.check == CheckLevel::kOutputs) {
    return fmt::format(
        "{} of the network's outputs equal{} a run on the host; layers were not compared",
        report.outputs.values == 1 ? "The 1 value"
                                   : "All " + counted(report.outputs.values, "value"),
        report.outputs.values == 1 ? "s" : "");
  }
  const std::uint64_t results = results_of(report);
  return fmt::format("{} equal{} the reference{}{}", results_text(report, results),
                     results == 1 ? "s" : "",
                     report.host ? " on the inputs that the device had" : "", on_chip_text(report));
}

/// What was compared, and what came of it, in some words.
std::string outcome(const RunReport& report) {
  if (report.check == CheckLevel::kNone) return "no value compared (--check none)";
  if (report.check == CheckLevel::kOutputs) {
    const OutputCheck& outputs = report.outputs;
    return outputs.mismatches == 0
               ? fmt::format("{} of the outputs equal, layers not compared",
                             counted(outputs.values, "value"))
               : fmt::format("{} of {} of the outputs differ{}", grouped(outputs.mismatches),
                             counted(outputs.values, "value"), outputs.mismatches == 1 ? "s" : "");
  }
  const std::uint64_t all = results_of(report), wrong = report.total().mismatches.count;
  if (wrong == 0) return results_text(report, all) + " equal" + on_chip_text(report);
  return fmt::format("{} of {} differ{}", grouped(wrong), results_text(report, all),
                     wrong == 1 ? "s" : "");
}

/// "99.8 %"; not all is never "100.0 %".
std::string short_percent(double fraction) {
  constexpr double kNearlyAll = 0.999;
  if (fraction < 1) fraction = std::min(fraction, kNearlyAll);
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string time_text(double seconds) {
  constexpr double kShort = 0.1, kMilliseconds = 1000;
  return seconds < kShort ? fmt::format("{:.0f} ms", std::ceil(kMilliseconds * seconds))
                          : fmt::format("{:.1f} s", seconds);
}

}  // namespace

std::uint64_t all_bytes(const LayerReport& layer) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < layer.counters.size(); ++i) {
    if (std::string_view(kCounters[i].engine) == "bytes") bytes += layer.counters[i];
  }
  return bytes;
}

std::string short_bytes(std::uint64_t count) {
  constexpr double kKib = 1024, kMib = kKib * kKib, kGib = kKib * kMib;
  const auto value = static_cast<double>(count);
  if (value >= kGib) return fmt::format("{:.1f} GiB", value / kGib);
  if (value >= kMib) return fmt::format("{:.1f} MiB", value / kMib);
  if (value >= kKib) return fmt::format("{:.1f} KiB", value / kKib);
  return count == 0 ? "-" : fmt::format("{} B", count);
}

std::string check_details(const RunReport& report, bool explain) {
  if (report.layers.empty() && report.problems.empty()) return "";
  if (!report.held()) return found_text(report) + faults(report);
  const std::string rest = found_text(report) + quantized_text(report);
  if (report.host_only) return rest;
  std::string text;
  if (explain) {
    text = compared_text(report);
    if (report.predictable()) {
      text +=
          fmt::format("; all {} counters of cycles and bytes equal their prediction in every layer",
                      kCounters.size());
    }
    text += ".\n";
  }
  if (report.timed() && !report.predictable()) {
    text += fmt::format(
        "All bytes over the ports equal their prediction; cycles are predicted for {} and were "
        "not checked.\n",
        report.memory.is_modelled ? "a memory without stalls" : "another memory than the board's");
  }
  return text + rest;
}

std::string summary_line(const RunReport& report, std::optional<double> seconds) {
  const bool none = report.check == CheckLevel::kNone;
  if (report.layers.empty() && report.problems.empty() && !(report.host_only && none)) {
    return "No layer of the network ran on the device, so nothing was verified.\n";
  }
  std::string text;
  if (report.timed()) {
    const LayerReport total = report.total();
    text = fmt::format("{}, {} of the MACs, {}, ",
                       counted(total.counters[counter::kTotalClocks], "cycle"),
                       short_percent(total.utilization), short_bytes(all_bytes(total)));
  }
  if (report.host_only && !none) {
    text += fmt::format("{} as close to the product in double as float32 allows",
                        counted(report.layers.size(), "Linear layer"));
  } else {
    text += outcome(report);
  }
  text += !report.held() ? ": FAILED" : none ? ": NOT CHECKED" : ": VERIFIED";
  if (seconds) text += " in " + time_text(*seconds);
  return text + "\n";
}

}  // namespace gemm64
