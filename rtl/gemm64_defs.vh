// SPDX-License-Identifier: Apache-2.0
// Made by scripts/generate from rtl/gemm64.json: edit that file, then run `scripts/generate`.
`ifndef GEMM64_DEFS_VH
`define GEMM64_DEFS_VH

// Version of registers and commands.
`define GEMM64_VERSION_MAJOR 16'd3
`define GEMM64_VERSION_MINOR 16'd1

// Byte offsets of registers.
`define GEMM64_REG_ID               12'h000
`define GEMM64_REG_VERSION          12'h004
`define GEMM64_REG_ARRAY            12'h008
`define GEMM64_REG_SCRATCHPAD_WORDS 12'h00c
`define GEMM64_REG_ACCUMULATOR_ROWS 12'h010
`define GEMM64_REG_BUS              12'h014
`define GEMM64_REG_ADDRESS_WIDTH    12'h018
`define GEMM64_REG_CONTROL          12'h020
`define GEMM64_REG_STATUS           12'h024
`define GEMM64_REG_INTERRUPT        12'h028
`define GEMM64_REG_ERROR            12'h02c
`define GEMM64_REG_WATCHDOG         12'h030
`define GEMM64_REG_RING_BASE_LOW    12'h034
`define GEMM64_REG_RING_BASE_HIGH   12'h038
`define GEMM64_REG_RING_MASK        12'h03c
`define GEMM64_REG_RING_TAIL        12'h040
`define GEMM64_REG_RING_HEAD        12'h044
`define GEMM64_REG_INTERRUPT_ENABLE 12'h048
`define GEMM64_REG_PARAMETER_SETS   12'h04c

// Registers after a reset.
`define GEMM64_REG_ID_RESET               32'h67363463
`define GEMM64_REG_WATCHDOG_RESET         32'h00100000
`define GEMM64_REG_RING_BASE_LOW_RESET    32'h00000000
`define GEMM64_REG_RING_BASE_HIGH_RESET   32'h00000000
`define GEMM64_REG_RING_MASK_RESET        32'h0000003f
`define GEMM64_REG_RING_TAIL_RESET        32'h00000000
`define GEMM64_REG_INTERRUPT_ENABLE_RESET 32'h00000003

// Fields of registers.
`define GEMM64_VERSION_MINOR_LSB            0
`define GEMM64_VERSION_MINOR_WIDTH          16
`define GEMM64_VERSION_MAJOR_LSB            16
`define GEMM64_VERSION_MAJOR_WIDTH          16
`define GEMM64_ARRAY_N_LSB                  0
`define GEMM64_ARRAY_N_WIDTH                8
`define GEMM64_ARRAY_STAGE_ROWS_LSB         8
`define GEMM64_ARRAY_STAGE_ROWS_WIDTH       8
`define GEMM64_ARRAY_WEIGHT_TILES_LSB       16
`define GEMM64_ARRAY_WEIGHT_TILES_WIDTH     16
`define GEMM64_BUS_READS_LSB                0
`define GEMM64_BUS_READS_WIDTH              8
`define GEMM64_BUS_WRITES_LSB               8
`define GEMM64_BUS_WRITES_WIDTH             8
`define GEMM64_BUS_COMMANDS_LSB             16
`define GEMM64_BUS_COMMANDS_WIDTH           8
`define GEMM64_BUS_BURST_BEATS_LSB          24
`define GEMM64_BUS_BURST_BEATS_WIDTH        8
`define GEMM64_CONTROL_RESET_BIT            0
`define GEMM64_CONTROL_RESET_LSB            0
`define GEMM64_CONTROL_RESET_WIDTH          1
`define GEMM64_CONTROL_CLEAR_COUNTERS_BIT   1
`define GEMM64_CONTROL_CLEAR_COUNTERS_LSB   1
`define GEMM64_CONTROL_CLEAR_COUNTERS_WIDTH 1
`define GEMM64_STATUS_BUSY_BIT              0
`define GEMM64_STATUS_BUSY_LSB              0
`define GEMM64_STATUS_BUSY_WIDTH            1
`define GEMM64_STATUS_HALTED_BIT            1
`define GEMM64_STATUS_HALTED_LSB            1
`define GEMM64_STATUS_HALTED_WIDTH          1
`define GEMM64_STATUS_RESETTING_BIT         2
`define GEMM64_STATUS_RESETTING_LSB         2
`define GEMM64_STATUS_RESETTING_WIDTH       1
`define GEMM64_INTERRUPT_DONE_BIT           0
`define GEMM64_INTERRUPT_DONE_LSB           0
`define GEMM64_INTERRUPT_DONE_WIDTH         1
`define GEMM64_INTERRUPT_ERROR_BIT          1
`define GEMM64_INTERRUPT_ERROR_LSB          1
`define GEMM64_INTERRUPT_ERROR_WIDTH        1
`define GEMM64_ERROR_CODE_LSB               0
`define GEMM64_ERROR_CODE_WIDTH             4
`define GEMM64_ERROR_ENGINE_LSB             4
`define GEMM64_ERROR_ENGINE_WIDTH           4
`define GEMM64_ERROR_COMMAND_LSB            16
`define GEMM64_ERROR_COMMAND_WIDTH          16
`define GEMM64_INTERRUPT_ENABLE_DONE_BIT    0
`define GEMM64_INTERRUPT_ENABLE_DONE_LSB    0
`define GEMM64_INTERRUPT_ENABLE_DONE_WIDTH  1
`define GEMM64_INTERRUPT_ENABLE_ERROR_BIT   1
`define GEMM64_INTERRUPT_ENABLE_ERROR_LSB   1
`define GEMM64_INTERRUPT_ENABLE_ERROR_WIDTH 1

// Commands: bit positions count from the command's first bit.
`define GEMM64_CMD_BYTES                 64
`define GEMM64_CMD_BITS                  512
`define GEMM64_CMD_USED_BITS             512
`define GEMM64_CMD_OPCODE_LSB            0
`define GEMM64_CMD_OPCODE_WIDTH          8
`define GEMM64_CMD_FLAGS_LSB             8
`define GEMM64_CMD_FLAGS_WIDTH           8
`define GEMM64_CMD_ROWS_LSB              16
`define GEMM64_CMD_ROWS_WIDTH            16
`define GEMM64_CMD_COUNT_LSB             32
`define GEMM64_CMD_COUNT_WIDTH           32
`define GEMM64_CMD_PASSES_LSB            64
`define GEMM64_CMD_PASSES_WIDTH          32
`define GEMM64_CMD_BLOCKS_LSB            96
`define GEMM64_CMD_BLOCKS_WIDTH          32
`define GEMM64_CMD_ADDRESS_LOW_LSB       128
`define GEMM64_CMD_ADDRESS_LOW_WIDTH     32
`define GEMM64_CMD_ADDRESS_HIGH_LSB      160
`define GEMM64_CMD_ADDRESS_HIGH_WIDTH    32
`define GEMM64_CMD_FORMAT_LSB            192
`define GEMM64_CMD_FORMAT_WIDTH          4
`define GEMM64_CMD_ZERO_LSB              200
`define GEMM64_CMD_ZERO_WIDTH            8
`define GEMM64_CMD_LOW_LSB               208
`define GEMM64_CMD_LOW_WIDTH             8
`define GEMM64_CMD_HIGH_LSB              216
`define GEMM64_CMD_HIGH_WIDTH            8
`define GEMM64_CMD_STRIDE_LSB            224
`define GEMM64_CMD_STRIDE_WIDTH          32
`define GEMM64_CMD_KERNEL_HEIGHT_LSB     256
`define GEMM64_CMD_KERNEL_HEIGHT_WIDTH   8
`define GEMM64_CMD_KERNEL_WIDTH_LSB      264
`define GEMM64_CMD_KERNEL_WIDTH_WIDTH    8
`define GEMM64_CMD_STRIDE_HEIGHT_LSB     272
`define GEMM64_CMD_STRIDE_HEIGHT_WIDTH   8
`define GEMM64_CMD_STRIDE_WIDTH_LSB      280
`define GEMM64_CMD_STRIDE_WIDTH_WIDTH    8
`define GEMM64_CMD_DILATION_HEIGHT_LSB   288
`define GEMM64_CMD_DILATION_HEIGHT_WIDTH 8
`define GEMM64_CMD_DILATION_WIDTH_LSB    296
`define GEMM64_CMD_DILATION_WIDTH_WIDTH  8
`define GEMM64_CMD_PAD_TOP_LSB           304
`define GEMM64_CMD_PAD_TOP_WIDTH         8
`define GEMM64_CMD_PAD_LEFT_LSB          312
`define GEMM64_CMD_PAD_LEFT_WIDTH        8
`define GEMM64_CMD_HEIGHT_LSB            320
`define GEMM64_CMD_HEIGHT_WIDTH          16
`define GEMM64_CMD_WIDTH_LSB             336
`define GEMM64_CMD_WIDTH_WIDTH           16
`define GEMM64_CMD_OUT_HEIGHT_LSB        352
`define GEMM64_CMD_OUT_HEIGHT_WIDTH      16
`define GEMM64_CMD_OUT_WIDTH_LSB         368
`define GEMM64_CMD_OUT_WIDTH_WIDTH       16
`define GEMM64_CMD_ROW_STEP_LSB          384
`define GEMM64_CMD_ROW_STEP_WIDTH        16
`define GEMM64_CMD_IMAGE_STEP_LSB        400
`define GEMM64_CMD_IMAGE_STEP_WIDTH      16
`define GEMM64_CMD_TAP_ROW_STEP_LSB      416
`define GEMM64_CMD_TAP_ROW_STEP_WIDTH    16
`define GEMM64_CMD_GROUP_PASSES_LSB      432
`define GEMM64_CMD_GROUP_PASSES_WIDTH    16
`define GEMM64_CMD_CAPACITY_LSB          448
`define GEMM64_CMD_CAPACITY_WIDTH        16
`define GEMM64_CMD_SLOT_LSB              464
`define GEMM64_CMD_SLOT_WIDTH            16
`define GEMM64_CMD_PLACE_LSB             480
`define GEMM64_CMD_PLACE_WIDTH           32
`define GEMM64_CMD_OUT_ROW_LSB           256
`define GEMM64_CMD_OUT_ROW_WIDTH         16
`define GEMM64_CMD_OUT_COLUMN_LSB        272
`define GEMM64_CMD_OUT_COLUMN_WIDTH      16
`define GEMM64_CMD_IN_ROW_LSB            288
`define GEMM64_CMD_IN_ROW_WIDTH          32
`define GEMM64_CMD_IN_COLUMN_LSB         320
`define GEMM64_CMD_IN_COLUMN_WIDTH       32
`define GEMM64_CMD_NEW_PIXELS_LSB        352
`define GEMM64_CMD_NEW_PIXELS_WIDTH      16
`define GEMM64_CMD_FREED_PIXELS_LSB      368
`define GEMM64_CMD_FREED_PIXELS_WIDTH    16

// Opcodes.
`define GEMM64_OP_LOAD_WEIGHTS     8'd1
`define GEMM64_OP_LOAD_ACTIVATIONS 8'd2
`define GEMM64_OP_MATMUL           8'd3
`define GEMM64_OP_STORE            8'd4
`define GEMM64_OP_FINISH           8'd5
`define GEMM64_OP_FENCE            8'd6
`define GEMM64_OP_LOAD_PARAMETERS  8'd7
`define GEMM64_OP_SET_WINDOW       8'd8

// Bits of the command's FLAGS.
`define GEMM64_FLAG_ACCUMULATE_BIT 0
`define GEMM64_FLAG_RETAIN_BIT     1
`define GEMM64_FLAG_SNAPSHOT_BIT   2
`define GEMM64_FLAG_WINDOW_BIT     3
`define GEMM64_FLAG_START_BIT      4

// What holds for a command, by its OPCODE and FLAGS.
`define GEMM64_IS_COMMAND(op)               ((op) == `GEMM64_OP_LOAD_WEIGHTS | (op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_STORE | (op) == `GEMM64_OP_FINISH | (op) == `GEMM64_OP_FENCE | (op) == `GEMM64_OP_LOAD_PARAMETERS | (op) == `GEMM64_OP_SET_WINDOW)
`define GEMM64_AT_LEAST_1_ROWS(op)          ((op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_STORE)
`define GEMM64_AT_LEAST_1_COUNT(op)         ((op) == `GEMM64_OP_LOAD_WEIGHTS | (op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_STORE | (op) == `GEMM64_OP_LOAD_PARAMETERS)
`define GEMM64_AT_LEAST_1_PASSES(op)        ((op) == `GEMM64_OP_LOAD_WEIGHTS | (op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_LOAD_PARAMETERS)
`define GEMM64_AT_LEAST_1_BLOCKS(op)        ((op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_STORE)
`define GEMM64_AT_LEAST_1_KERNEL_HEIGHT(op) ((op) == `GEMM64_OP_SET_WINDOW)
`define GEMM64_AT_LEAST_1_KERNEL_WIDTH(op)  ((op) == `GEMM64_OP_SET_WINDOW)
`define GEMM64_AT_LEAST_1_GROUP_PASSES(op)  ((op) == `GEMM64_OP_SET_WINDOW)
`define GEMM64_AT_LEAST_1_CAPACITY(op)      ((op) == `GEMM64_OP_SET_WINDOW)
`define GEMM64_HAS_ADDRESS(op, flags)       (((op) == `GEMM64_OP_LOAD_WEIGHTS) | ((op) == `GEMM64_OP_LOAD_ACTIVATIONS) | ((op) == `GEMM64_OP_STORE) | (((op) == `GEMM64_OP_FENCE) & flags[2]) | ((op) == `GEMM64_OP_LOAD_PARAMETERS))
`define GEMM64_HAS_RUNS(op)                 ((op) == `GEMM64_OP_LOAD_ACTIVATIONS | (op) == `GEMM64_OP_STORE)
`define GEMM64_IS_STORE(op)                 ((op) == `GEMM64_OP_STORE)
`define GEMM64_ENGINE_OF(op)                {((op) == `GEMM64_OP_LOAD_PARAMETERS), ((op) == `GEMM64_OP_STORE | (op) == `GEMM64_OP_FENCE), ((op) == `GEMM64_OP_MATMUL | (op) == `GEMM64_OP_SET_WINDOW), ((op) == `GEMM64_OP_LOAD_ACTIVATIONS), ((op) == `GEMM64_OP_LOAD_WEIGHTS), (1'b0)}

// Formats of results, as in the command's FORMAT; in digit i the bytes of a value of format i, 0 where there is none.
`define GEMM64_RESULT_INT32 4'd0
`define GEMM64_RESULT_INT8  4'd1
`define GEMM64_RESULT_UINT8 4'd2
`define GEMM64_RESULT_BYTES 64'h0000000000000114

// Errors, as in ERROR.CODE.
`define GEMM64_ERROR_NONE        4'd0
`define GEMM64_ERROR_BAD_OPCODE  4'd1
`define GEMM64_ERROR_BAD_OPERAND 4'd2
`define GEMM64_ERROR_BAD_ADDRESS 4'd3
`define GEMM64_ERROR_BUS_SLAVE   4'd4
`define GEMM64_ERROR_BUS_DECODE  4'd5
`define GEMM64_ERROR_WATCHDOG    4'd6
`define GEMM64_ERROR_UNBALANCED  4'd7

// Engines, as in ERROR.ENGINE.
`define GEMM64_ENGINE_COMMANDS    4'd0
`define GEMM64_ENGINE_WEIGHTS     4'd1
`define GEMM64_ENGINE_ACTIVATIONS 4'd2
`define GEMM64_ENGINE_COMPUTE     4'd3
`define GEMM64_ENGINE_RESULTS     4'd4
`define GEMM64_ENGINE_PARAMETERS  4'd5

// Engines in all, the place of each in vectors, and the words of its commands that it uses.
`define GEMM64_ENGINES               6
`define GEMM64_PLUG_COMMANDS         0
`define GEMM64_PLUG_WEIGHTS          1
`define GEMM64_PLUG_ACTIVATIONS      2
`define GEMM64_PLUG_COMPUTE          3
`define GEMM64_PLUG_RESULTS          4
`define GEMM64_PLUG_PARAMETERS       5
`define GEMM64_CMD_WORDS_WEIGHTS     16'h0036
`define GEMM64_CMD_WORDS_ACTIVATIONS 16'hc0bf
`define GEMM64_CMD_WORDS_COMPUTE     16'h7f4f
`define GEMM64_CMD_WORDS_RESULTS     16'h00fb
`define GEMM64_CMD_WORDS_PARAMETERS  16'h0036

// Readers of the data port: their places, the first goes first, and the IDs at these.
`define GEMM64_READERS            3
`define GEMM64_READER_ID_WIDTH    2
`define GEMM64_READER_IDS         6'h18
`define GEMM64_READER_COMMANDS    0
`define GEMM64_READER_PARAMETERS  1
`define GEMM64_READER_ACTIVATIONS 2

// Counters of 64 bits: index, in steps of 8 bytes from the base.
`define GEMM64_COUNTERS_BASE                       12'h080
`define GEMM64_COUNTERS                            34
`define GEMM64_COUNTER_TOTAL_CLOCKS                0
`define GEMM64_COUNTER_COMMANDS_DISPATCH           1
`define GEMM64_COUNTER_COMMANDS_WAIT_MEMORY        2
`define GEMM64_COUNTER_COMMANDS_WAIT_ENGINE        3
`define GEMM64_COUNTER_COMMANDS_IDLE               4
`define GEMM64_COUNTER_WEIGHTS_TRANSFER            5
`define GEMM64_COUNTER_WEIGHTS_WAIT_MEMORY         6
`define GEMM64_COUNTER_WEIGHTS_WAIT_BUFFER         7
`define GEMM64_COUNTER_WEIGHTS_IDLE                8
`define GEMM64_COUNTER_ACTIVATIONS_TRANSFER        9
`define GEMM64_COUNTER_ACTIVATIONS_WAIT_MEMORY     10
`define GEMM64_COUNTER_ACTIVATIONS_WAIT_SCRATCHPAD 11
`define GEMM64_COUNTER_ACTIVATIONS_IDLE            12
`define GEMM64_COUNTER_COMPUTE_COMPUTE             13
`define GEMM64_COUNTER_COMPUTE_WAIT_WEIGHTS        14
`define GEMM64_COUNTER_COMPUTE_WAIT_ACTIVATIONS    15
`define GEMM64_COUNTER_COMPUTE_WAIT_RESULTS        16
`define GEMM64_COUNTER_COMPUTE_DRAIN               17
`define GEMM64_COUNTER_COMPUTE_IDLE                18
`define GEMM64_COUNTER_RESULTS_TRANSFER            19
`define GEMM64_COUNTER_RESULTS_WAIT_MEMORY         20
`define GEMM64_COUNTER_RESULTS_WAIT_COMPUTE        21
`define GEMM64_COUNTER_RESULTS_WAIT_PARAMETERS     22
`define GEMM64_COUNTER_RESULTS_WAIT_RESPONSE       23
`define GEMM64_COUNTER_RESULTS_IDLE                24
`define GEMM64_COUNTER_PARAMETERS_TRANSFER         25
`define GEMM64_COUNTER_PARAMETERS_WAIT_MEMORY      26
`define GEMM64_COUNTER_PARAMETERS_WAIT_BUFFER      27
`define GEMM64_COUNTER_PARAMETERS_IDLE             28
`define GEMM64_COUNTER_BYTES_WEIGHTS               29
`define GEMM64_COUNTER_BYTES_ACTIVATIONS           30
`define GEMM64_COUNTER_BYTES_COMMANDS              31
`define GEMM64_COUNTER_BYTES_RESULTS               32
`define GEMM64_COUNTER_BYTES_PARAMETERS            33
`define GEMM64_CAUSES_COMMANDS                     4:1
`define GEMM64_CAUSES_WEIGHTS                      8:5
`define GEMM64_CAUSES_ACTIVATIONS                  12:9
`define GEMM64_CAUSES_COMPUTE                      18:13
`define GEMM64_CAUSES_RESULTS                      24:19
`define GEMM64_CAUSES_PARAMETERS                   28:25
`define GEMM64_IDLE_CAUSES                         34'h11041110

`endif
