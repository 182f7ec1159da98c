// SPDX-License-Identifier: Apache-2.0
// What becomes of finished sums: the engines that load their parameters and second operands, and the one that stores results.
// Latency: that of gemm64_store.
// Handshake: the plug of three engines, as gemm64.v has it, of each at its place: RESULTS, PARAMETERS, OPERANDS; and of two
//            readers of the data port: PARAMETERS, OPERANDS.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_store_unit #(
    parameter N                  = 64,  // columns of the array
    parameter LOG_N              = 6,   // log2 N
    parameter ADDRESS_WIDTH      = 40,  // bits of an address
    parameter ROW_WIDTH          = 7,   // log2 of the rows of an accumulator's bank
    parameter LOG_READS          = 4,   // log2 of the read bursts in flight, for each reader
    parameter LOG_WRITES         = 4,   // log2 of the write bursts in flight
    parameter SELF_CHECK         = 0,   // 0: wrong_o, and tag_o, are 0
    parameter LOG_PARAMETER_SETS = 4,   // log2 of the sets of parameters that their buffer holds
    parameter LOG_OPERANDS       = 9    // log2 of the words of operands that theirs holds
) (
    input  wire                        clk_i,
    input  wire                        rst_ni,  // synchronous, active low
    input  wire                        stop_i,  // begin nothing more
    input  wire                        tensor_i,  // the tensor memory serves the upper half of the address space
    // The plug of three engines
    input  wire [2:0]                  valid_i,
    output wire [2:0]                  ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 tag_i,
    output wire [2:0]                  idle_o,
    output wire [2:0]                  quiet_o,
    output wire [2:0]                  error_o,
    output wire [16*3-1:0]             error_tag_o,
    // What of their memories was wrong: of each, that it was, which memory, and which word; and the current STORE
    output wire [2:0]                  wrong_o,
    output wire [8*3-1:0]              wrong_memory_o,
    output wire [24*3-1:0]             wrong_word_o,
    output wire [15:0]                 wrong_tag_o,
    output wire [6:0]                  results_causes_o,
    output wire [3:0]                  parameters_causes_o,
    output wire [3:0]                  operands_causes_o,
    // Of two readers
    output wire [1:0]                  ask_o,
    input  wire [1:0]                  granted_i,
    output wire [ADDRESS_WIDTH*2-1:0]  ask_address_o,
    output wire [7*2-1:0]              ask_beats_o,
    output wire                        operands_tensor_o,  // what the reader of operands asks for is in the tensor memory
    output wire [15:0]                 operands_tag_o,     // and for this command
    input  wire [1:0]                  beat_i,
    input  wire [8*N-1:0]              beat_data_i,
    input  wire                        beat_error_i,
    input  wire                        beat_last_i,
    input  wire [8*N-1:0]              operand_beat_data_i,  // the same for operands
    input  wire                        operand_beat_error_i,
    input  wire                        operand_beat_last_i,
    // Commands and counters
    output wire                        store_done_o,
    output wire                        snapshot_take_o,
    output wire                        snapshot_next_o,
    input  wire [8*N-1:0]              snapshot_i,
    // Accumulator
    input  wire                        block_done_i,
    output wire                        bank_free_o,
    output wire [ROW_WIDTH:0]          rows_stored_o,
    output wire                        storing_o,
    output wire                        row_read_o,
    output wire                        row_bank_o,
    output wire [ROW_WIDTH-1:0]        row_o,
    output wire                        row_shown_o,
    input  wire [32*N-1:0]             row_data_i,
    // AXI4 write port
    output wire                        results_tensor_o,  // to the tensor memory instead
    output wire                        awvalid_o,
    input  wire                        awready_i,
    output wire                        awid_o,
    output wire [ADDRESS_WIDTH-1:0]    awaddr_o,
    output wire [7:0]                  awlen_o,
    output wire [2:0]                  awsize_o,
    output wire [1:0]                  awburst_o,
    output wire                        wvalid_o,
    input  wire                        wready_i,
    output wire [8*N-1:0]              wdata_o,
    output wire [N-1:0]                wstrb_o,
    output wire                        wlast_o,
    input  wire                        bvalid_i,
    output wire                        bready_o,
    input  wire                        berror_i
);

    localparam RESULTS = 0, PARAMETERS = 1, OPERANDS = 2;      // places of engines
    localparam PARAMETERS_READER = 0, OPERANDS_READER = 1;  // of readers

    wire            set_ready, set_claim, bias_read, bias_next, scale_read;
    wire [32*N-1:0] bias, scale;
    wire            wrong_scale;

    gemm64_requant_params #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_SETS(LOG_PARAMETER_SETS), .LOG_BURSTS(LOG_READS),
        .SELF_CHECK(SELF_CHECK)
    ) u_parameter_sets (
        .clk_i (clk_i), .rst_ni (rst_ni), .stop_i (stop_i), .command_valid_i (valid_i[PARAMETERS]),
        .command_ready_o (ready_o[PARAMETERS]), .command_i (command_i), .command_tag_i (tag_i), .idle_o (idle_o[PARAMETERS]),
        .quiet_o (quiet_o[PARAMETERS]), .error_o (error_o[PARAMETERS]), .error_tag_o (error_tag_o[16*PARAMETERS +: 16]),
        .causes_o (parameters_causes_o),
        .request_valid_o (ask_o[PARAMETERS_READER]), .request_ready_i (granted_i[PARAMETERS_READER]),
        .request_address_o (ask_address_o[ADDRESS_WIDTH*PARAMETERS_READER +: ADDRESS_WIDTH]),
        .request_beats_o (ask_beats_o[7*PARAMETERS_READER +: 7]), .beat_i (beat_i[PARAMETERS_READER]),
        .beat_data_i (beat_data_i), .beat_error_i (beat_error_i), .beat_last_i (beat_last_i),
        .ready_o (set_ready), .claim_i (set_claim), .bias_read_i (bias_read), .bias_next_i (bias_next),
        .bias_o (bias), .scale_read_i (scale_read), .scale_o (scale), .wrong_o (wrong_o[PARAMETERS]),
        .wrong_scale_o (wrong_scale), .wrong_word_o (wrong_word_o[24*PARAMETERS +: 24])
    );

    wire                  operand_claim, operand_read;
    wire [LOG_OPERANDS:0] operand_words, operands_claimed;
    wire [8*N-1:0]        operand;

    gemm64_elementwise_operand #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_WORDS(LOG_OPERANDS), .LOG_BURSTS(LOG_READS),
        .SELF_CHECK(SELF_CHECK)
    ) u_operands (
        .clk_i (clk_i), .rst_ni (rst_ni), .stop_i (stop_i), .command_valid_i (valid_i[OPERANDS]),
        .command_ready_o (ready_o[OPERANDS]), .command_i (command_i), .command_tag_i (tag_i), .idle_o (idle_o[OPERANDS]),
        .quiet_o (quiet_o[OPERANDS]), .error_o (error_o[OPERANDS]), .error_tag_o (error_tag_o[16*OPERANDS +: 16]),
        .causes_o (operands_causes_o),
        .request_valid_o (ask_o[OPERANDS_READER]), .request_ready_i (granted_i[OPERANDS_READER]),
        .request_address_o (ask_address_o[ADDRESS_WIDTH*OPERANDS_READER +: ADDRESS_WIDTH]),
        .request_beats_o (ask_beats_o[7*OPERANDS_READER +: 7]), .beat_i (beat_i[OPERANDS_READER]),
        .tensor_i (tensor_i), .request_tensor_o (operands_tensor_o), .request_tag_o (operands_tag_o),
        .beat_data_i (operand_beat_data_i), .beat_error_i (operand_beat_error_i), .beat_last_i (operand_beat_last_i),
        .words_o (operand_words), .claim_i (operand_claim), .claimed_i (operands_claimed), .read_i (operand_read),
        .word_o (operand), .wrong_o (wrong_o[OPERANDS]), .wrong_word_o (wrong_word_o[24*OPERANDS +: 24])
    );

    gemm64_store #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ROW_WIDTH(ROW_WIDTH), .LOG_BURSTS(LOG_WRITES),
        .LOG_OPERANDS(LOG_OPERANDS), .SELF_CHECK(SELF_CHECK)
    ) u_results (
        .clk_i (clk_i), .rst_ni (rst_ni), .stop_i (stop_i), .command_valid_i (valid_i[RESULTS]),
        .command_ready_o (ready_o[RESULTS]), .command_i (command_i), .command_tag_i (tag_i), .idle_o (idle_o[RESULTS]),
        .quiet_o (quiet_o[RESULTS]), .error_o (error_o[RESULTS]), .error_tag_o (error_tag_o[16*RESULTS +: 16]),
        .causes_o (results_causes_o),
        .store_done_o (store_done_o), .snapshot_take_o (snapshot_take_o), .snapshot_next_o (snapshot_next_o),
        .snapshot_i (snapshot_i), .set_ready_i (set_ready), .set_claim_o (set_claim), .bias_read_o (bias_read),
        .bias_next_o (bias_next), .bias_i (bias), .scale_read_o (scale_read), .scale_i (scale),
        .operand_words_i (operand_words), .operand_claim_o (operand_claim), .operands_claimed_o (operands_claimed),
        .operand_read_o (operand_read), .operand_i (operand),
        .block_done_i (block_done_i), .bank_free_o (bank_free_o), .rows_stored_o (rows_stored_o), .storing_o (storing_o),
        .row_read_o (row_read_o), .row_bank_o (row_bank_o), .row_o (row_o), .row_shown_o (row_shown_o),
        .row_data_i (row_data_i),
        .wrong_o (wrong_o[RESULTS]), .wrong_memory_o (wrong_memory_o[8*RESULTS +: 8]),
        .wrong_entry_o (wrong_word_o[24*RESULTS +: 8]), .tag_o (wrong_tag_o),
        .tensor_i (tensor_i), .tensor_o (results_tensor_o),
        .awvalid_o (awvalid_o), .awready_i (awready_i), .awid_o (awid_o),
        .awaddr_o (awaddr_o), .awlen_o (awlen_o), .awsize_o (awsize_o),
        .awburst_o (awburst_o), .wvalid_o (wvalid_o), .wready_i (wready_i),
        .wdata_o (wdata_o), .wstrb_o (wstrb_o), .wlast_o (wlast_o),
        .bvalid_i (bvalid_i), .bready_o (bready_o), .berror_i (berror_i)
    );

    assign wrong_word_o[24*RESULTS + 8 +: 16]    = 16'd0;
    assign wrong_memory_o[8*PARAMETERS +: 8] = wrong_scale ? `GEMM64_MEMORY_SCALES : `GEMM64_MEMORY_BIASES;
    assign wrong_memory_o[8*OPERANDS +: 8]   = `GEMM64_MEMORY_OPERANDS;

endmodule

`default_nettype wire
