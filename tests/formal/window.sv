// SPDX-License-Identifier: Apache-2.0
// gemm64_window meets, for each pass, plane and tap, each output pixel once, in the order of plain loops; it tells the
// place of the input pixel that the loops' formula gives, and never takes a place beyond the border for one inside. For all
// convolutions of the widths below (kernels, strides and dilations to 3, images to 7 x 7, planes of 31 words).
//
// prove induction 2, cover 12
// probe row_q = dut.row_q
// probe column_q = dut.column_q
// probe slot_q = dut.slot_q
// probe out_row_q = dut.out_row_q
// probe out_column_q = dut.out_column_q
// probe tap_row_q = dut.tap_row_q
// probe tap_column_q = dut.tap_column_q
// probe down_q = dut.down_q
// probe right_q = dut.right_q
// probe distance_q = dut.distance_q
// probe plane_q = dut.plane_q
// probe pass_q = dut.pass_q
// probe base_q = dut.base_q
// probe group_q = dut.group_q
// probe tile_row_q = dut.tile_row_q
// probe tile_column_q = dut.tile_column_q
// probe tile_slot_q = dut.tile_slot_q
module window_proof (
    input wire clk_i,
    input wire rst_ni,
    input wire load_i,
    input wire row_i,
    input wire tile_end_i
);

    // A layer, and what the program says of its steps: true modulo CAPACITY
    (* anyconst *) reg [1:0] kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
    (* anyconst *) reg [1:0] planes, group_passes;
    (* anyconst *) reg [2:0] height, width, out_h, out_w, first_row, first_column;  // of the block's first pixel
    (* anyconst *) reg [4:0] capacity;
    (* anyconst *) reg signed [11:0] row_turns, image_turns, tap_turns, slot_turns;

    // Distances in pixels of the tensor
    wire signed [11:0] image_words = height * width, row_words = stride_h * width, tap_words = dilation_h * width;
    wire signed [11:0] cap = capacity;
    wire signed [11:0] row_step   = row_words - $signed({9'd0, out_w - 3'd1}) * $signed({10'd0, stride_w}) + row_turns * cap;
    wire signed [11:0] image_step = image_words - $signed({9'd0, out_h - 3'd1}) * row_words
                                  - $signed({9'd0, out_w - 3'd1}) * $signed({10'd0, stride_w}) + image_turns * cap;
    wire signed [11:0] tap_step   = tap_words - $signed({10'd0, kernel_w - 2'd1}) * $signed({10'd0, dilation_w}) + tap_turns * cap;
    wire signed [11:0] border     = pad_top * width + pad_left;
    wire signed [11:0] block_slot = $signed({9'd0, first_row}) * row_words + $signed({9'd0, first_column}) * $signed({10'd0, stride_w})
                                  - border + slot_turns * cap;
    wire signed [17:0] block_row    = $signed({15'd0, first_row}) * $signed({16'd0, stride_h}) - $signed({16'd0, pad_top});
    wire signed [17:0] block_column = $signed({15'd0, first_column}) * $signed({16'd0, stride_w}) - $signed({16'd0, pad_left});

    wire [24:0] place;
    wire        inside, first_tap, first_pass, first_tile, last_tile;
    gemm64_window dut (
        .clk_i (clk_i), .rst_ni (rst_ni), .kernel_height_i ({6'd0, kernel_h}), .kernel_width_i ({6'd0, kernel_w}),
        .stride_height_i ({6'd0, stride_h}), .stride_width_i ({6'd0, stride_w}),
        .dilation_height_i ({6'd0, dilation_h}), .dilation_width_i ({6'd0, dilation_w}),
        .pad_top_i ({6'd0, pad_top}), .pad_left_i ({6'd0, pad_left}), .height_i ({13'd0, height}),
        .width_i ({13'd0, width}), .out_height_i ({13'd0, out_h}), .out_width_i ({13'd0, out_w}),
        .capacity_i ({11'd0, capacity}), .row_step_i ({4'd0, row_step}), .image_step_i ({4'd0, image_step}),
        .tap_row_step_i ({4'd0, tap_step}), .planes_i ({14'd0, planes}), .group_passes_i ({14'd0, group_passes}),
        .active_i (1'b1), .load_i (load_i), .block_slot_i ({4'd0, block_slot}), .block_out_row_i ({13'd0, first_row}),
        .block_out_column_i ({13'd0, first_column}), .block_row_i (block_row), .block_column_i (block_column),
        .row_i (row_i), .tile_end_i (tile_end_i), .place_o (place), .inside_o (inside), .first_tap_o (first_tap),
        .first_pass_o (first_pass), .first_tile_o (first_tile), .last_tile_o (last_tile)
    );

    (* keep *) wire [17:0] row_q, column_q, down_q, right_q, tile_row_q, tile_column_q;
    (* keep *) wire [15:0] slot_q, out_row_q, out_column_q, distance_q, plane_q, pass_q, tile_slot_q;
    (* keep *) wire [7:0]  tap_row_q, tap_column_q;
    (* keep *) wire [24:0] base_q, group_q;

    // The loops: group of passes, pass, plane, tap row, tap; and for each of these image, output row, output column
    reg        begun = 1'b0, loaded, ended;
    reg [1:0]  tap_row, tap_column, plane, pass;
    reg [5:0]  whole_plane, group;         // from the first plane of the tensor on
    reg [1:0]  image;                      // from the block's first on
    reg [2:0]  out_row, out_column;
    reg signed [11:0] turns, tap_q_turns, tile_turns;  // how often a slot has gone around

    wire last_column = tap_column == kernel_w - 2'd1;
    wire last_tap    = last_column & tap_row == kernel_h - 2'd1;
    wire last_plane  = plane == planes - 2'd1;
    wire last_pass   = pass == group_passes - 2'd1;
    wire wrap        = out_column == out_w - 3'd1;
    wire next_image  = wrap & out_row == out_h - 3'd1;

    wire [1:0] tap_row_next    = last_tap ? 0 : tap_row + last_column;
    wire [1:0] tap_column_next = last_column ? 0 : tap_column + 1;

    // Formulas of the loops
    wire signed [17:0] in_row    = $signed({15'd0, out_row}) * $signed({16'd0, stride_h})
                                 + $signed({16'd0, tap_row}) * $signed({16'd0, dilation_h}) - $signed({16'd0, pad_top});
    wire signed [17:0] in_column = $signed({15'd0, out_column}) * $signed({16'd0, stride_w})
                                 + $signed({16'd0, tap_column}) * $signed({16'd0, dilation_w}) - $signed({16'd0, pad_left});
    wire signed [11:0] distance  = $signed({10'd0, tap_row}) * tap_words + $signed({10'd0, tap_column}) * $signed({10'd0, dilation_w});
    wire signed [11:0] pixel     = $signed({10'd0, image}) * image_words + $signed({9'd0, out_row}) * row_words
                                 + $signed({9'd0, out_column}) * $signed({10'd0, stride_w}) + distance - border;
    wire signed [11:0] slot      = pixel + turns * cap;               // pixel modulo CAPACITY, as turns say
    wire signed [11:0] tap_slot  = distance + tap_q_turns * cap;
    wire signed [11:0] step      = next_image ? image_step : wrap ? row_step : {10'd0, stride_w};
    wire signed [11:0] step_turns = next_image ? image_turns : wrap ? row_turns : 12'd0;
    wire signed [11:0] tap_move  = last_column ? tap_step : {10'd0, dilation_w};
    wire signed [11:0] next_tap_turns = last_tap ? 12'd0 : tap_q_turns + (last_column ? tap_turns : 12'd0)
                                      - (tap_slot + tap_move >= cap ? 12'd1 : 12'd0);
    wire signed [11:0] next_distance = $signed({10'd0, tap_row_next}) * tap_words
                                     + $signed({10'd0, tap_column_next}) * $signed({10'd0, dilation_w});
    wire signed [11:0] next_tap_slot = next_distance + next_tap_turns * cap;
    wire signed [11:0] next_tile_turns = slot_turns + next_tap_turns - (block_slot + next_tap_slot >= cap ? 12'd1 : 12'd0);
    wire tile_end = row_i & tile_end_i;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (!rst_ni) begin
            {tap_row, tap_column, plane, loaded, ended, tap_q_turns} <= 0;
        end else begin
            loaded <= load_i | loaded;
            ended  <= tile_end;
            tile_turns <= next_tile_turns;
            if (load_i) begin
                {image, pass, whole_plane, group} <= 0;
                {out_row, out_column} <= {first_row, first_column};
                turns <= slot_turns;
            end else if (tile_end) begin
                image <= 0;
                {out_row, out_column} <= {first_row, first_column};
                turns       <= tile_turns;
                tap_row     <= tap_row_next;
                tap_column  <= tap_column_next;
                tap_q_turns <= next_tap_turns;
                if (last_tap) begin
                    plane       <= last_plane ? 0 : plane + 1;
                    whole_plane <= last_plane & ~last_pass ? group : whole_plane + 1;
                    if (last_plane) begin
                        pass <= last_pass ? 0 : pass + 1;
                        if (last_pass) group <= whole_plane + 1;
                    end
                end
            end else if (row_i) begin
                turns      <= turns + step_turns - (slot + step >= cap ? 12'd1 : 12'd0);
                image      <= image + next_image;
                out_row    <= next_image ? 0 : out_row + wrap;
                out_column <= wrap ? 0 : out_column + 1;
            end
        end
    end

    wire signed [11:0] tile_slot = $signed({9'd0, first_row}) * row_words + $signed({9'd0, first_column}) * $signed({10'd0, stride_w})
                                 - border + next_distance + tile_turns * cap;

    always @* begin
        if (!begun) assume (!rst_ni);
        // What dispatch lets through
        assume (kernel_h != 0 & kernel_w != 0 & planes != 0 & group_passes != 0 & capacity != 0);
        assume (height != 0 & width != 0 & out_h != 0 & out_w != 0 & first_row < out_h & first_column < out_w);
        assume (stride_w <= capacity & dilation_w <= capacity);
        assume (row_step >= 0 & row_step < cap & image_step >= 0 & image_step < cap & tap_step >= 0 & tap_step < cap);
        assume (block_slot >= 0 & block_slot < cap);
        assume (row_turns <= 40 & row_turns >= -40 & image_turns <= 200 & image_turns >= -200);
        assume (tap_turns <= 40 & tap_turns >= -40 & slot_turns <= 200 & slot_turns >= -200);
        // The handshake: load_i between blocks, rows after it, tiles that end two clocks apart
        if (load_i) assume (~row_i & ~loaded);
        if (row_i) assume (loaded);
        if (ended) assume (~tile_end);
        if (loaded & row_i & next_image & ~tile_end) assume (image != 3);
        if (tile_end) assume (whole_plane < 60);
        if (begun & rst_ni) begin
            assert (tap_row < kernel_h & tap_column < kernel_w & plane < planes);
            assert (tap_row_q == tap_row & tap_column_q == tap_column & plane_q == plane);
            assert (down_q == $signed({16'd0, tap_row}) * $signed({16'd0, dilation_h}));
            assert (right_q == $signed({16'd0, tap_column}) * $signed({16'd0, dilation_w}));
            assert (distance_q == {4'd0, tap_slot} & tap_slot >= 0 & tap_slot < cap);
            assert (tap_q_turns <= 250 & tap_q_turns >= -250);
            if (~loaded) assert (tap_row == 0 & tap_column == 0 & plane == 0 & tap_q_turns == 0);
        end
        if (begun & rst_ni & loaded) begin
            assert (pass < group_passes & pass_q == pass);
            assert (base_q == whole_plane * {20'd0, capacity} & group_q == group * {20'd0, capacity});
            assert (whole_plane == group + plane);
            assert (out_row < out_h & out_column < out_w & out_row_q == out_row & out_column_q == out_column);
            assert (row_q == in_row & column_q == in_column);
            assert (slot_q == {4'd0, slot} & slot >= 0 & slot < cap);
            if (~ended) begin
                assert (tile_row_q == block_row + $signed({16'd0, tap_row_next}) * $signed({16'd0, dilation_h}));
                assert (tile_column_q == block_column + $signed({16'd0, tap_column_next}) * $signed({16'd0, dilation_w}));
                assert (tile_slot_q == {4'd0, tile_slot} & tile_slot >= 0 & tile_slot < cap);
            end
            // What is promised
            assert (place == whole_plane * {20'd0, capacity} + slot_q & slot_q < capacity);
            assert (inside == (in_row >= 0 & in_row < $signed({15'd0, height}) & in_column >= 0
                               & in_column < $signed({15'd0, width})));
            assert (first_tap == (tap_row == 0 & tap_column == 0) & first_pass == (pass == 0));
            assert (first_tile == (tap_row == 0 & tap_column == 0 & plane == 0));
            assert (last_tile == (last_tap & last_plane));
        end
        cover (begun & loaded & image == 1 & tap_row == 1 & inside & kernel_w == 2);
        cover (begun & loaded & group == 1 & plane == 1 & ~inside & pass == 1);
    end

endmodule
