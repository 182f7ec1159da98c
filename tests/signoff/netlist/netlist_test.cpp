// SPDX-License-Identifier: Apache-2.0
// The netlist, gates as they are mapped, with the driver: what the RTL does, in value, byte and
// clock, and nothing of that where a cell is another one.
#include <Vgemm64_netlist.h>
#include <Vgemm64_netlist___024root.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/device/array_geometry.hpp"
#include "host/util/parallel_for.hpp"
#include "sim/models/verilated_device.hpp"
#include "tests/signoff/netlist/programs.hpp"
#include "tests/system/system.hpp"

namespace gemm64::netlist_test {
namespace {

using Gates = VerilatedDevice<Vgemm64_netlist, false>;
/// Of each cell that can be broken, by its number: did its inputs ever tell it from the other one?
using Differed = std::vector<bool>;

/// Makes gates, where `broken` is not 0 with that cell being another one. Adds to `differed` when a
/// device goes.
Make gates(int broken, Differed& differed) {
  return [broken, &differed](const RtlOptions& options) {
    auto device = std::make_unique<Gates>(options);
    device->model().broken_i = static_cast<std::uint8_t>(broken);
    device->reset();
    return std::shared_ptr<RtlDevice>(device.release(), [&differed](RtlDevice* used) {
      const std::unique_ptr<Gates> own(static_cast<Gates*>(used));
      const auto& bits = own->model().told_o;  // number 1 first
      std::vector<std::uint8_t> bytes(sizeof bits);
      std::memcpy(bytes.data(), &bits, sizeof bits);
      differed.resize(8 * sizeof bits + 1);
      for (std::size_t i = 0; i + 1 < differed.size(); ++i) {
        if ((bytes[i / 8] >> (i % 8) & 1) != 0) differed[i + 1] = true;
      }
    });
  };
}

std::shared_ptr<RtlDevice> make_rtl(const RtlOptions& options) { return make_rtl_device(options); }

/// A work, what the RTL makes of it, what the gates make of it, and which cells' inputs differed.
struct Tried {
  Work work;
  Outcome rtl, gates;
  Differed differed;
};

std::size_t jobs() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Each work once, when it is first asked for.
const std::vector<Tried>& all_tried() {
  static const std::vector<Tried> all = [] {
    std::vector<Work> works = all_work(geometry_of_array(GEMM64_NETLIST_ARRAY));
    std::vector<Tried> tries(works.size());
    std::mutex mutex;
    parallel_for(works.size(), jobs(), [&](std::size_t i) {
      Tried& tried = tries[i];
      tried.work = std::move(works[i]);
      tried.rtl = tried.work.run(make_rtl);
      tried.gates = tried.work.run(gates(0, tried.differed));
      const std::lock_guard<std::mutex> lock(mutex);
      std::cout << tried.work.name << ": " << tried.gates.cycles << " cycles" << std::endl;
    });
    return tries;
  }();
  return all;
}

TEST(Netlist, DoesWhatTheRtlDoes) {
  for (const Tried& tried : all_tried()) {
    SCOPED_TRACE(tried.work.name);
    if (!tried.work.expected.empty()) EXPECT_EQ(tried.rtl.values, tried.work.expected);
    EXPECT_EQ(tried.gates.values, tried.rtl.values);
    EXPECT_EQ(tried.gates.text, tried.rtl.text);
    EXPECT_TRUE(tried.gates.counters == tried.rtl.counters)
        << system_test::difference(tried.rtl.counters, tried.gates.counters);
    EXPECT_EQ(tried.gates.cycles, tried.rtl.cycles);
    EXPECT_TRUE(tried.gates.memory == tried.rtl.memory);
  }
}

/// Does a device with this cell being another one give itself away?
bool is_noticed(std::size_t cell, const Tried& tried) {
  Differed differed;
  try {
    const Outcome found = tried.work.run(gates(static_cast<int>(cell), differed));
    return found.values != tried.rtl.values || found.text != tried.rtl.text ||
           found.counters != tried.rtl.counters || found.cycles != tried.rtl.cycles ||
           found.memory != tried.rtl.memory;
  } catch (const std::exception&) {  // an error of the device, or a rule of AXI that it broke
    return true;
  }
}

/// What comes of a cell that is another one. What its inputs never tell from the other one makes no
/// difference, so that it need not be run.
enum Fate { kNoticed, kWithoutEffect, kNeverTold };

/// And what `said` has of it: the first work that notices it, or why none does.
Fate fate(std::size_t cell, std::string& said) {
  bool differed = false;
  for (const Tried& tried : all_tried()) {
    if (!tried.differed[cell]) continue;
    differed = true;
    if (!is_noticed(cell, tried)) continue;
    said = "noticed by " + tried.work.name;
    return kNoticed;
  }
  said = differed ? "without effect" : "never differed apart";
  return differed ? kWithoutEffect : kNeverTold;
}

TEST(Netlist, DiffersWhenACellIsReplaced) {
  const char* const wanted = std::getenv("GEMM64_BROKEN_CELLS");
  const std::size_t most = wanted == nullptr ? 20 : std::stoul(wanted);
  std::vector<std::string> cells;
  std::ifstream lines(GEMM64_BROKEN_FILE);
  for (std::string line; cells.size() < most && std::getline(lines, line);) cells.push_back(line);
  ASSERT_EQ(cells.size(), most) << "lines in " << GEMM64_BROKEN_FILE;
  std::size_t fates[3] = {}, never_told = 0;
  std::mutex mutex;
  all_tried();
  parallel_for(cells.size(), jobs(), [&](std::size_t i) {
    std::string said;
    const Fate own = fate(i + 1, said);
    const std::lock_guard<std::mutex> lock(mutex);
    std::cout << cells[i] << ": " << said << std::endl;
    ++fates[own];
    if (own == kNeverTold) never_told = i + 1;
  });
  std::cout << fates[kNoticed] << " of " << cells.size() << " broken cells noticed, "
            << fates[kWithoutEffect] << " without effect, " << fates[kNeverTold]
            << " never differed apart" << std::endl;
  if (never_told != 0) EXPECT_FALSE(is_noticed(never_told, all_tried()[0]));
  // Which cells are drawn changes with the RTL: 13 of 20 were noticed.
  EXPECT_GE(fates[kNoticed] * 2, cells.size());
}

}  // namespace
}  // namespace gemm64::netlist_test
