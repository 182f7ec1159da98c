// SPDX-License-Identifier: Apache-2.0
// gemm64_stage adds, for each row of activations that enters it, its products with the column's weights to the column's
// partial sum: for all operands, however rows and weights follow each other. Nothing is used of multiplication.
//
// multiplication any
// break gemm64_stage.v: step = {valid, activation_valid_i} -> step = {valid, 1'b0}
// prove induction 4, cover 8; N=2,ROWS=2,COLUMN=0 N=2,ROWS=2,COLUMN=1 N=2,ROWS=1,COLUMN=1
// prove induction 6, cover 10; N=4,ROWS=4,COLUMN=0 N=4,ROWS=4,COLUMN=3 N=4,ROWS=2,COLUMN=2
// probe entries = dut.weight_q[0] where COLUMN=0
// probe entries = dut.weight_q[1] where COLUMN=1
// probe entries = dut.weight_q[2] where COLUMN=2
// probe entries = dut.weight_q[3] where COLUMN=3
module stage_proof #(
    parameter N      = 2,
    parameter ROWS   = 2,
    parameter COLUMN = 0   // the column that is looked at
) ();

    gemm64_stage #(.N(N), .ROWS(ROWS), .COLUMN_WIDTH($clog2(N)), .SUM_WIDTH(22)) dut (
        .rst_ni (1'b1), .*
    );

    (* keep *) wire [8*ROWS-1:0] entries;

    // The column's weights, and the row that was given that many cycles ago
    reg                written = 1'b0;
    reg [8*ROWS-1:0]   weights;
    reg [COLUMN:0]     entered = 0;
    reg [8*ROWS*(COLUMN+1)-1:0] given;
    always @(posedge clk_i) begin
        if (weight_valid_i & weight_column_i == COLUMN) begin
            written <= 1'b1;
            weights <= weight_i;
        end
        entered <= {entered, activation_valid_i};
        given   <= {given, activation_i};
    end
    wire [8*ROWS-1:0] row = given[8*ROWS*COLUMN +: 8*ROWS];

    // The sum, in plain words
    reg signed [21:0] plain;
    integer r;
    always @* begin
        plain = $signed(sum_i[22*COLUMN +: 22]);
        for (r = 0; r < ROWS; r = r + 1)
            plain = plain + $signed(row[8*r +: 8]) * $signed(weights[8*r +: 8]);
    end

    reg        expected = 1'b0;
    reg [21:0] value;
    always @(posedge clk_i) begin
        expected <= entered[COLUMN] & written;
        value    <= plain;
    end

    always @* begin
        if (written) assert (entries == weights);
        if (expected) assert (sum[22*COLUMN +: 22] == value);
        cover (expected);
    end

endmodule
