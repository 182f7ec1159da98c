// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/processor.hpp"

#include <fmt/format.h>
#include <unicorn/unicorn.h>

#include <stdexcept>
#include <utility>

namespace gemm64::platform {
namespace {

constexpr std::size_t kStack = 16u << 20;
constexpr std::uint64_t kMie = 1u << 3, kMpie = 1u << 7, kMpp = 3u << 11;  // of mstatus
constexpr std::uint64_t kTimer = 7, kExternal = 11;                        // bits of mie, causes
constexpr std::uint64_t kInterrupt = std::uint64_t{1} << 63;               // of mcause
constexpr std::uint32_t kBreak = 0x00100073, kCompressedBreak = 0x9002;
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

const char* cause_name(std::uint32_t cause) {
  static const char* const names[] = {"instruction address misaligned",
                                      "instruction access fault",
                                      "illegal instruction",
                                      "breakpoint",
                                      "load address misaligned",
                                      "load access fault",
                                      "store address misaligned",
                                      "store access fault",
                                      "environment call",
                                      "environment call",
                                      "environment call",
                                      "environment call",
                                      "instruction page fault",
                                      "load page fault",
                                      "reserved",
                                      "store page fault"};
  return cause < sizeof names / sizeof *names ? names[cause] : "unknown";
}

void check(uc_err error, const char* what) {
  if (error != UC_ERR_OK) {
    throw std::runtime_error(
        fmt::format("the processor's emulator: {}: {}", what, uc_strerror(error)));
  }
}

}  // namespace

/// What Unicorn calls. Nothing is thrown through it.
struct Processor::Callbacks {
  static void block(uc_engine* /*uc*/, std::uint64_t address, std::uint32_t bytes, void* self) {
    static_cast<Processor*>(self)->block(address, bytes);
  }

  static void exception(uc_engine* /*uc*/, std::uint32_t cause, void* self) {
    Processor& p = *static_cast<Processor*>(self);
    std::uint64_t pc = p.get(UC_RISCV_REG_PC);
    if (cause >= 8 && cause <= 11) cause = 11;  // whatever it says: machine mode is the only one
    // The emulator has gone past an ECALL.
    if (cause == 11 && pc >= 4) {
      pc -= 4;
    }
    p.fault_ = fmt::format("{} (mcause {}) at pc {}", cause_name(cause), cause, p.where(pc));
    p.halt();
  }

  static bool unmapped(uc_engine* /*uc*/, uc_mem_type type, std::uint64_t address, int /*bytes*/,
                       std::int64_t /*value*/, void* self) {
    Processor& p = *static_cast<Processor*>(self);
    const std::uint32_t cause = type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT   ? 1
                                : type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT ? 7
                                                                                             : 5;
    p.fault_ = fmt::format("{} (mcause {}): address {:#x}, in the block at pc {}",
                           cause_name(cause), cause, address, p.where(p.block_));
    return false;
  }

  static std::uint64_t read(uc_engine* /*uc*/, std::uint64_t offset, unsigned bytes, void* range) {
    const Mapped& mapped = *static_cast<Mapped*>(range);
    return mapped.processor->transport(false, mapped.base + offset, bytes, 0);
  }

  static void write(uc_engine* /*uc*/, std::uint64_t offset, unsigned bytes, std::uint64_t value,
                    void* range) {
    const Mapped& mapped = *static_cast<Mapped*>(range);
    mapped.processor->transport(true, mapped.base + offset, bytes, value);
  }
};

Processor::Processor(sc_core::sc_module_name name, const sc_core::sc_time& period,
                     std::uint64_t quantum, std::vector<Range> ranges,
                     std::function<void(const std::string&)> stopped)
    : sc_core::sc_module(name),
      socket("socket"),
      external("external"),
      timer("timer"),
      period_(period),
      quantum_(quantum),
      ranges_(std::move(ranges)),
      stopped_callback_(std::move(stopped)) {
  SC_HAS_PROCESS(Processor);
  SC_THREAD(live);
  set_stack_size(kStack);
}

Processor::~Processor() {
  if (uc_ != nullptr) uc_close(uc_);
}

void Processor::boot(const Elf& elf, std::uint64_t argument, std::uint64_t max_instructions) {
  elf_ = elf;
  argument_ = argument;
  max_instructions_ = max_instructions;
  booted_ = true;
}

std::uint64_t Processor::get(int reg) {
  std::uint64_t value = 0;
  check(uc_reg_read(uc_, reg, &value), "reading a register");
  return value;
}

void Processor::set(int reg, std::uint64_t value) {
  check(uc_reg_write(uc_, reg, &value), "writing a register");
}

/// Ends uc_emu_start() before the next block.
void Processor::halt() {
  halted_ = true;
  uc_emu_stop(uc_);
}

std::string Processor::where(std::uint64_t pc) {
  return fmt::format("{:#x} ({})", pc, elf_.function(pc));
}

std::string Processor::state() {
  if (uc_ == nullptr) return "the processor never ran";
  return fmt::format("{} at pc {}", asleep_ ? "asleep (WFI)" : "running",
                     where(get(UC_RISCV_REG_PC)));
}

/// Why the emulator goes no further, where no hook reported it. It takes an EBREAK for an illegal
/// instruction.
std::string Processor::refusal(int error) {
  const std::uint64_t pc = get(UC_RISCV_REG_PC);
  if (error != UC_ERR_INSN_INVALID) {
    return fmt::format("{} at pc {}", uc_strerror(static_cast<uc_err>(error)), where(pc));
  }
  std::uint32_t instruction = 0;
  uc_mem_read(uc_, pc, &instruction, sizeof instruction);
  const bool breaks = instruction == kBreak || (instruction & 0xffffu) == kCompressedBreak;
  const std::uint32_t cause = breaks ? 3 : 2;
  return fmt::format("{} (mcause {}) at pc {}", cause_name(cause), cause, where(pc));
}

sc_core::sc_time Processor::local() const {
  return static_cast<double>(executed_) * period_ + extra_;
}

void Processor::map(const Range& range) {
  tlm::tlm_generic_payload transaction;
  transaction.set_read();
  transaction.set_address(range.base);
  tlm::tlm_dmi dmi;
  dmi.init();
  if (socket->get_direct_mem_ptr(transaction, dmi) && dmi.is_read_write_allowed() &&
      dmi.get_start_address() == range.base &&
      dmi.get_end_address() - dmi.get_start_address() >= range.bytes - 1) {
    check(uc_mem_map_ptr(uc_, range.base, range.bytes, UC_PROT_ALL, dmi.get_dmi_ptr()),
          "mapping memory");
    return;
  }
  mapped_.push_back(std::make_unique<Mapped>(Mapped{this, range.base}));
  void* const user = mapped_.back().get();
  check(uc_mmio_map(uc_, range.base, range.bytes, Callbacks::read, user, Callbacks::write, user),
        "mapping registers");
}

std::uint64_t Processor::transport(bool write, std::uint64_t address, unsigned bytes,
                                   std::uint64_t value) {
  if (thrown_ || !fault_.empty()) return 0;
  try {
    tlm::tlm_generic_payload transaction;
    transaction.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    transaction.set_address(address);
    transaction.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    transaction.set_data_length(bytes);
    transaction.set_streaming_width(bytes);
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = local();
    socket->b_transport(transaction, delay);
    const sc_core::sc_time instructions = static_cast<double>(executed_) * period_;
    extra_ = delay > instructions ? delay - instructions : sc_core::SC_ZERO_TIME;
    if (write || extra_ > static_cast<double>(quantum_) * period_) sync_ = true;
    if (transaction.is_response_ok()) return value;
    const unsigned cause = write ? 7 : 5;
    fault_ = fmt::format(
        "{} (mcause {}): the bus answered {} at address {:#x}, in the block at pc {}",
        cause_name(cause), cause, transaction.get_response_string(), address, where(block_));
  } catch (...) {
    thrown_ = std::current_exception();
  }
  halt();
  return 0;
}

Processor::Block Processor::count(std::uint64_t address, std::uint32_t bytes) {
  Block block;
  block.address = address;
  block.function = &elf_.function(address);
  std::uint8_t code[4096];
  if (bytes > sizeof code || uc_mem_read(uc_, address, code, bytes) != UC_ERR_OK) bytes = 0;
  for (std::uint32_t i = 0; i < bytes; i += (code[i] & 3u) == 3 ? 4 : 2) ++block.instructions;
  if (block.instructions == 0) block.instructions = 1;
  return block;
}

void Processor::block(std::uint64_t address, std::uint32_t bytes) {
  if (sync_ || executed_ >= budget_ || ended_) return halt();
  Block& block = blocks_[(address >> 1) % blocks_.size()];
  if (block.address != address) block = count(address, bytes);
  block_ = address;
  if (block.function != function_) {
    function_ = block.function;
    if (watch_) {
      watch_((sc_core::sc_time_stamp() + local()).value() / period_.value(), address);
    }
  }
  executed_ += block.instructions;
}

bool Processor::pending() {
  const std::uint64_t enabled = get(UC_RISCV_REG_MIE);
  return (external.read() && (enabled >> kExternal & 1u) != 0) ||
         (timer.read() && (enabled >> kTimer & 1u) != 0);
}

void Processor::take_interrupt() {
  const std::uint64_t status = get(UC_RISCV_REG_MSTATUS);
  if ((status & kMie) == 0) return;
  const bool outside = external.read() && (get(UC_RISCV_REG_MIE) >> kExternal & 1u) != 0;
  const std::uint64_t cause = outside ? kExternal : kTimer;
  const std::uint64_t vector = get(UC_RISCV_REG_MTVEC);
  set(UC_RISCV_REG_MEPC, get(UC_RISCV_REG_PC));
  set(UC_RISCV_REG_MCAUSE, kInterrupt | cause);
  set(UC_RISCV_REG_MSTATUS, (status & ~kMie) | kMpie | kMpp);
  set(UC_RISCV_REG_PC, (vector & ~std::uint64_t{3}) + ((vector & 3u) == 1 ? 4 * cause : 0));
}

void Processor::live() {
  if (!booted_) return;
  try {
    run();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (const std::exception& error) {
    stopped_callback_(error.what());
  }
}

void Processor::run() {
  check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &uc_), "opening");
  for (const Range& range : ranges_) map(range);
  uc_hook hook;
  const auto add = [&](int type, void* callback) {
    check(uc_hook_add(uc_, &hook, type, callback, this, 1, 0), "adding a hook");
  };
  add(UC_HOOK_BLOCK, reinterpret_cast<void*>(Callbacks::block));
  add(UC_HOOK_INTR, reinterpret_cast<void*>(Callbacks::exception));
  add(UC_HOOK_MEM_INVALID, reinterpret_cast<void*>(Callbacks::unmapped));
  set(UC_RISCV_REG_PC, elf_.entry);
  set(UC_RISCV_REG_A0, 0);
  set(UC_RISCV_REG_A1, argument_);
  while (!ended_) {
    const bool waits = pending();
    if (waits) take_interrupt();
    budget_ = waits ? 1 : quantum_;
    executed_ = 0;
    extra_ = sc_core::SC_ZERO_TIME;
    sync_ = halted_ = false;
    const uc_err error = uc_emu_start(uc_, get(UC_RISCV_REG_PC), kNowhere, 0, 0);
    instructions_ += executed_;
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (!fault_.empty()) return stopped_callback_("the processor stopped: " + fault_);
    if (error != UC_ERR_OK) {
      return stopped_callback_("the processor stopped: " + refusal(error));
    }
    if (instructions_ >= max_instructions_ && !ended_) {
      return stopped_callback_(
          fmt::format("the firmware has not ended after {} instructions; pc {}", instructions_,
                      where(get(UC_RISCV_REG_PC))));
    }
    wait(local());
    if (halted_) continue;  // else it was WFI
    asleep_ = true;
    while (!pending() && !ended_) {
      wait(external.value_changed_event() | timer.value_changed_event());
    }
    asleep_ = false;
  }
}

}  // namespace gemm64::platform
