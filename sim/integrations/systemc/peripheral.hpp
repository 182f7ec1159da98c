// SPDX-License-Identifier: Apache-2.0
// What the platform's small devices have in common: words of registers on the bus.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

namespace gemm64::platform {

/// Registers of 32 bits. Accesses are 4 aligned bytes, else TLM_BURST_ERROR_RESPONSE; where there
/// is no such register, TLM_GENERIC_ERROR_RESPONSE. One takes `latency`.
class Peripheral : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Peripheral> socket;

  static constexpr std::uint64_t kBytes = 0x1000;

 protected:
  explicit Peripheral(sc_core::sc_module_name name, const sc_core::sc_time& latency);

  /// `delay`: from SystemC's time to that of the access. False: no such register.
  virtual bool read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) = 0;
  virtual bool write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) = 0;

 private:
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);

  const sc_core::sc_time latency_;
};

}  // namespace gemm64::platform
