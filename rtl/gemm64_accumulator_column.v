// SPDX-License-Identifier: Apache-2.0
// Adds the sums that leave one column of the array to two banks of memory, one row of M a word. A bank has one port to
// read it and one to write it.
// Latency: 1 cycle from read_*_i to what was read, which holds until the bank is read again; an old sum is read a cycle
//          before add_*_i, and the new sum is in memory a cycle after it. store_data_o is what was read from store_bank_i.
// Handshake: none. A row may be added to again after 2 cycles.
`default_nettype none

module gemm64_accumulator_column #(
    parameter ROWS      = 128,  // rows in each bank, a power of two
    parameter ROW_WIDTH = 7,    // bits of a row's index
    parameter SELF_CHECK = 0    // 0: wrong_o is 0
) (
    input  wire                 clk_i,
    // A bank is read or written in this cycle, in this column or another
    input  wire                 busy_0_i,
    input  wire                 busy_1_i,
    // Reading a row of each bank
    input  wire                 read_0_i,
    input  wire [ROW_WIDTH-1:0] row_0_i,
    input  wire                 read_1_i,
    input  wire [ROW_WIDTH-1:0] row_1_i,
    // Sum from the array, to one bank at most
    input  wire                 add_0_i,
    input  wire                 add_1_i,
    input  wire                 first_i,       // start a new sum instead of adding to the old one
    input  wire [ROW_WIDTH-1:0] row_i,
    input  wire [31:0]          sum_i,
    // Sum from the lanes, to one bank at most, in no cycle with one from the array to the same
    input  wire                 lanes_0_i,
    input  wire                 lanes_1_i,
    input  wire [ROW_WIDTH-1:0] lanes_row_i,
    input  wire [31:0]          lanes_sum_i,
    // Storing
    input  wire                 store_bank_i,  // bank that was read last
    output wire [31:0]          store_data_o,
    input  wire                 store_shown_i, // it is used
    output wire                 wrong_o        // what was shown a cycle ago is not what was written
);

    reg [31:0] sums_0_q [0:ROWS-1];  // bank 0
    reg [31:0] sums_1_q [0:ROWS-1];  // bank 1
    reg [31:0] read_0_q, read_1_q;   // what was read from each

    // A bank is read and then written in one block, the only one that accesses it: the write may be blocking without a race. So a
    // simulator writes at once what it would otherwise keep aside in every cycle, and skips a bank that rests in all columns.
    // Of the two writes at most one is done, so that they are one port.
    always @(posedge clk_i) if (busy_0_i) begin
        if (read_0_i) read_0_q <= sums_0_q[row_0_i];
        if (lanes_0_i) sums_0_q[lanes_row_i] = lanes_sum_i;
        else if (add_0_i) sums_0_q[row_i] = (first_i ? 32'd0 : read_0_q) + sum_i;
    end

    always @(posedge clk_i) if (busy_1_i) begin
        if (read_1_i) read_1_q <= sums_1_q[row_1_i];
        if (lanes_1_i) sums_1_q[lanes_row_i] = lanes_sum_i;
        else if (add_1_i) sums_1_q[row_i] = (first_i ? 32'd0 : read_1_q) + sum_i;
    end

    assign store_data_o = store_bank_i ? read_1_q : read_0_q;

    generate
        if (SELF_CHECK != 0) begin : self_check
            gemm64_residue_check #(.ROWS(ROWS), .ROW_WIDTH(ROW_WIDTH)) u_check (
                .clk_i        (clk_i),
                .read_0_i     (busy_0_i & read_0_i),
                .row_0_i      (row_0_i),
                .read_1_i     (busy_1_i & read_1_i),
                .row_1_i      (row_1_i),
                .add_0_i      (busy_0_i & add_0_i),
                .add_1_i      (busy_1_i & add_1_i),
                .first_i      (first_i),
                .row_i        (row_i),
                .sum_i        (sum_i),
                .lanes_0_i    (busy_0_i & lanes_0_i),
                .lanes_1_i    (busy_1_i & lanes_1_i),
                .lanes_row_i  (lanes_row_i),
                .lanes_sum_i  (lanes_sum_i),
                .old_i        (add_1_i ? read_1_q : read_0_q),
                .shown_i      (store_shown_i),
                .shown_bank_i (store_bank_i),
                .shown_sum_i  (store_data_o),
                .wrong_o      (wrong_o)
            );
        end else begin : unchecked
            assign wrong_o = 1'b0;
        end
    endgenerate

endmodule

`default_nettype wire
