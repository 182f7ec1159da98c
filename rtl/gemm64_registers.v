// SPDX-License-Identifier: Apache-2.0
// The register file of the AXI4-Lite port (map: gemm64.json).
// Latency: a write acts, and is answered, 1 cycle after both its channels were accepted; a read is answered 1 cycle
//          after its address. Where the answer before waits, both wait for it.
// Handshake: AXI4-Lite; no output depends on an input of the same cycle. While an answer waits, one more request a
//            channel is accepted. An offset without a register, or a write to a register that only reads, is answered
//            with SLVERR; so is a ring base above the bus, a tail during a soft reset, which would be lost, and TENSOR_MEMORY
//            while the accelerator is busy. None of these changes anything.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_registers #(
    parameter N                = 64,    // see gemm64
    parameter STAGE_ROWS       = 4,
    parameter WEIGHT_TILES     = 16,
    parameter SCRATCHPAD_WORDS = 9216,
    parameter TENSOR_WORDS     = 0,
    parameter ACCUMULATOR_ROWS = 128,
    parameter ADDRESS_WIDTH    = 40,
    parameter READS            = 16,
    parameter WRITES           = 16,
    parameter COMMANDS         = 16,
    parameter PARAMETER_SETS   = 16,
    parameter SELF_CHECK       = 0,
    parameter SELECT_WIDTH     = 6      // bits of a counter's index
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
    output reg                     tensor_o,           // the scratchpad's last TENSOR_WORDS words are the tensor memory
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
    input  wire [31:0]             fault_tile_i,
    input  wire [15:0]             fault_row_i,
    input  wire [31:0]             fault_memory_i,
    input  wire [15:0]             ring_head_i,
    output wire                    irq_o,
    // Counters
    output wire [SELECT_WIDTH-1:0] counter_o,
    input  wire [63:0]             counter_value_i
);

    localparam [31:0] RING_MASK_RESET = `GEMM64_REG_RING_MASK_RESET;
    localparam [31:0] INTERRUPT_ENABLE_RESET = `GEMM64_REG_INTERRUPT_ENABLE_RESET;
    localparam [31:0] FOUND = 1 << `GEMM64_SELF_CHECK_CHECKSUM_BIT | 1 << `GEMM64_SELF_CHECK_PARITY_BIT
                               | 1 << `GEMM64_SELF_CHECK_COMMANDS_BIT
                               | (SELF_CHECK > 1 ? 1 << `GEMM64_SELF_CHECK_ROWS_BIT : 0);
    localparam [31:0] SCRATCHPAD_REST = SCRATCHPAD_WORDS - TENSOR_WORDS;
    localparam [1:0] OKAY   = 2'b00;
    localparam [1:0] SLVERR = 2'b10;

    reg [31:0] ring_base_low_q, ring_base_high_q;
    reg        done_q, error_q;
    reg [1:0]  interrupt_enable_q;

    assign ring_base_o = {ring_base_high_q, ring_base_low_q};
    assign irq_o       = ({error_q, done_q} & interrupt_enable_q) != 2'b00;

    // Write: acts when both its channels came and the answer before it is taken.
    wire        waddr_valid, wdata_valid;
    wire [11:0] waddr;
    wire [31:0] wdata;
    wire [3:0]  wstrb;
    wire        write = waddr_valid & wdata_valid & (~bvalid_o | bready_i);

    gemm64_skid #(.WIDTH(12)) u_waddr (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (awvalid_i),
        .ready_o (awready_o),
        .data_i  (awaddr_i),
        .valid_o (waddr_valid),
        .ready_i (write),
        .data_o  (waddr)
    );

    gemm64_skid #(.WIDTH(36)) u_wdata (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (wvalid_i),
        .ready_o (wready_o),
        .data_i  ({wstrb_i, wdata_i}),
        .valid_o (wdata_valid),
        .ready_i (write),
        .data_o  ({wstrb, wdata})
    );

    // The bytes that the strobes name are written, the others stay as they were.
    reg [31:0] bits, put;

    // CONTROL and INTERRUPT act by the bits that are written as 1; all of them lie in the low byte.
    wire [7:0] ones     = wdata[7:0] & {8{write & wstrb[0]}};
    wire [7:0] control  = waddr == `GEMM64_REG_CONTROL ? ones : 8'd0;
    wire [7:0] clear    = waddr == `GEMM64_REG_INTERRUPT ? ones : 8'd0;

    // A ring base as it would be after this write, and its bits above the bus
    reg [31:0] base_low, base_high;
    reg [63:0] base_above;
    reg        writable;

    // Zero at rest, and one question for a simulator
    always @* begin
        {bits, put, base_low, base_high, base_above, writable} = 193'd0;
        if (write) begin
            bits       = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};
            put        = wdata & bits;
            base_low   = waddr == `GEMM64_REG_RING_BASE_LOW ? (ring_base_low_q & ~bits) | put : ring_base_low_q;
            base_high  = waddr == `GEMM64_REG_RING_BASE_HIGH ? (ring_base_high_q & ~bits) | put : ring_base_high_q;
            base_above = {base_high, base_low} >> ADDRESS_WIDTH;
            writable = waddr == `GEMM64_REG_CONTROL | waddr == `GEMM64_REG_INTERRUPT
                     | waddr == `GEMM64_REG_INTERRUPT_ENABLE | waddr == `GEMM64_REG_WATCHDOG
                     | waddr == `GEMM64_REG_RING_MASK
                     | (waddr == `GEMM64_REG_TENSOR_MEMORY & ~busy_i & TENSOR_WORDS != 0)
                     | ((waddr == `GEMM64_REG_RING_BASE_LOW | waddr == `GEMM64_REG_RING_BASE_HIGH)
                        & base_above == 64'd0)
                     | (waddr == `GEMM64_REG_RING_TAIL & ~resetting_i);
        end
    end

    always @(posedge clk_i) begin
        if (rst_ni) begin
            bvalid_o         <= write | (bvalid_o & ~bready_i);
            reset_o          <= control[`GEMM64_CONTROL_RESET_BIT] | (writable & waddr == `GEMM64_REG_TENSOR_MEMORY);
            clear_counters_o <= control[`GEMM64_CONTROL_CLEAR_COUNTERS_BIT];
            if (writable) begin
                case (waddr)
                    `GEMM64_REG_TENSOR_MEMORY:    if (wstrb[0]) tensor_o <= wdata[`GEMM64_TENSOR_MEMORY_ENABLE_BIT];
                    `GEMM64_REG_WATCHDOG:         watchdog_o <= (watchdog_o & ~bits) | put;
                    `GEMM64_REG_RING_BASE_LOW:    ring_base_low_q <= base_low;
                    `GEMM64_REG_RING_BASE_HIGH:   ring_base_high_q <= base_high;
                    `GEMM64_REG_INTERRUPT_ENABLE: if (wstrb[0]) interrupt_enable_q <= wdata[1:0];
                    `GEMM64_REG_RING_MASK:        ring_mask_o <= (ring_mask_o & ~bits[15:0]) | put[15:0];
                    `GEMM64_REG_RING_TAIL:        ring_tail_o <= ((ring_tail_o & ~bits[15:0]) | put[15:0]) & ring_mask_o;
                    default: ;
                endcase
            end
            if (ring_clear_i) ring_tail_o <= 16'd0;
            done_q  <= finish_i | (done_q & ~ring_clear_i & ~clear[`GEMM64_INTERRUPT_DONE_BIT]);
            error_q <= fail_i | (error_q & ~ring_clear_i & ~clear[`GEMM64_INTERRUPT_ERROR_BIT]);
        end else begin
            bvalid_o           <= 1'b0;
            tensor_o           <= 1'b0;
            watchdog_o         <= `GEMM64_REG_WATCHDOG_RESET;
            ring_base_low_q    <= 32'd0;
            ring_base_high_q   <= 32'd0;
            ring_mask_o        <= RING_MASK_RESET[15:0];
            ring_tail_o        <= 16'd0;
            interrupt_enable_q <= INTERRUPT_ENABLE_RESET[1:0];
            reset_o            <= 1'b0;
            clear_counters_o   <= 1'b0;
            done_q             <= 1'b0;
            error_q            <= 1'b0;
        end
        if (write) bresp_o <= writable ? OKAY : SLVERR;
    end

    // Read
    wire        raddr_valid;
    wire [11:0] raddr;
    wire        read = raddr_valid & (~rvalid_o | rready_i);

    gemm64_skid #(.WIDTH(12)) u_raddr (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (arvalid_i),
        .ready_o (arready_o),
        .data_i  (araddr_i),
        .valid_o (raddr_valid),
        .ready_i (read),
        .data_o  (raddr)
    );

    localparam [11:0] COUNTERS_BYTES = 12'd8 * `GEMM64_COUNTERS;
    wire [11:0] counter_offset = raddr - `GEMM64_COUNTERS_BASE;
    wire        is_counter     = counter_offset < COUNTERS_BYTES & raddr[1:0] == 2'b00;

    assign counter_o = counter_offset[SELECT_WIDTH+2:3];

    always @(posedge clk_i) begin
        if (!rst_ni) rvalid_o <= 1'b0;
        else rvalid_o <= read | (rvalid_o & ~rready_i);
        if (read) begin
            rresp_o <= OKAY;
            case (raddr)
                `GEMM64_REG_ID:               rdata_o <= `GEMM64_REG_ID_RESET;
                `GEMM64_REG_VERSION:          rdata_o <= {`GEMM64_VERSION_MAJOR, `GEMM64_VERSION_MINOR};
                `GEMM64_REG_ARRAY:            rdata_o <= {WEIGHT_TILES[15:0], STAGE_ROWS[7:0], N[7:0]};
                `GEMM64_REG_SCRATCHPAD_WORDS: rdata_o <= tensor_o ? SCRATCHPAD_REST : SCRATCHPAD_WORDS;
                `GEMM64_REG_ACCUMULATOR_ROWS: rdata_o <= ACCUMULATOR_ROWS;
                `GEMM64_REG_BUS:              rdata_o <= {8'd64, COMMANDS[7:0], WRITES[7:0], READS[7:0]};
                `GEMM64_REG_ADDRESS_WIDTH:    rdata_o <= ADDRESS_WIDTH;
                `GEMM64_REG_CONTROL:          rdata_o <= 32'd0;
                `GEMM64_REG_STATUS:           rdata_o <= {29'd0, resetting_i, halted_i, busy_i};
                `GEMM64_REG_INTERRUPT:        rdata_o <= {30'd0, error_q, done_q};
                `GEMM64_REG_ERROR:            rdata_o <= error_i;
                `GEMM64_REG_WATCHDOG:         rdata_o <= watchdog_o;
                `GEMM64_REG_RING_BASE_LOW:    rdata_o <= ring_base_low_q;
                `GEMM64_REG_RING_BASE_HIGH:   rdata_o <= ring_base_high_q;
                `GEMM64_REG_RING_MASK:        rdata_o <= {16'd0, ring_mask_o};
                `GEMM64_REG_RING_TAIL:        rdata_o <= {16'd0, ring_tail_o};
                `GEMM64_REG_RING_HEAD:        rdata_o <= {16'd0, ring_head_i};
                `GEMM64_REG_INTERRUPT_ENABLE: rdata_o <= {30'd0, interrupt_enable_q};
                `GEMM64_REG_PARAMETER_SETS:   rdata_o <= PARAMETER_SETS;
                `GEMM64_REG_SELF_CHECK:       rdata_o <= SELF_CHECK != 0 ? FOUND : 32'd0;
                `GEMM64_REG_TENSOR_WORDS:     rdata_o <= TENSOR_WORDS;
                `GEMM64_REG_TENSOR_MEMORY:    rdata_o <= {31'd0, tensor_o};
                `GEMM64_REG_FAULT_TILE:       rdata_o <= fault_tile_i;
                `GEMM64_REG_FAULT_ROW:        rdata_o <= {16'd0, fault_row_i};
                `GEMM64_REG_FAULT_MEMORY:     rdata_o <= fault_memory_i;
                default: begin
                    rdata_o <= ~is_counter ? 32'd0 : raddr[2] ? counter_value_i[63:32] : counter_value_i[31:0];
                    rresp_o <= is_counter ? OKAY : SLVERR;
                end
            endcase
        end
    end

endmodule

`default_nettype wire
