// SPDX-License-Identifier: Apache-2.0
// Read port of the test bench's memory (gemm64_tb.memory). Without stalls: AR is always taken; a burst taken in cycle t
// is answered from cycle t + latency on, a beat per cycle, in order. With stalls a channel holds back in that many percent
// of the cycles. Reports what AXI4 forbids.
`default_nettype none

module axi_read_port #(
    parameter N    = 4,  // bytes of a beat
    parameter SEED = 1,
    parameter ID   = 1   // bits of an ID
) (
    input  wire           clk,
    input  wire           rst_n,
    input  wire [31:0]    latency,
    input  wire [31:0]    stalls,
    input  wire           arvalid,
    output reg            arready,
    input  wire [ID-1:0]  arid,
    input  wire [39:0]    araddr,
    input  wire [7:0]     arlen,
    input  wire [2:0]     arsize,
    input  wire [1:0]     arburst,
    output reg            rvalid,
    input  wire           rready,
    output reg  [ID-1:0]  rid,
    output reg  [8*N-1:0] rdata,
    output reg  [1:0]     rresp,
    output reg            rlast
);

    localparam BURSTS = 64;

    reg [39:0] address [0:BURSTS-1];
    reg [7:0]  length  [0:BURSTS-1];
    reg [ID-1:0] id    [0:BURSTS-1];
    integer    due     [0:BURSTS-1];
    integer    head, tail, beat, clock, seed, h;
    reg [51+ID:0] waiting;  // valid, and what is offered

    wire [12:0] burst_end = {1'b0, araddr[11:0]} + (arlen + 13'd1) * N;

    always @(posedge clk)
        if (!rst_n) begin
            arready <= 1'b0;
            rvalid  <= 1'b0;
            head    = 0;
            tail    = 0;
            beat    = 0;
            clock   = 0;
            seed    = SEED;
            waiting = {52+ID{1'b0}};
        end else begin
            if (waiting[51+ID] && {arvalid, arid, araddr, arlen, arsize} !== waiting)
                $display("error: %m: AR changed before it was taken");
            waiting = {arvalid & ~arready, arid, araddr, arlen, arsize};
            if (rvalid && rready) begin
                beat = beat + 1;
                if (rlast) begin
                    beat = 0;
                    head = head + 1;
                end
            end
            if (arvalid && arready) begin
                if (arlen > 63 || (1 << arsize) != N || arburst != 2'b01 || araddr % N != 0 || burst_end > 13'd4096)
                    $display("error: %m: burst of %0d beats at %h", arlen + 1, araddr);
                address[tail % BURSTS] = araddr;
                length[tail % BURSTS]  = arlen;
                id[tail % BURSTS]      = arid;
                due[tail % BURSTS]     = clock + latency;
                tail                   = tail + 1;
            end
            clock = clock + 1;
            arready <= $unsigned($random(seed)) % 100 >= stalls;
            if (!rvalid || rready) begin
                h = head % BURSTS;
                if (head != tail && due[h] <= clock && $unsigned($random(seed)) % 100 >= stalls) begin
                    rvalid <= 1'b1;
                    rid    <= id[h];
                    rdata  <= gemm64_tb.memory[address[h] / N + beat];
                    rresp  <= 2'b00;
                    rlast  <= beat == length[h];
                end else begin
                    rvalid <= 1'b0;
                    rid    <= {ID{1'bx}};
                    rdata  <= {8*N{1'bx}};
                    rresp  <= 2'bxx;
                    rlast  <= 1'bx;
                end
            end
        end

endmodule

`default_nettype wire
