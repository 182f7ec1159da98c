// SPDX-License-Identifier: Apache-2.0
// The array of 64x64 once more, with assertions and with noise in what nothing resets: AlexNet's
// Linear layers, and every register compared with the fast model's, cycle by cycle.
#include <Vgemm64_n64.h>
#include <Vgemm64_n64___024root.h>
#include <Vgemm64_n64_checked.h>
#include <Vgemm64_n64_checked___024root.h>

#include "common_registers.hpp"
#include "host/device/depthwise.hpp"
#include "sim/models/verilated_device.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

// As model_table.cmake declares them for rtl_device.cpp
void Vgemm64_n64___024root___eval_nba(Vgemm64_n64___024root*);
inline void evaluate_edge(Vgemm64_n64___024root* root) { Vgemm64_n64___024root___eval_nba(root); }

namespace gemm64::system_test {
namespace {

using Fast = VerilatedDevice<Vgemm64_n64, false, true>;
using Checked = VerilatedDevice<Vgemm64_n64_checked, false>;

TEST(CheckedSlow, AlexNetsLinearLayersAreExact) {
  Checked device(Rig::options(64));
  Driver driver(device);
  std::mt19937 random(1160);
  for (const GemmShape shape : {GemmShape{1, 9216, 4096}, {1, 4096, 4096}, {1, 4096, 1000}}) {
    const Operands operands = random_operands(random, shape);
    const Job job = make_job("layer", shape, Accumulate::kDevice, driver.geometry());
    EXPECT_EQ(driver.run(job, pack_weights(job, operands.w), operands.a).sums,
              reference_gemm(operands.a, operands.w));
  }
}

/// Both models' registers, in words of 32 bits of which the last may be partial.
class States {
 public:
  States(Fast& fast, Checked& checked) : fast_(fast), checked_(checked) {}

  /// Looks at every register. Words that agreed once must agree from then on.
  void look() {
    word_ = 0;
    different_.clear();
    each_register(*fast_.model().rootp, *checked_.model().rootp,
                  [this](const char* name, const auto& a, const auto& b) {
                    static_assert(sizeof a == sizeof b, "registers of the same type");
                    // An empty queue shows a word that it may never have got.
                    if (last_part(name) == "shown_q") return;
                    // The fast model steps whole rows and columns, without the skews' registers.
                    if (std::strstr(name, "_skew__DOT__") != nullptr) return;
                    if (!compare(name, &a, &b, sizeof a) && !is_of_others(name)) {
                      different_.insert(last_part(name));
                    }
                  });
    ++cycles;
  }

  /// Last parts of the names of registers that had words which did not agree.
  const std::set<std::string>& different() const { return different_; }

  std::uint64_t cycles = 0;
  std::uint64_t fast_hash = 0,
                checked_hash = 0;  // of the words that agreed before, over all cycles

 private:
  /// No product writes what only windows use, and none without VECTOR what that path holds.
  static bool is_of_others(const std::string& name) {
    for (const char* part : {"u_vector", "u_window", "__base", "__next_base", "__slot", "planes_q",
                             "layer_q", "words_q", "zero_q"}) {
      if (name.find(part) != std::string::npos) return true;
    }
    return false;
  }

  static std::string last_part(const std::string& name) {
    return name.substr(name.rfind("__") + 2);
  }

  /// True where all words agree.
  bool compare(const char* name, const void* a, const void* b, std::size_t bytes) {
    bool same = true;
    for (std::size_t at = 0; at < bytes; at += 4, ++word_) {
      const std::size_t count = std::min<std::size_t>(4, bytes - at);
      std::uint32_t in_fast = 0, in_checked = 0;
      std::memcpy(&in_fast, static_cast<const char*>(a) + at, count);
      std::memcpy(&in_checked, static_cast<const char*>(b) + at, count);
      if (agreed_.size() == word_) agreed_.push_back(false);
      if (agreed_[word_]) {
        fast_hash = (fast_hash ^ in_fast ^ word_) * 0x100000001b3;
        checked_hash = (checked_hash ^ in_checked ^ word_) * 0x100000001b3;
        EXPECT_EQ(in_fast, in_checked) << name << ", byte " << at << ", cycle " << cycles;
      }
      agreed_[word_] = in_fast == in_checked;
      same = same && in_fast == in_checked;
    }
    return same;
  }

  Fast& fast_;
  Checked& checked_;
  std::size_t word_ = 0;
  std::vector<bool> agreed_;
  std::set<std::string> different_;
};

/// Puts the job's program after what is in the ring, and starts it; the driver would wait for it.
void start(Device& device, const Job& job, const Operands& operands) {
  const std::vector<std::uint8_t> weights = pack_weights(job, operands.w);
  const std::vector<std::uint8_t> activations = pack_activations(job, operands.a);
  device.write_memory(job.layout.weights, weights.data(), weights.size());
  device.write_memory(job.layout.activations, activations.data(), activations.size());
  device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
  const std::uint32_t mask = device.read_register(reg::kRingMask);
  std::uint32_t tail = device.read_register(reg::kRingTail);
  for (const Command& command : job.program) {
    put(device, device.read_register(reg::kRingBaseLow) + tail * kCommandBytes, command);
    tail = (tail + 1) & mask;
  }
  device.write_register(reg::kRingTail, tail);
}

/// A sum and a pool whose window is full of words in the end.
std::vector<Command> on_lanes() {
  DepthwiseCommand c;
  c.rows = c.height = c.width = c.out_height = c.out_width = 10;
  c.count = c.passes = c.stride_height = c.stride_width = 1;
  c.dilation_height = c.dilation_width = 1;
  c.kernel_height = 7;
  c.pad_top = c.pad_left = 3;
  set_steps(c);
  DepthwiseCommand largest = c;
  largest.flags = flag::kMaximum;
  StoreCommand results = store(0x120000, 10);
  results.blocks = 10;
  return {load_weights(0x100000, 49, 2),
          load_activations(0x110000, 100, 2),
          c,
          results,
          largest,
          results,
          finish()};
}

// Registers that nothing resets start with zeros in one model and with noise in the other. After
// the lanes and a product of two blocks, with 8-bit results, they hold what these left there; only
// memories have words that were not written.
TEST(CheckedSlow, RegistersAreThoseOfTheFastModel) {
  Fast fast(Rig::options(64));
  Checked checked(Rig::options(64));
  std::mt19937 random(1161);
  const GemmShape first{128, 128, 128}, tile{64, 64, 64};
  const Operands before = random_operands(random, first), operands = random_operands(random, tile);
  for (Device* device : {static_cast<Device*>(&fast), static_cast<Device*>(&checked)}) {
    Driver driver(*device);
    Output output;
    output.format = ResultFormat(ResultCode::kInt8);
    output.zero = 3;
    output.low = -100;
    output.high = 90;
    const Job job = make_job("first", first, Accumulate::kDevice, driver.geometry(), output);
    const std::vector<std::int32_t> bias(first.n, -40000);
    const std::vector<float> scales(first.n, 0.0003F);
    const std::vector<std::uint8_t> parameters = pack_parameters(job, bias, scales);
    const MatrixI32 expected = reference_requantize(reference_gemm(before.a, before.w), bias,
                                                    scales, output.zero, output.low, output.high);
    // The element-wise unit is passed first: half of each result and half of each operand, a 1.
    Output halves = output;
    halves.vector.emplace();
    halves.vector->add = 1;
    halves.vector->result_scale = halves.vector->operand_scale = 0x3f000000;
    halves.vector->function_min = 0x80;
    halves.vector->function_max = 0x7f;
    const Job vector = make_job("vector", first, Accumulate::kDevice, driver.geometry(), halves);
    const MatrixI8 ones = MatrixI8::Ones(expected.rows(), expected.cols());
    const MatrixI32 sums =
        driver.run(vector, {pack_weights(vector, before.w), before.a, &parameters, &ones}).sums;
    EXPECT_EQ(sums, expected.unaryExpr([](std::int32_t value) {
      return static_cast<std::int32_t>(std::nearbyint((value + 1) / 2.0));
    }));
    driver.run_program(0, on_lanes(), 100000);
    EXPECT_EQ(driver.run(job, {pack_weights(job, before.w), before.a, &parameters}).sums, expected);
  }
  ASSERT_EQ(fast.cycles(), checked.cycles());

  const Job job =
      make_job("tile", tile, Accumulate::kDevice, Driver(static_cast<Device&>(fast)).geometry());
  Driver(
      static_cast<Device&>(checked));  // opening a device reads its registers, which takes cycles
  start(fast, job, operands);
  start(checked, job, operands);
  ASSERT_EQ(fast.cycles(), checked.cycles());
  States states(fast, checked);
  states.look();
  std::set<std::string> unwritten = states.different();
  unwritten.erase("memory_q");   // the weight buffer and the scratchpad
  unwritten.erase("entries_q");  // of queues
  unwritten.erase("table_q");    // no table was loaded
  // No snapshot was taken.
  unwritten.erase("snapshot_q");
  unwritten.erase("values");
  // What follows the last row through the requantizer has bounds from such a word of a queue.
  for (const char* name :
       {"above", "below", "bounds", "high", "low", "moved", "result_9_q", "results", "zero"}) {
    unwritten.erase(name);
  }
  // Multipliers of the lanes without a tap multiply nothing by words that no weight was written to.
  for (const char* name : {"weight_a", "weight_b", "weight_c"}) unwritten.erase(name);
  EXPECT_EQ(unwritten, std::set<std::string>{});
  while (!fast.interrupt() && !HasFailure() && states.cycles < 10000) {
    fast.run(1);
    checked.run(1);
    states.look();
  }
  EXPECT_TRUE(fast.interrupt() && checked.interrupt());
  EXPECT_EQ(states.fast_hash, states.checked_hash);
  EXPECT_GT(states.cycles, 64u * 4);
  std::vector<std::uint8_t> blocks(job.plan.result_bytes());
  checked.read_memory(job.layout.results, blocks.data(), blocks.size());
  EXPECT_TRUE(unpack_results(job, result_values(job.plan.results(), blocks)) ==
              reference_gemm(operands.a, operands.w));
}

}  // namespace
}  // namespace gemm64::system_test
