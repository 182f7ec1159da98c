// SPDX-License-Identifier: Apache-2.0
// gemm64_lanes_check refuses a DEPTHWISE two clocks after it came, with its number, exactly where its kernel, borders, sizes or
// steps are none that the lanes can take; nothing that comes or does not come before or behind it matters.
//
// break gemm64_lanes_check.v: kernel != 8'd7) | pad_top >= kernel -> kernel != 8'd7) | pad_top > kernel
// break gemm64_lanes_check.v: ahead != {8'd0, lead} -> ahead < {8'd0, lead}
// break gemm64_lanes_check.v: given_q <= valid_i & rst_ni -> given_q <= rst_ni
// prove induction 1, cover 6
// probe given_q = dut.given_q
// probe known_q = dut.known_q
// probe bad_known_q = dut.bad_known_q
// probe window_q = dut.window_q
// probe tag_q = dut.tag_q
// probe tag_known_q = dut.tag_known_q
module lanes_check_proof ();

    wire        error;
    wire [15:0] error_tag;
    (* keep *) wire given_q, known_q, bad_known_q;
    (* keep *) wire [15:0] tag_q, tag_known_q;
    gemm64_lanes_check dut (.*);

    // Words 8 to 15 of the command, as rtl/gemm64.json has them
    (* keep *) wire [255:0] window_q;  // its register, so that a solver multiplies but once
    wire [255:0] w = window_q;
    reg  [255:0] window;
    wire [7:0]   kernel = w[7:0], stride_height = w[23:16], stride_width = w[31:24], pad_top = w[55:48], pad_left = w[63:56];
    wire [15:0]  height = w[79:64], width = w[95:80], out_height = w[111:96], out_width = w[127:112];
    wire [15:0]  row_step = w[143:128], image_step = w[159:144], lead = w[175:160];

    reg         begun = 1'b0, came = 1'b0, came_before = 1'b0, refused;
    reg  [15:0] tag, tag_before;

    // A row's outputs end so many words before the next row's begin, an image's before the next image's.
    wire [15:0] columns = out_width - 16'd1, rows = out_height - 16'd1;
    wire [7:0]  below = kernel - 8'd1 - pad_top, right = kernel - 8'd1 - pad_left;  // of taps, behind the first output's
    wire [23:0] across = {8'd0, columns} * {16'd0, stride_width}, down = {8'd0, rows} * {16'd0, stride_height};
    wire [23:0] row = {16'd0, stride_height} * {8'd0, width};
    wire [39:0] above = {16'd0, down} * {24'd0, width}, image = {24'd0, height} * {24'd0, width};
    wire [23:0] ahead = {16'd0, below} * {8'd0, width} + {16'd0, right};
    wire        square = kernel == 3 | kernel == 5 | kernel == 7;
    wire        fits   = pad_top < kernel & pad_left < kernel & height >= 1 & width >= 2 & width <= 128
                       & out_height >= 1 & out_width >= 1;
    wire        walks  = row - across == {8'd0, row_step} & image - above - {16'd0, across} == {24'd0, image_step}
                       & ahead == {8'd0, lead};

    always @(posedge clk_i) begin
        begun       <= 1'b1;
        came        <= rst_ni & valid_i;
        came_before <= rst_ni & came;
        if (valid_i) {window, tag} <= {window_i, tag_i};
        if (came) {refused, tag_before} <= {~(square & fits & walks), tag};
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) assert (error == (came_before & refused));
        if (begun & error) assert (error_tag == tag_before);
        // What the induction needs of the registers
        if (begun) assert (given_q == came & known_q == came_before);
        if (came) assert (window_q == window & tag_q == tag);
        if (came_before) assert (bad_known_q == refused & tag_known_q == tag_before);
        cover (begun & came_before & ~error & valid_i);
        cover (begun & error & came);
    end

endmodule
