// SPDX-License-Identifier: Apache-2.0
// gemm64_array with the AXI4-Stream ports of `gemm64 dut`. The array takes weights a column at a time, so that a tile's
// rows are gathered in one of two buffers first; the next tile's rows enter while this tile computes.
`default_nettype none

module gemm64_array_axis #(
    parameter N            = 8,
    parameter COLUMN_WIDTH = 3,
    parameter STAGE_ROWS   = 4
) (
    input  wire            aclk,
    input  wire            aresetn,
    input  wire [8*N-1:0]  s_axis_weights_tdata,
    input  wire            s_axis_weights_tvalid,
    output wire            s_axis_weights_tready,
    input  wire            s_axis_weights_tlast,
    input  wire [8*N-1:0]  s_axis_activations_tdata,
    input  wire            s_axis_activations_tvalid,
    output wire            s_axis_activations_tready,
    input  wire            s_axis_activations_tlast,
    output wire [32*N-1:0] m_axis_results_tdata,
    output wire            m_axis_results_tvalid,
    input  wire            m_axis_results_tready,
    output wire            m_axis_results_tlast
);

    localparam LATENCY   = 1 + N / STAGE_ROWS + N - 1;  // of the last column
    localparam LOG_DEPTH = COLUMN_WIDTH + 2;

    reg  [8*N-1:0] rows_q [0:2*N-1];       // two tiles
    reg  [COLUMN_WIDTH-1:0] row_q, column_q;
    reg            fill_q, use_q;          // the buffer that fills, and the one in use
    reg  [1:0]     full_q;
    reg            loading_q, running_q;   // columns are on their way; rows of this tile were accepted
    reg  [LATENCY-1:0] valid_q, last_q;
    wire           space;
    wire           weights_move     = s_axis_weights_tvalid && s_axis_weights_tready;
    wire           activations_move = s_axis_activations_tvalid && s_axis_activations_tready;
    wire           start            = activations_move && !running_q;
    wire           load             = start || loading_q;

    assign s_axis_weights_tready     = !full_q[fill_q];
    // A tile's first row goes with its first column of weights, after the last column of the tile before.
    assign s_axis_activations_tready = space && (running_q || (full_q[use_q] && !loading_q));

    wire [8*N-1:0] column;
    genvar k;
    generate
        for (k = 0; k < N; k = k + 1) begin : gather
            wire [8*N-1:0] own = rows_q[{use_q, k[COLUMN_WIDTH-1:0]}];
            assign column[8*k +: 8] = own[8*column_q +: 8];
        end
    endgenerate

    always @(posedge aclk) begin
        if (weights_move) rows_q[{fill_q, row_q}] <= s_axis_weights_tdata;
        if (!aresetn) begin
            row_q     <= 0;
            column_q  <= 0;
            fill_q    <= 1'b0;
            use_q     <= 1'b0;
            full_q    <= 2'b00;
            loading_q <= 1'b0;
            running_q <= 1'b0;
            valid_q   <= 0;
            last_q    <= 0;
        end else begin
            valid_q <= {valid_q[LATENCY-2:0], activations_move};
            last_q  <= {last_q[LATENCY-2:0], s_axis_activations_tlast};
            if (weights_move) begin
                row_q <= s_axis_weights_tlast ? {COLUMN_WIDTH{1'b0}} : row_q + 1'b1;
                if (s_axis_weights_tlast) begin
                    full_q[fill_q] <= 1'b1;
                    fill_q         <= !fill_q;
                end
            end
            if (activations_move) running_q <= !s_axis_activations_tlast;
            if (load) begin
                column_q  <= column_q + 1'b1;
                loading_q <= column_q != N - 1;
                if (column_q == N - 1) begin
                    full_q[use_q] <= 1'b0;
                    use_q         <= !use_q;
                end
            end
        end
    end

    wire [32*N-1:0] skewed, sums;

    gemm64_array #(.N(N), .COLUMN_WIDTH(COLUMN_WIDTH), .STAGE_ROWS(STAGE_ROWS)) u_array (
        .clk_i              (aclk),
        .rst_ni             (aresetn),
        .weight_valid_i     (load),
        .weight_column_i    (column_q),
        .weight_i           (column),
        .activation_valid_i (activations_move),
        .activation_i       (s_axis_activations_tdata),
        .sum_o              (skewed),
        .edge_o             ()
    );

    deskew #(.N(N), .WIDTH(32)) u_deskew (.clk_i (aclk), .data_i (skewed), .data_o (sums));

    result_fifo #(.WIDTH(32*N + 1), .LOG_DEPTH(LOG_DEPTH)) u_fifo (
        .clk_i   (aclk),
        .rst_ni  (aresetn),
        .enter_i (activations_move),
        .space_o (space),
        .valid_i (valid_q[LATENCY-1]),
        .data_i  ({last_q[LATENCY-1], sums}),
        .valid_o (m_axis_results_tvalid),
        .ready_i (m_axis_results_tready),
        .data_o  ({m_axis_results_tlast, m_axis_results_tdata})
    );

endmodule

`default_nettype wire
