// SPDX-License-Identifier: Apache-2.0
#include "sim/models/devices.hpp"

#include "host/cycles/tlm_device.hpp"
#include "host/device/reference_device.hpp"
#include "sim/integrations/fpga/serial_device.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64 {

const DeviceRegistry& devices() {
  static const DeviceRegistry registry({rtl_kind(), tlm_kind(), reference_kind(), serial_kind()});
  return registry;
}

}  // namespace gemm64
