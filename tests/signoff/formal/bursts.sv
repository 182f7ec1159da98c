// SPDX-License-Identifier: Apache-2.0
// The bursts of gemm64_bursts keep AXI's rules, and together they are the walk: each run's words once, one after the
// other, in as many runs, passes and blocks as were asked for.
//
// break gemm64_bursts.v: (page_words & ~LAST_BEAT) != 12'd0 ? MAX_BEATS[6:0] -> 1'b1 ? MAX_BEATS[6:0]
// prove induction 1, cover 30; LOG_N=6 LOG_N=1,ADDRESS_WIDTH=24
// probe block_address_q = dut.block_address_q
// probe blocks_q = dut.blocks_q
// probe count_q = dut.count_q
// probe first_q = dut.first_q
// probe left_q = dut.left_q
// probe pass_q = dut.pass_q
// probe passes_q = dut.passes_q
// probe run_address_q = dut.run_address_q
// probe run_q = dut.run_q
// probe step_q = dut.step_q
// probe stride_q = dut.stride_q
// probe tag_q = dut.tag_q
// probe words_q = dut.words_q
module bursts_proof #(
    parameter LOG_N         = 6,
    parameter ADDRESS_WIDTH = 40
) ();

    wire                     the_end;
    gemm64_bursts #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH)) dut (
        .end_o (the_end), .*
    );

    (* keep *) wire [47:0] run_q, words_q;
    (* keep *) wire [31:0] count_q, left_q, passes_q, pass_q, blocks_q;
    (* keep *) wire [ADDRESS_WIDTH-1:0] stride_q, step_q, run_address_q, block_address_q;
    (* keep *) wire [15:0] tag_q;
    (* keep *) wire        first_q;

    wire start = rst_ni & start_valid_i & start_ready;
    wire taken = rst_ni & valid & ready_i;

    // The walk, counted by itself: which run of which pass of which block, and how many of its words have been asked for
    reg                     begun = 1'b0;
    reg [ADDRESS_WIDTH-1:0] run_address, pass_address;  // of the run's first word, of the block's
    reg [ADDRESS_WIDTH-1:0] at;                         // where the run goes on
    reg [47:0]              run, asked;
    reg [31:0]              count, passes, blocks, runs_left, passes_left, blocks_left;
    reg [ADDRESS_WIDTH-1:0] stride, step;
    reg [15:0]              number;
    wire [47:0]             after = asked + beats;
    wire                    run_ends  = after == run;
    wire                    pass_ends = run_ends & runs_left == 1;
    wire                    block_ends = pass_ends & passes_left == 1;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (start) begin
            run_address <= address_i; pass_address <= address_i;
            run <= run_i; asked <= 0; at <= address_i;
            count <= count_i; passes <= passes_i; blocks <= blocks_i;
            runs_left <= count_i; passes_left <= passes_i; blocks_left <= blocks_i;
            stride <= {28'd0, stride_i} << LOG_N; step <= {44'd0, step_i} << LOG_N;
            number <= tag_i;
        end else if (taken) begin
            asked <= run_ends ? 0 : after;
            at    <= at + (beats << LOG_N);
            if (run_ends) begin
                run_address <= run_address + stride;
                at          <= run_address + stride;
                runs_left   <= runs_left - 1;
            end
            if (pass_ends) begin
                run_address <= pass_address;
                at          <= pass_address;
                runs_left   <= count;
                passes_left <= passes_left - 1;
            end
            if (block_ends) begin
                run_address  <= pass_address + step;
                at           <= pass_address + step;
                pass_address <= pass_address + step;
                passes_left  <= passes;
                blocks_left  <= blocks_left - 1;
            end
        end
    end

    wire [13:0] page_end = {2'd0, address[11:0]} + ({7'd0, beats} << LOG_N);
    reg         held;
    reg [ADDRESS_WIDTH+25:0] offered;
    always @(posedge clk_i) begin
        held    <= rst_ni & valid & ~ready_i;
        offered <= {address, beats, first, last, the_end, tag};
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (start_valid_i) begin
            assume (address_i[LOG_N-1:0] == 0);
            assume (run_i != 0 & count_i != 0 & passes_i != 0 & blocks_i != 0);
        end
        if (begun & valid) begin
            // How the module's registers belong to the walk
            assert (words_q == run - asked);
            assert (run_q == run & count_q == count & passes_q == passes);
            assert (left_q == runs_left & pass_q == passes_left & blocks_q == blocks_left);
            assert (stride_q == stride & step_q == step);
            assert (run_address_q == run_address & block_address_q == pass_address);
            if (asked == 0) assert (at == run_address);
            assert (asked < run & runs_left != 0 & passes_left != 0 & blocks_left != 0);
            assert (pass_address[LOG_N-1:0] == 0 & run_address[LOG_N-1:0] == 0);
            assert (count != 0 & passes != 0 & blocks != 0);
            assert (stride[LOG_N-1:0] == 0 & step[LOG_N-1:0] == 0);
            assert (first_q == (asked == 0) & tag_q == number);
            // AXI's rules
            assert (beats >= 1 & beats <= 64);
            assert (page_end <= 4096);
            assert (address[LOG_N-1:0] == 0);
            // The walk
            assert (address == at);
            assert (beats <= run - asked);
            assert (first == (asked == 0) & last == run_ends & tag == number);
            assert (the_end == (block_ends & blocks_left == 1));
            if (held) assert ({address, beats, first, last, the_end, tag} == offered);
        end
        if (begun) begin
            assert (start_ready == ~valid);
            if (held) assert (valid);
        end
        cover (begun & taken & the_end & count == 2 & passes == 2 & blocks == 2);
    end

endmodule
