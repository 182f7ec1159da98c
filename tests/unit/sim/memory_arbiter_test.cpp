// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory_arbiter.hpp"

#include "sim/memory/axi_read_port.hpp"
#include "sim/memory/axi_write_port.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr unsigned kWidth = 8;
constexpr unsigned kLatency = 10;
constexpr int kReadA = 0, kReadB = 1, kWrite = 2;

/// Two read ports and a write port before one memory, and masters that send what is queued.
class Masters {
 public:
  explicit Masters(MemorySharing sharing)
      : memory(1 << 16),
        arbiter(sharing, kWidth),
        a("a", memory, kWidth),
        b("b", memory, kWidth),
        w("w", memory, kWidth) {
    for (AxiPort* port :
         {static_cast<AxiPort*>(&a), static_cast<AxiPort*>(&b), static_cast<AxiPort*>(&w)}) {
      port->set_latency(kLatency);
      port->share(arbiter);
    }
  }

  void request(int port, unsigned beats) { requests[port].push_back(beats); }

  void step() {
    a.begin_clock(clock);
    b.begin_clock(clock);
    w.begin_clock(clock);
    unsigned beats = 0;
    beats += read(kReadA, a);
    beats += read(kReadB, b);
    beats += write();
    EXPECT_LE(beats, 1u) << "one memory moves one beat per cycle; clock " << clock;
    total += beats;
    ++clock;
  }
  void step(unsigned cycles) {
    for (; cycles != 0; --cycles) step();
  }

  Memory memory;
  MemoryArbiter arbiter;
  AxiReadPort a, b;
  AxiWritePort w;
  std::deque<unsigned> requests[3];        // beats of each burst that is to be asked for
  std::vector<std::uint64_t> accepted[3];  // cycles of address handshakes
  std::vector<std::uint64_t> moved[3];     // cycles of beats
  std::vector<std::uint64_t> answers;      // cycles of write responses
  bool ready[2] = {true, true};            // of the read ports' masters
  bool data_ready = true;                  // the write port's master has data
  std::uint64_t clock = 0;
  std::uint64_t total = 0;

 private:
  static AxiAddress address(unsigned beats) {
    AxiAddress to;
    to.length = static_cast<std::uint8_t>(beats - 1);
    to.size = 3;
    to.burst = 1;
    return to;
  }

  unsigned read(int index, AxiReadPort& port) {
    AxiReadMaster master;
    master.arvalid = !requests[index].empty();
    if (master.arvalid) master.ar = address(requests[index].front());
    master.rready = ready[index];
    const bool beat = port.rvalid() && master.rready;
    const bool taken = master.arvalid && port.arready();
    port.end_clock(master);
    if (taken) accepted[index].push_back(clock), requests[index].pop_front();
    if (beat) moved[index].push_back(clock);
    return beat;
  }

  unsigned write() {
    AxiWriteMaster master;
    master.awvalid = !requests[kWrite].empty();
    if (master.awvalid) master.aw = address(requests[kWrite].front());
    const std::uint64_t word = 0;
    master.wvalid = !sending.empty() && data_ready;
    master.wdata = &word;
    master.wstrb = 0xff;
    master.wlast = !sending.empty() && sending.front() == sent + 1;
    master.bready = true;
    const bool beat = master.wvalid && w.wready();
    const bool taken = master.awvalid && w.awready();
    if (w.bvalid()) answers.push_back(clock);
    w.end_clock(master);
    if (taken) {
      accepted[kWrite].push_back(clock);
      sending.push_back(requests[kWrite].front());
      requests[kWrite].pop_front();
    }
    if (beat) {
      moved[kWrite].push_back(clock);
      if (++sent == sending.front()) sent = 0, sending.pop_front();
    }
    return beat;
  }

  std::deque<unsigned> sending;  // bursts whose data are not all sent
  unsigned sent = 0;
};

std::vector<std::uint64_t> from(std::uint64_t first, unsigned count) {
  std::vector<std::uint64_t> cycles;
  for (unsigned i = 0; i < count; ++i) cycles.push_back(first + i);
  return cycles;
}

TEST(SharedMemory, AnswersInOrderOfAcceptance) {
  Masters masters(MemorySharing::kShared);
  masters.request(kReadB, 3);
  masters.step();
  masters.request(kReadA, 2);
  masters.request(kWrite, 2);
  masters.step(40);
  EXPECT_EQ(masters.accepted[kReadB], from(0, 1));
  EXPECT_EQ(masters.accepted[kReadA], from(1, 1));
  EXPECT_EQ(masters.accepted[kWrite], from(1, 1)) << "every port accepts in every cycle";
  EXPECT_EQ(masters.moved[kReadB], from(kLatency, 3));
  EXPECT_EQ(masters.moved[kReadA], from(kLatency + 3, 2)) << "one beat per cycle for all";
  EXPECT_EQ(masters.moved[kWrite], from(kLatency + 5, 2));
  EXPECT_EQ(masters.answers, from(kLatency + 6 + kLatency, 1));
}

TEST(SharedMemory, SlowMasterHoldsUpAllOthers) {
  Masters masters(MemorySharing::kShared);
  masters.ready[kReadA] = false;
  masters.request(kReadA, 1);
  masters.request(kReadB, 1);
  masters.step(1000);
  EXPECT_EQ(masters.total, 0u);
  masters.ready[kReadA] = true;
  masters.step(2);
  EXPECT_EQ(masters.total, 2u);
}

TEST(SharedMemory, WriteWithoutDataHoldsUpReads) {
  Masters masters(MemorySharing::kShared);
  masters.data_ready = false;
  masters.request(kWrite, 1);
  masters.step();
  masters.request(kReadA, 1);
  masters.step(100);
  EXPECT_EQ(masters.total, 0u);
  masters.data_ready = true;
  masters.step(2);
  EXPECT_EQ(masters.moved[kWrite], from(101, 1));
  EXPECT_EQ(masters.moved[kReadA], from(102, 1));
}

TEST(SharedMemory, OneBudgetServesAllPorts) {
  Masters masters(MemorySharing::kShared);
  masters.arbiter.set_bytes_per_cycle(3);
  for (int i = 0; i < 10; ++i) {
    for (const int port : {kReadA, kReadB, kWrite}) masters.request(port, 8);
  }
  masters.step(kLatency + 401);
  EXPECT_EQ(masters.total, 1 + 400u * 3 / 8) << "one beat is saved up before";
}

TEST(ExclusiveMemory, ServesOnePortToItsEnd) {
  Masters masters(MemorySharing::kExclusive);
  masters.request(kReadA, 4);
  masters.step(2);
  masters.request(kReadB, 1);
  masters.request(kWrite, 1);
  masters.step(5);
  masters.request(kReadA, 3);  // it has the memory, so it goes before those that wait
  masters.step(60);
  EXPECT_EQ(masters.accepted[kReadA], (std::vector<std::uint64_t>{1, 7})) << "a cycle to be chosen";
  EXPECT_EQ(masters.moved[kReadA], (std::vector<std::uint64_t>{11, 12, 13, 14, 17, 18, 19}));
  EXPECT_EQ(masters.accepted[kReadB], from(20, 1));
  EXPECT_EQ(masters.moved[kReadB], from(30, 1));
  EXPECT_EQ(masters.accepted[kWrite], from(31, 1));
  EXPECT_EQ(masters.moved[kWrite], from(32, 1));
  EXPECT_EQ(masters.answers, from(42, 1));
}

TEST(ExclusiveMemory, PortsThatWaitAreServedByTurns) {
  Masters masters(MemorySharing::kExclusive);
  masters.request(kReadA, 1);
  masters.step(5);
  masters.request(kReadB, 1);
  masters.request(kWrite, 1);
  while (masters.accepted[kReadB].empty() && masters.clock < 100) masters.step();
  masters.request(kReadA, 1);  // again, but the write's turn is before
  masters.step(100);
  ASSERT_EQ(masters.accepted[kReadA].size(), 2u);
  ASSERT_EQ(masters.accepted[kWrite].size(), 1u);
  EXPECT_LT(masters.accepted[kReadB].front(), masters.accepted[kWrite].front());
  EXPECT_LT(masters.accepted[kWrite].front(), masters.accepted[kReadA].back());
}

TEST(ExclusiveMemory, SlowMasterKeepsTheMemory) {
  Masters masters(MemorySharing::kExclusive);
  masters.ready[kReadA] = false;
  masters.request(kReadA, 1);
  masters.request(kWrite, 1);
  masters.step(1000);
  EXPECT_TRUE(masters.accepted[kWrite].empty());
}

TEST(MemoryArbiter, ResetForgetsAllBursts) {
  for (const MemorySharing sharing : {MemorySharing::kShared, MemorySharing::kExclusive}) {
    Masters masters(sharing);
    masters.ready[kReadA] = false;
    masters.request(kReadA, 4);
    masters.step(30);
    masters.a.reset();
    masters.b.reset();
    masters.w.reset();
    masters.arbiter.reset();
    masters.request(kReadB, 2);
    masters.step(30);
    EXPECT_EQ(masters.moved[kReadB].size(), 2u);
  }
}

TEST(MemoryArbiter, EveryBurstIsServedAtRandom) {
  for (const MemorySharing sharing : {MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(seed);
      Masters masters(sharing);
      masters.a.set_stalls(0.3, seed);
      masters.b.set_stalls(0.3, seed + 100);
      masters.w.set_stalls(0.3, seed + 200);
      std::mt19937 random(seed);
      std::uint64_t wanted[3] = {};
      for (int i = 0; i < 60; ++i) {
        const int port = static_cast<int>(random() % 3);
        const unsigned beats = 1 + random() % 16;
        masters.request(port, beats);
        wanted[port] += beats;
        masters.step(random() % 20);
      }
      for (int i = 0; i < 20000 && masters.answers.size() < masters.accepted[kWrite].size() + 1;
           ++i) {
        masters.ready[0] = random() % 2 != 0;
        masters.ready[1] = random() % 2 != 0;
        masters.step();
      }
      for (const int port : {kReadA, kReadB, kWrite}) {
        EXPECT_EQ(masters.moved[port].size(), wanted[port]) << port;
      }
      EXPECT_EQ(masters.answers.size(), masters.accepted[kWrite].size());
    }
  }
}

TEST(MemoryArbiter, IndependentPortsNeedNone) {
  EXPECT_THROW(MemoryArbiter(MemorySharing::kIndependent, 8), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
