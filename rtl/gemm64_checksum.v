// SPDX-License-Identifier: Apache-2.0
// Finds wrong sums of the array. An extra column N multiplies each row of activations by the sums of each row's weights;
// what it gives is the sum of the N results, modulo 2^SUM_WIDTH, so that a wrong result in any one column differs. The
// activations are those that leave the right edge, and all of a row's bytes together must give what they gave on their way in.
// Latency: N + N/STAGE_ROWS + 3 cycles from activation_i to wrong_o.
// Handshake: none; moves with the array in every cycle. Columns 0 to N - 1 of a tile come in cycles that follow each other.
`default_nettype none

module gemm64_checksum #(
    parameter N            = 64,  // see gemm64_array
    parameter STAGE_ROWS   = 4,
    parameter COLUMN_WIDTH = 6,
    parameter SUM_WIDTH    = 16 + COLUMN_WIDTH
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,           // synchronous, active low
    // What the array gets
    input  wire                    weight_valid_i,
    input  wire [COLUMN_WIDTH-1:0] weight_column_i,
    input  wire [8*N-1:0]          weight_i,
    input  wire                    activation_valid_i,
    input  wire [8*N-1:0]          activation_i,
    // What leaves it
    input  wire [8*N-1:0]          edge_i,
    input  wire [32*N-1:0]         sum_i,
    // A row of sums was wrong
    output reg                     wrong_o
);

    localparam STAGES       = N / STAGE_ROWS;
    localparam WEIGHT_WIDTH = 8 + COLUMN_WIDTH;        // of a sum of N weights
    localparam DELAY        = N + STAGES + 2;          // cycles from a row's activations to its comparison
    localparam [COLUMN_WIDTH-1:0] LAST = {COLUMN_WIDTH{1'b1}};

    genvar k, g;

    // Sums of each row's weights: of the tile that comes, and of the last one that has come.
    wire [WEIGHT_WIDTH*N-1:0] coming;
    reg  [WEIGHT_WIDTH*N-1:0] come_q;
    reg  [STAGES-1:0]         come_valid_q;  // bit g: stage g takes them over

    generate
        for (k = 0; k < N; k = k + 1) begin : row
            reg signed [WEIGHT_WIDTH-1:0] sum_q;
            always @(posedge clk_i)
                if (weight_valid_i)
                    sum_q <= (weight_column_i == {COLUMN_WIDTH{1'b0}} ? {WEIGHT_WIDTH{1'b0}} : sum_q)
                           + {{COLUMN_WIDTH{weight_i[8*k + 7]}}, weight_i[8*k +: 8]};
            assign coming[WEIGHT_WIDTH*k +: WEIGHT_WIDTH] = sum_q;
        end
    endgenerate

    always @(posedge clk_i) begin : take
        integer i;
        come_valid_q[0] <= rst_ni & weight_valid_i & weight_column_i == LAST;
        for (i = 1; i < STAGES; i = i + 1) come_valid_q[i] <= rst_ni & come_valid_q[i-1];
        if (come_valid_q[0]) come_q <= coming;
    end

    // Column N: stage g's products per cycle after its activations left, and the sums of the stages above added to them.
    wire [SUM_WIDTH*(STAGES+1)-1:0] total;
    wire [8*(STAGES+1)-1:0]         crossed;
    assign total[0 +: SUM_WIDTH] = {SUM_WIDTH{1'b0}};

    generate
        for (g = 0; g < STAGES; g = g + 1) begin : stage
            localparam FIRST = STAGE_ROWS * g;
            wire [WEIGHT_WIDTH*STAGE_ROWS-1:0] weights;
            if (g == 0) begin : now
                assign weights = come_q[0 +: WEIGHT_WIDTH*STAGE_ROWS];
            end else begin : later
                reg [WEIGHT_WIDTH*STAGE_ROWS-1:0] weights_q;
                always @(posedge clk_i)
                    if (come_valid_q[g]) weights_q <= come_q[WEIGHT_WIDTH*FIRST +: WEIGHT_WIDTH*STAGE_ROWS];
                assign weights = weights_q;
            end

            reg [SUM_WIDTH*STAGE_ROWS-1:0] products_q;
            reg [SUM_WIDTH-1:0]            total_q, added;
            reg [7:0]                      crossed_q, bytes;
            always @* begin : add
                integer r;
                added = total[SUM_WIDTH*g +: SUM_WIDTH];
                bytes = crossed[8*g +: 8];
                for (r = 0; r < STAGE_ROWS; r = r + 1) begin
                    added = added + products_q[SUM_WIDTH*r +: SUM_WIDTH];
                    bytes = bytes ^ edge_i[8*(FIRST + r) +: 8];
                end
            end
            always @(posedge clk_i) begin : step
                integer r;
                for (r = 0; r < STAGE_ROWS; r = r + 1)
                    products_q[SUM_WIDTH*r +: SUM_WIDTH]
                        <= $signed(edge_i[8*(FIRST + r) +: 8]) * $signed(weights[WEIGHT_WIDTH*r +: WEIGHT_WIDTH]);
                total_q   <= added;
                crossed_q <= bytes;
            end
            assign total[SUM_WIDTH*(g+1) +: SUM_WIDTH] = total_q;
            assign crossed[8*(g+1) +: 8]               = crossed_q;
        end
    endgenerate

    // The results of a row, added from column to column as they leave; word N waits for column N.
    reg [SUM_WIDTH-1:0] along_q [0:N];
    // The bytes of a row together, on their way past the N columns, and whether a row is there at all
    reg [7:0]           bytes_q [0:N];
    reg [7:0]           bytes;
    reg [DELAY-1:0]     valid_q;
    reg                 crossed_wrong_q;
    assign crossed[7:0] = bytes_q[N];

    // By halves, so that it is a tree
    always @* begin : together
        integer       half;
        reg [8*N-1:0] rest;
        rest = activation_i;
        for (half = 4 * N; half >= 8; half = half / 2) rest = rest ^ (rest >> half);
        bytes = rest[7:0];
    end

    always @(posedge clk_i) begin : compare
        integer i;
        along_q[0] <= sum_i[0 +: SUM_WIDTH];
        bytes_q[0] <= bytes;
        for (i = 1; i < N; i = i + 1) along_q[i] <= along_q[i-1] + sum_i[32*i +: SUM_WIDTH];
        for (i = 1; i <= N; i = i + 1) bytes_q[i] <= bytes_q[i-1];
        along_q[N]      <= along_q[N-1];
        valid_q         <= {valid_q[DELAY-2:0], activation_valid_i} & {DELAY{rst_ni}};
        crossed_wrong_q <= crossed[8*STAGES +: 8] != 8'd0;
        wrong_o         <= rst_ni & valid_q[DELAY-1] & (along_q[N] != total[SUM_WIDTH*STAGES +: SUM_WIDTH] | crossed_wrong_q);
    end

endmodule

`default_nettype wire
