// SPDX-License-Identifier: Apache-2.0
#include "gemm64/rtl_accelerator.hpp"

#include <algorithm>
#include <vector>

#include "host/device/registers.hpp"
#include "sim/integrations/systemc/engine.hpp"
#include "sim/integrations/systemc/timing.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kBothCauses =
    field::kInterruptEnableDone.mask() | field::kInterruptEnableError.mask();
/// Cycles after which work that raises no interrupt is looked at all the same: a program need not
/// end with FINISH.
constexpr std::uint64_t kPatience = 1'000'000;

/// Numbers the cycles as the accelerator does.
class Renumbered final : public Observer {
 public:
  Renumbered(Observer& observer, const std::uint64_t& skipped)
      : observer_(observer), skipped_(skipped) {}
  void clock(std::uint64_t clock, const Probe& probe) override {
    observer_.clock(clock + skipped_, probe);
  }

 private:
  Observer& observer_;
  const std::uint64_t& skipped_;
};

/// Cycles after which nothing that idles differs from what has idled for longer: the memory's
/// budget of bytes is full again.
constexpr std::uint64_t kSettled = AxiPort::kMaxWidth + 2;

class RtlEngine final : public AcceleratorEngine {
 public:
  explicit RtlEngine(std::unique_ptr<RtlDevice> device) : device_(std::move(device)) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    return device_->read_register(offset);
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    device_->write_register(offset, value);
    if (offset == reg::kRingTail) working_ = true;
    if (offset == reg::kInterruptEnable) enabled_ = value;
    written_ = device_->cycles();
  }
  std::uint64_t clock() const override { return device_->cycles() + skipped_; }
  bool interrupt() const override { return device_->interrupt(); }

  void run(std::uint64_t clock) override {
    const std::uint64_t cycles = clock - this->clock();
    if (device_->interrupt()) {
      device_->run(cycles);
    } else {
      device_->wait_interrupt(cycles);
    }
  }

  // The model has no output that says so. Where STATUS does, the cycles of reading it are cycles in
  // which nothing happened, and are not counted. Where it does not they are, and the line could
  // rise in them unseen: STATUS is not read while that is to be expected.
  bool idle() override {
    const bool expected = working_ && (enabled_ & kBothCauses) == kBothCauses;
    if (expected && !device_->interrupt() && device_->cycles() - written_ < kPatience) return false;
    const RtlPorts ports = device_->ports();
    if (ports.weights.outstanding() != 0 || ports.data.outstanding() != 0 ||
        ports.results.outstanding() != 0) {
      return false;
    }
    const std::uint64_t before = device_->cycles();
    const std::uint32_t status = device_->read_register(reg::kStatus);
    if ((status & (field::kStatusBusy.mask() | field::kStatusResetting.mask())) != 0) return false;
    skipped_ -= device_->cycles() - before;
    working_ = false;
    return true;
  }

  void skip(std::uint64_t clock) override {
    const std::uint64_t cycles = clock - this->clock();
    const std::uint64_t simulated = std::min(cycles, kSettled);
    device_->run(simulated);
    skipped_ += cycles - simulated;
  }

  void reset() override {
    device_->reset();
    working_ = false;
    enabled_ = kBothCauses;
  }

  void observe(Observer& observer) {
    observers_.push_back(std::make_unique<Renumbered>(observer, skipped_));
    device_->observe(*observers_.back());
  }

 private:
  std::vector<std::unique_ptr<Observer>> observers_;
  std::unique_ptr<RtlDevice> device_;
  std::uint64_t skipped_ = 0;  // cycles that passed without being simulated, modulo 2^64
  bool working_ = false;       // was RING_TAIL written since it was last found idle?
  std::uint32_t enabled_ = kBothCauses;
  std::uint64_t written_ = 0;  // a register, in the device's cycles
};

}  // namespace

class RtlAccelerator::Transactor final : public BurstTarget {
 public:
  explicit Transactor(RtlAccelerator& accelerator) : accelerator_(accelerator) {}

  Answer read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) override {
    return answer(accelerator_.transport(false, address, data, nullptr, bytes));
  }
  Answer write(std::uint64_t address, const std::uint8_t* data, const std::uint8_t* enables,
               std::size_t bytes) override {
    return answer(
        accelerator_.transport(true, address, const_cast<std::uint8_t*>(data), enables, bytes));
  }

 private:
  static Answer answer(const std::pair<tlm::tlm_response_status, std::uint64_t>& result) {
    Answer answer;
    answer.latency = std::max<std::uint64_t>(result.second, 1);
    if (result.first == tlm::TLM_ADDRESS_ERROR_RESPONSE) {
      answer.response = AxiResponse::kDecodeError;
    } else if (result.first != tlm::TLM_OK_RESPONSE) {
      answer.response = AxiResponse::kSlaveError;
    }
    return answer;
  }

  RtlAccelerator& accelerator_;
};

RtlAccelerator::RtlAccelerator(sc_core::sc_module_name name, const AcceleratorOptions& options)
    : Accelerator(name, options), transactor_(std::make_unique<Transactor>(*this)) {
  RtlOptions rtl;
  rtl.n = options.n;
  rtl.memory = platform::timing(options);
  rtl.seed = options.seed;
  rtl.debug = options.debug;
  rtl.memory_bytes = AxiPort::kBoundary;  // none is used
  std::unique_ptr<RtlDevice> device = make_rtl_device(rtl);
  device_ = device.get();
  device_->divert(*transactor_);
  start(std::make_unique<RtlEngine>(std::move(device)));
}

RtlAccelerator::~RtlAccelerator() = default;

RtlDevice& RtlAccelerator::device() { return *device_; }

void RtlAccelerator::observe(Observer& observer) {
  static_cast<RtlEngine&>(*engine_).observe(observer);
}

}  // namespace gemm64
