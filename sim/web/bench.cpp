// SPDX-License-Identifier: Apache-2.0
#include "sim/web/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/cycles/cycle_model.hpp"
#include "host/device/fault.hpp"
#include "host/device/reference_device.hpp"
#include "host/util/error.hpp"

namespace gemm64::web {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 20;

std::unique_ptr<RtlDevice> make_device(int array, const MemoryTiming& memory) {
  RtlOptions options;
  options.n = array;
  options.memory_bytes = kMemoryBytes;
  options.memory = memory;
  options.debug = true;
  return make_rtl_device(options);
}

template <class T>
Json rows_of(const Matrix<T>& matrix) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    Json row = Json::array();
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) row.push_back(static_cast<int>(matrix(r, c)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::uint64_t> numbers(const Counters& counters) {
  return {counters.begin(), counters.end()};
}

}  // namespace

Bench::Bench(int array, const MemoryTiming& memory, const Json& work)
    : memory_(memory), device_(make_device(array, memory)) {
  driver_ = std::make_unique<Driver>(*device_, Timeouts{memory.latency, 0});
  work_ = make_work(work, driver_->geometry());
  driver_->write_operands(work_.list, work_.for_driver());

  std::size_t end = 0;
  const NamedSignals signals = device_->signals();
  for (const auto& [name, signal] : signals) {
    const std::size_t bytes = signal.bytes * std::max<std::size_t>(1, signal.words);
    shown_.push_back({name, signal, end});
    end += (bytes + 7) / 8 * 8;
  }
  view_.resize(end);
  for (const Shown& one : shown_) {
    if (one.signal.words == 0 && one.signal.bytes <= 4) small_.push_back(&one);
  }
  block_done_ = find("block_done");
  past_.resize(kPast * (kPastHead + small_.size()));
  const std::uint64_t jobs = work_.list.jobs.size();
  trail_ =
      std::make_unique<PortTrail>(signals, driver_->geometry().n, work_.list.snapshots,
                                  work_.list.snapshots + (jobs - 1) * work_.list.snapshot_bytes);
  device_->observe(*this);
  driver_->start_program(work_.list.ring, work_.list.program);
}

void Bench::look() {
  for (const Shown& one : shown_) {
    std::memcpy(view_.data() + one.offset, one.signal.data,
                one.signal.bytes * std::max<std::size_t>(1, one.signal.words));
  }
}

void Bench::clock(std::uint64_t clock, const Probe& probe) {
  if (!watching_) return;
  const Events events = probe.events();
  const bool busy = (events & event_bit(counter::kTotalClocks)) != 0;
  if (busy && !first_busy_) first_busy_ = clock;
  last_clock_ = clock;
  for (Events left = events; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(__builtin_ctzll(left));
    live_[index] += index >= counter::kBytesWeights ? driver_->geometry().n : 1;
  }
  if ((events & event_bit(counter::kCommandsDispatch)) != 0) ++dispatched_;

  std::uint32_t* now = past_.data() + clock % kPast * (kPastHead + small_.size());
  *now++ = static_cast<std::uint32_t>(clock);
  *now++ = static_cast<std::uint32_t>(events);
  *now++ = static_cast<std::uint32_t>(events >> 32);
  stored_before_ = trail_->stored();
  const PortTrail::Addresses addresses = trail_->clock(clock);
  for (const std::uint32_t address : addresses) *now++ = address;
  if (block_ends_) ++blocks_;  // in the cycle before
  block_ends_ =
      block_done_ != nullptr && *static_cast<const std::uint8_t*>(block_done_->signal.data) != 0;
  for (const Shown* one : small_) {
    std::uint32_t value = 0;
    std::memcpy(&value, one->signal.data, one->signal.bytes);
    *now++ = value;
  }

  stop_now_ = false;
  if (stop_counter_ >= 0) stop_now_ = probe.counts(static_cast<std::size_t>(stop_counter_));
  if (stop_signal_ != nullptr) {
    std::uint64_t value = 0;
    std::memcpy(&value, stop_signal_->signal.data, stop_signal_->signal.bytes);
    stop_now_ = stop_now_ || value == stop_value_;
  }
  if (stop_port_ >= 0) {
    const std::uint64_t beat = addresses[static_cast<std::size_t>(stop_port_)];
    stop_now_ = stop_now_ || (beat != PortTrail::kNoBeat && stop_value_ >= beat &&
                              stop_value_ < beat + driver_->geometry().n);
  }
  if (look_now_ || stop_now_) look();
}

Bench::State Bench::step(std::uint64_t cycles) {
  if (state_ == State::kStopped) state_ = State::kGoing;
  stop_now_ = false;
  try {
    while (state_ == State::kGoing && cycles != 0) {
      look_now_ = --cycles == 0;
      device_->run(1);
      if (device_->interrupt()) {
        end();
      } else if (stop_now_) {
        state_ = State::kStopped;
      }
    }
  } catch (const DeviceError& error) {
    fail(error.what());
  } catch (const std::logic_error& broken_rule) {
    if (!flipped_) throw;
    fail(broken_rule.what());  // the device broke a rule of its ports, for a bit of it is wrong
  }
  return state_;
}

void Bench::fail(const std::string& why) {
  failure_ = why;
  state_ = State::kFailed;
  look();
}

void Bench::end() {
  look_now_ = true;
  device_->run(1);    // the last cycle in which it is busy
  watching_ = false;  // what the driver reads now takes cycles that are not shown
  const bool ended = driver_->has_ended(work_.list.program, 1);
  counters_ = driver_->read_counters();
  for (const Job& job : work_.list.jobs) results_.push_back(driver_->read_results(job));
  state_ = ended ? State::kEnded : State::kFailed;
}

void Bench::stop_at(int counter, const std::string& signal, std::uint64_t value, int port) {
  if (port >= 3) throw UsageError(fmt::format("there is no port {}; give one from 0 to 2", port));
  if (counter >= static_cast<int>(kCounters.size())) {
    throw UsageError(fmt::format("there is no counter {}; give one from 0 to {}", counter,
                                 kCounters.size() - 1));
  }
  const Shown* const found = find(signal);
  if (!signal.empty() &&
      (found == nullptr || found->signal.words != 0 || found->signal.bytes > 8)) {
    throw UsageError(fmt::format("no signal of at most 64 bits is called '{}'", signal));
  }
  stop_counter_ = counter;
  stop_signal_ = found;
  stop_port_ = port;
  stop_value_ = value;
}

void Bench::flip(const std::string& said) {
  const Fault fault = parse_fault(fmt::format("{}@{}", said, device_->cycles() + 1));
  check_fault(fault, driver_->geometry());
  device_->inject(fault);
  flipped_ = true;
}

void Bench::flip(const std::string& signal, std::size_t word, std::size_t bit) {
  const Shown* const found = find(signal);
  if (found == nullptr || found->signal.writable_bits == 0) {
    throw UsageError(fmt::format("no register that is shown is called '{}'", signal));
  }
  const std::size_t words = std::max<std::size_t>(1, found->signal.words);
  if (word >= words || bit >= found->signal.writable_bits) {
    throw UsageError(fmt::format("{} has {} words of {} bits; there is no bit {} of word {}",
                                 signal, words, found->signal.writable_bits, bit, word));
  }
  // The device lends its registers to be read; those that say how many bits may be changed, to be
  // written too.
  auto* const bytes = static_cast<std::uint8_t*>(const_cast<void*>(found->signal.data));
  bytes[word * found->signal.bytes + bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  flipped_ = true;
}

const Bench::Shown* Bench::find(const std::string& name) const {
  const auto found = std::find_if(shown_.begin(), shown_.end(),
                                  [&name](const Shown& one) { return one.name == name; });
  return found == shown_.end() ? nullptr : &*found;
}

Json Bench::description() const {
  const Geometry& geometry = driver_->geometry();
  Json said;
  said["array"] = {{"n", geometry.n},
                   {"stage_rows", geometry.stage_rows},
                   {"scratchpad_words", geometry.scratchpad_words},
                   {"accumulator_rows", geometry.accumulator_rows},
                   {"weight_words", geometry.weight_tiles * geometry.n},
                   {"pipeline", geometry.pipeline()}};
  said["memory"] = {{"latency", memory_.latency},
                    {"sharing", memory_.word()},
                    {"bytes_per_cycle", memory_.bytes_per_cycle},
                    {"stalls", memory_.stall_probability}};
  Json& counters = said["counters"] = Json::array();
  for (const auto& one : kCounters) {
    counters.push_back({{"engine", one.engine}, {"cause", one.cause}, {"purpose", one.purpose}});
  }
  Json& commands = said["commands"] = Json::array();
  for (std::size_t i = 0; i < work_.list.program.size(); ++i) {
    commands.push_back(
        {{"text", to_string(work_.list.program[i])}, {"job", work_.list.origins[i].job}});
  }
  Json& jobs = said["jobs"] = Json::array();
  for (std::size_t i = 0; i < work_.list.jobs.size(); ++i) {
    const Job& job = work_.list.jobs[i];
    const Operands& operands = work_.operands[i];
    Json one = {{"name", job.name},
                {"m", job.plan.shape.m},
                {"k", job.plan.shape.k},
                {"n", job.plan.shape.n},
                {"rows", job.plan.groups.front().rows},  // of a block
                {"k_tiles", job.plan.k_tiles},
                {"n_tiles", job.plan.n_tiles},
                {"results", job.plan.results().name()},
                {"window", job.plan.window.has_value()},
                {"lanes", job.plan.lanes.has_value()},
                {"vector", job.plan.output.vector.has_value()},
                {"addresses",
                 {{"weights", job.layout.weights},
                  {"activations", job.layout.activations},
                  {"operands", job.layout.operands},
                  {"parameters", job.layout.parameters},
                  {"results", job.layout.results}}},
                {"w", rows_of(operands.weights)}};
    if (!job.source) one["a"] = rows_of(operands.activations);
    if (job.source) one["source"] = *job.source;
    if (const Convolution* const c = job.plan.convolution()) {
      one["convolution"] = {{"channels", c->channels},    {"height", c->height},
                            {"width", c->width},          {"out_width", c->out_width},
                            {"kernel", c->kernel_height}, {"stride", c->stride_height},
                            {"pad", c->pad_top}};
    }
    if (job.plan.lanes) one["lanes_kernel"] = job.plan.lanes->command().kernel_height;
    jobs.push_back(std::move(one));
  }
  MemoryTiming smooth = memory_;
  smooth.stall_probability = 0;
  said["predicted"] =
      numbers(predict_counters(work_.list.program, geometry, smooth, {work_.list.ring}));
  said["ring"] = work_.list.ring;
  said["command_bytes"] = kCommandBytes;
  said["predictable"] = memory_.predictable();
  Json& signals = said["signals"] = Json::array();
  for (const Shown& one : shown_) {
    signals.push_back(
        {one.name, one.offset, one.signal.bytes, one.signal.words, one.signal.writable_bits});
  }
  said["view_bytes"] = view_.size();
  said["past_head"] = kPastHead;
  said["past_words"] = kPastHead + small_.size();
  Json& small = said["small"] = Json::array();
  for (const Shown* one : small_) small.push_back(one->name);
  return said;
}

Json Bench::standing() const {
  static constexpr const char* kStates[] = {"going", "stopped", "ended", "failed"};
  Json said;
  said["state"] = kStates[static_cast<int>(state_)];
  said["clock"] = first_busy_ ? static_cast<std::int64_t>(last_clock_ - *first_busy_) : -1;
  said["device_clock"] = last_clock_;
  said["dispatched"] = dispatched_;
  said["stored"] = trail_->stored();
  said["stored_before"] = stored_before_;
  said["blocks"] = blocks_;
  said["counters"] = numbers(live_);
  if (!failure_.empty()) said["failure"] = failure_;
  return said;
}

std::vector<std::uint8_t> Bench::memory(std::uint64_t address, std::size_t bytes) {
  std::vector<std::uint8_t> held(bytes);
  device_->read_memory(address, held.data(), bytes);
  return held;
}

Json Bench::outcome() const {
  Json said;
  said["counters"] = numbers(counters_);
  said["clocks"] = counters_[counter::kTotalClocks];
  ReferenceDevice reference(driver_->geometry(), kMemoryBytes);
  Driver driver(reference);
  const std::vector<GemmResult> expected = driver.run(work_.list, work_.for_driver());
  Json& jobs = said["jobs"] = Json::array();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    jobs.push_back({{"results", rows_of(results_[i])},
                    {"wrong", (results_[i].array() != expected[i].sums.array()).count()},
                    {"expected", rows_of(expected[i].sums)}});
  }
  return said;
}

}  // namespace gemm64::web
