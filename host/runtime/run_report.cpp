// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "host/device/depthwise.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

/// Cycles that work needs at least: its useful MACs on the array, or the bytes of the busiest port
/// (of all ports where they share a memory), whichever takes longer.
double roofline_cycles(std::uint64_t macs, const Counters& counters, const Geometry& geometry,
                       const MemoryTiming& memory) {
  const std::uint64_t weights = counters[counter::kBytesWeights];
  const std::uint64_t data =
      counters[counter::kBytesActivations] + counters[counter::kBytesCommands] +
      counters[counter::kBytesParameters] + counters[counter::kBytesOperands];
  const std::uint64_t results = counters[counter::kBytesResults];
  const std::uint64_t busiest = memory.sharing == MemorySharing::kIndependent
                                    ? std::max({weights, data, results})
                                    : weights + data + results;
  const auto bytes = static_cast<double>(busiest);
  double width = geometry.n, ahead = 0;  // bytes that need no cycle of these
  if (memory.sharing == MemorySharing::kDram) {
    // The channel moved what arrives in the first cycles before them, and what the write buffer
    // still holds after the last one has yet to be moved.
    width = memory.dram.peak_bytes_per_cycle();
    ahead = memory.latency * width + memory.dram.write_buffer + geometry.n;
  } else if (memory.bytes_per_cycle != 0 && memory.bytes_per_cycle < geometry.n) {
    width = memory.bytes_per_cycle;
    ahead = geometry.n;  // a beat's bytes, saved before the first cycle
  }
  return std::max(static_cast<double>(macs) / static_cast<double>(geometry.macs_per_clock()),
                  (bytes - std::min(bytes, ahead)) / width);
}

/// Sets the utilizations of `of`, in whose cycles the array had `macs` useful MACs.
void set_utilization(LayerReport& of, std::uint64_t macs, const Geometry& geometry,
                     const MemoryTiming& memory) {
  const auto cycles = static_cast<double>(of.counters[counter::kTotalClocks]);
  if (cycles == 0) return;
  of.utilization =
      static_cast<double>(macs) / (static_cast<double>(geometry.macs_per_clock()) * cycles);
  of.roofline_utilization = roofline_cycles(macs, of.counters, geometry, memory) / cycles;
}

/// The most that a layer can have of the array's MACs. A small array has fewer multipliers than the
/// depthwise unit, which has no tiles of weights.
double most_of_array(const LayerReport& layer, const Geometry& geometry) {
  return layer.tiles != 0 ? 1 : std::max(1.0, double{kLaneTaps} / geometry.n);
}

/// What cannot be of the figures of a layer or of several, a line each; `most`: of its utilization.
void add_impossible(const LayerReport& of, const std::string& name, double most,
                    std::vector<std::string>& lines) {
  constexpr double kRounding = 1e-9;  // of sums of floats
  const auto check = [&](const char* what, double share) {
    if (share <= most + kRounding) return;  // not the other way round: NaN is no share
    lines.push_back(fmt::format("{}: {} is {:.2f} %; more than {:.0f} % cannot be", name, what,
                                100 * share, 100 * most));
  };
  check("its utilization", of.utilization);
  check("its share of the roofline", of.roofline_utilization);
  const std::uint64_t cycles = of.counters[counter::kTotalClocks];
  for (std::size_t i = 0; i < of.counters.size() && cycles != 0; ++i) {
    const std::string_view engine = kCounters[i].engine;
    if (engine == "bytes" || of.counters[i] <= cycles) continue;
    lines.push_back(fmt::format("{}: counter {}.{} is {}, in {} cycles", name, engine,
                                kCounters[i].cause, of.counters[i], cycles));
  }
}

MatrixF centred(const MatrixF& matrix) { return matrix.rowwise() - matrix.colwise().mean(); }

}  // namespace

const char* name(CheckLevel check) {
  return check == CheckLevel::kLayers    ? "layers"
         : check == CheckLevel::kOutputs ? "outputs"
                                         : "none";
}

const char* name(Precision precision) {
  constexpr std::array kNames{"file", "int8", "float32"};
  return kNames.at(static_cast<std::size_t>(precision));
}

const char* name(Accumulate accumulate) {
  return accumulate == Accumulate::kDevice ? "device" : "host";
}

NetworkQuality network_quality(const MatrixF& exact, const MatrixF& found) {
  const auto equal = static_cast<std::uint64_t>(
      std::llround(top1_agreement(exact, found) * static_cast<double>(exact.rows())));
  return {static_cast<std::uint64_t>(exact.rows()), equal, signal_to_noise_db(exact, found),
          signal_to_noise_db(centred(exact), centred(found))};
}

LayerReport layer_of(const RunReport& jobs, const std::string& name, const GemmShape& shape) {
  LayerReport layer = jobs.total();
  layer.name = name;
  layer.shape = shape;
  layer.padded = {shape.m, 0, jobs.layers.at(0).padded.n};
  layer.skipped = true;
  for (const LayerReport& job : jobs.layers) {
    layer.padded.k += job.padded.k;
    layer.skipped = layer.skipped && job.skipped;
  }
  set_utilization(layer, jobs.geometry, jobs.memory);
  const auto wrong = std::find_if(jobs.layers.begin(), jobs.layers.end(),
                                  [](const LayerReport& job) { return job.mismatches.count != 0; });
  if (wrong != jobs.layers.end()) {
    const std::uint64_t count = layer.mismatches.count;
    layer.mismatches = wrong->mismatches;
    layer.mismatches.count = count;
  }
  return layer;
}

std::vector<HostWait> waits_for(const std::vector<HostLayer>& between, std::uint32_t n) {
  std::map<std::string, HostWait> waits;
  for (const HostLayer& node : between) {
    if (node.values == 0) continue;
    HostWait& wait = waits[node.op_type];
    wait.op_type = node.op_type;
    ++wait.nodes;
    wait.values += node.values;
    wait.cycles += divide_up(node.values, n);
  }
  std::vector<HostWait> longest;
  for (const auto& [op_type, wait] : waits) longest.push_back(wait);
  std::stable_sort(longest.begin(), longest.end(),
                   [](const HostWait& a, const HostWait& b) { return a.cycles > b.cycles; });
  return longest;
}

LayerReport layer_of(const Job& job) {
  const Plan& plan = job.plan;
  LayerReport layer;
  layer.name = job.name;
  layer.shape = plan.shape;
  layer.padded = {plan.shape.m,
                  plan.lanes ? plan.shape.k : std::uint64_t{plan.k_tiles} * plan.array,
                  std::uint64_t{plan.n_tiles} * plan.array};
  layer.tiles = plan.tiles() * plan.row_blocks();
  layer.results = plan.results();
  return layer;
}

void set_place(LayerReport& layer, const JobProgram& list, std::size_t job) {
  if (!list.tensor_memory) return;
  layer.place = list.places[job].text();
  layer.on_chip = list.is_on_chip(job);
}

void set_strips(LayerReport& layer, std::uint32_t strips, std::uint32_t array) {
  layer.strips = strips;
  layer.published = published_cycles(layer.shape, array, layer.convolution->groups);
}

void set_utilization(LayerReport& layer, const Geometry& geometry, const MemoryTiming& memory) {
  if (!layer.overlapped) set_utilization(layer, layer.shape.macs(), geometry, memory);
}

bool RunReport::timed() const {
  return std::any_of(layers.begin(), layers.end(), [](const LayerReport& layer) {
    return layer.counters[counter::kTotalClocks] != 0;
  });
}

bool RunReport::in_float32() const {
  return host_only || precision == Precision::kFloat32 || layers_of(Arithmetic::kSlices) != 0;
}

std::uint64_t RunReport::layers_of(Arithmetic arithmetic) const {
  return static_cast<std::uint64_t>(std::count_if(
      layers.begin(), layers.end(),
      [arithmetic](const LayerReport& layer) { return layer.arithmetic == arithmetic; }));
}

std::uint64_t RunReport::device_macs() const {
  std::uint64_t macs = 0;
  for (const LayerReport& layer : layers) macs += layer.shape.macs();
  return macs;
}

std::uint64_t RunReport::all_macs() const {
  std::uint64_t macs = device_macs();
  for (const HostLayer& layer : host_layers) macs += layer.macs;
  return macs;
}

bool RunReport::is_checked(std::size_t counter) const {
  return one_program || chained ? predictable() : is_checked_in_all(counter);
}

bool RunReport::is_checked_in_all(std::size_t counter) const {
  return predictable() || (timed() && std::string_view(kCounters[counter].engine) == "bytes");
}

bool RunReport::held() const {
  if (layers.empty() || !problems.empty() || !error.empty() || !impossible().empty()) return false;
  if (outputs.mismatches != 0) return false;
  const LayerReport all = total();
  for (std::size_t i = 0; i < all.counters.size(); ++i) {
    if (is_checked_in_all(i) && all.counters[i] != all.predicted[i]) return false;
  }
  if (predictable() && !(all.dram == all.predicted_dram)) return false;
  return std::all_of(layers.begin(), layers.end(), [this](const LayerReport& layer) {
    const bool bounded = layer.error_bound == 0 || layer.max_abs_error <= layer.error_bound;
    if (layer.mismatches.count != 0 || !bounded) return false;
    for (std::size_t i = 0; i < layer.counters.size(); ++i) {
      if (is_checked(i) && layer.counters[i] != layer.predicted[i]) return false;
    }
    return true;
  });
}

std::vector<std::string> RunReport::impossible() const {
  std::vector<std::string> lines;
  double most = 1;
  for (const LayerReport& layer : layers) {
    add_impossible(layer, layer.name, most_of_array(layer, geometry), lines);
    most = std::max(most, most_of_array(layer, geometry));
  }
  const std::vector<LayerReport> sums = programs();
  if (sums.size() < layers.size()) {
    for (const LayerReport& program : sums) {
      add_impossible(program, fmt::format("program {}", program.program), most, lines);
    }
  }
  if (sums.size() > 1) add_impossible(total(), "total", most, lines);
  return lines;
}

std::vector<LayerReport> RunReport::programs() const {
  std::vector<LayerReport> sums;
  std::vector<std::uint64_t> macs;
  for (const LayerReport& layer : layers) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const LayerReport& program) {
      return one_program || (layer.program != 0 && program.program == layer.program);
    });
    if (same == sums.end()) {
      sums.push_back(layer);
      macs.push_back(layer.shape.macs());
      continue;
    }
    add(*same, layer);
    std::uint64_t& all = macs[static_cast<std::size_t>(same - sums.begin())];
    all += layer.shape.macs();
    set_utilization(*same, all, geometry, memory);
  }
  return sums;
}

LayerReport RunReport::total() const {
  LayerReport total;
  total.name = "total";
  for (const LayerReport& program : programs()) add(total, program);
  return total;
}

void add(LayerReport& sum, const LayerReport& layer) {
  const auto cycles = static_cast<double>(layer.counters[counter::kTotalClocks]);
  const double all = cycles + static_cast<double>(sum.counters[counter::kTotalClocks]);
  if (all != 0) {
    const double share = cycles / all;
    sum.utilization += (layer.utilization - sum.utilization) * share;
    sum.roofline_utilization += (layer.roofline_utilization - sum.roofline_utilization) * share;
  }
  sum.tiles += layer.tiles;
  for (std::size_t i = 0; i < sum.counters.size(); ++i) {
    sum.counters[i] += layer.counters[i];
    sum.predicted[i] += layer.predicted[i];
  }
  if (layer.on_device) {
    if (!sum.on_device) sum.on_device = Counters{};
    for (std::size_t i = 0; i < sum.counters.size(); ++i) {
      (*sum.on_device)[i] += (*layer.on_device)[i];
    }
  }
  sum.dram += layer.dram;
  sum.predicted_dram += layer.predicted_dram;
  sum.published.scale_sim_os += layer.published.scale_sim_os;
  sum.published.scale_sim_ws += layer.published.scale_sim_ws;
  sum.published.single_buffered += layer.published.single_buffered;
  sum.published.double_buffered += layer.published.double_buffered;
  sum.faults.insert(sum.faults.end(), layer.faults.begin(), layer.faults.end());
  sum.mismatches.count += layer.mismatches.count;
  sum.max_abs_error = std::max(sum.max_abs_error, layer.max_abs_error);
  sum.seconds += layer.seconds;
  sum.simulated_cycles += layer.simulated_cycles;
}

void add(OutputCheck& sum, const OutputCheck& more) {
  if (sum.mismatches == 0) sum.first = more.first;
  sum.values += more.values;
  sum.mismatches += more.mismatches;
}

void add_image(LayerReport& images, const LayerReport& image) {
  if (image.skipped) return;
  if (images.skipped) {
    images = image;
    return;
  }
  Mismatches first = images.mismatches;
  if (first.count == 0) {
    first = image.mismatches;
    first.first_row += static_cast<Eigen::Index>(images.shape.m);
  }
  first.count = images.mismatches.count;  // add() counts
  images.mismatches = first;
  images.overlapped = images.overlapped || image.overlapped;
  // An error and what bounds it stay together: those that are worse.
  const bool within = image.error_bound == 0 || image.max_abs_error <= image.error_bound;
  if (!within || image.error_bound > images.error_bound) images.error_bound = image.error_bound;
  const double error =
      !within ? image.max_abs_error : std::max(images.max_abs_error, image.max_abs_error);
  add(images, image);
  images.max_abs_error = error;
  images.shape.m += image.shape.m;
  images.padded.m += image.padded.m;
  images.packed_bytes += image.packed_bytes;
}

}  // namespace gemm64
