// SPDX-License-Identifier: Apache-2.0
// A delay of CYCLES cycles with move_i.
`default_nettype none

module delay #(
    parameter WIDTH  = 8,
    parameter CYCLES = 1
) (
    input  wire             clk_i,
    input  wire             move_i,
    input  wire [WIDTH-1:0] data_i,
    output wire [WIDTH-1:0] data_o
);

    generate
        if (CYCLES == 0) begin : none
            assign data_o = data_i;
        end else begin : some
            reg [WIDTH*CYCLES-1:0] data_q;
            assign data_o = data_q[WIDTH*CYCLES-1 -: WIDTH];
            if (CYCLES == 1) begin : one
                always @(posedge clk_i) if (move_i) data_q <= data_i;
            end else begin : more
                always @(posedge clk_i) if (move_i) data_q <= {data_q[WIDTH*(CYCLES-1)-1:0], data_i};
            end
        end
    endgenerate

endmodule

`default_nettype wire
