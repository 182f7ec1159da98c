// SPDX-License-Identifier: Apache-2.0
// Sender of a serial line: 8 bits, no parity, one stop bit.
// Latency: the start bit begins 1 cycle after a byte was taken; the next byte is taken 10 bits after it.
// Handshake: valid/ready.
`default_nettype none

module gemm64_uart_tx #(
    parameter DIVISOR = 50  // cycles of a bit, 2 to 65536
) (
    input  wire       clk_i,
    input  wire       rst_ni,   // synchronous, active low
    input  wire       valid_i,
    output wire       ready_o,
    input  wire [7:0] data_i,
    output wire       line_o    // high while nothing is sent
);

    localparam [31:0] BIT = DIVISOR - 1;

    reg [9:0]  bits_q;    // what is sent next at place 0; ones follow the stop bit
    reg [3:0]  left_q;    // bits of the byte that are still to be sent
    reg [15:0] cycles_q;  // of this bit, after this cycle

    wire next = cycles_q == 16'd0;

    assign ready_o = left_q == 4'd0;
    assign line_o  = bits_q[0];

    always @(posedge clk_i)
        if (!rst_ni) begin
            bits_q <= 10'h3ff;
            left_q <= 4'd0;
        end else if (ready_o) begin
            cycles_q <= BIT[15:0];
            if (valid_i) begin
                bits_q <= {1'b1, data_i, 1'b0};
                left_q <= 4'd10;
            end
        end else begin
            cycles_q <= next ? BIT[15:0] : cycles_q - 16'd1;
            if (next) begin
                bits_q <= {1'b1, bits_q[9:1]};
                left_q <= left_q - 4'd1;
            end
        end

endmodule

`default_nettype wire
