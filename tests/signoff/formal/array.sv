// SPDX-License-Identifier: Apache-2.0
// gemm64_array gives, 1 + N/STAGE_ROWS + c cycles after a row of activations, in column c its product with the column's weights:
// those that came last when, or up to c cycles after, the row did. For all operands; nothing is used of multiplication.
//
// multiplication any
// break gemm64_array.v: .weight_valid_i     (weight_valid[g]) -> .weight_valid_i     (weight_valid_i)
// prove induction 6, cover 10; N=2,STAGE_ROWS=1,COLUMN=0 N=2,STAGE_ROWS=2,COLUMN=1 N=2,STAGE_ROWS=1,COLUMN=1
// prove induction 9, cover 12; N=4,STAGE_ROWS=2,COLUMN=3 N=4,STAGE_ROWS=4,COLUMN=1
// probe entries_0 = dut.stage[0].u_stage.weight_q[0] where COLUMN=0
// probe entries_0 = dut.stage[0].u_stage.weight_q[1] where COLUMN=1
// probe entries_0 = dut.stage[0].u_stage.weight_q[3] where COLUMN=3
// probe entries_1 = dut.stage[1].u_stage.weight_q[0] where N=2,STAGE_ROWS=1,COLUMN=0
// probe entries_1 = dut.stage[1].u_stage.weight_q[1] where N=2,STAGE_ROWS=1,COLUMN=1
// probe entries_1 = dut.stage[1].u_stage.weight_q[3] where N=4,STAGE_ROWS=2,COLUMN=3
module array_proof #(
    parameter N          = 2,
    parameter STAGE_ROWS = 1,
    parameter COLUMN     = 0
) ();

    localparam STAGES = N / STAGE_ROWS;
    localparam WIDTH  = 16 + $clog2(N);

    gemm64_array #(.N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH($clog2(N))) dut (
        .rst_ni (1'b1), .*
    );

    (* keep *) wire [8*STAGE_ROWS-1:0] entries_0, entries_1;

    reg                   written = 1'b0, written_before = 1'b0;
    reg [8*N-1:0]         weights, weights_before;  // the column's, and as they were a cycle ago
    reg [COLUMN:0]        entered = 0;
    reg [8*N*(COLUMN+1)-1:0] given;
    always @(posedge clk_i) begin
        if (weight_valid_i & weight_column_i == COLUMN) begin
            written <= 1'b1;
            weights <= weight_i;
        end
        written_before <= written;
        weights_before <= weights;
        entered <= {entered, activation_valid_i};
        given   <= {given, activation_i};
    end
    wire [8*N-1:0] row = given[8*N*COLUMN +: 8*N];

    reg signed [WIDTH-1:0] plain;
    integer k;
    always @* begin
        plain = 0;
        for (k = 0; k < N; k = k + 1) plain = plain + $signed(row[8*k +: 8]) * $signed(weights[8*k +: 8]);
    end

    reg [STAGES-1:0]       expected = 0;
    reg [WIDTH*STAGES-1:0] values;
    always @(posedge clk_i) begin
        expected <= {expected, entered[COLUMN] & written};
        values   <= {values, plain};
    end
    wire signed [WIDTH-1:0] value = values[WIDTH*(STAGES-1) +: WIDTH];

    always @* begin
        if (written) assert (entries_0 == weights[0 +: 8*STAGE_ROWS]);
        if (STAGES > 1 & written_before) assert (entries_1 == weights_before[8*(N-STAGE_ROWS) +: 8*STAGE_ROWS]);
        if (expected[STAGES-1]) assert ($signed(sum[32*COLUMN +: 32]) == value);
        cover (expected[STAGES-1]);
    end

endmodule
