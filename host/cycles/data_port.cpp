// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/data_port.hpp"

#include "host/cycles/activations.hpp"
#include "host/cycles/commands.hpp"

namespace gemm64::cycles {

bool DataPort::advance() {
  bool moved = false;
  while (request(false)) moved = true;
  return moved;
}

bool DataPort::advance_when_stuck() { return request(true); }

bool DataPort::request(bool stuck) {
  const Clock command = std::max(commands_.next_request(), port_.free());
  const Clock burst = std::max(activations_.next_request(), port_.free());
  if (!known(std::min(command, burst))) return false;
  const bool both_known = known(std::max(command, burst));
  if (!both_known && !commands_.all_requested() && !stuck) return false;

  if (command <= burst) {
    commands_.request(command, port_);
  } else {
    activations_.request(burst, port_);
  }
  return true;
}

}  // namespace gemm64::cycles
