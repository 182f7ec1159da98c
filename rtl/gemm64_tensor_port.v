// SPDX-License-Identifier: Apache-2.0
// The requests of the tensor memory: bursts that two readers ask for, of which the one at place 0 goes first, and bursts of results.
// Latency: 2 cycles from a read's request to its first beat, then a beat per cycle. A beat of results is accepted from the
//          cycle after its burst's address on; the answer comes in the cycle after a burst's last beat.
// Handshake: valid/ready for requests, beats of reads come unasked: readers reserve space before they request. The addresses of
//            results are accepted at once, since no more than 2**LOG_WRITES bursts are unanswered; their beats valid/ready.
`default_nettype none

module gemm64_tensor_port #(
    parameter LOG_N         = 6,   // log2 of the bytes of a word
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter WORDS_WIDTH   = 14,  // bits of a word's number
    parameter LOG_READS     = 4,   // log2 of the read bursts outstanding, for each reader
    parameter LOG_WRITES    = 4    // log2 of the write bursts outstanding
) (
    input  wire                       clk_i,
    input  wire                       rst_ni,  // synchronous, active low
    // Read requests, of each reader at its place
    input  wire [1:0]                 valid_i,
    output wire [1:0]                 ready_o,
    input  wire [ADDRESS_WIDTH*2-1:0] address_i,
    input  wire [7*2-1:0]             beats_i,  // 1 to 64
    input  wire [16*2-1:0]            tag_i,    // number of the command
    output wire [1:0]                 beat_o,   // the word that was read is for this reader
    output wire                       last_o,   // the last of its burst
    output wire [15:0]                tag_o,    // the command that read two cycles ago
    // Results
    input  wire                       awvalid_i,
    input  wire [ADDRESS_WIDTH-1:0]   awaddr_i,
    input  wire                       wvalid_i,
    output wire                       wready_o,
    input  wire                       wlast_i,
    output reg                        bvalid_o,  // one more burst is written
    // Memory
    output wire                       read_o,
    output wire [WORDS_WIDTH-1:0]     read_address_o,
    output wire                       write_o,
    output wire [WORDS_WIDTH-1:0]     write_address_o
);

    localparam READ_WIDTH = 1 + 16 + 7 + WORDS_WIDTH;

    wire [WORDS_WIDTH-1:0] address_0 = address_i[LOG_N +: WORDS_WIDTH];
    wire [WORDS_WIDTH-1:0] address_1 = address_i[ADDRESS_WIDTH + LOG_N +: WORDS_WIDTH];
    wire                   reader, last;
    wire [6:0]             beats;
    wire [15:0]            tag;
    wire [WORDS_WIDTH-1:0] first;
    reg  [6:0]             beat_q;  // words of the burst that have been read
    reg  [1:0]             shown_q;
    reg                    last_q;
    reg  [15:0]            tag_q, shown_tag_q;

    assign ready_o = {~valid_i[0], 1'b1};

    gemm64_fifo #(.WIDTH(READ_WIDTH), .LOG_DEPTH(LOG_READS + 1), .HEAD(1)) u_reads (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (valid_i != 2'd0),
        .ready_o (),  // each reader has at most 2**LOG_READS bursts outstanding
        .data_i  (valid_i[0] ? {1'b0, tag_i[15:0], beats_i[6:0], address_0} : {1'b1, tag_i[31:16], beats_i[13:7], address_1}),
        .valid_o (read_o),
        .ready_i (last),
        .data_o  ({reader, tag, beats, first})
    );

    assign last           = beat_q == beats - 7'd1;
    assign read_address_o = first + {{WORDS_WIDTH-7{1'b0}}, beat_q};
    assign beat_o         = shown_q;
    assign last_o         = last_q;
    assign tag_o          = shown_tag_q;

    always @(posedge clk_i) begin
        if (!rst_ni) beat_q <= 7'd0;
        else if (read_o) beat_q <= last ? 7'd0 : beat_q + 7'd1;
        shown_q <= {reader, ~reader} & {2{read_o & rst_ni}};
        if (read_o) {last_q, tag_q} <= {last, tag};
        shown_tag_q <= tag_q;
    end

    wire                   burst_valid, end_of_burst;
    wire [WORDS_WIDTH-1:0] write_first;
    reg  [WORDS_WIDTH-1:0] written_q;  // words of the burst

    gemm64_fifo #(.WIDTH(WORDS_WIDTH), .LOG_DEPTH(LOG_WRITES), .HEAD(1)) u_writes (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (awvalid_i),
        .ready_o (),
        .data_i  (awaddr_i[LOG_N +: WORDS_WIDTH]),
        .valid_o (burst_valid),
        .ready_i (end_of_burst),
        .data_o  (write_first)
    );

    assign wready_o        = burst_valid;
    assign write_o         = wvalid_i & burst_valid;
    assign write_address_o = write_first + written_q;
    assign end_of_burst    = write_o & wlast_i;

    always @(posedge clk_i) begin
        bvalid_o <= end_of_burst & rst_ni;
        if (!rst_ni | end_of_burst) written_q <= {WORDS_WIDTH{1'b0}};
        else if (write_o) written_q <= written_q + 1'b1;
    end

endmodule

`default_nettype wire
