// SPDX-License-Identifier: Apache-2.0
// The list of all devices.
#pragma once

#include "host/device/registry.hpp"

namespace gemm64 {

/// Every device that there is, the default one first.
const DeviceRegistry& devices();

}  // namespace gemm64
