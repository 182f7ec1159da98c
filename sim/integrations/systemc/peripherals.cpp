// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/peripherals.hpp"

namespace gemm64::platform {

InterruptController::InterruptController(sc_core::sc_module_name name,
                                         const sc_core::sc_time& latency)
    : Peripheral(name, latency), accelerator("accelerator"), output("output") {
  SC_HAS_PROCESS(InterruptController);
  SC_METHOD(drive);
  sensitive << accelerator << changed_;
}

void InterruptController::drive() { output.write(accelerator.read() && (enable_ & 1u) != 0); }

bool InterruptController::read(std::uint32_t offset, std::uint32_t& value,
                               const sc_core::sc_time& /*delay*/) {
  if (offset == INTERRUPTS_PENDING) {
    value = accelerator.read() ? 1 : 0;
  } else if (offset == INTERRUPTS_ENABLE) {
    value = enable_;
  } else {
    return false;
  }
  return true;
}

bool InterruptController::write(std::uint32_t offset, std::uint32_t value,
                                const sc_core::sc_time& delay) {
  if (offset != INTERRUPTS_ENABLE) return false;
  enable_ = value & 1u;
  changed_.notify(delay);
  return true;
}

Timer::Timer(sc_core::sc_module_name name, const sc_core::sc_time& latency,
             const sc_core::sc_time& period)
    : Peripheral(name, latency), output("output"), period_(period) {
  SC_HAS_PROCESS(Timer);
  SC_METHOD(drive);
  sensitive << changed_;
}

void Timer::drive() {
  const std::uint64_t now = sc_core::sc_time_stamp().value() / period_.value();
  output.write(now >= compare_);
  // A compare beyond what SystemC's time can hold never comes.
  if (now < compare_ && compare_ < ~std::uint64_t{0} / period_.value()) {
    changed_.notify(sc_core::sc_time::from_value((compare_ - now) * period_.value()));
  }
}

bool Timer::read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) {
  const std::uint64_t now = (sc_core::sc_time_stamp() + delay).value() / period_.value();
  switch (offset) {
    case TIMER_NOW:
      value = static_cast<std::uint32_t>(now);
      return true;
    case TIMER_NOW + 4:
      value = static_cast<std::uint32_t>(now >> 32);
      return true;
    case TIMER_COMPARE:
      value = static_cast<std::uint32_t>(compare_);
      return true;
    case TIMER_COMPARE + 4:
      value = static_cast<std::uint32_t>(compare_ >> 32);
      return true;
    default:
      return false;
  }
}

bool Timer::write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) {
  if (offset == TIMER_COMPARE) {
    compare_ = (compare_ >> 32 << 32) | value;
  } else if (offset == TIMER_COMPARE + 4) {
    compare_ = std::uint64_t{value} << 32 | static_cast<std::uint32_t>(compare_);
  } else {
    return false;
  }
  changed_.cancel();
  changed_.notify(delay);
  return true;
}

bool Uart::read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& /*delay*/) {
  value = 1;
  return offset == UART_STATUS;
}

bool Uart::write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& /*delay*/) {
  if (offset != UART_DATA) return false;
  print_(static_cast<char>(value));
  return true;
}

bool Control::read(std::uint32_t /*offset*/, std::uint32_t& /*value*/,
                   const sc_core::sc_time& /*delay*/) {
  return false;
}

bool Control::write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& /*delay*/) {
  if (offset == CONTROL_EXIT) {
    exit_(value);
  } else if (offset == CONTROL_RESET) {
    if ((value & 1u) != 0) reset_();
  } else {
    return false;
  }
  return true;
}

}  // namespace gemm64::platform
