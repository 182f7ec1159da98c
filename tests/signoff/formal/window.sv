// SPDX-License-Identifier: Apache-2.0
// gemm64_im2col meets, for each pass, plane and tap, each output pixel once, in the order of plain loops; it outputs the
// place of the input pixel that the loops' formula gives, and never takes a place beyond the border for one inside. For all
// convolutions of the widths below (kernels, strides and dilations to 3, inputs and outputs to 3 x 3 pixels, planes of 15 words).
//
// one by one
// break gemm64_im2col.v: column_q + {10'd0, stride_width_i} -> column_q + {10'd0, dilation_width_i}
// prove induction 1, cover 18
// probe row_q = dut.row_q
// probe column_q = dut.column_q
// probe slot_q = dut.slot_q
// probe out_row_q = dut.out_row_q
// probe out_column_q = dut.out_column_q
// probe tap_row_q = dut.tap_row_q
// probe tap_column_q = dut.tap_column_q
// probe down_q = dut.down_q
// probe right_q = dut.right_q
// probe start_q = dut.start_q
// probe plane_q = dut.plane_q
// probe pass_q = dut.pass_q
// probe base_q = dut.base_q
// probe group_q = dut.group_q
// probe next_tap_row_q = dut.next_tap_row_q
// probe next_tap_column_q = dut.next_tap_column_q
// probe next_down_q = dut.next_down_q
// probe next_right_q = dut.next_right_q
// probe next_start_q = dut.next_start_q
// probe next_row_q = dut.next_row_q
// probe next_column_q = dut.next_column_q
// probe next_plane_q = dut.next_plane_q
// probe next_pass_q = dut.next_pass_q
// probe next_base_q = dut.next_base_q
// probe next_group_q = dut.next_group_q
module window_proof ();

    // A layer, and what the program says of its steps: true modulo CAPACITY
    (* anyconst *) reg [1:0] kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
    (* anyconst *) reg [1:0] planes, group_passes;
    (* anyconst *) reg [1:0] height, width, out_h, out_w, first_row, first_column;  // of the block's first pixel
    (* anyconst *) reg [3:0] capacity;
    // Whole rounds of a plane: multiples of CAPACITY, of which the proof needs no more than that they are added
    (* anyconst *) reg signed [8:0] row_rounds, image_rounds, tap_rounds, slot_rounds;

    // Distances in pixels of the tensor
    wire signed [8:0] image_words = height * width, row_words = stride_h * width, tap_words = dilation_h * width;
    wire signed [8:0] cap = capacity, right_move = stride_w, tap_right = dilation_w;
    wire [1:0]         last_out_row = out_h - 2'd1, last_out_column = out_w - 2'd1;
    wire [1:0]         last_tap_column = kernel_w - 2'd1;
    wire signed [8:0] row_length = last_out_column * stride_w, rows_length = last_out_row * row_words[3:0];
    wire signed [8:0] row_move   = row_words - row_length, image_move = image_words - rows_length - row_length;
    wire signed [8:0] row_step   = row_move + row_rounds, image_step = image_move + image_rounds;
    wire signed [8:0] taps_length = last_tap_column * dilation_w;
    wire signed [8:0] tap_down   = tap_words - taps_length, tap_step = tap_down + tap_rounds;
    wire signed [8:0] border     = pad_top * width + pad_left;
    wire signed [8:0] first_rows = first_row * row_words[3:0], first_columns = first_column * stride_w;
    wire signed [8:0] block_pixel = first_rows + first_columns - border;
    wire signed [8:0] block_slot  = block_pixel + slot_rounds;
    wire signed [17:0] first_in_row = first_row * stride_h, first_in_column = first_column * stride_w;
    wire signed [17:0] top = pad_top, left = pad_left;
    wire signed [17:0] block_row    = first_in_row - top;
    wire signed [17:0] block_column = first_in_column - left;

    gemm64_im2col dut (
        .kernel_height_i ({6'd0, kernel_h}), .kernel_width_i ({6'd0, kernel_w}), .stride_height_i ({6'd0, stride_h}),
        .stride_width_i ({6'd0, stride_w}), .dilation_height_i ({6'd0, dilation_h}),
        .dilation_width_i ({6'd0, dilation_w}), .pad_top_i ({6'd0, pad_top}), .pad_left_i ({6'd0, pad_left}),
        .height_i ({14'd0, height}), .width_i ({14'd0, width}), .out_height_i ({14'd0, out_h}),
        .out_width_i ({14'd0, out_w}), .capacity_i ({12'd0, capacity}), .row_step_i ({7'd0, row_step}),
        .image_step_i ({7'd0, image_step}), .tap_row_step_i ({7'd0, tap_step}), .planes_i ({14'd0, planes}),
        .group_passes_i ({14'd0, group_passes}), .active_i (1'b1), .block_slot_i ({7'd0, block_slot}),
        .block_out_row_i ({14'd0, first_row}), .block_out_column_i ({14'd0, first_column}), .block_row_i (block_row),
        .block_column_i (block_column), .*
    );

    (* keep *) wire [17:0] row_q, column_q, down_q, right_q, next_row_q, next_column_q, next_down_q, next_right_q;
    (* keep *) wire [15:0] slot_q, out_row_q, out_column_q, start_q, plane_q, pass_q, next_start_q, next_plane_q, next_pass_q;
    (* keep *) wire [7:0]  tap_row_q, tap_column_q, next_tap_row_q, next_tap_column_q;
    (* keep *) wire [24:0] base_q, group_q, next_base_q, next_group_q;

    // The loops: group of passes, pass, plane, tap row, tap; and for each of these image, output row, output column
    reg        begun = 1'b0, loaded, ended;
    reg [1:0]  tap_row, tap_column, plane, pass;
    reg [5:0]  whole_plane, group;         // from the first plane of the tensor on
    reg        image;                      // from the block's first on
    reg [1:0]  out_row, out_column;
    reg signed [8:0] rounds, start_rounds;        // what a slot differs from its pixel by
    // In pixels of the tensor, and in rows of the input: how far each loop is
    reg signed [8:0] images, rows, columns, tap_rows, taps;
    reg signed [17:0] in_rows, tap_in_rows;
    reg [24:0]        base, group_base;

    wire last_column = tap_column == kernel_w - 2'd1;
    wire last_tap    = last_column & tap_row == kernel_h - 2'd1;
    wire last_plane  = plane == planes - 2'd1;
    wire last_pass   = pass == group_passes - 2'd1;
    wire wrap        = out_column == out_w - 2'd1;
    wire next_image  = wrap & out_row == out_h - 2'd1;

    wire [1:0] tap_row_next    = last_tap ? 0 : tap_row + last_column;
    wire [1:0] tap_column_next = last_column ? 0 : tap_column + 1;
    wire [1:0] plane_next      = ~last_tap ? plane : last_plane ? 0 : plane + 1;
    wire [1:0] pass_next       = ~(last_tap & last_plane) ? pass : last_pass ? 0 : pass + 1;
    wire [24:0] base_next      = ~last_tap ? base : last_plane & ~last_pass ? group_base : base + capacity;
    wire [24:0] group_next     = last_tap & last_plane & last_pass ? base + capacity : group_base;

    wire signed [8:0] tap_rows_next = last_tap ? 9'd0 : last_column ? tap_rows + tap_words : tap_rows;
    wire signed [17:0] tap_in_rows_next = last_tap ? 18'd0 : last_column ? tap_in_rows + $signed({16'd0, dilation_h}) : tap_in_rows;
    wire signed [8:0] taps_next     = last_column ? 9'd0 : taps + tap_right;

    // The input pixel that the loops' formula gives, the same and the tap's first one step by step, and their slots
    reg  signed [8:0] at, tap_at;
    wire signed [8:0] tap_at_next = last_tap ? block_pixel : tap_at + (last_column ? tap_down : tap_right);
    wire signed [17:0] in_row    = in_rows + tap_in_rows - top;
    wire signed [17:0] in_column = columns + taps - left;
    wire signed [8:0] pixel     = images + rows + columns - border + tap_rows + taps;
    wire signed [8:0] slot      = at + rounds;
    wire signed [8:0] start     = tap_at + start_rounds;
    wire signed [8:0] step      = next_image ? image_step : wrap ? row_step : right_move;
    wire signed [8:0] tap_move  = last_column ? tap_step : tap_right;
    wire signed [8:0] next_rounds = last_tap ? slot_rounds : start_rounds + (last_column ? tap_rounds : 9'd0)
                                   - (start + tap_move >= cap ? cap : 9'd0);
    wire signed [8:0] next_start  = tap_at_next + next_rounds;
    wire tile_end = row_i & tile_end_i;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (!rst_ni) begin
            {tap_row, tap_column, plane, loaded, ended} <= 0;
            {tap_rows, taps, tap_in_rows} <= 0;
        end else begin
            loaded      <= load_i | loaded;
            ended       <= tile_end;
            if (load_i | tile_end) begin
                {image, images}       <= 0;
                {out_row, out_column} <= {first_row, first_column};
                rows    <= first_rows;
                columns <= first_columns;
                in_rows <= first_in_row;
                {rounds, start_rounds} <= {2{load_i ? slot_rounds : next_rounds}};
                {at, tap_at}           <= {2{load_i ? block_pixel : tap_at_next}};
            end else if (row_i) begin
                rounds     <= rounds + (next_image ? image_rounds : wrap ? row_rounds : 9'd0)
                            - (slot + step >= cap ? cap : 9'd0);
                at         <= at + (next_image ? image_move : wrap ? row_move : right_move);
                image      <= image + next_image;
                images     <= next_image ? images + image_words : images;
                out_row    <= next_image ? 0 : out_row + wrap;
                rows       <= next_image ? 0 : wrap ? rows + row_words : rows;
                in_rows    <= next_image ? 0 : wrap ? in_rows + $signed({16'd0, stride_h}) : in_rows;
                out_column <= wrap ? 0 : out_column + 1;
                columns    <= wrap ? 0 : columns + right_move;
            end
            if (load_i) {pass, whole_plane, group, base, group_base} <= 0;
            if (tile_end) begin
                tap_row         <= tap_row_next;
                tap_column      <= tap_column_next;
                tap_rows        <= tap_rows_next;
                tap_in_rows     <= tap_in_rows_next;
                taps            <= taps_next;
                plane           <= plane_next;
                pass            <= pass_next;
                base            <= base_next;
                group_base      <= group_next;
                if (last_tap) whole_plane <= last_plane & ~last_pass ? group : whole_plane + 1;
                if (last_tap & last_plane & last_pass) group <= whole_plane + 1;
            end
        end
    end

    // What `one by one` does not let hold yet in this cycle held in the one before.
    reg later, later_q = 1'b1;
    always @(posedge clk_i) later_q <= later;

    always @* begin
        later = 1'b1;
        assume (later_q);
        if (!begun) assume (!rst_ni);
        // What dispatch lets through
        assume (kernel_h != 0 & kernel_w != 0 & planes != 0 & group_passes != 0 & capacity != 0);
        assume (height != 0 & width != 0 & out_h != 0 & out_w != 0 & first_row < out_h & first_column < out_w);
        assume (stride_w <= capacity & dilation_w <= capacity);
        assume (row_step >= 0 & row_step < cap & image_step >= 0 & image_step < cap & tap_step >= 0 & tap_step < cap);
        assume (block_slot >= 0 & block_slot < cap);
        assume (row_rounds < 100 & row_rounds > -100 & image_rounds < 100 & image_rounds > -100);
        assume (tap_rounds < 100 & tap_rounds > -100 & slot_rounds < 100 & slot_rounds > -100);
        // The handshake: load_i between blocks, rows after it, tiles that end two cycles apart
        if (load_i) assume (~row_i & ~loaded);
        if (row_i) assume (loaded);
        if (ended) assume (~tile_end);
        if (loaded & row_i & next_image & ~tile_end) assume (~image);
        if (tile_end) assume (whole_plane < 60);
        if (begun & rst_ni) begin
            assert (tap_row < kernel_h & tap_column < kernel_w & plane < planes);
            assert (tap_row_q == tap_row & tap_column_q == tap_column & plane_q == plane);
            assert (down_q == tap_in_rows & right_q == taps);
            assert (taps == tap_column * dilation_w & taps <= 9);
            if (~loaded) assert (tap_row == 0 & tap_column == 0 & plane == 0 & tap_rows == 0 & tap_in_rows == 0);
            if (tap_row == 0) assert (tap_rows == 0 & tap_in_rows == 0);
        end
        if (begun & rst_ni & loaded) begin
            assert (pass < group_passes & pass_q == pass);
            assert (base_q == base & group_q == group_base);
            assert (whole_plane == group + plane);
            assert (out_row < out_h & out_column < out_w & out_row_q == out_row & out_column_q == out_column);
            assert (columns == out_column * stride_w & columns <= 9);
            assert (rows == out_row * row_words[3:0]);
            assert (row_q == in_row & column_q == in_column);
            if (wrap) assert (columns == row_length);
            if (next_image) assert (rows == rows_length);
            assert (tap_at == block_pixel + tap_rows + taps);
            assert (at == pixel);
            assert (slot_q == {7'd0, slot} & slot >= 0 & slot < cap);
            assert (start_q == {7'd0, start} & start >= 0 & start < cap);
            if (~ended) begin
                assert (next_tap_row_q == tap_row_next & next_tap_column_q == tap_column_next);
                assert (next_down_q == tap_in_rows_next & next_right_q == taps_next);
                assert (next_row_q == first_in_row + tap_in_rows_next - top);
                assert (next_column_q == first_in_column + taps_next - left);
                assert (next_start_q == {7'd0, next_start} & next_start >= 0 & next_start < cap);
                assert (next_plane_q == plane_next & next_pass_q == pass_next);
                assert (next_base_q == base_next & next_group_q == group_next);
            end
            // What is promised
            assert (place == base + slot & slot < cap);
            assert (inside == (in_row >= 0 & in_row < $signed({16'd0, height}) & in_column >= 0
                               & in_column < $signed({16'd0, width})));
            assert (first_tap == (tap_row == 0 & tap_column == 0) & first_pass == (pass == 0));
            assert (first_tile == (tap_row == 0 & tap_column == 0 & plane == 0));
            assert (last_tile == (last_tap & last_plane));
        end
        cover (begun & loaded & image == 1 & tap_row == 1 & inside & kernel_w == 2);
        cover (begun & loaded & group == 2 & plane == 1 & ~inside);
    end

endmodule
