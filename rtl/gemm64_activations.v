// SPDX-License-Identifier: Apache-2.0
// Loads activations into the scratchpad, a ring of words that the array reads once or, pass after pass, again.
// Latency: 1 clock from a word's arrival to ahead_o; 1 clock from read_i to word_o.
// Handshake: valid/ready for commands and burst requests. Words are requested only where the ring has room, so they
//            are always taken. read_i needs ahead_o > 0.
`default_nettype none

module gemm64_activations #(
    parameter N             = 64,    // bytes of a word
    parameter LOG_N         = 6,     // log2 N
    parameter ADDRESS_WIDTH = 40,    // bits of an address
    parameter WORDS         = 9216,  // words of the ring; at least 64, the longest burst
    parameter WORDS_WIDTH   = 14,    // bits that hold the number WORDS
    parameter LOG_BURSTS    = 4      // log2 of the read bursts under way
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,             // synchronous, active low
    input  wire                     stop_i,             // ask for nothing more
    // LOAD_ACTIVATIONS
    input  wire                     command_valid_i,
    output wire                     command_ready_o,
    input  wire [ADDRESS_WIDTH-1:0] command_address_i,
    input  wire [15:0]              command_rows_i,
    input  wire [31:0]              command_count_i,    // tiles of K
    input  wire [31:0]              command_passes_i,
    input  wire [31:0]              command_blocks_i,
    input  wire [31:0]              command_stride_i,   // words from the start of a tile to that of the next
    input  wire [15:0]              command_tag_i,
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
    // To the array
    output wire [WORDS_WIDTH-1:0]   ahead_o,            // words that lie ready, from the next one on
    input  wire                     read_i,
    input  wire                     release_i,          // with read_i: the word's place may be filled again
    input  wire                     rewind_i,           // with read_i: after it comes the oldest word that is kept
    output wire [8*N-1:0]           word_o,
    // State
    output wire                     idle_o,             // nothing to load, no word kept
    output wire                     quiet_o,            // no burst under way
    output wire                     error_o,
    output wire [15:0]              error_tag_o,
    output wire                     transfer_o,         // what this clock was spent on, exactly one of four
    output wire                     wait_memory_o,
    output wire                     wait_scratchpad_o,
    output wire                     idle_clock_o
);

    localparam COMMAND_WIDTH = ADDRESS_WIDTH + 16 + 4*32 + 16;
    wire                     next_valid, next_ready;
    wire [ADDRESS_WIDTH-1:0] next_address;
    wire [31:0]              next_count, next_passes, next_blocks, next_stride;
    wire [15:0]              next_rows, next_tag;

    gemm64_fifo #(.WIDTH(COMMAND_WIDTH), .LOG_DEPTH(1)) u_commands (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (command_valid_i),
        .ready_o (command_ready_o),
        .data_i  ({command_address_i, command_rows_i, command_count_i, command_passes_i, command_blocks_i,
                   command_stride_i, command_tag_i}),
        .valid_o (next_valid),
        .ready_i (next_ready),
        .data_o  ({next_address, next_rows, next_count, next_passes, next_blocks, next_stride, next_tag})
    );

    // Tiles that follow each other in memory are one run, so that bursts end with the last of them alone.
    wire        together = next_stride == {16'd0, next_rows};
    wire [47:0] next_run = {32'd0, next_rows} * {16'd0, together ? next_count : 32'd1};

    reg  [WORDS_WIDTH-1:0] level_q;  // words kept
    reg  [WORDS_WIDTH-1:0] ahead_q;  // words kept, from the next one to be read on
    reg  [WORDS_WIDTH-1:0] write_q, read_q, oldest_q;

    wire pending, asking, reader_idle;

    gemm64_reader #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_BURSTS(LOG_BURSTS), .WORDS(WORDS), .WORDS_WIDTH(WORDS_WIDTH)
    ) u_reader (
        .clk_i             (clk_i),
        .rst_ni            (rst_ni),
        .stop_i            (stop_i),
        .command_valid_i   (next_valid),
        .command_ready_o   (next_ready),
        .command_address_i (next_address),
        .command_run_i     (next_run),
        .command_count_i   (together ? 32'd1 : next_count),
        .command_stride_i  ({4'd0, next_stride}),
        .command_passes_i  (next_passes),
        .command_step_i    ({4'd0, next_rows}),
        .command_blocks_i  (next_blocks),
        .command_tag_i     (next_tag),
        .released_i        (read_i & release_i),
        .request_valid_o   (request_valid_o),
        .request_ready_i   (request_ready_i),
        .request_address_o (request_address_o),
        .request_beats_o   (request_beats_o),
        .beat_i            (beat_i),
        .beat_last_i       (beat_last_i),
        .beat_error_i      (beat_error_i),
        .pending_o         (pending),
        .asking_o          (asking),
        .idle_o            (reader_idle),
        .error_o           (error_o),
        .error_tag_o       (error_tag_o)
    );

    gemm64_ram #(.WIDTH(8*N), .DEPTH(WORDS), .ADDRESS_WIDTH(WORDS_WIDTH)) u_scratchpad (
        .clk_i           (clk_i),
        .write_i         (beat_i),
        .write_address_i (write_q),
        .write_data_i    (beat_data_i),
        .read_i          (read_i),
        .read_address_i  (read_q),
        .data_o          (word_o)
    );

    function [WORDS_WIDTH-1:0] after;  // the place after this one in the ring
        input [WORDS_WIDTH-1:0] place;
        after = place == WORDS[WORDS_WIDTH-1:0] - 1'b1 ? {WORDS_WIDTH{1'b0}} : place + 1'b1;
    endfunction

    wire [WORDS_WIDTH-1:0] in       = {{WORDS_WIDTH-1{1'b0}}, beat_i};
    wire [WORDS_WIDTH-1:0] out      = {{WORDS_WIDTH-1{1'b0}}, read_i};
    wire [WORDS_WIDTH-1:0] released = {{WORDS_WIDTH-1{1'b0}}, read_i & release_i};

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            level_q  <= {WORDS_WIDTH{1'b0}};
            ahead_q  <= {WORDS_WIDTH{1'b0}};
            write_q  <= {WORDS_WIDTH{1'b0}};
            read_q   <= {WORDS_WIDTH{1'b0}};
            oldest_q <= {WORDS_WIDTH{1'b0}};
        end else begin
            level_q <= level_q + in - released;
            if (beat_i) write_q <= after(write_q);
            if (read_i & release_i) oldest_q <= after(oldest_q);
            if (read_i & rewind_i) begin
                read_q  <= oldest_q;
                ahead_q <= level_q + in;
            end else begin
                if (read_i) read_q <= after(read_q);
                ahead_q <= ahead_q + in - out;
            end
        end
    end

    assign ahead_o           = ahead_q;
    assign idle_o            = reader_idle & ~next_valid & level_q == {WORDS_WIDTH{1'b0}};
    assign quiet_o           = ~pending;
    assign transfer_o        = beat_i;
    assign wait_memory_o     = ~beat_i & pending;
    assign wait_scratchpad_o = ~beat_i & ~pending & (asking | next_valid);
    assign idle_clock_o          = ~beat_i & ~pending & ~(asking | next_valid);

`ifdef GEMM64_CHECKS
    always @(posedge clk_i)
        if (rst_ni & ((read_i & ahead_q == {WORDS_WIDTH{1'b0}})
                      | (beat_i & level_q == WORDS[WORDS_WIDTH-1:0]))) begin
            $display("gemm64_activations: a word was read that is not there, or came where no room is");
            $stop;
        end
`endif

endmodule

`default_nettype wire
