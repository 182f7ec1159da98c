// SPDX-License-Identifier: Apache-2.0
// Verilog-1995 style without backpressure: TREADY is tied high, results leave when they are there.
module no_backpressure (aclk, aresetn,
    s_axis_weights_tdata, s_axis_weights_tvalid, s_axis_weights_tready, s_axis_weights_tlast,
    s_axis_activations_tdata, s_axis_activations_tvalid, s_axis_activations_tready, s_axis_activations_tlast,
    m_axis_results_tdata, m_axis_results_tvalid, m_axis_results_tready, m_axis_results_tlast);
parameter N = 2;
input aclk, aresetn;
input [8*N-1:0] s_axis_weights_tdata, s_axis_activations_tdata;
input s_axis_weights_tvalid, s_axis_weights_tlast, s_axis_activations_tvalid, s_axis_activations_tlast, m_axis_results_tready;
output s_axis_weights_tready, s_axis_activations_tready, m_axis_results_tvalid, m_axis_results_tlast;
output [24*N-1:0] m_axis_results_tdata;
reg [8*N*N-1:0] weights;
reg [24*N-1:0] stage1, stage2;
reg [1:0] valid, last;
integer r, c;
assign s_axis_weights_tready = 1;
assign s_axis_activations_tready = 1;
assign m_axis_results_tvalid = valid[1];
assign m_axis_results_tlast = last[1];
assign m_axis_results_tdata = stage2;
always @(posedge aclk or negedge aresetn)
  if (!aresetn) begin valid <= #1 0; last <= #1 0; end
  else begin
    valid <= #1 {valid[0], s_axis_activations_tvalid};
    last <= #1 {last[0], s_axis_activations_tlast};
  end
reg [24*N-1:0] sum;
always @(posedge aclk) begin
  if (s_axis_weights_tvalid) weights <= #1 {s_axis_weights_tdata, weights[8*N*N-1:8*N]};
  for (c = 0; c < N; c = c + 1) begin
    sum[24*c +: 24] = 0;
    for (r = 0; r < N; r = r + 1)
      sum[24*c +: 24] = $signed(sum[24*c +: 24]) + $signed(weights[8*(N*r+c) +: 8]) * $signed(s_axis_activations_tdata[8*r +: 8]);
  end
  stage1 <= #1 sum;
  stage2 <= #1 stage1;
end
endmodule
