// SPDX-License-Identifier: Apache-2.0
// Flips each bit of each register of the Verilated accelerator in each cycle of a small product,
// one a time, and reports what came of it. tests/signoff/faults/run.py makes the model and reads
// what this prints.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "Vflips.h"
#include "Vflips__Syms.h"
#include "Vflips___024root.h"
#include "host/driver/gemm64_matmul.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

namespace {

constexpr const char* kModel = "model";  // before each scope's name
constexpr unsigned kN = N;               // of the array
constexpr std::uint64_t kRing = 0, kOperands = 4096;
constexpr std::uint64_t kBytes = 5 * 4096;  // of memory
constexpr unsigned kLatency = 3;
constexpr unsigned kReset = 4;  // cycles
constexpr unsigned kWatchdog = 200;
constexpr unsigned kAfter = 20;  // cycles after the interrupt, for what comes late
constexpr unsigned kPlaces = 16;

/// What the accelerator is connected with: plain data, so that it can be copied.
struct World {
  struct Burst {
    std::uint64_t address;
    std::uint32_t beats, id, ready;
  };
  struct Port {
    Burst bursts[32];
    std::uint32_t count;
  };
  std::uint8_t memory[kBytes];
  Port weights, data, results;  // bursts in flight
  std::uint32_t answers[32], answered;
  std::uint32_t answer_error;
  std::uint32_t clock, written, address_taken, data_taken;
  std::uint32_t told;  // the cycle of the interrupt
  std::uint16_t head;  // of the ring, then
};

struct Write {
  std::uint32_t offset, value;
};

struct Register {
  std::string scope, name;
  std::uint8_t* data;
  unsigned bits, words, bytes;  // bytes of a word
};

class Machine {
 public:
  explicit Machine(std::uint32_t format) {
    context.randReset(0);
    model = std::make_unique<Vflips>(&context, kModel);
    syms = model->rootp->vlSymsp;
    prepare(format);
  }

  void prepare(std::uint32_t format) {
    std::memset(&world, 0, sizeof world);
    const gemm64_geometry geometry{kN, 2, 79, 16, 64};
    gemm64_product product{};
    product.m = product.k = product.n = kN;
    product.format = format;
    product.low = -128;
    product.high = 127;
    if (gemm64_plan_product(&plan, &geometry, &product, kOperands) != GEMM64_OK) std::abort();
    std::uint8_t commands[GEMM64_PLAN_COMMANDS * GEMM64_COMMAND_BYTES];
    count = gemm64_plan_commands(&plan, commands);
    std::memcpy(world.memory + kRing, commands, count * GEMM64_COMMAND_BYTES);
    std::mt19937 random(7);
    std::vector<std::int8_t> a(kN * kN), w(kN * kN);
    for (auto* matrix : {&a, &w}) {
      for (auto& value : *matrix) value = static_cast<std::int8_t>(random() >> 24);
    }
    gemm64_pack_weights(&plan, w.data(), world.memory + plan.weights);
    gemm64_pack_activations(&plan, a.data(), world.memory + plan.activations);
    if (format != GEMM64_RESULT_INT32) {
      const std::vector<std::int32_t> bias(kN, 100);
      const std::vector<float> scales(kN, 0.01F);
      gemm64_pack_parameters(&plan, bias.data(), scales.data(), world.memory + plan.parameters);
    }
    writes = {{GEMM64_REG_RING_BASE_HIGH, 0},
              {GEMM64_REG_RING_BASE_LOW, static_cast<std::uint32_t>(kRing)},
              {GEMM64_REG_RING_MASK, kPlaces - 1},
              {GEMM64_REG_WATCHDOG, kWatchdog},
              {GEMM64_REG_CONTROL, GEMM64_CONTROL_CLEAR_COUNTERS_MASK},
              {GEMM64_REG_RING_TAIL, count}};
    for (unsigned row = 0; row < kN; ++row) {
      for (unsigned column = 0; column < kN; ++column) {
        std::int32_t sum = 0;
        for (unsigned k = 0; k < kN; ++k) sum += a[row * kN + k] * w[column * kN + k];
        expected.push_back(sum);
      }
    }
  }

  /// The registers, of what the model shows: all that it was built to show.
  std::vector<Register> registers() {
    std::vector<Register> all;
    for (const auto& [scope, found] : *context.scopeNameMap()) {
      if (found->varsp() == nullptr) continue;
      for (const auto& [name, var] : *found->varsp()) {
        if (var.isParam() || var.entSize() == 0) continue;
        const unsigned words = var.udims() == 0 ? 1 : var.totalSize() / var.entSize();
        const std::string below = std::string(scope).substr(std::strlen(kModel) + 1);
        all.push_back({below, name, static_cast<std::uint8_t*>(var.datap()),
                       static_cast<unsigned>(var.packed().elements()), words,
                       static_cast<unsigned>(var.entSize())});
      }
    }
    std::sort(all.begin(), all.end(), [](const Register& a, const Register& b) {
      return std::tie(a.scope, a.name) < std::tie(b.scope, b.name);
    });
    return all;
  }

  /// Inputs of the clock; what was driven in the cycle before has been seen.
  void drive() {
    Vflips& m = *model;
    m.rst_ni = world.clock >= kReset;
    drive_read(world.weights, m.m_weights_arready_i, m.m_weights_rvalid_i, m.m_weights_rid_i,
               m.m_weights_rdata_i, m.m_weights_rresp_i, m.m_weights_rlast_i);
    drive_read(world.data, m.m_data_arready_i, m.m_data_rvalid_i, m.m_data_rid_i, m.m_data_rdata_i,
               m.m_data_rresp_i, m.m_data_rlast_i);
    m.m_results_awready_i = world.results.count < 16;
    m.m_results_wready_i = world.results.count != 0;
    m.m_results_bvalid_i = world.answered != 0 && world.answers[0] <= world.clock;
    m.m_results_bid_i = 0;
    m.m_results_bresp_i = world.answer_error != 0 ? 3 : 0;
    const bool writing = world.clock >= kReset + 2 && world.written < writes.size();
    m.s_axil_awvalid_i = writing && !world.address_taken;
    m.s_axil_wvalid_i = writing && !world.data_taken;
    m.s_axil_awaddr_i = writing ? writes[world.written].offset : 0;
    m.s_axil_wdata_i = writing ? writes[world.written].value : 0;
    m.s_axil_wstrb_i = 0xf;
    m.s_axil_bready_i = 1;
    m.s_axil_arvalid_i = 0;
    m.s_axil_rready_i = 1;
  }

  template <class Data>
  void drive_read(const World::Port& port, CData& arready, CData& rvalid, CData& rid, Data& rdata,
                  CData& rresp, CData& rlast) {
    arready = port.count < 16;
    const World::Burst& burst = port.bursts[0];
    rvalid = port.count != 0 && burst.ready <= world.clock;
    if (!rvalid) return;
    rid = static_cast<CData>(burst.id);
    rlast = burst.beats == 1;
    const bool inside = burst.address + kN <= kBytes;
    rresp = inside ? 0 : 3;
    if (inside) std::memcpy(&rdata, world.memory + burst.address, kN);
  }

  /// Handshakes of the clock.
  void look() {
    Vflips& m = *model;
    look_read(world.weights, m.m_weights_arvalid_o && m.m_weights_arready_i,
              {m.m_weights_araddr_o, m.m_weights_arlen_o + 1U, m.m_weights_arid_o, 0},
              m.m_weights_rvalid_i && m.m_weights_rready_o);
    look_read(world.data, m.m_data_arvalid_o && m.m_data_arready_i,
              {m.m_data_araddr_o, m.m_data_arlen_o + 1U, m.m_data_arid_o, 0},
              m.m_data_rvalid_i && m.m_data_rready_o);
    if (m.m_results_bvalid_i && m.m_results_bready_o) {
      std::memmove(world.answers, world.answers + 1, sizeof world.answers - sizeof *world.answers);
      --world.answered;
    }
    if (m.m_results_wvalid_o && m.m_results_wready_i) {
      World::Burst& burst = world.results.bursts[0];
      if (burst.address + kN <= kBytes) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(&m.m_results_wdata_o);
        for (unsigned i = 0; i < kN; ++i) {
          if (m.m_results_wstrb_o >> i & 1) world.memory[burst.address + i] = from[i];
        }
      } else {
        world.answer_error = 1;
      }
      burst.address += kN;
      if (--burst.beats == 0) {
        pop(world.results);
        if (world.answered < 32) world.answers[world.answered++] = world.clock + kLatency;
      }
    }
    if (m.m_results_awvalid_o && m.m_results_awready_i) {
      push(world.results, {m.m_results_awaddr_o, m.m_results_awlen_o + 1U, 0, 0});
    }
    if (m.s_axil_awvalid_i && m.s_axil_awready_o) world.address_taken = 1;
    if (m.s_axil_wvalid_i && m.s_axil_wready_o) world.data_taken = 1;
    if (m.s_axil_bvalid_o && world.address_taken && world.data_taken) {
      ++world.written;
      world.address_taken = world.data_taken = 0;
    }
    if (m.irq_o && world.told == 0) {
      world.told = world.clock;
      std::memcpy(&world.head, head, sizeof world.head);
    }
  }

  void look_read(World::Port& port, bool asked, World::Burst burst, bool taken) {
    if (taken) {
      World::Burst& first = port.bursts[0];
      first.address += kN;
      if (--first.beats == 0) pop(port);
    }
    if (asked) {
      burst.ready = world.clock + kLatency;
      push(port, burst);
    }
  }

  static void push(World::Port& port, const World::Burst& burst) {
    port.bursts[port.count++] = burst;
  }
  static void pop(World::Port& port) {
    std::memmove(port.bursts, port.bursts + 1, sizeof port.bursts - sizeof *port.bursts);
    --port.count;
  }

  /// A cycle. Where registers were changed by hand, what depends on them is made first.
  void clock(bool changed) {
    drive();
    if (changed) {
      model->clk_i = 0;
      model->eval();
    }
    look();
    model->rootp->__Vtrigrprev__TOP__clk_i = 0;
    model->clk_i = 1;
    model->eval();
    ++world.clock;
  }

  struct State {
    std::vector<std::uint8_t> model;
    World world;
  };
  void save(State& state) const {
    const auto* from = reinterpret_cast<const std::uint8_t*>(syms);
    state.model.assign(from, from + sizeof *syms);
    state.world = world;
  }
  void restore(const State& state) {
    std::memcpy(static_cast<void*>(syms), state.model.data(), sizeof *syms);
    world = state.world;
  }
  bool is(const State& state) const {
    return std::memcmp(&world, &state.world, sizeof world) == 0 &&
           std::memcmp(syms, state.model.data(), sizeof *syms) == 0;
  }

  VerilatedContext context;
  std::unique_ptr<Vflips> model;
  Vflips__Syms* syms;
  World world;
  gemm64_plan plan{};
  std::uint32_t count = 0;  // of commands
  std::vector<Write> writes;
  std::vector<std::int32_t> expected;
  const std::uint8_t* head = nullptr;
};

constexpr const char* kEnds[] = {"masked",   "found",  "driver", "error",
                                 "watchdog", "silent", "counts", "wrong"};
enum End { kMasked, kFound, kDriver, kError, kWatchdogError, kSilent, kCounts, kWrong };

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "flips FORMAT EVERY JOB JOBS [PART...]\n");
    return 2;
  }
  const auto format = static_cast<std::uint32_t>(std::atoi(argv[1]));
  const auto every = static_cast<std::uint64_t>(std::atoi(argv[2]));
  const auto job = static_cast<std::uint64_t>(std::atoi(argv[3]));
  const auto jobs = static_cast<std::uint64_t>(std::atoi(argv[4]));
  const std::vector<std::string> only(argv + 5, argv + argc);
  Machine machine(format);
  std::vector<Register> registers = machine.registers();
  const auto find = [&](const char* name,
                        const char* scope = "gemm64.u_registers") -> const Register& {
    for (const Register& r : registers) {
      if (r.scope == scope && r.name == name) return r;
    }
    std::fprintf(stderr, "no register %s.%s\n", scope, name);
    std::exit(1);
  };

  machine.head = find("head_q", "gemm64.u_commands").data;

  // The run without a flip, cycle by cycle
  machine.model->clk_i = 0;
  machine.model->eval();
  std::vector<Machine::State> states(1);
  machine.save(states.back());
  while (machine.world.told == 0 || machine.world.clock < machine.world.told + kAfter) {
    machine.clock(false);
    states.emplace_back();
    machine.save(states.back());
    if (machine.world.clock > 5000) {
      std::fprintf(stderr, "the run does not end\n");
      return 1;
    }
  }
  const World end = machine.world;
  if (format == GEMM64_RESULT_INT32) {
    for (unsigned row = 0; row < kN; ++row) {
      for (unsigned column = 0; column < kN; ++column) {
        std::int32_t sum;
        std::memcpy(&sum, end.memory + machine.plan.results + 4 * (row * kN + column), 4);
        if (sum != machine.expected[row * kN + column]) {
          std::fprintf(stderr, "sum %u,%u is %d instead of %d\n", row, column, sum,
                       machine.expected[row * kN + column]);
          return 1;
        }
      }
    }
  }
  const Register& done = find("done_q");
  if (*done.data != 1 || *find("error_q").data != 0) {
    std::fprintf(stderr, "the run ends with an error\n");
    return 1;
  }
  std::vector<const Register*> written, counters;
  for (const char* name : {"watchdog_o", "ring_base_low_q", "ring_base_high_q", "ring_mask_o",
                           "ring_tail_o", "interrupt_enable_q"}) {
    written.push_back(&find(name));
  }
  for (const Register& r : registers) {
    if (r.scope.rfind("gemm64.u_counters", 0) == 0 && r.name == "counter_q") counters.push_back(&r);
  }
  if (counters.size() != GEMM64_COUNTERS) {
    std::fprintf(stderr, "%zu counters instead of %u\n", counters.size(), GEMM64_COUNTERS);
    return 1;
  }
  const auto* const base = reinterpret_cast<const std::uint8_t*>(machine.syms);
  const auto same = [&](const std::vector<const Register*>& some) {
    for (const Register* r : some) {
      const std::uint8_t* const before = states.back().model.data() + (r->data - base);
      if (std::memcmp(r->data, before, std::size_t{r->bytes} * r->words) != 0) return false;
    }
    return true;
  };
  const std::uint8_t* const error = find("code_q", "gemm64.u_control").data;
  std::printf("{\"cycles\": %u, \"told\": %u, \"state_bytes\": %zu, \"registers\": [\n", end.clock,
              end.told, sizeof *machine.syms);

  const std::uint64_t last = states.size() - 1;
  bool first = true;
  std::uint64_t turn = 0;
  for (const Register& r : registers) {
    const std::string path = r.scope + "." + r.name;
    if (!only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string& part) {
          return path.find(part) != std::string::npos;
        })) {
      continue;
    }
    for (unsigned word = 0; word < r.words; ++word) {
      if (turn++ % jobs != job) continue;
      std::uint64_t ends[8]{}, tried = 0, after = 0;
      std::uint64_t example[8][2]{};
      for (unsigned bit = 0; bit < r.bits; ++bit) {
        // Another cycle for each bit, so that those of a register meet all
        for (std::uint64_t at = 1 + (bit + word) % every; at <= end.told; at += every) {
          machine.restore(states[at]);
          r.data[std::size_t{word} * r.bytes + bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
          ++tried;
          int how = -1;
          bool changed = true;
          while (machine.world.told == 0 || machine.world.clock < machine.world.told + kAfter) {
            machine.clock(changed);
            changed = false;
            const std::uint64_t now = machine.world.clock;
            if (now <= last && now % 2 == 0 && machine.is(states[now])) {
              how = kMasked;
              break;
            }
            if (now > last + 3 * kWatchdog) {
              how = same(written) ? kSilent : kDriver;
              break;
            }
          }
          if (how < 0) {
            const std::uint8_t code = error[0] & 0xf;
            if (code == GEMM64_ERROR_CHECKSUM || code == GEMM64_ERROR_PARITY) {
              how = kFound;
              after += machine.world.told - at;
            } else if (!same(written) || (code == 0 && machine.world.head != machine.count)) {
              how = kDriver;
            } else if (code == GEMM64_ERROR_WATCHDOG) {
              how = kWatchdogError;
            } else if (code != 0) {
              how = kError;
            } else if (std::memcmp(machine.world.memory, end.memory, kBytes) != 0) {
              how = kWrong;
            } else {
              how = machine.world.told != end.told || !same(counters) ? kCounts : kMasked;
            }
          }
          if (ends[how]++ == 0) {
            example[how][0] = bit;
            example[how][1] = at;
          }
        }
      }
      std::printf(
          "%s{\"scope\": \"%s\", \"name\": \"%s\", \"word\": %u, \"bits\": %u, \"tried\": %lu, "
          "\"after\": %lu",
          first ? "" : ",\n", r.scope.c_str(), r.name.c_str(), word, r.bits, tried, after);
      for (int how = 0; how < 8; ++how) {
        if (ends[how] == 0) continue;
        std::printf(", \"%s\": [%lu, %lu, %lu]", kEnds[how], ends[how], example[how][0],
                    example[how][1]);
      }
      std::printf("}");
      std::fflush(stdout);
      first = false;
    }
  }
  std::printf("\n]}\n");
  return 0;
}
