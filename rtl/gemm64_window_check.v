// SPDX-License-Identifier: Apache-2.0
// Finds commands of windows that the scratchpad cannot hold, or that name nothing to do (BAD_OPERAND).
// Latency: 2 clocks from valid_i to error_o, which no word that the command asks for overtakes.
// Handshake: none; a command may be given in every clock.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_window_check #(
    parameter SCRATCHPAD_WORDS = 9216
) (
    input  wire         clk_i,
    input  wire         rst_ni,        // synchronous, active low
    // Command with WINDOW, or SET_WINDOW
    input  wire         valid_i,
    input  wire         is_set_i,
    input  wire         is_load_i,     // else a MATMUL
    input  wire         accumulate_i,
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
    wire [7:0]  kernel_rows  = window_i[`GEMM64_CMD_KERNEL_HEIGHT_LSB - FIRST +: `GEMM64_CMD_KERNEL_HEIGHT_WIDTH];
    wire [7:0]  kernel_width = window_i[`GEMM64_CMD_KERNEL_WIDTH_LSB - FIRST +: `GEMM64_CMD_KERNEL_WIDTH_WIDTH];
    wire [7:0]  stride       = window_i[`GEMM64_CMD_STRIDE_WIDTH_LSB - FIRST +: `GEMM64_CMD_STRIDE_WIDTH_WIDTH];
    wire [7:0]  dilation     = window_i[`GEMM64_CMD_DILATION_WIDTH_LSB - FIRST +: `GEMM64_CMD_DILATION_WIDTH_WIDTH];
    wire [15:0] row_step     = window_i[`GEMM64_CMD_ROW_STEP_LSB - FIRST +: `GEMM64_CMD_ROW_STEP_WIDTH];
    wire [15:0] image_step   = window_i[`GEMM64_CMD_IMAGE_STEP_LSB - FIRST +: `GEMM64_CMD_IMAGE_STEP_WIDTH];
    wire [15:0] tap_row_step = window_i[`GEMM64_CMD_TAP_ROW_STEP_LSB - FIRST +: `GEMM64_CMD_TAP_ROW_STEP_WIDTH];
    wire [15:0] group_passes = window_i[`GEMM64_CMD_GROUP_PASSES_LSB - FIRST +: `GEMM64_CMD_GROUP_PASSES_WIDTH];

    wire bad_set    = capacity == 16'd0 | {16'd0, capacity} > SCRATCHPAD_WORDS[31:0] | group_passes == 16'd0
                    | kernel_rows == 8'd0 | kernel_width == 8'd0 | {8'd0, stride} > capacity
                    | {8'd0, dilation} > capacity | row_step >= capacity | image_step >= capacity
                    | tap_row_step >= capacity;
    wire bad_load   = rows_i > capacity | slot >= capacity | passes_i != 32'd1 | blocks_i != 32'd1;
    wire bad_matmul = blocks_i != 32'd1 | ~accumulate_i | count_i[31:16] != 16'd0;

    reg         given_q, known_q, bad_q, load_q, bad_known_q;
    reg  [15:0] capacity_q, tag_q, tag_known_q;
    reg  [31:0] count_q, place_q;
    reg  [48:0] words_q;  // of the scratchpad, up to the end of the last plane

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (valid_i) begin
            bad_q      <= is_set_i ? bad_set : is_load_i ? bad_load : bad_matmul;
            load_q     <= is_load_i;
            capacity_q <= capacity;
            count_q    <= count_i;
            place_q    <= place;
            tag_q      <= tag_i;
        end
        if (given_q) begin
            words_q     <= load_q ? {33'd0, capacity_q} * {17'd0, count_q} + {17'd0, place_q} : 49'd0;
            bad_known_q <= bad_q;
            tag_known_q <= tag_q;
        end
    end

    assign error_o     = known_q & (bad_known_q | words_q > {17'd0, SCRATCHPAD_WORDS[31:0]});
    assign error_tag_o = tag_known_q;

endmodule

`default_nettype wire
