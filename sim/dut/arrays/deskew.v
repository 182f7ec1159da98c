// SPDX-License-Identifier: Apache-2.0
// Column c of an array's sums leaves c cycles after column 0; here all leave with the last one.
// Latency: N - 1 - c cycles for column c.
`default_nettype none

module deskew #(
    parameter N     = 8,
    parameter WIDTH = 32
) (
    input  wire               clk_i,
    input  wire [WIDTH*N-1:0] data_i,
    output wire [WIDTH*N-1:0] data_o
);

    genvar c;
    generate
        for (c = 0; c < N; c = c + 1) begin : column
            if (c == N - 1) begin : none
                assign data_o[WIDTH*c +: WIDTH] = data_i[WIDTH*c +: WIDTH];
            end else begin : some
                reg [WIDTH-1:0] delay_q [0:N-2-c];
                integer i;
                always @(posedge clk_i) begin
                    delay_q[0] <= data_i[WIDTH*c +: WIDTH];
                    for (i = 1; i < N - 1 - c; i = i + 1) delay_q[i] <= delay_q[i-1];
                end
                assign data_o[WIDTH*c +: WIDTH] = delay_q[N-2-c];
            end
        end
    endgenerate

endmodule

`default_nettype wire
