// SPDX-License-Identifier: Apache-2.0
// Finds wrong words of a memory: stores the exclusive or of each word's bytes with it, and compares when the word is read. Any
// flips in one byte are found, and any that are no further than seven bits apart; two in the same bit of two bytes are not.
// Latency: 2 cycles from read_i to wrong_o, which stays until the reset with the word's address. A word that is held is looked
//          at in each cycle.
// Handshake: none. A read of the word that is written in the same cycle gets the old word, as from gemm64_ram.
`default_nettype none

module gemm64_parity_check #(
    parameter ON            = 1,   // 0: nothing is built, and nothing found
    parameter BYTES         = 64,  // of a word: a power of two
    parameter DEPTH         = 64,  // words
    parameter ADDRESS_WIDTH = 6,   // bits of an address
    parameter HELD          = 0,   // 1: a word is used until the next one is read, not only in the cycle after its read
    parameter UNWRITTEN     = 0    // words read that were not written since the reset: 0: none are, 1: they are not used, 2: reported
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,  // synchronous, active low
    // What the memory's ports do
    input  wire                     write_i,
    input  wire [ADDRESS_WIDTH-1:0] write_address_i,
    input  wire [8*BYTES-1:0]       write_data_i,
    input  wire                     read_i,
    input  wire [ADDRESS_WIDTH-1:0] read_address_i,
    input  wire [8*BYTES-1:0]       data_i,   // from the cycle after read_i on
    // A word was wrong, or with UNWRITTEN = 2 was never written: until the reset, whichever came first
    output wire                     wrong_o,
    output wire                     unwritten_o,
    output wire [23:0]              word_o    // its address; 0 where none was
);

    generate
        if (ON != 0) begin : on
            function [7:0] together;  // the exclusive or of a word's bytes
                input [8*BYTES-1:0] word;
                reg   [8*BYTES-1:0] rest;
                integer             half;
                begin
                    rest = word;
                    for (half = 4 * BYTES; half >= 8; half = half / 2) rest = rest ^ (rest >> half);
                    together = rest[7:0];
                end
            endfunction

            wire [7:0] kept;
            gemm64_ram #(.WIDTH(8), .DEPTH(DEPTH), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_kept (
                .clk_i           (clk_i),
                .busy_i          (write_i | read_i),
                .write_i         (write_i),
                .write_address_i (write_address_i),
                .write_data_i    (together(write_data_i)),
                .read_i          (read_i),
                .read_address_i  (read_address_i),
                .data_o          (kept)
            );

            wire written;  // of the word that is read
            wire missing;  // the word that is shown was not
            if (UNWRITTEN == 2) begin : reported
                wire shown_written;
                gemm64_written #(.DEPTH(DEPTH), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_written (
                    .clk_i           (clk_i),
                    .rst_ni          (rst_ni),
                    .write_i         (write_i),
                    .write_address_i (write_address_i),
                    .read_i          (read_i),
                    .read_address_i  (read_address_i),
                    .written_o       (shown_written)
                );
                assign written = 1'b1;
                assign missing = ~shown_written;
            end else if (UNWRITTEN == 1) begin : some
                reg [DEPTH-1:0] written_q;
                always @(posedge clk_i)
                    if (!rst_ni) written_q <= {DEPTH{1'b0}};
                    else if (write_i) written_q[write_address_i] <= 1'b1;
                assign written = written_q[read_address_i];
                assign missing = 1'b0;
            end else begin : all
                assign written = 1'b1;
                assign missing = 1'b0;
            end

            reg                     used_q;     // the word that is shown
            reg [ADDRESS_WIDTH-1:0] address_q;  // of it
            reg                     wrong_q, unwritten_q;
            reg [ADDRESS_WIDTH-1:0] word_q;
            always @(posedge clk_i) begin
                used_q <= rst_ni & (read_i ? written : used_q & HELD != 0);
                if (read_i) address_q <= read_address_i;
                if (!rst_ni) begin
                    wrong_q     <= 1'b0;
                    unwritten_q <= 1'b0;
                    word_q      <= {ADDRESS_WIDTH{1'b0}};
                end else if (used_q) begin
                    if (~wrong_q & ~unwritten_q & (missing | together(data_i) != kept)) begin
                        wrong_q     <= ~missing;
                        unwritten_q <= missing;
                        word_q      <= address_q;
                    end
                end
            end
            assign wrong_o     = wrong_q;
            assign unwritten_o = unwritten_q;
            assign word_o      = {{24-ADDRESS_WIDTH{1'b0}}, word_q};
        end else begin : off
            assign wrong_o     = 1'b0;
            assign unwritten_o = 1'b0;
            assign word_o      = 24'd0;
        end
    endgenerate

endmodule

`default_nettype wire
