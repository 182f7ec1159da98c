// SPDX-License-Identifier: Apache-2.0
// Adds the sums that leave one column of the array to a memory of two banks, one row of M a word.
// Latency: 1 clock from read_i to the old sum; add_i is given a clock after read_i, and the new sum is in memory a
//          clock later. 1 clock from store_read_i to store_data_o, which then holds.
// Handshake: none. A row may be added to again after 2 clocks; the two reads of a clock must be of different banks, so
//            that two memories of one read and one write port each can hold the banks.
`default_nettype none

module gemm64_accumulator_column #(
    parameter ROWS      = 128,  // rows in each bank, a power of two
    parameter ROW_WIDTH = 7     // bits of a row's index
) (
    input  wire               clk_i,
    // Old sum, a clock ahead of the sum from the array
    input  wire               read_i,
    input  wire [ROW_WIDTH:0] read_address_i,   // {bank, row}
    // Sum from the array
    input  wire               add_i,
    input  wire               first_i,          // start a new sum instead of adding to the old one
    input  wire [ROW_WIDTH:0] add_address_i,    // {bank, row}
    input  wire [31:0]        sum_i,
    // Storing
    input  wire               store_read_i,
    input  wire [ROW_WIDTH:0] store_address_i,  // {bank, row}
    output reg  [31:0]        store_data_o
);

    reg [31:0] sums_q [0:2*ROWS-1];
    reg [31:0] old_sum_q;

    always @(posedge clk_i) begin
        if (read_i) old_sum_q <= sums_q[read_address_i];
        if (add_i) sums_q[add_address_i] <= (first_i ? 32'd0 : old_sum_q) + sum_i;
        if (store_read_i) store_data_o <= sums_q[store_address_i];
    end

endmodule

`default_nettype wire
