// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/bus.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gemm64::platform {

Bus::Bus(sc_core::sc_module_name name, const std::vector<Range>& targets)
    : sc_core::sc_module(name), initiators("initiators") {
  initiators.register_b_transport(this, &Bus::transport);
  initiators.register_transport_dbg(this, &Bus::debug);
  initiators.register_get_direct_mem_ptr(this, &Bus::direct);
  for (const Range& range : targets) {
    for (const Target& other : targets_) {
      if (range.base < other.base + other.bytes && other.base < range.base + range.bytes) {
        throw std::invalid_argument("bus: " + range.name + " overlaps with " + other.name);
      }
    }
    auto socket = std::make_unique<tlm_utils::simple_initiator_socket_tagged<Bus>>(
        ("to_" + range.name).c_str());
    socket->register_invalidate_direct_mem_ptr(this, &Bus::invalidate,
                                               static_cast<int>(targets_.size()));
    targets_.push_back({range, std::move(socket)});
  }
}

tlm_utils::simple_initiator_socket_tagged<Bus>& Bus::target(const std::string& name) {
  for (Target& target : targets_) {
    if (target.name == name) return *target.socket;
  }
  throw std::out_of_range("bus: no target is called " + name);
}

Bus::Target* Bus::find(std::uint64_t address, std::uint64_t bytes) {
  for (Target& target : targets_) {
    if (address < target.base || address - target.base >= target.bytes) continue;
    return bytes <= target.bytes - (address - target.base) ? &target : nullptr;
  }
  return nullptr;
}

void Bus::transport(int /*initiator*/, tlm::tlm_generic_payload& transaction,
                    sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  Target* const target = find(address, transaction.get_data_length());
  const sc_core::sc_time begin = sc_core::sc_time_stamp() + delay;
  if (target == nullptr) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else {
    transaction.set_address(address - target->base);
    (*target->socket)->b_transport(transaction, delay);
    transaction.set_address(address);
  }
  if (watch_) {
    watch_(target == nullptr ? "none" : target->name.c_str(), transaction, begin,
           sc_core::sc_time_stamp() + delay);
  }
}

unsigned Bus::debug(int /*initiator*/, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  Target* const target = find(address, 1);
  if (target == nullptr) return 0;
  const unsigned length = transaction.get_data_length();
  const std::uint64_t offset = address - target->base;
  transaction.set_data_length(
      static_cast<unsigned>(std::min<std::uint64_t>(length, target->bytes - offset)));
  transaction.set_address(offset);
  const unsigned done = (*target->socket)->transport_dbg(transaction);
  transaction.set_address(address);
  transaction.set_data_length(length);
  return done;
}

bool Bus::direct(int /*initiator*/, tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = transaction.get_address();
  Target* const target = find(address, 1);
  if (target == nullptr) return false;
  transaction.set_address(address - target->base);
  const bool granted = (*target->socket)->get_direct_mem_ptr(transaction, dmi);
  transaction.set_address(address);
  dmi.set_start_address(dmi.get_start_address() + target->base);
  dmi.set_end_address(std::min<std::uint64_t>(dmi.get_end_address(), target->bytes - 1) +
                      target->base);
  return granted;
}

void Bus::invalidate(int index, sc_dt::uint64 begin, sc_dt::uint64 end) {
  const Target& target = targets_[static_cast<std::size_t>(index)];
  for (unsigned i = 0; i < initiators.size(); ++i) {
    initiators[i]->invalidate_direct_mem_ptr(begin + target.base, end + target.base);
  }
}

}  // namespace gemm64::platform
