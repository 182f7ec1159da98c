// SPDX-License-Identifier: Apache-2.0
// Finds commands of windows that the scratchpad cannot hold, that name nothing to do, or that do not fit the commands before
// them (BAD_OPERAND).
// Latency: 2 cycles from valid_i to error_o, which no word that the command asks for overtakes.
// Handshake: none; a command may be given in every cycle.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_im2col_check #(
    parameter ACCUMULATOR_ROWS = 128,   // rows of a bank
    parameter SCRATCHPAD_WORDS = 9216,
    parameter TENSOR_WORDS     = 0      // of them, those that tensor_i takes away
) (
    input  wire         clk_i,
    input  wire         rst_ni,        // synchronous, active low
    input  wire         tensor_i,      // the scratchpad's last words are the tensor memory; changes at rest only
    // Command with WINDOW, or SET_WINDOW
    input  wire         valid_i,
    input  wire         is_set_i,
    input  wire         is_load_i,     // else a MATMUL
    input  wire         accumulate_i,
    input  wire         start_i,
    input  wire [15:0]  rows_i,
    input  wire [31:0]  count_i,
    input  wire [31:0]  passes_i,
    input  wire [31:0]  blocks_i,
    input  wire [255:0] window_i,      // words 8 to 15 of the command
    input  wire [15:0]  tag_i,         // number of the command
    // It is bad
    output wire         error_o,
    output wire [15:0]  error_tag_o
);

    localparam FIRST = 256;  // bit of the command at which window_i begins

    wire [15:0] capacity     = window_i[`GEMM64_CMD_CAPACITY_LSB - FIRST +: `GEMM64_CMD_CAPACITY_WIDTH];
    wire [15:0] slot         = window_i[`GEMM64_CMD_SLOT_LSB - FIRST +: `GEMM64_CMD_SLOT_WIDTH];
    wire [31:0] place        = window_i[`GEMM64_CMD_PLACE_LSB - FIRST +: `GEMM64_CMD_PLACE_WIDTH];
    wire [7:0]  kernel_height = window_i[`GEMM64_CMD_KERNEL_HEIGHT_LSB - FIRST +: `GEMM64_CMD_KERNEL_HEIGHT_WIDTH];
    wire [7:0]  kernel_width = window_i[`GEMM64_CMD_KERNEL_WIDTH_LSB - FIRST +: `GEMM64_CMD_KERNEL_WIDTH_WIDTH];
    wire [7:0]  stride_width = window_i[`GEMM64_CMD_STRIDE_WIDTH_LSB - FIRST +: `GEMM64_CMD_STRIDE_WIDTH_WIDTH];
    wire [7:0]  dilation_width = window_i[`GEMM64_CMD_DILATION_WIDTH_LSB - FIRST +: `GEMM64_CMD_DILATION_WIDTH_WIDTH];
    wire [15:0] row_step     = window_i[`GEMM64_CMD_ROW_STEP_LSB - FIRST +: `GEMM64_CMD_ROW_STEP_WIDTH];
    wire [15:0] image_step   = window_i[`GEMM64_CMD_IMAGE_STEP_LSB - FIRST +: `GEMM64_CMD_IMAGE_STEP_WIDTH];
    wire [15:0] tap_row_step = window_i[`GEMM64_CMD_TAP_ROW_STEP_LSB - FIRST +: `GEMM64_CMD_TAP_ROW_STEP_WIDTH];
    wire [31:0] in_row       = window_i[`GEMM64_CMD_IN_ROW_LSB - FIRST +: `GEMM64_CMD_IN_ROW_WIDTH];
    wire [31:0] in_column    = window_i[`GEMM64_CMD_IN_COLUMN_LSB - FIRST +: `GEMM64_CMD_IN_COLUMN_WIDTH];
    wire [15:0] out_height   = window_i[`GEMM64_CMD_OUT_HEIGHT_LSB - FIRST +: `GEMM64_CMD_OUT_HEIGHT_WIDTH];
    wire [15:0] out_width    = window_i[`GEMM64_CMD_OUT_WIDTH_LSB - FIRST +: `GEMM64_CMD_OUT_WIDTH_WIDTH];
    wire [15:0] out_row      = window_i[`GEMM64_CMD_OUT_ROW_LSB - FIRST +: `GEMM64_CMD_OUT_ROW_WIDTH];
    wire [15:0] out_column   = window_i[`GEMM64_CMD_OUT_COLUMN_LSB - FIRST +: `GEMM64_CMD_OUT_COLUMN_WIDTH];
    wire [15:0] new_pixels   = window_i[`GEMM64_CMD_NEW_PIXELS_LSB - FIRST +: `GEMM64_CMD_NEW_PIXELS_WIDTH];
    wire [15:0] freed        = window_i[`GEMM64_CMD_FREED_PIXELS_LSB - FIRST +: `GEMM64_CMD_FREED_PIXELS_WIDTH];
    wire [15:0] group_passes = window_i[`GEMM64_CMD_GROUP_PASSES_LSB - FIRST +: `GEMM64_CMD_GROUP_PASSES_WIDTH];

    wire [15:0] rows   = rows_i;
    wire [31:0] count  = count_i, passes = passes_i, blocks = blocks_i;
    wire        flag_accumulate  = accumulate_i;
    wire [31:0] accumulator_rows = ACCUMULATOR_ROWS;
    wire [31:0] scratchpad_words = tensor_i ? SCRATCHPAD_WORDS - TENSOR_WORDS : SCRATCHPAD_WORDS;

    wire bad_set    = `GEMM64_BROKEN_SET_WINDOW;
    wire bad_load   = `GEMM64_BROKEN_LOAD_ACTIVATIONS;
    wire bad_matmul = `GEMM64_BROKEN_MATMUL;

    reg         given_q, known_q, bad_q, set_q, load_q, start_q, bad_known_q;
    reg  [15:0] down_q, right_q;  // size of a SET_WINDOW's output, or where in it a MATMUL begins
    reg  [15:0] capacity_q, slot_q, rows_q, new_q, freed_q, tag_q, tag_known_q;  // capacity_q of a MATMUL: its layer's
    reg  [31:0] count_q, place_q;
    reg  [48:0] words_q;  // of the scratchpad, up to the end of the last plane

    // What the commands before have said, in their order
    reg         described_q;  // there was a SET_WINDOW
    reg         begun_q;      // there was a chunk
    reg         stale_q;      // the last convolution's chunks have begun, its SET_WINDOW has not come
    reg         ahead_q;      // the next one's MATMULs have come, its chunks have not
    reg  [15:0] height_q, width_q;  // of the output that the last SET_WINDOW describes
    reg  [15:0] layer_q;      // CAPACITY of the last SET_WINDOW ...
    reg  [15:0] planes_q;     // ... and of the last chunk
    reg  [15:0] end_q;        // slot after the last chunk
    reg  [31:0] kept_q;       // pixels of all chunks that no MATMUL frees

    wire        is_chunk  = load_q & place_q == 32'd0;
    wire        anew      = is_chunk & (start_q | ~begun_q);
    wire        is_matmul = ~set_q & ~load_q;
    wire        other     = ~described_q | capacity_q != layer_q;  // than the last SET_WINDOW's
    wire        parted    = begun_q & layer_q != planes_q & ~stale_q;  // a SET_WINDOW for chunks to come
    wire        pending   = kept_q != 32'd0 | ahead_q;
    wire [16:0] past      = {1'b0, slot_q} + {1'b0, rows_q};
    wire [16:0] past_less = past - {1'b0, capacity_q};

    reg         bad_order;
    always @* begin
        if (set_q) bad_order = begun_q & capacity_q != planes_q & kept_q != 32'd0;
        else if (is_matmul) bad_order = ~described_q | stale_q | slot_q >= capacity_q | down_q >= height_q
                                  | right_q >= width_q;
        else if (anew) bad_order = other & pending;
        else bad_order = ~begun_q | capacity_q != planes_q | parted | (is_chunk & slot_q != end_q);
    end

    always @(posedge clk_i)
        if (!rst_ni) begin
            described_q <= 1'b0;
            begun_q     <= 1'b0;
            stale_q     <= 1'b0;
            ahead_q     <= 1'b0;
            kept_q      <= 32'd0;
        end else if (given_q) begin
            if (set_q) begin
                described_q <= 1'b1;
                stale_q     <= 1'b0;
                layer_q     <= capacity_q;
                height_q    <= down_q;
                width_q     <= right_q;
            end
            if (anew) begin
                begun_q  <= 1'b1;
                stale_q  <= other;
                ahead_q  <= 1'b0;
                planes_q <= capacity_q;
            end
            if (is_chunk) begin
                end_q  <= past_less[16] ? past[15:0] : past_less[15:0];
                kept_q <= kept_q + {16'd0, rows_q};
            end
            if (is_matmul) begin
                kept_q <= kept_q - {16'd0, freed_q};
                // Pixels that are freed ahead leave kept_q below 0, which is pending as well.
                if ((~begun_q | parted) & new_q != 16'd0) ahead_q <= 1'b1;
            end
        end

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (valid_i) begin
            bad_q      <= is_set_i ? bad_set : is_load_i ? bad_load : bad_matmul;
            set_q      <= is_set_i;
            load_q     <= is_load_i;
            start_q    <= start_i;
            capacity_q <= is_set_i | is_load_i ? capacity : set_q ? capacity_q : layer_q;
            down_q     <= is_set_i ? out_height : out_row;
            right_q    <= is_set_i ? out_width : out_column;
            slot_q     <= slot;
            rows_q     <= rows_i;
            count_q    <= count_i;
            place_q    <= is_load_i ? place : 32'd0;
            new_q      <= new_pixels;
            freed_q    <= freed;
            tag_q      <= tag_i;
        end
        if (given_q) begin
            words_q     <= set_q ? 49'd0 : {33'd0, capacity_q} * {17'd0, count_q} + {17'd0, place_q};
            bad_known_q <= bad_q | bad_order;
            tag_known_q <= tag_q;
        end
    end

    assign error_o     = known_q & (bad_known_q | words_q > {17'd0, scratchpad_words});
    assign error_tag_o = tag_known_q;

endmodule

`default_nettype wire
