// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/peripheral.hpp"

#include <cstring>

namespace gemm64::platform {

Peripheral::Peripheral(sc_core::sc_module_name name, const sc_core::sc_time& latency)
    : sc_core::sc_module(name), socket("socket"), latency_(latency) {
  socket.register_b_transport(this, &Peripheral::transport);
}

void Peripheral::transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  if (transaction.get_data_length() != 4 || transaction.get_address() % 4 != 0 ||
      transaction.get_byte_enable_ptr() != nullptr) {
    transaction.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  const auto offset = static_cast<std::uint32_t>(transaction.get_address());
  std::uint32_t value = 0;
  bool done = true;
  if (transaction.is_write()) {
    std::memcpy(&value, transaction.get_data_ptr(), sizeof value);
    done = write(offset, value, delay);
  } else if (transaction.is_read()) {
    done = read(offset, value, delay);
    std::memcpy(transaction.get_data_ptr(), &value, sizeof value);
  }
  delay += latency_;
  transaction.set_response_status(done ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

}  // namespace gemm64::platform
