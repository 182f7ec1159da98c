// SPDX-License-Identifier: Apache-2.0
// Finds walks over memory (of gemm64_bursts, RUN and STEP being the same) that pass the end of the address space, or of the tensor
// memory or the half of the address space before it: address + ((blocks - 1) * run + (count - 1) * stride + run) * N > end, in exact arithmetic.
// Latency: 2 cycles from valid_i to error_o. The engine that got the walk meanwhile has requested its first burst at
//          most, which the address selects.
// Handshake: none; a walk may be given in every cycle.
`default_nettype none

module gemm64_extent #(
    parameter LOG_N         = 6,   // log2 of the bytes of a word
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter TENSOR_WORDS  = 0    // words of the tensor memory
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,     // synchronous, active low
    // Walk
    input  wire                     look_i,     // these may be a walk; valid_i comes later in the cycle
    input  wire                     valid_i,
    input  wire [ADDRESS_WIDTH-1:0] address_i,  // a multiple of N
    input  wire [31:0]              run_i,      // words of a run
    input  wire [31:0]              count_i,    // runs of a block, at least 1
    input  wire [35:0]              stride_i,   // words from the start of a run to that of the next
    input  wire [31:0]              blocks_i,   // each begins where the first run of the block before it ends
    input  wire [15:0]              tag_i,      // number of the command
    input  wire                     tensor_i,   // the tensor memory serves the upper half of the address space
    // It passes the end
    output wire                     error_o,
    output wire [15:0]              error_tag_o
);

    localparam ROOM_WIDTH = ADDRESS_WIDTH - LOG_N + 1;

    reg                  given_q, known_q;
    reg [31:0]           run_q, blocks_q, strides_q;
    reg [35:0]           stride_q;
    wire [63:0]          first;      // words of all blocks' first runs
    wire [67:0]          rest;       // words from there to the start of the last run
    reg [ROOM_WIDTH-2:0] address_q;  // in words
    reg [ROOM_WIDTH-1:0] room_q;     // words from there to the end
    reg [15:0]           tag_q, known_tag_q;
    // In words: the end of the address space or, with a tensor memory, of the half that the walk begins in
    wire [ROOM_WIDTH-1:0] half  = {2'b01, {ROOM_WIDTH-2{1'b0}}};
    localparam [31:0]     WORDS = TENSOR_WORDS;
    wire [63:0]           words = {32'd0, WORDS};
    wire [ROOM_WIDTH-1:0] end_of_walk = ~tensor_i ? {1'b1, {ROOM_WIDTH-1{1'b0}}}
                                      : address_q[ROOM_WIDTH-2] ? half + words[ROOM_WIDTH-1:0] : half;

    always @(posedge clk_i) begin
        given_q <= valid_i & rst_ni;
        known_q <= given_q & rst_ni;
        if (look_i) begin
            run_q     <= run_i;
            blocks_q  <= blocks_i;
            stride_q  <= stride_i;
            strides_q <= count_i - 32'd1;
            address_q <= address_i[ADDRESS_WIDTH-1:LOG_N];
            tag_q     <= tag_i;
        end
        if (given_q) begin
            room_q      <= end_of_walk - {1'b0, address_q};
            known_tag_q <= tag_q;
        end
    end

    gemm64_product #(.A_WIDTH(32), .B_WIDTH(32)) u_first (
        .clk_i(clk_i), .valid_i(given_q), .a_i(run_q), .b_i(blocks_q), .product_o(first)
    );

    gemm64_product #(.A_WIDTH(36), .B_WIDTH(32)) u_rest (
        .clk_i(clk_i), .valid_i(given_q), .a_i(stride_q), .b_i(strides_q), .product_o(rest)
    );

    // What is left of the room is below zero where the walk passes the end. Neither part of a walk is longer than the whole
    // address space, or that is enough to know.
    wire                  huge = first[63:ROOM_WIDTH] != {64-ROOM_WIDTH{1'b0}}
                               | rest[67:ROOM_WIDTH] != {68-ROOM_WIDTH{1'b0}};
    wire [ROOM_WIDTH+1:0] left = {2'd0, room_q} - {2'd0, first[ROOM_WIDTH-1:0]} - {2'd0, rest[ROOM_WIDTH-1:0]};

    assign error_o     = known_q & (huge | left[ROOM_WIDTH+1]);
    assign error_tag_o = known_tag_q;

endmodule

`default_nettype wire
