// SPDX-License-Identifier: Apache-2.0
// Stores finished blocks of sums: ROWS rows of N results, in as many beats a row as a result has bytes, one block after
// the other; and snapshots of the counters, each in its turn. Results of 8 bits pass gemm64_requantize, and with VECTOR also
// gemm64_elementwise.
// Latency: a block's first address is on the bus 2 cycles after block_done_i or, for results of 8 bits, after its set of
//          parameters is ready where that is later. Its first beat is there 3 cycles after, 12 for results of 8 bits, 23
//          with VECTOR. A snapshot's first address and beat are there 3 cycles after its command, where nothing is before it.
//          A STORE that brings settings of the element-wise unit, or follows one with VECTOR without it, begins when all before
//          it has been sent.
// Handshake: valid/ready for commands; AXI4 AW, W and B. Beats follow each other without a gap inside a block, and from
//            block to block where the next one's burst is announced in time and its results have the same width. A burst is
//            announced only when all its sums, parameters and operands are there, so the W channel always ends what AW began.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_store #(
    parameter N             = 64,   // columns, bytes of a beat
    parameter LOG_N         = 6,    // log2 N
    parameter ADDRESS_WIDTH = 40,   // bits of an address
    parameter ROW_WIDTH     = 7,    // bits of an accumulator row's index
    parameter LOG_BURSTS    = 4,    // log2 of the write bursts in flight
    parameter SELF_CHECK    = 0,    // 0: wrong_o, and tag_o, are 0
    parameter LOG_OPERANDS  = 8     // log2 of the words of operands that their buffer holds
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,           // synchronous, active low
    input  wire                     stop_i,           // announce no further burst
    input  wire                     tensor_i,         // the tensor memory serves the upper half of the address space
    // STORE, or a snapshot, which needs only an address
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    output wire                     store_done_o,     // every write of one more STORE is answered
    // Snapshot of the counters
    output wire                     snapshot_take_o,  // keep the counters of this cycle
    output wire                     snapshot_next_o,  // the beat was taken, show the next
    input  wire [8*N-1:0]           snapshot_i,
    // Sets of parameters, one for each block of 8-bit results
    input  wire                     set_ready_i,      // the next one is there
    output wire                     set_claim_o,
    output wire                     bias_read_o,
    output wire                     bias_next_o,
    input  wire [32*N-1:0]          bias_i,
    output wire                     scale_read_o,
    input  wire [32*N-1:0]          scale_i,
    // Operands of the element-wise unit, words of a block all at once
    input  wire [LOG_OPERANDS:0]    operand_words_i,  // there, and not claimed
    output wire                     operand_claim_o,
    output wire [LOG_OPERANDS:0]    operands_claimed_o,
    output wire                     operand_read_o,
    input  wire [8*N-1:0]           operand_i,
    // Accumulator
    input  wire                     block_done_i,     // one more block is complete
    output wire                     bank_free_o,      // the block's last row is no longer needed
    output wire [ROW_WIDTH:0]       rows_stored_o,    // rows of the current block that have been read
    output wire                     storing_o,        // row_read_o may come; depends only on registers
    output wire                     row_read_o,
    output wire                     row_bank_o,
    output wire [ROW_WIDTH-1:0]     row_o,
    output wire                     row_shown_o,      // what was read is used
    input  wire [32*N-1:0]          row_data_i,
    output wire                     tensor_o,         // what is sent goes to the tensor memory
    // AXI4 AW
    output wire                     awvalid_o,
    input  wire                     awready_i,
    output wire                     awid_o,
    output wire [ADDRESS_WIDTH-1:0] awaddr_o,
    output wire [7:0]               awlen_o,
    output wire [2:0]               awsize_o,
    output wire [1:0]               awburst_o,
    // AXI4 W
    output wire                     wvalid_o,
    input  wire                     wready_i,
    output wire [8*N-1:0]           wdata_o,
    output wire [N-1:0]             wstrb_o,
    output wire                     wlast_o,
    // AXI4 B
    input  wire                     bvalid_i,
    output wire                     bready_o,
    input  wire                     berror_i,         // bresp is SLVERR or DECERR
    // State
    output wire                     idle_o,           // nothing to store, every write answered
    output wire                     quiet_o,          // no bus transfer in flight
    output wire                     error_o,
    output wire [15:0]              error_tag_o,
    // What was not what was written: see gemm64_requantize and gemm64_elementwise
    output wire                     wrong_o,
    output wire [7:0]               wrong_memory_o,
    output wire [7:0]               wrong_entry_o,    // of the table
    output wire [15:0]              tag_o,            // the command whose data are sent, or were last
    output wire [6:0]                causes_o        // what this cycle was spent on, exactly one: bits in the order of the counters
);

    localparam [31:0] SNAPSHOT_BEATS = (8 * `GEMM64_COUNTERS + N - 1) / N;
    localparam FORMAT_WIDTH   = `GEMM64_CMD_FORMAT_WIDTH;
    localparam [(4 << FORMAT_WIDTH)-1:0] RESULT_BYTES = `GEMM64_RESULT_BYTES;
    localparam BOUNDS_WIDTH   = 3 * 8;  // zero point, least and largest result
    localparam TABLE_WORDS    = 256 / N;
    wire                     queue_ready, next_snapshot;
    wire                     next_valid, next_ready;
    wire [`GEMM64_CMD_BITS-1:0] next_command;
    wire [15:0]                  next_tag;

    // One snapshot is kept until its last beat has been sent; the next is taken then.
    reg snapshot_kept_q;
    wire   command_snapshot = command_i[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH] == `GEMM64_OP_FENCE;
    assign command_ready_o = queue_ready & ~(command_snapshot & snapshot_kept_q);
    assign snapshot_take_o = command_valid_i & command_ready_o & command_snapshot;

    gemm64_command_queue #(.WORDS(`GEMM64_CMD_WORDS_RESULTS), .OTHER(`GEMM64_OP_FENCE)) u_commands (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (command_valid_i & command_ready_o),
        .ready_o   (queue_ready),
        .command_i (command_i),
        .tag_i     (command_tag_i),
        .valid_o   (next_valid),
        .ready_i   (next_ready),
        .command_o (next_command),
        .tag_o     (next_tag),
        .other_o   (next_snapshot)
    );

    wire [ADDRESS_WIDTH-1:0]  next_address  = next_command[`GEMM64_CMD_ADDRESS_LOW_LSB +: ADDRESS_WIDTH];
    wire [15:0]               next_rows     = next_command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH];
    wire [31:0]               next_count    = next_command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0]               next_stride   = next_command[`GEMM64_CMD_STRIDE_LSB +: `GEMM64_CMD_STRIDE_WIDTH];
    wire [31:0]               next_blocks   = next_command[`GEMM64_CMD_BLOCKS_LSB +: `GEMM64_CMD_BLOCKS_WIDTH];
    wire [FORMAT_WIDTH-1:0]   next_format   = next_command[`GEMM64_CMD_FORMAT_LSB +: `GEMM64_CMD_FORMAT_WIDTH];
    wire [BOUNDS_WIDTH-1:0]   next_bounds   = {next_command[`GEMM64_CMD_ZERO_LSB +: 8], next_command[`GEMM64_CMD_LOW_LSB +: 8],
                                               next_command[`GEMM64_CMD_HIGH_LSB +: 8]};

    wire                      next_vector   = ~next_snapshot & next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_VECTOR_BIT];
    wire                      next_keep     = next_command[`GEMM64_CMD_KEEP_LSB];
    wire [7:0]                next_first_lane = next_command[`GEMM64_CMD_FIRST_LANE_LSB +: 8];
    wire [7:0]                next_lanes      = next_command[`GEMM64_CMD_LANES_LSB +: 8];
    wire [8:0]                next_lanes_end  = {1'b0, next_first_lane} + {1'b0, next_lanes};
    localparam [N-1:0]        ALL_LANES       = {N{1'b1}};

    // Addresses: a walk of one run a block, each held back until its block is done and its parameters are there. A
    // snapshot is there already.
    wire                     burst_valid, burst_first, burst_last, burst_end;
    reg                      burst_snapshot_q;  // the current walk is of a snapshot
    wire [ADDRESS_WIDTH-1:0] burst_address;
    wire [6:0]               burst_beats;
    wire [15:0]              burst_tag;
    wire                     request_ready, data_ready, response_ready, response_valid;
    reg  [1:0]               done_q;    // blocks done whose addresses have not been sent
    reg  [FORMAT_WIDTH-1:0]  format_q;  // these two of the current walk
    reg  [BOUNDS_WIDTH-1:0]  bounds_q;
    // The element-wise unit: of the last STORE, and the settings, which stay until the next STORE brings others
    reg                      vector_q, signed_q, add_q, multiply_q, table_q, broadcast_q, swap_q;
    reg                      operand_moved_q, result_moved_q;
    reg                      table_due_q;  // words of a table come before the operands of the next block
    reg  [26:0]              result_scale_q, operand_scale_q;
    reg  [31:0]              offset_q;
    reg  [31:0]              function_bounds_q;  // zero points, least and largest
    reg  [N-1:0]             strobe_q;  // the lanes that are written
    reg  [15:0]              rows_q;
    reg                      load_q;  // the settings are new

    wire [3:0] burst_bytes = RESULT_BYTES[{format_q, 2'b00} +: 4];
    wire       set_needed  = burst_bytes == 4'd1;
    wire       block_here  = burst_first & ~burst_snapshot_q & done_q != 2'd0;
    wire set_here    = set_ready_i | ~set_needed;
    // Operands of a block: a table before the first, one for each row, or one in all
    localparam [31:0] TABLE_OPERANDS = TABLE_WORDS;
    reg [16:0] operands;
    reg        operands_here;
    always @* begin
        operands      = 17'd0;
        operands_here = 1'b1;
        if (vector_q) begin
            operands = (table_due_q ? TABLE_OPERANDS[16:0] : 17'd0)
                     + (~(add_q | multiply_q) ? 17'd0 : broadcast_q ? 17'd1 : {1'b0, rows_q});
            operands_here = {{31-LOG_OPERANDS{1'b0}}, operand_words_i} >= {15'd0, operands};
        end
    end
    wire here  = ~burst_first | burst_snapshot_q | (block_here & set_here & operands_here);
    wire go    = here & data_ready & response_ready & ~stop_i;
    wire taken = burst_valid & go & request_ready;
    wire block_taken = taken & burst_first & ~burst_snapshot_q;

    assign set_claim_o        = block_taken & set_needed;
    assign operand_claim_o    = vector_q & block_taken;
    assign operands_claimed_o = operands[LOG_OPERANDS:0];

    wire [3:0] next_bytes = RESULT_BYTES[{next_format, 2'b00} +: 4];  // words of a row
    wire [31:0] next_run  = {16'd0, next_rows} * {28'd0, next_bytes};
    wire        start_ready, drained;
    // The two memories answer in an order of their own, so bursts to one only are outstanding.
    reg         tensor_q;
    wire        next_tensor = tensor_i & ~next_snapshot & next_address[ADDRESS_WIDTH-1];
    wire        in_order    = next_tensor == tensor_q | (drained & ~response_valid);
    // Only rows of one kind are in flight.
    reg         may_begin, anew;  // anew: with settings of its own
    always @* begin
        {may_begin, anew} = 2'b10;
        if (vector_q | next_vector) begin
            may_begin = next_snapshot | (next_vector & next_keep & vector_q) | drained;
            anew      = next_vector & ~next_keep;
        end
        if (~in_order) may_begin = 1'b0;
    end
    wire        begins      = next_valid & next_ready & ~next_snapshot;
    wire        begins_anew = begins & anew;
    assign next_ready = start_ready & may_begin;
    always @(posedge clk_i) begin
        if (next_valid & next_ready) begin
            burst_snapshot_q <= next_snapshot;
            format_q         <= next_format;
            bounds_q         <= next_bounds;
        end
        if (begins) rows_q <= next_rows;
        if (begins_anew) begin
            signed_q          <= next_format == `GEMM64_RESULT_INT8;
            result_scale_q    <= next_command[`GEMM64_CMD_RESULT_SCALE_LSB +: 27];
            operand_scale_q   <= next_command[`GEMM64_CMD_OPERAND_SCALE_LSB +: 27];
            offset_q          <= next_command[`GEMM64_CMD_OFFSET_LSB +: 32];
            function_bounds_q <= next_command[`GEMM64_CMD_RESULT_ZERO_LSB +: 32];
            // By shifts: Verilator unrolls a loop over the lanes.
            strobe_q          <= (ALL_LANES << next_first_lane) & ~(next_lanes == 8'd0 ? {N{1'b0}} : ALL_LANES << next_lanes_end);
            add_q             <= next_command[`GEMM64_CMD_ADD_LSB];
            multiply_q        <= next_command[`GEMM64_CMD_MULTIPLY_LSB];
            table_q           <= next_command[`GEMM64_CMD_TABLE_LSB];
            broadcast_q       <= next_command[`GEMM64_CMD_BROADCAST_LSB];
            swap_q            <= next_command[`GEMM64_CMD_SWAP_LSB];
            operand_moved_q   <= next_command[`GEMM64_CMD_OPERAND_MOVED_LSB];
            result_moved_q    <= next_command[`GEMM64_CMD_RESULT_MOVED_LSB];
        end
        load_q <= begins_anew;
        if (rst_ni) begin
            if (next_valid & next_ready) tensor_q <= next_tensor;
            if (begins) vector_q <= next_vector;
            if (begins_anew) table_due_q <= next_command[`GEMM64_CMD_TABLE_LSB];
            else if (operand_claim_o) table_due_q <= 1'b0;
        end else begin
            tensor_q    <= 1'b0;
            vector_q    <= 1'b0;
            table_due_q <= 1'b0;
        end
    end

    gemm64_bursts #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_bursts (
        .clk_i         (clk_i),
        .rst_ni        (rst_ni),
        .start_valid_i (next_valid & may_begin),
        .start_ready_o (start_ready),
        .address_i     (next_address),
        .run_i         ({16'd0, next_snapshot ? SNAPSHOT_BEATS : next_run}),
        .count_i       (next_snapshot ? 32'd1 : next_count),
        .stride_i      ({4'd0, next_stride} * {32'd0, next_bytes}),
        .passes_i      (32'd1),
        .step_i        (next_run[19:0]),
        .blocks_i      (next_snapshot ? 32'd1 : next_blocks),
        .tag_i         (next_tag),
        .valid_o       (burst_valid),
        .ready_i       (go & request_ready),
        .address_o     (burst_address),
        .beats_o       (burst_beats),
        .first_o       (burst_first),
        .last_o        (burst_last),
        .end_o         (burst_end),
        .tag_o         (burst_tag)
    );

    gemm64_request #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_request (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (burst_valid & go),
        .ready_o   (request_ready),
        .id_i      (1'b0),
        .address_i (burst_address),
        .beats_i   (burst_beats),
        .axvalid_o (awvalid_o),
        .axready_i (awready_i),
        .axid_o    (awid_o),
        .axaddr_o  (awaddr_o),
        .axlen_o   (awlen_o),
        .axsize_o  (awsize_o),
        .axburst_o (awburst_o)
    );

    // Bursts whose data are to be sent, and bursts whose answers are to come.
    wire       data_valid, data_snapshot, data_last;
    wire [6:0] data_beats;
    wire [FORMAT_WIDTH-1:0] data_format;
    wire [7:0] data_zero, data_low, data_high;
    wire       response_end;  // the last of a STORE
    wire       end_of_burst;

    gemm64_fifo #(.WIDTH(FORMAT_WIDTH + BOUNDS_WIDTH + 9), .LOG_DEPTH(LOG_BURSTS), .HEAD(1)) u_data (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (taken),
        .ready_o (data_ready),
        .data_i  ({format_q, bounds_q, burst_snapshot_q, burst_last, burst_beats}),
        .valid_o (data_valid),
        .ready_i (end_of_burst),
        .data_o  ({data_format, data_zero, data_low, data_high, data_snapshot, data_last, data_beats})
    );

    generate
        if (SELF_CHECK != 0) begin : self_check
            wire        sent_valid;
            wire [15:0] sent;
            reg  [15:0] sent_q;
            gemm64_fifo #(.WIDTH(16), .LOG_DEPTH(LOG_BURSTS), .HEAD(1)) u_tags (
                .clk_i   (clk_i),
                .rst_ni  (rst_ni),
                .valid_i (taken),
                .ready_o (),
                .data_i  (burst_tag),
                .valid_o (sent_valid),
                .ready_i (end_of_burst),
                .data_o  (sent)
            );
            always @(posedge clk_i) if (sent_valid) sent_q <= sent;
            assign tag_o = sent_q;
        end else begin : unchecked
            assign tag_o = 16'd0;
        end
    endgenerate

    gemm64_fifo #(.WIDTH(17), .LOG_DEPTH(LOG_BURSTS)) u_responses (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (taken),
        .ready_o (response_ready),
        .data_i  ({burst_end & ~burst_snapshot_q, burst_tag}),
        .valid_o (response_valid),
        .ready_i (bvalid_i),
        .data_o  ({response_end, error_tag_o})
    );

    assign store_done_o = bvalid_i & response_end;

    // Data: a row is read while the last beat of the row before it is sent or that row passes on to be requantized, in the
    // block before if it is the first. The snapshots between two blocks do not touch the row that was read.
    reg                 row_valid_q;  // the accumulator's output holds row_q
    reg [ROW_WIDTH-1:0] row_q;
    reg [ROW_WIDTH:0]   stored_q;     // rows of the block that have been read: row_q + 1, or none
    reg [1:0]           quarter_q;    // beat within the row
    reg [6:0]           beat_q;       // beat, or row of 8-bit results, within the burst
    reg                 bank_q;
    reg [LOG_BURSTS:0]  bursts_q;     // of blocks, in the queue of data

    wire [3:0] data_bytes = RESULT_BYTES[{data_format, 2'b00} +: 4];  // beats of a row
    wire narrow       = ~data_snapshot & data_bytes == 4'd1;          // 8-bit results
    wire more         = bursts_q > {{LOG_BURSTS{1'b0}}, 1'b1};  // another burst follows this one

    // What is not requantized is sent only when all that is has been.
    wire           narrow_ready, narrow_valid, narrow_last, narrow_busy;
    wire           vector_ready, vector_valid, vector_last, vector_busy;
    wire [8*N-1:0] narrow_data, narrow_operand, vector_data;
    wire           wrong_requantize, wrong_vector, wrong_table;
    reg  [8:0]     table_left_q;   // words of the table that have not been read; no row passes on before
    reg            table_word_q;   // the operand that is shown is one of them
    reg  [7-LOG_N:0] table_index_q;
    wire reads_table  = table_left_q != 9'd0;
    wire row_given    = data_valid & narrow & row_valid_q & ~reads_table;
    wire row_in       = row_given & narrow_ready;
    wire wide_valid   = data_valid & ~narrow & ~narrow_busy & ~vector_busy & (row_valid_q | data_snapshot);
    wire step         = row_in | (wide_valid & wready_i);  // of the burst
    wire last_step    = beat_q == data_beats - 7'd1;
    wire row_step     = step & ~data_snapshot;
    wire end_of_row   = row_step & {2'b00, quarter_q} == data_bytes - 4'd1;
    wire end_of_block = end_of_burst & ~data_snapshot & data_last;
    wire first_row    = ~row_valid_q & storing_o;
    wire is_signed    = data_format == `GEMM64_RESULT_INT8;

    assign end_of_burst = step & last_step;

    gemm64_requantize #(.N(N), .SELF_CHECK(SELF_CHECK)) u_requantize (
        .clk_i        (clk_i),
        .rst_ni       (rst_ni),
        .valid_i      (row_given),
        .ready_o      (narrow_ready),
        .first_i      (row_q == {ROW_WIDTH{1'b0}}),
        .last_i       (last_step),
        .zero_i       ({is_signed & data_zero[7], data_zero}),
        .low_i        ({is_signed & data_low[7], data_low}),
        .high_i       ({is_signed & data_high[7], data_high}),
        .sum_i        (row_data_i),
        .bias_i       (bias_i),
        .scale_read_o (scale_read_o),
        .scale_i      (scale_i),
        .beside_i     (vector_q & (add_q | multiply_q)),
        .operand_i    (operand_i),
        .operand_o    (narrow_operand),
        .freeze_i     (vector_q & ~vector_ready),
        .valid_o      (narrow_valid),
        .ready_i      (vector_q ? vector_ready : wready_i),
        .last_o       (narrow_last),
        .result_o     (narrow_data),
        .busy_o       (narrow_busy),
        .wrong_o      (wrong_requantize)
    );

    gemm64_elementwise #(.N(N), .LOG_N(LOG_N), .SELF_CHECK(SELF_CHECK)) u_vector (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .load_i          (load_q),
        .signed_i        (signed_q),
        .add_i           (add_q),
        .multiply_i      (multiply_q),
        .table_i         (table_q),
        .swap_i          (swap_q),
        .operand_moved_i (operand_moved_q),
        .result_moved_i  (result_moved_q),
        .result_scale_i  (result_scale_q),
        .operand_scale_i (operand_scale_q),
        .offset_i        (offset_q),
        .result_zero_i   (function_bounds_q[7:0]),
        .operand_zero_i  (function_bounds_q[15:8]),
        .low_i           (function_bounds_q[23:16]),
        .high_i          (function_bounds_q[31:24]),
        .table_write_i   (table_word_q),
        .table_index_i   (table_index_q),
        .table_word_i    (operand_i),
        .valid_i         (narrow_valid & vector_q),
        .ready_o         (vector_ready),
        .last_i          (narrow_last),
        .result_i        (narrow_data),
        .operand_i       (narrow_operand),
        .valid_o         (vector_valid),
        .ready_i         (wready_i),
        .last_o          (vector_last),
        .result_o        (vector_data),
        .busy_o          (vector_busy),
        .wrong_o         (wrong_table),
        .wrong_entry_o   (wrong_entry_o),
        .wrong_row_o     (wrong_vector)
    );

    assign wrong_o        = wrong_requantize | wrong_vector | wrong_table;
    assign wrong_memory_o = wrong_requantize ? `GEMM64_MEMORY_REQUANTIZER : wrong_vector ? `GEMM64_MEMORY_VECTOR
                          : `GEMM64_MEMORY_TABLE;

    assign drained = ~burst_valid & ~data_valid & ~narrow_busy & ~vector_busy;

    // The table's words are read first, then a word with each row, or with the first of a tile.
    reg operand_read;
    always @* begin
        operand_read = 1'b0;
        if (vector_q) operand_read = reads_table | (row_in & (add_q | multiply_q) & (~broadcast_q | row_q == {ROW_WIDTH{1'b0}}));
    end
    assign operand_read_o = operand_read;

    assign snapshot_next_o = step & data_snapshot;

    // The biases of a block of 8-bit results are read with its first row. Those of another block do no harm.
    assign bias_read_o = row_read_o & (first_row | end_of_block);
    assign bias_next_o = end_of_block & narrow;

    wire   plain_valid = narrow_valid & ~vector_q;
    assign wvalid_o   = vector_valid | plain_valid | wide_valid;
    assign wlast_o    = vector_valid ? vector_last : plain_valid ? narrow_last : last_step;
    // Zero where nothing is sent, so that a simulator chooses no row then
    reg [8*N-1:0] wdata;
    always @* begin
        wdata = {8*N{1'b0}};
        if (vector_valid) wdata = vector_data;
        else if (plain_valid) wdata = narrow_data;
        else if (wide_valid) wdata = data_snapshot ? snapshot_i : row_data_i[8*N*quarter_q +: 8*N];
    end
    assign wdata_o    = wdata;
    assign wstrb_o    = vector_valid ? strobe_q : ALL_LANES;
    assign bready_o   = 1'b1;
    assign tensor_o   = tensor_q;
    assign storing_o  = bursts_q != {LOG_BURSTS + 1{1'b0}};
    assign row_read_o = first_row | (end_of_row & (~end_of_block | more));
    assign row_o      = first_row | end_of_block ? {ROW_WIDTH{1'b0}} : row_q + 1'b1;
    assign row_bank_o = bank_q ^ end_of_block;
    assign bank_free_o   = end_of_block;
    assign rows_stored_o = stored_q;
    assign row_shown_o   = row_valid_q;

    wire [1:0] done_in  = {1'b0, block_done_i};
    wire [1:0] done_out = {1'b0, block_taken};

    always @(posedge clk_i) begin
        if (rst_ni) begin
            if (block_taken & table_due_q) table_left_q <= TABLE_OPERANDS[8:0];
            else if (reads_table) table_left_q <= table_left_q - 9'd1;
            table_word_q <= reads_table;
            if (table_word_q) table_index_q <= table_index_q + 1'b1;  // a table's words bring it back to 0
            done_q          <= done_q + done_in - done_out;
            bursts_q        <= bursts_q + {{LOG_BURSTS{1'b0}}, taken & ~burst_snapshot_q}
                                      - {{LOG_BURSTS{1'b0}}, end_of_burst & ~data_snapshot};
            snapshot_kept_q <= snapshot_take_o | (snapshot_kept_q & ~(end_of_burst & data_snapshot & data_last));
            if (row_read_o) row_q <= row_o;
            if (row_read_o) stored_q <= {1'b0, row_o} + 1'b1;
            else if (end_of_block) stored_q <= {ROW_WIDTH + 1{1'b0}};
            if (first_row) row_valid_q <= 1'b1;
            else if (end_of_block) row_valid_q <= more;
            if (row_step) quarter_q <= end_of_row ? 2'd0 : quarter_q + 2'd1;
            if (step) beat_q <= last_step ? 7'd0 : beat_q + 7'd1;
            if (end_of_block) bank_q <= ~bank_q;
        end else begin
            done_q          <= 2'd0;
            row_valid_q     <= 1'b0;
            row_q           <= {ROW_WIDTH{1'b0}};
            stored_q        <= {ROW_WIDTH + 1{1'b0}};
            quarter_q       <= 2'd0;
            beat_q          <= 7'd0;
            bank_q          <= 1'b0;
            bursts_q        <= {LOG_BURSTS + 1{1'b0}};
            snapshot_kept_q <= 1'b0;
            table_left_q    <= 9'd0;
            table_word_q    <= 1'b0;
            table_index_q   <= {8-LOG_N{1'b0}};
        end
    end

    wire beat    = wvalid_o & wready_i;
    wire sending = data_valid | narrow_busy | vector_busy;
    wire active  = next_valid | burst_valid | sending;
    wire held    = burst_valid & here & ~(request_ready & data_ready & response_ready);
    wire memory  = wvalid_o | (held & ~sending);
    wire set     = burst_valid & block_here & ~set_here & ~sending;
    wire operand = burst_valid & block_here & set_here & ~operands_here & ~sending;
    assign idle_o            = ~active & ~response_valid;
    assign quiet_o           = ~awvalid_o & ~data_valid & ~response_valid;
    assign error_o           = bvalid_i & berror_i;
    wire transfer, wait_memory, wait_compute, wait_parameters, wait_operands, wait_response, idle_clock;
    assign transfer        = beat;
    assign wait_memory     = ~beat & active & memory;
    assign wait_parameters = ~beat & active & ~memory & set;
    assign wait_operands   = ~beat & active & ~memory & operand;
    assign wait_compute    = ~beat & active & ~memory & ~set & ~operand;
    assign wait_response   = ~active & response_valid;
    assign idle_clock      = ~active & ~response_valid;
    assign causes_o = {idle_clock, wait_response, wait_operands, wait_parameters, wait_compute, wait_memory, transfer};

`ifdef GEMM64_CHECKS
    // AXI: a beat stays as it is until it is accepted.
    reg           held_q;
    reg [8*N-1:0] data_q;
    reg           last_q;
    always @(posedge clk_i) begin
        held_q <= rst_ni & wvalid_o & ~wready_i;
        data_q <= wdata_o;
        last_q <= wlast_o;
        if (rst_ni & held_q & (~wvalid_o | wdata_o != data_q | wlast_o != last_q)) begin
            $display("gemm64_store: a beat changed before it was accepted");
            $stop;
        end
    end
`endif

endmodule

`default_nettype wire
