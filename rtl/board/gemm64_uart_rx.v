// SPDX-License-Identifier: Apache-2.0
// Receiver of a serial line: 8 bits, no parity, one stop bit.
// Latency: 2 cycles of synchronizing; a byte is output in the middle of its stop bit, for one cycle.
// Handshake: none; a byte is to be taken in that cycle. A frame without a stop bit is no byte;
//            the next start is looked for a bit later.
`default_nettype none

module gemm64_uart_rx #(
    parameter DIVISOR = 50  // cycles of a bit, 4 to 65535
) (
    input  wire       clk_i,
    input  wire       rst_ni,   // synchronous, active low
    input  wire       line_i,   // high while nothing is sent
    output wire       valid_o,
    output wire [7:0] data_o
);

    localparam [31:0] BIT = DIVISOR - 1, HALF = DIVISOR / 2 - 1;

    reg [1:0]  line_q;   // [1] is of this cycle
    reg        busy_q;
    reg [15:0] cycles_q; // until the next sample
    reg [8:0]  bits_q;   // the byte above a bit of its own start; that reaches place 0 with the byte's last bit
    reg        stop_q;   // the next sample is of the stop bit

    wire sample = busy_q & cycles_q == 16'd0;

    assign valid_o = sample & stop_q & line_q[1];
    assign data_o  = bits_q[8:1];

    always @(posedge clk_i) begin
        line_q <= {line_q[0], line_i};
        if (!busy_q) cycles_q <= HALF[15:0];
        else cycles_q <= sample ? BIT[15:0] : cycles_q - 16'd1;
        if (!busy_q) begin
            bits_q <= 9'h1ff;
            stop_q <= 1'b0;
        end else if (sample) begin
            bits_q <= stop_q ? 9'h1ff : {line_q[1], bits_q[8:1]};
            stop_q <= ~bits_q[1] & ~stop_q;
        end
        if (!rst_ni) begin
            line_q <= 2'b11;
            busy_q <= 1'b0;
        end else if (!busy_q) busy_q <= ~line_q[1];
        else if (sample) busy_q <= bits_q == 9'h1ff ? ~line_q[1] : ~(stop_q & line_q[1]);
    end

endmodule

`default_nettype wire
