// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
// clang-format off
#ifndef GEMM64_REGISTERS_H
#define GEMM64_REGISTERS_H

#include <stdint.h>

#define GEMM64_VERSION_MAJOR 3u
#define GEMM64_VERSION_MINOR 7u
#define GEMM64_REG_ID 0x000u
#define GEMM64_ID_RESET_VALUE 0x67363463u
#define GEMM64_REG_VERSION 0x004u
#define GEMM64_VERSION_MINOR_SHIFT 0u
#define GEMM64_VERSION_MINOR_MASK 0x0000ffffu
#define GEMM64_VERSION_MAJOR_SHIFT 16u
#define GEMM64_VERSION_MAJOR_MASK 0xffff0000u
#define GEMM64_REG_ARRAY 0x008u
#define GEMM64_ARRAY_N_SHIFT 0u
#define GEMM64_ARRAY_N_MASK 0x000000ffu
#define GEMM64_ARRAY_STAGE_ROWS_SHIFT 8u
#define GEMM64_ARRAY_STAGE_ROWS_MASK 0x0000ff00u
#define GEMM64_ARRAY_WEIGHT_TILES_SHIFT 16u
#define GEMM64_ARRAY_WEIGHT_TILES_MASK 0xffff0000u
#define GEMM64_REG_SCRATCHPAD_WORDS 0x00cu
#define GEMM64_REG_ACCUMULATOR_ROWS 0x010u
#define GEMM64_REG_BUS 0x014u
#define GEMM64_BUS_READS_SHIFT 0u
#define GEMM64_BUS_READS_MASK 0x000000ffu
#define GEMM64_BUS_WRITES_SHIFT 8u
#define GEMM64_BUS_WRITES_MASK 0x0000ff00u
#define GEMM64_BUS_COMMANDS_SHIFT 16u
#define GEMM64_BUS_COMMANDS_MASK 0x00ff0000u
#define GEMM64_BUS_BURST_BEATS_SHIFT 24u
#define GEMM64_BUS_BURST_BEATS_MASK 0xff000000u
#define GEMM64_REG_ADDRESS_WIDTH 0x018u
#define GEMM64_REG_CONTROL 0x020u
#define GEMM64_CONTROL_RESET_SHIFT 0u
#define GEMM64_CONTROL_RESET_MASK 0x00000001u
#define GEMM64_CONTROL_CLEAR_COUNTERS_SHIFT 1u
#define GEMM64_CONTROL_CLEAR_COUNTERS_MASK 0x00000002u
#define GEMM64_REG_STATUS 0x024u
#define GEMM64_STATUS_BUSY_SHIFT 0u
#define GEMM64_STATUS_BUSY_MASK 0x00000001u
#define GEMM64_STATUS_HALTED_SHIFT 1u
#define GEMM64_STATUS_HALTED_MASK 0x00000002u
#define GEMM64_STATUS_RESETTING_SHIFT 2u
#define GEMM64_STATUS_RESETTING_MASK 0x00000004u
#define GEMM64_REG_INTERRUPT 0x028u
#define GEMM64_INTERRUPT_DONE_SHIFT 0u
#define GEMM64_INTERRUPT_DONE_MASK 0x00000001u
#define GEMM64_INTERRUPT_ERROR_SHIFT 1u
#define GEMM64_INTERRUPT_ERROR_MASK 0x00000002u
#define GEMM64_REG_ERROR 0x02cu
#define GEMM64_ERROR_CODE_SHIFT 0u
#define GEMM64_ERROR_CODE_MASK 0x0000000fu
#define GEMM64_ERROR_ENGINE_SHIFT 4u
#define GEMM64_ERROR_ENGINE_MASK 0x000000f0u
#define GEMM64_ERROR_COMMAND_SHIFT 16u
#define GEMM64_ERROR_COMMAND_MASK 0xffff0000u
#define GEMM64_REG_WATCHDOG 0x030u
#define GEMM64_WATCHDOG_RESET_VALUE 0x00100000u
#define GEMM64_REG_RING_BASE_LOW 0x034u
#define GEMM64_RING_BASE_LOW_RESET_VALUE 0x00000000u
#define GEMM64_REG_RING_BASE_HIGH 0x038u
#define GEMM64_RING_BASE_HIGH_RESET_VALUE 0x00000000u
#define GEMM64_REG_RING_MASK 0x03cu
#define GEMM64_RING_MASK_RESET_VALUE 0x0000003fu
#define GEMM64_REG_RING_TAIL 0x040u
#define GEMM64_RING_TAIL_RESET_VALUE 0x00000000u
#define GEMM64_REG_RING_HEAD 0x044u
#define GEMM64_REG_INTERRUPT_ENABLE 0x048u
#define GEMM64_INTERRUPT_ENABLE_RESET_VALUE 0x00000003u
#define GEMM64_INTERRUPT_ENABLE_DONE_SHIFT 0u
#define GEMM64_INTERRUPT_ENABLE_DONE_MASK 0x00000001u
#define GEMM64_INTERRUPT_ENABLE_ERROR_SHIFT 1u
#define GEMM64_INTERRUPT_ENABLE_ERROR_MASK 0x00000002u
#define GEMM64_REG_PARAMETER_SETS 0x04cu
#define GEMM64_REG_SELF_CHECK 0x050u
#define GEMM64_SELF_CHECK_CHECKSUM_SHIFT 0u
#define GEMM64_SELF_CHECK_CHECKSUM_MASK 0x00000001u
#define GEMM64_SELF_CHECK_PARITY_SHIFT 1u
#define GEMM64_SELF_CHECK_PARITY_MASK 0x00000002u
#define GEMM64_SELF_CHECK_COMMANDS_SHIFT 2u
#define GEMM64_SELF_CHECK_COMMANDS_MASK 0x00000004u
#define GEMM64_SELF_CHECK_ROWS_SHIFT 3u
#define GEMM64_SELF_CHECK_ROWS_MASK 0x00000008u
#define GEMM64_REG_FAULT_TILE 0x054u
#define GEMM64_FAULT_TILE_RESET_VALUE 0x00000000u
#define GEMM64_REG_FAULT_ROW 0x058u
#define GEMM64_FAULT_ROW_RESET_VALUE 0x00000000u
#define GEMM64_REG_FAULT_MEMORY 0x05cu
#define GEMM64_FAULT_MEMORY_RESET_VALUE 0x00000000u
#define GEMM64_FAULT_MEMORY_NUMBER_SHIFT 0u
#define GEMM64_FAULT_MEMORY_NUMBER_MASK 0x000000ffu
#define GEMM64_FAULT_MEMORY_WORD_SHIFT 8u
#define GEMM64_FAULT_MEMORY_WORD_MASK 0xffffff00u
#define GEMM64_REG_TENSOR_WORDS 0x060u
#define GEMM64_REG_TENSOR_MEMORY 0x064u
#define GEMM64_TENSOR_MEMORY_RESET_VALUE 0x00000000u
#define GEMM64_TENSOR_MEMORY_ENABLE_SHIFT 0u
#define GEMM64_TENSOR_MEMORY_ENABLE_MASK 0x00000001u
#define GEMM64_COMMAND_BYTES 64u
#define GEMM64_OP_LOAD_WEIGHTS 1u
#define GEMM64_OP_LOAD_ACTIVATIONS 2u
#define GEMM64_OP_MATMUL 3u
#define GEMM64_OP_STORE 4u
#define GEMM64_OP_FINISH 5u
#define GEMM64_OP_FENCE 6u
#define GEMM64_OP_LOAD_PARAMETERS 7u
#define GEMM64_OP_SET_WINDOW 8u
#define GEMM64_OP_LOAD_OPERANDS 9u
#define GEMM64_OP_DEPTHWISE 10u
#define GEMM64_FLAG_ACCUMULATE 1u
#define GEMM64_FLAG_RETAIN 2u
#define GEMM64_FLAG_SNAPSHOT 4u
#define GEMM64_FLAG_WINDOW 8u
#define GEMM64_FLAG_START 16u
#define GEMM64_FLAG_VECTOR 32u
#define GEMM64_FLAG_MAXIMUM 64u
#define GEMM64_FLAG_RETAIN_WEIGHTS 128u
#define GEMM64_RESULT_INT32 0u
#define GEMM64_RESULT_INT32_BYTES 4u
#define GEMM64_RESULT_INT8 1u
#define GEMM64_RESULT_INT8_BYTES 1u
#define GEMM64_RESULT_UINT8 2u
#define GEMM64_RESULT_UINT8_BYTES 1u
#define GEMM64_ERROR_NONE 0u
#define GEMM64_ERROR_BAD_OPCODE 1u
#define GEMM64_ERROR_BAD_OPERAND 2u
#define GEMM64_ERROR_BAD_ADDRESS 3u
#define GEMM64_ERROR_BUS_SLAVE 4u
#define GEMM64_ERROR_BUS_DECODE 5u
#define GEMM64_ERROR_WATCHDOG 6u
#define GEMM64_ERROR_UNBALANCED 7u
#define GEMM64_ERROR_CHECKSUM 8u
#define GEMM64_ERROR_PARITY 9u
#define GEMM64_ERROR_UNWRITTEN 10u
#define GEMM64_ENGINE_COMMANDS 0u
#define GEMM64_ENGINE_WEIGHTS 1u
#define GEMM64_ENGINE_ACTIVATIONS 2u
#define GEMM64_ENGINE_COMPUTE 3u
#define GEMM64_ENGINE_RESULTS 4u
#define GEMM64_ENGINE_PARAMETERS 5u
#define GEMM64_ENGINE_OPERANDS 6u
#define GEMM64_MEMORY_COMMANDS 0u
#define GEMM64_MEMORY_WEIGHTS 1u
#define GEMM64_MEMORY_SCRATCHPAD 2u
#define GEMM64_MEMORY_SUMS_0 3u
#define GEMM64_MEMORY_SUMS_1 4u
#define GEMM64_MEMORY_BIASES 5u
#define GEMM64_MEMORY_SCALES 6u
#define GEMM64_MEMORY_OPERANDS 7u
#define GEMM64_MEMORY_TABLE 8u
#define GEMM64_MEMORY_LANE_WEIGHTS 9u
#define GEMM64_MEMORY_LANE_LINES 10u
#define GEMM64_MEMORY_LANES 11u
#define GEMM64_MEMORY_REQUANTIZER 12u
#define GEMM64_MEMORY_VECTOR 13u
#define GEMM64_COUNTERS_BASE 0x080u
#define GEMM64_COUNTERS 40u
#define GEMM64_COUNTER_TOTAL_CLOCKS 0u
#define GEMM64_COUNTER_COMMANDS_DISPATCH 1u
#define GEMM64_COUNTER_COMMANDS_WAIT_MEMORY 2u
#define GEMM64_COUNTER_COMMANDS_WAIT_ENGINE 3u
#define GEMM64_COUNTER_COMMANDS_IDLE 4u
#define GEMM64_COUNTER_WEIGHTS_TRANSFER 5u
#define GEMM64_COUNTER_WEIGHTS_WAIT_MEMORY 6u
#define GEMM64_COUNTER_WEIGHTS_WAIT_BUFFER 7u
#define GEMM64_COUNTER_WEIGHTS_IDLE 8u
#define GEMM64_COUNTER_ACTIVATIONS_TRANSFER 9u
#define GEMM64_COUNTER_ACTIVATIONS_WAIT_MEMORY 10u
#define GEMM64_COUNTER_ACTIVATIONS_WAIT_SCRATCHPAD 11u
#define GEMM64_COUNTER_ACTIVATIONS_IDLE 12u
#define GEMM64_COUNTER_COMPUTE_COMPUTE 13u
#define GEMM64_COUNTER_COMPUTE_WAIT_WEIGHTS 14u
#define GEMM64_COUNTER_COMPUTE_WAIT_ACTIVATIONS 15u
#define GEMM64_COUNTER_COMPUTE_WAIT_RESULTS 16u
#define GEMM64_COUNTER_COMPUTE_DRAIN 17u
#define GEMM64_COUNTER_COMPUTE_IDLE 18u
#define GEMM64_COUNTER_RESULTS_TRANSFER 19u
#define GEMM64_COUNTER_RESULTS_WAIT_MEMORY 20u
#define GEMM64_COUNTER_RESULTS_WAIT_COMPUTE 21u
#define GEMM64_COUNTER_RESULTS_WAIT_PARAMETERS 22u
#define GEMM64_COUNTER_RESULTS_WAIT_OPERANDS 23u
#define GEMM64_COUNTER_RESULTS_WAIT_RESPONSE 24u
#define GEMM64_COUNTER_RESULTS_IDLE 25u
#define GEMM64_COUNTER_PARAMETERS_TRANSFER 26u
#define GEMM64_COUNTER_PARAMETERS_WAIT_MEMORY 27u
#define GEMM64_COUNTER_PARAMETERS_WAIT_BUFFER 28u
#define GEMM64_COUNTER_PARAMETERS_IDLE 29u
#define GEMM64_COUNTER_OPERANDS_TRANSFER 30u
#define GEMM64_COUNTER_OPERANDS_WAIT_MEMORY 31u
#define GEMM64_COUNTER_OPERANDS_WAIT_BUFFER 32u
#define GEMM64_COUNTER_OPERANDS_IDLE 33u
#define GEMM64_COUNTER_BYTES_WEIGHTS 34u
#define GEMM64_COUNTER_BYTES_ACTIVATIONS 35u
#define GEMM64_COUNTER_BYTES_COMMANDS 36u
#define GEMM64_COUNTER_BYTES_RESULTS 37u
#define GEMM64_COUNTER_BYTES_PARAMETERS 38u
#define GEMM64_COUNTER_BYTES_OPERANDS 39u

/* The field's value in a register's word: GEMM64_GET(word, STATUS_BUSY). */
#define GEMM64_GET(word, field) \
  (((uint32_t)(word) & GEMM64_##field##_MASK) >> GEMM64_##field##_SHIFT)

/* One command; what an opcode does not use stays zero. */
struct gemm64_command {
  /* What to do (table of opcodes). */
  uint32_t opcode;
  /* Bits that vary it (table of flags). */
  uint32_t flags;
  /* Rows of M, or output pixels, in a block; 1 to ACCUMULATOR_ROWS. LOAD_ACTIVATIONS with WINDOW:
     pixels; 1 to CAPACITY. */
  uint32_t rows;
  /* Words (LOAD_WEIGHTS, LOAD_PARAMETERS) or tiles of K (LOAD_ACTIVATIONS, MATMUL; planes with
     WINDOW) in a pass, planes (DEPTHWISE), tiles of results for each block of M (STORE), STOREs
     still open (FENCE). */
  uint32_t count;
  /* LOAD_WEIGHTS, LOAD_PARAMETERS: how often the same COUNT words are read, from ADDRESS each time;
     once for each block of M. LOAD_ACTIVATIONS: how often the same tiles of a block are read; once
     for each tile of N, or once for all of them where MATMUL has RETAIN. MATMUL: tiles of N in a
     block. DEPTHWISE: images of a plane. */
  uint32_t passes;
  /* How many blocks of M follow each other, each with all its passes or tiles. */
  uint32_t blocks;
  /* Memory address, low half; a multiple of N. */
  uint32_t address_low;
  /* Memory address, high half. */
  uint32_t address_high;
  /* How results are written (table of result formats). */
  uint32_t format;
  /* Zero point of 8-bit results, signed as they are (STORE), or of the pixels beyond the border
     (SET_WINDOW, DEPTHWISE). */
  uint32_t zero;
  /* Least 8-bit result, signed as they are; at most HIGH. */
  uint32_t low;
  /* Largest 8-bit result, signed as they are; at least LOW. */
  uint32_t high;
  /* Rows in memory from the start of a tile to that of the next. A row is N activations, or N
     results in their format. */
  uint32_t stride;
  /* Rows of taps, at least 1. DEPTHWISE: 3, 5 or 7, and as many columns. */
  uint32_t kernel_height;
  /* Taps in a row, at least 1. */
  uint32_t kernel_width;
  /* Input rows from an output row to the next. */
  uint32_t stride_height;
  /* Input columns from an output column to the next; at most CAPACITY. */
  uint32_t stride_width;
  /* Input rows from a row of taps to the next. DEPTHWISE: at least 1, and DILATION_HEIGHT * WIDTH
     at most 128. */
  uint32_t dilation_height;
  /* Input columns from a tap to the next; at most CAPACITY. DEPTHWISE: 1 to 6 with a KERNEL_HEIGHT
     of 3, 1 or 2 with 5, and 1 with 7. */
  uint32_t dilation_width;
  /* Rows of the border above the input. */
  uint32_t pad_top;
  /* Columns of the border left of it. Below and to the right the border has no end. */
  uint32_t pad_left;
  /* Rows of an input image. */
  uint32_t height;
  /* Columns of an input image. */
  uint32_t width;
  /* Rows of an output image. */
  uint32_t out_height;
  /* Columns of an output image. */
  uint32_t out_width;
  /* Slots, modulo CAPACITY, from what a tap meets at the last output pixel of a row to what it
     meets at the first of the next. DEPTHWISE: words, STRIDE_HEIGHT * WIDTH - (OUT_WIDTH - 1) *
     STRIDE_WIDTH, at least 0. */
  uint32_t row_step;
  /* The same from the last output pixel of an image to the first of the next. DEPTHWISE: HEIGHT *
     WIDTH - (OUT_HEIGHT - 1) * STRIDE_HEIGHT * WIDTH - (OUT_WIDTH - 1) * STRIDE_WIDTH, at least 0. */
  uint32_t image_step;
  /* Slots, modulo CAPACITY, from what the last tap of a row meets to what the first of the next row
     meets at the same output pixel. */
  uint32_t tap_row_step;
  /* Passes that read the same planes, at least 1; those after them read the planes that follow. */
  uint32_t group_passes;
  /* Pixels of each plane that the scratchpad holds, at least 1; in all commands of a convolution
     the same. */
  uint32_t capacity;
  /* Words before that which the last tap meets at the first output pixel: ((KERNEL_HEIGHT - 1) *
     DILATION_HEIGHT - PAD_TOP) * WIDTH + (KERNEL_HEIGHT - 1) * DILATION_WIDTH - PAD_LEFT; neither
     difference is negative. */
  uint32_t lead;
  /* Below CAPACITY. LOAD_ACTIVATIONS: slot of the first pixel; pixel p of the tensor has slot p
     modulo CAPACITY. Without START new pixels follow those before. MATMUL: slot of what the first
     tap meets at the first output pixel, as if there were no border. */
  uint32_t slot;
  /* Word of the scratchpad at which the first plane that is loaded begins; planes lie CAPACITY
     words apart. At 0 the pixels are new, and wait for room; above they come to those of the
     LOAD_ACTIVATIONS before. */
  uint32_t place;
  /* Row of the block's first output pixel, in its image. */
  uint32_t out_row;
  /* Its column. */
  uint32_t out_column;
  /* Input row that the first tap meets there, signed, of 18 bits: OUT_ROW * STRIDE_HEIGHT -
     PAD_TOP. */
  uint32_t in_row;
  /* Input column that the first tap meets there, signed, of 18 bits: OUT_COLUMN * STRIDE_WIDTH -
     PAD_LEFT. */
  uint32_t in_column;
  /* Pixels that were loaded for this block: so many words of a plane must have come before it is
     read for the first time. */
  uint32_t new_pixels;
  /* Pixels, the oldest ones, that no block after this one needs. */
  uint32_t freed_pixels;
  /* float32 from 2**-7 to below 2**4: with ADD, what an 8-bit result is multiplied by. */
  uint32_t result_scale;
  /* float32: what the operand is multiplied by (ADD, from 2**-7 to below 2**4), or the product
     (MULTIPLY, from 2**-12 to below a half). */
  uint32_t operand_scale;
  /* float32: what is added; a multiple of 2**-31, in magnitude below 2**14. */
  uint32_t offset;
  /* MULTIPLY: zero point of the 8-bit result, signed as results are. */
  uint32_t result_zero;
  /* MULTIPLY: zero point of the operand, signed as results are. */
  uint32_t operand_zero;
  /* ADD, MULTIPLY: the least value that is written, signed as results are; at most FUNCTION_MAX. */
  uint32_t function_min;
  /* ADD, MULTIPLY: the largest value that is written. */
  uint32_t function_max;
  /* The first lane that is written, below N; bytes of lanes before it stay as they are in memory. */
  uint32_t first_lane;
  /* How many lanes are written; 0: all from FIRST_LANE on. FIRST_LANE + LANES is at most N. */
  uint32_t lanes;
  /* 1: clamp(rint(fma(result, RESULT_SCALE, fma(operand, OPERAND_SCALE, OFFSET))), FUNCTION_MIN,
     FUNCTION_MAX) is written, in float32. */
  uint32_t add;
  /* 1: clamp(rint((result - RESULT_ZERO) * (operand - OPERAND_ZERO) * OPERAND_SCALE + OFFSET),
     FUNCTION_MIN, FUNCTION_MAX) is written, the product and the sum each rounded to float32. Not
     with ADD. */
  uint32_t multiply;
  /* 1: a table takes the place of each 8-bit result by the byte at its index, before ADD or
     MULTIPLY. The index is the result's byte as a number from 0 to 255, of int8 results too: that
     of -1 is 255. Without KEEP the table is the first 256 bytes of the STORE's operands. */
  uint32_t table;
  /* 1: a tile has one word of operands, which serves all its rows; otherwise one for each row. */
  uint32_t broadcast;
  /* 1: lanes, scales, zero points, bounds, signs and table are those of the last STORE with VECTOR
     and without KEEP, as are all other bits of this word; there must have been one since the reset.
     ROWS, COUNT, BLOCKS, ADDRESS, STRIDE, FORMAT, ZERO, LOW and HIGH are those of the STORE itself,
     so its FORMAT must be the same as that of the STORE whose settings it keeps. No table is read. */
  uint32_t keep;
  /* 1: with ADD, the operand takes the place of the result and the result that of the operand. */
  uint32_t swap;
  /* 1: the highest bit of each operand is flipped as it comes, so that int8 values are those of
     uint8, less 128. It changes neither the bytes of a table nor OPERAND_ZERO, which counts after
     it. */
  uint32_t operand_moved;
  /* 1: the highest bit of each value is flipped as it is written, so that uint8 results lie in
     memory as int8, less 128; also without ADD and MULTIPLY. FUNCTION_MIN and FUNCTION_MAX count
     before it. */
  uint32_t result_moved;
};

/* Writes the command as it lies in the ring. Returns 0, or -1 where a value is wider than its
 * field. */
static inline int gemm64_encode(const struct gemm64_command *command, uint8_t *bytes) {
  uint32_t words[GEMM64_COMMAND_BYTES / 4] = {0};
  uint32_t i, together = 0;
  if (command->opcode >> 8 != 0) return -1;
  if (command->flags >> 8 != 0) return -1;
  if (command->rows >> 16 != 0) return -1;
  if (command->format >> 4 != 0) return -1;
  if (command->zero >> 8 != 0) return -1;
  if (command->low >> 8 != 0) return -1;
  if (command->high >> 8 != 0) return -1;
  if (command->kernel_height >> 8 != 0) return -1;
  if (command->kernel_width >> 8 != 0) return -1;
  if (command->stride_height >> 8 != 0) return -1;
  if (command->stride_width >> 8 != 0) return -1;
  if (command->dilation_height >> 8 != 0) return -1;
  if (command->dilation_width >> 8 != 0) return -1;
  if (command->pad_top >> 8 != 0) return -1;
  if (command->pad_left >> 8 != 0) return -1;
  if (command->height >> 16 != 0) return -1;
  if (command->width >> 16 != 0) return -1;
  if (command->out_height >> 16 != 0) return -1;
  if (command->out_width >> 16 != 0) return -1;
  if (command->row_step >> 16 != 0) return -1;
  if (command->image_step >> 16 != 0) return -1;
  if (command->tap_row_step >> 16 != 0) return -1;
  if (command->group_passes >> 16 != 0) return -1;
  if (command->capacity >> 16 != 0) return -1;
  if (command->lead >> 16 != 0) return -1;
  if (command->slot >> 16 != 0) return -1;
  if (command->out_row >> 16 != 0) return -1;
  if (command->out_column >> 16 != 0) return -1;
  if (command->new_pixels >> 16 != 0) return -1;
  if (command->freed_pixels >> 16 != 0) return -1;
  if (command->result_zero >> 8 != 0) return -1;
  if (command->operand_zero >> 8 != 0) return -1;
  if (command->function_min >> 8 != 0) return -1;
  if (command->function_max >> 8 != 0) return -1;
  if (command->first_lane >> 8 != 0) return -1;
  if (command->lanes >> 8 != 0) return -1;
  if (command->add >> 1 != 0) return -1;
  if (command->multiply >> 1 != 0) return -1;
  if (command->table >> 1 != 0) return -1;
  if (command->broadcast >> 1 != 0) return -1;
  if (command->keep >> 1 != 0) return -1;
  if (command->swap >> 1 != 0) return -1;
  if (command->operand_moved >> 1 != 0) return -1;
  if (command->result_moved >> 1 != 0) return -1;
  words[0] |= command->opcode;
  words[0] |= command->flags << 8;
  words[0] |= command->rows << 16;
  words[1] |= command->count;
  words[2] |= command->passes;
  words[3] |= command->blocks;
  words[4] |= command->address_low;
  words[5] |= command->address_high;
  words[6] |= command->format;
  words[6] |= command->zero << 8;
  words[6] |= command->low << 16;
  words[6] |= command->high << 24;
  words[7] |= command->stride;
  if (command->opcode == GEMM64_OP_SET_WINDOW || command->opcode == GEMM64_OP_DEPTHWISE) {
    words[8] |= command->kernel_height;
  }
  if (command->opcode == GEMM64_OP_SET_WINDOW) {
    words[8] |= command->kernel_width << 8;
  }
  if (command->opcode == GEMM64_OP_SET_WINDOW || command->opcode == GEMM64_OP_DEPTHWISE) {
    words[8] |= command->stride_height << 16;
    words[8] |= command->stride_width << 24;
    words[9] |= command->dilation_height;
    words[9] |= command->dilation_width << 8;
    words[9] |= command->pad_top << 16;
    words[9] |= command->pad_left << 24;
    words[10] |= command->height;
    words[10] |= command->width << 16;
    words[11] |= command->out_height;
    words[11] |= command->out_width << 16;
    words[12] |= command->row_step;
    words[12] |= command->image_step << 16;
  }
  if (command->opcode == GEMM64_OP_SET_WINDOW) {
    words[13] |= command->tap_row_step;
  }
  words[13] |= command->group_passes << 16;
  words[14] |= command->capacity;
  if (command->opcode == GEMM64_OP_DEPTHWISE) {
    words[13] |= command->lead;
  }
  words[14] |= command->slot << 16;
  words[15] |= command->place;
  if (command->opcode == GEMM64_OP_MATMUL) {
    words[8] |= command->out_row;
    words[8] |= command->out_column << 16;
    words[9] |= command->in_row;
    words[10] |= command->in_column;
    words[11] |= command->new_pixels;
    words[11] |= command->freed_pixels << 16;
  }
  if (command->opcode == GEMM64_OP_STORE) {
    words[8] |= command->result_scale;
    words[9] |= command->operand_scale;
    words[10] |= command->offset;
    words[11] |= command->result_zero;
    words[11] |= command->operand_zero << 8;
    words[11] |= command->function_min << 16;
    words[11] |= command->function_max << 24;
    words[12] |= command->first_lane;
    words[12] |= command->lanes << 8;
    words[12] |= command->add << 16;
    words[12] |= command->multiply << 17;
    words[12] |= command->table << 18;
    words[12] |= command->broadcast << 19;
    words[12] |= command->keep << 20;
    words[12] |= command->swap << 21;
    words[12] |= command->operand_moved << 22;
    words[12] |= command->result_moved << 23;
  }
  for (i = 0; i < GEMM64_COMMAND_BYTES / 4; ++i) together ^= words[i];
  together ^= together >> 16;
  together ^= together >> 8;
  together ^= together >> 4;
  words[6] |= (together & 15u) << 4;
  for (i = 0; i < GEMM64_COMMAND_BYTES; ++i) {
    bytes[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
  }
  return 0;
}

/* An opcode's name. */
static inline const char *gemm64_opcode_name(uint32_t value) {
  switch (value) {
    case GEMM64_OP_LOAD_WEIGHTS:
      return "LOAD_WEIGHTS";
    case GEMM64_OP_LOAD_ACTIVATIONS:
      return "LOAD_ACTIVATIONS";
    case GEMM64_OP_MATMUL:
      return "MATMUL";
    case GEMM64_OP_STORE:
      return "STORE";
    case GEMM64_OP_FINISH:
      return "FINISH";
    case GEMM64_OP_FENCE:
      return "FENCE";
    case GEMM64_OP_LOAD_PARAMETERS:
      return "LOAD_PARAMETERS";
    case GEMM64_OP_SET_WINDOW:
      return "SET_WINDOW";
    case GEMM64_OP_LOAD_OPERANDS:
      return "LOAD_OPERANDS";
    case GEMM64_OP_DEPTHWISE:
      return "DEPTHWISE";
    default:
      return "unknown";
  }
}

/* The name of an error's code. */
static inline const char *gemm64_error_name(uint32_t value) {
  switch (value) {
    case GEMM64_ERROR_NONE:
      return "NONE";
    case GEMM64_ERROR_BAD_OPCODE:
      return "BAD_OPCODE";
    case GEMM64_ERROR_BAD_OPERAND:
      return "BAD_OPERAND";
    case GEMM64_ERROR_BAD_ADDRESS:
      return "BAD_ADDRESS";
    case GEMM64_ERROR_BUS_SLAVE:
      return "BUS_SLAVE";
    case GEMM64_ERROR_BUS_DECODE:
      return "BUS_DECODE";
    case GEMM64_ERROR_WATCHDOG:
      return "WATCHDOG";
    case GEMM64_ERROR_UNBALANCED:
      return "UNBALANCED";
    case GEMM64_ERROR_CHECKSUM:
      return "CHECKSUM";
    case GEMM64_ERROR_PARITY:
      return "PARITY";
    case GEMM64_ERROR_UNWRITTEN:
      return "UNWRITTEN";
    default:
      return "unknown";
  }
}

/* What an error's code means. */
static inline const char *gemm64_error_text(uint32_t value) {
  switch (value) {
    case GEMM64_ERROR_NONE:
      return "No error.";
    case GEMM64_ERROR_BAD_OPCODE:
      return "The command's OPCODE is not in the table.";
    case GEMM64_ERROR_BAD_OPERAND:
      return "ROWS, COUNT, PASSES or BLOCKS is zero, ROWS is larger than an accumulator bank, FORMAT is not in the table, LOW is larger than HIGH (8-bit results), a STORE with VECTOR has results of 32 bits, lanes beyond N or numbers that the vector path cannot take, or has KEEP and no settings were loaded since the reset, or writes some lanes only of words in the tensor memory, DEPTHWISE has a kernel, dilations or steps that cannot be, or a window does not fit the scratchpad or the commands before it.";
    case GEMM64_ERROR_BAD_ADDRESS:
      return "The address is no multiple of N or wider than the bus, or the command or its words pass the end of the address space or, while there is one, of the tensor memory or of the addresses before it; or it is of the tensor memory, and the command neither LOAD_ACTIVATIONS, LOAD_OPERANDS nor STORE.";
    case GEMM64_ERROR_BUS_SLAVE:
      return "The memory answered SLVERR.";
    case GEMM64_ERROR_BUS_DECODE:
      return "The memory answered DECERR: nothing lies at that address.";
    case GEMM64_ERROR_WATCHDOG:
      return "No progress for as long as WATCHDOG allows.";
    case GEMM64_ERROR_UNBALANCED:
      return "A FINISH, or a LOAD_ACTIVATIONS that begins anew, found pixels of a window that no MATMUL claims or frees.";
    case GEMM64_ERROR_CHECKSUM:
      return "A row of sums that left the array is not what its checksum says: a fault of the device, which the same work may not meet again.";
    case GEMM64_ERROR_PARITY:
      return "A word that was read from one of the device's memories is not the one that was written there, or a command not the one that was encoded: a fault of the device, too. Also a flip of a register that stops the engines.";
    case GEMM64_ERROR_UNWRITTEN:
      return "A MATMUL, or a LOAD from the tensor memory, read a word of the scratchpad that was not written since the reset, or a STORE a row of sums that was not computed since it was stored last, as one with more rows than its block does: an error of the program, which only a device with SELF_CHECK.PARITY finds.";
    default:
      return "unknown";
  }
}

/* What is in a memory of the device. */
static inline const char *gemm64_memory_name(uint32_t value) {
  switch (value) {
    case GEMM64_MEMORY_COMMANDS:
      return "commands fetched";
    case GEMM64_MEMORY_WEIGHTS:
      return "weight buffer";
    case GEMM64_MEMORY_SCRATCHPAD:
      return "scratchpad";
    case GEMM64_MEMORY_SUMS_0:
      return "accumulator bank 0";
    case GEMM64_MEMORY_SUMS_1:
      return "accumulator bank 1";
    case GEMM64_MEMORY_BIASES:
      return "biases";
    case GEMM64_MEMORY_SCALES:
      return "scales";
    case GEMM64_MEMORY_OPERANDS:
      return "second operands";
    case GEMM64_MEMORY_TABLE:
      return "table of the vector path";
    case GEMM64_MEMORY_LANE_WEIGHTS:
      return "weights of the lanes";
    case GEMM64_MEMORY_LANE_LINES:
      return "rows of the lanes";
    case GEMM64_MEMORY_LANES:
      return "window and sums of the lanes";
    case GEMM64_MEMORY_REQUANTIZER:
      return "requantizer";
    case GEMM64_MEMORY_VECTOR:
      return "vector path";
    default:
      return "unknown";
  }
}

/* An engine's name. */
static inline const char *gemm64_engine_name(uint32_t value) {
  switch (value) {
    case GEMM64_ENGINE_COMMANDS:
      return "commands";
    case GEMM64_ENGINE_WEIGHTS:
      return "weights";
    case GEMM64_ENGINE_ACTIVATIONS:
      return "activations";
    case GEMM64_ENGINE_COMPUTE:
      return "compute";
    case GEMM64_ENGINE_RESULTS:
      return "results";
    case GEMM64_ENGINE_PARAMETERS:
      return "parameters";
    case GEMM64_ENGINE_OPERANDS:
      return "operands";
    default:
      return "unknown";
  }
}

#endif
