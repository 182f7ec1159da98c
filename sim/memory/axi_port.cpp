// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_port.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

std::string describe(const AxiAddress& a) {
  std::ostringstream text;
  text << "addr 0x" << std::hex << a.address << std::dec << ", len " << unsigned{a.length}
       << ", size " << unsigned{a.size} << ", burst " << unsigned{a.burst} << ", id "
       << unsigned{a.id};
  return text.str();
}

}  // namespace

AxiPort::AxiPort(std::string name, Memory& memory, unsigned width)
    : memory_(memory), width_(width), name_(std::move(name)), credit_(width) {
  if (width < kMinWidth || width > kMaxWidth || (width & (width - 1)) != 0) {
    throw UsageError("AXI port " + name_ + ": a width of " + std::to_string(width) +
                     " bytes; it must be a power of two from 2 to 64");
  }
  while ((1u << size_code_) < width) ++size_code_;
}

void AxiPort::set_latency(unsigned cycles) {
  if (cycles == 0)
    throw UsageError("AXI port " + name_ + ": latency 0; it must be at least 1 cycle");
  latency_ = cycles;
}

void AxiPort::set_bytes_per_cycle(unsigned bytes) {
  bytes_per_cycle_ = bytes >= width_ ? 0 : bytes;
  credit_ = width_;
  update_irregular();
}

void AxiPort::set_stalls(double probability, std::uint32_t seed) {
  if (!(probability >= 0 && probability < 1)) {
    throw UsageError("AXI port " + name_ + ": stall probability " + std::to_string(probability) +
                     "; it must be at least 0 and below 1");
  }
  stall_threshold_ =
      static_cast<std::uint32_t>(std::lround(probability * static_cast<double>(kDrawMask)));
  seed_ = seed;
  random_state_ = seed;
  stalled_ = 0;
  update_irregular();
}

void AxiPort::share(MemoryArbiter& arbiter) {
  arbiter_ = &arbiter;
  arbiter_port_ = arbiter.join();
  update_irregular();
}

void AxiPort::share(DramController& dram, bool writes) {
  dram_ = &dram;
  dram_port_ = dram.join(writes);
  update_irregular();
}

void AxiPort::update_irregular() {
  irregular_ =
      bytes_per_cycle_ != 0 || stall_threshold_ != 0 || arbiter_ != nullptr || dram_ != nullptr;
}

void AxiPort::clear_statistics() {
  statistics_base_ += statistics_.bursts;  // fault and hang indices stay what they were
  statistics_ = AxiPortStatistics{};
}

void AxiPort::reset_base() {
  address_waits_ = false;
  credit_ = width_;
  random_state_ = seed_;
  stalled_ = 0;
  hang_from_ = kNever;
  faults_.clear();
  upset_ = false;
  upsets_ = {};
}

void AxiPort::add_fault(std::uint64_t index, unsigned beat, AxiResponse response) {
  faults_.push_back({statistics_base_ + statistics_.bursts + index, beat, response});
}

AxiPort::Fault AxiPort::take_fault() {
  if (faults_.empty()) return {};
  const std::uint64_t burst = statistics_base_ + statistics_.bursts;
  const auto found = std::find_if(faults_.begin(), faults_.end(),
                                  [burst](const Fault& fault) { return fault.burst == burst; });
  if (found == faults_.end()) return {};
  const Fault fault = *found;
  faults_.erase(found);
  return fault;
}

void AxiPort::fill_with_noise(std::uint8_t* bytes) {
  for (unsigned i = 0; i < kMaxWidth; i += 8) {
    const std::uint64_t noise = random();
    std::memcpy(bytes + i, &noise, sizeof noise);
  }
}

void AxiPort::fail(const std::string& rule) const {
  throw std::logic_error("AXI port " + name_ + ", cycle " + std::to_string(clock_) + ": " + rule);
}

void AxiPort::fail_dropped(const char* channel) const {
  fail(std::string(channel) + "valid dropped before " + channel + "ready");
}

void AxiPort::fail_changed(const char* channel, const AxiAddress& now) const {
  fail(std::string(channel) + " payload changed before " + channel + "ready: was (" +
       describe(waiting_address_) + "), is (" + describe(now) + ")");
}

void AxiPort::fail_address(const char* channel, const AxiAddress& a) const {
  const unsigned beats = a.length + 1u;
  std::string rule;
  if (beats > kMaxBeats) {
    rule = "burst of " + std::to_string(beats) + " beats; at most " + std::to_string(kMaxBeats);
  } else if (a.size != size_code_) {
    rule = "size code " + std::to_string(a.size) + "; full-width beats have " +
           std::to_string(size_code_);
  } else if (a.burst != 1) {
    rule = "burst type " + std::to_string(a.burst) + "; must be 1 (INCR)";
  } else if ((a.address & (width_ - 1)) != 0) {
    rule = "address not aligned to the beat of " + std::to_string(width_) + " bytes";
  } else {
    rule = "burst crosses a " + std::to_string(kBoundary) + "-byte boundary";
  }
  fail(std::string(channel) + " " + rule + " (" + describe(a) + ")");
}

}  // namespace gemm64
