// SPDX-License-Identifier: Apache-2.0
// Keeps the first error, halts the engines on it, and carries out a soft reset once the bus has come to rest.
// Latency: stop_o follows an error or a reset request by 1 cycle. A flip of a register that stops the engines, of halted_q,
//          code_q or resetting_q, is an error itself: otherwise the device would stop, or clear itself, without an interrupt.
// Handshake: none.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_control #(
    parameter ENGINES = `GEMM64_ENGINES  // engines that report; COMMANDS is the first
) (
    input  wire        clk_i,
    input  wire        rst_ni,              // synchronous, active low
    // Requests
    input  wire        reset_i,             // soft reset
    input  wire [31:0] watchdog_i,          // cycles without progress that are too many; 0: none are
    // What the engines report
    input  wire        busy_i,
    input  wire        progress_i,          // something moved in this cycle
    input  wire        quiet_i,             // no bus transfer in flight
    input  wire [15:0] next_tag_i,          // command that is to be dispatched
    // of each engine, at its number: a bus error, and any other fault
    input  wire [ENGINES-1:0]    bus_error_i,
    input  wire [ENGINES-1:0]    bus_decode_i,  // DECERR rather than SLVERR
    input  wire [16*ENGINES-1:0] bus_tag_i,     // command
    input  wire [ENGINES-1:0]    fault_i,
    input  wire [4*ENGINES-1:0]  fault_code_i,
    input  wire [16*ENGINES-1:0] fault_tag_i,
    // State
    output wire        stop_o,              // the engines start nothing new
    output wire        clear_o,             // soft reset of the engines, 1 cycle
    output wire        halted_o,
    output wire        resetting_o,
    output wire        fail_o,              // an error was found, 1 cycle
    output wire [31:0] error_o
);

    reg         halted_q, resetting_q;
    reg         steady_q;  // not resetting
    reg  [3:0]  code_q, engine_q;
    reg  [15:0] command_q;
    reg  [31:0] still_q;  // cycles without progress

    wire timeout = busy_i & watchdog_i != 32'd0 & still_q >= watchdog_i;

    wire failed    = code_q != `GEMM64_ERROR_NONE;
    wire resetting = resetting_q & ~steady_q;
    wire flipped   = halted_q != failed | resetting_q == steady_q;
    wire error = bus_error_i != {ENGINES{1'b0}} | fault_i != {ENGINES{1'b0}} | timeout;
    wire fail  = ((error & ~halted_q) | flipped) & ~resetting;

    function [3:0] bus_code;
        input decode;
        bus_code = decode ? `GEMM64_ERROR_BUS_DECODE : `GEMM64_ERROR_BUS_SLAVE;
    endfunction

    // A bus error is the cause of what else may be found in the same cycle, so it goes first; of the engines the one with the
    // lowest number, COMMANDS after the others.
    reg  [3:0]  code, engine;
    reg  [15:0] command;
    integer     i, e;
    always @* begin
        code    = flipped ? `GEMM64_ERROR_PARITY : `GEMM64_ERROR_WATCHDOG;
        engine  = `GEMM64_ENGINE_COMMANDS;
        command = next_tag_i;
        i       = 0;
        e       = 0;
        if (error) begin  // one question for a simulator where nothing is wrong
            for (i = ENGINES; i > 0; i = i - 1) begin
                e = i == ENGINES ? 0 : i;
                if (fault_i[e]) begin
                    code    = fault_code_i[4*e +: 4];
                    engine  = e[3:0];
                    command = fault_tag_i[16*e +: 16];
                end
            end
            for (i = ENGINES; i > 0; i = i - 1) begin
                e = i == ENGINES ? 0 : i;
                if (bus_error_i[e]) begin
                    code    = bus_code(bus_decode_i[e]);
                    engine  = e[3:0];
                    command = bus_tag_i[16*e +: 16];
                end
            end
        end
    end

    assign stop_o      = halted_q | resetting_q;
    assign clear_o     = resetting & quiet_i;
    assign halted_o    = halted_q;
    assign resetting_o = resetting;
    assign fail_o      = fail;
    assign error_o     = {command_q, 8'd0, engine_q, code_q};

    always @(posedge clk_i) begin
        if (rst_ni & ~clear_o) begin
            if (fail) begin
                halted_q    <= 1'b1;
                resetting_q <= 1'b0;
                steady_q    <= 1'b1;
                code_q      <= code;
                engine_q    <= engine;
                command_q   <= command;
            end
            if (reset_i) {resetting_q, steady_q} <= 2'b10;
        end else begin
            halted_q    <= 1'b0;
            resetting_q <= 1'b0;
            steady_q    <= 1'b1;
            code_q      <= `GEMM64_ERROR_NONE;
            engine_q    <= `GEMM64_ENGINE_COMMANDS;
            command_q   <= 16'd0;
        end
        if (!rst_ni | ~busy_i | progress_i | halted_q) still_q <= 32'd0;
        else still_q <= still_q + 32'd1;
    end

endmodule

`default_nettype wire
