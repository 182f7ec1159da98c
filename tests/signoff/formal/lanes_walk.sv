// SPDX-License-Identifier: Apache-2.0
// gemm64_depthwise_walk takes each word of its planes once and in order, and makes each sum once and in order, each of its parts
// once: when the word under its last tap is the last that came, so that the window holds those of all its taps and none has
// left. Where an image gives one row, its sums begin with the first part of its first window and end with the last of its last.
// A tap counts where it is on the image. A word's index in its line counts the words of dilation_height rows, again and again.
// The walk goes on in every cycle in which all that it needs is there, and ends after the last word and the last sum: each move
// makes the next part of a sum, or brings it nearer by a word, and the last one is reported as finished. Layers are
// small here: at most 5 words a row, 5 rows, 3 images, 3 planes, dilations of 1 or 2, 8 words a line, and 7 rows and columns from
// the input's first to the first output's last tap.
//
// break gemm64_depthwise_walk.v: ends ? {1'b0, step} : need_q -> ends ? {1'b0, step} - 17'd1 : need_q
// break gemm64_depthwise_walk.v: (all_end ? ~over_q : step != 16'd0) -> ~over_q
// break gemm64_depthwise_walk.v: row_q   <= image_end ? {6'd0, first_row} : -> row_q   <=
// break gemm64_depthwise_walk.v: row_inside[tap]    = row < {1'b0, height_i} -> row_inside[tap]    = row <= {1'b0, height_i}
// break gemm64_depthwise_walk.v: row_q - {6'd0, span(tap[2:0], dilation_height_i)} -> row_q - {6'd0, span(tap[2:0], dilation_width_i)}
// break gemm64_depthwise_walk.v: x_end & line_end ? -> x_end & y_end ?
// break gemm64_depthwise_walk.v: (out_x_q == 16'd0 & out_y_q == 16'd0) -> out_x_q == 16'd0
// break gemm64_depthwise_walk.v: move & ends & (~accumulate_i | image_end) -> move & ends & (~accumulate_i | row_end)
// break gemm64_depthwise_walk.v: ~(sum & ~place_i) -> ~(ends & ~place_i)
// break gemm64_depthwise_walk.v: done       = done_q | (ends & all_end); -> done       = done_q | (ends & all_end & ~shift);
// prove induction 1, cover 12
// probe x_q = dut.x_q
// probe y_q = dut.y_q
// probe image_q = dut.image_q
// probe plane_q = dut.plane_q
// probe over_q = dut.over_q
// probe out_x_q = dut.out_x_q
// probe out_y_q = dut.out_y_q
// probe out_image_q = dut.out_image_q
// probe out_plane_q = dut.out_plane_q
// probe row_q = dut.row_q
// probe column_q = dut.column_q
// probe need_q = dut.need_q
// probe part_q = dut.part_q
// probe line_q = dut.line_q
// probe line_row_q = dut.line_row_q
// probe done_q = dut.done_q
module lanes_walk_proof ();

    // The layer, and its steps as gemm64_depthwise_check asks for them
    (* anyconst *) reg [2:0] kernel, stride_height, stride_width, pad_top, pad_left, height, width, out_height, out_width;
    (* anyconst *) reg [1:0] planes, images;
    (* anyconst *) reg       down, across;  // dilations of 2
    (* anyconst *) reg [2:0] below_left, right_left;  // of their taps, below and to the right of the first one that counts
    (* anyconst *) reg       accumulate;
    (* anyconst *) reg [9:0] row_step, image_step, lead;
    wire [9:0] h = height, w = width, oh = out_height, ow = out_width, sh = stride_height, sw = stride_width;
    wire [9:0] below = below_left, right = right_left;

    wire        move, take, shift, sum, first_part, last_part, plane_end, finished, wait_weights, wait_word;
    wire [2:0]  column;
    wire [3:0]  part;
    wire [6:0]  row_inside, column_inside;
    gemm64_depthwise_walk #(.COLUMN_WIDTH(3)) dut (
        .kernel_i ({5'd0, kernel}), .stride_height_i ({5'd0, stride_height}), .stride_width_i ({5'd0, stride_width}),
        .dilation_height_i (8'd1 << down), .dilation_width_i (8'd1 << across), .pad_top_i ({5'd0, pad_top}), .pad_left_i ({5'd0, pad_left}), .height_i ({13'd0, height}), .width_i ({13'd0, width}),
        .out_height_i ({13'd0, out_height}), .out_width_i ({13'd0, out_width}), .row_step_i ({6'd0, row_step}),
        .image_step_i ({6'd0, image_step}), .planes_i ({30'd0, planes}), .images_i ({30'd0, images}),
        .accumulate_i (accumulate), .first_i ({6'd0, lead}), .*
    );

    (* keep *) wire [15:0] x_q, y_q, out_x_q, out_y_q;
    (* keep *) wire [31:0] image_q, plane_q, out_image_q, out_plane_q;
    (* keep *) wire [16:0] row_q, column_q, need_q;
    (* keep *) wire [2:0]  part_q, line_q;
    (* keep *) wire [7:0]  line_row_q;
    (* keep *) wire        over_q, done_q;

    // Words before the next one, and those up to the one under the next sum's last tap, counted from the first of all
    wire [9:0] came = ((plane_q[9:0] * images + image_q[9:0]) * h + y_q[9:0]) * w + x_q[9:0];
    wire [9:0] last = ((out_plane_q[9:0] * images + out_image_q[9:0]) * h + row_q[9:0]) * w + column_q[9:0];
    wire [9:0] all  = planes * images * h * w;

    wire [2:0]  parts      = kernel == 7 ? 6 : kernel == 5 ? 3 : 1;
    wire        window_end = sum & part_q == parts - 1;
    wire        image_first = out_x_q == 0 & out_y_q == 0, image_last = out_x_q == ow - 1 & out_y_q == oh - 1;
    reg         begun = 1'b0, moved, made, was_over, was_done, was_finished, left_sum;
    reg  [2:0]  part_was;
    reg  [63:0] out_was;  // plane, image, row, column of a sum
    wire [63:0] out_now = {out_plane_q[15:0], out_image_q[15:0], out_y_q, out_x_q};
    reg  [16:0] need_was;
    reg  [63:0] word_was;  // the same of the next word
    wire [63:0] word_now = {plane_q[15:0], image_q[15:0], y_q, x_q};
    always @(posedge clk_i) begin
        begun    <= 1'b1;
        moved    <= rst_ni & ~load_i & move;
        part_was <= part_q;
        out_was  <= out_now;
        left_sum <= window_end;
        made     <= sum;
        need_was <= need_q;
        word_was <= word_now;
        {was_over, was_done, was_finished} <= {over_q, done_q, finished};
    end

    // A tap of the next sum, by rows above and columns before the last one
    (* anyconst *) reg [2:0] tap;
    wire [16:0] above = tap << down, before = tap << across;
    wire [16:0] tap_row = row_q - above, tap_column = column_q - before;

    always @* begin
        if (!begun) assume (!rst_ni | load_i);
        assume (kernel == 3 | kernel == 5 | kernel == 7);
        assume (stride_height >= 1 & stride_height <= 4 & stride_width >= 1 & stride_width <= 4);
        assume (width << down <= 8);
        assume (below + pad_top == (kernel - 1) << down & right + pad_left == (kernel - 1) << across);
        assume (height >= 1 & height <= 5 & width >= 2 & width <= 5 & out_height >= 1 & out_width >= 1 & planes != 0 & images != 0);
        // The picture's sums lie on it: see ONNX's Conv, with borders below the kernel's size.
        assume ((oh - 1) * sh + 1 <= h + pad_top & (ow - 1) * sw + 1 <= w + pad_left);
        assume (row_step + (ow - 1) * sw == sh * w & row_step <= 28);
        assume (image_step + (oh - 1) * sh * w + (ow - 1) * sw == h * w & image_step <= 49);
        assume (lead == below * w + right & lead <= 48);
        assume (tap < 7);
        if (begun) begin
            // The words: the address of the next one
            assert (x_q < w & y_q < h & image_q < images);
            assert (over_q == (plane_q >= planes));
            assert (line_row_q <= down & line_q == (line_row_q[0] ? w : 0) + x_q & column == line_q);
            if (rst_ni & take) assert (word_i & shift & ~over_q);
            if (rst_ni & move & shift) assert (take | over_q);
            // The sums: which is the next, where its last tap is, and what must come before
            assert (out_x_q < ow & out_y_q < oh & out_image_q < images);
            assert (done_q == (out_plane_q >= planes) & out_plane_q <= planes);
            assert (part_q < parts);
            assert (row_q == below + out_y_q * sh & column_q == right + out_x_q * sw);
            if (~done_q) assert (came + need_q[9:0] == last + 1 & need_q <= 1023);
            if (rst_ni & sum) assert (weights_i & place_i & came == last + 1 & ~done_q);
            // Parts of a sum come one by one, and no word between them.
            if (rst_ni & sum & ~window_end) assert (~shift & ~take);
            if (rst_ni & sum) assert (first_part == (part_q == 0 & (~accumulate | image_first))
                                      & last_part == (window_end & (~accumulate | image_last))
                                      & part == part_q + (kernel == 7 ? 4 : kernel == 5 ? 1 : 0));
            if (rst_ni & last_part) assert (sum);
            if (moved & rst_ni & ~load_i & ~left_sum & ~done_q) assert (out_now == out_was);
            if (moved & left_sum) assert (out_now > out_was & part_q == 0);
            if (rst_ni & plane_end) assert (last_part & image_last & out_image_q == images - 1);
            // It ends: a move makes the next part, or brings it nearer by a word; after the last part it takes the next word.
            if (moved & made) assert ({out_now, part_q} > {out_was, part_was});
            if (moved & ~made & ~was_done) assert ({out_now, part_q} == {out_was, part_was} & need_q + 1 == need_was);
            if (moved & was_done & ~was_over) assert (word_now > word_was);
            if (moved & ~(was_done & was_over)) assert ((done_q & over_q) == was_finished);
            // A tap counts where it is on the image.
            if (rst_ni & sum) assert (row_inside[tap] == (row_q >= above & tap_row < h)
                                      & column_inside[tap] == (column_q >= before & tap_column < w));
            // All that it needs being there, it goes on.
            if (rst_ni & active_i & word_i & weights_i & place_i) assert (move);
            if (rst_ni & ~active_i) assert (~move & ~wait_weights & ~wait_word);
            if (rst_ni & move & ~(done_q & over_q)) assert (shift | sum);
            if (rst_ni & wait_word) assert (~word_i & ~move);
            if (rst_ni & wait_weights) assert (~weights_i & ~move);
            if (rst_ni & finished) assert (move & (over_q | (take & came == all - 1))
                                           & (done_q | (plane_end & out_plane_q == planes - 1)));
        end
        cover (begun & rst_ni & plane_end & finished & kernel == 3);
        cover (begun & rst_ni & sum & part == 6 & ~row_inside[6] & row_inside[1]);
        cover (begun & rst_ni & last_part & images == 2 & out_image_q == 1);
        cover (begun & rst_ni & last_part & accumulate & out_x_q == 1 & out_y_q == 1);
    end

endmodule
