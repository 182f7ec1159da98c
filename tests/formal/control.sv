// SPDX-License-Identifier: Apache-2.0
// gemm64_control: work that stands still for WATCHDOG clocks ends with an error; the first error is kept and stops the
// engines until a soft reset, which comes only when the bus is quiet, and comes then.
//
// short
// break gemm64_control.v: still_q >= watchdog_i -> still_q > watchdog_i
// break gemm64_control.v: error & ~halted_q & ~resetting_q -> error & ~resetting_q
// prove induction 1, cover 12
// probe still_q = dut.still_q
module control_proof (
    input wire        decode_i
);

    (* anyconst *) reg [31:0] watchdog;
    gemm64_control dut (
        .watchdog_i (watchdog), .commands_tag_i (16'd1), .next_tag_i (16'd2), .unbalanced_tag_i (16'd8),
        .fetch_tag_i (16'd3), .activations_tag_i (16'd4), .data_decode_i (decode_i), .weights_tag_i (16'd5),
        .weights_decode_i (decode_i), .parameters_tag_i (16'd6), .results_tag_i (16'd7), .results_decode_i (decode_i), .*
    );

    (* keep *) wire [31:0] still_q;

    reg         begun = 1'b0, kept, asked, cleared;
    reg [31:0]  first;
    reg [31:0]  still;  // clocks in which work stood still, up to this one
    wire        found = weights_error_i | activations_error_i | parameters_error_i | results_error_i | fetch_error_i
                      | unbalanced_i | commands_error_i;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        kept  <= rst_ni & halted & ~clear;
        first <= error;
        cleared <= clear;
        asked <= rst_ni & reset_i & ~clear;
        if (!rst_ni | ~busy_i | progress_i | halted) still <= 0;
        else still <= still + 1;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (commands_error_i) assume (commands_code_i != 0);
        if (cleared) assume (~busy_i);  // the engines have just been reset
        assume (watchdog < 32'hffff_ffff);
        if (begun) begin
            assert (still_q == still);
            if (watchdog != 0 & ~halted & ~resetting & ~cleared) assert (still <= watchdog);
            if (rst_ni & watchdog != 0 & still >= watchdog & busy_i & ~resetting & ~halted) assert (fail);
            if (found & ~halted & ~resetting) assert (fail);
            if (kept) assert (halted & error == first);
            if (asked) assert (resetting);
            assert (stop == (halted | resetting));
            assert (clear == (resetting & quiet_i));
            if (halted) assert (error[3:0] != 0);
            else assert (error == 0);
        end
        cover (begun & watchdog == 5 & fail & ~found);
        cover (begun & kept & clear);
    end

endmodule
