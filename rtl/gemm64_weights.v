// SPDX-License-Identifier: Apache-2.0
// Loads tiles of weights through a read port of their own into a buffer, the array's next plane of weights.
// Latency: 1 cycle from a word's arrival to words_o; 1 cycle from read_i to word_o.
// Handshake: valid/ready for commands; AXI4 AR and R. Only what the buffer has room for is requested, so R is always
//            ready. A burst is at most half of the buffer: one half comes while the other is read.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_weights #(
    parameter N             = 64,  // bytes of a word
    parameter LOG_N         = 6,   // log2 N
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter LOG_WORDS     = 10,  // log2 of the words that the buffer holds; two tiles or more
    parameter SELF_CHECK    = 0,   // 0: wrong_o is 0
    parameter LOG_BURSTS    = 4    // log2 of the read bursts in flight
) (
    input  wire                        clk_i,
    input  wire                        rst_ni,          // synchronous, active low
    input  wire                        stop_i,          // ask for nothing more
    // LOAD_WEIGHTS
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    // AXI4 AR
    output wire                        arvalid_o,
    input  wire                        arready_i,
    output wire                        arid_o,
    output wire [ADDRESS_WIDTH-1:0]    araddr_o,
    output wire [7:0]                  arlen_o,
    output wire [2:0]                  arsize_o,
    output wire [1:0]                  arburst_o,
    // AXI4 R
    input  wire                        rvalid_i,
    output wire                        rready_o,
    input  wire [8*N-1:0]              rdata_i,
    input  wire [1:0]                  rresp_i,
    input  wire                        rlast_i,
    // To the array
    output wire [LOG_WORDS:0]          words_o,         // words from the next one to be read on
    input  wire                        read_i,
    input  wire                        release_i,       // with read_i: the word's space is free
    input  wire                        rewind_i,        // with read_i of a word that stays: the
                                                        // oldest word kept comes next
    output wire [8*N-1:0]              word_o,
    output wire                        wrong_o,         // one was not what came; see gemm64_parity_check
    output wire [23:0]                 wrong_word_o,
    // State
    output wire                        idle_o,          // nothing to load, no word left
    output wire                        quiet_o,         // no bus transfer in flight
    output wire                        error_o,
    output wire                        error_decode_o,  // DECERR rather than SLVERR
    output wire [15:0]                 error_tag_o,
    output wire [3:0]                causes_o        // what this cycle was spent on, exactly one: bits in the order of the counters
);

    localparam WORDS_WIDTH = LOG_WORDS + 1;
    localparam WORDS       = 1 << LOG_WORDS;
    localparam MAX_BEATS  = WORDS < 128 ? WORDS / 2 : 64;

    // Commands wait in a queue.
    wire                     next_valid, next_ready;
    wire [`GEMM64_CMD_BITS-1:0] next_command;
    wire [15:0]                  next_tag;

    gemm64_command_queue #(.WORDS(`GEMM64_CMD_WORDS_WEIGHTS)) u_commands (
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

    wire                     request_valid, request_ready, pending, asking, reader_idle, released;
    wire [ADDRESS_WIDTH-1:0] request_address;
    wire [6:0]               request_beats;

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
        .command_run_i     ({16'd0, next_count}),
        .command_count_i   (32'd1),
        .command_stride_i  (36'd0),
        .command_passes_i  (next_passes),
        .command_step_i    (20'd0),
        .command_blocks_i  (32'd1),
        .command_tag_i     (next_tag),
        .command_kept_i    (1'b0),
        .tensor_i          (1'b0),
        .released_i        (released),
        .request_valid_o   (request_valid),
        .request_ready_i   (request_ready),
        .request_address_o (request_address),
        .request_beats_o   (request_beats),
        .request_tensor_o  (),
        .request_tag_o     (),
        .beat_i            (rvalid_i),
        .beat_last_i       (rlast_i),
        .beat_error_i      (rresp_i[1]),
        .beat_kept_o       (),
        .beat_first_o      (),
        .beat_end_o        (),
        .pending_o         (pending),
        .asking_o          (asking),
        .idle_o            (reader_idle),
        .error_o           (error_o),
        .error_tag_o       (error_tag_o)
    );

    gemm64_request #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_request (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (request_valid),
        .ready_o   (request_ready),
        .id_i      (1'b0),
        .address_i (request_address),
        .beats_i   (request_beats),
        .axvalid_o (arvalid_o),
        .axready_i (arready_i),
        .axid_o    (arid_o),
        .axaddr_o  (araddr_o),
        .axlen_o   (arlen_o),
        .axsize_o  (arsize_o),
        .axburst_o (arburst_o)
    );

    // The buffer: a ring of words. Those that were read and not released come again after a rewind.
    reg [WORDS_WIDTH-1:0] level_q;  // words kept
    reg [WORDS_WIDTH-1:0] ahead_q;  // of them, those from the next one to be read on
    reg [LOG_WORDS-1:0]   write_q, read_q, oldest_q;

    assign rready_o = 1'b1;
    assign words_o  = ahead_q;
    assign released = read_i & release_i;

    gemm64_ram #(.WIDTH(8*N), .DEPTH(WORDS), .ADDRESS_WIDTH(LOG_WORDS)) u_buffer (
        .clk_i           (clk_i),
        .busy_i          (1'b1),
        .write_i         (rvalid_i),
        .write_address_i (write_q),
        .write_data_i    (rdata_i),
        .read_i          (read_i),
        .read_address_i  (read_q),
        .data_o          (word_o)
    );

    gemm64_parity_check #(.ON(SELF_CHECK), .BYTES(N), .DEPTH(WORDS), .ADDRESS_WIDTH(LOG_WORDS)) u_check (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .write_i         (rvalid_i),
        .write_address_i (write_q),
        .write_data_i    (rdata_i),
        .read_i          (read_i),
        .read_address_i  (read_q),
        .data_i          (word_o),
        .wrong_o         (wrong_o),
        .unwritten_o     (),
        .word_o          (wrong_word_o)
    );

    always @(posedge clk_i) begin
        if (rst_ni) begin
            level_q <= level_q + {{LOG_WORDS{1'b0}}, rvalid_i} - {{LOG_WORDS{1'b0}}, released};
            ahead_q <= (rewind_i ? level_q : ahead_q - {{LOG_WORDS{1'b0}}, read_i})
                     + {{LOG_WORDS{1'b0}}, rvalid_i};
            if (rvalid_i) write_q <= write_q + 1'b1;
            if (read_i) read_q <= rewind_i ? oldest_q : read_q + 1'b1;
            if (released) oldest_q <= oldest_q + 1'b1;
        end else begin
            level_q  <= {WORDS_WIDTH{1'b0}};
            ahead_q  <= {WORDS_WIDTH{1'b0}};
            write_q  <= {LOG_WORDS{1'b0}};
            read_q   <= {LOG_WORDS{1'b0}};
            oldest_q <= {LOG_WORDS{1'b0}};
        end
    end

    assign idle_o         = reader_idle & ~next_valid & level_q == {WORDS_WIDTH{1'b0}};
    assign quiet_o        = ~pending & ~arvalid_o;
    assign error_decode_o = rresp_i[0];
    wire transfer, wait_memory, wait_buffer, idle_clock;
    assign transfer     = rvalid_i;
    assign wait_memory  = ~rvalid_i & pending;
    assign wait_buffer  = ~rvalid_i & ~pending & (asking | next_valid);
    assign idle_clock       = ~rvalid_i & ~pending & ~(asking | next_valid);
    assign causes_o = {idle_clock, wait_buffer, wait_memory, transfer};

`ifdef GEMM64_CHECKS
    wire no_word   = read_i & ahead_q == {WORDS_WIDTH{1'b0}};
    wire no_space  = rvalid_i & level_q[LOG_WORDS];
    wire no_rewind = rewind_i & (release_i | ~read_i);
    always @(posedge clk_i)
        if (rst_ni & (no_word | no_space | no_rewind)) begin
            $display("gemm64_weights: a word is read that is not there, or comes without space,",
                     " or a rewind passes a released word");
            $stop;
        end
`endif

endmodule

`default_nettype wire
