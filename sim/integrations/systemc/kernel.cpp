// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/kernel.hpp"

#include <cstdlib>

namespace gemm64::platform {

Kernel::Kernel() {
  // The first kernel would print a copyright notice on the program's standard error.
  static const int quiet = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  static_cast<void>(quiet);
  sc_core::sc_simcontext* const before = sc_core::sc_curr_simcontext;
  sc_core::sc_curr_simcontext = nullptr;
  context_ = new sc_core::sc_simcontext;
  sc_core::sc_curr_simcontext = before;
  // Time may pass without anything happening.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
}

Kernel::~Kernel() {
  Use use(*this);
  delete context_;
}

}  // namespace gemm64::platform
