// SPDX-License-Identifier: Apache-2.0
// Small queue whose first word falls through to the output.
// Latency: 1 cycle from a push to valid_o.
// Handshake: valid/ready on both sides; all outputs depend only on registers. With HEAD = 1 data_o is a register.
`default_nettype none

module gemm64_fifo #(
    parameter WIDTH     = 32,  // bits of an entry
    parameter LOG_DEPTH = 1,   // log2 of the number of entries; at least 1
    parameter HEAD      = 0    // 1: the entry that is shown has a register of its own, so that no path includes its selection
) (
    input  wire             clk_i,
    input  wire             rst_ni,   // synchronous, active low
    // Entry in
    input  wire             valid_i,
    output wire             ready_o,
    input  wire [WIDTH-1:0] data_i,
    // Entry out
    output wire             valid_o,
    input  wire             ready_i,
    output wire [WIDTH-1:0] data_o
);

    reg [WIDTH-1:0]   entries_q [0:(1 << LOG_DEPTH)-1];
    reg [LOG_DEPTH:0] head_q, tail_q;  // one bit more than an index: full and empty differ in it

    wire push = valid_i & ready_o;
    wire pop  = valid_o & ready_i;

    assign valid_o = head_q != tail_q;
    assign ready_o = (head_q ^ tail_q) != {1'b1, {LOG_DEPTH{1'b0}}};

    generate
        if (HEAD != 0) begin : own
            // An array of one, so that a simulator keeps aside what loads, not in every cycle what stays.
            reg [WIDTH-1:0] shown_q [0:0];
            wire [LOG_DEPTH:0] next = head_q + 1'b1;
            always @(posedge clk_i)
                if (push & (~valid_o | (pop & next == tail_q))) shown_q[0] <= data_i;
                else if (pop) shown_q[0] <= entries_q[next[LOG_DEPTH-1:0]];
            assign data_o = shown_q[0];
        end else begin : selected
            assign data_o = entries_q[head_q[LOG_DEPTH-1:0]];
        end
    endgenerate

    always @(posedge clk_i) begin
        if (push) entries_q[tail_q[LOG_DEPTH-1:0]] <= data_i;
        if (rst_ni) begin
            if (push) tail_q <= tail_q + 1'b1;
            if (pop) head_q <= head_q + 1'b1;
        end else begin
            head_q <= {LOG_DEPTH + 1{1'b0}};
            tail_q <= {LOG_DEPTH + 1{1'b0}};
        end
    end

endmodule

`default_nettype wire
