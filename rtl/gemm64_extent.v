// SPDX-License-Identifier: Apache-2.0
// Finds walks over memory that pass the end of the address space: address + count * times * N > 2**ADDRESS_WIDTH, in
// exact arithmetic.
// Latency: 2 clocks from valid_i to error_o. The engine that got the walk meanwhile has requested its first burst at
//          most, which lies where the address says.
// Handshake: none; a walk may be given in every clock.
`default_nettype none

module gemm64_extent #(
    parameter LOG_N         = 6,   // log2 of the bytes of a word
    parameter ADDRESS_WIDTH = 40   // bits of an address
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,     // synchronous, active low
    // Walk
    input  wire                     valid_i,
    input  wire [ADDRESS_WIDTH-1:0] address_i,  // a multiple of N
    input  wire [31:0]              count_i,    // words
    input  wire [31:0]              times_i,    // how often so many words follow each other
    input  wire [15:0]              tag_i,      // number of the command
    // It passes the end
    output wire                     error_o,
    output wire [15:0]              error_tag_o
);

    localparam ROOM_WIDTH = ADDRESS_WIDTH - LOG_N + 1;

    reg                  given_q, known_q;
    reg [31:0]           count_q, times_q;
    reg [63:0]           words_q;
    reg [ROOM_WIDTH-1:0] room_q, known_room_q;  // words from the address to the end
    reg [15:0]           tag_q, known_tag_q;

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (valid_i) begin
            count_q <= count_i;
            times_q <= times_i;
            room_q  <= {1'b1, {ROOM_WIDTH-1{1'b0}}} - {1'b0, address_i[ADDRESS_WIDTH-1:LOG_N]};
            tag_q   <= tag_i;
        end
        if (given_q) begin
            words_q      <= {32'd0, count_q} * {32'd0, times_q};
            known_room_q <= room_q;
            known_tag_q  <= tag_q;
        end
    end

    assign error_o     = known_q & words_q > {{64-ROOM_WIDTH{1'b0}}, known_room_q};
    assign error_tag_o = known_tag_q;

endmodule

`default_nettype wire
