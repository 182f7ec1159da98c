// SPDX-License-Identifier: Apache-2.0
// A fault to be put inside the accelerator or its memory, as the user names it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "host/device/geometry.hpp"

namespace gemm64 {

/// One flipped bit, one handshake that goes wrong, or a memory that fails, at one cycle.
struct Fault {
  enum class Kind {
    kWeight,        // register of the array that holds a weight
    kActivation,    // register of the array that holds an activation
    kPartialSum,    // register after a stage of the array
    kAccumulator,   // word of the accumulator
    kResult,        // byte of the next beat of results
    kCommand,       // word of the next command that is fetched
    kRegister,      // register that the host can write
    kLost,          // a channel's next handshake, which only the sender sees
    kRepeated,      // a channel's next handshake, which the receiver sees twice
    kSlaveError,    // the next burst of a port is answered with SLVERR
    kDecodeError,   // the next burst of a port is answered with DECERR
    kHang,          // a memory port never answers again
    kBias,          // bias of a column in the next set of parameters that is fetched
    kScale,         // scale of a column in it
    kOperand,       // byte of the next word of second operands, or of a table, that is fetched
    kTable,         // entry of the element-wise unit's table
    kVector,        // register of the element-wise unit that holds a lane's sum or product, rounded
    kLaneWeight,    // weight of a depthwise lane, in one of the halves that take planes in turn
    kLaneValue,     // a lane's value in the window of 7x7 words
    kLaneSum,       // register that holds a depthwise lane's sum
    kLaneLine,      // word of a memory that keeps a row for the depthwise lanes
    kScratchpad,    // word of the scratchpad, or of the tensor memory after it
    kStoredWeight,  // word of the weight buffer
    kStoredBias,    // bias of a column in a set of the parameter buffer
    kStoredScale,   // scale of a column in it
    kStoredOperand,  // word of the operand buffer
  };
  enum class Port { kWeights, kData, kResults };
  enum class Channel { kWeightsAr, kWeightsR, kDataAr, kDataR, kResultsAw, kResultsW, kResultsB };

  Kind kind = Kind::kWeight;
  std::uint64_t clock = 0;  // what is flipped is so from the start of this cycle on; what waits for
                            // a beat, a command or a burst waits from this cycle on
  unsigned bank = 0;        // of the accumulator; half of the lanes' weights; row of their window,
                            // or line memory
  unsigned row = 0;     // of K for operands, the stage of partial sums, of M in the accumulator;
                        // tap of the lanes' weights, column of their window or line; word of the
                        // scratchpad or of another buffer, set of parameters
  unsigned column = 0;  // of N, or a lane
  unsigned place = 0;   // byte of a beat, word of a command, column of a set of parameters,
                        // entry of the table, lane, or index in kFaultRegisters
  unsigned bit =
      0;  // 0 to 7 of operands and bytes, 0 to 10 of the
          // element-wise unit's lanes, 0 to 21 of lanes' sums, 0 to 31 of others and words
  Port port = Port::kWeights;
  Channel channel = Channel::kWeightsAr;
  std::optional<bool> stuck;  // of the array: what the bit is from `clock` on, instead of flipped
};

/// All kinds, as reported: "weight", "partial-sum", "lost".
struct FaultKind {
  Fault::Kind kind;
  const char* name;
};
inline constexpr std::array<FaultKind, 26> kFaultKinds{
    {{Fault::Kind::kWeight, "weight"},
     {Fault::Kind::kActivation, "activation"},
     {Fault::Kind::kPartialSum, "partial-sum"},
     {Fault::Kind::kAccumulator, "accumulator"},
     {Fault::Kind::kResult, "result"},
     {Fault::Kind::kCommand, "command"},
     {Fault::Kind::kRegister, "register"},
     {Fault::Kind::kLost, "lost"},
     {Fault::Kind::kRepeated, "repeated"},
     {Fault::Kind::kSlaveError, "slverr"},
     {Fault::Kind::kDecodeError, "decerr"},
     {Fault::Kind::kHang, "hang"},
     {Fault::Kind::kBias, "bias"},
     {Fault::Kind::kScale, "scale"},
     {Fault::Kind::kOperand, "operand"},
     {Fault::Kind::kTable, "table"},
     {Fault::Kind::kVector, "vector"},
     {Fault::Kind::kLaneWeight, "lane-weight"},
     {Fault::Kind::kLaneValue, "lane-value"},
     {Fault::Kind::kLaneSum, "lane-sum"},
     {Fault::Kind::kLaneLine, "lane-line"},
     {Fault::Kind::kScratchpad, "scratchpad"},
     {Fault::Kind::kStoredWeight, "stored-weight"},
     {Fault::Kind::kStoredBias, "stored-bias"},
     {Fault::Kind::kStoredScale, "stored-scale"},
     {Fault::Kind::kStoredOperand, "stored-operand"}}};
const char* name(Fault::Kind kind);

/// The registers that faults can be put in: all that the host can write, and the bits that each
/// has.
struct FaultRegister {
  const char* name;
  unsigned bits;
};
inline constexpr std::array<FaultRegister, 9> kFaultRegisters{{{"CONTROL", 2},
                                                               {"INTERRUPT", 2},
                                                               {"WATCHDOG", 32},
                                                               {"RING_BASE_LOW", 32},
                                                               {"RING_BASE_HIGH", 32},
                                                               {"RING_MASK", 16},
                                                               {"RING_TAIL", 16},
                                                               {"INTERRUPT_ENABLE", 2},
                                                               {"TENSOR_MEMORY", 1}}};

inline constexpr unsigned kFaultPorts = 3;
inline constexpr unsigned kFaultChannels = 7;

/// The forms that parse_fault() takes, for help texts and messages.
extern const char* const kFaultForms;

/// Reads "weight:ROW,COLUMN:BIT@CLOCK" and its like. Throws UsageError, with the forms, if it is
/// none.
Fault parse_fault(const std::string& text);

/// Throws UsageError if the place does not exist in such an accelerator, and says what does.
void check_fault(const Fault& fault, const Geometry& geometry);

/// Words in which kScratchpad faults can be put: those of the tensor memory follow the others.
std::uint32_t scratchpad_places(const Geometry& geometry);

/// Is its place a register of the array?
bool is_in_array(Fault::Kind kind);

/// The fault as parse_fault() reads it, and in words: "bit 7 of the weight at row 3, column 5".
std::string to_string(const Fault& fault);
std::string in_words(const Fault& fault);

}  // namespace gemm64
