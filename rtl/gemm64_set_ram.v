// SPDX-License-Identifier: Apache-2.0
// Memory whose words are written lane by lane and read as a whole, on one cycle.
// Latency: 1 cycle from read_i to data_o, which then holds until the next read.
// Handshake: none. A read of the word that is written in the same cycle returns the old word.
`default_nettype none

module gemm64_set_ram #(
    parameter LANES         = 4,    // of a word
    parameter LOG_LANES     = 2,    // bits of a lane's index
    parameter LANE_WIDTH    = 512,  // bits of a lane
    parameter DEPTH         = 16,   // words
    parameter ADDRESS_WIDTH = 4     // bits of an address
) (
    input  wire                     clk_i,
    // Write port
    input  wire                     write_i,
    input  wire [ADDRESS_WIDTH-1:0] write_address_i,
    input  wire [LOG_LANES-1:0]     write_lane_i,
    input  wire [LANE_WIDTH-1:0]    write_data_i,
    // Read port
    input  wire                     read_i,
    input  wire [ADDRESS_WIDTH-1:0] read_address_i,
    output reg  [LANES*LANE_WIDTH-1:0] data_o
);

    (* lanes = LANES *) reg [LANES*LANE_WIDTH-1:0] memory_q [0:DEPTH-1];

    // As in gemm64_ram, a blocking write after the read
    always @(posedge clk_i) begin
        if (read_i) data_o <= memory_q[read_address_i];
        if (write_i) memory_q[write_address_i][LANE_WIDTH*write_lane_i +: LANE_WIDTH] = write_data_i;
    end

endmodule

`default_nettype wire
