// SPDX-License-Identifier: Apache-2.0
// What becomes of 8-bit results on their way to memory, lane by lane: a table, then a second operand that is added or
// multiplied, in ONNX Runtime's arithmetic.
//     table:    a = table[result]
//     add:      rint(fma(a, result_scale, fma(b, operand_scale, offset)))
//     multiply: rint((a - result_zero) * (b - operand_zero) * operand_scale + offset), its product and its sum each a float32
// where the two may change places, clamped to [low, high]. Each operation rounds to float32, to nearest, ties to even, and so does rint.
// Sums are exact, in steps of 2**-31 below 2**16, and with two's complement ties go to even on both sides of 0. The first is
// then rounded to the 24 bits that its highest begins. Of the second, rounded just so, only rint remains, for which it matters
// only within a step of a half. A product to multiply may have bits below 2**-31: these matter only in that there are some.
// Latency: 11 cycles from a row to its results; a row per cycle.
// Handshake: valid/ready on both sides; ready_o depends on ready_i. While the results at the end wait, nothing moves. The
//            settings are loaded, and the table is written, while no row is in flight, a cycle before the first one.
`default_nettype none

module gemm64_elementwise #(
    parameter N     = 64,  // lanes
    parameter LOG_N = 6,   // log2 N, at most 7
    parameter SELF_CHECK = 0  // 0: wrong_o is 0; below 2: wrong_row_o is 0
) (
    input  wire           clk_i,
    input  wire           rst_ni,            // synchronous, active low
    // Settings, taken over in the cycles with load_i
    input  wire           load_i,
    input  wire           signed_i,          // bytes are int8, else uint8
    input  wire           add_i,
    input  wire           multiply_i,        // not both
    input  wire           table_i,
    input  wire           swap_i,            // a and b change places, to add
    input  wire           operand_moved_i,   // operands come with their highest bits flipped
    input  wire           result_moved_i,    // results leave so
    // float32 without the bits that all in range share: from 2**-7 to below 2**4, the operand's to multiply from 2**-12
    // to below a half
    input  wire [26:0]    result_scale_i,
    input  wire [26:0]    operand_scale_i,
    input  wire [31:0]    offset_i,          // float32, a multiple of 2**-31, in magnitude below 2**14
    input  wire [7:0]     result_zero_i,
    input  wire [7:0]     operand_zero_i,
    input  wire [7:0]     low_i,
    input  wire [7:0]     high_i,
    // Table, N entries at once
    input  wire             table_write_i,
    input  wire [7-LOG_N:0] table_index_i,   // of its word of N entries
    input  wire [8*N-1:0]   table_word_i,
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
    output wire           busy_o,            // rows in flight
    // An entry of the table was not what was written: from the cycle after its row came on, until the reset
    output wire           wrong_o,
    output wire [7:0]     wrong_entry_o,
    // What a stage held was not what was written: from the cycle after it was used on, until the reset
    output wire           wrong_row_o
);

    localparam STAGES = 11;
    localparam WIDTH  = 48;  // bits of a sum
    localparam POINT  = 31;  // bits after the point
    localparam KEPT   = 24;  // bits of a float32
    localparam MASK   = WIDTH - 1 - KEPT;  // the most that are rounded away

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

    // Settings of all lanes, from registers of their own. With exponent e a scale's last bit is 2**(e-150): the operand's is
    // shifted left from 2**-35 at e = 115, the result's from 2**-31 at e = 119.
    wire [3:0]  operand_exponent = operand_scale_i[26:23] - 4'd3;  // 115 is 3 modulo 16
    wire [3:0]  result_exponent  = result_scale_i[26:23] - 4'd7;   // 119 is 7
    wire [7:0]  offset_exponent  = offset_i[30:23];
    reg  [WIDTH-1:0] offset_steps;

    reg               signed_q, add_q, multiply_q, table_on_q, swap_q, operand_moved_q, result_moved_q;
    reg [3:0]         operand_shift_q, result_shift_q;
    reg [23:0]        operand_factor_q, result_factor_q;
    reg [WIDTH-1:0]   offset_q;
    reg signed [8:0]  result_zero_q, operand_zero_q, low_q, high_q;

    always @(posedge clk_i) if (load_i) begin
        offset_steps = {{WIDTH-24{1'b0}}, 1'b1, offset_i[22:0]};
        offset_steps = offset_exponent >= 8'd119 ? offset_steps << (offset_exponent - 8'd119)
                     : offset_exponent >= 8'd96  ? offset_steps >> (8'd119 - offset_exponent) : {WIDTH{1'b0}};
        signed_q         <= signed_i;
        add_q            <= add_i;
        multiply_q       <= multiply_i;
        table_on_q       <= table_i;
        swap_q           <= swap_i;
        operand_moved_q  <= operand_moved_i;
        result_moved_q   <= result_moved_i;
        operand_shift_q  <= operand_exponent;
        result_shift_q   <= result_exponent;
        operand_factor_q <= {1'b1, operand_scale_i[22:0]};
        result_factor_q  <= {1'b1, result_scale_i[22:0]};
        offset_q         <= offset_i[31] ? -offset_steps : offset_steps;
        // Only products have zero points.
        result_zero_q    <= multiply_i ? {signed_i & result_zero_i[7], result_zero_i} : 9'd0;
        operand_zero_q   <= multiply_i ? {signed_i & operand_zero_i[7], operand_zero_i} : 9'd0;
        low_q            <= {signed_i & low_i[7], low_i};
        high_q           <= {signed_i & high_i[7], high_i};
    end

    reg [8*N-1:0] table_q [0:256/N-1];
    always @(posedge clk_i) if (table_write_i) table_q[table_index_i] <= table_word_i;

    // A bit an entry, since each lane reads one of its own: whether the entry has an odd number of ones.
    generate
        if (SELF_CHECK != 0) begin : self_check
            reg [N-1:0]   odd_q [0:256/N-1];
            reg [N-1:0]   odd;
            reg [N-1:0]   lanes_wrong_q;  // in the cycle before, ...
            reg [8*N-1:0] looked_q;       // ... which looked here
            reg           wrong_q;
            reg [7:0]     index, wrong_entry_q;
            integer       i, lane;
            wire [N-1:0] one_wrong = lanes_wrong_q & (~lanes_wrong_q + {{N-1{1'b0}}, 1'b1});
            always @* for (i = 0; i < N; i = i + 1) odd[i] = ^table_word_i[8*i +: 8];
            always @(posedge clk_i) begin
                if (table_write_i) odd_q[table_index_i] <= odd;
                for (lane = 0; lane < N; lane = lane + 1) begin
                    index = result_i[8*lane +: 8];
                    lanes_wrong_q[lane] <= rst_ni & valid_i & ready_o & table_on_q
                        & ^{table_q[index[7:LOG_N]][8*index[LOG_N-1:0] +: 8], odd_q[index[7:LOG_N]][index[LOG_N-1:0]]};
                end
                looked_q <= result_i;
                index = 8'd0;
                for (lane = 0; lane < N; lane = lane + 1) index = index | (looked_q[8*lane +: 8] & {8{one_wrong[lane]}});
                if (!rst_ni) {wrong_q, wrong_entry_q} <= 9'd0;
                else if (~wrong_q & lanes_wrong_q != {N{1'b0}}) {wrong_q, wrong_entry_q} <= {1'b1, index};
            end
            assign {wrong_o, wrong_entry_o} = {wrong_q, wrong_entry_q};
        end else begin : unchecked
            assign {wrong_o, wrong_entry_o} = 9'd0;
        end
    endgenerate

    // A lane's registers after stage i
    reg        [7:0]       result_1 [0:N-1], operand_1 [0:N-1];
    reg signed [8:0]       result_2 [0:N-1], operand_2 [0:N-1], operand_3 [0:N-1];
    reg signed [33:0]      product_3 [0:N-1], product_4 [0:N-1], product_5 [0:N-1], product_6 [0:N-1], product_7 [0:N-1];
    reg signed [30:0]      upper_4 [0:N-1], lower_4 [0:N-1];
    reg        [42:0]      scaled_5 [0:N-1];
    reg        [WIDTH-1:0] steps_6 [0:N-1], sum_7 [0:N-1], kept_8 [0:N-1], other_8 [0:N-1], sum_9 [0:N-1];
    reg        [MASK:0]    step_8 [0:N-1];
    reg signed [10:0]      whole_10 [0:N-1];
    reg        [7:0]       plain_2 [0:N-1], plain_3 [0:N-1], plain_4 [0:N-1], plain_5 [0:N-1], plain_6 [0:N-1];
    reg        [7:0]       plain_7 [0:N-1], plain_8 [0:N-1], plain_9 [0:N-1], plain_10 [0:N-1];
    reg        [8*N-1:0]   result_11_q;

    assign result_o = result_11_q;

    // With SELF_CHECK = 2, the parity of the registers of each stage of a lane; of stages 3 and 4, whose
    // products come late in a cycle, those of two bits each, or three. What passes several stages takes its bit along.
    localparam ODD = STAGES + 16 + 30;
    // A difference in a lane is reported a cycle later; one in the last stage, whose row leaves, at once.
    reg              wrong_row_q, wrong_before_q;
    reg [N-1:0]      differs_q;
    reg [ODD-1:0]    odd         [0:N-1];
    reg [7:4]        product_odd [0:N-1];
    reg [10:2]       plain_odd   [0:N-1];
    wire [ODD-1:0]   used = {valid_q[11:5], {31{valid_q[4]}}, {17{valid_q[3]}}, valid_q[2:1]};

    always @(posedge clk_i) if (SELF_CHECK > 1 | !rst_ni) wrong_before_q <= rst_ni & (wrong_before_q | differs_q != {N{1'b0}});
    assign wrong_row_o = SELF_CHECK > 1 & (wrong_row_q | wrong_before_q);

    function [ODD-1:0] odd_of;
        input integer     lane;
        input       [7:0] result;
        odd_of = {^result, ^whole_10[lane], ^sum_9[lane], ^{kept_8[lane], other_8[lane], step_8[lane]}, ^sum_7[lane],
                  ^steps_6[lane], ^scaled_5[lane], upper_4[lane] ^ lower_4[lane],
                  product_3[lane][33:17] ^ product_3[lane][16:0] ^ {8'd0, operand_3[lane]},
                  ^{result_2[lane], operand_2[lane]}, ^{result_1[lane], operand_1[lane]}};
    endfunction

    // Between registers, of one lane after the other
    reg [8*N-1:0]           results;
    reg signed [8:0]        a, b;
    reg signed [24:0]       factor;
    reg signed [17:0]       number;
    reg [WIDTH+3:0]         shifted;
    reg [WIDTH-1:0]         sum;
    reg [MASK-1:0]          dropped;  // bits that are rounded away
    reg                     up, most;
    reg [7:0]               place;
    reg [14:0]              away;
    reg [7:0]               entry;
    reg                     half, some, ones;
    reg signed [10:0]       whole;
    reg                     wrong;
    reg [ODD-1:0]           differ;
    integer c;

    // One block, from the last stage to the first: each takes what the stage before it held. So the simulation skips all
    // of it while nothing moves.
    always @(posedge clk_i) if (SELF_CHECK > 1 & !rst_ni) {differs_q, wrong_row_q} <= {N + 1{1'b0}}; else if (move) begin
        // What is used is still what was written.
        if (SELF_CHECK > 1) begin
            wrong = wrong_row_q;
            for (c = 0; c < N; c = c + 1) begin
                differ = (odd_of(c, result_11_q[8*c +: 8]) ^ odd[c]) & used;
                if (differ[ODD-1]) wrong = 1'b1;
                differs_q[c] <= differ[ODD-2:0] != {ODD-1{1'b0}} | (valid_q[10] & ^plain_10[c] != plain_odd[c][10])
                              | (valid_q[7] & ^product_7[c] != product_odd[c][7]);
                plain_odd[c]   = {plain_odd[c][9:2], ^result_1[c]};
                product_odd[c] = {product_odd[c][6:4], ^product_3[c]};
            end
            wrong_row_q <= wrong;
        end

        // 11: bounds
        for (c = 0; c < N; c = c + 1) begin
            whole = whole_10[c];
            results[8*c +: 8] = (~(add_q | multiply_q) ? plain_10[c]
                                 : whole > $signed({{2{high_q[8]}}, high_q}) ? high_q[7:0]
                                 : whole < $signed({{2{low_q[8]}}, low_q}) ? low_q[7:0] : whole[7:0])
                              ^ {result_moved_q, 7'd0};
        end
        result_11_q <= results;

        // 10: rint of the sum as float32 has it. `away` are the bits that float32 lacks: from a half on those from 2**-25 on,
        // one more with each doubling. Where the sum is smaller it comes to 0 either way; from 256 on it passes all bounds.
        for (c = 0; c < N; c = c + 1) begin
            sum   = sum_9[c];
            place = sum[POINT +: 8] ^ {8{sum[WIDTH-1]}};
            place = place | place >> 1;
            place = place | place >> 2;
            place = place | place >> 4;
            away  = {place, 7'h7f};
            most  = sum[WIDTH-1:POINT+9] != {WIDTH-POINT-9{sum[WIDTH-1]}};
            // What is away rounds the rest up where it is more than half of a step, or half and the rest is odd.
            up    = (sum[14:0] & away & ~(away >> 1)) != 15'd0
                  & ((sum[14:0] & (away >> 1)) != 15'd0 | (sum[15:0] & ~{1'b0, away} & {away, 1'b1}) != 16'd0);
            half  = sum[POINT-1];
            some  = (sum[POINT-2:0] & ~{{POINT-16{1'b0}}, away}) != {POINT-1{1'b0}};
            ones  = (sum[POINT-2:0] | {{POINT-16{1'b0}}, away}) == {POINT-1{1'b1}};
            whole = sum[POINT +: 11];
            up    = half ? some | up | whole[0] : ones & up & whole[0];
            whole_10[c] = most ? {sum[WIDTH-1], {10{~sum[WIDTH-1]}}} : whole + $signed({10'd0, up});
            plain_10[c] = plain_9[c];
        end

        // 9: the second sum
        for (c = 0; c < N; c = c + 1) begin
            sum_9[c]   = kept_8[c] + other_8[c] + {{WIDTH-MASK-1{1'b0}}, step_8[c]};
            plain_9[c] = plain_8[c];
        end

        // 8: the first sum without what float32 lacks, and the step that rounds it up; the second summand
        for (c = 0; c < N; c = c + 1) begin
            sum    = sum_7[c];
            dropped = sum[WIDTH-2:KEPT] ^ {MASK{sum[WIDTH-1]}};
            dropped = dropped | dropped >> 1;
            dropped = dropped | dropped >> 2;
            dropped = dropped | dropped >> 4;
            dropped = dropped | dropped >> 8;
            dropped = dropped | dropped >> 16;
            up     = (sum[MASK-1:0] & dropped & ~(dropped >> 1)) != {MASK{1'b0}}
                   & ((sum[MASK-1:0] & (dropped >> 1)) != {MASK{1'b0}}
                      | (sum[MASK:0] & ~{1'b0, dropped} & {dropped, 1'b1}) != {MASK+1{1'b0}});
            kept_8[c]  = sum & ~{{WIDTH-MASK{1'b0}}, dropped};
            step_8[c]  = up ? {dropped, 1'b1} & ~{1'b0, dropped} : {MASK+1{1'b0}};
            other_8[c] = add_q ? {{WIDTH-34{product_7[c][33]}}, product_7[c]} << result_shift_q : offset_q;
            plain_8[c] = plain_7[c];
        end

        // 7: the first sum
        for (c = 0; c < N; c = c + 1) begin
            sum_7[c]     = steps_6[c] + (add_q ? offset_q : {WIDTH{1'b0}});
            product_7[c] = product_6[c];
            plain_7[c]   = plain_6[c];
        end

        // 6: in steps of 2**-31; below them, whether anything is left
        for (c = 0; c < N; c = c + 1) begin
            shifted = {{WIDTH-39{scaled_5[c][42]}}, scaled_5[c]} << operand_shift_q;
            steps_6[c]   = {shifted[WIDTH+3:5], shifted[4:0] != 5'd0};
            product_6[c] = product_5[c];
            plain_6[c]   = plain_5[c];
        end

        // 5: the whole product with the operand's scale
        for (c = 0; c < N; c = c + 1) begin
            scaled_5[c]  = {upper_4[c], 12'd0} + {{12{lower_4[c][30]}}, lower_4[c]};
            product_5[c] = product_4[c];
            plain_5[c]   = plain_4[c];
        end

        // 4: its halves
        for (c = 0; c < N; c = c + 1) begin
            number = add_q ? {{9{operand_3[c][8]}}, operand_3[c]} : product_3[c][17:0];
            upper_4[c]   = $signed({{13{number[17]}}, number}) * $signed({19'd0, operand_factor_q[23:12]});
            lower_4[c]   = $signed({{13{number[17]}}, number}) * $signed({19'd0, operand_factor_q[11:0]});
            product_4[c] = product_3[c];
            plain_4[c]   = plain_3[c];
        end

        // 3: the result times its scale, or times the operand
        for (c = 0; c < N; c = c + 1) begin
            factor = add_q ? $signed({1'b0, result_factor_q}) : {{16{operand_2[c][8]}}, operand_2[c]};
            product_3[c] = $signed({{25{result_2[c][8]}}, result_2[c]}) * $signed({{9{factor[24]}}, factor});
            operand_3[c] = operand_2[c];
            plain_3[c]   = plain_2[c];
        end

        // 2: zero points
        for (c = 0; c < N; c = c + 1) begin
            a = $signed({signed_q & result_1[c][7], result_1[c]}) - result_zero_q;
            b = $signed({signed_q & operand_1[c][7], operand_1[c]}) - operand_zero_q;
            result_2[c]  = swap_q ? b : a;
            operand_2[c] = swap_q ? a : b;
            plain_2[c]   = result_1[c];
        end

        // 1: table
        for (c = 0; c < N; c = c + 1) begin
            entry        = result_i[8*c +: 8];
            result_1[c]  = table_on_q ? table_q[entry[7:LOG_N]][8*entry[LOG_N-1:0] +: 8] : entry;
            operand_1[c] = operand_i[8*c +: 8] ^ {operand_moved_q, 7'd0};
        end

        if (SELF_CHECK > 1) for (c = 0; c < N; c = c + 1) odd[c] = odd_of(c, results[8*c +: 8]);
    end

endmodule

`default_nettype wire
