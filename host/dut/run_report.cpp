// SPDX-License-Identifier: Apache-2.0
#include "host/dut/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t cells(const Description& of) { return std::uint64_t{of.rows} * of.columns; }

double utilization(const Description& of, const ProductRun& run) {
  return ratio(run.macs(), cells(of) * run.cycles);
}

/// Fewest cycles that MACs or the busiest port allow, and which of them it is.
std::pair<std::uint64_t, const char*> roof(const Description& of, const ProductRun& run) {
  std::pair<std::uint64_t, const char*> most{(run.macs() + cells(of) - 1) / cells(of), "MACs"};
  static constexpr const char* kNames[] = {"weights", "activations", "sums", "results"};
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    if (run.beats[i] > most.first) most = {run.beats[i], kNames[i]};
  }
  return most;
}

const char* why_between(const Description& of, std::uint32_t idle) {
  switch (idle) {
    case kLoading:
      return of.output_stationary() ? "weights move, activations do not"
             : of.double_buffered   ? "a tile's stationary operand is still entering"
                                    : "the stationary operand enters: it is not double-buffered";
    case kDraining:
      return of.overlaps() ? "neither operand is accepted while the tile before has results to come"
                           : "the bench sends one tile at a time: an input has no backpressure";
    case kNotReady:
      return "TREADY of the moving operand is low";
    default:
      return "the bench waits: a stream without backpressure, or weights that are not accepted";
  }
}

const char* key_of(std::uint32_t idle) {
  static constexpr const char* kKeys[] = {"loading", "draining", "not_ready", "not_sent"};
  return kKeys[idle];
}

/// Which layers multiplied the network's own operands; empty if there is no network.
std::string operands_in_words(const RunResult& result) {
  std::size_t weights = 0, activations = 0;
  for (const ProductRun& run : result.products) {
    weights += run.random_weights ? 0 : 1;
    activations += run.random_activations ? 0 : 1;
  }
  const std::size_t layers = result.products.size();
  std::string text;
  if (!result.why_random.empty()) {
    text = fmt::format("\nActivations are random: {}\n", result.why_random);
  }
  if (weights == layers && activations == layers) return "\nAll operands are the network's.\n";
  if (weights + activations == 0) return text;
  return text + fmt::format(
                    "\nOf {}, the network's own weights: {}, activations: {}; others are random.\n",
                    counted(layers, "layer"), weights, activations);
}

std::string verdict(const RunResult& result) {
  const ProductRun all = result.total();
  if (all.verified()) {
    const std::string beyond =
        all.overflowed == 0
            ? ""
            : fmt::format(
                  "Overflow as described: {} of the products are beyond their sums' bits.\n",
                  counted(all.overflowed, "value"));
    return beyond + fmt::format("VERIFIED: {} sums of {} equal Eigen's.\n", grouped(all.sums),
                                counted(all.tiles, "tile"));
  }
  std::vector<std::string> parts;
  if (all.mismatches != 0) {
    parts.push_back(
        fmt::format("{} of {} sums differ", grouped(all.mismatches), grouped(all.sums)));
  }
  if (all.first) {
    parts.push_back(fmt::format(
        "the first in tile {}, row {}, column {}, cycle {}: expected {}, got {}", all.first->tile,
        all.first->row, all.first->column, all.first->cycle, all.first->expected, all.first->got));
  }
  if (all.mismatches == 0 && all.total_mismatches != 0) {
    parts.push_back(
        fmt::format("{} values of products differ, since sums of tiles were beyond their bits",
                    grouped(all.total_mismatches)));
  }
  if (!all.error.empty()) parts.push_back(all.error);
  std::string text = fmt::format("NOT VERIFIED: {}", fmt::join(parts, "; "));
  return text + (text.back() == '.' ? "\n" : ".\n");
}

}  // namespace

ProductRun RunResult::total() const {
  ProductRun all;
  all.count = 0;
  for (const ProductRun& run : products) all.add(run);
  return all;
}

std::vector<std::string> cycles_in_words(const Description& of, const ProductRun& run) {
  std::vector<std::string> lines;
  const auto add = [&](std::uint64_t cycles, const std::string& what) {
    if (cycles == 0) return;
    lines.push_back(fmt::format("{:>14}  {:>8}  {}", grouped(cycles),
                                percent(ratio(cycles, run.cycles)), what));
  };
  add(run.fill, "fill: before the first moving operands");
  add(run.beats[of.moving()],
      fmt::format("{} enter", of.moving() == kWeights ? "weights" : "activations"));
  const std::uint64_t gaps = run.tiles > run.count ? run.tiles - run.count : 1;
  for (std::uint32_t i = 0; i < kIdles; ++i) {
    add(run.between[i], fmt::format("{:.1f} idle cycles between tiles: {}",
                                    ratio(run.between[i], gaps), why_between(of, i)));
  }
  for (std::uint32_t i = 0; i < kIdles; ++i) {
    add(run.within[i], fmt::format("idle cycles within tiles: {}", why_between(of, i)));
  }
  add(run.drain, "drain: after the last moving operands");
  return lines;
}

std::string run_text(const Description& of, const RunResult& result, std::size_t width) {
  Table table;
  table.add_column("layer", Align::kLeft);
  for (const char* heading :
       {"M×K×N", "tiles", "cycles", "cycles\nper tile", "bound of\nits streams", "cycles ÷\nbound",
        "utilization", "bound by", "mismatches"}) {
    table.add_column(heading);
  }
  const auto row = [&](const std::string& name, const std::string& size, const ProductRun& run) {
    table.add_row({name, size, grouped(run.tiles), grouped(run.cycles),
                   fmt::format("{:.1f}", ratio(run.cycles, run.tiles)), grouped(run.bound),
                   fmt::format("{:.3f}", ratio(run.cycles, run.bound)),
                   percent(utilization(of, run)), roof(of, run).second, grouped(run.mismatches)});
  };
  ProductRun all = result.total();
  std::uint64_t macs = 0;
  for (const ProductRun& run : result.products) {
    row(run.name,
        fmt::format("{}×{}×{}{}", run.shape.m, run.shape.k, run.shape.n,
                    run.count > 1 ? fmt::format(" × {}", run.count) : ""),
        run);
    macs += run.macs();
  }
  std::string text =
      fmt::format("{} on {}: {}×{}, {}, {}-bit weights, {}-bit activations, {}-bit sums\n\n",
                  result.model, of.top, of.rows, of.columns, name_of(of.dataflow), of.weights.bits,
                  of.activations.bits, of.sums.bits);
  text += table.render(width);
  text += operands_in_words(result);
  text +=
      fmt::format("\n{} cycles in all, {} MACs, {} of the array's peak. Where they went:\n",
                  grouped(all.cycles), grouped(macs), percent(ratio(macs, cells(of) * all.cycles)));
  for (const std::string& line : cycles_in_words(of, all)) text += line + "\n";
  text += fmt::format("\nbytes: {} weights, {} activations, {}{} results; {:.2f} MACs per byte\n\n",
                      bytes(all.bytes[kWeights]), bytes(all.bytes[kActivations]),
                      of.partial_sums ? bytes(all.bytes[kSums]) + " partial sums, " : "",
                      bytes(all.bytes[kResults]),
                      ratio(macs, all.bytes[kWeights] + all.bytes[kActivations] + all.bytes[kSums] +
                                      all.bytes[kResults]));
  return text + verdict(result);
}

nlohmann::ordered_json run_json(const Description& of, const RunResult& result) {
  using Json = nlohmann::ordered_json;
  const ProductRun all = result.total();
  const auto idle = [](const std::uint64_t(&counts)[kIdles]) {
    Json json;
    for (std::uint32_t i = 0; i < kIdles; ++i) json[key_of(i)] = counts[i];
    return json;
  };
  const auto fields = [&](const ProductRun& run, std::uint64_t macs) {
    Json json = {{"tiles", run.tiles},
                 {"macs", macs},
                 {"cycles", run.cycles},
                 {"bound_cycles", run.bound},
                 {"utilization", ratio(macs, cells(of) * run.cycles)},
                 {"roofline_utilization", ratio(roof(of, run).first, run.cycles)},
                 {"mismatches", run.mismatches + run.total_mismatches},
                 {"overflowed", run.overflowed},
                 {"cycle_breakdown",
                  {{"fill", run.fill},
                   {"compute", run.beats[of.moving()]},
                   {"between_tiles", idle(run.between)},
                   {"within_tiles", idle(run.within)},
                   {"drain", run.drain}}},
                 {"bytes",
                  {{"weights", run.bytes[kWeights]},
                   {"activations", run.bytes[kActivations]},
                   {"results", run.bytes[kResults]}}},
                 {"seconds", run.seconds}};
    if (of.partial_sums) json["bytes"]["sums"] = run.bytes[kSums];
    return json;
  };
  Json json = {{"format", 1},
               {"model", result.model},
               {"device", of.top},
               {"batch", result.batch},
               {"verified", all.verified()},
               {"array", of.columns},
               {"rows", of.rows},
               {"columns", of.columns},
               {"dataflow", name_of(of.dataflow)},
               {"port_bytes", Json::object()},
               {"layers", Json::array()}};
  static constexpr const char* kPorts[] = {"weights", "activations", "sums", "results"};
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    if (i == kSums && !of.partial_sums) continue;
    json["port_bytes"][kPorts[i]] = (of.beat_bits(static_cast<Stream>(i)) + 7) / 8;
  }
  std::uint64_t macs = 0;
  for (const ProductRun& run : result.products) {
    Json layer = {{"name", run.name},          {"on", "device"},
                  {"operator", run.operation}, {"m", run.shape.m},
                  {"k", run.shape.k},          {"n", run.shape.n},
                  {"products", run.count},     {"bound", roof(of, run).second}};
    layer["weights_from"] = run.random_weights ? "random" : "network";
    layer["activations_from"] = run.random_activations ? "random" : "network";
    layer.update(fields(run, run.macs()));
    if (!run.error.empty()) layer["error"] = run.error;
    json["layers"].push_back(layer);
    macs += run.macs();
  }
  json["total"] = fields(all, macs);
  if (!all.error.empty()) json["error"] = all.error;
  return json;
}

}  // namespace gemm64::dut
