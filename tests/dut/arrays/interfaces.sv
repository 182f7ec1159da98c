// SPDX-License-Identifier: Apache-2.0
// Interfaces with modports inside, columns as modules, a deep FIFO for results; 4-bit operands, 4 rows and 2 columns.
interface row_if #(parameter int W = 8) (input logic clk);
  logic valid, last;
  logic [W-1:0] data;
  modport source(output valid, last, data);
  modport sink(input valid, last, data);
endinterface

module column #(parameter int R = 4) (
    input logic clk, input logic load, input logic [1:0] row, input logic [3:0] weight,
    row_if.sink in, output logic signed [15:0] sum);
  logic signed [3:0] weights[R];
  always_ff @(posedge clk) begin
    if (load) weights[row] <= weight;
    begin
      automatic logic signed [15:0] s = 0;
      for (int r = 0; r < R; r++) s += $signed(in.data[4*r+:4]) * weights[r];
      sum <= s;
    end
  end
endmodule

module interfaces #(parameter int R = 4, parameter int C = 2, parameter int DEPTH = 64) (
    input logic aclk, input logic aresetn,
    input logic [4*C-1:0] s_axis_weights_tdata, input logic s_axis_weights_tvalid,
    output logic s_axis_weights_tready, input logic s_axis_weights_tlast,
    input logic [4*R-1:0] s_axis_activations_tdata, input logic s_axis_activations_tvalid,
    output logic s_axis_activations_tready, input logic s_axis_activations_tlast,
    output logic [16*C-1:0] m_axis_results_tdata, output logic m_axis_results_tvalid,
    input logic m_axis_results_tready, output logic m_axis_results_tlast
);
  row_if #(4 * R) activations(aclk);
  logic loaded;
  logic [1:0] row;
  logic [16*C:0] fifo[DEPTH];
  logic [$clog2(DEPTH):0] head, tail;
  logic [16*C-1:0] sums;
  logic push, push_last;

  assign activations.valid = s_axis_activations_tvalid && s_axis_activations_tready;
  assign activations.last = s_axis_activations_tlast;
  assign activations.data = s_axis_activations_tdata;
  assign s_axis_weights_tready = !loaded;
  assign s_axis_activations_tready = loaded && 32'(tail - head) < DEPTH - 2;
  assign m_axis_results_tvalid = head != tail;
  assign {m_axis_results_tlast, m_axis_results_tdata} = fifo[head[$clog2(DEPTH)-1:0]];

  for (genvar c = 0; c < C; c++) begin : g_column
    column #(R) i_column (.clk(aclk), .load(s_axis_weights_tvalid && s_axis_weights_tready), .row,
                          .weight(s_axis_weights_tdata[4*c+:4]), .in(activations), .sum(sums[16*c+:16]));
  end

  always_ff @(posedge aclk) begin
    push <= activations.valid && aresetn;
    push_last <= activations.last;
    if (push) fifo[tail[$clog2(DEPTH)-1:0]] <= {push_last, sums};
    if (!aresetn) begin
      {loaded, row, head, tail, push} <= '0;
    end else begin
      if (push) tail <= tail + 1;
      if (m_axis_results_tvalid && m_axis_results_tready) head <= head + 1;
      if (s_axis_weights_tvalid && s_axis_weights_tready) begin
        row <= s_axis_weights_tlast ? 0 : row + 1;
        loaded <= s_axis_weights_tlast;
      end
      if (activations.valid && activations.last) loaded <= 0;
    end
  end
endmodule
