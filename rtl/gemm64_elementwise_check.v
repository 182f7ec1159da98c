// SPDX-License-Identifier: Apache-2.0
// Finds STOREs with VECTOR whose settings gemm64_elementwise cannot take: results that are not of 8 bits, lanes beyond N, ADD and
// MULTIPLY at once, some lanes where all are to be written, bounds in the wrong order, float32 numbers beyond its range, and KEEP without settings since the reset.
// Latency: 2 cycles from valid_i to error_o.
// Handshake: none; a STORE may be given in every cycle.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_elementwise_check #(
    parameter N = 64  // lanes
) (
    input  wire                        clk_i,
    input  wire                        rst_ni,       // synchronous, active low
    // STORE with VECTOR
    input  wire                        valid_i,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 tag_i,        // number of the command
    input  wire                        whole_i,      // all lanes are to be written
    // It cannot be
    output wire                        error_o,
    output wire [15:0]                 error_tag_o
);

    wire [`GEMM64_CMD_FORMAT_WIDTH-1:0] format = command_i[`GEMM64_CMD_FORMAT_LSB +: `GEMM64_CMD_FORMAT_WIDTH];
    wire [31:0] n             = N;
    wire [31:0] result_scale  = command_i[`GEMM64_CMD_RESULT_SCALE_LSB +: 32];
    wire [31:0] operand_scale = command_i[`GEMM64_CMD_OPERAND_SCALE_LSB +: 32];
    wire [30:0] offset        = command_i[`GEMM64_CMD_OFFSET_LSB +: 31];  // of either sign
    wire [7:0]  function_min  = command_i[`GEMM64_CMD_FUNCTION_MIN_LSB +: 8];
    wire [7:0]  function_max  = command_i[`GEMM64_CMD_FUNCTION_MAX_LSB +: 8];
    wire [7:0]  first_lane    = command_i[`GEMM64_CMD_FIRST_LANE_LSB +: 8];
    wire [7:0]  lanes         = command_i[`GEMM64_CMD_LANES_LSB +: 8];
    wire        add           = command_i[`GEMM64_CMD_ADD_LSB];
    wire        multiply      = command_i[`GEMM64_CMD_MULTIPLY_LSB];
    wire        keep          = command_i[`GEMM64_CMD_KEEP_LSB];

    // What is found of a command, in a block with a condition: so the simulation skips it without one.
    reg        parts;
    reg        given_q, bad_q, error_q;
    reg        loaded_q;  // a STORE without KEEP has come since the reset
    reg        parts_q;   // it writes some lanes only
    reg [15:0] tag_q, tag_known_q;

    always @(posedge clk_i) begin
        given_q     <= valid_i & rst_ni;
        error_q     <= given_q & bad_q & rst_ni;
        loaded_q    <= rst_ni & (loaded_q | (valid_i & ~keep));
        if (given_q) tag_known_q <= tag_q;
        if (valid_i) begin
            parts = first_lane != 8'd0 | (lanes != 8'd0 & {24'd0, lanes} != N);
            if (~keep) parts_q <= parts;
            bad_q <= `GEMM64_BROKEN_STORE | (whole_i & (keep ? parts_q : parts)) | (keep & ~loaded_q);
            tag_q <= tag_i;
        end
    end

    assign error_o     = error_q;
    assign error_tag_o = tag_known_q;

endmodule

`default_nettype wire
