// SPDX-License-Identifier: Apache-2.0
// A design in Icarus Verilog with the face of a Verilated model, so that harness.cpp is the bench
// of both. It is a VPI module: the bench runs as a coroutine, in a callback of the simulator, and
// an evaluation switches to the simulator until all values have settled. Values are four-state: X
// and Z are kept as unknown.
#pragma once

#include <ucontext.h>
#include <vpi_user.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gemm64::dut {

/// 0, 1, or kUnknownBit for X and Z.
using Bit = std::uint8_t;
inline constexpr Bit kUnknownBit = 2;

/// A vector; `unknown`: some of its bits are.
template <unsigned kBits>
struct Bits {
  std::uint8_t bytes[(kBits + 7) / 8];
  bool unknown;
};

/// Switches between the simulator and the bench.
class Simulator {
 public:
  /// From a callback of the simulator: the bench goes on until it waits.
  static int enter(t_cb_data*) {
    swapcontext(&simulator_, &bench_);
    return 0;
  }
  static int end(t_cb_data* data) {
    finished_ = true;
    return enter(data);
  }
  static int begin(t_cb_data*) {
    // A cycle is 10 ns: longer than the delays of `q <= #1 d`.
    half_ = static_cast<PLI_UINT32>(
        std::max(1.0, std::pow(10.0, -9 - vpi_get(vpiTimePrecision, nullptr)) * 5));
    wait(0);
    return 0;
  }
  static void start(void (*bench)()) {
    getcontext(&bench_);
    bench_.uc_stack.ss_sp = stack_.data();
    bench_.uc_stack.ss_size = stack_.size();
    bench_.uc_link = &simulator_;
    makecontext(&bench_, bench, 0);
    listen(cbStartOfSimulation, begin);
    listen(cbEndOfSimulation, end);
  }
  /// From the bench: until all values have settled.
  static void settle() {
    if (!finished_) wait(half_);
    swapcontext(&bench_, &simulator_);
  }
  static bool finished() { return finished_; }

 private:
  static void listen(PLI_INT32 reason, PLI_INT32 (*callback)(t_cb_data*),
                     s_vpi_time* time = nullptr) {
    s_cb_data data{};
    data.reason = reason;
    data.cb_rtn = callback;
    data.time = time;
    vpi_register_cb(&data);
  }
  static void wait(PLI_UINT32 units) {
    s_vpi_time time{};
    time.type = vpiSimTime;
    time.low = units;
    listen(cbAfterDelay, enter, &time);
  }

  static inline std::vector<char> stack_ = std::vector<char>(1 << 20);
  static inline ucontext_t simulator_{}, bench_{};
  static inline PLI_UINT32 half_ = 1;
  static inline bool finished_ = false;
};

/// The ports of the top module; a class of the design's own binds its members to them.
class IcarusModel {
 public:
  /// Inputs that changed, then all that follows from them.
  void eval() {
    for (Port& port : ports_) {
      if (port.input) put(port);
    }
    Simulator::settle();
    for (Port& port : ports_) {
      if (!port.input) get(port);
    }
  }

 protected:
  void bind(const std::string& name, bool input, Bit& bit) {
    bind({handle(name), input, 1, nullptr, nullptr, &bit, {}});
  }
  template <unsigned kBits>
  void bind(const std::string& name, bool input, Bits<kBits>& bits) {
    bind({handle(name), input, kBits, bits.bytes, &bits.unknown, nullptr, {}});
  }

 private:
  struct Port {
    vpiHandle handle;
    bool input;
    unsigned bits;
    std::uint8_t* bytes;
    bool* unknown;
    Bit* bit;
    std::vector<s_vpi_vecval> words;  // the last value
  };

  static vpiHandle handle(const std::string& name) {
    return vpi_handle_by_name(name.c_str(), nullptr);
  }
  void bind(Port port) {
    port.words.resize((port.bits + 31) / 32);
    // What no value is equal to, so that the first one is put.
    if (port.input) std::memset(port.words.data(), 0x5a, port.words.size() * sizeof(s_vpi_vecval));
    ports_.push_back(std::move(port));
  }

  static void put(Port& port) {
    std::vector<s_vpi_vecval> words(port.words.size());
    const bool unknown = port.bit != nullptr ? *port.bit == kUnknownBit : *port.unknown;
    for (unsigned at = 0; at < port.bits; ++at) {
      const std::uint8_t byte = port.bit != nullptr ? *port.bit : port.bytes[at / 8];
      const std::uint32_t value = unknown ? 1U : (byte >> (at % 8)) & 1U;
      words[at / 32].aval |= static_cast<PLI_INT32>(value << (at % 32));
      if (unknown) words[at / 32].bval |= static_cast<PLI_INT32>(1U << (at % 32));
    }
    if (std::memcmp(words.data(), port.words.data(), words.size() * sizeof words[0]) == 0) return;
    port.words = words;
    s_vpi_value value{};
    value.format = vpiVectorVal;
    value.value.vector = port.words.data();
    vpi_put_value(port.handle, &value, nullptr, vpiNoDelay);
  }

  static void get(Port& port) {
    s_vpi_value value{};
    value.format = vpiVectorVal;
    vpi_get_value(port.handle, &value);
    if (port.bit != nullptr) {
      const bool unknown = (value.value.vector[0].bval & 1) != 0;
      *port.bit = unknown ? kUnknownBit : static_cast<Bit>(value.value.vector[0].aval & 1);
      return;
    }
    *port.unknown = false;
    std::memset(port.bytes, 0, (port.bits + 7) / 8);
    for (unsigned at = 0; at < port.bits; ++at) {
      const s_vpi_vecval& word = value.value.vector[at / 32];
      if (((word.bval >> (at % 32)) & 1) != 0) {
        *port.unknown = true;
      } else if (((word.aval >> (at % 32)) & 1) != 0) {
        port.bytes[at / 8] |= static_cast<std::uint8_t>(1U << (at % 8));
      }
    }
  }

  std::vector<Port> ports_;
};

}  // namespace gemm64::dut

/// What harness.cpp asks of Verilator in addition to the model.
struct VerilatedContext {
  void randReset(int) {}
  void randSeed(int) {}
  void fatalOnError(bool) {}
  void timeInc(int) {}
  bool gotFinish() const { return gemm64::dut::Simulator::finished(); }
};
