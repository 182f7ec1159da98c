// SPDX-License-Identifier: Apache-2.0
// Which words of a memory were written since the reset: a bit for each, in a memory of groups of bits, and a register for each
// group, since a reset clears registers only. The first write into a group clears the bits of its other words.
// Latency: 1 cycle from read_i to written_o, which then holds until the next read.
// Handshake: none. A read of the word that is written in the same cycle returns its old bit.
`default_nettype none

module gemm64_written #(
    parameter DEPTH         = 64,  // words
    parameter ADDRESS_WIDTH = 6    // bits of an address, at least 2
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,  // synchronous, active low
    input  wire                     write_i,
    input  wire [ADDRESS_WIDTH-1:0] write_address_i,
    input  wire                     read_i,
    input  wire [ADDRESS_WIDTH-1:0] read_address_i,
    output wire                     written_o
);

    localparam LOG_GROUP   = ADDRESS_WIDTH > 6 ? 6 : ADDRESS_WIDTH - 1;
    localparam GROUP       = 1 << LOG_GROUP;
    localparam GROUPS      = (DEPTH + GROUP - 1) / GROUP;
    localparam GROUP_WIDTH = ADDRESS_WIDTH - LOG_GROUP;

    (* lanes = GROUP *) reg [GROUP-1:0] bits_q [0:GROUPS-1];
    reg  [GROUPS-1:0]      begun_q;  // a word of the group was written
    reg  [GROUP-1:0]       read_q;
    reg  [LOG_GROUP-1:0]   place_q;
    reg                    begun_read_q;
    wire [GROUP_WIDTH-1:0] write_group = write_address_i[ADDRESS_WIDTH-1:LOG_GROUP];
    wire [GROUP_WIDTH-1:0] read_group  = read_address_i[ADDRESS_WIDTH-1:LOG_GROUP];

    // As in gemm64_ram, a blocking write after the read
    always @(posedge clk_i) begin
        if (read_i) read_q <= bits_q[read_group];
        if (write_i) begin
            if (~begun_q[write_group]) bits_q[write_group] = {GROUP{1'b0}};
            bits_q[write_group][write_address_i[LOG_GROUP-1:0]] = 1'b1;
        end
    end

    always @(posedge clk_i) begin
        if (read_i) {begun_read_q, place_q} <= {begun_q[read_group], read_address_i[LOG_GROUP-1:0]};
        if (!rst_ni) begun_q <= {GROUPS{1'b0}};
        else if (write_i) begun_q[write_group] <= 1'b1;
    end

    assign written_o = begun_read_q & read_q[place_q];

endmodule

`default_nettype wire
