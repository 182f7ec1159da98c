// SPDX-License-Identifier: Apache-2.0
// Weight-stationary systolic array of N x N int8 multipliers with int32 sums.
// Latency: 1 + N/STAGE_ROWS + c cycles from activation_i to column c of sum_o.
// Handshake: none; the array moves in every cycle. weight_i of column c must be given one cycle before, or in the
//            clock of, no activation that still needs the column's old weights: column c of a tile goes in c cycles
//            after column 0, and column 0 in the cycle of the tile's first row of activations.
`default_nettype none

module gemm64_array #(
    parameter N            = 64,  // rows (along K) and columns (along N)
    parameter STAGE_ROWS   = 4,   // rows whose products are added before a partial-sum register: 1, 2, 4 or 8
    parameter COLUMN_WIDTH = 6,   // bits of a column's index
    parameter SUM_WIDTH    = 16 + COLUMN_WIDTH,  // bits of a partial sum inside, at most 32: N products of at most 2^14
    parameter CLOCK_ENABLES = 1,  // 0: registers of activations, weights and sums load in every cycle
    parameter SELF_CHECK   = 0    // 0: edge_o is 0
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,           // synchronous, active low
    // One column of weights: byte k for row k
    input  wire                    weight_valid_i,
    input  wire [COLUMN_WIDTH-1:0] weight_column_i,
    input  wire [8*N-1:0]          weight_i,
    // One row of activations: byte k for row k
    input  wire                    activation_valid_i,
    input  wire [8*N-1:0]          activation_i,
    // Sums, 32 bits each, column c c cycles after column 0
    output wire [32*N-1:0]         sum_o,
    // Rows as they leave the right edge, stage g's bytes N + 1 + g cycles after they entered: for gemm64_checksum
    output wire [8*N-1:0]          edge_o
);

    localparam STAGES = N / STAGE_ROWS;

    wire [8*N-1:0]    activation, weight;
    wire [STAGES-1:0] activation_valid;

    gemm64_skew #(.LANES(STAGES), .WIDTH(8*STAGE_ROWS), .CLOCK_ENABLES(CLOCK_ENABLES)) u_activation_skew (
        .clk_i   (clk_i),
        .valid_i (activation_valid_i),
        .data_i  (activation_i),
        .valid_o (activation_valid),
        .data_o  (activation)
    );

    gemm64_skew #(.LANES(STAGES), .WIDTH(8*STAGE_ROWS), .CLOCK_ENABLES(CLOCK_ENABLES)) u_weight_skew (
        .clk_i   (clk_i),
        .valid_i (weight_valid_i),
        .data_i  (weight_i),
        .valid_o (),  // the stages pass it on with the column
        .data_o  (weight)
    );

    wire [SUM_WIDTH*N-1:0]  sum           [0:STAGES];
    wire                    weight_valid  [0:STAGES];
    wire [COLUMN_WIDTH-1:0] weight_column [0:STAGES];

    assign sum[0]           = {SUM_WIDTH*N{1'b0}};
    assign weight_valid[0]  = weight_valid_i;
    assign weight_column[0] = weight_column_i;

    genvar g;
    generate
        for (g = 0; g < STAGES; g = g + 1) begin : stage
            gemm64_stage #(
                .N(N), .ROWS(STAGE_ROWS), .COLUMN_WIDTH(COLUMN_WIDTH), .SUM_WIDTH(SUM_WIDTH),
                .CLOCK_ENABLES(CLOCK_ENABLES), .SELF_CHECK(SELF_CHECK)
            ) u_stage (
                .clk_i              (clk_i),
                .rst_ni             (rst_ni),
                .weight_valid_i     (weight_valid[g]),
                .weight_column_i    (weight_column[g]),
                .weight_i           (weight[8*STAGE_ROWS*g +: 8*STAGE_ROWS]),
                .weight_valid_o     (weight_valid[g+1]),
                .weight_column_o    (weight_column[g+1]),
                .activation_valid_i (activation_valid[g]),
                .activation_i       (activation[8*STAGE_ROWS*g +: 8*STAGE_ROWS]),
                .sum_i              (sum[g]),
                .sum_o              (sum[g+1]),
                .edge_o             (edge_o[8*STAGE_ROWS*g +: 8*STAGE_ROWS])
            );
        end

        if (SUM_WIDTH == 32) begin : whole
            assign sum_o = sum[STAGES];
        end else begin : extended
            for (g = 0; g < N; g = g + 1) begin : column
                wire [SUM_WIDTH-1:0] narrow = sum[STAGES][SUM_WIDTH*g +: SUM_WIDTH];
                assign sum_o[32*g +: 32] = {{32-SUM_WIDTH{narrow[SUM_WIDTH-1]}}, narrow};
            end
        end
    endgenerate

endmodule

`default_nettype wire
