// SPDX-License-Identifier: Apache-2.0
// Bridge from a serial line's bytes to the accelerator's registers, its memory and its interrupt.
// Latency: a register's answer is sent when the bus gave it; a byte of memory is written in the cycle in which it comes.
// Handshake: each byte that comes is taken in its clock, at most every other cycle one; valid/ready for those that go; AXI4-Lite.
//
// A command is its number (gemm64.json), an address and a value of 4 bytes each, lowest first, and for WRITE_MEMORY as many
// bytes as the value says. It is answered by a byte of status, then by what it reads. A byte that is no command's number is
// passed over; so is what comes before an answer has been sent.
`default_nettype none

`include "gemm64_bridge.vh"

module gemm64_bridge #(
    parameter LOG_BYTES = 17  // log2 of the memory's bytes, at most 32
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,  // synchronous, active low
    // Bytes of the line
    input  wire                 rx_valid_i,
    input  wire [7:0]           rx_data_i,
    output wire                 tx_valid_o,
    input  wire                 tx_ready_i,
    output wire [7:0]           tx_data_o,
    // AXI4-Lite
    output wire                 awvalid_o,
    input  wire                 awready_i,
    output wire [11:0]          awaddr_o,
    output wire                 wvalid_o,
    input  wire                 wready_i,
    output wire [31:0]          wdata_o,
    input  wire                 bvalid_i,
    output wire                 bready_o,
    input  wire [1:0]           bresp_i,
    output wire                 arvalid_o,
    input  wire                 arready_i,
    output wire [11:0]          araddr_o,
    input  wire                 rvalid_i,
    output wire                 rready_o,
    input  wire [31:0]          rdata_i,
    input  wire [1:0]           rresp_i,
    // Bytes of the memory: see gemm64_memory
    output wire                 byte_write_o,
    output wire                 byte_read_o,
    input  wire                 byte_ready_i,
    output wire [LOG_BYTES-1:0] byte_address_o,
    output wire [7:0]           byte_data_o,
    input  wire [7:0]           byte_data_i,
    // The accelerator
    input  wire                 irq_i,
    output wire                 reset_o  // for RESET_CYCLES cycles
);

    localparam [3:0] COMMAND = 4'd0, OPERANDS = 4'd1, ACT = 4'd2, WRITE = 4'd3, READ = 4'd4, STORE = 4'd5, WAIT = 4'd6,
                     RESET = 4'd7, ANSWER = 4'd8, LOAD = 4'd9, FETCH = 4'd10;
    localparam [31:0] RESET_CYCLES = 32'd8;
    localparam [31:0] LOG_SIZE = LOG_BYTES;

    reg [3:0]  state_q, state_d;
    reg [7:0]  command_q, command_d;
    reg [31:0] address_q, address_d;  // counts up over memory's bytes
    reg [31:0] value_q, value_d;      // counts down over memory's bytes, and over cycles
    reg [2:0]  place_q, place_d;      // of OPERANDS: the byte that comes; of ANSWER: bytes after the one that is sent
    reg [39:0] answer_q, answer_d;
    reg        aw_q, aw_d, w_q, w_d, ar_q, ar_d;  // offered and not yet taken

    wire sent = tx_valid_o & tx_ready_i;

    assign tx_valid_o     = state_q == ANSWER;
    assign tx_data_o      = answer_q[7:0];
    assign {awvalid_o, wvalid_o, arvalid_o} = {aw_q, w_q, ar_q};
    assign {awaddr_o, araddr_o}             = {2{address_q[11:0]}};
    assign wdata_o        = value_q;
    assign bready_o       = state_q == WRITE;
    assign rready_o       = state_q == READ;
    assign byte_write_o   = state_q == STORE & rx_valid_i;
    assign byte_read_o    = state_q == LOAD;
    assign byte_address_o = address_q[LOG_BYTES-1:0];
    assign byte_data_o    = rx_data_i;
    assign reset_o        = state_q == RESET;

    always @* begin
        state_d   = state_q;
        command_d = command_q;
        address_d = address_q;
        value_d   = value_q;
        place_d   = place_q;
        answer_d  = answer_q;
        aw_d      = aw_q & ~awready_i;
        w_d       = w_q & ~wready_i;
        ar_d      = ar_q & ~arready_i;
        case (state_q)
            COMMAND: begin
                command_d = rx_data_i;
                place_d   = 3'd0;
                if (rx_valid_i & rx_data_i >= `GEMM64_BRIDGE_FIRST & rx_data_i <= `GEMM64_BRIDGE_LAST) state_d = OPERANDS;
            end
            OPERANDS: if (rx_valid_i) begin
                {value_d, address_d} = {rx_data_i, value_q, address_q[31:8]};
                place_d = place_q + 3'd1;
                if (place_q == 3'd7) state_d = ACT;
            end
            ACT: begin
                answer_d = 40'd0;
                place_d  = 3'd0;
                state_d  = ANSWER;
                case (command_q)
                    `GEMM64_BRIDGE_PING: begin
                        answer_d = {LOG_SIZE[7:0], `GEMM64_BRIDGE_NAME, 8'd0};
                        place_d  = 3'd4;
                    end
                    `GEMM64_BRIDGE_WRITE_REGISTER: begin
                        {aw_d, w_d} = 2'b11;
                        state_d = WRITE;
                    end
                    `GEMM64_BRIDGE_READ_REGISTER: begin
                        ar_d    = 1'b1;
                        state_d = READ;
                    end
                    `GEMM64_BRIDGE_WRITE_MEMORY: if (value_q != 32'd0) state_d = STORE;
                    `GEMM64_BRIDGE_WAIT: state_d = WAIT;
                    `GEMM64_BRIDGE_RESET: begin
                        value_d = RESET_CYCLES - 32'd1;
                        state_d = RESET;
                    end
                    default: ;  // READ_MEMORY answers first
                endcase
            end
            WRITE: begin
                answer_d[1:0] = bresp_i;
                if (bvalid_i) state_d = ANSWER;
            end
            READ: begin
                answer_d = {rdata_i, 6'd0, rresp_i};
                place_d  = 3'd4;
                if (rvalid_i) state_d = ANSWER;
            end
            STORE: if (rx_valid_i) begin
                address_d = address_q + 32'd1;
                value_d   = value_q - 32'd1;
                if (value_q == 32'd1) state_d = ANSWER;
            end
            WAIT: begin
                answer_d[0] = irq_i;
                value_d     = value_q - 32'd1;
                if (irq_i | value_q == 32'd0) state_d = ANSWER;
            end
            RESET: begin
                value_d = value_q - 32'd1;
                if (value_q == 32'd0) state_d = ANSWER;
            end
            ANSWER: if (sent) begin
                answer_d = {8'd0, answer_q[39:8]};
                place_d  = place_q - 3'd1;
                if (place_q == 3'd0)
                    state_d = command_q == `GEMM64_BRIDGE_READ_MEMORY & value_q != 32'd0 ? LOAD : COMMAND;
            end
            LOAD: if (byte_ready_i) state_d = FETCH;
            default: begin  // FETCH
                answer_d[7:0] = byte_data_i;
                address_d     = address_q + 32'd1;
                value_d       = value_q - 32'd1;
                place_d       = 3'd0;
                state_d       = ANSWER;
            end
        endcase
    end

    always @(posedge clk_i) begin
        command_q <= command_d;
        address_q <= address_d;
        value_q   <= value_d;
        place_q   <= place_d;
        answer_q  <= answer_d;
        if (!rst_ni) begin
            state_q <= COMMAND;
            {aw_q, w_q, ar_q} <= 3'b000;
        end else begin
            state_q <= state_d;
            {aw_q, w_q, ar_q} <= {aw_d, w_d, ar_d};
        end
    end

endmodule

`default_nettype wire
