// SPDX-License-Identifier: Apache-2.0
// Counts cycles by engine and cause, and bytes by port; keeps a snapshot of them all and gives it away beat by beat.
// Latency: an event is in its counter 1 cycle later; value_o follows select_i at once. A snapshot holds the counters as
//          they are in the clock of take_i; its first beat is there 1 cycle later.
// Handshake: none.
`default_nettype none

module gemm64_counters #(
    parameter COUNTERS     = 34,  // counters in all
    parameter BYTES        = 29,  // the first that counts beats in bytes; those before count cycles
    parameter N            = 64,  // bytes of a beat, a power of two
    parameter SELECT_WIDTH = 6    // bits of a counter's index
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,    // synchronous, active low
    input  wire                    clear_i,   // all counters to zero
    input  wire [COUNTERS-1:0]     event_i,   // one bit for each counter
    input  wire [SELECT_WIDTH-1:0] select_i,
    output wire [63:0]             value_o,
    // Snapshot
    input  wire                    take_i,    // keep the counters of this cycle
    input  wire                    next_i,    // the beat was taken, show the next
    output wire [8*N-1:0]          beat_o
);

    localparam LOG_N = $clog2(N);
    localparam BEATS = (8 * COUNTERS + N - 1) / N;  // of a snapshot

    // An event is kept for a cycle before it is added, since many come late in theirs. A count is both of them together.
    reg  [COUNTERS-1:0] event_q;
    wire [63:0]         counter [0:COUNTERS-1];  // cycles or beats
    integer i;

    wire [63:0] count = counter[select_i] + {63'd0, event_q[select_i]};
    assign value_o = select_i < BYTES[SELECT_WIDTH-1:0] ? count : count << LOG_N;

    always @(posedge clk_i) event_q <= !rst_ni | clear_i ? {COUNTERS{1'b0}} : event_i;

    // Registers of their own: a simulator would keep words of an array aside in every cycle.
    genvar g;
    generate
        for (g = 0; g < COUNTERS; g = g + 1) begin : one
            reg [63:0] counter_q;
            always @(posedge clk_i) counter_q <= !rst_ni | clear_i ? 64'd0 : counter_q + {63'd0, event_q[g]};
            assign counter[g] = counter_q;
        end
    endgenerate

    // The counters concatenated in their order in memory, only where they are registered: a wire of them would cost
    // the simulation time in every cycle.
    reg [8*N*BEATS-1:0] values, snapshot_q;

    assign beat_o = snapshot_q[8*N-1:0];

    always @(posedge clk_i)
        if (take_i) begin
            values = {8*N*BEATS{1'b0}};
            for (i = 0; i < COUNTERS; i = i + 1)
                values[64*i +: 64] = (counter[i] + {63'd0, event_q[i]}) << (i < BYTES ? 0 : LOG_N);
            snapshot_q <= values;
        end else if (next_i) snapshot_q <= snapshot_q >> (8 * N);

endmodule

`default_nettype wire
