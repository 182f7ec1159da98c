// SPDX-License-Identifier: Apache-2.0
// Decides when each tile enters the array: rows of activations from the scratchpad, columns of weights beside them.
// Latency: none: a tile starts in the clock in which its weights, its activations and a place for its sums are there. A
//          MATMUL of a window has been at the head of the queue for a clock by then, a SET_WINDOW is for one.
// Handshake: valid/ready for commands. A tile takes max(ROWS, N) clocks, and the next may follow without a gap. The first
//            tile of a block may begin while its bank is still stored: each row waits until the old one was read.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_compute #(
    parameter N            = 64,  // words of a tile of weights
    parameter LOG_N        = 6,   // log2 N
    parameter WEIGHT_WIDTH = 11,  // bits that hold the number of words in the weight buffer
    parameter WORDS_WIDTH  = 14,  // bits that hold the number of words in the scratchpad
    parameter ROW_WIDTH    = 7,   // bits of an accumulator row's index
    parameter PIPELINE     = 81   // clocks from the read of a row to the write of its last sum
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,            // synchronous, active low
    input  wire                     stop_i,            // start no tile
    // MATMUL, or SET_WINDOW, which needs command_zero_i and command_window_i alone
    input  wire                     command_valid_i,
    output wire                     command_ready_o,
    input  wire                     command_set_i,
    input  wire [7:0]               command_flags_i,
    input  wire [15:0]              command_rows_i,
    input  wire [31:0]              command_count_i,
    input  wire [31:0]              command_passes_i,
    input  wire [31:0]              command_blocks_i,
    input  wire [7:0]               command_zero_i,
    input  wire [255:0]             command_window_i,  // words 8 to 15 of the command
    // Weight buffer
    input  wire [WEIGHT_WIDTH-1:0]  weight_words_i,
    output wire                     weight_read_o,
    output wire [LOG_N-1:0]         weight_column_o,   // column of the word that is read
    // Scratchpad
    input  wire [WORDS_WIDTH-1:0]   activation_words_i,
    input  wire                     activation_pixels_i,  // those are words of pixels, not of the ring
    output wire                     activation_read_o,
    output wire                     activation_release_o,
    output wire                     activation_rewind_o,
    output wire                     activation_window_o,  // a pixel is read, not a word of the ring
    output wire [24:0]              activation_place_o,
    output wire                     activation_inside_o,  // else it lies beyond the border, where all is
    output wire [7:0]               activation_zero_o,    // this
    output wire                     activation_claim_o,   // the words of so many pixels are now needed
    output wire [15:0]              activation_new_o,
    output wire                     activation_free_o,    // so many pixels are no longer
    output wire [15:0]              activation_freed_o,
    // Accumulator: where the row that is read belongs
    output wire                     row_first_o,       // it starts new sums
    output wire                     row_last_o,        // it is the last row of its block
    output wire                     row_bank_o,
    output wire [ROW_WIDTH-1:0]     row_o,
    input  wire                     bank_free_i,       // a block has been stored
    input  wire [ROW_WIDTH:0]       rows_stored_i,     // rows of the block after it that have been read
    // State
    output wire                     idle_o,            // nothing to compute, array empty, every block stored
    output wire                     wait_weights_o,    // what this clock was spent on: exactly one of these
    output wire                     wait_activations_o,  // and activation_read_o
    output wire                     wait_results_o,
    output wire                     drain_o,
    output wire                     idle_clock_o
);

    localparam COMMAND_WIDTH = 4 + 16 + 3*32;
    localparam FIRST         = 256;  // bit of a command at which what windows need begins
    localparam DRAIN_WIDTH   = 8;

    wire         valid, next, set, of_window, accumulate, retain, finished;
    wire [15:0]  rows;
    wire [31:0]  count, passes, blocks;

    gemm64_fifo #(.WIDTH(COMMAND_WIDTH), .LOG_DEPTH(1), .HEAD(1)) u_commands (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (command_valid_i),
        .ready_o (command_ready_o),
        .data_i  ({command_set_i, command_flags_i[`GEMM64_FLAG_WINDOW_BIT],
                   command_flags_i[`GEMM64_FLAG_ACCUMULATE_BIT], command_flags_i[`GEMM64_FLAG_RETAIN_BIT],
                   command_rows_i, command_count_i, command_passes_i, command_blocks_i}),
        .valid_o (next),
        .ready_i (set | finished),
        .data_o  ({set, of_window, accumulate, retain, rows, count, passes, blocks})
    );

    assign valid = next & ~set;  // a MATMUL

    // What windows need waits in registers beside the queue, which cost the simulation nothing while they are not loaded.
    reg [255:0] words_q, more_words_q;
    reg [7:0]   new_zero_q, more_zero_q;
    wire push = command_valid_i & command_ready_o & (command_set_i | command_flags_i[`GEMM64_FLAG_WINDOW_BIT]);
    wire pop  = next & (set | finished);
    always @(posedge clk_i) begin
        if (push & (~next | (pop & command_ready_o))) {words_q, new_zero_q} <= {command_window_i, command_zero_i};
        else if (pop) {words_q, new_zero_q} <= {more_words_q, more_zero_q};
        if (push) {more_words_q, more_zero_q} <= {command_window_i, command_zero_i};
    end
    wire window  = valid & of_window;

    // A convolution, until the next one is described
    reg [255:0] layer_q;
    reg [7:0]   zero_q;
    always @(posedge clk_i)
        if (next & set) begin
            layer_q <= words_q;
            zero_q  <= new_zero_q;
        end

    // The walk goes to the first row of a block when the block's command comes to the head.
    reg  loaded_q;
    wire load = window & ~loaded_q;
    wire first_tap, first_pass, window_first_tile, window_last_tile, read, end_of_tile;

    always @(posedge clk_i) loaded_q <= window & ~finished & rst_ni;

    gemm64_window u_window (
        .clk_i              (clk_i),
        .rst_ni             (rst_ni),
        .kernel_height_i    (layer_q[`GEMM64_CMD_KERNEL_HEIGHT_LSB - FIRST +: 8]),
        .kernel_width_i     (layer_q[`GEMM64_CMD_KERNEL_WIDTH_LSB - FIRST +: 8]),
        .stride_height_i    (layer_q[`GEMM64_CMD_STRIDE_HEIGHT_LSB - FIRST +: 8]),
        .stride_width_i     (layer_q[`GEMM64_CMD_STRIDE_WIDTH_LSB - FIRST +: 8]),
        .dilation_height_i  (layer_q[`GEMM64_CMD_DILATION_HEIGHT_LSB - FIRST +: 8]),
        .dilation_width_i   (layer_q[`GEMM64_CMD_DILATION_WIDTH_LSB - FIRST +: 8]),
        .pad_top_i          (layer_q[`GEMM64_CMD_PAD_TOP_LSB - FIRST +: 8]),
        .pad_left_i         (layer_q[`GEMM64_CMD_PAD_LEFT_LSB - FIRST +: 8]),
        .height_i           (layer_q[`GEMM64_CMD_HEIGHT_LSB - FIRST +: 16]),
        .width_i            (layer_q[`GEMM64_CMD_WIDTH_LSB - FIRST +: 16]),
        .out_height_i       (layer_q[`GEMM64_CMD_OUT_HEIGHT_LSB - FIRST +: 16]),
        .out_width_i        (layer_q[`GEMM64_CMD_OUT_WIDTH_LSB - FIRST +: 16]),
        .capacity_i         (layer_q[`GEMM64_CMD_CAPACITY_LSB - FIRST +: 16]),
        .row_step_i         (layer_q[`GEMM64_CMD_ROW_STEP_LSB - FIRST +: 16]),
        .image_step_i       (layer_q[`GEMM64_CMD_IMAGE_STEP_LSB - FIRST +: 16]),
        .tap_row_step_i     (layer_q[`GEMM64_CMD_TAP_ROW_STEP_LSB - FIRST +: 16]),
        .planes_i           (count[15:0]),
        .group_passes_i     (layer_q[`GEMM64_CMD_GROUP_PASSES_LSB - FIRST +: 16]),
        .active_i           (window),
        .load_i             (load),
        .block_slot_i       (words_q[`GEMM64_CMD_SLOT_LSB - FIRST +: 16]),
        .block_out_row_i    (words_q[`GEMM64_CMD_OUT_ROW_LSB - FIRST +: 16]),
        .block_out_column_i (words_q[`GEMM64_CMD_OUT_COLUMN_LSB - FIRST +: 16]),
        .block_row_i        (words_q[`GEMM64_CMD_IN_ROW_LSB - FIRST +: 18]),
        .block_column_i     (words_q[`GEMM64_CMD_IN_COLUMN_LSB - FIRST +: 18]),
        .row_i              (read & window),
        .tile_end_i         (end_of_tile),
        .place_o            (activation_place_o),
        .inside_o           (activation_inside_o),
        .first_tap_o        (first_tap),
        .first_pass_o       (first_pass),
        .first_tile_o       (window_first_tile),
        .last_tile_o        (window_last_tile)
    );

    reg [15:0]            row_q;     // rows of this tile that were read; 0 between tiles
    reg [LOG_N-1:0]       column_q;  // columns of this tile that were read; 0 between tiles
    reg [31:0]            tile_q, pass_q, block_q;
    reg                   bank_q;    // bank of the block under way
    reg [1:0]             in_use_q;  // blocks begun and not stored, in turn in each bank; of a third, the first tile
                                     // follows the store of the first through their bank
    reg [DRAIN_WIDTH-1:0] drain_q;   // clocks until the last row has left the array

    wire first_tile = of_window ? window_first_tile : ~accumulate | tile_q == 32'd0;
    wire last_tile  = of_window ? window_last_tile : tile_q == count - 32'd1;
    wire last_pass  = pass_q == passes - 32'd1;
    wire last_block = block_q == blocks - 32'd1;
    wire last_row   = row_q == rows - 16'd1;

    wire between     = row_q == 16'd0;
    wire weights     = column_q == {LOG_N{1'b0}} & weight_words_i >= N[WEIGHT_WIDTH-1:0];
    // The first tile that reads a plane waits until it is whole, the tiles after it find it so.
    wire claims       = window & first_tap & first_pass;
    wire [15:0] fresh = words_q[`GEMM64_CMD_NEW_PIXELS_LSB - FIRST +: 16];
    wire [15:0] least = ~of_window ? rows : claims ? fresh : 16'd0;  // words that must be there
    wire of_its_kind  = activation_pixels_i == of_window | least == 16'd0;  // words of the other kind are for other MATMULs
    wire activations  = ~load & of_its_kind & {{32-WORDS_WIDTH{1'b0}}, activation_words_i} >= {16'd0, least};
    wire [1:0] most  = between & first_tile ? 2'd2 : 2'd3;  // blocks begun, where the row's bank still holds another
    wire follows     = first_tile & {{31-ROW_WIDTH{1'b0}}, rows_stored_i} > {16'd0, row_q};
    wire has_place   = in_use_q < most | (in_use_q == most & follows);
    wire start       = valid & between & weights & activations & has_place & ~stop_i;
    assign read        = start | (~between & has_place);
    assign end_of_tile = read & last_row;
    wire end_of_pass = end_of_tile & last_tile;
    wire end_of_work = end_of_pass & last_pass;

    assign finished = end_of_work & last_block;

    assign weight_read_o        = start | column_q != {LOG_N{1'b0}};
    assign weight_column_o      = column_q;
    assign activation_read_o    = read;
    assign activation_release_o = ~retain | last_pass;
    assign activation_rewind_o  = end_of_pass & ~activation_release_o;
    assign activation_window_o  = window;
    assign activation_zero_o    = zero_q;
    assign activation_claim_o   = start & claims;
    assign activation_new_o     = fresh;
    assign activation_free_o    = window & finished;
    assign activation_freed_o   = words_q[`GEMM64_CMD_FREED_PIXELS_LSB - FIRST +: 16];

    assign row_first_o = first_tile;
    assign row_last_o  = last_row & (~accumulate | last_tile);
    assign row_bank_o  = bank_q;
    assign row_o       = row_q[ROW_WIDTH-1:0];

    wire [1:0] begun  = {1'b0, start & first_tile};
    wire [1:0] stored = {1'b0, bank_free_i};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            row_q    <= 16'd0;
            column_q <= {LOG_N{1'b0}};
            tile_q   <= 32'd0;
            pass_q   <= 32'd0;
            block_q  <= 32'd0;
            bank_q   <= 1'b0;
            in_use_q <= 2'd0;
            drain_q  <= {DRAIN_WIDTH{1'b0}};
        end else begin
            if (read) row_q <= last_row ? 16'd0 : row_q + 16'd1;
            if (weight_read_o) column_q <= column_q + 1'b1;
            if (end_of_tile) tile_q <= last_tile ? 32'd0 : tile_q + 32'd1;
            if (end_of_pass) pass_q <= last_pass ? 32'd0 : pass_q + 32'd1;
            if (end_of_work) block_q <= last_block ? 32'd0 : block_q + 32'd1;
            if (read & row_last_o) bank_q <= ~bank_q;
            in_use_q <= in_use_q + begun - stored;
            if (read) drain_q <= PIPELINE[DRAIN_WIDTH-1:0];
            else if (drain_q != {DRAIN_WIDTH{1'b0}}) drain_q <= drain_q - 1'b1;
        end
    end

    wire waiting = valid & ~read;
    assign idle_o             = ~next & drain_q == {DRAIN_WIDTH{1'b0}} & in_use_q == 2'd0;
    assign wait_weights_o     = waiting & between & ~weights;
    assign wait_activations_o = waiting & between & weights & ~activations;
    assign wait_results_o     = waiting & (~between | (weights & activations));
    assign drain_o            = ~valid & drain_q != {DRAIN_WIDTH{1'b0}};
    assign idle_clock_o           = ~valid & drain_q == {DRAIN_WIDTH{1'b0}};

endmodule

`default_nettype wire
