// SPDX-License-Identifier: Apache-2.0
// Decides when each tile enters the array: rows of activations from the scratchpad, and columns of weights.
// Latency: none: a tile starts in the cycle in which its weights, its activations and a place for its sums are there. A
//          MATMUL of a window has been at the head of the queue for a cycle by then, a SET_WINDOW is for one.
// Handshake: valid/ready for commands. A tile takes max(ROWS, N) cycles, and the next may follow without a gap. The first
//            tile of a block may begin while its bank is still stored: each row waits until the old one was read. Rows beyond
//            those of a bank are a second block, in the other bank, which takes the same tiles.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_sequencer #(
    parameter N            = 64,  // words of a tile of weights
    parameter LOG_N        = 6,   // log2 N
    parameter WEIGHT_WIDTH = 11,  // bits that hold the number of words in the weight buffer
    parameter WORDS_WIDTH  = 14,  // bits that hold the number of words in the scratchpad
    parameter ROW_WIDTH    = 7,   // bits of an accumulator row's index
    parameter PIPELINE     = 81,  // cycles from the read of a row to the write of its last sum
    parameter LANES_PIPELINE = 4, // the same of the lanes
    parameter SELF_CHECK   = 0    // 0: row_tag_o is 0
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,            // synchronous, active low
    input  wire                     stop_i,            // start no tile
    // MATMUL; SET_WINDOW, which needs only command_zero and command_window; or DEPTHWISE, which needs those too
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    // Weight buffer
    input  wire [WEIGHT_WIDTH-1:0]  weight_words_i,
    output wire                     weight_read_o,
    output wire                     weight_release_o,
    output wire                     weight_rewind_o,
    output wire [LOG_N-1:0]         weight_column_o,   // column of the word that is read
    // Scratchpad
    input  wire [WORDS_WIDTH-1:0]   activation_words_i,
    input  wire                     activation_pixels_i,  // those are words of pixels, not of the ring
    output wire                     activation_read_o,    // a row enters the array
    output wire                     activation_release_o,
    output wire                     activation_rewind_o,
    output wire                     activation_window_o,  // a pixel is read, not a word of the ring
    output wire [24:0]              activation_place_o,
    output wire                     activation_inside_o,  // else it is beyond the border, where all is
    output wire [7:0]               activation_zero_o,    // this
    output wire                     activation_claim_o,   // the words of that many pixels are now needed
    output wire [15:0]              activation_new_o,
    output wire                     activation_free_o,    // that many pixels are no longer
    output wire [15:0]              activation_freed_o,
    // Lanes: a DEPTHWISE is at the head, and the array empty
    output wire                     lanes_load_o,         // it starts in the next cycle
    output wire                     lanes_active_o,
    output wire [255:0]             lanes_window_o,       // words 8 to 15 of it
    output wire [7:0]               lanes_zero_o,
    output wire [31:0]              lanes_planes_o,
    output wire [31:0]              lanes_images_o,
    output wire                     lanes_maximum_o,
    output wire                     lanes_accumulate_o,
    output wire                     lanes_place_o,        // a row of sums has a place
    input  wire                     lanes_move_i,
    input  wire                     lanes_row_i,          // a row of sums is in flight to it
    input  wire                     lanes_plane_end_i,    // the last one of its plane
    input  wire                     lanes_finished_i,
    input  wire                     lanes_wait_weights_i,
    input  wire                     lanes_wait_word_i,
    // Accumulator: the destination of the row that is read, or in flight
    output wire                     row_first_o,       // it starts new sums
    output wire                     row_last_o,        // it is the last row of its block
    output wire                     row_bank_o,
    output wire [ROW_WIDTH-1:0]     row_o,
    // What the row that is read is the first of, and its MATMUL
    output wire                     row_starts_tile_o,
    output wire                     row_starts_command_o,
    output wire [15:0]              row_tag_o,
    input  wire                     bank_free_i,       // a block has been stored
    input  wire [ROW_WIDTH:0]       rows_stored_i,     // rows of the block after it that have been read
    // State
    output wire                     idle_o,            // nothing to compute, array empty, every block stored
    output wire [5:0]                causes_o        // what this cycle was spent on, exactly one: bits in the order of the counters
);

    localparam [15:0] QUEUED = `GEMM64_CMD_WORDS_COMPUTE & 16'h000f;  // fields of windows are stored next to the queue
    localparam FIRST         = 256;  // bit of a command at which what windows need begins
    localparam DRAIN_WIDTH   = 8;

    wire valid, next, set, finished;
    wire [`GEMM64_CMD_BITS-1:0] next_command;

    gemm64_command_queue #(.WORDS(QUEUED), .OTHER(`GEMM64_OP_SET_WINDOW), .HEAD(1)) u_commands (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (command_valid_i),
        .ready_o   (command_ready_o),
        .command_i (command_i),
        .tag_i     (SELF_CHECK != 0 ? command_tag_i : 16'd0),
        .valid_o   (next),
        .ready_i   (set | finished),
        .command_o (next_command),
        .tag_o     (row_tag_o),
        .other_o   (set)
    );

    wire         of_window  = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_WINDOW_BIT];
    wire         many_use   = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_RETAIN_WEIGHTS_BIT];
    wire         accumulate = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_ACCUMULATE_BIT];
    wire         retain     = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_RETAIN_BIT];
    wire [15:0]  rows       = next_command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH];
    wire [31:0]  count      = next_command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0]  passes     = next_command[`GEMM64_CMD_PASSES_LSB +: `GEMM64_CMD_PASSES_WIDTH];
    wire [31:0]  blocks     = next_command[`GEMM64_CMD_BLOCKS_LSB +: `GEMM64_CMD_BLOCKS_WIDTH];

    wire of_lanes = next_command[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH] == `GEMM64_OP_DEPTHWISE;
    assign valid  = next & ~set & ~of_lanes;  // a MATMUL

    // Fields of windows wait in registers next to the queue, which cost the simulation nothing while they are not loaded.
    reg [255:0] words_q, more_words_q;
    reg [7:0]   new_zero_q, more_zero_q;
    wire         command_set    = command_i[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH] == `GEMM64_OP_SET_WINDOW;
    wire [255:0] command_window = command_i[FIRST +: 256];
    wire [7:0]   command_zero   = command_i[`GEMM64_CMD_ZERO_LSB +: `GEMM64_CMD_ZERO_WIDTH];
    wire         command_lanes  = command_i[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH] == `GEMM64_OP_DEPTHWISE;
    wire push = command_valid_i & command_ready_o
              & (command_set | command_lanes | command_i[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_WINDOW_BIT]);
    wire pop  = next & (set | finished);
    always @(posedge clk_i) begin
        if (push & (~next | (pop & command_ready_o))) {words_q, new_zero_q} <= {command_window, command_zero};
        else if (pop) {words_q, new_zero_q} <= {more_words_q, more_zero_q};
        if (push) {more_words_q, more_zero_q} <= {command_window, command_zero};
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

    gemm64_im2col u_window (
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
    reg                   bank_q;    // bank of the next row
    reg [1:0]             in_use_q;  // blocks begun and not stored, in turn in each bank; of a third, the first tile
                                     // follows the store of the first through their bank
    reg [DRAIN_WIDTH-1:0] drain_q;   // cycles until the last row has left the array

    // The lanes begin when all rows of the array have left it, since blocks are to be done in their order.
    reg  lanes_q;  // a DEPTHWISE is running
    reg  lanes_load, lanes_wait;
    always @* begin
        {lanes_load, lanes_wait} = 2'd0;
        if (of_lanes) begin
            lanes_load = next & ~lanes_q & drain_q == {DRAIN_WIDTH{1'b0}};
            lanes_wait = lanes_q & ~lanes_move_i & ~lanes_wait_weights_i & ~lanes_wait_word_i;  // for a place, or stopped
        end
    end
    always @(posedge clk_i) lanes_q <= rst_ni & (lanes_load | (lanes_q & ~lanes_finished_i));

    wire first_tile = of_lanes | (of_window ? window_first_tile : ~accumulate | tile_q == 32'd0);
    wire last_tile  = of_window ? window_last_tile : tile_q == count - 32'd1;
    wire last_pass  = pass_q == passes - 32'd1;
    wire last_block = block_q == blocks - 32'd1;
    wire last_row   = row_q == rows - 16'd1;
    wire opens_bank = row_q[ROW_WIDTH-1:0] == {ROW_WIDTH{1'b0}};
    wire fills_bank = row_q[ROW_WIDTH-1:0] == {ROW_WIDTH{1'b1}} & ~last_row;  // rows for the other one follow
    // The tiles of a block stay for the next one: of a window, that of the next MATMUL.
    wire retain_weights = many_use & (of_window | ~last_block);

    wire between     = row_q == 16'd0;
    wire weights     = column_q == {LOG_N{1'b0}} & weight_words_i >= N[WEIGHT_WIDTH-1:0];
    // The first tile that reads a plane waits until it is whole, the tiles after it find it so.
    wire claims       = window & first_tap & first_pass;
    wire [15:0] fresh = words_q[`GEMM64_CMD_NEW_PIXELS_LSB - FIRST +: 16];
    wire [15:0] least = ~of_window ? rows : claims ? fresh : 16'd0;  // words that must be there
    wire of_its_kind  = activation_pixels_i == of_window | least == 16'd0;  // words of the other kind are for other MATMULs
    wire activations  = ~load & of_its_kind & {{32-WORDS_WIDTH{1'b0}}, activation_words_i} >= {16'd0, least};
    wire [1:0] most  = opens_bank & first_tile ? 2'd2 : 2'd3;  // blocks begun, where the row's bank still holds another
    wire follows     = first_tile & rows_stored_i > {1'b0, row_q[ROW_WIDTH-1:0]};
    wire has_place   = in_use_q < most | (in_use_q == most & follows);
    wire start       = valid & between & weights & activations & has_place & ~stop_i;
    assign read        = start | (valid & ~between & has_place);
    assign end_of_tile = read & last_row;
    wire end_of_pass = end_of_tile & last_tile;
    wire end_of_work = end_of_pass & last_pass;

    wire row_last = ((last_row | fills_bank) & (of_lanes | ~accumulate | last_tile)) | lanes_plane_end_i;

    assign finished = (end_of_work & last_block) | lanes_finished_i;

    assign lanes_load_o    = lanes_load;
    assign lanes_active_o  = lanes_q & ~stop_i;
    assign lanes_window_o  = words_q;
    assign lanes_zero_o    = new_zero_q;
    assign lanes_planes_o  = count;
    assign lanes_images_o  = passes;
    assign lanes_maximum_o = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_MAXIMUM_BIT];
    assign lanes_accumulate_o = accumulate;
    assign lanes_place_o   = has_place;

    // Of the tile whose columns are read: it stays; it is the last one of its block that does.
    reg  retain_weights_q, rewind_weights_q;
    always @(posedge clk_i)
        if (start) begin
            retain_weights_q <= retain_weights;
            rewind_weights_q <= retain_weights & last_tile & last_pass;
        end

    assign weight_read_o        = start | column_q != {LOG_N{1'b0}};
    assign weight_column_o      = column_q;
    // A tile's columns may be read after the last row of its MATMUL, so their fate is kept.
    assign weight_release_o     = start ? ~retain_weights : ~retain_weights_q;
    assign weight_rewind_o      = rewind_weights_q & column_q == {LOG_N{1'b1}};
    assign activation_read_o    = read;
    assign activation_release_o = of_lanes | ~retain | last_pass;
    assign activation_rewind_o  = end_of_pass & ~activation_release_o;
    assign activation_window_o  = window;
    assign activation_zero_o    = zero_q;
    assign activation_claim_o   = start & claims;
    assign activation_new_o     = fresh;
    assign activation_free_o    = window & finished;
    assign activation_freed_o   = words_q[`GEMM64_CMD_FREED_PIXELS_LSB - FIRST +: 16];

    assign row_first_o = first_tile;
    assign row_last_o  = row_last;
    assign row_bank_o  = bank_q;
    assign row_o       = row_q[ROW_WIDTH-1:0];

    reg  begun_q;  // a tile of the MATMUL at the head has started
    always @(posedge clk_i) begun_q <= (start | begun_q) & ~finished & rst_ni;
    assign row_starts_tile_o    = start;
    assign row_starts_command_o = start & ~begun_q;

    wire [1:0] begun  = {1'b0, opens_bank & ((read & first_tile) | lanes_row_i)};
    wire       other_bank = row_last | fills_bank | (last_row & row_q[15:ROW_WIDTH] != {16-ROW_WIDTH{1'b0}});
    wire [1:0] stored = {1'b0, bank_free_i};

    always @(posedge clk_i) begin
        if (rst_ni) begin
            if (read | lanes_row_i) row_q <= last_row | lanes_plane_end_i ? 16'd0 : row_q + 16'd1;
            if (weight_read_o) column_q <= column_q + 1'b1;
            if (end_of_tile) tile_q <= last_tile ? 32'd0 : tile_q + 32'd1;
            if (end_of_pass) pass_q <= last_pass ? 32'd0 : pass_q + 32'd1;
            if (end_of_work) block_q <= last_block ? 32'd0 : block_q + 32'd1;
            if ((read | lanes_row_i) & other_bank) bank_q <= ~bank_q;
            in_use_q <= in_use_q + begun - stored;
            if (read) drain_q <= PIPELINE[DRAIN_WIDTH-1:0];
            else if (lanes_row_i) drain_q <= LANES_PIPELINE[DRAIN_WIDTH-1:0];
            else if (drain_q != {DRAIN_WIDTH{1'b0}}) drain_q <= drain_q - 1'b1;
        end else begin
            row_q    <= 16'd0;
            column_q <= {LOG_N{1'b0}};
            tile_q   <= 32'd0;
            pass_q   <= 32'd0;
            block_q  <= 32'd0;
            bank_q   <= 1'b0;
            in_use_q <= 2'd0;
            drain_q  <= {DRAIN_WIDTH{1'b0}};
        end
    end

    wire waiting = valid & ~read;
    assign idle_o             = ~next & drain_q == {DRAIN_WIDTH{1'b0}} & in_use_q == 2'd0;
    wire wait_weights, wait_activations, wait_results, drain, idle_clock;
    assign wait_weights     = (waiting & between & ~weights) | lanes_wait_weights_i;
    assign wait_activations = (waiting & between & weights & ~activations) | lanes_wait_word_i;
    assign wait_results     = (waiting & (~between | (weights & activations))) | lanes_wait;
    assign drain            = ~valid & ~lanes_q & drain_q != {DRAIN_WIDTH{1'b0}};
    assign idle_clock           = ~valid & ~lanes_q & drain_q == {DRAIN_WIDTH{1'b0}};
    assign causes_o = {idle_clock, drain, wait_results, wait_activations, wait_weights, read | lanes_move_i};

endmodule

`default_nettype wire
