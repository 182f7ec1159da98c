// SPDX-License-Identifier: Apache-2.0
// Walks the scratchpad as a convolution reads it: for each pass, plane and tap, the input pixel that each output pixel of
// the block meets there. A plane is a channel tile: CAPACITY words, in which pixel p has the slot p mod CAPACITY. All
// steps are given, so that addresses need only additions.
// Latency: 1 cycle from load_i to the block's first row; then a row is there a cycle after the one before it.
// Handshake: none. load_i goes to a block's first row, row_i on to the next row; with tile_end_i to the next tap, plane
//            or pass, too. All inputs of the block and of its layer hold from load_i to its last row, and active_i is
//            high; tiles end two cycles apart or more. A block that was begun goes on to its end, or there is a reset.
`default_nettype none

module gemm64_im2col (
    input  wire                    clk_i,
    input  wire                    rst_ni,            // synchronous, active low
    // Layer
    input  wire [7:0]              kernel_height_i,   // at least 1
    input  wire [7:0]              kernel_width_i,
    input  wire [7:0]              stride_height_i,
    input  wire [7:0]              stride_width_i,
    input  wire [7:0]              dilation_height_i,
    input  wire [7:0]              dilation_width_i,
    input  wire [7:0]              pad_top_i,
    input  wire [7:0]              pad_left_i,
    input  wire [15:0]             height_i,          // of the input
    input  wire [15:0]             width_i,
    input  wire [15:0]             out_height_i,      // of the output
    input  wire [15:0]             out_width_i,
    input  wire [15:0]             capacity_i,        // words of a plane
    input  wire [15:0]             row_step_i,        // slots modulo CAPACITY, to the first output of the next row ...
    input  wire [15:0]             image_step_i,      // ... and of the next image, each from the last one before it
    input  wire [15:0]             tap_row_step_i,    // from a tap row's last tap to the first of the next
    input  wire [15:0]             planes_i,          // in a pass, at least 1
    input  wire [15:0]             group_passes_i,    // passes that read the same planes, at least 1; then come the next
    // Block: its first output pixel, and what the first tap meets there
    input  wire                    active_i,
    input  wire                    load_i,
    input  wire [15:0]             block_slot_i,
    input  wire [15:0]             block_out_row_i,
    input  wire [15:0]             block_out_column_i,
    input  wire [17:0]             block_row_i,       // of the input: where the border begins it is below 0
    input  wire [17:0]             block_column_i,
    // Walk
    input  wire                    row_i,             // the row is read
    input  wire                    tile_end_i,        // with row_i: it is the tile's last
    output wire [24:0]             place_o,           // of its word in the scratchpad
    output wire                    inside_o,          // it is a pixel of the input, not of the border
    output wire                    first_tap_o,       // of its plane
    output wire                    first_pass_o,      // of those that read its plane
    output wire                    first_tile_o,      // of its pass
    output wire                    last_tile_o
);

    function [15:0] around;  // a + b modulo CAPACITY
        input [15:0] a, b, capacity;
        reg [16:0] sum, less;
        begin
            sum    = {1'b0, a} + {1'b0, b};
            less   = sum - {1'b0, capacity};
            around = less[16] ? sum[15:0] : less[15:0];
        end
    endfunction

    // Tap: how far it is from the first one. These are zero between blocks.
    reg [7:0]             tap_row_q, tap_column_q;
    reg [17:0]            down_q, right_q;  // rows and columns of the input
    reg [15:0]            plane_q;

    // These begin with each block.
    reg [15:0]            start_q;          // slot of what the tap meets at the block's first output pixel
    reg [15:0]            pass_q;           // of those that read the same planes
    reg [24:0]            base_q, group_q;  // first words of the plane, and of the first plane of the pass

    // The tap after it and where its tile begins, a cycle after the tap is known
    reg [7:0]             next_tap_row_q, next_tap_column_q;
    reg [17:0]            next_down_q, next_right_q, next_row_q, next_column_q;
    reg [15:0]            next_start_q, next_plane_q, next_pass_q;
    reg [24:0]            next_base_q, next_group_q;

    // Output pixel, and the input pixel that the tap meets there
    reg [15:0]            out_row_q, out_column_q;
    reg [17:0]            row_q, column_q;
    reg [15:0]            slot_q;

    // Outputs that describe the row
    reg [24:0]            place_base_q;
    reg [15:0]            place_slot_q;
    reg                   inside_q, first_tap_q, first_pass_q, first_tile_q, last_tile_q;

    // Next values. All is one block, the only one that reads its state, so that an idle walk costs the simulation nothing.
    reg                   tile_end, last_column, last_tap, last_plane, last_pass, wrap, image;
    reg                   first_tap, next_first_tap, next_last_tile;
    reg [7:0]             next_tap_row, next_tap_column;
    reg [17:0]            next_down, next_right, row, column;
    reg [15:0]            start, next_start, next_plane, pass, next_pass, slot;
    reg [24:0]            base, next_base, group, next_group;

    always @(posedge clk_i)
        if (active_i | ~rst_ni) begin
            pass  = load_i ? 16'd0 : pass_q;
            base  = load_i ? 25'd0 : base_q;
            group = load_i ? 25'd0 : group_q;
            start = load_i ? block_slot_i : start_q;

            // The tap after this one
            last_column     = tap_column_q == kernel_width_i - 8'd1;
            last_tap        = last_column & tap_row_q == kernel_height_i - 8'd1;
            next_tap_row    = last_tap ? 8'd0 : tap_row_q + {7'd0, last_column};
            next_tap_column = last_column ? 8'd0 : tap_column_q + 8'd1;
            next_down       = last_tap ? 18'd0 : last_column ? down_q + {10'd0, dilation_height_i} : down_q;
            next_right      = last_column ? 18'd0 : right_q + {10'd0, dilation_width_i};
            next_start      = around(start, last_column ? tap_row_step_i : {8'd0, dilation_width_i}, capacity_i);
            if (last_tap) next_start = block_slot_i;

            // Its plane and pass
            last_plane = plane_q == planes_i - 16'd1;
            last_pass  = pass == group_passes_i - 16'd1;
            next_plane = plane_q;
            next_pass  = pass;
            next_base  = base;
            next_group = group;
            if (last_tap) begin
                next_plane = last_plane ? 16'd0 : plane_q + 16'd1;
                next_base  = last_plane & ~last_pass ? group : base + {9'd0, capacity_i};
                if (last_plane) begin
                    next_pass  = last_pass ? 16'd0 : pass + 16'd1;
                    next_group = next_base;
                end
            end

            // The next row is of the tap that was found a cycle ago, or of the same.
            tile_end       = row_i & tile_end_i;
            first_tap      = tap_row_q == 8'd0 & tap_column_q == 8'd0;
            next_first_tap = next_tap_row_q == 8'd0 & next_tap_column_q == 8'd0;
            next_last_tile = next_tap_column_q == kernel_width_i - 8'd1 & next_tap_row_q == kernel_height_i - 8'd1
                           & next_plane_q == planes_i - 16'd1;
            first_tap_q  <= tile_end ? next_first_tap : first_tap;
            first_pass_q <= tile_end ? next_pass_q == 16'd0 : pass == 16'd0;
            first_tile_q <= tile_end ? next_first_tap & next_plane_q == 16'd0 : first_tap & plane_q == 16'd0;
            last_tile_q  <= tile_end ? next_last_tile : last_tap & last_plane;

            // The output pixel after this one
            wrap   = out_column_q == out_width_i - 16'd1;
            image  = wrap & out_row_q == out_height_i - 16'd1;
            row    = row_q;
            column = column_q;
            slot   = slot_q;
            if (load_i | tile_end) begin
                row    = load_i ? block_row_i : next_row_q;
                column = load_i ? block_column_i : next_column_q;
                slot   = load_i ? block_slot_i : next_start_q;
                out_row_q    = block_out_row_i;
                out_column_q = block_out_column_i;
            end else if (row_i) begin
                row    = image ? down_q - {10'd0, pad_top_i} : wrap ? row_q + {10'd0, stride_height_i} : row_q;
                column = wrap ? right_q - {10'd0, pad_left_i} : column_q + {10'd0, stride_width_i};
                // Each of the three, since which one it is comes late in the clock
                slot   = image ? around(slot_q, image_step_i, capacity_i)
                       : wrap ? around(slot_q, row_step_i, capacity_i)
                       : around(slot_q, {8'd0, stride_width_i}, capacity_i);
                out_row_q    = image ? 16'd0 : out_row_q + {15'd0, wrap};
                out_column_q = wrap ? 16'd0 : out_column_q + 16'd1;
            end
            inside_q <= row < {2'd0, height_i} & column < {2'd0, width_i};  // below 0 is far above

            // The step is done.
            if (tile_end) begin
                tap_row_q    = next_tap_row_q;
                tap_column_q = next_tap_column_q;
                down_q       = next_down_q;
                right_q      = next_right_q;
                start        = next_start_q;
                plane_q      = next_plane_q;
                pass         = next_pass_q;
                base         = next_base_q;
                group        = next_group_q;
            end
            start_q  = start;
            pass_q   = pass;
            base_q   = base;
            group_q  = group;
            row_q    = row;
            column_q = column;
            slot_q   = slot;
            place_base_q <= base;
            place_slot_q <= slot;

            next_tap_row_q    = next_tap_row;
            next_tap_column_q = next_tap_column;
            next_down_q       = next_down;
            next_right_q      = next_right;
            next_start_q      = next_start;
            next_row_q        = block_row_i + next_down;
            next_column_q     = block_column_i + next_right;
            next_plane_q      = next_plane;
            next_pass_q       = next_pass;
            next_base_q       = next_base;
            next_group_q      = next_group;

            if (!rst_ni) begin
                tap_row_q    = 8'd0;
                tap_column_q = 8'd0;
                down_q       = 18'd0;
                right_q      = 18'd0;
                plane_q      = 16'd0;
            end
        end

    assign place_o      = place_base_q + {9'd0, place_slot_q};
    assign inside_o     = inside_q;
    assign first_tap_o  = first_tap_q;
    assign first_pass_o = first_pass_q;
    assign first_tile_o = first_tile_q;
    assign last_tile_o  = last_tile_q;

endmodule

`default_nettype wire
