// SPDX-License-Identifier: Apache-2.0
// The register file behind the AXI4-Lite port (map: gemm64.json).
// Latency: a write acts, and is answered, 1 clock after both its channels were accepted; a read is answered 1 clock
//          after its address.
// Handshake: AXI4-Lite, one write and one read under way. An offset without a register, or a write to a register
//            that only reads, is answered with SLVERR.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_registers #(
    parameter N                = 64,    // see gemm64
    parameter STAGE_ROWS       = 4,
    parameter WEIGHT_TILES     = 2,
    parameter SCRATCHPAD_WORDS = 9216,
    parameter ACCUMULATOR_ROWS = 128,
    parameter ADDRESS_WIDTH    = 40,
    parameter READS            = 16,
    parameter WRITES           = 16,
    parameter COMMANDS         = 16,
    parameter SELECT_WIDTH     = 5      // bits of a counter's index
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,             // synchronous, active low
    // AXI4-Lite
    input  wire                    awvalid_i,
    output wire                    awready_o,
    input  wire [11:0]             awaddr_i,
    input  wire                    wvalid_i,
    output wire                    wready_o,
    input  wire [31:0]             wdata_i,
    input  wire [3:0]              wstrb_i,
    output reg                     bvalid_o,
    input  wire                    bready_i,
    output reg  [1:0]              bresp_o,
    input  wire                    arvalid_i,
    output wire                    arready_o,
    input  wire [11:0]             araddr_i,
    output reg                     rvalid_o,
    input  wire                    rready_i,
    output reg  [31:0]             rdata_o,
    output reg  [1:0]              rresp_o,
    // Settings
    output reg  [31:0]             watchdog_o,
    output wire [63:0]             ring_base_o,
    output reg  [15:0]             ring_mask_o,
    output reg  [15:0]             ring_tail_o,
    // Pulses
    output reg                     reset_o,
    output reg                     clear_counters_o,
    // State
    input  wire                    ring_clear_i,       // a soft reset empties the ring
    input  wire                    busy_i,
    input  wire                    halted_i,
    input  wire                    resetting_i,
    input  wire                    finish_i,           // sets INTERRUPT.DONE
    input  wire                    fail_i,             // sets INTERRUPT.ERROR
    input  wire [31:0]             error_i,
    input  wire [15:0]             ring_head_i,
    output wire                    irq_o,
    // Counters
    output wire [SELECT_WIDTH-1:0] counter_o,
    input  wire [63:0]             counter_value_i
);

    localparam [31:0] RING_MASK_RESET = `GEMM64_REG_RING_MASK_RESET;
    localparam [1:0] OKAY   = 2'b00;
    localparam [1:0] SLVERR = 2'b10;

    reg [31:0] ring_base_low_q, ring_base_high_q;
    reg        done_q, error_q;

    assign ring_base_o = {ring_base_high_q, ring_base_low_q};
    assign irq_o       = done_q | error_q;

    // Write
    wire write = awvalid_i & wvalid_i & (~bvalid_o | bready_i);
    assign awready_o = write;
    assign wready_o  = write;

    // All that the function reads is an argument: a continuous assignment waits for its operands alone.
    function [31:0] merged;  // the bytes that the strobes name, the others as they were
        input [31:0] old;
        input [31:0] bytes;
        input [3:0]  strobes;
        merged = {strobes[3] ? bytes[31:24] : old[31:24], strobes[2] ? bytes[23:16] : old[23:16],
                  strobes[1] ? bytes[15:8] : old[15:8], strobes[0] ? bytes[7:0] : old[7:0]};
    endfunction

    wire [31:0] data      = merged(32'd0, wdata_i, wstrb_i);
    wire        writable  = awaddr_i == `GEMM64_REG_CONTROL | awaddr_i == `GEMM64_REG_INTERRUPT
                          | awaddr_i == `GEMM64_REG_WATCHDOG | awaddr_i == `GEMM64_REG_RING_BASE_LOW
                          | awaddr_i == `GEMM64_REG_RING_BASE_HIGH | awaddr_i == `GEMM64_REG_RING_MASK
                          | awaddr_i == `GEMM64_REG_RING_TAIL;
    wire [31:0] mask_next = merged({16'd0, ring_mask_o}, wdata_i, wstrb_i);
    wire [31:0] tail_next = merged({16'd0, ring_tail_o}, wdata_i, wstrb_i);
    wire        clear     = write & awaddr_i == `GEMM64_REG_INTERRUPT;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            bvalid_o         <= 1'b0;
            watchdog_o       <= `GEMM64_REG_WATCHDOG_RESET;
            ring_base_low_q  <= 32'd0;
            ring_base_high_q <= 32'd0;
            ring_mask_o      <= RING_MASK_RESET[15:0];
            ring_tail_o      <= 16'd0;
            reset_o          <= 1'b0;
            clear_counters_o <= 1'b0;
            done_q           <= 1'b0;
            error_q          <= 1'b0;
        end else begin
            bvalid_o         <= write | (bvalid_o & ~bready_i);
            reset_o          <= write & awaddr_i == `GEMM64_REG_CONTROL & data[`GEMM64_CONTROL_RESET_BIT];
            clear_counters_o <= write & awaddr_i == `GEMM64_REG_CONTROL & data[`GEMM64_CONTROL_CLEAR_COUNTERS_BIT];
            if (write) begin
                case (awaddr_i)
                    `GEMM64_REG_WATCHDOG:       watchdog_o <= merged(watchdog_o, wdata_i, wstrb_i);
                    `GEMM64_REG_RING_BASE_LOW:  ring_base_low_q <= merged(ring_base_low_q, wdata_i, wstrb_i);
                    `GEMM64_REG_RING_BASE_HIGH: ring_base_high_q <= merged(ring_base_high_q, wdata_i, wstrb_i);
                    `GEMM64_REG_RING_MASK:      ring_mask_o <= mask_next[15:0];
                    `GEMM64_REG_RING_TAIL:      ring_tail_o <= tail_next[15:0] & ring_mask_o;
                    default: ;
                endcase
            end
            if (ring_clear_i) ring_tail_o <= 16'd0;
            done_q  <= finish_i | (done_q & ~ring_clear_i & ~(clear & data[`GEMM64_INTERRUPT_DONE_BIT]));
            error_q <= fail_i | (error_q & ~ring_clear_i & ~(clear & data[`GEMM64_INTERRUPT_ERROR_BIT]));
        end
        if (write) bresp_o <= writable ? OKAY : SLVERR;
    end

    // Read
    localparam [11:0] COUNTERS_BYTES = 12'd8 * `GEMM64_COUNTERS;
    wire [11:0] counter_offset = araddr_i - `GEMM64_COUNTERS_BASE;
    wire        is_counter     = counter_offset < COUNTERS_BYTES & araddr_i[1:0] == 2'b00;
    reg  [31:0] read_data;
    reg         readable;

    assign arready_o = ~rvalid_o | rready_i;
    assign counter_o = counter_offset[SELECT_WIDTH+2:3];

    always @* begin
        readable = 1'b1;
        case (araddr_i)
            `GEMM64_REG_ID:               read_data = `GEMM64_REG_ID_RESET;
            `GEMM64_REG_VERSION:          read_data = {`GEMM64_VERSION_MAJOR, `GEMM64_VERSION_MINOR};
            `GEMM64_REG_ARRAY:            read_data = {8'd0, WEIGHT_TILES[7:0], STAGE_ROWS[7:0], N[7:0]};
            `GEMM64_REG_SCRATCHPAD_WORDS: read_data = SCRATCHPAD_WORDS;
            `GEMM64_REG_ACCUMULATOR_ROWS: read_data = ACCUMULATOR_ROWS;
            `GEMM64_REG_BUS:              read_data = {8'd64, COMMANDS[7:0], WRITES[7:0], READS[7:0]};
            `GEMM64_REG_ADDRESS_WIDTH:    read_data = ADDRESS_WIDTH;
            `GEMM64_REG_CONTROL:          read_data = 32'd0;
            `GEMM64_REG_STATUS:           read_data = {29'd0, resetting_i, halted_i, busy_i};
            `GEMM64_REG_INTERRUPT:        read_data = {30'd0, error_q, done_q};
            `GEMM64_REG_ERROR:            read_data = error_i;
            `GEMM64_REG_WATCHDOG:         read_data = watchdog_o;
            `GEMM64_REG_RING_BASE_LOW:    read_data = ring_base_low_q;
            `GEMM64_REG_RING_BASE_HIGH:   read_data = ring_base_high_q;
            `GEMM64_REG_RING_MASK:        read_data = {16'd0, ring_mask_o};
            `GEMM64_REG_RING_TAIL:        read_data = {16'd0, ring_tail_o};
            `GEMM64_REG_RING_HEAD:        read_data = {16'd0, ring_head_i};
            default: begin
                readable  = is_counter;
                read_data = ~is_counter ? 32'd0 : araddr_i[2] ? counter_value_i[63:32] : counter_value_i[31:0];
            end
        endcase
    end

    always @(posedge clk_i) begin
        if (!rst_ni) rvalid_o <= 1'b0;
        else rvalid_o <= arvalid_i | (rvalid_o & ~rready_i);
        if (arvalid_i & arready_o) begin
            rdata_o <= read_data;
            rresp_o <= readable ? OKAY : SLVERR;
        end
    end

endmodule

`default_nettype wire
