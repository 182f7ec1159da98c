// SPDX-License-Identifier: Apache-2.0
// gemm64_depthwise_check refuses a DEPTHWISE two cycles after it came, with its number, exactly where its kernel, dilations, borders,
// sizes or steps are none that the lanes can take; nothing that comes or does not come before or after it matters.
//
// break gemm64_depthwise_check.v: {11'd0, pad_top} > rows -> {11'd0, pad_top} >= rows
// break gemm64_depthwise_check.v: wire bad_sizes = `GEMM64_BROKEN_DEPTHWISE | -> wire bad_sizes =
// break gemm64_depthwise_check.v: line_q > LINE[15:0] -> line_q >= LINE[15:0]
// break gemm64_depthwise_check.v: + right_q != {3'd0, lead_q} -> + right_q < {3'd0, lead_q}
// break gemm64_depthwise_check.v: lines_q  <= out_height - 16'd1 -> lines_q  <= out_height
// break gemm64_depthwise_check.v: given_q <= valid_i & rst_ni -> given_q <= rst_ni
// short
// multiplication any
// prove induction 1, cover 6
// probe given_q = dut.given_q
// probe known_q = dut.known_q
// probe bad_known_q = dut.bad_known_q
// probe bad_q = dut.bad_q
// probe row_q = dut.row_q
// probe across_q = dut.across_q
// probe image_q = dut.image_q
// probe line_q = dut.line_q
// probe above_q = dut.above_q
// probe two_q = dut.two_q
// probe four_q = dut.four_q
// probe right_q = dut.right_q
// probe lines_q = dut.lines_q
// probe row_step_q = dut.row_step_q
// probe image_step_q = dut.image_step_q
// probe lead_q = dut.lead_q
// probe rows_q = dut.rows_q
// probe rest_q = dut.rest_q
// probe tag_q = dut.tag_q
// probe tag_known_q = dut.tag_known_q
module lanes_check_proof ();

    wire        error;
    wire [15:0] error_tag;
    (* keep *) wire given_q, known_q, bad_q, bad_known_q, two_q, four_q;
    (* keep *) wire [15:0] tag_q, tag_known_q;
    gemm64_depthwise_check dut (.*);

    // Products of the design's registers, so that a solver multiplies but once; that they are the command's is asserted below
    (* keep *) wire [18:0] right_q;
    (* keep *) wire [15:0] row_q, line_q, above_q, lines_q, row_step_q, image_step_q, lead_q;
    (* keep *) wire [23:0] across_q, image_q;
    (* keep *) wire [31:0] rows_q;
    (* keep *) wire [32:0] rest_q;

    // Words 8 to 15 of the command, as rtl/gemm64.json has them
    reg  [255:0] w;
    wire [7:0]   kernel = w[7:0], stride_height = w[23:16], stride_width = w[31:24], down = w[39:32], across = w[47:40], pad_top = w[55:48], pad_left = w[63:56];
    wire [15:0]  height = w[79:64], width = w[95:80], out_height = w[111:96], out_width = w[127:112];
    wire [15:0]  row_step = w[143:128], image_step = w[159:144], lead = w[175:160];

    reg         begun = 1'b0, came = 1'b0, came_before = 1'b0, wrong;
    reg  [15:0] tag, tag_before;
    reg  [31:0] above;
    reg  [40:0] rest;

    // A row's outputs end that many words before the next row's begin, an image's before the next image's.
    wire [15:0] columns = out_width - 16'd1, lines = out_height - 16'd1;
    // From the first tap to the last one, kernel - 1 steps, in sums, since no product is looked into
    wire [19:0] two = {20{kernel != 5}}, four = {20{kernel != 3}};
    wire [19:0] rows  = (two & {11'd0, down, 1'b0}) + (four & {10'd0, down, 2'd0});
    wire [19:0] apart = (two & {11'd0, across, 1'b0}) + (four & {10'd0, across, 2'd0});
    wire [19:0] words_above = (two & {3'd0, line_q, 1'b0}) + (four & {2'd0, line_q, 2'd0});
    wire [19:0] first = words_above - {4'd0, above_q} + apart - {12'd0, pad_left};
    wire [7:0]  words = width[7:0];
    wire        square = kernel == 3 | kernel == 5 | kernel == 7;
    wire        fits   = down >= 1 & across >= 1 & across <= (kernel == 3 ? 6 : kernel == 5 ? 2 : 1)
                       & pad_top <= rows & pad_left <= apart & height >= 1 & width >= 2 & width <= 128
                       & out_height >= 1 & out_width >= 1;
    wire        walks  = {10'd0, row_q} - {2'd0, across_q} == {10'd0, row_step} & line_q <= 128 & first == {4'd0, lead};

    always @(posedge clk_i) begin
        begun       <= 1'b1;
        came        <= rst_ni & valid_i;
        came_before <= rst_ni & came;
        if (valid_i) {w, tag} <= {window_i, tag_i};
        if (came) begin
            wrong      <= ~(square & fits & walks);
            above      <= {16'd0, lines_q} * {16'd0, row_q};
            rest       <= {17'd0, image_q} - {17'd0, across_q} - {25'd0, image_step};
            tag_before <= tag;
        end
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) assert (error == (came_before & (wrong | rest != {9'd0, above})));
        if (begun & error) assert (error_tag == tag_before);
        // What the induction needs of the registers
        if (begun) assert (given_q == came & known_q == came_before);
        if (came) begin
            assert (bad_q == ~(square & fits) & tag_q == tag);
            assert ({row_step_q, image_step_q, lead_q} == {row_step, image_step, lead});
            assert (row_q == {8'd0, stride_height} * {8'd0, words});
            assert (across_q == {8'd0, columns} * {16'd0, stride_width});
            assert (image_q == {8'd0, height} * {16'd0, words});
            assert (line_q == {8'd0, down} * {8'd0, words});
            assert (above_q == {8'd0, pad_top} * {8'd0, words});
            assert (lines_q == lines);
            if (~bad_q) assert (right_q == apart - {12'd0, pad_left} & two_q == (kernel != 5) & four_q == (kernel != 3));
        end
        if (came_before) begin
            assert (bad_known_q == wrong & tag_known_q == tag_before);
            assert (rows_q == above & rest_q == rest[32:0] & rest[40:26] == {15{rest[25]}});
        end
        cover (begun & came_before & ~error & valid_i);
        cover (begun & error & came);
    end

endmodule
