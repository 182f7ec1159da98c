// SPDX-License-Identifier: Apache-2.0
#include "sim/models/rtl_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "host/device/result_format.hpp"
#include "host/util/error.hpp"
#include "sim/model_headers.inc"
#include "sim/models/verilated_device.hpp"

namespace gemm64 {
namespace {

// Of the data port's reads.
constexpr std::uint8_t kCommandsId = 0, kParametersId = 2, kOperandsId = 3;
void check_window(const RtlOptions& options) {
  if (options.trace_end > options.trace_begin) return;
  throw UsageError("the trace window " + std::to_string(options.trace_begin) + ":" +
                   std::to_string(options.trace_end) +
                   " is empty; its end must be after its begin");
}

template <class Model, bool kDebug, bool kAhead>
std::unique_ptr<RtlDevice> make(const RtlOptions& options) {
  return std::make_unique<VerilatedDevice<Model, kDebug, kAhead>>(options);
}

/// A model that this program was built with: see gemm64_model() in sim/CMakeLists.txt.
struct BuiltModel {
  int n;
  std::string variant;  // see variant_of(); empty: the accelerator as it ships
  bool debug;           // can be looked into
  std::unique_ptr<RtlDevice> (*make)(const RtlOptions&);
};

const std::vector<BuiltModel>& built_models() {
  static const std::vector<BuiltModel> models{
#include "sim/model_table.inc"
  };
  return models;
}

/// The variant of the model that options ask for, as sim/CMakeLists.txt names it.
std::string variant_of(const RtlOptions& options) {
  return options.tight ? "tight" : options.self_check ? "selfcheck" : "";
}

/// The N of models of a variant, ascending, of only those with debug access where `debug`.
std::vector<int> built_arrays(bool debug, const std::string& variant = "") {
  std::set<int> arrays;
  for (const BuiltModel& model : built_models()) {
    if (model.variant == variant && (model.debug || !debug)) arrays.insert(model.n);
  }
  return {arrays.begin(), arrays.end()};
}

/// How to come by models that this build lacks; empty where it has all.
std::string more_models() {
  return built_arrays(true).empty()
             ? "; `make` builds arrays of 2x2, 4x4 and 8x8 too, and models that can be looked into"
             : "";
}

/// "no model ...; N can be 2, 4, 8, 64"
UsageError lacking(const std::string& what, bool debug) {
  const std::vector<int> arrays = built_arrays(debug);
  const std::string others =
      arrays.empty() ? "" : fmt::format("; N can be {}", fmt::join(arrays, ", "));
  return UsageError(
      fmt::format("no model of the accelerator with {}{}{}", what, others, more_models()));
}

}  // namespace

RtlDevice::RtlDevice(const RtlOptions& options, unsigned width)
    : width_(width),
      memory_(options.memory_bytes),
      weights_("weights", memory_, width),
      data_("data", memory_, width, 2),
      results_("results", memory_, width) {
  if (options.memory.sharing == MemorySharing::kDram) {
    check(options.memory);
    dram_ = std::make_unique<DramController>(options.memory.dram, width);
    dram_->set_latency(options.memory.latency);
  } else if (options.memory.sharing != MemorySharing::kIndependent) {
    arbiter_ = std::make_unique<MemoryArbiter>(options.memory.sharing, width);
    arbiter_->set_bytes_per_cycle(options.memory.bytes_per_cycle);
  }
  std::uint32_t seed = options.seed;
  for (AxiPort* port : {static_cast<AxiPort*>(&weights_), static_cast<AxiPort*>(&data_),
                        static_cast<AxiPort*>(&results_)}) {
    port->set_latency(options.memory.latency);
    if (dram_) {
      port->share(*dram_, port == &results_);
    } else if (arbiter_) {
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
      data_.flip(kCommandsId, kCommandBytes, 4 * fault.place + fault.bit / 8, fault.bit % 8);
      return true;
    case Kind::kBias:
    case Kind::kScale: {
      const unsigned first = fault.kind == Kind::kScale ? width_ : 0;  // biases come before scales
      data_.flip(kParametersId, kParameterSetWords * width_,
                 4 * (first + fault.place) + fault.bit / 8, fault.bit % 8);
      return true;
    }
    case Kind::kOperand:
      data_.flip(kOperandsId, width_, fault.place, fault.bit);
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

void RtlDevice::set_latency(unsigned cycles) {
  weights_.set_latency(cycles);
  data_.set_latency(cycles);
  results_.set_latency(cycles);
  if (dram_) dram_->set_latency(weights_.latency());
}

DeviceKind rtl_kind() {
  const auto rtl_options = [](const DeviceOptions& options) {
    RtlOptions rtl;
    rtl.n = options.array;
    rtl.memory = options.memory;
    rtl.seed = options.seed;
    rtl.self_check = options.self_check;
    return rtl;
  };
  DeviceKind kind;
  kind.name = "rtl";
  kind.summary = "the Verilated accelerator";
  kind.has_cycles = true;
  std::set<int> arrays;
  for (const BuiltModel& model : built_models()) {
    if (model.variant != "tight") arrays.insert(model.n);
  }
  kind.arrays = {arrays.begin(), arrays.end()};
  kind.hint = more_models();
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
  const BuiltModel* found = nullptr;
  for (const BuiltModel& model : built_models()) {
    if (model.n != options.n || model.variant != variant_of(options)) continue;
    if (debug && !model.debug) continue;
    if (found == nullptr || found->debug) found = &model;
  }
  if (found != nullptr) return found->make(options);
  if (options.tight) {
    throw UsageError(fmt::format(
        "no model of the accelerator with tight buffers and N = {}; there is one with N = 4, for "
        "tests",
        options.n));
  }
  if (options.self_check) {
    const std::vector<int> arrays = built_arrays(debug, variant_of(options));
    const std::string built =
        arrays.empty() ? "none" : fmt::format("N = {}", fmt::join(arrays, ", "));
    throw UsageError(
        fmt::format("no model of the accelerator with self-check and N = {}; this build has {}; "
                    "`make -C sim self-check ARRAY={}` builds it",
                    options.n, built, options.n));
  }
  throw lacking(fmt::format("N = {}{}", options.n, debug ? " can be looked into" : ""), debug);
}

}  // namespace gemm64
