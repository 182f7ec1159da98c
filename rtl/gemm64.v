// SPDX-License-Identifier: Apache-2.0
// GEMM accelerator: an N x N weight-stationary systolic array with its memories, engines and AXI ports.
// Latency: a tile of max(rows, N) clocks follows the one before without a gap; a row's sums are in the accumulator
//          N/STAGE_ROWS + N + 1 clocks after the row was read from the scratchpad.
// Handshake: AXI4-Lite registers (map and commands: gemm64.json), three AXI4 ports, one level interrupt.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64 #(
    parameter N                = 64,     // rows and columns of the array, bytes of a beat: 2, 4, 8, 16, 32 or 64
    parameter STAGE_ROWS       = N < 4 ? N : 4,  // rows added before a partial-sum register: 1, 2, 4 or 8
    parameter SUM_WIDTH        = 16 + $clog2(N),  // bits of a partial sum in the array: 16 + log2 N to 32
    parameter CLOCK_ENABLES    = 1,      // 0: the array's registers load in every clock, whether something moves or not
    parameter SCRATCHPAD_WORDS = 9216,   // words of N activations: 64 rows of K=9216; at least 63 more than
                                         // ACCUMULATOR_ROWS, for the burst that completes a tile's rows
    parameter ACCUMULATOR_ROWS = 128,    // rows in each of two banks of sums, a power of two
    parameter LOG_WEIGHT_WORDS = 10,     // log2 of the words in the weight buffer: two tiles or more. 1024 keep the
                                         // weights coming at full rate up to a latency of 895 clocks
    parameter LOG_READS        = 4,      // log2 of the read bursts under way, for each reader
    parameter LOG_WRITES       = 4,      // log2 of the write bursts under way
    parameter LOG_COMMANDS     = 4,      // log2 of the commands fetched ahead
    parameter LOG_PARAMETER_SETS = 4,    // log2 of the sets of parameters that their buffer holds: one a tile of N
    parameter ADDRESS_WIDTH    = 40,     // bits of a memory address, 24 to 63
    parameter AXI_PROT         = 3'b010, // AxPROT of every request: data, non-secure, unprivileged
    parameter AXI_CACHE        = 4'b0011 // AxCACHE of every request: normal memory, bufferable, not cached on the way
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,  // synchronous, active low
    output wire                     irq_o,   // level
    // AXI4-Lite: registers
    input  wire                     s_axil_awvalid_i,
    output wire                     s_axil_awready_o,
    input  wire [11:0]              s_axil_awaddr_i,
    input  wire [2:0]               s_axil_awprot_i,
    input  wire                     s_axil_wvalid_i,
    output wire                     s_axil_wready_o,
    input  wire [31:0]              s_axil_wdata_i,
    input  wire [3:0]               s_axil_wstrb_i,
    output wire                     s_axil_bvalid_o,
    input  wire                     s_axil_bready_i,
    output wire [1:0]               s_axil_bresp_o,
    input  wire                     s_axil_arvalid_i,
    output wire                     s_axil_arready_o,
    input  wire [11:0]              s_axil_araddr_i,
    input  wire [2:0]               s_axil_arprot_i,
    output wire                     s_axil_rvalid_o,
    input  wire                     s_axil_rready_i,
    output wire [31:0]              s_axil_rdata_o,
    output wire [1:0]               s_axil_rresp_o,
    // AXI4 read: weights
    output wire                     m_weights_arvalid_o,
    input  wire                     m_weights_arready_i,
    output wire                     m_weights_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_weights_araddr_o,
    output wire [7:0]               m_weights_arlen_o,
    output wire [2:0]               m_weights_arsize_o,
    output wire [1:0]               m_weights_arburst_o,
    output wire [2:0]               m_weights_arprot_o,
    output wire [3:0]               m_weights_arcache_o,
    input  wire                     m_weights_rvalid_i,
    output wire                     m_weights_rready_o,
    input  wire                     m_weights_rid_i,
    input  wire [8*N-1:0]           m_weights_rdata_i,
    input  wire [1:0]               m_weights_rresp_i,
    input  wire                     m_weights_rlast_i,
    // AXI4 read: commands (ID 0), activations (ID 1) and parameters of results (ID 2)
    output wire                     m_data_arvalid_o,
    input  wire                     m_data_arready_i,
    output wire [1:0]               m_data_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_data_araddr_o,
    output wire [7:0]               m_data_arlen_o,
    output wire [2:0]               m_data_arsize_o,
    output wire [1:0]               m_data_arburst_o,
    output wire [2:0]               m_data_arprot_o,
    output wire [3:0]               m_data_arcache_o,
    input  wire                     m_data_rvalid_i,
    output wire                     m_data_rready_o,
    input  wire [1:0]               m_data_rid_i,
    input  wire [8*N-1:0]           m_data_rdata_i,
    input  wire [1:0]               m_data_rresp_i,
    input  wire                     m_data_rlast_i,
    // AXI4 write: results
    output wire                     m_results_awvalid_o,
    input  wire                     m_results_awready_i,
    output wire                     m_results_awid_o,
    output wire [ADDRESS_WIDTH-1:0] m_results_awaddr_o,
    output wire [7:0]               m_results_awlen_o,
    output wire [2:0]               m_results_awsize_o,
    output wire [1:0]               m_results_awburst_o,
    output wire [2:0]               m_results_awprot_o,
    output wire [3:0]               m_results_awcache_o,
    output wire                     m_results_wvalid_o,
    input  wire                     m_results_wready_i,
    output wire [8*N-1:0]           m_results_wdata_o,
    output wire [N-1:0]             m_results_wstrb_o,
    output wire                     m_results_wlast_o,
    input  wire                     m_results_bvalid_i,
    output wire                     m_results_bready_o,
    input  wire                     m_results_bid_i,
    input  wire [1:0]               m_results_bresp_i
);

    gemm64_parameters #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .SUM_WIDTH(SUM_WIDTH), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS),
        .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS), .LOG_WEIGHT_WORDS(LOG_WEIGHT_WORDS), .LOG_READS(LOG_READS),
        .LOG_WRITES(LOG_WRITES), .LOG_COMMANDS(LOG_COMMANDS), .LOG_PARAMETER_SETS(LOG_PARAMETER_SETS),
        .ADDRESS_WIDTH(ADDRESS_WIDTH)
    ) u_parameters ();

    localparam LOG_N         = $clog2(N);
    localparam ROW_WIDTH     = $clog2(ACCUMULATOR_ROWS);
    localparam WORDS_WIDTH   = $clog2(SCRATCHPAD_WORDS + 1);
    localparam STAGES        = N / STAGE_ROWS;
    localparam PIPELINE      = STAGES + N + 1;  // clocks from the read of a row to the write of its last sum
    localparam SELECT_WIDTH  = $clog2(`GEMM64_COUNTERS);
    localparam [1:0] COMMANDS_ID    = 2'd0;
    localparam [1:0] ACTIVATIONS_ID = 2'd1;
    localparam [1:0] PARAMETERS_ID  = 2'd2;

    // What every request says of itself
    assign m_weights_arprot_o  = AXI_PROT;
    assign m_weights_arcache_o = AXI_CACHE;
    assign m_data_arprot_o     = AXI_PROT;
    assign m_data_arcache_o    = AXI_CACHE;
    assign m_results_awprot_o  = AXI_PROT;
    assign m_results_awcache_o = AXI_CACHE;

    // Control
    wire stop, clear, halted, resetting, fail;
    wire reset_request, clear_counters, finish;
    wire engines_rst_n = rst_ni & ~clear;

    // Registers
    wire [31:0]             watchdog, error;
    wire [63:0]             ring_base, counter_value;
    wire [15:0]             ring_mask, ring_tail, ring_head;
    wire [SELECT_WIDTH-1:0] counter;

    // Commands to the engines
    wire                     to_weights, to_activations, to_compute, to_parameters, to_results;
    wire                     weights_ready, activations_ready, compute_ready, parameters_ready, results_ready;
    wire                     snapshot, snapshot_take, snapshot_next, store_done, set_window;
    wire [8*N-1:0]           snapshot_beat;
    wire [7:0]               flags;
    wire [15:0]              rows, tag;
    wire [31:0]              count, passes, blocks, stride;
    wire [ADDRESS_WIDTH-1:0] address;
    wire [`GEMM64_CMD_FORMAT_WIDTH-1:0] format;
    wire [7:0]               zero, low, high;
    wire [255:0]             window;  // words 8 to 15 of a command

    // State of the engines
    wire        activations_left, unbalanced;
    wire [15:0] unbalanced_tag;
    wire commands_idle, weights_idle, activations_idle, compute_idle, parameters_idle, results_idle;
    wire commands_quiet, weights_quiet, activations_quiet, parameters_quiet, results_quiet;
    wire others_idle  = weights_idle & compute_idle & parameters_idle & results_idle;
    wire engines_idle = others_idle & activations_idle;
    wire busy         = ~(commands_idle & engines_idle);
    wire quiet        = commands_quiet & weights_quiet & activations_quiet & parameters_quiet & results_quiet
                      & ~m_data_arvalid_o;

    wire        commands_error, fetch_error, weights_error, activations_error, parameters_error, results_error;
    wire [3:0]  commands_code;
    wire [15:0] commands_tag, fetch_tag, weights_tag, activations_tag, parameters_tag, results_tag;
    wire        weights_decode;

    wire [`GEMM64_COUNTERS-1:0] events;

    gemm64_registers #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .WEIGHT_TILES((1 << LOG_WEIGHT_WORDS) / N), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS),
        .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS), .ADDRESS_WIDTH(ADDRESS_WIDTH), .READS(1 << LOG_READS),
        .WRITES(1 << LOG_WRITES), .COMMANDS(1 << LOG_COMMANDS), .PARAMETER_SETS(1 << LOG_PARAMETER_SETS),
        .SELECT_WIDTH(SELECT_WIDTH)
    ) u_registers (
        .clk_i            (clk_i),
        .rst_ni           (rst_ni),
        .awvalid_i        (s_axil_awvalid_i),
        .awready_o        (s_axil_awready_o),
        .awaddr_i         (s_axil_awaddr_i),
        .wvalid_i         (s_axil_wvalid_i),
        .wready_o         (s_axil_wready_o),
        .wdata_i          (s_axil_wdata_i),
        .wstrb_i          (s_axil_wstrb_i),
        .bvalid_o         (s_axil_bvalid_o),
        .bready_i         (s_axil_bready_i),
        .bresp_o          (s_axil_bresp_o),
        .arvalid_i        (s_axil_arvalid_i),
        .arready_o        (s_axil_arready_o),
        .araddr_i         (s_axil_araddr_i),
        .rvalid_o         (s_axil_rvalid_o),
        .rready_i         (s_axil_rready_i),
        .rdata_o          (s_axil_rdata_o),
        .rresp_o          (s_axil_rresp_o),
        .watchdog_o       (watchdog),
        .ring_base_o      (ring_base),
        .ring_mask_o      (ring_mask),
        .ring_tail_o      (ring_tail),
        .reset_o          (reset_request),
        .clear_counters_o (clear_counters),
        .ring_clear_i     (clear),
        .busy_i           (busy),
        .halted_i         (halted),
        .resetting_i      (resetting | reset_request),
        .finish_i         (finish),
        .fail_i           (fail),
        .error_i          (error),
        .ring_head_i      (ring_head),
        .irq_o            (irq_o),
        .counter_o        (counter),
        .counter_value_i  (counter_value)
    );

    // Data port: commands go before parameters, parameters before activations.
    wire                     commands_ask, parameters_ask, activations_ask;
    wire [ADDRESS_WIDTH-1:0] commands_address, parameters_address, activations_address;
    wire [6:0]               commands_beats, parameters_beats, activations_beats;
    wire                     data_ready;
    wire                     command_beat    = m_data_rvalid_i & m_data_rid_i == COMMANDS_ID;
    wire                     activation_beat = m_data_rvalid_i & m_data_rid_i == ACTIVATIONS_ID;
    wire                     parameter_beat  = m_data_rvalid_i & m_data_rid_i == PARAMETERS_ID;

    assign m_data_rready_o = 1'b1;

    gemm64_request #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ID_WIDTH(2)) u_data_request (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (commands_ask | parameters_ask | activations_ask),
        .ready_o   (data_ready),
        .id_i      (commands_ask ? COMMANDS_ID : parameters_ask ? PARAMETERS_ID : ACTIVATIONS_ID),
        .address_i (commands_ask ? commands_address : parameters_ask ? parameters_address : activations_address),
        .beats_i   (commands_ask ? commands_beats : parameters_ask ? parameters_beats : activations_beats),
        .axvalid_o (m_data_arvalid_o),
        .axready_i (m_data_arready_i),
        .axid_o    (m_data_arid_o),
        .axaddr_o  (m_data_araddr_o),
        .axlen_o   (m_data_arlen_o),
        .axsize_o  (m_data_arsize_o),
        .axburst_o (m_data_arburst_o)
    );

    gemm64_commands #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS),
        .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS), .LOG_COMMANDS(LOG_COMMANDS)
    ) u_commands (
        .clk_i               (clk_i),
        .rst_ni              (engines_rst_n),
        .stop_i              (stop),
        .ring_base_i         (ring_base[ADDRESS_WIDTH-1:0]),
        .ring_mask_i         (ring_mask),
        .ring_tail_i         (ring_tail),
        .ring_head_o         (ring_head),
        .request_valid_o     (commands_ask),
        .request_ready_i     (data_ready),
        .request_address_o   (commands_address),
        .request_beats_o     (commands_beats),
        .beat_i              (command_beat),
        .beat_data_i         (m_data_rdata_i),
        .beat_error_i        (m_data_rresp_i[1]),
        .beat_last_i         (m_data_rlast_i),
        .weights_valid_o     (to_weights),
        .weights_ready_i     (weights_ready),
        .activations_valid_o (to_activations),
        .activations_ready_i (activations_ready),
        .compute_valid_o     (to_compute),
        .compute_ready_i     (compute_ready),
        .parameters_valid_o  (to_parameters),
        .parameters_ready_i  (parameters_ready),
        .results_valid_o     (to_results),
        .results_ready_i     (results_ready),
        .snapshot_o          (snapshot),
        .set_window_o        (set_window),
        .flags_o             (flags),
        .rows_o              (rows),
        .count_o             (count),
        .passes_o            (passes),
        .blocks_o            (blocks),
        .address_o           (address),
        .format_o            (format),
        .zero_o              (zero),
        .low_o               (low),
        .high_o              (high),
        .stride_o            (stride),
        .window_o            (window),
        .tag_o               (tag),
        .store_done_i        (store_done),
        .engines_idle_i      (engines_idle),
        .left_i              (activations_left & others_idle),
        .finish_o            (finish),
        .idle_o              (commands_idle),
        .quiet_o             (commands_quiet),
        .error_o             (commands_error),
        .error_code_o        (commands_code),
        .error_tag_o         (commands_tag),
        .bus_error_o         (fetch_error),
        .bus_error_tag_o     (fetch_tag),
        .dispatch_o          (events[`GEMM64_COUNTER_COMMANDS_DISPATCH]),
        .wait_memory_o       (events[`GEMM64_COUNTER_COMMANDS_WAIT_MEMORY]),
        .wait_engine_o       (events[`GEMM64_COUNTER_COMMANDS_WAIT_ENGINE])
    );

    // Weights
    wire [LOG_WEIGHT_WORDS:0] weight_words;
    wire                      weight_read;
    wire [8*N-1:0]            weight;
    wire                      weights_idle_clock;

    gemm64_weights #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_WORDS(LOG_WEIGHT_WORDS), .LOG_BURSTS(LOG_READS)
    ) u_weights (
        .clk_i             (clk_i),
        .rst_ni            (engines_rst_n),
        .stop_i            (stop),
        .command_valid_i   (to_weights),
        .command_ready_o   (weights_ready),
        .command_address_i (address),
        .command_count_i   (count),
        .command_passes_i  (passes),
        .command_tag_i     (tag),
        .arvalid_o         (m_weights_arvalid_o),
        .arready_i         (m_weights_arready_i),
        .arid_o            (m_weights_arid_o),
        .araddr_o          (m_weights_araddr_o),
        .arlen_o           (m_weights_arlen_o),
        .arsize_o          (m_weights_arsize_o),
        .arburst_o         (m_weights_arburst_o),
        .rvalid_i          (m_weights_rvalid_i),
        .rready_o          (m_weights_rready_o),
        .rdata_i           (m_weights_rdata_i),
        .rresp_i           (m_weights_rresp_i),
        .rlast_i           (m_weights_rlast_i),
        .words_o           (weight_words),
        .read_i            (weight_read),
        .word_o            (weight),
        .idle_o            (weights_idle),
        .quiet_o           (weights_quiet),
        .error_o           (weights_error),
        .error_decode_o    (weights_decode),
        .error_tag_o       (weights_tag),
        .transfer_o        (events[`GEMM64_COUNTER_WEIGHTS_TRANSFER]),
        .wait_memory_o     (events[`GEMM64_COUNTER_WEIGHTS_WAIT_MEMORY]),
        .wait_buffer_o     (events[`GEMM64_COUNTER_WEIGHTS_WAIT_BUFFER]),
        .idle_clock_o      (weights_idle_clock)
    );

    // Activations
    wire [WORDS_WIDTH-1:0] activation_words;
    wire                   activation_read, activation_release, activation_rewind, activation_window, activation_inside;
    wire                   activation_claim, activation_free, activation_pixels;
    wire [24:0]            activation_place;
    wire [15:0]            activation_new, activation_freed;
    wire [7:0]             activation_zero;
    wire [8*N-1:0]         activation;
    wire                   activations_idle_clock;

    gemm64_activations #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .WORDS(SCRATCHPAD_WORDS), .WORDS_WIDTH(WORDS_WIDTH),
        .LOG_BURSTS(LOG_READS)
    ) u_activations (
        .clk_i             (clk_i),
        .rst_ni            (engines_rst_n),
        .stop_i            (stop),
        .command_valid_i   (to_activations),
        .command_ready_o   (activations_ready),
        .command_address_i (address),
        .command_rows_i    (rows),
        .command_count_i   (count),
        .command_passes_i  (passes),
        .command_blocks_i  (blocks),
        .command_stride_i  (stride),
        .command_window_i  (flags[`GEMM64_FLAG_WINDOW_BIT]),
        .command_start_i   (flags[`GEMM64_FLAG_START_BIT]),
        .command_capacity_i (window[`GEMM64_CMD_CAPACITY_LSB - 256 +: `GEMM64_CMD_CAPACITY_WIDTH]),
        .command_slot_i    (window[`GEMM64_CMD_SLOT_LSB - 256 +: `GEMM64_CMD_SLOT_WIDTH]),
        .command_place_i   (window[`GEMM64_CMD_PLACE_LSB - 256 +: `GEMM64_CMD_PLACE_WIDTH]),
        .command_tag_i     (tag),
        .request_valid_o   (activations_ask),
        .request_ready_i   (data_ready & ~commands_ask & ~parameters_ask),
        .request_address_o (activations_address),
        .request_beats_o   (activations_beats),
        .beat_i            (activation_beat),
        .beat_data_i       (m_data_rdata_i),
        .beat_error_i      (m_data_rresp_i[1]),
        .beat_last_i       (m_data_rlast_i),
        .ahead_o           (activation_words),
        .pixels_o          (activation_pixels),
        .read_i            (activation_read),
        .release_i         (activation_release),
        .rewind_i          (activation_rewind),
        .window_i          (activation_window),
        .place_i           (activation_place),
        .inside_i          (activation_inside),
        .zero_i            (activation_zero),
        .claim_i           (activation_claim),
        .new_i             (activation_new),
        .free_i            (activation_free),
        .freed_i           (activation_freed),
        .word_o            (activation),
        .idle_o            (activations_idle),
        .quiet_o           (activations_quiet),
        .error_o           (activations_error),
        .error_tag_o       (activations_tag),
        .left_o            (activations_left),
        .unbalanced_o      (unbalanced),
        .unbalanced_tag_o  (unbalanced_tag),
        .transfer_o        (events[`GEMM64_COUNTER_ACTIVATIONS_TRANSFER]),
        .wait_memory_o     (events[`GEMM64_COUNTER_ACTIVATIONS_WAIT_MEMORY]),
        .wait_scratchpad_o (events[`GEMM64_COUNTER_ACTIVATIONS_WAIT_SCRATCHPAD]),
        .idle_clock_o      (activations_idle_clock)
    );

    // Compute
    wire [LOG_N-1:0]     weight_column;
    wire                 row_first, row_last, row_bank, bank_free;
    wire [ROW_WIDTH-1:0] row;
    wire [ROW_WIDTH:0]   rows_stored;
    wire                 compute_idle_clock;

    gemm64_compute #(
        .N(N), .LOG_N(LOG_N), .WEIGHT_WIDTH(LOG_WEIGHT_WORDS + 1), .WORDS_WIDTH(WORDS_WIDTH),
        .ROW_WIDTH(ROW_WIDTH), .PIPELINE(PIPELINE)
    ) u_compute (
        .clk_i                (clk_i),
        .rst_ni               (engines_rst_n),
        .stop_i               (stop),
        .command_valid_i      (to_compute),
        .command_ready_o      (compute_ready),
        .command_set_i        (set_window),
        .command_flags_i      (flags),
        .command_rows_i       (rows),
        .command_count_i      (count),
        .command_passes_i     (passes),
        .command_blocks_i     (blocks),
        .command_zero_i       (zero),
        .command_window_i     (window),
        .weight_words_i       (weight_words),
        .weight_read_o        (weight_read),
        .weight_column_o      (weight_column),
        .activation_words_i   (activation_words),
        .activation_pixels_i  (activation_pixels),
        .activation_read_o    (activation_read),
        .activation_release_o (activation_release),
        .activation_rewind_o  (activation_rewind),
        .activation_window_o  (activation_window),
        .activation_place_o   (activation_place),
        .activation_inside_o  (activation_inside),
        .activation_zero_o    (activation_zero),
        .activation_claim_o   (activation_claim),
        .activation_new_o     (activation_new),
        .activation_free_o    (activation_free),
        .activation_freed_o   (activation_freed),
        .row_first_o          (row_first),
        .row_last_o           (row_last),
        .row_bank_o           (row_bank),
        .row_o                (row),
        .bank_free_i          (bank_free),
        .rows_stored_i        (rows_stored),
        .idle_o               (compute_idle),
        .wait_weights_o       (events[`GEMM64_COUNTER_COMPUTE_WAIT_WEIGHTS]),
        .wait_activations_o   (events[`GEMM64_COUNTER_COMPUTE_WAIT_ACTIVATIONS]),
        .wait_results_o       (events[`GEMM64_COUNTER_COMPUTE_WAIT_RESULTS]),
        .drain_o              (events[`GEMM64_COUNTER_COMPUTE_DRAIN]),
        .idle_clock_o         (compute_idle_clock)
    );

    // A word of weights leaves its buffer a clock after it was requested; its column index waits for it. A word of
    // activations leaves the scratchpad just so.
    reg             weight_valid_q, activation_valid_q;
    reg [LOG_N-1:0] weight_column_q;
    wire [32*N-1:0] sum;

    always @(posedge clk_i) begin
        weight_valid_q     <= weight_read & engines_rst_n;
        weight_column_q    <= weight_column;
        activation_valid_q <= activation_read;
    end

    gemm64_array #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH(LOG_N), .SUM_WIDTH(SUM_WIDTH), .CLOCK_ENABLES(CLOCK_ENABLES)
    ) u_array (
        .clk_i              (clk_i),
        .rst_ni             (engines_rst_n),
        .weight_valid_i     (weight_valid_q),
        .weight_column_i    (weight_column_q),
        .weight_i           (weight),
        .activation_valid_i (activation_valid_q),
        .activation_i       (activation),
        .sum_o              (sum)
    );

    // Parameters of results
    wire            set_ready, set_claim, bias_read, bias_next, scale_read;
    wire [32*N-1:0] bias, scale;
    wire            parameters_idle_clock;

    gemm64_parameter_sets #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_SETS(LOG_PARAMETER_SETS), .LOG_BURSTS(LOG_READS)
    ) u_parameter_sets (
        .clk_i             (clk_i),
        .rst_ni            (engines_rst_n),
        .stop_i            (stop),
        .command_valid_i   (to_parameters),
        .command_ready_o   (parameters_ready),
        .command_address_i (address),
        .command_count_i   (count),
        .command_passes_i  (passes),
        .command_tag_i     (tag),
        .request_valid_o   (parameters_ask),
        .request_ready_i   (data_ready & ~commands_ask),
        .request_address_o (parameters_address),
        .request_beats_o   (parameters_beats),
        .beat_i            (parameter_beat),
        .beat_data_i       (m_data_rdata_i),
        .beat_error_i      (m_data_rresp_i[1]),
        .beat_last_i       (m_data_rlast_i),
        .ready_o           (set_ready),
        .claim_i           (set_claim),
        .bias_read_i       (bias_read),
        .bias_next_i       (bias_next),
        .bias_o            (bias),
        .scale_read_i      (scale_read),
        .scale_o           (scale),
        .idle_o            (parameters_idle),
        .quiet_o           (parameters_quiet),
        .error_o           (parameters_error),
        .error_tag_o       (parameters_tag),
        .transfer_o        (events[`GEMM64_COUNTER_PARAMETERS_TRANSFER]),
        .wait_memory_o     (events[`GEMM64_COUNTER_PARAMETERS_WAIT_MEMORY]),
        .wait_buffer_o     (events[`GEMM64_COUNTER_PARAMETERS_WAIT_BUFFER]),
        .idle_clock_o      (parameters_idle_clock)
    );

    // Results
    wire                 block_done, store_read, store_bank;
    wire [ROW_WIDTH-1:0] store_row;
    wire [32*N-1:0]      store_data;
    wire                 results_idle_clock;

    gemm64_accumulator #(
        .N(N), .ROWS(ACCUMULATOR_ROWS), .ROW_WIDTH(ROW_WIDTH), .REQUEST_DELAY(STAGES + 1)
    ) u_accumulator (
        .clk_i        (clk_i),
        .rst_ni       (engines_rst_n),
        .valid_i      (activation_read),
        .first_i      (row_first),
        .last_i       (row_last),
        .bank_i       (row_bank),
        .row_i        (row),
        .sum_i        (sum),
        .done_o       (block_done),
        .store_read_i (store_read),
        .store_bank_i (store_bank),
        .store_row_i  (store_row),
        .store_data_o (store_data)
    );

    gemm64_results #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ROW_WIDTH(ROW_WIDTH), .LOG_BURSTS(LOG_WRITES)
    ) u_results (
        .clk_i              (clk_i),
        .rst_ni             (engines_rst_n),
        .stop_i             (stop),
        .command_valid_i    (to_results),
        .command_ready_o    (results_ready),
        .command_snapshot_i (snapshot),
        .command_address_i  (address),
        .command_rows_i     (rows),
        .command_count_i    (count),
        .command_stride_i   (stride),
        .command_blocks_i   (blocks),
        .command_format_i   (format),
        .command_zero_i     (zero),
        .command_low_i      (low),
        .command_high_i     (high),
        .command_tag_i      (tag),
        .store_done_o       (store_done),
        .snapshot_take_o    (snapshot_take),
        .snapshot_next_o    (snapshot_next),
        .snapshot_i         (snapshot_beat),
        .set_ready_i        (set_ready),
        .set_claim_o        (set_claim),
        .bias_read_o        (bias_read),
        .bias_next_o        (bias_next),
        .bias_i             (bias),
        .scale_read_o       (scale_read),
        .scale_i            (scale),
        .block_done_i       (block_done),
        .bank_free_o        (bank_free),
        .rows_stored_o      (rows_stored),
        .row_read_o         (store_read),
        .row_bank_o         (store_bank),
        .row_o              (store_row),
        .row_data_i         (store_data),
        .awvalid_o          (m_results_awvalid_o),
        .awready_i          (m_results_awready_i),
        .awid_o             (m_results_awid_o),
        .awaddr_o           (m_results_awaddr_o),
        .awlen_o            (m_results_awlen_o),
        .awsize_o           (m_results_awsize_o),
        .awburst_o          (m_results_awburst_o),
        .wvalid_o           (m_results_wvalid_o),
        .wready_i           (m_results_wready_i),
        .wdata_o            (m_results_wdata_o),
        .wstrb_o            (m_results_wstrb_o),
        .wlast_o            (m_results_wlast_o),
        .bvalid_i           (m_results_bvalid_i),
        .bready_o           (m_results_bready_o),
        .berror_i           (m_results_bresp_i[1]),
        .idle_o             (results_idle),
        .quiet_o            (results_quiet),
        .error_o            (results_error),
        .error_tag_o        (results_tag),
        .transfer_o         (events[`GEMM64_COUNTER_RESULTS_TRANSFER]),
        .wait_memory_o      (events[`GEMM64_COUNTER_RESULTS_WAIT_MEMORY]),
        .wait_compute_o     (events[`GEMM64_COUNTER_RESULTS_WAIT_COMPUTE]),
        .wait_parameters_o  (events[`GEMM64_COUNTER_RESULTS_WAIT_PARAMETERS]),
        .wait_response_o    (events[`GEMM64_COUNTER_RESULTS_WAIT_RESPONSE]),
        .idle_clock_o       (results_idle_clock)
    );

    // Errors, watchdog and soft reset
    wire moved = m_weights_rvalid_i & m_weights_rready_o | m_weights_arvalid_o & m_weights_arready_i
               | m_data_rvalid_i | m_data_arvalid_o & m_data_arready_i | activation_read
               | m_results_awvalid_o & m_results_awready_i | m_results_wvalid_o & m_results_wready_i
               | m_results_bvalid_i | events[`GEMM64_COUNTER_COMMANDS_DISPATCH];

    gemm64_control u_control (
        .clk_i               (clk_i),
        .rst_ni              (rst_ni),
        .reset_i             (reset_request),
        .watchdog_i          (watchdog),
        .busy_i              (busy),
        .progress_i          (moved),
        .quiet_i             (quiet),
        .commands_error_i    (commands_error),
        .commands_code_i     (commands_code),
        .commands_tag_i      (commands_tag),
        .next_tag_i          (tag),
        .fetch_error_i       (fetch_error),
        .fetch_tag_i         (fetch_tag),
        .activations_error_i (activations_error),
        .activations_tag_i   (activations_tag),
        .unbalanced_i        (unbalanced),
        .unbalanced_tag_i    (unbalanced_tag),
        .data_decode_i       (m_data_rresp_i[0]),
        .weights_error_i     (weights_error),
        .weights_tag_i       (weights_tag),
        .weights_decode_i    (weights_decode),
        .parameters_error_i  (parameters_error),
        .parameters_tag_i    (parameters_tag),
        .results_error_i     (results_error),
        .results_tag_i       (results_tag),
        .results_decode_i    (m_results_bresp_i[0]),
        .stop_o              (stop),
        .clear_o             (clear),
        .halted_o            (halted),
        .resetting_o         (resetting),
        .fail_o              (fail),
        .error_o             (error)
    );

    // Counters: an engine without work is idle as long as the accelerator is busy with other things.
    assign events[`GEMM64_COUNTER_TOTAL_CLOCKS]      = busy;
    assign events[`GEMM64_COUNTER_COMMANDS_IDLE]     = busy & commands_idle;
    assign events[`GEMM64_COUNTER_WEIGHTS_IDLE]      = busy & weights_idle_clock;
    assign events[`GEMM64_COUNTER_ACTIVATIONS_IDLE]  = busy & activations_idle_clock;
    assign events[`GEMM64_COUNTER_COMPUTE_COMPUTE]   = activation_read;
    assign events[`GEMM64_COUNTER_COMPUTE_IDLE]      = busy & compute_idle_clock;
    assign events[`GEMM64_COUNTER_RESULTS_IDLE]      = busy & results_idle_clock;
    assign events[`GEMM64_COUNTER_PARAMETERS_IDLE]   = busy & parameters_idle_clock;
    assign events[`GEMM64_COUNTER_BYTES_WEIGHTS]     = m_weights_rvalid_i & m_weights_rready_o;
    assign events[`GEMM64_COUNTER_BYTES_ACTIVATIONS] = activation_beat;
    assign events[`GEMM64_COUNTER_BYTES_COMMANDS]    = command_beat;
    assign events[`GEMM64_COUNTER_BYTES_PARAMETERS]  = parameter_beat;
    assign events[`GEMM64_COUNTER_BYTES_RESULTS]     = m_results_wvalid_o & m_results_wready_i;

    gemm64_counters #(
        .COUNTERS(`GEMM64_COUNTERS), .BYTES(`GEMM64_COUNTER_BYTES_WEIGHTS), .N(N), .SELECT_WIDTH(SELECT_WIDTH)
    ) u_counters (
        .clk_i    (clk_i),
        .rst_ni   (rst_ni),
        .clear_i  (clear_counters),
        .event_i  (events),
        .select_i (counter),
        .value_o  (counter_value),
        .take_i   (snapshot_take),
        .next_i   (snapshot_next),
        .beat_o   (snapshot_beat)
    );

endmodule

`default_nettype wire
