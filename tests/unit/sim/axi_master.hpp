// SPDX-License-Identifier: Apache-2.0
// Masters for the memory's ports: they hold what they offer until it is taken, and record each
// answer with its clock.
#pragma once

#include "sim/memory/axi_read_port.hpp"
#include "sim/memory/axi_write_port.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// What both masters have. A derived class adds `step(ready)`, one cycle in which it is ready for
/// an answer or not.
template <class Port, class Self>
class AxiMaster {
 public:
  static constexpr std::uint64_t kMemoryBytes = 1 << 20;
  static constexpr std::uint64_t kClockLimit = 200000;

  AxiMaster(const char* name, unsigned width) : memory(kMemoryBytes), port(name, memory, width) {}

  AxiAddress address(std::uint64_t at, unsigned length, unsigned id = 0) const {
    AxiAddress a;
    a.address = at;
    a.length = static_cast<std::uint8_t>(length - 1);
    while ((1u << a.size) < port.width()) ++a.size;
    a.burst = 1;
    a.id = static_cast<std::uint8_t>(id);
    return a;
  }

  void run(std::uint64_t cycles) {
    for (; cycles != 0; --cycles) self().step();
  }
  /// Until there are `count` answers: beats that were read, responses to what was written.
  void run_until(std::size_t count) {
    while (self().answers() < count && clock < kClockLimit) self().step();
    ASSERT_EQ(self().answers(), count) << "clock limit reached";
  }

  /// What the port says against a cycle in which it is given `drive`.
  template <class Drive>
  std::string violation(const Drive& drive) {
    return message_of<std::logic_error>([&] {
      port.begin_clock(clock++);
      port.end_clock(drive);
    });
  }

  Memory memory;
  Port port;
  std::uint64_t clock = 0;
  std::vector<AxiAddress> addresses;
  std::vector<std::uint64_t> address_cycles;  // in which each was taken
  std::vector<std::uint64_t> beat_cycles;

 protected:
  bool held_ = false;

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

class ReadMaster : public AxiMaster<AxiReadPort, ReadMaster> {
 public:
  struct Beat {
    std::uint64_t clock = 0;
    unsigned id = 0;
    AxiResponse response = AxiResponse::kOkay;
    bool last = false;
    std::vector<std::uint8_t> data;
  };

  explicit ReadMaster(unsigned width) : AxiMaster("weights", width) {
    for (std::uint64_t i = 0; i < kMemoryBytes; ++i) {
      memory.data()[i] = static_cast<std::uint8_t>((i * 2654435761u) >> 13);
    }
  }

  static AxiReadMaster offer(const AxiAddress& address) { return {true, address, true}; }
  void burst(std::uint64_t at, unsigned length, unsigned id = 0) {
    addresses.push_back(address(at, length, id));
  }
  bool address_ready() const { return port.arready(); }
  std::size_t answers() const { return beats.size(); }
  std::size_t answers_to(std::size_t bursts) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < bursts; ++i) count += addresses[i].length + 1u;
    return count;
  }
  AxiResponse first_response() const { return beats.front().response; }
  void fail(std::uint64_t burst, AxiResponse response) {
    port.fail_burst(burst, AxiReadPort::FailedBeat::kFirst, response);
  }
  void flip() { port.flip(0, 64, 1, 1); }

  void step(bool ready = true) {
    port.begin_clock(clock);
    AxiReadMaster drive;
    drive.arvalid = address_cycles.size() < addresses.size();
    if (drive.arvalid) drive.ar = addresses[address_cycles.size()];
    drive.rready = ready;
    if (port.rvalid()) {
      Beat beat{clock, port.rid(), port.rresp(), port.rlast(),
                std::vector<std::uint8_t>(port.rdata(), port.rdata() + port.width())};
      if (held_) {
        EXPECT_EQ(beat.id, held_beat.id) << "cycle " << clock;
        EXPECT_EQ(beat.response, held_beat.response) << "cycle " << clock;
        EXPECT_EQ(beat.last, held_beat.last) << "cycle " << clock;
        EXPECT_EQ(beat.data, held_beat.data) << "cycle " << clock;
      }
      held_ = !ready;
      held_beat = beat;
      if (ready) {
        beat_cycles.push_back(clock);
        beats.push_back(std::move(beat));
      }
    } else {
      EXPECT_FALSE(held_) << "rvalid withdrawn at cycle " << clock;
    }
    const bool taken = drive.arvalid && port.arready();
    port.end_clock(drive);
    if (taken) address_cycles.push_back(clock);
    ++clock;
  }

  /// Checks that the beats are those of the addresses, in order.
  void check() const {
    std::size_t next = 0;
    for (const AxiAddress& a : addresses) {
      for (unsigned i = 0; i <= a.length; ++i, ++next) {
        ASSERT_LT(next, beats.size());
        const Beat& beat = beats[next];
        EXPECT_EQ(beat.id, a.id) << "beat " << next;
        EXPECT_EQ(beat.last, i == a.length) << "beat " << next;
        EXPECT_EQ(std::memcmp(beat.data.data(), memory.data() + a.address + i * port.width(),
                              port.width()),
                  0)
            << "beat " << next;
      }
    }
    EXPECT_EQ(next, beats.size());
  }

  std::vector<Beat> beats;
  Beat held_beat;
};

/// Addresses and data go each on their own, from the cycle that `address_from` and `data_from`
/// allow.
class WriteMaster : public AxiMaster<AxiWritePort, WriteMaster> {
 public:
  struct Beat {
    std::array<std::uint8_t, 64> data{};
    std::uint64_t strobe = ~std::uint64_t{0};
    bool last = false;
    std::size_t burst = 0;
  };
  struct Response {
    std::uint64_t clock = 0;
    unsigned id = 0;
    AxiResponse response = AxiResponse::kOkay;
  };

  explicit WriteMaster(unsigned width) : AxiMaster("results", width) {}

  static AxiWriteMaster offer(const AxiAddress& address) {
    AxiWriteMaster drive;
    drive.awvalid = drive.bready = true;
    drive.aw = address;
    return drive;
  }
  void burst(std::uint64_t at, unsigned length, unsigned id = 0) {
    addresses.push_back(address(at, length, id));
    for (unsigned i = 0; i < length; ++i) {
      Beat beat;
      for (std::uint8_t& byte : beat.data) {
        noise = noise * 1664525u + 1013904223u;
        byte = static_cast<std::uint8_t>((noise >> 24) | 1);  // never 0, the memory's first content
      }
      beat.last = i + 1 == length;
      beat.burst = addresses.size() - 1;
      data.push_back(beat);
    }
  }
  bool address_ready() const { return port.awready(); }
  std::size_t answers() const { return responses.size(); }
  static std::size_t answers_to(std::size_t bursts) { return bursts; }
  AxiResponse first_response() const { return responses.front().response; }
  void fail(std::uint64_t burst, AxiResponse response) { port.fail_burst(burst, response); }
  void flip() { port.flip(0, 0); }

  void step(bool ready = true) {
    port.begin_clock(clock);
    const std::size_t next_address = address_cycles.size(), next_beat = beat_cycles.size();
    AxiWriteMaster drive;
    drive.awvalid = next_address < addresses.size() && clock >= address_from;
    if (drive.awvalid) drive.aw = addresses[next_address];
    drive.wvalid = next_beat < data.size() && clock >= data_from &&
                   (!data_waits || data[next_beat].burst < next_address);
    if (drive.wvalid) {
      drive.wdata = data[next_beat].data.data();
      drive.wstrb = data[next_beat].strobe;
      drive.wlast = data[next_beat].last;
    }
    drive.bready = ready;
    if (port.bvalid()) {
      if (held_) {
        EXPECT_EQ(port.bid(), held_response.id) << "cycle " << clock;
        EXPECT_EQ(port.bresp(), held_response.response) << "cycle " << clock;
      }
      held_ = !ready;
      held_response = {clock, port.bid(), port.bresp()};
      if (ready) responses.push_back(held_response);
    } else {
      EXPECT_FALSE(held_) << "bvalid withdrawn at cycle " << clock;
    }
    const bool address_taken = drive.awvalid && port.awready();
    const bool beat_taken = drive.wvalid && port.wready();
    port.end_clock(drive);
    if (address_taken) address_cycles.push_back(clock);
    if (beat_taken) beat_cycles.push_back(clock);
    ++clock;
  }

  /// Checks that every byte written is in the memory and the responses are in order.
  void check() const {
    std::size_t next = 0;
    for (std::size_t b = 0; b < addresses.size(); ++b) {
      ASSERT_LT(b, responses.size());
      EXPECT_EQ(responses[b].id, addresses[b].id) << "burst " << b;
      for (unsigned i = 0; i <= addresses[b].length; ++i, ++next) {
        EXPECT_EQ(std::memcmp(memory.data() + addresses[b].address + i * port.width(),
                              data[next].data.data(), port.width()),
                  0)
            << "burst " << b << " beat " << i;
      }
    }
  }

  std::uint64_t address_from = 0;
  std::uint64_t data_from = 0;
  bool data_waits =
      false;  // for its address: by itself, it could run more than a burst ahead of a stalled one
  std::vector<Beat> data;
  std::vector<Response> responses;
  std::uint32_t noise = 1;
  Response held_response;
};

}  // namespace gemm64
