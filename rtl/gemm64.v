// SPDX-License-Identifier: Apache-2.0
// GEMM accelerator: an N x N weight-stationary systolic array with its memories, engines and AXI ports.
// Latency: a tile of max(rows, N) cycles follows the one before without a gap; a row's sums are in the accumulator
//          N/STAGE_ROWS + N + 1 cycles after the row was read from the scratchpad.
// Handshake: AXI4-Lite registers (map and commands: gemm64.json), three AXI4 ports, one level interrupt.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64 #(
    parameter N                = 64,     // rows and columns of the array, bytes of a beat: a power of two from 2 to 128
    parameter STAGE_ROWS       = N < 4 ? N : 4,  // rows added before a partial-sum register: 1, 2, 4 or 8
    parameter SUM_WIDTH        = 16 + $clog2(N),  // bits of a partial sum in the array: 16 + log2 N to 32
    parameter CLOCK_ENABLES    = 1,      // 0: the array's registers load in every cycle, whether something moves or not
    parameter SELF_CHECK       = 0,      // 1: it finds faults of its own: checksums of the array, parity of its memories
                                         // and in the lanes; 2: also in rows of 8-bit results
    parameter SCRATCHPAD_WORDS = 9216,   // words of N activations: 64 rows of K=9216; at least 63 more than
                                         // ACCUMULATOR_ROWS, for the burst that completes a tile's rows
    parameter ACCUMULATOR_ROWS = 128,    // rows in each of two banks of sums, a power of two
    parameter TENSOR_WORDS     = SCRATCHPAD_WORDS / 3 >= ACCUMULATOR_ROWS + 63 ? SCRATCHPAD_WORDS / 3 * 2 : 0,
                                         // words at the scratchpad's end that can serve as tensor memory
    parameter LOG_WEIGHT_WORDS = 10,     // log2 of the words in the weight buffer: two tiles or more. 1024 keep the
                                         // weights coming at full rate up to a latency of 895 cycles
    parameter LOG_READS        = 4,      // log2 of the read bursts in flight, for each reader
    parameter LOG_WRITES       = 4,      // log2 of the write bursts in flight
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
    input wire s_axil_awvalid_i, output wire s_axil_awready_o, input wire [11:0] s_axil_awaddr_i,
    input wire [2:0] s_axil_awprot_i,
    input wire s_axil_wvalid_i, output wire s_axil_wready_o, input wire [31:0] s_axil_wdata_i,
    input wire [3:0] s_axil_wstrb_i,
    output wire s_axil_bvalid_o, input wire s_axil_bready_i, output wire [1:0] s_axil_bresp_o,
    input wire s_axil_arvalid_i, output wire s_axil_arready_o, input wire [11:0] s_axil_araddr_i,
    input wire [2:0] s_axil_arprot_i,
    output wire s_axil_rvalid_o, input wire s_axil_rready_i, output wire [31:0] s_axil_rdata_o,
    output wire [1:0] s_axil_rresp_o,
    // AXI4 read: weights
    output wire m_weights_arvalid_o, input wire m_weights_arready_i, output wire m_weights_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_weights_araddr_o, output wire [7:0] m_weights_arlen_o,
    output wire [2:0] m_weights_arsize_o, output wire [1:0] m_weights_arburst_o, output wire [2:0] m_weights_arprot_o,
    output wire [3:0] m_weights_arcache_o,
    input wire m_weights_rvalid_i, output wire m_weights_rready_o, input wire m_weights_rid_i,
    input wire [8*N-1:0] m_weights_rdata_i, input wire [1:0] m_weights_rresp_i, input wire m_weights_rlast_i,
    // AXI4 read: commands (ID 0), activations (ID 1), parameters (ID 2) and operands (ID 3) of results
    output wire m_data_arvalid_o, input wire m_data_arready_i, output wire [1:0] m_data_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_data_araddr_o, output wire [7:0] m_data_arlen_o,
    output wire [2:0] m_data_arsize_o, output wire [1:0] m_data_arburst_o, output wire [2:0] m_data_arprot_o,
    output wire [3:0] m_data_arcache_o,
    input wire m_data_rvalid_i, output wire m_data_rready_o, input wire [1:0] m_data_rid_i,
    input wire [8*N-1:0] m_data_rdata_i, input wire [1:0] m_data_rresp_i, input wire m_data_rlast_i,
    // AXI4 write: results
    output wire m_results_awvalid_o, input wire m_results_awready_i, output wire m_results_awid_o,
    output wire [ADDRESS_WIDTH-1:0] m_results_awaddr_o, output wire [7:0] m_results_awlen_o,
    output wire [2:0] m_results_awsize_o, output wire [1:0] m_results_awburst_o, output wire [2:0] m_results_awprot_o,
    output wire [3:0] m_results_awcache_o,
    output wire m_results_wvalid_o, input wire m_results_wready_i, output wire [8*N-1:0] m_results_wdata_o,
    output wire [N-1:0] m_results_wstrb_o, output wire m_results_wlast_o,
    input wire m_results_bvalid_i, output wire m_results_bready_o, input wire m_results_bid_i,
    input wire [1:0] m_results_bresp_i
);

    gemm64_config_check #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .SUM_WIDTH(SUM_WIDTH), .SELF_CHECK(SELF_CHECK), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS),
        .TENSOR_WORDS(TENSOR_WORDS), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS), .LOG_WEIGHT_WORDS(LOG_WEIGHT_WORDS), .LOG_READS(LOG_READS),
        .LOG_WRITES(LOG_WRITES), .LOG_COMMANDS(LOG_COMMANDS), .LOG_PARAMETER_SETS(LOG_PARAMETER_SETS),
        .ADDRESS_WIDTH(ADDRESS_WIDTH)
    ) u_parameters ();

    localparam LOG_N         = $clog2(N);
    localparam ROW_WIDTH     = $clog2(ACCUMULATOR_ROWS);
    localparam WORDS_WIDTH   = $clog2(SCRATCHPAD_WORDS + 1);
    localparam STAGES        = N / STAGE_ROWS;
    localparam PIPELINE      = STAGES + N + 1;  // cycles from the read of a row to the write of its last sum
    localparam SELECT_WIDTH  = $clog2(`GEMM64_COUNTERS);
    // The engines, and the readers of the data port
    localparam ENGINES = `GEMM64_ENGINES, READERS = `GEMM64_READERS, COMMANDS = `GEMM64_PLUG_COMMANDS;
    localparam WEIGHTS = `GEMM64_PLUG_WEIGHTS, ACTIVATIONS = `GEMM64_PLUG_ACTIVATIONS, COMPUTE = `GEMM64_PLUG_COMPUTE;
    localparam RESULTS = `GEMM64_PLUG_RESULTS, PARAMETERS = `GEMM64_PLUG_PARAMETERS, OPERANDS = `GEMM64_PLUG_OPERANDS;
    // Operands of two blocks, and either those of two more, on their way then, or a table of 256 bytes
    localparam TWO_BLOCKS = 2 * ACCUMULATOR_ROWS;
    localparam LOG_OPERANDS = $clog2(TWO_BLOCKS + (TWO_BLOCKS > 256 / N ? TWO_BLOCKS : 256 / N));

    // What every request says of itself
    assign {m_weights_arprot_o, m_data_arprot_o, m_results_awprot_o}    = {3{AXI_PROT}};
    assign {m_weights_arcache_o, m_data_arcache_o, m_results_awcache_o} = {3{AXI_CACHE}};

    // Control and registers
    wire stop, clear, halted, resetting, fail, reset_request, clear_counters, finish;
    wire tensor;  // the scratchpad's last words are the tensor memory, at the addresses of the upper half
    wire engines_rst_n = rst_ni & ~clear;
    wire [31:0]             watchdog, error, fault_tile, fault_memory;
    wire [15:0]             fault_row;
    wire [63:0]             ring_base, counter_value;
    wire [15:0]             ring_mask, ring_tail, ring_head;
    wire [SELECT_WIDTH-1:0] counter;

    // The plug: what passes between the engines and the rest, of each engine at its number. A command goes to the engine
    // whose bit of `valid` is set.
    wire [ENGINES-1:0]          valid, ready, idle, quiet, bus_error, bus_decode, fault;
    wire [4*ENGINES-1:0]        fault_code;
    wire [16*ENGINES-1:0]       bus_tag, fault_tag;
    wire [`GEMM64_COUNTERS-1:0] causes;  // what each spends a cycle on, and at which port a beat moves
    wire [`GEMM64_CMD_BITS-1:0] command;
    wire [15:0]                 tag;
    // The same of each reader of the data port, at its place
    wire [READERS-1:0]               ask, granted, beat;
    wire [ADDRESS_WIDTH*READERS-1:0] ask_address;
    wire [7*READERS-1:0]             ask_beats;
    // The two readers that may ask the tensor memory instead, OPERANDS at place 0 and ACTIVATIONS at place 1
    wire                             activations_tensor, operands_tensor, activations_ask, operands_ask, tensor_last;
    wire [1:0]                       tensor_granted, tensor_beat;
    wire [15:0]                      activations_tag, operands_tag, tensor_tag;
    wire [8*N-1:0]                   tensor_word;
    wire activations_granted = activations_tensor ? tensor_granted[1] : granted[`GEMM64_READER_ACTIVATIONS];
    wire operands_granted    = operands_tensor ? tensor_granted[0] : granted[`GEMM64_READER_OPERANDS];
    wire [1:0] tensor_ask    = {activations_ask & activations_tensor, operands_ask & operands_tensor};
    assign ask[`GEMM64_READER_ACTIVATIONS] = activations_ask & ~activations_tensor;
    assign ask[`GEMM64_READER_OPERANDS]    = operands_ask & ~operands_tensor;

    // What an engine does not have
    assign {ready[COMMANDS], quiet[COMPUTE], bus_error[COMPUTE], bus_tag[16*COMPUTE +: 16]} = {2'b01, 17'd0};

    wire activations_left, store_done, commands_fault;
    wire [3:0]  commands_code;
    wire [15:0] commands_tag;
    wire commands_idle = idle[COMMANDS];
    wire others_idle   = idle[WEIGHTS] & idle[COMPUTE] & idle[PARAMETERS] & idle[OPERANDS] & idle[RESULTS];
    wire engines_idle  = others_idle & idle[ACTIVATIONS];
    wire busy          = ~(commands_idle & engines_idle);
    wire all_quiet     = quiet == {ENGINES{1'b1}} & ~m_data_arvalid_o;
    // An engine without work is idle as long as the accelerator is busy with other things.
    wire [`GEMM64_COUNTERS-1:0] events = causes & (~`GEMM64_IDLE_CAUSES | {`GEMM64_COUNTERS{busy}});

    gemm64_registers #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .WEIGHT_TILES((1 << LOG_WEIGHT_WORDS) / N), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS),
        .TENSOR_WORDS(TENSOR_WORDS), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS), .ADDRESS_WIDTH(ADDRESS_WIDTH), .READS(1 << LOG_READS),
        .WRITES(1 << LOG_WRITES), .COMMANDS(1 << LOG_COMMANDS), .PARAMETER_SETS(1 << LOG_PARAMETER_SETS),
        .SELF_CHECK(SELF_CHECK), .SELECT_WIDTH(SELECT_WIDTH)
    ) u_registers (
        .clk_i (clk_i), .rst_ni (rst_ni),
        .awvalid_i (s_axil_awvalid_i), .awready_o (s_axil_awready_o), .awaddr_i (s_axil_awaddr_i),
        .wvalid_i (s_axil_wvalid_i), .wready_o (s_axil_wready_o), .wdata_i (s_axil_wdata_i), .wstrb_i (s_axil_wstrb_i),
        .bvalid_o (s_axil_bvalid_o), .bready_i (s_axil_bready_i), .bresp_o (s_axil_bresp_o),
        .arvalid_i (s_axil_arvalid_i), .arready_o (s_axil_arready_o), .araddr_i (s_axil_araddr_i),
        .rvalid_o (s_axil_rvalid_o), .rready_i (s_axil_rready_i), .rdata_o (s_axil_rdata_o), .rresp_o (s_axil_rresp_o),
        .tensor_o (tensor), .watchdog_o (watchdog), .ring_base_o (ring_base), .ring_mask_o (ring_mask), .ring_tail_o (ring_tail),
        .reset_o (reset_request), .clear_counters_o (clear_counters), .ring_clear_i (clear), .busy_i (busy),
        .halted_i (halted), .resetting_i (resetting | reset_request), .finish_i (finish), .fail_i (fail),
        .error_i (error), .fault_tile_i (fault_tile), .fault_row_i (fault_row), .fault_memory_i (fault_memory), .ring_head_i (ring_head), .irq_o (irq_o),
        .counter_o (counter), .counter_value_i (counter_value)
    );

    gemm64_data_port #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .READERS(READERS), .ID_WIDTH(`GEMM64_READER_ID_WIDTH),
        .IDS(`GEMM64_READER_IDS)
    ) u_data_port (
        .clk_i (clk_i), .rst_ni (rst_ni),
        .valid_i (ask), .ready_o (granted), .address_i (ask_address), .beats_i (ask_beats), .beat_o (beat),
        .arvalid_o (m_data_arvalid_o), .arready_i (m_data_arready_i), .arid_o (m_data_arid_o),
        .araddr_o (m_data_araddr_o), .arlen_o (m_data_arlen_o), .arsize_o (m_data_arsize_o),
        .arburst_o (m_data_arburst_o), .rvalid_i (m_data_rvalid_i), .rready_o (m_data_rready_o), .rid_i (m_data_rid_i)
    );

    gemm64_command_processor #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS),
        .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS), .TENSOR_WORDS(TENSOR_WORDS), .LOG_COMMANDS(LOG_COMMANDS), .SELF_CHECK(SELF_CHECK)
    ) u_commands (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .stop_i (stop),
        .tensor_i (tensor), .ring_base_i (ring_base[ADDRESS_WIDTH-1:0]), .ring_mask_i (ring_mask), .ring_tail_i (ring_tail),
        .ring_head_o (ring_head),
        .request_valid_o (ask[`GEMM64_READER_COMMANDS]), .request_ready_i (granted[`GEMM64_READER_COMMANDS]),
        .request_address_o (ask_address[ADDRESS_WIDTH*`GEMM64_READER_COMMANDS +: ADDRESS_WIDTH]),
        .request_beats_o (ask_beats[7*`GEMM64_READER_COMMANDS +: 7]), .beat_i (beat[`GEMM64_READER_COMMANDS]),
        .beat_data_i (m_data_rdata_i), .beat_error_i (m_data_rresp_i[1]), .beat_last_i (m_data_rlast_i),
        .valid_o (valid), .ready_i (ready), .command_o (command), .tag_o (tag), .store_done_i (store_done),
        .engines_idle_i (engines_idle), .left_i (activations_left & others_idle), .finish_o (finish),
        .idle_o (idle[COMMANDS]), .quiet_o (quiet[COMMANDS]), .error_o (commands_fault),
        .error_code_o (commands_code), .error_tag_o (commands_tag),
        .bus_error_o (bus_error[COMMANDS]), .bus_error_tag_o (bus_tag[16*COMMANDS +: 16]),
        .dispatch_o (causes[`GEMM64_COUNTER_COMMANDS_DISPATCH]),
        .wait_memory_o (causes[`GEMM64_COUNTER_COMMANDS_WAIT_MEMORY]),
        .wait_engine_o (causes[`GEMM64_COUNTER_COMMANDS_WAIT_ENGINE])
    );

    // What each engine finds wrong in its memories: which, and which word of it
    wire [ENGINES-1:0]    wrong;
    wire [8*ENGINES-1:0]  wrong_memory;
    wire [24*ENGINES-1:0] wrong_word;
    wire                  unbalanced;
    wire [15:0]           unbalanced_tag, store_tag;

    wire                      lanes_take, lanes_weight, lanes_move;
    wire [LOG_WEIGHT_WORDS:0] weight_words;
    wire                      weight_read, weight_release, weight_rewind;
    wire [8*N-1:0]            weight;

    gemm64_weights #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_WORDS(LOG_WEIGHT_WORDS), .LOG_BURSTS(LOG_READS),
        .SELF_CHECK(SELF_CHECK)
    ) u_weights (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .stop_i (stop), .command_valid_i (valid[WEIGHTS]),
        .command_ready_o (ready[WEIGHTS]), .command_i (command), .command_tag_i (tag), .idle_o (idle[WEIGHTS]),
        .quiet_o (quiet[WEIGHTS]), .error_o (bus_error[WEIGHTS]), .error_tag_o (bus_tag[16*WEIGHTS +: 16]),
        .causes_o (causes[`GEMM64_CAUSES_WEIGHTS]), .error_decode_o (bus_decode[WEIGHTS]),
        .arvalid_o (m_weights_arvalid_o), .arready_i (m_weights_arready_i), .arid_o (m_weights_arid_o),
        .araddr_o (m_weights_araddr_o), .arlen_o (m_weights_arlen_o), .arsize_o (m_weights_arsize_o),
        .arburst_o (m_weights_arburst_o), .rvalid_i (m_weights_rvalid_i), .rready_o (m_weights_rready_o),
        .rdata_i (m_weights_rdata_i), .rresp_i (m_weights_rresp_i), .rlast_i (m_weights_rlast_i),
        .words_o (weight_words), .read_i (weight_read | lanes_weight),
        .release_i (weight_release | lanes_weight), .rewind_i (weight_rewind), .word_o (weight),
        .wrong_o (wrong[WEIGHTS]), .wrong_word_o (wrong_word[24*WEIGHTS +: 24])
    );

    wire [WORDS_WIDTH-1:0] activation_words, tensor_write_address, tensor_read_address;
    wire                   tensor_write, tensor_read, wrong_tensor;
    wire                   activation_read, activation_release, activation_rewind, activation_window, activation_inside;
    wire                   activation_claim, activation_free, activation_pixels;
    wire [24:0]            activation_place;
    wire [15:0]            activation_new, activation_freed;
    wire [7:0]             activation_zero;
    wire [8*N-1:0]         activation;

    gemm64_activations #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .WORDS(SCRATCHPAD_WORDS), .WORDS_WIDTH(WORDS_WIDTH),
        .TENSOR_WORDS(TENSOR_WORDS), .LOG_BURSTS(LOG_READS), .SELF_CHECK(SELF_CHECK)
    ) u_activations (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .stop_i (stop), .command_valid_i (valid[ACTIVATIONS]),
        .command_ready_o (ready[ACTIVATIONS]), .command_i (command), .command_tag_i (tag), .idle_o (idle[ACTIVATIONS]),
        .quiet_o (quiet[ACTIVATIONS]), .error_o (bus_error[ACTIVATIONS]), .error_tag_o (bus_tag[16*ACTIVATIONS +: 16]),
        .causes_o (causes[`GEMM64_CAUSES_ACTIVATIONS]),
        .unbalanced_o (unbalanced), .unbalanced_tag_o (unbalanced_tag),
        .left_o (activations_left),
        .tensor_i (tensor), .request_tensor_o (activations_tensor), .request_tag_o (activations_tag),
        .request_valid_o (activations_ask), .request_ready_i (activations_granted),
        .request_address_o (ask_address[ADDRESS_WIDTH*`GEMM64_READER_ACTIVATIONS +: ADDRESS_WIDTH]),
        .request_beats_o (ask_beats[7*`GEMM64_READER_ACTIVATIONS +: 7]), .beat_i (beat[`GEMM64_READER_ACTIVATIONS] | tensor_beat[1]),
        .beat_data_i (tensor_beat[1] ? tensor_word : m_data_rdata_i), .beat_error_i (m_data_rresp_i[1] & ~tensor_beat[1]),
        .beat_last_i (tensor_beat[1] ? tensor_last : m_data_rlast_i),
        .tensor_write_i (tensor_write), .tensor_write_address_i (tensor_write_address), .tensor_write_data_i (m_results_wdata_o),
        .tensor_read_i (tensor_read), .tensor_read_address_i (tensor_read_address), .tensor_word_o (tensor_word),
        .wrong_tensor_o (wrong_tensor),
        .ahead_o (activation_words), .pixels_o (activation_pixels), .read_i (activation_read | lanes_take),
        .release_i (activation_release), .rewind_i (activation_rewind), .window_i (activation_window),
        .place_i (activation_place), .inside_i (activation_inside), .zero_i (activation_zero),
        .claim_i (activation_claim), .new_i (activation_new), .free_i (activation_free), .freed_i (activation_freed),
        .word_o (activation), .wrong_o (wrong[ACTIVATIONS]), .unwritten_o (unwritten_word), .wrong_word_o (wrong_word[24*ACTIVATIONS +: 24])
    );

    wire                 lanes_load, lanes_active, lanes_maximum, lanes_accumulate, lanes_place, lanes_row, lanes_plane_end, lanes_finished;
    wire                 lanes_wait_weights, lanes_wait_word, lanes_valid, lanes_last, lanes_bank, lanes_wrong_sum, lanes_wrong_line;
    wire [ROW_WIDTH-1:0] lanes_where;
    wire [32*N-1:0]      lanes_sum;
    wire [255:0]         lanes_window;
    wire [31:0]          lanes_planes, lanes_images;
    wire [7:0]           lanes_zero;
    wire [LOG_N-1:0]     weight_column;
    wire                 sums_wrong, sums_unwritten, sums_wrong_bank, unwritten_word;
    wire [ROW_WIDTH-1:0] sums_wrong_row;
    wire                 row_first, row_last, row_bank, row_starts_tile, row_starts_command, bank_free;
    wire [15:0]          row_tag;
    wire [ROW_WIDTH-1:0] row;
    wire [ROW_WIDTH:0]   rows_stored;

    gemm64_sequencer #(
        .N(N), .LOG_N(LOG_N), .WEIGHT_WIDTH(LOG_WEIGHT_WORDS + 1), .WORDS_WIDTH(WORDS_WIDTH),
        .ROW_WIDTH(ROW_WIDTH), .PIPELINE(PIPELINE), .SELF_CHECK(SELF_CHECK)
    ) u_compute (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .stop_i (stop), .command_valid_i (valid[COMPUTE]),
        .command_ready_o (ready[COMPUTE]), .command_i (command), .command_tag_i (tag), .idle_o (idle[COMPUTE]),
        .causes_o (causes[`GEMM64_CAUSES_COMPUTE]),
        .weight_words_i (weight_words), .weight_read_o (weight_read),
        .weight_release_o (weight_release), .weight_rewind_o (weight_rewind),
        .weight_column_o (weight_column),
        .activation_words_i (activation_words), .activation_pixels_i (activation_pixels),
        .activation_read_o (activation_read), .activation_release_o (activation_release),
        .activation_rewind_o (activation_rewind), .activation_window_o (activation_window),
        .activation_place_o (activation_place), .activation_inside_o (activation_inside),
        .activation_zero_o (activation_zero), .activation_claim_o (activation_claim),
        .activation_new_o (activation_new), .activation_free_o (activation_free),
        .activation_freed_o (activation_freed),
        .lanes_load_o (lanes_load), .lanes_active_o (lanes_active), .lanes_window_o (lanes_window),
        .lanes_zero_o (lanes_zero), .lanes_planes_o (lanes_planes), .lanes_images_o (lanes_images),
        .lanes_maximum_o (lanes_maximum), .lanes_accumulate_o (lanes_accumulate), .lanes_place_o (lanes_place), .lanes_move_i (lanes_move),
        .lanes_row_i (lanes_row), .lanes_plane_end_i (lanes_plane_end), .lanes_finished_i (lanes_finished),
        .lanes_wait_weights_i (lanes_wait_weights), .lanes_wait_word_i (lanes_wait_word), .row_first_o (row_first),
        .row_last_o (row_last), .row_bank_o (row_bank), .row_o (row),
        .row_starts_tile_o (row_starts_tile), .row_starts_command_o (row_starts_command), .row_tag_o (row_tag),
        .bank_free_i (bank_free), .rows_stored_i (rows_stored)
    );

    // A word of weights leaves its buffer a cycle after it was requested; its column index waits for it. A word of
    // activations leaves the scratchpad just so.
    reg             weight_valid_q, activation_valid_q;
    reg [LOG_N-1:0] weight_column_q;
    wire [32*N-1:0] sum;
    wire [8*N-1:0]  right_edge;

    always @(posedge clk_i) begin
        weight_valid_q     <= weight_read & engines_rst_n;
        weight_column_q    <= weight_column;
        activation_valid_q <= activation_read;
    end

    gemm64_array #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH(LOG_N), .SUM_WIDTH(SUM_WIDTH), .CLOCK_ENABLES(CLOCK_ENABLES),
        .SELF_CHECK(SELF_CHECK)
    ) u_array (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .weight_valid_i (weight_valid_q), .weight_column_i (weight_column_q),
        .weight_i (weight), .activation_valid_i (activation_valid_q), .activation_i (activation), .sum_o (sum),
        .edge_o (right_edge)
    );

    assign {wrong[COMMANDS], wrong_word[24*COMMANDS +: 24]} = 25'd0;
    assign wrong_memory[8*COMMANDS +: 8]    = `GEMM64_MEMORY_COMMANDS;
    assign wrong_memory[8*WEIGHTS +: 8]     = `GEMM64_MEMORY_WEIGHTS;
    assign wrong_memory[8*ACTIVATIONS +: 8] = `GEMM64_MEMORY_SCRATCHPAD;
    assign wrong_memory[8*COMPUTE +: 8]     = lanes_wrong_sum ? `GEMM64_MEMORY_LANES
                                            : lanes_wrong_line ? `GEMM64_MEMORY_LANE_LINES : `GEMM64_MEMORY_LANE_WEIGHTS;

    generate
        if (SELF_CHECK != 0) begin : self_check
            wire wrong_sum, wrong_row;
            wire [15:0] wrong_tag, compared_row;
            wire [31:0] compared_tile;
            reg  row_q;  // as activation_valid_q, but for a row that a reset met
            always @(posedge clk_i) row_q <= activation_read & engines_rst_n;
            gemm64_checksum #(
                .N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH(LOG_N), .SUM_WIDTH(SUM_WIDTH)
            ) u_checksum (
                .clk_i (clk_i), .rst_ni (engines_rst_n), .weight_valid_i (weight_valid_q),
                .weight_column_i (weight_column_q), .weight_i (weight), .activation_valid_i (row_q),
                .activation_i (activation), .edge_i (right_edge), .sum_i (sum), .wrong_o (wrong_sum)
            );
            gemm64_checked_row #(.DELAY(N + STAGES + 4)) u_checked_row (
                .clk_i (clk_i), .rst_ni (engines_rst_n), .valid_i (activation_read), .tile_i (row_starts_tile),
                .command_i (row_starts_command), .tag_i (row_tag), .wrong_i (wrong_sum), .error_o (wrong_row),
                .tag_o (wrong_tag), .tile_o (compared_tile), .row_o (compared_row)
            );

            // A word is read for the command at the head of compute's queue, and found wrong 2 cycles later; a sum of the lanes
            // 5 cycles after its last part, when the queue may have moved on.
            reg [16*5-1:0] heads_q;
            always @(posedge clk_i) heads_q <= {heads_q[16*4-1:0], row_tag};
            wire [15:0] reads = heads_q[16 +: 16];
            wire [15:0] computes = lanes_wrong_sum ? heads_q[16*4 +: 16] : reads;
            assign fault = {wrong[OPERANDS], wrong[PARAMETERS], wrong[RESULTS] | sums_wrong | sums_unwritten, wrong_row | wrong[COMPUTE],
                            unbalanced | wrong[ACTIVATIONS] | unwritten_word, wrong[WEIGHTS], commands_fault};
            assign fault_code = {{2{`GEMM64_ERROR_PARITY}}, sums_unwritten ? `GEMM64_ERROR_UNWRITTEN : `GEMM64_ERROR_PARITY,
                                 wrong[COMPUTE] ? `GEMM64_ERROR_PARITY : `GEMM64_ERROR_CHECKSUM,
                                 unwritten_word ? `GEMM64_ERROR_UNWRITTEN
                                 : wrong[ACTIVATIONS] ? `GEMM64_ERROR_PARITY : `GEMM64_ERROR_UNBALANCED,
                                 `GEMM64_ERROR_PARITY, commands_code};
            assign fault_tag = {{3{store_tag}}, wrong[COMPUTE] ? computes : wrong_tag,
                                wrong_tensor ? tensor_tag : wrong[ACTIVATIONS] | unwritten_word ? reads : unbalanced_tag, reads, commands_tag};
            // Of the engine that the error names
            wire [3:0] engine = error[`GEMM64_ERROR_ENGINE_LSB +: `GEMM64_ERROR_ENGINE_WIDTH];
            wire [3:0] code   = error[`GEMM64_ERROR_CODE_LSB +: `GEMM64_ERROR_CODE_WIDTH];
            // No reset reaches the registers that these are made of: before their errors they are 0.
            assign {fault_tile, fault_row} = code == `GEMM64_ERROR_CHECKSUM ? {compared_tile, compared_row} : 48'd0;
            assign fault_memory = code != `GEMM64_ERROR_PARITY & code != `GEMM64_ERROR_UNWRITTEN ? 32'd0
                                : engine == `GEMM64_ENGINE_RESULTS & (sums_wrong | sums_unwritten)
                                ? {{24-ROW_WIDTH{1'b0}}, sums_wrong_row, sums_wrong_bank ? `GEMM64_MEMORY_SUMS_1 : `GEMM64_MEMORY_SUMS_0}
                                : {wrong_word[24*engine +: 24], wrong_memory[8*engine +: 8]};
        end else begin : unchecked
            assign fault      = {4'd0, unbalanced, 1'b0, commands_fault};
            assign fault_code = {{4{`GEMM64_ERROR_NONE}}, `GEMM64_ERROR_UNBALANCED, `GEMM64_ERROR_NONE, commands_code};
            assign fault_tag  = {64'd0, unbalanced_tag, 16'd0, commands_tag};
            assign {fault_tile, fault_row, fault_memory} = 80'd0;
        end
    endgenerate

    gemm64_depthwise #(.N(N), .ROW_WIDTH(ROW_WIDTH), .SELF_CHECK(SELF_CHECK)) u_lanes (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .window_i (lanes_window), .zero_i (lanes_zero), .load_i (lanes_load),
        .active_i (lanes_active), .planes_i (lanes_planes), .images_i (lanes_images), .maximum_i (lanes_maximum), .accumulate_i (lanes_accumulate),
        .finished_o (lanes_finished), .word_there_i (activation_words != {WORDS_WIDTH{1'b0}} & ~activation_pixels),
        .take_o (lanes_take), .word_i (activation), .weight_there_i (weight_words != {LOG_WEIGHT_WORDS + 1{1'b0}}),
        .weight_read_o (lanes_weight), .weight_i (weight), .place_i (lanes_place), .row_last_i (row_last),
        .row_bank_i (row_bank), .row_i (row), .row_o (lanes_row), .plane_end_o (lanes_plane_end),
        .valid_o (lanes_valid), .last_o (lanes_last), .bank_o (lanes_bank), .place_o (lanes_where), .sum_o (lanes_sum),
        .move_o (lanes_move), .wait_weights_o (lanes_wait_weights), .wait_word_o (lanes_wait_word),
        .wrong_o (wrong[COMPUTE]), .wrong_sum_o (lanes_wrong_sum), .wrong_line_o (lanes_wrong_line), .wrong_word_o (wrong_word[24*COMPUTE +: 24])
    );

    wire                 block_done, storing, store_read, store_shown, store_bank, snapshot_take, snapshot_next;
    wire [ROW_WIDTH-1:0] store_row;
    wire [32*N-1:0]      store_data;
    wire [8*N-1:0]       snapshot_beat;

    gemm64_accumulator #(
        .N(N), .ROWS(ACCUMULATOR_ROWS), .ROW_WIDTH(ROW_WIDTH), .REQUEST_DELAY(STAGES + 1), .SELF_CHECK(SELF_CHECK)
    ) u_accumulator (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .valid_i (activation_read), .first_i (row_first), .last_i (row_last),
        .bank_i (row_bank), .row_i (row), .sum_i (sum), .lanes_valid_i (lanes_valid), .lanes_last_i (lanes_last),
        .lanes_bank_i (lanes_bank), .lanes_row_i (lanes_where), .lanes_sum_i (lanes_sum), .done_o (block_done),
        .storing_i (storing), .store_read_i (store_read), .store_bank_i (store_bank), .store_row_i (store_row),
        .store_data_o (store_data), .store_shown_i (store_shown), .wrong_o (sums_wrong), .unwritten_o (sums_unwritten), .wrong_bank_o (sums_wrong_bank), .wrong_row_o (sums_wrong_row)
    );

    wire results_awvalid, results_wvalid, results_tensor, tensor_wready, tensor_bvalid;

    // Three engines and two readers that follow each other
    gemm64_store_unit #(
        .N(N), .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .ROW_WIDTH(ROW_WIDTH), .LOG_READS(LOG_READS),
        .LOG_WRITES(LOG_WRITES), .LOG_PARAMETER_SETS(LOG_PARAMETER_SETS), .LOG_OPERANDS(LOG_OPERANDS),
        .SELF_CHECK(SELF_CHECK)
    ) u_output (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .stop_i (stop), .valid_i (valid[RESULTS +: 3]),
        .ready_o (ready[RESULTS +: 3]), .command_i (command), .tag_i (tag), .idle_o (idle[RESULTS +: 3]),
        .quiet_o (quiet[RESULTS +: 3]), .error_o (bus_error[RESULTS +: 3]), .error_tag_o (bus_tag[16*RESULTS +: 16*3]),
        .results_causes_o (causes[`GEMM64_CAUSES_RESULTS]), .parameters_causes_o (causes[`GEMM64_CAUSES_PARAMETERS]),
        .operands_causes_o (causes[`GEMM64_CAUSES_OPERANDS]),
        .tensor_i (tensor), .operands_tensor_o (operands_tensor), .operands_tag_o (operands_tag), .results_tensor_o (results_tensor),
        .ask_o ({operands_ask, ask[`GEMM64_READER_PARAMETERS]}),
        .granted_i ({operands_granted, granted[`GEMM64_READER_PARAMETERS]}),
        .ask_address_o (ask_address[ADDRESS_WIDTH*`GEMM64_READER_PARAMETERS +: ADDRESS_WIDTH*2]),
        .ask_beats_o (ask_beats[7*`GEMM64_READER_PARAMETERS +: 7*2]),
        .beat_i ({beat[`GEMM64_READER_OPERANDS] | tensor_beat[0], beat[`GEMM64_READER_PARAMETERS]}),
        .beat_data_i (m_data_rdata_i), .beat_error_i (m_data_rresp_i[1]), .beat_last_i (m_data_rlast_i),
        .operand_beat_data_i (tensor_beat[0] ? tensor_word : m_data_rdata_i),
        .operand_beat_error_i (m_data_rresp_i[1] & ~tensor_beat[0]),
        .operand_beat_last_i (tensor_beat[0] ? tensor_last : m_data_rlast_i),
        .store_done_o (store_done), .snapshot_take_o (snapshot_take), .snapshot_next_o (snapshot_next),
        .snapshot_i (snapshot_beat), .block_done_i (block_done), .bank_free_o (bank_free),
        .rows_stored_o (rows_stored), .storing_o (storing), .row_read_o (store_read), .row_bank_o (store_bank), .row_o (store_row),
        .wrong_o (wrong[RESULTS +: 3]), .wrong_memory_o (wrong_memory[8*RESULTS +: 8*3]),
        .wrong_word_o (wrong_word[24*RESULTS +: 24*3]), .wrong_tag_o (store_tag), .row_shown_o (store_shown),
        .row_data_i (store_data), .awvalid_o (results_awvalid), .awready_i (m_results_awready_i | results_tensor),
        .awid_o (m_results_awid_o), .awaddr_o (m_results_awaddr_o), .awlen_o (m_results_awlen_o),
        .awsize_o (m_results_awsize_o), .awburst_o (m_results_awburst_o), .wvalid_o (results_wvalid),
        .wready_i (results_tensor ? tensor_wready : m_results_wready_i), .wdata_o (m_results_wdata_o), .wstrb_o (m_results_wstrb_o),
        .wlast_o (m_results_wlast_o), .bvalid_i (m_results_bvalid_i | tensor_bvalid), .bready_o (m_results_bready_o),
        .berror_i (m_results_bresp_i[1] & ~tensor_bvalid)
    );
    assign m_results_awvalid_o = results_awvalid & ~results_tensor;
    assign m_results_wvalid_o  = results_wvalid & ~results_tensor;

    gemm64_tensor_port #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .WORDS_WIDTH(WORDS_WIDTH), .LOG_READS(LOG_READS), .LOG_WRITES(LOG_WRITES)
    ) u_tensor_port (
        .clk_i (clk_i), .rst_ni (engines_rst_n), .valid_i (tensor_ask), .ready_o (tensor_granted),
        .address_i ({ask_address[ADDRESS_WIDTH*`GEMM64_READER_ACTIVATIONS +: ADDRESS_WIDTH],
                     ask_address[ADDRESS_WIDTH*`GEMM64_READER_OPERANDS +: ADDRESS_WIDTH]}),
        .beats_i ({ask_beats[7*`GEMM64_READER_ACTIVATIONS +: 7], ask_beats[7*`GEMM64_READER_OPERANDS +: 7]}),
        .tag_i ({activations_tag, operands_tag}), .beat_o (tensor_beat), .last_o (tensor_last), .tag_o (tensor_tag),
        .awvalid_i (results_awvalid & results_tensor), .awaddr_i (m_results_awaddr_o),
        .wvalid_i (results_wvalid & results_tensor), .wready_o (tensor_wready), .wlast_i (m_results_wlast_o),
        .bvalid_o (tensor_bvalid), .read_o (tensor_read), .read_address_o (tensor_read_address), .write_o (tensor_write),
        .write_address_o (tensor_write_address)
    );

    // Errors, watchdog and soft reset
    assign {bus_decode[COMMANDS], bus_decode[ACTIVATIONS], bus_decode[PARAMETERS], bus_decode[OPERANDS]}
        = {4{m_data_rresp_i[0]}};
    assign {bus_decode[COMPUTE], bus_decode[RESULTS]} = {1'b0, m_results_bresp_i[0]};

    wire moved = m_weights_rvalid_i & m_weights_rready_o | m_weights_arvalid_o & m_weights_arready_i
               | m_data_rvalid_i | m_data_arvalid_o & m_data_arready_i | activation_read | lanes_move
               | m_results_awvalid_o & m_results_awready_i | m_results_wvalid_o & m_results_wready_i
               | m_results_bvalid_i | tensor_read | tensor_write | causes[`GEMM64_COUNTER_COMMANDS_DISPATCH];

    gemm64_control u_control (
        .clk_i (clk_i), .rst_ni (rst_ni), .reset_i (reset_request), .watchdog_i (watchdog), .busy_i (busy),
        .progress_i (moved), .quiet_i (all_quiet), .next_tag_i (tag),
        .bus_error_i (bus_error), .bus_decode_i (bus_decode), .bus_tag_i (bus_tag),
        .fault_i (fault), .fault_code_i (fault_code), .fault_tag_i (fault_tag),
        .stop_o (stop), .clear_o (clear), .halted_o (halted), .resetting_o (resetting), .fail_o (fail), .error_o (error)
    );

    assign causes[`GEMM64_COUNTER_TOTAL_CLOCKS]      = busy;
    assign causes[`GEMM64_COUNTER_COMMANDS_IDLE]     = commands_idle;
    assign causes[`GEMM64_COUNTER_BYTES_WEIGHTS]     = m_weights_rvalid_i & m_weights_rready_o;
    assign causes[`GEMM64_COUNTER_BYTES_ACTIVATIONS] = beat[`GEMM64_READER_ACTIVATIONS];
    assign causes[`GEMM64_COUNTER_BYTES_COMMANDS]    = beat[`GEMM64_READER_COMMANDS];
    assign causes[`GEMM64_COUNTER_BYTES_PARAMETERS]  = beat[`GEMM64_READER_PARAMETERS];
    assign causes[`GEMM64_COUNTER_BYTES_OPERANDS]    = beat[`GEMM64_READER_OPERANDS];
    assign causes[`GEMM64_COUNTER_BYTES_RESULTS]     = m_results_wvalid_o & m_results_wready_i;

    gemm64_counters #(
        .COUNTERS(`GEMM64_COUNTERS), .BYTES(`GEMM64_COUNTER_BYTES_WEIGHTS), .N(N), .SELECT_WIDTH(SELECT_WIDTH)
    ) u_counters (
        .clk_i (clk_i), .rst_ni (rst_ni), .clear_i (clear_counters), .event_i (events), .select_i (counter),
        .value_o (counter_value), .take_i (snapshot_take), .next_i (snapshot_next), .beat_o (snapshot_beat)
    );

endmodule

`default_nettype wire
