// SPDX-License-Identifier: Apache-2.0
// Weight-stationary systolic array of N x N int8 multipliers with int32 sums.
// Latency: 1 + N/STAGE_ROWS + c clocks from activation_i to column c of sum_o.
// Handshake: none; the array moves in every clock. weight_i of column c must be given one clock before, or in the
//            clock of, no activation that still needs the column's old weights: column c of a tile goes in c clocks
//            after column 0, and column 0 in the clock of the tile's first row of activations.
`default_nettype none

module gemm64_array #(
    parameter N            = 64,  // rows (along K) and columns (along N)
    parameter STAGE_ROWS   = 4,   // rows whose products are added before a partial-sum register: 1, 2, 4 or 8
    parameter COLUMN_WIDTH = 6    // bits of a column's index
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,           // synchronous, active low
    // One column of weights: byte k for row k
    input  wire                    weight_valid_i,
    input  wire [COLUMN_WIDTH-1:0] weight_column_i,
    input  wire [8*N-1:0]          weight_i,
    // One row of activations: byte k for row k
    input  wire [8*N-1:0]          activation_i,
    // Sums, column c c clocks after column 0
    output wire [32*N-1:0]         sum_o
);

    localparam STAGES = N / STAGE_ROWS;

    wire [8*N-1:0] activation, weight;

    gemm64_skew #(.LANES(STAGES), .WIDTH(8*STAGE_ROWS)) u_activation_skew (
        .clk_i(clk_i), .data_i(activation_i), .data_o(activation)
    );

    gemm64_skew #(.LANES(STAGES), .WIDTH(8*STAGE_ROWS)) u_weight_skew (
        .clk_i(clk_i), .data_i(weight_i), .data_o(weight)
    );

    wire [32*N-1:0]         sum           [0:STAGES];
    wire                    weight_valid  [0:STAGES];
    wire [COLUMN_WIDTH-1:0] weight_column [0:STAGES];

    assign sum[0]           = {32*N{1'b0}};
    assign weight_valid[0]  = weight_valid_i;
    assign weight_column[0] = weight_column_i;
    assign sum_o            = sum[STAGES];

    genvar g;
    generate
        for (g = 0; g < STAGES; g = g + 1) begin : stage
            gemm64_stage #(.N(N), .ROWS(STAGE_ROWS), .COLUMN_WIDTH(COLUMN_WIDTH)) u_stage (
                .clk_i           (clk_i),
                .rst_ni          (rst_ni),
                .weight_valid_i  (weight_valid[g]),
                .weight_column_i (weight_column[g]),
                .weight_i        (weight[8*STAGE_ROWS*g +: 8*STAGE_ROWS]),
                .weight_valid_o  (weight_valid[g+1]),
                .weight_column_o (weight_column[g+1]),
                .activation_i    (activation[8*STAGE_ROWS*g +: 8*STAGE_ROWS]),
                .sum_i           (sum[g]),
                .sum_o           (sum[g+1])
            );
        end
    endgenerate

endmodule

`default_nettype wire
