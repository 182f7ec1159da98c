// SPDX-License-Identifier: Apache-2.0
#include "sim/web/port_trail.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gemm64::web {
namespace {

constexpr std::uint64_t kActivationsId = 1, kOperandsId = 3;  // of readers, as in rtl_device.cpp

std::uint64_t value(const SignalView& signal) {
  std::uint64_t found = 0;
  std::memcpy(&found, signal.data, std::min(sizeof found, signal.bytes));
  return found;
}

/// The signal of that name; one without data where there is none.
SignalView find(const NamedSignals& signals, const std::string& name) {
  const auto found = std::find_if(signals.begin(), signals.end(),
                                  [&name](const auto& one) { return one.first == name; });
  return found == signals.end() ? SignalView{} : found->second;
}

}  // namespace

PortTrail::PortTrail(const NamedSignals& signals, std::uint32_t width, std::uint64_t snapshots,
                     std::uint64_t snapshots_end)
    : width_(width), snapshots_(snapshots), snapshots_end_(snapshots_end) {
  const auto port = [&signals](const std::string& name) {
    const auto of = [&](const char* signal) { return find(signals, name + signal); };
    return ReadPort{of("arvalid_o"), of("arready_i"), of("araddr_o"),
                    of("arlen_o"),   of("arid_o"),    of("rvalid_i"),
                    of("rready_o"),  of("rid_i"),     {}};
  };
  weights_ = port("m_weights_");
  data_ = port("m_data_");
  const auto of = [&signals](const char* signal) {
    return find(signals, std::string("m_results_") + signal);
  };
  awvalid_ = of("awvalid_o");
  awready_ = of("awready_i");
  awaddr_ = of("awaddr_o");
  awlen_ = of("awlen_o");
  wvalid_ = of("wvalid_o");
  wready_ = of("wready_i");
  const auto words = [&](const std::string& memory) {
    return find(signals, memory + ".memory_q").words;
  };
  const auto buffer = [&](const char* name, const char* write, const char* memory) {
    buffers_.push_back({name, find(signals, write), std::vector<Filled>(words(memory))});
  };
  buffer("weights", "u_weights.write_q", "u_weights.u_buffer");
  const std::string scratchpad = "u_activations.u_scratchpad.";
  buffers_.push_back(
      {"scratchpad", find(signals, "u_activations.write_place"),
       std::vector<Filled>(words(scratchpad + "u_first") + words(scratchpad + "banks.u_second"))});
  buffer("operands", "u_output.u_operands.write_q", "u_output.u_operands.u_buffer");
}

std::uint32_t PortTrail::read(ReadPort& port) {
  std::uint32_t address = kNoBeat;
  std::deque<Burst>& bursts = port.bursts[value(port.rid) % port.bursts.size()];
  if (value(port.rvalid) != 0 && value(port.rready) != 0 && !bursts.empty()) {
    Burst& burst = bursts.front();
    address = std::exchange(burst.next, burst.next + width_);
    if (--burst.left == 0) bursts.pop_front();
  }
  if (value(port.arvalid) != 0 && value(port.arready) != 0) {
    port.bursts[value(port.arid) % port.bursts.size()].push_back(
        {static_cast<std::uint32_t>(value(port.araddr)),
         static_cast<std::uint32_t>(value(port.arlen)) + 1});
  }
  return address;
}

std::uint32_t PortTrail::write() {
  if (value(awvalid_) != 0 && value(awready_) != 0) {
    Burst burst{static_cast<std::uint32_t>(value(awaddr_)),
                static_cast<std::uint32_t>(value(awlen_)) + 1};
    if (burst.next >= snapshots_ && burst.next < snapshots_end_) stored_ -= early_;
    burst.next += early_ * width_;
    burst.left -= std::exchange(early_, 0);
    if (burst.left != 0) writes_.push_back(burst);
  }
  if (value(wvalid_) == 0 || value(wready_) == 0) return kNoBeat;
  if (writes_.empty()) {
    ++early_;
    ++stored_;
    return kNoBeat;
  }
  Burst& burst = writes_.front();
  const std::uint32_t address = std::exchange(burst.next, burst.next + width_);
  if (address < snapshots_ || address >= snapshots_end_) ++stored_;
  if (--burst.left == 0) writes_.pop_front();
  return address;
}

void PortTrail::fill(Buffer& buffer, std::uint32_t address, std::uint64_t clock) {
  if (buffer.write.data == nullptr || address == kNoBeat) return;
  const std::uint64_t word = value(buffer.write);
  if (word < buffer.words.size()) buffer.words[word] = {address, clock};
}

PortTrail::Addresses PortTrail::clock(std::uint64_t clock) {
  const std::uint64_t reader = value(data_.rid);
  const Addresses addresses{read(weights_), read(data_), write()};
  fill(buffers_[0], addresses[0], clock);
  if (reader == kActivationsId) fill(buffers_[1], addresses[1], clock);
  if (reader == kOperandsId) fill(buffers_[2], addresses[1], clock);
  return addresses;
}

std::array<std::vector<PortTrail::Burst>, 3> PortTrail::under_way() const {
  std::array<std::vector<Burst>, 3> found;
  const auto add = [](std::vector<Burst>& to, const std::deque<Burst>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const auto& bursts : weights_.bursts) add(found[0], bursts);
  for (const auto& bursts : data_.bursts) add(found[1], bursts);
  add(found[2], writes_);
  return found;
}

const std::vector<PortTrail::Filled>& PortTrail::filled(const std::string& buffer) const {
  static const std::vector<Filled> kNone;
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [&buffer](const Buffer& one) { return one.name == buffer; });
  return found == buffers_.end() ? kNone : found->words;
}

}  // namespace gemm64::web
