// SPDX-License-Identifier: Apache-2.0
// Turns rows of N sums into 8-bit results in ONNX Runtime's arithmetic (QLinearMatMul, QLinearConv, QGemm):
//     result = clamp(rint(float32(sum + bias) * scale) + zero, low, high)
// sum + bias wraps at 32 bits; its conversion to float32 and the one float32 product round to nearest, ties to even,
// and so does rint. The bounds are integers, so that clamping after rint gives what clamping before it does.
// The sign of a scale is not looked at; one that is infinite or NaN counts as the largest finite one.
// Latency: 9 cycles from a row to its results; a row per cycle.
// Handshake: valid/ready on both sides; ready_o depends on ready_i and freeze_i. While the results at the end wait, or
//            with freeze_i, nothing moves.
//            The biases belong to the row that is given. The scales are to be shown a cycle after scale_read_o, until the
//            next one: of the tile whose first row then is in stage 4.
`default_nettype none

module gemm64_requantize #(
    parameter N          = 64,  // columns
    parameter SELF_CHECK = 0    // below 2: wrong_o is 0
) (
    input  wire               clk_i,
    input  wire               rst_ni,       // synchronous, active low
    // Row
    input  wire               valid_i,
    output wire               ready_o,
    input  wire               first_i,      // the first of its tile
    input  wire               last_i,       // handed on
    input  wire signed [8:0]  zero_i,
    input  wire signed [8:0]  low_i,
    input  wire signed [8:0]  high_i,
    input  wire [32*N-1:0]    sum_i,
    input  wire [32*N-1:0]    bias_i,
    // Scales: float32
    output wire               scale_read_o,
    input  wire [32*N-1:0]    scale_i,
    // A word that accompanies each row, shown from the cycle after the row was given on
    input  wire               beside_i,     // it counts
    input  wire [8*N-1:0]     operand_i,
    output wire [8*N-1:0]     operand_o,
    input  wire               freeze_i,
    // Results
    output wire               valid_o,
    input  wire               ready_i,
    output wire               last_o,
    output wire [8*N-1:0]     result_o,
    output wire               busy_o,       // rows in flight
    // What a stage held was not what was written: from the cycle after it was used on, until the reset
    output wire               wrong_o
);

    localparam STAGES = 9;
    localparam BEFORE_SCALES = 3;  // stage of the row whose scales are needed a cycle later

    reg [STAGES:1]        valid_q, last_q;
    reg [BEFORE_SCALES:1] first_q;

    wire move = ready_o & (valid_i | busy_o);

    assign ready_o      = (~valid_o | ready_i) & ~freeze_i;
    assign scale_read_o = move & valid_q[BEFORE_SCALES] & first_q[BEFORE_SCALES];
    assign valid_o      = valid_q[STAGES];
    assign last_o       = last_q[STAGES];
    assign busy_o       = valid_q != {STAGES{1'b0}};

    always @(posedge clk_i)
        if (!rst_ni) valid_q <= {STAGES{1'b0}};
        else if (move) begin
            valid_q <= {valid_q[STAGES-1:1], valid_i};
            last_q  <= {last_q[STAGES-1:1], last_i};
            first_q <= {first_q[BEFORE_SCALES-1:1], first_i};
        end

    reg [8*N-1:0] operand_q [2:STAGES-1];
    reg [8*N-1:0] operand_9_q;
    integer       i;

    assign operand_o = operand_9_q;

    always @(posedge clk_i)
        if (move & beside_i) begin
            operand_9_q <= operand_q[STAGES-1];
            for (i = STAGES - 1; i > 2; i = i - 1) operand_q[i] = operand_q[i-1];
            operand_q[2] = operand_i;
        end

    // With SELF_CHECK = 2, rows go with bits that tell whether the ones of what a stage of a column holds are odd in number; of
    // stage 5, whose products come late in a cycle, those of each twelfth bit. Operands go with the exclusive or of their bytes.
    localparam ODD = STAGES + 11;
    // A difference in a column is reported a cycle later; one in the last stage, whose row leaves, at once.
    reg              wrong_q, wrong_before_q;
    reg [N-1:0]      differs_q;
    reg [ODD-1:0]    odd [0:N-1];
    reg [STAGES-1:1] bounds_odd_q;
    wire [ODD-1:0]   used = {valid_q[9:6], {12{valid_q[5]}}, valid_q[4:1]};

    always @(posedge clk_i) if (SELF_CHECK > 1) wrong_before_q <= rst_ni & (wrong_before_q | differs_q != {N{1'b0}});

    generate
        if (SELF_CHECK > 1) begin : self_check
            function [7:0] together;
                input [8*N-1:0] word;
                reg   [8*N-1:0] rest;
                integer         half;
                begin
                    rest = word;
                    for (half = 4 * N; half >= 8; half = half / 2) rest = rest ^ (rest >> half);
                    together = rest[7:0];
                end
            endfunction
            reg [8*(STAGES-2)-1:0] bytes_q;
            reg [7:0]              bytes_9_q;
            reg                    wrong_operand_q;
            always @(posedge clk_i) begin
                if (move & beside_i) {bytes_9_q, bytes_q} <= {bytes_q, together(operand_i)};
                wrong_operand_q <= rst_ni & (wrong_operand_q
                                             | (move & beside_i & valid_o & together(operand_9_q) != bytes_9_q));
            end
            assign wrong_o = wrong_q | wrong_before_q | wrong_operand_q;
        end else begin : unchecked
            assign wrong_o = 1'b0;
        end
    endgenerate

    // A column's registers after stage i
    reg signed [31:0] biased_1   [0:N-1];
    reg               sign_2     [0:N-1], sign_3 [0:N-1], sign_4 [0:N-1], sign_5 [0:N-1], sign_6 [0:N-1];
    reg               sign_7     [0:N-1], sign_8 [0:N-1];
    reg [31:0]        magnitude_2 [0:N-1];
    reg [31:0]        normal_3   [0:N-1];
    reg [4:0]         shift_3    [0:N-1];
    reg [23:0]        significand_4 [0:N-1];
    reg [4:0]         place_4    [0:N-1];
    reg [35:0]        upper_5    [0:N-1], lower_5 [0:N-1];
    reg signed [9:0]  power_5    [0:N-1], power_6 [0:N-1], power_7 [0:N-1];
    reg [47:0]        product_6  [0:N-1];
    reg [23:0]        mantissa_7 [0:N-1];
    reg               large_8    [0:N-1];
    reg [9:0]         whole_8    [0:N-1];
    reg [8*N-1:0]     result_9_q;
    reg [26:0]        bounds     [1:STAGES-1];

    assign result_o = result_9_q;

    function [ODD-1:0] odd_of;
        input integer     column;
        input       [7:0] result;
        odd_of = {^result, ^{sign_8[column], large_8[column], whole_8[column]},
                  ^{sign_7[column], mantissa_7[column], power_7[column]}, ^{sign_6[column], product_6[column], power_6[column]},
                  {1'b0, sign_5[column], power_5[column]} ^ upper_5[column][35:24] ^ upper_5[column][23:12] ^ upper_5[column][11:0]
                  ^ lower_5[column][35:24] ^ lower_5[column][23:12] ^ lower_5[column][11:0],
                  ^{sign_4[column], significand_4[column], place_4[column]}, ^{sign_3[column], normal_3[column], shift_3[column]},
                  ^{sign_2[column], magnitude_2[column]}, ^biased_1[column]};
    endfunction

    // Between registers, of one column after the other
    reg        [8*N-1:0] results;
    reg signed [8:0]  zero, low, high;
    reg signed [11:0] signed_whole, moved;
    reg               above, below, up, long_product, half, rest, over, under;
    reg        [3:0]  behind;
    reg        [33:0] fixed;
    reg        [23:0] kept, factor;
    reg        [24:0] rounded;
    reg        [7:0]  exponent;
    reg        [31:0] by_16, by_8, by_4, by_2;
    reg               wrong;
    reg [ODD-1:0]     differ;
    integer c;

    // One block, from the last stage to the first: each takes what the stage before it held. So the simulation skips all
    // of it while nothing moves.
    always @(posedge clk_i) if (SELF_CHECK > 1 & !rst_ni) {differs_q, wrong_q} <= {N + 1{1'b0}}; else if (move) begin
        // What is used is still what was written.
        if (SELF_CHECK > 1) begin
            wrong = wrong_q | (valid_q[8] & ^bounds[8] != bounds_odd_q[8]);
            for (c = 0; c < N; c = c + 1) begin
                differ = (odd_of(c, result_9_q[8*c +: 8]) ^ odd[c]) & used;
                if (differ[ODD-1]) wrong = 1'b1;
                differs_q[c] <= differ[ODD-2:0] != {ODD-1{1'b0}};
            end
            wrong_q <= wrong;
            bounds_odd_q <= {bounds_odd_q[STAGES-2:1], ^{zero_i, low_i, high_i}};
        end

        // 9: zero point and bounds
        {zero, low, high} = bounds[8];
        for (c = 0; c < N; c = c + 1) begin
            signed_whole = sign_8[c] ? -$signed({2'd0, whole_8[c]}) : $signed({2'd0, whole_8[c]});
            moved = signed_whole + $signed({{3{zero[8]}}, zero});
            above = large_8[c] ? ~sign_8[c] : moved > $signed({{3{high[8]}}, high});
            below = large_8[c] ? sign_8[c] : moved < $signed({{3{low[8]}}, low});
            results[8*c +: 8] = above ? high[7:0] : below ? low[7:0] : moved[7:0];
        end
        result_9_q <= results;

        // 8: rint. From 512 on every bound is passed; below a half there is nothing left. In between 15 to 24 bits lie
        // after the point.
        for (c = 0; c < N; c = c + 1) begin
            over   = mantissa_7[c][23] & power_7[c] >= 10'sd9;
            under  = ~mantissa_7[c][23] | power_7[c] < -10'sd1;
            behind = 4'd8 - power_7[c][3:0];                    // less 15
            fixed  = {mantissa_7[c], 10'd0} >> behind;          // 25 bits after the point
            up     = fixed[24] & (fixed[25] | fixed[23:0] != 24'd0);
            sign_8[c]  = sign_7[c];
            large_8[c] = over;
            whole_8[c] = under ? 10'd0 : {1'b0, fixed[33:25]} + {9'd0, up};
        end

        // 7: rounded to 24 bits: mantissa * 2**(power - 23)
        for (c = 0; c < N; c = c + 1) begin
            long_product = product_6[c][47];
            kept         = long_product ? product_6[c][47:24] : product_6[c][46:23];
            half         = long_product ? product_6[c][23] : product_6[c][22];
            rest         = product_6[c][21:0] != 22'd0 | (long_product & product_6[c][22]);
            rounded      = {1'b0, kept} + {24'd0, half & (kept[0] | rest)};
            sign_7[c]     = sign_6[c];
            mantissa_7[c] = {rounded[24] | rounded[23], rounded[22:0]};
            power_7[c]    = power_6[c] + {9'd0, long_product | rounded[24]};
        end

        // 6: the whole product, of 47 or 48 bits
        for (c = 0; c < N; c = c + 1) begin
            sign_6[c]    = sign_5[c];
            product_6[c] = {upper_5[c], 12'd0} + {12'd0, lower_5[c]};
            power_6[c]   = power_5[c];
        end

        // 5: the product with each half of the scale's significand; 1.0 has exponent 127. Zero and denormal scales are
        // taken as if their highest bit were hidden too: whatever is below a half comes to nothing.
        for (c = 0; c < N; c = c + 1) begin
            exponent = scale_i[32*c+23 +: 8];
            factor   = {1'b1, scale_i[32*c +: 23]};
            sign_5[c]  = sign_4[c];
            upper_5[c] = {12'd0, significand_4[c]} * {24'd0, factor[23:12]};
            lower_5[c] = {12'd0, significand_4[c]} * {24'd0, factor[11:0]};
            power_5[c] = $signed({5'd0, place_4[c]}) + $signed({2'd0, exponent}) - 10'sd127;
        end

        // 4: float32(sum + bias) = significand * 2**(place - 23), where place is that of its highest bit. only 2**31 has
        // place 31 before rounding, so that a carry never leaves five bits. A sum of 0 has no bit set.
        for (c = 0; c < N; c = c + 1) begin
            up      = normal_3[c][7] & (normal_3[c][8] | normal_3[c][6:0] != 7'd0);
            rounded = {1'b0, normal_3[c][31:8]} + {24'd0, up};
            sign_4[c]        = sign_3[c];
            significand_4[c] = {rounded[24] | rounded[23], rounded[22:0]};
            place_4[c]       = ~shift_3[c] + {4'd0, rounded[24]};
        end

        // 3: the magnitude with its highest bit on top: magnitude = normal / 2**shift. A shift by halves finds both.
        for (c = 0; c < N; c = c + 1) begin
            by_16 = magnitude_2[c][31:16] == 16'd0 ? {magnitude_2[c][15:0], 16'd0} : magnitude_2[c];
            by_8  = by_16[31:24] == 8'd0 ? {by_16[23:0], 8'd0} : by_16;
            by_4  = by_8[31:28] == 4'd0 ? {by_8[27:0], 4'd0} : by_8;
            by_2  = by_4[31:30] == 2'd0 ? {by_4[29:0], 2'd0} : by_4;
            sign_3[c]   = sign_2[c];
            normal_3[c] = by_2[31] ? by_2 : {by_2[30:0], 1'b0};
            shift_3[c]  = {magnitude_2[c][31:16] == 16'd0, by_16[31:24] == 8'd0, by_8[31:28] == 4'd0,
                           by_4[31:30] == 2'd0, ~by_2[31]};
        end

        // 2: sign and magnitude
        for (c = 0; c < N; c = c + 1) begin
            sign_2[c]      = biased_1[c][31];
            magnitude_2[c] = biased_1[c][31] ? -biased_1[c] : biased_1[c];
        end

        // 1: sum + bias
        for (c = 0; c < N; c = c + 1) biased_1[c] = sum_i[32*c +: 32] + bias_i[32*c +: 32];

        for (c = STAGES - 1; c > 1; c = c - 1) bounds[c] = bounds[c-1];
        bounds[1] = {zero_i, low_i, high_i};

        if (SELF_CHECK > 1) for (c = 0; c < N; c = c + 1) odd[c] = odd_of(c, results[8*c +: 8]);
    end

endmodule

`default_nettype wire
