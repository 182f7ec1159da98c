// SPDX-License-Identifier: Apache-2.0
// A ring of two commands, the one of +opcode= and a FINISH, for docs/tutorials/add-a-command.md: how does each end?
`default_nettype none

module commands_tb;
    localparam N = 64;

    reg         clk = 1'b0;
    reg         rst_n = 1'b0;
    reg  [15:0] tail = 16'd0;
    wire        ask, finish, error;
    wire [39:0] address;
    wire [3:0]  code;
    wire [15:0] head;
    reg         beat = 1'b0;
    reg [511:0] data = 512'd0;
    integer     opcode, cycles;

    gemm64_command_processor u_commands (
        .clk_i               (clk),
        .rst_ni              (rst_n),
        .stop_i              (1'b0),
        .ring_base_i         (40'd0),
        .ring_mask_i         (16'd63),
        .ring_tail_i         (tail),
        .ring_head_o         (head),
        .request_valid_o     (ask),
        .request_ready_i     (1'b1),
        .request_address_o   (address),
        .beat_i              (beat),
        .beat_data_i         (data),
        .beat_error_i        (1'b0),
        .beat_last_i         (beat),
        .ready_i             (6'd0),
        .store_done_i        (1'b0),
        .engines_idle_i      (1'b1),
        .left_i              (1'b0),
        .finish_o            (finish),
        .error_o             (error),
        .error_code_o        (code)
    );

    always #1 clk = ~clk;

    // A memory that answers a cycle later.
    always @(posedge clk) begin
        beat <= ask;
        data <= {504'd0, address == 40'd0 ? opcode[7:0] : 8'd5};
    end

    initial begin
        if (!$value$plusargs("opcode=%d", opcode)) opcode = 9;
        repeat (3) @(posedge clk);
        rst_n <= 1'b1;
        tail  <= 16'd2;
        for (cycles = 0; cycles < 100 && !finish && !error; cycles = cycles + 1) @(negedge clk);
        if (error) $display("opcode %0d: error %0d at command %0d", opcode, code, head);
        else if (finish) $display("opcode %0d: dispatched, and FINISH after it", opcode);
        else $display("opcode %0d: waits for an engine", opcode);
        $finish;
    end
endmodule

`default_nettype wire
