// SPDX-License-Identifier: Apache-2.0
// Memory with one write port and one read port on one cycle.
// Latency: 1 cycle from read_i to data_o, which then holds until the next read.
// Handshake: none. A read of the word that is written in the same cycle returns the old word.
`default_nettype none

module gemm64_ram #(
    parameter WIDTH         = 32,  // bits of a word
    parameter DEPTH         = 64,  // words
    parameter ADDRESS_WIDTH = 6    // bits of an address
) (
    input  wire                     clk_i,
    input  wire                     busy_i,  // something is read or written; its clock may rest otherwise
    // Write port
    input  wire                     write_i,
    input  wire [ADDRESS_WIDTH-1:0] write_address_i,
    input  wire [WIDTH-1:0]         write_data_i,
    // Read port
    input  wire                     read_i,
    input  wire [ADDRESS_WIDTH-1:0] read_address_i,
    output reg  [WIDTH-1:0]         data_o
);

    reg [WIDTH-1:0] memory_q [0:DEPTH-1];

    // Read and then written in one block, the only one that accesses it: the write may be blocking without a race, and a simulator
    // writes at once what it would otherwise keep aside in every cycle.
    always @(posedge clk_i) if (busy_i) begin
        if (read_i) data_o <= memory_q[read_address_i];
        if (write_i) memory_q[write_address_i] = write_data_i;
    end

endmodule

`default_nettype wire
