// SPDX-License-Identifier: Apache-2.0
// gemm64_control: work that stands still for WATCHDOG clocks ends with an error; the first error is kept and stops the
// engines until a soft reset, which comes only when the bus is quiet, and comes then.
//
// short
// break gemm64_control.v: still_q >= watchdog_i -> still_q > watchdog_i
// break gemm64_control.v: error & ~halted_q & ~resetting_q -> error & ~resetting_q
// prove induction 1, cover 12
// probe still_q = dut.still_q
module control_proof ();

    (* anyconst *) reg [31:0] watchdog;
    gemm64_control dut (
        .watchdog_i (watchdog), .next_tag_i (16'd2), .bus_tag_i ({16'd9, 16'd8, 16'd7, 16'd6, 16'd5, 16'd4, 16'd3}),
        .fault_tag_i ({16'd16, 16'd15, 16'd14, 16'd13, 16'd12, 16'd11, 16'd10}), .*
    );

    (* keep *) wire [31:0] still_q;

    reg         begun = 1'b0, kept, asked, cleared;
    integer     i;
    reg [31:0]  first;
    reg [31:0]  still;  // clocks in which work stood still, up to this one
    wire        found = bus_error_i != 0 | fault_i != 0;
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
        for (i = 0; i < 7; i = i + 1)
            if (fault_i[i]) assume (fault_code_i[4*i +: 4] != 0);
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
