// SPDX-License-Identifier: Apache-2.0
// Adds the tiles of K on chip: two banks of ROWS rows of N sums, one being filled while the other is stored.
// Latency: REQUEST_DELAY clocks from a request to the read of column 0, one more for each column after it;
//          done_o comes REQUEST_DELAY + N clocks after the request, with the write of the last column.
//          1 clock from store_read_i to store_data_o, which then holds.
// Handshake: none; compute asks only for a bank that is free, storing reads only a bank that is done.
`default_nettype none

module gemm64_accumulator #(
    parameter N             = 64,   // columns
    parameter ROWS          = 128,  // rows in each bank
    parameter ROW_WIDTH     = 7,    // bits of a row's index
    parameter REQUEST_DELAY = 17    // clocks from a request to one before its sum leaves column 0; at least 1
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,        // synchronous, active low
    // Request, in the clock in which a row of activations is read from the scratchpad
    input  wire                 valid_i,
    input  wire                 first_i,       // the row starts a new sum
    input  wire                 last_i,        // the row is the last of its block
    input  wire                 bank_i,
    input  wire [ROW_WIDTH-1:0] row_i,
    // Sums from the array, column c c clocks after column 0
    input  wire [32*N-1:0]      sum_i,
    // A block is complete in its bank
    output wire                 done_o,
    // Storing: a row of all columns
    input  wire                 store_read_i,
    input  wire                 store_bank_i,
    input  wire [ROW_WIDTH-1:0] store_row_i,
    output wire [32*N-1:0]      store_data_o
);

    // The request waits until its row has passed the stages of the array ...
    localparam REQUEST_WIDTH = 3 + ROW_WIDTH;
    reg [REQUEST_WIDTH-1:0] request_q [0:REQUEST_DELAY-1];
    reg [REQUEST_DELAY-1:0] valid_q;
    integer i;

    always @(posedge clk_i) begin
        request_q[0] <= {first_i, last_i, bank_i, row_i};
        for (i = 1; i < REQUEST_DELAY; i = i + 1) request_q[i] <= request_q[i-1];
        valid_q[0] <= valid_i & rst_ni;
        for (i = 1; i < REQUEST_DELAY; i = i + 1) valid_q[i] <= valid_q[i-1] & rst_ni;
    end

    // ... and then travels from column to column with the sums.
    wire                 valid [0:N];
    wire                 first [0:N];
    wire                 bank  [0:N];
    wire [ROW_WIDTH-1:0] row   [0:N];

    wire last;
    assign {first[0], last, bank[0], row[0]} = request_q[REQUEST_DELAY-1];
    assign valid[0] = valid_q[REQUEST_DELAY-1];

    genvar c;
    generate
        for (c = 0; c < N; c = c + 1) begin : column
            gemm64_accumulator_column #(.ROWS(ROWS), .ROW_WIDTH(ROW_WIDTH)) u_column (
                .clk_i        (clk_i),
                .rst_ni       (rst_ni),
                .valid_i      (valid[c]),
                .first_i      (first[c]),
                .bank_i       (bank[c]),
                .row_i        (row[c]),
                .valid_o      (valid[c+1]),
                .first_o      (first[c+1]),
                .bank_o       (bank[c+1]),
                .row_o        (row[c+1]),
                .sum_i        (sum_i[32*c +: 32]),
                .store_read_i (store_read_i),
                .store_bank_i (store_bank_i),
                .store_row_i  (store_row_i),
                .store_data_o (store_data_o[32*c +: 32])
            );
        end
    endgenerate

    // The mark of a block's last row takes as long as its sums to the last column.
    reg [N-1:0] last_q;
    assign done_o = last_q[N-1];
    always @(posedge clk_i)
        if (!rst_ni) last_q <= {N{1'b0}};
        else last_q <= {last_q[N-2:0], valid[0] & last};

endmodule

`default_nettype wire
