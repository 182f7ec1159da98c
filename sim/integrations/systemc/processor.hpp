// SPDX-License-Identifier: Apache-2.0
// A processor that runs firmware: RV64 by Unicorn, as a TLM-2.0 initiator.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "sim/integrations/systemc/elf.hpp"

struct uc_struct;

namespace gemm64::platform {

/// One hart in machine mode, an instruction a cycle. It runs ahead of SystemC's time by at most a
/// quantum of instructions, and comes back to it after each write to a register on the bus.
/// Memory for which the bus grants pointers is accessed directly, and costs nothing beyond the
/// instruction; all else are transactions of 1 to 8 bytes.
///
/// Interrupts (external, timer) are taken between blocks of instructions: at the end of a quantum,
/// after a write to the bus, on waking from WFI; where one is pending and disabled, before each
/// block. An exception ends the simulation: firmware is not expected to survive one.
class Processor : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Processor> socket;
  sc_core::sc_in<bool> external, timer;

  struct Range {
    std::uint64_t base, bytes;
  };

  /// `ranges`: multiples of 4 KiB; what the processor may reach. `stopped` is called, in one line,
  /// why it does not go on.
  Processor(sc_core::sc_module_name name, const sc_core::sc_time& period, std::uint64_t quantum,
            std::vector<Range> ranges, std::function<void(const std::string&)> stopped);
  ~Processor() override;

  /// Begins at the ELF's entry with a1 = `argument` when the simulation runs; the ELF is in memory
  /// already. It is stopped after `max_instructions`. Without boot() it does nothing.
  void boot(const Elf& elf, std::uint64_t argument, std::uint64_t max_instructions);

  std::uint64_t instructions() const { return instructions_; }

  /// What it is doing between two quanta: "asleep (WFI) at pc ..." or "running at pc ...".
  std::string state();

  /// Called when another function begins to run, with the cycle.
  using Watch = std::function<void(std::uint64_t clock, std::uint64_t pc)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  /// It has written its exit code: runs no further.
  void end() { ended_ = true; }

 private:
  struct Callbacks;
  struct Mapped {
    Processor* processor;
    std::uint64_t base;
  };
  struct Block {
    std::uint64_t address = ~std::uint64_t{0};
    std::uint32_t instructions = 0;
    const std::string* function = nullptr;
  };

  void live();
  void run();
  void map(const Range& range);
  bool pending();
  void take_interrupt();
  std::uint64_t transport(bool write, std::uint64_t address, unsigned bytes, std::uint64_t value);
  void block(std::uint64_t address, std::uint32_t bytes);
  Block count(std::uint64_t address, std::uint32_t bytes);
  std::uint64_t get(int reg);
  void set(int reg, std::uint64_t value);
  void halt();
  std::string refusal(int error);
  std::string where(std::uint64_t pc);
  sc_core::sc_time local() const;

  const sc_core::sc_time period_;
  const std::uint64_t quantum_;
  const std::vector<Range> ranges_;
  const std::function<void(const std::string&)> stopped_callback_;
  Elf elf_;
  std::uint64_t argument_ = 0, max_instructions_ = 0;
  bool booted_ = false, ended_ = false, asleep_ = false;
  uc_struct* uc_ = nullptr;
  std::vector<std::unique_ptr<Mapped>> mapped_;
  std::array<Block, 4096> blocks_;
  const std::string* function_ = nullptr;  // that runs
  Watch watch_;
  std::uint64_t instructions_ = 0;
  std::uint64_t executed_ = 0, budget_ = 0;  // since the last sync
  sc_core::sc_time extra_;                   // beyond the instructions
  bool sync_ = false, halted_ = false;
  std::string fault_;
  std::uint64_t block_ = 0;  // that runs
  std::exception_ptr thrown_;
};

}  // namespace gemm64::platform
