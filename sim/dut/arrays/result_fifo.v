// SPDX-License-Identifier: Apache-2.0
// Takes the rows of results of an array that cannot wait. space_o counts rows that may still be sent into the array:
// each takes its place when it enters, not when it leaves.
// Latency: 1 cycle from valid_i to valid_o.
`default_nettype none

module result_fifo #(
    parameter WIDTH = 33,
    parameter LOG_DEPTH = 4
) (
    input  wire             clk_i,
    input  wire             rst_ni,
    input  wire             enter_i,  // a row enters the array
    output wire             space_o,
    input  wire             valid_i,  // a row leaves the array
    input  wire [WIDTH-1:0] data_i,
    output wire             valid_o,
    input  wire             ready_i,
    output wire [WIDTH-1:0] data_o
);

    localparam DEPTH = 1 << LOG_DEPTH;

    reg [WIDTH-1:0]     rows_q [0:DEPTH-1];
    reg [LOG_DEPTH:0]   head_q, tail_q, entered_q;
    wire                leave = valid_o && ready_i;

    assign valid_o = head_q != tail_q;
    assign data_o  = rows_q[head_q[LOG_DEPTH-1:0]];
    assign space_o = entered_q != DEPTH;

    always @(posedge clk_i) begin
        if (valid_i) rows_q[tail_q[LOG_DEPTH-1:0]] <= data_i;
        if (!rst_ni) begin
            head_q    <= 0;
            tail_q    <= 0;
            entered_q <= 0;
        end else begin
            if (valid_i) tail_q <= tail_q + 1'b1;
            if (leave) head_q <= head_q + 1'b1;
            entered_q <= entered_q + {{LOG_DEPTH{1'b0}}, enter_i} - {{LOG_DEPTH{1'b0}}, leave};
        end
    end

endmodule

`default_nettype wire
