// SPDX-License-Identifier: Apache-2.0
// The scratchpad: a memory of words in two banks. While tensor_i is high, its last TENSOR_WORDS words are the tensor memory, with
// a write port and a read port of their own; else all words belong to the ports of the scratchpad.
// Latency: 1 cycle from a read to its word, which holds until the next read of the same port.
// Handshake: none. A read of the word that is written in the same cycle returns the old word. tensor_i changes only while
//            no port is used. While it is high, the scratchpad's ports use words below WORDS - TENSOR_WORDS only, and the
//            tensor memory's ports, whose addresses count from there, words below TENSOR_WORDS.
`default_nettype none

module gemm64_scratchpad #(
    parameter N            = 64,    // bytes of a word
    parameter WORDS        = 9216,  // words in all
    parameter WORDS_WIDTH  = 14,    // bits that hold the number WORDS
    parameter TENSOR_WORDS = 6144,  // words of the second bank; 0: there is none
    parameter SELF_CHECK   = 0      // 0: wrong_o and unwritten_o are 0
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,  // synchronous, active low
    input  wire                   tensor_i,
    // Scratchpad
    input  wire                   write_i,
    input  wire [WORDS_WIDTH-1:0] write_address_i,
    input  wire [8*N-1:0]         write_data_i,
    input  wire                   read_i,
    input  wire [WORDS_WIDTH-1:0] read_address_i,
    output wire [8*N-1:0]         word_o,
    // Tensor memory
    input  wire                   tensor_write_i,
    input  wire [WORDS_WIDTH-1:0] tensor_write_address_i,
    input  wire [8*N-1:0]         tensor_write_data_i,
    input  wire                   tensor_read_i,
    input  wire [WORDS_WIDTH-1:0] tensor_read_address_i,
    output wire [8*N-1:0]         tensor_word_o,
    // A word was not the one written, or was never written; see gemm64_parity_check
    output wire                   wrong_o,
    output wire                   unwritten_o,
    output wire                   wrong_tensor_o,  // it was read by the tensor memory's port
    output wire [23:0]            wrong_word_o     // counted from the scratchpad's first word
);

    localparam FIRST_WORDS = WORDS - TENSOR_WORDS;
    localparam FIRST_WIDTH = $clog2(FIRST_WORDS);

    wire           wrong_first, unwritten_first;
    wire [23:0]    word_first;
    wire           write_first, read_first;
    wire [8*N-1:0] first;

    gemm64_ram #(.WIDTH(8*N), .DEPTH(FIRST_WORDS), .ADDRESS_WIDTH(FIRST_WIDTH)) u_first (
        .clk_i           (clk_i),
        .busy_i          (1'b1),
        .write_i         (write_first),
        .write_address_i (write_address_i[FIRST_WIDTH-1:0]),
        .write_data_i    (write_data_i),
        .read_i          (read_first),
        .read_address_i  (read_address_i[FIRST_WIDTH-1:0]),
        .data_o          (first)
    );

    gemm64_parity_check #(.ON(SELF_CHECK), .BYTES(N), .DEPTH(FIRST_WORDS), .ADDRESS_WIDTH(FIRST_WIDTH), .UNWRITTEN(2)) u_check_first (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .write_i         (write_first),
        .write_address_i (write_address_i[FIRST_WIDTH-1:0]),
        .write_data_i    (write_data_i),
        .read_i          (read_first),
        .read_address_i  (read_address_i[FIRST_WIDTH-1:0]),
        .data_i          (first),
        .wrong_o         (wrong_first),
        .unwritten_o     (unwritten_first),
        .word_o          (word_first)
    );

    generate
        if (TENSOR_WORDS != 0) begin : banks
            localparam SECOND_WIDTH = $clog2(TENSOR_WORDS);
            localparam [WORDS_WIDTH-1:0] START = FIRST_WORDS[WORDS_WIDTH-1:0];
            wire           write_second = ~tensor_i & write_address_i >= START;
            wire           read_second  = ~tensor_i & read_address_i >= START;
            wire           wrong_second, unwritten_second;
            wire [23:0]    word_second;
            wire [8*N-1:0] second;
            reg            second_q;  // the word that the scratchpad's port shows
            assign write_first = write_i & ~write_second;
            assign read_first  = read_i & ~read_second;
            always @(posedge clk_i) if (read_i) second_q <= read_second;
            assign word_o        = second_q ? second : first;
            assign tensor_word_o = second;

            wire                   write         = tensor_i ? tensor_write_i : write_i & write_second;
            wire                   read          = tensor_i ? tensor_read_i : read_i & read_second;
            wire [WORDS_WIDTH-1:0] write_address = tensor_i ? tensor_write_address_i : write_address_i - START;
            wire [WORDS_WIDTH-1:0] read_address  = tensor_i ? tensor_read_address_i : read_address_i - START;
            wire [8*N-1:0]         write_data    = tensor_i ? tensor_write_data_i : write_data_i;

            gemm64_ram #(.WIDTH(8*N), .DEPTH(TENSOR_WORDS), .ADDRESS_WIDTH(SECOND_WIDTH)) u_second (
                .clk_i           (clk_i),
                .busy_i          (1'b1),
                .write_i         (write),
                .write_address_i (write_address[SECOND_WIDTH-1:0]),
                .write_data_i    (write_data),
                .read_i          (read),
                .read_address_i  (read_address[SECOND_WIDTH-1:0]),
                .data_o          (second)
            );

            gemm64_parity_check #(
                .ON(SELF_CHECK), .BYTES(N), .DEPTH(TENSOR_WORDS), .ADDRESS_WIDTH(SECOND_WIDTH), .UNWRITTEN(2)
            ) u_check_second (
                .clk_i           (clk_i),
                .rst_ni          (rst_ni),
                .write_i         (write),
                .write_address_i (write_address[SECOND_WIDTH-1:0]),
                .write_data_i    (write_data),
                .read_i          (read),
                .read_address_i  (read_address[SECOND_WIDTH-1:0]),
                .data_i          (second),
                .wrong_o         (wrong_second),
                .unwritten_o     (unwritten_second),
                .word_o          (word_second)
            );

            // Of two in one cycle the first bank's is reported.
            wire second_only = ~(wrong_first | unwritten_first) & (wrong_second | unwritten_second);
            assign wrong_o        = wrong_first | (second_only & wrong_second);
            assign unwritten_o    = unwritten_first | (second_only & unwritten_second);
            assign wrong_tensor_o = second_only & tensor_i;
            assign wrong_word_o   = second_only ? word_second + FIRST_WORDS[23:0] : word_first;
        end else begin : single
            assign write_first    = write_i;
            assign read_first     = read_i;
            assign word_o         = first;
            assign tensor_word_o  = {8*N{1'b0}};
            assign wrong_o        = wrong_first;
            assign unwritten_o    = unwritten_first;
            assign wrong_tensor_o = 1'b0;
            assign wrong_word_o   = word_first;
        end
    endgenerate

endmodule

`default_nettype wire
