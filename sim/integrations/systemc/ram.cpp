// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/ram.hpp"

#include <algorithm>
#include <cstring>

namespace gemm64::platform {

Ram::Ram(sc_core::sc_module_name name, std::uint64_t bytes, const sc_core::sc_time& latency)
    : sc_core::sc_module(name),
      socket("socket"),
      pages_(bytes),
      data_(pages_.at(0, bytes)),
      latency_(latency) {
  socket.register_b_transport(this, &Ram::transport);
  socket.register_transport_dbg(this, &Ram::debug);
  socket.register_get_direct_mem_ptr(this, &Ram::direct);
}

void Ram::transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  const unsigned bytes = transaction.get_data_length();
  std::uint8_t* const data = transaction.get_data_ptr();
  const std::uint8_t* const enables = transaction.get_byte_enable_ptr();
  if (address > size() || bytes > size() - address) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (transaction.get_streaming_width() < bytes) {
    transaction.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  std::uint8_t* const place = data_ + address;
  const unsigned period = transaction.get_byte_enable_length();
  const auto enabled = [&](unsigned i) {
    return enables == nullptr || enables[i % period] == TLM_BYTE_ENABLED;
  };
  if (transaction.is_read()) {
    if (enables == nullptr) {
      std::memcpy(data, place, bytes);
    } else {
      for (unsigned i = 0; i < bytes; ++i) {
        if (enabled(i)) data[i] = place[i];
      }
    }
  } else if (transaction.is_write()) {
    if (enables == nullptr) {
      std::memcpy(place, data, bytes);
    } else {
      for (unsigned i = 0; i < bytes; ++i) {
        if (enabled(i)) place[i] = data[i];
      }
    }
  }
  delay += latency_;
  transaction.set_dmi_allowed(true);
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned Ram::debug(tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  if (address >= size()) return 0;
  const auto bytes = static_cast<unsigned>(
      std::min<std::uint64_t>(transaction.get_data_length(), size() - address));
  if (transaction.is_read()) std::memcpy(transaction.get_data_ptr(), data_ + address, bytes);
  if (transaction.is_write()) std::memcpy(data_ + address, transaction.get_data_ptr(), bytes);
  return bytes;
}

bool Ram::direct(tlm::tlm_generic_payload& /*transaction*/, tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(data_);
  dmi.set_start_address(0);
  dmi.set_end_address(size() - 1);
  dmi.set_read_latency(latency_);
  dmi.set_write_latency(latency_);
  dmi.allow_read_write();
  return true;
}

}  // namespace gemm64::platform
