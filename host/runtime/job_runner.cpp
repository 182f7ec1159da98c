// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/job_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <stdexcept>
#include <utility>

#include "host/cycles/cycle_model.hpp"
#include "host/cycles/program_prediction.hpp"
#include "host/numerics/reference.hpp"
#include "host/runtime/simulated_cycles.hpp"
#include "host/runtime/wall_clock.hpp"
#include "host/tiling/packing.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// Seconds of processor time that this thread has had. A simulation is measured by it: other work
/// of the machine meanwhile, this program's included, does not count.
double thread_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

JobRunner::JobRunner(Device& device, Driver& driver, const RunOptions& options)
    : device_(device), driver_(driver), options_(options) {}

Job JobRunner::job(const std::string& name, const GemmShape& shape, const Output& output) const {
  Job job = make_job(name, shape, options_.accumulate, driver_.geometry(), output);
  driver_.check_fits(job);
  return job;
}

Job JobRunner::job(const std::string& name, const Convolution& convolution,
                   const Output& output) const {
  Job job = make_job(name, convolution, driver_.geometry(), output);
  driver_.check_fits(job);
  return job;
}

void JobRunner::announce(const std::vector<Job>& jobs) const {
  for (JobObserver* observer : options_.observers) observer->announce(jobs);
}

RunReport JobRunner::report(const std::string& model, std::uint64_t batch) const {
  RunReport report;
  report.model = model;
  report.device = device_.name();
  report.check = options_.check;
  report.precision = options_.precision;
  report.accumulate = options_.accumulate;
  report.batch = batch;
  report.geometry = driver_.geometry();
  report.memory = options_.memory;
  report.one_program = options_.one_program;
  return report;
}

std::optional<std::size_t> JobRunner::wrong_counter(const LayerReport& layer, bool chained) const {
  RunReport single;
  single.memory = options_.memory;
  single.chained = chained;
  single.layers = {layer};
  for (std::size_t i = 0; i < layer.counters.size(); ++i) {
    if (single.is_checked(i) && layer.counters[i] != layer.predicted[i]) return i;
  }
  return std::nullopt;
}

void JobRunner::look_again(const JobRun& run, Failure failure, const ProgressShare& progress) {
  if (failure_ || !options_.investigate) return;
  failure.product = run.job.name;
  failure.index = jobs_ - 1;
  failure.shape = run.job.plan.shape;
  failure.first_clock = first_clock_;
  progress.report("looking again at " + failure.product, 1);
  options_.investigate(run, failure);
  failure_ = std::move(failure);
}

/// From reset, so that a job depends on nothing before it and can be run again by itself.
void JobRunner::begin_on_device() {
  if (options_.only) {
    first_clock_ = options_.only->first_clock;
    options_.only->reset_at(first_clock_);
  } else {
    first_clock_ = device_.cycles();
    device_.reset();
  }
}

template <class Work>
void JobRunner::begin_again(const Work& work) {
  for (JobObserver* observer : options_.observers) observer->end(device_.cycles());
  first_clock_ = device_.cycles();
  device_.reset();
  for (JobObserver* observer : options_.observers) observer->begin(work, first_clock_);
}

LayerFault JobRunner::layer_fault(const Job& job, std::size_t command,
                                  const FoundFault& fault) const {
  if (fault.error == GEMM64_ERROR_NONE) {
    return {LayerFault::kRegister, register_name(fault.offset), {}, 0, first_clock_, fault.clock};
  }
  const char* const error = gemm64_error_name(fault.error);
  if (fault.error == GEMM64_ERROR_PARITY) {
    return {error, gemm64_memory_name(fault.memory), {}, fault.word, first_clock_, fault.clock};
  }
  return {error,     "",           tile_of(job, command, fault.tile).value_or(TileIndex{}),
          fault.row, first_clock_, fault.clock};
}

void JobRunner::look_again(const LayerReport& layer, const JobRun& run,
                           const ProgressShare& progress) {
  Failure failure;
  const bool chained = run.list != nullptr && run.list->jobs.size() > 1;
  if (layer.mismatches.count != 0) {
    failure.mismatches = layer.mismatches;
  } else if (const auto wrong = wrong_counter(layer, chained)) {
    failure.counter =
        fmt::format("{}.{} is {}, predicted {}", kCounters[*wrong].engine, kCounters[*wrong].cause,
                    layer.counters[*wrong], layer.predicted[*wrong]);
  } else {
    return;
  }
  look_again(run, std::move(failure), progress);
}

GemmResult JobRunner::run_on_device(const JobRun& run, const ProgressShare& progress) {
  const Job& job = run.job;
  begin_on_device();
  for (JobObserver* observer : options_.observers) observer->begin(job, first_clock_);
  GemmResult result;
  CountedCycles cycles(device_.cycles());
  try {
    result = driver_.run(
        job, run.packed, run.a,
        [&](double part) {
          cycles.note(device_.cycles());
          progress.report(job.name, part);
        },
        [&](const FoundFault& fault) {
          begin_again(job);
          faults_.push_back(layer_fault(job, fault.command, fault));
        });
  } catch (const DeviceError& error) {
    for (JobObserver* observer : options_.observers) observer->end(device_.cycles());
    Failure failure;
    failure.error = error.what();
    look_again(run, std::move(failure), progress);
    if (!failure_) throw;
    std::string message = fmt::format("{}\n{}", error.what(), describe(*failure_));
    message.pop_back();  // its last line end
    throw DeviceError(message);
  }
  for (JobObserver* observer : options_.observers) observer->end(device_.cycles());
  return result;
}

LayerReport JobRunner::run(const Job& job, const MatrixI8& a, const MatrixI8& w, MatrixI32& sums,
                           const ProgressShare& progress) {
  const Geometry& geometry = driver_.geometry();
  const Plan& plan = job.plan;
  LayerReport layer = layer_of(job);
  progress.report(job.name, 0);
  const bool is_compared = options_.check == CheckLevel::kLayers || options_.one_program;
  const std::size_t index = jobs_++;
  if (options_.one_program) {
    layer.published = published_cycles(plan.shape, geometry.n);
    MatrixI32 expected = reference_gemm(a, w);
    sums = expected;
    ProgramLayer listed;
    listed.job = job;
    listed.a = a;
    listed.w = w;
    listed.expected = std::move(expected);
    listed_.push_back({std::move(listed), pack_weights(job, w), {}});
    return layer;
  }
  if (options_.only && options_.only->index != index) {
    sums = is_compared ? reference_gemm(a, w) : MatrixI32();
    layer.skipped = true;
    return layer;
  }
  // On another core while this one simulates; later on this one if no thread can be started.
  std::future<MatrixI32> expected;
  if (is_compared) expected = std::async([&a, &w] { return reference_gemm(a, w); });
  layer.published = published_cycles(plan.shape, geometry.n);
  const Prediction predicted =
      predict(job.program, geometry, options_.memory, {}, {job.layout.ring});
  layer.predicted = predicted.counters;
  layer.predicted_dram = predicted.dram;
  if (plan.accumulate == Accumulate::kHost) {
    layer.on_device =
        predict_counters(make_job(job.name, plan.shape, Accumulate::kDevice, geometry).program,
                         geometry, options_.memory);
  }

  const SharedBytes packed = pack_weights(job, w);
  const JobRun run{job, packed, a, w};
  const double begin = thread_seconds();
  GemmResult result = run_on_device(run, progress);
  layer.seconds = thread_seconds() - begin;
  layer.simulated_cycles = device_.cycles() - first_clock_;
  layer.counters = result.counters;
  layer.dram = device_.dram_counts();
  layer.faults = std::exchange(faults_, {});
  progress.report(job.name, 1);
  if (is_compared) layer.mismatches = compare(expected.get(), result.sums);
  look_again(layer, run, progress);
  set_utilization(layer, geometry, options_.memory);
  sums = std::move(result.sums);
  return layer;
}

void JobRunner::finish(std::vector<LayerReport>& layers, const ProgressShare& progress) {
  if (listed_.empty()) return;
  jobs_ = 0;
  run_list(listed_, layers, progress, nullptr);
  listed_.clear();
}

namespace {

/// What the host's own operators gave and the reference's formula are two opinions.
void check_expected(const Job& job, std::uint32_t together, const MatrixI8& a, const MatrixI8& w,
                    const std::vector<std::int32_t>& bias, const std::vector<float>& scale,
                    const MatrixI32& expected) {
  const Plan& plan = job.plan;
  const Output& output = plan.output;
  if (plan.convolution() != nullptr || !output.format.takes_parameters() || output.vector) return;
  const auto rows = static_cast<Eigen::Index>(plan.product_rows() / together);
  const auto columns = static_cast<std::ptrdiff_t>(plan.shape.n / together);
  for (std::ptrdiff_t i = 0; i < expected.rows() / rows; ++i) {
    const auto own = [first = i * columns, columns](const auto& of_all) {
      return std::vector(of_all.begin() + first, of_all.begin() + first + columns);
    };
    const MatrixI32 sums =
        reference_gemm(a.middleRows(i * rows, rows), w.middleRows(i * columns, columns));
    const MatrixI32 reference =
        reference_requantize(sums, own(bias), own(scale), output.zero, output.low, output.high);
    if (compare(reference, expected.middleRows(i * rows, rows)).count != 0) {
      throw std::logic_error(job.name + ": the host's results are not the reference's");
    }
  }
}

/// Returns the name of the layer whose weights are read when `part` of all are.
std::string layer_at(const std::vector<Job>& jobs, const ProgramPrediction& predicted,
                     double part) {
  double all = 0;
  for (const Counters& layer : predicted.layers) {
    all += static_cast<double>(layer[counter::kBytesWeights]);
  }
  double read = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    read += static_cast<double>(predicted.layers[i][counter::kBytesWeights]);
    if (read > part * all) return jobs[i].name;
  }
  return jobs.back().name;
}

}  // namespace

/// Fills in what a list's layers must give.
void JobRunner::expect(std::vector<Listed>& listed, const Expectations& expectations) {
  for (Listed& one : listed) {
    if (one.by_reference) one.layer.expected = reference_gemm(one.layer.a, one.layer.w);
  }
  if (!expectations) return;
  std::vector<LayerExpectation> all = expectations();
  for (std::size_t i = 0; i < listed.size(); ++i) {
    listed[i].layer.expected = std::move(all.at(i).expected);
    listed[i].layer.expect = std::move(all.at(i).expect);
  }
}

ProgramResults JobRunner::run_program(std::vector<ProgramLayer> layers,
                                      const ProgressShare& progress,
                                      const Expectations& expectations) {
  ProgramResults results;
  std::vector<Listed> list;
  for (ProgramLayer& layer : layers) {
    results.layers.push_back(layer_of(layer.job));
    results.layers.back().published = published_cycles(layer.job.plan);
    if (layer.products.m != 0) results.layers.back().shape = layer.products;
    if (layer.shared_tiles) {
      const auto count = static_cast<std::uint32_t>(layer.shared_tiles->all);
      results.layers.back().published =
          published_cycles({layer.products.m / count, layer.products.k, layer.products.n * count},
                           geometry().n, count);
    }
    layer.job.source = layer.source;
    layer.job.operand = layer.operand;
    SharedBytes packed =
        layer.packed != nullptr ? layer.packed->weights : pack_weights(layer.job, layer.w);
    std::vector<std::uint8_t> parameters;
    if (layer.packed != nullptr) {
      parameters = layer.packed->parameters;
    } else if (layer.job.plan.results().takes_parameters()) {
      parameters = pack_parameters(layer.job, layer.bias, layer.scale, layer.table);
    }
    const bool by_reference = !expectations && layer.expected.size() == 0 && !layer.source &&
                              options_.check == CheckLevel::kLayers &&
                              !layer.job.plan.results().takes_parameters();
    list.push_back({std::move(layer), std::move(packed), std::move(parameters), by_reference});
  }
  if (options_.only && options_.only->index - jobs_ >= list.size()) {
    jobs_ += list.size();
    for (LayerReport& report : results.layers) report.skipped = true;
    expect(list, expectations);
    for (Listed& one : list) {
      results.values.push_back(one.by_reference ? std::move(one.layer.expected) : MatrixI32());
    }
    return results;
  }
  ListResults found = run_list(list, results.layers, progress, expectations);
  results.values = std::move(found.values);
  results.waited = found.waited;
  return results;
}

JobRunner::ListResults JobRunner::run_list(std::vector<Listed>& listed,
                                           std::vector<LayerReport>& layers,
                                           const ProgressShare& progress,
                                           const Expectations& expectations) {
  const Geometry& geometry = driver_.geometry();
  std::vector<Job> jobs;
  std::vector<JobOperands> operands;
  for (const Listed& one : listed) {
    jobs.push_back(one.layer.job);
    operands.push_back({one.packed, one.layer.a, &one.parameters, &one.layer.operands});
  }
  const JobProgram list = make_job_program(jobs, geometry);
  const ProgramPrediction predicted = predict_program(list, geometry, options_.memory);

  // On another core while this one simulates; later on this one if no thread can be started.
  std::future<void> expecting;
  const bool by_reference =
      std::any_of(listed.begin(), listed.end(), [](const Listed& one) { return one.by_reference; });
  if (by_reference || expectations) {
    expecting = std::async([&] { expect(listed, expectations); });
  }
  begin_on_device();
  for (JobObserver* observer : options_.observers) observer->begin(list, first_clock_);
  const auto end = [this] {
    for (JobObserver* observer : options_.observers) observer->end(device_.cycles());
  };
  const double begin = thread_seconds();
  CountedCycles cycles(device_.cycles());
  std::vector<GemmResult> results;
  try {
    results = driver_.run(
        list, operands,
        [&](double part) {
          cycles.note(device_.cycles());
          progress.report(layer_at(jobs, predicted, part), part);
        },
        [&](const FoundFault& fault) {
          begin_again(list);
          const CommandOrigin& origin = list.origins.at(fault.command);
          layers.at(origin.job)
              .faults.push_back(layer_fault(list.jobs.at(origin.job), origin.command, fault));
        });
  } catch (const DeviceError&) {
    end();
    throw;
  }
  const double seconds = thread_seconds() - begin;
  end();
  for (std::size_t i = 0; i < listed.size(); ++i) set_place(layers.at(i), list, i);
  layers.front().dram = device_.dram_counts();
  layers.front().predicted_dram = predicted.dram;

  // Where the device counted from fence to fence what was predicted, the cycles of each layer's
  // tiles are those predicted, too; otherwise they are not counted.
  const bool timed = results.back().counters[counter::kTotalClocks] != 0;
  bool divided = true;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    divided = divided && (!timed || results[i].counters == predicted.between_fences[i]);
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    LayerReport& layer = layers.at(i);
    layer.overlapped = (!divided && listed.size() > 1) || list.is_in_stripes(i);
    layer.predicted = divided ? predicted.layers[i] : predicted.between_fences[i];
    layer.counters = divided && timed ? layer.predicted : results[i].counters;
    set_utilization(layer, geometry, options_.memory);
  }
  // Of processor time each has the part that it has of the cycles.
  double total = 0;
  for (const LayerReport& layer : layers) {
    total += static_cast<double>(layer.counters[counter::kTotalClocks]);
  }
  for (std::size_t i = 0; i < listed.size() && total != 0; ++i) {
    const std::uint64_t own = layers[i].counters[counter::kTotalClocks];
    layers[i].simulated_cycles = own;
    layers[i].seconds = seconds * static_cast<double>(own) / total;
  }
  ListResults found;
  if (expecting.valid()) {
    const auto waiting = WallClock::now();
    expecting.get();
    found.waited = seconds_since(waiting);
  }
  found.values = check_list(listed, list, operands, std::move(results), layers, progress);
  return found;
}

namespace {

/// The results that a job reads of job `from`: its own, or where they are a part of a map, `all` of
/// that, which this fills in.
const MatrixI32& results_read(const JobProgram& list, const std::vector<GemmResult>& results,
                              std::size_t from, MatrixI32& all) {
  const Job& giver = list.jobs[from];
  if (!giver.map) return results[from].sums;
  all = MatrixI32::Zero(static_cast<Eigen::Index>(giver.plan.result_rows()),
                        static_cast<Eigen::Index>(giver.plan.result_columns()));
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    if (list.jobs[i].map != giver.map) continue;
    const ResultPart& part = *list.jobs[i].plan.output.part;
    all.block(static_cast<Eigen::Index>(part.first_row), static_cast<Eigen::Index>(part.first),
              results[i].sums.rows(), results[i].sums.cols()) = results[i].sums;
  }
  return all;
}

/// Of all that a job's source gave, what it reads.
MatrixI8 read_by(const Job& job, const MatrixI32& given) {
  const auto columns = static_cast<Eigen::Index>(job.plan.activation_columns());
  const auto first = static_cast<Eigen::Index>(job.source_tile * job.plan.array);
  const auto row = static_cast<Eigen::Index>(job.source_row.value_or(0));
  const auto rows =
      job.source_row ? static_cast<Eigen::Index>(job.plan.convolution()->pixels()) : given.rows();
  return given.block(row, first, rows, columns).cast<std::int8_t>();
}

}  // namespace

/// Compares the results of a list, each layer's with what it must be for what its source gave. What
/// stays on the chip counts as expected: an error in it shows in what reads it.
std::vector<MatrixI32> JobRunner::check_list(const std::vector<Listed>& listed,
                                             const JobProgram& list,
                                             const std::vector<JobOperands>& operands,
                                             std::vector<GemmResult> results,
                                             std::vector<LayerReport>& layers,
                                             const ProgressShare& progress) {
  std::vector<bool> differs;  // from what was expected ahead
  for (std::size_t i = 0; i < listed.size(); ++i) {
    LayerReport& layer = layers.at(i);
    const ProgramLayer& one = listed[i].layer;
    if (list.is_on_chip(i)) results[i].sums = one.expected;
    for (const std::uint32_t gap : one.gaps) results[i].sums.col(gap).setZero();
    const bool is_compared = one.expected.size() != 0;
    const std::optional<std::size_t>&source = one.job.source, &operand = one.job.operand;
    MatrixI8 read;  // what it took from its source
    const auto is_other = [&](const std::optional<std::size_t>& from) {
      if (!from) return false;
      bool other = false;
      for (std::size_t j = 0; j < i; ++j) {
        const auto& map = listed[*from].layer.job.map;
        if (j == *from || (map && listed[j].layer.job.map == map)) other = other || differs[j];
      }
      return other;
    };
    MatrixI32 source_map, operand_map;
    const auto given = [&](const std::optional<std::size_t>& from, MatrixI32& map) {
      return from ? &results_read(list, results, *from, map) : nullptr;
    };
    if (source && is_compared) read = read_by(one.job, *given(source, source_map));
    const MatrixI8& a = source ? read : one.a;
    if (is_compared) {
      const bool others = one.expect && (is_other(source) || is_other(operand));
      const MatrixI32 other =
          others ? one.expect(given(source, source_map), given(operand, operand_map)) : MatrixI32();
      const MatrixI32& expected = others ? other : one.expected;
      const auto& shared = one.shared_tiles;
      check_expected(one.job, shared ? shared->together : 1, a, one.w, one.bias, one.scale,
                     expected);
      const auto differing = [&](const MatrixI32& own) {
        const MatrixI32& all = results[i].sums;
        return shared ? compare(shared->with_own(one.job.plan, own, all), all) : compare(own, all);
      };
      layer.mismatches = differing(expected);
      differs.push_back(others ? differing(one.expected).count != 0 : layer.mismatches.count != 0);
    } else {
      differs.push_back(true);
    }
    ++jobs_;
    const auto* const parameters = listed[i].parameters.empty() ? nullptr : &listed[i].parameters;
    look_again(layer, {list.jobs[i], listed[i].packed, a, one.w, parameters, &list, &operands, i},
               progress);
  }
  std::vector<MatrixI32> values(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (list.is_on_chip(i) || (!differs[i] && !listed[i].by_reference)) continue;
    const auto& shared = listed[i].layer.shared_tiles;
    values[i] = shared ? shared->own(listed[i].layer.job.plan, results[i].sums)
                       : std::move(results[i].sums);
  }
  return values;
}

}  // namespace gemm64
