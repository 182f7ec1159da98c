// SPDX-License-Identifier: Apache-2.0
// A memory on the bus.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "host/device/pages.hpp"

namespace gemm64::platform {

/// Bytes from 0 on, zero until written; only pages that were touched take real memory. A
/// transaction takes `latency`, whatever its length: the bytes that a port carries in a cycle are
/// the business of the port (AcceleratorOptions::bytes_per_cycle). Pointers are granted to all of
/// it.
class Ram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Ram> socket;

  /// Throws UsageError if the system refuses the memory.
  Ram(sc_core::sc_module_name name, std::uint64_t bytes, const sc_core::sc_time& latency);

  std::uint8_t* data() { return data_; }
  std::uint64_t size() const { return pages_.size(); }

 private:
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& transaction);
  bool direct(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi);

  Pages pages_;
  std::uint8_t* const data_;
  const sc_core::sc_time latency_;
};

}  // namespace gemm64::platform
