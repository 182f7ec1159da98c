// SPDX-License-Identifier: Apache-2.0
// What becomes of 8-bit results on their way to memory, lane by lane: a table, then a second operand that is added or
// multiplied, in ONNX Runtime's arithmetic.
//     table:    a = table[result]
//     add:      rint(fma(a, result_scale, fma(b, operand_scale, offset)))
//     multiply: rint((a - result_zero) * (b - operand_zero) * operand_scale + offset), its product and its sum each a float32
// clamped to [low, high]. Each operation rounds to float32, to nearest, ties to even, and so does rint.
// All numbers are multiples of 2**-41 below 2**18, so sums are exact: what float32 would round away is found in place, by a
// mask of the bits behind the 24 that the highest bit begins.
// Latency: 14 clocks from a row to its results; a row a clock.
// Handshake: valid/ready on both sides; ready_o depends on ready_i. While the results at the end wait, nothing moves. The
//            settings stay as they are from the first row to the last; the table is written before.
`default_nettype none

module gemm64_vector #(
    parameter N     = 64,  // lanes
    parameter LOG_N = 6    // log2 N, at most 7
) (
    input  wire           clk_i,
    input  wire           rst_ni,            // synchronous, active low
    // Settings
    input  wire           signed_i,          // bytes are int8, else uint8
    input  wire           add_i,
    input  wire           multiply_i,        // not both
    input  wire           table_i,
    input  wire [27:0]    result_scale_i,    // float32 from 2**-16 to below 2**7, without the bits that all of these share
    input  wire [27:0]    operand_scale_i,   // the same; to multiply, below 2
    input  wire [31:0]    offset_i,          // float32: 0, or in magnitude 2**-18 to below 2**17
    input  wire [7:0]     result_zero_i,
    input  wire [7:0]     operand_zero_i,
    input  wire [7:0]     low_i,
    input  wire [7:0]     high_i,
    // Table, N entries at once
    input  wire           table_write_i,
    input  wire [7-LOG_N:0] table_index_i,   // of its word of N entries
    input  wire [8*N-1:0] table_word_i,
    // Row
    input  wire           valid_i,
    output wire           ready_o,
    input  wire           last_i,            // handed on
    input  wire [8*N-1:0] result_i,
    input  wire [8*N-1:0] operand_i,
    // Results
    output wire           valid_o,
    input  wire           ready_i,
    output wire           last_o,
    output wire [8*N-1:0] result_o,
    output wire           busy_o             // rows under way
);

    localparam STAGES = 14;
    localparam WIDTH  = 62;  // bits of a sum, in steps of 2**-41

    reg [STAGES:1] valid_q, last_q;

    wire move = ready_o & (valid_i | busy_o);

    assign ready_o = ~valid_o | ready_i;
    assign valid_o = valid_q[STAGES];
    assign last_o  = last_q[STAGES];
    assign busy_o  = valid_q != {STAGES{1'b0}};

    always @(posedge clk_i)
        if (!rst_ni) valid_q <= {STAGES{1'b0}};
        else if (move) begin
            valid_q <= {valid_q[STAGES-1:1], valid_i};
            last_q  <= {last_q[STAGES-1:1], last_i};
        end

    // Settings of all lanes: 2**-16 has exponent 111, and its last bit is 2**-39; the offset's is 2**-41 at exponent 109.
    wire [4:0]              result_shift  = result_scale_i[27:23] - 5'd15;   // 111 is 15 modulo 32
    wire [4:0]              operand_shift = operand_scale_i[27:23] - 5'd15;
    wire [5:0]              offset_shift  = offset_i[28:23] - 6'd45;         // 109 is 45 modulo 64
    wire signed [24:0]      result_factor  = {2'b01, result_scale_i[22:0]};
    wire [23:0]             operand_factor = {1'b1, operand_scale_i[22:0]};
    wire [WIDTH-1:0]        offset_size    = {{WIDTH-24{1'b0}}, 1'b1, offset_i[22:0]} << offset_shift;
    wire signed [WIDTH-1:0] offset = offset_i[30:23] == 8'd0 ? {WIDTH{1'b0}} : offset_i[31] ? -offset_size : offset_size;
    wire signed [8:0]       result_zero  = {signed_i & result_zero_i[7], result_zero_i};
    wire signed [8:0]       operand_zero = {signed_i & operand_zero_i[7], operand_zero_i};
    wire signed [8:0]       low          = {signed_i & low_i[7], low_i};
    wire signed [8:0]       high         = {signed_i & high_i[7], high_i};

    reg signed [WIDTH-1:0] offset_q;  // it takes long, and stays
    always @(posedge clk_i) offset_q <= offset;

    reg [8*256-1:0] table_q;
    always @(posedge clk_i) if (table_write_i) table_q[8*N*table_index_i +: 8*N] <= table_word_i;

    // What a lane holds behind stage i
    reg signed [8:0]       result_1 [0:N-1], operand_1 [0:N-1], result_2 [0:N-1];
    reg signed [17:0]      factor_2 [0:N-1];
    reg signed [30:0]      upper_3 [0:N-1], lower_3 [0:N-1];
    reg signed [33:0]      other_3 [0:N-1], other_4 [0:N-1];
    reg signed [42:0]      product_4 [0:N-1];
    reg signed [WIDTH-1:0] sum_5 [0:N-1], sum_6 [0:N-1], sum_10 [0:N-1];
    reg signed [WIDTH-1:0] other_5 [0:N-1], other_6 [0:N-1], other_7 [0:N-1], other_8 [0:N-1], other_9 [0:N-1];
    reg                    sign_7 [0:N-1], sign_8 [0:N-1], sign_11 [0:N-1], sign_12 [0:N-1], sign_13 [0:N-1];
    reg [WIDTH-1:0]        size_7 [0:N-1], size_8 [0:N-1], size_11 [0:N-1], size_12 [0:N-1];
    reg [WIDTH-1:0]        behind_8 [0:N-1], behind_12 [0:N-1];
    reg                    up_8 [0:N-1], up_12 [0:N-1];
    reg signed [WIDTH-1:0] float_9 [0:N-1];
    reg [9:0]              whole_13 [0:N-1];
    reg [7:0]              plain_1 [0:N-1], plain_2 [0:N-1], plain_3 [0:N-1], plain_4 [0:N-1], plain_5 [0:N-1];
    reg [7:0]              plain_6 [0:N-1], plain_7 [0:N-1], plain_8 [0:N-1], plain_9 [0:N-1], plain_10 [0:N-1];
    reg [7:0]              plain_11 [0:N-1], plain_12 [0:N-1], plain_13 [0:N-1];
    reg [8*N-1:0]          result_14_q;

    assign result_o = result_14_q;

    // A mask of the bits behind the 24 that the highest bit begins, and above it whether they round the rest up.
    function [WIDTH:0] beyond;
        input [WIDTH-1:0] size;
        reg [WIDTH-1:0] behind;
        begin
            behind = size | size >> 1;
            behind = behind | behind >> 2;
            behind = behind | behind >> 4;
            behind = behind | behind >> 8;
            behind = behind | behind >> 16;
            behind = (behind | behind >> 32) >> 24;
            beyond = {(size & behind & ~(behind >> 1)) != {WIDTH{1'b0}}
                      & ((size & (behind >> 1)) != {WIDTH{1'b0}}
                         | (size & ~behind & {behind[WIDTH-2:0], 1'b1}) != {WIDTH{1'b0}}), behind};
        end
    endfunction

    // Between registers, of one lane after the other
    reg [8*N-1:0]     results;
    reg [7:0]         byte_in, from;
    reg signed [8:0]  a, b;
    reg [WIDTH-1:0]   behind, rounded;
    reg               up, half;
    reg signed [11:0] whole;
    integer c;

    // One block, from the last stage to the first: each takes what the stage before it held.
    always @(posedge clk_i) if (move) begin
        // 14: bounds
        for (c = 0; c < N; c = c + 1) begin
            whole = sign_13[c] ? -$signed({2'd0, whole_13[c]}) : $signed({2'd0, whole_13[c]});
            results[8*c +: 8] = ~(add_i | multiply_i) ? plain_13[c]
                              : whole > $signed({{3{high[8]}}, high}) ? high[7:0]
                              : whole < $signed({{3{low[8]}}, low}) ? low[7:0] : whole[7:0];
        end
        result_14_q <= results;

        // 13: rounded, then rint; what is 512 or more passes every bound
        for (c = 0; c < N; c = c + 1) begin
            rounded = (size_12[c] & ~behind_12[c]) + (up_12[c] ? behind_12[c] + 1'b1 : {WIDTH{1'b0}});
            half    = rounded[40] & (rounded[41] | rounded[39:0] != 40'd0);
            sign_13[c]  = sign_12[c];
            whole_13[c] = rounded[WIDTH-1:50] != {WIDTH-50{1'b0}} ? 10'd512 : {1'b0, rounded[49:41]} + {9'd0, half};
            plain_13[c] = plain_12[c];
        end

        // 12: what float32 rounds away
        for (c = 0; c < N; c = c + 1) begin
            {up, behind} = beyond(size_11[c]);
            sign_12[c]   = sign_11[c];
            size_12[c]   = size_11[c];
            behind_12[c] = behind;
            up_12[c]     = up;
            plain_12[c]  = plain_11[c];
        end

        // 11: sign and magnitude
        for (c = 0; c < N; c = c + 1) begin
            sign_11[c] = sum_10[c][WIDTH-1];
            size_11[c] = sum_10[c][WIDTH-1] ? -sum_10[c] : sum_10[c];
            plain_11[c] = plain_10[c];
        end

        // 10: the second sum
        for (c = 0; c < N; c = c + 1) begin
            sum_10[c]   = float_9[c] + other_9[c];
            plain_10[c] = plain_9[c];
        end

        // 9: the first, rounded
        for (c = 0; c < N; c = c + 1) begin
            rounded = (size_8[c] & ~behind_8[c]) + (up_8[c] ? behind_8[c] + 1'b1 : {WIDTH{1'b0}});
            float_9[c] = sign_8[c] ? -rounded : rounded;
            other_9[c] = other_8[c];
            plain_9[c] = plain_8[c];
        end

        // 8: what float32 rounds away
        for (c = 0; c < N; c = c + 1) begin
            {up, behind} = beyond(size_7[c]);
            sign_8[c]   = sign_7[c];
            size_8[c]   = size_7[c];
            behind_8[c] = behind;
            up_8[c]     = up;
            other_8[c]  = other_7[c];
            plain_8[c]  = plain_7[c];
        end

        // 7: sign and magnitude
        for (c = 0; c < N; c = c + 1) begin
            sign_7[c]  = sum_6[c][WIDTH-1];
            size_7[c]  = sum_6[c][WIDTH-1] ? -sum_6[c] : sum_6[c];
            other_7[c] = other_6[c];
            plain_7[c] = plain_6[c];
        end

        // 6: the first sum; what is left for the second
        for (c = 0; c < N; c = c + 1) begin
            sum_6[c]   = add_i ? sum_5[c] + offset_q : sum_5[c];
            other_6[c] = add_i ? other_5[c] : offset_q;
            plain_6[c] = plain_5[c];
        end

        // 5: products in steps of 2**-41
        for (c = 0; c < N; c = c + 1) begin
            sum_5[c]   = $signed({{WIDTH-45{product_4[c][42]}}, product_4[c], 2'd0}) << operand_shift;
            other_5[c] = $signed({{WIDTH-36{other_4[c][33]}}, other_4[c], 2'd0}) << result_shift;
            plain_5[c] = plain_4[c];
        end

        // 4: the whole product
        for (c = 0; c < N; c = c + 1) begin
            product_4[c] = {upper_3[c], 12'd0} + {{12{lower_3[c][30]}}, lower_3[c]};
            other_4[c]   = other_3[c];
            plain_4[c]   = plain_3[c];
        end

        // 3: its halves, and the other product
        for (c = 0; c < N; c = c + 1) begin
            upper_3[c] = $signed({{13{factor_2[c][17]}}, factor_2[c]}) * $signed({19'd0, operand_factor[23:12]});
            lower_3[c] = $signed({{13{factor_2[c][17]}}, factor_2[c]}) * $signed({19'd0, operand_factor[11:0]});
            other_3[c] = $signed({{25{result_2[c][8]}}, result_2[c]}) * $signed({{9{1'b0}}, result_factor});
            plain_3[c] = plain_2[c];
        end

        // 2: what the operand's scale is a factor of
        for (c = 0; c < N; c = c + 1) begin
            a = result_1[c];
            b = operand_1[c];
            factor_2[c] = multiply_i ? $signed({{9{a[8]}}, a} - {{9{result_zero[8]}}, result_zero})
                                     * $signed({{9{b[8]}}, b} - {{9{operand_zero[8]}}, operand_zero}) : {{9{b[8]}}, b};
            result_2[c] = a;
            plain_2[c]  = plain_1[c];
        end

        // 1: table
        for (c = 0; c < N; c = c + 1) begin
            from    = result_i[8*c +: 8];
            byte_in = table_i ? table_q[8*from +: 8] : from;
            plain_1[c]   = byte_in;
            result_1[c]  = {signed_i & byte_in[7], byte_in};
            operand_1[c] = {signed_i & operand_i[8*c+7], operand_i[8*c +: 8]};
        end
    end

endmodule

`default_nettype wire
