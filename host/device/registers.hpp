// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gemm64 {

/// Version of registers and commands that this header was made for.
inline constexpr std::uint32_t kVersionMajor = 3;
inline constexpr std::uint32_t kVersionMinor = 7;

/// Byte offsets of the registers.
namespace reg {
/// Always 0x67363463, so that a driver knows whom it talks to.
inline constexpr std::uint32_t kId = 0x000;
/// Version of registers and commands.
inline constexpr std::uint32_t kVersion = 0x004;
/// Shape of the array.
inline constexpr std::uint32_t kArray = 0x008;
/// Words of N activations that the scratchpad holds, without those that serve as tensor memory.
inline constexpr std::uint32_t kScratchpadWords = 0x00c;
/// Rows of N sums in each of the two accumulator banks.
inline constexpr std::uint32_t kAccumulatorRows = 0x010;
/// Shape of the bus ports.
inline constexpr std::uint32_t kBus = 0x014;
/// Bits of a memory address.
inline constexpr std::uint32_t kAddressWidth = 0x018;
/// Write 1 to act; reads as zero.
inline constexpr std::uint32_t kControl = 0x020;
/// What the accelerator is doing.
inline constexpr std::uint32_t kStatus = 0x024;
/// Causes of the interrupt; write 1 to clear. The line is high while any is set that
/// INTERRUPT_ENABLE names.
inline constexpr std::uint32_t kInterrupt = 0x028;
/// Why the work stopped; zero where it did not.
inline constexpr std::uint32_t kError = 0x02c;
/// Clocks without any progress after which busy engines are stopped with an error; 0 waits for
/// ever.
inline constexpr std::uint32_t kWatchdog = 0x030;
/// Address of the command ring, low half; a multiple of 64.
inline constexpr std::uint32_t kRingBaseLow = 0x034;
/// Address of the command ring, high half. Bits above the bus are refused (SLVERR).
inline constexpr std::uint32_t kRingBaseHigh = 0x038;
/// Commands in the ring, less one; the ring holds a power of two of them, at most 65536.
inline constexpr std::uint32_t kRingMask = 0x03c;
/// Index after the last valid command; writing it starts the work. Refused (SLVERR) during a soft
/// reset.
inline constexpr std::uint32_t kRingTail = 0x040;
/// Index of the next command to be dispatched.
inline constexpr std::uint32_t kRingHead = 0x044;
/// Which causes raise the line; INTERRUPT tells of all.
inline constexpr std::uint32_t kInterruptEnable = 0x048;
/// Sets of parameters that the parameter buffer holds, one for each tile of N.
inline constexpr std::uint32_t kParameterSets = 0x04c;
/// Which faults of its own the accelerator was built to find.
inline constexpr std::uint32_t kSelfCheck = 0x050;
/// After CHECKSUM: the tile that ERROR.COMMAND computed, counted from 0 in the order of its tiles.
inline constexpr std::uint32_t kFaultTile = 0x054;
/// After CHECKSUM: the row of that tile, from 0.
inline constexpr std::uint32_t kFaultRow = 0x058;
/// After PARITY and UNWRITTEN: where the word lies.
inline constexpr std::uint32_t kFaultMemory = 0x05c;
/// Words at the end of the scratchpad that can serve as tensor memory; 0: none can.
inline constexpr std::uint32_t kTensorWords = 0x060;
/// Whether they do. Writing it also resets, as CONTROL.RESET does. Refused (SLVERR) while BUSY, and
/// if TENSOR_WORDS is 0.
inline constexpr std::uint32_t kTensorMemory = 0x064;
}  // namespace reg

/// Where a field lies in its register.
struct Field {
  unsigned lsb;
  unsigned width;

  /// The field's bits, moved to where they lie in the register.
  constexpr std::uint32_t mask() const { return (0xffffffffu >> (32 - width)) << lsb; }
  /// The field's value in `word`.
  constexpr std::uint32_t get(std::uint32_t word) const { return (word & mask()) >> lsb; }
  /// A register's word with `value` in this field and zero elsewhere.
  constexpr std::uint32_t put(std::uint32_t value) const { return (value << lsb) & mask(); }
};

/// Fields, named after their register: field::kStatusBusy.get(word).
namespace field {
/// Grows when something is added.
inline constexpr Field kVersionMinor{0, 16};
/// Grows when something changes its meaning.
inline constexpr Field kVersionMajor{16, 16};
/// Rows (the K dimension) and columns (the N dimension) of the array; bytes of a word and of a bus
/// beat.
inline constexpr Field kArrayN{0, 8};
/// Rows whose products are added before a partial-sum register.
inline constexpr Field kArrayStageRows{8, 8};
/// Tiles that the weight buffer holds ahead of the array.
inline constexpr Field kArrayWeightTiles{16, 16};
/// Read bursts that each reader keeps outstanding.
inline constexpr Field kBusReads{0, 8};
/// Write bursts outstanding.
inline constexpr Field kBusWrites{8, 8};
/// Commands fetched ahead.
inline constexpr Field kBusCommands{16, 8};
/// Beats of the longest burst.
inline constexpr Field kBusBurstBeats{24, 8};
/// Soft reset: lets the bus transfers under way end, then returns every engine, the ring and the
/// error to their reset state.
inline constexpr Field kControlReset{0, 1};
/// Sets every counter to zero.
inline constexpr Field kControlClearCounters{1, 1};
/// Commands are waiting or under way.
inline constexpr Field kStatusBusy{0, 1};
/// An error stopped the work; only a reset helps.
inline constexpr Field kStatusHalted{1, 1};
/// A soft reset waits for bus transfers to end.
inline constexpr Field kStatusResetting{2, 1};
/// A FINISH command was reached.
inline constexpr Field kInterruptDone{0, 1};
/// The work stopped with an error.
inline constexpr Field kInterruptError{1, 1};
/// What went wrong (table of errors).
inline constexpr Field kErrorCode{0, 4};
/// Which engine found it (table of engines).
inline constexpr Field kErrorEngine{4, 4};
/// Which command it was: its number since the last reset, from 0.
inline constexpr Field kErrorCommand{16, 16};
/// INTERRUPT.DONE raises the line.
inline constexpr Field kInterruptEnableDone{0, 1};
/// INTERRUPT.ERROR raises the line.
inline constexpr Field kInterruptEnableError{1, 1};
/// Those of the array, by a column of checksums: error CHECKSUM.
inline constexpr Field kSelfCheckChecksum{0, 1};
/// Those of its memories and of the lanes, by a check beside each word: error PARITY.
inline constexpr Field kSelfCheckParity{1, 1};
/// Those of commands on their way and fetched, by their CHECK: error PARITY.
inline constexpr Field kSelfCheckCommands{2, 1};
/// Those of rows of 8-bit results in the requantizer and on the vector path: error PARITY.
inline constexpr Field kSelfCheckRows{3, 1};
/// Which memory (table of memories).
inline constexpr Field kFaultMemoryNumber{0, 8};
/// Its word; of sums the row, of parameters four times the set and the word of biases or scales, of
/// lanes LINE times the rows above and the column, or 16 times the multiplier and the address; 0 of
/// what is no memory.
inline constexpr Field kFaultMemoryWord{8, 24};
/// 1: addresses with the highest of ADDRESS_WIDTH bits set are words of the tensor memory:
/// LOAD_ACTIVATIONS and LOAD_OPERANDS read there and STORE writes there, and nothing crosses a
/// port.
inline constexpr Field kTensorMemoryEnable{0, 1};
}  // namespace field

/// What a register does when it is read and written.
enum class Access {
  kReadOnly,         // read only
  kReadWrite,        // read and write
  kWriteOneToClear,  // read; writing 1 clears a bit
  kWriteOneToPulse,  // writing 1 acts; reads as zero
};

/// One register; `reset` holds only where `resets` (others depend on parameters or on
/// what happened).
struct Register {
  const char* name;
  std::uint32_t offset;
  Access access;
  bool resets;
  std::uint32_t reset;
  const char* purpose;
};

/// Every register but the counters.
// clang-format off
inline constexpr std::array<Register, 25> kRegisters{{
    {"ID", 0x000, Access::kReadOnly, true, 0x67363463, "Always 0x67363463, so that a driver knows whom it talks to."},
    {"VERSION", 0x004, Access::kReadOnly, false, 0x00000000, "Version of registers and commands."},
    {"ARRAY", 0x008, Access::kReadOnly, false, 0x00000000, "Shape of the array."},
    {"SCRATCHPAD_WORDS", 0x00c, Access::kReadOnly, false, 0x00000000, "Words of N activations that the scratchpad holds, without those that serve as tensor memory."},
    {"ACCUMULATOR_ROWS", 0x010, Access::kReadOnly, false, 0x00000000, "Rows of N sums in each of the two accumulator banks."},
    {"BUS", 0x014, Access::kReadOnly, false, 0x00000000, "Shape of the bus ports."},
    {"ADDRESS_WIDTH", 0x018, Access::kReadOnly, false, 0x00000000, "Bits of a memory address."},
    {"CONTROL", 0x020, Access::kWriteOneToPulse, false, 0x00000000, "Write 1 to act; reads as zero."},
    {"STATUS", 0x024, Access::kReadOnly, false, 0x00000000, "What the accelerator is doing."},
    {"INTERRUPT", 0x028, Access::kWriteOneToClear, false, 0x00000000, "Causes of the interrupt; write 1 to clear. The line is high while any is set that INTERRUPT_ENABLE names."},
    {"ERROR", 0x02c, Access::kReadOnly, false, 0x00000000, "Why the work stopped; zero where it did not."},
    {"WATCHDOG", 0x030, Access::kReadWrite, true, 0x00100000, "Clocks without any progress after which busy engines are stopped with an error; 0 waits for ever."},
    {"RING_BASE_LOW", 0x034, Access::kReadWrite, true, 0x00000000, "Address of the command ring, low half; a multiple of 64."},
    {"RING_BASE_HIGH", 0x038, Access::kReadWrite, true, 0x00000000, "Address of the command ring, high half. Bits above the bus are refused (SLVERR)."},
    {"RING_MASK", 0x03c, Access::kReadWrite, true, 0x0000003f, "Commands in the ring, less one; the ring holds a power of two of them, at most 65536."},
    {"RING_TAIL", 0x040, Access::kReadWrite, true, 0x00000000, "Index after the last valid command; writing it starts the work. Refused (SLVERR) during a soft reset."},
    {"RING_HEAD", 0x044, Access::kReadOnly, false, 0x00000000, "Index of the next command to be dispatched."},
    {"INTERRUPT_ENABLE", 0x048, Access::kReadWrite, true, 0x00000003, "Which causes raise the line; INTERRUPT tells of all."},
    {"PARAMETER_SETS", 0x04c, Access::kReadOnly, false, 0x00000000, "Sets of parameters that the parameter buffer holds, one for each tile of N."},
    {"SELF_CHECK", 0x050, Access::kReadOnly, false, 0x00000000, "Which faults of its own the accelerator was built to find."},
    {"FAULT_TILE", 0x054, Access::kReadOnly, true, 0x00000000, "After CHECKSUM: the tile that ERROR.COMMAND computed, counted from 0 in the order of its tiles."},
    {"FAULT_ROW", 0x058, Access::kReadOnly, true, 0x00000000, "After CHECKSUM: the row of that tile, from 0."},
    {"FAULT_MEMORY", 0x05c, Access::kReadOnly, true, 0x00000000, "After PARITY and UNWRITTEN: where the word lies."},
    {"TENSOR_WORDS", 0x060, Access::kReadOnly, false, 0x00000000, "Words at the end of the scratchpad that can serve as tensor memory; 0: none can."},
    {"TENSOR_MEMORY", 0x064, Access::kReadWrite, true, 0x00000000, "Whether they do. Writing it also resets, as CONTROL.RESET does. Refused (SLVERR) while BUSY, and if TENSOR_WORDS is 0."},
}};
// clang-format on

/// What a command does.
enum class Opcode : std::uint32_t {
  /// Streams COUNT words from ADDRESS on into the weight buffer, the same ones PASSES times; N
  /// words are a tile, a word is the N weights (along K) of one column.
  kLoadWeights = 1,
  /// For each of BLOCKS blocks, the same PASSES times: streams COUNT tiles of ROWS words, STRIDE
  /// words apart, into the scratchpad; a word is N activations (along K) of one row. A block begins
  /// ROWS words after the block before it. With WINDOW: ROWS pixels of COUNT planes, STRIDE words
  /// apart in memory, into the slots from SLOT on; BLOCKS and PASSES are 1.
  kLoadActivations = 2,
  /// BLOCKS times PASSES times COUNT tiles: each takes ROWS words from the scratchpad and one tile
  /// of weights. With WINDOW: a block of ROWS output pixels, PASSES times all taps of COUNT planes,
  /// which the last SET_WINDOW describes; BLOCKS is 1 and ACCUMULATE set.
  kMatmul = 3,
  /// For each of BLOCKS blocks of M: writes COUNT finished tiles of ROWS rows of N results to
  /// memory, STRIDE rows apart. A block begins ROWS rows after the block before it. With 8-bit
  /// results each tile takes a set of parameters. With VECTOR, of 8-bit results alone: they pass
  /// the vector path, where a second operand, which LOAD_OPERANDS brings, is added or multiplied, a
  /// table applied, and some lanes written only. Without ADD and MULTIPLY no operands are taken but
  /// a table, and neither scales nor bounds apply: the results, or their entries of the table, are
  /// written as they are.
  kStore = 4,
  /// Waits until every engine is idle and every write is answered, then raises the interrupt.
  kFinish = 5,
  /// Waits until at most COUNT of the STOREs before it are still open: a STORE is until every write
  /// of it is answered. It waits for nothing else.
  kFence = 6,
  /// Streams COUNT words from ADDRESS on into the parameter buffer, the same ones PASSES times.
  /// Eight words are the set of one tile of N: the int32 biases of its N columns, then their
  /// float32 scales, low byte first. Scales are finite and not negative: the sign is not looked at,
  /// and what is infinite or NaN counts as the largest finite float32.
  kLoadParameters = 7,
  /// Describes the convolution whose blocks the MATMULs with WINDOW after it are.
  kSetWindow = 8,
  /// For each of BLOCKS blocks, the same PASSES times: streams COUNT runs of ROWS words, STRIDE
  /// words apart, into the operand buffer; a word is N operands, one for each lane. A block begins
  /// ROWS words after the block before it. STOREs take the words in their order: a table, then for
  /// each tile its rows, or one word with BROADCAST.
  kLoadOperands = 9,
  /// For each of COUNT planes: takes KERNEL_HEIGHT * KERNEL_HEIGHT words of weights, each the N
  /// channels of a tap, row by row; then, for each of PASSES images, HEIGHT * WIDTH words of
  /// activations, and gives a row of N sums for each output pixel, in their order. Blocks have ROWS
  /// rows, the last one of a plane what is left. Sums have 22 bits. With MAXIMUM: the largest value
  /// under the taps whose weight is odd. With ACCUMULATE an image gives one row. A sum is made when
  /// the word after that of its last tap is there, too: the last sums of an image may need words of
  /// the next.
  kDepthwise = 10,
};

/// Bits of a command's flags.
namespace flag {
/// MATMUL: add the COUNT tiles of a pass into one block; otherwise each tile is a block of its own.
/// DEPTHWISE: all windows of an image add to one row of sums, or give its largest value.
inline constexpr std::uint32_t kAccumulate = 1u << 0;
/// MATMUL: the words of a block stay in the scratchpad and serve all its passes; otherwise each
/// pass consumes words of its own.
inline constexpr std::uint32_t kRetain = 1u << 1;
/// FENCE: writes all counters, as they are when it passes, to memory from ADDRESS on: 8 bytes each,
/// low byte first, in the order of the table of counters, padded with zeros to a multiple of N
/// bytes. Without the flag ADDRESS is not used.
inline constexpr std::uint32_t kSnapshot = 1u << 2;
/// LOAD_ACTIVATIONS, MATMUL: the scratchpad holds planes of pixels, which are read as the taps of a
/// convolution meet them. Waits until no words of products without the flag are kept, as those wait
/// for its pixels.
inline constexpr std::uint32_t kWindow = 1u << 3;
/// LOAD_ACTIVATIONS with WINDOW: the first of a convolution. Waits until no pixel of the one before
/// is kept.
inline constexpr std::uint32_t kStart = 1u << 4;
/// STORE: results pass the vector path.
inline constexpr std::uint32_t kVector = 1u << 5;
/// DEPTHWISE: the largest value under the taps whose weight is odd, instead of the sum of products.
inline constexpr std::uint32_t kMaximum = 1u << 6;
/// MATMUL: the PASSES times COUNT tiles of a block stay in the weight buffer, and the next block
/// takes them again; those of the last of the BLOCKS leave. With WINDOW all tiles stay, for the
/// next MATMUL. The buffer must have space for them.
inline constexpr std::uint32_t kRetainWeights = 1u << 7;
}  // namespace flag

/// How results are written, as a command's FORMAT tells it.
enum class ResultCode : std::uint32_t {
  /// The sums as they are.
  kInt32 = 0,
  /// clamp(rint(float32(sum + bias) · scale) + ZERO, LOW, HIGH), with one bias and scale a column.
  /// sum + bias wraps in int32; halves round to even.
  kInt8 = 1,
  /// The same, with ZERO, LOW and HIGH from 0 to 255.
  kUint8 = 2,
};

/// A format of results.
struct ResultFormatEntry {
  ResultCode code;
  const char* name;
  std::uint32_t bytes;  // of a value
  bool is_signed;
  const char* purpose;
};

/// Every format of results.
// clang-format off
inline constexpr std::array<ResultFormatEntry, 3> kResultFormats{{
    {ResultCode::kInt32, "INT32", 4, true, "The sums as they are."},
    {ResultCode::kInt8, "INT8", 1, true, "clamp(rint(float32(sum + bias) · scale) + ZERO, LOW, HIGH), with one bias and scale a column. sum + bias wraps in int32; halves round to even."},
    {ResultCode::kUint8, "UINT8", 1, false, "The same, with ZERO, LOW and HIGH from 0 to 255."},
}};
// clang-format on

/// Bytes of a command in the ring.
inline constexpr std::size_t kCommandBytes = 64;

/// One command, as the driver means it; what an opcode does not use stays zero.
struct Command {
  /// What to do (table of opcodes).
  Opcode opcode{};
  /// Bits that vary it (table of flags).
  std::uint32_t flags = 0;
  /// Rows of M, or output pixels, in a block; 1 to ACCUMULATOR_ROWS. LOAD_ACTIVATIONS with WINDOW:
  /// pixels; 1 to CAPACITY.
  std::uint32_t rows = 0;
  /// Words (LOAD_WEIGHTS, LOAD_PARAMETERS) or tiles of K (LOAD_ACTIVATIONS, MATMUL; planes with
  /// WINDOW) in a pass, planes (DEPTHWISE), tiles of results for each block of M (STORE), STOREs
  /// still open (FENCE).
  std::uint32_t count = 0;
  /// LOAD_WEIGHTS, LOAD_PARAMETERS: how often the same COUNT words are read, from ADDRESS each
  /// time; once for each block of M. LOAD_ACTIVATIONS: how often the same tiles of a block are
  /// read; once for each tile of N, or once for all of them where MATMUL has RETAIN. MATMUL: tiles
  /// of N in a block. DEPTHWISE: images of a plane.
  std::uint32_t passes = 0;
  /// How many blocks of M follow each other, each with all its passes or tiles.
  std::uint32_t blocks = 0;
  /// Memory address, low half; a multiple of N.
  std::uint32_t address_low = 0;
  /// Memory address, high half.
  std::uint32_t address_high = 0;
  /// How results are written (table of result formats).
  std::uint32_t format = 0;
  /// Zero point of 8-bit results, signed as they are (STORE), or of the pixels beyond the border
  /// (SET_WINDOW, DEPTHWISE).
  std::uint32_t zero = 0;
  /// Least 8-bit result, signed as they are; at most HIGH.
  std::uint32_t low = 0;
  /// Largest 8-bit result, signed as they are; at least LOW.
  std::uint32_t high = 0;
  /// Rows in memory from the start of a tile to that of the next. A row is N activations, or N
  /// results in their format.
  std::uint32_t stride = 0;
  /// Rows of taps, at least 1. DEPTHWISE: 3, 5 or 7, and as many columns.
  std::uint32_t kernel_height = 0;
  /// Taps in a row, at least 1.
  std::uint32_t kernel_width = 0;
  /// Input rows from an output row to the next.
  std::uint32_t stride_height = 0;
  /// Input columns from an output column to the next; at most CAPACITY.
  std::uint32_t stride_width = 0;
  /// Input rows from a row of taps to the next. DEPTHWISE: at least 1, and DILATION_HEIGHT * WIDTH
  /// at most 128.
  std::uint32_t dilation_height = 0;
  /// Input columns from a tap to the next; at most CAPACITY. DEPTHWISE: 1 to 6 with a KERNEL_HEIGHT
  /// of 3, 1 or 2 with 5, and 1 with 7.
  std::uint32_t dilation_width = 0;
  /// Rows of the border above the input.
  std::uint32_t pad_top = 0;
  /// Columns of the border left of it. Below and to the right the border has no end.
  std::uint32_t pad_left = 0;
  /// Rows of an input image.
  std::uint32_t height = 0;
  /// Columns of an input image.
  std::uint32_t width = 0;
  /// Rows of an output image.
  std::uint32_t out_height = 0;
  /// Columns of an output image.
  std::uint32_t out_width = 0;
  /// Slots, modulo CAPACITY, from what a tap meets at the last output pixel of a row to what it
  /// meets at the first of the next. DEPTHWISE: words, STRIDE_HEIGHT * WIDTH - (OUT_WIDTH - 1) *
  /// STRIDE_WIDTH, at least 0.
  std::uint32_t row_step = 0;
  /// The same from the last output pixel of an image to the first of the next. DEPTHWISE: HEIGHT *
  /// WIDTH - (OUT_HEIGHT - 1) * STRIDE_HEIGHT * WIDTH - (OUT_WIDTH - 1) * STRIDE_WIDTH, at least 0.
  std::uint32_t image_step = 0;
  /// Slots, modulo CAPACITY, from what the last tap of a row meets to what the first of the next
  /// row meets at the same output pixel.
  std::uint32_t tap_row_step = 0;
  /// Passes that read the same planes, at least 1; those after them read the planes that follow.
  std::uint32_t group_passes = 0;
  /// Pixels of each plane that the scratchpad holds, at least 1; in all commands of a convolution
  /// the same.
  std::uint32_t capacity = 0;
  /// Words before that which the last tap meets at the first output pixel: ((KERNEL_HEIGHT - 1) *
  /// DILATION_HEIGHT - PAD_TOP) * WIDTH + (KERNEL_HEIGHT - 1) * DILATION_WIDTH - PAD_LEFT; neither
  /// difference is negative.
  std::uint32_t lead = 0;
  /// Below CAPACITY. LOAD_ACTIVATIONS: slot of the first pixel; pixel p of the tensor has slot p
  /// modulo CAPACITY. Without START new pixels follow those before. MATMUL: slot of what the first
  /// tap meets at the first output pixel, as if there were no border.
  std::uint32_t slot = 0;
  /// Word of the scratchpad at which the first plane that is loaded begins; planes lie CAPACITY
  /// words apart. At 0 the pixels are new, and wait for room; above they come to those of the
  /// LOAD_ACTIVATIONS before.
  std::uint32_t place = 0;
  /// Row of the block's first output pixel, in its image.
  std::uint32_t out_row = 0;
  /// Its column.
  std::uint32_t out_column = 0;
  /// Input row that the first tap meets there, signed, of 18 bits: OUT_ROW * STRIDE_HEIGHT -
  /// PAD_TOP.
  std::uint32_t in_row = 0;
  /// Input column that the first tap meets there, signed, of 18 bits: OUT_COLUMN * STRIDE_WIDTH -
  /// PAD_LEFT.
  std::uint32_t in_column = 0;
  /// Pixels that were loaded for this block: so many words of a plane must have come before it is
  /// read for the first time.
  std::uint32_t new_pixels = 0;
  /// Pixels, the oldest ones, that no block after this one needs.
  std::uint32_t freed_pixels = 0;
  /// float32 from 2**-7 to below 2**4: with ADD, what an 8-bit result is multiplied by.
  std::uint32_t result_scale = 0;
  /// float32: what the operand is multiplied by (ADD, from 2**-7 to below 2**4), or the product
  /// (MULTIPLY, from 2**-12 to below a half).
  std::uint32_t operand_scale = 0;
  /// float32: what is added; a multiple of 2**-31, in magnitude below 2**14.
  std::uint32_t offset = 0;
  /// MULTIPLY: zero point of the 8-bit result, signed as results are.
  std::uint32_t result_zero = 0;
  /// MULTIPLY: zero point of the operand, signed as results are.
  std::uint32_t operand_zero = 0;
  /// ADD, MULTIPLY: the least value that is written, signed as results are; at most FUNCTION_MAX.
  std::uint32_t function_min = 0;
  /// ADD, MULTIPLY: the largest value that is written.
  std::uint32_t function_max = 0;
  /// The first lane that is written, below N; bytes of lanes before it stay as they are in memory.
  std::uint32_t first_lane = 0;
  /// How many lanes are written; 0: all from FIRST_LANE on. FIRST_LANE + LANES is at most N.
  std::uint32_t lanes = 0;
  /// 1: clamp(rint(fma(result, RESULT_SCALE, fma(operand, OPERAND_SCALE, OFFSET))), FUNCTION_MIN,
  /// FUNCTION_MAX) is written, in float32.
  std::uint32_t add = 0;
  /// 1: clamp(rint((result - RESULT_ZERO) * (operand - OPERAND_ZERO) * OPERAND_SCALE + OFFSET),
  /// FUNCTION_MIN, FUNCTION_MAX) is written, the product and the sum each rounded to float32. Not
  /// with ADD.
  std::uint32_t multiply = 0;
  /// 1: a table takes the place of each 8-bit result by the byte at its index, before ADD or
  /// MULTIPLY. The index is the result's byte as a number from 0 to 255, of int8 results too: that
  /// of -1 is 255. Without KEEP the table is the first 256 bytes of the STORE's operands.
  std::uint32_t table = 0;
  /// 1: a tile has one word of operands, which serves all its rows; otherwise one for each row.
  std::uint32_t broadcast = 0;
  /// 1: lanes, scales, zero points, bounds, signs and table are those of the last STORE with VECTOR
  /// and without KEEP, as are all other bits of this word; there must have been one since the
  /// reset. ROWS, COUNT, BLOCKS, ADDRESS, STRIDE, FORMAT, ZERO, LOW and HIGH are those of the STORE
  /// itself, so its FORMAT must be the same as that of the STORE whose settings it keeps. No table
  /// is read.
  std::uint32_t keep = 0;
  /// 1: with ADD, the operand takes the place of the result and the result that of the operand.
  std::uint32_t swap = 0;
  /// 1: the highest bit of each operand is flipped as it comes, so that int8 values are those of
  /// uint8, less 128. It changes neither the bytes of a table nor OPERAND_ZERO, which counts after
  /// it.
  std::uint32_t operand_moved = 0;
  /// 1: the highest bit of each value is flipped as it is written, so that uint8 results lie in
  /// memory as int8, less 128; also without ADD and MULTIPLY. FUNCTION_MIN and FUNCTION_MAX count
  /// before it.
  std::uint32_t result_moved = 0;

  /// Both halves of the address.
  constexpr std::uint64_t address() const {
    return std::uint64_t{address_high} << 32 | address_low;
  }
  constexpr void set_address(std::uint64_t value) {
    address_low = static_cast<std::uint32_t>(value);
    address_high = static_cast<std::uint32_t>(value >> 32);
  }

  /// Writes the command as it lies in memory: words of 32 bits, low byte first, all else zero.
  /// Throws std::out_of_range if a value is wider than its field.
  void encode(std::uint8_t* bytes) const {
    std::uint32_t words[kCommandBytes / 4] = {};
    words[0] |= fit("OPCODE", static_cast<std::uint32_t>(opcode), 8);
    words[0] |= fit("FLAGS", flags, 8) << 8;
    words[0] |= fit("ROWS", rows, 16) << 16;
    words[1] |= count;
    words[2] |= passes;
    words[3] |= blocks;
    words[4] |= address_low;
    words[5] |= address_high;
    words[6] |= fit("FORMAT", format, 4);
    words[6] |= fit("ZERO", zero, 8) << 8;
    words[6] |= fit("LOW", low, 8) << 16;
    words[6] |= fit("HIGH", high, 8) << 24;
    words[7] |= stride;
    if (opcode == Opcode::kSetWindow || opcode == Opcode::kDepthwise) {
      words[8] |= fit("KERNEL_HEIGHT", kernel_height, 8);
    }
    if (opcode == Opcode::kSetWindow) {
      words[8] |= fit("KERNEL_WIDTH", kernel_width, 8) << 8;
    }
    if (opcode == Opcode::kSetWindow || opcode == Opcode::kDepthwise) {
      words[8] |= fit("STRIDE_HEIGHT", stride_height, 8) << 16;
      words[8] |= fit("STRIDE_WIDTH", stride_width, 8) << 24;
      words[9] |= fit("DILATION_HEIGHT", dilation_height, 8);
      words[9] |= fit("DILATION_WIDTH", dilation_width, 8) << 8;
      words[9] |= fit("PAD_TOP", pad_top, 8) << 16;
      words[9] |= fit("PAD_LEFT", pad_left, 8) << 24;
      words[10] |= fit("HEIGHT", height, 16);
      words[10] |= fit("WIDTH", width, 16) << 16;
      words[11] |= fit("OUT_HEIGHT", out_height, 16);
      words[11] |= fit("OUT_WIDTH", out_width, 16) << 16;
      words[12] |= fit("ROW_STEP", row_step, 16);
      words[12] |= fit("IMAGE_STEP", image_step, 16) << 16;
    }
    if (opcode == Opcode::kSetWindow) {
      words[13] |= fit("TAP_ROW_STEP", tap_row_step, 16);
    }
    words[13] |= fit("GROUP_PASSES", group_passes, 16) << 16;
    words[14] |= fit("CAPACITY", capacity, 16);
    if (opcode == Opcode::kDepthwise) {
      words[13] |= fit("LEAD", lead, 16);
    }
    words[14] |= fit("SLOT", slot, 16) << 16;
    words[15] |= place;
    if (opcode == Opcode::kMatmul) {
      words[8] |= fit("OUT_ROW", out_row, 16);
      words[8] |= fit("OUT_COLUMN", out_column, 16) << 16;
      words[9] |= in_row;
      words[10] |= in_column;
      words[11] |= fit("NEW_PIXELS", new_pixels, 16);
      words[11] |= fit("FREED_PIXELS", freed_pixels, 16) << 16;
    }
    if (opcode == Opcode::kStore) {
      words[8] |= result_scale;
      words[9] |= operand_scale;
      words[10] |= offset;
      words[11] |= fit("RESULT_ZERO", result_zero, 8);
      words[11] |= fit("OPERAND_ZERO", operand_zero, 8) << 8;
      words[11] |= fit("FUNCTION_MIN", function_min, 8) << 16;
      words[11] |= fit("FUNCTION_MAX", function_max, 8) << 24;
      words[12] |= fit("FIRST_LANE", first_lane, 8);
      words[12] |= fit("LANES", lanes, 8) << 8;
      words[12] |= fit("ADD", add, 1) << 16;
      words[12] |= fit("MULTIPLY", multiply, 1) << 17;
      words[12] |= fit("TABLE", table, 1) << 18;
      words[12] |= fit("BROADCAST", broadcast, 1) << 19;
      words[12] |= fit("KEEP", keep, 1) << 20;
      words[12] |= fit("SWAP", swap, 1) << 21;
      words[12] |= fit("OPERAND_MOVED", operand_moved, 1) << 22;
      words[12] |= fit("RESULT_MOVED", result_moved, 1) << 23;
    }
    std::uint32_t together = 0;
    for (const std::uint32_t word : words) together ^= word;
    together ^= together >> 16;
    together ^= together >> 8;
    together ^= together >> 4;
    words[6] |= (together & 15u) << 4;
    for (std::size_t i = 0; i < kCommandBytes; ++i) {
      bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
    }
  }

  /// The command that lies at `bytes`, as encode() writes it; any opcode is taken.
  static Command decode(const std::uint8_t* bytes) {
    std::uint32_t words[kCommandBytes / 4] = {};
    for (std::size_t i = 0; i < kCommandBytes; ++i) {
      words[i / 4] |= std::uint32_t{bytes[i]} << (8 * (i % 4));
    }
    Command command;
    command.opcode = static_cast<Opcode>(Field{0, 8}.get(words[0]));
    command.flags = Field{8, 8}.get(words[0]);
    command.rows = Field{16, 16}.get(words[0]);
    command.count = words[1];
    command.passes = words[2];
    command.blocks = words[3];
    command.address_low = words[4];
    command.address_high = words[5];
    command.format = Field{0, 4}.get(words[6]);
    command.zero = Field{8, 8}.get(words[6]);
    command.low = Field{16, 8}.get(words[6]);
    command.high = Field{24, 8}.get(words[6]);
    command.stride = words[7];
    if (command.opcode == Opcode::kSetWindow || command.opcode == Opcode::kDepthwise) {
      command.kernel_height = Field{0, 8}.get(words[8]);
    }
    if (command.opcode == Opcode::kSetWindow) {
      command.kernel_width = Field{8, 8}.get(words[8]);
    }
    if (command.opcode == Opcode::kSetWindow || command.opcode == Opcode::kDepthwise) {
      command.stride_height = Field{16, 8}.get(words[8]);
      command.stride_width = Field{24, 8}.get(words[8]);
      command.dilation_height = Field{0, 8}.get(words[9]);
      command.dilation_width = Field{8, 8}.get(words[9]);
      command.pad_top = Field{16, 8}.get(words[9]);
      command.pad_left = Field{24, 8}.get(words[9]);
      command.height = Field{0, 16}.get(words[10]);
      command.width = Field{16, 16}.get(words[10]);
      command.out_height = Field{0, 16}.get(words[11]);
      command.out_width = Field{16, 16}.get(words[11]);
      command.row_step = Field{0, 16}.get(words[12]);
      command.image_step = Field{16, 16}.get(words[12]);
    }
    if (command.opcode == Opcode::kSetWindow) {
      command.tap_row_step = Field{0, 16}.get(words[13]);
    }
    command.group_passes = Field{16, 16}.get(words[13]);
    command.capacity = Field{0, 16}.get(words[14]);
    if (command.opcode == Opcode::kDepthwise) {
      command.lead = Field{0, 16}.get(words[13]);
    }
    command.slot = Field{16, 16}.get(words[14]);
    command.place = words[15];
    if (command.opcode == Opcode::kMatmul) {
      command.out_row = Field{0, 16}.get(words[8]);
      command.out_column = Field{16, 16}.get(words[8]);
      command.in_row = words[9];
      command.in_column = words[10];
      command.new_pixels = Field{0, 16}.get(words[11]);
      command.freed_pixels = Field{16, 16}.get(words[11]);
    }
    if (command.opcode == Opcode::kStore) {
      command.result_scale = words[8];
      command.operand_scale = words[9];
      command.offset = words[10];
      command.result_zero = Field{0, 8}.get(words[11]);
      command.operand_zero = Field{8, 8}.get(words[11]);
      command.function_min = Field{16, 8}.get(words[11]);
      command.function_max = Field{24, 8}.get(words[11]);
      command.first_lane = Field{0, 8}.get(words[12]);
      command.lanes = Field{8, 8}.get(words[12]);
      command.add = Field{16, 1}.get(words[12]);
      command.multiply = Field{17, 1}.get(words[12]);
      command.table = Field{18, 1}.get(words[12]);
      command.broadcast = Field{19, 1}.get(words[12]);
      command.keep = Field{20, 1}.get(words[12]);
      command.swap = Field{21, 1}.get(words[12]);
      command.operand_moved = Field{22, 1}.get(words[12]);
      command.result_moved = Field{23, 1}.get(words[12]);
    }
    return command;
  }

  friend constexpr bool operator==(const Command& a, const Command& b) {
    return a.opcode == b.opcode && a.flags == b.flags && a.rows == b.rows && a.count == b.count &&
           a.passes == b.passes && a.blocks == b.blocks && a.address_low == b.address_low &&
           a.address_high == b.address_high && a.format == b.format && a.zero == b.zero &&
           a.low == b.low && a.high == b.high && a.stride == b.stride &&
           a.kernel_height == b.kernel_height && a.kernel_width == b.kernel_width &&
           a.stride_height == b.stride_height && a.stride_width == b.stride_width &&
           a.dilation_height == b.dilation_height && a.dilation_width == b.dilation_width &&
           a.pad_top == b.pad_top && a.pad_left == b.pad_left && a.height == b.height &&
           a.width == b.width && a.out_height == b.out_height && a.out_width == b.out_width &&
           a.row_step == b.row_step && a.image_step == b.image_step &&
           a.tap_row_step == b.tap_row_step && a.group_passes == b.group_passes &&
           a.capacity == b.capacity && a.lead == b.lead && a.slot == b.slot && a.place == b.place &&
           a.out_row == b.out_row && a.out_column == b.out_column && a.in_row == b.in_row &&
           a.in_column == b.in_column && a.new_pixels == b.new_pixels &&
           a.freed_pixels == b.freed_pixels && a.result_scale == b.result_scale &&
           a.operand_scale == b.operand_scale && a.offset == b.offset &&
           a.result_zero == b.result_zero && a.operand_zero == b.operand_zero &&
           a.function_min == b.function_min && a.function_max == b.function_max &&
           a.first_lane == b.first_lane && a.lanes == b.lanes && a.add == b.add &&
           a.multiply == b.multiply && a.table == b.table && a.broadcast == b.broadcast &&
           a.keep == b.keep && a.swap == b.swap && a.operand_moved == b.operand_moved &&
           a.result_moved == b.result_moved;
  }
  friend constexpr bool operator!=(const Command& a, const Command& b) { return !(a == b); }

 private:
  static std::uint32_t fit(const char* field, std::uint32_t value, unsigned width) {
    if (value >> width == 0) return value;
    throw std::out_of_range(std::string("command field ") + field + ": " + std::to_string(value) +
                            " does not fit in " + std::to_string(width) + " bits");
  }
};

/// An opcode with its name and what it does.
struct OpcodeEntry {
  Opcode value;
  const char* name;
  const char* purpose;
};

/// Every opcode.
// clang-format off
inline constexpr std::array<OpcodeEntry, 10> kOpcodes{{
    {Opcode::kLoadWeights, "LOAD_WEIGHTS", "Streams COUNT words from ADDRESS on into the weight buffer, the same ones PASSES times; N words are a tile, a word is the N weights (along K) of one column."},
    {Opcode::kLoadActivations, "LOAD_ACTIVATIONS", "For each of BLOCKS blocks, the same PASSES times: streams COUNT tiles of ROWS words, STRIDE words apart, into the scratchpad; a word is N activations (along K) of one row. A block begins ROWS words after the block before it. With WINDOW: ROWS pixels of COUNT planes, STRIDE words apart in memory, into the slots from SLOT on; BLOCKS and PASSES are 1."},
    {Opcode::kMatmul, "MATMUL", "BLOCKS times PASSES times COUNT tiles: each takes ROWS words from the scratchpad and one tile of weights. With WINDOW: a block of ROWS output pixels, PASSES times all taps of COUNT planes, which the last SET_WINDOW describes; BLOCKS is 1 and ACCUMULATE set."},
    {Opcode::kStore, "STORE", "For each of BLOCKS blocks of M: writes COUNT finished tiles of ROWS rows of N results to memory, STRIDE rows apart. A block begins ROWS rows after the block before it. With 8-bit results each tile takes a set of parameters. With VECTOR, of 8-bit results alone: they pass the vector path, where a second operand, which LOAD_OPERANDS brings, is added or multiplied, a table applied, and some lanes written only. Without ADD and MULTIPLY no operands are taken but a table, and neither scales nor bounds apply: the results, or their entries of the table, are written as they are."},
    {Opcode::kFinish, "FINISH", "Waits until every engine is idle and every write is answered, then raises the interrupt."},
    {Opcode::kFence, "FENCE", "Waits until at most COUNT of the STOREs before it are still open: a STORE is until every write of it is answered. It waits for nothing else."},
    {Opcode::kLoadParameters, "LOAD_PARAMETERS", "Streams COUNT words from ADDRESS on into the parameter buffer, the same ones PASSES times. Eight words are the set of one tile of N: the int32 biases of its N columns, then their float32 scales, low byte first. Scales are finite and not negative: the sign is not looked at, and what is infinite or NaN counts as the largest finite float32."},
    {Opcode::kSetWindow, "SET_WINDOW", "Describes the convolution whose blocks the MATMULs with WINDOW after it are."},
    {Opcode::kLoadOperands, "LOAD_OPERANDS", "For each of BLOCKS blocks, the same PASSES times: streams COUNT runs of ROWS words, STRIDE words apart, into the operand buffer; a word is N operands, one for each lane. A block begins ROWS words after the block before it. STOREs take the words in their order: a table, then for each tile its rows, or one word with BROADCAST."},
    {Opcode::kDepthwise, "DEPTHWISE", "For each of COUNT planes: takes KERNEL_HEIGHT * KERNEL_HEIGHT words of weights, each the N channels of a tap, row by row; then, for each of PASSES images, HEIGHT * WIDTH words of activations, and gives a row of N sums for each output pixel, in their order. Blocks have ROWS rows, the last one of a plane what is left. Sums have 22 bits. With MAXIMUM: the largest value under the taps whose weight is odd. With ACCUMULATE an image gives one row. A sum is made when the word after that of its last tap is there, too: the last sums of an image may need words of the next."},
}};
// clang-format on

/// The command in words, with the fields that its opcode uses:
/// "STORE rows=64 count=1 address=4096 format=0".
inline std::string to_string(const Command& command) {
  std::string words;
  const auto add = [&words](const char* field, std::uint64_t value) {
    words += field + std::to_string(value);
  };
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      words = "LOAD_WEIGHTS";
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" address=", command.address());
      return words;
    case Opcode::kLoadActivations:
      words = "LOAD_ACTIVATIONS";
      add(" rows=", command.rows);
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" blocks=", command.blocks);
      add(" address=", command.address());
      add(" stride=", command.stride);
      if ((command.flags & flag::kWindow) != 0) {
        add(" flags=", command.flags);
        add(" capacity=", command.capacity);
        add(" slot=", command.slot);
        add(" place=", command.place);
      }
      return words;
    case Opcode::kMatmul:
      words = "MATMUL";
      add(" flags=", command.flags);
      add(" rows=", command.rows);
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" blocks=", command.blocks);
      if ((command.flags & flag::kWindow) != 0) {
        add(" slot=", command.slot);
        add(" out_row=", command.out_row);
        add(" out_column=", command.out_column);
        add(" in_row=", command.in_row);
        add(" in_column=", command.in_column);
        add(" new_pixels=", command.new_pixels);
        add(" freed_pixels=", command.freed_pixels);
      }
      return words;
    case Opcode::kStore:
      words = "STORE";
      add(" rows=", command.rows);
      add(" count=", command.count);
      add(" blocks=", command.blocks);
      add(" address=", command.address());
      add(" format=", command.format);
      add(" zero=", command.zero);
      add(" low=", command.low);
      add(" high=", command.high);
      add(" stride=", command.stride);
      if ((command.flags & flag::kVector) != 0) {
        add(" flags=", command.flags);
        add(" result_scale=", command.result_scale);
        add(" operand_scale=", command.operand_scale);
        add(" offset=", command.offset);
        add(" result_zero=", command.result_zero);
        add(" operand_zero=", command.operand_zero);
        add(" function_min=", command.function_min);
        add(" function_max=", command.function_max);
        add(" first_lane=", command.first_lane);
        add(" lanes=", command.lanes);
        add(" add=", command.add);
        add(" multiply=", command.multiply);
        add(" table=", command.table);
        add(" broadcast=", command.broadcast);
        add(" keep=", command.keep);
        add(" swap=", command.swap);
        add(" operand_moved=", command.operand_moved);
        add(" result_moved=", command.result_moved);
      }
      return words;
    case Opcode::kFinish:
      words = "FINISH";
      return words;
    case Opcode::kFence:
      words = "FENCE";
      add(" flags=", command.flags);
      add(" count=", command.count);
      add(" address=", command.address());
      return words;
    case Opcode::kLoadParameters:
      words = "LOAD_PARAMETERS";
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" address=", command.address());
      return words;
    case Opcode::kSetWindow:
      words = "SET_WINDOW";
      add(" zero=", command.zero);
      add(" kernel_height=", command.kernel_height);
      add(" kernel_width=", command.kernel_width);
      add(" stride_height=", command.stride_height);
      add(" stride_width=", command.stride_width);
      add(" dilation_height=", command.dilation_height);
      add(" dilation_width=", command.dilation_width);
      add(" pad_top=", command.pad_top);
      add(" pad_left=", command.pad_left);
      add(" height=", command.height);
      add(" width=", command.width);
      add(" out_height=", command.out_height);
      add(" out_width=", command.out_width);
      add(" row_step=", command.row_step);
      add(" image_step=", command.image_step);
      add(" tap_row_step=", command.tap_row_step);
      add(" group_passes=", command.group_passes);
      add(" capacity=", command.capacity);
      return words;
    case Opcode::kLoadOperands:
      words = "LOAD_OPERANDS";
      add(" rows=", command.rows);
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" blocks=", command.blocks);
      add(" address=", command.address());
      add(" stride=", command.stride);
      return words;
    case Opcode::kDepthwise:
      words = "DEPTHWISE";
      add(" flags=", command.flags);
      add(" rows=", command.rows);
      add(" count=", command.count);
      add(" passes=", command.passes);
      add(" zero=", command.zero);
      add(" kernel_height=", command.kernel_height);
      add(" stride_height=", command.stride_height);
      add(" stride_width=", command.stride_width);
      add(" dilation_height=", command.dilation_height);
      add(" dilation_width=", command.dilation_width);
      add(" pad_top=", command.pad_top);
      add(" pad_left=", command.pad_left);
      add(" height=", command.height);
      add(" width=", command.width);
      add(" out_height=", command.out_height);
      add(" out_width=", command.out_width);
      add(" row_step=", command.row_step);
      add(" image_step=", command.image_step);
      add(" lead=", command.lead);
      return words;
  }
  add("unknown opcode ", static_cast<std::uint32_t>(command.opcode));
  return words;
}

/// Why the work stopped, as ERROR.CODE tells it.
enum class ErrorCode : std::uint32_t {
  /// No error.
  kNone = 0,
  /// The command's OPCODE is not in the table.
  kBadOpcode = 1,
  /// ROWS, COUNT, PASSES or BLOCKS is zero, ROWS is larger than an accumulator bank, FORMAT is not
  /// in the table, LOW is larger than HIGH (8-bit results), a STORE with VECTOR has results of 32
  /// bits, lanes beyond N or numbers that the vector path cannot take, or has KEEP and no settings
  /// were loaded since the reset, or writes some lanes only of words in the tensor memory,
  /// DEPTHWISE has a kernel, dilations or steps that cannot be, or a window does not fit the
  /// scratchpad or the commands before it.
  kBadOperand = 2,
  /// The address is no multiple of N or wider than the bus, or the command or its words pass the
  /// end of the address space or, while there is one, of the tensor memory or of the addresses
  /// before it; or it is of the tensor memory, and the command neither LOAD_ACTIVATIONS,
  /// LOAD_OPERANDS nor STORE.
  kBadAddress = 3,
  /// The memory answered SLVERR.
  kBusSlave = 4,
  /// The memory answered DECERR: nothing lies at that address.
  kBusDecode = 5,
  /// No progress for as long as WATCHDOG allows.
  kWatchdog = 6,
  /// A FINISH, or a LOAD_ACTIVATIONS that begins anew, found pixels of a window that no MATMUL
  /// claims or frees.
  kUnbalanced = 7,
  /// A row of sums that left the array is not what its checksum says: a fault of the device, which
  /// the same work may not meet again.
  kChecksum = 8,
  /// A word that was read from one of the device's memories is not the one that was written there,
  /// or a command not the one that was encoded: a fault of the device, too. Also a flip of a
  /// register that stops the engines.
  kParity = 9,
  /// A MATMUL, or a LOAD from the tensor memory, read a word of the scratchpad that was not written
  /// since the reset, or a STORE a row of sums that was not computed since it was stored last, as
  /// one with more rows than its block does: an error of the program, which only a device with
  /// SELF_CHECK.PARITY finds.
  kUnwritten = 10,
};

/// Which part of the accelerator, as ERROR.ENGINE tells it.
enum class Engine : std::uint32_t {
  kCommands = 0,
  kWeights = 1,
  kActivations = 2,
  kCompute = 3,
  kResults = 4,
  kParameters = 5,
  kOperands = 6,
};

/// An error with its name and its text for people.
struct ErrorEntry {
  ErrorCode value;
  const char* name;
  const char* text;
};

/// Every error.
// clang-format off
inline constexpr std::array<ErrorEntry, 11> kErrors{{
    {ErrorCode::kNone, "NONE", "No error."},
    {ErrorCode::kBadOpcode, "BAD_OPCODE", "The command's OPCODE is not in the table."},
    {ErrorCode::kBadOperand, "BAD_OPERAND", "ROWS, COUNT, PASSES or BLOCKS is zero, ROWS is larger than an accumulator bank, FORMAT is not in the table, LOW is larger than HIGH (8-bit results), a STORE with VECTOR has results of 32 bits, lanes beyond N or numbers that the vector path cannot take, or has KEEP and no settings were loaded since the reset, or writes some lanes only of words in the tensor memory, DEPTHWISE has a kernel, dilations or steps that cannot be, or a window does not fit the scratchpad or the commands before it."},
    {ErrorCode::kBadAddress, "BAD_ADDRESS", "The address is no multiple of N or wider than the bus, or the command or its words pass the end of the address space or, while there is one, of the tensor memory or of the addresses before it; or it is of the tensor memory, and the command neither LOAD_ACTIVATIONS, LOAD_OPERANDS nor STORE."},
    {ErrorCode::kBusSlave, "BUS_SLAVE", "The memory answered SLVERR."},
    {ErrorCode::kBusDecode, "BUS_DECODE", "The memory answered DECERR: nothing lies at that address."},
    {ErrorCode::kWatchdog, "WATCHDOG", "No progress for as long as WATCHDOG allows."},
    {ErrorCode::kUnbalanced, "UNBALANCED", "A FINISH, or a LOAD_ACTIVATIONS that begins anew, found pixels of a window that no MATMUL claims or frees."},
    {ErrorCode::kChecksum, "CHECKSUM", "A row of sums that left the array is not what its checksum says: a fault of the device, which the same work may not meet again."},
    {ErrorCode::kParity, "PARITY", "A word that was read from one of the device's memories is not the one that was written there, or a command not the one that was encoded: a fault of the device, too. Also a flip of a register that stops the engines."},
    {ErrorCode::kUnwritten, "UNWRITTEN", "A MATMUL, or a LOAD from the tensor memory, read a word of the scratchpad that was not written since the reset, or a STORE a row of sums that was not computed since it was stored last, as one with more rows than its block does: an error of the program, which only a device with SELF_CHECK.PARITY finds."},
}};
// clang-format on

/// An engine with its name, as counters spell it.
struct EngineEntry {
  Engine value;
  const char* name;
};

/// Every engine.
// clang-format off
inline constexpr std::array<EngineEntry, 7> kEngines{{
    {Engine::kCommands, "commands"},
    {Engine::kWeights, "weights"},
    {Engine::kActivations, "activations"},
    {Engine::kCompute, "compute"},
    {Engine::kResults, "results"},
    {Engine::kParameters, "parameters"},
    {Engine::kOperands, "operands"},
}};
// clang-format on

/// The name of `value`, or "unknown" where the table lacks it.
constexpr const char* name(Opcode value) {
  for (const auto& entry : kOpcodes) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

/// The name of `value`, or "unknown" where the table lacks it.
constexpr const char* name(ErrorCode value) {
  for (const auto& entry : kErrors) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

/// The text of `value`, or "unknown" where the table lacks it.
constexpr const char* text(ErrorCode value) {
  for (const auto& entry : kErrors) {
    if (entry.value == value) return entry.text;
  }
  return "unknown";
}

/// The name of `value`, or "unknown" where the table lacks it.
constexpr const char* name(Engine value) {
  for (const auto& entry : kEngines) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

/// A counter of 64 bits: its low word at `offset`, its high word 4 bytes on.
struct Counter {
  const char* engine;
  const char* cause;
  std::uint32_t offset;
  const char* purpose;
};

/// Every counter, in the order of their offsets.
// clang-format off
inline constexpr std::array<Counter, 40> kCounters{{
    {"total", "clocks", 0x080, "Clocks in all while busy."},
    {"commands", "dispatch", 0x088, "A command was handed to its engine, or rejected."},
    {"commands", "wait_memory", 0x090, "The next command was on its way from memory."},
    {"commands", "wait_engine", 0x098, "A command waited for room in its engine's queue, FENCE for STOREs, or FINISH for all engines."},
    {"commands", "idle", 0x0a0, "The ring was empty."},
    {"weights", "transfer", 0x0a8, "A word of weights arrived."},
    {"weights", "wait_memory", 0x0b0, "Words had been requested, and none arrived."},
    {"weights", "wait_buffer", 0x0b8, "Nothing was under way, since the weight buffer had no room for the next burst."},
    {"weights", "idle", 0x0c0, "No load of weights under way."},
    {"activations", "transfer", 0x0c8, "A word of activations arrived."},
    {"activations", "wait_memory", 0x0d0, "Words had been requested, and none arrived."},
    {"activations", "wait_scratchpad", 0x0d8, "Nothing was under way, since the scratchpad had no room for the next burst."},
    {"activations", "idle", 0x0e0, "No load of activations under way."},
    {"compute", "compute", 0x0e8, "A row of activations entered the array; or DEPTHWISE took a word, or made a part of a sum of nine taps."},
    {"compute", "wait_weights", 0x0f0, "The next tile's weights were not there, or those of the last one still moving into the array."},
    {"compute", "wait_activations", 0x0f8, "The weights were there, the activations not."},
    {"compute", "wait_results", 0x100, "Both operands were there, but the accumulator had no place for the row."},
    {"compute", "drain", 0x108, "No MATMUL under way, and rows still moving through the array."},
    {"compute", "idle", 0x110, "No MATMUL under way, and the array empty."},
    {"results", "transfer", 0x118, "A beat of results or of a snapshot was taken by memory."},
    {"results", "wait_memory", 0x120, "Results or a snapshot were ready, and memory took none."},
    {"results", "wait_compute", 0x128, "The next block was not finished, or its first row on its way to the port."},
    {"results", "wait_parameters", 0x130, "The next block was finished, but its parameters had not been loaded."},
    {"results", "wait_operands", 0x138, "The next block and its parameters were there, its operands not."},
    {"results", "wait_response", 0x140, "No STORE or snapshot under way, and writes not yet answered."},
    {"results", "idle", 0x148, "No STORE or snapshot under way, and every write answered."},
    {"parameters", "transfer", 0x150, "A word of parameters arrived."},
    {"parameters", "wait_memory", 0x158, "Words had been requested, and none arrived."},
    {"parameters", "wait_buffer", 0x160, "Nothing was under way, since the parameter buffer had no room for the next burst."},
    {"parameters", "idle", 0x168, "No load of parameters under way."},
    {"operands", "transfer", 0x170, "A word of operands arrived."},
    {"operands", "wait_memory", 0x178, "Words had been requested, and none arrived."},
    {"operands", "wait_buffer", 0x180, "Nothing was under way, since the operand buffer had no room for the next burst."},
    {"operands", "idle", 0x188, "No load of operands under way."},
    {"bytes", "weights", 0x190, "Bytes read through the weights port."},
    {"bytes", "activations", 0x198, "Bytes of activations read through the data port."},
    {"bytes", "commands", 0x1a0, "Bytes of commands read through the data port."},
    {"bytes", "results", 0x1a8, "Bytes written through the results port, those of snapshots included."},
    {"bytes", "parameters", 0x1b0, "Bytes of parameters read through the data port."},
    {"bytes", "operands", 0x1b8, "Bytes of operands read through the data port."},
}};
// clang-format on

/// Indices of kCounters.
namespace counter {
inline constexpr std::size_t kTotalClocks = 0;
inline constexpr std::size_t kCommandsDispatch = 1;
inline constexpr std::size_t kCommandsWaitMemory = 2;
inline constexpr std::size_t kCommandsWaitEngine = 3;
inline constexpr std::size_t kCommandsIdle = 4;
inline constexpr std::size_t kWeightsTransfer = 5;
inline constexpr std::size_t kWeightsWaitMemory = 6;
inline constexpr std::size_t kWeightsWaitBuffer = 7;
inline constexpr std::size_t kWeightsIdle = 8;
inline constexpr std::size_t kActivationsTransfer = 9;
inline constexpr std::size_t kActivationsWaitMemory = 10;
inline constexpr std::size_t kActivationsWaitScratchpad = 11;
inline constexpr std::size_t kActivationsIdle = 12;
inline constexpr std::size_t kComputeCompute = 13;
inline constexpr std::size_t kComputeWaitWeights = 14;
inline constexpr std::size_t kComputeWaitActivations = 15;
inline constexpr std::size_t kComputeWaitResults = 16;
inline constexpr std::size_t kComputeDrain = 17;
inline constexpr std::size_t kComputeIdle = 18;
inline constexpr std::size_t kResultsTransfer = 19;
inline constexpr std::size_t kResultsWaitMemory = 20;
inline constexpr std::size_t kResultsWaitCompute = 21;
inline constexpr std::size_t kResultsWaitParameters = 22;
inline constexpr std::size_t kResultsWaitOperands = 23;
inline constexpr std::size_t kResultsWaitResponse = 24;
inline constexpr std::size_t kResultsIdle = 25;
inline constexpr std::size_t kParametersTransfer = 26;
inline constexpr std::size_t kParametersWaitMemory = 27;
inline constexpr std::size_t kParametersWaitBuffer = 28;
inline constexpr std::size_t kParametersIdle = 29;
inline constexpr std::size_t kOperandsTransfer = 30;
inline constexpr std::size_t kOperandsWaitMemory = 31;
inline constexpr std::size_t kOperandsWaitBuffer = 32;
inline constexpr std::size_t kOperandsIdle = 33;
inline constexpr std::size_t kBytesWeights = 34;
inline constexpr std::size_t kBytesActivations = 35;
inline constexpr std::size_t kBytesCommands = 36;
inline constexpr std::size_t kBytesResults = 37;
inline constexpr std::size_t kBytesParameters = 38;
inline constexpr std::size_t kBytesOperands = 39;
}  // namespace counter

}  // namespace gemm64
