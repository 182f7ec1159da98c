// SPDX-License-Identifier: Apache-2.0
// The textbook array of tests/bench with the AXI4-Stream ports of `gemm64 dut`. Its cells pass weights down, the last row
// of a tile first, so that rows are gathered before they enter; no activations may be in the array meanwhile.
`default_nettype none

module textbook_axis #(
    parameter N     = 8,
    parameter LOG_N = 3
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

    localparam LATENCY = 2 * N - 1;
    localparam GATHER = 2'd0, LOAD = 2'd1, RUN = 2'd2, DRAIN = 2'd3;

    reg  [8*N-1:0]     rows_q [0:N-1];
    reg  [1:0]         state_q;
    reg  [LOG_N-1:0]   row_q;
    reg  [LATENCY-1:0] valid_q, last_q;
    wire               space;
    wire               weights_move     = s_axis_weights_tvalid && s_axis_weights_tready;
    wire               activations_move = s_axis_activations_tvalid && s_axis_activations_tready;

    assign s_axis_weights_tready     = state_q == GATHER;
    assign s_axis_activations_tready = state_q == RUN && space;

    always @(posedge aclk) begin
        if (weights_move) rows_q[row_q] <= s_axis_weights_tdata;
        if (!aresetn) begin
            state_q <= GATHER;
            row_q   <= 0;
            valid_q <= 0;
            last_q  <= 0;
        end else begin
            valid_q <= {valid_q[LATENCY-2:0], activations_move};
            last_q  <= {last_q[LATENCY-2:0], s_axis_activations_tlast};
            case (state_q)
                GATHER: if (weights_move) begin
                    row_q <= s_axis_weights_tlast ? N - 1 : row_q + 1'b1;
                    if (s_axis_weights_tlast) state_q <= LOAD;
                end
                LOAD: begin
                    row_q <= row_q - 1'b1;
                    if (row_q == 0) begin
                        row_q   <= 0;
                        state_q <= RUN;
                    end
                end
                RUN:     if (activations_move && s_axis_activations_tlast) state_q <= DRAIN;
                default: if (valid_q == 0) state_q <= GATHER;
            endcase
        end
    end

    wire [32*N-1:0] skewed, sums;

    textbook_array #(.N(N)) u_array (
        .clk_i        (aclk),
        .load_i       (state_q == LOAD),
        .weight_i     (rows_q[row_q]),
        .activation_i (activations_move ? s_axis_activations_tdata : {8*N{1'b0}}),
        .sum_o        (skewed)
    );

    deskew #(.N(N), .WIDTH(32)) u_deskew (.clk_i (aclk), .data_i (skewed), .data_o (sums));

    result_fifo #(.WIDTH(32*N + 1), .LOG_DEPTH(LOG_N + 2)) u_fifo (
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
