// SPDX-License-Identifier: Apache-2.0
#include "sim/devices.hpp"

#include "host/device/reference_device.hpp"
#include "host/tlm/tlm_device.hpp"
#include "sim/board/serial_device.hpp"
#include "sim/rtl_device.hpp"

namespace gemm64 {

const DeviceRegistry& devices() {
  static const DeviceRegistry registry({rtl_kind(), tlm_kind(), reference_kind(), serial_kind()});
  return registry;
}

}  // namespace gemm64
