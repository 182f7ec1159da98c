// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl_device.hpp"

#include <Vgemm64_n2_debug.h>
#include <Vgemm64_n4_debug.h>
#include <Vgemm64_n64.h>
#include <Vgemm64_n64_debug.h>
#include <Vgemm64_n8_debug.h>
#ifdef GEMM64_TEST_MODELS
#include <Vgemm64_n16.h>
#include <Vgemm64_n32.h>
#include <Vgemm64_n4_tight_debug.h>
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "host/error.hpp"
#include "sim/verilated_device.hpp"

namespace gemm64 {
namespace {

constexpr std::uint8_t kCommandsId = 0;  // of the data port's reads
#ifdef GEMM64_TEST_MODELS
constexpr const char* kArraysInWords = "2, 4, 8, 16, 32 and 64";
#else
constexpr const char* kArraysInWords = "2, 4, 8 and 64";
#endif

void check_window(const RtlOptions& options) {
  if (options.trace_end > options.trace_begin) return;
  throw UsageError("the trace window " + std::to_string(options.trace_begin) + ":" +
                   std::to_string(options.trace_end) +
                   " is empty; its end must be after its begin");
}

template <class Model, bool kDebug>
std::unique_ptr<RtlDevice> make(const RtlOptions& options) {
  return std::make_unique<VerilatedDevice<Model, kDebug>>(options);
}

/// The models that only tests need, where they are built; else nothing.
std::unique_ptr<RtlDevice> make_test_model(const RtlOptions& options, bool debug) {
#ifdef GEMM64_TEST_MODELS
  if (options.tight && options.n == 4) return make<Vgemm64_n4_tight_debug, true>(options);
  if (debug && (options.n == 16 || options.n == 32)) {
    throw UsageError("the model of the accelerator with N = " + std::to_string(options.n) +
                     " cannot be looked into; those with N = 2, 4, 8 and 64 can");
  }
  if (options.n == 16) return make<Vgemm64_n16, false>(options);
  if (options.n == 32) return make<Vgemm64_n32, false>(options);
#endif
  static_cast<void>(debug);
  if (!options.tight) return nullptr;
  throw UsageError("no model of the accelerator with tight buffers and N = " +
                   std::to_string(options.n) + "; there is one with N = 4, for tests");
}

}  // namespace

RtlDevice::RtlDevice(const RtlOptions& options, unsigned width)
    : memory_(options.memory_bytes),
      weights_("weights", memory_, width),
      data_("data", memory_, width),
      results_("results", memory_, width) {
  if (options.memory.sharing != MemorySharing::kIndependent) {
    arbiter_ = std::make_unique<MemoryArbiter>(options.memory.sharing, width);
    arbiter_->set_bytes_per_cycle(options.memory.bytes_per_cycle);
  }
  std::uint32_t seed = options.seed;
  for (AxiPort* port : {static_cast<AxiPort*>(&weights_), static_cast<AxiPort*>(&data_),
                        static_cast<AxiPort*>(&results_)}) {
    port->set_latency(options.memory.latency);
    if (arbiter_) {
      port->share(*arbiter_);
    } else {
      port->set_bytes_per_cycle(options.memory.bytes_per_cycle);
    }
    port->set_stalls(options.memory.stall_probability, seed);
    seed += 0x9e3779b9u;  // far apart, so that the ports do not stall together
  }
}

bool RtlDevice::put_outside(const Fault& fault) {
  using Kind = Fault::Kind;
  const auto upset = [this](Fault::Channel channel, AxiUpset how) {
    switch (channel) {
      case Fault::Channel::kWeightsAr:
        return weights_.upset(AxiChannel::kAddress, how);
      case Fault::Channel::kWeightsR:
        return weights_.upset(AxiChannel::kData, how);
      case Fault::Channel::kDataAr:
        return data_.upset(AxiChannel::kAddress, how);
      case Fault::Channel::kDataR:
        return data_.upset(AxiChannel::kData, how);
      case Fault::Channel::kResultsAw:
        return results_.upset(AxiChannel::kAddress, how);
      case Fault::Channel::kResultsW:
        return results_.upset(AxiChannel::kData, how);
      case Fault::Channel::kResultsB:
        return results_.upset(AxiChannel::kResponse, how);
    }
  };
  AxiReadPort& read_port = fault.port == Fault::Port::kWeights ? weights_ : data_;
  const bool writes = fault.port == Fault::Port::kResults;
  const auto fail = [&](AxiResponse response) {
    if (writes) return results_.fail_burst(0, response);
    read_port.fail_burst(0, AxiReadPort::FailedBeat::kFirst, response);
  };
  switch (fault.kind) {
    case Kind::kResult:
      results_.flip(fault.place, fault.bit);
      return true;
    case Kind::kCommand:
      data_.flip(kCommandsId, 4 * fault.place + fault.bit / 8, fault.bit % 8);
      return true;
    case Kind::kLost:
      upset(fault.channel, AxiUpset::kLost);
      return true;
    case Kind::kRepeated:
      upset(fault.channel, AxiUpset::kRepeated);
      return true;
    case Kind::kSlaveError:
      fail(AxiResponse::kSlaveError);
      return true;
    case Kind::kDecodeError:
      fail(AxiResponse::kDecodeError);
      return true;
    case Kind::kHang:
      writes ? results_.hang_after(0) : read_port.hang_after(0);
      return true;
    default:
      return false;
  }
}

void RtlDevice::divert(BurstTarget& target) {
  weights_.divert(target);
  data_.divert(target);
  results_.divert(target);
}

void RtlDevice::set_latency(unsigned clocks) {
  weights_.set_latency(clocks);
  data_.set_latency(clocks);
  results_.set_latency(clocks);
}

DeviceKind rtl_kind() {
  const auto rtl_options = [](const DeviceOptions& options) {
    RtlOptions rtl;
    rtl.n = options.array;
    rtl.memory = options.memory;
    rtl.seed = options.seed;
    return rtl;
  };
  DeviceKind kind;
  kind.name = "rtl";
  kind.summary = "the Verilated accelerator";
  kind.has_clocks = true;
  kind.arrays = {2, 4, 8, 64};
  kind.make = [rtl_options](const DeviceOptions& options) {
    return make_rtl_device(rtl_options(options));
  };
  kind.make_inspectable = [rtl_options](const DeviceOptions& options, const TraceOptions& trace) {
    RtlOptions rtl = rtl_options(options);
    rtl.debug = true;
    rtl.trace_file = trace.file;
    rtl.trace_begin = trace.begin;
    rtl.trace_end = trace.end;
    return make_rtl_device(rtl);
  };
  return kind;
}

std::unique_ptr<RtlDevice> make_rtl_device(const RtlOptions& options) {
  if (!options.trace_file.empty()) check_window(options);
  const bool debug = options.debug || !options.trace_file.empty();
  if (std::unique_ptr<RtlDevice> device = make_test_model(options, debug)) return device;
  switch (options.n) {
    case 2:
      return make<Vgemm64_n2_debug, true>(options);
    case 4:
      return make<Vgemm64_n4_debug, true>(options);
    case 8:
      return make<Vgemm64_n8_debug, true>(options);
    case 64:
      return debug ? make<Vgemm64_n64_debug, true>(options) : make<Vgemm64_n64, false>(options);
    default:
      throw UsageError("no model of the accelerator with N = " + std::to_string(options.n) +
                       "; there are " + kArraysInWords);
  }
}

}  // namespace gemm64
