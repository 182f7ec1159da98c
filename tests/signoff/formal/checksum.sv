// SPDX-License-Identifier: Apache-2.0
// gemm64_checksum reports that a row was wrong, N + N/STAGE_ROWS + 3 cycles after it entered, exactly where the sums that left the
// array for it, added up, are not its activations' products with the sums of the tile's weights, or where the bytes that left the
// right edge are not together what came in. For all operands, whatever sums and bytes leave; nothing is used of
// multiplication. `checksum_sums.sv` has what these two sides are to each other.
//
// multiplication any
// break gemm64_checksum.v: (weight_column_i == {COLUMN_WIDTH{1'b0}} ? {WEIGHT_WIDTH{1'b0}} : sum_q) -> sum_q
// prove induction 9, cover 14; N=2,STAGE_ROWS=2
// prove induction 10, cover 14; N=2,STAGE_ROWS=1
// prove induction 11, cover 18; N=4,STAGE_ROWS=4
// probe coming_0 = dut.row[0].sum_q
// probe coming_1 = dut.row[1].sum_q
// probe come = dut.come_q
// probe entries = dut.stage[1].later.weights_q where N=2,STAGE_ROWS=1
module checksum_proof #(
    parameter N          = 2,
    parameter STAGE_ROWS = 2
) ();

    localparam LOG_N  = $clog2(N);
    localparam STAGES = N / STAGE_ROWS;
    localparam BITS   = 16 + LOG_N;         // of a sum
    localparam WIDE   = 8 + LOG_N;          // of a sum of weights
    localparam LATE   = N + STAGES + 3;     // cycles from a row to its report

    gemm64_checksum #(.N(N), .STAGE_ROWS(STAGE_ROWS), .COLUMN_WIDTH($clog2(N))) dut (
        .rst_ni (1'b1), .*
    );

    (* keep *) wire [WIDE-1:0]            coming_0, coming_1;
    (* keep *) wire [WIDE*N-1:0]          come;
    (* keep *) wire [WIDE*STAGE_ROWS-1:0] entries;

    // Weights of the tile that comes, and of the last one that has come: column by column
    reg [LOG_N:0]   columns = 0;  // of it that are there
    reg             known   = 1'b0;
    reg [8*N*N-1:0] tile, whole;
    wire            open = columns != 0 & columns != N;
    integer         w;
    always @(posedge clk_i) begin
        if (weight_valid_i) begin
            columns <= weight_column_i + 1'b1;
            for (w = 0; w < N; w = w + 1)  // no multiplication by a variable, which may be anything
                if (weight_column_i == w) tile[8*N*w +: 8*N] <= weight_i;
            if (weight_column_i == N - 1) begin
                known <= 1'b1;
                whole <= {weight_i, tile[0 +: 8*N*(N-1)]};
            end
        end
    end

    // The sum of the weights of row k in `columns` columns, in plain words
    function [WIDE-1:0] weights;
        input [8*N*N-1:0] of;
        input [LOG_N:0]   count;
        input integer     k;
        integer c;
        begin
            weights = 0;
            for (c = 0; c < N; c = c + 1)
                if (c < count) weights = weights + {{LOG_N{of[8*N*c + 8*k + 7]}}, of[8*N*c + 8*k +: 8]};
        end
    endfunction

    // What was there some cycles ago: bit or word d - 1 is of d cycles ago.
    reg [LATE-1:0]            entered = 0, ready = 0, started = 0;
    reg [8*N*N*(STAGES+1)-1:0] wholes;
    reg [8*LATE-1:0]          bytes_in;
    reg [8*N*LATE-1:0]        edges;
    reg [BITS*N*LATE-1:0]     products, sums;
    reg [7:0]                 together;
    reg [BITS*N-1:0]          product, sum;
    integer k, c;

    always @* begin
        together = 0;
        for (k = 0; k < N; k = k + 1) together = together ^ activation_i[8*k +: 8];
        for (c = 0; c < N; c = c + 1) sum[BITS*c +: BITS] = sum_i[32*c +: BITS];
    end

    genvar r;
    generate
        for (r = 0; r < N; r = r + 1) begin : multiply
            // A row passes column N of its stage 1 + N + g cycles after it entered, with the weights that were there N after.
            localparam AGE = 1 + r / STAGE_ROWS;
            wire [8*N*N-1:0]         its = wholes[8*N*N*(AGE-1) +: 8*N*N];
            wire signed [WIDE-1:0]   all = weights(its, N, r);
            reg  signed [BITS-1:0]   one;
            always @* one = $signed(edge_i[8*r +: 8]) * all;
            always @* product[BITS*r +: BITS] = one;
        end
    endgenerate

    always @(posedge clk_i) begin
        entered  <= {entered, activation_valid_i};
        started  <= {started, 1'b1};
        ready    <= {ready, known};
        wholes   <= {wholes, whole};
        bytes_in <= {bytes_in, together};
        edges    <= {edges, edge_i};
        products <= {products, product};
        sums     <= {sums, sum};
    end

    reg [BITS-1:0] left, right;
    reg [7:0]      crossed;
    always @* begin
        left = 0;
        right = 0;
        crossed = bytes_in[8*(LATE-1) +: 8];
        for (k = 0; k < N; k = k + 1) begin
            right   = right + products[BITS*N*(LATE - (1 + N + k / STAGE_ROWS) - 1) + BITS*k +: BITS];
            crossed = crossed ^ edges[8*N*(LATE - (1 + N + k / STAGE_ROWS) - 1) + 8*k +: 8];
        end
        for (c = 0; c < N; c = c + 1)
            left = left + sums[BITS*N*(LATE - (1 + STAGES + c) - 1) + BITS*c +: BITS];
    end
    wire due = entered[LATE-1] & ready[LATE-N-1];

    always @* begin
        // Columns of a tile follow each other.
        assume (weight_valid_i | ~open);
        assume (~weight_valid_i | weight_column_i == (open ? columns[LOG_N-1:0] : 0));

        assert (columns <= N);
        if (columns != 0) assert (coming_0 == weights(tile, columns, 0));
        if (columns != 0) assert (coming_1 == weights(tile, columns, 1));
        if (ready[0])
            for (k = 0; k < N; k = k + 1) assert (come[WIDE*k +: WIDE] == weights(wholes[0 +: 8*N*N], N, k));
        if (STAGES == 2 & ready[1]) assert (entries == weights(wholes[8*N*N +: 8*N*N], N, N - 1));
        if (due) assert (wrong == (left != right | crossed != 0));
        if (started[LATE-1] & ~entered[LATE-1]) assert (~wrong);
        cover (due & wrong);
        cover (due & ~wrong & left != 0);
    end

endmodule
