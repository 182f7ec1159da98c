// SPDX-License-Identifier: Apache-2.0
// Turns one column's sums into 8-bit results in ONNX Runtime's arithmetic (QLinearMatMul, QLinearConv, QGemm):
//     result = clamp(rint(float32(sum + bias) * scale) + zero, low, high)
// sum + bias wraps at 32 bits; its conversion to float32 and the one float32 product round to nearest, ties to even,
// and so does rint. The bounds are integers, so that clamping after rint gives what clamping before it does.
// Scales that are infinite or NaN must not be given.
// Latency: 9 clocks with move_i from sum_i to result_o.
// Handshake: none. Nothing changes while move_i is low.
`default_nettype none

module gemm64_requantize (
    input  wire               clk_i,
    input  wire               move_i,
    input  wire signed [31:0] sum_i,
    input  wire signed [31:0] bias_i,
    input  wire        [30:0] scale_i,  // float32 without its sign; held for as long as its sums are under way
    input  wire signed [8:0]  zero_i,   // these three too
    input  wire signed [8:0]  low_i,
    input  wire signed [8:0]  high_i,
    output wire        [7:0]  result_o
);

    // 1: sum + bias
    reg signed [31:0] biased_q;
    always @(posedge clk_i) if (move_i) biased_q <= sum_i + bias_i;

    // 2: sign and magnitude
    reg        sign_2_q;
    reg [31:0] magnitude_q;
    always @(posedge clk_i) if (move_i) begin
        sign_2_q    <= biased_q[31];
        magnitude_q <= biased_q[31] ? -biased_q : biased_q;
    end

    // 3: the magnitude with its highest bit on top: magnitude = normal / 2**shift. A shift by halves finds both.
    wire [31:0] by_16 = magnitude_q[31:16] == 16'd0 ? {magnitude_q[15:0], 16'd0} : magnitude_q;
    wire [31:0] by_8  = by_16[31:24] == 8'd0 ? {by_16[23:0], 8'd0} : by_16;
    wire [31:0] by_4  = by_8[31:28] == 4'd0 ? {by_8[27:0], 4'd0} : by_8;
    wire [31:0] by_2  = by_4[31:30] == 2'd0 ? {by_4[29:0], 2'd0} : by_4;
    wire [31:0] by_1  = by_2[31] ? by_2 : {by_2[30:0], 1'b0};
    reg         sign_3_q;
    reg  [31:0] normal_q;
    reg  [4:0]  shift_q;
    always @(posedge clk_i) if (move_i) begin
        sign_3_q <= sign_2_q;
        normal_q <= by_1;
        shift_q  <= {magnitude_q[31:16] == 16'd0, by_16[31:24] == 8'd0, by_8[31:28] == 4'd0, by_4[31:30] == 2'd0,
                     ~by_2[31]};
    end

    // 4: float32(sum + bias) = significand * 2**(place - 23), where place is that of its highest bit. 2**31 alone has
    // place 31 before rounding, so that a carry never leaves five bits. A sum of 0 has no bit set.
    wire        up_4 = normal_q[7] & (normal_q[8] | normal_q[6:0] != 7'd0);
    wire [24:0] rounded_4 = {1'b0, normal_q[31:8]} + {24'd0, up_4};
    reg         sign_4_q;
    reg  [23:0] significand_q;
    reg  [4:0]  place_q;
    always @(posedge clk_i) if (move_i) begin
        sign_4_q      <= sign_3_q;
        significand_q <= {rounded_4[24] | rounded_4[23], rounded_4[22:0]};
        place_q       <= ~shift_q + {4'd0, rounded_4[24]};
    end

    // 5: the product with each half of the scale's significand; 1.0 has exponent 127. Zero and denormal scales are taken
    // as if their highest bit were hidden too: whatever is below a half comes to nothing.
    wire [7:0]  exponent = scale_i[30:23];
    wire [23:0] factor   = {1'b1, scale_i[22:0]};
    reg         sign_5_q;
    reg  [35:0] upper_q, lower_q;
    reg  signed [9:0] power_5_q;
    always @(posedge clk_i) if (move_i) begin
        sign_5_q  <= sign_4_q;
        upper_q   <= {12'd0, significand_q} * {24'd0, factor[23:12]};
        lower_q   <= {12'd0, significand_q} * {24'd0, factor[11:0]};
        power_5_q <= $signed({5'd0, place_q}) + $signed({2'd0, exponent}) - 10'sd127;
    end

    // 6: the whole product, of 47 or 48 bits
    reg         sign_6_q;
    reg  [47:0] product_q;
    reg  signed [9:0] power_6_q;
    always @(posedge clk_i) if (move_i) begin
        sign_6_q  <= sign_5_q;
        product_q <= {upper_q, 12'd0} + {12'd0, lower_q};
        power_6_q <= power_5_q;
    end

    // 7: rounded to 24 bits: mantissa * 2**(power - 23)
    wire        long_7    = product_q[47];
    wire [23:0] kept_7    = long_7 ? product_q[47:24] : product_q[46:23];
    wire        half_7    = long_7 ? product_q[23] : product_q[22];
    wire        rest_7    = product_q[21:0] != 22'd0 | (long_7 & product_q[22]);
    wire [24:0] rounded_7 = {1'b0, kept_7} + {24'd0, half_7 & (kept_7[0] | rest_7)};
    reg         sign_7_q;
    reg  [23:0] mantissa_q;
    reg  signed [9:0] power_7_q;
    always @(posedge clk_i) if (move_i) begin
        sign_7_q   <= sign_6_q;
        mantissa_q <= {rounded_7[24] | rounded_7[23], rounded_7[22:0]};
        power_7_q  <= power_6_q + {9'd0, long_7 | rounded_7[24]};
    end

    // 8: rint. From 512 on every bound is passed; below a half there is nothing left. In between 15 to 24 bits lie
    // behind the point.
    wire        large_8  = mantissa_q[23] & power_7_q >= 10'sd9;
    wire        small_8  = ~mantissa_q[23] | power_7_q < -10'sd1;
    wire [3:0]  behind_8 = 4'd8 - power_7_q[3:0];                          // less 15
    wire [33:0] fixed_8  = {mantissa_q, 10'd0} >> behind_8;                // 25 bits behind the point
    wire        up_8     = fixed_8[24] & (fixed_8[25] | fixed_8[23:0] != 24'd0);
    reg         sign_8_q;
    reg         large_q;
    reg  [9:0]  whole_q;
    always @(posedge clk_i) if (move_i) begin
        sign_8_q <= sign_7_q;
        large_q  <= large_8;
        whole_q  <= small_8 ? 10'd0 : {1'b0, fixed_8[33:25]} + {9'd0, up_8};
    end

    // 9: zero point and bounds
    wire signed [11:0] whole_9 = sign_8_q ? -$signed({2'd0, whole_q}) : $signed({2'd0, whole_q});
    wire signed [11:0] moved_9 = whole_9 + $signed({{3{zero_i[8]}}, zero_i});
    wire               above_9 = large_q ? ~sign_8_q : moved_9 > $signed({{3{high_i[8]}}, high_i});
    wire               below_9 = large_q ? sign_8_q : moved_9 < $signed({{3{low_i[8]}}, low_i});
    reg         [7:0]  result_q;
    always @(posedge clk_i) if (move_i) result_q <= above_9 ? high_i[7:0] : below_9 ? low_i[7:0] : moved_9[7:0];
    assign result_o = result_q;

endmodule

`default_nettype wire
