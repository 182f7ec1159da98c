// SPDX-License-Identifier: Apache-2.0
// Commands that wait for their engine: of each the words that it uses, the command's number, and which of the engine's
// commands it is.
// Latency: 1 cycle from a command to valid_o.
// Handshake: valid/ready on both sides; all outputs depend only on registers. With HEAD = 1 what is shown is a register.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_command_queue #(
    parameter [15:0] WORDS = 16'hffff,  // bit w: word w of a command is kept; the others are shown as zero
    parameter [7:0]  OTHER = 8'd0,      // opcode of the engine's second kind of command
    parameter        HEAD  = 0          // see gemm64_fifo
) (
    input  wire                        clk_i,
    input  wire                        rst_ni,     // synchronous, active low
    // Command in
    input  wire                        valid_i,
    output wire                        ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 tag_i,
    // The oldest command
    output wire                        valid_o,
    input  wire                        ready_i,
    output wire [`GEMM64_CMD_BITS-1:0] command_o,
    output wire [15:0]                 tag_o,
    output wire                        other_o     // its opcode is OTHER
);

    // The kept words are concatenated in an entry.
    function integer kept;  // words below this one that are kept
        input integer word;
        integer i;
        begin
            kept = 0;
            for (i = 0; i < word; i = i + 1) kept = kept + {31'd0, WORDS[i]};
        end
    endfunction

    localparam WIDTH = 32 * kept(16);
    wire [WIDTH-1:0] in, out;
    wire             other = command_i[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH] == OTHER;

    genvar w;
    generate
        for (w = 0; w < 16; w = w + 1) begin : word
            if (WORDS[w]) begin : is_kept
                localparam AT = 32 * kept(w);  // else Verilator counts in each cycle
                assign in[AT +: 32]          = command_i[32*w +: 32];
                assign command_o[32*w +: 32] = out[AT +: 32];
            end else begin : is_not
                assign command_o[32*w +: 32] = 32'd0;
            end
        end
    endgenerate

    gemm64_fifo #(.WIDTH(WIDTH + 17), .LOG_DEPTH(1), .HEAD(HEAD)) u_fifo (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (valid_i),
        .ready_o (ready_o),
        .data_i  ({other, tag_i, in}),
        .valid_o (valid_o),
        .ready_i (ready_i),
        .data_o  ({other_o, tag_o, out})
    );

endmodule

`default_nettype wire
