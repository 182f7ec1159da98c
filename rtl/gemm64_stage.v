// SPDX-License-Identifier: Apache-2.0
// One stage of the systolic array: ROWS rows of N int8 x int8 products, added before one register of partial sums.
// Latency: 2 cycles from activation_i to column 0 of sum_o, one more for each column after it;
//          1 cycle from sum_i to sum_o and from weight_i to its use.
// Handshake: none; the stage moves in every cycle. Activations step one column per cycle. A column of weights is
//            written just ahead of the first activation that needs it, so tiles follow each other without a gap.
//            With CLOCK_ENABLES a column's activations and sum keep their values unless a row reaches them.
`default_nettype none

module gemm64_stage #(
    parameter N            = 64,  // columns
    parameter ROWS         = 4,   // rows whose products one register of partial sums takes
    parameter COLUMN_WIDTH = 6,   // bits of a column's index
    parameter SUM_WIDTH    = 22,  // bits of a partial sum: 16 + log2 of the rows of the array hold each of them
    parameter CLOCK_ENABLES = 1,  // 0: every register of activations and sums loads in every cycle
    parameter SELF_CHECK   = 0    // 0: edge_o is 0
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,            // synchronous, active low
    // One column of weights, byte r for row r
    input  wire                    weight_valid_i,
    input  wire [COLUMN_WIDTH-1:0] weight_column_i,
    input  wire [8*ROWS-1:0]       weight_i,
    // The same request per cycle later, for the next stage
    output reg                     weight_valid_o,
    output reg  [COLUMN_WIDTH-1:0] weight_column_o,
    // One row of activations at column 0, byte r for row r
    input  wire                    activation_valid_i,
    input  wire [8*ROWS-1:0]       activation_i,
    // Partial sums of all columns
    input  wire [SUM_WIDTH*N-1:0]  sum_i,
    output reg  [SUM_WIDTH*N-1:0]  sum_o,
    // The row as it leaves the right edge, N + 1 cycles after it entered: what column N would multiply
    output wire [8*ROWS-1:0]       edge_o
);

    // Each row keeps N+1 activations: the last has left the right edge and feeds only the checksum. With it the shift moves
    // whole blocks of N bytes, which a simulator's compiler turns into vector moves.
    reg signed [7:0]        activation_q [0:ROWS*(N+1)-1];
    reg        [8*ROWS-1:0] weight_q     [0:N-1];  // a column's weights, byte r for row r

    // Bit c: the activations of column c came with the last edge. They step on, and column c's sum loads, with the next.
    wire [N-1:0] valid;
    // Bit c: the activations of column c load.
    wire [N:0]   step = {valid, activation_valid_i};

    generate
        if (CLOCK_ENABLES != 0) begin : enables
            reg [N-1:0] valid_q;
            assign valid = valid_q;
            always @(posedge clk_i) valid_q <= step[N-1:0];
        end else begin : always_on
            assign valid = {N{1'b1}};
        end
    endgenerate

    always @(posedge clk_i) begin : shift
        integer r, c;
        weight_valid_o  <= weight_valid_i & rst_ni;
        weight_column_o <= weight_column_i;
        if (weight_valid_i) weight_q[weight_column_i] <= weight_i;
        for (r = 0; r < ROWS; r = r + 1) begin
            if (CLOCK_ENABLES == 0 || step[0]) activation_q[r*(N+1)] <= activation_i[8*r +: 8];
            for (c = 1; c <= N; c = c + 1)
                if (CLOCK_ENABLES == 0 || step[c]) activation_q[r*(N+1) + c] <= activation_q[r*(N+1) + c-1];
        end
    end

    genvar e;
    generate
        for (e = 0; e < ROWS; e = e + 1) begin : right
            assign edge_o[8*e +: 8] = SELF_CHECK != 0 ? activation_q[e*(N+1) + N] : 8'd0;
        end

        if (ROWS == 1) begin : rows_1
            always @(posedge clk_i) begin : add
                integer c;
                for (c = 0; c < N; c = c + 1)
                    if (CLOCK_ENABLES == 0 || valid[c]) sum_o[SUM_WIDTH*c +: SUM_WIDTH] <= $signed(sum_i[SUM_WIDTH*c +: SUM_WIDTH])
                        + activation_q[c] * $signed(weight_q[c][7:0]);
            end
        end else if (ROWS == 2) begin : rows_2
            always @(posedge clk_i) begin : add
                integer c;
                for (c = 0; c < N; c = c + 1)
                    if (CLOCK_ENABLES == 0 || valid[c]) sum_o[SUM_WIDTH*c +: SUM_WIDTH] <= $signed(sum_i[SUM_WIDTH*c +: SUM_WIDTH])
                        + activation_q[c] * $signed(weight_q[c][7:0])
                        + activation_q[N+1 + c] * $signed(weight_q[c][15:8]);
            end
        end else if (ROWS == 4) begin : rows_4
            always @(posedge clk_i) begin : add
                integer c;
                for (c = 0; c < N; c = c + 1)
                    if (CLOCK_ENABLES == 0 || valid[c]) sum_o[SUM_WIDTH*c +: SUM_WIDTH] <= $signed(sum_i[SUM_WIDTH*c +: SUM_WIDTH])
                        + activation_q[c] * $signed(weight_q[c][7:0])
                        + activation_q[N+1 + c] * $signed(weight_q[c][15:8])
                        + activation_q[2*(N+1) + c] * $signed(weight_q[c][23:16])
                        + activation_q[3*(N+1) + c] * $signed(weight_q[c][31:24]);
            end
        end else begin : rows_8
            always @(posedge clk_i) begin : add
                integer c;
                for (c = 0; c < N; c = c + 1)
                    if (CLOCK_ENABLES == 0 || valid[c]) sum_o[SUM_WIDTH*c +: SUM_WIDTH] <= $signed(sum_i[SUM_WIDTH*c +: SUM_WIDTH])
                        + activation_q[c] * $signed(weight_q[c][7:0])
                        + activation_q[N+1 + c] * $signed(weight_q[c][15:8])
                        + activation_q[2*(N+1) + c] * $signed(weight_q[c][23:16])
                        + activation_q[3*(N+1) + c] * $signed(weight_q[c][31:24])
                        + activation_q[4*(N+1) + c] * $signed(weight_q[c][39:32])
                        + activation_q[5*(N+1) + c] * $signed(weight_q[c][47:40])
                        + activation_q[6*(N+1) + c] * $signed(weight_q[c][55:48])
                        + activation_q[7*(N+1) + c] * $signed(weight_q[c][63:56]);
            end
        end
    endgenerate

endmodule

`default_nettype wire
