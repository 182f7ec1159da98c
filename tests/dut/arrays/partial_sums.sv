// SPDX-License-Identifier: Apache-2.0
// Adds partial sums that enter with the activations; 4 rows and 3 columns, asynchronous reset.
module partial_sums #(parameter int R = 4, parameter int C = 3) (
    input logic aclk, input logic aresetn,
    input logic [8*C-1:0] s_axis_weights_tdata, input logic s_axis_weights_tvalid,
    output logic s_axis_weights_tready, input logic s_axis_weights_tlast,
    input logic [8*R-1:0] s_axis_activations_tdata, input logic s_axis_activations_tvalid,
    output logic s_axis_activations_tready, input logic s_axis_activations_tlast,
    input logic [32*C-1:0] s_axis_sums_tdata, input logic s_axis_sums_tvalid,
    output logic s_axis_sums_tready, input logic s_axis_sums_tlast,
    output logic [32*C-1:0] m_axis_results_tdata, output logic m_axis_results_tvalid,
    input logic m_axis_results_tready, output logic m_axis_results_tlast
);
  logic signed [R-1:0][C-1:0][7:0] weights;
  logic [$clog2(R)-1:0] row;
  logic loaded;
  wire space = !m_axis_results_tvalid || m_axis_results_tready;
  wire accept = loaded && space && s_axis_activations_tvalid && s_axis_sums_tvalid;
  assign s_axis_weights_tready = !loaded;
  assign s_axis_activations_tready = accept;
  assign s_axis_sums_tready = accept;
  always_ff @(posedge aclk or negedge aresetn)
    if (!aresetn) begin
      loaded <= 0;
      row <= 0;
      m_axis_results_tvalid <= 0;
    end else begin
      if (s_axis_weights_tvalid && !loaded) begin
        weights[row] <= s_axis_weights_tdata;
        row <= s_axis_weights_tlast ? 0 : row + 1;
        loaded <= s_axis_weights_tlast;
      end
      if (space) m_axis_results_tvalid <= accept;
      if (accept) begin
        loaded <= !s_axis_activations_tlast;
        m_axis_results_tlast <= s_axis_activations_tlast;
        for (int c = 0; c < C; c++) begin
          automatic logic signed [31:0] sum = s_axis_sums_tdata[32*c+:32];
          for (int r = 0; r < R; r++)
            sum += $signed(s_axis_activations_tdata[8*r+:8]) * $signed(weights[r][c]);
          m_axis_results_tdata[32*c+:32] <= sum;
        end
      end
    end
endmodule
