// SPDX-License-Identifier: Apache-2.0
// The messages between the program and the compiled bench of a user's array, over two pipes. The
// bench includes this file too, so it needs nothing but the standard library.
#pragma once

#include <cstdint>

namespace gemm64::dut {

/// The streams of the contract. Inputs come first.
enum Stream : std::uint32_t { kWeights, kActivations, kSums, kResults, kStreams };
inline constexpr std::uint32_t kInputs = kResults;

/// Grows with each change of this file, because a cached bench may be older than the program.
inline constexpr std::uint32_t kProtocol = 0x64757402;

/// An input of designs with mutants: which one is active, from 1; 0: none.
inline constexpr const char* kMutantPort = "gemm64_mutant";

enum Flag : std::uint32_t {
  kReset = 1,       // aresetn is low for some cycles first, and everything pending is forgotten
  kMore = 2,        // further beats follow: stop time as soon as an input stream has none left
  kOneTile = 4,     // a tile is sent only when the results of the one before are complete
  kWithhold = 8,    // TREADY of the results stays low until TVALID is high
  kQuiet = 16,      // then some cycles without input, in which no result may come
  kKeepStalls = 32  // random stalls continue where they were
};

/// How a stream stalls: in a cycle with this probability of 1/65536.
struct Stall {
  std::uint32_t probability;
  std::uint32_t seed;
};

/// Followed by the beats of each input stream, each beat padded to whole bytes, then a byte per
/// beat which is 1 for TLAST, and finally the name of the trace file.
struct Request {
  std::uint32_t protocol;
  std::uint32_t flags;
  std::uint64_t beats[kInputs];  // added to each input stream
  std::uint64_t results;         // beats of results that these lead to
  std::uint64_t idle_limit;      // cycles without a handshake after which the bench gives up
  std::uint64_t reset_at;        // cycle in which the run ends, to be followed by a reset; 0: none
  std::uint64_t quiet_cycles;    // of kQuiet
  Stall stalls[kStreams];
  std::uint32_t random_seed;  // of registers that nothing initializes; used once
  std::uint32_t trace_bytes;
};

enum Status : std::uint32_t {
  kDone,      // all results came
  kWaiting,   // for more beats
  kTimeout,   // nothing moved for idle_limit cycles
  kStopped,   // at reset_at
  kFinished,  // the design called $finish
  kFatal,     // the simulator gave up: the text has the reason
  kBroken     // a rule of AXI4-Stream was broken, or a result came that none had asked for
};

enum Rule : std::uint32_t {
  kNoRule,
  kValidDropped,   // TVALID fell before TREADY
  kDataChanged,    // TDATA changed while TREADY was low
  kLastChanged,    // TLAST changed while TREADY was low
  kResultInReset,  // TVALID was high while aresetn was low
  kExtraResult,    // a result that no input leads to
  kUnknown         // a handshake signal is X or Z: the text names it
};

/// A stream when the answer was written.
struct StreamState {
  std::uint64_t beats;        // that moved since the reset
  std::uint64_t pending;      // that wait to be sent, or to be received
  std::uint64_t first, last;  // cycles of the first and last handshake
  std::uint64_t refused;      // cycles with TVALID high and TREADY low
  std::uint32_t valid, ready;
};

/// What a cycle in which the moving operand stood still was spent on.
enum Idle : std::uint32_t { kLoading, kDraining, kNotReady, kNotSent, kIdles };

/// Bits of the byte that goes with a result beat. Only Icarus knows values that are not.
enum BeatFlag : std::uint8_t { kLastBeat = 1, kUnknownBeat = 2 };

/// Followed by `results` beats, a BeatFlag byte each, a cycle each (uint64), and the text.
struct Answer {
  std::uint32_t protocol;
  std::uint32_t status;
  std::uint64_t cycles;  // since the reset
  std::uint64_t results;
  StreamState streams[kStreams];
  std::uint64_t between[kIdles];  // idle cycles between tiles
  std::uint64_t within[kIdles];   // and within one
  std::uint32_t rule;
  std::uint32_t text_bytes;
  std::uint64_t rule_cycle;
  std::uint64_t rule_beat;  // results that came before
};

}  // namespace gemm64::dut
