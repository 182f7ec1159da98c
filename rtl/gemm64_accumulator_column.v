// SPDX-License-Identifier: Apache-2.0
// Adds the sums that leave one column of the array to two banks of memory, one row of M a word. A bank has one port to
// read it and one to write it.
// Latency: 1 clock from read_i to the old sum; add_i is given a clock after read_i, and the new sum is in memory a
//          clock later. 1 clock from store_read_i to store_data_o, which holds until the bank is read again.
// Handshake: none. A row may be added to again after 2 clocks; the two reads of a clock must be of different banks.
`default_nettype none

module gemm64_accumulator_column #(
    parameter ROWS      = 128,  // rows in each bank, a power of two
    parameter ROW_WIDTH = 7     // bits of a row's index
) (
    input  wire               clk_i,
    // Old sum, a clock ahead of the sum from the array; not requested where a new sum starts
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
    input  wire               store_bank_i,     // bank that was read last
    output wire [31:0]        store_data_o
);

    reg [31:0] sums_0_q [0:ROWS-1];  // bank 0
    reg [31:0] sums_1_q [0:ROWS-1];  // bank 1
    reg [31:0] read_0_q, read_1_q;   // what was read from each

    wire                 store_0 = store_read_i & ~store_address_i[ROW_WIDTH];
    wire                 store_1 = store_read_i & store_address_i[ROW_WIDTH];
    wire [ROW_WIDTH-1:0] row_0   = store_0 ? store_address_i[ROW_WIDTH-1:0] : read_address_i[ROW_WIDTH-1:0];
    wire [ROW_WIDTH-1:0] row_1   = store_1 ? store_address_i[ROW_WIDTH-1:0] : read_address_i[ROW_WIDTH-1:0];

    wire                 bank    = add_address_i[ROW_WIDTH];
    wire [ROW_WIDTH-1:0] row     = add_address_i[ROW_WIDTH-1:0];
    wire [31:0]          old_sum = bank ? read_1_q : read_0_q;
    wire [31:0]          new_sum = (first_i ? 32'd0 : old_sum) + sum_i;

    always @(posedge clk_i) begin
        if (store_0 | (read_i & ~read_address_i[ROW_WIDTH])) read_0_q <= sums_0_q[row_0];
        if (store_1 | (read_i & read_address_i[ROW_WIDTH])) read_1_q <= sums_1_q[row_1];
        if (add_i & ~bank) sums_0_q[row] <= new_sum;
        if (add_i & bank) sums_1_q[row] <= new_sum;
    end

    assign store_data_o = store_bank_i ? read_1_q : read_0_q;

endmodule

`default_nettype wire
