// SPDX-License-Identifier: Apache-2.0
// Adds the tiles of K on chip: two banks of ROWS rows of N sums, one being filled while the other is stored.
// Latency: REQUEST_DELAY cycles from a request to the read of column 0, one more for each column after it;
//          done_o comes REQUEST_DELAY + N cycles after the request, with the write of the last column.
//          1 cycle from store_read_i to store_data_o, which then holds.
// Handshake: none. Storing reads only a bank that is done. A new block may begin in it meanwhile, each row after the old
//            one was read; what adds to rows of the bank waits until its last row is stored.
`default_nettype none

module gemm64_accumulator #(
    parameter N             = 64,   // columns
    parameter ROWS          = 128,  // rows in each bank
    parameter ROW_WIDTH     = 7,    // bits of a row's index
    parameter SELF_CHECK    = 0,    // 0: wrong_o and unwritten_o are 0
    parameter REQUEST_DELAY = 17    // cycles from a request to one before its sum leaves column 0; at least 2
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,        // synchronous, active low
    // Request, in the cycle in which a row of activations is read from the scratchpad
    input  wire                 valid_i,
    input  wire                 first_i,       // the row starts a new sum
    input  wire                 last_i,        // the row is the last of its block
    input  wire                 bank_i,
    input  wire [ROW_WIDTH-1:0] row_i,
    // Sums from the array, column c c cycles after column 0
    input  wire [32*N-1:0]      sum_i,
    // Sums from the depthwise unit, all columns of a row at once, which start from zero; after all of the array have come
    input  wire                 lanes_valid_i,
    input  wire                 lanes_last_i,  // the row is the last of its block
    input  wire                 lanes_bank_i,
    input  wire [ROW_WIDTH-1:0] lanes_row_i,
    input  wire [32*N-1:0]      lanes_sum_i,
    // A block is complete in its bank
    output wire                 done_o,
    // Storing: a row of all columns
    input  wire                 storing_i,     // store_read_i may come: early in the cycle
    input  wire                 store_read_i,
    input  wire                 store_bank_i,
    input  wire [ROW_WIDTH-1:0] store_row_i,
    output wire [32*N-1:0]      store_data_o,
    // A row that was stored is not what was added up
    input  wire                 store_shown_i,  // store_data_o is used
    output wire                 wrong_o,        // from two cycles after that on, until the reset, with where it was
    output wire                 unwritten_o,    // the same of a row that no sums have come to since its place was stored last
    output wire                 wrong_bank_o,
    output wire [ROW_WIDTH-1:0] wrong_row_o
);

    // The request waits until its row has passed the stages of the array ...
    localparam REQUEST_WIDTH = 3 + ROW_WIDTH;
    reg [REQUEST_WIDTH-1:0] request_q [0:REQUEST_DELAY-1];
    reg [REQUEST_DELAY-1:0] waiting_q;

    always @(posedge clk_i) begin : wait_for_sum
        integer i;
        request_q[0] <= {first_i, last_i, bank_i, row_i};
        for (i = 1; i < REQUEST_DELAY; i = i + 1) request_q[i] <= request_q[i-1];
        waiting_q <= {waiting_q[REQUEST_DELAY-2:0], valid_i} & {REQUEST_DELAY{rst_ni}};
    end

    // ... and then travels from column to column with the sums: bit or word c is the request to column c.
    wire                 head_valid = waiting_q[REQUEST_DELAY-1];
    wire                 head_first, head_last, head_bank;
    wire [ROW_WIDTH-1:0] head_row;
    assign {head_first, head_last, head_bank, head_row} = request_q[REQUEST_DELAY-1];

    reg [N-1:0]         add_0_q, add_1_q, first_q, last_q;  // for the sum that leaves the array
    reg [ROW_WIDTH-1:0] row_q [0:N-1];

    // A cycle earlier, the old sum is to be read, where there is one.
    wire [N-1:0] add_0 = {add_0_q[N-2:0], head_valid & ~head_bank};
    wire [N-1:0] add_1 = {add_1_q[N-2:0], head_valid & head_bank};
    wire [N-1:0] first = {first_q[N-2:0], head_first};
    wire [N-1:0] old_0 = add_0 & ~first;
    wire [N-1:0] old_1 = add_1 & ~first;

    // A row that is stored is read from all columns at once, in the place of an old sum.
    wire         store_0 = store_read_i & ~store_bank_i;
    wire         store_1 = store_read_i & store_bank_i;
    wire [N-1:0] read_0  = old_0 | {N{store_0}};
    wire [N-1:0] read_1  = old_1 | {N{store_1}};

    reg store_bank_q;        // bank that was stored from last

    wire lanes_0 = lanes_valid_i & ~lanes_bank_i;
    wire lanes_1 = lanes_valid_i & lanes_bank_i;

    always @(posedge clk_i) begin : step
        integer i;
        add_0_q  <= add_0 & {N{rst_ni}};
        add_1_q  <= add_1 & {N{rst_ni}};
        last_q   <= {last_q[N-2:0], head_valid & head_last} & {N{rst_ni}};
        first_q  <= first;
        row_q[0] <= head_row;
        for (i = 1; i < N; i = i + 1) row_q[i] <= row_q[i-1];
        if (store_read_i) store_bank_q <= store_bank_i;
    end

    assign done_o = last_q[N-1] | lanes_last_i;

    // May anything in a bank of these columns move? Its clock may rest there otherwise.
    localparam TOGETHER = N < 16 ? 2 : N / 8;
    localparam GROUPS   = N / TOGETHER;
    wire [GROUPS-1:0] busy_0, busy_1;
    wire [N-1:0]      wrong;
    genvar c;
    generate
        for (c = 0; c < GROUPS; c = c + 1) begin : group
            localparam FIRST = TOGETHER * c;
            assign busy_0[c] = (add_0_q[FIRST +: TOGETHER] | add_0[FIRST +: TOGETHER]) != {TOGETHER{1'b0}} | storing_i | lanes_0;
            assign busy_1[c] = (add_1_q[FIRST +: TOGETHER] | add_1[FIRST +: TOGETHER]) != {TOGETHER{1'b0}} | storing_i | lanes_1;
        end

        for (c = 0; c < N; c = c + 1) begin : column
            wire [ROW_WIDTH-1:0] old_row;
            if (c == 0) begin : leftmost
                assign old_row = head_row;
            end else begin : next
                assign old_row = row_q[c-1];
            end

            gemm64_accumulator_column #(.ROWS(ROWS), .ROW_WIDTH(ROW_WIDTH), .SELF_CHECK(SELF_CHECK)) u_column (
                .clk_i        (clk_i),
                .busy_0_i     (busy_0[c/TOGETHER]),
                .busy_1_i     (busy_1[c/TOGETHER]),
                .read_0_i     (read_0[c]),
                .row_0_i      (store_0 ? store_row_i : old_row),
                .read_1_i     (read_1[c]),
                .row_1_i      (store_1 ? store_row_i : old_row),
                .add_0_i      (add_0_q[c]),
                .add_1_i      (add_1_q[c]),
                .first_i      (first_q[c]),
                .row_i        (row_q[c]),
                .sum_i        (sum_i[32*c +: 32]),
                .lanes_0_i    (lanes_0),
                .lanes_1_i    (lanes_1),
                .lanes_row_i  (lanes_row_i),
                .lanes_sum_i  (lanes_sum_i[32*c +: 32]),
                .store_bank_i (store_bank_q),
                .store_data_o (store_data_o[32*c +: 32]),
                .store_shown_i (store_shown_i),
                .wrong_o      (wrong[c])
            );
        end

        if (SELF_CHECK != 0) begin : self_check
            // A STORE of more rows than its block would find rows without sums: the program's error, not the device's.
            reg [2*ROWS-1:0]    written_q;  // rows of both banks with sums, all of whose columns have come
            reg                 read_written_q, shown_written_q;
            reg                 shown_q, shown_bank_q, wrong_q, unwritten_q, wrong_bank_q;
            reg [ROW_WIDTH-1:0] stored_q, shown_row_q, wrong_row_q;
            wire                differs = shown_q & (~shown_written_q | wrong != {N{1'b0}});
            always @(posedge clk_i) begin
                if (store_read_i) {stored_q, read_written_q} <= {store_row_i, written_q[{store_bank_i, store_row_i}]};
                shown_q <= rst_ni & store_shown_i;
                {shown_bank_q, shown_row_q, shown_written_q} <= {store_bank_q, stored_q, read_written_q};
                if (!rst_ni) begin
                    {wrong_q, unwritten_q, wrong_bank_q, wrong_row_q} <= {ROW_WIDTH + 3{1'b0}};
                    written_q <= {2*ROWS{1'b0}};
                end else begin
                    if (differs & ~wrong_q & ~unwritten_q)
                        {wrong_q, unwritten_q, wrong_bank_q, wrong_row_q} <= {shown_written_q, ~shown_written_q, shown_bank_q, shown_row_q};
                    if (store_read_i) written_q[{store_bank_i, store_row_i}] <= 1'b0;
                    if (lanes_valid_i) written_q[{lanes_bank_i, lanes_row_i}] <= 1'b1;
                    if (add_0_q[N-1]) written_q[{1'b0, row_q[N-1]}] <= 1'b1;
                    if (add_1_q[N-1]) written_q[{1'b1, row_q[N-1]}] <= 1'b1;
                end
            end
            assign {wrong_o, unwritten_o, wrong_bank_o, wrong_row_o} = {wrong_q, unwritten_q, wrong_bank_q, wrong_row_q};
        end else begin : unchecked
            assign {wrong_o, unwritten_o, wrong_bank_o, wrong_row_o} = {ROW_WIDTH + 3{1'b0}};
        end
    endgenerate

`ifdef GEMM64_CHECKS
    // A bank has one port to read it: no cycle reads a row to be stored and an old sum from the same one.
    always @(posedge clk_i)
        if (rst_ni & ((store_0 & old_0 != {N{1'b0}}) | (store_1 & old_1 != {N{1'b0}}))) begin
            $display("gemm64_accumulator: a bank is stored while a column still adds to it");
            $stop;
        end
`endif

endmodule

`default_nettype wire
