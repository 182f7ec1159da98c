// SPDX-License-Identifier: Apache-2.0
// A column of gemm64_requantize gives, for every sum, bias, scale, zero point and bounds, what these say in plain words:
//   clamp(rint(float32(float32(sum + bias) * scale)) + zero, low, high), halves to even.
// The plain side rounds by quotient and remainder, once for each of the three roundings. Both multiply alike by halves of the
// scale's significand; that these add up to the product, and that two significands give 2^46 to 2^48, is arithmetic.
//
// multiplication any
// break gemm64_requantize.v: half & (kept[0] | rest) -> half
// break gemm64_requantize.v: normal_3[c][8] | normal_3[c][6:0] -> normal_3[c][6:0]
// break gemm64_requantize.v: power_7[c] >= 10'sd9 -> power_7[c] >= 10'sd10
// prove induction 1, cover 14
// probe biased_1 = dut.biased_1[0]
// probe sign_2 = dut.sign_2[0]
// probe magnitude_2 = dut.magnitude_2[0]
// probe sign_3 = dut.sign_3[0]
// probe normal_3 = dut.normal_3[0]
// probe shift_3 = dut.shift_3[0]
// probe sign_4 = dut.sign_4[0]
// probe significand_4 = dut.significand_4[0]
// probe place_4 = dut.place_4[0]
// probe sign_5 = dut.sign_5[0]
// probe upper_5 = dut.upper_5[0]
// probe lower_5 = dut.lower_5[0]
// probe power_5 = dut.power_5[0]
// probe sign_6 = dut.sign_6[0]
// probe product_6 = dut.product_6[0]
// probe power_6 = dut.power_6[0]
// probe sign_7 = dut.sign_7[0]
// probe mantissa_7 = dut.mantissa_7[0]
// probe power_7 = dut.power_7[0]
// probe sign_8 = dut.sign_8[0]
// probe large_8 = dut.large_8[0]
// probe whole_8 = dut.whole_8[0]
// probe bounds_1 = dut.bounds[1]
// probe bounds_2 = dut.bounds[2]
// probe bounds_3 = dut.bounds[3]
// probe bounds_4 = dut.bounds[4]
// probe bounds_5 = dut.bounds[5]
// probe bounds_6 = dut.bounds[6]
// probe bounds_7 = dut.bounds[7]
// probe bounds_8 = dut.bounds[8]
// probe move = dut.move
module requantize_proof ();

    // Zero point and bounds travel with a row unchanged; here they are the same for all.
    (* anyconst *) reg signed [8:0] zero, low, high;
    gemm64_requantize #(.N(1)) dut (
        .last_i (1'b0), .zero_i (zero), .low_i (low), .high_i (high), .*
    );

    (* keep *) wire               move, sign_2, sign_3, sign_4, sign_5, sign_6, sign_7, sign_8, large_8;
    (* keep *) wire signed [31:0] biased_1;
    (* keep *) wire [31:0]        magnitude_2, normal_3;
    (* keep *) wire [4:0]         shift_3, place_4;
    (* keep *) wire [23:0]        significand_4, mantissa_7;
    (* keep *) wire [35:0]        upper_5, lower_5;
    (* keep *) wire signed [9:0]  power_5, power_6, power_7;
    (* keep *) wire [47:0]        product_6;
    (* keep *) wire [9:0]         whole_8;
    (* keep *) wire [26:0]        bounds_1, bounds_2, bounds_3, bounds_4, bounds_5, bounds_6, bounds_7, bounds_8;
    wire [26:0]                   bounds = {zero, low, high};

    // float32 of an integer: magnitude / 2^k rounded to even, where k leaves 24 bits
    function [28:0] to_float;  // place of the highest bit, significand
        input [31:0] magnitude;
        reg   [5:0]  top, k;
        reg   [31:0] quotient, rest, half;
        integer i;
        begin
            top = 0;
            for (i = 0; i < 32; i = i + 1) if (magnitude[i]) top = i;
            if (top <= 23) to_float = {top[4:0], magnitude[23:0] << (23 - top)};
            else begin
                k        = top - 23;
                quotient = magnitude >> k;
                rest     = magnitude & ((32'd1 << k) - 1);
                half     = 32'd1 << (k - 1);
                if (rest > half | (rest == half & quotient[0])) quotient = quotient + 1;
                to_float = quotient[24] ? {top[4:0] + 5'd1, 24'h800000} : {top[4:0], quotient[23:0]};
            end
        end
    endfunction

    // float32 of a product of 47 or 48 bits: power more, significand
    function [24:0] to_significand;
        input [47:0] product;
        reg   [47:0] quotient, rest, half;
        begin
            quotient = product[47] ? product / 48'd16777216 : product / 48'd8388608;
            rest     = product[47] ? product % 48'd16777216 : product % 48'd8388608;
            half     = product[47] ? 48'd8388608 : 48'd4194304;
            if (rest > half | (rest == half & quotient[0])) quotient = quotient + 1;
            to_significand = quotient[24] ? {1'b1, 24'h800000} : {product[47], quotient[23:0]};
        end
    endfunction

    // rint of mantissa * 2^(power - 23), where it is below 512
    function [9:0] to_integer;
        input        [23:0] mantissa;
        input signed [9:0]  power;
        reg   [9:0]  k;
        reg   [63:0] quotient, rest, half;
        begin
            k        = 10'sd23 - power;
            quotient = {40'd0, mantissa} >> k;
            rest     = {40'd0, mantissa} & ((64'd1 << k) - 1);
            half     = 64'd1 << (k - 1);
            to_integer = k > 30 ? 0 : quotient[9:0] + (rest > half | (rest == half & quotient[0]));
        end
    endfunction

    // The row in each stage, in plain words
    reg               begun = 1'b0;
    reg [9:0]         known = 0;  // stages that hold what came after the reset
    reg signed [31:0] s_1, s_2, s_3, s_4;
    reg               n_5, n_6, n_7, n_8, large;
    reg [23:0]        sig_5, factor_5, sig_7;
    reg signed [9:0]  power_of_5, power_of_6, power_of_7;
    reg [47:0]        product;
    reg [9:0]         whole;
    reg [7:0]         answer;
    wire [31:0] m_4     = s_4 < 0 ? -s_4 : s_4;
    wire [28:0] float_4 = to_float(m_4);
    wire [23:0] factor  = {1'b1, scale_i[22:0]};  // a scale without this bit is below 2^-126: nothing is left of it
    wire [35:0] above   = {12'd0, sig_5} * {24'd0, factor_5[23:12]}, below = {12'd0, sig_5} * {24'd0, factor_5[11:0]};
    wire [24:0] float_6 = to_significand(product);
    wire signed [15:0] exact = large ? (n_8 ? -16'sd9999 : 16'sd9999) : n_8 ? -$signed({6'd0, whole}) : $signed({6'd0, whole});
    wire signed [15:0] with_zero = exact + zero;
    wire signed [15:0] clamped = with_zero < low ? low : with_zero > high ? high : with_zero;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (move) begin
            known  <= {known, 1'b1};
            s_1    <= sum_i + bias_i;
            {s_2, s_3, s_4} <= {s_1, s_2, s_3};
            n_5 <= s_4 < 0;
            {n_6, n_7, n_8} <= {n_5, n_6, n_7};
            sig_5      <= m_4 == 0 ? 24'd0 : float_4[23:0];
            factor_5   <= factor;
            power_of_5 <= (m_4 == 0 ? 10'sd0 : $signed({5'd0, float_4[28:24]})) + $signed({2'd0, scale_i[30:23]}) - 10'sd127;
            product    <= {above, 12'd0} + {12'd0, below};
            power_of_6 <= power_of_5;
            sig_7      <= product == 0 ? 24'd0 : float_6[23:0];
            power_of_7 <= power_of_6 + float_6[24];
            large      <= sig_7 != 0 & power_of_7 >= 9;
            whole      <= sig_7 == 0 | power_of_7 < -30 | power_of_7 >= 9 ? 10'd0 : to_integer(sig_7, power_of_7);
            answer     <= clamped[7:0];
        end
        if (!rst_ni) known <= 0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        assume (low >= -128 & high <= 255 & low <= high & zero >= -128 & zero <= 255);
        assume (scale_i[30:23] != 8'hff);  // infinite or NaN must not be given
        if (product != 0) assume (product >= 48'd1 << 46);  // of two significands
        if (known[4] & sig_5 == 0) assume (above == 0 & below == 0);
        if (known[4] & sig_5 != 0) assume ({above, 12'd0} + {12'd0, below} >= 49'd1 << 46 & {1'b0, above, 12'd0} + {13'd0, below} < 50'd1 << 48);
        if (begun) begin
            assert ((known & known + 10'd1) == 0);
            if (known[0]) assert (biased_1 == s_1);
            if (known[1]) assert (sign_2 == (s_2 < 0) & magnitude_2 == (s_2 < 0 ? -s_2 : s_2));
            if (known[2]) begin
                assert (sign_3 == (s_3 < 0) & normal_3 == (s_3 < 0 ? -s_3 : s_3) << shift_3);
                assert (s_3 == 0 ? normal_3 == 0 & shift_3 == 31 : normal_3[31]);
                assert ((normal_3 >> shift_3) == $unsigned(s_3 < 0 ? -s_3 : s_3));
            end
            if (known[3]) begin
                assert (sign_4 == (s_4 < 0));
                assert (s_4 == 0 ? significand_4 == 0 & place_4 == 0 : {place_4, significand_4} == float_4);
            end
            if (known[4]) begin
                assert (sign_5 == n_5 & upper_5 == above & lower_5 == below & power_5 == power_of_5);
                assert (sig_5 == 0 | sig_5[23]);
            end
            if (known[5]) assert (sign_6 == n_6 & product_6 == product & power_6 == power_of_6);
            if (known[6]) begin
                assert (sign_7 == n_7 & mantissa_7 == sig_7);
                assert (sig_7 == 0 | (sig_7[23] & power_7 == power_of_7));
            end
            if (known[7]) assert (sign_8 == n_8 & large_8 == large & (large | whole_8 == whole) & whole <= 512);
            if (known[0]) assert (bounds_1 == bounds);
            if (known[1]) assert (bounds_2 == bounds);
            if (known[2]) assert (bounds_3 == bounds);
            if (known[3]) assert (bounds_4 == bounds);
            if (known[4]) assert (bounds_5 == bounds);
            if (known[5]) assert (bounds_6 == bounds);
            if (known[6]) assert (bounds_7 == bounds);
            if (known[7]) assert (bounds_8 == bounds);
            if (known[8]) assert (result == answer);
        end
        cover (known[8] & valid & result == 8'd7 & ~move);
    end

endmodule
