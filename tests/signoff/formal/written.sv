// SPDX-License-Identifier: Apache-2.0
// gemm64_written reports that a word was written exactly where it was since the reset, whatever its memory held before.
//
// short
// break gemm64_written.v: if (~begun_q[write_group]) bits_q -> if (1'b0) bits_q
// break gemm64_written.v: if (!rst_ni) begun_q <= {GROUPS{1'b0}}; -> if (1'b0) begun_q <= {GROUPS{1'b0}};
// break gemm64_written.v: begun_read_q & read_q[place_q] -> read_q[place_q]
// prove induction 1, cover 8
// probe entries_0 = dut.bits_q[0]
// probe entries_1 = dut.bits_q[1]
// probe begun_groups = dut.begun_q
module written_proof ();

    gemm64_written #(.DEPTH(4), .ADDRESS_WIDTH(2)) dut (.*);

    (* keep *) wire [1:0] entries_0, entries_1, begun_groups;

    (* anyconst *) reg [1:0] place;
    wire [1:0] group = place[1] ? entries_1 : entries_0;
    reg        begun = 1'b0, since, shown = 1'b0, expected;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (!rst_ni) since <= 1'b0;
        else if (write_i & write_address_i == place) since <= 1'b1;
        if (read_i) {shown, expected} <= {read_address_i == place & begun, since};
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) assert (since == (begun_groups[place[1]] & group[place[0]]));
        if (shown) assert (written == expected);
        cover (shown & written & since);
        cover (shown & ~written & begun_groups == 2'b11);
    end

endmodule
