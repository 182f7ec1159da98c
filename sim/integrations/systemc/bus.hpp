// SPDX-License-Identifier: Apache-2.0
// The platform's bus: initiators on one side, targets by address on the other.
#pragma once

#include <tlm.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace gemm64::platform {

/// Sends each transaction to the target whose range holds all of it, with the offset in that range
/// for an address; TLM_ADDRESS_ERROR_RESPONSE where there is none. Takes no time, and arbitrates
/// nothing. Pointers (DMI) are passed on, with addresses as the initiators see them.
class Bus : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<Bus> initiators;

  struct Range {
    std::string name;
    std::uint64_t base, bytes;
  };

  /// Throws std::invalid_argument if two ranges overlap.
  Bus(sc_core::sc_module_name name, const std::vector<Range>& targets);

  /// The socket for the target of that name. Throws std::out_of_range.
  tlm_utils::simple_initiator_socket_tagged<Bus>& target(const std::string& name);

  /// Notified of each transaction that a target has answered, or none did.
  using Watch = std::function<void(const char* target, const tlm::tlm_generic_payload& transaction,
                                   const sc_core::sc_time& begin, const sc_core::sc_time& end)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

 private:
  struct Target : Range {
    std::unique_ptr<tlm_utils::simple_initiator_socket_tagged<Bus>> socket;
  };

  Target* find(std::uint64_t address, std::uint64_t bytes);
  void transport(int initiator, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned debug(int initiator, tlm::tlm_generic_payload& transaction);
  bool direct(int initiator, tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi);
  void invalidate(int target, sc_dt::uint64 begin, sc_dt::uint64 end);

  std::vector<Target> targets_;
  Watch watch_;
};

}  // namespace gemm64::platform
