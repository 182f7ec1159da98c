// SPDX-License-Identifier: Apache-2.0
// Register in front of an AXI address channel (AR or AW), so that its signals stay put until they are accepted.
// Latency: 1 cycle. Takes a request per cycle while the channel accepts.
// Handshake: valid/ready on both sides; ready_o depends on ready_i.
`default_nettype none

module gemm64_request #(
    parameter LOG_N         = 6,   // log2 of the bytes of a beat
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter ID_WIDTH      = 1    // bits of an ID
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,      // synchronous, active low
    // Request
    input  wire                     valid_i,
    output wire                     ready_o,
    input  wire [ID_WIDTH-1:0]      id_i,
    input  wire [ADDRESS_WIDTH-1:0] address_i,
    input  wire [6:0]               beats_i,     // 1 to 64
    // AXI4 address channel
    output reg                      axvalid_o,
    input  wire                     axready_i,
    output reg  [ID_WIDTH-1:0]      axid_o,
    output reg  [ADDRESS_WIDTH-1:0] axaddr_o,
    output reg  [7:0]               axlen_o,
    output wire [2:0]               axsize_o,
    output wire [1:0]               axburst_o
);

    localparam [1:0] INCR = 2'b01;

    assign ready_o   = ~axvalid_o | axready_i;
    assign axsize_o  = LOG_N[2:0];
    assign axburst_o = INCR;

    always @(posedge clk_i) begin
        if (!rst_ni) axvalid_o <= 1'b0;
        else if (ready_o) axvalid_o <= valid_i;
        if (ready_o) begin
            axid_o   <= id_i;
            axaddr_o <= address_i;
            axlen_o  <= {1'b0, beats_i} - 8'd1;
        end
    end

`ifdef GEMM64_CHECKS
    // AXI: a request stays as it is until it is accepted.
    localparam PAYLOAD_WIDTH = ID_WIDTH + ADDRESS_WIDTH + 8;
    reg                      held_q;
    reg  [PAYLOAD_WIDTH-1:0] payload_q;
    wire [PAYLOAD_WIDTH-1:0] payload = {axid_o, axaddr_o, axlen_o};
    always @(posedge clk_i) begin
        held_q    <= rst_ni & axvalid_o & ~axready_i;
        payload_q <= payload;
        if (rst_ni & held_q & (~axvalid_o | payload != payload_q)) begin
            $display("gemm64_request: a request changed before it was accepted");
            $stop;
        end
    end
`endif

endmodule

`default_nettype wire
