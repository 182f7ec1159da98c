// SPDX-License-Identifier: Apache-2.0
// One tile at a time by a state machine, a row of sums in one cycle: unpacked arrays, a package, operands of odd widths,
// unsigned weights, 3 rows and 5 columns.
package unpacked_rows_pkg;
  parameter int R = 3, C = 5, WB = 5, AB = 6, SB = 14;
  typedef logic unsigned [WB-1:0] weight_t;
  typedef logic signed [AB-1:0] activation_t;
  typedef logic signed [SB-1:0] sum_t;
  typedef enum logic [1:0] {LOAD, RUN, OUT} state_e;
endpackage

module unpacked_rows
  import unpacked_rows_pkg::*;
(
    input logic aclk, input logic aresetn,
    input logic [C*WB-1:0] s_axis_weights_tdata, input logic s_axis_weights_tvalid,
    output logic s_axis_weights_tready, input logic s_axis_weights_tlast,
    input logic [R*AB-1:0] s_axis_activations_tdata, input logic s_axis_activations_tvalid,
    output logic s_axis_activations_tready, input logic s_axis_activations_tlast,
    // Rounded up to whole bytes, as AXI4-Stream counts
    output logic [71:0] m_axis_results_tdata, output logic m_axis_results_tvalid,
    input logic m_axis_results_tready, output logic m_axis_results_tlast
);
  weight_t weights[R][C];
  sum_t sums[C];
  state_e state;
  int unsigned row;
  logic last;

  assign s_axis_weights_tready = state == LOAD;
  assign s_axis_activations_tready = state == RUN;
  assign m_axis_results_tvalid = state == OUT;
  assign m_axis_results_tlast = last;

  always_ff @(posedge aclk) begin
    if (!aresetn) begin
      state <= LOAD;
      row   <= 0;
    end else
      unique case (state)
        LOAD:
        if (s_axis_weights_tvalid) begin
          foreach (weights[, c]) weights[row][c] <= s_axis_weights_tdata[c*WB+:WB];
          row <= s_axis_weights_tlast ? 0 : row + 1;
          if (s_axis_weights_tlast) state <= RUN;
        end
        RUN:
        if (s_axis_activations_tvalid) begin
          for (int c = 0; c < C; c++) begin
            automatic sum_t sum = '0;
            for (int r = 0; r < R; r++)
              sum += sum_t'(activation_t'(s_axis_activations_tdata[r*AB+:AB])) * sum_t'($signed({1'b0, weights[r][c]}));
            sums[c] <= sum;
          end
          last  <= s_axis_activations_tlast;
          state <= OUT;
        end
        default: if (m_axis_results_tready) state <= last ? LOAD : RUN;
      endcase
  end

  always_comb begin
    m_axis_results_tdata = '0;
    foreach (sums[c]) m_axis_results_tdata[c*SB+:SB] = sums[c];
  end
endmodule
