// SPDX-License-Identifier: Apache-2.0
// gemm64_control: work that stands still for WATCHDOG cycles ends with an error; the first error is kept and stops the
// engines until a soft reset, which comes only when the bus is quiet, and comes then. With FLIPPED = 1 the registers begin
// as anything, as flips may leave them: where they stop the engines without an error or a whole reset, an error follows.
//
// short
// break gemm64_control.v: still_q >= watchdog_i -> still_q > watchdog_i
// break gemm64_control.v: (error & ~halted_q) | flipped -> error | flipped
// break gemm64_control.v: halted_q != failed | resetting_q == steady_q -> resetting_q == steady_q
// break gemm64_control.v: halted_q != failed | resetting_q == steady_q -> halted_q != failed
// prove induction 1, cover 12; FLIPPED=0 FLIPPED=1
// probe still_q = dut.still_q
// probe steady_q = dut.steady_q
// probe resetting_q = dut.resetting_q
module control_proof #(
    parameter FLIPPED = 0
) ();

    (* anyconst *) reg [31:0] watchdog;
    gemm64_control dut (
        .watchdog_i (watchdog), .next_tag_i (16'd2), .bus_tag_i ({16'd9, 16'd8, 16'd7, 16'd6, 16'd5, 16'd4, 16'd3}),
        .fault_tag_i ({16'd16, 16'd15, 16'd14, 16'd13, 16'd12, 16'd11, 16'd10}), .*
    );

    (* keep *) wire [31:0] still_q;
    (* keep *) wire        steady_q, resetting_q;

    reg         begun = 1'b0, kept, asked, cleared;
    integer     i;
    reg [31:0]  first;
    reg [31:0]  still;  // cycles in which work stood still, up to this one
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

    reg        failed_before = 1'b0;  // and nothing reset it
    always @(posedge clk_i) failed_before <= rst_ni & ~clear & fail & ~reset_i;

    always @* begin
        if (!begun & FLIPPED == 0) assume (!rst_ni);
        for (i = 0; i < 7; i = i + 1)
            if (fault_i[i]) assume (fault_code_i[4*i +: 4] != 0);
        if (cleared) assume (~busy_i);  // the engines have just been reset
        assume (watchdog < 32'hffff_ffff);
        // In any state: the engines are stopped by an error that was reported, or by a reset that ends, or an error follows.
        if (FLIPPED != 0) begin
            if (stop & ~(halted & error[3:0] != 0) & ~resetting) assert (fail);
            if (~halted & error[3:0] != 0 & ~resetting) assert (fail);
            if (begun & failed_before & ~clear) assert (resetting | (halted & error[3:0] != 0 & ~fail));
            cover (~begun & rst_ni & stop & error == 0 & fail);
            cover (~begun & rst_ni & resetting_q & ~resetting & fail);
        end
        if (begun & FLIPPED == 0) begin
            assert (resetting_q != steady_q);
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
        if (FLIPPED == 0) cover (begun & watchdog == 5 & fail & ~found);
        if (FLIPPED == 0) cover (begun & kept & clear);
    end

endmodule
