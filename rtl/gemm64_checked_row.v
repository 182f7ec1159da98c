// SPDX-License-Identifier: Apache-2.0
// Reports which row gemm64_checksum found wrong: its MATMUL, its tile and its place in the tile.
// Latency: 1 cycle from wrong_i to error_o, which stays until the reset, with the row. wrong_i comes DELAY cycles after
//          valid_i of its row.
// Handshake: none. At most four MATMULs begin within DELAY cycles.
`default_nettype none

module gemm64_checked_row #(
    parameter DELAY = 84  // cycles from a row's read to wrong_i
) (
    input  wire        clk_i,
    input  wire        rst_ni,     // synchronous, active low
    // A row is read
    input  wire        valid_i,
    input  wire        tile_i,     // the first of its tile
    input  wire        command_i,  // the first of its MATMUL
    input  wire [15:0] tag_i,
    // One was wrong
    input  wire        wrong_i,
    output reg         error_o,
    output wire [15:0] tag_o,
    output wire [31:0] tile_o,
    output wire [15:0] row_o
);

    // Rows come to their comparison as they were read: what they begin waits as long as they do, and is counted there.
    reg [DELAY-1:0] valid_q, tile_q, command_q;
    reg [31:0]      tiles_q;
    reg [15:0]      rows_q;
    wire            next_command = command_q[DELAY-2] & valid_q[DELAY-2];

    always @(posedge clk_i) begin
        valid_q   <= {valid_q[DELAY-2:0], valid_i} & {DELAY{rst_ni}};
        tile_q    <= {tile_q[DELAY-2:0], tile_i};
        command_q <= {command_q[DELAY-2:0], command_i};
        error_o   <= rst_ni & (error_o | wrong_i);
        if (valid_q[DELAY-2] & ~error_o & ~wrong_i) begin
            rows_q  <= tile_q[DELAY-2] ? 16'd0 : rows_q + 16'd1;
            tiles_q <= command_q[DELAY-2] ? 32'd0 : tile_q[DELAY-2] ? tiles_q + 32'd1 : tiles_q;
        end
    end

    // The number of the MATMUL under comparison, after those that wait.
    reg [15:0] tag_q;
    wire [15:0] next_tag;
    gemm64_fifo #(.WIDTH(16), .LOG_DEPTH(2)) u_tags (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (valid_i & command_i),
        .ready_o (),
        .data_i  (tag_i),
        .valid_o (),
        .ready_i (next_command),
        .data_o  (next_tag)
    );
    always @(posedge clk_i) if (next_command & ~error_o & ~wrong_i) tag_q <= next_tag;

    assign tag_o  = tag_q;
    assign tile_o = tiles_q;
    assign row_o  = rows_q;

endmodule

`default_nettype wire
