// SPDX-License-Identifier: Apache-2.0
// Fetches commands from the ring in memory, checks them and hands each to its engine, in order.
// Latency: 1 cycle from a moved tail to AR; 1 cycle from a command's last beat to its dispatch. A walk that passes the end
//          of the address space, and a window that cannot be, are found 2 cycles after their dispatch, every other fault
//          instead of it. A FENCE is dispatched 1 cycle after the last answer that it waits for.
// Handshake: valid/ready for requests and engines. Commands are requested only where the queue has room.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_command_processor #(
    parameter N                = 64,   // bytes of a beat
    parameter LOG_N            = 6,    // log2 N
    parameter ADDRESS_WIDTH    = 40,   // bits of an address
    parameter ACCUMULATOR_ROWS = 128,  // most rows of a block
    parameter SCRATCHPAD_WORDS = 9216, // words that all planes of a window have room in
    parameter TENSOR_WORDS     = 0,    // of them, the last ones, which can serve as tensor memory
    parameter SELF_CHECK       = 0,    // 0: CHECK is not looked at
    parameter LOG_COMMANDS     = 4     // log2 of the commands fetched ahead
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,            // synchronous, active low
    input  wire                     stop_i,            // fetch and dispatch nothing
    input  wire                     tensor_i,          // the tensor memory serves the upper half of the address space
    // Ring
    input  wire [ADDRESS_WIDTH-1:0] ring_base_i,
    input  wire [15:0]              ring_mask_i,
    input  wire [15:0]              ring_tail_i,
    output wire [15:0]              ring_head_o,
    // Request, to the data port: one burst a command
    output wire                     request_valid_o,
    input  wire                     request_ready_i,
    output wire [ADDRESS_WIDTH-1:0] request_address_o,
    output wire [6:0]               request_beats_o,
    // Beats from the data port
    input  wire                     beat_i,
    input  wire [8*N-1:0]           beat_data_i,
    input  wire                     beat_error_i,
    input  wire                     beat_last_i,
    // To the engines: the command, and a valid bit for each engine that has commands, at the engine's number. RESULTS also
    // gets each FENCE that passes and wants a snapshot of the counters.
    output wire [`GEMM64_ENGINES-1:0]  valid_o,
    input  wire [`GEMM64_ENGINES-1:0]  ready_i,
    output wire [`GEMM64_CMD_BITS-1:0] command_o,
    output wire [15:0]              tag_o,             // number of the command since reset
    // FENCE and FINISH
    input  wire                     store_done_i,      // every write of the oldest STORE is answered
    input  wire                     engines_idle_i,
    input  wire                     left_i,            // pixels are left, and no engine is at work that takes them
    output wire                     finish_o,          // a FINISH command is done
    // State
    output wire                     idle_o,            // the ring is empty
    output wire                     quiet_o,           // no burst in flight
    output wire                     error_o,           // a command is bad
    output wire [3:0]               error_code_o,
    output wire [15:0]              error_tag_o,
    output wire                     bus_error_o,       // a beat of a command answered with an error
    output wire [15:0]              bus_error_tag_o,
    output wire                     dispatch_o,        // what this cycle was spent on: exactly one of four
    output wire                     wait_memory_o,
    output wire                     wait_engine_o
);

    localparam DEPTH         = 1 << LOG_COMMANDS;
    localparam COMMAND_BITS  = 8 * `GEMM64_CMD_BYTES;
    localparam COMMAND_BEATS = N > `GEMM64_CMD_BYTES ? 1 : `GEMM64_CMD_BYTES / N;
    localparam LOG_BYTES     = 6;    // log2 of the bytes of a command
    localparam [ADDRESS_WIDTH-1:0] COMMAND_OFFSETS = (1 << LOG_BYTES) - 1;  // bits inside a command
    localparam [ADDRESS_WIDTH-1:0] BEAT_OFFSETS    = N > `GEMM64_CMD_BYTES ? (1 << LOG_N) - 1 : 0;  // bits inside a wider beat
    localparam [31:0] SNAPSHOT_BEATS = (8 * `GEMM64_COUNTERS + N - 1) / N;
    localparam USED_BITS     = `GEMM64_CMD_USED_BITS;
    localparam [(4 << `GEMM64_CMD_FORMAT_WIDTH)-1:0] RESULT_BYTES = `GEMM64_RESULT_BYTES;

    // Fetch: one request per cycle while there is room for the answer.
    reg  [15:0]            fetch_q;
    reg  [LOG_COMMANDS:0]  room_q;
    wire                   ask    = request_valid_o & request_ready_i;
    wire                   more   = fetch_q != ring_tail_i;
    wire [ADDRESS_WIDTH:0] offset = {{ADDRESS_WIDTH-15-LOG_BYTES{1'b0}}, fetch_q, {LOG_BYTES{1'b0}}};
    wire [ADDRESS_WIDTH:0] place  = {1'b0, ring_base_i & ~COMMAND_OFFSETS} + offset;
    wire                   beyond = place[ADDRESS_WIDTH];  // the ring passes the end of the address space

    assign request_valid_o   = more & ~beyond & room_q != {LOG_COMMANDS + 1{1'b0}} & ~stop_i;
    assign request_address_o = place[ADDRESS_WIDTH-1:0] & ~BEAT_OFFSETS;
    assign request_beats_o   = COMMAND_BEATS[6:0];

    // Assembly: the beats of a command shift in from the top.
    wire [COMMAND_BITS-1:0] assembled;
    generate
        if (N > `GEMM64_CMD_BYTES) begin : one_of_several
            // Commands come in order, so that the ring's index shows which of a beat's commands was asked for.
            localparam LOG_HELD = LOG_N - LOG_BYTES;
            reg  [15:0]         arriving_q;
            wire [LOG_HELD-1:0] held = ring_base_i[LOG_BYTES +: LOG_HELD] + arriving_q[LOG_HELD-1:0];
            assign assembled = beat_data_i[COMMAND_BITS*held +: COMMAND_BITS];
            always @(posedge clk_i)
                if (!rst_ni) arriving_q <= 16'd0;
                else if (beat_i) arriving_q <= (arriving_q + 16'd1) & ring_mask_i;
        end else if (COMMAND_BEATS == 1) begin : whole
            assign assembled = beat_data_i;
        end else begin : parts
            reg [COMMAND_BITS-8*N-1:0] assembled_q;
            assign assembled = {beat_data_i, assembled_q};
            always @(posedge clk_i) if (beat_i) assembled_q <= assembled[COMMAND_BITS-1:8*N];
        end
    endgenerate

    wire                 valid, pop;
    wire [USED_BITS-1:0] command;
    gemm64_fifo #(.WIDTH(USED_BITS), .LOG_DEPTH(LOG_COMMANDS), .HEAD(1)) u_queue (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (beat_i & beat_last_i),
        .ready_o (),  // room_q keeps a place for each command that was requested
        .data_i  (assembled[USED_BITS-1:0]),
        .valid_o (valid),
        .ready_i (pop),
        .data_o  (command)
    );

    // Decoding
    wire [7:0]  opcode  = command[`GEMM64_CMD_OPCODE_LSB +: `GEMM64_CMD_OPCODE_WIDTH];
    wire [63:0] address = {command[`GEMM64_CMD_ADDRESS_HIGH_LSB +: 32], command[`GEMM64_CMD_ADDRESS_LOW_LSB +: 32]};
    wire [7:0]  flags   = command[`GEMM64_CMD_FLAGS_LSB +: `GEMM64_CMD_FLAGS_WIDTH];
    wire [15:0] rows    = command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH];
    wire [31:0] count   = command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0] passes  = command[`GEMM64_CMD_PASSES_LSB +: `GEMM64_CMD_PASSES_WIDTH];
    wire [31:0] blocks  = command[`GEMM64_CMD_BLOCKS_LSB +: `GEMM64_CMD_BLOCKS_WIDTH];
    wire [`GEMM64_CMD_FORMAT_WIDTH-1:0] format  = command[`GEMM64_CMD_FORMAT_LSB +: `GEMM64_CMD_FORMAT_WIDTH];
    wire [7:0]  low     = command[`GEMM64_CMD_LOW_LSB +: `GEMM64_CMD_LOW_WIDTH];
    wire [7:0]  high    = command[`GEMM64_CMD_HIGH_LSB +: `GEMM64_CMD_HIGH_WIDTH];
    wire [31:0] stride  = command[`GEMM64_CMD_STRIDE_LSB +: `GEMM64_CMD_STRIDE_WIDTH];
    wire [255:0] window = command[511:256];
    assign command_o = command;

    // Its bit in a set of opcodes
    wire [31:0] op      = opcode[7:5] == 3'd0 ? 32'd1 << opcode[4:0] : 32'd0;
    wire is_activations = opcode == `GEMM64_OP_LOAD_ACTIVATIONS;
    wire is_compute     = opcode == `GEMM64_OP_MATMUL;
    wire is_store       = (op & `GEMM64_OPS_STORE) != 32'd0;
    wire is_finish      = opcode == `GEMM64_OP_FINISH;
    wire is_fence       = opcode == `GEMM64_OP_FENCE;
    wire is_snapshot    = is_fence & flags[`GEMM64_FLAG_SNAPSHOT_BIT];
    wire is_set         = opcode == `GEMM64_OP_SET_WINDOW;
    wire is_operands    = opcode == `GEMM64_OP_LOAD_OPERANDS;
    wire is_depthwise   = opcode == `GEMM64_OP_DEPTHWISE;
    wire is_vector      = is_store & flags[`GEMM64_FLAG_VECTOR_BIT];
    wire flag_window    = flags[`GEMM64_FLAG_WINDOW_BIT];
    wire of_window      = is_set | ((is_activations | is_compute) & flag_window);

    // Checks
    wire known       = (op & `GEMM64_OPS) != 32'd0;
    wire [31:0] accumulator_rows = ACCUMULATOR_ROWS;
    wire bad_operand = `GEMM64_BROKEN_AT_ONCE;
    wire has_address = (op & `GEMM64_OPS_ADDRESS) != 32'd0
                     | ((op & `GEMM64_OPS_ADDRESS_SNAPSHOT) != 32'd0 & flags[`GEMM64_FLAG_SNAPSHOT_BIT]);
    wire [3:0] result_bytes = RESULT_BYTES[{format, 2'b00} +: 4];  // of a value, 0 where there is no such format
    // The tensor memory holds activations, operands and results. No burst begins after its end.
    localparam [31:0] TENSOR_END = TENSOR_WORDS;
    wire [63:0] tensor_word   = {{65-ADDRESS_WIDTH{1'b0}}, address[ADDRESS_WIDTH-2:0]} >> LOG_N;
    wire        in_tensor     = tensor_i & address[ADDRESS_WIDTH-1];
    wire        beyond_tensor = tensor_word[63:32] != 32'd0 | {1'b0, tensor_word[31:0]} >= {1'b0, TENSOR_END};
    wire bad_address = has_address & (address[LOG_N-1:0] != {LOG_N{1'b0}}
                                      | address[63:ADDRESS_WIDTH] != {64-ADDRESS_WIDTH{1'b0}}
                                      | (in_tensor & (~(is_activations | is_operands | is_store) | beyond_tensor)));

    // A command's words together, four bits at a time, are 0.
    wire [3:0] flipped;
    generate
        if (SELF_CHECK != 0) begin : self_check
            reg [USED_BITS-1:0] rest;
            integer             half;
            always @* begin
                rest = command;
                for (half = USED_BITS / 2; half >= 4; half = half / 2) rest = rest ^ (rest >> half);
            end
            assign flipped = rest[3:0];
        end else begin : unchecked
            assign flipped = 4'd0;
        end
    endgenerate

    wire [3:0] code = flipped != 4'd0 ? `GEMM64_ERROR_PARITY
                    : ~known ? `GEMM64_ERROR_BAD_OPCODE
                    : bad_operand ? `GEMM64_ERROR_BAD_OPERAND
                    : bad_address ? `GEMM64_ERROR_BAD_ADDRESS : `GEMM64_ERROR_NONE;
    wire good = code == `GEMM64_ERROR_NONE;
    // A walk, a window or an element-wise unit's settings are looked at in the cycle after their dispatch; until then nothing
    // after them is found bad.
    reg  looks_q;
    always @(posedge clk_i) looks_q <= pop & (has_address | of_window | is_depthwise);
    wire bad  = valid & ~good & ~stop_i & ~looks_q;

    // Dispatch
    reg  [15:0] stores_q;  // STOREs not yet complete
    wire send   = valid & good & ~stop_i;
    wire fence_passes = {16'd0, stores_q} <= count;
    wire waits  = is_fence & ~(is_snapshot & fence_passes);
    localparam [32*`GEMM64_ENGINES-1:0] OPS_OF_ENGINES = `GEMM64_OPS_OF_ENGINES;
    genvar e;
    generate
        for (e = 0; e < `GEMM64_ENGINES; e = e + 1) begin : engine
            assign valid_o[e] = send & ~waits & (op & OPS_OF_ENGINES[32*e +: 32]) != 32'd0;
        end
    endgenerate
    assign finish_o            = send & is_finish & engines_idle_i;
    wire   unbalanced          = send & is_finish & left_i;
    assign pop = (valid_o & ready_i) != {`GEMM64_ENGINES{1'b0}} | finish_o | (send & is_fence & ~is_snapshot & fence_passes);

    reg [15:0] head_q, dispatched_q, received_q;
    reg [LOG_COMMANDS:0] pending_q;  // commands on their way
    wire received = beat_i & beat_last_i;

    // Faults, the oldest command's first: a walk or window dispatched two cycles ago, the command that is next, and the
    // first that cannot be fetched.
    wire        passes_end, bad_window, bad_lanes, bad_vector;
    wire [15:0] passes_end_tag, bad_window_tag, bad_lanes_tag, bad_vector_tag;
    wire        unreachable = more & beyond & ~valid & quiet_o & ~stop_i & ~looks_q;

    // A walk of rows goes from tile to tile and from block to block, in words; every other one is a single run. A value of
    // results takes its bytes in words a row.
    wire        of_rows    = (op & `GEMM64_OPS_RUNS) != 32'd0;
    wire [3:0]  row_words  = is_store ? result_bytes : 4'd1;
    wire [31:0] run        = is_snapshot ? SNAPSHOT_BEATS : of_rows ? {16'd0, rows} * {28'd0, row_words} : count;

    gemm64_extent #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .TENSOR_WORDS(TENSOR_WORDS)) u_extent (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .look_i      (valid),
        .valid_i     (pop & has_address),
        .address_i   (address[ADDRESS_WIDTH-1:0]),
        .run_i       (run),
        .count_i     (of_rows ? count : 32'd1),
        .stride_i    ({4'd0, stride} * {32'd0, row_words}),
        .blocks_i    (of_rows ? blocks : 32'd1),
        .tensor_i    (tensor_i),
        .tag_i       (dispatched_q),
        .error_o     (passes_end),
        .error_tag_o (passes_end_tag)
    );

    gemm64_im2col_check #(.ACCUMULATOR_ROWS(ACCUMULATOR_ROWS), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS), .TENSOR_WORDS(TENSOR_WORDS)) u_window_check (
        .clk_i        (clk_i),
        .rst_ni       (rst_ni),
        .tensor_i     (tensor_i),
        .valid_i      (pop & of_window),
        .is_set_i     (is_set),
        .is_load_i    (is_activations),
        .accumulate_i (flags[`GEMM64_FLAG_ACCUMULATE_BIT]),
        .start_i      (flags[`GEMM64_FLAG_START_BIT]),
        .rows_i       (rows),
        .count_i      (count),
        .passes_i     (passes),
        .blocks_i     (blocks),
        .window_i     (window),
        .tag_i        (dispatched_q),
        .error_o      (bad_window),
        .error_tag_o  (bad_window_tag)
    );

    gemm64_depthwise_check u_lanes_check (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .valid_i     (pop & is_depthwise),
        .window_i    (window),
        .tag_i       (dispatched_q),
        .error_o     (bad_lanes),
        .error_tag_o (bad_lanes_tag)
    );

    gemm64_elementwise_check #(.N(N)) u_vector_check (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .valid_i     (pop & is_vector),
        .command_i   (command),
        .tag_i       (dispatched_q),
        .whole_i     (in_tensor),
        .error_o     (bad_vector),
        .error_tag_o (bad_vector_tag)
    );

    assign error_o      = bad_window | bad_lanes | bad_vector | passes_end | bad | unbalanced | unreachable;
    assign error_code_o = bad_window | bad_lanes | bad_vector ? `GEMM64_ERROR_BAD_OPERAND
                        : passes_end | unreachable ? `GEMM64_ERROR_BAD_ADDRESS
                        : unbalanced ? `GEMM64_ERROR_UNBALANCED : code;
    assign error_tag_o  = bad_window ? bad_window_tag : bad_lanes ? bad_lanes_tag : bad_vector ? bad_vector_tag : passes_end ? passes_end_tag : dispatched_q;

    always @(posedge clk_i) begin
        if (rst_ni) begin
            if (ask) fetch_q <= (fetch_q + 16'd1) & ring_mask_i;
            if (pop) head_q <= (head_q + 16'd1) & ring_mask_i;
            if (pop) dispatched_q <= dispatched_q + 16'd1;
            if (received) received_q <= received_q + 16'd1;
            stores_q  <= stores_q + {15'd0, pop & is_store} - {15'd0, store_done_i};
            pending_q <= pending_q + {{LOG_COMMANDS{1'b0}}, ask} - {{LOG_COMMANDS{1'b0}}, received};
            room_q    <= room_q - {{LOG_COMMANDS{1'b0}}, ask} + {{LOG_COMMANDS{1'b0}}, pop};
        end else begin
            fetch_q      <= 16'd0;
            head_q       <= 16'd0;
            dispatched_q <= 16'd0;
            received_q   <= 16'd0;
            stores_q     <= 16'd0;
            pending_q    <= {LOG_COMMANDS + 1{1'b0}};
            room_q       <= DEPTH[LOG_COMMANDS:0];
        end
    end

    assign ring_head_o     = head_q;
    assign tag_o           = dispatched_q;
    assign idle_o          = head_q == ring_tail_i;
    assign quiet_o         = pending_q == {LOG_COMMANDS + 1{1'b0}};
    assign bus_error_o     = beat_i & beat_error_i;
    assign bus_error_tag_o = received_q;
    assign dispatch_o      = pop | bad | unbalanced | unreachable;
    assign wait_memory_o   = ~valid & ~idle_o & ~unreachable;
    assign wait_engine_o   = valid & ~dispatch_o;

endmodule

`default_nettype wire
