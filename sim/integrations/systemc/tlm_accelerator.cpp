// SPDX-License-Identifier: Apache-2.0
#include "gemm64/tlm_accelerator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/util/error.hpp"
#include "sim/integrations/systemc/engine.hpp"
#include "sim/integrations/systemc/timing.hpp"

namespace gemm64 {

/// The memory at the socket, as the device sees it.
class TlmAccelerator::BusMemory final : public DeviceMemory {
 public:
  explicit BusMemory(TlmAccelerator& accelerator) : accelerator_(accelerator) {}

  std::uint64_t size() const override { return std::uint64_t{1} << 32; }

  std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) override {
    std::uint64_t done = 0;
    while (done < bytes) {
      const std::uint64_t direct = pointer(address + done, false).second;
      if (direct == 0) break;
      done += std::min(direct, bytes - done);
    }
    if (done < bytes) {  // no pointers there: does it answer?
      std::uint8_t byte = 0;
      if (debug(address + done, &byte, 1) == 0) {
        if (answers(address + done)) tell_what_is_missing(address + done);
        return done;
      }
      scratch_.resize(bytes - done);
      done += debug(address + done, scratch_.data(), bytes - done);
    }
    return done;
  }

  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& scratch) override {
    const auto [direct, length] = pointer(address, false);
    if (length >= bytes) return direct;
    scratch.resize(bytes);
    accelerator_.transport(false, address, scratch.data(), nullptr, bytes);
    return scratch.data();
  }

  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override {
    const auto [direct, length] = pointer(address, true);
    if (length >= bytes) {
      std::memcpy(direct, data, bytes);
      return;
    }
    scratch_.assign(static_cast<const std::uint8_t*>(data),
                    static_cast<const std::uint8_t*>(data) + bytes);
    accelerator_.transport(true, address, scratch_.data(), nullptr, bytes);
  }

  /// Cycles that a read at `address` takes.
  std::uint64_t latency(std::uint64_t address) {
    std::uint8_t bytes[kCommandBytes];
    return accelerator_.transport(false, address, bytes, nullptr, sizeof bytes).second;
  }

  void forget() { regions_.clear(); }

 private:
  /// Where `address` is, and how many bytes follow it there; none where no pointer is granted.
  std::pair<std::uint8_t*, std::uint64_t> pointer(std::uint64_t address, bool write) {
    for (const tlm::tlm_dmi& region : regions_) {
      if (address < region.get_start_address() || address > region.get_end_address()) continue;
      if (write ? !region.is_write_allowed() : !region.is_read_allowed()) continue;
      return {region.get_dmi_ptr() + (address - region.get_start_address()),
              region.get_end_address() - address + 1};
    }
    tlm::tlm_generic_payload transaction;
    transaction.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    transaction.set_address(address);
    tlm::tlm_dmi region;
    region.init();
    if (!accelerator_.memory->get_direct_mem_ptr(transaction, region)) return {nullptr, 0};
    if (address < region.get_start_address() || address > region.get_end_address() ||
        (write ? !region.is_write_allowed() : !region.is_read_allowed())) {
      return {nullptr, 0};
    }
    regions_.push_back(region);
    return {region.get_dmi_ptr() + (address - region.get_start_address()),
            region.get_end_address() - address + 1};
  }

  std::uint64_t debug(std::uint64_t address, std::uint8_t* data, std::uint64_t bytes) {
    tlm::tlm_generic_payload transaction;
    transaction.set_command(tlm::TLM_READ_COMMAND);
    transaction.set_address(address);
    transaction.set_data_ptr(data);
    transaction.set_data_length(static_cast<unsigned>(bytes));
    return std::min<std::uint64_t>(bytes, accelerator_.memory->transport_dbg(transaction));
  }

  /// Does the memory take transactions of time, if no others?
  bool answers(std::uint64_t address) {
    std::uint8_t byte = 0;
    return accelerator_.transport(false, address, &byte, nullptr, 1).first == tlm::TLM_OK_RESPONSE;
  }

  /// Else it would look as if the target were absent.
  static void tell_what_is_missing(std::uint64_t address) {
    const std::string message = fmt::format(
        "TlmAccelerator: the memory at {:#x} answers b_transport, but neither get_direct_mem_ptr "
        "(DMI) nor transport_dbg, and one of them is needed to see how far it reaches; register "
        "one at its target socket, or use RtlAccelerator",
        address);
    SC_REPORT_ERROR("gemm64", message.c_str());
  }

  TlmAccelerator& accelerator_;
  std::vector<tlm::tlm_dmi> regions_;
  std::vector<std::uint8_t> scratch_;
};

namespace {

template <class Memory>
class TlmEngine final : public AcceleratorEngine {
 public:
  TlmEngine(const Geometry& geometry, const MemoryTiming& timing, Memory& memory)
      : device_(geometry, timing, memory), memory_(memory) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    return device_.read_register(offset);
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    if (offset == reg::kRingBaseLow) base_ = (base_ >> 32 << 32) | value;
    if (offset == reg::kRingBaseHigh) base_ = std::uint64_t{value} << 32 | (base_ & 0xffffffffu);
    if (offset == reg::kRingTail) {
      device_.set_latency(
          static_cast<std::uint32_t>(std::max<std::uint64_t>(memory_.latency(base_), 1)));
    }
    device_.write_register(offset, value);
  }
  std::uint64_t clock() const override { return device_.cycles(); }
  bool interrupt() const override { return device_.interrupt(); }
  void run(std::uint64_t clock) override {
    const std::uint64_t cycles = clock - device_.cycles();
    if (device_.interrupt()) {
      device_.run(cycles);
    } else {
      device_.wait_interrupt(cycles);
    }
  }
  std::uint64_t quiet_until() const override { return device_.next_event().value_or(0); }
  bool idle() override { return !device_.next_event(); }
  void skip(std::uint64_t clock) override { device_.run(clock - device_.cycles()); }
  void reset() override { device_.reset(); }

 private:
  TlmDevice device_;
  Memory& memory_;
  std::uint64_t base_ = 0;  // of the ring
};

}  // namespace

TlmAccelerator::TlmAccelerator(sc_core::sc_module_name name, const AcceleratorOptions& options)
    : Accelerator(name, options), bus_memory_(std::make_unique<BusMemory>(*this)) {
  const int arrays[] = {2, 4, 8, 64};
  if (std::find(std::begin(arrays), std::end(arrays), options.n) == std::end(arrays)) {
    throw UsageError("an accelerator of " + std::to_string(options.n) +
                     " rows and columns; there are 2, 4, 8 and 64");
  }
  const Geometry geometry = geometry_of_array(options.n);
  start(std::make_unique<TlmEngine<BusMemory>>(geometry, platform::timing(options), *bus_memory_));
}

TlmAccelerator::~TlmAccelerator() = default;

void TlmAccelerator::forget_pointers(sc_dt::uint64 /*begin*/, sc_dt::uint64 /*end*/) {
  bus_memory_->forget();
}

}  // namespace gemm64
