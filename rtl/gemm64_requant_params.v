// SPDX-License-Identifier: Apache-2.0
// Loads sets of parameters into a ring: a set is the N biases and then the N scales of one tile of results, four words each.
// Latency: 1 cycle from the arrival of a set's last word to ready_o; 1 cycle from bias_read_i to bias_o and from
//          scale_read_i to scale_o, which then hold until the next read.
// Handshake: valid/ready for commands and burst requests. Words are requested only where the ring has room, so they
//            are always taken. Sets are claimed, and their biases and their scales read, each in order; a set must have been
//            claimed before it is read, and its places are free again once its scales have been.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_requant_params #(
    parameter N             = 64,  // bytes of a word, columns of a tile
    parameter LOG_N         = 6,   // log2 N
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter LOG_SETS      = 4,   // log2 of the sets that the ring holds; at least 1
    parameter SELF_CHECK    = 0,   // 0: wrong_o is 0
    parameter LOG_BURSTS    = 4    // log2 of the read bursts in flight
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,             // synchronous, active low
    input  wire                     stop_i,             // ask for nothing more
    // LOAD_PARAMETERS
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    // Burst request, to the data port
    output wire                     request_valid_o,
    input  wire                     request_ready_i,
    output wire [ADDRESS_WIDTH-1:0] request_address_o,
    output wire [6:0]               request_beats_o,
    // Words from the data port
    input  wire                     beat_i,
    input  wire [8*N-1:0]           beat_data_i,
    input  wire                     beat_error_i,
    input  wire                     beat_last_i,
    // To the results
    output wire                     ready_o,            // the next unclaimed set is there
    input  wire                     claim_i,
    input  wire                     bias_read_i,        // show the biases of ...
    input  wire                     bias_next_i,        // ... the next set from this cycle on
    output wire [32*N-1:0]          bias_o,
    input  wire                     scale_read_i,       // show the next set's scales
    output wire [32*N-1:0]          scale_o,
    output wire                     wrong_o,            // what is shown is not what came; see gemm64_parity_check
    output wire                     wrong_scale_o,      // of scales, else of biases
    output wire [23:0]              wrong_word_o,       // of the set: four times its place, and the word of N bytes
    // State
    output wire                     idle_o,             // nothing to load, no set left
    output wire                     quiet_o,            // no burst in flight
    output wire                     error_o,
    output wire [15:0]              error_tag_o,
    output wire [3:0]                causes_o        // what this cycle was spent on, exactly one: bits in the order of the counters
);

    localparam SET_WORDS   = 8;  // four times N biases of four bytes in words of N bytes, and as many scales
    localparam WORDS       = SET_WORDS << LOG_SETS;
    localparam WORDS_WIDTH = LOG_SETS + 4;
    localparam MAX_BEATS   = WORDS < 128 ? WORDS / 2 : 64;

    wire                     next_valid, next_ready;
    wire [`GEMM64_CMD_BITS-1:0] next_command;
    wire [15:0]                  next_tag;

    gemm64_command_queue #(.WORDS(`GEMM64_CMD_WORDS_PARAMETERS)) u_commands (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (command_valid_i),
        .ready_o   (command_ready_o),
        .command_i (command_i),
        .tag_i     (command_tag_i),
        .valid_o   (next_valid),
        .ready_i   (next_ready),
        .command_o (next_command),
        .tag_o     (next_tag),
        .other_o   ()
    );

    wire [ADDRESS_WIDTH-1:0]  next_address  = next_command[`GEMM64_CMD_ADDRESS_LOW_LSB +: ADDRESS_WIDTH];
    wire [31:0]               next_count    = next_command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0]               next_passes   = next_command[`GEMM64_CMD_PASSES_LSB +: `GEMM64_CMD_PASSES_WIDTH];

    wire pending, asking, reader_idle;

    gemm64_reader #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_BURSTS(LOG_BURSTS), .WORDS(WORDS),
        .WORDS_WIDTH(WORDS_WIDTH), .RELEASED(SET_WORDS), .MAX_BEATS(MAX_BEATS)
    ) u_reader (
        .clk_i             (clk_i),
        .rst_ni            (rst_ni),
        .stop_i            (stop_i),
        .command_valid_i   (next_valid),
        .command_ready_o   (next_ready),
        .command_address_i (next_address),
        .command_run_i     ({16'd0, next_count}),
        .command_count_i   (32'd1),
        .command_stride_i  (36'd0),
        .command_passes_i  (next_passes),
        .command_step_i    (20'd0),
        .command_blocks_i  (32'd1),
        .command_tag_i     (next_tag),
        .command_kept_i    (1'b0),
        .tensor_i          (1'b0),
        .released_i        (scale_read_i),
        .request_valid_o   (request_valid_o),
        .request_ready_i   (request_ready_i),
        .request_address_o (request_address_o),
        .request_beats_o   (request_beats_o),
        .request_tensor_o  (),
        .request_tag_o     (),
        .beat_i            (beat_i),
        .beat_last_i       (beat_last_i),
        .beat_error_i      (beat_error_i),
        .beat_kept_o       (),
        .beat_first_o      (),
        .beat_end_o        (),
        .pending_o         (pending),
        .asking_o          (asking),
        .idle_o            (reader_idle),
        .error_o           (error_o),
        .error_tag_o       (error_tag_o)
    );

    // The ring: words come one after the other, sets are claimed and read in turn.
    reg  [2:0]            word_q;     // of the set that comes
    reg  [LOG_SETS-1:0]   write_q, bias_q, scale_q;
    reg  [LOG_SETS:0]     unclaimed_q, kept_q;  // whole sets
    wire                  whole = beat_i & word_q == 3'd7;
    wire [LOG_SETS-1:0]   bias  = bias_next_i ? bias_q + 1'b1 : bias_q;

    always @(posedge clk_i) begin
        if (rst_ni) begin
            if (beat_i) word_q <= word_q + 3'd1;
            if (whole) write_q <= write_q + 1'b1;
            bias_q <= bias;
            if (scale_read_i) scale_q <= scale_q + 1'b1;
            unclaimed_q <= unclaimed_q + {{LOG_SETS{1'b0}}, whole} - {{LOG_SETS{1'b0}}, claim_i};
            kept_q      <= kept_q + {{LOG_SETS{1'b0}}, whole} - {{LOG_SETS{1'b0}}, scale_read_i};
        end else begin
            word_q      <= 3'd0;
            write_q     <= {LOG_SETS{1'b0}};
            bias_q      <= {LOG_SETS{1'b0}};
            scale_q     <= {LOG_SETS{1'b0}};
            unclaimed_q <= {LOG_SETS + 1{1'b0}};
            kept_q      <= {LOG_SETS + 1{1'b0}};
        end
    end

    gemm64_set_ram #(.LANE_WIDTH(8*N), .DEPTH(1 << LOG_SETS), .ADDRESS_WIDTH(LOG_SETS)) u_biases (
        .clk_i           (clk_i),
        .write_i         (beat_i & ~word_q[2]),
        .write_address_i (write_q),
        .write_lane_i    (word_q[1:0]),
        .write_data_i    (beat_data_i),
        .read_i          (bias_read_i),
        .read_address_i  (bias),
        .data_o          (bias_o)
    );

    gemm64_set_ram #(.LANE_WIDTH(8*N), .DEPTH(1 << LOG_SETS), .ADDRESS_WIDTH(LOG_SETS)) u_scales (
        .clk_i           (clk_i),
        .write_i         (beat_i & word_q[2]),
        .write_address_i (write_q),
        .write_lane_i    (word_q[1:0]),
        .write_data_i    (beat_data_i),
        .read_i          (scale_read_i),
        .read_address_i  (scale_q),
        .data_o          (scale_o)
    );

    // Biases and scales have four words each.
    genvar w;
    generate
        if (SELF_CHECK != 0) begin : self_check
            wire [7:0]      wrong;
            wire [24*8-1:0] words;
            for (w = 0; w < 4; w = w + 1) begin : word
            gemm64_parity_check #(
                .ON(SELF_CHECK), .BYTES(N), .DEPTH(1 << LOG_SETS), .ADDRESS_WIDTH(LOG_SETS), .HELD(1), .UNWRITTEN(1)
            ) u_bias (
                .clk_i           (clk_i),
                .rst_ni          (rst_ni),
                .write_i         (beat_i & ~word_q[2] & word_q[1:0] == w[1:0]),
                .write_address_i (write_q),
                .write_data_i    (beat_data_i),
                .read_i          (bias_read_i),
                .read_address_i  (bias),
                .data_i          (bias_o[8*N*w +: 8*N]),
                .wrong_o         (wrong[0 + w]),
                .unwritten_o     (),
                .word_o          (words[24*(0 + w) +: 24])
            );

            gemm64_parity_check #(
                .ON(SELF_CHECK), .BYTES(N), .DEPTH(1 << LOG_SETS), .ADDRESS_WIDTH(LOG_SETS), .HELD(1)
            ) u_scale (
                .clk_i           (clk_i),
                .rst_ni          (rst_ni),
                .write_i         (beat_i & word_q[2] & word_q[1:0] == w[1:0]),
                .write_address_i (write_q),
                .write_data_i    (beat_data_i),
                .read_i          (scale_read_i),
                .read_address_i  (scale_q),
                .data_i          (scale_o[8*N*w +: 8*N]),
                .wrong_o         (wrong[4 + w]),
                .unwritten_o     (),
                .word_o          (words[24*(4 + w) +: 24])
            );
            end
            reg [23:0] wrong_word;
            integer    i;
            always @* begin
                wrong_word = 24'd0;
                for (i = 7; i >= 0; i = i - 1) if (wrong[i]) wrong_word = {words[24*i +: 22], i[1:0]};
            end
            assign wrong_o       = wrong != 8'd0;
            assign wrong_scale_o = wrong[3:0] == 4'd0 & wrong_o;
            assign wrong_word_o  = wrong_word;
        end else begin : unchecked
            assign {wrong_o, wrong_scale_o, wrong_word_o} = 26'd0;
        end
    endgenerate

    assign ready_o       = unclaimed_q != {LOG_SETS + 1{1'b0}};
    assign idle_o        = reader_idle & ~next_valid & word_q == 3'd0 & kept_q == {LOG_SETS + 1{1'b0}};
    assign quiet_o       = ~pending;
    wire transfer, wait_memory, wait_buffer, idle_clock;
    assign transfer    = beat_i;
    assign wait_memory = ~beat_i & pending;
    assign wait_buffer = ~beat_i & ~pending & (asking | next_valid);
    assign idle_clock  = ~beat_i & ~pending & ~(asking | next_valid);
    assign causes_o = {idle_clock, wait_buffer, wait_memory, transfer};

`ifdef GEMM64_CHECKS
    always @(posedge clk_i)
        if (rst_ni & ((claim_i & ~ready_o) | (whole & kept_q[LOG_SETS])
                      | (scale_read_i & kept_q <= unclaimed_q))) begin
            $display("gemm64_requant_params: a set was used that is not there, or came where no room is");
            $stop;
        end
`endif

endmodule

`default_nettype wire
