// SPDX-License-Identifier: Apache-2.0
// One lane: multiplies nine values by nine weights and adds, or takes the largest, sum by sum in one part or more.
// Latency: 2 clocks from value_i and weight_i to sum_o, of all parts so far; it holds until the next part.
// Handshake: none.
`default_nettype none

module gemm64_lane (
    input  wire        clk_i,
    input  wire        part_i,     // value_i and weight_i are a part of a sum
    input  wire        maximum_i,  // the largest of the values whose weight is odd, for all parts under way
    input  wire [71:0] value_i,    // int8
    input  wire [71:0] weight_i,   // int8
    input  wire        add_i,      // a clock after part_i
    input  wire        first_i,    // with add_i: the part is the first of its sum
    output wire [21:0] sum_o       // signed: at most 54 products
);

    localparam [7:0] LEAST = 8'h80;

    // Three at a time
    reg signed [16:0] third_q [0:2];
    genvar g;
    generate
        for (g = 0; g < 3; g = g + 1) begin : third
            wire signed [7:0] value_0 = value_i[24*g +: 8], value_1 = value_i[24*g + 8 +: 8];
            wire signed [7:0] value_2 = value_i[24*g + 16 +: 8];
            wire signed [7:0] weight_0 = weight_i[24*g +: 8], weight_1 = weight_i[24*g + 8 +: 8];
            wire signed [7:0] weight_2 = weight_i[24*g + 16 +: 8];
            wire signed [16:0] sum = value_0 * weight_0 + value_1 * weight_1 + value_2 * weight_2;
            wire signed [7:0] odd_0 = weight_0[0] ? value_0 : LEAST, odd_1 = weight_1[0] ? value_1 : LEAST;
            wire signed [7:0] odd_2 = weight_2[0] ? value_2 : LEAST;
            wire signed [7:0] of_two   = odd_0 > odd_1 ? odd_0 : odd_1;
            wire signed [7:0] of_three = of_two > odd_2 ? of_two : odd_2;
            always @(posedge clk_i) if (part_i) third_q[g] <= maximum_i ? {{9{of_three[7]}}, of_three} : sum;
        end
    endgenerate

    reg signed [21:0] sum_q;
    wire signed [21:0] earlier = first_i ? 22'sd0 : sum_q;
    wire signed [7:0]  third_0 = third_q[0][7:0], third_1 = third_q[1][7:0], third_2 = third_q[2][7:0];
    wire signed [7:0]  largest_before = first_i ? LEAST : sum_q[7:0];
    wire signed [7:0]  of_two  = third_0 > third_1 ? third_0 : third_1;
    wire signed [7:0]  others  = third_2 > largest_before ? third_2 : largest_before;
    wire signed [7:0]  largest = of_two > others ? of_two : others;
    wire signed [21:0] part_0 = {{5{third_q[0][16]}}, third_q[0]}, part_1 = {{5{third_q[1][16]}}, third_q[1]};
    wire signed [21:0] part_2 = {{5{third_q[2][16]}}, third_q[2]};
    always @(posedge clk_i)
        if (add_i) sum_q <= maximum_i ? {{14{largest[7]}}, largest} : earlier + part_0 + part_1 + part_2;

    assign sum_o = sum_q;

endmodule

`default_nettype wire
