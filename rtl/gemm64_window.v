// SPDX-License-Identifier: Apache-2.0
// Walks the scratchpad as a convolution reads it: for each pass, plane and tap, the input pixel that each output pixel of
// the block meets there. A plane is a channel tile: CAPACITY words, in which pixel p has the slot p mod CAPACITY. All
// steps are given, so that places are found by adding alone.
// Latency: 1 clock from load_i to the block's first row; then a row is there a clock after the one before it.
// Handshake: none. load_i goes to a block's first row, row_i on to the next row; with tile_end_i to the next tap, plane
//            or pass, too. All inputs of the block and of its layer hold from load_i to its last row, and active_i is
//            high; tiles end two clocks apart or more. A block that was begun goes on to its end, or there is a reset.
`default_nettype none

module gemm64_window #(
    parameter PLACE_WIDTH = 14  // bits of a place in the scratchpad, at least 9
) (
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
    input  wire [PLACE_WIDTH-1:0]  capacity_i,        // words of a plane
    input  wire [PLACE_WIDTH-1:0]  row_step_i,        // slots modulo CAPACITY, to the first output of the next row ...
    input  wire [PLACE_WIDTH-1:0]  image_step_i,      // ... and of the next image, each from the last one before it
    input  wire [PLACE_WIDTH-1:0]  tap_row_step_i,    // from a tap row's last tap to the first of the next
    input  wire [15:0]             planes_i,          // in a pass, at least 1
    input  wire [15:0]             group_passes_i,    // passes that read the same planes, at least 1; then come the next
    // Block: its first output pixel, and what the first tap meets there
    input  wire                    active_i,
    input  wire                    load_i,
    input  wire [PLACE_WIDTH-1:0]  block_slot_i,
    input  wire [15:0]             block_out_row_i,
    input  wire [15:0]             block_out_column_i,
    input  wire [17:0]             block_row_i,       // of the input: where the border begins it is below 0
    input  wire [17:0]             block_column_i,
    // Walk
    input  wire                    row_i,             // the row is read
    input  wire                    tile_end_i,        // with row_i: it is the tile's last
    output wire [PLACE_WIDTH-1:0]  place_o,           // of its word in the scratchpad
    output wire                    inside_o,          // it is a pixel of the input, not of the border
    output wire                    first_tap_o,       // of its plane
    output wire                    first_pass_o,      // of those that read its plane
    output wire                    first_tile_o,      // of its pass
    output wire                    last_tile_o
);

    function [PLACE_WIDTH-1:0] around;  // a + b modulo CAPACITY
        input [PLACE_WIDTH-1:0] a, b, capacity;
        reg [PLACE_WIDTH:0] sum, less;
        begin
            sum    = {1'b0, a} + {1'b0, b};
            less   = sum - {1'b0, capacity};
            around = less[PLACE_WIDTH] ? sum[PLACE_WIDTH-1:0] : less[PLACE_WIDTH-1:0];
        end
    endfunction

    // Tap: how far it is from the first one. These are zero between blocks.
    reg [7:0]             tap_row_q, tap_column_q;
    reg [17:0]            down_q, right_q;  // rows and columns of the input
    reg [PLACE_WIDTH-1:0] distance_q;       // slots
    reg [15:0]            plane_q;
    reg [15:0]            pass_q;           // of those that read the same planes
    reg [PLACE_WIDTH-1:0] base_q, group_q;  // first words of the plane, and of the first plane of the pass

    wire last_column = tap_column_q == kernel_width_i - 8'd1;
    wire last_tap    = last_column & tap_row_q == kernel_height_i - 8'd1;
    wire last_plane  = plane_q == planes_i - 16'd1;
    wire last_pass   = pass_q == group_passes_i - 16'd1;

    // The tap after this one
    wire [17:0] next_down  = last_tap ? 18'd0 : last_column ? down_q + {10'd0, dilation_height_i} : down_q;
    wire [17:0] next_right = last_column ? 18'd0 : right_q + {10'd0, dilation_width_i};
    wire [PLACE_WIDTH-1:0] tap_step = last_column ? tap_row_step_i : {{PLACE_WIDTH-8{1'b0}}, dilation_width_i};
    wire [PLACE_WIDTH-1:0] next_distance =
        last_tap ? {PLACE_WIDTH{1'b0}} : around(distance_q, tap_step, capacity_i);
    wire [PLACE_WIDTH-1:0] next_base = last_plane & ~last_pass ? group_q : base_q + capacity_i;

    wire end_of_tile  = row_i & tile_end_i;
    wire end_of_plane = end_of_tile & last_tap;
    wire end_of_pass  = end_of_plane & last_plane;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            tap_row_q    <= 8'd0;
            tap_column_q <= 8'd0;
            down_q       <= 18'd0;
            right_q      <= 18'd0;
            distance_q   <= {PLACE_WIDTH{1'b0}};
            plane_q      <= 16'd0;
        end else if (end_of_tile) begin
            tap_row_q    <= last_tap ? 8'd0 : tap_row_q + {7'd0, last_column};
            tap_column_q <= last_column ? 8'd0 : tap_column_q + 8'd1;
            down_q       <= next_down;
            right_q      <= next_right;
            distance_q   <= next_distance;
            if (last_tap) plane_q <= last_plane ? 16'd0 : plane_q + 16'd1;
        end
        if (load_i) begin
            pass_q  <= 16'd0;
            base_q  <= {PLACE_WIDTH{1'b0}};
            group_q <= {PLACE_WIDTH{1'b0}};
        end else if (end_of_plane) begin
            base_q <= next_base;
            if (end_of_pass) begin
                pass_q  <= last_pass ? 16'd0 : pass_q + 16'd1;
                group_q <= next_base;
            end
        end
    end

    // Where the next tile begins, a clock after its tap is known.
    reg [PLACE_WIDTH-1:0] tile_slot_q;
    reg [17:0]            tile_row_q, tile_column_q;
    always @(posedge clk_i)
        if (active_i) begin
            tile_slot_q   <= around(block_slot_i, next_distance, capacity_i);
            tile_row_q    <= block_row_i + next_down;
            tile_column_q <= block_column_i + next_right;
        end

    // Output pixel, and the input pixel that the tap meets there
    reg [15:0]            out_row_q, out_column_q;
    reg [17:0]            row_q, column_q;
    reg [PLACE_WIDTH-1:0] slot_q;

    wire wrap  = out_column_q == out_width_i - 16'd1;
    wire image = wrap & out_row_q == out_height_i - 16'd1;
    wire [PLACE_WIDTH-1:0] step =
        image ? image_step_i : wrap ? row_step_i : {{PLACE_WIDTH-8{1'b0}}, stride_width_i};

    always @(posedge clk_i)
        if (load_i | end_of_tile) begin
            out_row_q    <= block_out_row_i;
            out_column_q <= block_out_column_i;
            row_q        <= load_i ? block_row_i : tile_row_q;
            column_q     <= load_i ? block_column_i : tile_column_q;
            slot_q       <= load_i ? block_slot_i : tile_slot_q;
        end else if (row_i) begin
            out_row_q    <= image ? 16'd0 : out_row_q + {15'd0, wrap};
            out_column_q <= wrap ? 16'd0 : out_column_q + 16'd1;
            row_q        <= image ? down_q - {10'd0, pad_top_i} : wrap ? row_q + {10'd0, stride_height_i} : row_q;
            column_q     <= wrap ? right_q - {10'd0, pad_left_i} : column_q + {10'd0, stride_width_i};
            slot_q       <= around(slot_q, step, capacity_i);
        end

    assign place_o      = base_q + slot_q;
    assign inside_o     = row_q < {2'd0, height_i} & column_q < {2'd0, width_i};  // below 0 is far above
    assign first_tap_o  = tap_row_q == 8'd0 & tap_column_q == 8'd0;
    assign first_pass_o = pass_q == 16'd0;
    assign first_tile_o = first_tap_o & plane_q == 16'd0;
    assign last_tile_o  = last_tap & last_plane;

endmodule

`default_nettype wire
