// SPDX-License-Identifier: Apache-2.0
// The simulated DRAM channel: by formulas of JEDEC's times, and against the recurrence of
// host/cycles, which shares no code with it.
#include "sim/memory/dram_controller.hpp"

#include "host/cycles/memory_port.hpp"
#include "tests/dram.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr unsigned kLatency = 5;
constexpr unsigned kPorts = 3;  // two of reads, one of writes
constexpr unsigned kWriter = 2;

struct Request {
  std::uint64_t clock;  // in which it is accepted
  unsigned port;
  std::uint64_t address;
  unsigned beats;
};

/// The clock of each beat, and of the answer to each write.
using Moves = std::array<std::vector<std::uint64_t>, kPorts + 1>;
constexpr unsigned kAnswers = kPorts;

/// The requests, in the order of cycles and ports. Beats of reads are taken at once, those of
/// writes offered from the cycle of their address on.
Moves simulate(const DramTiming& timing, unsigned width, const std::vector<Request>& requests,
               DramCounts* counts = nullptr) {
  DramController dram(timing, width);
  dram.set_latency(kLatency);
  for (unsigned port = 0; port < kPorts; ++port) dram.join(port == kWriter);
  std::size_t wanted = 0, moved = 0;
  for (const Request& request : requests) wanted += request.beats + (request.port == kWriter);
  std::array<std::uint64_t, kPorts> left{};
  Moves moves;
  auto next = requests.begin();
  for (std::uint64_t clock = 0; moved != wanted && clock < 10'000'000; ++clock) {
    dram.begin_clock(clock);
    const auto move = [&](unsigned port) {
      if (!dram.may_move(port)) return;
      dram.moved(port);
      moves[port].push_back(clock);
      ++moved;
    };
    for (unsigned port = 0; port < kWriter; ++port) move(port);
    for (; next != requests.end() && next->clock == clock; ++next) {
      dram.accepted(next->port, next->address, next->beats);
      left[next->port] += next->beats;
    }
    if (left[kWriter] > moves[kWriter].size()) move(kWriter);
    if (dram.may_answer(kWriter)) {
      dram.answer(kWriter);
      moves[kAnswers].push_back(clock);
      ++moved;
    }
  }
  if (counts != nullptr) *counts = dram.counts();
  return moves;
}

/// The same by the recurrence.
Moves predict(const DramTiming& timing, unsigned width, const std::vector<Request>& requests,
              DramCounts* counts = nullptr) {
  using namespace cycles;
  Dram dram(timing);
  Budget budget{Rate{}};
  std::deque<MemoryPort> ports;
  for (unsigned port = 0; port < kPorts; ++port) ports.emplace_back(kLatency, budget, dram, width);
  Moves moves;
  Cycle offered = 0;
  for (const Request& request : requests) {
    MemoryPort& port = ports[request.port];
    const auto at = static_cast<Cycle>(request.clock);
    port.accept(at);
    const auto move = [&](const Beats& beats) {
      for (Cycle i = 0; i < beats.count; ++i) {
        moves[request.port].push_back(static_cast<std::uint64_t>(beats.first + i));
      }
    };
    if (request.port == kWriter) {
      offered = 1 + port.write(std::max(at, offered), request.address, request.beats, move);
      moves[kAnswers].push_back(static_cast<std::uint64_t>(port.answered()));
    } else {
      port.read(request.address, request.beats, move);
    }
  }
  if (counts != nullptr) *counts = dram.channel.counts();
  return moves;
}

std::vector<Request> random_requests(std::mt19937& random, unsigned width) {
  std::vector<Request> requests;
  std::uint64_t clock = 0;
  const unsigned gap = 1U << draw(random, 0, 10);
  const unsigned rows = 1U << draw(random, 0, 8);
  for (unsigned count = draw(random, 1, 120); count != 0; --count) {
    clock += draw(random, 0, 2) == 0 ? draw(random, 1, gap) : 0;
    for (unsigned port = 0; port < kPorts; ++port) {
      if (draw(random, 0, 1) == 0) continue;
      const std::uint64_t page = draw(random, 0, rows - 1);
      const unsigned words = 4096 / width;
      const unsigned first = draw(random, 0, words - 1);
      const unsigned beats = draw(random, 1, std::min(64U, words - first));
      requests.push_back({clock, port, page * 4096 + std::uint64_t{first} * width, beats});
    }
    ++clock;
  }
  return requests;
}

std::string text(const DramTiming& t) {
  return fmt::format(
      "cycle {} ck {} width {} bl {} groups {} banks {} row {} buffer {} rl {} wl {} burst {} ccd "
      "{} {} rcd {} rp {} ras {} rtp {} wr {} rrd {} {} faw {} wtr {} {} rtw {} rfc {} refi {}",
      t.clock, t.ck, t.width, t.burst_length, t.groups, t.banks, t.row_bytes, t.write_buffer, t.rl,
      t.wl, t.t_burst, t.t_ccd_s, t.t_ccd_l, t.t_rcd, t.t_rp, t.t_ras, t.t_rtp, t.t_wr, t.t_rrd_s,
      t.t_rrd_l, t.t_faw, t.t_wtr_s, t.t_wtr_l, t.t_rtw, t.t_rfc, t.t_refi);
}

TEST(DramController, MovesBeatsAsPredicted) {
  for_seeds(4100, 400, [](std::mt19937& random) {
    const DramTiming timing = random_dram(random);
    const unsigned width = 1U << draw(random, 1, 6);
    const std::vector<Request> requests = random_requests(random, width);
    SCOPED_TRACE(text(timing) + fmt::format(", beats of {}", width));
    DramCounts counted, predicted;
    const Moves moves = simulate(timing, width, requests, &counted);
    EXPECT_EQ(moves, predict(timing, width, requests, &predicted));
    EXPECT_TRUE(counted == predicted);
  });
}

TEST(DramController, MovesBeatsOfPresetsAsPredicted) {
  for (const std::string& preset : dram_presets()) {
    const DramTiming timing = dram_timing("dram:" + preset);
    for_seeds(4200, 20, [&](std::mt19937& random) {
      const unsigned width = 1U << draw(random, 1, 6);
      const std::vector<Request> requests = random_requests(random, width);
      EXPECT_EQ(simulate(timing, width, requests), predict(timing, width, requests));
    });
  }
}

// A channel that rests is as new, whether its ticks only ran on or it has served bursts.
TEST(DramController, IsAsNewAfterRest) {
  for_seeds(4300, 50, [](std::mt19937& random) {
    const DramTiming timing = random_dram(random);
    DramController dram(timing, 8);
    dram.set_latency(kLatency);
    dram.join(false);
    std::uint64_t clock = 0;
    // The clock of each beat of three bursts, from that in which the accelerator is busy on.
    const auto beats = [&] {
      const std::uint64_t begin = clock;
      std::vector<std::uint64_t> moves;
      for (; moves.size() != 24; ++clock) {
        dram.begin_clock(clock);
        if (dram.may_move(0)) {
          dram.moved(0);
          moves.push_back(clock - begin);
        }
        if (clock - begin < 3) dram.accepted(0, 8192 * (clock - begin), 8);
      }
      return moves;
    };
    for (; clock < 20; ++clock) dram.begin_clock(clock);
    dram.rest(clock++);
    const std::vector<std::uint64_t> first = beats();
    const DramCounts counts = dram.counts();
    for (std::uint64_t end = clock + draw(random, 1, 5000); clock != end; ++clock) {
      dram.begin_clock(clock);
      dram.rest(clock);
    }
    EXPECT_EQ(beats(), first);
    DramCounts twice = counts;
    EXPECT_TRUE((twice += counts) == dram.counts());
  });
}

/// Cycles of CK in cycles of the accelerator.
double cycles_of(const DramTiming& timing, double ticks) {
  return ticks * timing.clock / timing.ck;
}

/// Bursts of 4 KiB, all asked for at once, each `stride` bytes after the one before.
std::vector<Request> stream(unsigned count, std::uint64_t stride, unsigned beats = 64) {
  std::vector<Request> requests;
  for (unsigned i = 0; i < count; ++i) requests.push_back({i, 0, i * stride, beats});
  return requests;
}

// A stream in order is as fast as the pins, but for refreshes: a row is opened while the one before
// is read.
TEST(DramController, StreamsAtItsPeakLessRefreshes) {
  for (const std::string& preset : dram_presets()) {
    const DramTiming t = dram_timing("dram:" + preset);
    const unsigned count = 500;
    DramCounts counts;
    const Moves moves = simulate(t, 64, stream(count, 4096), &counts);
    const double bytes = count * 4096.0;
    const double time = static_cast<double>(moves[0].back());
    const double peak = bytes / t.peak_bytes_per_cycle();
    const double refreshes = time / cycles_of(t, t.t_refi);
    const double each = cycles_of(t, t.t_rp + t.t_rfc + t.t_rcd);
    EXPECT_GT(time, peak + (refreshes - 1) * each) << preset;
    EXPECT_LT(time, 1.01 * peak + (refreshes + 1) * 1.3 * each) << preset;
    EXPECT_GT(counts.hits * 100, counts.bursts() * 95) << preset;
  }
}

// Bursts of one bank, each in another row, take a row cycle each: tRAS + tRP, or what a read takes.
TEST(DramController, ReadsRowsOfABankByTheRowCycle) {
  for (const std::string& preset : dram_presets()) {
    DramTiming t = dram_timing("dram:" + preset);
    t.t_refi = 1'000'000;
    const unsigned count = 100;
    const std::uint64_t stride = std::uint64_t{t.row_bytes} * t.groups * t.banks;
    DramCounts counts;
    const Moves moves = simulate(t, 64, stream(count, stride, 1), &counts);
    const double row = std::max(t.t_ras, t.t_rcd + t.t_rtp) + t.t_rp;
    const double first = t.t_rcd + t.rl + t.t_burst;
    EXPECT_NEAR(static_cast<double>(moves[0].back()),
                cycles_of(t, first + (count - 1) * row) + kLatency, 3)
        << preset;
    EXPECT_EQ(counts.hits, 0u);
    EXPECT_EQ(counts.conflicts, count - 1);
  }
}

TEST(DramController, FirstReadWaitsForItsRow) {
  const DramTiming t = dram_timing("dram:lpddr4");
  const Moves moves = simulate(t, 64, {{3, 0, 0, 2}});
  // Seen at tick 7 (4 ns); data end 29 + 34 + 8 ticks later, at 48.75 ns.
  EXPECT_EQ(moves[0], (std::vector<std::uint64_t>{49 + kLatency, 54 + kLatency}));
}

TEST(DramController, TurnsToWritesAndBack) {
  DramTiming t = dram_timing("dram:lpddr4");
  t.clock = t.ck;
  // One row: a read, a write, a read.
  const Moves moves = simulate(t, 64, {{0, 0, 0, 1}, {1, kWriter, 64, 1}, {2, 0, 128, 1}});
  const std::uint64_t read = 1 + t.t_rcd;
  const std::uint64_t write = read + t.t_rtw;
  const std::uint64_t again = write + t.wl + t.t_burst + t.t_wtr_l;
  const std::uint64_t data = t.rl + t.t_burst + kLatency;
  EXPECT_EQ(moves[0], (std::vector<std::uint64_t>{read + data, again + data}));
}

TEST(DramController, StallsWritesWhenBufferIsFull) {
  DramTiming t = dram_timing("dram:lpddr4");
  t.write_buffer = 4 * 64;
  t.clock = t.ck;
  const Moves moves = simulate(t, 64, {{0, kWriter, 0, 8}});
  // The first four at once; then one follows each write.
  const std::uint64_t write = 1 + t.t_rcd;
  EXPECT_EQ(moves[kWriter],
            (std::vector<std::uint64_t>{0, 1, 2, 3, write + 1, write + 9, write + 17, write + 25}));
}

}  // namespace
}  // namespace gemm64
