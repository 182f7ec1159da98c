// SPDX-License-Identifier: Apache-2.0
// Keeps the first error, halts the engines on it, and carries out a soft reset once the bus has come to rest.
// Latency: stop_o follows an error or a reset request by 1 clock.
// Handshake: none.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_control (
    input  wire        clk_i,
    input  wire        rst_ni,              // synchronous, active low
    // Requests
    input  wire        reset_i,             // soft reset
    input  wire [31:0] watchdog_i,          // clocks without progress that are too many; 0: none are
    // What the engines report
    input  wire        busy_i,
    input  wire        progress_i,          // something moved in this clock
    input  wire        quiet_i,             // no bus transfer under way
    input  wire        commands_error_i,
    input  wire [3:0]  commands_code_i,
    input  wire [15:0] commands_tag_i,
    input  wire [15:0] next_tag_i,          // command that is to be dispatched
    input  wire        fetch_error_i,
    input  wire [15:0] fetch_tag_i,
    input  wire        activations_error_i,
    input  wire [15:0] activations_tag_i,
    input  wire        unbalanced_i,        // the activations' engine found words that no block claimed
    input  wire [15:0] unbalanced_tag_i,
    input  wire        data_decode_i,       // DECERR rather than SLVERR
    input  wire        weights_error_i,
    input  wire [15:0] weights_tag_i,
    input  wire        weights_decode_i,
    input  wire        parameters_error_i,
    input  wire [15:0] parameters_tag_i,
    input  wire        results_error_i,
    input  wire [15:0] results_tag_i,
    input  wire        results_decode_i,
    // State
    output wire        stop_o,              // the engines start nothing new
    output wire        clear_o,             // soft reset of the engines, 1 clock
    output wire        halted_o,
    output wire        resetting_o,
    output wire        fail_o,              // an error was found, 1 clock
    output wire [31:0] error_o
);

    reg         halted_q, resetting_q;
    reg  [3:0]  code_q, engine_q;
    reg  [15:0] command_q;
    reg  [31:0] still_q;  // clocks without progress

    wire timeout = busy_i & watchdog_i != 32'd0 & still_q >= watchdog_i;

    wire error = weights_error_i | activations_error_i | parameters_error_i | results_error_i | fetch_error_i
               | unbalanced_i | commands_error_i | timeout;
    wire fail  = error & ~halted_q & ~resetting_q;

    function [3:0] bus_code;
        input decode;
        bus_code = decode ? `GEMM64_ERROR_BUS_DECODE : `GEMM64_ERROR_BUS_SLAVE;
    endfunction

    assign stop_o      = halted_q | resetting_q;
    assign clear_o     = resetting_q & quiet_i;
    assign halted_o    = halted_q;
    assign resetting_o = resetting_q;
    assign fail_o      = fail;
    assign error_o     = {command_q, 8'd0, engine_q, code_q};

    always @(posedge clk_i) begin
        if (!rst_ni | clear_o) begin
            halted_q    <= 1'b0;
            resetting_q <= 1'b0;
            code_q      <= `GEMM64_ERROR_NONE;
            engine_q    <= `GEMM64_ENGINE_COMMANDS;
            command_q   <= 16'd0;
        end else begin
            if (fail) begin
                halted_q  <= 1'b1;
                engine_q  <= `GEMM64_ENGINE_COMMANDS;
                command_q <= next_tag_i;
                // A bus error is the cause of what else may be found in the same clock, so it goes first.
                if (weights_error_i) begin
                    code_q    <= bus_code(weights_decode_i);
                    engine_q  <= `GEMM64_ENGINE_WEIGHTS;
                    command_q <= weights_tag_i;
                end else if (activations_error_i) begin
                    code_q    <= bus_code(data_decode_i);
                    engine_q  <= `GEMM64_ENGINE_ACTIVATIONS;
                    command_q <= activations_tag_i;
                end else if (parameters_error_i) begin
                    code_q    <= bus_code(data_decode_i);
                    engine_q  <= `GEMM64_ENGINE_PARAMETERS;
                    command_q <= parameters_tag_i;
                end else if (results_error_i) begin
                    code_q    <= bus_code(results_decode_i);
                    engine_q  <= `GEMM64_ENGINE_RESULTS;
                    command_q <= results_tag_i;
                end else if (fetch_error_i) begin
                    code_q    <= bus_code(data_decode_i);
                    command_q <= fetch_tag_i;
                end else if (unbalanced_i) begin
                    code_q    <= `GEMM64_ERROR_UNBALANCED;
                    engine_q  <= `GEMM64_ENGINE_ACTIVATIONS;
                    command_q <= unbalanced_tag_i;
                end else if (commands_error_i) begin
                    code_q    <= commands_code_i;
                    command_q <= commands_tag_i;
                end else begin
                    code_q    <= `GEMM64_ERROR_WATCHDOG;
                end
            end
            if (reset_i) resetting_q <= 1'b1;
        end
        if (!rst_ni | ~busy_i | progress_i | halted_q) still_q <= 32'd0;
        else still_q <= still_q + 32'd1;
    end

endmodule

`default_nettype wire
