// SPDX-License-Identifier: Apache-2.0
// The scratchpad of gemm64_activations as planes of pixels: each word of a chunk goes to its plane and slot, inside of the
// planes; pixels that are kept and those on their way never exceed CAPACITY; and no chunk takes the slot of a pixel that is
// still needed.
//
// break gemm64_activations.v: pixels_q + {1'b0, next_rows} <= {1'b0, next_capacity} -> 1'b1
// break gemm64_activations.v: slot == capacity - 16'd1 ? 16'd0 -> slot == capacity ? 16'd0
// prove induction 1, cover 12
// probe walk_in_q = dut.walk_in_q
// probe walk_out_q = dut.walk_out_q
// probe planes = dut.planes
// probe beat_first = dut.beat_first
// probe beat_end = dut.beat_end
// probe beat_window = dut.beat_window
// probe burst_begun_q = dut.burst_begun_q
// probe walk_begun_q = dut.walk_begun_q
// probe base_q = dut.base_q
// probe next_base_q = dut.next_base_q
// probe slot_q = dut.slot_q
// probe write_place = dut.write_place
// probe begins = dut.begins
// probe new_pixels = dut.new_pixels
// probe next_window = dut.next_window
// probe next_start = dut.next_start
// probe next_rows = dut.next_rows
// probe next_capacity = dut.next_capacity
// probe next_slot = dut.next_slot
// probe pixels_q = dut.pixels_q
module activations_window_proof (
    input wire [15:0] command_rows_i,
    input wire [31:0] command_count_i,
    input wire        command_start_i,
    input wire [15:0] command_capacity_i,
    input wire [15:0] command_slot_i,
    input wire [31:0] command_place_i
);

    localparam WORDS = 67;

    gemm64_activations #(.N(2), .LOG_N(1), .ADDRESS_WIDTH(24), .WORDS(WORDS), .WORDS_WIDTH(7), .LOG_BURSTS(1)) dut (
        .stop_i (1'b0),
        .command_i ({command_place_i, command_slot_i, command_capacity_i, 192'd0, 32'd70, 32'd0, 64'd0, 32'd1, 32'd1, command_count_i, command_rows_i, 3'd0, command_start_i, 1'b1, 11'd0}),
        .command_tag_i (16'd0), .beat_data_i (16'd0), .beat_error_i (1'b0), .ahead_o (), .read_i (1'b0),
        .release_i (1'b0), .rewind_i (1'b0), .window_i (1'b1), .place_i (25'd0), .inside_i (1'b0), .zero_i (8'd0),
        .word_o (), .*
    );

    (* keep *) wire [1:0]  walk_in_q, walk_out_q;
    (* keep *) wire [56:0] planes;
    (* keep *) wire        beat_first, beat_end, beat_window, burst_begun_q, walk_begun_q, begins, new_pixels;
    (* keep *) wire        next_start, next_window;
    (* keep *) wire [24:0] base_q, next_base_q, write_place;
    (* keep *) wire [15:0] slot_q, next_rows, next_capacity, next_slot;
    (* keep *) wire [16:0] pixels_q;
    wire [15:0] capacity = planes[56:41], first_slot = planes[40:25];
    wire [24:0] first_base = planes[24:0];

    // The words of the walk that comes: planes before this one, and the word's number in its plane
    reg        begun = 1'b0;
    reg [7:0]  plane, word;
    wire       new_run = beat_first & ~burst_begun_q;
    wire [7:0] plane_now = walk_begun_q ? plane + new_run : 0;
    wire [7:0] word_now  = new_run ? 0 : word;
    wire [24:0] place_now = first_base + plane_now * capacity[7:0]
                          + (first_slot + word_now >= capacity ? first_slot + word_now - capacity : first_slot + word_now);

    // The slot that is followed, and whether a pixel in it is needed: from the start of its chunk until it is freed
    (* anyconst *) reg [15:0] slot;
    reg [15:0]  layer, oldest;  // CAPACITY of the current convolution, slot of the oldest pixel
    wire [16:0] ahead = slot >= oldest ? slot - oldest : slot + layer - oldest;
    wire        needed = ahead < pixels_q;
    wire [16:0] from_next = slot >= next_slot ? slot - next_slot : slot + next_capacity - next_slot;
    wire [16:0] end_slot = oldest + pixels_q;
    wire [16:0] moved = oldest + freed_i;

    wire [1:0]  walks = walk_in_q - walk_out_q;
    reg [56:0]  table_q;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (beat_i) begin
            table_q <= planes;
            plane <= plane_now;
            word  <= word_now + 1;
        end
        if (begins & new_pixels & (next_start | pixels_q == 0)) begin
            layer  <= next_capacity;
            oldest <= next_slot;
        end else if (free_i) oldest <= moved >= layer ? moved - layer : moved;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        // What gemm64_im2col_check lets through
        if (begins) begin
            assume (next_window & next_capacity != 0 & next_capacity <= WORDS);
            assume (next_rows != 0 & next_rows <= next_capacity & next_slot < next_capacity);
        end
        // Words that come belong to a walk that began, lie in its planes and runs (bursts.sv), and begin with its first
        if (beat_i) begin
            assume (beat_window & walk_in_q != walk_out_q);
            assume (capacity != 0 & capacity <= WORDS & first_slot < capacity);
            assume (word_now < capacity[7:0]);
            assume (first_base < WORDS & first_base + (plane_now + 1) * capacity[7:0] <= WORDS);
            if (~walk_begun_q) assume (new_run);
        end
        // The program's: within a convolution CAPACITY stays, and pixel p has the slot p mod CAPACITY
        if (begins & new_pixels & ~next_start & pixels_q != 0)
            assume (next_capacity == layer & next_slot == (end_slot >= layer ? end_slot - layer : end_slot));
        if (free_i) assume (freed_i <= pixels_q & ~(begins & new_pixels & pixels_q == 0));
        // Room in the table of walks: one begins when none asks, and each of the others has a burst in flight.
        if (begins) assume (walks != 3);
        if (begun) begin
            if (walk_begun_q) begin
                assert (walks != 0 & planes == table_q);
                assert (capacity != 0 & capacity <= WORDS & first_slot < capacity & slot_q < capacity);
                assert (word >= 1 & word <= capacity[7:0]);
                assert (base_q == first_base + plane * capacity[7:0] & base_q + capacity <= WORDS);
                assert (next_base_q == base_q + capacity);
                assert (slot_q == (first_slot + word >= capacity ? first_slot + word - capacity : first_slot + word));
            end
            if (beat_i) begin
                assert (write_place == place_now);
                assert (write_place < WORDS);
            end
            if (pixels_q != 0) begin
                assert (layer != 0 & layer <= WORDS & oldest < layer);
                assert (pixels_q <= layer);
            end
            if (rst_ni & begins & new_pixels & slot < next_capacity & from_next < next_rows & pixels_q != 0)
                assert (~needed);
        end
        cover (begun & rst_ni & beat_i & walk_begun_q & new_run & ~beat_last_i);
        cover (begun & rst_ni & begins & new_pixels & pixels_q != 0 & next_slot < oldest);
    end

endmodule
