// SPDX-License-Identifier: Apache-2.0
// The depthwise unit, N lanes of nine multipliers each: depthwise convolutions and pools of planes whose words come once,
// in their order.
// Latency: 4 cycles from the last part of a sum to valid_o, with all N sums of the row. A word of weights is read when it is
//          there and its plane's half of their memory is free.
// Handshake: as gemm64_depthwise_walk; word_i comes a cycle after take_o, weight_i after weight_read_o.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_depthwise #(
    parameter N         = 64,  // lanes, bytes of a word
    parameter LINE      = 128, // words of the longest row, or of the rows from a tap to the next; a power of two
    parameter LOG_LINE  = 7,   // log2 LINE
    parameter ROW_WIDTH = 7,   // bits of an accumulator row's index
    parameter SELF_CHECK = 0   // 0: wrong_o, and what it goes with, are 0
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,          // synchronous, active low
    // Layer
    input  wire [255:0]         window_i,        // words 8 to 15 of its DEPTHWISE: as gemm64_depthwise_check allows
    input  wire [7:0]           zero_i,          // value beyond the border
    // Command
    input  wire                 load_i,          // the next command, 5 cycles after a row at the earliest; all else holds to finished_o
    input  wire                 active_i,
    input  wire [31:0]          planes_i,
    input  wire [31:0]          images_i,
    input  wire                 maximum_i,       // the largest value instead of the sum
    input  wire                 accumulate_i,    // of all windows of an image, which give one row
    output wire                 finished_o,
    // Words
    input  wire                 word_there_i,
    output wire                 take_o,
    input  wire [8*N-1:0]       word_i,
    // Weights: as many words as the kernel has taps, for each plane
    input  wire                 weight_there_i,
    output wire                 weight_read_o,
    input  wire [8*N-1:0]       weight_i,
    // Where the row belongs whose last part this cycle is
    input  wire                 place_i,         // there is a place for it
    input  wire                 row_last_i,      // it is the last of its block
    input  wire                 row_bank_i,
    input  wire [ROW_WIDTH-1:0] row_i,
    output wire                 row_o,
    output wire                 plane_end_o,     // the row is the last of its plane
    // A row of sums, to the accumulator
    output wire                 valid_o,
    output wire                 last_o,
    output wire                 bank_o,
    output wire [ROW_WIDTH-1:0] place_o,
    output wire [32*N-1:0]      sum_o,           // 22 bits each, with their sign
    // State
    output wire                 move_o,
    output wire                 wait_weights_o,
    output wire                 wait_word_o,
    // A word of a memory, or what a register holds, was not what was written: until the reset; see gemm64_parity_check
    output wire                 wrong_o,
    output wire                 wrong_sum_o,     // of the window, of sums or between them; else
    output wire                 wrong_line_o,    // one of a row above, else one of weights
    output wire [23:0]          wrong_word_o     // 0; LINE * rows above + column; 16 * multiplier + address
);

    localparam FIRST = 256;  // bit of the command at which window_i begins
    localparam SIZE  = 7;    // rows and columns of the window
    localparam TAPS  = 9;    // multipliers of a lane

    wire [7:0] kernel   = window_i[`GEMM64_CMD_KERNEL_HEIGHT_LSB - FIRST +: 8];
    wire [7:0] dilation = window_i[`GEMM64_CMD_DILATION_WIDTH_LSB - FIRST +: 8];  // of columns

    // The command's own, as long as its sums are on their way
    reg [7:0]      kernel_q, zero_q;
    reg            maximum_q;
    reg [SIZE-1:0] row_q;  // bit r: the kernel has a row r
    // Columns of a dilated kernel are further apart than a row of the window is long: rows without taps continue it.
    reg            extend_3_q, extend_5_q;
    reg [4:0]      layout_q;  // what makes the part's number that of its taps' places in the window
    integer        r;
    always @(posedge clk_i)
        if (load_i) begin
            {kernel_q, zero_q, maximum_q} <= {kernel, zero_i, maximum_i};
            extend_3_q <= kernel == 8'd3 & dilation != 8'd1;
            extend_5_q <= kernel == 8'd5 & dilation != 8'd1;
            layout_q   <= dilation == 8'd1 ? 5'd0 : kernel == 8'd3 ? 5'd8 + dilation[4:0] : 5'd14;
            for (r = 0; r < SIZE; r = r + 1) row_q[r] <= kernel > r[7:0];
        end

    // From the last cycle with work, sums are on their way for a while. What follows rests otherwise, in a simulation too.
    reg [3:0] awake_q;
    wire awake = ~rst_ni | load_i | active_i | awake_q != 4'd0;
    always @(posedge clk_i) if (awake) awake_q <= {awake_q[2:0], active_i} & {4{rst_ni}};

    wire                shift, sum, first_part, last_part;
    wire [LOG_LINE-1:0] column;
    wire [3:0]          part;
    wire [SIZE-1:0]     row_inside, column_inside;
    wire                weights_there;

    gemm64_depthwise_walk #(.COLUMN_WIDTH(LOG_LINE)) u_walk (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .kernel_i        (kernel),
        .stride_height_i (window_i[`GEMM64_CMD_STRIDE_HEIGHT_LSB - FIRST +: 8]),
        .stride_width_i  (window_i[`GEMM64_CMD_STRIDE_WIDTH_LSB - FIRST +: 8]),
        .dilation_height_i (window_i[`GEMM64_CMD_DILATION_HEIGHT_LSB - FIRST +: 8]),
        .dilation_width_i (dilation),
        .pad_top_i       (window_i[`GEMM64_CMD_PAD_TOP_LSB - FIRST +: 8]),
        .pad_left_i      (window_i[`GEMM64_CMD_PAD_LEFT_LSB - FIRST +: 8]),
        .height_i        (window_i[`GEMM64_CMD_HEIGHT_LSB - FIRST +: 16]),
        .width_i         (window_i[`GEMM64_CMD_WIDTH_LSB - FIRST +: 16]),
        .out_height_i    (window_i[`GEMM64_CMD_OUT_HEIGHT_LSB - FIRST +: 16]),
        .out_width_i     (window_i[`GEMM64_CMD_OUT_WIDTH_LSB - FIRST +: 16]),
        .row_step_i      (window_i[`GEMM64_CMD_ROW_STEP_LSB - FIRST +: 16]),
        .image_step_i    (window_i[`GEMM64_CMD_IMAGE_STEP_LSB - FIRST +: 16]),
        .load_i          (load_i),
        .active_i        (active_i),
        .planes_i        (planes_i),
        .images_i        (images_i),
        .accumulate_i    (accumulate_i),
        .first_i         (window_i[`GEMM64_CMD_LEAD_LSB - FIRST +: 16]),
        .word_i          (word_there_i),
        .weights_i       (weights_there),
        .place_i         (place_i),
        .move_o          (move_o),
        .take_o          (take_o),
        .shift_o         (shift),
        .column_o        (column),
        .sum_o           (sum),
        .part_o          (part),
        .first_part_o    (first_part),
        .last_part_o     (last_part),
        .row_inside_o    (row_inside),
        .column_inside_o (column_inside),
        .plane_end_o     (plane_end_o),
        .finished_o      (finished_o),
        .wait_weights_o  (wait_weights_o),
        .wait_word_o     (wait_word_o)
    );

    // Weights: nine memories, one for each multiplier, of two halves. A half holds a plane's, nine taps a word.
    reg  [31:0] planes_read_q;            // planes whose weights have all been asked for
    reg  [5:0]  tap_q;                    // of the next word
    reg  [3:0]  multiplier_q;             // the tap's
    reg  [2:0]  nine_q;                   // and its part
    reg  [1:0]  halves_q;                 // halves that are taken
    reg  [1:0]  whole_q;                  // of them, those whose last word has come
    reg         read_half_q, sum_half_q;  // half of the next word, and of the next sum
    reg         weight_end_q, weight_half_q;
    reg         weight_write_q;
    reg  [3:0]  weight_multiplier_q;
    reg  [2:0]  weight_nine_q;
    reg         weight_read, weights_end;

    always @* begin
        {weight_read, weights_end} = 2'd0;
        if (active_i) begin
            weight_read = weight_there_i & planes_read_q != planes_i & (tap_q != 6'd0 | halves_q != 2'd2);
            weights_end = tap_q == (kernel_q == 8'd7 ? 6'd48 : kernel_q == 8'd5 ? 6'd24 : 6'd8);
        end
    end
    assign weight_read_o = weight_read;
    assign weights_there = whole_q != 2'd0;

    always @(posedge clk_i) if (awake) begin
        weight_multiplier_q <= multiplier_q;
        weight_nine_q       <= nine_q;
        weight_half_q       <= read_half_q;
        if (rst_ni & ~load_i) begin
            weight_write_q <= weight_read_o;
            weight_end_q   <= weight_read_o & weights_end;
            halves_q <= halves_q + {1'b0, weight_read_o & tap_q == 6'd0} - {1'b0, plane_end_o};
            whole_q  <= whole_q + {1'b0, weight_end_q} - {1'b0, plane_end_o};
            if (plane_end_o) sum_half_q <= ~sum_half_q;
            if (weight_read_o) begin
                if (weights_end) nine_q <= 3'd0;
                else if (multiplier_q == 4'd8) nine_q <= nine_q + 3'd1;
                multiplier_q <= weights_end | multiplier_q == 4'd8 ? 4'd0 : multiplier_q + 4'd1;
                tap_q        <= weights_end ? 6'd0 : tap_q + 6'd1;
                if (weights_end) read_half_q <= ~read_half_q;
                if (weights_end) planes_read_q <= planes_read_q + 32'd1;
            end
        end else begin
            planes_read_q  <= 32'd0;
            tap_q          <= 6'd0;
            multiplier_q   <= 4'd0;
            nine_q         <= 3'd0;
            halves_q       <= 2'd0;
            whole_q        <= 2'd0;
            read_half_q    <= 1'b0;
            sum_half_q     <= 1'b0;
            weight_write_q <= 1'b0;
            weight_end_q   <= 1'b0;
        end
    end

    // 1: the word is there, and the window moves on; or values are chosen from it.
    reg                shift_1_q, sum_1_q, first_1_q, last_1_q, half_1_q;
    reg [LOG_LINE-1:0] column_1_q;
    reg [4:0]          part_1_q;  // its taps' places
    reg [2:0]          nine_1_q;  // the part's word of weights
    reg [SIZE-1:0]     row_inside_1_q, column_inside_1_q;
    wire [7:0]         inside_rows = {1'b0, row_inside_1_q}, inside_columns = {1'b0, column_inside_1_q};
    // 2: the weights are there too. 3: thirds are. 4: sums are.
    reg                sum_2_q, first_2_q, last_2_q, sum_3_q, first_3_q, last_3_q, valid_q;
    reg [ROW_WIDTH+1:0] where_1_q, where_2_q, where_3_q, where_q;

    always @(posedge clk_i) if (awake) begin
        shift_1_q <= shift & rst_ni;
        sum_1_q   <= sum & rst_ni;
        sum_2_q   <= sum_1_q & rst_ni;
        sum_3_q   <= sum_2_q & rst_ni;
        last_1_q  <= last_part & rst_ni;
        last_2_q  <= last_1_q & rst_ni;
        last_3_q  <= last_2_q & rst_ni;
        valid_q   <= last_3_q & rst_ni;
        if (shift) column_1_q <= column;
        if (sum) begin
            {first_1_q, half_1_q, part_1_q}     <= {first_part, sum_half_q, {1'b0, part} + layout_q};
            nine_1_q <= part < 4'd4 ? part[2:0] - {2'd0, part != 4'd0} : part[2:0] - 3'd4;
            {row_inside_1_q, column_inside_1_q} <= {row_inside, column_inside};
        end
        first_2_q <= first_1_q;
        first_3_q <= first_2_q;
        if (last_part) where_1_q <= {row_last_i, row_bank_i, row_i};
        if (last_1_q) where_2_q <= where_1_q;
        if (last_2_q) where_3_q <= where_2_q;
        if (last_3_q) where_q   <= where_3_q;
    end
    assign row_o   = last_part;
    assign valid_o = valid_q;
    assign {last_o, bank_o, place_o} = {where_q[ROW_WIDTH+1] & valid_q, where_q[ROW_WIDTH:0]};

    // The rows above the one that comes, as far as the kernel goes: each a memory of a row's words.
    wire [SIZE-1:1]    line_wrong;  // of each memory, and the word
    wire [24*SIZE-1:24] line_word;
    genvar g;
    generate
        for (g = 0; g < SIZE; g = g + 1) begin : above
            wire [8*N-1:0] word;
            if (g == 0) begin : newest
                assign word = word_i;
            end else begin : kept
                gemm64_ram #(.WIDTH(8*N), .DEPTH(LINE), .ADDRESS_WIDTH(LOG_LINE)) u_line (
                    .clk_i           (clk_i),
                    .busy_i          (shift | shift_1_q),
                    .write_i         (shift_1_q & row_q[g]),
                    .write_address_i (column_1_q),
                    .write_data_i    (above[g-1].word),
                    .read_i          (shift & row_q[g]),
                    .read_address_i  (column),
                    .data_o          (word)
                );
                // Contents from before the command are read as well, and not used.
                gemm64_parity_check #(
                    .ON(SELF_CHECK), .BYTES(N), .DEPTH(LINE), .ADDRESS_WIDTH(LOG_LINE), .UNWRITTEN(1)
                ) u_check (
                    .clk_i           (clk_i),
                    .rst_ni          (rst_ni),
                    .write_i         (shift_1_q & row_q[g]),
                    .write_address_i (column_1_q),
                    .write_data_i    (above[g-1].word),
                    .read_i          (shift & row_q[g]),
                    .read_address_i  (column),
                    .data_i          (word),
                    .wrong_o         (line_wrong[g]),
                    .unwritten_o     (),
                    .word_o          (line_word[24*g +: 24])
                );
            end
        end
    endgenerate

    // Where multiplier m of a part finds its tap: the row above, and the column before; NOWHERE if it has none. Parts are those
    // of 3x3, then three of 5x5, then six of 7x7; then those of 3x3 with dilations of 2 to 6, and of 5x5 with 2.
    localparam integer PARTS = 18;
    localparam [5:0]   NOWHERE = 6'd63;
    function [6*TAPS*PARTS-1:0] all_taps;
        input integer words;  // 1: words of the window instead
        integer which, at, size, number, up, back, apart;
        reg [31:0] place;
        begin
            for (which = 0; which < PARTS; which = which + 1)
                for (at = 0; at < TAPS; at = at + 1) begin
                    size   = which == 0 | (which >= 10 & which < 15) ? 3 : which < 4 | which >= 15 ? 5 : 7;
                    number = at + TAPS * (which == 0 ? 0 : which < 4 ? which - 1 : which < 10 ? which - 4 : which < 15 ? 0 : which - 15);
                    up     = size - 1 - number / size;
                    back   = size - 1 - number % size;
                    apart  = which < 10 ? back : which < 15 ? back * (which - 8) : 2 * back;
                    place  = words == 0 ? 8 * up + back
                           : apart < SIZE ? SIZE * up + apart
                           : size == 3 ? SIZE * (up + 3) + apart - SIZE
                           : 5 * SIZE + 2 * up + apart - SIZE;
                    all_taps[6*(TAPS*which + at) +: 6] = number >= size * size ? NOWHERE : place[5:0];
                end
        end
    endfunction
    localparam [6*TAPS*PARTS-1:0] TAP = all_taps(0), PLACE = all_taps(1);

    // The word of the window before each one; with extend_5_q, BEFORE_5.
    function [6*SIZE*SIZE-1:0] all_before;
        input integer five;
        integer at, back, more;
        reg [31:0] place;
        begin
            for (at = 0; at < SIZE * SIZE; at = at + 1) begin
                back  = at % SIZE;
                more  = at - 5 * SIZE;  // of the two words of each row
                place = five != 0 & more >= 0 & more < 10 & more % 2 == 0 ? SIZE * (more / 2) + SIZE - 1
                       : back == 0 & at >= 3 * SIZE & at < 6 * SIZE ? at - 2 * SIZE - 1
                       : at == 0 ? 0 : at - 1;
                all_before[6*at +: 6] = place[5:0];
            end
        end
    endfunction
    localparam [6*SIZE*SIZE-1:0] BEFORE = all_before(0), BEFORE_5 = all_before(1);

    wire [8*N*TAPS-1:0] weight;
    gemm64_set_ram #(.LANES(TAPS), .LOG_LANES(4), .LANE_WIDTH(8*N), .DEPTH(16), .ADDRESS_WIDTH(4)) u_weights (
        .clk_i           (clk_i),
        .write_i         (weight_write_q),
        .write_address_i ({weight_half_q, weight_nine_q}),
        .write_lane_i    (weight_multiplier_q),
        .write_data_i    (weight_i),
        .read_i          (sum_1_q),
        .read_address_i  ({half_1_q, nine_1_q}),
        .data_o          (weight)
    );

    // Each multiplier's weights are words of their own.
    generate
        if (SELF_CHECK != 0) begin : self_check
            wire [TAPS-1:0]    weight_wrong;
            wire [24*TAPS-1:0] weight_word;
            for (g = 0; g < TAPS; g = g + 1) begin : multiplier
                gemm64_parity_check #(.BYTES(N), .DEPTH(16), .ADDRESS_WIDTH(4), .UNWRITTEN(1)) u_check (
                    .clk_i           (clk_i),
                    .rst_ni          (rst_ni),
                    .write_i         (weight_write_q & weight_multiplier_q == g[3:0]),
                    .write_address_i ({weight_half_q, weight_nine_q}),
                    .write_data_i    (weight_i),
                    .read_i          (sum_1_q),
                    .read_address_i  ({half_1_q, nine_1_q}),
                    .data_i          (weight[8*N*g +: 8*N]),
                    .wrong_o         (weight_wrong[g]),
                    .unwritten_o     (),
                    .word_o          (weight_word[24*g +: 24])
                );
            end
            reg [23:0] wrong_word;
            integer    i;
            always @* begin
                wrong_word = 24'd0;
                for (i = TAPS - 1; i >= 0; i = i - 1)
                    if (weight_wrong[i]) wrong_word = {16'd0, i[3:0], weight_word[24*i +: 4]};
                for (i = SIZE - 1; i > 0; i = i - 1)
                    if (line_wrong[i]) wrong_word = {{21-LOG_LINE{1'b0}}, i[2:0], line_word[24*i +: LOG_LINE]};
            end
            assign wrong_sum_o  = wrong_q;
            assign wrong_line_o = line_wrong != {SIZE-1{1'b0}};
            assign wrong_o      = wrong_q | wrong_line_o | weight_wrong != {TAPS{1'b0}};
            assign wrong_word_o = wrong_word & {24{~wrong_q}};
        end else begin : unchecked
            assign {wrong_o, wrong_sum_o, wrong_line_o, wrong_word_o} = 27'd0;
        end
    endgenerate

    // With SELF_CHECK, words go with the exclusive or of their bytes, which is 0 where all are the same; a lane's thirds with that of
    // the three, its sum with that of its halves: both come late in a cycle. A difference in words or thirds is noted in a register for
    // each group of bytes or each lane, and reported a cycle later; one in sums is reported at once, since they leave.
    localparam GROUPS = N < 8 ? N : 8;
    reg        [7:0]      together_q [0:SIZE*SIZE-1];
    reg        [7:0]      together_2 [0:TAPS-1];
    reg        [16:0]     thirds_3   [0:N-1];
    reg        [15:0]     halves_4   [0:N-1];
    reg [8*GROUPS-1:0]    groups_q;       // the exclusive or of the words under the taps, folded to GROUPS bytes,
    reg        [7:0]      check_q;        // whose own exclusive or must be this
    reg                   checked_q;
    reg        [N-1:0]    lanes_wrong_q;
    reg                   wrong_q;

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

    // Word c of row r came r lines and c words before the last one. Rows continue in those without taps: of 3x3, row r in row
    // r + 3; of 5x5, with two words each, in rows 5 and 6.
    reg        [8*N-1:0]  window_q [0:SIZE*SIZE-1];
    reg        [8*N-1:0]  value_2 [0:TAPS-1];        // under the taps of a part
    reg        [TAPS-1:0] used_2;                    // multipliers that have a tap; the weights of the others were perhaps never written
    reg signed [16:0]     third_3 [0:3*N-1];         // of a lane's sum, or of its values the largest
    reg        [32*N-1:0] sum_4_q;                   // 22 bits, enough for 54 products; the others have its sign

    assign sum_o = sum_4_q;

    // Between registers, of one lane after the other
    reg        [32*N-1:0] sums;
    reg signed [21:0]     sum_before, sum_of_three;
    reg signed [7:0]      value_a, value_b, value_c, weight_a, weight_b, weight_c, largest;
    reg signed [16:0]     product_a, product_b, product_c;
    reg        [8*N-1:0]  value;
    reg        [7:0]      check;
    reg        [5:0]      tap, place, place_5;
    reg [8*GROUPS-1:0]    groups;
    reg                   wrong;
    integer c, m, k;

    // One block, from the last stage to the first: each takes what the stage before it held. So the simulation skips what rests.
    always @(posedge clk_i) begin
        // What is used now is still what was written. A sum is used by the next part, or leaves.
        if (SELF_CHECK != 0) begin
            value = {8*N{1'b0}};
            check = 8'd0;
            for (m = 0; m < TAPS; m = m + 1) begin
                value = value ^ value_2[m];
                check = check ^ together_2[m];
            end
            groups = {8*GROUPS{1'b0}};
            for (c = 0; c < N; c = c + GROUPS) groups = groups ^ value[8*c +: 8*GROUPS];
            groups_q  <= groups;
            check_q   <= check;
            checked_q <= rst_ni & sum_2_q;
            for (c = 0; c < N; c = c + 1)
                lanes_wrong_q[c] <= rst_ni & sum_3_q & (third_3[3*c] ^ third_3[3*c + 1] ^ third_3[3*c + 2]) != thirds_3[c];
            check = check_q;
            for (c = 0; c < GROUPS; c = c + 1) check = check ^ groups_q[8*c +: 8];
            wrong = wrong_q | lanes_wrong_q != {N{1'b0}} | (checked_q & check != 8'd0);
            for (c = 0; c < N; c = c + 1)
                if ((valid_q | (sum_3_q & ~first_3_q)) & (sum_4_q[32*c + 16 +: 16] ^ sum_4_q[32*c +: 16]) != halves_4[c])
                    wrong = 1'b1;
            wrong_q <= rst_ni & wrong;
        end

        // 4: the thirds of a part, and what came before
        if (sum_3_q) begin
            for (c = 0; c < N; c = c + 1) begin
                // What came before stands last: it waits for first_3_q, which all lanes ask.
                sum_of_three = 22'sd0;
                largest      = -8'sd128;
                for (m = 0; m < 3; m = m + 1) begin
                    value_a = third_3[3*c + m][7:0];
                    if (value_a > largest) largest = value_a;
                    sum_of_three = sum_of_three + {{5{third_3[3*c + m][16]}}, third_3[3*c + m]};
                end
                sum_before = first_3_q ? 22'sd0 : sum_4_q[32*c +: 22];
                value_a = first_3_q ? -8'sd128 : sum_4_q[32*c +: 8];
                if (value_a > largest) largest = value_a;
                sum_before = sum_before + sum_of_three;
                sums[32*c +: 32] = maximum_q ? {{24{largest[7]}}, largest} : {{10{sum_before[21]}}, sum_before};
                if (SELF_CHECK != 0) halves_4[c] = sums[32*c + 16 +: 16] ^ sums[32*c +: 16];
            end
            sum_4_q <= sums;
        end

        // 3: products, three at a time; or the values whose weights are odd
        if (sum_2_q)
            for (c = 0; c < N; c = c + 1) begin
                for (m = 0; m < 3; m = m + 1) begin
                    value_a  = value_2[3*m][8*c +: 8];
                    value_b  = value_2[3*m + 1][8*c +: 8];
                    value_c  = value_2[3*m + 2][8*c +: 8];
                    weight_a = weight[8*N*3*m + 8*c +: 8];
                    weight_b = weight[8*N*(3*m + 1) + 8*c +: 8];
                    weight_c = weight[8*N*(3*m + 2) + 8*c +: 8];
                    if (maximum_q) begin
                        largest = weight_a[0] ? value_a : -8'sd128;
                        if (weight_b[0] & value_b > largest) largest = value_b;
                        if (weight_c[0] & value_c > largest) largest = value_c;
                        third_3[3*c + m] = {{9{largest[7]}}, largest};
                    end else begin
                        // Products are masked after the multiplier: each bit of used_2 drives all lanes, and arrives late.
                        product_a = value_a * weight_a;
                        product_b = value_b * weight_b;
                        product_c = value_c * weight_c;
                        third_3[3*c + m] = (product_a & {17{used_2[3*m]}}) + (product_b & {17{used_2[3*m + 1]}}) +
                                           (product_c & {17{used_2[3*m + 2]}});
                    end
                end
                if (SELF_CHECK != 0) thirds_3[c] = third_3[3*c] ^ third_3[3*c + 1] ^ third_3[3*c + 2];
            end

        // 2: what the taps meet
        if (sum_1_q)
            for (m = 0; m < TAPS; m = m + 1) begin
                value = {N{maximum_q ? 8'h80 : 8'h00}};
                check = 8'd0;
                used_2[m] = 1'b0;
                for (k = 0; k < PARTS; k = k + 1) begin
                    tap   = TAP[6*(TAPS*k + m) +: 6];
                    place = tap == NOWHERE ? 6'd0 : PLACE[6*(TAPS*k + m) +: 6];
                    if (part_1_q == k[4:0] & tap != NOWHERE) used_2[m] = 1'b1;
                    if (part_1_q == k[4:0] & tap != NOWHERE)
                        value = inside_rows[tap[5:3]] & inside_columns[tap[2:0]] ? window_q[place] : {N{zero_q}};
                    if (SELF_CHECK != 0 & part_1_q == k[4:0] & tap != NOWHERE)
                        check = inside_rows[tap[5:3]] & inside_columns[tap[2:0]] ? together_q[place] : 8'd0;
                end
                value_2[m] = value;
                if (SELF_CHECK != 0) together_2[m] = check;
            end

        // 1: the word that came, and those above it. Rows that continue others come first, since they take what these held.
        if (shift_1_q)
            for (m = SIZE - 1; m >= 0; m = m - 1)
                if (row_q[m] | (extend_3_q & m >= 3 & m < 6) | (extend_5_q & m >= 5))
                    for (c = SIZE - 1; c >= 0; c = c - 1) begin
                        place   = BEFORE[6*(SIZE*m + c) +: 6];
                        place_5 = BEFORE_5[6*(SIZE*m + c) +: 6];
                        if (c == 0 & row_q[m]) begin
                            case (m)
                                0: window_q[SIZE*m] = word_i;
                                1: window_q[SIZE*m] = above[1].word;
                                2: window_q[SIZE*m] = above[2].word;
                                3: window_q[SIZE*m] = above[3].word;
                                4: window_q[SIZE*m] = above[4].word;
                                5: window_q[SIZE*m] = above[5].word;
                                default: window_q[SIZE*m] = above[6].word;
                            endcase
                            if (SELF_CHECK != 0) together_q[SIZE*m] = together(window_q[SIZE*m]);
                        end else if (extend_5_q & place_5 != place) begin
                            window_q[SIZE*m + c] = window_q[place_5];
                            if (SELF_CHECK != 0) together_q[SIZE*m + c] = together_q[place_5];
                        end else begin
                            window_q[SIZE*m + c] = window_q[place];
                            if (SELF_CHECK != 0) together_q[SIZE*m + c] = together_q[place];
                        end
                    end
    end

endmodule

`default_nettype wire
