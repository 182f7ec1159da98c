// SPDX-License-Identifier: Apache-2.0
// Every word that goes into gemm64_fifo comes out once, in order. Words are numbered as they go in and out; the proof
// follows one of them, whichever it is.
//
// short
// break gemm64_fifo.v: push = valid_i & ready_o -> push = valid_i
// prove induction 1, cover 12; LOG_DEPTH=1,HEAD=0 LOG_DEPTH=2,HEAD=0 LOG_DEPTH=1,HEAD=1 LOG_DEPTH=2,HEAD=1
// probe head_q = dut.head_q
// probe tail_q = dut.tail_q
// probe entry_0 = dut.entries_q[0]
// probe entry_1 = dut.entries_q[1]
// probe entry_2 = dut.entries_q[0] where LOG_DEPTH=1
// probe entry_3 = dut.entries_q[1] where LOG_DEPTH=1
// probe entry_2 = dut.entries_q[2] where LOG_DEPTH=2
// probe entry_3 = dut.entries_q[3] where LOG_DEPTH=2
module fifo_proof #(
    parameter LOG_DEPTH = 2,
    parameter HEAD      = 0
) ();

    localparam COUNT = LOG_DEPTH + 3;  // bits of a number; numbers come again long after the word has left

    gemm64_fifo #(.WIDTH(8), .LOG_DEPTH(LOG_DEPTH), .HEAD(HEAD)) dut (.*);

    (* keep *) wire [LOG_DEPTH:0] head_q, tail_q;
    (* keep *) wire [7:0] entry_0, entry_1, entry_2, entry_3;

    reg              begun = 1'b0;
    reg [COUNT-1:0]  in = 0, out = 0;
    wire [COUNT-1:0] held = in - out;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (!rst_ni) begin
            in  <= 0;
            out <= 0;
        end else begin
            if (valid_i & ready) in <= in + 1'b1;
            if (valid & ready_i) out <= out + 1'b1;
        end
    end

    (* anyconst *) reg [COUNT-1:0] number;
    reg [7:0]        word;
    wire [COUNT-1:0] before = number - out;
    wire             inside = before < held;
    wire [7:0]       entry  = number[1] ? (number[0] ? entry_3 : entry_2) : (number[0] ? entry_1 : entry_0);
    always @(posedge clk_i) if (rst_ni & valid_i & ready & in == number) word <= data_i;

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            // How the queue's registers and the numbers belong together
            assert (tail_q == in[LOG_DEPTH:0]);
            assert (head_q == out[LOG_DEPTH:0]);
            assert (held <= 1 << LOG_DEPTH);
            if (inside) assert (entry == word);
            // What is promised
            assert (valid == (held != 0));
            assert (ready == (held != 1 << LOG_DEPTH));
            if (valid & out == number) assert (data == word);
        end
        cover (begun & rst_ni & held == 1 << LOG_DEPTH & valid & ready_i);
    end

endmodule
