// SPDX-License-Identifier: Apache-2.0
// The array with the AXI4-Stream ports of `gemm64 dut`: put your own array here.
// A tile's results leave while the next tile computes.
`default_nettype none

module wrapper #(
    parameter N = 8
) (
    input  wire            aclk,
    input  wire            aresetn,
    // For each k of the tile, row k of the weights; byte c for column c
    input  wire [8*N-1:0]  s_axis_weights_tdata,
    input  wire            s_axis_weights_tvalid,
    output wire            s_axis_weights_tready,
    input  wire            s_axis_weights_tlast,
    // For each k of the tile, column k of the activations; byte r for row r
    input  wire [8*N-1:0]  s_axis_activations_tdata,
    input  wire            s_axis_activations_tvalid,
    output wire            s_axis_activations_tready,
    input  wire            s_axis_activations_tlast,
    // The tile's N rows of sums; column c in bits 32 * c and up
    output wire [32*N-1:0] m_axis_results_tdata,
    output wire            m_axis_results_tvalid,
    input  wire            m_axis_results_tready,
    output wire            m_axis_results_tlast
);

    reg        running_q;  // some of this tile's operands were accepted
    reg        busy_q;     // results of the tile before wait
    reg [15:0] wait_q;     // cycles until the first of them is complete
    reg [15:0] row_q;      // the one that leaves next

    // Both operands move together; a tile ends only when there is space for its results.
    wire last   = s_axis_activations_tlast;
    wire accept = s_axis_weights_tvalid && s_axis_activations_tvalid && !(last && busy_q);

    assign s_axis_weights_tready     = accept;
    assign s_axis_activations_tready = accept;
    assign m_axis_results_tvalid     = busy_q && wait_q == 0;
    assign m_axis_results_tlast      = row_q == N - 1;

    always @(posedge aclk) begin
        if (!aresetn) begin
            running_q <= 1'b0;
            busy_q    <= 1'b0;
            wait_q    <= 0;
            row_q     <= 0;
        end else begin
            if (accept) running_q <= !last;
            if (wait_q != 0) wait_q <= wait_q - 1;
            if (accept && last) begin
                busy_q <= 1'b1;
                wait_q <= N;
            end else if (m_axis_results_tvalid && m_axis_results_tready) begin
                busy_q <= !m_axis_results_tlast;
                row_q  <= m_axis_results_tlast ? 0 : row_q + 1;
            end
        end
    end

    array #(.N(N)) u_array (
        .clk_i        (aclk),
        .first_i      (accept && !running_q),
        .last_i       (accept && last),
        .activation_i (accept ? s_axis_activations_tdata : {8*N{1'b0}}),
        .weight_i     (accept ? s_axis_weights_tdata : {8*N{1'b0}}),
        .row_i        (row_q),
        .result_o     (m_axis_results_tdata)
    );

endmodule

`default_nettype wire
