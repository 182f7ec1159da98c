// SPDX-License-Identifier: Apache-2.0
// Finds DEPTHWISE commands whose kernel, dilations or steps the lanes cannot take (BAD_OPERAND).
// Latency: 2 cycles from valid_i to error_o.
// Handshake: none; a command may be given in every cycle.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_depthwise_check #(
    parameter LINE = 128  // words of the longest row, and of the rows from a tap to the next
) (
    input  wire         clk_i,
    input  wire         rst_ni,    // synchronous, active low
    input  wire         valid_i,   // a DEPTHWISE
    input  wire [255:0] window_i,  // words 8 to 15 of the command
    input  wire [15:0]  tag_i,     // number of the command
    // It is bad
    output wire         error_o,
    output wire [15:0]  error_tag_o
);

    localparam FIRST = 256;  // bit of the command at which window_i begins

    wire [7:0]  kernel_height = window_i[`GEMM64_CMD_KERNEL_HEIGHT_LSB - FIRST +: 8];
    wire [7:0]  stride_height = window_i[`GEMM64_CMD_STRIDE_HEIGHT_LSB - FIRST +: 8];
    wire [7:0]  stride_width  = window_i[`GEMM64_CMD_STRIDE_WIDTH_LSB - FIRST +: 8];
    wire [7:0]  dilation_height = window_i[`GEMM64_CMD_DILATION_HEIGHT_LSB - FIRST +: 8];
    wire [7:0]  dilation_width  = window_i[`GEMM64_CMD_DILATION_WIDTH_LSB - FIRST +: 8];
    wire [7:0]  pad_top       = window_i[`GEMM64_CMD_PAD_TOP_LSB - FIRST +: 8];
    wire [7:0]  pad_left      = window_i[`GEMM64_CMD_PAD_LEFT_LSB - FIRST +: 8];
    wire [15:0] height        = window_i[`GEMM64_CMD_HEIGHT_LSB - FIRST +: 16];
    wire [15:0] width         = window_i[`GEMM64_CMD_WIDTH_LSB - FIRST +: 16];
    wire [15:0] out_height    = window_i[`GEMM64_CMD_OUT_HEIGHT_LSB - FIRST +: 16];
    wire [15:0] out_width     = window_i[`GEMM64_CMD_OUT_WIDTH_LSB - FIRST +: 16];
    wire [15:0] row_step      = window_i[`GEMM64_CMD_ROW_STEP_LSB - FIRST +: 16];
    wire [15:0] image_step    = window_i[`GEMM64_CMD_IMAGE_STEP_LSB - FIRST +: 16];
    wire [15:0] lead          = window_i[`GEMM64_CMD_LEAD_LSB - FIRST +: 16];

    // From the first tap to the last one: 2, 4 or 6 times that many words, rows or columns.
    function [18:0] span;
        input        two, four;
        input [15:0] apart;
        span = (two ? {2'd0, apart, 1'b0} : 19'd0) + (four ? {1'b0, apart, 2'd0} : 19'd0);
    endfunction

    wire is_3 = kernel_height == 8'd3, is_5 = kernel_height == 8'd5;
    wire [18:0] rows = span(~is_5, ~is_3, {8'd0, dilation_height}), columns = span(~is_5, ~is_3, {8'd0, dilation_width});
    // The window holds columns of 3x3 that are 6 apart, and of 5x5 that are 2 apart.
    wire bad_sizes = `GEMM64_BROKEN_DEPTHWISE | {11'd0, pad_top} > rows | {11'd0, pad_left} > columns;
    wire [15:0] last   = out_width - 16'd1;
    wire [7:0]  words  = width[7:0];  // all of it, where it is not bad

    // What the steps must be: the last outputs of a row and of an image lie where the walk has come by then. Each cycle has
    // products in parallel, none after another.
    reg         given_q, known_q, bad_q, bad_known_q, two_q, four_q;
    reg  [18:0] right_q;
    reg  [15:0] row_q, line_q, above_q, lines_q, row_step_q, image_step_q, lead_q, tag_q, tag_known_q;
    reg  [23:0] across_q, image_q;
    reg  [31:0] rows_q;
    reg  [32:0] rest_q;  // what rows_q must be

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (valid_i) begin
            bad_q    <= bad_sizes;
            row_q    <= {8'd0, stride_height} * {8'd0, words};
            across_q <= {8'd0, last} * {16'd0, stride_width};
            image_q  <= {8'd0, height} * {16'd0, words};
            line_q   <= {8'd0, dilation_height} * {8'd0, words};
            above_q  <= {8'd0, pad_top} * {8'd0, words};
            right_q  <= columns - {11'd0, pad_left};
            {two_q, four_q} <= {~is_5, ~is_3};
            lines_q  <= out_height - 16'd1;
            {row_step_q, image_step_q, lead_q, tag_q} <= {row_step, image_step, lead, tag_i};
        end
        if (given_q) begin
            bad_known_q <= bad_q | line_q > LINE[15:0] | {9'd0, row_q} != {1'b0, across_q} + {9'd0, row_step_q}
                         | span(two_q, four_q, line_q) + right_q != {3'd0, lead_q} + {3'd0, above_q};
            rows_q      <= {16'd0, lines_q} * {16'd0, row_q};
            rest_q      <= {9'd0, image_q} - {9'd0, across_q} - {17'd0, image_step_q};
            tag_known_q <= tag_q;
        end
    end

    assign error_o     = known_q & (bad_known_q | {1'b0, rows_q} != rest_q);
    assign error_tag_o = tag_known_q;

endmodule

`default_nettype wire
