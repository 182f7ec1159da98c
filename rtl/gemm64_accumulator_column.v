// SPDX-License-Identifier: Apache-2.0
// Adds the sums that leave one column of the array to a memory of two banks, one row of M a word.
// Latency: 1 clock from a request to the read of the old sum; the new sum is in memory 2 clocks after the request.
//          1 clock from store_read_i to store_data_o, which then holds.
// Handshake: none. A row may come again after 2 clocks; the bank that the array fills must not be read for storing.
`default_nettype none

module gemm64_accumulator_column #(
    parameter ROWS      = 128,  // rows in each bank
    parameter ROW_WIDTH = 7     // bits of a row's index
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,        // synchronous, active low
    // Request, one clock ahead of its sum
    input  wire                 valid_i,
    input  wire                 first_i,       // start a new sum instead of adding to the old one
    input  wire                 bank_i,
    input  wire [ROW_WIDTH-1:0] row_i,
    // The same request a clock later, for the next column
    output reg                  valid_o,
    output reg                  first_o,
    output reg                  bank_o,
    output reg  [ROW_WIDTH-1:0] row_o,
    // Sum that leaves the array, one clock after its request
    input  wire [31:0]          sum_i,
    // Storing
    input  wire                 store_read_i,
    input  wire                 store_bank_i,  // of the read, and of store_data_o while it holds
    input  wire [ROW_WIDTH-1:0] store_row_i,
    output wire [31:0]          store_data_o
);

    wire [31:0] data_0, data_1;
    wire [31:0] old_sum = first_o ? 32'd0 : bank_o ? data_1 : data_0;
    wire [31:0] new_sum = old_sum + sum_i;
    wire        add_0   = valid_i & ~first_i & ~bank_i;
    wire        add_1   = valid_i & ~first_i & bank_i;

    assign store_data_o = store_bank_i ? data_1 : data_0;

    gemm64_ram #(.WIDTH(32), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_bank_0 (
        .clk_i           (clk_i),
        .write_i         (valid_o & ~bank_o),
        .write_address_i (row_o),
        .write_data_i    (new_sum),
        .read_i          (add_0 | (store_read_i & ~store_bank_i)),
        .read_address_i  (add_0 ? row_i : store_row_i),
        .data_o          (data_0)
    );

    gemm64_ram #(.WIDTH(32), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_bank_1 (
        .clk_i           (clk_i),
        .write_i         (valid_o & bank_o),
        .write_address_i (row_o),
        .write_data_i    (new_sum),
        .read_i          (add_1 | (store_read_i & store_bank_i)),
        .read_address_i  (add_1 ? row_i : store_row_i),
        .data_o          (data_1)
    );

    always @(posedge clk_i) begin
        valid_o <= valid_i & rst_ni;
        first_o <= first_i;
        bank_o  <= bank_i;
        row_o   <= row_i;
    end

endmodule

`default_nettype wire
