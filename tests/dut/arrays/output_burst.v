// SPDX-License-Identifier: Apache-2.0
// Output-stationary, 2 rows and 3 columns, at most 16 beats a tile: both operands are gathered first, sums are computed
// one product per cell and cycle, and results come late and in a burst.
`default_nettype none
module output_burst #(parameter R = 2, C = 3, K = 16) (
    input wire aclk, input wire aresetn,
    input wire [8*C-1:0] s_axis_weights_tdata, input wire s_axis_weights_tvalid,
    output wire s_axis_weights_tready, input wire s_axis_weights_tlast,
    input wire [8*R-1:0] s_axis_activations_tdata, input wire s_axis_activations_tvalid,
    output wire s_axis_activations_tready, input wire s_axis_activations_tlast,
    output wire [32*C-1:0] m_axis_results_tdata, output wire m_axis_results_tvalid,
    input wire m_axis_results_tready, output wire m_axis_results_tlast
);
    reg [8*C-1:0] weights_q [0:K-1];
    reg [8*R-1:0] activations_q [0:K-1];
    reg [4:0] w_q, a_q, k_q;
    reg w_end_q, a_end_q, out_q;
    reg [1:0] row_q;
    reg [32*R*C-1:0] sums_q;
    integer r, c;
    assign s_axis_weights_tready = !w_end_q;
    assign s_axis_activations_tready = !a_end_q;
    assign m_axis_results_tvalid = out_q;
    assign m_axis_results_tlast = row_q == R - 1;
    assign m_axis_results_tdata = sums_q[32*C*row_q +: 32*C];
    always @(posedge aclk)
        if (!aresetn) begin
            {w_q, a_q, k_q, w_end_q, a_end_q, out_q, row_q} <= 0;
            sums_q <= 0;
        end else begin
            if (s_axis_weights_tvalid && s_axis_weights_tready) begin
                weights_q[w_q[3:0]] <= s_axis_weights_tdata;
                w_q <= w_q + 1;
                w_end_q <= s_axis_weights_tlast;
            end
            if (s_axis_activations_tvalid && s_axis_activations_tready) begin
                activations_q[a_q[3:0]] <= s_axis_activations_tdata;
                a_q <= a_q + 1;
                a_end_q <= s_axis_activations_tlast;
            end
            if (w_end_q && a_end_q && !out_q) begin
                for (r = 0; r < R; r = r + 1)
                    for (c = 0; c < C; c = c + 1)
                        sums_q[32*(C*r+c) +: 32] <= $signed(sums_q[32*(C*r+c) +: 32])
                            + $signed(activations_q[k_q[3:0]][8*r +: 8]) * $signed(weights_q[k_q[3:0]][8*c +: 8]);
                k_q <= k_q + 1;
                out_q <= k_q + 1 == w_q;
            end
            if (out_q && m_axis_results_tready) begin
                row_q <= row_q + 1;
                if (m_axis_results_tlast) begin
                    {w_q, a_q, k_q, w_end_q, a_end_q, out_q, row_q} <= 0;
                    sums_q <= 0;
                end
            end
        end
endmodule
