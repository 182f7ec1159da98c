// SPDX-License-Identifier: Apache-2.0
// Finds walks over memory (of gemm64_bursts, RUN and STEP being the same) that pass the end of the address space: address +
// ((blocks - 1) * run + (count - 1) * stride + run) * N > 2**ADDRESS_WIDTH, in exact arithmetic.
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
    input  wire [31:0]              run_i,      // words of a run
    input  wire [31:0]              count_i,    // runs of a block, at least 1
    input  wire [35:0]              stride_i,   // words from the start of a run to that of the next
    input  wire [31:0]              blocks_i,   // each begins where the first run of the block before it ends
    input  wire [15:0]              tag_i,      // number of the command
    // It passes the end
    output wire                     error_o,
    output wire [15:0]              error_tag_o
);

    localparam ROOM_WIDTH = ADDRESS_WIDTH - LOG_N + 1;

    reg                  given_q, known_q;
    reg [31:0]           run_q, blocks_q, strides_q;
    reg [35:0]           stride_q;
    reg [63:0]           first_q;  // words of all blocks' first runs
    reg [67:0]           rest_q;   // words from there to the start of the last run
    reg [ROOM_WIDTH-1:0] room_q, known_room_q;  // words from the address to the end
    reg [15:0]           tag_q, known_tag_q;

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (valid_i) begin
            run_q     <= run_i;
            blocks_q  <= blocks_i;
            stride_q  <= stride_i;
            strides_q <= count_i - 32'd1;
            room_q    <= {1'b1, {ROOM_WIDTH-1{1'b0}}} - {1'b0, address_i[ADDRESS_WIDTH-1:LOG_N]};
            tag_q     <= tag_i;
        end
        if (given_q) begin
            first_q      <= {32'd0, run_q} * {32'd0, blocks_q};
            rest_q       <= {32'd0, stride_q} * {36'd0, strides_q};
            known_room_q <= room_q;
            known_tag_q  <= tag_q;
        end
    end

    // No room has more than 63 bits.
    wire        huge  = first_q[63] | rest_q[67:63] != 5'd0;
    wire [63:0] words = {1'b0, first_q[62:0]} + {1'b0, rest_q[62:0]};

    assign error_o     = known_q & (huge | words > {{64-ROOM_WIDTH{1'b0}}, known_room_q});
    assign error_tag_o = known_tag_q;

endmodule

`default_nettype wire
