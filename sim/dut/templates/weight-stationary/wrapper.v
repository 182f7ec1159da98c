// SPDX-License-Identifier: Apache-2.0
// The array with the AXI4-Stream ports of `gemm64 dut`: put your own array here.
// The next tile's weights enter while this tile computes.
`default_nettype none

module wrapper #(
    parameter N = 8
) (
    input  wire            aclk,
    input  wire            aresetn,
    // A tile's N rows of weights, in order; byte c for column c
    input  wire [8*N-1:0]  s_axis_weights_tdata,
    input  wire            s_axis_weights_tvalid,
    output wire            s_axis_weights_tready,
    input  wire            s_axis_weights_tlast,
    // Rows of activations; byte k for row k of the array
    input  wire [8*N-1:0]  s_axis_activations_tdata,
    input  wire            s_axis_activations_tvalid,
    output wire            s_axis_activations_tready,
    input  wire            s_axis_activations_tlast,
    // A row of sums for each row of activations; column c in bits 32 * c and up
    output wire [32*N-1:0] m_axis_results_tdata,
    output wire            m_axis_results_tvalid,
    input  wire            m_axis_results_tready,
    output wire            m_axis_results_tlast
);

    localparam LATENCY = 2 * N - 1;

    reg [LATENCY-1:0] valid_q, last_q;  // of the rows in the array
    reg [N-1:0]       row_q;            // one bit: the row of weights that comes next
    reg               full_q;           // the next tile's weights are there
    reg               running_q;        // some of this tile's activations were accepted
    reg [15:0]        settle_q;         // cycles in which cells still switch to this tile

    // All stands still while a result waits.
    wire move = !m_axis_results_tvalid || m_axis_results_tready;
    wire weights_move     = s_axis_weights_tvalid && s_axis_weights_tready;
    wire activations_move = s_axis_activations_tvalid && s_axis_activations_tready;

    assign s_axis_weights_tready     = move && !full_q && settle_q == 0;
    assign s_axis_activations_tready = move && (running_q || full_q);
    assign m_axis_results_tvalid     = valid_q[LATENCY-1];
    assign m_axis_results_tlast      = last_q[LATENCY-1];

    always @(posedge aclk) begin
        if (!aresetn) begin
            valid_q   <= 0;
            last_q    <= 0;
            row_q     <= 1;
            full_q    <= 1'b0;
            running_q <= 1'b0;
            settle_q  <= 0;
        end else begin
            if (move) begin
                valid_q <= {valid_q[LATENCY-2:0], activations_move};
                last_q  <= {last_q[LATENCY-2:0], activations_move && s_axis_activations_tlast};
                if (settle_q != 0) settle_q <= settle_q - 1;
            end
            if (weights_move) begin
                row_q <= s_axis_weights_tlast ? 1 : row_q << 1;
                if (s_axis_weights_tlast) full_q <= 1'b1;
            end
            if (activations_move) begin
                running_q <= !s_axis_activations_tlast;
                if (!running_q) begin
                    full_q   <= 1'b0;
                    settle_q <= N;
                end
            end
        end
    end

    array #(.N(N)) u_array (
        .clk_i        (aclk),
        .move_i       (move),
        .load_i       (weights_move ? row_q : {N{1'b0}}),
        .weight_i     (s_axis_weights_tdata),
        .switch_i     (activations_move && !running_q),
        .activation_i (s_axis_activations_tdata),
        .sum_o        (m_axis_results_tdata)
    );

endmodule

`default_nettype wire
