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

    // Exponents of float32: 1.0 has 127.
    localparam [8:0] LEAST_TO_ADD = 9'd120, MOST_TO_ADD = 9'd130, LEAST_TO_MULTIPLY = 9'd115, MOST_TO_MULTIPLY = 9'd125;
    localparam [7:0] MOST_OFFSET = 8'd140, STEP = 8'd119;  // from STEP on the last bit is a whole step of 2**-31

    wire [`GEMM64_CMD_FORMAT_WIDTH-1:0] format = command_i[`GEMM64_CMD_FORMAT_LSB +: `GEMM64_CMD_FORMAT_WIDTH];
    wire [8:0]  result_scale  = command_i[`GEMM64_CMD_RESULT_SCALE_LSB + 23 +: 9];  // sign and exponent
    wire [8:0]  operand_scale = command_i[`GEMM64_CMD_OPERAND_SCALE_LSB + 23 +: 9];
    wire [30:0] offset        = command_i[`GEMM64_CMD_OFFSET_LSB +: 31];            // of either sign
    wire [7:0]  low           = command_i[`GEMM64_CMD_FUNCTION_MIN_LSB +: 8];
    wire [7:0]  high          = command_i[`GEMM64_CMD_FUNCTION_MAX_LSB +: 8];
    wire [7:0]  first_lane    = command_i[`GEMM64_CMD_FIRST_LANE_LSB +: 8];
    wire [7:0]  lanes         = command_i[`GEMM64_CMD_LANES_LSB +: 8];
    wire        add           = command_i[`GEMM64_CMD_ADD_LSB];
    wire        multiply      = command_i[`GEMM64_CMD_MULTIPLY_LSB];
    wire        keep          = command_i[`GEMM64_CMD_KEEP_LSB];
    wire [7:0]  exponent      = offset[30:23];

    // What is found of a command, in a block with a condition: so the simulation skips it without one.
    reg        wide, parts, bad_lanes, bad_bounds, bad_result_scale, bad_operand_scale, fraction, bad_offset, bad_numbers;
    reg [7:0]  sign, behind;  // bits of the offset that are less than a step
    reg [8:0]  lanes_end;
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
            sign       = {format == `GEMM64_RESULT_INT8, 7'd0};
            wide       = format == `GEMM64_RESULT_INT32;
            lanes_end  = {1'b0, first_lane} + {1'b0, lanes};
            bad_lanes  = {24'd0, first_lane} >= N | {23'd0, lanes_end} > N;
            parts      = first_lane != 8'd0 | (lanes != 8'd0 & {24'd0, lanes} != N);
            bad_bounds = (low ^ sign) > (high ^ sign);
            bad_result_scale  = add & (result_scale < LEAST_TO_ADD | result_scale > MOST_TO_ADD);
            bad_operand_scale = add ? operand_scale < LEAST_TO_ADD | operand_scale > MOST_TO_ADD
                                    : operand_scale < LEAST_TO_MULTIPLY | operand_scale > MOST_TO_MULTIPLY;
            behind      = STEP - exponent;
            fraction    = exponent < STEP & (behind >= 8'd24 | (offset[22:0] & ~({23{1'b1}} << behind[4:0])) != 23'd0);
            bad_offset  = offset != 31'd0 & (exponent > MOST_OFFSET | fraction);
            bad_numbers = bad_bounds | bad_result_scale | bad_operand_scale | bad_offset;
            if (~keep) parts_q <= parts;
            bad_q <= wide | (whole_i & (keep ? parts_q : parts)) | (keep ? ~loaded_q : bad_lanes | (add & multiply) | ((add | multiply) & bad_numbers));
            tag_q <= tag_i;
        end
    end

    assign error_o     = error_q;
    assign error_tag_o = tag_known_q;

endmodule

`default_nettype wire
