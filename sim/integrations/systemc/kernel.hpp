// SPDX-License-Identifier: Apache-2.0
// SystemC's kernel, one for each platform.
#pragma once

#include <systemc>

namespace gemm64::platform {

/// SystemC knows one simulation at a time; this makes several possible, one after the other or by
/// turns: a caller of SystemC says by a Use which one is meant.
class Kernel {
 public:
  Kernel();
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  class Use {
   public:
    explicit Use(Kernel& kernel) : before_(sc_core::sc_curr_simcontext) {
      sc_core::sc_curr_simcontext = kernel.context_;
    }
    ~Use() { sc_core::sc_curr_simcontext = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    sc_core::sc_simcontext* const before_;
  };

 private:
  sc_core::sc_simcontext* context_;
};

}  // namespace gemm64::platform
