// SPDX-License-Identifier: Apache-2.0
// One product of 6x4 activations by 4x4 weights on the systolic array, for docs/tutorials/change-the-rtl.md. Row m of
// activations enters in cycle m, column c of weights in cycle c; column c of row m is there in cycle
// m + 1 + N/STAGE_ROWS + c.
`default_nettype none

module product_tb;
    localparam N          = 4;
    localparam STAGE_ROWS = 2;
    localparam ROWS       = 6;
    localparam LATENCY    = 1 + N / STAGE_ROWS;

    reg            clk = 1'b0;
    reg            rst_n = 1'b0;
    reg            weight_valid = 1'b0, activation_valid = 1'b0;
    reg  [1:0]     weight_column = 2'd0;
    reg  [8*N-1:0] weight = 0, activation = 0;
    wire [32*N-1:0] sum;

    gemm64_array #(.N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH(2)) u_array (
        .clk_i              (clk),
        .rst_ni             (rst_n),
        .weight_valid_i     (weight_valid),
        .weight_column_i    (weight_column),
        .weight_i           (weight),
        .activation_valid_i (activation_valid),
        .activation_i       (activation),
        .sum_o              (sum)
    );

    always #1 clk = ~clk;

    function signed [7:0] a(input integer m, input integer k);
        a = 3 * m - 5 * k + 1;
    endfunction

    function signed [7:0] w(input integer c, input integer k);
        w = 7 * k - 4 * c - 2;
    endfunction

    integer t, m, c, k, expected, wrong;
    initial begin
        wrong = 0;
        repeat (3) @(posedge clk);
        rst_n <= 1'b1;
        for (t = 0; t < ROWS + N + LATENCY; t = t + 1) begin
            weight_valid     <= t < N;
            activation_valid <= t < ROWS;
            weight_column    <= t[1:0];
            for (k = 0; k < N; k = k + 1) begin
                weight[8*k +: 8]     <= w(t, k);
                activation[8*k +: 8] <= a(t, k);
            end
            @(negedge clk);
            for (c = 0; c < N; c = c + 1) begin
                m = t - LATENCY - c;
                if (m >= 0 && m < ROWS) begin
                    expected = 0;
                    for (k = 0; k < N; k = k + 1) expected = expected + a(m, k) * w(c, k);
                    if ($signed(sum[32*c +: 32]) !== expected) begin
                        if (wrong == 0)
                            $display("row %0d, column %0d: expected %0d, found %0d in cycle %0d", m, c, expected,
                                     $signed(sum[32*c +: 32]), t);
                        wrong = wrong + 1;
                    end
                end
            end
            @(posedge clk);
        end
        if (wrong == 0) $display("%0d sums are right", ROWS * N);
        else $display("%0d of %0d sums are wrong", wrong, ROWS * N);
        $finish;
    end
endmodule

`default_nettype wire
