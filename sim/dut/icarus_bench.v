// SPDX-License-Identifier: Apache-2.0
// The bench in Icarus Verilog, where unknown values are seen: the same beats as harness.cpp sends, without its checks of
// idle cycles. GEMM64_DUT_TOP, the widths and the ports that exist come from a file of defines.
`timescale 1ns/1ns
`include "icarus_config.vh"

module icarus_bench;
    reg                        aclk = 0, aresetn = 0;
    reg  [`WEIGHT_BITS-1:0]     weights_tdata = {`WEIGHT_BITS{1'bx}};
    reg                        weights_tvalid = 0, weights_tlast = 1'bx;
    wire                       weights_tready;
    reg  [`ACTIVATION_BITS-1:0] activations_tdata = {`ACTIVATION_BITS{1'bx}};
    reg                        activations_tvalid = 0, activations_tlast = 1'bx;
    wire                       activations_tready;
    reg  [`SUM_BITS-1:0]        sums_tdata = {`SUM_BITS{1'bx}};
    reg                        sums_tvalid = 0, sums_tlast = 1'bx;
    wire                       sums_tready;
    wire [`RESULT_BITS-1:0]     results_tdata;
    wire                       results_tvalid, results_tlast;
    reg                        results_tready = 1;

    `GEMM64_DUT_TOP `GEMM64_DUT_PARAMETERS dut (
        .aclk (aclk), .aresetn (aresetn),
        .s_axis_weights_tdata (weights_tdata), .s_axis_weights_tvalid (weights_tvalid),
        .s_axis_weights_tlast (weights_tlast),
        .s_axis_activations_tdata (activations_tdata), .s_axis_activations_tvalid (activations_tvalid),
        .s_axis_activations_tlast (activations_tlast),
        `GEMM64_DUT_PORTS
        .m_axis_results_tdata (results_tdata), .m_axis_results_tvalid (results_tvalid)
    );

    reg [`WEIGHT_BITS:0]     weights     [0:`WEIGHT_BEATS];  // TLAST above TDATA
    reg [`ACTIVATION_BITS:0] activations [0:`ACTIVATION_BEATS];
    reg [`SUM_BITS:0]        sums        [0:`SUM_BEATS];
    integer w = 0, a = 0, s = 0, results = 0, idle = 0, phase = 0, cycle = 0, owed = 0, ends = 0;
    reg     wm, am, sm;

    // A stream without backpressure is always ready.
    wire wr = `WEIGHTS_WAIT ? weights_tready : 1'b1;
    wire ar = `ACTIVATIONS_WAIT ? activations_tready : 1'b1;
    wire sr = `SUMS_WAIT ? sums_tready : 1'b1;

    task check_known(input value, input [8*24:1] name);
        if (value === 1'bx || value === 1'bz) begin
            $display("X %0d %0s", cycle, name);
            $finish;
        end
    endtask

    task drive;
        begin
            weights_tvalid = w < `WEIGHT_BEATS && (!`ONE_TILE || (`WEIGHTS_MOVE ? phase == 1 : phase == 0 && !ends[0]));
            activations_tvalid = a < `ACTIVATION_BEATS && (!`ONE_TILE || (`TOGETHER ? phase == 0 && !ends[1]
                                                                          : `WEIGHTS_MOVE ? phase == 0 : phase == 1));
            sums_tvalid = s < `SUM_BEATS && (!`ONE_TILE || phase == 1 || `TOGETHER);
            {weights_tlast, weights_tdata} = weights_tvalid ? weights[w] : {(`WEIGHT_BITS+1){1'bx}};
            {activations_tlast, activations_tdata} = activations_tvalid ? activations[a] : {(`ACTIVATION_BITS+1){1'bx}};
            {sums_tlast, sums_tdata} = sums_tvalid ? sums[s] : {(`SUM_BITS+1){1'bx}};
        end
    endtask

    initial begin
        $readmemh("weights.hex", weights, 0, `WEIGHT_BEATS - 1);
        $readmemh("activations.hex", activations, 0, `ACTIVATION_BEATS - 1);
        if (`SUM_BEATS != 0) $readmemh("sums.hex", sums, 0, `SUM_BEATS - 1);
        repeat (`RESET_CYCLES) begin
            #1 aclk = 1;
            #1 aclk = 0;
        end
        aresetn = 1;
        while (results < `RESULT_BEATS && idle < `IDLE_LIMIT) begin
            drive;
            #1;
            check_known(results_tvalid, "m_axis_results_tvalid");
            check_known(wr, "s_axis_weights_tready");
            check_known(ar, "s_axis_activations_tready");
            if (`SUM_BEATS != 0) check_known(sr, "s_axis_sums_tready");
            wm = weights_tvalid && wr;
            am = activations_tvalid && ar;
            sm = sums_tvalid && sr;
            if (results_tvalid) begin
                $display("R %0d %b %b", cycle, results_tlast, results_tdata);
                results = results + 1;
                owed = owed - 1;
            end
            idle = wm || am || sm || results_tvalid ? 0 : idle + 1;
            if (wm && weights_tlast) ends = ends | 1;
            if (am && activations_tlast) ends = ends | 2;
            if (`TOGETHER) begin
                if (am && activations_tlast) owed = owed + `ROWS;
                if (phase == 0 && ends == 3) phase = 2;
            end else begin
                if (`WEIGHTS_MOVE ? wm : am) owed = owed + 1;
                if (phase == 0 && (`WEIGHTS_MOVE ? ends[1] : ends[0])) phase = 1;
                if (phase == 1 && ends == 3) phase = 2;
            end
            if (phase == 2 && owed == 0) begin
                phase = 0;
                ends = 0;
            end
            if (wm) w = w + 1;
            if (am) a = a + 1;
            if (sm) s = s + 1;
            aclk = 1;
            #1 aclk = 0;
            cycle = cycle + 1;
        end
        $display("END %0d", cycle);
        $finish;
    end
endmodule
