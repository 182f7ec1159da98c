// SPDX-License-Identifier: Apache-2.0
#include "gemm64/accelerator.hpp"

#include <cstring>
#include <exception>

#include "host/util/error.hpp"
#include "sim/integrations/systemc/engine.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kRegisterSpace = 1u << 12;
constexpr std::size_t kStack = 4u << 20;  // of the thread that evaluates the model

}  // namespace

Accelerator::Accelerator(sc_core::sc_module_name name, const AcceleratorOptions& options)
    : sc_core::sc_module(name),
      registers("registers"),
      memory("memory"),
      interrupt("interrupt"),
      period_(options.clock_ns, sc_core::SC_NS),
      quantum_(options.quantum) {
  if (options.clock_ns <= 0 || options.quantum == 0) {
    throw UsageError("an accelerator's clock period and quantum must be above 0");
  }
  registers.register_b_transport(this, &Accelerator::transport_registers);
  memory.register_invalidate_direct_mem_ptr(this, &Accelerator::forget_pointers);
  registers.register_transport_dbg(this, &Accelerator::debug_registers);
}

Accelerator::~Accelerator() = default;

void Accelerator::start(std::unique_ptr<AcceleratorEngine> engine) {
  engine_ = std::move(engine);
  SC_HAS_PROCESS(Accelerator);
  SC_THREAD(live);
  set_stack_size(kStack);
  SC_METHOD(drive_line);
  sensitive << line_;
}

std::uint64_t Accelerator::clock() const { return engine_->clock(); }

std::uint64_t Accelerator::clock_of(const sc_core::sc_time& time) const {
  return (time.value() + period_.value() - 1) / period_.value();
}

/// From now to `clock`; nothing where that has passed.
sc_core::sc_time Accelerator::until(std::uint64_t clock) const {
  const sc_core::sc_time time = sc_core::sc_time::from_value(clock * period_.value());
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  return time > now ? time - now : sc_core::SC_ZERO_TIME;
}

void Accelerator::hard_reset() {
  engine_->reset();
  idle_ = true;
  note_line();
}

void Accelerator::note_line() {
  const bool high = engine_->interrupt();
  if (high == line_last_) return;
  line_last_ = high;
  changes_.emplace_back(engine_->clock(), high);
  if (changes_.size() == 1) line_.notify(until(changes_.front().first));
}

void Accelerator::drive_line() {
  const std::uint64_t now = clock_of(sc_core::sc_time_stamp());
  while (!changes_.empty() && changes_.front().first <= now) {
    interrupt.write(changes_.front().second);
    if (watch_.interrupt) watch_.interrupt(changes_.front().first, changes_.front().second);
    changes_.pop_front();
  }
  if (!changes_.empty()) line_.notify(until(changes_.front().first));
}

/// Lets the engine come to `clock`, where it lags.
void Accelerator::run_to(std::uint64_t clock) {
  while (engine_->clock() < clock) {
    if (idle_) {
      engine_->skip(clock);
      break;
    }
    engine_->run(clock);
    note_line();
    look_whether_idle();
  }
}

void Accelerator::look_whether_idle() {
  idle_ = engine_->idle();
  if (idle_ && watch_.idle) watch_.idle(engine_->clock());
}

/// The engine runs ahead by a quantum, or to where it raises its interrupt; time follows.
void Accelerator::live() {
  for (;;) {
    while (idle_ || stepping_) wait(idle_ ? work_ : stepped_);
    const std::uint64_t now = clock_of(sc_core::sc_time_stamp());
    if (const std::uint64_t quiet = engine_->quiet_until(); quiet > now + quantum_) {
      wait(until(quiet - quantum_), work_);
      continue;
    }
    stepping_ = true;
    try {
      if (engine_->clock() < now) run_to(now);
      if (!idle_ && engine_->clock() <= now) {
        engine_->run(now + quantum_);
        note_line();
      }
      if (!idle_) look_whether_idle();
    } catch (const sc_core::sc_report&) {
      throw;
    } catch (const std::exception& error) {
      SC_REPORT_ERROR("gemm64", error.what());
    }
    stepping_ = false;
    stepped_.notify();
    const sc_core::sc_time ahead = until(engine_->clock());
    if (ahead != sc_core::SC_ZERO_TIME) wait(ahead);
  }
}

void Accelerator::transport_registers(tlm::tlm_generic_payload& transaction,
                                      sc_core::sc_time& delay) {
  const std::uint64_t offset = transaction.get_address();
  transaction.set_dmi_allowed(false);
  if (offset >= kRegisterSpace) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (transaction.get_byte_enable_ptr() != nullptr) {
    transaction.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  if (transaction.get_data_length() != 4 || offset % 4 != 0) {
    transaction.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  while (stepping_) wait(stepped_);
  stepping_ = true;
  run_to(clock_of(sc_core::sc_time_stamp() + delay));
  std::uint32_t value = 0;
  bool refused = false;
  try {
    if (transaction.is_write()) {
      std::memcpy(&value, transaction.get_data_ptr(), sizeof value);
      engine_->write_register(static_cast<std::uint32_t>(offset), value);
      idle_ = false;
    } else if (transaction.is_read()) {
      value = engine_->read_register(static_cast<std::uint32_t>(offset));
      std::memcpy(transaction.get_data_ptr(), &value, sizeof value);
    }
  } catch (const DeviceError&) {
    refused = true;
  }
  transaction.set_response_status(refused ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  delay = until(engine_->clock());
  if (watch_.access) {
    watch_.access(engine_->clock(), transaction.is_write(), static_cast<std::uint32_t>(offset),
                  value);
  }
  note_line();
  stepping_ = false;
  stepped_.notify();
  if (!idle_) work_.notify(delay);
}

/// Registers have effects: nothing can be read without.
unsigned Accelerator::debug_registers(tlm::tlm_generic_payload& /*transaction*/) { return 0; }

std::pair<tlm::tlm_response_status, std::uint64_t> Accelerator::transport(
    bool write, std::uint64_t address, std::uint8_t* data, const std::uint8_t* enables,
    std::size_t bytes) {
  tlm::tlm_generic_payload transaction;
  transaction.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  transaction.set_address(address);
  transaction.set_data_ptr(data);
  transaction.set_data_length(static_cast<unsigned>(bytes));
  transaction.set_streaming_width(static_cast<unsigned>(bytes));
  transaction.set_byte_enable_ptr(const_cast<std::uint8_t*>(enables));
  transaction.set_byte_enable_length(enables == nullptr ? 0 : static_cast<unsigned>(bytes));
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = until(engine_->clock());
  const sc_core::sc_time begin = sc_core::sc_time_stamp() + delay;
  memory->b_transport(transaction, delay);
  const sc_core::sc_time end = sc_core::sc_time_stamp() + delay;
  const std::uint64_t cycles = end > begin ? clock_of(end - begin) : 0;
  const bool ok = transaction.is_response_ok();
  if (watch_.burst) watch_.burst(engine_->clock(), write, address, bytes, cycles, ok);
  return {transaction.get_response_status(), cycles};
}

}  // namespace gemm64
