// SPDX-License-Identifier: Apache-2.0
// Goes over the words of planes, one after the other, and outputs which sum each lane makes where: the words follow each
// other without a border, and a tap beyond an image's border is masked instead.
// Latency: 1 cycle from load_i to the first word. All outputs answer inputs of the same cycle.
// Handshake: none. Every cycle with move_o takes a word (take_o), or goes on past the last one (only shift_o), makes a part
//            of a sum (sum_o), or does both. A sum of more than nine taps has three or six parts.
`default_nettype none

module gemm64_depthwise_walk #(
    parameter COLUMN_WIDTH = 7  // bits of a word's index in a line
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,          // synchronous, active low
    // Layer
    input  wire [7:0]              kernel_i,        // 3, 5 or 7 rows and columns of taps
    input  wire [7:0]              stride_height_i,
    input  wire [7:0]              stride_width_i,
    input  wire [7:0]              dilation_height_i,  // rows and columns from a tap to the next, at least 1
    input  wire [7:0]              dilation_width_i,
    input  wire [7:0]              pad_top_i,       // at most (kernel_i - 1) * dilation
    input  wire [7:0]              pad_left_i,
    input  wire [15:0]             height_i,
    input  wire [15:0]             width_i,
    input  wire [15:0]             out_height_i,
    input  wire [15:0]             out_width_i,
    input  wire [15:0]             row_step_i,      // words from a row's last output to the next row's first
    input  wire [15:0]             image_step_i,    // words from an image's last output to the next image's first
    // Command
    input  wire                    load_i,          // go to the first word; all else holds from here to finished_o
    input  wire                    active_i,
    input  wire [31:0]             planes_i,
    input  wire [31:0]             images_i,        // of a plane, with the same weights
    input  wire                    accumulate_i,    // all sums of an image are parts of one
    input  wire [15:0]             first_i,         // words before that which the first output's last tap meets
    // What each cycle needs
    input  wire                    word_i,          // the next word is there
    input  wire                    weights_i,       // the plane's weights are
    input  wire                    place_i,         // a row of sums has a place
    output wire                    move_o,
    output wire                    take_o,
    output wire                    shift_o,
    output wire [COLUMN_WIDTH-1:0] column_o,        // of the word in its line of dilation_height_i rows
    output wire                    sum_o,
    output wire [3:0]              part_o,          // 0: all nine taps of 3 x 3; 1 to 3: of 5 x 5; 4 to 9: of 7 x 7
    output wire                    first_part_o,
    output wire                    last_part_o,
    output wire [6:0]              row_inside_o,    // bit r: the row r taps above the last tap's is one of the image
    output wire [6:0]              column_inside_o, // bit c: the column c taps before it
    output wire                    plane_end_o,     // with the last part of the plane's last sum
    output wire                    finished_o,
    output wire                    wait_weights_o,
    output wire                    wait_word_o
);

    // The next word
    reg [15:0] x_q, y_q;
    reg [31:0] image_q, plane_q;
    reg        over_q;  // there is none
    // Its index in a line. A line is dilation_height_i rows, so that the line above holds the row of the tap above.
    reg [COLUMN_WIDTH-1:0] line_q;
    reg [7:0]              line_row_q;
    // The next sum, and the words to come before all that it needs are there
    reg [15:0] out_x_q, out_y_q;
    reg [31:0] out_image_q, out_plane_q;
    reg [16:0] row_q, column_q;  // input row and column of its last tap, from 0
    reg [16:0] need_q;
    reg [2:0]  part_q;
    reg        done_q;  // there is none

    wire       is_5         = kernel_i == 8'd5;
    wire       is_7         = kernel_i == 8'd7;
    wire [2:0] last_part    = is_7 ? 3'd5 : is_5 ? 3'd2 : 3'd0;
    wire [2:0] last_tap     = is_7 ? 3'd6 : is_5 ? 3'd4 : 3'd2;
    wire       line_end     = line_row_q == dilation_height_i - 8'd1;

    // Rows or columns over that many taps. At most two terms are not zero, since no kernel has more than 7 taps.
    function [10:0] span;
        input [2:0] taps;
        input [7:0] dilation;
        span = (taps[0] ? {3'd0, dilation} : 11'd0) + (taps[1] ? {2'd0, dilation, 1'b0} : 11'd0)
             + (taps[2] ? {1'b0, dilation, 2'd0} : 11'd0);
    endfunction
    wire [10:0] first_row    = span(last_tap, dilation_height_i) - {3'd0, pad_top_i};
    wire [10:0] first_column = span(last_tap, dilation_width_i) - {3'd0, pad_left_i};

    reg        sum, ends, row_end, image_end, plane_end, all_end, shift, take, x_end, y_end, i_end, last_word;
    reg        no_weights, no_word, move, done, over;
    reg [15:0] step;
    reg [16:0] row, column;
    reg [6:0]  row_inside, column_inside;
    reg [3:0]  part;
    reg        first_part, row_done, plane_done, all_done, moves_sum, moves_shift, moves_take;
    integer    tap;

    // Zero at rest, and one question for a simulator
    always @* begin
        {sum, ends, row_end, image_end, plane_end, all_end, shift, take, x_end, y_end, i_end, last_word} = 12'd0;
        {no_weights, no_word, move, done, over} = 5'd0;
        {step, row, column, row_inside, column_inside} = 64'd0;
        {part, first_part, row_done, plane_done, all_done, moves_sum, moves_shift, moves_take} = 11'd0;
        tap = 0;
        if (active_i) begin
            sum       = ~done_q & need_q == 17'd0;
            ends      = sum & part_q == last_part;
            row_end   = out_x_q == out_width_i - 16'd1;
            image_end = row_end & out_y_q == out_height_i - 16'd1;
            plane_end = image_end & out_image_q == images_i - 32'd1;
            all_end   = plane_end & out_plane_q == planes_i - 32'd1;
            step      = image_end ? image_step_i : row_end ? row_step_i : {8'd0, stride_width_i};

            // With the last part of a sum comes the next word, unless a sum more needs none.
            shift = ends ? (all_end ? ~over_q : step != 16'd0) : ~sum & (~done_q | ~over_q);
            take  = shift & ~over_q;

            x_end = x_q == width_i - 16'd1;
            y_end = y_q == height_i - 16'd1;
            i_end = image_q == images_i - 32'd1;
            last_word = x_end & y_end & i_end & plane_q == planes_i - 32'd1;

            no_weights = sum & ~weights_i;
            no_word    = take & ~word_i & ~no_weights;
            move       = ~no_weights & ~no_word & ~(sum & ~place_i);
            done       = done_q | (ends & all_end);
            over       = over_q | (take & last_word);
            part       = {1'b0, part_q} + (is_7 ? 4'd4 : is_5 ? 4'd1 : 4'd0);
            first_part = part_q == 3'd0 & (~accumulate_i | (out_x_q == 16'd0 & out_y_q == 16'd0));
            row_done   = move & ends & (~accumulate_i | image_end);
            plane_done = move & ends & plane_end;
            all_done   = move & done & over;
            moves_sum   = move & sum;
            moves_shift = move & shift;
            moves_take  = move & take;

            for (tap = 0; tap < 7; tap = tap + 1) begin
                row    = row_q - {6'd0, span(tap[2:0], dilation_height_i)};  // before the first one: more than any height
                column = column_q - {6'd0, span(tap[2:0], dilation_width_i)};
                row_inside[tap]    = row < {1'b0, height_i};
                column_inside[tap] = column < {1'b0, width_i};
            end
        end
    end

    always @(posedge clk_i) begin
        if (rst_ni & ~load_i) begin
            if (move) begin
                if (shift) begin
                    line_q <= x_end & line_end ? {COLUMN_WIDTH{1'b0}} : line_q + {{COLUMN_WIDTH-1{1'b0}}, 1'b1};
                    if (x_end) line_row_q <= line_end ? 8'd0 : line_row_q + 8'd1;
                    x_q <= x_end ? 16'd0 : x_q + 16'd1;
                    if (x_end) y_q <= y_end ? 16'd0 : y_q + 16'd1;
                    if (x_end & y_end) image_q <= i_end ? 32'd0 : image_q + 32'd1;
                    if (x_end & y_end & i_end) plane_q <= plane_q + 32'd1;
                end
                over_q <= over;
                done_q <= done;
                need_q <= (ends ? {1'b0, step} : need_q) - {16'd0, shift & ~done};
                if (sum) part_q <= ends ? 3'd0 : part_q + 3'd1;
                if (ends) begin
                    out_x_q  <= row_end ? 16'd0 : out_x_q + 16'd1;
                    column_q <= row_end ? {6'd0, first_column} : column_q + {9'd0, stride_width_i};
                    if (row_end) begin
                        out_y_q <= image_end ? 16'd0 : out_y_q + 16'd1;
                        row_q   <= image_end ? {6'd0, first_row} : row_q + {9'd0, stride_height_i};
                    end
                    if (image_end) out_image_q <= plane_end ? 32'd0 : out_image_q + 32'd1;
                    if (plane_end) out_plane_q <= out_plane_q + 32'd1;
                end
            end
        end else begin
            x_q         <= 16'd0;
            y_q         <= 16'd0;
            image_q     <= 32'd0;
            plane_q     <= 32'd0;
            over_q      <= 1'b0;
            line_q      <= {COLUMN_WIDTH{1'b0}};
            line_row_q  <= 8'd0;
            out_x_q     <= 16'd0;
            out_y_q     <= 16'd0;
            out_image_q <= 32'd0;
            out_plane_q <= 32'd0;
            row_q       <= {6'd0, first_row};
            column_q    <= {6'd0, first_column};
            need_q      <= {1'b0, first_i} + 17'd1;
            part_q      <= 3'd0;
            done_q      <= 1'b0;
        end
    end

    assign move_o         = move;
    assign take_o         = moves_take;
    assign shift_o        = moves_shift;
    assign column_o       = line_q;
    assign sum_o          = moves_sum;
    assign {row_inside_o, column_inside_o} = {row_inside, column_inside};
    assign part_o         = part;
    assign first_part_o   = first_part;
    assign last_part_o    = row_done;
    assign plane_end_o    = plane_done;
    assign finished_o     = all_done;
    assign wait_weights_o = no_weights;
    assign wait_word_o    = no_word;

endmodule

`default_nettype wire
