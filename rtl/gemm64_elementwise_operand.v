// SPDX-License-Identifier: Apache-2.0
// Loads the second operands of results, and their tables, into a ring of words.
// Latency: 1 cycle from a word's arrival to words_o; 1 cycle from read_i to word_o, which then holds until the next read.
// Handshake: valid/ready for commands and burst requests. Words are requested only where the ring has room, so they
//            are always taken. Words are claimed before they are read, those of a block all at once.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_elementwise_operand #(
    parameter N             = 64,  // bytes of a word
    parameter LOG_N         = 6,   // log2 N
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter LOG_WORDS     = 8,   // log2 of the words that the ring holds
    parameter SELF_CHECK    = 0,   // 0: wrong_o is 0
    parameter LOG_BURSTS    = 4    // log2 of the read bursts in flight
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,             // synchronous, active low
    input  wire                     stop_i,             // ask for nothing more
    input  wire                     tensor_i,           // see gemm64_reader
    // LOAD_OPERANDS
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    // Burst request, to the data port
    output wire                     request_valid_o,
    input  wire                     request_ready_i,
    output wire [ADDRESS_WIDTH-1:0] request_address_o,
    output wire [6:0]               request_beats_o,
    output wire                     request_tensor_o,   // to the tensor memory instead
    output wire [15:0]              request_tag_o,      // number of its command
    // Words from the data port
    input  wire                     beat_i,
    input  wire [8*N-1:0]           beat_data_i,
    input  wire                     beat_error_i,
    input  wire                     beat_last_i,
    // To the results
    output wire [LOG_WORDS:0]       words_o,            // unclaimed words in the ring
    input  wire                     claim_i,
    input  wire [LOG_WORDS:0]       claimed_i,          // how many of them are claimed
    input  wire                     read_i,
    output wire [8*N-1:0]           word_o,
    output wire                     wrong_o,            // one was not what came; see gemm64_parity_check
    output wire [23:0]              wrong_word_o,
    // State
    output wire                     idle_o,             // nothing to load, no word left
    output wire                     quiet_o,            // no burst in flight
    output wire                     error_o,
    output wire [15:0]              error_tag_o,
    output wire [3:0]               causes_o  // what this cycle was spent on, exactly one: bits in the order of the counters
);

    localparam WORDS_WIDTH = LOG_WORDS + 1;
    localparam WORDS       = 1 << LOG_WORDS;
    localparam MAX_BEATS   = WORDS < 128 ? WORDS / 2 : 64;

    wire                        next_valid, next_ready;
    wire [`GEMM64_CMD_BITS-1:0] next_command;
    wire [15:0]                 next_tag;

    gemm64_command_queue #(.WORDS(`GEMM64_CMD_WORDS_OPERANDS)) u_commands (
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

    wire [ADDRESS_WIDTH-1:0] next_address = next_command[`GEMM64_CMD_ADDRESS_LOW_LSB +: ADDRESS_WIDTH];
    wire [15:0]              next_rows    = next_command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH];
    wire [31:0]              next_count   = next_command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0]              next_passes  = next_command[`GEMM64_CMD_PASSES_LSB +: `GEMM64_CMD_PASSES_WIDTH];
    wire [31:0]              next_blocks  = next_command[`GEMM64_CMD_BLOCKS_LSB +: `GEMM64_CMD_BLOCKS_WIDTH];
    wire [31:0]              next_stride  = next_command[`GEMM64_CMD_STRIDE_LSB +: `GEMM64_CMD_STRIDE_WIDTH];

    wire pending, asking;

    gemm64_reader #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_BURSTS(LOG_BURSTS), .WORDS(WORDS),
        .WORDS_WIDTH(WORDS_WIDTH), .MAX_BEATS(MAX_BEATS)
    ) u_reader (
        .clk_i             (clk_i),
        .rst_ni            (rst_ni),
        .stop_i            (stop_i),
        .command_valid_i   (next_valid),
        .command_ready_o   (next_ready),
        .command_address_i (next_address),
        .command_run_i     ({32'd0, next_rows}),
        .command_count_i   (next_count),
        .command_stride_i  ({4'd0, next_stride}),
        .command_passes_i  (next_passes),
        .command_step_i    ({4'd0, next_rows}),
        .command_blocks_i  (next_blocks),
        .command_tag_i     (next_tag),
        .command_kept_i    (1'b0),
        .tensor_i          (tensor_i),
        .released_i        (read_i),
        .request_valid_o   (request_valid_o),
        .request_ready_i   (request_ready_i),
        .request_address_o (request_address_o),
        .request_beats_o   (request_beats_o),
        .request_tensor_o  (request_tensor_o),
        .request_tag_o     (request_tag_o),
        .beat_i            (beat_i),
        .beat_last_i       (beat_last_i),
        .beat_error_i      (beat_error_i),
        .beat_kept_o       (),
        .beat_first_o      (),
        .beat_end_o        (),
        .pending_o         (pending),
        .asking_o          (asking),
        .idle_o            (),
        .error_o           (error_o),
        .error_tag_o       (error_tag_o)
    );

    // The ring: words come, are claimed and are read, each in order.
    reg  [WORDS_WIDTH-1:0] level_q, unclaimed_q;
    reg  [LOG_WORDS-1:0]   write_q, read_q;
    wire [WORDS_WIDTH-1:0] claimed = claim_i ? claimed_i : {WORDS_WIDTH{1'b0}};

    gemm64_ram #(.WIDTH(8*N), .DEPTH(WORDS), .ADDRESS_WIDTH(LOG_WORDS)) u_buffer (
        .clk_i           (clk_i),
        .busy_i          (1'b1),
        .write_i         (beat_i),
        .write_address_i (write_q),
        .write_data_i    (beat_data_i),
        .read_i          (read_i),
        .read_address_i  (read_q),
        .data_o          (word_o)
    );

    gemm64_parity_check #(.ON(SELF_CHECK), .BYTES(N), .DEPTH(WORDS), .ADDRESS_WIDTH(LOG_WORDS), .HELD(1)) u_check (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .write_i         (beat_i),
        .write_address_i (write_q),
        .write_data_i    (beat_data_i),
        .read_i          (read_i),
        .read_address_i  (read_q),
        .data_i          (word_o),
        .wrong_o         (wrong_o),
        .unwritten_o     (),
        .word_o          (wrong_word_o)
    );

    always @(posedge clk_i) begin
        if (rst_ni) begin
            if (beat_i | read_i | claim_i) begin  // so that a simulator rests otherwise
                level_q     <= level_q + {{LOG_WORDS{1'b0}}, beat_i} - {{LOG_WORDS{1'b0}}, read_i};
                unclaimed_q <= unclaimed_q + {{LOG_WORDS{1'b0}}, beat_i} - claimed;
                write_q     <= write_q + {{LOG_WORDS-1{1'b0}}, beat_i};
                read_q      <= read_q + {{LOG_WORDS-1{1'b0}}, read_i};
            end
        end else begin
            level_q     <= {WORDS_WIDTH{1'b0}};
            unclaimed_q <= {WORDS_WIDTH{1'b0}};
            write_q     <= {LOG_WORDS{1'b0}};
            read_q      <= {LOG_WORDS{1'b0}};
        end
    end

    assign words_o = unclaimed_q;
    assign idle_o  = ~loads & level_q == {WORDS_WIDTH{1'b0}};
    assign quiet_o = ~pending;
    wire      loads = pending | asking | next_valid;
    reg [3:0] causes;
    always @* begin
        causes = 4'b1000;
        if (loads | beat_i) causes = beat_i ? 4'b0001 : pending ? 4'b0010 : 4'b0100;
    end
    wire idle_clock, wait_buffer, wait_memory, transfer;
    assign {idle_clock, wait_buffer, wait_memory, transfer} = causes;
    assign causes_o = {idle_clock, wait_buffer, wait_memory, transfer};

`ifdef GEMM64_CHECKS
    always @(posedge clk_i)
        if (rst_ni & ((claim_i & claimed_i > unclaimed_q) | (beat_i & level_q[LOG_WORDS])
                      | (read_i & level_q <= unclaimed_q))) begin
            $display("gemm64_elementwise_operand: a word was used that is not there, or came where no room is");
            $stop;
        end
`endif

endmodule

`default_nettype wire
