// SPDX-License-Identifier: Apache-2.0
// AXI's rules at the pins of the whole accelerator, whatever the host writes, the ring holds and the memory does: offers stay as
// they are until they are accepted, through soft resets too; bursts keep inside of 4 KiB and have 64 beats at most; answers
// are always taken; a reset withdraws every offer. AXI4-Lite of the registers likewise. The beats of bursts are results.sv's.
//
// break gemm64_request.v: else if (ready_o) axvalid_o <= valid_i -> else axvalid_o <= valid_i
// break gemm64_bursts.v: if (words_q < {41'd0, beats}) beats = words_q[6:0] -> beats = words_q < 48'd64 ? words_q[6:0] : 7'd64
// break gemm64_weights.v: quiet_o        = ~pending & ~arvalid_o -> quiet_o        = ~pending
// prove induction 1, cover 12
// probe walks_0 = dut.u_weights.u_reader.burst_valid
// probe walks_1 = dut.u_activations.u_reader.burst_valid
// probe walks_2 = dut.u_output.u_parameter_sets.u_reader.burst_valid
// probe walks_3 = dut.u_output.u_results.burst_valid
// probe walks_4 = dut.u_output.u_operands.u_reader.burst_valid
// probe beats_0 = dut.u_weights.u_reader.request_beats_o
// probe beats_1 = dut.u_activations.u_reader.request_beats_o
// probe beats_2 = dut.u_output.u_parameter_sets.u_reader.request_beats_o
// probe beats_3 = dut.u_output.u_results.burst_beats
// probe beats_4 = dut.u_output.u_operands.u_reader.request_beats_o
// probe odd_0 = dut.u_weights.u_reader.request_address_o[0]
// probe odd_1 = dut.u_activations.u_reader.request_address_o[0]
// probe odd_2 = dut.u_output.u_parameter_sets.u_reader.request_address_o[0]
// probe odd_3 = dut.u_output.u_results.burst_address[0]
// probe odd_4 = dut.u_output.u_operands.u_reader.request_address_o[0]
// probe data_in = dut.u_output.u_results.u_data.tail_q
// probe data_out = dut.u_output.u_results.u_data.head_q
// probe vector_busy = dut.u_output.u_results.vector_busy
// probe results_quiet = dut.u_output.u_results.quiet_o
module axi_proof ();

    gemm64 #(
        .N(2), .SCRATCHPAD_WORDS(65), .ACCUMULATOR_ROWS(2), .LOG_WEIGHT_WORDS(2), .LOG_READS(1), .LOG_WRITES(1),
        .LOG_COMMANDS(1), .LOG_PARAMETER_SETS(1), .ADDRESS_WIDTH(24)
    ) dut (
        .s_axil_awprot_i (3'd0), .s_axil_arprot_i (3'd0), .m_weights_rid_i (1'b0), .m_weights_rdata_i (16'd0),
        .m_results_bid_i (1'b0), .*
    );

    // What each channel offers, and what it offered a cycle before without being accepted
    wire [45:0] weights_offer = {weights_arid, weights_araddr, weights_arlen, weights_arsize, weights_arburst,
                                 weights_arprot, weights_arcache};
    wire [46:0] data_offer    = {data_arid, data_araddr, data_arlen, data_arsize, data_arburst, data_arprot,
                                 data_arcache};
    wire [45:0] results_offer = {results_awid, results_awaddr, results_awlen, results_awsize, results_awburst,
                                 results_awprot, results_awcache};
    reg         begun = 1'b0, was_reset = 1'b0, weights_held, data_held, aw_held, w_held, b_held, r_held;
    reg  [45:0] weights_was, results_was;
    reg  [46:0] data_was;
    reg  [2:0]  last_was;
    reg  [1:0]  bresp_was;
    reg  [33:0] r_was;
    always @(posedge clk_i) begin
        begun        <= 1'b1;
        was_reset    <= ~rst_ni;
        weights_held <= rst_ni & weights_arvalid & ~weights_arready_i;
        data_held    <= rst_ni & data_arvalid & ~data_arready_i;
        aw_held      <= rst_ni & results_awvalid & ~results_awready_i;
        w_held       <= rst_ni & results_wvalid & ~results_wready_i;
        b_held       <= rst_ni & bvalid & ~bready_i;
        r_held       <= rst_ni & rvalid & ~rready_i;
        weights_was  <= weights_offer;
        data_was     <= data_offer;
        results_was  <= results_offer;
        last_was     <= {results_wstrb, results_wlast};
        bresp_was    <= bresp;
        r_was        <= {rresp, rdata};
    end

    // Words of a page before a burst and with it
    wire [12:0] weights_end = weights_araddr[11:0] + 2 * (weights_arlen + 13'd1);
    wire [12:0] data_end    = data_araddr[11:0] + 2 * (data_arlen + 13'd1);
    wire [12:0] results_end = results_awaddr[11:0] + 2 * (results_awlen + 13'd1);

    // What walks ask for: of weights, activations, parameters, results and operands
    (* keep *) wire       walks_0, walks_1, walks_2, walks_3, walks_4, results_quiet, vector_busy;
    (* keep *) wire       odd_0, odd_1, odd_2, odd_3, odd_4;  // misaligned
    (* keep *) wire [1:0] data_in, data_out;
    wire [1:0]            queued = data_in - data_out;
    (* keep *) wire [6:0] beats_0, beats_1, beats_2, beats_3, beats_4;

    // Accesses of registers that were accepted and not answered
    reg [1:0] addresses, words, lookups;
    always @(posedge clk_i)
        if (!rst_ni) {addresses, words, lookups} <= 6'd0;
        else begin
            addresses <= addresses + {1'b0, awvalid_i & awready} - {1'b0, bvalid & bready_i};
            words     <= words + {1'b0, wvalid_i & wready} - {1'b0, bvalid & bready_i};
            lookups   <= lookups + {1'b0, arvalid_i & arready} - {1'b0, rvalid & rready_i};
        end

    always @* begin
        if (!begun) assume (!rst_ni);
        // bursts.sv: none is empty or misaligned
        if (walks_0) assume (beats_0 != 0 & ~odd_0);
        if (walks_1) assume (beats_1 != 0 & ~odd_1);
        if (walks_2) assume (beats_2 != 0 & ~odd_2);
        if (walks_3) assume (beats_3 != 0 & ~odd_3);
        if (walks_4) assume (beats_4 != 0 & ~odd_4);
        assume (queued <= 2);  // fifo.sv
        // results.sv: a burst that leaves has not been answered
        if (results_wvalid) assume (~results_quiet);
        if (begun) begin
            assert (weights_rready & data_rready & results_bready);
            if (was_reset) assert (~weights_arvalid & ~data_arvalid & ~results_awvalid & ~results_wvalid & ~bvalid & ~rvalid);
            // Offers stay
            if (weights_held) assert (weights_arvalid & weights_offer == weights_was);
            if (data_held) assert (data_arvalid & data_offer == data_was);
            if (aw_held) assert (results_awvalid & results_offer == results_was);
            // In the element-wise unit, the rules that the simulation checks in every cycle tell.
            if (w_held & ~vector_busy) assert (results_wvalid & {results_wstrb, results_wlast} == last_was);
            if (b_held) assert (bvalid & bresp == bresp_was);
            if (r_held) assert (rvalid & {rresp, rdata} == r_was);
            // Bursts
            if (weights_arvalid) assert (weights_arlen < 64 & weights_end <= 4096 & ~weights_araddr[0]);
            if (data_arvalid) assert (data_arlen < 64 & data_end <= 4096 & ~data_araddr[0]);
            if (results_awvalid) assert (results_awlen < 64 & results_end <= 4096 & ~results_awaddr[0]);
            if (weights_arvalid) assert (weights_arsize == 3'd1 & weights_arburst == 2'b01);
            if (data_arvalid) assert (data_arsize == 3'd1 & data_arburst == 2'b01);
            if (results_awvalid) assert (results_awsize == 3'd1 & results_awburst == 2'b01);
            // Answers, none unasked
            assert (bvalid == (addresses != 0 & words != 0) & rvalid == (lookups != 0));
            assert (addresses == {1'b0, bvalid} + {1'b0, ~awready} & words == {1'b0, bvalid} + {1'b0, ~wready});
            assert (lookups == {1'b0, rvalid} + {1'b0, ~arready});
        end
        cover (begun & weights_held & weights_arlen != 0);
        cover (begun & data_held & data_arid == 2'd1);
    end

endmodule
