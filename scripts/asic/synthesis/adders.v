// SPDX-License-Identifier: Apache-2.0
// Carries of an adder by the shortest tree (Kogge and Stone's), instead of Yosys' own, which takes nearly twice as many levels
// with far fewer gates. Yosys takes templates of a cell in the order of their names: this one stands before its own.
`default_nettype none

(* techmap_celltype = "$lcu" *)
module _80_lcu_shortest #(
    parameter WIDTH = 2
) (
    input  wire [WIDTH-1:0] P,   // the bit hands a carry on
    input  wire [WIDTH-1:0] G,   // the bit makes a carry
    input  wire             CI,
    output wire [WIDTH-1:0] CO   // carries out of the bits
);

    localparam LEVELS = $clog2(WIDTH);
    wire [WIDTH*(LEVELS+1)-1:0] hand, make;  // each level's, over twice as many bits as the last one's

    assign hand[WIDTH-1:0] = P;
    assign make[WIDTH-1:0] = G | P & CI;
    assign CO              = make[WIDTH*LEVELS +: WIDTH];

    genvar level, at;
    generate
        for (level = 0; level < LEVELS; level = level + 1) begin : tree
            for (at = 0; at < WIDTH; at = at + 1) begin : span
                if (at >= (1 << level)) begin : wider
                    assign make[WIDTH*(level+1) + at] = make[WIDTH*level + at]
                                                       | hand[WIDTH*level + at] & make[WIDTH*level + at - (1 << level)];
                    assign hand[WIDTH*(level+1) + at] = hand[WIDTH*level + at] & hand[WIDTH*level + at - (1 << level)];
                end else begin : whole
                    assign make[WIDTH*(level+1) + at] = make[WIDTH*level + at];
                    assign hand[WIDTH*(level+1) + at] = hand[WIDTH*level + at];
                end
            end
        end
    endgenerate

endmodule

`default_nettype wire
