// SPDX-License-Identifier: Apache-2.0
// Runs the vectors of tests/rtl/array_vectors.hpp through the systolic array: a line of +stimulus= and a line of
// +expected= for each cycle. Prints each difference, then how many sums were compared and how many differed.
`default_nettype none

module array_tb;
    parameter N          = 4;
    parameter STAGE_ROWS = 2;
    parameter CYCLES     = 65536;  // most lines of the files

    localparam COLUMN_WIDTH = $clog2(N);

    reg [16*N+15:0] stimulus [0:CYCLES-1];  // valid (bit 0: weight, 1: activations), column of a weight,
                                             // 8 bits each; weights, activations
    reg [36*N-1:0]  expected [0:CYCLES-1];  // for each column 4 bits that say whether it counts; the sums
    reg [8*256-1:0] stimulus_file, expected_file;
    integer         cycles, t, c, compared, differences;

    reg                    clk = 1'b0;
    reg                    rst_n = 1'b0;
    reg                    weight_valid = 1'b0;
    reg                    activation_valid = 1'b0;
    reg [COLUMN_WIDTH-1:0] weight_column = {COLUMN_WIDTH{1'b0}};
    reg [8*N-1:0]          weight, activation;
    wire [32*N-1:0]        sum;

    gemm64_array #(.N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH(COLUMN_WIDTH)) u_array (
        .clk_i           (clk),
        .rst_ni          (rst_n),
        .weight_valid_i  (weight_valid),
        .weight_column_i (weight_column),
        .weight_i        (weight),
        .activation_valid_i (activation_valid),
        .activation_i    (activation),
        .sum_o           (sum)
    );

    always #1 clk = ~clk;

    initial begin
        if (!$value$plusargs("stimulus=%s", stimulus_file) || !$value$plusargs("expected=%s", expected_file)
            || !$value$plusargs("cycles=%d", cycles) || cycles > CYCLES) begin
            $display("usage: +stimulus=FILE +expected=FILE +cycles=NUMBER");
            $finish;
        end
        $readmemh(stimulus_file, stimulus, 0, cycles - 1);
        $readmemh(expected_file, expected, 0, cycles - 1);
        compared    = 0;
        differences = 0;
        repeat (3) @(posedge clk);
        rst_n <= 1'b1;
        for (t = 0; t < cycles; t = t + 1) begin
            // Inputs change after the edge that begins the clock; sums are looked at before the one that ends it.
            weight_valid  <= stimulus[t][16*N + 8];
            activation_valid <= stimulus[t][16*N + 9];
            weight_column <= stimulus[t][16*N +: COLUMN_WIDTH];
            weight        <= stimulus[t][8*N +: 8*N];
            activation    <= stimulus[t][0 +: 8*N];
            @(negedge clk);
            for (c = 0; c < N; c = c + 1)
                if (expected[t][32*N + 4*c]) begin
                    compared = compared + 1;
                    if (sum[32*c +: 32] !== expected[t][32*c +: 32]) begin
                        differences = differences + 1;
                        $display("cycle %0d column %0d: %h, not %h", t, c, sum[32*c +: 32], expected[t][32*c +: 32]);
                    end
                end
            @(posedge clk);
        end
        $display("compared %0d differences %0d", compared, differences);
        $finish;
    end

endmodule

`default_nettype wire
