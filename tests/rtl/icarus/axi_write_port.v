// SPDX-License-Identifier: Apache-2.0
// Write port of the test bench's memory (gemm64_tb.memory). Without stalls: AW and W are always taken; the answer comes
// latency cycles after the later of a burst's address and last beat. With stalls a channel holds back in that many
// percent of the cycles. Reports what AXI4 forbids.
`default_nettype none

module axi_write_port #(
    parameter N    = 4,  // bytes of a beat
    parameter SEED = 1
) (
    input  wire           clk,
    input  wire           rst_n,
    input  wire [31:0]    latency,
    input  wire [31:0]    stalls,
    input  wire           awvalid,
    output reg            awready,
    input  wire           awid,
    input  wire [39:0]    awaddr,
    input  wire [7:0]     awlen,
    input  wire [2:0]     awsize,
    input  wire [1:0]     awburst,
    input  wire           wvalid,
    output reg            wready,
    input  wire [8*N-1:0] wdata,
    input  wire [N-1:0]   wstrb,
    input  wire           wlast,
    output reg            bvalid,
    input  wire           bready,
    output reg            bid,
    output reg  [1:0]     bresp
);

    localparam BURSTS = 64;
    localparam BEATS  = 256;

    reg [39:0]    address [0:BURSTS-1];
    reg [7:0]     length  [0:BURSTS-1];
    reg           id      [0:BURSTS-1];
    integer       due     [0:BURSTS-1];
    reg [8*N-1:0] data    [0:BEATS-1];
    reg           ends    [0:BEATS-1];
    integer       addresses, bursts, answers;  // taken, complete, given
    integer       beats, written, beat;        // taken, written, of the burst
    integer       clock, seed, b;
    reg [52:0]    aw_waiting;
    reg [8*N+1:0] w_waiting;

    wire [12:0] burst_end = {1'b0, awaddr[11:0]} + (awlen + 13'd1) * N;

    always @(posedge clk)
        if (!rst_n) begin
            awready    <= 1'b0;
            wready     <= 1'b0;
            bvalid     <= 1'b0;
            addresses  = 0;
            bursts     = 0;
            answers    = 0;
            beats      = 0;
            written    = 0;
            beat       = 0;
            clock      = 0;
            seed       = SEED;
            aw_waiting = 53'd0;
            w_waiting  = {8*N+2{1'b0}};
        end else begin
            if (aw_waiting[52] && {awvalid, awid, awaddr, awlen, awsize} !== aw_waiting)
                $display("error: %m: AW changed before it was taken");
            if (w_waiting[8*N+1] && {wvalid, wlast, wdata} !== w_waiting)
                $display("error: %m: W changed before it was taken");
            aw_waiting = {awvalid & ~awready, awid, awaddr, awlen, awsize};
            w_waiting  = {wvalid & ~wready, wlast, wdata};
            if (bvalid && bready) answers = answers + 1;
            if (awvalid && awready) begin
                if (awlen > 63 || (1 << awsize) != N || awburst != 2'b01 || awaddr % N != 0 || burst_end > 13'd4096)
                    $display("error: %m: burst of %0d beats at %h", awlen + 1, awaddr);
                address[addresses % BURSTS] = awaddr;
                length[addresses % BURSTS]  = awlen;
                id[addresses % BURSTS]      = awid;
                addresses                   = addresses + 1;
            end
            if (wvalid && wready) begin
                if (wstrb !== {N{1'b1}}) $display("error: %m: strobes %b", wstrb);
                data[beats % BEATS]  = wdata;
                ends[beats % BEATS] = wlast;
                beats                = beats + 1;
            end
            // Beats that have their address go to memory.
            while (written != beats && bursts != addresses) begin
                b = bursts % BURSTS;
                gemm64_tb.memory[address[b] / N + beat] = data[written % BEATS];
                if (ends[written % BEATS] !== (beat == length[b])) $display("error: %m: WLAST at beat %0d", beat);
                written = written + 1;
                beat    = beat + 1;
                if (beat > length[b]) begin
                    beat   = 0;
                    due[b] = clock + latency;
                    bursts = bursts + 1;
                end
            end
            clock = clock + 1;
            awready <= $unsigned($random(seed)) % 100 >= stalls;
            wready  <= $unsigned($random(seed)) % 100 >= stalls;
            if (!bvalid || bready) begin
                b = answers % BURSTS;
                if (answers != bursts && due[b] <= clock && $unsigned($random(seed)) % 100 >= stalls) begin
                    bvalid <= 1'b1;
                    bid    <= id[b];
                    bresp  <= 2'b00;
                end else begin
                    bvalid <= 1'b0;
                    bid    <= 1'bx;
                    bresp  <= 2'bxx;
                end
            end
        end

endmodule

`default_nettype wire
